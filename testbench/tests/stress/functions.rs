//! Chains of network functions that the packets of a run go through.

use hermes_rtl::config::Config;
use hermes_testbench::apps::App;
use hermes_testbench::cosim::{CosimError, Function, Guards, Host, KernelImage, Layout, Simulation};
use hermes_testbench::golden::Golden;
use hermes_testbench::iss::Window;
use hermes_testbench::slot::SlotPacket;
use rand::seq::SliceRandom as _;
use rand::Rng as _;
use rand_chacha::ChaCha8Rng;

/// A chain of functions with the kernel of one app, so that packets are processed once by each.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Of each function behind the first one: it keeps the verdict before.
    keeps: Vec<bool>,
    /// The functions of the cores.
    cores: Vec<Option<u32>>,
    /// Most warps in flight; 0: as many as there can be.
    limit: u32,
}

impl Chain {
    /// A chain on this array, if it has network functions.
    pub fn draw(config: &Config, random: &mut ChaCha8Rng) -> Option<Self> {
        let most = config.network_functions.min(config.cores);
        let functions = (most > 0).then(|| random.gen_range(1..=most))?;
        let mut cores: Vec<_> = (0..functions as u32).map(Some).collect();
        cores.resize_with(config.cores, || Some(random.gen_range(0..functions as u32)));
        cores.shuffle(random);
        let limit = *[0, 1, 5].choose(random).expect("three");
        Some(Self { keeps: (1..functions).map(|_| random.gen()).collect(), cores, limit })
    }

    /// Functions behind the first one.
    pub fn further(&self) -> u32 {
        self.keeps.len() as u32
    }

    /// Makes an array whose first function is set up run the chain.
    pub fn load(
        &self,
        host: &mut Host<Simulation>,
        kernel: &KernelImage,
        layout: &Layout,
        mcw: u32,
    ) -> Result<(), CosimError> {
        for (function, keeps_verdict) in (1..).zip(self.keeps.iter().copied()) {
            let context = Function {
                entry: kernel.entry,
                argument: layout.argument,
                registers: kernel.registers,
                stack_base: layout.stack_base,
                read: Window::default(),
                write: Window::default(),
                watchdog: 0,
                mcw,
                guards: Guards { keeps_verdict, ..Guards::default() },
            };
            host.load_function(function, &context)?;
            host.set_next(function - 1, Some(function))?;
        }
        host.set_chain(self.limit, 0)?;
        host.move_cores(&self.cores)?;
        host.wait_for_cores()
    }

    /// What the functions make of a packet, each with the app's golden model.
    pub fn of<'a>(&'a self, app: &'a dyn App) -> Chained<'a> {
        Chained { app, keeps: &self.keeps }
    }
}

/// The golden model of a chain.
#[derive(Debug)]
pub struct Chained<'a> {
    app: &'a dyn App,
    keeps: &'a [bool],
}

impl App for Chained<'_> {
    fn golden(&self, index: u64, packet: &SlotPacket) -> Golden {
        let mut out = self.app.golden(index, packet);
        let mut verdict = out.verdict;
        for keeps in self.keeps {
            if !out.verdict.is_forward() {
                break;
            }
            out = self.app.golden(index, &SlotPacket { frame: out.frame, ..packet.clone() });
            if !(*keeps && out.verdict.is_forward()) {
                verdict = out.verdict;
            }
        }
        Golden { verdict, ..out }
    }
}
