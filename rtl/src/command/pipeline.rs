//! The pipeline of the command processor: the stages, the harts, and the way to memory.

use super::{
    CachedLoads, CommandAtomics, CommandDebug, CommandDecode, CommandExecute, CommandFetch, CommandHart,
    CommandTrace, CommandWrite, HartScheduler, HartTurns, HeldReads, LongOperations, StoreBuffer,
};
use crate::config::CommandOptions;
use crate::host::registers::command::CommandControl;
use crate::host::registers::debug::DebugControl;
use crate::memory::ReadMerge;
use crate::ports::{
    AtomicAnswer, LineRead, LineWrite, RegisterAccess, ReservationEnd, UliAccess, WindowSelect,
};
use hermes_hdl::prelude::*;

#[path = "pipeline_parts.rs"]
mod parts;

/// A pipeline for RV32IM_Zbb_Zicsr_Zifencei with machine mode that runs up to eight harts, in six
/// stages that never stall.
///
/// What cannot complete in stage W is replayed: it leaves without effect, the younger instructions
/// of its hart leave too, and it is fetched again when the cause is gone. Exceptions and machine
/// interrupts enter a trap precisely, as [`TrapUnit`](super::TrapUnit) says.
///
/// 1. To memory it is what a core is: reads and writes of lines by tags. Read tag 0x40 is a fetch,
///    0 to 7 the load of a hart; write tags are those of [`StoreBuffer`] and [`CommandAtomics`].
///    Answers are always taken.
/// 2. `take_valid` makes hart `take_hart` go on at `take_pc`. It is legal while `boundary` has the
///    bit of the hart; the instruction in stage W still does what it does, younger ones leave, and
///    `boundary_pc`, combinational from `take_hart`, is the PC of the first that has not been
///    executed.
/// 3. The run bits hold and start harts as [`HartState`](super::HartState) says.
/// 4. The host stops harts and lets them go on as [`CommandDebug`] says. A word that it has a
///    stopped hart execute enters in stage I in the place of a fetched one; it is not in the retire
///    trace.
#[clocked("all harts are held")]
#[derive(LogicBlock)]
#[new(options: CommandOptions, harts: usize)]
pub struct CommandPipeline {
    /// From and to the registers of the host.
    pub registers: CommandControl,
    /// From the registers, for CP_STATUS: MAILBOX_IN is full, MAILBOX_OUT is (bit 1).
    pub mailbox_full: Signal<In, Bits<2>>,
    /// From and to the registers for debugging.
    pub debugging: DebugControl,
    /// From the registers: the instruction cache is emptied.
    pub invalidate: Signal<In, Bit>,
    /// From the registers: the data cache is emptied.
    pub invalidate_data: Signal<In, Bit>,
    /// Cycles since reset of the array.
    pub cycle: Signal<In, Bits<64>>,
    /// Harts that have an external interrupt pending.
    pub external: Signal<In, Bits<8>>,
    /// Harts whose software interrupt is set at this edge.
    pub doorbell: Signal<In, Bits<8>>,
    /// A hart goes on elsewhere at this edge.
    pub take_valid: Signal<In, Bit>,
    /// Hart that goes on elsewhere.
    pub take_hart: Signal<In, Bits<3>>,
    /// PC at which the hart goes on, bits 31:2.
    pub take_pc: Signal<In, Bits<30>>,
    /// Harts that are between two instructions at the end of this cycle.
    pub boundary: Signal<Out, Bits<8>>,
    /// PC of hart `take_hart` there, bits 31:2.
    pub boundary_pc: Signal<Out, Bits<30>>,
    /// To the registers of the array.
    pub access: Flipped<RegisterAccess>,
    /// Whether `access` is to the window of the network interface, and whose it is (only with a
    /// window).
    #[there(options.network)]
    pub window: Part<Flipped<WindowSelect>>,
    /// Harts that run and wait neither in NEXT nor in `wfi` (only with a window).
    #[there(options.network)]
    pub awake: Part<Signal<Out, Bits<8>>>,
    /// To memory: fetches and loads.
    pub read: LineRead,
    /// To memory: stores and atomic operations.
    pub line_write: LineWrite,
    /// With the answers of atomic operations (only with atomic instructions).
    #[there(options.atomics)]
    pub atomic_answer: Part<AtomicAnswer>,
    /// To the banks of the L2: the reservation of a hart ends (only with atomic instructions).
    #[there(options.atomics)]
    pub reservation_end: Part<ReservationEnd>,
    /// To and from the channels of user-level interrupts (only with channels).
    #[there(options.interrupts())]
    pub uli: Part<UliAccess>,
    /// The retire trace, if it is there.
    #[there(options.trace)]
    pub trace: Part<CommandTrace>,
    #[init((0..harts).map(|_| CommandHart::new(options.network)).collect())]
    hart: Vec<CommandHart>,
    #[there(options.network)]
    held: Part<HeldReads>,
    debug: CommandDebug,
    scheduler: HartScheduler,
    #[init(CommandFetch::new(options.instruction_cache().0, options.instruction_cache().1))]
    fetch: CommandFetch,
    #[init(CommandDecode::new(options.network, options.compares()))]
    decode: CommandDecode,
    #[init(CommandExecute::new(options.network, options.compares()))]
    execute: CommandExecute,
    write: CommandWrite,
    device_turns: HartTurns,
    divide_turns: HartTurns,
    #[init(LongOperations::new(harts, options.network))]
    long: LongOperations,
    #[init(StoreBuffer::new(harts))]
    stores: StoreBuffer,
    #[init(Part::when(options.atomics, || CommandAtomics::new(options.compares())))]
    atomic: Part<CommandAtomics>,
    #[init(Part::when(options.caches(), || CachedLoads::new(harts, options.command_cache_lines)))]
    cached: Part<CachedLoads>,
    merge: ReadMerge,
    #[init((0..harts as u64).map(|hart| Constant::new(hart.into())).collect())]
    number: Vec<Constant<Bits<3>>>,
    #[init(Constant::new((harts as u64).into()))]
    there: Constant<Bits<4>>,
    #[init(Constant::new((options.uli_channels as u64).into()))]
    channels: Constant<Bits<4>>,
    #[init(harts)]
    _harts: usize,
}

