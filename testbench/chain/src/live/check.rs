//! A run against the golden models of the functions that each packet visited.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{ensure, Context};

use super::became::{Became, Bounds, Checked};
use super::ended::Ends;
use super::outcomes::{NoWay, Outcome, Outcomes, ENDED};
use super::paths::{Paths, Seen};
use super::steps::Live;
use crate::cosim::{FunctionCounts, PortsResult};
use crate::golden::{Difference, Golden};
use crate::outcome::check_ports_against;
use crate::placed::Chain;
use crate::slot::SlotPacket;
use crate::verdict::Verdict;

/// A packet with one of its outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    /// Frames that had left before it, and behind it.
    before: usize,
    after: usize,
    /// Its outcome.
    outcome: usize,
    /// Packets up to this one, on the best way here, of which the golden models do not know the
    /// bytes.
    unknown: usize,
}

/// Compares a run with the golden models.
struct Check<'a> {
    outcomes: Outcomes<'a>,
    packets: &'a [SlotPacket],
    ports: &'a PortsResult,
}

impl Paths {
    /// Compares what left the packet ports with the golden models of the functions that each packet
    /// visited, and the counters of the functions with what became of the packets there.
    ///
    /// # Errors
    /// The first difference.
    pub fn check(
        &self,
        chain: &Chain,
        live: &Live,
        packets: &[SlotPacket],
        ports: &PortsResult,
        counts: &[FunctionCounts],
    ) -> anyhow::Result<Checked> {
        ensure!(
            self.packets.len() == packets.len(),
            "{} of {} packets were started",
            self.packets.len(),
            packets.len()
        );
        let ends = Ends::of(self, &ports.run.faults, counts)?;
        let outcomes = Outcomes { paths: self, chain, live, ends: &ends };
        Check { outcomes, packets, ports }.run(counts)
    }
}

