//! What an event does to a command queue.

use super::event;
use super::{QueueEvent, QueueRow};
use crate::types::{check_entries, code, command_operation};
use hermes_hdl::prelude::*;

/// The context whose results stand in VALUE.
const VALUE_CONTEXT: u64 = 3;

/// The table of states of a command queue (docs/shmem.md), one event at a time: all outputs answer
/// in the same cycle.
///
/// 1. A queue that is on has at most one command in a staging buffer, that at `head`. An event that
///    is about a buffer which the queue does not have any more, since it was switched off
///    meanwhile, changes nothing but `under_way`.
/// 2. A command is consumed when it is posted (TAKE), or ends without that: by a hart (END), or on
///    arrival if it is a NOP or nothing that a hart could post. Its context and index are then
///    those of the entry.
/// 3. `looks`: it may have another command, and room for it: fewer than `entries` are under way.
///    `line`: its control line is to be written.
#[derive(Clone, LogicBlock)]
#[new(entries: usize)]
pub struct QueueStep {
    /// The queue.
    pub row: Signal<In, QueueRow>,
    /// Event of the queue.
    pub current_event: Signal<In, QueueEvent>,
    /// The queue behind it.
    pub changed: Signal<Out, QueueRow>,
    /// The queue may have a command that is to be fetched.
    pub looks: Signal<Out, Bit>,
    /// The control line of the queue changes.
    pub line: Signal<Out, Bit>,
    /// ARRIVE: the command is given to the harts.
    pub stages: Signal<Out, Bit>,
    /// ARRIVE: it is not, and the buffer is free.
    pub discards: Signal<Out, Bit>,
    /// SWITCH: the buffer of the queue is dropped.
    pub drops: Signal<Out, Bit>,
    /// SWITCH: it is on already, or has commands under way.
    pub refused: Signal<Out, Bit>,
    /// A TAKE leaves room for one more while fewer commands than this are under way.
    #[init(Constant::new((entries as u64 - 1).into()))]
    last_entry: Constant<Bits<4>>,
    #[init(entries.ilog2() as usize)]
    _entries_log2: usize,
}

impl QueueStep {
    /// For queues of which `entries` commands may be under way.
    ///
    /// # Panics
    /// If `entries` is not 1, 2, 4 or 8.
    pub fn new(entries: usize) -> Self {
        check_entries("QueueStep", entries);
        Self::wired(entries)
    }
}

