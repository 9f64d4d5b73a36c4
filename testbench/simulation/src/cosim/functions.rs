//! Network functions that share an array: what each of them is, which cores they have, and where
//! their packets go.

use super::device::Device;
use super::edges::Edges;
use super::error::CosimError;
use super::host::{option, Host};
use crate::iss::Window;

/// What the hardware keeps a network function to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guards {
    /// Of packets it reaches those of its warp alone, and it fetches instructions from its read
    /// window alone.
    pub guarded: bool,
    /// It may load from packets, or, unless it is guarded, from what window 0 of the array is.
    pub may_load: bool,
    /// It may store there.
    pub may_store: bool,
    /// It may use `lr.w`, which makes others wait that use the same bank of the L2.
    pub may_reserve: bool,
    /// Its threads that forward their packets store no verdict: that of the function before stands.
    pub keeps_verdict: bool,
}

impl Guards {
    /// Those of a function that nobody must trust, with verdicts of its own: without `lr.w`.
    #[must_use]
    pub fn tight(may_load: bool, may_store: bool) -> Self {
        Self { guarded: true, may_load, may_store, may_reserve: false, keeps_verdict: false }
    }

    /// Bits 5:1 of NF_FLAGS.
    fn flags(self) -> u32 {
        u32::from(self.guarded) << 1
            | u32::from(self.may_load) << 2
            | u32::from(self.may_store) << 3
            | u32::from(self.may_reserve) << 4
            | u32::from(self.keeps_verdict) << 5
    }
}

impl Default for Guards {
    /// None, as of NF 0 after a reset.
    fn default() -> Self {
        Self { guarded: false, may_load: true, may_store: true, may_reserve: true, keeps_verdict: false }
    }
}

/// What the cores of a network function know of it: its context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Address of the first instruction.
    pub entry: u32,
    /// Address of the argument block.
    pub argument: u32,
    /// Registers of a thread: 16 or 32.
    pub registers: u32,
    /// Address of the stack area.
    pub stack_base: u32,
    /// What it may load from beside window 0.
    pub read: Window,
    /// What it may store to beside window 0.
    pub write: Window,
    /// Cycles that a warp may be on a core before its lanes end with a fault, below 2^31; 0: any
    /// number.
    pub watchdog: u32,
    /// Warps on a core at a time.
    pub mcw: u32,
    /// What it is kept to.
    pub guards: Guards,
}

/// What a network function did since reset, each modulo 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct FunctionCounts {
    /// Warps that wait for it now.
    pub queued: u32,
    /// Most warps that waited at a time.
    pub peak: u32,
    /// Warps that were started.
    pub visits: u32,
    /// Packets of these warps.
    pub lanes: u32,
    /// Packets that it forwarded.
    pub forwarded: u32,
    /// Packets that it did not forward.
    pub dropped: u32,
    /// Threads that ended with a fault.
    pub faulted: u32,
}

/// Registers of a context in the order of its words: those of NF 0, and those of the others.
const WORDS: [(&str, &str); 10] = [
    ("KERNEL_ENTRY", "NF_ENTRY"),
    ("ARGUMENT", "NF_ARGUMENT"),
    ("KERNEL_CLASS", "NF_FLAGS"),
    ("STACK_BASE", "NF_STACK_BASE"),
    ("READ_WINDOW_1_BASE", "NF_READ_BASE"),
    ("READ_WINDOW_1_SIZE", "NF_READ_SIZE"),
    ("WRITE_WINDOW_1_BASE", "NF_WRITE_BASE"),
    ("WRITE_WINDOW_1_SIZE", "NF_WRITE_SIZE"),
    ("WATCHDOG", "NF_WATCHDOG"),
    ("MCW", "NF_MCW"),
];

/// Bits of a core in CORE_NF, cores of one of its registers, and the number of no function.
const CORE_BITS: u32 = 4;
const CORES_PER_REGISTER: usize = 8;
const NO_FUNCTION: u32 = 15;
/// NF_NEXT: packets go on.
const GOES_ON: u32 = 1 << 3;
/// NF_NEXT_PORTS: packets of the port leave, whatever NF_NEXT says; bits of an edge.
const OWN_END: u32 = 1;
const EDGE_BITS: u32 = 4;
/// CHAIN_CONTROL: entry NF.
const ENTRY_SHIFT: u32 = 16;
/// CHAIN_CONTROL: most that CHAIN_LIMIT can be.
const MOST_IN_FLIGHT: u32 = 1 << 10;

