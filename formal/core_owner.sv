// A core changes hands without a warp, and no warp starts before the core has all words of its
// owner as they stand.
//
// Two cores, two functions. One core is followed, whichever, and one bit of one word of function 1
// in the table of contexts and in the copy of this core.
module core_owner_formal (
    input wire         clk,
    input wire         rst,
    input wire [127:0] wanted,
    input wire [1:0]   idle,
    input wire         written_valid,
    input wire [2:0]   written_function,
    input wire [3:0]   written_word,
    input wire [31:0]  written_data,
    input wire [31:0]  copy_data
);
    wire [31:0] ready;
    wire [1:0]  open, first, drop, take;
    wire [5:0]  owner;
    wire [3:0]  word, copy_word;
    wire [31:0] data;
    wire [2:0]  copy_function;
    core_owner dut (
        .clk(clk), .rst(rst), .assignment_wanted(wanted), .assignment_ready(ready), .idle(idle), .open(open),
        .function_(owner), .first(first), .drop(drop), .take(take), .word(word), .data(data),
        .written_valid(written_valid), .written_function(written_function), .written_word(written_word),
        .written_data(written_data), .copy_function(copy_function), .copy_word(copy_word), .copy_data(copy_data)
    );
    (* hierconn *) wire [3:0] \dut.owner_0 ;
    (* hierconn *) wire [3:0] \dut.owner_1 ;

    `include "start.vh"

    (* anyconst *) reg core;
    (* anyconst *) reg [3:0] followed;
    (* anyconst *) reg [4:0] place;
    always @* assume (followed < 10);
    wire [3:0] own = core ? \dut.owner_1 : \dut.owner_0 ;
    wire [3:0] want = wanted[4*core +: 4];

    // The registers write words of contexts of functions from 1 on.
    always @* if (written_valid) assume (written_function != 0 && written_word < 10);
    // The bit in the table; the table shows it.
    reg stands;
    wire writes = written_valid && written_function == 1 && written_word == followed;
    always @* if (copy_function == 1 && copy_word == followed) assume (copy_data[place] == stands);
    // The bit that the core has, and how many words were copied since its owner changed.
    reg has;
    reg [3:0] copied;
    reg [3:0] was_own, was_want;
    reg was_idle, was_open, was_rst, changed;
    // Cycles in which nothing keeps the change from its end.
    reg [5:0] waits;
    wire quiet = !written_valid && &idle && want == was_want && !rst;
    always @(posedge clk) begin
        if (writes) stands <= written_data[place];
        if (take[core] && word == followed) has <= data[place];
        if (take[core] && !written_valid) copied <= copied == 10 ? 10 : copied + 1;
        changed <= 0;
        if (own != was_own || was_rst) begin
            changed <= 1;
            copied <= take[core] && !written_valid;
        end
        was_own <= own;
        was_want <= want;
        was_idle <= idle[core];
        was_open <= open[core];
        was_rst <= rst;
        waits <= quiet && !ready[core] ? waits + 1 : 0;
        if (rst) begin
            copied <= 10;
            changed <= 0;
            waits <= 0;
        end
    end
    // A warp starts on a core that is open.
    always @* if (started && !was_rst && was_idle && !was_open) assume (idle[core]);

    always @* if (started && !rst && !was_rst) begin
        owner_changes_on_an_idle_core: assert (own == was_own || (was_idle && !was_open));
        owner_is_what_was_wanted:      assert (own == was_own || own == was_want);
        open_for_the_wanted_function:  assert (!open[core] || (own == want && own < 2));
        open_after_ten_words:          assert (!open[core] || copied == 10);
        caches_are_dropped_once:       assert (drop[core] == (own != was_own));
        first_is_function_0:           assert (first[core] == (own == 0));
        words_are_those_of_the_table:  assert (!open[core] || own != 1 || has == stands);
        open_cores_are_ready:          assert (ready[core] == open[core] || (ready[core] && want > 1));
        a_change_ends:                 assert (waits < 36);
    end

    always @* if (started && !rst && !was_rst) begin
        taken_again: cover (own == 1 && open[core] && has && copied == 10);
        waits_long:  cover (waits > 20);
        none:        cover (own > 1 && ready[core]);
    end
endmodule
