// What answers the packets that came: no answer leaves before the payload that it covers, and all
// before, are performed; of the answers of a queue pair the newest is sent, once, when its
// responses are gone; a refusal is the last one; a response is told once, when it is in memory, and
// nothing behind it goes on before it is noted; a queue pair is pending exactly while a payload of
// it is not performed, or was not noted yet.
//
// One queue pair is followed, whichever. The FIFO of the marks, which is proved by itself
// (sync_fifo), gives marks at any time and in any order, but no more of a kind than it was given:
// payloads and marks without one, of the followed queue pair and of others.
module sync_fifo_answer_mark_4_5 (
    input  wire        clk,
    input  wire        rst,
    input  wire        push_valid,
    output wire        push_ready,
    input  wire [57:0] push_data,
    output wire        pop_valid,
    input  wire        pop_ready,
    output wire [57:0] pop_data,
    output wire [4:0]  level
);
    wire [3:0] tracked;
    // A mark that waits stays.
    (* anyseq *) wire shows;
    (* anyseq *) wire [57:0] shown;
    reg held;
    reg [57:0] kept;
    reg [4:0] its, payloads, plain, its_plain;
    wire push = push_valid && push_ready;
    wire pop = pop_valid && pop_ready;
    assign pop_valid = held || shows;
    assign pop_data = held ? kept : shown;
    assign level = its + payloads + plain + its_plain;
    assign push_ready = level != 16;
    wire pushes_mine = push_data[3:0] == tracked;
    wire pops_mine = pop_data[3:0] == tracked;
    wire pushes_its = push_data[32] && pushes_mine;
    wire pops_its = pop_data[32] && pops_mine;
    always @* if (pop_valid) assume (pops_its ? its != 0 : pop_data[32] ? payloads != 0 : pops_mine ? its_plain != 0 : plain != 0);
    always @(posedge clk) begin
        held <= pop_valid && !pop_ready && !rst;
        kept <= pop_data;
        its <= its + (push && pushes_its) - (pop && pops_its);
        payloads <= payloads + (push && push_data[32] && !pushes_its) - (pop && pop_data[32] && !pops_its);
        plain <= plain + (push && !push_data[32] && !pushes_mine) - (pop && !pop_data[32] && !pops_mine);
        its_plain <= its_plain + (push && !push_data[32] && pushes_mine) - (pop && !pop_data[32] && pops_mine);
        if (rst) begin
            its <= 0;
            payloads <= 0;
            plain <= 0;
            its_plain <= 0;
        end
    end
endmodule

