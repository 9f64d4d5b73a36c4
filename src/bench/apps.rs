//! `hermes bench apps`: throughput of every app on tables, rules and packets that are made from a
//! seed.

use hermes_experiments::{Parameters, Program};
use hermes_rtl::config::Config;
use hermes_testbench::apps::{App, AppEntry, APPS};
use hermes_testbench::cosim::RunResult;
use hermes_testbench::kernel::Kernel;
use hermes_testbench::metrics::{Clock, FrameLines, SteadyState};
use hermes_testbench::outcome::check_host;
use hermes_testbench::slot::{self, SlotPacket};
use hermes_testbench::traffic::Kind;

use super::figure::{Bound, Figure};
use super::packet_run::{Load, PacketRun};
use super::Subject;
use crate::array::ArrayArgs;

/// The MCW whose figures carry no suffix.
const REFERENCE_WARPS: u32 = 16;
/// Seed of tables, rules and packets.
const SEED: u64 = 1;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    array: ArrayArgs,
    /// Apps to measure, instead of all
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    apps: Vec<String>,
    /// Packets of a run, instead of two for every thread that is there at the largest MCW (a
    /// quarter of that for ipsec); the steady state is told of 8 for every thread at an MCW, so
    /// that 65536 gives it for all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(32..=262_144))]
    packets: Option<u32>,
    /// Cycles from a memory request to its response
    #[arg(long, value_name = "CYCLES", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    latency: u32,
    /// Clock that Gbit/s are told at; the limits hold at 1000 MHz and are left out with another one
    #[arg(long, value_name = "MHZ", default_value = "1000")]
    clock: Clock,
    /// Maximally allowed concurrent warps to measure with; those that the kernel's registers do not
    /// allow are left out
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "4,8,12,16,32")]
    mcw: Vec<u32>,
}

/// Packets of a run: their kind, and the name that its figures have.
const SIZES: [(&str, Kind); 2] = [("64B", Kind::Fixed(64)), ("imix", Kind::Imix)];

/// The largest throughput that the paper gives for an app, in Gbit/s (Hermes, Table 2).
fn published(app: &str) -> Option<f64> {
    match app {
        "classifier" => Some(48.5),
        "dpi" => Some(57.0),
        "route-lookup" => Some(121.3),
        "dec-ttl" => Some(258.0),
        _ => None,
    }
}

/// What an app must reach with packets of a size: longer frames whose payload did not move would
/// meet any limit.
fn limit(app: &str, size: &str, moved: bool) -> Option<f64> {
    published(app).filter(|_| moved || size == "64B")
}

pub fn measure(args: &Args, on: &mut Subject, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    let preset = args.array.config_or("paper")?;
    // Two channels are what the figures are asked for, unless the user asks for another number.
    let channels = args.array.given("channels").unwrap_or(2);
    let config = Config { channels, l2_banks: preset.l2_banks.max(channels), ..preset };
    let entries: Vec<&AppEntry> = if args.apps.is_empty() {
        APPS.iter().collect()
    } else {
        args.apps.iter().map(|name| AppEntry::find(name)).collect::<Result<_, _>>()?
    };
    on.add(&config);
    on.seed = Some(SEED);
    let run = PacketRun::new(config, quiet)?;
    let mut figures = Vec::new();
    if args.clock != Clock::GIGAHERTZ {
        figures.push(Figure::new("clock", args.clock.megahertz(), "MHz"));
    }
    for entry in entries {
        measure_app(args, &run, entry, &mut figures)?;
    }
    Ok(figures)
}

/// What a run gave.
struct Measured {
    packets_per_cycle: f64,
    bits_per_cycle: f64,
    /// Lines that moved between the array and its memory for a packet.
    lines: f64,
    /// The same of the middle of the run, if it is long enough.
    steady_state: Option<SteadyState>,
    frame_lines: FrameLines,
    lane_cycles: f64,
    lane_instructions: f64,
    efficiency: f64,
}

