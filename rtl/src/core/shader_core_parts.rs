//! What the stages and units of a core are connected to.

use super::ShaderCore;
use hermes_hdl::prelude::*;

impl<const LANES: usize> ShaderCore<LANES> {
    /// Warps of spawned threads, and lanes of theirs that trap.
    #[hdl_gen]
    pub(super) fn run_spawned(&mut self) {
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
    }

    /// Stages S, C and I.
    #[hdl_gen]
    pub(super) fn fetch(&mut self, exchanged: Bit) {
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
    }

    /// Stage D: the instruction, its watchdog and waits, the addresses of its registers.
    #[hdl_gen]
    pub(super) fn decode(&mut self) {
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
    }

    /// The hazards of the instruction in D, and its number.
    #[hdl_gen]
    pub(super) fn check_hazards(&mut self, exchanged: Bit) {
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
    }

    /// Stages R and X in the lanes, and the windows.
    #[hdl_gen]
    pub(super) fn execute(&mut self, checked_as_store: Bit) {
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
    }

    /// Stacks in the local window, stages R and W.
    #[hdl_gen]
    pub(super) fn write_back(&mut self) {
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
    }

    /// Data memory, and loads that failed.
    #[hdl_gen]
    pub(super) fn access_memory(&mut self) {
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
    }

    /// The counters.
    #[hdl_gen]
    pub(super) fn count(&mut self) {
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
    }

    /// Network functions: who survives, and what the warp may do.
    #[hdl_gen]
    pub(super) fn guard(&mut self) {
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
            self.write.keeps_verdict.next = bits::<LANES>(0);
            if self.guards.keeps_verdict.val() {
                self.write.keeps_verdict.next = !drops;
            }
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
    }

    /// The retire trace, and what the trace buffer is told.
    #[hdl_gen]
    pub(super) fn tell(&mut self) {
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
