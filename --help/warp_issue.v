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

// Tracks which warp slots of one core are busy.
//
// 1. `available` and `slot` depend on the state, `limit` and `allowed` alone, in the same cycle.
// 2. `take` marks the shown slot busy; it is legal only while `available` is high.
// 3. `free` marks a busy slot idle; the slot can be taken again in the next cycle. Freeing an idle
//    slot is illegal.
// 4. `limit` may change at any time and holds for the warps to come. It must not exceed the number
//    of bits of `allowed`.
// 5. With a thread spawner warps of spawned threads count apart: packet warps may be on the core up to `limit`,
//    spawned warps up to `spawn_limit`, each while an allowed slot is idle.
module core_slots (
    input  wire        clk,        // Rising-edge clock
    input  wire        rst,        // Synchronous reset, active high: all slots are idle
    input  wire [5:0]  limit,      // Warps that may be on the core at a time, 0 to 32
    input  wire [31:0] allowed,    // The slots that may be taken
    input  wire        take,       // The shown slot is taken at this edge
    input  wire        free,       // free_slot becomes idle at this edge
    input  wire [4:0]  free_slot,  // The slot to free
    output wire        available,  // The core can take a warp
    output wire [4:0]  slot        // The lowest idle slot among the allowed ones
);

    reg  [31:0] taken;
    reg  [31:0] freed;
    reg  [31:0] busy;
    reg  [5:0] warps;
    wire [31:0] encoder_request;
    wire [31:0] encoder_one_hot;

    assign encoder_request = allowed & ~busy;
    assign available = warps < limit;

    always @* begin
        taken = 32'd0;
        if (take) begin
            taken = encoder_one_hot;
        end
    end

    always @* begin
        freed = 32'd0;
        if (free) begin
            freed = 32'd1 << free_slot;
        end
    end

    priority_encoder encoder_unit (
        .request(encoder_request),
        .one_hot(encoder_one_hot),
        .index(slot)
    );

    always @(posedge clk) begin
        if (rst) begin
            busy <= 32'd0;
            warps <= 6'd0;
        end else begin
            busy <= (busy & ~freed) | taken;
            if (take & !free) begin
                warps <= warps + 6'd1;
            end
            if (free & !take) begin
                warps <= warps - 6'd1;
            end
        end
    end
endmodule

