//! The locked lines of a bank.

use super::NetworkSizes;
use crate::blocks::indices;
use crate::ports::{LockedRings, PlaceState};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Keeps a command from being evicted before it is fetched: one lock a set of a bank, and the
/// choice of the place that the set gives up (ComP-Net, section 4.2.3).
///
/// 1. A write of byte 1 of a line of a command ring by a core locks the line: its place is not
///    chosen as victim. If another line of the set is locked the write stays unlocked, and
///    `refused` is high in the next cycle. A further write to the locked line starts anew.
/// 2. The lock ends when the command processor or the network interface reads the line, when the
///    place loses it, and with the 63rd miss in the set, after which `expired` is high in the next
///    cycle. So no line is held for ever, whoever wrote it.
/// 3. Everything is about the place or the request that the bank looks at: the lock has one writer.
///    `victim`, `victim_changed` and `locked` answer the ports of the same cycle; what happens in a
///    cycle takes effect at its edge.
/// 4. The victim is chosen as in a bank without locks: an empty place, else the one that is next in
///    the round, else any that is neither being fetched nor waiting for a write-back. If the locked
///    line is the only candidate, there is no victim: the request waits until the fetch or the
///    write-back of another place of the set is complete.
#[clocked("the bank clears all sets afterwards")]
#[derive(Clone, LogicBlock)]
#[new(ways: usize, sets_log2: usize, sizes: NetworkSizes)]
pub struct L2Lock {
    /// From the registers.
    pub rings: LockedRings,

    /// The set that the bank looks at.
    pub set: Signal<In, Bits<16>>,
    /// Next way in the round of the set.
    pub turn: Signal<In, Bits<2>>,
    /// From the ways of the set.
    #[count(ways)]
    pub place: Vec<Flipped<PlaceState>>,
    /// Line address of the request.
    pub line: Signal<In, LineAddress>,
    /// Requester of the request.
    pub requester: Signal<In, Bits<5>>,
    /// The request writes byte 1 of the line, which holds the phase of a command.
    pub phase: Signal<In, Bit>,

    /// Way, one-hot, that the following happens to.
    pub way: Signal<In, Bits<4>>,
    /// The request writes the line.
    pub written: Signal<In, Bit>,
    /// The request reads the line.
    pub read: Signal<In, Bit>,
    /// The line of the request takes the way.
    pub missed: Signal<In, Bit>,
    /// The way becomes empty.
    pub drop: Signal<In, Bit>,
    /// All ways of the set become empty.
    pub clear: Signal<In, Bit>,

    /// Way, one-hot, for a line that is not here; none: all are locked, being fetched or written
    /// back.
    pub victim: Signal<Out, Bits<4>>,
    /// The line there must be written back.
    pub victim_changed: Signal<Out, Bit>,
    /// Way, one-hot, of the locked line.
    pub locked: Signal<Out, Bits<4>>,
    /// In the cycle before, a write was refused the lock.
    pub refused: Signal<Out, Bit>,
    /// In the cycle before, a lock ended by the 63rd miss.
    pub expired: Signal<Out, Bit>,

    #[init(RamSizedAsync::new(sets_log2))]
    locks: RamSizedAsync<9>,
    refused_q: Register<Bit>,
    expired_q: Register<Bit>,
    #[init((0..ways).map(|way| Constant::new((1u64 << way).into())).collect())]
    one_hot: Vec<Constant<Bits<4>>>,
    #[init(indices(ways))]
    index: Vec<Constant<Bits<5>>>,
    #[init(Constant::new((sizes.cores as u64).into()))]
    cores: Constant<Bits<6>>,
    #[init(Constant::new((sizes.requester as u64).into()))]
    network: Constant<Bits<5>>,
    #[init(ways)]
    _ways: usize,
}

/// Bit of a set's lock that says that it holds a line; the way is in bits 2:1, the misses so far in
/// bits 8:3.
const VALID: usize = 0;

/// Misses of a set that a lock outlives; the next one ends it.
const LAST_MISS: u64 = 62;

