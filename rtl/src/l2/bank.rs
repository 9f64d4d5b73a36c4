//! One bank of the L2.

use super::{L2Answers, L2Fetches, L2Stores, L2Way};
use crate::control::indices;
use crate::prelude::*;

/// A part of a write-back cache of 64-byte lines, with the reads and writes that miss in it under way to memory.
///
/// 1. One request is looked at in a cycle, in the order of acceptance. A read that hits, a write, and a read that misses take one
///    cycle each; later requests go on while lines are fetched. A line that all lanes of a warp wait for costs one fetch.
/// 2. A write never fetches: it puts its bytes into the line, or into a place that becomes that of its line.
///    A read of a line of which only written bytes are here writes these back first and then fetches the line.
/// 3. The request at the head waits, and with it all behind it, while its line is being fetched or written back, while
///    every place of its set is under way, or while a queue or pool is full.
/// 4. `written` of a write comes when every later request sees it. Responses come in any order.
/// 5. An error of a fetch is answered with `response_error`, and the line is not kept.
/// 6. `clean` writes back every line that was written, `invalidate` also drops all lines, one set at a time and before
///    any request; `busy` is high until the last write-back is acknowledged. After reset the bank takes a cycle for each set.
#[derive(Clone, Debug, LogicBlock)]
pub struct L2Bank {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high: every line is dropped.
    pub reset: Signal<In, Bit>,

    /// A request is here.
    pub request_valid: Signal<In, Bit>,
    /// It is done with at this edge.
    pub request_ready: Signal<Out, Bit>,
    /// It is a write.
    pub request_write: Signal<In, Bit>,
    /// Whose it is.
    pub request_requester: Signal<In, Bits<5>>,
    /// Tag of a read; bit 6 tells a fetch of instructions.
    pub request_tag: Signal<In, Bits<7>>,
    /// Tag of a write.
    pub request_write_tag: Signal<In, Bits<6>>,
    /// Line address.
    pub request_line: Signal<In, Bits<26>>,
    /// Line to write, byte 0 in bits 7:0.
    pub request_data: Signal<In, Bits<512>>,
    /// Bytes to write.
    pub request_strobe: Signal<In, Bits<64>>,

    /// The answer of a read is here.
    pub response_valid: Signal<Out, Bit>,
    /// It is taken at this edge.
    pub response_ready: Signal<In, Bit>,
    /// Whose it is.
    pub response_requester: Signal<Out, Bits<5>>,
    /// Tag of the read.
    pub response_tag: Signal<Out, Bits<7>>,
    /// The line.
    pub response_data: Signal<Out, Bits<512>>,
    /// Memory could not read it.
    pub response_error: Signal<Out, Bit>,
    /// It came from memory.
    pub response_missed: Signal<Out, Bit>,
    /// The answer of a write is here.
    pub written_valid: Signal<Out, Bit>,
    /// It is taken at this edge.
    pub written_ready: Signal<In, Bit>,
    /// Whose it is.
    pub written_requester: Signal<Out, Bits<5>>,
    /// Tag of the write.
    pub written_tag: Signal<Out, Bits<6>>,

    /// A line is to be fetched.
    pub fetch_valid: Signal<Out, Bit>,
    /// Accepted at this edge.
    pub fetch_ready: Signal<In, Bit>,
    /// Its line address.
    pub fetch_line: Signal<Out, Bits<26>>,
    /// Number of the fetch.
    pub fetch_number: Signal<Out, Bits<6>>,
    /// It holds instructions.
    pub fetch_code: Signal<Out, Bit>,
    /// A fetched line is here.
    pub fill_valid: Signal<In, Bit>,
    /// It is taken at this edge.
    pub fill_ready: Signal<Out, Bit>,
    /// Number of the fetch.
    pub fill_number: Signal<In, Bits<6>>,
    /// The line.
    pub fill_data: Signal<In, Bits<512>>,
    /// Memory could not read it.
    pub fill_error: Signal<In, Bit>,

