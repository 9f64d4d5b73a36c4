// The whole control path with a thread spawner (S8, S17): a finish goes to the delay commit queue
// or to the spawner, as the warp that runs in the slot was started; packets start and commit in
// order, each once, as if there were no spawned warps.
//
// Two cores of two slots, warps of two packets.
module dispatch_spawned_formal (
    input wire        clk,
    input wire        rst,
    input wire        run,
    input wire        eager,
    input wire [5:0]  mcw,
    input wire [5:0]  spawn_mcw,
    input wire [31:0] timeout,
    input wire        task_valid,
    input wire [31:0] task_count,
    input wire [1:0]  finish_valid,
    input wire [9:0]  finish_slot,
    input wire [1:0]  finish_faulted,
    input wire        spawn_valid,
    input wire [31:0] spawn_cores,
    input wire [3:0]  spawn_job,
    input wire [31:0] spawn_thread,
    input wire [5:0]  spawn_count
);
    wire        task_ready, issue, finish, commit, spawn_ready, start_spawned, finish_spawned, job_finish, faulted;
    wire [1:0]  start_valid, finish_ready;
    wire [4:0]  start_slot, issue_core, issue_slot, finish_core, finished_slot, commit_core, commit_slot, task_level;
    wire [31:0] start_packet, issue_packet, commit_packet, pending, issued_warps, committed_warps, committed_packets;
    wire [5:0]  start_count, issue_count, commit_count;
    wire [3:0]  start_job, finish_job;
    dispatch_spawned dut (
        .clk(clk), .rst(rst), .control_run(run), .control_eager(eager), .control_mcw(mcw), .control_timeout(timeout), .control_kernel_class(1'b0),
        .task_valid(task_valid), .task_ready(task_ready), .task_count(task_count), .start_valid(start_valid),
        .start_slot(start_slot), .start_packet(start_packet), .start_count(start_count), .finish_valid(finish_valid),
        .finish_ready(finish_ready), .finish_slot(finish_slot), .trace_issue_valid(issue), .trace_issue_core(issue_core),
        .trace_issue_slot(issue_slot), .trace_issue_packet(issue_packet), .trace_issue_count(issue_count),
        .trace_finish_valid(finish), .trace_finish_core(finish_core), .trace_finish_slot(finished_slot),
        .trace_commit_valid(commit), .trace_commit_core(commit_core), .trace_commit_slot(commit_slot),
        .trace_commit_packet(commit_packet), .trace_commit_count(commit_count), .task_level(task_level),
        .progress_pending(pending), .progress_issued_warps(issued_warps), .progress_committed_warps(committed_warps),
        .progress_committed_packets(committed_packets), .spawn_valid(spawn_valid), .spawn_ready(spawn_ready),
        .spawn_cores(spawn_cores), .spawn_job(spawn_job), .spawn_thread(spawn_thread), .spawn_count(spawn_count),
        .spawn_mcw(spawn_mcw), .spawned_finish_valid(job_finish), .spawned_finish_job(finish_job),
        .spawned_finish_faulted(faulted), .start_spawned(start_spawned), .start_job(start_job),
        .finish_faulted(finish_faulted), .trace_finish_spawned(finish_spawned)
    );
    (* hierconn *) wire \dut.commit_done_valid ;

    `include "start.vh"

    always @* assume (task_count < 6 && timeout < 4 && mcw < 4 && spawn_mcw < 4);
    reg [5:0] was_mcw, was_spawn_mcw;
    always @* if (started && !rst) assume (mcw == was_mcw && spawn_mcw == was_spawn_mcw);

    // The slots that run a warp, of what kind, and the cores' finishes, which stay until they are
    // taken.
    reg [3:0] running, spawned;
    reg [3:0] job [0:3];
    reg [1:0] was_waiting;
    reg [9:0] was_finish_slot;
    integer i;
    always @* for (i = 0; i < 2; i = i + 1) begin
        if (finish_valid[i]) assume (finish_slot[5*i +: 5] < 2 && running[2*i + finish_slot[5*i]]);
        if (started && was_waiting[i]) assume (finish_valid[i] && finish_slot[5*i +: 5] == was_finish_slot[5*i +: 5]);
    end
    wire [1:0] finishes = finish_valid & finish_ready;
    wire [1:0] place = {issue_core[0], issue_slot[0]};
    wire [1:0] end_place = {finish_core[0], finished_slot[0]};

    // A warp of packets and one of spawned threads, counted as they start and end.
    reg [6:0] started_packets, committed, accepted;
    reg [2:0] open, done;
    reg       was_finish;
    always @(posedge clk) begin
        {was_mcw, was_spawn_mcw} <= {mcw, spawn_mcw};
        was_waiting <= finish_valid & ~finish_ready;
        was_finish_slot <= finish_slot;
        was_finish <= finishes != 0;
        for (i = 0; i < 2; i = i + 1) begin
            if (finishes[i]) running[2*i + finish_slot[5*i]] <= 0;
        end
        if (issue) begin
            running[place] <= 1;
            spawned[place] <= start_spawned;
            job[place] <= start_job;
        end
        accepted <= accepted + (task_valid && task_ready ? task_count : 0);
        started_packets <= started_packets + (issue && !start_spawned ? issue_count : 0);
        committed <= committed + (commit ? commit_count : 0);
        open <= open + (issue && !start_spawned) - commit;
        done <= done + (finish && !spawned[end_place]) - commit;
        if (rst) begin
            running <= 0;
            {was_waiting, was_finish} <= 0;
            {accepted, started_packets, committed, open, done} <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        // A slot is freed once for each warp, and what runs there says where the finish goes.
        finishes_once: assert (finish == was_finish);
        if (finish) finish_of_its_kind: assert (finish_spawned == spawned[end_place] && job_finish == spawned[end_place]);
        if (job_finish) finish_of_its_job: assert (finish && finish_job == job[end_place]);
        done_for_packets_alone: assert (\dut.commit_done_valid == (finish && !spawned[end_place]));
        if (issue) never_to_a_busy_slot: assert (issue_core < 2 && issue_slot < 2 && !running[place]);
        // The packets, as without spawned warps.
        if (issue && !start_spawned) starts_in_order: assert (issue_packet[6:0] == started_packets);
        if (commit) commits_in_order: assert (open != 0 && commit_packet[6:0] == committed);
        if (commit) not_before_a_finish: assert (done != 0);
        none_invented: assert ({1'b0, started_packets} + (issue && !start_spawned ? issue_count : 0) <= accepted);
        counters: assert (committed_packets[6:0] == committed && issued_warps - committed_warps == open);

        both_run_and_commit: cover (commit && spawned == 1 && running[0] && committed == 2);
        job_ends_beside_packets: cover (job_finish && finish_job == 5 && open == 2);
    end
endmodule
