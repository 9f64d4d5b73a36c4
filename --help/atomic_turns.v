// Arbitrates among the warps of a core for the path of atomic operations, so that warps that retry
// again and again, as for a lock, do not starve the warp that they wait for.
//
// 1. A warp that is turned away at the path (`wants`) is owed an operation. A warp that had one is
//    `refused` another one until every warp that is owed one has had it.
// 2. A warp that is owed an operation may have taken another path. If the path is free for 256
//    cycles and no warp takes it, all debts are forgotten, and `wake` is high for a cycle: warps
//    that wait for the path retry.
// 3. `refused` and `wake` depend on registers and on `slot` only.
module atomic_turns (
    input  wire       clk,          // Rising-edge clock
    input  wire       rst,          // Synchronous reset, active high: no warp is owed anything
    input  wire [4:0] slot,         // Stage D: warp slot
    input  wire       wants,        // Stage D: an atomic instruction is turned away
    input  wire       busy,         // An operation is in flight
    input  wire       start_valid,  // From stage W: the path takes an operation at this edge
    input  wire [4:0] start_slot,   // Its warp slot
    output wire       refused,      // Stage D: other warps come first
    output wire       wake          // Warps that wait for the path retry
);

    wire [31:0] owed;
    reg  [31:0] turned_away;
    reg  [31:0] starts;
    reg  [31:0] wanting;
    reg  [31:0] served;
    reg  [7:0] patience;

    assign owed = wanting & ~served;
    assign refused = served[slot] & (|owed);

    always @* begin
        turned_away = 32'd0;
        if (wants) begin
            turned_away = 32'd1 << slot;
        end
    end

    always @* begin
        starts = 32'd0;
        if (start_valid) begin
            starts = 32'd1 << start_slot;
        end
    end

    assign wake = patience == 8'hff;

    always @(posedge clk) begin
        if (rst) begin
            wanting <= 32'd0;
            served <= 32'd0;
            patience <= 8'd0;
        end else begin
            if (|owed) begin
                served <= served | starts;
            end else if (start_valid) begin
                served <= starts;
            end
            wanting <= (wanting | turned_away) & ~starts;
            patience <= 8'd0;
            if ((|owed) & !busy & !start_valid) begin
                patience <= patience + 8'd1;
            end
            if (wake) begin
                wanting <= 32'd0;
                served <= 32'd0;
            end
        end
    end
endmodule

