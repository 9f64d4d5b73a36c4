// 32 words of 2 bits, one write port, one combinational read port: distributed RAM.
module ram_async_2_5 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [4:0] write_address,
    input  wire [1:0] write_data,
    input  wire [4:0] read_address,
    output wire [1:0] read_data
);

    reg [1:0] words [0:31];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// 32 entries, one for each warp slot, that hold the index of the slot's entry in the delay commit
// queue.
//
// 1. `write` stores `write_index` for `write_slot` at this edge.
// 2. `read_index` is, in the same cycle, what `read_slot` holds; undefined if it was never
//    written.
//
// The paper's entry has 16 bits: the slot, by which this table is addressed, and the index. With a thread spawner an
// entry has one bit more: set, the index is the slot of a spawner's job.
module lookup_table (
    input  wire       clk,          // Rising-edge clock
    input  wire       write,        // A warp is issued to this core
    input  wire [4:0] write_slot,   // Its slot
    input  wire [1:0] write_index,  // Its entry in the delay commit queue
    input  wire [4:0] read_slot,    // The slot of a warp that finished
    output wire [1:0] read_index    // Its entry in the delay commit queue
);

    ram_async_2_5 ram (
        .clk(clk),
        .write_enable(write),
        .write_address(write_slot),
        .write_data(write_index),
        .read_address(read_slot),
        .read_data(read_index)
    );
endmodule

