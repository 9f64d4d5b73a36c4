//! The table of the queue pairs.

use super::RequestRow;
use crate::host::registers::network::TableAccess;
use crate::types::net_table;
use hermes_hdl::prelude::*;

/// Words of a row of the table.
pub mod word {
    /// Bits 3:0: its state, as in [`state`](super::state), which is not written. Bits 15:12: its
    /// domain; bits 18:16: the MTU, as verbs number it: 1 for 256 bytes to 5 for 4,096, else as 1;
    /// bits 28:24: READs and atomic operations that the peer takes at once, 16 if it is 0 or more.
    pub const STATE: u64 = 0;
    /// The peer's queue pair, 24 bits.
    pub const REMOTE: u64 = 1;
    /// The peer's MAC, bits 31:0.
    pub const MAC_LOW: u64 = 2;
    /// The peer's MAC, bits 47:32.
    pub const MAC_HIGH: u64 = 3;
    /// The peer's IPv4 address.
    pub const IP: u64 = 4;
    /// Key of the peer's region.
    pub const KEY: u64 = 5;
    /// Where the symmetric window begins here.
    pub const WINDOW_BASE: u64 = 6;
    /// Bytes of the window.
    pub const WINDOW_BYTES: u64 = 7;
    /// Where it begins at the peer, bits 31:0.
    pub const BASE_LOW: u64 = 8;
    /// Where it begins at the peer, bits 63:32.
    pub const BASE_HIGH: u64 = 9;
    /// Packet sequence number of the first packet that is sent.
    pub const SEND: u64 = 10;
    /// Packet sequence number of the packet that is expected.
    pub const EXPECT: u64 = 11;
    /// The oldest packet that is not acknowledged; this and the words behind it are not written.
    pub const OLDEST: u64 = 12;
    /// Behind the highest packet that was ever sent.
    pub const TOP: u64 = 13;
    /// Commands that are under way.
    pub const ENTRIES: u64 = 14;
    /// Time-outs since the oldest packet moved.
    pub const RETRIES: u64 = 15;
}

const _: () = assert!(word::OLDEST == net_table::PAIR_WORDS_WRITTEN);

/// MTU of 4,096 bytes, the largest one, as verbs number it.
const MTU_4096: u64 = 5;

/// What holds where a row does not say it.
mod default {
    /// Logarithm of the bytes of the MTU.
    pub const MTU_LOG2: u64 = 8;
    /// READs and atomic operations that the peer takes at once.
    pub const DEPTH: u64 = 16;
}

/// States of a queue pair, for QP_COMMAND.
pub mod state {
    /// It takes and sends nothing, and its row may be written.
    pub const RESET: u64 = 0;
    /// It works.
    pub const UP: u64 = 1;
    /// It takes nothing, and has a NAK to send behind which it goes to ERROR.
    pub const CLOSING: u64 = 2;
    /// It takes and sends nothing; its commands end.
    pub const ERROR: u64 = 3;
}

/// What the sender needs of a queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct SendPair {
    /// The queue pair is up.
    pub up: Bit,
    /// Domain of the queue pair.
    pub domain: Bits<4>,
    /// Logarithm of the bytes of the MTU: 8 to 12.
    pub mtu: Bits<4>,
    /// The peer's queue pair.
    pub remote: Bits<24>,
    /// The peer's MAC.
    pub mac: Bits<48>,
    /// The peer's IPv4 address.
    pub ip: Bits<32>,
    /// Key of the peer's region.
    pub key: Bits<32>,
    /// Address here where the symmetric window begins.
    pub window: Bits<32>,
    /// Bytes of the window.
    pub bytes: Bits<32>,
    /// Address at the peer where the symmetric window begins.
    pub base: Bits<64>,
    /// Packet sequence number of the first packet.
    pub sequence: Bits<24>,
    /// READs and atomic operations that the peer takes at once, 1 to 16.
    pub depth: Bits<5>,
}

/// What the receiver needs of a queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct ReceivePair {
    /// The queue pair is up.
    pub up: Bit,
    /// Domain of the queue pair.
    pub domain: Bits<4>,
    /// Logarithm of the bytes of the MTU: 8 to 12.
    pub mtu: Bits<4>,
    /// The peer's IPv4 address.
    pub ip: Bits<32>,
    /// Packet sequence number of the packet that is expected.
    pub expected: Bits<24>,
}

