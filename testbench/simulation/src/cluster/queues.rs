//! Command queues of the warps of a node, and the firmware that serves them (docs/shmem.md).

use std::path::PathBuf;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::harts::{HartCounts, HartMoment};
use super::node::{Node, WINDOW_REGION};
use super::program::{KernelOutcome, NodeReport};
use super::serve::Served;
use super::service::ServiceCounts;
use super::status::NetStatus;
use crate::cosim::{
    self, option, ArraySetup, CosimError, Device, FirmwareLink, Host, KernelImage, Packet, QueueAreas,
    RunOptions, MESSAGE_WORDS,
};
use crate::firmware::{Firmware, FirmwareEnd};

/// Entries of a ring.
pub const QUEUE_ENTRIES: u32 = 64;
/// Bytes of an entry, and of a control line.
const ENTRY: u32 = 64;
/// Messages of the host, as in `hermes_net.h`.
const AREA: u32 = 1;
const PE: u32 = 2;
const START: u32 = 3;
const STOP: u32 = 4;
const RESET: u32 = 5;
/// Cycles between two looks at the firmware, and how many of them it may take to answer.
const PAUSE: u64 = 200;
const PATIENCE: u64 = 8_000_000;

/// Who serves the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub enum QueueMode {
    /// Hardware fetches commands and completes them by counters, firmware (`net.c`) only says where
    /// they go.
    Queues,
    /// Firmware (`net-paper.c`) polls the rings, and completes commands by their statuses: section
    /// 4.2.1 of the ComP-Net paper.
    Paper,
}

impl QueueMode {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Queues, Self::Paper];

    /// Its name, as its firmware has it too (`NET_MODE` of `hermes_net.h`).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queues => "queues",
            Self::Paper => "paper",
        }
    }

    /// The source of its firmware, in `kernels-asm/firmware`.
    #[must_use]
    pub const fn firmware(self) -> &'static str {
        match self {
            Self::Queues => "net.c",
            Self::Paper => "net-paper.c",
        }
    }
}

/// Where the queues of the warp slots of a node are: rings, control lines, and behind them the
/// symmetric heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueArea {
    /// Its first byte, a multiple of its size.
    pub base: u32,
    /// Its bytes, as a power of two.
    pub bytes_log2: u32,
    /// Warp slots of the array, rounded up to a power of two.
    pub slots: u32,
    /// Warp slots of a core.
    pub slots_of_core: u32,
    /// First byte of the heap.
    pub heap: u32,
    /// Its bytes.
    pub heap_bytes: u32,
}

impl QueueArea {
    /// An area for the array of `host`, that of domain 0, with a heap of `heap_bytes` bytes. Those
    /// of other domains follow. Their memory holds zeros if nothing was there before.
    ///
    /// # Errors
    /// [`CosimError::OutOfMemory`], or a register does not answer.
    pub fn allocate<D: Device>(host: &mut Host<D>, heap_bytes: u32) -> Result<Self, CosimError> {
        let info = host.info();
        let slots = (info.cores * info.warps).next_power_of_two();
        let before = slots * (QUEUE_ENTRIES + 1) * ENTRY;
        let bytes = (before + heap_bytes).next_power_of_two();
        let all = bytes << (host.read("NET_CAPS")? >> 11 & 3);
        let base = host.rmalloc_aligned("the command queues", all as usize, all)?;
        let (slots_of_core, bytes_log2) = (info.warps, bytes.ilog2());
        Ok(Self { base, bytes_log2, slots, slots_of_core, heap: base + before, heap_bytes })
    }

    /// Address of an entry of the ring of a warp slot.
    #[must_use]
    pub fn entry(&self, slot: u32, index: u32) -> u32 {
        self.base + (slot * QUEUE_ENTRIES + index % QUEUE_ENTRIES) * ENTRY
    }

    /// Address of its control line.
    #[must_use]
    pub fn control(&self, slot: u32) -> u32 {
        self.base + (self.slots * QUEUE_ENTRIES + slot) * ENTRY
    }

