// A core's slots with a thread spawner: a warp of either kind gets an idle, allowed slot, each kind
// up to its own limit; a slot that is freed is one less of the kind that took it.
module core_slots_spawned_formal (
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
    core_slots_spawned dut (
        .clk(clk), .rst(rst), .limit(limit), .allowed(allowed), .take(take), .free(free), .free_slot(free_slot),
        .available(available), .slot(slot), .spawn_limit(spawn_limit), .take_spawned(take_spawned),
        .spawn_available(spawn_available)
    );
    (* hierconn *) wire [31:0] \dut.busy ;
    (* hierconn *) wire [5:0] \dut.warps ;
    (* hierconn *) wire [31:0] \dut.spawned ;
    (* hierconn *) wire [5:0] \dut.spawned_warps ;

    `include "start.vh"

    // The slots of each kind, and how many they are, as the ports tell: takes less frees. Each take
    // is of an idle slot and each free of a busy one, so that this is the number of bits, which
    // solvers are slow to count.
    reg [31:0] packets, spawned;
    reg [5:0]  packet_warps, spawned_warps;
    wire [31:0] busy = packets | spawned;
    // The contract of the user.
    always @* begin
        assume (slots <= 32 && limit <= slots);
        assume (!take || (take_spawned ? spawn_available : available));
        assume (!free || busy[free_slot]);
    end
    wire [31:0] freed = free << free_slot;
    wire [31:0] taken = take << slot;
    always @(posedge clk) begin
        packets <= (packets & ~freed) | (take_spawned ? 32'd0 : taken);
        spawned <= (spawned & ~freed) | (take_spawned ? taken : 32'd0);
        packet_warps <= packet_warps + (take && !take_spawned) - (free && packets[free_slot]);
        spawned_warps <= spawned_warps + (take && take_spawned) - (free && spawned[free_slot]);
        if (rst) {packets, spawned, packet_warps, spawned_warps} <= 0;
    end
    wire idle = (allowed & ~busy) != 0;

    always @(posedge clk) if (started && !rst) begin
        available_exact: assert (available == (packet_warps < limit && idle));
        spawn_available_exact: assert (spawn_available == (spawned_warps < spawn_limit && idle));
        if (available || spawn_available) slot_is_idle: assert (!packets[slot] && !spawned[slot]);
        if (available || spawn_available) slot_is_allowed: assert (allowed[slot]);
        if (available || spawn_available) slot_is_lowest: assert ((allowed & ~busy & ((32'd1 << slot) - 1)) == 0);
        one_kind: assert ((packets & spawned) == 0);

        // What the induction needs to know of the state.
        state_busy: assert (\dut.busy == busy);
        state_spawned: assert ((\dut.spawned & busy) == spawned);
        state_warps: assert (\dut.warps == packet_warps);
        state_spawned_warps: assert (\dut.spawned_warps == spawned_warps);

        one_for_the_other: cover (packets == 1 && spawned == 2 && free && free_slot == 0 && take && take_spawned);
        packets_full: cover (packet_warps == limit && limit == 2 && spawn_available && spawned_warps == 2);
        spawned_full: cover (spawned_warps == spawn_limit && spawn_limit == 2 && available && packet_warps == 2);
    end
endmodule
