// The FIFO hands on every word once, in order, and is full and empty when it says so.
//
// Of all the words one is followed, whichever: `follow` says when. The words ahead of it are
// counted, and it must come out unchanged after just that many others.
module sync_fifo_formal (
    input wire       clk,
    input wire       rst,
    input wire       push_valid,
    input wire [3:0] push_data,
    input wire       pop_ready,
    input wire       follow
);
    wire       push_ready, pop_valid;
    wire [3:0] pop_data;
    wire [2:0] level;
    sync_fifo dut (
        .clk(clk), .rst(rst), .push_valid(push_valid), .push_ready(push_ready), .push_data(push_data),
        .pop_valid(pop_valid), .pop_ready(pop_ready), .pop_data(pop_data), .level(level)
    );

    `include "start.vh"

    wire push = push_valid && push_ready;
    wire pop = pop_valid && pop_ready;

    reg [2:0] inside;
    reg       following;
    reg [2:0] ahead;
    reg [3:0] word;
    reg       hidden, held;
    reg [3:0] held_data;
    reg       was_full;
    reg [3:0] distinct;
    always @(posedge clk) begin
        inside <= inside + push - pop;
        if (push && follow && !following) begin
            following <= 1;
            ahead <= inside - pop;
            word <= push_data;
        end else if (following && pop) begin
            if (ahead == 0) following <= 0;
            ahead <= ahead - 1;
        end
        hidden <= inside != 0 && !pop_valid;
        held <= pop_valid && !pop_ready;
        held_data <= pop_data;
        if (inside == 4) was_full <= 1;
        if (push) distinct <= distinct + (distinct != 15);
        if (rst) begin
            inside <= 0;
            following <= 0;
            hidden <= 0;
            held <= 0;
            was_full <= 0;
            distinct <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        // A word comes out as it went in, after all words before it and before all words after it:
        // no other order, no loss, no duplicate.
        if (following && pop_valid && ahead == 0) in_order: assert (pop_data == word);
        // Nothing comes out that did not go in, and all that went in is accounted for.
        nothing_from_nothing: assert (!pop_valid || inside != 0);
        level_is_exact: assert (level == inside);
        // Full means four words, not fewer; more never fit.
        full_is_exact: assert (push_ready == (inside != 4));
        never_overfull: assert (inside <= 4);
        // A word shows after one cycle in hiding at most.
        shows_soon: assert (!(hidden && inside != 0) || pop_valid);
        // The output holds still until it is taken.
        if (held) output_is_stable: assert (pop_valid && pop_data == held_data);

        filled_and_emptied: cover (was_full && inside == 0 && distinct > 8);
        full_and_moving: cover (inside == 4 && pop);
        streaming: cover (inside == 2 && push && pop && distinct > 8);
    end
endmodule
