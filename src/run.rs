//! `hermes run`

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, ensure, Context};
use hermes_rtl::config::Config;
use hermes_testbench::cosim::{
    self, ArraySetup, BusErrors, Code, CosimError, FaultRecord, Host, KernelImage, Latency, MemoryMap,
    MemoryOptions, Packet, PacketRecord, PortsResult, RunOptions, RunResult, Simulation, StreamOptions,
};
use hermes_testbench::firmware::Firmware;
use hermes_testbench::metrics::{Clock, Environment, FaultCause, FrameLines, Loss, Report, Waits};
use hermes_testbench::outcome::{check_ports, check_ports_against, NOT_SENT};
use hermes_testbench::races::{Explain, Places, RaceReport};
use hermes_testbench::slot::{self, wrong_lengths, SlotPacket};
use hermes_testbench::traffic::{self, Capture, Frame};

pub mod arrivals;
pub mod data;
pub mod expect;
pub mod firmware;
mod gdb;
pub mod memory_timing;
pub mod outcome;
pub mod outputs;
mod prints;
pub mod program;
mod ring;
mod wave;

use crate::array::{self, ArrayArgs};
use crate::files::Files;
use crate::print;
use crate::profile::Profiler;
use crate::timeline::{Timeline, TimelineArgs};
use arrivals::ArrivalArgs;
use data::{Data, DataArgs};
use expect::{ExpectArgs, Expected};
use memory_timing::MemoryArgs;
use outcome::{
    both, came_in, check_left_lengths, compare, core_work, counted, fault_causes, in_capture, places,
    records, tell_faults, tell_races,
};
use outputs::{Outputs, ResultArgs};
use program::{
    in_the_ring, on_the_wire, ring_slots_log2, FormingArgs, InputArgs, LimitArgs, Program, StackArgs, Timeout,
};
use ring::RingArgs;
use wave::Wave;

/// Bytes of the shared memory: room for the largest ring. Pages are allocated when they are
/// written.
pub const MEMORY_BYTES: u64 = 1 << 30;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    results: ResultArgs,
}

/// What is run, on which array, and what is told of it beside its results.
#[derive(clap::Args)]
pub struct Subject {
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    inputs: InputArgs,
    /// Capture to process: pcap or pcapng, Ethernet
    #[arg(long, value_name = "IN", required_unless_present = "firmware", help_heading = "What to run")]
    pcap: Option<PathBuf>,
    #[command(flatten)]
    firmware_args: firmware::FirmwareArgs,
    #[command(flatten)]
    array: ArrayArgs,
    /// Maximally allowed concurrent warps per core; by default as many as array and kernel allow
    #[arg(long, help_heading = "Array")]
    mcw: Option<u32>,
    #[command(flatten)]
    forming: FormingArgs,
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    expect: ExpectArgs,
    /// How packets come and go: the host writes them to the ring and reads them there, or they
    /// enter and leave through the packet ports of the array (AXI4-Stream), which --packet-ports
    /// gives to an array to be emitted
    #[arg(
        long,
        value_enum,
        value_name = "host|ports",
        default_value = "host",
        help_heading = "Surroundings"
    )]
    through: Through,
    #[command(flatten)]
    ring: RingArgs,
    #[command(flatten)]
    arrivals: ArrivalArgs,
    /// Clock of the array that the report is for: throughput in Gbit/s and delays in nanoseconds,
    /// and cycles between packets, with a --line-rate. Times of the memory are cycles whatever it
    /// is
    #[arg(long, value_name = "MHZ", default_value = "1000", help_heading = "Surroundings")]
    clock: Clock,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Verdict and times of every packet as CSV, in commit order
    #[arg(long, value_name = "FILE.csv", help_heading = "Outputs")]
    verdicts: Option<PathBuf>,
    /// Waveforms (FST); the model with waveforms is built apart
    #[arg(long, value_name = "FILE.fst", help_heading = "Traces")]
    wave: Option<PathBuf>,
    #[command(flatten)]
    timeline: TimelineArgs,
    #[command(flatten)]
    limits: LimitArgs,
    /// Cycles without a commit, with packets in flight, after which the run ends with an error, for
    /// kernels that do not end; those of --watchdog come on top; 0: any number. Whatever this is, a
    /// run ends with an error when no instruction was retired for 500,000 cycles, or for 100 times
    /// --mem-latency if that is more
    #[arg(long, value_name = "CYCLES", default_value_t = RunOptions::default().commit_limit, help_heading = "Limits")]
    commit_limit: u64,
}

/// How packets come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Through {
    /// By the host.
    Host,
    /// Through the packet ports.
    Ports,
}