/// A register and what is written to it.
pub type RegisterWord = (&'static str, u32);

/// CORE_NF registers.
const CORE_REGISTERS: [&str; 4] = ["CORE_NF_0", "CORE_NF_1", "CORE_NF_2", "CORE_NF_3"];

/// The writes that make `context` that of function number `function`.
#[must_use]
pub fn context_words(function: u32, context: &Function) -> Vec<RegisterWord> {
    let flags = if function > 0 { context.guards.flags() } else { 0 };
    let values = [
        context.entry,
        context.argument,
        u32::from(context.registers == 16) | flags,
        context.stack_base,
        context.read.base,
        context.read.size,
        context.write.base,
        context.write.size,
        context.watchdog,
        context.mcw,
    ];
    let names = WORDS.map(|(first, other)| if function == 0 { first } else { other });
    let mut words = vec![("NF_SELECT", function)];
    words.extend(names.into_iter().zip(values));
    if function == 0 {
        words.push(("NF_FLAGS", context.guards.flags()));
    }
    words
}

/// The writes that give function number `function` another first instruction.
#[must_use]
pub fn entry_words(function: u32, entry: u32) -> Vec<RegisterWord> {
    vec![("NF_SELECT", function), (if function == 0 { WORDS[0].0 } else { WORDS[0].1 }, entry)]
}

/// The writes that give function number `function` another argument block.
#[must_use]
pub fn argument_words(function: u32, argument: u32) -> Vec<RegisterWord> {
    vec![("NF_SELECT", function), (if function == 0 { WORDS[1].0 } else { WORDS[1].1 }, argument)]
}

/// The writes after which a core has at most `mcw` warps of function number `function`.
#[must_use]
pub fn warps_words(function: u32, mcw: u32) -> Vec<RegisterWord> {
    vec![("NF_SELECT", function), (if function == 0 { WORDS[9].0 } else { WORDS[9].1 }, mcw)]
}

/// The writes after which packets go on by `edges` behind `function`; those that branch need an
/// array with branches. Each verdict has its old edge or its new one in every cycle between.
#[must_use]
pub fn edge_words(function: u32, edges: &Edges, branches: bool) -> Vec<RegisterWord> {
    let word = |edge: Option<usize>| edge.map_or(0, |to| GOES_ON | to as u32);
    let mut words = vec![("NF_SELECT", function), ("NF_NEXT", word(edges.other))];
    if branches && edges.is_plain() {
        // All ports as NF_NEXT, which one write changes for all of them.
        words.extend([("NF_NEXT_PORTS", 0), ("NF_NEXT_DROP", 0)]);
    } else if branches {
        // All ports have edges of their own: none follows NF_NEXT from one write to the other.
        let port = |edge: &Option<Option<usize>>| word(edge.unwrap_or(edges.other)).max(OWN_END);
        let ports = edges.ports.iter().rev().fold(0, |ports, edge| ports << EDGE_BITS | port(edge));
        words.push(("NF_NEXT_PORTS", ports));
        words.push(("NF_NEXT_DROP", word(edges.drop) | word(edges.fault) << EDGE_BITS));
    }
    words
}

/// The write after which new packets go to `entry`, at most `limit` warps at a time.
#[must_use]
pub fn chain_words(limit: u32, entry: u32) -> Vec<RegisterWord> {
    vec![("CHAIN_CONTROL", limit | entry << ENTRY_SHIFT)]
}

/// The writes that give core n of `cores` to function `functions[n]`, or to none.
#[must_use]
pub fn core_words(functions: &[Option<u32>], cores: u32) -> Vec<RegisterWord> {
    let registers = CORE_REGISTERS.into_iter().take((cores as usize).div_ceil(CORES_PER_REGISTER));
    let word = |(register, name)| {
        let function = |core| functions.get(CORES_PER_REGISTER * register + core).copied().flatten();
        let bits = |core| function(core).unwrap_or(NO_FUNCTION) << (CORE_BITS * core as u32);
        (name, (0..CORES_PER_REGISTER).map(bits).sum())
    };
    registers.enumerate().map(word).collect()
}

impl<D: Device> Host<D> {
    /// Makes sure that the array has this function.
    fn check_function(&self, function: u32) -> Result<(), CosimError> {
        let functions = self.info().functions;
        let expected = match functions {
            0 => "an array with network functions".to_string(),
            _ => format!("0 to {}", functions - 1),
        };
        option("function", function, function < functions, &expected)
    }

    /// Makes `context` that of network function number `function`; 0 is the one of the registers
    /// of an array without network functions. Its code, tables and stacks are in place.
    ///
    /// # Errors
    /// The array has no such function, an option is out of its range, or a register does not
    /// answer.
    pub fn load_function(&mut self, function: u32, context: &Function) -> Result<(), CosimError> {
        option("registers", context.registers, matches!(context.registers, 16 | 32), "16 or 32")?;
        option("watchdog", context.watchdog, context.watchdog >> 31 == 0, "0 to 2147483647")?;
        let most = hermes_rtl::config::most_warps(self.info().warps, context.registers);
        let range = format!("1 to {most} with this kernel and array");
        option("mcw", context.mcw, (1..=most).contains(&context.mcw), &range)?;
        self.check_function(function)?;
        self.write_all(context_words(function, context))
    }

    fn write_all(&mut self, words: Vec<RegisterWord>) -> Result<(), CosimError> {
        words.into_iter().try_for_each(|(name, value)| self.write(name, value))
    }

    /// The packets that `function` forwards go on to `next`, a higher one; without it they leave
    /// the chain.
    ///
    /// # Errors
    /// The array has no such functions, `next` is not above `function`, or a register does not
    /// answer.
    pub fn set_next(&mut self, function: u32, next: Option<u32>) -> Result<(), CosimError> {
        self.check_function(function)?;
        let last = self.info().functions - 1;
        if let Some(next) = next {
            let expected = format!("a function above {function}, at most {last}");
            option("next", next, (function + 1..=last).contains(&next), &expected)?;
        }
        let edges = Edges::to(next.map(|next| next as usize));
        self.write_all(edge_words(function, &edges, self.info().function_branches))
    }

    /// Packets go on by `edges` behind `function`, to higher functions only.
    ///
    /// # Errors
    /// The array has no such functions, an edge does not lead to a higher one, there are edges by
    /// verdict and the array has no branches, or a register does not answer.
    pub fn set_edges(&mut self, function: u32, edges: &Edges) -> Result<(), CosimError> {
        self.check_function(function)?;
        let last = self.info().functions - 1;
        let expected = format!("functions above {function}, at most {last}");
        for to in edges.targets() {
            let to = to as u32;
            option("edges", to, (function + 1..=last).contains(&to), &expected)?;
        }
        let branches = self.info().function_branches;
        option("edges", function, branches || edges.is_plain(), "an array with branches")?;
        self.write_all(edge_words(function, edges, branches))
    }

    /// Of new packets at most `limit` warps are in flight (0: as many as there is room for), and
    /// they go to function `entry`.
    ///
    /// # Errors
    /// The array has no such function, `limit` is more than 1,024, or a register does not answer.
    pub fn set_chain(&mut self, limit: u32, entry: u32) -> Result<(), CosimError> {
        self.check_function(entry)?;
        option("limit", limit, limit <= MOST_IN_FLIGHT, "0 to 1024")?;
        self.write_all(chain_words(limit, entry))
    }

    /// Gives core n to function `functions[n]`, or to none, and the others to none. It does not
    /// wait: see [`Self::wait_for_cores`].
    ///
    /// # Errors
    /// The array has no such function or core, or a register does not answer.
    pub fn move_cores(&mut self, functions: &[Option<u32>]) -> Result<(), CosimError> {
        let (cores, last) = (self.info().cores, self.info().functions);
        let expected = format!("at most {cores} cores");
        option("cores", functions.len() as u32, functions.len() <= cores as usize, &expected)?;
        for function in functions.iter().flatten() {
            option("function", *function, *function < last, &format!("a number below {last}"))?;
        }
        self.write_all(core_words(functions, cores))
    }

    /// Waits until every core has the function that [`Self::move_cores`] gave it last.
    ///
    /// # Errors
    /// [`CosimError::StillBusy`] if a core has not drained after 100,000 cycles, or a register does
    /// not answer.
    pub fn wait_for_cores(&mut self) -> Result<(), CosimError> {
        let all = u32::MAX >> (32 - self.info().cores);
        self.wait_until("CORE_READY", |ready| ready == all)
    }

    /// What `function` did.
    ///
    /// # Errors
    /// The array has no such function, or a register does not answer.
    pub fn function_counts(&mut self, function: u32) -> Result<FunctionCounts, CosimError> {
        self.check_function(function)?;
        self.write("NF_SELECT", function)?;
        Ok(FunctionCounts {
            queued: self.read("NF_QUEUED")?,
            peak: self.read("NF_PEAK")?,
            visits: self.read("NF_VISITS")?,
            lanes: self.read("NF_LANES")?,
            forwarded: self.read("NF_FORWARDED")?,
            dropped: self.read("NF_DROPPED")?,
            faulted: self.read("NF_FAULTED")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::super::edges::BRANCH_PORTS;
    use super::*;
    use crate::verdict::{Verdict, DROP, FAULT};

    /// NF_NEXT, NF_NEXT_PORTS and NF_NEXT_DROP of a function.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Registers {
        next: u32,
        ports: u32,
        ends: u32,
    }

    impl Registers {
        fn write(&mut self, (name, value): RegisterWord) {
            match name {
                "NF_NEXT" => self.next = value,
                "NF_NEXT_PORTS" => self.ports = value,
                "NF_NEXT_DROP" => self.ends = value,
                other => assert_eq!(other, "NF_SELECT"),
            }
        }

        /// Where the array sends packets with each code, as docs/network-functions.md has it.
        fn edges(self) -> Vec<Option<usize>> {
            let ports = (0..BRANCH_PORTS as u32).map(|port| match self.ports >> (4 * port) & 15 {
                0 => self.next,
                own => own,
            });
            let all = ports.chain([self.next, self.ends & 15, self.ends >> 4]);
            all.map(|edge| (edge & 8 != 0).then_some(edge as usize & 7)).collect()
        }
    }

    /// Verdicts of all codes.
    fn verdicts() -> Vec<Verdict> {
        let ports = (0..=BRANCH_PORTS as u32).map(Verdict::forward);
        ports.chain([Verdict(DROP), Verdict(FAULT)]).collect()
    }

    fn random_edges(random: &mut ChaCha8Rng) -> Edges {
        let mut edge = || (random.gen::<bool>().then(|| random.gen_range(1..4)), random.gen::<bool>());
        let plain = Edges::to(edge().0);
        match edge().1 {
            true => plain,
            false => Edges {
                ports: [(); BRANCH_PORTS].map(|()| edge()).map(|(to, is_own)| is_own.then_some(to)),
                drop: edge().0,
                fault: edge().0,
                ..plain
            },
        }
    }

    /// While edges to one function are bent to another one, or to the end, packets of each verdict
    /// go to the old one or to the new one; with one write if all that are forwarded go one way.
    #[test]
    fn edges_are_bent_in_a_safe_order() {
        let seed = crate::test_seed();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..2_000 {
            let before = random_edges(&mut random);
            let (old, new) = (random.gen_range(1..4), [Some(7), Some(2), None][random.gen_range(0..3)]);
            let after = before.map_ends(|to| if to == old { new } else { Some(to) });
            let mut registers = Registers::default();
            edge_words(3, &before, true).into_iter().for_each(|word| registers.write(word));
            let of = |edges: &Edges| verdicts().iter().map(|verdict| edges.of(*verdict)).collect::<Vec<_>>();
            assert_eq!(registers.edges(), of(&before), "seed {seed}: {before:?}");
            let mut changes = 0;
            for word in edge_words(3, &after, true) {
                let last = registers.edges();
                registers.write(word);
                let now = registers.edges();
                changes += usize::from(last != now);
                for (code, to) in now.into_iter().enumerate() {
                    let expected = [of(&before)[code], of(&after)[code]];
                    assert!(expected.contains(&to), "seed {seed}: {before:?} {after:?}: {code} to {to:?}");
                }
            }
            assert_eq!(registers.edges(), of(&after), "seed {seed}: {after:?}");
            if before.is_plain() && after.is_plain() {
                assert!(changes <= 1, "seed {seed}: {before:?} {after:?}: {changes} writes");
            }
        }
    }
}
