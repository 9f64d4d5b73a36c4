//! `hermes chain run`

use std::path::PathBuf;

use anyhow::{bail, ensure, Context};
use clap::ValueEnum as _;
use hermes_rtl::config::{Config, WATCHDOG_CAUSE};
use hermes_testbench::chain::live::{
    Adapt, Became, Change, Decision, Events, Hung, Live, Made, PlannedEvent, When,
};
use hermes_testbench::chain::schedule::{fair_split, Share};
use hermes_testbench::chain::{
    check_counts, check_ways, limit_for, visits, Chain, ChainPlan, Changed, Function, FunctionTimes, Ran,
    Setting, Sharing, Surroundings, Visit, MOST_FUNCTIONS,
};
use hermes_testbench::cosim::{ArraySetup, FaultRecord, FunctionCounts, PacketRecord, RunOptions, RunResult};
use hermes_testbench::metrics::{Clock, Delays, Distribution};
use hermes_testbench::output::OutputFile;
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::traffic::{self, CaptureWriter, Frame};
use hermes_testbench::verdict::Verdict;

use super::array_report::{
    ArrayFunction, ArrayReport, ChangeReport, DecidedFunction, DecisionReport, HungReport, Verdicts,
};
use super::plan::PlanReport;
use super::taps::Taps;
use super::{each_on_its_line, ChainArg, FaultLines};
use crate::array::{self, ArrayArgs};
use crate::files::Files;
use crate::origin::Origin;
use crate::print;
use crate::run::arrivals::ArrivalArgs;
use crate::run::memory_timing::MemoryArgs;
use crate::run::outcome::{check_left_lengths, compare, records};
use crate::run::outputs::{write_left, ResultArgs};
use crate::run::program::{in_the_ring, on_the_wire};
use crate::run::{Through, MEMORY_BYTES};

/// What stands for the verdict of packets of which nobody knows it: a function may have changed
/// them before the watchdog ended it.
const NOT_KNOWN: &str = "not known";

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    chain: ChainArg,
    /// Capture to process: pcap or pcapng, Ethernet
    #[arg(long, value_name = "IN")]
    pcap: PathBuf,
    /// Process only the first packets of the capture
    #[arg(long, value_name = "N")]
    max_packets: Option<usize>,
    /// How packets come and go: the host writes them to the ring and reads them there, or they
    /// enter and leave through the packet ports of the array
    #[arg(
        long,
        value_enum,
        value_name = "host|ports",
        default_value = "host",
        help_heading = "Surroundings"
    )]
    through: Through,
    #[command(flatten)]
    arrivals: ArrivalArgs,
    /// Clock of the array that the report is for
    #[arg(long, value_name = "MHZ", default_value = "1000", help_heading = "Surroundings")]
    clock: Clock,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Cycles that the oldest waiting packet waits for a full warp
    #[arg(long, value_name = "CYCLES", default_value_t = ArraySetup::default().timeout, help_heading = "Array")]
    timeout: u32,
    /// How the functions share the cores; by the chain file, unless given
    #[arg(long, value_enum, value_name = "gnet|fair|temporal", help_heading = "Cores")]
    mode: Option<Mode>,
    /// Split of `hermes chain plan --json`, for `--mode gnet`
    #[arg(long, value_name = "FILE", help_heading = "Cores")]
    plan: Option<PathBuf>,
    /// Give out cores anew when what comes changes, by the profiles in --plan: the host reads the
    /// counters of the array every 65,536 cycles. Needs --mode gnet and --through ports
    #[arg(long, help_heading = "Cores")]
    adapt: bool,
    /// Warps of a turn, with `--mode temporal`
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "Cores")]
    batch: u32,
    /// Cycles from the last finish of a turn to the start of the next one, with `--mode temporal`;
    /// 0: cores go over to the next function one by one
    #[arg(long, value_name = "CYCLES", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1_000_000), help_heading = "Cores")]
    launch: u64,
    /// Changes that are made while packets flow: TOML, an [[event]] for each (docs/chains.md), also
    /// of a chain that branches. Needs --through ports; not with --adapt or --mode temporal
    #[arg(long, value_name = "EVENTS.toml", help_heading = "Changes")]
    events: Option<PathBuf>,
    /// Folder to write a capture for each function to, NAME.pcap: the packets that came to it, as
    /// they came, with the cycles of the visits as times. The bytes are those of the reference
    /// simulator
    #[arg(long, value_name = "DIR", help_heading = "Outputs")]
    taps: Option<PathBuf>,
    /// Do not fail if threads end with a fault
    #[arg(long)]
    allow_faults: bool,
    /// Cycles without a commit, with packets in flight, after which the run ends with an error;
    /// those of the longest watchdog come on top; 0: any number
    #[arg(long, value_name = "CYCLES", default_value_t = RunOptions::default().commit_limit, help_heading = "Limits")]
    commit_limit: u64,
    #[command(flatten)]
    results: ResultArgs,
    #[command(flatten)]
    array: ArrayArgs,
}

