//! `hermes bench spawn`: how quickly a job of the thread spawner starts, alone and beside packets.
//!
//! Paper: Pangaea, Table 5: 26 cycles from the write of the CPU to the first instruction fetch.
//! Here the time begins when the write of ENTRY reaches the spawner, a cycle after the command
//! processor's store is in stage W, and ends at the first lookup of the entry in the instruction
//! cache of a core, which the trace shows.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use anyhow::ensure;
use hermes_rtl::config::Config;
use hermes_testbench::apps::{AppEntry, Inputs};
use hermes_testbench::cosim::{
    ArraySetup, Descriptor, Device as _, Event, Host, KernelImage, Latency, Layout, MemoryOptions,
    Simulation, SpawnEvent, WarpSlot,
};
use hermes_testbench::golden::Golden;
use hermes_testbench::lockstep::RetirePorts;
use hermes_testbench::slot::{SlotPacket, FRAME_OFFSET};
use hermes_testbench::traffic::{Generator, Kind, Traffic};
use hermes_testbench::verdict::Verdict;
use verilator_sys::ModelLibrary;

use super::figure::{Bound, Figure};
use super::times::Times;
use super::Subject;
use crate::array;

/// Bytes of the shared memory.
const MEMORY_BYTES: u64 = 64 << 20;
/// Bytes of a packet, and of its slot as a power of two.
const PACKET_BYTES: usize = 64;
const SLOT_BYTES_LOG2: u32 = 7;
/// What a spawned thread does: `sw a0, 0(a1)`, `ret`.
const THREAD: [u32; 2] = [0x00a5_a023, 0x0000_8067];

/// Seed of the packets.
const SEED: u64 = 1;

#[derive(clap::Args)]
pub struct Args {
    /// Jobs to start beside packets, each of one warp
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    jobs: u32,
    /// Apps whose packets the array processes meanwhile
    #[arg(long, value_name = "APP,...", value_delimiter = ',', default_value = "dec-ttl,check-ip-header")]
    apps: Vec<String>,
    /// Maximally allowed concurrent packet warps per core
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=4))]
    mcw: u32,
    /// Cycles from a memory request to its response
    #[arg(long, value_name = "CYCLES", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    latency: u32,
}

/// The preset `pangaea`, with the trace that the bench reads.
pub fn config() -> anyhow::Result<Config> {
    Ok(Config { trace: true, ..Config::preset("pangaea")? })
}

pub fn measure(args: &Args, on: &mut Subject, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    let config = config()?;
    config.validate()?;
    on.add(&config);
    on.seed = Some(SEED);
    let library = array::library(&config, false, quiet, |_| {})?;
    let idle = Bench::new(&library, &config, args, None)?.run(50)?;
    // The first on each core finds nothing in its caches.
    let times = Times::of(&idle[config.cores..]);
    let mut figures =
        vec![Figure::new("idle_trigger_to_fetch", times.longest, "cycles").limit(Bound::AtMost(12.0))];
    for name in &args.apps {
        let bench = Bench::new(&library, &config, args, Some(name))?;
        let times = Times::of(&bench.run(args.jobs)?);
        let longest = Figure::new(format!("{name}_trigger_to_fetch_p99"), times.p99, "cycles");
        // The limit holds for one load; with others the cores issue in longer turns.
        let is_limited = name == "dec-ttl" && args.mcw == 2;
        figures.extend([
            Figure::new(format!("{name}_jobs"), times.count as f64, ""),
            Figure::new(format!("{name}_trigger_to_fetch_p50"), times.p50, "cycles"),
            if is_limited { longest.limit(Bound::AtMost(24.0)) } else { longest },
        ]);
    }
    Ok(figures)
}

/// From the trigger of each job to the first fetch of its entry.
#[derive(Default)]
struct Watch {
    triggered: Option<u64>,
    /// Warps of spawned threads that have not looked up their entry, and the triggers of their
    /// jobs.
    starting: HashMap<WarpSlot, u64>,
    times: Vec<u64>,
}

impl Watch {
    fn cycle(&mut self, cycle: u64, fetches: &[(WarpSlot, u32)], events: &[(u64, Event)], entry: u32) {
        for (_, event) in events {
            match event {
                Event::Spawn(SpawnEvent::Trigger(_)) => self.triggered = Some(cycle),
                Event::Spawn(SpawnEvent::Issue { slot, first: 0, .. }) => {
                    self.starting.extend(self.triggered.take().map(|trigger| (*slot, trigger)));
                }
                _ => {}
            }
        }
        for (slot, _) in fetches.iter().filter(|(_, pc)| *pc == entry) {
            let trigger = self.starting.remove(slot);
            self.times.extend(trigger.map(|trigger| cycle - trigger));
        }
    }
}

/// An array with packets that wait, or none.
struct Bench {
    host: Host<Simulation>,
    layout: Layout,
    packets: Vec<SlotPacket>,
    app: Option<Box<dyn hermes_testbench::apps::App>>,
    job: Descriptor,
    watch: Rc<RefCell<Watch>>,
}

