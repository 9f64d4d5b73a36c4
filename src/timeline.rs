//! The options of `hermes run` that tell what warps and harts did in which cycle.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::ensure;
use hermes_rtl::config::Config;
use hermes_testbench::command::CommandPorts;
use hermes_testbench::cosim::{CosimError, RetirePorts, Simulation};
use hermes_testbench::firmware::Firmware;
use hermes_testbench::iss::{Isa, TraceCycle};
use hermes_testbench::kernel::Kernel;
use hermes_testbench::output::OutputFile;
use hermes_testbench::races::{Detector, Places};
use hermes_testbench::timeline::{
    CycleRange, LevelPorts, Levels, Names, PacketNumbers, Perfetto, Profile, Recorder, TextTrace,
};

use crate::files::Files;
use crate::origin;

#[derive(clap::Args)]
#[command(next_help_heading = "Traces")]
pub struct TimelineArgs {
    /// Every instruction of every warp and of the firmware, with its values and what it waited for,
    /// as text; this and --perfetto take a model of their own
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Warps on cores, jobs, and functions and handlers of the firmware over time, for the Perfetto
    /// viewer or Chrome's about:tracing (JSON)
    #[arg(long, value_name = "FILE.json")]
    perfetto: Option<PathBuf>,
    /// Only warps that are issued, jobs that are triggered and instructions of the firmware in
    /// these cycles since reset go to --trace and --perfetto
    #[arg(long, value_name = "FROM-TO")]
    trace_cycles: Option<CycleRange>,
    /// Only warps that have one of these packets go to --trace and --perfetto: their numbers in the
    /// capture, from 0. Jobs and firmware do not
    #[arg(long, value_name = "N-M")]
    trace_packets: Option<PacketNumbers>,
    /// Bytes that --trace and --perfetto have at most, each; K, M and G stand for 2^10, 2^20 and
    /// 2^30. A file that would be larger ends with a line, or a mark, that says so; --wave ends,
    /// with a warning, within some 8,000 cycles after it has as many. At least 4K; 0: any size
    #[arg(long, value_name = "BYTES", default_value = "1G", value_parser = size)]
    trace_limit: u64,
    /// Look for data races: two threads that touch a word, one of them writing, without an atomic
    /// operation or an order between them; and for stores into the slots of other packets. What is
    /// found fails the run, after everything was written
    #[arg(long)]
    races: bool,
}

/// The least that `--trace-limit` takes: what begins and ends a file, and something between.
const LEAST_LIMIT: u64 = 4096;

