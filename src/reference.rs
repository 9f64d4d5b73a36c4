//! A packet of a capture on the reference simulator: what `hermes iss --pcap` and `hermes debug`
//! share.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, ensure, Context};
use hermes_rtl::config::EXIT_ADDRESS;
use hermes_testbench::cosim::{
    ArraySetup, Code, CosimError, Host, KernelImage, MemoryMap, Packet, PacketRange, PacketResult, WarpSlot,
    Work,
};
use hermes_testbench::golden::Golden;
use hermes_testbench::input;
use hermes_testbench::races::{Detector, Explain, Places, RaceReport};
use hermes_testbench::reference::{Executed, Reference, ReferenceDevice};
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::traffic::{self, CaptureWriter, Frame};
use hermes_testbench::verdict::Verdict;

mod report;
pub mod trace;

pub use report::registers;

use crate::array::ArrayArgs;
use crate::files::Files;
use crate::print;
use crate::run::data::{Data, DataArgs};
use crate::run::outcome::{both, check_left_lengths, fault_causes, tell_races};
use crate::run::outputs::left;
use crate::run::program::{in_the_ring, ring_slots_log2, InputArgs, Program, StackArgs};
use crate::run::MEMORY_BYTES;

/// A kernel and the packet that it gets.
#[derive(clap::Args)]
pub struct PacketArgs {
    /// App, with whose golden model the packet is compared; `hermes apps` lists them
    #[arg(long, value_name = "NAME", requires = "pcap", help_heading = "What to run")]
    app: Option<String>,
    /// Kernel of your own; with --app it takes the place of the app's kernel, with its tables and
    /// its golden model
    #[arg(long, value_name = "FILE.elf", requires = "pcap", help_heading = "What to run")]
    kernel: Option<PathBuf>,
    #[command(flatten)]
    inputs: InputArgs,
    /// Capture with the packet: pcap or pcapng, Ethernet
    #[arg(long, value_name = "IN", help_heading = "What to run")]
    pcap: Option<PathBuf>,
    /// Number of the packet in the capture, from 0 (packetIdx). It runs in the warp that it has on
    /// the array if all warps are full: with its neighbours, in the lane of its number modulo the
    /// lanes
    #[arg(long, value_name = "N", default_value_t = 0, requires = "pcap", help_heading = "What to run")]
    packet: u64,
    /// First run the packets before those of the warp, warp by warp, for kernels that keep
    /// something from one packet to the next
    #[arg(long, requires = "pcap", help_heading = "What to run")]
    replay: bool,
    #[command(flatten)]
    array: ArrayArgs,
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    data: DataArgs,
    /// Let the kernel load from and store to all of memory. Else an access outside of what belongs
    /// to the run is a fault, as in `hermes run`
    #[arg(long, requires = "pcap", help_heading = "Limits")]
    open_windows: bool,
    /// Use only the first packets of the capture
    #[arg(long, value_name = "N", requires = "pcap", help_heading = "Limits")]
    max_packets: Option<usize>,
    /// Capture to write: the packet as the kernel left it, whatever its verdict
    #[arg(
        short = 'o',
        visible_alias = "output",
        long,
        value_name = "OUT.pcap",
        requires = "pcap",
        help_heading = "Outputs"
    )]
    out: Option<PathBuf>,
}

impl PacketArgs {
    /// What is read and written.
    pub fn files(&self) -> Files {
        Files::default()
            .input("--kernel", self.kernel.as_deref())
            .input("--pcap", self.pcap.as_deref())
            .and(self.inputs.files())
            .output("--out", self.out.as_deref())
            .and(self.data.files())
    }

    /// Whether a packet is to be run.
    pub fn is_wanted(&self) -> bool {
        self.pcap.is_some()
    }

    /// The array.
    pub fn array(&self) -> &ArrayArgs {
        &self.array
    }

    /// The file of the kernel, if it is the user's own.
    pub fn kernel(&self) -> Option<&Path> {
        self.kernel.as_deref()
    }

