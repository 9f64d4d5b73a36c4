// What warps write into their rings: each write that a bank accepts is an event, once, those of a
// bank in order; the copy of an entry is what memory has, but for the events that wait; a bank is
// held only while two of its writes wait, and while that promise is kept none is lost.
//
// Of all banks one is followed, and of all entries of all rings one, whichever, whose line belongs
// to this bank. Writes come anywhere in memory in any cycle, events are taken when the owner likes.
// Resets come at any time.
module queue_watch_formal (
    input wire        clk,
    input wire        rst,
    input wire        enable,
    input wire [1:0]  tap_valid,
    input wire [51:0] tap_line,
    input wire [1:0]  tap_phase,
    input wire        event_ready,
    input wire        look,
    input wire [7:0]  look_queue,
    input wire [5:0]  look_entry
);
    wire [1:0] hold;
    wire       event_valid, phase;
    wire [7:0] event_queue;
    (* anyconst *) reg [25:0] base;
    (* anyconst *) reg [4:0] area_log2;
    queue_watch dut (
        .clk(clk), .rst(rst), .enable(enable), .base(base), .area_log2(area_log2), .tap_valid(tap_valid), .tap_line(tap_line),
        .tap_phase(tap_phase), .tap_hold(hold), .event_valid(event_valid), .event_ready(event_ready), .event_queue(event_queue),
        .look(look), .look_queue(look_queue), .look_entry(look_entry), .phase(phase)
    );
    (* anyconst *) reg bank;
    (* anyconst *) reg [1:0] its;
    (* anyconst *) reg [5:0] entry;
    (* hierconn *) wire [13:0] \dut.copies.tracked ;
    assign \dut.copies.tracked = {6'd0, its, entry};
    (* hierconn *) wire \dut.copies.word ;
    (* hierconn *) wire [31:0] \dut.turns_grant ;
    (* hierconn *) wire [31:0] \dut.turns.above ;
    (* hierconn *) wire [25:0] \dut.rings_mask ;
    (* hierconn *) wire \dut.first_0 ;
    (* hierconn *) wire \dut.first_1 ;
    (* hierconn *) wire \dut.second_0 ;
    (* hierconn *) wire \dut.second_1 ;
    (* hierconn *) wire [25:0] \dut.first_line_0 ;
    (* hierconn *) wire [25:0] \dut.first_line_1 ;
    (* hierconn *) wire [25:0] \dut.second_line_0 ;
    (* hierconn *) wire [25:0] \dut.second_line_1 ;
    (* hierconn *) wire \dut.first_phase_0 ;
    (* hierconn *) wire \dut.first_phase_1 ;
    (* hierconn *) wire \dut.second_phase_0 ;
    (* hierconn *) wire \dut.second_phase_1 ;
    wire first = bank ? \dut.first_1 : \dut.first_0 ;
    wire second = bank ? \dut.second_1 : \dut.second_0 ;
    wire [25:0] first_line = bank ? \dut.first_line_1 : \dut.first_line_0 ;
    wire [25:0] second_line = bank ? \dut.second_line_1 : \dut.second_line_0 ;
    wire other_first = bank ? \dut.first_0 : \dut.first_1 ;
    wire other_second = bank ? \dut.second_0 : \dut.second_1 ;
    wire [25:0] other_first_line = bank ? \dut.first_line_0 : \dut.first_line_1 ;
    wire [25:0] other_second_line = bank ? \dut.second_line_0 : \dut.second_line_1 ;
    wire first_phase = bank ? \dut.first_phase_1 : \dut.first_phase_0 ;
    wire second_phase = bank ? \dut.second_phase_1 : \dut.second_phase_0 ;

    `include "start.vh"

    // Where a line is: of which queue and entry, if of any. Two areas of two rings of 64 lines
    // follow each other.
    wire [25:0] area_lines = 26'd1 << (area_log2 - 6);
    function [25:0] offset(input [25:0] line);
        offset = line - base;
    endfunction
    function is_ring(input [25:0] line);
        is_ring = {1'b0, offset(line)} < {area_lines, 1'b0} && (offset(line) & (area_lines - 1)) < 128;
    endfunction
    function [7:0] place(input [25:0] line);
        place = (offset(line) >= area_lines ? 8'd128 : 8'd0) + (offset(line) & 26'h7f);
    endfunction
    wire [25:0] line = bank ? tap_line[51:26] : tap_line[25:0];
    wire [25:0] other_line = bank ? tap_line[25:0] : tap_line[51:26];
    wire comes = tap_valid[bank];
    wire its_phase = tap_phase[bank];

    reg age;
    always @* begin
        assume (area_log2 >= 13 && area_log2 <= 30);
        assume ((base & ((area_lines << 1) - 1)) == 0);
        // The contract of the banks: a write that could be an event waits while it is held; each
        // line belongs to one bank.
        assume ((tap_valid & hold) == 0);
        if (tap_valid[!bank]) assume (!(is_ring(other_line) && place(other_line) == {its, entry}));
        // That of the owner: the areas are known before there are rings.
        if (!age) assume (!enable);
    end
`ifdef MUTANT
    always @* assume (base == 26'h100000 && area_log2 == 14);
`endif

    // The writes of the bank that are events and have not passed, as place and phase; what memory
    // has of the entry.
    reg [1:0] count;
    reg [8:0] older, newer;
    reg known, memory;
    wire pushes = comes && is_ring(line);
    wire passes = event_valid && event_ready && \dut.turns_grant [bank];
    wire pops = count != 0 && (passes || !enable);
    wire [8:0] write = {place(line), its_phase};
    wire [1:0] rest = count - pops;
    // Events of the other bank that pass while this one waits; the last look.
    reg [1:0] others;
    reg looked, look_phase, was_full;
    reg [2:0] passed;
    always @(posedge clk) begin
        age <= 1;
        count <= rest + pushes;
        if (pops) older <= newer;
        if (pushes && rest == 0) older <= write;
        if (pushes && rest == 1) newer <= write;
        if (pushes && place(line) == {its, entry}) {known, memory} <= {1'b1, its_phase};
        // Without rings what is written is not an event: the copy is of any value then.
        if (!enable && count != 0 && older[8:1] == {its, entry}) known <= 0;
        others <= count == 0 || passes || !enable ? 0 : others + (event_valid && event_ready);
        if (look) looked <= look_queue == its && look_entry == entry;
        if (look) look_phase <= \dut.copies.word ;
        passed <= passed + (passes && passed != 7);
        was_full <= was_full || (count == 2 && newer == {its, entry, 1'b1});
        if (rst) begin
            age <= 0;
            count <= 0;
            known <= 0;
            others <= 0;
            looked <= 0;
            passed <= 0;
            was_full <= 0;
        end
    end
    wire newest_is_its = count == 2 && newer[8:1] == {its, entry};
    wire older_is_its = count != 0 && older[8:1] == {its, entry};
    wire [31:0] above = \dut.turns.above ;

    always @(posedge clk) if (started && !rst) begin
        // Each write into a ring that the bank accepted is shown until it passes, the older one
        // first, and nothing else is.
        if (enable && count != 0) waits_is_shown: assert (event_valid);
        if (passes) passes_in_order: assert (count != 0 && event_queue == older[8:7]);
        if (enable) nothing_else: assert (event_valid || count == 0);
        if (!enable) no_rings: assert (!event_valid);
        // The copy is what memory has, but for events that wait.
        if (known) copy_is_memory: assert (memory == (newest_is_its ? newer[0] : older_is_its ? older[0] : \dut.copies.word ));
        if (looked) look_is_copy: assert (phase == look_phase);
        // A bank is held only while two of its writes wait, and not for long: the other one passes
        // once meanwhile.
        if (hold[bank]) holds_behind_a_write: assert (count != 0);
        each_in_turn: assert (others <= 1);

        // What the induction needs to know of the state.
        state_mask: assert (!age || \dut.rings_mask == ~(area_lines | 26'h7f));
        state_first: assert (count == (first && is_ring(first_line)) + (second && is_ring(second_line)) && (!second || (first && is_ring(first_line))));
        state_older: assert (count == 0 || older == {place(first_line), first_phase});
        state_newer: assert (count != 2 || newer == {place(second_line), second_phase});
        state_other: assert (!(other_first && is_ring(other_first_line) && place(other_first_line) == {its, entry})
            && !(other_second && is_ring(other_second_line) && place(other_second_line) == {its, entry}));
        state_turns: assert (above == 0 || above == ~32'd1 || above == ~32'd3);
        state_others: assert (others == 0 || above == (bank ? ~32'd1 : 0) || above == (bank ? ~32'd1 : ~32'd3));

        both_wait: cover (was_full && passed == 3 && count == 0 && known && memory && others == 0);
        held_and_passed: cover (hold == 3 && others == 1 && passed == 2);
        looked_at: cover (looked && phase && known && passed == 1);
    end
endmodule
