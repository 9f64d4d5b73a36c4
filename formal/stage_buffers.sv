// The staging buffers: each is free, owned by a hart, holds a line that is fetched, or a command
// that waits; a command is at one hart at a time, as it was staged, with its line; what a hart
// gives back, or loses when it is held, is given back once; what was dropped is given to nobody.
//
// Of all buffers one is followed, of all harts one, and of the words of a buffer one, whichever.
// Lines come and commands are dropped in any cycle, harts take, finish, give back and are held in
// any cycle. Resets come at any time.
module stage_buffers_formal (
    input wire         clk,
    input wire         rst,
    input wire         claim,
    input wire         fill,
    input wire [3:0]   fill_buffer,
    input wire [511:0] fill_data,
    input wire         stage,
    input wire [43:0]  staged,
    input wire         discard,
    input wire [3:0]   discard_buffer,
    input wire         drop,
    input wire [3:0]   drop_buffer,
    input wire         stage_event_ready,
    input wire         event_valid,
    input wire [105:0] event_,
    input wire [2:0]   hart,
    input wire [3:0]   place,
    input wire         store,
    input wire [31:0]  data,
    input wire         take,
    input wire         finish,
    input wire         lose,
    input wire [7:0]   hold
);
    wire         free, stage_event_valid, event_ready, stall, here, has, loses;
    wire [3:0]   free_buffer;
    wire [105:0] stage_event;
    wire [31:0]  word;
    wire [255:0] words;
    wire [43:0]  oldest, command;
    stage_buffers dut (
        .clk(clk), .rst(rst), .stage_free(free), .stage_free_buffer(free_buffer), .stage_claim(claim), .stage_fill(fill),
        .stage_fill_buffer(fill_buffer), .stage_fill_data(fill_data), .stage_stage(stage), .stage_staged(staged),
        .stage_discard(discard), .stage_discard_buffer(discard_buffer), .stage_drop(drop), .stage_drop_buffer(drop_buffer),
        .stage_event_valid(stage_event_valid), .stage_event_ready(stage_event_ready), .stage_event(stage_event),
        .event_valid(event_valid), .event_(event_), .event_ready(event_ready), .hart(hart), .place(place), .store(store),
        .data(data), .stall(stall), .word(word), .words(words), .here(here), .oldest(oldest), .take(take), .has(has),
        .command(command), .finish(finish), .lose(lose), .loses(loses), .hold(hold)
    );
    (* anyconst *) reg [3:0] chosen, at;
    (* anyconst *) reg its_hart;
    (* hierconn *) wire [3:0] \dut.waiting.tracked ;
    (* hierconn *) wire [2:0] \dut.commands.tracked ;
    (* hierconn *) wire [2:0] \dut.lost_commands.tracked ;
    assign \dut.waiting.tracked = chosen;
    assign \dut.commands.tracked = {2'd0, its_hart};
    assign \dut.lost_commands.tracked = {2'd0, its_hart};
    (* hierconn *) wire [15:0] \dut.waiting.inside ;
    (* hierconn *) wire [43:0] \dut.waiting.word ;
    (* hierconn *) wire [43:0] \dut.commands.word ;
    (* hierconn *) wire [43:0] \dut.lost_commands.word ;
    (* hierconn *) wire [3:0] \dut.own_0 ;
    (* hierconn *) wire [3:0] \dut.own_1 ;
    (* hierconn *) wire [15:0] \dut.unused ;
    (* hierconn *) wire [15:0] \dut.dropped ;
    (* hierconn *) wire [7:0] \dut.taken ;
    (* hierconn *) wire [7:0] \dut.lost ;
    (* hierconn *) wire [2:0] \dut.leaving ;
    (* hierconn *) wire \dut.gives_back ;
    (* hierconn *) wire \dut.skips ;
    (* hierconn *) wire [3:0] \dut.buffer_0.tracked ;
    assign \dut.buffer_0.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_0.word ;
    (* hierconn *) wire [3:0] \dut.buffer_1.tracked ;
    assign \dut.buffer_1.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_1.word ;
    (* hierconn *) wire [3:0] \dut.buffer_2.tracked ;
    assign \dut.buffer_2.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_2.word ;
    (* hierconn *) wire [3:0] \dut.buffer_3.tracked ;
    assign \dut.buffer_3.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_3.word ;
    (* hierconn *) wire [3:0] \dut.buffer_4.tracked ;
    assign \dut.buffer_4.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_4.word ;
    (* hierconn *) wire [3:0] \dut.buffer_5.tracked ;
    assign \dut.buffer_5.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_5.word ;
    (* hierconn *) wire [3:0] \dut.buffer_6.tracked ;
    assign \dut.buffer_6.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_6.word ;
    (* hierconn *) wire [3:0] \dut.buffer_7.tracked ;
    assign \dut.buffer_7.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_7.word ;
    (* hierconn *) wire [3:0] \dut.buffer_8.tracked ;
    assign \dut.buffer_8.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_8.word ;
    (* hierconn *) wire [3:0] \dut.buffer_9.tracked ;
    assign \dut.buffer_9.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_9.word ;
    (* hierconn *) wire [3:0] \dut.buffer_10.tracked ;
    assign \dut.buffer_10.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_10.word ;
    (* hierconn *) wire [3:0] \dut.buffer_11.tracked ;
    assign \dut.buffer_11.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_11.word ;
    (* hierconn *) wire [3:0] \dut.buffer_12.tracked ;
    assign \dut.buffer_12.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_12.word ;
    (* hierconn *) wire [3:0] \dut.buffer_13.tracked ;
    assign \dut.buffer_13.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_13.word ;
    (* hierconn *) wire [3:0] \dut.buffer_14.tracked ;
    assign \dut.buffer_14.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_14.word ;
    (* hierconn *) wire [3:0] \dut.buffer_15.tracked ;
    assign \dut.buffer_15.tracked = chosen;
    (* hierconn *) wire [31:0] \dut.buffer_15.word ;
    wire [511:0] stored = {
        \dut.buffer_15.word , \dut.buffer_14.word , \dut.buffer_13.word , \dut.buffer_12.word ,
        \dut.buffer_11.word , \dut.buffer_10.word , \dut.buffer_9.word , \dut.buffer_8.word ,
        \dut.buffer_7.word , \dut.buffer_6.word , \dut.buffer_5.word , \dut.buffer_4.word ,
        \dut.buffer_3.word , \dut.buffer_2.word , \dut.buffer_1.word , \dut.buffer_0.word 
    };

    `include "start.vh"

`ifdef MUTANT
    // Few values reach in few cycles what a fault shows.
    integer i;
    always @* begin
        assume (chosen == 2 && (at == 0 || at == 9) && event_ < 4 && staged[43:13] == 0 && data < 2);
        for (i = 0; i < 16; i = i + 1) if (i == at) assume (fill_data[32 * i +: 32] < 2);
            else assume (fill_data[32 * i +: 32] == 0);
    end
`endif

    // Buffers that were claimed, and whose line came. Of the one that is followed: its command, who
    // has it (0 nobody, 1 it waits, 2 a hart, 3 it is being given back), whether it was dropped,
    // and the followed word.
    reg [15:0] claimed, filled;
    localparam NOBODY = 2'd0, WAITS = 2'd1, AT_HART = 2'd2, BACK = 2'd3;
    reg [1:0] state;
    reg       at_hart, dropped, known;
    reg [43:0] its_command;
    reg [31:0] content;
    wire [3:0] own = hart == 0 ? \dut.own_0 : \dut.own_1 ;
    wire [3:0] its_own = its_hart ? \dut.own_1 : \dut.own_0 ;
    wire takes = take && oldest[3:0] == chosen;
    wire back_given = \dut.gives_back && stage_event_ready;

    // The contract of the queues, and of the owner.
    always @* begin
        assume (hart < 2);
        if (claim) assume (free);
        if (fill) assume (claimed[fill_buffer] && !filled[fill_buffer]);
        if (stage) assume (claimed[staged[3:0]] && filled[staged[3:0]]);
        if (discard) assume (claimed[discard_buffer] && filled[discard_buffer]);
        assume (!(stage && discard) && !(claim && (stage || discard || drop)));
        if (take) assume (here && !has && !loses);
        if (finish || lose) assume (has);
        assume (take + finish + lose <= 1);
    end

    always @(posedge clk) begin
        if (claim) claimed[free_buffer] <= 1;
        if (claim) filled[free_buffer] <= 0;
        if (fill) filled[fill_buffer] <= 1;
        if (stage) claimed[staged[3:0]] <= 0;
        if (discard) claimed[discard_buffer] <= 0;
        if (stage && staged[3:0] == chosen) {state, its_command} <= {WAITS, staged};
        if (state == WAITS && \dut.skips && oldest[3:0] == chosen) state <= NOBODY;
        if (state == AT_HART && at_hart == hart[0] && finish) state <= NOBODY;
        // A hart that takes another one has lost what was dropped.
        if (state == AT_HART && at_hart == hart[0] && take) state <= NOBODY;
        if (state == AT_HART && ((at_hart == hart[0] && lose) || (hold[at_hart] && !(at_hart == hart[0] && (finish || take))))) state <= BACK;
        if (state == BACK && back_given && \dut.leaving == at_hart) state <= NOBODY;
        if (takes) {state, at_hart} <= {hold[hart] ? BACK : AT_HART, hart[0]};
        if (claim && free_buffer == chosen) dropped <= 0;
        if (drop && drop_buffer == chosen) dropped <= 1;
        if (fill && fill_buffer == chosen) {known, content} <= {1'b1, fill_data[32 * at +: 32]};
        if (store && !stall && own == chosen && place == at) content <= data;
        if (rst) begin
            claimed <= 0;
            state <= NOBODY;
            dropped <= 0;
            known <= 0;
        end
    end
    wire [15:0] own_0 = 16'd1 << \dut.own_0 , own_1 = 16'd1 << \dut.own_1 ;
    wire [15:0] unused = \dut.unused , waiting = \dut.waiting.inside ;
    wire is_own = at_hart ? own_1[chosen] : own_0[chosen];
    wire its_back = \dut.gives_back && \dut.leaving == its_hart;
    reg [1:0] gave_back;
    reg was_taken;
    always @(posedge clk) begin
        gave_back <= rst ? 0 : gave_back + (back_given && state == BACK && \dut.leaving == at_hart && gave_back != 3);
        was_taken <= !rst && (was_taken || (finish && state == AT_HART && hart == at_hart));
    end

    always @(posedge clk) if (started && !rst) begin
        // Each buffer is free, a hart's own, is claimed, or its command waits: one of these. Others
        // than those of two harts are not there.
        one_of_these: assert ((unused | own_0 | own_1 | claimed | waiting) == 16'hf && (unused & (own_0 | own_1 | claimed | waiting)) == 0
            && (claimed & (own_0 | own_1 | waiting)) == 0 && (waiting & (own_0 | own_1)) == 0 && own_0 != own_1);
        if (free) free_is_free: assert (unused[free_buffer]);
        // What nobody holds any more is free, and with a buffer free there is one to claim.
        if (unused != 0) free_is_shown: assert (free);
        // A command is given as it was staged, once, and not when it was dropped.
        if (here && oldest[3:0] == chosen) given_as_staged: assert (state == WAITS && oldest == its_command && !dropped);
        if (waiting[chosen] == 0) not_given_again: assert (state != WAITS);
        // The hart that has it is one, sees it as it was staged with what is in the buffer, until
        // it ends or is dropped.
        if (has && own == chosen) one_hart: assert (state == AT_HART && at_hart == hart[0] && !dropped);
        if (has && hart == its_hart) command_is_its: assert (command[3:0] == its_own && (its_own != chosen || command == its_command));
        if (state == AT_HART && !dropped && hart == at_hart) kept: assert (has);
        if (known && own == chosen && place == at) word_is_kept: assert (word == content);
        if (known && own == chosen && at < 8) words_are_kept: assert (words[32 * at[2:0] +: 32] == content);
        // What is given back is told, with its queue and buffer, until that is noted, once; then
        // the hart has it no more.
        if (state == BACK) back_is_told: assert (stage_event_valid && stage_event[2:0] == 3 && !event_ready);
        if (its_back) back_is_its: assert (stage_event[14:11] == its_own && (its_own != chosen || (state == BACK && at_hart == its_hart
            && stage_event[10:3] == its_command[11:4])));
        if (state == BACK && hart == at_hart) back_is_no_more: assert (!has && loses);
        // Another event passes when nothing is given back.
        if (event_valid && !\dut.gives_back ) event_passes: assert (stage_event_valid && stage_event == event_ && event_ready == stage_event_ready);

        // What the induction needs to know of the state.
        state_waits: assert ((state == WAITS) == waiting[chosen] && (state != WAITS || (\dut.waiting.word == its_command && its_command[3:0] == chosen)));
        state_hart: assert (!(state == AT_HART || state == BACK) || (is_own && \dut.taken [at_hart] && \dut.lost [at_hart] == (state == BACK)));
        state_taken: assert ((!(own_0[chosen] && \dut.taken [0]) || ((state == AT_HART || state == BACK) && at_hart == 0))
            && (!(own_1[chosen] && \dut.taken [1]) || ((state == AT_HART || state == BACK) && at_hart == 1)));
        state_command: assert (!\dut.taken [its_hart] || (\dut.commands.word [3:0] == its_own && \dut.commands.word == \dut.lost_commands.word
            && (its_own != chosen || \dut.commands.word == its_command)));
        state_lost: assert ((\dut.lost & ~ \dut.taken ) == 0 && \dut.taken < 4);
        state_dropped: assert (unused[chosen] || dropped == \dut.dropped [chosen]);
        state_word: assert (!known || stored[32 * at +: 32] == content);

        given_back_and_taken: cover (gave_back == 2 && state == AT_HART && !dropped);
        dropped_while_it_waits: cover (state == WAITS && dropped && was_taken && \dut.skips );
        dropped_at_a_hart: cover (state == AT_HART && dropped && take && hart == at_hart && was_taken);
        both_give_back: cover (\dut.lost == 3 && state == BACK && gave_back == 1);
        all_are_held: cover (!free && was_taken && state == WAITS);
    end
endmodule
