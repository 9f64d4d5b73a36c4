//! The options of `hermes fpga run` that read the trace buffer of the board.

use std::io::Write as _;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{bail, ensure, Context};
use hermes_rtl::config::Config;
use hermes_rtl::core::BOOT_ADDRESS;
use hermes_testbench::board::trace::{self, TraceBytes, TraceRecord, TraceSettings, TraceTrigger};
use hermes_testbench::cosim::WarpSlot;
use hermes_testbench::input::number;
use hermes_testbench::kernel::Kernel;
use hermes_testbench::output::OutputFile;
use hermes_testbench::timeline::{write_wave, CycleRange, Perfetto, Recorder};

use crate::files::Files;
use crate::origin;
use crate::print;
use crate::run::data::symbol;
use crate::timeline::{isa, names};

#[derive(clap::Args)]
#[command(next_help_heading = "Traces")]
pub struct TraceArgs {
    /// Warps on cores over time, as the trace buffer has them, for the Perfetto viewer or Chrome's
    /// about:tracing (JSON); needs --trace-buffer
    #[arg(long, value_name = "FILE.json")]
    perfetto: Option<PathBuf>,
    /// Waveforms of what the trace buffer has (VCD); needs --trace-buffer
    #[arg(long, value_name = "FILE.vcd")]
    wave: Option<PathBuf>,
    /// What ends the recording: an instruction that retires (`pc=ADDRESS` or `symbol=NAME`,
    /// `warp=SLOT`, or both, with a comma between), `fault`, the issue or the commit of a packet
    /// (`packet=N`, `commit=N`). Without it the buffer has what happened last
    #[arg(long, value_name = "WHAT")]
    trace_trigger: Option<Trigger>,
    /// Entries that are recorded after the trigger, less than the buffer has; by default half of
    /// these
    #[arg(long, value_name = "N", requires = "trace_trigger")]
    trace_after: Option<u16>,
    /// What is recorded: issue, finish and commit of warps, what retires, or both, which is the
    /// default and what --perfetto needs; the less, the longer the time that the buffer holds
    #[arg(long, value_enum, value_name = "events|retirement|all")]
    trace_group: Option<Group>,
}

/// What is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Group {
    /// Issue, finish and commit of warps.
    Events,
    /// Instructions that retire, and late results.
    Retirement,
    /// Both.
    All,
}

/// What `--trace-trigger` takes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Trigger {
    /// The trigger as the buffer has it.
    Known(TraceTrigger),
    /// An instruction at a symbol of the kernel, of a warp in this slot or in any.
    Symbol(String, Option<u8>),
}

/// What `--trace-trigger` takes, for errors.
const EXPECTED: &str = "expected pc=ADDRESS (a multiple of 4), symbol=NAME, warp=SLOT (0 to 31), pc or symbol and warp with a comma between, \
                        fault, packet=N or commit=N";

impl FromStr for Trigger {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse(text).ok_or_else(|| EXPECTED.to_string())
    }
}

fn parse(text: &str) -> Option<Trigger> {
    if text == "fault" {
        return Some(Trigger::Known(TraceTrigger::Fault));
    }
    let parts: Option<Vec<_>> = text.split(',').map(|part| part.split_once('=')).collect();
    let warp = |text: &str| text.parse().ok().filter(|slot| *slot < 32);
    let pc = |text: &str| number(text).filter(|pc| pc % 4 == 0);
    let instruction = |pc, slot| Some(Trigger::Known(TraceTrigger::Instruction { pc, slot }));
    match parts?[..] {
        [("pc", at)] => instruction(Some(pc(at)?), None),
        [("warp", slot)] => instruction(None, Some(warp(slot)?)),
        [("pc", at), ("warp", slot)] | [("warp", slot), ("pc", at)] => {
            instruction(Some(pc(at)?), Some(warp(slot)?))
        }
        [("symbol", name)] => Some(Trigger::Symbol(name.to_string(), None)),
        [("symbol", name), ("warp", slot)] | [("warp", slot), ("symbol", name)] => {
            Some(Trigger::Symbol(name.to_string(), Some(warp(slot)?)))
        }
        [("packet", packet)] => Some(Trigger::Known(TraceTrigger::Issue(number(packet)?))),
        [("commit", packet)] => Some(Trigger::Known(TraceTrigger::Commit(number(packet)?))),
        _ => None,
    }
}

