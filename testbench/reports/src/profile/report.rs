//! The cost of source lines and functions, annotated source and disassembly.

use std::collections::{BTreeMap, BTreeSet};

use hermes_rtl::config::{Config, EXIT_ADDRESS};
use serde::Serialize;

use super::sources::SourceFinder;
use crate::cosim::FaultRecord;
use crate::iss::{disassemble, Isa, BOOT_ADDRESS};
use crate::kernel::Kernel;
use crate::metrics::FaultCause;
use crate::timeline::{Cost, Name, Names, Profile};

/// What was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProfileFacts {
    /// Name of the app, or file of the kernel.
    pub kernel: String,
    /// File of the packets.
    pub capture: String,
    /// The preset of the array.
    pub preset: String,
    /// Its cores.
    pub cores: usize,
    /// Lanes of a core.
    pub lanes: usize,
    /// Warp slots of a core.
    pub warp_slots: usize,
    /// The whole configuration of the array.
    pub configuration: Option<Config>,
    /// What threads faulted of. `None`: the run did not come to its end.
    pub fault_causes: Option<Vec<FaultCause>>,
    /// The records of the fault FIFO, in the order in which the host read them.
    pub fault_records: Option<Vec<FaultRecord>>,
}

/// Where the warp-cycles of a run went.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProfileReport {
    /// What was run.
    #[serde(flatten)]
    pub facts: ProfileFacts,
    /// Warps that were on the cores.
    pub warps: u64,
    /// What all of them cost: the sum of `lines`, of `functions` and of `instructions`.
    pub total: Cost,
    /// By source line, the most cycles first.
    pub lines: Vec<LineCost>,
    /// By function or label, the most cycles first.
    pub functions: Vec<FunctionCost>,
    /// By instruction, ascending; of functions that were executed the others too.
    pub instructions: Vec<InstructionCost>,
    /// The source files that were found, in the order of their names.
    #[serde(skip)]
    pub sources: Vec<SourceFile>,
}

/// What a source line cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineCost {
    /// Source file; `None` where the line is not known, which stands for all such instructions of
    /// the function.
    pub file: Option<String>,
    /// Its line, from 1.
    pub line: Option<u32>,
    /// The function of its first instruction.
    pub function: String,
    /// What its instructions cost.
    #[serde(flatten)]
    pub cost: Cost,
}

impl LineCost {
    /// File and line, such as `nat.c:12`; the function where they are not known.
    #[must_use]
    pub fn name(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => self.function.clone(),
        }
    }
}

/// What a function cost, without those that it calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionCost {
    /// The function or label.
    pub function: String,
    /// What its instructions cost.
    #[serde(flatten)]
    pub cost: Cost,
}

/// What an instruction cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InstructionCost {
    /// Its address.
    pub address: u32,
    /// Its function or label, with the bytes behind the beginning.
    pub place: String,
    /// As text.
    pub instruction: String,
    /// Source file, if it is known.
    pub file: Option<String>,
    /// Its line, from 1.
    pub line: Option<u32>,
    /// What it cost.
    #[serde(flatten)]
    pub cost: Cost,
}

/// A source file with what its lines cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceFile {
    /// Its name, as in [`LineCost::file`].
    pub file: String,
    /// Its lines, from line 1.
    pub lines: Vec<SourceLine>,
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceLine {
    /// Its text.
    pub text: String,
    /// What it cost, if it was executed.
    pub cost: Option<Cost>,
}

/// Names of files for people: without folders, but with as many of them as tell two of one name
/// apart.
struct FileNames(BTreeMap<String, String>);

impl FileNames {
    fn new(files: &BTreeSet<String>) -> Self {
        let end = |file: &str, parts: usize| {
            let parts: Vec<_> = file.rsplit('/').take(parts).collect();
            parts.into_iter().rev().collect::<Vec<_>>().join("/")
        };
        let short = |file: &String| {
            let mut ends = (1..=file.split('/').count()).map(|parts| (parts, end(file, parts)));
            let alone = |(parts, name): &(usize, String)| {
                files.iter().all(|other| other == file || end(other, *parts) != *name)
            };
            ends.find(alone).map_or_else(|| file.clone(), |(_, name)| name)
        };
        Self(files.iter().map(|file| (file.clone(), short(file))).collect())
    }

    /// File and line of `name`, for people.
    fn line(&self, name: &Name) -> Option<(String, u32)> {
        let (file, line) = name.line.as_ref()?;
        Some((self.0.get(file)?.clone(), *line))
    }
}

