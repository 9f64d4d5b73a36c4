// The least-occupied issue gives each warp to a core that has room for it and than which no other
// one with room has fewer busy slots; of cores that are alike none is passed over twice.
//
// Three cores with 17 slots, so that the register classes differ. One core is followed, whichever.
module warp_issue_least_formal (
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
    input wire [4:0]  free_slot
);
    wire        warp_ready, idle_slot, allocate_valid, start_any;
    wire [4:0]  allocate_core, allocate_slot, start_core, start_slot;
    wire [2:0]  start_valid;
    wire [31:0] start_packet;
    wire [5:0]  start_count;
    warp_issue_least dut (
        .clk(clk), .rst(rst), .control_run(run), .control_mcw(mcw), .control_kernel_class(kernel_class), .warp_valid(warp_valid),
        .warp_ready(warp_ready), .warp_packet(warp_packet), .warp_count(warp_count), .idle_slot(idle_slot),
        .allocate_valid(allocate_valid), .allocate_ready(allocate_ready), .allocate_core(allocate_core),
        .allocate_slot(allocate_slot), .free_valid(free_valid), .free_core(free_core), .free_slot(free_slot),
        .start_valid(start_valid), .start_any(start_any), .start_core(start_core), .start_slot(start_slot),
        .start_packet(start_packet), .start_count(start_count)
    );
    `include "issued_slots.vh"

    wire issue = allocate_valid && allocate_ready;
    wire [31:0] busy_there = allocate_core == 0 ? busy_0 : allocate_core == 1 ? busy_1 : busy_2;
    wire [5:0] slots = kernel_class ? 17 : 16;
    wire [5:0] limit = mcw < slots ? mcw : slots;
    wire [31:0] took = issue << allocate_slot;
    wire [31:0] freed = free_valid << free_slot;

    // The cores that could take a warp, and those of them with the fewest busy slots.
    wire [5:0] on_0 = count(busy_0), on_1 = count(busy_1), on_2 = count(busy_2);
    wire [2:0] able = {on_2 < limit, on_1 < limit, on_0 < limit};
    wire [2:0] least = {
        able[2] && !(able[1] && on_1 < on_2) && !(able[0] && on_0 < on_2),
        able[1] && !(able[2] && on_2 < on_1) && !(able[0] && on_0 < on_1),
        able[0] && !(able[2] && on_2 < on_0) && !(able[1] && on_1 < on_0)
    };
    // Who got a warp since the followed core is among these.
    (* anyconst *) reg [1:0] core;
    always @* assume (core < 3);
    reg [2:0] others;
    wire [2:0] chosen = issue << allocate_core;

    reg was_issue;
    reg [4:0] was_core, was_slot;
    reg [31:0] was_packet;
    reg [5:0] was_count;
    always @(posedge clk) begin
        busy_0 <= (busy_0 & ~(free_core == 0 ? freed : 0)) | (allocate_core == 0 ? took : 0);
        busy_1 <= (busy_1 & ~(free_core == 1 ? freed : 0)) | (allocate_core == 1 ? took : 0);
        busy_2 <= (busy_2 & ~(free_core == 2 ? freed : 0)) | (allocate_core == 2 ? took : 0);
        others <= least[core] && !chosen[core] ? others | chosen : 0;
        was_issue <= issue;
        {was_core, was_slot, was_packet, was_count} <= {allocate_core, allocate_slot, warp_packet, warp_count};
        if (rst) begin
            busy_0 <= 0;
            busy_1 <= 0;
            busy_2 <= 0;
            others <= 0;
            was_issue <= 0;
        end
    end
    wire [2:0] up_to = ((3'd1 << core) << 1) - 3'd1;
    wire [2:0] above = \dut.arbiter.above [2:0];
    wire [2:0] before = above[core] ? (above & up_to) : (above | up_to);

    always @(posedge clk) if (started && !rst) begin
        if (issue) never_above_mcw: assert (count(busy_there) < mcw);
        if (issue) never_above_the_class: assert (count(busy_there) < slots && allocate_slot < slots);
        if (issue) never_to_a_busy_slot: assert (!busy_there[allocate_slot]);
        if (issue) only_to_a_core: assert (allocate_core < 3);
        if (issue) to_the_least_occupied: assert ((least & chosen) != 0);
        // A core that is among the least occupied waits for at most one warp to each other core.
        if (issue && least[core] && !chosen[core]) fair: assert ((others & chosen) == 0);
        // A warp moves on exactly when it can: no core with room keeps it waiting.
        moves_on: assert (warp_ready == (run && able != 0 && allocate_ready));
        taken_is_allocated: assert ((warp_valid && warp_ready) == issue);
        idle_slot_is_exact: assert (idle_slot == (able != 0));
        // It starts once, in the next cycle, where it was allocated.
        starts_once: assert (start_any == was_issue && start_valid == (was_issue ? 3'd1 << was_core : 3'd0));
        if (start_any) starts_as_allocated: assert (
            {start_core, start_slot, start_packet, start_count} == {was_core, was_slot, was_packet, was_count});

        // What the induction needs to know of the state.
        state_busy: assert (\dut.slots_0.busy == busy_0 && \dut.slots_1.busy == busy_1 && \dut.slots_2.busy == busy_2);
        state_slots: assert (busy_0[31:17] == 0 && busy_1[31:17] == 0 && busy_2[31:17] == 0);
        state_warps: assert (\dut.slots_0.warps == on_0 && \dut.slots_1.warps == on_1 && \dut.slots_2.warps == on_2);
        state_above: assert ((~\dut.arbiter.above & (~\dut.arbiter.above + 1)) == 0);
        state_others: assert ((others & before) == 0);

        all_full: cover (able == 0 && mcw == 2 && warp_valid && run);
        fewer_behind: cover (issue && allocate_core == 2 && on_0 == 2 && on_1 == 1 && on_2 == 0);
        full_is_not_least: cover (issue && mcw == 1 && able == 3'b100);
        freed_and_reused: cover (busy_1 == 2 && chosen[1] && allocate_slot == 0);
    end
endmodule
