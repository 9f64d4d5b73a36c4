// Reservations of `lr.w` in a bank: two requesters of threads, a further bank, a patience of 4
// operations. What the thread of a loop of `lr.w` and `sc.w` is promised, from which its eventual
// success follows (docs/memory-path.md, "Reservations"):
//
// - `lr.w` that finds no reservation takes it, unless another warp is owed one, and no other thread
//   takes it then;
// - once a reservation lapsed while a warp was owed one, the next that is taken is that of the owed
//   warp, until some `sc.w` stored, or that warp left its loop, or patience is over;
// - the same holds behind one of 64 `sc.w` that store, and then whatever else is stored;
// - it stays until its thread executes `sc.w`, or `lr.w` elsewhere, anything is written to the
//   line, its requester ends reservations of its slot, or patience is over;
// - `sc.w` stores if its thread has the reservation of the line, and only then.
//
// The bank behind the unit and the requests are any.
module l2_atomics_formal (
    input wire         clk,
    input wire         rst,
    input wire         request_valid,
    input wire         request_write,
    input wire [4:0]   request_requester,
    input wire [6:0]   request_tag,
    input wire [5:0]   request_write_tag,
    input wire [25:0]  request_line,
    input wire [511:0] request_data,
    input wire [63:0]  request_strobe,
    input wire         bank_ready,
    input wire         bank_response_valid,
    input wire [4:0]   bank_response_requester,
    input wire [6:0]   bank_response_tag,
    input wire [511:0] bank_response_data,
    input wire         bank_response_error,
    input wire         bank_response_missed,
    input wire         response_ready,
    input wire         bank_written_valid,
    input wire [4:0]   bank_written_requester,
    input wire [5:0]   bank_written_tag,
    input wire         written_ready,
    input wire [1:0]   events_valid,
    input wire [9:0]   events_requester,
    input wire [19:0]  events_thread,
    input wire [1:0]   ends_valid,
    input wire [1:0]   ends_left,
    input wire [9:0]   ends_slot
);
    wire request_ready, bank_valid, bank_write, written_valid;
    wire [4:0] bank_requester, written_requester;
    wire [5:0] bank_write_tag, written_tag;
    wire [25:0] bank_line;
    wire [31:0] answer_word;
    wire answer_error;
    l2_atomics dut (
        .clk(clk), .rst(rst), .request_valid(request_valid), .request_ready(request_ready), .request_write(request_write),
        .request_requester(request_requester), .request_tag(request_tag), .request_write_tag(request_write_tag),
        .request_line(request_line), .request_data(request_data), .request_strobe(request_strobe), .bank_valid(bank_valid),
        .bank_ready(bank_ready), .bank_write(bank_write), .bank_requester(bank_requester), .bank_write_tag(bank_write_tag),
        .bank_line(bank_line), .bank_response_valid(bank_response_valid), .bank_response_requester(bank_response_requester),
        .bank_response_tag(bank_response_tag), .bank_response_data(bank_response_data),
        .bank_response_error(bank_response_error), .bank_response_missed(bank_response_missed),
        .response_ready(response_ready), .bank_written_valid(bank_written_valid),
        .bank_written_requester(bank_written_requester), .bank_written_tag(bank_written_tag), .written_valid(written_valid),
        .written_ready(written_ready), .written_requester(written_requester), .written_tag(written_tag),
        .atomic_answer_word(answer_word), .atomic_answer_error(answer_error), .events_valid(events_valid),
        .events_requester(events_requester), .events_thread(events_thread), .ends_valid(ends_valid), .ends_left(ends_left), .ends_slot(ends_slot)
    );

    `include "start.vh"

    // The operation that the unit holds, from its request.
    wire accepts = request_valid && request_ready && request_write && request_write_tag[5] && request_requester < 2;
    wire passes = request_valid && request_ready && !accepts;
    (* hierconn *) wire [2:0] \dut.state ;
    wire held = \dut.state != 0;
    reg [4:0] requester, slot, lane, operation;
    reg [25:0] line;
    // Performed: its word was read, nothing came between, and it has the effect that it has.
    (* hierconn *) wire \dut.performs ;
    wire performs = \dut.performs ;
    wire writes = performs && bank_valid && bank_write;
    wire lr = performs && operation == 2;
    wire sc = performs && operation == 3;
    wire [9:0] thread = {slot, lane};

    // The reservation, by these rules alone.
    reg reserved;
    reg [4:0] by;
    reg [9:0] by_thread;
    reg [25:0] at;
    reg [4:0] age;
    wire mine = reserved && by == requester && by_thread == thread;
    wire written = (passes && request_write && request_line == at) || (writes && line == at);
    wire told = (ends_valid[0] && by == 0 && ends_slot[4:0] == by_thread[9:5])
        || (ends_valid[1] && by == 1 && ends_slot[9:5] == by_thread[9:5]);
    // The bank itself is number 0: it ignores its own event.
    wire elsewhere = events_valid[1] && events_requester[9:5] == by && events_thread[19:10] == by_thread;
    (* hierconn *) wire \dut.error ;
    (* hierconn *) wire \dut.gives_way ;
    wire takes = lr && !\dut.error && (!reserved || mine) && !\dut.gives_way ;
    wire ends = written || told || elsewhere || (sc && mine) || (lr && mine && !takes) || age == 4;

    // The warp that is owed one: of those whose `lr.w` took none the next behind the last that was;
    // and whether it comes first.
    reg owed, first_turn, stays;
    reg [5:0] count;
    reg [9:0] owed_warp, last;
    reg [4:0] owed_age;
    wire [9:0] warp = {requester, slot};
    wire [9:0] distance = warp - last - 10'd1, owed_distance = owed_warp - last - 10'd1;
    wire is_owed = owed && owed_warp == warp;
    wire denied = lr && !\dut.error && !takes;
    wire lapses = reserved && !written && (told || elsewhere || (sc && mine) || (lr && mine && !takes) || age == 4);
    wire turn = sc && writes && count == 63 && owed;
    wire settles = (is_owed && takes) || (sc && writes && !turn && !stays) || (owed && owed_age == 4)
        || (owed && ends_valid[0] && ends_left[0] && owed_warp == {5'd0, ends_slot[4:0]})
        || (owed && ends_valid[1] && ends_left[1] && owed_warp == {5'd1, ends_slot[9:5]});
    always @(posedge clk) begin
        if (performs && owed_age != 4) owed_age <= owed_age + 1;
        if (turn) count <= 0;
        else if (sc && writes && count != 63) count <= count + 1;
        if (settles) begin
            {owed, first_turn, stays} <= 0;
            if (owed && first_turn) last <= owed_warp;
        end else if (turn) begin
            {first_turn, stays} <= 3;
            owed_age <= 0;
        end else if (owed && lapses) first_turn <= 1;
        if (denied && !settles && (!owed || (!first_turn && distance < owed_distance))) begin
            owed <= 1;
            first_turn <= lapses;
            owed_warp <= warp;
            owed_age <= 0;
        end
        if (rst) {owed, first_turn, stays, count, owed_warp, last, owed_age} <= 0;
    end

    reg was_sc, stored, was_told, took, was_denied, was_settled, was_turn, was_stays;
    always @(posedge clk) begin
        if (accepts) begin
            requester <= request_requester;
            lane <= request_write_tag[4:0];
            slot <= request_data[36:32];
            operation <= request_data[52:48];
            line <= request_line;
        end
        if (reserved && performs && age != 4) age <= age + 1;
        if (ends) reserved <= 0;
        if (takes) begin
            reserved <= 1;
            by <= requester;
            by_thread <= thread;
            at <= line;
            age <= 0;
        end
        was_sc <= sc;
        stored <= sc && mine && at == line && !\dut.error ;
        was_told <= reserved && told && !takes;
        took <= takes;
        was_denied <= denied;
        was_settled <= settles;
        was_turn <= turn && !settles;
        was_stays <= \dut.owed_first && stays && !settles;
        if (rst) begin
            reserved <= 0;
            age <= 0;
            was_sc <= 0;
            stored <= 0;
            was_told <= 0;
            took <= 0;
            was_denied <= 0;
            was_settled <= 0;
            was_turn <= 0;
            was_stays <= 0;
        end
    end
    (* hierconn *) wire \dut.reservation_0.reserved ;
    (* hierconn *) wire [4:0] \dut.reservation_0.requester ;
    (* hierconn *) wire [9:0] \dut.reservation_0.thread ;
    (* hierconn *) wire [25:0] \dut.reservation_0.line ;
    (* hierconn *) wire [17:0] \dut.reservation_0.age ;
    (* hierconn *) wire \dut.owed ;
    (* hierconn *) wire \dut.owed_first ;
    (* hierconn *) wire \dut.owed_stays ;
    (* hierconn *) wire [5:0] \dut.stored ;
    (* hierconn *) wire [9:0] \dut.owed_warp ;
    (* hierconn *) wire [9:0] \dut.last_owed ;
    (* hierconn *) wire [17:0] \dut.owed_age ;
    (* hierconn *) wire [4:0] \dut.requester ;
    (* hierconn *) wire [5:0] \dut.tag ;
    (* hierconn *) wire [4:0] \dut.slot ;
    (* hierconn *) wire [4:0] \dut.operation ;
    (* hierconn *) wire [25:0] \dut.line ;

    always @(posedge clk) if (started && !rst) begin
        state_operation: assert (!held || (requester < 2 && \dut.requester == requester && \dut.tag == {1'b1, lane} && \dut.slot == slot
            && \dut.operation == operation && \dut.line == line));
        state_reservation: assert (\dut.reservation_0.reserved == reserved && (!reserved || (\dut.reservation_0.requester == by
            && \dut.reservation_0.thread == by_thread && \dut.reservation_0.line == at && \dut.reservation_0.age == age && age <= 4 && by < 2)));
        state_owed: assert (\dut.owed == owed && \dut.owed_first == first_turn && owed_age <= 4 && \dut.owed_age == owed_age
            && \dut.owed_warp == owed_warp && \dut.last_owed == last && (owed || !first_turn) && \dut.owed_stays == stays
            && (first_turn || !stays) && \dut.stored == count);
        // Behind a reservation that lapsed, the warp that is owed one has the next.
        owed_is_next: assert (!takes || !first_turn || is_owed);
        turn_comes: assert (!was_turn || (\dut.owed_first && \dut.owed_stays ));
        turn_stays: assert (!was_stays || \dut.owed_first );
        denied_is_owed: assert (!was_denied || was_settled || \dut.owed );
        owed_takes: assert (!lr || \dut.error || reserved || !is_owed || takes);
        // One operation at a time.
        one_at_a_time: assert (!accepts || !held);
        // `sc.w` stores if its thread has the reservation of the line, and only then.
        owner_stores: assert (!sc || !mine || at != line || \dut.error || writes);
        only_owner_stores: assert (!sc || !writes || (mine && at == line));
        answer_tells: assert (!was_sc || (answer_word == (stored ? 0 : 1)));
        // `lr.w` writes nothing, and takes a reservation that nobody has.
        lr_writes_nothing: assert (!lr || !writes);
        free_is_taken: assert (!took || \dut.reservation_0.reserved );
        // A message ends it.
        message_ends: assert (!was_told || !\dut.reservation_0.reserved );

        lr_takes: cover (took);
        sc_stores: cover (stored);
        sc_fails: cover (was_sc && !stored);
        message: cover (was_told);
        owed_got_it: cover (takes && is_owed && first_turn);
        patience_over: cover (reserved && age == 4);
    end
endmodule
