//! The shader core.

use super::{
    AccessWindow, AtomicStage, AtomicTurns, DataMemory, DecodeStage, DivideUnit, EventCounters, FaultBuffer,
    FrontEnd, Hazards, InstructionCount, Lane, LaneTraps, LateResults, LoadErrors, LocalWindow, LostCycles,
    PathSelector, ReadStage, RegisterAddress, ReservationEnds, RetireTrace, SpawnedWarps, WarpWaits,
    Watchdog, WriteStage, FROM_DIVISION, FROM_MEMORY,
};
use crate::config::CoreOptions;
use crate::functions::{FetchWindow, PacketWindow, Survivors, VerdictCodes};
use crate::host::registers::windows::Windows;
use crate::host::{CoreCounters, KernelSetup, LostCycleCounters};
use crate::memory::{InstructionCache, ReadMerge};
use crate::ports::{
    AtomicAnswer, CoreTrace, FinishedLanes, FunctionGuards, JobStart, LaneTrapControl, LineRead, LineWrite,
    ReservationEnd, RowClear, Trace, WarpFault, WarpFinish, WarpStart, WrittenLine,
};
use crate::types::WarpJob;
use hermes_hdl::prelude::*;

#[path = "shader_core_parts.rs"]
mod parts;

/// Bits of the cycle counter that end `wrs.sto` and `wrs.nto`: after 64 to 128, and 2048 to 4096
/// cycles.
const BRIEF_WAIT: usize = 5;
const LONG_WAIT: usize = 10;

