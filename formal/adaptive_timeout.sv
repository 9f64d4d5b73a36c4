// The adaptive time-out stays within its bounds, no packet waits longer than the upper one for
// companions, the average is one of the measures, and the warps on the cores are counted exactly.
//
// Three cores, warps of four packets.
module adaptive_timeout_formal (
    input wire        clk,
    input wire        rst,
    input wire [31:0] fixed,
    input wire        adaptive,
    input wire [7:0]  factor,
    input wire [23:0] min,
    input wire [23:0] max,
    input wire [7:0]  eager_below,
    input wire        arrive,
    input wire [31:0] packets,
    input wire        issued,
    input wire        finished,
    input wire        pending,
    input wire        full
);
    localparam [7:0] LANES = 4;
    wire [31:0] timeout;
    wire [23:0] arrival;
    wire        eager;
    adaptive_timeout dut (
        .clk(clk), .rst(rst), .fixed(fixed), .registers_adaptive(adaptive), .registers_factor(factor), .registers_min(min),
        .registers_max(max), .registers_arrival(arrival), .registers_eager(eager_below), .arrive(arrive), .packets(packets),
        .issued(issued), .finished(finished), .timeout(timeout), .eager(eager)
    );
    (* hierconn *) wire [26:0] \dut.total ;
    (* hierconn *) wire [23:0] \dut.elapsed ;
    (* hierconn *) wire [7:0] \dut.count ;
    (* hierconn *) wire [10:0] \dut.warps ;
    (* hierconn *) wire [12:0] \dut.few ;
    (* hierconn *) wire \dut.known ;
    (* hierconn *) wire \dut.long_ ;
    (* hierconn *) wire \dut.running ;

    `include "start.vh"

    // Packet warps on the cores: what finishes was issued, and there are 96 slots.
    reg [10:0] warps;
    always @* assume (!finished || warps != 0);
    always @* assume (!issued || warps < 96);

    // Packets and cycles of the present measure, and the measures so far.
    wire ends = \dut.count >= LANES;
    reg        any_packet, measured;
    reg [33:0] came;
    reg [23:0] cycles, shortest, longest;
    wire [31:0] new_packets = arrive ? packets : 0;
    wire [33:0] here = came - (ends ? LANES : 0);
    wire [33:0] next = here + (new_packets > 4 * LANES ? 4 * LANES : new_packets) - (!any_packet && new_packets != 0);

    // The oldest packet of the warp former, which waits while it has no companions and its wait is
    // below the time-out. From some cycle on the time-out is adaptive, with the same upper bound.
    (* anyconst *) reg [23:0] bound;
    reg held;
    always @* if (held) assume (adaptive && max == bound);
    reg [31:0] waited;

    reg        was_adaptive, was_held;
    reg [31:0] was_fixed, was_limit;
    reg [23:0] was_min, was_max;
    reg [7:0]  was_eager_below;
    always @(posedge clk) begin
        warps <= warps + issued - finished;
        any_packet <= any_packet || new_packets != 0;
        came <= next > 4 * LANES ? 4 * LANES : next;
        cycles <= ends ? 1 : any_packet && cycles != 24'hffffff ? cycles + 1 : cycles;
        if (ends) begin
            measured <= 1;
            shortest <= !measured || cycles < shortest ? cycles : shortest;
            longest <= !measured || cycles > longest ? cycles : longest;
        end
        held <= held || (adaptive && max == bound);
        waited <= !held || !was_held || !pending || full || waited >= timeout ? 0 : waited + 1;
        {was_adaptive, was_held, was_fixed, was_limit, was_min, was_max, was_eager_below} <= {adaptive, held, fixed, fixed, min, max, eager_below};
        if (rst) begin
            warps <= 0;
            any_packet <= 0;
            came <= 0;
            cycles <= 0;
            measured <= 0;
            held <= 0;
            waited <= 0;
            {was_adaptive, was_held, was_fixed, was_eager_below} <= 0;
            was_limit <= 1;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        if (was_adaptive) never_above_max: assert (timeout <= was_max);
        if (was_adaptive && was_min <= was_max) never_below_min: assert (timeout >= was_min);
        if (!was_adaptive) fixed_unless_adaptive: assert (timeout == was_fixed);
        no_packet_waits_longer: assert (waited <= bound);
        if (!adaptive) never_eager_when_fixed: assert (!eager);
        if (adaptive) eager_below_the_limit: assert (
            eager == (4 * warps < 3 * was_eager_below && timeout >= was_limit));
        if (measured) average_of_measures: assert (shortest <= arrival && arrival <= longest);
        if (!measured) nothing_before_a_measure: assert (arrival == 0);

        // What the induction needs to know of the state.
        state_warps: assert (\dut.warps == warps && warps <= 96);
        state_long: assert (\dut.long_ == (timeout >= was_limit));
        state_few: assert (\dut.few == 3 * was_eager_below
            && (!was_held || (held && was_adaptive && was_max == bound)));
        state_measure: assert (\dut.count == came && \dut.running == any_packet && came <= 4 * LANES
            && \dut.elapsed == cycles && (any_packet || (came == 0 && cycles == 0)));
        state_average: assert (\dut.known == measured
            && (measured ? {shortest, 3'd0} <= \dut.total && \dut.total <= {longest, 3'd0} : \dut.total == 0));

        two_measures: cover (measured && shortest == 2 && longest == 5 && \dut.total == 19);
        measured_timeout: cover (adaptive && timeout == 6 && fixed != 6 && min == 0 && max == 9 && factor == 8);
        waits_to_the_end: cover (waited == 3 && bound == 3);
        not_eager: cover (adaptive && warps == 2 && was_eager_below == 2);
    end
endmodule