impl Logic for QueueStep {
    #[hdl_gen]
    fn update(&mut self) {
        let current_row = self.row.val();
        let queue_event = self.current_event.val();
        let holds = current_row.on && current_row.staged && (current_row.buffer == queue_event.buffer);
        let takes = queue_event.kind == bits::<3>(event::TAKE);
        let completes = queue_event.kind == bits::<3>(event::COMPLETE);
        let arrives = queue_event.kind == bits::<3>(event::ARRIVE);
        let switches = queue_event.kind == bits::<3>(event::SWITCH);

        // A line that is here: its word 0
        let word = queue_event.value.get_bits::<32>(0);
        let operation = word.get_bits::<8>(0);
        let is_published = word.get_bit(8) != current_row.head.get_bit(6);
        let is_command = ((operation == bits::<8>(command_operation::PUT))
            || (operation == bits::<8>(command_operation::GET)))
            || ((operation == bits::<8>(command_operation::FETCH_ADD))
                || (operation == bits::<8>(command_operation::COMPARE_SWAP)))
            || (operation.get_bits::<2>(6) == bits::<2>(1));
        let is_reserved = word.get_bit(11) || word.get_bits::<2>(14).any() || word.get_bits::<4>(28).any();
        let is_far = word.get_bits::<6>(22).any();
        let is_good = is_command && !is_reserved && !is_far;
        let mut found = bits::<8>(code::OPERATION);
        if is_command {
            found = bits::<8>(code::NODE);
        }
        if !operation.any() {
            found = bits::<8>(code::DONE);
        }
        if is_reserved {
            found = bits::<8>(code::RESERVED);
        }
        let breaks = arrives && holds && queue_event.flag;
        let is_whole = arrives && holds && !queue_event.flag && is_published;
        let fails = is_whole && !is_good;
        self.stages.next = is_whole && is_good;
        self.discards.next = arrives && !(is_whole && is_good);

        // What is consumed, and what is complete
        let ends = (queue_event.kind == bits::<3>(event::END)) && holds;
        let consumes = (takes && holds) || ends || fails;
        let gives_back = (queue_event.kind == bits::<3>(event::GIVE_BACK)) && holds;
        let is_stale = arrives && holds && !queue_event.flag && !is_published;
        let counts = ends || fails || (completes && current_row.on);
        let mut context = queue_event.context;
        let mut result_code = queue_event.code;
        let mut index = current_row.head.get_bits::<16>(0);
        if fails {
            context = word.get_bits::<2>(12);
            result_code = found;
        }
        if completes {
            index = queue_event.index;
        }
        let turns_on = switches && queue_event.flag && !current_row.on && !current_row.under_way.any();
        let turns_off = switches && !queue_event.flag && current_row.on;
        self.refused.next = switches && queue_event.flag && (current_row.on || current_row.under_way.any());
        self.drops.next = turns_off && current_row.staged;

        self.changed.next = current_row;
        if takes {
            self.changed.next.under_way = current_row.under_way + bits::<4>(1);
        }
        if completes {
            self.changed.next.under_way = current_row.under_way - bits::<4>(1);
        }
        if consumes {
            self.changed.next.head = current_row.head + bits::<32>(1);
        }
        if consumes || gives_back || is_stale || breaks || turns_off {
            self.changed.next.staged = false;
        }
        let is_error = result_code != bits::<8>(code::DONE);
        let mut done = bits::<64>(0);
        let mut errors = bits::<128>(0);
        let of_context = bits::<4>(1) << context;
        for i in 0..4 {
            let is_counted = counts && of_context.get_bit(i);
            let mut context_done = current_row.done.get_bits::<16>(16 * i);
            let mut context_error = current_row.errors.get_bits::<32>(32 * i);
            if is_counted && is_error {
                context_error = bit_cast::<32, 8>(result_code)
                    | (bit_cast::<32, 8>(context_error.get_bits::<8>(8) + bits::<8>(1)) << 8)
                    | (bit_cast::<32, 16>(index) << 16);
            }
            if is_counted {
                context_done = context_done + bits::<16>(1);
            }
            done = done | (bit_cast::<64, 16>(context_done) << bits::<7>(16 * i as u64));
            errors = errors | (bit_cast::<128, 32>(context_error) << bits::<8>(32 * i as u64));
        }
        self.changed.next.done = done;
        self.changed.next.errors = errors;
        if completes
            && current_row.on
            && queue_event.flag
            && (queue_event.context == bits::<2>(VALUE_CONTEXT))
        {
            self.changed.next.value = queue_event.value;
        }
        if breaks || turns_off {
            self.changed.next.on = false;
            self.changed.next.epoch = bits::<32>(0);
        }
        if turns_on {
            self.changed.next.on = true;
            self.changed.next.staged = false;
            self.changed.next.head = bits::<32>(0);
            self.changed.next.epoch = queue_event.value.get_bits::<32>(0);
            self.changed.next.done = bits::<64>(0);
            self.changed.next.value = bits::<64>(0);
            self.changed.next.errors = bits::<128>(0);
        }
        self.line.next = counts || breaks || turns_on || turns_off;

        // Room for a command is known behind a TAKE.
        let is_free = !current_row.staged || consumes || gives_back || is_stale;
        let is_on = (current_row.on && !breaks && !turns_off) || turns_on;
        let mut has_room = !current_row.under_way.get_bit(self._entries_log2) || completes;
        if takes {
            has_room = current_row.under_way < self.last_entry.val();
        }
        let is_shown = queue_event.kind == bits::<3>(event::SHOW);
        self.looks.next = !is_shown && is_on && is_free && has_room;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::settle;

    /// Every event in every state that matters for room: the queue is looked at if it is on, its
    /// command has no buffer, and as many commands as may be are not under way behind the event.
    #[test]
    fn a_queue_is_looked_at_while_it_has_room() {
        for entries in [1, 2, 4, 8] {
            let mut uut = QueueStep::new(entries);
            let (mut looked, mut full) = (0, 0);
            for state in 0..(entries + 1) * 64 {
                let (kind, under_way) = (state as u64 % 8, (state / 64) as u64);
                let [on, staged, flag] = [8, 16, 32].map(|bit| state & bit != 0);
                let begins = kind == event::TAKE;
                let ends = kind == event::COMPLETE;
                // A command that is posted had room, and one that is complete was under way.
                let possible = (on || !staged) && !(begins && under_way as usize == entries);
                if !possible || (ends && under_way == 0) {
                    continue;
                }
                uut.row.next.on = on;
                uut.row.next.staged = staged;
                uut.row.next.under_way = under_way.into();
                uut.current_event.next.kind = kind.into();
                uut.current_event.next.flag = flag;
                // A line that is here has a command of the first lap.
                uut.current_event.next.value = 0x101.into();
                settle(&mut uut);
                let behind = under_way + u64::from(begins) - u64::from(ends);
                let changed = uut.changed.val();
                assert_eq!(changed.under_way.to_u64(), behind);
                let room = behind < entries as u64;
                let expected = kind != event::SHOW && changed.on && !changed.staged && room;
                assert_eq!(
                    uut.looks.val(),
                    expected,
                    "{entries} entries, {under_way} under way, event {kind}"
                );
                looked += usize::from(expected);
                full += usize::from(changed.on && !changed.staged && !room);
            }
            assert!(looked > 5 && full > 5, "{looked} {full}");
        }
    }
}
