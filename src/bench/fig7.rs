//! `hermes bench fig7`: what of the commands that wait for the network interface the L2 still has
//! when they are read, beside warps that stream, with the line lock and without (ComP-Net, figure
//! 7).
//!
//! Some warps of a node write commands to their rings at fixed times. The host posts, `service`
//! cycles later, a put whose bytes are the entry: the network interface reads its line, and nothing
//! else, so its hits are those of the commands. What was put must be what the kernel wrote.

use anyhow::{ensure, Context as _};
use hermes_rtl::config::Config;
use hermes_rtl::net::{counter, MOST_ENTRIES};
use hermes_testbench::cluster::QUEUE_ENTRIES;
use hermes_testbench::cosim::{
    put, ArraySetup, Device as _, Host, KernelImage, Latency, MemoryOptions, PostOptions, QueueAreas,
    Simulation,
};
use hermes_testbench::kernel::{build_source, Kernel, RegisterClass};
use hermes_testbench::staging::temporary_folder;
use verilator_sys::ModelLibrary;

use super::figure::{Bound, Figure};
use super::times::Times;
use super::Subject;
use crate::array;

const SOURCE: &str = include_str!("../../kernels-asm/bench/rings.S");
/// Bytes of the shared memory, and of the buffer that is streamed.
const MEMORY_BYTES: u64 = 1 << 24;
const BUFFER_BYTES: u32 = 1 << 22;
/// Bytes of a command.
const ENTRY: u32 = 64;
/// Bytes of a ring.
const RING: u32 = QUEUE_ENTRIES * ENTRY;
/// Bytes of the queue area, as a power of two.
const AREA_LOG2: u32 = 16;
/// Cycles in which the stream fills the L2, before the first command.
const WARM_UP: u64 = 6_000;
/// Commands of the host that may be under way in the preset `node`.
const ROOM: u32 = MOST_ENTRIES as u32;
/// Cycles that a warp needs for a command beside others that stream, and for its first one, which
/// has no instructions in the cache.
const WRITE: u32 = 500;
const FIRST: u32 = 1_500;
/// Fewest lines of a bank with which a command is written within [`WRITE`] cycles; half as many
/// take twice as long, and fewer are not tried.
const LINES: usize = 128;
/// Cycles that the last puts may take, and the kernel to end.
const END: u64 = 100_000;

#[derive(clap::Args)]
pub struct Args {
    /// Lines of a bank of the L2, of which the node has two: a power of two; with 64, which are the
    /// fewest, services below 1,000 cycles are left out. A quarter of all lines are sets
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "128,256,512")]
    l2_lines: Vec<usize>,
    /// Cycles from a command to its service
    #[arg(long, value_name = "CYCLES,...", value_delimiter = ',', default_value = "500,1000,2000,4000")]
    service: Vec<u32>,
    /// Commands of a ring that wait for their service; not more than one for each 500 cycles of it,
    /// since a warp needs so many for one
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,4")]
    waiting: Vec<u32>,
    /// Warps that write commands, of 8; the others stream
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=7))]
    warps: u32,
    /// Lane 0 of a warp writes its commands, a word at a time; else the lanes write them together
    #[arg(long)]
    leader: bool,
    /// Commands of each warp
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(10..=10_000))]
    commands: u32,
    /// Cycles from a memory request to its response
    #[arg(long, value_name = "CYCLES", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    latency: u32,
}

/// What the commands of a run met.
struct Met {
    /// Share of the reads of commands that the L2 had.
    hits: f64,
    refused: u32,
    expired: u32,
    /// Cycles from a command to its service.
    times: Times,
}