    /// The argument block of a kernel on `node`: `struct hermes_arguments` of `hermes_shmem.h`, and
    /// the kernel's `own` words.
    #[must_use]
    pub fn argument(&self, node: &Node, own: &[u32]) -> Vec<u8> {
        let (number, nodes) = (node.number as u32, node.nodes as u32);
        let words = [self.base, self.heap, number, nodes, self.slots, self.heap_bytes, self.slots_of_core, 0];
        words.iter().chain(own).flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// What the firmware that serves the queues of a node did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct QueueService {
    /// Commands that were taken.
    pub taken: u32,
    /// Commands of them that failed.
    pub failed: u32,
}

impl QueueService {
    /// Starts it, on all harts: it serves the queues of `area`, whose commands go to the queue
    /// pairs of [`Node::connect_mesh`] and read in the symmetric heap. In [`QueueMode::Paper`] a
    /// hart looks at what is complete after each `rounds` rounds through its queues. Returns when
    /// the queues are on. The addresses of `firmware`, which is that of `mode`, must be reserved.
    ///
    /// # Errors
    /// The firmware ends or does not answer, or a register does not answer.
    pub fn start(
        node: &mut Node,
        mode: QueueMode,
        firmware: &Firmware,
        area: &QueueArea,
        rounds: u32,
    ) -> Result<(), CosimError> {
        if mode == QueueMode::Queues {
            let areas = QueueAreas { base: area.base, area_log2: area.bytes_log2, lock: true };
            node.host.set_queue_areas(areas)?;
        }
        node.host.start_firmware(firmware)?;
        let mut messages = vec![[AREA, area.base, area.slots, area.bytes_log2]];
        for peer in 0..node.nodes {
            if let Some(pair) = node.pair_for(peer) {
                messages.push(route(peer as u32, pair, WINDOW_REGION, 0));
            }
        }
        // Another one each time, since what a warp slot remembers of its queue outlives a reset.
        let mut random = ChaCha8Rng::seed_from_u64(node.host.device_mut().cycle());
        random.set_stream(node.number as u64);
        messages.push([START, random.gen_range(1..=u32::MAX), rounds, 0]);
        if let Some(link) = node.host.firmware_mut() {
            messages.into_iter().for_each(|message| link.send(message));
        }
        answer(node, START).map(|_| ())
    }

    /// From now on commands of the queues of `domain` to node `peer` go to queue pair `pair`, and
    /// read and write in `region` here. [`QueueService::start`] does this for domain 0. The
    /// firmware takes it within some hundred cycles in which [`Host::attend_firmware`] is called.
    pub fn route(node: &mut Node, domain: u32, peer: u32, pair: u32, region: u32) {
        if let Some(link) = node.host.firmware_mut() {
            link.send(route(peer, pair, region, domain));
        }
    }

    /// Empties a queue, whose warp has ended, and switches it on with another `epoch`: what the
    /// warp left counts no more. Returns when that is done, which takes as long as commands that
    /// are under way. In [`QueueMode::Queues`] only.
    ///
    /// # Errors
    /// There is no such queue, the epoch is 0, the firmware ends or does not answer, or a register
    /// does not answer.
    pub fn reset(node: &mut Node, queue: u32, epoch: u32) -> Result<(), CosimError> {
        let capabilities = node.host.read("NET_CAPS")?;
        let queues = (capabilities >> 17 & 0xfff) << (capabilities >> 11 & 3);
        option("command queue", queue, queue < queues, &format!("0 to {}", queues - 1))?;
        option("epoch of a command queue", epoch, epoch != 0, "another number than 0")?;
        if let Some(link) = node.host.firmware_mut() {
            link.send([RESET, queue, epoch, 0]);
        }
        // One that came too late for its own call may come first.
        while answer(node, RESET)?[1] != queue {}
        Ok(())
    }

