//! Counters of a run over time.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::levels::Levels;
use super::perfetto::{Owner, Perfetto};
use crate::cosim::{Event, SpawnEvent};
use crate::iss::TraceCycle;

/// Cycles over which a counter is averaged.
pub const COUNTER_CYCLES: u64 = 128;

const IPC: &str = "IPC";
const WARPS: &str = "warps";
const QUEUE: &str = "task queue";
const MEMORY: &str = "memory lines in flight";

/// Counts what happens, and writes the means of each stretch of [`COUNTER_CYCLES`] cycles that
/// differ from those before.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// Warps that are on each core.
    warps: BTreeMap<u8, u64>,
    /// Packets that were issued.
    issued: u64,
    /// The stretch that is being counted: its first cycle, its cycles so far, and sums over them.
    first: u64,
    cycles: u64,
    sums: BTreeMap<(Owner, &'static str), u64>,
    /// What was written last.
    last: BTreeMap<(Owner, &'static str), f64>,
}

impl Counters {
    /// An event happened; all have to be told, those of cycles that are not counted too.
    pub(super) fn event(&mut self, event: Event) {
        match event {
            Event::Issue(slot, packets) => {
                *self.warps.entry(slot.core).or_default() += 1;
                self.issued += u64::from(packets.count);
            }
            Event::Hop { slot, .. } | Event::Spawn(SpawnEvent::Issue { slot, .. }) => {
                *self.warps.entry(slot.core).or_default() += 1
            }
            Event::Finish(slot) | Event::Spawn(SpawnEvent::Finish(slot)) => {
                let warps = self.warps.entry(slot.core).or_default();
                *warps = warps.saturating_sub(1);
            }
            Event::Commit(..) | Event::Spawn(_) => {}
        }
    }

    /// Counts a cycle, behind its events.
    ///
    /// # Errors
    /// Those of `output`.
    pub(super) fn cycle(
        &mut self,
        cycle: u64,
        trace: &TraceCycle,
        levels: Levels,
        output: &mut Perfetto<impl Write>,
    ) -> io::Result<()> {
        // Stretches begin at multiples, so that those of different runs can be compared.
        if cycle / COUNTER_CYCLES != self.first / COUNTER_CYCLES {
            self.write(output)?;
        }
        if self.cycles == 0 {
            self.first = cycle;
        }
        self.cycles += 1;
        for got in &trace.retired {
            *self.sums.entry((Owner::Core(got.core), IPC)).or_default() += 1;
        }
        for (core, warps) in &self.warps {
            *self.sums.entry((Owner::Core(*core), WARPS)).or_default() += warps;
        }
        *self.sums.entry((Owner::Array, QUEUE)).or_default() += levels.entered.saturating_sub(self.issued);
        *self.sums.entry((Owner::Array, MEMORY)).or_default() += levels.memory_lines;
        Ok(())
    }

    /// Writes the means of the stretch that was counted.
    ///
    /// # Errors
    /// Those of `output`.
    pub(super) fn write(&mut self, output: &mut Perfetto<impl Write>) -> io::Result<()> {
        let cycles = std::mem::take(&mut self.cycles);
        if cycles == 0 {
            return Ok(());
        }
        for (&(owner, name), sum) in &mut self.sums {
            // Three digits are enough for a graph.
            let mean = (std::mem::take(sum) as f64 / cycles as f64 * 1e3).round() / 1e3;
            if self.last.insert((owner, name), mean) != Some(mean) {
                output.counter(owner, name, self.first, mean)?;
            }
        }
        Ok(())
    }
}
