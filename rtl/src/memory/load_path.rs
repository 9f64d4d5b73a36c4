//! From a coalesced load to read requests, and from their responses to the lanes' words.

use crate::blocks::{QueuePointers, QueueRam, WordSelect};
use crate::config::CoreOptions;
use crate::ports::{CacheAnswer, CacheRequest, CoalescedLine, LateResult, LineError, LoadStart, ValuePlace};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Requests the lines of coalesced loads and selects every lane's word from the responses.
///
/// 1. At an edge with `start` high, which needs `start_ready`, what the extraction needs of the
///    operation is stored under the next of 32 tags. Operations keep their order, so their lines
///    need no tag: an answer belongs to the oldest operation, whose tag is free again once its last
///    answer was accepted.
/// 2. A line is handed on at once: `read.valid` offers it in the cycle of `line_valid`, and it is
///    taken at the edge at which `line_ready` is high. Up to 256 lines wait for their answer.
/// 3. Answers come in the order of the requests. An answer is announced first: at the edge at which
///    `answer.valid` and `answer.ready` are high what belongs to it is registered, and
///    `answer.data` and `answer.error` hold the line from the next cycle on, until the next such
///    edge. Then the line is registered, too, as soon as the one before it has given its last
///    result. Results are offered from the next cycle on.
/// 4. Up to four words, or two, or one, are selected from a line at once: lanes whose indices
///    differ by a multiple of that share a word selector. Of such lanes the lowest that waits for
///    its value leads, and those that want the same word are served with it; the others follow with
///    the next results of the line. So one line a cycle is sustained if no two such lanes want
///    words of it. Behind a line of which two do a cycle is lost, even if they want the same word:
///    whether an answer is accepted must not wait for the comparison of addresses.
/// 5. The value is in the word at the lowest two bits of `place.address`, with `place.size` and
///    `place.signed`; see [`LoadValue`](super::LoadValue).
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(groups: usize)]
pub struct LoadPath<const LANES: usize> {
    /// From stage M: a load operation starts.
    pub start: LoadStart<LANES>,
    /// A tag is free; depends on registers only.
    pub start_ready: Signal<Out, Bit>,
    /// `start_ready` will be high in the next cycle, whatever starts in this one.
    pub ready_next: Signal<Out, Bit>,

    /// From the coalescer: a line is offered.
    pub line_valid: Signal<In, Bit>,
    /// The line is taken at this edge.
    pub line_ready: Signal<Out, Bit>,
    /// From the coalescer: the line.
    pub offered: CoalescedLine<LANES>,

    /// To the data cache: a line is requested.
    pub read: CacheRequest,
    /// From the data cache: the line of the oldest request.
    pub answer: Flipped<CacheAnswer>,

    /// To register write-back: values of lanes.
    pub result: LateResult<LANES>,
    /// The values are accepted at this edge.
    pub result_ready: Signal<In, Bit>,
    /// `result_ready` will be high in the next cycle.
    pub result_ready_next: Signal<In, Bit>,
    /// Word of the line for lane `i` of the mask in element `i` modulo their number. It is 0 if no
    /// such lane is in the mask, and while `result.valid` or `result_ready` is low.
    #[count(groups)]
    pub result_word: Vec<Signal<Out, Bits<32>>>,
    /// To the extraction of the values.
    pub place: ValuePlace<LANES>,
    /// The line of the values could not be read.
    pub result_error: Flipped<LineError>,

    waiting: QueuePointers<8>,
    waiting_lanes: QueueRam<LANES, 8>,
    /// Line address, and above it whether it is the last line of its operation.
    waiting_line: QueueRam<27, 8>,
    tags: QueuePointers<5>,
    tag_slot: RamAsync<Bits<5>, 5>,
    tag_size: RamAsync<Bits<2>, 5>,
    tag_signed: RamAsync<Bit, 5>,
    tag_rd: RamAsync<Bits<5>, 5>,
    #[init(LaneRam::new(LANES))]
    tag_address: LaneRam<32, 5>,
    #[count(groups)]
    select: Vec<WordSelect>,

    // What belongs to the line that `answer.data` shows
    next: Register<Bit>,
    /// The next line can come.
    room: Register<Bit>,
    next_line: Register<LineAddress>,
    next_slot: Register<Bits<5>>,
    next_last: Register<Bit>,
    next_lanes: Register<Bits<LANES>>,
    next_size: Register<Bits<2>>,
    next_signed: Register<Bit>,
    next_rd: Register<Bits<5>>,
    #[init(LaneRegisters::new(LANES))]
    next_address: LaneRegisters<32>,

