// A warp issues only when its next instruction is known and nothing holds it up, its turn comes,
// and it finishes once, after all its threads ended and its stores are done.
//
// Of all warp slots one is followed, whichever.
module warp_scheduler_formal (
    input wire        clk,
    input wire        rst,
    input wire        start_valid, input wire [4:0] start_slot,
    input wire        advance,
    input wire [4:0]  hold_slot, input wire miss_valid, input wire wait_valid, input wire control_valid,
    input wire        filled,
    input wire [4:0]  write_slot, input wire resume_valid, input wire ended_valid,
    input wire [4:0]  flush_slot, input wire flush_valid, input wire again_valid,
    input wire        path_valid, input wire [4:0] path_slot,
    input wire        late_valid, input wire [4:0] late_slot,
    input wire        stored_valid, input wire [4:0] stored_slot,
    input wire        scratchpad_stored, input wire [4:0] scratchpad_slot,
    input wire        divided_valid,
    input wire [31:0] stores_busy,
    input wire        finish_ready
);
    wire issue_valid, issue_fresh, finish_valid, occupied;
    wire [4:0] issue_slot, finish_slot;
    (* anyconst *) reg [4:0] warp;
    warp_scheduler dut (
        .clk(clk), .rst(rst), .start_valid(start_valid), .start_slot(start_slot), .advance(advance),
        .issue_valid(issue_valid), .issue_slot(issue_slot), .issue_fresh(issue_fresh), .hold_slot(hold_slot),
        .outcome_miss(miss_valid), .outcome_wait(wait_valid), .outcome_control(control_valid), .filled(filled),
        .progress_slot(write_slot), .progress_resume(resume_valid), .flush_valid(flush_valid), .progress_ended(ended_valid),
        .flush_slot(flush_slot), .flush_again(again_valid),
        .path_valid(path_valid), .path_slot(path_slot), .completions_late_valid(late_valid), .completions_late_slot(late_slot),
        .completions_stored_valid(stored_valid), .completions_stored_slot(stored_slot), .completions_scratchpad_valid(scratchpad_stored),
        .completions_scratchpad_slot(scratchpad_slot), .completions_any(divided_valid), .stores_busy(stores_busy),
        .finish_valid(finish_valid), .finish_ready(finish_ready), .finish_slot(finish_slot), .occupied(occupied)
    );
    (* hierconn *) wire [31:0] \dut.occupied_slots ;
    (* hierconn *) wire [31:0] \dut.choice ;
    (* hierconn *) wire [31:0] \dut.fresh ;
    (* hierconn *) wire [31:0] \dut.resolving ;
    (* hierconn *) wire [31:0] \dut.fetch ;
    (* hierconn *) wire [31:0] \dut.waiting ;
    (* hierconn *) wire [31:0] \dut.ended ;
    (* hierconn *) wire [31:0] \dut.turns.above ;
    (* hierconn *) wire [31:0] \dut.ready ;

    `include "start.vh"

    // The followed warp: on the core, issued at least once, and what holds it up.
    reg present, first, unresolved, missing, asleep, over, leaving;
    wire starts = start_valid && start_slot == warp;
    wire held = hold_slot == warp;
    wire written = write_slot == warp;
    wire flushed = flush_valid && flush_slot == warp;
    wire issued = issue_valid && advance && issue_slot == warp;
    wire finished = finish_valid && finish_ready && finish_slot == warp;
    wire woken = (late_valid && late_slot == warp) || (stored_valid && stored_slot == warp)
        || (scratchpad_stored && scratchpad_slot == warp) || divided_valid;
    wire may_issue = present && !unresolved && !missing && !asleep && !over;
    reg was_over, was_storing, was_finish, was_woken, was_told;
    reg [4:0] was_slot;
    // Who issued since the followed warp could.
    reg [31:0] others;
    always @* begin
        // The contract: a warp starts in a free slot, ends once, after it started; nothing happens
        // to a warp that is absent.
        assume (!starts || (!present && !leaving));
        assume (!(ended_valid && written) || (present && !over));
        assume (!(held && (miss_valid || wait_valid || control_valid)) || (present && !over));
        assume (!flushed || (present && !over));
        assume (!again_valid || flush_valid);
    end
    always @(posedge clk) begin
        if (starts) {present, first} <= 2'b11;
        else if (issued) first <= 0;
        if (control_valid && held || flushed && !again_valid) unresolved <= 1;
        else if ((resume_valid && written) || (path_valid && path_slot == warp) || flushed) unresolved <= 0;
        if (flushed) missing <= filled && miss_valid && held;
        else if (miss_valid && held) missing <= 1;
        else if (filled) missing <= 0;
        if (flushed) asleep <= 0;
        else if (woken) asleep <= 0;
        else if (wait_valid && held) asleep <= 1;
        {was_woken, was_told} <= {woken, wait_valid && held && !flushed};
        if (ended_valid && written) over <= 1;
        // The finish on offer belongs to the warp no more: its slot may be given away as soon as it
        // is taken.
        if (over && present && !stores_busy[warp] && \dut.left [warp]) {present, over, leaving} <= 3'b001;
        if (finished) leaving <= 0;
        others <= may_issue && !issued ? others | ((issue_valid && advance) << issue_slot) : 0;
        {was_over, was_storing} <= {over, stores_busy[warp]};
        was_finish <= finish_valid && !finish_ready;
        was_slot <= finish_slot;
        if (rst) begin
            {present, first, unresolved, missing, asleep, over, leaving} <= 0;
            {was_finish, was_woken} <= 0;
            others <= 0;
        end
    end
    (* hierconn *) wire [31:0] \dut.left ;
    wire [31:0] up_to = ((32'd1 << warp) << 1) - 32'd1;
    wire [31:0] before = \dut.turns.above [warp] ? (\dut.turns.above & up_to) : (\dut.turns.above | up_to);
    wire newly = finish_valid && !was_finish;

    always @(posedge clk) if (started && !rst) begin
        // Of a warp one instruction follows the other: none issues while its path, its line or its
        // operands are not there.
        if (issue_valid && issue_slot == warp) issues_only_when_it_may: assert (may_issue);
        if (issue_valid && issue_slot == warp) fresh_is_the_first: assert (issue_fresh == first);
        one_hot_is_the_slot: assert (\dut.choice == {31'd0, issue_valid} << issue_slot);
        if (may_issue) somebody_issues: assert (issue_valid);
        // A wake-up counts even in the cycle in which stage D says that the instruction waits.
        if (was_woken) no_wake_up_lost: assert (!\dut.waiting [warp]);
        // While one can issue nobody else issues twice.
        if (may_issue && issue_valid && issue_slot != warp) no_starvation: assert (!others[issue_slot]);
        // A warp is told as finished once, after all its threads ended, when its stores were done.
        if (finish_valid && finish_slot == warp) finish_after_the_end: assert (leaving);
        if (newly && finish_slot == warp) finish_after_stores: assert (was_over && !was_storing);
        if (leaving) finish_is_offered: assert (finish_valid && finish_slot == warp);
        if (was_finish) finish_is_stable: assert (finish_valid && finish_slot == was_slot);
        if (over && present) ended_never_issues: assert (!(issue_valid && issue_slot == warp));

        // What the induction needs to know of the state.
        state_warp: assert ({\dut.occupied_slots [warp], \dut.fetch [warp], \dut.waiting [warp], \dut.resolving [warp]}
            == {present, missing, asleep, unresolved} && (!present || \dut.fresh [warp] == first));
        state_ended: assert (\dut.ended [warp] == over && (!over || present) && !(leaving && present));
        state_above: assert ((~\dut.turns.above & (~\dut.turns.above + 1)) == 0);
        state_others: assert ((others & before) == 0);

        finishes: cover (finished && was_finish && warp == 3);
        woken_at_once: cover (issued && was_woken && was_told && warp == 5);
        waits_for_two: cover (others == 32'h82 && issued && warp == 9);
    end
endmodule
