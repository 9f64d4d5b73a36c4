// Lets the host and the command processor access the registers, one of them in a cycle.
//
// 1. An access of the processor is performed in the first cycle of `access.valid`, or in the next one if an access of the
//    processor was in the cycle before. So the host has every other cycle at least; in the processor's cycles `hold`
//    keeps the AXI4-Lite slave from an access.
// 2. `access.done` and the answer are in the cycle of the access. A write that the registers delay is tried
//    again two cycles later. A read is never delayed.
// 3. A write of the processor to TASK_PUSH does not reach the registers and is not `known`: nothing that waits for a FIFO can
//    hold the processor. A write of the host to TASK_PUSH that is delayed does not hold it either.
// 4. A write of the processor writes the whole word. An access that is withdrawn before `done` was not performed, but
//    for the tries of a write that the registers delayed, which have no effect.
module register_port (
    input  wire        clk,                // Rising-edge clock
    input  wire        rst,                // Synchronous reset, active high
    // From the AXI4-Lite slave. An access of the host, for one cycle; every block of registers gets it:
    input  wire [11:0] host_address,       // Byte offset of the register
    input  wire        host_read,          // The access is a read
    input  wire        host_write,         // The access is a write
    input  wire [31:0] host_data,          // What to write
    input  wire [31:0] host_mask,          // The bits to write
    // To the AXI4-Lite slave: the answer, in a cycle in which it has an access:
    output wire        host_answer_known,  // The address is one of a register, and the access is done
    output wire [31:0] host_answer_value,  // The value of the register
    output wire        host_answer_delay,  // The write cannot be done in this cycle
    output wire        hold,               // To the AXI4-Lite slave: no access of the host in this cycle
    // From the command processor. An access of the command processor to the registers of the array:
    input  wire        access_valid,       // An access waits
    input  wire        access_write,       // It is a write
    input  wire [11:0] access_address,     // Byte offset of the register, a multiple of 4
    input  wire [31:0] access_data,        // What to write
    output wire        access_done,        // The access is performed at this edge
    output wire [31:0] access_value,       // The value read, with done
    output wire        access_known,       // With done: the register may be accessed; low: access fault
    // To the registers. An access of the host, for one cycle; every block of registers gets it:
    output reg  [11:0] request_address,    // Byte offset of the register
    output reg         request_read,       // The access is a read
    output reg         request_write,      // The access is a write
    output reg  [31:0] request_data,       // What to write
    output reg  [31:0] request_mask,       // The bits to write
    // From the registers:
    input  wire        answer_known,       // The address is one of a register, and the access is done
    input  wire [31:0] answer_value,       // The value of the register
    input  wire        answer_delay,       // The write cannot be done in this cycle
    output wire        by_command,         // To the registers: the access of this cycle is one of the processor
    output wire        was_by_command      // To the registers: that of the cycle before was, which made the events of this cycle
);

    localparam [11:0] TASK_PUSH = 12'h40;
    wire turn;
    wire refused;
    reg  turn_2;

    assign turn = access_valid & !turn_2;
    assign hold = turn;
    assign by_command = turn;
    assign was_by_command = turn_2;
    assign refused = access_write & (access_address == TASK_PUSH);

    always @* begin
        request_address = host_address;
        request_read = host_read;
        request_write = host_write;
        request_data = host_data;
        request_mask = host_mask;
        if (turn) begin
            request_address = access_address;
            request_read = !access_write;
            request_write = access_write & !refused;
            request_data = access_data;
            request_mask = 32'hffffffff;
        end
    end

    assign host_answer_known = answer_known;
    assign host_answer_value = answer_value;
    assign host_answer_delay = answer_delay;
    assign access_done = turn & (!access_write | refused | !answer_delay);
    assign access_known = answer_known & !refused;
    assign access_value = answer_value;

    always @(posedge clk) begin
        if (rst) begin
            turn_2 <= 1'b0;
        end else begin
            turn_2 <= turn;
        end
    end
endmodule

