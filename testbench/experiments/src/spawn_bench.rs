//! How soon threads start: those of the thread spawner, and those of packets.
//!
//! Paper: Pangaea, Table 5: 26 cycles from the write of the CPU to the first instruction fetch.
//! Here the time of a spawned thread begins when the write of ENTRY reaches the spawner, a cycle
//! after the command processor's store is in stage W; that of a packet begins when the host's write
//! of TASK_PUSH does. Both end at the first lookup of the warp in the instruction cache of a core,
//! which the trace shows.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use anyhow::ensure;
use hermes_rtl::config::Config;
use hermes_testbench::apps::{App, AppEntry, Inputs};
use hermes_testbench::cosim::{
    ArraySetup, Descriptor, Device as _, Event, Host, KernelImage, Latency, Layout, MemoryOptions,
    RetirePorts, Simulation, SpawnEvent, WarpSlot,
};
use hermes_testbench::golden::Golden;
use hermes_testbench::slot::{SlotPacket, FRAME_OFFSET};
use hermes_testbench::traffic::{Generator, Kind, Traffic};
use hermes_testbench::verdict::Verdict;
use verilator_sys::ModelLibrary;

/// Bytes of the shared memory.
const MEMORY_BYTES: u64 = 64 << 20;
/// Bytes of a packet, and of its slot as a power of two.
const PACKET_BYTES: usize = 64;
const SLOT_BYTES_LOG2: u32 = 7;
/// What a spawned thread does: `sw a0, 0(a1)`, `ret`.
pub(crate) const THREAD: [u32; 2] = [0x00a5_a023, 0x0000_8067];
/// Cycles after which a packet that was pushed must be committed.
const COMMIT_LIMIT: u64 = 100_000;

/// Seed of the packets.
pub const SPAWN_SEED: u64 = 1;

/// What an array has to do beside starting threads.
#[derive(Clone, Debug)]
pub struct SpawnLoad<'a> {
    /// From a memory request to its response.
    pub latency: Latency,
    /// Maximally allowed concurrent packet warps of a core.
    pub mcw: u32,
    /// App whose packets there are; none: there are no packets.
    pub app: Option<&'a str>,
    /// Packets, as a power of two.
    pub packets_log2: u32,
}

/// From the trigger of each job to the first fetch of its entry.
#[derive(Default)]
struct Watch {
    triggered: Option<u64>,
    /// When packets were pushed whose warp was not issued.
    pushed: Option<u64>,
    /// The warp of packets that has not looked up its first instruction, and when they were pushed.
    first: Option<(WarpSlot, u64)>,
    /// From each push to that lookup.
    push_times: Vec<u64>,
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
                Event::Issue(slot, _) => {
                    self.first = self.pushed.take().map(|push| (*slot, push)).or(self.first);
                }
                _ => {}
            }
        }
        if let Some((slot, push)) = self.first {
            if fetches.iter().any(|(fetching, _)| *fetching == slot) {
                self.push_times.push(cycle - push);
                self.first = None;
            }
        }
        for (slot, _) in fetches.iter().filter(|(_, pc)| *pc == entry) {
            let trigger = self.starting.remove(slot);
            self.times.extend(trigger.map(|trigger| cycle - trigger));
        }
    }
}

/// An array with packets that wait, or none.
pub struct SpawnBench {
    host: Host<Simulation>,
    layout: Layout,
    packets: Vec<SlotPacket>,
    app: Option<Box<dyn App>>,
    job: Descriptor,
    watch: Rc<RefCell<Watch>>,
}

impl SpawnBench {
    /// An array with a thread spawner and trace ports, and what it has to do.
    ///
    /// # Errors
    /// The app is not known, or the array cannot be set up.
    pub fn new(library: &ModelLibrary, config: &Config, load: SpawnLoad) -> anyhow::Result<Self> {
        let memory = MemoryOptions { latency: load.latency, ..MemoryOptions::default() };
        let mut host = Host::new(Simulation::new(library.instantiate()?, MEMORY_BYTES, memory)?)?;
        let entry = load.app.map(AppEntry::find).transpose()?;
        let app = entry.map(|entry| entry.load(&Inputs::default())).transpose()?;
        let ring_slots_log2 = load.packets_log2;
        let mut setup = ArraySetup {
            ring_slots_log2,
            slot_bytes_log2: SLOT_BYTES_LOG2,
            mcw: load.mcw,
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
        let traffic =
            Traffic { kind: Kind::Fixed(PACKET_BYTES), seed: SPAWN_SEED, bad_share: 0.0, rate: 100.0 };
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
    /// their times, and the cycles of the run.
    ///
    /// # Errors
    /// A register does not answer, or a packet differs from the golden model.
    pub fn run(mut self, jobs: u32) -> anyhow::Result<(Vec<u64>, u64)> {
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
        Ok((times, self.host.device_mut().cycle()))
    }

    /// Pushes the packets of so many warps, a warp at a time on an array that is idle; the times to
    /// their first instruction, and the cycles of the run.
    ///
    /// # Errors
    /// A register does not answer, a packet is not committed, or differs from the golden model.
    pub fn push(mut self, warps: u32) -> anyhow::Result<(Vec<u64>, u64)> {
        let lanes = self.job.threads;
        let total = self.packets.len() as u32;
        ensure!(warps * lanes <= total, "{warps} warps of {lanes} lanes: expected {total} packets at most");
        self.host.start(false)?;
        for warp in 1..=warps {
            let begin = self.host.device_mut().cycle();
            self.watch.borrow_mut().pushed = Some(begin);
            self.host.push_tasks(lanes)?;
            while self.host.committed()? < warp * lanes {
                let waited = self.host.device_mut().cycle() - begin;
                ensure!(waited < COMMIT_LIMIT, "warp {warp}: not committed after {waited} cycles");
                self.host.device_mut().run(100)?;
            }
            // So that the pushes meet the cores in every state.
            self.host.device_mut().run(u64::from(warp * 7 % 61))?;
        }
        self.packets.truncate((warps * lanes) as usize);
        self.check()?;
        let times = self.watch.borrow().push_times.clone();
        Ok((times, self.host.device_mut().cycle()))
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