pub fn measure(args: &Args, on: &mut Subject, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    for waiting in &args.waiting {
        ensure!((1..=32).contains(waiting), "waiting: {waiting} is not possible; expected 1 to 32");
    }
    for service in &args.service {
        ensure!(
            (WRITE..=100_000).contains(service),
            "service: {service} is not possible; expected {WRITE} to 100000"
        );
    }
    for lines in &args.l2_lines {
        ensure!(*lines >= LINES / 2, "l2-lines: {lines} is not possible; expected {} or more", LINES / 2);
        let least = args.service.iter().any(|service| *service >= least_service(*lines));
        ensure!(
            least,
            "service: with {lines} lines of a bank a command takes up to {} cycles; expected as many or more",
            least_service(*lines)
        );
    }
    let folder = temporary_folder("hermes-")?;
    let path = folder.path().join("rings.elf");
    build_source("rings.S", SOURCE, RegisterClass::Rv32e, &path)?;
    let kernel = KernelImage::from(&Kernel::read(&path)?);
    let mut figures = Vec::new();
    let mut least_without = 1.0_f64;
    // What the commands met at worst with the lock, for each number that wait
    let mut worst: Vec<Option<Met>> = args.waiting.iter().map(|_| None).collect();
    for lines in &args.l2_lines {
        let config = Config { l2_bank_lines: *lines, ..Config::preset("node")? };
        config.validate()?;
        on.add(&config);
        let sets = config.l2_banks * lines / config.l2_ways;
        let library = array::library(&config, false, quiet, |_| {})?;
        for (waiting, worst) in args.waiting.iter().zip(&mut worst) {
            let least = (waiting * WRITE).max(least_service(*lines));
            for service in args.service.iter().filter(|service| **service >= least) {
                let bench =
                    Bench { library: &library, kernel: &kernel, args, waiting: *waiting, service: *service };
                let without = bench.run(false)?;
                let with = bench.run(true)?;
                log::info!(
                    "{sets} sets, {waiting} waiting, {service} cycles: refused {}, expired {}",
                    with.refused,
                    with.expired
                );
                ensure!(without.refused + without.expired == 0, "a lock that is off refused or expired");
                let name = format!("{sets}_sets_{waiting}_waiting_service_{service}");
                figures.push(Figure::new(format!("{name}_unlocked"), without.hits, ""));
                figures.push(Figure::new(format!("{name}_locked"), with.hits, ""));
                least_without = least_without.min(without.hits);
                if worst.as_ref().is_none_or(|worst| with.hits < worst.hits) {
                    *worst = Some(with);
                }
            }
        }
    }
    figures.push(Figure::new("unlocked_worst", least_without, "").limit(Bound::AtMost(0.5)));
    for (waiting, met) in args.waiting.iter().zip(worst) {
        let Some(Met { hits, times, .. }) = met else { continue };
        let figure = Figure::new(format!("locked_worst_{waiting}_waiting"), hits, "");
        figures.push(match waiting {
            1 => figure.limit(Bound::AtLeast(0.95)).goal(Bound::AtLeast(0.99)),
            _ => figure,
        });
        figures.push(Figure::new(format!("held_{waiting}_waiting_p50"), times.p50, "cycles"));
        figures.push(Figure::new(format!("held_{waiting}_waiting_p99"), times.p99, "cycles"));
    }
    Ok(figures)
}

/// Fewest cycles from a command to its service, in which it is written.
fn least_service(lines: usize) -> u32 {
    if lines < LINES {
        2 * WRITE
    } else {
        WRITE
    }
}

/// Runs of one array.
struct Bench<'a> {
    library: &'a ModelLibrary,
    kernel: &'a KernelImage,
    args: &'a Args,
    waiting: u32,
    service: u32,
}

/// A command: when it is served, its ring and number.
struct Due {
    cycle: u64,
    ring: u32,
    number: u32,
}

