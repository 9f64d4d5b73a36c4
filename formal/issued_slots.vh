// The busy slots of three cores with 17, as the ports of a warp issue tell, and its registers.
    (* hierconn *) wire [31:0] \dut.slots_0.busy ;
    (* hierconn *) wire [31:0] \dut.slots_1.busy ;
    (* hierconn *) wire [31:0] \dut.slots_2.busy ;
    (* hierconn *) wire [5:0] \dut.slots_0.warps ;
    (* hierconn *) wire [5:0] \dut.slots_1.warps ;
    (* hierconn *) wire [5:0] \dut.slots_2.warps ;
    (* hierconn *) wire [31:0] \dut.arbiter.above ;

    `include "start.vh"

    // The busy slots of each core, as the ports tell.
    reg [31:0] busy_0, busy_1, busy_2;
    function [5:0] count(input [31:0] slots);
        integer i;
        begin
            count = 0;
            for (i = 0; i < 17; i = i + 1) count = count + slots[i];
        end
    endfunction
    wire [31:0] busy_of_free = free_core == 0 ? busy_0 : free_core == 1 ? busy_1 : busy_2;
    always @* if (free_valid) assume (free_core < 3 && busy_of_free[free_slot]);
