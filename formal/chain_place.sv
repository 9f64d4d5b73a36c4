// An entry is in one place: free, running, in the FIFO of its next function, or done. No FIFO
// refuses an entry, and what comes out is the oldest that went in.
//
// Two functions, four entries; packets go from function 0 to function 1.
module chain_place_formal (
    input wire        clk,
    input wire        rst,
    input wire [10:0] limit,
    input wire        goes_on,
    input wire        enter,
    input wire [1:0]  enter_index,
    input wire        leave,
    input wire        finish,
    input wire [1:0]  finish_index,
    input wire [31:0] survivors,
    input wire        take
);
    wire        done, room;
    wire [7:0]  waiting;
    wire [1:0]  taken_index;
    wire [10:0] queued, peak;
    // The function of the warp that finishes, as it started last.
    reg [3:0] second;
    chain_place dut (
        .clk(clk), .rst(rst), .control_limit(limit), .control_entry(3'd0), .control_goes_on({7'd0, goes_on}),
        .control_targets(24'd1), .enter(enter), .enter_index(enter_index), .enter_packet(32'd0), .enter_count(6'd1),
        .leave(leave), .finish(finish), .finish_index(finish_index), .finish_function({2'd0, second[finish_index]}),
        .finished_survivors(survivors), .finished_ended(32'd0), .done(done), .waits_waiting(waiting), .waits_room(room),
        .waits_take(take), .waits_function(3'd1), .waits_core(5'd0), .waits_slot(5'd0), .taken_index(taken_index),
        .select(3'd1), .queued(queued), .peak(peak)
    );
    (* hierconn *) wire \dut.fifo_0.push_valid ;
    (* hierconn *) wire \dut.fifo_0.push_ready ;

    `include "start.vh"

    reg [3:0] running, waits, ended;
    wire [3:0] used = running | waits | ended;
    wire [2:0] in_fifo = waits[0] + waits[1] + waits[2] + waits[3];
    wire [2:0] in_flight = used[0] + used[1] + used[2] + used[3];
    wire hops = finish && !done;
    always @* begin
        if (enter) assume (!used[enter_index] && room);
        if (finish) assume (running[finish_index]);
        if (leave) assume (ended != 0);
        if (take) assume (waiting[1]);
    end
    // The entry that is followed, whichever, and how many are in front of it in the FIFO.
    (* anyconst *) reg [1:0] followed;
    reg [2:0] ahead;
    reg [1:0] hidden;
    // Of the entries that are done any may leave: the queue says which.
    wire [3:0] left = ended & (~ended + 1);
    always @(posedge clk) begin
        running <= (running | (enter << enter_index) | (take << taken_index)) & ~(finish << finish_index);
        waits <= (waits | (hops << finish_index)) & ~(take << taken_index);
        ended <= (ended | ((finish && done) << finish_index)) & ~(leave ? left : 4'd0);
        second <= (second | (take << taken_index)) & ~(enter << enter_index);
        if (hops && finish_index == followed) ahead <= in_fifo - take;
        else if (take && waits[followed]) ahead <= ahead - 1;
        hidden <= waits != 0 && !waiting[1] ? hidden + 1 : 0;
        if (rst) begin
            running <= 0;
            waits <= 0;
            ended <= 0;
            second <= 0;
            ahead <= 0;
            hidden <= 0;
        end
    end

    always @* if (started && !rst) begin
        no_fifo_refuses:       assert (!\dut.fifo_0.push_valid || \dut.fifo_0.push_ready );
        taken_one_waited:      assert (!take || waits[taken_index]);
        oldest_comes_first:    assert (!take || !waits[followed] || (taken_index == followed) == (ahead == 0));
        places_differ:         assert (!(running & waits) && !(running & ended) && !(waits & ended));
        level_is_what_waits:   assert (queued == in_fifo);
        done_at_the_last:      assert (!finish || !second[finish_index] || done);
        done_without_survivor: assert (!finish || survivors != 0 || done);
        goes_on_with_one:      assert (!finish || second[finish_index] || survivors == 0 || !goes_on || !done);
        shown_in_time:         assert (hidden < 2);
        limit_is_kept:         assert (!room || limit == 0 || in_flight < limit);
    end

    always @* if (started && !rst) begin
        all_wait:     cover (in_fifo == 4);
        last_is_out:  cover (take && taken_index == followed && ahead == 0 && in_fifo == 1 && peak == 4);
    end
endmodule
