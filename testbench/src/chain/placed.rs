//! A chain on an array: kernels built and placed in one memory, cores given out.

use std::fmt::Display;
use std::path::Path;

use hermes_rtl::config::{most_warps, Config};
use serde_spanned::Spanned;

use super::manifest::{Code, Manifest, Packet, Word};
use super::plan::{ChainPlan, Planned};
use super::region::{Needs, Region};
use super::text::{ChainError, Problem};
use crate::apps::{App, AppError, Placement};
use crate::cosim::{usual_ring_slots_log2, Allocator, ArraySetup, CosimError, EgressLists, Guards, LINE};
use crate::iss::Window;
use crate::kernel::{Arch, BuildOptions, Kernel, RegisterClass, StackNeed, KERNEL_ADDRESSES};
use crate::slot;
use crate::staging::temporary_folder;
use crate::verdict::Verdict;

/// Most functions of a chain: those that the hardware can have.
pub const MOST_FUNCTIONS: usize = 8;
/// Bytes of the longest frame that comes in, if nothing is said of it.
const USUAL_FRAME_BYTES: u32 = 1518;
/// The largest stack, as a power of two.
const MOST_STACK_BYTES_LOG2: u32 = 16;
/// The address at which a kernel is linked first, to see how large it is.
const TRIAL_ADDRESS: u32 = 0x1000;
/// The name of an app's tables.
const APP_TABLES: &str = "of the app";

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
    /// Where all that it has lies.
    pub region: Region,
    /// The number of the next function; `None` behind the last one.
    pub next: Option<usize>,
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
    /// What is written to its region beside the kernel: address and bytes.
    data: Vec<(u32, Vec<u8>)>,
}

impl Function {
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

    /// What it may store to, alike.
    #[must_use]
    pub fn write_window(&self) -> Window {
        self.region.write_window()
    }
}

