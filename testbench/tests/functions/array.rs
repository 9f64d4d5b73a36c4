//! The array of these tests, what its functions do, and the model of a chain.

use std::sync::OnceLock;

use hermes_rtl::config::Config;
use hermes_testbench::chain::Edges;
use hermes_testbench::cosim::{
    ArraySetup, Device as _, Event, Function, Guards, Host, KernelImage, Latency, Layout, MemoryOptions,
    Simulation,
};
use hermes_testbench::iss::Window;
use hermes_testbench::kernel::{build_source, Kernel, RegisterClass};
use hermes_testbench::model;
use hermes_testbench::test_seed;
use hermes_testbench::verdict::Verdict;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::{Model, ModelLibrary};

/// Functions of the array.
pub const FUNCTIONS: usize = 4;
/// Slots of the ring, as a power of two: more than a test has packets.
pub const RING_SLOTS_LOG2: u32 = 11;
pub const SLOT_BYTES_LOG2: u32 = 7;
/// Bytes of the memory.
pub const MEMORY_BYTES: usize = 16 << 20;
/// Where frames stand in their slots, and the word that functions mark.
const FRAME: u32 = 18;
const MARK: u32 = 20;
/// Verdicts of a drop by these functions, and of an illegal instruction.
const DROPPED: u32 = 0x8000_0009;
const FAULTED: u32 = 0xc000_0002;

/// A random source from `HERMES_SEED`, which is printed, or from 1.
pub fn random() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(test_seed())
}

/// Three cores with four warps of four lanes each, small caches, and `amocas.w`.
pub fn config() -> Config {
    let default = Config::preset("default").unwrap();
    let caches = Config { l2_bank_lines: 64, l1_lines: 16, instruction_cache_lines: 16, ..default };
    let units = Config { atomics: true, compare_and_swap: true, ..caches };
    Config { cores: 3, lanes: 4, warps: 4, network_functions: FUNCTIONS, ..units }
}

/// The same without `amocas.w`, with packets that branch, packet ports, more functions and more
/// cores.
pub fn branching() -> Config {
    let branches = Config { packet_ports: true, function_branches: true, ..config() };
    Config { cores: 6, network_functions: 8, compare_and_swap: false, ..branches }
}

/// A model of the array whose packets branch, which was just reset.
pub fn branching_model() -> Model {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let design = hermes_rtl::top::emit_top(&branching()).unwrap();
        model::checked(&design).unwrap()
    });
    library.instantiate().unwrap()
}

fn library() -> &'static ModelLibrary {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let design = hermes_rtl::top::emit_top(&config()).unwrap();
        model::checked(&design).unwrap()
    })
}

/// What a function does: see `kernels/marks.S`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    pub number: u32,
    pub drops: u32,
    pub spins: u32,
    pub faults: u32,
    pub ports: u32,
}

impl Marks {
    fn words(self) -> Vec<u8> {
        [self.number, self.drops, self.spins, self.faults, self.ports]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect()
    }

    /// What becomes of a packet with this word: its new word and its verdict.
    fn visit(self, word: u32) -> (u32, u32) {
        let mark = word.wrapping_mul(31).wrapping_add(self.number);
        let all_of = |bits: u32| bits != 0 && mark >> 5 & bits == bits;
        let verdict = match (all_of(self.faults), all_of(self.drops)) {
            (true, _) => FAULTED,
            (_, true) => DROPPED,
            _ if self.ports == 0 => self.number,
            _ => mark >> 16 & self.ports,
        };
        (mark, verdict)
    }
}

/// What is expected of the functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub lanes: u32,
    pub forwarded: u32,
    pub dropped: u32,
    pub faulted: u32,
}

/// A function that is none of [`Marks`]: it leaves the words of packets as they are.
pub struct Foreign {
    pub number: usize,
    /// Its verdict about a packet.
    pub verdict: Box<dyn Fn(u32) -> u32>,
}

/// The array with functions, and packets in its ring.
pub struct Array {
    pub host: Host<Simulation>,
    pub functions: [Marks; FUNCTIONS],
    pub edges: [Edges; FUNCTIONS],
    /// Argument blocks of the functions, two of each with the same words.
    pub arguments: [[u32; 2]; FUNCTIONS],
    pub contexts: [Function; FUNCTIONS],
    pub foreign: Vec<Foreign>,
    pub layout: Layout,
    /// Words of the packets as they came.
    words: Vec<u32>,
    pub events: Vec<(u64, Event)>,
    committed: u32,
    random: ChaCha8Rng,
}

impl Array {
    /// With a memory that answers after 1 to 60 cycles; all cores have function 0, and no packets
    /// go on.
    pub fn new(functions: [Marks; FUNCTIONS]) -> Self {
        Self::on_model(library().instantiate().unwrap(), functions)
    }

