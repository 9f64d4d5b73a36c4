// A core changes hands only after each row of its registers and its scratchpad was cleared since a
// warp could start there last, and rows are cleared only while no warp is on the core.
//
// Two cores, two functions, four rows. One core is followed, whichever.
module core_clear_formal (
    `include "core_owner.vh"

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
