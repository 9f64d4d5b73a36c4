//! A chain on an array: kernels built and placed in one memory, cores given out.

use std::fmt::Display;

use hermes_rtl::config::Config;

use super::edges::Edges;
use super::hang::Hang;
use super::loaded::{build, data, needs, Loaded, Ring};
use super::manifest::{Code, Packet};
use super::plan::{ways, ChainPlan, Planned};
use super::region::Region;
use super::text::{ChainError, Problem};
use crate::apps::{App, AppEntry};
use crate::cosim::{usual_ring_slots_log2, Allocator, ArraySetup, CosimError, EgressLists, Guards, LINE};
use crate::iss::Window;
use crate::kernel::{Kernel, StackNeed, KERNEL_ADDRESSES};
use crate::slot;
use crate::verdict::Verdict;

/// Most functions of a chain: those that the hardware can have.
pub const MOST_FUNCTIONS: usize = 8;
/// Bytes of the longest frame that comes in, if nothing is said of it.
const USUAL_FRAME_BYTES: u32 = 1518;
/// The largest stack, as a power of two.
const MOST_STACK_BYTES_LOG2: u32 = 16;
/// Stubs that a function that hangs is bent to: one drops every packet, one forwards it as it came.
const STUBS: [u32; 4] = [
    0x8000_0537, // lui a0, 0x80000
    0x0000_8067, // ret
    0x0000_0513, // li a0, 0
    0x0000_8067, // ret
];
/// Where the second one begins.
const PASS_STUB: u32 = 8;
/// What the stubs return.
pub(super) const STUB_DROPS: Verdict = Verdict(crate::verdict::DROP);
pub(super) const STUB_PASSES: Verdict = Verdict::forward(0);

/// Where a chain is to run.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The array.
    pub config: &'a Config,
    /// Bytes of the shared memory.
    pub memory_bytes: u64,
    /// Bytes of the longest frame that comes in, if it is known; else what the chain file says.
    pub frame_bytes: Option<u32>,
}

/// A function of a chain, in its place.
#[derive(Debug)]
pub struct Function {
    /// Its name in the chain.
    pub name: String,
    /// Its kernel, linked to where it lies.
    pub kernel: Kernel,
    /// The app whose tables and golden model it has.
    pub app: Option<Box<dyn App>>,
    /// What is known of that app before its inputs are read.
    pub(super) entry: Option<&'static AppEntry>,
    /// Where all that it has lies.
    pub region: Region,
    /// Where packets go behind it, by the numbers of functions.
    pub edges: Edges,
    /// The number of its first core.
    pub first_core: usize,
    /// How many cores it has.
    pub cores: usize,
    /// Most warps of it on a core.
    pub mcw: u32,
    /// Cycles that a warp of it may be on a core; 0: any number.
    pub watchdog: u32,
    /// What it does to packets, as its vendor says.
    pub packet: Packet,
    /// What the hardware keeps it to.
    pub guards: Guards,
    /// Most bytes by which it makes a frame longer.
    pub growth: usize,
    /// What happens if it hangs.
    pub on_hang: Option<Hang>,
    /// What is written to its region beside the kernel: address and bytes.
    data: Vec<(u32, Vec<u8>)>,
}

impl Function {
    /// Whether a packet with this verdict of the function keeps that of the function before.
    #[must_use]
    pub fn keeps(&self, verdict: Verdict) -> bool {
        self.guards.keeps_verdict && verdict.is_forward()
    }

    /// The name of a verdict: that of its app, if it has one.
    #[must_use]
    pub fn verdict_name(&self, verdict: Verdict) -> String {
        self.app.as_ref().map_or_else(|| verdict.to_string(), |app| app.verdict_name(verdict))
    }

    /// All that is written to its region before it runs: address and bytes. The rest is zeros.
    pub fn image(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let segments = self.kernel.segments.iter().map(|segment| (segment.address, &segment.bytes[..]));
        segments.chain(self.data.iter().map(|(address, bytes)| (*address, &bytes[..])))
    }

    /// What it may load from, beside packets and its stack.
    #[must_use]
    pub fn read_window(&self) -> Window {
        self.region.read_window()
    }

