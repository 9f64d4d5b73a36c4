//! `hermes bench memory`: how close header kernels come to what the memory can carry, and what
//! latency costs.
//!
//! The physical limit of dec-ttl: of each packet one line must be read and written back, and 4
//! bytes of verdict be written. A channel carries one line a cycle each way. Inside, each core
//! serves one line a cycle, and every load and store of a thread is a line of its own, since
//! threads have packets of their own.

use anyhow::{ensure, Context};
use hermes_rtl::config::{most_warps, Config, LINE_BYTES};
use hermes_testbench::apps::{AppEntry, Inputs};
use hermes_testbench::cosim::Device;
use hermes_testbench::kernel::{build_source, Kernel, RegisterClass};
use hermes_testbench::outcome::check_host;
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::staging::temporary_folder;
use hermes_testbench::traffic::{Generator, Kind, Traffic};

use super::figure::{Bound, Figure};
use super::packet_run::{Load, PacketRun};
use super::Subject;
use crate::array::ArrayArgs;

/// Bytes of a packet.
const PACKET_BYTES: usize = 64;
/// Bytes of its slot, as a power of two.
const SLOT_BYTES_LOG2: u32 = 7;
/// Bytes of a verdict.
const VERDICT_BYTES: f64 = 4.0;
/// Words that a thread loads from its packet's line in dec-ttl: length, EtherType, version, time to
/// live.
const LOADS: f64 = 4.0;
/// Warps of a core in the sweep of the latency, as in the paper on Pangaea.
const SWEEP_WARPS: u32 = 16;
/// Latency up to which the throughput must not depend on it (Pangaea).
const FLAT_LATENCY: u32 = 60;
/// Words of the stream that a thread reads.
const STREAM_WORDS: u32 = 64;

/// Seed of the packets.
const SEED: u64 = 1;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    array: ArrayArgs,
    /// Packets of a run of dec-ttl; all but the first quarter and the last sixteenth of them are
    /// measured
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(256..=262_144))]
    packets: u32,
    /// Cycles from a memory request to its response, except in the sweep
    #[arg(long, value_name = "CYCLES", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    latency: u32,
    /// Maximally allowed concurrent warps per core, except in the sweep; more than their L1 has
    /// lines for evict each other's
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=32))]
    mcw: u32,
    /// Numbers of channels to measure dec-ttl with
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,2,4")]
    at_channels: Vec<usize>,
    /// Latencies of the sweep; the first is what the others are compared with
    #[arg(
        long,
        value_name = "CYCLES,...",
        value_delimiter = ',',
        default_value = "2,20,40,60,100,200,400,700,1000"
    )]
    sweep: Vec<u32>,
    /// Leave out the sweep of the latency
    #[arg(long)]
    no_sweep: bool,
}

pub fn measure(args: &Args, on: &mut Subject, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    let base = args.array.config_or("paper")?;
    on.seed = Some(SEED);
    let mut figures = Vec::new();
    let l1_limit = base.cores as f64 / (LOADS + 1.0 + VERDICT_BYTES / LINE_BYTES as f64);
    figures.push(Figure::new("dec_ttl_l1_limit", l1_limit, "packets/cycle"));
    for channels in &args.at_channels {
        let config = Config { channels: *channels, l2_banks: base.l2_banks.max(*channels), ..base.clone() };
        on.add(&config);
        let bench = Bench(PacketRun::new(config, quiet)?);
        bench.dec_ttl_figures(args, l1_limit, &mut figures)?;
        if *channels == 1 {
            figures.push(bench.stream(args.latency)?);
            if !args.no_sweep {
                bench.sweep(args, &mut figures)?;
            }
        }
    }
    Ok(figures)
}

struct Bench(PacketRun);

/// What a run of dec-ttl gave.
struct DecTtl {
    /// Packets that ended per cycle, without the first quarter of the run and the last sixteenth.
    rate: f64,
    /// Lines read and written for each packet.
    lines: f64,
}

impl Bench {
    fn dec_ttl_figures(&self, args: &Args, l1_limit: f64, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
        let channels = self.0.config.channels;
        // Reads and writes are independent; more lines are written than read.
        let written = 1.0 + VERDICT_BYTES / LINE_BYTES as f64;
        let memory_limit = channels as f64 / written;
        let limit = memory_limit.min(l1_limit);
        let run = self.dec_ttl(args.packets, args.latency, args.mcw)?;
        figures.extend([
            Figure::new(format!("dec_ttl_memory_limit_{channels}ch"), memory_limit, "packets/cycle"),
            Figure::new(format!("dec_ttl_rate_{channels}ch"), run.rate, "packets/cycle"),
            Figure::new(format!("dec_ttl_limit_ratio_{channels}ch"), run.rate / limit, "")
                .limit(Bound::AtLeast(0.85))
                .goal(Bound::AtLeast(0.95)),
        ]);
        if channels == 1 {
            figures.push(
                Figure::new("lines_per_packet", run.lines, "lines")
                    .limit(Bound::AtMost(2.2))
                    .goal(Bound::AtMost(1.0 + written)),
            );
        }
        Ok(())
    }

