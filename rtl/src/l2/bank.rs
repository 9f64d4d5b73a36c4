//! One bank of the L2.

use super::{L2Answers, L2Fetches, L2Lock, L2Stores, L2Way, NetworkSizes};
use crate::blocks::indices;
use crate::blocks::IndexHash;
use crate::ports::{
    BankFetch, BankFill, BankRequest, BankResponse, BankStore, BankStored, BankWritten, LockedRings,
};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// A part of a write-back cache of 64-byte lines. Misses do not block it: their fetches and
/// write-backs are outstanding while later requests are processed.
///
/// 1. One request is processed a cycle, in the order of acceptance (rule 8: in two cycles). A read
///    that hits, a write, and a read that misses take one cycle each; later requests go on while
///    lines are fetched. A line that all lanes of a warp wait for costs one fetch.
/// 2. A write never fetches: it puts its bytes into the line, or into a place that becomes that of
///    its line. A read of a line of which only written bytes are here writes these back first and
///    then fetches the line.
/// 3. The request at the head waits, and with it all behind it, while its line is being fetched or
///    written back, while every place of its set is, or while a queue or pool is full.
/// 4. `written` of a write comes when every later request sees it. Responses come in any order.
/// 5. An error of a fetch is answered with `response.error`, and the line is not kept.
/// 6. `clean` writes back every line that was written, `invalidate` also invalidates all lines, one
///    set at a time and before any request; `busy` is high until the last write-back is
///    acknowledged. After reset the bank takes a cycle for each set.
/// 7. With a network interface and more than one way, lines of command rings can be locked
///    ([`L2Lock`]): that changes which line a set gives up, and no answer.
/// 8. With a cycle for the look-up a request, and a set of a walk, takes
///    two cycles: one to look its set up, one to decide; so does each further look at a request
///    that waits. Between the two only transfers end, and one that seems to be outstanding still
///    is waited for. A request that is another one than the one looked up is looked up again. A
///    fetched line is chosen in one cycle and taken in the next, one in two cycles at most. It is
///    for a high clock: each part is shorter than both in one cycle.
#[clocked("every line is invalidated")]
#[derive(Clone, LogicBlock)]
#[new(lines: usize, ways: usize, numbers: usize, skip: usize, sets: usize, sets_log2: usize, network: Option<NetworkSizes>, locks: bool, look_up_cycle: bool)]
pub struct L2Bank {
    /// From the request crossbar, or the atomic unit.
    pub request: Flipped<BankRequest>,

    /// To the response crossbar, or the atomic unit: answers of reads.
    pub response: BankResponse,
    /// To the response crossbar, or the atomic unit: answers of writes.
    pub written: BankWritten,

    /// To the channel: lines to fetch.
    pub fetch: BankFetch,
    /// From the channel: fetched lines.
    pub fill: BankFill,

    /// To the channel: lines to write back.
    pub write_back: BankStore,
    /// From the channel: write-backs that are done.
    pub done: BankStored,

    /// Writes back all changed lines (high for one cycle).
    pub clean: Signal<In, Bit>,
    /// Writes back all changed lines and invalidates all lines (high for one cycle).
    pub invalidate: Signal<In, Bit>,
    /// `clean` or `invalidate` is in progress.
    pub busy: Signal<Out, Bit>,

    /// From the registers (only with locks, as the next two).
    #[there(locks)]
    pub rings: Part<LockedRings>,
    /// In the cycle before, a write was refused the lock.
    #[there(locks)]
    pub lock_refused: Part<Signal<Out, Bit>>,
    /// In the cycle before, a lock ended by misses in its set.
    #[there(locks)]
    pub lock_expired: Part<Signal<Out, Bit>>,

    #[init(IndexHash::new(sets_log2, skip))]
    hash: IndexHash,
    #[init((0..ways).map(|_| L2Way::new(sets_log2, look_up_cycle)).collect())]
    way: Vec<L2Way>,
    #[init(RamSizedAsync::new(sets_log2))]
    turns: RamSizedAsync<2>,
    #[init(lock(network.filter(|_| locks), ways, sets_log2))]
    lock: Part<L2Lock>,
    #[init(RamSizedBytes::new(lines.ilog2() as usize))]
    data: RamSizedBytes,
    #[init(L2Fetches::new(numbers))]
    fetches: L2Fetches,
    #[init(L2Stores::new(numbers))]
    stores: L2Stores,
    answers: L2Answers,

