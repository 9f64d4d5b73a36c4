// Rules S3, S7 and S13: a job ends once, after the last of its warps has finished or when it is
// rejected, never before; its slot is busy from the trigger until it is freed.
//
// Of all slots one is followed, whichever; of the RAMs its word (see tracked_ram.sv).
module spawn_jobs_formal (
    input wire       clk,
    input wire       rst,
    input wire       trigger_valid,
    input wire [3:0] trigger_slot,
    input wire       checked_valid,
    input wire [2:0] checked_code,
    input wire       warp_taken,
    input wire       warp_first,
    input wire       warp_last,
    input wire [3:0] issue_slot,
    input wire       finish_valid,
    input wire [3:0] finish_job,
    input wire       finish_faulted,
    input wire       end_taken,
    input wire [3:0] end_slot,
    input wire       freed_valid,
    input wire [3:0] freed_slot
);
    wire [15:0] ended, busy;
    wire [2:0]  end_code;
    wire        end_faulted;
    spawn_jobs dut (
        .clk(clk), .rst(rst), .trigger_valid(trigger_valid), .trigger_slot(trigger_slot), .checked_valid(checked_valid),
        .checked_code(checked_code), .warp_taken(warp_taken), .warp_first(warp_first), .warp_last(warp_last),
        .issue_slot(issue_slot), .finish_valid(finish_valid), .finish_job(finish_job), .finish_faulted(finish_faulted),
        .ended(ended), .end_taken(end_taken), .end_slot(end_slot), .end_code(end_code), .end_faulted(end_faulted),
        .freed_valid(freed_valid), .freed_slot(freed_slot), .busy(busy)
    );
    (* anyconst *) reg [3:0] slot;
    (* hierconn *) wire [3:0] \dut.codes.tracked ;
    (* hierconn *) wire [3:0] \dut.started.tracked ;
    (* hierconn *) wire [3:0] \dut.finished.tracked ;
    assign \dut.codes.tracked = slot;
    assign \dut.started.tracked = slot;
    assign \dut.finished.tracked = slot;
    (* hierconn *) wire [2:0] \dut.codes.word ;
    (* hierconn *) wire [10:0] \dut.started.word ;
    (* hierconn *) wire [10:0] \dut.finished.word ;
    (* hierconn *) wire [15:0] \dut.issued ;
    (* hierconn *) wire [15:0] \dut.begun ;
    (* hierconn *) wire [15:0] \dut.faulted ;
    (* hierconn *) wire [10:0] \dut.taken ;

    `include "start.vh"

    // The issue: descriptors are checked one after the other, and the warps of a good one are taken
    // before the next is checked.
    reg       issuing, first;
    reg [3:0] issuing_slot;
    always @* begin
        assume (!checked_valid || !issuing);
        assume (!warp_taken || (issuing && issue_slot == issuing_slot && warp_first == first));
    end

    // The job of the followed slot: whether it is there, waits for its check, was rejected, has all
    // its warps taken, is ended or reported; its warps that run, at most 1,024, and whether one has
    // finished, or faulted.
    reg        there, waits, rejected, all_taken, is_ended, reported, begun, faulted;
    reg [2:0]  code;
    reg [10:0] running, finished;
    wire trigger = trigger_valid && trigger_slot == slot;
    wire check = checked_valid && issue_slot == slot;
    wire starts = warp_taken && issue_slot == slot;
    wire finish = finish_valid && finish_job == slot;
    wire report = end_taken && end_slot == slot;
    wire free = freed_valid && freed_slot == slot;
    always @* begin
        assume (!trigger || !busy[slot]);
        assume (!check || waits);
        assume (!starts || running < 1024);
        assume (!finish || running != 0);
        assume (!report || ended[slot]);
        assume (!free || reported);
    end
    wire ends = (check && checked_code != 0) || (finish && all_taken && running == 1);
    reg [3:0] jobs;
    always @(posedge clk) begin
        if (checked_valid && checked_code == 0) {issuing, first, issuing_slot} <= {1'b1, 1'b1, issue_slot};
        if (warp_taken) {issuing, first} <= {!warp_last, 1'b0};
        if (trigger) {there, waits, rejected, all_taken, begun, faulted} <= 6'b110000;
        if (check) {waits, rejected, code} <= {1'b0, checked_code != 0, checked_code};
        if (starts && warp_last) all_taken <= 1;
        running <= running + starts - finish;
        if (trigger) finished <= 0;
        if (finish) {begun, faulted, finished} <= {1'b1, faulted || finish_faulted, finished + 11'd1};
        if (ends) is_ended <= 1;
        if (report) {is_ended, reported} <= 2'b01;
        if (free) {there, reported} <= 2'b00;
        jobs <= jobs + (free && jobs != 15);
        if (rst) begin
            issuing <= 0;
            {there, waits, rejected, all_taken, is_ended, reported, begun, faulted} <= 0;
            running <= 0;
            jobs <= 0;
        end
    end
    wire done = rejected || (all_taken && running == 0);
    wire has_warps = issuing && issuing_slot == slot;

    always @(posedge clk) if (started && !rst) begin
        // S7, S13.
        busy_until_freed: assert (busy[slot] == there);
        // S3.
        if (ended[slot]) never_before_the_last: assert (there && done);
        if (there && done && !reported) ends_at_once: assert (ended[slot]);
        if (!there || reported) ends_once: assert (!ended[slot]);
        if (ended[slot] && end_slot == slot) code_is_its_own: assert (end_code == code && (code != 0) == rejected);
        if (ended[slot] && end_slot == slot) fault_is_its_own: assert (end_faulted == faulted);

        // What the induction needs to know of the state.
        state_job: assert (is_ended == (there && done && !reported) && ended[slot] == is_ended
            && (there || (!waits && !reported && !has_warps && running == 0))
            && running <= 1024 && (begun || !there || finished == 0));
        if (there) state_phase: assert (waits + rejected + has_warps + all_taken == 1 && (!reported || done)
            && (!(waits || rejected) || (running == 0 && !begun && !faulted)));
        if (there) state_marks: assert (\dut.issued [slot] == all_taken && \dut.begun [slot] == begun
            && \dut.faulted [slot] == faulted);
        if (there && !waits) state_code: assert (\dut.codes.word == code && (code != 0) == rejected);
        if (there && (has_warps ? !first : all_taken)) state_started: assert (\dut.started.word == ((finished + running) & 2047));
        if (has_warps && !first) state_taken: assert (\dut.taken == \dut.started.word );
        if (has_warps && first) state_first: assert (running == 0 && !begun);
        if (there && begun) state_finished: assert (\dut.finished.word == finished);

        second_job_faulted: cover (jobs == 1 && ended[slot] && faulted && finished == 3);
        rejected_behind_good: cover (jobs == 1 && ended[slot] && rejected && end_slot == slot);
        finishes_while_taken: cover (finish && starts && warp_last && running == 1 && finished == 2);
        five_run: cover (running == 5 && issuing && issuing_slot != slot);
    end
endmodule
