//! What an array is put through.

use hermes_rtl::config::Config;
use hermes_testbench::apps::{App, AppEntry, Inputs};
use hermes_testbench::command::CommandBench;
use hermes_testbench::cosim::{
    run, run_through_ports, ArraySetup, CosimError, Device as _, DramTiming, Host, KernelImage, Latency,
    MemoryOptions, Packet, RunOptions, Simulation, StreamOptions,
};
use hermes_testbench::fuzz::{generate, Bench, Features};
use hermes_testbench::harts::machine::{machine_program, Abilities, Style};
use hermes_testbench::outcome::{check_host, check_ports};
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::traffic::{Frame, Generator, Kind, Traffic};
use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::ModelLibrary;

use crate::functions::Chain;
use crate::network::{Commands, Faults};

/// Programs of cores, and runs of firmware and of packets, on an array.
#[derive(Clone, Copy)]
pub struct Rounds {
    programs: u64,
    firmware: u64,
    runs: u32,
}

impl Rounds {
    /// For the short tests.
    pub const FEW: Self = Self { programs: 2, firmware: 2, runs: 5 };
    /// For the long test.
    pub const MANY: Self = Self { programs: 4, firmware: 3, runs: 8 };
}

/// Instructions of a thread, blocks of a hart's program, and the cycles that it may take.
const INSTRUCTIONS: u32 = 300;
const BLOCKS: usize = 60;
const LIMIT: u64 = 3_000_000;
const MEMORY_BYTES: u64 = 16 << 20;
const SLOT_BYTES_LOG2: u32 = 11;
/// Apps without inputs: what they make of a packet is known.
const APPS: [&str; 2] = ["dec-ttl", "check-ip-header"];

/// A memory that is quick, late, out of order, or stalls.
fn memory(random: &mut ChaCha8Rng) -> MemoryOptions {
    let latency = match random.gen_range(0..4) {
        0 => Latency::Fixed(1),
        1 => Latency::Fixed(random.gen_range(2..200)),
        2 => Latency::Dram(DramTiming::default()),
        _ => Latency::Random(1, random.gen_range(2..120)),
    };
    let stall_percent = *[0, 10, 60].choose(random).expect("three");
    MemoryOptions { latency, stall_percent, seed: random.gen(), failing: Vec::new() }
}

/// Random programs on the cores; the number of warp-instructions that were compared.
pub fn programs(config: &Config, library: &ModelLibrary, rounds: Rounds, random: &mut ChaCha8Rng) -> u64 {
    let features = Features {
        aes: config.aes,
        atomics: config.atomics,
        compare_and_swap: config.compare_and_swap,
        network: config.network,
        local_window: config.local_window,
        ..Features::ALL
    };
    let at_once = (config.cores * config.lanes * config.warps) as u32;
    let mut compared = 0;
    for _ in 0..rounds.programs {
        let (seed, memory) = (random.gen(), memory(random));
        let features = Features { embedded: random.gen(), ..features };
        let packets = random.gen_range(1..=(2 * at_once).min(64));
        let lanes_log2 = config.lanes.trailing_zeros();
        let case = generate(seed, features, lanes_log2, packets, Bench::frame_bytes(), INSTRUCTIONS);
        let mut bench = Bench::new(library.clone(), config.clone(), memory.clone());
        bench.set_watchdog(*[0, 3_000].choose(random).expect("two"));
        let outcome =
            bench.run(&case, seed).unwrap_or_else(|error| panic!("program {seed}, {memory:?}: {error}"));
        compared += outcome.compared;
    }
    compared
}

/// Random programs on the harts, if there are any; the number of instructions that were compared.
pub fn firmware(config: &Config, library: &ModelLibrary, rounds: Rounds, random: &mut ChaCha8Rng) -> u64 {
    if config.command_threads == 0 {
        return 0;
    }
    let mut compared = 0;
    for _ in 0..rounds.firmware {
        let (seed, memory) = (random.gen(), memory(random));
        let mut drawn = ChaCha8Rng::seed_from_u64(seed);
        let style = Style::of(config);
        let program = |hart: usize| {
            let style = if config.command_threads > 1 { style.of_hart(hart as u32) } else { style };
            machine_program(&mut drawn, BLOCKS, style).executable
        };
        let programs: Vec<_> = (0..config.command_threads).map(program).collect();
        let bench =
            CommandBench::new(library.clone(), memory.clone(), Abilities::of(config)).going_on_at_break();
        let bench = if random.gen() { bench.debugged(seed) } else { bench };
        let simulation = Simulation::new(library.instantiate().unwrap(), 64 << 20, memory.clone()).unwrap();
        let mut host = Host::new(simulation).unwrap();
        let ended = bench.run_harts_on(&mut host, &programs, LIMIT);
        let ended = ended.unwrap_or_else(|error| panic!("firmware {seed}, {memory:?}: {error}"));
        compared += ended.seen.instructions;
    }
    compared
}

/// What passed.
#[derive(Default)]
pub struct Seen {
    pub packets: usize,
    /// Visits of packets to network functions behind the first one, but for what is dropped before.
    pub visits: u32,
    /// Commands of the network, and the faults of its wire.
    pub commands: u32,
    pub faults: Faults,
    /// Runs, and those that a reset ended.
    pub runs: u32,
    pub interrupted: u32,
}

/// A run of packets: an app, its frames, and how they come.
struct Run {
    name: &'static str,
    app: Box<dyn App>,
    kernel: KernelImage,
    frames: Vec<Frame>,
    setup: ArraySetup,
    /// The network functions, on an array that has them.
    chain: Option<Chain>,
    through_ports: bool,
    streams: StreamOptions,
    /// Seed of the network's commands.
    network: u64,
}

