// A warp that is owed an operation at the path of atomic operations gets it before any other warp
// gets two, and a debt that nobody collects does not close the path for ever.
//
// Of all warps one is followed, whichever, and one other. Between stage D and the path there is one
// operation at most.
module atomic_turns_formal (
    input wire       clk,
    input wire       rst,
    input wire [4:0] slot,
    input wire       wants,
    input wire       goes,
    input wire       start_valid,
    input wire       done
);
    // An atomic instruction behind stage D, and one under way at the path.
    reg        going, busy;
    reg  [4:0] who;
    wire       refused, wake;
    (* anyconst *) reg [4:0] warp;
    (* anyconst *) reg [4:0] other;
    atomic_turns dut (
        .clk(clk), .rst(rst), .slot(slot), .wants(wants), .busy(busy), .start_valid(start_valid), .start_slot(who),
        .refused(refused), .wake(wake)
    );
    (* hierconn *) wire [31:0] \dut.wanting ;
    (* hierconn *) wire [31:0] \dut.served ;
    (* hierconn *) wire [7:0] \dut.patience ;

    `include "start.vh"

    // The followed warp was turned away and had no operation in this round; the other had one
    // since.
    wire owed = \dut.wanting [warp] && !\dut.served [warp];
    wire starts = start_valid && who == warp;
    wire other_starts = start_valid && who == other;
    reg  was_owed, was_settled, was_turned_away, once;
    // Cycles for which the path was free and nobody came while the followed warp was owed an
    // operation.
    reg [8:0] free;
    always @* begin
        assume (warp != other);
        assume (!goes || (!refused && !wants && !going && !busy));
        assume (!start_valid || (going && !busy));
        assume (!done || busy);
    end
    always @(posedge clk) begin
        if (goes) {going, who} <= {1'b1, slot};
        if (start_valid) {going, busy} <= 2'b01;
        if (done) busy <= 0;
        was_owed <= owed;
        was_settled <= starts || wake;
        was_turned_away <= wants && slot == warp && !\dut.served [warp] && !starts && !wake;
        once <= owed && (once || other_starts);
        free <= owed && !busy && !start_valid && !wake ? free + 1 : 0;
        if (rst) {going, busy, was_owed, was_turned_away, once, free} <= 0;
    end

    always @(posedge clk) if (started && !rst) begin
        if (was_turned_away || (was_owed && !was_settled)) debt_is_kept: assert (owed || \dut.served [warp]);
        if (owed && slot == warp) owed_is_let_in: assert (!refused);
        if (owed && other_starts) nobody_has_two: assert (!once);
        wakes_in_time: assert (free <= \dut.patience && wake == (&\dut.patience ));

        // What the induction needs to know of the state.
        if (owed && once) state_once: assert (\dut.served [other] && !(going && who == other));

        waits_for_another: cover (once && starts);
        second_round: cover (other_starts && \dut.served [other] && \dut.served [warp]);
    end
endmodule
