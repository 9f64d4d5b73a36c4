//! The scratchpad of a core.

use crate::ports::{LaneRequest, LateResult, RowClear, SlotEvent, ValuePlace};
use hermes_hdl::prelude::*;

/// Bytes of a scratchpad.
pub const SCRATCHPAD_BYTES: usize = 16 * 1024;

/// 16 KiB of memory that a core's threads share, in one bank of 32-bit words for each lane: word
/// `w` stands in bank `w mod LANES`.
///
/// 1. An operation is accepted at the edge at which `request.valid` and `request.ready` are high,
///    and makes its first pass over the banks in the next cycle. The mask is never empty and
///    addresses are multiples of the size.
/// 2. If every lane of the mask addresses its own bank (bank number = lane number), one pass serves
///    them all. Otherwise the lowest lane not yet served leads each pass: of a load, all lanes that
///    want its word go along; of a store, it alone, so that the highest of several lanes that write
///    a byte wins.
/// 3. The words of a load pass are on `result.valid` in the cycle after the pass and in no other:
///    the receiver must take them then, and is notified by `result_next` a cycle before. The value
///    is in the word at the lowest two bits of `place.address`, with `place.size` and
///    `place.signed`; see [`LoadValue`](super::LoadValue). `stored.valid` follows the last pass of
///    a store by one cycle.
/// 4. One pass a cycle is sustained, within an operation and from one of one pass to the next.
///    Behind an operation in which a lane is not in its own bank a cycle is lost: `request.ready`
///    must not wait for the comparison of addresses.
/// 5. Operations take effect and complete in the order of acceptance.
/// 6. With network functions `clear` makes a word of each bank zero, at the edge after the one at
///    which it is valid; no operation is here then.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(words: usize, clears: bool)]
pub struct Scratchpad<const LANES: usize> {
    /// From stage M: an operation. Of an address its place in the scratchpad counts.
    pub request: LaneRequest<LANES>,
    /// `request.ready` will be high in the next cycle.
    pub ready_next: Signal<Out, Bit>,

    // To register write-back
    /// Words of lanes are here in the next cycle; depends on registers only.
    pub result_next: Signal<Out, Bit>,
    /// To register write-back: values of lanes.
    pub result: LateResult<LANES>,
    /// Word of each lane of the mask, undefined for other lanes; 0 while `result.valid` is low.
    #[count(LANES)]
    pub result_word: Vec<Signal<Out, Bits<32>>>,
    /// To the extraction of the values.
    pub place: ValuePlace<LANES>,
    /// To the hazard check: a store operation is complete.
    pub stored: Flipped<SlotEvent>,

    /// From the owner of the cores (only with network functions).
    #[there(clears)]
    pub clear: Part<Flipped<RowClear>>,

    #[init((0..LANES).map(|_| RamBytes::new(words)).collect())]
    banks: Vec<RamBytes>,

    // The operation that makes passes
    busy: Register<Bit>,
    store: Register<Bit>,
    slot: Register<Bits<5>>,
    size: Register<Bits<2>>,
    signed: Register<Bit>,
    rd: Register<Bits<5>>,
    pending: Register<Bits<LANES>>,
    /// Every lane addresses its own bank.
    own: Register<Bit>,
    #[init(LaneRegisters::new(LANES))]
    address: LaneRegisters<32>,
    #[init(LaneRegisters::new(LANES))]
    data: LaneRegisters<32>,

    // The row that is cleared
    #[there(clears)]
    clearing: Part<Register<Bit>>,
    #[there(clears)]
    cleared_row: Part<Register<Bits<12>>>,

    // The load pass whose words the banks give
    held: Register<Bit>,
    held_slot: Register<Bits<5>>,
    held_size: Register<Bits<2>>,
    held_signed: Register<Bit>,
    held_rd: Register<Bits<5>>,
    held_mask: Register<Bits<LANES>>,
    held_last: Register<Bit>,
    held_own: Register<Bit>,
    held_bank: Register<Bits<LANES>>,
    #[init(LaneRegisters::new(LANES))]
    held_address: LaneRegisters<32>,
    done: Register<Bit>,
    done_slot: Register<Bits<5>>,

