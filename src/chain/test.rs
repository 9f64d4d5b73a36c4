//! `hermes chain test`, and `hermes nf test` of one function.

use std::path::{Path, PathBuf};

use anyhow::{bail, Context};
use hermes_testbench::chain::{Chain, ChainPlan, SimulatedChain, SimulatedVisit, Surroundings};
use hermes_testbench::golden::Golden;
use hermes_testbench::output::OutputFile;
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::traffic::{self, CaptureWriter};
use hermes_testbench::verdict::Verdict;

use super::report::{ChainReport, FunctionReport};
use super::taps::Taps;
use super::{each_on_its_line, ChainArg, FaultLines};
use crate::array::ArrayArgs;
use crate::files::Files;
use crate::origin::Origin;
use crate::print;
use crate::run::outputs::{write_left, ResultArgs};
use crate::run::MEMORY_BYTES;
use hermes_testbench::slot::wrong_lengths;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    chain: ChainArg,
    /// Folder to write a capture for each function to, NAME.pcap: the packets that came to it, as
    /// they came
    #[arg(long, value_name = "DIR", help_heading = "Outputs")]
    taps: Option<PathBuf>,
    #[command(flatten)]
    test: TestArgs,
}

/// Packets through kernels on the reference simulator.
#[derive(clap::Args)]
pub struct TestArgs {
    /// Capture to process: pcap or pcapng, Ethernet
    #[arg(long, value_name = "IN")]
    pcap: PathBuf,
    /// Process only the first packets of the capture
    #[arg(long, value_name = "N")]
    max_packets: Option<usize>,
    /// Do not fail if threads end with a fault
    #[arg(long)]
    allow_faults: bool,
    #[command(flatten)]
    results: ResultArgs,
    #[command(flatten)]
    array: ArrayArgs,
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        self.chain.files().and(self.test.files()).folder("--taps", self.taps.as_deref())
    }
}

impl TestArgs {
    /// What is read and written.
    pub fn files(&self) -> Files {
        Files::default().input("--pcap", Some(&self.pcap)).and(self.results.files())
    }
}

pub fn execute(args: &Args, quiet: bool) -> anyhow::Result<()> {
    let (plan, files) = args.chain.read(args.files())?;
    test(&plan, &files, &args.test, args.taps.as_deref(), quiet)
}

/// Runs the kernels of `plan` on the reference simulator, and compares them with their golden
/// models.
///
/// # Errors
/// A difference, a thread that faults or does not end, or files that cannot be written.
pub fn test(
    plan: &ChainPlan,
    files: &Files,
    args: &TestArgs,
    taps: Option<&Path>,
    quiet: bool,
) -> anyhow::Result<()> {
    let config = args.array.config()?;
    let frames = traffic::read(&args.pcap, args.max_packets)?.frames;
    let longest = frames.iter().map(|frame| frame.data.len()).max().unwrap_or(0);
    let frame_bytes = Some(u32::try_from(longest)?);
    let on = Surroundings { config: &config, memory_bytes: MEMORY_BYTES, frame_bytes };
    let chain = plan.place(on).map_err(each_on_its_line)?;
    let mut taps = Taps::create(taps, &chain, files)?;
    let mut out = args.results.out.as_deref().map(CaptureWriter::create).transpose()?;
    let json = args.results.json.as_deref().map(OutputFile::create).transpose()?;

    let mut simulated = SimulatedChain::new(&chain, &config, MEMORY_BYTES)?;
    let mut counts = Counts::new(&chain, args.allow_faults);
    let bar = print::progress(frames.len() as u64, quiet);
    for (index, frame) in (0..).zip(&frames) {
        anyhow::ensure!(!hermes_interrupt::is_requested(), "ended before packet {index}");
        let packet = SlotPacket::new(frame, chain.slot_bytes_log2);
        let visits = simulated.follow(index, &packet)?;
        for visit in &visits {
            taps.write(frame, visit, frame.timestamp)?;
            compare(&chain, index, visit)?;
            let length = visit.verdict().is_forward().then_some((index, visit.result.left.length));
            let capacity = hermes_testbench::slot::capacity(chain.slot_bytes_log2);
            let wrong = length.filter(|(_, length)| *length == 0 || *length as usize > capacity);
            wrong_lengths(wrong, chain.slot_bytes_log2)?;
            counts.add(visit, &chain);
        }
        let left = simulated.left(&visits);
        counts.forwarded += u64::from(left.as_ref().is_some_and(|left| Verdict(left.verdict).is_forward()));
        if let (Some(out), Some(left)) = (&mut out, &left) {
            write_left(out, left, frame, &packet)?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let report = counts.report(frames.len() as u64, &chain);
    taps.commit()?;
    out.map(CaptureWriter::commit).transpose()?;
    if let Some(mut json) = json {
        json.write_json(&Origin::of(files).with(&report))?;
        json.commit()?;
    }
    print::line(&report)?;
    let faulted: u64 = report.functions.iter().map(|function| function.faulted).sum();
    counts.faults.tell();
    if faulted > 0 && !args.allow_faults {
        bail!(
            "{faulted} of {} packets ended with a fault; with --allow-faults that is a result like others",
            frames.len()
        );
    }
    Ok(())
}

/// Compares what a function made of a packet with its golden model, if it has one.
fn compare(chain: &Chain, index: u64, visit: &SimulatedVisit) -> anyhow::Result<()> {
    let function = &chain.functions[visit.function];
    let Some(app) = &function.app else { return Ok(()) };
    let got = Golden { verdict: visit.verdict(), frame: visit.result.bytes.clone() };
    if let Some(difference) = app.check(index, &visit.packet, got) {
        bail!("`{}` differs from the golden model of its app:\n{difference}", function.name);
    }
    app.check_egress(index, &visit.packet, &visit.result.egress)
        .with_context(|| format!("`{}`, packet {index} of the capture, counted from 0", function.name))
}

/// What became of the packets so far.
struct Counts {
    functions: Vec<FunctionReport>,
    forwarded: u64,
    faults: FaultLines,
    /// Faults do not fail the command.
    allow_faults: bool,
}

impl Counts {
    fn new(chain: &Chain, allow_faults: bool) -> Self {
        let named = |name: &str| FunctionReport { name: name.to_string(), ..FunctionReport::default() };
        let functions = chain.functions.iter().map(|function| named(&function.name)).collect();
        Self { functions, forwarded: 0, faults: FaultLines::default(), allow_faults }
    }

    fn add(&mut self, visit: &SimulatedVisit, chain: &Chain) {
        let of_chain = &chain.functions[visit.function];
        let count = &mut self.functions[visit.function];
        let verdict = visit.verdict();
        count.packets += 1;
        count.instructions += visit.instructions;
        count.most_instructions = count.most_instructions.max(visit.instructions);
        if verdict.is_forward() {
            count.forwarded += 1;
        } else {
            count.dropped += 1;
        }
        count.faulted += u64::from(visit.fault.is_some());
        *count.verdicts.entry(of_chain.verdict_name(verdict)).or_default() += 1;
        if let Some(fault) = &visit.fault {
            self.faults.add(of_chain, verdict, fault.pc, fault.address, self.allow_faults);
        }
    }

    fn report(&self, packets: u64, chain: &Chain) -> ChainReport {
        let without = chain.functions.iter().filter(|function| function.app.is_none());
        ChainReport {
            packets,
            forwarded: self.forwarded,
            functions: self.functions.clone(),
            not_compared: without.map(|function| function.name.clone()).collect(),
        }
    }
}
