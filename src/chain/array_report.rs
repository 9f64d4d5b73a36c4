//! What became of the packets at each function of a chain, and when, on an array.

use std::collections::BTreeMap;
use std::fmt;

use hermes_rtl::config::Config;
use hermes_testbench::chain::OnHang;
use hermes_testbench::cosim::FaultRecord;
use hermes_testbench::metrics::{Clock, Delays, Distribution};
use serde::Serialize;

/// Packets by verdict, in words.
pub type Verdicts = BTreeMap<String, u64>;

/// A function in a report.
#[derive(Clone, Debug, Serialize)]
pub struct ArrayFunction {
    /// Its name.
    pub name: String,
    /// SHA-256 of its kernel, linked to where it lies.
    pub kernel: String,
    /// SHA-256 of its tables as they were at the start.
    pub tables: String,
    /// Its cores.
    pub cores: usize,
    /// Its warps on a core at most: at the start, if that changed.
    pub mcw: u32,
    /// Packets that came to it.
    pub packets: u64,
    /// Packets that it forwarded.
    pub forwarded: u64,
    /// Packets that it dropped, faults among them.
    pub dropped: u64,
    /// Threads that ended with a fault.
    pub faulted: u64,
    /// Packets by verdict, in words: as the golden model has them, if the chain has one. `not
    /// known` are those that a function before may have changed before the watchdog ended it.
    pub verdicts: Verdicts,
    /// Warps that were started.
    pub warps: u64,
    /// Packets of a warp, in the mean.
    pub lanes_per_visit: f64,
    /// Cycles of its cores with a warp, for each packet.
    pub core_cycles_per_packet: f64,
    /// Instructions of warps in such a cycle of a core.
    pub ipc: f64,
    /// Most warps that waited for it at a time.
    pub most_waiting: u64,
    /// Start less the finish at the function before, of each packet, in cycles: the hop, with the
    /// wait for a warp slot. Of the first function all 0: what packets wait for it is told with the
    /// delays.
    pub wait: Distribution,
    /// Finish less start, of each packet, in cycles.
    pub stay: Distribution,
}

/// A change that was made while packets flowed.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeReport {
    /// What it did.
    pub what: String,
    /// From when on it was to be made.
    pub when: String,
    /// Packets that had started when it began.
    pub packets: u64,
    /// The cycle of the run in which it began.
    pub began: Option<u64>,
    /// The cycle from which on it stands: nothing is in flight that came before. None if the run
    /// ended first.
    pub stood: Option<u64>,
}

/// A function that hangs.
#[derive(Clone, Debug, Serialize)]
pub struct HungReport {
    /// Its name.
    pub function: String,
    /// The cycle of the run in which the host has noticed.
    pub cycle: u64,
    /// Threads that the watchdog had ended by then within 65,536 cycles, or two watchdogs if those
    /// are longer.
    pub faults: u32,
    /// What the host did.
    pub action: OnHang,
}

/// A function in a decision.
#[derive(Clone, Debug, Serialize)]
pub struct DecidedFunction {
    /// Its name.
    pub name: String,
    /// Millions of packets a second that came to it in the last window before.
    pub mpps: f64,
    /// Cycles of its cores with a warp in that window, for each packet.
    pub core_cycles_per_packet: f64,
    /// Warps that waited for it at the end of the window.
    pub waiting: u32,
    /// Its cores before.
    pub cores_before: usize,
    /// Its warps on a core at most before.
    pub mcw_before: u32,
    /// Its cores from then on.
    pub cores: usize,
    /// Its warps on a core at most from then on.
    pub mcw: u32,
}

/// Cores that were given out anew.
#[derive(Clone, Debug, Serialize)]
pub struct DecisionReport {
    /// The cycle of the run.
    pub cycle: u64,
    /// The cycle from which on all cores have their functions. None if the run ended first.
    pub stood: Option<u64>,
    /// Millions of packets of the chain a second that were expected of it; none if no split keeps
    /// the limits of time: then cores stay as they are.
    pub expected_mpps: Option<f64>,
    /// The functions.
    pub functions: Vec<DecidedFunction>,
}

impl fmt::Display for DecisionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cycle, stood, expected_mpps, functions } = self;
        let list =
            |of: &dyn Fn(&DecidedFunction) -> String| functions.iter().map(of).collect::<Vec<_>>().join(" ");
        write!(
            f,
            "decision in cycle {cycle}: cores {} (MCW {}) instead of {} (MCW {}); million packets/s {}, {}; ",
            list(&|one| one.cores.to_string()),
            list(&|one| one.mcw.to_string()),
            list(&|one| one.cores_before.to_string()),
            list(&|one| one.mcw_before.to_string()),
            list(&|one| format!("{:.3}", one.mpps)),
            match expected_mpps {
                Some(expected) => format!("{expected:.3} expected"),
                None => "no split keeps every `max_latency`".to_string(),
            },
        )?;
        match stood {
            Some(stood) => write!(f, "complete in cycle {stood}"),
            None => write!(f, "not complete when the run ended"),
        }
    }
}

