//! What a host does for a change, step by step: numbers, cores, and the order in which registers
//! and memory are written.

use std::collections::BTreeMap;

use super::adapter::Adapt;
use super::events::{CoresAfter, Events, PlannedEvent, What, When};
use super::numbering::{renumbered, Room};
use crate::apps::{App, Placement};
use crate::cosim::{EgressLists, LINE};
use crate::edges::Edges;
use crate::placed::Chain;
use crate::text::{ChainError, Problem};
use hermes_rtl::config::Config;

/// A step of a change. Functions are those of [`Chain::all`], numbers those that they have on the
/// array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Writes all of a function to its region.
    Load(usize),
    /// Writes new tables, by their place in [`Live::tables`].
    Tables(usize),
    /// Makes a function that of a number that no core has and no edge leads to.
    Context {
        /// The number.
        number: u32,
        /// The function.
        function: usize,
    },
    /// Packets go other ways behind a number.
    Edges {
        /// The number.
        number: u32,
        /// Where to, by numbers.
        edges: Edges,
    },
    /// New packets go to a number.
    Entry(u32),
    /// A function takes new tables, by their place in [`Live::tables`].
    Argument {
        /// The number that the function has.
        number: u32,
        /// The tables.
        tables: usize,
    },
    /// Cores get other numbers.
    Cores(Vec<Option<u32>>),
    /// A core has another number of warps of a number at most.
    Warps {
        /// The number.
        number: u32,
        /// The warps: its MCW.
        warps: u32,
    },
    /// Another number of warps may be in flight at most.
    Limit(u32),
    /// Waits until every core has its number.
    WaitCores,
    /// Waits until no packet waits for a number, which gets none any more.
    Emptied(u32),
    /// Waits until all packets that are in flight now have left.
    Drain,
    /// Reads all that is known of faults of numbers that no packet comes to any more: they have no
    /// function then.
    Free(Vec<u32>),
}

/// A change with its steps.
#[derive(Clone, Debug)]
pub struct Change {
    /// From when on.
    pub when: When,
    /// What it does, in words.
    pub told: String,
    /// The functions that are visited once it stands, with their numbers, in their order.
    pub chain: Vec<(usize, u32)>,
    /// Their edges, by functions.
    pub edges: Vec<Edges>,
    /// How many cores each of them has then.
    pub cores: Vec<usize>,
    /// The steps.
    pub steps: Vec<Step>,
}

/// New tables of a function.
#[derive(Debug)]
pub struct NewTables {
    /// The function.
    pub function: usize,
    /// The app with them: its golden model.
    pub app: Box<dyn App>,
    /// What is written: addresses and bytes.
    pub data: Vec<(u32, Vec<u8>)>,
    /// Address of the argument block that names them.
    pub argument: u32,
}

/// What happens to a chain while packets flow.
#[derive(Debug)]
pub struct Live {
    /// The chain before, with numbers.
    pub first: Vec<(usize, u32)>,
    /// The edges of these functions, by functions.
    pub first_edges: Vec<Edges>,
    /// The changes, one after the other.
    pub changes: Vec<Change>,
    /// New tables that they bring.
    pub tables: Vec<NewTables>,
    /// Cores are given out anew when what comes changes. Only without other changes, which move
    /// cores too.
    pub adapt: Option<Adapt>,
}

/// Where a chain is between two changes.
struct State {
    chain: Vec<(usize, u32)>,
    /// The edges of these functions, by functions.
    edges: Vec<Edges>,
    /// The function of each core.
    owners: Vec<Option<usize>>,
    /// Bytes of the room for tables that are taken, by function.
    taken: Vec<u64>,
}

impl State {
    fn number(&self, function: usize) -> Option<u32> {
        self.chain.iter().find(|(other, _)| *other == function).map(|(_, number)| *number)
    }