/// One SIMT core: `LANES` lanes in lockstep, up to 32 interleaved warps (docs/shader-core.md).
///
/// This unit is wiring. What moves from stage to stage is a port group of [`ports`](crate::ports):
/// of which warp the instruction is and on which path (`WarpContext`), what it does (`Controls`),
/// what the lanes compute (`Arithmetic`). The stages, and what is unusual in each:
///
/// - S, C, I ([`FrontEnd`]): a warp is chosen and its instruction fetched, on the assumption that
///   every warp goes on in sequence. What does not is flushed and replayed.
/// - D ([`DecodeStage`], [`Hazards`]): nothing waits here. An instruction that missed in the cache,
///   or has to wait, leaves as a bubble, and its warp replays it.
/// - R ([`ReadStage`], [`Lane`]): the bounds of the windows are subtracted from the immediate, so
///   that no address is compared with them ([`AccessWindow`]).
/// - X ([`Lane`]): operands are forwarded; addresses are checked beside the adder that makes them.
/// - W ([`WriteStage`]): it alone stalls the pipeline. Lanes that fault or go apart store their
///   PCs, and [`PathSelector`] chooses those that run next.
/// - M ([`DataMemory`]): loads come back in any order; a line that could not be read becomes a
///   fault later ([`LoadErrors`]).
/// - Beside stage W, long-latency results of loads and divisions ([`DivideUnit`]) are written to
///   registers out of order ([`LateResults`]).
#[clocked]
#[derive(LogicBlock)]
#[new(options: CoreOptions)]
pub struct ShaderCore<const LANES: usize> {
    /// Number of the core in the array; constant.
    pub core: Signal<In, Bits<5>>,
    /// Cycles since reset.
    pub cycle: Signal<In, Bits<64>>,
    /// From the registers: what the threads of the kernel start with.
    pub setup: KernelSetup,
    /// WATCHDOG register.
    pub watchdog_limit: Signal<In, Bits<31>>,
    /// From the registers: where kernels may load and store.
    pub windows: Windows,
    /// INVALIDATE register: drop the instruction cache.
    pub invalidate: Signal<In, Bit>,
    /// INVALIDATE register: drop the data cache.
    pub invalidate_data: Signal<In, Bit>,
    /// From warp issue: a warp starts.
    pub start: WarpStart,
    /// To the DCQ: a warp finished.
    pub finish: WarpFinish,
    /// To the fault collector.
    pub fault: WarpFault,
    /// To memory: reads of instruction and data lines.
    pub line_read: LineRead,
    /// To memory: stores and atomic operations.
    pub line_write: LineWrite,
    /// With the answers of atomic operations (only with atomic instructions).
    #[there(options.atomics)]
    pub atomic_answer: Part<AtomicAnswer>,
    /// To the banks of the L2: reservations of a warp end (only with atomic instructions).
    #[there(options.atomics)]
    pub reservation_end: Part<ReservationEnd>,
    /// From warp issue and the thread spawner: what the warp that starts is (only with a thread
    /// spawner, as the next).
    #[there(options.spawns())]
    pub start_job: Part<JobStart>,
    /// SPAWN_WATCHDOG register.
    #[there(options.spawns())]
    pub spawn_watchdog_limit: Part<Signal<In, Bits<31>>>,
    /// To the DCQ: a thread of the warp that finished ended with a fault.
    #[there(options.spawns())]
    pub finish_faulted: Part<Signal<Out, Bit>>,
    /// To the fault collector: job of the warp, its slot in bits 3:0; bit 4: the warp is one of
    /// spawned threads.
    #[there(options.spawns())]
    pub fault_job: Part<Signal<Out, WarpJob>>,
    /// Registers FAULT_ENTRY and FAULT_CAUSES.
    #[there(options.spawns())]
    pub trap_control: Part<LaneTrapControl>,
    /// To FAULT_TRAPS: lanes that went to the trap entry.
    #[there(options.spawns())]
    pub trapped: Part<Signal<Out, Bits<6>>>,
    /// From the banks of the L2: lines were written (only with a network interface).
    #[there(options.network)]
    #[count(options.l2_banks)]
    pub written_line: Part<Vec<Flipped<WrittenLine>>>,
    /// To the registers.
    pub counters: CoreCounters,
    /// The cycles that it lost.
    pub lost: LostCycleCounters,
    /// Retire trace of the core (see [`RetireTrace`]), if it is there.
    #[there(options.trace)]
    pub trace: Part<Trace>,
    /// To the trace buffer (only with one). Every output is combinational and describes the current
    /// cycle.
    #[there(options.trace_buffer > 0)]
    pub told: Part<CoreTrace<LANES>>,
    /// To the load counters (only with them): a data line is found in the data cache.
    #[there(options.load_counters)]
    pub line_hit: Part<Signal<Out, Bit>>,
    /// From warp issue: lanes with which the warp starts (only with network functions, as the
    /// next).
    #[there(options.functions())]
    pub start_lanes: Part<Signal<In, Bits<32>>>,
    /// To the control path: lanes of the warp that was offered as finished in the cycle before.
    #[there(options.functions())]
    pub finished: Part<FinishedLanes>,
    /// Codes of their verdicts (only where packets branch).
    #[there(options.function_branches)]
    pub finished_codes: Part<Signal<Out, Bits<128>>>,
    /// From the core's context: what its network function may do.
    #[there(options.functions())]
    pub guards: Part<Flipped<FunctionGuards>>,
    /// From the owner of the cores: a row of registers and scratchpad is cleared.
    #[there(options.functions())]
    pub clear: Part<Flipped<RowClear>>,
    #[init(FrontEnd::new(options))]
    front_end: FrontEnd<LANES>,
    #[init(InstructionCache::new(options.instruction_cache_lines, options.instruction_cache_ways))]
    cache: InstructionCache,
    #[init(DecodeStage::new(LANES, options))]
    decode: DecodeStage,
    read: ReadStage<LANES>,
    #[init((0..LANES).map(|_| Lane::new(options)).collect())]
    lane: Vec<Lane>,
    #[init(WriteStage::new(options))]
    write: WriteStage<LANES>,
    paths: PathSelector<LANES>,
    #[init(DataMemory::new(options))]
    data_memory: DataMemory<LANES>,
    #[init(Part::when(options.atomics, || AtomicStage::new(options)))]
    atomic_stage: Part<AtomicStage<LANES>>,
    #[there(options.atomics)]
    atomic_turns: Part<AtomicTurns>,
    #[there(options.atomics)]
    reservation_ends: Part<ReservationEnds>,
    read_merge: ReadMerge,
    load_errors: LoadErrors<LANES>,
    #[init(Watchdog::new(options))]
    watchdog: Watchdog,
    #[init(Part::when(options.network, || WarpWaits::new(options.l2_banks, BRIEF_WAIT, LONG_WAIT)))]
    waits: Part<WarpWaits>,
    late: LateResults<LANES>,
    event_counters: EventCounters,
    rs1_address: RegisterAddress,
    rs2_address: RegisterAddress,
    rd_address: RegisterAddress,
    a0_address: RegisterAddress,
    late_address: RegisterAddress,
    hazards: Hazards,
    #[init(vec![AccessWindow::new(options.functions()), AccessWindow::new(false)])]
    window: Vec<AccessWindow>,
    #[there(options.local_window)]
    local: Part<LocalWindow<LANES>>,
    divide: DivideUnit<LANES>,
    instruction_count: InstructionCount,
    lost_cycles: LostCycles,
    #[init(FaultBuffer::new(options.spawns()))]
    faults: FaultBuffer,
    #[there(options.spawns())]
    spawned: Part<SpawnedWarps>,
    #[there(options.spawns())]
    lane_traps: Part<LaneTraps<LANES>>,
    #[there(options.functions())]
    survivors: Part<Survivors<LANES>>,
    #[there(options.function_branches)]
    codes: Part<VerdictCodes<LANES>>,
    #[there(options.functions())]
    packet_window: Part<PacketWindow>,
    #[there(options.functions())]
    fetch_window: Part<FetchWindow>,
    #[there(options.trace)]
    retire_trace: Part<RetireTrace<LANES>>,
    #[init((0..LANES as u64).map(|lane| Constant::new(lane.into())).collect())]
    number: Vec<Constant<Bits<32>>>,
    #[init(Constant::new(options.aes))]
    aes_enabled: Constant<Bit>,
    #[init(Constant::new(options.atomics))]
    atomics_enabled: Constant<Bit>,
    #[init(options.l2_banks)]
    _banks: usize,
}

