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

// Writes the completion words of the jobs that have ended, one at a time.
//
// 1. In a cycle without a job under way one of the `ended` slots is taken, round-robin. In the next
//    cycle its word is offered to the L2, and stays until it is accepted.
// 2. `freed_valid` is high in the cycle in which the L2 acknowledges the write: from then on every
//    read of any requester sees it. Without a completion word (`completion` is 0, no multiple of 4,
//    or 0xfff0_0000 or above) it is high in the cycle after the job was taken.
// 3. The word is TOKEN; with bit 31 set if one of the threads ended with a fault; 0xc000_0000 +
//    `code` if the descriptor was rejected.
// 4. Every write has the tag [`COMPLETION_TAG`](super::COMPLETION_TAG); acknowledgements of other
//    tags do not matter.
module completion_writer (
    input  wire         clk,                  // Rising-edge clock
    input  wire         rst,                  // Synchronous reset, active high: nothing is under way
    input  wire [15:0]  ended,                // Slots of the jobs that have ended
    output wire         end_taken,            // The job of end_slot is taken at this edge
    output wire [3:0]   end_slot,             // The slot of the job that comes next, or would
    input  wire [31:0]  completion,           // Of that job: word COMPLETION
    input  wire [31:0]  token,                // Of that job: word TOKEN
    input  wire [2:0]   code,                 // Of that job: why its descriptor was rejected; 0: it was not
    input  wire         faulted,              // Of that job: one of its threads ended with a fault
    // To the L2. The write port of a requester of the L2, and its answer:
    output wire         write_valid,          // A line is to be written
    input  wire         write_ready,          // The write is accepted at this edge
    output wire [25:0]  write_line,           // Its line address
    output wire [511:0] write_data,           // The line, byte 0 in bits 7:0
    output wire [63:0]  write_strobe,         // Bytes to write
    output wire [5:0]   write_tag,            // Tag for the answer
    input  wire         write_written_valid,  // A write is performed, and every later read of any requester sees it
    input  wire [5:0]   write_written_tag,    // Its tag
    output wire         freed_valid,          // A slot becomes free
    output wire [3:0]   freed_slot,           // The slot
    output wire         misaligned
);

    wire take;
    wire bad_address;
    wire [63:0] two;
    wire [127:0] four;
    wire [255:0] eight;
    wire written;
    wire ends;
    wire arbiter_any;
    wire [31:0] arbiter_grant_unused;
    wire [4:0] arbiter_index;
    reg  under_way;
    reg  offered;
    reg  silent;
    reg  [3:0] slot;
    reg  [29:0] address;
    reg  [31:0] value;

    assign take = arbiter_any & !under_way;
    assign end_taken = take;
    assign end_slot = arbiter_index[3:0];
    assign bad_address = (|completion[1:0]) | (&completion[31:20]);
    assign misaligned = take & bad_address;
    assign write_valid = offered;
    assign write_line = address[29:4];
    assign write_strobe = 64'd15 << {address[3:0], 2'd0};
    assign two = {value, value};
    assign four = {two, two};
    assign eight = {four, four};
    assign write_data = {eight, eight};
    assign write_tag = 6'h1f;
    assign written = write_written_valid & (write_written_tag == 6'h1f);
    assign ends = under_way & (silent | written);
    assign freed_valid = ends;
    assign freed_slot = slot;

    round_robin arbiter (
        .clk(clk),
        .rst(rst),
        .request({16'd0, ended}),
        .advance(take),
        .any(arbiter_any),
        .grant(arbiter_grant_unused),
        .index(arbiter_index)
    );

    always @(posedge clk) begin
        if (rst) begin
            under_way <= 1'b0;
            offered <= 1'b0;
            silent <= 1'b0;
            slot <= 4'd0;
            address <= 30'd0;
            value <= 32'd0;
        end else begin
            if (take) begin
                slot <= arbiter_index[3:0];
                address <= completion[31:2];
                value <= token & 32'h3fffffff;
                if (faulted) begin
                    value <= 32'h80000000 | (token & 32'h3fffffff);
                end
                if (|code) begin
                    value <= {29'h18000000, code};
                end
                under_way <= 1'b1;
                silent <= bad_address | !(|completion);
                offered <= !bad_address & (|completion);
            end
            if (offered & write_ready) begin
                offered <= 1'b0;
            end
            if (ends) begin
                under_way <= 1'b0;
            end
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, arbiter_index[4]};
endmodule

