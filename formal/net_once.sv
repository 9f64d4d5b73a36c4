// Each packet counts once, over a channel that loses, repeats and reorders: the sender against a
// receiver that performs each packet once and in order (receiver.sv), and whose answers come at any
// time, in any order, or never. No packet counts as acknowledged, and so no command as done, that
// was not performed; what was not performed is still to be sent again (requester.sv: the timer
// runs). So each is performed once and completes once.
//
// One queue pair is followed, whichever; the sender is as in requester.sv, whose properties are
// taken for granted here.
`TRACKED(ram_async_208_4, 208, 4)
`TRACKED(ram_async_132_4, 132, 4)

module net_once_formal (
    `include "requester.vh"
    `include "requester_cover.vh"

    // The packet that the receiver expects: it performs one that was sent, sooner or later. Its
    // answers come at any time, in any order, or never: ACKs and responses of packets that it has
    // performed, NAKs of these or the next one.
    (* anyseq *) reg performs;
    reg [23:0] expected;
    wire [23:0] answered = answer[27:4] - oldest;
    wire answer_is_nak = !answer[36] && answer[35:33] != 0;
    wire [23:0] replied = \dut.reply [27:4] - oldest;
    always @* begin
        if (answer_valid && answer[3:0] == pair && answered < top - oldest) assume (answered < expected - oldest + answer_is_nak);
    end
    always @(posedge clk) begin
        if (its && what == OPEN && step == 2 && completed_ready) expected <= send[273 +: 24];
        else if (performs && expected != top) expected <= expected + 1;
    end

    always @(posedge clk) if (started && !rst) assume (all_hold);
    always @(posedge clk) if (started && !rst) begin
        state_replied: assert (!(its && what == ANSWER && replied < top - oldest) || replied < expected - oldest + (!\dut.reply [36] && !is_ack));
        // No packet counts as acknowledged that the receiver has not performed.
        if (known) acknowledged_is_performed: assert (expected - oldest <= top - oldest);

        performed_unanswered: cover (known && expected - oldest == 1);
    end
endmodule