    /// Ends it, when the kernels have ended: it completes what they published.
    ///
    /// # Errors
    /// It does not end, or otherwise than by its `main`, or a register does not answer.
    pub fn stop(node: &mut Node) -> Result<Self, CosimError> {
        if let Some(link) = node.host.firmware_mut() {
            link.send([STOP, 0, 0, 0]);
        }
        let [_, taken, failed, _] = answer(node, STOP)?;
        for _ in 0..PATIENCE / PAUSE {
            match node.host.attend_firmware()? {
                Some(FirmwareEnd::Value(0)) => return Ok(Self { taken, failed }),
                Some(end) => return Err(CosimError::Firmware(format!("ended: {end:?}"))),
                None => node.run(PAUSE)?,
            }
        }
        Err(CosimError::Firmware(format!("does not end within {PATIENCE} cycles")))
    }
}

/// The message that says where commands of `domain` to node `peer` go.
const fn route(peer: u32, pair: u32, region: u32, domain: u32) -> [u32; MESSAGE_WORDS] {
    [PE, peer, pair | region << 8 | domain << 24, 0]
}

/// Waits for a message of the firmware.
fn answer(node: &mut Node, kind: u32) -> Result<[u32; MESSAGE_WORDS], CosimError> {
    for _ in 0..PATIENCE / PAUSE {
        let end = node.host.attend_firmware()?;
        if let Some(words) = node.host.firmware_mut().and_then(FirmwareLink::receive) {
            if words[0] == kind {
                return Ok(words);
            }
        }
        if let Some(end) = end {
            return Err(CosimError::Firmware(format!("ended: {end:?}")));
        }
        node.run(PAUSE)?;
    }
    Err(CosimError::Firmware(format!("does not answer within {PATIENCE} cycles")))
}

/// A kernel whose warps post commands by their queues, on every node, with the firmware that serves
/// these beside it.
pub struct QueueProgram {
    /// The kernel.
    pub kernel: KernelImage,
    /// Who serves the queues.
    pub mode: QueueMode,
    /// ELF file of the firmware of that mode.
    pub firmware: PathBuf,
    /// The packets of each node.
    pub packets: Vec<Vec<Packet>>,
    /// How the kernel runs; its argument block is made here.
    pub setup: ArraySetup,
    /// The kernel's own words of its argument block.
    pub own: Vec<u32>,
    /// Bytes of the symmetric heap, which has the same address on all nodes.
    pub heap_bytes: u32,
    /// See [`QueueService::start`].
    pub rounds: u32,
}

/// What a node did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueReport {
    /// Cycles since reset at which its kernel began and ended.
    pub cycles: (u64, u64),
    /// Verdicts of its packets, in their order.
    pub verdicts: Vec<u32>,
    /// Threads of the kernel that ended with a fault.
    pub faults: u32,
    /// What became of its packets.
    pub outcome: KernelOutcome,
    /// The firmware.
    pub service: QueueService,
    /// Where the queues are.
    pub area: QueueArea,
    /// The whole area, with the heap, when all nodes had ended.
    pub memory: Vec<u8>,
    /// Its network interface then.
    pub status: NetStatus,
    /// What the threads that serve its commands in place of the node did, if there are any.
    pub service_counts: Option<ServiceCounts>,
    /// What its harts did, of [`QueueProgram::run_counted`].
    pub harts: Option<HartCounts>,
}

