// The command queues: what a warp wrote into its ring is noticed, fetched when there is room, given
// to the harts once, and counted; the control line is what is known of the queue; a queue that may
// have a command is looked at.
//
// Of all queues one is followed, and of all entries of its ring one, whichever; of the buffers
// each, of one with the line that is in it. Warps write what they like when they like, lines that
// are read are anything, harts post, end and give back in any cycle, queues are switched on and off
// in any cycle, and memory and the commands that are under way answer when they like. Resets come
// at any time.
module command_queues_formal (
    input wire         clk,
    input wire         rst,
    input wire         enable,
    input wire [31:0]  epoch,
    input wire         switch_valid,
    input wire [15:0]  switch_queue,
    input wire         switch_on,
    input wire         show_valid,
    input wire [7:0]   show_queue,
    input wire [1:0]   tap_valid,
    input wire [51:0]  tap_line,
    input wire [1:0]   tap_phase,
    input wire         free,
    input wire [3:0]   free_buffer,
    input wire         event_valid,
    input wire [105:0] event_,
    input wire         completed_valid,
    input wire [98:0]  completed,
    input wire         read_ready,
    input wire         response_valid,
    input wire [3:0]   response_buffer,
    input wire [511:0] response_data,
    input wire         response_error,
    input wire         write_ready,
    // The hart that has the command of the queue posts or ends it, or gives it back.
    input wire         finishes,
    input wire         posts,
    input wire         gives_back
);
    wire         switch_ready, switch_refused, show_ready, claim, fill, stage, discard, drop, event_ready, ready, completed_ready;
    wire         read_valid, write_valid, fetched;
    wire [329:0] shown;
    wire [1:0]   hold;
    wire [3:0]   fill_buffer, discard_buffer, drop_buffer, read_buffer;
    wire [511:0] fill_data, write_data;
    wire [43:0]  staged;
    wire [25:0]  read_line, write_line;
    (* anyconst *) reg [25:0] base;
    (* anyconst *) reg [4:0] area_log2;
    command_queues dut (
        .clk(clk), .rst(rst), .control_enable(enable), .control_base(base), .control_area_log2(area_log2), .control_epoch(epoch),
        .control_switch_valid(switch_valid), .control_switch_ready(switch_ready), .control_switch_queue(switch_queue),
        .control_switch_on(switch_on), .control_switch_refused(switch_refused), .control_show_valid(show_valid),
        .control_show_ready(show_ready), .control_show_queue(show_queue), .control_shown(shown), .tap_valid(tap_valid),
        .tap_line(tap_line), .tap_phase(tap_phase), .tap_hold(hold), .stage_free(free), .stage_free_buffer(free_buffer),
        .stage_claim(claim), .stage_fill(fill), .stage_fill_buffer(fill_buffer), .stage_fill_data(fill_data), .stage_stage(stage),
        .stage_staged(staged), .stage_discard(discard), .stage_discard_buffer(discard_buffer), .stage_drop(drop),
        .stage_drop_buffer(drop_buffer), .stage_event_valid(event_valid), .stage_event_ready(event_ready), .stage_event(event_),
        .ready(ready), .completed_valid(completed_valid), .completed_ready(completed_ready), .completed(completed),
        .read_valid(read_valid), .read_ready(read_ready), .read_line(read_line), .read_buffer(read_buffer),
        .response_valid(response_valid), .response_buffer(response_buffer), .response_data(response_data),
        .response_error(response_error), .write_valid(write_valid), .write_ready(write_ready), .write_line(write_line),
        .write_data(write_data), .fetched(fetched)
    );
    (* anyconst *) reg [7:0] its;
    (* anyconst *) reg [5:0] entry;
    (* anyconst *) reg [3:0] chosen;
    (* hierconn *) wire [7:0] \dut.rows.tracked ;
    (* hierconn *) wire [13:0] \dut.watch.copies.tracked ;
    (* hierconn *) wire [7:0] \dut.list_.listed.tracked ;
    (* hierconn *) wire [7:0] \dut.list_.queue_.tracked ;
    (* hierconn *) wire [7:0] \dut.done.tracked ;
    (* hierconn *) wire [7:0] \dut.owners.tracked ;
    (* hierconn *) wire [3:0] \dut.arrivals.tracked ;
    assign \dut.rows.tracked = its;
    assign \dut.watch.copies.tracked = {its, entry};
    assign \dut.list_.listed.tracked = its;
    assign \dut.list_.queue_.tracked = its;
    assign \dut.done.tracked = its;
    assign \dut.owners.tracked = its;
    assign \dut.arrivals.tracked = chosen;
    (* hierconn *) wire [329:0] \dut.rows.word ;
    (* hierconn *) wire [329:0] \dut.rows.read_data ;
    (* hierconn *) wire \dut.watch.copies.word ;
    (* hierconn *) wire \dut.list_.listed.word ;
    (* hierconn *) wire \dut.list_.queue_.inside ;
    (* hierconn *) wire [8:0] \dut.list_.emptied ;
    (* hierconn *) wire \dut.list_.is_new ;
    (* hierconn *) wire [7:0] \dut.list_.new_queue ;
    (* hierconn *) wire [2:0] \dut.done.count ;
    (* hierconn *) wire [15:0] \dut.owners.is_its ;
    (* hierconn *) wire [15:0] \dut.arrivals.inside ;
    (* hierconn *) wire [32:0] \dut.arrivals.word ;
    (* hierconn *) wire [8:0] \dut.cleared ;
    (* hierconn *) wire [1:0] \dut.step ;
    (* hierconn *) wire [105:0] \dut.current_event ;
    (* hierconn *) wire [329:0] \dut.row ;
    (* hierconn *) wire \dut.works ;
    (* hierconn *) wire \dut.watch_phase ;
    (* hierconn *) wire \dut.queue_step_line ;

    `include "start.vh"

    // Commands that may be under way.
    localparam ENTRIES = 8;
    localparam LOOK = 3'd0, TAKE = 3'd1, END = 3'd2, GIVE_BACK = 3'd3, COMPLETE = 3'd4, ARRIVE = 3'd5, SWITCH = 3'd6, SHOW = 3'd7;
    wire [1:0] step = \dut.step ;
    wire [105:0] what = \dut.current_event ;
    wire [2:0] kind = what[2:0];
    wire [3:0] its_event_buffer = what[14:11];
    wire doing = step != 0 && what[10:3] == its;
    wire works = \dut.works && doing;
    // The row of the queue: while it is looked at, it is not written back yet.
    wire [329:0] row = doing && step[1] ? \dut.row : \dut.rows.word ;
    wire is_on = row[0], is_staged = row[1];
    wire [3:0] its_buffer = row[5:2], under_way = row[9:6];
    wire [31:0] head = row[41:10];
    wire [15:0] completed_sum = row[74 +: 16] + row[90 +: 16] + row[106 +: 16] + row[122 +: 16];
    wire listed = \dut.list_.queue_.inside ;
    wire copy = \dut.watch.copies.word ;
    localparam ALL = 256;
    wire up = ready;
    wire known = \dut.cleared > its;
    // A queue that is not there cannot be switched.
    wire is_there = kind != SWITCH || (switch_queue < 4 && (enable || !what[41]));

    // Where its lines are: areas of two rings follow each other; they are as large as their rings
    // and control lines at least.
    wire [25:0] area = base + ({18'd0, its} >> 1 << (area_log2 - 6));
    wire [25:0] control_line = area + 128 + its[0];
    always @* begin
        assume (area_log2 >= 14 && area_log2 <= 30);
        assume ((base & ((26'd2 << (area_log2 - 6)) - 1)) == 0);
    end

    // Buffers whose line is asked for in memory; of one the line that was read, and what came.
    reg [15:0] reading;
    reg [25:0] chosen_line;
    reg [32:0] chosen_word;
    wire [15:0] offered = {15'd0, read_valid} << read_buffer;
    wire [15:0] here = {15'd0, step == 1 && kind == ARRIVE} << its_event_buffer;
    wire [15:0] claimed = offered | reading | \dut.arrivals.inside | here;

    // The command of the queue: none; its line is fetched; the harts have it, until one posts or
    // ends it, or gives it back, which is told; that is noted.
    localparam NONE = 3'd0, FETCHED = 3'd1, GIVEN = 3'd2, FINISHED = 3'd3, BACK = 3'd4, NOTED = 3'd5;
    reg [2:0] state;
    reg [3:0] buffer;
    reg [31:0] index;
    reg posted, was_back;
    // Commands of it that were posted and are not told to be complete; what the command that is
    // being noted as complete said.
    reg [3:0] open;
    reg [98:0] its_completion;
    wire tells = event_valid && event_[10:3] == its;
    wire its_tells = tells && (event_[2:0] == GIVE_BACK ? state == BACK && event_[14:11] == buffer : state == FINISHED);
    wire completes = completed_valid && completed[7:0] == its;
    wire its_claim = claim && doing;
    wire its_stage = stage && staged[11:4] == its;

    // The contract of the registers, the buffers, the harts and of memory.
    reg was_switching;
    reg [16:0] was_switch;
    always @* begin
        // While a queue is on there are rings.
        if (known && is_on) assume (enable);
        if (was_switching) assume (switch_valid && {switch_on, switch_queue} == was_switch);
        // A buffer is free when its line was not given to the harts, or the hart that had its
        // command has another one.
        if (free) assume (!claimed[free_buffer] && !(free_buffer == buffer && (state == GIVEN || state == BACK)));
        if (event_valid) assume (event_[2:0] == TAKE || event_[2:0] == END || event_[2:0] == GIVE_BACK);
        if (tells && event_[2:0] != GIVE_BACK) assume (state == FINISHED && posted == (event_[2:0] == TAKE) && event_[14:11] == buffer);
        // What is given back behind a switch has a buffer of its own.
        if (tells && event_[2:0] == GIVE_BACK) assume (state == BACK || state == NONE || event_[14:11] != buffer);
        if (state == FINISHED || state == BACK) assume (event_valid);
        if (finishes || gives_back) assume (state == GIVEN);
        assume (!(finishes && gives_back));
        if (completes) assume (open != 0);
        if (response_valid) assume (reading[response_buffer]);
        // As with the queue that is followed, drops_its_own, a buffer that another one drops was
        // claimed by that one last.
        if (drop && !doing) assume (!\dut.owners.is_its [drop_buffer]);
    end

    always @(posedge clk) begin
        was_switching <= switch_valid && !switch_ready;
        was_switch <= {switch_on, switch_queue};
        if (read_valid && read_ready) reading[read_buffer] <= 1;
        if (read_valid && read_ready && read_buffer == chosen) chosen_line <= read_line;
        if (response_valid) reading[response_buffer] <= 0;
        if (response_valid && response_buffer == chosen) chosen_word <= {response_error, response_data[31:0]};
        if (its_claim) {state, buffer, index} <= {FETCHED, free_buffer, head};
        if (its_stage) state <= GIVEN;
        if (discard && state == FETCHED && discard_buffer == buffer) state <= NONE;
        if (drop && drop_buffer == buffer && (state == FETCHED || state == GIVEN)) state <= NONE;
        if (finishes) {state, posted} <= {FINISHED, posts};
        if (gives_back) {state, posted} <= {BACK, 1'b0};
        if (its_tells && event_ready) {state, was_back} <= {NOTED, event_[2:0] == GIVE_BACK};
        if (state == NOTED && works) state <= NONE;
        open <= open + (finishes && posts) - (completes && completed_ready);
        if (rst) begin
            was_switching <= 0;
            reading <= 0;
            state <= NONE;
            posted <= 0;
            open <= 0;
        end
    end

    // What an arrived line says, if the queue waits for it.
    wire arrives = works && kind == ARRIVE && is_staged && its_buffer == its_event_buffer;
    wire [31:0] word = what[73:42];
    wire phase_is_good = word[8] != head[6];
    wire operation_is_good = word[7:0] == 1 || word[7:0] == 2 || word[7:0] == 4 || word[7:0] == 5 || (word[7:0] >= 'h40 && word[7:0] < 'h80);
    wire reserved = word[11] || word[15:14] != 0 || word[31:28] != 0;
    wire good = operation_is_good && !reserved && word[27:16] < 64;
    wire ends_itself = arrives && !what[41] && phase_is_good && !good;
    wire breaks = arrives && what[41];
    wire noted = works && state == NOTED;
    wire consumes = (noted && !was_back) || ends_itself;
    wire counts = (noted && !was_back && !posted) || ends_itself || (works && kind == COMPLETE);
    wire turns = works && kind == SWITCH && is_there && what[41] != is_on && (!what[41] || under_way == 0);
    wire [1:0] its_context = ends_itself ? word[13:12] : what[16:15];
    wire [7:0] its_code = !ends_itself ? what[24:17] : reserved ? 8'h8a : word[7:0] == 0 ? 8'd1 : operation_is_good ? 8'h81 : 8'h80;
    wire [15:0] its_index = kind == COMPLETE ? what[40:25] : head[15:0];

    // The row as it was, what changed it, and the control line that was written last.
    reg was_known, was_works, was_consumes, was_counts, was_turns, was_breaks, was_flag, was_full;
    reg [329:0] before;
    reg [1:0] was_context;
    reg [7:0] was_code;
    reg [15:0] was_index;
    reg [31:0] was_epoch;
    reg [63:0] was_value;
    reg was_result, was_refused, was_switches, was_line, line_is_its, line_known;
    reg [329:0] its_line;
    reg was_offered;
    reg [25:0] was_write_line;
    reg [511:0] was_write_data;
    always @(posedge clk) begin
        was_offered <= write_valid && !write_ready && !rst;
        was_write_line <= write_line;
        was_write_data <= write_data;
        was_known <= known && !rst;
        before <= row;
        was_works <= works;
        was_consumes <= consumes;
        was_counts <= counts && is_on;
        was_turns <= turns;
        was_breaks <= breaks;
        was_flag <= what[41];
        was_context <= its_context;
        was_code <= its_code;
        was_index <= its_index;
        was_epoch <= what[73:42];
        was_value <= what[105:42];
        was_result <= kind == COMPLETE && what[41] && what[16:15] == 3;
        was_switches <= works && switch_ready;
        was_refused <= !is_there || (what[41] && (is_on || under_way != 0));
        was_line <= works && is_there && \dut.queue_step_line ;
        if (\dut.works && is_there && \dut.queue_step_line ) line_is_its <= doing;
        if (rst || !known) {was_works, was_consumes, was_counts, was_turns, was_breaks, was_switches, was_line} <= 0;
        if (was_line) {line_known, its_line} <= {1'b1, row};
        if (rst) {line_known, line_is_its} <= 0;
    end
    wire same_done_0 = row[74 +: 16] == before[74 +: 16] + (was_counts && was_context == 0);
    wire same_done_1 = row[90 +: 16] == before[90 +: 16] + (was_counts && was_context == 1);
    wire same_done_2 = row[106 +: 16] == before[106 +: 16] + (was_counts && was_context == 2);
    wire same_done_3 = row[122 +: 16] == before[122 +: 16] + (was_counts && was_context == 3);
    wire was_error = was_counts && was_code != 1;
    wire [7:0] error_count_0 = before[210 +: 8] + 8'd1, error_count_1 = before[242 +: 8] + 8'd1, error_count_2 = before[274 +: 8] + 8'd1,
        error_count_3 = before[306 +: 8] + 8'd1;
    wire [127:0] new_errors = {
        was_error && was_context == 3 ? {was_index, error_count_3, was_code} : before[298 +: 32],
        was_error && was_context == 2 ? {was_index, error_count_2, was_code} : before[266 +: 32],
        was_error && was_context == 1 ? {was_index, error_count_1, was_code} : before[234 +: 32],
        was_error && was_context == 0 ? {was_index, error_count_0, was_code} : before[202 +: 32]
    };
    wire [329:0] line_row = was_line ? row : its_line;
    wire [511:0] line_data = {
        line_row[202 +: 128], 64'd0, line_row[138 +: 64], 16'd0, line_row[122 +: 16], 16'd0, line_row[106 +: 16], 16'd0,
        line_row[90 +: 16], 16'd0, line_row[74 +: 16], 64'd0, line_row[42 +: 32], line_row[10 +: 32]
    };

    reg [2:0] laps;
    always @(posedge clk) begin
        was_full <= !rst && (was_full || (known && under_way == ENTRIES));
        laps <= rst ? 0 : laps + (its_stage && laps != 7);
    end

    always @(posedge clk) if (started && !rst) begin
        // One command in a buffer at a time, with room for it, of a queue that is on.
        if (its_claim) one_buffer: assert (state == NONE && !is_staged);
        if (its_claim) claims_with_room: assert (is_on && under_way < ENTRIES);
        // It is given to the harts once, as it stands in the line that was read behind its claim,
        // from its place, if it has the phase of its lap.
        if (its_stage) given_once: assert (state == FETCHED && staged[3:0] == buffer && is_on && is_staged);
        if (its_stage && staged[3:0] == chosen) given_as_read: assert (chosen_word[32] == 0 && chosen_word[8] != head[6]
            && staged[27:12] == head[15:0] && staged[35:28] == chosen_word[7:0] && staged[37:36] == chosen_word[13:12]
            && staged[43:38] == chosen_word[21:16]);
        if (its_stage && staged[3:0] == chosen) read_behind_claim: assert (chosen_line == area + {its[0], head[5:0]});
        if (its_stage) given_is_good: assert (good && fetched);
        // Each line that was asked for ends its buffer, or gives it to the harts.
        if (\dut.works && kind == ARRIVE) leaves_once: assert (stage != discard && (stage ? staged[3:0] : discard_buffer) == its_event_buffer);
        if (discard) discards_arrived: assert (here[discard_buffer]);
        // HEAD moves by one for each command that is posted or ends, never otherwise.
        if (was_known && is_on && before[0] && !was_turns) head_moves: assert (head == before[41:10] + was_consumes);
        if (was_known && !was_turns) done_moves: assert (same_done_0 && same_done_1 && same_done_2 && same_done_3);
        if (was_known && !was_turns) errors_move: assert (row[202 +: 128] == new_errors);
        if (was_known && !was_turns) value_moves: assert (row[138 +: 64] == (was_counts && was_result ? was_value : before[138 +: 64]));
        if (was_known) on_moves: assert (is_on == (was_turns ? was_flag : before[0] && !was_breaks));
        if (was_turns && was_flag) begins_at_zero: assert (head == 0 && row[42 +: 32] == was_epoch && row[137:74] == 0 && row[201:138] == 0
            && row[329:202] == 0);
        if (was_breaks || (was_turns && !was_flag)) ends_without_epoch: assert (row[42 +: 32] == 0);
        // What is under way is what was posted and is not complete, up to ENTRIES; so a POST
        // has room.
        if (known) under_way_exact: assert ({1'b0, under_way} + (posted && (state == FINISHED || state == NOTED)) == open + \dut.done.count
            + (doing && step == 1 && kind == COMPLETE) && under_way <= ENTRIES && !(finishes && posts && open >= ENTRIES));
        // Only a queue that is there is on.
        if (known && is_on) sum_of_done: assert (completed_sum + under_way == head[15:0] && its < 4);
        // Switches: with work under way, or without rings, it is not switched on; when it is off,
        // the harts have nothing of it.
        if (was_known && is_on && !before[0]) on_without_work: assert (open == 0 && \dut.done.count == 0 && state == NONE);
        if (was_switches) refused_exactly: assert (switch_refused == was_refused && (!was_refused || is_on == before[0]));
        if (known && !is_on) off_is_off: assert (state != FETCHED && state != GIVEN && !its_claim && !its_stage);
        if (turns && is_on && is_staged) off_drops: assert (drop && drop_buffer == buffer);
        if (drop && doing) drops_its_own: assert (turns && drop_buffer == buffer && state != NONE && \dut.owners.is_its [drop_buffer]);
        // A queue that has a command, and room, is in the list, or is looked at now.
        if (known && is_on && !is_staged && under_way < ENTRIES && head[5:0] == entry && copy != head[6] && !(doing && step[1]))
            look_is_due: assert (listed || (doing && kind != SHOW && is_there));
        if (known && is_on && !is_staged && under_way < ENTRIES && head[5:0] == entry && copy != head[6] && doing && step == 3)
            look_sees: assert (listed || \dut.watch_phase != head[6]);
        if (\dut.list_.is_new && \dut.list_.new_queue == its) listed_once: assert (!listed && known);
        // The control line is what is known of it, in one write, at its place; and each change of
        // it is written.
        if (write_valid && line_is_its) line_is_row: assert (write_line == control_line && write_data == line_data);
        if (was_offered) line_stays: assert (write_valid && write_line == was_write_line && write_data == was_write_data);
        if (line_known && !was_line) line_is_written: assert (row[42 +: 288] == its_line[42 +: 288]);

        // What the induction needs to know of the state.
        state_clear: assert ((\dut.list_.emptied == \dut.cleared && \dut.cleared <= ALL && up == (\dut.cleared == ALL))
            && (up || (step == 0 && !read_valid && !write_valid && reading == 0 && \dut.arrivals.inside == 0 && state == NONE
            && \dut.done.count == 0 && open == 0 && !listed && !posted && !line_known && !line_is_its))
            && (!known || \dut.list_.listed.word == listed));
        state_row: assert ((!known || !is_staged || (is_on && state != NONE && its_buffer == buffer && head == index && under_way < ENTRIES))
            && (!known || is_staged || state == NONE || (!is_on && (state == FINISHED || state == BACK || state == NOTED) && under_way < ENTRIES))
            && (!(doing && step[1]) || (is_on && !is_staged && under_way < ENTRIES && state == NONE))
            && (!(doing && step == 1) || \dut.rows.read_data == \dut.rows.word ));
        state_buffers: assert (((offered & reading) == 0 && ((offered | reading) & \dut.arrivals.inside ) == 0
            && ((offered | reading | \dut.arrivals.inside ) & here) == 0)
            && (state != FETCHED || (claimed[buffer] && \dut.owners.is_its [buffer]))
            && (!(state == GIVEN || state == BACK) || (!claimed[buffer] && \dut.owners.is_its [buffer]))
            && (!(state == FINISHED || state == NOTED) || !(claimed[buffer] && \dut.owners.is_its [buffer]))
            && (!(step == 1 && kind == ARRIVE) || (what[10:3] == its) == \dut.owners.is_its [its_event_buffer])
            && (!(known && doing && step == 1 && kind == SWITCH && is_staged) || \dut.owners.is_its [buffer]));
        state_event: assert ((!posted || state != BACK)
            && (state != NOTED || (doing && step == 1 && its_event_buffer == buffer
            && kind == (was_back ? GIVE_BACK : posted ? TAKE : END) && !(was_back && posted)))
            && (!(doing && step == 1) || (kind == TAKE || kind == END ? state == NOTED
            : kind != GIVE_BACK || state == NOTED || state == NONE || its_event_buffer != buffer))
            && (!(step == 1 && kind == SWITCH) || (was_switching && was_switch[7:0] == what[10:3]))
            && (!(known && doing && step == 1 && kind == SWITCH && !is_on) || state == NONE)
            && (!(known && doing && step == 1 && kind == COMPLETE) || under_way != 0)
            && (\dut.done.count <= 4 && open <= ENTRIES && state <= NOTED));
        state_word: assert ((!(\dut.arrivals.inside [chosen]) || \dut.arrivals.word == chosen_word)
            && (!here[chosen] || {what[41], what[73:42]} == chosen_word)
            && (!(state == FETCHED && buffer == chosen) || (offered[chosen] ? read_line : chosen_line) == area + {its[0], index[5:0]}));
        state_written: assert ((!was_line || (write_valid && line_is_its))
            && (!(write_valid && line_is_its) || was_line || line_known));

        second_lap: cover (its_stage && laps == 1 && open == 1);
        given_back: cover (works && kind == GIVE_BACK && state == NOTED && is_on);
        off_and_on: cover (was_turns && is_on && laps == 1 && open == 0);
        stale_line: cover (arrives && !what[41] && !phase_is_good);
        late_take: cover (noted && posted && !is_on);
        own_end: cover (ends_itself && under_way == 1);
        looked_again: cover (doing && step == 3 && listed && its_claim);
    end
endmodule
