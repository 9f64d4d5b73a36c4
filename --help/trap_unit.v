// Decides for one hart whether a trap is entered at this edge, and keeps whether the hart sleeps.
//
// 1. An exception in stage W enters a trap with the PC of its instruction, and goes to `base`. It
//    stops the hart instead (`stop`) if it `halts`, as `ebreak` may, or if no instruction has retired
//    since the last trap was entered: the handler itself cannot run (lock-up, `locked`).
// 2. An interrupt is taken at an instruction boundary, with the PC of the next instruction; it goes
//    to `base`, or if `vectored` to `base` + 4 x cause.
// 3. `sleep` (`wfi` retires) makes the hart sleep: `asleep` is high until `wake`, in whose cycle the
//    hart may fetch again, or until a trap or `take` makes it go on elsewhere.
// 4. `hold` ends all of it, `resume` the lock-up.
//
// `trap`, `target`, `stop` answer the inputs in the same cycle; `waiting` and `locked` are
// registers' values.
module trap_unit (
    input  wire        clk,              // Rising-edge clock
    input  wire        rst,              // Synchronous reset, active high
    input  wire        hold,             // The hart is held
    input  wire        exception,        // Stage W: an instruction of the hart raises an exception
    input  wire        halts,            // The exception stops the hart
    input  wire [4:0]  cause,            // Its cause
    input  wire [31:0] value,            // Its value, for mtval
    input  wire [29:0] pc,               // PC of the instruction, bits 31:2
    input  wire        boundary,         // The hart is between two instructions at the end of this cycle
    input  wire [29:0] boundary_pc,      // PC of the second one, bits 31:2
    input  wire        interrupt_,       // An interrupt is to be taken
    input  wire [4:0]  interrupt_cause,  // Its cause
    input  wire [29:0] base,             // Where traps go, bits 31:2; with vectored a multiple of 16
    input  wire        vectored_,        // Interrupts go to base + 4 x cause
    input  wire        retire,           // Stage W: an instruction of the hart retires
    input  wire        sleep,            // It is wfi
    input  wire        wake,             // What ends the sleep
    input  wire        resume,           // The hart is stopped, and goes on
    input  wire        take,             // The hart is made to go on elsewhere at this edge, not by a trap, or the host stops it
    output wire        trap,             // A trap is entered at this edge
    output reg  [29:0] trap_pc,          // For mepc, bits 31:2
    output reg  [5:0]  trap_cause,       // For mcause; bit 5: an interrupt
    output reg  [31:0] trap_value,       // For mtval
    output reg  [29:0] target,           // Where the hart goes on, bits 31:2
    output wire        stop,             // The exception stops the hart at this edge
    output wire        asleep,           // The hart may not fetch: it sleeps
    output wire        waiting,          // It sleeps
    output wire        locked,           // It was stopped by an exception of its trap handler's first instruction
    output wire        entered           // No instruction has retired since a trap was entered
);

    wire locks;
    wire stops;
    wire interrupted;
    wire enters;
    reg  entered_2;
    reg  asleep_2;
    reg  locked_2;

    assign locks = exception & entered_2 & !halts;
    assign stops = exception & (entered_2 | halts);
    assign interrupted = boundary & interrupt_;
    assign enters = (exception & !stops) | interrupted;
    assign stop = stops;
    assign trap = enters;

    always @* begin
        trap_pc = pc;
        trap_cause = {1'b0, cause};
        trap_value = value;
        target = base;
        if (interrupted) begin
            trap_pc = boundary_pc;
            trap_cause = {1'b1, interrupt_cause};
            trap_value = 32'd0;
            if (vectored_) begin
                target = base | {25'd0, interrupt_cause};
            end
        end
    end

    assign asleep = asleep_2 & !wake;
    assign waiting = asleep_2;
    assign locked = locked_2;
    assign entered = entered_2;

    always @(posedge clk) begin
        if (rst) begin
            entered_2 <= 1'b0;
            asleep_2 <= 1'b0;
            locked_2 <= 1'b0;
        end else begin
            if (retire) begin
                entered_2 <= 1'b0;
            end
            if (wake) begin
                asleep_2 <= 1'b0;
            end else if (sleep) begin
                asleep_2 <= 1'b1;
            end
            if (resume) begin
                locked_2 <= 1'b0;
            end
            if (locks) begin
                locked_2 <= 1'b1;
            end
            if (take) begin
                asleep_2 <= 1'b0;
            end
            if (enters) begin
                entered_2 <= 1'b1;
                asleep_2 <= 1'b0;
            end
            if (hold) begin
                entered_2 <= 1'b0;
                asleep_2 <= 1'b0;
                locked_2 <= 1'b0;
            end
        end
    end
endmodule

