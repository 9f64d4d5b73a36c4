// U22 at the boundary of a hart: an access, load, atomic operation or division that has begun is
// completed by the same instruction, once, before an interrupt, a trap of the host or a stop comes
// between; only a hold drops it. What waits has not begun: there the hart may go on elsewhere, and
// comes back to that instruction.
//
// The pipeline around the unit is modelled: which instructions of the hart are in stages I to W,
// with their PCs, and what leaves when. The instruction word at a PC does not change meanwhile
// (another one drops the answer). Words of the host are not executed.
module hart_state_formal (
    input wire        clk,
    input wire        rst,
    input wire        run,
    input wire [29:0] entry,
    input wire        quiet,
    input wire        issue,
    input wire        stall,
    input wire        decode_redirect,
    input wire        miss,
    input wire [29:0] decode_pc,
    input wire        filled,
    input wire        execute_redirect,
    input wire [29:0] execute_pc,
    input wire [2:0]  kind,
    input wire [29:0] next_pc,
    input wire        refetch,
    input wire        stop,
    input wire        resume,
    input wire        changes,
    input wire        asleep,
    input wire        stores_none,
    input wire        stores_full,
    input wire        device_free,
    input wire        divide_free,
    input wire        answers,
    input wire        take_valid,
    input wire [29:0] take_pc,
    input wire        trapped
);
    wire        ready, boundary, stopped, taken;
    wire [29:0] fetch_pc, boundary_pc, pc;

    // The instructions in the pipeline.
    reg         in_i, in_d, in_r, in_x, in_w;
    reg  [29:0] pc_i, pc_d, pc_r, pc_x, pc_w;
    // What becomes of the one in stage W.
    wire        live = in_w && run;
    wire        retire = live && kind == 0;
    wire        wait_stores = live && kind == 1;
    wire        wait_place = live && kind == 2;
    wire        wait_device = live && kind == 3;
    wire        wait_divide = live && kind == 4;
    wire        begins = live && kind == 5;
    wire        exception = live && kind == 6;
    // The operation that it has begun: none, under way, under way and dropped by a hold, or its
    // answer waits.
    localparam NONE = 2'd0, UNDER_WAY = 2'd1, DROPPED = 2'd2, ANSWERED = 2'd3;
    reg  [1:0]  operation;
    wire        dropped = operation == DROPPED;
    wire        loading = operation == UNDER_WAY || dropped;
    wire        answer_waits = operation == ANSWERED;

    hart_state dut (
        .clk(clk), .rst(rst), .run(run), .entry(entry), .quiet(quiet), .issue(issue), .decode_redirect(decode_redirect),
        .miss(miss), .decode_pc(decode_pc), .filled(filled), .execute_redirect(execute_redirect), .execute_pc(execute_pc),
        .write_valid(live), .retire(retire), .next_pc(next_pc), .refetch(refetch), .wait_stores(wait_stores),
        .wait_place(wait_place), .wait_device(wait_device), .wait_divide(wait_divide), .load(begins), .stop(stop),
        .resume(resume), .execute(1'b0), .executed(1'b0), .changes(changes), .asleep(asleep), .stores_none(stores_none),
        .stores_full(stores_full), .device_free(device_free), .divide_free(divide_free), .loading(loading),
        .answer_waits(answer_waits), .take_valid(take_valid), .take_pc(take_pc), .trapped(trapped), .ready(ready),
        .fetch_pc(fetch_pc), .boundary(boundary), .boundary_pc(boundary_pc), .pc(pc), .stopped(stopped), .taken(taken)
    );
    (* hierconn *) wire \dut.started_q ;
    (* hierconn *) wire \dut.waits_line ;
    (* hierconn *) wire \dut.waits_stores ;
    (* hierconn *) wire \dut.waits_place ;
    (* hierconn *) wire \dut.waits_device ;
    (* hierconn *) wire \dut.waits_divide ;

    `include "start.vh"

    // What leaves: all that is younger than what redirects the hart.
    wire drop_executed = take_valid || stop || (live && kind != 0) || refetch || !run;
    wire drop_read = drop_executed || execute_redirect;
    wire drop_fetched = drop_read || decode_redirect || miss;
    wire any = in_i || in_d || in_r || in_x || in_w;
    wire [29:0] younger = in_x ? pc_x : in_r ? pc_r : in_d ? pc_d : in_i ? pc_i : fetch_pc;
    wire [29:0] oldest = in_w ? pc_w : younger;

    // The contract of the owner.
    always @* begin
        assume (kind <= 6);
        if (answer_waits) assume (kind == 0 || kind == 6);
        assume (!issue || (ready && !stall));
        assume (!execute_redirect || in_x);
        assume (!decode_redirect || (in_d && !stall && !drop_read));
        assume (!miss || (in_d && !stall && !drop_read && !decode_redirect && decode_pc == pc_d));
        assume (!refetch || retire);
        if (retire && !refetch) assume (next_pc == younger);
        assume (!answers || loading);
        assume (!quiet || !loading);
        assume (!trapped || take_valid);
        if (exception) assume ((take_valid && trapped) || stop);
        else begin
            assume (!take_valid || boundary);
            assume (!stop || boundary);
        end
        if (exception && take_valid) assume (trapped);
        assume (!resume || stopped);
    end

`ifdef MUTANT
    // Few addresses and short waits reach in few cycles what a fault shows.
    always @* begin
        assume (next_pc < 16 && entry < 16 && decode_pc < 16 && execute_pc < 16 && take_pc < 16);
        assume (!stall && !asleep && stores_none && !stores_full && device_free && divide_free);
    end
