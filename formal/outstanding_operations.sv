// A warp is busy from the start of an operation to the completion of its last one.
//
// Of all warps one is followed, whichever, and of its operations one, whichever; of the RAM the row
// of the warp (see tracked_ram.sv). Operations are known by their number modulo 64.
module outstanding_operations_formal (
    input wire       clk,
    input wire       rst,
    input wire       start_valid,
    input wire [4:0] start_slot,
    input wire       done_valid,
    input wire [4:0] done_slot,
    input wire [4:0] slot,
    input wire [4:0] other_slot,
    input wire       follow
);
    wire [31:0] busy;
    wire slot_busy, other_busy;
    (* anyconst *) reg [4:0] warp;
    outstanding_operations dut (
        .clk(clk), .rst(rst), .start_valid(start_valid), .start_slot(start_slot), .done_valid(done_valid),
        .done_slot(done_slot), .busy(busy), .slot(slot), .slot_busy(slot_busy), .other_slot(other_slot), .other_busy(other_busy)
    );
    (* hierconn *) wire [4:0] \dut.youngest.tracked ;
    assign \dut.youngest.tracked = warp;
    (* hierconn *) wire [5:0] \dut.youngest.word ;
    (* hierconn *) wire [5:0] \dut.started ;
    (* hierconn *) wire [5:0] \dut.completed ;
    (* hierconn *) wire \dut.start_q ;
    (* hierconn *) wire [4:0] \dut.start_slot_q ;
    (* hierconn *) wire [31:0] \dut.busy_q ;

    `include "start.vh"

    // Numbers of the next operation to start, of the next to complete, and of the warp's youngest
    // one.
    reg [5:0] next, oldest, youngest;
    wire [5:0] outstanding = next - oldest;
    reg waits;
    // An operation started a cycle ago.
    reg just_started;
    // The followed operation.
    reg following;
    reg [5:0] operation;
    always @* begin
        // Up to 63 are outstanding, and they complete in the order of their start, each with its
        // own slot.
        assume (!start_valid || outstanding != 63);
        assume (!done_valid || outstanding > just_started);
        if (done_valid && waits && oldest == youngest) assume (done_slot == warp);
        if (done_valid && following && oldest == operation) assume (done_slot == warp);
        if (done_valid && !waits) assume (done_slot != warp);
    end
    wire starts = start_valid && start_slot == warp;
    wire just_mine = just_started && \dut.start_slot_q == warp;
    always @(posedge clk) begin
        next <= next + start_valid;
        just_started <= start_valid;
        oldest <= oldest + done_valid;
        if (starts) begin
            youngest <= next;
            waits <= 1;
        end else if (done_valid && oldest == youngest) waits <= 0;
        if (starts && follow && !following) begin
            following <= 1;
            operation <= next;
        end else if (done_valid && oldest == operation) following <= 0;
        if (rst) begin
            next <= 0;
            just_started <= 0;
            oldest <= 0;
            waits <= 0;
            following <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        if (following) busy_while_outstanding: assert (busy[warp]);
        if (!waits) idle_when_all_completed: assert (!busy[warp]);
        asked_of_two_slots: assert (slot_busy == busy[slot] && other_busy == busy[other_slot]);

        // What the induction needs to know of the state.
        state_numbers: assert (\dut.started == next - just_started && \dut.completed == oldest
            && \dut.start_q == just_started && outstanding >= just_started && (!just_mine || (waits && youngest == \dut.started )));
        state_busy: assert (busy[warp] == waits
            && (!following || (waits && (operation - oldest) <= (youngest - oldest))));
        if (waits) state_youngest: assert ((just_mine || \dut.youngest.word == youngest) && (youngest - oldest) < outstanding);

        two_of_a_warp: cover (following && operation != youngest && outstanding == 5);
        numbers_wrap: cover (oldest > 60 && next < 4 && outstanding != 0 && following);
    end
endmodule
