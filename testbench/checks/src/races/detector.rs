//! Follows what retires, and finds races.

use std::collections::BTreeMap;
use std::ops::Range;

use hermes_rtl::config::LOCAL_REGION_ADDRESS;

use super::findings::{AccessKind, Conflict, Findings, Foreign, Party};
use super::order::{Clock, Order, Step};
use super::shadow::{Cell, Entry, Kind, WordMap};
use crate::cosim::{ArrayInfo, ArraySetup, Event, Layout, SpawnEvent, WarpSlot, Work};
use crate::iss::{lanes, Class, Instruction, Isa, Retired, BOOT_ADDRESS, SCRATCHPAD_BASE, SCRATCHPAD_BYTES};

/// CSRs that tell a thread where it runs: warp slot, core, top of the stack.
const PLACE_CSRS: [i32; 3] = [0xcc2, 0xcc3, 0xcc6];
/// Bits of the fields of `fence`: writes before it, reads before it, writes and reads behind it.
const FENCE: [i32; 4] = [1 << 4, 1 << 5, 1, 1 << 1];
/// Words that a thread has read last, of which a `fence` acquires.
const LAST_READS: usize = 8;

/// What lies where, as far as it matters.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Address of the ring.
    pub ring_base: u32,
    /// Slots of the ring, as a power of two.
    pub ring_slots_log2: u32,
    /// Bytes of a slot, as a power of two.
    pub slot_bytes_log2: u32,
    /// The stacks in shared memory.
    pub stacks: Range<u32>,
}

impl Places {
    /// Those of a run with this set-up.
    #[must_use]
    pub fn of(setup: &ArraySetup, layout: &Layout, info: ArrayInfo) -> Self {
        let bytes = u32::try_from(setup.stack_bytes(info)).unwrap_or(u32::MAX);
        Self {
            ring_base: layout.ring_base,
            ring_slots_log2: setup.ring_slots_log2,
            slot_bytes_log2: setup.slot_bytes_log2,
            stacks: layout.stack_base..layout.stack_base.saturating_add(bytes),
        }
    }

    /// The slot of the ring at an address.
    fn slot_at(&self, address: u32) -> Option<u32> {
        let slot = address.checked_sub(self.ring_base)?.checked_shr(self.slot_bytes_log2)?;
        (self.slot_bytes_log2 > 0 && slot >> self.ring_slots_log2 == 0).then_some(slot)
    }
}

/// A thread of a warp that runs.
#[derive(Debug, Default)]
struct Thread {
    /// What comes before what it does next, of other threads.
    clock: Clock,
    /// The time of its last `fence` that releases.
    released: Option<Step>,
    /// No access since then.
    just_released: bool,
    /// Words that it read since its last acquire, the latest last.
    reads: Vec<u64>,
    /// Words whose releases it acquires with its next access: then what it read has come.
    acquires: Vec<u64>,
}

/// A warp that runs.
#[derive(Debug)]
struct Running {
    number: u32,
    step: Step,
    threads: Vec<Thread>,
}

/// Finds races among the threads of a run.
#[derive(Debug)]
pub struct Detector {
    isa: Isa,
    places: Places,
    order: Order,
    running: BTreeMap<(u8, u8), Running>,
    cells: WordMap<Cell>,
    /// What is known behind the releases to a word.
    releases: WordMap<Clock>,
    findings: Findings,
}

impl Detector {
    /// A detector that has seen nothing. `isa` is what the threads execute.
    #[must_use]
    pub fn new(isa: Isa, places: Places) -> Self {
        Self {
            isa,
            order: Order::new(places.ring_slots_log2),
            places,
            running: BTreeMap::new(),
            cells: WordMap::default(),
            releases: WordMap::default(),
            findings: Findings::default(),
        }
    }

    /// What was found so far.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Takes what the array told in a cycle: first what retired, then its events.
    pub fn cycle(&mut self, retired: &[Retired], events: &[(u64, Event)]) {
        retired.iter().for_each(|retired| self.retired(retired));
        for (_, event) in events {
            match *event {
                Event::Issue(slot, packets) | Event::Hop { slot, packets, .. } => {
                    self.issue(slot, Work::Packets(packets));
                }
                Event::Finish(slot) | Event::Spawn(SpawnEvent::Finish(slot)) => self.finish(slot),
                Event::Commit(..) => {}
                Event::Spawn(SpawnEvent::Issue { job, slot, first, count }) => {
                    self.issue(slot, Work::Job { job, first, count });
                }
                Event::Spawn(SpawnEvent::Trigger(job)) => self.order.trigger(job),
                Event::Spawn(SpawnEvent::Complete(job)) => self.order.complete(job),
            }
        }
    }

