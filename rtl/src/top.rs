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

/// Name of the emitted top module.
pub const TOP: &str = "hermes_top";

/// The array: register file, control path, shader cores, packet ports and memory system (see
/// `docs/architecture.md`).
///
/// It is wiring, but for the counter of bus errors.
#[derive(LogicBlock)]
#[new(config: &Config, spawns: bool, commands: bool, windows: bool, functions: bool)]
pub struct HermesTop<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,

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
    /// Slot of its job.
    #[there(spawns)]
    pub trace_issue_job: Part<Signal<Out, JobSlot>>,
    /// The warp that finished is one of spawned threads.
    #[there(spawns)]
    pub trace_finish_spawned: Part<Signal<Out, Bit>>,
    /// A job was triggered.
    #[there(spawns)]
    pub trace_spawn_trigger_valid: Part<Signal<Out, Bit>>,
    /// Its slot.
    #[there(spawns)]
    pub trace_spawn_trigger_slot: Part<Signal<Out, Bits<4>>>,
    /// A job is complete: its completion word is visible, and its slot is free.
    #[there(spawns)]
    pub trace_spawn_complete_valid: Part<Signal<Out, Bit>>,
    /// Its slot.
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
    #[init(Part::when(spawns, || ThreadSpawner::new(config.cores, config.lanes, config.spawn_slots, config.uli_channels > 0)))]
    spawner: Part<ThreadSpawner>,
    #[init(Part::when(spawns, || TrapCount::new(config.cores)))]
    trap_count: Part<TrapCount>,
    #[init(Part::when(commands, || CommandProcessor::of(config)))]
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

        // The requester behind the cores: command processor and thread spawner
        if self.write_merge.is_there() {
            self.memory.read[self._cores].valid.next = false;
            self.memory.read[self._cores].line.next = bits::<26>(0);
            self.memory.read[self._cores].tag.next = bits::<7>(0);
            connect!(self.write_merge.memory, self.memory.write[self._cores]);
            self.write_merge.stores.valid.next = false;
            self.write_merge.stores.line.next = bits::<26>(0);
            self.write_merge.stores.data.next = bits::<512>(0);
            self.write_merge.stores.strobe.next = bits::<64>(0);
            self.write_merge.stores.tag.next = bits::<6>(0);
            self.write_merge.completions.valid.next = false;
            self.write_merge.completions.line.next = bits::<26>(0);
            self.write_merge.completions.data.next = bits::<512>(0);
            self.write_merge.completions.strobe.next = bits::<64>(0);
            self.write_merge.completions.tag.next = bits::<6>(0);
        }

        // Network interface: the requester behind that
        if self.network.is_there() {
            connect!(self.network.read, self.memory.read[self._network_requester]);
            connect!(self.network.write, self.memory.write[self._network_requester]);
            connect!(self.network.atomic_answer, self.memory.atomic_answer[self._network_requester]);
            self.network.written_high.next = self.memory.written_high.val();
            connect!(self.registers.network.interface, self.network.control);
            connect!(self.registers.network.lock, *self.memory.line_lock);
            self.registers.network.read_hits.next =
                self.memory.counters[self._network_requester].read_hits.val();
            self.registers.network.read_misses.next =
                self.memory.counters[self._network_requester].read_misses.val();
            self.registers.network.command_read_hits.next = bits::<32>(0);
            self.registers.network.command_read_misses.next = bits::<32>(0);
            if self.write_merge.is_there() {
                self.registers.network.command_read_hits.next =
                    self.memory.counters[self._cores].read_hits.val();
                self.registers.network.command_read_misses.next =
                    self.memory.counters[self._cores].read_misses.val();
            }
            for i in 0..self._cores {
                for b in 0..self._banks {
                    connect!(self.memory.written_line[b], self.core[i].written_line[b]);
                }
            }
            if self.window.is_there() {
                for b in 0..self._banks {
                    connect!(self.memory.tap[b], self.network.tap[b]);
                }
            }
            connect!(*self.s_axis_net, self.network.rx);
            connect!(*self.m_axis_net, self.network.tx);
        }

        // Thread spawner
        if self.spawner.is_there() {
            connect!(self.registers.spawn.spawner, self.spawner.control);
            self.registers.spawn.fault_job.next = self.faults.oldest_job.val();
            self.spawner.kernel_class.next = self.registers.configuration.kernel_class.val();
            connect!(self.spawner.warp, *self.dispatch.spawn);
            self.dispatch.spawn_mcw.next = self.registers.spawn.mcw.val();
            connect!(*self.dispatch.spawned_finish, self.spawner.finish);
            self.spawner.begins.next = self.dispatch.start_spawned.val();
            self.spawner.begins_job.next = self.dispatch.start_job.val();
            for i in 0..self._cores {
                connect!(self.spawner.start, *self.core[i].start_job);
                self.core[i].spawn_watchdog_limit.next = self.registers.spawn.watchdog.val();
                self.dispatch.finish_faulted[i].next = self.core[i].finish_faulted.val();
                self.faults.fault_job[i].next = self.core[i].fault_job.val();
                connect!(self.registers.spawn.traps, *self.core[i].trap_control);
                self.trap_count.lanes[i].next = self.core[i].trapped.val();
            }
            self.registers.spawn.trapped.next = self.trap_count.total.val();
            connect!(self.spawner.write, self.write_merge.completions);
            self.trace_issue_spawned.next = self.dispatch.start_spawned.val();
            self.trace_issue_job.next = self.dispatch.start_job.val();
            self.trace_finish_spawned.next = self.dispatch.trace_finish_spawned.val();
            self.trace_spawn_trigger_valid.next = self.spawner.trace_trigger_valid.val();
            self.trace_spawn_trigger_slot.next = self.spawner.trace_trigger_slot.val();
            self.trace_spawn_complete_valid.next = self.spawner.trace_complete_valid.val();
            self.trace_spawn_complete_slot.next = self.spawner.trace_complete_slot.val();
        }

        // Command processor
        if self.command.is_there() {
            connect!(*self.registers.command, self.command.registers);
            connect!(*self.registers.debug, self.command.debugging);
            if self.command.is_there() && !self.window.is_there() {
                connect!(*self.registers.access, self.command.access);
            }
            if self.window.is_there() {
                connect!(*self.registers.access, self.window.registers);
                connect!(self.command.access, self.window.access);
                connect!(*self.command.window, self.window.select);
                connect!(self.window.posts, *self.network.window);
                self.network.awake.next = self.command.awake.val();
                if self.command.page.is_there() {
                    self.command.staged.next = self.network.stage.stage.val();
                }
                connect!(self.window.stage, *self.network.stage);
            }
            self.registers.host_link.by_command.next = self.registers.by_command.val();
            self.registers.host_link.stopped.next = self.command.registers.stopped.val();
            self.registers.host_link.locked_up.next = self.command.registers.locked.val();
            self.command.external.next = self.registers.host_link.external.val();
            self.command.doorbell.next = self.registers.host_link.doorbell.val();
            self.irq.next = self.registers.host_link.irq.val();
            self.command.mailbox_full.next = bits::<2>(0)
                .replace_bit(0, self.registers.host_link.mailbox_in_full.val())
                .replace_bit(1, self.registers.host_link.mailbox_out_full.val());
            // Packets that wait and that are committed
            self.registers.host_link.push_count.next = self.registers.tasks.count.val();
            self.registers.host_link.push.next =
                self.registers.tasks.valid.val() & self.dispatch.task.ready.val();
            if self.ports.is_there() {
                self.registers.host_link.push_count.next = self.ports.task.count.val();
                self.registers.host_link.push.next =
                    self.ports.task.valid.val() & self.dispatch.task.ready.val();
            }
            self.registers.host_link.issue.next = self.dispatch.trace_issue.valid.val();
            self.registers.host_link.issue_count.next = self.dispatch.trace_issue.count.val();
            self.registers.host_link.committed.next = self.dispatch.progress.committed_packets.val();
            // Events of the thread spawner and of the cores
            self.registers.host_link.slot_freed.next = false;
            self.registers.host_link.spawn_errors.next = bits::<4>(0);
            if self.spawner.is_there() {
                self.registers.host_link.issue.next =
                    self.dispatch.trace_issue.valid.val() & !self.dispatch.start_spawned.val();
                self.registers.host_link.slot_freed.next = self.spawner.trace_complete_valid.val();
                self.registers.host_link.spawn_errors.next =
                    bit_cast::<4, 2>(self.spawner.control.overruns.val().get_bits::<2>(0))
                        | (bit_cast::<4, 2>(self.spawner.control.rejected.val().get_bits::<2>(0))
                            << bits::<3>(2));
            }
            let mut faulted = false;
            for i in 0..self._cores {
                faulted = faulted || self.core[i].fault.valid.val();
            }
            self.registers.host_link.fault.next = faulted;
            self.command.invalidate.next = self.registers.memory.instructions.val();
            self.command.invalidate_data.next = self.registers.memory.data.val();
            self.command.cycle.next = self.registers.time.cycle.val();
            connect!(self.command.read, self.memory.read[self._cores]);
            connect!(self.command.write, self.write_merge.stores);
            if self.command.watched.is_there() {
                for c in 0..self._watched {
                    connect!(self.command.watched[c], self.memory.watched[c]);
                    self.command.hit[c].next = self.memory.hit[c].val();
                }
            }
            if self.command.page.is_there() {
                self.command.busy_jobs.next = bits::<16>(0);
                self.command.freed_jobs.next = bits::<16>(0);
                self.command.raised.next = self.registers.host_link.events.val();
                // Without a thread spawner there is no page.
                self.command.page.refused.next = true;
                if self.spawner.is_there() && self.spawner.store.is_there() {
                    self.command.busy_jobs.next = self.spawner.busy.val();
                    if self.spawner.trace_complete_valid.val() {
                        self.command.freed_jobs.next =
                            bits::<16>(1) << self.spawner.trace_complete_slot.val();
                    }
                    // An atomic operation, whose tag has bit 5 set, is no store.
                    self.spawner.store.valid.next = self.command.write.valid.val()
                        & self.write_merge.stores.ready.val()
                        & !self.command.write.tag.val().get_bit(5);
                    self.spawner.store.line.next = self.command.write.line.val();
                    self.spawner.store.word.next = self.command.write.data.val().get_bits::<32>(0);
                    self.spawner.store.strobe.next = self.command.write.strobe.val();
                    self.spawner.hold.next = !self.registers.command.run.val().any();
                    self.spawner.page_move.valid.next = self.command.page.valid.val();
                    self.spawner.page_move.address.next = self.command.page.address.val();
                    self.command.page.refused.next = self.spawner.page_move.refused.val();
                }
            }
        }
        if self.trace_cp.is_there() {
            connect!(*self.trace_cp, *self.command.trace);
        }

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
            Axi4Master::link(&mut self.m_axi[i], &mut self.memory.m_axi[i]);
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

        // Network functions: each core runs with a context of its own.
        if self.core_owner.is_there() {
            connect!(self.registers.functions.context, self.context_table.access);
            connect!(self.registers.functions.cores, self.core_owner.assignment);
            connect!(self.registers.functions.chain, *self.dispatch.function_links);
            self.dispatch.ring_slots_log2.next = self.registers.configuration.ring_slots_log2.val();
            connect!(self.context_table.written, self.core_owner.written);
            self.context_table.copy_function.next = self.core_owner.copy_function.val();
            self.context_table.copy_word.next = self.core_owner.copy_word.val();
            self.core_owner.copy_data.next = self.context_table.copy_data.val();
            connect!(*self.trace_hop, *self.dispatch.trace_hop);
            for i in 0..self._cores {
                self.core_context[i].registers.entry.next = self.registers.configuration.kernel_entry.val();
                self.core_context[i].registers.argument.next = self.registers.configuration.argument.val();
                self.core_context[i].registers.class.next = self.registers.configuration.kernel_class.val();
                self.core_context[i].registers.stack_base.next =
                    self.registers.configuration.stack_base.val();
                self.core_context[i].registers.read_base.next = self.registers.windows.read_1_base.val();
                self.core_context[i].registers.read_size.next = self.registers.windows.read_1_size.val();
                self.core_context[i].registers.write_base.next = self.registers.windows.write_1_base.val();
                self.core_context[i].registers.write_size.next = self.registers.windows.write_1_size.val();
                self.core_context[i].registers.watchdog.next = self.registers.configuration.watchdog.val();
                self.core_context[i].registers.mcw.next = self.registers.configuration.mcw.val();
                connect!(self.registers.functions.first_guards, self.core_context[i].registers.guards);
                connect!(self.core_context[i].context.guards, *self.core[i].guards);
                connect!(self.core_owner.rows[i], *self.core[i].clear);
                self.core_context[i].first.next = self.core_owner.first[i].val();
                self.core_context[i].take.next = self.core_owner.take[i].val();
                self.core_context[i].word.next = self.core_owner.word.val();
                self.core_context[i].data.next = self.core_owner.data.val();
                self.core[i].setup.kernel_entry.next = self.core_context[i].context.entry.val();
                self.core[i].setup.argument.next = self.core_context[i].context.argument.val();
                self.core[i].setup.kernel_class.next = self.core_context[i].context.class.val();
                self.core[i].setup.stack_base.next = self.core_context[i].context.stack_base.val();
                self.core[i].windows.read_1_base.next = self.core_context[i].context.read_base.val();
                self.core[i].windows.read_1_size.next = self.core_context[i].context.read_size.val();
                self.core[i].windows.write_1_base.next = self.core_context[i].context.write_base.val();
                self.core[i].windows.write_1_size.next = self.core_context[i].context.write_size.val();
                self.core[i].watchdog_limit.next = self.core_context[i].context.watchdog.val();
                self.core[i].invalidate.next =
                    self.registers.memory.instructions.val() | self.core_owner.drop[i].val();
                self.core[i].invalidate_data.next = drop_lines | self.core_owner.drop[i].val();
                self.core[i].start_lanes.next = self.dispatch.start_lanes.val();
                connect!(*self.core[i].finished, self.dispatch.finished[i]);
                self.dispatch.function_core[i].open.next = self.core_owner.open[i].val();
                self.dispatch.function_core[i].function.next = self.core_owner.function[i].val();
                self.dispatch.function_core[i].mcw.next = self.core_context[i].context.mcw.val();
                self.dispatch.function_core[i].class.next = self.core_context[i].context.class.val();
                self.core_owner.idle[i].next =
                    self.dispatch.function_core[i].idle.val() & !self.core[i].fault.valid.val();
                self.faults.core_function[i].next = self.core_owner.function[i].val();
            }
            connect!(*self.dispatch.function_events, self.function_counters.events);
            connect!(*self.faults.taken_fault, self.function_counters.fault);
            self.dispatch.function_select.next = self.registers.functions.counts.select.val();
            self.function_counters.select.next = self.registers.functions.counts.select.val();
            self.registers.functions.counts.queued.next = self.dispatch.function_queued.val();
            self.registers.functions.counts.peak.next = self.dispatch.function_peak.val();
            self.registers.functions.counts.visits.next = self.function_counters.visits.val();
            self.registers.functions.counts.lanes.next = self.function_counters.lanes.val();
            self.registers.functions.counts.forwarded.next = self.function_counters.forwarded.val();
            self.registers.functions.counts.dropped.next = self.function_counters.dropped.val();
            self.registers.functions.counts.faulted.next = self.function_counters.faulted.val();
            self.registers.functions.fault_function.next = self.faults.oldest_function.val();
        }
        if self.dispatch.function_edges.is_there() {
            connect!(self.registers.branches.edges, *self.dispatch.function_edges);
            self.registers.branches.select.next = self.registers.functions.counts.select.val();
            for i in 0..self._cores {
                self.dispatch.finished_codes[i].next = self.core[i].finished_codes.val();
            }
        }
        if self.core[0].atomic_answer.is_there() {
            for i in 0..self._cores {
                connect!(*self.core[i].atomic_answer, self.memory.atomic_answer[i]);
                connect!(*self.core[i].reservation_end, self.memory.reservation_end[i]);
            }
        }
        if self.command.is_there() && self.command.atomic_answer.is_there() {
            connect!(*self.command.atomic_answer, self.memory.atomic_answer[self._cores]);
            connect!(*self.command.reservation_end, self.memory.reservation_end[self._cores]);
        }
        if self.network.is_there() && self.write_merge.is_there() && !self.command.is_there() {
            self.memory.reservation_end[self._cores].valid.next = false;
            self.memory.reservation_end[self._cores].left.next = false;
            self.memory.reservation_end[self._cores].slot.next = bits::<5>(0);
        }

        // Retire trace
        if self.trace_formed.is_there() {
            connect!(*self.trace_formed, *self.dispatch.trace_formed);
        }
        if self.trace.is_there() {
            for i in 0..self._cores {
                connect!(self.trace[i], *self.core[i].trace);
            }
        }

        // Load counters
        if self.loads.is_there() {
            connect!(*self.registers.load_counters, self.loads.counters);
            self.loads.core_select.next = self.registers.configuration.core_select.val();
            connect!(*self.dispatch.formed_by, self.loads.formed_by);
            self.loads.start.next = self.dispatch.trace_issue.valid.val();
            self.loads.finish.next = self.dispatch.trace_finish.valid.val();
            self.loads.commit.next = self.dispatch.trace_commit.valid.val();
            self.loads.tasks.next = self.dispatch.task_level.val();
            for i in 0..self._cores {
                self.loads.line_hit[i].next = self.core[i].line_hit.val();
            }
            if self.spawner.is_there() {
                self.loads.start_spawned.next = self.dispatch.start_spawned.val();
            }
            if self.ports.is_there() {
                self.loads.ring.next = self.ports.occupied.val();
            }
        }

        // Trace buffer
        if self.buffer.is_there() {
            self.buffer.cycle.next = self.registers.time.cycle.val();
            connect!(self.dispatch.trace_issue, self.buffer.issue);
            connect!(self.dispatch.trace_finish, self.buffer.finish);
            connect!(self.dispatch.trace_commit, self.buffer.commit);
            for i in 0..self._cores {
                connect!(*self.core[i].told, self.buffer.core[i]);
            }
            connect!(*self.trace_buffer, self.buffer.byte);
        }
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
