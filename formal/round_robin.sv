// The round-robin choice: one at a time, only who asks, and everybody's turn comes.
//
// Of all requesters one is followed, whichever: `follow` says who.
module round_robin_formal (
    input wire        clk,
    input wire        rst,
    input wire [31:0] request,
    input wire        advance
);
    wire        any;
    wire [31:0] grant;
    wire [4:0]  index;
    (* anyconst *) reg [4:0] follow;
    round_robin dut (
        .clk(clk), .rst(rst), .request(request), .advance(advance), .any(any), .grant(grant), .index(index)
    );
    (* hierconn *) wire [31:0] \dut.above ;

    `include "start.vh"

    // Who used a choice since the followed one began to ask.
    reg [31:0] used;
    wire waits = request[follow] && !grant[follow];
    always @(posedge clk) begin
        if (!request[follow] || (advance && grant[follow])) used <= 0;
        else if (advance) used <= used | grant;
        if (rst) used <= 0;
    end

    // Bits up to the followed one, and who may come before it.
    wire [31:0] up_to = ((32'd1 << follow) << 1) - 32'd1;
    wire [31:0] before = \dut.above [follow] ? (\dut.above & up_to) : (\dut.above | up_to);

    always @(posedge clk) if (started && !rst) begin
        at_most_one: assert ((grant & (grant - 1)) == 0);
        only_who_asks: assert ((grant & ~request) == 0);
        somebody_if_asked: assert (any == (request != 0) && (grant != 0) == any);
        index_is_the_choice: assert (grant == (any ? 32'd1 << index : 0) && (any || index == 0));
        // While one waits nobody else is chosen twice: it waits for at most one use by each other
        // requester.
        if (waits) no_starvation: assert ((grant & used) == 0);

        // What the induction needs to know of the state.
        state_above: assert ((~\dut.above & (~\dut.above + 1)) == 0);
        state_used: assert ((used & before) == 0);

        last_of_all: cover (used == 32'h00000055 && grant[follow] && advance && follow == 8);
        wraps: cover (used[30] && used[1] && grant[follow]);
    end
endmodule
