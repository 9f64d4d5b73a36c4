// 16 words of 4 bits, one write port, one combinational read port: distributed RAM.
module ram_async_4_4 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [3:0] write_address,
    input  wire [3:0] write_data,
    input  wire [3:0] read_address,
    output wire [3:0] read_data
);

    reg [3:0] words [0:15];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// Keeps the slots of triggered jobs in order until they are issued.
//
// 1. `push` adds `push_slot` at this edge. A slot is pushed again only after it was taken, so the 16
//    places are always enough.
// 2. `valid` and `slot` show the oldest; with none, what is pushed in this cycle. `take` removes it
//    at this edge, and is without effect while `valid` is low.
module spawn_order (
    input  wire       clk,        // Rising-edge clock
    input  wire       rst,        // Synchronous reset, active high: no job waits
    input  wire       push,       // A job is triggered
    input  wire [3:0] push_slot,  // Its slot
    output wire       valid,      // A job waits, or is triggered in this cycle
    output reg  [3:0] slot,       // Slot of the oldest
    input  wire       take        // It is taken at this edge
);

    wire empty;
    wire [3:0] slots_read_data;
    reg  [4:0] head;
    reg  [4:0] tail;

    assign empty = head == tail;
    assign valid = !empty | push;

    always @* begin
        slot = slots_read_data;
        if (empty) begin
            slot = push_slot;
        end
    end

    ram_async_4_4 slots (
        .clk(clk),
        .write_enable(push),
        .write_address(tail[3:0]),
        .write_data(push_slot),
        .read_address(head[3:0]),
        .read_data(slots_read_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            head <= 5'd0;
            tail <= 5'd0;
        end else begin
            if (push) begin
                tail <= tail + 5'd1;
            end
            if (take & (!empty | push)) begin
                head <= head + 5'd1;
            end
        end
    end
endmodule

