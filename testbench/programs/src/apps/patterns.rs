//! `nids` and `dpi`: the same search for patterns, two kernels. The argument block of `nids`:
//! addresses of the start rows of [`Automaton`]s, 0 in place of the second if there is one for all
//! patterns. That of `dpi`: address of the [`PatternTable`], how far a hash is shifted to be the
//! offset of a word of its larger filter and the mask of this offset, 1 if there are patterns of 4
//! bytes.

use super::{kernel_source, App, AppEntry, Input, Inputs, Placement};
use crate::golden::{Golden, PatternModel};
use crate::slot::SlotPacket;
use crate::tables::{Automaton, PatternSet, PatternTable, SHORTEST_PATTERN};
use crate::verdict::Verdict;

pub(super) const NIDS: AppEntry = AppEntry {
    name: "nids",
    summary: "drop payloads with a pattern of Snort rules: Aho-Corasick",
    inputs: &[Input::Patterns],
    source: kernel_source!("nids.S", Rv32e),
    aes_source: None,
    load: |inputs| {
        let rules = Rules::read(inputs, 1)?;
        let automata = Automaton::for_all(&rules.set.patterns);
        Ok(Box::new(Nids { rules, automata }))
    },
};

pub(super) const DPI: AppEntry = AppEntry {
    name: "dpi",
    summary: "drop payloads with a pattern of Snort rules: Bloom filter, exact check on a hit",
    inputs: &[Input::Patterns],
    source: kernel_source!("dpi.S", Rv32i),
    aes_source: None,
    load: |inputs| {
        let rules = Rules::read(inputs, SHORTEST_PATTERN)?;
        let table = PatternTable::new(&rules.set.patterns);
        Ok(Box::new(Dpi { rules, table }))
    },
};

/// Rules that are named of those left out for a reason.
const NAMED_RULES: usize = 5;

/// The patterns and their golden model.
#[derive(Debug)]
struct Rules {
    set: PatternSet,
    model: PatternModel,
    shortest: usize,
}

impl Rules {
    fn read(inputs: &Inputs, shortest: usize) -> anyhow::Result<Self> {
        let set = PatternSet::read(inputs.rules(), shortest)?;
        let model = PatternModel::new(&set)?;
        Ok(Self { set, model, shortest })
    }

    /// The verdict with the `sid` of the rule that drops.
    fn verdict_name(&self, verdict: Verdict) -> String {
        let rule = verdict.rule().and_then(|rule| self.set.patterns.get(rule as usize));
        match rule.and_then(|pattern| pattern.sid) {
            Some(sid) => format!("{verdict}, sid {sid}"),
            None => verdict.to_string(),
        }
    }

    /// What was read, and what of it is not evaluated.
    fn notes(&self) -> Vec<String> {
        let set = &self.set;
        let mut notes = vec![format!("{} patterns of {} bytes or more", set.patterns.len(), self.shortest)];
        notes.extend(set.reasons(NAMED_RULES));
        notes.push("not evaluated: protocol, addresses, ports and direction of every rule".into());
        let options: Vec<_> =
            set.not_evaluated.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        if !options.is_empty() {
            notes.push(format!("not evaluated, with the number of rules: {}", options.join(", ")));
        }
        notes
    }
}

#[derive(Debug)]
struct Nids {
    rules: Rules,
    /// One or two.
    automata: Vec<Automaton>,
}

impl Nids {
    /// Addresses of the automata's start rows when the tables lie at `tables`.
    fn starts(&self, tables: u32) -> impl Iterator<Item = u32> + '_ {
        self.automata.iter().scan(tables, |next, automaton| {
            let start = *next;
            *next += automaton.size() as u32;
            Some(start)
        })
    }
}

impl App for Nids {
    fn table_bytes(&self) -> usize {
        self.automata.iter().map(Automaton::size).sum()
    }

    fn tables(&self, address: u32) -> Vec<u8> {
        let automata = self.automata.iter().zip(self.starts(address));
        automata.flat_map(|(automaton, start)| automaton.to_bytes(start)).collect()
    }

    fn argument(&self, placement: &Placement) -> Vec<u32> {
        let mut argument: Vec<_> = self.starts(placement.tables).collect();
        argument.resize(2, 0);
        argument
    }

    fn golden(&self, _: u64, packet: &SlotPacket) -> Golden {
        self.rules.model.inspect(packet)
    }

    fn verdict_name(&self, verdict: Verdict) -> String {
        self.rules.verdict_name(verdict)
    }

    fn notes(&self) -> Vec<String> {
        let states: usize = self.automata.iter().map(Automaton::states).sum();
        let mut notes = self.rules.notes();
        let count = self.automata.len();
        notes.push(format!("{count} automata of {states} states, {} bytes", self.table_bytes()));
        notes
    }
}

#[derive(Debug)]
struct Dpi {
    rules: Rules,
    table: PatternTable,
}

impl App for Dpi {
    fn table_bytes(&self) -> usize {
        self.table.size()
    }

    fn tables(&self, address: u32) -> Vec<u8> {
        self.table.to_bytes(address)
    }

    fn argument(&self, placement: &Placement) -> Vec<u32> {
        let words_log2 = self.table.words_log2();
        let mask = ((1 << words_log2) - 1) << 2;
        vec![placement.tables, 30 - words_log2, mask, u32::from(self.table.has_halves())]
    }

    fn golden(&self, _: u64, packet: &SlotPacket) -> Golden {
        self.rules.model.inspect(packet)
    }

    fn verdict_name(&self, verdict: Verdict) -> String {
        self.rules.verdict_name(verdict)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.rules.notes();
        notes.push(format!(
            "filters of {} bytes, tables of {} bytes",
            1024 + (4 << self.table.words_log2()),
            self.table.size()
        ));
        notes
    }
}