    /// A line is to be written back.
    pub store_valid: Signal<Out, Bit>,
    /// Accepted at this edge.
    pub store_ready: Signal<In, Bit>,
    /// Its line address.
    pub store_line: Signal<Out, Bits<26>>,
    /// The line.
    pub store_data: Signal<Out, Bits<512>>,
    /// Bytes to write.
    pub store_strobe: Signal<Out, Bits<64>>,
    /// Number of the write-back.
    pub store_number: Signal<Out, Bits<6>>,
    /// A write-back is done (always accepted).
    pub done_valid: Signal<In, Bit>,
    /// Its number.
    pub done_number: Signal<In, Bits<6>>,

    /// Write back all changed lines (one cycle).
    pub clean: Signal<In, Bit>,
    /// Write back all changed lines and drop all lines (one cycle).
    pub invalidate: Signal<In, Bit>,
    /// This is under way.
    pub busy: Signal<Out, Bit>,

    hash: IndexHash,
    way: Vec<L2Way>,
    turns: RamSizedAsync<2>,
    data: RamSizedBytes,
    fetches: L2Fetches,
    stores: L2Stores,
    answers: L2Answers,

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

    one_hot: Vec<Constant<Bits<4>>>,
    index: Vec<Constant<Bits<5>>>,
    first_place: Vec<Constant<Bits<16>>>,
    last_set: Constant<Bits<16>>,
    last_way: Constant<Bits<2>>,

    walk: Signal<Local, Bit>,
    set: Signal<Local, Bits<16>>,
    is_read: Signal<Local, Bit>,
    is_write: Signal<Local, Bit>,
    hit_way: Signal<Local, Bits<4>>,
    hit: Signal<Local, Bit>,
    hit_fetching: Signal<Local, Bit>,
    hit_complete: Signal<Local, Bit>,
    hit_leaving: Signal<Local, Bit>,
    line_leaves: Signal<Local, Bit>,
    any_fetching: Signal<Local, Bit>,
    turn: Signal<Local, Bits<2>>,
    victim: Signal<Local, Bits<4>>,
    victim_changed: Signal<Local, Bit>,
    changed_way: Signal<Local, Bits<4>>,
    changed_leaving: Signal<Local, Bit>,
    changed_fetched: Signal<Local, Bit>,

    room: Signal<Local, Bit>,
    can_store: Signal<Local, Bit>,
    fill_take: Signal<Local, Bit>,
    hit_push: Signal<Local, Bit>,
    hit_waits: Signal<Local, Bit>,
    can_miss: Signal<Local, Bit>,
    can_write: Signal<Local, Bit>,
    read_hit: Signal<Local, Bit>,
    read_part: Signal<Local, Bit>,
    read_miss: Signal<Local, Bit>,
    write_hit: Signal<Local, Bit>,
    write_evict: Signal<Local, Bit>,
    write_miss: Signal<Local, Bit>,
    walk_store: Signal<Local, Bit>,
    walk_on: Signal<Local, Bit>,
    store: Signal<Local, Bit>,
    drops: Signal<Local, Bit>,
    used_way: Signal<Local, Bits<4>>,
    place: Signal<Local, Bits<16>>,
    used_tag: Signal<Local, Bits<26>>,
    used_dirty: Signal<Local, Bits<64>>,
    used_fetch_toggle: Signal<Local, Bit>,
    used_leave_toggle: Signal<Local, Bit>,
    _ways: usize,
}

