//! What the stages and units of the command processor are connected to.

use super::CommandPipeline;
use crate::command::csr_map::USER_LEVEL;
use crate::command::{CommandOutcome, CommandResult};
use crate::types::riscv::{csr, csr_access, opcode};
use hermes_hdl::prelude::*;

impl CommandPipeline {
    /// Stages R and X.
    #[hdl_gen]
    pub(super) fn execute(&mut self, drop_executed: Bits<8>, drop_read: Bits<8>, decodes: Bit) {
        // R, X
        self.execute.decode_valid.next = decodes;
        self.execute.decoded.next = self.decode.decoded.val();
        self.execute.decode_rs1.next = self.decode.rs1.val();
        self.execute.decode_rs2.next = self.decode.rs2.val();
        self.execute.drop_read.next = drop_read;
        self.execute.drop_executed.next = drop_executed;
        self.long.lookup_hart.next = self.execute.execute_hart.val();
        self.execute.answer.next = self.long.answer.val();
        self.execute.answer_error.next = self.long.answer_error.val();
        self.execute.answer_word.next = self.long.answer_word.val();
    }

    /// Operations of several cycles, and stores, that begin in stage W.
    #[hdl_gen]
    pub(super) fn start(&mut self, result: CommandResult, outcome: CommandOutcome, hold: Bits<8>) {
        // One access to a device or atomic operation, and one division, for all harts: they take
        // turns.
        self.device_turns.hart.next = result.hart;
        self.device_turns.live.next = outcome.live;
        self.device_turns.turned_away.next = outcome.wait_device;
        self.device_turns.starts.next = outcome.device | outcome.atomic;
        self.divide_turns.hart.next = result.hart;
        self.divide_turns.live.next = outcome.live;
        self.divide_turns.turned_away.next = outcome.wait_divide;
        self.divide_turns.starts.next = outcome.divide;
        self.write.device_free.next = self.long.device_free.val() & !self.device_turns.refused.val();
        self.write.divide_free.next = self.long.divide_free.val() & !self.divide_turns.refused.val();
        self.write.stores_none.next = self.stores.none.val();
        self.write.stores_full.next = self.stores.full.val();
        self.write.answered.next = self.long.answered.val();
        self.execute.write_enable.next = outcome.write;
        self.execute.local_write.next = outcome.local_store;
        self.long.load_valid.next = outcome.load;
        self.long.device_valid.next = outcome.device;
        self.long.device_write.next = result.device_write;
        self.long.atomic_valid.next = outcome.atomic;
        self.long.divide_valid.next = outcome.divide;
        self.long.start_hart.next = result.hart;
        self.long.start_word.next = result.word;
        self.long.start_address.next = result.address;
        self.long.start_data.next = result.data;
        self.long.used.next = outcome.live;
        self.long.hold.next = hold;
        connect!(self.access, self.long.access);
        if self.window.is_there() {
            connect!(self.window, self.long.window);
            self.held.parks.next = self.long.parks.val();
            self.held.here.next = self.long.here.val();
            self.held.soon.next = self.long.soon.val();
        }
        connect!(self.cycle, self.long.cycle);
        connect!(self.doorbell, self.long.doorbell);
        self.stores.push_valid.next = outcome.store;
        self.stores.push_hart.next = result.hart;
        self.stores.push_place.next = result.address.get_bits::<30>(2);
        self.stores.push_data.next = result.data;
        self.stores.push_strobe.next = result.strobe;
    }

    /// What the debugger sees.
    #[hdl_gen]
    pub(super) fn debug(
        &mut self,
        result: CommandResult,
        outcome: CommandOutcome,
        issue_debug: Bit,
        stopped: Bits<8>,
        trapped: Bits<8>,
        with_boundary: Bits<8>,
        selected_pc: Bits<30>,
    ) {
        // Debugging
        connect!(self.debugging, self.debug.registers);
        self.debug.pc.next = selected_pc;
        self.debug.run.next = self.registers.run.val();
        self.debug.stopped.next = stopped;
        self.debug.between.next = with_boundary;
        self.debug.trap.next = trapped;
        self.debug.issue.next = issue_debug;
        self.debug.live.next = outcome.live;
        self.debug.hart.next = result.hart;
        self.debug.executed.next = result.debug;
        self.debug.retire.next = outcome.retire;
        self.debug.exception.next = outcome.exception;
        self.debug.data_write.next =
            outcome.retire & result.csr_write & (result.word.get_bits::<12>(20) == bits::<12>(csr::CP_DATA));
        self.debug.data_value.next = outcome.csr_value;
        self.registers.debug_busy.next = self.debug.busy.val();
        self.registers.debug_error.next = self.debug.error.val();
    }