/// The queue pairs: 16 rows of words, and their states.
///
/// 1. The host writes words of a row (`table.write`) while its queue pair is in RESET; else the
///    write has no effect, and `refused` is high in its cycle. It reads them (`table.read`) at any
///    time: `answer` is the word from the next cycle on. With `waits` the access is not done in
///    this cycle, and comes again: a sequence number of another queue pair is being counted, or the
///    sender or the receiver reads.
/// 2. `set_state` takes a queue pair from RESET to UP (`opens`), from UP or CLOSING to ERROR, and
///    from ERROR to RESET when it is neither `listed` nor `held`: it has no command, and no frame
///    that came, left. Other changes are refused (`state_refused`, in the same cycle). `fails`
///    takes one that is up to ERROR, `closes` one that is up to CLOSING, and `closed` one from
///    there to ERROR.
/// 3. `send` answers `send_pair` in the same cycle while `sends` is high; `receive` answers
///    `receive_pair` while `receives` is.
/// 4. `received`: the next packet that is expected of `receive_pair` is `next_expected`.
#[clocked("no queue pair is up")]
#[derive(Clone, LogicBlock)]
pub struct QueuePairs {
    /// Words of the table, from the host.
    pub table: TableAccess,
    /// From the host: a queue pair is to change its state.
    pub set_state: Signal<In, Bit>,
    /// Queue pair that is to change its state.
    pub state_pair: Signal<In, Bits<4>>,
    /// The new state, as in [`state`].
    pub new_state: Signal<In, Bits<4>>,
    /// The queue pair keeps its state.
    pub state_refused: Signal<Out, Bit>,
    /// The queue pair goes up.
    pub opens: Signal<Out, Bit>,
    /// A queue pair fails.
    pub fails: Signal<In, Bit>,
    /// Queue pair that fails.
    pub fails_pair: Signal<In, Bits<4>>,
    /// A queue pair takes nothing any more.
    pub closes: Signal<In, Bit>,
    /// Queue pair that takes nothing any more.
    pub closes_pair: Signal<In, Bits<4>>,
    /// The last NAK of a queue pair was sent.
    pub closed: Signal<In, Bit>,
    /// Queue pair whose last NAK was sent.
    pub closed_pair: Signal<In, Bits<4>>,
    /// Queue pairs that have commands.
    pub listed: Signal<In, Bits<16>>,
    /// Queue pairs of which a frame that came is under way to memory, or without its answer.
    pub held: Signal<In, Bits<16>>,
    /// Queue pairs that are up.
    pub ups: Signal<Out, Bits<16>>,
    /// Queue pairs that are up or closing.
    pub answers: Signal<Out, Bits<16>>,
    /// Queue pairs in ERROR.
    pub errors: Signal<Out, Bits<16>>,
    /// Queue pairs that go to ERROR in this cycle.
    pub downs: Signal<Out, Bits<16>>,
    /// The sender reads.
    pub sends: Signal<In, Bit>,
    /// The sender's queue pair.
    pub send_pair: Signal<In, Bits<4>>,
    /// Row of the sender's queue pair.
    pub send: Signal<Out, SendPair>,
    /// The receiver reads.
    pub receives: Signal<In, Bit>,
    /// The receiver's queue pair.
    pub receive_pair: Signal<In, Bits<4>>,
    /// Row of the receiver's queue pair.
    pub receive: Signal<Out, ReceivePair>,
    /// The packet that is expected came.
    pub received: Signal<In, Bit>,
    /// The packet that is expected now.
    pub next_expected: Signal<In, Bits<24>>,
    /// The requester's row of the queue pair of `table.pair`.
    pub shown: Signal<In, RequestRow>,
    /// The requester's row cannot be shown in this cycle.
    pub show_waits: Signal<In, Bit>,
    up: Register<Bits<16>>,
    closing: Register<Bits<16>>,
    error: Register<Bits<16>>,
    /// Word 0 but for the state, for the sender and for the receiver.
    settings: RamAsync<Bits<32>, 4>,
    settings_copy: RamAsync<Bits<32>, 4>,
    /// Words 1 to 9, for the sender.
    #[count(9)]
    words: Vec<RamAsync<Bits<32>, 4>>,
    /// Word 4, for the receiver.
    ips: RamAsync<Bits<32>, 4>,
    sequences: RamAsync<Bits<24>, 4>,
    expects: RamAsync<Bits<24>, 4>,
    answer: Register<Bits<32>>,
}