impl Bench<'_> {
    /// Writes all commands and serves each `service` cycles later.
    fn run(&self, lock: bool) -> anyhow::Result<Met> {
        let Args { warps, commands, latency, leader, .. } = *self.args;
        let memory = MemoryOptions { latency: Latency::Fixed(latency), ..MemoryOptions::default() };
        let mut host = Host::new(Simulation::new(self.library.instantiate()?, MEMORY_BYTES, memory)?)?;
        host.load_kernel(self.kernel)?;
        let buffer = host.rmalloc("the buffer", BUFFER_BYTES as usize)?;
        let total = warps * commands;
        // The area, aligned, and behind it a line for each command, where it is put.
        let area_bytes = 1 << AREA_LOG2;
        let bytes = area_bytes + total * ENTRY;
        let area = host.rmalloc_aligned("the queue area", bytes as usize, area_bytes)?;
        let landing = area + area_bytes;
        host.connect_to_itself(1, area, bytes, 1024)?;
        host.set_queue_areas(QueueAreas { base: area, area_log2: AREA_LOG2, lock })?;

        // The rings take turns.
        let period = self.service / self.waiting;
        let later = period / warps;
        let begin = host.device_mut().cycle() + WARM_UP;
        let mut due: Vec<Due> = (0..warps)
            .flat_map(|ring| (0..commands).map(move |number| (ring, number)))
            .map(|(ring, number)| {
                let written = begin + u64::from(ring * later + number * period);
                let service = if number == 0 { self.service.max(FIRST) } else { self.service };
                Due { cycle: written + u64::from(service), ring, number }
            })
            .collect();
        due.sort_by_key(|due| due.cycle);
        let end = due.last().context("no commands")?.cycle;
        let (begin_low, end_low, together) = (begin as u32, end as u32, u32::from(!leader));
        let argument =
            [warps, area, begin_low, later, period, commands, end_low, buffer, BUFFER_BYTES, together];
        let threads = host.info().lanes * host.info().warps;
        let setup = ArraySetup {
            ring_slots_log2: threads.next_power_of_two().ilog2(),
            slot_bytes_log2: 7,
            mcw: host.most_warps(),
            eager: false,
            argument: argument.iter().flat_map(|word| word.to_le_bytes()).collect(),
            ..ArraySetup::default()
        };
        host.configure(&setup)?;
        host.start(setup.eager)?;
        host.push_tasks(threads)?;
        ensure!(host.device_mut().cycle() < begin, "the kernel started too late");

        host.post(0, &put(landing, area, ENTRY), PostOptions { region: 1, domain: 0 })?;
        wait_completed(&mut host, 1)?;
        let before = reads(&mut host)?;
        let mut served = Vec::new();
        for Due { cycle, ring, number } in &due {
            let device = host.device_mut();
            device.run(cycle.saturating_sub(device.cycle()))?;
            let posted = served.len() as u32;
            if posted >= ROOM {
                wait_completed(&mut host, posted + 2 - ROOM)?;
            }
            // The stage holds the rest of the command.
            host.write("NET_STAGE_1", landing + (ring * commands + number) * ENTRY)?;
            host.write("NET_STAGE_2", area + ring * RING + number % QUEUE_ENTRIES * ENTRY)?;
            host.write("NET_POST", 1 << 8)?;
            served.push(host.device_mut().cycle());
        }
        wait_completed(&mut host, total + 1)?;
        let after = reads(&mut host)?;
        ensure!(host.read("NET_ERROR")? == 0, "a put failed");
        let deadline = host.device_mut().cycle() + END;
        while host.committed()? != threads {
            ensure!(host.device_mut().cycle() < deadline, "the kernel does not end");
            host.device_mut().run(200)?;
        }
        let (faults, _) = host.take_faults()?;
        ensure!(faults.is_empty(), "the kernel faulted: {faults:?}");
        host.clean_caches()?;
        let mut times = Vec::new();
        for (Due { ring, number, .. }, served) in due.iter().zip(&served) {
            let mut bytes = [0; 12];
            host.device_mut().read_memory(landing + (ring * commands + number) * ENTRY, &mut bytes)?;
            let words: [u32; 3] =
                std::array::from_fn(|i| u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[4 * i + byte])));
            let expected = 1 | ((number / QUEUE_ENTRIES + 1) % 2) << 8;
            ensure!(
                words[..2] == [expected, *number],
                "command {number} of ring {ring} was not written when it was served; give it more cycles by --service or less --waiting"
            );
            times.push(u64::from((*served as u32).wrapping_sub(words[2])));
        }
        let [hits, misses] = [0, 1].map(|i| after[i].wrapping_sub(before[i]));
        ensure!(hits + misses == total, "{hits} and {misses} reads of {total} commands");
        Ok(Met {
            hits: f64::from(hits) / f64::from(total),
            refused: host.network_counter(counter::LOCKS_REFUSED)?,
            expired: host.network_counter(counter::LOCKS_EXPIRED)?,
            times: Times::of(&times),
        })
    }
}

/// Lines that the network interface read: from the L2, and from memory.
fn reads(host: &mut Host<Simulation>) -> anyhow::Result<[u32; 2]> {
    Ok([host.network_counter(counter::READ_HITS)?, host.network_counter(counter::READ_MISSES)?])
}

fn wait_completed(host: &mut Host<Simulation>, completed: u32) -> anyhow::Result<()> {
    Ok(host.wait_until("NET_COMPLETED", |now| now >= completed)?)
}
