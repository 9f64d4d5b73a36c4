//! `hermes fpga run`

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{anyhow, bail, ensure, Context};
use hermes_fpga::board::Settings;
use hermes_testbench::board::{self, Board, BoardError, LinkOptions, Port, SessionOptions, SessionResult};
use hermes_testbench::cosim::{
    ArraySetup, BusErrors, Code, CosimError, Device, Host, KernelImage, Layout, MemoryMap,
};
use hermes_testbench::metrics::{BoardRun, Environment, FrameLines, Report};
use hermes_testbench::slot::{self, SlotPacket};
use hermes_testbench::traffic;

use super::firmware::{self, FirmwareArgs};
use super::target::BoardArgs;
use super::trace::{BoardTrace, TraceArgs};
use crate::files::Files;
use crate::print;
use crate::run::data::{Data, DataArgs};
use crate::run::expect::ExpectArgs;
use crate::run::outcome::{
    both, check_left_lengths, compare, core_work, counted, fault_causes, records, tell_faults,
};
use crate::run::outputs::Outputs;
use crate::run::program::{in_the_ring, seconds, InputArgs, LimitArgs, Program, StackArgs};

/// Slots of the largest ring, as a power of two: a batch of so many packets keeps the serial line
/// busy for seconds.
const MOST_RING_SLOTS_LOG2: u32 = 10;

#[derive(clap::Args)]
pub struct Args {
    /// Serial device of the board, such as /dev/ttyUSB0
    #[arg(long, value_name = "DEV", help_heading = "Board")]
    pub port: PathBuf,
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    inputs: InputArgs,
    /// Capture to process: pcap or pcapng, Ethernet
    #[arg(long, value_name = "IN", required_unless_present = "firmware", help_heading = "What to run")]
    pcap: Option<PathBuf>,
    #[command(flatten)]
    pub firmware_args: FirmwareArgs,
    /// Capture to write: the forwarded packets as the kernel left them, in commit order
    #[arg(short = 'o', visible_alias = "output", long, value_name = "OUT.pcap", help_heading = "Outputs")]
    out: Option<PathBuf>,
    #[command(flatten)]
    pub board: BoardArgs,
    /// Maximally allowed concurrent warps per core; by default as many as array and kernel allow
    #[arg(long, help_heading = "Array")]
    mcw: Option<u32>,
    #[command(flatten)]
    pub stack: StackArgs,
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    expect: ExpectArgs,
    /// Report as JSON
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    json: Option<PathBuf>,
    /// Verdict of every packet as CSV, in commit order; the columns of the times are empty, since a
    /// board does not see them
    #[arg(long, value_name = "FILE.csv", help_heading = "Outputs")]
    verdicts: Option<PathBuf>,
    #[command(flatten)]
    trace: TraceArgs,
    #[command(flatten)]
    limits: LimitArgs,
    /// How much longer than its bytes take on the line the board may take to answer before a
    /// request is sent again
    #[arg(long, value_name = "SECONDS", default_value = "0.25", value_parser = seconds, help_heading = "Limits")]
    timeout: Duration,
    /// How long packets may be on the board without a commit before the run ends with an error
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds, help_heading = "Limits")]
    stall_limit: Duration,
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
    /// Firmware for the command processor, alone: `hermes firmware build` makes it. Its console
    /// output is printed, and the value of its `main` is the exit code. Threads that it starts
    /// count as no packets
    #[arg(long, value_name = "FILE.elf", conflicts_with_all = OF_PACKETS)]
    firmware: Option<PathBuf>,
}

/// What belongs to packets, and so not to firmware alone.
const OF_PACKETS: [&str; 17] = [
    "pcap",
    "app",
    "kernel",
    "out",
    "json",
    "verdicts",
    "mcw",
    "slot_bytes",
    "perfetto",
    "wave",
    "trace_trigger",
    "trace_group",
    "watchdog",
    "fail_on_fault",
    "open_windows",
    "max_packets",
    "stall_limit",
];

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        Files::default()
            .input("--pcap", self.pcap.as_deref())
            .input("--kernel", self.what.kernel.as_deref())
            .input("--firmware", self.what.firmware.as_deref())
            .and(self.firmware_args.files())
            .and(self.inputs.files())
            .and(self.expect.files())
            .output("--out", self.out.as_deref())
            .output("--json", self.json.as_deref())
            .output("--verdicts", self.verdicts.as_deref())
            .and(self.trace.files())
            .and(self.data.files())
    }

    /// Finds the board and takes charge of its array.
    pub fn connect(&self, settings: &Settings) -> anyhow::Result<Host<Board<Port>>> {
        let (config, baud) = (&settings.config, settings.baud);
        let port = board::open(&self.port, baud)?;
        let options = LinkOptions { margin: self.timeout, ..LinkOptions::new(baud) };
        let on_port = || format!("{}, {baud} baud", self.port.display());
        let mut board = Board::connect(port, options, settings.identity().hash).with_context(on_port)?;
        board.reset().with_context(on_port)?;
        let host = Host::new(board).with_context(on_port)?;
        let (info, sizes) = (host.info(), (config.lanes, config.cores, config.warps));
        let found = (info.lanes as usize, info.cores as usize, info.warps as usize);
        ensure!(
            found == sizes,
            "{}: register CONFIG tells of {found:?} lanes, cores and warp slots; expected {sizes:?}",
            on_port()
        );
        Ok(host)
    }
}

