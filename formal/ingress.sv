// Ingress is a sink of an AXI4-Stream that loses no frame: each takes a free slot or is counted as
// malformed, its lines are written once where they belong, line 0 last, and it is told to the task
// FIFO once, after they are performed.
//
// Of the writes those with one tag are followed, whichever. The source keeps its beats until they
// are taken; nothing else is assumed of it: any TKEEP, frames of any length.
module ingress_formal (
    input wire         clk,
    input wire         rst,
    input wire         enable,
    input wire [31:0]  cycle,
    input wire [31:0]  ring_base,
    input wire [4:0]   ring_slots_log2,
    input wire [4:0]   slot_bytes_log2,
    input wire         tvalid,
    input wire [511:0] tdata,
    input wire [63:0]  tkeep,
    input wire         tlast,
    input wire [31:0]  tuser,
    input wire         write_ready,
    input wire         written_valid,
    input wire [5:0]   written_tag,
    input wire         task_ready,
    input wire         host_pushed,
    input wire [31:0]  host_count,
    input wire [31:0]  freed
);
    wire         tready, write_valid, task_valid, drop_caches, busy;
    wire [25:0]  write_line;
    wire [511:0] write_data;
    wire [5:0]   write_tag;
    wire [31:0]  task_count, frames, bytes, dropped, cut;
    ingress dut (
        .clk(clk), .rst(rst), .enable(enable), .cycle(cycle), .ring_ring_base(ring_base), .ring_ring_slots_log2(ring_slots_log2),
        .ring_slot_bytes_log2(slot_bytes_log2), .rx_tvalid(tvalid), .rx_tready(tready), .rx_tdata(tdata), .rx_tkeep(tkeep),
        .rx_tlast(tlast), .rx_tuser(tuser), .write_valid(write_valid), .write_ready(write_ready), .write_line(write_line),
        .write_data(write_data), .write_tag(write_tag), .write_written_valid(written_valid), .write_written_tag(written_tag),
        .task_valid(task_valid), .task_ready(task_ready), .task_count(task_count), .host_pushed(host_pushed),
        .host_count(host_count), .freed(freed), .drop_caches(drop_caches), .busy(busy), .counters_frames_in(frames), .counters_bytes_in(bytes),
        .counters_dropped_in(dropped), .counters_cut_in(cut)
    );
    (* hierconn *) wire [31:0] \dut.index ;
    (* hierconn *) wire [31:0] \dut.ready_frames ;
    (* hierconn *) wire \dut.builder_started ;
    (* hierconn *) wire \dut.builder_done ;
    (* hierconn *) wire [25:0] \dut.position.offset ;
    (* hierconn *) wire \dut.builder.held ;
    (* hierconn *) wire [63:0] \dut.builder.held_keep ;
    (* hierconn *) wire \dut.builder.held_last ;
    (* hierconn *) wire [31:0] \dut.builder.held_user ;
    (* hierconn *) wire \dut.builder.take_first ;
    (* hierconn *) wire \dut.builder.take_more ;
    (* hierconn *) wire [1:0] \dut.builder.phase ;
    (* hierconn *) wire [11:0] \dut.builder.beats ;
    (* hierconn *) wire \dut.builder.bad ;
    (* hierconn *) wire [6:0] \dut.builder.last_bytes ;
    (* hierconn *) wire \dut.builder.out_valid ;
    (* hierconn *) wire \dut.builder.out_end ;
    (* hierconn *) wire \dut.window.pop ;
    (* hierconn *) wire \dut.window_completed ;
    (* hierconn *) wire [63:0] \dut.window.performed ;
    (* hierconn *) wire [5:0] \dut.window.window.head ;
    (* hierconn *) wire [5:0] \dut.window.window.tail ;
    (* hierconn *) wire \dut.window.window.all_used ;
    (* hierconn *) wire [5:0] \dut.window.ends.tracked ;
    (* hierconn *) wire \dut.window.ends.word ;
    (* anyconst *) reg [5:0] place;
    assign \dut.window.ends.tracked = place;
    localparam [1:0] BEATS = 0, TAIL = 1, HEAD = 2;

    `include "start.vh"

    // The beat that was taken last and is not built into a line yet.
    reg         held, held_last, held_damaged;
    reg [63:0]  held_keep;
    reg         in_frame;
    wire        take = \dut.builder.take_first || \dut.builder.take_more ;
    wire        accept = tvalid && tready;
    // The frame at hand: beats, whether one of them was malformed, and, once they are all there,
    // bytes in the last one.
    reg [11:0]  beats;
    reg         malformed;
    reg [6:0]   last_bytes;
    // Lines of it that were built.
    reg [11:0]  built;
    wire        contiguous = held_keep[0] && (held_keep & (held_keep + 1)) == 0;
    wire        bad_beat = held_last ? !contiguous || held_damaged : !(&held_keep);
    wire        bad = bad_beat || (!\dut.builder.take_first && malformed);
    function [6:0] ones(input [63:0] keep);
        integer i;
        begin
            ones = 0;
            for (i = 0; i < 64; i = i + 1) ones = ones + keep[i];
        end
    endfunction

    // Frames taken to their end, good and malformed; last lines that were written; frames whose
    // lines are all performed; told.
    reg [31:0]  good, bad_frames, ends, completed, told, was_completed;
    reg [31:0]  all_bytes, all_cut;
    // Writes under way: the oldest tag, and how many; the write with the followed tag.
    reg [5:0]   oldest;
    reg [6:0]   lines;
    reg         here, is_end, performed;
    wire        write = write_valid && write_ready;
    wire [5:0]  written_ahead = written_tag - oldest;
    wire [5:0]  place_ahead = place - oldest;

    // The contract of the user.
    reg         was_enable, was_rst, was_host_pushed, rx_held;
    reg [41:0]  was_sizes;
    reg [31:0]  was_freed, was_index;
    reg [608:0] was_beat;
    wire [41:0] sizes = {ring_base, ring_slots_log2, slot_bytes_log2};
    wire [608:0] beat = {tdata, tkeep, tlast, tuser};
    always @* begin
        assume (slot_bytes_log2 >= 7 && slot_bytes_log2 <= 16 && ring_slots_log2 >= 1 && ring_slots_log2 <= 20);
        if (started && !rst) begin
            if (rx_held) assume (tvalid && beat == was_beat);
            // It is disabled when nothing is under way: no slot is freed before its lines are
            // written. Sizes and the host's packets are settled before it is enabled.
            if (was_enable && (busy || held || in_frame || \dut.builder.out_valid )) assume (enable);
            if (enable) assume (sizes == was_sizes && (was_enable || !was_host_pushed));
            // Slots are freed that were taken.
            assume (freed - was_freed <= \dut.index - was_freed);
            if (was_rst) assume (freed == 0);
`ifdef MUTANT
            // Small slots and no data.
            assume (slot_bytes_log2 == 7 && ring_slots_log2 == 2 && ring_base == 0 && tdata == 0 && tuser[30:0] == 0);
