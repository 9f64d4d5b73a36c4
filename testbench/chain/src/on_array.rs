//! A chain on a simulated array: for runs, benches, profiles and experiments.

use std::cell::RefCell;
use std::rc::Rc;

use anyhow::{ensure, Context as _};
use hermes_rtl::top::clear_rows;
use verilator_sys::Model;

use super::live::{Became, Checked, Decision, Hung, Live, LiveHost, Made};
use super::model::{ChainModel, Visit};
use super::placed::Chain;
use super::schedule::Share;
use super::simulated::Stop;
use super::start::Started;
use super::turns::Turns;
use super::visits::{FunctionTimes, VisitLog};
use crate::cosim::{
    self, ArrayInfo, ArraySetup, Attention, Function as Context, FunctionCounts, Host, Latency,
    MemoryOptions, Packet, Progress, RunOptions, RunResult, Simulation, StreamOptions,
};
use crate::outcome::check_ports;
use crate::slot::{wrong_lengths, SlotPacket};

/// How the functions of a chain share the cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Each has cores of its own: G-NET.
    Spatial,
    /// All cores are those of one function at a time: TemporalShare of the paper.
    Temporal {
        /// Warps of a turn.
        batch: u32,
        /// Cycles that the host waits, when the last warp of a turn is done, before it gives the
        /// cores to the next function; 0: they go over one by one, as each of them has drained.
        launch: u64,
    },
}

/// How a chain is run.
pub struct Setting<'a> {
    /// The chain.
    pub chain: &'a Chain,
    /// The golden model, which the packet ports need.
    pub model: Option<&'a ChainModel<'a>>,
    /// Packets come and go through the packet ports; else the host writes and reads them.
    pub ports: bool,
    /// Bytes of the shared memory.
    pub memory_bytes: u64,
    /// Its timing.
    pub latency: Latency,
    /// Cycles that the oldest waiting packet waits for a full warp.
    pub timeout: u32,
    /// How the run is watched.
    pub options: RunOptions,
    /// How the functions share the cores.
    pub sharing: Sharing,
    /// What changes meanwhile, and the functions that are looked after; with packet ports only.
    pub live: Option<&'a Live>,
}

/// What a simulation gave.
pub struct Ran {
    /// The run.
    pub result: RunResult,
    /// Counters of each function.
    pub counts: Vec<FunctionCounts>,
    /// Times of the visits.
    pub times: Vec<FunctionTimes>,
    /// The functions that each packet visited, and the cycles since reset of the starts.
    pub ways: Vec<Vec<(Stop, u64)>>,
    /// What became of a chain that changes.
    pub changed: Option<Changed>,
}

/// What became of a chain that changes.
#[derive(Clone, Debug)]
pub struct Changed {
    /// When each change was made.
    pub made: Vec<Made>,
    /// Functions that hang.
    pub hung: Vec<Hung>,
    /// What became of the packets at each function.
    pub functions: Vec<Became>,
    /// What was decided about the cores.
    pub decisions: Vec<Decision>,
}

