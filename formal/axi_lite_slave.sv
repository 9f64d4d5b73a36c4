// The AXI4-Lite slave keeps the protocol, does every access once with its own address and data, and
// answers with its value.
module axi_lite_slave_formal (
    input wire        clk,
    input wire        rst,
    input wire [11:0] awaddr,
    input wire        awvalid,
    input wire [31:0] wdata,
    input wire [3:0]  wstrb,
    input wire        wvalid,
    input wire        bready,
    input wire [11:0] araddr,
    input wire        arvalid,
    input wire        rready,
    input wire        known,
    input wire [31:0] value,
    input wire        delay
);
    wire        awready, wready, bvalid, arready, rvalid, read, write;
    wire [1:0]  bresp, rresp;
    wire [31:0] rdata, write_data, write_mask;
    wire [11:0] address;
    axi_lite_slave dut (
        .clk(clk), .rst(rst), .axil_awaddr(awaddr), .axil_awprot(3'd0), .axil_awvalid(awvalid), .axil_awready(awready),
        .axil_wdata(wdata), .axil_wstrb(wstrb), .axil_wvalid(wvalid), .axil_wready(wready), .axil_bresp(bresp),
        .axil_bvalid(bvalid), .axil_bready(bready), .axil_araddr(araddr), .axil_arprot(3'd0), .axil_arvalid(arvalid),
        .axil_arready(arready), .axil_rdata(rdata), .axil_rresp(rresp), .axil_rvalid(rvalid), .axil_rready(rready),
        .request_address(address), .request_read(read), .request_write(write), .request_data(write_data),
        .request_mask(write_mask), .answer_known(known), .answer_value(value), .answer_delay(delay)
    );
    (* hierconn *) wire \dut.aw_held ;
    (* hierconn *) wire \dut.w_held ;
    (* hierconn *) wire \dut.ar_held ;
    (* hierconn *) wire \dut.read_first ;
    (* hierconn *) wire [11:0] \dut.aw_address ;
    (* hierconn *) wire [11:0] \dut.ar_address ;
    (* hierconn *) wire [31:0] \dut.w_data ;
    (* hierconn *) wire [3:0] \dut.w_strobe ;

    `include "start.vh"

    wire [3:0] aw_open, w_open, ar_open;
    axi_lite_checker #(.ADDRESS(12), .LIMIT(2)) axi (
        .clk(clk), .rst(rst), .started(started), .awaddr(awaddr), .awvalid(awvalid), .awready(awready), .wdata(wdata),
        .wstrb(wstrb), .wvalid(wvalid), .wready(wready), .bresp(bresp), .bvalid(bvalid), .bready(bready), .araddr(araddr),
        .arvalid(arvalid), .arready(arready), .rdata(rdata), .rresp(rresp), .rvalid(rvalid), .rready(rready),
        .aw_open(aw_open), .w_open(w_open), .ar_open(ar_open)
    );

    // The requests that wait for their access, by their words, and the answers that wait for the
    // master.
    reg aw_waits, w_waits, ar_waits, b_waits, r_waits;
    reg [11:0] aw_address, ar_address;
    reg [31:0] data, answer;
    reg [3:0] strobe;
    reg [1:0] b_answer, r_answer;
    wire [31:0] bits = {{8{strobe[3]}}, {8{strobe[2]}}, {8{strobe[1]}}, {8{strobe[0]}}};
    wire write_done = write && !delay;
    // Cycles for which a read, and a write that the registers would take, have waited for nothing
    // but the slave.
    reg [1:0] read_late, write_late;
    reg was_delayed;
    always @(posedge clk) begin
        if (awvalid && awready) {aw_waits, aw_address} <= {1'b1, awaddr[11:2], 2'b00};
        else if (write_done) aw_waits <= 0;
        if (wvalid && wready) {w_waits, data, strobe} <= {1'b1, wdata, wstrb};
        else if (write_done) w_waits <= 0;
        if (arvalid && arready) {ar_waits, ar_address} <= {1'b1, araddr[11:2], 2'b00};
        else if (read) ar_waits <= 0;
        if (write_done) {b_waits, b_answer} <= {1'b1, known ? 2'd0 : 2'd2};
        else if (bready) b_waits <= 0;
        if (read) {r_waits, r_answer, answer} <= {1'b1, known ? 2'd0 : 2'd2, value};
        else if (rready) r_waits <= 0;
        read_late <= ar_waits && !r_waits && !read ? read_late + 1 : 0;
        write_late <= aw_waits && w_waits && !b_waits && !write ? write_late + 1 : 0;
        was_delayed <= write && delay;
        if (rst) begin
            {aw_waits, w_waits, ar_waits, b_waits, r_waits} <= 0;
            read_late <= 0;
            write_late <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        one_access_at_a_time: assert (!(read && write));
        if (write) write_was_asked_for: assert (
            aw_waits && w_waits && address == aw_address && write_data == data && write_mask == bits);
        if (read) read_was_asked_for: assert (ar_waits && address == ar_address);
        b_for_each_write: assert (bvalid == b_waits && (!bvalid || bresp == b_answer));
        r_for_each_read: assert (rvalid == r_waits && (!rvalid || (rresp == r_answer && rdata == answer)));
        // Reads and writes take turns: neither waits longer than one access of the other.
        read_does_not_starve: assert (read_late < 2);
        write_does_not_starve: assert (write_late < 2);
        ready_for_one_of_each: assert (awready == !aw_waits && wready == !w_waits && arready == !ar_waits);

        // What the induction needs to know of the state.
        state_held: assert (\dut.aw_held == aw_waits && \dut.w_held == w_waits && \dut.ar_held == ar_waits);
        if (aw_waits) state_aw: assert (\dut.aw_address == aw_address);
        if (w_waits) state_w: assert (\dut.w_data == data && \dut.w_strobe == strobe);
        if (ar_waits) state_ar: assert (\dut.ar_address == ar_address);
        state_turns: assert ((read_late == 0 || \dut.read_first ) && (write_late == 0 || !\dut.read_first ));
        state_open: assert (aw_open == aw_waits + b_waits && w_open == w_waits + b_waits && ar_open == ar_waits + r_waits);

        both_served: cover (bvalid && rvalid && aw_waits && w_waits && ar_waits);
        delayed: cover (was_delayed && read);
    end
endmodule
