//! Random programs in machine mode.

use hermes_rtl::config::Config;
use rand::seq::SliceRandom;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::super::generate::{Generator, COUNTER};
use super::memory::REGISTERS_BASE;
use crate::iss::Op;
use crate::kernel::{Executable, RegisterClass, Segment};

/// Registers that the trap handler changes.
const SCRATCH: [u8; 2] = [30, 31];
/// The register that the handler of user-level interrupts changes.
const CHANNEL_SCRATCH: u8 = 29;
/// Where there is no memory, neither of the array nor of the machine `virt` of QEMU.
const NOWHERE: u32 = 0xfff8_0000;
/// Register of QEMU's machine `virt` that ends it.
const FINISHER: u32 = 0x10_0000;
const FINISHED: u32 = 0x5555;

/// Offsets of registers of the array.
const CP_DOORBELL: i32 = 0x30c;
const CP_IRQ_PENDING: i32 = 0x310;
const CP_IRQ_ENABLE: i32 = 0x320;

/// What random programs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Address of the first instruction, a multiple of 4096; data lies from 1 MiB behind it on.
    pub code: u32,
    /// The hart: its are the timer and the software interrupt that the program uses.
    pub hart: u32,
    /// Channels of user-level interrupts that the program uses.
    pub channels: u32,
    /// Interrupts of software and timer, `wfi`, local memory, and CSRs that QEMU has otherwise.
    pub devices: bool,
    /// Doorbells and code that changes itself, for a hart that is alone: others would see its
    /// events at any time.
    pub doorbells: bool,
    /// Atomic operations.
    pub atomics: bool,
    /// Compare-and-swap is one of them.
    pub compare_and_swap: bool,
    /// CSR `muncached`.
    pub uncached: bool,
    /// Ends as QEMU's machine `virt` does; else by a lock-up.
    pub ends_machine: bool,
    /// Other harts have atomic operations too: a `sc.w` may fail, and its result is kept, so that
    /// the checker knows.
    pub several: bool,
}

impl Style {
    /// Programs for a hart of the array.
    #[must_use]
    pub fn array(channels: u32) -> Self {
        Self {
            code: 0x1_0000,
            hart: 0,
            channels,
            devices: true,
            doorbells: true,
            atomics: false,
            compare_and_swap: false,
            uncached: false,
            ends_machine: false,
            several: false,
        }
    }

    /// Programs for a hart of an array with this configuration.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        Self {
            atomics: config.atomics,
            compare_and_swap: config.compare_and_swap,
            uncached: config.command_cache_lines > 0,
            ..Self::array(config.uli_channels.min(2) as u32)
        }
    }

    /// The same for another hart: its code and data lie 2 MiB behind those of the hart before it.
    #[must_use]
    pub fn of_hart(self, hart: u32) -> Self {
        Self { code: 0x1_0000 + hart * 0x20_0000, hart, doorbells: false, several: true, ..self }
    }

    /// Programs for the machine `virt` of QEMU.
    pub const VIRT: Self = Self {
        code: 0x8000_0000,
        hart: 0,
        channels: 0,
        devices: false,
        doorbells: false,
        atomics: false,
        compare_and_swap: false,
        uncached: false,
        ends_machine: true,
        several: false,
    };
}

/// A random program.
#[derive(Clone, Debug)]
pub struct MachineProgram {
    /// Its instructions and data.
    pub executable: Executable,
    /// Address of its last instruction.
    pub last: u32,
}

