//! A warp from its issue to its commit.

use std::collections::BTreeMap;

use crate::cosim::{WarpSlot, Work};
use crate::iss::{Class, Instruction, LateWrite, Retired, BOOT_ADDRESS};

/// Cycles between two instructions of a warp that still belong to one stretch of instructions: a
/// lone warp loses up to 9 at jumps, a few more at hazards.
const SHORT_WAIT: u64 = 12;
/// As [`SHORT_WAIT`], while other warps have their turn: a core has up to 32.
const SHORT_TURN: u64 = 32;
/// Cycles that branches and jumps take at most.
const BRANCH_CYCLES: u64 = 10;
/// Parts of a warp's time that are kept, so that one that never ends does not fill the memory: what
/// comes then counts to the last stretch.
const MOST_PHASES: usize = 1 << 15;
/// Bytes of a line of the instruction cache.
const LINE: u32 = crate::cosim::LINE as u32;

/// What a warp waited for, as far as its retired instructions tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    /// Its first instruction, after it was issued.
    Start,
    /// A loaded value that its next instruction uses.
    Load,
    /// The value of an atomic operation that its next instruction uses, or its turn at the path of
    /// atomic operations, which takes one of a core at a time.
    Atomic,
    /// A quotient or remainder that its next instruction uses.
    Division,
    /// Its stores, before a load; its loads, before a store.
    Order,
    /// The path of a branch or jump, or the choice between paths.
    Branch,
    /// Other warps of the core, which retired instructions meanwhile.
    Turn,
    /// Perhaps the line of its next instruction: it stands in another line than the one before.
    Fetch,
    /// The pipeline, for a few cycles: an instruction fetched again, a result on its way.
    Pipeline,
    /// The pipeline for longer, though nothing of its own was missing: it stood still, mostly
    /// because the load/store unit was busy.
    Conflict,
    /// Its stores, after its last instruction, until the core reported it as finished.
    Finish,
}

impl Wait {
    /// Every reason.
    pub const ALL: [Self; 11] = [
        Self::Start,
        Self::Load,
        Self::Atomic,
        Self::Division,
        Self::Order,
        Self::Branch,
        Self::Turn,
        Self::Fetch,
        Self::Pipeline,
        Self::Conflict,
        Self::Finish,
    ];

    /// One word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Load => "load",
            Self::Atomic => "atomic",
            Self::Division => "division",
            Self::Order => "order",
            Self::Branch => "branch",
            Self::Turn => "turn",
            Self::Fetch => "fetch",
            Self::Pipeline => "pipeline",
            Self::Conflict => "conflict",
            Self::Finish => "finish",
        }
    }
}

/// Instructions that retired one soon after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Warp-instructions, boot sequence and EXIT included.
    pub instructions: u64,
    /// Lanes that executed them, summed.
    pub lane_instructions: u64,
    /// Address of the first.
    pub first_pc: u32,
    /// Address of the last.
    pub last_pc: u32,
}

/// A part of a warp's time: cycles `from` to `to - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// First cycle.
    pub from: u64,
    /// The cycle behind the last.
    pub to: u64,
    /// The instructions; else what the warp waited for.
    pub what: Result<Stretch, Wait>,
}

/// Lanes that faulted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultMark {
    /// When the instruction retired.
    pub cycle: u64,
    /// Its address.
    pub pc: u32,
    /// The cause, as in the RISC-V privileged specification.
    pub cause: u8,
    /// The lanes.
    pub lanes: u32,
}

/// What came before an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Cycles in which the warp retired nothing.
    pub waited: u64,
    /// Why, if there were any.
    pub wait: Option<Wait>,
}

/// The instruction that retired last.
#[derive(Clone, Copy, Debug)]
struct Last {
    cycle: u64,
    pc: u32,
    class: Option<Class>,
}

/// A value on its way to a register.
#[derive(Clone, Copy, Debug)]
struct Late {
    lanes: u32,
    wait: Wait,
}

