// The chip gets its commands in their order and not too early, data pins are driven with WRITE only
// and never while the chip drives them, refreshes come in time, and each request is answered once.
//
// The times of 133 MHz: tRCD 3, tRP 3, tRAS 6, tRC and tRFC 9, tWR and tMRD 2 cycles, CAS latency
// 3; refresh intervals of 52 cycles.
module sdram_memory_formal (
    input wire         clk,
    input wire         rst,
    input wire [7:0]   awid,
    input wire [31:0]  awaddr,
    input wire         awvalid,
    input wire         wvalid,
    input wire         bready,
    input wire [7:0]   arid,
    input wire [31:0]  araddr,
    input wire         arvalid,
    input wire         rready,
    input wire         byte_valid,
    input wire         byte_write,
    input wire [31:0]  byte_address
);
    wire        awready, wready, bvalid, arready, rvalid, byte_ready, byte_answer;
    wire [7:0]  bid, rid;
    wire [1:0]  bresp, rresp;
    wire        csn, rasn, casn, wen, drives;
    wire [1:0]  ba;
    wire [12:0] a;
    // Data is followed by tests, not here.
    sdram_memory dut (
        .clk(clk), .rst(rst), .s_axi_awid(awid), .s_axi_awaddr(awaddr), .s_axi_awvalid(awvalid), .s_axi_awready(awready), .s_axi_wdata(512'd0), .s_axi_wstrb(64'd0),
        .s_axi_wvalid(wvalid), .s_axi_wready(wready), .s_axi_bid(bid), .s_axi_bresp(bresp), .s_axi_bvalid(bvalid), .s_axi_bready(bready), .s_axi_arid(arid), .s_axi_araddr(araddr),
        .s_axi_arvalid(arvalid), .s_axi_arready(arready), .s_axi_rid(rid), .s_axi_rresp(rresp), .s_axi_rvalid(rvalid), .s_axi_rready(rready),
        .byte_valid(byte_valid), .byte_ready(byte_ready), .byte_write(byte_write), .byte_address(byte_address), .byte_data(8'd0),
        .byte_answer(byte_answer), .sdram_csn(csn), .sdram_rasn(rasn), .sdram_casn(casn), .sdram_wen(wen), .sdram_ba(ba),
        .sdram_a(a), .sdram_d_enable(drives), .sdram_d_in(16'd0)
    );

    `include "start.vh"

    wire activate  = !csn && !rasn && casn && wen;
    wire precharge = !csn && !rasn && casn && !wen;
    wire refresh   = !csn && !rasn && !casn && wen;
    wire mode      = !csn && !rasn && !casn && !wen;
    wire read      = !csn && rasn && !casn && wen;
    wire write     = !csn && rasn && !casn && !wen;
    wire stop      = !csn && rasn && casn && !wen;

    // What the chip knows: the open bank, and the cycles since each command, 15 or more as 15.
    reg       open, ready, closed_once;
    reg [1:0] bank;
    reg [3:0] since_activate, since_precharge, since_refresh, since_mode, since_write, since_read;
    // Cycles since the last refresh, or the mode register.
    reg [6:0] unrefreshed;
    // Requests that were taken and not answered, and the ID and the range of each.
    reg       reading, writing;
    reg [7:0] read_id, write_id;
    reg       read_inside, write_inside;
    // Reads of a byte that were taken: the answer comes in this cycle.
    reg       byte_read;
    reg       was_rvalid, was_bvalid;
    reg [7:0] was_rid, was_bid;
    function [3:0] next(input now, input [3:0] count);
        next = now ? 4'd1 : count + (count != 15);
    endfunction
    always @(posedge clk) begin
        since_activate <= next(activate, since_activate);
        since_precharge <= next(precharge, since_precharge);
        since_refresh <= next(refresh, since_refresh);
        since_mode <= next(mode, since_mode);
        since_write <= next(write, since_write);
        since_read <= next(read, since_read);
        if (activate) begin
            open <= 1;
            bank <= ba;
        end
        if (precharge) begin
            open <= 0;
            closed_once <= 1;
        end
        if (mode) ready <= 1;
        unrefreshed <= refresh || mode ? 1 : unrefreshed + (unrefreshed != 127);
        if (rvalid && rready) reading <= 0;
        if (arvalid && arready) begin
            reading <= 1;
            read_id <= arid;
            read_inside <= araddr[31:25] == 0;
        end
        if (bvalid && bready) writing <= 0;
        if (awready) begin
            writing <= 1;
            write_id <= awid;
            write_inside <= awaddr[31:25] == 0;
        end
        byte_read <= byte_valid && byte_ready && !byte_write;
        was_rvalid <= rvalid && !rready;
        was_bvalid <= bvalid && !bready;
        was_rid <= rid;
        was_bid <= bid;
        if (rst) begin
            // The chip may have any bank open; the start-up closes them.
            open <= 1;
            ready <= 0;
            closed_once <= 0;
            bank <= 0;
            {since_activate, since_precharge, since_refresh, since_mode, since_write, since_read} <= {6{4'd15}};
            unrefreshed <= 0;
            reading <= 0;
            writing <= 0;
            byte_read <= 0;
            was_rvalid <= 0;
            was_bvalid <= 0;
        end
    end

    // The host does not change its request before it is taken.
    reg        was_byte, was_byte_write;
    reg [31:0] was_byte_address;
    always @(posedge clk) begin
        was_byte <= byte_valid && !byte_ready && !rst;
        was_byte_write <= byte_write;
        was_byte_address <= byte_address;
    end
    always @* if (started && was_byte)
        assume (byte_valid && byte_write == was_byte_write && byte_address == was_byte_address);

    // The state of the unit, for the induction. What a command at the pins does counts from its own
    // cycle on.
    (* hierconn *) wire [2:0] \dut.state ;
    (* hierconn *) wire [3:0] \dut.pause ;
    (* hierconn *) wire [10:0] \dut.timer ;
    (* hierconn *) wire [5:0] \dut.left ;
    (* hierconn *) wire \dut.due ;
    (* hierconn *) wire [19:0] \dut.number ;
    (* hierconn *) wire [4:0] \dut.word ;
    (* hierconn *) wire \dut.is_byte ;
    (* hierconn *) wire \dut.is_write ;
    (* hierconn *) wire \dut.outside ;
    (* hierconn *) wire [7:0] \dut.id ;
    (* hierconn *) wire [3:0] \dut.arriving ;
    wire [2:0] state = \dut.state ;
    wire [4:0] pause = {1'b0, \dut.pause };
    wire [5:0] left = \dut.left ;
    wire due = \dut.due ;
    wire is_byte = \dut.is_byte ;
    wire is_write = \dut.is_write ;
    wire [3:0] arriving = \dut.arriving ;
    wire starting = state == 0, idle = state == 1, opening = state == 2, words = state == 3, closing = state == 4, offers = state == 5;
    wire rests = idle || offers;
    wire closed = rests || opening;
    // Cycles of the interval that have passed
    wire [10:0] passed = 51 - \dut.timer ;
    wire [4:0] least = passed > 15 ? 15 : passed;
    wire [4:0] row = activate ? 0 : since_activate, ends = precharge ? 0 : since_precharge, fresh = refresh ? 0 : since_refresh;
    wire [4:0] set = mode ? 0 : since_mode, wrote = write ? 0 : since_write, asked = read ? 0 : since_read;
    wire [6:0] old = refresh || mode ? 0 : unrefreshed;
    wire is_open = activate || (open && !precharge);
    wire [1:0] opened = activate ? ba : bank;
    wire once = closed_once || precharge;
    // Cycles until the next refresh can be given, at most
    reg [6:0] until;
    always @* begin
        until = pause;
        if (opening) until = pause + 40;
        if (words) until = pause + 6 + (is_byte ? 0 : 31 - \dut.word );
        if (closing) until = pause + 3;
    end
    wire of_line = !is_byte && (opening || words);

    always @(posedge clk) if (started && !rst) begin
        no_burst_stop: assert (!stop);
        if (read || write) open_bank: assert (ready && open && ba == bank);
        if (read || write) no_auto_precharge: assert (!a[10]);
        if (read || write) row_to_column: assert (since_activate >= 3);
        if (activate) closed_bank: assert (ready && !open);
        if (activate || refresh || mode) after_precharge: assert (closed_once && since_precharge >= 3);
        if (activate || refresh) after_refresh: assert (since_refresh >= 9 && since_mode >= 2);
        if (activate || refresh) row_cycle: assert (since_activate >= 9);
        if (precharge) all_banks: assert (a[10]);
        if (precharge) row_open: assert (since_activate >= 6 && since_write >= 2);
        if (refresh || mode) banks_closed: assert (!open && since_activate != 0);
        if (mode) mode_once: assert (!ready && since_refresh >= 9);
        data_with_write: assert (drives == write);
        // The chip drives from the middle of the second cycle behind a READ to that of the third.
        one_side: assert (!drives || since_read > 3);
        in_time: assert (!ready || old <= 52 + 48);

        ready_together: assert (awready == wready && (!awready || (awvalid && wvalid)));
        if (rvalid) read_was_taken: assert (reading);
        if (rvalid) read_answer: assert (rid == read_id && rresp == (read_inside ? 0 : 3));
        if (was_rvalid) read_stays: assert (rvalid && rid == was_rid);
        if (arvalid && arready) one_read: assert (!reading);
        if (bvalid) write_was_taken: assert (writing);
        if (bvalid) write_answer: assert (bid == write_id && bresp == (write_inside ? 0 : 3));
        if (was_bvalid) write_stays: assert (bvalid && bid == was_bid);
        if (awready) one_write: assert (!writing);
        byte_in_the_next_cycle: assert (byte_answer == byte_read);

        // What the induction needs
        state_known: assert (state < 6 && \dut.timer <= 51 && pause <= 8);
        if (starting) state_start: assert (left >= 1 && left <= 11 && pause == 0 && !due && !ready && !mode && arriving == 0 && !is_byte);
        if (starting) state_start_times: assert (row == 15 && wrote == 15 && asked == 15 && set == 15 && fresh >= least);
        if (starting && left < 10) state_started: assert (once && !is_open && ends >= least);
        if (!starting) state_ready: assert ((ready || mode) && once);
        if (closed) state_closed: assert (!is_open && ends + pause >= 2 && row + pause >= 8 && asked >= 3);
        if (closed) state_refreshed: assert (fresh + pause >= 8);
        if (opening || due) state_mode: assert (set >= 1 || words || closing);
        if (words || closing) state_open: assert (is_open && opened == \dut.number [5:4] && !\dut.outside );
        if (words) state_words: assert (row + pause >= 2 && (!is_write || asked >= 3) && set >= 2);
        if (words || closing) state_fresh: assert (fresh >= 8 || fresh + pause >= 8);
        if (closing) state_close: assert (row + pause >= 5 && wrote + pause >= 2 && asked + pause >= 2 && pause <= 2);
        if (closed) state_arrived: assert (arriving[2:0] == 0 && (!opening || arriving == 0));
        if (words && (is_write || is_byte)) state_first: assert (arriving == 0);
        if (closing && is_byte) state_single: assert ((arriving & (arriving - 1)) == 0);
        if (closing) state_arriving: assert ((pause > 1 || !arriving[0]) && (pause > 0 || !arriving[1]) && (!is_write || arriving == 0));
        if (is_byte && (opening || words || (closing && arriving[2:0] != 0)))
            state_byte: assert (was_byte && was_byte_write == is_write && !\dut.outside );
        if (offers) state_offers: assert (!is_byte && !is_write);
        state_reading: assert (reading == (offers || (!is_byte && !is_write && (opening || words || closing))));
        if (reading) state_read: assert (\dut.id == read_id && \dut.outside == !read_inside);
        state_writing: assert (writing == (bvalid || (of_line && is_write)));
        if (of_line && is_write) state_write: assert (!bvalid && \dut.id == write_id && \dut.outside == !write_inside);
        if (due) state_due: assert (passed + until <= 48);
        if (ready) state_old: assert (old <= passed + (due ? 52 : 0));

        byte_written: cover (write && since_activate == 3);
        byte_given: cover (byte_answer);
        refused: cover (rvalid && rresp == 3 && bvalid && bresp == 3);
        line_read: cover (rvalid && rresp == 0);
        refreshed: cover (ready && refresh);
    end
endmodule