    /// The same on an array whose packets can branch.
    pub fn new_branching(functions: [Marks; FUNCTIONS]) -> Self {
        Self::on_model(branching_model(), functions)
    }

    fn on_model(model: Model, functions: [Marks; FUNCTIONS]) -> Self {
        let seed = test_seed();
        let memory = MemoryOptions { latency: Latency::Random(1, 60), seed, ..MemoryOptions::default() };
        Self::on(Simulation::new(model, MEMORY_BYTES as u64, memory).unwrap(), functions)
    }

    /// On an array that was just reset.
    pub fn on(simulation: Simulation, functions: [Marks; FUNCTIONS]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("marks.elf");
        build_source("marks.S", include_str!("kernels/marks.S"), RegisterClass::Rv32i, &path).unwrap();
        let kernel = Kernel::read(&path).unwrap();
        let mut host = Host::new(simulation).unwrap();
        host.load_kernel(&KernelImage::from(&kernel)).unwrap();
        let setup = ArraySetup {
            ring_slots_log2: RING_SLOTS_LOG2,
            slot_bytes_log2: SLOT_BYTES_LOG2,
            timeout: 20,
            argument: functions[0].words(),
            ..ArraySetup::default()
        };
        let layout = host.configure(&setup).unwrap();
        let mut arguments = [[0; 2]; FUNCTIONS];
        let mut contexts = [Function::default(); FUNCTIONS];
        for (number, function) in functions.iter().enumerate() {
            arguments[number] = [(); 2].map(|()| host.rmalloc("an argument block", 20).unwrap());
            for address in arguments[number] {
                host.device_mut().write_memory(address, &function.words()).unwrap();
            }
            contexts[number] = Function {
                entry: if number % 2 == 0 { kernel.entry } else { kernel.symbol("second").unwrap().address },
                argument: arguments[number][0],
                registers: 32,
                stack_base: layout.stack_base,
                read: Window::default(),
                write: Window::default(),
                watchdog: 0,
                mcw: 4,
                guards: Guards::default(),
            };
            host.load_function(number as u32, &contexts[number]).unwrap();
        }
        let (words, events, random) = (Vec::new(), Vec::new(), random());
        let edges = [Edges::default(); FUNCTIONS];
        let foreign = Vec::new();
        Self {
            host,
            functions,
            edges,
            arguments,
            contexts,
            foreign,
            layout,
            words,
            events,
            committed: 0,
            random,
        }
    }

    /// Packets of `from` go on to `to`.
    pub fn link(&mut self, from: usize, to: Option<usize>) {
        self.edges[from] = Edges::to(to);
        self.host.set_next(from as u32, to.map(|to| to as u32)).unwrap();
    }

    /// Packets of `from` go on by their verdicts.
    pub fn branch(&mut self, from: usize, edges: Edges) {
        self.edges[from] = edges;
        self.host.set_edges(from as u32, &edges).unwrap();
    }

    /// All functions in their order, as a chain.
    pub fn link_all(&mut self) {
        (1..FUNCTIONS).for_each(|to| self.link(to - 1, Some(to)));
    }

    /// The functions of the cores from now on.
    pub fn give(&mut self, functions: [usize; 3]) {
        let functions = functions.map(|function| (function < FUNCTIONS).then_some(function as u32));
        self.host.move_cores(&functions).unwrap();
    }

    /// Writes `count` packets to the ring and pushes them in pieces.
    pub fn push(&mut self, count: u32) {
        self.fill(count);
        self.push_filled(count);
    }

    /// Pushes packets that are in the ring in pieces.
    pub fn push_filled(&mut self, count: u32) {
        let mut left = count;
        while left > 0 {
            let piece = self.random.gen_range(1..=left.min(9));
            self.host.push_tasks(piece).unwrap();
            left -= piece;
        }
    }

    /// Writes `count` packets to the ring and pushes them at once: whole warps.
    pub fn push_warps(&mut self, count: u32) {
        assert_eq!(count % 4, 0);
        self.fill(count);
        self.host.push_tasks(count).unwrap();
    }

    /// Writes `count` packets to the ring.
    pub fn fill(&mut self, count: u32) {
        let first = self.words.len() as u32;
        assert!(first + count <= 1 << RING_SLOTS_LOG2);
        for index in first..first + count {
            let word: u32 = self.random.gen();
            let slot = self.layout.ring_base + (index << SLOT_BYTES_LOG2);
            let device = self.host.device_mut();
            device.write_memory(slot, &60u32.to_le_bytes()).unwrap();
            device.write_memory(slot + FRAME, &[0x55; 60]).unwrap();
            device.write_memory(slot + MARK, &word.to_le_bytes()).unwrap();
            self.words.push(word);
        }
    }

    /// All of the memory, behind the caches.
    pub fn memory(&mut self) -> Vec<u8> {
        self.host.clean_and_invalidate_caches().unwrap();
        let mut bytes = vec![0; MEMORY_BYTES];
        self.host.device_mut().read_memory(0, &mut bytes).unwrap();
        bytes
    }

