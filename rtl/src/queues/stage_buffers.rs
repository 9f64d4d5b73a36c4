//! Commands that wait for harts.

use super::{event, QueueEvent, StagedCommand};
use crate::blocks::ShortFifo;
use crate::ports::CommandStage;
use hermes_hdl::prelude::*;

/// Buffers of sixteen words, two for each hart: a hart owns one, the others are free, or hold a
/// command that is fetched or waits for a hart.
///
/// 1. `hart` is that of the access of this cycle. `word` is word `place` of its buffer, and `words`
///    are words 0 to 7, in the same cycle. `store` writes a word, unless `stall`: a line comes in
///    this cycle.
/// 2. `here` tells that a command waits, `oldest` is the one that came first. With `take` the hart
///    gets it: it owns its buffer from then on, and the one that it had is free. `has` tells that
///    it has such a command, `command`, and its queue was not switched off; `finish` ends that.
/// 3. `lose` gives the command of the hart back to its queue, and so does `hold` of a hart: `has`
///    is low from the next cycle on, and `lost_valid` offers it until `lost_ready`.
/// 4. A command whose queue is switched off (`stage.drop`) is given to no hart any more.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(harts: usize)]
pub struct StageBuffers {
    /// From the queues; but for `event`, which the owner of this unit drives.
    pub stage: Flipped<CommandStage>,
    /// An event of a hart: passes to `stage`.
    pub event_valid: Signal<In, Bit>,
    /// The event of a hart.
    pub event: Signal<In, QueueEvent>,
    /// The event is taken at this edge.
    pub event_ready: Signal<Out, Bit>,
    /// Hart of the access.
    pub hart: Signal<In, Bits<3>>,
    /// A word of its buffer.
    pub place: Signal<In, Bits<4>>,
    /// The word is written.
    pub store: Signal<In, Bit>,
    /// The word that is written.
    pub data: Signal<In, Bits<32>>,
    /// No word is written in this cycle.
    pub stall: Signal<Out, Bit>,
    /// Word `place` of the hart's buffer.
    pub word: Signal<Out, Bits<32>>,
    /// Words 0 to 7 of the buffer, word 0 in bits 31:0.
    pub words: Signal<Out, Bits<256>>,
    /// A command waits.
    pub here: Signal<Out, Bit>,
    /// The oldest one.
    pub oldest: Signal<Out, StagedCommand>,
    /// The hart takes it.
    pub take: Signal<In, Bit>,
    /// The hart has one.
    pub has: Signal<Out, Bit>,
    /// The command of the hart.
    pub command: Signal<Out, StagedCommand>,
    /// The hart has it no more.
    pub finish: Signal<In, Bit>,
    /// The hart gives it back.
    pub lose: Signal<In, Bit>,
    /// One of this hart is being given back.
    pub loses: Signal<Out, Bit>,
    /// Harts that are held.
    pub hold: Signal<In, Bits<8>>,
    /// Harts whose command is being given back.
    lost: Register<Bits<8>>,
    /// Word n of each buffer.
    #[count(16)]
    buffer: Vec<RamAsync<Bits<32>, 4>>,
    #[init((0..harts as u64).map(|hart| Register::new(hart.into())).collect())]
    own: Vec<Register<Bits<4>>>,
    #[init(Register::new((((1u64 << harts) - 1) << harts).into()))]
    unused: Register<Bits<16>>,
    /// Buffers whose queue was switched off.
    dropped: Register<Bits<16>>,
    waiting: ShortFifo<StagedCommand, 3>,
    /// Harts that have a command.
    taken: Register<Bits<8>>,
    commands: RamAsync<StagedCommand, 3>,
    lost_commands: RamAsync<StagedCommand, 3>,
    #[init((0..harts as u64).map(|hart| Constant::new(hart.into())).collect())]
    number: Vec<Constant<Bits<3>>>,
    #[init(harts)]
    _harts: usize,
}

impl StageBuffers {
    /// The buffers of `harts` harts.
    ///
    /// # Panics
    /// If `harts` is not 1 to 8.
    pub fn new(harts: usize) -> Self {
        assert!((1..=8).contains(&harts), "StageBuffers: {harts} harts, expected 1 to 8");
        Self::wired(harts)
    }
}