impl L2Lock {
    /// The locks of `2^sets_log2` sets of `ways` ways.
    ///
    /// # Panics
    /// If there are not 2 or 4 ways: with one way a lock would hold requests up.
    pub fn new(ways: usize, sets_log2: usize, sizes: NetworkSizes) -> Self {
        assert!(matches!(ways, 2 | 4), "L2Lock: {ways} ways, expected 2 or 4");
        Self::wired(ways, sets_log2, sizes)
    }
}

impl Logic for L2Lock {
    #[hdl_gen]
    fn update(&mut self) {
        self.locks.read_address.next = self.set.val();
        let valid = self.locks.read_data.val().get_bit(VALID);
        let locked_way = self.locks.read_data.val().get_bits::<2>(1);
        let misses = self.locks.read_data.val().get_bits::<6>(3);
        let mut locked_set = bits::<4>(0);
        for i in 0..self._ways {
            if valid && (bit_cast::<5, 2>(locked_way) == self.index[i].val()) {
                locked_set = self.one_hot[i].val();
            }
        }
        self.locked.next = locked_set;

        // The place that is given up.
        let mut candidates = bits::<4>(0);
        let mut empty = bits::<4>(0);
        for i in 0..self._ways {
            if !(self.place[i].fetching.val() || (self.place[i].changed.val() && self.place[i].leaving.val()))
            {
                candidates = candidates | self.one_hot[i].val();
            }
            if !self.place[i].present.val() {
                empty = empty | self.one_hot[i].val();
            }
        }
        self.victim.next = bits::<4>(0);
        self.victim_changed.next = false;
        for i in 0..self._ways {
            if candidates.get_bit(i) && !locked_set.get_bit(i) {
                self.victim.next = self.one_hot[i].val();
                self.victim_changed.next = self.place[i].changed.val();
            }
        }
        for i in 0..self._ways {
            if candidates.get_bit(i)
                && !locked_set.get_bit(i)
                && (bit_cast::<5, 2>(self.turn.val()) == self.index[i].val())
            {
                self.victim.next = self.one_hot[i].val();
                self.victim_changed.next = self.place[i].changed.val();
            }
        }
        for i in 0..self._ways {
            if empty.get_bit(i) && !locked_set.get_bit(i) {
                self.victim.next = self.one_hot[i].val();
                self.victim_changed.next = false;
            }
        }

        // What becomes of the lock.
        let by_core = bit_cast::<6, 5>(self.requester.val()) < self.cores.val();
        let by_reader = !by_core && (self.requester.val() <= self.network.val());
        let own = (self.way.val() & locked_set).any();
        let in_rings = !((self.line.val() ^ self.rings.base.val()) & self.rings.mask.val()).any();
        let wants = self.rings.enable.val() && self.written.val() && by_core && self.phase.val() && in_rings;
        let locks_line = wants && (!valid || own);
        let unlocks = own && (self.drop.val() || (self.read.val() && by_reader));
        let expires = valid && self.missed.val() && (misses == bits::<6>(LAST_MISS));
        self.refused_q.d.next = wants && valid && !own;
        self.expired_q.d.next = expires;
        self.refused.next = self.refused_q.q.val();
        self.expired.next = self.expired_q.q.val();

        self.locks.write_address.next = self.set.val();
        self.locks.write_enable.next =
            self.clear.val() || locks_line || unlocks || (valid && self.missed.val());
        self.locks.write_data.next = bits::<9>(0);
        if locks_line {
            self.locks.write_data.next = bits::<9>(1);
            for i in 0..self._ways {
                if self.way.val().get_bit(i) {
                    self.locks.write_data.next =
                        bits::<9>(1) | (bit_cast::<9, 5>(self.index[i].val()) << bits::<4>(1));
                }
            }
        } else if !unlocks && !expires {
            self.locks.write_data.next = self.locks.read_data.val() + bits::<9>(8);
        }
        if self.clear.val() {
            self.locks.write_data.next = bits::<9>(0);
        }
    }
}
