//! The entries of a trace, and the bytes that the host reads and writes.

use super::{TraceRing, TraceTrigger};
use crate::ports::{CoreTrace, MemoryByte, WarpEvent, WarpTrace};
use hermes_hdl::prelude::*;
use hermes_hdl::prim::RamSized;

/// Words of an entry for the array (see [`TraceBuffer`]).
pub const HEAD_PLANES: usize = 5;
/// Words of an entry for each core, behind those.
pub const CORE_PLANES: usize = 5;

/// Offsets of what is no entry, in bytes.
pub mod register {
    /// Written: bit 0 begins the recording with an empty ring, bit 1 ends it. Read: bit 0:
    /// entries are recorded, bit 1: the trigger has fired.
    pub const COMMAND: u32 = 0;
    /// What the trigger waits for, a byte: bits of [`kind`](crate::trace::kind).
    pub const KINDS: u32 = 4;
    /// What is recorded, a byte: bits of [`group`](crate::trace::group).
    pub const GROUPS: u32 = 5;
    /// Warp slot of the trigger, a byte.
    pub const SLOT: u32 = 6;
    /// PC of the trigger, four bytes.
    pub const PC: u32 = 8;
    /// packetIdx of the trigger, four bytes.
    pub const PACKET: u32 = 12;
    /// Entries that are recorded after that of the trigger, two bytes.
    pub const AFTER: u32 = 16;
    /// Read: entries that were written since the recording began, six bytes.
    pub const COUNT: u32 = 24;
    /// Read: number of the entry of the trigger, six bytes.
    pub const TRIGGER_ENTRY: u32 = 32;
}

/// Offset of the first entry's word in a plane, in bytes; the words of the next entries follow.
#[must_use]
pub const fn plane_offset(plane: usize) -> u32 {
    1 << 24 | (plane as u32) << 16
}

/// Keeps what happened in the array in a ring of `2^entries_log2` entries in block RAM: an entry
/// for each cycle in which something happened that the settings ask for.
///
/// 1. All that happens in a cycle is in its entry, so nothing is lost; when the ring is full an
///    entry takes the place of the oldest one.
/// 2. An entry is written in the cycle after what it tells. Its trigger is looked for in that
///    cycle, so that no path of a core ends here in logic.
/// 3. `byte` is always ready. The offsets of settings and state are in [`register`]; those of the
///    entries are [`plane_offset`] and four bytes for each place of the ring: entry number `n`
///    is at place `n` modulo `2^entries_log2`. What is read while entries are recorded is
///    undefined; what is at none of these offsets reads as anything and is not written.
/// 4. A plane has a word of every entry:
///
/// | plane | bits | what they tell |
/// | --- | --- | --- |
/// | 0 | 31:0 | cycle since reset, bits 31:0 |
/// | 1 | 15:0 | the same, bits 47:32, which come round after 81 days at 40 MHz |
/// | 1 | 20:16, 25:21 | warp that finished: core, slot |
/// | 1 | 26, 27, 28 | a warp was issued, finished, was committed |
/// | 1 | 30 | the trigger fired |
/// | 2 | 31:0 | packetIdx of the first packet that was issued |
/// | 3 | 31:0 | packetIdx of the first packet that was committed |
/// | 4 | 4:0, 9:5, 15:10 | warp that was issued: core, slot, packets |
/// | 4 | 20:16, 25:21, 31:26 | warp that was committed: core, slot, packets |
/// | 5 + 5 c | 31:2 | core c: bits 31:2 of the PC |
/// | 5 + 5 c | 1, 0 | late results are written; an instruction retires |
/// | 6 + 5 c | 4:0, 9:5 | slot and cause of the fault of the instruction |
/// | 6 + 5 c | 14:10, 19:15 | slot and register of the late results |
/// | 7 + 5 c | lanes | lanes of the instruction |
/// | 8 + 5 c | lanes | those of them that fault |
/// | 9 + 5 c | lanes | lanes of the late results |
///
/// What a bit says did not happen leaves the bits that tell more of it undefined.
#[clocked("nothing is recorded. The entries stay")]
#[derive(Clone, LogicBlock)]
#[new(cores: usize, entries_log2: usize)]
pub struct TraceBuffer<const LANES: usize> {
    /// Cycles since reset.
    pub cycle: Signal<In, Bits<64>>,
    /// A warp is issued.
    pub issue: Flipped<WarpTrace>,
    /// A warp finishes.
    pub finish: Flipped<WarpEvent>,
    /// A warp is committed.
    pub commit: Flipped<WarpTrace>,
    /// From each core.
    #[count(cores)]
    pub core: Vec<Flipped<CoreTrace<LANES>>>,
    /// To and from the host.
    pub byte: MemoryByte,

