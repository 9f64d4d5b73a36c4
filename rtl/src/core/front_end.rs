//! Stages S and C: choose a warp and fetch its context.

use super::boot::{boot_word, BOOT_ADDRESS};
use super::{LostCycle, ProgramCounters, WarpScheduler};
use crate::config::CoreOptions;
use crate::ports::{
    Completions, DecodeOutcome, FetchAddress, FetchAddressRegisters, FetchedInstruction, Flush, Lookup,
    PathContext, WarpContext, WarpContextRegisters, WarpFinish, WarpProgress, WarpStart,
};
use crate::types::{PacketIndex, ThreadCount};
use hermes_hdl::prelude::*;

/// PC of the boot sequence.
const BOOT: u64 = BOOT_ADDRESS as u64 >> 2;

/// PC of its last word.
const LAST_OF_BOOT: u64 = BOOT + boot_word::RA;

/// The scheduler with the contexts of the warps: running PC, call depth, running and living lanes,
/// the pending path with the highest priority and the first packetIdx.
///
/// Stage S chooses a warp and addresses the context memories; stage C knows the PC, looks up the
/// instruction and moves the PC of the warp on, behind the last word of the boot sequence to the
/// kernel's entry; stage I waits for the instruction; `fetched` and `fetched_slot` are those of
/// stage I, `instruction`, `decode` and `decode_reason` those of stage D. So a warp can issue in
/// every cycle, on the assumption that it continues in sequence. In the cycle after stage D its
/// outcome may revoke this (`outcome.replay`, `outcome.control`), and so may stage W
/// (`flush.valid`): then the younger instructions of the warp in stages S to D are flushed.
/// Everything but the PC changes only while the warp has nothing in stages S to D; that of a fresh
/// warp follows from its start alone. The ports of [`WarpScheduler`] that have the same names here
/// are passed through.
#[clocked]
#[derive(LogicBlock)]
#[new(options: CoreOptions)]
pub struct FrontEnd<const LANES: usize> {
    /// Stages S, C, I and D advance at this edge.
    pub advance: Signal<In, Bit>,
    /// From warp issue.
    pub start: WarpStart,
    /// KERNEL_ENTRY register, bits 31:2: where the warps go on behind the boot sequence.
    pub kernel_entry: Signal<In, Bits<30>>,
    /// From stage R: slot of the instruction that was in stage D a cycle ago. `outcome.miss` to
    /// `outcome.replay` report what became of it, for one cycle.
    pub hold_slot: Signal<In, Bits<5>>,
    /// From stage R: PC of the instruction that was in stage D a cycle ago, bits 31:2.
    pub hold_pc: Signal<In, Bits<30>>,
    /// From stage D: outcome of the instruction that was there a cycle ago.
    pub outcome: DecodeOutcome,
    /// From the instruction cache: warps that missed before this cycle look up again.
    pub filled: Signal<In, Bit>,
    /// From stage W: how the warp of its instruction goes on.
    pub progress: WarpProgress,
    /// From stage W: the younger instructions of the warp are flushed.
    pub flush: Flush,
    /// From path selection: the next path is known.
    pub path_valid: Signal<In, Bit>,
    /// From path selection: warp slot of the path.
    pub path_slot: Signal<In, Bits<5>>,
    /// Operations that complete.
    pub completions: Completions,
    /// Slots with outstanding stores.
    pub stores_busy: Signal<In, Bits<32>>,
    /// From stage W: a context is written at this edge.
    pub context_write: Signal<In, Bit>,
    /// The context that is written.
    pub context: PathContext<LANES>,
    /// To the instruction cache.
    pub lookup: Lookup,
    /// Slot of the instruction in stage I.
    pub fetched_slot: Signal<Out, Bits<5>>,
    /// To stage D: the instruction in stage I.
    pub fetched: Flipped<FetchAddress>,
    /// To stage D: the instruction that it holds.
    pub instruction: Flipped<FetchedInstruction>,
    /// Of which warp it is.
    pub decode: Flipped<WarpContext<LANES>>,
    /// Reason why stage D holds no instruction.
    pub decode_reason: Signal<Out, LostCycle>,
    /// To the DCQ.
    pub finish: WarpFinish,
    /// At least one warp is on the core.
    pub occupied: Signal<Out, Bit>,
    /// From warp issue: the warp that starts is one of spawned threads (only with a thread spawner,
    /// as the next).
    #[there(options.spawns())]
    pub start_spawned: Part<Signal<In, Bit>>,
    /// From the thread spawner: PC at which the warp goes on behind the boot sequence, bits 31:2.
    #[there(options.spawns())]
    pub start_entry: Part<Signal<In, Bits<30>>>,
    /// From stage D, with `outcome.control`: the warp waits for a write into the L2 (only with a
    /// network interface, as the next).
    #[there(options.network)]
    pub sleep_valid: Part<Signal<In, Bit>>,
    /// Slots whose warp need not wait for one.
    #[there(options.network)]
    pub wake: Part<Signal<In, Bits<32>>>,
    /// From warp issue: lanes with which the warp starts, whatever its count (only with network
    /// functions).
    #[there(options.functions())]
    pub start_lanes: Part<Signal<In, Bits<LANES>>>,
    /// Stage I: packetIdx of lane 0 (only with network functions, as the next).
    #[there(options.functions())]
    pub fetched_packet: Part<Signal<Out, PacketIndex>>,
    /// Stage I: packets with which the warp was formed.
    #[there(options.functions())]
    pub fetched_count: Part<Signal<Out, ThreadCount>>,
    #[init(WarpScheduler::new(options))]
    scheduler: WarpScheduler,
    counters: ProgramCounters,
    starts: RamSync<Bits<38>, 5>,
    #[there(options.spawns())]
    entry: Part<RamSync<Bits<31>, 5>>,
    #[there(options.functions())]
    first_lanes: Part<RamSync<Bits<LANES>, 5>>,
    #[there(options.functions())]
    fetched_count_q: Part<Register<ThreadCount>>,
    depth: RamSync<Bits<6>, 5>,
    active: RamSync<Bits<LANES>, 5>,
    alive: RamSync<Bits<LANES>, 5>,
    waiting: RamSync<Bits<36>, 5>,
    /// Slots whose context is still that of their start.
    initial: Register<Bits<32>>,
    /// The context written a cycle ago: the instruction that runs with it is in stage C a cycle
    /// later at the earliest.
    jump_valid: Register<Bit>,
    jump_slot: Register<Bits<5>>,
    jump_pc: Register<Bits<30>>,
    /// The flush of a cycle ago.
    flush_valid_q: Register<Bit>,
    flush_slot_q: Register<Bits<5>>,
    /// The flush of a cycle ago took the instruction in stage W as well, which is replayed.
    again_valid_q: Register<Bit>,
    context_valid: Register<Bit>,
    context_held_slot: Register<Bits<5>>,
    context_fresh: Register<Bit>,
    context_reason: Register<LostCycle>,
    fetched_valid_q: Register<Bit>,
    fetched_context: WarpContextRegisters<LANES>,
    fetched_address: FetchAddressRegisters,
    fetched_last_of_boot_q: Register<Bit>,
    fetched_reason_q: Register<LostCycle>,
    decode_valid_q: Register<Bit>,
    decode_context: WarpContextRegisters<LANES>,
    decode_address: FetchAddressRegisters,
    decode_meets_q: Register<Bit>,
    decode_reason_q: Register<LostCycle>,
    #[init(Constant::new(Bits::<LANES>::mask()))]
    all_lanes: Constant<Bits<LANES>>,
    #[init(Constant::new((LANES as u64).into()))]
    lanes: Constant<Bits<6>>,
}