fn measure_app(
    args: &Args,
    run: &PacketRun,
    entry: &'static AppEntry,
    figures: &mut Vec<Figure>,
) -> anyhow::Result<()> {
    let of_app = Parameters::of(entry.name)?;
    let parameters = Parameters { array: run.config.clone(), mcw: 1, seed: SEED, ..of_app };
    let program = Program::create(&parameters)?;
    let (app, kernel) = (program.app.as_ref(), &program.kernel);
    let most = program.most_warps(run.config.warps);
    let threads = (run.config.cores * run.config.lanes) as u32;
    let share = if entry.name == "ipsec" { 4 } else { 1 };
    let packets = args.packets.unwrap_or(2 * threads * most / share) as usize;
    for (size, kind) in SIZES {
        let frames = program.frames(kind, SEED, packets);
        let slot_bytes_log2 = slot::bytes_log2_for(&frames, app.growth());
        let packets: Vec<_> = frames.iter().map(|frame| SlotPacket::new(frame, slot_bytes_log2)).collect();
        for &mcw in args.mcw.iter().filter(|&&mcw| mcw <= most) {
            let measured = one(run, app, kernel, &packets, slot_bytes_log2, mcw, args.latency)?;
            let suffix = if mcw == REFERENCE_WARPS { String::new() } else { format!("_mcw{mcw}") };
            let name = |what: &str| format!("{}_{what}{suffix}", entry.name);
            let gigahertz = args.clock.gigahertz();
            figures.extend([
                Figure::new(
                    name(&format!("mpps_{size}")),
                    1e3 * measured.packets_per_cycle * gigahertz,
                    "million packets/s",
                ),
                Figure::new(name(&format!("lines_{size}")), measured.lines, "lines a packet"),
            ]);
            let moved = measured.frame_lines.payload_moved;
            let unit = if moved { "Gbit/s" } else { "Gbit/s of frames, payload not moved" };
            let figure =
                Figure::new(name(&format!("gbps_{size}")), measured.bits_per_cycle * gigahertz, unit);
            let limit = limit(entry.name, size, moved)
                .filter(|_| mcw == REFERENCE_WARPS && args.clock == Clock::GIGAHERTZ);
            figures.push(match limit {
                Some(limit) => figure.limit(Bound::AtLeast(limit)),
                None => figure,
            });
            if let Some(steady) = &measured.steady_state {
                let (packets, bits) = (steady.packets_per_cycle, steady.bits_per_cycle);
                let mpps = name(&format!("steady_mpps_{size}"));
                figures.extend([
                    Figure::new(mpps, 1e3 * packets * gigahertz, "million packets/s"),
                    Figure::new(name(&format!("steady_gbps_{size}")), bits * gigahertz, unit),
                ]);
            }
            if size == "64B" {
                figures.extend([
                    Figure::new(name("lane_cycles_per_packet"), measured.lane_cycles, "cycles"),
                    Figure::new(name("instructions_per_packet"), measured.lane_instructions, ""),
                    Figure::new(name("simd_efficiency"), measured.efficiency, ""),
                ]);
            }
        }
    }
    Ok(())
}

/// Runs an app once, with every result checked.
fn one(
    run: &PacketRun,
    app: &dyn App,
    kernel: &Kernel,
    packets: &[SlotPacket],
    slot_bytes_log2: u32,
    most_warps: u32,
    latency: u32,
) -> anyhow::Result<Measured> {
    let load = Load {
        kernel,
        frames: packets.iter().map(|packet| packet.frame.clone()).collect(),
        slot_bytes_log2,
        latency,
        most_warps,
    };
    let result = run.run(load, |host, setup| Ok(host.load_app(app, setup)?))?;
    check_host(app, packets, &result.packets)?;
    let wave = (run.config.cores * run.config.lanes) as u64 * u64::from(most_warps);
    Ok(measured(run, packets, &result, wave))
}

/// What `result` tells of a run with up to `wave` packets on the cores at a time.
fn measured(run: &PacketRun, packets: &[SlotPacket], result: &RunResult, wave: u64) -> Measured {
    let bits: u64 = packets.iter().map(|packet| 8 * packet.wire_length() as u64).sum();
    let times = || result.packets.iter().map(|packet| packet.times);
    let first = times().map(|times| times.start).min().unwrap_or(0);
    let last = times().map(|times| times.commit).max().unwrap_or(0);
    let cycles = (last - first).max(1) as f64;
    let sum = |what: fn(&hermes_testbench::cosim::CoreCounters) -> u32| {
        result.counters.iter().map(|core| f64::from(what(core))).sum::<f64>()
    };
    let (instructions, lane_instructions) = (sum(|c| c.core.instructions), sum(|c| c.core.lane_instructions));
    let memory = result.memory.total();
    let lengths: Vec<_> = packets.iter().map(|packet| packet.wire_length() as u64).collect();
    let steady_state = SteadyState::of(&times().collect::<Vec<_>>(), &lengths, wave, false);
    let (lanes, count) = (run.config.lanes as f64, packets.len() as f64);
    Measured {
        packets_per_cycle: count / cycles,
        bits_per_cycle: bits as f64 / cycles,
        lines: (memory.lines_read + memory.lines_written) as f64 / count,
        steady_state,
        frame_lines: FrameLines::new(packets.iter().map(SlotPacket::lines).sum(), memory.ring_lines_read),
        lane_cycles: cycles * run.config.cores as f64 * lanes / count,
        lane_instructions: lane_instructions / count,
        efficiency: lane_instructions / (instructions * lanes).max(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::limit;

    #[test]
    fn only_what_moved_is_held_against_a_limit() {
        assert_eq!(limit("dec-ttl", "64B", false), Some(258.0));
        assert_eq!(limit("dec-ttl", "imix", false), None);
        assert_eq!(limit("dpi", "imix", true), Some(57.0));
        assert_eq!(limit("nids", "64B", true), None, "the paper has no figure");
    }
}
