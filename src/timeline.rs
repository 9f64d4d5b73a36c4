//! The options of `hermes run` that tell what warps and harts did in which cycle.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use anyhow::ensure;
use hermes_rtl::config::Config;
use hermes_testbench::command::CommandPorts;
use hermes_testbench::cosim::{CosimError, Simulation};
use hermes_testbench::firmware::Firmware;
use hermes_testbench::iss::Isa;
use hermes_testbench::kernel::Kernel;
use hermes_testbench::lockstep::{RetirePorts, TraceCycle};
use hermes_testbench::output::OutputFile;
use hermes_testbench::timeline::{CycleRange, Perfetto, Recorder, TextTrace};

use crate::files::Files;

#[derive(clap::Args)]
#[command(next_help_heading = "Traces")]
pub struct TimelineArgs {
    /// Every instruction of every warp and of the firmware, with its values and what it waited for, as text; this and --perfetto take a
    /// model of their own
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Warps on cores, jobs, and functions and handlers of the firmware over time, for the Perfetto viewer or Chrome's about:tracing (JSON)
    #[arg(long, value_name = "FILE.json")]
    perfetto: Option<PathBuf>,
    /// Only warps that are issued, jobs that are triggered and instructions of the firmware in these cycles since reset go to --trace and
    /// --perfetto
    #[arg(long, value_name = "FROM-TO")]
    trace_cycles: Option<CycleRange>,
}

impl TimelineArgs {
    /// What is written.
    pub fn files(&self) -> Files {
        Files::default()
            .output("--trace", self.trace.as_deref())
            .output("--perfetto", self.perfetto.as_deref())
    }

    /// Whether the model needs the retire trace.
    pub fn is_wanted(&self) -> bool {
        self.trace.is_some() || self.perfetto.is_some()
    }

    /// Starts the files, if any are wanted, of a run of `kernel`, of `firmware`, or of both.
    pub fn create(
        &self,
        config: &Config,
        kernel: Option<&Kernel>,
        firmware: Option<&Firmware>,
    ) -> anyhow::Result<Option<Timeline>> {
        ensure!(
            self.is_wanted() || self.trace_cycles.is_none(),
            "--trace-cycles: expected --trace or --perfetto with it"
        );
        if !self.is_wanted() {
            return Ok(None);
        }
        let embedded = kernel.is_some_and(|kernel| kernel.registers.registers() == 16);
        let isa = Isa {
            aes: config.aes,
            atomics: config.atomics,
            zawrs: config.network,
            embedded,
            ..Isa::RV32IM_ZBB
        };
        let file = |path: &Option<PathBuf>| path.as_deref().map(OutputFile::create).transpose();
        let text = file(&self.trace)?.map(|file| TextTrace::new(file, isa, config.lanes));
        let perfetto = file(&self.perfetto)?.map(|file| Perfetto::new(file, config.lanes));
        let cycles = self.trace_cycles.unwrap_or(CycleRange::ALL);
        let recorder = Recorder::new(isa, cycles, text.transpose()?, perfetto.transpose()?)
            .with_functions(firmware.map(Firmware::functions).unwrap_or_default());
        let (cores, lanes) = (config.cores, config.lanes);
        Ok(Some(Timeline { recorder: Rc::new(RefCell::new(Some(recorder))), cores, lanes }))
    }
}

/// The files being written.
pub struct Timeline {
    /// Gone when the files are ended.
    recorder: Rc<RefCell<Option<Recorder<OutputFile>>>>,
    cores: usize,
    lanes: usize,
}

impl Timeline {
    /// Records every cycle from now on.
    pub fn attach(&self, simulation: &mut Simulation) -> Result<(), CosimError> {
        let model = simulation.model_mut();
        let ports = RetirePorts::bind(model, self.cores, self.lanes)?;
        let harts = CommandPorts::present(model.ports()).then(|| CommandPorts::bind(model)).transpose()?;
        let shared = Rc::clone(&self.recorder);
        let mut trace = TraceCycle::default();
        simulation.set_observer(Box::new(move |cycle, model, events, _| {
            let mut recorder = shared.borrow_mut();
            let Some(recorder) = recorder.as_mut() else { return Ok(()) };
            trace.clear();
            if recorder.is_following() {
                ports.sample(model, &mut trace);
            }
            if let Some(retired) = harts.as_ref().and_then(|ports| ports.sample(model)) {
                recorder.hart(cycle, &retired).map_err(|error| error.to_string())?;
            }
            recorder.cycle(cycle, &trace, events).map_err(|error| error.to_string())
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
