// The whole control path with network functions: an entry of the delay commit queue, and with it
// the warp that has it, is in one place; what finishes with lanes that go on waits for the next
// function and starts there with just these lanes; what waited longer for a function starts first;
// each entry commits once, in order, behind its last visit.
//
// Two cores of two slots, warps of up to two packets, three functions, four entries. Where packets
// go changes in each cycle, to higher functions; cores change hands when they are idle. Two warps
// are followed, whichever.
module dispatch_chain_formal (
    input wire        clk,
    input wire        rst,
    input wire        run,
    input wire        task_valid,
    input wire [31:0] task_count,
    input wire [1:0]  finish_valid,
    input wire [9:0]  finish_slot,
    input wire [10:0] limit,
    input wire [2:0]  entry,
    input wire [7:0]  goes_on,
    input wire [23:0] targets,
    input wire [1:0]  open,
    input wire [5:0]  functions,
    input wire [63:0] forwards,
    input wire [2:0]  select
);
    wire        task_ready, issue, finish, commit, hop;
    wire [1:0]  start_valid, finish_ready, idle;
    wire [4:0]  start_slot, issue_core, issue_slot, finish_core, finished_slot, commit_core, commit_slot, hop_core, hop_slot;
    wire [31:0] start_packet, issue_packet, commit_packet, pending, issued_warps, committed_warps, committed_packets;
    wire [31:0] start_lanes, hop_packet, hop_lanes;
    wire [5:0]  start_count, issue_count, commit_count, hop_count;
    wire [2:0]  hop_function, task_level;
    wire [10:0] queued, peak;
    wire [63:0] survivors, ended;
    dispatch_chain dut (
        .clk(clk), .rst(rst), .control_run(run), .control_eager(1'b1), .control_mcw(6'd0), .control_timeout(32'd0),
        .control_kernel_class(1'b0), .task_valid(task_valid), .task_ready(task_ready), .task_count(task_count),
        .start_valid(start_valid), .start_slot(start_slot), .start_packet(start_packet), .start_count(start_count),
        .finish_valid(finish_valid), .finish_ready(finish_ready), .finish_slot(finish_slot), .trace_issue_valid(issue),
        .trace_issue_core(issue_core), .trace_issue_slot(issue_slot), .trace_issue_packet(issue_packet),
        .trace_issue_count(issue_count), .trace_finish_valid(finish), .trace_finish_core(finish_core),
        .trace_finish_slot(finished_slot), .trace_commit_valid(commit), .trace_commit_core(commit_core),
        .trace_commit_slot(commit_slot), .trace_commit_packet(commit_packet), .trace_commit_count(commit_count),
        .task_level(task_level), .progress_pending(pending), .progress_issued_warps(issued_warps),
        .progress_committed_warps(committed_warps), .progress_committed_packets(committed_packets),
        .function_links_limit(limit), .function_links_entry(entry), .function_links_goes_on(goes_on),
        .function_links_targets(targets), .ring_slots_log2(5'd20), .function_core_open(open),
        .function_core_function(functions), .function_core_mcw({6'd2, 6'd2}), .function_core_class(2'd0),
        .function_core_idle(idle), .finished_survivors(survivors), .finished_ended(ended), .start_lanes(start_lanes),
        .trace_hop_valid(hop), .trace_hop_core(hop_core), .trace_hop_slot(hop_slot), .trace_hop_packet(hop_packet),
        .trace_hop_count(hop_count), .trace_hop_lanes(hop_lanes), .trace_hop_function(hop_function),
        .function_select(select), .function_queued(queued), .function_peak(peak)
    );
    (* hierconn *) wire \dut.chain.fifo_0.push_valid ;
    (* hierconn *) wire \dut.chain.fifo_0.push_ready ;
    (* hierconn *) wire \dut.chain.fifo_1.push_valid ;
    (* hierconn *) wire \dut.chain.fifo_1.push_ready ;

    `include "start.vh"

    // Links as the registers keep them; tasks and links that make the state small.
    always @* begin
        assume (task_count != 0 && task_count < 4 && entry < 3 && limit < 4 && (select == 1 || select == 2));
        assume (!goes_on[0] || targets[2:0] == 1 || targets[2:0] == 2);
        assume (!goes_on[1] || targets[5:3] == 2);
        assume (!goes_on[2]);
        assume (functions[2:0] < 3 && functions[5:3] < 3);
    end

    // The slots that run a warp, with its lanes and its function.
    reg [3:0] running;
    reg [1:0] lanes [0:3];
    reg [2:0] at_function [0:3];
    reg [1:0] was_waiting, was_idle, was_open;
    reg [9:0] was_finish_slot;
    reg [5:0] was_functions;
    reg [2:0] was_entry;
    integer i;
    always @* for (i = 0; i < 2; i = i + 1) begin
        if (finish_valid[i]) assume (finish_slot[5*i +: 5] < 2 && running[2*i + finish_slot[5*i]]);
        if (started && was_waiting[i]) assume (finish_valid[i] && finish_slot[5*i +: 5] == was_finish_slot[5*i +: 5]);
        // A core changes hands while it is idle and closed, as its owner sees to.
        if (started && !rst && (was_open[i] || !was_idle[i]))
            assume (functions[3*i +: 3] == was_functions[3*i +: 3]);
    end
`ifdef COVER
    // Covers are looked for among few stimuli, which is quicker, and what these reach is reached:
    // one reset, warps of two packets, from each function to the next, each finish at once.
    always @* begin
        assume (rst == !started && run && limit == 0 && task_count == 2 && entry == 0 && open[0]);
        assume (goes_on == 3 && targets == {3'd2, 3'd1} && select == 2);
        // The first core is that of function 0; the second one changes hands between 1 and 2.
        assume (functions[2:0] == 0 && functions[5:3] != 0 && !forwards[0] == !forwards[1]);
        assume (forwards[33:32] == 3 && (!task_valid || accepted < 4));
        for (i = 0; i < 2; i = i + 1)
            assume (finish_valid[i] == (running[2*i] || running[2*i + 1]));
    end
`endif
    wire [1:0] finishes = finish_valid & finish_ready;
    wire [1:0] place = {issue_core[0], issue_slot[0]};
    wire [1:0] hop_place = {hop_core[0], hop_slot[0]};
    wire [1:0] end_place = {finish_core[0], finished_slot[0]};
    // In the cycle of the event the core says of the warp that it offered which lanes forward.
    wire [1:0] end_lanes = lanes[end_place];
    wire [1:0] forward = finish_core[0] ? forwards[33:32] : forwards[1:0];
    assign survivors = {30'd0, end_lanes & forwards[33:32], 30'd0, end_lanes & forwards[1:0]};
    assign ended = {30'd0, end_lanes & ~forwards[33:32], 30'd0, end_lanes & ~forwards[1:0]};
    wire [1:0] left = end_lanes & forward;
    wire [2:0] end_function = at_function[end_place];
    wire [63:0] all_targets = {40'd0, targets};
    wire [2:0] target = all_targets[3*end_function +: 3];
    wire goes = finish && left != 0 && goes_on[end_function];

    // Two warps by the packets that they begin with: where each is, its lanes, the function that it
    // is at or waits for.
    (* anyconst *) reg [3:0] first, second;
    localparam FREE = 3'd0, RUNS = 3'd1, WAITS = 3'd2, DONE = 3'd3, GONE = 3'd4;
    reg [2:0] first_is, second_is, first_wants;
    reg [1:0] first_place, second_place, first_lanes, first_left;
    reg [5:0] first_count;
    reg [2:0] first_last;
    reg       second_is_behind, overtaken;
    wire first_issues = issue && issue_packet[3:0] == first;
    wire second_issues = issue && issue_packet[3:0] == second;
    wire first_hops = hop && hop_packet[3:0] == first;
    wire second_hops = hop && hop_packet[3:0] == second;
    wire first_ends = finish && first_is == RUNS && end_place == first_place;
    wire second_ends = finish && second_is == RUNS && end_place == second_place;
    // Warps that wait for each function, taken a cycle before they start.
    reg [2:0] waits_1, waits_2;
    reg [5:0] accepted, started_packets, committed;
    reg [2:0] in_flight;
    reg [1:0] visits;
    reg       was_finish;
    always @(posedge clk) begin
        {was_waiting, was_idle, was_open} <= {finish_valid & ~finish_ready, idle, open};
        {was_finish_slot, was_functions, was_entry} <= {finish_slot, functions, entry};
        was_finish <= finishes != 0;
        for (i = 0; i < 2; i = i + 1) begin
            if (finishes[i]) running[2*i + finish_slot[5*i]] <= 0;
        end
        if (issue) begin
            running[place] <= 1;
            lanes[place] <= issue_count == 2 ? 2'd3 : 2'd1;
            at_function[place] <= was_functions[3*issue_core[0] +: 3];
        end
        if (hop) begin
            running[hop_place] <= 1;
            lanes[hop_place] <= hop_lanes[1:0];
            at_function[hop_place] <= hop_function;
        end
        waits_1 <= waits_1 + (goes && target == 1) - (hop && hop_function == 1);
        waits_2 <= waits_2 + (goes && target == 2) - (hop && hop_function == 2);
        accepted <= accepted + (task_valid && task_ready ? task_count : 0);
        started_packets <= started_packets + (issue ? issue_count : 0);
        committed <= committed + (commit ? commit_count : 0);
        in_flight <= in_flight + issue - commit;
        if (first_issues) begin
            {first_is, first_place, first_count} <= {RUNS, place, issue_count};
            first_lanes <= issue_count == 2 ? 2'd3 : 2'd1;
            visits <= 1;
        end
        if (first_hops) begin
            {first_is, first_place, first_lanes} <= {RUNS, hop_place, hop_lanes[1:0]};
            visits <= visits + 1;
        end
        if (first_ends) begin
            first_is <= goes ? WAITS : DONE;
            {first_wants, first_left, first_last} <= {target, left, end_function};
        end
        if (commit && commit_packet[3:0] == first) first_is <= GONE;
        if (second_issues) {second_is, second_place} <= {RUNS, place};
        if (second_hops) {second_is, second_place, second_is_behind} <= {RUNS, hop_place, 1'b0};
        if (second_ends) begin
            second_is <= goes ? WAITS : DONE;
            second_is_behind <= goes && first_is == WAITS && first_wants == target && !first_hops;
            if (!goes && first_is != DONE && first_is != GONE && first_is != FREE) overtaken <= first < second;
        end
        if (first_hops) second_is_behind <= 0;
        if (commit && commit_packet[3:0] == second) second_is <= GONE;
        if (rst) begin
            running <= 0;
            {was_waiting, was_finish} <= 0;
            {waits_1, waits_2, accepted, started_packets, committed, in_flight, visits} <= 0;
            {first_is, second_is, second_is_behind, overtaken} <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        // Starts
        if (issue) never_to_a_busy_slot: assert (issue_core < 2 && issue_slot < 2 && !running[place]);
        if (hop) hop_to_an_idle_slot: assert (hop_core < 2 && hop_slot < 2 && !running[hop_place]);
        if (hop) hop_to_its_core: assert (hop_function == functions[3*hop_core[0] +: 3]);
        if (issue) enters_at_the_entry: assert (functions[3*issue_core[0] +: 3] == was_entry);
        if (issue) starts_in_order: assert (issue_packet[5:0] == started_packets);
        none_invented: assert (started_packets + (issue ? issue_count : 0) <= accepted);
        // One place
        if (first_issues) enters_once: assert (first_is == FREE);
        if (first_hops) hops_from_its_wait: assert (first_is == WAITS && hop_function == first_wants);
        if (first_hops) lanes_that_survived: assert (hop_lanes == first_left && hop_count == first_count);
        if (first_hops) visits_ascend: assert (hop_function > first_last);
        if (second_hops) oldest_comes_first: assert (!second_is_behind);
        if (commit && commit_packet[3:0] == first) commits_behind_its_last_visit: assert (first_is == DONE);
        // None is lost
        if (commit) commits_in_order: assert (in_flight != 0 && commit_packet[5:0] == committed);
        finishes_once: assert (finish == was_finish);
        no_fifo_refuses: assert ((!\dut.chain.fifo_0.push_valid || \dut.chain.fifo_0.push_ready )
                                 && (!\dut.chain.fifo_1.push_valid || \dut.chain.fifo_1.push_ready ));
        // One that is taken starts in the next cycle.
        level_is_what_waits: assert (queued + (hop && hop_function == select) == (select == 1 ? waits_1 : waits_2));
        counters: assert (committed_packets[5:0] == committed && issued_warps[2:0] - committed_warps[2:0] == in_flight);

        three_visits:       cover (commit && commit_packet[3:0] == first && visits == 3);
        older_is_overtaken: cover (overtaken && first_is == WAITS);
        two_wait:           cover (waits_2 == 2 && second_is_behind);
    end
endmodule
