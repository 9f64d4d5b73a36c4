// Round-robin arbiter of the warp slots in which the index of the choice is known early.
//
// 1. `slot`, `marked` and `choice` answer `request` and `mark` in the same cycle; without a
//    request they are zero.
// 2. The choice is the lowest requesting slot above the last used one, or the lowest of all if
//    there is none. After reset slot 0 comes first.
// 3. A choice counts as used at the rising edge at which `advance` is high: a slot that keeps its
//    request is chosen after at most one use by each other slot. Without a request the next round
//    starts at slot 0.
//
// 4. Option: `begin_valid` in cycle t makes the choice of t + 1 begin at `begin_slot`. In the first cycle without it the turns go
//    on where they were.
//
// Without the option the function is that of [`RoundRobin`](crate::control::RoundRobin). The index of the choice is
// found in groups of four, without a one-hot vector and a carry chain in front of it, which takes
// fewer levels of logic and more statements of a simulation.
module issue_turns (
    input  wire        clk,      // Rising-edge clock
    input  wire        rst,      // Synchronous reset, active high
    input  wire [31:0] request,  // Slots to choose from
    input  wire [31:0] mark,     // A property of each slot
    input  wire        advance,  // The present choice is used
    output wire [4:0]  slot,     // The choice
    output reg         marked,   // The mark of the choice
    output reg  [31:0] choice    // The choice, one-hot
);

    wire [15:0] group_any;
    wire [3:0] four_any;
    wire [63:0] ring;
    wire [63:0] marks;
    wire [63:0] part;
    wire [63:0] part_mark;
    wire any;
    reg  [5:0] first;
    wire [4:0] first_slot;
    reg  [31:0] above;
    reg  [5:0] group_first_0, group_first_1, group_first_2, group_first_3, group_first_4, group_first_5,
        group_first_6, group_first_7, group_first_8, group_first_9, group_first_10, group_first_11,
        group_first_12, group_first_13, group_first_14, group_first_15;
    reg  group_mark_0, group_mark_1, group_mark_2, group_mark_3, group_mark_4, group_mark_5, group_mark_6,
        group_mark_7, group_mark_8, group_mark_9, group_mark_10, group_mark_11, group_mark_12, group_mark_13,
        group_mark_14, group_mark_15;
    reg  [5:0] four_first_0, four_first_1, four_first_2, four_first_3;
    reg  four_mark_0, four_mark_1, four_mark_2, four_mark_3;

    assign ring = {request, request & above};
    assign marks = {mark, mark};
    assign part = ring;
    assign part_mark = marks;
    assign group_any = {|part[63:60], |part[59:56], |part[55:52], |part[51:48], |part[47:44], |part[43:40],
        |part[39:36], |part[35:32], |part[31:28], |part[27:24], |part[23:20], |part[19:16], |part[15:12],
        |part[11:8], |part[7:4], |part[3:0]};

    always @* begin
        group_first_0 = 6'd3;
        group_mark_0 = part_mark[3];
        if (part[2]) begin
            group_first_0 = 6'd2;
            group_mark_0 = part_mark[2];
        end
        if (part[1]) begin
            group_first_0 = 6'd1;
            group_mark_0 = part_mark[1];
        end
        if (part[0]) begin
            group_first_0 = 6'd0;
            group_mark_0 = part_mark[0];
        end
    end

    always @* begin
        group_first_1 = 6'd3;
        group_mark_1 = part_mark[7];
        if (part[6]) begin
            group_first_1 = 6'd2;
            group_mark_1 = part_mark[6];
        end
        if (part[5]) begin
            group_first_1 = 6'd1;
            group_mark_1 = part_mark[5];
        end
        if (part[4]) begin
            group_first_1 = 6'd0;
            group_mark_1 = part_mark[4];
        end
    end

    always @* begin
        group_first_2 = 6'd3;
        group_mark_2 = part_mark[11];
        if (part[10]) begin
            group_first_2 = 6'd2;
            group_mark_2 = part_mark[10];
        end
        if (part[9]) begin
            group_first_2 = 6'd1;
            group_mark_2 = part_mark[9];
        end
        if (part[8]) begin
            group_first_2 = 6'd0;
            group_mark_2 = part_mark[8];
        end
    end

    always @* begin
        group_first_3 = 6'd3;
        group_mark_3 = part_mark[15];
        if (part[14]) begin
            group_first_3 = 6'd2;
            group_mark_3 = part_mark[14];
        end
        if (part[13]) begin
            group_first_3 = 6'd1;
            group_mark_3 = part_mark[13];
        end
        if (part[12]) begin
            group_first_3 = 6'd0;
            group_mark_3 = part_mark[12];
        end
    end

    always @* begin
        group_first_4 = 6'd3;
        group_mark_4 = part_mark[19];
        if (part[18]) begin
            group_first_4 = 6'd2;
            group_mark_4 = part_mark[18];
        end
        if (part[17]) begin
            group_first_4 = 6'd1;
            group_mark_4 = part_mark[17];
        end
        if (part[16]) begin
            group_first_4 = 6'd0;
            group_mark_4 = part_mark[16];
        end
    end

    always @* begin
        group_first_5 = 6'd3;
        group_mark_5 = part_mark[23];
        if (part[22]) begin
            group_first_5 = 6'd2;
            group_mark_5 = part_mark[22];
        end
        if (part[21]) begin
            group_first_5 = 6'd1;
            group_mark_5 = part_mark[21];
        end
        if (part[20]) begin
            group_first_5 = 6'd0;
            group_mark_5 = part_mark[20];
        end
    end

    always @* begin
        group_first_6 = 6'd3;
        group_mark_6 = part_mark[27];
        if (part[26]) begin
            group_first_6 = 6'd2;
            group_mark_6 = part_mark[26];
        end
        if (part[25]) begin
            group_first_6 = 6'd1;
            group_mark_6 = part_mark[25];
        end
        if (part[24]) begin
            group_first_6 = 6'd0;
            group_mark_6 = part_mark[24];
        end
    end

    always @* begin
        group_first_7 = 6'd3;
        group_mark_7 = part_mark[31];
        if (part[30]) begin
            group_first_7 = 6'd2;
            group_mark_7 = part_mark[30];
        end
        if (part[29]) begin
            group_first_7 = 6'd1;
            group_mark_7 = part_mark[29];
        end
        if (part[28]) begin
            group_first_7 = 6'd0;
            group_mark_7 = part_mark[28];
        end
    end

    always @* begin
        group_first_8 = 6'd3;
        group_mark_8 = part_mark[35];
        if (part[34]) begin
            group_first_8 = 6'd2;
            group_mark_8 = part_mark[34];
        end
        if (part[33]) begin
            group_first_8 = 6'd1;
            group_mark_8 = part_mark[33];
        end
        if (part[32]) begin
            group_first_8 = 6'd0;
            group_mark_8 = part_mark[32];
        end
    end

    always @* begin
        group_first_9 = 6'd3;
        group_mark_9 = part_mark[39];
        if (part[38]) begin
            group_first_9 = 6'd2;
            group_mark_9 = part_mark[38];
        end
        if (part[37]) begin
            group_first_9 = 6'd1;
            group_mark_9 = part_mark[37];
        end
        if (part[36]) begin
            group_first_9 = 6'd0;
            group_mark_9 = part_mark[36];
        end
    end

    always @* begin
        group_first_10 = 6'd3;
        group_mark_10 = part_mark[43];
        if (part[42]) begin
            group_first_10 = 6'd2;
            group_mark_10 = part_mark[42];
        end
        if (part[41]) begin
            group_first_10 = 6'd1;
            group_mark_10 = part_mark[41];
        end
        if (part[40]) begin
            group_first_10 = 6'd0;
            group_mark_10 = part_mark[40];
        end
    end

    always @* begin
        group_first_11 = 6'd3;
        group_mark_11 = part_mark[47];
        if (part[46]) begin
            group_first_11 = 6'd2;
            group_mark_11 = part_mark[46];
        end
        if (part[45]) begin
            group_first_11 = 6'd1;
            group_mark_11 = part_mark[45];
        end
        if (part[44]) begin
            group_first_11 = 6'd0;
            group_mark_11 = part_mark[44];
        end
    end

    always @* begin
        group_first_12 = 6'd3;
        group_mark_12 = part_mark[51];
        if (part[50]) begin
            group_first_12 = 6'd2;
            group_mark_12 = part_mark[50];
        end
        if (part[49]) begin
            group_first_12 = 6'd1;
            group_mark_12 = part_mark[49];
        end
        if (part[48]) begin
            group_first_12 = 6'd0;
            group_mark_12 = part_mark[48];
        end
    end

    always @* begin
        group_first_13 = 6'd3;
        group_mark_13 = part_mark[55];
        if (part[54]) begin
            group_first_13 = 6'd2;
            group_mark_13 = part_mark[54];
        end
        if (part[53]) begin
            group_first_13 = 6'd1;
            group_mark_13 = part_mark[53];
        end
        if (part[52]) begin
            group_first_13 = 6'd0;
            group_mark_13 = part_mark[52];
        end
    end

    always @* begin
        group_first_14 = 6'd3;
        group_mark_14 = part_mark[59];
        if (part[58]) begin
            group_first_14 = 6'd2;
            group_mark_14 = part_mark[58];
        end
        if (part[57]) begin
            group_first_14 = 6'd1;
            group_mark_14 = part_mark[57];
        end
        if (part[56]) begin
            group_first_14 = 6'd0;
            group_mark_14 = part_mark[56];
        end
    end

    always @* begin
        group_first_15 = 6'd3;
        group_mark_15 = part_mark[63];
        if (part[62]) begin
            group_first_15 = 6'd2;
            group_mark_15 = part_mark[62];
        end
        if (part[61]) begin
            group_first_15 = 6'd1;
            group_mark_15 = part_mark[61];
        end
        if (part[60]) begin
            group_first_15 = 6'd0;
            group_mark_15 = part_mark[60];
        end
    end

    assign four_any = {group_any[12] | group_any[13] | group_any[14] | group_any[15], group_any[8] |
        group_any[9] | group_any[10] | group_any[11], group_any[4] | group_any[5] | group_any[6] | group_any[7],
        group_any[0] | group_any[1] | group_any[2] | group_any[3]};

    always @* begin
        four_first_0 = 6'd12 | group_first_3;
        four_mark_0 = group_mark_3;
        if (group_any[2]) begin
            four_first_0 = 6'd8 | group_first_2;
            four_mark_0 = group_mark_2;
        end
        if (group_any[1]) begin
            four_first_0 = 6'd4 | group_first_1;
            four_mark_0 = group_mark_1;
        end
        if (group_any[0]) begin
            four_first_0 = group_first_0;
            four_mark_0 = group_mark_0;
        end
    end

    always @* begin
        four_first_1 = 6'd12 | group_first_7;
        four_mark_1 = group_mark_7;
        if (group_any[6]) begin
            four_first_1 = 6'd8 | group_first_6;
            four_mark_1 = group_mark_6;
        end
        if (group_any[5]) begin
            four_first_1 = 6'd4 | group_first_5;
            four_mark_1 = group_mark_5;
        end
        if (group_any[4]) begin
            four_first_1 = group_first_4;
            four_mark_1 = group_mark_4;
        end
    end

    always @* begin
        four_first_2 = 6'd12 | group_first_11;
        four_mark_2 = group_mark_11;
        if (group_any[10]) begin
            four_first_2 = 6'd8 | group_first_10;
            four_mark_2 = group_mark_10;
        end
        if (group_any[9]) begin
            four_first_2 = 6'd4 | group_first_9;
            four_mark_2 = group_mark_9;
        end
        if (group_any[8]) begin
            four_first_2 = group_first_8;
            four_mark_2 = group_mark_8;
        end
    end

    always @* begin
        four_first_3 = 6'd12 | group_first_15;
        four_mark_3 = group_mark_15;
        if (group_any[14]) begin
            four_first_3 = 6'd8 | group_first_14;
            four_mark_3 = group_mark_14;
        end
        if (group_any[13]) begin
            four_first_3 = 6'd4 | group_first_13;
            four_mark_3 = group_mark_13;
        end
        if (group_any[12]) begin
            four_first_3 = group_first_12;
            four_mark_3 = group_mark_12;
        end
    end

    assign any = |request;

    always @* begin
        first = 6'd0;
        marked = 1'b0;
        if (four_any[3]) begin
            first = 6'h30 | four_first_3;
            marked = four_mark_3;
        end
        if (four_any[2]) begin
            first = 6'h20 | four_first_2;
            marked = four_mark_2;
        end
        if (four_any[1]) begin
            first = 6'h10 | four_first_1;
            marked = four_mark_1;
        end
        if (four_any[0]) begin
            first = four_first_0;
            marked = four_mark_0;
        end
    end

    assign first_slot = first[4:0];
    assign slot = first_slot;

    always @* begin
        choice = 32'd0;
        if (any) begin
            choice = 32'd1 << first_slot;
        end
    end

    always @(posedge clk) begin
        if (rst) begin
            above <= 32'd0;
        end else begin
            if (advance) begin
                above <= 32'd0;
                if (any) begin
                    above <= 32'hfffffffe << first_slot;
                end
            end
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, first[5]};
endmodule