/// A warp, what it did and what it waited for.
#[derive(Clone, Debug)]
pub struct WarpTimeline {
    /// Where it runs.
    pub slot: WarpSlot,
    /// What its threads are.
    pub work: Work,
    /// Cycle of its issue.
    pub issued: u64,
    /// Cycle in which the core reported it as finished.
    pub finished: Option<u64>,
    /// Cycle of its commit.
    pub committed: Option<u64>,
    /// Warp-instructions retired, without boot sequence and EXIT, as the counters of the cores have
    /// them.
    pub instructions: u64,
    /// Lane-instructions retired, counted alike.
    pub lane_instructions: u64,
    /// Cycles without an instruction by reason, in the order of [`Wait::ALL`].
    pub waits: [u64; Wait::ALL.len()],
    /// Its time, without gaps, from its issue to its finish, or to its last instruction if it has
    /// not finished. Of a warp that goes to no output, or has very many of them, the last stretch
    /// has waits in it.
    pub phases: Vec<Phase>,
    /// Its faults.
    pub faults: Vec<FaultMark>,
    /// Whether it goes to the outputs.
    pub(super) told: bool,
    /// Lines of the readable trace.
    pub(super) lines: String,
    /// Whether lines are missing at their end.
    pub(super) cut: bool,
    /// The function of the last of these.
    pub(super) function: String,
    last: Option<Last>,
    last_memory: Option<Class>,
    late: BTreeMap<u8, Late>,
    /// Registers that were written late since the last instruction.
    arrived: BTreeMap<u8, Wait>,
    /// Instructions that the core had retired at the issue or the last instruction.
    core_retired: u64,
}

impl WarpTimeline {
    /// A warp that was issued in this cycle, when its core had retired `core_retired` instructions.
    pub fn new(slot: WarpSlot, work: Work, cycle: u64, core_retired: u64) -> Self {
        Self {
            slot,
            work,
            issued: cycle,
            finished: None,
            committed: None,
            instructions: 0,
            lane_instructions: 0,
            waits: [0; Wait::ALL.len()],
            phases: Vec::new(),
            faults: Vec::new(),
            told: true,
            lines: String::new(),
            cut: false,
            function: String::new(),
            last: None,
            last_memory: None,
            late: BTreeMap::new(),
            arrived: BTreeMap::new(),
            core_retired,
        }
    }

    /// An instruction retired; `code` is what its word stands for, `core_retired` what the core has
    /// retired by now, this one included.
    pub fn retire(
        &mut self,
        cycle: u64,
        got: &Retired,
        code: Option<&Instruction>,
        core_retired: u64,
    ) -> Step {
        let class = code.map(|code| code.op.class());
        let from = self.last.map_or(self.issued, |last| last.cycle + 1);
        let waited = cycle.saturating_sub(from);
        let others = (core_retired - self.core_retired).saturating_sub(1);
        let wait = (waited > 0).then(|| self.reason(waited, got.pc, code, others));

        if let Some(wait) = wait {
            self.waits[wait as usize] += waited;
            let long = waited > if wait == Wait::Turn { SHORT_TURN } else { SHORT_WAIT };
            let kept = self.told && self.phases.len() < MOST_PHASES;
            if self.last.is_none() || long && kept {
                self.phases.push(Phase { from, to: cycle, what: Err(wait) });
            }
        }
        self.extend_stretch(cycle, got);
        let kernel = got.pc < BOOT_ADDRESS;
        self.instructions += u64::from(kernel);
        self.lane_instructions += u64::from(kernel) * u64::from(got.active.count_ones());
        if got.faulting != 0 {
            self.faults.push(FaultMark { cycle, pc: got.pc, cause: got.cause, lanes: got.faulting });
        }
        let sound = got.active & !got.faulting;
        if got.late && got.rd != 0 && sound != 0 {
            let wait = match class {
                Some(Class::Load) => Wait::Load,
                Some(Class::Atomic) => Wait::Atomic,
                _ => Wait::Division,
            };
            self.late.insert(got.rd, Late { lanes: sound, wait });
        }
        if matches!(class, Some(Class::Load | Class::Store | Class::Atomic)) {
            self.last_memory = class;
        }
        self.arrived.clear();
        self.last = Some(Last { cycle, pc: got.pc, class });
        self.core_retired = core_retired;
        Step { waited, wait }
    }

    /// Values reached their register.
    pub fn late_write(&mut self, late: &LateWrite) {
        let Some(waiting) = self.late.get_mut(&late.rd) else { return };
        waiting.lanes &= !late.lanes;
        self.arrived.insert(late.rd, waiting.wait);
        if waiting.lanes == 0 {
            self.late.remove(&late.rd);
        }
    }

