//! The model whose C++ is rewritten (`verilator-sys`: loops, order of calls, functions in parts) beside the one that Verilator wrote:
//! the same inputs, and all outputs the same in all cycles. `HERMES_SEED` repeats a run.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::OnceLock;

use hermes_rtl::config::Config;
use hermes_testbench::apps::{AppEntry, Inputs};
use hermes_testbench::cosim::{
    run, ArraySetup, Host, KernelImage, Latency, MemoryOptions, Packet, RunOptions, Simulation,
};
use hermes_testbench::model;
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::traffic::{Generator, Kind, Traffic};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::{Direction, Input, Model, ModelLibrary, ModelOptions, Output};

const SLOT_BYTES_LOG2: u32 = 11;
/// Cycles of reset, as many as [`Simulation`] takes: registers without a reset go on with what they have then.
const RESET_CYCLES: usize = 4;

fn seed() -> u64 {
    let seed = std::env::var("HERMES_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    println!("HERMES_SEED={seed}");
    seed
}

/// Two cores of eight lanes, and two banks of the L2, rewritten and plain.
fn libraries() -> &'static [ModelLibrary; 2] {
    static LIBRARIES: OnceLock<[ModelLibrary; 2]> = OnceLock::new();
    LIBRARIES.get_or_init(|| {
        let config = Config::preset("default").unwrap();
        assert!(config.cores > 1 && config.lanes >= 8, "too few for loops and another order of calls");
        let design = hermes_rtl::top::emit_top(&config).unwrap();
        let libraries = [false, true].map(|plain| {
            let options = ModelOptions { plain, ..model::options(&design) };
            Model::build(&design.verilog(), &options).unwrap()
        });
        let because = &libraries[0].report().plain_because;
        assert!(because.is_none(), "nothing to compare, use a known Verilator: {because:?}");
        libraries
    })
}

/// A model that is compared with another one.
struct Shadow {
    model: Model,
    clock: Input,
    reset: Input,
    inputs: Vec<(Input, usize)>,
    outputs: Vec<Output>,
    words: [Vec<u32>; 2],
}

impl Shadow {
    fn new(model: Model) -> Self {
        let ports = model.ports().to_vec();
        let of = |direction| ports.iter().filter(move |port| port.direction == direction);
        let inputs = of(Direction::Input).map(|p| (model.input(&p.name, p.width).unwrap(), p.width));
        let outputs = of(Direction::Output).map(|p| model.output(&p.name, p.width).unwrap());
        let most = ports.iter().map(|port| port.width.div_ceil(32)).max().unwrap();
        let (inputs, outputs) = (inputs.collect(), outputs.collect());
        let [clock, reset] = ["clk", "rst"].map(|name| model.input(name, 1).unwrap());
        Self { model, clock, reset, inputs, outputs, words: [vec![0; most], vec![0; most]] }
    }

    fn start(&mut self) {
        self.model.set_u64(self.reset, 1);
        (0..RESET_CYCLES).for_each(|_| self.model.tick(self.clock).unwrap());
        self.model.set_u64(self.reset, 0);
    }

    /// One cycle with the inputs of `first`, whose clock is low; an error names the first output that differs.
    fn cycle(&mut self, first: &Model) -> Result<(), String> {
        let [words, own] = &mut self.words;
        for (port, _) in &self.inputs {
            first.read_words(*port, words);
            self.model.set_words(*port, words);
        }
        self.model.fall(self.clock).map_err(|e| e.to_string())?;
        for (at, port) in self.outputs.iter().enumerate() {
            first.read_words(*port, words);
            self.model.read_words(*port, own);
            if words != own {
                let mut outputs = first.ports().iter().filter(|p| p.direction == Direction::Output);
                let name = &outputs.nth(at).unwrap().name;
                return Err(format!("`{name}`: rewritten {words:x?}, plain {own:x?}"));
            }
        }
        self.model.rise(self.clock).map_err(|e| e.to_string())
    }
}