// Encodes a one-hot set of 32 bits as the index of its bit.
//
// `index` answers `one_hot` in the same cycle. It is 0 if no bit is set, and of no meaning if
// several are.
module binary_encoder (
    input  wire [31:0] one_hot,  // The set: at most one bit
    output wire [4:0]  index     // Index of the bit
);

    reg  [4:0] encoded;

    always @* begin
        encoded = 5'd0;
        if (|(one_hot & 32'haaaaaaaa)) begin
            encoded = encoded | 5'd1;
        end
        if (|(one_hot & 32'hcccccccc)) begin
            encoded = encoded | 5'd2;
        end
        if (|(one_hot & 32'hf0f0f0f0)) begin
            encoded = encoded | 5'd4;
        end
        if (|(one_hot & 32'hff00ff00)) begin
            encoded = encoded | 5'd8;
        end
        if (|(one_hot & 32'hffff0000)) begin
            encoded = encoded | 5'h10;
        end
    end

    assign index = encoded;
endmodule

// Finds the lowest of 32 requests.
//
// The outputs answer `request` in the same cycle; without a request they are zero.
module priority_encoder (
    input  wire [31:0] request,  // The requests; bit 0 comes first
    output wire [31:0] one_hot,  // The lowest request alone
    output wire [4:0]  index     // Its index
);

    wire [31:0] lowest;

    assign lowest = request & (32'd0 - request);
    assign one_hot = lowest;

    binary_encoder encoder (
        .one_hot(lowest),
        .index(index)
    );
endmodule

// State of the warp slots of a core and the choice of the warp that issues.
//
// A slot is *occupied* from start to finish. An occupied slot can issue unless one of these holds:
//
// - *resolving*: its next path depends on an instruction in the pipeline, or is being selected;
// - *fetch*: the warp missed in the instruction cache, which has not reported yet that it should
//   look up again (`filled`);
// - *waiting*: its instruction was blocked, and no operation of the warp has completed since;
// - *ended*: the warp has retired: all its threads ended.
//
// Among the slots that can, the choice is round-robin: the next one above the last chosen; or, as
// an option, it is the warp that started first. With spawned threads the choice in turns begins with a warp of them that has just
// started ([`BootFirst`]). A warp may issue in every cycle. `issue_*` answers
// the state combinationally and is taken at the edge at which `advance` is high. An ended slot
// without outstanding stores is offered as `finish_*` and leaves the core when that is accepted.
module warp_scheduler (
    input  wire        clk,                // Rising-edge clock
    input  wire        rst,                // Synchronous reset, active high
    input  wire        start_valid,        // From warp issue: a warp starts in a free slot
    input  wire [4:0]  start_slot,         // From warp issue: its slot
    input  wire        advance,            // From stage W: the pipeline takes issue_* at this edge
    output wire        issue_valid,        // To stage C: a warp issues
    output wire [4:0]  issue_slot,         // To stage C: its slot
    output wire        issue_fresh,        // To stage C: it is the first instruction of the warp
    output reg  [2:0]  idle_reason,        // To stage C: why no warp issues
    input  wire [4:0]  hold_slot,          // Warp slot of the instruction that was in stage D a cycle ago
    input  wire        miss_valid,         // From stage D: the instruction missed in the cache
    input  wire        wait_valid,         // From stage D: the instruction waits until an operation of its warp completes
    input  wire        control_valid,      // From stage D: the next path depends on the instruction
    input  wire        filled,             // From the instruction cache: warps that missed before this cycle look up again
    input  wire [4:0]  write_slot,         // Warp slot of the instruction in stage W
    input  wire        resume_valid,       // From stage W: the next path is known, or the warp ended
    input  wire        flush_valid,        // From the front end: stage W flushed a warp a cycle ago
    input  wire [4:0]  flush_slot,         // Its slot
    input  wire        again_valid,        // With flush_valid: the warp resumes at once; else its next path is selected
    input  wire        ended_valid,        // From stage W: all threads of the warp ended
    input  wire        path_valid,         // From path selection: the next path is known
    input  wire [4:0]  path_slot,          // From path selection: the slot
    input  wire        late_valid,         // A load or the division completes
    input  wire [4:0]  late_slot,          // Its slot
    input  wire        scratchpad_stored,  // A store to the scratchpad completes
    input  wire [4:0]  scratchpad_slot,    // Its slot
    input  wire        stored_valid,       // A store to shared memory completes
    input  wire [4:0]  stored_slot,        // Its slot
    input  wire        divided_valid,      // The division or an atomic operation completes: any warp may have waited for it
    input  wire [31:0] stores_busy,        // Slots with outstanding stores
    output wire        finish_valid,       // To the DCQ: a warp finished
    input  wire        finish_ready,       // From the DCQ: the finish is taken
    output wire [4:0]  finish_slot,        // To the DCQ: slot of the finished warp
    output wire        occupied            // At least one slot is occupied
);

    localparam [2:0] LOST_CYCLE_DIVERGENCE = 3'd4;
    localparam [2:0] LOST_CYCLE_FETCH = 3'd3;
    localparam [2:0] LOST_CYCLE_MEMORY = 3'd2;
    localparam [2:0] LOST_CYCLE_NO_WARP = 3'd1;
    wire [31:0] ready;
    wire [31:0] choice;
    reg  [31:0] issued;
    reg  [31:0] started;
    wire [31:0] held;
    reg  [31:0] missed;
    reg  [31:0] to_wait;
    reg  [31:0] to_resolve;
    wire [31:0] written;
    reg  [31:0] resumed;
    reg  [31:0] flushed;
    reg  [31:0] split_up;
    reg  [31:0] just_ended;
    reg  [31:0] selected;
    reg  [31:0] woken;
    reg  [31:0] left;
    wire [31:0] done;
    reg  [31:0] occupied_slots;
    reg  [31:0] fresh;
    reg  [31:0] resolving;
    reg  [31:0] fetch;
    reg  [31:0] waiting;
    reg  [31:0] ended;
    reg  finishing;
    reg  [4:0] finishing_slot;
    wire turns_0_advance;
    wire [31:0] finish_choice_one_hot;
    wire [4:0] finish_choice_index;

    assign ready = occupied_slots & ~(resolving | fetch | waiting | ended);
    assign turns_0_advance = advance & (|ready);
    assign issue_valid = |ready;

    always @* begin
        issued = 32'd0;
        if (advance) begin
            issued = choice;
        end
    end

    always @* begin
        idle_reason = LOST_CYCLE_NO_WARP;
        if (|resolving) begin
            idle_reason = LOST_CYCLE_DIVERGENCE;
        end
        if (|fetch) begin
            idle_reason = LOST_CYCLE_FETCH;
        end
        if ((|waiting) | (|(ended & stores_busy))) begin
            idle_reason = LOST_CYCLE_MEMORY;
        end
    end

    always @* begin
        started = 32'd0;
        if (start_valid) begin
            started = 32'd1 << start_slot;
        end
    end

    assign held = 32'd1 << hold_slot;

    always @* begin
        missed = 32'd0;
        if (miss_valid) begin
            missed = held;
        end
    end

    always @* begin
        to_wait = 32'd0;
        if (wait_valid) begin
            to_wait = held;
        end
    end

    always @* begin
        to_resolve = 32'd0;
        if (control_valid) begin
            to_resolve = held;
        end
    end

    assign written = 32'd1 << write_slot;

    always @* begin
        resumed = 32'd0;
        if (resume_valid) begin
            resumed = written;
        end
        split_up = flushed;
        if (again_valid) begin
            split_up = 32'd0;
            resumed = resumed | flushed;
        end
    end

    always @* begin
        flushed = 32'd0;
        if (flush_valid) begin
            flushed = 32'd1 << flush_slot;
        end
    end

    always @* begin
        just_ended = 32'd0;
        if (ended_valid) begin
            just_ended = written;
        end
    end

    always @* begin
        selected = 32'd0;
        if (path_valid) begin
            selected = 32'd1 << path_slot;
        end
    end

    always @* begin
        woken = 32'd0;
        if (late_valid) begin
            woken = 32'd1 << late_slot;
        end
        if (scratchpad_stored) begin
            woken = woken | (32'd1 << scratchpad_slot);
        end
        if (stored_valid) begin
            woken = woken | (32'd1 << stored_slot);
        end
        if (divided_valid) begin
            woken = 32'hffffffff;
        end
    end

    assign finish_valid = finishing;
    assign finish_slot = finishing_slot;

    always @* begin
        left = 32'd0;
        if (!finishing) begin
            left = finish_choice_one_hot;
        end
    end

    assign done = ended & ~stores_busy;
    assign occupied = |occupied_slots;

    issue_turns turns_0 (
        .clk(clk),
        .rst(rst),
        .request(ready),
        .mark(fresh),
        .advance(turns_0_advance),
        .slot(issue_slot),
        .marked(issue_fresh),
        .choice(choice)
    );

    priority_encoder finish_choice (
        .request(done),
        .one_hot(finish_choice_one_hot),
        .index(finish_choice_index)
    );

    always @(posedge clk) begin
        if (rst) begin
            occupied_slots <= 32'd0;
            fresh <= 32'd0;
            resolving <= 32'd0;
            fetch <= 32'd0;
            waiting <= 32'd0;
            ended <= 32'd0;
            finishing <= 1'b0;
            finishing_slot <= 5'd0;
        end else begin
            if (finishing & finish_ready) begin
                finishing <= 1'b0;
            end
            if (!finishing) begin
                finishing <= |done;
                finishing_slot <= finish_choice_index;
            end
            occupied_slots <= (occupied_slots & ~left) | started;
            fresh <= (fresh & ~issued) | started;
            resolving <= (resolving & ~(resumed | selected)) | to_resolve | split_up;
            fetch <= (fetch | missed) & ~flushed;
            if (filled) begin
                fetch <= missed;
            end
            waiting <= (waiting | to_wait) & ~(woken | flushed);
            ended <= (ended & ~left) | just_ended;
        end
    end
endmodule

