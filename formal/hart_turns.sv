// A hart that is owed an operation that the harts share gets it before any other hart gets two
// more, and an operation is refused only while another hart is owed one that it still wants.
//
// Of all harts one is followed, whichever, and one other.
module hart_turns_formal (
    input wire       clk,
    input wire       rst,
    input wire [2:0] hart,
    input wire       live,
    input wire       turned_away,
    input wire       starts,
    input wire [7:0] gone
);
    wire refused;
    wire [7:0] held_back;
    (* anyconst *) reg [2:0] follow;
    (* anyconst *) reg [2:0] other;
    hart_turns dut (
        .clk(clk), .rst(rst), .hart(hart), .live(live), .turned_away(turned_away), .starts(starts), .gone(gone), .refused(refused),
        .held_back(held_back)
    );
    (* hierconn *) wire [7:0] \dut.wanting ;
    (* hierconn *) wire [7:0] \dut.served ;

    `include "start.vh"

    // Harts that were turned away and have neither come back to stage W nor gone elsewhere.
    reg  [7:0] waits;
    wire [7:0] of_hart = 8'd1 << hart;
    // Operations of the other hart since the followed one waits.
    reg  [1:0] passed;
    // The cycle before.
    reg        started_before;
    reg  [7:0] held_before;
    wire other_starts = starts && hart == other;
    always @* begin
        assume (follow != other);
        assume (!(turned_away && starts));
        assume (!((turned_away || starts) && !live));
        assume (!(starts && refused));
    end
    always @(posedge clk) begin
        started_before <= starts && !rst;
        held_before <= rst ? 8'd0 : held_back;
        waits <= ((waits & ~(live ? of_hart : 8'd0)) | (turned_away ? of_hart : 8'd0)) & ~gone;
        if (!waits[follow]) passed <= 0;
        else if (other_starts && !(&passed)) passed <= passed + 1;
        if (rst) begin
            waits <= 0;
            passed <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        if (refused) only_for_who_waits: assert (|(waits & ~of_hart));
        held_back_are_the_refused: assert (held_back[hart] == refused);
        // Stage D knows it a cycle early, unless an operation started meanwhile.
        if (refused && !started_before) known_a_cycle_early: assert (held_before[hart]);
        // Who is owed an operation is let in, and may come back meanwhile.
        if (waits[follow] && !\dut.served [follow]) owed_may_come: assert (!held_back[follow]);
        if (waits[follow] && hart == follow && !\dut.served [follow]) owed_is_let_in: assert (!refused);
        if (waits[follow]) at_most_two: assert (passed <= 2 && !(other_starts && passed == 2));

        // What the induction needs to know of the state.
        state_waits: assert (\dut.wanting == waits);
        if (waits[follow] && passed == 2) state_two: assert (!\dut.served [follow] && \dut.served [other]);
        if (waits[follow] && passed == 1) state_one: assert (\dut.served [other] || !\dut.served [follow]);

        waits_for_two: cover (passed == 2 && starts && hart == follow);
        refuses: cover (refused && live && waits == 8'h05);
    end
endmodule
