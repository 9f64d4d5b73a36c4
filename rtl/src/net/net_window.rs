//! The network interface as the harts of the command processor see it.

use super::{check_entries, code};
use crate::ports::{CommandStage, RegisterAccess, WindowPosts, WindowSelect};
use crate::queues::StageBuffers;
use crate::types::{event, QueueEvent};
use hermes_hdl::prelude::*;

/// Byte offsets in the window, which begins at 0xffff_c000.
pub mod window {
    /// A read takes the oldest command of the queues, and waits for one.
    pub const NEXT: u64 = 0x000;
    /// The same, but it does not wait.
    pub const NEXT_NOW: u64 = 0x00c;
    /// A write posts.
    pub const POST: u64 = 0x004;
    /// What became of the hart's own commands.
    pub const OWN_STATUS: u64 = 0x01c;
    /// The same of the commands of context 0, those of contexts 1 to 3 behind it.
    pub const OWN_CONTEXT: u64 = 0x020;
    /// Bits 11:4 of the offsets of all four contexts.
    pub const OWN_CONTEXTS: u64 = OWN_CONTEXT >> 4;
    /// The first of the sixteen words of the hart's buffer.
    pub const BUFFER: u64 = 0x040;
    /// Behind the buffer.
    pub const END: u64 = 0x080;
    /// Kind of a POST: the command that the hart took.
    pub const KIND_TAKEN: u64 = 0;
    /// The command in the buffer, as one of the hart's own.
    pub const KIND_OWN: u64 = 1;
    /// The command that the hart took ends with the code in bits 31:24.
    pub const KIND_END: u64 = 7;
}

/// The window of the command processor at the network interface (docs/network.md): each hart has a
/// buffer of sixteen words, takes commands of the queues into it, and posts them or its own.
///
/// 1. It stands between the command processor and the registers: an access without `of_window`
///    passes in the same cycle. An access stands until `done`; one that is withdrawn before has no
///    effect.
/// 2. Accesses are done in their first cycle, but for a POST, which waits for `posts.ready` and
///    until the last one was told to the queues, a write of the buffer while a line comes, and one
///    that finds `posts.completed` high where that changes what it reads or writes. `known` is low
///    for what is not there.
/// 3. NEXT gives the oldest command that is staged. If there is none and the hart is not to wake
///    (`select.wake`), `select.parks` is high instead of `done`: the command processor withdraws
///    the access, and repeats it when `select.here` is high. A command that the hart still has is
///    given back to its queue first.
/// 4. A POST of kind 0 offers the command that the hart took, in the domain of its queue; kind 7
///    ends it with a code. Without such a command, or if its queue was switched off, that is an
///    error of the hart with code 0x88, and has no other effect.
/// 5. A POST of kind 1 offers the command of the hart's buffer, with the context in its word 0; if
///    `entries` commands of the hart are under way it is not taken, which OWN_STATUS tells. A
///    command that the hart took stays.
/// 6. For a queue pair that is not there, or while `posts.enable` is low, a command fails at once
///    with 0x88. A POST of another kind is an error with code 0x80, of no context, and has no other
///    effect.
/// 7. `posts.completed` tells of a command that is complete; those of other owners than harts are
///    not looked at. What a hart posted is counted until it is complete, whatever becomes of the
///    hart; what it took is given back when it is held (`select.hold`).
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(harts: usize, rings_log2: usize, entries: usize)]
pub struct NetWindow {
    /// From the command processor.
    pub access: RegisterAccess,
    /// From the command processor.
    pub select: WindowSelect,
    /// To the registers of the array.
    pub registers: Flipped<RegisterAccess>,
    /// To the network interface.
    pub posts: Flipped<WindowPosts>,
    /// From the command queues.
    pub stage: Flipped<CommandStage>,
    #[init(StageBuffers::new(harts))]
    buffers: StageBuffers,
    /// The event in `told` is to be reported.
    tells: Register<Bit>,
    told: Register<QueueEvent>,
    /// Of each hart and context: commands that are complete, modulo 256, and the code of the last.
    rows: RamAsync<Bits<16>, 5>,
    /// Rows that were written since the reset.
    known_rows: Register<Bits<32>>,
    /// Harts whose last POST was not taken.
    no_room: Register<Bits<8>>,
    #[count(harts)]
    under_way: Vec<Register<Bits<4>>>,
    #[count(harts)]
    errors: Vec<Register<Bits<8>>>,
    #[count(harts)]
    last_code: Vec<Register<Bits<8>>>,
    #[init((0..harts as u64).map(|hart| Constant::new(hart.into())).collect())]
    number: Vec<Constant<Bits<3>>>,
    #[init(Constant::new((rings_log2 as u64).into()))]
    rings_log2: Constant<Bits<4>>,
    #[init(harts)]
    _harts: usize,
    #[init(Constant::new((entries as u64).into()))]
    entries: Constant<Bits<4>>,
}

