// Where packets branch, an entry is in one place: free, running, on its way for two cycles, in the
// FIFO of its next function, or done. No FIFO refuses an entry, and what comes out waited there.
// Three functions, two entries, eight lanes; edges by verdict to higher functions, others in each
// cycle.
module branch_place_formal (
    input wire         clk,
    input wire         rst,
    input wire [10:0]  limit,
    input wire [7:0]   goes_on,
    input wire [23:0]  targets,
    input wire [255:0] ports,
    input wire [63:0]  ends,
    input wire         enter,
    input wire         enter_index,
    input wire         leave,
    input wire         finish,
    input wire         finish_index,
    input wire [2:0]   finish_function,
    input wire [7:0]   finish_lanes,
    input wire [7:0]   forwards,
    input wire [31:0]  codes,
    input wire         take,
    input wire [2:0]   take_function
);
    wire        done, room, ended;
    wire [7:0]  waiting;
    wire        taken_index, ended_index;
    wire [10:0] queued, peak;
    branch_place dut (
        .clk(clk), .rst(rst), .control_limit(limit), .control_entry(3'd0), .control_goes_on(goes_on),
        .control_targets(targets), .edges_ports(ports), .edges_ends(ends), .enter(enter), .enter_index(enter_index),
        .enter_packet(32'd0), .enter_count(6'd1), .leave(leave), .finish(finish), .finish_index(finish_index),
        .finish_function(finish_function), .finished_survivors({24'd0, finish_lanes & forwards}),
        .finished_ended({24'd0, finish_lanes & ~forwards}), .finish_codes({96'd0, codes}), .done(done), .ended(ended),
        .ended_index(ended_index), .waits_waiting(waiting), .waits_room(room), .waits_take(take),
        .waits_function(take_function), .waits_core(5'd0), .waits_slot(5'd0), .taken_index(taken_index),
        .select(3'd1), .queued(queued), .peak(peak)
    );
    (* hierconn *) wire \dut.fifo_0.push_valid ;
    (* hierconn *) wire \dut.fifo_0.push_ready ;
    (* hierconn *) wire \dut.fifo_1.push_valid ;
    (* hierconn *) wire \dut.fifo_1.push_ready ;

    `include "start.vh"

    // Links and edges as the registers keep them: to functions 1 and 2, above their own.
    integer i;
    always @* begin
        assume (!goes_on[0] || targets[2:0] == 1 || targets[2:0] == 2);
        assume (!goes_on[1] || targets[5:3] == 2);
        assume (!goes_on[2]);
        for (i = 0; i < 8; i = i + 1) begin
            if (ports[4*i+3]) assume (ports[4*i +: 3] == 1 || ports[4*i +: 3] == 2);
            if (ports[32+4*i+3]) assume (ports[32+4*i +: 3] == 2);
            assume (!ports[64+4*i+3]);
        end
        for (i = 0; i < 2; i = i + 1) begin
            if (ends[4*i+3]) assume (ends[4*i +: 3] == 1 || ends[4*i +: 3] == 2);
            if (ends[8+4*i+3]) assume (ends[8+4*i +: 3] == 2);
            assume (!ends[16+4*i+3]);
        end
    end

    reg [1:0] running, read, moved, first_fifo, second_fifo, over, was_first, was_second;
    wire [1:0] used = running | read | moved | first_fifo | second_fifo | over;
    wire [1:0] in_flight = used[0] + used[1];
    wire [1:0] in_first = first_fifo[0] + first_fifo[1];
    always @* begin
        if (enter) assume (!used[enter_index] && room && !take);
        if (finish) assume (running[finish_index]);
        assume (finish_function < 3);
        if (leave) assume (over != 0);
        assume (take_function == 1 || take_function == 2);
        if (take) assume (waiting[take_function]);
    end
    wire [1:0] left = over & (~over + 1);
    wire takes_first = take && take_function == 1;
    wire takes_second = take && take_function == 2;
    wire [1:0] to_first = \dut.fifo_0.push_valid ? moved : 2'd0;
    wire [1:0] to_second = \dut.fifo_1.push_valid ? moved : 2'd0;
    always @(posedge clk) begin
        running <= (running | (enter << enter_index) | (take << taken_index)) & ~(finish << finish_index);
        read <= finish << finish_index;
        moved <= read;
        first_fifo <= (first_fifo | to_first) & ~(takes_first << taken_index);
        second_fifo <= (second_fifo | to_second) & ~(takes_second << taken_index);
        over <= (over | (ended << ended_index)) & ~(leave ? left : 2'd0);
        was_first <= (was_first | (takes_first << taken_index)) & ~(enter << enter_index);
        was_second <= (was_second | (takes_second << taken_index)) & ~(enter << enter_index);
        if (rst) begin
            running <= 0; read <= 0; moved <= 0; first_fifo <= 0; second_fifo <= 0; over <= 0;
        end
    end

    always @* if (started && !rst) begin
        no_fifo_refuses:    assert ((!\dut.fifo_0.push_valid || \dut.fifo_0.push_ready )
                                    && (!\dut.fifo_1.push_valid || \dut.fifo_1.push_ready ));
        first_one_waited:   assert (!takes_first || first_fifo[taken_index]);
        second_one_waited:  assert (!takes_second || second_fifo[taken_index]);
        to_one_place:       assert (2'd0 + \dut.fifo_0.push_valid + \dut.fifo_1.push_valid + ended == (moved != 0));
        ended_one_moved:    assert (!ended || moved[ended_index]);
        places_differ:      assert (3'd0 + running[0] + read[0] + moved[0] + first_fifo[0] + second_fifo[0] + over[0] < 2
                                    && 3'd0 + running[1] + read[1] + moved[1] + first_fifo[1] + second_fifo[1] + over[1] < 2);
        level_is_what_waits: assert (queued == in_first);
        not_done_at_once:   assert (!done);
        limit_is_kept:      assert (!room || limit == 0 || in_flight < limit);
    end

    always @* if (started && !rst) begin
        all_wait:      cover (in_first == 2);
        three_visits:  cover (ended && was_first[ended_index] && was_second[ended_index]);
    end
endmodule