impl TraceArgs {
    /// What is written.
    pub fn files(&self) -> Files {
        Files::default().output("--perfetto", self.perfetto.as_deref()).output("--wave", self.wave.as_deref())
    }

    /// Starts the files, if any are wanted, of a run of `kernel`.
    ///
    /// # Errors
    /// The array has no trace buffer, no file is wanted of it, the kernel has no such symbol, or a
    /// file cannot be written.
    pub fn create<'a>(
        &self,
        config: &'a Config,
        kernel: &'a Kernel,
    ) -> anyhow::Result<Option<BoardTrace<'a>>> {
        let given = [
            ("--perfetto", self.perfetto.is_some()),
            ("--wave", self.wave.is_some()),
            ("--trace-trigger", self.trace_trigger.is_some()),
            ("--trace-group", self.trace_group.is_some()),
        ];
        let Some((option, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(None) };
        ensure!(
            config.trace_buffer > 0,
            "{option}: the array has no trace buffer; expected --trace-buffer ENTRIES, here and with hermes fpga build"
        );
        ensure!(
            self.perfetto.is_some() || self.wave.is_some(),
            "{option}: expected --perfetto or --wave with it"
        );
        let group = self.trace_group.unwrap_or(Group::All);
        ensure!(
            self.perfetto.is_none() || group == Group::All,
            "--perfetto: expected --trace-group all, the default, with it: a timeline has the phases of warps by what retires"
        );
        let trigger = match &self.trace_trigger {
            None => None,
            Some(Trigger::Known(trigger)) => Some(*trigger),
            Some(Trigger::Symbol(name, slot)) => {
                let found = symbol(kernel, name).context("--trace-trigger")?;
                let pc = found.address;
                if pc % 4 != 0 {
                    bail!("--trace-trigger symbol={name}: is at {pc:#010x}; expected an instruction, at a multiple of 4");
                }
                Some(TraceTrigger::Instruction { pc: Some(pc), slot: *slot })
            }
        };
        if let Some(TraceTrigger::Instruction { pc, slot }) = trigger {
            let slots = config.warps;
            if let Some(slot) = slot.filter(|slot| usize::from(*slot) >= slots) {
                bail!(
                    "--trace-trigger warp={slot}: expected 0 to {}: a core has {slots} warp slots",
                    slots - 1
                );
            }
            if let Some(pc) = pc.filter(|pc| !kernel.holds(*pc, 4) && *pc < BOOT_ADDRESS) {
                bail!("--trace-trigger: no instruction is at {pc:#010x}; expected an address in the kernel, or in the boot sequence from {BOOT_ADDRESS:#x} on");
            }
        }
        let half = (config.trace_buffer / 2) as u16;
        let after = self.trace_after.unwrap_or(if trigger.is_some() { half } else { 0 });
        ensure!(
            usize::from(after) < config.trace_buffer,
            "--trace-after {after}: expected less than the {} entries of the trace buffer, so that it has the trigger",
            config.trace_buffer
        );
        let settings = TraceSettings {
            trigger,
            after,
            events: group != Group::Retirement,
            retirement: group != Group::Events,
        };
        let file = |path: &Option<PathBuf>| path.as_deref().map(OutputFile::create).transpose();
        let (perfetto, wave) = (file(&self.perfetto)?, file(&self.wave)?);
        Ok(Some(BoardTrace { config, kernel, settings, perfetto, wave }))
    }
}

/// A trace of a board, and the files that it goes to.
pub struct BoardTrace<'a> {
    config: &'a Config,
    kernel: &'a Kernel,
    settings: TraceSettings,
    perfetto: Option<OutputFile>,
    wave: Option<OutputFile>,
}

impl<'a> BoardTrace<'a> {
    /// Begins the recording.
    pub fn arm(&self, buffer: &mut impl TraceBytes) -> anyhow::Result<()> {
        trace::arm(buffer, &self.settings).context("the trace buffer cannot be set up")
    }

