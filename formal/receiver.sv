// What a frame that came does: of each queue pair a packet sequence number is taken once and in order; a message goes on where it stopped; no
// payload is written outside a region of the pair's domain that peers may write; a packet that is missing, and one that may not be, are
// told by one NAK; every frame has one outcome; its beats are freed once, in order, when its payload was read.
//
// One queue pair is followed, whichever; frames are anything, also forged ones; regions change, and resets come, at any time.
module ram_async_message_row_4 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [3:0]  write_address,
    input  wire [95:0] write_data,
    input  wire [3:0]  read_address,
    output wire [95:0] read_data
);
    wire [3:0] tracked;
    reg [95:0] word;
    (* anyseq *) wire [95:0] other;
    always @(posedge clk) if (write_enable && write_address == tracked) word <= write_data;
    assign read_data = read_address == tracked ? word : other;
endmodule

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
    input wire         answer_ready
);
    wire checked_take, receives, received, closes, place_valid, free_valid, unknown, refused, repeated, newer, mark_valid, answer_valid;
    wire idle;
    wire [3:0] receive_pair, region_index;
    wire [23:0] next_expected;
    wire [60:0] place;
    wire [8:0] free_beats;
    wire [2:0] cause;
    wire [33:0] mark;
    wire [35:0] answer;
    receiver dut (
        .clk(clk), .rst(rst), .checked_valid(checked_valid), .checked(checked), .checked_take(checked_take), .receives(receives),
        .receive_pair(receive_pair), .receive(receive), .ups(ups), .pending(pending), .region_index(region_index), .region(region),
        .received(received), .next_expected(next_expected), .closes(closes), .place_valid(place_valid), .place_ready(place_ready),
        .place(place), .free_valid(free_valid), .free_beats(free_beats), .cause(cause), .unknown(unknown), .refused(refused),
        .repeated(repeated), .newer(newer), .opens(opens), .opens_pair(opens_pair), .mark_valid(mark_valid), .mark_ready(mark_ready),
        .mark(mark), .answer_valid(answer_valid), .answer_ready(answer_ready), .answer(answer), .idle(idle)
    );
    (* hierconn *) wire [15:0] \dut.told ;
    (* hierconn *) wire [15:0] \dut.inside_ ;
    (* hierconn *) wire \dut.looked ;
    (* hierconn *) wire [64:0] \dut.row ;
    (* hierconn *) wire \dut.reading ;
    (* hierconn *) wire [8:0] \dut.beats ;
    (* hierconn *) wire [95:0] \dut.messages.word ;
    (* hierconn *) wire [3:0] \dut.messages.tracked ;
    (* anyconst *) reg [3:0] pair;
    assign \dut.messages.tracked = pair;

    `include "start.vh"

    // The frame that is looked at, and the row of its queue pair as it was then; a payload that is read
    reg looked, reading;
    reg [64:0] row;
    reg [8:0] reading_beats;
    // Of the followed queue pair: the sequence number that it expects, counted as QueuePairs does; a NAK was sent since its expected
    // packet came, or it went up; it took its last packet; a message has begun, and where and how long it goes on.
    reg [23:0] expects;
    reg told, closed, inside_;
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
    wire request = write || opcode == 8'h0c || opcode == 8'h13 || opcode == 8'h14;
    wire begins = opcode == 8'h06 || opcode == 8'h0a;
    wire ends = opcode == 8'h08 || opcode == 8'h0a;

    // What a packet of the followed queue pair may do: of its message, and by the region of its key.
    wire [63:0] at = begins ? extension[223:160] : next_;
    wire [31:0] its_key = begins ? extension[159:128] : key;
    wire [31:0] remains = begins ? extension[127:96] : left;
    wire [15:0] mtu = 16'd1 << row[8:5];
    wire whole = ends ? bytes == remains && bytes <= mtu && (bytes != 0 || begins) : bytes == mtu && remains > mtu;
    wire follows = begins != inside_;
    wire [64:0] needed = begins ? remains : bytes;
    wire may_write = region[0] && region[4:1] == row[4:1] && region[5];
    // No byte is behind the last address, whatever the region says.
    wire holds = at + needed <= 65'h1_0000_0000 && (at < 64'h1_0000_0000) && at >= region[41:10] && at + needed <= {33'd0, region[41:10]} + region[73:42];
    wire allowed = remains == 0 || (may_write && region[105:74] == its_key && holds);
    wire comes = good && known && request && ahead == 0;
    wire taken = comes && write && follows && whole && allowed;
    wire judged = looked && mark_ready;

    wire given = place_valid && place_ready;
    wire answered = answer_valid && answer_ready;

    // The contract of the neighbours: a frame waits until it is taken; the row is that of the table; a queue pair that takes nothing more
    // is not up from the next cycle on, and one goes up only if it was not up when its frame, if it is looked at, was.
    reg held;
    reg [353:0] kept;
    always @* begin
        if (held) assume (checked_valid && checked == kept);
        if (receives) assume (receive[0] == ups[receive_pair]);
        if (receives && receive[0] && mine) assume (receive[41 +: 24] == expects);
        if (opens) assume (!ups[opens_pair] && !(looked && row[0] && opens_pair == number[3:0]));
        if (closed) assume (!ups[pair]);
    end
    always @(posedge clk) begin
        held <= checked_valid && !checked_take && !rst;
        kept <= checked;
        looked <= receives || (looked && !checked_take);
        if (receives) row <= receive;
        if (received && mine) begin
            expects <= expects + 1;
            inside_ <= !ends;
            next_ <= at + bytes;
            left <= remains - bytes;
            key <= its_key;
        end
        if ((received || closes) && mine) told <= 0;
        if (mark_valid && mark[31:29] == 1 && mark[3:0] == pair) told <= 1;
        if (closes && mine) closed <= 1;
        if (opens && opens_pair == pair) begin
            expects <= opens_with;
            told <= 0;
            closed <= 0;
            inside_ <= 0;
        end
        if (given) reading_beats <= beats;
        reading <= given || (reading && !place_ready);
        if (rst) begin
            looked <= 0;
            told <= 0;
            closed <= 0;
            inside_ <= 0;
            reading <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        state_looked: assert (\dut.looked == looked && (!looked || (held && \dut.row == row && !reading)));
        state_expects: assert (!looked || !mine || !row[0] || expected == expects);
        state_told: assert (\dut.told [pair] == told);
        state_message: assert (\dut.inside_ [pair] == inside_ && (!inside_ || \dut.messages.word == {key, left, next_}));
        state_reading: assert (\dut.reading == reading && (!reading || \dut.beats == reading_beats));
        // No byte is written outside a region that is valid, of the domain of the queue pair, and that peers may write.
        if (place_valid) placed_in_a_region: assert (may_write && place[60:29] >= region[41:10] && {1'b0, place[60:29]} + bytes <= {1'b0, region[41:10]} + region[73:42]);
        if (place_valid) placed_in_memory: assert ({1'b0, place[60:29]} + bytes <= 33'h1_0000_0000);
        // The region is that of the key with which the message began, and holds all of it then.
        if (place_valid && mine) placed_by_its_key: assert (region_index == its_key[3:0] && region[105:74] == its_key && holds);
        // A payload is that of a good WRITE of a queue pair that is up, from its peer, with the number that is expected, and as long as it must be.
        if (place_valid) placed_as_expected: assert (checked_valid && good && known && write && ahead == 0 && bytes != 0 && (!mine || (follows && whole)));
        // It goes behind that of the packet before.
        if (place_valid) placed_as_it_came: assert (place[28:0] == {bytes, checked[340:334], checked[8:0]} && (!(begins || mine) || place[60:29] == at[31:0]));
        // A message begins when all payloads of its queue pair before it are performed.
        if (begins && (place_valid || received)) first_waits: assert (!pending[number[3:0]]);
        // The number counts with the payload, and so does its mark: it is taken once.
        counted_once: assert (received == (given || (mark_valid && !closes && ahead == 0)) && (!received || (mark_valid && mark_ready && checked_take)));
        if (received) counted_by_one: assert (next_expected == expected + 24'd1 && receive_pair == number[3:0]);
        if (mine) taken_if_it_may_be: assert (received == (taken && checked_take));
        if (mark_valid) marked_as_it_came: assert (mark_ready && mark[3:0] == number && good && known && request && mark[32] == given && mark[33] == (received && ends));
        if (received) answers_if_asked: assert (mark[28] == asks && mark[31:29] == 0 && mark[27:4] == sequence_);
        // What is older is answered by an ACK of the last one that was taken.
        if (mark_valid && !received && old) old_is_acknowledged: assert (repeated && mark[31:28] == 4'b0001 && mark[27:4] == expected - 24'd1);
        // What is newer by a NAK of the expected one, once until that comes.
        if (mark_valid && !old && ahead != 0) newer_is_told: assert (newer && mark[31:28] == 4'b0011 && mark[27:4] == expected);
        if (mark_valid && mark[31:29] == 1 && mark[3:0] == pair) told_once: assert (!told);
        if (newer && mine) told_at_all: assert (told || (mark_valid && mark[31:29] == 1));
        // What is expected and may not be is told by a NAK 0x61 or 0x62 and closes its queue pair, which then does nothing until it goes up.
        if (judged && mine && comes && !taken) refused_is_told: assert (checked_take && refused && closes && mark_valid && mark[28] && mark[27:4] == expected && mark[31:29] == (write && follows && whole ? 3 : 2));
        closes_with_its_nak: assert (closes == (mark_valid && mark[31:29] >= 2) && (!closes || (comes && !place_valid && !received)));
        if (closed && mine) closed_once: assert (!closes && !place_valid && !mark_valid && !answer_valid);
        // An answer is given as it came.
        if (answer_valid) answered_as_it_came: assert (good && known && opcode == 8'h11 && answer == {extension[223:216], sequence_, number[3:0]});
        // A frame that is taken has one outcome: payload, answer, mark alone, or one cause.
        if (checked_take) one_outcome: assert (given + answered + (mark_valid && !given) + (cause != 0) + unknown + (refused && !closes) + (newer && !mark_valid) == 1);
        if (!checked_take) no_outcome: assert (!given && !answered && !mark_valid && !closes && cause == 0 && !unknown && !refused && !newer && !repeated);
        if (cause != 0) cause_is_told: assert (cause == checked[20:18]);
        if (unknown) unknown_is_true: assert (good && !known);
        // It is looked at as soon as the frame before was read, and taken in the next cycle, or as soon as there is room for what it does.
        looked_at_once: assert (receives == (checked_valid && !looked && !reading));
        if (mine) taken_at_once: assert (checked_take == (judged && !(taken && begins && pending[pair]) && !(taken && bytes != 0 && !place_ready) && (!answer_valid || answer_ready)));
        // The beats of each frame are freed once, in order: at once, or when its payload was read.
        freed_once: assert (free_valid == (reading ? place_ready : checked_take && !given));
        if (free_valid) freed_beats: assert (free_beats == (reading ? reading_beats : beats));
        idle_is_exact: assert (idle == (!reading && !looked));
        row_is_its: assert (!receives || receive_pair == number[3:0]);

        three_in_order: cover (expects == 24'd2 && given && mine && opcode == 8'h08 && left == bytes);
        refused_behind_one: cover (closes && mine && inside_ && mark[31:29] == 3);
        again: cover (repeated && mine && told);
    end
endmodule
