//! The table of the queue pairs.

use crate::host::registers::network::PairAccess;
use crate::prelude::*;

/// Queue pairs that there are.
pub const QUEUE_PAIRS: usize = 16;

/// Words of a row of the table.
pub mod word {
    /// Bit 0: the queue pair is up. It is not written.
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
    /// Packet sequence number of the next packet that is sent.
    pub const SEND: u64 = 10;
    /// Packet sequence number of the packet that is expected.
    pub const EXPECT: u64 = 11;
}

/// What the sender needs of a queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct SendPair {
    /// It is up.
    pub up: Bit,
    /// The peer's queue pair.
    pub remote: Bits<24>,
    /// The peer's MAC.
    pub mac: Bits<48>,
    /// The peer's IPv4 address.
    pub ip: Bits<32>,
    /// Key of the peer's region.
    pub key: Bits<32>,
    /// Where the symmetric window begins here.
    pub window: Bits<32>,
    /// Bytes of the window.
    pub bytes: Bits<32>,
    /// Where it begins at the peer.
    pub base: Bits<64>,
    /// Packet sequence number of the next packet.
    pub sequence: Bits<24>,
}

/// The queue pairs: 16 rows of words, and which of them are up.
///
/// 1. The host writes words of a row (`table.write`) while its queue pair is not up; else the write has no effect, and `refused` is high in its cycle.
///    It reads them (`table.read`) at any time: `answer` is the word from the next cycle on. With `waits` the access is not done in this cycle,
///    and comes again: a sequence number of another queue pair is being counted, or the sender or the receiver reads.
/// 2. `set_state` with `up` takes a queue pair up, without it resets it.
/// 3. `send` answers `send_pair` in the same cycle while `sends` is high; `receive_up`, `receive_ip` and `expected` answer `receive_pair` while
///    `receives` is.
/// 4. `sent`: the next packet of `send_pair` has the next sequence number. `received` likewise for `receive_pair`. They come for a queue pair that is
///    up, or was up in the cycle before.
#[derive(Clone, Debug, LogicBlock)]
pub struct QueuePairs {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high: no queue pair is up.
    pub reset: Signal<In, Bit>,
    /// Words of the table, from the host.
    pub table: PairAccess,
    /// From the host: a queue pair changes its state.
    pub set_state: Signal<In, Bit>,
    /// Which one.
    pub state_pair: Signal<In, Bits<4>>,
    /// It goes up; else it is reset.
    pub up: Signal<In, Bit>,
    /// The sender reads.
    pub sends: Signal<In, Bit>,
    /// The sender's queue pair.
    pub send_pair: Signal<In, Bits<4>>,
    /// What it is.
    pub send: Signal<Out, SendPair>,
    /// A packet of it was sent.
    pub sent: Signal<In, Bit>,
    /// The receiver reads.
    pub receives: Signal<In, Bit>,
    /// The receiver's queue pair.
    pub receive_pair: Signal<In, Bits<4>>,
    /// It is up.
    pub receive_up: Signal<Out, Bit>,
    /// The peer's IPv4 address.
    pub receive_ip: Signal<Out, Bits<32>>,
    /// Packet sequence number of the packet that is expected.
    pub expected: Signal<Out, Bits<24>>,
    /// It came.
    pub received: Signal<In, Bit>,
    ups: Register<Bits<16>>,
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
        let is_up = self.ups.q.val().get_bit(row.index());
        let writes = self.table.write.val() && !is_up;
        self.table.refused.next = self.table.write.val() && is_up;
        if self.set_state.val() {
            self.ups.d.next = self.ups.q.val().replace_bit(self.state_pair.val().index(), self.up.val());
        }

        // Who reads: sender and receiver go first.
        let mut sender_row = row;
        if self.sends.val() {
            sender_row = self.send_pair.val();
        }
        let mut receiver_row = row;
        if self.receives.val() {
            receiver_row = self.receive_pair.val();
        }