/// Bytes, with a unit or without.
fn size(text: &str) -> Result<u64, String> {
    let (number, shift) = match text.char_indices().last() {
        Some((at, 'K' | 'k')) => (&text[..at], 10),
        Some((at, 'M' | 'm')) => (&text[..at], 20),
        Some((at, 'G' | 'g')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    match bytes {
        Some(0) => Ok(u64::MAX),
        Some(bytes) if bytes >= LEAST_LIMIT => Ok(bytes),
        _ => Err(format!("expected bytes such as 64M or 1G, at least {LEAST_LIMIT}, or 0 for any size")),
    }
}

/// The instructions that a kernel may have.
pub fn isa(config: &Config, kernel: Option<&Kernel>) -> Isa {
    let embedded = kernel.is_some_and(|kernel| kernel.registers.registers() == 16);
    Isa::of(config, embedded)
}

/// Names of the addresses of a kernel, of firmware, or of both.
pub fn names(kernel: Option<&Kernel>, firmware: Option<&Firmware>) -> Names {
    let kernel = kernel.map(|kernel| Rc::new(kernel.source_map()));
    Names::new(kernel.into_iter().chain(firmware.map(Firmware::source_map)).collect())
}

impl TimelineArgs {
    /// What is written.
    pub fn files(&self) -> Files {
        Files::default()
            .output("--trace", self.trace.as_deref())
            .output("--perfetto", self.perfetto.as_deref())
    }

    /// Bytes with which --wave ends.
    pub const fn limit(&self) -> u64 {
        self.trace_limit
    }

    /// Whether the model needs the retire trace.
    pub fn is_wanted(&self) -> bool {
        self.makes_files() || self.races
    }

    /// Whether races are looked for.
    pub const fn looks_for_races(&self) -> bool {
        self.races
    }

    /// Whether a file is written.
    fn makes_files(&self) -> bool {
        self.trace.is_some() || self.perfetto.is_some()
    }

    /// Starts the files, if any are wanted, of a run of `kernel`, of `firmware`, or of both; what
    /// the warps do is counted in `profile`, if there is one.
    pub fn create(
        &self,
        config: &Config,
        kernel: Option<&Kernel>,
        firmware: Option<&Firmware>,
        profile: Option<Rc<RefCell<Profile>>>,
    ) -> anyhow::Result<Option<Timeline>> {
        let only = [
            ("--trace-cycles", self.trace_cycles.is_some()),
            ("--trace-packets", self.trace_packets.is_some()),
        ];
        for (option, _) in only.into_iter().filter(|(_, given)| *given) {
            ensure!(self.makes_files(), "{option}: expected --trace or --perfetto with it");
        }
        if !self.is_wanted() && profile.is_none() {
            return Ok(None);
        }
        let isa = isa(config, kernel);
        let limit = self.trace_limit;
        let file = |path: &Option<PathBuf>| path.as_deref().map(OutputFile::create).transpose();
        let text = file(&self.trace)?.map(|file| TextTrace::new(file, isa, config.lanes)).transpose()?;
        let perfetto = file(&self.perfetto)?
            .map(|file| Perfetto::new(file, config.lanes, &origin::maker()))
            .transpose()?;
        let text = text.map(|text| text.with_limit(limit));
        let perfetto = perfetto.map(|perfetto| perfetto.with_limit(limit));
        let has_counters = perfetto.is_some();
        let cycles = self.trace_cycles.unwrap_or(CycleRange::ALL);
        let mut recorder = Recorder::new(isa, cycles, text, perfetto)
            .with_functions(firmware.map(Firmware::functions).unwrap_or_default())
            .with_names(names(kernel, firmware))
            .with_packets(self.trace_packets);
        if let Some(profile) = profile {
            recorder = recorder.with_profile(profile);
        }
        let (cores, lanes) = (config.cores, config.lanes);
        let recorder = Rc::new(RefCell::new(Some(recorder)));
        Ok(Some(Timeline { recorder, isa, cores, lanes, has_counters, races: None }))
    }
}

/// The files being written.
pub struct Timeline {
    /// Gone when the files are ended.
    recorder: Rc<RefCell<Option<Recorder<OutputFile>>>>,
    isa: Isa,
    cores: usize,
    lanes: usize,
    has_counters: bool,
    races: Option<Rc<RefCell<Detector>>>,
}

impl Timeline {
    /// Looks for races from [`Self::attach`] on; gives what finds them.
    pub fn look_for_races(&mut self, places: Places) -> Rc<RefCell<Detector>> {
        let detector = Rc::new(RefCell::new(Detector::new(self.isa, places)));
        self.races = Some(Rc::clone(&detector));
        detector
    }

    /// Records every cycle from now on.
    pub fn attach(&self, simulation: &mut Simulation) -> Result<(), CosimError> {
        let model = simulation.model_mut();
        let ports = RetirePorts::bind(model, self.cores, self.lanes)?;
        let harts = CommandPorts::present(model.ports()).then(|| CommandPorts::bind(model)).transpose()?;
        let mut levels = self.has_counters.then(|| LevelPorts::bind(model)).transpose()?;
        let shared = Rc::clone(&self.recorder);
        let races = self.races.clone();
        let mut trace = TraceCycle::default();
        simulation.set_observer(Box::new(move |cycle, model, events, _| {
            let mut recorder = shared.borrow_mut();
            let Some(recorder) = recorder.as_mut() else { return Ok(()) };
            trace.clear();
            if races.is_some() || recorder.needs_retired(cycle) {
                ports.sample(model, &mut trace);
            }
            if let Some(retired) = harts.as_ref().and_then(|ports| ports.sample(model)) {
                recorder.hart(cycle, &retired).map_err(|error| error.to_string())?;
            }
            if let Some(races) = &races {
                races.borrow_mut().cycle(&trace.retired, events);
            }
            let levels = levels.as_mut().map_or_else(Levels::default, |ports| ports.sample(model));
            recorder.cycle(cycle, &trace, events, levels).map_err(|error| error.to_string())
        }));
        Ok(())
    }

    /// Ends the files and gives them their names.
    pub fn commit(self, cycle: u64) -> anyhow::Result<()> {
        let Some(recorder) = self.recorder.borrow_mut().take() else { return Ok(()) };
        let (text, perfetto) = recorder.end(cycle)?;
        text.map(OutputFile::commit).transpose()?;
        perfetto.map(OutputFile::commit).transpose()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_read() {
        let sizes = [("4096", 4096), ("64k", 1 << 16), ("3M", 3 << 20), ("1G", 1 << 30), ("0", u64::MAX)];
        for (text, bytes) in sizes {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for wrong in ["", "G", "4095", "-1", "1T", "1.5M", "99999999999999999999", "18446744073709551615G"] {
            assert!(size(wrong).unwrap_err().starts_with("expected bytes"), "{wrong}");
        }
    }
}
