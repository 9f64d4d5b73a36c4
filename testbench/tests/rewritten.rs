//! The model whose C++ is rewritten (`verilator-sys`: loops, order of calls, functions in parts)
//! beside the one that Verilator wrote: the same inputs, and all outputs the same in all cycles.
//! `HERMES_SEED` repeats a run.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::OnceLock;

use hermes_rtl::config::Config;
use hermes_rtl::host::registers::REGISTERS;
use hermes_testbench::apps::{AppEntry, Inputs};
use hermes_testbench::cosim::{
    run, ArraySetup, Host, KernelImage, Latency, MemoryOptions, Packet, RunOptions, Simulation,
};
use hermes_testbench::model;
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::test_seed;
use hermes_testbench::traffic::{Generator, Kind, Traffic};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::{Direction, Input, Model, ModelLibrary, ModelOptions, Output};

const SLOT_BYTES_LOG2: u32 = 11;
/// Cycles of reset, as many as [`Simulation`] takes: registers without a reset go on with what they
/// have then.
const RESET_CYCLES: usize = 4;

/// Two cores of eight lanes, and two banks of the L2, rewritten and plain.
fn libraries() -> &'static [ModelLibrary; 2] {
    static LIBRARIES: OnceLock<[ModelLibrary; 2]> = OnceLock::new();
    LIBRARIES.get_or_init(|| {
        let config = Config::preset("default").unwrap();
        assert!(config.cores > 1 && config.lanes >= 8, "too few for loops and another order of calls");
        let design = hermes_rtl::top::emit_top(&config).unwrap();
        let rewritten = model::options(&design);
        let plain = ModelOptions { rewriter: None, ..rewritten.clone() };
        let libraries = [rewritten, plain].map(|options| Model::build(&design.verilog(), &options).unwrap());
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
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    words: [Vec<u32>; 2],
    /// How many were compared.
    cycles: u64,
}

impl Shadow {
    fn new(model: Model) -> Self {
        let ports = model.ports().to_vec();
        let of = |direction| ports.iter().filter(move |port| port.direction == direction);
        let inputs = of(Direction::Input).map(|p| model.input(&p.name, p.width).unwrap());
        let outputs = of(Direction::Output).map(|p| model.output(&p.name, p.width).unwrap());
        let most = ports.iter().map(|port| port.width.div_ceil(32)).max().unwrap();
        let (inputs, outputs) = (inputs.collect(), outputs.collect());
        let [clock, reset] = ["clk", "rst"].map(|name| model.input(name, 1).unwrap());
        Self { model, clock, reset, inputs, outputs, words: [vec![0; most], vec![0; most]], cycles: 0 }
    }

    fn start(&mut self) {
        self.model.set_u64(self.reset, 1);
        (0..RESET_CYCLES).for_each(|_| self.model.tick(self.clock).unwrap());
        self.model.set_u64(self.reset, 0);
    }

    /// One cycle with the inputs of `first`, whose clock is low; an error names the first output
    /// that differs.
    fn cycle(&mut self, first: &Model) -> Result<(), String> {
        self.cycles += 1;
        let [words, own] = &mut self.words;
        for port in &self.inputs {
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

/// Runs `packets` packets through the app `name` on the rewritten model, the plain one beside it;
/// gives the rewritten one with its host, and the plain one.
fn run_beside(
    name: &str,
    packets: usize,
    stall_percent: u8,
    seed: u64,
) -> (Host<Simulation>, Rc<RefCell<Shadow>>) {
    let [rewritten, plain] = libraries();
    let memory = MemoryOptions { latency: Latency::Random(1, 40), stall_percent, seed, failing: Vec::new() };
    let mut simulation = Simulation::new(rewritten.instantiate().unwrap(), 1 << 30, memory).unwrap();
    let shadow = Rc::new(RefCell::new(Shadow::new(plain.instantiate().unwrap())));
    shadow.borrow_mut().start();
    let observer = Rc::clone(&shadow);
    simulation.set_observer(Box::new(move |_, model, _, _| observer.borrow_mut().cycle(model)));
    let entry = AppEntry::find(name).unwrap();
    let app = entry.load(&Inputs::default()).unwrap();
    let mut host = Host::new(simulation).unwrap();
    host.load_kernel(&KernelImage::from(&entry.kernel(false).unwrap())).unwrap();
    let mut setup =
        ArraySetup { ring_slots_log2: 6, slot_bytes_log2: SLOT_BYTES_LOG2, ..ArraySetup::default() };
    host.load_app(app.as_ref(), &mut setup).unwrap();
    let layout = host.configure(&setup).unwrap();
    let traffic = Traffic { kind: Kind::Imix, seed, bad_share: 20.0, rate: 100.0 };
    let slot = |frame| SlotPacket::new(&frame, SLOT_BYTES_LOG2);
    let slots = Generator::new(traffic).take(packets).map(slot);
    let packets: Vec<Packet> =
        slots.map(|p| Packet { frame: p.frame, port: 0, flags: 0, arrival: 0 }).collect();
    let result = run(&mut host, &setup, &layout, &packets, RunOptions::default(), &mut |_| {})
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(result.packets.len(), packets.len(), "{name}");
    (host, shadow)
}

/// Packets through a kernel that changes them and through one that reads them, behind a memory that
/// is late.
#[test]
fn apps_run_cycle_by_cycle_as_in_the_plain_model() {
    let seed = test_seed();
    for (name, packets, stall_percent) in [("dec-ttl", 1000, 40), ("check-ip-header", 500, 0)] {
        let (_, shadow) = run_beside(name, packets, stall_percent, seed);
        let compared = shadow.borrow().cycles;
        println!("{name}: {compared} cycles");
        assert!(compared > 5_000, "{name}: {compared} cycles compared");
    }
}

/// Behind a short run all inputs are random in every cycle, whatever the protocols say, and most
/// writes start threads: states that no program reaches.
#[test]
fn random_inputs_do_the_same_in_both() {
    let seed = test_seed();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut host, shadow) = run_beside("dec-ttl", 50, 0, seed);
    host.start(false).unwrap();
    let mut shadow = shadow.borrow_mut();
    let first = host.device_mut().model_mut();
    let push = REGISTERS.iter().find(|register| register.name == "TASK_PUSH").unwrap().offset;
    let inputs: Vec<(String, Input, usize)> = first
        .ports()
        .iter()
        .filter(|p| p.direction == Direction::Input && p.name != "clk" && p.name != "rst")
        .map(|p| (p.name.clone(), first.input(&p.name, p.width).unwrap(), p.width))
        .collect();
    let mut seen = HashSet::new();
    let mut words = vec![0; shadow.words[0].len()];
    for cycle in 0..5_000 {
        for (name, port, width) in &inputs {
            match name.as_str() {
                "s_axil_awaddr" if random.gen_ratio(3, 4) => first.set_u64(*port, push.into()),
                // Most of the time an answer is there and is taken, so that something goes on.
                name if name.ends_with("valid") || name.ends_with("ready") => {
                    first.set_u64(*port, u64::from(random.gen_ratio(3, 4)));
                }
                _ if *width > 128 || random.gen_ratio(1, 3) => {
                    words.fill_with(|| random.gen::<u32>() & random.gen::<u32>());
                    first.set_words(*port, &words);
                }
                _ => {}
            }
        }
        let (clock, outputs) = (shadow.clock, shadow.outputs.clone());
        first.fall(clock).unwrap();
        shadow.cycle(first).unwrap_or_else(|message| panic!("cycle {cycle}: {message}"));
        let mut state: Vec<u32> = Vec::new();
        for port in outputs {
            first.read_words(port, &mut words);
            state.extend(&words);
        }
        seen.insert(state);
        first.rise(clock).unwrap();
    }
    println!("{} different outputs", seen.len());
    assert!(seen.len() > 300, "only {} different outputs", seen.len());
}
