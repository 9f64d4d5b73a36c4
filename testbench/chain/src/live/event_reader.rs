//! The changes of a file, one after the other: what the chain is behind each of them.

use std::path::{Path, PathBuf};

use serde_spanned::Spanned;

use super::event_file::{RawCores, RawEvent};
use super::events::{CoresAfter, PlannedEvent, What, When};
use crate::edges::Edges;
use crate::manifest::{function_name, Manifest};
use crate::plan::{self, ChainPlan, Planned};
use crate::text::{one_of, ChainError, Problem, Text};

/// All ways through functions with these edges.
fn ways(chain: &[usize], edges: &[Edges]) -> Vec<Vec<usize>> {
    let edges_of = |function: usize| chain.iter().position(|other| *other == function).map(|at| edges[at]);
    plan::ways(chain[0], |function| edges_of(function).unwrap_or_default())
}

/// Reads the changes one after the other.
pub(super) struct Reader<'a> {
    text: &'a Text,
    plan: &'a mut ChainPlan,
    /// The functions that are visited after the changes so far.
    chain: Vec<usize>,
    /// Their edges, by functions.
    edges: Vec<Edges>,
    files: Vec<PathBuf>,
    problems: Vec<Problem>,
    last: Option<When>,
    /// Functions that were changed at `last`.
    changed: Vec<usize>,
}

/// What a change is made of.
struct Change {
    what: What,
    cores: CoresAfter,
    told: String,
    /// Functions that it is about.
    about: Vec<usize>,
}

/// The kinds of changes, by their fields, with what else these have.
const KINDS: [(&str, &[&str]); 6] = [
    ("insert", &["before", "after", "name", "cores"]),
    ("remove", &[]),
    ("replace", &["by", "name", "cores"]),
    ("table", &["inputs"]),
    ("entry", &[]),
    ("cores", &[]),
];

impl<'a> Reader<'a> {
    /// Of the file at `path`, of changes of the chain `plan`.
    pub fn new(text: &'a Text, plan: &'a mut ChainPlan, path: &Path) -> Self {
        let chain: Vec<_> = (0..plan.functions.len()).collect();
        let edges: Vec<_> = plan.functions.iter().map(|planned| planned.edges).collect();
        plan.versions = ways(&chain, &edges);
        let (files, problems, changed) = (vec![path.to_path_buf()], Vec::new(), Vec::new());
        Self { text, plan, chain, edges, files, problems, last: None, changed }
    }

    /// What was wrong, and the files that were named.
    pub fn end(self) -> (Vec<Problem>, Vec<PathBuf>) {
        (self.problems, self.files)
    }

    /// The next change; none if it is wrong.
    pub fn event(&mut self, raw: &RawEvent) -> Option<PlannedEvent> {
        let (field, at) = self.kind(raw)?;
        let (when, when_at) = self.when(raw, field, &at)?;
        if self.last != Some(when) {
            self.changed.clear();
        }
        self.last = Some(when);
        let first = self.chain[0];
        let change = match field {
            "insert" => self.insert(raw),
            "remove" => self.remove(raw),
            "replace" => self.replace(raw),
            "table" => self.table(raw),
            "entry" => self.entry(raw),
            _ => self.cores(raw),
        }?;
        if let Some(twice) = change.about.iter().find(|function| self.changed.contains(function)) {
            let told = format!(
                "`{}` is changed twice at {when}; expected two changes of it at different packets or cycles",
                self.name(*twice)
            );
            self.problems.push(self.text.problem(&at, field, told));
        }
        self.changed.extend(&change.about);
        if self.chain[0] != first && self.planned(self.chain[0]).manifest.keep_verdict {
            let told = plan::first_keeps(self.name(self.chain[0]));
            self.problems.push(self.text.problem(&at, field, told));
        }
        self.plan.versions.extend(ways(&self.chain, &self.edges));
        let Change { what, cores, told, .. } = change;
        let (chain, edges) = (self.chain.clone(), self.edges.clone());
        Some(PlannedEvent { when, what, chain, edges, cores, told, field, at, when_at })
    }

    /// Makes sure that all packets that a function forwards go one way, and all others leave.
    fn plain(&mut self, at: usize, name: &Spanned<String>, field: &str, expected: &str) -> Option<()> {
        if self.edges[at].is_plain() {
            return Some(());
        }
        let told = format!("`{}` has edges by verdict; expected {expected}", name.get_ref());
        self.wrong(name, field, told)
    }