impl CommandPipeline {
    /// The pipeline of a command processor with these options.
    ///
    /// # Panics
    /// If it has not 1, 2, 4 or 8 harts, or more than 8 channels, and as
    /// [`InstructionCache::new`](crate::memory::InstructionCache::new) and [`CachedLoads::new`].
    pub fn new(options: CommandOptions) -> Self {
        let (harts, channels) = (options.command_threads, options.uli_channels);
        assert!(matches!(harts, 1 | 2 | 4 | 8), "CommandPipeline: {harts} harts, expected 1, 2, 4 or 8");
        assert!(channels <= 8, "CommandPipeline: {channels} channels, expected 0 to 8");
        Self::wired(options, harts)
    }
}

impl Logic for CommandPipeline {
    #[hdl_gen]
    fn update(&mut self) {
        let result = self.execute.result.val();
        let outcome = self.write.outcome.val();
        let hold = !self.registers.run.val();

        // Which instructions leave: those younger than what redirects their hart
        let mut taken = bits::<8>(0);
        for h in 0..self._harts {
            taken = taken.replace_bit(h, self.hart[h].goes.val());
        }
        let drop_executed = self.write.drop.val() | taken | hold;
        let mut drop_read = drop_executed;
        if self.execute.redirect_valid.val() {
            drop_read = drop_executed | (bits::<8>(1) << self.execute.execute_hart.val());
        }
        // An instruction that needs the result of a load or product in front of it waits a cycle in
        // stage D. What stage F does in this cycle does not depend on what becomes of the
        // instruction in W: one that leaves from D holds a cycle up in vain.
        let stall = self.fetch.decode_holds.val() & self.execute.late_use.val();
        let decodes = self.fetch.decode_valid.val() & !self.execute.late_use.val();
        let redirects = decodes & self.decode.redirects.val();
        // Where the instruction in D leaves itself, so do those behind it.
        let turns_back =
            (self.fetch.decode_holds.val() & !self.execute.late_use.val() & self.decode.redirects.val())
                | self.fetch.miss_holds.val();
        let mut drop_fetched = drop_read;
        if turns_back {
            drop_fetched = drop_read | (bits::<8>(1) << self.fetch.decode_hart.val());
        }

        // F, I: one hart fetches, none while stage D waits
        let mut ready = bits::<8>(0);
        for h in 0..self._harts {
            ready = ready.replace_bit(h, self.hart[h].ready.val() & !stall);
        }
        // What a hart fetches is in vain in the cycle in which it is sent elsewhere. The PC behind
        // a jump by register, `mret` and ERETURN is known in stage X.
        let turns = self.decode.redirects.val()
            | self.decode.decoded.val().jump_register
            | self.decode.decoded.val().trap_return
            | self.decode.decoded.val().leave;
        let mut turning = bits::<8>(0);
        if self.fetch.decode_holds.val() & turns {
            turning = bits::<8>(1) << self.fetch.decode_hart.val();
        }
        let open = self.execute.open.val() | self.write.may_drop.val() | turning;
        let mut redirected = taken;
        if self.execute.redirect_valid.val() & self.execute.redirect_returns.val() {
            redirected = taken | (bits::<8>(1) << self.execute.execute_hart.val());
        }
        if self.window.is_there() {
            ready = ready & !self.held.held.val();
        }
        self.scheduler.ready.next = ready;
        self.scheduler.open.next = open;
        self.scheduler.redirected.next = redirected;
        self.scheduler.hold.next = hold;
        let issue = self.scheduler.valid.val();
        let issue_hart = self.scheduler.hart.val();
        let mut issue_pc = bits::<30>(0);
        for h in 0..self._harts {
            if issue_hart == self.number[h].val() {
                issue_pc = self.hart[h].fetch_pc.val();
            }
        }
        self.fetch.stall.next = stall;
        self.fetch.issue_valid.next = issue;
        self.fetch.issue_hart.next = issue_hart;
        self.fetch.issue_pc.next = issue_pc;
        let issue_debug = issue & self.debug.execute.val().get_bit(issue_hart.index());
        self.fetch.issue_debug.next = issue_debug;
        connect!(self.debug.word, self.fetch.debug_word);
        self.fetch.drop_fetched.next = drop_fetched;
        self.fetch.drop_decoded.next = drop_read;
        self.fetch.flush.next = self.invalidate.val() | outcome.refetch;

        // D
        self.decode.word.next = self.fetch.decode_word.val();
        self.decode.hart.next = self.fetch.decode_hart.val();
        self.decode.pc.next = self.fetch.decode_pc.val();
        self.decode.debug.next = self.fetch.decode_debug.val();
        self.decode.error.next = self.fetch.decode_error.val();
        self.decode.channels.next = self.channels.val();
        self.decode.cached.next = false;
        if self.cached.is_there() {
            self.decode.cached.next = true;
        }
        let mut has_atomics = false;
        if self.atomic_answer.is_there() {
            has_atomics = true;
        }
        self.decode.atomics.next = has_atomics;
        let mut decode_pc = self.decode.target.val();
        if self.fetch.miss_valid.val() {
            decode_pc = self.fetch.decode_pc.val();
        }

        self.execute(drop_executed, drop_read, decodes);
        // W
        self.write.valid.next = self.execute.write_valid.val();
        self.write.result.next = result;
        self.write.run.next = self.registers.run.val();
        self.write.hit.next = false;
        self.execute.cached.next = false;
        self.execute.cached_value.next = bits::<32>(0);
        let mut filling = bits::<8>(0);
        if self.cached.is_there() {
            self.write.hit.next = self.cached.hit.val();
            self.execute.cached.next = self.write.takes_cached.val();
            self.execute.cached_value.next = self.cached.value.val();
            filling = self.cached.filling.val();
            self.cached.run.next = self.registers.run.val();
            self.cached.invalidate.next = self.invalidate_data.val();
            self.cached.look_enable.next = self.execute.look_enable.val();
            self.cached.look_hart.next = self.execute.execute_hart.val();
            self.cached.look_address.next = self.execute.look_address.val();
            self.cached.result.next = result;
            self.cached.outcome.next = outcome;
            connect!(self.read.response, self.cached.response);
            self.cached.response.valid.next =
                self.read.response.valid.val() & !self.read.response.tag.val().get_bit(6);
        }
        // What makes a hart wait: its operation, and the fill of its line
        let busy = self.long.under_way.val() | filling;
        self.start(result, outcome, hold);
        // The harts
        let outstanding = busy | self.fetch.outstanding.val() | !self.stores.none.val();
        let mut between = bits::<8>(0);
        let mut between_pc = bits::<30>(0);
        let mut stopped = bits::<8>(0);
        let mut waiting = bits::<8>(0);
        let mut running = bits::<8>(0);
        let mut locked = bits::<8>(0);
        let mut quiet = bits::<8>(0);
        let mut trapped = bits::<8>(0);
        let mut with_boundary = bits::<8>(0);
        let mut selected_pc = bits::<30>(0);
        let mut csr_value = bits::<32>(0);
        let mut return_pc = bits::<30>(0);
        let mut after_take = false;
        let mut after_trap = false;
        let mut following_pc = result.next_pc;
        for h in 0..self._harts {
            let in_write = result.hart == self.number[h].val();
            self.hart[h].number.next = self.number[h].val();
            self.hart[h].atomics.next = has_atomics;
            self.hart[h].run.next = self.registers.run.val().get_bit(h);
            self.hart[h].breakpoint_stops.next = self.registers.breakpoint_stops.val();
            self.hart[h].entry.next = self.registers.entry.val();
            self.hart[h].quiet.next = !outstanding.get_bit(h);
            self.hart[h].issue.next = issue & (issue_hart == self.number[h].val());
            self.hart[h].decode_hart.next = self.fetch.decode_hart.val();
            self.hart[h].decode_redirect.next = redirects;
            self.hart[h].miss.next = self.fetch.miss_valid.val();
            self.hart[h].decode_pc.next = decode_pc;
            self.hart[h].filled.next = self.fetch.filled.val();
            self.hart[h].execute_hart.next = self.execute.execute_hart.val();
            self.hart[h].execute_redirect.next = self.execute.redirect_valid.val();
            self.hart[h].execute_pc.next = self.execute.redirect_pc.val();
            self.hart[h].result.next = result;
            self.hart[h].outcome.next = outcome;
            self.hart[h].stores_none.next = self.stores.none.val().get_bit(h);
            self.hart[h].stores_full.next = self.stores.full.val().get_bit(h);
            // A hart that is refused does not come back before it is let in: its fetches would keep
            // the one that is owed from its line.
            self.hart[h].device_free.next =
                self.long.device_free.val() & !self.device_turns.held_back.val().get_bit(h);
            self.hart[h].divide_free.next =
                self.long.divide_free.val() & !self.divide_turns.held_back.val().get_bit(h);
            self.hart[h].loading.next = busy.get_bit(h);
            self.hart[h].answer_waits.next = self.long.answered.val().get_bit(h);
            self.hart[h].take_valid.next =
                self.take_valid.val() & (self.take_hart.val() == self.number[h].val());
            self.hart[h].take_pc.next = self.take_pc.val();
            self.hart[h].read_number.next = self.execute.execute_word.val().get_bits::<12>(20);
            self.hart[h].external.next = self.external.val().get_bit(h);
            self.hart[h].software.next = self.long.software.val().get_bit(h);
            self.hart[h].timer.next = self.long.timer.val().get_bit(h);
            self.hart[h].cycle.next = self.cycle.val();
            self.hart[h].channel_wake.next = false;
            if self.uli.is_there() {
                self.hart[h].channel_wake.next = self.uli.wake.val().get_bit(h);
            }
            self.hart[h].debug_stop.next = self.debug.stop.val().get_bit(h);
            self.hart[h].resume.next = self.debug.resume.val().get_bit(h);
            self.hart[h].closed.next = self.debug.closed.val().get_bit(h);
            self.hart[h].execute.next = self.debug.execute.val().get_bit(h);
            with_boundary = with_boundary.replace_bit(h, self.hart[h].between.val());
            if self.debugging.select.val() == self.number[h].val() {
                selected_pc = self.hart[h].pc.val();
            }
            between = between.replace_bit(h, self.hart[h].boundary.val());
            stopped = stopped.replace_bit(h, self.hart[h].stopped.val());
            waiting = waiting.replace_bit(h, self.hart[h].waiting.val());
            running = running.replace_bit(h, self.registers.run.val().get_bit(h));
            locked = locked.replace_bit(h, self.hart[h].locked.val());
            quiet = quiet.replace_bit(h, !outstanding.get_bit(h));
            trapped = trapped.replace_bit(h, self.hart[h].trap.val());
            if self.take_hart.val() == self.number[h].val() {
                between_pc = self.hart[h].boundary_pc.val();
            }
            if self.execute.execute_hart.val() == self.number[h].val() {
                csr_value = self.hart[h].read_value.val();
                return_pc = self.hart[h].return_pc.val();
            }
            after_take = after_take || (in_write & self.hart[h].taken.val());
            after_trap = after_trap || (in_write & self.hart[h].entered.val());
            if in_write & outcome.exception & self.hart[h].trap.val() {
                following_pc = self.hart[h].trap_target.val();
            }
        }
        let gone = taken | hold | stopped;
        if self.window.is_there() {
            let mut wakes = bits::<8>(0);
            for h in 0..self._harts {
                wakes = wakes.replace_bit(h, self.hart[h].wake.val());
            }
            self.held.wake.next = wakes;
            self.long.wake.next = wakes;
            self.held.gone.next = gone;
            self.awake.next = running & !(stopped | waiting | self.held.held.val());
        }
        self.fetch.gone.next = gone;
        self.device_turns.gone.next = gone;
        self.divide_turns.gone.next = gone;
        self.boundary.next = between;
        self.boundary_pc.next = between_pc;
        self.registers.stopped.next = stopped;
        self.registers.waiting.next = waiting;
        self.registers.locked.next = locked;
        self.registers.harts.next = self.there.val();
        self.registers.mailbox_in_full.next = self.mailbox_full.val().get_bit(0);
        self.registers.mailbox_out_full.next = self.mailbox_full.val().get_bit(1);
        self.registers.quiet.next = quiet;
        self.execute.return_pc.next = return_pc;

        self.debug(result, outcome, issue_debug, stopped, trapped, with_boundary, selected_pc);
        self.access_memory(result, outcome, hold, taken);
        self.interrupt(result, outcome, trapped, csr_value);
        self.tell(result, outcome, after_take, after_trap, following_pc);
    }
}

#[cfg(test)]
#[path = "pipeline_glue_tests.rs"]
mod glue_tests;
