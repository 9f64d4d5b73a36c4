//! The trace buffer against a model: random events, settings and triggers, rings that come round.

use super::*;
use crate::memory::testing::random;
use crate::testing::{reset, settle, tick};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

const CORES: usize = 2;
const LANES: usize = 4;
const ENTRIES: usize = 16;

/// An instruction that retires: slot, PC, lanes, those that fault, cause.
type Instruction = (u64, u64, u64, u64, u64);
/// Late results: slot, register, lanes.
type Late = (u64, u64, u64);
/// A warp with its packets: core, slot, packet, count.
type Warp = (u64, u64, u64, u64);

/// What happens in a cycle.
#[derive(Clone, Debug, Default, PartialEq)]
struct Happening {
    cycle: u64,
    issue: Option<Warp>,
    finish: Option<(u64, u64)>,
    commit: Option<Warp>,
    retired: [Option<Instruction>; CORES],
    late: [Option<Late>; CORES],
    triggers: bool,
}

impl Happening {
    fn random(rng: &mut ChaCha8Rng, density: f64, cycle: u64) -> Self {
        let warp = |rng: &mut ChaCha8Rng| {
            (rng.gen_range(0..32), rng.gen_range(0..32), rng.gen_range(0..60), rng.gen_range(1..=4))
        };
        let mut happening = Self { cycle, ..Self::default() };
        happening.issue = rng.gen_bool(density / 4.0).then(|| warp(rng));
        happening.finish = rng.gen_bool(density / 4.0).then(|| (rng.gen_range(0..32), rng.gen_range(0..32)));
        happening.commit = rng.gen_bool(density / 4.0).then(|| warp(rng));
        for core in 0..CORES {
            let faulting = if rng.gen_ratio(1, 16) { rng.gen_range(1..16) } else { 0 };
            let pc = 0xffff_ff00 + 4 * rng.gen_range(0..16);
            let (slot, active, cause) = (rng.gen_range(0..8), rng.gen_range(0..16), rng.gen_range(0..32));
            happening.retired[core] = rng.gen_bool(density).then_some((slot, pc, active, faulting, cause));
            let late = (rng.gen_range(0..32), rng.gen_range(0..32), rng.gen_range(0..16));
            happening.late[core] = rng.gen_bool(density / 4.0).then_some(late);
        }
        happening
    }

    /// What of it the groups record.
    fn only(&self, groups: u8) -> Self {
        let mut part = self.clone();
        if groups & group::EVENTS == 0 {
            (part.issue, part.finish, part.commit) = (None, None, None);
        }
        if groups & group::RETIREMENT == 0 {
            (part.retired, part.late) = ([None; CORES], [None; CORES]);
        }
        part
    }

    fn is_something(&self) -> bool {
        *self != Self { cycle: self.cycle, triggers: self.triggers, ..Self::default() }
    }

    /// Whether the trigger waits for it.
    fn matches(&self, settings: &Settings) -> bool {
        let of_packet = |warp: Option<Warp>| {
            warp.is_some_and(|(_, _, first, count)| (first..first + count).contains(&settings.packet))
        };
        let of_instruction = |&(slot, pc, _, faulting, _): &Instruction| {
            let at_pc = settings.kinds & kind::AT_PC == 0 || pc == settings.pc;
            let in_slot = settings.kinds & kind::IN_SLOT == 0 || slot == settings.slot;
            (settings.kinds & kind::RETIREMENT != 0 && at_pc && in_slot)
                || (settings.kinds & kind::FAULT != 0 && faulting != 0)
        };
        (settings.kinds & kind::ISSUE != 0 && of_packet(self.issue))
            || (settings.kinds & kind::COMMIT != 0 && of_packet(self.commit))
            || self.retired.iter().flatten().any(of_instruction)
    }
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    kinds: u8,
    groups: u8,
    slot: u64,
    pc: u64,
    packet: u64,
    after: u64,
}

impl Settings {
    fn random(rng: &mut ChaCha8Rng) -> Self {
        let kinds = [
            0,
            kind::RETIREMENT,
            kind::RETIREMENT | kind::AT_PC,
            kind::RETIREMENT | kind::IN_SLOT,
            kind::RETIREMENT | kind::AT_PC | kind::IN_SLOT,
            kind::FAULT,
            kind::ISSUE,
            kind::COMMIT,
            kind::FAULT | kind::COMMIT,
        ];
        Self {
            kinds: kinds[rng.gen_range(0..kinds.len())],
            groups: rng.gen_range(1..4),
            slot: rng.gen_range(0..8),
            pc: 0xffff_ff00 + 4 * rng.gen_range(0..16),
            packet: rng.gen_range(0..64),
            after: rng.gen_range(0..2 * ENTRIES as u64),
        }
    }

