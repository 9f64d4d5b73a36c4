// Warps commit in the order of their allocation, each once, none before it finished, none is lost,
// and they do commit.
//
// Four entries. Of all warps one is followed, whichever: `follow` says when it is allocated.
module delay_commit_queue_formal (
    input wire       clk,
    input wire       rst,
    input wire       allocate_valid,
    input wire [4:0] allocate_core,
    input wire [4:0] allocate_slot,
    input wire [5:0] allocate_count,
    input wire       done_valid,
    input wire [1:0] done_index,
    input wire       follow
);
    wire        allocate_ready, commit_valid;
    wire [1:0]  allocate_index;
    wire [4:0]  commit_core, commit_slot;
    wire [5:0]  commit_count;
    wire [31:0] commit_packet;
    delay_commit_queue dut (
        .clk(clk), .rst(rst), .allocate_valid(allocate_valid), .allocate_ready(allocate_ready),
        .allocate_core(allocate_core), .allocate_slot(allocate_slot), .allocate_count(allocate_count),
        .allocate_index(allocate_index), .done_valid(done_valid), .done_index(done_index), .commit_valid(commit_valid),
        .commit_core(commit_core), .commit_slot(commit_slot), .commit_packet(commit_packet), .commit_count(commit_count)
    );

    `include "start.vh"

    wire allocate = allocate_valid && allocate_ready;

    // The entries: taken by a warp that did not commit, and finished. `oldest` is the entry that
    // commits next.
    reg [3:0] taken, finished;
    reg [1:0] oldest;
    reg [2:0] warps;
    // A warp finishes once, after its allocation.
    always @* assume (!done_valid || (taken[done_index] && !finished[done_index]));

    // The followed warp, and the warps that commit before it.
    reg        following;
    reg [15:0] warp;
    reg [1:0]  entry;
    reg [2:0]  ahead;
    // Cycles for which the oldest warp was finished without committing.
    reg [1:0]  late;
    reg        was_committing, was_full;
    reg [3:0]  laps;
    always @(posedge clk) begin
        if (allocate) begin
            taken[allocate_index] <= 1;
            finished[allocate_index] <= 0;
        end
        if (done_valid) finished[done_index] <= 1;
        if (commit_valid) begin
            taken[oldest] <= 0;
            oldest <= oldest + 1;
            laps <= laps + (laps != 15);
        end
        // An entry is free again a cycle before its warp's commit shows, so a new warp may have it
        // already.
        if (commit_valid && allocate && allocate_index == oldest) taken[oldest] <= 1;
        warps <= warps + allocate - commit_valid;
        if (allocate && follow && !following) begin
            following <= 1;
            warp <= {allocate_core, allocate_slot, allocate_count};
            entry <= allocate_index;
            ahead <= warps - commit_valid;
        end else if (following && commit_valid) begin
            if (ahead == 0) following <= 0;
            ahead <= ahead - 1;
        end
        late <= warps != 0 && finished[oldest] && !commit_valid ? late + (late != 3) : 0;
        was_full <= was_full || warps == 4;
        if (rst) begin
            taken <= 0;
            finished <= 0;
            oldest <= 0;
            warps <= 0;
            following <= 0;
            late <= 0;
            was_full <= 0;
            laps <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        // The order of allocation, each warp once, nothing lost and nothing doubled: the followed
        // warp commits, unchanged, after exactly those that were allocated before it.
        if (commit_valid && following && ahead == 0)
            in_order: assert ({commit_core, commit_slot, commit_count} == warp && entry == oldest);
        if (commit_valid) only_what_was_allocated: assert (warps != 0);
        if (commit_valid) not_before_finished: assert (finished[oldest]);
        // A finished warp that is the oldest commits in the second cycle after.
        commits_at_once: assert (late < 2);
        // Room is refused only when four warps are inside, or, in the first lap, while a warp
        // finishes.
        room_is_exact: assert (allocate_ready || warps == 4 || (done_valid && laps < 4));
        never_overfull: assert (warps <= 4 || (warps == 5 && commit_valid));

        several_laps: cover (laps == 9 && was_full && warps == 0);
        out_of_order: cover (taken == 4'hf && finished == 4'he && oldest == 0 && laps == 4);
    end
endmodule
