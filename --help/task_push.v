// Takes the host's packet counts and offers them to the task FIFO; the bus never waits for room.
//
// 1. In the first cycle of a write it is decided whether the count is taken. It is not if the FIFO is full, or if the count before it
//    still waits: then `refused` is high, and the write is done with an error.
// 2. A count that is taken is offered from the next cycle on until the FIFO takes it, once. `delay` holds the write up for two cycles, whether the
//    FIFO took the count by then or not: only the packet ports can have filled it meanwhile.
// 3. `room` counts the free entries of the FIFO that no count waits for. So many writes are taken, if nobody else fills the FIFO.
module task_push (
    input  wire        clk,         // Rising-edge clock
    input  wire        rst,         // Synchronous reset, active high
    input  wire        write,       // TASK_PUSH is written; tried again, with the same count, after a cycle with delay
    input  wire [31:0] count,       // The count
    output wire        delay,       // The write cannot end in this cycle
    output wire        refused,     // The write ends in this cycle, and its count is not taken
    output reg  [10:0] room,        // Register TASK_ROOM
    input  wire [10:0] level,       // Entries in the task FIFO, 0 to 1,024
    output wire        task_valid,  // To the task FIFO: a count is offered
    input  wire        task_ready,  // From the task FIFO: the count is taken
    output wire [31:0] task_count   // To the task FIFO: the count
);

    localparam [10:0] CAPACITY = 11'h400;
    wire full;
    wire first;
    reg  held_valid;
    reg  [31:0] held_count;
    reg  fresh;
    reg  taken;

    assign full = level == CAPACITY;
    assign first = write & !fresh & !taken;
    assign refused = first & (full | held_valid);
    assign delay = (first & !full & !held_valid) | fresh;
    assign task_valid = held_valid;
    assign task_count = held_count;

    always @* begin
        room = CAPACITY - level;
        if (held_valid & !full) begin
            room = (CAPACITY - level) - 11'd1;
        end
    end

    always @(posedge clk) begin
        if (rst) begin
            held_valid <= 1'b0;
            held_count <= 32'd0;
            fresh <= 1'b0;
            taken <= 1'b0;
        end else begin
            fresh <= 1'b0;
            if (held_valid & task_ready) begin
                held_valid <= 1'b0;
            end
            if (first & !full & !held_valid) begin
                held_valid <= 1'b1;
                held_count <= count;
                fresh <= 1'b1;
            end
            if (fresh) begin
                taken <= 1'b1;
            end else if (write) begin
                taken <= 1'b0;
            end
        end
    end
endmodule

