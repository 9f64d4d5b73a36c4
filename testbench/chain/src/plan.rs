//! The chain file, which the operator writes: which functions there are, which follows which, how
//! many cores each has. It is checked here as far as no array is needed for it.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_spanned::Spanned;

use super::edges::{Edges, Next};
use super::graph::Graph;
use super::hang::{Hang, OnHang};
use super::manifest::{function_name, Manifest, END};
use super::text::{ChainError, Problem, Text};
use crate::apps::Input;
use crate::tables::{FilterSet, RouteTable};
use crate::traffic::Aim;

/// Most entries of packets in flight.
const MOST_IN_FLIGHT: u32 = 1024;
/// Fewest slots of the packet ring: those of the largest warp.
const FEWEST_SLOTS: u32 = 32;
/// Most slots of it.
const MOST_SLOTS: u32 = 1 << 20;
/// Fewest bytes of a slot, and most.
const SLOT_BYTES: std::ops::RangeInclusive<u32> = 128..=65_536;
/// Most bytes that are kept for tables to come.
const MOST_SPARE_BYTES: u32 = 256 << 20;
/// Fewest bytes of a stack, and most.
const STACK_BYTES: std::ops::RangeInclusive<u32> = 16..=65_536;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    limit: Option<Spanned<u32>>,
    ring_slots: Option<Spanned<u32>>,
    slot_bytes: Option<Spanned<u32>>,
    frame_bytes: Option<Spanned<u32>>,
    stack_bytes: Option<Spanned<u32>>,
    #[serde(default)]
    function: Vec<RawFunction>,
}

/// `[[function]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFunction {
    manifest: Spanned<PathBuf>,
    name: Option<Spanned<String>>,
    next: Spanned<Next>,
    cores: Option<Spanned<u32>>,
    at: Option<Spanned<u32>>,
    spare_bytes: Option<Spanned<u32>>,
    on_hang: Option<Spanned<OnHang>>,
    hang_faults: Option<Spanned<u32>>,
}

/// A function of a chain.
#[derive(Clone, Debug)]
pub struct Planned {
    /// What its vendor says of it.
    pub manifest: Manifest,
    /// Its name in the chain.
    pub name: String,
    /// Where packets go behind it, by the numbers of functions, which are above that of this one.
    pub edges: Edges,
    /// Cores, if the operator says how many.
    pub cores: Option<Spanned<u32>>,
    /// Where its region is to begin, if the operator says so.
    pub at: Option<Spanned<u32>>,
    /// Bytes of its region that are kept for tables to come, if the operator says how many.
    pub spare_bytes: Option<Spanned<u32>>,
    /// It gets new tables while it runs: unless the operator says how many bytes are kept for them,
    /// as many as its tables have.
    pub(super) renewed: bool,
    /// What happens if it hangs, if the operator says so.
    pub on_hang: Option<Hang>,
    /// The line of the manifest in the chain file.
    pub(super) line: usize,
}

impl Planned {
    /// The function of one manifest, named by line `line` of another file.
    pub(super) fn of(manifest: Manifest, name: String, line: usize) -> Self {
        let (edges, cores, at, spare_bytes) = (Edges::default(), None, None, None);
        Self { manifest, name, edges, cores, at, spare_bytes, renewed: false, on_hang: None, line }
    }
}

/// A chain whose files were read. The functions have numbers in the order in which packets visit
/// them.
#[derive(Clone, Debug)]
pub struct ChainPlan {
    pub(super) text: Text,
    /// The functions.
    pub functions: Vec<Planned>,
    /// Functions that come while packets flow, behind those of the chain in the count.
    pub(super) added: Vec<Planned>,
    /// The ways of packets through the chains that there are one after the other, each by the
    /// numbers of its functions in the order of the visits, if the chain changes.
    pub(super) versions: Vec<Vec<usize>>,
    /// Most entries in flight; 0: as many as there can be.
    pub limit: u32,
    /// Slots of the packet ring, a power of two, if the operator says how many.
    pub ring_slots: Option<Spanned<u32>>,
    /// Bytes of a slot, a power of two, alike.
    pub slot_bytes: Option<Spanned<u32>>,
    /// Bytes of the longest frame that comes in, alike.
    pub frame_bytes: Option<Spanned<u32>>,
    /// Bytes of a thread's stack, a power of two, alike.
    pub stack_bytes: Option<Spanned<u32>>,
}

