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

// Round-robin arbiter of the cores' finish ports.
//
// 1. In each cycle one of the cores with `finish_valid` gets `finish_ready`, round-robin.
// 2. The event outputs report it in the next cycle, for one cycle. In that cycle the lookup table
//    is read and the slot is freed, so that a new warp cannot overwrite the slot's entry before.
module finish_arbiter (
    input  wire        clk,           // Rising-edge clock
    input  wire        rst,           // Synchronous reset, active high
    input  wire [2:0]  finish_valid,  // From each core: a warp finished
    output wire [2:0]  finish_ready,  // To each core: it is taken; depends on every finish_valid
    input  wire [14:0] finish_slot,   // From each core: the slot of the warp
    output wire        event_valid,   // A warp finished
    output wire [4:0]  event_core,    // Its core
    output wire [4:0]  event_slot     // Its slot
);

    wire [31:0] request;
    wire arbiter_any;
    wire [31:0] arbiter_grant;
    wire [4:0] arbiter_index;
    reg  valid;
    reg  [4:0] core;
    reg  [4:0] slot;

    assign request = {29'd0, finish_valid};
    assign finish_ready = arbiter_grant[2:0];
    assign event_valid = valid;
    assign event_core = core;
    assign event_slot = slot;

    round_robin arbiter (
        .clk(clk),
        .rst(rst),
        .request(request),
        .advance(arbiter_any),
        .any(arbiter_any),
        .grant(arbiter_grant),
        .index(arbiter_index)
    );

    always @(posedge clk) begin
        if (rst) begin
            valid <= 1'b0;
            core <= 5'd0;
            slot <= 5'd0;
        end else begin
            valid <= arbiter_any;
            core <= arbiter_index;
            if (arbiter_grant[0]) begin
                slot <= finish_slot[4:0];
            end
            if (arbiter_grant[1]) begin
                slot <= finish_slot[9:5];
            end
            if (arbiter_grant[2]) begin
                slot <= finish_slot[14:10];
            end
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, arbiter_grant[31:3]};
endmodule

