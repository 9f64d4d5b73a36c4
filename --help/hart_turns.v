// Turns of the harts at an operation of which one is under way for all of them: without it a hart that comes back again and again, as
// one that waits in a loop for a lock, could keep another one out for ever.
//
// 1. `turned_away` in stage W: the operation of `hart` does not start, it will be replayed. The hart is owed one, until the next
//    instruction of it in stage W (`live`), or until it goes on elsewhere, is held or stopped (`gone`).
// 2. A hart that had an operation (`starts`) is `refused` another one until each hart that is owed one has had it, or wants it no
//    more. So between two operations of a hart that waits each other hart has two at most.
// 3. `refused` depends on registers and on `hart` only.
module hart_turns (
    input  wire       clk,          // Rising-edge clock
    input  wire       rst,          // Synchronous reset, active high: no hart is owed anything
    input  wire [2:0] hart,         // Stage W: hart of the instruction
    input  wire       live,         // Stage W holds an instruction
    input  wire       turned_away,  // Stage W: its operation is turned away: one is under way, or refused is high
    input  wire       starts,       // Stage W: its operation starts
    input  wire [7:0] gone,         // Harts that go on elsewhere at this edge, are held, or are stopped
    output wire       refused       // Stage W: other harts come first
);

    wire [7:0] owed;
    wire [7:0] of_hart;
    reg  [7:0] seen;
    reg  [7:0] away;
    reg  [7:0] started;
    reg  [7:0] wanting;
    reg  [7:0] served;

    assign owed = wanting & ~served;
    assign refused = served[hart] & (|owed);
    assign of_hart = 8'd1 << hart;

    always @* begin
        seen = 8'd0;
        if (live) begin
            seen = of_hart;
        end
    end

    always @* begin
        away = 8'd0;
        if (turned_away) begin
            away = of_hart;
        end
    end

    always @* begin
        started = 8'd0;
        if (starts) begin
            started = of_hart;
        end
    end

    always @(posedge clk) begin
        if (rst) begin
            wanting <= 8'd0;
            served <= 8'd0;
        end else begin
            wanting <= ((wanting & ~seen) | away) & ~gone;
            if (|owed) begin
                served <= served | started;
            end else if (starts) begin
                served <= started;
            end
        end
    end
endmodule

