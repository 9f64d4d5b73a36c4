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
#[new(config: &Config, traced: usize, ports: usize, spawns: usize, captures: usize, commands: usize, ulis: usize, command_traces: usize, networks: usize, windows: usize, functions: usize)]
pub struct HermesTop<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,

    /// The registers.
    pub s_axil: AxiLite,

    /// To the host: interrupt (HOST_IRQ_PENDING). Only with a command processor.
    #[count(commands)]
    pub irq: Vec<Signal<Out, Bit>>,

    /// A thread ended with a fault (FAULTS), or memory answered with an error (BUS_ERRORS), since
    /// the reset. Only if the configuration has it.
    #[count(usize::from(config.fault_output))]
    pub fault: Vec<Signal<Out, Bit>>,

    /// AXI4 masters: the channels to memory.
    #[count(config.channels)]
    pub m_axi: Vec<Axi4Master>,

    // Packet ports: only if the configuration has them
    /// Frames that enter.
    #[count(ports)]
    pub s_axis_rx: Vec<StreamIn>,
    /// Frames of committed packets; damaged if a line of the frame could not be read.
    #[count(ports)]
    pub m_axis_tx: Vec<StreamOut>,

    // Network interface: only if the configuration has it
    /// Frames of RoCEv2 from other nodes.
    #[count(networks)]
    pub s_axis_net: Vec<StreamIn>,
    /// Frames of RoCEv2 to other nodes.
    #[count(networks)]
    pub m_axis_net: Vec<StreamOut>,

    // Trace: one-cycle events
    /// A warp was issued.
    pub trace_issue: WarpTrace,
    /// A warp finished.
    pub trace_finish: WarpEvent,
    /// A warp was committed.
    pub trace_commit: WarpTrace,

    /// A frame at the packet ports found no slot and was dropped: the cycle after the one in which
    /// its last beat was taken. Only of ports that can drop frames.
    #[count(usize::from(config.drop_when_full))]
    pub trace_drop: Vec<Signal<Out, Bit>>,

    /// The warp that was issued is one of spawned threads, and the packetIdx the number of its
    /// first one: only with a thread spawner, as the next.
    #[count(spawns)]
    pub trace_issue_spawned: Vec<Signal<Out, Bit>>,
    /// Slot of its job.
    #[count(spawns)]
    pub trace_issue_job: Vec<Signal<Out, JobSlot>>,
    /// The warp that finished is one of spawned threads.
    #[count(spawns)]
    pub trace_finish_spawned: Vec<Signal<Out, Bit>>,
    /// A job was triggered.
    #[count(spawns)]
    pub trace_spawn_trigger_valid: Vec<Signal<Out, Bit>>,
    /// Its slot.
    #[count(spawns)]
    pub trace_spawn_trigger_slot: Vec<Signal<Out, Bits<4>>>,
    /// A job is complete: its completion word is visible, and its slot is free.
    #[count(spawns)]
    pub trace_spawn_complete_valid: Vec<Signal<Out, Bit>>,
    /// Its slot.
    #[count(spawns)]
    pub trace_spawn_complete_slot: Vec<Signal<Out, Bits<4>>>,

    /// A warp starts at a network function that is not its first: only with network functions.
    #[count(functions)]
    pub trace_hop: Vec<HopTrace>,
    /// The trace buffer, for the host (see [`TraceBuffer`]): only if the configuration has one.
    #[count(usize::from(config.trace_buffer > 0))]
    pub trace_buffer: Vec<MemoryByte>,
    /// The warp that was formed and waits for its issue: only if the configuration has the retire
    /// trace.
    #[count(usize::from(config.trace))]
    pub trace_formed: Vec<FormedTrace>,
    /// The retire trace of each core, core 0 in the lowest bits: only if the configuration has it.
    #[count(traced)]
    pub trace: Vec<Trace>,
    /// The retire trace of the command processor: only if the configuration has both.
    #[count(command_traces)]
    pub trace_cp: Vec<CommandTrace>,

    #[init(RegisterFile::new(config))]
    registers: RegisterFile,
    #[init(Dispatch::new(config.into()))]
    dispatch: Dispatch<10, 11>,
    #[init(if functions == 0 { FaultCollector::new(config.cores, spawns) } else { FaultCollector::with_functions(config.cores) })]
    faults: FaultCollector,
    #[init(MemorySystem::watched(MemorySizes::of(config), Watchers::of(config)))]
    memory: MemorySystem,
    #[init((0..config.cores).map(|_| ShaderCore::new(config.core_options())).collect())]
    core: Vec<ShaderCore<LANES>>,
    #[init((0..ports).map(|_| PacketPorts::new(usize::from(config.drop_when_full), usize::from(config.load_counters))).collect())]
    ports: Vec<PacketPorts>,
    #[init((0..spawns).map(|_| ThreadSpawner::new(config.cores, config.lanes, config.spawn_slots, captures)).collect())]
    spawner: Vec<ThreadSpawner>,
    #[init((0..spawns).map(|_| TrapCount::new(config.cores)).collect())]
    trap_count: Vec<TrapCount>,
    #[init(command(config))]
    command: Vec<CommandProcessor>,
    #[count(usize::from(config.command_requester()))]
    write_merge: Vec<WriteMerge>,
    #[init((0..networks).map(|_| NetInterface::new(InterfaceSizes::of(config))).collect())]
    network: Vec<NetInterface>,
    #[init((0..windows).map(|_| NetWindow::new(config.command_threads, config.net_rings_log2(), config.net_queue_entries)).collect())]
    window: Vec<NetWindow>,
    #[init((0..config.cores as u64).map(|core| Constant::new(core.into())).collect())]
    number: Vec<Constant<Bits<5>>>,
    #[count(functions)]
    context_table: Vec<ContextTable>,
    #[init((0..functions).map(|_| CoreOwner::new(config.cores, config.network_functions, clear_rows(config.warps, config.lanes))).collect())]
    core_owner: Vec<CoreOwner>,
    #[count(functions * config.cores)]
    core_context: Vec<CoreContext>,
    #[count(functions)]
    function_counters: Vec<FunctionCounters>,
    bus_errors: Register<Bits<32>>,
    #[init(trace_buffer(config))]
    buffer: Vec<TraceBuffer<LANES>>,
    #[init((0..usize::from(config.load_counters)).map(|_| LoadCounters::new(config.cores, spawns, ports)).collect())]
    loads: Vec<LoadCounters<10, 11>>,
    #[init(config.cores)]
    _cores: usize,
    #[init(ports)]
    _ports: usize,
    #[init(usize::from(config.drop_when_full))]
    _drops: usize,
    #[init(config.network_requester())]
    _network_requester: usize,
    #[init(config.network_requester() + networks)]
    _port_requester: usize,
    #[init(usize::from(config.command_requester()))]
    _requesters: usize,
    #[init(spawns)]
    _spawns: usize,
    /// Thread spawners that see the stores of the command processor.
    #[init(captures)]
    _captures: usize,
    #[init(ulis)]
    _ulis: usize,
    #[init(config.command_threads * config.uli_channels)]
    _watched: usize,
    #[init(commands)]
    _commands: usize,
    #[init(command_traces)]
    _command_traces: usize,
    #[init(networks)]
    _networks: usize,
    #[init(windows)]
    _windows: usize,
    /// Command processors whose accesses go to the registers alone.
    #[init(commands - windows)]
    _plain_commands: usize,
    /// Banks whose writes the command queues see.
    #[init(windows * config.l2_banks)]
    _tapped_banks: usize,
    /// Banks whose writes end waits of warps.
    #[init(networks * config.l2_banks)]
    _folded_banks: usize,
    #[init(functions)]
    _functions: usize,
    #[init(usize::from(config.function_branches))]
    _branches: usize,
    #[init(config.channels)]
    _channels: usize,
    #[init(traced)]
    _traces: usize,
    #[init(usize::from(config.trace))]
    _formed_traces: usize,
    #[init(usize::from(config.adaptive_timeout))]
    _adaptive_timeouts: usize,
    #[init(usize::from(config.trace_buffer > 0))]
    _buffers: usize,
    #[init(usize::from(config.load_counters))]
    _loads: usize,
    #[init(usize::from(config.fault_output))]
    _fault_outputs: usize,
    #[init(if config.atomics { config.cores } else { 0 })]
    _atomic_cores: usize,
    #[init(if config.atomics { commands } else { 0 })]
    _atomic_commands: usize,
    /// Requesters behind the cores without command processor, in front of a network interface.
    #[init(networks * (usize::from(config.command_requester()) - commands))]
    _plain_requesters: usize,
}