    #[init(Register::new(true))]
    clearing: Register<Bit>,
    walking: Register<Bit>,
    walk_drops: Register<Bit>,
    walk_set: Register<Bits<16>>,
    wants_walk: Register<Bit>,
    wants_drop: Register<Bit>,
    unacknowledged: Register<Bits<64>>,
    /// A line was read from the data memory: a hit, or a line to write back.
    read_out: Register<Bit>,
    out_stores: Register<Bit>,
    out_requester: Register<Bits<5>>,
    out_tag: Register<Bits<7>>,
    hit_first: Register<Bit>,

    /// The state of the ways is that of the request, or the walk, in this cycle (with a cycle for
    /// the look-up, as the next two).
    #[there(look_up_cycle)]
    looked: Part<Register<Bit>>,
    #[there(look_up_cycle)]
    looked_line: Part<Register<LineAddress>>,
    #[there(look_up_cycle)]
    looked_turn: Part<Register<Bits<2>>>,
    /// The fetched line that is offered is taken in this cycle, and whether it is one of ours (with
    /// a cycle for the look-up).
    #[there(look_up_cycle)]
    chosen: Part<Register<Bit>>,
    #[there(look_up_cycle)]
    chosen_known: Part<Register<Bit>>,

    #[init((0..ways).map(|way| Constant::new((1u64 << way).into())).collect())]
    one_hot: Vec<Constant<Bits<4>>>,
    #[init(indices(ways))]
    index: Vec<Constant<Bits<5>>>,
    #[init((0..ways).map(|way| Constant::new(((way * sets) as u64).into())).collect())]
    first_place: Vec<Constant<Bits<16>>>,
    #[init(Constant::new((sets as u64 - 1).into()))]
    last_set: Constant<Bits<16>>,
    #[init(Constant::new((ways as u64 - 1).into()))]
    last_way: Constant<Bits<2>>,

    #[init(ways)]
    _ways: usize,
}

/// The locks of a bank that has some.
fn lock(network: Option<NetworkSizes>, ways: usize, sets_log2: usize) -> Part<L2Lock> {
    Part::of(network.map(|sizes| L2Lock::new(ways, sets_log2, sizes)))
}

impl L2Bank {
    /// A bank of `lines` lines in `ways` ways, with up to `2^numbers` fetches and as many
    /// write-backs outstanding; its lines are those of every address whose lowest `skip` bits are
    /// decided by the choice of the bank. With a network interface its sets have locks, if they
    /// have more than one way. `look_up_cycle`: it has a cycle for the look-up.
    ///
    /// # Panics
    /// If `lines` or `ways` is not a power of two, or there are not 1 to 4 ways or less than 2
    /// sets.
    pub fn new(
        lines: usize,
        ways: usize,
        numbers: usize,
        skip: usize,
        network: Option<NetworkSizes>,
        look_up_cycle: bool,
    ) -> Self {
        assert!(lines.is_power_of_two() && matches!(ways, 1 | 2 | 4), "L2Bank: {lines} lines in {ways} ways");
        assert!(lines / ways >= 2, "L2Bank: {lines} lines in {ways} ways are less than two sets");
        let sets = lines / ways;
        let sets_log2 = sets.ilog2() as usize;
        let locks = network.is_some() && ways > 1;
        Self::wired(lines, ways, numbers, skip, sets, sets_log2, network, locks, look_up_cycle)
    }
}

impl L2Bank {
    /// Outstanding fetches.
    #[hdl_gen]
    fn fetch_lines(
        &mut self,
        fill_take: Bit,
        read_miss: Bit,
        used_way: Bits<4>,
        place: Bits<16>,
        used_fetch_toggle: Bit,
    ) {
        // Outstanding fetches.
        self.fetches.begin.next = read_miss;
        connect!(self.request, self.fetches.missed);
        self.fetches.place.next = place;
        self.fetches.way.next = used_way;
        self.fetches.toggle.next = used_fetch_toggle;
        self.fetches.end.next = fill_take;
        connect!(self.fetch, self.fetches.fetch);
    }

    /// Outstanding write-backs.
    #[hdl_gen]
    fn write_lines_back(
        &mut self,
        store: Bit,
        used_way: Bits<4>,
        place: Bits<16>,
        used_tag: Bits<26>,
        used_dirty: Bits<64>,
        used_leave_toggle: Bit,
    ) {
        // Outstanding write-backs.
        self.stores.begin.next = store;
        self.stores.line.next = used_tag;
        self.stores.strobe.next = used_dirty;
        self.stores.place.next = place;
        self.stores.way.next = used_way;
        self.stores.toggle.next = used_leave_toggle;
        self.stores.push.next = self.read_out.q.val() && self.out_stores.q.val() && !self.stores.full.val();
        self.stores.data.next = self.data.read_data.val();
        connect!(self.write_back, self.stores.store);
        connect!(self.done, self.stores.done);
    }