        // The sender's words
        let mut found = bits::<32>(0);
        for i in 0..9 {
            self.words[i].write_enable.next = writes && (column == bits::<4>(i as u64 + 1));
            self.words[i].write_address.next = row;
            self.words[i].write_data.next = self.table.value.val();
            self.words[i].read_address.next = sender_row;
            if column == bits::<4>(i as u64 + 1) {
                found = self.words[i].read_data.val();
            }
        }
        self.send.next.up = self.ups.q.val().get_bit(self.send_pair.val().index());
        self.send.next.remote = self.words[0].read_data.val().get_bits::<24>(0);
        self.send.next.mac = bit_cast::<48, 32>(self.words[1].read_data.val())
            | (bit_cast::<48, 16>(self.words[2].read_data.val().get_bits::<16>(0)) << 32);
        self.send.next.ip = self.words[3].read_data.val();
        self.send.next.key = self.words[4].read_data.val();
        self.send.next.window = self.words[5].read_data.val();
        self.send.next.bytes = self.words[6].read_data.val();
        self.send.next.base = bit_cast::<64, 32>(self.words[7].read_data.val())
            | (bit_cast::<64, 32>(self.words[8].read_data.val()) << 32);

        // Sequence numbers: written by the host while the queue pair is not up, counted while it is. A count goes first, since it cannot wait.
        let sets_sent = writes && (column == bits::<4>(10));
        self.sequences.read_address.next = sender_row;
        self.send.next.sequence = self.sequences.read_data.val();
        self.sequences.write_enable.next = self.sent.val() || sets_sent;
        self.sequences.write_address.next = row;
        self.sequences.write_data.next = self.table.value.val().get_bits::<24>(0);
        if self.sent.val() {
            self.sequences.write_address.next = self.send_pair.val();
            self.sequences.write_data.next = self.sequences.read_data.val() + bits::<24>(1);
        }
        let sets_expected = writes && (column == bits::<4>(11));
        self.expects.read_address.next = receiver_row;
        self.expected.next = self.expects.read_data.val();
        self.expects.write_enable.next = self.received.val() || sets_expected;
        self.expects.write_address.next = row;
        self.expects.write_data.next = self.table.value.val().get_bits::<24>(0);
        if self.received.val() {
            self.expects.write_address.next = self.receive_pair.val();
            self.expects.write_data.next = self.expects.read_data.val() + bits::<24>(1);
        }
        if !column.any() {
            found = bits::<32>(0).replace_bit(0, is_up);
        }
        if column == bits::<4>(10) {
            found = bit_cast::<32, 24>(self.sequences.read_data.val());
        }
        if column == bits::<4>(11) {
            found = bit_cast::<32, 24>(self.expects.read_data.val());
        }
        let reads = self.table.read.val() && !self.sends.val() && !self.receives.val();
        self.table.waits.next = (self.table.read.val() && !reads)
            || (sets_sent && self.sent.val())
            || (sets_expected && self.received.val());
        if reads {
            self.answer.d.next = found;
        }
        self.table.answer.next = self.answer.q.val();

        self.ips.write_enable.next = writes && (column == bits::<4>(4));
        self.ips.write_address.next = row;
        self.ips.write_data.next = self.table.value.val();
        self.ips.read_address.next = receiver_row;
        self.receive_ip.next = self.ips.read_data.val();
        self.receive_up.next = self.ups.q.val().get_bit(self.receive_pair.val().index());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{random, reset, settle, tick};
    use rand::Rng;

