//! Stages R and X: operands, arithmetic, branches, addresses.

use super::{scenario, CommandInstruction, CommandResult, HartRegisters, LocalMemory};
use crate::core::{BitCount, LaneAlu, Multiplier};
use crate::memory::StoreAlign;
use crate::types::riscv::{cause, funct5, size};
use crate::types::OperandSource;
use hermes_hdl::prelude::*;

/// Where the harts have more than memory, in the topmost MiB of the address space.
mod place {
    /// Bits 19:14 of the addresses of the local memory, from 0xfffe_0000 on.
    pub const LOCAL_MEMORY: u64 = (0xfffe_0000 >> 14) & 0x3f;
    /// Bits 19:12 of the addresses of the registers.
    pub const REGISTERS: u64 = (0xffff_e000 >> 12) & 0xff;
    /// Bits 19:12 of the addresses of the network window.
    pub const WINDOW: u64 = (0xffff_c000 >> 12) & 0xff;
}

/// Reads the registers of an instruction in stage R and executes it in stage X; holds it in stage
/// W.
///
/// 1. An instruction in stage D (`decode_valid`) is in stage R a cycle later, in X after another
///    one, and then on `result` in stage W, unless its hart is dropped meanwhile.
/// 2. In stage X a `jalr`, and a branch that goes another way than stage D predicted, redirects its
///    hart.
/// 3. A load from the L2 or a device, an atomic operation and a division takes its value from the
///    answer of its hart (`answer`), if that belongs to the word of the instruction (`answered`);
///    whether an answer is there is known in stage W. So does a store to a device, which has no
///    value.
/// 4. Products and loads from the local memory or the data cache (`cached`) have their
///    `write_value` in stage W only: `late_use` is high while the instruction in stage D needs the
///    result of a load or a product in stage R. It must not leave stage D then.
/// 5. Exceptions are found here, but for bus errors: targets and addresses that are not aligned,
///    and loads and stores from 0xfff0_0000 on where there is neither local memory nor a device.
///    Devices take words only, and only shared memory has atomic operations. A word of CP_EXECUTE
///    has no devices. With `windows` 0xffff_c000 to 0xffff_cfff is a device too, the window of
///    the network interface.
/// 6. The PC behind a word of CP_EXECUTE is its own, but for a jump.
#[clocked]
#[derive(LogicBlock)]
#[new(windows: bool, compares: bool)]
pub struct CommandExecute {
    /// Stage D holds an instruction.
    pub decode_valid: Signal<In, Bit>,
    /// The instruction.
    pub decoded: Signal<In, CommandInstruction>,
    /// First source register of the instruction in stage D, 0 for none.
    pub decode_rs1: Signal<In, Bits<5>>,
    /// Second source register of the instruction in stage D, 0 for none.
    pub decode_rs2: Signal<In, Bits<5>>,
    /// The instruction in stage D needs a result that is not there in time.
    pub late_use: Signal<Out, Bit>,
    /// Harts whose instruction in stage R is dropped.
    pub drop_read: Signal<In, Bits<8>>,
    /// Harts whose instruction in stage X is dropped.
    pub drop_executed: Signal<In, Bits<8>>,
    /// Harts whose next PC is not certain: with a jump or branch in stage R or X, or an
    /// instruction in X that may be replayed for its answer.
    pub open: Signal<Out, Bits<8>>,
    /// Stage X: the hart of the instruction; that of the redirection as well.
    pub execute_hart: Signal<Out, Bits<3>>,
    /// Stage X: value of the answer that waits for this hart.
    pub answer: Signal<In, Bits<32>>,
    /// Stage X: the line of that answer could not be read.
    pub answer_error: Signal<In, Bit>,
    /// Stage X: word of the instruction that asked.
    pub answer_word: Signal<In, Bits<32>>,
    /// Stage X: the hart goes on at `redirect_pc`.
    pub redirect_valid: Signal<Out, Bit>,
    /// Stage X: PC at which the hart goes on, bits 31:2.
    pub redirect_pc: Signal<Out, Bits<30>>,
    /// With `redirect_valid`: by `mret` or ERETURN.
    pub redirect_returns: Signal<Out, Bit>,
    /// Stage X: value of the CSR, or what EMONITOR returns.
    pub asked: Signal<In, Bits<32>>,
    /// Stage X: a load, store or atomic operation is to be looked up in the data cache.
    pub look_enable: Signal<Out, Bit>,
    /// Stage X: address of the load, store or atomic operation.
    pub look_address: Signal<Out, Bits<32>>,
    /// Stage X: word of the instruction.
    pub execute_word: Signal<Out, Bits<32>>,
    /// Stage X: the instruction is an EMONITOR.
    pub execute_monitor: Signal<Out, Bit>,
    /// Stage X: user-level interrupts of the hart are blocked.
    pub blocked: Signal<In, Bit>,
    /// Stage X: PC at which its interrupted program goes on, bits 31:2.
    pub interrupted_pc: Signal<In, Bits<30>>,
    /// Stage X: PC to which `mret` of the hart goes, bits 31:2.
    pub return_pc: Signal<In, Bits<30>>,
    /// Stage W holds an instruction.
    pub write_valid: Signal<Out, Bit>,
    /// The instruction.
    pub result: Signal<Out, CommandResult>,
    /// Stage W: value of the instruction for its register.
    pub write_value: Signal<Out, Bits<32>>,
    /// Stage W: the value of the instruction is written to its register.
    pub write_enable: Signal<In, Bit>,
    /// Stage W: the value of the instruction is `cached_value`.
    pub cached: Signal<In, Bit>,
    /// Stage W: the value of a load from the data cache.
    pub cached_value: Signal<In, Bits<32>>,
    /// Stage W: a SIGNAL.RANGE is refused.
    pub page_refused: Signal<In, Bit>,
    /// Stage W: the instruction writes the local memory.
    pub local_write: Signal<In, Bit>,
    /// From the atomic operations: a register is read at this edge, and the instruction in stage D
    /// waits (only with compare-and-swap, as the next two).
    #[there(compares)]
    pub compare_read: Part<Signal<In, Bit>>,
    /// Hart (7:5) and number of the destination register.
    #[there(compares)]
    pub compare_address: Part<Signal<In, Bits<8>>>,
    /// Value of the destination register, in the cycle after it was read.
    #[there(compares)]
    pub compare_value: Part<Signal<Out, Bits<32>>>,
    #[init(HartRegisters::new(compares))]
    registers: HartRegisters,
    alu: LaneAlu,
    counter: BitCount,
    align: StoreAlign,
    multiplier: Multiplier,
    local: LocalMemory,
    valid_r: Register<Bit>,
    read: Register<CommandInstruction>,
    rs1_source: Register<OperandSource>,
    rs2_source: Register<OperandSource>,
    valid_x: Register<Bit>,
    execute: Register<CommandInstruction>,
    valid_w: Register<Bit>,
    result_w: Register<CommandResult>,
    #[init(windows)]
    _windows: bool,
}

