// The fault collector takes every record once, no core waits for long, and what does not fit is
// counted.
//
// Three cores, of which one is followed, whichever. The FIFO in it is proved in sync_fifo.sv.
module fault_collector_formal (
    input wire        clk,
    input wire        rst,
    input wire [2:0]  fault_valid,
    input wire [17:0] fault_threads,
    input wire        pop
);
    wire [2:0]  fault_ready;
    wire [15:0] level, dropped;
    wire [31:0] faults;
    fault_collector dut (
        .clk(clk), .rst(rst), .fault_valid(fault_valid), .fault_ready(fault_ready), .fault_cause(15'd0), .fault_slot(15'd0),
        .fault_threads(fault_threads), .fault_pc(96'd0), .fault_value(96'd0), .fault_packet(96'd0), .registers_pop(pop), .registers_level(level),
        .registers_dropped(dropped), .registers_faults(faults)
    );
    (* hierconn *) wire \dut.fifo.shown ;
    (* hierconn *) wire [31:0] \dut.arbiter.above ;
    (* hierconn *) wire \dut.taken ;
    (* hierconn *) wire [116:0] \dut.record ;

    `include "start.vh"

    wire [2:0] taken = fault_valid & fault_ready;
    wire [5:0] threads = taken[0] ? fault_threads[5:0] : taken[1] ? fault_threads[11:6] : fault_threads[17:12];
    reg         arriving;
    reg  [5:0]  arriving_threads;
    reg  [15:0] kept_or_dropped, popped;
    reg  [31:0] ended;
    // Who was taken since the followed core began to ask.
    (* anyconst *) reg [1:0] core;
    always @* assume (core < 3);
    reg  [2:0]  others;
    wire waits = fault_valid[core] && !fault_ready[core];
    always @(posedge clk) begin
        arriving <= taken != 0;
        arriving_threads <= threads;
        kept_or_dropped <= kept_or_dropped + arriving;
        ended <= ended + (arriving ? arriving_threads : 0);
        popped <= popped + (pop && \dut.fifo.shown );
        others <= waits ? others | fault_ready : 0;
        if (rst) begin
            arriving <= 0;
            kept_or_dropped <= 0;
            popped <= 0;
            ended <= 0;
            others <= 0;
        end
    end
    wire [2:0] up_to = ((3'd1 << core) << 1) - 3'd1;
    wire [2:0] above = \dut.arbiter.above [2:0];
    wire [2:0] before = above[core] ? (above & up_to) : (above | up_to);

    always @(posedge clk) if (started && !rst) begin
        at_most_one: assert ((fault_ready & (fault_ready - 1)) == 0);
        only_who_asks: assert ((fault_ready & ~fault_valid) == 0);
        never_idle: assert (fault_valid == 0 || fault_ready != 0);
        // A core waits for at most one record of each other core.
        if (waits) no_starvation: assert ((others & fault_ready) == 0);
        // Every record is in the FIFO, was read from it, or was counted as dropped; its threads are
        // counted in any case.
        every_record_counted: assert (kept_or_dropped == level + popped + dropped);
        every_thread_counted: assert (faults == ended);
        never_overfull: assert (level <= 32);

        // What the induction needs to know of the state.
        state_above: assert ((~\dut.arbiter.above & (~\dut.arbiter.above + 1)) == 0);
        state_others: assert ((others & before) == 0);
        state_taken: assert (\dut.taken == arriving && (!arriving || \dut.record [20:15] == arriving_threads));
        state_shown: assert (!\dut.fifo.shown || level != 0);

        records_dropped: cover (dropped == 2 && level == 32);
        waits_for_two: cover (others == 5 && core == 1 && fault_ready[1]);
    end
endmodule
