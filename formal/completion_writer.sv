// Rules S3 and S7: of each job that has ended one completion word is written, if it has one, and
// its slot is freed once, not before the word is visible.
//
// Of all slots one is followed, whichever, for the turns.
module completion_writer_formal (
    input wire        clk,
    input wire        rst,
    input wire [15:0] ended,
    input wire [31:0] completion,
    input wire [31:0] token,
    input wire [2:0]  code,
    input wire        faulted,
    input wire        write_ready,
    input wire        written_valid,
    input wire [5:0]  written_tag
);
    wire         end_taken, write_valid, freed_valid, misaligned;
    wire [3:0]   end_slot, freed_slot;
    wire [25:0]  write_line;
    wire [511:0] write_data;
    wire [63:0]  write_strobe;
    wire [5:0]   write_tag;
    completion_writer dut (
        .clk(clk), .rst(rst), .ended(ended), .end_taken(end_taken), .end_slot(end_slot), .completion(completion),
        .token(token), .code(code), .faulted(faulted), .write_valid(write_valid), .write_ready(write_ready),
        .write_line(write_line), .write_data(write_data), .write_strobe(write_strobe), .write_tag(write_tag),
        .write_written_valid(written_valid), .write_written_tag(written_tag), .freed_valid(freed_valid),
        .freed_slot(freed_slot), .misaligned(misaligned)
    );
    (* hierconn *) wire \dut.under_way ;
    (* hierconn *) wire \dut.offered ;
    (* hierconn *) wire \dut.silent ;
    (* hierconn *) wire [3:0] \dut.slot ;
    (* hierconn *) wire [29:0] \dut.address ;
    (* hierconn *) wire [31:0] \dut.value ;
    (* hierconn *) wire [31:0] \dut.arbiter.above ;

    `include "start.vh"

    // Not aligned, or where there is no memory.
    wire misplaced = completion[1:0] != 0 || completion[31:20] == 12'hfff;

    // The job under way: its word is to be written, is on its way to the L2, or there is none.
    reg        to_write, on_its_way, silent;
    reg [3:0]  slot;
    reg [31:0] address, value;
    wire       idle = !(to_write || on_its_way || silent);
    wire       acknowledged = written_valid && written_tag == 31;
    // The contract: what the L2 acknowledges it has accepted; a job that has ended stays so until
    // it is taken.
    reg [15:0] waits;
    always @* begin
        assume (!acknowledged || on_its_way);
        assume ((waits & ~ended) == 0);
    end

    // Who was taken since the followed slot waits.
    (* anyconst *) reg [3:0] followed;
    reg [15:0] others;
    wire [15:0] taken = end_taken << end_slot;
    reg held;
    reg [31:0] was_address;
    reg [2:0] jobs;
    always @(posedge clk) begin
        waits <= ended & ~taken;
        if (end_taken) begin
            slot <= end_slot;
            address <= completion;
            value <= code != 0 ? 32'hc0000000 + code : {faulted, 1'b0, token[29:0]};
            to_write <= completion != 0 && !misplaced;
            silent <= completion == 0 || misplaced;
        end
        if (write_valid && write_ready) {to_write, on_its_way} <= 2'b01;
        if (freed_valid) {on_its_way, silent} <= 2'b00;
        held <= write_valid && !write_ready;
        others <= ended[followed] && !taken[followed] ? others | taken : 0;
        jobs <= jobs + (freed_valid && jobs != 7);
        if (rst) begin
            waits <= 0;
            {to_write, on_its_way, silent} <= 0;
            held <= 0;
            others <= 0;
            jobs <= 0;
        end
    end
    wire [15:0] up_to = ((16'd1 << followed) << 1) - 16'd1;
    wire [15:0] above = \dut.arbiter.above [15:0];
    wire [15:0] before = above[followed] ? (above & up_to) : (above | up_to);

    always @(posedge clk) if (started && !rst) begin
        if (end_taken) one_at_a_time: assert (idle);
        if (end_taken) only_what_ended: assert (ended[end_slot]);
        if (idle && ended != 0) taken_at_once: assert (end_taken);
        if (end_taken && ended[followed] && !taken[followed]) fair: assert ((others & taken) == 0);
        misaligned_is_exact: assert (misaligned == (end_taken && misplaced));
        // One write for each job with a completion word.
        written_once: assert (write_valid == to_write);
        if (held) offer_stands: assert (write_valid);
        if (write_valid) address_is_exact: assert (write_line == address[31:6]
            && write_strobe == 64'd15 << address[5:0]);
        if (write_valid) value_is_exact: assert (write_data == {16{value}});
        if (write_valid) tag_is_31: assert (write_tag == 31);
        // Freed once, not before the acknowledgement.
        if (freed_valid) never_before_visible: assert (silent || (on_its_way && acknowledged));
        if (silent || acknowledged) freed_at_once: assert (freed_valid);
        if (freed_valid) frees_its_slot: assert (freed_slot == slot);

        // What the induction needs to know of the state.
        state_phase: assert (to_write + on_its_way + silent <= 1 && \dut.under_way == !idle && \dut.offered == to_write
            && (idle || \dut.silent == silent));
        if (!idle) state_job: assert (\dut.slot == slot && \dut.address == address[31:2] && \dut.value == value
            && (!to_write || address[1:0] == 0));
        state_above: assert ((~\dut.arbiter.above & (~\dut.arbiter.above + 1)) == 0);
        state_others: assert ((others & before) == 0);

        third_job: cover (jobs == 2 && freed_valid && on_its_way && slot == 9);
        of_a_fault: cover (write_valid && held && value == 32'h80000005 && address == 32'h1000003c);
        rejected: cover (write_valid && value == 32'hc0000005);
        without_a_word: cover (jobs == 1 && silent && address == 0);
    end
endmodule
