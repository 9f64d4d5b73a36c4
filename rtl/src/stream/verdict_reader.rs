//! The verdicts of committed packets, in their order.

use crate::blocks::{QueuePointers, WordSelect};
use crate::host::VerdictPlaces;
use crate::ports::{LineRead, Verdict};
use hermes_hdl::prelude::*;

/// Reads lines of the verdict array and hands out the words of committed packets, one after the
/// other.
///
/// 1. A line is requested when all packets that still have a word in it are committed; or some of
///    them, if no other verdicts wait. The words of packets that are not committed at that time are
///    not used: their line is read again. Up to 4 lines are outstanding.
/// 2. A line that cannot be read gives fault verdicts.
/// 3. While `enable` is low nothing is requested. While `follow` is high, which needs `idle` and
///    `enable` low, all committed packets are skipped.
/// 4. The verdict array begins at a multiple of 64 bytes. Its place and the ring's size may change
///    only while the unit is idle and `enable` is low.
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct VerdictReader {
    /// Verdicts are read.
    pub enable: Signal<In, Bit>,
    /// Skips all committed packets.
    pub follow: Signal<In, Bit>,
    /// Packets committed, modulo 2^32.
    pub committed: Signal<In, Bits<32>>,
    /// From the registers.
    pub ring: VerdictPlaces,

    /// To memory: lines of verdicts, with tags 48 to 51; a request may be withdrawn.
    pub read: LineRead,

    /// To the slot reader: the verdict of the next packet.
    pub verdict: Verdict,
    /// No verdict is requested or waits to be taken.
    pub idle: Signal<Out, Bit>,

    /// The first packet for whose verdict no line was requested.
    asked: Register<Bits<32>>,
    /// Verdicts taken of the oldest line.
    taken: Register<Bits<5>>,
    arrived: Register<Bits<4>>,
    lines: QueuePointers<2>,
    line_data: RamAsync<Bits<512>, 2>,
    line_first: RamAsync<Bits<4>, 2>,
    line_count: RamAsync<Bits<5>, 2>,
    select: WordSelect,
    #[init(Constant::new(!Bits::<512>::default()))]
    all_faults: Constant<Bits<512>>,
}

impl Logic for VerdictReader {
    #[hdl_gen]
    fn update(&mut self) {
        // Request the words from that of packet `asked` to the end of the line, of the ring or of
        // the committed packets.
        let slot = self.asked.q.val() & ((bits::<32>(1) << self.ring.ring_slots_log2.val()) - 1);
        let mut words = bits::<5>(16);
        if self.ring.ring_slots_log2.val() < 4 {
            words = bits::<5>(1) << self.ring.ring_slots_log2.val();
        }
        let room = words - bit_cast::<5, 4>(slot.get_bits::<4>(0));
        let open = self.committed.val() - self.asked.q.val();
        // `open` less `room`: negative if there are fewer. As `>=`, synthesis may add a comparison
        // for equality.
        let beyond = bit_cast::<33, 32>(open) - bit_cast::<33, 5>(room);
        let mut count = room;
        if beyond.get_bit(32) {
            count = bit_cast::<5, 32>(open);
        }
        let ask = self.enable.val()
            && open.any()
            && !self.lines.full.val()
            && (self.lines.empty.val() || !beyond.get_bit(32));
        self.read.valid.next = ask;
        self.read.line.next =
            self.ring.verdict_base.val().get_bits::<26>(6) + bit_cast::<26, 28>(slot.get_bits::<28>(4));
        self.read.tag.next = bit_cast::<7, 2>(self.lines.write_address.val()) | 48;
        let accept = ask && self.read.ready.val();
        if accept {
            self.asked.d.next = self.asked.q.val() + bit_cast::<32, 5>(count);
        } else if self.follow.val() {
            self.asked.d.next = self.committed.val();
        }
        self.idle.next = self.lines.empty.val();
        self.lines.push.next = accept;
        self.line_first.write_enable.next = accept;
        self.line_first.write_address.next = self.lines.write_address.val();
        self.line_first.write_data.next = slot.get_bits::<4>(0);
        self.line_count.write_enable.next = accept;
        self.line_count.write_address.next = self.lines.write_address.val();
        self.line_count.write_data.next = count;

        // Lines come in any order.
        let came_tag = self.read.response.tag.val().get_bits::<2>(0);
        self.line_data.write_enable.next = self.read.response.valid.val();
        self.line_data.write_address.next = came_tag;
        self.line_data.write_data.next = self.read.response.data.val();
        if self.read.response.error.val() {
            self.line_data.write_data.next = self.all_faults.val();
        }
        let mut marks = self.arrived.q.val();
        if accept {
            marks = marks.replace_bit(self.lines.write_address.val().index(), false);
        }
        if self.read.response.valid.val() {
            marks = marks.replace_bit(came_tag.index(), true);
        }
        self.arrived.d.next = marks;

        // Words leave in order.
        self.line_data.read_address.next = self.lines.read_address.val();
        self.line_first.read_address.next = self.lines.read_address.val();
        self.line_count.read_address.next = self.lines.read_address.val();
        let present =
            !self.lines.empty.val() && self.arrived.q.val().get_bit(self.lines.read_address.val().index());
        self.select.enable.next = present;
        self.select.line.next = self.line_data.read_data.val();
        self.select.index.next = self.line_first.read_data.val() + bit_cast::<4, 5>(self.taken.q.val());
        self.verdict.valid.next = present;
        self.verdict.value.next = self.select.word.val();
        let take = present && self.verdict.ready.val();
        let last = (self.taken.q.val() + 1) == self.line_count.read_data.val();
        if take {
            self.taken.d.next = self.taken.q.val() + 1;
            if last {
                self.taken.d.next = bits::<5>(0);
            }
        }
        self.lines.pop.next = take && last;
    }
}