    /// The first instruction of the stub that drops packets, and of the one that forwards them.
    #[must_use]
    pub fn stubs(&self) -> [u32; 2] {
        [self.region.stubs(), self.region.stubs() + PASS_STUB]
    }

    /// What it may store to, alike.
    #[must_use]
    pub fn write_window(&self) -> Window {
        self.region.write_window()
    }
}

/// The verdict of a packet behind these visits, each with its function and the verdict of that: the
/// last one of a function that has not kept that of the function before.
pub(super) fn verdict_behind<'a>(
    visits: impl DoubleEndedIterator<Item = (&'a Function, Verdict)>,
) -> Option<Verdict> {
    let mut stored = visits.rev().filter(|(function, verdict)| !function.keeps(*verdict));
    stored.next().map(|(_, verdict)| verdict)
}

/// A chain, ready to be loaded.
#[derive(Debug)]
pub struct Chain {
    /// The functions, in the order in which packets visit them.
    pub functions: Vec<Function>,
    /// Functions that come while packets flow, whose numbers follow. They have no cores yet.
    pub added: Vec<Function>,
    /// Most entries in flight; 0: as many as there can be.
    pub limit: u32,
    /// Slots of the packet ring, as a power of two.
    pub ring_slots_log2: u32,
    /// Bytes of a slot, as a power of two.
    pub slot_bytes_log2: u32,
    /// Bytes of a thread's stack, as a power of two.
    pub stack_bytes_log2: u32,
    /// The egress lists of the last function, if it has any.
    pub egress: Option<EgressLists>,
}

impl Chain {
    /// All functions by their numbers: those of the chain, and those that come later.
    pub fn all(&self) -> impl Iterator<Item = &Function> + Clone {
        self.functions.iter().chain(&self.added)
    }

    /// The function of this number.
    #[must_use]
    pub fn function(&self, number: usize) -> &Function {
        let first = self.functions.len();
        self.functions.get(number).unwrap_or_else(|| &self.added[number - first])
    }
}

impl ChainPlan {
    /// Builds the kernels, reads what the apps take, and gives each function its cores and its
    /// place.
    ///
    /// # Errors
    /// All that is wrong, as far as it could be looked for: what the array lacks, then sizes, then
    /// places.
    pub fn place(&self, on: Surroundings<'_>) -> Result<Chain, ChainError> {
        if !on.config.local_window {
            let told = "the array has no local window, in which the stacks of functions are kept apart; \
                        expected --local-window";
            return Err(self.problem(&self.functions[0], "function", told).into());
        }
        self.check_branches(on.config)?;
        let cores = self.cores(on.config)?;
        let mut problems = Vec::new();
        let mut loaded = Vec::new();
        let cores = cores.into_iter().chain(self.added.iter().map(|_| 0));
        for (planned, cores) in self.functions.iter().chain(&self.added).zip(cores) {
            match Loaded::load(planned, cores, self.branching().is_some(), on.config) {
                Ok(function) => loaded.push(function),
                Err(problem) => problems.push(problem),
            }
        }
        ChainError::check(problems)?;
        let stack_bytes_log2 = self.stack(&loaded)?;
        let slot_bytes_log2 = self.slots(&loaded, on.frame_bytes)?;
        let last = loaded.get(self.functions.len() - 1);
        let entries = last
            .and_then(|last| last.app.as_ref())
            .map_or(0, |app| app.egress_entries(slot::capacity(slot_bytes_log2)));
        let list_log2 = EgressLists::bytes_log2_for(entries);
        let largest = list_log2.max(slot_bytes_log2);
        let ring_slots_log2 = match &self.ring_slots {
            Some(slots) => slots.get_ref().ilog2(),
            None => usual_ring_slots_log2(on.config, largest, on.memory_bytes),
        };
        let ring = Ring { slots_log2: ring_slots_log2, list_log2, entries };
        let mut functions = self.give_places(loaded, ring, on)?;
        let added = functions.split_off(self.functions.len());
        let egress = functions.last().filter(|_| entries > 0).map(|last| last.region.egress(list_log2));
        let limit = self.limit;
        Ok(Chain { functions, added, limit, ring_slots_log2, slot_bytes_log2, stack_bytes_log2, egress })
    }