impl Setting<'_> {
    /// Loads the chain into an array and runs `packets`, which come as `arriving`. What leaves the
    /// packet ports is compared with the golden model.
    ///
    /// # Errors
    /// The array has fewer functions or cores, functions are to take turns or to change without
    /// packet ports, what left differs from the golden model, or any of a run.
    pub fn simulate(
        &self,
        array: Model,
        packets: &[SlotPacket],
        arriving: &[Packet],
        progress: &mut dyn FnMut(Progress),
    ) -> anyhow::Result<Ran> {
        let memory = MemoryOptions { latency: self.latency, ..MemoryOptions::default() };
        let array = Simulation::new(array, self.memory_bytes, memory)?;
        Ok(self.simulate_on(array, packets, arriving, progress)?.0)
    }

    /// As [`Self::simulate`], on an array that was just reset, whatever it did before. Gives the
    /// array, too.
    ///
    /// # Errors
    /// As of [`Self::simulate`].
    pub fn simulate_on(
        &self,
        array: Simulation,
        packets: &[SlotPacket],
        arriving: &[Packet],
        progress: &mut dyn FnMut(Progress),
    ) -> anyhow::Result<(Ran, Host<Simulation>)> {
        let Self { chain, timeout, options, .. } = self;
        let mut host = Host::new(array)?;
        let setup = ArraySetup { timeout: *timeout, ..chain.setup() };
        let Started { layout, contexts } = chain.start(&mut host, &setup)?;
        if let Some(live) = self.live {
            ensure!(self.ports && self.sharing == Sharing::Spatial, "chains change with packet ports only");
            let ran = self.simulate_live(live, &mut host, &setup, contexts, packets, arriving, progress)?;
            return Ok((ran, host));
        }
        let log = Rc::new(RefCell::new(VisitLog::new(chain.functions.len())));
        let seen = Rc::clone(&log);
        host.device_mut().set_observer(Box::new(move |_, _, events, _| {
            events.iter().try_for_each(|(cycle, event)| seen.borrow_mut().event(*cycle, *event))
        }));
        let result = match self.ports {
            false => {
                ensure!(self.sharing == Sharing::Spatial, "functions take turns with packet ports only");
                cosim::run(&mut host, &setup, &layout, arriving, *options, progress)?
            }
            true => {
                let streams = StreamOptions::default();
                let mut turns = match self.sharing {
                    Sharing::Spatial => None,
                    Sharing::Temporal { batch, launch } => {
                        let cores = host.info().cores as usize;
                        let turns = Turns::new(chain.functions.len(), cores, batch, launch, *timeout);
                        Some(turns.with_change(change_cycles(host.info())))
                    }
                };
                let mut manager = |at: Attention<'_>| {
                    if let Some(turns) = &mut turns {
                        turns.cycle(at.now, at.events, at.accesses);
                    }
                    Ok(())
                };
                let ports = cosim::run_managed(
                    &mut host,
                    &setup,
                    arriving,
                    streams,
                    *options,
                    &mut manager,
                    progress,
                )?;
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
        let stop = |(function, start): &(usize, u64)| (Stop::at(*function), *start);
        let ways = log.borrow().ways().iter().map(|way| way.iter().map(stop).collect()).collect();
        Ok((Ran { result, counts, times, ways, changed: None }, host))
    }

    /// A run through the packet ports whose chain changes.
    #[allow(clippy::too_many_arguments)]
    fn simulate_live(
        &self,
        live: &Live,
        host: &mut Host<Simulation>,
        setup: &ArraySetup,
        contexts: Vec<Context>,
        packets: &[SlotPacket],
        arriving: &[Packet],
        progress: &mut dyn FnMut(Progress),
    ) -> anyhow::Result<Ran> {
        let chain = self.chain;
        let owners = chain.owners(host.info().cores as usize);
        let mut manager = LiveHost::new(chain, live, host.info(), contexts, owners);
        let mut ports = cosim::run_managed(
            host,
            setup,
            arriving,
            StreamOptions::default(),
            self.options,
            &mut |at| manager.attend(at),
            progress,
        )?;
        wrong_lengths(ports.wrong_lengths.iter().copied(), chain.slot_bytes_log2)?;
        let rest = std::mem::take(&mut ports.run.faults);
        ports.run.faults = manager.faults.drain(..).chain(rest).collect();
        let numbers = (0..host.info().functions).map(|number| host.function_counts(number));
        let numbers: Vec<_> = numbers.collect::<Result<_, _>>()?;
        let decisions = manager.decisions().to_vec();
        let counts = manager.counts(&numbers);
        let LiveHost { paths, made, hung, .. } = manager;
        let Checked { records, functions, ways } = paths
            .check(chain, live, packets, &ports, &counts)
            .context("what the array did differs from the golden models of the chain")?;
        for hung in &hung {
            hung.check(&chain.function(hung.function).name, &functions[hung.function])?;
        }
        Ok(Ran {
            result: RunResult { packets: records, ..ports.run },
            counts,
            changed: Some(Changed { made, hung, functions, decisions }),
            ways,
            times: paths.times,
        })
    }
}

impl Chain {
    /// Gives the functions other cores and warps, from core 0 on in their order. Cores that are not
    /// given out stand still.
    pub fn share(&mut self, shares: &[Share]) {
        let mut first_core = 0;
        for (function, Share { cores, warps }) in self.functions.iter_mut().zip(shares) {
            (function.first_core, function.cores, function.mcw) = (first_core, *cores, *warps);
            first_core += cores;
        }
    }

    /// The number that each of `cores` cores has when the chain starts.
    #[must_use]
    pub fn owners(&self, cores: usize) -> Vec<Option<u32>> {
        let functions = (0..).zip(&self.functions);
        let owners = functions.flat_map(|(number, one)| std::iter::repeat_n(Some(number), one.cores));
        owners.chain(std::iter::repeat(None)).take(cores).collect()
    }

    /// What each function has.
    #[must_use]
    pub fn shares(&self) -> Vec<Share> {
        let share = |function: &super::Function| Share { cores: function.cores, warps: function.mcw };
        self.functions.iter().map(share).collect()
    }
}

/// Cycles that all cores together take at most to change hands when they have drained: they are
/// cleared at the same time, and take the ten words of their context one after the other.
fn change_cycles(info: ArrayInfo) -> u64 {
    let (warps, lanes) = (info.warps as usize, info.lanes as usize);
    clear_rows(warps, lanes) as u64 + 16 * u64::from(info.cores)
}

/// The visits of each packet, as the golden model has them.
#[must_use]
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

/// Makes sure that each packet visited the functions that the golden model says, in their order.
///
/// # Errors
/// The first packet that did not.
pub fn check_ways(chain: &Chain, visits: &[Vec<Visit>], ways: &[Vec<(Stop, u64)>]) -> anyhow::Result<()> {
    ensure!(
        ways.len() == visits.len(),
        "{} packets came to the first function; expected {} by the golden model",
        ways.len(),
        visits.len()
    );
    let names = |way: &[usize]| {
        let names: Vec<_> = way.iter().map(|function| chain.function(*function).name.as_str()).collect();
        names.join(", ")
    };
    for (packet, (way, visits)) in ways.iter().zip(visits).enumerate() {
        let way: Vec<_> = way.iter().map(|(stop, _)| stop.function).collect();
        let expected: Vec<_> = visits.iter().map(|visit| visit.function).collect();
        ensure!(
            way == expected,
            "packet {packet} visited {}; expected {} by the golden model",
            names(&way),
            names(&expected)
        );
    }
    Ok(())
}