    /// Bends all edges to the function at `at` to `to`.
    fn lead(&mut self, at: usize, to: Option<usize>) {
        let old = self.chain[at];
        for edges in &mut self.edges {
            *edges = edges.map_ends(|other| if other == old { to } else { Some(other) });
        }
    }

    fn wrong<T, U>(&mut self, at: &Spanned<T>, field: &str, told: impl std::fmt::Display) -> Option<U> {
        self.problems.push(self.text.problem(at, field, told));
        None
    }

    /// The field that says what the change is, and where it stands. No field is one too many.
    fn kind(&mut self, raw: &RawEvent) -> Option<(&'static str, Spanned<()>)> {
        fn place<T>(at: &Option<Spanned<T>>) -> Option<Spanned<()>> {
            at.as_ref().map(|at| Spanned::new(at.span(), ()))
        }
        let given: Vec<(&'static str, Spanned<()>)> = [
            ("insert", place(&raw.insert)),
            ("remove", place(&raw.remove)),
            ("replace", place(&raw.replace)),
            ("table", place(&raw.table)),
            ("entry", place(&raw.entry)),
            ("cores", place(&raw.cores)),
            ("before", place(&raw.before)),
            ("after", place(&raw.after)),
            ("by", place(&raw.by)),
            ("name", place(&raw.name)),
            ("inputs", place(&raw.inputs)),
        ]
        .into_iter()
        .filter_map(|(field, at)| Some((field, at?)))
        .collect();
        let is_given = |field: &str| given.iter().any(|(other, _)| *other == field);
        let Some((kind, others)) = KINDS.iter().find(|(kind, _)| is_given(kind)) else {
            let kinds = one_of(&KINDS.map(|(kind, _)| kind));
            let told = format!("no change; expected {kinds}");
            match (&given[..], place(&raw.packet).or(place(&raw.cycle))) {
                ([(field, at), ..], _) => self.wrong::<_, ()>(at, field, told),
                ([], Some(at)) => self.wrong(&at, "event", told),
                ([], None) => {
                    let path = self.text.path().to_path_buf();
                    let problem = "empty; expected `packet` or `cycle`, and a change".to_string();
                    self.problems.push(Problem { path, line: None, field: Some("event".into()), problem });
                    None
                }
            };
            return None;
        };
        let other = given.iter().find(|(field, _)| field != kind && !others.contains(field));
        if let Some((field, at)) = other {
            let told = format!("goes with no `{kind}`; expected a change each");
            return self.wrong(at, field, told);
        }
        given.iter().find(|(field, _)| field == kind).cloned()
    }

    fn when(&mut self, raw: &RawEvent, field: &str, at: &Spanned<()>) -> Option<(When, Spanned<()>)> {
        let (when, place) = match (&raw.packet, &raw.cycle) {
            (Some(packet), None) => (When::Packet(*packet.get_ref()), packet.span()),
            (None, Some(cycle)) => (When::Cycle(*cycle.get_ref()), cycle.span()),
            (Some(_), Some(cycle)) => return self.wrong(cycle, "cycle", "beside `packet`; expected one"),
            (None, None) => return self.wrong(at, field, "from when on? expected `packet` or `cycle`"),
        };
        let place = Spanned::new(place, ());
        let is_before = match (self.last, when) {
            (Some(When::Packet(last)), When::Packet(packet)) => packet < last,
            (Some(When::Cycle(last)), When::Cycle(cycle)) => cycle < last,
            _ => false,
        };
        if let (true, Some(last)) = (is_before, self.last) {
            let told = format!("{when} is before {last} of the change above; expected them in their order");
            let name = if matches!(when, When::Packet(_)) { "packet" } else { "cycle" };
            return self.wrong(&place, name, told);
        }
        Some((when, place))
    }

    fn name(&self, function: usize) -> &str {
        let first = self.plan.functions.len();
        let planned = self.plan.functions.get(function);
        planned.map_or_else(|| &self.plan.added[function - first].name, |planned| &planned.name)
    }

    fn planned(&mut self, function: usize) -> &mut Planned {
        let first = self.plan.functions.len();
        match function.checked_sub(first) {
            None => &mut self.plan.functions[function],
            Some(added) => &mut self.plan.added[added],
        }
    }

