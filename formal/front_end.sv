// The instructions of a warp retire in the order of its program: each behind the one before, or
// where the path leads that stage W or path selection chose, with the lanes and the call depth of
// that path; what was issued too early leaves no trace.
//
// Of all warp slots one is followed, whichever; of the RAMs the word of its warp (see
// tracked_ram.sv). Stages D, R, X and W are what the core makes of them: an instruction in stage D
// goes on unless it is fetched again, which the front end hears a cycle later; none overtakes
// another, and a flush takes the younger ones of its warp out.
module front_end_formal (
    input wire        clk,
    input wire        rst,
    input wire        advance,
    input wire        start_valid, input wire [4:0] start_slot, input wire [31:0] start_packet, input wire [5:0] start_count,
    input wire        misses, input wire waits, input wire controls, input wire replays,
    input wire        filled,
    input wire        flush_valid, input wire ended_valid, input wire direct, input wire again_valid,
    input wire        path_valid, input wire [4:0] path_slot,
    input wire        late_valid, input wire [4:0] late_slot,
    input wire        scratchpad_stored, input wire [4:0] scratchpad_slot,
    input wire        stored_valid, input wire [4:0] stored_slot,
    input wire        divided_valid,
    input wire [31:0] stores_busy,
    input wire [29:0] context_pc, input wire [5:0] context_depth, input wire [1:0] context_active,
    input wire [1:0]  context_alive, input wire [35:0] context_waiting,
    input wire        finish_ready
);
    // Stages R, X and W.
    reg         r_valid, x_valid, w_valid, r_control, x_control, w_control;
    reg  [4:0]  r_slot, x_slot, w_slot;
    reg  [29:0] r_pc, x_pc, w_pc;
    // What stage D said a cycle ago.
    reg         miss_valid, wait_valid, control_valid, replay_valid;
    reg  [4:0]  hold_slot;
    reg  [29:0] hold_pc;
    wire        fire = w_valid && advance;
    wire        resume_valid = fire && ((w_control && direct) || ended_valid);
    wire        context_write = path_valid || (fire && w_control && direct) || again_valid;
    wire [4:0]  context_slot = path_valid ? path_slot : w_slot;

    wire        lookup_enable, fetched_boot, decode_valid, decode_boot, finish_valid;
    wire [4:0]  lookup_slot, fetched_slot, decode_slot, finish_slot;
    wire [29:0] lookup_word, fetched_pc, decode_pc;
    wire [5:0]  decode_depth;
    wire [1:0]  decode_active, decode_alive;
    wire [35:0] decode_waiting;
    wire [31:0] decode_packet;
    (* anyconst *) reg [29:0] entry;
    front_end dut (
        .clk(clk), .rst(rst), .advance(advance), .start_valid(start_valid), .start_slot(start_slot),
        .start_packet(start_packet), .start_count(start_count), .kernel_entry(entry), .hold_slot(hold_slot), .hold_pc(hold_pc),
        .outcome_miss(miss_valid), .outcome_wait(wait_valid), .outcome_control(control_valid), .outcome_replay(replay_valid), .filled(filled), .progress_slot(w_slot),
        .progress_resume(resume_valid), .flush_valid(flush_valid), .flush_slot(w_slot), .flush_again(again_valid), .progress_ended(ended_valid), .path_valid(path_valid),
        .path_slot(path_slot), .completions_late_valid(late_valid), .completions_late_slot(late_slot), .completions_scratchpad_valid(scratchpad_stored),
        .completions_scratchpad_slot(scratchpad_slot), .completions_stored_valid(stored_valid), .completions_stored_slot(stored_slot),
        .completions_any(divided_valid), .stores_busy(stores_busy), .context_write(context_write),
        .context_slot(context_slot), .context_pc(context_pc), .context_depth(context_depth),
        .context_active(context_active), .context_alive(context_alive), .context_waiting(context_waiting),
        .lookup_enable(lookup_enable), .lookup_slot(lookup_slot), .lookup_word(lookup_word),
        .fetched_slot(fetched_slot), .fetched_pc(fetched_pc), .fetched_boot(fetched_boot),
        .instruction_valid(decode_valid), .decode_slot(decode_slot), .instruction_pc(decode_pc), .instruction_boot(decode_boot),
        .decode_depth(decode_depth), .decode_active(decode_active), .decode_alive(decode_alive),
        .decode_waiting(decode_waiting), .decode_packet(decode_packet), .finish_valid(finish_valid),
        .finish_ready(finish_ready), .finish_slot(finish_slot)
    );
    (* anyconst *) reg [4:0] warp;
    (* hierconn *) wire [4:0] \dut.counters.sequential.tracked ;
    (* hierconn *) wire [4:0] \dut.counters.replay.tracked ;
    (* hierconn *) wire [4:0] \dut.counters.jump.tracked ;
    (* hierconn *) wire [4:0] \dut.starts.tracked ;
    (* hierconn *) wire [4:0] \dut.depth.tracked ;
    (* hierconn *) wire [4:0] \dut.active.tracked ;
    (* hierconn *) wire [4:0] \dut.alive.tracked ;
    (* hierconn *) wire [4:0] \dut.waiting.tracked ;
    assign \dut.counters.sequential.tracked = warp;
    assign \dut.counters.replay.tracked = warp;
    assign \dut.counters.jump.tracked = warp;
    assign \dut.starts.tracked = warp;
    assign \dut.depth.tracked = warp;
    assign \dut.active.tracked = warp;
    assign \dut.alive.tracked = warp;
    assign \dut.waiting.tracked = warp;
    (* hierconn *) wire [29:0] \dut.counters.sequential.word ;
    (* hierconn *) wire [29:0] \dut.counters.replay.word ;
    (* hierconn *) wire [29:0] \dut.counters.jump.word ;
    (* hierconn *) wire [31:0] \dut.counters.replayed ;
    (* hierconn *) wire [31:0] \dut.counters.jumped ;
    (* hierconn *) wire [37:0] \dut.starts.word ;
    (* hierconn *) wire [5:0] \dut.depth.word ;
    (* hierconn *) wire [1:0] \dut.active.word ;
    (* hierconn *) wire [1:0] \dut.alive.word ;
    (* hierconn *) wire [35:0] \dut.waiting.word ;
    (* hierconn *) wire [37:0] \dut.starts_read_data ;
    (* hierconn *) wire [5:0] \dut.depth_read_data ;
    (* hierconn *) wire [1:0] \dut.active_read_data ;
    (* hierconn *) wire [1:0] \dut.alive_read_data ;
    (* hierconn *) wire [35:0] \dut.waiting_read_data ;
    (* hierconn *) wire [31:0] \dut.initial_ ;
    (* hierconn *) wire \dut.context_valid ;
    (* hierconn *) wire [4:0] \dut.context_held_slot ;
    (* hierconn *) wire \dut.context_fresh ;
    (* hierconn *) wire \dut.jump_valid ;
    (* hierconn *) wire [4:0] \dut.jump_slot ;
    (* hierconn *) wire [29:0] \dut.jump_pc ;
    (* hierconn *) wire \dut.flush_valid_q ;
    (* hierconn *) wire [4:0] \dut.flush_slot_q ;
    (* hierconn *) wire \dut.again_valid_q ;
    (* hierconn *) wire \dut.fetched_valid_q ;
    (* hierconn *) wire [5:0] \dut.fetched_context.depth_q ;
    (* hierconn *) wire [1:0] \dut.fetched_context.active_q ;
    (* hierconn *) wire [1:0] \dut.fetched_context.alive_q ;
    (* hierconn *) wire [35:0] \dut.fetched_context.waiting_q ;
    (* hierconn *) wire [31:0] \dut.fetched_context.packet_q ;
    (* hierconn *) wire \dut.decode_valid_q ;
    (* hierconn *) wire [31:0] \dut.scheduler.occupied_slots ;
    (* hierconn *) wire [31:0] \dut.scheduler.fresh ;
    (* hierconn *) wire [31:0] \dut.scheduler.resolving ;
    (* hierconn *) wire [31:0] \dut.scheduler.ended ;

    `include "start.vh"

    // The followed warp: what stages D and W said of it a cycle ago, where its instructions are,
    // and whether its path is being chosen. What is dropped in this cycle for these is in no stage
    // any more.
    wire starts = start_valid && start_slot == warp;
    wire held = (replay_valid || control_valid) && hold_slot == warp;
    wire was_in_c = \dut.context_valid && \dut.context_held_slot == warp;
    wire was_in_i = \dut.fetched_valid_q && fetched_slot == warp;
    wire was_in_d = \dut.decode_valid_q && decode_slot == warp;
    wire flushes = \dut.flush_valid_q && \dut.flush_slot_q == warp;
    // It was flushed with the instruction itself, and goes on with that.
    wire returns = flushes && \dut.again_valid_q ;
    wire jumps = \dut.jump_valid && \dut.jump_slot == warp;
    wire in_c = was_in_c && !held && !flushes;
    wire in_i = was_in_i && !held && !flushes;
    wire in_d = decode_valid && decode_slot == warp;
    wire in_r = r_valid && r_slot == warp;
    wire in_x = x_valid && x_slot == warp;
    wire in_w = w_valid && w_slot == warp;
    wire chosen = path_valid && path_slot == warp;
    wire flushed = flush_valid && w_slot == decode_slot;
    // Instructions of it were dropped in the last cycle; its instruction was fetched again, and
    // need not wait.
    reg  dropped, again;
    // It was sent back before.
    reg  returned;
    reg  present, over, choosing;
    // The PC of the instruction that retires next, while it is known, and its context.
    reg         known, untouched;
    reg  [29:0] expected;
    reg  [37:0] start;
    reg  [45:0] context;
    wire [1:0]  all = 2'd3 >> (2'd2 - start_count[1:0]);
    localparam [29:0] BOOT = 30'h3fffffc0;
    // The entry follows the last word of the boot sequence.
    function [29:0] next(input [29:0] pc);
        next = pc == BOOT + 30'd4 ? entry : pc + 30'd1;
    endfunction
    // The last lookup, that of stage I, and the one before, that of stage D.
    reg         looked_up, looked_up_d;
    reg  [34:0] lookup, lookup_d;
    always @* begin
        assume (start_count == 1 || start_count == 2);
        assume (!starts || !present);
        // Stage D: it moves on with the stages in front and says what becomes of its instruction,
        // unless that is flushed. A flush may come a cycle later, when the front end hears of it.
        assume (!(replays || controls) || (decode_valid && advance && !flushed));
        assume (!(misses || waits) || replays);
        assume (!(replays && controls) && !(misses && waits));
        // The registers of the outcome follow what was just said of `misses`, `waits` and
        // `replays`; no property of the unit.
        assume (!(miss_valid || wait_valid) || replay_valid);
        // Stage W: it alone holds the stages up. An instruction on which the path depends goes on,
        // ends the warp, or has a path chosen; of any other only faults and accesses that are split
        // have one chosen.
        assume (advance || w_valid);
        assume (!(flush_valid || ended_valid || direct) || fire);
        assume (!(ended_valid || direct) || w_control);
        assume (flush_valid + ended_valid + direct <= 1);
        assume (!(path_valid && fire && w_control));
        // An access may be sent back: it is flushed as well, and its context written as it was.
        assume (!again_valid || (flush_valid && !path_valid));
        assume (!(again_valid && in_w)
            || {context_pc, context_depth, context_active, context_alive, context_waiting} == {w_pc, context});
        // Path selection takes some cycles.
        assume (!chosen || (choosing && !flushes));
    end
    // The covers are looked for among few stimuli, which is quicker, and what these reach is
    // reached: one reset, only the followed warp, none of whose instructions waits.
`ifdef COVER
    always @* begin
        assume (rst == !started && warp == 3 && start_slot == 3 && start_count == 2);
        assume (!start_valid || !present);
        assume (!misses && !waits && !filled && finish_ready && stores_busy == 0);
        assume (!late_valid && !scratchpad_stored && !stored_valid && !divided_valid);
        assume (!path_valid || path_slot == 3);
    end