impl ChainPlan {
    /// Reads a chain file and the manifests that it names.
    ///
    /// # Errors
    /// All that is wrong with it, as far as it could be looked for: in the files, then among the
    /// functions.
    pub fn read(path: &Path) -> Result<Self, ChainError> {
        let text = Text::read(path)?;
        let file: File = text.parse()?;
        let mut problems = numbers(&text, &file);
        let mut manifests = Vec::new();
        for function in &file.function {
            match manifest(&text, "manifest", &function.manifest) {
                Ok(manifest) => manifests.push(manifest),
                Err(found) => problems.extend(found),
            }
        }
        ChainError::check(problems)?;
        if file.function.is_empty() {
            let problem = "no function; expected [[function]] with `manifest` and `next`".to_string();
            return Err(Problem { path: path.to_path_buf(), line: None, field: None, problem }.into());
        }
        let names = names(&text, &file.function, &manifests)?;
        let links: Vec<_> = file.function.iter().map(|raw| (&raw.manifest, &raw.next)).collect();
        let graph = Graph::read(&text, &links, &names)?;
        if manifests[0].keep_verdict {
            let told = first_keeps(&names[0]);
            return Err(text.problem(&file.function[0].manifest, "function", told).into());
        }

        let mut found: Vec<_> = manifests.into_iter().zip(&names).zip(&file.function).map(Some).collect();
        let functions = graph.order.iter().zip(&graph.edges).filter_map(|(at, edges)| {
            let ((manifest, name), raw) = found[*at].take()?;
            Some(Planned {
                edges: *edges,
                cores: raw.cores.clone(),
                at: raw.at.clone(),
                spare_bytes: raw.spare_bytes.clone(),
                on_hang: raw.on_hang.as_ref().map(|action| Hang {
                    action: *action.get_ref(),
                    faults: raw.hang_faults.as_ref().map(|faults| *faults.get_ref()),
                    path: path.to_path_buf(),
                    line: raw
                        .hang_faults
                        .as_ref()
                        .map_or_else(|| text.line_of(action), |at| text.line_of(at)),
                }),
                ..Planned::of(manifest, name.clone(), text.line_of(&raw.manifest))
            })
        });
        Ok(Self {
            functions: functions.collect(),
            added: Vec::new(),
            versions: Vec::new(),
            limit: file.limit.as_ref().map_or(0, |limit| *limit.get_ref()),
            ring_slots: file.ring_slots.clone(),
            slot_bytes: file.slot_bytes.clone(),
            frame_bytes: file.frame_bytes.clone(),
            stack_bytes: file.stack_bytes.clone(),
            text,
        })
    }

    /// A chain of the function of one manifest, with a verdict of its own.
    ///
    /// # Errors
    /// All that is wrong with it, as far as it could be looked for.
    pub fn of_manifest(path: &Path) -> Result<Self, ChainError> {
        let text = Text::read(path)?;
        let mut manifest = Manifest::read(text.clone()).map_err(ChainError)?;
        manifest.keep_verdict = false;
        let line = text.line_of(&manifest.name);
        let name = manifest.name.get_ref().clone();
        Ok(Self {
            text,
            functions: vec![Planned::of(manifest, name, line)],
            added: Vec::new(),
            versions: Vec::new(),
            limit: 0,
            ring_slots: None,
            slot_bytes: None,
            frame_bytes: None,
            stack_bytes: None,
        })
    }