    /// The bytes that the host writes, with their offsets.
    fn bytes(&self) -> Vec<(u32, u8)> {
        let word = |offset: u32, value: u64, count: usize| {
            (offset..).zip(value.to_le_bytes()).take(count).collect::<Vec<_>>()
        };
        [
            vec![(register::KINDS, self.kinds), (register::GROUPS, self.groups)],
            vec![(register::SLOT, self.slot as u8)],
            word(register::PC, self.pc, 4),
            word(register::PACKET, self.packet, 4),
            word(register::AFTER, self.after, 2),
        ]
        .concat()
    }
}

/// A buffer in whose array something happens all the time.
struct Bench {
    uut: TraceBuffer<LANES>,
    rng: ChaCha8Rng,
    density: f64,
    cycle: u64,
    happened: Vec<Happening>,
}

impl Bench {
    /// A cycle with an access of a byte, if any.
    fn cycle(&mut self, access: Option<(u32, Option<u8>)>) {
        let Self { uut, rng, .. } = self;
        let happening = Happening::random(rng, self.density, self.cycle);
        uut.cycle.next = happening.cycle.into();
        let anything =
            (rng.gen_range(0..32), rng.gen_range(0..32), rng.gen::<u32>().into(), rng.gen_range(0..33));
        for (ports, warp) in [(&mut uut.issue, happening.issue), (&mut uut.commit, happening.commit)] {
            let (core, slot, packet, count) = warp.unwrap_or(anything);
            ports.valid.next = warp.is_some();
            ports.core.next = core.into();
            ports.slot.next = slot.into();
            ports.packet.next = packet.into();
            ports.count.next = count.into();
        }
        let (core, slot) = happening.finish.unwrap_or((anything.0, anything.1));
        uut.finish.valid.next = happening.finish.is_some();
        uut.finish.core.next = core.into();
        uut.finish.slot.next = slot.into();
        for (core, ports) in uut.core.iter_mut().enumerate() {
            let wild = (anything.1, 4 * rng.gen_range(0..64), rng.gen_range(0..16), rng.gen_range(0..16), 3);
            let (slot, pc, active, faulting, cause) = happening.retired[core].unwrap_or(wild);
            ports.valid.next = happening.retired[core].is_some();
            ports.slot.next = slot.into();
            ports.pc.next = pc.into();
            ports.active.next = active.into();
            ports.faulting.next = faulting.into();
            ports.cause.next = cause.into();
            let (slot, rd, lanes) = happening.late[core].unwrap_or((anything.0, anything.1, 5));
            ports.late_valid.next = happening.late[core].is_some();
            ports.late_slot.next = slot.into();
            ports.late_rd.next = rd.into();
            ports.late_lanes.next = lanes.into();
        }
        let (offset, data) = access.unwrap_or((rng.gen(), None));
        uut.byte.valid.next = access.is_some();
        uut.byte.write.next = data.is_some();
        uut.byte.address.next = (u64::from(offset) | 1 << 31).into();
        uut.byte.data.next = u64::from(data.unwrap_or_else(|| rng.gen())).into();
        settle(uut);
        assert!(uut.byte.ready.val());
        tick!(*uut);
        self.happened.push(happening);
        self.cycle += 1;
    }

    fn write(&mut self, offset: u32, byte: u8) {
        self.cycle(Some((offset, Some(byte))));
    }

    /// Bytes from `offset` on, lowest first.
    fn read(&mut self, offset: u32, count: u32) -> u64 {
        let mut value = 0;
        for byte in 0..count {
            self.cycle(Some((offset + byte, None)));
            settle(&mut self.uut);
            assert!(self.uut.byte.answer.val());
            value |= self.uut.byte.read.val().to_u64() << (8 * byte);
        }
        value
    }

    /// The entry at a place of the ring.
    fn entry(&mut self, place: usize) -> Happening {
        let mut words = [0; HEAD_PLANES + CORE_PLANES * CORES];
        for (plane, word) in words.iter_mut().enumerate() {
            *word = self.read(plane_offset(plane) + 4 * place as u32, 4);
        }
        let field = |word: u64, low: u32, width: u32| word >> low & ((1 << width) - 1);
        let flag = |bit: u32| words[1] >> bit & 1 == 1;
        let warp = |low: u32, packet: u64| {
            (field(words[4], low, 5), field(words[4], low + 5, 5), packet, field(words[4], low + 10, 6))
        };
        let mut entry = Happening { cycle: words[0] | field(words[1], 0, 16) << 32, ..Happening::default() };
        entry.issue = flag(26).then(|| warp(0, words[2]));
        entry.finish = flag(27).then(|| (field(words[1], 16, 5), field(words[1], 21, 5)));
        entry.commit = flag(28).then(|| warp(16, words[3]));
        entry.triggers = flag(30);
        for core in 0..CORES {
            let words = &words[HEAD_PLANES + CORE_PLANES * core..];
            let small = |low| field(words[1], low, 5);
            let retired = (small(0), words[0] & !3, words[2], words[3], small(5));
            entry.retired[core] = (words[0] & 1 == 1).then_some(retired);
            entry.late[core] = (words[0] & 2 == 2).then_some((small(10), small(15), words[4]));
        }
        entry
    }
}

