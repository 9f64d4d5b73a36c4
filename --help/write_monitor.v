// Watches the writes that a bank of the L2 accepts.
//
// 1. `hit` of a channel is high in the cycle after a write was accepted that writes a byte of its range, whoever
//    wrote: a lane, the packet ports, the thread spawner, a hart, an atomic operation.
// 2. A hart's own stores and atomic operations do not count: those of requester `processor` with write tag bit 5 low
//    and the hart in bits 4:3 (4:2 with eight harts), but for tag 31, the completion words of the thread spawner; or with bit 5 high and the
//    hart in bits 2:0.
// 3. It taps the port of the bank and holds nothing up.
//
// The channels of hart 0 come first, `per_hart` of each hart.
module write_monitor (
    input  wire        clk,            // Rising-edge clock
    input  wire        rst,            // Synchronous reset, active high
    input  wire        write,          // At the port of the bank: a write is accepted at this edge
    input  wire [4:0]  requester,      // Its requester
    input  wire [5:0]  tag,            // Its tag
    input  wire [25:0] line,           // Its line address
    input  wire [63:0] strobe,         // Bytes that it writes
    // From the channels: what each watches. What a channel watches: some words of some lines:
    input  wire [1:0]  watched_valid,  // The channel watches writes
    input  wire [51:0] watched_line,   // Line addresses: those that equal this one in the bits of lines
    input  wire [51:0] watched_lines,  // Bits of the line address that count
    input  wire [31:0] watched_words,  // Words of these lines
    output wire [1:0]  hit             // To the channels: such a write was accepted a cycle ago
);

    localparam [2:0] HART_0 = 3'd0;
    localparam [2:0] HART_1 = 3'd1;
    localparam [4:0] PROCESSOR = 5'd5;
    wire [15:0] words;
    wire by_processor;
    wire completion;
    wire [1:0] own;
    wire [1:0] same_line;
    reg  hit_q_0;
    reg  hit_q_1;
    reg  [2:0] writer_0, writer_1;

    assign words = {|strobe[63:60], |strobe[59:56], |strobe[55:52], |strobe[51:48], |strobe[47:44],
        |strobe[43:40], |strobe[39:36], |strobe[35:32], |strobe[31:28], |strobe[27:24], |strobe[23:20],
        |strobe[19:16], |strobe[15:12], |strobe[11:8], |strobe[7:4], |strobe[3:0]};
    assign by_processor = requester == PROCESSOR;
    assign completion = tag == 6'h1f;

    always @* begin
        writer_0 = {1'b0, tag[4:3]};
        if (tag[5]) begin
            writer_0 = tag[2:0];
        end
    end

    assign own = {by_processor & !completion & (writer_1 == HART_1), by_processor & !completion & (writer_0 ==
        HART_0)};
    assign same_line = {!(|((line ^ watched_line[51:26]) & watched_lines[51:26])), !(|((line ^
        watched_line[25:0]) & watched_lines[25:0]))};
    assign hit = {hit_q_1, hit_q_0};

    always @* begin
        writer_1 = {1'b0, tag[4:3]};
        if (tag[5]) begin
            writer_1 = tag[2:0];
        end
    end

    always @(posedge clk) begin
        if (rst) begin
            hit_q_0 <= 1'b0;
            hit_q_1 <= 1'b0;
        end else begin
            hit_q_0 <= write & watched_valid[0] & !own[0] & same_line[0] & (|(words & watched_words[15:0]));
            hit_q_1 <= write & watched_valid[1] & !own[1] & same_line[1] & (|(words & watched_words[31:16]));
        end
    end
endmodule