#[derive(clap::Args)]
#[command(next_help_heading = "What to run")]
#[group(required = true, multiple = true)]
struct What {
    /// App, whose results are compared with its golden model; `hermes apps` lists them
    #[arg(long, value_name = "NAME")]
    app: Option<String>,
    /// Kernel of your own; with --app it takes the place of the app's kernel, with its tables and
    /// its golden model
    #[arg(long, value_name = "FILE.elf")]
    kernel: Option<PathBuf>,
    /// Firmware for the command processor, alone or beside packets: `hermes firmware build` makes
    /// it. Its console output is printed, and the value of its `main` is the exit code. If the
    /// array has no command processor, it gets one with the harts that the firmware needs, two
    /// channels a hart and 16 spawner slots, unless other numbers are given
    #[arg(long, value_name = "FILE.elf")]
    firmware: Option<PathBuf>,
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        self.results.files().and(self.subject.files())
    }
}

impl Subject {
    /// What is read and written.
    pub fn files(&self) -> Files {
        Files::default()
            .input("--pcap", self.pcap.as_deref())
            .input("--kernel", self.what.kernel.as_deref())
            .input("--firmware", self.what.firmware.as_deref())
            .and(self.firmware_args.files())
            .and(self.inputs.files())
            .and(self.expect.files())
            .output("--verdicts", self.verdicts.as_deref())
            .output("--wave", self.wave.as_deref())
            .file("--wave", self.wave.as_deref())
            .and(self.timeline.files())
            .and(self.data.files())
    }

    /// How the run is watched.
    fn options(&self) -> RunOptions {
        RunOptions {
            // Firmware works while no packet comes.
            skip_idle: self.what.firmware.is_none(),
            ..self.arrivals.watched(self.commit_limit, self.limits.watchdog, self.memory.mem_latency)
        }
    }

    /// The array, with what the other options ask of it, and with trace ports if they are needed
    /// otherwise.
    fn config(&self, firmware: Option<&Firmware>, trace: bool) -> anyhow::Result<Config> {
        let mut config = self.array.config()?;
        if let Some(firmware) = firmware {
            firmware::give_processor(&self.array, firmware, &mut config)?;
        }
        config.trace |= trace
            || self.forming.forming_times
            || self.timeline.is_wanted()
            || self.firmware_args.needs_trace();
        config.packet_ports |= self.through == Through::Ports;
        config.drop_when_full |= self.ring.drops();
        config.adaptive_timeout |= self.forming.timeout == Timeout::Adaptive;
        Ok(config)
    }

    /// Whether the ports can do what the app needs.
    fn check_through(&self, program: &Program) -> anyhow::Result<()> {
        if self.through == Through::Host {
            return Ok(());
        }
        ensure!(
            program.app.is_some() || self.expect.has_golden(),
            "--through ports: expected --app or --golden; which packets left is known from a golden model only"
        );
        ensure!(
            program.app.as_ref().is_none_or(|app| app.egress_entries(1) == 0),
            "--through ports: {} sends other frames than those in the slots; the packet ports send those only",
            program.name
        );
        Ok(())
    }
}

pub fn execute(args: &Args, quiet: bool) -> anyhow::Result<()> {
    run(&args.subject, &args.results, None, quiet)
}

