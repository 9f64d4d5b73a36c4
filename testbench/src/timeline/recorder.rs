//! Follows every warp of a run.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::str::FromStr;

use super::hart::{Functions, HartPart, HartTimeline};
use super::perfetto::{Job, Perfetto};
use super::text::TextTrace;
use super::warp::{WarpTimeline, Work};
use crate::command::CommandRetired;
use crate::cosim::{Event, SpawnEvent, WarpSlot};
use crate::iss::{Instruction, Isa};
use crate::lockstep::TraceCycle;

/// Cycles, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleRange {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

impl CycleRange {
    /// Every cycle.
    pub const ALL: Self = Self { first: 0, last: u64::MAX };

    /// Whether the cycle is one of these.
    pub const fn contains(&self, cycle: u64) -> bool {
        self.first <= cycle && cycle <= self.last
    }
}

impl FromStr for CycleRange {
    type Err = String;

    /// `FROM-TO`, such as `1000-2000`.
    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('-').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        match numbers {
            Some((first, last)) if first <= last => Ok(Self { first, last }),
            _ => Err("expected FROM-TO in cycles, such as 1000-2000".to_string()),
        }
    }
}

/// Writes what the warps of a run did: each is written at its commit, one of spawned threads at its finish, so that memory holds only
/// those in flight; and what the harts of the command processor did, a part of their time at its end.
///
/// Warps that are issued in the chosen cycles are followed, each to its end, and jobs that are triggered in them; of harts, what retires in them.
pub struct Recorder<W> {
    isa: Isa,
    cycles: CycleRange,
    text: Option<TextTrace<W>>,
    perfetto: Option<Perfetto<W>>,
    running: BTreeMap<(u8, u8), WarpTimeline>,
    /// Warps that wait for their commit, by their first packet.
    finished: BTreeMap<u32, WarpTimeline>,
    /// Instructions that each core retired while warps were followed.
    retired: BTreeMap<u8, u64>,
    /// Jobs of the thread spawner, by their slots.
    jobs: BTreeMap<u8, Job>,
    harts: BTreeMap<u32, HartTimeline>,
    functions: Functions,
}

impl<W: Write> Recorder<W> {
    /// A recorder of warps that are issued in `cycles`, with either or both outputs.
    pub fn new(
        isa: Isa,
        cycles: CycleRange,
        text: Option<TextTrace<W>>,
        perfetto: Option<Perfetto<W>>,
    ) -> Self {
        let (running, finished, retired, jobs, harts, functions) = Default::default();
        Self { isa, cycles, text, perfetto, running, finished, retired, jobs, harts, functions }
    }

    /// Names the functions of the firmware.
    #[must_use]
    pub fn with_functions(mut self, mut functions: Functions) -> Self {
        functions.sort();
        self.functions = functions;
        self
    }

    /// Takes an instruction of the command processor.
    ///
    /// # Errors
    /// Those of the outputs.
    pub fn hart(&mut self, cycle: u64, got: &CommandRetired) -> io::Result<()> {
        if !self.cycles.contains(cycle) {
            return Ok(());
        }
        let line = self.text.as_ref().map(|text| text.hart_line(cycle, got)).unwrap_or_default();
        let mut parts = Vec::new();
        self.harts.entry(got.hart).or_default().retire(cycle, got, &self.functions, &line, &mut parts);
        self.write_hart(got.hart, &parts)
    }

    fn write_hart(&mut self, hart: u32, parts: &[HartPart]) -> io::Result<()> {
        for part in parts {
            self.text.as_mut().map(|text| text.hart(hart, part)).transpose()?;
            self.perfetto.as_mut().map(|perfetto| perfetto.hart(hart, part)).transpose()?;
        }
        Ok(())
    }

    /// Whether a warp is on a core whose instructions are to be told.
    pub fn is_following(&self) -> bool {
        !self.running.is_empty()
    }

