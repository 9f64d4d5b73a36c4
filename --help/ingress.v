// Counts the bytes that `keep` marks, and checks whether they are the first ones of the beat.
//
// Combinational.
module keep_count (
    input  wire [63:0] keep,        // TKEEP of the beat, byte 0 in bit 0
    output wire        contiguous,  // At least one byte, and all bytes from byte 0 on without a hole
    output wire [6:0]  bytes        // Bytes of the beat, 1 to 64; undefined unless contiguous
);

    wire [63:0] holes;
    reg  [6:0] count;
    reg  [31:0] part32;
    reg  [15:0] part16;
    reg  [7:0] part8;
    reg  [3:0] part4;
    reg  [1:0] part2;

    assign holes = keep & (keep + 64'd1);
    assign contiguous = keep[0] && !(|holes);

    always @* begin
        count = 7'd0;
        part32 = keep[31:0];
        if (keep[31]) begin
            part32 = keep[63:32];
            count = 7'h20;
        end
        part16 = part32[15:0];
        if (part32[15]) begin
            part16 = part32[31:16];
            count = count | 7'h10;
        end
        part8 = part16[7:0];
        if (part16[7]) begin
            part8 = part16[15:8];
            count = count | 7'd8;
        end
        part4 = part8[3:0];
        if (part8[3]) begin
            part4 = part8[7:4];
            count = count | 7'd4;
        end
        part2 = part4[1:0];
        if (part4[1]) begin
            part2 = part4[3:2];
            count = count | 7'd2;
        end
        if (part2[0]) begin
            count = count | 7'd1;
        end
        if (keep[63]) begin
            count = 7'h40;
        end
    end

    assign bytes = count;

    // Bits that this module does not use.
    wire unused = &{1'b0, part2[1]};
endmodule

// Makes the bytes of a beat zero that `keep` does not mark, so that nothing but the frame gets
// into its slot.
//
// Combinational.
module keep_mask (
    input  wire [511:0] data,    // TDATA of the beat, byte 0 in bits 7:0
    input  wire [63:0]  keep,    // TKEEP of the beat, byte 0 in bit 0
    output wire [511:0] masked   // The bytes, or zeros
);

    reg  [7:0] bytes_x_0, bytes_x_1, bytes_x_2, bytes_x_3, bytes_x_4, bytes_x_5, bytes_x_6, bytes_x_7,
        bytes_x_8, bytes_x_9, bytes_x_10, bytes_x_11, bytes_x_12, bytes_x_13, bytes_x_14, bytes_x_15, bytes_x_16,
        bytes_x_17, bytes_x_18, bytes_x_19, bytes_x_20, bytes_x_21, bytes_x_22, bytes_x_23, bytes_x_24,
        bytes_x_25, bytes_x_26, bytes_x_27, bytes_x_28, bytes_x_29, bytes_x_30, bytes_x_31, bytes_x_32,
        bytes_x_33, bytes_x_34, bytes_x_35, bytes_x_36, bytes_x_37, bytes_x_38, bytes_x_39, bytes_x_40,
        bytes_x_41, bytes_x_42, bytes_x_43, bytes_x_44, bytes_x_45, bytes_x_46, bytes_x_47, bytes_x_48,
        bytes_x_49, bytes_x_50, bytes_x_51, bytes_x_52, bytes_x_53, bytes_x_54, bytes_x_55, bytes_x_56,
        bytes_x_57, bytes_x_58, bytes_x_59, bytes_x_60, bytes_x_61, bytes_x_62, bytes_x_63;

    always @* begin
        bytes_x_0 = 8'd0;
        if (keep[0]) begin
            bytes_x_0 = data[7:0];
        end
    end

    always @* begin
        bytes_x_1 = 8'd0;
        if (keep[1]) begin
            bytes_x_1 = data[15:8];
        end
    end

    always @* begin
        bytes_x_2 = 8'd0;
        if (keep[2]) begin
            bytes_x_2 = data[23:16];
        end
    end

    always @* begin
        bytes_x_3 = 8'd0;
        if (keep[3]) begin
            bytes_x_3 = data[31:24];
        end
    end

    always @* begin
        bytes_x_4 = 8'd0;
        if (keep[4]) begin
            bytes_x_4 = data[39:32];
        end
    end

    always @* begin
        bytes_x_5 = 8'd0;
        if (keep[5]) begin
            bytes_x_5 = data[47:40];
        end
    end

    always @* begin
        bytes_x_6 = 8'd0;
        if (keep[6]) begin
            bytes_x_6 = data[55:48];
        end
    end

    always @* begin
        bytes_x_7 = 8'd0;
        if (keep[7]) begin
            bytes_x_7 = data[63:56];
        end
    end

    always @* begin
        bytes_x_8 = 8'd0;
        if (keep[8]) begin
            bytes_x_8 = data[71:64];
        end
    end

    always @* begin
        bytes_x_9 = 8'd0;
        if (keep[9]) begin
            bytes_x_9 = data[79:72];
        end
    end

    always @* begin
        bytes_x_10 = 8'd0;
        if (keep[10]) begin
            bytes_x_10 = data[87:80];
        end
    end

    always @* begin
        bytes_x_11 = 8'd0;
        if (keep[11]) begin
            bytes_x_11 = data[95:88];
        end
    end

    always @* begin
        bytes_x_12 = 8'd0;
        if (keep[12]) begin
            bytes_x_12 = data[103:96];
        end
    end

    always @* begin
        bytes_x_13 = 8'd0;
        if (keep[13]) begin
            bytes_x_13 = data[111:104];
        end
    end

    always @* begin
        bytes_x_14 = 8'd0;
        if (keep[14]) begin
            bytes_x_14 = data[119:112];
        end
    end

    always @* begin
        bytes_x_15 = 8'd0;
        if (keep[15]) begin
            bytes_x_15 = data[127:120];
        end
    end

    always @* begin
        bytes_x_16 = 8'd0;
        if (keep[16]) begin
            bytes_x_16 = data[135:128];
        end
    end

    always @* begin
        bytes_x_17 = 8'd0;
        if (keep[17]) begin
            bytes_x_17 = data[143:136];
        end
    end

    always @* begin
        bytes_x_18 = 8'd0;
        if (keep[18]) begin
            bytes_x_18 = data[151:144];
        end
    end

    always @* begin
        bytes_x_19 = 8'd0;
        if (keep[19]) begin
            bytes_x_19 = data[159:152];
        end
    end

    always @* begin
        bytes_x_20 = 8'd0;
        if (keep[20]) begin
            bytes_x_20 = data[167:160];
        end
    end

    always @* begin
        bytes_x_21 = 8'd0;
        if (keep[21]) begin
            bytes_x_21 = data[175:168];
        end
    end

    always @* begin
        bytes_x_22 = 8'd0;
        if (keep[22]) begin
            bytes_x_22 = data[183:176];
        end
    end

    always @* begin
        bytes_x_23 = 8'd0;
        if (keep[23]) begin
            bytes_x_23 = data[191:184];
        end
    end

    always @* begin
        bytes_x_24 = 8'd0;
        if (keep[24]) begin
            bytes_x_24 = data[199:192];
        end
    end

    always @* begin
        bytes_x_25 = 8'd0;
        if (keep[25]) begin
            bytes_x_25 = data[207:200];
        end
    end

    always @* begin
        bytes_x_26 = 8'd0;
        if (keep[26]) begin
            bytes_x_26 = data[215:208];
        end
    end

    always @* begin
        bytes_x_27 = 8'd0;
        if (keep[27]) begin
            bytes_x_27 = data[223:216];
        end
    end

    always @* begin
        bytes_x_28 = 8'd0;
        if (keep[28]) begin
            bytes_x_28 = data[231:224];
        end
    end

    always @* begin
        bytes_x_29 = 8'd0;
        if (keep[29]) begin
            bytes_x_29 = data[239:232];
        end
    end

    always @* begin
        bytes_x_30 = 8'd0;
        if (keep[30]) begin
            bytes_x_30 = data[247:240];
        end
    end

    always @* begin
        bytes_x_31 = 8'd0;
        if (keep[31]) begin
            bytes_x_31 = data[255:248];
        end
    end

    always @* begin
        bytes_x_32 = 8'd0;
        if (keep[32]) begin
            bytes_x_32 = data[263:256];
        end
    end

    always @* begin
        bytes_x_33 = 8'd0;
        if (keep[33]) begin
            bytes_x_33 = data[271:264];
        end
    end

    always @* begin
        bytes_x_34 = 8'd0;
        if (keep[34]) begin
            bytes_x_34 = data[279:272];
        end
    end

    always @* begin
        bytes_x_35 = 8'd0;
        if (keep[35]) begin
            bytes_x_35 = data[287:280];
        end
    end

    always @* begin
        bytes_x_36 = 8'd0;
        if (keep[36]) begin
            bytes_x_36 = data[295:288];
        end
    end

    always @* begin
        bytes_x_37 = 8'd0;
        if (keep[37]) begin
            bytes_x_37 = data[303:296];
        end
    end

    always @* begin
        bytes_x_38 = 8'd0;
        if (keep[38]) begin
            bytes_x_38 = data[311:304];
        end
    end

    always @* begin
        bytes_x_39 = 8'd0;
        if (keep[39]) begin
            bytes_x_39 = data[319:312];
        end
    end

    always @* begin
        bytes_x_40 = 8'd0;
        if (keep[40]) begin
            bytes_x_40 = data[327:320];
        end
    end

    always @* begin
        bytes_x_41 = 8'd0;
        if (keep[41]) begin
            bytes_x_41 = data[335:328];
        end
    end

    always @* begin
        bytes_x_42 = 8'd0;
        if (keep[42]) begin
            bytes_x_42 = data[343:336];
        end
    end

    always @* begin
        bytes_x_43 = 8'd0;
        if (keep[43]) begin
            bytes_x_43 = data[351:344];
        end
    end

    always @* begin
        bytes_x_44 = 8'd0;
        if (keep[44]) begin
            bytes_x_44 = data[359:352];
        end
    end

    always @* begin
        bytes_x_45 = 8'd0;
        if (keep[45]) begin
            bytes_x_45 = data[367:360];
        end
    end

    always @* begin
        bytes_x_46 = 8'd0;
        if (keep[46]) begin
            bytes_x_46 = data[375:368];
        end
    end

    always @* begin
        bytes_x_47 = 8'd0;
        if (keep[47]) begin
            bytes_x_47 = data[383:376];
        end
    end

    always @* begin
        bytes_x_48 = 8'd0;
        if (keep[48]) begin
            bytes_x_48 = data[391:384];
        end
    end

    always @* begin
        bytes_x_49 = 8'd0;
        if (keep[49]) begin
            bytes_x_49 = data[399:392];
        end
    end

    always @* begin
        bytes_x_50 = 8'd0;
        if (keep[50]) begin
            bytes_x_50 = data[407:400];
        end
    end

    always @* begin
        bytes_x_51 = 8'd0;
        if (keep[51]) begin
            bytes_x_51 = data[415:408];
        end
    end

    always @* begin
        bytes_x_52 = 8'd0;
        if (keep[52]) begin
            bytes_x_52 = data[423:416];
        end
    end

    always @* begin
        bytes_x_53 = 8'd0;
        if (keep[53]) begin
            bytes_x_53 = data[431:424];
        end
    end

    always @* begin
        bytes_x_54 = 8'd0;
        if (keep[54]) begin
            bytes_x_54 = data[439:432];
        end
    end

    always @* begin
        bytes_x_55 = 8'd0;
        if (keep[55]) begin
            bytes_x_55 = data[447:440];
        end
    end

    always @* begin
        bytes_x_56 = 8'd0;
        if (keep[56]) begin
            bytes_x_56 = data[455:448];
        end
    end

    always @* begin
        bytes_x_57 = 8'd0;
        if (keep[57]) begin
            bytes_x_57 = data[463:456];
        end
    end

    always @* begin
        bytes_x_58 = 8'd0;
        if (keep[58]) begin
            bytes_x_58 = data[471:464];
        end
    end

    always @* begin
        bytes_x_59 = 8'd0;
        if (keep[59]) begin
            bytes_x_59 = data[479:472];
        end
    end

    always @* begin
        bytes_x_60 = 8'd0;
        if (keep[60]) begin
            bytes_x_60 = data[487:480];
        end
    end

    always @* begin
        bytes_x_61 = 8'd0;
        if (keep[61]) begin
            bytes_x_61 = data[495:488];
        end
    end

    always @* begin
        bytes_x_62 = 8'd0;
        if (keep[62]) begin
            bytes_x_62 = data[503:496];
        end
    end

    always @* begin
        bytes_x_63 = 8'd0;
        if (keep[63]) begin
            bytes_x_63 = data[511:504];
        end
    end

    assign masked = {bytes_x_63, bytes_x_62, bytes_x_61, bytes_x_60, bytes_x_59, bytes_x_58, bytes_x_57,
        bytes_x_56, bytes_x_55, bytes_x_54, bytes_x_53, bytes_x_52, bytes_x_51, bytes_x_50, bytes_x_49,
        bytes_x_48, bytes_x_47, bytes_x_46, bytes_x_45, bytes_x_44, bytes_x_43, bytes_x_42, bytes_x_41,
        bytes_x_40, bytes_x_39, bytes_x_38, bytes_x_37, bytes_x_36, bytes_x_35, bytes_x_34, bytes_x_33,
        bytes_x_32, bytes_x_31, bytes_x_30, bytes_x_29, bytes_x_28, bytes_x_27, bytes_x_26, bytes_x_25,
        bytes_x_24, bytes_x_23, bytes_x_22, bytes_x_21, bytes_x_20, bytes_x_19, bytes_x_18, bytes_x_17,
        bytes_x_16, bytes_x_15, bytes_x_14, bytes_x_13, bytes_x_12, bytes_x_11, bytes_x_10, bytes_x_9, bytes_x_8,
        bytes_x_7, bytes_x_6, bytes_x_5, bytes_x_4, bytes_x_3, bytes_x_2, bytes_x_1, bytes_x_0};
endmodule

// Moves frames behind the head of their slot: 16 bytes of descriptor, 2 bytes of padding, then the
// frame.
//
// 1. Byte `n` of a frame goes to byte `18 + n` of its slot, so each line has 18 bytes of one beat
//    and 46 of the next. Line 0 comes last, as the descriptor has the length: `line_end` marks it.
//    The rest of the last line is zeros.
// 2. A frame of `n` lines takes `n` cycles, with `line_ready` high: the first beat of the frame
//    that follows is taken while line 0 is offered. So 64-byte frames come every other cycle,
//    beats of long frames every cycle.
// 3. The first beat of a frame waits for `slot_free`, or for `next_slot_free` while line 0 of the
//    frame before is to be offered. One beat is taken before that is known.
// 4. What a slot cannot hold is cut off and counted in the descriptor, modulo nothing: 65,535
//    stands for that many or more.
// 5. A frame is malformed if TKEEP marks not all bytes of a beat before the last one, no bytes or
//    not the first ones of the last beat, or if bit 31 of TUSER is set in the last beat. Its line
//    0 is not offered, and `dropped` is high for one cycle.
module line_builder (
    input  wire         clk,              // Rising-edge clock
    input  wire         rst,              // Synchronous reset, active high
    input  wire         rx_tvalid,        // A beat is offered
    output wire         rx_tready,        // It is taken at this edge
    input  wire [511:0] rx_tdata,         // Its bytes, the first in bits 7:0
    input  wire [63:0]  rx_tkeep,         // Which of them count, the first in bit 0
    input  wire         rx_tlast,         // It is the last beat of its frame
    input  wire [31:0]  rx_tuser,         // Bits 30:0 in the first beat: input port
    input  wire [31:0]  cycle,            // Cycles since reset, modulo 2^32
    input  wire [4:0]   slot_bytes_log2,  // Register SLOT_BYTES_LOG2; 7 to 16
    input  wire [25:0]  slot_line,        // Line address of the slot of the frame in progress, or of the next one if there is none
    input  wire         slot_free,        // That slot is free
    input  wire         next_slot_free,   // The slot that follows is free
    output wire         line_valid,       // A line is to be written
    input  wire         line_ready,       // It is taken at this edge
    output wire [25:0]  line_address,     // Its line address
    output wire [511:0] line_data,        // Its bytes
    output wire         line_end,         // It is the last one of its frame
    output wire         started,          // The first beat of a frame enters its slot
    output wire         done,             // Line 0 of a frame is built: slot_line advances in the next cycle
    output wire [16:0]  done_bytes,       // Bytes of that frame in its slot
    output reg          done_cut,         // It was cut
    output wire         dropped,          // A malformed frame was dropped
    output wire         idle              // No frame is in progress
);

    localparam [1:0] BUILD_PHASE_BEATS = 2'd0;
    localparam [1:0] BUILD_PHASE_HEAD = 2'd2;
    localparam [1:0] BUILD_PHASE_TAIL = 2'd1;
    wire [11:0] slot_lines;
    wire [511:0] masked;
    wire move_on;
    wire emit_head;
    wire take_first;
    wire take_more;
    wire space;
    wire [18:0] capacity;
    wire [18:0] whole;
    reg  [18:0] kept;
    reg  [18:0] missing;
    wire [127:0] descriptor;
    reg  [11:0] position;
    reg  broken;
    wire has_tail;
    reg  drop;
    reg  held;
    reg  [511:0] held_data;
    reg  [63:0] held_keep;
    reg  held_last;
    reg  [31:0] held_user;
    reg  [1:0] phase;
    reg  [11:0] beats;
    reg  [367:0] head;
    reg  [143:0] carry;
    reg  [30:0] port;
    reg  bad;
    reg  [6:0] last_bytes;
    reg  [31:0] arrival;
    reg  out_valid;
    reg  [25:0] out_address;
    reg  [511:0] out_data;
    reg  out_end;
    wire keep_count_contiguous;
    wire [6:0] keep_count_bytes;

    assign slot_lines = 12'd1 << (slot_bytes_log2 - 5'd6);
    assign move_on = !out_valid || line_ready;
    assign emit_head = move_on && (phase == BUILD_PHASE_HEAD);
    assign idle = (phase == BUILD_PHASE_BEATS) && !(|beats);
    assign take_first = held && (((phase == BUILD_PHASE_BEATS) && !(|beats) && slot_free) || (emit_head &&
        next_slot_free));
    assign take_more = held && (phase == BUILD_PHASE_BEATS) && (|beats) && move_on;
    assign space = !held || take_first || take_more;
    assign rx_tready = space;
    assign capacity = (19'd1 << slot_bytes_log2) - 19'h12;
    assign whole = {1'b0, beats - 12'd1, 6'd0} + {12'd0, last_bytes};

    always @* begin
        kept = whole;
        if (whole > capacity) begin
            kept = capacity;
        end
    end

    always @* begin
        missing = whole - kept;
        done_cut = |missing;
        if (missing > 19'hffff) begin
            missing = 19'hffff;
        end
    end

    assign done_bytes = kept[16:0];
    assign descriptor = {arrival, 13'd0, missing, 1'b0, port, 13'd0, kept};
    assign done = emit_head;

    always @* begin
        position = 12'd1;
        broken = 1'b0;
        if (!take_first) begin
            broken = bad;
            position = beats;
            if (!(&beats)) begin
                position = beats + 12'd1;
            end
        end
        if (held_last) begin
            broken = broken || !keep_count_contiguous || held_user[31];
        end else begin
            broken = broken || !(&held_keep);
        end
    end

    assign has_tail = (keep_count_bytes > 7'h2e) && (position < slot_lines);

    always @* begin
        drop = 1'b0;
        if (take_first || take_more) begin
            if (held_last) begin
                if (broken) begin
                    drop = 1'b1;
                end
            end
        end
    end

    assign started = take_first;
    assign dropped = drop;
    assign line_valid = out_valid;
    assign line_address = out_address;
    assign line_data = out_data;
    assign line_end = out_end;

    keep_count keep_count (
        .keep(held_keep),
        .contiguous(keep_count_contiguous),
        .bytes(keep_count_bytes)
    );

    keep_mask keep_mask (
        .data(held_data),
        .keep(held_keep),
        .masked(masked)
    );

    always @(posedge clk) begin
        if (rst) begin
            held <= 1'b0;
            held_data <= 512'd0;
            held_keep <= 64'd0;
            held_last <= 1'b0;
            held_user <= 32'd0;
            phase <= 2'd0;
            beats <= 12'd0;
            head <= 368'd0;
            carry <= 144'd0;
            port <= 31'd0;
            bad <= 1'b0;
            last_bytes <= 7'd0;
            arrival <= 32'd0;
            out_valid <= 1'b0;
            out_address <= 26'd0;
            out_data <= 512'd0;
            out_end <= 1'b0;
        end else begin
            if (space) begin
                held <= rx_tvalid;
            end
            if (space && rx_tvalid) begin
                held_data <= rx_tdata;
                held_keep <= rx_tkeep;
                held_last <= rx_tlast;
                held_user <= rx_tuser;
            end
            if (move_on) begin
                out_valid <= 1'b0;
            end
            if (emit_head) begin
                out_valid <= 1'b1;
                out_address <= slot_line;
                out_data <= {head, 16'd0, descriptor};
                out_end <= 1'b1;
                phase <= BUILD_PHASE_BEATS;
                beats <= 12'd0;
            end
            if (move_on && (phase == BUILD_PHASE_TAIL)) begin
                out_valid <= 1'b1;
                out_address <= slot_line + {14'd0, beats};
                out_data <= {368'd0, carry};
                out_end <= 1'b0;
                phase <= BUILD_PHASE_HEAD;
            end
            if (take_more && (beats < slot_lines) && !bad) begin
                out_valid <= 1'b1;
                out_address <= slot_line + {14'd0, beats};
                out_data <= {masked[367:0], carry};
                out_end <= 1'b0;
            end
            if (take_first) begin
                head <= masked[367:0];
                port <= held_user[30:0];
            end
            if (take_first || take_more) begin
                carry <= masked[511:368];
                beats <= position;
                bad <= broken;
                if (held_last) begin
                    last_bytes <= keep_count_bytes;
                    arrival <= cycle;
                    if (broken) begin
                        beats <= 12'd0;
                    end else if (has_tail) begin
                        phase <= BUILD_PHASE_TAIL;
                    end else begin
                        phase <= BUILD_PHASE_HEAD;
                    end
                end
            end
        end
    end
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
module queue_pointers_6 (
    input  wire       clk,            // Rising-edge clock
    input  wire       rst,            // Synchronous reset, active high: empties the queue
    input  wire       push,           // Appends an entry at this edge
    input  wire       pop,            // Removes the oldest entry at this edge
    output wire [5:0] write_address,  // Where the next entry goes
    output wire [5:0] read_address,   // Where the oldest entry stands
    output wire       full,           // No entry is free
    output wire       empty           // No entry is in the queue
);

    reg  [5:0] tail;
    reg  [5:0] head;
    reg  all_used;

    assign write_address = tail;
    assign read_address = head;
    assign full = all_used;
    assign empty = (tail == head) && !all_used;

    always @(posedge clk) begin
        if (rst) begin
            tail <= 6'd0;
            head <= 6'd0;
            all_used <= 1'b0;
        end else begin
            if (push) begin
                tail <= tail + 6'd1;
            end
            if (pop) begin
                head <= head + 6'd1;
            end
            if (push && !pop) begin
                all_used <= (tail + 6'd1) == head;
            end else if (pop && !push) begin
                all_used <= 1'b0;
            end
        end
    end
endmodule

// 64 words of 1 bits, one write port, one combinational read port: distributed RAM.
module ram_async_1_6 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [5:0] write_address,
    input  wire       write_data,
    input  wire [5:0] read_address,
    output wire       read_data
);

    reg [0:0] words [0:63];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// Gives each line write a tag and reports when all writes up to the end of a frame are performed.
//
// 1. A write passes in the cycle in which it is offered, while fewer than 64 are outstanding. Tags
//    are given round-robin.
// 2. `written_valid` may name the tags in any order. `completed` is high for one cycle for each
//    write with `line_end`, in their order, once that write and all before it are performed: at
//    the earliest in the cycle after `written_valid`. One write a cycle is accounted for.
module write_window (
    input  wire       clk,            // Rising-edge clock
    input  wire       rst,            // Synchronous reset, active high
    input  wire       line_valid,     // From the line builder: a line is to be written
    output wire       line_ready,     // It is taken at this edge; follows write_ready
    input  wire       line_end,       // It is the last one of its frame
    output wire       write_valid,    // To memory: a write is offered
    input  wire       write_ready,    // It is accepted at this edge
    output wire [5:0] write_tag,      // Its tag
    input  wire       written_valid,  // From memory: a write is performed
    input  wire [5:0] written_tag,    // Its tag
    output wire       completed,      // All writes of a frame are performed, and those of the frames before
    output wire       empty           // No write is outstanding
);

    wire push;
    reg  [63:0] marks;
    wire pop;
    wire [5:0] window_read_address;
    wire window_full;
    wire ends_read_data;
    reg  [63:0] performed;

    assign write_valid = line_valid && !window_full;
    assign line_ready = write_ready && !window_full;
    assign push = line_valid && write_ready && !window_full;

    always @* begin
        marks = performed;
        if (push) begin
            marks[write_tag] = 1'b0;
        end
        if (written_valid) begin
            marks[written_tag] = 1'b1;
        end
    end

    assign pop = !empty && performed[window_read_address];
    assign completed = pop && ends_read_data;

    queue_pointers_6 window (
        .clk(clk),
        .rst(rst),
        .push(push),
        .pop(pop),
        .write_address(write_tag),
        .read_address(window_read_address),
        .full(window_full),
        .empty(empty)
    );

    ram_async_1_6 ends (
        .clk(clk),
        .write_enable(push),
        .write_address(write_tag),
        .write_data(line_end),
        .read_address(window_read_address),
        .read_data(ends_read_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            performed <= 64'd0;
        end else begin
            performed <= marks;
        end
    end
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

// Writes frames to ring slots and reports to the task FIFO when they are there.
//
// 1. Frames take the slots of consecutive packets; [`LineBuilder`] says how they stand in them,
//    and which are dropped as malformed: those take no slot. `rx_tready` is low while no slot is
//    free: no frame is lost.
// 2. A frame is counted to the task FIFO once all its lines and those of the frames before are
//    performed. Frames that complete while a count waits for `task_ready` go together into the
//    next count.
// 3. At most three quarters of the ring are in flight, from the first beat of a frame until egress
//    has freed its slot; and `drop_caches` is high for one cycle when the first frame of a quarter
//    starts. So the caches of the cores invalidate their lines between the last use of a slot by
//    the packet before and the first use by the next.
// 4. While `enable` is low no frame starts, and the next packet follows the counts that the host
//    pushes. `enable` may fall only while the unit is not `busy` and no frame comes. The ring's
//    place and sizes change, and the host pushes, only while it is low, and in the cycle before it
//    rises no more.
module ingress (
    input  wire         clk,              // Rising-edge clock
    input  wire         rst,              // Synchronous reset, active high
    input  wire         enable,           // Frames are taken
    input  wire [31:0]  cycle,            // Cycles since reset, modulo 2^32
    input  wire [31:0]  ring_base,        // Register RING_BASE
    input  wire [4:0]   ring_slots_log2,  // Register RING_SLOTS_LOG2; 1 to 20
    input  wire [4:0]   slot_bytes_log2,  // Register SLOT_BYTES_LOG2; 7 to 16
    input  wire         rx_tvalid,        // A beat is offered
    output wire         rx_tready,        // It is taken at this edge
    input  wire [511:0] rx_tdata,         // Its bytes, the first in bits 7:0
    input  wire [63:0]  rx_tkeep,         // Which of them count, the first in bit 0
    input  wire         rx_tlast,         // It is the last beat of its frame
    input  wire [31:0]  rx_tuser,         // Bits 30:0 in the first beat: input port
    output wire         write_valid,      // A line is to be written
    input  wire         write_ready,      // It is accepted at this edge
    output wire [25:0]  write_line,       // Its line address
    output wire [511:0] write_data,       // Its bytes; all are written
    output wire [5:0]   write_tag,        // Its tag
    input  wire         written_valid,    // A write is performed, in any order
    input  wire [5:0]   written_tag,      // Its tag
    output wire         task_valid,       // A number of packets is ready
    input  wire         task_ready,       // It is taken at this edge
    output wire [31:0]  task_count,       // The number
    input  wire         host_pushed,      // The host's count enters the task FIFO at this edge
    input  wire [31:0]  host_count,       // The host's count
    input  wire [31:0]  freed,            // From egress: packetIdx of the oldest packet whose slot is in use
    output wire         drop_caches,      // To the cores: the data caches invalidate every line
    output wire         busy,             // A frame or a packet has its slot, or a frame is on its way there
    output wire [31:0]  frames,           // Frames that took a slot
    output wire [31:0]  bytes,            // Bytes of these frames in their slots
    output wire [31:0]  dropped,          // Malformed frames
    output wire [31:0]  cut               // Frames cut to what a slot holds
);

    wire [31:0] limit;
    wire [31:0] in_flight;
    reg  [31:0] starts;
    reg  [31:0] quarter;
    reg  [31:0] waiting;
    wire builder_rx_tvalid;
    wire builder_rx_tready;
    wire builder_slot_free;
    wire builder_next_slot_free;
    wire builder_line_valid;
    wire builder_line_end;
    wire builder_started;
    wire builder_done;
    wire [16:0] builder_done_bytes;
    wire builder_done_cut;
    wire builder_dropped;
    wire builder_idle;
    wire window_line_ready;
    wire window_completed;
    wire window_empty_unused;
    wire position_load;
    wire [25:0] position_line;
    reg  [31:0] index;
    reg  [31:0] ready_frames;
    reg  pushing;
    reg  [31:0] push_count;
    reg  dropping;
    reg  [31:0] frame_count;
    reg  [31:0] byte_count;
    reg  [31:0] dropped_count;
    reg  [31:0] cut_count;
    wire [31:0] limit_shifted = 32'd3 << ring_slots_log2;
    wire [31:0] quarter_shifted = 32'd1 << ring_slots_log2;

    assign builder_rx_tvalid = rx_tvalid && enable;
    assign rx_tready = builder_rx_tready && enable;
    assign limit = {2'd0, limit_shifted[31:2]};
    assign in_flight = index - freed;
    assign builder_slot_free = enable && (in_flight < limit);
    assign builder_next_slot_free = enable && ((in_flight + 32'd1) < limit);
    assign position_load = !enable && builder_idle;

    always @* begin
        starts = index;
        if (builder_done) begin
            starts = index + 32'd1;
        end
        starts = starts & quarter;
    end

    assign busy = (|in_flight) || !builder_idle;

    always @* begin
        quarter = {2'd0, quarter_shifted[31:2]};
        if (|quarter) begin
            quarter = quarter - 32'd1;
        end
    end

    assign drop_caches = dropping;

    always @* begin
        waiting = ready_frames;
        if (window_completed) begin
            waiting = waiting + 32'd1;
        end
    end

    assign task_valid = pushing;
    assign task_count = push_count;
    assign frames = frame_count;
    assign bytes = byte_count;
    assign dropped = dropped_count;
    assign cut = cut_count;

    line_builder builder (
        .clk(clk),
        .rst(rst),
        .rx_tvalid(builder_rx_tvalid),
        .rx_tready(builder_rx_tready),
        .rx_tdata(rx_tdata),
        .rx_tkeep(rx_tkeep),
        .rx_tlast(rx_tlast),
        .rx_tuser(rx_tuser),
        .cycle(cycle),
        .slot_bytes_log2(slot_bytes_log2),
        .slot_line(position_line),
        .slot_free(builder_slot_free),
        .next_slot_free(builder_next_slot_free),
        .line_valid(builder_line_valid),
        .line_ready(window_line_ready),
        .line_address(write_line),
        .line_data(write_data),
        .line_end(builder_line_end),
        .started(builder_started),
        .done(builder_done),
        .done_bytes(builder_done_bytes),
        .done_cut(builder_done_cut),
        .dropped(builder_dropped),
        .idle(builder_idle)
    );

    write_window window_unit (
        .clk(clk),
        .rst(rst),
        .line_valid(builder_line_valid),
        .line_ready(window_line_ready),
        .line_end(builder_line_end),
        .write_valid(write_valid),
        .write_ready(write_ready),
        .write_tag(write_tag),
        .written_valid(written_valid),
        .written_tag(written_tag),
        .completed(window_completed),
        .empty(window_empty_unused)
    );

    ring_position position (
        .clk(clk),
        .rst(rst),
        .ring_base(ring_base),
        .ring_slots_log2(ring_slots_log2),
        .slot_bytes_log2(slot_bytes_log2),
        .load(position_load),
        .index(index),
        .advance(builder_done),
        .line(position_line)
    );

    always @(posedge clk) begin
        if (rst) begin
            index <= 32'd0;
            ready_frames <= 32'd0;
            pushing <= 1'b0;
            push_count <= 32'd0;
            dropping <= 1'b0;
            frame_count <= 32'd0;
            byte_count <= 32'd0;
            dropped_count <= 32'd0;
            cut_count <= 32'd0;
        end else begin
            if (builder_done) begin
                index <= index + 32'd1;
            end else if (host_pushed && !enable) begin
                index <= index + host_count;
            end
            dropping <= builder_started && !(|starts);
            ready_frames <= waiting;
            if (!pushing || task_ready) begin
                pushing <= |waiting;
                push_count <= waiting;
                ready_frames <= 32'd0;
            end
            if (builder_done) begin
                frame_count <= frame_count + 32'd1;
                byte_count <= byte_count + {15'd0, builder_done_bytes};
                if (builder_done_cut) begin
                    cut_count <= cut_count + 32'd1;
                end
            end
            if (builder_dropped) begin
                dropped_count <= dropped_count + 32'd1;
            end
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, limit_shifted[1:0], quarter_shifted[1:0]};
endmodule