impl<const LANES: usize> FrontEnd<LANES> {
    /// The front end of a core with these options; see [`WarpScheduler::new`].
    ///
    /// # Panics
    /// If there are not 1 to 32 warp slots.
    pub fn new(options: CoreOptions) -> Self {
        Self::wired(options)
    }
}

impl<const LANES: usize> Logic for FrontEnd<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.start, self.scheduler.start);
        self.scheduler.advance.next = self.advance.val();
        self.scheduler.hold_slot.next = self.hold_slot.val();
        connect!(self.outcome, self.scheduler.outcome);
        self.scheduler.filled.next = self.filled.val();
        connect!(self.progress, self.scheduler.progress);
        self.scheduler.flush.valid.next = self.flush_valid_q.q.val();
        self.scheduler.flush.slot.next = self.flush_slot_q.q.val();
        self.scheduler.flush.again.next = self.again_valid_q.q.val();
        self.scheduler.path_valid.next = self.path_valid.val();
        self.scheduler.path_slot.next = self.path_slot.val();
        connect!(self.completions, self.scheduler.completions);
        self.scheduler.stores_busy.next = self.stores_busy.val();
        if self.sleep_valid.is_there() {
            self.scheduler.sleep_valid.next = self.sleep_valid.val();
            self.scheduler.wake.next = self.wake.val();
        }
        connect!(self.finish, self.scheduler.finish);
        self.occupied.next = self.scheduler.occupied.val();

        // Instructions behind one that did not continue in sequence are flushed. The scheduler
        // holds back those that are still to be issued from the next cycle on.
        let hold = self.outcome.replay.val() | self.outcome.control.val();
        // A warp that issues in this cycle already issues the replayed instruction, unless that
        // must wait. What stage W flushes is dropped a cycle later, and none of it enters stage R
        // before: stage D drops what it holds in that cycle by itself.
        self.flush_valid_q.d.next = self.flush.valid.val();
        self.flush_slot_q.d.next = self.flush.slot.val();
        self.again_valid_q.d.next = self.flush.again.val();
        let drop_issued = ((self.outcome.control.val() | self.outcome.miss.val() | self.outcome.wait.val())
            & (self.scheduler.issue_slot.val() == self.hold_slot.val()))
            | (self.flush_valid_q.q.val() & (self.scheduler.issue_slot.val() == self.flush_slot_q.q.val()));
        let drop_context = (hold & (self.context_held_slot.q.val() == self.hold_slot.val()))
            | (self.flush_valid_q.q.val() & (self.context_held_slot.q.val() == self.flush_slot_q.q.val()));
        let drop_fetched = (hold & (self.fetched_context.q.slot.val() == self.hold_slot.val()))
            | (self.flush_valid_q.q.val() & (self.fetched_context.q.slot.val() == self.flush_slot_q.q.val()));
        let drop_decode = (hold & (self.decode_context.q.slot.val() == self.hold_slot.val()))
            | (self.flush_valid_q.q.val() & (self.decode_context.q.slot.val() == self.flush_slot_q.q.val()));
        let mut drop_reason = LostCycle::Divergence;
        if self.outcome.replay.val() {
            drop_reason = LostCycle::Scoreboard;
        }
        if self.outcome.miss.val() {
            drop_reason = LostCycle::Fetch;
        }

        // S: context memories
        self.starts.write_enable.next = self.start.valid.val();
        self.starts.write_address.next = self.start.slot.val();
        self.starts.write_data.next = (bit_cast::<38, 6>(self.start.count.val()) << bits::<6>(32))
            | bit_cast::<38, 32>(self.start.packet.val());
        self.starts.read_enable.next = self.advance.val();
        self.starts.read_address.next = self.scheduler.issue_slot.val();
        self.depth.write_enable.next = self.context_write.val();
        self.depth.write_address.next = self.context.slot.val();
        self.depth.write_data.next = self.context.depth.val();
        self.depth.read_enable.next = self.advance.val();
        self.depth.read_address.next = self.scheduler.issue_slot.val();
        self.active.write_enable.next = self.context_write.val();
        self.active.write_address.next = self.context.slot.val();
        self.active.write_data.next = self.context.active.val();
        self.active.read_enable.next = self.advance.val();
        self.active.read_address.next = self.scheduler.issue_slot.val();
        self.alive.write_enable.next = self.context_write.val();
        self.alive.write_address.next = self.context.slot.val();
        self.alive.write_data.next = self.context.alive.val();
        self.alive.read_enable.next = self.advance.val();
        self.alive.read_address.next = self.scheduler.issue_slot.val();
        self.waiting.write_enable.next = self.context_write.val();
        self.waiting.write_address.next = self.context.slot.val();
        self.waiting.write_data.next = self.context.waiting.val();
        self.waiting.read_enable.next = self.advance.val();
        self.waiting.read_address.next = self.scheduler.issue_slot.val();
        let mut started = bits::<32>(0);
        if self.start.valid.val() {
            started = bits::<32>(1) << self.start.slot.val();
        }
        self.jump_valid.d.next = self.context_write.val();
        self.jump_slot.d.next = self.context.slot.val();
        self.jump_pc.d.next = self.context.pc.val();
        let mut written = bits::<32>(0);
        if self.jump_valid.q.val() {
            written = bits::<32>(1) << self.jump_slot.q.val();
        }
        self.initial.d.next = (self.initial.q.val() & !written) | started;
        // A flushed instruction is removed even if its stage stalls.
        self.context_valid.d.next = self.context_valid.q.val() & !drop_context;
        if self.context_valid.q.val() & drop_context {
            self.context_reason.d.next = drop_reason;
        }
        if self.advance.val() {
            self.context_valid.d.next = self.scheduler.issue_valid.val() & !drop_issued;
            self.context_held_slot.d.next = self.scheduler.issue_slot.val();
            self.context_fresh.d.next = self.scheduler.issue_fresh.val();
            self.context_reason.d.next = drop_reason;
            if !self.scheduler.issue_valid.val() {
                self.context_reason.d.next = self.scheduler.idle_reason.val();
            }
        }

        // C: context and instruction lookup
        self.counters.slot.next = self.context_held_slot.q.val();
        let mut pc = self.counters.pc.val();
        if self.context_fresh.q.val() {
            pc = bits::<30>(BOOT);
        }
        let last_of_boot = pc == bits::<30>(LAST_OF_BOOT);
        let mut after = pc + bits::<30>(1);
        if last_of_boot {
            after = self.kernel_entry.val();
        }
        if self.start_spawned.is_there() {
            self.entry.write_enable.next = self.start.valid.val();
            self.entry.write_address.next = self.start.slot.val();
            self.entry.write_data.next = bit_cast::<31, 30>(self.start_entry.val());
            self.scheduler.start_spawned.next = self.start_spawned.val();
            if self.start_spawned.val() {
                self.entry.write_data.next =
                    bits::<31>(0x4000_0000) | bit_cast::<31, 30>(self.start_entry.val());
            }
            self.entry.read_enable.next = self.advance.val();
            self.entry.read_address.next = self.scheduler.issue_slot.val();
            if last_of_boot & self.entry.read_data.val().get_bit(30) {
                after = self.entry.read_data.val().get_bits::<30>(0);
            }
        }
        let mut call_depth = self.depth.read_data.val();
        let mut running = self.active.read_data.val();
        let mut living = self.alive.read_data.val();
        let mut best_waiting = self.waiting.read_data.val();
        if self.initial.q.val().get_bit(self.context_held_slot.q.val().index()) {
            call_depth = bits::<6>(0);
            running =
                self.all_lanes.val() >> (self.lanes.val() - self.starts.read_data.val().get_bits::<6>(32));
            if self.start_lanes.is_there() {
                running = self.first_lanes.read_data.val();
            }
            living = running;
            best_waiting = bits::<36>(0xf_ffff_ffff_u64);
        }
        if self.start_lanes.is_there() {
            self.first_lanes.write_enable.next = self.start.valid.val();
            self.first_lanes.write_address.next = self.start.slot.val();
            self.first_lanes.write_data.next = self.start_lanes.val();
            self.first_lanes.read_enable.next = self.advance.val();
            self.first_lanes.read_address.next = self.scheduler.issue_slot.val();
        }
        let boot = pc.get_bits::<24>(6).all();
        self.lookup.enable.next = self.context_valid.q.val();
        self.lookup.slot.next = self.context_held_slot.q.val();
        self.lookup.word.next = pc;
        let moves = self.context_valid.q.val() & !drop_context & self.advance.val();
        self.counters.sequential_valid.next = moves;
        self.counters.sequential_pc.next = after;
        self.counters.replay_valid.next = self.outcome.replay.val();
        self.counters.replay_slot.next = self.hold_slot.val();
        self.counters.replay_pc.next = self.hold_pc.val();
        self.counters.jump_valid.next = self.jump_valid.q.val();
        self.counters.jump_slot.next = self.jump_slot.q.val();
        self.counters.jump_pc.next = self.jump_pc.q.val();
        self.fetched_context.enable.next = self.advance.val();
        self.fetched_address.enable.next = self.advance.val();
        self.fetched_context.d.slot.next = self.context_held_slot.q.val();
        self.fetched_address.d.pc.next = pc;
        self.fetched_address.d.boot.next = boot;
        self.fetched_context.d.depth.next = call_depth;
        self.fetched_context.d.active.next = running;
        self.fetched_context.d.alive.next = living;
        self.fetched_context.d.waiting.next = best_waiting;
        self.fetched_context.d.packet.next = self.starts.read_data.val().get_bits::<32>(0);
        self.fetched_valid_q.d.next = self.fetched_valid_q.q.val() & !drop_fetched;
        if self.fetched_valid_q.q.val() & drop_fetched {
            self.fetched_reason_q.d.next = drop_reason;
        }
        if self.advance.val() {
            self.fetched_valid_q.d.next = moves;
            self.fetched_last_of_boot_q.d.next = last_of_boot;
            self.fetched_reason_q.d.next = self.context_reason.q.val();
            if self.context_valid.q.val() {
                self.fetched_reason_q.d.next = LostCycle::None;
                if drop_context {
                    self.fetched_reason_q.d.next = drop_reason;
                }
            }
        }

        // I: the instruction arrives. A path that waits at a shallower call cannot be met in
        // sequence, nor can one at a lower PC.
        self.fetched_slot.next = self.fetched_context.q.slot.val();
        if self.start_lanes.is_there() {
            if self.advance.val() {
                self.fetched_count_q.d.next = self.starts.read_data.val().get_bits::<6>(32);
            }
            self.fetched_packet.next = self.fetched_context.q.packet.val();
            self.fetched_count.next = self.fetched_count_q.q.val();
        }
        connect!(self.fetched, self.fetched_address.q);
        let met = (self.fetched_context.q.waiting.val().get_bits::<30>(0)
            == (self.fetched_address.q.pc.val() + bits::<30>(1)))
            & (self.fetched_context.q.waiting.val().get_bits::<6>(30) == !self.fetched_context.q.depth.val());
        let meets = (self.fetched_context.q.active.val() != self.fetched_context.q.alive.val())
            & (met | self.fetched_last_of_boot_q.q.val());
        self.decode_context.enable.next = self.advance.val();
        connect!(self.fetched_context.q, self.decode_context.d);
        self.decode_address.enable.next = self.advance.val();
        connect!(self.fetched_address.q, self.decode_address.d);
        self.decode_valid_q.d.next = self.decode_valid_q.q.val() & !drop_decode;
        if self.decode_valid_q.q.val() & drop_decode {
            self.decode_reason_q.d.next = drop_reason;
        }
        if self.advance.val() {
            self.decode_valid_q.d.next = self.fetched_valid_q.q.val() & !drop_fetched;
            self.decode_meets_q.d.next = meets;
            self.decode_reason_q.d.next = self.fetched_reason_q.q.val();
            if self.fetched_valid_q.q.val() & drop_fetched {
                self.decode_reason_q.d.next = drop_reason;
            }
        }

        // D
        connect!(self.decode, self.decode_context.q);
        self.instruction.slot.next = self.decode_context.q.slot.val();
        self.instruction.packet.next = self.decode_context.q.packet.val();
        self.instruction.valid.next = self.decode_valid_q.q.val() & !drop_decode;
        self.instruction.pc.next = self.decode_address.q.pc.val();
        self.instruction.boot.next = self.decode_address.q.boot.val();
        self.instruction.meets.next = self.decode_meets_q.q.val();
        self.decode_reason.next = self.decode_reason_q.q.val();
        if self.decode_valid_q.q.val() & drop_decode {
            self.decode_reason.next = drop_reason;
        }
    }
}
