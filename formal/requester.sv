// The sender's go-back-N: the packets of a queue pair have the numbers that are next, none is sent outside the window, one that is sent again is
// the oldest without an answer or follows such a one; the oldest moves forward only, as far as an answer of a packet that was sent says; a time-out
// goes back to the oldest packet, and is counted; its timer runs while a packet is without an answer; behind an error nothing is sent.
//
// One queue pair is followed, whichever. Commands are anything, and so is what the work table says of them; answers are anything, also forged ones;
// queue pairs go up and down, and resets come, at any time. Assumed, as what stands in the work table is anything here: a packet has a number, a READ
// that is sent again ends where it ended before, and no timer runs of a queue pair that goes up.
`TRACKED(ram_async_208_4, 208, 4)

module requester_formal (
    input wire         clk,
    input wire         rst,
    input wire [23:0]  timeout,
    input wire [2:0]   retries,
    input wire         post_valid,
    input wire [295:0] post,
    input wire         completed_ready,
    input wire         answer_valid,
    input wire [114:0] answer,
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
    (* hierconn *) wire [2:0] \dut.what ;
    (* hierconn *) wire [3:0] \dut.pair ;
    (* hierconn *) wire [207:0] \dut.row ;
    (* hierconn *) wire [23:0] \dut.base ;
    (* hierconn *) wire \dut.base_up ;
    (* hierconn *) wire [114:0] \dut.reply ;
    (* hierconn *) wire [286:0] \dut.packet ;
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

    `include "start.vh"

    localparam OPEN = 0, FINISH = 1, FAULT = 2, GOT = 3, ANSWER = 4, EXPIRE = 5, POST = 6, SEND = 7;

    // What it does for the followed queue pair.
    wire [1:0] step = \dut.step ;
    wire [2:0] what = \dut.what ;
    wire its = step != 0 && \dut.pair == pair;
    wire up = ups[pair];
    wire sent = head_valid && head[3:0] == pair;

    // Its row, and the copy of that which a step works at: the oldest packet without an answer, the next one, the one behind all that were sent.
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

    // The states of the followed queue pair: RESET, UP, CLOSING, ERROR. It leaves ERROR when it has no commands.
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
        if (sends && send_pair == pair) assume (send[0] == up && send[301:297] >= 1 && send[301:297] <= 16);
        // A packet has a number; a READ that is sent again ends where it ended before (PacketCut).
        if (its && what == SEND && step == 3) assume (\dut.packet [284:281] != 0);
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

    // What the row is at the next edge.
    wire writes = \dut.writes && its;
    (* hierconn *) wire [207:0] \dut.changed ;
    wire [207:0] after = \dut.changed ;
    wire [23:0] moved = after[23:0] - oldest;
    wire is_ack = !\dut.reply [36] && \dut.reply [35:33] == 0;
    wire is_nak = !\dut.reply [36] && \dut.reply [35:33] == 3;
    wire [23:0] numbers = \dut.packet [284:281];

    always @(posedge clk) if (started && !rst) begin
        state_known: assert (known || (!\dut.busy [pair] && !\dut.sendable [pair] && !\dut.finishing [pair] && !\dut.timers.running [pair] && !(its && what != OPEN && what != POST)));
        state_opening: assert (!\dut.opening [pair] || (!\dut.busy [pair] && state != 0 && (!its || what == OPEN || what == POST || what == FINISH)));
        state_reset: assert (!(state == 0) || (!\dut.busy [pair] && !\dut.opening [pair] ));
        state_expires: assert (!(its && what == EXPIRE) || \dut.timers.running [pair] );
        state_opens: assert (!(its && what == OPEN) || \dut.opening [pair] );
        state_busy: assert (!known || (\dut.busy [pair] == (row[108:96] != 0) && (!(its && step != 1) || what == OPEN || copy[108:96] == row[108:96] || (what == FINISH && copy[108:96] < row[108:96]))));
        state_up: assert (state == 0 || known || \dut.opening [pair] );
        state_row: assert (!known || (upcoming - oldest <= top - oldest && top - oldest <= window + 24'd7));
        state_sendable: assert (!known || \dut.sendable [pair] == may_send);
        state_sends: assert (!(its && what == SEND) || (known && may_send));
        state_copy: assert (!its || step == 1 || what == ANSWER || what == FINISH || copy == row);
        state_finish: assert (!(its && what == FINISH && step != 1) || {copy[186:134], copy[71:0]} == {row[186:134], row[71:0]});
        state_steps: assert (step != 3 || what == SEND || what == ANSWER);
        state_answer: assert (!(its && what == ANSWER && step != 1) || (\dut.base == oldest && copy[71:48] == top && (copy[23:0] == oldest || (covered && copy[23:0] - oldest <= far_ + is_ack))));
        state_response: assert (!(its && what == ANSWER && step == 3) || (covered && \dut.reply [36] && copy[23:0] == \dut.reply [4 +: 24] && copy[47:24] - copy[23:0] <= top - copy[23:0] && (copy[47:24] == upcoming || copy[47:24] == copy[23:0]) && copy[186:183] == (copy[23:0] == oldest ? tries : 4'd0)));
        state_passing: assert (!(its && what == ANSWER && step == 2) || {copy[186:173], copy[170], copy[47:24]} == {row[186:173], row[170], upcoming});
        // Packets have the numbers that are next, within the window and the READs that the peer takes.
        if (sent) in_order: assert (its && known && head[118 +: 24] == upcoming);
        if (sent) within_the_window: assert (upcoming - oldest < window && reads < depth);
        if (sent) counted: assert (writes && after[47:24] == upcoming + numbers && after[71:48] == (upcoming == top ? upcoming + numbers : top) && after[23:0] == oldest);
        // One that was sent before is told.
        resent_is_told: assert (resent == (head_valid && head[118 +: 24] != copy[71:48]));
        // The oldest packet moves forward only, by an answer of a packet that was sent: behind it if it is an ACK or the response that is due,
        // else up to it.
        if (writes && what != OPEN) forward_only: assert (moved <= top - oldest && after[71:48] - after[23:0] <= window + 24'd7);
        if (writes && what != OPEN && moved != 0) moved_by_an_answer: assert (what == ANSWER && covered && moved <= far_ + (is_ack || step == 3));
        // What is sent next is what follows, or the oldest packet.
        if (writes && what != OPEN && !sent) goes_back_to_the_oldest: assert (after[47:24] == upcoming || after[47:24] == after[23:0]);
        if (writes && what != OPEN && !sent) sent_stays_sent: assert (after[71:48] == top);
        if (writes && what == OPEN) begins: assert (after[23:0] == send[273 +: 24] && after[47:24] == send[273 +: 24] && after[71:48] == send[273 +: 24] && after[186:183] == 0 && !after[170]);
        // A NAK of a lost packet goes back to that one, or to an answer that is missing before it.
        if (writes && what == ANSWER && step == 2 && covered && is_nak && \dut.reply [32:28] == 0) lost_is_sent_again: assert (after[47:24] == after[23:0]);
        // A time-out sends again from the oldest packet, and counts; after so many the queue pair fails.
        if (timed_out && its) times_out: assert (up && (fails ? tries >= retries : tries < retries && writes && after[47:24] == oldest && after[186:183] == tries + 4'd1));
        if (writes && moved == 0 && what != OPEN && what != EXPIRE) tries_stay: assert (after[186:183] == tries);
        if (writes && moved != 0 && what == ANSWER) tries_begin_anew: assert (after[186:183] == 0);
        // The timer runs while a packet is without an answer.
        if (up && known && !\dut.opening [pair] ) timer_runs: assert (\dut.timers.running [pair] == (oldest != top));
        // Nothing is sent behind an error, nor before the queue pair is up again.
        if (sent) up_when_sent: assert (up);
        if (fails && fails_pair == pair) fails_when_up: assert (its && (up || (what == ANSWER && covered)));
        // A queue pair is listed while it has commands, or begins.
        listed_is_exact: assert (!(\dut.busy [pair] || \dut.opening [pair] ) || listed[pair]);

        first_sent: cover (sent);
        first_time_out: cover (timed_out && its && !fails);
        opened_again: cover (opens_it && known);
    end
endmodule
