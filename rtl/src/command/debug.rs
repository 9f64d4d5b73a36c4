//! Debugging of the harts from the host: stop, step, resume, and words that a stopped hart
//! executes.

use crate::host::registers::debug::DebugControl;
use hermes_hdl::prelude::*;

/// Stops and resumes harts as the registers CP_STEP and CP_EXECUTE say, and holds CP_DATA.
///
/// 1. `stop`, for one cycle, stops a hart at this edge: at the first boundary between two
///    instructions after it was asked for. An interrupt that is due there stays pending (`closed`
///    from the cycle after the request on). A hart that is held stops before its first instruction.
///    The request ends when the hart is stopped or its hold begins.
/// 2. `resume`, for one cycle, lets a stopped hart go on. For a step `closed` stays high until the
///    hart stops again: behind the one instruction that retires, or at the trap handler that this
///    instruction enters.
/// 3. CP_EXECUTE: from the next cycle on `execute` has the bit of the hart until it fetches
///    (`issue`) `word`, and again if the instruction is replayed. `busy` is high until the word
///    retires, raises an exception, or its hart is held.
/// 4. `error`: the word raised an exception; or CP_EXECUTE was written while the hart was not
///    stopped or `busy` was high. Until the next write of CP_EXECUTE.
///
/// `stop` and `resume` answer the inputs in the same cycle, the other outputs are registers'
/// values.
#[clocked]
#[derive(Clone, LogicBlock, Default)]
pub struct CommandDebug {
    /// From and to the registers, but for `pc`.
    pub registers: DebugControl,
    /// Architectural PC of the selected hart, bits 31:2.
    pub pc: Signal<In, Bits<30>>,
    /// Harts that run; the others are held.
    pub run: Signal<In, Bits<8>>,
    /// Harts that are stopped.
    pub stopped: Signal<In, Bits<8>>,
    /// Harts that are between two instructions at the end of this cycle.
    pub between: Signal<In, Bits<8>>,
    /// Harts that enter a trap at this edge.
    pub trap: Signal<In, Bits<8>>,
    /// Stage F: the hart of `execute` fetches `word`.
    pub issue: Signal<In, Bit>,
    /// Stage W holds an instruction, and its hart runs.
    pub live: Signal<In, Bit>,
    /// Hart of the instruction in stage W.
    pub hart: Signal<In, Bits<3>>,
    /// The instruction in stage W is a word of CP_EXECUTE.
    pub executed: Signal<In, Bit>,
    /// The instruction in stage W retires.
    pub retire: Signal<In, Bit>,
    /// The instruction in stage W raises an exception.
    pub exception: Signal<In, Bit>,
    /// The instruction in stage W retires and writes CP_DATA.
    pub data_write: Signal<In, Bit>,
    /// Value that the instruction in stage W writes to CP_DATA.
    pub data_value: Signal<In, Bits<32>>,
    /// Harts that stop at this edge.
    pub stop: Signal<Out, Bits<8>>,
    /// Harts that go on.
    pub resume: Signal<Out, Bits<8>>,
    /// Harts that take nothing between two instructions.
    pub closed: Signal<Out, Bits<8>>,
    /// The hart that is to fetch `word`.
    pub execute: Signal<Out, Bits<8>>,
    /// The word of CP_EXECUTE.
    pub word: Signal<Out, Bits<32>>,
    /// A hart executes the word.
    pub busy: Signal<Out, Bit>,
    /// CP_EXECUTE failed.
    pub error: Signal<Out, Bit>,
    /// Harts that are to stop.
    wanted: Register<Bits<8>>,
    /// Harts that execute one instruction.
    steps: Register<Bits<8>>,
    ran: Register<Bits<8>>,
    data: Register<Bits<32>>,
    word_q: Register<Bits<32>>,
    /// The hart that executes the word, a bit for each; none: no word is executed.
    executes: Register<Bits<8>>,
    /// The word is to be fetched.
    fetches: Register<Bit>,
    error_q: Register<Bit>,
}

impl Logic for CommandDebug {
    #[hdl_gen]
    fn update(&mut self) {
        // Step and resume
        let free = self.stopped.val() & self.run.val() & !self.executes.q.val();
        let stepping = self.registers.step.val() & free;
        let goes_on = (self.registers.resume.val() | self.registers.step.val()) & free;
        self.resume.next = goes_on;

        // Stop
        let mut done = bits::<8>(0);
        if self.live.val() & self.retire.val() & !self.executed.val() {
            done = bits::<8>(1) << self.hart.val();
        }
        let stepped = self.steps.q.val() & (done | self.trap.val());
        let stops = (self.between.val() & (self.wanted.q.val() | (self.steps.q.val() & done)))
            | (self.steps.q.val() & self.trap.val());
        self.stop.next = stops;
        self.closed.next = self.wanted.q.val() | self.steps.q.val();
        // A step over an instruction behind which there is no boundary in its cycle ends in the
        // next one.
        self.ran.d.next = self.run.val();
        self.wanted.d.next = (self.wanted.q.val() | self.registers.stop.val() | stepped)
            & !stops
            & !self.stopped.val()
            & (self.run.val() | !self.ran.q.val());
        self.steps.d.next = (self.steps.q.val() & !stepped & !self.stopped.val() & self.run.val()) | stepping;

        // Words of the host
        let one = bits::<8>(1) << self.registers.select.val();
        always!(one_hart_executes, !(self.executes.q.val() & (self.executes.q.val() - bits::<8>(1))).any());
        let accepted = (one & free & !goes_on).any() & !self.executes.q.val().any();
        let ends = self.live.val() & self.executed.val() & (self.retire.val() | self.exception.val());
        if self.issue.val() {
            self.fetches.d.next = false;
        }
        if self.live.val() & self.executed.val() {
            self.fetches.d.next = true;
        }
        self.executes.d.next = self.executes.q.val() & self.run.val();
        if ends {
            self.executes.d.next = bits::<8>(0);
        }
        if ends & self.exception.val() {
            self.error_q.d.next = true;
        }
        if self.registers.execute.val() {
            self.error_q.d.next = !accepted;
            if accepted {
                self.executes.d.next = one;
                self.fetches.d.next = true;
                self.word_q.d.next = self.registers.value.val();
            }
        }
        self.execute.next = bits::<8>(0);
        if self.fetches.q.val() {
            self.execute.next = self.executes.q.val();
        }
        self.word.next = self.word_q.q.val();
        self.busy.next = self.executes.q.val().any();
        self.error.next = self.error_q.q.val();

        // CP_DATA
        if self.registers.data_write.val() {
            self.data.d.next = self.registers.value.val();
        }
        if self.data_write.val() {
            self.data.d.next = self.data_value.val();
        }
        self.registers.data.next = self.data.q.val();
        self.registers.pc.next = self.pc.val();
    }
}

#[cfg(test)]
#[path = "debug_unit_tests.rs"]
mod tests;
