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
use crate::memory::{InstructionCache, ReadMerge};
use crate::ports::{
    AtomicAnswer, CoreCounters, CoreTrace, FinishedLanes, FunctionGuards, JobStart, KernelSetup,
    LaneTrapControl, LineRead, LineWrite, LostCycleCounters, ReservationEnd, RowClear, Trace, WarpFault,
    WarpFinish, WarpStart, WrittenLine,
};
use crate::types::WarpJob;
use hermes_hdl::prelude::*;

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
#[derive(LogicBlock)]
#[new(options: CoreOptions)]
pub struct ShaderCore<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
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
    /// What comes with the answer of an atomic operation (only with atomic instructions).
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
    /// Its event counters.
    pub counters: CoreCounters,
    /// The cycles that it lost.
    pub lost: LostCycleCounters,
    /// Its retire trace (see [`RetireTrace`]), if it is there.
    #[there(options.trace)]
    pub trace: Part<Trace>,
    /// What a trace buffer is told (only with a trace buffer). Every output is combinational and
    /// describes the current cycle.
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

        // Warps of spawned threads, if there are any
        if self.start_job.is_there() {
            connect!(self.start, self.spawned.warp);
            connect!(*self.start_job, self.spawned.start);
            self.front_end.start_spawned.next = self.start_job.spawned.val();
            self.front_end.start_entry.next = self.start_job.entry.val();
            self.spawned.advance.next = self.write.advance.val();
            self.spawned.fetched_slot.next = self.front_end.fetched_slot.val();
            connect!(self.spawned.job, *self.decode.job);
            self.spawned.write_slot.next = self.write.slot.val();
            self.spawned.finish_slot.next = self.front_end.finish.slot.val();
            self.finish_faulted.next = self.spawned.finish_faulted.val();
            self.watchdog.spawn_limit.next = self.spawn_watchdog_limit.val();
            self.watchdog.spawned_slots.next = self.spawned.spawned_slots.val();
            self.faults.job.next = self.spawned.write_job.val();
            self.fault_job.next = self.faults.fault_job.val();
            connect!(*self.trap_control, self.lane_traps.control);
            self.lane_traps.spawned.next = self.spawned.write_job.val().get_bit(4);
            self.lane_traps.cause.next = self.write.fault.cause.val();
            self.lane_traps.pc.next = self.write.fault.pc.val();
            self.lane_traps.load_failed.next = self.write.of_failed_load.val();
            self.lane_traps.lanes.next = self.write.fault_lanes.val();
            self.lane_traps.fires.next = self.write.fire.val();
            self.lane_traps.advance.next = self.write.advance.val();
            self.write.traps.next = self.lane_traps.traps.val();
            self.trapped.next = self.lane_traps.trapped.val();
        }

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

        // S, C
        self.front_end.advance.next = self.write.advance.val();
        connect!(self.start, self.front_end.start);
        self.front_end.kernel_entry.next = self.setup.kernel_entry.val().get_bits::<30>(2);
        self.front_end.hold_slot.next = self.read.context.slot.val();
        self.front_end.hold_pc.next = self.decode.read.pc.val();
        connect!(self.decode.outcome, self.front_end.outcome);
        self.front_end.filled.next = self.cache.filled.val();
        connect!(self.write.progress, self.front_end.progress);
        connect!(self.write.flush, self.front_end.flush);
        self.front_end.path_valid.next = self.paths.valid.val();
        self.front_end.path_slot.next = self.paths.chosen.slot.val();
        connect!(self.late.complete, self.front_end.completions.late);
        connect!(self.data_memory.scratchpad_stored, self.front_end.completions.scratchpad);
        connect!(self.data_memory.stored, self.front_end.completions.stored);
        self.front_end.completions.any.next = self.late.divided.val() | exchanged;
        self.front_end.stores_busy.next = self.hazards.stores_busy.val();
        self.front_end.context_write.next = self.write.context_write.val();
        connect!(self.write.context, self.front_end.context);
        connect!(self.finish, self.front_end.finish);

        // Instruction cache
        self.cache.stall.next = !self.write.advance.val();
        connect!(self.front_end.lookup, self.cache.lookup);
        self.cache.wanted.next =
            self.front_end.instruction.valid.val() & !self.front_end.instruction.boot.val();
        self.cache.flush.next = self.invalidate.val();

        // D
        self.decode.advance.next = self.write.advance.val();
        connect!(self.front_end.instruction, self.decode.instruction);
        connect!(self.front_end.fetched, self.decode.fetched);
        connect!(self.cache.fetched, self.decode.cached);
        self.decode.instructions.next = self.instruction_count.instructions.val();
        self.decode.blocked.next = self.hazards.blocked.val();
        self.decode.waits.next = self.hazards.waits.val();
        connect!(self.hazards.forward, self.decode.forward);
        connect!(self.write.flush, self.decode.flush);
        self.decode.aes_enabled.next = self.aes_enabled.val();
        self.decode.atomics_enabled.next = self.atomics_enabled.val();
        if self.waits.is_there() {
            self.decode.running.next = bit_cast::<32, LANES>(self.front_end.decode.active.val());
            self.decode.hazard.next = self.hazards.blocked.val();
            self.decode.blocked.next = self.hazards.blocked.val() | self.decode.sleeps.val();
        }
        self.decode.core.next = self.core.val();
        self.decode.cycle.next = self.cycle.val();
        connect!(self.setup, self.decode.setup);
        self.watchdog.limit.next = self.watchdog_limit.val();
        self.watchdog.cycle.next = self.cycle.val().get_bits::<32>(0);
        connect!(self.start, self.watchdog.start);
        self.watchdog.advance.next = self.write.advance.val();
        self.watchdog.slot.next = self.front_end.fetched_slot.val();
        self.decode.overdue.next = self.watchdog.overdue.val();
        if self.waits.is_there() {
            self.waits.cycle.next = self.cycle.val().get_bits::<32>(0);
            connect!(self.start, self.waits.start);
            connect!(*self.data_memory.look, self.waits.look);
            self.waits.advance.next = self.write.advance.val();
            self.waits.slot.next = self.front_end.fetched_slot.val();
            self.decode.holds.next = self.waits.holds.val();
            self.waits.hold_slot.next = self.read.context.slot.val();
            connect!(*self.decode.sleep, self.waits.sleep);
            self.waits.overdue.next = self.watchdog.overdue_slots.val();
            // The front end holds a warp that falls asleep as it holds one whose next path is not
            // known.
            self.front_end.outcome.control.next =
                self.decode.outcome.control.val() | self.decode.sleep.valid.val();
            self.front_end.sleep_valid.next = self.decode.sleep.valid.val();
            self.front_end.wake.next = self.waits.wake.val();
            for b in 0..self._banks {
                connect!(self.written_line[b], self.waits.written[b]);
            }
        }
        self.rs1_address.slot.next = self.front_end.decode.slot.val();
        self.rs1_address.register.next = self.decode.query.rs1.val();
        self.rs1_address.small_registers.next = self.setup.kernel_class.val();
        self.rs2_address.slot.next = self.front_end.decode.slot.val();
        self.rs2_address.register.next = self.decode.query.rs2.val();
        self.rs2_address.small_registers.next = self.setup.kernel_class.val();
        // What `amocas.w` compares with is read in a cycle in which stage D reads nothing: the
        // instruction there is replayed.
        if self.data_memory.compare_read.is_there() {
            self.data_memory.compare_read.ready.next = self.write.advance.val();
            if self.data_memory.compare_read.valid.val() {
                self.decode.blocked.next = true;
                self.rs2_address.slot.next = self.data_memory.compare_read.slot.val();
                self.rs2_address.register.next = self.data_memory.compare_read.register.val();
            }
            for i in 0..LANES {
                self.data_memory.compare_value[i].next = self.lane[i].register.val();
            }
        }
        self.rd_address.slot.next = self.write.slot.val();
        self.rd_address.register.next = self.write.in_write.rd.val();
        self.rd_address.small_registers.next = self.setup.kernel_class.val();
        self.late_address.slot.next = self.late.write.slot.val();
        self.late_address.register.next = self.late.write.rd.val();
        self.late_address.small_registers.next = self.setup.kernel_class.val();
        self.a0_address.slot.next = self.write.slot.val();
        self.a0_address.register.next = bits::<5>(10);
        self.a0_address.small_registers.next = self.setup.kernel_class.val();

        // Hazards
        self.hazards.slot.next = self.front_end.decode.slot.val();
        connect!(self.decode.query, self.hazards.decode);
        connect!(self.decode.read, self.hazards.read);
        self.hazards.read_slot.next = self.read.context.slot.val();
        self.hazards.read_multiply.next = self.decode.read.multiply.val();
        connect!(self.read.execute, self.hazards.execute);
        self.hazards.execute_slot.next = self.write.execute_slot.val();
        connect!(self.write.in_write, self.hazards.write);
        self.hazards.write_slot.next = self.write.slot.val();
        self.hazards.memory_start.next = self.write.memory_start.val() & !self.write.request.scratchpad.val();
        self.hazards.divide_start.next = self.write.divide.valid.val();
        self.hazards.loaded_valid.next = self.late.loaded.val();
        connect!(self.late.complete, self.hazards.completions.late);
        self.hazards.late_rd.next = self.late.write.rd.val();
        self.hazards.scratchpad_start.next =
            self.write.memory_start.val() & self.write.request.scratchpad.val();
        self.hazards.scratchpad_loaded.next = self.late.scratched.val();
        connect!(self.data_memory.scratchpad_stored, self.hazards.completions.scratchpad);
        connect!(self.data_memory.stored, self.hazards.completions.stored);
        self.hazards.divide_busy.next = !self.divide.start_ready.val();
        self.hazards.divide_slot.next = self.divide.result.slot.val();
        self.hazards.completions.any.next = self.late.divided.val() | exchanged;
        self.hazards.atomic_busy.next = self.data_memory.atomic_busy.val() | self.late.exchanged.val();
        self.hazards.atomic_slot.next = self.data_memory.atomic_slot.val();
        connect!(self.start, self.instruction_count.start);
        self.instruction_count.slot.next = self.front_end.decode.slot.val();
        connect!(self.decode.read, self.instruction_count.read);
        self.instruction_count.read_slot.next = self.read.context.slot.val();
        connect!(self.read.execute, self.instruction_count.execute);
        self.instruction_count.execute_slot.next = self.write.execute_slot.val();
        self.instruction_count.write_valid.next = self.write.in_write.valid.val();
        self.instruction_count.write_slot.next = self.write.slot.val();
        self.instruction_count.write_boot.next = self.write.boot.val();
        self.instruction_count.retire.next = self.write.fire.val();

        // Division
        connect!(self.write.divide, self.divide.start);
        self.divide.start_count.next = !self.write.funct3.val().get_bit(2);
        self.divide.start_ones.next = self.write.funct3.val().get_bit(1);
        self.divide.start_trailing.next = self.write.funct3.val().get_bit(0);
        self.divide.start_signed.next = !self.write.funct3.val().get_bit(0);
        self.divide.start_remainder.next = self.write.funct3.val().get_bit(1);

        // Windows
        self.window[0].read_base.next = self.windows.read_0_base.val();
        self.window[0].read_size.next = self.windows.read_0_size.val();
        self.window[0].write_base.next = self.windows.write_0_base.val();
        self.window[0].write_size.next = self.windows.write_0_size.val();
        self.window[1].read_base.next = self.windows.read_1_base.val();
        self.window[1].read_size.next = self.windows.read_1_size.val();
        self.window[1].write_base.next = self.windows.write_1_base.val();
        self.window[1].write_size.next = self.windows.write_1_size.val();
        for i in 0..2 {
            self.window[i].advance.next = self.write.advance.val();
            self.window[i].store.next = checked_as_store;
            self.window[i].immediate.next = self.decode.read.immediate.val();
            connect!(self.window[i].distance, self.write.window[i]);
        }

        // R and X, and the registers and PCs of all stages
        for i in 0..LANES {
            self.lane[i].number.next = self.number[i].val();
            self.lane[i].advance.next = self.write.advance.val();
            self.lane[i].rs1_address.next = self.rs1_address.address.val();
            self.lane[i].rs2_address.next = self.rs2_address.address.val();
            connect!(self.decode.read_operands, self.lane[i].operands);
            connect!(self.read.execute_arithmetic, self.lane[i].arithmetic);
            connect!(self.write.outcome, self.lane[i].outcome);
            connect!(self.lane[i].values, self.write.lane[i]);
            self.lane[i].runs.next = self.read.context.active.val().get_bit(i);
            self.lane[i].multiplies.next = self.read.execute.multiply.val();
            self.divide.start_dividend[i].next = self.lane[i].values.result.val();
            self.divide.start_divisor[i].next = self.lane[i].store_data.val();
            self.lane[i].stay.next = self.write.stay_lanes.val().get_bit(i);
            self.lane[i].condition.next = self.read.execute.funct3.val();
            self.lane[i].immediate.next = self.read.execute.immediate.val();
            self.lane[i].write.next = self.write.write_lanes.val().get_bit(i);
            self.lane[i].write_address.next = self.rd_address.address.val();
            self.lane[i].fault.next = self.write.fault_lanes.val().get_bit(i);
            self.lane[i].fault_address.next = self.a0_address.address.val();
            if self.start_job.is_there() {
                self.lane[i].trap.next = self.lane_traps.traps.val();
                self.lane[i].trap_page.next = self.lane_traps.page.val();
            }
            self.lane[i].late.next = self.late.write.lanes.val().get_bit(i);
            self.lane[i].late_address.next = self.late_address.address.val();
            self.lane[i].quotient.next = self.divide.result_data[i].val();
            self.lane[i].load_data.next = self.data_memory.data[i].val();
            self.data_memory.request_address[i].next = self.lane[i].values.result.val();
            self.data_memory.request_data[i].next = self.lane[i].store_data.val();
            self.lane[i].path_write.next = self.write.path_lanes.val().get_bit(i);
            self.lane[i].path_write_slot.next = self.write.slot.val();
            connect!(self.paths.read, self.lane[i].path_read);
            self.paths.key[i].next = self.lane[i].path_key.val();
        }

        // Stacks in the local window, if there is one
        if self.local.is_there() {
            self.local.advance.next = self.write.advance.val();
            self.local.core.next = self.core.val();
            connect!(self.setup, self.local.places);
            self.local.slot.next = self.write.execute_slot.val();
            self.local.access.next = self.write.execute_accesses.val();
            connect!(self.local.accessed, *self.write.local);
            for i in 0..LANES {
                self.local.address[i].next = self.lane[i].values.address.val();
                self.local.result[i].next = self.lane[i].values.result.val();
                self.data_memory.request_address[i].next = self.local.physical[i].val();
            }
        }

        // R
        self.read.advance.next = self.write.advance.val();
        connect!(self.write.flush, self.read.flush);
        connect!(self.front_end.decode, self.read.decode);
        connect!(self.decode.read, self.read.read);
        connect!(self.decode.read_arithmetic, self.read.read_arithmetic);
        self.read.read_base.next = self.decode.read_base.val();

        // W
        connect!(self.read.context, self.write.read);
        connect!(self.read.execute, self.write.execute);
        self.write.late_write.next = self.late.write.valid.val();
        self.write.warp_late.next = self.hazards.write_warp_late.val();
        self.write.path_ready.next = self.paths.ready.val();
        connect!(self.write.path_start, self.paths.start);
        self.write.path_valid.next = self.paths.valid.val();
        connect!(self.paths.chosen, self.write.chosen);
        connect!(self.write.fault, self.faults.offered);
        connect!(self.fault, self.faults.fault);

        // Data memory
        connect!(self.write.request, self.data_memory.request);
        // A `fence` leaves stage D when the loads and stores before it are complete, and those
        // after it come later. One that orders no later read need not drop the data cache; with a
        // network interface it does not.
        self.data_memory.drop.next = self.invalidate_data.val() | self.decode.fenced.val();
        connect!(self.cache.fetch, self.read_merge.fetch);
        connect!(self.data_memory.read, self.read_merge.data);
        connect!(self.line_read, self.read_merge.memory);
        connect!(self.line_write, self.data_memory.write);

        // Loads that failed become faults of their lanes.
        connect!(self.late.failed, self.load_errors.error);
        self.load_errors.slot.next = self.front_end.decode.slot.val();
        self.load_errors.active.next = self.front_end.decode.active.val();
        self.decode.load_error.next = self.load_errors.found.val();
        self.load_errors.write_slot.next = self.write.slot.val();
        connect!(self.load_errors.errors, self.write.load_error);
        self.load_errors.clear_valid.next =
            self.write.in_write.valid.val() & self.write.advance.val() & self.write.fault_lanes.val().any();
        self.load_errors.clear_lanes.next = self.write.fault_lanes.val();

        // Lanes that trap leave no record and keep a0; tp is the address of the instruction. They
        // go on, so that a load of theirs that failed ends them at their next instruction.
        if self.start_job.is_there() {
            if self.lane_traps.traps.val() {
                self.faults.offered.valid.next = false;
                self.write.fault.ready.next = true;
                self.a0_address.register.next = bits::<5>(4);
                self.load_errors.clear_valid.next = false;
            }
            self.spawned.fault_valid.next = self.faults.offered.valid.val() & self.faults.offered.ready.val();
        }

        // Counters
        connect!(self.write.retired, self.event_counters.retired);
        self.event_counters.occupied.next = self.front_end.occupied.val();
        self.event_counters.issued.next = self.decode.entered.val();
        self.event_counters.fetch_miss.next = self.cache.fetch_miss.val();
        self.event_counters.line_read.next = self.data_memory.miss.val();
        self.event_counters.line_write.next = self.data_memory.line_write.val();
        self.lost_cycles.occupied.next = self.front_end.occupied.val();
        self.lost_cycles.advance.next = self.write.advance.val();
        self.lost_cycles.reason.next = self.front_end.decode_reason.val();
        connect!(self.decode.outcome, self.lost_cycles.outcome);
        connect!(self.counters, self.event_counters.counters);
        if self.line_hit.is_there() {
            self.line_hit.next = self.data_memory.hit.val();
        }
        connect!(self.lost, self.lost_cycles.counters);

        // Network functions: the verdict of a thread that ends is in the operand that it stores.
        if self.start_lanes.is_there() {
            let mut drops = bits::<LANES>(0);
            for i in 0..LANES {
                drops = drops.replace_bit(i, self.lane[i].store_data.val().get_bit(31));
            }
            self.front_end.start_lanes.next = bit_cast::<LANES, 32>(self.start_lanes.val());
            self.survivors.start.next = self.start.valid.val();
            self.survivors.start_slot.next = self.start.slot.val();
            self.survivors.start_lanes.next = bit_cast::<LANES, 32>(self.start_lanes.val());
            self.survivors.exit.next = self.write.fire.val() & self.write.exits.val();
            self.survivors.exit_slot.next = self.write.slot.val();
            self.survivors.exit_lanes.next = self.write.executed.val();
            self.survivors.drops.next = drops;
            self.survivors.finish_slot.next = self.front_end.finish.slot.val();
            self.finished.survivors.next = bit_cast::<32, LANES>(self.survivors.survivors.val());
            self.finished.ended.next = bit_cast::<32, LANES>(self.survivors.ended.val());
        }

        if self.finished_codes.is_there() {
            self.codes.exit.next = self.write.fire.val() & self.write.exits.val();
            self.codes.exit_slot.next = self.write.slot.val();
            self.codes.exit_lanes.next = self.write.executed.val();
            for i in 0..LANES {
                self.codes.verdict[i].next = self.lane[i].store_data.val();
            }
            self.codes.finish_slot.next = self.front_end.finish.slot.val();
            self.finished_codes.next = self.codes.codes.val();
        }

        // What they may do
        if self.start_lanes.is_there() {
            connect!(*self.guards, self.packet_window.guards);
            self.packet_window.advance.next = self.write.advance.val();
            self.packet_window.ring.ring_base.next = self.setup.ring_base.val();
            self.packet_window.ring.ring_slots_log2.next = self.setup.ring_slots_log2.val();
            self.packet_window.ring.slot_bytes_log2.next = self.setup.slot_bytes_log2.val();
            self.packet_window.packet.next = self.front_end.fetched_packet.val();
            self.packet_window.count.next = self.front_end.fetched_count.val();
            connect!(self.packet_window.bounds, *self.window[0].packets);
            if self.atomic_answer.is_there() {
                connect!(self.packet_window.bounds, *self.atomic_stage.packets);
            }
            self.decode.may_reserve.next = self.guards.may_reserve.val();
            self.fetch_window.guarded.next = self.guards.guarded.val();
            self.fetch_window.base.next = self.windows.read_1_base.val();
            self.fetch_window.size.next = self.windows.read_1_size.val();
            connect!(self.front_end.fetched, self.fetch_window.fetched);
            self.decode.outside.next = self.fetch_window.outside.val();
            self.cache.wanted.next = self.front_end.instruction.valid.val()
                & !self.front_end.instruction.boot.val()
                & !self.decode.refused.val();
            // Without a warp nobody else writes registers: the value of a late result is zero then.
            connect!(self.clear, self.data_memory.clear);
            if self.clear.valid.val() {
                for i in 0..LANES {
                    self.lane[i].late.next = true;
                    self.lane[i].late_address.next = self.clear.row.val().get_bits::<9>(0);
                }
            }
        }

        // Trace
        if self.trace.is_there() {
            self.retire_trace.advance.next = self.write.advance.val();
            connect!(self.front_end.lookup, self.retire_trace.lookup);
            self.retire_trace.decode_instruction.next = self.decode.word.val();
            self.retire_trace.fire.next = self.write.fire.val();
            self.retire_trace.slot.next = self.write.slot.val();
            self.retire_trace.pc.next = self.write.fault.pc.val();
            self.retire_trace.active.next = self.write.executed.val();
            self.retire_trace.faulting.next = self.write.fault_lanes.val();
            self.retire_trace.cause.next = self.write.fault.cause.val();
            self.retire_trace.rd.next = self.write.in_write.rd.val();
            self.retire_trace.late.next = self.write.in_write.load.val() | self.write.in_write.divide.val();
            self.retire_trace.of_address.next = self.write.in_write.load.val()
                | self.write.in_write.store.val()
                | self.write.outcome.jump_register.val();
            connect!(self.late.write, self.retire_trace.late_write);
            for l in 0..LANES {
                self.retire_trace.written[l].next = self.lane[l].written.val();
                self.retire_trace.result[l].next = self.lane[l].values.result.val();
                self.retire_trace.store_data[l].next = self.lane[l].store_data.val();
            }
            connect!(*self.trace, self.retire_trace.trace);
        }
        if self.told.is_there() {
            self.told.valid.next = self.write.fire.val();
            self.told.slot.next = self.write.slot.val();
            self.told.pc.next = self.write.fault.pc.val();
            self.told.active.next = self.write.executed.val();
            self.told.faulting.next = self.write.fault_lanes.val();
            self.told.cause.next = self.write.fault.cause.val();
            self.told.late_valid.next = self.late.write.valid.val();
            self.told.late_slot.next = self.late.write.slot.val();
            self.told.late_rd.next = self.late.write.rd.val();
            self.told.late_lanes.next = self.late.write.lanes.val();
        }
    }
}
