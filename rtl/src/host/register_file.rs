//! The host's registers behind AXI4-Lite.

use super::registers::{address_of, ADDRESS_BITS, ID, REGISTERS, VERSION};
use super::{
    AxiLiteSlave, ConfigurationRegisters, CounterRegisters, PortRegisters, TaskPush, WindowRegisters,
};
use crate::config::Config;
use crate::core::WINDOWS;
use crate::prelude::*;

/// The register file: every register of [`REGISTERS`](super::registers::REGISTERS), from which it takes its
/// offsets, widths and reset values.
///
/// 1. AXI4-Lite as in [`AxiLiteSlave`]; an offset that is in no register's place gets SLVERR and reads as zero.
///    Write strobes hold for every register.
/// 2. Writes to read-only registers have no effect; registers that are written only read as zero.
/// 3. A write to TASK_PUSH is answered with OKAY when its count is offered to the task FIFO, or waits for it in [`TaskPush`]; with SLVERR at once,
///    like writes to unknown offsets, if there is no room.
/// 4. `invalidate`, `invalidate_data`, `l2_clean`, `l2_invalidate` and `fault_pop` are high for one cycle, the one in which the write's response first stands.
/// 5. A configuration output has its new value from that same cycle on.
#[derive(Clone, Debug, LogicBlock)]
pub struct RegisterFile {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,

    /// AXI4-Lite: write address.
    pub axil_awaddr: Signal<In, Bits<12>>,
    /// AXI4-Lite: protection of the write, ignored.
    pub axil_awprot: Signal<In, Bits<3>>,
    /// AXI4-Lite: write address valid.
    pub axil_awvalid: Signal<In, Bit>,
    /// AXI4-Lite: write address ready.
    pub axil_awready: Signal<Out, Bit>,
    /// AXI4-Lite: write data.
    pub axil_wdata: Signal<In, Bits<32>>,
    /// AXI4-Lite: bytes of the write data that count.
    pub axil_wstrb: Signal<In, Bits<4>>,
    /// AXI4-Lite: write data valid.
    pub axil_wvalid: Signal<In, Bit>,
    /// AXI4-Lite: write data ready.
    pub axil_wready: Signal<Out, Bit>,
    /// AXI4-Lite: write response: 0 OKAY, 2 SLVERR.
    pub axil_bresp: Signal<Out, Bits<2>>,
    /// AXI4-Lite: write response valid.
    pub axil_bvalid: Signal<Out, Bit>,
    /// AXI4-Lite: write response ready.
    pub axil_bready: Signal<In, Bit>,
    /// AXI4-Lite: read address.
    pub axil_araddr: Signal<In, Bits<12>>,
    /// AXI4-Lite: protection of the read, ignored.
    pub axil_arprot: Signal<In, Bits<3>>,
    /// AXI4-Lite: read address valid.
    pub axil_arvalid: Signal<In, Bit>,
    /// AXI4-Lite: read address ready.
    pub axil_arready: Signal<Out, Bit>,
    /// AXI4-Lite: read data.
    pub axil_rdata: Signal<Out, Bits<32>>,
    /// AXI4-Lite: read response: 0 OKAY, 2 SLVERR.
    pub axil_rresp: Signal<Out, Bits<2>>,
    /// AXI4-Lite: read response valid.
    pub axil_rvalid: Signal<Out, Bit>,
    /// AXI4-Lite: read response ready.
    pub axil_rready: Signal<In, Bit>,