    /// Answers.
    #[hdl_gen]
    fn answer(&mut self, fill_turn: Bit, fill_take: Bit, hit_push: Bit, write_hit: Bit, write_miss: Bit) {
        // Answers.
        self.answers.push_response.next = fill_take || hit_push;
        self.answers.missed.next = fill_take;
        self.answers.error.next = fill_take && self.fill.error.val();
        self.answers.requester.next = self.out_requester.q.val();
        self.answers.tag.next = self.out_tag.q.val();
        self.answers.data.next = self.data.read_data.val();
        if fill_turn {
            self.answers.requester.next = self.fetches.fill_requester.val();
            self.answers.tag.next = self.fetches.fill_tag.val();
            self.answers.data.next = self.fill.data.val();
        }
        connect!(self.response, self.answers.response);
        self.answers.push_written.next = write_hit || write_miss;
        self.answers.writer.next = self.request.requester.val();
        self.answers.write_tag.next = self.request.write_tag.val();
        connect!(self.written, self.answers.written);
    }

    /// The walk through all sets.
    #[hdl_gen]
    fn go_on_walking(&mut self, walk: Bit, idle: Bit, walk_on: Bit) {
        // The walk through all sets. At its end, the write-backs outstanding then are waited for.
        self.unacknowledged.d.next = self.unacknowledged.q.val() & self.stores.out.val();
        if walk_on {
            self.walk_set.d.next = self.walk_set.q.val() + 1;
            if self.walk_set.q.val() == self.last_set.val() {
                self.walk_set.d.next = bits::<16>(0);
                self.clearing.d.next = false;
                self.walking.d.next = false;
                self.walk_drops.d.next = false;
                self.unacknowledged.d.next = self.stores.out.val();
            }
        }
        // A request that was looked up is decided on first.
        if self.wants_walk.q.val() && !walk && idle && !self.unacknowledged.q.val().any() {
            self.walking.d.next = true;
            self.walk_drops.d.next = self.wants_drop.q.val();
            self.wants_walk.d.next = false;
            self.wants_drop.d.next = false;
        }
        if self.clean.val() || self.invalidate.val() {
            self.wants_walk.d.next = true;
        }
        if self.invalidate.val() {
            self.wants_drop.d.next = true;
        }
        self.busy.next = self.wants_walk.q.val() || self.walking.q.val() || self.unacknowledged.q.val().any();
    }
}

