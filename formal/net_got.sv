// When a get is done: not before its last payload was told to be in memory, and then at the next
// look; one whose result is kept is not done behind an answer that was lost. Puts that are done
// take along what was told, so that it is never 2^23 packets behind.
//
// One queue pair is followed, whichever; the sender is as in requester.sv, whose properties are
// taken for granted here. Assumed, as what stands in the work table is anything here: a command
// that is acknowledged begins behind the one before and has at most 2^22 packets; responses are
// told in their order, none twice, and none 2^23 packets ahead of the oldest command; of commands
// that end with an error fewer than 2^22 packets were acknowledged.
`TRACKED(ram_async_208_4, 208, 4)
`TRACKED(ram_async_132_4, 132, 4)

module net_got_formal (
    `include "requester.vh"

    // The end of commands: behind the last acknowledged one that left, how far what was told to be
    // in memory is ahead of that, and whether an answer was passed that did not come.
    (* hierconn *) wire \dut.removes ;
    (* hierconn *) wire \dut.passes ;
    (* hierconn *) wire \dut.opens_row ;
    (* hierconn *) wire \dut.gets ;
    (* hierconn *) wire \dut.finishes ;
    (* hierconn *) wire [253:0] \dut.entry ;
    (* hierconn *) wire [23:0] \dut.first ;
    (* hierconn *) wire [23:0] \dut.arrived ;
    reg [23:0] ended;
    reg signed [31:0] told;
    reg gone;
    wire acknowledged = copy[108:96] != 0 && copy[108:96] != copy[121:109];
    wire looks_at_end = its && \dut.finishes ;
    wire leaves_ = its && \dut.removes && acknowledged;
    wire ends = its && \dut.removes && completed_code == 1;
    wire memory = \dut.entry [66];
    wire gets = \dut.entry [1:0] != 0;
    wire signed [31:0] packets = {9'd0, \dut.entry [203 +: 23]};
    wire [23:0] ahead = \dut.arrived + 24'd1 - ended;
    wire signed [31:0] comes = {8'd0, ahead};
    wire signed [31:0] remains = told - packets;
    wire [95:0] now = its && what == FINISH && step == 2 ? copy[95:0] : row[95:0];
    wire lost = its && (what == FINISH || what == ANSWER) && step != 1 ? copy[172] : row[172];
    wire means = \dut.reply [36] || \dut.reply [35:33] == 0 || \dut.reply [35:33] == 1 || \dut.reply [35:33] == 3;
    always @* begin
        if (looks_at_end && acknowledged) assume (\dut.first == ended && packets > 0 && packets <= 32'sh400000);
        if (its && \dut.gets ) assume (comes > told && comes < 32'sh800000);
        if (leaves_ && !ends) assume (remains > -32'sh400000);
    end
    always @(posedge clk) begin
        if (leaves_ || ends) begin
            ended <= ended + packets[23:0];
            told <= ends && remains < 0 ? 32'sd0 : remains;
        end
        if (its && \dut.gets ) told <= comes;
        if (its && \dut.passes && gets) gone <= 1;
        if (its && \dut.opens_row ) begin
            ended <= send[273 +: 24];
            told <= 0;
            gone <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) assume (all_hold);
    always @(posedge clk) if (started && !rst) begin
        state_got: assert (!known || (now[95:72] == ended + told[23:0] && told < 32'sh800000 && told > -32'sh400000));
        state_lost: assert (!known || (lost == gone && (!(its && what == ANSWER && step == 2 && copy[172] != row[172]) || (covered && means))));
        state_code: assert (!known || (!(row[187] && row[207:200] == 1) && (!(its && step[1]) || !(copy[187] && copy[207:200] == 1))));
        state_copy_of_got: assert (!(its && step[1] && known && what != OPEN) || copy[95:72] == now[95:72]);
        if (ends && gets && memory) done_when_in_memory: assert (acknowledged && told >= packets);
        if (ends && gets && !memory) done_with_its_answer: assert (acknowledged && !gone);
        // And then it is.
        if (looks_at_end && acknowledged && (!gets || (memory ? told >= packets : !gone))) done_at_once: assert (ends);

        told_behind_the_first: cover (known && told == 3);
    end
endmodule
