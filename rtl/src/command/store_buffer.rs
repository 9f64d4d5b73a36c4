//! The stores of the command processor on their way to the L2.

use crate::blocks::PriorityEncoder;
use crate::blocks::QueuePointers;
use crate::ports::LineWrite;
use hermes_hdl::prelude::*;

/// Stores that a hart may have outstanding, if there are at most four harts; of eight harts each
/// may have four.
pub const STORES: usize = 8;

/// One queue of the stores of all harts, in the order in which they retire, and what each hart has
/// outstanding.
///
/// 1. `push_valid` in stage W appends a store; it is on offer from the next cycle on, if nothing is
///    in front of it, and stays until it is accepted. It must not come while `full` of its hart is
///    high.
/// 2. A store is outstanding from the edge of its `push_valid` to that of its acknowledgement
///    (`write.written.valid`); these come in any order. `none` and `full` are registers' values.
/// 3. There is a place for each store that may be outstanding: the queue is never full, and waits
///    for nothing.
/// 4. A store is one word with four strobes; the line repeats the word 16 times.
/// 5. Tags: bit 5 low, hart in bits 4:3, in bits 2:0 a number that no other outstanding store of
///    the hart has; with eight harts the hart in bits 4:2, the number in bits 1:0. Tag 31 is that
///    of the completion words of the thread spawner: hart 3 of four, and 7 of eight, has one number
///    fewer.
#[clocked("the buffer is empty")]
#[derive(LogicBlock)]
#[new(harts: usize, places_log2: usize)]
pub struct StoreBuffer {
    /// Stage W: a store retires.
    pub push_valid: Signal<In, Bit>,
    /// Stage W: hart of the store.
    pub push_hart: Signal<In, Bits<3>>,
    /// Stage W: address of the store, bits 31:2.
    pub push_place: Signal<In, Bits<30>>,
    /// The word.
    pub push_data: Signal<In, Bits<32>>,
    /// Bytes of the word to write.
    pub push_strobe: Signal<In, Bits<4>>,
    /// Harts that have no store outstanding.
    pub none: Signal<Out, Bits<8>>,
    /// Harts that have as many stores outstanding as they may.
    pub full: Signal<Out, Bits<8>>,
    /// To memory: stores, with bit 5 of the tag low. Answers with bit 5 high are not theirs.
    pub write: LineWrite,
    /// Tag (70:66), strobes (65:62), address (61:32), word (31:0).
    #[init(RamSizedAsync::new(places_log2))]
    entries: RamSizedAsync<71>,
    queue: QueuePointers<5>,
    free: PriorityEncoder,
    /// Numbers of the outstanding stores of each hart.
    #[count(harts)]
    numbers: Vec<Register<Bits<8>>>,
    #[init((0..harts as u64).map(|hart| Constant::new(hart.into())).collect())]
    hart: Vec<Constant<Bits<3>>>,
    /// Numbers that a hart has not.
    #[init((0..harts).map(|hart| Constant::new(missing(harts, hart).into())).collect())]
    missing: Vec<Constant<Bits<8>>>,
    #[init(Constant::new(harts > 4))]
    eight_harts: Constant<Bit>,
    #[init(harts)]
    _harts: usize,
}

/// Of the numbers 0 to 7 those that no store of `hart` has.
fn missing(harts: usize, hart: usize) -> u64 {
    match (harts, hart) {
        (8, 7) => 0xf8,
        (8, _) => 0xf0,
        (4, 3) => 0x80,
        _ => 0,
    }
}

impl StoreBuffer {
    /// A store buffer for `harts` harts.
    ///
    /// # Panics
    /// If `harts` is not 1, 2, 4 or 8.
    pub fn new(harts: usize) -> Self {
        assert!(matches!(harts, 1 | 2 | 4 | 8), "StoreBuffer: {harts} harts, expected 1, 2, 4 or 8");
        let places_log2 = (harts * STORES).min(32).ilog2() as usize;
        Self::wired(harts, places_log2)
    }
}