    /// The core reported the warp as finished. Gives the cycles since its last instruction.
    pub fn finish(&mut self, cycle: u64) -> u64 {
        self.finished = Some(cycle);
        let from = self.last.map_or(self.issued, |last| last.cycle + 1);
        let waited = cycle.saturating_sub(from);
        if waited > 0 {
            self.waits[Wait::Finish as usize] += waited;
            self.phases.push(Phase { from, to: cycle, what: Err(Wait::Finish) });
        }
        waited
    }

    /// Address of its last instruction; that of the boot sequence before its first.
    #[must_use]
    pub fn last_pc(&self) -> u32 {
        self.last.map_or(BOOT_ADDRESS, |last| last.pc)
    }

    /// Why nothing retired between the last instruction and that at `pc`.
    fn reason(&self, waited: u64, pc: u32, code: Option<&Instruction>, others: u64) -> Wait {
        let Some(last) = self.last else { return Wait::Start };
        let registers = code.into_iter().flat_map(|code| code.reads().chain(code.writes()));
        // A value that came since the last instruction, and that this one uses; a load rather than
        // an atomic operation, that rather than a division.
        if let Some(wait) = registers.filter_map(|register| self.arrived.get(&register)).min() {
            return *wait;
        }
        let class = code.map(|code| code.op.class());
        let memory = matches!(class, Some(Class::Load | Class::Store | Class::Atomic));
        let jumped = matches!(last.class, Some(Class::Branch | Class::Jump | Class::Jalr));
        if class == Some(Class::Atomic) && waited > SHORT_WAIT {
            Wait::Atomic
        } else if memory
            && waited > SHORT_WAIT
            && self.last_memory.is_some_and(|before| Some(before) != class)
        {
            Wait::Order
        } else if jumped && waited < BRANCH_CYCLES {
            Wait::Branch
        } else if others > waited / 2 {
            Wait::Turn
        } else if pc < BOOT_ADDRESS && pc / LINE != last.pc / LINE {
            Wait::Fetch
        } else if jumped {
            Wait::Branch
        } else if waited <= SHORT_WAIT {
            Wait::Pipeline
        } else {
            Wait::Conflict
        }
    }

