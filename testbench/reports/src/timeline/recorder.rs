//! Follows every warp of a run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;

use super::counters::Counters;
use super::hart::{Functions, HartPart, HartTimeline};
use super::levels::Levels;
use super::names::Names;
use super::perfetto::{Job, Perfetto};
use super::profile::Profile;
use super::range::{CycleRange, PacketNumbers};
use super::text::TextTrace;
use super::warp::WarpTimeline;
use crate::board::TraceRecord;
use crate::command::CommandRetired;
use crate::cosim::{Event, SpawnEvent, WarpSlot, Work};
use crate::iss::{Instruction, Isa, TraceCycle};

/// Writes what the warps of a run did: each is written at its commit, one of spawned threads at its
/// finish, so that memory holds only those in flight; and what the harts of the command processor
/// did, a part of their time at its end.
///
/// Warps that are issued in the chosen cycles are followed, each to its end, and jobs that are
/// triggered in them; of harts, what retires in them. If packets are chosen, only warps that have
/// one of these, and neither jobs nor harts. A profile has all warps.
pub struct Recorder<W> {
    isa: Isa,
    cycles: CycleRange,
    packets: Option<PacketNumbers>,
    names: Names,
    profile: Option<Rc<RefCell<Profile>>>,
    counters: Counters,
    /// Counters over time are written.
    counted: bool,
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
        let (packets, names, profile, counters) = Default::default();
        Self {
            isa,
            cycles,
            packets,
            names,
            profile,
            counters,
            counted: true,
            text,
            perfetto,
            running,
            finished,
            retired,
            jobs,
            harts,
            functions,
        }
    }

    /// Tells only warps that have one of these packets.
    #[must_use]
    pub fn with_packets(mut self, packets: Option<PacketNumbers>) -> Self {
        self.packets = packets;
        self
    }

    /// Names addresses by these.
    #[must_use]
    pub fn with_names(mut self, names: Names) -> Self {
        self.names = names;
        self
    }

    /// Counts the cycles of every warp, whatever is told of it.
    #[must_use]
    pub fn with_profile(mut self, profile: Rc<RefCell<Profile>>) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Writes no counters over time: of cycles in which nothing happens nothing is told.
    #[must_use]
    pub fn without_counters(mut self) -> Self {
        self.counted = false;
        self
    }

    /// Names the functions of the firmware.
    #[must_use]
    pub fn with_functions(mut self, mut functions: Functions) -> Self {
        functions.sort();
        self.functions = functions;
        self
    }

    /// Takes what a trace buffer recorded.
    ///
    /// # Errors
    /// Those of the outputs.
    pub fn tell(&mut self, record: &TraceRecord) -> io::Result<()> {
        record.entries.iter().try_for_each(|entry| {
            let events: Vec<_> = entry.events.iter().map(|event| (entry.cycle, *event)).collect();
            self.cycle(entry.cycle, &entry.trace, &events, Levels::default())
        })
    }

    /// Takes an instruction of the command processor.
    ///
    /// # Errors
    /// Those of the outputs.
    pub fn hart(&mut self, cycle: u64, got: &CommandRetired) -> io::Result<()> {
        if !self.cycles.contains(cycle) || self.packets.is_some() || self.is_full() {
            return Ok(());
        }
        let name = self.names.name(got.pc);
        let line = self.text.as_ref().map(|text| text.hart_line(cycle, got, &name)).unwrap_or_default();
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

    /// Whether the outputs have as many bytes as they may have.
    fn is_full(&self) -> bool {
        self.text.as_ref().is_none_or(TextTrace::is_full)
            && self.perfetto.as_ref().is_none_or(Perfetto::is_full)
    }

    /// Whether counters are told of this cycle.
    fn counts(&self, cycle: u64) -> bool {
        let told = || self.running.values().chain(self.finished.values()).any(|warp| warp.told);
        self.counted
            && self.perfetto.as_ref().is_some_and(|output| !output.is_full())
            && self.cycles.contains(cycle)
            && (self.packets.is_none() || told())
    }

    /// Whether [`Self::cycle`] needs to know what retires in this cycle.
    #[must_use]
    pub fn needs_retired(&self, cycle: u64) -> bool {
        !self.running.is_empty() || self.counts(cycle)
    }

    /// Takes what happened in a cycle; the starts of `trace` are not needed.
    ///
    /// # Errors
    /// Those of the outputs.
    pub fn cycle(
        &mut self,
        cycle: u64,
        trace: &TraceCycle,
        events: &[(u64, Event)],
        levels: Levels,
    ) -> io::Result<()> {
        for got in &trace.retired {
            let count = self.retired.entry(got.core).or_insert(0);
            *count += 1;
            let Some(warp) = self.running.get_mut(&(got.core, got.slot)) else { continue };
            let code = Instruction::decode(got.instruction, &self.isa);
            let step = warp.retire(cycle, got, code.as_ref(), *count);
            if let Some(profile) = &self.profile {
                profile.borrow_mut().retire(got, step);
            }
            if let (Some(text), true) = (&mut self.text, warp.told) {
                text.retired(warp, cycle, got, code.as_ref(), step, &self.names.name(got.pc));
            }
        }
        for late in &trace.late_writes {
            let Some(warp) = self.running.get_mut(&(late.core, late.slot)) else { continue };
            warp.late_write(late);
            if let (Some(text), true) = (&mut self.text, warp.told) {
                text.late_write(warp, cycle, late);
            }
        }
        for (_, event) in events {
            self.counters.event(*event);
            self.event(cycle, *event)?;
        }
        let counts = self.counts(cycle);
        if let (Some(perfetto), true) = (&mut self.perfetto, counts) {
            self.counters.cycle(cycle, trace, levels, perfetto)?;
        }
        Ok(())
    }

    fn event(&mut self, cycle: u64, event: Event) -> io::Result<()> {
        let key = |slot: WarpSlot| (slot.core, slot.slot);
        match event {
            Event::Issue(slot, packets) => self.issue(cycle, slot, Work::Packets(packets)),
            Event::Hop { slot, packets, .. } => {
                // The visit before is told as a warp that was not committed.
                if let Some(warp) = self.finished.remove(&packets.first) {
                    self.write(&warp, cycle)?;
                }
                self.issue(cycle, slot, Work::Packets(packets));
            }
            Event::Finish(slot) => {
                if let Some(mut warp) = self.running.remove(&key(slot)) {
                    self.finish(&mut warp, cycle);
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
                if self.cycles.contains(cycle) && self.packets.is_none() {
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
                    self.finish(&mut warp, cycle);
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
        let chosen = match (self.packets, work) {
            (None, _) => true,
            (Some(packets), Work::Packets(range)) => packets.overlaps(range),
            (Some(_), Work::Job { .. }) => false,
        };
        let told = chosen && self.cycles.contains(cycle) && !self.is_full();
        if told || self.profile.is_some() {
            let retired = self.retired.get(&slot.core).copied().unwrap_or(0);
            let mut warp = WarpTimeline::new(slot, work, cycle, retired);
            warp.told = told;
            self.running.insert((slot.core, slot.slot), warp);
        }
    }

    fn finish(&self, warp: &mut WarpTimeline, cycle: u64) {
        let waited = warp.finish(cycle);
        if let Some(profile) = &self.profile {
            profile.borrow_mut().finish(warp.last_pc(), waited);
        }
    }

    fn write(&mut self, warp: &WarpTimeline, cycle: u64) -> io::Result<()> {
        if !warp.told {
            return Ok(());
        }
        self.text.as_mut().map(|text| text.warp(warp)).transpose()?;
        let names = &mut self.names;
        self.perfetto.as_mut().map(|perfetto| perfetto.warp(warp, cycle, names)).transpose()?;
        Ok(())
    }

    /// Writes the warps that were not committed by `cycle`, jobs that were not completed and what
    /// harts did last, and ends the outputs: the readable trace and the timeline.
    ///
    /// # Errors
    /// Those of the outputs.
    pub fn end(mut self, cycle: u64) -> io::Result<(Option<W>, Option<W>)> {
        let finished = std::mem::take(&mut self.finished);
        let mut rest: Vec<_> = finished.into_values().collect();
        for warp in std::mem::take(&mut self.running).into_values() {
            // Until now the warp has waited, for whatever it is.
            self.finish(&mut warp.clone(), cycle);
            rest.push(warp);
        }
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
        if let Some(perfetto) = &mut self.perfetto {
            self.counters.write(perfetto)?;
        }
        let text = self.text.map(TextTrace::end).transpose()?;
        Ok((text, self.perfetto.map(|perfetto| perfetto.end(cycle)).transpose()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::PacketRange;
    use crate::iss::Retired;
    use serde_json::Value;

    const ISA: Isa = Isa {
        m: true,
        zbb: true,
        aes: false,
        atomics: false,
        compare_and_swap: false,
        zawrs: false,
        embedded: false,
    };

    /// Three warps, issued in cycles 10, 20 and 30 to the slots of core 1, one instruction each;
    /// the first finishes last, the third never.
    fn record(cycles: CycleRange) -> (String, Vec<Value>) {
        record_with(cycles, |recorder| recorder)
    }

    fn record_with(
        cycles: CycleRange,
        change: impl FnOnce(Recorder<Vec<u8>>) -> Recorder<Vec<u8>>,
    ) -> (String, Vec<Value>) {
        let text = TextTrace::new(Vec::new(), ISA, 4).unwrap();
        let perfetto = Perfetto::new(Vec::new(), 4, &serde_json::Map::new()).unwrap();
        let mut recorder = change(Recorder::new(ISA, cycles, Some(text), Some(perfetto)));
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
            recorder.cycle(cycle, &trace, &events, Levels { entered: 12, memory_lines: 5 }).unwrap();
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
        assert_eq!(names, 5, "a core and three slots, and the array");
    }

    #[test]
    fn counters_are_means() {
        let (_, events) = record(CycleRange::ALL);
        let value = |name: &str| {
            let found: Vec<_> =
                of_kind(&events, "C", "counter").into_iter().filter(|event| event["name"] == name).collect();
            assert!(found.len() == 1 && found[0]["ts"] == 10, "{found:?}");
            (found[0]["pid"].as_u64().unwrap(), found[0]["args"]["value"].as_f64().unwrap())
        };
        // Ten cycles are told. Warps behind these: 1 1 2 2 3 3 2 1 1 1; tasks that wait: 8 8 4 4 0
        // 0 ...
        assert_eq!(value("warps"), (2, 1.7));
        assert_eq!(value("IPC"), (2, 0.3));
        assert_eq!(value("task queue"), (1_002, 2.4));
        assert_eq!(value("memory lines in flight"), (1_002, 5.0));
    }

    #[test]
    fn only_warps_with_the_chosen_packets_are_told_and_all_are_profiled() {
        let profile = Rc::new(RefCell::new(Profile::default()));
        let (text, events) = record_with(CycleRange::ALL, |recorder| {
            recorder.with_packets(Some("5-6".parse().unwrap())).with_profile(Rc::clone(&profile))
        });
        assert!(text.contains("packets 4 to 7") && text.matches("warp of").count() == 1, "{text}");
        assert_eq!(of_kind(&events, "X", "warp").len(), 1);
        // Issued in 10, 20 and 30, finished in 60 and 50, and not by 70.
        assert_eq!(profile.borrow().total().cycles(), 50 + 30 + 40);
        assert_eq!(profile.borrow().total().instructions, 3);
    }

    #[test]
    fn outputs_of_limited_size_say_so() {
        let (all, _) = record(CycleRange::ALL);
        for limit in [0, 700, 900, 1_200, 2_000] {
            let record = |limit| {
                record_with(CycleRange::ALL, |mut recorder| {
                    recorder.text = recorder.text.map(|text| text.with_limit(limit));
                    recorder.perfetto = recorder.perfetto.map(|perfetto| perfetto.with_limit(limit));
                    recorder
                })
            };
            let (text, events) = record(limit);
            let (told, rest) = text.split_once("\nThe trace ends here: ").unwrap_or((&text, ""));
            assert!(all.starts_with(told) && told.lines().count() >= 2, "{limit}: {text}");
            assert_eq!(rest.is_empty(), all.len() as u64 + 512 <= limit, "{limit}: {text}");
            assert!(text.len() as u64 <= limit.max(400), "{limit}: {text}");
            let last = events.last().unwrap();
            assert!(last["name"].as_str().unwrap().starts_with("the timeline ends here"), "{last}");
        }
    }

    #[test]
    fn only_warps_issued_in_the_chosen_cycles_are_followed() {
        let (text, events) = record("20-29".parse().unwrap());
        assert!(text.contains("packets 4 to 7") && text.matches("warp of").count() == 1, "{text}");
        assert_eq!(of_kind(&events, "X", "warp").len(), 1);
    }
}
