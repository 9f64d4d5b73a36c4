// AXI4 slave in front of the memory of lines of 64 bytes that the bench has, for event-driven
// simulators. It pauses at random on every channel, and ends the simulation at the first X on a
// handshake or on what a handshake transfers.
//
// Bursts are of whole lines and increment. Reads are answered in the order of their addresses,
// writes in the order of theirs.
module axi_memory #(
    parameter LINES = 1024,     // Lines of the memory
    parameter PAUSE = 0,        // Chance of a pause in a cycle, in percent, on each channel
    parameter SEED = 1
) (
    input  wire         clk,
    input  wire         rst,
    input  wire [7:0]   awid,
    input  wire [31:0]  awaddr,
    input  wire [7:0]   awlen,
    input  wire [2:0]   awsize,
    input  wire [1:0]   awburst,
    input  wire         awvalid,
    output reg          awready,
    input  wire [511:0] wdata,
    input  wire [63:0]  wstrb,
    input  wire         wlast,
    input  wire         wvalid,
    output reg          wready,
    output reg  [7:0]   bid,
    output wire [1:0]   bresp,
    output reg          bvalid,
    input  wire         bready,
    input  wire [7:0]   arid,
    input  wire [31:0]  araddr,
    input  wire [7:0]   arlen,
    input  wire [2:0]   arsize,
    input  wire [1:0]   arburst,
    input  wire         arvalid,
    output reg          arready,
    output reg  [7:0]   rid,
    output reg  [511:0] rdata,
    output wire [1:0]   rresp,
    output reg          rlast,
    output reg          rvalid,
    input  wire         rready
);
    localparam DEPTH = 64;

    reg [48:0] reads [0:DEPTH - 1];
    reg [48:0] writes [0:DEPTH - 1];
    integer read_head, read_tail, write_head, write_tail, beat, write_beat, answered, written, index, i;
    reg [7:0] ids [0:DEPTH - 1];
    reg [511:0] mask;

    assign bresp = 2'd0;
    assign rresp = 2'd0;

    `include "bus_end.vh"

    always @(posedge clk) begin
        if (rst) begin
            {awready, wready, bvalid, arready, rvalid} <= 5'd0;
            read_head = 0; read_tail = 0; write_head = 0; write_tail = 0;
            beat = 0; write_beat = 0; written = 0; answered = 0;
        end else begin
            if (^{awvalid, wvalid, bready, arvalid, rready} === 1'bx) fail("X on valid or ready");
            if (arvalid && ^{arid, araddr, arlen, arsize, arburst} === 1'bx) fail("X on AR");
            if (awvalid && ^{awid, awaddr, awlen, awsize, awburst} === 1'bx) fail("X on AW");
            if (wvalid && ^{wstrb, wlast} === 1'bx) fail("X on WSTRB or WLAST");
            for (i = 0; i < 64; i = i + 1) mask[8 * i +: 8] = {8{wstrb[i]}};
            if (wvalid && ^(wdata & mask) === 1'bx) fail("X on a byte of WDATA with strobe");
            if (wvalid && ^wdata === 1'bx) fail("X on a byte of WDATA without strobe");

            // Addresses
            if (arvalid && arready) begin
                if (arsize != 3'd6 || arburst != 2'd1 || araddr[5:0] != 6'd0) fail("AR is not of lines");
                reads[read_tail % DEPTH] = {arid, araddr, arlen};
                read_tail = read_tail + 1;
            end
            if (awvalid && awready) begin
                if (awsize != 3'd6 || awburst != 2'd1 || awaddr[5:0] != 6'd0) fail("AW is not of lines");
                writes[write_tail % DEPTH] = {awid, awaddr, awlen};
                write_tail = write_tail + 1;
            end
            arready <= read_tail - read_head < DEPTH - 2 && !pauses(0);
            awready <= write_tail - write_head < DEPTH - 2 && !pauses(0);

            // Read data
            if (rvalid && rready) rvalid <= 1'b0;
            if ((!rvalid || rready) && read_head != read_tail && !pauses(0)) begin
                index = (reads[read_head % DEPTH] >> 14) & 32'h3ffffff;
                index = index + beat;
                if (index >= LINES) fail("read beyond the memory");
                rid <= reads[read_head % DEPTH] >> 40;
                rdata <= bench.lines[index];
                rvalid <= 1'b1;
                rlast <= beat == (reads[read_head % DEPTH] & 8'hff);
                if (beat == (reads[read_head % DEPTH] & 8'hff)) begin
                    read_head = read_head + 1;
                    beat = 0;
                end else beat = beat + 1;
            end

            // Write data, which may come before the address: it is taken when that is here
            if (wvalid && wready) begin
                index = (writes[write_head % DEPTH] >> 14) & 32'h3ffffff;
                index = index + write_beat;
                if (index >= LINES) fail("write beyond the memory");
                bench.lines[index] = (bench.lines[index] & ~mask) | (wdata & mask);
                if (wlast != (write_beat == (writes[write_head % DEPTH] & 8'hff))) fail("WLAST");
                if (wlast) begin
                    ids[written % DEPTH] = writes[write_head % DEPTH] >> 40;
                    written = written + 1;
                    write_head = write_head + 1;
                    write_beat = 0;
                end else write_beat = write_beat + 1;
            end
            wready <= write_head != write_tail && written - answered < DEPTH - 2 && !(wvalid && wready && wlast
                && write_head == write_tail) && !pauses(0);

            // Responses
            if (bvalid && bready) bvalid <= 1'b0;
            if ((!bvalid || bready) && answered != written && !pauses(0)) begin
                bid <= ids[answered % DEPTH];
                bvalid <= 1'b1;
                answered = answered + 1;
            end
        end
    end
endmodule
