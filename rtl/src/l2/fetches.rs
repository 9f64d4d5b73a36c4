//! The outstanding fetches of a bank.

use super::NumberPool;
use crate::blocks::QueuePointers;
use crate::ports::{BankFetch, MissedRead};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Numbers the fetches of a bank, keeps for each who waits for its line and where the line goes,
/// and queues its request.
///
/// 1. `begin` starts a fetch; it may be high only if `free` is. From the next cycle on the request
///    is in a queue of four that ends in `fetch`.
/// 2. The `fill_` outputs describe the fetch `fill_number`, in the same cycle, if it is `known`;
///    `end` ends it.
#[clocked("no fetch is outstanding")]
#[derive(Clone, LogicBlock)]
#[new(numbers: usize)]
pub struct L2Fetches {
    /// A fetch can begin.
    pub free: Signal<Out, Bit>,
    /// A fetch begins.
    pub begin: Signal<In, Bit>,
    /// The read that it is for.
    pub missed: Flipped<MissedRead>,
    /// Place that the line goes to.
    pub place: Signal<In, Bits<16>>,
    /// The way of this place, one-hot.
    pub way: Signal<In, Bits<4>>,
    /// Toggle of the place.
    pub toggle: Signal<In, Bit>,

    /// To the channel: requests.
    pub fetch: BankFetch,

    /// Number of a fetch to look up.
    pub fill_number: Signal<In, Bits<6>>,
    /// The fetch is outstanding.
    pub known: Signal<Out, Bit>,
    /// The fetch ends.
    pub end: Signal<In, Bit>,
    /// Requester that waits for the line.
    pub fill_requester: Signal<Out, Bits<5>>,
    /// Tag of the read.
    pub fill_tag: Signal<Out, Bits<7>>,
    /// Place that the line goes to.
    pub fill_place: Signal<Out, Bits<16>>,
    /// The way of this place, one-hot.
    pub fill_way: Signal<Out, Bits<4>>,
    /// Toggle of the place.
    pub fill_toggle: Signal<Out, Bit>,

    #[init(NumberPool::new(numbers))]
    numbers: NumberPool,
    requesters: RamAsync<Bits<5>, 6>,
    tags: RamAsync<Bits<7>, 6>,
    places: RamAsync<Bits<16>, 6>,
    ways: RamAsync<Bits<4>, 6>,
    toggles: RamAsync<Bit, 6>,
    queue: QueuePointers<2>,
    queue_line: RamAsync<LineAddress, 2>,
    queue_number: RamAsync<Bits<6>, 2>,
    queue_code: RamAsync<Bit, 2>,
}

impl L2Fetches {
    /// Up to `2^numbers` fetches.
    ///
    /// # Panics
    /// If `numbers` is above 6.
    pub fn new(numbers: usize) -> Self {
        Self::wired(numbers)
    }
}

impl Logic for L2Fetches {
    #[hdl_gen]
    fn update(&mut self) {
        self.free.next = self.numbers.free.val() && !self.queue.full.val();
        self.numbers.take.next = self.begin.val();
        self.numbers.release.next = self.end.val();
        self.numbers.released.next = self.fill_number.val();
        self.known.next = self.numbers.known.val();

        self.requesters.write_enable.next = self.begin.val();
        self.requesters.write_address.next = self.numbers.number.val();
        self.requesters.write_data.next = self.missed.requester.val();
        self.requesters.read_address.next = self.fill_number.val();
        self.fill_requester.next = self.requesters.read_data.val();
        self.tags.write_enable.next = self.begin.val();
        self.tags.write_address.next = self.numbers.number.val();
        self.tags.write_data.next = self.missed.tag.val();
        self.tags.read_address.next = self.fill_number.val();
        self.fill_tag.next = self.tags.read_data.val();
        self.places.write_enable.next = self.begin.val();
        self.places.write_address.next = self.numbers.number.val();
        self.places.write_data.next = self.place.val();
        self.places.read_address.next = self.fill_number.val();
        self.fill_place.next = self.places.read_data.val();
        self.ways.write_enable.next = self.begin.val();
        self.ways.write_address.next = self.numbers.number.val();
        self.ways.write_data.next = self.way.val();
        self.ways.read_address.next = self.fill_number.val();
        self.fill_way.next = self.ways.read_data.val();
        self.toggles.write_enable.next = self.begin.val();
        self.toggles.write_address.next = self.numbers.number.val();
        self.toggles.write_data.next = self.toggle.val();
        self.toggles.read_address.next = self.fill_number.val();
        self.fill_toggle.next = self.toggles.read_data.val();

        self.queue.push.next = self.begin.val();
        self.queue.pop.next = !self.queue.empty.val() && self.fetch.ready.val();
        self.queue_line.write_enable.next = self.begin.val();
        self.queue_line.write_address.next = self.queue.write_address.val();
        self.queue_line.write_data.next = self.missed.line.val();
        self.queue_line.read_address.next = self.queue.read_address.val();
        self.queue_number.write_enable.next = self.begin.val();
        self.queue_number.write_address.next = self.queue.write_address.val();
        self.queue_number.write_data.next = self.numbers.number.val();
        self.queue_number.read_address.next = self.queue.read_address.val();
        self.queue_code.write_enable.next = self.begin.val();
        self.queue_code.write_address.next = self.queue.write_address.val();
        self.queue_code.write_data.next =
            self.missed.tag.val().get_bit(6) && !self.missed.tag.val().get_bit(5);
        self.queue_code.read_address.next = self.queue.read_address.val();
        self.fetch.valid.next = !self.queue.empty.val();
        self.fetch.line.next = self.queue_line.read_data.val();
        self.fetch.number.next = self.queue_number.read_data.val();
        self.fetch.code.next = self.queue_code.read_data.val();
    }
}
