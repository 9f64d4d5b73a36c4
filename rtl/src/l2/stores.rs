//! The outstanding write-backs of a bank.

use super::NumberPool;
use crate::blocks::QueuePointers;
use crate::ports::{BankStore, BankStored};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Numbers the write-backs of a bank, keeps for each the place that its line came from, and queues
/// it with its data.
///
/// 1. `begin` starts a write-back; it may be high only if `free` is. Its data comes with `push` in
///    a later cycle, before the next `begin` or together with it; `push` may be high only if `full`
///    is not.
/// 2. From the cycle after `push` on, the write-back is in a queue of eight that ends in the
///    `store` ports.
/// 3. `done.valid` ends the write-back `done.number`; `acknowledged` says, in the same cycle, that
///    it was outstanding, and the `done_` outputs describe it.
#[clocked("no write-back is outstanding")]
#[derive(Clone, LogicBlock)]
#[new(numbers: usize)]
pub struct L2Stores {
    /// A write-back can begin.
    pub free: Signal<Out, Bit>,
    /// A write-back begins.
    pub begin: Signal<In, Bit>,
    /// Line address.
    pub line: Signal<In, LineAddress>,
    /// Bytes to write.
    pub strobe: Signal<In, Bits<64>>,
    /// Place that the line comes from.
    pub place: Signal<In, Bits<16>>,
    /// The way of this place, one-hot.
    pub way: Signal<In, Bits<4>>,
    /// Toggle of the place.
    pub toggle: Signal<In, Bit>,
    /// The data of the write-back that began last is here.
    pub push: Signal<In, Bit>,
    /// The line.
    pub data: Signal<In, Bits<512>>,
    /// There is no room for data.
    pub full: Signal<Out, Bit>,
    /// The numbers of the outstanding write-backs.
    pub out: Signal<Out, Bits<64>>,

    /// To the channel: lines to write.
    pub store: BankStore,

    /// From the channel: write-backs that end.
    pub done: BankStored,
    /// The write-back was outstanding.
    pub acknowledged: Signal<Out, Bit>,
    /// Place that the line came from.
    pub done_place: Signal<Out, Bits<16>>,
    /// The way of this place, one-hot.
    pub done_way: Signal<Out, Bits<4>>,
    /// Toggle of the place.
    pub done_toggle: Signal<Out, Bit>,

    #[init(NumberPool::new(numbers))]
    numbers: NumberPool,
    places: RamAsync<Bits<16>, 6>,
    ways: RamAsync<Bits<4>, 6>,
    toggles: RamAsync<Bit, 6>,
    begun_line: Register<LineAddress>,
    begun_strobe: Register<Bits<64>>,
    begun_number: Register<Bits<6>>,
    queue: QueuePointers<3>,
    queue_line: RamAsync<LineAddress, 3>,
    queue_strobe: RamAsync<Bits<64>, 3>,
    queue_number: RamAsync<Bits<6>, 3>,
    queue_data: RamAsync<Bits<512>, 3>,
}

impl L2Stores {
    /// Up to `2^numbers` write-backs.
    ///
    /// # Panics
    /// If `numbers` is above 6.
    pub fn new(numbers: usize) -> Self {
        Self::wired(numbers)
    }
}

impl Logic for L2Stores {
    #[hdl_gen]
    fn update(&mut self) {
        self.free.next = self.numbers.free.val();
        self.out.next = self.numbers.out.val();
        self.numbers.take.next = self.begin.val();
        self.numbers.release.next = self.done.valid.val();
        self.numbers.released.next = self.done.number.val();
        self.acknowledged.next = self.done.valid.val() && self.numbers.known.val();
        if self.begin.val() {
            self.begun_line.d.next = self.line.val();
            self.begun_strobe.d.next = self.strobe.val();
            self.begun_number.d.next = self.numbers.number.val();
        }

        self.places.write_enable.next = self.begin.val();
        self.places.write_address.next = self.numbers.number.val();
        self.places.write_data.next = self.place.val();
        self.places.read_address.next = self.done.number.val();
        self.done_place.next = self.places.read_data.val();
        self.ways.write_enable.next = self.begin.val();
        self.ways.write_address.next = self.numbers.number.val();
        self.ways.write_data.next = self.way.val();
        self.ways.read_address.next = self.done.number.val();
        self.done_way.next = self.ways.read_data.val();
        self.toggles.write_enable.next = self.begin.val();
        self.toggles.write_address.next = self.numbers.number.val();
        self.toggles.write_data.next = self.toggle.val();
        self.toggles.read_address.next = self.done.number.val();
        self.done_toggle.next = self.toggles.read_data.val();

        self.full.next = self.queue.full.val();
        self.queue.push.next = self.push.val();
        self.queue.pop.next = !self.queue.empty.val() && self.store.ready.val();
        self.queue_line.write_enable.next = self.push.val();
        self.queue_line.write_address.next = self.queue.write_address.val();
        self.queue_line.write_data.next = self.begun_line.q.val();
        self.queue_line.read_address.next = self.queue.read_address.val();
        self.queue_strobe.write_enable.next = self.push.val();
        self.queue_strobe.write_address.next = self.queue.write_address.val();
        self.queue_strobe.write_data.next = self.begun_strobe.q.val();
        self.queue_strobe.read_address.next = self.queue.read_address.val();
        self.queue_number.write_enable.next = self.push.val();
        self.queue_number.write_address.next = self.queue.write_address.val();
        self.queue_number.write_data.next = self.begun_number.q.val();
        self.queue_number.read_address.next = self.queue.read_address.val();
        self.queue_data.write_enable.next = self.push.val();
        self.queue_data.write_address.next = self.queue.write_address.val();
        self.queue_data.write_data.next = self.data.val();
        self.queue_data.read_address.next = self.queue.read_address.val();
        self.store.valid.next = !self.queue.empty.val();
        self.store.line.next = self.queue_line.read_data.val();
        self.store.strobe.next = self.queue_strobe.read_data.val();
        self.store.number.next = self.queue_number.read_data.val();
        self.store.data.next = self.queue_data.read_data.val();
    }
}
