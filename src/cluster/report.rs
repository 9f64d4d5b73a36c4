//! What `hermes cluster` tells.

use std::fmt::{self, Write as _};

use anyhow::bail;
use hermes_rtl::config::Config;
use hermes_testbench::cluster::{ClusterResult, LinkOptions, NodeReport, PortCounts};
use hermes_testbench::words::number_of;
use serde::{Serialize, Serializer};

/// What was run.
#[derive(Serialize)]
pub struct Facts {
    /// File of the kernel.
    pub kernel: String,
    /// Preset that the array started from.
    pub preset: String,
    /// Sizes of a node.
    pub cores: usize,
    pub lanes: usize,
    pub warps: usize,
    /// Maximally allowed concurrent warps per core.
    pub mcw: u32,
    /// The links.
    #[serde(serialize_with = "as_text")]
    pub link: LinkOptions,
    /// Those that differ, by node.
    #[serde(serialize_with = "each_as_text")]
    pub links: Vec<(usize, LinkOptions)>,
    /// Seed of faults and packet sequence numbers.
    pub seed: u64,
    /// The whole configuration of a node.
    pub configuration: Config,
}

fn as_text<S: Serializer>(link: &LinkOptions, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&link_text(link))
}

fn each_as_text<S: Serializer>(links: &[(usize, LinkOptions)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(links.iter().map(|(node, link)| (node, link_text(link))))
}

/// A link in words.
fn link_text(link: &LinkOptions) -> String {
    let LinkOptions { latency, rate, loss, duplicate, reorder, corrupt, corrupt_in } = link;
    let mut text = format!("{rate} Gbit/s, {latency} cycles each way");
    for (name, share) in
        [("lost", loss), ("duplicated", duplicate), ("reordered", reorder), ("damaged", corrupt)]
    {
        if *share > 0.0 {
            let _ = write!(text, ", {share} % {name}");
        }
    }
    if let Some(place) = corrupt_in.filter(|_| *corrupt > 0.0) {
        let _ = write!(text, " ({})", place.name());
    }
    text
}

/// A run of a cluster.
#[derive(Serialize)]
pub struct Report {
    #[serde(flatten)]
    facts: Facts,
    /// Cycles from the start of the kernel to the last completion of any node.
    cycles: u64,
    nodes: Vec<NodeReport>,
    ports: Vec<PortCounts>,
}

impl Report {
    pub fn new(facts: Facts, result: ClusterResult<NodeReport>) -> Self {
        let ClusterResult { nodes, ports } = result;
        let end = nodes.iter().map(|node| node.complete).max().unwrap_or(0);
        let begin = nodes.iter().map(|node| node.began).min().unwrap_or(0);
        Self { facts, cycles: end - begin, nodes, ports }
    }

    /// As text; `status`: with queue pairs and counters of every node.
    pub fn text(&self, status: bool) -> String {
        struct Text<'a>(&'a Report, bool);
        impl fmt::Display for Text<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write(f, self.1)
            }
        }
        Text(self, status).to_string().trim_end().to_string()
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, status: bool) -> fmt::Result {
        let facts = &self.facts;
        writeln!(f, "{} on {} nodes", facts.kernel, self.nodes.len())?;
        let Facts { preset, cores, lanes, warps, mcw, .. } = facts;
        writeln!(
            f,
            "  array        {preset}: {} x {}, {}, MCW {mcw}",
            number_of(*cores as u64, "core"),
            number_of(*lanes as u64, "lane"),
            number_of(*warps as u64, "warp slot")
        )?;
        writeln!(f, "  links        {}; seed {}", link_text(&facts.link), facts.seed)?;
        for (node, link) in &facts.links {
            writeln!(f, "    of node {node}  {}", link_text(link))?;
        }
        writeln!(f, "  cycles       {} from the start of the kernel to the last completion", self.cycles)?;
        let sum = |what: fn(&PortCounts) -> u64| self.ports.iter().map(what).sum::<u64>();
        writeln!(
            f,
            "  frames       {} sent, {} delivered; {} lost, {} duplicated, {} reordered, {} damaged, {} for nobody, {} without room in the switch",
            sum(|port| port.sent),
            sum(|port| port.received),
            sum(|port| port.faults.lost),
            sum(|port| port.faults.duplicated),
            sum(|port| port.faults.reordered),
            sum(|port| port.faults.corrupted),
            sum(|port| port.unknown),
            sum(|port| port.dropped)
        )?;
        writeln!(
            f,
            "  node  packets  faults  commands  completed  failed  latest code  frames sent     lost  delivered  heap CRC-32"
        )?;
        for (number, (node, port)) in self.nodes.iter().zip(&self.ports).enumerate() {
            let served = &node.served;
            let code = match served.code {
                0 => "-".to_string(),
                code => format!("{code:#04x}"),
            };
            writeln!(
                f,
                "  {number:>4}  {:>7}  {:>6}  {:>8}  {:>9}  {:>6}  {code:>11}  {:>11}  {:>7}  {:>9}  {:>#11x}",
                node.packets,
                node.faults,
                served.commands,
                served.completed,
                served.failed,
                port.sent,
                port.faults.lost,
                port.received,
                node.heap_crc
            )?;
        }
        if status {
            for (number, node) in self.nodes.iter().enumerate() {
                writeln!(f, "  network interface of node {number}")?;
                write!(f, "{}", node.status)?;
            }
        }
        Ok(())
    }

    /// Whether all went well.
    ///
    /// # Errors
    /// Commands or threads failed.
    pub fn check(&self) -> anyhow::Result<()> {
        for (number, node) in self.nodes.iter().enumerate() {
            let served = &node.served;
            if node.faults > 0 {
                bail!("node {number}: {} threads of the kernel ended with a fault", node.faults);
            }
            if served.failed > 0 {
                bail!(
                    "node {number}: {} of {} commands failed, the latest with code {:#04x} (docs/network.md)",
                    served.failed,
                    served.commands,
                    served.code
                );
            }
        }
        Ok(())
    }
}
