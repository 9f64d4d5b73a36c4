// Chooses the warp that issues before its turn: one of spawned threads that has just started, for the instructions of its boot
// sequence and the first of its entry.
//
// 1. `start_valid` in cycle t: from t + 1 on the warp goes first, for [`FIRST_ISSUES`] cycles with `advance`. A fresh warp waits
//    for nothing until then, so that these are its first instructions.
// 2. `first_valid` and `first_slot` tell a cycle before who goes first. A warp that starts while another one goes first takes its
//    turns like all others.
//
// The next warp of spawned threads can start only when one has ended, for which it needs turns of its own: the others are passed
// over by [`FIRST_ISSUES`] instructions for each spawned warp of a core in a round at most.
module boot_first (
    input  wire       clk,          // Rising-edge clock
    input  wire       rst,          // Synchronous reset, active high: nobody goes first
    input  wire       start_valid,  // A warp of spawned threads starts
    input  wire [4:0] start_slot,   // Its slot
    input  wire       advance,      // The present choice issues
    output reg        first_valid,  // In the next cycle a warp goes first
    output reg  [4:0] first_slot    // Its slot
);

    wire idle;
    wire ends;
    reg  [2:0] left;
    reg  [4:0] slot;

    assign idle = !(|left);
    assign ends = advance & (left == 3'd1);

    always @* begin
        first_valid = start_valid;
        first_slot = start_slot;
        if (!idle) begin
            first_valid = !ends;
            first_slot = slot;
        end
    end

    always @(posedge clk) begin
        if (rst) begin
            left <= 3'd0;
            slot <= 5'd0;
        end else begin
            if (idle & start_valid) begin
                left <= 3'd6;
                slot <= start_slot;
            end else if (!idle & advance) begin
                left <= left - 3'd1;
            end
        end
    end
endmodule