    #[init(TraceTrigger::new(cores))]
    trigger: TraceTrigger,
    ring: TraceRing,

    // What happened a cycle ago, as the entries have it
    stamp: Register<Bits<48>>,
    happened: Register<Bits<3>>,
    finished: Register<Bits<10>>,
    packet_issued: Register<Bits<32>>,
    packet_committed: Register<Bits<32>>,
    issued: Register<Bits<16>>,
    committed: Register<Bits<16>>,
    #[count(cores)]
    place: Vec<Register<Bits<32>>>,
    #[count(cores)]
    slots: Vec<Register<Bits<20>>>,
    #[count(cores)]
    active: Vec<Register<Bits<LANES>>>,
    #[count(cores)]
    faulting: Vec<Register<Bits<LANES>>>,
    #[count(cores)]
    late_lanes: Vec<Register<Bits<LANES>>>,

    // The ring
    #[init((0..HEAD_PLANES).map(|_| RamSized::new(entries_log2)).collect())]
    head_ram: Vec<RamSized<32>>,
    #[init((0..cores).map(|_| RamSized::new(entries_log2)).collect())]
    place_ram: Vec<RamSized<32>>,
    #[init((0..cores).map(|_| RamSized::new(entries_log2)).collect())]
    slots_ram: Vec<RamSized<20>>,
    #[init((0..cores).map(|_| RamSized::new(entries_log2)).collect())]
    active_ram: Vec<RamSized<LANES>>,
    #[init((0..cores).map(|_| RamSized::new(entries_log2)).collect())]
    faulting_ram: Vec<RamSized<LANES>>,
    #[init((0..cores).map(|_| RamSized::new(entries_log2)).collect())]
    late_ram: Vec<RamSized<LANES>>,

    // What the host reads
    answers: Register<Bit>,
    of_ring: Register<Bit>,
    plane: Register<Bits<8>>,
    part: Register<Bits<2>>,
    state: Register<Bits<8>>,
    #[init(cores)]
    _cores: usize,
}

impl<const LANES: usize> TraceBuffer<LANES> {
    /// A ring of `2^entries_log2` entries for an array of `cores` cores.
    ///
    /// # Panics
    /// If `cores` is not 1 to 32, or `entries_log2` not 4 to 14.
    pub fn new(cores: usize, entries_log2: usize) -> Self {
        assert!(
            (4..=14).contains(&entries_log2),
            "TraceBuffer: 2^{entries_log2} entries, expected 2^4 to 2^14"
        );
        Self::wired(cores, entries_log2)
    }
}