    /// The packet in its warp, in front of the kernel. A warp before it may take `most`
    /// instructions.
    ///
    /// # Errors
    /// An input cannot be used, or the capture has no such packet.
    pub fn prepare(&self, most: u64) -> anyhow::Result<Prepared> {
        let pcap = self.pcap.as_deref().context("expected --pcap")?;
        let config = self.array.config()?;
        let program = Program::load(self.app.as_deref(), self.kernel.as_deref(), &self.inputs, &config)?;
        let stack_bytes_log2 = self.stack.bytes_log2(&program)?;
        let mut data = self.data.load(&program)?;
        let frames = traffic::read(pcap, self.max_packets)?.frames;
        let (capture, count, index) = (input::name(pcap), frames.len() as u64, self.packet);
        ensure!(count > 0, "--packet {index}: {capture} has no packets");
        ensure!(
            index < count,
            "--packet {index}: {capture} has {count} packets; expected 0 to {}",
            count - 1
        );
        let out = self.out.as_deref().map(CaptureWriter::create).transpose()?;

        let slot_bytes_log2 = self.stack.slot_bytes_log2(&frames, program.growth())?;
        let packets: Vec<_> = frames.iter().map(|frame| SlotPacket::new(frame, slot_bytes_log2)).collect();
        let mut setup = ArraySetup {
            ring_slots_log2: ring_slots_log2(None, program.app.as_deref(), &config, slot_bytes_log2)?,
            slot_bytes_log2,
            mcw: program.mcw(None, &config)?,
            stack_bytes_log2,
            ..ArraySetup::default()
        };
        // In the order of a run, so that everything lies where it does there.
        let image = KernelImage::from(&program.kernel);
        let mut host = Host::new(ReferenceDevice::new(&config, MEMORY_BYTES))?;
        host.load_kernel(&image)?;
        if let Some(app) = &program.app {
            host.load_app(app.as_ref(), &mut setup)?;
        }
        data.place(&mut host, &mut setup)?;
        let layout = host.configure(&setup)?;
        let map = host.memory_map(&program.kernel, setup.stack_bytes_log2);
        if !self.open_windows {
            host.close_windows(&map)?;
        }
        let places = Places::of(&setup, &layout, host.info());
        let mut run = Reference::new(host, &config, &image, &setup, &layout);
        let mut races = Detector::new(run.machine().isa, places);
        let lanes = config.lanes as u64;
        let first = index - index % lanes;
        let in_slots = in_the_ring(&packets, std::iter::repeat(0));
        if self.replay {
            for number in (0..first).step_by(config.lanes) {
                form_warp(&mut run, &mut races, number, warp_of(&in_slots, number, lanes))?;
                run_to_the_end(&mut run, most, &program, |_, executed| {
                    races.retired(&executed.retired);
                    Ok(())
                })?;
                races.finish(PLACE);
            }
        }
        let warp = warp_of(&in_slots, first, lanes);
        form_warp(&mut run, &mut races, first, warp)?;
        let (packet, frame) = (packets[index as usize].clone(), frames[index as usize].clone());
        let (lane, own_kernel) = ((index - first) as usize, self.kernel.is_some());
        let threads = warp.len() as u64;
        let all = threads + if self.replay { first } else { 0 };
        let packet = Subject { index, lane, threads, all, capture, packet, frame };
        Ok(Prepared { run, rest: Rest { program, map, data, out, own_kernel, packet, races } })
    }
}

/// The packets of the warp that begins with packet `first`.
fn warp_of(packets: &[Packet], first: u64, lanes: u64) -> &[Packet] {
    &packets[first as usize..packets.len().min((first + lanes) as usize)]
}

/// Where the warps run.
const PLACE: WarpSlot = WarpSlot { core: 0, slot: 0 };

/// Forms a warp of `packets`, of which `first` is the number of the first.
fn form_warp(
    run: &mut Reference,
    races: &mut Detector,
    first: u64,
    packets: &[Packet],
) -> Result<(), CosimError> {
    let range = PacketRange { first: first as u32, count: packets.len() as u32 };
    races.issue(PLACE, Work::Packets(range));
    run.form_warp(first, packets)
}

