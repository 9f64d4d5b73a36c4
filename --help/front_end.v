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

// 32 words of 30 bits, one write port, one combinational read port: distributed RAM.
module ram_async_30_5 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [4:0]  write_address,
    input  wire [29:0] write_data,
    input  wire [4:0]  read_address,
    output wire [29:0] read_data
);

    reg [29:0] words [0:31];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// PC of the running lanes of every warp, with a write port for each of the three stages that set
// it.
//
// - Stage C moves on to the next instruction (`sequential_*`).
// - Stage D replays an instruction that cannot be executed yet (`replay_*`).
// - Stage W and path selection go to the next path (`jump_*`).
//
// `pc` answers `slot` combinationally; a write shows from the next cycle on. Where several ports
// write the same slot at one edge, jump goes before replay and replay before sequential. A slot
// that starts is written by its first instruction, whose PC is known without this unit. PCs are
// bits 31:2.
module program_counters (
    input  wire        clk,               // Rising-edge clock
    input  wire        rst,               // Synchronous reset, active high
    input  wire [4:0]  slot,              // Warp slot read
    output reg  [29:0] pc,                // Its PC
    input  wire        sequential_valid,  // Stage C writes slot
    input  wire [29:0] sequential_pc,     // PC after the instruction in stage C
    input  wire        replay_valid,      // Stage D replays an instruction
    input  wire [4:0]  replay_slot,       // Warp slot
    input  wire [29:0] replay_pc,         // PC of the instruction in stage D
    input  wire        jump_valid,        // Stage W or path selection writes
    input  wire [4:0]  jump_slot,         // Warp slot
    input  wire [29:0] jump_pc            // PC of the path
);

    reg  [31:0] moving;
    reg  [31:0] replaying;
    reg  [31:0] jumping;
    wire [29:0] sequential_read_data;
    wire [29:0] replay_read_data;
    wire [29:0] jump_read_data;
    reg  [31:0] replayed;
    reg  [31:0] jumped;

    always @* begin
        moving = 32'd0;
        if (sequential_valid) begin
            moving = 32'd1 << slot;
        end
    end

    always @* begin
        replaying = 32'd0;
        if (replay_valid) begin
            replaying = 32'd1 << replay_slot;
        end
    end

    always @* begin
        jumping = 32'd0;
        if (jump_valid) begin
            jumping = 32'd1 << jump_slot;
        end
    end

    always @* begin
        pc = sequential_read_data;
        if (replayed[slot]) begin
            pc = replay_read_data;
        end
        if (jumped[slot]) begin
            pc = jump_read_data;
        end
    end

    ram_async_30_5 sequential (
        .clk(clk),
        .write_enable(sequential_valid),
        .write_address(slot),
        .write_data(sequential_pc),
        .read_address(slot),
        .read_data(sequential_read_data)
    );

    ram_async_30_5 replay (
        .clk(clk),
        .write_enable(replay_valid),
        .write_address(replay_slot),
        .write_data(replay_pc),
        .read_address(slot),
        .read_data(replay_read_data)
    );

    ram_async_30_5 jump (
        .clk(clk),
        .write_enable(jump_valid),
        .write_address(jump_slot),
        .write_data(jump_pc),
        .read_address(slot),
        .read_data(jump_read_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            replayed <= 32'd0;
            jumped <= 32'd0;
        end else begin
            replayed <= ((replayed & ~moving) | replaying) & ~jumping;
            jumped <= (jumped & ~(moving | replaying)) | jumping;
        end
    end
endmodule

// 32 words of 38 bits, one write port, one registered read port: block RAM.
module ram_sync_38_5 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [4:0]  write_address,
    input  wire [37:0] write_data,
    input  wire        read_enable,
    input  wire [4:0]  read_address,
    output wire [37:0] read_data
);

    reg [37:0] words [0:31];
    reg [37:0] data;
    always @(posedge clk) begin
        if (read_enable) data <= words[read_address];
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = data;
endmodule

// 32 words of 6 bits, one write port, one registered read port: block RAM.
module ram_sync_6_5 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [4:0] write_address,
    input  wire [5:0] write_data,
    input  wire       read_enable,
    input  wire [4:0] read_address,
    output wire [5:0] read_data
);

    reg [5:0] words [0:31];
    reg [5:0] data;
    always @(posedge clk) begin
        if (read_enable) data <= words[read_address];
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = data;
endmodule

