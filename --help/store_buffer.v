// 8 words of 71 bits, one write port, one combinational read port: distributed RAM.
module ram_sized_async_71_8 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [15:0] write_address,
    input  wire [70:0] write_data,
    input  wire [15:0] read_address,
    output wire [70:0] read_data
);

    reg [70:0] words [0:7];
    wire unused = &{1'b0, write_address[15:3], read_address[15:3]};
    always @(posedge clk) begin
        if (write_enable) words[write_address[2:0]] <= write_data;
    end
    assign read_data = words[read_address[2:0]];
endmodule

// Write and read address, `full` and `empty` of a queue of `2^A` entries.
//
// The entries stand in one or more [`RamAsync`] that the owner connects to `write_address` and
// `read_address`.
//
// 1. `push` at an edge appends the entry at `write_address`; it is readable from the next cycle
//    on.
// 2. `pop` at an edge removes the entry at `read_address`.
// 3. Outputs come from registers. Push while `full` and pop while `empty` are illegal; both in the
//    same cycle are legal otherwise and leave the level as it is.
module queue_pointers_5 (
    input  wire       clk,            // Rising-edge clock
    input  wire       rst,            // Synchronous reset, active high: empties the queue
    input  wire       push,           // Appends an entry at this edge
    input  wire       pop,            // Removes the oldest entry at this edge
    output wire [4:0] write_address,  // Where the next entry goes
    output wire [4:0] read_address,   // Where the oldest entry stands
    output wire       full,           // No entry is free
    output wire       empty           // No entry is in the queue
);

    reg  [4:0] tail;
    reg  [4:0] head;
    reg  all_used;

    assign write_address = tail;
    assign read_address = head;
    assign full = all_used;
    assign empty = (tail == head) && !all_used;

    always @(posedge clk) begin
        if (rst) begin
            tail <= 5'd0;
            head <= 5'd0;
            all_used <= 1'b0;
        end else begin
            if (push) begin
                tail <= tail + 5'd1;
            end
            if (pop) begin
                head <= head + 5'd1;
            end
            if (push && !pop) begin
                all_used <= (tail + 5'd1) == head;
            end else if (pop && !push) begin
                all_used <= 1'b0;
            end
        end
    end
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

// One queue of the stores of all harts, in the order in which they retire, and what each hart has
// outstanding.
//
// 1. `push_valid` in stage W appends a store; it is on offer from the next cycle on, if nothing is
//    in front of it, and stays until it is accepted. It must not come while `full` of its hart is
//    high.
// 2. A store is outstanding from the edge of its `push_valid` to that of its acknowledgement
//    (`written_valid`); these come in any order. `none` and `full` are registers' values.
// 3. There is a place for each store that may be outstanding: the queue is never full, and waits
//    for nothing.
// 4. A store is one word with four strobes; the line repeats the word 16 times.
// 5. Tags: bit 5 low, hart in bits 4:3, in bits 2:0 a number that no other outstanding store of
//    the hart has; with eight harts the hart in bits 4:2, the number in bits 1:0. Tag 31 is that of the
//    completion words of the thread spawner: hart 3 of four, and 7 of eight, has one number fewer.
module store_buffer (
    input  wire         clk,            // Rising-edge clock
    input  wire         rst,            // Synchronous reset, active high: the buffer is empty
    input  wire         push_valid,     // Stage W: a store retires
    input  wire [2:0]   push_hart,      // Its hart
    input  wire [29:0]  push_place,     // Its address, bits 31:2
    input  wire [31:0]  push_data,      // The word
    input  wire [3:0]   push_strobe,    // Bytes of the word to write
    output wire [7:0]   none,           // Harts that have no store outstanding
    output wire [7:0]   full,           // Harts that have as many stores outstanding as they may
    output wire         write_valid,    // To memory: a store is on offer
    input  wire         write_ready,    // From memory: it is accepted at this edge
    output wire [25:0]  write_line,     // Its line address
    output wire [511:0] write_data,     // The line, byte 0 in bits 7:0
    output wire [63:0]  write_strobe,   // Bytes to write
    output wire [5:0]   write_tag,      // Tag for the acknowledgement
    input  wire         written_valid,  // From memory: a store is performed, and every later read sees it
    input  wire [5:0]   written_tag     // Its tag
);

    localparam [2:0] HART_0 = 3'd0;
    reg  [7:0] taken;
    wire [7:0] empty_harts;
    wire [7:0] full_harts;
    wire [2:0] number;
    wire [4:0] tag;
    wire [2:0] ended_hart;
    wire [2:0] ended_number;
    reg  [7:0] starts;
    reg  [7:0] ends;
    wire [70:0] entry;
    wire [63:0] pair;
    wire [127:0] four;
    wire [255:0] eight;
    reg  [63:0] strobe;
    wire queue_pop;
    wire [4:0] queue_write_address;
    wire [4:0] queue_read_address;
    wire queue_full_unused;
    wire queue_empty;
    wire [31:0] free_request;
    wire [31:0] free_one_hot;
    wire [4:0] free_index;
    reg  [7:0] numbers_0;

    always @* begin
        taken = 8'd0;
        if (push_hart == HART_0) begin
            taken = numbers_0;
        end
    end

    assign empty_harts = {7'd0, !(|numbers_0)};
    assign full_harts = {7'd0, &numbers_0};
    assign none = empty_harts;
    assign full = full_harts;
    assign free_request = {24'd0, ~taken};
    assign number = free_index[2:0];
    assign tag = {push_hart[1:0], number};
    assign ended_hart = {1'b0, written_tag[4:3]};
    assign ended_number = written_tag[2:0];

    always @* begin
        starts = 8'd0;
        if (push_valid & (push_hart == HART_0)) begin
            starts = free_one_hot[7:0];
        end
    end

    always @* begin
        ends = 8'd0;
        if (written_valid & !written_tag[5] & (ended_hart == HART_0)) begin
            ends = 8'd1 << ended_number;
        end
    end

    assign queue_pop = !queue_empty & write_ready;
    assign write_valid = !queue_empty;
    assign write_tag = {1'b0, entry[70:66]};
    assign write_line = entry[61:36];
    assign pair = {entry[31:0], entry[31:0]};
    assign four = {pair, pair};
    assign eight = {four, four};
    assign write_data = {eight, eight};

    always @* begin
        strobe = 64'd0;
        if (entry[35:32] == 4'd0) begin
            strobe = {60'd0, entry[65:62]};
        end
        if (entry[35:32] == 4'd1) begin
            strobe = {56'd0, entry[65:62], 4'd0};
        end
        if (entry[35:32] == 4'd2) begin
            strobe = {52'd0, entry[65:62], 8'd0};
        end
        if (entry[35:32] == 4'd3) begin
            strobe = {48'd0, entry[65:62], 12'd0};
        end
        if (entry[35:32] == 4'd4) begin
            strobe = {44'd0, entry[65:62], 16'd0};
        end
        if (entry[35:32] == 4'd5) begin
            strobe = {40'd0, entry[65:62], 20'd0};
        end
        if (entry[35:32] == 4'd6) begin
            strobe = {36'd0, entry[65:62], 24'd0};
        end
        if (entry[35:32] == 4'd7) begin
            strobe = {32'd0, entry[65:62], 28'd0};
        end
        if (entry[35:32] == 4'd8) begin
            strobe = {28'd0, entry[65:62], 32'd0};
        end
        if (entry[35:32] == 4'd9) begin
            strobe = {24'd0, entry[65:62], 36'd0};
        end
        if (entry[35:32] == 4'd10) begin
            strobe = {20'd0, entry[65:62], 40'd0};
        end
        if (entry[35:32] == 4'd11) begin
            strobe = {16'd0, entry[65:62], 44'd0};
        end
        if (entry[35:32] == 4'd12) begin
            strobe = {12'd0, entry[65:62], 48'd0};
        end
        if (entry[35:32] == 4'd13) begin
            strobe = {8'd0, entry[65:62], 52'd0};
        end
        if (entry[35:32] == 4'd14) begin
            strobe = {4'd0, entry[65:62], 56'd0};
        end
        if (entry[35:32] == 4'd15) begin
            strobe = {entry[65:62], 60'd0};
        end
    end

    assign write_strobe = strobe;

    ram_sized_async_71_8 entries (
        .clk(clk),
        .write_enable(push_valid),
        .write_address({11'd0, queue_write_address}),
        .write_data({tag, push_strobe, push_place, push_data}),
        .read_address({11'd0, queue_read_address}),
        .read_data(entry)
    );

    queue_pointers_5 queue_ (
        .clk(clk),
        .rst(rst),
        .push(push_valid),
        .pop(queue_pop),
        .write_address(queue_write_address),
        .read_address(queue_read_address),
        .full(queue_full_unused),
        .empty(queue_empty)
    );

    priority_encoder free (
        .request(free_request),
        .one_hot(free_one_hot),
        .index(free_index)
    );

    always @(posedge clk) begin
        if (rst) begin
            numbers_0 <= 8'd0;
        end else begin
            numbers_0 <= (numbers_0 & ~ends) | starts;
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, free_one_hot[31:8], free_index[4:3]};
endmodule