    /// CONTROL, bit 0: warps are formed and issued.
    pub run: Signal<Out, Bit>,
    /// CONTROL, bit 1: partial warps are formed at once for idle slots.
    pub eager: Signal<Out, Bit>,
    /// Register RING_BASE.
    pub ring_base: Signal<Out, Bits<32>>,
    /// Register RING_SLOTS_LOG2.
    pub ring_slots_log2: Signal<Out, Bits<5>>,
    /// Register SLOT_BYTES_LOG2.
    pub slot_bytes_log2: Signal<Out, Bits<5>>,
    /// Register VERDICT_BASE.
    pub verdict_base: Signal<Out, Bits<32>>,
    /// Register KERNEL_ENTRY.
    pub kernel_entry: Signal<Out, Bits<32>>,
    /// Register ARGUMENT.
    pub argument: Signal<Out, Bits<32>>,
    /// Register STACK_BASE.
    pub stack_base: Signal<Out, Bits<32>>,
    /// Register STACK_BYTES_LOG2.
    pub stack_bytes_log2: Signal<Out, Bits<5>>,
    /// Register MCW.
    pub mcw: Signal<Out, Bits<6>>,
    /// Register TIMEOUT.
    pub timeout: Signal<Out, Bits<32>>,
    /// Register WATCHDOG.
    pub watchdog: Signal<Out, Bits<31>>,
    /// Register KERNEL_CLASS.
    pub kernel_class: Signal<Out, Bit>,
    /// Cycles since reset.
    pub cycle: Signal<Out, Bits<64>>,
    /// A write to INVALIDATE: every line of the instruction caches is dropped.
    pub invalidate: Signal<Out, Bit>,
    /// A write to INVALIDATE: every line of the L1 data caches is dropped.
    pub invalidate_data: Signal<Out, Bit>,
    /// A write to L2_MAINTENANCE: the L2 writes its changed lines back.
    pub l2_clean: Signal<Out, Bit>,
    /// A write to L2_MAINTENANCE: the L2 writes its changed lines back and drops all lines.
    pub l2_invalidate: Signal<Out, Bit>,
    /// Register L2_MAINTENANCE, bit 0; it must be high from the cycle after `l2_clean` or `l2_invalidate` on.
    pub l2_busy: Signal<In, Bit>,
    /// Register MEMORY_LINES_READ.
    pub memory_lines_read: Signal<In, Bits<32>>,
    /// Register MEMORY_LINES_WRITTEN.
    pub memory_lines_written: Signal<In, Bits<32>>,
    /// To the task FIFO: a count is offered.
    pub task_valid: Signal<Out, Bit>,
    /// From the task FIFO: the count is taken.
    pub task_ready: Signal<In, Bit>,
    /// To the task FIFO: the count.
    pub task_count: Signal<Out, Bits<32>>,
    /// A write to FAULT_POP: the oldest fault record is removed.
    pub fault_pop: Signal<Out, Bit>,

    /// Register TASK_LEVEL.
    pub task_level: Signal<In, Bits<11>>,
    /// Register PENDING.
    pub pending: Signal<In, Bits<32>>,
    /// Register ISSUED_WARPS.
    pub issued_warps: Signal<In, Bits<32>>,
    /// Register COMMITTED_WARPS.
    pub committed_warps: Signal<In, Bits<32>>,
    /// Register COMMITTED_PACKETS.
    pub committed_packets: Signal<In, Bits<32>>,
    /// Register FAULTS.
    pub faults: Signal<In, Bits<32>>,
    /// Register BUS_ERRORS.
    pub bus_errors: Signal<In, Bits<32>>,
    /// Register FAULT_PC.
    pub fault_pc: Signal<In, Bits<32>>,
    /// Register FAULT_ADDRESS.
    pub fault_address: Signal<In, Bits<32>>,
    /// Register FAULT_PACKET.
    pub fault_packet: Signal<In, Bits<32>>,
    /// Records in the fault FIFO: register FAULT_LEVEL, low half.
    pub fault_level: Signal<In, Bits<16>>,
    /// Records dropped, modulo 2^16: register FAULT_LEVEL, high half.
    pub fault_dropped: Signal<In, Bits<16>>,
    /// Oldest fault record: cause.
    pub fault_cause: Signal<In, Bits<5>>,
    /// Oldest fault record: core.
    pub fault_core: Signal<In, Bits<5>>,
    /// Oldest fault record: warp slot.
    pub fault_slot: Signal<In, Bits<5>>,
    /// Oldest fault record: threads.
    pub fault_threads: Signal<In, Bits<6>>,
    /// Registers READ_WINDOW_BASE, bits 31:6.
    pub read_window_base: Vec<Signal<Out, Bits<26>>>,
    /// Registers READ_WINDOW_SIZE, bits 31:6.
    pub read_window_size: Vec<Signal<Out, Bits<26>>>,
    /// Registers WRITE_WINDOW_BASE, bits 31:6.
    pub write_window_base: Vec<Signal<Out, Bits<26>>>,
    /// Registers WRITE_WINDOW_SIZE, bits 31:6.
    pub write_window_size: Vec<Signal<Out, Bits<26>>>,
    /// Register CORE_INSTRUCTIONS, of each core.
    pub core_instructions: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LANE_INSTRUCTIONS, of each core.
    pub core_lane_instructions: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_ACTIVE_CYCLES, of each core.
    pub core_active_cycles: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_STALL_CYCLES, of each core.
    pub core_stall_cycles: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_DIVERGENT, of each core.
    pub core_divergent: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_FETCH_MISSES, of each core.
    pub core_fetch_misses: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LINE_READS, of each core.
    pub core_line_reads: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LINE_WRITES, of each core.
    pub core_line_writes: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LOST_MEMORY, of each core.
    pub core_lost_memory: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LOST_FETCH, of each core.
    pub core_lost_fetch: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LOST_DIVERGENCE, of each core.
    pub core_lost_divergence: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LOST_SCOREBOARD, of each core.
    pub core_lost_scoreboard: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LOST_CONFLICT, of each core.
    pub core_lost_conflict: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_L2_READ_HITS, of each core.
    pub core_l2_read_hits: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_L2_READ_MISSES, of each core.
    pub core_l2_read_misses: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_L2_WRITES, of each core.
    pub core_l2_writes: Vec<Signal<In, Bits<32>>>,