pub fn execute(args: &Args, quiet: bool) -> anyhow::Result<()> {
    match (&args.what.firmware, &args.pcap) {
        (Some(path), _) => firmware::execute(args, path),
        (None, Some(pcap)) => {
            args.firmware_args.refuse()?;
            run_packets(args, pcap, quiet)
        }
        (None, None) => bail!("expected --pcap"),
    }
}

/// Runs the packets of a capture.
fn run_packets(args: &Args, pcap: &Path, quiet: bool) -> anyhow::Result<()> {
    let settings = args.board.settings()?;
    let config = &settings.config;
    let program = Program::load(args.what.app.as_deref(), args.what.kernel.as_deref(), &args.inputs, config)?;
    let mcw = program.mcw(args.mcw, config)?;
    let stack_bytes_log2 = args.stack.bytes_log2(&program)?;
    let mut data = args.data.load(&program)?;
    let capture = traffic::read(pcap, args.limits.max_packets)?;
    let trace = args.trace.create(config, &program.kernel)?;
    let outputs =
        Outputs::create(args.out.as_deref(), args.json.as_deref(), args.verdicts.as_deref(), &args.files())?;

    let slot_bytes_log2 = args.stack.slot_bytes_log2(&capture.frames, program.growth())?;
    let packets: Vec<_> =
        capture.frames.iter().map(|frame| SlotPacket::new(frame, slot_bytes_log2)).collect();
    let expected = args.expect.load(&program, &packets, &capture.frames, slot::capacity(slot_bytes_log2))?;
    let mut host = args.connect(&settings)?;
    let watchdog = args.limits.watchdog;
    let mut setup = ArraySetup { slot_bytes_log2, mcw, watchdog, stack_bytes_log2, ..ArraySetup::default() };
    let on_port = || args.port.display().to_string();
    let (layout, memory) = load(args, &program, &mut data, &mut host, &mut setup).with_context(on_port)?;
    let result = process(args, &packets, &mut host, &setup, &layout, trace, quiet).with_context(on_port)?;
    data.read(&mut host).with_context(on_port)?;
    let board = host.device_mut();
    let busy_cycles = board.busy_cycles()?;
    log::info!("{}: {}", args.port.display(), board.statistics());
    log::info!("{} frames came damaged to the board since it started", board.identity().damaged_frames);

    check_left_lengths(&packets, &result.packets, slot_bytes_log2)?;
    // A golden model of the user's own takes the place of the app's.
    let models = program.app.as_ref().filter(|_| expected.golden().is_none());
    if let Some(app) = models {
        compare(app.as_ref(), &program.name, &packets, &result.packets)?;
    }
    let records = records(&result.packets, None, packets.len())?;
    let environment = Environment::Board(BoardRun {
        device: args.port.display().to_string(),
        baud: settings.baud,
        clock_khz: board.identity().clock_khz,
        memory_bytes: board.memory_size(),
        ring_slots: 1 << setup.ring_slots_log2,
        seconds: result.elapsed.as_secs_f64(),
    });
    let facts = program.facts(pcap, config, &setup, environment);
    let lengths = packets.iter().map(|packet| packet.wire_length() as u64);
    let (cores, faults) = (core_work(&result.read_out.counters), u64::from(result.read_out.fault_count));
    let counted = counted(&capture, slot_bytes_log2);
    let mut report = Report::without_times(facts, &records, busy_cycles, lengths, cores, faults, counted);
    report.set_load(result.read_out.load.as_ref());
    let read = report.cores.iter().map(|core| core.line_reads).sum();
    report.frame_lines = Some(FrameLines::new(packets.iter().map(SlotPacket::lines).sum(), read));
    if program.app.is_some() {
        report.golden_checked = models.is_some();
    }
    report.fault_records.clone_from(&result.faults);
    report.name_verdicts(&records, |verdict| match &program.app {
        Some(app) => app.verdict_name(*verdict),
        None => verdict.to_string(),
    });
    let code = Code::new(Some(&program.kernel), None);
    report.fault_causes = fault_causes(&result.faults, &records, faults, &code, &memory);
    report.bus_errors = BusErrors::counted(result.read_out.bus_errors);
    let compared = expected.compare(&result.packets, false, &mut report);
    outputs.write((&capture.frames, &packets), &[], &result.packets, &records, &report)?;
    let compared = both(compared, data.compare());
    data.write()?;
    // That nobody reads the report does not make a run with faults a good one.
    let printed = print::line(&report);
    let faults = tell_faults(&report, args.limits.fails_on_fault(args.what.kernel.is_some()));
    both(faults, compared)?;
    printed
}

