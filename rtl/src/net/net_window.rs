//! The network interface as the harts of the command processor see it.

use super::{code, PLACES};
use crate::ports::{RegisterAccess, WindowPosts, WindowSelect};
use crate::prelude::*;

/// Byte offsets in the window, which begins at 0xffff_c000.
pub mod window {
    /// A write posts.
    pub const POST: u64 = 0x004;
    /// What became of the hart's own commands.
    pub const OWN_STATUS: u64 = 0x01c;
    /// The same of the commands of context 0, those of contexts 1 to 3 behind it.
    pub const OWN_CONTEXT: u64 = 0x020;
    /// The first of the sixteen words of the hart's buffer.
    pub const BUFFER: u64 = 0x040;
    /// Behind the buffer.
    pub const END: u64 = 0x080;
    /// Kind of a POST: the command in the buffer.
    pub const KIND_OWN: u64 = 1;
}

/// The window of the command processor at the network interface (docs/network.md): each hart has a buffer of sixteen words, and posts the command that is in it.
///
/// 1. It stands between the command processor and the registers: an access without `of_window` passes in the same cycle. An access stands until
///    `done`; one that is withdrawn before has no effect.
/// 2. Accesses are done in their first cycle, but for a POST, which waits for `posts.ready`, and one that finds `posts.completed` high where that changes what it reads or
///    writes. `known` is low for what is not there.
/// 3. A POST of kind 1 offers the command of the hart's buffer, with the context in its word 0; if eight commands of the hart are under way it is not taken, which OWN_STATUS tells.
///    For a queue pair that is not there, or while `posts.enable` is low, it fails at once with 0x88. A POST of another kind is an error with code 0x80, of no context, and has no other effect.
/// 4. `posts.completed` tells of a command that is complete; those of other owners than harts are not looked at. Hold and reset of a hart change nothing
///    here: what was taken is counted until it is complete.
#[derive(Clone, Debug, LogicBlock)]
#[new(harts: usize)]
pub struct NetWindow {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// From the command processor.
    pub access: RegisterAccess,
    /// From the command processor.
    pub select: WindowSelect,
    /// To the registers of the array.
    pub registers: Flipped<RegisterAccess>,
    /// To the network interface.
    pub posts: Flipped<WindowPosts>,
    /// Word n of the buffer of each hart.
    #[count(16)]
    buffer: Vec<RamAsync<Bits<32>, 3>>,
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
    #[init(harts)]
    _harts: usize,
}

impl NetWindow {
    /// The window of `harts` harts.
    ///
    /// # Panics
    /// If `harts` is not 1 to 8.
    pub fn new(harts: usize) -> Self {
        assert!((1..=8).contains(&harts), "NetWindow: {harts} harts, expected 1 to 8");
        Self::wired(harts)
    }
}

