// The finish arbiter takes every finished warp once, one a cycle, and no core waits for long.
//
// Three cores.
module finish_arbiter_formal (
    input wire        clk,
    input wire        rst,
    input wire [2:0]  finish_valid,
    input wire [14:0] finish_slot
);
    wire [2:0] finish_ready;
    wire       event_valid;
    wire [4:0] event_core, event_slot;
    finish_arbiter dut (
        .clk(clk), .rst(rst), .finish_valid(finish_valid), .finish_ready(finish_ready), .finish_slot(finish_slot),
        .event_valid(event_valid), .event_core(event_core), .event_slot(event_slot)
    );

    `include "start.vh"

    wire [2:0] taken = finish_valid & finish_ready;
    reg [2:0]  was_taken;
    reg [14:0] was_slot;
    reg [1:0]  waited [0:2];
    integer i;
    always @(posedge clk) begin
        was_taken <= rst ? 0 : taken;
        was_slot <= finish_slot;
        for (i = 0; i < 3; i = i + 1) waited[i] <= rst || !finish_valid[i] || finish_ready[i] ? 0 : waited[i] + 1;
    end

    always @(posedge clk) if (started && !rst) begin
        at_most_one: assert ((finish_ready & (finish_ready - 1)) == 0);
        only_who_asks: assert ((finish_ready & ~finish_valid) == 0);
        never_idle: assert (finish_valid == 0 || finish_ready != 0);
        // Each transfer is told of once, in the next cycle, and nothing else is.
        event_for_each: assert (event_valid == (was_taken != 0));
        if (was_taken[0]) event_of_core_0: assert (event_core == 0 && event_slot == was_slot[4:0]);
        if (was_taken[1]) event_of_core_1: assert (event_core == 1 && event_slot == was_slot[9:5]);
        if (was_taken[2]) event_of_core_2: assert (event_core == 2 && event_slot == was_slot[14:10]);
        // A core waits while each of the two others is taken once.
        no_starvation_0: assert (!finish_valid[0] || waited[0] < 2 || finish_ready[0]);
        no_starvation_1: assert (!finish_valid[1] || waited[1] < 2 || finish_ready[1]);
        no_starvation_2: assert (!finish_valid[2] || waited[2] < 2 || finish_ready[2]);

        longest_wait: cover (waited[1] == 2 && finish_ready[1]);
        all_at_once: cover (finish_valid == 7 && was_taken[2] && finish_ready[0]);
    end
endmodule
