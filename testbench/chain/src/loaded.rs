//! Functions of a chain whose inputs were read, before they have their places.

use std::path::Path;

use hermes_rtl::config::{most_warps, Config};
use serde_spanned::Spanned;

use super::manifest::{Code, Manifest, Packet, Word};
use super::plan::Planned;
use super::region::{Needs, Region};
use super::text::Problem;
use crate::apps::{App, AppError, Placement};
use crate::cosim::EgressLists;
use crate::kernel::{Arch, BuildOptions, Kernel, RegisterClass};
use crate::slot;
use crate::staging::temporary_folder;

/// The address at which a kernel is linked first, to see how large it is.
const TRIAL_ADDRESS: u32 = 0x1000;
/// The name of an app's tables.
const APP_TABLES: &str = "of the app";

/// A function whose inputs were read, before it has its place.
pub(super) struct Loaded<'a> {
    pub(super) planned: &'a Planned,
    pub(super) app: Option<Box<dyn App>>,
    /// The kernel as it is linked at first, or for good.
    pub(super) kernel: Kernel,
    pub(super) cores: usize,
    pub(super) mcw: u32,
    pub(super) growth: usize,
}

/// The ring, as far as regions depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    pub(super) slots_log2: u32,
    /// Bytes of an egress list, as a power of two, and its entries: 0 if there are none.
    pub(super) list_log2: u32,
    pub(super) entries: usize,
}

impl<'a> Loaded<'a> {
    /// Reads what the app of a function takes, and builds or reads its kernel.
    /// In a chain that `branches` no app may send other frames than those in the slots.
    pub(super) fn load(
        planned: &'a Planned,
        cores: usize,
        branches: bool,
        config: &Config,
    ) -> Result<Self, Problem> {
        let manifest = &planned.manifest;
        let app = manifest.app.as_ref().map(|(at, entry, inputs)| {
            let app = entry.load(inputs).map_err(|error| input_problem(manifest, at, &error))?;
            let is_inside = branches || !planned.edges.targets().is_empty();
            if is_inside && app.egress_entries(slot::capacity(slot::MAX_BYTES_LOG2)) > 0 {
                let end = if branches { " of a chain without edges by verdict" } else { "" };
                let told = format!(
                    "{} sends other frames than those in the slots, which the next function would not see; \
                     expected it at the end{end}",
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
pub(super) fn build(manifest: &Manifest, address: u32, config: &Config) -> anyhow::Result<Kernel> {
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
pub(super) fn needs(app: Option<&dyn App>, manifest: &Manifest, ring: Ring) -> Needs {
    let state = manifest.state_bytes.into();
    let Some(app) = app else {
        let tables = manifest.tables.iter().map(|table| (table.name.clone(), table.bytes.len() as u64));
        let argument = 4 * manifest.argument.len() as u64;
        return Needs { state, tables: tables.collect(), argument, ..Needs::default() };
    };
    let lists = app.egress_entries(1) > 0 && ring.entries > 0;
    let placement = Placement {
        tables: 0,
        egress: EgressLists { address: 0, bytes_log2: ring.list_log2 },
        ring_slots: 1 << ring.slots_log2,
    };
    Needs {
        stubs: 0,
        spare: 0,
        state,
        egress: if lists { 1 << (ring.slots_log2 + ring.list_log2) } else { 0 },
        tables: vec![(APP_TABLES.to_string(), app.table_bytes() as u64)],
        argument: 4 * app.argument(&placement).len() as u64,
    }
}

/// Tables and argument block of a function in its region.
pub(super) fn data(
    app: Option<&dyn App>,
    manifest: &Manifest,
    region: &Region,
    ring: Ring,
) -> Vec<(u32, Vec<u8>)> {
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
