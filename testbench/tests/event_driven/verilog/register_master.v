// AXI4-Lite master that plays a list of accesses, for event-driven simulators. `done` rises after
// the last one.
//
// An entry is {operation, offset, value}: 8'd1 writes, 8'd2 reads and prints, 8'd3 reads until the
// value comes, 8'd0 ends.
module register_master #(
    parameter PAUSE = 0,
    parameter SEED = 1,
    parameter ENTRIES = 1024,
    parameter LIST = ""
) (
    input  wire        clk,
    input  wire        rst,
    output reg  [11:0] awaddr,
    output reg         awvalid,
    input  wire        awready,
    output reg  [31:0] wdata,
    output reg         wvalid,
    input  wire        wready,
    input  wire [1:0]  bresp,
    input  wire        bvalid,
    output reg         bready,
    output reg  [11:0] araddr,
    output reg         arvalid,
    input  wire        arready,
    input  wire [31:0] rdata,
    input  wire [1:0]  rresp,
    input  wire        rvalid,
    output reg         rready,
    output reg         done
);
    reg [51:0] list [0:ENTRIES - 1];
    integer entry;
    reg busy;
    wire [7:0] operation = list[entry] >> 44;
    wire [11:0] offset = list[entry] >> 32;

    initial $readmemh(LIST, list);

    `include "bus_end.vh"

    // Ends the run, and tells which register it was about.
    task fail_at_register;
        input [8 * 40 - 1:0] what;
        reg [8 * 60 - 1:0] text;
        begin
            $sformat(text, "%0s, register %0h", what, offset);
            fail(text);
        end
    endtask

    always @(posedge clk) begin
        if (rst) begin
            {awvalid, wvalid, bready, arvalid, rready, done, busy} <= 7'd0;
            entry <= 0;
        end else begin
            if (^{awready, wready, bvalid, arready, rvalid} === 1'bx) fail_at_register("X on valid or ready");
            if (awvalid && awready) awvalid <= 1'b0;
            if (wvalid && wready) wvalid <= 1'b0;
            if (arvalid && arready) arvalid <= 1'b0;
            bready <= !pauses(0);
            rready <= !pauses(0);
            if (!busy && !done && !pauses(0)) begin
                busy <= operation != 8'd0;
                done <= operation == 8'd0;
                awvalid <= operation == 8'd1;
                wvalid <= operation == 8'd1;
                arvalid <= operation == 8'd2 || operation == 8'd3;
                awaddr <= offset;
                araddr <= offset;
                wdata <= list[entry];
            end
            if (bvalid && bready) begin
                if (bresp !== 2'd0) fail_at_register("a write is refused");
                busy <= 1'b0;
                entry <= entry + 1;
            end
            if (rvalid && rready) begin
                if (^{rdata, rresp} === 1'bx) fail_at_register("X on a register that is read");
                if (rresp !== 2'd0) fail_at_register("a read is refused");
                if (operation == 8'd2) $display("READ %h %h", offset, rdata);
                busy <= 1'b0;
                if (operation != 8'd3 || rdata == list[entry][31:0]) entry <= entry + 1;
            end
        end
    end
endmodule