    /// The place in the chain of the function that a field names.
    fn place(&mut self, name: &Spanned<String>, field: &str) -> Option<usize> {
        let found = self.chain.iter().position(|function| self.name(*function) == name.get_ref());
        if found.is_none() {
            let names: Vec<_> = self.chain.iter().map(|function| self.name(*function).to_string()).collect();
            let told =
                format!("`{}` is no function of the chain then; expected {}", name.get_ref(), one_of(&names));
            return self.wrong(name, field, told);
        }
        found
    }

    /// Adds a function by its manifest; its number.
    fn add(
        &mut self,
        manifest: &Spanned<PathBuf>,
        field: &str,
        name: Option<&Spanned<String>>,
    ) -> Option<usize> {
        match plan::manifest(self.text, field, manifest) {
            Ok(found) => {
                let line = self.text.line_of(manifest);
                let own = name.map(|name| name.get_ref().clone());
                let own = own.unwrap_or_else(|| found.name.get_ref().clone());
                if let (Some(name), Err(told)) = (name, function_name(&own)) {
                    return self.wrong(name, "name", told);
                }
                self.push(found, own, line, manifest, field)
            }
            Err(problems) => {
                self.problems.extend(problems);
                None
            }
        }
    }

    fn push<T>(
        &mut self,
        manifest: Manifest,
        name: String,
        line: usize,
        at: &Spanned<T>,
        field: &str,
    ) -> Option<usize> {
        let number = self.plan.functions.len() + self.plan.added.len();
        if (0..number).any(|function| self.name(function) == name) {
            let told = format!("a function is called `{name}` already; expected a `name` of its own");
            return self.wrong(at, field, told);
        }
        self.plan.added.push(Planned::of(manifest, name, line));
        Some(number)
    }

    fn count(&mut self, raw: &RawEvent, usual: u32) -> Option<u32> {
        let Some(cores) = &raw.cores else { return Some(usual) };
        match cores.get_ref() {
            RawCores::Count(count) if *count > 0 => Some(*count),
            _ => self.wrong(cores, "cores", "of one function; expected a number, 1 or more"),
        }
    }

    fn insert(&mut self, raw: &RawEvent) -> Option<Change> {
        let manifest = raw.insert.as_ref()?;
        let at = match (&raw.before, &raw.after) {
            (Some(name), None) => self.place(name, "before")?,
            (None, Some(name)) => {
                let at = self.place(name, "after")?;
                self.plain(at, name, "after", "`before` one of those that they lead to")?;
                at + 1
            }
            (Some(_), Some(name)) => return self.wrong(name, "after", "beside `before`; expected one"),
            (None, None) => return self.wrong(manifest, "insert", "where? expected `before` or `after`"),
        };
        let cores = self.count(raw, 1)?;
        let function = self.add(manifest, "insert", raw.name.as_ref())?;
        // In front of a function all edges to that lead to the new one; behind one, the new one has
        // its edge.
        let edges = match &raw.before {
            Some(_) => {
                self.lead(at, Some(function));
                Edges::to(Some(self.chain[at]))
            }
            None => std::mem::replace(&mut self.edges[at - 1], Edges::to(Some(function))),
        };
        self.chain.insert(at, function);
        self.edges.insert(at, edges);
        let place = match self.chain.get(at + 1) {
            Some(next) => format!("before {}", self.name(*next)),
            None => format!("after {}", self.name(self.chain[at - 1])),
        };
        let told = format!("insert {} {place}", self.name(function));
        let (what, cores) = (What::Chain, CoresAfter::Some(cores));
        Some(Change { what, cores, told, about: vec![function] })
    }

    fn remove(&mut self, raw: &RawEvent) -> Option<Change> {
        let name = raw.remove.as_ref()?;
        let at = self.place(name, "remove")?;
        if self.chain.len() == 1 {
            let told = format!("`{}` is the last one; expected that one stays", name.get_ref());
            return self.wrong(name, "remove", told);
        }
        self.plain(at, name, "remove", "a function whose packets all go one way")?;
        self.lead(at, self.edges[at].other);
        self.edges.remove(at);
        let function = self.chain.remove(at);
        let (what, cores) = (What::Chain, CoresAfter::Some(0));
        let told = format!("remove {}", name.get_ref());
        Some(Change { what, cores, told, about: vec![function] })
    }

    fn replace(&mut self, raw: &RawEvent) -> Option<Change> {
        let name = raw.replace.as_ref()?;
        let at = self.place(name, "replace")?;
        let Some(by) = &raw.by else {
            return self.wrong(name, "replace", "by which? expected `by`, its manifest");
        };
        // As many as the old one has.
        let cores = self.count(raw, 0)?;
        let function = self.add(by, "by", raw.name.as_ref())?;
        self.lead(at, Some(function));
        let old = std::mem::replace(&mut self.chain[at], function);
        let told = format!("replace {} by {}", name.get_ref(), self.name(function));
        let (what, cores) = (What::Chain, CoresAfter::Some(cores));
        Some(Change { what, cores, told, about: vec![old, function] })
    }