/// How functions share the cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    /// Each has the cores of --plan
    Gnet,
    /// Each has as many as the others, as far as that goes
    Fair,
    /// All cores are of one function at a time, in turns
    Temporal,
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        let files = self.chain.files().input("--pcap", Some(&self.pcap));
        let files = files.input("--events", self.events.as_deref()).file("--events", self.events.as_deref());
        let files = files.folder("--taps", self.taps.as_deref());
        files.input("--plan", self.plan.as_deref()).and(self.results.files())
    }

    /// What the cores of `chain` are given out anew by, if they are; `most` are the warps of each
    /// function that a core can have, and the chain file has this `limit`.
    fn adapt(
        &self,
        chain: &Chain,
        config: &Config,
        most: &[u32],
        limit: u32,
    ) -> anyhow::Result<Option<Adapt>> {
        let path = match (&self.plan, self.adapt) {
            (_, false) => return Ok(None),
            (Some(path), true) if self.mode == Some(Mode::Gnet) => path,
            (_, true) => {
                bail!("--adapt: expected with --mode gnet and --plan, which says what functions cost")
            }
        };
        ensure!(
            self.through == Through::Ports,
            "--adapt: expected --through ports, whose host is free to move cores"
        );
        ensure!(
            self.events.is_none(),
            "--adapt with --events: expected one of them, since both move the cores"
        );
        let names = chain.functions.iter().map(|function| function.name.as_str());
        let plan = PlanReport::read(path, names)?;
        let demands = plan.demands(path, config.cores, most.iter().copied())?;
        Ok(Some(Adapt::new(demands, config.lanes as u32, limit == 0)))
    }

    /// Gives the functions of `chain` cores as `--mode` says.
    fn share(&self, chain: &mut Chain, config: &Config) -> anyhow::Result<Sharing> {
        ensure!(self.plan.is_none() || self.mode == Some(Mode::Gnet), "--plan: expected with --mode gnet");
        let count = chain.functions.len();
        match self.mode {
            None => {}
            Some(Mode::Gnet) => {
                let path = self.plan.as_deref();
                let path =
                    path.context("--mode gnet: expected --plan FILE, of `hermes chain plan --json`")?;
                let names = chain.functions.iter().map(|function| function.name.as_str());
                let plan = PlanReport::read(path, names)?;
                let shares = plan.shares();
                for (share, function) in shares.iter().zip(&chain.functions) {
                    let (name, most) = (&function.name, function.mcw);
                    ensure!(
                        share.warps <= most,
                        "{}: {name}: MCW {}: expected at most {most}",
                        path.display(),
                        share.warps
                    );
                }
                let cores: usize = shares.iter().map(|share| share.cores).sum();
                ensure!(
                    cores <= config.cores,
                    "{}: {cores} cores: expected at most {}, those of the array",
                    path.display(),
                    config.cores
                );
                chain.share(&shares);
                chain.limit = if chain.limit == 0 { plan.limit } else { chain.limit };
            }
            Some(Mode::Fair) => {
                let cores = fair_split(count, config.cores).into_iter().zip(&chain.functions);
                let shares: Vec<_> =
                    cores.map(|(cores, function)| Share { cores, warps: function.mcw }).collect();
                chain.share(&shares);
                chain.limit = if chain.limit == 0 { limit_for(&shares) } else { chain.limit };
            }
            Some(Mode::Temporal) => {
                ensure!(
                    self.through == Through::Ports,
                    "--mode temporal: expected --through ports, whose host is free to move cores"
                );
                for function in &mut chain.functions {
                    (function.first_core, function.cores) = (0, config.cores);
                }
                return Ok(Sharing::Temporal { batch: self.batch, launch: self.launch });
            }
        }
        Ok(Sharing::Spatial)
    }

    /// The array, with room for `functions`, and with branches if packets branch.
    fn config(&self, functions: usize, branches: bool) -> anyhow::Result<Config> {
        let mut config = self.array.config()?;
        if config.network_functions == 0 {
            // New functions need numbers beside those of the chain.
            let usual = functions.next_power_of_two().max(2);
            config.network_functions = if self.events.is_some() { MOST_FUNCTIONS } else { usual };
            config.function_branches = branches;
        }
        config.packet_ports |= self.through == Through::Ports;
        config.validate()?;
        Ok(config)
    }

    /// Makes sure that a chain can change in such a run.
    fn check_events(&self) -> anyhow::Result<()> {
        ensure!(
            self.through == Through::Ports,
            "--events: expected --through ports, whose host is free to change the chain"
        );
        ensure!(
            self.mode != Some(Mode::Temporal),
            "--events with --mode temporal: expected one of them, since both move the cores"
        );
        Ok(())
    }

    /// Makes sure that functions take turns in one order only.
    fn check_branches(&self, plan: &ChainPlan) -> anyhow::Result<()> {
        match plan.branching() {
            Some(branching) if self.mode == Some(Mode::Temporal) => bail!(
                "--mode temporal: `{}` has edges by verdict; expected a chain without them ({})",
                branching.name,
                plan.path().display()
            ),
            _ => Ok(()),
        }
    }

    /// Whether the host of the run can change the chain.
    fn is_live(&self) -> bool {
        self.through == Through::Ports && self.mode != Some(Mode::Temporal)
    }

    fn options(&self, chain: &Chain) -> RunOptions {
        let watchdog = chain.all().map(|function| function.watchdog).max();
        let watched =
            self.arrivals.watched(self.commit_limit, watchdog.unwrap_or(0), self.memory.mem_latency);
        // Windows go on while no packet comes.
        RunOptions { skip_idle: watched.skip_idle && !self.adapt, ..watched }
    }
}

