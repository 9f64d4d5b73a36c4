//! The timeline in the Trace Event Format (JSON), which the Perfetto viewer and Chrome's
//! `about:tracing` open.
//!
//! A core is a process, a warp slot a thread. A warp is a slice from its issue to its finish;
//! inside are slices for stretches of instructions and for waits. Faults and commits are instant
//! events; the time from finish to commit, in which the slot may have another warp, is an
//! asynchronous slice of the core. The command processor is a process, a hart a thread: a slice for
//! instructions in one function, for a wait, and around them for the handler of an interrupt. The
//! thread spawner is a process, a slot a thread: a slice for a job, from its trigger to its
//! completion. Counters belong to the processes of the cores or to that of the array. One cycle is
//! shown as 1 microsecond.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde_json::{json, Map, Value};

use super::bounded::Bounded;
use super::hart::{HartPart, HartStretch};
use super::names::Names;
use super::warp::{Phase, Wait, WarpTimeline};
use crate::cosim::Work;
use crate::verdict::{Verdict, FAULT};

/// Process numbers behind those of the cores.
const COMMAND_PROCESSOR: u64 = 1_000;
const THREAD_SPAWNER: u64 = 1_001;
const ARRAY: u64 = 1_002;

/// Whose counter it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    /// A core.
    Core(u8),
    /// The array.
    Array,
}

/// A job of the thread spawner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Job {
    /// Cycle of its trigger.
    pub(super) triggered: u64,
    /// Warps that were issued, and their threads.
    pub(super) warps: u64,
    pub(super) threads: u64,
}

/// Writes the timeline, an event at a time.
#[derive(Debug)]
pub struct Perfetto<W> {
    output: Bounded<W>,
    lanes: usize,
    first: bool,
    /// Processes and threads that have a name.
    named: BTreeSet<(u64, u64)>,
}

