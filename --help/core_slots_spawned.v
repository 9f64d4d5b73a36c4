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
module core_slots_spawned (
    input  wire        clk,              // Rising-edge clock
    input  wire        rst,              // Synchronous reset, active high: all slots are idle
    input  wire [5:0]  limit,            // Warps that may be on the core at a time, 0 to 32
    input  wire [31:0] allowed,          // The slots that may be taken
    input  wire        take,             // The shown slot is taken at this edge
    input  wire        free,             // free_slot becomes idle at this edge
    input  wire [4:0]  free_slot,        // The slot to free
    output wire        available,        // The core can take a warp
    output wire [4:0]  slot,             // The lowest idle slot among the allowed ones
    input  wire [5:0]  spawn_limit,
    input  wire        take_spawned,     // What is taken with take is for a warp of spawned threads
    output wire        spawn_available   // The core can take a warp of spawned threads
);

    reg  [31:0] taken;
    reg  [31:0] freed;
    wire idle;
    wire freed_spawned;
    wire packet_in;
    wire packet_out;
    wire spawned_in;
    wire spawned_out;
    reg  [31:0] busy;
    reg  [5:0] warps;
    wire [31:0] encoder_request;
    wire [31:0] encoder_one_hot;
    reg  [31:0] spawned_0;
    reg  [5:0] spawned_warps_0;

    assign encoder_request = allowed & ~busy;

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

    assign idle = |encoder_one_hot;
    assign freed_spawned = spawned_0[free_slot];
    assign packet_in = take & !take_spawned;
    assign packet_out = free & !freed_spawned;
    assign spawned_in = take & take_spawned;
    assign spawned_out = free & freed_spawned;
    assign available = (warps < limit) & idle;
    assign spawn_available = (spawned_warps_0 < spawn_limit) & idle;

    priority_encoder encoder_unit (
        .request(encoder_request),
        .one_hot(encoder_one_hot),
        .index(slot)
    );

    always @(posedge clk) begin
        if (rst) begin
            busy <= 32'd0;
            warps <= 6'd0;
            spawned_0 <= 32'd0;
            spawned_warps_0 <= 6'd0;
        end else begin
            busy <= (busy & ~freed) | taken;
            if (packet_in & !packet_out) begin
                warps <= warps + 6'd1;
            end
            if (packet_out & !packet_in) begin
                warps <= warps - 6'd1;
            end
            if (spawned_in & !spawned_out) begin
                spawned_warps_0 <= spawned_warps_0 + 6'd1;
            end
            if (spawned_out & !spawned_in) begin
                spawned_warps_0 <= spawned_warps_0 - 6'd1;
            end
            if (take) begin
                spawned_0 <= spawned_0 & ~taken;
                if (take_spawned) begin
                    spawned_0 <= spawned_0 | taken;
                end
            end
        end
    end
endmodule