impl Check<'_> {
    fn run(&self, counts: &[FunctionCounts]) -> anyhow::Result<Checked> {
        let Outcomes { paths, chain, live, ends } = &self.outcomes;
        let mut outcomes = Vec::with_capacity(self.packets.len());
        let mut steps: Vec<Vec<Step>> = Vec::with_capacity(self.packets.len());
        // Frames that may have left so far, with the packets of unknown bytes among these.
        let mut left = BTreeMap::from([(0_usize, 0_usize)]);
        for (index, packet) in self.packets.iter().enumerate() {
            paths.check_way(index, live)?;
            let of = self.outcomes.of(index, packet).map_err(|no_way| self.no_way(index, &no_way))?;
            let all = self.steps(&left, &of);
            if all.is_empty() {
                return Err(self.difference(index, &left, &of));
            }
            left.clear();
            for step in &all {
                let best = left.entry(step.after).or_insert(step.unknown);
                *best = step.unknown.min(*best);
            }
            outcomes.push(of);
            steps.push(all);
        }
        let sent = self.ports.sent.len();
        let expected = left.keys().copied().last().unwrap_or(0);
        ensure!(left.contains_key(&sent), "{sent} frames left; expected {expected}");

        let mut bounds = vec![Bounds::default(); counts.len()];
        self.bound(&outcomes, &steps, &mut bounds)?;
        let chosen = self.choose(&outcomes, &steps)?;
        let golden: Vec<_> = chosen.iter().map(|(outcome, at)| self.golden(outcome, *at)).collect();
        let records = check_ports_against(&golden, self.packets, self.ports)?;
        let functions = vec![Became::default(); counts.len()];
        let mut checked = Checked { records, functions, ways: Vec::with_capacity(chosen.len()) };
        for ((outcome, _), seen) in chosen.iter().zip(&paths.packets) {
            let starts = outcome.answers.iter().zip(seen);
            checked.ways.push(starts.map(|(answer, seen)| (answer.stop, seen.start)).collect());
            for answer in &outcome.answers {
                let became = &mut checked.functions[answer.stop.function];
                match answer.is_known {
                    true => *became.verdicts.entry(answer.verdict).or_default() += 1,
                    false => became.unknown += 1,
                }
            }
        }
        for (function, (bounds, got)) in bounds.iter_mut().zip(counts).enumerate() {
            bounds.ended(ends.threads[function], ends.lost[function]);
            let warps = paths.warps[function];
            bounds.check(&chain.function(function).name, warps, got)?;
        }
        Ok(checked)
    }

    /// What the next packet may be, with what may have left before it.
    fn steps(&self, left: &BTreeMap<usize, usize>, outcomes: &[Outcome]) -> Vec<Step> {
        let mut steps = Vec::new();
        for (&before, &unknown) in left {
            let sent = self.ports.sent.get(before);
            for (number, outcome) in outcomes.iter().enumerate() {
                let after = match (outcome.leaves(), sent) {
                    (None, _) => before,
                    (Some(leaves), Some(sent)) if leaves.may_be(sent.port, &sent.bytes) => before + 1,
                    _ => continue,
                };
                let unknown = unknown + usize::from(!outcome.is_known());
                steps.push(Step { before, after, outcome: number, unknown });
            }
        }
        steps
    }

    /// What counters may be: by every outcome that a packet has on some way from the first packet
    /// to the last one.
    fn bound(
        &self,
        outcomes: &[Vec<Outcome>],
        steps: &[Vec<Step>],
        bounds: &mut [Bounds],
    ) -> anyhow::Result<()> {
        let mut reached = BTreeSet::from([self.ports.sent.len()]);
        let packets = outcomes.iter().zip(steps).zip(&self.outcomes.paths.packets);
        for ((outcomes, steps), seen) in packets.rev() {
            let possible: Vec<_> = steps.iter().filter(|step| reached.contains(&step.after)).collect();
            let numbers: BTreeSet<_> = possible.iter().map(|step| step.outcome).collect();
            for (place, seen) in seen.iter().enumerate() {
                let verdicts = numbers.iter().map(|number| outcomes[*number].answers[place].verdict);
                bounds.get_mut(usize::from(seen.function)).context("a function")?.add(verdicts);
            }
            reached = possible.iter().map(|step| step.before).collect();
        }
        Ok(())
    }

    /// An outcome of each packet, with the frames that had left before it: as few as can be of
    /// which the golden models do not know the bytes.
    fn choose<'b>(
        &self,
        outcomes: &'b [Vec<Outcome>],
        steps: &[Vec<Step>],
    ) -> anyhow::Result<Vec<(&'b Outcome, usize)>> {
        let mut after = self.ports.sent.len();
        let mut alike = Vec::with_capacity(outcomes.len());
        for (outcomes, steps) in outcomes.iter().zip(steps).rev() {
            let here = || steps.iter().filter(|step| step.after == after);
            let best = here().min_by_key(|step| step.unknown).context("an outcome")?;
            let of = here().filter(|step| (step.before, step.unknown) == (best.before, best.unknown));
            let of: Vec<_> = of.map(|step| &outcomes[step.outcome]).collect();
            after = best.before;
            alike.push((of, after));
        }
        alike.reverse();
        // Of warps of which the watchdog has ended some threads as many as the records have: first
        // those that must be among them.
        let mut unnamed = self.outcomes.ends.unnamed();
        let ended = |index: usize, outcome: &Outcome| {
            self.unnamed(index as u32, &self.outcomes.paths.packets[index], outcome)
        };
        let mut take = |starts: Vec<u64>| {
            let has = starts.iter().all(|start| unnamed.get(start).is_none_or(|left| *left > 0));
            for start in starts.iter().filter(|_| has) {
                unnamed.entry(*start).and_modify(|left| *left = left.saturating_sub(1));
            }
            has
        };
        for (index, (of, _)) in alike.iter().enumerate().filter(|(_, (of, _))| of.len() == 1) {
            take(ended(index, of[0]));
        }
        let choose = |(index, (of, before)): (usize, (Vec<&'b Outcome>, usize))| {
            let chosen = of.iter().copied().find(|outcome| of.len() == 1 || take(ended(index, outcome)));
            chosen.or(of.first().copied()).map(|outcome| (outcome, before)).context("an outcome")
        };
        alike.into_iter().enumerate().map(choose).collect()
    }

    /// Starts of the visits that the watchdog has ended by an outcome, where no record names the
    /// packet.
    fn unnamed(&self, packet: u32, seen: &[Seen], outcome: &Outcome) -> Vec<u64> {
        let ended = seen.iter().zip(&outcome.answers).filter(|(_, answer)| answer.verdict == ENDED);
        let unnamed = ended.filter(|(seen, _)| !self.outcomes.ends.names(packet, **seen));
        unnamed.map(|(seen, _)| seen.start).collect()
    }

    /// What is expected of a packet in front of which `before` frames left: what left, if nobody
    /// knows.
    fn golden(&self, outcome: &Outcome, before: usize) -> Golden {
        let sent = self.ports.sent.get(before);
        match (outcome.leaves(), sent) {
            (Some(leaves), Some(sent)) => Golden {
                verdict: Verdict::forward(leaves.port.unwrap_or(sent.port)),
                frame: leaves.frame.unwrap_or(&sent.bytes).to_vec(),
            },
            _ => Golden { verdict: crate::outcome::NOT_SENT, frame: Vec::new() },
        }
    }

    /// The packet with the functions that it visited, in words.
    fn way(&self, index: usize) -> String {
        let name = |seen: &Seen| self.outcomes.chain.function(usize::from(seen.function)).name.as_str();
        let names: Vec<_> = self.outcomes.paths.packets[index].iter().map(name).collect();
        format!("packet {index}, which visited {}", names.join(", "))
    }

    /// What is wrong with the way of a packet.
    fn no_way(&self, index: usize, NoWay { place, verdicts, between_graphs }: &NoWay) -> anyhow::Error {
        let seen = &self.outcomes.paths.packets[index];
        let name = |seen: &Seen| self.outcomes.chain.function(usize::from(seen.function)).name.clone();
        let went = match seen.get(place + 1) {
            Some(next) => format!("went on to `{}`", name(next)),
            None => "ended there".to_string(),
        };
        let here = seen.get(*place).map(name).unwrap_or_default();
        let verdicts: Vec<_> = verdicts.iter().map(ToString::to_string).collect();
        let verdicts = match verdicts.is_empty() {
            true => "no verdict".to_string(),
            false => verdicts.join(" or "),
        };
        let why = match between_graphs {
            true => "; no one chain leads the whole way",
            false => "",
        };
        anyhow::anyhow!(
            "{}, {went} behind `{here}` against the golden model, which has {verdicts}{why}",
            self.way(index)
        )
    }

    /// What is wrong with a packet that none of its outcomes explains: all of them leave. Each is
    /// compared with the frame that left next.
    fn difference(&self, index: usize, left: &BTreeMap<usize, usize>, outcomes: &[Outcome]) -> anyhow::Error {
        let way = self.way(index);
        let next = left.iter().min_by_key(|(_, unknown)| **unknown).map(|(before, _)| *before);
        let Some(sent) = next.and_then(|before| self.ports.sent.get(before)) else {
            return anyhow::anyhow!("{way} was to leave; only {} frames left", self.ports.sent.len());
        };
        let got = Golden { verdict: Verdict::forward(sent.port), frame: sent.bytes.clone() };
        let mut told = Vec::new();
        for leaves in outcomes.iter().filter_map(Outcome::leaves) {
            let expected = match (leaves.port, leaves.frame) {
                (Some(port), Some(frame)) => {
                    Golden { verdict: Verdict::forward(port), frame: frame.to_vec() }
                }
                (Some(port), None) => Golden { verdict: Verdict::forward(port), frame: got.frame.clone() },
                (None, _) => continue,
            };
            let found = Difference::find(index as u64, expected, got.clone());
            let text = found.map(|difference| difference.to_string()).unwrap_or_default();
            if !text.is_empty() && !told.contains(&text) {
                told.push(text);
            }
        }
        match told.is_empty() {
            true => anyhow::anyhow!("{way}: another frame left"),
            false => anyhow::anyhow!("{way}:\n{}", told.join("\nor\n")),
        }
    }
}
