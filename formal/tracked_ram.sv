// A RAM with one write and one combinational read port, of which one word is followed: the word at `tracked`, which the
// property drives. All other words read as anything, so whatever holds with this RAM holds with a real one.
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

// The RAMs of the design that it takes the place of, with their ports.
module ram_async_32_5 (
    input wire clk, input wire write_enable, input wire [4:0] write_address, input wire [31:0] write_data,
    input wire [4:0] read_address, output wire [31:0] read_data
);
    wire [4:0] tracked;
    wire [31:0] word;
    tracked_ram #(32, 5) ram (clk, write_enable, write_address, write_data, read_address, tracked, word, read_data);
endmodule

module ram_async_6_5 (
    input wire clk, input wire write_enable, input wire [4:0] write_address, input wire [5:0] write_data,
    input wire [4:0] read_address, output wire [5:0] read_data
);
    wire [4:0] tracked;
    wire [5:0] word;
    tracked_ram #(6, 5) ram (clk, write_enable, write_address, write_data, read_address, tracked, word, read_data);
endmodule

module ram_async_8_1 (
    input wire clk, input wire write_enable, input wire [0:0] write_address, input wire [7:0] write_data,
    input wire [0:0] read_address, output wire [7:0] read_data
);
    wire [0:0] tracked;
    wire [7:0] word;
    tracked_ram #(8, 1) ram (clk, write_enable, write_address, write_data, read_address, tracked, word, read_data);
endmodule

module ram_async_512_1 (
    input wire clk, input wire write_enable, input wire [0:0] write_address, input wire [511:0] write_data,
    input wire [0:0] read_address, output wire [511:0] read_data
);
    wire [0:0] tracked;
    wire [511:0] word;
    tracked_ram #(512, 1) ram (clk, write_enable, write_address, write_data, read_address, tracked, word, read_data);
endmodule

module ram_async_1_1 (
    input wire clk, input wire write_enable, input wire [0:0] write_address, input wire [0:0] write_data,
    input wire [0:0] read_address, output wire [0:0] read_data
);
    wire [0:0] tracked;
    wire [0:0] word;
    tracked_ram #(1, 1) ram (clk, write_enable, write_address, write_data, read_address, tracked, word, read_data);
endmodule
