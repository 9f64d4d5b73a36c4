// What answers the packets that came: no answer leaves before the payload that it covers, and all before, are performed; of the answers
// of a queue pair the newest is sent, once.
//
// One queue pair is followed, whichever. The FIFO of the marks, which is proved by itself (sync_fifo), gives any marks at any time.
module sync_fifo_answer_mark_7_8 (
    input  wire        clk,
    input  wire        rst,
    input  wire        push_valid,
    output wire        push_ready,
    input  wire [30:0] push_data,
    output wire        pop_valid,
    input  wire        pop_ready,
    output wire [30:0] pop_data,
    output wire [7:0]  level
);
    // A mark that waits stays.
    (* anyseq *) wire shows;
    (* anyseq *) wire [30:0] shown;
    (* anyseq *) wire [6:0] behind;
    (* anyseq *) wire room;
    reg held;
    reg [30:0] kept;
    assign pop_valid = held || shows;
    assign pop_data = held ? kept : shown;
    assign level = {1'b0, behind} + pop_valid;
    assign push_ready = room;
    always @(posedge clk) begin
        held <= pop_valid && !pop_ready && !rst;
        kept <= pop_data;
    end
endmodule

module ram_async_25_4 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [3:0]  write_address,
    input  wire [24:0] write_data,
    input  wire [3:0]  read_address,
    output wire [24:0] read_data
);
    wire [3:0] tracked;
    reg [24:0] word;
    (* anyseq *) wire [24:0] other;
    always @(posedge clk) if (write_enable && write_address == tracked) word <= write_data;
    assign read_data = read_address == tracked ? word : other;
endmodule

module ram_async_24_4 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [3:0]  write_address,
    input  wire [23:0] write_data,
    input  wire [3:0]  read_address,
    output wire [23:0] read_data
);
    wire [3:0] tracked;
    reg [23:0] word;
    (* anyseq *) wire [23:0] other;
    always @(posedge clk) if (write_enable && write_address == tracked) word <= write_data;
    assign read_data = read_address == tracked ? word : other;
endmodule

module acknowledge_formal (
    input wire         clk,
    input wire         rst,
    input wire         mark_valid,
    input wire [30:0]  mark,
    input wire         performed,
    input wire [15:0]  ups,
    input wire         opens,
    input wire [3:0]   opens_pair,
    input wire         row_free,
    input wire [288:0] send,
    input wire         head_taken
);
    wire mark_ready, sends, head_valid, idle, sent_nak;
    wire [3:0] send_pair;
    wire [381:0] head;
    acknowledge dut (
        .clk(clk), .rst(rst), .mark_valid(mark_valid), .mark_ready(mark_ready), .mark(mark), .performed(performed), .ups(ups),
        .opens(opens), .opens_pair(opens_pair), .row_free(row_free), .sends(sends), .send_pair(send_pair), .send(send),
        .head_valid(head_valid), .head_taken(head_taken), .head(head), .idle(idle), .sent_nak(sent_nak)
    );
    (* hierconn *) wire \dut.marks_pop_valid ;
    (* hierconn *) wire [30:0] \dut.oldest ;
    (* hierconn *) wire \dut.passes ;
    (* hierconn *) wire [7:0] \dut.done ;
    (* hierconn *) wire [15:0] \dut.waiting ;
    (* hierconn *) wire [15:0] \dut.fresh ;
    (* hierconn *) wire [24:0] \dut.answers.word ;
    (* hierconn *) wire [3:0] \dut.answers.tracked ;
    (* hierconn *) wire [23:0] \dut.messages.word ;
    (* hierconn *) wire [3:0] \dut.messages.tracked ;
    (* anyconst *) reg [3:0] pair;
    assign \dut.answers.tracked = pair;
    assign \dut.messages.tracked = pair;

    `include "start.vh"

    wire shows = \dut.marks_pop_valid ;
    wire passes = \dut.passes ;
    wire [30:0] oldest = \dut.oldest ;
    wire payload = oldest[30];
    wire mine = oldest[3:0] == pair;
    wire up = ups[pair];
    wire leaves = head_valid && head_taken;

    // Payloads that are performed and whose marks have not passed; at most as many as there are marks.
    reg [7:0] ahead;
    // The newest answer of the followed queue pair, and whether it was not sent; its payloads since it went up.
    reg waiting, fresh;
    reg [24:0] newest;
    reg [23:0] payloads;
    always @* begin
        if (performed) assume (ahead < 128);
        if (opens) assume (!ups[opens_pair]);
        if (head_taken) assume (head_valid);
    end
    always @(posedge clk) begin
        ahead <= ahead + performed - (passes && payload);
        waiting <= waiting && up && !(leaves && send_pair == pair);
        if (passes && mine) begin
            if (oldest[28]) {waiting, newest} <= {1'b1, oldest[29], oldest[27:4]};
            if (payload) {fresh, payloads} <= {1'b0, (fresh ? 24'd0 : payloads) + 24'd1};
        end
        if (opens && opens_pair == pair) fresh <= 1;
        if (rst) begin
            ahead <= 0;
            waiting <= 0;
            fresh <= 0;
        end
    end
    reg counts_known;
    always @(posedge clk) counts_known <= !rst && (counts_known || (opens && opens_pair == pair) || (passes && mine && payload && fresh));

    always @(posedge clk) if (started && !rst) begin
        state_done: assert (\dut.done == ahead && ahead <= 128);
        state_waiting: assert (\dut.waiting [pair] == waiting && (!waiting || \dut.answers.word == newest));
        state_fresh: assert (\dut.fresh [pair] == fresh && (!counts_known || fresh || \dut.messages.word == payloads));
        // A mark with a payload passes when that is performed, which is when more are performed than have passed; all in their order.
        if (passes) not_before_performed: assert (shows && (!payload || ahead != 0));
        // It passes as soon as it is.
        if (shows && (!payload || ahead != 0)) passes_at_once: assert (passes);
        // What is sent is the newest answer, once, of a queue pair that is up; to its peer.
        if (head_valid && send_pair == pair) newest_is_sent: assert (waiting && up && head[118 +: 24] == newest[23:0] && head[142 + 216 +: 8] == (newest[24] ? 8'h60 : 8'h1f));
        if (head_valid) sent_to_the_peer: assert (sends && head[3:0] == send_pair && head[5 +: 48] == send[25 +: 48] && head[53 +: 32] == send[73 +: 32] && head[94 +: 24] == send[1 +: 24] && head[85 +: 9] == 9'h11 && head[369 +: 13] == 0);
        // It says how many payloads are performed since the queue pair went up.
        if (head_valid && send_pair == pair && counts_known) payloads_are_counted: assert (head[142 + 192 +: 24] == (fresh ? 0 : payloads));
        // It is offered when nothing is counted and no other one is.
        if (waiting && up && row_free && !(passes && payload)) one_is_offered: assert (head_valid);
        if (sends) row_is_free: assert (row_free && head_valid);
        naks_are_counted: assert (sent_nak == (leaves && head[142 + 216 +: 8] == 8'h60));
        if (idle) idle_is_true: assert (!waiting && !shows);

        newer_replaces: cover (waiting && passes && mine && oldest[28] && !oldest[29] && newest[24] && payload);
        sent_behind_two: cover (leaves && send_pair == pair && payloads == 2 && counts_known && !fresh);
    end
endmodule