impl<const LANES: usize> Logic for TraceBuffer<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        // What happens, for the next cycle
        self.stamp.d.next = self.cycle.val().get_bits::<48>(0);
        self.happened.d.next = bits::<3>(0)
            .replace_bit(0, self.issue.valid.val())
            .replace_bit(1, self.finish.valid.val())
            .replace_bit(2, self.commit.valid.val());
        self.finished.d.next =
            bit_cast::<10, 5>(self.finish.core.val()) | (bit_cast::<10, 5>(self.finish.slot.val()) << 5);
        self.packet_issued.d.next = self.issue.packet.val();
        self.packet_committed.d.next = self.commit.packet.val();
        self.issued.d.next = bit_cast::<16, 5>(self.issue.core.val())
            | (bit_cast::<16, 5>(self.issue.slot.val()) << 5)
            | (bit_cast::<16, 6>(self.issue.count.val()) << 10);
        self.committed.d.next = bit_cast::<16, 5>(self.commit.core.val())
            | (bit_cast::<16, 5>(self.commit.slot.val()) << 5)
            | (bit_cast::<16, 6>(self.commit.count.val()) << 10);
        for i in 0..self._cores {
            self.place[i].d.next = (bit_cast::<32, 30>(self.core[i].pc.val().get_bits::<30>(2)) << 2)
                .replace_bit(0, self.core[i].valid.val())
                .replace_bit(1, self.core[i].late_valid.val());
            self.slots[i].d.next = bit_cast::<20, 5>(self.core[i].slot.val())
                | (bit_cast::<20, 5>(self.core[i].cause.val()) << 5)
                | (bit_cast::<20, 5>(self.core[i].late_slot.val()) << 10)
                | (bit_cast::<20, 5>(self.core[i].late_rd.val()) << 15);
            self.active[i].d.next = self.core[i].active.val();
            self.faulting[i].d.next = self.core[i].faulting.val();
            self.late_lanes[i].d.next = self.core[i].late_lanes.val();
        }

        // What is recorded of it
        self.trigger.issued.next = self.happened.q.val().get_bit(0);
        self.trigger.issue_packet.next = self.packet_issued.q.val();
        self.trigger.issue_count.next = self.issued.q.val().get_bits::<6>(10);
        self.trigger.finished.next = self.happened.q.val().get_bit(1);
        self.trigger.committed.next = self.happened.q.val().get_bit(2);
        self.trigger.commit_packet.next = self.packet_committed.q.val();
        self.trigger.commit_count.next = self.committed.q.val().get_bits::<6>(10);
        for i in 0..self._cores {
            self.trigger.retired[i].next = self.place[i].q.val().get_bit(0);
            self.trigger.late[i].next = self.place[i].q.val().get_bit(1);
            self.trigger.pc[i].next = self.place[i].q.val().get_bits::<30>(2);
            self.trigger.slot[i].next = self.slots[i].q.val().get_bits::<5>(0);
            self.trigger.faults[i].next = self.faulting[i].q.val().any();
        }
        self.ring.arm.next = self.trigger.arm.val();
        self.ring.stop.next = self.trigger.stop.val();
        self.ring.entry.next = self.trigger.entry.val();
        self.ring.hit.next = self.trigger.hit.val();
        self.ring.after.next = self.trigger.after.val();

        // Its entry
        let mut told = bits::<3>(0);
        if self.trigger.takes_events.val() {
            told = self.happened.q.val();
        }
        let high = bit_cast::<32, 16>(self.stamp.q.val().get_bits::<16>(32))
            | (bit_cast::<32, 10>(self.finished.q.val()) << 16)
            | (bit_cast::<32, 3>(told) << 26);
        let both =
            bit_cast::<32, 16>(self.issued.q.val()) | (bit_cast::<32, 16>(self.committed.q.val()) << 16);
        self.head_ram[0].write_data.next = self.stamp.q.val().get_bits::<32>(0);
        self.head_ram[1].write_data.next = high.replace_bit(30, self.ring.fires.val());
        self.head_ram[2].write_data.next = self.packet_issued.q.val();
        self.head_ram[3].write_data.next = self.packet_committed.q.val();
        self.head_ram[4].write_data.next = both;
        let writes = self.ring.write.val();
        let to = self.ring.count.val().get_bits::<16>(0);
        let asks = self.byte.valid.val() && !self.byte.write.val();
        let address = self.byte.address.val();
        let from = bit_cast::<16, 14>(address.get_bits::<14>(2));
        for j in 0..HEAD_PLANES {
            self.head_ram[j].write_enable.next = writes;
            self.head_ram[j].write_address.next = to;
            self.head_ram[j].read_enable.next = asks;
            self.head_ram[j].read_address.next = from;
        }
        for i in 0..self._cores {
            self.place_ram[i].write_data.next = self.place[i].q.val();
            if !self.trigger.takes_retirement.val() {
                self.place_ram[i].write_data.next = bits::<32>(0);
            }
            self.slots_ram[i].write_data.next = self.slots[i].q.val();
            self.active_ram[i].write_data.next = self.active[i].q.val();
            self.faulting_ram[i].write_data.next = self.faulting[i].q.val();
            self.late_ram[i].write_data.next = self.late_lanes[i].q.val();
            self.place_ram[i].write_enable.next = writes;
            self.slots_ram[i].write_enable.next = writes;
            self.active_ram[i].write_enable.next = writes;
            self.faulting_ram[i].write_enable.next = writes;
            self.late_ram[i].write_enable.next = writes;
            self.place_ram[i].write_address.next = to;
            self.slots_ram[i].write_address.next = to;
            self.active_ram[i].write_address.next = to;
            self.faulting_ram[i].write_address.next = to;
            self.late_ram[i].write_address.next = to;
            self.place_ram[i].read_enable.next = asks;
            self.slots_ram[i].read_enable.next = asks;
            self.active_ram[i].read_enable.next = asks;
            self.faulting_ram[i].read_enable.next = asks;
            self.late_ram[i].read_enable.next = asks;
            self.place_ram[i].read_address.next = from;
            self.slots_ram[i].read_address.next = from;
            self.active_ram[i].read_address.next = from;
            self.faulting_ram[i].read_address.next = from;
            self.late_ram[i].read_address.next = from;
        }

        // What the host writes
        let in_ring = address.get_bit(24);
        self.trigger.write.next =
            self.byte.valid.val() && self.byte.write.val() && !in_ring && !address.get_bits::<18>(6).any();
        self.trigger.offset.next = address.get_bits::<6>(0);
        self.trigger.data.next = self.byte.data.val();
        self.byte.ready.next = true;

        // What it reads
        let mut group =
            bits::<64>(0).replace_bit(0, self.ring.recording.val()).replace_bit(1, self.ring.triggered.val());
        if address.get_bits::<3>(3) == bits::<3>(3) {
            group = bit_cast::<64, 48>(self.ring.count.val());
        }
        if address.get_bits::<3>(3) == bits::<3>(4) {
            group = bit_cast::<64, 48>(self.ring.trigger_entry.val());
        }
        let of_group = group >> (bit_cast::<6, 3>(address.get_bits::<3>(0)) << 3);
        self.state.d.next = of_group.get_bits::<8>(0);
        self.answers.d.next = asks;
        self.of_ring.d.next = in_ring;
        self.plane.d.next = address.get_bits::<8>(16);
        self.part.d.next = address.get_bits::<2>(0);
        let wanted = self.plane.q.val();
        let mut word = bits::<32>(0);
        for j in 0..HEAD_PLANES {
            if wanted == bits::<8>(j as u64) {
                word = self.head_ram[j].read_data.val();
            }
        }
        for i in 0..self._cores {
            if wanted == bits::<8>((5 * i + 5) as u64) {
                word = self.place_ram[i].read_data.val();
            }
            if wanted == bits::<8>((5 * i + 6) as u64) {
                word = bit_cast::<32, 20>(self.slots_ram[i].read_data.val());
            }
            if wanted == bits::<8>((5 * i + 7) as u64) {
                word = bit_cast::<32, LANES>(self.active_ram[i].read_data.val());
            }
            if wanted == bits::<8>((5 * i + 8) as u64) {
                word = bit_cast::<32, LANES>(self.faulting_ram[i].read_data.val());
            }
            if wanted == bits::<8>((5 * i + 9) as u64) {
                word = bit_cast::<32, LANES>(self.late_ram[i].read_data.val());
            }
        }
        let of_word = word >> (bit_cast::<5, 2>(self.part.q.val()) << 3);
        self.byte.answer.next = self.answers.q.val();
        self.byte.read.next = self.state.q.val();
        if self.of_ring.q.val() {
            self.byte.read.next = of_word.get_bits::<8>(0);
        }
    }
}
