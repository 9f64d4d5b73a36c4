//! `hermes bench net`: puts and gets of two nodes with a switch between them, against what the wire
//! carries; and those of kernels by their command queues.

use hermes_rtl::config::Config;
use hermes_rtl::types::counter;
use hermes_testbench::cluster::{self, ClusterOptions, LinkOptions, Node, WINDOW_REGION};
use hermes_testbench::cosim::{get, put, CosimError, Latency, MemoryOptions, PostOptions};
use verilator_sys::ModelLibrary;

use super::figure::{Bound, Figure};
use super::Subject;
use crate::array;

mod incast;
mod neighbours;
mod queues;

/// Bytes of a put or a get: the paper's largest without pauses between messages that count.
const PUT_BYTES: u32 = 64 << 10;
/// Bytes of a packet, of its headers with the ICRC, of the RETH of a put's first one, of the AETH
/// of the first and last response of a READ, and the responses of a READ.
const MTU: u32 = 1024;
const HEADERS: u32 = 58;
const RETH: u32 = 16;
const AETH: u32 = 4;
const READ: u32 = 8;
/// Preamble, frame check sequence and gap.
const OVERHEAD: u32 = 24;
/// Bytes that 100 Gbit/s carry in a cycle of 1 ns.
const BYTES_A_CYCLE: f64 = 12.5;

#[derive(clap::Args)]
pub struct Args {
    /// Puts or gets of 64 KiB of each measurement; 0: none
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    puts: u32,
    /// Frames that are lost, in percent, beside none
    #[arg(long, value_name = "PERCENT,...", value_delimiter = ',', default_value = "0.1,1")]
    loss: Vec<f64>,
    /// Seed of the losses
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Cycles from a memory request to its response
    #[arg(long, value_name = "CYCLES", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    latency: u32,
    /// Puts of 8 bytes of each warp, for the rate of commands; 0: no puts of kernels are measured
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    commands: u32,
    /// Commands of a queue that may be under way, for further rates of commands: 1, 2, 4, 8
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    entries: Vec<usize>,
    /// Nodes that put to one, 1 to 7 each
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,2,4,7", value_parser = clap::value_parser!(u32).range(1..=7))]
    senders: Vec<u32>,
    /// Bytes of a put of these, 1 to 4,096 each
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "16,128,1024,4096", value_parser = clap::value_parser!(u32).range(1..=4_096))]
    incast_bytes: Vec<u32>,
    /// Cycles for which they fill its wire; 0: nothing of that is measured
    #[arg(long, value_name = "CYCLES", default_value_t = 60_000, value_parser = clap::value_parser!(u32).range(0..=10_000_000))]
    incast_cycles: u32,
}

pub fn measure(args: &Args, on: &mut Subject, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    let config = Config::preset("node")?;
    on.add(&config);
    on.seed = Some(args.seed);
    let library = array::library(&config, false, quiet, |_| {})?;
    let mut figures = vec![];
    let kinds: &[Kind] = if args.puts > 0 { &[Kind::Put, Kind::Get] } else { &[] };
    for &kind in kinds {
        let name = kind.name();
        let (best, _) = goodput(&config, &library, args, kind, 0.0)?;
        let limit = f64::from(PUT_BYTES) / f64::from(kind.bytes_on_the_wire()) * BYTES_A_CYCLE;
        figures.push(Figure::new(format!("{name}_64k_goodput"), best * 8.0, "Gbit/s"));
        figures.push(
            Figure::new(format!("{name}_64k_of_the_wire"), best / limit, "")
                .limit(Bound::AtLeast(0.95))
                .goal(Bound::AtLeast(0.98)),
        );
        for loss in &args.loss {
            let (rate, resent) = goodput(&config, &library, args, kind, *loss)?;
            let share = Figure::new(format!("{name}_64k_loss_{loss}_of_none"), rate / best, "");
            figures.push(match loss {
                0.1 => share.limit(Bound::AtLeast(0.97)).goal(Bound::AtLeast(0.99)),
                1.0 => share.limit(Bound::AtLeast(0.85)).goal(Bound::AtLeast(0.9)),
                _ => share,
            });
            figures.push(Figure::new(format!("{name}_64k_loss_{loss}_resent"), f64::from(resent), "packets"));
        }
    }
    if args.commands > 0 {
        figures.extend(queues::measure(args, on, quiet)?);
        figures.extend(neighbours::measure(args, on, quiet)?);
    }
    if args.incast_cycles > 0 {
        figures.extend(incast::measure(args, on, quiet)?);
    }
    Ok(figures)
}

/// What is measured.
#[derive(Clone, Copy)]
enum Kind {
    Put,
    Get,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
        }
    }

    /// Bytes that the direction of the payload carries for one of them, with preambles and gaps.
    const fn bytes_on_the_wire(self) -> u32 {
        let packets = PUT_BYTES / MTU;
        let more = match self {
            Self::Put => RETH,
            Self::Get => packets / READ * 2 * AETH,
        };
        PUT_BYTES + packets * (HEADERS + OVERHEAD) + more
    }
}

/// Bytes a cycle that node 0 puts into the memory of node 1, or gets from there, and packets that
/// were sent again, with so many frames lost in both directions.
fn goodput(
    config: &Config,
    library: &ModelLibrary,
    args: &Args,
    kind: Kind,
    loss: f64,
) -> anyhow::Result<(f64, u32)> {
    let memory = MemoryOptions { latency: Latency::Fixed(args.latency), ..MemoryOptions::default() };
    let link = LinkOptions { loss, ..LinkOptions::default() };
    let options =
        ClusterOptions { nodes: 2, link, memory, seed: args.seed, threads: 2, ..ClusterOptions::default() };
    let result = cluster::run(library, &options, |node| {
        let window = node.host.rmalloc("the window", 2 * PUT_BYTES as usize)?;
        node.connect_mesh(window, 2 * PUT_BYTES)?;
        if node.number == 1 {
            return Ok((0, 0));
        }
        let cycles = move_all(node, kind, window, args.puts, config.net_queue_entries as u32)?;
        Ok((cycles, node.host.network_counter(counter::RESENT)?))
    })?;
    let (cycles, resent) = result.nodes[0];
    Ok((f64::from(args.puts) * f64::from(PUT_BYTES) / cycles as f64, resent))
}

/// Puts the first half of the window into the second half of node 1's, or gets the other way, over
/// and over, `room` of them at once: cycles from the first post until all are complete.
fn move_all(node: &mut Node, kind: Kind, window: u32, puts: u32, room: u32) -> Result<u64, CosimError> {
    let command = match kind {
        Kind::Put => put(window + PUT_BYTES, window, PUT_BYTES),
        Kind::Get => get(window, window + PUT_BYTES, PUT_BYTES),
    };
    let options = PostOptions { region: WINDOW_REGION, domain: 0 };
    // The stage holds the command: what follows is posted by one write.
    let begin = node.host.device_mut().cycle();
    node.host.post(1, &command, options)?;
    let mut posted = 1;
    loop {
        let completed = node.host.read("NET_COMPLETED")?;
        if completed == puts {
            return Ok(node.host.device_mut().cycle() - begin);
        }
        if posted < puts && posted - completed < room {
            node.host.write("NET_POST", 1 | WINDOW_REGION << 8)?;
            posted += 1;
        }
    }
}
