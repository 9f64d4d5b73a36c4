// Rules U1 to U3, U6 to U8, U10, U12, U14, U16, U18, U23, U25: when a channel is armed, what makes
// it pending, and what is delivered.
//
// U21 as well: what can be read of a channel. Two channels of a hart against the rules, with
// events, EMONITOR, CSR writes, traps and delivery in any cycle. The range that the monitors
// compare with is checked for one word, whichever.
module uli_channels_formal (
    input wire        clk,
    input wire        rst,
    input wire        hold,
    input wire [2:0]  ask_channel,
    input wire        arm_valid,
    input wire [2:0]  arm_channel,
    input wire [3:0]  arm_scenario,
    input wire [29:0] arm_handler,
    input wire [31:0] arm_parameter,
    input wire [1:0]  event_in,
    input wire [15:0] freed,
    input wire [31:0] raised,
    input wire        staged,
    input wire        take,
    input wire [29:0] pc,
    input wire        leave,
    input wire        trap,
    input wire        trap_return,
    input wire [5:0]  read_number,
    input wire        write_valid,
    input wire [5:0]  write_number,
    input wire [31:0] write_set,
    input wire [31:0] write_clear
);
    wire [31:0] ask_status, read_value;
    wire [1:0]  watched_valid;
    wire [51:0] watched_line, watched_lines;
    wire [31:0] watched_words;
    wire        deliver, blocked, wake;
    wire [29:0] handler, interrupted_pc;
    uli_channels dut (
        .clk(clk), .rst(rst), .hold(hold), .ask_channel(ask_channel), .ask_status(ask_status), .arm_valid(arm_valid),
        .arm_channel(arm_channel), .arm_scenario(arm_scenario), .arm_handler(arm_handler), .arm_parameter(arm_parameter),
        .watched_valid(watched_valid), .watched_line(watched_line), .watched_lines(watched_lines),
        .watched_words(watched_words), .event_(event_in), .freed(freed), .raised(raised), .staged(staged), .deliver(deliver), .handler(handler), .take(take), .pc(pc),
        .leave(leave), .trap(trap), .trap_return(trap_return), .wake(wake), .read_number(read_number), .read_value(read_value), .blocked(blocked),
        .interrupted_pc(interrupted_pc), .write_valid(write_valid), .write_number(write_number), .write_set(write_set),
        .write_clear(write_clear)
    );
    (* hierconn *) wire [3:0] \dut.scenario_0 ;
    (* hierconn *) wire [3:0] \dut.scenario_1 ;
    (* hierconn *) wire [7:0] \dut.owner_0 ;
    (* hierconn *) wire [7:0] \dut.owner_1 ;
    (* hierconn *) wire [29:0] \dut.handlers_0 ;
    (* hierconn *) wire [29:0] \dut.handlers_1 ;
    (* hierconn *) wire [29:0] \dut.address_0 ;
    (* hierconn *) wire [29:0] \dut.address_1 ;
    (* hierconn *) wire [1:0] \dut.form_0 ;
    (* hierconn *) wire [1:0] \dut.form_1 ;
    (* hierconn *) wire [29:0] \dut.open_0 ;
    (* hierconn *) wire [29:0] \dut.open_1 ;
    (* hierconn *) wire \dut.newest_0 ;
    (* hierconn *) wire \dut.newest_1 ;
    (* hierconn *) wire \dut.newer_0 ;
    (* hierconn *) wire \dut.newer_1 ;
    (* hierconn *) wire [7:0] \dut.context_ ;
    (* hierconn *) wire \dut.pending_0 ;
    (* hierconn *) wire \dut.pending_1 ;
    (* hierconn *) wire \dut.block ;
    (* hierconn *) wire \dut.block_before ;
    (* hierconn *) wire [29:0] \dut.resume_pc ;
    (* hierconn *) wire [11:0] \dut.cause ;

    `include "start.vh"

    // The contract: delivered is what is to be delivered; a scenario that is known; a parameter of
    // a known form; no write of a CSR, EMONITOR, ERETURN or mret in the cycle of a delivery or of a
    // trap, and one of all of them at a time.
    always @* begin
        assume (!take || deliver);
        assume (arm_valid + leave + write_valid + trap + trap_return + take <= 1);
        assume (arm_scenario <= 3 || arm_scenario == 11);
        assume (arm_channel < 2 && ask_channel < 2);
        assume (arm_scenario != 1 || arm_parameter[0] == arm_parameter[1]);
        assume (!leave || blocked);
    end

    // The rules. `since`: cycles since the channel was armed, up to 3; events count from 3 on.
    reg  [3:0]  scenario [0:1];
    reg  [7:0]  owner [0:1];
    reg  [29:0] starts [0:1];
    reg  [31:0] range [0:1];
    reg  [1:0]  since [0:1];
    reg  [1:0]  pending;
    reg         block, before;
    reg  [7:0]  current;
    reg  [29:0] resume;
    reg  [11:0] cause;
    wire [1:0]  armed = {scenario[1] != 0, scenario[0] != 0};
    wire [1:0]  own = {owner[1] == current, owner[0] == current};
    wire [1:0]  refused = armed & ~own;
    wire [1:0]  arms = (arm_valid << arm_channel) & ~refused;
    // An event of each channel: what it watches was written, a slot of its mask became free, a bit
    // of its mask was set, a command of a warp waits for a hart.
    wire [1:0]  happens = {
        scenario[1] == 1 ? event_in[1] : scenario[1] == 2 ? (freed & range[1][15:0]) != 0 : scenario[1] == 11 ? staged : (raised & range[1]) != 0,
        scenario[0] == 1 ? event_in[0] : scenario[0] == 2 ? (freed & range[0][15:0]) != 0 : scenario[0] == 11 ? staged : (raised & range[0]) != 0
    };
    wire [1:0]  counts = happens & armed & {since[1] == 3, since[0] == 3};
    wire [1:0]  due = armed & pending & own;
    wire        first = !due[0];
    wire        writes_pending = write_valid && write_number == 2;
    wire [1:0]  cleared = (writes_pending ? write_clear[1:0] : 2'd0) | (take << first);
    wire [1:0]  set = counts | (writes_pending ? write_set[1:0] : 2'd0);

    integer c;
    always @(posedge clk) begin
        pending <= ((pending & ~cleared) | set) & ~arms;
        for (c = 0; c < 2; c = c + 1) begin
            if (since[c] != 3) since[c] <= since[c] + 1;
            if (arms[c]) begin
                scenario[c] <= arm_scenario;
                owner[c] <= current;
                starts[c] <= arm_handler;
                range[c] <= arm_parameter;
                since[c] <= 1;
            end
        end
        if (write_valid && write_number == 0) resume <= (resume & ~write_clear[31:2]) | write_set[31:2];
        if (write_valid && write_number == 1) begin
            block <= (block & ~write_clear[0]) | write_set[0];
            before <= (before & ~write_clear[1]) | write_set[1];
            current <= (current & ~write_clear[15:8]) | write_set[15:8];
        end
        if (write_valid && write_number == 4) cause <= ((cause & ~write_clear[11:0]) | write_set[11:0]) & 12'hf1f;
        if (leave) block <= 0;
        if (trap_return) block <= before;
        if (trap) begin
            before <= block;
            block <= 1;
        end
        if (take) begin
            block <= 1;
            resume <= pc;
            cause <= {scenario[first], 7'd0, first};
        end
        if (hold) begin
            pending <= 0;
            block <= 0;
            before <= 0;
            current <= 0;
            scenario[0] <= 0;
            scenario[1] <= 0;
        end
        if (rst) begin
            pending <= 0;
            block <= 0;
            before <= 0;
            current <= 0;
            resume <= 0;
            cause <= 0;
            for (c = 0; c < 2; c = c + 1) begin
                scenario[c] <= 0;
                owner[c] <= 0;
                starts[c] <= 0;
                range[c] <= 0;
                since[c] <= 3;
            end
        end
    end

    // The range, as the table of scenarios says it: a word, or as many bytes as the trailing ones
    // say.
    (* anyconst *) reg [29:0] word;
    wire [31:0] bytes_0 = (range[0] ^ (range[0] + 1)) >> 1, bytes_1 = (range[1] ^ (range[1] + 1)) >> 1;
    wire [31:0] size_0 = range[0][0] ? {bytes_0[30:0], 1'b1} : 32'd3, size_1 = range[1][0] ? {bytes_1[30:0], 1'b1} : 32'd3;
    wire [1:0]  in_range = {({word, 2'd0} | size_1) == (range[1] | size_1), ({word, 2'd0} | size_0) == (range[0] | size_0)};
    wire [1:0]  watched = {
        watched_valid[1] && ((word[29:4] ^ watched_line[51:26]) & watched_lines[51:26]) == 0 && watched_words[16 + word[3:0]],
        watched_valid[0] && ((word[29:4] ^ watched_line[25:0]) & watched_lines[25:0]) == 0 && watched_words[word[3:0]]
    };
    reg held;
    always @(posedge clk) held <= hold || rst;

    reg [3:0] deliveries;
    reg was_refused;
    always @(posedge clk) begin
        deliveries <= deliveries + (take && deliveries != 15);
        was_refused <= was_refused || (arm_valid && refused[arm_channel[0]]);
        if (rst) begin
            deliveries <= 0;
            was_refused <= 0;
        end
    end

    wire asked = ask_channel[0];
    always @(posedge clk) if (started && !rst) begin
        // U1, U3: armed with its fields; watched from the second cycle after, and no longer once
        // disarmed.
        if (since[0] >= 2 && !held) watches_0: assert (watched[0] == (scenario[0] == 1 && in_range[0]));
        if (since[1] >= 2 && !held) watches_1: assert (watched[1] == (scenario[1] == 1 && in_range[1]));
        // U2: what EMONITOR returns; bit 31 says that it is refused.
        status: assert (ask_status == {refused[asked], armed[asked], pending[asked], 5'd0, owner[asked], 4'd0, scenario[asked], 8'd0});
        // U6, U7, U14, U16, U18, U25: pending for an event or a write of ulipend since, and for no
        // other reason; set wins.
        if (read_number == 2) pending_is_exact: assert (read_value == pending);
        if (read_number == 3) armed_is_exact: assert (read_value == armed);
        // U8, U23: the lowest that is armed, pending and of the present context, unless delivery is
        // blocked.
        delivers: assert (deliver == (due != 0 && !block));
        if (deliver) lowest_first: assert (handler == starts[first]);
        // U10, U12: the PC at which the program goes on; a delivery and a trap block the next one,
        // mret takes that back.
        if (read_number == 0) pc_is_kept: assert (read_value == {resume, 2'd0} && interrupted_pc == resume);
        if (read_number == 1) control: assert (read_value == {16'd0, current, 6'd0, before, block} && blocked == block);
        // U21: all fields can be read.
        if (read_number == 6'h10 + asked) handler_shows: assert (read_value == {starts[asked], 2'd0});
        if (read_number == 6'h20 + asked) parameter_shows: assert (read_value == range[asked]);
        if (read_number == 6'h30 + asked) rest_shows: assert (read_value == (ask_status & 32'h7fffffff));
        // U27, as far as it is about channels.
        wakes: assert (wake == ((armed & pending) != 0));
        if (read_number == 4) cause_is_kept: assert (read_value == cause);

        // What the induction needs to know of the state.
        state_scenario: assert (\dut.scenario_0 == scenario[0] && \dut.scenario_1 == scenario[1] 
            && (scenario[0] <= 3 || scenario[0] == 11) && (scenario[1] <= 3 || scenario[1] == 11));
        state_owner: assert (\dut.owner_0 == owner[0] && \dut.owner_1 == owner[1] && \dut.context_ == current);
        state_pending: assert (\dut.pending_0 == pending[0] && \dut.pending_1 == pending[1]);
        state_block: assert (\dut.block == block && \dut.block_before == before && \dut.resume_pc == resume && \dut.cause == cause);
        state_handler: assert (\dut.handlers_0 == starts[0] && \dut.handlers_1 == starts[1]);
        state_range: assert (\dut.address_0 == range[0][31:2] && \dut.address_1 == range[1][31:2]
            && \dut.form_0 == range[0][1:0] && \dut.form_1 == range[1][1:0]
            && \dut.open_0 == (range[0][0] ? size_0 >> 2 : 0) && \dut.open_1 == (range[1][0] ? size_1 >> 2 : 0));
        state_since: assert (\dut.newest_0 == (since[0] == 1) && \dut.newest_1 == (since[1] == 1) && since[0] != 0 && since[1] != 0);
        if (since[0] != 1) state_before_0: assert (\dut.newer_0 == (since[0] == 2));
        if (since[1] != 1) state_before_1: assert (\dut.newer_1 == (since[1] == 2));

        delivered_often: cover (deliveries == 3);
        both_due: cover (due == 3 && !block && in_range == 3);
        another_context: cover (was_refused && pending == 2 && !deliver && !block);
    end
endmodule