impl Logic for QueuePairs {
    #[hdl_gen]
    fn update(&mut self) {
        let row = self.table.pair.val();
        let column = self.table.word.val();
        let at_word = bits::<16>(1) << column;
        let is_up = self.up.q.val().get_bit(row.index());
        let is_error = self.error.q.val().get_bit(row.index());
        let is_closing = self.closing.q.val().get_bit(row.index());
        let writes = self.table.write.val() && !is_up && !is_error && !is_closing;
        self.table.refused.next = self.table.write.val() && !writes;

        // States
        always!(
            a_queue_pair_has_one_state,
            !((self.up.q.val() & (self.closing.q.val() | self.error.q.val()))
                | (self.closing.q.val() & self.error.q.val()))
            .any()
        );
        let is_at_work = self.up.q.val().get_bit(self.state_pair.val().index());
        let is_down = self.error.q.val().get_bit(self.state_pair.val().index());
        let is_ending = self.closing.q.val().get_bit(self.state_pair.val().index());
        let is_free = !(self.listed.val() | self.held.val()).get_bit(self.state_pair.val().index());
        let raises = self.set_state.val()
            && (self.new_state.val() == bits::<4>(state::UP))
            && !is_at_work
            && !is_down
            && !is_ending;
        let resets = self.set_state.val()
            && (self.new_state.val() == bits::<4>(state::RESET))
            && !is_at_work
            && !is_ending
            && (!is_down || is_free);
        let lowers = self.set_state.val()
            && (self.new_state.val() == bits::<4>(state::ERROR))
            && (is_at_work || is_ending);
        self.state_refused.next = self.set_state.val() && !raises && !resets && !lowers;
        self.opens.next = raises;
        let mut falls = bits::<16>(0);
        if self.fails.val() {
            falls = bits::<16>(1) << self.fails_pair.val();
        }
        if lowers {
            falls = falls.replace_bit(self.state_pair.val().index(), true);
        }
        if self.closed.val() {
            falls = falls.replace_bit(self.closed_pair.val().index(), true);
        }
        falls = falls & (self.up.q.val() | self.closing.q.val());
        let mut ends = bits::<16>(0);
        if self.closes.val() {
            ends = (bits::<16>(1) << self.closes_pair.val()) & self.up.q.val() & !falls;
        }
        self.closing.d.next = (self.closing.q.val() | ends) & !falls;
        let mut at_work = self.up.q.val() & !falls & !ends;
        let mut failed = self.error.q.val() | falls;
        if raises {
            at_work = at_work.replace_bit(self.state_pair.val().index(), true);
        }
        if resets {
            failed = failed.replace_bit(self.state_pair.val().index(), false);
        }
        self.up.d.next = at_work;
        self.error.d.next = failed;
        self.ups.next = self.up.q.val();
        self.answers.next = self.up.q.val() | self.closing.q.val();
        self.errors.next = self.error.q.val();
        self.downs.next = falls;

        // Who reads: sender and receiver go first.
        let mut sender_row = row;
        if self.sends.val() {
            sender_row = self.send_pair.val();
        }
        let mut receiver_row = row;
        if self.receives.val() {
            receiver_row = self.receive_pair.val();
        }

        // Word 0
        self.settings.write_enable.next = writes && !column.any();
        self.settings.write_address.next = row;
        self.settings.write_data.next = self.table.value.val();
        self.settings.read_address.next = sender_row;
        self.settings_copy.write_enable.next = writes && !column.any();
        self.settings_copy.write_address.next = row;
        self.settings_copy.write_data.next = self.table.value.val();
        self.settings_copy.read_address.next = receiver_row;
        let set = self.settings.read_data.val();
        let set_copy = self.settings_copy.read_data.val();
        self.send.next.domain = set.get_bits::<4>(12);
        self.send.next.mtu = bits::<4>(default::MTU_LOG2);
        if set.get_bits::<3>(16).any() && (set.get_bits::<3>(16) <= bits::<3>(MTU_4096)) {
            self.send.next.mtu = bits::<4>(default::MTU_LOG2 - 1) + bit_cast::<4, 3>(set.get_bits::<3>(16));
        }
        self.send.next.depth = bits::<5>(default::DEPTH);
        if set.get_bits::<4>(24).any() && !set.get_bit(28) {
            self.send.next.depth = bit_cast::<5, 4>(set.get_bits::<4>(24));
        }
        self.receive.next.domain = set_copy.get_bits::<4>(12);
        self.receive.next.mtu = bits::<4>(default::MTU_LOG2);
        if set_copy.get_bits::<3>(16).any() && (set_copy.get_bits::<3>(16) <= bits::<3>(MTU_4096)) {
            self.receive.next.mtu =
                bits::<4>(default::MTU_LOG2 - 1) + bit_cast::<4, 3>(set_copy.get_bits::<3>(16));
        }

        // The sender's words
        let mut found = bits::<32>(0);
        for i in 0..9 {
            self.words[i].write_enable.next = writes && at_word.get_bit(i + 1);
            self.words[i].write_address.next = row;
            self.words[i].write_data.next = self.table.value.val();
            self.words[i].read_address.next = sender_row;
            if at_word.get_bit(i + 1) {
                found = self.words[i].read_data.val();
            }
        }
        self.send.next.up = self.up.q.val().get_bit(self.send_pair.val().index());
        self.send.next.remote = self.words[0].read_data.val().get_bits::<24>(0);
        self.send.next.mac = bit_cast::<48, 32>(self.words[1].read_data.val())
            | (bit_cast::<48, 16>(self.words[2].read_data.val().get_bits::<16>(0)) << 32);
        self.send.next.ip = self.words[3].read_data.val();
        self.send.next.key = self.words[4].read_data.val();
        self.send.next.window = self.words[5].read_data.val();
        self.send.next.bytes = self.words[6].read_data.val();
        self.send.next.base = bit_cast::<64, 32>(self.words[7].read_data.val())
            | (bit_cast::<64, 32>(self.words[8].read_data.val()) << 32);

        // Sequence numbers: written by the host in RESET, that of the receiver counted while its
        // queue pair is up. A count goes first, since it cannot wait.
        self.sequences.read_address.next = sender_row;
        self.send.next.sequence = self.sequences.read_data.val();
        self.sequences.write_enable.next = writes && (column == bits::<4>(word::SEND));
        self.sequences.write_address.next = row;
        self.sequences.write_data.next = self.table.value.val().get_bits::<24>(0);
        let sets_expected = writes && (column == bits::<4>(word::EXPECT));
        self.expects.read_address.next = receiver_row;
        self.receive.next.expected = self.expects.read_data.val();
        self.expects.write_enable.next = self.received.val() || sets_expected;
        self.expects.write_address.next = row;
        self.expects.write_data.next = self.table.value.val().get_bits::<24>(0);
        if self.received.val() {
            self.expects.write_address.next = self.receive_pair.val();
            self.expects.write_data.next = self.next_expected.val();
        }
        if !column.any() {
            found =
                ((set >> 12) << 12).replace_bit(0, is_up || is_error).replace_bit(1, is_error || is_closing);
        }
        if column == bits::<4>(word::SEND) {
            found = bit_cast::<32, 24>(self.sequences.read_data.val());
        }
        if column == bits::<4>(word::EXPECT) {
            found = bit_cast::<32, 24>(self.expects.read_data.val());
        }
        if column == bits::<4>(word::OLDEST) {
            found = bit_cast::<32, 24>(self.shown.val().oldest);
        }
        if column == bits::<4>(word::TOP) {
            found = bit_cast::<32, 24>(self.shown.val().top);
        }
        if column == bits::<4>(word::ENTRIES) {
            found = bit_cast::<32, 13>(self.shown.val().entries);
        }
        if column == bits::<4>(word::RETRIES) {
            found = bit_cast::<32, 4>(self.shown.val().retries);
        }
        let reads =
            self.table.read.val() && !self.sends.val() && !self.receives.val() && !self.show_waits.val();
        self.table.waits.next = (self.table.read.val() && !reads) || (sets_expected && self.received.val());
        if reads {
            self.answer.d.next = found;
        }
        self.table.answer.next = self.answer.q.val();

        self.ips.write_enable.next = writes && (column == bits::<4>(word::IP));
        self.ips.write_address.next = row;
        self.ips.write_data.next = self.table.value.val();
        self.ips.read_address.next = receiver_row;
        self.receive.next.ip = self.ips.read_data.val();
        self.receive.next.up = self.up.q.val().get_bit(self.receive_pair.val().index());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use crate::types::QUEUE_PAIRS;
    use rand::Rng;

    /// Rows as a model: words, and their states.
    #[test]
    fn keeps_rows_and_counts() {
        let mut rng = random("queue_pairs");
        let mut uut = QueuePairs::default();
        reset!(uut);
        let mut rows = [[None::<u32>; 12]; QUEUE_PAIRS];
        let mut states = [state::RESET; QUEUE_PAIRS];
        let (mut refused, mut waited, mut counted, mut changes) = (0, 0, 0, [0; 4]);
        let mut answer = None;
        for cycle in 0..30_000 {
            let number = |rng: &mut rand_chacha::ChaCha8Rng| rng.gen_range(0..QUEUE_PAIRS);
            let (row, word, value) = (number(&mut rng), rng.gen_range(0..16usize), rng.gen::<u32>());
            let (pair, new_state) = (number(&mut rng), [0, 1, 1, 2, 3][rng.gen_range(0..5)]);
            let (sender, receiver, failing) = (number(&mut rng), number(&mut rng), number(&mut rng));
            let (listed, held) = (rng.gen::<u16>() & rng.gen::<u16>(), rng.gen::<u16>() & rng.gen::<u16>());
            let write = word < 12 && rng.gen_bool(0.6);
            // A queue pair goes up when all of its words were written.
            let known = (0..12).all(|word| rows[pair][word].is_some());
            let set = rng.gen_bool(0.2) && (new_state != state::UP || known);
            let fails = states[failing] == state::UP && rng.gen_bool(0.02);
            let received = states[receiver] == state::UP && rng.gen_bool(0.5);
            let next_expected = rng.gen::<u32>() & 0xff_ffff;
            let closing = number(&mut rng);
            let closes = states[closing] == state::UP && closing != failing && rng.gen_bool(0.1);
            let closed = states[closing] == state::CLOSING && rng.gen_bool(0.1);
            let show_waits = rng.gen_bool(0.2);
            let (sends, receives) = (rng.gen_bool(0.5), received || rng.gen_bool(0.5));
            let read = !write && rng.gen_bool(0.5);
            uut.sends.next = sends;
            uut.receives.next = receives;
            uut.table.read.next = read;
            uut.table.write.next = write;
            uut.table.pair.next = (row as u64).into();
            uut.table.word.next = (word as u64).into();
            uut.table.value.next = u64::from(value).into();
            uut.set_state.next = set;
            uut.state_pair.next = (pair as u64).into();
            uut.new_state.next = new_state.into();
            uut.fails.next = fails;
            uut.fails_pair.next = (failing as u64).into();
            uut.listed.next = u64::from(listed).into();
            uut.held.next = u64::from(held).into();
            uut.send_pair.next = (sender as u64).into();
            uut.receive_pair.next = (receiver as u64).into();
            uut.received.next = received;
            uut.next_expected.next = u64::from(next_expected).into();
            uut.closes.next = closes;
            uut.closes_pair.next = (closing as u64).into();
            uut.closed.next = closed;
            uut.closed_pair.next = (closing as u64).into();
            uut.show_waits.next = show_waits;
            uut.shown.next = RequestRow {
                oldest: 0x11_1111.into(),
                top: 0x22_2222.into(),
                entries: 7.into(),
                retries: 6.into(),
                ..Default::default()
            };
            settle(&mut uut);
            let send = uut.send.val();
            let words = [
                (1, send.remote.to_u64(), 0xff_ffff),
                (2, send.mac.to_u64() & 0xffff_ffff, u32::MAX),
                (3, send.mac.to_u64() >> 32, 0xffff),
                (4, send.ip.to_u64(), u32::MAX),
                (5, send.key.to_u64(), u32::MAX),
                (6, send.window.to_u64(), u32::MAX),
                (7, send.bytes.to_u64(), u32::MAX),
                (8, send.base.to_u64() & 0xffff_ffff, u32::MAX),
                (9, send.base.to_u64() >> 32, u32::MAX),
                (10, send.sequence.to_u64(), 0xff_ffff),
            ];
            for (word, got, mask) in words.into_iter().filter(|_| sends) {
                if let Some(expected) = rows[sender][word] {
                    assert_eq!(got, u64::from(expected & mask), "cycle {cycle}: word {word}");
                }
            }
            if sends {
                assert_eq!(send.up, states[sender] == state::UP);
            }
            let receive = uut.receive.val();
            if let (true, Some(ip), Some(expected)) = (receives, rows[receiver][4], rows[receiver][11]) {
                assert_eq!(receive.ip.to_u64(), u64::from(ip));
                assert_eq!(receive.expected.to_u64(), u64::from(expected & 0xff_ffff), "cycle {cycle}");
            }
            for (looks, pair, domain, mtu) in
                [(sends, sender, send.domain, send.mtu), (receives, receiver, receive.domain, receive.mtu)]
            {
                if let (true, Some(set)) = (looks, rows[pair][0]) {
                    assert_eq!(domain.to_u64(), u64::from(set >> 12 & 15));
                    let code = match set >> 16 & 7 {
                        code @ 1..=5 => code,
                        _ => 1,
                    };
                    assert_eq!(mtu.to_u64(), u64::from(7 + code));
                    let depth = match set >> 24 & 31 {
                        depth @ 1..=15 => depth,
                        _ => 16,
                    };
                    if pair == sender && sends {
                        assert_eq!(send.depth.to_u64(), u64::from(depth));
                    }
                }
            }
            if receives {
                assert_eq!(receive.up, states[receiver] == state::UP);
            }
            let writable = states[row] == state::RESET;
            assert_eq!(uut.table.refused.val(), write && !writable);
            let waits =
                write && writable && word == 11 && received || read && (sends || receives || show_waits);
            assert_eq!(uut.table.waits.val(), waits);
            refused += usize::from(write && !writable);
            waited += usize::from(waits);
            counted += usize::from(received);
            if let Some(answer) = answer {
                assert_eq!(uut.table.answer.val().to_u64(), answer, "cycle {cycle}");
            }
            if read && !waits {
                let mask = if word >= 10 { 0xff_ffff } else { u32::MAX };
                let value = match word {
                    0 => rows[row][0].map(|set| set & !0xfff | states[row] as u32),
                    12.. => Some([0x11_1111, 0x22_2222, 7, 6][word - 12]),
                    _ => rows[row][word],
                };
                answer = value.map(|value| u64::from(value & mask));
            }
            let allowed = match (states[pair], new_state) {
                (state::RESET, state::UP | state::RESET) => true,
                (state::UP | state::CLOSING, state::ERROR) => true,
                (state::ERROR, state::RESET) => (listed | held) >> pair & 1 == 0,
                _ => false,
            };
            assert_eq!(uut.state_refused.val(), set && !allowed, "cycle {cycle}");
            assert_eq!(uut.opens.val(), set && allowed && new_state == state::UP);
            let mut downs = 0;
            if fails {
                downs |= 1 << failing;
            }
            if set && allowed && new_state == state::ERROR {
                downs |= 1 << pair;
            }
            if closed {
                downs |= 1 << closing;
            }
            assert_eq!(uut.downs.val().to_u64(), downs);
            if write && writable && !waits {
                rows[row][word] = Some(value);
            }
            if received {
                rows[receiver][11] = Some(next_expected);
            }
            if closes {
                states[closing] = state::CLOSING;
            }
            if closed {
                states[closing] = state::ERROR;
            }
            if set && allowed {
                states[pair] = new_state;
                changes[new_state as usize] += 1;
            }
            if fails {
                states[failing] = state::ERROR;
            }
            tick!(uut);
        }
        assert!(refused > 1_000 && waited > 100 && counted > 1_000, "{refused} {waited} {counted}");
        assert!(changes[0] > 50 && changes[1] > 50 && changes[3] > 50, "{changes:?}");
    }
}
