// The ports, the unit and the followed queue pair of requester.sv and net_once.sv, behind the name
// of the module: what the environment does, and what holds in every state, which requester.sv
// proves and net_once.sv takes for granted.
    input wire         clk,
    input wire         rst,
    input wire [23:0]  timeout,
    input wire [2:0]   retries,
    input wire         post_valid,
    input wire [295:0] post,
    input wire         completed_ready,
    input wire         answer_valid,
    input wire [116:0] answer,
    input wire         got_valid,
    input wire [3:0]   got_pair,
    input wire [23:0]  got_sequence,
    input wire         opens,
    input wire [3:0]   opens_pair,
    input wire [15:0]  ups,
    input wire [15:0]  errors,
    input wire [301:0] send,
    input wire [105:0] region,
    input wire [3:0]   show_pair,
    input wire         head_ready,
    input wire         fault_valid,
    input wire [40:0]  fault,
    input wire [15:0]  moving
);
    (* anyconst *) reg [5:0] window;
    wire ready, post_ready, completed, completed_result, answer_ready, judged, lands, got_ready, fails, sends, looks, show_waits;
    wire head_valid, wants, source_valid, fault_ready, resent, timed_out, stray;
    wire [7:0] completed_code;
    wire [9:0] completed_owner;
    wire [1:0] completed_context;
    wire [15:0] completed_index, listed;
    wire [63:0] completed_value;
    wire [31:0] land_address;
    wire [3:0] fails_pair, send_pair, region_index;
    wire [207:0] shown;
    wire [381:0] head;
    wire [182:0] source;
    requester dut (
        .clk(clk), .rst(rst), .window(window), .timeout(timeout), .retries(retries), .ready(ready), .post_valid(post_valid),
        .post_ready(post_ready), .post(post), .completed(completed), .completed_ready(completed_ready), .completed_code(completed_code),
        .completed_owner(completed_owner), .completed_context(completed_context), .completed_index(completed_index),
        .completed_result(completed_result), .completed_value(completed_value), .answer_valid(answer_valid), .answer_ready(answer_ready),
        .answer(answer), .judged(judged), .lands(lands), .land_address(land_address), .got_valid(got_valid), .got_ready(got_ready),
        .got_pair(got_pair), .got_sequence(got_sequence), .opens(opens), .opens_pair(opens_pair), .ups(ups), .errors(errors), .fails(fails),
        .fails_pair(fails_pair), .listed(listed), .sends(sends), .send_pair(send_pair), .send(send), .looks(looks),
        .region_index(region_index), .region(region), .show_pair(show_pair), .show_waits(show_waits), .shown(shown),
        .head_ready(head_ready), .head_valid(head_valid), .wants(wants), .head(head), .source_valid(source_valid), .source(source),
        .fault_valid(fault_valid), .fault_ready(fault_ready), .fault(fault), .moving(moving), .resent(resent), .timed_out(timed_out),
        .stray(stray)
    );
    (* hierconn *) wire [1:0] \dut.step ;
    (* hierconn *) wire [2:0] \dut.kind ;
    (* hierconn *) wire [3:0] \dut.pair ;
    (* hierconn *) wire [207:0] \dut.row ;
    (* hierconn *) wire [23:0] \dut.base ;
    (* hierconn *) wire \dut.base_up ;
    (* hierconn *) wire [116:0] \dut.reply ;
    (* hierconn *) wire [287:0] \dut.packet ;
    (* hierconn *) wire [15:0] \dut.opening ;
    (* hierconn *) wire [15:0] \dut.busy ;
    (* hierconn *) wire [15:0] \dut.sendable ;
    (* hierconn *) wire [15:0] \dut.finishing ;
    (* hierconn *) wire [15:0] \dut.timers.running ;
    (* hierconn *) wire \dut.posted ;
    (* hierconn *) wire \dut.writes ;
    (* hierconn *) wire [3:0] \dut.rows.tracked ;
    (* hierconn *) wire [207:0] \dut.rows.word ;
    (* anyconst *) reg [3:0] pair;
    assign \dut.rows.tracked = pair;
    (* hierconn *) wire \dut.is_put ;
    (* hierconn *) wire [3:0] \dut.send_window.rows.tracked ;
    (* hierconn *) wire [131:0] \dut.send_window.rows.word ;
    assign \dut.send_window.rows.tracked = pair;

    `include "start.vh"

    localparam OPEN = 0, FINISH = 1, FAULT = 2, GOT = 3, ANSWER = 4, EXPIRE = 5, POST = 6, SEND = 7;

    // What it does for the followed queue pair.
    wire [1:0] step = \dut.step ;
    wire [2:0] what = \dut.kind ;
    wire its = step != 0 && \dut.pair == pair;
    wire up = ups[pair];
    wire sent = head_valid && head[3:0] == pair;

    // Its row, and the copy of that which a step works at: the oldest packet without an answer, the
    // next one, the one behind all that were sent.
    wire [207:0] row = \dut.rows.word ;
    wire [207:0] copy = \dut.row ;
    wire [23:0] oldest = row[23:0];
    wire [23:0] upcoming = row[47:24];
    wire [23:0] top = row[71:48];
    wire more = row[170];
    wire [4:0] reads = row[177:173];
    wire [4:0] depth = row[182:178];
    wire [3:0] tries = row[186:183];
    wire [23:0] far_ = \dut.reply [4 +: 24] - \dut.base ;
    wire covered = \dut.base_up && far_ < top - \dut.base ;
    wire may_send = more && upcoming - oldest < window && reads < depth;

    // Its window: packets that may be without an answer; the last one asks for one; the peer is not
    // ready.
    wire [5:0] allowed = \dut.send_window.rows.word [5:0];
    wire asks = \dut.send_window.rows.word [7];
    wire rests = \dut.send_window.rows.word [8];
    wire [23:0] under_way = upcoming - oldest;
    wire flows = may_send && (under_way < allowed || (!asks && under_way != 0)) && !rests;
    // A response is taken in two steps, of which the first one changes the window alone.
    wire between = its && what == ANSWER && step == 3;

    // The states of the followed queue pair: RESET, UP, CLOSING, ERROR. It leaves ERROR when it has
    // no commands.
    reg [1:0] state;
    // Its row has begun since the last reset.
    reg known;
    wire opens_it = opens && opens_pair == pair;
    always @* begin
        assume (window != 0 && window <= 32);
        assume (up == (state == 1) && errors[pair] == (state == 3));
        // It goes up from RESET, while nothing is done for it; the row says so.
        if (opens_it) assume (state == 0 && !its && !(answer_valid && answer[3:0] == pair) && !(got_valid && got_pair == pair) && !(fault_valid && fault[3:0] == pair));
        // No timer of one without commands runs.
        if (opens_it) assume (!\dut.timers.running [pair] );
        // Nothing comes in but for one that was up.
        if (!known) assume (!(answer_valid && answer[3:0] == pair) && !(got_valid && got_pair == pair) && !(fault_valid && fault[3:0] == pair));
        if (sends && send_pair == pair) assume (send[0] == up && send[8:5] >= 8 && send[8:5] <= 12 && send[301:297] >= 1 && send[301:297] <= 16);
        // A packet has a number, one of a PUT has one; a READ that is sent again ends where it
        // ended before (PacketCut).
        if (its && what == SEND && step == 3) assume (\dut.packet [284:281] != 0 && (!\dut.is_put || \dut.packet [284:281] == 1));
        if (its && what == SEND && step == 3 && upcoming != top) assume (\dut.packet [284:281] <= top - upcoming);
    end
    (* anyseq *) reg closes, falls, leaves;
    always @(posedge clk) begin
        if (opens_it) state <= 1;
        else if ((state == 1 || state == 2) && ((fails && fails_pair == pair) || falls)) state <= 3;
        else if (state == 1 && closes) state <= 2;
        else if (state == 3 && leaves && !listed[pair]) state <= 0;
        if (its && what == OPEN && step == 2 && completed_ready) known <= 1;
        if (rst) begin
            state <= 0;
            known <= 0;
        end
    end

    wire is_ack = !\dut.reply [36] && \dut.reply [35:33] == 0;

    // What holds in every state.
    wire known_holds = known || (!\dut.busy [pair] && !\dut.sendable [pair] && !\dut.finishing [pair] && !\dut.timers.running [pair] && !(its && what != OPEN && what != POST));
    wire opening_holds = !\dut.opening [pair] || (!\dut.busy [pair] && state != 0 && (!its || what == OPEN || what == POST || what == FINISH));
    wire reset_holds = !(state == 0) || (!\dut.busy [pair] && !\dut.opening [pair] );
    wire expires_holds = !(its && what == EXPIRE) || \dut.timers.running [pair] ;
    wire opens_holds = !(its && what == OPEN) || \dut.opening [pair] ;
    wire busy_holds = !known || (\dut.busy [pair] == (row[108:96] != 0) && (!(its && step != 1) || what == OPEN || copy[108:96] == row[108:96] || (what == FINISH && copy[108:96] < row[108:96])));
    wire up_holds = state == 0 || known || \dut.opening [pair] ;
    wire row_holds = !known || (upcoming - oldest <= top - oldest && top - oldest <= window + 24'd7);
    wire sendable_holds = !known || ((!\dut.sendable [pair] || may_send) && (between || \dut.sendable [pair] == flows));
    wire window_holds = !known || (allowed != 0 && allowed <= window && (under_way < window || asks));
    wire sends_holds = !(its && what == SEND) || (known && flows);
    wire copy_holds = !its || step == 1 || what == ANSWER || what == FINISH || copy == row;
    wire finish_holds = !(its && what == FINISH && step != 1) || {copy[186:134], copy[71:0]} == {row[186:134], row[71:0]};
    wire steps_holds = step != 3 || what == SEND || what == ANSWER;
    wire answer_holds = !(its && what == ANSWER && step != 1) || (\dut.base == oldest && copy[71:48] == top && (copy[23:0] == oldest || (covered && copy[23:0] - oldest <= far_ + is_ack)));
    wire response_holds = !(its && what == ANSWER && step == 3) || (covered && \dut.reply [36] && copy[23:0] == \dut.reply [4 +: 24] && copy[47:24] - copy[23:0] <= top - copy[23:0] && (copy[47:24] == upcoming || copy[47:24] == copy[23:0]) && copy[186:183] == (copy[23:0] == oldest ? tries : 4'd0));
    wire passing_holds = !(its && what == ANSWER && step == 2) || {copy[186:173], copy[170], copy[47:24]} == {row[186:173], row[170], upcoming};
    wire all_hold = known_holds && opening_holds && reset_holds && expires_holds && opens_holds && busy_holds && up_holds && row_holds
        && sendable_holds && window_holds && sends_holds && copy_holds && finish_holds && steps_holds && answer_holds && response_holds && passing_holds;
