//! A thread of the array: a hart with its place, its boot sequence, its faults and its end.

use hermes_rtl::config::{EXIT_ADDRESS, LOCAL_WINDOW_ADDRESS};
use hermes_rtl::core::TRAP_CAUSES;

use super::hart::{Cause, Csrs, Fault, Hart, Outcome};
use super::memory::{CoreMemory, LocalStack, Memory, Protection};
use super::Op;
use super::{Instruction, Isa};
use crate::verdict::FAULT;

/// Where a thread starts: the topmost 256 bytes of the address space belong to the core.
pub const BOOT_ADDRESS: u32 = 0xffff_ff00;

/// The boot sequence: a0 = packetIdx, a1 = slot address, a2 = argument block, sp = top of the
/// stack, each by reading a CSR, then ra = EXIT. The kernel follows. Every other word of the region
/// is 0, which is illegal.
const BOOT: [Instruction; 5] = [
    csr_read(10, 0xcc0),
    csr_read(11, 0xcc4),
    csr_read(12, 0xcc5),
    csr_read(2, 0xcc6),
    Instruction { op: Op::Addi, rd: 1, rs1: 0, rs2: 0, immediate: EXIT_ADDRESS as i32 },
];

const fn csr_read(rd: u8, number: i32) -> Instruction {
    Instruction { op: Op::Csrrs, rd, rs1: 0, rs2: 0, immediate: number }
}

/// Where lanes go that fault, instead of to their end (docs/lane-traps.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrapEntry {
    /// Address of the page; a multiple of 4,096.
    pub page: u32,
    /// A bit for each cause with which they go there, as the register FAULT_CAUSES has it.
    pub causes: u32,
}

impl TrapEntry {
    /// Whether a fault with this cause of the instruction at `pc` goes there.
    #[must_use]
    pub const fn takes(&self, cause: Cause, pc: u32) -> bool {
        (self.causes & TRAP_CAUSES as u32) >> cause as u32 & 1 != 0 && pc & !0xfff != self.page
    }
}

/// What all threads of a run share: the instruction set and what the host set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// What the cores execute.
    pub isa: Isa,
    /// Lanes of a core.
    pub lanes: u32,
    /// Address of the kernel's first instruction.
    pub kernel_entry: u32,
    /// First slot of the packet ring.
    pub ring_base: u32,
    /// Slots of the ring, as a power of two.
    pub ring_slots_log2: u32,
    /// Bytes of a slot, as a power of two.
    pub slot_bytes_log2: u32,
    /// First word of the verdict array.
    pub verdict_base: u32,
    /// The argument block.
    pub argument: u32,
    /// First byte of the stacks.
    pub stack_base: u32,
    /// Stack bytes of a thread, as a power of two.
    pub stack_bytes_log2: u32,
    /// What loads and stores may touch.
    pub protection: Protection,
    /// Whether the cores have scratchpads.
    pub scratchpad: bool,
    /// Whether stacks are in the local window.
    pub local_window: bool,
    /// Whether the CSRs `instret` and `instreth` exist.
    pub instret: bool,
    /// Whether the CSR 0xccb of arrays with a network interface exists.
    pub network: bool,
    /// Whether warps may be ended by the watchdog, whenever it likes.
    pub watchdog: bool,
    /// Where threads go that fault, if not to their end.
    pub traps: Option<TrapEntry>,
}

impl Machine {
    /// Whether a fault with this cause of the instruction at `pc` goes to the trap entry.
    #[must_use]
    pub fn traps(&self, cause: Cause, pc: u32) -> bool {
        self.traps.is_some_and(|entry| entry.takes(cause, pc))
    }

    /// Address of a packet's slot.
    pub const fn slot_address(&self, packet: u32) -> u32 {
        let slot = packet & ((1 << self.ring_slots_log2) - 1);
        self.ring_base.wrapping_add(slot << self.slot_bytes_log2)
    }