#[test]
fn entries_are_what_happened() {
    let mut uut = TraceBuffer::<LANES>::new(CORES, ENTRIES.ilog2() as usize);
    reset!(uut);
    // The high half of the cycle changes on the way.
    let rng = random("trace_buffer");
    let mut bench = Bench { uut, rng, density: 0.0, cycle: (1 << 32) - 40_000, happened: Vec::new() };
    let (mut wrapped, mut triggered, mut waiting) = (0, 0, 0);
    // Places in the ring at which the trigger fired
    let mut places = [false; ENTRIES];
    for run in 0..300 {
        bench.density = [0.02, 0.2, 0.9][run % 3];
        let settings = Settings::random(&mut bench.rng);
        settings.bytes().into_iter().for_each(|(offset, byte)| bench.write(offset, byte));
        bench.happened.clear();
        bench.write(register::COMMAND, 1);
        for _ in 0..bench.rng.gen_range(0..120) {
            // Offsets that are no settings
            let access = bench.rng.gen_ratio(1, 8).then_some((1 << 12 | register::COMMAND, Some(3)));
            bench.cycle(access);
        }
        let happened = bench.happened.clone();
        bench.write(register::COMMAND, 2);

        let mut expected: Vec<Happening> = Vec::new();
        let mut fired = None;
        for happening in happened {
            if fired.is_some_and(|at| expected.len() as u64 > at as u64 + settings.after) {
                break;
            }
            let fires = fired.is_none() && happening.matches(&settings);
            let part = Happening { triggers: fires, ..happening.only(settings.groups) };
            if fires {
                fired = Some(expected.len());
            }
            if fires || part.is_something() {
                expected.push(part);
            }
        }
        assert_eq!(bench.read(register::COUNT, 8), expected.len() as u64, "run {run}: {settings:?}");
        assert_eq!(bench.read(register::COMMAND, 4), u64::from(fired.is_some()) << 1, "run {run}");
        if let Some(at) = fired {
            assert_eq!(bench.read(register::TRIGGER_ENTRY, 8), at as u64, "run {run}: {settings:?}");
            triggered += 1;
            places[at % ENTRIES] = true;
        }
        waiting += u32::from(fired.is_none() && settings.kinds != 0);
        wrapped += u32::from(expected.len() > ENTRIES);
        let first = expected.len().saturating_sub(ENTRIES);
        for (number, expected) in expected.iter().enumerate().skip(first) {
            let got = bench.entry(number % ENTRIES);
            assert_eq!(got, *expected, "run {run}, entry {number}: {settings:?}");
        }
    }
    assert!(bench.cycle > 1 << 32, "{}", bench.cycle);
    assert!(wrapped > 30 && triggered > 60 && waiting > 20, "{wrapped}, {triggered}, {waiting}");
    assert!(places.iter().all(|place| *place), "{places:?}");
}

#[test]
fn a_recording_can_begin_anew_at_any_time() {
    let mut rng = random("trace_ring");
    let mut uut = TraceRing::default();
    reset!(uut);
    let (mut recording, mut fired, mut count, mut left) = (false, None, 0u64, 0u64);
    let mut ends = [0; 3];
    for cycle in 0..20_000 {
        uut.arm.next = rng.gen_ratio(1, 40);
        uut.stop.next = rng.gen_ratio(1, 100);
        uut.entry.next = rng.gen_ratio(1, 2);
        uut.hit.next = rng.gen_ratio(1, 16);
        uut.after.next = rng.gen_range(0..8u64).into();
        settle(&mut uut);
        let fires = recording && fired.is_none() && uut.hit.val();
        let writes = recording && (fires || uut.entry.val());
        assert_eq!((uut.write.val(), uut.fires.val()), (writes, fires), "cycle {cycle}");
        assert_eq!((uut.recording.val(), uut.triggered.val()), (recording, fired.is_some()), "cycle {cycle}");
        assert_eq!(uut.count.val().to_u64(), count, "cycle {cycle}");
        if let Some(at) = fired {
            assert_eq!(uut.trigger_entry.val().to_u64(), at, "cycle {cycle}");
        }
        if fires {
            (fired, left) = (Some(count), uut.after.val().to_u64());
        } else if writes && fired.is_some() {
            left -= 1;
        }
        count += u64::from(writes);
        if writes && fired.is_some() && left == 0 {
            recording = false;
            ends[0] += 1;
        }
        if uut.stop.val() {
            ends[1] += u32::from(recording);
            recording = false;
        }
        if uut.arm.val() {
            ends[2] += u32::from(recording);
            (recording, fired, count) = (true, None, 0);
        }
        tick!(uut);
    }
    assert!(ends.iter().all(|count| *count > 20), "{ends:?}");
}
