//! Puts of a few bytes, as the host stages them.

use super::{FrameHead, SendPair};
use crate::prelude::*;

/// Makes the frame of a put whose bytes stand in the command itself: an RDMA WRITE of one packet.
///
/// 1. `post` takes the command in `stage` for queue pair `pair`, unless one is under way (`busy`). It is a PUT with its bytes inline, at most 16 of them, to a remote
///    range within the window of the queue pair, which must be up: else nothing is sent, and `failed` is high for one cycle, with `code`.
/// 2. It is judged when [`FrameBuilder`](super::FrameBuilder) is ready for its head, and the head is offered in the cycle after, for one cycle: a queue pair that is
///    taken down, and whose row is written anew, while the command waits is judged as it is then. A head that is not taken is judged again.
/// 3. `send_pair` names the row of [`QueuePairs`](super::QueuePairs); `send` answers in the same cycle.
/// 4. `sent` is high in the cycle in which the head is taken; the line is offered from the cycle after, until it is taken.
#[derive(Clone, Debug, LogicBlock)]
pub struct InlinePut {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// A command is posted.
    pub post: Signal<In, Bit>,
    /// Its queue pair.
    pub pair: Signal<In, Bits<4>>,
    /// Its sixteen words, word 0 in bits 31:0.
    pub stage: Signal<In, Bits<512>>,
    /// A command is under way.
    pub busy: Signal<Out, Bit>,
    /// A command failed.
    pub failed: Signal<Out, Bit>,
    /// Why: 0x80 no such operation, 0x83 remote range, 0x84 length, 0x88 the queue pair is not up.
    pub code: Signal<Out, Bits<8>>,
    /// `send` is looked at.
    pub sends: Signal<Out, Bit>,
    /// The row of the table.
    pub send_pair: Signal<Out, Bits<4>>,
    /// The queue pair.
    pub send: Signal<In, SendPair>,
    /// Its packet is sent.
    pub sent: Signal<Out, Bit>,
    /// To the builder: a frame is to be sent.
    pub head_valid: Signal<Out, Bit>,
    /// It is taken at this edge.
    pub head_ready: Signal<In, Bit>,
    /// Its headers.
    pub head: Signal<Out, FrameHead>,
    /// Its payload is here.
    pub line_valid: Signal<Out, Bit>,
    /// It is taken at this edge.
    pub line_ready: Signal<In, Bit>,
    /// The line.
    pub line_data: Signal<Out, Bits<512>>,
    which: Register<Bits<4>>,
    command: Register<Bits<256>>,
    /// It is to be judged as soon as its head may be taken.
    judges: Register<Bit>,
    /// Its head is offered.
    heads: Register<Bit>,
    /// Its line is to be taken.
    lines: Register<Bit>,
    failed_q: Register<Bit>,
    code_q: Register<Bits<8>>,
    #[init(Constant::new((bits::<128>(u64::MAX) << 64) | bits::<128>(u64::MAX)))]
    all: Constant<Bits<128>>,
}

