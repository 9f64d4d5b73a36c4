// Frames pass or are dropped, whole and counted once; one that passes while frames are dropped has
// a slot, and one is dropped only if none is free; nothing waits but for what is behind the gate.
//
// What is behind it is any: it takes beats when it likes, holds two frames at most, and gives each
// its slot or finds it malformed. Slots are freed at any time.
module drop_when_full_formal (
    input wire        clk,
    input wire        rst,
    input wire        enable,
    input wire        on,
    input wire        rx_valid,
    input wire        rx_last,
    input wire        pass_ready,
    input wire [31:0] in_flight,
    input wire [31:0] limit,
    input wire        done,
    input wire        malformed
);
    wire        rx_ready, pass_valid, dropping, ended;
    wire [31:0] dropped;
    drop_when_full dut (
        .clk(clk), .rst(rst), .enable(enable), .on(on), .rx_valid(rx_valid), .rx_ready(rx_ready), .rx_last(rx_last),
        .pass_valid(pass_valid), .pass_ready(pass_ready), .in_flight(in_flight), .limit(limit), .done(done),
        .malformed(malformed), .dropping(dropping), .ended(ended), .dropped(dropped)
    );
    (* hierconn *) wire \dut.in_frame ;
    (* hierconn *) wire \dut.drops ;
    (* hierconn *) wire [1:0] \dut.under_way ;

    `include "start.vh"

    wire take = rx_valid && rx_ready;
    wire pass = pass_valid && pass_ready;
    // The frame of which beats were taken, and whether it passes.
    reg         in_frame, passes;
    wire        first = !in_frame;
    // Frames that passed and are neither in their slots nor malformed; frames that ended, passed
    // ones and dropped ones; slots that are taken or will be.
    reg [1:0]   under_way;
    reg [31:0]  whole, passed, lost;
    wire [32:0] taken = {1'b0, in_flight} + under_way;

    reg         was_rst, was_enable, was_on, was_offer, was_done, ends;
    reg [31:0]  was_in_flight, was_limit;
    reg         rx_held, was_last, was_taken_first;
    wire [1:0]  settled = {1'b0, done} + {1'b0, malformed};
    always @* begin
        // Three quarters of 2^20 slots at most.
        assume (limit >= 1 && limit <= 32'hc0000 && in_flight <= limit);
        if (started && !rst) begin
            if (rx_held) assume (rx_valid && rx_last == was_last);
            // A frame that waits to pass, or is under way, keeps the gate on; so do slots.
            if (was_enable) assume (enable || (!in_frame && under_way == 0));
            if (was_enable) assume (limit == was_limit);
            // What passed is settled once; one frame in progress and the first beat of the next.
            assume (settled <= under_way);
            if (under_way == 2) assume (!pass_ready || settled != 0 || in_frame);
            // Slots are taken by frames that are done.
            if (!was_rst && was_enable) assume (in_flight <= was_in_flight + was_done);
`ifdef MUTANT
            assume (limit == 2);
`endif
        end
    end

    always @(posedge clk) begin
        {was_rst, was_enable, was_on, was_done} <= {rst, enable, on, done};
        {was_in_flight, was_limit} <= {in_flight, limit};
        rx_held <= rx_valid && !rx_ready;
        was_last <= rx_last;
        was_offer <= pass_valid && !pass_ready;
        if (take) begin
            in_frame <= !rx_last;
            if (first) passes <= pass;
        end
        under_way <= under_way + (pass && first) - settled;
        ends <= take && rx_last && !pass;
        whole <= whole + (take && rx_last);
        passed <= passed + (pass && rx_last);
        lost <= lost + (take && rx_last && !pass);
        if (rst) begin
            {in_frame, passes, was_offer, rx_held, ends, was_enable} <= 0;
            under_way <= 0;
            {whole, passed, lost} <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        // A beat that is taken passes or is dropped, as the first one of its frame.
        if (take && !first) whole_or_not_at_all: assert (pass == passes);
        if (pass) passes_what_is_taken: assert (take);
        // It is dropped only if it found no slot, and one that passes while frames are dropped has
        // one that no other takes.
        if (take && first && !pass) dropped_only_when_full: assert (on && taken >= limit);
        if (pass && first && on) has_a_slot: assert (taken < limit);
        // Every frame passed, or was counted as dropped, and not both.
        each_is_counted_once: assert (dropped == lost && whole == passed + lost);
        told_in_the_cycle_after: assert (ended == ends);
        shows_that_it_drops: assert (dropping == (in_frame && !passes));
        // A beat waits for what is behind the gate only: never while its frame is dropped, never
        // for a slot.
        if (enable && dropping) drops_at_once: assert (rx_ready);
        if (enable && on && first && taken >= limit) full_is_no_wait: assert (rx_ready);
        if (enable && !rx_ready) waits_for_the_next_stage: assert (!pass_ready);
        if (!enable) off_takes_nothing: assert (!rx_ready && !pass_valid);
        // What is offered behind the gate stays, unless frames are dropped from now on.
        if (was_offer && enable && was_on == on) offer_is_stable: assert (pass_valid);

        // What the induction needs to know of the state.
        state_frame: assert (\dut.in_frame == in_frame && \dut.drops == (in_frame && !passes));
        state_under_way: assert (\dut.under_way == under_way && under_way <= 2);

        drops_two_of_three: cover (lost == 2 && passed == 1 && take && !rx_last);
        passes_after_a_drop: cover (lost == 1 && pass && rx_last && in_frame);
        full_with_two_under_way: cover (under_way == 2 && on && taken == limit && take);
    end
endmodule