    /// A warp was issued.
    pub fn issue(&mut self, slot: WarpSlot, work: Work) {
        let (first, count) = work.range();
        if let Work::Packets(_) = work {
            self.order.forget(first);
        }
        let number = self.order.issue(slot, work);
        let threads = (0..count).map(|_| Thread::default()).collect();
        self.running.insert((slot.core, slot.slot), Running { number, step: 0, threads });
    }

    /// A warp came to its end.
    pub fn finish(&mut self, slot: WarpSlot) {
        if let Some(running) = self.running.remove(&(slot.core, slot.slot)) {
            self.order.finish(running.number, running.threads.iter().map(|thread| &thread.clock));
        }
    }

    /// A warp-instruction retired.
    pub fn retired(&mut self, retired: &Retired) {
        // Neither the boot sequence nor EXIT.
        let sound = retired.active & !retired.faulting;
        if retired.pc >= BOOT_ADDRESS || sound == 0 {
            return;
        }
        let Some(code) = Instruction::decode(retired.instruction, &self.isa) else { return };
        let key = (retired.core, retired.slot);
        let Some(running) = self.running.get_mut(&key) else { return };
        running.step += 1;
        match code.op.class() {
            Class::Csr if PLACE_CSRS.contains(&(code.immediate & 0xfff)) => {
                self.order.uses_place(running.number);
            }
            Class::Fence => running.fence(sound, code.immediate),
            Class::Load | Class::Store | Class::Atomic => self.access(retired, &code, sound),
            _ => {}
        }
    }

    /// Lanes access memory.
    fn access(&mut self, retired: &Retired, code: &Instruction, sound: u32) {
        let class = code.op.class();
        let bytes_of = |address: u32| ((1_u8 << code.op.access_bytes()) - 1) << (address & 3);
        let Some(mut running) = self.running.remove(&(retired.core, retired.slot)) else { return };
        let mut left = sound;
        while left != 0 {
            // The lanes that access the same bytes in the same manner go together.
            let leader = left.trailing_zeros() as usize;
            let address = retired.values[leader];
            let same = |lane: &usize| retired.values[*lane] == address;
            let mut group = lanes(left).filter(same).fold(0, |set, lane| set | 1 << lane);
            if class == Class::Store {
                let release = |lane: usize| running.threads[lane].just_released;
                let own = release(leader);
                group =
                    lanes(group).filter(|lane| release(*lane) == own).fold(0, |set, lane| set | 1 << lane);
            }
            left &= !group;
            let Some(word) = self.word(retired.core, address) else { continue };
            let kind = match class {
                Class::Load => Kind::Load,
                Class::Atomic => Kind::Atomic,
                _ if running.threads[leader].just_released => Kind::Release,
                _ => Kind::Store,
            };
            let entry = Entry {
                warp: running.number,
                step: running.step,
                lanes: group,
                bytes: bytes_of(address),
                kind,
                pc: retired.pc,
            };
            let scratchpad = word >> 32 != 0;
            for lane in lanes(group) {
                self.acquire(&mut running, lane);
            }
            self.check(&running, word, &entry, address, scratchpad);
            for lane in lanes(group) {
                self.synchronize(&mut running, lane, word, kind, code.immediate);
                if kind.writes() && !scratchpad {
                    self.look_for_foreign(&entry, lane, address);
                }
            }
        }
        for lane in lanes(sound) {
            running.threads[lane].just_released = false;
        }
        self.running.insert((retired.core, retired.slot), running);
    }

    /// The number of the word at an address; `None` where each thread has its own memory.
    fn word(&self, core: u8, address: u32) -> Option<u64> {
        let word = u64::from(address >> 2);
        if (SCRATCHPAD_BASE..SCRATCHPAD_BASE + SCRATCHPAD_BYTES as u32).contains(&address) {
            return Some((u64::from(core) + 1) << 32 | word);
        }
        let local = (LOCAL_REGION_ADDRESS..SCRATCHPAD_BASE).contains(&address);
        (!local && !self.places.stacks.contains(&address)).then_some(word)
    }

    /// The thread comes behind the releases that it acquires.
    fn acquire(&self, running: &mut Running, lane: usize) {
        let thread = &mut running.threads[lane];
        for word in std::mem::take(&mut thread.acquires) {
            if let Some(released) = self.releases.get(&word) {
                thread.clock.join(released);
            }
        }
    }

