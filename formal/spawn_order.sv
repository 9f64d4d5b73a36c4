// Rule S6: jobs leave in the order of their triggers, each once, and none is lost.
//
// Triggers are numbered, modulo 32. The RAM is replaced by one of registers, which the induction
// can look into.
module ram_async_4_4 (
    input wire clk, input wire write_enable, input wire [3:0] write_address, input wire [3:0] write_data,
    input wire [3:0] read_address, output wire [3:0] read_data
);
    reg [16*4-1:0] all;
    always @(posedge clk) if (write_enable) all[4*write_address +: 4] <= write_data;
    assign read_data = all[4*read_address +: 4];
endmodule

module spawn_order_formal (
    input wire       clk,
    input wire       rst,
    input wire       push,
    input wire [3:0] push_slot,
    input wire       take
);
    wire       valid;
    wire [3:0] slot;
    spawn_order dut (
        .clk(clk), .rst(rst), .push(push), .push_slot(push_slot), .valid(valid), .slot(slot), .take(take)
    );
    (* hierconn *) wire [16*4-1:0] \dut.slots.all ;
    (* hierconn *) wire [4:0] \dut.head ;
    (* hierconn *) wire [4:0] \dut.tail ;

    `include "start.vh"

    // The slots whose job waits, the number of its trigger, and the numbers of the next job that
    // comes and that goes.
    reg  [15:0] waiting;
    reg  [4:0]  number [0:15];
    reg  [4:0]  next_in, next_out;
    wire [4:0]  inside = next_in - next_out;
    wire        leaves = valid && take;
    wire [15:0] pushed = push << push_slot;
    wire [15:0] left = leaves << slot;
    // The contract: a slot is pushed again only after it was taken. So at most 16 wait.
    always @* assume (!push || (!waiting[push_slot] && inside < 16));

    reg [4:0] laps;
    always @(posedge clk) begin
        waiting <= (waiting | pushed) & ~left;
        if (push) number[push_slot] <= next_in;
        next_in <= next_in + push;
        next_out <= next_out + leaves;
        laps <= laps + (leaves && laps != 31);
        if (rst) begin
            waiting <= 0;
            next_in <= 0;
            next_out <= 0;
            laps <= 0;
        end
    end

    // Each place in use has a job that waits, with the number of the place.
    integer i;
    reg [3:0] job, behind;
    reg places_agree;
    always @* begin
        places_agree = 1;
        for (i = 0; i < 16; i = i + 1) begin
            job = \dut.slots.all [4*i +: 4];
            behind = i - next_out;
            if (behind < inside && !(waiting[job] && number[job] == ((next_out + behind) & 31))) places_agree = 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        // None is lost: while one waits, one is shown.
        if (inside != 0 || push) shown_at_once: assert (valid);
        if (inside == 0 && !push) nothing_from_nothing: assert (!valid);
        if (valid) each_once: assert (waiting[slot] || pushed[slot]);
        if (inside != 0) in_order: assert (number[slot] == next_out);
        if (inside == 0 && push) passes_through: assert (slot == push_slot);

        // What the induction needs to know of the state.
        state_pointers: assert (\dut.head == next_out && \dut.tail == next_in && inside <= 16);
        state_places: assert (places_agree);

        all_wait: cover (inside == 16 && number[7] == 0 && number[0] == 15);
        a_lap: cover (laps == 18 && inside == 2);
        taken_at_once: cover (inside == 0 && leaves && laps == 3);
    end
endmodule
