//! The shader core.

use super::{CoreCounters, DecodeStage, FrontEnd, Lane, PathSelector, RegisterAddress, WriteStage};
use crate::memory::{InstructionCache, LoadStoreUnit};
use crate::prelude::*;

/// One SIMT core: `LANES` lanes in lockstep, up to 32 warps that take turns (DESIGN.md section 3).
///
/// This unit is wiring: the stages are [`FrontEnd`] (S, C), [`DecodeStage`] (D), [`Lane`] (X and register files)
/// and [`WriteStage`] (W); [`PathSelector`] re-converges diverged warps, [`LoadStoreUnit`] and
/// [`InstructionCache`] go to memory. A warp has one instruction in flight, so a core reaches one warp-instruction a
/// cycle with six warps or more.
#[derive(LogicBlock)]
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
    /// INVALIDATE register: drop the instruction cache.
    pub invalidate: Signal<In, Bit>,
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
    /// To memory: read a data line.
    pub read_valid: Signal<Out, Bit>,
    /// From memory.
    pub read_ready: Signal<In, Bit>,
    /// To memory: line address.
    pub read_line: Signal<Out, Bits<26>>,
    /// From memory: a data line arrived, in the order of the reads.
    pub response_valid: Signal<In, Bit>,
    /// To memory.
    pub response_ready: Signal<Out, Bit>,
    /// From memory: the data or instruction line.
    pub response_data: Signal<In, Bits<512>>,
    /// From memory: the data line came with a bus error.
    pub response_error: Signal<In, Bit>,
    /// To memory: write a data line.
    pub write_valid: Signal<Out, Bit>,
    /// From memory.
    pub write_ready: Signal<In, Bit>,
    /// To memory: line address.
    pub write_line: Signal<Out, Bits<26>>,
    /// To memory: the line.
    pub write_data: Signal<Out, Bits<512>>,
    /// To memory: bytes to write.
    pub write_strobe: Signal<Out, Bits<64>>,
    /// From memory: the oldest write of this core is done.
    pub write_done: Signal<In, Bit>,
    /// To memory: read an instruction line.
    pub fetch_valid: Signal<Out, Bit>,
    /// From memory.
    pub fetch_ready: Signal<In, Bit>,
    /// To memory: line address.
    pub fetch_line: Signal<Out, Bits<26>>,
    /// From memory: the instruction line arrived.
    pub fetch_response_valid: Signal<In, Bit>,
    /// From memory: it came with a bus error.
    pub fetch_response_error: Signal<In, Bit>,
    /// Counter: warp-instructions retired.
    pub instructions: Signal<Out, Bits<32>>,
    /// Counter: lane-instructions retired.
    pub lane_instructions: Signal<Out, Bits<32>>,
    /// Counter: cycles with at least one warp on the core.
    pub active_cycles: Signal<Out, Bits<32>>,
    /// Counter: such cycles in which none issued.
    pub stall_cycles: Signal<Out, Bits<32>>,
    /// Counter: warp-instructions retired while other lanes of the warp waited.
    pub divergent: Signal<Out, Bits<32>>,
    /// Counter: instruction cache line fills.
    pub fetch_misses: Signal<Out, Bits<32>>,
    /// Counter: data lines read.
    pub line_reads: Signal<Out, Bits<32>>,
    /// Counter: data lines written.
    pub line_writes: Signal<Out, Bits<32>>,
    front_end: FrontEnd<LANES>,
    cache: InstructionCache<6, 10>,
    decode: DecodeStage,
    lane: Vec<Lane>,
    write: WriteStage<LANES>,
    paths: PathSelector<LANES>,
    load_store: LoadStoreUnit<LANES>,
    counters: CoreCounters,
    rs1_address: RegisterAddress,
    rs2_address: RegisterAddress,
    rd_address: RegisterAddress,
    a0_address: RegisterAddress,
    load_address: RegisterAddress,
    load_lanes: Signal<Local, Bits<LANES>>,
    number: Vec<Constant<Bits<32>>>,
}