// 32 words of 2 bits, one write port, one registered read port: block RAM.
module ram_sync_2_5 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [4:0] write_address,
    input  wire [1:0] write_data,
    input  wire       read_enable,
    input  wire [4:0] read_address,
    output wire [1:0] read_data
);

    reg [1:0] words [0:31];
    reg [1:0] data;
    always @(posedge clk) begin
        if (read_enable) data <= words[read_address];
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = data;
endmodule

// 32 words of 36 bits, one write port, one registered read port: block RAM.
module ram_sync_36_5 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [4:0]  write_address,
    input  wire [35:0] write_data,
    input  wire        read_enable,
    input  wire [4:0]  read_address,
    output wire [35:0] read_data
);

    reg [35:0] words [0:31];
    reg [35:0] data;
    always @(posedge clk) begin
        if (read_enable) data <= words[read_address];
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = data;
endmodule

// The scheduler with the contexts of the warps: running PC, call depth, running and living lanes,
// the pending path with the highest priority and the first packetIdx.
//
// Stage S chooses a warp and addresses the context memories; stage C knows the PC, looks up the
// instruction and moves the PC of the warp on, behind the last word of the boot sequence to the
// kernel's entry; stage I waits for the instruction; the outputs `decode_*` are those of stage D. So a warp can issue in every cycle, on the assumption that it
// continues in sequence. In the cycle after stage D its outcome may revoke this (`replay_valid`,
// `control_valid`), and so may stage W (`flush_valid`): then the younger instructions of the warp
// in stages S to D are flushed. Everything but the PC changes only while the warp has nothing in
// stages S to D; that of a fresh warp follows from its start alone. The ports of [`WarpScheduler`]
// that have the same names here are passed through.
module front_end (
    input  wire        clk,                // Rising-edge clock
    input  wire        rst,                // Synchronous reset, active high
    input  wire        advance,            // Stages S, C, I and D advance at this edge
    input  wire        start_valid,        // From warp issue: a warp starts
    input  wire [4:0]  start_slot,         // From warp issue: its slot
    input  wire [31:0] start_packet,       // From warp issue: packetIdx of lane 0
    input  wire [5:0]  start_count,        // From warp issue: number of threads, 1 to LANES
    input  wire [29:0] kernel_entry,       // KERNEL_ENTRY register, bits 31:2: where the warps go on behind the boot sequence
    input  wire [4:0]  hold_slot,          // From stage R: slot of the instruction that was in stage D a cycle ago
    input  wire [29:0] hold_pc,            // From stage R: its PC, bits 31:2
    input  wire        miss_valid,         // From stage D: it missed in the cache
    input  wire        wait_valid,         // From stage D: it is blocked and waits
    input  wire        control_valid,      // From stage D: the next path depends on it
    input  wire        replay_valid,       // From stage D: it is replayed
    input  wire        filled,             // From the instruction cache: warps that missed before this cycle look up again
    input  wire [4:0]  write_slot,         // From stage W: warp slot of the instruction
    input  wire        resume_valid,       // From stage W: the next path is known, or all threads of the warp ended
    input  wire        flush_valid,        // From stage W: the younger instructions of the warp are flushed
    input  wire        again_valid,
    input  wire        ended_valid,        // From stage W: all threads of the warp ended
    input  wire        path_valid,         // From path selection: the next path is known
    input  wire [4:0]  path_slot,          // From path selection: its warp slot
    input  wire        late_valid,         // A load or the division completes
    input  wire [4:0]  late_slot,          // Its slot
    input  wire        scratchpad_stored,  // A store to the scratchpad completes
    input  wire [4:0]  scratchpad_slot,    // Its slot
    input  wire        stored_valid,       // A store to shared memory completes
    input  wire [4:0]  stored_slot,        // Its slot
    input  wire        divided_valid,      // The division or an atomic operation completes: any warp may have waited for it
    input  wire [31:0] stores_busy,        // Slots with outstanding stores
    input  wire        context_write,      // From stage W: a context is written at this edge
    input  wire [4:0]  context_slot,       // Its slot
    input  wire [29:0] context_pc,         // Next PC, bits 31:2
    input  wire [5:0]  context_depth,      // Call depth there
    input  wire [1:0]  context_active,     // Lanes that run
    input  wire [1:0]  context_alive,      // Lanes that have not ended
    input  wire [35:0] context_waiting,    // Key of the pending path with the highest priority, all ones if there is none
    output wire        lookup_enable,      // To the instruction cache: look up (stage C), if the stages advance
    output wire [4:0]  lookup_slot,        // To the instruction cache: slot of the lookup
    output wire [29:0] lookup_word,        // To the instruction cache: address of the instruction, bits 31:2
    output wire [4:0]  fetched_slot,       // Slot of the instruction in stage I
    output wire [29:0] fetched_pc,         // Its PC, bits 31:2
    output wire        fetched_boot,       // It stands in the boot region and does not come from the cache
    output wire        decode_valid,       // Stage D holds an instruction that was not flushed
    output wire [4:0]  decode_slot,        // Its slot
    output wire [29:0] decode_pc,          // Its PC, bits 31:2
    output wire        decode_boot,        // It stands in the boot region and does not come from the cache
    output wire        decode_meets,       // Lanes of its warp wait at the instruction after it, or may do so behind the boot sequence
    output wire [5:0]  decode_depth,       // Its call depth
    output wire [1:0]  decode_active,      // Lanes that run it
    output wire [1:0]  decode_alive,       // Lanes of the warp that have not ended
    output wire [35:0] decode_waiting,     // Key of the pending path with the highest priority
    output wire [31:0] decode_packet,      // packetIdx of lane 0
    output reg  [2:0]  decode_reason,      // Why stage D holds no instruction
    output wire        finish_valid,       // To the DCQ: a warp finished
    input  wire        finish_ready,       // From the DCQ: it is taken at this edge
    output wire [4:0]  finish_slot,        // To the DCQ: its slot
    output wire        occupied            // At least one warp is on the core
);

    localparam [1:0] ALL_LANES = 2'd3;
    localparam [5:0] LANES = 6'd2;
    localparam [2:0] LOST_CYCLE_DIVERGENCE = 3'd4;
    localparam [2:0] LOST_CYCLE_FETCH = 3'd3;
    localparam [2:0] LOST_CYCLE_NONE = 3'd0;
    localparam [2:0] LOST_CYCLE_SCOREBOARD = 3'd5;
    wire hold;
    wire drop_issued;
    wire drop_context;
    wire drop_fetched;
    wire drop_decode;
    reg  [2:0] drop_reason;
    reg  [31:0] started;
    reg  [31:0] written;
    reg  [29:0] pc;
    wire last_of_boot;
    reg  [29:0] after;
    reg  [5:0] call_depth;
    reg  [1:0] running;
    reg  [1:0] living;
    reg  [35:0] best_waiting;
    wire boot;
    wire moves;
    wire met;
    wire meets;
    wire scheduler_issue_valid;
    wire [4:0] scheduler_issue_slot;
    wire scheduler_issue_fresh;
    wire [2:0] scheduler_idle_reason;
    wire [29:0] counters_pc;
    wire [37:0] start_read_data;
    wire [5:0] depth_read_data;
    wire [1:0] active_read_data;
    wire [1:0] alive_read_data;
    wire [35:0] waiting_read_data;
    reg  [31:0] initial_;
    reg  jump_valid;
    reg  [4:0] jump_slot;
    reg  [29:0] jump_pc;
    reg  flush_valid_2;
    reg  [4:0] flush_slot;
    reg  again_valid_2;
    reg  context_valid;
    reg  [4:0] context_held_slot;
    reg  context_fresh;
    reg  [2:0] context_reason;
    reg  fetched_valid;
    reg  [4:0] fetched_slot_2;
    reg  [29:0] fetched_pc_2;
    reg  fetched_boot_2;
    reg  fetched_last_of_boot;
    reg  [5:0] fetched_depth;
    reg  [1:0] fetched_active;
    reg  [1:0] fetched_alive;
    reg  [35:0] fetched_waiting;
    reg  [31:0] fetched_packet;
    reg  [2:0] fetched_reason;
    reg  decode_valid_2;
    reg  [4:0] decode_slot_2;
    reg  [29:0] decode_pc_2;
    reg  decode_boot_2;
    reg  decode_meets_2;
    reg  [5:0] decode_depth_2;
    reg  [1:0] decode_active_2;
    reg  [1:0] decode_alive_2;
    reg  [35:0] decode_waiting_2;
    reg  [31:0] decode_packet_2;
    reg  [2:0] decode_reason_2;

    assign hold = replay_valid | control_valid;
    assign drop_issued = ((control_valid | miss_valid | wait_valid) & (scheduler_issue_slot == hold_slot)) |
        (flush_valid_2 & (scheduler_issue_slot == flush_slot));
    assign drop_context = (hold & (context_held_slot == hold_slot)) | (flush_valid_2 & (context_held_slot ==
        flush_slot));
    assign drop_fetched = (hold & (fetched_slot_2 == hold_slot)) | (flush_valid_2 & (fetched_slot_2 ==
        flush_slot));
    assign drop_decode = (hold & (decode_slot_2 == hold_slot)) | (flush_valid_2 & (decode_slot_2 ==
        flush_slot));

    always @* begin
        drop_reason = LOST_CYCLE_DIVERGENCE;
        if (replay_valid) begin
            drop_reason = LOST_CYCLE_SCOREBOARD;
        end
        if (miss_valid) begin
            drop_reason = LOST_CYCLE_FETCH;
        end
    end

    always @* begin
        started = 32'd0;
        if (start_valid) begin
            started = 32'd1 << start_slot;
        end
    end

    always @* begin
        written = 32'd0;
        if (jump_valid) begin
            written = 32'd1 << jump_slot;
        end
    end

    always @* begin
        pc = counters_pc;
        if (context_fresh) begin
            pc = 30'h3fffffc0;
        end
    end

    assign last_of_boot = pc == 30'h3fffffc4;

    always @* begin
        after = pc + 30'd1;
        if (last_of_boot) begin
            after = kernel_entry;
        end
    end

    always @* begin
        call_depth = depth_read_data;
        running = active_read_data;
        living = alive_read_data;
        best_waiting = waiting_read_data;
        if (initial_[context_held_slot]) begin
            call_depth = 6'd0;
            running = ALL_LANES >> (LANES - start_read_data[37:32]);
            living = running;
            best_waiting = 36'hfffffffff;
        end
    end

    assign boot = pc[29:6] == 24'hffffff;
    assign lookup_enable = context_valid;
    assign lookup_slot = context_held_slot;
    assign lookup_word = pc;
    assign moves = context_valid & !drop_context & advance;
    assign fetched_slot = fetched_slot_2;
    assign fetched_pc = fetched_pc_2;
    assign fetched_boot = fetched_boot_2;
    assign met = (fetched_waiting[29:0] == (fetched_pc_2 + 30'd1)) & (fetched_waiting[35:30] ==
        ~fetched_depth);
    assign meets = (fetched_active != fetched_alive) & (met | fetched_last_of_boot);
    assign decode_valid = decode_valid_2 & !drop_decode;
    assign decode_slot = decode_slot_2;
    assign decode_pc = decode_pc_2;
    assign decode_boot = decode_boot_2;
    assign decode_meets = decode_meets_2;
    assign decode_depth = decode_depth_2;
    assign decode_active = decode_active_2;
    assign decode_alive = decode_alive_2;
    assign decode_waiting = decode_waiting_2;
    assign decode_packet = decode_packet_2;

    always @* begin
        decode_reason = decode_reason_2;
        if (decode_valid_2 & drop_decode) begin
            decode_reason = drop_reason;
        end
    end

    warp_scheduler scheduler (
        .clk(clk),
        .rst(rst),
        .start_valid(start_valid),
        .start_slot(start_slot),
        .advance(advance),
        .issue_valid(scheduler_issue_valid),
        .issue_slot(scheduler_issue_slot),
        .issue_fresh(scheduler_issue_fresh),
        .idle_reason(scheduler_idle_reason),
        .hold_slot(hold_slot),
        .miss_valid(miss_valid),
        .wait_valid(wait_valid),
        .control_valid(control_valid),
        .filled(filled),
        .write_slot(write_slot),
        .resume_valid(resume_valid),
        .flush_valid(flush_valid_2),
        .flush_slot(flush_slot),
        .again_valid(again_valid_2),
        .ended_valid(ended_valid),
        .path_valid(path_valid),
        .path_slot(path_slot),
        .late_valid(late_valid),
        .late_slot(late_slot),
        .scratchpad_stored(scratchpad_stored),
        .scratchpad_slot(scratchpad_slot),
        .stored_valid(stored_valid),
        .stored_slot(stored_slot),
        .divided_valid(divided_valid),
        .stores_busy(stores_busy),
        .finish_valid(finish_valid),
        .finish_ready(finish_ready),
        .finish_slot(finish_slot),
        .occupied(occupied)
    );

    program_counters counters (
        .clk(clk),
        .rst(rst),
        .slot(context_held_slot),
        .pc(counters_pc),
        .sequential_valid(moves),
        .sequential_pc(after),
        .replay_valid(replay_valid),
        .replay_slot(hold_slot),
        .replay_pc(hold_pc),
        .jump_valid(jump_valid),
        .jump_slot(jump_slot),
        .jump_pc(jump_pc)
    );

    ram_sync_38_5 start (
        .clk(clk),
        .write_enable(start_valid),
        .write_address(start_slot),
        .write_data({start_count, start_packet}),
        .read_enable(advance),
        .read_address(scheduler_issue_slot),
        .read_data(start_read_data)
    );

    ram_sync_6_5 depth (
        .clk(clk),
        .write_enable(context_write),
        .write_address(context_slot),
        .write_data(context_depth),
        .read_enable(advance),
        .read_address(scheduler_issue_slot),
        .read_data(depth_read_data)
    );

    ram_sync_2_5 active (
        .clk(clk),
        .write_enable(context_write),
        .write_address(context_slot),
        .write_data(context_active),
        .read_enable(advance),
        .read_address(scheduler_issue_slot),
        .read_data(active_read_data)
    );

    ram_sync_2_5 alive (
        .clk(clk),
        .write_enable(context_write),
        .write_address(context_slot),
        .write_data(context_alive),
        .read_enable(advance),
        .read_address(scheduler_issue_slot),
        .read_data(alive_read_data)
    );

    ram_sync_36_5 waiting (
        .clk(clk),
        .write_enable(context_write),
        .write_address(context_slot),
        .write_data(context_waiting),
        .read_enable(advance),
        .read_address(scheduler_issue_slot),
        .read_data(waiting_read_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            initial_ <= 32'd0;
            jump_valid <= 1'b0;
            jump_slot <= 5'd0;
            jump_pc <= 30'd0;
            flush_valid_2 <= 1'b0;
            flush_slot <= 5'd0;
            again_valid_2 <= 1'b0;
            context_valid <= 1'b0;
            context_held_slot <= 5'd0;
            context_fresh <= 1'b0;
            context_reason <= 3'd0;
            fetched_valid <= 1'b0;
            fetched_slot_2 <= 5'd0;
            fetched_pc_2 <= 30'd0;
            fetched_boot_2 <= 1'b0;
            fetched_last_of_boot <= 1'b0;
            fetched_depth <= 6'd0;
            fetched_active <= 2'd0;
            fetched_alive <= 2'd0;
            fetched_waiting <= 36'd0;
            fetched_packet <= 32'd0;
            fetched_reason <= 3'd0;
            decode_valid_2 <= 1'b0;
            decode_slot_2 <= 5'd0;
            decode_pc_2 <= 30'd0;
            decode_boot_2 <= 1'b0;
            decode_meets_2 <= 1'b0;
            decode_depth_2 <= 6'd0;
            decode_active_2 <= 2'd0;
            decode_alive_2 <= 2'd0;
            decode_waiting_2 <= 36'd0;
            decode_packet_2 <= 32'd0;
            decode_reason_2 <= 3'd0;
        end else begin
            flush_valid_2 <= flush_valid;
            flush_slot <= write_slot;
            again_valid_2 <= again_valid;
            jump_valid <= context_write;
            jump_slot <= context_slot;
            jump_pc <= context_pc;
            initial_ <= (initial_ & ~written) | started;
            context_valid <= context_valid & !drop_context;
            if (context_valid & drop_context) begin
                context_reason <= drop_reason;
            end
            if (advance) begin
                context_valid <= scheduler_issue_valid & !drop_issued;
                context_held_slot <= scheduler_issue_slot;
                context_fresh <= scheduler_issue_fresh;
                context_reason <= drop_reason;
                if (!scheduler_issue_valid) begin
                    context_reason <= scheduler_idle_reason;
                end
            end
            fetched_valid <= fetched_valid & !drop_fetched;
            if (fetched_valid & drop_fetched) begin
                fetched_reason <= drop_reason;
            end
            if (advance) begin
                fetched_valid <= moves;
                fetched_slot_2 <= context_held_slot;
                fetched_pc_2 <= pc;
                fetched_boot_2 <= boot;
                fetched_last_of_boot <= last_of_boot;
                fetched_depth <= call_depth;
                fetched_active <= running;
                fetched_alive <= living;
                fetched_waiting <= best_waiting;
                fetched_packet <= start_read_data[31:0];
                fetched_reason <= context_reason;
                if (context_valid) begin
                    fetched_reason <= LOST_CYCLE_NONE;
                    if (drop_context) begin
                        fetched_reason <= drop_reason;
                    end
                end
            end
            decode_valid_2 <= decode_valid_2 & !drop_decode;
            if (decode_valid_2 & drop_decode) begin
                decode_reason_2 <= drop_reason;
            end
            if (advance) begin
                decode_valid_2 <= fetched_valid & !drop_fetched;
                decode_slot_2 <= fetched_slot_2;
                decode_pc_2 <= fetched_pc_2;
                decode_boot_2 <= fetched_boot_2;
                decode_meets_2 <= meets;
                decode_depth_2 <= fetched_depth;
                decode_active_2 <= fetched_active;
                decode_alive_2 <= fetched_alive;
                decode_waiting_2 <= fetched_waiting;
                decode_packet_2 <= fetched_packet;
                decode_reason_2 <= fetched_reason;
                if (fetched_valid & drop_fetched) begin
                    decode_reason_2 <= drop_reason;
                end
            end
        end
    end
endmodule