impl<const LANES: usize> Default for ShaderCore<LANES> {
    /// A core without its optional parts.
    fn default() -> Self {
        Self::new(CoreOptions::default())
    }
}

impl<const LANES: usize> ShaderCore<LANES> {
    /// A core with or without its optional parts.
    ///
    /// # Panics
    /// If it has what the network interface needs, or compare-and-swap, but no atomic instructions:
    /// those are part of it. If it has network functions, but no local window, or something else
    /// that an array does not have beside them. If it has branches, but no network functions.
    pub fn new(options: CoreOptions) -> Self {
        assert!(options.atomics || !options.network, "ShaderCore: {options:?}: network needs atomics");
        assert!(
            options.atomics || !options.compare_and_swap,
            "ShaderCore: {options:?}: compare_and_swap needs atomics"
        );
        let alone = options.local_window && !options.spawns() && !options.network;
        assert!(alone || !options.functions(), "ShaderCore: {options:?}: functions");
        assert!(options.functions() || !options.function_branches, "ShaderCore: {options:?}: branches");
        Self::wired(options)
    }

    /// With a network interface: the slot whose warp falls asleep, and whether a store of it is
    /// outstanding.
    #[cfg(test)]
    pub(super) fn falls_asleep(&self) -> Option<(usize, bool)> {
        let slot = self.read.context.slot.val().index();
        self.decode.sleep.valid.val().then(|| (slot, self.hazards.stores_busy.val().get_bit(slot)))
    }
}