impl CommandExecute {
    /// Stages R and X of harts that see a window of a network interface (`windows`) or none,
    /// without or with compare-and-swap.
    #[must_use]
    pub fn new(windows: bool, compares: bool) -> Self {
        Self::wired(windows, compares)
    }
}

impl CommandExecute {
    /// Stage D: where the operands come from. What is dropped meanwhile takes its users with it.
    #[hdl_gen]
    fn forward(&mut self) {
        // D: where the operands come from. What is dropped meanwhile takes its users with it.
        let hart = self.decoded.val().hart;
        let with_read = self.valid_r.q.val() & self.read.q.val().rd.any() & (self.read.q.val().hart == hart);
        self.late_use.next = with_read
            & self.read.q.val().late
            & ((self.read.q.val().rd == self.decode_rs1.val())
                | (self.read.q.val().rd == self.decode_rs2.val()));
        if self.compare_read.is_there() {
            if self.compare_read.val() {
                self.late_use.next = true;
            }
            self.registers.compare_read.next = self.compare_read.val();
            self.registers.compare_address.next = self.compare_address.val();
            self.compare_value.next = self.registers.compare_value.val();
        }
        let with_execute =
            self.valid_x.q.val() & self.execute.q.val().rd.any() & (self.execute.q.val().hart == hart);
        let with_write =
            self.valid_w.q.val() & self.result_w.q.val().rd.any() & (self.result_w.q.val().hart == hart);
        self.rs1_source.d.next = OperandSource::Registers;
        if !self.decode_rs1.val().any() {
            self.rs1_source.d.next = OperandSource::Zero;
        } else if with_read & (self.read.q.val().rd == self.decode_rs1.val()) {
            self.rs1_source.d.next = OperandSource::Result;
        } else if with_execute & (self.execute.q.val().rd == self.decode_rs1.val()) {
            self.rs1_source.d.next = OperandSource::Written;
        } else if with_write & (self.result_w.q.val().rd == self.decode_rs1.val()) {
            self.rs1_source.d.next = OperandSource::JustWritten;
        }
        self.rs2_source.d.next = OperandSource::Registers;
        if !self.decode_rs2.val().any() {
            self.rs2_source.d.next = OperandSource::Zero;
        } else if with_read & (self.read.q.val().rd == self.decode_rs2.val()) {
            self.rs2_source.d.next = OperandSource::Result;
        } else if with_execute & (self.execute.q.val().rd == self.decode_rs2.val()) {
            self.rs2_source.d.next = OperandSource::Written;
        } else if with_write & (self.result_w.q.val().rd == self.decode_rs2.val()) {
            self.rs2_source.d.next = OperandSource::JustWritten;
        }
        self.registers.rs1_address.next =
            (bit_cast::<8, 3>(hart) << bits::<3>(5)) | bit_cast::<8, 5>(self.decode_rs1.val());
        self.registers.rs2_address.next =
            (bit_cast::<8, 3>(hart) << bits::<3>(5)) | bit_cast::<8, 5>(self.decode_rs2.val());
        self.valid_r.d.next = self.decode_valid.val();
        self.read.d.next = self.decoded.val();
    }