    /// Register PORTS: the packet ports take and send frames.
    pub ports_enable: Signal<Out, Bit>,
    /// Register PORTS_BUSY.
    pub ports_busy: Signal<In, Bit>,
    /// Register PORTS_FRAMES_IN.
    pub ports_frames_in: Signal<In, Bits<32>>,
    /// Register PORTS_BYTES_IN.
    pub ports_bytes_in: Signal<In, Bits<32>>,
    /// Register PORTS_DROPPED_IN.
    pub ports_dropped_in: Signal<In, Bits<32>>,
    /// Register PORTS_CUT_IN.
    pub ports_cut_in: Signal<In, Bits<32>>,
    /// Register PORTS_FRAMES_OUT.
    pub ports_frames_out: Signal<In, Bits<32>>,
    /// Register PORTS_BYTES_OUT.
    pub ports_bytes_out: Signal<In, Bits<32>>,
    /// Register PORTS_NOT_SENT.
    pub ports_not_sent: Signal<In, Bits<32>>,
    /// Register PORTS_LENGTH_ERRORS.
    pub ports_length_errors: Signal<In, Bits<32>>,
    /// Register PORTS_READ_ERRORS.
    pub ports_read_errors: Signal<In, Bits<32>>,

    bus: AxiLiteSlave,
    configuration: ConfigurationRegisters,
    windows: WindowRegisters,
    counters: CounterRegisters,
    ports: PortRegisters,
    push: TaskPush,
    invalidating: Register<Bit>,
    invalidating_data: Register<Bit>,
    cleaning: Register<Bit>,
    dropping: Register<Bit>,
    popping: Register<Bit>,
    cycle_low: Register<Bits<32>>,
    cycle_high: Register<Bits<32>>,
    cycle_high_latched: Register<Bits<32>>,
    id: Constant<Bits<32>>,
    version: Constant<Bits<32>>,
    parameters: Constant<Bits<32>>,
    at_id: Constant<Bits<12>>,
    at_version: Constant<Bits<12>>,
    at_config: Constant<Bits<12>>,
    at_task_level: Constant<Bits<12>>,
    at_task_room: Constant<Bits<12>>,
    at_pending: Constant<Bits<12>>,
    at_issued_warps: Constant<Bits<12>>,
    at_committed_warps: Constant<Bits<12>>,
    at_committed_packets: Constant<Bits<12>>,
    at_faults: Constant<Bits<12>>,
    at_bus_errors: Constant<Bits<12>>,
    at_fault_pc: Constant<Bits<12>>,
    at_fault_address: Constant<Bits<12>>,
    at_fault_packet: Constant<Bits<12>>,
    at_fault_level: Constant<Bits<12>>,
    at_fault_info: Constant<Bits<12>>,
    at_cycle_low: Constant<Bits<12>>,
    at_cycle_high: Constant<Bits<12>>,
    at_invalidate: Constant<Bits<12>>,
    at_l2_maintenance: Constant<Bits<12>>,
    at_memory_lines_read: Constant<Bits<12>>,
    at_memory_lines_written: Constant<Bits<12>>,
    at_task_push: Constant<Bits<12>>,
    at_fault_pop: Constant<Bits<12>>,
    offset: Vec<Constant<Bits<12>>>,
    _registers: usize,
    _cores: usize,
}

