//! Where packets go behind a network function, by their verdicts.

use std::collections::{BTreeMap, BTreeSet};

use crate::verdict::Verdict;

/// Ports that can have an edge of their own: 0 to 7.
pub const BRANCH_PORTS: usize = 8;

/// The edges of a function: the number of the function that each leads to, or none: the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    /// Packets that are forwarded to ports 0 to 7, of ports with an edge of their own.
    pub ports: [Option<Option<usize>>; BRANCH_PORTS],
    /// Packets that are forwarded to any other port.
    pub other: Option<usize>,
    /// Packets that are dropped.
    pub drop: Option<usize>,
    /// Packets whose threads end with a fault.
    pub fault: Option<usize>,
}

impl Edges {
    /// All packets that are forwarded go to one function, or leave; all others leave.
    #[must_use]
    pub fn to(other: Option<usize>) -> Self {
        Self { other, ..Self::default() }
    }

    /// Where packets with this verdict go.
    #[must_use]
    pub fn of(&self, verdict: Verdict) -> Option<usize> {
        if verdict.is_fault() {
            self.fault
        } else if verdict.is_forward() {
            let own = self.ports.get(verdict.0 as usize).copied().flatten();
            own.unwrap_or(self.other)
        } else {
            self.drop
        }
    }

    /// Whether all packets that are forwarded go one way, and all others leave: no array needs
    /// branches for that.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let leaves = self.drop.is_none() && self.fault.is_none();
        leaves && self.ports.iter().flatten().all(|edge| *edge == self.other)
    }

    /// The functions to which they lead.
    #[must_use]
    pub fn targets(&self) -> BTreeSet<usize> {
        let others = [self.other, self.drop, self.fault];
        self.ports.iter().copied().flatten().chain(others).flatten().collect()
    }

    /// Where they lead, with the verdicts of each in words: none in words if there is one way.
    #[must_use]
    pub fn labels(&self) -> BTreeMap<Option<usize>, Vec<String>> {
        let mut labels: BTreeMap<_, Vec<String>> = BTreeMap::new();
        if self.is_plain() {
            labels.insert(self.other, Vec::new());
            return labels;
        }
        for (port, edge) in self.ports.iter().enumerate() {
            if let Some(edge) = edge.filter(|edge| *edge != self.other) {
                labels.entry(edge).or_default().push(port.to_string());
            }
        }
        for (name, edge) in [("other", self.other), ("drop", self.drop), ("fault", self.fault)] {
            // That what is not forwarded leaves is usual.
            if name == "other" || edge.is_some() {
                labels.entry(edge).or_default().push(name.to_string());
            }
        }
        labels
    }

    /// The same with other numbers.
    #[must_use]
    pub fn map(&self, number: impl Fn(usize) -> usize) -> Self {
        self.map_ends(|to| Some(number(to)))
    }

    /// The same with other numbers, or the end.
    #[must_use]
    pub fn map_ends(&self, number: impl Fn(usize) -> Option<usize>) -> Self {
        let to = |edge: Option<usize>| edge.and_then(&number);
        Self {
            ports: self.ports.map(|edge| edge.map(to)),
            other: to(self.other),
            drop: to(self.drop),
            fault: to(self.fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Reason;

    #[test]
    fn verdicts_choose_edges() {
        let mut edges = Edges::to(Some(2));
        assert!(edges.is_plain());
        edges.ports[0] = Some(Some(3));
        edges.ports[7] = Some(None);
        edges.fault = Some(4);
        assert!(!edges.is_plain());
        let ways = [0, 1, 7, 8, 0x7fff_ffff].map(|port| edges.of(Verdict::forward(port)));
        assert_eq!(ways, [Some(3), Some(2), None, Some(2), Some(2)]);
        assert_eq!(edges.of(Verdict::drop(Reason::Ttl)), None);
        assert_eq!(edges.of(Verdict(crate::verdict::FAULT | 5)), Some(4));
        assert_eq!(edges.targets(), [2, 3, 4].into());
        let labels = |edges: &Edges| -> Vec<_> {
            edges.labels().into_iter().map(|(to, verdicts)| (to, verdicts.join(", "))).collect()
        };
        let word = |text: &str| text.to_string();
        let expected =
            [(None, word("7")), (Some(2), word("other")), (Some(3), word("0")), (Some(4), word("fault"))];
        assert_eq!(labels(&edges), expected);
        assert_eq!(labels(&Edges::to(None)), [(None, String::new())]);
        assert_eq!(edges.map(|number| number + 1).of(Verdict::forward(0)), Some(4));
    }
}
