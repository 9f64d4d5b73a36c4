// No warp starts on a core before its context is that of the function that owns it, and what the
// registers write meanwhile is in it, too.
//
// Two cores, two functions, four rows. One core and one word of NF 1 are followed, whichever; the
// context of NF 0 after a reset is that of the registers.
module core_owner_formal (
    `include "core_owner.vh"

    `include "start.vh"

    (* anyconst *) reg core;
    (* anyconst *) reg [3:0] followed;
    always @* assume (followed < 10);
    wire [3:0] own = core ? \dut.owner_1 : \dut.owner_0 ;
    wire [3:0] want = wanted[4*core +: 4];
    wire [3:0] own_of_other = core ? \dut.owner_0 : \dut.owner_1 ;

    // The word in the table of contexts and in that of the core, one bit of it.
    reg in_table, in_core, dropped;
    wire writes = written_valid && written_function == 1 && written_word == followed;
    always @* if (copy_function == 1 && copy_word == followed) assume (copy_data[0] == in_table);
    reg [3:0] was_own, was_want;
    reg was_rst, was_open;
    always @(posedge clk) begin
        if (writes) in_table <= written_data[0];
        if (take[core] && word == followed) in_core <= data[0];
        was_own <= own;
        was_want <= want;
        was_open <= open[core];
        was_rst <= rst;
        if (own != was_own) dropped <= 0;
        if (drop[core]) dropped <= 1;
        if (rst) begin
            dropped <= 1;
            was_own <= 0;
        end
    end

    always @* if (started && !rst && !was_rst) begin
        opens_with_its_context:  assert (!open[core] || own != 1 || in_core == in_table);
        opens_after_the_drop:    assert (!open[core] || (dropped && own == was_own));
        closed_while_it_changes: assert (!open[core] || own == want);
        of_its_own_function:     assert (owner[3*core +: 3] == own[2:0] && first[core] == (own == 0));
        ready_is_exact:          assert (!open[core] || ready[core]);
        // A write to another function's context goes to no word of the core.
        takes_what_is_its_own:
            assert (!(written_valid && take[core]) || own[2:0] == written_function);
    end

    reg changed_while_written;
    always @(posedge clk) if (rst) changed_while_written <= 0;
    else if (writes && own == 1 && !open[core] && in_table != written_data[0]) changed_while_written <= 1;
    always @* if (started && !rst && !was_rst) begin
        opened:         cover (open[core] && !was_open && own == 1 && in_core);
        written_within: cover (open[core] && own == 1 && changed_while_written);
        both:           cover (&open && own == 1 && own_of_other == 1);
    end
endmodule