impl<const LANES: usize> Default for ShaderCore<LANES> {
    fn default() -> Self {
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            core: Signal::default(),
            cycle: Signal::default(),
            small_registers: Signal::default(),
            kernel_entry: Signal::default(),
            ring_base: Signal::default(),
            ring_slots_log2: Signal::default(),
            slot_bytes_log2: Signal::default(),
            verdict_base: Signal::default(),
            argument: Signal::default(),
            stack_base: Signal::default(),
            stack_bytes_log2: Signal::default(),
            invalidate: Signal::default(),
            start_valid: Signal::default(),
            start_slot: Signal::default(),
            start_packet: Signal::default(),
            start_count: Signal::default(),
            finish_valid: Signal::default(),
            finish_ready: Signal::default(),
            finish_slot: Signal::default(),
            fault_valid: Signal::default(),
            fault_ready: Signal::default(),
            fault_cause: Signal::default(),
            fault_slot: Signal::default(),
            fault_threads: Signal::default(),
            fault_pc: Signal::default(),
            fault_value: Signal::default(),
            fault_packet: Signal::default(),
            read_valid: Signal::default(),
            read_ready: Signal::default(),
            read_line: Signal::default(),
            response_valid: Signal::default(),
            response_ready: Signal::default(),
            response_data: Signal::default(),
            response_error: Signal::default(),
            write_valid: Signal::default(),
            write_ready: Signal::default(),
            write_line: Signal::default(),
            write_data: Signal::default(),
            write_strobe: Signal::default(),
            write_done: Signal::default(),
            fetch_valid: Signal::default(),
            fetch_ready: Signal::default(),
            fetch_line: Signal::default(),
            fetch_response_valid: Signal::default(),
            fetch_response_error: Signal::default(),
            instructions: Signal::default(),
            lane_instructions: Signal::default(),
            active_cycles: Signal::default(),
            stall_cycles: Signal::default(),
            divergent: Signal::default(),
            fetch_misses: Signal::default(),
            line_reads: Signal::default(),
            line_writes: Signal::default(),
            front_end: FrontEnd::default(),
            cache: InstructionCache::default(),
            decode: DecodeStage::new(LANES),
            lane: (0..LANES).map(|_| Lane::default()).collect(),
            write: WriteStage::default(),
            paths: PathSelector::default(),
            load_store: LoadStoreUnit::default(),
            counters: CoreCounters::default(),
            rs1_address: RegisterAddress::default(),
            rs2_address: RegisterAddress::default(),
            rd_address: RegisterAddress::default(),
            a0_address: RegisterAddress::default(),
            load_address: RegisterAddress::default(),
            load_lanes: Signal::default(),
            number: (0..LANES as u64).map(|lane| Constant::new(lane.into())).collect(),
        }
    }
}

