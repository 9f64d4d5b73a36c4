// Which hart fetches: one that may; one that was redirected first, once; and everybody's turn
// comes.
//
// Of all harts one is followed, whichever.
module hart_scheduler_formal (
    input wire       clk,
    input wire       rst,
    input wire [7:0] ready,
    input wire [7:0] open,
    input wire [7:0] redirected,
    input wire [7:0] hold
);
    wire       valid;
    wire [2:0] hart;
    (* anyconst *) reg [2:0] follow;
    hart_scheduler dut (
        .clk(clk), .rst(rst), .ready(ready), .open(open), .redirected(redirected), .hold(hold), .valid(valid), .hart(hart)
    );
    (* hierconn *) wire [31:0] \dut.turns.above ;
    (* hierconn *) wire [7:0] \dut.goes_first ;

    `include "start.vh"

    // Who goes first: redirected since it fetched last, and not held.
    reg  [7:0] first;
    wire [7:0] wants_first = first & ready;
    wire [7:0] fetches = valid << hart;
    wire       in_turn = valid && wants_first == 0;
    wire       certain = ready[follow] && !open[follow];
    // Who fetched in turn since the followed one could have, for certain.
    reg  [7:0] used;
    always @(posedge clk) begin
        first <= ((first & ~(fetches & {8{wants_first != 0}})) | redirected) & ~hold;
        if (!certain) used <= 0;
        else if (in_turn) used <= hart == follow ? 0 : used | fetches;
        if (rst) begin
            first <= 0;
            used <= 0;
        end
    end

    // Bits up to the followed one, and who may come before it.
    wire [31:0] up_to = ((32'd1 << follow) << 1) - 32'd1;
    wire [31:0] before = \dut.turns.above [follow] ? (\dut.turns.above & up_to) : (\dut.turns.above | up_to);

    always @(posedge clk) if (started && !rst) begin
        one_if_ready: assert (valid == (ready != 0));
        if (valid) only_who_is_ready: assert (ready[hart]);
        if (wants_first != 0) redirected_first: assert (wants_first[hart] && (wants_first & (fetches - 1)) == 0);
        if (in_turn && (ready & ~open) != 0) certain_before_open: assert (!open[hart]);
        if (certain && in_turn) no_starvation: assert (hart == follow || !used[hart]);

        // What the induction needs to know of the state.
        state_first: assert (\dut.goes_first == first);
        state_above: assert ((~\dut.turns.above & (~\dut.turns.above + 1)) == 0);
        state_used: assert ((used & before) == 0);

        all_others_first: cover (used == 8'hfb && in_turn && hart == 2 && follow == 2);
        two_redirected: cover (wants_first == 8'h22);
        in_vain: cover (in_turn && open[hart]);
    end
endmodule
