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

// 32 words of 117 bits, one write port, one registered read port: block RAM.
module ram_sync_fault_record_5 (
    input  wire         clk,
    input  wire         write_enable,
    input  wire [4:0]   write_address,
    input  wire [116:0] write_data,
    input  wire         read_enable,
    input  wire [4:0]   read_address,
    output wire [116:0] read_data
);

    reg [116:0] words [0:31];
    reg [116:0] data;
    always @(posedge clk) begin
        if (read_enable) data <= words[read_address];
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = data;
endmodule

// Synchronous first-word-fall-through FIFO of `2^A` words in block RAM; `L` is `A + 1`.
//
// 1. Valid/ready on both sides; one push and one pop in every cycle are possible, also when full
//    but for the push: `push_ready` is low while `2^A` words are inside.
// 2. A word pushed into an empty FIFO in cycle t shows at the output in cycle t + 2.
// 3. No output depends on an input of the same cycle.
module sync_fifo_fault_record_5_6 (
    input  wire         clk,         // Rising-edge clock
    input  wire         rst,         // Synchronous reset, active high: empties the FIFO
    input  wire         push_valid,  // A word is offered
    output wire         push_ready,  // There is room
    input  wire [116:0] push_data,   // The word
    output wire         pop_valid,   // The oldest word is shown
    input  wire         pop_ready,   // The oldest word is taken
    output wire [116:0] pop_data,    // The oldest word; undefined while pop_valid is low
    output wire [5:0]   level        // Words inside, 0 to 2^A
);

    localparam [5:0] CAPACITY = 6'h20;
    wire push;
    wire pop;
    reg  in_ram;
    wire fetch;
    reg  [4:0] write_pointer;
    reg  [4:0] read_pointer;
    reg  [5:0] words;
    reg  shown;

    assign push_ready = words != CAPACITY;
    assign pop_valid = shown;
    assign level = words;
    assign push = push_valid & (words != CAPACITY);
    assign pop = shown & pop_ready;

    always @* begin
        in_ram = words != 6'd0;
        if (shown) begin
            in_ram = words != 6'd1;
        end
    end

    assign fetch = in_ram & (!shown | pop);

    ram_sync_fault_record_5 ram (
        .clk(clk),
        .write_enable(push),
        .write_address(write_pointer),
        .write_data(push_data),
        .read_enable(fetch),
        .read_address(read_pointer),
        .read_data(pop_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            write_pointer <= 5'd0;
            read_pointer <= 5'd0;
            words <= 6'd0;
            shown <= 1'b0;
        end else begin
            if (push) begin
                write_pointer <= write_pointer + 5'd1;
            end
            if (fetch) begin
                read_pointer <= read_pointer + 5'd1;
            end
            shown <= fetch | (shown & !pop);
            if (push & !pop) begin
                words <= words + 6'd1;
            end
            if (pop & !push) begin
                words <= words - 6'd1;
            end
        end
    end
endmodule

// Collects the cores' fault records, round-robin, in a FIFO of 32 that the host reads.
//
// 1. In each cycle one of the cores with `fault_valid` gets `fault_ready`, round-robin: a core
//    waits for at most one record of each other core, never for the host.
// 2. A record that finds the FIFO full is dropped and counted in `dropped`; its threads count in
//    `faults` like those of any record, two cycles after the record was taken.
// 3. The `oldest_` outputs show the oldest record, zero if there is none; `pop` removes it. A
//    record shows at the earliest four cycles after it was taken.
module fault_collector (
    input  wire        clk,             // Rising-edge clock
    input  wire        rst,             // Synchronous reset, active high
    input  wire [2:0]  fault_valid,     // From each core: threads of a warp faulted
    output wire [2:0]  fault_ready,     // To each core: the record is taken; depends on every fault_valid
    input  wire [14:0] fault_cause,     // From each core: cause
    input  wire [14:0] fault_slot,      // From each core: warp slot
    input  wire [17:0] fault_threads,   // From each core: threads of the warp that the fault ended
    input  wire [95:0] fault_pc,        // From each core: address of the instruction
    input  wire [95:0] fault_address,   // From each core: what RISC-V writes to mtval
    input  wire [95:0] fault_packet,    // From each core: packetIdx of the lowest faulting lane
    input  wire        pop,             // From the host: the oldest record is removed; without effect if there is none
    output wire [15:0] level,           // Records in the FIFO
    output wire [15:0] dropped,         // Records dropped since reset, modulo 2^16
    output wire [31:0] faults,          // Threads ended by a fault since reset, modulo 2^32
    output reg  [4:0]  oldest_cause,    // Of the oldest record: cause
    output reg  [4:0]  oldest_core,     // Of the oldest record: core
    output reg  [4:0]  oldest_slot,     // Of the oldest record: warp slot
    output reg  [5:0]  oldest_threads,  // Of the oldest record: threads of the warp that the fault ended
    output reg  [31:0] oldest_pc,       // Of the oldest record: address of the instruction
    output reg  [31:0] oldest_address,  // Of the oldest record: what RISC-V writes to mtval
    output reg  [31:0] oldest_packet    // Of the oldest record: packetIdx of the lowest faulting lane
);

    localparam FAULT_RECORD_CAUSE = 0;
    localparam FAULT_RECORD_CORE = 5;
    localparam FAULT_RECORD_SLOT = 10;
    localparam FAULT_RECORD_THREADS = 15;
    localparam FAULT_RECORD_PC = 21;
    localparam FAULT_RECORD_ADDRESS = 53;
    localparam FAULT_RECORD_PACKET = 85;
    wire [31:0] request;
    wire arbiter_any;
    wire [31:0] arbiter_grant;
    wire [4:0] arbiter_index;
    wire fifo_push_ready;
    wire fifo_pop_valid;
    wire [116:0] fifo_pop_data;
    reg  taken;
    reg  [116:0] record;
    reg  [15:0] drops;
    reg  [31:0] threads;

    assign request = {29'd0, fault_valid};
    assign fault_ready = arbiter_grant[2:0];
    assign faults = threads;
    assign dropped = drops;
    assign level[15:6] = 10'd0;

    always @* begin
        oldest_cause = 5'd0;
        oldest_core = 5'd0;
        oldest_slot = 5'd0;
        oldest_threads = 6'd0;
        oldest_pc = 32'd0;
        oldest_address = 32'd0;
        oldest_packet = 32'd0;
        if (fifo_pop_valid) begin
            oldest_cause = fifo_pop_data[FAULT_RECORD_CAUSE +: 5];
            oldest_core = fifo_pop_data[FAULT_RECORD_CORE +: 5];
            oldest_slot = fifo_pop_data[FAULT_RECORD_SLOT +: 5];
            oldest_threads = fifo_pop_data[FAULT_RECORD_THREADS +: 6];
            oldest_pc = fifo_pop_data[FAULT_RECORD_PC +: 32];
            oldest_address = fifo_pop_data[FAULT_RECORD_ADDRESS +: 32];
            oldest_packet = fifo_pop_data[FAULT_RECORD_PACKET +: 32];
        end
    end

    round_robin arbiter (
        .clk(clk),
        .rst(rst),
        .request(request),
        .advance(arbiter_any),
        .any(arbiter_any),
        .grant(arbiter_grant),
        .index(arbiter_index)
    );

    sync_fifo_fault_record_5_6 fifo (
        .clk(clk),
        .rst(rst),
        .push_valid(taken),
        .push_ready(fifo_push_ready),
        .push_data(record),
        .pop_valid(fifo_pop_valid),
        .pop_ready(pop),
        .pop_data(fifo_pop_data),
        .level(level[5:0])
    );

    always @(posedge clk) begin
        if (rst) begin
            taken <= 1'b0;
            record <= 117'd0;
            drops <= 16'd0;
            threads <= 32'd0;
        end else begin
            taken <= arbiter_any;
            record[FAULT_RECORD_CORE +: 5] <= arbiter_index;
            if (arbiter_grant[0]) begin
                record[FAULT_RECORD_CAUSE +: 5] <= fault_cause[4:0];
                record[FAULT_RECORD_SLOT +: 5] <= fault_slot[4:0];
                record[FAULT_RECORD_THREADS +: 6] <= fault_threads[5:0];
                record[FAULT_RECORD_PC +: 32] <= fault_pc[31:0];
                record[FAULT_RECORD_ADDRESS +: 32] <= fault_address[31:0];
                record[FAULT_RECORD_PACKET +: 32] <= fault_packet[31:0];
            end
            if (arbiter_grant[1]) begin
                record[FAULT_RECORD_CAUSE +: 5] <= fault_cause[9:5];
                record[FAULT_RECORD_SLOT +: 5] <= fault_slot[9:5];
                record[FAULT_RECORD_THREADS +: 6] <= fault_threads[11:6];
                record[FAULT_RECORD_PC +: 32] <= fault_pc[63:32];
                record[FAULT_RECORD_ADDRESS +: 32] <= fault_address[63:32];
                record[FAULT_RECORD_PACKET +: 32] <= fault_packet[63:32];
            end
            if (arbiter_grant[2]) begin
                record[FAULT_RECORD_CAUSE +: 5] <= fault_cause[14:10];
                record[FAULT_RECORD_SLOT +: 5] <= fault_slot[14:10];
                record[FAULT_RECORD_THREADS +: 6] <= fault_threads[17:12];
                record[FAULT_RECORD_PC +: 32] <= fault_pc[95:64];
                record[FAULT_RECORD_ADDRESS +: 32] <= fault_address[95:64];
                record[FAULT_RECORD_PACKET +: 32] <= fault_packet[95:64];
            end
            if (taken) begin
                threads <= threads + {26'd0, record[FAULT_RECORD_THREADS +: 6]};
                if (!fifo_push_ready) begin
                    drops <= drops + 16'd1;
                end
            end
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, arbiter_grant[31:3]};
endmodule