    fn extend_stretch(&mut self, cycle: u64, got: &Retired) {
        let lanes = u64::from(got.active.count_ones());
        if let Some(Phase { to, what: Ok(stretch), .. }) = self.phases.last_mut() {
            *to = cycle + 1;
            stretch.instructions += 1;
            stretch.lane_instructions += lanes;
            stretch.last_pc = got.pc;
            return;
        }
        let stretch =
            Stretch { instructions: 1, lane_instructions: lanes, first_pc: got.pc, last_pc: got.pc };
        self.phases.push(Phase { from: cycle, to: cycle + 1, what: Ok(stretch) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::PacketRange;
    use crate::iss::Isa;

    const ISA: Isa = Isa {
        m: true,
        zbb: true,
        aes: false,
        atomics: true,
        compare_and_swap: false,
        zawrs: false,
        embedded: false,
    };
    /// `lw a4,0(a0)`, `addi a4,a4,1`, `div a5,a4,a4`, `sw a5,0(a0)`, `beq zero,zero,0`
    const LW: u32 = 0x0005_2703;
    const ADDI: u32 = 0x0017_0713;
    const DIV: u32 = 0x02e7_47b3;
    const SW: u32 = 0x00f5_2023;
    const BEQ: u32 = 0x0000_0063;
    /// `amoadd.w a4,a5,(a0)`
    const AMOADD: u32 = 0x00f5_272f;

    fn warp() -> WarpTimeline {
        let packets = PacketRange { first: 8, count: 2 };
        WarpTimeline::new(WarpSlot { core: 1, slot: 2 }, Work::Packets(packets), 10, 100)
    }

    fn retire(warp: &mut WarpTimeline, cycle: u64, pc: u32, word: u32, core_retired: u64) -> Step {
        let code = Instruction::decode(word, &ISA).unwrap();
        let late = matches!(code.op.class(), Class::Load | Class::Div | Class::Atomic);
        let got = Retired { pc, instruction: word, active: 3, rd: code.rd, late, ..Retired::default() };
        warp.retire(cycle, &got, Some(&code), core_retired)
    }

    fn late(warp: &mut WarpTimeline, rd: u8, lanes: u32) {
        warp.late_write(&LateWrite { core: 1, slot: 2, rd, lanes, values: Vec::new() });
    }

    #[test]
    fn reasons_are_told_apart() {
        let mut warp = warp();
        let step = |waited, wait| Step { waited, wait: Some(wait) };
        assert_eq!(retire(&mut warp, 30, 0x100, LW, 101), step(20, Wait::Start));
        late(&mut warp, 14, 1);
        late(&mut warp, 14, 2);
        assert_eq!(retire(&mut warp, 100, 0x104, ADDI, 171), step(69, Wait::Load), "whoever else ran");
        assert_eq!(retire(&mut warp, 101, 0x108, DIV, 172), Step { waited: 0, wait: None });
        late(&mut warp, 15, 3);
        assert_eq!(retire(&mut warp, 141, 0x10c, SW, 173), step(39, Wait::Division));
        assert_eq!(retire(&mut warp, 201, 0x110, LW, 174), step(59, Wait::Order));
        assert_eq!(retire(&mut warp, 202, 0x114, BEQ, 175), Step { waited: 0, wait: None });
        assert_eq!(retire(&mut warp, 207, 0x118, ADDI, 180), step(4, Wait::Branch));
        assert_eq!(retire(&mut warp, 215, 0x11c, ADDI, 188), step(7, Wait::Turn));
        assert_eq!(retire(&mut warp, 300, 0x140, ADDI, 189), step(84, Wait::Fetch));
        assert_eq!(retire(&mut warp, 303, 0x144, ADDI, 190), step(2, Wait::Pipeline));
        assert_eq!(retire(&mut warp, 333, 0x148, ADDI, 191), step(29, Wait::Conflict));
        assert_eq!(retire(&mut warp, 400, 0x14c, AMOADD, 240), step(66, Wait::Atomic), "its turn");
        late(&mut warp, 14, 3);
        assert_eq!(retire(&mut warp, 450, 0x150, ADDI, 280), step(49, Wait::Atomic), "its value");
        warp.finish(460);
        assert_eq!((warp.instructions, warp.lane_instructions), (13, 26));
        assert_eq!(warp.waits.iter().sum::<u64>() + 13, 450, "every cycle has its reason");
    }

    /// A warp that never ends takes a bounded part of the memory, and every cycle is told.
    #[test]
    fn phases_are_bounded() {
        for told in [false, true] {
            let mut warp = WarpTimeline { told, ..warp() };
            let count = 2 * MOST_PHASES as u64;
            for number in 1..=count {
                retire(&mut warp, 100 * number, 0x100, ADDI, 100 + number);
            }
            warp.finish(100 * count + 9);
            let most = if told { MOST_PHASES + 2 } else { 3 };
            assert!(warp.phases.len() <= most && warp.phases.capacity() <= 2 * most, "{}", warp.phases.len());
            assert!(warp.phases.windows(2).all(|pair| pair[0].to == pair[1].from));
            assert_eq!(warp.phases.last().map(|phase| phase.to), Some(100 * count + 9));
            let instructions =
                warp.phases.iter().map(|phase| phase.what.map_or(0, |stretch| stretch.instructions));
            assert_eq!(instructions.sum::<u64>(), count);
        }
    }

    #[test]
    fn phases_follow_each_other_without_gaps() {
        let mut warp = warp();
        for (cycle, pc) in [(30, 0x100), (31, 0x104), (36, 0x108), (90, 0x10c), (91, 0x110)] {
            retire(&mut warp, cycle, pc, ADDI, 101);
        }
        warp.finish(100);
        let (mut cycle, mut instructions) = (warp.issued, 0);
        for phase in &warp.phases {
            assert!(phase.from == cycle && phase.to > cycle, "{phase:?}");
            cycle = phase.to;
            instructions += phase.what.map_or(0, |stretch| stretch.instructions);
        }
        assert_eq!((cycle, instructions), (100, 5));
        let what: Vec<_> = warp.phases.iter().map(|phase| phase.what.err()).collect();
        assert_eq!(what, [Some(Wait::Start), None, Some(Wait::Conflict), None, Some(Wait::Finish)]);
    }

    #[test]
    fn boot_and_exit_do_not_count_and_faults_are_noted() {
        let mut warp = warp();
        let boot = Retired { pc: BOOT_ADDRESS, active: 3, ..Retired::default() };
        warp.retire(20, &boot, None, 101);
        let fault = Retired { pc: 0x100, active: 3, faulting: 2, cause: 4, ..Retired::default() };
        warp.retire(21, &fault, None, 102);
        assert_eq!((warp.instructions, warp.lane_instructions), (1, 2));
        assert_eq!(warp.faults, [FaultMark { cycle: 21, pc: 0x100, cause: 4, lanes: 2 }]);
    }
}
