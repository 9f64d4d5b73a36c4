// Rules S1, S2 and S4: the warps of a job cover its threads once and in order, with the words as
// they were read; a bad descriptor gives its code and no warp.
//
// Three cores of four lanes. Nothing is assumed of the inputs: the words may change in any cycle.
module spawn_issue_formal (
    input wire        clk,
    input wire        rst,
    input wire        kernel_class,
    input wire        job_valid,
    input wire [3:0]  job_slot,
    input wire [31:0] entry,
    input wire [31:0] argument_0,
    input wire [31:0] argument_1,
    input wire [31:0] shape,
    input wire [31:0] reserved,
    input wire [31:0] cores,
    input wire [31:0] token,
    input wire        warp_ready
);
    wire        job_take, warp_valid, warp_taken, warp_first, warp_last, checked_valid;
    wire [3:0]  page_slot, warp_job;
    wire [31:0] warp_cores, warp_thread, acquire, start_argument_0, start_argument_1;
    wire [5:0]  warp_count;
    wire [2:0]  checked_code;
    wire [29:0] start_entry;
    spawn_issue dut (
        .clk(clk), .rst(rst), .kernel_class(kernel_class), .job_valid(job_valid), .job_slot(job_slot), .job_take(job_take),
        .page_slot(page_slot), .entry(entry), .argument_0(argument_0), .argument_1(argument_1), .shape(shape),
        .reserved(reserved), .cores(cores), .token(token), .warp_valid(warp_valid), .warp_ready(warp_ready),
        .warp_cores(warp_cores), .warp_job(warp_job), .warp_thread(warp_thread), .warp_count(warp_count),
        .warp_taken(warp_taken), .warp_first(warp_first), .warp_last(warp_last), .checked_valid(checked_valid),
        .checked_code(checked_code), .acquire(acquire), .start_entry(start_entry), .start_argument_0(start_argument_0),
        .start_argument_1(start_argument_1)
    );
    (* hierconn *) wire [3:0] \dut.slot ;
    (* hierconn *) wire \dut.read_valid ;
    (* hierconn *) wire \dut.check_valid ;
    (* hierconn *) wire \dut.active ;
    (* hierconn *) wire \dut.offered ;
    (* hierconn *) wire [31:0] \dut.entry_q ;
    (* hierconn *) wire [31:0] \dut.argument_0_q ;
    (* hierconn *) wire [31:0] \dut.argument_1_q ;
    (* hierconn *) wire [31:0] \dut.cores_q ;
    (* hierconn *) wire \dut.acquire_q ;
    (* hierconn *) wire \dut.class_q ;
    (* hierconn *) wire \dut.reserved_q ;
    (* hierconn *) wire [23:0] \dut.thread ;
    (* hierconn *) wire [23:0] \dut.left ;

    `include "start.vh"

    // The job: its words are read in cycle 2 and checked in cycle 3, then its warps go. What is
    // left of the words is what was read.
    reg        reading, checking, going;
    reg [3:0]  job;
    reg [31:0] its_entry, its_argument_0, its_argument_1, its_shape, its_reserved, its_cores, its_token;
    // Threads in the warps that were taken.
    reg [24:0] covered;
    wire [24:0] threads = its_shape[23:0];
    wire [24:0] rest = threads - covered;
    wire [31:0] everywhere = its_cores == 0 ? 32'd7 : its_cores;
    reg [2:0] code;
    always @* begin
        if (its_entry == 0 || its_entry[1:0] != 0 || its_entry[31:20] == 12'hfff) code = 1;
        else if (threads == 0) code = 2;
        else if (its_reserved != 0 || its_shape[24] || its_shape[31:27] != 0 || its_token[31:30] != 0
            || its_shape[25] != kernel_class) code = 3;
        else if (its_cores[31:3] != 0) code = 5;
        else code = 0;
    end

    reg was_taken, held;
    reg [3:0] was_job;
    reg [31:0] was_cores, was_thread;
    reg [5:0] was_count;
    reg [2:0] rejected, jobs;
    always @(posedge clk) begin
        reading <= job_valid && job_take;
        if (job_valid && job_take) job <= job_slot;
        checking <= reading;
        if (reading) begin
            its_entry <= entry;
            its_argument_0 <= argument_0;
            its_argument_1 <= argument_1;
            its_shape <= shape;
            its_reserved <= reserved;
            its_cores <= cores;
            its_token <= token;
            covered <= 0;
        end
        if (checking && code == 0) going <= 1;
        if (warp_valid && warp_ready) begin
            covered <= covered + warp_count;
            if (warp_last) going <= 0;
        end
        was_taken <= warp_valid && warp_ready;
        held <= warp_valid && !warp_ready;
        {was_job, was_cores, was_thread, was_count} <= {warp_job, warp_cores, warp_thread, warp_count};
        rejected <= rejected + (checking && code != 0 && rejected != 7);
        jobs <= jobs + (warp_taken && warp_last && jobs != 7);
        if (rst) begin
            reading <= 0;
            checking <= 0;
            going <= 0;
            was_taken <= 0;
            held <= 0;
            rejected <= 0;
            jobs <= 0;
        end
    end
    wire under_way = reading || checking || going;

    always @(posedge clk) if (started && !rst) begin
        takes_one_at_a_time: assert (job_take == !under_way);
        if (reading) reads_its_words: assert (page_slot == job);
        // S4.
        checked_once: assert (checked_valid == checking);
        if (checking) code_is_exact: assert (checked_code == code && warp_job == job);
        if (!going) only_good_jobs_have_warps: assert (!warp_valid && !warp_taken);
        acquires_for_good_jobs: assert (acquire == (checking && code == 0 && its_shape[26] ? everywhere : 0));
        // S1.
        if (going && !was_taken) offered_at_once: assert (warp_valid == (kernel_class == its_shape[25]));
        if (was_taken) not_twice_in_a_row: assert (!warp_valid);
        if (warp_valid) threads_ascend: assert (warp_thread == covered);
        if (warp_valid) count_is_exact: assert (warp_count == (rest < 4 ? rest : 4) && warp_count != 0);
        if (warp_valid) first_is_exact: assert (warp_first == (covered == 0));
        if (warp_valid) last_is_exact: assert (warp_last == (covered + warp_count == threads));
        if (warp_valid) never_too_many_threads: assert (covered + warp_count <= threads);
        taken_is_told: assert (warp_taken == (warp_valid && warp_ready));
        // It is not offered while the register class is another.
        if (held) offer_stands: assert (warp_valid == (kernel_class == its_shape[25])
            && {warp_job, warp_cores, warp_thread, warp_count} == {was_job, was_cores, was_thread, was_count});
        // S2.
        if (warp_valid) goes_to_its_cores: assert (warp_job == job && warp_cores == everywhere);
        if (was_taken) starts_with_its_words: assert (start_entry == its_entry[31:2]
            && start_argument_0 == its_argument_0 && start_argument_1 == its_argument_1);

        // What the induction needs to know of the state.
        state_phase: assert (\dut.read_valid == reading && \dut.check_valid == checking && \dut.active == going
            && reading + checking + going <= 1 && \dut.offered == (going && !was_taken) && !(was_taken && checking));
        if (under_way) state_job: assert (\dut.slot == job);
        if (checking || going || was_taken) state_words: assert (\dut.entry_q == its_entry
            && \dut.argument_0_q == its_argument_0 && \dut.argument_1_q == its_argument_1 && \dut.cores_q == everywhere);
        if (checking || going) state_class: assert (\dut.class_q == its_shape[25]);
        if (checking) state_check: assert (\dut.acquire_q == its_shape[26]
            && \dut.reserved_q == (its_reserved != 0 || its_shape[24] || its_shape[31:27] != 0 || its_token[31:30] != 0)
            && covered == 0);
        if (checking || going) state_threads: assert (\dut.thread == covered && \dut.left == rest && covered <= threads);
        if (going) state_going: assert (covered < threads);

        six_threads: cover (was_taken && !going && threads == 6 && its_cores == 5 && job == 9);
        third_job: cover (jobs == 2 && warp_valid && covered == 4 && held);
        rejected_and_good: cover (rejected == 1 && checking && code == 0 && its_shape[26]);
        class_is_another: cover (checking && code == 3 && its_reserved == 0 && its_shape[31:24] == 8'h02 && its_token == 0);
    end
endmodule
