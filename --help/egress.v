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
module queue_pointers_2 (
    input  wire       clk,            // Rising-edge clock
    input  wire       rst,            // Synchronous reset, active high: empties the queue
    input  wire       push,           // Appends an entry at this edge
    input  wire       pop,            // Removes the oldest entry at this edge
    output wire [1:0] write_address,  // Where the next entry goes
    output wire [1:0] read_address,   // Where the oldest entry stands
    output wire       full,           // No entry is free
    output wire       empty           // No entry is in the queue
);

    reg  [1:0] tail;
    reg  [1:0] head;
    reg  all_used;

    assign write_address = tail;
    assign read_address = head;
    assign full = all_used;
    assign empty = (tail == head) && !all_used;

    always @(posedge clk) begin
        if (rst) begin
            tail <= 2'd0;
            head <= 2'd0;
            all_used <= 1'b0;
        end else begin
            if (push) begin
                tail <= tail + 2'd1;
            end
            if (pop) begin
                head <= head + 2'd1;
            end
            if (push && !pop) begin
                all_used <= (tail + 2'd1) == head;
            end else if (pop && !push) begin
                all_used <= 1'b0;
            end
        end
    end
endmodule

// 4 words of 512 bits, one write port, one combinational read port: distributed RAM.
module ram_async_512_2 (
    input  wire         clk,
    input  wire         write_enable,
    input  wire [1:0]   write_address,
    input  wire [511:0] write_data,
    input  wire [1:0]   read_address,
    output wire [511:0] read_data
);

    reg [511:0] words [0:3];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// 4 words of 4 bits, one write port, one combinational read port: distributed RAM.
module ram_async_4_2 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [1:0] write_address,
    input  wire [3:0] write_data,
    input  wire [1:0] read_address,
    output wire [3:0] read_data
);

    reg [3:0] words [0:3];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// 4 words of 5 bits, one write port, one combinational read port: distributed RAM.
module ram_async_5_2 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [1:0] write_address,
    input  wire [4:0] write_data,
    input  wire [1:0] read_address,
    output wire [4:0] read_data
);

    reg [4:0] words [0:3];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// A word of a 64-byte line.
//
// Combinational: `word` answers the inputs in the same cycle and is 0 while `enable` is low.
module word_select (
    input  wire         enable,  // A word is wanted
    input  wire [511:0] line,    // The line, byte 0 in bits 7:0
    input  wire [3:0]   index,   // Index of the word in the line
    output reg  [31:0]  word     // The word
);

    always @* begin
        word = 32'd0;
        if (enable) begin
            case (index)
                4'd0: begin
                    word = line[31:0];
                end
                4'd1: begin
                    word = line[63:32];
                end
                4'd2: begin
                    word = line[95:64];
                end
                4'd3: begin
                    word = line[127:96];
                end
                4'd4: begin
                    word = line[159:128];
                end
                4'd5: begin
                    word = line[191:160];
                end
                4'd6: begin
                    word = line[223:192];
                end
                4'd7: begin
                    word = line[255:224];
                end
                4'd8: begin
                    word = line[287:256];
                end
                4'd9: begin
                    word = line[319:288];
                end
                4'd10: begin
                    word = line[351:320];
                end
                4'd11: begin
                    word = line[383:352];
                end
                4'd12: begin
                    word = line[415:384];
                end
                4'd13: begin
                    word = line[447:416];
                end
                4'd14: begin
                    word = line[479:448];
                end
                default: begin
                    word = line[511:480];
                end
            endcase
        end
    end
endmodule

