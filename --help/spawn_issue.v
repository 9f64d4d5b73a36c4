// Checks the descriptors of triggered jobs one after the other and offers their warps.
//
// 1. A job is taken at an edge with `job_valid` and `job_take` high (cycle 1). In cycle 2 its words
//    are read, in cycle 3 they are checked, from cycle 4 on its first warp is offered.
// 2. Warps have `lanes` threads, the last one what is left; thread numbers ascend from 0. A warp is
//    offered until it is taken, the next one two cycles later.
// 3. `warp_taken` and `checked_valid` are high for one cycle: when a warp is taken, and in cycle 3
//    of a job, with `checked_code` 0 or the reason why no warp of it starts. `acquire` is high in that cycle for
//    the cores whose L1 a good job drops.
// 4. `start_entry` and the arguments are those of the warp that was taken in the cycle before.
//
// | code | the descriptor is rejected because |
// | --- | --- |
// | 1 | ENTRY is 0, not a multiple of 4, or 0xfff0_0000 or above |
// | 2 | it has no threads |
// | 3 | bits that must be zero are not (word 4; bits 24, 27 and 31:28 of SHAPE; bits 31:30 of TOKEN), or CLASS is not KERNEL_CLASS |
// | 5 | CORES names a core that is not there |
module spawn_issue (
    input  wire        clk,               // Rising-edge clock
    input  wire        rst,               // Synchronous reset, active high: no job is under way
    input  wire        kernel_class,      // KERNEL_CLASS register
    input  wire        job_valid,         // From the order of the jobs: one waits
    input  wire [3:0]  job_slot,          // Its slot
    output wire        job_take,          // To the order: it is taken at this edge, if one waits; depends on no input
    output wire [3:0]  page_slot,         // To the page: the descriptor to read
    input  wire [31:0] entry,             // Its word ENTRY
    input  wire [31:0] argument_0,        // Its word ARG0
    input  wire [31:0] argument_1,        // Its word ARG1
    input  wire [31:0] shape,             // Its word SHAPE
    input  wire [31:0] reserved,          // Its word 4
    input  wire [31:0] cores,             // Its word CORES
    input  wire [31:0] token,             // Its word TOKEN
    // To warp issue. A warp of spawned threads on its way to a core:
    output wire        warp_valid,        // A warp is offered; it stays until it is taken
    input  wire        warp_ready,        // It is taken at this edge; depends on no port of this group but cores
    output wire [31:0] warp_cores,        // The cores that may run it; bits of cores that are not there are ignored
    output wire [3:0]  warp_job,          // Slot of its job
    output wire [31:0] warp_thread,       // Number of its first thread
    output reg  [5:0]  warp_count,        // Its threads, 1 to the lanes of a core
    output wire        warp_taken,        // A warp is taken in this cycle; warp.job is its job
    output wire        warp_first,        // It is the first of its job
    output wire        warp_last,         // It is the last of its job
    output wire        checked_valid,     // A descriptor is checked in this cycle; warp.job is its slot
    output wire [2:0]  checked_code,      // Why it is rejected; 0: it is good
    output reg  [31:0] acquire,           // To the cores: drop the L1 data cache
    output wire [29:0] start_entry,       // To the cores: ENTRY of the warp that starts, bits 31:2
    output wire [31:0] start_argument_0,  // To the cores: ARG0 of the warp that starts
    output wire [31:0] start_argument_1   // To the cores: ARG1 of the warp that starts
);

    localparam [31:0] ALL_CORES = 32'd7;
    localparam [23:0] LANES = 24'd4;
    wire free;
    reg  [2:0] code;
    wire good;
    wire last;
    wire fits;
    wire taken;
    reg  [3:0] slot;
    reg  read_valid;
    reg  check_valid;
    reg  active;
    reg  offered;
    reg  [31:0] entry_2;
    reg  [31:0] argument_0_2;
    reg  [31:0] argument_1_2;
    reg  [31:0] cores_2;
    reg  acquire_2;
    reg  class_;
    reg  reserved_2;
    reg  [23:0] thread;
    reg  [23:0] left;

    assign free = !read_valid & !check_valid & !active;
    assign job_take = free;
    assign page_slot = slot;

    always @* begin
        code = 3'd0;
        if (|(cores_2 & 32'hfffffff8)) begin
            code = 3'd5;
        end
        if (reserved_2 | (class_ != kernel_class)) begin
            code = 3'd3;
        end
        if (!(|left)) begin
            code = 3'd2;
        end
        if (!(|entry_2) | (|entry_2[1:0]) | (&entry_2[31:20])) begin
            code = 3'd1;
        end
    end

    assign good = check_valid & !(|code);
    assign checked_valid = check_valid;
    assign checked_code = code;

    always @* begin
        acquire = 32'd0;
        if (good & acquire_2) begin
            acquire = cores_2;
        end
    end

    assign last = left <= LANES;
    assign fits = class_ == kernel_class;
    assign taken = offered & fits & warp_ready;
    assign warp_valid = offered & fits;
    assign warp_cores = cores_2;
    assign warp_job = slot;
    assign warp_thread = {8'd0, thread};

    always @* begin
        warp_count = 6'd4;
        if (last) begin
            warp_count = left[5:0];
        end
    end

    assign warp_taken = taken;
    assign warp_first = !(|thread);
    assign warp_last = last;
    assign start_entry = entry_2[31:2];
    assign start_argument_0 = argument_0_2;
    assign start_argument_1 = argument_1_2;

    always @(posedge clk) begin
        if (rst) begin
            slot <= 4'd0;
            read_valid <= 1'b0;
            check_valid <= 1'b0;
            active <= 1'b0;
            offered <= 1'b0;
            entry_2 <= 32'd0;
            argument_0_2 <= 32'd0;
            argument_1_2 <= 32'd0;
            cores_2 <= 32'd0;
            acquire_2 <= 1'b0;
            class_ <= 1'b0;
            reserved_2 <= 1'b0;
            thread <= 24'd0;
            left <= 24'd0;
        end else begin
            read_valid <= free & job_valid;
            if (free) begin
                slot <= job_slot;
            end
            check_valid <= read_valid;
            if (read_valid) begin
                entry_2 <= entry;
                argument_0_2 <= argument_0;
                argument_1_2 <= argument_1;
                class_ <= shape[25];
                acquire_2 <= shape[26];
                reserved_2 <= (|shape[31:27]) | shape[24] | (|reserved) | (|token[31:30]);
                cores_2 <= cores;
                if (!(|cores)) begin
                    cores_2 <= ALL_CORES;
                end
                thread <= 24'd0;
                left <= shape[23:0];
            end
            if (good) begin
                active <= 1'b1;
                offered <= 1'b1;
            end
            if (active) begin
                offered <= !taken;
            end
            if (taken) begin
                thread <= thread + LANES;
                left <= left - LANES;
                if (last) begin
                    active <= 1'b0;
                end
            end
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, token[29:0]};
endmodule

