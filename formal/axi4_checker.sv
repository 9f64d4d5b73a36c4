// Watches an AXI4 master (AMBA AXI protocol specification, part A): what the master has to keep is
// asserted, what the slave has to keep is assumed. For masters that start the data of a write no
// earlier than its address is offered.
//
// 1. `valid` and what goes with it stay until `ready`; no `valid` in the cycle after a reset.
// 2. Bursts are INCR, of beats no wider than the bus, and stay within 4 KB.
// 3. Data beats of writes come in the order of the addresses, never before their address is
//    offered; WLAST is on the last beat of each burst and on no other.
// 4. The slave answers only what is open: B and R carry the ID of an open burst; its `valid` stays,
//    too. Fewer than `MAX_OPEN` bursts of an ID are open.
module axi4_checker #(
    parameter ID = 6,
    parameter DATA = 512,
    parameter SIZE = 6,
    parameter MAX_OPEN = 7
) (
    input wire                clk,
    input wire                rst,
    input wire                started,
    input wire [ID-1:0]       awid,
    input wire [31:0]         awaddr,
    input wire [7:0]          awlen,
    input wire [2:0]          awsize,
    input wire [1:0]          awburst,
    input wire                awvalid,
    input wire                awready,
    input wire [DATA-1:0]     wdata,
    input wire [DATA/8-1:0]   wstrb,
    input wire                wlast,
    input wire                wvalid,
    input wire                wready,
    input wire [ID-1:0]       bid,
    input wire [1:0]          bresp,
    input wire                bvalid,
    input wire                bready,
    input wire [ID-1:0]       arid,
    input wire [31:0]         araddr,
    input wire [7:0]          arlen,
    input wire [2:0]          arsize,
    input wire [1:0]          arburst,
    input wire                arvalid,
    input wire                arready,
    input wire [ID-1:0]       rid,
    input wire [DATA-1:0]     rdata,
    input wire [1:0]          rresp,
    input wire                rlast,
    input wire                rvalid,
    input wire                rready,
    // Which write burst is followed.
    input wire                follow
);
    reg aw_held, w_held, b_held, ar_held, r_held, was_rst;
    reg [ID+44:0] was_aw, was_ar;
    reg [DATA+DATA/8:0] was_w;
    reg [ID+1:0] was_b;
    reg [ID+DATA+2:0] was_r;
    wire [ID+44:0] aw = {awid, awaddr, awlen, awsize, awburst};
    wire [ID+44:0] ar = {arid, araddr, arlen, arsize, arburst};
    wire [DATA+DATA/8:0] w = {wdata, wstrb, wlast};
    wire [ID+1:0] b = {bid, bresp};
    wire [ID+DATA+2:0] r = {rid, rdata, rresp, rlast};

    // Beats that the addresses promise and that the data brought.
    reg [11:0] beats_promised, beats_brought;
    wire [11:0] beats_offered = beats_promised + (awvalid ? awlen + 12'd1 : 12'd0);
    // One write burst is followed, whichever: the number of its first beat, and of its beats less
    // one.
    reg following;
    reg [11:0] first_beat;
    reg [7:0] length;
    wire begins = awvalid && follow && !following && !aw_held && beats_brought == beats_promised;
    wire [11:0] beat = beats_brought - (begins ? beats_promised : first_beat);
    wire in_burst = (following || begins) && beat <= (begins ? awlen : length);
    wire is_last = beat == (begins ? awlen : length);
    // Bursts of one followed ID that are open, whichever ID.
    (* anyconst *) reg [ID-1:0] id;
    reg [7:0] writes_open, reads_open;
    wire aw_id = awvalid && awready && awid == id;
    wire ar_id = arvalid && arready && arid == id;
    wire b_id = bvalid && bready && bid == id;
    wire r_id = rvalid && rready && rid == id && rlast;
    always @(posedge clk) begin
        aw_held <= awvalid && !awready;
        w_held <= wvalid && !wready;
        b_held <= bvalid && !bready;
        ar_held <= arvalid && !arready;
        r_held <= rvalid && !rready;
        was_aw <= aw;
        was_w <= w;
        was_b <= b;
        was_ar <= ar;
        was_r <= r;
        was_rst <= rst;
        beats_promised <= beats_promised + (awvalid && awready ? awlen + 12'd1 : 12'd0);
        beats_brought <= beats_brought + (wvalid && wready);
        writes_open <= writes_open + aw_id - b_id;
        reads_open <= reads_open + ar_id - r_id;
        if (begins) {following, first_beat, length} <= {1'b1, beats_promised, awlen};
        if (in_burst && wvalid && wready && is_last) following <= 0;
        if (rst) begin
            following <= 0;
            {aw_held, w_held, b_held, ar_held, r_held} <= 0;
            beats_promised <= 0;
            beats_brought <= 0;
            writes_open <= 0;
            reads_open <= 0;
        end
    end

    // The last byte of a burst.
    wire [11:0] aw_first = awaddr[11:0] & ~((12'd1 << awsize) - 12'd1);
    wire [11:0] ar_first = araddr[11:0] & ~((12'd1 << arsize) - 12'd1);
    wire [16:0] aw_last = aw_first + (({9'd0, awlen} + 17'd1) << awsize) - 17'd1;
    wire [16:0] ar_last = ar_first + (({9'd0, arlen} + 17'd1) << arsize) - 17'd1;

    always @* if (started && !rst) begin
        if (b_held) assume (bvalid && b == was_b);
        if (r_held) assume (rvalid && r == was_r);
        if (was_rst) assume (!bvalid && !rvalid);
        if (bvalid && bid == id) assume (writes_open != 0);
        if (rvalid && rid == id) assume (reads_open != 0);
        assume (writes_open < MAX_OPEN && reads_open < MAX_OPEN);
    end
    always @(posedge clk) if (started && !rst) begin
        if (aw_held) aw_is_stable: assert (awvalid && aw == was_aw);
        if (w_held) w_is_stable: assert (wvalid && w == was_w);
        if (ar_held) ar_is_stable: assert (arvalid && ar == was_ar);
        if (was_rst) quiet_after_reset: assert (!awvalid && !wvalid && !arvalid);
        if (awvalid) aw_burst_is_legal: assert (awburst == 1 && awsize <= SIZE);
        if (arvalid) ar_burst_is_legal: assert (arburst == 1 && arsize <= SIZE);
        if (awvalid) aw_within_4_kb: assert (aw_last < 4096);
        if (arvalid) ar_within_4_kb: assert (ar_last < 4096);
        if (wvalid) data_has_an_address: assert (beats_brought != beats_offered);
        if (wvalid && in_burst) wlast_is_exact: assert (wlast == is_last);
    end
endmodule
