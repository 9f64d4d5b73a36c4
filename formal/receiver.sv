// What a frame that came does: of each queue pair a packet sequence number is taken once and in
// order; a message goes on where it stopped; no payload of a WRITE is written outside a region with
// its key, the domain of the queue pair and the right, and none of a response but where the
// requester said; a READ or an atomic operation is given on once and in order, when there is room
// and the payloads before are performed; a packet that is missing, and one that may not be, are
// told by one NAK; every frame has one outcome; its beats are freed once, in order, when its
// payload was read.
//
// One queue pair is followed, whichever; frames are anything, also forged ones; regions change, and
// resets come, at any time.
module receiver_formal (
    input wire         clk,
    input wire         rst,
    input wire         checked_valid,
    input wire [353:0] checked,
    input wire [64:0]  receive,
    input wire [15:0]  ups,
    input wire [15:0]  pending,
    input wire [105:0] region,
    input wire         place_ready,
    input wire         opens,
    input wire [3:0]   opens_pair,
    input wire [23:0]  opens_with,
    input wire         mark_ready,
    input wire         answer_ready,
    input wire         judged,
    input wire         lands,
    input wire [31:0]  land_address,
    input wire         job_ready,
    input wire         job_failed,
    input wire [15:0]  job_room
);
    wire checked_take, receives, received, closes, place_valid, free_valid, unknown, refused, repeated, newer, mark_valid, answer_valid;
    wire job_valid;
    wire [3:0] receive_pair, region_index;
    wire [23:0] next_expected;
    wire [60:0] place;
    wire [8:0] free_beats;
    wire [2:0] cause;
    wire [57:0] mark;
    wire [116:0] answer;
    wire [15:0] landing, held_pairs;
    wire [173:0] job;
    wire [128:0] operands;
    receiver dut (
        .clk(clk), .rst(rst), .checked_valid(checked_valid), .checked(checked), .checked_take(checked_take), .receives(receives),
        .receive_pair(receive_pair), .receive(receive), .ups(ups), .pending(pending), .region_index(region_index), .region(region),
        .received(received), .next_expected(next_expected), .closes(closes), .place_valid(place_valid), .place_ready(place_ready),
        .place(place), .free_valid(free_valid), .free_beats(free_beats), .cause(cause), .unknown(unknown), .refused(refused),
        .repeated(repeated), .newer(newer), .opens(opens), .opens_pair(opens_pair), .mark_valid(mark_valid), .mark_ready(mark_ready),
        .mark(mark), .answer_valid(answer_valid), .answer_ready(answer_ready), .answer(answer), .judged(judged), .lands(lands),
        .land_address(land_address), .landing(landing), .job_valid(job_valid), .job_ready(job_ready), .job(job), .operands(operands),
        .job_failed(job_failed), .job_room(job_room), .held(held_pairs)
    );
    (* hierconn *) wire [15:0] \dut.told ;
    (* hierconn *) wire [15:0] \dut.inside_ ;
    (* hierconn *) wire [15:0] \dut.fresh ;
    (* hierconn *) wire \dut.looked ;
    (* hierconn *) wire \dut.asked ;
    (* hierconn *) wire \dut.writes_response ;
    (* hierconn *) wire [31:0] \dut.landing_address ;
    (* hierconn *) wire \dut.broken ;
    (* hierconn *) wire \dut.given_on ;
    (* hierconn *) wire [64:0] \dut.row ;
    (* hierconn *) wire \dut.reading ;
    (* hierconn *) wire [8:0] \dut.beats ;
    (* hierconn *) wire [95:0] \dut.messages.word ;
    (* hierconn *) wire [3:0] \dut.messages.tracked ;
    (* hierconn *) wire [23:0] \dut.counts.word ;
    (* hierconn *) wire [3:0] \dut.counts.tracked ;
    (* anyconst *) reg [3:0] pair;
    assign \dut.messages.tracked = pair;
    assign \dut.counts.tracked = pair;

    `include "start.vh"

    // The frame that is looked at, and the row of its queue pair as it was then; it is a response
    // that was given to the requester, which said where it goes; it is an atomic operation that
    // failed; a payload that is read
    reg looked, asked, landed, broken, given_on, reading;
    reg [64:0] row;
    reg [31:0] land;
    reg [8:0] reading_beats;
    // Of the followed queue pair: the sequence number that it expects, counted as QueuePairs does;
    // a NAK was sent since its expected packet came, or it went up; it took its last packet; a
    // message has begun, and where and how long it goes on; its messages since it went up.
    reg [23:0] expects, messages;
    reg told, closed, inside_, fresh;
    reg [31:0] next_, left, key;

    // The frame
    wire [8:0] beats = checked[17:9];
    wire good = checked[20:18] == 0;
    wire [7:0] opcode = checked[28:21];
    wire asks = checked[29];
    wire [23:0] number = checked[30 +: 24];
    wire [23:0] sequence_ = checked[54 +: 24];
    wire known = number < 16 && row[0] && ups[number[3:0]] && checked[78 +: 32] == row[9 +: 32];
    wire [223:0] extension = checked[110 +: 224];
    wire [12:0] bytes = checked[353:341];
    wire mine = number[3:0] == pair;
    wire [23:0] expected = row[41 +: 24];
    wire [23:0] ahead = sequence_ - expected;
    wire old = ahead >= 24'h800000;
    wire write = opcode == 8'h06 || opcode == 8'h07 || opcode == 8'h08 || opcode == 8'h0a;
    wire read = opcode == 8'h0c;
    wire atomic = opcode == 8'h13 || opcode == 8'h14;
    wire serves = read || atomic;
    wire response = opcode == 8'h12 || (opcode >= 8'h0d && opcode <= 8'h10);
    // A request that is not served
    wire other = !write && !serves && !response && opcode != 8'h11;
    wire request = write || serves || other;
    wire begins = opcode == 8'h06 || opcode == 8'h0a || serves;
    wire ends = opcode == 8'h08 || opcode == 8'h0a || serves;

    // What a packet of the followed queue pair may do: of its message, and by the region of its
    // key.
    wire [63:0] at = begins ? extension[223:160] : next_;
    wire [31:0] its_key = begins ? extension[159:128] : key;
    wire [31:0] remains = atomic ? 8 : begins ? extension[127:96] : left;
    wire [12:0] mtu = 13'd1 << row[8:5];
    wire [32:0] packets = read && remains != 0 ? ({1'b0, remains} + mtu - 33'd1) >> row[8:5] : 1;
    wire whole = other ? 0 : read ? bytes == 0 && packets <= 33'h400000 : atomic ? bytes == 0 && at[2:0] == 0
        : ends ? bytes == remains && bytes <= mtu && (bytes != 0 || begins) : bytes == mtu && remains > mtu;
    wire follows = begins != inside_;
    wire [31:0] needed = begins ? remains : bytes;
    wire [32:0] behind = {1'b0, at[31:0]} + needed;
    wire right = write ? region[5] : read ? region[6] : region[7];
    wire may_use = region[0] && region[4:1] == row[4:1] && right;
    // No byte is behind the last address, whatever the region says.
    wire holds = at[63:32] == 0 && behind <= 33'h1_0000_0000 && at[31:0] >= region[41:10] && behind <= {1'b0, region[41:10]} + region[73:42];
    wire permitted = remains == 0 || (may_use && region[105:74] == its_key && holds);
    // An operation that was given on is performed, whatever its region is then.
    wire allowed = permitted || given_on;
    wire comes = good && known && request && ahead == 0;
    wire room = !serves || job_room[number[3:0]];
    wire taken = comes && follows && whole && allowed && room;
    // It may not be, or failed; it comes too early; it is a READ or an atomic operation that came
    // before.
    wire ends_it = comes && (!(follows && whole && allowed) || broken);
    wire early = good && known && request && !old && (ahead != 0 || (follows && whole && allowed && !room));
    wire again = good && known && serves && old;
    wire ready = looked && mark_ready;

    wire given = place_valid && place_ready;
    wire answered = answer_valid && answer_ready;
    wire job_given = job_valid && job_ready;

    // The contract of the neighbours: a frame waits until it is taken; the row is that of the
    // table, of an MTU of 256 to 4,096; a queue pair that takes nothing more is not up from the
    // next cycle on, and one goes up only if it was not up when its frame, if it is looked at, was;
    // a response is judged once, behind the cycle in which it was given; an atomic operation that
    // failed is one that is offered, and whose room stays.
    reg held;
    reg [353:0] kept;
    always @* begin
        if (held) assume (checked_valid && checked == kept);
        if (receives) assume (receive[0] == ups[receive_pair]);
        if (receives && receive[0] && mine) assume (receive[41 +: 24] == expects);
        if (receives) assume (receive[8:5] >= 8 && receive[8:5] <= 12);
        if (opens) assume (!ups[opens_pair] && !(looked && row[0] && opens_pair == number[3:0]));
        if (closed) assume (!ups[pair]);
        if (judged) assume (asked && !landed);
        if (job_failed) assume (job_valid && !job_ready && atomic && !old);
        if (broken) assume (room);
    end
    always @(posedge clk) begin
        held <= checked_valid && !checked_take && !rst;
        kept <= checked;
        looked <= receives || (looked && !checked_take);
        asked <= (asked || (answered && response)) && !checked_take;
        landed <= (landed || (judged && lands)) && !checked_take;
        broken <= (broken || job_failed) && !checked_take;
        given_on <= (given_on || (job_valid && atomic)) && !checked_take;
        if (judged) land <= land_address;
        if (receives) row <= receive;
        if (received && mine) begin
            expects <= expects + packets[23:0];
            inside_ <= !ends;
            if (write) begin
                next_ <= at + bytes;
                left <= remains - bytes;
                key <= its_key;
            end
            if (ends) {fresh, messages} <= {1'b0, (fresh ? 24'd0 : messages) + 24'd1};
        end
        if ((received || closes) && mine) told <= 0;
        if (mark_valid && mark[31:29] == 1 && mark[3:0] == pair) told <= 1;
        if (closes && mine) closed <= 1;
        if (opens && opens_pair == pair) begin
            expects <= opens_with;
            told <= 0;
            closed <= 0;
            inside_ <= 0;
            fresh <= 1;
        end
        if (given) reading_beats <= beats;
        reading <= given || (reading && !place_ready);
        if (rst) begin
            looked <= 0;
            asked <= 0;
            landed <= 0;
            broken <= 0;
            given_on <= 0;
            told <= 0;
            closed <= 0;
            inside_ <= 0;
            fresh <= 0;
            reading <= 0;
        end
    end
    reg counts_known;
    always @(posedge clk) counts_known <= !rst && (counts_known || (opens && opens_pair == pair));
    wire [23:0] so_far = fresh ? 0 : messages;

    always @(posedge clk) if (started && !rst) begin
        state_looked: assert (\dut.looked == looked && (!looked || (held && \dut.row == row && row[8:5] >= 8 && row[8:5] <= 12 && !reading)));
        state_asked: assert (\dut.asked == asked && \dut.writes_response == landed && (!asked || (looked && response && good && number < 16 && !(mine && closed))) && (!landed || (asked && \dut.landing_address == land)));
        state_broken: assert (\dut.broken == broken && (!broken || (looked && atomic && !old)));
        state_given_on: assert (\dut.given_on == given_on && (!given_on || (looked && atomic)));
        state_expects: assert (!looked || !mine || !row[0] || expected == expects);
        state_told: assert (\dut.told [pair] == told);
        state_message: assert (\dut.inside_ [pair] == inside_ && (!inside_ || \dut.messages.word == {key, left, next_}));
        state_counts: assert (\dut.fresh [pair] == fresh && (!counts_known || fresh || \dut.counts.word == messages));
        state_reading: assert (\dut.reading == reading && (!reading || \dut.beats == reading_beats));
        // No byte of a WRITE is written outside a region that is valid, of the domain of the queue
        // pair, and that peers may write.
        if (place_valid && write) placed_in_a_region: assert (may_use && place[60:29] >= region[41:10] && {1'b0, place[60:29]} + bytes <= {1'b0, region[41:10]} + region[73:42]);
        if (place_valid && write) placed_in_memory: assert ({1'b0, place[60:29]} + bytes <= 33'h1_0000_0000);
        // The region is that of the key with which the message began, and holds all of it then.
        if (place_valid && write && mine) placed_by_its_key: assert (region_index == its_key[3:0] && region[105:74] == its_key && holds);
        // A payload is that of a good WRITE of a queue pair that is up, from its peer, with the
        // number that is expected, and as long as it must be.
        if (place_valid && !asked) placed_as_expected: assert (checked_valid && good && known && write && ahead == 0 && bytes != 0 && (!mine || (follows && whole)));
        // Or that of a response of which the requester said so, and goes where it said.
        if (place_valid && !write) placed_as_said: assert (asked && landed && response && place[60:29] == land);
        // It goes behind that of the packet before.
        if (place_valid) placed_as_it_came: assert (place[28:0] == {bytes, checked[340:334], checked[8:0]} && (asked || !(begins || mine) || place[60:29] == at[31:0]));
        // A message begins when all payloads of its queue pair before it are performed.
        if (begins && (place_valid || received || job_valid)) first_waits: assert (!pending[number[3:0]]);
        // The number counts with the payload, and so does its mark, or with the job: it is taken
        // once.
        counted_once: assert (received == ((given && !asked) || (mark_valid && !given && ahead == 0 && mark[31:29] == 0) || (job_given && ahead == 0)) && (!received || (checked_take && (mark_valid != job_given))));
        if (received) counted_by_its_packets: assert (receive_pair == number[3:0] && (!mine || next_expected == expected + packets[23:0]));
        if (mine) taken_if_it_may_be: assert (received == (taken && !broken && checked_take));
        if (mark_valid) marked_as_it_came: assert (mark_ready && mark[3:0] == number && good && request != asked && (asked || known) && mark[32] == given && mark[57] == (given && asked));
        // A message counts with its last packet.
        if (mark_valid && mine && counts_known && !asked) messages_are_counted: assert (mark[56:33] == so_far + (received && ends));
        if (received) answers_if_asked: assert (!mark_valid || (mark[28] == asks && mark[31:29] == 0 && mark[27:4] == sequence_));
        // A response is not answered, and told by its number.
        if (mark_valid && asked) response_is_marked: assert (!mark[28] && mark[27:4] == sequence_);
        // A READ or an atomic operation is given on as it came: with the number that is expected,
        // once, when it may be and there is room for its answer; or as one that came before, which
        // is served if it may be.
        if (job_valid) job_as_expected: assert (good && known && serves && !asked && !broken && ready && (old || (ahead == 0 && job_room[number[3:0]])));
        if (job_valid && mine) job_may_be: assert (job[172] == (whole && permitted && (old || follows)) && (old || given_on || job[172]));
        if (job_valid) job_as_it_came: assert (job[27:0] == {sequence_, number[3:0]} && job[82:51] == at[31:0] && job[114:83] == remains && job[146:115] == extension[159:128] && job[171] == old && job[173] == atomic);
        if (job_valid && job[172]) job_packets: assert (job[50:28] == packets[22:0]);
        if (job_valid && mine && counts_known) job_message: assert (job[170:147] == so_far + !old);
        if (job_valid && atomic) operands_as_they_came: assert (operands == {extension[63:0], extension[127:64], opcode == 8'h13});
        // It is given on when it may be, and once.
        if (ready && mine && ((taken && serves && !broken) || again)) job_at_once: assert (job_valid == !pending[pair]);
        if (job_given) job_once: assert (checked_take && !mark_valid && received == (ahead == 0) && repeated == old);
        // A WRITE that is older is answered by an ACK of the last one that was taken.
        if (mark_valid && !asked && !received && old) old_is_acknowledged: assert (repeated && write && mark[31:28] == 4'b1011 && mark[27:4] == expected - 24'd1);
        // What is newer, or without room for its answer, by a NAK of the expected one, once until
        // that comes.
        if (mark_valid && !received && !asked && !old && !closes) newer_is_told: assert (newer && mark[31:28] == 4'b0011 && mark[27:4] == expected);
        if (mark_valid && mark[31:29] == 1 && mark[3:0] == pair) told_once: assert (!told);
        if (newer && mine) told_at_all: assert (early && (told || (mark_valid && mark[31:29] == 1)));
        // What is expected and may not be is told by a NAK 0x61, 0x62 or 0x63 and closes its queue
        // pair, which then does nothing until it goes up.
        if (ready && mine && ends_it && !(taken && pending[pair])) refused_is_told: assert (checked_take && refused && closes && mark_valid && mark[28] && mark[27:4] == expected && mark[31:29] == (broken ? 4 : follows && whole ? 3 : 2));
        closes_with_its_nak: assert (closes == (mark_valid && !asked && mark[31:29] >= 2 && mark[31:29] != 5) && (!closes || (comes && !place_valid && !received && !job_valid)));
        if (closed && mine) closed_once: assert (!closes && !place_valid && !mark_valid && !answer_valid && !job_valid);
        // An answer and a response are given as they came, once.
        if (answer_valid) answered_as_it_came: assert (good && known && !asked && (response || opcode == 8'h11) && answer == {opcode == 8'h0f || opcode == 8'h10, opcode == 8'h0d || opcode == 8'h10, extension[191:128], bytes, opcode == 8'h12, response, extension[223:216], sequence_, number[3:0]});
        landing_is_exact: assert (landing == (asked ? 16'd1 << number[3:0] : 16'd0));
        // A frame that is taken has one outcome: payload, answer, job, mark alone, dropped as the
        // requester said, or one cause.
        if (checked_take) one_outcome: assert (given + (answered && !response) + job_given + (mark_valid && !given) + (judged && !lands) + (cause != 0) + unknown + (refused && !closes) + (newer && !mark_valid) == 1);
        if (!checked_take) no_outcome: assert (!given && !(answered && !response) && !job_given && !mark_valid && !closes && cause == 0 && !unknown && !refused && !newer && !repeated);
        if (cause != 0) cause_is_told: assert (cause == checked[20:18]);
        if (unknown) unknown_is_true: assert (good && !known);
        // It is looked at as soon as the frame before was read, and taken in the next cycle, or as
        // soon as there is room for what it does.
        looked_at_once: assert (receives == (checked_valid && !looked && !reading));
        if (mine && !asked) taken_at_once: assert (checked_take == (ready && !(good && known && response) && !(begins && (taken || again) && pending[pair]) && !(taken && write && bytes != 0 && !place_ready) && !(((taken && serves && !broken) || again) && !job_ready) && (!answer_valid || answer_ready)));
        if (asked) taken_as_said: assert (checked_take == (landed ? ready && place_ready : judged && !lands));
        // The beats of each frame are freed once, in order: at once, or when its payload was read.
        freed_once: assert (free_valid == (reading ? place_ready : checked_take && !given));
        if (free_valid) freed_beats: assert (free_beats == (reading ? reading_beats : beats));
        held_is_exact: assert (held_pairs == (looked ? 16'd1 << number[3:0] : 16'd0));
        row_is_its: assert (!receives || receive_pair == number[3:0]);

        three_in_order: cover (expects == 24'd2 && given && mine && opcode == 8'h08 && left == bytes);
        refused_behind_one: cover (closes && mine && inside_ && mark[31:29] == 3);
        again_when_told: cover (repeated && mine && told);
        lands_behind_a_read: cover (given && asked && mine && expects == 24'd4 && messages == 1 && !fresh);
        failed_behind_one: cover (closes && broken && mine && messages == 1 && !fresh);
        no_room: cover (newer && ahead == 0 && mine && told);
    end
endmodule
