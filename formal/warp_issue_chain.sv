// With network functions a core takes warps of its own function alone, while it is open: one that
// waits goes before a new one, and no core that could take one starves.
//
// Three cores with 17 slots, so that the register classes differ. One core is followed, whichever.
// What the ports of functions, MCW and the waiting warps say changes as it likes.
module warp_issue_chain_formal (
    input wire        clk,
    input wire        rst,
    input wire        run,
    input wire        warp_valid,
    input wire [31:0] warp_packet,
    input wire [5:0]  warp_count,
    input wire        allocate_ready,
    input wire        free_valid,
    input wire [4:0]  free_core,
    input wire [4:0]  free_slot,
    input wire [2:0]  open,
    input wire [8:0]  functions,
    input wire [17:0] mcw,
    input wire [2:0]  class_,
    input wire [7:0]  waiting,
    input wire [2:0]  entry,
    input wire        room,
    input wire [31:0] waited_packet,
    input wire [5:0]  waited_count,
    input wire [31:0] waited_lanes
);
    wire        warp_ready, idle_slot, allocate_valid, start_any, take, start_hop;
    wire [4:0]  allocate_core, allocate_slot, start_core, start_slot, take_core, take_slot;
    wire [2:0]  start_valid, idle, take_function, start_function;
    wire [31:0] start_packet, start_lanes;
    wire [5:0]  start_count;
    warp_issue_chain dut (
        .clk(clk), .rst(rst), .control_run(run), .control_mcw(6'd0), .control_kernel_class(1'b0), .warp_valid(warp_valid),
        .warp_ready(warp_ready), .warp_packet(warp_packet), .warp_count(warp_count), .idle_slot(idle_slot),
        .allocate_valid(allocate_valid), .allocate_ready(allocate_ready), .allocate_core(allocate_core),
        .allocate_slot(allocate_slot), .free_valid(free_valid), .free_core(free_core), .free_slot(free_slot),
        .start_valid(start_valid), .start_any(start_any), .start_core(start_core), .start_slot(start_slot),
        .start_packet(start_packet), .start_count(start_count), .function_core_open(open),
        .function_core_function(functions), .function_core_mcw(mcw), .function_core_class(class_),
        .function_core_idle(idle), .waits_waiting(waiting), .waits_entry(entry), .waits_room(room), .waits_take(take),
        .waits_function(take_function), .waits_core(take_core), .waits_slot(take_slot), .waits_packet(waited_packet),
        .waits_count(waited_count), .waits_lanes(waited_lanes), .start_hop(start_hop), .start_lanes(start_lanes),
        .start_function(start_function)
    );
    `include "issued_slots.vh"

    // What each core could take.
    function [5:0] limit(input a_class, input [5:0] a_mcw);
        limit = a_mcw < (a_class ? 17 : 16) ? a_mcw : a_class ? 17 : 16;
    endfunction
    wire [2:0] has_room = open & {
        count(busy_2) < limit(class_[2], mcw[17:12]), count(busy_1) < limit(class_[1], mcw[11:6]),
        count(busy_0) < limit(class_[0], mcw[5:0])};
    wire [2:0] of_waiting = {waiting[functions[8:6]], waiting[functions[5:3]], waiting[functions[2:0]]};
    wire [2:0] of_entry = {functions[8:6] == entry, functions[5:3] == entry, functions[2:0] == entry};
    wire enters = run && warp_valid && allocate_ready && room;
    wire [2:0] able = has_room & (of_waiting | (enters ? of_entry : 3'd0));

    wire forms = allocate_valid && allocate_ready;
    wire issue = take || forms;
    wire [4:0] at = take ? take_core : allocate_core;
    wire [4:0] slot = take ? take_slot : allocate_slot;
    wire [31:0] busy_there = at == 0 ? busy_0 : at == 1 ? busy_1 : busy_2;
    wire [5:0] mcw_there = at == 0 ? mcw[5:0] : at == 1 ? mcw[11:6] : mcw[17:12];
    wire [2:0] function_there = at == 0 ? functions[2:0] : at == 1 ? functions[5:3] : functions[8:6];
    wire [5:0] slots = class_[at[1:0]] ? 17 : 16;
    wire [31:0] took = issue << slot;
    wire [31:0] freed = free_valid << free_slot;

    // Who got a warp since the followed core could.
    (* anyconst *) reg [1:0] core;
    always @* assume (core < 3);
    reg [2:0] others;
    wire [2:0] chosen = issue << at;

    reg was_issue, was_take;
    reg [4:0] was_core, was_slot;
    reg [31:0] was_packet;
    reg [5:0] was_count;
    reg [2:0] was_function;
    always @(posedge clk) begin
        busy_0 <= (busy_0 & ~(free_core == 0 ? freed : 0)) | (at == 0 ? took : 0);
        busy_1 <= (busy_1 & ~(free_core == 1 ? freed : 0)) | (at == 1 ? took : 0);
        busy_2 <= (busy_2 & ~(free_core == 2 ? freed : 0)) | (at == 2 ? took : 0);
        others <= able[core] && !chosen[core] ? others | chosen : 0;
        was_issue <= issue;
        was_take <= take;
        {was_core, was_slot, was_packet, was_count, was_function} <= {at, slot, warp_packet, warp_count, function_there};
        if (rst) begin
            busy_0 <= 0;
            busy_1 <= 0;
            busy_2 <= 0;
            others <= 0;
            was_issue <= 0;
            was_take <= 0;
        end
    end
    wire [2:0] up_to = ((3'd1 << core) << 1) - 3'd1;
    wire [2:0] above = \dut.arbiter.above [2:0];
    wire [2:0] before = above[core] ? (above & up_to) : (above | up_to);

    always @(posedge clk) if (started && !rst) begin
        // A warp moves on exactly when a core can take one, and one of both kinds does.
        moves_on: assert (issue == (able != 0) && !(take && forms) && warp_ready == forms && allocate_valid == forms);
        if (issue) only_to_a_core_with_room: assert (at < 3 && has_room[at[1:0]]);
        if (issue) never_above_mcw: assert (count(busy_there) < mcw_there);
        if (issue) never_above_the_class: assert (count(busy_there) < slots && slot < slots);
        if (issue) never_to_a_busy_slot: assert (!busy_there[slot]);
        if (take) of_the_function_that_waits: assert (take_function == function_there && waiting[take_function]);
        if (forms) new_packets_to_the_entry:
            assert (enters && function_there == entry && !waiting[entry]);
        // A core that could take a warp waits for at most one warp to each other core.
        if (issue && able[core] && !chosen[core]) fair: assert ((others & chosen) == 0);
        idle_slot_is_exact: assert (idle_slot == (room && (has_room & of_entry & ~of_waiting) != 0));
        idle_is_exact: assert (idle == {busy_2 == 0, busy_1 == 0, busy_0 == 0});
        // It starts once, in the next cycle, where it was chosen for.
        starts_once: assert (start_any == was_issue && start_valid == (was_issue ? 3'd1 << was_core : 3'd0));
        if (start_any) starts_as_chosen: assert (
            {start_core, start_slot, start_function, start_hop} == {was_core, was_slot, was_function, was_take});
        if (start_any && !start_hop) starts_as_formed: assert (
            {start_packet, start_count} == {was_packet, was_count}
            && (was_count == 0 || was_count > 32 || start_lanes == (32'hffffffff >> (32 - was_count))));
        if (start_any && start_hop) starts_as_it_waited: assert (
            {start_packet, start_count, start_lanes} == {waited_packet, waited_count, waited_lanes});

        // What the induction needs to know of the state.
        state_busy: assert (\dut.slots_0.busy == busy_0 && \dut.slots_1.busy == busy_1 && \dut.slots_2.busy == busy_2);
        state_slots: assert (busy_0[31:17] == 0 && busy_1[31:17] == 0 && busy_2[31:17] == 0);
        state_warps: assert (\dut.slots_0.warps == count(busy_0) && \dut.slots_1.warps == count(busy_1)
            && \dut.slots_2.warps == count(busy_2));
        state_above: assert ((~\dut.arbiter.above & (~\dut.arbiter.above + 1)) == 0);
        state_others: assert ((others & before) == 0);

        hop_before_new: cover (take && take_function == entry && enters && of_entry == 3'b111);
        both_kinds:     cover (start_any && !start_hop && take && take_function != entry);
        closed:         cover (issue && !open[0] && busy_0 != 0 && of_waiting[0]);
    end
endmodule
