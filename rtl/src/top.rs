//! The array.

use crate::command::{CommandProcessor, CommandTrace};
use crate::config::Config;
use crate::control::{Dispatch, FaultCollector, LoadCounters};
use crate::core::ShaderCore;
use crate::functions::{ContextTable, CoreContext, CoreOwner, FunctionCounters};
use crate::host::RegisterFile;
use crate::l2::{Axi4Master, MemorySizes, MemorySystem, Watchers};
use crate::memory::SCRATCHPAD_BYTES;
use crate::net::{InterfaceSizes, NetInterface, NetWindow};
use crate::ports::{
    AxiLite, FormedTrace, HopTrace, MemoryByte, StreamIn, StreamOut, Trace, WarpEvent, WarpTrace,
};
use crate::spawn::{ThreadSpawner, TrapCount, WriteMerge};
use crate::stream::PacketPorts;
use crate::trace::TraceBuffer;
use crate::types::JobSlot;
use hermes_hdl::emit::{emit_prefixed, Design, EmitError};
use hermes_hdl::prelude::*;

#[path = "top_parts.rs"]
mod parts;

/// Name of the emitted top module.
pub const TOP: &str = "hermes_top";

/// The array: register file, control path, shader cores, packet ports and memory system (see
/// `docs/architecture.md`).
///
/// It is wiring, but for the counter of bus errors.
#[clocked]
#[derive(LogicBlock)]
#[new(config: &Config, spawns: bool, commands: bool, windows: bool, functions: bool)]
pub struct HermesTop<const LANES: usize> {
    /// The registers.
    pub s_axil: AxiLite,

    /// To the host: interrupt (HOST_IRQ_PENDING). Only with a command processor.
    #[there(commands)]
    pub irq: Part<Signal<Out, Bit>>,

    /// A thread ended with a fault (FAULTS), or memory answered with an error (BUS_ERRORS), since
    /// the reset. Only if the configuration has it.
    #[there(config.fault_output)]
    pub fault: Part<Signal<Out, Bit>>,

    /// AXI4 masters: the channels to memory.
    #[count(config.channels)]
    pub m_axi: Vec<Axi4Master>,

    // Packet ports: only if the configuration has them
    /// Frames that enter.
    #[there(config.packet_ports)]
    pub s_axis_rx: Part<StreamIn>,
    /// Frames of committed packets; damaged if a line of the frame could not be read.
    #[there(config.packet_ports)]
    pub m_axis_tx: Part<StreamOut>,

    // Network interface: only if the configuration has it
    /// Frames of RoCEv2 from other nodes.
    #[there(config.network)]
    pub s_axis_net: Part<StreamIn>,
    /// Frames of RoCEv2 to other nodes.
    #[there(config.network)]
    pub m_axis_net: Part<StreamOut>,

    // Trace: one-cycle events
    /// A warp was issued.
    pub trace_issue: WarpTrace,
    /// A warp finished.
    pub trace_finish: WarpEvent,
    /// A warp was committed.
    pub trace_commit: WarpTrace,

    /// A frame at the packet ports found no slot and was dropped: the cycle after the one in which
    /// its last beat was taken. Only of ports that can drop frames.
    #[there(config.drop_when_full)]
    pub trace_drop: Part<Signal<Out, Bit>>,

    /// The warp that was issued is one of spawned threads, and the packetIdx the number of its
    /// first one: only with a thread spawner, as the next.
    #[there(spawns)]
    pub trace_issue_spawned: Part<Signal<Out, Bit>>,
    /// Slot of the job of the issued warp.
    #[there(spawns)]
    pub trace_issue_job: Part<Signal<Out, JobSlot>>,
    /// The warp that finished is one of spawned threads.
    #[there(spawns)]
    pub trace_finish_spawned: Part<Signal<Out, Bit>>,
    /// A job was triggered.
    #[there(spawns)]
    pub trace_spawn_trigger_valid: Part<Signal<Out, Bit>>,
    /// Slot of the job that was triggered.
    #[there(spawns)]
    pub trace_spawn_trigger_slot: Part<Signal<Out, Bits<4>>>,
    /// A job is complete: its completion word is visible, and its slot is free.
    #[there(spawns)]
    pub trace_spawn_complete_valid: Part<Signal<Out, Bit>>,
    /// Slot of the job that is complete.
    #[there(spawns)]
    pub trace_spawn_complete_slot: Part<Signal<Out, Bits<4>>>,

    /// A warp starts at a network function that is not its first: only with network functions.
    #[there(functions)]
    pub trace_hop: Part<HopTrace>,
    /// The trace buffer, for the host (see [`TraceBuffer`]): only if the configuration has one.
    #[there(config.trace_buffer > 0)]
    pub trace_buffer: Part<MemoryByte>,
    /// The warp that was formed and waits for its issue: only if the configuration has the retire
    /// trace.
    #[there(config.trace)]
    pub trace_formed: Part<FormedTrace>,
    /// The retire trace of each core, core 0 in the lowest bits: only if the configuration has it.
    #[there(config.trace)]
    #[count(config.cores)]
    pub trace: Part<Vec<Trace>>,
    /// The retire trace of the command processor: only if the configuration has both.
    #[there(config.trace && commands)]
    pub trace_cp: Part<CommandTrace>,