/// A chain, ready to be loaded.
#[derive(Debug)]
pub struct Chain {
    /// The functions, in the order in which packets visit them.
    pub functions: Vec<Function>,
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

/// A function whose inputs were read, before it has its place.
struct Loaded<'a> {
    planned: &'a Planned,
    app: Option<Box<dyn App>>,
    /// The kernel as it is linked at first, or for good.
    kernel: Kernel,
    cores: usize,
    mcw: u32,
    growth: usize,
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
        let cores = self.cores(on.config)?;
        let mut problems = Vec::new();
        let mut loaded = Vec::new();
        for (planned, cores) in self.functions.iter().zip(cores) {
            match Loaded::load(planned, cores, on.config) {
                Ok(function) => loaded.push(function),
                Err(problem) => problems.push(problem),
            }
        }
        ChainError::check(problems)?;
        let stack_bytes_log2 = self.stack(&loaded)?;
        let slot_bytes_log2 = self.slots(&loaded, on.frame_bytes)?;
        let last = loaded.last();
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
        let functions = self.give_places(loaded, ring, on)?;
        let egress = functions.last().filter(|_| entries > 0).map(|last| last.region.egress(list_log2));
        let limit = self.limit;
        Ok(Chain { functions, limit, ring_slots_log2, slot_bytes_log2, stack_bytes_log2, egress })
    }

    /// A problem of a function as a whole, at its line of the chain file.
    fn problem(&self, planned: &Planned, field: &str, problem: impl Display) -> Problem {
        Problem {
            path: self.path().to_path_buf(),
            line: Some(planned.line),
            field: Some(field.to_string()),
            problem: format!("{}: {problem}", planned.name),
        }
    }

    /// Cores of each function: as many as the operator says; the others share what is left evenly.
    fn cores(&self, config: &Config) -> Result<Vec<usize>, ChainError> {
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
        let mut bytes = frame;
        for function in loaded {
            bytes += function.growth;
            if bytes > most {
                let told = format!(
                    "a frame of {frame} bytes can have {bytes} behind it, and a slot of {} bytes holds {most}; \
                     expected {}",
                    1_u32 << most_log2,
                    if self.slot_bytes.is_some() { "larger slots (`slot_bytes`)" } else { "shorter frames" }
                );
                return Err(self.problem(function.planned, "function", told).into());
            }
        }
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
                let data = data(app.as_deref(), &planned.manifest, &region, ring);
                let function = Function {
                    name: planned.name.clone(),
                    kernel,
                    app,
                    region,
                    next: planned.next,
                    first_core,
                    cores,
                    mcw,
                    watchdog: planned.manifest.watchdog,
                    packet: planned.manifest.packet,
                    guards: planned.manifest.guards(),
                    growth,
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
        let needs = needs(app.as_deref(), manifest, ring);
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

/// The ring, as far as regions depend on it.
#[derive(Clone, Copy, Debug)]
struct Ring {
    slots_log2: u32,
    /// Bytes of an egress list, as a power of two, and its entries: 0 if there are none.
    list_log2: u32,
    entries: usize,
}

impl<'a> Loaded<'a> {
    /// Reads what the app of a function takes, and builds or reads its kernel.
    fn load(planned: &'a Planned, cores: usize, config: &Config) -> Result<Self, Problem> {
        let manifest = &planned.manifest;
        let app = manifest.app.as_ref().map(|(at, entry, inputs)| {
            let app = entry.load(inputs).map_err(|error| input_problem(manifest, at, &error))?;
            if planned.next.is_some() && app.egress_entries(slot::capacity(slot::MAX_BYTES_LOG2)) > 0 {
                let told = format!(
                    "{} sends other frames than those in the slots, which the next function would not see; \
                     expected it at the end",
                    entry.name
                );
                return Err(manifest.text.problem(at, "app", told));
            }
            Ok(app)
        });
        let app = app.transpose()?;
        let growth = growth(manifest, app.as_deref())?;
        let kernel = build(manifest, TRIAL_ADDRESS, config)
            .map_err(|error| manifest.code_problem(format!("{error:#}")))?;
        if let Some(arch) = &kernel.arch {
            let lacking = arch.beyond(config);
            if !lacking.is_empty() {
                let told = format!(
                    "the kernel of {} is built for {arch}, the array has {}; it lacks {}",
                    planned.name,
                    Arch::of(config),
                    lacking.join(", ")
                );
                return Err(manifest.code_problem(told));
            }
        }
        let registers = kernel.registers.registers();
        let most = most_warps(config.warps as u32, registers as u32);
        let mcw = match &manifest.mcw {
            Some(mcw) if !(1..=most).contains(mcw.get_ref()) => {
                let told = format!(
                    "{}: expected 1 to {most} ({} warp slots a core, {registers} registers a thread)",
                    mcw.get_ref(),
                    config.warps
                );
                return Err(manifest.text.problem(mcw, "mcw", told));
            }
            Some(mcw) => *mcw.get_ref(),
            None => most,
        };
        Ok(Self { planned, app, kernel, cores, mcw, growth })
    }
}

/// What is wrong with the inputs of an app, in the words of a manifest.
fn input_problem(manifest: &Manifest, at: &Spanned<String>, error: &anyhow::Error) -> Problem {
    let field =
        |option: &str| option.trim_start_matches("--").split(' ').next().unwrap_or_default().to_string();
    let told = match error.downcast_ref::<AppError>() {
        Some(AppError::Missing { name, option }) => {
            let field = field(option);
            format!("{name} needs `{field}`; expected inputs = {{ {field} = .. }}")
        }
        Some(AppError::Superfluous { name, option }) => {
            format!("{name} does not take `{}`; expected it left away", field(option))
        }
        _ => format!("{error:#}"),
    };
    manifest.text.problem(at, "inputs", told)
}

/// Most bytes by which a function makes a frame longer.
fn growth(manifest: &Manifest, app: Option<&dyn App>) -> Result<usize, Problem> {
    let of_app = app.map_or(0, App::growth);
    if of_app > 0 && manifest.packet != Packet::Write {
        let told = "it makes frames longer; expected packet = \"write\"";
        return Err(manifest.code_problem(told));
    }
    match &manifest.grow {
        Some(grow) if (*grow.get_ref() as usize) < of_app => {
            let told = format!(
                "{}: the app makes frames up to {of_app} bytes longer; expected as many, or nothing",
                grow.get_ref()
            );
            Err(manifest.text.problem(grow, "grow", told))
        }
        Some(grow) => Ok(*grow.get_ref() as usize),
        None => Ok(of_app),
    }
}

/// The kernel of a function, linked to `address` unless it has one.
fn build(manifest: &Manifest, address: u32, config: &Config) -> anyhow::Result<Kernel> {
    match &manifest.code {
        Code::App => {
            let (_, entry, _) = manifest.app.as_ref().ok_or_else(|| anyhow::anyhow!("no app"))?;
            entry.kernel_at(config.aes, Some(address))
        }
        Code::Kernel(path) => Ok(Kernel::read(path)?),
        Code::Source { path, rv32e, atomics, aes } => {
            let registers = if *rv32e { RegisterClass::Rv32e } else { RegisterClass::Rv32i };
            let options = BuildOptions {
                atomics: *atomics,
                aes: *aes,
                address: Some(address),
                include: vec![path.parent().unwrap_or(Path::new(".")).to_path_buf()],
                ..BuildOptions::new(registers)
            };
            let folder = temporary_folder("hermes-")?;
            let output = folder.path().join("kernel.elf");
            crate::kernel::build_with(std::slice::from_ref(path), &options, &output)?;
            Ok(Kernel::read(&output)?)
        }
    }
}

/// What a function needs beside its kernel.
fn needs(app: Option<&dyn App>, manifest: &Manifest, ring: Ring) -> Needs {
    let state = manifest.state_bytes.into();
    let Some(app) = app else {
        let tables = manifest.tables.iter().map(|table| (table.name.clone(), table.bytes.len() as u64));
        let argument = 4 * manifest.argument.len() as u64;
        return Needs { state, egress: 0, tables: tables.collect(), argument };
    };
    let lists = app.egress_entries(1) > 0 && ring.entries > 0;
    let placement = Placement {
        tables: 0,
        egress: EgressLists { address: 0, bytes_log2: ring.list_log2 },
        ring_slots: 1 << ring.slots_log2,
    };
    Needs {
        state,
        egress: if lists { 1 << (ring.slots_log2 + ring.list_log2) } else { 0 },
        tables: vec![(APP_TABLES.to_string(), app.table_bytes() as u64)],
        argument: 4 * app.argument(&placement).len() as u64,
    }
}

/// Tables and argument block of a function in its region.
fn data(app: Option<&dyn App>, manifest: &Manifest, region: &Region, ring: Ring) -> Vec<(u32, Vec<u8>)> {
    let (mut data, argument): (Vec<_>, Vec<u32>) = match app {
        Some(app) => {
            let tables = region.table(APP_TABLES);
            let placement =
                Placement { tables, egress: region.egress(ring.list_log2), ring_slots: 1 << ring.slots_log2 };
            (vec![(tables, app.tables(tables))], app.argument(&placement))
        }
        None => {
            let tables = &manifest.tables;
            let at = |number: &usize| region.table(&tables[*number].name);
            let word = |word: &Word| match word {
                Word::Number(number) => *number,
                Word::Table(number) => at(number),
                Word::TableBytes(number) => tables[*number].bytes.len() as u32,
                Word::State => region.state(),
            };
            let data = tables.iter().map(|table| (region.table(&table.name), table.bytes.clone()));
            (data.collect(), manifest.argument.iter().map(word).collect())
        }
    };
    let argument = argument.iter().flat_map(|word| word.to_le_bytes()).collect();
    data.push((region.argument(), argument));
    data.retain(|(_, bytes): &(u32, Vec<u8>)| !bytes.is_empty());
    data
}
