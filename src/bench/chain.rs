//! `hermes bench chain`: chains of network functions, on tables, rules and packets that are made
//! from a seed.

use anyhow::{ensure, Context};
use hermes_rtl::config::Config;
use hermes_testbench::apps::AppEntry;
use hermes_testbench::chain::paper::{PaperChains, PaperFunction, CHAINS, FUNCTIONS};
use hermes_testbench::chain::{check_counts, check_ways, visits, Chain, Ran, Setting, Sharing};
use hermes_testbench::cosim::{Arrivals, Latency, RunOptions};
use hermes_testbench::outcome::check_host;
use hermes_testbench::slot::{self, SlotPacket};
use hermes_testbench::traffic::Frame;
use verilator_sys::ModelLibrary;

use super::figure::{Bound, Figure};
use super::packet_run::{Load, PacketRun};
use super::Subject;
use crate::array::{self, ArrayArgs};
use crate::run::program::on_the_wire;
use crate::run::MEMORY_BYTES;

/// Seed of tables, rules and packets.
const SEED: u64 = 1;
/// Cycles without a commit after which a run is given up.
const COMMIT_LIMIT: u64 = 100_000_000;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    array: ArrayArgs,
    /// Packets of a run
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(32..=262_144))]
    packets: u32,
    /// Bytes of the frames, without FCS
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "60,508,1514", value_parser = clap::value_parser!(u16).range(60..=9000))]
    bytes: Vec<u16>,
    /// Cycles from a memory request to its response
    #[arg(long, value_name = "CYCLES", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    latency: u32,
    /// Leave out the comparison with the array without network functions, whose model takes as long
    /// to build as the other one
    #[arg(long)]
    without_comparison: bool,
}

pub fn measure(args: &Args, on: &mut Subject, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    let preset = args.array.config_or("paper")?;
    let channels = args.array.given("channels").unwrap_or(2);
    let config = Config {
        channels,
        l2_banks: preset.l2_banks.max(channels),
        network_functions: preset.network_functions.max(4),
        packet_ports: true,
        aes: true,
        ..preset
    };
    config.validate()?;
    ensure!(config.cores >= 4, "--cores {}: expected 4 or more, a core for each function", config.cores);
    on.add(&config);
    on.seed = Some(SEED);
    let bench = Bench {
        library: array::library(&config, false, quiet, |_| {})?,
        config: &config,
        latency: args.latency,
        chains: PaperChains::create(SEED)?,
    };
    let mut figures = bench.lone()?;
    for (name, functions) in CHAINS {
        for bytes in &args.bytes {
            figures.extend(bench.rate(name, functions, usize::from(*bytes), args.packets as usize)?);
        }
    }
    if !args.without_comparison {
        figures.extend(bench.alone(args.packets as usize, quiet)?);
    }
    Ok(figures)
}

/// The array and what its functions look up.
struct Bench<'a> {
    library: ModelLibrary,
    config: &'a Config,
    latency: u32,
    chains: PaperChains,
}