// Reads lines of the verdict array and hands out the words of committed packets, one after the
// other.
//
// 1. A line is requested when all packets that still have a word in it are committed; or some of
//    them, if no other verdicts wait. The words of packets that are not committed at that time are
//    not used: their line is read again. Up to 4 lines are outstanding.
// 2. A line that cannot be read gives fault verdicts.
// 3. While `enable` is low nothing is requested. While `follow` is high, which needs `idle` and
//    `enable` low, all committed packets are skipped.
// 4. The verdict array begins at a multiple of 64 bytes. Its place and the ring's size may change
//    only while the unit is idle and `enable` is low.
module verdict_reader (
    input  wire         clk,              // Rising-edge clock
    input  wire         rst,              // Synchronous reset, active high
    input  wire         enable,           // Verdicts are read
    input  wire         follow,           // Skips all committed packets
    input  wire [31:0]  committed,        // Packets committed, modulo 2^32
    input  wire [31:0]  verdict_base,     // Register VERDICT_BASE; bits 5:0 do not count
    input  wire [4:0]   ring_slots_log2,  // Register RING_SLOTS_LOG2
    output wire         read_valid,       // To memory: a line is requested; the request may be withdrawn
    input  wire         read_ready,       // It is accepted at this edge
    output wire [25:0]  read_line,        // Its line address
    output wire [1:0]   read_tag,         // Its tag
    input  wire         response_valid,   // From memory: a line is here, in any order
    input  wire [1:0]   response_tag,     // Its tag
    input  wire [511:0] response_data,    // The line
    input  wire         response_error,   // It could not be read
    output wire         verdict_valid,    // To the slot reader: the verdict of the next packet is here
    input  wire         verdict_ready,    // It is taken at this edge
    output wire [31:0]  verdict,          // The verdict
    output wire         idle              // No verdict is requested or waits to be taken
);

    localparam [511:0] ALL_FAULTS = 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff;
    wire [31:0] slot;
    reg  [4:0] words;
    wire [4:0] room;
    wire [31:0] open;
    wire [32:0] beyond;
    reg  [4:0] count;
    wire ask;
    wire accept;
    reg  [3:0] marks;
    wire present;
    wire take;
    wire last;
    reg  [31:0] asked;
    reg  [4:0] taken;
    reg  [3:0] arrived;
    wire lines_pop;
    wire [1:0] lines_read_address;
    wire lines_full;
    reg  [511:0] line_data_write_data;
    wire [511:0] line_data_read_data;
    wire [3:0] line_first_read_data;
    wire [4:0] line_count_read_data;
    wire [3:0] select_index;

    assign slot = asked & ((32'd1 << ring_slots_log2) - 32'd1);

    always @* begin
        words = 5'h10;
        if (ring_slots_log2 < 5'd4) begin
            words = 5'd1 << ring_slots_log2;
        end
    end

    assign room = words - {1'b0, slot[3:0]};
    assign open = committed - asked;
    assign beyond = {1'b0, open} - {28'd0, room};

    always @* begin
        count = room;
        if (beyond[32]) begin
            count = open[4:0];
        end
    end

    assign ask = enable && (|open) && !lines_full && (idle || !beyond[32]);
    assign read_valid = ask;
    assign read_line = verdict_base[31:6] + slot[29:4];
    assign accept = ask && read_ready;

    always @* begin
        line_data_write_data = response_data;
        if (response_error) begin
            line_data_write_data = ALL_FAULTS;
        end
    end

    always @* begin
        marks = arrived;
        if (accept) begin
            marks[read_tag] = 1'b0;
        end
        if (response_valid) begin
            marks[response_tag] = 1'b1;
        end
    end

    assign present = !idle && arrived[lines_read_address];
    assign select_index = line_first_read_data + taken[3:0];
    assign verdict_valid = present;
    assign take = present && verdict_ready;
    assign last = (taken + 5'd1) == line_count_read_data;
    assign lines_pop = take && last;

    queue_pointers_2 lines (
        .clk(clk),
        .rst(rst),
        .push(accept),
        .pop(lines_pop),
        .write_address(read_tag),
        .read_address(lines_read_address),
        .full(lines_full),
        .empty(idle)
    );

    ram_async_512_2 line_data (
        .clk(clk),
        .write_enable(response_valid),
        .write_address(response_tag),
        .write_data(line_data_write_data),
        .read_address(lines_read_address),
        .read_data(line_data_read_data)
    );

    ram_async_4_2 line_first (
        .clk(clk),
        .write_enable(accept),
        .write_address(read_tag),
        .write_data(slot[3:0]),
        .read_address(lines_read_address),
        .read_data(line_first_read_data)
    );

    ram_async_5_2 line_count (
        .clk(clk),
        .write_enable(accept),
        .write_address(read_tag),
        .write_data(count),
        .read_address(lines_read_address),
        .read_data(line_count_read_data)
    );

    word_select select (
        .enable(present),
        .line(line_data_read_data),
        .index(select_index),
        .word(verdict)
    );

    always @(posedge clk) begin
        if (rst) begin
            asked <= 32'd0;
            taken <= 5'd0;
            arrived <= 4'd0;
        end else begin
            if (accept) begin
                asked <= asked + {27'd0, count};
            end else if (follow) begin
                asked <= committed;
            end
            arrived <= marks;
            if (take) begin
                taken <= taken + 5'd1;
                if (last) begin
                    taken <= 5'd0;
                end
            end
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, verdict_base[5:0], slot[31:30], beyond[31:0]};
endmodule

// Follows the line address of the slot of a packet, packet by packet.
//
// 1. At an edge with `load` high it becomes the slot of packet `index`, at one with `advance` high
//    the slot of the packet that follows; not both at once.
// 2. The ring's place and sizes may change only when the next edge loads.
module ring_position (
    input  wire        clk,              // Rising-edge clock
    input  wire        rst,              // Synchronous reset, active high: packet 0 of a ring at address 0
    input  wire [31:0] ring_base,        // Register RING_BASE
    input  wire [4:0]  ring_slots_log2,  // Register RING_SLOTS_LOG2
    input  wire [4:0]  slot_bytes_log2,  // Register SLOT_BYTES_LOG2; 7 to 16
    input  wire        load,             // Goes to packet index
    input  wire [31:0] index,            // packetIdx
    input  wire        advance,          // Goes to the next packet
    output wire [25:0] line              // Line address of the packet's slot; from registers
);

    wire [4:0] slot_lines_log2;
    wire [25:0] slot_lines;
    wire [25:0] mask;
    reg  [25:0] offset;

    assign slot_lines_log2 = slot_bytes_log2 - 5'd6;
    assign slot_lines = 26'd1 << slot_lines_log2;
    assign mask = (slot_lines << ring_slots_log2) - 26'd1;
    assign line = ring_base[31:6] + offset;

    always @(posedge clk) begin
        if (rst) begin
            offset <= 26'd0;
        end else begin
            if (load) begin
                offset <= (index[25:0] << slot_lines_log2) & mask;
            end
            if (advance) begin
                offset <= (offset + slot_lines) & mask;
            end
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, ring_base[5:0], index[31:26]};
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
module queue_pointers_4 (
    input  wire       clk,            // Rising-edge clock
    input  wire       rst,            // Synchronous reset, active high: empties the queue
    input  wire       push,           // Appends an entry at this edge
    input  wire       pop,            // Removes the oldest entry at this edge
    output wire [3:0] write_address,  // Where the next entry goes
    output wire [3:0] read_address,   // Where the oldest entry stands
    output wire       full,           // No entry is free
    output wire       empty           // No entry is in the queue
);

    reg  [3:0] tail;
    reg  [3:0] head;
    reg  all_used;

    assign write_address = tail;
    assign read_address = head;
    assign full = all_used;
    assign empty = (tail == head) && !all_used;

    always @(posedge clk) begin
        if (rst) begin
            tail <= 4'd0;
            head <= 4'd0;
            all_used <= 1'b0;
        end else begin
            if (push) begin
                tail <= tail + 4'd1;
            end
            if (pop) begin
                head <= head + 4'd1;
            end
            if (push && !pop) begin
                all_used <= (tail + 4'd1) == head;
            end else if (pop && !push) begin
                all_used <= 1'b0;
            end
        end
    end
endmodule

// 16 words of 26 bits, one write port, one combinational read port: distributed RAM.
module ram_async_26_4 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [3:0]  write_address,
    input  wire [25:0] write_data,
    input  wire [3:0]  read_address,
    output wire [25:0] read_data
);

    reg [25:0] words [0:15];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// 16 words of 1 bits, one write port, one combinational read port: distributed RAM.
module ram_async_1_4 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [3:0] write_address,
    input  wire       write_data,
    input  wire [3:0] read_address,
    output wire       read_data
);

    reg [0:0] words [0:15];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// 16 words of 31 bits, one write port, one combinational read port: distributed RAM.
module ram_async_31_4 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [3:0]  write_address,
    input  wire [30:0] write_data,
    input  wire [3:0]  read_address,
    output wire [30:0] read_data
);

    reg [30:0] words [0:15];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// 16 words of 32 bits, one write port, one combinational read port: distributed RAM.
module ram_async_32_4 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [3:0]  write_address,
    input  wire [31:0] write_data,
    input  wire [3:0]  read_address,
    output wire [31:0] read_data
);

    reg [31:0] words [0:15];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// 16 words of 512 bits, one write port, one combinational read port: distributed RAM.