    /// Address of a packet's verdict.
    pub const fn verdict_address(&self, packet: u32) -> u32 {
        let slot = packet & ((1 << self.ring_slots_log2) - 1);
        self.verdict_base.wrapping_add(4 * slot)
    }

    /// The address after a thread's stack.
    pub fn stack_top(&self, place: &Place) -> u32 {
        if self.local_window {
            return LOCAL_WINDOW_ADDRESS + (1 << self.stack_bytes_log2);
        }
        let warp = u32::from(place.core) << 5 | u32::from(place.slot);
        let thread = warp * self.lanes + u32::from(place.lane);
        self.stack_base.wrapping_add((thread + 1) << self.stack_bytes_log2)
    }

    /// The stack of a thread in the local window, if there is one.
    pub fn local_stack(&self, place: &Place) -> Option<LocalStack> {
        let warp = u32::from(place.core) << 5 | u32::from(place.slot);
        self.local_window.then(|| LocalStack {
            bytes_log2: self.stack_bytes_log2,
            lanes: self.lanes,
            warp_base: self.stack_base.wrapping_add((warp * self.lanes) << self.stack_bytes_log2),
            lane: place.lane.into(),
        })
    }
}

/// Where a thread runs, and on which packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The core.
    pub core: u8,
    /// The warp slot of the core.
    pub slot: u8,
    /// The lane.
    pub lane: u8,
    /// packetIdx.
    pub packet: u32,
}

/// What a thread can read of its warp and of the array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Cycles since reset.
    pub cycle: u64,
    /// Warp-instructions retired by the warp since its start, those of the topmost 256 bytes not
    /// counted.
    pub instret: u64,
    /// Lowest lane that runs the instruction.
    pub leader: u8,
}

/// The CSRs of a thread.
struct ThreadCsrs<'a> {
    machine: &'a Machine,
    place: &'a Place,
    counters: Counters,
}

impl Csrs for ThreadCsrs<'_> {
    fn read(&self, number: u32) -> Option<u32> {
        let Self { machine, place, counters } = self;
        Some(match number {
            0xc00 => counters.cycle as u32,
            0xc80 => (counters.cycle >> 32) as u32,
            0xc02 if machine.instret => counters.instret as u32,
            0xc82 if machine.instret => (counters.instret >> 32) as u32,
            0xcc0 => place.packet,
            0xcc1 => place.lane.into(),
            0xcc2 => place.slot.into(),
            0xcc3 => place.core.into(),
            0xcc4 => machine.slot_address(place.packet),
            0xcc5 => machine.argument,
            0xcc6 => machine.stack_top(place),
            0xccb if machine.network => counters.leader.into(),
            _ => return None,
        })
    }
}

/// What a thread did in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The word at the PC; 0 if it could not be fetched, and at EXIT.
    pub word: u32,
    /// The instruction, if it is one.
    pub instruction: Option<Instruction>,
    /// What it did; at EXIT the store of the verdict.
    pub outcome: Result<Outcome, Fault>,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Where it runs.
    pub place: Place,
    /// PC and registers.
    pub hart: Hart,
    /// Calls that have not returned, 0 to 63.
    pub depth: u8,
    /// It stored its verdict.
    pub ended: bool,
}

impl Thread {
    /// A thread in front of its boot sequence.
    pub const fn new(place: Place) -> Self {
        Self { place, hart: Hart::new(BOOT_ADDRESS), depth: 0, ended: false }
    }