/// A run of a chain on an array.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ArrayReport {
    /// Packets that came in.
    pub packets: u64,
    /// Packets that left.
    pub forwarded: u64,
    /// Bytes of the frames that came in, without FCS.
    pub bytes: u64,
    /// Cycles of the run.
    pub cycles: u64,
    /// The clock.
    pub clock_mhz: Option<Clock>,
    /// Millions of packets a second that came in and were committed.
    pub mpps: f64,
    /// Gbit/s of these frames, without FCS.
    pub gbps: f64,
    /// The functions, in the order of the visits.
    pub functions: Vec<ArrayFunction>,
    /// What changed meanwhile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeReport>,
    /// Cores that were given out anew.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<DecisionReport>,
    /// Functions that hang.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hung: Vec<HungReport>,
    /// When packets passed the stages.
    pub delays: Delays,
    /// The records of the fault FIFO.
    pub fault_records: Vec<FaultRecord>,
    /// Whether every packet was compared with the golden models.
    pub compared: bool,
    /// Timing of the memory: cycles, or `dram:` with its times.
    pub memory: String,
    /// `--mode`; none where the cores are those of the chain file.
    pub mode: Option<String>,
    /// The array.
    pub config: Option<Config>,
}

impl ArrayReport {
    /// Computes the rates at `clock`.
    pub fn set_rates(&mut self, clock: Clock) {
        let cycles = (self.cycles as f64).max(1.0);
        self.mpps = self.packets as f64 / cycles * clock.megahertz();
        self.gbps = self.bytes as f64 * 8.0 / cycles * clock.gigahertz();
        self.clock_mhz = Some(clock);
    }
}

impl fmt::Display for ArrayReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { packets, forwarded, cycles, mpps, gbps, .. } = self;
        writeln!(f, "{packets} packets in, {forwarded} forwarded, {cycles} cycles")?;
        let clock = self.clock_mhz.map_or_else(String::new, |clock| format!(" at {clock}"));
        writeln!(f, "{mpps:.3} million packets/s, {gbps:.2} Gbit/s{clock}")?;
        writeln!(f)?;
        write!(
            f,
            "{:<16} {:>5} {:>9} {:>9} {:>9} {:>8} {:>11} {:>18} {:>6} {:>8}",
            "function",
            "cores",
            "packets",
            "forwarded",
            "dropped",
            "faulted",
            "lanes/visit",
            "core cycles/packet",
            "IPC",
            "waiting"
        )?;
        for n in &self.functions {
            write!(
                f,
                "\n{:<16} {:>5} {:>9} {:>9} {:>9} {:>8} {:>11.2} {:>18.1} {:>6.3} {:>8}",
                n.name,
                n.cores,
                n.packets,
                n.forwarded,
                n.dropped,
                n.faulted,
                n.lanes_per_visit,
                n.core_cycles_per_packet,
                n.ipc,
                n.most_waiting
            )?;
        }
        for n in &self.functions {
            for (name, count) in &n.verdicts {
                write!(f, "\n{:<16} {count:>9} {name}", n.name)?;
            }
        }
        for change in &self.changes {
            let cycle = |cycle: Option<u64>, word: &str| match cycle {
                Some(cycle) => format!("{word} in cycle {cycle}"),
                None => format!("not {word} when the run ended"),
            };
            let ChangeReport { what, when, packets, .. } = change;
            let (began, stood) = (cycle(change.began, "begun"), cycle(change.stood, "complete"));
            write!(f, "\n{what}: at {when}, {began} behind {packets} packets, {stood}")?;
        }
        for decision in &self.decisions {
            write!(f, "\n{decision}")?;
        }
        for hung in &self.hung {
            let HungReport { function, cycle, faults, action } = hung;
            let action = match action {
                OnHang::Report => "nothing was done",
                OnHang::Drop => "it drops every packet from then on",
                OnHang::Pass => "it forwards every packet from then on",
            };
            write!(
                f,
                "\n{function} hangs: {faults} threads ended by the watchdog in cycle {cycle}; {action}"
            )?;
        }
        // The delay as a waterfall.
        let d = &self.delays;
        write!(f, "\n\n{:<32} {:>10} {:>9} {:>9} {:>9}", "delay in cycles", "mean", "p50", "p99", "max")?;
        let mut row = |name: &str, of: &Distribution| {
            write!(f, "\n{name:<32} {:>10.1} {:>9} {:>9} {:>9}", of.mean, of.p50, of.p99, of.max)
        };
        row("wait for a slot", &d.stages.ring)?;
        row("wait for the first function", &d.stages.forming_and_issue)?;
        for (number, n) in self.functions.iter().enumerate() {
            if number > 0 {
                row(&format!("wait for {}", n.name), &n.wait)?;
            }
            row(&n.name, &n.stay)?;
        }
        row("wait for earlier packets", &d.stages.dcq)?;
        row("delay", &d.delay)?;
        if !self.compared {
            write!(f, "\nnot compared with a golden model: not every function has one (`app`)")?;
        }
        Ok(())
    }
}
