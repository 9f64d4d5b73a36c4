// Rules U8, U9, U12 and U17 as far as they are about traps of one hart, with lock-up (design,
// section 2.4): an exception and an interrupt are entered at once, each with its PC, cause, value
// and target; an exception of the first instruction of a handler stops the hart; `wfi` sleeps until
// it is woken, or until the hart goes on elsewhere.
module trap_unit_formal (
    input wire        clk,
    input wire        rst,
    input wire        hold,
    input wire        exception,
    input wire        halts,
    input wire [4:0]  cause,
    input wire [31:0] value,
    input wire [29:0] pc,
    input wire        boundary,
    input wire [29:0] boundary_pc,
    input wire        interrupt,
    input wire [4:0]  interrupt_cause,
    input wire [29:0] base,
    input wire        vectored,
    input wire        retire,
    input wire        sleep,
    input wire        wake,
    input wire        resume,
    input wire        take
);
    wire        trap, stop, asleep, waiting, locked, entered;
    wire [29:0] trap_pc, target;
    wire [5:0]  trap_cause;
    wire [31:0] trap_value;
    trap_unit dut (
        .clk(clk), .rst(rst), .hold(hold), .exception(exception), .halts(halts), .cause(cause), .value(value), .pc(pc),
        .boundary(boundary), .boundary_pc(boundary_pc), .interrupt_(interrupt), .interrupt_cause(interrupt_cause), .base(base),
        .vectored_(vectored), .retire(retire), .sleep(sleep), .wake(wake), .resume(resume), .take(take), .trap(trap), .trap_pc(trap_pc),
        .trap_cause(trap_cause), .trap_value(trap_value), .target(target), .stop(stop), .asleep(asleep), .waiting(waiting),
        .locked(locked), .entered(entered)
    );

    `include "start.vh"

    // What has happened to the hart, told apart from how the unit keeps it.
    reg first;      // No instruction retired since a trap was entered: the handler has not begun.
    reg slept;      // `wfi` has retired, and nothing has ended the sleep.
    reg stopped;    // An exception has stopped it.
    reg dead;       // It was one of its handler's first instruction.

    // The contract of stage W and of the hart's state: an instruction retires or raises an
    // exception; an exception is no boundary; a stopped hart, a sleeping and a held one has nothing
    // in stage W, and a stopped and a held one no boundary. `wfi` retires, and a base for vectors
    // is aligned.
    always @* begin
        assume (!(exception && retire));
        assume (!exception || !boundary);
        assume (!boundary || !(stopped || hold));
        assume (!(exception || retire) || !(stopped || slept || hold));
        assume (!sleep || retire);
        assume (!vectored || base[3:0] == 0);
        assume (interrupt_cause == 3 || interrupt_cause == 7 || interrupt_cause == 11);
    end

    wire fails = exception && first && !halts;
    always @(posedge clk) begin
        if (retire) first <= 0;
        if (trap) first <= 1;
        if (sleep) slept <= 1;
        if (wake || trap || take) slept <= 0;
        if (resume) begin
            stopped <= 0;
            dead <= 0;
        end
        if (exception && (first || halts)) stopped <= 1;
        if (fails) dead <= 1;
        if (hold || rst) begin
            first <= 0;
            slept <= 0;
            stopped <= 0;
            dead <= 0;
        end
    end

    reg        was_trap, was_stopped, was_held;
    reg [2:0]  nested, naps;
    reg        nap_ended, resumed;
    always @(posedge clk) begin
        was_trap <= trap && !rst && !hold;
        was_stopped <= stopped && !rst && !hold;
        resumed <= !rst && !hold && (resumed || (resume && dead));
        was_held <= hold || rst;
        nested <= rst || hold ? 0 : nested + (trap && slept && nested != 7);
        nap_ended <= !rst && !hold && slept && wake;
        naps <= rst || hold ? 0 : naps + (sleep && !wake && naps != 7);
    end

    wire by_interrupt = boundary && interrupt;
    always @(posedge clk) if (started && !rst) begin
        // When: at every exception that does not stop the hart, at every boundary at which an
        // interrupt is to be taken, and never else.
        traps_exactly: assert (trap == ((exception && !halts && !first) || by_interrupt));
        // U12, U13: an exception goes first; then nothing of an interrupt is in it.
        if (exception && trap) exception_is_told: assert (trap_pc == pc && trap_cause == {1'b0, cause} && trap_value == value);
        if (exception && trap) exception_goes_to_base: assert (target == base);
        // U8, U9: an interrupt has the PC of the next instruction: all older have retired, and that
        // one has not.
        if (by_interrupt) interrupt_is_told: assert (trap_pc == boundary_pc && trap_cause == {1'b1, interrupt_cause} && trap_value == 0);
        if (by_interrupt) interrupt_goes_to_vector: assert (target == base + (vectored ? interrupt_cause : 0));
        // Lock-up: the exception of a handler's first instruction, which stops the hart like
        // `ebreak` does.
        stops_exactly: assert (stop == (exception && (first || halts)));
        lock_up_shows: assert (locked == dead);
        handler_has_not_begun: assert (entered == first);
        // U19: nothing is entered while the hart is stopped.
        if (stopped) nothing_while_stopped: assert (!trap && !stop);
        // U17, U27: the hart sleeps until it is woken, in whose cycle it may fetch; a trap or a
        // delivery ends the sleep as well.
        sleeps: assert (asleep == (slept && !wake));
        waits: assert (waiting == slept);
        if (was_trap) awake_in_handler: assert (!asleep);
        // A hold ends everything.
        if (was_held) nothing_after_hold: assert (!asleep && !waiting && !locked && !entered);

        trap_out_of_sleep: cover (nested == 2);
        a_nap_is_ended_by_wake: cover (nap_ended && naps == 2);
        lock_up: cover (locked && was_stopped);
        locked_again: cover (locked && resumed);
        exception_in_a_handler: cover (exception && trap && !first && was_trap == 0 && nested == 1);
        stopped_by_break_in_a_handler: cover (stopped && !locked && first);
    end
endmodule