    /// Releases what the thread did before, and notes what it reads, as its access says.
    fn synchronize(&mut self, running: &mut Running, lane: usize, word: u64, kind: Kind, bits: i32) {
        let (number, step) = (running.number, running.step);
        let thread = &mut running.threads[lane];
        let released = match kind {
            Kind::Load => None,
            // The machine performs all earlier accesses of the warp before it.
            Kind::Atomic => Some(step - 1),
            Kind::Store | Kind::Release => thread.released,
        };
        if let Some(released) = released {
            let known = self.releases.entry(word).or_default();
            known.join(&thread.clock);
            self.order.note(known, number, lane as u32, released);
        }
        if matches!(kind, Kind::Load | Kind::Atomic) {
            thread.reads.retain(|read| *read != word);
            if thread.reads.len() == LAST_READS {
                thread.reads.remove(0);
            }
            thread.reads.push(word);
        }
        if kind == Kind::Atomic && bits & 2 != 0 {
            thread.acquires.push(word);
        }
    }

    /// Holds an access against those before it to the same word.
    fn check(&mut self, running: &Running, word: u64, entry: &Entry, address: u32, scratchpad: bool) {
        let cell = self.cells.entry(word).or_default();
        let order = &self.order;
        // Whether a lane of an earlier access comes before a lane of this one.
        let is_before = |old: &Entry, from: usize, lane: usize| {
            let same_warp = old.warp == entry.warp;
            if same_warp && (from == lane || scratchpad) {
                return true;
            }
            order.is_before(old.warp, from as u32, old.step, entry.warp, &running.threads[lane].clock)
        };
        let parties = |old: &Entry| {
            lanes(entry.lanes).find_map(|lane| {
                lanes(old.lanes).find(|from| !is_before(old, *from, lane)).map(|from| (from, lane))
            })
        };
        let mut found = Vec::new();
        for old in &cell.entries {
            if old.bytes & entry.bytes == 0
                || !old.kind.races_with(entry.kind)
                || order.warps_are_ordered(old.warp, entry.warp)
            {
                continue;
            }
            if let Some((from, lane)) = parties(old) {
                found.push((*old, from, lane));
            }
        }
        // Lanes that store to one word with one instruction.
        if entry.kind == Kind::Store && entry.lanes.count_ones() > 1 && !scratchpad {
            let mut both = lanes(entry.lanes);
            if let (Some(from), Some(lane)) = (both.next(), both.next()) {
                found.push((*entry, from, lane));
            }
        }
        cell.keep(*entry, |old| {
            order.warps_are_ordered(old.warp, entry.warp)
                || lanes(old.lanes).all(|from| lanes(entry.lanes).any(|lane| is_before(old, from, lane)))
        });
        for (old, from, lane) in found {
            let conflict = Conflict {
                first: party(order, &old, from),
                second: party(order, entry, lane),
                address,
                scratchpad,
            };
            self.findings.add_race(conflict);
        }
    }

    /// Notes a store of a packet's thread into the slot of another packet.
    fn look_for_foreign(&mut self, entry: &Entry, lane: usize, address: u32) {
        let Some(slot) = self.places.slot_at(address) else { return };
        let Work::Packets(packets) = self.order.warp(entry.warp).work else { return };
        let packet = packets.first.wrapping_add(lane as u32);
        let slots = 1_u32 << self.places.ring_slots_log2;
        let ahead = slot.wrapping_sub(packet) & (slots - 1);
        if ahead == 0 {
            return;
        }
        // The nearest packet that has or had that slot.
        let behind = slots - ahead;
        let other = match ahead <= behind || packet < behind {
            true => packet.wrapping_add(ahead),
            false => packet - behind,
        };
        let party = party(&self.order, entry, lane);
        self.findings.add_foreign(Foreign { party, other, slot, address });
    }
}

/// A thread and what it did.
fn party(order: &Order, entry: &Entry, lane: usize) -> Party {
    let warp = order.warp(entry.warp);
    let kind = match entry.kind {
        Kind::Load => AccessKind::Load,
        Kind::Store | Kind::Release => AccessKind::Store,
        Kind::Atomic => AccessKind::Atomic,
    };
    let job = match warp.work {
        Work::Packets(_) => None,
        Work::Job { job, .. } => Some(job),
    };
    let thread = warp.work.range().0.wrapping_add(lane as u32);
    Party {
        kind,
        pc: entry.pc,
        warp: entry.warp,
        thread,
        job,
        core: warp.slot.core,
        slot: warp.slot.slot,
        lane: lane as u8,
    }
}

impl Running {
    /// Lanes execute a `fence` with these fields.
    fn fence(&mut self, sound: u32, fields: i32) {
        let [writes_before, reads_before, writes_behind, reads_behind] = FENCE.map(|bit| fields & bit != 0);
        let step = self.step;
        for lane in lanes(sound) {
            let thread = &mut self.threads[lane];
            if writes_before && writes_behind {
                (thread.released, thread.just_released) = (Some(step), true);
            }
            if reads_before && reads_behind {
                let reads = std::mem::take(&mut thread.reads);
                thread.acquires.extend(reads);
            }
        }
    }
}

#[cfg(test)]
#[path = "detector_tests.rs"]
mod tests;