pub fn execute(args: &Args, quiet: bool) -> anyhow::Result<()> {
    let (plan, events, files) = args.chain.read_with_events(args.files(), args.events.as_deref())?;
    if events.is_some() {
        args.check_events()?;
    }
    args.check_branches(&plan)?;
    let config = args.config(plan.functions.len(), plan.branching().is_some())?;
    let frames = traffic::read(&args.pcap, args.max_packets)?.frames;
    if let Some(events) = &events {
        events.check_packets(frames.len() as u64).map_err(each_on_its_line)?;
    }
    let longest = frames.iter().map(|frame| frame.data.len()).max().unwrap_or(0);
    let on = Surroundings {
        config: &config,
        memory_bytes: MEMORY_BYTES,
        frame_bytes: Some(u32::try_from(longest)?),
    };
    let mut chain = plan.place(on).map_err(each_on_its_line)?;
    let most: Vec<_> = chain.functions.iter().map(|function| function.mcw).collect();
    let limit = chain.limit;
    let sharing = args.share(&mut chain, &config)?;
    let adapt = args.adapt(&chain, &config, &most, limit)?;
    let chain = chain;
    let model = chain.model();
    if let (Err(name), Through::Ports) = (&model, args.through) {
        bail!("--through ports: `{name}` has no golden model (`app`), from which it is known which packets left");
    }
    ensure!(
        args.through == Through::Host || chain.egress.is_none(),
        "--through ports: the last function sends other frames than those in the slots; the packet ports send those only"
    );
    let watched = chain.all().find(|function| function.on_hang.is_some());
    if let (Some(function), false) = (watched, args.is_live()) {
        bail!(
            "`{}` has `on_hang`; expected --through ports, whose host is free to look after functions, and no --mode temporal",
            function.name
        );
    }
    let live = match &events {
        Some(events) => Some(Live::of(&chain, events, &config).map_err(each_on_its_line)?),
        None if watched.is_some() || adapt.is_some() => Some(Live { adapt, ..Live::unchanged(&chain) }),
        None => None,
    };
    chain.check_hangs(&config, live.as_ref()).map_err(each_on_its_line)?;
    let renews = events.iter().flat_map(|events| &events.events).any(PlannedEvent::renews_tables);
    ensure!(!(renews && args.taps.is_some()), "--taps with new tables in --events: expected one of them");
    let mut taps = Taps::create(args.taps.as_deref(), &chain, &files)?;
    let out = args.results.out.as_deref().map(CaptureWriter::create).transpose()?;
    let json = args.results.json.as_deref().map(OutputFile::create).transpose()?;

    // The ports do not know of bytes that the capture lacks.
    let whole = |frame: &Frame| Frame { wire_length: frame.data.len() as u32, ..frame.clone() };
    let packet = |frame: &Frame| match args.through {
        Through::Host => SlotPacket::new(frame, chain.slot_bytes_log2),
        Through::Ports => SlotPacket::new(&whole(frame), chain.slot_bytes_log2),
    };
    let packets: Vec<_> = frames.iter().map(packet).collect();
    let ran = {
        let setting = Setting {
            chain: &chain,
            model: model.as_ref().ok(),
            ports: args.through == Through::Ports,
            memory_bytes: MEMORY_BYTES,
            sharing,
            live: live.as_ref(),
            latency: args.memory.latency()?,
            timeout: args.timeout,
            options: args.options(&chain),
        };
        let arrivals = args.arrivals.of(&frames, args.clock);
        let arriving = match args.through {
            Through::Host => in_the_ring(&packets, arrivals),
            Through::Ports => on_the_wire(&frames, arrivals),
        };
        let array = array::model(&config, false, quiet)?;
        let bar = print::progress(packets.len() as u64, quiet);
        let ran = setting.simulate(array, &packets, &arriving, &mut |progress| {
            bar.set_position(progress.committed);
        });
        bar.finish_and_clear();
        ran?
    };
    if taps.are_wanted() {
        taps.write_run(&chain, &config, &frames, &packets, &ran, args.clock)?;
    }
    let Ran { result, counts, times, ways, changed } = ran;
    let parts = result.packets.iter().cloned().map(PacketRecord::into_parts);
    let (results, packet_times): (Vec<_>, Vec<_>) = parts.unzip();
    check_left_lengths(&packets, &results, chain.slot_bytes_log2)?;
    records(&results, Some(&packet_times), packets.len())?;
    let visits = model.ok().filter(|_| changed.is_none()).map(|model| visits(&model, &packets));
    if let (Ok(model), Through::Host) = (&model, args.through) {
        compare(model, "the chain", &packets, &results)?;
    }
    if let Some(visits) = &visits {
        check_ways(&chain, visits, &ways)?;
        check_counts(&chain, visits, &counts)?;
    }

    if let (Some(live), Some(events), Some(changed)) = (&live, &events, &changed) {
        all_were_made(live, events, changed, result.cycles)?;
    }
    let became = match &changed {
        Some(changed) => changed.functions.clone(),
        None => became(&chain, visits.as_deref()),
    };
    let mut report = ArrayReport {
        packets: packets.len() as u64,
        bytes: packets.iter().map(|packet| packet.wire_length() as u64).sum(),
        cycles: result.cycles,
        forwarded: results.iter().filter(|got| Verdict(got.verdict).is_forward()).count() as u64,
        compared: visits.is_some() || changed.is_some(),
        functions: functions(&chain, &became, &counts, &result, &times, live.as_ref()),
        changes: changes(live.as_ref(), changed.as_ref()),
        decisions: decisions(&chain, changed.as_ref(), args.clock),
        hung: hung(&chain, changed.as_ref()),
        delays: Delays::of(&packet_times, args.arrivals.process().is_scheduled()),
        fault_records: result.faults.clone(),
        memory: args.memory.latency()?.to_string(),
        mode: args.mode.and_then(|mode| Some(mode.to_possible_value()?.get_name().to_string())),
        config: Some(config.clone()),
        ..ArrayReport::default()
    };
    report.set_rates(args.clock);
    taps.commit()?;
    if let Some(mut out) = out {
        for ((got, frame), before) in results.iter().zip(&frames).zip(&packets) {
            write_left(&mut out, got, frame, before)?;
        }
        out.commit()?;
    }
    if let Some(mut json) = json {
        json.write_json(&Origin::of(&files).with(&report))?;
        json.commit()?;
    }
    print::line(&report)?;
    let awaited: u64 = watched_faults(&chain, &counts);
    tell_faults(args, &chain, &result, live.is_some(), awaited)
}