    /// Stage W.
    #[hdl_gen]
    fn write_back(&mut self) {
        // W
        let last = self.result_w.q.val();
        self.multiplier.wanted.next = last.multiply;
        self.local.wanted.next = last.local_load;
        self.local.offset.next = last.address.get_bits::<2>(0);
        self.local.size.next = last.word.get_bits::<2>(12);
        self.local.sign_extend.next = !last.word.get_bit(14);
        self.local.write_strobe.next = bits::<4>(0);
        if self.local_write.val() {
            self.local.write_strobe.next = last.strobe;
        }
        self.local.write_address.next = last.address.get_bits::<12>(2);
        self.local.write_data.next = last.data;
        let mut final_value = last.value;
        if last.multiply {
            final_value = self.multiplier.product.val();
        }
        if last.local_load {
            final_value = self.local.value.val();
        }
        if last.page {
            final_value = bits::<32>(0);
            if self.page_refused.val() {
                final_value = bits::<32>(1);
            }
        }
        if self.cached.val() {
            final_value = self.cached_value.val();
        }
        self.write_value.next = final_value;
        self.write_valid.next = self.valid_w.q.val();
        self.result.next = self.result_w.q.val();
        self.registers.write_enable.next = self.write_enable.val();
        self.registers.write_address.next = (bit_cast::<8, 3>(self.result_w.q.val().hart) << bits::<3>(5))
            | bit_cast::<8, 5>(self.result_w.q.val().rd);
        self.registers.write_data.next = final_value;
    }
}