impl Bench<'_> {
    /// A chain of these functions for frames of so many bytes.
    fn chain(&self, functions: &[&str], bytes: usize) -> anyhow::Result<Chain> {
        self.chains.chain(functions, self.config, MEMORY_BYTES, bytes)
    }

    /// Runs frames through the ports of the array, as fast as it takes them; everything is compared
    /// with the golden model.
    fn run(&self, chain: &Chain, frames: &[Frame]) -> anyhow::Result<Ran> {
        let model = chain.model().map_err(|name| anyhow::anyhow!("{name} has no golden model"))?;
        let setting = Setting {
            chain,
            model: Some(&model),
            ports: true,
            memory_bytes: MEMORY_BYTES,
            sharing: Sharing::Spatial,
            live: None,
            latency: Latency::Fixed(self.latency),
            timeout: 256,
            options: RunOptions {
                commit_limit: COMMIT_LIMIT,
                arrivals: Arrivals::Taken,
                ..RunOptions::default()
            },
        };
        let packets: Vec<_> =
            frames.iter().map(|frame| SlotPacket::new(frame, chain.slot_bytes_log2)).collect();
        let arriving = on_the_wire(frames, vec![0; frames.len()]);
        let ran = setting.simulate(self.library.instantiate()?, &packets, &arriving, &mut |_| {})?;
        let visits = visits(&model, &packets);
        check_ways(chain, &visits, &ran.ways)?;
        check_counts(chain, &visits, &ran.counts)?;
        Ok(ran)
    }

    /// The hop, and a packet alone: from the start at the first function to the finish at the last
    /// one of chain Sd, beside each function by itself.
    fn lone(&self) -> anyhow::Result<Vec<Figure>> {
        let (_, functions) = CHAINS[3];
        let chain = self.chain(functions, 60)?;
        let model = chain.model().map_err(|name| anyhow::anyhow!("{name} has no golden model"))?;
        let found = self.chains.frames(functions, 60, 256).into_iter().find_map(|frame| {
            let packet = SlotPacket::new(&frame, chain.slot_bytes_log2);
            let visits = model.follow(0, &packet).1;
            (visits.len() == functions.len()).then_some((frame, visits))
        });
        let (frame, visits) = found.context("no packet that every function forwards")?;
        let ran = self.run(&chain, std::slice::from_ref(&frame))?;
        let hops: Vec<u64> = ran.times.iter().flat_map(|times| &times.waits).copied().collect();
        let stays: u64 = ran.times.iter().flat_map(|times| &times.stays).sum();
        let lone = stays + hops.iter().sum::<u64>();
        let mut alone = 0;
        for (name, visit) in functions.iter().zip(&visits) {
            let data = visit.packet.frame.clone();
            let came = Frame { wire_length: data.len() as u32, data, ..frame.clone() };
            let own = self.chain(&[name], came.data.len())?;
            let ran = self.run(&own, &[came])?;
            alone += ran.times.iter().flat_map(|times| &times.stays).sum::<u64>();
        }
        // The finish is told a cycle behind its transfer.
        let hop = hops.iter().max().copied().map_or(0, |wait| wait + 1) as f64;
        let more = (lone as f64 - alone as f64) / hops.len() as f64;
        Ok(vec![
            Figure::new("hop_cycles", hop, "cycles").limit(Bound::AtMost(6.0)).goal(Bound::AtMost(4.0)),
            Figure::new("lone_sd_cycles", lone as f64, "cycles"),
            Figure::new("lone_functions_cycles", alone as f64, "cycles"),
            Figure::new("lone_sd_more_per_hop", more, "cycles")
                .limit(Bound::AtMost(10.0))
                .goal(Bound::AtMost(6.0)),
        ])
    }

    /// The rate of a chain with frames of a size.
    fn rate(
        &self,
        name: &str,
        functions: &[&str],
        bytes: usize,
        packets: usize,
    ) -> anyhow::Result<Vec<Figure>> {
        let chain = self.chain(functions, bytes)?;
        let frames = self.chains.frames(functions, bytes, packets);
        let ran = self.run(&chain, &frames).with_context(|| format!("{name}, {bytes} bytes"))?;
        let cycles = ran.result.cycles.max(1) as f64;
        let all: usize = frames.iter().map(|frame| frame.data.len()).sum();
        Ok(vec![
            Figure::new(format!("{name}_mpps_{bytes}B"), packets as f64 / cycles * 1e3, "million packets/s"),
            Figure::new(format!("{name}_gbps_{bytes}B"), all as f64 * 8.0 / cycles, "Gbit/s"),
        ])
    }

    /// Each app on the array with network functions, as the only one, over the same on the array
    /// without.
    fn alone(&self, packets: usize, quiet: bool) -> anyhow::Result<Vec<Figure>> {
        let plain = Config { network_functions: 0, ..self.config.clone() };
        let [with, without] = [PacketRun::new(self.config.clone(), quiet)?, PacketRun::new(plain, quiet)?];
        let mut figures = Vec::new();
        for PaperFunction { app: name, knee: mcw, .. } in FUNCTIONS {
            let entry = AppEntry::find(name)?;
            let app = entry.load(&self.chains.inputs(name))?;
            let kernel = entry.kernel(self.config.aes)?;
            let frames = self.chains.frames(&[], 60, packets);
            let slot_bytes_log2 = slot::bytes_log2_for(&frames, app.growth());
            let packets: Vec<_> =
                frames.iter().map(|frame| SlotPacket::new(frame, slot_bytes_log2)).collect();
            let cycles = |run: &PacketRun| -> anyhow::Result<u64> {
                let load = Load {
                    kernel: &kernel,
                    frames: packets.iter().map(|packet| packet.frame.clone()).collect(),
                    slot_bytes_log2,
                    latency: self.latency,
                    most_warps: mcw,
                };
                let result = run.run(load, |host, setup| Ok(host.load_app(app.as_ref(), setup)?))?;
                check_host(app.as_ref(), &packets, &result.packets)?;
                Ok(result.cycles)
            };
            let ratio = cycles(&without)? as f64 / cycles(&with)? as f64;
            figures.push(
                Figure::new(format!("{name}_with_over_without"), ratio, "")
                    .limit(Bound::AtLeast(0.98))
                    .goal(Bound::AtLeast(1.0)),
            );
        }
        Ok(figures)
    }
}
