//! What may become of a packet at the functions that it visited, by the golden models.

use super::ended::{Ends, IsEnded};
use super::paths::{Paths, Seen};
use super::steps::Live;
use crate::apps::App;
use crate::edges::{Edges, BRANCH_PORTS};
use crate::golden::Golden;
use crate::hang::OnHang;
use crate::placed::{Chain, STUB_DROPS, STUB_PASSES};
use crate::simulated::Stop;
use crate::slot::SlotPacket;
use crate::verdict::{Verdict, DROP, FAULT};
use hermes_rtl::config::WATCHDOG_CAUSE;

/// The verdict of a thread that the watchdog has ended.
pub(super) const ENDED: Verdict = Verdict(FAULT | WATCHDOG_CAUSE as u32);

/// What became of a packet at a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The function.
    pub stop: Stop,
    /// Its verdict: one of its kind if that is all that can be known.
    pub verdict: Verdict,
    /// It is this verdict.
    pub is_known: bool,
}

/// What may become of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// What became of it at the functions that it visited, in their order.
    pub answers: Vec<Answer>,
    /// The frame behind the last one; none if nobody knows its bytes.
    frame: Option<Vec<u8>>,
    /// The graphs, of those that there may have been meanwhile, that it went through.
    graphs: Vec<usize>,
    /// What the verdict of the packet is: the last answer but for those that keep it.
    verdict: Option<Source>,
}

/// A function whose verdict is that of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    answer: Answer,
    /// The edges of the function, and the number that the packet went to.
    edges: Vec<Edges>,
    to: Option<usize>,
}

/// What leaves the packet ports for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaves<'a> {
    /// The bytes, if they are known.
    pub frame: Option<&'a [u8]>,
    /// The port, if it is known.
    pub port: Option<u32>,
    /// If not, one by which the packet went where it went.
    source: &'a Source,
}

impl Leaves<'_> {
    /// Whether this may be what was sent.
    pub fn may_be(&self, port: u32, bytes: &[u8]) -> bool {
        let Source { edges, to, .. } = self.source;
        let leads = |edges: &Edges| edges.of(Verdict::forward(port)) == *to;
        self.frame.is_none_or(|frame| frame == bytes)
            && self.port.map_or_else(|| edges.iter().any(leads), |own| own == port)
    }
}

impl Outcome {
    /// What leaves, if something does.
    pub fn leaves(&self) -> Option<Leaves<'_>> {
        let source = self.verdict.as_ref().filter(|source| source.answer.verdict.is_forward())?;
        let port = source.answer.is_known.then_some(source.answer.verdict.0);
        Some(Leaves { frame: self.frame.as_deref(), port, source })
    }

    /// Whether the golden models say what became of the packet.
    pub fn is_known(&self) -> bool {
        self.frame.is_some()
    }
}

/// What a function may make of a packet.
struct Candidate {
    /// One of these is its verdict.
    verdicts: Vec<Verdict>,
    /// It is this verdict, since the bytes of the packet are known.
    is_known: bool,
    frame: Option<Vec<u8>>,
    /// The kernel does so; else the watchdog or a stub.
    by_kernel: bool,
}

/// A function at which nothing that the golden models have leads where the packet went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NoWay {
    /// The place of the function on the way of the packet.
    pub place: usize,
    /// What it has by the golden models.
    pub verdicts: Vec<Verdict>,
    /// Each step would be right by itself, but no one graph has the whole way.
    pub between_graphs: bool,
}

/// Finds the outcomes of the packets of a run.
pub(super) struct Outcomes<'a> {
    pub paths: &'a Paths,
    pub chain: &'a Chain,
    pub live: &'a Live,
    pub ends: &'a Ends,
}

