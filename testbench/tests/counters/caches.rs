//! Counters of work and of caches, with accesses that are known beforehand.

use std::collections::HashSet;

use hermes_testbench::cosim::{ArraySetup, Latency, MemoryOptions};
use rand::Rng as _;

use super::array::*;
use super::observed::{Retired, BOOT, EXIT};

/// Lines of the area that each packet has for itself.
const OWN_LINES: u32 = 64;
const PACKETS: u32 = 32;

/// What a packet does; see the kernel.
#[derive(Clone, Copy, Debug)]
struct Work {
    reads: u8,
    rounds: u8,
    writes: u8,
    faults: bool,
}

impl Work {
    fn frame(self) -> Vec<u8> {
        let mut frame = vec![0; 40];
        frame[2..6].copy_from_slice(&[self.reads, self.rounds, self.writes, self.faults.into()]);
        frame
    }
}

/// Bit `i` of the index is the XOR of the line address bits `skip + i`, `skip + i + bits`, ...
/// (docs/memory-path.md).
fn fold(line: u32, bits: u32, skip: u32) -> usize {
    let mut rest = line >> skip;
    let mut index = 0;
    while rest != 0 {
        index ^= rest & ((1 << bits) - 1);
        rest >>= bits;
    }
    index as usize
}

/// What the caches do, as the documentation says: an L1 a core, direct-mapped, that writes through
/// and drops the place of what was written; an L2 that has all lines which it has seen.
#[derive(Debug, Default)]
struct Caches {
    l1: Vec<[Option<u32>; L1_LINES]>,
    /// Lines whose bytes are all in the L2.
    whole: HashSet<u32>,
    /// Lines of which the L2 has bytes that memory has not.
    changed: HashSet<u32>,
    /// Of each core: lines read, lines that its L1 had, those read that the L2 had, lines written,
    /// all writes of the L2.
    line_reads: [u32; CORES],
    line_hits: [u32; CORES],
    hits: [u32; CORES],
    line_writes: [u32; CORES],
    writes: [u32; CORES],
    memory_reads: u64,
    memory_writes: u64,
}

impl Caches {
    fn new() -> Self {
        Self { l1: vec![[None; L1_LINES]; CORES], ..Self::default() }
    }

    /// The L2 reads a line; whether it had it.
    fn fetch(&mut self, line: u32) -> bool {
        if !self.whole.insert(line) {
            return true;
        }
        // What was written of it goes to memory first.
        self.memory_writes += u64::from(self.changed.remove(&line));
        self.memory_reads += 1;
        false
    }

    fn load(&mut self, core: usize, address: u32) {
        let line = address / 64;
        let place = &mut self.l1[core][fold(line, L1_LINES.ilog2(), 0)];
        if *place == Some(line) {
            self.line_hits[core] += 1;
            return;
        }
        *place = Some(line);
        self.line_reads[core] += 1;
        self.hits[core] += u32::from(self.fetch(line));
    }

    fn drop_place(&mut self, core: usize, line: u32) {
        self.l1[core][fold(line, L1_LINES.ilog2(), 0)] = None;
    }

    fn store(&mut self, core: usize, address: u32) {
        let line = address / 64;
        self.drop_place(core, line);
        self.changed.insert(line);
        self.line_writes[core] += 1;
        self.writes[core] += 1;
    }

    /// The L2 reads the line and writes a word, for each lane anew.
    fn atomic(&mut self, core: usize, address: u32) {
        self.fetch(address / 64);
        self.changed.insert(address / 64);
        self.drop_place(core, address / 64);
        self.writes[core] += 1;
    }

    /// No set has more lines than ways, so that none has left the L2.
    fn check_room(&self) {
        let (banks, lines, ways) = L2;
        let mut sets = vec![0; lines / ways * banks];
        let bank_bits = banks.ilog2();
        for &line in self.whole.union(&self.changed) {
            let (bank, set) = (fold(line, bank_bits, 0), fold(line, (lines / ways).ilog2(), bank_bits));
            sets[bank * (lines / ways) + set] += 1;
        }
        assert!(sets.iter().all(|lines| *lines <= ways), "the L2 does not hold all lines of the test");
    }
}