`endif

    // What has begun and is not complete, and of which instruction.
    reg         begun;
    reg  [29:0] begun_pc;
    reg         was_taken;
    reg  [29:0] was_take_pc;
    always @(posedge clk) begin
        if (stall) begin
            in_i <= in_i && !drop_fetched;
            in_d <= in_d && !drop_read;
        end else begin
            in_i <= issue && !drop_fetched;
            in_d <= in_i && !drop_fetched;
            {pc_i, pc_d} <= {fetch_pc, pc_i};
        end
        in_r <= in_d && !stall && !miss && !drop_read;
        in_x <= in_r && !drop_read;
        in_w <= in_x && !drop_executed;
        {pc_r, pc_x, pc_w} <= {pc_d, pc_r, pc_x};
        case (operation)
            NONE: if (begins) operation <= UNDER_WAY;
            UNDER_WAY: if (answers) operation <= run ? ANSWERED : NONE;
                else if (!run) operation <= DROPPED;
            DROPPED: if (answers) operation <= NONE;
            ANSWERED: if (live || !run) operation <= begins ? UNDER_WAY : NONE;
        endcase
        begun <= (begun || begins) && !retire && !exception && run;
        if (begins) begun_pc <= pc_w;
        was_taken <= take_valid && run && \dut.started_q ;
        was_take_pc <= take_pc;
        if (rst) begin
            {in_i, in_d, in_r, in_x, in_w} <= 0;
            operation <= NONE;
            {begun, was_taken} <= 0;
        end
    end
    wire waits = \dut.waits_stores || \dut.waits_place || \dut.waits_device || \dut.waits_divide ;

    always @(posedge clk) if (started && !rst) begin
        // What begun is neither begun again nor left: the next instruction in stage W is the same,
        // and takes the answer.
        if (begins) begun_once: assert (!begun);
        if (begun && in_w) same_instruction: assert (pc_w == begun_pc && answer_waits);
        if (begun) nothing_between: assert (!boundary || retire);
        if (begun) pc_stays: assert (pc == begun_pc && !stopped);
        if (loading) nothing_is_fetched: assert (!any && !ready);
        // It is fetched as soon as its answer is there, but for a line that comes.
        if (begun && !loading && !any && run && !asleep) is_fetched: assert (ready || \dut.waits_line );
        // What waits has not begun: the hart may go on elsewhere, and its PC is that instruction's.
        if (wait_stores || wait_place || wait_device || wait_divide) waits_at_a_boundary: assert (boundary && boundary_pc == pc_w);
        if (retire && !changes) retires_at_a_boundary: assert (boundary && boundary_pc == next_pc);
        if (retire && changes) not_while_channels_change: assert (!boundary);
        // Stage W has the next instruction of the program, or the first where the hart was sent.
        if (in_w) in_order: assert (pc_w == pc);
        if (was_taken) goes_where_sent: assert (pc == was_take_pc && !any);
        if (stopped || !run) no_boundary_when_stopped: assert (!boundary && !ready);

        // What the induction needs to know of the state.
        state_oldest: assert (!\dut.started_q || stopped || oldest == pc);
        state_fetch: assert (!stopped || fetch_pc == pc);
        state_any: assert (!any || (\dut.started_q && !stopped));
        state_waits: assert (!(any || begun || stopped) || !waits);
        state_begun: assert (begun == ((loading && !dropped) || answer_waits));
        state_begun_runs: assert (!begun || (\dut.started_q && !stopped && begun_pc == pc));
        state_dropped: assert (!dropped || !\dut.started_q );

        device_twice: cover (begun && retire && begun_pc == 7);
        taken_then_again: cover (was_taken && !begun && pc == 3);
        held_while_begun: cover (dropped && run && !\dut.started_q );
        line_missing: cover (begun && \dut.waits_line );
    end
endmodule
