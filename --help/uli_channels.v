// Encodes a one-hot set of 32 bits as the index of its bit.
//
// `index` answers `one_hot` in the same cycle. It is 0 if no bit is set, and of no meaning if
// several are.
module binary_encoder (
    input  wire [31:0] one_hot,  // The set: at most one bit
    output wire [4:0]  index     // Index of the bit
);

    reg  [4:0] encoded;

    always @* begin
        encoded = 5'd0;
        if (|(one_hot & 32'haaaaaaaa)) begin
            encoded = encoded | 5'd1;
        end
        if (|(one_hot & 32'hcccccccc)) begin
            encoded = encoded | 5'd2;
        end
        if (|(one_hot & 32'hf0f0f0f0)) begin
            encoded = encoded | 5'd4;
        end
        if (|(one_hot & 32'hff00ff00)) begin
            encoded = encoded | 5'd8;
        end
        if (|(one_hot & 32'hffff0000)) begin
            encoded = encoded | 5'h10;
        end
    end

    assign index = encoded;
endmodule

// Finds the lowest of 32 requests.
//
// The outputs answer `request` in the same cycle; without a request they are zero.
module priority_encoder (
    input  wire [31:0] request,  // The requests; bit 0 comes first
    output wire [31:0] one_hot,  // The lowest request alone
    output wire [4:0]  index     // Its index
);

    wire [31:0] lowest;

    assign lowest = request & (32'd0 - request);
    assign one_hot = lowest;

    binary_encoder encoder (
        .one_hot(lowest),
        .index(index)
    );
endmodule

// The user-level interrupts of one hart: its channels, and CSRs 0x800 to 0x804 and 0x810 to 0x83f.
//
// 1. EMONITOR (`arm_valid`, in stage W) arms channel `arm_channel`, or disarms it with scenario 0.
//    Retired in cycle t, the channel is armed from t + 2 on and not pending; events of writes that
//    were accepted before are dropped. It changes nothing if the channel is armed under another
//    context (bit 31 of `ask_status`).
// 2. `event` makes an armed channel pending from the next cycle on.
// 3. `deliver` is high while a channel is armed, pending and of the present context, and delivery
//    is not blocked; `handler` is that of the lowest. `take`, legal while `deliver` is high,
//    delivers it at this edge: it is pending no longer, but for an event of this cycle, `pc` is
//    kept, and further delivery is blocked.
// 4. `leave` (ERETURN, in stage W) unblocks. `trap` (a trap is entered at this edge) keeps in
//    pblock whether delivery was blocked, and blocks; `trap_return` (`mret`, in stage W) takes it
//    back.
// 5. CSRs are read in stage X: `read_value` answers `read_number` in the same cycle. They are
//    written in stage W. What stage W changes shows in the next cycle.
// 6. `hold` disarms all channels, unblocks, and sets the context to 0.
//
// | CSR | name | |
// | --- | --- | --- |
// | 0x800 | uliepc | PC at which the interrupted program goes on |
// | 0x801 | ulictl | bit 0: delivery is blocked; bit 1, pblock: it was before the trap; bits 15:8: context |
// | 0x802 | ulipend | pending channels; a write sets or clears them |
// | 0x803 | uliarm | armed channels; read-only |
// | 0x804 | ulicause | channel in bits 4:0 and scenario in bits 11:8 of what was delivered last |
//
// | 0x810 + c | | read-only: handler of channel c |
// | 0x820 + c | | read-only: its parameter |
// | 0x830 + c | | read-only: what EMONITOR would return of it, but for bit 31 |
//
// | scenario | | parameter |
// | --- | --- | --- |
// | 0 | disarmed | |
// | 1 | a byte of a range is written | the range |
// | 2 | a slot of the thread spawner becomes free, its completion is visible | mask of slots |
// | 3 | a bit of CP_IRQ_PENDING is set, also if it was set already | mask of bits |
module uli_channels (
    input  wire        clk,             // Rising-edge clock
    input  wire        rst,             // Synchronous reset, active high: all channels are disarmed
    input  wire        hold,            // The hart is held
    input  wire [2:0]  ask_channel,     // Stage X: channel of an EMONITOR
    output wire [31:0] ask_status,
    input  wire        arm_valid,       // Stage W: EMONITOR retires
    input  wire [2:0]  arm_channel,     // Its channel
    input  wire [3:0]  arm_scenario,    // Its scenario
    input  wire [29:0] arm_handler,     // Its handler, bits 31:2
    input  wire [31:0] arm_parameter,   // Its parameter
    // To the write monitors: what each channel watches. What a channel watches: some words of some lines:
    output wire [1:0]  watched_valid,   // The channel watches writes
    output wire [51:0] watched_line,    // Line addresses: those that equal this one in the bits of lines
    output wire [51:0] watched_lines,   // Bits of the line address that count
    output wire [31:0] watched_words,   // Words of these lines
    input  wire [1:0]  event_,          // What each channel watches was written
    input  wire [15:0] freed,           // Slots of the thread spawner that become free, for one cycle
    input  wire [31:0] raised,          // Bits of CP_IRQ_PENDING that were set, for one cycle
    output wire        deliver,         // A channel is to be delivered
    output wire [29:0] handler,         // Its handler, bits 31:2
    input  wire        take,            // It is delivered at this edge
    input  wire [29:0] pc,              // PC of the first instruction that was not executed, bits 31:2
    input  wire        leave,           // Stage W: ERETURN retires
    input  wire        trap,            // A trap is entered at this edge
    input  wire        trap_return,     // Stage W: mret retires
    output wire        wake,            // A channel is armed and pending, whether or not it would be delivered
    input  wire [5:0]  read_number,     // Stage X: number of a CSR, bits 5:0
    output wire [31:0] read_value,      // Its value
    output wire        blocked,         // Delivery is blocked
    output wire [29:0] interrupted_pc,  // PC at which the interrupted program goes on, bits 31:2
    input  wire        write_valid,     // Stage W: a CSR is written
    input  wire [5:0]  write_number,    // Its number, bits 5:0
    input  wire [31:0] write_set,       // Bits to set
    input  wire [31:0] write_clear      // Bits to clear; those to set win
);

    localparam [2:0] NUMBER_0 = 3'd0;
    localparam [2:0] NUMBER_1 = 3'd1;
    localparam [3:0] WORD_1 = 4'd1;
    localparam [3:0] WORD_10 = 4'd10;
    localparam [3:0] WORD_11 = 4'd11;
    localparam [3:0] WORD_12 = 4'd12;
    localparam [3:0] WORD_13 = 4'd13;
    localparam [3:0] WORD_14 = 4'd14;
    localparam [3:0] WORD_2 = 4'd2;
    localparam [3:0] WORD_3 = 4'd3;
    localparam [3:0] WORD_4 = 4'd4;
    localparam [3:0] WORD_5 = 4'd5;
    localparam [3:0] WORD_6 = 4'd6;
    localparam [3:0] WORD_7 = 4'd7;
    localparam [3:0] WORD_8 = 4'd8;
    localparam [3:0] WORD_9 = 4'd9;
    wire [31:0] wants;
    wire [31:0] armed;
    wire [31:0] pends;
    reg  [29:0] chosen_handler;
    reg  [3:0] chosen_scenario;
    reg  [31:0] value;
    reg  [31:0] status;
    reg  is_refused;
    wire [3:0] place;
    wire [1:0] kind;
    wire [63:0] of_channel;
    wire [63:0] state;
    wire [31:0] trailing;
    reg  [29:0] ignored;
    wire pending_written;
    wire [1:0] refused;
    wire [1:0] arms;
    wire [1:0] of_before;
    wire [63:0] parameter_;
    wire [1:0] happens;
    wire [1:0] fires;
    reg  block;
    reg  block_before;
    reg  [7:0] context_;
    reg  [29:0] resume_pc;
    reg  [11:0] cause;
    reg  [3:0] scenario_0;
    reg  [3:0] scenario_1;
    reg  [7:0] owner_0;
    reg  [7:0] owner_1;
    reg  [29:0] handlers_0;
    reg  [29:0] handlers_1;
    reg  [29:0] address_0;
    reg  [29:0] address_1;
    reg  [1:0] form_0;
    reg  [1:0] form_1;
    reg  pending_0;
    reg  pending_1;
    reg  [29:0] open_0;
    reg  [29:0] open_1;
    reg  watches_0;
    reg  watches_1;
    reg  [15:0] words_0;
    reg  [15:0] words_1;
    reg  newest_0;
    reg  newest_1;
    reg  newer_0;
    reg  newer_1;
    wire [31:0] lowest_one_hot;
    wire [4:0] lowest_index;
    reg  [15:0] within_0, within_1;

    assign armed = {30'd0, |scenario_1, |scenario_0};
    assign pends = {30'd0, pending_1, pending_0};
    assign wants = {30'd0, (|scenario_1) & pending_1 & (owner_1 == context_), (|scenario_0) & pending_0 &
        (owner_0 == context_)};
    assign wake = |(armed & pends);
    assign deliver = (|wants) & !block;

    always @* begin
        chosen_handler = 30'd0;
        chosen_scenario = 4'd0;
        if (lowest_one_hot[0]) begin
            chosen_handler = handlers_0;
            chosen_scenario = scenario_0;
        end
        if (lowest_one_hot[1]) begin
            chosen_handler = handlers_1;
            chosen_scenario = scenario_1;
        end
    end

    assign handler = chosen_handler;
    assign blocked = block;
    assign interrupted_pc = resume_pc;

    always @* begin
        value = 32'd0;
        if (read_number == 6'd0) begin
            value = {resume_pc, 2'd0};
        end
        if (read_number == 6'd1) begin
            value = {16'd0, context_, 8'd0};
            value = {value[31:1], block};
            value = {value[31:2], block_before, value[0]};
        end
        if (read_number == 6'd2) begin
            value = pends;
        end
        if (read_number == 6'd3) begin
            value = armed;
        end
        if (read_number == 6'd4) begin
            value = {20'd0, cause};
        end
        if (place == 4'd0) begin
            if (kind == 2'd1) begin
                value = {handlers_0, 2'd0};
            end
            if (kind == 2'd2) begin
                value = {address_0, form_0};
            end
            if (kind == 2'd3) begin
                value = state[31:0];
            end
        end
        if (place == 4'd1) begin
            if (kind == 2'd1) begin
                value = {handlers_1, 2'd0};
            end
            if (kind == 2'd2) begin
                value = {address_1, form_1};
            end
            if (kind == 2'd3) begin
                value = state[63:32];
            end
        end
    end

    always @* begin
        status = 32'd0;
        is_refused = 1'b0;
        if (ask_channel == NUMBER_0) begin
            status = state[31:0];
            is_refused = (|scenario_0) & (owner_0 != context_);
        end
        if (ask_channel == NUMBER_1) begin
            status = state[63:32];
            is_refused = (|scenario_1) & (owner_1 != context_);
        end
    end

    assign place = read_number[3:0];
    assign kind = read_number[5:4];
    assign of_channel = {8'd0, owner_1, 4'd0, scenario_1, 16'd0, owner_0, 4'd0, scenario_0, 8'd0};
    assign state = {of_channel[63], |scenario_1, pending_1, of_channel[60:31], |scenario_0, pending_0,
        of_channel[28:0]};
    assign read_value = value;
    assign ask_status = {is_refused, status[30:0]};
    assign trailing = arm_parameter ^ (arm_parameter + 32'd1);

    always @* begin
        ignored = 30'd0;
        if (arm_parameter[0]) begin
            ignored = trailing[31:2];
        end
    end

    assign pending_written = write_valid & (write_number == 6'd2);
    assign refused = {(|scenario_1) & (owner_1 != context_), (|scenario_0) & (owner_0 != context_)};
    assign arms = {arm_valid & (arm_channel == NUMBER_1) & !refused[1], arm_valid & (arm_channel == NUMBER_0)
        & !refused[0]};
    assign of_before = {newest_1 | newer_1, newest_0 | newer_0};
    assign parameter_ = {address_1, form_1, address_0, form_0};
    assign happens = {((scenario_1 == 4'd1) & event_[1]) | ((scenario_1 == 4'd2) & (|(freed &
        parameter_[47:32]))) | ((scenario_1 == 4'd3) & (|(raised & parameter_[63:32]))), ((scenario_0 == 4'd1) &
        event_[0]) | ((scenario_0 == 4'd2) & (|(freed & parameter_[15:0]))) | ((scenario_0 == 4'd3) & (|(raised &
        parameter_[31:0])))};
    assign fires = {happens[1] & !of_before[1], happens[0] & !of_before[0]};

    always @* begin
        within_0 = 16'd0;
        within_0 = {within_0[15:1], !(|(address_0[3:0] & ~open_0[3:0]))};
        within_0 = {within_0[15:2], !(|((WORD_1 ^ address_0[3:0]) & ~open_0[3:0])), within_0[0]};
        within_0 = {within_0[15:3], !(|((WORD_2 ^ address_0[3:0]) & ~open_0[3:0])), within_0[1:0]};
        within_0 = {within_0[15:4], !(|((WORD_3 ^ address_0[3:0]) & ~open_0[3:0])), within_0[2:0]};
        within_0 = {within_0[15:5], !(|((WORD_4 ^ address_0[3:0]) & ~open_0[3:0])), within_0[3:0]};
        within_0 = {within_0[15:6], !(|((WORD_5 ^ address_0[3:0]) & ~open_0[3:0])), within_0[4:0]};
        within_0 = {within_0[15:7], !(|((WORD_6 ^ address_0[3:0]) & ~open_0[3:0])), within_0[5:0]};
        within_0 = {within_0[15:8], !(|((WORD_7 ^ address_0[3:0]) & ~open_0[3:0])), within_0[6:0]};
        within_0 = {within_0[15:9], !(|((WORD_8 ^ address_0[3:0]) & ~open_0[3:0])), within_0[7:0]};
        within_0 = {within_0[15:10], !(|((WORD_9 ^ address_0[3:0]) & ~open_0[3:0])), within_0[8:0]};
        within_0 = {within_0[15:11], !(|((WORD_10 ^ address_0[3:0]) & ~open_0[3:0])), within_0[9:0]};
        within_0 = {within_0[15:12], !(|((WORD_11 ^ address_0[3:0]) & ~open_0[3:0])), within_0[10:0]};
        within_0 = {within_0[15:13], !(|((WORD_12 ^ address_0[3:0]) & ~open_0[3:0])), within_0[11:0]};
        within_0 = {within_0[15:14], !(|((WORD_13 ^ address_0[3:0]) & ~open_0[3:0])), within_0[12:0]};
        within_0 = {within_0[15], !(|((WORD_14 ^ address_0[3:0]) & ~open_0[3:0])), within_0[13:0]};
        within_0 = {!(|(~address_0[3:0] & ~open_0[3:0])), within_0[14:0]};
    end

    assign watched_valid = {watches_1, watches_0};
    assign watched_line = {address_1[29:4], address_0[29:4]};
    assign watched_lines = {~open_1[29:4], ~open_0[29:4]};
    assign watched_words = {words_1, words_0};

    always @* begin
        within_1 = 16'd0;
        within_1 = {within_1[15:1], !(|(address_1[3:0] & ~open_1[3:0]))};
        within_1 = {within_1[15:2], !(|((WORD_1 ^ address_1[3:0]) & ~open_1[3:0])), within_1[0]};
        within_1 = {within_1[15:3], !(|((WORD_2 ^ address_1[3:0]) & ~open_1[3:0])), within_1[1:0]};
        within_1 = {within_1[15:4], !(|((WORD_3 ^ address_1[3:0]) & ~open_1[3:0])), within_1[2:0]};
        within_1 = {within_1[15:5], !(|((WORD_4 ^ address_1[3:0]) & ~open_1[3:0])), within_1[3:0]};
        within_1 = {within_1[15:6], !(|((WORD_5 ^ address_1[3:0]) & ~open_1[3:0])), within_1[4:0]};
        within_1 = {within_1[15:7], !(|((WORD_6 ^ address_1[3:0]) & ~open_1[3:0])), within_1[5:0]};
        within_1 = {within_1[15:8], !(|((WORD_7 ^ address_1[3:0]) & ~open_1[3:0])), within_1[6:0]};
        within_1 = {within_1[15:9], !(|((WORD_8 ^ address_1[3:0]) & ~open_1[3:0])), within_1[7:0]};
        within_1 = {within_1[15:10], !(|((WORD_9 ^ address_1[3:0]) & ~open_1[3:0])), within_1[8:0]};
        within_1 = {within_1[15:11], !(|((WORD_10 ^ address_1[3:0]) & ~open_1[3:0])), within_1[9:0]};
        within_1 = {within_1[15:12], !(|((WORD_11 ^ address_1[3:0]) & ~open_1[3:0])), within_1[10:0]};
        within_1 = {within_1[15:13], !(|((WORD_12 ^ address_1[3:0]) & ~open_1[3:0])), within_1[11:0]};
        within_1 = {within_1[15:14], !(|((WORD_13 ^ address_1[3:0]) & ~open_1[3:0])), within_1[12:0]};
        within_1 = {within_1[15], !(|((WORD_14 ^ address_1[3:0]) & ~open_1[3:0])), within_1[13:0]};
        within_1 = {!(|(~address_1[3:0] & ~open_1[3:0])), within_1[14:0]};
    end

    priority_encoder lowest_unit (
        .request(wants),
        .one_hot(lowest_one_hot),
        .index(lowest_index)
    );

    always @(posedge clk) begin
        if (rst) begin
            block <= 1'b0;
            block_before <= 1'b0;
            context_ <= 8'd0;
            resume_pc <= 30'd0;
            cause <= 12'd0;
            scenario_0 <= 4'd0;
            scenario_1 <= 4'd0;
            owner_0 <= 8'd0;
            owner_1 <= 8'd0;
            handlers_0 <= 30'd0;
            handlers_1 <= 30'd0;
            address_0 <= 30'd0;
            address_1 <= 30'd0;
            form_0 <= 2'd0;
            form_1 <= 2'd0;
            pending_0 <= 1'b0;
            pending_1 <= 1'b0;
            open_0 <= 30'd0;
            open_1 <= 30'd0;
            watches_0 <= 1'b0;
            watches_1 <= 1'b0;
            words_0 <= 16'd0;
            words_1 <= 16'd0;
            newest_0 <= 1'b0;
            newest_1 <= 1'b0;
            newer_0 <= 1'b0;
            newer_1 <= 1'b0;
        end else begin
            newest_0 <= arms[0];
            newer_0 <= newest_0;
            if (take & lowest_one_hot[0]) begin
                pending_0 <= 1'b0;
            end
            if (pending_written & write_clear[0]) begin
                pending_0 <= 1'b0;
            end
            if (fires[0] | (pending_written & write_set[0])) begin
                pending_0 <= 1'b1;
            end
            if (arms[0]) begin
                pending_0 <= 1'b0;
                scenario_0 <= arm_scenario;
                owner_0 <= context_;
                handlers_0 <= arm_handler;
                address_0 <= arm_parameter[31:2];
                form_0 <= arm_parameter[1:0];
                open_0 <= ignored;
            end
            words_0 <= within_0;
            watches_0 <= scenario_0 == 4'd1;
            if (hold) begin
                scenario_0 <= 4'd0;
                pending_0 <= 1'b0;
            end
            newest_1 <= arms[1];
            newer_1 <= newest_1;
            if (take & lowest_one_hot[1]) begin
                pending_1 <= 1'b0;
            end
            if (pending_written & write_clear[1]) begin
                pending_1 <= 1'b0;
            end
            if (fires[1] | (pending_written & write_set[1])) begin
                pending_1 <= 1'b1;
            end
            if (arms[1]) begin
                pending_1 <= 1'b0;
                scenario_1 <= arm_scenario;
                owner_1 <= context_;
                handlers_1 <= arm_handler;
                address_1 <= arm_parameter[31:2];
                form_1 <= arm_parameter[1:0];
                open_1 <= ignored;
            end
            words_1 <= within_1;
            watches_1 <= scenario_1 == 4'd1;
            if (hold) begin
                scenario_1 <= 4'd0;
                pending_1 <= 1'b0;
            end
            if (write_valid & (write_number == 6'd0)) begin
                resume_pc <= (resume_pc & ~write_clear[31:2]) | write_set[31:2];
            end
            if (write_valid & (write_number == 6'd1)) begin
                block <= (block & !write_clear[0]) | write_set[0];
                block_before <= (block_before & !write_clear[1]) | write_set[1];
                context_ <= (context_ & ~write_clear[15:8]) | write_set[15:8];
            end
            if (write_valid & (write_number == 6'd4)) begin
                cause <= ((cause & ~write_clear[11:0]) | write_set[11:0]) & 12'hf1f;
            end
            if (leave) begin
                block <= 1'b0;
            end
            if (take) begin
                block <= 1'b1;
                resume_pc <= pc;
                cause <= {chosen_scenario, 3'd0, lowest_index};
            end
            if (trap_return) begin
                block <= block_before;
            end
            if (trap) begin
                block_before <= block;
                block <= 1'b1;
            end
            if (hold) begin
                block <= 1'b0;
                block_before <= 1'b0;
                context_ <= 8'd0;
            end
        end
    end

    // Bits that this module does not use.
    wire unused = &{1'b0, status[31], of_channel[30:29], of_channel[62:61], trailing[1:0],
        lowest_one_hot[31:2]};
endmodule

