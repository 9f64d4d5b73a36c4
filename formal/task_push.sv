// A write to TASK_PUSH ends soon, whatever becomes of the task FIFO; a count that was answered with
// OKAY is offered once, and one that was refused never; TASK_ROOM promises no more than is kept.
module task_push_formal (
    input wire        clk,
    input wire        rst,
    input wire        write,
    input wire [31:0] count,
    input wire        other,
    input wire        pop,
    input wire        look
);
    // The FIFO: the packet ports push in the cycles of `other`, and go before the host then.
    reg  [10:0] level;
    (* anyconst *) reg [10:0] first_level;
    wire        task_ready = level < 1024 && !other;
    wire        delay, refused, task_valid;
    wire [10:0] room;
    wire [31:0] task_count;
    task_push dut (
        .clk(clk), .rst(rst), .write(write), .count(count), .delay(delay), .refused(refused), .room(room), .level(level),
        .task_valid(task_valid), .task_ready(task_ready), .task_count(task_count)
    );
    (* hierconn *) wire \dut.fresh ;
    (* hierconn *) wire \dut.taken ;

    `include "start.vh"

    // A write was begun and did not end; how many cycles ago, at most 3; a count was taken and the
    // FIFO does not have it yet.
    reg         begun, owed;
    reg  [1:0]  age;
    reg  [31:0] data;
    // Writes that TASK_ROOM promised when it was read last, less those since; none once somebody
    // else pushed.
    reg  [10:0] promised;
    wire        first = write && !begun;
    wire        pushed = task_valid && task_ready;
    wire [10:0] promise = look ? room : promised;
    always @* begin
        assume (first_level <= 1024 && level <= 1024);
        assume (!other || level < 1024);
        assume (!pop || level > 0);
        // The bus holds what it writes.
        assume (!(write && begun) || count == data);
    end
    always @(posedge clk) begin
        level <= level + (pushed || other) - pop;
        if (first && delay) {begun, age, data} <= {1'b1, 2'd1, count};
        else if (write && !delay) begun <= 0;
        else if (age < 3) age <= age + 1;
        if (first && delay) owed <= 1;
        else if (pushed) owed <= 0;
        promised <= other || promise == 0 ? 0 : promise - (first && delay);
        if (rst) begin
            {begun, owed, age, promised} <= 0;
            // Any level, so that few cycles show a full FIFO.
            level <= first_level;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        offered_once: assert (task_valid == owed && (!owed || task_count == data));
        if (first && delay) none_is_replaced: assert (!owed);
        if (write && begun && age > 1) ends_soon: assert (!delay);
        if (write && !delay) answer_is_true: assert (refused == !begun);
        if (refused) refused_without_room: assert (level == 1024 || owed);
        room_is_free: assert (room == (level == 1024 ? 0 : 1024 - level - owed));
        if (first && promised != 0) promise_is_kept: assert (!refused);

        // What the induction needs to know of the state.
        state_begun: assert (begun == (\dut.fresh || \dut.taken ) && !(\dut.fresh && \dut.taken ));
        if (begun) state_age: assert (age > 0 && \dut.fresh == (age == 1));
        if (promised != 0) state_promise: assert (promised + level + owed <= 1024 && (!owed || \dut.fresh ));

        waits_behind_others: cover (owed && begun && age == 3);
        refused_when_full: cover (refused && level == 1024 && !owed && promised == 0);
        refused_behind_others: cover (refused && level < 1024);
    end
endmodule