/// Runs what `args` say. With a `profiler` the profile is printed instead of the report.
pub fn run(
    args: &Subject,
    results: &ResultArgs,
    profiler: Option<Profiler>,
    quiet: bool,
) -> anyhow::Result<()> {
    args.ring.check(args.through == Through::Ports, &args.expect)?;
    let firmware = args.what.firmware.as_deref().map(Firmware::read).transpose()?;
    let config = args.config(firmware.as_ref(), profiler.is_some())?;
    let latency = args.memory.latency()?;
    let pcap = match (&args.pcap, &firmware) {
        (Some(pcap), _) => pcap,
        (None, Some(_)) if profiler.is_some() => {
            bail!("--pcap: expected packets; `hermes run --firmware-profile` has the cycles of harts")
        }
        (None, Some(firmware)) => {
            return firmware::run_alone(args, results, firmware, &config, latency, quiet)
        }
        (None, None) => bail!("expected --pcap"),
    };
    let program =
        Program::load(args.what.app.as_deref(), args.what.kernel.as_deref(), &args.inputs, &config)?;
    args.check_through(&program)?;
    profiler.as_ref().map_or(Ok(()), |profiler| profiler.keep_sources(&program.kernel))?;
    if let Some(firmware) = &firmware {
        firmware::check(firmware, &config, MEMORY_BYTES, Some(&program))?;
    }
    let mcw = program.mcw(args.mcw, &config)?;
    let stack_bytes_log2 = args.stack.bytes_log2(&program)?;
    let data = args.data.load(&program)?;
    let capture = traffic::read(pcap, args.limits.max_packets)?;
    let (out, json) = (results.out.as_deref(), results.json.as_deref());
    let outputs = Outputs::create(out, json, args.verdicts.as_deref(), &args.files())?;
    let profile = profiler.as_ref().map(Profiler::profile);
    let timeline = args.timeline.create(&config, Some(&program.kernel), firmware.as_ref(), profile)?;

    let slot_bytes_log2 = args.stack.slot_bytes_log2(&capture.frames, program.growth())?;
    // The ports do not know of bytes that the capture lacks.
    let whole = |frame: &Frame| Frame { wire_length: frame.data.len() as u32, ..frame.clone() };
    let packet = |frame: &Frame| match args.through {
        Through::Host => SlotPacket::new(frame, slot_bytes_log2),
        Through::Ports => SlotPacket::new(&whole(frame), slot_bytes_log2),
    };
    let packets: Vec<_> = capture.frames.iter().map(packet).collect();
    let expected = args.expect.load(&program, &packets, &capture.frames, slot::capacity(slot_bytes_log2))?;
    let ring_slots_log2 =
        ring_slots_log2(args.ring.ring_slots, program.app.as_deref(), &config, slot_bytes_log2)?;
    let watchdog = args.limits.watchdog;
    let (timeout, adaptive) = args.forming.timeout.setup();
    let setup = ArraySetup {
        ring_slots_log2,
        slot_bytes_log2,
        mcw,
        timeout,
        adaptive,
        eager: args.forming.eager,
        watchdog,
        stack_bytes_log2,
        ..ArraySetup::default()
    };
    let arrivals = args.arrivals.of(&capture.frames, args.clock);
    let arriving = match args.through {
        Through::Host => in_the_ring(&packets, arrivals),
        Through::Ports => on_the_wire(&capture.frames, arrivals),
    };
    let prepared = Prepared {
        args,
        config: &config,
        latency,
        program: &program,
        pcap,
        firmware: firmware.as_ref(),
        capture,
        packets,
        expected,
        setup,
        arriving,
        faults: RefCell::new(None),
    };
    let done = prepared.complete(data, timeline, outputs, profiler.is_none(), quiet);
    // Where the cycles went is wanted most when the run fails, if it came so far.
    let profiler = profiler.filter(|profiler| done.is_ok() || profiler.has_counted());
    let faults = prepared.faults.take();
    let printed =
        profiler.map_or(Ok(()), |profiler| profiler.tell(&program, pcap, &config, firmware.as_ref(), faults));
    both(done, printed)
}

/// The faults of a run that came to its end.
pub struct Faults {
    /// What threads faulted of.
    pub causes: Vec<FaultCause>,
    /// The records of the fault FIFO.
    pub records: Vec<FaultRecord>,
}

/// A run whose files were read and found to be usable.
struct Prepared<'a> {
    args: &'a Subject,
    config: &'a Config,
    latency: Latency,
    program: &'a Program,
    pcap: &'a Path,
    firmware: Option<&'a Firmware>,
    capture: Capture,
    packets: Vec<SlotPacket>,
    expected: Expected,
    setup: ArraySetup,
    arriving: Vec<Packet>,
    /// The faults, once the run is at its end.
    faults: RefCell<Option<Faults>>,
}