impl RegisterFile {
    /// The register file of an array with this configuration.
    ///
    /// # Panics
    /// If the configuration is not valid.
    pub fn new(config: &Config) -> Self {
        if let Err(error) = config.validate() {
            panic!("RegisterFile: {error}");
        }
        assert_eq!(ADDRESS_BITS, 12, "RegisterFile: address width");
        let counter = || vec![Signal::default(); config.cores];
        let parameters =
            config.lanes | config.cores << 8 | config.warps << 16 | usize::from(config.packet_ports) << 24;
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            axil_awaddr: Signal::default(),
            axil_awprot: Signal::default(),
            axil_awvalid: Signal::default(),
            axil_awready: Signal::default(),
            axil_wdata: Signal::default(),
            axil_wstrb: Signal::default(),
            axil_wvalid: Signal::default(),
            axil_wready: Signal::default(),
            axil_bresp: Signal::default(),
            axil_bvalid: Signal::default(),
            axil_bready: Signal::default(),
            axil_araddr: Signal::default(),
            axil_arprot: Signal::default(),
            axil_arvalid: Signal::default(),
            axil_arready: Signal::default(),
            axil_rdata: Signal::default(),
            axil_rresp: Signal::default(),
            axil_rvalid: Signal::default(),
            axil_rready: Signal::default(),
            run: Signal::default(),
            eager: Signal::default(),
            ring_base: Signal::default(),
            ring_slots_log2: Signal::default(),
            slot_bytes_log2: Signal::default(),
            verdict_base: Signal::default(),
            kernel_entry: Signal::default(),
            argument: Signal::default(),
            stack_base: Signal::default(),
            stack_bytes_log2: Signal::default(),
            mcw: Signal::default(),
            timeout: Signal::default(),
            kernel_class: Signal::default(),
            watchdog: Signal::default(),
            cycle: Signal::default(),
            invalidate: Signal::default(),
            invalidate_data: Signal::default(),
            l2_clean: Signal::default(),
            l2_invalidate: Signal::default(),
            l2_busy: Signal::default(),
            memory_lines_read: Signal::default(),
            memory_lines_written: Signal::default(),
            task_valid: Signal::default(),
            task_ready: Signal::default(),
            task_count: Signal::default(),
            fault_pop: Signal::default(),
            task_level: Signal::default(),
            pending: Signal::default(),
            issued_warps: Signal::default(),
            committed_warps: Signal::default(),
            committed_packets: Signal::default(),
            faults: Signal::default(),
            bus_errors: Signal::default(),
            fault_pc: Signal::default(),
            fault_address: Signal::default(),
            fault_packet: Signal::default(),
            fault_level: Signal::default(),
            fault_dropped: Signal::default(),
            fault_cause: Signal::default(),
            fault_core: Signal::default(),
            fault_slot: Signal::default(),
            fault_threads: Signal::default(),
            read_window_base: vec![Signal::default(); WINDOWS],
            read_window_size: vec![Signal::default(); WINDOWS],
            write_window_base: vec![Signal::default(); WINDOWS],
            write_window_size: vec![Signal::default(); WINDOWS],
            core_instructions: counter(),
            core_lane_instructions: counter(),
            core_active_cycles: counter(),
            core_stall_cycles: counter(),
            core_divergent: counter(),
            core_fetch_misses: counter(),
            core_line_reads: counter(),
            core_line_writes: counter(),
            core_lost_memory: counter(),
            core_lost_fetch: counter(),
            core_lost_divergence: counter(),
            core_lost_scoreboard: counter(),
            core_lost_conflict: counter(),
            core_l2_read_hits: counter(),
            core_l2_read_misses: counter(),
            core_l2_writes: counter(),
            ports_enable: Signal::default(),
            ports_busy: Signal::default(),
            ports_frames_in: Signal::default(),
            ports_bytes_in: Signal::default(),
            ports_dropped_in: Signal::default(),
            ports_cut_in: Signal::default(),
            ports_frames_out: Signal::default(),
            ports_bytes_out: Signal::default(),
            ports_not_sent: Signal::default(),
            ports_length_errors: Signal::default(),
            ports_read_errors: Signal::default(),
            bus: AxiLiteSlave::default(),
            configuration: ConfigurationRegisters::default(),
            windows: WindowRegisters::default(),
            counters: CounterRegisters::new(config.cores),
            ports: PortRegisters::default(),
            push: TaskPush::default(),
            invalidating: Register::default(),
            invalidating_data: Register::default(),
            cleaning: Register::default(),
            dropping: Register::default(),
            popping: Register::default(),
            cycle_low: Register::default(),
            cycle_high: Register::default(),
            cycle_high_latched: Register::default(),
            id: Constant::new(u64::from(ID).into()),
            version: Constant::new(u64::from(VERSION).into()),
            parameters: Constant::new((parameters as u64).into()),
            at_id: address_of("ID", 32),
            at_version: address_of("VERSION", 32),
            at_config: address_of("CONFIG", 32),
            at_task_level: address_of("TASK_LEVEL", 11),
            at_task_room: address_of("TASK_ROOM", 11),
            at_pending: address_of("PENDING", 32),
            at_issued_warps: address_of("ISSUED_WARPS", 32),
            at_committed_warps: address_of("COMMITTED_WARPS", 32),
            at_committed_packets: address_of("COMMITTED_PACKETS", 32),
            at_faults: address_of("FAULTS", 32),
            at_bus_errors: address_of("BUS_ERRORS", 32),
            at_fault_pc: address_of("FAULT_PC", 32),
            at_fault_address: address_of("FAULT_ADDRESS", 32),
            at_fault_packet: address_of("FAULT_PACKET", 32),
            at_fault_level: address_of("FAULT_LEVEL", 32),
            at_fault_info: address_of("FAULT_INFO", 32),
            at_cycle_low: address_of("CYCLE_LOW", 32),
            at_cycle_high: address_of("CYCLE_HIGH", 32),
            at_invalidate: address_of("INVALIDATE", 2),
            at_l2_maintenance: address_of("L2_MAINTENANCE", 2),
            at_memory_lines_read: address_of("MEMORY_LINES_READ", 32),
            at_memory_lines_written: address_of("MEMORY_LINES_WRITTEN", 32),
            at_task_push: address_of("TASK_PUSH", 32),
            at_fault_pop: address_of("FAULT_POP", 1),
            offset: REGISTERS.iter().map(|r| address_of(r.name, r.bits)).collect(),
            _registers: REGISTERS.len(),
            _cores: config.cores,
        }
    }
}