/// Loads kernel and tables and sets the array up; gives what lies where. The ring gets the slots
/// that there is room for.
fn load(
    args: &Args,
    program: &Program,
    data: &mut Data,
    host: &mut Host<Board<Port>>,
    setup: &mut ArraySetup,
) -> anyhow::Result<(Layout, MemoryMap)> {
    host.load_kernel(&KernelImage::from(&program.kernel))?;
    data.place(host, setup)?;
    setup.ring_slots_log2 = ring_slots_log2(host, program, setup)?;
    if let Some(app) = &program.app {
        host.load_app(app.as_ref(), setup)?;
    }
    let layout = host.configure(setup)?;
    let map = host.memory_map(&program.kernel, setup.stack_bytes_log2);
    if !args.limits.open_windows {
        host.close_windows(&map)?;
    }
    Ok((layout, map))
}

/// Runs the packets. The trace, if there is one, is written whatever becomes of them.
fn process(
    args: &Args,
    packets: &[SlotPacket],
    host: &mut Host<Board<Port>>,
    setup: &ArraySetup,
    layout: &Layout,
    trace: Option<BoardTrace>,
    quiet: bool,
) -> anyhow::Result<SessionResult> {
    let packets = in_the_ring(packets, std::iter::repeat(0));
    let bar = print::progress(packets.len() as u64, quiet);
    let options = SessionOptions { stall_limit: args.stall_limit };
    if let Some(trace) = &trace {
        trace.arm(host.device_mut())?;
    }
    let result = board::run(host, setup, layout, &packets, &options, &mut |done| bar.set_position(done));
    bar.finish_and_clear();
    let recorded = trace.map(|trace| trace.finish(host.device_mut())).transpose();
    let error = match result {
        Ok(result) => {
            recorded?;
            return Ok(result);
        }
        Err(error) => error,
    };
    let recorded = recorded.unwrap_or_else(|error| {
        log::warn!("{error:#}");
        None
    });
    let last = || recorded.map(|recorded| recorded.last_instructions()).unwrap_or_default();
    Err(match error {
        CosimError::Stalled { .. } => anyhow!(
            "{error}{}\n--watchdog CYCLES ends the warps of a kernel that does not end, --stall-limit SECONDS waits for longer",
            last()
        ),
        CosimError::Board(BoardError::Hangs { .. }) => anyhow!("{error}{}", last()),
        error => error.into(),
    })
}

/// Slots of the largest ring that fits into the memory beside the kernel, which is loaded, and all
/// else; as a power of two.
fn ring_slots_log2<D: Device>(host: &Host<D>, program: &Program, setup: &ArraySetup) -> anyhow::Result<u32> {
    let app = program.app.as_deref();
    let areas = |ring_slots_log2| host.areas(app, &ArraySetup { ring_slots_log2, ..setup.clone() });
    // A warp of all lanes at least.
    let least = host.info().lanes.next_power_of_two().ilog2();
    let fitting = (least..=MOST_RING_SLOTS_LOG2).rev().find(|log2| host.has_room(&areas(*log2)));
    if let Some(log2) = fitting {
        return Ok(log2);
    }
    let parts: Vec<_> = areas(least)
        .iter()
        .map(|area| format!("{} {}", area.what.trim_start_matches("the "), area.bytes))
        .collect();
    bail!(
        "the board's memory has no room for a ring of {} slots of {} bytes: of its {} bytes the kernel leaves {}; needed are {}. \
         Smaller stacks (--stack-bytes), tables or frames take less",
        1 << least,
        1 << setup.slot_bytes_log2,
        host.memory_size(),
        host.free_bytes(),
        parts.join(", ")
    )
}
