//! `hermes bench chain`: chains of network functions, on tables, rules and packets that are made
//! from a seed.

use std::fs;
use std::path::Path;

use anyhow::{ensure, Context};
use hermes_rtl::config::Config;
use hermes_testbench::apps::{check_host, AppEntry, Inputs};
use hermes_testbench::chain::{Chain, ChainPlan, Surroundings, END};
use hermes_testbench::cosim::{Arrivals, Latency, RunOptions};
use hermes_testbench::slot::{self, SlotPacket};
use hermes_testbench::staging::temporary_folder;
use hermes_testbench::tables::{generate_filters, generate_routes, generate_rules, FilterKind};
use hermes_testbench::traffic::{Aim, Frame, Generator, Kind, Traffic};
use verilator_sys::ModelLibrary;

use super::figure::{Bound, Figure};
use super::packet_run::{Load, PacketRun};
use super::Subject;
use crate::array::{self, ArrayArgs};
use crate::chain::simulate::{check_counts, visits, Ran, Setting};
use crate::run::program::on_the_wire;
use crate::run::{Through, MEMORY_BYTES};

/// Seed of tables, rules and packets.
const SEED: u64 = 1;
/// Filters of the firewall, and rules of the intrusion detection, as many as the paper has.
const FILTERS: usize = 188;
const RULES: usize = 147;
/// Prefixes of the router.
const PREFIXES: usize = 10_000;
/// A rule whose pattern is shorter would drop much of what `ipsec` has encrypted.
const SHORTEST_PATTERN: usize = 6;
/// Cycles without a commit after which a run is given up.
const COMMIT_LIMIT: u64 = 100_000_000;

/// The functions: name, app, inputs, MCW from which on more warps only add latency.
const FUNCTIONS: [(&str, &str, &str, u32); 4] = [
    ("firewall", "classifier-bv", "rules = \"filters\"", 8),
    ("ipsec", "ipsec", "keys = \"keys\"", 2),
    ("nids", "nids", "rules = \"rules\"", 8),
    ("router", "route-lookup", "routes = \"routes\"", 4),
];

/// The chains of the paper.
const CHAINS: [(&str, &[&str]); 4] = [
    ("sa", &["ipsec", "nids"]),
    ("sb", &["firewall", "ipsec", "nids"]),
    ("sc", &["ipsec", "nids", "router"]),
    ("sd", &["firewall", "ipsec", "nids", "router"]),
];

const KEYS: &str = "spi 0x1001\nsource 192.0.2.1\ndestination 198.51.100.2\n\
    aes-128-ctr 2b7e151628aed2a6abf7158809cf4f3c\nnonce 00a00b30\n\
    hmac-sha1-96 0102030405060708090a0b0c0d0e0f1011121314\n";

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
    let channels = args.array.channels().unwrap_or(2);
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
        folder: temporary_folder("hermes-")?,
        aim: Aim::default(),
    }
    .with_inputs()?;
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
    folder: tempfile::TempDir,
    aim: Aim,
}

impl Bench<'_> {
    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Makes the inputs of the functions, and their manifests.
    fn with_inputs(mut self) -> anyhow::Result<Self> {
        let filters = generate_filters(FilterKind::Firewall, FILTERS, 0, SEED);
        let routes = generate_routes(PREFIXES, 16, SEED);
        let has_long_pattern = |rule: &&str| {
            let pattern = rule.split("content:\"").nth(1).and_then(|rest| rest.split('"').next());
            pattern.is_some_and(|text| text.len() >= SHORTEST_PATTERN && !text.contains('|'))
        };
        let rules = generate_rules(4 * RULES, SEED);
        let rules: Vec<_> = rules.lines().filter(has_long_pattern).take(RULES).collect();
        // The end of the tunnel is where all packets behind `ipsec` go.
        let table = format!("{}\n198.51.100.0/24 3\n", routes.to_text());
        for (name, text) in [
            ("filters", filters.to_text()),
            ("routes", table),
            ("rules", rules.join("\n") + "\n"),
            ("keys", KEYS.to_string()),
        ] {
            fs::write(self.path().join(name), text)?;
        }
        for (name, app, inputs, mcw) in FUNCTIONS {
            let mcw = mcw.min(self.config.warps as u32);
            let text = format!(
                "[function]\nname = \"{name}\"\napp = \"{app}\"\ninputs = {{ {inputs} }}\nmcw = {mcw}\ntrusted = true\n"
            );
            fs::write(self.path().join(format!("{name}.toml")), text)?;
        }
        self.aim = Aim { filters: filters.filters, routes: routes.routes, ..Aim::default() };
        Ok(self)
    }

    /// A chain of these functions for frames of so many bytes.
    fn chain(&self, functions: &[&str], bytes: usize) -> anyhow::Result<Chain> {
        let mut text = String::new();
        for (number, name) in functions.iter().enumerate() {
            let next = functions.get(number + 1).copied().unwrap_or(END);
            text += &format!("[[function]]\nmanifest = \"{name}.toml\"\nnext = \"{next}\"\n");
        }
        let path = self.path().join("chain.toml");
        fs::write(&path, text)?;
        let frame_bytes = Some(u32::try_from(bytes)?);
        let on = Surroundings { config: self.config, memory_bytes: MEMORY_BYTES, frame_bytes };
        Ok(ChainPlan::read(&path)?.place(on)?)
    }

    fn frames(&self, bytes: usize, count: usize) -> Vec<Frame> {
        let kind = Kind::Fixed(bytes);
        let traffic = Traffic { kind, seed: SEED, bad_share: 0.0, rate: 100.0 };
        Generator::aimed(traffic, self.aim.clone()).take(count).collect()
    }

    /// Runs frames through the ports of the array, as fast as it takes them; everything is compared
    /// with the golden model.
    fn run(&self, chain: &Chain, frames: &[Frame]) -> anyhow::Result<Ran> {
        let model = chain.model().map_err(|name| anyhow::anyhow!("{name} has no golden model"))?;
        let setting = Setting {
            chain,
            model: Some(&model),
            through: Through::Ports,
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
        check_counts(chain, &visits(&model, &packets), &ran.counts)?;
        Ok(ran)
    }

    /// The hop, and a packet alone: from the start at the first function to the finish at the last
    /// one of chain Sd, beside each function by itself.
    fn lone(&self) -> anyhow::Result<Vec<Figure>> {
        let (_, functions) = CHAINS[3];
        let chain = self.chain(functions, 60)?;
        let model = chain.model().map_err(|name| anyhow::anyhow!("{name} has no golden model"))?;
        let found = self.frames(60, 256).into_iter().find_map(|frame| {
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
        let frames = self.frames(bytes, packets);
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
        for (_, name, _, mcw) in FUNCTIONS {
            let entry = AppEntry::find(name)?;
            let app = entry.load(&self.inputs(name))?;
            let kernel = entry.kernel(self.config.aes)?;
            let frames = self.frames(60, packets);
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

    fn inputs(&self, app: &str) -> Inputs {
        let file = |name: &str| Some(self.path().join(name));
        match app {
            "classifier-bv" => Inputs { rules: file("filters"), ..Inputs::default() },
            "nids" => Inputs { rules: file("rules"), ..Inputs::default() },
            "route-lookup" => Inputs { routes: file("routes"), ..Inputs::default() },
            _ => Inputs { keys: file("keys"), ..Inputs::default() },
        }
    }
}
