// A warp that waits for a write of its line sleeps through none of them, for its time at most, and
// not at all if it has looked at nothing. One slot is followed, any of the 32.
//
// Two banks; `wrs.sto` lasts four to eight cycles here, `wrs.nto` eight to sixteen.
module warp_waits_formal (
    input wire        clk,
    input wire        rst,
    input wire [31:0] cycle,
    input wire        start_valid,
    input wire [4:0]  start_slot,
    input wire        look_valid,
    input wire [4:0]  look_slot,
    input wire [25:0] look_line,
    input wire [1:0]  written_valid,
    input wire [25:0] written_0,
    input wire [25:0] written_1,
    input wire        advance,
    input wire [4:0]  slot,
    input wire [4:0]  hold_slot,
    input wire        sleep_valid,
    input wire        sleep_brief,
    input wire        pass_valid,
    input wire [31:0] overdue
);
    (* anyconst *) reg [4:0] s;

    function [7:0] fold(input [25:0] line);
        fold = line[7:0] ^ line[15:8] ^ line[23:16] ^ {6'd0, line[25:24]};
    endfunction

    wire        holds;
    wire [31:0] wake;
    warp_waits dut (
        .clk(clk), .rst(rst), .cycle(cycle), .start_valid(start_valid), .start_slot(start_slot), .look_valid(look_valid), .look_slot(look_slot),
        .look_line(look_line), .written_valid(written_valid), .written_fold({fold(written_1), fold(written_0)}), .advance(advance), .slot(slot),
        .holds(holds), .hold_slot(hold_slot), .sleep_valid(sleep_valid), .sleep_brief(sleep_brief), .sleep_pass(pass_valid), .overdue(overdue),
        .wake(wake)
    );

    `include "start.vh"

    wire looks = look_valid && look_slot == s;
    wire sleeps = sleep_valid && hold_slot == s;
    wire passes = pass_valid && hold_slot == s;
    wire ends = passes || (start_valid && start_slot == s);

    // What the slot has done: the line that it looked at last, whether at another one before,
    // whether that line was written since, or one with its fold, and for how long it sleeps.
    reg        armed, several, written, folded, asleep, brief;
    reg [25:0] line;
    reg [4:0]  time_asleep;
    reg [31:0] last_cycle;
    wire written_now = (written_valid[0] && written_0 == line) || (written_valid[1] && written_1 == line);
    wire folded_now = (written_valid[0] && fold(written_0) == fold(line)) || (written_valid[1] && fold(written_1) == fold(line));

    always @(posedge clk) begin
        last_cycle <= cycle;
        if (looks) line <= look_line;
        armed <= (armed && !ends) || looks;
        several <= (several || (looks && armed && fold(look_line) != fold(line))) && !ends;
        // A later look keeps what was seen: the warp looks again in any case.
        written <= ((armed && written_now && !looks) || (written && !looks)) && !ends;
        folded <= (folded || (armed && folded_now)) && !ends;
        asleep <= (asleep || sleeps) && !ends;
        if (sleeps) brief <= sleep_brief || several;
        time_asleep <= !asleep ? 0 : time_asleep == 31 ? 31 : time_asleep + 1;
        if (rst) {armed, several, written, folded, asleep, time_asleep} <= 0;
    end

    // The cycles are counted, and a warp that sleeps does nothing else: it is told so once, having
    // looked, and neither looks nor sleeps before it has gone on.
    always @* if (started) assume (cycle == last_cycle + 1);
    always @* assume (!(sleep_valid && pass_valid));
    always @* if (asleep) assume (!looks && !sleeps);
    always @* if (sleeps) assume (armed && !looks && !ends);

    wire [5:0] least = brief ? 4 : 8;
    wire [5:0] most = brief ? 8 : 16;
    // Cycles since the last edge of the bit of `cycle` that its time is made of.
    wire [31:0] since_brief = cycle - 3, since_long = cycle - 5;
    wire [5:0] since = brief ? {4'd0, since_brief[1:0]} : {3'd0, since_long[2:0]};
    reg was_awake, was_overdue, was_unarmed, did_end, did_advance, was_held;
    always @(posedge clk) begin
        was_awake <= wake[s] && !rst;
        was_overdue <= overdue[s];
        was_unarmed <= !armed;
        did_end <= ends || rst;
        did_advance <= advance && !rst;
        was_held <= !wake[slot];
    end

    (* hierconn *) wire [31:0] \dut.armed ;
    (* hierconn *) wire [31:0] \dut.several ;
    (* hierconn *) wire [31:0] \dut.over ;
    (* hierconn *) wire [31:0] \dut.asleep ;
    (* hierconn *) wire [31:0] \dut.briefly ;
    (* hierconn *) wire [31:0] \dut.old ;
    (* hierconn *) wire [7:0] \dut.line_0 ;
    (* hierconn *) wire [7:0] \dut.line_1 ;
    (* hierconn *) wire [7:0] \dut.line_2 ;
    (* hierconn *) wire [7:0] \dut.line_3 ;
    (* hierconn *) wire [7:0] \dut.line_4 ;
    (* hierconn *) wire [7:0] \dut.line_5 ;
    (* hierconn *) wire [7:0] \dut.line_6 ;
    (* hierconn *) wire [7:0] \dut.line_7 ;
    (* hierconn *) wire [7:0] \dut.line_8 ;
    (* hierconn *) wire [7:0] \dut.line_9 ;
    (* hierconn *) wire [7:0] \dut.line_10 ;
    (* hierconn *) wire [7:0] \dut.line_11 ;
    (* hierconn *) wire [7:0] \dut.line_12 ;
    (* hierconn *) wire [7:0] \dut.line_13 ;
    (* hierconn *) wire [7:0] \dut.line_14 ;
    (* hierconn *) wire [7:0] \dut.line_15 ;
    (* hierconn *) wire [7:0] \dut.line_16 ;
    (* hierconn *) wire [7:0] \dut.line_17 ;
    (* hierconn *) wire [7:0] \dut.line_18 ;
    (* hierconn *) wire [7:0] \dut.line_19 ;
    (* hierconn *) wire [7:0] \dut.line_20 ;
    (* hierconn *) wire [7:0] \dut.line_21 ;
    (* hierconn *) wire [7:0] \dut.line_22 ;
    (* hierconn *) wire [7:0] \dut.line_23 ;
    (* hierconn *) wire [7:0] \dut.line_24 ;
    (* hierconn *) wire [7:0] \dut.line_25 ;
    (* hierconn *) wire [7:0] \dut.line_26 ;
    (* hierconn *) wire [7:0] \dut.line_27 ;
    (* hierconn *) wire [7:0] \dut.line_28 ;
    (* hierconn *) wire [7:0] \dut.line_29 ;
    (* hierconn *) wire [7:0] \dut.line_30 ;
    (* hierconn *) wire [7:0] \dut.line_31 ;
    wire [255:0] all_lines = {\dut.line_31 , \dut.line_30 , \dut.line_29 , \dut.line_28 , \dut.line_27 , \dut.line_26 , \dut.line_25 , \dut.line_24 , \dut.line_23 , \dut.line_22 , \dut.line_21 , \dut.line_20 , \dut.line_19 , \dut.line_18 , \dut.line_17 , \dut.line_16 , \dut.line_15 , \dut.line_14 , \dut.line_13 , \dut.line_12 , \dut.line_11 , \dut.line_10 , \dut.line_9 , \dut.line_8 , \dut.line_7 , \dut.line_6 , \dut.line_5 , \dut.line_4 , \dut.line_3 , \dut.line_2 , \dut.line_1 , \dut.line_0 };
    wire [7:0] line_of_slot = all_lines[8 * s +: 8];

    always @(posedge clk) if (started && !rst) begin
        if (armed && written) no_write_is_lost: assert (wake[s]);
        if (!armed) empty_set_is_free: assert (wake[s]);
        if (overdue[s]) overdue_is_woken: assert (wake[s]);
        if (armed && !folded && !asleep && !overdue[s]) held_until_written: assert (!wake[s]);
        if (asleep && !folded && !overdue[s] && time_asleep < least) not_before_its_time: assert (!wake[s]);
        if (asleep && time_asleep >= most) not_after_its_time: assert (wake[s]);
        if (was_awake && !was_overdue && !was_unarmed && !did_end) awake_until_it_goes_on: assert (wake[s]);
        if (did_advance) holds_what_is_not_free: assert (holds == was_held);

        // What the induction needs to know of the state.
        state_bits: assert (\dut.armed [s] == armed && \dut.several [s] == several && \dut.asleep [s] == asleep);
        state_line: assert (!armed || line_of_slot == fold(line));
        state_folded: assert (\dut.over [s] ? folded || asleep : !folded);
        state_written: assert (!written || \dut.over [s]);
        state_set: assert (\dut.armed [s] || (!\dut.asleep [s] && !\dut.several [s] && !\dut.over [s]));
        if (asleep) state_brief: assert (\dut.briefly [s] == brief);
        if (asleep) state_old: assert (\dut.old [s] == (time_asleep > since));
        if (asleep && !folded) state_over: assert (\dut.over [s] == (time_asleep > since + least));

        written_asleep: cover (asleep && written && time_asleep == 2);
        longest: cover (asleep && !folded && !brief && time_asleep == 9 && !wake[s]);
        woken_by_time: cover (asleep && !folded && brief && wake[s] && !overdue[s]);
        several_lines: cover (asleep && several && brief && time_asleep == 3);
    end
endmodule