    /// Throughput over the latency, as shares of that with the first latency.
    fn sweep(&self, args: &Args, figures: &mut Vec<Figure>) -> anyhow::Result<()> {
        let mut first = None;
        for latency in &args.sweep {
            let rate = self.dec_ttl(args.packets, *latency, SWEEP_WARPS)?.rate;
            let relative = rate / *first.get_or_insert(rate);
            let figure = Figure::new(format!("dec_ttl_relative_latency_{latency}"), relative, "");
            figures.push(if *latency <= FLAT_LATENCY {
                figure.limit(Bound::AtLeast(0.95)).goal(Bound::AtLeast(0.99))
            } else {
                figure
            });
        }
        Ok(())
    }

    /// Runs dec-ttl on packets that are all there from the start; every result is checked.
    fn dec_ttl(&self, packets: u32, latency: u32, most: u32) -> anyhow::Result<DecTtl> {
        let entry = AppEntry::find("dec-ttl")?;
        let (app, kernel) = (entry.load(&Inputs::default())?, entry.kernel(false)?);
        let traffic = Traffic { kind: Kind::Fixed(PACKET_BYTES), seed: SEED, bad_share: 0.0, rate: 100.0 };
        let frames = Generator::new(traffic).take(packets as usize);
        let packets: Vec<_> = frames.map(|frame| SlotPacket::new(&frame, SLOT_BYTES_LOG2)).collect();
        let frames = packets.iter().map(|packet| packet.frame.clone()).collect();
        let result = self.0.run(load(&kernel, frames, latency, most), |_, _| Ok(()))?;
        check_host(app.as_ref(), &packets, &result.packets)?;

        // Commits are in order and come in bursts behind a slow warp, so the ends of the warps tell
        // the rate.
        let mut ends: Vec<u64> = result.packets.iter().map(|packet| packet.times.finish).collect();
        ends.sort_unstable();
        let (first, last) = (packets.len() / 4, packets.len() - packets.len() / 16);
        let cycles = (ends[last] - ends[first]).max(1);
        let total = result.memory.total();
        log::info!(
            "latency {latency}: {cycles} cycles for {} packets, {} for all {}; {total:?}",
            last - first,
            result.cycles,
            packets.len()
        );
        Ok(DecTtl {
            rate: (last - first) as f64 / cycles as f64,
            lines: (total.lines_read + total.lines_written) as f64 / packets.len() as f64,
        })
    }

    /// The share of one channel's bandwidth with which a buffer is read, from the first warp's
    /// start to the last one's end.
    fn stream(&self, latency: u32) -> anyhow::Result<Figure> {
        let folder = temporary_folder("hermes-")?;
        let path = folder.path().join("kernel.elf");
        build_source(
            "stream.S",
            include_str!("../../kernels-asm/bench/stream.S"),
            RegisterClass::Rv32e,
            &path,
        )?;
        let kernel = Kernel::read(&path)?;
        let warps = most_warps(self.0.config.warps as u32, 16);
        let threads = (self.0.config.cores * self.0.config.lanes) as u32 * warps;
        // All different, so that a word that is read twice or not at all shows.
        let words: Vec<u32> =
            (0..threads * STREAM_WORDS).map(|word| word.wrapping_mul(0x9e37_79b1)).collect();
        let frames = vec![vec![0; PACKET_BYTES]; threads as usize];
        let result = self.0.run(load(&kernel, frames, latency, u32::MAX), |host, setup| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let buffer = host.rmalloc("the stream's buffer", bytes.len())?;
            host.device_mut().write_memory(buffer, &bytes)?;
            let argument = [buffer, 4 * threads, STREAM_WORDS];
            setup.argument = argument.iter().flat_map(|word| word.to_le_bytes()).collect();
            Ok(())
        })?;
        for (thread, packet) in result.packets.iter().enumerate() {
            let words = words.iter().skip(thread).step_by(threads as usize);
            let sum = words.fold(0_u32, |sum, word| sum.wrapping_add(*word)) & 0x7fff_ffff;
            ensure!(
                packet.verdict == sum,
                "stream.S: thread {thread} returned {:#x}, expected {sum:#x}",
                packet.verdict
            );
        }
        let times = || result.packets.iter().map(|packet| packet.times);
        let first = times().map(|t| t.start).min().context("no packets")?;
        let last = times().map(|t| t.finish).max().context("no packets")?;
        let lines = words.len() * 4 / LINE_BYTES;
        log::info!("stream: {lines} lines in {} cycles", last - first);
        let ratio = lines as f64 / (last - first) as f64;
        let figure = Figure::new("stream_limit_ratio_1ch", ratio, "");
        Ok(figure.limit(Bound::AtLeast(0.9)).goal(Bound::AtLeast(0.97)))
    }
}

/// One thread for each frame, at most `most_warps` warps on a core.
fn load(kernel: &Kernel, frames: Vec<Vec<u8>>, latency: u32, most_warps: u32) -> Load<'_> {
    Load { kernel, frames, slot_bytes_log2: SLOT_BYTES_LOG2, latency, most_warps }
}
