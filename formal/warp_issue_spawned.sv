// The warp issue with a thread spawner: warps of packets and of spawned threads, each up to their
// own limit, never in a busy slot; a spawned warp takes no place of the delay commit queue, and
// when both kinds wait each gets every second issue.
//
// Three cores with 17 slots, so that the register classes differ. One core is followed, whichever.
module warp_issue_spawned_formal (
    input wire        clk,
    input wire        rst,
    input wire        run,
    input wire [5:0]  mcw,
    input wire [5:0]  spawn_mcw,
    input wire        kernel_class,
    input wire        warp_valid,
    input wire [31:0] warp_packet,
    input wire [5:0]  warp_count,
    input wire        spawn_valid,
    input wire [31:0] spawn_thread,
    input wire [5:0]  spawn_count,
    input wire [3:0]  spawn_job,
    input wire [31:0] spawn_cores,
    input wire        allocate_ready,
    input wire        free_valid,
    input wire [4:0]  free_core,
    input wire [4:0]  free_slot
);
    wire        warp_ready, idle_slot, allocate_valid, start_any, spawn_ready, spawn_take, start_spawned;
    wire [4:0]  allocate_core, allocate_slot, start_core, start_slot, spawn_core, spawn_slot;
    wire [2:0]  start_valid;
    wire [31:0] start_packet;
    wire [5:0]  start_count;
    wire [3:0]  start_job;
    warp_issue_spawned dut (
        .clk(clk), .rst(rst), .control_run(run), .control_mcw(mcw), .control_kernel_class(kernel_class), .warp_valid(warp_valid),
        .warp_ready(warp_ready), .warp_packet(warp_packet), .warp_count(warp_count), .idle_slot(idle_slot),
        .allocate_valid(allocate_valid), .allocate_ready(allocate_ready), .allocate_core(allocate_core),
        .allocate_slot(allocate_slot), .free_valid(free_valid), .free_core(free_core), .free_slot(free_slot),
        .start_valid(start_valid), .start_any(start_any), .start_core(start_core), .start_slot(start_slot),
        .start_packet(start_packet), .start_count(start_count), .spawn_valid(spawn_valid), .spawn_ready(spawn_ready),
        .spawn_thread(spawn_thread), .spawn_count(spawn_count), .spawn_job(spawn_job), .spawn_cores(spawn_cores),
        .spawn_mcw(spawn_mcw), .spawn_take(spawn_take), .spawn_core(spawn_core), .spawn_slot(spawn_slot),
        .start_spawned(start_spawned), .start_job(start_job)
    );
    (* hierconn *) wire [31:0] \dut.slots_0.busy ;
    (* hierconn *) wire [31:0] \dut.slots_1.busy ;
    (* hierconn *) wire [31:0] \dut.slots_2.busy ;
    (* hierconn *) wire [31:0] \dut.slots_0.spawned ;
    (* hierconn *) wire [31:0] \dut.slots_1.spawned ;
    (* hierconn *) wire [31:0] \dut.slots_2.spawned ;
    (* hierconn *) wire [5:0] \dut.slots_0.warps ;
    (* hierconn *) wire [5:0] \dut.slots_1.warps ;
    (* hierconn *) wire [5:0] \dut.slots_2.warps ;
    (* hierconn *) wire [5:0] \dut.slots_0.spawned_warps ;
    (* hierconn *) wire [5:0] \dut.slots_1.spawned_warps ;
    (* hierconn *) wire [5:0] \dut.slots_2.spawned_warps ;
    (* hierconn *) wire [31:0] \dut.arbiter.above ;
    (* hierconn *) wire [31:0] \dut.spawn_arbiter.above ;

    `include "start.vh"

    // The slots that run packet warps and spawned warps on each core, and how many they are, as the
    // ports tell: takes less frees. Each take is of an idle slot and each free of a busy one, so
    // that this is the number of bits, which solvers are slow to count.
    reg [31:0] packets [0:2];
    reg [31:0] spawned [0:2];
    reg [5:0]  packet_warps [0:2];
    reg [5:0]  spawned_warps [0:2];
    wire [31:0] busy_0 = packets[0] | spawned[0];
    wire [31:0] busy_1 = packets[1] | spawned[1];
    wire [31:0] busy_2 = packets[2] | spawned[2];
    wire [31:0] busy_of_free = free_core == 0 ? busy_0 : free_core == 1 ? busy_1 : busy_2;
    always @* if (free_valid) assume (free_core < 3 && busy_of_free[free_slot]);

    wire issue = allocate_valid && allocate_ready;
    wire takes = spawn_take;
    wire [31:0] busy_there = allocate_core == 0 ? busy_0 : allocate_core == 1 ? busy_1 : busy_2;
    wire [5:0]  packets_there = packet_warps[allocate_core[1:0]];
    wire [31:0] spawn_busy_there = spawn_core == 0 ? busy_0 : spawn_core == 1 ? busy_1 : busy_2;
    wire [5:0]  spawned_there = spawned_warps[spawn_core[1:0]];
    wire [5:0]  slots = kernel_class ? 17 : 16;
    wire [31:0] allowed = kernel_class ? 32'h1ffff : 32'hffff;
    wire [5:0]  limit = mcw < slots ? mcw : slots;
    wire [31:0] took = issue << allocate_slot;
    wire [31:0] spawn_took = takes << spawn_slot;
    wire [31:0] freed = free_valid << free_slot;

    // The cores that could take a warp of each kind, and who got one since the followed core could.
    wire [2:0] idle = {(allowed & ~busy_2) != 0, (allowed & ~busy_1) != 0, (allowed & ~busy_0) != 0};
    wire [2:0] able = idle & {packet_warps[2] < limit, packet_warps[1] < limit, packet_warps[0] < limit};
    wire [2:0] spawn_able = idle & spawn_cores[2:0]
        & {spawned_warps[2] < spawn_mcw, spawned_warps[1] < spawn_mcw, spawned_warps[0] < spawn_mcw};
    // A warp of packets could go, and one of spawned threads.
    wire could = run && warp_valid && allocate_ready && able != 0;
    wire spawn_could = spawn_valid && spawn_able != 0;
    (* anyconst *) reg [1:0] core;
    always @* assume (core < 3);
    reg [2:0] others, spawn_others;
    wire [2:0] chosen = issue << allocate_core;
    wire [2:0] spawn_chosen = takes << spawn_core;

    reg was_issue, was_takes, waited, spawn_waited;
    reg [4:0] was_core, was_slot;
    reg [31:0] was_packet;
    reg [5:0] was_count;
    reg [3:0] was_job;
    integer i;
    always @(posedge clk) begin
        for (i = 0; i < 3; i = i + 1) begin
            packets[i] <= (packets[i] & ~(free_core == i ? freed : 0)) | (allocate_core == i ? took : 0);
            spawned[i] <= (spawned[i] & ~(free_core == i ? freed : 0)) | (spawn_core == i ? spawn_took : 0);
            packet_warps[i] <= packet_warps[i] + (issue && allocate_core == i)
                - (free_valid && free_core == i && packets[i][free_slot]);
            spawned_warps[i] <= spawned_warps[i] + (takes && spawn_core == i)
                - (free_valid && free_core == i && spawned[i][free_slot]);
        end
        others <= able[core] && !chosen[core] ? others | chosen : 0;
        spawn_others <= spawn_able[core] && !spawn_chosen[core] ? spawn_others | spawn_chosen : 0;
        was_issue <= issue;
        was_takes <= takes;
        waited <= could && !issue;
        spawn_waited <= spawn_could && !takes;
        {was_core, was_slot, was_packet, was_count} <= takes ? {spawn_core, spawn_slot, spawn_thread, spawn_count}
            : {allocate_core, allocate_slot, warp_packet, warp_count};
        was_job <= spawn_job;
        if (rst) begin
            for (i = 0; i < 3; i = i + 1) begin
                {packets[i], spawned[i]} <= 0;
                {packet_warps[i], spawned_warps[i]} <= 0;
            end
            others <= 0;
            spawn_others <= 0;
            {was_issue, was_takes, waited, spawn_waited} <= 0;
        end
    end
    wire [2:0] up_to = ((3'd1 << core) << 1) - 3'd1;
    wire [2:0] above = \dut.arbiter.above [2:0];
    wire [2:0] before = above[core] ? (above & up_to) : (above | up_to);
    wire [2:0] spawn_above = \dut.spawn_arbiter.above [2:0];
    wire [2:0] spawn_before = spawn_above[core] ? (spawn_above & up_to) : (spawn_above | up_to);

    always @(posedge clk) if (started && !rst) begin
        // S8: a spawned warp takes no entry of the delay commit queue, and no packet warp is taken
        // in its cycle.
        if (takes) no_entry_for_spawned: assert (!allocate_valid && !warp_ready);
        // Neither kind above its limit, the register class, or in a busy slot; a spawned warp on
        // one of its job's cores.
        if (issue) never_above_mcw: assert (packets_there < mcw && packets_there < slots);
        if (takes) never_above_spawn_mcw: assert (spawned_there < spawn_mcw);
        if (issue) never_above_the_class: assert (allocate_slot < slots);
        if (takes) spawned_never_above_the_class: assert (spawn_slot < slots);
        if (issue) never_to_a_busy_slot: assert (!busy_there[allocate_slot]);
        if (takes) spawned_never_to_a_busy_slot: assert (!spawn_busy_there[spawn_slot]);
        if (issue) only_to_a_core: assert (allocate_core < 3);
        if (takes) only_to_a_core_of_the_job: assert (spawn_core < 3 && spawn_cores[spawn_core]);
        // A core that could take a warp waits for at most one warp of this kind to each other core.
        if (issue && able[core] && !chosen[core]) fair: assert ((others & chosen) == 0);
        if (takes && spawn_able[core] && !spawn_chosen[core]) spawned_fair: assert ((spawn_others & spawn_chosen) == 0);
        // A warp moves on exactly when it can; one of the other kind holds it up.
        moves_on: assert (warp_ready == (run && able != 0 && allocate_ready && !takes));
        taken_is_allocated: assert ((warp_valid && warp_ready) == issue);
        spawned_moves_on: assert (spawn_ready == (spawn_able != 0 && !was_takes));
        taken_is_told: assert ((spawn_valid && spawn_ready) == takes);
        idle_slot_is_exact: assert (idle_slot == (able != 0));
        // S12: who could go and did not goes in the next cycle in which it can, and waits for one
        // warp of the other kind alone.
        if (could && !issue) packets_wait_for_spawned: assert (takes);
        if (waited && could) packets_get_the_second: assert (issue);
        if (spawn_waited && spawn_could) spawned_get_the_second: assert (takes);
        // It starts once, in the next cycle, where it was taken.
        starts_once: assert (start_any == (was_issue || was_takes) && start_spawned == was_takes
            && start_valid == (start_any ? 3'd1 << was_core : 3'd0));
        if (start_any) starts_as_taken: assert (
            {start_core, start_slot, start_packet, start_count} == {was_core, was_slot, was_packet, was_count});
        if (was_takes) starts_with_its_job: assert (start_job == was_job);

        // What the induction needs to know of the state.
        state_busy: assert (\dut.slots_0.busy == busy_0 && \dut.slots_1.busy == busy_1 && \dut.slots_2.busy == busy_2);
        state_kinds: assert ((packets[0] & spawned[0]) == 0 && (packets[1] & spawned[1]) == 0
            && (packets[2] & spawned[2]) == 0);
        state_spawned: assert ((\dut.slots_0.spawned & busy_0) == spawned[0]
            && (\dut.slots_1.spawned & busy_1) == spawned[1] && (\dut.slots_2.spawned & busy_2) == spawned[2]);
        state_slots: assert (busy_0[31:17] == 0 && busy_1[31:17] == 0 && busy_2[31:17] == 0);
        state_warps: assert (\dut.slots_0.warps == packet_warps[0] && \dut.slots_1.warps == packet_warps[1]
            && \dut.slots_2.warps == packet_warps[2]);
        state_spawned_warps: assert (\dut.slots_0.spawned_warps == spawned_warps[0]
            && \dut.slots_1.spawned_warps == spawned_warps[1] && \dut.slots_2.spawned_warps == spawned_warps[2]);
        state_above: assert ((~\dut.arbiter.above & (~\dut.arbiter.above + 1)) == 0);
        state_spawn_above: assert ((~\dut.spawn_arbiter.above & (~\dut.spawn_arbiter.above + 1)) == 0);
        state_others: assert ((others & before) == 0);
        state_spawn_others: assert ((spawn_others & spawn_before) == 0);

        both_wait_and_alternate: cover (takes && waited == 0 && was_issue && could && mcw == 2 && spawn_mcw == 2);
        packets_full: cover (able == 0 && mcw == 1 && warp_valid && run && takes);
        spawned_full: cover (spawn_valid && spawn_able == 0 && spawn_mcw == 1 && spawn_cores[2:0] == 7 && issue);
        freed_for_the_other: cover (packets[1] == 1 && spawned[1] == 2 && spawn_chosen[1] && free_valid && free_core == 1
            && free_slot == 0);
    end
endmodule