impl L2Bank {
    /// A bank of `lines` lines in `ways` ways, with up to `2^numbers` fetches and as many write-backs under way; its lines are
    /// those of every address whose lowest `skip` bits are decided by the choice of the bank.
    ///
    /// # Panics
    /// If `lines` or `ways` is not a power of two, there are not 1 to 4 ways or less than 2 sets.
    pub fn new(lines: usize, ways: usize, numbers: usize, skip: usize) -> Self {
        assert!(lines.is_power_of_two() && matches!(ways, 1 | 2 | 4), "L2Bank: {lines} lines in {ways} ways");
        assert!(lines / ways >= 2, "L2Bank: {lines} lines in {ways} ways are less than two sets");
        let sets = lines / ways;
        let sets_log2 = sets.ilog2() as usize;
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            request_valid: Signal::default(),
            request_ready: Signal::default(),
            request_write: Signal::default(),
            request_requester: Signal::default(),
            request_tag: Signal::default(),
            request_write_tag: Signal::default(),
            request_line: Signal::default(),
            request_data: Signal::default(),
            request_strobe: Signal::default(),
            response_valid: Signal::default(),
            response_ready: Signal::default(),
            response_requester: Signal::default(),
            response_tag: Signal::default(),
            response_data: Signal::default(),
            response_error: Signal::default(),
            response_missed: Signal::default(),
            written_valid: Signal::default(),
            written_ready: Signal::default(),
            written_requester: Signal::default(),
            written_tag: Signal::default(),
            fetch_valid: Signal::default(),
            fetch_ready: Signal::default(),
            fetch_line: Signal::default(),
            fetch_number: Signal::default(),
            fetch_code: Signal::default(),
            fill_valid: Signal::default(),
            fill_ready: Signal::default(),
            fill_number: Signal::default(),
            fill_data: Signal::default(),
            fill_error: Signal::default(),
            store_valid: Signal::default(),
            store_ready: Signal::default(),
            store_line: Signal::default(),
            store_data: Signal::default(),
            store_strobe: Signal::default(),
            store_number: Signal::default(),
            done_valid: Signal::default(),
            done_number: Signal::default(),
            clean: Signal::default(),
            invalidate: Signal::default(),
            busy: Signal::default(),
            answers: L2Answers::default(),
            walking: Register::default(),
            walk_drops: Register::default(),
            walk_set: Register::default(),
            wants_walk: Register::default(),
            wants_drop: Register::default(),
            unacknowledged: Register::default(),
            read_out: Register::default(),
            out_stores: Register::default(),
            out_requester: Register::default(),
            out_tag: Register::default(),
            hit_first: Register::default(),
            walk: Signal::default(),
            set: Signal::default(),
            is_read: Signal::default(),
            is_write: Signal::default(),
            hit_way: Signal::default(),
            hit: Signal::default(),
            hit_fetching: Signal::default(),
            hit_complete: Signal::default(),
            hit_leaving: Signal::default(),
            line_leaves: Signal::default(),
            any_fetching: Signal::default(),
            turn: Signal::default(),
            victim: Signal::default(),
            victim_changed: Signal::default(),
            changed_way: Signal::default(),
            changed_leaving: Signal::default(),
            changed_fetched: Signal::default(),
            room: Signal::default(),
            can_store: Signal::default(),
            fill_take: Signal::default(),
            hit_push: Signal::default(),
            hit_waits: Signal::default(),
            can_miss: Signal::default(),
            can_write: Signal::default(),
            read_hit: Signal::default(),
            read_part: Signal::default(),
            read_miss: Signal::default(),
            write_hit: Signal::default(),
            write_evict: Signal::default(),
            write_miss: Signal::default(),
            walk_store: Signal::default(),
            walk_on: Signal::default(),
            store: Signal::default(),
            drops: Signal::default(),
            used_way: Signal::default(),
            place: Signal::default(),
            used_tag: Signal::default(),
            used_dirty: Signal::default(),
            used_fetch_toggle: Signal::default(),
            used_leave_toggle: Signal::default(),
            hash: IndexHash::new(sets_log2, skip),
            way: (0..ways).map(|_| L2Way::new(sets_log2)).collect(),
            turns: RamSizedAsync::new(sets_log2),
            data: RamSizedBytes::new(lines.ilog2() as usize),
            fetches: L2Fetches::new(numbers),
            stores: L2Stores::new(numbers),
            clearing: Register::new(true),
            one_hot: (0..ways).map(|way| Constant::new((1u64 << way).into())).collect(),
            index: indices(ways),
            first_place: (0..ways).map(|way| Constant::new(((way * sets) as u64).into())).collect(),
            last_set: Constant::new((sets as u64 - 1).into()),
            last_way: Constant::new((ways as u64 - 1).into()),
            _ways: ways,
        }
    }
}

