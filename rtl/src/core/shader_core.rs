//! The shader core.

use super::{
    AccessWindow, AtomicStage, AtomicTurns, DataMemory, DecodeStage, DivideUnit, EventCounters, FaultBuffer,
    FrontEnd, Hazards, InstructionCount, Lane, LateResults, LoadErrors, LocalWindow, LostCycles,
    PathSelector, ReadStage, RegisterAddress, RetireTrace, SpawnedWarps, WarpWaits, Watchdog, WriteStage,
    FROM_DIVISION, FROM_MEMORY, WINDOWS,
};
use crate::config::CoreOptions;
use crate::memory::{InstructionCache, ReadMerge};
use crate::ports::{
    AtomicAnswer, CoreCounters, JobStart, LineRead, LineWrite, LostCycleCounters, Trace, WrittenLine,
};
use hermes_hdl::prelude::*;

/// Bits of the cycle counter that end `wrs.sto` and `wrs.nto`: after 64 to 128, and 2048 to 4096 cycles.
const BRIEF_WAIT: usize = 5;
const LONG_WAIT: usize = 10;

/// One SIMT core: `LANES` lanes in lockstep, up to 32 interleaved warps (docs/shader-core.md).
///
/// This unit is wiring: the stages are [`FrontEnd`] (S, C, I), [`DecodeStage`] with [`Hazards`] (D), [`ReadStage`] (R), [`Lane`] (R, X and register files)
/// and [`WriteStage`] (W); [`PathSelector`] re-converges diverged warps, [`DataMemory`] and
/// [`InstructionCache`] go to memory. Instructions of a warp issue back to back; loads and divisions write their registers
/// late, through [`LateResults`].
#[derive(LogicBlock)]
#[new(options: CoreOptions, traces: usize, atomics: usize, spawns: usize, networks: usize, banks: usize, locals: usize)]
pub struct ShaderCore<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Number of the core in the array; constant.
    pub core: Signal<In, Bits<5>>,
    /// Cycles since reset.
    pub cycle: Signal<In, Bits<64>>,
    /// KERNEL_CLASS register: the kernel has 16 registers.
    pub small_registers: Signal<In, Bit>,
    /// KERNEL_ENTRY register.
    pub kernel_entry: Signal<In, Bits<32>>,
    /// RING_BASE register.
    pub ring_base: Signal<In, Bits<32>>,
    /// RING_SLOTS_LOG2 register.
    pub ring_slots_log2: Signal<In, Bits<5>>,
    /// SLOT_BYTES_LOG2 register.
    pub slot_bytes_log2: Signal<In, Bits<5>>,
    /// VERDICT_BASE register.
    pub verdict_base: Signal<In, Bits<32>>,
    /// ARGUMENT register.
    pub argument: Signal<In, Bits<32>>,
    /// STACK_BASE register.
    pub stack_base: Signal<In, Bits<32>>,
    /// STACK_BYTES_LOG2 register.
    pub stack_bytes_log2: Signal<In, Bits<5>>,
    /// WATCHDOG register.
    pub watchdog_limit: Signal<In, Bits<31>>,
    /// READ_WINDOW_BASE registers, bits 31:6.
    #[count(WINDOWS)]
    pub read_window_base: Vec<Signal<In, Bits<26>>>,
    /// READ_WINDOW_SIZE registers, bits 31:6.
    #[count(WINDOWS)]
    pub read_window_size: Vec<Signal<In, Bits<26>>>,
    /// WRITE_WINDOW_BASE registers, bits 31:6.
    #[count(WINDOWS)]
    pub write_window_base: Vec<Signal<In, Bits<26>>>,
    /// WRITE_WINDOW_SIZE registers, bits 31:6.
    #[count(WINDOWS)]
    pub write_window_size: Vec<Signal<In, Bits<26>>>,
    /// INVALIDATE register: drop the instruction cache.
    pub invalidate: Signal<In, Bit>,
    /// INVALIDATE register: drop the data cache.
    pub invalidate_data: Signal<In, Bit>,
    /// From warp issue: a warp starts in a free slot.
    pub start_valid: Signal<In, Bit>,
    /// From warp issue: its slot.
    pub start_slot: Signal<In, Bits<5>>,
    /// From warp issue: packetIdx of lane 0.
    pub start_packet: Signal<In, Bits<32>>,
    /// From warp issue: number of threads, 1 to `LANES`.
    pub start_count: Signal<In, Bits<6>>,
    /// To the DCQ: a warp finished.
    pub finish_valid: Signal<Out, Bit>,
    /// From the DCQ.
    pub finish_ready: Signal<In, Bit>,
    /// To the DCQ: its slot.
    pub finish_slot: Signal<Out, Bits<5>>,
    /// To the fault collector.
    pub fault_valid: Signal<Out, Bit>,
    /// From the fault collector.
    pub fault_ready: Signal<In, Bit>,
    /// To the fault collector: cause.
    pub fault_cause: Signal<Out, Bits<5>>,
    /// To the fault collector: warp slot.
    pub fault_slot: Signal<Out, Bits<5>>,
    /// To the fault collector: number of faulting threads.
    pub fault_threads: Signal<Out, Bits<6>>,
    /// To the fault collector: PC.
    pub fault_pc: Signal<Out, Bits<32>>,
    /// To the fault collector: value of the lowest faulting lane.
    pub fault_value: Signal<Out, Bits<32>>,
    /// To the fault collector: packetIdx of the lowest faulting lane.
    pub fault_packet: Signal<Out, Bits<32>>,
    /// To memory: reads of instruction and data lines.
    pub line_read: LineRead,
    /// To memory: stores and atomic operations.
    pub line_write: LineWrite,
    /// What comes with the answer of an atomic operation (one element with atomic instructions).
    #[count(usize::from(options.atomics))]
    pub atomic_answer: Vec<AtomicAnswer>,
    /// From warp issue and the thread spawner: what the warp that starts is (one element with a thread spawner, as the next).
    #[count(spawns)]
    pub start_job: Vec<JobStart>,
    /// SPAWN_WATCHDOG register.
    #[count(spawns)]
    pub spawn_watchdog_limit: Vec<Signal<In, Bits<31>>>,
    /// To the DCQ: a thread of the warp that finished ended with a fault.
    #[count(spawns)]
    pub finish_faulted: Vec<Signal<Out, Bit>>,
    /// To the fault collector: job of the warp, its slot in bits 3:0; bit 4: the warp is one of spawned threads.
    #[count(spawns)]
    pub fault_job: Vec<Signal<Out, Bits<5>>>,
    /// From the banks of the L2, with a network interface: lines were written.
    #[count(banks)]
    pub written_line: Vec<Flipped<WrittenLine>>,
    /// Its event counters.
    pub counters: CoreCounters,
    /// The cycles that it lost.
    pub lost: LostCycleCounters,
    /// Its retire trace (see [`RetireTrace`]), if it is there.
    #[count(traces)]
    pub trace: Vec<Trace>,
    #[init(FrontEnd::new(options.oldest_first, spawns, networks))]
    front_end: FrontEnd<LANES>,
    #[init(InstructionCache::new(options.instruction_cache_lines, options.instruction_cache_ways))]
    cache: InstructionCache,
    #[init(DecodeStage::new(LANES, spawns, networks, locals))]
    decode: DecodeStage,
    read: ReadStage<LANES>,
    #[init((0..LANES).map(|_| Lane::new(options.aes)).collect())]
    lane: Vec<Lane>,
    #[init(WriteStage::new(locals))]
    write: WriteStage<LANES>,
    paths: PathSelector<LANES>,
    #[init(DataMemory::new(options.l1_lines, options.atomics, options.network))]
    data_memory: DataMemory<LANES>,
    #[count(atomics)]
    atomic_stage: Vec<AtomicStage<LANES>>,
    #[count(atomics)]
    atomic_turns: Vec<AtomicTurns>,
    read_merge: ReadMerge,
    load_errors: LoadErrors<LANES>,
    #[init(Watchdog::new(spawns, networks))]
    watchdog: Watchdog,
    #[init((0..networks).map(|_| WarpWaits::new(banks, BRIEF_WAIT, LONG_WAIT)).collect())]
    waits: Vec<WarpWaits>,
    late: LateResults<LANES>,
    event_counters: EventCounters,
    rs1_address: RegisterAddress,
    rs2_address: RegisterAddress,
    rd_address: RegisterAddress,
    a0_address: RegisterAddress,
    late_address: RegisterAddress,
    hazards: Hazards,
    #[count(WINDOWS)]
    window: Vec<AccessWindow>,
    #[count(locals)]
    local: Vec<LocalWindow<LANES>>,
    divide: DivideUnit<LANES>,
    instruction_count: InstructionCount,
    lost_cycles: LostCycles,
    #[init(FaultBuffer::new(spawns))]
    faults: FaultBuffer,
    #[count(spawns)]
    spawned: Vec<SpawnedWarps>,
    #[count(traces)]
    retire_trace: Vec<RetireTrace<LANES>>,
    #[init(Pack::new(32))]
    trace_values: Pack<Bits<32>, 32, 1024>,
    #[init(Pack::new(32))]
    trace_store_data: Pack<Bits<32>, 32, 1024>,
    #[init(Pack::new(32))]
    trace_late_values: Pack<Bits<32>, 32, 1024>,
    #[init((0..LANES as u64).map(|lane| Constant::new(lane.into())).collect())]
    number: Vec<Constant<Bits<32>>>,
    #[init(Constant::new(options.aes))]
    aes_enabled: Constant<Bit>,
    #[init(Constant::new(options.atomics))]
    atomics_enabled: Constant<Bit>,
    #[init(atomics)]
    _atomics: usize,
    #[init(traces)]
    _traces: usize,
    #[init(spawns)]
    _spawns: usize,
    #[init(networks)]
    _networks: usize,
    #[init(banks)]
    _banks: usize,
    #[init(locals)]
    _locals: usize,
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
    /// If it has what the network interface needs, but no atomic instructions: those are part of it.
    pub fn new(options: CoreOptions) -> Self {
        assert!(options.atomics || !options.network, "ShaderCore: {options:?}: network needs atomics");
        let traces = usize::from(options.trace);
        let atomics = usize::from(options.atomics);
        let spawns = usize::from(options.spawns);
        let networks = usize::from(options.network);
        let banks = networks * options.l2_banks;
        let locals = usize::from(options.local_window);
        Self::wired(options, traces, atomics, spawns, networks, banks, locals)
    }

    /// With a network interface: the slot whose warp falls asleep, and whether a store of it is outstanding.
    #[cfg(test)]
    pub(super) fn falls_asleep(&self) -> Option<(usize, bool)> {
        let slot = self.read.slot.val().index();
        self.decode.sleep_valid[0].val().then(|| (slot, self.hazards.stores_busy.val().get_bit(slot)))
    }
}