    /// The edges of a function by numbers.
    fn edges(&self, function: usize) -> Edges {
        let at = self.chain.iter().position(|(other, _)| *other == function);
        let edges = at.map(|at| self.edges[at]).unwrap_or_default();
        edges.map_ends(|to| self.number(to).map(|number| number as usize))
    }

    fn branches(&self) -> bool {
        self.edges.iter().any(|edges| !edges.is_plain())
    }

    fn cores(&self, function: usize) -> usize {
        self.owners.iter().filter(|owner| **owner == Some(function)).count()
    }

    fn numbers(&self) -> Vec<Option<u32>> {
        self.owners.iter().map(|owner| owner.and_then(|function| self.number(function))).collect()
    }
}

impl Live {
    /// How many cores a function has at last, after a change that it is there.
    #[must_use]
    pub fn cores(&self, function: usize) -> Option<usize> {
        let of = |change: &Change| {
            let place = change.chain.iter().position(|(other, _)| *other == function)?;
            change.cores.get(place).copied()
        };
        self.changes.iter().rev().find_map(of)
    }

    /// The fewest cores that a function has while it has some, in any step of a change.
    #[must_use]
    pub fn fewest_cores(&self, function: usize) -> Option<usize> {
        let mut functions: BTreeMap<_, _> =
            self.first.iter().map(|(function, number)| (*number, *function)).collect();
        let mut fewest: Option<usize> = None;
        for step in self.changes.iter().flat_map(|change| &change.steps) {
            match step {
                Step::Context { number, function } => {
                    functions.insert(*number, *function);
                }
                Step::Cores(cores) => {
                    let of_it = |number: &&u32| functions.get(*number) == Some(&function);
                    let count = cores.iter().flatten().filter(of_it).count();
                    if count > 0 {
                        fewest = Some(fewest.map_or(count, |fewest| fewest.min(count)));
                    }
                }
                _ => {}
            }
        }
        fewest
    }

    /// Nothing but what happens when functions hang.
    #[must_use]
    pub fn unchanged(chain: &Chain) -> Self {
        let first = (0..chain.functions.len()).map(|function| (function, function as u32)).collect();
        let first_edges = chain.functions.iter().map(|function| function.edges).collect();
        Self { first, first_edges, changes: Vec::new(), tables: Vec::new(), adapt: None }
    }

    /// The functions of the chain behind so many changes, in the order of the visits, with their
    /// edges by functions.
    #[must_use]
    pub fn graph(&self, changes: usize) -> Vec<(usize, Edges)> {
        let change = changes.checked_sub(1).and_then(|last| self.changes.get(last));
        let (chain, edges) =
            change.map_or((&self.first, &self.first_edges), |change| (&change.chain, &change.edges));
        chain.iter().map(|(function, _)| *function).zip(edges.iter().copied()).collect()
    }

    /// The steps of `events` on `chain`, which was placed on an array of `config` with the
    /// functions that they bring.
    ///
    /// # Errors
    /// Numbers, cores or room for tables are missing, inputs of an app are wrong, or a function
    /// without a golden model comes.
    pub fn of(chain: &Chain, events: &Events, config: &Config) -> Result<Self, ChainError> {
        let mut live = Self::unchanged(chain);
        let owner = |(number, function): (usize, &crate::placed::Function)| {
            std::iter::repeat_n(Some(number), function.cores)
        };
        let mut owners: Vec<_> = chain.functions.iter().enumerate().flat_map(owner).collect();
        owners.resize(config.cores, None);
        let taken = vec![0; chain.all().count()];
        let (first, edges) = (live.first.clone(), live.first_edges.clone());
        let mut state = State { chain: first, edges, owners, taken };
        for event in &events.events {
            for function in &event.chain {
                without_model(chain, *function).map_err(|told| events.problem(event, told))?;
            }
            let steps = live.steps(chain, events, event, config, &mut state)?;
            let cores = state.chain.iter().map(|(function, _)| state.cores(*function)).collect();
            let (when, told) = (event.when, event.told.clone());
            let (chain, edges) = (state.chain.clone(), state.edges.clone());
            live.changes.push(Change { when, told, chain, edges, cores, steps });
        }
        Ok(live)
    }