impl ProfileReport {
    /// What `profile` says of the kernel, whose addresses have these names. Instructions are those
    /// of `isa`.
    #[must_use]
    pub fn new(
        facts: ProfileFacts,
        profile: &Profile,
        kernel: &Kernel,
        names: &mut Names,
        isa: &Isa,
        finder: &SourceFinder,
    ) -> Self {
        let named: Vec<_> =
            profile.instructions().map(|(pc, word, cost)| (pc, word, *cost, names.name(pc))).collect();
        let all = rest_of_functions(kernel, named.iter().map(|(pc, ..)| *pc), names);
        let files = named.iter().map(|(.., name)| name).filter_map(|name| name.line.as_ref());
        let files: BTreeSet<String> = files.map(|(file, _)| file.clone()).collect();
        let short = FileNames::new(&files);

        let (mut lines, mut functions) = (BTreeMap::new(), BTreeMap::<String, Cost>::new());
        for (_, _, cost, name) in &named {
            functions.entry(name.function.clone()).or_default().add(cost);
            let line = short.line(name);
            let key = (line.is_none().then(|| name.function.clone()), line);
            let (_, sum) = lines.entry(key).or_insert_with(|| (name.function.clone(), Cost::default()));
            sum.add(cost);
        }
        let mut lines: Vec<_> = lines
            .into_iter()
            .map(|((_, line), (function, cost))| {
                let (file, line) = line.unzip();
                LineCost { file, line, function, cost }
            })
            .collect();
        // What costs the same stays in the order of the names.
        lines.sort_by_key(|line| std::cmp::Reverse(line.cost.cycles()));
        let sources = sources(&short, &lines, finder);
        let functions = functions.into_iter().map(|(function, cost)| FunctionCost { function, cost });
        let mut functions: Vec<_> = functions.collect();
        functions.sort_by_key(|function| std::cmp::Reverse(function.cost.cycles()));

        let mut instructions: BTreeMap<u32, (u32, Cost)> =
            all.into_iter().map(|(pc, word)| (pc, (word, Cost::default()))).collect();
        instructions.extend(named.iter().map(|(pc, word, cost, _)| (*pc, (*word, *cost))));
        let instruction = |(address, (word, cost)): (u32, (u32, Cost))| {
            let name = names.name(address);
            let (file, line) = short.line(&name).unzip();
            let instruction = match address {
                EXIT_ADDRESS => "exit".to_string(),
                _ => disassemble(address, word, isa),
            };
            InstructionCost { address, place: name.place(), instruction, file, line, cost }
        };
        let instructions = instructions.into_iter().map(instruction).collect();
        Self {
            facts,
            warps: profile.warps(),
            total: profile.total(),
            lines,
            functions,
            instructions,
            sources,
        }
    }
}

/// Address and word of every instruction of the functions and labels of the kernel in which one of
/// `executed` is.
fn rest_of_functions(
    kernel: &Kernel,
    executed: impl Iterator<Item = u32>,
    names: &mut Names,
) -> BTreeMap<u32, u32> {
    let mut last = BTreeMap::new();
    for pc in executed.filter(|pc| *pc < BOOT_ADDRESS && kernel.holds(*pc, 4)) {
        last.insert(pc - names.name(pc).offset, pc);
    }
    let mut words = BTreeMap::new();
    for (first, last) in last {
        // What the file knows the size of has an end; behind a label there may be anything.
        let covers = |address: u32, size: u32| first >= address && first - address < size;
        let function =
            kernel.symbols.iter().find(|symbol| symbol.is_function && covers(symbol.address, symbol.size));
        let end = function.map_or(last + 4, |symbol| symbol.address + symbol.size);
        let same = |pc: &u32| pc - names.name(*pc).offset == first;
        let addresses = (first..end).step_by(4).take_while(same);
        words.extend(addresses.filter_map(|pc| Some((pc, kernel.word(pc)?))));
    }
    words
}

/// The source files that are found.
fn sources(names: &FileNames, lines: &[LineCost], finder: &SourceFinder) -> Vec<SourceFile> {
    let mut sources: Vec<SourceFile> = Vec::new();
    for (path, name) in &names.0 {
        let Some(text) = finder.text(path) else { continue };
        let of_file = lines.iter().filter(|line| line.file.as_ref() == Some(name));
        let costs: BTreeMap<_, _> = of_file.filter_map(|line| Some((line.line?, line.cost))).collect();
        let line = |(number, text): (u32, &str)| SourceLine {
            text: text.to_string(),
            cost: costs.get(&number).copied(),
        };
        sources.push(SourceFile { file: name.clone(), lines: (1..).zip(text.lines()).map(line).collect() });
    }
    sources.sort_by(|a, b| a.file.cmp(&b.file));
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_short_and_tell_them_apart() {
        let files = ["/a/b/k.c", "/a/c/k.c", "/x/hermes.h", "k.S"].map(str::to_string);
        let names = FileNames::new(&BTreeSet::from(files));
        let short: Vec<_> = names.0.values().map(String::as_str).collect();
        assert_eq!(short, ["b/k.c", "c/k.c", "hermes.h", "k.S"]);
    }
}