    #[count(LANES)]
    home: Vec<Signal<Local, Bits<LANES>>>,
    #[count(LANES)]
    at: Vec<Signal<Local, Bits<14>>>,
    #[count(LANES)]
    placed: Vec<Signal<Local, Bits<32>>>,
    #[init(LANES as u64 - 1)]
    _bank_mask: u64,
    #[init(LANES.ilog2().into())]
    _bank_bits: u64,
    #[init(words as u64 - 1)]
    _word_mask: u64,
    #[init(2 + u64::from(LANES.ilog2()))]
    _row_shift: u64,
}

impl<const LANES: usize> Default for Scratchpad<LANES> {
    /// A scratchpad that is never cleared.
    ///
    /// # Panics
    /// If the number of lanes is not a power of two up to 32.
    fn default() -> Self {
        Self::new(false)
    }
}

impl<const LANES: usize> Scratchpad<LANES> {
    /// The scratchpad of a core without or with network functions (`clears`).
    ///
    /// # Panics
    /// If the number of lanes is not a power of two up to 32.
    pub fn new(clears: bool) -> Self {
        assert!(LANES.is_power_of_two() && LANES <= 32, "Scratchpad: {LANES} lanes");
        let words = SCRATCHPAD_BYTES / 4 / LANES;
        Self::wired(words, clears)
    }
}