    fn steps(
        &mut self,
        chain: &Chain,
        events: &Events,
        event: &PlannedEvent,
        config: &Config,
        state: &mut State,
    ) -> Result<Vec<Step>, Problem> {
        match &event.what {
            What::Tables { function, inputs } => {
                let (function, inputs) = (*function, inputs);
                let tables = new_tables(chain, function, inputs, &mut state.taken[function])
                    .map_err(|told| events.problem(event, told))?;
                self.tables.push(tables);
                let tables = self.tables.len() - 1;
                let number = state.number(function).unwrap_or_default();
                Ok(vec![Step::Tables(tables), Step::Argument { number, tables }, Step::Drain])
            }
            What::Cores => {
                state.owners =
                    owners(chain, event, config, state).map_err(|told| events.problem(event, told))?;
                Ok(vec![Step::Cores(state.numbers()), Step::WaitCores])
            }
            What::Chain => {
                let branches = state.branches() || event.edges.iter().any(|edges| !edges.is_plain());
                let numbers = config.network_functions as u32;
                let room = Room { numbers, cores: branches.then_some(config.cores) };
                let way = renumbered(&state.chain, &event.chain, room)
                    .map_err(|told| events.problem(event, told))?;
                let after =
                    owners(chain, event, config, state).map_err(|told| events.problem(event, told))?;
                let mut steps = Vec::new();
                let Some((last, before)) = way.split_last() else { return Ok(steps) };
                for renumbered in before {
                    let (edges, same) = (state.edges.clone(), state.owners.clone());
                    let bent = bend(chain, state, renumbered.clone(), edges, same);
                    steps.extend(bent.map_err(|told| events.problem(event, told))?);
                }
                let bent = bend(chain, state, last.clone(), event.edges.clone(), after);
                steps.extend(bent.map_err(|told| events.problem(event, told))?);
                Ok(steps)
            }
        }
    }
}

/// Why a function cannot come while packets flow.
fn without_model(chain: &Chain, function: usize) -> Result<(), String> {
    let function = chain.function(function);
    let name = &function.name;
    let Some(app) = &function.app else {
        return Err(format!("`{name}` has no golden model; expected an `app`, by which packets are known"));
    };
    match app.egress_entries(1) {
        0 => Ok(()),
        _ => Err(format!(
            "`{name}` sends other frames than those in the slots; expected one that the packet ports can send"
        )),
    }
}

