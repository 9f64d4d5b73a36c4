// The AXI4 master of the cores keeps the protocol, sends every request once and as it was, and answers whom it concerns.
//
// Two cores.
module memory_master_formal (
    input wire          clk,
    input wire          rst,
    input wire [1:0]    read_valid,
    input wire [51:0]   read_line,
    input wire [1:0]    fetch_valid,
    input wire [51:0]   fetch_line,
    input wire [1:0]    write_valid,
    input wire [51:0]   write_line,
    input wire [1023:0] write_data,
    input wire [127:0]  write_strobe,
    input wire [1:0]    read_response_ready,
    input wire          awready,
    input wire          wready,
    input wire [5:0]    bid,
    input wire [1:0]    bresp,
    input wire          bvalid,
    input wire          arready,
    input wire [5:0]    rid,
    input wire [511:0]  rdata,
    input wire [1:0]    rresp,
    input wire          rlast,
    input wire          rvalid,
    input wire          follow
);
    wire [1:0]   read_ready, fetch_ready, write_ready, read_response_valid, fetch_response_valid, write_done, bus_errors;
    wire [511:0] response_data, wdata;
    wire         response_error, awvalid, wlast, wvalid, bready, arvalid, rready;
    wire [5:0]   awid, arid;
    wire [31:0]  awaddr, araddr;
    wire [7:0]   awlen, arlen;
    wire [2:0]   awsize, arsize, arprot;
    wire [1:0]   awburst, arburst;
    wire [63:0]  wstrb;
    memory_master dut (
        .clk(clk), .rst(rst), .read_valid(read_valid), .read_ready(read_ready), .read_line(read_line),
        .fetch_valid(fetch_valid), .fetch_ready(fetch_ready), .fetch_line(fetch_line), .write_valid(write_valid),
        .write_ready(write_ready), .write_line(write_line), .write_data(write_data), .write_strobe(write_strobe),
        .read_response_valid(read_response_valid), .read_response_ready(read_response_ready),
        .fetch_response_valid(fetch_response_valid), .response_data(response_data), .response_error(response_error),
        .write_done(write_done), .bus_errors(bus_errors), .m_axi_awid(awid), .m_axi_awaddr(awaddr), .m_axi_awlen(awlen),
        .m_axi_awsize(awsize), .m_axi_awburst(awburst), .m_axi_awvalid(awvalid), .m_axi_awready(awready),
        .m_axi_wdata(wdata), .m_axi_wstrb(wstrb), .m_axi_wlast(wlast), .m_axi_wvalid(wvalid), .m_axi_wready(wready),
        .m_axi_bid(bid), .m_axi_bresp(bresp), .m_axi_bvalid(bvalid), .m_axi_bready(bready), .m_axi_arid(arid),
        .m_axi_araddr(araddr), .m_axi_arlen(arlen), .m_axi_arsize(arsize), .m_axi_arburst(arburst),
        .m_axi_arprot(arprot), .m_axi_arvalid(arvalid), .m_axi_arready(arready), .m_axi_rid(rid), .m_axi_rdata(rdata),
        .m_axi_rresp(rresp), .m_axi_rlast(rlast), .m_axi_rvalid(rvalid), .m_axi_rready(rready)
    );

    `include "start.vh"

    axi4_checker #(.ID(6), .DATA(512), .SIZE(6)) axi (
        .clk(clk), .rst(rst), .started(started), .awid(awid), .awaddr(awaddr), .awlen(awlen), .awsize(awsize),
        .awburst(awburst), .awvalid(awvalid), .awready(awready), .wdata(wdata), .wstrb(wstrb), .wlast(wlast),
        .wvalid(wvalid), .wready(wready), .bid(bid), .bresp(bresp), .bvalid(bvalid), .bready(bready), .arid(arid),
        .araddr(araddr), .arlen(arlen), .arsize(arsize), .arburst(arburst), .arvalid(arvalid), .arready(arready),
        .rid(rid), .rdata(rdata), .rresp(rresp), .rlast(rlast), .rvalid(rvalid), .rready(rready), .follow(follow)
    );
    (* hierconn *) wire [11:0] \axi.beats_promised ;
    (* hierconn *) wire [11:0] \axi.beats_brought ;
    (* hierconn *) wire [11:0] \axi.first_beat ;
    (* hierconn *) wire [7:0] \axi.length ;
    (* hierconn *) wire \axi.following ;

    wire [1:0] reads = read_valid & read_ready;
    wire [1:0] fetches = fetch_valid & fetch_ready;
    wire [1:0] writes = write_valid & write_ready;
    reg        was_read, was_write, was_r_error, was_b_error;
    reg [37:0] was_ar;
    reg [613:0] was_aw_w;
    wire [25:0] line = reads[0] ? read_line[25:0] : reads[1] ? read_line[51:26]
        : fetches[0] ? fetch_line[25:0] : fetch_line[51:26];
    always @(posedge clk) begin
        was_read <= !rst && (reads != 0 || fetches != 0);
        was_ar <= {fetches != 0, 4'd0, reads[1] | fetches[1], line, 6'd0};
        was_write <= !rst && writes != 0;
        was_aw_w <= writes[1] ? {6'd1, write_line[51:26], 6'd0, write_data[1023:512], write_strobe[127:64]}
            : {6'd0, write_line[25:0], 6'd0, write_data[511:0], write_strobe[63:0]};
        was_r_error <= !rst && rvalid && rready && (rresp != 0 || !rlast);
        was_b_error <= !rst && bvalid && bready && bresp != 0;
    end
    wire in_core = rid[4:1] == 0;

    always @(posedge clk) if (started && !rst) begin
        one_read_a_cycle: assert (reads + fetches == 0 || ({reads, fetches} & ({reads, fetches} - 4'd1)) == 0);
        one_write_a_cycle: assert (writes != 3);
        // Every request stands on the bus in the next cycle, as it was.
        if (was_read) read_is_sent: assert (arvalid && {arid, araddr} == was_ar);
        if (was_write) write_is_sent: assert (awvalid && wvalid && {awid, awaddr, wdata, wstrb} == was_aw_w);
        if (arvalid) fetches_are_marked: assert (arprot == {arid[5], 2'd0});
        // Memory that accepts lets one request of each kind pass in every cycle.
        if (arready && (read_valid != 0 || fetch_valid != 0)) reads_move_on: assert (reads != 0 || fetches != 0);
        if (awready && wready && write_valid != 0) writes_move_on: assert (writes != 0);
        // Responses reach the core that asked.
        read_response: assert (read_response_valid == (rvalid && in_core && !rid[5] ? 2'd1 << rid[0] : 2'd0));
        fetch_response: assert (fetch_response_valid == (rvalid && in_core && rid[5] ? 2'd1 << rid[0] : 2'd0));
        write_response: assert (write_done == (bvalid && bid[5:1] == 0 ? 2'd1 << bid[0] : 2'd0) && bready);
        only_the_core_holds_up: assert (rready == (rid[5:1] != 0 || read_response_ready[rid[0]]));
        data_and_error_pass: assert (response_data == rdata && response_error == (rresp != 0 || !rlast));
        errors_are_counted: assert (bus_errors == was_r_error + was_b_error);

        // What the induction needs to know of the state: either the address or the data of a write may be ahead.
        state_beats: assert (\axi.beats_promised + awvalid == \axi.beats_brought + wvalid );
        if (\axi.following ) state_following: assert (
            \axi.length == 0 && \axi.first_beat == \axi.beats_brought && wvalid);

        address_ahead: cover (wvalid && !awvalid && write_valid == 3);
        data_ahead: cover (!wvalid && awvalid && write_valid == 3);
        fetch_after_read: cover (arvalid && arid == 1 && fetches == 2);
    end
endmodule