    /// Ends the recording, reads what was recorded and writes it.
    pub fn finish(self, buffer: &mut impl TraceBytes) -> anyhow::Result<Recorded<'a>> {
        let Self { config, kernel, .. } = self;
        let record = trace::stop(buffer).and_then(|()| trace::read(buffer, config, &self.settings));
        let record = record.context("the trace buffer cannot be read")?;
        let isa = isa(config, Some(kernel));
        let record = record.with_instructions(kernel, &isa);
        self.tell(&record);
        let end = record.entries.last().map_or(0, |entry| entry.cycle + 1);
        // Both are whole before one has its name.
        let mut files = Vec::new();
        if let Some(file) = self.perfetto {
            let perfetto = Perfetto::new(file, config.lanes, &origin::maker())?;
            let mut recorder = Recorder::new(isa, CycleRange::ALL, None, Some(perfetto))
                .with_names(names(Some(kernel), None))
                .without_counters();
            recorder.tell(&record)?;
            let (_, file) = recorder.end(end)?;
            files.extend(file);
        }
        if let Some(mut file) = self.wave {
            write_wave(&mut file, config.cores, config.lanes, &record.entries)?;
            file.flush()?;
            files.push(file);
        }
        files.into_iter().try_for_each(OutputFile::commit)?;
        Ok(Recorded { kernel, record })
    }

    /// Says what part of the run was recorded.
    fn tell(&self, record: &TraceRecord) {
        let cycles = match (record.entries.first(), record.entries.last()) {
            (Some(first), Some(last)) => format!(" of cycles {} to {}", first.cycle, last.cycle),
            _ => String::new(),
        };
        let before = match record.overwritten {
            0 => String::new(),
            count => format!("; {count} entries before them were overwritten"),
        };
        print::note(format_args!("trace buffer: {} entries{cycles}{before}", record.entries.len()));
        if self.settings.trigger.is_some() && !record.triggered {
            log::warn!("--trace-trigger: did not happen; the trace has what happened last");
        }
    }
}

/// A trace that was read and written.
pub struct Recorded<'a> {
    kernel: &'a Kernel,
    record: TraceRecord,
}

impl Recorded<'_> {
    /// The instruction that each warp slot retired last, a line for each, of what the trace has:
    /// what a run that hangs is asked for first. Empty if nothing that retired was recorded.
    pub fn last_instructions(&self) -> String {
        let last = self.record.last_instructions();
        if last.is_empty() {
            return String::new();
        }
        let mut names = names(Some(self.kernel), None);
        let mut line = |(warp, pc): &(WarpSlot, u32)| {
            let name = names.name(*pc);
            let line = name.source_line().map(|line| format!(" ({line})")).unwrap_or_default();
            format!("\ncore {}, slot {}: {pc:08x} {}{line}", warp.core, warp.slot, name.place())
        };
        let lines: String = last.iter().map(&mut line).collect();
        let ended = if self.record.triggered { ", which ends after its trigger" } else { "" };
        let lost = match self.record.overwritten {
            0 => "",
            _ => "\n(a slot that is not named retired nothing since the first entry of the trace)",
        };
        format!("\nretired last in the trace{ended}:{lines}{lost}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triggers_are_read() {
        let instruction = |pc, slot| Ok(Trigger::Known(TraceTrigger::Instruction { pc, slot }));
        assert_eq!("pc=0x1234".parse(), instruction(Some(0x1234), None));
        assert_eq!("pc=64,warp=31".parse(), instruction(Some(64), Some(31)));
        assert_eq!("warp=0,pc=0xfffffffc".parse(), instruction(Some(0xffff_fffc), Some(0)));
        assert_eq!("warp=7".parse(), instruction(None, Some(7)));
        assert_eq!("symbol=loop".parse(), Ok(Trigger::Symbol("loop".to_string(), None)));
        assert_eq!("symbol=loop,warp=2".parse(), Ok(Trigger::Symbol("loop".to_string(), Some(2))));
        assert_eq!("fault".parse(), Ok(Trigger::Known(TraceTrigger::Fault)));
        assert_eq!("packet=9".parse(), Ok(Trigger::Known(TraceTrigger::Issue(9))));
        assert_eq!("commit=0x10".parse(), Ok(Trigger::Known(TraceTrigger::Commit(16))));
        let wrong = [
            "",
            "pc",
            "pc=",
            "pc=2",
            "pc=-4",
            "warp=32",
            "warp=x",
            "fault=1",
            "pc=4,pc=8",
            "packet=1,warp=2",
        ];
        for wrong in wrong {
            assert_eq!(wrong.parse::<Trigger>(), Err(EXPECTED.to_string()), "{wrong}");
        }
    }
}
