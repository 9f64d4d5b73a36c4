// A RAM with one write and one combinational read port, of which one word is followed: the word at
// `tracked`, which the property drives. All other words read as anything, so whatever holds with
// this RAM holds with a real one.
module tracked_ram #(
    parameter WIDTH = 1,
    parameter ADDRESS = 1
) (
    input  wire               clk,
    input  wire               write_enable,
    input  wire [ADDRESS-1:0] write_address,
    input  wire [WIDTH-1:0]   write_data,
    input  wire [ADDRESS-1:0] read_address,
    input  wire [ADDRESS-1:0] tracked,
    output reg  [WIDTH-1:0]   word,
    output wire [WIDTH-1:0]   read_data
);
    (* anyseq *) wire [WIDTH-1:0] other;
    always @(posedge clk) if (write_enable && write_address == tracked) word <= write_data;
    assign read_data = read_address == tracked ? word : other;
endmodule

// The same with a registered read port, which reads what stood there before a write at the same
// edge.
module tracked_sync_ram #(
    parameter WIDTH = 1,
    parameter ADDRESS = 1
) (
    input  wire               clk,
    input  wire               write_enable,
    input  wire [ADDRESS-1:0] write_address,
    input  wire [WIDTH-1:0]   write_data,
    input  wire               read_enable,
    input  wire [ADDRESS-1:0] read_address,
    input  wire [ADDRESS-1:0] tracked,
    output reg  [WIDTH-1:0]   word,
    output reg  [WIDTH-1:0]   read_data
);
    (* anyseq *) wire [WIDTH-1:0] other;
    always @(posedge clk) begin
        if (write_enable && write_address == tracked) word <= write_data;
        if (read_enable) read_data <= read_address == tracked ? word : other;
    end
endmodule

// A RAM whose words all read as anything, for data that no property looks at.
module any_ram #(
    parameter WIDTH = 1
) (
    output wire [WIDTH-1:0] read_data
);
    (* anyseq *) wire [WIDTH-1:0] any;
    assign read_data = any;
endmodule

// The RAMs of the design that these take the place of, with their ports.
`define PORTS(WIDTH, ADDRESS) \
    input wire clk, input wire write_enable, input wire [ADDRESS-1:0] write_address, input wire [WIDTH-1:0] write_data, \
    input wire [ADDRESS-1:0] read_address, output wire [WIDTH-1:0] read_data
`define TRACKED(NAME, WIDTH, ADDRESS) \
    module NAME (`PORTS(WIDTH, ADDRESS)); \
        wire [ADDRESS-1:0] tracked; \
        wire [WIDTH-1:0] word; \
        tracked_ram #(WIDTH, ADDRESS) ram ( \
            clk, write_enable, write_address, write_data, read_address, tracked, word, read_data); \
    endmodule
`define TRACKED_SYNC(NAME, WIDTH, ADDRESS) \
    module NAME ( \
        input wire clk, input wire write_enable, input wire [ADDRESS-1:0] write_address, \
        input wire [WIDTH-1:0] write_data, input wire read_enable, input wire [ADDRESS-1:0] read_address, \
        output wire [WIDTH-1:0] read_data \
    ); \
        wire [ADDRESS-1:0] tracked; \
        wire [WIDTH-1:0] word; \
        tracked_sync_ram #(WIDTH, ADDRESS) ram ( \
            clk, write_enable, write_address, write_data, read_enable, read_address, tracked, word, read_data); \
    endmodule
`define ANY(NAME, WIDTH, ADDRESS) \
    module NAME (`PORTS(WIDTH, ADDRESS)); \
        any_ram #(WIDTH) ram (read_data); \
    endmodule

// Control units of the cores.
`TRACKED(ram_async_32_5, 32, 5)
`TRACKED(ram_async_6_5, 6, 5)
`TRACKED(ram_async_30_5, 30, 5)
`TRACKED_SYNC(ram_sync_38_5, 38, 5)
`TRACKED_SYNC(ram_sync_6_5, 6, 5)
`TRACKED_SYNC(ram_sync_2_5, 2, 5)
`TRACKED_SYNC(ram_sync_36_5, 36, 5)
// The memory channel.
`TRACKED(ram_async_8_1, 8, 1)
`TRACKED(ram_async_512_1, 512, 1)
`TRACKED(ram_async_1_1, 1, 1)
// The packet ports.
`TRACKED(ram_async_1_6, 1, 6)
`TRACKED(ram_async_1_4, 1, 4)
`TRACKED(ram_async_31_4, 31, 4)
`ANY(ram_async_512_2, 512, 2)
`ANY(ram_async_512_4, 512, 4)
`ANY(ram_async_512_5, 512, 5)
`ifdef FOLLOWED_WORDS
`TRACKED(ram_async_32_4, 32, 4)
`else
`ANY(ram_async_32_4, 32, 4)
`endif
`ANY(ram_async_26_4, 26, 4)
`ANY(ram_async_1_5, 1, 5)
// The thread spawner.
`TRACKED(ram_async_3_4, 3, 4)
`TRACKED(ram_async_11_4, 11, 4)
// The network interface.
`TRACKED(ram_sized_async_24_4, 24, 16)
`TRACKED(ram_sized_async_12_4, 12, 16)
`TRACKED(ram_sized_async_8_1, 8, 16)
`TRACKED_SYNC(ram_sized_64_4, 64, 16)
`TRACKED_SYNC(ram_sized_128_4, 128, 16)
`TRACKED_SYNC(ram_sized_62_4, 62, 16)
`TRACKED(ram_sized_async_24_2, 24, 16)
`TRACKED(ram_sized_async_12_2, 12, 16)
`TRACKED_SYNC(ram_sized_64_2, 64, 16)
`TRACKED_SYNC(ram_sized_128_2, 128, 16)
`TRACKED_SYNC(ram_sized_62_2, 62, 16)
`TRACKED(ram_async_96_4, 96, 4)
`TRACKED(ram_async_58_4, 58, 4)
`TRACKED(ram_async_24_4, 24, 4)
// The command queues.
`TRACKED(ram_async_1_8, 1, 8)
`TRACKED_SYNC(ram_sync_1_14, 1, 14)
`TRACKED_SYNC(ram_sync_330_8, 330, 8)
`TRACKED(ram_async_44_3, 44, 3)
`TRACKED(ram_async_16_5, 16, 5)
// The link of a board.
`TRACKED_SYNC(ram_sync_8_11, 8, 11)