impl<const LANES: usize> Logic for ShaderCore<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        // Atomic instructions, if there are any
        let mut checked_as_store = self.decode.read_store.val();
        let mut exchanged = false;
        self.write.stores.next = false;
        self.write.refused.next = bits::<LANES>(0);
        self.hazards.read_atomic.next = false;
        self.hazards.execute_atomic.next = false;
        self.hazards.write_atomic.next = false;
        self.hazards.atomic_refused.next = false;
        for k in 0..self._atomics {
            self.atomic_stage[k].advance.next = self.write.advance.val();
            self.atomic_stage[k].decode_atomic.next = self.decode.atomic.val();
            self.atomic_stage[k].decode_word.next = self.decode.word.val();
            for i in 0..2 {
                self.atomic_stage[k].read_window_base[i].next = self.read_window_base[i].val();
                self.atomic_stage[k].read_window_size[i].next = self.read_window_size[i].val();
            }
            self.write.stores.next = self.atomic_stage[k].stores.val();
            self.write.refused.next = self.atomic_stage[k].refused.val();
            for l in 0..self._locals {
                self.write.refused.next = self.atomic_stage[k].refused.val() & !self.local[l].held.val();
            }
            checked_as_store = self.decode.read_store.val() | self.atomic_stage[k].read_stores.val();
            self.hazards.read_atomic.next = self.atomic_stage[k].read_atomic.val();
            self.hazards.execute_atomic.next = self.atomic_stage[k].execute_atomic.val();
            self.hazards.write_atomic.next = self.atomic_stage[k].atomic.val();

            self.data_memory.start_valid[k].next = self.start_valid.val();
            self.data_memory.start_slot[k].next = self.start_slot.val();
            self.data_memory.request_atomic[k].next = self.atomic_stage[k].atomic.val();
            self.data_memory.request_operation[k].next = self.atomic_stage[k].operation.val();
            self.data_memory.request_acquire[k].next = self.atomic_stage[k].acquire.val();
            connect!(self.atomic_answer[k], self.data_memory.atomic_answer[k]);
            for i in 0..LANES {
                self.atomic_stage[k].address[i].next = self.lane[i].address.val();
            }
            exchanged = self.late.exchanged.val() | self.atomic_turns[k].wake.val();

            self.atomic_turns[k].slot.next = self.front_end.decode_slot.val();
            self.atomic_turns[k].busy.next = self.data_memory.atomic_busy.val();
            self.atomic_turns[k].wants.next = self.decode.stops.val()
                & !self.decode.misses.val()
                & self.decode.atomic.val()
                & (self.data_memory.atomic_busy.val() | self.atomic_turns[k].refused.val());
            self.atomic_turns[k].start_valid.next =
                self.write.memory_start.val() & self.atomic_stage[k].atomic.val();
            self.atomic_turns[k].start_slot.next = self.write.slot.val();
            self.hazards.atomic_refused.next = self.atomic_turns[k].refused.val();
        }

        // Warps of spawned threads, if there are any
        for k in 0..self._spawns {
            self.spawned[k].start_valid.next = self.start_valid.val();
            self.spawned[k].start_slot.next = self.start_slot.val();
            connect!(self.start_job[k], self.spawned[k].start);
            self.front_end.start_spawned[k].next = self.start_job[k].spawned.val();
            self.front_end.start_entry[k].next = self.start_job[k].entry.val();
            self.spawned[k].advance.next = self.write.advance.val();
            self.spawned[k].fetched_slot.next = self.front_end.fetched_slot.val();
            connect!(self.spawned[k].job, self.decode.job[k]);
            self.spawned[k].write_slot.next = self.write.slot.val();
            self.spawned[k].fault_valid.next = self.write.fault_valid.val() & self.faults.ready.val();
            self.spawned[k].finish_slot.next = self.front_end.finish_slot.val();
            self.finish_faulted[k].next = self.spawned[k].finish_faulted.val();
            self.watchdog.spawn_limit[k].next = self.spawn_watchdog_limit[k].val();
            self.watchdog.spawned_slots[k].next = self.spawned[k].spawned_slots.val();
            self.faults.job[k].next = self.spawned[k].write_job.val();
            self.fault_job[k].next = self.faults.fault_job[k].val();
        }

        // Long-latency results
        self.late.port_wanted_next.next = self.write.port_wanted_next.val();
        self.late.scratchpad_next.next = self.data_memory.scratchpad_next.val();
        for i in 0..FROM_DIVISION {
            self.late.result_valid[i].next = self.data_memory.result_valid[i].val();
            self.late.result_slot[i].next = self.data_memory.result_slot[i].val();
            self.late.result_rd[i].next = self.data_memory.result_rd[i].val();
            self.late.result_lanes[i].next = self.data_memory.result_lanes[i].val();
            self.late.result_last[i].next = self.data_memory.result_last[i].val();
        }
        self.data_memory.result_ready.next = self.late.result_ready[FROM_MEMORY].val();
        self.data_memory.result_ready_next.next = self.late.memory_ready_next.val();
        self.late.result_error.next = self.data_memory.result_error.val();
        self.late.result_line.next = self.data_memory.result_line.val();
        self.late.loaded_valid.next = self.data_memory.loaded_valid.val();
        self.late.exchanged_valid.next = self.data_memory.atomic_done.val();
        self.late.result_valid[FROM_DIVISION].next = self.divide.result_valid.val();
        self.divide.result_ready.next = self.late.result_ready[FROM_DIVISION].val();
        self.late.result_slot[FROM_DIVISION].next = self.divide.result_slot.val();
        self.late.result_rd[FROM_DIVISION].next = self.divide.result_rd.val();
        self.late.result_lanes[FROM_DIVISION].next = self.divide.result_lanes.val();
        self.late.result_last[FROM_DIVISION].next = self.divide.result_last.val();

        // S, C
        self.front_end.advance.next = self.write.advance.val();
        self.front_end.start_valid.next = self.start_valid.val();
        self.front_end.start_slot.next = self.start_slot.val();
        self.front_end.start_packet.next = self.start_packet.val();
        self.front_end.start_count.next = self.start_count.val();
        self.front_end.kernel_entry.next = self.kernel_entry.val().get_bits::<30>(2);
        self.front_end.hold_slot.next = self.read.slot.val();
        self.front_end.hold_pc.next = self.decode.read_pc.val();
        self.front_end.miss_valid.next = self.decode.miss_valid.val();
        self.front_end.wait_valid.next = self.decode.wait_valid.val();
        self.front_end.control_valid.next = self.decode.control_valid.val();
        self.front_end.replay_valid.next = self.decode.replay_valid.val();
        self.front_end.filled.next = self.cache.filled.val();
        self.front_end.write_slot.next = self.write.slot.val();
        self.front_end.resume_valid.next = self.write.resume_valid.val();
        self.front_end.flush_valid.next = self.write.flush_valid.val();
        self.front_end.again_valid.next = self.write.again_valid.val();
        self.front_end.ended_valid.next = self.write.ended_valid.val();
        self.front_end.path_valid.next = self.paths.valid.val();
        self.front_end.path_slot.next = self.paths.slot.val();
        self.front_end.late_valid.next = self.late.write_last.val();
        self.front_end.late_slot.next = self.late.write_slot.val();
        self.front_end.scratchpad_stored.next = self.data_memory.scratchpad_stored.val();
        self.front_end.scratchpad_slot.next = self.data_memory.scratchpad_slot.val();
        self.front_end.stored_valid.next = self.data_memory.stored_valid.val();
        self.front_end.stored_slot.next = self.data_memory.stored_slot.val();
        self.front_end.divided_valid.next = self.late.divided.val() | exchanged;
        self.front_end.stores_busy.next = self.hazards.stores_busy.val();
        self.front_end.context_write.next = self.write.context_write.val();
        self.front_end.context_slot.next = self.write.context_slot.val();
        self.front_end.context_pc.next = self.write.context_pc.val();
        self.front_end.context_depth.next = self.write.context_depth.val();
        self.front_end.context_active.next = self.write.context_active.val();
        self.front_end.context_alive.next = self.write.context_alive.val();
        self.front_end.context_waiting.next = self.write.context_waiting.val();
        self.finish_valid.next = self.front_end.finish_valid.val();
        self.finish_slot.next = self.front_end.finish_slot.val();
        self.front_end.finish_ready.next = self.finish_ready.val();

        // Instruction cache
        self.cache.stall.next = !self.write.advance.val();
        self.cache.lookup_enable.next = self.front_end.lookup_enable.val();
        self.cache.lookup_slot.next = self.front_end.lookup_slot.val();
        self.cache.lookup_word.next = self.front_end.lookup_word.val();
        self.cache.wanted.next = self.front_end.decode_valid.val() & !self.front_end.decode_boot.val();
        self.cache.flush.next = self.invalidate.val();

        // D
        self.decode.advance.next = self.write.advance.val();
        self.decode.valid.next = self.front_end.decode_valid.val();
        self.decode.slot.next = self.front_end.decode_slot.val();
        self.decode.pc.next = self.front_end.decode_pc.val();
        self.decode.boot.next = self.front_end.decode_boot.val();
        self.decode.meets.next = self.front_end.decode_meets.val();
        self.decode.instructions.next = self.instruction_count.instructions.val();
        self.decode.blocked.next = self.hazards.blocked.val();
        self.decode.waits.next = self.hazards.waits.val();
        self.decode.rs1_in_read.next = self.hazards.rs1_in_read.val();
        self.decode.rs2_in_read.next = self.hazards.rs2_in_read.val();
        self.decode.rs1_in_execute.next = self.hazards.rs1_in_execute.val();
        self.decode.rs1_in_write.next = self.hazards.rs1_in_write.val();
        self.decode.rs2_in_execute.next = self.hazards.rs2_in_execute.val();
        self.decode.rs2_in_write.next = self.hazards.rs2_in_write.val();
        self.decode.flush_valid.next = self.write.flush_valid.val();
        self.decode.flush_slot.next = self.write.slot.val();
        self.decode.aes_enabled.next = self.aes_enabled.val();
        self.decode.atomics_enabled.next = self.atomics_enabled.val();
        self.decode.packet.next = self.front_end.decode_packet.val();
        for k in 0..self._networks {
            self.decode.running[k].next = bit_cast::<32, LANES>(self.front_end.decode_active.val());
            self.decode.hazard[k].next = self.hazards.blocked.val();
            self.decode.blocked.next = self.hazards.blocked.val() | self.decode.sleeps[k].val();
        }
        self.decode.fetched_pc.next = self.front_end.fetched_pc.val();
        self.decode.fetched_boot.next = self.front_end.fetched_boot.val();
        self.decode.hit.next = self.cache.hit.val();
        self.decode.fetched.next = self.cache.instruction.val();
        self.decode.fetch_error.next = self.cache.error.val();
        self.decode.core.next = self.core.val();
        self.decode.cycle.next = self.cycle.val();
        self.decode.small_registers.next = self.small_registers.val();
        self.decode.kernel_entry.next = self.kernel_entry.val();
        self.decode.ring_base.next = self.ring_base.val();
        self.decode.ring_slots_log2.next = self.ring_slots_log2.val();
        self.decode.slot_bytes_log2.next = self.slot_bytes_log2.val();
        self.decode.verdict_base.next = self.verdict_base.val();
        self.decode.argument.next = self.argument.val();
        self.decode.stack_base.next = self.stack_base.val();
        self.decode.stack_bytes_log2.next = self.stack_bytes_log2.val();
        self.watchdog.limit.next = self.watchdog_limit.val();
        self.watchdog.cycle.next = self.cycle.val().get_bits::<32>(0);
        self.watchdog.start_valid.next = self.start_valid.val();
        self.watchdog.start_slot.next = self.start_slot.val();
        self.watchdog.advance.next = self.write.advance.val();
        self.watchdog.slot.next = self.front_end.fetched_slot.val();
        self.decode.overdue.next = self.watchdog.overdue.val();
        for k in 0..self._networks {
            self.waits[k].cycle.next = self.cycle.val().get_bits::<32>(0);
            self.waits[k].start_valid.next = self.start_valid.val();
            self.waits[k].start_slot.next = self.start_slot.val();
            connect!(self.data_memory.look[k], self.waits[k].look);
            self.waits[k].advance.next = self.write.advance.val();
            self.waits[k].slot.next = self.front_end.fetched_slot.val();
            self.decode.holds[k].next = self.waits[k].holds.val();
            self.waits[k].hold_slot.next = self.read.slot.val();
            self.waits[k].sleep_valid.next = self.decode.sleep_valid[k].val();
            self.waits[k].sleep_brief.next = self.decode.sleep_brief[k].val();
            self.waits[k].pass_valid.next = self.decode.pass_valid[k].val();
            self.waits[k].overdue.next = self.watchdog.overdue_slots[k].val();
            // The front end holds a warp that falls asleep as it holds one whose next path is not known.
            self.front_end.control_valid.next =
                self.decode.control_valid.val() | self.decode.sleep_valid[k].val();
            self.front_end.sleep_valid[k].next = self.decode.sleep_valid[k].val();
            self.front_end.wake[k].next = self.waits[k].wake.val();
            for b in 0..self._banks {
                connect!(self.written_line[b], self.waits[k].written[b]);
            }
        }
        self.rs1_address.slot.next = self.front_end.decode_slot.val();
        self.rs1_address.register.next = self.decode.rs1.val();
        self.rs1_address.small_registers.next = self.small_registers.val();
        self.rs2_address.slot.next = self.front_end.decode_slot.val();
        self.rs2_address.register.next = self.decode.rs2.val();
        self.rs2_address.small_registers.next = self.small_registers.val();
        self.rd_address.slot.next = self.write.slot.val();
        self.rd_address.register.next = self.write.rd.val();
        self.rd_address.small_registers.next = self.small_registers.val();
        self.late_address.slot.next = self.late.write_slot.val();
        self.late_address.register.next = self.late.write_rd.val();
        self.late_address.small_registers.next = self.small_registers.val();
        self.a0_address.slot.next = self.write.slot.val();
        self.a0_address.register.next = bits::<5>(10);
        self.a0_address.small_registers.next = self.small_registers.val();

        // Hazards
        self.hazards.slot.next = self.front_end.decode_slot.val();
        self.hazards.rs1.next = self.decode.rs1.val();
        self.hazards.rs2.next = self.decode.rs2.val();
        self.hazards.rd.next = self.decode.rd.val();
        self.hazards.load.next = self.decode.load.val();
        self.hazards.store.next = self.decode.store.val();
        self.hazards.exit.next = self.decode.exit.val();
        self.hazards.fence.next = self.decode.fence.val();
        self.hazards.divide.next = self.decode.divide.val();
        self.hazards.read_valid.next = self.decode.read_valid.val();
        self.hazards.read_slot.next = self.read.slot.val();
        self.hazards.read_rd.next = self.decode.read_rd.val();
        self.hazards.read_load.next = self.decode.read_load.val();
        self.hazards.read_store.next = self.decode.read_store.val();
        self.hazards.read_multiply.next = self.decode.read_multiply.val();
        self.hazards.read_divide.next = self.decode.read_divide.val();
        self.hazards.execute_valid.next = self.read.execute_valid.val();
        self.hazards.execute_slot.next = self.write.execute_slot.val();
        self.hazards.execute_rd.next = self.read.execute_rd.val();
        self.hazards.execute_load.next = self.read.execute_load.val();
        self.hazards.execute_store.next = self.read.execute_store.val();
        self.hazards.execute_divide.next = self.read.execute_divide.val();
        self.hazards.write_valid.next = self.write.valid.val();
        self.hazards.write_slot.next = self.write.slot.val();
        self.hazards.write_rd.next = self.write.rd.val();
        self.hazards.write_load.next = self.write.load.val();
        self.hazards.write_store.next = self.write.store.val();
        self.hazards.write_divide.next = self.write.divide.val();
        self.hazards.memory_start.next = self.write.memory_start.val() & !self.write.request_scratchpad.val();
        self.hazards.divide_start.next = self.write.divide_start.val();
        self.hazards.loaded_valid.next = self.late.loaded.val();
        self.hazards.late_valid.next = self.late.write_last.val();
        self.hazards.late_slot.next = self.late.write_slot.val();
        self.hazards.late_rd.next = self.late.write_rd.val();
        self.hazards.scratchpad_start.next =
            self.write.memory_start.val() & self.write.request_scratchpad.val();
        self.hazards.scratchpad_loaded.next = self.late.scratched.val();
        self.hazards.scratchpad_stored.next = self.data_memory.scratchpad_stored.val();
        self.hazards.scratchpad_slot.next = self.data_memory.scratchpad_slot.val();
        self.hazards.stored_valid.next = self.data_memory.stored_valid.val();
        self.hazards.stored_slot.next = self.data_memory.stored_slot.val();
        self.hazards.divide_busy.next = !self.divide.start_ready.val();
        self.hazards.divide_slot.next = self.divide.result_slot.val();
        self.hazards.divided_valid.next = self.late.divided.val() | exchanged;
        self.hazards.atomic.next = self.decode.atomic.val();
        self.hazards.atomic_busy.next = self.data_memory.atomic_busy.val() | self.late.exchanged.val();
        self.hazards.atomic_slot.next = self.data_memory.atomic_slot.val();
        self.instruction_count.start_valid.next = self.start_valid.val();
        self.instruction_count.start_slot.next = self.start_slot.val();
        self.instruction_count.slot.next = self.front_end.decode_slot.val();
        self.instruction_count.read_valid.next = self.decode.read_valid.val();
        self.instruction_count.read_slot.next = self.read.slot.val();
        self.instruction_count.read_boot.next = self.decode.read_boot.val();
        self.instruction_count.execute_valid.next = self.read.execute_valid.val();
        self.instruction_count.execute_slot.next = self.write.execute_slot.val();
        self.instruction_count.execute_boot.next = self.read.execute_boot.val();
        self.instruction_count.write_valid.next = self.write.valid.val();
        self.instruction_count.write_slot.next = self.write.slot.val();
        self.instruction_count.write_boot.next = self.write.boot.val();
        self.instruction_count.retire.next = self.write.fire.val();

        // Division
        self.divide.start_valid.next = self.write.divide_start.val();
        self.divide.start_slot.next = self.write.slot.val();
        self.divide.start_rd.next = self.write.rd.val();
        self.divide.start_lanes.next = self.write.executed.val();
        self.divide.start_count.next = !self.write.funct3.val().get_bit(2);
        self.divide.start_ones.next = self.write.funct3.val().get_bit(1);
        self.divide.start_trailing.next = self.write.funct3.val().get_bit(0);
        self.divide.start_signed.next = !self.write.funct3.val().get_bit(0);
        self.divide.start_remainder.next = self.write.funct3.val().get_bit(1);

        // Windows
        for i in 0..2 {
            self.window[i].advance.next = self.write.advance.val();
            self.window[i].store.next = checked_as_store;
            self.window[i].immediate.next = self.decode.read_immediate.val();
            self.window[i].read_base.next = self.read_window_base[i].val();
            self.window[i].read_size.next = self.read_window_size[i].val();
            self.window[i].write_base.next = self.write_window_base[i].val();
            self.window[i].write_size.next = self.write_window_size[i].val();
            self.write.from_base[i].next = self.window[i].from_base.val();
            self.write.from_end[i].next = self.window[i].from_end.val();
        }

        // R and X, and the registers and PCs of all stages
        for i in 0..LANES {
            self.lane[i].number.next = self.number[i].val();
            self.lane[i].advance.next = self.write.advance.val();
            self.lane[i].rs1_address.next = self.rs1_address.address.val();
            self.lane[i].rs2_address.next = self.rs2_address.address.val();
            self.lane[i].rs1_source.next = self.decode.read_rs1_source.val();
            self.lane[i].rs2_source.next = self.decode.read_rs2_source.val();
            self.lane[i].runs.next = self.read.active.val().get_bit(i);
            self.lane[i].aes.next = self.read.execute_aes.val();
            self.lane[i].byte_select.next = self.read.execute_byte_select.val();
            self.lane[i].aes_decrypt.next = self.read.execute_aes_decrypt.val();
            self.lane[i].aes_middle.next = self.read.execute_aes_middle.val();
            self.lane[i].multiplies.next = self.read.execute_multiply.val();
            self.lane[i].multiply.next = self.write.multiply.val();
            self.divide.start_dividend[i].next = self.lane[i].result.val();
            self.divide.start_divisor[i].next = self.lane[i].store_data.val();
            self.lane[i].stay.next = self.write.stay_lanes.val().get_bit(i);
            self.lane[i].operation.next = self.read.execute_operation.val();
            self.lane[i].condition.next = self.read.execute_funct3.val();
            self.lane[i].b_source.next = self.read.execute_b_source.val();
            self.lane[i].immediate.next = self.read.execute_immediate.val();
            self.lane[i].offset_step.next = self.decode.read_offset_step.val();
            self.lane[i].offset_lanes.next = self.decode.read_offset_lanes.val();
            self.lane[i].offset_last.next = self.decode.read_offset_last.val();
            self.lane[i].offset_mask.next = self.decode.read_offset_mask.val();
            self.lane[i].write.next = self.write.write_lanes.val().get_bit(i);
            self.lane[i].write_address.next = self.rd_address.address.val();
            self.lane[i].link.next = self.write.link.val();
            self.lane[i].plain.next = self.write.plain.val();
            self.lane[i].link_value.next = self.write.link_value.val();
            self.lane[i].fault.next = self.write.fault_lanes.val().get_bit(i);
            self.lane[i].fault_address.next = self.a0_address.address.val();
            self.lane[i].verdict.next = self.write.verdict.val();
            self.lane[i].late.next = self.late.write_lanes.val().get_bit(i);
            self.lane[i].late_address.next = self.late_address.address.val();
            self.lane[i].quotient.next = self.divide.result_data[i].val();
            self.lane[i].load_data.next = self.data_memory.data[i].val();
            self.data_memory.request_address[i].next = self.lane[i].result.val();
            self.data_memory.request_data[i].next = self.lane[i].store_data.val();
            self.lane[i].path_write.next = self.write.path_lanes.val().get_bit(i);
            self.lane[i].path_write_slot.next = self.write.slot.val();
            self.lane[i].path_depth.next = self.write.path_depth.val();
            self.lane[i].jump_register.next = self.write.jump_register.val();
            self.lane[i].branch.next = self.write.branch.val();
            self.lane[i].target.next = self.write.target.val();
            self.lane[i].next_pc.next = self.write.next_pc.val();
            self.lane[i].path_read.next = self.paths.read.val();
            self.lane[i].path_read_slot.next = self.paths.read_slot.val();
            self.write.address[i].next = self.lane[i].address.val();
            self.write.operand[i].next = self.lane[i].operand.val();
            self.write.carry[i].next = self.lane[i].carry.val();
            self.write.result[i].next = self.lane[i].result.val();
            self.write.taken[i].next = self.lane[i].taken.val();
            self.paths.key[i].next = self.lane[i].path_key.val();
        }

        // Stacks in the local window, if there is one
        for k in 0..self._locals {
            self.local[k].advance.next = self.write.advance.val();
            self.local[k].core.next = self.core.val();
            self.local[k].stack_base.next = self.stack_base.val();
            self.local[k].stack_bytes_log2.next = self.stack_bytes_log2.val();
            self.local[k].slot.next = self.write.execute_slot.val();
            self.local[k].access.next = self.write.execute_accesses[k].val();
            self.write.granted[k].next = self.local[k].granted.val();
            self.write.guarded[k].next = self.local[k].guarded.val();
            for i in 0..LANES {
                self.local[k].address[i].next = self.lane[i].address.val();
                self.local[k].result[i].next = self.lane[i].result.val();
                self.data_memory.request_address[i].next = self.local[k].physical[i].val();
            }
        }

        // R
        self.read.advance.next = self.write.advance.val();
        self.read.flush_valid.next = self.write.flush_valid.val();
        self.read.flush_slot.next = self.write.slot.val();
        self.read.decode_slot.next = self.front_end.decode_slot.val();
        self.read.decode_depth.next = self.front_end.decode_depth.val();
        self.read.decode_active.next = self.front_end.decode_active.val();
        self.read.decode_alive.next = self.front_end.decode_alive.val();
        self.read.decode_waiting.next = self.front_end.decode_waiting.val();
        self.read.decode_packet.next = self.front_end.decode_packet.val();
        self.read.read_valid.next = self.decode.read_valid.val();
        self.read.read_rd.next = self.decode.read_rd.val();
        self.read.read_operation.next = self.decode.read_operation.val();
        self.read.read_funct3.next = self.decode.read_funct3.val();
        self.read.read_b_source.next = self.decode.read_b_source.val();
        self.read.read_immediate.next = self.decode.read_immediate.val();
        self.read.read_base.next = self.decode.read_base.val();
        self.read.read_multiply.next = self.decode.read_multiply.val();
        self.read.read_divide.next = self.decode.read_divide.val();
        self.read.read_aes.next = self.decode.read_aes.val();
        self.read.read_byte_select.next = self.decode.read_byte_select.val();
        self.read.read_aes_decrypt.next = self.decode.read_aes_decrypt.val();
        self.read.read_aes_middle.next = self.decode.read_aes_middle.val();
        self.read.read_control.next = self.decode.read_control.val();
        self.read.read_branch.next = self.decode.read_branch.val();
        self.read.read_jump.next = self.decode.read_jump.val();
        self.read.read_jump_register.next = self.decode.read_jump_register.val();
        self.read.read_load.next = self.decode.read_load.val();
        self.read.read_store.next = self.decode.read_store.val();
        self.read.read_call.next = self.decode.read_call.val();
        self.read.read_ret.next = self.decode.read_ret.val();
        self.read.read_exit.next = self.decode.read_exit.val();
        self.read.read_boot.next = self.decode.read_boot.val();
        self.read.read_fault.next = self.decode.read_fault.val();
        self.read.read_cause.next = self.decode.read_cause.val();
        self.read.read_fault_value.next = self.decode.read_fault_value.val();
        self.read.read_next.next = self.decode.read_next.val();
        self.read.read_pc.next = self.decode.read_pc.val();

        // W
        self.write.read_slot.next = self.read.slot.val();
        self.write.read_depth.next = self.read.depth.val();
        self.write.read_active.next = self.read.active.val();
        self.write.read_alive.next = self.read.alive.val();
        self.write.read_waiting.next = self.read.waiting.val();
        self.write.read_packet.next = self.read.packet.val();
        self.write.execute_valid.next = self.read.execute_valid.val();
        self.write.execute_rd.next = self.read.execute_rd.val();
        self.write.execute_funct3.next = self.read.execute_funct3.val();
        self.write.execute_immediate.next = self.read.execute_immediate.val();
        self.write.execute_control.next = self.read.execute_control.val();
        self.write.execute_multiply.next = self.read.execute_multiply.val();
        self.write.execute_divide.next = self.read.execute_divide.val();
        self.write.execute_branch.next = self.read.execute_branch.val();
        self.write.execute_jump.next = self.read.execute_jump.val();
        self.write.execute_jump_register.next = self.read.execute_jump_register.val();
        self.write.execute_load.next = self.read.execute_load.val();
        self.write.execute_store.next = self.read.execute_store.val();
        self.write.execute_call.next = self.read.execute_call.val();
        self.write.execute_ret.next = self.read.execute_ret.val();
        self.write.execute_exit.next = self.read.execute_exit.val();
        self.write.execute_boot.next = self.read.execute_boot.val();
        self.write.execute_fault.next = self.read.execute_fault.val();
        self.write.execute_cause.next = self.read.execute_cause.val();
        self.write.execute_fault_value.next = self.read.execute_fault_value.val();
        self.write.execute_next.next = self.read.execute_next.val();
        self.write.execute_pc.next = self.read.execute_pc.val();
        self.write.late_write.next = self.late.write_valid.val();
        self.write.warp_late.next = self.hazards.write_warp_late.val();
        self.write.path_ready.next = self.paths.ready.val();
        self.paths.start_valid.next = self.write.path_start_valid.val();
        self.paths.start_slot.next = self.write.slot.val();
        self.paths.start_alive.next = self.write.path_start_alive.val();
        self.write.path_valid.next = self.paths.valid.val();
        self.write.path_slot.next = self.paths.slot.val();
        self.write.path_pc.next = self.paths.pc.val();
        self.write.path_chosen_depth.next = self.paths.depth.val();
        self.write.path_active.next = self.paths.active.val();
        self.write.path_alive.next = self.paths.alive.val();
        self.write.path_waiting.next = self.paths.waiting.val();
        self.faults.valid.next = self.write.fault_valid.val();
        self.write.fault_ready.next = self.faults.ready.val();
        self.faults.cause.next = self.write.fault_cause.val();
        self.faults.slot.next = self.write.slot.val();
        self.faults.threads.next = self.write.fault_threads.val();
        self.faults.pc.next = self.write.fault_pc.val();
        self.faults.value.next = self.write.fault_value.val();
        self.faults.packet.next = self.write.fault_packet.val();
        self.fault_valid.next = self.faults.fault_valid.val();
        self.faults.fault_ready.next = self.fault_ready.val();
        self.fault_cause.next = self.faults.fault_cause.val();
        self.fault_slot.next = self.faults.fault_slot.val();
        self.fault_threads.next = self.faults.fault_threads.val();
        self.fault_pc.next = self.faults.fault_pc.val();
        self.fault_value.next = self.faults.fault_value.val();
        self.fault_packet.next = self.faults.fault_packet.val();

        // Data memory
        self.data_memory.request_valid.next = self.write.request_valid.val();
        self.write.request_ready.next = self.data_memory.request_ready.val();
        self.data_memory.request_scratchpad.next = self.write.request_scratchpad.val();
        self.data_memory.request_slot.next = self.write.slot.val();
        self.data_memory.request_store.next = self.write.request_store.val();
        self.data_memory.request_size.next = self.write.request_size.val();
        self.data_memory.request_signed.next = self.write.request_signed.val();
        self.data_memory.request_rd.next = self.write.rd.val();
        self.data_memory.request_mask.next = self.write.request_mask.val();
        // A `fence` leaves stage D when the loads and stores before it are complete, and those after it come later. One
        // that orders no later read need not drop the data cache; with a network interface it does not.
        self.data_memory.drop.next = self.invalidate_data.val() | self.decode.fenced.val();
        connect!(self.cache.fetch, self.read_merge.fetch);
        connect!(self.data_memory.read, self.read_merge.data);
        connect!(self.line_read, self.read_merge.memory);
        connect!(self.line_write, self.data_memory.write);

        // Loads that failed become faults of their lanes.
        self.load_errors.error_valid.next = self.late.write_error.val();
        self.load_errors.error_slot.next = self.late.write_slot.val();
        self.load_errors.error_lanes.next = self.late.error_lanes.val();
        self.load_errors.error_line.next = self.late.write_line.val();
        self.load_errors.slot.next = self.front_end.decode_slot.val();
        self.load_errors.active.next = self.front_end.decode_active.val();
        self.decode.load_error.next = self.load_errors.found.val();
        self.load_errors.write_slot.next = self.write.slot.val();
        self.write.load_error_lanes.next = self.load_errors.lanes.val();
        self.write.load_error_line.next = self.load_errors.line.val();
        self.load_errors.clear_valid.next =
            self.write.valid.val() & self.write.advance.val() & self.write.fault_lanes.val().any();
        self.load_errors.clear_lanes.next = self.write.fault_lanes.val();

        // Counters
        self.event_counters.retire.next = self.write.retire.val();
        self.event_counters.retire_lanes.next = self.write.retire_lanes.val();
        self.event_counters.retire_diverged.next = self.write.retire_diverged.val();
        self.event_counters.occupied.next = self.front_end.occupied.val();
        self.event_counters.issued.next = self.decode.entered.val();
        self.event_counters.fetch_miss.next = self.cache.fetch_miss.val();
        self.event_counters.line_read.next = self.data_memory.miss.val();
        self.event_counters.line_write.next = self.data_memory.line_write.val();
        self.lost_cycles.occupied.next = self.front_end.occupied.val();
        self.lost_cycles.advance.next = self.write.advance.val();
        self.lost_cycles.reason.next = self.front_end.decode_reason.val();
        self.lost_cycles.replay_valid.next = self.decode.replay_valid.val();
        self.lost_cycles.miss_valid.next = self.decode.miss_valid.val();
        connect!(self.counters, self.event_counters.counters);
        connect!(self.lost, self.lost_cycles.counters);

        // Trace
        let address_value = self.write.load.val() | self.write.store.val() | self.write.jump_register.val();
        for i in 0..32 {
            self.trace_values.x[i].next = bits::<32>(0);
            self.trace_store_data.x[i].next = bits::<32>(0);
            self.trace_late_values.x[i].next = bits::<32>(0);
        }
        for i in 0..LANES {
            self.trace_values.x[i].next = self.lane[i].written.val();
            if address_value {
                self.trace_values.x[i].next = self.lane[i].result.val();
            }
            self.trace_store_data.x[i].next = self.lane[i].store_data.val();
            self.trace_late_values.x[i].next = self.lane[i].written.val();
        }
        for i in 0..self._traces {
            self.retire_trace[i].advance.next = self.write.advance.val();
            self.retire_trace[i].lookup_enable.next = self.front_end.lookup_enable.val();
            self.retire_trace[i].lookup_slot.next = self.front_end.lookup_slot.val();
            self.retire_trace[i].lookup_word.next = self.front_end.lookup_word.val();
            self.retire_trace[i].decode_instruction.next = self.decode.word.val();
            self.retire_trace[i].fire.next = self.write.fire.val();
            self.retire_trace[i].slot.next = self.write.slot.val();
            self.retire_trace[i].pc.next = self.write.fault_pc.val();
            self.retire_trace[i].active.next = self.write.executed.val();
            self.retire_trace[i].faulting.next = self.write.fault_lanes.val();
            self.retire_trace[i].cause.next = self.write.fault_cause.val();
            self.retire_trace[i].rd.next = self.write.rd.val();
            self.retire_trace[i].late.next = self.write.load.val() | self.write.divide.val();
            self.retire_trace[i].values.next = self.trace_values.y.val();
            self.retire_trace[i].store_data.next = self.trace_store_data.y.val();
            self.retire_trace[i].late_write.next = self.late.write_valid.val();
            self.retire_trace[i].late_slot.next = self.late.write_slot.val();
            self.retire_trace[i].late_rd.next = self.late.write_rd.val();
            self.retire_trace[i].late_lanes.next = self.late.write_lanes.val();
            self.retire_trace[i].late_values.next = self.trace_late_values.y.val();
            connect!(self.trace[i], self.retire_trace[i].trace);
        }
    }
}