impl Logic for L2Bank {
    #[hdl_gen]
    fn update(&mut self) {
        // The set that is processed, and its contents.
        let walk = self.clearing.q.val() || self.walking.q.val();
        let mut decides = true;
        let mut idle = true;
        if self.looked.is_there() {
            let same = self.looked_line.q.val() == self.request.line.val();
            decides = self.looked.q.val() && (walk || same);
            idle = self.looked.q.val() || !self.request.valid.val();
            self.looked.d.next = !self.looked.q.val() && (self.request.valid.val() || walk);
            self.looked_line.d.next = self.request.line.val();
        }
        let is_read = self.request.valid.val() && !self.request.write.val() && !walk && decides;
        let is_write = self.request.valid.val() && self.request.write.val() && !walk && decides;
        self.hash.line.next = self.request.line.val();
        let mut set = self.hash.index.val();
        if walk {
            set = self.walk_set.q.val();
        }
        self.turns.read_address.next = set;
        let mut turn = self.turns.read_data.val() & self.last_way.val();
        if self.looked_turn.is_there() {
            self.looked_turn.d.next = turn;
            turn = self.looked_turn.q.val();
        }
        let mut hit_way = bits::<4>(0);
        let mut hit = false;
        let mut hit_fetching = false;
        let mut hit_complete = false;
        let mut hit_leaving = false;
        let mut line_leaves = false;
        let mut any_fetching = false;
        let mut changed_way = bits::<4>(0);
        let mut changed_leaving = false;
        let mut changed_fetched = false;
        for i in 0..self._ways {
            self.way[i].set.next = set;
            self.way[i].line.next = self.request.line.val();
            any_fetching = any_fetching || self.way[i].place.fetching.val();
            line_leaves = line_leaves || self.way[i].line_leaves.val();
            if self.way[i].hit.val() {
                hit = true;
                hit_way = self.one_hot[i].val();
                hit_fetching = self.way[i].place.fetching.val();
                hit_complete = self.way[i].complete.val();
                hit_leaving = self.way[i].place.leaving.val();
            }
            if self.way[i].place.changed.val() {
                changed_way = self.one_hot[i].val();
                changed_leaving = self.way[i].place.leaving.val();
                changed_fetched = self.way[i].fetched.val();
            }
        }
        // The place for a line that is not here: an empty one, else the one that is next in the
        // round, else any that can be evicted.
        let mut victim = bits::<4>(0);
        let mut victim_changed = false;
        for i in 0..self._ways {
            if !(self.way[i].place.fetching.val()
                || (self.way[i].place.changed.val() && self.way[i].place.leaving.val()))
            {
                victim = self.one_hot[i].val();
                victim_changed = self.way[i].place.changed.val();
            }
        }
        for i in 0..self._ways {
            if (bit_cast::<5, 2>(turn) == self.index[i].val())
                && !self.way[i].place.fetching.val()
                && !(self.way[i].place.changed.val() && self.way[i].place.leaving.val())
            {
                victim = self.one_hot[i].val();
                victim_changed = self.way[i].place.changed.val();
            }
        }
        for i in 0..self._ways {
            if !self.way[i].place.present.val() {
                victim = self.one_hot[i].val();
                victim_changed = false;
            }
        }

        if self.rings.is_there() {
            connect!(*self.rings, self.lock.rings);
            self.lock.set.next = set;
            self.lock.turn.next = turn;
            for i in 0..self._ways {
                connect!(self.way[i].place, self.lock.place[i]);
            }
            victim = self.lock.victim.val();
            victim_changed = self.lock.victim_changed.val();
        }

        // Fetched lines and lines that were hit alternate at the queue of responses.
        let hit_waits = self.read_out.q.val() && !self.out_stores.q.val();
        let mut takes_fill = !(self.answers.response_full.val() || (hit_waits && self.hit_first.q.val()));
        if self.chosen.is_there() {
            self.chosen.d.next = self.fill.valid.val() && takes_fill && !self.chosen.q.val();
            takes_fill = self.chosen.q.val();
        }
        self.fill.ready.next = takes_fill;
        self.fetches.fill_number.next = self.fill.number.val();
        // Its turn is known before whether it is one of ours: the line is chosen by that.
        let mut fill_turn = self.fill.valid.val() && takes_fill;
        let mut fill_take = fill_turn && self.fetches.known.val();
        let mut hit_push = hit_waits && !self.answers.response_full.val() && !fill_turn;
        if self.chosen.is_there() {
            // It is here: it was when it was chosen, and stays until it is taken.
            fill_turn = self.chosen.q.val();
            self.chosen_known.d.next = self.fetches.known.val();
            fill_take = fill_turn && self.chosen_known.q.val();
            // Nothing else goes to the queue between the choice and the line.
            let chooses = self.fill.valid.val() && !self.hit_first.q.val();
            hit_push = hit_waits && !self.answers.response_full.val() && !fill_turn && !chooses;
        }
        if hit_push {
            self.hit_first.d.next = false;
        } else if fill_turn {
            self.hit_first.d.next = true;
        }
        let room = !self.read_out.q.val() || hit_push || (self.out_stores.q.val() && !self.stores.full.val());

        // What happens with the request, or in the set of the walk.
        let can_store = room && self.stores.free.val();
        let can_miss = !hit && !line_leaves && victim.any();
        let can_write = !fill_turn && !self.answers.written_full.val();
        let read_hit = is_read && hit && !hit_fetching && hit_complete && room;
        let read_part = is_read && hit && !hit_complete && !hit_leaving && can_store;
        let read_miss = is_read && can_miss && self.fetches.free.val() && (!victim_changed || can_store);
        let write_hit = is_write && hit && !hit_fetching && can_write;
        let write_evict = is_write && can_miss && victim_changed && can_store;
        let write_miss = is_write && can_miss && !victim_changed && can_write;
        let walk_store =
            self.walking.q.val() && decides && changed_way.any() && !changed_leaving && can_store;
        let walks = self.clearing.q.val()
            || (self.walking.q.val() && !changed_way.any() && !(self.walk_drops.q.val() && any_fetching));
        let walk_on = walks && decides;
        self.request.ready.next = read_hit || read_miss || write_hit || write_miss;
        let store = read_part || (read_miss && victim_changed) || write_evict || walk_store;
        let drops = read_part || write_evict || (walk_store && (self.walk_drops.q.val() || !changed_fetched));

        // The place that it happens to.
        let mut used_way = victim;
        if walk {
            used_way = changed_way;
        } else if hit {
            used_way = hit_way;
        }
        let mut place = set;
        let mut used_tag = bits::<26>(0);
        let mut used_dirty = bits::<64>(0);
        let mut used_fetch_toggle = false;
        let mut used_leave_toggle = false;
        for i in 0..self._ways {
            if used_way.get_bit(i) {
                place = set | self.first_place[i].val();
                used_tag = self.way[i].tag.val();
                used_dirty = self.way[i].dirty.val();
                used_fetch_toggle = self.way[i].fetch_toggle.val();
                used_leave_toggle = self.way[i].leave_toggle.val();
            }
            self.way[i].clear.next = self.clearing.q.val();
            self.way[i].drop.next = (drops && used_way.get_bit(i)) || (walk_on && self.walk_drops.q.val());
            self.way[i].clean.next = walk_store && used_way.get_bit(i);
            self.way[i].leave.next = store && used_way.get_bit(i);
            self.way[i].fetch.next = read_miss && used_way.get_bit(i);
            self.way[i].take.next = write_miss && used_way.get_bit(i);
            self.way[i].write.next = write_hit && used_way.get_bit(i);
            self.way[i].strobe.next = self.request.strobe.val();
            self.way[i].filled.next = fill_take && self.fetches.fill_way.val().get_bit(i);
            self.way[i].filled_set.next = self.fetches.fill_place.val();
            self.way[i].filled_toggle.next = self.fetches.fill_toggle.val();
            self.way[i].filled_good.next = !self.fill.error.val();
            self.way[i].acknowledged.next =
                self.stores.acknowledged.val() && self.stores.done_way.val().get_bit(i);
            self.way[i].acknowledged_set.next = self.stores.done_place.val();
            self.way[i].acknowledged_toggle.next = self.stores.done_toggle.val();
        }
        if self.rings.is_there() {
            self.lock.line.next = self.request.line.val();
            self.lock.requester.next = self.request.requester.val();
            self.lock.phase.next = self.request.strobe.val().get_bit(1);
            self.lock.way.next = used_way;
            self.lock.written.next = write_hit || write_miss;
            self.lock.read.next = read_hit;
            self.lock.missed.next = read_miss || write_miss;
            self.lock.drop.next = drops;
            self.lock.clear.next = self.clearing.q.val() || (walk_on && self.walk_drops.q.val());
            self.lock_refused.next = self.lock.refused.val();
            self.lock_expired.next = self.lock.expired.val();
        }
        self.turns.write_enable.next = self.clearing.q.val() || read_miss || write_miss;
        self.turns.write_address.next = set;
        self.turns.write_data.next = turn + 1;
        if self.clearing.q.val() {
            self.turns.write_data.next = bits::<2>(0);
        }

        // Data: one line is read and one is written in a cycle. A line that is wanted is never the
        // one that is written; one that nobody wants may be read, too, since it need not be known
        // first who does.
        self.data.read_enable.next = room && (self.request.valid.val() || walk);
        self.data.read_address.next = place;
        self.data.write_enable.next = (fill_take && !self.fill.error.val()) || write_hit || write_miss;
        self.data.write_address.next = place;
        self.data.write_data.next = self.request.data.val();
        self.data.write_strobe.next = self.request.strobe.val();
        // A line that takes a new place takes all of it: nothing of the line before it leaves with
        // it, not even as bytes without strobe.
        if write_miss {
            self.data.write_strobe.next = !bits::<64>(0);
        }
        if fill_turn {
            self.data.write_address.next = self.fetches.fill_place.val();
            self.data.write_data.next = self.fill.data.val();
            self.data.write_strobe.next = !bits::<64>(0);
        }
        if room {
            self.read_out.d.next = read_hit || store;
        }
        if read_hit || store {
            self.out_stores.d.next = store;
            self.out_requester.d.next = self.request.requester.val();
            self.out_tag.d.next = self.request.tag.val();
        }

        self.fetch_lines(fill_take, read_miss, used_way, place, used_fetch_toggle);
        self.write_lines_back(store, used_way, place, used_tag, used_dirty, used_leave_toggle);
        self.answer(fill_turn, fill_take, hit_push, write_hit, write_miss);
        self.go_on_walking(walk, idle, walk_on);
    }
}

#[cfg(test)]
#[path = "bank_tests.rs"]
mod tests;