    /// Takes what happened in a cycle; the starts of `trace` are not needed.
    ///
    /// # Errors
    /// Those of the outputs.
    pub fn cycle(&mut self, cycle: u64, trace: &TraceCycle, events: &[(u64, Event)]) -> io::Result<()> {
        for got in &trace.retired {
            let count = self.retired.entry(got.core).or_insert(0);
            *count += 1;
            let Some(warp) = self.running.get_mut(&(got.core, got.slot)) else { continue };
            let code = Instruction::decode(got.instruction, &self.isa);
            let step = warp.retire(cycle, got, code.as_ref(), *count);
            if let Some(text) = &self.text {
                text.retired(warp, cycle, got, code.as_ref(), step);
            }
        }
        for late in &trace.late_writes {
            let Some(warp) = self.running.get_mut(&(late.core, late.slot)) else { continue };
            warp.late_write(late);
            if let Some(text) = &self.text {
                text.late_write(warp, cycle, late);
            }
        }
        for (_, event) in events {
            self.event(cycle, *event)?;
        }
        Ok(())
    }

    fn event(&mut self, cycle: u64, event: Event) -> io::Result<()> {
        let key = |slot: WarpSlot| (slot.core, slot.slot);
        match event {
            Event::Issue(slot, packets) => self.issue(cycle, slot, Work::Packets(packets)),
            Event::Finish(slot) => {
                if let Some(mut warp) = self.running.remove(&key(slot)) {
                    warp.finish(cycle);
                    self.finished.insert(warp.work.range().0, warp);
                }
            }
            Event::Commit(_, packets) => {
                if let Some(mut warp) = self.finished.remove(&packets.first) {
                    warp.committed = Some(cycle);
                    self.write(&warp, cycle)?;
                }
            }
            Event::Spawn(SpawnEvent::Trigger(slot)) => {
                if self.cycles.contains(cycle) {
                    self.jobs.insert(slot, Job { triggered: cycle, ..Job::default() });
                }
            }
            Event::Spawn(SpawnEvent::Issue { job, slot, first, count }) => {
                if let Some(job) = self.jobs.get_mut(&job) {
                    job.warps += 1;
                    job.threads += u64::from(count);
                }
                self.issue(cycle, slot, Work::Job { job, first, count });
            }
            Event::Spawn(SpawnEvent::Finish(slot)) => {
                if let Some(mut warp) = self.running.remove(&key(slot)) {
                    warp.finish(cycle);
                    self.write(&warp, cycle)?;
                }
            }
            Event::Spawn(SpawnEvent::Complete(slot)) => {
                if let Some(job) = self.jobs.remove(&slot) {
                    let perfetto = self.perfetto.as_mut();
                    perfetto.map(|perfetto| perfetto.job(slot, job, Some(cycle), cycle)).transpose()?;
                }
            }
        }
        Ok(())
    }

    fn issue(&mut self, cycle: u64, slot: WarpSlot, work: Work) {
        if self.cycles.contains(cycle) {
            let retired = self.retired.get(&slot.core).copied().unwrap_or(0);
            self.running.insert((slot.core, slot.slot), WarpTimeline::new(slot, work, cycle, retired));
        }
    }

    fn write(&mut self, warp: &WarpTimeline, cycle: u64) -> io::Result<()> {
        self.text.as_mut().map(|text| text.warp(warp)).transpose()?;
        self.perfetto.as_mut().map(|perfetto| perfetto.warp(warp, cycle)).transpose()?;
        Ok(())
    }

