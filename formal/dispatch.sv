// The whole control path: every packet announced is in one warp, warps start in order on slots that
// are free, and commit in that order, each once, after it finished.
//
// Two cores of two slots, warps of two packets, two entries in the task FIFO and in the delay
// commit queue. Of all warps one is followed, whichever.
module dispatch_formal (
    input wire        clk,
    input wire        rst,
    input wire        run,
    input wire        eager,
    input wire [5:0]  mcw,
    input wire [31:0] timeout,
    input wire        task_valid,
    input wire [31:0] task_count,
    input wire [1:0]  finish_valid,
    input wire [9:0]  finish_slot,
    input wire        follow
);
    wire        task_ready, issue, finish, commit;
    wire [1:0]  start_valid, finish_ready;
    wire [4:0]  start_slot, issue_core, issue_slot, finish_core, finished_slot, commit_core, commit_slot;
    wire [31:0] start_packet, issue_packet, commit_packet, pending, issued_warps, committed_warps, committed_packets;
    wire [5:0]  start_count, issue_count, commit_count;
    wire [1:0]  task_level;
    dispatch dut (
        .clk(clk), .rst(rst), .control_run(run), .control_eager(eager), .control_mcw(mcw), .control_timeout(timeout), .control_kernel_class(1'b0),
        .task_valid(task_valid), .task_ready(task_ready), .task_count(task_count), .start_valid(start_valid),
        .start_slot(start_slot), .start_packet(start_packet), .start_count(start_count), .finish_valid(finish_valid),
        .finish_ready(finish_ready), .finish_slot(finish_slot), .trace_issue_valid(issue), .trace_issue_core(issue_core),
        .trace_issue_slot(issue_slot), .trace_issue_packet(issue_packet), .trace_issue_count(issue_count),
        .trace_finish_valid(finish), .trace_finish_core(finish_core), .trace_finish_slot(finished_slot),
        .trace_commit_valid(commit), .trace_commit_core(commit_core), .trace_commit_slot(commit_slot),
        .trace_commit_packet(commit_packet), .trace_commit_count(commit_count), .task_level(task_level),
        .progress_pending(pending), .progress_issued_warps(issued_warps), .progress_committed_warps(committed_warps),
        .progress_committed_packets(committed_packets)
    );
    (* hierconn *) wire \dut.former.formed ;

    `include "start.vh"

    // Small counts reach the interesting states in few cycles; any count is proved for the warp
    // former alone.
    always @* assume (task_count < 6 && timeout < 4 && mcw < 4);
    reg [5:0] was_mcw;
    always @* if (started && !rst) assume (mcw == was_mcw);

    // The slots that run a warp, and the cores' finishes, which stay until they are taken.
    reg [1:0] running [0:1];
    reg [1:0] was_waiting;
    reg [9:0] was_finish_slot;
    integer i;
    always @* for (i = 0; i < 2; i = i + 1) begin
        if (finish_valid[i]) assume (finish_slot[5*i +: 5] < 2 && running[i][finish_slot[5*i]]);
        if (started && was_waiting[i]) assume (finish_valid[i] && finish_slot[5*i +: 5] == was_finish_slot[5*i +: 5]);
    end
    wire [1:0] finishes = finish_valid & finish_ready;

    // Sums modulo 128: more packets do not come in the cycles that are looked at.
    reg [6:0]  accepted, started_packets, committed;
    reg [2:0]  open;
    reg        following, done;
    reg [2:0]  ahead;
    reg [9:0]  place;
    reg [6:0]  packet;
    reg [5:0]  count;
    reg [3:0]  commits;
    always @(posedge clk) begin
        was_mcw <= mcw;
        was_waiting <= finish_valid & ~finish_ready;
        was_finish_slot <= finish_slot;
        for (i = 0; i < 2; i = i + 1) begin
            if (finishes[i]) running[i][finish_slot[5*i]] <= 0;
            if (start_valid[i]) running[i][start_slot[0]] <= 1;
        end
        accepted <= accepted + (task_valid && task_ready ? task_count : 0);
        started_packets <= started_packets + (issue ? issue_count : 0);
        committed <= committed + (commit ? commit_count : 0);
        commits <= commits + (commit && commits != 15);
        open <= open + issue - commit;
        if (issue && follow && !following) begin
            {following, done} <= 2'b10;
            {place, packet, count} <= {issue_core, issue_slot, issue_packet[6:0], issue_count};
            ahead <= open - commit;
        end else if (following) begin
            if (commit && ahead == 0) following <= 0;
            ahead <= ahead - commit;
            if (finishes[place[5]] && finish_slot[5*place[5] +: 5] == place[4:0]) done <= 1;
        end
        if (rst) begin
            running[0] <= 0;
            running[1] <= 0;
            was_waiting <= 0;
            accepted <= 0;
            started_packets <= 0;
            committed <= 0;
            commits <= 0;
            open <= 0;
            following <= 0;
        end
    end
    wire [1:0] running_there = running[issue_core[0]];

    always @(posedge clk) if (started && !rst) begin
        // Warps start in the order of the packets, without a gap, on a free slot of one core,
        // within MCW.
        if (issue) starts_in_order: assert (issue_packet[6:0] == started_packets && 1 <= issue_count && issue_count <= 2);
        if (issue) never_to_a_busy_slot: assert (issue_core < 2 && issue_slot < 2 && !running_there[issue_slot[0]]);
        if (issue) never_above_mcw: assert (running_there[0] + running_there[1] < mcw);
        starts_where_told: assert (start_valid == (issue ? 2'd1 << issue_core : 2'd0)
            && (!issue || {start_slot, start_packet[6:0], start_count} == {issue_slot, issue_packet[6:0], issue_count}));
        // No packet is invented, and when nothing waits none is missing.
        none_invented: assert ({1'b0, started_packets} + (issue ? issue_count : 0) <= accepted);
        if (task_level == 0 && pending == 0 && !\dut.former.formed && !issue)
            none_lost: assert (started_packets == accepted);
        // Commits come in the order of the starts, each warp once, as it started, after it
        // finished.
        if (commit) only_what_started: assert (open != 0 && commit_packet[6:0] == committed);
        if (commit && following && ahead == 0) commits_in_order: assert (
            {commit_core, commit_slot, commit_packet[6:0], commit_count} == {place, packet, count});
        if (commit && following && ahead == 0) not_before_finished: assert (done);
        counters: assert (committed_packets[6:0] == committed && issued_warps - committed_warps == open);

        two_commits: cover (commits == 2 && open == 0);
        out_of_order: cover (following && ahead == 1 && done && !commit);
    end
endmodule
