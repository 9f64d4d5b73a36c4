//! What the parts of the array are connected to.

use super::HermesTop;
use hermes_hdl::prelude::*;

impl<const LANES: usize> HermesTop<LANES> {
    /// Memory requests of the command processor and the thread spawner.
    #[hdl_gen]
    pub(super) fn merge_writes(&mut self) {
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
    }

    /// The network interface.
    #[hdl_gen]
    pub(super) fn network(&mut self) {
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
    }

    /// The thread spawner.
    #[hdl_gen]
    pub(super) fn spawn(&mut self) {
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
    }

    /// The command processor.
    #[hdl_gen]
    pub(super) fn command(&mut self) {
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
    }

    /// Network functions, and atomic operations of the cores.
    #[hdl_gen]
    pub(super) fn run_functions(&mut self, drop_lines: Bit) {
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
    }

    /// Retire trace, load counters, trace buffer.
    #[hdl_gen]
    pub(super) fn tell(&mut self) {
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
