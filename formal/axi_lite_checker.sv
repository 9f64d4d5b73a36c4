// Watches an AXI4-Lite slave (AMBA AXI protocol specification, part B): what the slave has to keep
// is asserted, what the master has to keep is assumed.
//
// 1. `valid` and what goes with it stay until `ready`.
// 2. One response for each write, after both its address and its data; one for each read, after its
//    address.
// 3. No more than `LIMIT` requests are open on a channel.
module axi_lite_checker #(
    parameter ADDRESS = 12,
    parameter LIMIT = 4
) (
    input wire               clk,
    input wire               rst,
    input wire               started,
    input wire [ADDRESS-1:0] awaddr,
    input wire               awvalid,
    input wire               awready,
    input wire [31:0]        wdata,
    input wire [3:0]         wstrb,
    input wire               wvalid,
    input wire               wready,
    input wire [1:0]         bresp,
    input wire               bvalid,
    input wire               bready,
    input wire [ADDRESS-1:0] araddr,
    input wire               arvalid,
    input wire               arready,
    input wire [31:0]        rdata,
    input wire [1:0]         rresp,
    input wire               rvalid,
    input wire               rready,
    // Requests that were accepted and not answered.
    output reg [3:0]         aw_open,
    output reg [3:0]         w_open,
    output reg [3:0]         ar_open
);
    reg aw_held, w_held, b_held, ar_held, r_held;
    reg [ADDRESS-1:0] was_awaddr, was_araddr;
    reg [31:0] was_wdata, was_rdata;
    reg [3:0] was_wstrb;
    reg [1:0] was_bresp, was_rresp;
    reg was_rst;
    always @(posedge clk) begin
        aw_held <= !rst && awvalid && !awready;
        w_held <= !rst && wvalid && !wready;
        b_held <= !rst && bvalid && !bready;
        ar_held <= !rst && arvalid && !arready;
        r_held <= !rst && rvalid && !rready;
        {was_awaddr, was_araddr, was_wdata, was_wstrb} <= {awaddr, araddr, wdata, wstrb};
        {was_bresp, was_rdata, was_rresp} <= {bresp, rdata, rresp};
        aw_open <= rst ? 0 : aw_open + (awvalid && awready) - (bvalid && bready);
        w_open <= rst ? 0 : w_open + (wvalid && wready) - (bvalid && bready);
        ar_open <= rst ? 0 : ar_open + (arvalid && arready) - (rvalid && rready);
        was_rst <= rst;
    end
    always @* if (started && !rst) begin
        if (aw_held) assume (awvalid && awaddr == was_awaddr);
        if (w_held) assume (wvalid && wdata == was_wdata && wstrb == was_wstrb);
        if (ar_held) assume (arvalid && araddr == was_araddr);
    end
    always @(posedge clk) if (started && !rst) begin
        if (b_held) b_is_stable: assert (bvalid && bresp == was_bresp);
        if (r_held) r_is_stable: assert (rvalid && rdata == was_rdata && rresp == was_rresp);
        if (was_rst) quiet_after_reset: assert (!bvalid && !rvalid);
        if (bvalid) b_answers_a_write: assert (aw_open != 0 && w_open != 0);
        if (rvalid) r_answers_a_read: assert (ar_open != 0);
        // OKAY or SLVERR: exclusive accesses and decode errors are not for a slave of AXI4-Lite.
        if (bvalid) bresp_is_legal: assert (bresp[0] == 0);
        if (rvalid) rresp_is_legal: assert (rresp[0] == 0);
        open_requests_are_bounded: assert (aw_open <= LIMIT && w_open <= LIMIT && ar_open <= LIMIT);
    end
endmodule