/// What became of the packets at each function, as the golden model has it.
fn became(chain: &Chain, visits: Option<&[Vec<Visit>]>) -> Vec<Became> {
    let mut became = vec![Became::default(); chain.functions.len()];
    for visit in visits.into_iter().flatten().flatten() {
        *became[visit.function].verdicts.entry(visit.verdict).or_default() += 1;
    }
    became
}

/// When the changes were made.
fn changes(live: Option<&Live>, changed: Option<&Changed>) -> Vec<ChangeReport> {
    let (Some(live), Some(changed)) = (live, changed) else { return Vec::new() };
    let report = |(change, made): (&Change, &Made)| ChangeReport {
        what: change.told.clone(),
        when: change.when.to_string(),
        packets: made.packets,
        began: made.began,
        stood: made.stood,
    };
    live.changes.iter().zip(&changed.made).map(report).collect()
}

/// What was decided about the cores.
fn decisions(chain: &Chain, changed: Option<&Changed>, clock: Clock) -> Vec<DecisionReport> {
    let report = |decision: &Decision| DecisionReport {
        cycle: decision.cycle,
        stood: decision.stood,
        expected_mpps: decision.expected.map(|rate| rate * clock.megahertz()),
        functions: (chain
            .functions
            .iter()
            .zip(&decision.by)
            .zip(decision.before.iter().zip(&decision.after)))
        .map(|((function, by), (before, after))| DecidedFunction {
            name: function.name.clone(),
            mpps: by.rate * clock.megahertz(),
            core_cycles_per_packet: by.core_cycles,
            waiting: by.queued,
            cores_before: before.cores,
            mcw_before: before.warps,
            cores: after.cores,
            mcw: after.warps,
        })
        .collect(),
    };
    changed.iter().flat_map(|changed| &changed.decisions).map(report).collect()
}