/// One warp at a time on a core, so that the order of its accesses is that in which its
/// instructions retire.
#[test]
fn work_and_caches() {
    let mut random = random();
    let mut work: Vec<Work> = (0..PACKETS)
        .map(|_| Work {
            reads: random.gen_range(0..24),
            rounds: random.gen_range(0..4),
            writes: random.gen_range(0..6),
            faults: random.gen_bool(0.2),
        })
        .collect();
    // Whatever the seed: lines read anew from the L2, and a warp whose lanes all do the same.
    work[0] = Work { reads: 23, rounds: 3, writes: 5, faults: true };
    work[4..8].fill(Work { reads: 20, rounds: 3, writes: 2, faults: false });

    let kernel = assemble(include_str!("kernels/accesses.S"));
    let memory =
        MemoryOptions { latency: Latency::Random(1, 60), seed: random.gen(), ..MemoryOptions::default() };
    let mut area = 0;
    let array = Array::new(&kernel, memory, |host| {
        let bytes = (PACKETS * OWN_LINES * 64) as usize;
        area = host.rmalloc("the area of the packets", bytes).unwrap();
        let mut argument = vec![0; 128];
        argument[..4].copy_from_slice(&area.to_le_bytes());
        // A quarter of the ring holds all packets, so that caches are cleaned at the end only.
        let ring_slots_log2 = (4 * PACKETS).ilog2();
        ArraySetup { ring_slots_log2, slot_bytes_log2: 7, mcw: 1, argument, ..ArraySetup::default() }
    });
    let Outcome { result, observed, layout, mut host } = array.run(work.iter().map(|w| w.frame()).collect());

    // The caches, access by access
    let at = |name: &str| symbol(&kernel, name);
    let [slot, argument, line, store, atomic] =
        ["load_slot", "load_argument", "load_line", "store_line", "atomic"].map(at);
    let mut caches = Caches::new();
    let mut done = vec![(0_u32, 0_u32); PACKETS as usize];
    for retired in &observed.retired {
        let Retired { core, pc, active, first_packet, .. } = *retired;
        let packets: Vec<u32> = (0..LANES as u32)
            .filter(|lane| active >> lane & 1 != 0)
            .map(|lane| first_packet + lane)
            .collect();
        let own = |packet: u32| area + packet * OWN_LINES * 64;
        if pc == argument {
            caches.load(core, layout.argument);
        } else if pc == EXIT {
            // One line for all verdicts of the lanes.
            caches.store(core, layout.verdict_base + 4 * packets[0]);
        }
        for packet in packets {
            let Work { reads, .. } = work[packet as usize];
            let (loads, stores) = &mut done[packet as usize];
            if pc == slot {
                caches.load(core, layout.ring_base + 128 * packet);
            } else if pc == line {
                caches.load(core, own(packet) + 64 * (*loads % u32::from(reads)));
                *loads += 1;
            } else if pc == store {
                caches.store(core, own(packet) + 2048 + 64 * *stores);
                *stores += 1;
            } else if pc == atomic {
                caches.atomic(core, layout.argument + 64);
            }
        }
    }
    for (work, (loads, stores)) in work.iter().zip(&done) {
        let expected = (u32::from(work.reads) * u32::from(work.rounds), u32::from(work.writes));
        assert_eq!((*loads, *stores), expected, "{work:?}: the test does not follow the kernel");
    }
    assert_eq!(host.device_mut().image().read_u32(layout.argument + 64).unwrap(), PACKETS);

    // Lines of instructions: each once a core, and once from memory.
    let lines_of = |core| observed.kernel_on(core).map(|r| r.pc / 64).collect::<HashSet<u32>>();
    let code: HashSet<u32> = (0..CORES).flat_map(lines_of).collect();
    for line in &code {
        caches.fetch(*line);
    }
    caches.check_room();
    let mut hits_and_misses = (0, 0);
    for (core, counters) in result.counters.iter().enumerate() {
        let instructions = observed.kernel_on(core).count() as u32;
        let lanes = observed.kernel_on(core).map(|r| r.active.count_ones()).sum::<u32>();
        let divergent = observed.kernel_on(core).filter(|r| r.divergent).count() as u32;
        let fetched = lines_of(core).len() as u32;
        println!("core {core}: {counters:?}\n  {} {} {}", observed.on(core).count(), fetched, divergent);
        assert_eq!(counters.core.instructions, instructions, "CORE_INSTRUCTIONS of core {core}");
        assert_eq!(counters.core.lane_instructions, lanes, "CORE_LANE_INSTRUCTIONS of core {core}");
        assert_eq!(counters.core.divergent, divergent, "CORE_DIVERGENT of core {core}");
        assert_eq!(counters.core.fetch_misses, fetched, "CORE_FETCH_MISSES of core {core}");
        assert_eq!(counters.core.line_reads, caches.line_reads[core], "CORE_LINE_READS of core {core}");
        let found = result.load.as_ref().unwrap().line_hits[core];
        assert_eq!(found, caches.line_hits[core], "CORE_LINE_HITS of core {core}");
        assert!(found > 0 && found != counters.core.line_reads, "core {core}: {found} lines found");
        assert_eq!(counters.core.line_writes, caches.line_writes[core], "CORE_LINE_WRITES of core {core}");
        assert_eq!(counters.l2.writes, caches.writes[core], "CORE_L2_WRITES of core {core}");
        let read = (counters.l2.read_hits, counters.l2.read_misses);
        assert_eq!(read.0 + read.1, counters.core.line_reads + fetched, "all lines that core {core} read");
        // Which core gets an instruction line first is a matter of cycles, and the line of the
        // argument block.
        let shared = fetched + 1;
        let hits = caches.hits[core].saturating_sub(1)..=caches.hits[core] + shared;
        assert!(hits.contains(&read.0), "CORE_L2_READ_HITS of core {core}: {} of {hits:?}", read.0);
        hits_and_misses = (hits_and_misses.0 + read.0, hits_and_misses.1 + read.1);
        assert!(divergent > 0 && caches.hits[core] > 3 * shared, "core {core}: {caches:?}");
    }
    // All cores together: a line comes from memory once.
    let requests: u32 =
        caches.line_reads.iter().sum::<u32>() + (0..CORES).map(|c| lines_of(c).len() as u32).sum::<u32>();
    // The line of the atomic additions is read by the L2 itself.
    let from_memory = caches.memory_reads - 1;
    assert_eq!(u64::from(hits_and_misses.1), from_memory, "CORE_L2_READ_MISSES");
    assert_eq!(hits_and_misses.0 + hits_and_misses.1, requests, "CORE_L2_READ_HITS and CORE_L2_READ_MISSES");

    // Memory: at the AXI4 ports, by the model, and by the registers.
    let ports = result.memory.total();
    caches.memory_writes += caches.changed.len() as u64;
    let model = (caches.memory_reads, caches.memory_writes);
    assert_eq!((ports.lines_read, ports.lines_written), model, "lines at the AXI4 ports");
    let registers = (host.read("MEMORY_LINES_READ").unwrap(), host.read("MEMORY_LINES_WRITTEN").unwrap());
    assert_eq!(
        (u64::from(registers.0), u64::from(registers.1)),
        model,
        "MEMORY_LINES_READ, MEMORY_LINES_WRITTEN"
    );
    assert_ne!(model.0, model.1, "a swap would not be seen");

    // Warps, packets, faults
    let read = [
        "ISSUED_WARPS",
        "COMMITTED_WARPS",
        "COMMITTED_PACKETS",
        "FAULTS",
        "BUS_ERRORS",
        "TASK_LEVEL",
        "PENDING",
        "FAULT_LEVEL",
    ]
    .map(|name| host.read(name).unwrap());
    let faults = work.iter().filter(|work| work.faults).count() as u32;
    let seen = observed.retired.iter().map(|r| r.faulting.count_ones()).sum::<u32>();
    assert_eq!((seen, result.faults.iter().map(|f| u32::from(f.threads)).sum::<u32>()), (faults, faults));
    let (issued, committed) = (observed.issued_warps, observed.committed_warps);
    assert_eq!(read, [issued, committed, observed.committed_packets, faults, 0, 0, 0, 0]);
    assert!(observed.retired.iter().all(|r| r.faulting == 0 || r.pc == symbol(&kernel, "fault")));
    assert!(observed.retired.iter().any(|r| r.pc >= BOOT));
}
