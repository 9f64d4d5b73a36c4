//! Test support: the command processor with memory and registers, in rust-hdl's simulator.

pub use super::testing_memory::{AnyOrder, Contents, Memory, System};
use super::CommandPipeline;
use crate::config::CommandOptions;
use crate::core::testing::{Program, A0, A1, A2};
use crate::testing::settle;
use crate::types::riscv::instruction;
use std::collections::{BTreeMap, VecDeque};

/// Where programs begin, and where their data lies.
pub const ENTRY: u32 = 0x1_0000;
pub const DATA: u32 = 0x2_0000;

pub const EBREAK: u32 = instruction::EBREAK as u32;

/// An instruction in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retired {
    pub cycle: u64,
    pub hart: u32,
    pub pc: u32,
    pub next_pc: u32,
    pub word: u32,
    pub rd: u32,
    pub value: u32,
    pub address: u32,
    pub trap: bool,
    /// The first of a trap handler.
    pub intr: bool,
    pub uli: bool,
}

/// Offset in [`Registers`] of the window of the network interface, as hart 0 sees it; that of the
/// next one is 0x1000 behind.
pub const WINDOW: u32 = 0x8_0000;

/// The registers of the array: those in `words` are there, and an access waits for `delay` cycles.
/// They check rule C3.
#[derive(Default)]
pub struct Registers {
    pub words: BTreeMap<u32, u32>,
    pub delay: u64,
    /// Offset of a read that takes a command, and is withdrawn while there is none unless its hart
    /// is to wake: then it reads 0.
    pub next: Option<u32>,
    /// Commands for that.
    pub commands: VecDeque<u32>,
    /// Reads that were withdrawn.
    pub withdrawn: usize,
    /// Accesses performed: cycle, write, offset, value.
    pub log: Vec<(u64, bool, u32, u32)>,
    waited: u64,
}

impl Registers {
    fn before_edge(&mut self, cp: &mut CommandPipeline, memory: &impl Memory, cycle: u64) {
        cp.access.done.next = false;
        if let Some(window) = cp.window.get_mut() {
            window.parks.next = false;
            window.here.next = !self.commands.is_empty();
        }
        if !cp.access.valid.val() {
            self.waited = 0;
            return;
        }
        // A hart that is held withdraws it.
        settle(cp);
        let valid = cp.access.valid.val();
        if valid {
            let window = cp.window.get().filter(|window| window.of_window.val());
            let stores = memory.has_stores(window.map(|window| window.hart.val().to_u64()));
            assert!(!stores, "cycle {cycle}: an access to a device before a store of its hart is performed");
        }
        self.waited = if valid { self.waited + 1 } else { 0 };
        if valid && self.waited > self.delay {
            let window = cp.window.get().filter(|window| window.of_window.val());
            let base = window.map_or(0, |window| WINDOW | window.hart.val().to_u32() << 12);
            let (offset, write) = (base + cp.access.address.val().to_u32(), cp.access.write.val());
            let mut old = self.words.get(&offset).copied();
            if self.next == Some(offset) && !write {
                old = self.commands.pop_front();
                if old.is_none() && window.is_some_and(|window| window.wake.val()) {
                    old = Some(0);
                }
                if old.is_none() {
                    cp.window.parks.next = true;
                    self.withdrawn += 1;
                    self.waited = 0;
                    return;
                }
            }
            let value = if write { cp.access.data.val().to_u32() } else { old.unwrap_or(0) };
            if write && old.is_some() {
                self.words.insert(offset, value);
            }
            self.log.push((cycle, write, offset, value));
            self.waited = 0;
            cp.access.done.next = true;
            cp.access.known.next = old.is_some();
            cp.access.value.next = u64::from(old.unwrap_or(0xdead_dead)).into();
        }
    }
}

/// A command processor with its memory.
pub struct Bench<M: Memory> {
    pub cp: CommandPipeline,
    pub memory: M,
    pub registers: Registers,
    pub cycle: u64,
    pub retired: Vec<Retired>,
}

impl<M: Memory> Bench<M> {
    /// After reset, all harts held; the instruction cache has 16 lines.
    pub fn new(memory: M) -> Self {
        Self::with(CommandOptions::default(), memory)
    }

    /// With so many harts and lines of the instruction cache.
    pub fn with_harts(harts: usize, lines: usize, memory: M) -> Self {
        let plain = CommandOptions::default();
        Self::with(CommandOptions { command_threads: harts, instruction_cache_lines: lines, ..plain }, memory)
    }

    /// With these options. Channels of user-level interrupts are not there: SIGNAL is an
    /// instruction.
    pub fn with(options: CommandOptions, memory: M) -> Self {
        let lines = options.instruction_cache().0;
        let mut cp = CommandPipeline::new(options);
        cp.registers.entry.next = u64::from(ENTRY >> 2).into();
        cp.registers.breakpoint_stops.next = true;
        cp.reset.next = true;
        let mut bench = Self { cp, memory, registers: Registers::default(), cycle: 0, retired: vec![] };
        bench.cycle();
        bench.cp.reset.next = false;
        // The instruction cache is emptied line by line.
        for _ in 0..lines + 4 {
            bench.cycle();
        }
        bench
    }