    #[init(RegisterFile::new(config))]
    registers: RegisterFile,
    #[init(Dispatch::new(config.into()))]
    dispatch: Dispatch<10, 11>,
    #[init(FaultCollector::new(config.cores, spawns, functions))]
    faults: FaultCollector,
    #[init(MemorySystem::watched(MemorySizes::of(config), Watchers::of(config)))]
    memory: MemorySystem,
    #[init((0..config.cores).map(|_| ShaderCore::new(config.core_options())).collect())]
    core: Vec<ShaderCore<LANES>>,
    #[init(Part::when(config.packet_ports, || PacketPorts::new(config.drop_when_full, config.load_counters)))]
    ports: Part<PacketPorts>,
    #[init(Part::when(spawns, || ThreadSpawner::new(config.into())))]
    spawner: Part<ThreadSpawner>,
    #[init(Part::when(spawns, || TrapCount::new(config.cores)))]
    trap_count: Part<TrapCount>,
    #[init(Part::when(commands, || CommandProcessor::new(config.into())))]
    command: Part<CommandProcessor>,
    #[there(config.command_requester())]
    write_merge: Part<WriteMerge>,
    #[init(Part::when(config.network, || NetInterface::new(InterfaceSizes::of(config))))]
    network: Part<NetInterface>,
    #[init(Part::when(windows, || NetWindow::new(config.command_threads, config.net_rings_log2(), config.net_queue_entries)))]
    window: Part<NetWindow>,
    #[init((0..config.cores as u64).map(|core| Constant::new(core.into())).collect())]
    number: Vec<Constant<Bits<5>>>,
    #[there(functions)]
    context_table: Part<ContextTable>,
    #[init(Part::when(functions, || CoreOwner::new(config.cores, config.network_functions, clear_rows(config.warps, config.lanes))))]
    core_owner: Part<CoreOwner>,
    #[there(functions)]
    #[count(config.cores)]
    core_context: Part<Vec<CoreContext>>,
    #[there(functions)]
    function_counters: Part<FunctionCounters>,
    bus_errors: Register<Bits<32>>,
    #[init(trace_buffer(config))]
    buffer: Part<TraceBuffer<LANES>>,
    #[init(Part::when(config.load_counters, || LoadCounters::new(config.cores, spawns, config.packet_ports)))]
    loads: Part<LoadCounters<10, 11>>,
    #[init(config.cores)]
    _cores: usize,
    #[init(config.network_requester())]
    _network_requester: usize,
    #[init(config.network_requester() + usize::from(config.network))]
    _port_requester: usize,
    #[init(config.command_threads * config.uli_channels)]
    _watched: usize,
    #[init(config.l2_banks)]
    _banks: usize,
    #[init(config.channels)]
    _channels: usize,
}

/// The trace buffer, if there is one.
fn trace_buffer<const LANES: usize>(config: &Config) -> Part<TraceBuffer<LANES>> {
    let entries = config.trace_buffer;
    Part::when(entries > 0, || TraceBuffer::new(config.cores, entries.ilog2() as usize))
}

/// Rows of a core that are cleared when it changes hands, one a cycle: of its registers, of which
/// 16 warps with 32 have as many as 32 with 16, or of its scratchpad. Of so many warp slots and
/// lanes of a core.
#[must_use]
pub fn clear_rows(warps: usize, lanes: usize) -> usize {
    (32 * warps.min(16)).max(SCRATCHPAD_BYTES / 4 / lanes)
}

impl<const LANES: usize> HermesTop<LANES> {
    /// The array of `config`.
    ///
    /// # Panics
    /// If `config` is not valid or its lanes are not `LANES`.
    pub fn new(config: &Config) -> Self {
        assert_eq!(config.validate(), Ok(()));
        assert_eq!(config.lanes, LANES);
        let spawns = config.spawn_slots > 0;
        let commands = config.command_threads > 0;
        let windows = commands && config.network;
        Self::wired(config, spawns, commands, windows, config.network_functions > 0)
    }
}