impl<const LANES: usize> Logic for ShaderCore<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, front_end, cache, decode, write, paths, load_store, counters);

        // S, C
        self.front_end.advance.next = self.write.advance.val();
        self.front_end.start_valid.next = self.start_valid.val();
        self.front_end.start_slot.next = self.start_slot.val();
        self.front_end.start_packet.next = self.start_packet.val();
        self.front_end.start_count.next = self.start_count.val();
        self.front_end.miss_valid.next = self.decode.miss_valid.val();
        self.front_end.filled.next = self.cache.filled.val();
        self.front_end.resume_valid.next = self.write.resume_valid.val();
        self.front_end.resume_slot.next = self.write.slot.val();
        self.front_end.memory_valid.next = self.write.memory_valid.val();
        self.front_end.ended_valid.next = self.write.ended_valid.val();
        self.front_end.path_valid.next = self.paths.valid.val();
        self.front_end.path_slot.next = self.paths.slot.val();
        self.front_end.loaded_valid.next =
            self.load_store.result_valid.val() & self.load_store.result_last.val();
        self.front_end.loaded_slot.next = self.load_store.result_slot.val();
        self.front_end.stored_valid.next = self.load_store.stored_valid.val();
        self.front_end.stored_slot.next = self.load_store.stored_slot.val();
        self.front_end.context_write.next = self.write.context_write.val();
        self.front_end.context_slot.next = self.write.context_slot.val();
        self.front_end.context_pc.next = self.write.context_pc.val();
        self.front_end.context_depth.next = self.write.context_depth.val();
        self.front_end.context_active.next = self.write.context_active.val();
        self.front_end.context_alive.next = self.write.context_alive.val();
        self.finish_valid.next = self.front_end.finish_valid.val();
        self.finish_slot.next = self.front_end.finish_slot.val();
        self.front_end.finish_ready.next = self.finish_ready.val();

        // Instruction cache
        self.cache.stall.next = !self.write.advance.val();
        self.cache.lookup_enable.next = self.front_end.lookup_enable.val();
        self.cache.lookup_slot.next = self.front_end.lookup_slot.val();
        self.cache.lookup_word.next = self.front_end.lookup_word.val();
        self.cache.flush.next = self.invalidate.val();
        self.fetch_valid.next = self.cache.fetch_valid.val();
        self.cache.fetch_ready.next = self.fetch_ready.val();
        self.fetch_line.next = self.cache.fetch_line.val();
        self.cache.response_valid.next = self.fetch_response_valid.val();
        self.cache.response_data.next = self.response_data.val();
        self.cache.response_error.next = self.fetch_response_error.val();

        // D
        self.decode.advance.next = self.write.advance.val();
        self.decode.valid.next = self.front_end.decode_valid.val();
        self.decode.slot.next = self.front_end.decode_slot.val();
        self.decode.pc.next = self.front_end.decode_pc.val();
        self.decode.boot.next = self.front_end.decode_boot.val();
        self.decode.packet.next = self.front_end.decode_packet.val();
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
        self.rs1_address.slot.next = self.front_end.decode_slot.val();
        self.rs1_address.register.next = self.decode.rs1.val();
        self.rs1_address.small_registers.next = self.small_registers.val();
        self.rs2_address.slot.next = self.front_end.decode_slot.val();
        self.rs2_address.register.next = self.decode.rs2.val();
        self.rs2_address.small_registers.next = self.small_registers.val();
        self.rd_address.slot.next = self.write.slot.val();
        self.rd_address.register.next = self.write.rd.val();
        self.rd_address.small_registers.next = self.small_registers.val();
        self.load_address.slot.next = self.load_store.result_slot.val();
        self.load_address.register.next = self.load_store.result_rd.val();
        self.load_address.small_registers.next = self.small_registers.val();
        self.a0_address.slot.next = self.write.slot.val();
        self.a0_address.register.next = bits::<5>(10);
        self.a0_address.small_registers.next = self.small_registers.val();

        // X, and the registers and PCs of all stages
        self.load_lanes.next = bits::<LANES>(0);
        if self.load_store.result_valid.val() {
            self.load_lanes.next = self.load_store.result_mask.val();
        }
        for i in 0..LANES {
            self.lane[i].clock.next = self.clock.val();
            self.lane[i].reset.next = self.reset.val();
            self.lane[i].number.next = self.number[i].val();
            self.lane[i].advance.next = self.write.advance.val();
            self.lane[i].rs1_address.next = self.rs1_address.address.val();
            self.lane[i].rs2_address.next = self.rs2_address.address.val();
            self.lane[i].rs1_zero.next = self.decode.execute_rs1_zero.val();
            self.lane[i].rs2_zero.next = self.decode.execute_rs2_zero.val();
            self.lane[i].operation.next = self.decode.execute_operation.val();
            self.lane[i].condition.next = self.decode.execute_funct3.val();
            self.lane[i].a_is_register.next = self.decode.execute_a_is_register.val();
            self.lane[i].a_value.next = self.decode.execute_a_value.val();
            self.lane[i].b_source.next = self.decode.execute_b_source.val();
            self.lane[i].immediate.next = self.decode.execute_immediate.val();
            self.lane[i].offset_base.next = self.decode.execute_offset_base.val();
            self.lane[i].offset_shift.next = self.decode.execute_offset_shift.val();
            self.lane[i].offset_mask.next = self.decode.execute_offset_mask.val();
            self.lane[i].write.next = self.write.write_lanes.val().get_bit(i);
            self.lane[i].write_address.next = self.rd_address.address.val();
            self.lane[i].link.next = self.write.link.val();
            self.lane[i].link_value.next = self.write.link_value.val();
            self.lane[i].fault.next = self.write.fault_lanes.val().get_bit(i);
            self.lane[i].fault_address.next = self.a0_address.address.val();
            self.lane[i].verdict.next = self.write.verdict.val();
            self.lane[i].load.next = self.load_lanes.val().get_bit(i);
            self.lane[i].load_address.next = self.load_address.address.val();
            self.lane[i].load_data.next = self.load_store.result_data[i].val();
            self.lane[i].path_write.next = self.write.path_lanes.val().get_bit(i);
            self.lane[i].path_write_slot.next = self.write.slot.val();
            self.lane[i].path_depth.next = self.write.path_depth.val();
            self.lane[i].jump_register.next = self.write.jump_register.val();
            self.lane[i].branch.next = self.write.branch.val();
            self.lane[i].target.next = self.write.target.val();
            self.lane[i].next_pc.next = self.write.next_pc.val();
            self.lane[i].path_read_slot.next = self.paths.read_slot.val();
            self.write.result[i].next = self.lane[i].result.val();
            self.write.taken[i].next = self.lane[i].taken.val();
            self.load_store.request_address[i].next = self.lane[i].result.val();
            self.load_store.request_data[i].next = self.lane[i].store_data.val();
            self.paths.key[i].next = self.lane[i].path_key.val();
        }

        // W
        self.write.decode_slot.next = self.front_end.decode_slot.val();
        self.write.decode_depth.next = self.front_end.decode_depth.val();
        self.write.decode_active.next = self.front_end.decode_active.val();
        self.write.decode_alive.next = self.front_end.decode_alive.val();
        self.write.decode_packet.next = self.front_end.decode_packet.val();
        self.write.execute_valid.next = self.decode.execute_valid.val();
        self.write.execute_rd.next = self.decode.execute_rd.val();
        self.write.execute_funct3.next = self.decode.execute_funct3.val();
        self.write.execute_immediate.next = self.decode.execute_immediate.val();
        self.write.execute_branch.next = self.decode.execute_branch.val();
        self.write.execute_jump.next = self.decode.execute_jump.val();
        self.write.execute_jump_register.next = self.decode.execute_jump_register.val();
        self.write.execute_load.next = self.decode.execute_load.val();
        self.write.execute_store.next = self.decode.execute_store.val();
        self.write.execute_call.next = self.decode.execute_call.val();
        self.write.execute_ret.next = self.decode.execute_ret.val();
        self.write.execute_exit.next = self.decode.execute_exit.val();
        self.write.execute_boot.next = self.decode.execute_boot.val();
        self.write.execute_fault.next = self.decode.execute_fault.val();
        self.write.execute_cause.next = self.decode.execute_cause.val();
        self.write.execute_fault_value.next = self.decode.execute_fault_value.val();
        self.write.execute_next.next = self.decode.execute_next.val();
        self.write.execute_pc.next = self.decode.execute_pc.val();
        self.write.load_write.next = self.load_store.result_valid.val();
        self.paths.start_valid.next = self.write.path_start_valid.val();
        self.paths.start_slot.next = self.write.slot.val();
        self.paths.start_alive.next = self.write.path_start_alive.val();
        self.write.path_valid.next = self.paths.valid.val();
        self.write.path_slot.next = self.paths.slot.val();
        self.write.path_pc.next = self.paths.pc.val();
        self.write.path_chosen_depth.next = self.paths.depth.val();
        self.write.path_active.next = self.paths.active.val();
        self.write.path_alive.next = self.paths.alive.val();
        self.fault_valid.next = self.write.fault_valid.val();
        self.write.fault_ready.next = self.fault_ready.val();
        self.fault_cause.next = self.write.fault_cause.val();
        self.fault_threads.next = self.write.fault_threads.val();
        self.fault_pc.next = self.write.fault_pc.val();
        self.fault_value.next = self.write.fault_value.val();
        self.fault_packet.next = self.write.fault_packet.val();
        self.fault_slot.next = self.write.slot.val();

        // Data memory
        self.load_store.request_valid.next = self.write.request_valid.val();
        self.load_store.request_store.next = self.write.request_store.val();
        self.load_store.request_size.next = self.write.request_size.val();
        self.load_store.request_signed.next = self.write.request_signed.val();
        self.load_store.request_mask.next = self.write.request_mask.val();
        self.load_store.request_slot.next = self.write.slot.val();
        self.load_store.request_rd.next = self.write.rd.val();
        self.write.request_ready.next = self.load_store.request_ready.val();
        self.read_valid.next = self.load_store.read_valid.val();
        self.load_store.read_ready.next = self.read_ready.val();
        self.read_line.next = self.load_store.read_line.val();
        self.load_store.response_valid.next = self.response_valid.val();
        self.response_ready.next = self.load_store.response_ready.val();
        self.load_store.response_data.next = self.response_data.val();
        self.load_store.response_error.next = self.response_error.val();
        self.write_valid.next = self.load_store.write_valid.val();
        self.load_store.write_ready.next = self.write_ready.val();
        self.write_line.next = self.load_store.write_line.val();
        self.write_data.next = self.load_store.write_data.val();
        self.write_strobe.next = self.load_store.write_strobe.val();
        self.load_store.write_done_valid.next = self.write_done.val();
        self.load_store.result_ready.next = true;

        // Counters
        self.counters.retire.next = self.write.retire.val();
        self.counters.retire_lanes.next = self.write.retire_lanes.val();
        self.counters.retire_diverged.next = self.write.retire_diverged.val();
        self.counters.occupied.next = self.front_end.occupied.val();
        self.counters.issued.next = self.front_end.issued.val();
        self.counters.fetch_miss.next = self.cache.fetch_miss.val();
        self.counters.line_read.next = self.load_store.line_read.val();
        self.counters.line_write.next = self.load_store.line_write.val();
        self.instructions.next = self.counters.instructions.val();
        self.lane_instructions.next = self.counters.lane_instructions.val();
        self.active_cycles.next = self.counters.active_cycles.val();
        self.stall_cycles.next = self.counters.stall_cycles.val();
        self.divergent.next = self.counters.divergent.val();
        self.fetch_misses.next = self.counters.fetch_misses.val();
        self.line_reads.next = self.counters.line_reads.val();
        self.line_writes.next = self.counters.line_writes.val();
    }
}