module acknowledge_formal (
    input wire         clk,
    input wire         rst,
    input wire         mark_valid,
    input wire [57:0]  mark,
    input wire         performed,
    input wire [15:0]  ups,
    input wire         got_ready,
    input wire         refuse_valid,
    input wire [57:0]  refuse,
    input wire [15:0]  responds,
    input wire         row_free,
    input wire [301:0] send,
    input wire         head_taken
);
    wire mark_ready, got_valid, refuse_ready, sends, head_valid, sent_nak, closed;
    wire [15:0] pending, held_pairs;
    wire [3:0] got_pair, send_pair;
    wire [23:0] got_sequence;
    wire [381:0] head;
    acknowledge dut (
        .clk(clk), .rst(rst), .mark_valid(mark_valid), .mark_ready(mark_ready), .mark(mark), .performed(performed), .ups(ups),
        .got_valid(got_valid), .got_ready(got_ready), .got_pair(got_pair), .got_sequence(got_sequence), .refuse_valid(refuse_valid),
        .refuse_ready(refuse_ready), .refuse(refuse), .responds(responds), .row_free(row_free), .sends(sends), .send_pair(send_pair),
        .send(send), .head_valid(head_valid), .head_taken(head_taken), .head(head), .held(held_pairs), .sent_nak(sent_nak),
        .closed(closed), .pending(pending)
    );
    (* hierconn *) wire \dut.marks_pop_valid ;
    (* hierconn *) wire [57:0] \dut.oldest ;
    (* hierconn *) wire \dut.passes ;
    (* hierconn *) wire [4:0] \dut.done ;
    (* hierconn *) wire [3:0] \dut.marks.tracked ;
    (* hierconn *) wire [4:0] \dut.marks.its ;
    (* hierconn *) wire [4:0] \dut.marks.payloads ;
    (* hierconn *) wire [4:0] \dut.marks.plain ;
    (* hierconn *) wire [4:0] \dut.marks.its_plain ;
    (* hierconn *) wire [15:0] \dut.waiting ;
    (* hierconn *) wire [15:0] \dut.refused ;
    (* hierconn *) wire [15:0] \dut.missing ;
    (* hierconn *) wire [57:0] \dut.answers.word ;
    (* hierconn *) wire [3:0] \dut.answers.tracked ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_0 ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_1 ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_2 ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_3 ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_4 ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_5 ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_6 ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_7 ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_8 ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_9 ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_10 ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_11 ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_12 ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_13 ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_14 ;
    (* hierconn *) wire [4:0] \dut.unperformed.counts_15 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_0 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_1 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_2 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_3 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_4 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_5 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_6 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_7 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_8 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_9 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_10 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_11 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_12 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_13 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_14 ;
    (* hierconn *) wire [4:0] \dut.kept.counts_15 ;
    (* anyconst *) reg [3:0] pair;
    assign \dut.marks.tracked = pair;
    assign \dut.answers.tracked = pair;

    // The counts of all queue pairs, those of queue pair 0 last.
    wire [79:0] all_unperformed = {
        \dut.unperformed.counts_15 , \dut.unperformed.counts_14 , \dut.unperformed.counts_13 , \dut.unperformed.counts_12 ,
        \dut.unperformed.counts_11 , \dut.unperformed.counts_10 , \dut.unperformed.counts_9 , \dut.unperformed.counts_8 ,
        \dut.unperformed.counts_7 , \dut.unperformed.counts_6 , \dut.unperformed.counts_5 , \dut.unperformed.counts_4 ,
        \dut.unperformed.counts_3 , \dut.unperformed.counts_2 , \dut.unperformed.counts_1 , \dut.unperformed.counts_0 
    };
    wire [79:0] all_kept = {
        \dut.kept.counts_15 , \dut.kept.counts_14 , \dut.kept.counts_13 , \dut.kept.counts_12 ,
        \dut.kept.counts_11 , \dut.kept.counts_10 , \dut.kept.counts_9 , \dut.kept.counts_8 ,
        \dut.kept.counts_7 , \dut.kept.counts_6 , \dut.kept.counts_5 , \dut.kept.counts_4 ,
        \dut.kept.counts_3 , \dut.kept.counts_2 , \dut.kept.counts_1 , \dut.kept.counts_0 
    };
    wire [4:0] unperformed = all_unperformed[5 * pair +: 5];
    wire [4:0] kept = all_kept[5 * pair +: 5];

    `include "start.vh"

    wire shows = \dut.marks_pop_valid ;
    wire passes = \dut.passes ;
    wire [57:0] oldest = \dut.oldest ;
    wire payload = oldest[32];
    wire got = oldest[57];
    wire mine = oldest[3:0] == pair;
    wire up = ups[pair];
    wire leaves = head_valid && head_taken;
    wire its_head = head_valid && send_pair == pair;

    // Payloads whose marks have not passed, of the followed queue pair and of all; how many of
    // these are performed.
    wire [4:0] its = \dut.marks.its ;
    wire [4:0] its_plain = \dut.marks.its_plain ;
    wire [5:0] inside_ = its + \dut.marks.payloads ;
    reg [5:0] ahead;
    wire due = shows && (!payload || ahead != 0 || performed);
    wire refuses = refuse_valid && refuse_ready && refuse[3:0] == pair;
    // The newest answer of the followed queue pair (message, NAK, packet), and whether it was not
    // sent; that it is a refusal, and that one was sent since the queue pair was not up.
    reg waiting, refused, ended;
    reg [50:0] newest;
    // The mark that was told, and not noted, in the cycle before
    reg unnoted;
    reg [27:0] told;
    always @* begin
        // A payload is performed after its mark came, once.
        if (performed) assume (ahead < inside_);
        if (head_taken) assume (head_valid);
        // A queue pair whose refusal was sent is refused nothing more: it is not up from the next
        // cycle on.
        if (refuse_valid && (ended || (refused && leaves && send_pair == pair))) assume (refuse[3:0] != pair);
    end
    always @(posedge clk) begin
        ahead <= ahead + performed - (passes && payload);
        waiting <= waiting && up && !(leaves && send_pair == pair);
        refused <= refused && up;
        ended <= up && (ended || (refused && leaves && send_pair == pair));
        // A NAK 0x60 that waits covers a packet that came again.
        if (passes && mine && oldest[28] && !refused && !(oldest[31:29] == 5 && waiting && newest[26:24] == 1)) {waiting, newest} <= {1'b1, oldest[56:33], oldest[31:29], oldest[27:4]};
        // The first refusal is the one that is sent.
        if (refuses && !refused) {waiting, refused, newest} <= {2'b11, refuse[56:33], refuse[31:29], refuse[27:4]};
        unnoted <= got_valid && !got_ready;
        told <= {got_sequence, got_pair};
        if (rst) begin
            ahead <= 0;
            waiting <= 0;
            refused <= 0;
            ended <= 0;
            unnoted <= 0;
        end
    end

    wire [57:0] word = \dut.answers.word ;
    always @(posedge clk) if (started && !rst) begin
        state_done: assert (\dut.done == ahead && ahead <= inside_ && inside_ + \dut.marks.plain + its_plain <= 16);
        state_unperformed: assert (unperformed == its);
        state_kept: assert (kept == its + its_plain);
        state_waiting: assert (\dut.waiting [pair] == waiting && (!waiting || refused || \dut.missing [pair] == (newest[26:24] == 1)) && (!waiting || {word[56:33], word[31:29], word[27:4]} == newest));
        state_refused: assert (\dut.refused [pair] == refused && (!ended || (refused && !waiting)));
        // A mark with a payload passes when that is performed, which is when more are performed
        // than have passed, with the one of this cycle; all in their order.
        if (passes) not_before_performed: assert (due);
        // It passes as soon as it is; that of a response when it is noted, and nothing behind it
        // before.
        passes_at_once: assert (passes == (due && (!got || got_ready)));
        // A response is told when it is in memory, as it came, until it is noted; it is noted when
        // its mark passes: once.
        got_is_told: assert (got_valid == (due && got) && (!got_valid || {got_sequence, got_pair} == oldest[27:0]));
        if (got_valid && got_ready) got_once: assert (passes);
        if (unnoted) got_stays: assert (got_valid && {got_sequence, got_pair} == told);
        // A refusal is taken at once, or behind the answer of a mark that passes.
        refused_at_once: assert (refuse_ready || (passes && oldest[28]));
        // What is sent is the newest answer, once, of a queue pair that is up; to its peer.
        if (its_head) newest_is_sent: assert (waiting && up && head[118 +: 24] == newest[23:0] && head[142 + 216 +: 8] == (newest[26:24] == 0 || newest[26:24] == 5 ? 8'h1f : 8'h5f + newest[26:24]));
        if (its_head) message_is_its: assert (head[142 + 192 +: 24] == newest[50:27]);
        if (head_valid) sent_to_the_peer: assert (sends && head[3:0] == send_pair && head[5 +: 48] == send[33 +: 48] && head[53 +: 32] == send[81 +: 32] && head[94 +: 24] == send[9 +: 24] && head[85 +: 9] == 9'h11 && head[366 +: 3] == 1 && head[369 +: 13] == 0);
        // No answer is sent while responses of its queue pair are to be sent, and none behind a
        // refusal.
        if (head_valid) behind_the_responses: assert (!responds[send_pair]);
        if (ended) nothing_behind_a_refusal: assert (!its_head);
        // Else it is offered when no other one is.
        if (waiting && up && !responds[pair] && row_free) one_is_offered: assert (head_valid);
        if (sends) row_is_free: assert (row_free && head_valid);
        naks_are_counted: assert (sent_nak == (leaves && head[142 + 216 + 5 +: 3] == 3));
        // The queue pair is told as closed when a NAK above 0x60 left, and only then.
        closed_by_a_nak: assert (closed == (leaves && head[142 + 216 +: 8] > 8'h60));
        // It is pending from the cycle behind the one in which the mark of a payload came until
        // that has passed.
        pending_is_exact: assert (pending[pair] == (its != 0));
        // It is held while a mark of it has not passed, or an answer waits.
        held_is_exact: assert (held_pairs[pair] == (its + its_plain != 0 || waiting));

        newer_replaces: cover (waiting && passes && mine && oldest[28] && oldest[31:29] == 0 && newest[26:24] == 1 && payload);
        closed_while_pending: cover (closed && send_pair == pair && pending[pair] && ahead == 2);
        again_behind_a_nak: cover (waiting && newest[26:24] == 1 && passes && mine && oldest[31:28] == 4'b1011 && !refused);
        noted_later: cover (unnoted && got_ready && got_pair == pair && ahead == 2);
        answered_behind_a_refusal: cover (ended && passes && mine && oldest[28] && payload);
    end
endmodule
