// The warp issue with spawned warps (rules S8 and S12): each warp of either kind goes to one core that has room for it, never
// to a busy slot, and in turn; no kind keeps the other out.
//
// Three cores with 17 slots, so that the register classes differ. One core is followed, whichever.
module warp_issue_spawns_formal (
    input wire        clk,
    input wire        rst,
    input wire        run,
    input wire [5:0]  mcw,
    input wire        kernel_class,
    input wire        warp_valid,
    input wire [31:0] warp_packet,
    input wire [5:0]  warp_count,
    input wire        allocate_ready,
    input wire        free_valid,
    input wire [4:0]  free_core,
    input wire [4:0]  free_slot,
    input wire        spawn_valid,
    input wire [31:0] spawn_cores,
    input wire [3:0]  spawn_job,
    input wire [31:0] spawn_thread,
    input wire [5:0]  spawn_count,
    input wire [5:0]  spawn_mcw
);
    wire        spawn_ready, spawn_take, start_spawned;
    wire [4:0]  spawn_core, spawn_slot;
    wire [3:0]  start_job;
    wire        warp_ready, idle_slot, allocate_valid, start_any;
    wire [4:0]  allocate_core, allocate_slot, start_core, start_slot;
    wire [2:0]  start_valid;
    wire [31:0] start_packet;
    wire [5:0]  start_count;
    warp_issue_spawns dut (
        .clk(clk), .rst(rst), .run(run), .mcw(mcw), .kernel_class(kernel_class), .warp_valid(warp_valid),
        .warp_ready(warp_ready), .warp_packet(warp_packet), .warp_count(warp_count), .idle_slot(idle_slot),
        .allocate_valid(allocate_valid), .allocate_ready(allocate_ready), .allocate_core(allocate_core),
        .allocate_slot(allocate_slot), .free_valid(free_valid), .free_core(free_core), .free_slot(free_slot),
        .start_valid(start_valid), .start_any(start_any), .start_core(start_core), .start_slot(start_slot),
        .start_packet(start_packet), .start_count(start_count), .spawn_valid(spawn_valid), .spawn_ready(spawn_ready),
        .spawn_cores(spawn_cores), .spawn_job(spawn_job), .spawn_thread(spawn_thread), .spawn_count(spawn_count),
        .spawn_mcw(spawn_mcw), .spawn_take(spawn_take), .spawn_core(spawn_core), .spawn_slot(spawn_slot),
        .start_spawned(start_spawned), .start_job(start_job)
    );
    (* hierconn *) wire [31:0] \dut.slots_0.busy ;
    (* hierconn *) wire [31:0] \dut.slots_1.busy ;
    (* hierconn *) wire [31:0] \dut.slots_2.busy ;
    (* hierconn *) wire [5:0] \dut.slots_0.warps ;
    (* hierconn *) wire [5:0] \dut.slots_1.warps ;
    (* hierconn *) wire [5:0] \dut.slots_2.warps ;
    (* hierconn *) wire [31:0] \dut.slots_0.spawned_0 ;
    (* hierconn *) wire [31:0] \dut.slots_1.spawned_0 ;
    (* hierconn *) wire [31:0] \dut.slots_2.spawned_0 ;
    (* hierconn *) wire [5:0] \dut.slots_0.spawned_warps_0 ;
    (* hierconn *) wire [5:0] \dut.slots_1.spawned_warps_0 ;
    (* hierconn *) wire [5:0] \dut.slots_2.spawned_warps_0 ;
    (* hierconn *) wire [31:0] \dut.arbiter.above ;
    (* hierconn *) wire [31:0] \dut.spawn_arbiter_0.above ;
    (* hierconn *) wire \dut.issued_spawned_0 ;

    `include "start.vh"

    // The slots of each core with a packet warp and with a spawned warp, as the ports tell.
    reg [31:0] packets_0, packets_1, packets_2, spawned_0, spawned_1, spawned_2;
    wire [31:0] busy_0 = packets_0 | spawned_0;
    wire [31:0] busy_1 = packets_1 | spawned_1;
    wire [31:0] busy_2 = packets_2 | spawned_2;
    function [5:0] count(input [31:0] slots);
        integer i;
        begin
            count = 0;
            for (i = 0; i < 17; i = i + 1) count = count + slots[i];
        end
    endfunction
    wire [31:0] busy_of_free = free_core == 0 ? busy_0 : free_core == 1 ? busy_1 : busy_2;
    always @* if (free_valid) assume (free_core < 3 && busy_of_free[free_slot]);

    wire issue = allocate_valid && allocate_ready;
    wire spawns = spawn_valid && spawn_ready;
    wire [4:0] new_core = spawns ? spawn_core : allocate_core;
    wire [4:0] new_slot = spawns ? spawn_slot : allocate_slot;
    wire [31:0] busy_there = new_core == 0 ? busy_0 : new_core == 1 ? busy_1 : busy_2;
    wire [31:0] packets_there = new_core == 0 ? packets_0 : new_core == 1 ? packets_1 : packets_2;
    wire [31:0] spawned_there = new_core == 0 ? spawned_0 : new_core == 1 ? spawned_1 : spawned_2;
    wire [5:0] slots = kernel_class ? 17 : 16;
    wire [5:0] limit = mcw < slots ? mcw : slots;
    wire [31:0] allowed = kernel_class ? 32'h1ffff : 32'h0ffff;
    wire [31:0] took = issue << allocate_slot;
    wire [31:0] spawn_took = spawns << spawn_slot;
    wire [31:0] freed = free_valid << free_slot;

    // The cores that could take a warp of either kind, and who got one since the followed core could.
    wire [2:0] idle = {(allowed & ~busy_2) != 0, (allowed & ~busy_1) != 0, (allowed & ~busy_0) != 0};
    wire [2:0] able = idle & {count(packets_2) < limit, count(packets_1) < limit, count(packets_0) < limit};
    wire [2:0] spawn_able = idle & spawn_cores[2:0]
        & {count(spawned_2) < spawn_mcw, count(spawned_1) < spawn_mcw, count(spawned_0) < spawn_mcw};
    (* anyconst *) reg [1:0] core;
    always @* assume (core < 3);
    reg [2:0] others, spawn_others;
    wire [2:0] chosen = issue << allocate_core;
    wire [2:0] spawn_chosen = spawns << spawn_core;
    // A warp waits that a core could take, and another was issued in the cycle before, while it waited in the same way.
    wire packet_could = run && warp_valid && allocate_ready && able != 0;
    wire spawn_could = spawn_valid && spawn_able != 0;
    reg packet_passed_over, spawn_passed_over;

    reg was_issue, was_spawned;
    reg [4:0] was_core, was_slot;
    reg [31:0] was_packet;
    reg [5:0] was_count;
    reg [3:0] was_job;
    always @(posedge clk) begin
        packets_0 <= (packets_0 & ~(free_core == 0 ? freed : 0)) | (allocate_core == 0 ? took : 0);
        packets_1 <= (packets_1 & ~(free_core == 1 ? freed : 0)) | (allocate_core == 1 ? took : 0);
        packets_2 <= (packets_2 & ~(free_core == 2 ? freed : 0)) | (allocate_core == 2 ? took : 0);
        spawned_0 <= (spawned_0 & ~(free_core == 0 ? freed : 0)) | (spawn_core == 0 ? spawn_took : 0);
        spawned_1 <= (spawned_1 & ~(free_core == 1 ? freed : 0)) | (spawn_core == 1 ? spawn_took : 0);
        spawned_2 <= (spawned_2 & ~(free_core == 2 ? freed : 0)) | (spawn_core == 2 ? spawn_took : 0);
        others <= able[core] && !chosen[core] ? others | chosen : 0;
        spawn_others <= spawn_able[core] && !spawn_chosen[core] ? spawn_others | spawn_chosen : 0;
        packet_passed_over <= packet_could && !issue;
        spawn_passed_over <= spawn_could && !spawns;
        was_issue <= issue || spawns;
        was_spawned <= spawns;
        {was_core, was_slot} <= {new_core, new_slot};
        {was_packet, was_count} <= spawns ? {spawn_thread, spawn_count} : {warp_packet, warp_count};
        was_job <= spawn_job;
        if (rst) begin
            {packets_0, packets_1, packets_2, spawned_0, spawned_1, spawned_2} <= 0;
            others <= 0;
            spawn_others <= 0;
            packet_passed_over <= 0;
            spawn_passed_over <= 0;
            was_issue <= 0;
            was_spawned <= 0;
        end
    end
    wire [2:0] up_to = ((3'd1 << core) << 1) - 3'd1;
    wire [2:0] above = \dut.arbiter.above [2:0];
    wire [2:0] before = above[core] ? (above & up_to) : (above | up_to);
    wire [2:0] spawn_above = \dut.spawn_arbiter_0.above [2:0];
    wire [2:0] spawn_before = spawn_above[core] ? (spawn_above & up_to) : (spawn_above | up_to);

    always @(posedge clk) if (started && !rst) begin
        // S8: of a spawned warp no entry is allocated, and no packet warp moves on in its cycle.
        if (spawns) not_allocated: assert (!allocate_valid && !warp_ready);
        take_is_told: assert (spawn_take == spawns);
        if (issue) never_above_mcw: assert (count(packets_there) < mcw && count(packets_there) < slots);
        if (spawns) never_above_spawn_mcw: assert (count(spawned_there) < spawn_mcw);
        if (issue || spawns) never_above_the_class: assert (new_slot < slots);
        if (issue || spawns) never_to_a_busy_slot: assert (!busy_there[new_slot]);
        if (issue) only_to_a_core: assert (allocate_core < 3);
        if (spawns) only_to_its_cores: assert (spawn_core < 3 && spawn_cores[spawn_core]);
        // A core that could take a warp waits for at most one warp of the kind to each other core.
        if (issue && able[core] && !chosen[core]) fair: assert ((others & chosen) == 0);
        if (spawns && spawn_able[core] && !spawn_chosen[core]) spawns_fair: assert ((spawn_others & spawn_chosen) == 0);
        // S12: a warp of either kind that a core could take waits for one issue at most.
        if (packet_passed_over && packet_could) packet_waits_for_one: assert (issue);
        if (spawn_passed_over && spawn_could) spawned_waits_for_one: assert (spawns);
        // And it never waits for nothing.
        if (packet_could || spawn_could) one_moves_on: assert (issue || spawns);
        taken_is_allocated: assert ((warp_valid && warp_ready) == issue);
        idle_slot_is_exact: assert (idle_slot == (able != 0));
        // It starts once, in the next cycle, as it was taken.
        starts_once: assert (start_any == was_issue && start_valid == (was_issue ? 3'd1 << was_core : 3'd0));
        if (start_any) starts_as_taken: assert (
            {start_core, start_slot, start_packet, start_count} == {was_core, was_slot, was_packet, was_count});
        kind_is_told: assert (start_spawned == was_spawned && (!was_spawned || start_job == was_job));

        // What the induction needs to know of the state.
        state_busy: assert (\dut.slots_0.busy == busy_0 && \dut.slots_1.busy == busy_1 && \dut.slots_2.busy == busy_2);
        state_slots: assert (busy_0[31:17] == 0 && busy_1[31:17] == 0 && busy_2[31:17] == 0);
        state_spawned: assert ((\dut.slots_0.spawned_0 & busy_0) == spawned_0
            && (\dut.slots_1.spawned_0 & busy_1) == spawned_1 && (\dut.slots_2.spawned_0 & busy_2) == spawned_2
            && (packets_0 & spawned_0) == 0 && (packets_1 & spawned_1) == 0 && (packets_2 & spawned_2) == 0);
        state_warps: assert (\dut.slots_0.warps == count(packets_0) && \dut.slots_1.warps == count(packets_1)
            && \dut.slots_2.warps == count(packets_2));
        state_spawned_warps: assert (\dut.slots_0.spawned_warps_0 == count(spawned_0)
            && \dut.slots_1.spawned_warps_0 == count(spawned_1) && \dut.slots_2.spawned_warps_0 == count(spawned_2));
        state_above: assert ((~\dut.arbiter.above & (~\dut.arbiter.above + 1)) == 0
            && (~\dut.spawn_arbiter_0.above & (~\dut.spawn_arbiter_0.above + 1)) == 0);
        state_others: assert ((others & before) == 0 && (spawn_others & spawn_before) == 0);
        state_turn: assert (\dut.issued_spawned_0 == was_spawned);

        alternating: cover (packet_passed_over && issue && spawn_valid && spawned_0 == 1 && packets_0 == 2);
        all_full: cover (able == 0 && mcw == 2 && warp_valid && run && spawn_could);
        passed_over_twice: cover (spawn_others[2:1] == 3 && core == 0 && spawn_chosen[0]);
        only_core_2: cover (spawned_2 == 3 && packets_2 == 0 && spawns && spawn_cores[2:0] == 4);
    end
endmodule
