// AXI4-Stream source that plays a list of beats {tlast, tuser, tkeep, tdata}, for event-driven
// simulators.
module stream_source #(
    parameter PAUSE = 0,
    parameter SEED = 1,
    parameter BEATS = 1,
    parameter LIST = ""
) (
    input  wire         clk,
    input  wire         rst,
    input  wire         start,
    output wire [511:0] tdata,
    output wire [63:0]  tkeep,
    output wire         tlast,
    output wire [31:0]  tuser,
    output reg          tvalid,
    input  wire         tready
);
    reg [608:0] list [0:BEATS - 1];
    integer beat;
    wire [608:0] present = list[beat];

    assign {tlast, tuser, tkeep, tdata} = tvalid ? present : {609{1'bx}};

    initial $readmemh(LIST, list);

    `include "bus_end.vh"

    always @(posedge clk) begin
        if (rst) begin
            tvalid <= 1'b0;
            beat <= 0;
        end else begin
            if (tready === 1'bx) fail("X on TREADY");
            if (tvalid && tready) begin
                tvalid <= 1'b0;
                beat <= beat + 1;
            end
            if (start && (!tvalid || tready) && beat + (tvalid ? 1 : 0) < BEATS && !pauses(0)) tvalid <= 1'b1;
        end
    end
endmodule

// AXI4-Stream sink that prints what it takes, for event-driven simulators.
module stream_sink #(
    parameter PAUSE = 0,
    parameter SEED = 1
) (
    input  wire         clk,
    input  wire         rst,
    input  wire [511:0] tdata,
    input  wire [63:0]  tkeep,
    input  wire         tlast,
    input  wire [31:0]  tuser,
    input  wire         tvalid,
    output reg          tready
);
    integer i;
    reg [511:0] mask;

    `include "bus_end.vh"

    always @(posedge clk) begin
        if (rst) tready <= 1'b0;
        else begin
            if (tvalid === 1'bx) fail("X on TVALID");
            if (tvalid) begin
                if (^{tkeep, tlast, tuser} === 1'bx) fail("X on TKEEP, TLAST or TUSER");
                for (i = 0; i < 64; i = i + 1) mask[8 * i +: 8] = {8{tkeep[i]}};
                if (^(tdata & mask) === 1'bx) fail("X on a byte of TDATA that is kept");
            end
            if (tvalid && tready) $display("BEAT %b %h %h %h", tlast, tuser, tkeep, tdata & mask);
            tready <= !pauses(0);
        end
    end
endmodule
