// A core changes hands only after each row of its registers and its scratchpad was cleared since a
// warp could start there last, and rows are cleared only while no warp is on the core.
//
// Two cores, two functions, four rows. One core is followed, whichever.
module core_clear_formal (
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
    wire [1:0]  open, first, drop, take, rows_valid;
    wire [5:0]  owner;
    wire [23:0] rows_row;
    wire [3:0]  word, copy_word;
    wire [31:0] data;
    wire [2:0]  copy_function;
    owner_that_clears dut (
        .clk(clk), .rst(rst), .assignment_wanted(wanted), .assignment_ready(ready), .idle(idle), .open(open),
        .function_(owner), .first(first), .drop(drop), .rows_valid(rows_valid), .rows_row(rows_row), .take(take),
        .word(word), .data(data), .written_valid(written_valid), .written_function(written_function),
        .written_word(written_word), .written_data(written_data), .copy_function(copy_function),
        .copy_word(copy_word), .copy_data(copy_data)
    );
    (* hierconn *) wire [3:0] \dut.owner_0 ;
    (* hierconn *) wire [3:0] \dut.owner_1 ;

    `include "start.vh"

    (* anyconst *) reg core;
    // The row that is followed, whichever.
    (* anyconst *) reg [1:0] followed;
    wire [3:0] own = core ? \dut.owner_1 : \dut.owner_0 ;
    wire [3:0] want = wanted[4*core +: 4];
    wire [11:0] row = rows_row[12*core +: 12];

    // The row is zero: it was cleared, and no warp could start since.
    reg zero;
    reg [3:0] was_own, was_want;
    reg was_idle, was_open, was_rst;
    reg [5:0] waits;
    wire quiet = !written_valid && &idle && want == was_want && !rst;
    always @(posedge clk) begin
        if (open[core]) zero <= 0;
        else if (rows_valid[core] && row == followed) zero <= 1;
        was_own <= own;
        was_want <= want;
        was_idle <= idle[core];
        was_open <= open[core];
        was_rst <= rst;
        waits <= quiet && !ready[core] ? waits + 1 : 0;
        if (rst) begin
            zero <= 0;
            waits <= 0;
        end
    end
    // A warp starts on a core that is open.
    always @* if (started && !was_rst && was_idle && !was_open) assume (idle[core]);

    always @* if (started && !rst && !was_rst) begin
        owner_changes_on_a_clean_core: assert (own == was_own || zero);
        owner_changes_on_an_idle_core: assert (own == was_own || (was_idle && !was_open));
        rows_of_an_idle_core:          assert (!rows_valid[core] || (idle[core] && was_idle && !was_open));
        rows_that_there_are:           assert (!rows_valid[core] || row < 4);
        a_change_ends:                 assert (waits < 40);
    end

    always @* if (started && !rst && !was_rst) begin
        taken_again:  cover (own == 1 && open[core]);
        given_up:     cover (open[core] && own == was_own && rows_valid[core]);
        without_rows: cover (own != was_own && was_own > 1 && own < 2);
    end
endmodule