impl NetWindow {
    /// The window of `harts` harts, for queue areas of `2^rings_log2` rings; a hart may have
    /// `entries` commands of its own under way.
    ///
    /// # Panics
    /// If `harts` is not 1 to 8, or `entries` not 1, 2, 4 or 8.
    pub fn new(harts: usize, rings_log2: usize, entries: usize) -> Self {
        assert!((1..=8).contains(&harts), "NetWindow: {harts} harts, expected 1 to 8");
        check_entries("NetWindow", entries);
        Self::wired(harts, rings_log2, entries)
    }
}

impl Logic for NetWindow {
    #[hdl_gen]
    fn update(&mut self) {
        let hart = self.select.hart.val();
        let in_window = self.access.valid.val() && self.select.of_window.val();
        let address = self.access.address.val();
        let data = self.access.data.val();
        let writes = self.access.write.val();
        let in_buffer = !address.get_bits::<5>(7).any() && address.get_bit(6);
        let at_context = address.get_bits::<8>(4) == bits::<8>(window::OWN_CONTEXTS);
        let at_status = address == bits::<12>(window::OWN_STATUS);
        let at_post = address == bits::<12>(window::POST);
        let at_next_now = address == bits::<12>(window::NEXT_NOW);
        let at_next = (address == bits::<12>(window::NEXT)) || at_next_now;
        let is_known = in_buffer || (writes && at_post) || (!writes && (at_context || at_status || at_next));

        // What is complete
        let owner = self.posts.owner.val();
        let ends = self.posts.completed.val() && !owner.get_bits::<6>(4).any() && owner.any();
        let ended_hart = (owner - bits::<10>(1)).get_bits::<3>(0);
        let ended_row = (bit_cast::<5, 3>(ended_hart) << 2) | bit_cast::<5, 2>(self.posts.context.val());

        // The buffer
        connect!(self.stage, self.buffers.stage);
        self.buffers.hart.next = hart;
        self.buffers.place.next = address.get_bits::<4>(2);
        let stores = in_window && writes && in_buffer;
        self.buffers.store.next = stores;
        self.buffers.data.next = data;
        self.buffers.hold.next = self.select.hold.val();
        let command = self.buffers.words.val();
        let context = command.get_bits::<2>(12);

        // NEXT
        let asks = in_window && !writes && at_next;
        let returns = asks && self.buffers.has.val();
        let is_returning = returns || (asks && self.buffers.loses.val());
        let gives = asks && !is_returning && self.buffers.here.val();
        let is_empty = asks && !is_returning && !self.buffers.here.val();
        let waits_for_one = is_empty && !at_next_now && !self.select.wake.val();
        let parks = waits_for_one && !self.stage.coming.val();
        self.buffers.lose.next = returns;
        self.buffers.take.next = gives;
        self.select.parks.next = parks;
        self.select.here.next = self.buffers.here.val();
        self.select.soon.next = self.stage.soon.val();
        let oldest = self.buffers.oldest.val();
        let is_special = oldest.operation.get_bit(6);
        let mut next_value = (bit_cast::<32, 4>(oldest.operation.get_bits::<4>(0)) << 25)
            | (bit_cast::<32, 8>(oldest.queue >> self.rings_log2.val()) << 8)
            | (bit_cast::<32, 6>(oldest.node) << 2);
        next_value = next_value.replace_bit(31, is_special).replace_bit(29, is_special);
        if is_empty {
            next_value = bits::<32>(0).replace_bit(31, true).replace_bit(30, true);
        }

        // POST
        let mut count = bits::<4>(0);
        let mut status = bits::<32>(0);
        for h in 0..self._harts {
            if hart == self.number[h].val() {
                count = self.under_way[h].q.val();
                status = bit_cast::<32, 8>(self.last_code[h].q.val())
                    | (bit_cast::<32, 8>(self.errors[h].q.val()) << 8)
                    | (bit_cast::<32, 4>(self.under_way[h].q.val()) << 16);
            }
        }
        status = status.replace_bit(31, self.no_room.q.val().get_bit(hart.index()));
        let writes_post = in_window && writes && at_post;
        let kind = data.get_bits::<4>(12);
        let is_own = kind == bits::<4>(window::KIND_OWN);
        let is_taken = kind == bits::<4>(window::KIND_TAKEN);
        let is_end = kind == bits::<4>(window::KIND_END);
        let nowhere = data.get_bits::<4>(4).any() || !self.posts.enable.val();
        let has_room = count < self.entries.val();
        let can_tell = !self.tells.q.val();
        let owns = writes_post && is_own;
        let offers_own = owns && !nowhere && has_room;
        let refused = owns && !nowhere && !has_room;
        let taken_command = self.buffers.command.val();
        let of_queue = writes_post && (is_taken || is_end);
        let concerns = of_queue && self.buffers.has.val();
        let offers_taken = concerns && is_taken && !nowhere && can_tell;
        let finishes_taken = concerns && (is_end || nowhere) && can_tell;
        let offers = offers_own || offers_taken;
        let fails = (owns && nowhere) || (of_queue && !concerns) || (writes_post && !is_own && !of_queue);
        let begins_own = offers_own && self.posts.ready.val();
        let begins_taken = offers_taken && self.posts.ready.val();
        self.posts.valid.next = offers;
        self.posts.command.next.words = command;
        self.posts.command.next.pair = data.get_bits::<4>(0);
        self.posts.command.next.region = data.get_bits::<4>(8);
        self.posts.command.next.domain = data.get_bits::<4>(24);
        self.posts.command.next.owner = bit_cast::<10, 3>(hart) + bits::<10>(1);
        self.posts.command.next.context = context;
        self.posts.command.next.index = taken_command.index;
        if is_taken {
            self.posts.command.next.domain = (taken_command.queue >> self.rings_log2.val()).get_bits::<4>(0);
            self.posts.command.next.owner = bit_cast::<10, 8>(taken_command.queue) + bits::<10>(16);
            self.posts.command.next.context = taken_command.context;
        }

        always!(what_is_told_is_taken_first, !(begins_taken || finishes_taken) || can_tell);

        // What is told to the queues
        self.buffers.finish.next = begins_taken || finishes_taken;
        self.buffers.event_valid.next = self.tells.q.val();
        self.buffers.event.next = self.told.q.val();
        if self.buffers.event_ready.val() {
            self.tells.d.next = false;
        }
        if begins_taken || finishes_taken {
            self.tells.d.next = true;
            self.told.d.next.kind = bits::<3>(event::TAKE);
            self.told.d.next.queue = taken_command.queue;
            self.told.d.next.buffer = taken_command.buffer;
            self.told.d.next.context = taken_command.context;
            self.told.d.next.code = bits::<8>(code::DOWN);
        }
        if finishes_taken {
            self.told.d.next.kind = bits::<3>(event::END);
        }
        if finishes_taken && is_end {
            self.told.d.next.code = data.get_bits::<8>(24);
        }

        // One completion at a time: that of a command goes first.
        let waits = ends && (fails || (in_window && at_context));
        let failed = fails && !ends;
        let records = ends || (failed && is_own);
        let mut row = (bit_cast::<5, 3>(hart) << 2) | bit_cast::<5, 2>(address.get_bits::<2>(2));
        let mut result_code = bits::<8>(code::DOWN);
        if writes_post {
            row = (bit_cast::<5, 3>(hart) << 2) | bit_cast::<5, 2>(context);
            if !is_own && !of_queue {
                result_code = bits::<8>(code::OPERATION);
            }
        }
        if ends {
            row = ended_row;
            result_code = self.posts.code.val();
        }
        self.rows.read_address.next = row;
        let mut kept_status = bits::<16>(0);
        if self.known_rows.q.val().get_bit(row.index()) {
            kept_status = self.rows.read_data.val();
        }
        self.rows.write_enable.next = records;
        self.rows.write_address.next = row;
        self.rows.write_data.next = bit_cast::<16, 8>(result_code)
            | (bit_cast::<16, 8>(kept_status.get_bits::<8>(8) + bits::<8>(1)) << 8);
        if records {
            self.known_rows.d.next = self.known_rows.q.val().replace_bit(row.index(), true);
        }
        if begins_own || refused {
            self.no_room.d.next = self.no_room.q.val().replace_bit(hart.index(), refused);
        }
        let mut of_hart = hart;
        if ends {
            of_hart = ended_hart;
        }
        let is_error = (ends && (result_code != bits::<8>(code::DONE))) || failed;
        for h in 0..self._harts {
            always!(commands_of_a_hart_do_not_wrap, self.under_way[h].q.val() <= self.entries.val());
            let begins = begins_own && (hart == self.number[h].val());
            let finishes = ends && (ended_hart == self.number[h].val());
            if begins && !finishes {
                self.under_way[h].d.next = self.under_way[h].q.val() + bits::<4>(1);
            }
            if finishes && !begins {
                self.under_way[h].d.next = self.under_way[h].q.val() - bits::<4>(1);
            }
            if is_error && (of_hart == self.number[h].val()) {
                self.last_code[h].d.next = result_code;
                self.errors[h].d.next = self.errors[h].q.val() + bits::<8>(1);
            }
        }

        // Answers, and what passes
        self.registers.valid.next = self.access.valid.val() && !self.select.of_window.val();
        self.registers.write.next = writes;
        self.registers.address.next = address;
        self.registers.data.next = data;
        self.access.done.next = self.registers.done.val();
        self.access.value.next = self.registers.value.val();
        self.access.known.next = self.registers.known.val();
        let stalls = (offers && !self.posts.ready.val())
            || (concerns && !can_tell)
            || (stores && self.buffers.stall.val())
            || is_returning
            || waits_for_one;
        if self.select.of_window.val() {
            self.access.done.next = in_window && !waits && !stalls;
            self.access.known.next = is_known;
            self.access.value.next = self.buffers.word.val();
            if at_status {
                self.access.value.next = status;
            }
            if at_context {
                self.access.value.next = bit_cast::<32, 16>(kept_status);
            }
            if at_next {
                self.access.value.next = next_value;
            }
        }
    }
}

#[cfg(test)]
#[path = "net_window_tests.rs"]
mod tests;