impl<const LANES: usize> Logic for ShaderCore<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        // Atomic instructions, if there are any
        let mut checked_as_store = self.decode.read.store.val();
        let mut exchanged = false;
        self.write.stores.next = false;
        self.write.refused.next = bits::<LANES>(0);
        self.hazards.atomic.read.next = false;
        self.hazards.atomic.execute.next = false;
        self.hazards.atomic.write.next = false;
        self.hazards.atomic_refused.next = false;
        if self.atomic_answer.is_there() {
            self.atomic_stage.advance.next = self.write.advance.val();
            self.atomic_stage.decode_atomic.next = self.decode.query.atomic.val();
            self.atomic_stage.decode_word.next = self.decode.word.val();
            connect!(self.windows, self.atomic_stage.windows);
            self.write.stores.next = self.atomic_stage.stores.val();
            self.write.refused.next = self.atomic_stage.refused.val();
            if self.local.is_there() {
                self.write.refused.next = self.atomic_stage.refused.val() & !self.local.held.val();
            }
            checked_as_store = self.decode.read.store.val() | self.atomic_stage.read_stores.val();
            connect!(self.atomic_stage.in_flight, self.hazards.atomic);

            connect!(self.atomic_stage.request, *self.data_memory.request_atomic);
            connect!(self.atomic_answer, self.data_memory.atomic_answer);
            for i in 0..LANES {
                self.atomic_stage.address[i].next = self.lane[i].values.address.val();
            }
            exchanged = self.late.exchanged.val() | self.atomic_turns.wake.val();

            self.atomic_turns.slot.next = self.front_end.decode.slot.val();
            self.atomic_turns.busy.next = self.data_memory.atomic_busy.val();
            self.atomic_turns.wants.next = self.decode.stops.val()
                & !self.decode.misses.val()
                & self.decode.query.atomic.val()
                & (self.data_memory.atomic_busy.val() | self.atomic_turns.refused.val());
            self.atomic_turns.start_valid.next =
                self.write.memory_start.val() & self.atomic_stage.request.valid.val();
            self.atomic_turns.start_slot.next = self.write.slot.val();
            self.hazards.atomic_refused.next = self.atomic_turns.refused.val();

            self.reservation_ends.advance.next = self.write.advance.val();
            connect!(self.decode.query, self.reservation_ends.decode);
            self.reservation_ends.decode_word.next = self.decode.word.val();
            self.reservation_ends.entered.next = self.decode.entered.val();
            self.reservation_ends.read_slot.next = self.read.context.slot.val();
            self.reservation_ends.start_valid.next = self.atomic_turns.start_valid.val();
            self.reservation_ends.start_operation.next = self.atomic_stage.request.operation.val();
            self.reservation_ends.done.valid.next = self.data_memory.atomic_done.val();
            self.reservation_ends.done.slot.next = self.data_memory.atomic_slot.val();
            connect!(*self.reservation_end, self.reservation_ends.end);
        }

        self.run_spawned();
        // Long-latency results
        self.late.port_wanted_next.next = self.write.port_wanted_next.val();
        self.late.scratchpad_next.next = self.data_memory.scratchpad_next.val();
        for i in 0..FROM_DIVISION {
            connect!(self.data_memory.result[i], self.late.result[i]);
        }
        self.data_memory.result_ready.next = self.late.result_ready[FROM_MEMORY].val();
        self.data_memory.result_ready_next.next = self.late.memory_ready_next.val();
        connect!(self.data_memory.result_error, self.late.result_error);
        self.late.loaded_valid.next = self.data_memory.loaded_valid.val();
        self.late.exchanged_valid.next = self.data_memory.atomic_done.val();
        connect!(self.divide.result, self.late.result[FROM_DIVISION]);
        self.divide.result_ready.next = self.late.result_ready[FROM_DIVISION].val();

        self.fetch(exchanged);
        self.decode();
        self.check_hazards(exchanged);
        self.execute(checked_as_store);
        self.write_back();
        self.access_memory();
        self.count();
        self.guard();
        self.tell();
    }
}
