// READs of peers: those of a queue pair are answered in the order in which they came, each response
// once and with the number that is next; what the peer went back to is given back and not sent; no
// byte is sent but from a region with the key of the READ, the domain of the queue pair and the
// right; a READ that may not be answered any more is refused, with all behind it.
//
// One queue pair is followed, and one place of its ring, whichever. Regions change, and resets
// come, at any time.
`TRACKED_SYNC(ram_sync_174_8, 174, 8)
`TRACKED(ram_async_23_8, 23, 8)

module responder_formal (
    input wire         clk,
    input wire         rst,
    input wire         job_valid,
    input wire [173:0] job,
    input wire [15:0]  ups,
    input wire         row_free,
    input wire [301:0] send,
    input wire         region_free,
    input wire [105:0] region,
    input wire         head_taken,
    input wire         fault_valid,
    input wire [40:0]  fault,
    input wire [23:0]  fault_message,
    input wire         refuse_ready
);
    wire job_ready, sends, looks, head_valid, source_valid, fault_ready, refuse_valid, closes;
    wire [15:0] room, pairs, held_pairs;
    wire [3:0] send_pair, region_index, closes_pair;
    wire [381:0] head;
    wire [182:0] source;
    wire [57:0] refuse;
    responder dut (
        .clk(clk), .rst(rst), .job_valid(job_valid), .job_ready(job_ready), .job(job), .room(room), .pairs(pairs), .ups(ups),
        .row_free(row_free), .sends(sends), .send_pair(send_pair), .send(send), .region_free(region_free), .looks(looks),
        .region_index(region_index), .region(region), .head_valid(head_valid), .head_taken(head_taken), .head(head),
        .source_valid(source_valid), .source(source), .fault_valid(fault_valid), .fault_ready(fault_ready), .fault(fault), .fault_message(fault_message),
        .refuse_valid(refuse_valid), .refuse_ready(refuse_ready), .refuse(refuse), .closes(closes), .closes_pair(closes_pair), .held(held_pairs)
    );
    (* hierconn *) wire [1:0] \dut.step ;
    (* hierconn *) wire \dut.takes ;
    (* hierconn *) wire \dut.refuses ;
    (* hierconn *) wire [3:0] \dut.pair ;
    (* hierconn *) wire [31:0] \dut.row ;
    (* hierconn *) wire [301:0] \dut.peer_row ;
    (* hierconn *) wire [57:0] \dut.answer ;
    (* hierconn *) wire [173:0] \dut.read_job ;
    (* hierconn *) wire [173:0] \dut.found ;
    (* hierconn *) wire [22:0] \dut.limit ;
    (* hierconn *) wire [15:0] \dut.busy ;
    (* hierconn *) wire [15:0] \dut.full ;
    (* hierconn *) wire \dut.drops ;
    (* hierconn *) wire \dut.cuts ;
    (* hierconn *) wire \dut.is_through ;
    (* hierconn *) wire \dut.ends_it ;
    (* hierconn *) wire \dut.jobs_write_enable ;
    (* hierconn *) wire [7:0] \dut.jobs.tracked ;
    (* hierconn *) wire [173:0] \dut.jobs.word ;
    (* hierconn *) wire [7:0] \dut.limits.tracked ;
    (* hierconn *) wire [22:0] \dut.limits.word ;
    (* hierconn *) wire [3:0] \dut.rows.tracked ;
    (* hierconn *) wire [31:0] \dut.rows.word ;
    (* anyconst *) reg [3:0] pair;
    (* anyconst *) reg [3:0] slot;
    assign \dut.jobs.tracked = {pair, slot};
    assign \dut.limits.tracked = {pair, slot};
    assign \dut.rows.tracked = pair;

    `include "start.vh"

    // What the unit does: it takes a job, sends a response or refuses; and for the followed queue
    // pair.
    wire [1:0] step = \dut.step ;
    wire refusing = step == 3 && \dut.refuses ;
    wire taking = step != 0 && !refusing && \dut.takes ;
    wire sending = step != 0 && !refusing && !\dut.takes ;
    wire its = \dut.pair == pair;
    wire walks = taking && its && step != 1;
    wire up = ups[pair];
    wire [3:0] oldest = \dut.rows.word [3:0];

    // The ring of the followed queue pair: how many READs there are, and how many responses of the
    // oldest were sent; the same as they will be when the job that is taken has given back what it
    // must. The READ in the followed place, and how many of its responses are to be sent.
    reg [4:0] count, rest;
    reg [22:0] sent, rest_sent;
    reg [173:0] its_job;
    reg [22:0] limit;
    wire [3:0] place = slot - oldest;
    wire here = place < (walks ? rest : count);
    wire first = here && slot == oldest;
    // The newest one, as the job that is taken finds it
    wire newest = walks && rest != 0 && {1'b0, place} + 5'd1 == rest;
    wire [23:0] behind = job[27:4] - its_job[27:4];
    wire is_behind = behind != 0 && !behind[23];
    wire looks_back = walks && step == 2 && job[171] && rest != 0;
    wire drops = newest ? !is_behind : \dut.drops ;
    wire cuts = newest ? is_behind && behind < limit : \dut.cuts ;
    wire through = newest ? rest == 1 && rest_sent >= behind : \dut.is_through ;
    wire [4:0] fewer = rest - (drops || (cuts && through));
    wire fits = job[172] && rest != 16;
    wire enters = job_ready && job[3:0] == pair;
    wire leaves = head_valid && head_taken && head[3:0] == pair;
    wire ends = first ? sent + 23'd1 == limit : \dut.ends_it ;
    wire closed = closes && closes_pair == pair;

    // The row of the peer that was looked at last; the refusal.
    reg [301:0] peer;
    reg [57:0] refusal;

    // Whether the bytes of the response that is looked at may be sent
    wire [12:0] bytes = head[381:369];
    wire [31:0] address = source[32:1];
    wire [32:0] end_ = {1'b0, address} + bytes;
    wire may_read = region[0] && region[4:1] == peer[4:1] && region[6] && address >= region[41:10] && end_ <= {1'b0, region[41:10]} + region[73:42]
        && end_ <= 33'h1_0000_0000 && region[105:74] == \dut.read_job [146:115];

    // The contract of the neighbours: a job stays until it is taken, but that one that came before
    // may be served or not as regions change; it comes when there is room, unless the peer went
    // back; it has 1 to 2^22 responses. A queue pair goes up only while nothing is done for it.
    reg held, was_up;
    reg [172:0] offered;
    always @* begin
        if (held) assume (job_valid && {job[173], job[171:0]} == offered);
        if (job_valid && !job[171] && job[3:0] == pair) assume (room[pair]);
        if (job_valid) assume (job[50:28] != 0 && job[50:28] <= 23'h400000);
        if (step != 0 && its && !was_up) assume (!up);
        if (head_taken) assume (head_valid);
    end

    always @(posedge clk) begin
        held <= job_valid && !job_ready && !rst;
        offered <= {job[173], job[171:0]};
        was_up <= up;
        if (sends) peer <= send;
        if (taking && its && step == 1) begin
            rest <= up ? count : 0;
            rest_sent <= up && count != 0 ? sent : 0;
        end
        if (looks_back) begin
            rest <= fewer;
            if (fewer == 0) rest_sent <= 0;
            if (newest && cuts) limit <= behind;
        end
        if (leaves) begin
            sent <= ends ? 0 : sent + 1;
            count <= count - ends;
        end
        if (enters) begin
            count <= rest + fits;
            sent <= rest_sent;
            if (fits && {1'b0, slot - \dut.row [3:0]} % 16 == rest % 16) begin
                its_job <= job;
                limit <= job[50:28];
            end
        end
        if (closed || !up) count <= 0;
        if (fault_valid && fault_ready) refusal <= {1'b0, fault_message, 1'b0, 3'd4, 1'b1, fault[27:0]};
        if (looks && !head_valid) refusal <= {1'b0, \dut.read_job [170:147], 1'b0, 3'd3, 1'b1, head[118 +: 24], head[3:0]};
        if (rst) begin
            count <= 0;
            was_up <= 0;
        end
    end

    wire [22:0] sent_now = walks ? rest_sent : sent;
    wire [31:0] offset = {9'd0, sent} << peer[8:5];
    wire last = sent + 23'd1 == its_job[50:28];
    wire is_atomic = its_job[173];
    wire mine = sending && its && step == 3 && count != 0 && first;
    always @(posedge clk) if (started && !rst) begin
        state_busy: assert (\dut.busy [pair] == (count != 0) && \dut.full [pair] == (count == 16) && count <= 16);
        state_step: assert (!\dut.refuses || step == 3);
        state_row: assert (count == 0 || \dut.rows.word == {sent, count, oldest});
        state_place: assert (!here || (\dut.jobs.word == its_job && \dut.limits.word == limit && limit != 0 && limit <= its_job[50:28] && its_job[50:28] <= 23'h400000));
        state_sent: assert (!first || sent_now < limit);
        state_taking: assert (!taking || (held && offered[3:0] == \dut.pair ));
        state_walk: assert (!walks || (\dut.row == {rest_sent, rest, oldest} && rest <= 16 && (rest == 0 ? rest_sent == 0 : count == 0 || (rest <= count && rest_sent == sent)) && (count != 0 || !was_up || rest == 0)));
        state_found: assert (!(walks && step == 2 && newest) || \dut.found == its_job);
        state_sending: assert (!(sending && its && step != 1 && count != 0) || (\dut.row == \dut.rows.word && (!first || (step == 2 ? \dut.found == its_job : \dut.read_job == its_job && \dut.limit == limit))));
        state_peer: assert (!(sending && step == 3) || \dut.peer_row == peer);
        state_refusal: assert (!refusing || {\dut.answer [56:33], \dut.answer [31:29], \dut.answer [27:0]} == {refusal[56:33], refusal[31:29], refusal[27:0]});
        state_refused: assert (!refusing || refusal[3:0] == \dut.pair );
        // There is room while fewer than sixteen are kept; one that finds room is kept, unless the
        // peer only went back.
        room_is_exact: assert (room[pair] == (count != 16) && pairs[pair] == (count != 0));
        if (enters && job[172] && !job[171] && was_up) kept_if_new: assert (fits && \dut.jobs_write_enable );
        if (job_ready) taken_as_it_came: assert (job_valid && job[3:0] == \dut.pair );
        // A READ that the peer went back to: the newest that is left is one before it, and ends
        // before it.
        if (enters && job[171] && newest) given_back: assert (is_behind && limit <= behind);
        // A response is that of the oldest READ, with the number behind the last one that was sent,
        // and none from where the peer went back to.
        if (head_valid && mine) oldest_is_sent: assert (head[118 +: 24] == its_job[27:4] + sent && sent < limit);
        if (head_valid && mine) opcode_is_right: assert (head[85 +: 8] == (is_atomic ? 8'h12 : sent == 0 ? (last ? 8'h10 : 8'h0d) : last ? 8'h0f : 8'h0e));
        if (head_valid && mine) bytes_are_its: assert (bytes == (is_atomic ? 13'd0 : last ? its_job[95:83] - offset[12:0] : 13'd1 << peer[8:5]) && address == its_job[82:51] + offset);
        if (head_valid && mine && is_atomic) result_is_its: assert (head[142 +: 224] == {8'h1f, its_job[170:147], its_job[114:51], 128'd0});
        if (head_valid && mine && !is_atomic) message_is_its: assert (head[142 +: 224] == (sent == 0 || last ? {8'h1f, its_job[170:147], 192'd0} : 224'd0));
        if (head_valid) sent_to_the_peer: assert (looks && region_free && ups[head[3:0]] && head[3:0] == \dut.pair && head[5 +: 48] == peer[33 +: 48] && head[53 +: 32] == peer[81 +: 32] && head[94 +: 24] == peer[9 +: 24]);
        // Its bytes stand in a region that is valid, of the domain of the queue pair, that peers
        // may read, and whose key the READ has.
        if (looks) from_a_region: assert (head_valid == (bytes == 0 || may_read) && region_index == \dut.read_job [118:115]);
        if (head_valid) source_is_its: assert (source_valid == (bytes != 0) && source[0] && source[129 +: 13] == bytes && source[142 +: 4] == head[3:0] && source[146 +: 24] == head[118 +: 24] && source[56:33] == \dut.read_job [170:147] && source[182]);
        // What may not be sent is refused, with its number; no READ of the queue pair is left then.
        if (refuse_valid) refused_as_it_is: assert (refusing && ups[refuse[3:0]] && {refuse[56:33], refuse[31:28], refuse[27:0]} == {refusal[56:33], refusal[31:29], 1'b1, refusal[27:0]});
        refuses_at_once: assert (refuse_valid == (refusing && ups[\dut.pair ]) && closes == (refuse_valid && refuse_ready) && (!closes || closes_pair == refuse[3:0]));
        held_is_exact: assert (held_pairs == (step == 0 ? 16'd0 : 16'd1 << \dut.pair ) && fault_ready == (step == 0));

        sent_twice: cover (leaves && mine && its_job[171] && sent == 1 && limit == 2 && count == 2);
        given_back_to_the_last: cover (enters && job[171] && newest && rest == 1 && limit == 1 && count == 2);
        refused_behind_one: cover (closed && count == 2 && refusal[31:29] == 3);
    end
endmodule
