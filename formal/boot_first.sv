// A warp of spawned threads goes first for six issues after its start, and not longer; another that
// starts meanwhile changes nothing.
module boot_first_formal (
    input wire       clk,
    input wire       rst,
    input wire       start_valid,
    input wire [4:0] start_slot,
    input wire       advance
);
    wire       first_valid;
    wire [4:0] first_slot;
    boot_first dut (
        .clk(clk), .rst(rst), .start_valid(start_valid), .start_slot(start_slot), .advance(advance),
        .first_valid(first_valid), .first_slot(first_slot)
    );
    (* hierconn *) wire [2:0] \dut.left ;
    (* hierconn *) wire [4:0] \dut.slot ;

    `include "start.vh"

    // Who goes first in this cycle, and the issues of its that are done.
    reg       goes;
    reg [2:0] done;
    reg [4:0] who;
    always @(posedge clk) begin
        if (!goes && start_valid) begin
            goes <= 1;
            done <= 0;
            who <= start_slot;
        end
        if (goes && advance) begin
            done <= done + 1;
            if (done == 5) goes <= 0;
        end
        if (rst) goes <= 0;
    end

    reg [1:0] served;
    always @(posedge clk) served <= rst ? 0 : served + (goes && advance && done == 5 && served != 3);

    always @(posedge clk) if (started && !rst) begin
        if (!goes) starts_at_once: assert (first_valid == start_valid && (!start_valid || first_slot == start_slot));
        if (goes) until_its_sixth: assert (first_valid == !(advance && done == 5));
        if (goes && first_valid) same_slot: assert (first_slot == who);

        // What the induction needs to know of the state.
        state_left: assert (\dut.left == (goes ? 6 - done : 0) && (!goes || (done < 6 && \dut.slot == who)));

        twice: cover (served == 2);
        one_starts_meanwhile: cover (goes && start_valid && start_slot != who && done == 3);
    end
endmodule
