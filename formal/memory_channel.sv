// The AXI4 master of a memory channel keeps the protocol, sends every request once and as it was,
// and hands every answer to the bank that asked, once and in order.
//
// Two banks with eight numbers each. The queue of lines that were read has two places, of which one
// is followed, whichever (see tracked_ram.sv).
module memory_channel_formal (
    input wire          clk,
    input wire          rst,
    input wire [1:0]    fetch_valid,
    input wire [51:0]   fetch_line,
    input wire [11:0]   fetch_number,
    input wire [1:0]    fetch_code,
    input wire [1:0]    fill_ready,
    input wire [1:0]    store_valid,
    input wire [51:0]   store_line,
    input wire [1023:0] store_data,
    input wire [127:0]  store_strobe,
    input wire [11:0]   store_number,
    input wire          awready,
    input wire          wready,
    input wire [7:0]    bid,
    input wire [1:0]    bresp,
    input wire          bvalid,
    input wire          arready,
    input wire [7:0]    rid,
    input wire [511:0]  rdata,
    input wire [1:0]    rresp,
    input wire          rlast,
    input wire          rvalid,
    input wire          follow
);
    wire [1:0]   fetch_ready, fill_valid, store_ready, done_valid, bus_errors;
    wire [511:0] wdata;
    wire         line_read, line_written, awvalid, wlast, wvalid, bready, arvalid, rready;
    // Line, number and error as the bank has them that they are for.
    wire [1:0]    bank_error;
    wire [1023:0] bank_data;
    wire [11:0]   bank_number, bank_done;
    wire [511:0]  fill_data = fill_valid[1] ? bank_data[1023:512] : bank_data[511:0];
    wire          fill_error = fill_valid[1] ? bank_error[1] : bank_error[0];
    wire [5:0]    fill_number = fill_valid[1] ? bank_number[11:6] : bank_number[5:0];
    wire [5:0]    done_number = done_valid[1] ? bank_done[11:6] : bank_done[5:0];
    wire [7:0]   awid, arid;
    wire [31:0]  awaddr, araddr;
    wire [7:0]   awlen, arlen;
    wire [2:0]   awsize, arsize, arprot;
    wire [1:0]   awburst, arburst;
    wire [63:0]  wstrb;
    memory_channel dut (
        .clk(clk), .rst(rst), .fetch_valid(fetch_valid), .fetch_ready(fetch_ready), .fetch_line(fetch_line),
        .fetch_number(fetch_number), .fetch_code(fetch_code), .fill_valid(fill_valid), .fill_ready(fill_ready),
        .fill_number(bank_number), .fill_data(bank_data), .fill_error(bank_error), .store_valid(store_valid),
        .store_ready(store_ready), .store_line(store_line), .store_data(store_data), .store_strobe(store_strobe),
        .store_number(store_number), .done_valid(done_valid), .done_number(bank_done), .bus_errors(bus_errors),
        .line_read(line_read), .line_written(line_written), .m_axi_awid(awid), .m_axi_awaddr(awaddr),
        .m_axi_awlen(awlen), .m_axi_awsize(awsize), .m_axi_awburst(awburst), .m_axi_awvalid(awvalid),
        .m_axi_awready(awready), .m_axi_wdata(wdata), .m_axi_wstrb(wstrb), .m_axi_wlast(wlast), .m_axi_wvalid(wvalid),
        .m_axi_wready(wready), .m_axi_bid(bid), .m_axi_bresp(bresp), .m_axi_bvalid(bvalid), .m_axi_bready(bready),
        .m_axi_arid(arid), .m_axi_araddr(araddr), .m_axi_arlen(arlen), .m_axi_arsize(arsize), .m_axi_arburst(arburst),
        .m_axi_arprot(arprot), .m_axi_arvalid(arvalid), .m_axi_arready(arready), .m_axi_rid(rid), .m_axi_rdata(rdata),
        .m_axi_rresp(rresp), .m_axi_rlast(rlast), .m_axi_rvalid(rvalid), .m_axi_rready(rready)
    );

    `include "start.vh"

    axi4_checker #(.ID(8), .DATA(512), .SIZE(6)) axi (
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

    // The followed place of the queue.
    (* anyconst *) reg place;
    (* hierconn *) wire \dut.fills_id.tracked ;
    (* hierconn *) wire \dut.fills_data.tracked ;
    (* hierconn *) wire \dut.fills_error.tracked ;
    assign \dut.fills_id.tracked = place;
    assign \dut.fills_data.tracked = place;
    assign \dut.fills_error.tracked = place;
    (* hierconn *) wire [7:0] \dut.fills_id.word ;
    (* hierconn *) wire [511:0] \dut.fills_data.word ;
    (* hierconn *) wire \dut.fills_error.word ;
    (* hierconn *) wire \dut.fills.head ;
    (* hierconn *) wire \dut.fills.tail ;
    (* hierconn *) wire \dut.fills.all_used ;

    wire [1:0] fetches = fetch_valid & fetch_ready;
    wire [1:0] stores = store_valid & store_ready;
    // IDs are the bank above the three bits of its numbers, which the bank keeps to.
    always @* assume ((fetch_number & 12'o7070) == 0 && (store_number & 12'o7070) == 0);
    reg         was_fetch, was_store, was_r, was_b, was_r_error, was_b_error;
    reg [40:0]  was_ar;
    reg [615:0] was_aw_w;
    reg [7:0]   was_bid;
    // Lines in the queue, the place of the oldest, and the line in the followed place.
    reg [1:0]   lines;
    reg         oldest;
    reg [520:0] line;
    wire newest = oldest + lines[0];
    wire r = rvalid && rready;
    wire fill_taken = lines != 0 && ((fill_valid & fill_ready) != 0 || fill_valid == 0);
    always @(posedge clk) begin
        was_fetch <= !rst && fetches != 0;
        was_ar <= fetches[1] ? {fetch_code[1], 5'd1, fetch_number[8:6], fetch_line[51:26], 6'd0}
            : {fetch_code[0], 5'd0, fetch_number[2:0], fetch_line[25:0], 6'd0};
        was_store <= !rst && stores != 0;
        was_aw_w <= stores[1]
            ? {5'd1, store_number[8:6], store_line[51:26], 6'd0, store_data[1023:512], store_strobe[127:64]}
            : {5'd0, store_number[2:0], store_line[25:0], 6'd0, store_data[511:0], store_strobe[63:0]};
        was_r <= !rst && r;
        was_b <= !rst && bvalid && bready;
        was_bid <= bid;
        was_r_error <= !rst && r && (rresp != 0 || !rlast);
        was_b_error <= !rst && bvalid && bready && bresp != 0;
        if (r && newest == place) line <= {rid, rdata, rresp != 0 || !rlast};
        lines <= lines + r - fill_taken;
        oldest <= oldest + fill_taken;
        if (rst) begin
            lines <= 0;
            oldest <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        one_fetch_a_cycle: assert (fetches != 3);
        one_store_a_cycle: assert (stores != 3);
        // Every request stands on the bus in the next cycle, as it was.
        if (was_fetch) fetch_is_sent: assert (arvalid && {arprot[2], arid, araddr} == was_ar);
        if (was_store) store_is_sent: assert (awvalid && wvalid && {awid, awaddr, wdata, wstrb} == was_aw_w);
        // Memory that accepts lets one request of each kind pass in every cycle.
        if (arready && fetch_valid != 0) fetches_move_on: assert (fetches != 0);
        if (awready && wready && store_valid != 0) stores_move_on: assert (stores != 0);
        // Lines reach the banks in the order in which they came, each once, with number and error.
        if (lines != 0 && oldest == place) fills_in_order: assert (
            fill_valid == (line[520:517] == 0 ? 2'd1 << line[516] : 2'd0)
            && (fill_valid == 0 || {3'd0, line[515:513], line[512:0]} == {fill_number, fill_data, fill_error}));
        if (lines == 0) fill_of_a_line: assert (fill_valid == 0);
        two_lines_fit: assert (lines <= 2 && rready == (lines != 2));
        // Answers of writes reach the bank in the next cycle.
        writes_are_told: assert (done_valid == (was_b && was_bid[7:4] == 0 ? 2'd1 << was_bid[3] : 2'd0)
            && (done_valid == 0 || done_number == was_bid[2:0]));
        events_are_counted: assert (
            bus_errors == was_r_error + was_b_error && line_read == was_r && line_written == was_b);

        // What the induction needs to know of the state: either the address or the data of a write
        // may be ahead.
        state_beats: assert (\axi.beats_promised + awvalid == \axi.beats_brought + wvalid );
        if (\axi.following ) state_following: assert (
            \axi.length == 0 && \axi.first_beat == \axi.beats_brought && wvalid);
        state_queue: assert (\dut.fills.head == oldest && \dut.fills.tail == newest && \dut.fills.all_used == (lines == 2));
        if (lines == 2 || (lines == 1 && oldest == place)) state_line: assert (
            line == {\dut.fills_id.word , \dut.fills_data.word , \dut.fills_error.word });

        address_ahead: cover (wvalid && !awvalid && store_valid == 3);
        data_ahead: cover (!wvalid && awvalid && store_valid == 3);
        queue_is_full: cover (lines == 2 && rvalid && fill_valid == 2);
    end
endmodule