impl Logic for NetWindow {
    #[hdl_gen]
    fn update(&mut self) {
        let hart = self.select.hart.val();
        let here = self.access.valid.val() && self.select.of_window.val();
        let address = self.access.address.val();
        let data = self.access.data.val();
        let writes = self.access.write.val();
        let in_buffer = !address.get_bits::<5>(7).any() && address.get_bit(6);
        let at_context = address.get_bits::<8>(4) == bits::<8>(window::OWN_CONTEXT >> 4);
        let at_status = address == bits::<12>(window::OWN_STATUS);
        let at_post = address == bits::<12>(window::POST);
        let is_known = in_buffer || (writes && at_post) || (!writes && (at_context || at_status));

        // What is complete
        let owner = self.posts.owner.val();
        let ends = self.posts.completed.val() && !owner.get_bits::<6>(4).any() && owner.any();
        let ended_hart = (owner - bits::<10>(1)).get_bits::<3>(0);
        let ended_row = (bit_cast::<5, 3>(ended_hart) << 2) | bit_cast::<5, 2>(self.posts.context.val());

        // The buffer
        let mut word = bits::<32>(0);
        for i in 0..16 {
            let at_word = address.get_bits::<4>(2) == bits::<4>(i as u64);
            self.buffer[i].write_enable.next = here && writes && in_buffer && at_word;
            self.buffer[i].write_address.next = hart;
            self.buffer[i].write_data.next = data;
            self.buffer[i].read_address.next = hart;
            if at_word {
                word = self.buffer[i].read_data.val();
            }
        }
        let mut command = bits::<256>(0);
        for i in 0..8 {
            command =
                command | (bit_cast::<256, 32>(self.buffer[i].read_data.val()) << bits::<9>(32 * i as u64));
        }
        let context = command.get_bits::<2>(12);

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
        let writes_post = here && writes && at_post;
        let is_own = data.get_bits::<4>(12) == bits::<4>(window::KIND_OWN);
        let nowhere = data.get_bits::<4>(4).any() || !self.posts.enable.val();
        let has_room = count < bits::<4>(PLACES);
        let offers = writes_post && is_own && !nowhere && has_room;
        let refused = writes_post && is_own && !nowhere && !has_room;
        let fails = writes_post && (!is_own || nowhere);
        let taken = offers && self.posts.ready.val();
        self.posts.valid.next = offers;
        self.posts.command.next.words = command;
        self.posts.command.next.pair = data.get_bits::<4>(0);
        self.posts.command.next.region = data.get_bits::<4>(8);
        self.posts.command.next.domain = data.get_bits::<4>(24);
        self.posts.command.next.owner = bit_cast::<10, 3>(hart) + bits::<10>(1);
        self.posts.command.next.context = context;

        // One completion at a time: that of a command goes first.
        let waits = ends && (fails || (here && at_context));
        let failed = fails && !ends;
        let records = ends || (failed && is_own);
        let mut row = (bit_cast::<5, 3>(hart) << 2) | bit_cast::<5, 2>(address.get_bits::<2>(2));
        let mut its_code = bits::<8>(code::DOWN);
        if writes_post {
            row = (bit_cast::<5, 3>(hart) << 2) | bit_cast::<5, 2>(context);
            if !is_own {
                its_code = bits::<8>(code::OPERATION);
            }
        }
        if ends {
            row = ended_row;
            its_code = self.posts.code.val();
        }
        self.rows.read_address.next = row;
        let mut kept = bits::<16>(0);
        if self.known_rows.q.val().get_bit(row.index()) {
            kept = self.rows.read_data.val();
        }
        self.rows.write_enable.next = records;
        self.rows.write_address.next = row;
        self.rows.write_data.next =
            bit_cast::<16, 8>(its_code) | (bit_cast::<16, 8>(kept.get_bits::<8>(8) + bits::<8>(1)) << 8);
        if records {
            self.known_rows.d.next = self.known_rows.q.val().replace_bit(row.index(), true);
        }
        if taken || refused {
            self.no_room.d.next = self.no_room.q.val().replace_bit(hart.index(), refused);
        }
        let mut of_hart = hart;
        if ends {
            of_hart = ended_hart;
        }
        let is_error = (ends && (its_code != bits::<8>(code::DONE))) || failed;
        for h in 0..self._harts {
            let begins = taken && (hart == self.number[h].val());
            let finishes = ends && (ended_hart == self.number[h].val());
            if begins && !finishes {
                self.under_way[h].d.next = self.under_way[h].q.val() + bits::<4>(1);
            }
            if finishes && !begins {
                self.under_way[h].d.next = self.under_way[h].q.val() - bits::<4>(1);
            }
            if is_error && (of_hart == self.number[h].val()) {
                self.last_code[h].d.next = its_code;
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
        if self.select.of_window.val() {
            self.access.done.next = here && !waits && (!offers || self.posts.ready.val());
            self.access.known.next = is_known;
            self.access.value.next = word;
            if at_status {
                self.access.value.next = status;
            }
            if at_context {
                self.access.value.next = bit_cast::<32, 16>(kept);
            }
        }
    }
}

#[cfg(test)]
#[path = "net_window_tests.rs"]
mod tests;