/// The functions of the cores after a change: cores keep their function as far as it can be.
fn owners(
    chain: &Chain,
    event: &PlannedEvent,
    config: &Config,
    state: &State,
) -> Result<Vec<Option<usize>>, String> {
    let name = |function: usize| chain.function(function).name.as_str();
    let all = config.cores;
    let mut counts: Vec<usize> = event.chain.iter().map(|function| state.cores(*function)).collect();
    match &event.cores {
        CoresAfter::Graph(graph) => counts = graph.cores(config).map_err(|error| error.to_string())?,
        CoresAfter::Split(split) => {
            for (count, asked) in counts.iter_mut().zip(split) {
                *count = asked.map_or(*count, |asked| asked as usize);
            }
        }
        CoresAfter::Some(asked) => {
            let gone: usize = (state.chain.iter().map(|(function, _)| *function))
                .filter(|function| !event.chain.contains(function))
                .map(|function| state.cores(function))
                .sum();
            let new = event.chain.iter().position(|function| state.number(*function).is_none());
            if counts.len() > all {
                return Err(format!("{} functions, {all} cores; expected a core for each", counts.len()));
            }
            let mut spare = all - counts.iter().sum::<usize>();
            if let Some(new) = new {
                counts[new] = if *asked == 0 { gone } else { *asked as usize };
                // What is missing comes from those that have most.
                while counts.iter().sum::<usize>() > all {
                    let most = (0..counts.len()).filter(|at| *at != new).max_by_key(|at| (counts[*at], !at));
                    match most.filter(|most| counts[*most] > 1) {
                        Some(most) => counts[most] -= 1,
                        None => {
                            return Err(format!(
                                "{} asks for {} of {all} cores, and every other function needs one; expected at most {}",
                                name(event.chain[new]),
                                counts[new],
                                all + 1 - counts.len()
                            ))
                        }
                    }
                }
            } else {
                // Those of the function that goes are for the ones that have fewest.
                spare = spare.min(gone);
                while spare > 0 {
                    let fewest = (0..counts.len()).min_by_key(|at| (counts[*at], *at));
                    counts[fewest.unwrap_or_default()] += 1;
                    spare -= 1;
                }
            }
        }
    }
    let asked: usize = counts.iter().sum();
    if asked > all {
        let each: Vec<_> = event
            .chain
            .iter()
            .zip(&counts)
            .map(|(function, count)| format!("{} {count}", name(*function)))
            .collect();
        return Err(format!("{}: {asked} of {all} cores; expected at most {all}", each.join(", ")));
    }
    // First those that stay where they are, then the others.
    let mut left = counts.clone();
    let mut owners = vec![None; all];
    for (core, owner) in state.owners.iter().enumerate() {
        let place = event.chain.iter().position(|function| Some(*function) == *owner);
        if let Some(place) = place.filter(|place| left[*place] > 0) {
            (owners[core], left[place]) = (*owner, left[place] - 1);
        }
    }
    for owner in owners.iter_mut().filter(|owner| owner.is_none()) {
        if let Some(place) = left.iter().position(|left| *left > 0) {
            (*owner, left[place]) = (Some(event.chain[place]), left[place] - 1);
        }
    }
    Ok(owners)
}

