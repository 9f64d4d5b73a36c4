//! A chain on a simulated array, for runs and benches.

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::{ensure, Context};
use hermes_testbench::apps::check_ports;
use hermes_testbench::chain::{Chain, ChainModel, FunctionTimes, Visit, VisitLog};
use hermes_testbench::cosim::{
    self, ArraySetup, FunctionCounts, Host, Latency, MemoryOptions, Packet, Progress, RunOptions, RunResult,
    Simulation, StreamOptions,
};
use hermes_testbench::slot::SlotPacket;
use verilator_sys::Model;

use crate::run::outcome::wrong_lengths;
use crate::run::{Through, MEMORY_BYTES};

/// How a chain is run.
pub struct Setting<'a> {
    pub chain: &'a Chain,
    /// The golden model, which the packet ports need.
    pub model: Option<&'a ChainModel<'a>>,
    pub through: Through,
    pub latency: Latency,
    /// Cycles that the oldest waiting packet waits for a full warp.
    pub timeout: u32,
    pub options: RunOptions,
}

/// What a simulation gave.
pub struct Ran {
    pub result: RunResult,
    /// Counters of each function.
    pub counts: Vec<FunctionCounts>,
    /// Times of the visits.
    pub times: Vec<FunctionTimes>,
}

impl Setting<'_> {
    /// Loads the chain into an array and runs `packets`, which come as `arriving`. What leaves the
    /// packet ports is compared with the golden model.
    pub fn simulate(
        &self,
        array: Model,
        packets: &[SlotPacket],
        arriving: &[Packet],
        progress: &mut dyn FnMut(Progress),
    ) -> anyhow::Result<Ran> {
        let Self { chain, latency, timeout, options, .. } = self;
        let memory = MemoryOptions { latency: *latency, ..MemoryOptions::default() };
        let mut host = Host::new(Simulation::new(array, MEMORY_BYTES, memory)?)?;
        let setup = ArraySetup { timeout: *timeout, ..chain.setup() };
        let layout = chain.start(&mut host, &setup)?;
        let log = Rc::new(RefCell::new(VisitLog::new(chain.functions.len())));
        let seen = Rc::clone(&log);
        host.device_mut().set_observer(Box::new(move |_, _, events, _| {
            events.iter().try_for_each(|(cycle, event)| seen.borrow_mut().event(*cycle, *event))
        }));
        let result = match self.through {
            Through::Host => cosim::run(&mut host, &setup, &layout, arriving, *options, progress)?,
            Through::Ports => {
                let streams = StreamOptions::default();
                let ports =
                    cosim::run_through_ports(&mut host, &setup, arriving, streams, *options, progress)?;
                wrong_lengths(ports.wrong_lengths.iter().copied(), chain.slot_bytes_log2)?;
                let model = self.model.context("the packet ports need a golden model")?;
                let packets = check_ports(model, packets, &ports)
                    .context("what left differs from the golden model of the chain")?;
                RunResult { packets, ..ports.run }
            }
        };
        let counts = (0..chain.functions.len() as u32).map(|function| host.function_counts(function));
        let counts: Vec<_> = counts.collect::<Result<_, _>>()?;
        host.device_mut().remove_observer();
        let times = log.borrow().functions().to_vec();
        Ok(Ran { result, counts, times })
    }
}

/// The visits of each packet, as the golden model has them.
pub fn visits(model: &ChainModel<'_>, packets: &[SlotPacket]) -> Vec<Vec<Visit>> {
    (0..).zip(packets).map(|(index, packet)| model.follow(index, packet).1).collect()
}

/// Makes sure that each function was visited, forwarded and dropped as often as the golden model
/// says.
///
/// # Errors
/// A counter has another value.
pub fn check_counts(chain: &Chain, visits: &[Vec<Visit>], counts: &[FunctionCounts]) -> anyhow::Result<()> {
    for (number, (function, got)) in chain.functions.iter().zip(counts).enumerate() {
        let here = || visits.iter().flatten().filter(move |visit| visit.function == number);
        let forwarded = here().filter(|visit| visit.verdict.is_forward()).count();
        for (name, got, expected) in [
            ("NF_LANES", got.lanes, here().count()),
            ("NF_FORWARDED", got.forwarded, forwarded),
            ("NF_DROPPED", got.dropped, here().count() - forwarded),
            ("NF_QUEUED", got.queued, 0),
        ] {
            let name = format!("{name} of `{}`", function.name);
            ensure!(got as usize == expected, "{name} is {got}; expected {expected} by the golden model");
        }
    }
    Ok(())
}