// Round-robin arbiter for up to 32 requesters.
//
// 1. The outputs answer `request` in the same cycle; without a request they are zero.
// 2. The choice is the lowest requesting index above the last used one, or the lowest of all if
//    there is none. After reset index 0 comes first.
// 3. A choice counts as used at the rising edge at which `advance` is high: a requester that keeps
//    its request is chosen after at most one use by each other requester.
module round_robin (
    input  wire        clk,      // Rising-edge clock
    input  wire        rst,      // Synchronous reset, active high
    input  wire [31:0] request,  // One bit for each requester
    input  wire        advance,  // The present choice is used
    output wire        any,      // Something is requested
    output wire [31:0] grant,    // The choice, one-hot
    output wire [4:0]  index     // The choice as an index
);

    wire [63:0] wheel;
    wire [63:0] lowest;
    wire [31:0] choice;
    reg  [31:0] above;

    assign wheel = {request, request & above};
    assign lowest = wheel & (64'd0 - wheel);
    assign choice = lowest[31:0] | lowest[63:32];
    assign any = |request;
    assign grant = choice;

    binary_encoder encoder (
        .one_hot(choice),
        .index(index)
    );

    always @(posedge clk) begin
        if (rst) begin
            above <= 32'd0;
        end else begin
            if (advance) begin
                above <= ~(choice | (choice - 32'd1));
            end
        end
    end
endmodule

// Issues each formed warp to the next core, round-robin, that can take one.
//
// 1. A core can take a warp while it has fewer than min(`mcw`, slots for the kernel's register
//    class) warps: with `kernel_class` 0 (32 registers) at most 16, in slots 0 to 15; with 1 (16
//    registers) at most 32. Of the idle slots the lowest is used.
// 2. A warp moves on when a core can take it, the delay commit queue has room and `run` is high;
//    otherwise it waits, and nothing else is needed to resume. One warp a cycle is possible.
// 3. The `start_` outputs answer in the next cycle, for one cycle.
// 4. `mcw` and `kernel_class` may change at any time and hold for the warps to come.
// 5. A slot freed in cycle t can be used by a warp that moves on in cycle t + 1.
// 6. With a thread spawner a warp of spawned threads moves on when one of its cores has fewer than
//    `spawn_mcw` such warps and an idle slot of the register class; neither `run` nor the delay
//    commit queue matters. It goes before a packet warp, but never in two cycles in a row: when
//    both wait they alternate.
module warp_issue (
    input  wire        clk,             // Rising-edge clock
    input  wire        rst,             // Synchronous reset, active high
    input  wire        run,             // Register CONTROL, bit 0: warps are issued
    input  wire [5:0]  mcw,             // Register MCW: warps on a core at a time
    input  wire        kernel_class,    // Register KERNEL_CLASS
    input  wire        warp_valid,      // From the warp former: a warp is formed
    output wire        warp_ready,      // To the warp former: it is taken; does not depend on warp_valid
    input  wire [31:0] warp_packet,     // packetIdx of its first packet
    input  wire [5:0]  warp_count,      // Its packets
    output wire        idle_slot,       // To the warp former: some core can take a warp
    output wire        allocate_valid,  // To the delay commit queue: allocate an entry for this warp
    input  wire        allocate_ready,  // From the delay commit queue: there is room
    output wire [4:0]  allocate_core,   // The core that gets the warp
    output wire [4:0]  allocate_slot,   // The slot that gets the warp
    input  wire        free_valid,      // From the finish arbiter: a slot becomes idle
    input  wire [4:0]  free_core,       // Its core
    input  wire [4:0]  free_slot,       // The slot
    output wire [2:0]  start_valid,     // To each core: a warp starts there in this cycle
    output wire        start_any,       // A warp starts on some core
    output wire [4:0]  start_core,      // The core
    output wire [4:0]  start_slot,      // The slot
    output wire [31:0] start_packet,    // packetIdx of the warp's first packet
    output wire [5:0]  start_count      // The warp's packets
);

    localparam [31:0] CLASS_0_ALLOWED = 32'hffff;
    localparam [5:0] CLASS_0_SLOTS = 6'h10;
    localparam [31:0] CLASS_1_ALLOWED = 32'h1ffff;
    localparam [5:0] CLASS_1_SLOTS = 6'h11;
    localparam [4:0] INDEX_0 = 5'd0;
    localparam [4:0] INDEX_1 = 5'd1;
    localparam [4:0] INDEX_2 = 5'd2;
    reg  [5:0] limit;
    reg  [31:0] allowed;
    wire [31:0] request;
    reg  [4:0] slot;
    wire issue;
    wire slots_0_take;
    wire slots_0_free;
    wire [4:0] slots_0_slot;
    wire slots_1_take;
    wire slots_1_free;
    wire [4:0] slots_1_slot;
    wire slots_2_take;
    wire slots_2_free;
    wire [4:0] slots_2_slot;
    wire [31:0] arbiter_grant;
    reg  issued;
    reg  [4:0] issued_core;
    reg  [4:0] issued_slot;
    reg  [31:0] issued_packet;
    reg  [5:0] issued_count;

    always @* begin
        limit = CLASS_0_SLOTS;
        allowed = CLASS_0_ALLOWED;
        if (kernel_class) begin
            limit = CLASS_1_SLOTS;
            allowed = CLASS_1_ALLOWED;
        end
        if (mcw < limit) begin
            limit = mcw;
        end
    end

    assign request[31:3] = 29'd0;

    always @* begin
        slot = 5'd0;
        if (arbiter_grant[0]) begin
            slot = slots_0_slot;
        end
        if (arbiter_grant[1]) begin
            slot = slots_1_slot;
        end
        if (arbiter_grant[2]) begin
            slot = slots_2_slot;
        end
    end

    assign warp_ready = run & idle_slot & allocate_ready;
    assign allocate_valid = run & idle_slot & warp_valid;
    assign allocate_slot = slot;
    assign issue = run & idle_slot & warp_valid & allocate_ready;
    assign slots_0_take = issue & arbiter_grant[0];
    assign slots_0_free = free_valid & (free_core == INDEX_0);
    assign slots_1_take = issue & arbiter_grant[1];
    assign slots_1_free = free_valid & (free_core == INDEX_1);
    assign slots_2_take = issue & arbiter_grant[2];
    assign slots_2_free = free_valid & (free_core == INDEX_2);
    assign start_valid = {issued & (issued_core == INDEX_2), issued & (issued_core == INDEX_1), issued &
        (issued_core == INDEX_0)};
    assign start_any = issued;
    assign start_core = issued_core;
    assign start_slot = issued_slot;
    assign start_packet = issued_packet;
    assign start_count = issued_count;

    core_slots slots_0 (
        .clk(clk),
        .rst(rst),
        .limit(limit),
        .allowed(allowed),
        .take(slots_0_take),
        .free(slots_0_free),
        .free_slot(free_slot),
        .available(request[0]),
        .slot(slots_0_slot)
    );

    core_slots slots_1 (
        .clk(clk),
        .rst(rst),
        .limit(limit),
        .allowed(allowed),
        .take(slots_1_take),
        .free(slots_1_free),
        .free_slot(free_slot),
        .available(request[1]),
        .slot(slots_1_slot)
    );

    core_slots slots_2 (
        .clk(clk),
        .rst(rst),
        .limit(limit),
        .allowed(allowed),
        .take(slots_2_take),
        .free(slots_2_free),
        .free_slot(free_slot),
        .available(request[2]),
        .slot(slots_2_slot)
    );

    round_robin arbiter (
        .clk(clk),
        .rst(rst),
        .request(request),
        .advance(issue),
        .any(idle_slot),
        .grant(arbiter_grant),
        .index(allocate_core)
    );

    always @(posedge clk) begin
        if (rst) begin
            issued <= 1'b0;
            issued_core <= 5'd0;
            issued_slot <= 5'd0;
            issued_packet <= 32'd0;
            issued_count <= 6'd0;
        end else begin
            issued <= issue;
            if (issue) begin
                issued_core <= allocate_core;
                issued_slot <= slot;
                issued_packet <= warp_packet;
                issued_count <= warp_count;
            end
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, arbiter_grant[31:3]};
endmodule