impl<const LANES: usize> Logic for Scratchpad<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        // The leader of a pass, unless every lane has its own bank, and the lanes that are served
        // with it
        let mut first = bits::<LANES>(0);
        let mut leader = bits::<14>(0);
        let mut leader_data = bits::<32>(0);
        let mut leader_bank = bits::<LANES>(0);
        let mut served = self.pending.q.val();
        let mut used = self.pending.q.val();
        if self.busy.q.val() & !self.own.q.val() {
            first = self.pending.q.val() & (!self.pending.q.val() + 1);
            for i in 0..LANES {
                if first.get_bit(i) {
                    leader = leader | self.address.q[i].val().get_bits::<14>(0);
                    leader_data = leader_data | self.data.q[i].val();
                }
            }
            leader_bank = bits::<LANES>(1) << (leader.get_bits::<12>(2) & self._bank_mask);
            used = leader_bank;
            served = first;
            if !self.store.q.val() {
                for i in 0..LANES {
                    served = served.replace_bit(
                        i,
                        self.pending.q.val().get_bit(i)
                            & (self.address.q[i].val().get_bits::<12>(2) == leader.get_bits::<12>(2)),
                    );
                }
            }
        }
        // A core that changes hands: a store of zero to all banks, which serves no lane
        if self.clear.is_there() {
            if self.clearing.q.val() {
                leader = bit_cast::<14, 12>(self.cleared_row.q.val() & self._word_mask) << self._row_shift;
                used = !bits::<LANES>(0);
            }
        }
        let rest = self.pending.q.val() & !served;
        let finishes = !rest.any();
        self.done.d.next = self.busy.q.val() & self.store.q.val() & finishes;
        self.done_slot.d.next = self.slot.q.val();
        if self.busy.q.val() {
            self.pending.d.next = rest;
            if finishes {
                self.busy.d.next = false;
            }
        }

        // The pass: each bank gets the address and data of its own lane or of the leader.
        for i in 0..LANES {
            self.at[i].next = bits::<14>(0);
            self.banks[i].enable.next = false;
            self.banks[i].write_strobe.next = bits::<4>(0);
            self.banks[i].address.next = bits::<12>(0);
            self.banks[i].write_data.next = bits::<32>(0);
        }
        if self.busy.q.val() {
            for i in 0..LANES {
                self.at[i].next = leader;
                self.banks[i].write_data.next = leader_data;
                if self.own.q.val() {
                    self.at[i].next = self.address.q[i].val().get_bits::<14>(0);
                    self.banks[i].write_data.next = self.data.q[i].val();
                }
                if self.store.q.val() {
                    if self.size.q.val().get_bit(1) {
                        self.banks[i].write_strobe.next = bits::<4>(15);
                    } else if self.size.q.val().get_bit(0) {
                        self.banks[i].write_strobe.next = bits::<4>(3) << self.at[i].val().get_bits::<2>(0);
                    } else {
                        self.banks[i].write_strobe.next = bits::<4>(1) << self.at[i].val().get_bits::<2>(0);
                    }
                }
                self.banks[i].enable.next = used.get_bit(i);
                self.banks[i].address.next = self.at[i].val().get_bits::<12>(2) >> self._bank_bits;
            }
        }

        // The result of a load pass
        self.result_next.next = self.busy.q.val() & !self.store.q.val();
        self.held.d.next = self.busy.q.val() & !self.store.q.val();
        if self.busy.q.val() & !self.store.q.val() {
            self.held_slot.d.next = self.slot.q.val();
            self.held_size.d.next = self.size.q.val();
            self.held_signed.d.next = self.signed.q.val();
            self.held_rd.d.next = self.rd.q.val();
            self.held_mask.d.next = served;
            self.held_last.d.next = finishes;
            self.held_own.d.next = self.own.q.val();
            self.held_bank.d.next = leader_bank;
        }
        self.held_address.write_enable.next = self.busy.q.val() & !self.store.q.val();
        let mut shared = bits::<32>(0);
        for i in 0..LANES {
            self.held_address.d[i].next = self.address.q[i].val();
            self.place.address[i].next = self.held_address.q[i].val();
            self.result_word[i].next = bits::<32>(0);
        }
        if self.held.q.val() {
            if !self.held_own.q.val() {
                for i in 0..LANES {
                    if self.held_bank.q.val().get_bit(i) {
                        shared = shared | self.banks[i].read_data.val();
                    }
                }
            }
            for i in 0..LANES {
                // Or-ed, as the shared word is 0 then: a multiplexer would cost another LUT a bit.
                self.result_word[i].next = shared;
                if self.held_own.q.val() {
                    self.result_word[i].next = shared | self.banks[i].read_data.val();
                }
            }
        }
        self.result.valid.next = self.held.q.val();
        self.result.slot.next = self.held_slot.q.val();
        self.result.rd.next = self.held_rd.q.val();
        self.result.lanes.next = self.held_mask.q.val();
        self.result.last.next = self.held_last.q.val();
        self.place.size.next = self.held_size.q.val();
        self.place.signed.next = self.held_signed.q.val();
        self.stored.valid.next = self.done.q.val();
        self.stored.slot.next = self.done_slot.q.val();

        // A new operation; store data is repeated in every place where the strobes may want it.
        let accepts = !self.busy.q.val() | self.own.q.val();
        self.request.ready.next = accepts;
        let mut request_own = true;
        for i in 0..LANES {
            self.home[i].next = bits::<LANES>(0);
            self.placed[i].next = self.request.data[i].val();
        }
        if self.request.valid.val() {
            for i in 0..LANES {
                self.home[i].next =
                    bits::<LANES>(1) << (self.request.address[i].val().get_bits::<12>(2) & self._bank_mask);
                if self.request.mask.val().get_bit(i) & !self.home[i].val().get_bit(i) {
                    request_own = false;
                }
                if !self.request.size.val().get_bit(1) {
                    self.placed[i].next =
                        (self.request.data[i].val() << 16) | (self.request.data[i].val() & 0xffff);
                    if !self.request.size.val().get_bit(0) {
                        self.placed[i].next = (self.request.data[i].val() << 24)
                            | ((self.request.data[i].val() & 0xff) << 16)
                            | ((self.request.data[i].val() & 0xff) << 8)
                            | (self.request.data[i].val() & 0xff);
                    }
                }
            }
        }
        self.ready_next.next = finishes;
        if accepts {
            self.ready_next.next = !self.request.valid.val() | request_own;
        }
        self.address.write_enable.next = accepts & self.request.valid.val();
        self.data.write_enable.next = accepts & self.request.valid.val();
        for i in 0..LANES {
            self.address.d[i].next = self.request.address[i].val();
            self.data.d[i].next = self.placed[i].val();
        }
        if accepts & self.request.valid.val() {
            self.busy.d.next = true;
            self.store.d.next = self.request.store.val();
            self.slot.d.next = self.request.slot.val();
            self.size.d.next = self.request.size.val();
            self.signed.d.next = self.request.signed.val();
            self.rd.d.next = self.request.rd.val();
            self.pending.d.next = self.request.mask.val();
            self.own.d.next = request_own;
        }
        if self.clear.is_there() {
            self.clearing.d.next = self.clear.valid.val();
            self.cleared_row.d.next = self.clear.row.val();
            if self.clear.valid.val() {
                self.busy.d.next = true;
                self.store.d.next = true;
                self.size.d.next = bits::<2>(2);
                self.pending.d.next = bits::<LANES>(0);
                self.own.d.next = false;
            }
            if self.clearing.q.val() {
                self.done.d.next = false;
            }
        }
    }
}
