//! What ran: instructions converged and diverged, hazards between classes, causes of faults.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::features::Features;
use crate::iss::{Cause, Class, Expected, Instruction, Op, BOOT_ADDRESS};

/// How an instruction depends on one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dependency {
    /// It reads what the other writes.
    ReadAfterWrite,
    /// It writes what the other writes.
    WriteAfterWrite,
    /// It writes what the other reads.
    WriteAfterRead,
    /// It does none of this.
    None,
}

impl Dependency {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::ReadAfterWrite, Self::WriteAfterWrite, Self::WriteAfterRead, Self::None];

    /// Whether two instructions of these classes can depend on each other so.
    fn possible(self, first: Class, second: Class) -> bool {
        match self {
            Self::ReadAfterWrite => writes(first) && reads(second),
            Self::WriteAfterWrite => writes(first) && writes(second),
            Self::WriteAfterRead => reads(first) && writes(second),
            Self::None => true,
        }
    }
}

fn writes(class: Class) -> bool {
    !matches!(class, Class::Store | Class::Branch | Class::Fence | Class::System)
}

fn reads(class: Class) -> bool {
    !matches!(class, Class::Jump | Class::Csr | Class::Fence | Class::System)
}

/// Largest distance of two instructions that is counted.
const DISTANCE: usize = 3;

type Hazard = (Class, Class, usize, Dependency);

/// Counts of what ran.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    instructions: BTreeMap<Op, [u64; 2]>,
    hazards: BTreeMap<Hazard, u64>,
    faults: BTreeMap<Cause, u64>,
    /// The last instructions of the warp in a slot, the youngest first, and their lanes.
    recent: BTreeMap<(u8, u8), Vec<(Instruction, u32)>>,
}

/// How much of what is possible was covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// What ran at least once.
    pub covered: usize,
    /// What is possible.
    pub possible: usize,
}

impl Share {
    fn count(items: impl Iterator<Item = bool>) -> Self {
        items.fold(Self::default(), |share, covered| Self {
            covered: share.covered + usize::from(covered),
            possible: share.possible + 1,
        })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.covered, self.possible)
    }
}

impl Coverage {
    /// Counts a warp-instruction. Those of the topmost 256 bytes do not count.
    pub fn observe(&mut self, expected: &Expected) {
        let retired = &expected.retired;
        let key = (retired.core, retired.slot);
        if retired.pc == BOOT_ADDRESS {
            self.recent.remove(&key);
        }
        if retired.pc >= BOOT_ADDRESS {
            return;
        }
        for (_, fault) in &expected.faults {
            *self.faults.entry(fault.cause).or_default() += 1;
        }
        let Some(code) = expected.instruction else { return };
        self.instructions.entry(code.op).or_default()[usize::from(!expected.converged)] += 1;
        let recent = self.recent.entry(key).or_default();
        for (distance, (before, lanes)) in (1..).zip(recent.iter()) {
            if lanes & retired.active == 0 {
                continue;
            }
            for dependency in dependencies(before, &code) {
                let hazard = (before.op.class(), code.op.class(), distance, dependency);
                *self.hazards.entry(hazard).or_default() += 1;
            }
        }
        recent.insert(0, (code, retired.active));
        recent.truncate(DISTANCE);
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &Self) {
        for (op, counts) in &other.instructions {
            let sum = self.instructions.entry(*op).or_default();
            *sum = [sum[0] + counts[0], sum[1] + counts[1]];
        }
        other.hazards.iter().for_each(|(hazard, n)| *self.hazards.entry(*hazard).or_default() += n);
        other.faults.iter().for_each(|(cause, n)| *self.faults.entry(*cause).or_default() += n);
    }

    /// Instructions of the array, each converged and diverged.
    pub fn instruction_share(&self, features: &Features) -> Share {
        let counts = |op: Op| self.instructions.get(&op).copied().unwrap_or_default();
        Share::count(ops(features).flat_map(counts).map(|n| n > 0))
    }

    /// Pairs of classes at every distance with every dependency.
    pub fn hazard_share(&self, features: &Features) -> Share {
        Share::count(hazards(features).map(|hazard| self.hazards.contains_key(&hazard)))
    }

    /// Causes of faults.
    pub fn fault_share(&self, features: &Features) -> Share {
        Share::count(causes(features).map(|cause| self.faults.contains_key(&cause)))
    }

    /// The counts for a program to read.
    pub fn to_json(&self, features: &Features) -> serde_json::Value {
        let instruction = |op: Op| {
            let [converged, diverged] = self.instructions.get(&op).copied().unwrap_or_default();
            serde_json::json!({ "name": op.name(), "converged": converged, "diverged": diverged })
        };
        let hazard = |hazard: Hazard| {
            let (first, second, distance, dependency) = hazard;
            let count = self.hazards.get(&hazard).copied().unwrap_or_default();
            serde_json::json!({ "first": first.name(), "second": second.name(), "distance": distance,
                "dependency": dependency, "count": count })
        };
        let fault = |cause: Cause| {
            let count = self.faults.get(&cause).copied().unwrap_or_default();
            serde_json::json!({ "cause": cause as u8, "count": count })
        };
        serde_json::json!({
            "summary": {
                "instructions": self.instruction_share(features),
                "hazards": self.hazard_share(features),
                "faults": self.fault_share(features),
            },
            "instructions": ops(features).map(instruction).collect::<Vec<_>>(),
            "hazards": hazards(features).map(hazard).collect::<Vec<_>>(),
            "faults": causes(features).map(fault).collect::<Vec<_>>(),
        })
    }