impl Logic for RegisterFile {
    #[hdl_gen]
    fn update(&mut self) {
        self.bus.awaddr.next = self.axil_awaddr.val();
        self.bus.awvalid.next = self.axil_awvalid.val();
        self.axil_awready.next = self.bus.awready.val();
        self.bus.wdata.next = self.axil_wdata.val();
        self.bus.wstrb.next = self.axil_wstrb.val();
        self.bus.wvalid.next = self.axil_wvalid.val();
        self.axil_wready.next = self.bus.wready.val();
        self.axil_bresp.next = self.bus.bresp.val();
        self.axil_bvalid.next = self.bus.bvalid.val();
        self.bus.bready.next = self.axil_bready.val();
        self.bus.araddr.next = self.axil_araddr.val();
        self.bus.arvalid.next = self.axil_arvalid.val();
        self.axil_arready.next = self.bus.arready.val();
        self.axil_rdata.next = self.bus.rdata.val();
        self.axil_rresp.next = self.bus.rresp.val();
        self.axil_rvalid.next = self.bus.rvalid.val();
        self.bus.rready.next = self.axil_rready.val();

        // Configuration, and the counters of the selected core.
        self.configuration.address.next = self.bus.address.val();
        self.configuration.write.next = self.bus.write.val();
        self.configuration.write_data.next = self.bus.write_data.val();
        self.configuration.write_mask.next = self.bus.write_mask.val();
        self.windows.address.next = self.bus.address.val();
        self.windows.write.next = self.bus.write.val();
        self.windows.write_data.next = self.bus.write_data.val();
        self.windows.write_mask.next = self.bus.write_mask.val();
        for i in 0..2 {
            self.read_window_base[i].next = self.windows.read_base[i].val();
            self.read_window_size[i].next = self.windows.read_size[i].val();
            self.write_window_base[i].next = self.windows.write_base[i].val();
            self.write_window_size[i].next = self.windows.write_size[i].val();
        }
        self.run.next = self.configuration.control.val().get_bit(0);
        self.eager.next = self.configuration.control.val().get_bit(1);
        self.ring_base.next = self.configuration.ring_base.val();
        self.ring_slots_log2.next = self.configuration.ring_slots_log2.val();
        self.slot_bytes_log2.next = self.configuration.slot_bytes_log2.val();
        self.verdict_base.next = self.configuration.verdict_base.val();
        self.kernel_entry.next = self.configuration.kernel_entry.val();
        self.argument.next = self.configuration.argument.val();
        self.stack_base.next = self.configuration.stack_base.val();
        self.stack_bytes_log2.next = self.configuration.stack_bytes_log2.val();
        self.mcw.next = self.configuration.mcw.val();
        self.timeout.next = self.configuration.timeout.val();
        self.kernel_class.next = self.configuration.kernel_class.val();
        self.watchdog.next = self.configuration.watchdog.val();
        self.cycle.next = (bit_cast::<64, 32>(self.cycle_high.q.val()) << bits::<6>(32))
            | bit_cast::<64, 32>(self.cycle_low.q.val());
        self.ports_enable.next = self.configuration.ports.val();
        self.ports.address.next = self.bus.address.val();
        self.ports.busy.next = self.ports_busy.val();
        self.ports.frames_in.next = self.ports_frames_in.val();
        self.ports.bytes_in.next = self.ports_bytes_in.val();
        self.ports.dropped_in.next = self.ports_dropped_in.val();
        self.ports.cut_in.next = self.ports_cut_in.val();
        self.ports.frames_out.next = self.ports_frames_out.val();
        self.ports.bytes_out.next = self.ports_bytes_out.val();
        self.ports.not_sent.next = self.ports_not_sent.val();
        self.ports.length_errors.next = self.ports_length_errors.val();
        self.ports.read_errors.next = self.ports_read_errors.val();
        self.counters.address.next = self.bus.address.val();
        self.counters.select.next = self.configuration.core_select.val();
        for i in 0..self._cores {
            self.counters.instructions[i].next = self.core_instructions[i].val();
            self.counters.lane_instructions[i].next = self.core_lane_instructions[i].val();
            self.counters.active_cycles[i].next = self.core_active_cycles[i].val();
            self.counters.stall_cycles[i].next = self.core_stall_cycles[i].val();
            self.counters.divergent[i].next = self.core_divergent[i].val();
            self.counters.fetch_misses[i].next = self.core_fetch_misses[i].val();
            self.counters.line_reads[i].next = self.core_line_reads[i].val();
            self.counters.line_writes[i].next = self.core_line_writes[i].val();
            self.counters.lost_memory[i].next = self.core_lost_memory[i].val();
            self.counters.lost_fetch[i].next = self.core_lost_fetch[i].val();
            self.counters.lost_divergence[i].next = self.core_lost_divergence[i].val();
            self.counters.lost_scoreboard[i].next = self.core_lost_scoreboard[i].val();
            self.counters.lost_conflict[i].next = self.core_lost_conflict[i].val();
            self.counters.l2_read_hits[i].next = self.core_l2_read_hits[i].val();
            self.counters.l2_read_misses[i].next = self.core_l2_read_misses[i].val();
            self.counters.l2_writes[i].next = self.core_l2_writes[i].val();
        }

        let fault_info = bit_cast::<32, 5>(self.fault_cause.val())
            | (bit_cast::<32, 5>(self.fault_core.val()) << 8)
            | (bit_cast::<32, 5>(self.fault_slot.val()) << 16)
            | (bit_cast::<32, 6>(self.fault_threads.val()) << 24);

        // Packet counts. One that finds no room is answered like a write to no register.
        let address = self.bus.address.val();
        self.push.write.next = self.bus.write.val() & (address == self.at_task_push.val());
        self.push.count.next = self.bus.write_data.val() & self.bus.write_mask.val();
        self.push.level.next = self.task_level.val();
        self.push.task_ready.next = self.task_ready.val();
        self.task_valid.next = self.push.task_valid.val();
        self.task_count.next = self.push.task_count.val();
        self.bus.delay.next = self.push.delay.val();

        // What the addressed register holds.
        self.bus.known.next = false;
        for i in 0..self._registers {
            if address == self.offset[i].val() {
                self.bus.known.next = true;
            }
        }
        if self.push.refused.val() {
            self.bus.known.next = false;
        }
        let mut value = self.configuration.value.val()
            | self.windows.value.val()
            | self.counters.value.val()
            | self.ports.value.val();
        if address == self.at_id.val() {
            value = self.id.val();
        }
        if address == self.at_version.val() {
            value = self.version.val();
        }
        if address == self.at_config.val() {
            value = self.parameters.val();
        }
        if address == self.at_task_level.val() {
            value = bit_cast::<32, 11>(self.task_level.val());
        }
        if address == self.at_task_room.val() {
            value = bit_cast::<32, 11>(self.push.room.val());
        }
        if address == self.at_pending.val() {
            value = self.pending.val();
        }
        if address == self.at_issued_warps.val() {
            value = self.issued_warps.val();
        }
        if address == self.at_committed_warps.val() {
            value = self.committed_warps.val();
        }
        if address == self.at_committed_packets.val() {
            value = self.committed_packets.val();
        }
        if address == self.at_faults.val() {
            value = self.faults.val();
        }
        if address == self.at_bus_errors.val() {
            value = self.bus_errors.val();
        }
        if address == self.at_fault_pc.val() {
            value = self.fault_pc.val();
        }
        if address == self.at_fault_address.val() {
            value = self.fault_address.val();
        }
        if address == self.at_fault_packet.val() {
            value = self.fault_packet.val();
        }
        if address == self.at_fault_level.val() {
            value = bit_cast::<32, 16>(self.fault_level.val())
                | (bit_cast::<32, 16>(self.fault_dropped.val()) << 16);
        }
        if address == self.at_fault_info.val() {
            value = fault_info;
        }
        if address == self.at_cycle_low.val() {
            value = self.cycle_low.q.val();
        }
        if address == self.at_cycle_high.val() {
            value = self.cycle_high_latched.q.val();
        }
        if (address == self.at_l2_maintenance.val()) & self.l2_busy.val() {
            value = bits::<32>(1);
        }
        if address == self.at_memory_lines_read.val() {
            value = self.memory_lines_read.val();
        }
        if address == self.at_memory_lines_written.val() {
            value = self.memory_lines_written.val();
        }
        self.bus.value.next = value;

        // Events.
        let event_data = self.bus.write_data.val() & self.bus.write_mask.val();
        self.invalidating.d.next =
            self.bus.write.val() & (address == self.at_invalidate.val()) & event_data.get_bit(0);
        self.invalidate.next = self.invalidating.q.val();
        self.invalidating_data.d.next =
            self.bus.write.val() & (address == self.at_invalidate.val()) & event_data.get_bit(1);
        self.invalidate_data.next = self.invalidating_data.q.val();
        self.cleaning.d.next =
            self.bus.write.val() & (address == self.at_l2_maintenance.val()) & event_data.get_bit(0);
        self.l2_clean.next = self.cleaning.q.val();
        self.dropping.d.next =
            self.bus.write.val() & (address == self.at_l2_maintenance.val()) & event_data.get_bit(1);
        self.l2_invalidate.next = self.dropping.q.val();
        self.popping.d.next =
            self.bus.write.val() & (address == self.at_fault_pop.val()) & event_data.get_bit(0);
        self.fault_pop.next = self.popping.q.val();

        // Time: reading the low half keeps the high half for the read that follows.
        self.cycle_low.d.next = self.cycle_low.q.val() + 1;
        if self.cycle_low.q.val().all() {
            self.cycle_high.d.next = self.cycle_high.q.val() + 1;
        }
        if self.bus.read.val() & (address == self.at_cycle_low.val()) {
            self.cycle_high_latched.d.next = self.cycle_high.q.val();
        }
    }
}

#[cfg(test)]
#[path = "register_file_tests.rs"]
mod tests;