impl QueueReport {
    /// A word of the area.
    ///
    /// # Panics
    /// If it is not in the area.
    #[must_use]
    pub fn word(&self, address: u32) -> u32 {
        let at = (address - self.area.base) as usize;
        let bytes = &self.memory[at..at + 4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    /// The heap.
    #[must_use]
    pub fn heap(&self) -> &[u8] {
        let first = (self.area.heap - self.area.base) as usize;
        &self.memory[first..first + self.area.heap_bytes as usize]
    }
}

/// Commands are complete when the kernel has ended and the firmware has stopped. The code is one of
/// those in the control lines.
impl From<QueueReport> for NodeReport {
    fn from(report: QueueReport) -> Self {
        let heap = report.heap().to_vec();
        let errors = (0..report.area.slots).flat_map(|slot| [48, 52, 56, 60].map(|at| (slot, at)));
        let codes = errors.map(|(slot, at)| report.word(report.area.control(slot) + at) as u8);
        let code = codes.max().unwrap_or(0);
        let QueueService { taken, failed } = report.service;
        Self {
            began: report.cycles.0,
            ended: report.cycles.1,
            complete: report.cycles.1,
            packets: report.verdicts.len(),
            outcome: report.outcome,
            served: Served { commands: taken, posted: taken, completed: taken, failed, code },
            service: report.service_counts,
            heap_crc: crc32fast::hash(&heap),
            status: report.status,
            heap,
        }
    }
}

impl QueueProgram {
    /// Runs it on a node; all nodes must. They begin together, when the queue pairs and queues of
    /// all are up. `fill` gives what the heap holds then, from its first byte on; zeros follow.
    ///
    /// # Errors
    /// The kernel or the firmware does not fit, or is stuck.
    pub fn run(
        &self,
        node: &mut Node,
        fill: impl Fn(usize, &QueueArea) -> Vec<u8>,
    ) -> Result<QueueReport, CosimError> {
        self.run_with(node, fill, false)
    }

    /// As [`Self::run`], and counts what the harts do while the kernel runs. They are stopped
    /// before and behind it, so the node has other cycles than without.
    ///
    /// # Errors
    /// As [`Self::run`], or a hart does not stop.
    pub fn run_counted(
        &self,
        node: &mut Node,
        fill: impl Fn(usize, &QueueArea) -> Vec<u8>,
    ) -> Result<QueueReport, CosimError> {
        self.run_with(node, fill, true)
    }

    fn run_with(
        &self,
        node: &mut Node,
        fill: impl Fn(usize, &QueueArea) -> Vec<u8>,
        counted: bool,
    ) -> Result<QueueReport, CosimError> {
        node.host.load_kernel(&self.kernel)?;
        let firmware = Firmware::read(&self.firmware);
        let firmware = firmware.map_err(|error| CosimError::Firmware(format!("cannot be read: {error}")))?;
        node.host.reserve_firmware(&firmware)?;
        let area = QueueArea::allocate(&mut node.host, self.heap_bytes)?;
        let argument = area.argument(node, &self.own);
        let setup = ArraySetup { argument, ..self.setup.clone() };
        let layout = node.host.configure(&setup)?;
        let heap = fill(node.number, &area);
        node.host.device_mut().write_memory(area.heap, &heap)?;
        node.connect_mesh(area.heap, area.heap_bytes)?;
        QueueService::start(node, self.mode, &firmware, &area, self.rounds)?;
        node.meet()?;
        let moment = counted.then(|| HartMoment::before(&mut node.host)).transpose()?;
        // Harts of some nodes may have taken longer to stop.
        if counted {
            node.meet()?;
        }

        let began = node.host.device_mut().cycle();
        let packets = &self.packets[node.number];
        let options = RunOptions { skip_idle: false, ..RunOptions::default() };
        let result = cosim::run(&mut node.host, &setup, &layout, packets, options, &mut |_| {})?;
        let ended = node.host.device_mut().cycle();
        let harts = moment.map(|before| before.until_now(&mut node.host)).transpose()?;
        let service = QueueService::stop(node)?;
        node.meet()?;
        let status = NetStatus::read(&mut node.host)?;
        let memory = node.read_clean(area.base, 1 << area.bytes_log2)?;
        let mut verdicts: Vec<_> =
            result.packets.iter().map(|packet| (packet.index, packet.verdict)).collect();
        verdicts.sort_unstable();
        let verdicts = verdicts.into_iter().map(|(_, verdict)| verdict).collect();
        let (cycles, faults) = ((began, ended), result.fault_count);
        let outcome = KernelOutcome::of(&node.host, &setup, &result);
        let service_counts = node.service_counts();
        Ok(QueueReport {
            cycles,
            verdicts,
            faults,
            outcome,
            service,
            area,
            memory,
            status,
            service_counts,
            harts,
        })
    }
}
