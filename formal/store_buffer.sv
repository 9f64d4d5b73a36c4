// Rule C1: stores leave in the order in which they retired, unchanged, none is lost, and the buffer
// waits for nothing. Rule C3 rests on the count of what a hart has outstanding: it is exact.
//
// Of all stores one is followed, whichever goes to place `slot` while `follow` is high: the stores
// ahead of it are counted, and it must come out unchanged after just that many. The RAM is replaced
// by one that keeps the tags of all places, and of the rest the word of that place; all others read
// as anything.
module ram_sized_async_71_3 (
    input wire clk, input wire write_enable, input wire [15:0] write_address, input wire [70:0] write_data,
    input wire [15:0] read_address, output wire [70:0] read_data
);
    wire [2:0]  tracked;
    reg  [65:0] word;
    reg  [39:0] tags;
    (* anyseq *) wire [65:0] other;
    always @(posedge clk) if (write_enable) begin
        if (write_address[2:0] == tracked) word <= write_data[65:0];
        tags[5*write_address[2:0] +: 5] <= write_data[70:66];
    end
    assign read_data = {tags[5*read_address[2:0] +: 5], read_address[2:0] == tracked ? word : other};
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
    input wire [5:0]  written_tag,
    input wire        follow
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
        .write_tag(write_tag), .write_written_valid(written_valid), .write_written_tag(written_tag)
    );
    (* anyconst *) reg [2:0] slot;
    (* hierconn *) wire [2:0] \dut.entries.tracked ;
    assign \dut.entries.tracked = slot;
    (* hierconn *) wire [65:0] \dut.entries.word ;
    (* hierconn *) wire [39:0] \dut.entries.tags ;
    (* hierconn *) wire [4:0] \dut.queue_.head ;
    (* hierconn *) wire [4:0] \dut.queue_.tail ;
    (* hierconn *) wire \dut.queue_.all_used ;
    (* hierconn *) wire [7:0] \dut.numbers_0 ;
    (* hierconn *) wire [4:0] \dut.tag ;

    `include "start.vh"

    // One hart with eight numbers: tags 0 to 7.
    wire [4:0] tag = \dut.tag ;
    reg  [4:0]  inside, ahead;
    reg         following;
    reg  [70:0] followed;
    reg  [7:0]  sent;
    wire [7:0]  outstanding = \dut.numbers_0 ;
    wire [7:0]  queued = outstanding & ~sent;
    wire pop = write_valid && write_ready;
    wire [7:0]  starts = push_valid << tag[2:0];
    wire [7:0]  leaves = pop << write_tag[2:0];
    wire [7:0]  ends = written_valid << written_tag[2:0];
    integer i, j;
    // How many are outstanding, and how many of these were accepted: counted, and in the sets.
    reg [3:0] outstanding_count, sent_count;
    function [3:0] ones(input [7:0] set);
        ones = set[0] + set[1] + set[2] + set[3] + set[4] + set[5] + set[6] + set[7];
    endfunction
    // The contract: a hart that there is, with a place for its store; acknowledged is what was
    // accepted.
    always @* begin
        assume (push_hart == 0);
        assume (!push_valid || !full[0]);
        assume (!written_valid || (written_tag < 8 && sent[written_tag[2:0]]));
    end
    always @(posedge clk) begin
        if (push_valid && follow && !following && \dut.queue_.tail [2:0] == slot) begin
            following <= 1;
            ahead <= inside - pop;
            followed <= {tag, push_strobe, push_place, push_data};
        end else if (following && pop) begin
            if (ahead == 0) following <= 0;
            ahead <= ahead - 1;
        end
        inside <= inside + push_valid - pop;
        outstanding_count <= outstanding_count + push_valid - written_valid;
        sent_count <= sent_count + pop - written_valid;
        sent <= (sent & ~ends) | leaves;
        if (rst) begin
            inside <= 0;
            following <= 0;
            sent <= 0;
            outstanding_count <= 0;
            sent_count <= 0;
        end
    end
    reg        held;
    reg [3:0]  laps;
    always @(posedge clk) begin
        held <= write_valid && !write_ready && !rst;
        laps <= rst ? 0 : laps + pop;
    end

    // The tags in the places that are used: outstanding, and each once.
    reg [7:0] used;
    reg tags_are_queued, tags_differ;
    always @* begin
        tags_are_queued = 1;
        tags_differ = 1;
        for (i = 0; i < 8; i = i + 1) used[i] = ((i - \dut.queue_.head ) & 7) < inside;
        for (i = 0; i < 8; i = i + 1) if (used[i]) begin
            if (\dut.entries.tags [5*i+3 +: 2] != 0 || !queued[\dut.entries.tags [5*i +: 3]]) tags_are_queued = 0;
            for (j = 0; j < i; j = j + 1)
                if (used[j] && \dut.entries.tags [5*i +: 5] == \dut.entries.tags [5*j +: 5]) tags_differ = 0;
        end
    end

    // What the followed store writes.
    wire        its_turn = following && ahead == 0;
    wire [31:0] word = followed[31:0];
    wire [29:0] place = followed[61:32];
    wire [3:0]  strobe = followed[65:62];

    always @(posedge clk) if (started && !rst) begin
        // C1.
        if (inside != 0) offered_at_once: assert (write_valid);
        if (inside == 0) nothing_from_nothing: assert (!write_valid);
        if (its_turn) in_order: assert (write_valid && write_line == place[29:4] && write_tag == {1'b0, followed[70:66]});
        if (its_turn) word_is_kept: assert (write_data == {16{word}});
        if (its_turn) bytes_are_kept: assert (write_strobe == (64'd0 | strobe) << {place[3:0], 2'b00});
        if (held) offer_stands: assert (write_valid);
        never_overfull: assert (inside <= 8);
        // The count.
        none_is_exact: assert (none == (outstanding_count == 0));
        full_is_exact: assert (full == (outstanding_count == 8));
        if (push_valid) number_is_free: assert (tag < 8 && !outstanding[tag[2:0]]);

        // What the induction needs to know of the state.
        state_pointers: assert (!\dut.queue_.all_used && \dut.queue_.tail == \dut.queue_.head + inside);
        state_sent: assert ((sent & ~outstanding) == 0);
        state_ones: assert (outstanding_count == ones(outstanding) && sent_count == ones(sent));
        state_sum: assert (inside + sent_count == outstanding_count);
        if (following) state_followed: assert (
            ahead < inside && slot == (( \dut.queue_.head + ahead) & 7) && \dut.entries.word == followed[65:0]
            && \dut.entries.tags [5*slot +: 5] == followed[70:66]);
        state_queued: assert (tags_are_queued);
        state_differ: assert (tags_differ);

        a_hart_is_full: cover (full == 8'd1 && sent == 8'h31 && inside == 5);
        streaming: cover (laps == 6 && inside == 2 && push_valid && write_ready);
        acknowledged_out_of_order: cover (sent == 8'h06 && queued == 0);
    end
endmodule