/// The command processor, if there is one.
fn command(config: &Config) -> Vec<CommandProcessor> {
    (0..usize::from(config.command_threads > 0)).map(|_| CommandProcessor::of(config)).collect()
}

/// The trace buffer, if there is one.
fn trace_buffer<const LANES: usize>(config: &Config) -> Vec<TraceBuffer<LANES>> {
    let entries = (config.trace_buffer > 0).then_some(config.trace_buffer);
    entries.iter().map(|entries| TraceBuffer::new(config.cores, entries.ilog2() as usize)).collect()
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
        let traced = if config.trace { config.cores } else { 0 };
        let ports = usize::from(config.packet_ports);
        let spawns = usize::from(config.spawn_slots > 0);
        let commands = usize::from(config.command_threads > 0);
        let ulis = usize::from(config.uli_channels > 0);
        let captures = ulis * spawns;
        let command_traces = if config.trace { commands } else { 0 };
        let networks = usize::from(config.network);
        let windows = commands * networks;
        let functions = usize::from(config.network_functions > 0);
        Self::wired(
            config,
            traced,
            ports,
            spawns,
            captures,
            commands,
            ulis,
            command_traces,
            networks,
            windows,
            functions,
        )
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

        for k in 0..self._adaptive_timeouts {
            connect!(self.registers.timeout[k], *self.dispatch.timeout);
        }

        // Packet ports: they stand between the host's packet counts and the task FIFO, and are the
        // last requester of memory.
        let mut drop_lines = self.registers.memory.data.val();
        for i in 0..self._ports {
            connect!(self.registers.packet_ports[i], self.ports[i].control);
            connect!(self.registers.port_counters[i], self.ports[i].counters);
            for k in 0..self._drops {
                connect!(self.registers.port_drops[k], self.ports[i].drops[k]);
                self.trace_drop[k].next = self.ports[i].drop_ended[k].val();
            }
            self.ports[i].cycle.next = self.registers.time.cycle.val().get_bits::<32>(0);
            connect!(self.registers.configuration, self.ports[i].ring);
            self.ports[i].committed.next = self.dispatch.progress.committed_packets.val();
            connect!(self.registers.tasks, self.ports[i].host_task);
            connect!(self.ports[i].task, self.dispatch.task);
            drop_lines = self.registers.memory.data.val() || self.ports[i].drop_caches.val();
            connect!(self.s_axis_rx[i], self.ports[i].rx);
            connect!(self.m_axis_tx[i], self.ports[i].tx);
            connect!(self.ports[i].read, self.memory.read[self._port_requester + i]);
            connect!(self.ports[i].write, self.memory.write[self._port_requester + i]);
        }

        // The requester behind the cores: command processor and thread spawner
        for k in 0..self._requesters {
            self.memory.read[self._cores + k].valid.next = false;
            self.memory.read[self._cores + k].line.next = bits::<26>(0);
            self.memory.read[self._cores + k].tag.next = bits::<7>(0);
            connect!(self.write_merge[k].memory, self.memory.write[self._cores + k]);
            self.write_merge[k].stores.valid.next = false;
            self.write_merge[k].stores.line.next = bits::<26>(0);
            self.write_merge[k].stores.data.next = bits::<512>(0);
            self.write_merge[k].stores.strobe.next = bits::<64>(0);
            self.write_merge[k].stores.tag.next = bits::<6>(0);
            self.write_merge[k].completions.valid.next = false;
            self.write_merge[k].completions.line.next = bits::<26>(0);
            self.write_merge[k].completions.data.next = bits::<512>(0);
            self.write_merge[k].completions.strobe.next = bits::<64>(0);
            self.write_merge[k].completions.tag.next = bits::<6>(0);
        }

        // Network interface: the requester behind that
        for k in 0..self._networks {
            connect!(self.network[k].read, self.memory.read[self._network_requester + k]);
            connect!(self.network[k].write, self.memory.write[self._network_requester + k]);
            connect!(self.network[k].atomic_answer, self.memory.atomic_answer[self._network_requester + k]);
            self.network[k].written_high.next = self.memory.written_high[k].val();
            connect!(self.registers.network[k].interface, self.network[k].control);
            connect!(self.registers.network[k].lock, self.memory.line_lock[k]);
            self.registers.network[k].read_hits.next =
                self.memory.counters[self._network_requester + k].read_hits.val();
            self.registers.network[k].read_misses.next =
                self.memory.counters[self._network_requester + k].read_misses.val();
            self.registers.network[k].command_read_hits.next = bits::<32>(0);
            self.registers.network[k].command_read_misses.next = bits::<32>(0);
            for j in 0..self._requesters {
                self.registers.network[k].command_read_hits.next =
                    self.memory.counters[self._cores + j].read_hits.val();
                self.registers.network[k].command_read_misses.next =
                    self.memory.counters[self._cores + j].read_misses.val();
            }
            for i in 0..self._cores {
                for b in 0..self._folded_banks {
                    connect!(self.memory.written_line[b], self.core[i].written_line[b]);
                }
            }
            for b in 0..self._tapped_banks {
                connect!(self.memory.tap[b], self.network[k].tap[b]);
            }
            connect!(self.s_axis_net[k], self.network[k].rx);
            connect!(self.m_axis_net[k], self.network[k].tx);
        }

        // Thread spawner
        for k in 0..self._spawns {
            connect!(self.registers.spawn[k].spawner, self.spawner[k].control);
            self.registers.spawn[k].fault_job.next = self.faults.oldest_job[k].val();
            self.spawner[k].kernel_class.next = self.registers.configuration.kernel_class.val();
            connect!(self.spawner[k].warp, *self.dispatch.spawn);
            self.dispatch.spawn_mcw.next = self.registers.spawn[k].mcw.val();
            connect!(*self.dispatch.spawned_finish, self.spawner[k].finish);
            self.spawner[k].begins.next = self.dispatch.start_spawned.val();
            self.spawner[k].begins_job.next = self.dispatch.start_job.val();
            for i in 0..self._cores {
                connect!(self.spawner[k].start, *self.core[i].start_job);
                self.core[i].spawn_watchdog_limit.next = self.registers.spawn[k].watchdog.val();
                self.dispatch.finish_faulted[i].next = self.core[i].finish_faulted.val();
                self.faults.fault_job[i].next = self.core[i].fault_job.val();
                connect!(self.registers.spawn[k].traps, *self.core[i].trap_control);
                self.trap_count[k].lanes[i].next = self.core[i].trapped.val();
            }
            self.registers.spawn[k].trapped.next = self.trap_count[k].total.val();
            connect!(self.spawner[k].write, self.write_merge[k].completions);
            self.trace_issue_spawned[k].next = self.dispatch.start_spawned.val();
            self.trace_issue_job[k].next = self.dispatch.start_job.val();
            self.trace_finish_spawned[k].next = self.dispatch.trace_finish_spawned.val();
            self.trace_spawn_trigger_valid[k].next = self.spawner[k].trace_trigger_valid.val();
            self.trace_spawn_trigger_slot[k].next = self.spawner[k].trace_trigger_slot.val();
            self.trace_spawn_complete_valid[k].next = self.spawner[k].trace_complete_valid.val();
            self.trace_spawn_complete_slot[k].next = self.spawner[k].trace_complete_slot.val();
        }

        // Command processor
        for k in 0..self._commands {
            connect!(self.registers.command[k], self.command[k].registers);
            connect!(self.registers.debug[k], self.command[k].debugging);
            for p in 0..self._plain_commands {
                connect!(self.registers.access[p], self.command[p].access);
            }
            for w in 0..self._windows {
                connect!(self.registers.access[w], self.window[w].registers);
                connect!(self.command[w].access, self.window[w].access);
                connect!(self.command[w].window[0], self.window[w].select);
                connect!(self.window[w].posts, self.network[w].window[0]);
                self.network[w].awake[0].next = self.command[w].awake[0].val();
                for u in 0..self._ulis {
                    self.command[w].staged[u].next = self.network[w].stage[0].stage.val();
                }
                connect!(self.window[w].stage, self.network[w].stage[0]);
            }
            self.registers.host_link[k].by_command.next = self.registers.by_command[k].val();
            self.registers.host_link[k].stopped.next = self.command[k].registers.stopped.val();
            self.registers.host_link[k].locked_up.next = self.command[k].registers.locked.val();
            self.command[k].external.next = self.registers.host_link[k].external.val();
            self.command[k].doorbell.next = self.registers.host_link[k].doorbell.val();
            self.irq[k].next = self.registers.host_link[k].irq.val();
            self.command[k].mailbox_full.next = bits::<2>(0)
                .replace_bit(0, self.registers.host_link[k].mailbox_in_full.val())
                .replace_bit(1, self.registers.host_link[k].mailbox_out_full.val());
            // Packets that wait and that are committed
            self.registers.host_link[k].push_count.next = self.registers.tasks.count.val();
            self.registers.host_link[k].push.next =
                self.registers.tasks.valid.val() & self.dispatch.task.ready.val();
            for p in 0..self._ports {
                self.registers.host_link[k].push_count.next = self.ports[p].task.count.val();
                self.registers.host_link[k].push.next =
                    self.ports[p].task.valid.val() & self.dispatch.task.ready.val();
            }
            self.registers.host_link[k].issue.next = self.dispatch.trace_issue.valid.val();
            self.registers.host_link[k].issue_count.next = self.dispatch.trace_issue.count.val();
            self.registers.host_link[k].committed.next = self.dispatch.progress.committed_packets.val();
            // Events of the thread spawner and of the cores
            self.registers.host_link[k].slot_freed.next = false;
            self.registers.host_link[k].spawn_errors.next = bits::<4>(0);
            for j in 0..self._spawns {
                self.registers.host_link[k].issue.next =
                    self.dispatch.trace_issue.valid.val() & !self.dispatch.start_spawned.val();
                self.registers.host_link[k].slot_freed.next = self.spawner[j].trace_complete_valid.val();
                self.registers.host_link[k].spawn_errors.next =
                    bit_cast::<4, 2>(self.spawner[j].control.overruns.val().get_bits::<2>(0))
                        | (bit_cast::<4, 2>(self.spawner[j].control.rejected.val().get_bits::<2>(0))
                            << bits::<3>(2));
            }
            let mut faulted = false;
            for i in 0..self._cores {
                faulted = faulted || self.core[i].fault.valid.val();
            }
            self.registers.host_link[k].fault.next = faulted;
            self.command[k].invalidate.next = self.registers.memory.instructions.val();
            self.command[k].invalidate_data.next = self.registers.memory.data.val();
            self.command[k].cycle.next = self.registers.time.cycle.val();
            connect!(self.command[k].read, self.memory.read[self._cores + k]);
            connect!(self.command[k].write, self.write_merge[k].stores);
            for c in 0..self._watched {
                connect!(self.command[k].watched[c], self.memory.watched[c]);
                self.command[k].hit[c].next = self.memory.hit[c].val();
            }
            for u in 0..self._ulis {
                self.command[k].busy_jobs[u].next = bits::<16>(0);
                self.command[k].freed_jobs[u].next = bits::<16>(0);
                self.command[k].raised[u].next = self.registers.host_link[k].events.val();
                // Without a thread spawner there is no page.
                self.command[k].page[u].refused.next = true;
                for j in 0..self._captures {
                    self.command[k].busy_jobs[u].next = self.spawner[j].busy.val();
                    if self.spawner[j].trace_complete_valid.val() {
                        self.command[k].freed_jobs[u].next =
                            bits::<16>(1) << self.spawner[j].trace_complete_slot.val();
                    }
                    // An atomic operation, whose tag has bit 5 set, is no store.
                    self.spawner[j].store[0].valid.next = self.command[k].write.valid.val()
                        & self.write_merge[k].stores.ready.val()
                        & !self.command[k].write.tag.val().get_bit(5);
                    self.spawner[j].store[0].line.next = self.command[k].write.line.val();
                    self.spawner[j].store[0].word.next = self.command[k].write.data.val().get_bits::<32>(0);
                    self.spawner[j].store[0].strobe.next = self.command[k].write.strobe.val();
                    self.spawner[j].hold[0].next = !self.registers.command[k].run.val().any();
                    self.spawner[j].page_move[0].valid.next = self.command[k].page[u].valid.val();
                    self.spawner[j].page_move[0].address.next = self.command[k].page[u].address.val();
                    self.command[k].page[u].refused.next = self.spawner[j].page_move[0].refused.val();
                }
            }
        }
        for k in 0..self._command_traces {
            connect!(self.trace_cp[k], self.command[k].trace[0]);
        }

        // Faults and bus errors
        connect!(self.registers.faults, self.faults.registers);
        for k in 0..self._commands {
            // Only its owner removes a record.
            self.faults.registers.pop.next = self.registers.faults.pop.val()
                & (self.registers.was_by_command[k].val() == self.registers.command[k].firmware_faults.val());
        }
        self.bus_errors.d.next = self.bus_errors.q.val() + bit_cast::<32, 4>(self.memory.bus_errors.val());
        self.registers.memory.bus_errors.next = self.bus_errors.q.val();
        for k in 0..self._fault_outputs {
            self.fault[k].next = self.faults.registers.faults.val().any() | self.bus_errors.q.val().any();
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
            for k in 0..self._spawns {
                self.core[i].invalidate_data.next = drop_lines | self.spawner[k].acquire.val().get_bit(i);
            }
            connect!(self.registers.counters[i], self.core[i].counters);
            connect!(self.registers.lost[i], self.core[i].lost);
            connect!(self.registers.l2[i], self.memory.counters[i]);
        }

        // Network functions: each core runs with a context of its own.
        for k in 0..self._functions {
            connect!(self.registers.functions[k].context, self.context_table[k].access);
            connect!(self.registers.functions[k].cores, self.core_owner[k].assignment);
            connect!(self.registers.functions[k].chain, *self.dispatch.function_links);
            self.dispatch.ring_slots_log2.next = self.registers.configuration.ring_slots_log2.val();
            connect!(self.context_table[k].written, self.core_owner[k].written);
            self.context_table[k].copy_function.next = self.core_owner[k].copy_function.val();
            self.context_table[k].copy_word.next = self.core_owner[k].copy_word.val();
            self.core_owner[k].copy_data.next = self.context_table[k].copy_data.val();
            connect!(self.trace_hop[k], *self.dispatch.trace_hop);
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
                connect!(self.registers.functions[k].first_guards, self.core_context[i].registers.guards);
                connect!(self.core_context[i].context.guards, *self.core[i].guards);
                connect!(self.core_owner[k].rows[i], *self.core[i].clear);
                self.core_context[i].first.next = self.core_owner[k].first[i].val();
                self.core_context[i].take.next = self.core_owner[k].take[i].val();
                self.core_context[i].word.next = self.core_owner[k].word.val();
                self.core_context[i].data.next = self.core_owner[k].data.val();
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
                    self.registers.memory.instructions.val() | self.core_owner[k].drop[i].val();
                self.core[i].invalidate_data.next = drop_lines | self.core_owner[k].drop[i].val();
                self.core[i].start_lanes.next = self.dispatch.start_lanes.val();
                connect!(*self.core[i].finished, self.dispatch.finished[i]);
                self.dispatch.function_core[i].open.next = self.core_owner[k].open[i].val();
                self.dispatch.function_core[i].function.next = self.core_owner[k].function[i].val();
                self.dispatch.function_core[i].mcw.next = self.core_context[i].context.mcw.val();
                self.dispatch.function_core[i].class.next = self.core_context[i].context.class.val();
                self.core_owner[k].idle[i].next =
                    self.dispatch.function_core[i].idle.val() & !self.core[i].fault.valid.val();
                self.faults.core_function[i].next = self.core_owner[k].function[i].val();
            }
            connect!(*self.dispatch.function_events, self.function_counters[k].events);
            connect!(self.faults.taken_fault[k], self.function_counters[k].fault);
            self.dispatch.function_select.next = self.registers.functions[k].counts.select.val();
            self.function_counters[k].select.next = self.registers.functions[k].counts.select.val();
            self.registers.functions[k].counts.queued.next = self.dispatch.function_queued.val();
            self.registers.functions[k].counts.peak.next = self.dispatch.function_peak.val();
            self.registers.functions[k].counts.visits.next = self.function_counters[k].visits.val();
            self.registers.functions[k].counts.lanes.next = self.function_counters[k].lanes.val();
            self.registers.functions[k].counts.forwarded.next = self.function_counters[k].forwarded.val();
            self.registers.functions[k].counts.dropped.next = self.function_counters[k].dropped.val();
            self.registers.functions[k].counts.faulted.next = self.function_counters[k].faulted.val();
            self.registers.functions[k].fault_function.next = self.faults.oldest_function[k].val();
        }
        for k in 0..self._branches {
            connect!(self.registers.branches[k].edges, *self.dispatch.function_edges);
            self.registers.branches[k].select.next = self.registers.functions[k].counts.select.val();
            for i in 0..self._cores {
                self.dispatch.finished_codes[i].next = self.core[i].finished_codes.val();
            }
        }
        for i in 0..self._atomic_cores {
            connect!(*self.core[i].atomic_answer, self.memory.atomic_answer[i]);
            connect!(*self.core[i].reservation_end, self.memory.reservation_end[i]);
        }
        for k in 0..self._atomic_commands {
            connect!(self.command[k].atomic_answer[0], self.memory.atomic_answer[self._cores + k]);
            connect!(self.command[k].reservation_end[0], self.memory.reservation_end[self._cores + k]);
        }
        for k in 0..self._plain_requesters {
            self.memory.reservation_end[self._cores + k].valid.next = false;
            self.memory.reservation_end[self._cores + k].left.next = false;
            self.memory.reservation_end[self._cores + k].slot.next = bits::<5>(0);
        }

        // Retire trace
        for k in 0..self._formed_traces {
            connect!(self.trace_formed[k], *self.dispatch.trace_formed);
        }
        for i in 0..self._traces {
            connect!(self.trace[i], *self.core[i].trace);
        }

        // Load counters
        for k in 0..self._loads {
            connect!(self.registers.load_counters[k], self.loads[k].counters);
            self.loads[k].core_select.next = self.registers.configuration.core_select.val();
            connect!(*self.dispatch.formed_by, self.loads[k].formed_by);
            self.loads[k].start.next = self.dispatch.trace_issue.valid.val();
            self.loads[k].finish.next = self.dispatch.trace_finish.valid.val();
            self.loads[k].commit.next = self.dispatch.trace_commit.valid.val();
            self.loads[k].tasks.next = self.dispatch.task_level.val();
            for i in 0..self._cores {
                self.loads[k].line_hit[i].next = self.core[i].line_hit.val();
            }
            for j in 0..self._spawns {
                self.loads[k].start_spawned[j].next = self.dispatch.start_spawned.val();
            }
            for p in 0..self._ports {
                self.loads[k].ring[p].next = self.ports[p].occupied[k].val();
            }
        }

        // Trace buffer
        for k in 0..self._buffers {
            self.buffer[k].cycle.next = self.registers.time.cycle.val();
            connect!(self.dispatch.trace_issue, self.buffer[k].issue);
            connect!(self.dispatch.trace_finish, self.buffer[k].finish);
            connect!(self.dispatch.trace_commit, self.buffer[k].commit);
            for i in 0..self._cores {
                connect!(*self.core[i].told, self.buffer[k].core[i]);
            }
            connect!(self.trace_buffer[k], self.buffer[k].byte);
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