    /// Makes sure that packets can branch on the array, if they do.
    ///
    /// # Errors
    /// It has network functions, but no branches.
    fn check_branches(&self, config: &Config) -> Result<(), ChainError> {
        match self.branching() {
            Some(planned) if config.network_functions > 0 && !config.function_branches => {
                let told = "edges by verdict, and the array has no branches; expected --function-branches";
                Err(self.problem(planned, "next", told).into())
            }
            _ => Ok(()),
        }
    }

    /// A problem of a function as a whole, at its line of the chain file.
    fn problem(&self, planned: &Planned, field: &str, problem: impl Display) -> Problem {
        // One that comes later is named by another file.
        let is_added = self.added.iter().any(|added| added.name == planned.name);
        let path = if is_added { planned.manifest.text.path() } else { self.path() };
        Problem {
            path: path.to_path_buf(),
            line: (!is_added).then_some(planned.line),
            field: Some(field.to_string()),
            problem: format!("{}: {problem}", planned.name),
        }
    }

    /// Cores of each function: as many as the operator says; the others share what is left evenly.
    pub(super) fn cores(&self, config: &Config) -> Result<Vec<usize>, ChainError> {
        let (count, all) = (self.functions.len(), config.cores);
        let most = match config.network_functions {
            0 => MOST_FUNCTIONS,
            most => most,
        };
        if let Some(planned) = self.functions.get(most) {
            let told = format!("the chain has {count} functions; expected at most {most}");
            return Err(self.problem(planned, "function", told).into());
        }
        if let Some(planned) = self.functions.get(all) {
            let told = format!(
                "the chain has {count} functions, and the array {all} cores; expected a core for each"
            );
            return Err(self.problem(planned, "function", told).into());
        }
        let asked = |planned: &Planned| planned.cores.as_ref().map(|cores| *cores.get_ref() as usize);
        let given: usize = self.functions.iter().filter_map(asked).sum();
        let others = self.functions.iter().filter(|planned| planned.cores.is_none()).count();
        if given + others > all {
            let named: Vec<_> = self
                .functions
                .iter()
                .map(|planned| {
                    format!(
                        "{} {}",
                        planned.name,
                        asked(planned).map_or("1 or more".into(), |n| n.to_string())
                    )
                })
                .collect();
            let told =
                format!("{}: {} of {all} cores; expected at most {all}", named.join(", "), given + others);
            let at = self.functions.iter().rev().find_map(|planned| planned.cores.as_ref());
            return Err(match at {
                Some(at) => self.text.problem(at, "cores", told),
                None => self.problem(&self.functions[0], "cores", told),
            }
            .into());
        }
        let (mut left, mut sharers) = (all - given, others);
        let share = |planned: &Planned| {
            asked(planned).unwrap_or_else(|| {
                let cores = left.div_ceil(sharers);
                (left, sharers) = (left - cores, sharers - 1);
                cores
            })
        };
        Ok(self.functions.iter().map(share).collect())
    }