impl Prepared<'_> {
    /// Simulates it, compares what came out, and writes the files. With `tell` the report is
    /// printed.
    fn complete(
        &self,
        mut data: Data,
        timeline: Option<Timeline>,
        outputs: Outputs,
        tell: bool,
        quiet: bool,
    ) -> anyhow::Result<()> {
        let Self { args, program, firmware, capture, packets, expected, .. } = self;
        let Simulated { outcome, ended, memory, races } = self.simulate(&mut data, timeline, quiet)?;
        // They may be why the run differs from its golden model, so they are told first.
        let raced = tell_races(races.as_ref());
        let (mut loss, mut dropped) = (None, Vec::new());
        let mut result = match outcome {
            Outcome::Ports(ports) => {
                let wrong = ports.wrong_lengths.iter();
                let wrong = wrong.map(|(packet, length)| (in_capture(*packet, &ports.dropped), *length));
                wrong_lengths(wrong, self.setup.slot_bytes_log2)?;
                let packets = match (expected.golden(), &program.app) {
                    (Some(golden), _) => check_ports_against(golden, packets, &ports)
                        .context("what left differs from the golden model of --golden")?,
                    (None, Some(app)) => check_ports(app.as_ref(), packets, &ports).with_context(|| {
                        format!("what left differs from the golden model of {}", program.name)
                    })?,
                    (None, None) => ports.run.packets,
                };
                let (malformed, full) = (ports.counters.dropped_in.into(), ports.dropped.len() as u64);
                loss = Some(Loss::new(self.packets.len() as u64, malformed, full));
                dropped = ports.dropped;
                RunResult { packets, ..ports.run }
            }
            Outcome::Host(result) => result,
        };
        // From here on it is about the packets that came in.
        let packets = &came_in(packets, &dropped)[..];
        let frames = &came_in(&capture.frames, &dropped)[..];
        let parts = std::mem::take(&mut result.packets).into_iter().map(PacketRecord::into_parts);
        let (results, mut times): (Vec<_>, Vec<_>) = parts.unzip();
        // Traces see them, too; that somebody watches does not change what is told.
        if !args.forming.forming_times {
            times.iter_mut().for_each(|times| times.formed = None);
        }
        check_left_lengths(packets, &results, self.setup.slot_bytes_log2)?;
        // A golden model of the user's own takes the place of the app's.
        let models = program.app.as_ref().filter(|_| expected.golden().is_none());
        if let (Some(app), Through::Host) = (models, args.through) {
            compare(app.as_ref(), &program.name, packets, &results)?;
        }
        let records = records(&results, Some(&times), packets.len())?;
        let arrivals = args.arrivals.process();
        let environment = Environment::Simulation {
            line_rate: arrivals.line_rate(),
            arrivals_seed: args.arrivals.seed(),
            arrivals,
            channels: result.memory.channels.len(),
            memory: self.latency,
            clock_mhz: args.clock,
        };
        let facts = program.facts(self.pcap, self.config, &self.setup, environment);
        let lengths = packets.iter().map(|packet| packet.wire_length() as u64);
        let faults = u64::from(result.fault_count);
        let counted = counted(capture, self.setup.slot_bytes_log2);
        let work = core_work(&result.counters);
        let mut report = Report::new(facts, &records, lengths, work, faults, counted, models.is_some());
        report.set_memory(&result.memory);
        report.set_load(result.load.as_ref());
        let RunResult { deferred_cycles, cache_cleanings, .. } = result;
        report.waits = Some(Waits { deferred_cycles, cache_cleanings });
        report.loss = loss;
        if args.through == Through::Host {
            let all = packets.iter().map(SlotPacket::lines).sum();
            report.frame_lines = Some(FrameLines::new(all, result.memory.total().ring_lines_read));
        }
        let ports = args.through == Through::Ports;
        report.fault_records.clone_from(&result.faults);
        report.name_verdicts(&records, |verdict| match (*verdict, &program.app) {
            (NOT_SENT, _) if ports => "not sent: drop or fault".to_string(),
            (verdict, Some(app)) => app.verdict_name(verdict),
            (verdict, None) => verdict.to_string(),
        });
        let code = Code::new(Some(&program.kernel), *firmware);
        report.fault_causes = fault_causes(&result.faults, &records, faults, &code, &memory);
        report.bus_errors = BusErrors::simulated(result.bus_errors, &result.memory, &memory);
        report.races = races;
        self.faults.replace(Some(Faults {
            causes: report.fault_causes.clone(),
            records: report.fault_records.clone(),
        }));
        let compared = expected.compare(&results, ports, &mut report);
        outputs.write((frames, packets), &dropped, &results, &records, &report)?;
        let compared = both(compared, data.compare());
        data.write()?;
        // That nobody reads the report does not make a run with faults a good one.
        let printed = if tell { print::line(&report) } else { Ok(()) };
        let faults = tell_faults(&report, args.limits.fails_on_fault(args.what.kernel.is_some()));
        both(faults, both(compared, raced))?;
        firmware.zip(ended).map_or(Ok(()), |(firmware, ended)| firmware::tell(firmware, ended))?;
        printed
    }

    /// Builds the model, loads kernel and firmware and runs the packets.
    fn simulate(
        &self,
        data: &mut Data,
        mut timeline: Option<Timeline>,
        quiet: bool,
    ) -> anyhow::Result<Simulated> {
        let Self { args, config, program, arriving, .. } = self;
        let (firmware, mut setup) = (self.firmware, self.setup.clone());
        let wave = Wave::create(args.wave.as_deref(), args.timeline.limit())?;
        let mut model = array::model(config, wave.is_some(), quiet)?;
        wave.as_ref().map_or(Ok(()), |wave| wave.start(&mut model))?;
        let memory = MemoryOptions { latency: self.latency, ..MemoryOptions::default() };
        let mut host = Host::new(Simulation::new(model, MEMORY_BYTES, memory)?)?;
        host.load_kernel(&KernelImage::from(&program.kernel))?;
        if let Some(firmware) = firmware {
            host.reserve_firmware(firmware)?;
        }
        if let Some(app) = &program.app {
            host.load_app(app.as_ref(), &mut setup)?;
        }
        data.place(&mut host, &mut setup)?;
        let layout = host.configure(&setup)?;
        let map = host.memory_map(&program.kernel, setup.stack_bytes_log2);
        match firmware {
            Some(firmware) => host.keep_kernels_out(firmware)?,
            None if args.limits.open_windows => {}
            None => host.close_windows(&map)?,
        }
        let races = timeline
            .as_mut()
            .filter(|_| args.timeline.looks_for_races())
            .map(|timeline| timeline.look_for_races(Places::of(&setup, &layout, host.info())));
        timeline.as_ref().map(|timeline| timeline.attach(host.device_mut())).transpose()?;
        if let Some(firmware) = firmware {
            host.start_firmware(firmware)?;
            firmware::type_in(args, &mut host)?;
        }
        let options = args.options();
        let bar = print::progress(arriving.len() as u64, quiet);
        let mut progress = |progress: cosim::Progress| bar.set_position(progress.committed);
        let result = match args.through {
            Through::Host => {
                cosim::run(&mut host, &setup, &layout, arriving, options, &mut progress).map(Outcome::Host)
            }
            Through::Ports => {
                let drop_when_full = args.ring.drops();
                let streams = StreamOptions { drop_when_full, ..StreamOptions::default() };
                cosim::run_through_ports(&mut host, &setup, arriving, streams, options, &mut progress)
                    .map(Outcome::Ports)
            }
        };
        bar.finish_and_clear();
        let ended = match (&result, firmware) {
            (Ok(_), Some(firmware)) => Some(firmware::finish(args, &mut host, firmware, arriving.len())),
            _ => None,
        };
        let mut result = result;
        if let (Ok(outcome), Some(_)) = (&mut result, firmware) {
            // Threads that the firmware started may have come to their ends since the last packet.
            firmware::tell_spawn_errors(&mut host)?;
            let (faults, _) = host.take_faults()?;
            let run = outcome.run_mut();
            run.faults.extend(faults);
            (run.fault_count, run.bus_errors) = (host.read("FAULTS")?, host.read("BUS_ERRORS")?);
        }
        let dumped = if result.is_ok() { data.read(&mut host) } else { Ok(()) };
        let cycle = host.device_mut().cycle();
        let wave_ended = host.device_mut().model_mut().trace_ended();
        drop(host);
        // Waveforms and traces are wanted most when a run fails.
        wave.map(|wave| wave.commit(wave_ended)).transpose()?;
        let written = timeline.map(|timeline| timeline.commit(cycle)).transpose();
        let races = races.map(|races| {
            let code = Code::new(Some(&program.kernel), firmware);
            RaceReport::of(races.borrow().findings(), &Explain { code, memory: &map })
        });
        if result.is_err() {
            // They may be why it failed.
            tell_races(races.as_ref()).unwrap_or_default();
        }
        let outcome = result.map_err(|error| match error {
            CosimError::NoCommit { ref at, .. } => anyhow!(
                "{error}{}\n--watchdog CYCLES ends the warps of a kernel that does not end, --commit-limit CYCLES waits for longer",
                places(at, &Code::new(Some(&program.kernel), firmware))
            ),
            error => error.into(),
        })?;
        written?;
        dumped?;
        let ended = ended.transpose()?;
        let result = outcome.run();
        log::info!(
            "{} cycles simulated in {:.2} s: {:.1} kHz",
            result.simulated_cycles,
            result.elapsed.as_secs_f64(),
            result.kilohertz()
        );
        Ok(Simulated { outcome, ended, memory: map, races })
    }
}

/// What came of a simulation.
struct Simulated {
    outcome: Outcome,
    /// How the firmware ended.
    ended: Option<firmware::Ended>,
    /// What lay where.
    memory: MemoryMap,
    /// The races, if they were looked for.
    races: Option<RaceReport>,
}

/// What a simulation gave.
enum Outcome {
    Host(RunResult),
    Ports(PortsResult),
}

impl Outcome {
    fn run_mut(&mut self) -> &mut RunResult {
        match self {
            Self::Host(run) => run,
            Self::Ports(ports) => &mut ports.run,
        }
    }

    fn run(&self) -> &RunResult {
        match self {
            Self::Host(run) => run,
            Self::Ports(ports) => &ports.run,
        }
    }
}