impl Run {
    fn draw(config: &Config, most_warps: u32, random: &mut ChaCha8Rng) -> Self {
        let name = *APPS.choose(random).expect("two");
        let entry = AppEntry::find(name).unwrap();
        let frame = |_| {
            let kind = Kind::Fixed(random.gen_range(60..=1_518));
            let traffic = Traffic { kind, seed: random.gen(), bad_share: 10.0, rate: 100.0 };
            let frame = Generator::new(traffic).next().expect("generators do not end");
            Frame { port: random.gen_range(0..4), ..frame }
        };
        let frames = (0..50).map(frame).collect();
        let setup = ArraySetup {
            ring_slots_log2: random.gen_range(2..7),
            slot_bytes_log2: SLOT_BYTES_LOG2,
            mcw: random.gen_range(1..=most_warps),
            timeout: random.gen_range(16..300),
            eager: random.gen(),
            ..ArraySetup::default()
        };
        Self {
            name,
            app: entry.load(&Inputs::default()).unwrap(),
            kernel: KernelImage::from(&entry.kernel(false).unwrap()),
            frames,
            setup,
            chain: Chain::draw(config, random),
            through_ports: config.packet_ports && random.gen_bool(0.7),
            streams: StreamOptions {
                stall_percent: *[0, 30, 70].choose(random).expect("three"),
                seed: random.gen(),
                drop_when_full: false,
            },
            network: random.gen(),
        }
    }

    /// The run on an array that comes out of reset; gives the number of commands, and the faults of
    /// the wire.
    fn on(
        &self,
        host: &mut Host<Simulation>,
        config: &Config,
        case: &str,
    ) -> Result<(u32, Faults), CosimError> {
        host.load_kernel(&self.kernel)?;
        let layout = host.configure(&self.setup)?;
        if let Some(chain) = &self.chain {
            chain.load(host, &self.kernel, &layout, self.setup.mcw)?;
        }
        let mut drawn = ChaCha8Rng::seed_from_u64(self.network);
        let mut commands = if config.network { Some(Commands::new(host, &mut drawn)?) } else { None };
        if let Some(commands) = &mut commands {
            commands.post(host)?;
        }
        let slots: Vec<_> = self.frames.iter().map(|frame| SlotPacket::new(frame, SLOT_BYTES_LOG2)).collect();
        // Slots hold the longest frame, so no packet is marked as cut.
        let packet = |f: &Frame| Packet { frame: f.data.clone(), port: f.port, flags: 0, arrival: 0 };
        let packets: Vec<_> = self.frames.iter().map(packet).collect();
        let chained = self.chain.as_ref().map(|chain| chain.of(self.app.as_ref()));
        let app: &dyn App = chained.as_ref().map_or(self.app.as_ref(), |chained| chained);
        let options = RunOptions::default();
        let (checked, result) = if self.through_ports {
            let result = run_through_ports(host, &self.setup, &packets, self.streams, options, &mut |_| {})?;
            (check_ports(app, &slots, &result).map(drop), result.run)
        } else {
            let result = run(host, &self.setup, &layout, &packets, options, &mut |_| {})?;
            (check_host(app, &slots, &result.packets), result)
        };
        if let Err(error) = checked {
            panic!("{case}: {error:#}");
        }
        assert_eq!((result.fault_count, result.bus_errors), (0, 0), "{case}");
        commands.map_or(Ok((0, [0; 3])), |commands| commands.finish(host, case))
    }
}

/// Runs of packets beside commands of the network, each on the array that the one before left; each
/// second one ends in a reset at any time first, and is done again.
pub fn packets(config: &Config, library: &ModelLibrary, rounds: Rounds, random: &mut ChaCha8Rng) -> Seen {
    let simulation = Simulation::new(library.instantiate().unwrap(), MEMORY_BYTES, memory(random)).unwrap();
    let mut host = Host::new(simulation).unwrap();
    let mut seen = Seen::default();
    for number in 0..rounds.runs {
        let run = Run::draw(config, host.most_warps(), random);
        let through = if run.through_ports { "ports" } else { "ring" };
        let mut case = format!("run {number}: {} through the {through}", run.name);
        if number % 2 == 1 {
            let moment =
                host.device_mut().cycle() + random.gen_range(1..[300, 3_000, 20_000][number as usize % 3]);
            host.device_mut().set_observer(Box::new(move |cycle, _, _, _| match cycle < moment {
                true => Ok(()),
                false => Err("time for a reset".to_string()),
            }));
            match run.on(&mut host, config, &case) {
                Err(CosimError::Observer { .. }) => {
                    seen.interrupted += 1;
                    case += &format!(", after a reset in cycle {moment}");
                }
                other => {
                    other.unwrap_or_else(|error| panic!("{case}: {error}"));
                    case += ", after a whole run and a reset";
                }
            }
            host.device_mut().remove_observer();
            if random.gen() {
                // A second reset, while memories are still wiped after the first.
                host = reset(host);
                host.device_mut().run(random.gen_range(0..600)).unwrap();
            }
            host = reset(host);
        }
        let done = run.on(&mut host, config, &case);
        let (commands, faults) = done.unwrap_or_else(|error| panic!("{case}: {error}"));
        seen.commands += commands;
        seen.faults.iter_mut().zip(faults).for_each(|(all, new)| *all += new);
        seen.packets += run.frames.len();
        seen.visits += run.chain.as_ref().map_or(0, |chain| chain.further() * run.frames.len() as u32);
        seen.runs += 1;
        host = reset(host);
    }
    seen
}

/// Resets the array of `host` and takes charge of it anew.
fn reset(host: Host<Simulation>) -> Host<Simulation> {
    let mut simulation = host.into_device();
    simulation.reset().unwrap();
    Host::new(simulation).unwrap()
}