impl<const LANES: usize> Logic for HermesTop<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.s_axil, self.registers.axil);

        // Control path
        connect!(self.registers.configuration, self.dispatch.control);
        connect!(self.registers.tasks, self.dispatch.task);
        self.registers.tasks.level.next = self.dispatch.task_level.val();
        connect!(self.registers.progress, self.dispatch.progress);
        connect!(self.trace_issue, self.dispatch.trace_issue);
        connect!(self.trace_finish, self.dispatch.trace_finish);
        connect!(self.trace_commit, self.dispatch.trace_commit);

        if self.registers.timeout.is_there() {
            connect!(*self.registers.timeout, *self.dispatch.timeout);
        }

        // Packet ports: they stand between the host's packet counts and the task FIFO, and are the
        // last requester of memory.
        let mut drop_lines = self.registers.memory.data.val();
        if self.ports.is_there() {
            connect!(*self.registers.packet_ports, self.ports.control);
            connect!(*self.registers.port_counters, self.ports.counters);
            if self.trace_drop.is_there() {
                connect!(*self.registers.port_drops, *self.ports.drops);
                self.trace_drop.next = self.ports.drop_ended.val();
            }
            self.ports.cycle.next = self.registers.time.cycle.val().get_bits::<32>(0);
            connect!(self.registers.configuration, self.ports.ring);
            self.ports.committed.next = self.dispatch.progress.committed_packets.val();
            connect!(self.registers.tasks, self.ports.host_task);
            connect!(self.ports.task, self.dispatch.task);
            drop_lines = self.registers.memory.data.val() || self.ports.drop_caches.val();
            connect!(*self.s_axis_rx, self.ports.rx);
            connect!(*self.m_axis_tx, self.ports.tx);
            connect!(self.ports.read, self.memory.read[self._port_requester]);
            connect!(self.ports.write, self.memory.write[self._port_requester]);
        }

        self.merge_writes();
        self.network();
        self.spawn();
        self.command();
        // Faults and bus errors
        connect!(self.registers.faults, self.faults.registers);
        if self.command.is_there() {
            // Only its owner removes a record.
            self.faults.registers.pop.next = self.registers.faults.pop.val()
                & (self.registers.was_by_command.val() == self.registers.command.firmware_faults.val());
        }
        self.bus_errors.d.next = self.bus_errors.q.val() + bit_cast::<32, 4>(self.memory.bus_errors.val());
        self.registers.memory.bus_errors.next = self.bus_errors.q.val();
        if self.fault.is_there() {
            self.fault.next = self.faults.registers.faults.val().any() | self.bus_errors.q.val().any();
        }
        connect!(self.registers.memory, self.memory.maintenance);

        // Memory
        for i in 0..self._channels {
            connect!(self.m_axi[i], self.memory.m_axi[i]);
        }

        // Cores
        for i in 0..self._cores {
            self.core[i].core.next = self.number[i].val();
            self.core[i].cycle.next = self.registers.time.cycle.val();
            connect!(self.registers.configuration, self.core[i].setup);
            self.core[i].watchdog_limit.next = self.registers.configuration.watchdog.val();
            connect!(self.registers.windows, self.core[i].windows);
            self.core[i].invalidate.next = self.registers.memory.instructions.val();
            self.core[i].invalidate_data.next = drop_lines;
            connect!(self.dispatch.start, self.core[i].start);
            self.core[i].start.valid.next = self.dispatch.start_valid[i].val();
            connect!(self.core[i].finish, self.dispatch.finish[i]);
            connect!(self.core[i].fault, self.faults.fault[i]);
            connect!(self.core[i].line_read, self.memory.read[i]);
            connect!(self.core[i].line_write, self.memory.write[i]);
            if self.spawner.is_there() {
                self.core[i].invalidate_data.next = drop_lines | self.spawner.acquire.val().get_bit(i);
            }
            connect!(self.registers.counters[i], self.core[i].counters);
            connect!(self.registers.lost[i], self.core[i].lost);
            connect!(self.registers.l2[i], self.memory.counters[i]);
        }

        self.run_functions(drop_lines);
        self.tell();
    }
}

/// Writes the array of `config` as Verilog; the top module is [`TOP`].
///
/// # Errors
/// What the back end finds wrong with the design.
///
/// # Panics
/// If `config` is not valid.
pub fn emit_top(config: &Config) -> Result<Design, EmitError> {
    emit_top_prefixed(config, "")
}

/// As [`emit_top`]; the names of all modules begin with `prefix` (see [`emit_prefixed`]).
///
/// # Errors
/// As [`emit_top`].
pub fn emit_top_prefixed(config: &Config, prefix: &str) -> Result<Design, EmitError> {
    match config.lanes {
        1 => emit_prefixed(&HermesTop::<1>::new(config), TOP, prefix),
        2 => emit_prefixed(&HermesTop::<2>::new(config), TOP, prefix),
        4 => emit_prefixed(&HermesTop::<4>::new(config), TOP, prefix),
        8 => emit_prefixed(&HermesTop::<8>::new(config), TOP, prefix),
        16 => emit_prefixed(&HermesTop::<16>::new(config), TOP, prefix),
        _ => emit_prefixed(&HermesTop::<32>::new(config), TOP, prefix),
    }
}

#[cfg(test)]
#[path = "top_glue_tests.rs"]
mod glue_tests;