    // The line that results are taken from
    held: Register<Bit>,
    held_data: Register<Bits<512>>,
    held_error: Register<Bit>,
    held_line: Register<LineAddress>,
    held_slot: Register<Bits<5>>,
    held_last: Register<Bit>,
    /// Lanes whose value was not accepted yet.
    held_lanes: Register<Bits<LANES>>,
    /// No two lanes share a word selector: all get their value with the first result.
    held_apart: Register<Bit>,
    held_size: Register<Bits<2>>,
    held_signed: Register<Bit>,
    held_rd: Register<Bits<5>>,
    #[init(LaneRegisters::new(LANES))]
    held_address: LaneRegisters<32>,

    #[count(groups)]
    leads: Vec<Signal<Local, Bit>>,
    #[count(groups)]
    index: Vec<Signal<Local, Bits<4>>>,
    #[init(groups)]
    _groups: usize,
    #[init(LANES / groups)]
    _share: usize,
}

impl<const LANES: usize> LoadPath<LANES> {
    /// The path of a core with these options.
    ///
    /// # Panics
    /// If the words at once are not a power of two.
    pub fn new(options: CoreOptions) -> Self {
        let words = options.line_words;
        assert!(words.is_power_of_two(), "LoadPath: {words} words at once, expected a power of two");
        Self::wired(LANES.min(words))
    }
}