/// The steps from one chain to another: what is new is built under numbers that are free, then
/// edges are bent to it: one, unless packets branch. What it replaces keeps a core until nothing is
/// left for it, one after the other. Only then is it waited for packets that are in flight: some
/// may wait for these cores. Where packets branch, lanes may wait for what is replaced while their
/// warp is elsewhere: it keeps its core until all that was in flight has left.
///
/// # Errors
/// Packets branch, and a function would have no core meanwhile.
fn bend(
    chain: &Chain,
    state: &mut State,
    now: Vec<(usize, u32)>,
    edges: Vec<Edges>,
    owners: Vec<Option<usize>>,
) -> Result<Vec<Step>, String> {
    let before = state.chain.clone();
    let fresh: Vec<_> = now.iter().filter(|place| !before.contains(place)).copied().collect();
    let old: Vec<_> = before.iter().filter(|place| !now.contains(place)).copied().collect();
    let edges_before: Vec<_> =
        before.iter().map(|(function, number)| (*number, state.edges(*function))).collect();
    let is_new: Vec<_> = fresh.iter().map(|(function, _)| state.number(*function).is_none()).collect();
    // The number of each core in the end, and before what is replaced is done: one core each.
    let was = state.numbers();
    let branches = state.branches() || edges.iter().any(|edges| !edges.is_plain());
    (state.chain, state.edges, state.owners) = (now, edges, owners);
    let last = state.numbers();
    let count = |cores: &[Option<u32>], number: Option<u32>| {
        cores.iter().filter(|other| number.is_some() && **other == number).count()
    };
    let keeps = |old: &[(usize, u32)]| -> Vec<Option<u32>> {
        let mut cores = last.clone();
        let mut is_taken = vec![false; cores.len()];
        for (_, number) in old {
            let Some(core) = (0..was.len()).find(|core| was[*core] == Some(*number)) else { continue };
            if branches {
                // Each of the others keeps one, too: what is to have this core waits on another
                // one.
                let is_spare = |core: &usize| {
                    !is_taken[*core] && (cores[*core].is_none() || count(&cores, cores[*core]) > 1)
                };
                let mut its = (0..was.len()).filter(|core| was[*core] == Some(*number));
                let own = its.find(is_spare);
                match own.or_else(|| (0..was.len()).find(is_spare)) {
                    Some(spare) if own.is_none() => {
                        cores[spare] = cores[core];
                        (cores[core], is_taken[core]) = (Some(*number), true);
                    }
                    Some(own) => (cores[own], is_taken[own]) = (Some(*number), true),
                    None => {}
                }
            } else {
                cores[core] = Some(*number);
            }
        }
        cores
    };
    let kept = keeps(&old);
    let lacks = old.iter().find(|(_, number)| count(&kept, Some(*number)) == 0);
    if let Some((function, _)) = lacks.filter(|_| branches) {
        return Err(format!(
            "packets branch, so `{}` keeps a core until all that were in flight have left, and every other function \
             needs one meanwhile; expected more cores, or one less for another function",
            chain.function(*function).name
        ));
    }
    let mut steps = Vec::new();
    for ((function, number), is_new) in fresh.into_iter().zip(is_new).rev() {
        if is_new {
            steps.push(Step::Load(function));
        }
        steps.push(Step::Context { number, function });
        steps.push(Step::Edges { number, edges: state.edges(function) });
    }
    steps.push(Step::Cores(kept));
    steps.push(Step::WaitCores);
    let stays = state.chain.iter().filter(|place| before.contains(place));
    for (function, number) in stays.rev().copied() {
        let edges = state.edges(function);
        if !edges_before.contains(&(number, edges)) {
            steps.push(Step::Edges { number, edges });
        }
    }
    let first = |places: &[(usize, u32)]| places.first().map(|(_, number)| *number);
    if first(&state.chain) != first(&before) {
        steps.extend(first(&state.chain).map(Step::Entry));
    }
    if branches {
        steps.push(Step::Drain);
        if !old.is_empty() {
            steps.extend([Step::Cores(last), Step::WaitCores]);
            steps.push(Step::Free(old.iter().map(|(_, number)| *number).collect()));
        }
        return Ok(steps);
    }
    for (at, (_, number)) in old.iter().enumerate() {
        steps.extend([Step::Emptied(*number), Step::Cores(keeps(&old[at + 1..])), Step::WaitCores]);
    }
    steps.push(Step::Drain);
    if !old.is_empty() {
        steps.push(Step::Free(old.iter().map(|(_, number)| *number).collect()));
    }
    Ok(steps)
}

/// New tables of a function in the room that its region has for them, of which `taken` bytes are in
/// use.
fn new_tables(
    chain: &Chain,
    function: usize,
    inputs: &crate::apps::Inputs,
    taken: &mut u64,
) -> Result<NewTables, String> {
    let at = chain.function(function);
    let Some(entry) = at.entry else { return Err(format!("`{}` has no app", at.name)) };
    let app = entry.load(inputs).map_err(|error| format!("{error:#}"))?;
    let line = LINE as u64;
    let (first, room) = at.region.spare();
    let tables = (u64::from(first) + *taken) as u32;
    let egress = EgressLists { address: 0, bytes_log2: 0 };
    let placement = Placement { tables, egress, ring_slots: 1 << chain.ring_slots_log2 };
    let block: Vec<u8> = app.argument(&placement).iter().flat_map(|word| word.to_le_bytes()).collect();
    let bytes = (app.table_bytes() as u64).next_multiple_of(line);
    let needed = bytes + (block.len().max(1) as u64).next_multiple_of(line);
    if *taken + needed > room {
        return Err(format!(
            "the new tables of `{}` have {needed} bytes, and of the {room} that its region has for them {} are left; \
             expected smaller ones, or more room (`spare_bytes` of the function)",
            at.name,
            room - *taken
        ));
    }
    *taken += needed;
    let argument = (u64::from(tables) + bytes) as u32;
    let data = vec![(tables, app.tables(tables)), (argument, block)];
    Ok(NewTables { function, app, data, argument })
}
