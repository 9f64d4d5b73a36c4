//! An order of statements in which each comes behind those that it depends on, and groups of them
//! are together if possible.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::effects::{same_index, Effects};

/// Nodes by the number of their place, and what has to come before what.
pub(super) struct Schedule {
    /// Those that depend on each.
    followers: Vec<Vec<usize>>,
    /// How many nodes each still waits for.
    waits: Vec<usize>,
    /// The group that each is in.
    group: Vec<Option<usize>>,
    groups: Vec<Vec<usize>>,
    /// How many of each group still wait.
    missing: Vec<usize>,
    order: Vec<usize>,
    /// Nodes in no group, and groups, that wait for nothing: the first place is taken first.
    ready: BinaryHeap<Reverse<usize>>,
    ready_groups: BinaryHeap<Reverse<(usize, usize)>>,
    /// Nodes of groups that wait for nothing, while others of their group do.
    early: BinaryHeap<Reverse<usize>>,
    done: Vec<bool>,
}

impl Schedule {
    /// Of nodes with these effects, none in a group.
    pub fn new<'e, 'a: 'e>(nodes: impl Iterator<Item = &'e Effects<'a>>) -> Self {
        let mut followers: Vec<Vec<usize>> = Vec::new();
        let mut waits = Vec::new();
        let mut known: HashMap<(&str, bool), HashMap<Option<u64>, Uses>> = HashMap::new();
        for (at, effects) in nodes.enumerate() {
            let mut before = Vec::new();
            let accesses = effects.reads.iter().map(|place| (place, false));
            for (place, writes) in accesses.chain(effects.writes.iter().map(|place| (place, true))) {
                let Some(uses) = known.get(&(place.name, place.member)) else { continue };
                for (index, uses) in uses {
                    if same_index(*index, place.index) {
                        before.extend(&uses.writes);
                        before.extend(uses.reads.iter().filter(|_| writes));
                    }
                }
            }
            for place in &effects.reads {
                let uses = known.entry((place.name, place.member)).or_default();
                uses.entry(place.index).or_default().reads.push(at);
            }
            for place in &effects.writes {
                let uses = known.entry((place.name, place.member)).or_default();
                let uses = uses.entry(place.index).or_default();
                // Who comes behind this one comes behind all of them.
                uses.reads.clear();
                uses.writes = vec![at];
            }
            before.sort_unstable();
            before.dedup();
            before.retain(|one| *one != at);
            followers.push(Vec::new());
            waits.push(before.len());
            before.into_iter().for_each(|one: usize| followers[one].push(at));
        }
        let count = waits.len();
        Self {
            followers,
            waits,
            group: vec![None; count],
            groups: Vec::new(),
            missing: Vec::new(),
            order: Vec::with_capacity(count),
            ready: BinaryHeap::new(),
            ready_groups: BinaryHeap::new(),
            early: BinaryHeap::new(),
            done: vec![false; count],
        }
    }

    /// Says that `members` are to be together, in this order.
    pub fn add_group(&mut self, members: Vec<usize>) {
        members.iter().for_each(|at| self.group[*at] = Some(self.groups.len()));
        self.missing.push(members.len());
        self.groups.push(members);
    }

    /// The nodes in their order.
    pub fn run(mut self) -> Vec<usize> {
        for at in 0..self.waits.len() {
            if self.waits[at] == 0 {
                self.waits_for_nothing(at);
            }
        }
        loop {
            if let Some(Reverse(at)) = self.ready.pop() {
                self.take(at);
            } else if let Some(Reverse((_, group))) = self.ready_groups.pop() {
                for at in self.groups[group].clone() {
                    if !self.done[at] {
                        self.take(at);
                    }
                }
            } else if let Some(Reverse(at)) = self.early.pop() {
                if !self.done[at] {
                    self.take(at);
                }
            } else {
                return self.order;
            }
        }
    }

    fn waits_for_nothing(&mut self, at: usize) {
        let Some(group) = self.group[at] else {
            self.ready.push(Reverse(at));
            return;
        };
        self.missing[group] -= 1;
        if self.missing[group] == 0 {
            let first = self.groups[group].iter().copied().min().unwrap_or(at);
            self.ready_groups.push(Reverse((first, group)));
        } else {
            self.early.push(Reverse(at));
        }
    }

    fn take(&mut self, at: usize) {
        self.done[at] = true;
        self.order.push(at);
        for follower in std::mem::take(&mut self.followers[at]) {
            self.waits[follower] -= 1;
            if self.waits[follower] == 0 {
                self.waits_for_nothing(follower);
            }
        }
    }
}

/// Who has read and written a place so far, as far as that is not known from who wrote it later.
#[derive(Default)]
struct Uses {
    reads: Vec<usize>,
    writes: Vec<usize>,
}
