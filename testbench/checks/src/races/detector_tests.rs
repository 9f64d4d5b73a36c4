//! Traces with and without races.

use super::*;
use crate::cosim::{Code, PacketRange};
use crate::races::Explain;

/// `lw a0,0(a1)`, `sw a0,0(a1)`, `sb a0,0(a1)`
const LW: u32 = 0x0005_a503;
const SW: u32 = 0x00a5_a023;
const SB: u32 = 0x00a5_8023;
/// `fence rw,w`, `fence r,rw`
const RELEASE: u32 = 0x0310_000f;
const ACQUIRE: u32 = 0x0230_000f;
/// `amoadd.w a0,a0,(a1)`, `amoadd.w.aq a0,a0,(a1)`
const AMO: u32 = 0x00a5_a52f;
const AMO_AQ: u32 = 0x04a5_a52f;
/// `csrr a0,0xcc2`
const CSR_SLOT: u32 = 0xcc20_2573;

const DATA: u32 = 0x2000;
const FLAG: u32 = 0x3000;
const RING: u32 = 0x10_0000;

struct Run {
    detector: Detector,
    pc: u32,
}

impl Run {
    /// A ring of 64 slots of 128 bytes.
    fn new() -> Self {
        let places =
            Places { ring_base: RING, ring_slots_log2: 6, slot_bytes_log2: 7, stacks: 0x8000..0x9000 };
        Self { detector: Detector::new(Isa::EVERYTHING, places), pc: 0x1000 }
    }

    fn issue(&mut self, slot: u8, first: u32, count: u32) {
        let slot = WarpSlot { core: 0, slot };
        self.detector.issue(slot, Work::Packets(PacketRange { first, count }));
    }

    fn finish(&mut self, slot: u8) {
        self.detector.finish(WarpSlot { core: 0, slot });
    }

    /// All lanes of a slot at the same address.
    fn go(&mut self, slot: u8, active: u32, word: u32, address: u32) {
        self.each(slot, active, word, |_| address);
    }

    fn each(&mut self, slot: u8, active: u32, word: u32, address: impl Fn(u32) -> u32) {
        self.pc += 4;
        let values = (0..32).map(address).collect();
        let retired =
            Retired { core: 0, slot, pc: self.pc, instruction: word, active, values, ..Retired::default() };
        self.detector.retired(&retired);
    }

    fn races(&self) -> usize {
        let map = crate::cosim::MemoryMap::default();
        self.detector.findings().races(&Explain { code: Code::default(), memory: &map }).len()
    }

    fn foreign(&self) -> Vec<(u32, u32)> {
        let map = crate::cosim::MemoryMap::default();
        let stores =
            self.detector.findings().foreign_stores(&Explain { code: Code::default(), memory: &map });
        stores.iter().map(|store| (store.access.packet.unwrap(), store.other_packet)).collect()
    }
}

/// Two warps of a packet each, in slots 0 and 1.
fn two() -> Run {
    let mut run = Run::new();
    run.issue(0, 0, 1);
    run.issue(1, 1, 1);
    run
}

#[test]
fn an_access_meets_a_write_of_another_thread() {
    for (first, second, races) in [
        (LW, LW, 0),
        (LW, SW, 1),
        (SW, LW, 1),
        (SW, SW, 1),
        (AMO, AMO, 0),
        (AMO, LW, 0),
        (LW, AMO, 0),
        (AMO, SW, 1),
        (SW, AMO, 1),
    ] {
        let mut run = two();
        run.go(0, 1, first, DATA);
        run.go(1, 1, second, DATA);
        assert_eq!(run.races(), races, "{first:#x} {second:#x}");
        let mut run = two();
        run.go(0, 1, first, DATA);
        run.go(1, 1, second, DATA + 4);
        run.go(0, 1, second, DATA);
        assert_eq!(run.races(), 0, "another word, the same thread");
        // Lanes of a warp are threads of their own.
        let mut run = Run::new();
        run.issue(0, 0, 2);
        run.go(0, 1, first, DATA);
        run.go(0, 2, second, DATA);
        assert_eq!(run.races(), races, "{first:#x} {second:#x} in a warp");
    }
    // One instruction of several lanes; bytes of one word are apart.
    let mut run = Run::new();
    run.issue(0, 0, 4);
    run.each(0, 15, SB, |lane| DATA + lane);
    run.each(0, 15, SW, |lane| DATA + 16 + 4 * lane);
    assert_eq!(run.races(), 0);
    run.go(0, 6, SB, DATA + 8);
    assert_eq!(run.races(), 1);
    // The third of three accesses, of which the second hides the first.
    let mut run = two();
    run.issue(2, 2, 1);
    run.go(0, 1, SW, DATA);
    run.go(1, 1, LW, DATA + 64);
    run.go(0, 1, LW, DATA);
    run.go(2, 1, LW, DATA);
    assert_eq!(run.races(), 1);
}

