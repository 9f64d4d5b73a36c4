//! One reservation of `lr.w` in a bank.

use crate::ports::{HeldOperation, ReservationEnd, ReservationEvent};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Keeps a line reserved for a thread (requester, warp slot, lane), from its `lr.w` on.
///
/// 1. `take` reserves the line of the operation for its thread, from the next cycle on. It must
///    come only if the reservation is free or the thread's own.
/// 2. The reservation ends when its thread executes `sc.w`, or `lr.w` that takes none (`leaves`),
///    or one of these at another bank (`events`); when its line is written, by the operation
///    (`writes`) or by another request (`passing`); when its requester ends those of its slot
///    (`ends`); and when the bank has performed `patience` operations since (`performed`). An end
///    goes before a `take` of the same edge.
/// 3. `owner`, `here` and `free` are combinational from the operation and registers; `lapses` is
///    high in the cycle of an end without a write of the line and without `sc.w`.
#[clocked("it is free")]
#[derive(Clone, LogicBlock)]
#[new(reserving: usize, number: usize, banks: usize, patience: usize)]
pub struct Reservation {
    /// The operation that the bank performs.
    pub operation: HeldOperation,
    /// The operation is `sc.w`, or `lr.w` that takes no reservation, and is performed at this edge.
    pub leaves: Signal<In, Bit>,
    /// The operation writes its line at this edge.
    pub writes: Signal<In, Bit>,
    /// Another request writes a line at this edge.
    pub passing: Signal<In, Bit>,
    /// Line that the other request writes.
    pub passing_line: Signal<In, LineAddress>,
    /// From every bank: a thread executed `lr.w` or `sc.w` there; that of this bank is ignored.
    #[count(banks)]
    pub events: Vec<Flipped<ReservationEvent>>,
    /// From each requester of threads: reservations of a slot end at this edge.
    #[count(reserving)]
    pub ends: Vec<Flipped<ReservationEnd>>,
    /// The bank performs an operation at this edge.
    pub performed: Signal<In, Bit>,
    /// The reservation is taken for the operation at this edge.
    pub take: Signal<In, Bit>,
    /// The reservation belongs to the thread of the operation.
    pub owner: Signal<Out, Bit>,
    /// The reservation is of the line of the operation.
    pub here: Signal<Out, Bit>,
    /// Nobody has it.
    pub free: Signal<Out, Bit>,
    /// The thread of the reservation gives it up at this edge, and nobody wrote the line.
    pub lapses: Signal<Out, Bit>,
    reserved: Register<Bit>,
    line: Register<LineAddress>,
    requester: Register<Bits<5>>,
    thread: Register<Bits<10>>,
    /// Operations that the bank performed since.
    age: Register<Bits<18>>,
    #[init(Constant::new((patience as u64).into()))]
    patience: Constant<Bits<18>>,
    /// Banks of the array other than this one, a bit each: a bank ignores its own events.
    #[init((0..banks).map(|bank| Constant::new(bank != number)).collect())]
    other: Vec<Constant<Bit>>,
    #[init((0..reserving as u64).map(|index| Constant::new(index.into())).collect())]
    index: Vec<Constant<Bits<5>>>,
    #[init(banks)]
    _banks: usize,
    #[init(reserving)]
    _reserving: usize,
}

impl Reservation {
    /// A reservation of bank `number` of `banks`, for the threads of the first `reserving`
    /// requesters, that lasts for `patience` operations.
    ///
    /// # Panics
    /// If `patience` needs more than 18 bits.
    pub fn new(reserving: usize, number: usize, banks: usize, patience: usize) -> Self {
        assert!(patience < 1 << 18, "Reservation: patience of {patience}, expected less than 262144");
        Self::wired(reserving, number, banks, patience)
    }
}

impl Logic for Reservation {
    #[hdl_gen]
    fn update(&mut self) {
        let owned = self.reserved.q.val()
            && (self.requester.q.val() == self.operation.requester.val())
            && (self.thread.q.val() == self.operation.thread.val());
        let same_line = self.line.q.val() == self.operation.line.val();
        self.owner.next = owned;
        self.here.next = self.reserved.q.val() && same_line;
        self.free.next = !self.reserved.q.val();

        let mut gives_up = (self.leaves.val() && owned) || (self.age.q.val() == self.patience.val());
        for i in 0..self._banks {
            if self.events[i].valid.val()
                && self.other[i].val()
                && (self.events[i].requester.val() == self.requester.q.val())
                && (self.events[i].thread.val() == self.thread.q.val())
            {
                gives_up = true;
            }
        }
        for i in 0..self._reserving {
            if self.ends[i].valid.val()
                && (self.requester.q.val() == self.index[i].val())
                && (self.thread.q.val().get_bits::<5>(5) == self.ends[i].slot.val())
            {
                gives_up = true;
            }
        }
        let written = (self.writes.val() && same_line)
            || (self.passing.val() && (self.passing_line.val() == self.line.q.val()));
        self.lapses.next = self.reserved.q.val() && gives_up && !written;
        if gives_up || written {
            self.reserved.d.next = false;
        }
        if self.performed.val() && (self.age.q.val() != self.patience.val()) {
            self.age.d.next = self.age.q.val() + bits::<18>(1);
        }
        if self.take.val() {
            self.reserved.d.next = true;
            self.line.d.next = self.operation.line.val();
            self.requester.d.next = self.operation.requester.val();
            self.thread.d.next = self.operation.thread.val();
            self.age.d.next = bits::<18>(0);
        }
    }
}