impl<const LANES: usize> Logic for LoadPath<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        // What the extraction needs of an operation, by its tag.
        self.start_ready.next = !self.tags.full.val();
        self.ready_next.next =
            !self.tags.full.val() && (self.tags.read_address.val() != (self.tags.write_address.val() + 1));
        self.tags.push.next = self.start.valid.val();
        self.tag_slot.write_enable.next = self.start.valid.val();
        self.tag_slot.write_address.next = self.tags.write_address.val();
        self.tag_slot.write_data.next = self.start.slot.val();
        self.tag_size.write_enable.next = self.start.valid.val();
        self.tag_size.write_address.next = self.tags.write_address.val();
        self.tag_size.write_data.next = self.start.size.val();
        self.tag_signed.write_enable.next = self.start.valid.val();
        self.tag_signed.write_address.next = self.tags.write_address.val();
        self.tag_signed.write_data.next = self.start.signed.val();
        self.tag_rd.write_enable.next = self.start.valid.val();
        self.tag_rd.write_address.next = self.tags.write_address.val();
        self.tag_rd.write_data.next = self.start.rd.val();
        self.tag_address.write_enable.next = self.start.valid.val();
        self.tag_address.write_address.next = self.tags.write_address.val();
        self.tag_address.read_address.next = self.tags.read_address.val();
        for i in 0..LANES {
            self.tag_address.write_data[i].next = self.start.address[i].val();
            self.next_address.d[i].next = self.tag_address.read_data[i].val();
            self.held_address.d[i].next = self.next_address.q[i].val();
            self.place.address[i].next = self.held_address.q[i].val();
        }

        // A line is requested, and waits for its answer.
        self.read.valid.next = self.line_valid.val() && !self.waiting.full.val();
        self.read.line.next = self.offered.line.val();
        self.line_ready.next = self.read.ready.val() && !self.waiting.full.val();
        let take = self.line_valid.val() && self.read.ready.val() && !self.waiting.full.val();
        self.waiting.push.next = take;
        self.waiting_lanes.push.next = take;
        self.waiting_lanes.write_address.next = self.waiting.write_address.val();
        self.waiting_lanes.write_data.next = self.offered.lanes.val();
        self.waiting_lanes.read_address.next = self.waiting.read_address.val();
        self.waiting_line.push.next = take;
        self.waiting_line.write_address.next = self.waiting.write_address.val();
        self.waiting_line.write_data.next = (bit_cast::<27, 1>(self.offered.last.val().into()) << 26)
            | bit_cast::<27, 26>(self.offered.line.val());
        self.waiting_line.read_address.next = self.waiting.read_address.val();

        // The lanes that get their value now
        let mut served = bits::<LANES>(0);
        for g in 0..self._groups {
            self.leads[g].next = false;
            self.index[g].next = bits::<4>(0);
        }
        if self.held.q.val() {
            for g in 0..self._groups {
                for p in 0..self._share {
                    if self.held_lanes.q.val().get_bit(g + p * self._groups) && !self.leads[g].val() {
                        self.leads[g].next = true;
                        self.index[g].next = self.held_address.q[g + p * self._groups].val().get_bits::<4>(2);
                    }
                }
                for p in 0..self._share {
                    served = served.replace_bit(
                        g + p * self._groups,
                        self.held_lanes.q.val().get_bit(g + p * self._groups)
                            && (self.held_address.q[g + p * self._groups].val().get_bits::<4>(2)
                                == self.index[g].val()),
                    );
                }
            }
        }
        let rest = self.held_lanes.q.val() & !served;
        let finishes = !rest.any();

        // Answer: all that belongs to it is registered when it is announced, and moves on with the
        // line.
        self.tag_slot.read_address.next = self.tags.read_address.val();
        self.tag_size.read_address.next = self.tags.read_address.val();
        self.tag_signed.read_address.next = self.tags.read_address.val();
        self.tag_rd.read_address.next = self.tags.read_address.val();
        let moves = !self.held.q.val() || (self.result_ready.val() && self.held_apart.q.val());
        // An answer that no request waits for would be an error of the memory; it is ignored.
        let receive = self.answer.valid.val() && self.room.q.val() && !self.waiting.empty.val();
        self.answer.ready.next = self.room.q.val();
        self.waiting.pop.next = receive;
        self.waiting_lanes.pop.next = receive;
        self.waiting_line.pop.next = receive;
        self.tags.pop.next = receive && self.waiting_line.front.val().get_bit(26);
        let mut apart = true;
        for g in 0..self._groups {
            let mut group_taken = false;
            for p in 0..self._share {
                if self.next_lanes.q.val().get_bit(g + p * self._groups) {
                    if group_taken {
                        apart = false;
                    }
                    group_taken = true;
                }
            }
        }
        if self.result_ready.val() {
            self.held_lanes.d.next = rest;
            if finishes {
                self.held.d.next = false;
            }
        }
        self.next_address.write_enable.next = receive;
        if moves {
            self.next.d.next = false;
        }
        if receive {
            self.next.d.next = true;
            self.next_line.d.next = self.waiting_line.front.val().get_bits::<26>(0);
            self.next_slot.d.next = self.tag_slot.read_data.val();
            self.next_last.d.next = self.waiting_line.front.val().get_bit(26);
            self.next_lanes.d.next = self.waiting_lanes.front.val();
            self.next_size.d.next = self.tag_size.read_data.val();
            self.next_signed.d.next = self.tag_signed.read_data.val();
            self.next_rd.d.next = self.tag_rd.read_data.val();
        }
        self.held_address.write_enable.next = moves;
        if moves {
            self.held.d.next = self.next.q.val();
            self.held_data.d.next = self.answer.data.val();
            self.held_error.d.next = self.answer.error.val();
            self.held_apart.d.next = apart;
            self.held_line.d.next = self.next_line.q.val();
            self.held_slot.d.next = self.next_slot.q.val();
            self.held_last.d.next = self.next_last.q.val();
            self.held_lanes.d.next = self.next_lanes.q.val();
            self.held_size.d.next = self.next_size.q.val();
            self.held_signed.d.next = self.next_signed.q.val();
            self.held_rd.d.next = self.next_rd.q.val();
        }

        // Whether a line can come in the next cycle is known in this one, since the requester is
        // far away.
        let next_after = receive || (self.next.q.val() && !moves);
        let mut held_after = self.held.q.val() && !(self.result_ready.val() && finishes);
        let mut apart_after = self.held_apart.q.val();
        if moves {
            held_after = self.next.q.val();
            apart_after = apart;
        }
        self.room.d.next = !next_after || !held_after || (self.result_ready_next.val() && apart_after);

        self.result.valid.next = self.held.q.val();
        self.result.slot.next = self.held_slot.q.val();
        self.result.rd.next = self.held_rd.q.val();
        self.result.lanes.next = served;
        self.result.last.next = self.held_last.q.val() && finishes;
        self.result_error.valid.next = self.held_error.q.val();
        self.result_error.line.next = self.held_line.q.val();
        self.place.size.next = self.held_size.q.val();
        self.place.signed.next = self.held_signed.q.val();
        for g in 0..self._groups {
            self.select[g].enable.next = self.leads[g].val() && self.result_ready.val();
            self.select[g].line.next = self.held_data.q.val();
            self.select[g].index.next = self.index[g].val();
            self.result_word[g].next = self.select[g].word.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::line_to_bits;
    use crate::testing::{reset, settle, tick};

    /// Starts a load of the word at offset `4 * n` (modulo the line) by slot `n`.
    fn start(uut: &mut LoadPath<1>, n: u64) {
        uut.start.valid.next = true;
        uut.start.slot.next = bits(n);
        uut.start.size.next = bits(2);
        uut.start.rd.next = bits((n + 10) % 32);
        uut.start.address[0].next = bits(n * 4);
    }

    #[test]
    fn lines_wait_for_their_answer() {
        let mut uut = LoadPath::<1>::new(CoreOptions::default());
        reset!(uut);
        uut.line_valid.next = true;
        uut.offered.lanes.next = bits(1);
        let mut taken = 0;
        for cycle in 0..300 {
            // Every operation has ten lines and starts with the first of them; memory accepts
            // requests only from cycle 10 on.
            uut.read.ready.next = cycle >= 10;
            start(&mut uut, taken / 10);
            uut.offered.last.next = taken % 10 == 9;
            uut.offered.line.next = bits(100 + taken);
            settle(&mut uut);
            assert_eq!(uut.line_ready.val(), cycle >= 10 && taken < 256);
            assert_eq!(uut.read.valid.val(), taken < 256);
            assert_eq!(uut.read.line.val().to_u64(), 100 + taken);
            uut.start.valid.next = uut.line_ready.val() && taken % 10 == 0;
            if uut.line_ready.val() {
                taken += 1;
            }
            tick!(uut);
        }
        assert_eq!(taken, 256);
        uut.line_valid.next = false;
        uut.start.valid.next = false;

        // The answers come in order; each is announced one cycle before its line, which gives its
        // result in the cycle after that.
        uut.result_ready.next = true;
        uut.result_ready_next.next = true;
        for n in 0..258u32 {
            uut.answer.valid.next = n < 256;
            uut.answer.data.next = line_to_bits(&[n as u8; 64]);
            uut.answer.error.next = n == 6;
            settle(&mut uut);
            assert!(uut.answer.ready.val());
            assert_eq!(uut.result.valid.val(), n > 1);
            if n > 1 {
                let n = n - 1;
                let slot = (n - 1) / 10;
                assert_eq!(uut.result.slot.val().to_u32(), slot);
                assert_eq!(uut.result.rd.val().to_u32(), (slot + 10) % 32);
                assert_eq!(uut.result_word[0].val().to_u32(), (n & 255) * 0x0101_0101);
                assert_eq!(uut.place.address[0].val().to_u32(), slot * 4);
                assert_eq!(uut.result.last.val(), n % 10 == 0);
                assert_eq!(uut.result_error.valid.val(), n == 6);
                assert_eq!(uut.result_error.line.val().to_u32(), 99 + n);
            }
            tick!(uut);
        }
        settle(&mut uut);
        assert!(!uut.result.valid.val());
    }

    #[test]
    fn thirty_two_operations_have_a_tag() {
        let mut uut = LoadPath::<1>::new(CoreOptions::default());
        reset!(uut);
        uut.offered.lanes.next = bits(1);
        uut.offered.last.next = true;
        uut.read.ready.next = true;
        uut.line_valid.next = true;
        for n in 0..32 {
            start(&mut uut, n);
            settle(&mut uut);
            assert!(uut.start_ready.val());
            tick!(uut);
        }
        uut.start.valid.next = false;
        uut.line_valid.next = false;
        settle(&mut uut);
        assert!(!uut.start_ready.val());
        uut.answer.valid.next = true;
        tick!(uut);
        assert!(uut.start_ready.val());
    }

    /// Cycles from the first to the last of 20 results, of lines from which `lanes` read the same
    /// word.
    fn cycles_of_20_lines(lanes: u64) -> u32 {
        let mut uut = LoadPath::<8>::new(CoreOptions::default());
        reset!(uut);
        uut.read.ready.next = true;
        uut.line_valid.next = true;
        uut.offered.lanes.next = bits(lanes);
        for n in 0..20 {
            uut.start.valid.next = n == 0;
            uut.offered.last.next = n == 19;
            tick!(uut);
        }
        uut.start.valid.next = false;
        uut.line_valid.next = false;
        uut.answer.valid.next = true;
        uut.result_ready.next = true;
        uut.result_ready_next.next = true;
        let (mut cycles, mut results) = (0, 0);
        while results < 20 {
            settle(&mut uut);
            if uut.result.valid.val() {
                assert_eq!(uut.result.lanes.val().to_u64(), lanes);
                results += 1;
            }
            cycles += u32::from(results > 0);
            tick!(uut);
            assert!(cycles < 100);
        }
        cycles
    }

    #[test]
    fn a_line_a_cycle_unless_lanes_share_the_means() {
        assert_eq!(cycles_of_20_lines(0b0000_1111), 20);
        assert_eq!(cycles_of_20_lines(0b1000_0110), 20);
        assert_eq!(cycles_of_20_lines(0b0010_0010), 39);
    }

    #[test]
    fn an_answer_that_nobody_waits_for_is_dropped() {
        let mut uut = LoadPath::<1>::new(CoreOptions::default());
        reset!(uut);
        tick!(uut);
        uut.answer.valid.next = true;
        settle(&mut uut);
        assert!(uut.answer.ready.val());
        tick!(uut);
        uut.answer.valid.next = false;
        for _ in 0..3 {
            assert!(!uut.result.valid.val());
            tick!(uut);
        }
    }
}