/// A program of about `blocks` blocks in machine mode. Exceptions are skipped by its handler,
/// interrupts are cleared by it.
pub fn machine_program(random: &mut ChaCha8Rng, blocks: usize, style: Style) -> MachineProgram {
    let data = [style.code + 0x10_0800, style.code + 0x10_4820];
    let vectored = random.gen();
    let mut program = Generator { random, words: vec![], machine: Some(style) };
    let start = program.words.len();
    program.words.push(0);
    // The handlers, behind a table of jumps that is a multiple of 64.
    program.words.resize(16, 0);
    let table = program.words.len();
    program.words.resize(table + 16, 0);
    let exception = program.words.len();
    program.exception_handler();
    let interrupt = program.words.len();
    program.interrupt_handler();
    let channel = program.words.len();
    program.csr(Op::Csrrs, CHANNEL_SCRATCH, 0x804, 0);
    program.words.push(0x0000_100b);
    for entry in 0..12 {
        let target = if entry == 0 { exception } else { interrupt };
        program.words[table + entry] = jump(table + entry, target);
    }
    program.words[start] = jump(start, program.words.len());

    let address = |index: usize| style.code + 4 * index as u32;
    let vector = if vectored { address(table) | 1 } else { address(exception) };
    program.constant(SCRATCH[0], vector);
    program.words.push(csr_word(1, 0, 0x305, SCRATCH[0].into()));
    program.write_registers(data);
    // CSRs that reset leaves undefined get a value: by a trap, and mscratch.
    program.words.push(0x0000_0073);
    program.words.push(csr_word(1, 0, 0x340, 8));
    if style.devices {
        program.clear_interrupts();
        program.push(Op::Lui, SCRATCH[0], 0, 0, REGISTERS_BASE as i32);
        program.push(Op::Sw, 0, SCRATCH[0], 0, CP_IRQ_ENABLE);
        // minstret
        program.words.push(csr_word(1, 0, 0xb82, 0));
        program.words.push(csr_word(1, 0, 0xb02, 0));
    }
    if style.channels > 0 {
        // uliepc, ulicause
        program.words.push(csr_word(1, 0, 0x800, 8));
        program.words.push(csr_word(1, 0, 0x804, 0));
    }
    for number in 0..style.channels {
        program.constant(CHANNEL_SCRATCH, address(channel));
        // The first watches a word of the data, the others doorbells.
        let (scenario, parameter) = if number == 0 || !style.devices { (1, 2) } else { (3, SCRATCH[1]) };
        let mask = program.random.gen::<u32>() & 0xffff_0000;
        program.constant(SCRATCH[1], mask);
        let sources = u32::from(parameter) << 20 | u32::from(CHANNEL_SCRATCH) << 15;
        program.words.push(scenario << 28 | number << 25 | sources | 0x0b);
    }
    for _ in 0..blocks {
        program.block();
    }
    let last = program.last();
    let last = address(last);
    let bytes = program.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut segments = vec![Segment { address: style.code, run_address: style.code, bytes, writable: true }];
    for base in data {
        let bytes = (0..4096).map(|_| random.gen()).collect();
        segments.push(Segment { address: base - 2048, run_address: base - 2048, bytes, writable: true });
    }
    let executable = Executable {
        entry: style.code,
        segments,
        registers: RegisterClass::Rv32i,
        symbols: vec![],
        arch: None,
    };
    MachineProgram { executable, last }
}

/// `jal x0` from word `from` to word `to`.
fn jump(from: usize, to: usize) -> u32 {
    let immediate = 4 * (to as i32 - from as i32);
    crate::iss::Instruction { op: Op::Jal, rd: 0, rs1: 0, rs2: 0, immediate }.encode()
}

/// The word of a CSR instruction; `funct3` 1 to 3 with a register, 5 to 7 with a number.
fn csr_word(funct3: u32, rd: u8, number: u32, rs1: u32) -> u32 {
    number << 20 | rs1 << 15 | funct3 << 12 | u32::from(rd) << 7 | 0x73
}