/// A value behind a flag.
#[test]
fn release_and_acquire_order() {
    let flags: [(&[u32], &[u32], usize); 8] = [
        (&[RELEASE, SW], &[LW, ACQUIRE], 0),
        (&[RELEASE, SW], &[AMO_AQ], 0),
        (&[RELEASE, AMO], &[AMO, ACQUIRE], 0),
        // The machine performs what was before an atomic operation first.
        (&[AMO], &[LW, ACQUIRE], 0),
        (&[RELEASE, SW], &[LW], 1),
        (&[RELEASE, SW], &[ACQUIRE, LW], 1),
        // The flag, too.
        (&[SW], &[LW, ACQUIRE], 2),
        (&[SW, RELEASE], &[LW, ACQUIRE], 2),
    ];
    for (writer, reader, races) in flags {
        let mut run = two();
        run.go(0, 1, SW, DATA);
        writer.iter().for_each(|word| run.go(0, 1, *word, FLAG));
        reader.iter().for_each(|word| run.go(1, 1, *word, FLAG));
        run.go(1, 1, LW, DATA);
        assert_eq!(run.races(), races, "{writer:x?} {reader:x?}");
        // What is written behind the release is not ordered, if it is no release itself.
        run.go(0, 1, LW, DATA);
        run.go(0, 1, SW, DATA + 4);
        run.go(1, 1, LW, DATA + 4);
        assert_eq!(run.races(), races + 1, "{writer:x?} {reader:x?}");
    }
    // Over a third thread, and the other way round.
    let mut run = two();
    run.issue(2, 2, 1);
    run.go(0, 1, SW, DATA);
    run.go(0, 1, AMO, FLAG);
    run.go(1, 1, AMO_AQ, FLAG);
    run.go(1, 1, AMO, FLAG + 64);
    run.go(2, 1, AMO_AQ, FLAG + 64);
    run.go(2, 1, SW, DATA);
    assert_eq!(run.races(), 0);
    run.go(1, 1, LW, DATA);
    assert_eq!(run.races(), 1);
}

/// An access that is behind the last kept one, not behind one before it, still meets that.
#[test]
fn accesses_that_are_not_covered_are_kept() {
    let mut run = two();
    run.issue(2, 2, 1);
    run.go(0, 1, LW, DATA);
    run.go(1, 1, LW, DATA);
    run.go(1, 1, AMO, FLAG);
    run.go(2, 1, AMO_AQ, FLAG);
    run.go(2, 1, SW, DATA);
    assert_eq!(run.races(), 1, "that of slot 0");
}

#[test]
fn slots_and_hardware_threads_are_used_again() {
    // The ring: packet 64 has the slot of packet 0, whose warp had the packets to 3.
    for (first, races) in [(61, 0), (60, 1), (4, 1)] {
        let mut run = Run::new();
        run.issue(0, 0, 4);
        run.go(0, 8, SW, RING + 3 * 128);
        run.finish(0);
        run.issue(1, first, 4);
        run.go(1, 8, LW, RING + 3 * 128);
        assert_eq!(run.races(), races, "{first}");
    }
    // What is kept by the place is not used by two warps at a time.
    for (asks, races) in [(true, 0), (false, 1)] {
        let mut run = Run::new();
        for packet in 0..3 {
            run.issue(0, packet, 1);
            if asks {
                run.go(0, 1, CSR_SLOT, 0);
            }
            run.go(0, 1, SW, DATA);
            run.finish(0);
        }
        assert_eq!(run.races().min(1), races);
    }
    // Stacks; the scratchpad, where lanes of a warp are ordered, and those of another are not.
    let mut run = two();
    for address in [0x8000, 0xfffd_0010] {
        run.go(0, 1, SW, address);
        run.go(1, 1, SW, address);
    }
    run.issue(2, 2, 4);
    run.go(2, 15, SW, 0xfffe_0000);
    run.go(2, 8, LW, 0xfffe_0000);
    assert_eq!(run.races(), 0);
    run.go(1, 1, LW, 0xfffe_0000);
    assert_eq!(run.races(), 1);
}

#[test]
fn jobs_that_do_not_overlap_are_ordered() {
    let spawn = |run: &mut Run, event| run.detector.cycle(&[], &[(0, Event::Spawn(event))]);
    let slot = |slot| WarpSlot { core: 0, slot };
    let issue = |job, place| SpawnEvent::Issue { job, slot: slot(place), first: 0, count: 1 };
    for (waits, races) in [(true, 0), (false, 1)] {
        let mut run = Run::new();
        run.issue(3, 0, 1);
        run.go(3, 1, SW, DATA);
        run.finish(3);
        spawn(&mut run, SpawnEvent::Trigger(0));
        spawn(&mut run, issue(0, 0));
        if !waits {
            spawn(&mut run, SpawnEvent::Trigger(1));
        }
        run.go(0, 1, SW, DATA);
        spawn(&mut run, SpawnEvent::Finish(slot(0)));
        spawn(&mut run, SpawnEvent::Complete(0));
        if waits {
            spawn(&mut run, SpawnEvent::Trigger(1));
        }
        spawn(&mut run, issue(1, 1));
        run.go(1, 1, SW, DATA);
        assert_eq!(run.races(), races);
        run.issue(3, 1, 1);
        run.go(3, 1, LW, DATA);
        assert_eq!(run.races(), races + 1, "the second job is not complete");
    }
}

#[test]
fn stores_into_the_slots_of_others_are_told() {
    let mut run = Run::new();
    run.issue(0, 100, 4);
    run.each(0, 15, SW, |lane| RING + ((100 + lane) & 63) * 128 + 40);
    run.each(0, 15, LW, |lane| RING + ((101 + lane) & 63) * 128 + 40);
    assert!(run.foreign().is_empty());
    run.each(0, 2, SW, |lane| RING + ((101 + lane) & 63) * 128 + 40);
    run.each(0, 4, SB, |lane| RING + ((99 + lane) & 63) * 128 + 40);
    assert_eq!(run.foreign(), [(101, 102), (102, 101)]);
}