    /// The counts for a person to read.
    pub fn table(&self, features: &Features) -> String {
        let mut lines = vec![format!(
            "instructions, converged and diverged: {}; hazards: {}; causes of faults: {}",
            self.instruction_share(features),
            self.hazard_share(features),
            self.fault_share(features)
        )];
        let missing: Vec<String> = ops(features)
            .filter_map(|op| {
                let counts = self.instructions.get(&op).copied().unwrap_or_default();
                let name = op.name();
                match counts.map(|n| n > 0) {
                    [true, true] => None,
                    [true, false] => Some(format!("{name} diverged")),
                    [false, true] => Some(format!("{name} converged")),
                    [false, false] => Some(name.to_string()),
                }
            })
            .collect();
        if !missing.is_empty() {
            lines.push(format!("never executed: {}", missing.join(", ")));
        }
        lines.push(
            "hazards covered, of distances 1 to 3 with every possible dependency (row first, column second)"
                .into(),
        );
        let classes: Vec<Class> = classes(features).collect();
        let header: String = classes.iter().map(|class| format!("{:>8}", class.name())).collect();
        lines.push(format!("{:8}{header}", ""));
        for first in &classes {
            let cell = |second: &Class| {
                let pair = hazards(features).filter(|hazard| (hazard.0, hazard.1) == (*first, *second));
                format!("{:>8}", Share::count(pair.map(|h| self.hazards.contains_key(&h))).to_string())
            };
            lines.push(format!("{:8}{}", first.name(), classes.iter().map(cell).collect::<String>()));
        }
        let count = |cause: Cause| {
            format!("{} ({:?}) {}", cause as u8, cause, self.faults.get(&cause).copied().unwrap_or_default())
        };
        if features.faults {
            let watchdog = Some(Cause::Watchdog).filter(|cause| self.faults.contains_key(cause));
            let counts: Vec<_> = causes(features).chain(watchdog).map(count).collect();
            lines.push(format!("threads that faulted, by cause: {}", counts.join(", ")));
        }
        lines.join("\n")
    }
}

/// How `second` depends on `first`.
fn dependencies(first: &Instruction, second: &Instruction) -> Vec<Dependency> {
    let (written, writes) = (first.writes(), second.writes());
    let mut found = Vec::new();
    if written.is_some_and(|register| second.reads().any(|read| read == register)) {
        found.push(Dependency::ReadAfterWrite);
    }
    if written.is_some() && written == writes {
        found.push(Dependency::WriteAfterWrite);
    }
    if writes.is_some_and(|register| first.reads().any(|read| read == register)) {
        found.push(Dependency::WriteAfterRead);
    }
    if found.is_empty() {
        found.push(Dependency::None);
    }
    found
}

/// Instructions that complete on such an array; `ecall` and `ebreak` only fault.
fn ops(features: &Features) -> impl Iterator<Item = Op> {
    let (isa, faults) = (features.isa(), features.faults);
    let known = move |op: &Op| isa.has(op.encoding().extension);
    Op::ALL.iter().copied().filter(known).filter(move |op| faults || op.class() != Class::System)
}

fn classes(features: &Features) -> impl Iterator<Item = Class> {
    let (m, zbb, atomics) = (features.m, features.zbb, features.atomics);
    let known = move |class: &Class| match class {
        Class::Mul => m,
        Class::Div => m || zbb,
        Class::Atomic => atomics,
        _ => true,
    };
    Class::HAZARDS.into_iter().filter(known)
}

fn hazards(features: &Features) -> impl Iterator<Item = Hazard> {
    let mut all = Vec::new();
    for first in classes(features) {
        for second in classes(features) {
            for distance in 1..=DISTANCE {
                // No CSR holds the address of code: such a jump can only fault.
                let csr_jump = (first, second) == (Class::Csr, Class::Jalr) && !features.faults;
                let never = |d: &Dependency| csr_jump && *d == Dependency::ReadAfterWrite;
                let possible = Dependency::ALL.into_iter().filter(|d| d.possible(first, second) && !never(d));
                all.extend(possible.map(|dependency| (first, second, distance, dependency)));
            }
        }
    }
    all.into_iter()
}

fn causes(features: &Features) -> impl Iterator<Item = Cause> {
    let (faults, windows, local_window) = (features.faults, features.windows, features.local_window);
    let outside = |cause: &Cause| matches!(cause, Cause::LoadAccess | Cause::StoreAccess);
    // The watchdog is not a matter of the program.
    let causes = Cause::ALL.into_iter().filter(|cause| *cause != Cause::Watchdog);
    causes.filter(move |cause| faults && (windows || local_window || !outside(cause)))
}