/// The functions that hang.
fn hung(chain: &Chain, changed: Option<&Changed>) -> Vec<HungReport> {
    let report = |hung: &Hung| HungReport {
        function: chain.function(hung.function).name.clone(),
        cycle: hung.cycle,
        faults: hung.faults,
        action: hung.action,
    };
    changed.iter().flat_map(|changed| &changed.hung).map(report).collect()
}

/// Every change has begun.
///
/// # Errors
/// The run ended before one of them.
fn all_were_made(live: &Live, events: &Events, changed: &Changed, cycles: u64) -> anyhow::Result<()> {
    let late = changed.made.iter().position(|made| made.began.is_none());
    let Some(late) = late else { return Ok(()) };
    let Change { when, told: what, .. } = &live.changes[late];
    // Changes at a packet are due before the run ends: every packet starts.
    let is_due = matches!(when, When::Packet(_)) || matches!(when, When::Cycle(cycle) if *cycle <= cycles);
    let before = late.checked_sub(1).map(|before| (&live.changes[before], changed.made[before]));
    let told = match before {
        Some((before, Made { began: Some(began), stood: None, .. })) if is_due => format!(
            "the run ended in cycle {cycles}, before the change above, {} at {}, begun in cycle {began}, was complete; \
             expected more packets behind it, or both changes earlier",
            before.told, before.when
        ),
        _ => format!("the run ended in cycle {cycles}, before this was due; expected an earlier change"),
    };
    bail!("{}: {what}, at {when}: {told}", events.place(late))
}

