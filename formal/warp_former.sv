// The warp former puts every packet into one warp, in order, and forms a partial warp only by its
// rule.
module warp_former_formal (
    input wire        clk,
    input wire        rst,
    input wire        task_valid,
    input wire [31:0] task_count,
    input wire        run,
    input wire        eager,
    input wire [31:0] timeout,
    input wire        idle_slot,
    input wire        warp_ready
);
    localparam [5:0] LANES = 4;
    wire        task_ready, warp_valid;
    wire [31:0] warp_packet, pending;
    wire [5:0]  warp_count;
    warp_former dut (
        .clk(clk), .rst(rst), .task_valid(task_valid), .task_ready(task_ready), .task_count(task_count), .control_run(run),
        .control_eager(eager), .control_timeout(timeout), .idle_slot(idle_slot), .warp_valid(warp_valid), .warp_ready(warp_ready),
        .warp_packet(warp_packet), .warp_count(warp_count), .pending(pending)
    );
    (* hierconn *) wire [32:0] \dut.waiting ;
    (* hierconn *) wire [31:0] \dut.age ;
    (* hierconn *) wire [31:0] \dut.next_packet ;

    `include "start.vh"

    wire take = task_valid && task_ready;
    wire give = warp_valid && warp_ready;
    wire [5:0] shown = warp_valid ? warp_count : 0;

    // Packets that were taken and not given away, and packets given away, modulo 2^32.
    reg [33:0] inside;
    reg [31:0] given;
    wire [33:0] waiting = inside - shown;

    // Packets of the next warp at most, while none is at the output or this one is given away. With
    // network functions they end with the ring, too (warp_former_ring of proofs.toml).
    wire [5:0] most = LANES;

    // The cycle before.
    reg        was_valid, was_given, was_run, was_eager, was_idle, was_steady;
    reg [31:0] was_packet, was_timeout;
    reg [5:0]  was_count;
    reg [33:0] was_waiting;
    reg [32:0] was_waited;
    wire was_room = !was_valid || was_given;
    wire formed = warp_valid && was_room;

    // Cycles for which the oldest packet has waited, and whether the time-out stayed the same all
    // the while.
    wire [32:0] waited = formed || was_waiting == 0 ? 0 : was_waited + !was_waited[32];
    wire steady = waited == 0 || (was_steady && timeout == was_timeout);

    reg gave_partial, gave_full;
    always @(posedge clk) begin
        inside <= inside + (take ? task_count : 0) - (give ? warp_count : 0);
        given <= given + (give ? warp_count : 0);
        {was_valid, was_given, was_run, was_eager, was_idle} <= {warp_valid, give, run, eager, idle_slot};
        {was_packet, was_count, was_timeout, was_waiting} <= {warp_packet, warp_count, timeout, waiting};
        {was_waited, was_steady} <= {waited, steady};
        gave_partial <= gave_partial || (give && warp_count == 3);
        gave_full <= gave_full || (give && warp_count == LANES);
        if (rst) begin
            inside <= 0;
            given <= 0;
            was_waiting <= 0;
            was_waited <= 0;
            was_run <= 0;
            {was_valid, was_given} <= 0;
            {gave_partial, gave_full} <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        // Every packet that was taken waits, stands at the output or was given away: none is lost,
        // none counted twice.
        none_lost_none_twice: assert (inside >= shown && pending == (waiting[33:32] != 0 ? 32'hffffffff : waiting[31:0]));
        // The warps follow each other without a gap.
        if (warp_valid) consecutive: assert (warp_packet == given);
        if (warp_valid) count_in_range: assert (1 <= warp_count && warp_count <= most);
        // A partial warp has all that waited, and its time-out is over or a slot idles in eager
        // mode.
        if (formed && warp_count < most) partial_only_by_rule: assert (
            was_waiting == warp_count && (was_waited >= was_timeout || (was_eager && was_idle && !was_valid)));
        if (formed) only_while_running: assert (was_run);
        // What has to be formed is formed in the next cycle.
        if (was_run && was_room && was_waiting >= most) full_at_once: assert (formed && warp_count == most);
        if (was_run && was_room && was_waiting != 0 && was_steady && was_waited >= was_timeout)
            timeout_is_kept: assert (formed);
        if (was_run && was_waiting != 0 && was_eager && was_idle && !was_valid) eager_at_once: assert (formed);
        if (was_valid && !was_given)
            output_is_stable: assert (warp_valid && warp_packet == was_packet && warp_count == was_count);
        // The task FIFO is held up only while two warps wait.
        takes_unless_two_warps_wait: assert (task_ready == (waiting < 2 * LANES));

        // What the induction needs to know of the state.
        state_waiting: assert (\dut.waiting == waiting && !waiting[33]);
        state_packet: assert (\dut.next_packet == given + shown);
        state_age: assert (\dut.age <= waited && (!steady || \dut.age == (waited < timeout ? waited : timeout)));

        both_kinds_of_warp: cover (gave_partial && gave_full && inside == 0);
        very_many_packets: cover (pending == 32'hffffffff && warp_valid);
        timed_out: cover (formed && warp_count == 1 && timeout == 3 && was_waited == 3 && !eager);
    end
endmodule
