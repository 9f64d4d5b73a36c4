// What a frame that came does: of each queue pair a packet sequence number is taken once and in order; a packet that is missing is told by
// one NAK; every frame has one outcome; its beats are freed once, in order, when its payload was read.
//
// One queue pair is followed, whichever; frames are anything, also forged ones, and resets come at any time.
module receiver_formal (
    input wire         clk,
    input wire         rst,
    input wire         checked_valid,
    input wire [353:0] checked,
    input wire [15:0]  ups,
    input wire [31:0]  receive_ip,
    input wire [23:0]  other_expected,
    input wire         place_ready,
    input wire         opens,
    input wire [3:0]   opens_pair,
    input wire [23:0]  opens_with,
    input wire         mark_ready,
    input wire         answer_ready
);
    wire checked_take, receives, received, place_valid, free_valid, unknown, refused, repeated, newer, mark_valid, answer_valid, idle;
    wire [3:0] receive_pair;
    wire [60:0] place;
    wire [8:0] free_beats;
    wire [2:0] cause;
    wire [30:0] mark;
    wire [35:0] answer;
    (* anyconst *) reg [3:0] pair;
    // The sequence number that the followed queue pair expects, counted as QueuePairs does.
    reg [23:0] expects;
    wire receive_up = ups[receive_pair];
    wire [23:0] expected = receive_pair == pair ? expects : other_expected;
    receiver dut (
        .clk(clk), .rst(rst), .checked_valid(checked_valid), .checked(checked), .checked_take(checked_take), .receives(receives),
        .receive_pair(receive_pair), .receive_up(receive_up), .receive_ip(receive_ip), .expected(expected), .received(received),
        .place_valid(place_valid), .place_ready(place_ready), .place(place), .free_valid(free_valid), .free_beats(free_beats),
        .cause(cause), .unknown(unknown), .refused(refused), .repeated(repeated), .newer(newer), .opens(opens),
        .opens_pair(opens_pair), .mark_valid(mark_valid), .mark_ready(mark_ready), .mark(mark), .answer_valid(answer_valid),
        .answer_ready(answer_ready), .answer(answer), .idle(idle)
    );
    (* hierconn *) wire [15:0] \dut.told ;
    (* hierconn *) wire \dut.reading ;
    (* hierconn *) wire [8:0] \dut.beats ;

    `include "start.vh"

    // The frame
    wire [8:0] beats = checked[17:9];
    wire good = checked[20:18] == 0;
    wire [7:0] opcode = checked[28:21];
    wire asks = checked[29];
    wire [23:0] number = checked[30 +: 24];
    wire [23:0] sequence_ = checked[54 +: 24];
    wire known = number < 16 && receive_up && checked[78 +: 32] == receive_ip;
    wire [223:0] extension = checked[110 +: 224];
    wire [12:0] bytes = checked[353:341];
    wire [63:0] address = extension[223:160];
    wire whole = extension[127:96] == bytes && bytes >= 1 && bytes <= 4096 && address + bytes <= 64'h1_0000_0000 && address < 64'h1_0000_0000;
    wire mine = number == pair;
    wire [23:0] ahead = sequence_ - expected;
    wire old = ahead >= 24'h800000;
    wire given = place_valid && place_ready;
    wire answered = answer_valid && answer_ready;

    always @* if (opens) assume (!ups[opens_pair]);

    // Since its expected packet came, or it went up, a NAK was sent; a payload is being read.
    reg told, reading;
    reg [8:0] reading_beats;
    // Whether a frame is looked at, and the beats of those that were taken and are not free.
    always @(posedge clk) begin
        if (received && receive_pair == pair) begin
            expects <= expects + 1;
            told <= 0;
        end
        if (mark_valid && mark[29] && mark[3:0] == pair) told <= 1;
        if (opens && opens_pair == pair) begin
            expects <= opens_with;
            told <= 0;
        end
        if (given) reading_beats <= beats;
        reading <= given || (reading && !place_ready);
        if (rst) begin
            told <= 0;
            reading <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        state_told: assert (\dut.told [pair] == told);
        state_reading: assert (\dut.reading == reading && (!reading || \dut.beats == reading_beats));
        // A payload is that of a good WRITE of a queue pair that is up, from its peer, with the number that is expected, and ends below 2^32.
        if (place_valid) placed_as_expected: assert (checked_valid && good && known && opcode == 8'h0a && ahead == 0 && whole);
        if (place_valid) placed_as_it_came: assert (place == {address[31:0], bytes, checked[340:334], checked[8:0]});
        // The number counts with the payload, and so does its mark: it is taken once.
        counted_once: assert (received == given && (!given || (mark_valid && mark_ready && checked_take)));
        if (mark_valid) marked_as_it_came: assert (mark_ready && mark[3:0] == number && good && known && opcode == 8'h0a && mark[30] == given);
        if (given) answers_if_asked: assert (mark[28] == asks && !mark[29] && mark[27:4] == sequence_);
        // What is older is answered by an ACK of the last one that was taken.
        if (mark_valid && !given && old) old_is_acknowledged: assert (mark[28] && !mark[29] && mark[27:4] == expected - 24'd1);
        // What is newer by a NAK of the expected one, once until that comes.
        if (mark_valid && !given && !old) newer_is_told: assert (mark[28] && mark[29] && mark[27:4] == expected && ahead != 0);
        if (mark_valid && mark[29] && mark[3:0] == pair) told_once: assert (!told);
        if (newer && mine) told_at_all: assert (told || (mark_valid && mark[29]));
        // An answer is given as it came.
        if (answer_valid) answered_as_it_came: assert (good && known && opcode == 8'h11 && answer == {extension[223:216], sequence_, number[3:0]});
        // A frame that is taken has one outcome: payload, answer, mark alone, or one cause.
        if (checked_take) one_outcome: assert (given + answered + (mark_valid && !given) + (cause != 0) + unknown + refused + (newer && !mark_valid) == 1);
        if (!checked_take) no_outcome: assert (!given && !answered && !mark_valid && cause == 0 && !unknown && !refused && !newer && !repeated);
        if (cause != 0) cause_is_told: assert (cause == checked[20:18]);
        if (unknown) unknown_is_true: assert (good && !known);
        // It is taken as soon as the frame before was read and there is room for what it does.
        taken_at_once: assert (checked_take == (checked_valid && mark_ready && !reading && (!place_valid || place_ready) && (!answer_valid || answer_ready)));
        // The beats of each frame are freed once, in order: at once, or when its payload was read.
        freed_once: assert (free_valid == (reading ? place_ready : checked_take && !given));
        if (free_valid) freed_beats: assert (free_beats == (reading ? reading_beats : beats));
        idle_is_exact: assert (idle == !reading);
        row_is_its: assert (!receives || receive_pair == number[3:0]);

        three_in_order: cover (expects == 24'd1 && given && mine && told);
        again: cover (repeated && mine && told);
    end
endmodule
