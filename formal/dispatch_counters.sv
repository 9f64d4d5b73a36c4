// The counters of the control path are exact, to their last bit.
module dispatch_counters_formal (
    input wire        clk,
    input wire        rst,
    input wire        run,
    input wire        eager,
    input wire [5:0]  mcw,
    input wire [31:0] timeout,
    input wire        kernel_class,
    input wire        task_valid,
    input wire [31:0] task_count,
    input wire [1:0]  finish_valid,
    input wire [9:0]  finish_slot
);
    wire        issue, commit;
    wire [5:0]  issue_count, commit_count;
    wire [31:0] issue_packet, commit_packet, issued_warps, committed_warps, committed_packets;
    dispatch dut (
        .clk(clk), .rst(rst), .control_run(run), .control_eager(eager), .control_mcw(mcw), .control_timeout(timeout), .control_kernel_class(kernel_class),
        .task_valid(task_valid), .task_count(task_count), .finish_valid(finish_valid), .finish_slot(finish_slot),
        .trace_issue_valid(issue), .trace_issue_packet(issue_packet), .trace_issue_count(issue_count),
        .trace_commit_valid(commit), .trace_commit_packet(commit_packet), .trace_commit_count(commit_count),
        .progress_issued_warps(issued_warps), .progress_committed_warps(committed_warps), .progress_committed_packets(committed_packets)
    );
    (* hierconn *) wire \dut.former.formed ;
    (* hierconn *) wire [31:0] \dut.former.formed_packet ;
    (* hierconn *) wire [31:0] \dut.former.next_packet ;
    (* hierconn *) wire [5:0] \dut.former.formed_count ;

    `include "start.vh"

    reg [31:0] issued, issued_packets, committed, packets;
    always @(posedge clk) begin
        if (issue) {issued, issued_packets} <= {issued + 32'd1, issued_packets + issue_count};
        if (commit) {committed, packets} <= {committed + 32'd1, packets + commit_count};
        if (rst) {issued, issued_packets, committed, packets} <= 0;
    end
    wire [31:0] after_issue = issued_packets + (issue ? issue_count : 0);

    always @(posedge clk) if (started && !rst) begin
        warps_issued: assert (issued_warps == issued);
        warps_committed: assert (committed_warps == committed);
        packets_committed: assert (committed_packets == packets && commit_packet == packets);
        // A warp's packets follow those of the warp before.
        if (issue) packets_issued: assert (issue_packet == issued_packets);

        // What the induction needs to know of the state.
        if (\dut.former.formed ) state_formed: assert (\dut.former.formed_packet == after_issue);
        state_next: assert (\dut.former.next_packet == after_issue + (\dut.former.formed ? \dut.former.formed_count : 0));

        some_of_each: cover (issued == 3 && committed == 2 && packets == 3);
    end
endmodule