/// Packets through a kernel that reads and writes them, and through one that calls functions and divides, behind a memory that is late.
#[test]
fn apps_run_cycle_by_cycle_as_in_the_plain_model() {
    let seed = seed();
    let [rewritten, plain] = libraries();
    for (name, packets, stall_percent) in [("dec-ttl", 300, 40), ("classifier", 100, 0), ("dpi", 20, 0)] {
        let memory =
            MemoryOptions { latency: Latency::Random(1, 40), stall_percent, seed, failing: Vec::new() };
        let mut simulation = Simulation::new(rewritten.instantiate().unwrap(), 1 << 30, memory).unwrap();
        let mut shadow = Shadow::new(plain.instantiate().unwrap());
        shadow.start();
        let compared = Rc::new(Cell::new(0_u64));
        let count = Rc::clone(&compared);
        simulation.set_observer(Box::new(move |_, model, _, _| {
            count.set(count.get() + 1);
            shadow.cycle(model)
        }));
        let entry = AppEntry::find(name).unwrap();
        let app = entry.load(&Inputs::default()).unwrap();
        let mut host = Host::new(simulation).unwrap();
        host.load_kernel(&KernelImage::from(&entry.kernel(false).unwrap())).unwrap();
        let mut setup =
            ArraySetup { ring_slots_log2: 6, slot_bytes_log2: SLOT_BYTES_LOG2, ..ArraySetup::default() };
        host.load_app(app.as_ref(), &mut setup).unwrap();
        let layout = host.configure(&setup).unwrap();
        let traffic = Traffic { kind: Kind::Imix, seed, bad_share: 20.0, rate: 100.0 };
        let slots: Vec<_> = Generator::new(traffic)
            .take(packets)
            .map(|frame| SlotPacket::new(&frame, SLOT_BYTES_LOG2))
            .collect();
        let packets: Vec<Packet> =
            slots.iter().map(|p| Packet { frame: p.frame.clone(), port: 0, flags: 0, arrival: 0 }).collect();
        let result = run(&mut host, &setup, &layout, &packets, RunOptions::default(), &mut |_| {})
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(result.packets.len(), packets.len(), "{name}");
        println!("{name}: {} cycles", compared.get());
        assert!(compared.get() > 2_000, "{name}: {} cycles compared", compared.get());
    }
}

/// All inputs random in every cycle, whatever the protocols say: states that no program reaches.
#[test]
fn random_inputs_do_the_same_in_both() {
    let mut random = ChaCha8Rng::seed_from_u64(seed());
    let [rewritten, plain] = libraries();
    let mut first = Shadow::new(rewritten.instantiate().unwrap());
    let mut second = Shadow::new(plain.instantiate().unwrap());
    first.start();
    second.start();
    let mut seen = std::collections::HashSet::new();
    let mut words = vec![0; first.words[0].len()];
    for cycle in 0..5_000 {
        for at in 0..first.inputs.len() {
            let (port, width) = first.inputs[at];
            if port == first.clock {
                continue;
            }
            if port == first.reset {
                first.model.set_u64(port, u64::from(random.gen_ratio(1, 500)));
                continue;
            }
            // Single bits and addresses stay for some cycles, so that something comes of them.
            if width > 128 || random.gen_ratio(1, 3) {
                words.fill_with(|| random.gen::<u32>() & random.gen::<u32>());
                first.model.set_words(port, &words);
            }
        }
        first.model.fall(first.clock).unwrap();
        second.cycle(&first.model).unwrap_or_else(|message| panic!("cycle {cycle}: {message}"));
        let mut state: Vec<u32> = Vec::new();
        for port in &first.outputs {
            first.model.read_words(*port, &mut words);
            state.extend(&words);
        }
        seen.insert(state);
        first.model.rise(first.clock).unwrap();
    }
    assert!(seen.len() > 500, "only {} different outputs", seen.len());
}