    /// Bytes of a stack as a power of two: as the operator says, or enough for all.
    fn stack(&self, loaded: &[Loaded<'_>]) -> Result<u32, ChainError> {
        let usual = ArraySetup::default().stack_bytes_log2;
        let mut most = usual;
        let mut problems = Vec::new();
        for function in loaded {
            let Planned { manifest, .. } = function.planned;
            let need = StackNeed::of(&function.kernel);
            let measured = need.stack_bytes().unwrap_or(0);
            let of_app = function.app.as_ref().map_or(0, |app| 1 << app.stack_bytes_log2());
            let needed = match &manifest.stack_bytes {
                Some(said) if u64::from(*said.get_ref()) < measured => {
                    let told =
                        format!("{}: the kernel needs {need}; expected as many or more", said.get_ref());
                    problems.push(manifest.text.problem(said, "stack_bytes", told));
                    continue;
                }
                Some(said) => u64::from(*said.get_ref()).next_power_of_two(),
                None => measured.max(of_app),
            };
            if needed > 1 << MOST_STACK_BYTES_LOG2 {
                let told =
                    format!("needs {needed} bytes of stack; expected at most {}", 1 << MOST_STACK_BYTES_LOG2);
                problems.push(manifest.code_problem(told));
            } else if let Some(said) =
                self.stack_bytes.as_ref().filter(|said| u64::from(*said.get_ref()) < needed)
            {
                let told = format!(
                    "{}: {} needs {needed} bytes of stack; expected {needed} or more",
                    said.get_ref(),
                    function.planned.name
                );
                problems.push(self.text.problem(said, "stack_bytes", told));
            }
            most = most.max(needed.max(1).ilog2());
        }
        ChainError::check(problems)?;
        Ok(self.stack_bytes.as_ref().map_or(most, |said| said.get_ref().ilog2()))
    }

    /// Bytes of a slot as a power of two: as the operator says, or enough for the longest frame and
    /// what the functions add.
    fn slots(&self, loaded: &[Loaded<'_>], frame_bytes: Option<u32>) -> Result<u32, ChainError> {
        let said = self.frame_bytes.as_ref().map(|bytes| *bytes.get_ref());
        let frame = frame_bytes.or(said).unwrap_or(USUAL_FRAME_BYTES) as usize;
        let most_log2 = match &self.slot_bytes {
            Some(bytes) => bytes.get_ref().ilog2(),
            None => slot::MAX_BYTES_LOG2,
        };
        let most = slot::capacity(most_log2);
        // Of all ways that there are, one after the other if the chain changes.
        let first = || ways(0, |function| self.functions[function].edges);
        let versions = if self.versions.is_empty() { first() } else { self.versions.clone() };
        let mut longest = frame;
        for version in versions {
            let mut bytes = frame;
            for function in version.into_iter().map(|number| &loaded[number]) {
                bytes += function.growth;
                longest = longest.max(bytes);
                if bytes <= most {
                    continue;
                }
                let told = format!(
                    "a frame of {frame} bytes can have {bytes} behind it, and a slot of {} bytes holds {most}; \
                     expected {}",
                    1_u32 << most_log2,
                    if self.slot_bytes.is_some() { "larger slots (`slot_bytes`)" } else { "shorter frames" }
                );
                return Err(self.problem(function.planned, "function", told).into());
            }
        }
        let bytes = longest;
        let least = (slot::MIN_BYTES_LOG2..=slot::MAX_BYTES_LOG2).find(|log2| slot::capacity(*log2) >= bytes);
        Ok(self.slot_bytes.as_ref().map_or(least.unwrap_or(most_log2), |_| most_log2))
    }

    /// Gives each function its region: first those whose addresses are fixed, then the others where
    /// there is room.
    fn give_places(
        &self,
        loaded: Vec<Loaded<'_>>,
        ring: Ring,
        on: Surroundings<'_>,
    ) -> Result<Vec<Function>, ChainError> {
        let mut memory = Allocator::new(LINE as u64, on.memory_bytes);
        let mut problems = Vec::new();
        let mut places: Vec<Option<Region>> = vec![None; loaded.len()];
        let is_fixed = |function: &Loaded<'_>| {
            function.planned.at.is_some() || matches!(function.planned.manifest.code, Code::Kernel(_))
        };
        let fixed = (0..loaded.len()).filter(|at| is_fixed(&loaded[*at]));
        let others = (0..loaded.len()).filter(|at| !is_fixed(&loaded[*at]));
        let mut kernels: Vec<_> = loaded.iter().map(|function| function.kernel.clone()).collect();
        for number in fixed.chain(others) {
            let function = &loaded[number];
            match self.region(function, ring, &mut memory, on.config) {
                Ok((kernel, region)) => {
                    kernels[number] = kernel;
                    places[number] = Some(region);
                }
                Err(problem) => problems.push(problem),
            }
        }
        ChainError::check(problems)?;
        let mut first_core = 0;
        let functions = loaded.into_iter().zip(places.into_iter().flatten()).zip(kernels).map(
            |((function, region), kernel)| {
                let Loaded { planned, app, cores, mcw, growth, .. } = function;
                let mut data = data(app.as_deref(), &planned.manifest, &region, ring);
                if planned.on_hang.is_some() {
                    data.push((region.stubs(), STUBS.iter().flat_map(|word| word.to_le_bytes()).collect()));
                }
                let function = Function {
                    name: planned.name.clone(),
                    kernel,
                    app,
                    entry: planned.manifest.app.as_ref().map(|(_, entry, _)| *entry),
                    region,
                    edges: planned.edges,
                    first_core,
                    cores,
                    mcw,
                    watchdog: planned.manifest.watchdog,
                    packet: planned.manifest.packet,
                    guards: planned.manifest.guards(),
                    growth,
                    on_hang: planned.on_hang.clone(),
                    data,
                };
                first_core += cores;
                function
            },
        );
        Ok(functions.collect())
    }

    /// The region of a function, taken from `memory`, and its kernel, linked to it.
    fn region(
        &self,
        function: &Loaded<'_>,
        ring: Ring,
        memory: &mut Allocator,
        config: &Config,
    ) -> Result<(Kernel, Region), Problem> {
        let Loaded { planned, app, kernel, .. } = function;
        let manifest = &planned.manifest;
        let what = format!("the region of `{}`", planned.name);
        let mut needs = needs(app.as_deref(), manifest, ring);
        needs.stubs = planned.on_hang.as_ref().map_or(0, |_| 4 * STUBS.len() as u64);
        needs.spare = match &planned.spare_bytes {
            Some(bytes) => (*bytes.get_ref()).into(),
            None if planned.renewed => needs.renewed_bytes(),
            None => 0,
        };
        let of = |kernel: &Kernel| Region::of(kernel, &needs).map_err(|told| manifest.code_problem(told));
        let reserve = |region: &Region, memory: &mut Allocator| {
            region.reserve(&what, memory).map_err(|error| {
                let told = no_place(&error, region, memory);
                match &planned.at {
                    Some(at) => self.text.problem(at, "at", told),
                    None => manifest.code_problem(told),
                }
            })
        };
        if matches!(manifest.code, Code::Kernel(_)) {
            let region = of(kernel)?;
            if let Some(at) = planned.at.as_ref().filter(|at| *at.get_ref() != region.first) {
                let told = format!(
                    "{:#x}: the kernel of {} is linked to {:#x}; expected that, or nothing",
                    at.get_ref(),
                    planned.name,
                    region.first
                );
                return Err(self.text.problem(at, "at", told));
            }
            reserve(&region, memory)?;
            return Ok((kernel.clone(), region));
        }
        let trial = of(kernel)?;
        let address = match &planned.at {
            Some(at) => *at.get_ref(),
            None => {
                // Where it is free now; it is taken when its size there is known.
                let free = memory.clone().allocate(&what, trial.bytes, LINE as u64);
                free.map_err(|error| {
                    let told = no_place(&error, &trial, memory);
                    manifest.code_problem(told)
                })?
            }
        };
        if !KERNEL_ADDRESSES.contains(&address) {
            let told = format!(
                "{address:#x}: expected a multiple of {LINE}, {:#x} to {:#x}",
                KERNEL_ADDRESSES.start(),
                KERNEL_ADDRESSES.end()
            );
            return Err(match &planned.at {
                Some(at) => self.text.problem(at, "at", told),
                None => manifest.code_problem(told),
            });
        }
        let kernel =
            build(manifest, address, config).map_err(|error| manifest.code_problem(format!("{error:#}")))?;
        let region = of(&kernel)?;
        reserve(&region, memory)?;
        Ok((kernel, region))
    }
}

/// What is told of a region that finds no place.
fn no_place(error: &CosimError, region: &Region, memory: &Allocator) -> String {
    match error {
        CosimError::Overlap { .. } => format!("{error}; expected an address that is free"),
        _ => format!(
            "{error}: its region has {} bytes, {} are free, {} of them side by side",
            region.bytes,
            memory.free_bytes(),
            memory.largest_free()
        ),
    }
}
