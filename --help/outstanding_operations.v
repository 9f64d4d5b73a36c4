// 32 words of 6 bits, one write port, one combinational read port: distributed RAM.
module ram_async_6_5 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [4:0] write_address,
    input  wire [5:0] write_data,
    input  wire [4:0] read_address,
    output wire [5:0] read_data
);

    reg [5:0] words [0:31];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// Tracks for every warp slot whether it has operations outstanding, for a kind of operation that
// completes in the order in which it starts.
//
// 1. `start_valid` starts an operation of `start_slot`; `busy` shows it from the next cycle on.
// 2. `done_valid` completes the oldest operation, which is one of `done_slot` and started two
//    cycles before or earlier. The slot stops being busy with the next cycle if none of its
//    operations started after the completed one.
// 3. `slot_busy` and `other_busy` answer `slot` and `other_slot` combinationally.
//
// Up to 63 operations are outstanding. For each slot the number of its youngest operation is kept,
// so that no counter per slot is needed.
module outstanding_operations (
    input  wire        clk,          // Rising-edge clock
    input  wire        rst,          // Synchronous reset, active high
    input  wire        start_valid,  // An operation starts
    input  wire [4:0]  start_slot,   // Its warp slot
    input  wire        done_valid,   // The oldest operation completes
    input  wire [4:0]  done_slot,    // Its warp slot
    output wire [31:0] busy,         // Slots with operations outstanding
    input  wire [4:0]  slot,         // Slot to look up
    output wire        slot_busy,    // It has operations outstanding
    input  wire [4:0]  other_slot,   // Another slot to look up
    output wire        other_busy    // It has operations outstanding
);

    reg  [31:0] set_;
    reg  [31:0] cleared;
    reg  start;
    reg  [4:0] start_slot_2;
    wire [5:0] youngest_read_data;
    reg  [5:0] started;
    reg  [5:0] completed;
    reg  [31:0] busy_2;

    always @* begin
        set_ = 32'd0;
        if (start) begin
            set_ = 32'd1 << start_slot_2;
        end
    end

    always @* begin
        cleared = 32'd0;
        if (done_valid) begin
            if (youngest_read_data == completed) begin
                cleared = 32'd1 << done_slot;
            end
        end
    end

    assign busy = busy_2 | set_;
    assign slot_busy = busy_2[slot] | (start & (start_slot_2 == slot));
    assign other_busy = busy_2[other_slot] | (start & (start_slot_2 == other_slot));

    ram_async_6_5 youngest (
        .clk(clk),
        .write_enable(start),
        .write_address(start_slot_2),
        .write_data(started),
        .read_address(done_slot),
        .read_data(youngest_read_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            start <= 1'b0;
            start_slot_2 <= 5'd0;
            started <= 6'd0;
            completed <= 6'd0;
            busy_2 <= 32'd0;
        end else begin
            start <= start_valid;
            start_slot_2 <= start_slot;
            if (start) begin
                started <= started + 6'd1;
            end
            if (done_valid) begin
                completed <= completed + 6'd1;
            end
            busy_2 <= (busy_2 & ~cleared) | set_;
        end
    end
endmodule

