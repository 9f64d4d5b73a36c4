//! What `hermes cluster` tells.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use anyhow::{bail, Context as _};
use hermes_rtl::config::Config;
use hermes_testbench::cluster::{ClusterResult, LinkOptions, NodeReport, PortCounts, ServiceCounts};
use hermes_testbench::cosim::Code;
use hermes_testbench::kernel::Kernel;
use hermes_testbench::metrics::{name_verdicts, FaultCause, PacketRecord};
use hermes_testbench::verdict::Verdict;
use hermes_testbench::words::number_of;
use serde::{Serialize, Serializer};

use super::service::ServiceFacts;
use super::workload::WorkloadReport;
use crate::print;
use crate::run::outcome::fault_causes;
use hermes_testbench::slot::wrong_lengths;

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
    /// Who serves the commands of a node; itself, if it is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceFacts>,
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

impl NodeLine {
    fn of(report: NodeReport, kernel: &Kernel, code: &Code<'_>) -> Self {
        let outcome = &report.outcome;
        let mut memory = outcome.memory.clone();
        memory.add_kernel(kernel);
        let packets = (0..).zip(outcome.words.iter().flat_map(|(word, count)| vec![*word; *count]));
        let records: Vec<_> = packets
            .map(|(packet, word)| PacketRecord { packet, verdict: Verdict(word), times: None })
            .collect();
        let threads = outcome.faults.into();
        let fault_causes = fault_causes(&outcome.fault_records, &records, threads, code, &memory);
        let verdicts = name_verdicts(&records, threads, &outcome.fault_records, Verdict::to_string);
        let drops = |record: &&PacketRecord| !record.verdict.is_forward() && !record.verdict.is_fault();
        let dropped = records.iter().filter(drops).count();
        Self { report, dropped, verdicts, fault_causes }
    }
}

/// A run of a cluster.
#[derive(Serialize)]
pub struct Report {
    #[serde(flatten)]
    facts: Facts,
    /// Cycles from the start of the kernel to the last completion of any node.
    cycles: u64,
    /// Of a kernel whose work is known, what it measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    workload: Option<WorkloadReport>,
    nodes: Vec<NodeLine>,
    ports: Vec<PortCounts>,
    #[serde(skip)]
    slot_bytes_log2: u32,
}

/// A node, with what is told of its packets.
#[derive(Serialize)]
struct NodeLine {
    #[serde(flatten)]
    report: NodeReport,
    /// Packets that the kernel dropped.
    dropped: usize,
    /// Packets of each verdict, by name.
    verdicts: BTreeMap<String, usize>,
    /// What threads faulted of.
    fault_causes: Vec<FaultCause>,
}

impl Report {
    /// What came of a run of `kernel`, whose packets had slots of `1 << slot_bytes_log2` bytes.
    pub fn new(
        facts: Facts,
        workload: Option<WorkloadReport>,
        result: ClusterResult<NodeReport>,
        kernel: &Kernel,
        slot_bytes_log2: u32,
    ) -> Self {
        let ClusterResult { nodes, ports } = result;
        let end = nodes.iter().map(|node| node.complete).max().unwrap_or(0);
        let begin = nodes.iter().map(|node| node.began).min().unwrap_or(0);
        let code = Code::new(Some(kernel), None);
        let nodes = nodes.into_iter().map(|report| NodeLine::of(report, kernel, &code)).collect();
        Self { facts, cycles: end - begin, workload, nodes, ports, slot_bytes_log2 }
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
        if let Some(service) = &facts.service {
            writeln!(f, "  service      {}", service.text())?;
        }
        writeln!(f, "  cycles       {} from the start of the kernel to the last completion", self.cycles)?;
        if let Some(workload) = &self.workload {
            writeln!(f, "  {:<12} {}", workload.name, workload.text())?;
        }
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
            "  node  packets  dropped  faults  commands  completed  failed  latest code  frames sent     lost  delivered  heap CRC-32"
        )?;
        for (number, (line, port)) in self.nodes.iter().zip(&self.ports).enumerate() {
            let node = &line.report;
            let served = &node.served;
            let code = match served.code {
                0 => "-".to_string(),
                code => format!("{code:#04x}"),
            };
            writeln!(
                f,
                "  {number:>4}  {:>7}  {:>7}  {:>6}  {:>8}  {:>9}  {:>6}  {code:>11}  {:>11}  {:>7}  {:>9}  {:>#11x}",
                node.packets,
                line.dropped,
                node.outcome.faults,
                served.commands,
                served.completed,
                served.failed,
                port.sent,
                port.faults.lost,
                port.received,
                node.heap_crc
            )?;
        }
        for (number, node) in self.nodes.iter().enumerate() {
            if let Some(ServiceCounts { messages, signals, busy_cycles, waiting_cycles }) =
                node.report.service
            {
                let mean = waiting_cycles / messages.max(1);
                writeln!(
                    f,
                    "  threads of node {number}  {messages} messages, {mean} cycles each in the mean, busy for {busy_cycles} cycles; {signals} signals with their puts"
                )?;
            }
        }
        for (number, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.dropped > 0) {
            let drops = node.verdicts.iter().filter(|(name, _)| name.starts_with("drop"));
            let drops: Vec<_> = drops.map(|(name, count)| format!("{count} {name}")).collect();
            writeln!(f, "  dropped by node {number}  {}", drops.join(", "))?;
        }
        if status {
            for (number, NodeLine { report: node, .. }) in self.nodes.iter().enumerate() {
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
            let NodeReport { served, outcome, packets, .. } = &node.report;
            wrong_lengths(outcome.wrong_lengths.iter().copied(), self.slot_bytes_log2)
                .with_context(|| format!("node {number}"))?;
            let refused = outcome.bus_errors.lines();
            let lines: Vec<_> = node.fault_causes.iter().map(ToString::to_string).chain(refused).collect();
            lines.iter().for_each(|line| print::error(format_args!("node {number}: {line}")));
            if outcome.faults > 0 {
                let all = number_of(*packets as u64, "packet");
                bail!("node {number}: {} of {all} ended with a fault", outcome.faults);
            }
            if !lines.is_empty() {
                let count = number_of(outcome.bus_errors.count, "line");
                bail!("node {number}: memory refused {count}");
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
        self.workload.as_ref().map_or(Ok(()), WorkloadReport::check)
    }
}
