// Atomic operations of peers: an operation that is new is performed once, as it came, and one that
// came before never; one that is performed gives what memory gave, and so does one that comes
// again, while its result is kept; a job is given on once, and none that was withdrawn.
//
// The results under one number of one queue pair are followed, whichever. Resets come at any time.
module ram_sync_88_9 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [8:0]  write_address,
    input  wire [87:0] write_data,
    input  wire        read_enable,
    input  wire [8:0]  read_address,
    output wire [87:0] read_data
);
    wire [8:0] tracked;
    reg [87:0] word, found;
    (* anyseq *) wire [87:0] other;
    always @(posedge clk) begin
        if (write_enable && write_address == tracked) word <= write_data;
        if (read_enable) found <= read_address == tracked ? word : other;
    end
    assign read_data = found;
endmodule

module ram_async_32_4 (
    input  wire        clk,
    input  wire        write_enable,
    input  wire [3:0]  write_address,
    input  wire [31:0] write_data,
    input  wire [3:0]  read_address,
    output wire [31:0] read_data
);
    wire [3:0] tracked;
    reg [31:0] word;
    (* anyseq *) wire [31:0] other;
    always @(posedge clk) if (write_enable && write_address == tracked) word <= write_data;
    assign read_data = read_address == tracked ? word : other;
endmodule

