// Each frame of the host is answered once, with the right head, status and number of bytes; what it
// asks is done once and in order, or not at all; nothing waits for ever.
//
// The request is followed as the bytes of the frame come, each at its place, and judged as
// docs/fpga-link.md says. Of the bytes that are written one is followed, whichever (see
// tracked_ram.sv). Frames are those of FrameReceiver: bytes are numbered from 0, and may begin
// again with 0 at any time; the length of a whole frame is that of its bytes without the FCS.
//
// When registers do not answer within LIMIT cycles, the access is given up: what is valid then goes
// low without `ready`, which AXI4-Lite forbids, and an answer may come for nobody. Up to the next
// RESET nothing is assumed of B and R, and of an access only that each of its channels transfers
// once at most. Bytes that are given up go low without `ready`, too.
module board_link_formal (
    input wire        clk,
    input wire        rst,
    input wire        byte_valid,
    input wire [7:0]  given_byte,
    input wire [10:0] index,
    input wire        ends,
    input wire        damaged,
    input wire [10:0] length,
    input wire        answer_ready,
    input wire        awready,
    input wire        wready,
    input wire [1:0]  bresp,
    input wire        bvalid,
    input wire        arready,
    input wire [31:0] rdata,
    input wire [1:0]  rresp,
    input wire        rvalid,
    input wire [31:0] busy,
    input wire        memory_ready,
    input wire        memory_answer,
    input wire [7:0]  memory_read,
    input wire        trace_ready,
    input wire        trace_answer,
    input wire [7:0]  trace_read
);
    wire        enable, answer_valid, answer_last, answer_abort, array_reset;
    wire [7:0]  answer_data;
    wire [11:0] awaddr, araddr;
    wire [2:0]  awprot, arprot;
    wire        awvalid, wvalid, bready, arvalid, rready;
    wire [31:0] wdata;
    wire [3:0]  wstrb;
    wire        memory_valid, memory_write, trace_valid, trace_write;
    wire [31:0] memory_address, trace_address;
    wire [7:0]  memory_data, trace_data;
    board_link dut (
        .trace_valid(trace_valid), .trace_ready(trace_ready), .trace_write(trace_write),
        .trace_address(trace_address), .trace_data(trace_data), .trace_answer(trace_answer),
        .trace_read(trace_read),
        .clk(clk), .rst(rst), .enable(enable), .byte_valid(byte_valid), .byte_(given_byte), .index(index),
        .end_(ends), .damaged(damaged), .length(length), .answer_valid(answer_valid),
        .answer_ready(answer_ready), .answer_data(answer_data), .answer_last(answer_last),
        .answer_abort(answer_abort), .m_axil_awaddr(awaddr), .m_axil_awprot(awprot), .m_axil_awvalid(awvalid),
        .m_axil_awready(awready), .m_axil_wdata(wdata), .m_axil_wstrb(wstrb), .m_axil_wvalid(wvalid),
        .m_axil_wready(wready), .m_axil_bresp(bresp), .m_axil_bvalid(bvalid), .m_axil_bready(bready),
        .m_axil_araddr(araddr), .m_axil_arprot(arprot), .m_axil_arvalid(arvalid), .m_axil_arready(arready),
        .m_axil_rdata(rdata), .m_axil_rresp(rresp), .m_axil_rvalid(rvalid), .m_axil_rready(rready),
        .array_reset(array_reset), .busy_cycles(busy), .memory_valid(memory_valid), .memory_ready(memory_ready),
        .memory_write(memory_write), .memory_address(memory_address), .memory_data(memory_data),
        .memory_answer(memory_answer), .memory_read(memory_read)
    );
    // The array has a trace buffer.
    localparam TRACE = 1;
    // Reads of registers are done once: the unit keeps what the last one read.
    localparam READS = 0; wire [31:0] unit_kept = 0;
    localparam [32:0] MEMORY = 33'h1000, TRACE_BEGIN = 33'h8000_0000, TRACE_END = 33'h8200_0000;
    localparam [16:0] LIMIT = 17'h10000;
    localparam [191:0] IDENTITY =
        {32'd40000, 32'h1000, 32'h01234567, 32'h89abcdef, 32'd1, 32'h534d5248};

    `include "start.vh"

    // The byte that is followed.
    (* anyconst *) reg [9:0] followed;
    wire [10:0] place = {1'b0, followed} + 8;
    (* hierconn *) wire [10:0] \dut.buffer.tracked ;
    assign \dut.buffer.tracked = place;

    // The request: its bytes as far as they came, of which there are `bytes`.
    reg [10:0] bytes;
    reg [7:0]  operation, sequence_, followed_byte;
    reg [15:0] count;
    reg [31:0] address, value;
    // What is known of it behind its end.
    reg        bad;
    reg [10:0] size;
    wire identify = operation == 0, read_register = operation == 1, write_register = operation == 2;
    wire read_memory = operation == 3, write_memory = operation == 4, resets = operation == 5;
    wire changes = write_register || write_memory || resets || READS && read_register;
    wire [32:0] behind = {1'b0, address} + count;
    wire of_trace = TRACE && {1'b0, address} >= TRACE_BEGIN;
    wire inside = count != 0 && count <= 1024 && (behind <= MEMORY || (of_trace && behind <= TRACE_END));
    wire register = address <= 32'hffc && address % 4 == 0;
    wire possible = size == 8 && (identify || resets || (read_register && register) || (read_memory && inside))
        || write_register && size == 12 && register || write_memory && size == 8 + count && inside;
    always @* begin
        assume (!(byte_valid && ends));
        if (byte_valid) assume ((index == bytes || index == 0) && index < 1036);
        if (ends && !damaged) assume (bytes >= 4 && length == bytes - 4);
    end

    // How far it is: it is worked on; this is the first cycle behind its end; it was found to
    // repeat the last write; what it asks has ended, with this outcome; bytes of the answer that
    // were taken.
    reg        working, first_cycle, was_again, finished;
    reg [7:0]  kept;
    reg [10:0] given;
    // The last write that was done, or read of a register if these are done once.
    reg        last;
    reg [7:0]  last_operation, last_sequence, last_status;
    reg [31:0] damages, busy_then, read_value, kept_value;
    wire judged = !bad && possible;
    wire again = changes && last && last_operation == operation && last_sequence == sequence_;
    wire fresh = working && first_cycle && !bad;
    wire repeated = judged && changes && was_again;
    wire performed = judged && !repeated;
    wire at_once = identify || read_memory;
    wire known = working && !fresh && (!performed || at_once || finished);
    wire active = working && !fresh && !known;
    wire [7:0] status = bad ? 4 : !judged ? 2 : repeated ? last_status : at_once ? 0 : kept;
    wire of_registers = active && (write_register || read_register);

    // Accesses: channels that have transferred, cycles of the access, bytes that the memory took,
    // and what becomes of one that is read.
    reg        address_taken, data_taken;
    reg [1:0]  step;
    reg [16:0] waited;
    reg [10:0] moved;
    reg [7:0]  read_byte;
    // Registers were given up.
    reg        stuck;
    wire reading = known && performed && read_memory && given >= 4;
    wire pending = reading && step == 1, has = reading && step[1];
    wire loads = reading && !has;
    wire valid = memory_valid || trace_valid;
    wire writes = trace_valid ? trace_write : memory_write;
    wire [31:0] at = trace_valid ? trace_address : memory_address;
    wire [7:0] data = trace_valid ? trace_data : memory_data;
    wire accepted = memory_valid && memory_ready || trace_valid && trace_ready;
    wire arrives = pending && (of_trace ? trace_answer : memory_answer);
    wire answered = active && (write_register && bvalid || read_register && rvalid);
    wire late = waited == LIMIT;
    wire stored = active && write_memory && accepted && moved + 1 == count;
    wire gives_up = late && (of_registers ? !answered : active && write_memory && valid);
    wire done = answered || gives_up || stored || active && resets && waited == 64;
    wire [7:0] outcome = gives_up ? 3 : answered && (write_register ? bresp[1] : rresp[1]);
    wire fails = loads && late;
    wire taken = answer_valid && answer_ready;
    wire ends_now = taken && answer_last || answer_abort;
    wire [10:0] expected = status != 0 ? 4 : identify ? 36 : read_register ? 8 : read_memory ? 4 + count : 4;
    wire [10:0] data_place = given - 4;
    wire [191:0] identity = IDENTITY >> {data_place[4:0], 3'd0};
    wire [31:0] register_value = repeated ? kept_value : read_value;
    wire [31:0] told_word = read_register ? register_value : data_place < 28 ? damages : busy_then;
    wire [31:0] word = told_word >> {data_place[1:0], 3'd0};

    // Bytes of answers are not counted here while they are not taken: cycles behind the frame that
    // the link itself, registers or memory take.
    reg [27:0] age;
    wire [27:0] data_given = given < 4 ? 0 : given - 4;
    wire works = fresh || answer_valid || of_registers || valid || pending || active && resets;
    reg rested;

    // A run from the first reset on without pauses and frames of other lengths than three: covers
    // are found sooner among these.
    reg straight;
    wire told = straight && taken && answer_last;
    always @(posedge clk) begin
        if (rst) straight <= !started;
        else if (enable && ends ? bytes != 12 && bytes != 14 && bytes != 16
            : enable ? !byte_valid || index != bytes || bytes == 16 : answer_valid && !answer_ready)
            straight <= 0;
    end

    reg was_answer, was_last, was_write, was_data, was_read, was_byte, was_byte_write, was_of_trace;
    reg [7:0]  was_answer_data, was_byte_data;
    reg [31:0] was_address, was_value;
    always @(posedge clk) begin
        if (enable && byte_valid) begin
            bytes <= index + 1;
            if (index == 0) operation <= given_byte;
            if (index == 1) sequence_ <= given_byte;
            if (index == 2) count[7:0] <= given_byte;
            if (index == 3) count[15:8] <= given_byte;
            if (index == 4) address[7:0] <= given_byte;
            if (index == 5) address[15:8] <= given_byte;
            if (index == 6) address[23:16] <= given_byte;
            if (index == 7) address[31:24] <= given_byte;
            if (index == 8) value[7:0] <= given_byte;
            if (index == 9) value[15:8] <= given_byte;
            if (index == 10) value[23:16] <= given_byte;
            if (index == 11) value[31:24] <= given_byte;
            if (index == place) followed_byte <= given_byte;
        end
        first_cycle <= 0;
        rested <= working && !works;
        if (working) age <= age + !(answer_valid && !answer_ready);
        if (enable && ends) begin
            {working, first_cycle, rested, bad, size} <= {3'b110, damaged, length};
            {given, age} <= 0;
            if (damaged) damages <= damages + 1;
        end
        if (!enable || ends) bytes <= 0;

        if (fresh) begin
            {address_taken, data_taken, finished, waited, moved, given} <= 0;
            {age, was_again} <= {28'd1, again};
            if (judged && identify) {last, busy_then} <= {1'b0, busy};
        end
        if (of_registers) waited <= waited + 1;
        if (awvalid && awready || arvalid && arready) address_taken <= 1;
        if (wvalid && wready) data_taken <= 1;
        if (answered) read_value <= rdata;
        if (answered && read_register) kept_value <= rdata;
        if (of_registers && gives_up) stuck <= 1;
        if (active && write_memory && valid) waited <= waited + 1;
        if (active && resets) {waited, stuck} <= {waited + 17'd1, 1'b0};
        if (accepted) moved <= moved + 1;
        if (done) begin
            {finished, kept, given} <= {1'b1, outcome, 11'd0};
            if (changes)
                {last, last_operation, last_sequence, last_status} <= {1'b1, operation, sequence_, outcome};
        end
        if (loads) waited <= waited + 1;
        if (loads && accepted) step <= 1;
        if (arrives) {step, read_byte} <= {2'd2, of_trace ? trace_read : memory_read};
        if (taken) begin
            given <= given + 1;
            {step, waited} <= 0;
        end
        if (ends_now) working <= 0;

        {was_answer, was_last, was_answer_data} <= {answer_valid && !answer_ready, answer_last, answer_data};
        was_write <= awvalid && !awready && !done;
        was_data <= wvalid && !wready && !done;
        was_read <= arvalid && !arready && !done;
        was_byte <= valid && !accepted && !done && !fails;
        {was_of_trace, was_byte_write} <= {trace_valid, writes};
        was_address <= awvalid ? awaddr : arvalid ? araddr : at;
        {was_value, was_byte_data} <= {wdata, data};
        if (rst) begin
            {working, last, stuck, rested, bytes, damages} <= 0;
            {was_answer, was_write, was_data, was_read, was_byte} <= 0;
        end
    end
    // The registers answer what they were asked.
    always @* if (!stuck) begin
        if (bvalid) assume ((address_taken || awvalid && awready) && (data_taken || wvalid && wready));
        if (rvalid) assume (address_taken || arvalid && arready);
    end

    (* hierconn *) wire [3:0] \dut.state ;
    (* hierconn *) wire [7:0] \dut.operation ;
    (* hierconn *) wire [7:0] \dut.sequence_ ;
    (* hierconn *) wire [15:0] \dut.count ;
    (* hierconn *) wire [31:0] \dut.address ;
    (* hierconn *) wire [31:0] \dut.value ;
    (* hierconn *) wire [10:0] \dut.received ;
    (* hierconn *) wire [7:0] \dut.status ;
    (* hierconn *) wire [10:0] \dut.place ;
    (* hierconn *) wire \dut.in_data ;
    (* hierconn *) wire [7:0] \dut.read ;
    (* hierconn *) wire [16:0] \dut.timer ;
    (* hierconn *) wire \dut.address_taken ;
    (* hierconn *) wire \dut.data_taken ;
    (* hierconn *) wire [31:0] \dut.damages ;
    (* hierconn *) wire \dut.last_valid ;
    (* hierconn *) wire [7:0] \dut.last_operation ;
    (* hierconn *) wire [7:0] \dut.last_sequence ;
    (* hierconn *) wire [7:0] \dut.last_status ;
    (* hierconn *) wire [7:0] \dut.buffer.word ;
    (* hierconn *) wire [7:0] \dut.buffer.read_data ;
    wire [3:0] state = \dut.state ;
    wire fetching = state == 4, storing = state == 5;
    // Bytes of the request that the registers of the unit hold.
    wire [11:0] held = enable ? bytes : bad ? 0 : size + 12'd4;

    always @(posedge clk) if (started && rst) reset_with_the_board: assert (array_reset);
    always @(posedge clk) if (started && !rst) begin
        // One answer for each frame
        one_at_a_time: assert (enable == !working);
        if (answer_valid || answer_abort) no_answer_without_a_frame: assert (known);
        if (was_answer) answer_is_stable:
            assert (answer_valid && answer_data == was_answer_data && answer_last == was_last);
        if (answer_valid && given == 0) head_operation: assert (answer_data == (bad ? 255 : operation | 128));
        if (answer_valid && given == 1) head_sequence: assert (answer_data == (bad ? 0 : sequence_));
        if (answer_valid && given == 2) head_status: assert (answer_data == status);
        if (answer_valid && given == 3) head_ends: assert (answer_data == 0);
        if (answer_valid) as_long_as_is_said:
            assert (given < expected && answer_last == (given + 1 == expected));
        if (answer_valid && given >= 4 && identify && data_place < 24) identity_is_told:
            assert (answer_data == identity[7:0]);
        if (answer_valid && given >= 4 && (read_register || identify && data_place >= 24)) values_are_told:
            assert (answer_data == word[7:0]);
        if (answer_valid && reading) bytes_are_told: assert (has && answer_data == read_byte);
        if (answer_abort) abort_instead_of_bytes: assert (!answer_valid && fails);

        // What is not to be done, or not again
        if (awvalid || wvalid || arvalid || valid || array_reset) only_what_is_possible:
            assert (working && !fresh && judged);
        if (awvalid || wvalid || READS && arvalid || valid && memory_write || array_reset) not_done_again: assert (!repeated);
        if (answer_valid && given == 2 && bad) damage_is_told: assert (answer_data == 4);
        if (answer_valid && given == 2 && !bad && !possible) refusal_is_told: assert (answer_data == 2);
        if (answer_valid && given == 2 && repeated) told_again: assert (answer_data == last_status);

        // Registers
        aw_once: assert (awvalid == (active && write_register && !address_taken));
        w_once: assert (wvalid == (active && write_register && !data_taken));
        ar_once: assert (arvalid == (active && read_register && !address_taken));
        answers_are_taken: assert (bready == (active && write_register) && rready == (active && read_register));
        if (awvalid) aw_as_asked: assert (awaddr == address && awprot == 0);
        if (wvalid) w_as_asked: assert (wdata == value && wstrb == 15);
        if (arvalid) ar_as_asked: assert (araddr == address && arprot == 0);
        if (was_write) aw_is_stable: assert (awvalid && awaddr == was_address);
        if (was_data) w_is_stable: assert (wvalid && wdata == was_value);
        if (was_read) ar_is_stable: assert (arvalid && araddr == was_address);
        if (answer_valid && given == 0 && performed && \dut.status != 3 && !stuck) registers_were_asked:
            assert (write_register ? address_taken && data_taken : !read_register || address_taken);

        // Bytes
        if (valid) one_memory: assert (memory_valid != trace_valid && trace_valid == of_trace);
        if (memory_valid) within_the_memory: assert (memory_address < MEMORY);
        if (trace_valid) within_the_trace: assert (trace_address >= TRACE_BEGIN && trace_address < TRACE_END);
        if (valid) next_byte:
            assert (moved < count && at == address + moved);
        if (valid) read_or_written:
            assert (writes ? active && write_memory : loads && !pending && data_given == moved);
        if (valid && write_memory && moved == followed) byte_as_asked: assert (data == followed_byte);
        if (was_byte) byte_is_stable: assert (trace_valid == was_of_trace && memory_valid == !was_of_trace
            && at == was_address && writes == was_byte_write && (!writes || data == was_byte_data));
        if (answer_valid && given == 0 && performed && write_memory) all_are_written:
            assert (\dut.status == 3 || moved == count);

        // Time
        if (bready || rready || valid) gives_up_in_time: assert (waited <= LIMIT);
        if (fails) aborts_in_time: assert (answer_abort);
        always_goes_on: assert (!rested || !working || works);
        ends_in_time: assert (!working || age <= 66562 + given + (read_memory ? {data_given[10:0], 16'd0} : 0));

        // The array
        reset_for_32_cycles: assert (array_reset == (active && resets && waited < 32));
        if (answer_valid && given == 0 && performed && resets) reset_is_whole: assert (waited == 65);

        // What the induction needs to know of the state.
        state_is: assert (!working ? state == 0 : fresh ? state == 1 : active ? write_register && state == 2
            || read_register && state == 3 || write_memory && (fetching || storing) || resets && state == 6
            : !reading ? state == 7 : state == (has ? 10 : pending ? 9 : 8));
        if (working && bad) state_bad: assert (\dut.operation == 127 && \dut.sequence_ == 0);
        if (held >= 1) state_operation: assert (\dut.operation == operation);
        if (held >= 2) state_sequence: assert (\dut.sequence_ == sequence_);
        if (held == 3) state_count_comes: assert (\dut.count [15:8] == count[7:0]);
        if (held >= 4) state_count: assert (\dut.count == count);
        if (held == 5) state_address_5: assert (\dut.address [31:24] == address[7:0]);
        if (held == 6) state_address_6: assert (\dut.address [31:16] == address[15:0]);
        if (held == 7) state_address_7: assert (\dut.address [31:8] == address[23:0]);
        if (held >= 8) state_address: assert (\dut.address == address);
        if (enable && held == 9) state_value_9: assert (\dut.value [31:24] == value[7:0]);
        if (enable && held == 10) state_value_10: assert (\dut.value [31:16] == value[15:0]);
        if (enable && held == 11) state_value_11: assert (\dut.value [31:8] == value[23:0]);
        if (held >= 12 && (enable || fresh || active && write_register)) state_value:
            assert (\dut.value == value);
        if (known && performed && identify) state_identify: assert (\dut.value == busy_then);
        if (known && judged && read_register) state_read_value:
            assert (status != 0 || \dut.value == register_value);
        if (working) state_size: assert (\dut.received == size);
        if (known && !reading) state_head:
            assert (\dut.in_data == (given >= 4) && \dut.place == (given >= 4 ? given - 4 : given)
                && (moved == 0 || !performed || !read_memory));
        if (fresh || active && !write_memory) state_begins: assert (!\dut.in_data && \dut.place == 0);
        if (active && write_memory) state_writes:
            assert (!\dut.in_data && \dut.place == moved && moved < count);
        if (reading) state_place:
            assert (\dut.place == given - 4 && \dut.in_data && moved == data_given + (pending || has));
        if (known) state_status: assert (\dut.status == status && status <= 4 && given < expected);
        if (active || loads) state_timer:
            assert (\dut.timer == waited && waited <= LIMIT && (!resets || waited <= 64));
        if (of_registers) state_address_taken: assert (\dut.address_taken == address_taken);
        if (active && write_register) state_data_taken: assert (\dut.data_taken == data_taken);
        if (has) state_has: assert (\dut.read == read_byte && waited <= LIMIT);
        state_last: assert (\dut.last_valid == last && (!last || (\dut.last_operation == last_operation
            && \dut.last_sequence == last_sequence && \dut.last_status == last_status && last_status <= 3
            && (!READS || last_operation != 1 || last_status != 0 || unit_kept == kept_value))));
        state_damages: assert (\dut.damages == damages);
        if (held > place) state_buffer: assert (\dut.buffer.word == followed_byte);
        if (storing && moved == followed) state_fetched: assert (\dut.buffer.read_data == followed_byte);
        if (active) state_age: assert (age == 1 + waited + (write_memory ? moved + storing : 0));
        if (known && !performed) state_age_not_done: assert (age <= 1 + given);
        if (known && at_once && !reading) state_age_head: assert (age <= 1 + given);
        if (reading) state_age_reading: assert (age <= 5 + data_given + {data_given[10:0], 16'd0} + waited);
        if (working && rested) state_rested: assert (storing);

        identified: cover (straight && answer_valid && identify && given == 7);
        register_is_read: cover (told && read_register && status == 0);
        register_refuses: cover (told && write_register && status == 1);
        register_hangs: cover (told && read_register && \dut.status == 3);
        memory_is_read: cover (told && reading && count == 2 && !of_trace);
        trace_is_read: cover (told && reading && (of_trace || !TRACE));
        memory_is_written: cover (told && write_memory && count == 2 && status == 0 && performed);
        memory_hangs: cover (told && write_memory && \dut.status == 3);
        is_aborted: cover (straight && answer_abort);
        is_reset: cover (told && resets && performed);
        is_repeated: cover (straight && answer_valid && write_register && repeated);
        is_refused: cover (told && operation == 9);
        is_damaged: cover (told && bad);
    end
endmodule
