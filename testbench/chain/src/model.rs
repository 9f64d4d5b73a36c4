//! The golden model of a chain: those of its functions, one after the other.

use super::placed::{verdict_behind, Chain, Function};
use crate::apps::App;
use crate::golden::Golden;
use crate::slot::SlotPacket;
use crate::verdict::Verdict;

/// A packet at a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The number of the function.
    pub function: usize,
    /// The packet as it came there.
    pub packet: SlotPacket,
    /// The verdict of the function.
    pub verdict: Verdict,
}

/// The golden model of a chain whose functions all have one.
#[derive(Clone, Copy, Debug)]
pub struct ChainModel<'a> {
    functions: &'a [Function],
}

impl Chain {
    /// The golden model, if every function has the app that brings one.
    ///
    /// # Errors
    /// The name of the first function without one.
    pub fn model(&self) -> Result<ChainModel<'_>, &str> {
        match self.functions.iter().find(|function| function.app.is_none()) {
            Some(function) => Err(&function.name),
            None => Ok(ChainModel { functions: &self.functions }),
        }
    }
}

impl ChainModel<'_> {
    /// The functions that `packet`, the packet number `index` of the run, visits, and what comes
    /// out. The number stays that of the packet from function to function. A packet goes on by the
    /// edges of its verdicts; the verdict is that of the last function that it visited and that has
    /// not kept that of the function before. The frame is that of the last one.
    #[must_use]
    pub fn follow(&self, index: u64, packet: &SlotPacket) -> (Golden, Vec<Visit>) {
        let mut visits = Vec::new();
        let mut out = Golden { verdict: Verdict::forward(0), frame: packet.frame.clone() };
        let mut at = Some(0);
        while let Some((number, function)) = at.and_then(|at| Some((at, self.functions.get(at)?))) {
            let packet = SlotPacket { frame: out.frame, ..packet.clone() };
            out = match &function.app {
                Some(app) => app.golden(index, &packet),
                None => Golden { verdict: Verdict::forward(0), frame: packet.frame.clone() },
            };
            at = function.edges.of(out.verdict);
            visits.push(Visit { function: number, packet, verdict: out.verdict });
        }
        let seen = visits.iter().map(|visit| (&self.functions[visit.function], visit.verdict));
        let verdict = verdict_behind(seen).unwrap_or(out.verdict);
        (Golden { verdict, ..out }, visits)
    }

    /// The app of the last function, which alone may send other frames than those in the slots.
    fn last(&self) -> Option<&dyn App> {
        self.functions.last().and_then(|last| last.app.as_deref())
    }
}

impl App for ChainModel<'_> {
    fn egress_entries(&self, frame_bytes: usize) -> usize {
        self.last().map_or(0, |app| app.egress_entries(frame_bytes))
    }

    fn growth(&self) -> usize {
        self.functions.iter().map(|function| function.growth).sum()
    }

    fn golden(&self, index: u64, packet: &SlotPacket) -> Golden {
        self.follow(index, packet).0
    }

    fn check_egress(&self, index: u64, packet: &SlotPacket, frames: &[Vec<u8>]) -> anyhow::Result<()> {
        let (_, visits) = self.follow(index, packet);
        let last = visits.last().filter(|visit| visit.function + 1 == self.functions.len());
        match (last, self.last()) {
            (Some(visit), Some(app)) => app.check_egress(index, &visit.packet, frames),
            _ => {
                anyhow::ensure!(frames.is_empty(), "{} frames leave instead of the packet", frames.len());
                Ok(())
            }
        }
    }
}