    /// The function number `function` as a chain of its own, with all cores and a verdict of its
    /// own.
    #[must_use]
    pub fn alone(&self, function: usize) -> Self {
        let functions = self.functions[function..].iter().take(1).cloned();
        let functions = functions.map(|mut planned| {
            planned.manifest.keep_verdict = false;
            Planned { edges: Edges::default(), cores: None, ..planned }
        });
        let (added, versions) = (Vec::new(), Vec::new());
        Self { functions: functions.collect(), added, versions, limit: 0, slot_bytes: None, ..self.clone() }
    }

    /// What packets for the chain are aimed at: the filters and routes of its functions. Patterns
    /// are left out: what has one is dropped or told of by the functions that look for them.
    ///
    /// # Errors
    /// An input of an app cannot be read.
    pub fn aim(&self) -> anyhow::Result<Aim> {
        let mut aim = Aim::default();
        for planned in &self.functions {
            let Some((_, entry, inputs)) = &planned.manifest.app else { continue };
            if let Some(routes) = &inputs.routes {
                aim.routes = RouteTable::read(routes)?.routes;
            }
            if let Some(rules) = inputs.rules.as_ref().filter(|_| entry.inputs.contains(&Input::Filters)) {
                aim.filters = FilterSet::read(rules)?.filters;
            }
        }
        Ok(aim)
    }

    /// The first function behind which packets go different ways by their verdicts, if there is
    /// one: the array needs branches then.
    #[must_use]
    pub fn branching(&self) -> Option<&Planned> {
        self.functions.iter().chain(&self.added).find(|planned| !planned.edges.is_plain())
    }

    /// The chain file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.text.path()
    }

    /// Every file that was read or is to be: the chain file, the manifests and what they name.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let functions = self.functions.iter().chain(&self.added);
        let files = functions.flat_map(|function| &function.manifest.files).cloned();
        let mut files: Vec<_> = [self.path().to_path_buf()].into_iter().chain(files).collect();
        files.sort();
        files.dedup();
        files
    }

    /// The functions as a graph in the language of Graphviz.
    #[must_use]
    pub fn dot(&self) -> String {
        let mut lines = vec!["digraph chain {".to_string(), "  rankdir=LR;".to_string()];
        lines.push("  in [shape=plain];".to_string());
        lines.push(format!("  {END} [shape=plain];"));
        for (number, function) in self.functions.iter().enumerate() {
            let name = &function.name;
            lines.push(format!("  \"{name}\" [shape=box, label=\"{number}: {name}\"];"));
        }
        let first = self.functions.first().map(|function| format!("  in -> \"{}\";", function.name));
        lines.extend(first);
        for function in &self.functions {
            for (next, verdicts) in function.edges.labels() {
                let next = next.map_or(END, |next| &self.functions[next].name);
                let label = match &verdicts[..] {
                    [] => String::new(),
                    verdicts => format!(" [label=\"{}\"]", verdicts.join(", ")),
                };
                lines.push(format!("  \"{}\" -> \"{next}\"{label};", function.name));
            }
        }
        lines.push("}".to_string());
        lines.join("\n")
    }
}

/// What is wrong with a first function that keeps the verdict of the one before.
pub(super) fn first_keeps(name: &str) -> String {
    format!("`{name}` keeps the verdict of the function before, but is the first; expected another one first")
}

/// All ways of packets from `first` on to the last function of each.
pub(super) fn ways(first: usize, edges: impl Fn(usize) -> Edges) -> Vec<Vec<usize>> {
    let mut open = vec![vec![first]];
    let mut ways = Vec::new();
    while let Some(way) = open.pop() {
        let targets = way.last().map(|last| edges(*last).targets()).unwrap_or_default();
        if targets.is_empty() {
            ways.push(way);
            continue;
        }
        open.extend(targets.into_iter().rev().map(|to| way.iter().copied().chain([to]).collect()));
    }
    ways
}