`endif
            // No more than three quarters of 2^20 slots are in flight.
            assume (\dut.ready_frames < 32'h100000);
            if (written_valid) assume ({1'b0, written_ahead} < lines);
            if (written_valid && here && written_tag == place) assume (!performed);
        end
    end

    reg write_held, task_held, quarter_begins, rounds, drops;
    reg [544:0] was_write;
    reg [31:0] was_task;
    reg [1:0] late;
    always @(posedge clk) begin
        was_enable <= enable;
        was_rst <= rst;
        was_host_pushed <= host_pushed;
        was_sizes <= sizes;
        was_freed <= freed;
        rx_held <= tvalid && !tready;
        was_beat <= beat;
        all_bytes <= all_bytes + (\dut.builder_done ? kept : 0);
        all_cut <= all_cut + (\dut.builder_done && whole > capacity);
        if (accept) begin
            in_frame <= !tlast;
            {held, held_last, held_damaged, held_keep} <= {1'b1, tlast, tuser[31], tkeep};
        end else if (take) held <= 0;
        if (take) begin
            beats <= \dut.builder.take_first ? 1 : beats + (beats != 4095);
            malformed <= bad;
            last_bytes <= ones(held_keep);
            if (held_last && bad) beats <= 0;
            if (held_last) {good, bad_frames} <= {good + !bad, bad_frames + bad};
        end else if (\dut.builder_done ) beats <= 0;
        // A line is built with each beat behind the first one that the slot has room for, then with
        // the tail, then line 0.
        if (\dut.builder.take_first ) built <= 0;
        else if (\dut.builder.take_more && !malformed && beats < slot_lines) built <= built + 1;
        else if (\dut.builder.phase == TAIL && (!\dut.builder.out_valid || write)) built <= built + 1;
        lines <= lines + write - \dut.window.pop ;
        oldest <= oldest + \dut.window.pop ;
        if (write && \dut.builder.out_end ) ends <= ends + 1;
        if (write && write_tag == place) {here, is_end, performed} <= {1'b1, \dut.builder.out_end , 1'b0};
        else if (\dut.window.pop && oldest == place) here <= 0;
        if (written_valid && written_tag == place) performed <= 1;
        completed <= completed + \dut.window_completed ;
        was_completed <= completed;
        told <= told + (task_valid && task_ready ? task_count : 0);
        write_held <= write_valid && !write_ready;
        was_write <= {write_line, write_data, write_tag};
        task_held <= task_valid && !task_ready;
        was_task <= task_count;
        quarter_begins <= \dut.builder_started && first_index % quarter == 0;
        late <= held && !take && write_ready && lines < 63 && roomy ? late + (late != 3) : 0;
        rounds <= rounds || (write && write_tag == 3 && write_line == 26'h45);
        drops <= drops || dropped != 0;
        if (rst) begin
            {held, in_frame, malformed, here} <= 0;
            {good, bad_frames, ends, completed, told, was_completed} <= 0;
            {oldest, lines, beats, built} <= 0;
            {write_held, task_held, quarter_begins, rx_held} <= 0;
            {was_enable, was_host_pushed} <= 0;
            late <= 0;
            {all_bytes, all_cut, was_freed} <= 0;
            {rounds, drops} <= 0;
        end
    end

    // The slot of a packet, and what it holds.
    wire [11:0] slot_lines = 12'd1 << (slot_bytes_log2 - 6);
    wire [18:0] capacity = (19'd1 << slot_bytes_log2) - 19'd18;
    wire [25:0] in_ring = (26'd1 << ring_slots_log2) - 26'd1;
    wire [25:0] slot = ring_base[31:6] + ((\dut.index [25:0] & in_ring) << (slot_bytes_log2 - 6));
    wire [18:0] whole = {1'b0, beats - 12'd1, 6'd0} + last_bytes;
    wire [18:0] kept = whole < capacity ? whole : capacity;
    wire [18:0] needed = (kept + 19'd18 + 19'd63) >> 6;
    wire [31:0] first_index = \dut.index + \dut.builder_done ;
    wire [31:0] may_fly = (32'd3 << ring_slots_log2) / 4;
    wire [31:0] quarter = ring_slots_log2 < 2 ? 1 : 32'd1 << (ring_slots_log2 - 2);
    wire roomy = enable && first_index - freed < may_fly && \dut.index - freed < may_fly;
    wire in_slot = \dut.builder.phase != BEATS;
    reg [11:0] line_number;
    reg [25:0] line_slot;
    always @(posedge clk) if (!\dut.builder.out_valid || write) begin
        line_slot <= slot;
        line_number <= \dut.builder_done ? 0 : built + 1;
    end

    always @(posedge clk) if (started && !rst) begin
        // Every frame has a slot or is counted as malformed, which it is exactly if it is so.
        no_good_frame_lost: assert (good == frames + in_slot);
        malformed_are_dropped: assert (dropped == bad_frames);
        // A frame starts only in a free slot: at most three quarters of the ring are in flight.
        if (\dut.builder_started ) starts_in_a_free_slot: assert (enable && first_index - freed < may_fly);
        // Its lines are at their places in the slot, as many as it has, line 0 last, which alone
        // ends it.
        if (\dut.builder.out_valid ) lines_are_in_place: assert (write_line == line_slot + line_number && line_number < slot_lines);
        if (\dut.builder.out_valid ) line_0_is_the_end: assert (\dut.builder.out_end == (line_number == 0));
        if (\dut.builder_done ) every_line_is_built: assert (built + 1 == needed);
        one_end_for_each_frame: assert (frames == ends + (\dut.builder.out_valid && \dut.builder.out_end ));
        // Writes are performed in any order; a frame is complete with its last line and all before.
        if (\dut.window_completed ) completes_after_the_writes: assert (lines != 0 && (oldest != place || (here && performed && is_end)));
        if (here && oldest == place && performed) completes_at_once: assert (\dut.window.pop && \dut.window_completed == is_end);
        if (write) tag_is_free: assert (!here || write_tag != place);
        // It is told once, in the cycle after at the latest, or as soon as the count before is
        // taken.
        told_once: assert (completed == told + (task_valid ? task_count : 0) + \dut.ready_frames );
        if (!task_valid) told_at_once: assert (told == was_completed);
        // Offers hold still until they are taken.
        if (write_held) write_is_stable: assert (write_valid && {write_line, write_data, write_tag} == was_write);
        if (task_held) task_is_stable: assert (task_valid && task_count == was_task);
        if (task_valid) no_empty_count: assert (task_count != 0);
        // A beat waits for one line at most while memory takes lines and slots are free.
        beats_move_on: assert (late <= 1);
        ready_only_while_enabled: assert (!tready || enable);
        bytes_are_counted: assert (bytes == all_bytes && cut == all_cut);
        // The caches drop their lines when the first frame of a quarter starts.
        caches_drop_a_quarter: assert (drop_caches == (quarter_begins));

        // What the induction needs to know of the state.
        state_held: assert (\dut.builder.held == held && (!held || {\dut.builder.held_last , \dut.builder.held_user [31],
            \dut.builder.held_keep } == {held_last, held_damaged, held_keep}));
        state_frame: assert (\dut.builder.beats == beats && \dut.builder.phase != 3
            && (beats == 0 || \dut.builder.phase != BEATS || \dut.builder.bad == malformed));
        state_whole: assert (!in_slot || (beats != 0 && \dut.builder.last_bytes == last_bytes && last_bytes != 0
            && last_bytes <= 64 && !malformed));
        if (beats != 0 && !malformed) state_built: assert (built == (
            \dut.builder.phase == HEAD && last_bytes > 46 && beats < slot_lines ? beats
            : beats < slot_lines ? beats - 1 : slot_lines - 1));
        if (\dut.builder.phase == TAIL) state_tail: assert (last_bytes > 46 && beats < slot_lines);
        state_between: assert (in_frame == (held ? !held_last : beats != 0 && !in_slot));
        if (enable) state_slot: assert (\dut.position.offset == (\dut.index [25:0] & in_ring) << (slot_bytes_log2 - 6));
        if (!enable) state_disabled: assert (!held && !in_frame && beats == 0 && !in_slot && !\dut.builder.out_valid );
        if (late != 0) state_late: assert (\dut.builder.phase == HEAD);
        state_window: assert (\dut.window.window.head == oldest && \dut.window.window.all_used == (lines == 64)
            && \dut.window.window.tail == oldest + lines[5:0] && lines <= 64);
        state_place: assert (here == ({1'b0, place_ahead} < lines)
            && (!here || (\dut.window.performed [place] == performed && \dut.window.ends.word == is_end)));

        three_lines_after_a_dropped_frame: cover (frames == 1 && drops && ends == 1 && \dut.index == 1 && bytes == 150);
        two_frames_told_together: cover (task_valid && task_count == 2);
        fills_three_quarters: cover (ring_slots_log2 == 2 && \dut.index - freed == 3 && tvalid && !tready && enable);
    end
endmodule