    /// Executes the next instruction. A fault sends the thread to EXIT with its verdict in a0, or
    /// to the trap entry with the address of the instruction in tp; at EXIT the thread stores its
    /// verdict and ends.
    pub fn step(&mut self, machine: &Machine, memory: &mut CoreMemory<'_>, counters: Counters) -> Step {
        let pc = self.hart.pc;
        let (word, fetched) = self.fetch(machine, memory);
        if pc == EXIT_ADDRESS {
            let (address, verdict) = (machine.verdict_address(self.place.packet), self.hart.x[10]);
            // The core's own store: no window applies. A verdict array without memory loses it, as
            // the bus does.
            let _ = memory.shared.write(address, &verdict.to_le_bytes());
            self.ended = true;
            let outcome =
                Outcome { next_pc: pc, result: None, address: Some(address), stored: Some(verdict) };
            return Step { word, instruction: None, outcome: Ok(outcome) };
        }
        memory.local = machine.local_stack(&self.place);
        let csrs = ThreadCsrs { machine, place: &self.place, counters };
        let mut outcome = fetched.and_then(|code| self.hart.execute(code, memory, &csrs));
        if let (Ok(outcome), true) = (&mut outcome, pc == BOOT_ADDRESS + 4 * (BOOT.len() as u32 - 1)) {
            outcome.next_pc = machine.kernel_entry;
            self.hart.pc = machine.kernel_entry;
        }
        match (&outcome, fetched) {
            (Ok(_), Ok(code)) if code.is_call() => self.depth = (self.depth + 1).min(63),
            (Ok(_), Ok(code)) if code.is_return() => self.depth = self.depth.saturating_sub(1),
            (Err(fault), _) => match machine.traps {
                Some(entry) if entry.takes(fault.cause, pc) => {
                    self.hart.x[4] = pc;
                    self.hart.pc = entry.page;
                }
                _ => self.end_with(fault.cause),
            },
            _ => {}
        }
        Step { word, instruction: fetched.ok(), outcome }
    }

    /// The value of the CSR with this number (12 bits); `None` if there is none.
    pub fn csr(&self, machine: &Machine, counters: Counters, number: u32) -> Option<u32> {
        ThreadCsrs { machine, place: &self.place, counters }.read(number)
    }

    /// Sends the thread to EXIT with a fault for its verdict.
    pub fn end_with(&mut self, cause: Cause) {
        self.hart.x[10] = FAULT | cause as u32;
        self.hart.pc = EXIT_ADDRESS;
        self.depth = 0;
    }

