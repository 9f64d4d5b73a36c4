// The two PCs of one hart, and whether it may fetch.
//
// `fetch_pc` is the next to fetch, `pc`, the architectural one, the next to retire. The events of a
// cycle take effect at its end; those of a later stage go before those of an earlier one, and
// `take_valid` before all but `run`. The owner drops the younger instructions of the hart.
//
// 1. While `run` is low the hart is held: nothing of it is in the pipeline from the next cycle on.
//    It starts at `entry` in the first cycle with `run` high in which nothing of it is
//    outstanding.
// 2. A replayed instruction is fetched again when its cause is gone: no store outstanding
//    (`wait_stores`), a place for a store (`wait_place`), no access to a device (`wait_device`) or
//    division (`wait_divide`) of any hart under way, no operation of its own (`loading`).
// 3. `stop` stops the hart with its PC behind what retires in this cycle, or at the target of a trap that is entered,
//    until it is held, or until `resume`. What is younger is dropped by the owner.
// 4. `take_valid` is legal while `boundary` is high: between two instructions. `boundary_pc` is the
//    PC of the one that has not been executed.
// 5. With `execute` a stopped hart may fetch: a word of the host (`executed` when it is in stage W). It stays stopped.
module hart_state (
    input  wire        clk,               // Rising-edge clock
    input  wire        rst,               // Synchronous reset, active high: the hart is held
    input  wire        run,               // The hart runs; else it is held
    input  wire [29:0] entry,             // PC after a reset of the hart, bits 31:2
    input  wire        quiet,             // Nothing of the hart is outstanding
    input  wire        issue,             // Stage F: the instruction at fetch_pc is fetched
    input  wire        decode_redirect,   // Stage D: the hart goes on at decode_pc
    input  wire        miss,              // Stage D: the instruction at decode_pc is not in the cache
    input  wire [29:0] decode_pc,         // Stage D: target, or PC of the miss, bits 31:2
    input  wire        filled,            // From the cache: who waits for a line looks up again
    input  wire        execute_redirect,  // Stage X: the hart goes on at execute_pc
    input  wire [29:0] execute_pc,        // Stage X: target, bits 31:2
    input  wire        write_valid,       // Stage W holds an instruction of the hart
    input  wire        retire,            // Stage W: it retires
    input  wire [29:0] next_pc,           // Stage W: PC of the instruction after it, bits 31:2
    input  wire        refetch,           // Stage W, with retire: the instructions after it are fetched again
    input  wire        wait_stores,       // Stage W: it is replayed when no store of the hart is outstanding
    input  wire        wait_place,        // Stage W: it is replayed when there is a place for another store
    input  wire        wait_device,       // Stage W: it is replayed when no access to a device is under way
    input  wire        wait_divide,       // Stage W: it is replayed when no division is under way
    input  wire        load,
    input  wire        stop,              // The hart stops: by an exception in stage W, or by the host at a boundary or with a trap
    input  wire        resume,            // The hart is stopped, and goes on
    input  wire        execute,           // The hart is stopped, and is to fetch a word of the host
    input  wire        executed,          // The instruction in stage W is that word
    input  wire        changes,
    input  wire        asleep,            // The hart may not fetch: it sleeps
    input  wire        stores_none,       // No store of the hart is outstanding
    input  wire        stores_full,       // The hart has as many stores outstanding as it may
    input  wire        device_free,       // No access to a device is under way
    input  wire        divide_free,       // No division is under way
    input  wire        loading,           // A load, access or division of the hart is outstanding
    input  wire        answer_waits,      // An answer waits for the instruction that is replayed
    input  wire        take_valid,        // The hart goes on at take_pc; only while boundary is high
    input  wire [29:0] take_pc,           // Where it goes on, bits 31:2
    input  wire        trapped,           // It goes on there by a trap; legal at an exception in stage W as well
    output wire        ready,             // The hart may fetch in this cycle
    output wire [29:0] fetch_pc,          // PC to fetch, bits 31:2
    output wire        boundary,          // The hart is at an instruction boundary at the end of this cycle
    output wire [29:0] boundary_pc,       // Architectural PC at the end of this cycle, if no exception, bits 31:2
    output wire [29:0] pc,                // Architectural PC: of the next instruction to retire, bits 31:2
    output wire        stopped,           // The hart is stopped
    output wire        taken              // No instruction retired since take_valid without trapped
);

    wire started;
    wire runs;
    reg  between;
    reg  [29:0] next;
    reg  started_2;
    reg  stopped_2;
    reg  taken_2;
    reg  [29:0] fetch_pc_2;
    reg  [29:0] pc_2;
    reg  waits_line;
    reg  waits_stores;
    reg  waits_place;
    reg  waits_device;
    reg  waits_divide;

    assign started = started_2 & run;
    assign runs = started & !stopped_2;
    assign pc = pc_2;
    assign ready = (runs | (started & execute)) & !waits_line & !(waits_stores & !stores_none) & !(waits_place
        & stores_full) & !(waits_device & !device_free) & !(waits_divide & !divide_free) & !loading & !asleep;
    assign fetch_pc = fetch_pc_2;
    assign stopped = stopped_2;
    assign taken = taken_2;

    always @* begin
        between = !loading & !answer_waits;
        if (write_valid) begin
            between = (retire & !changes) | wait_stores | wait_place | wait_device | wait_divide;
        end
    end

    assign boundary = runs & between;

    always @* begin
        next = pc_2;
        if (retire) begin
            next = next_pc;
        end
    end

    assign boundary_pc = next;

    always @(posedge clk) begin
        if (rst) begin
            started_2 <= 1'b0;
            stopped_2 <= 1'b0;
            taken_2 <= 1'b0;
            fetch_pc_2 <= 30'd0;
            pc_2 <= 30'd0;
            waits_line <= 1'b0;
            waits_stores <= 1'b0;
            waits_place <= 1'b0;
            waits_device <= 1'b0;
            waits_divide <= 1'b0;
        end else begin
            if (issue) begin
                fetch_pc_2 <= fetch_pc_2 + 30'd1;
            end
            if (filled) begin
                waits_line <= 1'b0;
            end
            if (stores_none) begin
                waits_stores <= 1'b0;
            end
            if (!stores_full) begin
                waits_place <= 1'b0;
            end
            if (device_free) begin
                waits_device <= 1'b0;
            end
            if (divide_free) begin
                waits_divide <= 1'b0;
            end
            if (decode_redirect | miss) begin
                fetch_pc_2 <= decode_pc;
            end
            if (miss) begin
                waits_line <= 1'b1;
            end
            if (execute_redirect) begin
                fetch_pc_2 <= execute_pc;
                waits_line <= 1'b0;
            end
            if (retire & !executed) begin
                taken_2 <= 1'b0;
            end
            pc_2 <= next;
            if (refetch | wait_stores | wait_place | wait_device | wait_divide | load | (write_valid &
                executed)) begin
                fetch_pc_2 <= next;
                waits_line <= 1'b0;
            end
            if (wait_stores) begin
                waits_stores <= 1'b1;
            end
            if (wait_place) begin
                waits_place <= 1'b1;
            end
            if (wait_device) begin
                waits_device <= 1'b1;
            end
            if (wait_divide) begin
                waits_divide <= 1'b1;
            end
            if (resume) begin
                stopped_2 <= 1'b0;
            end
            if (stop) begin
                stopped_2 <= 1'b1;
                fetch_pc_2 <= next;
                waits_line <= 1'b0;
                waits_stores <= 1'b0;
                waits_place <= 1'b0;
                waits_device <= 1'b0;
                waits_divide <= 1'b0;
            end
            if (take_valid) begin
                taken_2 <= !trapped;
                fetch_pc_2 <= take_pc;
                pc_2 <= take_pc;
                waits_line <= 1'b0;
                waits_stores <= 1'b0;
                waits_place <= 1'b0;
                waits_device <= 1'b0;
                waits_divide <= 1'b0;
            end
            if (!started_2) begin
                fetch_pc_2 <= entry;
                pc_2 <= entry;
                started_2 <= quiet;
            end
            if (!run) begin
                started_2 <= 1'b0;
                stopped_2 <= 1'b0;
                taken_2 <= 1'b0;
                waits_line <= 1'b0;
                waits_stores <= 1'b0;
                waits_place <= 1'b0;
                waits_device <= 1'b0;
                waits_divide <= 1'b0;
            end
        end
    end
endmodule