impl Logic for StoreBuffer {
    #[hdl_gen]
    fn update(&mut self) {
        // The lowest number that is free
        let mut taken = bits::<8>(0);
        let mut empty_harts = bits::<8>(0);
        let mut full_harts = bits::<8>(0);
        for h in 0..self._harts {
            if self.push_hart.val() == self.hart[h].val() {
                taken = self.numbers[h].q.val() | self.missing[h].val();
            }
            empty_harts = empty_harts.replace_bit(h, !self.numbers[h].q.val().any());
            full_harts = full_harts.replace_bit(h, (self.numbers[h].q.val() | self.missing[h].val()).all());
        }
        self.none.next = empty_harts;
        self.full.next = full_harts;
        self.free.request.next = bit_cast::<32, 8>(!taken);
        let number = self.free.index.val().get_bits::<3>(0);
        always!(a_store_has_a_number, !self.push_valid.val() | !taken.all());

        let mut tag = (bit_cast::<5, 3>(self.push_hart.val()) << bits::<5>(3)) | bit_cast::<5, 3>(number);
        let mut ended_hart = bit_cast::<3, 2>(self.write.written.tag.val().get_bits::<2>(3));
        let mut ended_number = self.write.written.tag.val().get_bits::<3>(0);
        if self.eight_harts.val() {
            tag = (bit_cast::<5, 3>(self.push_hart.val()) << bits::<5>(2)) | bit_cast::<5, 3>(number);
            ended_hart = self.write.written.tag.val().get_bits::<3>(2);
            ended_number = bit_cast::<3, 2>(self.write.written.tag.val().get_bits::<2>(0));
        }

        // What is outstanding
        for h in 0..self._harts {
            let mut starts = bits::<8>(0);
            if self.push_valid.val() & (self.push_hart.val() == self.hart[h].val()) {
                starts = self.free.one_hot.val().get_bits::<8>(0);
            }
            let mut ends = bits::<8>(0);
            if self.write.written.valid.val()
                & !self.write.written.tag.val().get_bit(5)
                & (ended_hart == self.hart[h].val())
            {
                ends = bits::<8>(1) << ended_number;
            }
            always!(
                a_store_that_ends_was_outstanding,
                !(ends & !(self.numbers[h].q.val() | self.missing[h].val())).any()
            );
            self.numbers[h].d.next = (self.numbers[h].q.val() & !ends) | starts;
        }

        // The queue
        self.queue.push.next = self.push_valid.val();
        self.queue.pop.next = !self.queue.empty.val() & self.write.ready.val();
        self.entries.write_enable.next = self.push_valid.val();
        self.entries.write_address.next = bit_cast::<16, 5>(self.queue.write_address.val());
        self.entries.write_data.next = (bit_cast::<71, 5>(tag) << bits::<7>(66))
            | (bit_cast::<71, 4>(self.push_strobe.val()) << bits::<7>(62))
            | (bit_cast::<71, 30>(self.push_place.val()) << bits::<7>(32))
            | bit_cast::<71, 32>(self.push_data.val());
        self.entries.read_address.next = bit_cast::<16, 5>(self.queue.read_address.val());
        let entry = self.entries.read_data.val();

        // The oldest store
        self.write.valid.next = !self.queue.empty.val();
        self.write.tag.next = bit_cast::<6, 5>(entry.get_bits::<5>(66));
        self.write.line.next = entry.get_bits::<26>(36);
        let pair = bit_cast::<64, 32>(entry.get_bits::<32>(0))
            | (bit_cast::<64, 32>(entry.get_bits::<32>(0)) << bits::<6>(32));
        let four = bit_cast::<128, 64>(pair) | (bit_cast::<128, 64>(pair) << bits::<7>(64));
        let eight = bit_cast::<256, 128>(four) | (bit_cast::<256, 128>(four) << bits::<8>(128));
        self.write.data.next = bit_cast::<512, 256>(eight) | (bit_cast::<512, 256>(eight) << bits::<9>(256));
        let first_byte = bit_cast::<6, 4>(entry.get_bits::<4>(32)) << bits::<2>(2);
        self.write.strobe.next = bit_cast::<64, 4>(entry.get_bits::<4>(62)) << first_byte;
    }
}