impl Bench {
    fn new(library: &ModelLibrary, config: &Config, args: &Args, app: Option<&str>) -> anyhow::Result<Self> {
        let memory = MemoryOptions { latency: Latency::Fixed(args.latency), ..MemoryOptions::default() };
        let mut host = Host::new(Simulation::new(library.instantiate()?, MEMORY_BYTES, memory)?)?;
        let entry = app.map(AppEntry::find).transpose()?;
        let app = entry.map(|entry| entry.load(&Inputs::default())).transpose()?;
        let ring_slots_log2 = if app.is_some() { 15 } else { 5 };
        let mut setup = ArraySetup {
            ring_slots_log2,
            slot_bytes_log2: SLOT_BYTES_LOG2,
            mcw: args.mcw,
            ..ArraySetup::default()
        };
        if let (Some(entry), Some(app)) = (entry, &app) {
            host.load_kernel(&KernelImage::from(&entry.kernel(false)?))?;
            host.load_app(app.as_ref(), &mut setup)?;
        }
        let code = host.rmalloc("the threads' code", 64)?;
        let words: Vec<u8> = THREAD.iter().flat_map(|word| word.to_le_bytes()).collect();
        host.device_mut().write_memory(code, &words)?;
        let results = host.rmalloc("what the threads store", 64)?;
        let layout = host.configure(&setup)?;
        host.write("INVALIDATE", 3)?;
        let traffic = Traffic { kind: Kind::Fixed(PACKET_BYTES), seed: SEED, bad_share: 0.0, rate: 100.0 };
        let count = if app.is_some() { 1 << ring_slots_log2 } else { 0 };
        let frames = Generator::new(traffic).take(count);
        let packets: Vec<_> = frames.map(|frame| SlotPacket::new(&frame, SLOT_BYTES_LOG2)).collect();
        for (index, packet) in packets.iter().enumerate() {
            let mut bytes: Vec<u8> = (packet.frame.len() as u32).to_le_bytes().to_vec();
            bytes.resize(FRAME_OFFSET, 0);
            bytes.extend(&packet.frame);
            host.device_mut().write_memory(layout.ring_base + ((index as u32) << SLOT_BYTES_LOG2), &bytes)?;
        }
        let job = Descriptor {
            entry: code,
            arguments: [results, 0],
            threads: config.lanes as u32,
            small_registers: host.read("KERNEL_CLASS")? == 1,
            ..Descriptor::default()
        };
        let watch = Rc::new(RefCell::new(Watch::default()));
        let ports = RetirePorts::bind(host.device_mut().model_mut(), config.cores, config.lanes)?;
        let seen = Rc::clone(&watch);
        host.device_mut().set_observer(Box::new(move |cycle, model, events, _| {
            seen.borrow_mut().cycle(cycle, &ports.fetches(model), events, code);
            Ok(())
        }));
        host.enable_spawner(2, 0)?;
        Ok(Self { host, layout, packets, app, job, watch })
    }

    /// Starts `jobs` jobs one after the other, while packets are there if the array has an app;
    /// their times.
    fn run(mut self, jobs: u32) -> anyhow::Result<Vec<u64>> {
        let total = self.packets.len() as u32;
        if total > 0 {
            self.host.start(false)?;
            self.host.push_tasks(total)?;
            self.host.device_mut().run(2_000)?;
        }
        self.host.spawn(0, &self.job)?;
        for job in 1..jobs {
            self.host.wait_for_jobs(1)?;
            // So that the triggers meet the cores in every state.
            self.host.device_mut().run(u64::from(job * 7 % 61))?;
            if total > 0 && self.host.read("PENDING")? == 0 {
                break;
            }
            self.host.spawn_again(0, self.job.entry)?;
        }
        self.host.wait_for_jobs(1)?;
        while self.host.committed()? < total {
            self.host.device_mut().run(1_000)?;
        }
        self.check()?;
        let times = self.watch.borrow().times.clone();
        ensure!(!times.is_empty(), "no job was measured");
        Ok(times)
    }

    /// Compares what became of the packets with the golden model.
    fn check(&mut self) -> anyhow::Result<()> {
        let Some(app) = &self.app else { return Ok(()) };
        self.host.clean_caches()?;
        for (index, packet) in self.packets.iter().enumerate() {
            let mut verdict = [0; 4];
            let mut frame = vec![0; packet.frame.len()];
            let slot = self.layout.ring_base + ((index as u32) << SLOT_BYTES_LOG2);
            let device = self.host.device_mut();
            device.read_memory(self.layout.verdict_base + 4 * index as u32, &mut verdict)?;
            device.read_memory(slot + FRAME_OFFSET as u32, &mut frame)?;
            let got = Golden { verdict: Verdict(u32::from_le_bytes(verdict)), frame };
            if let Some(difference) = app.check(index as u64, packet, got) {
                anyhow::bail!("{difference}");
            }
        }
        Ok(())
    }
}
