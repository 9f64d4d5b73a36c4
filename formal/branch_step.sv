// Where packets branch, a lane of an entry visits what its edges lead to, in ascending order and
// none twice; one that ended never comes back; after each finish the entry goes on or is done, two
// cycles later. Two entries, three lanes; edges that lead to higher functions, others in each
// cycle. One lane of one entry is followed, whichever.
module branch_step_formal (
    input wire         clk,
    input wire         rst,
    input wire         start,
    input wire         start_index,
    input wire         start_new,
    input wire [2:0]   start_function,
    input wire [7:0]   start_lanes,
    input wire         finish,
    input wire         finish_index,
    input wire [31:0]  finish_codes,
    input wire [43:0]  finish_edges
);
    wire        onward, done, index;
    wire [2:0]  target;
    wire [31:0] lanes;
    // Of each entry: its function, its lanes there, and where it is.
    reg [2:0] function_0, function_1;
    reg [7:0] lanes_0, lanes_1;
    reg [1:0] running, read, moved, waits;
    wire [2:0] finish_function = finish_index ? function_1 : function_0;
    branch_step dut (
        .clk(clk), .rst(rst), .start(start), .start_index(start_index), .start_new(start_new), .finish(finish),
        .finish_index(finish_index), .finish_lanes({24'd0, finish_index ? lanes_1 : lanes_0}),
        .finish_codes({96'd0, finish_codes}), .finish_edges(finish_edges), .onward(onward), .done(done), .index(index),
        .target(target), .lanes(lanes)
    );

    `include "start.vh"

    wire [1:0] used = running | read | moved | waits;
    // What waits for its next visit, as the step told it.
    reg [2:0] next_0, next_1;
    reg [7:0] left_0, left_1;
    integer i;
    always @* begin
        // Three lanes of a byte say what all do: they share nothing.
        if (start && start_new) assume (!used[start_index] && start_lanes != 0 && start_lanes < 8);
        if (start && !start_new) begin
            assume (waits[start_index]);
            assume (start_function == (start_index ? next_1 : next_0));
            assume (start_lanes == (start_index ? left_1 : left_0));
        end
        if (finish) assume (running[finish_index]);
        for (i = 0; i < 11; i = i + 1)
            if (finish && finish_edges[4*i+3]) assume (finish_edges[4*i +: 3] > finish_function);
    end

    (* anyconst *) reg       followed;
    (* anyconst *) reg [2:0] lane;
    // The lane is at the function, waits for one, or has ended; the last function that it visited.
    reg       at_function, waiting, visited_any;
    reg [2:0] wanted, last;
    wire [3:0] code = finish_codes[4*lane +: 4];
    wire [63:0] all_edges = {20'd0, finish_edges};
    wire [3:0] edge_of_code = all_edges[4*code +: 4];
    wire starts = start && start_index == followed;
    wire finishes = finish && finish_index == followed;
    always @(posedge clk) begin
        running <= (running | (start << start_index)) & ~(finish << finish_index);
        read <= finish << finish_index;
        moved <= read;
        waits <= (waits | (onward << index)) & ~((start && !start_new) << start_index);
        if (start && !start_index) begin function_0 <= start_function; lanes_0 <= start_lanes; end
        if (start && start_index) begin function_1 <= start_function; lanes_1 <= start_lanes; end
        if (onward && !index) begin next_0 <= target; left_0 <= lanes[7:0]; end
        if (onward && index) begin next_1 <= target; left_1 <= lanes[7:0]; end
        if (starts) begin
            at_function <= start_lanes[lane];
            if (start_new) begin waiting <= 0; visited_any <= start_lanes[lane]; end
            if (start_lanes[lane]) begin last <= start_function; visited_any <= 1; waiting <= 0; end
        end
        if (finishes && at_function) begin
            at_function <= 0;
            waiting <= edge_of_code[3];
            wanted <= edge_of_code[2:0];
        end
        if (rst) begin
            running <= 0; read <= 0; moved <= 0; waits <= 0;
            at_function <= 0; waiting <= 0; visited_any <= 0;
        end
    end

    wire here = (onward || done) && index == followed;
    wire [2:0] function_now = followed ? function_1 : function_0;
    always @* if (started && !rst) begin
        goes_on_or_is_done:  assert ((onward || done) == (moved != 0) && !(onward && done));
        of_the_one_that_did: assert (!(onward || done) || moved[index]);
        visits_ascend:       assert (!(here && onward) || target > function_now);
        lane_as_its_edge:    assert (!(here && onward) || lanes[lane] == (waiting && wanted == target));
        lowest_first:        assert (!(here && onward && waiting) || target <= wanted);
        no_lane_is_left:     assert (!(here && done) || !waiting);
        some_lane_goes_on:   assert (!onward || lanes != 0);
        no_lane_twice:       assert (!(starts && !start_new && start_lanes[lane]) || (visited_any && start_function > last));
        none_comes_back:     assert (!(starts && !start_new && start_lanes[lane]) || waiting);
        no_lane_beyond:      assert (lanes[31:8] == 0);
    end

    always @* if (started && !rst) begin
        meets_again:  cover (here && onward && lanes[lane] && last != function_now && visited_any);
        waits_longer: cover (here && onward && waiting && !lanes[lane]);
        ends_later:   cover (here && done && last == 3);
    end
endmodule
