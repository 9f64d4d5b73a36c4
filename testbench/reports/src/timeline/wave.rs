//! Waveforms of what a trace buffer recorded, as VCD.

use std::io::{self, Write};

use vcd::{IdCode, SimulationCommand, TimescaleUnit, Value, Writer};

use crate::board::TraceEntry;
use crate::cosim::Event;

/// A signal, and what it shows.
struct Signal {
    id: IdCode,
    width: u32,
    shown: Option<u64>,
}

/// The signals of a waveform, by the order in which they were declared.
struct Signals<W: Write> {
    output: Writer<W>,
    signals: Vec<Signal>,
}

impl<W: Write> Signals<W> {
    fn declare(&mut self, name: &str, width: usize) -> io::Result<()> {
        let id = self.output.add_wire(width as u32, name)?;
        self.signals.push(Signal { id, width: width as u32, shown: None });
        Ok(())
    }

    /// Shows a value from the last time stamp on; `None`: the signal is undefined.
    fn show(&mut self, number: usize, value: Option<u64>) -> io::Result<()> {
        let Signal { id, width, shown } = &mut self.signals[number];
        if *shown == value && value.is_some() {
            return Ok(());
        }
        *shown = value;
        let bit = |bit| value.map_or(Value::X, |value| Value::from(value >> bit & 1 == 1));
        if *width == 1 {
            return self.output.change_scalar(*id, bit(0));
        }
        self.output.change_vector(*id, (0..*width).rev().map(bit))
    }
}

/// Signals of the array: names as those of the top's ports, and widths.
const OF_ARRAY: [(&str, usize); 14] = [
    ("trace_issue_valid", 1),
    ("trace_issue_core", 5),
    ("trace_issue_slot", 5),
    ("trace_issue_packet", 32),
    ("trace_issue_count", 6),
    ("trace_finish_valid", 1),
    ("trace_finish_core", 5),
    ("trace_finish_slot", 5),
    ("trace_commit_valid", 1),
    ("trace_commit_core", 5),
    ("trace_commit_slot", 5),
    ("trace_commit_packet", 32),
    ("trace_commit_count", 6),
    ("trigger", 1),
];
/// The first signals of an issue, a finish and a commit, and that of the trigger.
const ISSUE: usize = 0;
const FINISH: usize = 5;
const COMMIT: usize = 8;
const TRIGGER: usize = 13;
/// Signals of a core, and their widths; 0: a bit for each lane.
const OF_CORE: [(&str, usize); 10] = [
    ("retire_valid", 1),
    ("retire_slot", 5),
    ("retire_pc", 32),
    ("retire_active", 0),
    ("retire_faulting", 0),
    ("retire_cause", 5),
    ("late_valid", 1),
    ("late_slot", 5),
    ("late_rd", 5),
    ("late_lanes", 0),
];
/// The first signal of late results.
const LATE: usize = 6;

/// Writes the entries of an array of so many cores and lanes as VCD: 1 ns is a cycle since reset. A
/// signal that says that something happened is high in that cycle alone; what tells more of it
/// keeps its value until the next time. Before the first entry all signals but those are undefined,
/// and so is what was not recorded.
///
/// # Errors
/// Those of `output`.
pub fn write_wave<W: Write>(output: W, cores: usize, lanes: usize, entries: &[TraceEntry]) -> io::Result<()> {
    let mut wave = Signals { output: Writer::new(output), signals: Vec::new() };
    wave.output.comment("1 ns = 1 cycle since reset")?;
    wave.output.timescale(1, TimescaleUnit::NS)?;
    wave.output.add_module("hermes_top")?;
    for (name, width) in OF_ARRAY {
        wave.declare(name, width)?;
    }
    for core in 0..cores {
        wave.output.add_module(&format!("core_{core}"))?;
        for (name, width) in OF_CORE {
            wave.declare(name, if width == 0 { lanes } else { width })?;
        }
        wave.output.upscope()?;
    }
    wave.output.upscope()?;
    wave.output.enddefinitions()?;

    // What says that something happened, and is low otherwise
    let of_core = |core: usize, signal: usize| OF_ARRAY.len() + OF_CORE.len() * core + signal;
    let of_cores = (0..cores).flat_map(|core| [of_core(core, 0), of_core(core, LATE)]);
    let marks: Vec<_> = [ISSUE, FINISH, COMMIT, TRIGGER].into_iter().chain(of_cores).collect();
    let first = entries.first().map_or(0, |entry| entry.cycle);
    wave.output.timestamp(first)?;
    wave.output.begin(SimulationCommand::Dumpvars)?;
    for number in 0..wave.signals.len() {
        wave.show(number, marks.contains(&number).then_some(0))?;
    }
    wave.output.end()?;
    let mut next = None;
    for entry in entries {
        let mut values = Vec::new();
        let mut tell = |first: usize, fields: &[u64]| values.extend((first..).zip(fields.iter().copied()));
        for event in &entry.events {
            match *event {
                Event::Issue(warp, packets) | Event::Commit(warp, packets) => {
                    let first = if matches!(event, Event::Issue(..)) { ISSUE } else { COMMIT };
                    let (packet, count) = (packets.first.into(), packets.count.into());
                    tell(first, &[1, warp.core.into(), warp.slot.into(), packet, count]);
                }
                Event::Finish(warp) => tell(FINISH, &[1, warp.core.into(), warp.slot.into()]),
                // No array has a trace buffer beside a thread spawner or network functions.
                Event::Spawn(_) | Event::Hop { .. } => {}
            }
        }
        tell(TRIGGER, &[entry.triggers.into()]);
        for got in &entry.trace.retired {
            let (active, faulting) = (got.active.into(), got.faulting.into());
            let fields = [1, got.slot.into(), got.pc.into(), active, faulting, got.cause.into()];
            tell(of_core(got.core.into(), 0), &fields);
        }
        for late in &entry.trace.late_writes {
            let fields = [1, late.slot.into(), late.rd.into(), late.lanes.into()];
            tell(of_core(late.core.into(), LATE), &fields);
        }
        let ended = |number: &&usize| !values.iter().any(|(other, _)| other == *number);
        if let Some(next) = next {
            // In the cycle after the one before, unless that is this one
            if next < entry.cycle {
                wave.output.timestamp(next)?;
                marks.iter().try_for_each(|number| wave.show(*number, Some(0)))?;
            }
            wave.output.timestamp(entry.cycle)?;
        }
        marks.iter().filter(ended).try_for_each(|number| wave.show(*number, Some(0)))?;
        values.iter().try_for_each(|(number, value)| wave.show(*number, Some(*value)))?;
        next = Some(entry.cycle + 1);
    }
    if let Some(next) = next {
        wave.output.timestamp(next)?;
        marks.iter().try_for_each(|number| wave.show(*number, Some(0)))?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "wave_tests.rs"]
mod tests;