impl Logic for CommandExecute {
    #[hdl_gen]
    fn update(&mut self) {
        self.forward();
        // R
        self.registers.rs1_source.next = self.rs1_source.q.val();
        self.registers.rs2_source.next = self.rs2_source.q.val();
        self.valid_x.d.next =
            self.valid_r.q.val() & !self.drop_read.val().get_bit(self.read.q.val().hart.index());
        self.execute.d.next = self.read.q.val();

        // X
        let instruction = self.execute.q.val();
        let funct3 = instruction.word.get_bits::<3>(12);
        let sequential = instruction.pc + bits::<30>(1);
        self.alu.control.next = instruction.control;
        self.alu.condition.next = funct3;
        self.alu.a.next = self.registers.operand_1.val();
        self.alu.b.next = self.registers.operand_2.val();
        if instruction.takes_immediate {
            self.alu.b.next = instruction.immediate;
        }
        self.counter.enable.next = instruction.count;
        self.counter.ones.next = instruction.word.get_bit(21);
        self.counter.trailing.next = instruction.word.get_bit(20);
        self.counter.a.next = self.registers.operand_1.val();
        let taken = instruction.jump | (instruction.branch & self.alu.taken.val());
        let jumps = taken | instruction.jump_register;
        let mut target = instruction.immediate.get_bits::<31>(1);
        if instruction.jump_register {
            target = self.alu.address.val().get_bits::<31>(1);
        }
        let mut next = sequential;
        if instruction.debug {
            next = instruction.pc;
        }
        if jumps {
            next = target.get_bits::<30>(1);
        }
        if instruction.leave {
            next = self.interrupted_pc.val();
        }
        if instruction.trap_return {
            next = self.return_pc.val();
        }
        self.execute_hart.next = instruction.hart;
        self.execute_word.next = instruction.word;
        self.execute_monitor.next = instruction.monitor;
        self.redirect_valid.next = self.valid_x.q.val()
            & (instruction.jump_register
                | instruction.trap_return
                | (instruction.leave & self.blocked.val())
                | (instruction.branch & (self.alu.taken.val() != instruction.predicted)));
        self.redirect_pc.next = next;
        self.redirect_returns.next = instruction.trap_return | instruction.leave;
        let turns = self.valid_x.q.val()
            & (instruction.branch
                | instruction.load
                | instruction.divide
                | instruction.jump_register
                | instruction.trap_return
                | instruction.leave);
        let may_turn = self.valid_r.q.val()
            & (self.read.q.val().branch
                | self.read.q.val().jump_register
                | self.read.q.val().trap_return
                | self.read.q.val().leave);
        let mut open_x = bits::<8>(0);
        if turns {
            open_x = bits::<8>(1) << instruction.hart;
        }
        let mut open_r = bits::<8>(0);
        if may_turn {
            open_r = bits::<8>(1) << self.read.q.val().hart;
        }
        self.open.next = open_x | open_r;

        let size = funct3.get_bits::<2>(0);
        let moves = instruction.load | instruction.store | instruction.atomic;
        let reserves = instruction.atomic & (instruction.word.get_bits::<5>(27) == bits::<5>(funct5::LR));
        let misaligned = ((size == bits::<2>(size::HALF)) & self.alu.address.val().get_bit(0))
            | (size.get_bit(1) & self.alu.address.val().get_bits::<2>(0).any());
        let above = self.alu.address.val().get_bits::<12>(20).all();
        let in_local = self.alu.address.val().get_bits::<6>(14) == bits::<6>(place::LOCAL_MEMORY);
        let in_clint = !self.alu.address.val().get_bits::<4>(16).any();
        let in_registers = self.alu.address.val().get_bits::<8>(12) == bits::<8>(place::REGISTERS);
        // SIGNAL and atomic operations go to shared memory only.
        let plain = !(instruction.store & instruction.release) & !instruction.atomic;
        let to_local = moves & above & in_local & plain;
        let to_device =
            moves & above & (in_clint | in_registers) & size.get_bit(1) & plain & !instruction.debug;
        let outside = above & !to_local & !to_device;
        let astray = jumps & target.get_bit(0);
        // EMONITOR: a handler that is not aligned, a parameter of another form, or an address where
        // there is no memory. ERETURN outside a handler.
        let arms = instruction.monitor & instruction.word.get_bits::<4>(28).any();
        let bad_range = (self.registers.operand_2.val().get_bit(0)
            != self.registers.operand_2.val().get_bit(1))
            | self.registers.operand_2.val().get_bits::<12>(20).all();
        let range = instruction.word.get_bits::<4>(28) == bits::<4>(scenario::WRITTEN);
        let illegal = (arms & (self.registers.operand_1.val().get_bits::<2>(0).any() | (range & bad_range)))
            | (instruction.leave & !self.blocked.val());
        let mut cause = bits::<5>(0);
        if illegal {
            cause = bits::<5>(cause::ILLEGAL_INSTRUCTION);
        }
        if instruction.fault {
            cause = instruction.cause;
        } else if moves {
            if misaligned {
                cause = bits::<5>(cause::LOAD_ADDRESS_MISALIGNED);
            } else {
                cause = bits::<5>(cause::LOAD_ACCESS_FAULT);
            }
            if instruction.store | (instruction.atomic & !reserves) {
                // The cause of a store is that of a load and 2.
                cause = cause + bits::<5>(2);
            }
        }
        self.align.enable.next = instruction.store;
        self.align.offset.next = self.alu.address.val().get_bits::<2>(0);
        self.align.size.next = size;
        self.align.data.next = self.registers.operand_2.val();
        let mut value = self.alu.y.val();
        if instruction.jump | instruction.jump_register {
            value = bit_cast::<32, 30>(sequential) << 2;
        }
        if instruction.count {
            value = bit_cast::<32, 6>(self.counter.count.val());
        }
        if instruction.load | instruction.divide | instruction.atomic {
            value = self.answer.val();
        }
        if instruction.csr | instruction.monitor {
            value = self.asked.val();
        }

        self.valid_w.d.next =
            self.valid_x.q.val() & !self.drop_executed.val().get_bit(instruction.hart.index());
        self.result_w.d.next.hart = instruction.hart;
        self.result_w.d.next.pc = instruction.pc;
        self.result_w.d.next.next_pc = next;
        self.result_w.d.next.word = instruction.word;
        self.result_w.d.next.debug = instruction.debug;
        self.result_w.d.next.rd = instruction.rd;
        self.result_w.d.next.value = value;
        self.result_w.d.next.address = self.alu.address.val();
        if astray {
            self.result_w.d.next.address = bit_cast::<32, 31>(target) << bits::<6>(1);
        }
        if instruction.monitor | instruction.divide {
            self.result_w.d.next.address = self.registers.operand_1.val();
        }
        self.result_w.d.next.strobe = self.align.strobe.val();
        self.result_w.d.next.data = self.align.word.val();
        if instruction.monitor | instruction.divide | instruction.atomic {
            self.result_w.d.next.data = self.registers.operand_2.val();
        }
        self.result_w.d.next.load = instruction.load & !above;
        self.result_w.d.next.device = to_device;
        self.result_w.d.next.device_write =
            (to_device & instruction.store) | (instruction.atomic & !reserves);
        self.result_w.d.next.atomic = instruction.atomic & !above;
        self.result_w.d.next.divide = instruction.divide;
        self.result_w.d.next.answered =
            (((instruction.load | instruction.atomic) & !above) | to_device | instruction.divide)
                & (self.answer_word.val() == instruction.word);
        self.result_w.d.next.failed = self.answer_error.val();
        self.result_w.d.next.store = instruction.store & !above;
        self.result_w.d.next.local_load = to_local & instruction.load;
        self.result_w.d.next.local_store = to_local & instruction.store;
        self.result_w.d.next.multiply = instruction.multiply;
        self.result_w.d.next.release = instruction.release;
        self.result_w.d.next.acquire = instruction.acquire;
        self.result_w.d.next.refetch = instruction.refetch;
        self.result_w.d.next.csr_write = instruction.csr_write;
        self.result_w.d.next.monitor = instruction.monitor;
        self.result_w.d.next.leave = instruction.leave;
        self.result_w.d.next.page = instruction.page;
        self.result_w.d.next.trap_return = instruction.trap_return;
        self.result_w.d.next.sleep = instruction.sleep;
        self.result_w.d.next.fault = instruction.fault | illegal | astray | (moves & (misaligned | outside));
        self.result_w.d.next.cause = cause;
        if self._windows {
            let in_window = self.alu.address.val().get_bits::<8>(12) == bits::<8>(place::WINDOW);
            if moves & above & in_window & size.get_bit(1) & plain & !instruction.debug {
                self.result_w.d.next.device = true;
                self.result_w.d.next.device_write = instruction.store;
                self.result_w.d.next.answered = self.answer_word.val() == instruction.word;
                self.result_w.d.next.fault = instruction.fault | misaligned;
            }
        }

        self.multiplier.advance.next = self.valid_x.q.val() & instruction.multiply;
        self.multiplier.a.next = self.registers.operand_1.val();
        self.multiplier.b.next = self.registers.operand_2.val();
        self.multiplier.funct3.next = funct3;
        self.look_enable.next = self.valid_x.q.val() & moves;
        self.look_address.next = self.alu.address.val();
        self.local.read_enable.next = self.valid_x.q.val() & instruction.load;
        self.local.read_address.next = self.alu.address.val().get_bits::<12>(2);

        self.write_back();
    }
}