impl Outcomes<'_> {
    /// What may come out for a packet by the functions that it visited: one thing, but while tables
    /// change, a function is bent to a stub, or the watchdog has ended some threads of its warp.
    /// The first ones are of packets whose bytes are known.
    ///
    /// # Errors
    /// Nothing explains its way.
    pub fn of(&self, index: usize, packet: &SlotPacket) -> Result<Vec<Outcome>, NoWay> {
        let seen = &self.paths.packets[index];
        // The chain before a change, or that behind it, must explain the whole way.
        let graphs: Vec<_> =
            self.paths.changes_of(index).into_iter().map(|changes| self.live.graph(changes)).collect();
        let mut outcomes = vec![Outcome {
            answers: Vec::new(),
            frame: Some(packet.frame.clone()),
            graphs: (0..graphs.len()).collect(),
            verdict: None,
        }];
        for (place, at) in seen.iter().enumerate() {
            let next = seen.get(place + 1);
            let to = next.map(|next| usize::from(next.number));
            let to_function = next.map(|next| usize::from(next.function));
            let function = usize::from(at.function);
            let edges = self.paths.edges_at(*at);
            let leads = |graph: usize, verdict: Verdict| {
                let here = graphs[graph].iter().find(|(other, _)| *other == function);
                here.is_some_and(|(_, edges)| edges.of(verdict) == to_function)
            };
            let mut no_way = NoWay { place, verdicts: Vec::new(), between_graphs: false };
            let mut after: Vec<Outcome> = Vec::new();
            for before in &outcomes {
                let stop = |by_kernel: bool, verdict| Stop {
                    function,
                    instead: (!by_kernel).then_some(verdict),
                    is_known: before.is_known(),
                };
                for candidate in self.at_function(index, packet, before, *at, next.is_some()) {
                    let Candidate { verdicts, is_known, frame, by_kernel } = candidate;
                    no_way.verdicts.extend(verdicts.iter().filter(|_| is_known));
                    let is_edge = |verdict: &Verdict| edges.iter().any(|edges| edges.of(*verdict) == to);
                    let good: Vec<_> = verdicts.into_iter().filter(is_edge).collect();
                    let Some(verdict) = good.first().copied() else { continue };
                    let leads = |graph: &usize| good.iter().any(|verdict| leads(*graph, *verdict));
                    let graphs: Vec<_> = before.graphs.iter().copied().filter(leads).collect();
                    if graphs.is_empty() {
                        no_way.between_graphs = true;
                        continue;
                    }
                    let mut answers = before.answers.clone();
                    let answer = Answer { stop: stop(by_kernel, verdict), verdict, is_known };
                    answers.push(answer);
                    let source = match self.chain.function(function).keeps(verdict) {
                        true => before.verdict.clone(),
                        false => Some(Source { answer, edges: edges.clone(), to }),
                    };
                    let outcome = Outcome { answers, frame, graphs, verdict: source };
                    if !after.contains(&outcome) {
                        after.push(outcome);
                    }
                }
            }
            if after.is_empty() {
                no_way.verdicts.sort_unstable();
                no_way.verdicts.dedup();
                return Err(no_way);
            }
            outcomes = after;
        }
        outcomes.sort_by_key(|outcome| !outcome.is_known());
        Ok(outcomes)
    }

    /// What a function may make of a packet, which `goes_on` to another one: the kernel, or the
    /// watchdog or a stub, which come first.
    fn at_function(
        &self,
        index: usize,
        packet: &SlotPacket,
        before: &Outcome,
        seen: Seen,
        goes_on: bool,
    ) -> Vec<Candidate> {
        let number = usize::from(seen.function);
        let function = self.chain.function(number);
        let (from, to) = (seen.start, seen.finish);
        let mut found = Vec::new();
        let instead = |verdict, frame: &Option<Vec<u8>>| Candidate {
            verdicts: vec![verdict],
            is_known: true,
            frame: frame.clone(),
            by_kernel: false,
        };
        // Without `on_hang` it must not hang.
        let is_ended = match function.on_hang {
            Some(_) => self.ends.of_packet(index as u32, seen, function.watchdog),
            None => IsEnded::No,
        };
        if is_ended != IsEnded::No {
            found.push(instead(ENDED, &before.frame));
            if goes_on && function.guards.may_store && before.is_known() {
                // It has stored something before, or not.
                found.push(instead(ENDED, &None));
            }
        }
        if is_ended == IsEnded::Yes {
            return found;
        }
        // The kernel comes last: it may hang where a stub does the same.
        for stub in self.paths.stubs[number].between(from, to).into_iter().rev() {
            match (stub, &before.frame) {
                (Some(OnHang::Drop), frame) => found.push(instead(STUB_DROPS, frame)),
                (Some(OnHang::Pass), frame) => found.push(instead(STUB_PASSES, frame)),
                (_, None) => {
                    let ports = (0..=BRANCH_PORTS as u32).map(Verdict::forward).collect();
                    for verdicts in [ports, vec![Verdict(DROP)], vec![Verdict(FAULT)]] {
                        found.push(Candidate { verdicts, is_known: false, frame: None, by_kernel: true });
                    }
                }
                (_, Some(frame)) => {
                    let packet = SlotPacket { frame: frame.clone(), ..packet.clone() };
                    for tables in self.paths.tables[number].between(from, to) {
                        let app: Option<&dyn App> = match tables {
                            Some(tables) => Some(&*self.live.tables[tables].app),
                            None => function.app.as_deref(),
                        };
                        found.extend(app.map(|app| app.golden(index as u64, &packet)).map(
                            |Golden { verdict, frame }| Candidate {
                                verdicts: vec![verdict],
                                is_known: true,
                                frame: Some(frame),
                                by_kernel: true,
                            },
                        ));
                    }
                }
            }
        }
        found
    }
}