/// The rows of the functions, whose cores may be those of others too if the chain is `live`.
fn functions(
    chain: &Chain,
    became: &[Became],
    counts: &[FunctionCounts],
    result: &RunResult,
    times: &[FunctionTimes],
    live: Option<&Live>,
) -> Vec<ArrayFunction> {
    let row = |number: usize| {
        let (function, counts) = (chain.function(number), &counts[number]);
        let cores = match live {
            Some(_) => 0..result.counters.len(),
            None => function.first_core..function.first_core + function.cores,
        };
        let cores = result.counters.get(cores).unwrap_or_default();
        // Those of the function alone where functions take turns on the cores.
        let active = times[number].core_cycles;
        let on_cores: u64 = cores.iter().map(|core| u64::from(core.core.active_cycles)).sum();
        let instructions: u64 = cores.iter().map(|core| u64::from(core.core.instructions)).sum();
        let mut named = Verdicts::default();
        let Became { verdicts, unknown } = &became[number];
        for (verdict, packets) in verdicts {
            *named.entry(function.verdict_name(*verdict)).or_default() += packets;
        }
        if *unknown > 0 {
            named.insert(NOT_KNOWN.to_string(), *unknown);
        }
        let packets = f64::from(counts.lanes);
        ArrayFunction {
            name: function.name.clone(),
            kernel: function.kernel_digest(),
            tables: function.table_digest(),
            packets: counts.lanes.into(),
            forwarded: counts.forwarded.into(),
            dropped: counts.dropped.into(),
            faulted: counts.faulted.into(),
            verdicts: named,
            cores: live.and_then(|live| live.cores(number)).unwrap_or(function.cores),
            mcw: function.mcw,
            warps: counts.visits.into(),
            lanes_per_visit: packets / f64::from(counts.visits).max(1.0),
            core_cycles_per_packet: active as f64 / packets.max(1.0),
            ipc: instructions as f64 / (on_cores as f64).max(1.0),
            most_waiting: counts.peak.into(),
            wait: Distribution::of(times[number].waits.iter().copied()),
            stay: Distribution::of(times[number].stays.iter().copied()),
        }
    };
    (0..became.len()).map(row).collect()
}

/// Threads of functions with `on_hang` that the watchdog has ended.
fn watched_faults(chain: &Chain, counts: &[FunctionCounts]) -> u64 {
    let watched = chain.all().zip(counts).filter(|(function, _)| function.on_hang.is_some());
    watched.map(|(_, counts)| u64::from(counts.faulted)).sum()
}

/// Tells what threads faulted of, by function; an error unless that is allowed, or `awaited` by the
/// chain file: then it is a warning.
fn tell_faults(
    args: &Args,
    chain: &Chain,
    result: &RunResult,
    live: bool,
    awaited: u64,
) -> anyhow::Result<()> {
    let mut lines = FaultLines::default();
    for FaultRecord { cause, function, pc, address, .. } in &result.faults {
        // By its address where numbers change their function.
        let number = function.map_or(0, usize::from);
        let inside = |function: &&Function| function.read_window().contains(*pc);
        let of_number = || chain.functions.get(number).filter(|_| !live);
        let Some(function) = of_number().or_else(|| chain.all().find(inside)) else { continue };
        let verdict = Verdict(hermes_testbench::verdict::FAULT | u32::from(*cause));
        let is_awaited = function.on_hang.is_some() && *cause == WATCHDOG_CAUSE;
        lines.add(function, verdict, *pc, *address, args.allow_faults || is_awaited);
    }
    lines.tell();
    let faults = u64::from(result.fault_count).saturating_sub(awaited);
    if faults > 0 && !args.allow_faults {
        bail!("{faults} threads ended with a fault; with --allow-faults that is a result like others");
    }
    Ok(())
}
