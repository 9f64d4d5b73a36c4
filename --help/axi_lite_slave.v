// AXI4-Lite slave (AMBA AXI protocol specification, part B) that serves one access at a time.
//
// 1. One address and one data beat are held on each channel; no `ready` depends on an input. Write address
//    and write data may come in any order.
// 2. Reads and writes take turns while both wait. A write that the registers delay does not block reads.
// 3. In the cycle of an access `request.address` is set and `request.read` or `request.write` is high. `answer` answers in
//    the same cycle; a write takes the bits of `request.data` that are set in `request.mask`.
// 4. While `delay` answers a write, the write is not done and is tried again, every other cycle while
//    reads wait too.
// 5. An access that is not `known` gets SLVERR, any other OKAY. The response stands two cycles
//    after the transfer of the (last) request, if nothing is in the way.
// 6. While `hold` is high, if it is there, there is no access; the bus goes on.
module axi_lite_slave (
    input  wire        clk,              // Rising-edge clock
    input  wire        rst,              // Synchronous reset, active high
    // From the host:
    input  wire [11:0] axil_awaddr,      // Write address in bytes
    input  wire [2:0]  axil_awprot,      // Write protection; not used
    input  wire        axil_awvalid,     // Write address valid
    output wire        axil_awready,     // Write address ready
    input  wire [31:0] axil_wdata,       // Write data
    input  wire [3:0]  axil_wstrb,       // Bytes of the write data that count
    input  wire        axil_wvalid,      // Write data valid
    output wire        axil_wready,      // Write data ready
    output wire [1:0]  axil_bresp,       // Write response: 0 OKAY, 2 SLVERR
    output wire        axil_bvalid,      // Write response valid
    input  wire        axil_bready,      // Write response ready
    input  wire [11:0] axil_araddr,      // Read address in bytes
    input  wire [2:0]  axil_arprot,      // Read protection; not used
    input  wire        axil_arvalid,     // Read address valid
    output wire        axil_arready,     // Read address ready
    output wire [31:0] axil_rdata,       // Read data
    output wire [1:0]  axil_rresp,       // Read response: 0 OKAY, 2 SLVERR
    output wire        axil_rvalid,      // Read response valid
    input  wire        axil_rready,      // Read response ready
    // To the registers. An access of the host, for one cycle; every block of registers gets it:
    output reg  [11:0] request_address,  // Byte offset of the register
    output wire        request_read,     // The access is a read
    output wire        request_write,    // The access is a write
    output wire [31:0] request_data,     // What to write
    output wire [31:0] request_mask,     // The bits to write
    // From the registers:
    input  wire        answer_known,     // The address is one of a register, and the access is done
    input  wire [31:0] answer_value,     // The value of the register
    input  wire        answer_delay      // The write cannot be done in this cycle
);

    wire write_waits;
    wire read_waits;
    wire writing;
    wire reading;
    reg  [31:0] mask;
    reg  [1:0] response;
    reg  aw_held;
    reg  [11:0] aw_address;
    reg  w_held;
    reg  [31:0] w_data;
    reg  [3:0] w_strobe;
    reg  b_valid;
    reg  [1:0] b_response;
    reg  ar_held;
    reg  [11:0] ar_address;
    reg  r_valid;
    reg  [31:0] r_data;
    reg  [1:0] r_response;
    reg  read_first;

    assign axil_awready = !aw_held;
    assign axil_wready = !w_held;
    assign axil_arready = !ar_held;
    assign write_waits = aw_held & w_held & !b_valid;
    assign read_waits = ar_held & !r_valid;
    assign writing = write_waits & !(read_waits & read_first);
    assign reading = read_waits & !writing;

    always @* begin
        request_address = ar_address;
        if (writing) begin
            request_address = aw_address;
        end
    end

    assign request_write = writing;
    assign request_read = reading;

    always @* begin
        mask = 32'd0;
        if (w_strobe[0]) begin
            mask = mask | 32'hff;
        end
        if (w_strobe[1]) begin
            mask = mask | 32'hff00;
        end
        if (w_strobe[2]) begin
            mask = mask | 32'hff0000;
        end
        if (w_strobe[3]) begin
            mask = mask | 32'hff000000;
        end
    end

    assign request_mask = mask;
    assign request_data = w_data;

    always @* begin
        response = 2'd2;
        if (answer_known) begin
            response = 2'd0;
        end
    end

    assign axil_bvalid = b_valid;
    assign axil_bresp = b_response;
    assign axil_rvalid = r_valid;
    assign axil_rdata = r_data;
    assign axil_rresp = r_response;

    always @(posedge clk) begin
        if (rst) begin
            aw_held <= 1'b0;
            aw_address <= 12'd0;
            w_held <= 1'b0;
            w_data <= 32'd0;
            w_strobe <= 4'd0;
            b_valid <= 1'b0;
            b_response <= 2'd0;
            ar_held <= 1'b0;
            ar_address <= 12'd0;
            r_valid <= 1'b0;
            r_data <= 32'd0;
            r_response <= 2'd0;
            read_first <= 1'b0;
        end else begin
            if (axil_awvalid & !aw_held) begin
                aw_held <= 1'b1;
                aw_address <= axil_awaddr;
            end
            if (axil_wvalid & !w_held) begin
                w_held <= 1'b1;
                w_data <= axil_wdata;
                w_strobe <= axil_wstrb;
            end
            if (axil_arvalid & !ar_held) begin
                ar_held <= 1'b1;
                ar_address <= axil_araddr;
            end
            if (axil_bready) begin
                b_valid <= 1'b0;
            end
            if (axil_rready) begin
                r_valid <= 1'b0;
            end
            if (writing) begin
                read_first <= 1'b1;
                if (!answer_delay) begin
                    aw_held <= 1'b0;
                    w_held <= 1'b0;
                    b_valid <= 1'b1;
                    b_response <= response;
                end
            end
            if (reading) begin
                read_first <= 1'b0;
                ar_held <= 1'b0;
                r_valid <= 1'b1;
                r_data <= answer_value;
                r_response <= response;
            end
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, axil_awprot, axil_arprot};
endmodule