impl Logic for StageBuffers {
    #[hdl_gen]
    fn update(&mut self) {
        let hart_number = self.hart.val();
        let mut hart_buffer = bits::<4>(0);
        for h in 0..self._harts {
            if hart_number == self.number[h].val() {
                hart_buffer = self.own[h].q.val();
            }
        }

        // The words: a line that comes goes before a store.
        let fills = self.stage.fill.val();
        self.stall.next = fills;
        let mut found = bits::<32>(0);
        let mut low = bits::<256>(0);
        let at_word = bits::<16>(1) << self.place.val();
        for i in 0..16 {
            self.buffer[i].read_address.next = hart_buffer;
            self.buffer[i].write_enable.next = fills || (self.store.val() && at_word.get_bit(i));
            self.buffer[i].write_address.next = hart_buffer;
            self.buffer[i].write_data.next = self.data.val();
            if fills {
                self.buffer[i].write_address.next = self.stage.fill_buffer.val();
                self.buffer[i].write_data.next = self.stage.fill_data.val().get_bits::<32>(32 * i);
            }
            if at_word.get_bit(i) {
                found = self.buffer[i].read_data.val();
            }
        }
        for i in 0..8 {
            low = low | (bit_cast::<256, 32>(self.buffer[i].read_data.val()) << bits::<9>(32 * i as u64));
        }
        self.word.next = found;
        self.words.next = low;

        // Commands that wait: those of queues that were switched off leave.
        let first = self.waiting.pop_data.val();
        let gone = self.dropped.q.val().get_bit(first.buffer.index());
        let skips = self.waiting.pop_valid.val() && gone;
        let takes = self.take.val();
        self.here.next = self.waiting.pop_valid.val() && !gone;
        self.oldest.next = first;
        self.waiting.pop_ready.next = skips || takes;
        self.waiting.push_valid.next = self.stage.stage.val();
        self.waiting.push_data.next = self.stage.staged.val();

        always!(staged_commands_have_room, !self.stage.stage.val() || self.waiting.push_ready.val());
        always!(a_command_that_is_taken_waits, !takes || (self.waiting.pop_valid.val() && !gone));

        // Free buffers
        let mut lowest = bits::<4>(0);
        for i in 0..16 {
            if self.unused.q.val().get_bit(15 - i) {
                lowest = bits::<4>(15 - i as u64);
            }
        }
        self.stage.free.next = self.unused.q.val().any();
        self.stage.free_buffer.next = lowest;
        always!(a_claimed_buffer_is_free, !self.stage.claim.val() || self.unused.q.val().any());
        always!(
            no_buffer_is_freed_twice,
            !self.stage.discard.val()
                || !self.unused.q.val().get_bit(self.stage.discard_buffer.val().index())
        );
        let mut mask = self.unused.q.val();
        let mut dropped_after = self.dropped.q.val();
        if self.stage.claim.val() {
            mask = mask.replace_bit(lowest.index(), false);
            dropped_after = dropped_after.replace_bit(lowest.index(), false);
        }
        if self.stage.discard.val() {
            mask = mask.replace_bit(self.stage.discard_buffer.val().index(), true);
        }
        if skips {
            mask = mask.replace_bit(first.buffer.index(), true);
        }
        if takes {
            mask = mask.replace_bit(hart_buffer.index(), true);
        }
        if self.stage.drop.val() {
            dropped_after = dropped_after.replace_bit(self.stage.drop_buffer.val().index(), true);
        }
        self.unused.d.next = mask;
        self.dropped.d.next = dropped_after;

        // Commands of harts
        for h in 0..self._harts {
            if takes && (hart_number == self.number[h].val()) {
                self.own[h].d.next = first.buffer;
            }
        }
        self.commands.write_enable.next = takes;
        self.commands.write_address.next = hart_number;
        self.commands.write_data.next = first;
        self.commands.read_address.next = hart_number;
        self.lost_commands.write_enable.next = takes;
        self.lost_commands.write_address.next = hart_number;
        self.lost_commands.write_data.next = first;
        let mut leaving = bits::<3>(0);
        for i in 0..8 {
            if self.lost.q.val().get_bit(7 - i) {
                leaving = bits::<3>(7 - i as u64);
            }
        }
        self.lost_commands.read_address.next = leaving;
        let is_off = self.dropped.q.val().get_bit(hart_buffer.index());
        self.has.next = self.taken.q.val().get_bit(hart_number.index())
            && !self.lost.q.val().get_bit(hart_number.index())
            && !is_off;
        self.command.next = self.commands.read_data.val();
        self.loses.next = self.lost.q.val().get_bit(hart_number.index());

        // Events: what is given back goes first.
        let gives_back = self.lost.q.val().any();
        self.stage.event_valid.next = gives_back || self.event_valid.val();
        self.stage.event.next = self.event.val();
        if gives_back {
            self.stage.event.next.kind = bits::<3>(event::GIVE_BACK);
            self.stage.event.next.queue = self.lost_commands.read_data.val().queue;
            self.stage.event.next.buffer = self.lost_commands.read_data.val().buffer;
        }
        self.event_ready.next = self.stage.event_ready.val() && !gives_back;
        let given = gives_back && self.stage.event_ready.val();
        let mut lost_after = self.lost.q.val();
        let mut with = self.taken.q.val();
        if given {
            lost_after = lost_after.replace_bit(leaving.index(), false);
            with = with.replace_bit(leaving.index(), false);
        }
        if self.finish.val() {
            with = with.replace_bit(hart_number.index(), false);
        }
        if takes {
            with = with.replace_bit(hart_number.index(), true);
        }
        let mut leaves = self.hold.val();
        if self.lose.val() {
            leaves = leaves | (bits::<8>(1) << hart_number);
        }
        self.lost.d.next = lost_after | (leaves & with);
        self.taken.d.next = with;
    }
}