    fn table(&mut self, raw: &RawEvent) -> Option<Change> {
        let name = raw.table.as_ref()?;
        let at = self.place(name, "table")?;
        let function = self.chain[at];
        let Some(inputs) = &raw.inputs else {
            return self.wrong(name, "table", "of what? expected `inputs`, as in a manifest");
        };
        if self.planned(function).manifest.app.is_none() {
            let told =
                format!("`{}` has no app; expected a function whose tables an app makes", name.get_ref());
            return self.wrong(name, "table", told);
        }
        self.planned(function).renewed = true;
        let inputs = inputs.get_ref().clone().beside(self.text);
        let files = [&inputs.rules, &inputs.routes, &inputs.keys];
        self.files.extend(files.into_iter().flatten().cloned());
        let told = format!("new tables of {}", name.get_ref());
        let (what, cores) =
            (What::Tables { function, inputs }, CoresAfter::Split(vec![None; self.chain.len()]));
        Some(Change { what, cores, told, about: vec![function] })
    }

    fn cores(&mut self, raw: &RawEvent) -> Option<Change> {
        let cores = raw.cores.as_ref()?;
        let RawCores::Split(split) = cores.get_ref() else {
            let told = "of which functions? expected { NAME = CORES, .. }";
            return self.wrong(cores, "cores", told);
        };
        if split.is_empty() {
            return self.wrong(cores, "cores", "{}: no function; expected { NAME = CORES, .. }");
        }
        let mut counts = vec![None; self.chain.len()];
        let mut about = Vec::new();
        for (name, count) in split {
            let at = self.place(&Spanned::new(cores.span(), name.clone()), "cores")?;
            if *count == 0 {
                let told = format!("{name} = 0: expected 1 or more, since packets wait for it");
                return self.wrong(cores, "cores", told);
            }
            counts[at] = Some(*count);
            about.push(self.chain[at]);
        }
        let each: Vec<_> = split.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let told = format!("cores: {}", each.join(", "));
        Some(Change { what: What::Cores, cores: CoresAfter::Split(counts), told, about })
    }

    fn entry(&mut self, raw: &RawEvent) -> Option<Change> {
        let named = raw.entry.as_ref()?;
        let path = self.text.beside(named.get_ref());
        let graph = match ChainPlan::read(&path) {
            Ok(graph) => graph,
            Err(ChainError(problems)) => {
                self.problems.extend(problems);
                return None;
            }
        };
        let common = [
            ("limit", graph.limit > 0),
            ("ring_slots", graph.ring_slots.is_some()),
            ("slot_bytes", graph.slot_bytes.is_some()),
            ("frame_bytes", graph.frame_bytes.is_some()),
            ("stack_bytes", graph.stack_bytes.is_some()),
        ];
        if let Some((field, _)) = common.iter().find(|(_, given)| *given) {
            let told = format!(
                "{}: `{field}` is that of the first chain while the array runs; expected a file without it",
                path.display()
            );
            return self.wrong(named, "entry", told);
        }
        self.files.push(path);
        let old = self.chain.clone();
        let mut chain = Vec::new();
        let first = self.plan.functions.len() + self.plan.added.len();
        let edges: Vec<_> =
            graph.functions.iter().map(|planned| planned.edges.map(|to| first + to)).collect();
        for (planned, edges) in graph.functions.iter().zip(&edges) {
            let (manifest, name) = (planned.manifest.clone(), planned.name.clone());
            let number = self.push(manifest, name, planned.line, named, "entry")?;
            let added = self.planned(number);
            added.at.clone_from(&planned.at);
            added.spare_bytes.clone_from(&planned.spare_bytes);
            added.on_hang.clone_from(&planned.on_hang);
            added.edges = *edges;
            chain.push(number);
        }
        self.chain.clone_from(&chain);
        self.edges = edges;
        let names: Vec<_> = chain.iter().map(|function| self.name(*function)).collect();
        let told = format!("new chain: {}", names.join(", "));
        let about = old.into_iter().chain(chain).collect();
        Some(Change { what: What::Chain, cores: CoresAfter::Graph(Box::new(graph)), told, about })
    }
}