impl<W: Write> Perfetto<W> {
    /// Starts the timeline of cores with so many lanes. `maker` says what it is made with, such as
    /// a version; the file has it in `otherData`.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn new(output: W, lanes: usize, maker: &Map<String, Value>) -> io::Result<Self> {
        let mut notes = maker.clone();
        notes.insert("time".into(), "1 microsecond = 1 cycle since reset".into());
        notes.insert("lanes".into(), lanes.into());
        let notes = Value::Object(notes);
        let head = format!("{{\"displayTimeUnit\":\"ns\",\"otherData\":{notes},\"traceEvents\":[");
        let mut output = Bounded::new(output);
        output.piece(head.as_bytes())?;
        Ok(Self { output, lanes, first: true, named: BTreeSet::new() })
    }

    /// Ends the timeline before it has more than so many bytes.
    #[must_use]
    pub fn with_limit(mut self, bytes: u64) -> Self {
        self.output.set_limit(bytes);
        self
    }

    /// Whether the timeline has as many bytes as it may have.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.output.is_full()
    }

    /// Writes the value of a counter from cycle `time` on.
    ///
    /// # Errors
    /// Those of the output.
    pub(super) fn counter(&mut self, owner: Owner, name: &str, time: u64, value: f64) -> io::Result<()> {
        let process = match owner {
            Owner::Core(core) => u64::from(core) + 1,
            Owner::Array => ARRAY,
        };
        let title = match owner {
            Owner::Core(core) => format!("core {core}"),
            Owner::Array => "array".to_string(),
        };
        self.name(process, 0, "process_name", title)?;
        self.event(json!({
            "ph": "C", "cat": "counter", "name": name, "pid": process, "ts": time, "args": { "value": value },
        }))
    }

    /// Writes a warp. One that has not finished ends with `now`. Stretches are called by the
    /// function and line of their first instruction.
    ///
    /// # Errors
    /// Those of the output.
    pub fn warp(&mut self, warp: &WarpTimeline, now: u64, names: &mut Names) -> io::Result<()> {
        let (core, slot) = (u64::from(warp.slot.core), u64::from(warp.slot.slot));
        // Viewers treat number 0 in a way of their own, and like thread numbers that are unique.
        let process = core + 1;
        let thread = 100 * process + slot;
        self.name(process, 0, "process_name", format!("core {core}"))?;
        self.name(process, thread, "thread_name", format!("slot {slot}"))?;

        // Behind its last instruction, even if that retired in the cycle of the report.
        let end = warp.phases.last().map_or(warp.issued, |phase| phase.to);
        let end = warp.finished.unwrap_or(now).max(end);
        let ((first, count), last) = (warp.work.range(), warp.work.last());
        let name = match warp.work {
            Work::Packets(_) => format!("packets {first}-{last}"),
            Work::Job { job, .. } => format!("job {job}: threads {first}-{last}"),
        };
        let event = |kind: &str, category: &str, name: &str, time: u64| {
            let mut event = Map::new();
            event.insert("ph".into(), kind.into());
            event.insert("cat".into(), category.into());
            event.insert("name".into(), name.into());
            event.insert("pid".into(), process.into());
            event.insert("tid".into(), thread.into());
            event.insert("ts".into(), time.into());
            event
        };
        let slice = |category: &str, name: &str, from: u64, to: u64, arguments: Value| {
            let mut slice = event("X", category, name, from);
            slice.insert("dur".into(), to.saturating_sub(from).into());
            slice.insert("args".into(), arguments);
            slice
        };
        // The outer slice comes first.
        self.event(slice("warp", &name, warp.issued, end, self.summary(warp)))?;
        for Phase { from, to, what } in &warp.phases {
            let (category, name, arguments) = match what {
                Ok(stretch) => {
                    let first = names.name(stretch.first_pc);
                    let line = first.source_line();
                    let name = match &line {
                        Some(line) => format!("{} ({line})", first.function),
                        None => first.function.clone(),
                    };
                    let arguments = json!({
                        "instructions": stretch.instructions,
                        "lane_instructions": stretch.lane_instructions,
                        "first_pc": format!("{:#010x}", stretch.first_pc),
                        "last_pc": format!("{:#010x}", stretch.last_pc),
                        "first": first.place(),
                        "line": line,
                        "last": names.name(stretch.last_pc).place(),
                    });
                    ("instructions", name, arguments)
                }
                Err(wait) => ("wait", format!("wait: {}", wait.name()), json!({ "cycles": to - from })),
            };
            self.event(slice(category, &name, *from, *to, arguments))?;
        }
        for fault in &warp.faults {
            let text = Verdict(FAULT | u32::from(fault.cause)).to_string();
            let mut mark = event("i", "fault", &text, fault.cycle);
            mark.insert("s".into(), "t".into());
            let lanes = format!("{:#x}", fault.lanes);
            let name = names.name(fault.pc);
            let arguments = json!({
                "pc": format!("{:#010x}", fault.pc), "lanes": lanes, "at": name.place(), "line": name.source_line(),
            });
            mark.insert("args".into(), arguments);
            self.event(mark)?;
        }
        if let (Some(finished), Some(committed)) = (warp.finished, warp.committed) {
            for (kind, time) in [("b", finished), ("e", committed)] {
                let mut edge = event(kind, "finished", "waits for its commit", time);
                edge.insert("id".into(), first.into());
                edge.insert("args".into(), json!({ "packets": name }));
                self.event(edge)?;
            }
            let mut mark = event("i", "commit", &format!("commit of {name}"), committed);
            mark.insert("s".into(), "t".into());
            mark.insert("args".into(), json!({ "first": first, "count": count }));
            self.event(mark)?;
        }
        Ok(())
    }

    /// Writes a part of a hart's time.
    ///
    /// # Errors
    /// Those of the output.
    pub fn hart(&mut self, hart: u32, part: &HartPart) -> io::Result<()> {
        let (process, thread) = (COMMAND_PROCESSOR, 100 * COMMAND_PROCESSOR + u64::from(hart));
        self.name(process, 0, "process_name", "command processor".into())?;
        self.name(process, thread, "thread_name", format!("hart {hart}"))?;
        let mut event = match part {
            HartPart::Stretch(HartStretch {
                function, from, to, instructions, first_pc, last_pc, ..
            }) => json!({
                "ph": "X", "cat": "function", "name": function, "ts": from, "dur": to - from,
                "args": {
                    "instructions": instructions,
                    "first_pc": format!("{first_pc:#010x}"),
                    "last_pc": format!("{last_pc:#010x}"),
                },
            }),
            HartPart::Wait(from, to, wait) => json!({
                "ph": "X", "cat": "wait", "name": wait.name(), "ts": from, "dur": to - from,
                "args": { "cycles": to - from },
            }),
            HartPart::Enter(cycle, what) => {
                json!({ "ph": "B", "cat": "handler", "name": what.name(), "ts": cycle })
            }
            HartPart::Leave(cycle) => json!({ "ph": "E", "ts": cycle }),
            HartPart::Exception(cycle, pc) => json!({
                "ph": "i", "cat": "exception", "name": "exception", "ts": cycle, "s": "t",
                "args": { "pc": format!("{pc:#010x}") },
            }),
        };
        event["pid"] = process.into();
        event["tid"] = thread.into();
        self.event(event)
    }

    /// Writes a job that was completed in cycle `completed`, or was not by `now`.
    ///
    /// # Errors
    /// Those of the output.
    pub(super) fn job(&mut self, slot: u8, job: Job, completed: Option<u64>, now: u64) -> io::Result<()> {
        let (process, thread) = (THREAD_SPAWNER, 100 * THREAD_SPAWNER + u64::from(slot));
        self.name(process, 0, "process_name", "thread spawner".into())?;
        self.name(process, thread, "thread_name", format!("slot {slot}"))?;
        let end = completed.unwrap_or(now);
        self.event(json!({
            "ph": "X", "cat": "job", "name": format!("job {slot}"), "pid": process, "tid": thread,
            "ts": job.triggered, "dur": end.saturating_sub(job.triggered),
            "args": { "warps": job.warps, "threads": job.threads, "completed": completed.is_some() },
        }))
    }

    /// Ends the timeline in cycle `now`, with a mark that says so if it ends early, and gives the
    /// output back.
    ///
    /// # Errors
    /// Those of the output.
    pub fn end(self, now: u64) -> io::Result<W> {
        let mut last = String::new();
        if self.output.is_full() {
            let name = format!("the timeline ends here: {} bytes are its limit", self.output.limit());
            let mark = json!({ "ph": "i", "cat": "limit", "name": name, "pid": ARRAY, "tid": 0, "ts": now, "s": "g" });
            last = format!("{}{mark}", if self.first { "\n" } else { ",\n" });
        }
        self.output.end(format!("{last}\n]}}\n").as_bytes())
    }

    /// The figures of a warp.
    fn summary(&self, warp: &WarpTimeline) -> Value {
        let possible = warp.instructions * self.lanes as u64;
        let efficiency = if possible == 0 { 0.0 } else { warp.lane_instructions as f64 / possible as f64 };
        let waits = Wait::ALL.iter().zip(warp.waits).filter(|(_, cycles)| *cycles > 0);
        let waits: Map<String, Value> =
            waits.map(|(wait, cycles)| (wait.name().to_string(), cycles.into())).collect();
        json!({
            "first": warp.work.range().0,
            "count": warp.work.range().1,
            "instructions": warp.instructions,
            "lane_instructions": warp.lane_instructions,
            "simd_efficiency": efficiency,
            "cycles_waited_for": waits,
            "finished": warp.finished.is_some(),
        })
    }

    /// Names a process or thread that has no name yet.
    fn name(&mut self, process: u64, thread: u64, kind: &str, name: String) -> io::Result<()> {
        if !self.named.insert((process, thread)) {
            return Ok(());
        }
        let event =
            json!({ "ph": "M", "name": kind, "pid": process, "tid": thread, "args": { "name": name } });
        self.event(event)
    }

    fn event(&mut self, event: impl Into<Value>) -> io::Result<()> {
        if self.output.is_full() {
            return Ok(());
        }
        let piece = format!("{}{}", if self.first { "\n" } else { ",\n" }, event.into());
        self.output.piece(piece.as_bytes())?;
        self.first &= self.output.is_full();
        Ok(())
    }
}