    /// Fetches, loads, stores and atomic operations.
    #[hdl_gen]
    pub(super) fn access_memory(
        &mut self,
        result: CommandResult,
        outcome: CommandOutcome,
        hold: Bits<8>,
        taken: Bits<8>,
    ) {
        // Memory
        connect!(self.fetch.fetch, self.merge.fetch);
        connect!(self.long.read, self.merge.data);
        connect!(self.read, self.merge.memory);
        if !self.atomic_answer.is_there() {
            connect!(self.line_write, self.stores.write);
        }
        self.long.atomic_busy.next = false;
        self.long.atomic_answer.next = false;
        self.long.atomic_hart.next = bits::<3>(0);
        self.long.atomic_value.next = bits::<32>(0);
        self.long.atomic_error.next = false;
        if self.atomic_answer.is_there() {
            self.atomic.start_valid.next = outcome.atomic;
            self.atomic.start_hart.next = result.hart;
            self.atomic.start_word.next = result.word;
            self.atomic.start_address.next = result.address;
            self.atomic.start_data.next = result.data;
            // What a loop of `lr.w` and `sc.w` does not
            let accesses = result.load
                | result.store
                | result.device
                | result.local_load
                | result.local_store
                | result.page
                | result.leave
                | result.trap_return
                | (result.word.get_bits::<7>(0) == bits::<7>(opcode::MISC_MEM));
            self.atomic.leaves.next = taken | hold;
            if outcome.exception | outcome.restart | (outcome.retire & accesses) {
                self.atomic.leaves.next = taken | hold | (bits::<8>(1) << result.hart);
            }
            connect!(*self.reservation_end, self.atomic.end);
            connect!(self.stores.write, self.atomic.store);
            connect!(self.line_write, self.atomic.write);
            connect!(*self.atomic_answer, self.atomic.atomic_answer);
            self.long.atomic_busy.next = self.atomic.busy.val();
            self.long.atomic_answer.next = self.atomic.answer_valid.val();
            self.long.atomic_hart.next = self.atomic.answer_hart.val();
            self.long.atomic_value.next = self.atomic.answer_value.val();
            self.long.atomic_error.next = self.atomic.answer_error.val();
            self.atomic.answer_ready.next = self.long.atomic_ready.val();
        }
        if self.atomic.is_there() && self.atomic.compare_read.is_there() {
            self.execute.compare_read.next = self.atomic.compare_read.val();
            self.execute.compare_address.next = self.atomic.compare_address.val();
            self.atomic.compare_value.next = self.execute.compare_value.val();
        }
    }

    /// What an instruction in X asks for, and user-level interrupts.
    #[hdl_gen]
    pub(super) fn interrupt(
        &mut self,
        result: CommandResult,
        outcome: CommandOutcome,
        trapped: Bits<8>,
        csr_value: Bits<32>,
    ) {
        // User-level interrupts
        self.execute.asked.next = csr_value;
        if self.cached.is_there() {
            if self.execute.execute_word.val().get_bits::<12>(20) == bits::<12>(csr::MUNCACHED) {
                self.execute.asked.next = self.cached.uncached.val();
            }
        }
        if self.execute.execute_word.val().get_bits::<12>(20) == bits::<12>(csr::CP_DATA) {
            self.execute.asked.next = self.debug.registers.data.val();
        }
        self.execute.blocked.next = false;
        self.execute.page_refused.next = false;
        self.execute.interrupted_pc.next = bits::<30>(0);
        if self.uli.is_there() {
            self.uli.ask_hart.next = self.execute.execute_hart.val();
            self.uli.ask_channel.next = self.execute.execute_word.val().get_bits::<3>(25);
            self.uli.read_number.next = self.execute.execute_word.val().get_bits::<6>(20);
            if self.execute.execute_word.val().get_bits::<6>(26) == bits::<6>(USER_LEVEL) {
                self.execute.asked.next = self.uli.read_value.val();
            }
            if self.execute.execute_monitor.val() {
                self.execute.asked.next = self.uli.ask_status.val();
            }
            self.execute.blocked.next = self.uli.blocked.val();
            self.execute.interrupted_pc.next = self.uli.interrupted_pc.val();
            self.uli.hart.next = result.hart;
            self.uli.arm_valid.next = outcome.retire & result.monitor;
            self.uli.arm_channel.next = result.word.get_bits::<3>(25);
            self.uli.arm_scenario.next = result.word.get_bits::<4>(28);
            self.uli.arm_handler.next = result.address.get_bits::<30>(2);
            self.uli.arm_parameter.next = result.data;
            self.uli.leave.next = outcome.retire & result.leave;
            self.uli.trap.next = trapped;
            self.uli.trap_return.next = outcome.retire & result.trap_return;
            self.uli.write_valid.next =
                outcome.retire & result.csr_write & (result.word.get_bits::<6>(26) == bits::<6>(USER_LEVEL));
            self.uli.write_number.next = result.word.get_bits::<6>(20);
            // Nothing is cleared that was not read: an event between stages X and W stays.
            self.uli.write_set.next = result.address;
            self.uli.write_clear.next = bits::<32>(0);
            if result.word.get_bits::<2>(12) == bits::<2>(csr_access::WRITE) {
                self.uli.write_clear.next = !result.address & result.value;
            }
            if result.word.get_bits::<2>(12) == bits::<2>(csr_access::CLEAR) {
                self.uli.write_set.next = bits::<32>(0);
                self.uli.write_clear.next = result.address & result.value;
            }
            self.uli.page_valid.next = outcome.retire & result.page;
            self.uli.page.next = result.address;
            self.execute.page_refused.next = self.uli.page_refused.val();
        }
    }

    /// The retire trace.
    #[hdl_gen]
    pub(super) fn tell(
        &mut self,
        result: CommandResult,
        outcome: CommandOutcome,
        after_take: Bit,
        after_trap: Bit,
        following_pc: Bits<30>,
    ) {
        if self.trace.is_there() {
            self.trace.valid.next = (outcome.retire | outcome.exception) & !result.debug;
            self.trace.hart.next = result.hart;
            self.trace.pc_rdata.next = bit_cast::<32, 30>(result.pc) << 2;
            self.trace.pc_wdata.next = bit_cast::<32, 30>(following_pc) << 2;
            self.trace.insn.next = result.word;
            self.trace.rd.next = result.rd;
            self.trace.rd_wdata.next = self.execute.write_value.val();
            self.trace.mem_addr.next = result.address;
            self.trace.trap.next = outcome.exception;
            self.trace.intr.next = after_trap;
            self.trace.uli.next = after_take;
        }
    }
}