impl Logic for InlinePut {
    #[hdl_gen]
    fn update(&mut self) {
        let judging = self.judges.q.val() && self.head_ready.val();
        let under_way = self.judges.q.val() || self.heads.q.val() || self.lines.q.val();
        self.busy.next = under_way;
        if self.post.val() && !under_way {
            self.which.d.next = self.pair.val();
            self.command.d.next = self.stage.val().get_bits::<256>(0);
            self.judges.d.next = true;
        }
        self.sends.next = judging || self.heads.q.val();
        self.send_pair.next = self.which.q.val();
        let row = self.send.val();
        let what = self.command.q.val();
        let remote = what.get_bits::<32>(32);
        let bytes = what.get_bits::<32>(96);

        // What is wrong with it. The range is compared as an offset in the window.
        let offset = remote - row.window;
        let behind = bit_cast::<33, 32>(offset) + bit_cast::<33, 32>(bytes);
        let is_put = (what.get_bits::<8>(0) == bits::<8>(1)) && what.get_bit(10);
        let mut wrong = bits::<8>(0);
        if (offset >= row.bytes) || (behind > bit_cast::<33, 32>(row.bytes)) {
            wrong = bits::<8>(0x83);
        }
        if !row.up {
            wrong = bits::<8>(0x88);
        }
        if !bytes.any() || (bytes > bits::<32>(16)) {
            wrong = bits::<8>(0x84);
        }
        if !is_put {
            wrong = bits::<8>(0x80);
        }
        self.failed_q.d.next = judging && wrong.any();
        self.code_q.d.next = wrong;
        self.failed.next = self.failed_q.q.val();
        self.code.next = self.code_q.q.val();
        if judging {
            self.judges.d.next = false;
            self.heads.d.next = !wrong.any();
        }

        // RETH: address, key, length
        let address = row.base + bit_cast::<64, 32>(offset);
        self.head_valid.next = self.heads.q.val();
        self.head.next.queue_pair = bit_cast::<5, 4>(self.which.q.val());
        self.head.next.mac = row.mac;
        self.head.next.ip = row.ip;
        self.head.next.opcode = bits::<8>(0x0a);
        self.head.next.acknowledge = true;
        self.head.next.remote = row.remote;
        self.head.next.sequence = row.sequence;
        self.head.next.extension = (bit_cast::<224, 64>(address) << 160)
            | (bit_cast::<224, 32>(row.key) << 128)
            | (bit_cast::<224, 32>(bytes) << 96);
        self.head.next.extension_words = bits::<3>(4);
        self.head.next.bytes = bytes.get_bits::<13>(0);
        let taken = self.heads.q.val() && self.head_ready.val();
        self.sent.next = taken;
        if self.heads.q.val() {
            self.heads.d.next = false;
            self.judges.d.next = !taken;
            self.lines.d.next = taken;
        }
        // Bytes behind the last one are zero.
        let mut kept = self.all.val();
        if !bytes.get_bit(4) {
            kept = !(self.all.val() << (bit_cast::<8, 4>(bytes.get_bits::<4>(0)) << 3));
        }
        self.line_valid.next = self.lines.q.val();
        self.line_data.next = bit_cast::<512, 128>(what.get_bits::<128>(128) & kept);
        if self.lines.q.val() && self.line_ready.val() {
            self.lines.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{reset, settle, tick};

    const WINDOW: u64 = 0x1000;

    /// A queue pair whose window has `bytes` bytes and begins at `base` at the peer.
    fn pair(up: bool, base: u64, bytes: u64) -> SendPair {
        SendPair {
            up,
            window: WINDOW.into(),
            bytes: bytes.into(),
            base: base.into(),
            sequence: 7.into(),
            ..SendPair::default()
        }
    }

    /// A put of four bytes to the end of a window of 64, which waits while the builder is busy. Its row becomes `row` then. Gives the address and the
    /// number of heads that were taken, and the codes of failures.
    fn waits_while(row: SendPair) -> (Vec<u64>, Vec<u64>) {
        let mut uut = InlinePut::default();
        reset!(uut);
        uut.send.next = pair(true, 0x10_0000, 64);
        let words = [0x401u64, WINDOW + 60, 0, 4, 0x4433_2211];
        uut.stage.next = words.iter().rev().fold(bits::<512>(0), |all, word| all << 32 | bits::<512>(*word));
        uut.post.next = true;
        tick!(uut);
        uut.post.next = false;
        let (mut heads, mut failures, mut lines) = (Vec::new(), Vec::new(), 0);
        for cycle in 0..60 {
            // The builder is busy, and becomes free.
            uut.head_ready.next = cycle >= 30;
            uut.line_ready.next = cycle >= 40;
            if cycle == 20 {
                uut.send.next = row;
            }
            settle(&mut uut);
            assert!(uut.busy.val() || cycle >= 30, "cycle {cycle}");
            if uut.head_valid.val() && uut.head_ready.val() {
                assert!(uut.sent.val());
                heads.push(uut.head.val().extension.get_bits::<64>(160).to_u64());
            }
            if uut.line_valid.val() && uut.line_ready.val() {
                lines += 1;
                assert_eq!(uut.line_data.val(), bits::<512>(0x4433_2211));
            }
            if uut.failed.val() {
                failures.push(uut.code.val().to_u64());
            }
            tick!(uut);
        }
        settle(&mut uut);
        assert!(!uut.busy.val());
        assert_eq!(lines, heads.len());
        (heads, failures)
    }

    #[test]
    fn is_judged_when_its_head_is_taken() {
        assert_eq!(waits_while(pair(true, 0x10_0000, 64)), (vec![0x10_003c], vec![]));
        // The queue pair was reset; and was up again, with another window.
        assert_eq!(waits_while(pair(false, 0x10_0000, 64)), (vec![], vec![0x88]));
        assert_eq!(waits_while(pair(true, 0x20_0000, 128)), (vec![0x20_003c], vec![]));
        assert_eq!(waits_while(pair(true, 0x20_0000, 32)), (vec![], vec![0x83]));
    }

    /// A head that is not taken in its cycle, since another sender was served, is judged again.
    #[test]
    fn a_head_that_is_not_taken() {
        let mut uut = InlinePut::default();
        reset!(uut);
        uut.send.next = pair(true, 0x10_0000, 64);
        let words = [0x401u64, WINDOW, 0, 4];
        uut.stage.next = words.iter().rev().fold(bits::<512>(0), |all, word| all << 32 | bits::<512>(*word));
        uut.post.next = true;
        tick!(uut);
        uut.post.next = false;
        let mut offered = 0;
        for _ in 0..10 {
            settle(&mut uut);
            uut.head_ready.next = !uut.head_valid.val();
            settle(&mut uut);
            assert!(!uut.sent.val() && !uut.line_valid.val());
            offered += u64::from(uut.head_valid.val());
            tick!(uut);
        }
        assert_eq!(offered, 5);
        uut.send.next = pair(false, 0x10_0000, 64);
        uut.head_ready.next = true;
        let mut failed = false;
        for _ in 0..4 {
            settle(&mut uut);
            failed |= uut.failed.val();
            tick!(uut);
        }
        assert!(failed && !uut.busy.val());
    }
}
