// Stops and resumes harts as the registers CP_STEP and CP_EXECUTE say, and holds CP_DATA.
//
// 1. `stop`, for one cycle, stops a hart at this edge: at the first boundary between two instructions after it was asked for. An interrupt that is due there
//    stays pending (`closed` from the cycle after the request on). A hart that is held stops before its first instruction. The request
//    ends when the hart is stopped or its hold begins.
// 2. `resume`, for one cycle, lets a stopped hart go on. For a step `closed` stays high until the hart stops again: behind the one instruction that
//    retires, or at the trap handler that this instruction enters.
// 3. CP_EXECUTE: from the next cycle on `execute` has the bit of the hart until it fetches (`issue`) `word`, and again if the
//    instruction is replayed. `busy` is high until the word retires, raises an exception, or its hart is held.
// 4. `error`: the word raised an exception; or CP_EXECUTE was written while the hart was not stopped or `busy` was high. Until the next
//    write of CP_EXECUTE.
//
// `stop` and `resume` answer the inputs in the same cycle, the other outputs are registers' values.
module command_debug (
    input  wire        clk,                   // Rising-edge clock
    input  wire        rst,                   // Synchronous reset, active high
    // From and to the registers, but for pc. What the registers and [CommandDebug](crate::command::CommandDebug) exchange:
    input  wire [2:0]  registers_select,      // The selected hart
    input  wire        registers_data_write,  // value is written to CP_DATA at this edge
    input  wire        registers_execute,     // The selected hart is to execute value, for one cycle
    input  wire [31:0] registers_value,       // What is written
    input  wire [7:0]  registers_step,        // Harts that are to execute one instruction, for one cycle
    input  wire [7:0]  registers_resume,      // Harts that are to go on, for one cycle
    input  wire [7:0]  registers_stop,        // Harts that are to stop, for one cycle
    output wire [31:0] registers_data,        // CP_DATA
    output wire [29:0] registers_pc,          // PC of the selected hart, bits 31:2
    input  wire [29:0] pc,                    // Architectural PC of the selected hart, bits 31:2
    input  wire [7:0]  run,                   // Harts that run; the others are held
    input  wire [7:0]  stopped,               // Harts that are stopped
    input  wire [7:0]  between,               // Harts that are between two instructions at the end of this cycle
    input  wire [7:0]  trap,                  // Harts that enter a trap at this edge
    input  wire        issue,                 // Stage F: the hart of execute fetches word
    input  wire        live,                  // Stage W holds an instruction, and its hart runs
    input  wire [2:0]  hart,                  // Its hart
    input  wire        executed,              // It is a word of CP_EXECUTE
    input  wire        retire,                // It retires
    input  wire        exception,             // It raises an exception
    input  wire        data_write,            // It retires and writes CP_DATA
    input  wire [31:0] data_value,            // What it writes
    output wire [7:0]  stop,                  // Harts that stop at this edge
    output wire [7:0]  resume,                // Harts that go on
    output wire [7:0]  closed,                // Harts that take nothing between two instructions
    output reg  [7:0]  execute,               // The hart that is to fetch word
    output wire [31:0] word,                  // The word of CP_EXECUTE
    output wire        busy,                  // A hart executes the word
    output wire        error                  // CP_EXECUTE failed
);

    wire [7:0] free;
    wire [7:0] stepping;
    wire [7:0] goes_on;
    reg  [7:0] done;
    wire [7:0] stepped;
    wire [7:0] stops;
    wire [7:0] one;
    wire accepted;
    wire ends;
    reg  [7:0] wanted;
    reg  [7:0] steps;
    reg  [7:0] ran;
    reg  [31:0] data;
    reg  [31:0] word_2;
    reg  [7:0] executes;
    reg  fetches;
    reg  error_2;

    assign free = stopped & run & ~executes;
    assign stepping = registers_step & free;
    assign goes_on = (registers_resume | registers_step) & free;
    assign resume = goes_on;

    always @* begin
        done = 8'd0;
        if (live & retire & !executed) begin
            done = 8'd1 << hart;
        end
    end

    assign stepped = steps & (done | trap);
    assign stops = (between & (wanted | (steps & done))) | (steps & trap);
    assign stop = stops;
    assign closed = wanted | steps;
    assign one = 8'd1 << registers_select;
    assign accepted = (|(one & free & ~goes_on)) & !(|executes);
    assign ends = live & executed & (retire | exception);

    always @* begin
        execute = 8'd0;
        if (fetches) begin
            execute = executes;
        end
    end

    assign word = word_2;
    assign busy = |executes;
    assign error = error_2;
    assign registers_data = data;
    assign registers_pc = pc;

    always @(posedge clk) begin
        if (rst) begin
            wanted <= 8'd0;
            steps <= 8'd0;
            ran <= 8'd0;
            data <= 32'd0;
            word_2 <= 32'd0;
            executes <= 8'd0;
            fetches <= 1'b0;
            error_2 <= 1'b0;
        end else begin
            ran <= run;
            wanted <= (wanted | registers_stop | stepped) & ~stops & ~stopped & (run | ~ran);
            steps <= (steps & ~stepped & ~stopped & run) | stepping;
            if (issue) begin
                fetches <= 1'b0;
            end
            if (live & executed) begin
                fetches <= 1'b1;
            end
            executes <= executes & run;
            if (ends) begin
                executes <= 8'd0;
            end
            if (ends & exception) begin
                error_2 <= 1'b1;
            end
            if (registers_execute) begin
                error_2 <= !accepted;
                if (accepted) begin
                    executes <= one;
                    fetches <= 1'b1;
                    word_2 <= registers_value;
                end
            end
            if (registers_data_write) begin
                data <= registers_value;
            end
            if (data_write) begin
                data <= data_value;
            end
        end
    end
endmodule

