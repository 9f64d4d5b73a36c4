// The properties of the whole control path in the second lap of its queues: one slot a core, and
// full warps only, so that longer runs can be looked at than in general.
module dispatch_laps_formal (
    input wire       clk,
    input wire       rst,
    input wire       eager,
    input wire       task_valid,
    input wire [1:0] finish_valid,
    input wire [9:0] finish_slot,
    input wire       follow
);
    dispatch_formal control (
        .clk(clk), .rst(rst), .run(1'b1), .eager(eager), .mcw(6'd1), .timeout(32'd0), .task_valid(task_valid),
        .task_count(32'd2), .finish_valid(finish_valid), .finish_slot(finish_slot), .follow(follow)
    );
    (* hierconn *) wire [3:0] \control.commits ;

    always @(posedge clk) if (!rst) begin
        second_lap: cover (\control.commits == 3);
    end
endmodule
