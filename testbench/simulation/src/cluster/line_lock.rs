//! Commands that wait for the network interface in the L2, beside warps that stream (ComP-Net,
//! figure 7).
//!
//! Some warps of a node write commands to their rings at fixed times. The host posts, `service`
//! cycles later, a put whose bytes are the entry: the network interface reads its line, and nothing
//! else, so its hits are those of the commands. What was put must be what the kernel wrote.

use anyhow::{ensure, Context as _};
use hermes_rtl::config::Config;
use hermes_rtl::types::{counter, MOST_ENTRIES};
use verilator_sys::ModelLibrary;

use super::queues::QUEUE_ENTRIES;
use crate::cosim::{
    put, ArraySetup, CosimError, Device as _, Host, KernelImage, Latency, MemoryOptions, PostOptions,
    QueueAreas, Simulation,
};

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
const WRITE: u32 = 600;
const FIRST: u32 = 1_500;
/// Fewest lines of a bank with which a command is written within [`WRITE`] cycles; half as many
/// take twice as long, and fewer are not tried.
const LINES: usize = 128;
/// Longest service, and most commands of a ring that wait.
const LONGEST: u32 = 100_000;
const MOST_WAITING: u32 = 32;
/// Cycles that the last puts may take, and the kernel to end.
const END: u64 = 100_000;

/// Commands of some warps beside others that stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineLock {
    /// Warps that write commands, of 8; the others stream.
    pub warps: u32,
    /// Commands of each.
    pub commands: u32,
    /// Lane 0 writes a command, a word at a time; else the lanes write it together.
    pub leader: bool,
    /// Commands of a ring that wait for their service.
    pub waiting: u32,
    /// Cycles from a command to its service.
    pub service: u32,
    /// The L2 locks lines of commands.
    pub lock: bool,
}

/// What the commands of a run met.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineLockMet {
    /// Share of the reads of commands that the L2 had.
    pub hits: f64,
    /// Lines that were not locked, since another one of their set was.
    pub refused: u32,
    /// Locks that ended by misses in their set.
    pub expired: u32,
    /// Cycles from each command to its service.
    pub times: Vec<u64>,
}

/// A command: when it is served, its ring and number.
struct Due {
    cycle: u64,
    ring: u32,
    number: u32,
}

impl LineLock {
    /// Fewest cycles of a service in which `waiting` commands of a ring are written, on arrays with
    /// so many lines of a bank of the L2.
    #[must_use]
    pub const fn least_service(lines: usize, waiting: u32) -> u32 {
        let least = if lines < LINES { 2 * WRITE } else { WRITE };
        let all = waiting * WRITE;
        if all > least {
            all
        } else {
            least
        }
    }

    /// Makes sure that it can be run on such an array.
    ///
    /// # Errors
    /// The field, its value and what was expected.
    pub fn check(&self, array: &Config) -> anyhow::Result<()> {
        let Self { warps, commands, waiting, service, .. } = *self;
        let lines = array.l2_bank_lines;
        ensure!(lines >= LINES / 2, "lines of a bank {lines}: expected {} or more", LINES / 2);
        ensure!((1..=7).contains(&warps), "warps {warps}: expected 1 to 7");
        ensure!((10..=10_000).contains(&commands), "commands {commands}: expected 10 to 10000");
        ensure!((1..=MOST_WAITING).contains(&waiting), "waiting {waiting}: expected 1 to {MOST_WAITING}");
        let least = Self::least_service(lines, waiting);
        ensure!(
            (least..=LONGEST).contains(&service),
            "service {service}: expected {least} to {LONGEST} cycles"
        );
        Ok(())
    }

    /// Writes all commands and serves each `service` cycles later, with memory that answers after
    /// `latency` cycles. `kernel` is `kernels-asm/bench/rings.S`.
    ///
    /// # Errors
    /// The model cannot be run, a put fails, or a command was not written when it was served.
    pub fn run(
        &self,
        library: &ModelLibrary,
        kernel: &KernelImage,
        latency: Latency,
    ) -> anyhow::Result<LineLockMet> {
        let Self { warps, commands, leader, lock, .. } = *self;
        let memory = MemoryOptions { latency, ..MemoryOptions::default() };
        let mut host = Host::new(Simulation::new(library.instantiate()?, MEMORY_BYTES, memory)?)?;
        host.load_kernel(kernel)?;
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
                "command {number} of ring {ring} was not written when it was served; give it more cycles of service, or fewer that wait"
            );
            times.push(u64::from((*served as u32).wrapping_sub(words[2])));
        }
        let [hits, misses] = [0, 1].map(|i| after[i].wrapping_sub(before[i]));
        ensure!(hits + misses == total, "{hits} and {misses} reads of {total} commands");
        Ok(LineLockMet {
            hits: f64::from(hits) / f64::from(total),
            refused: host.network_counter(counter::LOCKS_REFUSED)?,
            expired: host.network_counter(counter::LOCKS_EXPIRED)?,
            times,
        })
    }
}

/// Lines that the network interface read: from the L2, and from memory.
fn reads(host: &mut Host<Simulation>) -> Result<[u32; 2], CosimError> {
    Ok([host.network_counter(counter::READ_HITS)?, host.network_counter(counter::READ_MISSES)?])
}

fn wait_completed(host: &mut Host<Simulation>, completed: u32) -> Result<(), CosimError> {
    host.wait_until("NET_COMPLETED", |now| now >= completed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked() {
        let node = Config::preset("node").unwrap();
        let good =
            LineLock { warps: 2, commands: 100, leader: false, waiting: 4, service: 2_400, lock: true };
        good.check(&node).unwrap();
        let wrong = |lock: LineLock| lock.check(&node).unwrap_err().to_string();
        assert_eq!(wrong(LineLock { warps: 8, ..good }), "warps 8: expected 1 to 7");
        assert_eq!(wrong(LineLock { commands: 9, ..good }), "commands 9: expected 10 to 10000");
        assert_eq!(wrong(LineLock { waiting: 0, ..good }), "waiting 0: expected 1 to 32");
        assert_eq!(
            wrong(LineLock { service: 2_399, ..good }),
            "service 2399: expected 2400 to 100000 cycles"
        );
        let small = Config { l2_bank_lines: 32, ..node };
        assert_eq!(good.check(&small).unwrap_err().to_string(), "lines of a bank 32: expected 64 or more");
        assert_eq!((LineLock::least_service(64, 1), LineLock::least_service(128, 1)), (1_200, 600));
    }
}
