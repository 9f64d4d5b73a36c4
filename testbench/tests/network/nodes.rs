//! Two nodes, and the wire between them.

use std::collections::VecDeque;
use std::sync::OnceLock;

use hermes_rtl::config::Config;
use hermes_rtl::net::{right, state, word};
use hermes_testbench::cosim::{
    Device as _, Host, KernelImage, Latency, MemoryOptions, PostOptions, QueuePair, Region, SentFrame,
    Simulation,
};
use hermes_testbench::kernel::{build_source, Kernel, RegisterClass};
use hermes_testbench::model;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::ModelLibrary;

/// Bytes of the shared memory of a node.
const MEMORY_BYTES: u64 = 16 << 20;
/// Cycles that a bit is on its way, and bytes that the wire carries in 25 cycles, at 100 Gbit/s and
/// 1 GHz: half of 25.
const WIRE_CYCLES: u64 = 200;
const BYTES_IN_TWO_CYCLES: u64 = 25;
/// Preamble, frame check sequence and gap.
const OVERHEAD: u64 = 24;
/// The queue pair of node 0, and that of node 1.
pub const PAIR: [u32; 2] = [3, 12];
/// Bytes of the symmetric window.
pub const WINDOW_BYTES: u32 = 0x1_4000;
/// First packet sequence number of each direction: they go round soon.
pub const FIRST: [u32; 2] = [0xff_fffd, 0x00_1000];
/// Type of service of the frames.
pub const TYPE_OF_SERVICE: u8 = 0x20;
/// Key of region 1: peers may use the window.
pub const KEY: u32 = 0x1234_5601;
/// Region 2: commands may read and write the window.
pub const SOURCE: PostOptions = PostOptions { region: 2, domain: DOMAIN };
/// The protection domain of all.
pub const DOMAIN: u32 = 5;

/// One core with four lanes, packet ring and network interface.
fn config() -> Config {
    let default = Config::preset("default").unwrap();
    let caches = Config { l2_banks: 2, l2_bank_lines: 16, l1_lines: 16, ..default };
    Config { cores: 1, lanes: 4, warps: 4, atomics: true, network: true, ..caches }
}

pub fn library() -> &'static ModelLibrary {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let design = hermes_rtl::top::emit_top(&config()).unwrap();
        model::checked(&design).unwrap()
    })
}

pub use hermes_testbench::cluster::address;

/// A direction of the wire.
#[derive(Default)]
struct Wire {
    free: u64,
    flying: VecDeque<(u64, Vec<u8>)>,
}

/// Two nodes whose queue pairs are up, and whose symmetric windows begin at different addresses.
pub struct Nodes {
    pub hosts: [Host<Simulation>; 2],
    /// Where the symmetric window of each begins.
    pub windows: [u32; 2],
    wires: [Wire; 2],
    /// Bytes of packets.
    mtu: u32,
    /// Of 1,000 frames, those that are lost.
    pub loss: u32,
    /// Frames that were lost.
    pub lost: usize,
    rng: ChaCha8Rng,
    /// The frames that each sent.
    pub sent: [Vec<SentFrame>; 2],
}

impl Nodes {
    /// With this kernel on both, and packets of 1,024 bytes.
    pub fn new(kernel: &str, seed: u64) -> Self {
        Self::with_mtu(kernel, seed, 1_024)
    }

    /// With packets of `mtu` bytes.
    pub fn with_mtu(kernel: &str, seed: u64, mtu: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kernel.elf");
        build_source("kernel.S", kernel, RegisterClass::Rv32e, &path).unwrap();
        let kernel = KernelImage::from(&Kernel::read(&path).unwrap());
        let host = |node: u64| {
            let memory = MemoryOptions {
                latency: Latency::Random(1, 60),
                seed: seed ^ node,
                ..MemoryOptions::default()
            };
            let model = library().instantiate().unwrap();
            let mut host = Host::new(Simulation::new(model, MEMORY_BYTES, memory).unwrap()).unwrap();
            host.load_kernel(&kernel).unwrap();
            host
        };
        let mut hosts = [host(0), host(1)];
        hosts[1].rmalloc("what makes the windows differ", 0x1_0000).unwrap();
        let windows = hosts.each_mut().map(|host| host.rmalloc("the window", WINDOW_BYTES as usize).unwrap());
        for (node, host) in hosts.iter_mut().enumerate() {
            host.device_mut().write_memory(windows[node], &[0xee; WINDOW_BYTES as usize]).unwrap();
            host.enable_network(address(node), TYPE_OF_SERVICE).unwrap();
            let window = Region {
                address: windows[node],
                bytes: WINDOW_BYTES,
                rights: right::REMOTE_WRITE | right::REMOTE_READ | right::REMOTE_ATOMIC,
                key: KEY,
                domain: DOMAIN,
            };
            host.set_region(1, &window).unwrap();
            let source = Region { rights: right::LOCAL_READ | right::LOCAL_WRITE, key: 2, ..window };
            host.set_region(2, &source).unwrap();
        }
        let rng = ChaCha8Rng::seed_from_u64(seed);
        let mut nodes = Self {
            hosts,
            windows,
            wires: Default::default(),
            mtu,
            loss: 0,
            lost: 0,
            rng,
            sent: Default::default(),
        };
        nodes.connect(FIRST);
        nodes
    }