`endif
    always @(posedge clk) begin
        {miss_valid, wait_valid, control_valid, replay_valid} <= {misses, waits, controls, replays};
        {hold_slot, hold_pc} <= {decode_slot, decode_pc};
        dropped <= held || flushes;
        again <= held && replay_valid && !miss_valid && !wait_valid;
        if (advance) begin
            r_valid <= decode_valid && !flushed && !replays;
            {r_slot, r_pc, r_control} <= {decode_slot, decode_pc, controls};
            x_valid <= r_valid && !(flush_valid && w_slot == r_slot);
            {x_slot, x_pc, x_control} <= {r_slot, r_pc, r_control};
            w_valid <= x_valid && !(flush_valid && w_slot == x_slot);
            {w_slot, w_pc, w_control} <= {x_slot, x_pc, x_control};
            looked_up <= lookup_enable;
            lookup <= {lookup_slot, lookup_word};
            {looked_up_d, lookup_d} <= {looked_up, lookup};
        end
        if (fire && in_w) begin
            expected <= again_valid ? w_pc : w_control ? context_pc : next(w_pc);
            known <= again_valid || direct || !(w_control || flush_valid);
            choosing <= !again_valid && !ended_valid && !direct && (w_control || flush_valid);
            if (ended_valid) over <= 1;
        end
        if (returns) returned <= 1;
        if (chosen) {choosing, known, expected} <= {2'b01, context_pc};
        if (context_write && context_slot == warp) begin
            context <= {context_depth, context_active, context_alive, context_waiting};
            untouched <= 0;
        end
        if (finish_valid && finish_ready && finish_slot == warp) present <= 0;
        if (starts) begin
            {present, over, known, expected, untouched} <= {3'b101, BOOT, 1'b1};
            start <= {start_count, start_packet};
            context <= {6'd0, all, all, 36'hfffffffff};
        end
        if (rst) begin
            {present, over, choosing, known, r_valid, x_valid, w_valid, dropped, again, returned} <= 0;
            {miss_valid, wait_valid, control_valid, replay_valid} <= 0;
        end
    end

    // The PCs behind the instructions in stages W to I, and the one in stage C or of the next one
    // to issue.
    wire [29:0] behind_w = in_w ? next(expected) : expected;
    wire [29:0] behind_x = in_x ? next(behind_w) : behind_w;
    wire [29:0] behind_r = in_r ? next(behind_x) : behind_x;
    wire [29:0] behind_d = in_d ? next(behind_r) : behind_r;
    wire [29:0] behind_i = in_i ? next(behind_d) : behind_d;
    wire [29:0] kept = held ? hold_pc : jumps ? \dut.jump_pc : \dut.counters.jumped [warp] ? \dut.counters.jump.word
        : \dut.counters.replayed [warp] ? \dut.counters.replay.word : \dut.counters.sequential.word ;
    wire        fresh = in_c ? \dut.context_fresh : \dut.scheduler.fresh [warp];
    wire        occupied = \dut.scheduler.occupied_slots [warp];
    wire        leaving = finish_valid && finish_slot == warp;
    // The path depends on an instruction or was flushed, as the scheduler knows or is just told.
    wire        resolving = \dut.scheduler.resolving [warp] || (held && control_valid) || flushes;

    always @(posedge clk) if (started && !rst) begin
        if (fire && in_w) retires_in_order: assert (known && w_pc == expected && present && !over);
        if (in_d) context_of_the_path: assert (
            {decode_depth, decode_active, decode_alive, decode_waiting} == context && decode_packet == start[31:0]);
        if (in_d) fetched_at_its_pc: assert (
            decode_boot == (decode_pc[29:6] == BOOT[29:6]) && looked_up_d && lookup_d == {decode_slot, decode_pc});
        if (in_i) answered_at_its_pc: assert (
            fetched_boot == (fetched_pc[29:6] == BOOT[29:6]) && looked_up && lookup == {fetched_slot, fetched_pc});
        // What is younger than an instruction that did not go on in sequence is gone, whether the
        // stages moved on or not; what issued in that cycle stays if it is that instruction again.
        if (held) not_decoded: assert (!in_d);
        if (dropped) dropped_at_once: assert (!(was_in_c && !again) && !was_in_i && !was_in_d);

        // What the induction needs to know of the state.
        state_present: assert (present == (occupied || leaving) && !(occupied && leaving)
            && \dut.scheduler.ended [warp] == (occupied && over) && (!leaving || over));
        if (in_c || in_i || in_d || in_r || in_x || in_w || held) state_inside: assert (
            occupied && !over && known && !choosing);
        // The outcome of stage D is that of an instruction that left the stage, or of one in stage
        // R on which the path depends.
        if (held) state_held: assert (!\dut.scheduler.resolving [warp] && in_r == control_valid && replay_valid != control_valid
            && (!control_valid || r_control) && hold_pc == (control_valid ? r_pc : behind_r));
        state_resolving: assert (resolving
            == ((in_r && r_control) || (in_x && x_control) || (in_w && w_control) || choosing || returns)
            && (!resolving || (occupied && !over && !in_c && !in_i && !in_d))
            && !(in_w && w_control && (in_x || in_r)) && !(in_x && x_control && in_r));
        if (in_w) state_w: assert (w_pc == expected);
        if (in_x) state_x: assert (x_pc == behind_w);
        if (in_r) state_r: assert (r_pc == behind_x);
        if (in_d) state_d: assert (decode_pc == behind_r);
        if (in_i) state_i: assert (fetched_pc == behind_d && context == {\dut.fetched_context.depth_q , \dut.fetched_context.active_q ,
            \dut.fetched_context.alive_q , \dut.fetched_context.waiting_q } && \dut.fetched_context.packet_q == start[31:0]);
        if (occupied && !over && !resolving) state_pc: assert (known && (fresh ? BOOT : kept) == behind_i);
        if (occupied && fresh) state_fresh: assert (
            !in_i && !in_d && !in_r && !in_x && !in_w && !held && !resolving && !over && untouched);
        if (occupied && in_c) state_issued: assert (!\dut.scheduler.fresh [warp]);
        // The context was written a cycle ago: no instruction runs with it yet. A flush a cycle
        // ago: its path is being chosen, or it goes on where it was.
        if (jumps) state_jump: assert (!in_c && !in_i && !in_d && (!(was_in_c || was_in_i || was_in_d) || returns) && !in_r && !in_x && !in_w && !held && flushes == returns && !untouched
            && known && expected == \dut.jump_pc );
        state_returns: assert (\dut.flush_valid_q || !\dut.again_valid_q );
        if (flushes) state_flush: assert (choosing != returns && (!returns || jumps) && !held && !in_r && !in_x && !in_w);
        if (in_c) state_c: assert (\dut.starts_read_data == start && \dut.initial_ [warp] == untouched && (untouched
            || {\dut.depth_read_data , \dut.active_read_data , \dut.alive_read_data , \dut.waiting_read_data } == context));
        if (occupied) state_context: assert (\dut.starts.word == start && (\dut.initial_ [warp] && !jumps) == untouched && (untouched
            ? context == {6'd0, {2{2'd3 >> (2'd2 - start[33:32])}}, 36'hfffffffff} && (start[37:32] == 1 || start[37:32] == 2)
            : {\dut.depth.word , \dut.active.word , \dut.alive.word , \dut.waiting.word } == context));

        // An instruction is fetched again with younger ones behind it; a flush takes younger ones
        // out of all stages, and comes with an outcome of stage D; younger ones are dropped while
        // the stages stand still. It may issue in the cycle in which the front end hears that it is
        // fetched again.
        fetched_again: cover (replay_valid && held && was_in_d && was_in_i && was_in_c && in_x);
        flushed_everywhere: cover (flush_valid && in_w && in_x && in_r && in_d && in_i && in_c);
        flushed_with_an_outcome: cover (flush_valid && in_w && held && replay_valid && was_in_d);
        again_at_once: cover (again && was_in_c && in_w);
        dropped_at_a_stand: cover (held && !advance && was_in_d && was_in_i && was_in_c);
        sent_back: cover (again_valid && in_w && !w_control && in_x && in_d && was_in_c && !untouched);
        came_again: cover (fire && in_w && returned && in_x && warp == 3);
        entered: cover (fire && in_w && expected == 30'h1234 && untouched && in_x && in_r && in_d && in_i && warp == 3);
        third_path: cover (fire && in_w && expected == 30'h1234 && !untouched && over == 0 && in_x && warp == 3);
    end
endmodule
