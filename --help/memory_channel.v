// Encodes a one-hot set of 32 bits as the index of its bit.
//
// `index` answers `one_hot` in the same cycle. It is 0 if no bit is set, and of no meaning if
// several are.
module binary_encoder (
    input  wire [31:0] one_hot,  // The set: at most one bit
    output wire [4:0]  index     // Index of the bit
);

    reg  [4:0] encoded;

    always @* begin
        encoded = 5'd0;
        if (|(one_hot & 32'haaaaaaaa)) begin
            encoded = encoded | 5'd1;
        end
        if (|(one_hot & 32'hcccccccc)) begin
            encoded = encoded | 5'd2;
        end
        if (|(one_hot & 32'hf0f0f0f0)) begin
            encoded = encoded | 5'd4;
        end
        if (|(one_hot & 32'hff00ff00)) begin
            encoded = encoded | 5'd8;
        end
        if (|(one_hot & 32'hffff0000)) begin
            encoded = encoded | 5'h10;
        end
    end

    assign index = encoded;
endmodule

// Round-robin arbiter for up to 32 requesters.
//
// 1. The outputs answer `request` in the same cycle; without a request they are zero.
// 2. The choice is the lowest requesting index above the last used one, or the lowest of all if
//    there is none. After reset index 0 comes first.
// 3. A choice counts as used at the rising edge at which `advance` is high: a requester that keeps
//    its request is chosen after at most one use by each other requester.
module round_robin (
    input  wire        clk,      // Rising-edge clock
    input  wire        rst,      // Synchronous reset, active high
    input  wire [31:0] request,  // One bit for each requester
    input  wire        advance,  // The present choice is used
    output wire        any,      // Something is requested
    output wire [31:0] grant,    // The choice, one-hot
    output wire [4:0]  index     // The choice as an index
);

    wire [63:0] wheel;
    wire [63:0] lowest;
    wire [31:0] choice;
    reg  [31:0] above;

    assign wheel = {request, request & above};
    assign lowest = wheel & (64'd0 - wheel);
    assign choice = lowest[31:0] | lowest[63:32];
    assign any = |request;
    assign grant = choice;

    binary_encoder encoder (
        .one_hot(choice),
        .index(index)
    );

    always @(posedge clk) begin
        if (rst) begin
            above <= 32'd0;
        end else begin
            if (advance) begin
                above <= ~(choice | (choice - 32'd1));
            end
        end
    end
endmodule

// Write and read address, `full` and `empty` of a queue of `2^A` entries.
//
// The entries stand in one or more [`RamAsync`] that the owner connects to `write_address` and
// `read_address`.
//
// 1. `push` at an edge appends the entry at `write_address`; it is readable from the next cycle
//    on.
// 2. `pop` at an edge removes the entry at `read_address`.
// 3. Outputs come from registers. Push while `full` and pop while `empty` are illegal; both in the
//    same cycle are legal otherwise and leave the level as it is.
module queue_pointers_1 (
    input  wire clk,            // Rising-edge clock
    input  wire rst,            // Synchronous reset, active high: empties the queue
    input  wire push,           // Appends an entry at this edge
    input  wire pop,            // Removes the oldest entry at this edge
    output wire write_address,  // Where the next entry goes
    output wire read_address,   // Where the oldest entry stands
    output wire full,           // No entry is free
    output wire empty           // No entry is in the queue
);

    reg  tail;
    reg  head;
    reg  all_used;

    assign write_address = tail;
    assign read_address = head;
    assign full = all_used;
    assign empty = (tail == head) && !all_used;

    always @(posedge clk) begin
        if (rst) begin
            tail <= 1'b0;
            head <= 1'b0;
            all_used <= 1'b0;
        end else begin
            if (push) begin
                tail <= tail + 1'b1;
            end
            if (pop) begin
                head <= head + 1'b1;
            end
            if (push && !pop) begin
                all_used <= (tail + 1'b1) == head;
            end else if (pop && !push) begin
                all_used <= 1'b0;
            end
        end
    end
endmodule

// 2 words of 8 bits, one write port, one combinational read port: distributed RAM.
module ram_async_8_1 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire       write_address,
    input  wire [7:0] write_data,
    input  wire       read_address,
    output wire [7:0] read_data
);

    reg [7:0] words [0:1];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// 2 words of 512 bits, one write port, one combinational read port: distributed RAM.
module ram_async_512_1 (
    input  wire         clk,
    input  wire         write_enable,
    input  wire         write_address,
    input  wire [511:0] write_data,
    input  wire         read_address,
    output wire [511:0] read_data
);

    reg [511:0] words [0:1];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// 2 words of 1 bits, one write port, one combinational read port: distributed RAM.
module ram_async_1_1 (
    input  wire clk,
    input  wire write_enable,
    input  wire write_address,
    input  wire write_data,
    input  wire read_address,
    output wire read_data
);

    reg [0:0] words [0:1];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// The AXI4 master of up to 8 banks.
//
// 1. Every transfer is one beat of 512 bits (one line). An ID is the number that the bank gave to
//    its fetch or write-back, with the bank above it, so that all outstanding reads and all
//    outstanding writes have IDs of their own and may be answered in any order.
// 2. One fetch and one write-back are accepted in a cycle while memory accepts them; the banks are
//    served round-robin. An accepted request stands on the bus in the next cycle until it is
//    accepted there; AW and W of a write are accepted in any order.
// 3. A line that was read waits in a queue of two for its bank; R is held up while both are full.
//    B is always accepted. Both reach the bank in the cycle after the bus.
// 4. A response other than OKAY, and a read beat without RLAST, is an error. `bus_errors`,
//    `line_read` and `line_written` report what happened in the cycle before.
module memory_channel (
    input  wire          clk,            // Rising-edge clock
    input  wire          rst,            // Synchronous reset, active high
    input  wire [1:0]    fetch_valid,    // From each bank: a line is to be fetched
    output wire [1:0]    fetch_ready,    // Accepted at this edge
    input  wire [51:0]   fetch_line,     // Its line address
    input  wire [11:0]   fetch_number,   // Number of the fetch
    input  wire [1:0]    fetch_code,     // It holds instructions
    output reg  [1:0]    fill_valid,     // To each bank: a fetched line of it is here
    input  wire [1:0]    fill_ready,     // It is taken at this edge
    output wire [5:0]    fill_number,    // Number of the fetch, for all banks
    output wire [511:0]  fill_data,      // The line, for all banks
    output wire          fill_error,     // Memory could not read it
    input  wire [1:0]    store_valid,    // From each bank: a line is to be written back
    output wire [1:0]    store_ready,    // Accepted at this edge
    input  wire [51:0]   store_line,     // Its line address
    input  wire [1023:0] store_data,     // The line
    input  wire [127:0]  store_strobe,   // Bytes to write
    input  wire [11:0]   store_number,   // Number of the write-back
    output wire [1:0]    done_valid,     // To each bank: a write-back of it is done
    output wire [5:0]    done_number,    // Its number, for all banks
    output wire [1:0]    bus_errors,     // Errors in the cycle before
    output wire          line_read,      // A line was read in the cycle before
    output wire          line_written,   // A line was written in the cycle before
    // To memory:
    output wire [7:0]    m_axi_awid,
    output wire [31:0]   m_axi_awaddr,
    output wire [7:0]    m_axi_awlen,
    output wire [2:0]    m_axi_awsize,
    output wire [1:0]    m_axi_awburst,
    output wire          m_axi_awlock,
    output wire [3:0]    m_axi_awcache,
    output wire [2:0]    m_axi_awprot,
    output wire [3:0]    m_axi_awqos,
    output wire          m_axi_awvalid,
    input  wire          m_axi_awready,
    output wire [511:0]  m_axi_wdata,
    output wire [63:0]   m_axi_wstrb,
    output wire          m_axi_wlast,
    output wire          m_axi_wvalid,
    input  wire          m_axi_wready,
    input  wire [7:0]    m_axi_bid,
    input  wire [1:0]    m_axi_bresp,
    input  wire          m_axi_bvalid,
    output wire          m_axi_bready,
    output wire [7:0]    m_axi_arid,
    output wire [31:0]   m_axi_araddr,
    output wire [7:0]    m_axi_arlen,
    output wire [2:0]    m_axi_arsize,
    output wire [1:0]    m_axi_arburst,
    output wire          m_axi_arlock,
    output wire [3:0]    m_axi_arcache,
    output reg  [2:0]    m_axi_arprot,
    output wire [3:0]    m_axi_arqos,
    output wire          m_axi_arvalid,
    input  wire          m_axi_arready,
    input  wire [7:0]    m_axi_rid,
    input  wire [511:0]  m_axi_rdata,
    input  wire [1:0]    m_axi_rresp,
    input  wire          m_axi_rlast,
    input  wire          m_axi_rvalid,
    output wire          m_axi_rready
);

    localparam [7:0] BANK_ID_0 = 8'd0;
    localparam [7:0] BANK_ID_1 = 8'd8;
    wire [31:0] fetches;
    wire [31:0] stores;
    wire ar_free;
    reg  [5:0] ar_number;
    reg  [7:0] ar_bank;
    wire aw_free;
    reg  [5:0] aw_number;
    reg  [7:0] aw_bank;
    wire r_take;
    wire r_error;
    wire [7:0] fill_id;
    reg  fill_taken;
    wire b_error;
    wire fetch_arbiter_advance;
    wire fetch_arbiter_any;
    wire [31:0] fetch_arbiter_grant;
    wire [4:0] fetch_arbiter_index_unused;
    wire store_arbiter_advance;
    wire store_arbiter_any;
    wire [31:0] store_arbiter_grant;
    wire [4:0] store_arbiter_index_unused;
    reg  ar_valid;
    reg  [7:0] ar_id;
    reg  [25:0] ar_line;
    reg  ar_code;
    reg  aw_valid;
    reg  [7:0] aw_id;
    reg  [25:0] aw_line;
    reg  w_valid;
    reg  [511:0] w_data;
    reg  [63:0] w_strobe;
    wire fills_pop;
    wire fills_write_address;
    wire fills_read_address;
    wire fills_full;
    wire fills_empty;
    reg  b_valid;
    reg  [7:0] b_id;
    reg  [1:0] errors;
    reg  read_event;
    reg  write_event;

    assign fetches = {30'd0, fetch_valid};
    assign stores = {30'd0, store_valid};
    assign ar_free = !ar_valid || m_axi_arready;
    assign fetch_arbiter_advance = ar_free && fetch_arbiter_any;

    always @* begin
        ar_number = 6'd0;
        ar_bank = 8'd0;
        if (fetch_arbiter_grant[0]) begin
            ar_number = fetch_number[5:0];
            ar_bank = BANK_ID_0;
        end
        if (fetch_arbiter_grant[1]) begin
            ar_number = fetch_number[11:6];
            ar_bank = BANK_ID_1;
        end
    end

    assign aw_free = (!aw_valid || m_axi_awready) && (!w_valid || m_axi_wready);
    assign store_arbiter_advance = aw_free && store_arbiter_any;

    always @* begin
        aw_number = 6'd0;
        aw_bank = 8'd0;
        if (store_arbiter_grant[0]) begin
            aw_number = store_number[5:0];
            aw_bank = BANK_ID_0;
        end
        if (store_arbiter_grant[1]) begin
            aw_number = store_number[11:6];
            aw_bank = BANK_ID_1;
        end
    end

    assign fetch_ready = {ar_free && fetch_arbiter_grant[1], ar_free && fetch_arbiter_grant[0]};
    assign store_ready = {aw_free && store_arbiter_grant[1], aw_free && store_arbiter_grant[0]};
    assign m_axi_rready = !fills_full;
    assign r_take = m_axi_rvalid && !fills_full;
    assign r_error = (|m_axi_rresp) || !m_axi_rlast;
    assign fill_number = fill_id[5:0] & 6'd7;

    always @* begin
        fill_taken = 1'b1;
        fill_valid[0] = 1'b0;
        if ((fill_id & 8'hf8) == BANK_ID_0) begin
            fill_valid[0] = !fills_empty;
            fill_taken = fill_ready[0];
        end
        fill_valid[1] = 1'b0;
        if ((fill_id & 8'hf8) == BANK_ID_1) begin
            fill_valid[1] = !fills_empty;
            fill_taken = fill_ready[1];
        end
    end

    assign fills_pop = !fills_empty && fill_taken;
    assign m_axi_bready = 1'b1;
    assign b_error = m_axi_bvalid && (|m_axi_bresp);
    assign done_number = b_id[5:0] & 6'd7;
    assign done_valid = {b_valid && ((b_id & 8'hf8) == BANK_ID_1), b_valid && ((b_id & 8'hf8) == BANK_ID_0)};
    assign bus_errors = errors;
    assign line_read = read_event;
    assign line_written = write_event;
    assign m_axi_arvalid = ar_valid;
    assign m_axi_arid = ar_id;
    assign m_axi_araddr = {ar_line, 6'd0};
    assign m_axi_arlen = 8'd0;
    assign m_axi_arsize = 3'd6;
    assign m_axi_arburst = 2'd1;
    assign m_axi_arlock = 1'b0;
    assign m_axi_arcache = 4'd3;

    always @* begin
        m_axi_arprot = 3'd0;
        if (ar_code) begin
            m_axi_arprot = 3'd4;
        end
    end

    assign m_axi_arqos = 4'd0;
    assign m_axi_awvalid = aw_valid;
    assign m_axi_awid = aw_id;
    assign m_axi_awaddr = {aw_line, 6'd0};
    assign m_axi_awlen = 8'd0;
    assign m_axi_awsize = 3'd6;
    assign m_axi_awburst = 2'd1;
    assign m_axi_awlock = 1'b0;
    assign m_axi_awcache = 4'd3;
    assign m_axi_awprot = 3'd0;
    assign m_axi_awqos = 4'd0;
    assign m_axi_wvalid = w_valid;
    assign m_axi_wdata = w_data;
    assign m_axi_wstrb = w_strobe;
    assign m_axi_wlast = 1'b1;

    round_robin fetch_arbiter (
        .clk(clk),
        .rst(rst),
        .request(fetches),
        .advance(fetch_arbiter_advance),
        .any(fetch_arbiter_any),
        .grant(fetch_arbiter_grant),
        .index(fetch_arbiter_index_unused)
    );

    round_robin store_arbiter (
        .clk(clk),
        .rst(rst),
        .request(stores),
        .advance(store_arbiter_advance),
        .any(store_arbiter_any),
        .grant(store_arbiter_grant),
        .index(store_arbiter_index_unused)
    );

    queue_pointers_1 fills (
        .clk(clk),
        .rst(rst),
        .push(r_take),
        .pop(fills_pop),
        .write_address(fills_write_address),
        .read_address(fills_read_address),
        .full(fills_full),
        .empty(fills_empty)
    );

    ram_async_8_1 fills_id (
        .clk(clk),
        .write_enable(r_take),
        .write_address(fills_write_address),
        .write_data(m_axi_rid),
        .read_address(fills_read_address),
        .read_data(fill_id)
    );

    ram_async_512_1 fills_data (
        .clk(clk),
        .write_enable(r_take),
        .write_address(fills_write_address),
        .write_data(m_axi_rdata),
        .read_address(fills_read_address),
        .read_data(fill_data)
    );

    ram_async_1_1 fills_error (
        .clk(clk),
        .write_enable(r_take),
        .write_address(fills_write_address),
        .write_data(r_error),
        .read_address(fills_read_address),
        .read_data(fill_error)
    );

    always @(posedge clk) begin
        if (rst) begin
            ar_valid <= 1'b0;
            ar_id <= 8'd0;
            ar_line <= 26'd0;
            ar_code <= 1'b0;
            aw_valid <= 1'b0;
            aw_id <= 8'd0;
            aw_line <= 26'd0;
            w_valid <= 1'b0;
            w_data <= 512'd0;
            w_strobe <= 64'd0;
            b_valid <= 1'b0;
            b_id <= 8'd0;
            errors <= 2'd0;
            read_event <= 1'b0;
            write_event <= 1'b0;
        end else begin
            if (ar_free) begin
                ar_valid <= fetch_arbiter_any;
                ar_id <= ar_bank | {2'd0, ar_number};
                if (fetch_arbiter_grant[0]) begin
                    ar_line <= fetch_line[25:0];
                    ar_code <= fetch_code[0];
                end
                if (fetch_arbiter_grant[1]) begin
                    ar_line <= fetch_line[51:26];
                    ar_code <= fetch_code[1];
                end
            end
            if (m_axi_awready) begin
                aw_valid <= 1'b0;
            end
            if (m_axi_wready) begin
                w_valid <= 1'b0;
            end
            if (aw_free && store_arbiter_any) begin
                aw_valid <= 1'b1;
                aw_id <= aw_bank | {2'd0, aw_number};
                w_valid <= 1'b1;
                if (store_arbiter_grant[0]) begin
                    aw_line <= store_line[25:0];
                    w_data <= store_data[511:0];
                    w_strobe <= store_strobe[63:0];
                end
                if (store_arbiter_grant[1]) begin
                    aw_line <= store_line[51:26];
                    w_data <= store_data[1023:512];
                    w_strobe <= store_strobe[127:64];
                end
            end
            b_valid <= m_axi_bvalid;
            if (m_axi_bvalid) begin
                b_id <= m_axi_bid;
            end
            errors <= 2'd0;
            if (r_take && r_error && b_error) begin
                errors <= 2'd2;
            end else if ((r_take && r_error) || b_error) begin
                errors <= 2'd1;
            end
            read_event <= r_take;
            write_event <= m_axi_bvalid;
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, fetch_arbiter_grant[31:2], store_arbiter_grant[31:2]};
endmodule

