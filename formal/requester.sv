// The sender's go-back-N: the packets of a queue pair have the numbers that are next, none is sent
// outside the window, one that is sent again is the oldest without an answer or follows such a one;
// the oldest moves forward only, as far as an answer of a packet that was sent says; a time-out
// goes back to the oldest packet, and is counted; its timer runs while a packet is without an
// answer; behind an error nothing is sent.
//
// One queue pair is followed, whichever. Commands are anything, and so is what the work table says
// of them; answers are anything, also forged ones; queue pairs go up and down, and resets come, at
// any time. Assumed, as what stands in the work table is anything here: a packet has a number, one
// of a PUT has one, a READ that is sent again ends where it ended before, and no timer runs of a
// queue pair that goes up.
`TRACKED(ram_async_208_4, 208, 4)
`TRACKED(ram_async_132_4, 132, 4)

module requester_formal (
    `include "requester.vh"
    `include "requester_cover.vh"

    // What the row is at the next edge.
    wire writes = \dut.writes && its;
    (* hierconn *) wire [207:0] \dut.changed ;
    wire [207:0] after = \dut.changed ;
    wire [23:0] moved = after[23:0] - oldest;
    wire is_nak = !\dut.reply [36] && \dut.reply [35:33] == 3;
    wire [23:0] numbers = \dut.packet [284:281];

    always @(posedge clk) if (started && !rst) begin
        state_known: assert (known_holds);
        state_opening: assert (opening_holds);
        state_reset: assert (reset_holds);
        state_expires: assert (expires_holds);
        state_opens: assert (opens_holds);
        state_busy: assert (busy_holds);
        state_up: assert (up_holds);
        state_row: assert (row_holds);
        state_sendable: assert (sendable_holds);
        state_window: assert (window_holds);
        state_sends: assert (sends_holds);
        state_copy: assert (copy_holds);
        state_finish: assert (finish_holds);
        state_steps: assert (steps_holds);
        state_answer: assert (answer_holds);
        state_response: assert (response_holds);
        state_passing: assert (passing_holds);
        // Packets have the numbers that are next, within the window and the READs that the peer
        // takes.
        if (sent) in_order: assert (its && known && head[118 +: 24] == upcoming);
        if (sent) within_the_window: assert (upcoming - oldest < window && reads < depth);
        if (sent) counted: assert (writes && after[47:24] == upcoming + numbers && after[71:48] == (upcoming == top ? upcoming + numbers : top) && after[23:0] == oldest);
        // No queue pair waits for an answer that nobody was asked for: the last packet asked, or
        // the next one is sent.
        if (known && up && under_way != 0 && !between) asked_or_sends: assert (asks || rests || !more || reads >= depth || \dut.sendable [pair] );
        if (sent && \dut.is_put && under_way + 24'd1 >= allowed) full_asks: assert (head[93]);
        // Nothing is sent to a peer that is not ready.
        if (sent) rested: assert (!rests);
        // One that was sent before is told.
        resent_is_told: assert (resent == (head_valid && head[118 +: 24] != copy[71:48]));
        // The oldest packet moves forward only, by an answer of a packet that was sent: behind it
        // if it is an ACK or the response that is due, else up to it.
        if (writes && what != OPEN) forward_only: assert (moved <= top - oldest && after[71:48] - after[23:0] <= window + 24'd7);
        if (writes && what != OPEN && moved != 0) moved_by_an_answer: assert (what == ANSWER && covered && moved <= far_ + (is_ack || step == 3));
        // What is sent next is what follows, or the oldest packet.
        if (writes && what != OPEN && !sent) goes_back_to_the_oldest: assert (after[47:24] == upcoming || after[47:24] == after[23:0]);
        if (writes && what != OPEN && !sent) sent_stays_sent: assert (after[71:48] == top);
        if (writes && what == OPEN) begins: assert (after[23:0] == send[273 +: 24] && after[47:24] == send[273 +: 24] && after[71:48] == send[273 +: 24] && after[186:183] == 0 && !after[170]);
        // A NAK of a lost packet goes back to that one, or to an answer that is missing before it.
        if (writes && what == ANSWER && step == 2 && covered && is_nak && \dut.reply [32:28] == 0) lost_is_sent_again: assert (after[47:24] == after[23:0]);
        // A time-out sends again from the oldest packet, and counts; after so many the queue pair
        // fails.
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