    /// Rows as a model: words, and whether it is up.
    #[test]
    fn keeps_rows_and_counts() {
        let mut rng = random("queue_pairs");
        let mut uut = QueuePairs::default();
        reset!(uut);
        let mut rows = [[None::<u32>; 12]; QUEUE_PAIRS];
        let mut ups = [false; QUEUE_PAIRS];
        let (mut refused, mut waited, mut counted) = (0, 0, 0);
        let mut answer = None;
        for cycle in 0..20_000 {
            let number = |rng: &mut rand_chacha::ChaCha8Rng| rng.gen_range(0..QUEUE_PAIRS);
            let (row, word, value) = (number(&mut rng), rng.gen_range(0..12usize), rng.gen::<u32>());
            let (state, up) = (number(&mut rng), rng.gen_bool(0.5));
            let (sender, receiver) = (number(&mut rng), number(&mut rng));
            let known = |row: usize, word: usize| rows[row][word].is_some();
            let write = rng.gen_bool(0.6);
            // A queue pair goes up when all of its words were written.
            let set = rng.gen_bool(0.2) && (!up || (1..12).all(|word| known(state, word)));
            let sent = ups[sender] && rng.gen_bool(0.5);
            let received = ups[receiver] && rng.gen_bool(0.5);
            let (sends, receives) = (sent || rng.gen_bool(0.5), received || rng.gen_bool(0.5));
            let read = !write && rng.gen_bool(0.5);
            uut.sends.next = sends;
            uut.receives.next = receives;
            uut.table.read.next = read;
            uut.table.write.next = write;
            uut.table.pair.next = (row as u64).into();
            uut.table.word.next = (word as u64).into();
            uut.table.value.next = u64::from(value).into();
            uut.set_state.next = set;
            uut.state_pair.next = (state as u64).into();
            uut.up.next = up;
            uut.send_pair.next = (sender as u64).into();
            uut.receive_pair.next = (receiver as u64).into();
            uut.sent.next = sent;
            uut.received.next = received;
            settle(&mut uut);
            let send = uut.send.val();
            let words = [
                send.remote.to_u64(),
                send.mac.to_u64() & 0xffff_ffff,
                send.mac.to_u64() >> 32,
                send.ip.to_u64(),
                send.key.to_u64(),
                send.window.to_u64(),
                send.bytes.to_u64(),
                send.base.to_u64() & 0xffff_ffff,
                send.base.to_u64() >> 32,
                send.sequence.to_u64(),
            ];
            for (index, got) in words.into_iter().enumerate().filter(|_| sends) {
                let mask = [
                    0xff_ffff,
                    u64::MAX,
                    0xffff,
                    u64::MAX,
                    u64::MAX,
                    u64::MAX,
                    u64::MAX,
                    u64::MAX,
                    u64::MAX,
                    0xff_ffff,
                ];
                if let Some(expected) = rows[sender][index + 1] {
                    assert_eq!(got, u64::from(expected) & mask[index], "cycle {cycle}: word {}", index + 1);
                }
            }
            assert_eq!((send.up, uut.receive_up.val()), (ups[sender], ups[receiver]));
            if let (true, Some(ip), Some(expected)) = (receives, rows[receiver][4], rows[receiver][11]) {
                assert_eq!(uut.receive_ip.val().to_u64(), u64::from(ip));
                assert_eq!(uut.expected.val().to_u64(), u64::from(expected & 0xff_ffff), "cycle {cycle}");
            }
            assert_eq!(uut.table.refused.val(), write && ups[row]);
            let waits = write && !ups[row] && (word == 10 && sent || word == 11 && received)
                || read && (sends || receives);
            assert_eq!(uut.table.waits.val(), waits);
            refused += usize::from(write && ups[row]);
            waited += usize::from(waits);
            counted += usize::from(sent);
            if let Some(answer) = answer {
                assert_eq!(uut.table.answer.val().to_u64(), answer, "cycle {cycle}");
            }
            if read && !waits {
                let mask = [1, !0, !0, !0, !0, !0, !0, !0, !0, !0, 0xff_ffff, 0xff_ffff][word];
                let value = if word == 0 { Some(ups[row].into()) } else { rows[row][word] };
                answer = value.map(|value| u64::from(value & mask));
            }
            if write && !ups[row] && !waits {
                rows[row][word] = Some(value);
            }
            if sent {
                rows[sender][10] = rows[sender][10].map(|sequence| sequence.wrapping_add(1));
            }
            if received {
                rows[receiver][11] = rows[receiver][11].map(|sequence| sequence.wrapping_add(1));
            }
            if set {
                ups[state] = up;
            }
            tick!(uut);
        }
        assert!(refused > 1_000 && waited > 100 && counted > 1_000, "{refused} {waited} {counted}");
    }
}
