// When a retry timer expires: not before its time is over, that of a time-out or that of an RNR
// NAK; at most 16 silent cycles after it is, and after those that are told before it, each of which
// is told once; and until it is started anew or stopped.
//
// One queue pair is followed, whichever; timers start and stop, and resets come, at any time. Times
// are counted down here, and compared there: the counter of 32 bits begins anew meanwhile. Assumed:
// a timer is started anew or stopped before 2^31 cycles after its end.
module retry_timers_formal (
    input wire        clk,
    input wire        rst,
    input wire [23:0] timeout,
    input wire [23:0] patience,
    input wire        rest,
    input wire [4:0]  rest_code,
    input wire        start,
    input wire        stop,
    input wire [3:0]  pair,
    input wire [2:0]  doublings
);
    wire [23:0] time_;
    wire [15:0] runs;
    wire expired;
    wire [3:0] expired_pair;
    retry_timers dut (
        .clk(clk), .rst(rst), .timeout(timeout), .patience(patience), .rest(rest), .rest_code(rest_code), .start(start), .stop(stop),
        .pair(pair), .doublings(doublings), .time_(time_), .runs(runs), .expired(expired), .expired_pair(expired_pair)
    );
    (* hierconn *) wire [31:0] \dut.cycle ;
    (* hierconn *) wire [3:0] \dut.looked_at ;
    (* hierconn *) wire [3:0] \dut.ends.tracked ;
    (* hierconn *) wire [31:0] \dut.ends.word ;
    (* anyconst *) reg [3:0] which;
    assign \dut.ends.tracked = which;

    `include "start.vh"

    // Cycles of an RNR NAK: InfiniBand Architecture Specification, volume 1, table 45. Even codes
    // in units of 10,240; an odd one is half as long again as the even one below it, 1 as 10 were.
    wire [31:0] even = rest_code == 0 ? 32'd65536
        : rest_code == 2 ? 32'd2 : rest_code == 4 ? 32'd4 : rest_code == 6 ? 32'd8 : rest_code == 8 ? 32'd16
        : rest_code == 10 ? 32'd32 : rest_code == 12 ? 32'd64 : rest_code == 14 ? 32'd128 : rest_code == 16 ? 32'd256
        : rest_code == 18 ? 32'd512 : rest_code == 20 ? 32'd1024 : rest_code == 22 ? 32'd2048 : rest_code == 24 ? 32'd4096
        : rest_code == 26 ? 32'd8192 : rest_code == 28 ? 32'd16384 : rest_code == 30 ? 32'd32768 : 32'd0;
    wire [31:0] odd = 32'd15360 << rest_code[4:1];
    wire [31:0] once = patience > timeout ? patience : timeout;
    wire [31:0] cycles = !rest ? once << doublings : rest_code[0] ? odd : even * 32'd10240;

    // The followed timer: cycles until it is due, and since then; whether it was due in the cycle
    // before, silent cycles since, and how far the one that was told last is before it.
    reg running, was_due;
    reg [30:0] left, age;
    reg [4:0] silent;
    reg [3:0] nearest;
    reg [31:0] since;
    wire mine = pair == which;
    wire due = running && left == 0;
    wire told = expired && expired_pair == which;
    wire [3:0] distance = which - expired_pair;
    // It was told in the cycle before, and neither started anew nor stopped.
    reg stays;
    always @* assume (age != 31'h7fffffff);
    always @(posedge clk) begin
        since <= since + 1;
        was_due <= due && !(mine && (start || stop));
        stays <= told && !(mine && (start || stop));
        silent <= due && !expired ? silent + 5'd1 : due ? silent : 5'd0;
        nearest <= due && expired ? distance : due ? nearest : 4'd15;
        if (mine && (start || stop)) begin
            running <= start;
            left <= cycles == 0 ? 31'd0 : cycles[30:0] - 31'd1;
            age <= start && cycles == 0;
            silent <= 0;
            nearest <= 15;
        end else begin
            if (left != 0) left <= left - 1;
            age <= due ? age + 31'd1 : 31'd0;
        end
        if (rst) begin
            since <= 0;
            running <= 0;
            was_due <= 0;
            stays <= 0;
            silent <= 0;
            nearest <= 15;
            left <= 0;
            age <= 0;
        end
    end

    wire [31:0] difference = \dut.ends.word - \dut.cycle ;
    wire [3:0] comes = which - \dut.looked_at ;
    always @(posedge clk) if (started && !rst) begin
        state_now: assert (\dut.cycle == since);
        state_ends: assert (!running || difference == (left != 0 ? {1'b0, left} : -{1'b0, age}));
        state_turn: assert (!due || (silent + comes <= 15 && comes <= nearest));
        // The time that is told counts cycles since the reset.
        time_counts: assert (time_ == since[23:0]);
        runs_is_exact: assert (runs[which] == running);
        // It is told when its time is over, and not before.
        if (told) not_too_soon: assert (due);
        // At most 16 cycles after that, those in which another one is told not counted.
        told_in_time: assert (silent < 16);
        // While it is due others are told in their order: none again after another one.
        if (was_due && expired) in_turn: assert (distance <= nearest);
        // It is told until it is started anew or stopped.
        if (stays) told_until_then: assert (told);

        first_told: cover (told && was_due && silent == 3);
        others_first: cover (was_due && expired && nearest == 4 && distance == 2);
    end
endmodule