    /// The word at the PC and the instruction that it is.
    fn fetch(&self, machine: &Machine, memory: &mut CoreMemory<'_>) -> (u32, Result<Instruction, Fault>) {
        let pc = self.hart.pc;
        if pc < BOOT_ADDRESS {
            return match memory.fetch(pc) {
                Err(cause) => (0, Err(Fault { cause, value: pc })),
                Ok(word) => {
                    let illegal = Fault { cause: Cause::Illegal, value: word };
                    (word, Instruction::decode(word, &machine.isa).ok_or(illegal))
                }
            };
        }
        let position = ((pc - BOOT_ADDRESS) / 4) as usize;
        match BOOT.get(position) {
            None => (0, Err(Fault { cause: Cause::Illegal, value: 0 })),
            Some(code) if position + 1 == BOOT.len() && machine.kernel_entry % 4 != 0 => {
                let cause = Cause::InstructionMisaligned;
                (code.encode(), Err(Fault { cause, value: machine.kernel_entry }))
            }
            Some(code) => (code.encode(), Ok(*code)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::MemoryImage;
    use super::*;

    const MACHINE: Machine = Machine {
        isa: Isa::RV32I,
        lanes: 8,
        kernel_entry: 0x1000,
        ring_base: 0x4000,
        ring_slots_log2: 4,
        slot_bytes_log2: 7,
        verdict_base: 0x8000,
        argument: 0x9000,
        stack_base: 0xa000,
        stack_bytes_log2: 8,
        protection: Protection::Off,
        scratchpad: false,
        local_window: false,
        instret: false,
        network: false,
        watchdog: false,
        traps: None,
    };
    const PLACE: Place = Place { core: 1, slot: 2, lane: 3, packet: 0x35 };

    /// Steps a thread on a kernel until it ends.
    fn run(machine: &Machine, kernel: &[u32], steps: usize) -> (Thread, MemoryImage, Vec<Step>) {
        let mut shared = MemoryImage::new(1 << 20);
        for (address, word) in (0x1000..).step_by(4).zip(kernel) {
            shared.write(address, &word.to_le_bytes()).unwrap();
        }
        let mut thread = Thread::new(PLACE);
        let mut done = Vec::new();
        while !thread.ended {
            assert!(done.len() < steps, "{done:?}");
            let protection = machine.protection;
            let mut memory =
                CoreMemory { shared: &mut shared, scratchpad: None, protection: &protection, local: None };
            done.push(thread.step(machine, &mut memory, Counters::default()));
        }
        (thread, shared, done)
    }

    #[test]
    fn calling_convention_and_verdict() {
        let (thread, shared, steps) = run(&MACHINE, &[0x0000_8067], 7); // ret
        assert_eq!(
            steps.iter().map(|step| step.word).collect::<Vec<_>>(),
            [0xcc00_2573, 0xcc40_25f3, 0xcc50_2673, 0xcc60_2173, 0xffc0_0093, 0x0000_8067, 0,]
        );
        assert_eq!(thread.hart.x[10..13], [0x35, 0x4000 + 5 * 128, 0x9000]);
        assert_eq!(thread.hart.x[2], 0xa000 + ((32 + 2) * 8 + 3 + 1) * 256);
        assert_eq!(thread.hart.x[1], 0xffff_fffc);
        assert_eq!(shared.read_u32(0x8000 + 4 * 5).unwrap(), 0x35);
    }

    #[test]
    fn a_fault_is_the_verdict() {
        for (word, cause, value) in [
            (0x0000_0000, 2, 0),
            (0x0000_100f, 2, 0x0000_100f), // fence.i
            (0x0000_0073, 11, 0),          // ecall
            (0x0010_0073, 3, 0x1000),      // ebreak
            (0x0020_006f, 0, 0x1002),      // j +2
            (0x0030_0067, 0, 2),           // jr 3(zero): bit 0 is cleared
            (0x0010_1303, 4, 1),           // lh t1, 1(zero)
            (0x0010_2123, 6, 2),           // sw ra, 2(zero)
            (0xc020_2573, 2, 0xc020_2573), // csrr a0, instret, which this machine lacks
        ] {
            let (thread, shared, steps) = run(&MACHINE, &[word], 7);
            let fault = steps[5].outcome.unwrap_err();
            assert_eq!((fault.cause as u32, fault.value), (cause, value), "{word:#010x}");
            assert_eq!(shared.read_u32(0x8014).unwrap(), 0xc000_0000 | cause, "{word:#010x}");
            assert_eq!(thread.depth, 0);
        }
        let outside = [0x8000_0537, 0x0005_0067]; // lui a0, 0x80000; jr a0
        let (_, shared, steps) = run(&MACHINE, &outside, 9);
        assert_eq!(steps[7].outcome.unwrap_err().value, 0x8000_0000);
        assert_eq!(shared.read_u32(0x8014).unwrap(), 0xc000_0001);
        let (_, _, steps) = run(&Machine { kernel_entry: 0x1002, ..MACHINE }, &[], 7);
        assert_eq!(steps[4].outcome, Err(Fault { cause: Cause::InstructionMisaligned, value: 0x1002 }));
    }

    #[test]
    fn calls_are_counted() {
        let code = [
            0x0080_00ef_u32, // jal ra, +8
            0x0000_0013,
            0x0080_02ef, // jal t0, +8
            0x0000_0013,
            0x0002_8067, // jr t0: back to 0x100c
        ];
        let mut shared = MemoryImage::new(1 << 16);
        for (address, word) in (0x1000..).step_by(4).zip(code) {
            shared.write(address, &word.to_le_bytes()).unwrap();
        }
        let mut thread = Thread::new(PLACE);
        let mut depths = Vec::new();
        for _ in 0..8 {
            let mut memory = CoreMemory {
                shared: &mut shared,
                scratchpad: None,
                protection: &Protection::Off,
                local: None,
            };
            thread.step(&MACHINE, &mut memory, Counters::default());
            depths.push(thread.depth);
        }
        assert_eq!(depths[5..], [1, 2, 1]);
        assert_eq!(thread.hart.pc, 0x100c);
    }
}
