// Rule C1: stores leave in the order in which they retired, unchanged, none is lost, and the buffer waits for nothing. Rule C3
// rests on the count of what a hart has outstanding: it is exact.
//
// Beside the unit runs a queue that shifts, whose oldest store is always in place 0. The RAM is replaced by one of registers,
// which the induction can look into.
module ram_sized_async_71_4 (
    input wire clk, input wire write_enable, input wire [15:0] write_address, input wire [70:0] write_data,
    input wire [15:0] read_address, output wire [70:0] read_data
);
    reg [16*71-1:0] all;
    always @(posedge clk) if (write_enable) all[71*write_address[3:0] +: 71] <= write_data;
    assign read_data = all[71*read_address[3:0] +: 71];
endmodule

module store_buffer_formal (
    input wire        clk,
    input wire        rst,
    input wire        push_valid,
    input wire [2:0]  push_hart,
    input wire [29:0] push_place,
    input wire [31:0] push_data,
    input wire [3:0]  push_strobe,
    input wire        write_ready,
    input wire        written_valid,
    input wire [5:0]  written_tag
);
    wire [7:0]   none, full;
    wire         write_valid;
    wire [25:0]  write_line;
    wire [511:0] write_data;
    wire [63:0]  write_strobe;
    wire [5:0]   write_tag;
    store_buffer dut (
        .clk(clk), .rst(rst), .push_valid(push_valid), .push_hart(push_hart), .push_place(push_place),
        .push_data(push_data), .push_strobe(push_strobe), .none(none), .full(full), .write_valid(write_valid),
        .write_ready(write_ready), .write_line(write_line), .write_data(write_data), .write_strobe(write_strobe),
        .write_tag(write_tag), .written_valid(written_valid), .written_tag(written_tag)
    );
    (* hierconn *) wire [70:0] \dut.entries_write_data ;
    (* hierconn *) wire [16*71-1:0] \dut.entries.all ;
    (* hierconn *) wire [4:0] \dut.queue.head ;
    (* hierconn *) wire [4:0] \dut.queue.tail ;
    (* hierconn *) wire \dut.queue.all_used ;
    (* hierconn *) wire [7:0] \dut.numbers_0 ;
    (* hierconn *) wire [7:0] \dut.numbers_1 ;

    `include "start.vh"

    // Two harts with eight numbers each: tags 0 to 15.
    wire [4:0] tag = \dut.entries_write_data [70:66];
    reg  [70:0] queue [0:15];
    reg  [4:0]  inside;
    reg  [15:0] queued, sent;
    wire pop = write_valid && write_ready;
    wire [15:0] starts = push_valid << tag[3:0];
    wire [15:0] leaves = pop << write_tag[3:0];
    wire [15:0] ends = written_valid << written_tag[3:0];
    integer i, j;
    reg [4:0] places;
    always @* begin
        places = 0;
        for (i = 0; i < 16; i = i + 1) places = places + queued[i];
    end
    // The contract: a hart that there is, with a place for its store; acknowledged is what was accepted.
    always @* begin
        assume (push_hart < 2);
        assume (!push_valid || !full[push_hart]);
        assume (!written_valid || (written_tag < 16 && sent[written_tag[3:0]]));
    end
    always @(posedge clk) begin
        for (i = 0; i < 15; i = i + 1) if (pop) queue[i] <= queue[i+1];
        if (push_valid) queue[inside - pop] <= {tag, push_strobe, push_place, push_data};
        inside <= inside + push_valid - pop;
        queued <= (queued & ~leaves) | starts;
        sent <= (sent & ~ends) | leaves;
        if (rst) begin
            inside <= 0;
            queued <= 0;
            sent <= 0;
        end
    end
    reg        held;
    reg [31:0] laps;
    always @(posedge clk) begin
        held <= write_valid && !write_ready && !rst;
        laps <= rst ? 0 : laps + pop;
    end

    // The RAM holds what is in the queue, under numbers of its own.
    reg words_agree, tags_are_queued, tags_differ;
    always @* begin
        words_agree = 1;
        tags_are_queued = 1;
        tags_differ = 1;
        for (i = 0; i < 16; i = i + 1) if (i < inside) begin
            if (\dut.entries.all [71 * ((\dut.queue.head + i) & 15) +: 71] != queue[i]) words_agree = 0;
            if (queue[i][70] || !queued[queue[i][69:66]]) tags_are_queued = 0;
            for (j = 0; j < i; j = j + 1) if (queue[i][70:66] == queue[j][70:66]) tags_differ = 0;
        end
    end

    // What the oldest store writes.
    wire [31:0] word = queue[0][31:0];
    wire [29:0] place = queue[0][61:32];
    wire [3:0]  strobe = queue[0][65:62];

    always @(posedge clk) if (started && !rst) begin
        // C1.
        if (inside != 0) offered_at_once: assert (write_valid);
        if (inside == 0) nothing_from_nothing: assert (!write_valid);
        if (inside != 0) oldest_first: assert (write_line == place[29:4] && write_tag == {1'b0, queue[0][70:66]});
        if (inside != 0) word_is_kept: assert (write_data == {16{word}});
        if (inside != 0) bytes_are_kept: assert (write_strobe == (64'd0 | strobe) << {place[3:0], 2'b00});
        if (held) offer_stands: assert (write_valid);
        never_overfull: assert (inside <= 16);
        // The count.
        none_is_exact: assert (none == {6'd0, (queued[15:8] | sent[15:8]) == 0, (queued[7:0] | sent[7:0]) == 0});
        full_is_exact: assert (full == {6'd0, (queued[15:8] | sent[15:8]) == 255, (queued[7:0] | sent[7:0]) == 255});
        if (push_valid) number_is_free: assert (tag < 16 && !queued[tag[3:0]] && !sent[tag[3:0]]);
        if (push_valid) hart_is_its_own: assert (tag[4:3] == push_hart[1:0]);

        // What the induction needs to know of the state.
        state_pointers: assert (!\dut.queue.all_used && \dut.queue.tail == \dut.queue.head + inside);
        state_numbers: assert ({ \dut.numbers_1 , \dut.numbers_0 } == (queued | sent) && (queued & sent) == 0);
        state_places: assert (places == inside);
        state_words: assert (words_agree);
        state_queued: assert (tags_are_queued);
        state_differ: assert (tags_differ);

        all_outstanding: cover (queued == 16'h0ff0 && sent == 16'hf00f);
        a_lap: cover (laps == 20 && inside == 2);
        acknowledged_out_of_order: cover (sent == 16'h0006 && queued == 0);
    end
endmodule
