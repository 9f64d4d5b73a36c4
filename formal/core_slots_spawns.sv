// A core's slots with spawned warps: a warp of either kind gets an idle, allowed slot, the lowest, and no more warps of a kind
// than its limit are on the core.
module core_slots_spawns_formal (
    input wire       clk,
    input wire       rst,
    input wire [5:0] limit,
    input wire [5:0] spawn_limit,
    input wire [5:0] slots,
    input wire       take,
    input wire       take_spawned,
    input wire       free,
    input wire [4:0] free_slot
);
    wire        available, spawn_available;
    wire [4:0]  slot;
    // The slots of a register class are always the lowest ones.
    wire [31:0] allowed = (33'd1 << slots) - 33'd1;
    core_slots_spawns dut (
        .clk(clk), .rst(rst), .limit(limit), .allowed(allowed), .take(take), .free(free), .free_slot(free_slot),
        .available(available), .slot(slot), .spawn_limit(spawn_limit), .take_spawned(take_spawned),
        .spawn_available(spawn_available)
    );
    (* hierconn *) wire [31:0] \dut.busy ;
    (* hierconn *) wire [5:0] \dut.warps ;
    (* hierconn *) wire [31:0] \dut.spawned_0 ;
    (* hierconn *) wire [5:0] \dut.spawned_warps_0 ;

    `include "start.vh"

    // The slots with a packet warp, and those with a spawned warp.
    reg [31:0] packets, spawned;
    wire [31:0] busy = packets | spawned;
    function [5:0] count(input [31:0] set);
        integer i;
        begin
            count = 0;
            for (i = 0; i < 32; i = i + 1) count = count + set[i];
        end
    endfunction
    // The contract of the user.
    always @* begin
        assume (slots <= 32);
        assume (!take || (take_spawned ? spawn_available : available));
        assume (!free || busy[free_slot]);
    end
    wire [31:0] freed = free << free_slot;
    always @(posedge clk) begin
        packets <= (packets & ~freed) | ((take && !take_spawned) << slot);
        spawned <= (spawned & ~freed) | ((take && take_spawned) << slot);
        if (rst) begin
            packets <= 0;
            spawned <= 0;
        end
    end
    wire idle = (allowed & ~busy) != 0;

    always @(posedge clk) if (started && !rst) begin
        available_is_exact: assert (available == (count(packets) < limit && idle));
        spawn_available_is_exact: assert (spawn_available == (count(spawned) < spawn_limit && idle));
        if (available || spawn_available) slot_is_idle: assert (!busy[slot]);
        if (available || spawn_available) slot_is_allowed: assert (allowed[slot]);
        if (available || spawn_available) slot_is_lowest: assert ((allowed & ~busy & ((32'd1 << slot) - 1)) == 0);

        // What the induction needs to know of the state.
        state_busy: assert (\dut.busy == busy && (packets & spawned) == 0);
        state_spawned: assert ((\dut.spawned_0 & busy) == spawned);
        state_warps: assert (\dut.warps == count(packets));
        state_spawned_warps: assert (\dut.spawned_warps_0 == count(spawned));

        both_kinds: cover (packets == 5 && spawned == 10 && free && take && !take_spawned);
        full: cover (slots == 4 && !idle && limit == 8 && spawn_limit == 8 && packets != 0 && spawned != 0);
    end
endmodule