    /// Writes the warps that were not committed by `cycle`, jobs that were not completed and what harts did last, and ends the outputs: the readable trace and the timeline.
    ///
    /// # Errors
    /// Those of the outputs.
    pub fn end(mut self, cycle: u64) -> io::Result<(Option<W>, Option<W>)> {
        let finished = std::mem::take(&mut self.finished);
        let mut rest: Vec<_> = finished.into_values().collect();
        rest.extend(std::mem::take(&mut self.running).into_values());
        rest.sort_by_key(|warp| warp.issued);
        rest.iter().try_for_each(|warp| self.write(warp, cycle))?;
        for (slot, job) in std::mem::take(&mut self.jobs) {
            self.perfetto.as_mut().map(|perfetto| perfetto.job(slot, job, None, cycle)).transpose()?;
        }
        for (hart, mut timeline) in std::mem::take(&mut self.harts) {
            let mut parts = Vec::new();
            timeline.end_all(cycle, &mut parts);
            self.write_hart(hart, &parts)?;
        }
        Ok((self.text.map(TextTrace::end), self.perfetto.map(Perfetto::end).transpose()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::PacketRange;
    use crate::lockstep::Retired;
    use serde_json::Value;

    const ISA: Isa = Isa { m: true, zbb: true, aes: false, atomics: false, zawrs: false, embedded: false };

    /// Three warps, issued in cycles 10, 20 and 30 to the slots of core 1, one instruction each; the first finishes last, the
    /// third never.
    fn record(cycles: CycleRange) -> (String, Vec<Value>) {
        let text = TextTrace::new(Vec::new(), ISA, 4).unwrap();
        let mut recorder =
            Recorder::new(ISA, cycles, Some(text), Some(Perfetto::new(Vec::new(), 4).unwrap()));
        let slot = |slot| WarpSlot { core: 1, slot };
        let range = |number: u8| PacketRange { first: u32::from(number) * 4, count: 4 };
        let mut happen = |cycle, event: Option<Event>, retired: Option<u8>| {
            let mut trace = TraceCycle::default();
            trace.retired.extend(retired.map(|slot| Retired {
                core: 1,
                slot,
                pc: 0x100,
                instruction: 0x0017_0713,
                active: 7,
                ..Retired::default()
            }));
            let events: Vec<_> = event.map(|event| (cycle, event)).into_iter().collect();
            recorder.cycle(cycle, &trace, &events).unwrap();
        };
        for number in 0..3 {
            happen(10 + 10 * u64::from(number), Some(Event::Issue(slot(number), range(number))), None);
            happen(15 + 10 * u64::from(number), None, Some(number));
        }
        happen(50, Some(Event::Finish(slot(1))), None);
        happen(60, Some(Event::Finish(slot(0))), None);
        happen(61, Some(Event::Commit(slot(0), range(0))), None);
        happen(62, Some(Event::Commit(slot(1), range(1))), None);
        let (text, json) = recorder.end(70).unwrap();
        let mut json: Value = serde_json::from_slice(&json.unwrap()).unwrap();
        let Value::Array(events) = json["traceEvents"].take() else { panic!("{json}") };
        (String::from_utf8(text.unwrap()).unwrap(), events)
    }

    fn of_kind<'a>(events: &'a [Value], kind: &str, category: &str) -> Vec<&'a Value> {
        events.iter().filter(|event| event["ph"] == kind && event["cat"] == category).collect()
    }

    #[test]
    fn warps_are_written_in_the_order_of_their_commits() {
        let (text, events) = record(CycleRange::ALL);
        let blocks: Vec<_> = text.lines().filter(|line| line.starts_with("warp")).collect();
        let block =
            |first: u32, slot| format!("warp of packets {first} to {}, core 1, slot {slot}", first + 3);
        assert_eq!(blocks, [block(0, 0), block(4, 1), block(8, 2)]);
        assert_eq!((text.matches(" committed").count(), text.matches("not committed").count()), (3, 1));

        let warps = of_kind(&events, "X", "warp");
        let time = |event: &Value| (event["ts"].as_u64().unwrap(), event["dur"].as_u64().unwrap());
        assert_eq!(warps.iter().map(|w| time(w)).collect::<Vec<_>>(), [(10, 50), (20, 30), (30, 40)]);
        assert!(warps.iter().all(|w| w["args"]["simd_efficiency"] == 0.75 && w["pid"] == 2));
        assert_eq!(warps[2]["args"]["finished"], false);
        let commits: Vec<_> = of_kind(&events, "i", "commit").iter().map(|c| c["ts"].clone()).collect();
        assert_eq!(commits, [61, 62]);
        assert_eq!(of_kind(&events, "b", "finished").len(), 2);
        let names = events.iter().filter(|event| event["ph"] == "M").count();
        assert_eq!(names, 4, "a core and three slots");
    }

    #[test]
    fn only_warps_issued_in_the_chosen_cycles_are_followed() {
        let (text, events) = record("20-29".parse().unwrap());
        assert!(text.contains("packets 4 to 7") && text.matches("warp of").count() == 1, "{text}");
        assert_eq!(of_kind(&events, "X", "warp").len(), 1);
        for wrong in ["", "7", "9-8", "a-9", "1-2-3"] {
            assert!(wrong.parse::<CycleRange>().is_err(), "{wrong}");
        }
    }
}