module ram_async_512_4 (
    input  wire         clk,
    input  wire         write_enable,
    input  wire [3:0]   write_address,
    input  wire [511:0] write_data,
    input  wire [3:0]   read_address,
    output wire [511:0] read_data
);

    reg [511:0] words [0:15];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// 16 words of 17 bits, one write port, one combinational read port: distributed RAM.
module ram_async_17_4 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [3:0]  write_address,
    input  wire [16:0] write_data,
    input  wire [3:0]  read_address,
    output wire [16:0] read_data
);

    reg [16:0] words [0:15];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
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

// 32 words of 512 bits, one write port, one combinational read port: distributed RAM.
module ram_async_512_5 (
    input  wire         clk,
    input  wire         write_enable,
    input  wire [4:0]   write_address,
    input  wire [511:0] write_data,
    input  wire [4:0]   read_address,
    output wire [511:0] read_data
);

    reg [511:0] words [0:31];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// 32 words of 1 bits, one write port, one combinational read port: distributed RAM.
module ram_async_1_5 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [4:0] write_address,
    input  wire       write_data,
    input  wire [4:0] read_address,
    output wire       read_data
);

    reg [0:0] words [0:31];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// Reads the slots of packets with a forward verdict and hands out their lines, frame by frame.
//
// 1. Packets come with their verdicts in order. Line 0 of up to 16 packets and 32 further lines
//    are outstanding; answers may come in any order.
// 2. The length of a frame is that of its descriptor. If it is larger than what the slot holds it
//    counts as that much, and `length_error` is high for one cycle; so it is for a length of 0,
//    and nothing is handed out for the packet.
// 3. Packets with another verdict are skipped, which `skipped` reports; so are those whose line 0
//    cannot be read.
// 4. `freed` is high for one cycle when the slot of the next packet is no longer needed: its lines
//    are handed out, or it is skipped.
// 5. While `follow` is high, the next packet is packet `index`; only while the unit is `idle`.
module slot_reader (
    input  wire         clk,              // Rising-edge clock
    input  wire         rst,              // Synchronous reset, active high
    input  wire [31:0]  ring_base,        // Register RING_BASE
    input  wire [4:0]   ring_slots_log2,  // Register RING_SLOTS_LOG2
    input  wire [4:0]   slot_bytes_log2,  // Register SLOT_BYTES_LOG2; 7 to 16
    input  wire         follow,           // The next packet is packet index
    input  wire [31:0]  index,            // packetIdx
    input  wire         verdict_valid,    // From the verdict reader: the verdict of the next packet is here
    output wire         verdict_ready,    // It is taken at this edge
    input  wire [31:0]  verdict,          // The verdict: a port unless bit 31 is set
    output wire         head_valid,       // To memory: line 0 of a slot is requested
    input  wire         head_ready,       // It is accepted at this edge
    output wire [25:0]  head_line,        // Its line address
    output wire [3:0]   head_tag,         // Its tag
    output wire         body_valid,       // To memory: another line is requested
    input  wire         body_ready,       // It is accepted at this edge
    output wire [25:0]  body_line,        // Its line address
    output wire [4:0]   body_tag,         // Its tag
    input  wire         head_response,    // From memory: line 0 of a slot is here
    input  wire         body_response,    // From memory: another line is here
    input  wire [4:0]   response_tag,     // Its tag; bit 4 does not count for line 0
    input  wire [511:0] response_data,    // The line
    input  wire         response_error,   // It could not be read
    output wire         line_valid,       // To the frame sender: the next line is here
    input  wire         line_ready,       // It is taken at this edge
    output reg  [511:0] line_data,        // The line
    output reg          line_error,       // It could not be read
    output wire         line_start,       // It is line 0 of a slot
    output wire         line_last,        // It is the last one of its frame
    output wire [16:0]  frame_bytes,      // With line 0: bytes of the frame
    output wire [30:0]  frame_port,       // With line 0: port of the verdict
    output wire         freed,            // A slot is free again
    output wire         skipped,          // A verdict is not a port
    output reg          length_error,     // A length is impossible
    output wire         idle              // No packet is inside
);

    wire passes;
    wire allocate;
    reg  [15:0] head_marks;
    wire ask;
    reg  [31:0] body_marks;
    wire measure;
    wire [31:0] capacity;
    reg  [31:0] length;
    wire [16:0] bytes;
    wire [16:0] behind;
    wire [16:0] out_bytes;
    wire [16:0] out_behind;
    wire out_head;
    wire pass;
    wire out_body;
    reg  ends;
    wire take;
    wire packets_pop;
    wire [3:0] packets_read_address_unused;
    wire packets_full;
    wire packets_empty;
    wire [3:0] to_measure_write_address_unused;
    wire [3:0] to_measure_read_address;
    wire to_measure_full_unused;
    wire to_measure_empty;
    wire measured_pop;
    wire [3:0] measured_write_address;
    wire [3:0] measured_read_address;
    wire measured_full_unused;
    wire measured_empty;
    wire [25:0] packet_slot_read_data;
    wire packet_passes_read_data;
    wire [31:0] packet_length_read_data;
    wire packet_failed_read_data;
    wire [511:0] packet_head_read_data;
    reg  [15:0] head_arrived;
    wire bodies_push;
    wire bodies_pop;
    wire [4:0] bodies_read_address;
    wire bodies_full;
    wire bodies_empty;
    wire [511:0] body_data_read_data;
    wire body_failed_read_data;
    reg  [31:0] body_arrived;
    reg  [9:0] asking;
    reg  [25:0] asking_line;
    reg  [9:0] following;
    wire [16:0] behind_sum = bytes + 17'h11;
    wire [16:0] out_behind_sum = out_bytes + 17'h11;

    assign passes = verdict[31];
    assign allocate = verdict_valid && !packets_full && (passes || head_ready);
    assign verdict_ready = !packets_full && (passes || head_ready);
    assign head_valid = verdict_valid && !packets_full && !passes;
    assign skipped = allocate && passes;

    always @* begin
        head_marks = head_arrived;
        if (allocate) begin
            head_marks[head_tag] = passes;
        end
        if (head_response) begin
            head_marks[response_tag[3:0]] = 1'b1;
        end
    end

    assign ask = (|asking) && !bodies_full;
    assign body_valid = ask;
    assign body_line = asking_line;
    assign bodies_push = ask && body_ready;

    always @* begin
        body_marks = body_arrived;
        if (ask && body_ready) begin
            body_marks[body_tag] = 1'b0;
        end
        if (body_response) begin
            body_marks[response_tag] = 1'b1;
        end
    end

    assign measure = !to_measure_empty && head_arrived[to_measure_read_address] && (!(|asking) || ((asking ==
        10'd1) && ask && body_ready));
    assign capacity = (32'd1 << slot_bytes_log2) - 32'h12;

    always @* begin
        length = packet_length_read_data;
        length_error = 1'b0;
        if (packet_passes_read_data || packet_failed_read_data) begin
            length = 32'd0;
        end else if (length > capacity) begin
            length = capacity;
            length_error = measure;
        end else if (!(|length)) begin
            length_error = measure;
        end
    end

    assign bytes = length[16:0];
    assign behind = {6'd0, behind_sum[16:6]};
    assign out_behind = {6'd0, out_behind_sum[16:6]};
    assign out_head = !(|following) && !measured_empty && (|out_bytes);
    assign pass = !(|following) && !measured_empty && !(|out_bytes);
    assign out_body = (|following) && !bodies_empty && body_arrived[bodies_read_address];
    assign line_valid = out_head || out_body;
    assign line_start = out_head;
    assign frame_bytes = out_bytes;

    always @* begin
        if (out_head) begin
            ends = !(|out_behind);
        end else begin
            ends = following == 10'd1;
        end
    end

    always @* begin
        if (out_head) begin
            line_data = packet_head_read_data;
            line_error = 1'b0;
        end else begin
            line_data = body_data_read_data;
            line_error = body_failed_read_data;
        end
    end

    assign line_last = ends;
    assign take = (out_head || out_body) && line_ready;
    assign bodies_pop = take && out_body;
    assign measured_pop = (take && out_head) || pass;
    assign packets_pop = (take && out_head) || pass;
    assign freed = pass || (take && ends);
    assign idle = packets_empty && !(|following);

    ring_position position (
        .clk(clk),
        .rst(rst),
        .ring_base(ring_base),
        .ring_slots_log2(ring_slots_log2),
        .slot_bytes_log2(slot_bytes_log2),
        .load(follow),
        .index(index),
        .advance(allocate),
        .line(head_line)
    );

    queue_pointers_4 packets (
        .clk(clk),
        .rst(rst),
        .push(allocate),
        .pop(packets_pop),
        .write_address(head_tag),
        .read_address(packets_read_address_unused),
        .full(packets_full),
        .empty(packets_empty)
    );

    queue_pointers_4 to_measure (
        .clk(clk),
        .rst(rst),
        .push(allocate),
        .pop(measure),
        .write_address(to_measure_write_address_unused),
        .read_address(to_measure_read_address),
        .full(to_measure_full_unused),
        .empty(to_measure_empty)
    );

    queue_pointers_4 measured (
        .clk(clk),
        .rst(rst),
        .push(measure),
        .pop(measured_pop),
        .write_address(measured_write_address),
        .read_address(measured_read_address),
        .full(measured_full_unused),
        .empty(measured_empty)
    );

    ram_async_26_4 packet_slot (
        .clk(clk),
        .write_enable(allocate),
        .write_address(head_tag),
        .write_data(head_line),
        .read_address(to_measure_read_address),
        .read_data(packet_slot_read_data)
    );

    ram_async_1_4 packet_passes (
        .clk(clk),
        .write_enable(allocate),
        .write_address(head_tag),
        .write_data(passes),
        .read_address(to_measure_read_address),
        .read_data(packet_passes_read_data)
    );

    ram_async_31_4 packet_port (
        .clk(clk),
        .write_enable(allocate),
        .write_address(head_tag),
        .write_data(verdict[30:0]),
        .read_address(measured_read_address),
        .read_data(frame_port)
    );

    ram_async_32_4 packet_length (
        .clk(clk),
        .write_enable(head_response),
        .write_address(response_tag[3:0]),
        .write_data(response_data[31:0]),
        .read_address(to_measure_read_address),
        .read_data(packet_length_read_data)
    );

    ram_async_1_4 packet_failed (
        .clk(clk),
        .write_enable(head_response),
        .write_address(response_tag[3:0]),
        .write_data(response_error),
        .read_address(to_measure_read_address),
        .read_data(packet_failed_read_data)
    );

    ram_async_512_4 packet_head (
        .clk(clk),
        .write_enable(head_response),
        .write_address(response_tag[3:0]),
        .write_data(response_data),
        .read_address(measured_read_address),
        .read_data(packet_head_read_data)
    );

    ram_async_17_4 packet_bytes (
        .clk(clk),
        .write_enable(measure),
        .write_address(measured_write_address),
        .write_data(bytes),
        .read_address(measured_read_address),
        .read_data(out_bytes)
    );

    queue_pointers_5 bodies (
        .clk(clk),
        .rst(rst),
        .push(bodies_push),
        .pop(bodies_pop),
        .write_address(body_tag),
        .read_address(bodies_read_address),
        .full(bodies_full),
        .empty(bodies_empty)
    );

    ram_async_512_5 body_data (
        .clk(clk),
        .write_enable(body_response),
        .write_address(response_tag),
        .write_data(response_data),
        .read_address(bodies_read_address),
        .read_data(body_data_read_data)
    );

    ram_async_1_5 body_failed (
        .clk(clk),
        .write_enable(body_response),
        .write_address(response_tag),
        .write_data(response_error),
        .read_address(bodies_read_address),
        .read_data(body_failed_read_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            head_arrived <= 16'd0;
            body_arrived <= 32'd0;
            asking <= 10'd0;
            asking_line <= 26'd0;
            following <= 10'd0;
        end else begin
            head_arrived <= head_marks;
            if (ask && body_ready) begin
                asking <= asking - 10'd1;
                asking_line <= asking_line + 26'd1;
            end
            body_arrived <= body_marks;
            if (measure) begin
                asking <= behind[9:0];
                asking_line <= packet_slot_read_data + 26'd1;
            end
            if (take && out_head) begin
                following <= out_behind[9:0];
            end
            if (take && out_body) begin
                following <= following - 10'd1;
            end
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, behind[16:10], behind_sum[5:0], out_behind_sum[5:0]};
endmodule

// Takes the frame out of the lines of its slot, where it begins at byte 18, and sends it.
//
// 1. Lines come frame by frame, line 0 first. Each beat has 46 bytes of one line and 18 of the
//    next. One line a cycle is taken and one beat a cycle is sent: line 0 of a frame is taken
//    together with the last beat of the frame before.
// 2. A frame has `ceil(frame_bytes / 64)` beats; all bytes of every beat but the last count.
// 3. The outputs come from registers and keep their values until they are taken.
module frame_sender (
    input  wire         clk,          // Rising-edge clock
    input  wire         rst,          // Synchronous reset, active high
    input  wire         line_valid,   // From the slot reader: a line is here
    output wire         line_ready,   // It is taken at this edge
    input  wire [511:0] line_data,    // The line
    input  wire         line_error,   // It could not be read
    input  wire         line_start,   // It is line 0 of a slot
    input  wire         line_last,    // It is the last one of its frame
    input  wire [16:0]  frame_bytes,  // With line 0: bytes of the frame, at least 1
    input  wire [30:0]  frame_port,   // With line 0: output port
    output wire         tx_tvalid,    // A beat is offered
    input  wire         tx_tready,    // It is taken at this edge
    output wire [511:0] tx_tdata,     // Its bytes, the first in bits 7:0
    output wire [63:0]  tx_tkeep,     // Which of them count, the first in bit 0
    output wire         tx_tlast,     // It is the last beat of its frame
    output wire [31:0]  tx_tuser,     // Bits 30:0: output port
    output wire         sent,         // A frame is complete with the beat that is offered from the next cycle on
    output wire [16:0]  sent_bytes,   // Its bytes
    output wire         idle          // Nothing is inside
);

    localparam [63:0] ALL = 64'hffffffffffffffff;
    wire move_on;
    wire ready;
    wire take;
    wire beat;
    wire last;
    reg  failed;
    reg  [367:0] rest;
    reg  open;
    reg  flush;
    reg  [16:0] left;
    reg  [16:0] length;
    reg  [30:0] port;
    reg  damaged;
    reg  out_valid;
    reg  [511:0] out_data;
    reg  [63:0] out_keep;
    reg  out_last;
    reg  [31:0] out_user;

    assign move_on = !out_valid || tx_tready;
    assign ready = move_on || !open;
    assign line_ready = ready;
    assign take = line_valid && ready;
    assign beat = move_on && open && (flush || line_valid);
    assign last = left <= 17'h40;

    always @* begin
        failed = damaged;
        if (!flush && line_error) begin
            failed = 1'b1;
        end
    end

    assign sent = beat && last;
    assign sent_bytes = length;
    assign idle = !open && !out_valid;
    assign tx_tvalid = out_valid;
    assign tx_tdata = out_data;
    assign tx_tkeep = out_keep;
    assign tx_tlast = out_last;
    assign tx_tuser = out_user;

    always @(posedge clk) begin
        if (rst) begin
            rest <= 368'd0;
            open <= 1'b0;
            flush <= 1'b0;
            left <= 17'd0;
            length <= 17'd0;
            port <= 31'd0;
            damaged <= 1'b0;
            out_valid <= 1'b0;
            out_data <= 512'd0;
            out_keep <= 64'd0;
            out_last <= 1'b0;
            out_user <= 32'd0;
        end else begin
            if (move_on) begin
                out_valid <= 1'b0;
            end
            if (beat) begin
                out_valid <= 1'b1;
                out_data <= {144'd0, rest};
                if (!flush) begin
                    out_data <= {line_data[143:0], rest};
                end
                out_keep <= ALL;
                if (last && (|left[5:0])) begin
                    out_keep <= ~(ALL << left[5:0]);
                end
                out_last <= last;
                out_user <= {1'b0, port};
                if (failed) begin
                    out_user <= {1'b1, port};
                end
                left <= left - 17'h40;
                damaged <= failed;
                if (last) begin
                    open <= 1'b0;
                    flush <= 1'b0;
                end else begin
                    flush <= line_last;
                end
            end
            if (take) begin
                rest <= line_data[511:144];
                if (line_start) begin
                    open <= 1'b1;
                    flush <= line_last;
                    left <= frame_bytes;
                    length <= frame_bytes;
                    port <= frame_port;
                    damaged <= line_error;
                end
            end
        end
    end
endmodule

// Sends the frames of committed packets in the order of packetIdx, each to the port of its
// verdict, and frees their slots.
//
// 1. Packets whose verdict is not a port (drop, fault) are skipped.
// 2. Reads carry the tags 0 to 31 for lines behind line 0 of a slot, 32 to 47 for line 0, 48 to 51
//    for verdicts. Each is in use once at a time; answers may come in any order and are always
//    accepted.
// 3. `freed` is the packetIdx of the oldest packet whose slot is in use.
// 4. While `enable` is low, packets that commit are skipped without a look at them, as soon as
//    those before have left. `enable` may change at any time; places and sizes in memory only
//    while it is low and the unit is `idle`.
module egress (
    input  wire         clk,              // Rising-edge clock
    input  wire         rst,              // Synchronous reset, active high
    input  wire         enable,           // Frames are sent
    input  wire [31:0]  ring_base,        // Register RING_BASE
    input  wire [4:0]   ring_slots_log2,  // Register RING_SLOTS_LOG2
    input  wire [4:0]   slot_bytes_log2,  // Register SLOT_BYTES_LOG2; 7 to 16
    input  wire [31:0]  verdict_base,     // Register VERDICT_BASE; a multiple of 64
    input  wire [31:0]  committed,        // Packets committed, modulo 2^32
    output wire         read_valid,       // A line is requested
    input  wire         read_ready,       // It is accepted at this edge
    output wire [25:0]  read_line,        // Its line address
    output wire [6:0]   read_tag,         // Its tag
    input  wire         response_valid,   // A line is here
    input  wire [6:0]   response_tag,     // Its tag
    input  wire [511:0] response_data,    // The line
    input  wire         response_error,   // It could not be read
    output wire         tx_tvalid,        // A beat is offered
    input  wire         tx_tready,        // It is taken at this edge
    output wire [511:0] tx_tdata,         // Its bytes, the first in bits 7:0
    output wire [63:0]  tx_tkeep,         // Which of them count, the first in bit 0
    output wire         tx_tlast,         // It is the last beat of its frame
    output wire [31:0]  tx_tuser,         // Bits 30:0: output port
    output wire [31:0]  freed,            // packetIdx of the oldest packet whose slot is in use
    output wire         idle,             // No packet is inside
    output wire [31:0]  frames,           // Frames sent
    output wire [31:0]  bytes,            // Bytes of these frames
    output wire [31:0]  skipped,          // Packets whose verdict was not a port
    output wire [31:0]  length_errors,    // Packets with a length of 0 or above what a slot holds
    output wire [31:0]  read_errors       // Lines that could not be read
);

    wire free;
    wire body;
    wire head;
    wire of_verdicts;
    wire empty;
    wire follow;
    wire verdicts_read_valid;
    wire [25:0] verdicts_read_line;
    wire [1:0] verdicts_read_tag;
    wire verdicts_response_valid;
    wire verdicts_verdict_valid;
    wire [31:0] verdicts_verdict;
    wire verdicts_idle;
    wire slots_verdict_ready;
    wire slots_head_valid;
    wire slots_head_ready;
    wire [25:0] slots_head_line;
    wire [3:0] slots_head_tag;
    wire slots_body_valid;
    wire slots_body_ready;
    wire [25:0] slots_body_line;
    wire [4:0] slots_body_tag;
    wire slots_head_response;
    wire slots_body_response;
    wire slots_line_valid;
    wire [511:0] slots_line_data;
    wire slots_line_error;
    wire slots_line_start;
    wire slots_line_last;
    wire [16:0] slots_frame_bytes;
    wire [30:0] slots_frame_port;
    wire slots_freed;
    wire slots_skipped;
    wire slots_length_error;
    wire slots_idle;
    wire sender_line_ready;
    wire sender_sent;
    wire [16:0] sender_sent_bytes;
    wire sender_idle;
    reg  out_valid;
    reg  [25:0] out_line;
    reg  [6:0] out_tag;
    reg  [31:0] oldest;
    reg  [31:0] frame_count;
    reg  [31:0] byte_count;
    reg  [31:0] skipped_count;
    reg  [31:0] length_error_count;
    reg  [31:0] read_error_count;

    assign free = !out_valid || read_ready;
    assign body = slots_body_valid && !verdicts_read_valid;
    assign head = !slots_body_valid && !verdicts_read_valid;
    assign slots_body_ready = free && !verdicts_read_valid;
    assign slots_head_ready = free && head;
    assign read_valid = out_valid;
    assign read_line = out_line;
    assign read_tag = out_tag;
    assign of_verdicts = response_tag[5] && response_tag[4];
    assign verdicts_response_valid = response_valid && of_verdicts;
    assign slots_head_response = response_valid && response_tag[5] && !response_tag[4];
    assign slots_body_response = response_valid && !response_tag[5];
    assign empty = verdicts_idle && slots_idle;
    assign follow = !enable && empty;
    assign freed = oldest;
    assign idle = empty && sender_idle;
    assign frames = frame_count;
    assign bytes = byte_count;
    assign skipped = skipped_count;
    assign length_errors = length_error_count;
    assign read_errors = read_error_count;

    verdict_reader verdicts (
        .clk(clk),
        .rst(rst),
        .enable(enable),
        .follow(follow),
        .committed(committed),
        .verdict_base(verdict_base),
        .ring_slots_log2(ring_slots_log2),
        .read_valid(verdicts_read_valid),
        .read_ready(free),
        .read_line(verdicts_read_line),
        .read_tag(verdicts_read_tag),
        .response_valid(verdicts_response_valid),
        .response_tag(response_tag[1:0]),
        .response_data(response_data),
        .response_error(response_error),
        .verdict_valid(verdicts_verdict_valid),
        .verdict_ready(slots_verdict_ready),
        .verdict(verdicts_verdict),
        .idle(verdicts_idle)
    );

    slot_reader slots (
        .clk(clk),
        .rst(rst),
        .ring_base(ring_base),
        .ring_slots_log2(ring_slots_log2),
        .slot_bytes_log2(slot_bytes_log2),
        .follow(follow),
        .index(committed),
        .verdict_valid(verdicts_verdict_valid),
        .verdict_ready(slots_verdict_ready),
        .verdict(verdicts_verdict),
        .head_valid(slots_head_valid),
        .head_ready(slots_head_ready),
        .head_line(slots_head_line),
        .head_tag(slots_head_tag),
        .body_valid(slots_body_valid),
        .body_ready(slots_body_ready),
        .body_line(slots_body_line),
        .body_tag(slots_body_tag),
        .head_response(slots_head_response),
        .body_response(slots_body_response),
        .response_tag(response_tag[4:0]),
        .response_data(response_data),
        .response_error(response_error),
        .line_valid(slots_line_valid),
        .line_ready(sender_line_ready),
        .line_data(slots_line_data),
        .line_error(slots_line_error),
        .line_start(slots_line_start),
        .line_last(slots_line_last),
        .frame_bytes(slots_frame_bytes),
        .frame_port(slots_frame_port),
        .freed(slots_freed),
        .skipped(slots_skipped),
        .length_error(slots_length_error),
        .idle(slots_idle)
    );

    frame_sender sender (
        .clk(clk),
        .rst(rst),
        .line_valid(slots_line_valid),
        .line_ready(sender_line_ready),
        .line_data(slots_line_data),
        .line_error(slots_line_error),
        .line_start(slots_line_start),
        .line_last(slots_line_last),
        .frame_bytes(slots_frame_bytes),
        .frame_port(slots_frame_port),
        .tx_tvalid(tx_tvalid),
        .tx_tready(tx_tready),
        .tx_tdata(tx_tdata),
        .tx_tkeep(tx_tkeep),
        .tx_tlast(tx_tlast),
        .tx_tuser(tx_tuser),
        .sent(sender_sent),
        .sent_bytes(sender_sent_bytes),
        .idle(sender_idle)
    );

    always @(posedge clk) begin
        if (rst) begin
            out_valid <= 1'b0;
            out_line <= 26'd0;
            out_tag <= 7'd0;
            oldest <= 32'd0;
            frame_count <= 32'd0;
            byte_count <= 32'd0;
            skipped_count <= 32'd0;
            length_error_count <= 32'd0;
            read_error_count <= 32'd0;
        end else begin
            if (free) begin
                out_valid <= verdicts_read_valid || slots_body_valid || slots_head_valid;
                if (verdicts_read_valid) begin
                    out_line <= verdicts_read_line;
                    out_tag <= {5'd12, verdicts_read_tag};
                end else if (body) begin
                    out_line <= slots_body_line;
                    out_tag <= {2'd0, slots_body_tag};
                end else begin
                    out_line <= slots_head_line;
                    out_tag <= {3'd2, slots_head_tag};
                end
            end
            if (slots_freed) begin
                oldest <= oldest + 32'd1;
            end else if (follow) begin
                oldest <= committed;
            end
            if (sender_sent) begin
                frame_count <= frame_count + 32'd1;
                byte_count <= byte_count + {15'd0, sender_sent_bytes};
            end
            if (slots_skipped) begin
                skipped_count <= skipped_count + 32'd1;
            end
            if (slots_length_error) begin
                length_error_count <= length_error_count + 32'd1;
            end
            if (response_valid && response_error) begin
                read_error_count <= read_error_count + 32'd1;
            end
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, response_tag[6]};
endmodule