/// Runs a warp to its end; `told` gets each step.
///
/// # Errors
/// It is not at its end after `most` instructions, the command was interrupted, or `told` fails.
pub fn run_to_the_end(
    run: &mut Reference,
    most: u64,
    program: &Program,
    mut told: impl FnMut(&Reference, &Executed) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    while let Some(executed) = run.step() {
        told(run, &executed)?;
        let (_, count) = run.instructions(0);
        let place = || program.kernel.source_map().place(executed.retired.pc);
        ensure!(!hermes_interrupt::is_requested(), "stopped at {}", place());
        // All that is left is to store the verdicts.
        let ends = run.threads().iter().all(|thread| thread.ended || thread.hart.pc == EXIT_ADDRESS);
        ensure!(
            count < most || ends,
            "{}: not at its end after {count} instructions of the warp, at {}",
            program.name,
            place()
        );
    }
    Ok(())
}

/// The packet that is wanted.
pub struct Subject {
    pub index: u64,
    pub lane: usize,
    /// Threads of its warp.
    threads: u64,
    /// With those of the warps before it that ran.
    all: u64,
    capture: String,
    packet: SlotPacket,
    frame: Frame,
}

/// A packet in its warp.
pub struct Prepared {
    pub run: Reference,
    pub rest: Rest,
}

/// What belongs to a run beside the warp.
pub struct Rest {
    pub program: Program,
    pub packet: Subject,
    map: MemoryMap,
    data: Data,
    out: Option<CaptureWriter>,
    own_kernel: bool,
    /// What looks for races.
    pub races: Detector,
}

impl Rest {
    /// Tells what became of the packet, and of the warp, and writes the files.
    ///
    /// # Errors
    /// Lanes faulted, with a kernel of the user's own; the packet is not what the golden model
    /// says; a file cannot be written.
    pub fn finish(self, mut run: Reference) -> anyhow::Result<()> {
        let Self { program, packet, map, mut data, out, own_kernel, races } = self;
        let result = run.result(packet.index)?;
        let compared = compare(&program, &packet, &result);
        let slot_bytes_log2 = run.machine().slot_bytes_log2;
        let length = check_left_lengths(
            std::slice::from_ref(&packet.packet),
            std::slice::from_ref(&result),
            slot_bytes_log2,
        );
        print::line(report::of(&program, &packet, &run, &result, compared.is_ok()))?;
        data.read(run.host_mut())?;
        if let Some(mut out) = out {
            out.write(&left(&result, &packet.frame, &packet.packet))?;
            out.commit()?;
        }
        let compared = both(compared, data.compare());
        data.write()?;
        let threads = run.faults().iter().map(|fault| u64::from(fault.threads)).sum();
        let code = Code::new(Some(&program.kernel), None);
        let causes = fault_causes(run.faults(), &[], threads, &code, &map);
        for cause in &causes {
            match own_kernel {
                true => print::error(cause),
                false => log::warn!("{cause}"),
            }
        }
        let faults = match own_kernel && threads > 0 {
            true => Err(anyhow!("{threads} of {} packets ended with a fault", packet.all)),
            false => Ok(()),
        };
        let races = RaceReport::of(races.findings(), &Explain { code, memory: &map });
        // A warp races with those before it only if they run at once, which is not the case here.
        let (here, others) = races.races.into_iter().partition(|race| own_kernel && race.in_a_warp);
        let (own, others) = match own_kernel {
            true => (races.foreign_stores, RaceReport { races: others, ..RaceReport::default() }),
            false => (Vec::new(), RaceReport { races: others, foreign_stores: races.foreign_stores }),
        };
        others.lines().iter().for_each(|line| log::warn!("{line}"));
        let races = tell_races(Some(&RaceReport { races: here, foreign_stores: own }));
        both(faults, both(races, both(length, compared)))
    }
}

/// Compares the packet with the golden model, if there is one.
fn compare(program: &Program, packet: &Subject, result: &PacketResult) -> anyhow::Result<()> {
    let Some(app) = &program.app else { return Ok(()) };
    let got = Golden { verdict: Verdict(result.verdict), frame: result.bytes.clone() };
    if let Some(difference) = app.check(result.index, &packet.packet, got) {
        bail!("the packet differs from the golden model:\n{difference}");
    }
    app.check_egress(result.index, &packet.packet, &result.egress)
        .with_context(|| format!("packet {} differs from the golden model", result.index))
}
