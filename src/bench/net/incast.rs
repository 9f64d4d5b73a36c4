//! Puts of one to seven nodes to one: how full the wire of that node is, and what is sent again.

use hermes_rtl::config::Config;
use hermes_rtl::types::counter;
use hermes_testbench::cluster::{QueueMode, MOST_NODES};

use super::super::figure::{Bound, Figure};
use super::super::Subject;
use super::queues::{counted, Job, BANK_LINES, CORES};
use super::{Args, BYTES_A_CYCLE, HEADERS, OVERHEAD, RETH};

const SOURCE: &str = include_str!("../../../kernels-asm/bench/incast.c");
/// Bytes of the heap: 4 KiB for each warp of eight nodes.
const HEAP: u32 = 1 << 20;

/// What is measured: bytes of a put, of the packets, and of a burst.
#[derive(Clone, Copy)]
struct Load {
    bytes: u32,
    mtu: u32,
    senders: usize,
    /// They put to all other nodes in turn.
    spread: bool,
    /// Puts of a warp at once, every 5,000 cycles; 0: without a pause.
    burst: u32,
}

/// What came of it.
struct Outcome {
    /// Bytes on the wire in a cycle, of frames that were not sent before.
    rate: f64,
    /// Packets that were sent again, of all that had to be sent.
    resent: f64,
    /// Frames that the receiver had no room for, and time-outs of the senders.
    dropped: f64,
    timeouts: f64,
    /// Time of the sender that is done last, of that of the one that is done first.
    last_of_first: f64,
}

pub fn measure(args: &Args, on: &mut Subject, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    let config = Config { cores: CORES, l2_bank_lines: BANK_LINES, ..Config::preset("node")? };
    config.validate()?;
    on.add(&config);
    let mut figures = vec![];
    for bytes in &args.incast_bytes {
        let load = Load { bytes: *bytes, mtu: 1024, senders: 1, spread: true, burst: 0 };
        let own = load.run(&config, args, quiet)?.rate;
        for senders in &args.senders {
            let load = Load { senders: *senders as usize, spread: false, ..load };
            figures.extend(load.figures(own, &config, args, quiet)?);
        }
    }
    // Seven windows of 32 packets of 4 KiB are three times what the switch has room for.
    let most = args.senders.iter().max().map_or(1, |most| *most as usize);
    let load = Load { bytes: 4096, mtu: 4096, senders: most, spread: false, burst: 0 };
    figures.extend(load.figures(f64::INFINITY, &config, args, quiet)?);
    let load = Load { bytes: 1024, mtu: 1024, burst: 8, ..load };
    let outcome = load.run(&config, args, quiet)?;
    figures.push(again(format!("{}_resent", load.name()), outcome.resent));
    Ok(figures)
}

fn again(name: String, share: f64) -> Figure {
    Figure::new(name, share, "").limit(Bound::AtMost(0.05)).goal(Bound::AtMost(0.01))
}

impl Load {
    fn name(&self) -> String {
        let mtu = if self.mtu == 1024 { String::new() } else { format!("_mtu_{}", self.mtu) };
        let burst = if self.burst == 0 { "" } else { "_bursts" };
        format!("incast_{}_of_{}{mtu}{burst}", self.bytes, self.senders)
    }

    /// Bytes of a put on the wire, and its packets.
    fn on_the_wire(&self) -> (u32, u32) {
        let packets = self.bytes.div_ceil(self.mtu);
        (self.bytes.next_multiple_of(4) + packets * (HEADERS + OVERHEAD) + RETH, packets)
    }

    /// The share of the receiver's wire, with its limit: 0.9, or 0.95 of what the senders send by
    /// themselves, each `own` bytes a cycle; and what is sent again.
    fn figures(&self, own: f64, config: &Config, args: &Args, quiet: bool) -> anyhow::Result<Vec<Figure>> {
        let outcome = self.run(config, args, quiet)?;
        let name = self.name();
        let limit = (own * self.senders as f64 / BYTES_A_CYCLE * 0.95).min(0.9);
        let fill = Figure::new(format!("{name}_of_the_wire"), outcome.rate / BYTES_A_CYCLE, "");
        Ok(vec![
            fill.limit(Bound::AtLeast(limit)),
            again(format!("{name}_resent"), outcome.resent),
            Figure::new(format!("{name}_no_room"), outcome.dropped, "frames"),
            Figure::new(format!("{name}_time_outs"), outcome.timeouts, ""),
            Figure::new(format!("{name}_last_of_first"), outcome.last_of_first, ""),
        ])
    }

    fn run(&self, config: &Config, args: &Args, quiet: bool) -> anyhow::Result<Outcome> {
        let warps = config.cores * config.warps;
        let (bytes, packets) = self.on_the_wire();
        // So many that the wire of the receiver is busy for that many cycles
        let all = f64::from(args.incast_cycles) * BYTES_A_CYCLE / f64::from(bytes);
        let mut puts = (all / (self.senders * warps) as f64).ceil().max(4.0) as u32;
        if self.spread {
            puts = puts.next_multiple_of(MOST_NODES as u32 - 1);
        }
        let job = Job {
            mode: QueueMode::Queues,
            source: SOURCE,
            warps,
            own: &[
                puts,
                self.bytes,
                config.lanes as u32,
                warps as u32,
                self.senders as u32,
                u32::from(self.spread),
                self.burst,
            ],
            heap_bytes: HEAP,
            silent: false,
            nodes: if self.spread { MOST_NODES } else { self.senders + 1 },
            mtu: self.mtu,
        };
        let result = job.run_all(config, args, quiet)?;
        let (mut resent, mut timeouts) = (0.0, 0.0);
        for node in &result.nodes[1..=self.senders] {
            anyhow::ensure!(node.service.failed == 0, "a put failed: {:?}", node.service);
            resent += counted(node, counter::RESENT);
            timeouts += counted(node, counter::TIMEOUTS);
        }
        let all = f64::from(puts) * (self.senders * warps) as f64;
        // The first puts of all warps go to node 0, and the last ones to another: the time is that
        // of all nodes that they go to.
        let receivers = (0..job.nodes).filter(|node| *node == 0 || (self.spread && *node != 1));
        let ports: Vec<_> = receivers.map(|node| result.ports[node]).collect();
        let from = ports.iter().map(|port| port.received_from).min().unwrap_or(0);
        let to = ports.iter().map(|port| port.received_to).max().unwrap_or(0);
        let cycles = (to - from) as f64;
        // A sender is done when the last ACK has come to it.
        let ends = (1..=self.senders).map(|node| result.ports[node].received_to.saturating_sub(from));
        let (first, last) = (ends.clone().min().unwrap_or(0), ends.max().unwrap_or(0));
        Ok(Outcome {
            rate: all * f64::from(bytes) / cycles,
            resent: resent / (all * f64::from(packets)),
            dropped: counted(&result.nodes[0], counter::NO_ROOM),
            timeouts,
            last_of_first: last as f64 / first as f64,
        })
    }
}