impl Generator<'_> {
    /// A CSR instruction that reads.
    fn csr(&mut self, op: Op, rd: u8, number: i32, rs1: u8) {
        self.push(op, rd, rs1, 0, number);
    }

    /// Skips the instruction that raised the exception, unless an interrupt was taken.
    fn exception_handler(&mut self) {
        let [a, b] = SCRATCH;
        self.csr(Op::Csrrs, a, 0x342, 0);
        self.csr(Op::Csrrs, b, 0x343, 0);
        let over = self.words.len();
        self.words.push(0);
        self.csr(Op::Csrrs, a, 0x341, 0);
        self.push(Op::Addi, a, a, 0, 4);
        self.words.push(csr_word(1, 0, 0x341, a.into()));
        self.csr(Op::Csrrs, b, 0x300, 0);
        self.words.push(0x3020_0073);
        let offset = 4 * (self.words.len() - over) as i32;
        self.words[over] =
            crate::iss::Instruction { op: Op::Blt, rd: 0, rs1: a, rs2: 0, immediate: offset }.encode();
    }

    /// The handler of interrupts.
    fn interrupt_handler(&mut self) {
        self.clear_interrupts();
        self.csr(Op::Csrrs, SCRATCH[1], 0x342, 0);
        self.words.push(0x3020_0073);
    }

    /// Offsets of `msip` and `mtimecmp` of the hart.
    fn timer_places(&self) -> (i32, i32) {
        let hart = self.machine.map_or(0, |style| style.hart as i32);
        (4 * hart, 8 * hart)
    }

    /// Clears the interrupts of software and timer, and the events of the external one.
    fn clear_interrupts(&mut self) {
        let [a, b] = SCRATCH;
        let (software, compare) = self.timer_places();
        self.push(Op::Lui, a, 0, 0, 0xfff0_0000_u32 as i32);
        self.push(Op::Sw, 0, a, 0, software);
        self.push(Op::Addi, b, 0, 0, -1);
        self.push(Op::Lui, a, 0, 0, 0xfff0_4000_u32 as i32);
        self.push(Op::Sw, 0, a, b, compare + 4);
        self.push(Op::Lui, a, 0, 0, REGISTERS_BASE as i32);
        self.push(Op::Sw, 0, a, b, CP_IRQ_PENDING);
    }

    /// One instruction of machine mode, or a few that go together; after them comes the next
    /// instruction.
    pub(in super::super) fn system(&mut self, style: Style) {
        if style.atomics && self.random.gen_bool(0.2) {
            return self.atomic_operation();
        }
        if style.uncached && self.random.gen_bool(0.05) {
            return self.change_uncached();
        }
        let kinds = match style {
            Style { doorbells: true, .. } => 19,
            Style { channels: 1.., .. } => 16,
            _ => 13,
        };
        match self.random.gen_range(0..kinds) {
            0..=2 => self.read_csr(style),
            3 | 4 => self.write_csr(style),
            5 => self.words.push(0x0000_0073),
            6 => {
                let word =
                    *[0x0010_0073, 0, 0xffff_ffff, 0x0000_200f].choose(self.random).expect("not empty");
                self.words.push(word);
            }
            7 => self.words.push(csr_word(2, 8, 0x5c0, 0)),
            8 => self.access_nowhere(style),
            9 => {
                // A jump to an address that is no multiple of 4.
                let through = self.random.gen_range(12..16);
                self.push(Op::Auipc, through, 0, 0, 0);
                self.push(Op::Jalr, 0, through, 0, 6);
            }
            10 => self.return_here(style),
            11 if style.devices => self.software_interrupt(),
            12 if style.devices => self.wait(),
            13 if style.channels > 0 => {
                // Pending or not, blocked or not.
                let number = *[0x802, 0x802, 0x801].choose(self.random).expect("not empty");
                let (funct3, bits) = (self.random.gen_range(5..8), self.random.gen_range(0..4));
                let rd = self.target();
                self.words.push(csr_word(funct3, rd, number, bits));
                // It does not stay blocked.
                self.words.push(csr_word(7, 0, 0x801, 1));
            }
            14 if style.channels > 0 => {
                // ERETURN outside a handler is illegal.
                self.words.push(csr_word(7, 0, 0x801, 1));
                self.words.push(0x0000_100b);
            }
            15 if style.channels > 0 => {
                // SIGNAL to a word of the data.
                let offset = 4 * self.random.gen_range(0..12u32);
                let rs2 = u32::from(self.source());
                let base = self.random.gen_range(2..4u32);
                self.words
                    .push((offset >> 5) << 25 | rs2 << 20 | base << 15 | 2 << 12 | (offset & 31) << 7 | 0x0b);
            }
            16 => self.modify_code(),
            17 | 18 => self.ring(),
            _ => self.read_csr(style),
        }
    }

    /// An atomic operation on a word of the data; `lr.w` with its `sc.w`, at times with a store
    /// between them; seldom one of an address that is not aligned, or where there are no atomic
    /// operations.
    fn atomic_operation(&mut self) {
        let through = self.random.gen_range(12..16);
        let base = self.random.gen_range(2..4);
        let offset = match self.random.gen_range(0..16) {
            0 => 2,
            _ => 4 * self.random.gen_range(0..12),
        };
        if self.random.gen_bool(0.06) {
            let where_none = *[NOWHERE, 0xfffe_0000, 0xfff0_4000].choose(self.random).expect("not empty");
            self.push(Op::Lui, through, 0, 0, where_none as i32);
        } else {
            self.push(Op::Addi, through, base, 0, offset);
        }
        let mut operation =
            *[0, 1, 2, 2, 2, 3, 4, 8, 12, 16, 20, 24, 28].choose(self.random).expect("not empty");
        let compares = self.machine.is_some_and(|style| style.compare_and_swap);
        if compares && self.random.gen_bool(0.2) {
            operation = 5;
        }
        self.atomic_word(operation, through);
        if operation == 2 {
            if self.random.gen_bool(0.5) {
                self.between_reservation_and_store(base);
            }
            self.atomic_word(3, through);
        }
    }

    /// An instruction between `lr.w` and `sc.w`, which ends the reservation or does not.
    fn between_reservation_and_store(&mut self, base: u8) {
        let (rd, rs2, place) = (8, self.source(), 4 * self.random.gen_range(0..24));
        match self.random.gen_range(0..7) {
            0 => self.push(Op::Sw, 0, base, rs2, place),
            1 => self.push(Op::Lw, rd, base, 0, place),
            2 => self.push(Op::Addi, rd, rs2, 0, place),
            // `fence` with any sets.
            3 => {
                let sets = self.random.gen_range(0..256u32);
                self.words.push(sets << 20 | 0x0f);
            }
            4 => self.words.push(csr_word(2, rd, 0x343, 0)),
            5 => self.words.push(csr_word(1, rd, 0x343, u32::from(rs2))),
            // amoadd.w
            _ => self.words.push(u32::from(base) << 15 | 2 << 12 | u32::from(rd) << 7 | 0x2f),
        }
    }

    fn atomic_word(&mut self, operation: u32, through: u8) {
        let rd = if self.random.gen_bool(0.1) { 0 } else { u32::from(self.target()) };
        let kept = operation == 3 && self.machine.is_some_and(|style| style.several);
        let rd = if kept && rd == 0 { 9 } else { rd };
        // The address stays for the `sc.w`.
        let rd = if rd == u32::from(through) { 8 } else { rd };
        let rs2 = if operation == 2 { 0 } else { u32::from(self.source()) };
        // Often what `amocas.w` compares with is there.
        if operation == 5 && rd != 0 && self.random.gen() {
            self.push(Op::Lw, rd as u8, through, 0, 0);
        }
        let order = self.random.gen_range(0..4);
        self.words.push(
            operation << 27 | order << 25 | rs2 << 20 | u32::from(through) << 15 | 2 << 12 | rd << 7 | 0x2f,
        );
    }

    /// Reads or writes `muncached`: ranges of the data, or none.
    fn change_uncached(&mut self) {
        let through = self.random.gen_range(12..16);
        let base = self.random.gen_range(2..4);
        // A word, 64 bytes, 4 KiB; else anything, and off.
        let low = *[0, 0x1f, 0x7ff].choose(self.random).expect("not empty");
        self.push(Op::Ori, through, base, 0, low);
        let rd = self.target();
        let rs1 = if self.random.gen_bool(0.3) { 0 } else { through };
        let funct3 = *[1, 1, 1, 2, 3].choose(self.random).expect("not empty");
        self.words.push(csr_word(funct3, rd, 0x7c0, rs1.into()));
    }

    /// Changes the instruction behind a `fence.i`, in a loop to another one in each turn.
    fn modify_code(&mut self) {
        let (value, base) = (self.random.gen_range(12..14), self.random.gen_range(14..16));
        let rd = self.target();
        let mut add = || {
            let immediate = self.random.gen_range(-1024..1024);
            crate::iss::Instruction { op: Op::Addi, rd, rs1: rd, rs2: 0, immediate }.encode()
        };
        let (before, after) = (add(), add());
        // The immediate is in the upper twelve bits.
        self.constant(base, after);
        self.push(Op::Slli, value, COUNTER, 0, 20);
        self.push(Op::Add, value, value, base, 0);
        self.push(Op::Auipc, base, 0, 0, 0);
        self.push(Op::Sw, 0, base, value, 12);
        self.words.push(0x0000_100f);
        self.words.push(before);
    }

    /// Rings doorbells of CP_IRQ_PENDING: an event for channels, and an external interrupt if it is
    /// enabled; or enables it, or clears them.
    fn ring(&mut self) {
        let (through, value) = (self.random.gen_range(12..14), self.random.gen_range(14..16));
        self.push(Op::Lui, through, 0, 0, REGISTERS_BASE as i32);
        let bits = self.random.gen::<u32>() & 0xffff_0000;
        match self.random.gen_range(0..5) {
            0 => {
                self.push(Op::Lui, value, 0, 0, bits as i32);
                self.push(Op::Sw, 0, through, value, CP_IRQ_ENABLE);
                self.constant(value, 1 << 11);
                self.words.push(csr_word(2, 0, 0x304, value.into()));
            }
            1 => {
                self.push(Op::Lui, value, 0, 0, bits as i32);
                self.push(Op::Sw, 0, through, value, CP_IRQ_PENDING);
            }
            _ => {
                // Bits 7:0 would be software interrupts.
                let few = bits & self.random.gen::<u32>() & self.random.gen::<u32>();
                self.push(Op::Lui, value, 0, 0, few as i32);
                self.push(Op::Sw, 0, through, value, CP_DOORBELL);
            }
        }
    }

    fn read_csr(&mut self, style: Style) {
        let common = [0x340, 0x341, 0x342, 0x343, 0x304, 0x305, 0xf14];
        // mstatus: QEMU writes MPP at mret.
        let array = [
            0x300, 0x301, 0xb02, 0xb82, 0xc02, 0x310, 0x320, 0xb03, 0x323, 0xf11, 0xf15, 0xc00, 0xc01, 0xc81,
        ];
        let channels = [0x800, 0x801, 0x802, 0x803, 0x804];
        let mut numbers = common.to_vec();
        if style.devices {
            numbers.extend(array);
        }
        if style.channels > 0 {
            numbers.extend(channels);
        }
        let number = *numbers.choose(self.random).expect("not empty");
        let rd = self.target();
        let funct3 = *[2, 3, 6, 7].choose(self.random).expect("not empty");
        self.words.push(csr_word(funct3, rd, number, 0));
    }

    fn write_csr(&mut self, style: Style) {
        let rd = if self.random.gen() { 0 } else { self.target() };
        match self.random.gen_range(0..6) {
            0 => {
                // Interrupts on or off
                let funct3 = self.random.gen_range(6..8);
                let rd = if style.devices { rd } else { 0 };
                self.words.push(csr_word(funct3, rd, 0x300, 8));
            }
            1 if style.devices => {
                let funct3 = self.random.gen_range(1..4);
                let rs1 = u32::from(self.source());
                self.words.push(csr_word(funct3, rd, 0x304, rs1));
            }
            2 if style.devices => {
                // minstret, or one that ignores it, or a read-only one
                let number = *[0xb02, 0xb82, 0x310, 0x323, 0xb03, 0xc02, 0xf14]
                    .choose(self.random)
                    .expect("not empty");
                let rs1 = u32::from(self.source());
                self.words.push(csr_word(1, rd, number, rs1));
            }
            _ => {
                // QEMU lets mepc have bit 1.
                let pc = if style.devices { 0x341 } else { 0x340 };
                let number = *[0x340, pc, 0x343].choose(self.random).expect("not empty");
                let funct3 = *[1, 2, 3, 5, 6, 7].choose(self.random).expect("not empty");
                let rs1 = u32::from(self.source());
                self.words.push(csr_word(funct3, rd, number, rs1));
            }
        }
    }

    /// A load or store where there is no memory, or, on the array, of an address that is not
    /// aligned.
    fn access_nowhere(&mut self, style: Style) {
        let through = self.random.gen_range(12..16);
        let (op, offset) = if style.devices && self.random.gen() {
            *[(Op::Lw, 2), (Op::Lh, -1), (Op::Sw, 1), (Op::Sh, 3), (Op::Lhu, 5)]
                .choose(self.random)
                .expect("not empty")
        } else {
            self.push(Op::Lui, through, 0, 0, NOWHERE as i32);
            let op = *[Op::Lw, Op::Lb, Op::Sw, Op::Sb].choose(self.random).expect("not empty");
            let (rd, rs2) = (self.target(), self.source());
            self.access_with(op, rd, through, rs2, 4);
            return;
        };
        let (rd, rs2) = (self.target(), self.source());
        self.access_with(op, rd, 2, rs2, offset);
    }

    fn access_with(&mut self, op: Op, rd: u8, base: u8, rs2: u8, offset: i32) {
        if matches!(op, Op::Sw | Op::Sh | Op::Sb) {
            self.push(op, 0, base, rs2, offset);
        } else {
            self.push(op, rd, base, 0, offset);
        }
    }

    /// `mret` to the instruction behind it.
    fn return_here(&mut self, style: Style) {
        let a = SCRATCH[0];
        if style.devices {
            // No interrupt changes mepc meanwhile.
            self.words.push(csr_word(7, 0, 0x300, 8));
        } else {
            // QEMU has cleared MPP at the last `mret`.
            self.constant(a, 0x1800);
            self.words.push(csr_word(2, 0, 0x300, a.into()));
        }
        self.push(Op::Auipc, a, 0, 0, 0);
        self.push(Op::Addi, a, a, 0, 16);
        self.words.push(csr_word(1, 0, 0x341, a.into()));
        self.words.push(0x3020_0073);
    }

    /// Makes an interrupt of software or timer pending: taken now, or later.
    fn software_interrupt(&mut self) {
        let through = self.random.gen_range(12..16);
        let timer = self.random.gen_bool(0.4);
        let (software, compare) = self.timer_places();
        self.words.push(csr_word(6, 0, 0x304, 8));
        if timer {
            self.push(Op::Lui, through, 0, 0, 0xfff0_4000_u32 as i32);
            self.push(Op::Sw, 0, through, 0, compare);
            self.push(Op::Sw, 0, through, 0, compare + 4);
        } else {
            self.push(Op::Lui, through, 0, 0, 0xfff0_0000_u32 as i32);
            self.push(Op::Addi, 10, 0, 0, 1);
            self.push(Op::Sw, 0, through, 10, software);
        }
    }

    /// `wfi`, with a software interrupt that is not taken.
    fn wait(&mut self) {
        let through = self.random.gen_range(12..16);
        self.words.push(csr_word(7, 0, 0x300, 8));
        self.push(Op::Lui, through, 0, 0, 0xfff0_0000_u32 as i32);
        let (software, _) = self.timer_places();
        self.push(Op::Addi, 10, 0, 0, 1);
        self.push(Op::Sw, 0, through, 10, software);
        self.words.push(csr_word(6, 0, 0x304, 8));
        self.words.push(0x1050_0073);
        if self.random.gen() {
            self.push(Op::Sw, 0, through, 0, software);
        }
        self.words.push(csr_word(6, 0, 0x300, 8));
    }

    /// The end; gives the number of the last word.
    fn last(&mut self) -> usize {
        let [a, b] = SCRATCH;
        let ends_machine = self.machine.is_some_and(|style| style.ends_machine);
        if ends_machine {
            self.constant(a, FINISHER);
            self.constant(b, FINISHED);
            self.push(Op::Sw, 0, a, b, 0);
            return self.words.len() - 1;
        }
        // No interrupt comes any more; a trap whose handler cannot be fetched locks the hart up.
        self.words.push(csr_word(7, 0, 0x300, 8));
        self.constant(a, NOWHERE);
        self.words.push(csr_word(1, 0, 0x305, a.into()));
        self.words.push(0x0000_0073);
        self.words.len() - 1
    }
}
