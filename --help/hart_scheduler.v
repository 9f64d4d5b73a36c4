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

// Chooses the hart that fetches in a cycle, among those that may.
//
// 1. `valid` and `hart` answer `ready` and `open` in the same cycle; a hart that is chosen fetches.
// 2. First comes, once, a hart that was made to go on elsewhere (`redirected`, an interrupt, a trap, `mret`) in an earlier
//    cycle; of several the lowest.
// 3. Then those take turns whose next PC is certain; then those with a jump or branch in the pipeline that is not resolved
//    (`open`), whose fetch may be in vain. So four harts that run lose no slot to a wrong path.
// 4. While a hart may fetch and is not open, each other hart fetches once at most, but for what 2 lets go first.
module hart_scheduler (
    input  wire       clk,         // Rising-edge clock
    input  wire       rst,         // Synchronous reset, active high
    input  wire [7:0] ready,       // Harts that may fetch
    input  wire [7:0] open,        // Harts with a jump or branch in the pipeline that is not resolved
    input  wire [7:0] redirected,  // Harts that are made to go on elsewhere at this edge
    input  wire [7:0] hold,        // Harts that are held: they go first no longer
    output wire       valid,       // A hart fetches
    output reg  [2:0] hart         // The hart
);

    wire [7:0] wants_first;
    wire [7:0] certain;
    reg  [7:0] served;
    reg  [7:0] goes_first;
    wire [31:0] first_one_hot;
    wire [4:0] first_index;
    reg  [31:0] turns_request;
    wire turns_advance;
    wire turns_any_unused;
    wire [31:0] turns_grant_unused;
    wire [4:0] turns_index;

    assign wants_first = ready & goes_first;
    assign certain = ready & ~open;

    always @* begin
        turns_request = {24'd0, ready};
        if (|certain) begin
            turns_request = {24'd0, certain};
        end
    end

    assign turns_advance = (|ready) & !(|wants_first);
    assign valid = |ready;

    always @* begin
        hart = turns_index[2:0];
        served = 8'd0;
        if (|wants_first) begin
            hart = first_index[2:0];
            served = first_one_hot[7:0];
        end
    end

    priority_encoder first_unit (
        .request({24'd0, wants_first}),
        .one_hot(first_one_hot),
        .index(first_index)
    );

    round_robin turns (
        .clk(clk),
        .rst(rst),
        .request(turns_request),
        .advance(turns_advance),
        .any(turns_any_unused),
        .grant(turns_grant_unused),
        .index(turns_index)
    );

    always @(posedge clk) begin
        if (rst) begin
            goes_first <= 8'd0;
        end else begin
            goes_first <= ((goes_first & ~served) | redirected) & ~hold;
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, first_one_hot[31:8], first_index[4:3], turns_index[4:3]};
endmodule

