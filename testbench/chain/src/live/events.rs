//! The file of changes that a run makes while packets flow, checked as far as no array is needed.

use std::path::{Path, PathBuf};

use serde_spanned::Spanned;

use super::event_file::File;
use super::event_reader::Reader;
use crate::apps::Inputs;
use crate::edges::Edges;
use crate::plan::ChainPlan;
use crate::text::{ChainError, Problem, Text};

/// From when on a change is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    /// When this packet, counted from 0, starts at its first function.
    Packet(u64),
    /// In this cycle of the run.
    Cycle(u64),
}

impl std::fmt::Display for When {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Packet(packet) => write!(f, "packet {packet}"),
            Self::Cycle(cycle) => write!(f, "cycle {cycle}"),
        }
    }
}

/// What a change does beside the order of the visits and the cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Other functions are visited.
    Chain,
    /// A function gets tables of other inputs.
    Tables {
        /// Its number.
        function: usize,
        /// The inputs.
        inputs: Inputs,
    },
    /// Functions get other cores.
    Cores,
}

/// How many cores functions have after a change.
#[derive(Clone, Debug)]
pub enum CoresAfter {
    /// Those that stay keep theirs; a new one gets as many as this, those of functions that go are
    /// free for all.
    Some(u32),
    /// As many as this, in the order of the visits; the others as before.
    Split(Vec<Option<u32>>),
    /// As the chain file of the new graph says.
    Graph(Box<ChainPlan>),
}

/// A change.
#[derive(Clone, Debug)]
pub struct PlannedEvent {
    /// From when on.
    pub when: When,
    /// What it does.
    pub what: What,
    /// The functions that are visited once it stands, in their order.
    pub chain: Vec<usize>,
    /// Their edges, by functions.
    pub edges: Vec<Edges>,
    /// How many cores they have then.
    pub cores: CoresAfter,
    /// What it does, in words.
    pub told: String,
    /// Where it stands in the file: its field, and the place of that.
    pub(super) field: &'static str,
    pub(super) at: Spanned<()>,
    /// Where it says from when on.
    pub(super) when_at: Spanned<()>,
}

impl PlannedEvent {
    /// A function gets new tables.
    #[must_use]
    pub fn renews_tables(&self) -> bool {
        matches!(self.what, What::Tables { .. })
    }
}

/// A file of changes that was read.
#[derive(Clone, Debug)]
pub struct Events {
    pub(super) text: Text,
    /// The changes, in their order.
    pub events: Vec<PlannedEvent>,
    files: Vec<PathBuf>,
}

impl Events {
    /// Reads a file of changes of the chain `plan`, with the manifests that it names, and adds the
    /// functions that come to the plan.
    ///
    /// # Errors
    /// All that is wrong with it, as far as it could be looked for.
    pub fn read(path: &Path, plan: &mut ChainPlan) -> Result<Self, ChainError> {
        let text = Text::read(path)?;
        let file: File = text.parse()?;
        let mut reader = Reader::new(&text, plan, path);
        let events: Vec<_> = file.event.iter().filter_map(|raw| reader.event(raw)).collect();
        let (problems, files) = reader.end();
        ChainError::check(problems)?;
        if events.is_empty() {
            let problem = "no change; expected [[event]] with `packet` or `cycle`".to_string();
            return Err(Problem { path: path.to_path_buf(), line: None, field: None, problem }.into());
        }
        Ok(Self { text, events, files })
    }

    /// Every file that was read or is to be, but for those of the functions.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Makes sure that every change begins at one of `packets` packets.
    ///
    /// # Errors
    /// Those that do not.
    pub fn check_packets(&self, packets: u64) -> Result<(), ChainError> {
        let beyond = self.events.iter().filter_map(|event| match event.when {
            When::Packet(packet) if packet >= packets => {
                let last = packets.saturating_sub(1);
                let told = format!("{packet}: the capture has {packets} packets; expected 0 to {last}");
                Some(self.text.problem(&event.when_at, "packet", told))
            }
            _ => None,
        });
        ChainError::check(beyond.collect())
    }

    /// File and line of the change of this number.
    #[must_use]
    pub fn place(&self, number: usize) -> String {
        let line = self.events.get(number).map_or(0, |event| self.text.line_of(&event.at));
        format!("{}:{line}", self.text.path().display())
    }

    /// An error of a change.
    pub(super) fn problem(&self, event: &PlannedEvent, problem: impl std::fmt::Display) -> Problem {
        self.text.problem(&event.at, event.field, problem)
    }
}