    /// The verdict of a packet, behind the caches.
    pub fn verdict(&mut self, packet: u32) -> u32 {
        let mut bytes = [0; 4];
        self.host.device_mut().read_memory(self.layout.verdict_base + 4 * packet, &mut bytes).unwrap();
        u32::from_le_bytes(bytes)
    }

    /// The next packet.
    pub fn next_packet(&self) -> u32 {
        self.words.len() as u32
    }

    /// Lets `cycles` cycles pass and takes the events. Warps commit in their order, each once.
    pub fn run(&mut self, cycles: u64) {
        self.host.device_mut().run(cycles).unwrap();
        let seen = self.events.len();
        self.host.device_mut().take_events(&mut self.events);
        for (cycle, event) in &self.events[seen..] {
            if let Event::Commit(_, packets) = event {
                assert_eq!(packets.first, self.committed, "cycle {cycle}");
                self.committed += packets.count;
            }
        }
    }

    /// Packets pushed and not committed.
    pub fn pending(&self) -> u32 {
        self.words.len() as u32 - self.committed
    }

    /// Sends 20 packets through three functions, each alone; cycles from each finish to the next
    /// start.
    pub fn hops_of_lone_packets(&mut self) -> Vec<u64> {
        for _ in 0..20 {
            self.push(1);
            self.drain();
        }
        let mut finished = 0;
        let mut distances = Vec::new();
        for (cycle, event) in &self.events {
            match event {
                Event::Finish(_) => finished = *cycle,
                Event::Hop { .. } => distances.push(cycle - finished),
                _ => {}
            }
        }
        assert_eq!(distances.len(), 40);
        distances
    }

    /// Until all packets are committed.
    pub fn drain(&mut self) {
        for _ in 0..4_000 {
            if self.pending() == 0 {
                return;
            }
            self.run(100);
        }
        panic!("{} packets are pending; {}", self.pending(), self.host.describe());
    }

    /// The functions that a packet visits, as the model of the chain has it.
    pub fn visits(&self, packet: u32) -> Vec<usize> {
        let (mut function, mut word) = (0, self.words[packet as usize]);
        let mut visits = Vec::new();
        loop {
            visits.push(function);
            let foreign = self.foreign.iter().find(|foreign| foreign.number == function);
            let (mark, verdict) = match foreign {
                Some(foreign) => (word, (foreign.verdict)(packet)),
                None => self.functions[function].visit(word),
            };
            word = mark;
            match self.edges[function].of(Verdict(verdict)) {
                Some(next) => function = next,
                None => return visits,
            }
        }
    }

    /// Every packet is as the functions leave it that it visits from `entry` on, and so are the
    /// counters.
    pub fn check(&mut self) {
        let chain = self.edges;
        let mut visits = [Counts::default(); FUNCTIONS];
        self.host.clean_and_invalidate_caches().unwrap();
        for (index, &came) in self.words.clone().iter().enumerate() {
            let (mut function, mut word) = (0, came);
            // That of the last function that has not kept the one before.
            let mut left = 0;
            loop {
                let foreign = self.foreign.iter().find(|foreign| foreign.number == function);
                let (mark, verdict) = match foreign {
                    Some(foreign) => (word, (foreign.verdict)(index as u32)),
                    None => self.functions[function].visit(word),
                };
                word = mark;
                let counts = &mut visits[function];
                counts.lanes += 1;
                counts.forwarded += u32::from(verdict >> 31 == 0);
                counts.dropped += u32::from(verdict >> 31 == 1);
                counts.faulted += u32::from(verdict >> 30 == 3);
                if !self.contexts[function].guards.keeps_verdict || verdict >> 31 == 1 {
                    left = verdict;
                }
                match chain[function].of(Verdict(verdict)) {
                    Some(next) => function = next,
                    None => break,
                }
            }
            let read = |host: &mut Host<Simulation>, address: u32| {
                let mut bytes = [0; 4];
                host.device_mut().read_memory(address, &mut bytes).unwrap();
                u32::from_le_bytes(bytes)
            };
            let slot = self.layout.ring_base + ((index as u32) << SLOT_BYTES_LOG2);
            assert_eq!(
                read(&mut self.host, slot + MARK),
                word,
                "word of packet {index}, which was {came:#x}"
            );
            let place = self.layout.verdict_base + 4 * index as u32;
            assert_eq!(read(&mut self.host, place), left, "verdict of packet {index}");
        }
        for (function, expected) in visits.iter().enumerate() {
            let got = self.host.function_counts(function as u32).unwrap();
            let got_counts = Counts {
                lanes: got.lanes,
                forwarded: got.forwarded,
                dropped: got.dropped,
                faulted: got.faulted,
            };
            assert_eq!(got_counts, *expected, "counters of function {function}");
            assert_eq!(got.queued, 0);
        }
    }
}