/// What is wrong with the numbers of the chain file.
fn numbers(text: &Text, file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut check = |field: &str, value: &Option<Spanned<u32>>, good: fn(u32) -> bool, expected: String| {
        if let Some(value) = value.as_ref().filter(|value| !good(*value.get_ref())) {
            let told = format!("{}: expected {expected}", value.get_ref());
            problems.push(text.problem(value, field, told));
        }
    };
    let power = |from: &u32, to: &u32| format!("a power of two, {from} to {to}");
    check("limit", &file.limit, |n| n <= MOST_IN_FLIGHT, format!("0 to {MOST_IN_FLIGHT}"));
    check(
        "ring_slots",
        &file.ring_slots,
        |n| n.is_power_of_two() && (FEWEST_SLOTS..=MOST_SLOTS).contains(&n),
        power(&FEWEST_SLOTS, &MOST_SLOTS),
    );
    check(
        "slot_bytes",
        &file.slot_bytes,
        |n| n.is_power_of_two() && SLOT_BYTES.contains(&n),
        power(SLOT_BYTES.start(), SLOT_BYTES.end()),
    );
    check(
        "stack_bytes",
        &file.stack_bytes,
        |n| n.is_power_of_two() && STACK_BYTES.contains(&n),
        power(STACK_BYTES.start(), STACK_BYTES.end()),
    );
    check("frame_bytes", &file.frame_bytes, |n| (14..=65_518).contains(&n), "14 to 65518".to_string());
    for function in &file.function {
        check("cores", &function.cores, |n| n > 0, "1 or more".to_string());
        check("at", &function.at, |n| n >= 64 && n % 64 == 0, "a multiple of 64 from 64 on".to_string());
        let most = MOST_SPARE_BYTES;
        check("spare_bytes", &function.spare_bytes, |n| n <= MOST_SPARE_BYTES, format!("0 to {most}"));
        check("hang_faults", &function.hang_faults, |n| n > 0, "1 or more".to_string());
    }
    for function in &file.function {
        if let (Some(faults), None) = (&function.hang_faults, &function.on_hang) {
            let told = "without `on_hang`; expected on_hang = \"report\", \"drop\" or \"pass\" beside";
            problems.push(text.problem(faults, "hang_faults", told));
        }
    }
    problems
}

/// The manifest of a function. What is wrong in it is told with the line of the file that names it
/// in `field`.
pub(super) fn manifest(text: &Text, field: &str, named: &Spanned<PathBuf>) -> Result<Manifest, Vec<Problem>> {
    let path = text.beside(named.get_ref());
    let manifest = match Text::read(&path) {
        Ok(found) => Manifest::read(found),
        Err(problem) => {
            return Err(vec![text.problem(named, field, problem)]);
        }
    };
    manifest.map_err(|mut problems| {
        let line = text.line_of(named);
        for problem in &mut problems {
            problem.problem += &format!(" (named by {}:{line})", text.path().display());
        }
        problems
    })
}

/// The names of the functions, no two of which are alike.
fn names(text: &Text, functions: &[RawFunction], manifests: &[Manifest]) -> Result<Vec<String>, ChainError> {
    let mut names: Vec<(String, String)> = Vec::new();
    let mut problems = Vec::new();
    for (function, manifest) in functions.iter().zip(manifests) {
        let (name, place) = match &function.name {
            Some(name) => {
                if let Err(told) = function_name(name.get_ref()) {
                    problems.push(text.problem(name, "name", told));
                }
                (name.get_ref().clone(), format!("{}:{}", text.path().display(), text.line_of(name)))
            }
            None => {
                let name = &manifest.name;
                let at = manifest.text.line_of(name);
                (name.get_ref().clone(), format!("{}:{at}", manifest.text.path().display()))
            }
        };
        if let Some((_, other)) = names.iter().find(|(other, _)| *other == name) {
            let told = format!(
                "two functions are called `{name}`, by {other} and {place}; expected a `name` of its own"
            );
            problems.push(text.problem(&function.manifest, "name", told));
        }
        names.push((name, place));
    }
    ChainError::check(problems)?;
    Ok(names.into_iter().map(|(name, _)| name).collect())
}
