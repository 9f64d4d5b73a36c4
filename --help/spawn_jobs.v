// 16 words of 3 bits, one write port, one combinational read port: distributed RAM.
module ram_async_3_4 (
    input  wire       clk,
    input  wire       write_enable,
    input  wire [3:0] write_address,
    input  wire [2:0] write_data,
    input  wire [3:0] read_address,
    output wire [2:0] read_data
);

    reg [2:0] words [0:15];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// 16 words of 11 bits, one write port, one combinational read port: distributed RAM.
module ram_async_11_4 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [3:0]  write_address,
    input  wire [10:0] write_data,
    input  wire [3:0]  read_address,
    output wire [10:0] read_data
);

    reg [10:0] words [0:15];
    always @(posedge clk) begin
        if (write_enable) words[write_address] <= write_data;
    end
    assign read_data = words[read_address];
endmodule

// Which slots are busy, and when the last warp of a job has finished.
//
// 1. A slot is busy from the edge at which it is triggered until `freed_valid`.
// 2. A job has ended when all its warps were taken by warp issue and have finished, or when its
//    descriptor was rejected: `ended` of its slot is high from the next cycle on, until `end_taken`.
// 3. `end_code` and `end_faulted` of `end_slot` answer in the same cycle: why the descriptor was
//    rejected (0: it was not), and whether one of its threads ended with a fault.
//
// A job has at most 1,024 warps at a time on the cores: the counts go round at 2,048.
module spawn_jobs (
    input  wire        clk,             // Rising-edge clock
    input  wire        rst,             // Synchronous reset, active high: all slots are free
    input  wire        trigger_valid,   // A job is triggered; only in a free slot
    input  wire [3:0]  trigger_slot,    // Its slot
    input  wire        checked_valid,   // From the issue: a descriptor is checked
    input  wire [2:0]  checked_code,    // Why it is rejected; 0: it is good
    input  wire        warp_taken,      // A warp is taken by warp issue
    input  wire        warp_first,      // It is the first of its job
    input  wire        warp_last,       // It is the last of its job
    input  wire [3:0]  issue_slot,      // Slot of the job that is checked, or whose warp is taken
    // From the control path: a warp finished. A warp of spawned threads finished:
    input  wire        finish_valid,    // A warp finished: its threads ended, and all their stores are performed
    input  wire [3:0]  finish_job,      // Slot of its job
    input  wire        finish_faulted,  // One of its threads ended with a fault
    output wire [15:0] ended,           // Slots of the jobs that have ended and are not reported yet
    input  wire        end_taken,       // The completion writer takes the job of end_slot
    input  wire [3:0]  end_slot,        // Its slot
    output wire [2:0]  end_code,        // Why its descriptor was rejected
    output wire        end_faulted,     // One of its threads ended with a fault
    input  wire        freed_valid,     // A slot becomes free: its completion is visible
    input  wire [3:0]  freed_slot,      // The slot
    output wire [15:0] busy             // Slots that are busy
);

    reg  [15:0] triggered;
    reg  [15:0] freed;
    wire [15:0] issuing;
    reg  [15:0] rejected;
    reg  [10:0] count;
    reg  [15:0] all_taken;
    wire [15:0] finishing;
    reg  [10:0] done;
    reg  [15:0] begins;
    reg  [15:0] all_finished;
    reg  [15:0] fault;
    reg  [15:0] reported;
    reg  [15:0] busy_2;
    reg  [15:0] ended_2;
    reg  [15:0] issued;
    reg  [15:0] begun;
    reg  [15:0] faulted;
    reg  [10:0] taken;
    wire [10:0] started_read_data;
    wire [10:0] finished_read_data;

    always @* begin
        triggered = 16'd0;
        if (trigger_valid) begin
            triggered = 16'd1 << trigger_slot;
        end
    end

    always @* begin
        freed = 16'd0;
        if (freed_valid) begin
            freed = 16'd1 << freed_slot;
        end
    end

    assign busy = busy_2;
    assign issuing = 16'd1 << issue_slot;

    always @* begin
        rejected = 16'd0;
        if (checked_valid & (|checked_code)) begin
            rejected = issuing;
        end
    end

    always @* begin
        count = taken + 11'd1;
        if (warp_first) begin
            count = 11'd1;
        end
    end

    always @* begin
        all_taken = 16'd0;
        if (warp_taken & warp_last) begin
            all_taken = issuing;
        end
    end

    assign finishing = 16'd1 << finish_job;

    always @* begin
        done = 11'd1;
        if (begun[finish_job]) begin
            done = finished_read_data + 11'd1;
        end
    end

    always @* begin
        begins = 16'd0;
        all_finished = 16'd0;
        fault = 16'd0;
        if (finish_valid) begin
            begins = finishing;
            if (finish_faulted) begin
                fault = finishing;
            end
            if (issued[finish_job] & (done == started_read_data)) begin
                all_finished = finishing;
            end
        end
    end

    always @* begin
        reported = 16'd0;
        if (end_taken) begin
            reported = 16'd1 << end_slot;
        end
    end

    assign ended = ended_2;
    assign end_faulted = faulted[end_slot];

    ram_async_3_4 codes (
        .clk(clk),
        .write_enable(checked_valid),
        .write_address(issue_slot),
        .write_data(checked_code),
        .read_address(end_slot),
        .read_data(end_code)
    );

    ram_async_11_4 started (
        .clk(clk),
        .write_enable(warp_taken),
        .write_address(issue_slot),
        .write_data(count),
        .read_address(finish_job),
        .read_data(started_read_data)
    );

    ram_async_11_4 finished (
        .clk(clk),
        .write_enable(finish_valid),
        .write_address(finish_job),
        .write_data(done),
        .read_address(finish_job),
        .read_data(finished_read_data)
    );

    always @(posedge clk) begin
        if (rst) begin
            busy_2 <= 16'd0;
            ended_2 <= 16'd0;
            issued <= 16'd0;
            begun <= 16'd0;
            faulted <= 16'd0;
            taken <= 11'd0;
        end else begin
            busy_2 <= (busy_2 & ~freed) | triggered;
            if (warp_taken) begin
                taken <= count;
            end
            issued <= (issued & ~triggered) | all_taken;
            begun <= (begun & ~triggered) | begins;
            faulted <= (faulted & ~triggered) | fault;
            ended_2 <= (ended_2 & ~reported) | rejected | all_finished;
        end
    end
endmodule