    /// One clock cycle.
    pub fn cycle(&mut self) {
        self.cp.cycle.next = self.cycle.into();
        self.registers.before_edge(&mut self.cp, &self.memory, self.cycle);
        self.memory.before_edge(&mut self.cp, self.cycle);
        let trace = &self.cp.trace;
        if trace.valid.val() && !self.cp.reset.next {
            self.retired.push(Retired {
                cycle: self.cycle,
                hart: trace.hart.val().to_u32(),
                pc: trace.pc_rdata.val().to_u32(),
                next_pc: trace.pc_wdata.val().to_u32(),
                word: trace.insn.val().to_u32(),
                rd: trace.rd.val().to_u32(),
                value: trace.rd_wdata.val().to_u32(),
                address: trace.mem_addr.val().to_u32(),
                trap: trace.trap.val(),
                intr: trace.intr.val(),
                uli: trace.uli.val(),
            });
        }
        for level in [true, false] {
            self.cp.clock.next = level.into();
            settle(&mut self.cp);
        }
        self.memory.edge();
        self.cycle += 1;
    }

    pub fn set_run(&mut self, run: bool) {
        self.cp.registers.run.next = u64::from(run).into();
    }

    /// Harts that run, a bit each.
    pub fn set_harts(&mut self, harts: u64) {
        self.cp.registers.run.next = harts.into();
    }

    /// Harts that are stopped, a bit each.
    pub fn stopped_harts(&self) -> u64 {
        self.cp.registers.stopped.val().to_u64()
    }

    /// What one hart retired.
    pub fn of_hart(&self, hart: u32) -> Vec<Retired> {
        self.retired.iter().filter(|r| r.hart == hart).copied().collect()
    }

    pub fn stopped(&self) -> bool {
        self.cp.registers.stopped.val().get_bit(0)
    }

    pub fn waiting(&self) -> bool {
        self.cp.registers.waiting.val().get_bit(0)
    }

    pub fn locked(&self) -> bool {
        self.cp.registers.locked.val().get_bit(0)
    }

    pub fn quiet(&self) -> bool {
        self.cp.registers.quiet.val().get_bit(0)
    }

    /// Runs the hart until it is stopped.
    pub fn run_to_stop(&mut self) {
        self.set_run(true);
        let limit = self.cycle + 100_000;
        loop {
            self.cycle();
            if self.stopped() {
                return;
            }
            assert!(self.cycle < limit, "the hart does not stop");
        }
    }

    /// Holds the hart until nothing of it is outstanding.
    pub fn hold(&mut self) {
        self.set_run(false);
        let limit = self.cycle + 10_000;
        self.cycle();
        while !self.quiet() {
            assert!(self.cycle < limit, "the hart does not become quiet");
            self.cycle();
        }
    }

    /// The value that register `rd` was given last.
    pub fn value_of(&self, rd: u32) -> u32 {
        let last = self.retired.iter().rev().find(|r| r.rd == rd && !r.trap);
        last.unwrap_or_else(|| panic!("x{rd} was not written")).value
    }
}

/// `csrrw` 1, `csrrs` 2, `csrrc` 3; the forms with an immediate 5 to 7, with it in the place of
/// `rs1`.
pub fn csr(funct3: u32, rd: u32, number: u32, rs1: u32) -> u32 {
    number << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x73
}

/// An instruction of M: mul 0, mulh 1, mulhsu 2, mulhu 3, div 4, divu 5, rem 6, remu 7.
pub fn m(funct3: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    1 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33
}

/// An atomic operation on the word at `rs1`, by its `funct5`: lr.w 2, sc.w 3, amoadd.w 0,
/// amoswap.w 1.
pub fn atomic(operation: u32, acquire: bool, rd: u32, rs1: u32, rs2: u32) -> u32 {
    operation << 27 | u32::from(acquire) << 26 | rs2 << 20 | rs1 << 15 | 2 << 12 | rd << 7 | 0x2f
}

/// A small data cache, atomic instructions and the window of a network interface.
pub fn all_parts() -> CommandOptions {
    CommandOptions {
        command_cache_lines: 16,
        atomics: true,
        compare_and_swap: true,
        network: true,
        ..CommandOptions::default()
    }
}

pub const MRET: u32 = instruction::MRET as u32;
pub const WFI: u32 = instruction::WFI as u32;

/// A trap handler that stops, with `mepc` in a0, `mcause` in a1, `mtval` in a2.
pub fn telling_handler() -> Program {
    let mut p = Program::default();
    p.csrr(A0, 0x341).csrr(A1, 0x342).csrr(A2, 0x343).word(EBREAK);
    p
}

/// Puts a program into memory.
pub fn load(contents: &mut Contents, address: u32, program: &Program) {
    for (i, word) in program.assemble().into_iter().enumerate() {
        contents.set_word(address + 4 * i as u32, word);
    }
}