module remote_atomics_formal (
    input wire         clk,
    input wire         rst,
    input wire         job_valid,
    input wire [173:0] job,
    input wire [128:0] operands,
    input wire         opens,
    input wire [3:0]   opens_pair,
    input wire         next_ready,
    input wire         write_ready,
    input wire         written,
    input wire [63:0]  value,
    input wire         error
);
    wire job_ready, failed, next_valid, write_valid;
    wire [15:0] held_pairs;
    wire [173:0] next_job;
    wire [25:0] write_line;
    wire [511:0] write_data;
    wire [63:0] write_strobe;
    remote_atomics dut (
        .clk(clk), .rst(rst), .job_valid(job_valid), .job_ready(job_ready), .job(job), .operands(operands), .failed(failed), .opens(opens),
        .opens_pair(opens_pair), .next_valid(next_valid), .next_ready(next_ready), .next_job(next_job), .write_valid(write_valid),
        .write_ready(write_ready), .write_line(write_line), .write_data(write_data), .write_strobe(write_strobe), .written(written),
        .value(value), .error(error), .held(held_pairs)
    );
    (* hierconn *) wire [1:0] \dut.step ;
    (* hierconn *) wire [173:0] \dut.atomic_job ;
    (* hierconn *) wire [128:0] \dut.atomic_operands ;
    (* hierconn *) wire [63:0] \dut.result ;
    (* hierconn *) wire \dut.serves ;
    (* hierconn *) wire \dut.withdrawn ;
    (* hierconn *) wire [15:0] \dut.fresh ;
    (* hierconn *) wire [87:0] \dut.found ;
    (* hierconn *) wire [8:0] \dut.replies.tracked ;
    (* hierconn *) wire [87:0] \dut.replies.word ;
    (* hierconn *) wire [3:0] \dut.kept.tracked ;
    (* hierconn *) wire [31:0] \dut.kept.word ;
    (* anyconst *) reg [3:0] pair;
    (* anyconst *) reg [4:0] number;
    assign \dut.replies.tracked = {pair, number};
    assign \dut.kept.tracked = pair;

    `include "start.vh"

    // The operation that is under way, as it came; it was accepted by memory, which answered; it
    // waits to be given on; its job was withdrawn.
    reg busy, performed, has, gone;
    reg [173:0] work;
    reg [128:0] how;
    reg [63:0] result;
    reg serves;
    // The newest result under the followed number, since its queue pair went up
    reg opened, known;
    reg [23:0] known_of;
    reg [63:0] known_value;

    wire atomic = job[173];
    wire back = work[171];
    wire begins = job_valid && atomic && !busy;
    wire now_gone = gone || !job_valid;
    wire answered = written && !error;
    wire looks_up = busy && back && !has;
    wire its = {work[3:0], work[8:4]} == {pair, number};
    wire found = known && known_of == work[27:4];

    // The contract of the neighbours: a job stays as it is until it is given on, fails or is
    // withdrawn for a cycle, but that one that came before may be served or not as regions change;
    // none comes of a queue pair that is not up, and none is under way when one goes up; memory
    // answers what it accepted.
    reg held;
    reg [301:0] offered;
    always @* begin
        if (held && job_valid) assume ({job[173], job[171:0], operands} == offered);
        if (job_valid && atomic) assume (job[53:51] == 0);
        if (job_valid && job[3:0] == pair) assume (opened);
        if (opens) assume (!(job_valid && job[3:0] == opens_pair) && !(busy && work[3:0] == opens_pair));
        if (written) assume (busy && performed && !has);
        if (failed_before) assume (!job_valid);
    end
    reg failed_before;
    always @(posedge clk) begin
        held <= job_valid && !job_ready && !rst;
        offered <= {job[173], job[171:0], operands};
        failed_before <= failed && !rst;
        if (begins) begin
            busy <= 1;
            performed <= 0;
            has <= 0;
            gone <= 0;
            work <= job;
            how <= operands;
        end else begin
            gone <= now_gone;
            if (write_valid && write_ready) performed <= 1;
            if (looks_up) begin
                has <= 1;
                serves <= \dut.serves ;
            end
            if (answered) begin
                has <= 1;
                result <= value;
                if (its) {known, known_of, known_value} <= {1'b1, work[27:4], value};
            end
            if ((written && (error || now_gone)) || (has && (now_gone || next_ready))) busy <= 0;
        end
        if (opens && opens_pair == pair) begin
            opened <= 1;
            known <= 0;
        end
        if (rst) begin
            busy <= 0;
            performed <= 0;
            has <= 0;
            opened <= 0;
            known <= 0;
        end
    end

    always @(posedge clk) if (started && !rst) begin
        state_step: assert (\dut.step == (!busy ? 0 : has ? 3 : performed ? 2 : 1) && (!busy || !has || performed != back));
        state_work: assert (!busy || (\dut.atomic_job == work && \dut.atomic_operands == how && work[173] && work[53:51] == 0 && (\dut.withdrawn == gone) && !(performed && back)));
        state_held: assert (!busy || gone || (held && offered == {work[173], work[171:0], how}) || failed_before || !job_valid);
        state_result: assert (!busy || !has || back || (\dut.result == result && \dut.serves ));
        state_known: assert (!opened ? !known && !(busy && work[3:0] == pair) : ((!\dut.fresh [pair] && \dut.kept.word [number]) == known));
        state_reply: assert (!known || \dut.replies.word == {known_value, known_of});
        state_found: assert (!busy || !its || !known || has || performed || \dut.found == {known_value, known_of});
        state_again: assert (!busy || !its || !has || !back || (\dut.serves == (found && work[172]) && (!\dut.serves || \dut.result == known_value)));
        // An operation that is new is offered to memory until it is accepted, once, also if its job
        // is withdrawn; one that came before never.
        performed_once: assert (write_valid == (busy && !back && !performed));
        // It is the one that came: fetch and add, or compare and swap, of 64 bits.
        if (write_valid) performed_as_it_came: assert (write_line == work[82:57] && write_strobe == 64'hff << work[56:51] && write_data[31:0] == how[32:1] && write_data[47:32] == 0 && write_data[52:48] == (how[0] ? 5 : 0) && write_data[56:53] == work[56:53] && write_data[95:64] == how[64:33] && write_data[159:96] == how[128:65]);
        // A job is given on with its own handshake: a READ at once and as it is, unless an
        // operation is under way; an operation behind its result.
        given_with_its_job: assert (next_valid == (job_valid && (busy ? has && !gone : !atomic)) && job_ready == (next_valid && next_ready));
        if (next_valid && !busy) read_as_it_came: assert (next_job == job);
        if (next_valid && busy) operation_as_it_came: assert (next_job[50:0] == work[50:0] && next_job[171:115] == work[171:115] && next_job[173] && job[171:0] == work[171:0]);
        // An operation that is new was performed, and has what memory gave.
        if (next_valid && busy && !back) new_has_its_result: assert (performed && next_job[172] && {next_job[114:83], next_job[82:51]} == result);
        // One that came before has what is kept, or is not served.
        if (next_valid && busy && back && its) again_has_what_is_kept: assert (next_job[172] == (found && work[172]) && (!next_job[172] || {next_job[114:83], next_job[82:51]} == known_value));
        // It fails if memory could not be read, once, and only then.
        fails_with_memory: assert (failed == (written && error && !now_gone) && !(failed && (job_ready || next_valid)));
        held_is_exact: assert (held_pairs == (busy ? 16'd1 << work[3:0] : 16'd0));

        replayed: cover (job_ready && busy && back && its && next_job[172] && known_value == 64'h1234);
        replaced: cover (job_ready && busy && back && its && known && !next_job[172] && work[172]);
        withdrawn_at_memory: cover (busy && gone && answered && its);
        failed_behind_one: cover (failed && known);
    end
endmodule