impl Logic for L2Bank {
    #[hdl_gen]
    fn update(&mut self) {
        // The set that is looked at, and what stands there.
        self.walk.next = self.clearing.q.val() || self.walking.q.val();
        self.is_read.next = self.request_valid.val() && !self.request_write.val() && !self.walk.val();
        self.is_write.next = self.request_valid.val() && self.request_write.val() && !self.walk.val();
        self.hash.line.next = self.request_line.val();
        self.set.next = self.hash.index.val();
        if self.walk.val() {
            self.set.next = self.walk_set.q.val();
        }
        self.turns.read_address.next = self.set.val();
        self.turn.next = self.turns.read_data.val() & self.last_way.val();
        self.hit_way.next = bits::<4>(0);
        self.hit.next = false;
        self.hit_fetching.next = false;
        self.hit_complete.next = false;
        self.hit_leaving.next = false;
        self.line_leaves.next = false;
        self.any_fetching.next = false;
        self.changed_way.next = bits::<4>(0);
        self.changed_leaving.next = false;
        self.changed_fetched.next = false;
        for i in 0..self._ways {
            self.way[i].set.next = self.set.val();
            self.way[i].line.next = self.request_line.val();
            self.any_fetching.next = self.any_fetching.val() || self.way[i].fetching.val();
            self.line_leaves.next = self.line_leaves.val() || self.way[i].line_leaves.val();
            if self.way[i].hit.val() {
                self.hit.next = true;
                self.hit_way.next = self.one_hot[i].val();
                self.hit_fetching.next = self.way[i].fetching.val();
                self.hit_complete.next = self.way[i].complete.val();
                self.hit_leaving.next = self.way[i].leaving.val();
            }
            if self.way[i].changed.val() {
                self.changed_way.next = self.one_hot[i].val();
                self.changed_leaving.next = self.way[i].leaving.val();
                self.changed_fetched.next = self.way[i].fetched.val();
            }
        }
        // The place for a line that is not here: an empty one, else the one whose turn it is, else any that can be given up.
        self.victim.next = bits::<4>(0);
        self.victim_changed.next = false;
        for i in 0..self._ways {
            if !(self.way[i].fetching.val() || (self.way[i].changed.val() && self.way[i].leaving.val())) {
                self.victim.next = self.one_hot[i].val();
                self.victim_changed.next = self.way[i].changed.val();
            }
        }
        for i in 0..self._ways {
            if (bit_cast::<5, 2>(self.turn.val()) == self.index[i].val())
                && !self.way[i].fetching.val()
                && !(self.way[i].changed.val() && self.way[i].leaving.val())
            {
                self.victim.next = self.one_hot[i].val();
                self.victim_changed.next = self.way[i].changed.val();
            }
        }
        for i in 0..self._ways {
            if !self.way[i].present.val() {
                self.victim.next = self.one_hot[i].val();
                self.victim_changed.next = false;
            }
        }

        // Fetched lines and lines that were hit go to the responses in turns.
        self.hit_waits.next = self.read_out.q.val() && !self.out_stores.q.val();
        self.fill_ready.next =
            !(self.answers.response_full.val() || (self.hit_waits.val() && self.hit_first.q.val()));
        self.fetches.fill_number.next = self.fill_number.val();
        self.fill_take.next = self.fill_valid.val()
            && !self.answers.response_full.val()
            && !(self.hit_waits.val() && self.hit_first.q.val())
            && self.fetches.known.val();
        self.hit_push.next =
            self.hit_waits.val() && !self.answers.response_full.val() && !self.fill_take.val();
        if self.hit_push.val() {
            self.hit_first.d.next = false;
        } else if self.fill_take.val() {
            self.hit_first.d.next = true;
        }
        self.room.next = !self.read_out.q.val()
            || self.hit_push.val()
            || (self.out_stores.q.val() && !self.stores.full.val());

        // What happens with the request, or in the set of the walk.
        self.can_store.next = self.room.val() && self.stores.free.val();
        self.can_miss.next = !self.hit.val() && !self.line_leaves.val() && self.victim.val().any();
        self.can_write.next = !self.fill_take.val() && !self.answers.written_full.val();
        self.read_hit.next = self.is_read.val()
            && self.hit.val()
            && !self.hit_fetching.val()
            && self.hit_complete.val()
            && self.room.val();
        self.read_part.next = self.is_read.val()
            && self.hit.val()
            && !self.hit_complete.val()
            && !self.hit_leaving.val()
            && self.can_store.val();
        self.read_miss.next = self.is_read.val()
            && self.can_miss.val()
            && self.fetches.free.val()
            && (!self.victim_changed.val() || self.can_store.val());
        self.write_hit.next =
            self.is_write.val() && self.hit.val() && !self.hit_fetching.val() && self.can_write.val();
        self.write_evict.next =
            self.is_write.val() && self.can_miss.val() && self.victim_changed.val() && self.can_store.val();
        self.write_miss.next =
            self.is_write.val() && self.can_miss.val() && !self.victim_changed.val() && self.can_write.val();
        self.walk_store.next = self.walking.q.val()
            && self.changed_way.val().any()
            && !self.changed_leaving.val()
            && self.can_store.val();
        self.walk_on.next = self.clearing.q.val()
            || (self.walking.q.val()
                && !self.changed_way.val().any()
                && !(self.walk_drops.q.val() && self.any_fetching.val()));
        self.request_ready.next =
            self.read_hit.val() || self.read_miss.val() || self.write_hit.val() || self.write_miss.val();
        self.store.next = self.read_part.val()
            || (self.read_miss.val() && self.victim_changed.val())
            || self.write_evict.val()
            || self.walk_store.val();
        self.drops.next = self.read_part.val()
            || self.write_evict.val()
            || (self.walk_store.val() && (self.walk_drops.q.val() || !self.changed_fetched.val()));

        // The place that it happens to.
        self.used_way.next = self.victim.val();
        if self.walk.val() {
            self.used_way.next = self.changed_way.val();
        } else if self.hit.val() {
            self.used_way.next = self.hit_way.val();
        }
        self.place.next = self.set.val();
        self.used_tag.next = bits::<26>(0);
        self.used_dirty.next = bits::<64>(0);
        self.used_fetch_toggle.next = false;
        self.used_leave_toggle.next = false;
        for i in 0..self._ways {
            if self.used_way.val().get_bit(i) {
                self.place.next = self.set.val() | self.first_place[i].val();
                self.used_tag.next = self.way[i].tag.val();
                self.used_dirty.next = self.way[i].dirty.val();
                self.used_fetch_toggle.next = self.way[i].fetch_toggle.val();
                self.used_leave_toggle.next = self.way[i].leave_toggle.val();
            }
            self.way[i].clear.next = self.clearing.q.val();
            self.way[i].drop.next = (self.drops.val() && self.used_way.val().get_bit(i))
                || (self.walk_on.val() && self.walk_drops.q.val());
            self.way[i].clean.next = self.walk_store.val() && self.used_way.val().get_bit(i);
            self.way[i].leave.next = self.store.val() && self.used_way.val().get_bit(i);
            self.way[i].fetch.next = self.read_miss.val() && self.used_way.val().get_bit(i);
            self.way[i].take.next = self.write_miss.val() && self.used_way.val().get_bit(i);
            self.way[i].write.next = self.write_hit.val() && self.used_way.val().get_bit(i);
            self.way[i].strobe.next = self.request_strobe.val();
            self.way[i].filled.next = self.fill_take.val() && self.fetches.fill_way.val().get_bit(i);
            self.way[i].filled_set.next = self.fetches.fill_place.val();
            self.way[i].filled_toggle.next = self.fetches.fill_toggle.val();
            self.way[i].filled_good.next = !self.fill_error.val();
            self.way[i].acknowledged.next =
                self.stores.acknowledged.val() && self.stores.done_way.val().get_bit(i);
            self.way[i].acknowledged_set.next = self.stores.done_place.val();
            self.way[i].acknowledged_toggle.next = self.stores.done_toggle.val();
        }
        self.turns.write_enable.next = self.clearing.q.val() || self.read_miss.val() || self.write_miss.val();
        self.turns.write_address.next = self.set.val();
        self.turns.write_data.next = self.turn.val() + 1;
        if self.clearing.q.val() {
            self.turns.write_data.next = bits::<2>(0);
        }

        // Data: one line is read and one is written in a cycle, never the same.
        self.data.read_enable.next = self.read_hit.val() || self.store.val();
        self.data.read_address.next = self.place.val();
        self.data.write_enable.next =
            (self.fill_take.val() && !self.fill_error.val()) || self.write_hit.val() || self.write_miss.val();
        self.data.write_address.next = self.place.val();
        self.data.write_data.next = self.request_data.val();
        self.data.write_strobe.next = self.request_strobe.val();
        // A line that takes a new place takes all of it: nothing of the line before it leaves with it, not even as bytes without strobe.
        if self.write_miss.val() {
            self.data.write_strobe.next = !bits::<64>(0);
        }
        if self.fill_take.val() {
            self.data.write_address.next = self.fetches.fill_place.val();
            self.data.write_data.next = self.fill_data.val();
            self.data.write_strobe.next = !bits::<64>(0);
        }
        if self.room.val() {
            self.read_out.d.next = self.read_hit.val() || self.store.val();
        }
        if self.read_hit.val() || self.store.val() {
            self.out_stores.d.next = self.store.val();
            self.out_requester.d.next = self.request_requester.val();
            self.out_tag.d.next = self.request_tag.val();
        }

        // Fetches under way.
        self.fetches.begin.next = self.read_miss.val();
        self.fetches.line.next = self.request_line.val();
        self.fetches.requester.next = self.request_requester.val();
        self.fetches.tag.next = self.request_tag.val();
        self.fetches.place.next = self.place.val();
        self.fetches.way.next = self.used_way.val();
        self.fetches.toggle.next = self.used_fetch_toggle.val();
        self.fetches.end.next = self.fill_take.val();
        self.fetch_valid.next = self.fetches.fetch_valid.val();
        self.fetches.fetch_ready.next = self.fetch_ready.val();
        self.fetch_line.next = self.fetches.fetch_line.val();
        self.fetch_number.next = self.fetches.fetch_number.val();
        self.fetch_code.next = self.fetches.fetch_code.val();

        // Write-backs under way.
        self.stores.begin.next = self.store.val();
        self.stores.line.next = self.used_tag.val();
        self.stores.strobe.next = self.used_dirty.val();
        self.stores.place.next = self.place.val();
        self.stores.way.next = self.used_way.val();
        self.stores.toggle.next = self.used_leave_toggle.val();
        self.stores.push.next = self.read_out.q.val() && self.out_stores.q.val() && !self.stores.full.val();
        self.stores.data.next = self.data.read_data.val();
        self.store_valid.next = self.stores.store_valid.val();
        self.stores.store_ready.next = self.store_ready.val();
        self.store_line.next = self.stores.store_line.val();
        self.store_data.next = self.stores.store_data.val();
        self.store_strobe.next = self.stores.store_strobe.val();
        self.store_number.next = self.stores.store_number.val();
        self.stores.done_valid.next = self.done_valid.val();
        self.stores.done_number.next = self.done_number.val();

        // Answers.
        self.answers.push_response.next = self.fill_take.val() || self.hit_push.val();
        self.answers.missed.next = self.fill_take.val();
        self.answers.error.next = self.fill_take.val() && self.fill_error.val();
        self.answers.requester.next = self.out_requester.q.val();
        self.answers.tag.next = self.out_tag.q.val();
        self.answers.data.next = self.data.read_data.val();
        if self.fill_take.val() {
            self.answers.requester.next = self.fetches.fill_requester.val();
            self.answers.tag.next = self.fetches.fill_tag.val();
            self.answers.data.next = self.fill_data.val();
        }
        self.response_valid.next = self.answers.response_valid.val();
        self.answers.response_ready.next = self.response_ready.val();
        self.response_requester.next = self.answers.response_requester.val();
        self.response_tag.next = self.answers.response_tag.val();
        self.response_data.next = self.answers.response_data.val();
        self.response_error.next = self.answers.response_error.val();
        self.response_missed.next = self.answers.response_missed.val();
        self.answers.push_written.next = self.write_hit.val() || self.write_miss.val();
        self.answers.writer.next = self.request_requester.val();
        self.answers.write_tag.next = self.request_write_tag.val();
        self.written_valid.next = self.answers.written_valid.val();
        self.answers.written_ready.next = self.written_ready.val();
        self.written_requester.next = self.answers.written_requester.val();
        self.written_tag.next = self.answers.written_tag.val();

        // The walk through all sets. At its end, the write-backs then under way are waited for.
        self.unacknowledged.d.next = self.unacknowledged.q.val() & self.stores.out.val();
        if self.walk_on.val() {
            self.walk_set.d.next = self.walk_set.q.val() + 1;
            if self.walk_set.q.val() == self.last_set.val() {
                self.walk_set.d.next = bits::<16>(0);
                self.clearing.d.next = false;
                self.walking.d.next = false;
                self.walk_drops.d.next = false;
                self.unacknowledged.d.next = self.stores.out.val();
            }
        }
        if self.wants_walk.q.val() && !self.walk.val() && !self.unacknowledged.q.val().any() {
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