    /// Takes the queue pairs up, which begin with these packet sequence numbers.
    pub fn connect(&mut self, first: [u32; 2]) {
        for (node, number) in PAIR.into_iter().enumerate() {
            let pair = self.pair(node, first);
            self.hosts[node].connect_queue_pair(number, &pair).unwrap();
        }
    }

    /// The queue pair of `node`: it puts into the window of the other.
    pub fn pair(&self, node: usize, first: [u32; 2]) -> QueuePair {
        let peer = 1 - node;
        QueuePair {
            peer: address(peer),
            remote: PAIR[peer],
            key: KEY,
            window: self.windows[node],
            window_bytes: WINDOW_BYTES,
            remote_base: self.windows[peer].into(),
            send: first[node],
            expect: first[peer],
            mtu: self.mtu,
            domain: DOMAIN,
            ..QueuePair::default()
        }
    }

    /// Both queue pairs are in ERROR, since one refused the other: takes them to RESET.
    pub fn reset_refused(&mut self) {
        for (node, pair) in PAIR.into_iter().enumerate() {
            let word = self.hosts[node].queue_pair_word(pair, word::STATE).unwrap();
            assert_eq!(u64::from(word & 15), state::ERROR, "node {node}");
            assert_eq!(self.hosts[node].read("QP_DOWN").unwrap(), 1 << pair, "node {node}");
            self.hosts[node].set_queue_pair_state(pair, state::RESET).unwrap();
        }
    }

    /// Lets both nodes work until `cycles` have passed for that which is ahead, and the wire carry
    /// frames.
    pub fn run(&mut self, cycles: u64) {
        let now = self.hosts.each_mut().map(|host| host.device_mut().cycle());
        let end = now[0].max(now[1]) + cycles;
        loop {
            let now = self.hosts.each_mut().map(|host| host.device_mut().cycle());
            let node = usize::from(now[1] < now[0]);
            if now[node] == end {
                return;
            }
            self.hosts[node].device_mut().step().unwrap();
            self.carry(node);
        }
    }

    /// What `node` sent goes onto its wire; what has reached it goes in.
    fn carry(&mut self, node: usize) {
        let seen = self.sent[node].len();
        let simulation = self.hosts[node].device_mut();
        let now = simulation.cycle();
        simulation.network_mut().unwrap().sink.take_frames(&mut self.sent[node]);
        for frame in &self.sent[node][seen..] {
            let wire = &mut self.wires[node];
            let begin = frame.cycle.max(wire.free);
            wire.free = begin + ((frame.bytes.len() as u64 + OVERHEAD) * 2).div_ceil(BYTES_IN_TWO_CYCLES);
            if self.rng.gen_range(0..1_000) < self.loss {
                self.lost += 1;
            } else {
                wire.flying.push_back((wire.free + WIRE_CYCLES, frame.bytes.clone()));
            }
        }
        let here = &mut self.wires[1 - node].flying;
        while here.front().is_some_and(|(due, _)| *due <= now) {
            let (_, bytes) = here.pop_front().unwrap();
            simulation.network_mut().unwrap().source.submit(0, bytes);
        }
    }

    /// The bytes of the window of a node, as its memory has them when its caches are clean.
    pub fn window(&mut self, node: usize) -> Vec<u8> {
        self.hosts[node].clean_caches().unwrap();
        let mut bytes = vec![0; WINDOW_BYTES as usize];
        self.hosts[node].device_mut().read_memory(self.windows[node], &mut bytes).unwrap();
        bytes
    }
}
