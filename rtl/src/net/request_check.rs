//! What a request may do.

use super::{access, opcode, AtomicOperands, CheckedFrame, ReceivePair, Region, RegionCheck, MOST_RESPONSES};
use hermes_hdl::prelude::*;

/// A message of which packets came, and others are to come.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct MessageRow {
    /// Address of its next byte.
    pub address: Bits<32>,
    /// Bytes that are to come.
    pub left: Bits<32>,
    /// Key of its region.
    pub key: Bits<32>,
}

/// Judges a packet of an RDMA WRITE that is expected, an RDMA READ or an atomic operation, in the
/// same cycle (InfiniBand Architecture Specification, volume 1, 9.7.4.1):
///
/// 1. `invalid`: its opcode does not follow that of the packet before, or its payload is not as
///    long as it must be: the MTU but for the last packet, and in all what the first one said. A
///    READ has no payload, and at most 2^22 responses; an atomic operation has none either, and an
///    address that is a multiple of 8. One of these that is `repeated` may come at any time. No
///    other request may be (`is_unserved`): SENDs, WRITEs with immediate data, reserved opcodes.
/// 2. `forbidden`: its bytes, and those of the whole message with its first packet, do not lie in
///    the region of its key, which must be valid, of the domain of the queue pair, and may be
///    written, read or atomically changed by peers. A message without bytes needs none.
/// 3. Else the payload of a WRITE goes to `address`; `after` is what is to come then, if it is not
///    the `last` packet. A READ is of `bytes` bytes from `address` on, in `packets` responses.
#[derive(Clone, Default, LogicBlock)]
pub struct RequestCheck {
    /// The packet.
    pub frame: Signal<In, CheckedFrame>,
    /// Queue pair of the packet.
    pub pair: Signal<In, ReceivePair>,
    /// A message of it has begun.
    pub inside: Signal<In, Bit>,
    /// The rest of that message.
    pub message: Signal<In, MessageRow>,
    /// The packet came before.
    pub repeated: Signal<In, Bit>,
    /// Number of the region of its key.
    pub region_index: Signal<Out, Bits<4>>,
    /// The region of `region_index`.
    pub region: Signal<In, Region>,
    /// The packet is of a WRITE.
    pub is_write: Signal<Out, Bit>,
    /// The packet is a READ.
    pub is_read: Signal<Out, Bit>,
    /// The packet is an atomic operation.
    pub is_atomic: Signal<Out, Bit>,
    /// The packet is a request of another kind, neither an ACK nor a response.
    pub is_unserved: Signal<Out, Bit>,
    /// The packet is the first one of a message.
    pub is_first: Signal<Out, Bit>,
    /// The packet is the last one of a message.
    pub last: Signal<Out, Bit>,
    /// The packet cannot be: its opcode or its length is wrong.
    pub invalid: Signal<Out, Bit>,
    /// The packet is for memory that the peer may not use.
    pub forbidden: Signal<Out, Bit>,
    /// Address of its first byte in memory.
    pub address: Signal<Out, Bits<32>>,
    /// Operands of an atomic operation.
    pub operands: Signal<Out, AtomicOperands>,
    /// Bytes of a READ.
    pub bytes: Signal<Out, Bits<32>>,
    /// Packet sequence numbers that it takes: one, or those of its responses.
    pub packets: Signal<Out, Bits<23>>,
    /// The rest of the message behind the packet.
    pub after: Signal<Out, MessageRow>,
    region_check: RegionCheck,
}

impl Logic for RequestCheck {
    #[hdl_gen]
    fn update(&mut self) {
        let packet = self.frame.val();
        let message_row = self.message.val();
        let only = packet.opcode == bits::<8>(opcode::RC_RDMA_WRITE_ONLY);
        let reads = packet.opcode == bits::<8>(opcode::RC_RDMA_READ_REQUEST);
        let swaps = packet.opcode == bits::<8>(opcode::RC_COMPARE_SWAP);
        let atomic = swaps || (packet.opcode == bits::<8>(opcode::RC_FETCH_ADD));
        let begins = (packet.opcode == bits::<8>(opcode::RC_RDMA_WRITE_FIRST)) || only || reads || atomic;
        let ends = (packet.opcode == bits::<8>(opcode::RC_RDMA_WRITE_LAST)) || only;
        let middle = packet.opcode == bits::<8>(opcode::RC_RDMA_WRITE_MIDDLE);
        self.is_write.next = (begins || ends || middle) && !reads && !atomic;
        let answers = (packet.opcode >= bits::<8>(opcode::RC_RDMA_READ_RESPONSE_FIRST))
            && (packet.opcode <= bits::<8>(opcode::RC_ATOMIC_ACKNOWLEDGE));
        let is_other = !begins && !ends && !middle && !answers;
        self.is_unserved.next = is_other;
        self.is_read.next = reads;
        self.is_first.next = begins;
        self.is_atomic.next = atomic;
        self.last.next = ends || reads || atomic;

        // RETH: address, key, length. Addresses of memory have 32 bits.
        let mut first_address = message_row.address;
        let mut bytes_left = message_row.left;
        let mut key = message_row.key;
        let mut is_high = false;
        if begins {
            first_address = packet.extension.get_bits::<32>(160);
            bytes_left = packet.extension.get_bits::<32>(96);
            key = packet.extension.get_bits::<32>(128);
            is_high = packet.extension.get_bits::<32>(192).any();
        }
        // AtomicETH: address, key, what is added or put there, what is compared
        if atomic {
            bytes_left = bits::<32>(8);
        }
        self.operands.next.swap = swaps;
        self.operands.next.operand = packet.extension.get_bits::<64>(64);
        self.operands.next.compare = packet.extension.get_bits::<64>(0);
        let mtu_bytes = bits::<32>(1) << self.pair.val().mtu;
        let size = bit_cast::<32, 13>(packet.bytes);
        let whole = bit_cast::<33, 32>(bytes_left) + bit_cast::<33, 32>(mtu_bytes - bits::<32>(1));
        let mut count = whole >> self.pair.val().mtu;
        if !bytes_left.any() || !reads {
            count = bits::<33>(1);
        }
        let mut is_whole = (size == mtu_bytes) && (bytes_left > mtu_bytes);
        if ends {
            is_whole = (size == bytes_left) && (size <= mtu_bytes) && (size.any() || only);
        }
        if reads {
            is_whole = !size.any() && (count <= bits::<33>(MOST_RESPONSES));
        }
        if atomic {
            is_whole = !size.any() && !first_address.get_bits::<3>(0).any();
        }
        let follows = (begins != self.inside.val()) || self.repeated.val();
        self.invalid.next = !follows || !is_whole || is_other;

        self.region_index.next = key.get_bits::<4>(0);
        self.region_check.region.next = self.region.val();
        self.region_check.domain.next = self.pair.val().domain;
        self.region_check.rights.next = bits::<5>(access::REMOTE_WRITE);
        if reads {
            self.region_check.rights.next = bits::<5>(access::REMOTE_READ);
        }
        if atomic {
            self.region_check.rights.next = bits::<5>(access::REMOTE_ATOMIC);
        }
        self.region_check.address.next = first_address;
        self.region_check.bytes.next = size;
        if begins {
            self.region_check.bytes.next = bytes_left;
        }
        let is_allowed = self.region_check.allowed.val() && (self.region.val().key == key) && !is_high;
        self.forbidden.next = !is_allowed && bytes_left.any();
        self.address.next = first_address;
        self.bytes.next = bytes_left;
        self.packets.next = count.get_bits::<23>(0);
        self.after.next.address = first_address + size;
        self.after.next.left = bytes_left - size;
        self.after.next.key = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::settle;
    use rand::Rng;

    const MTU: u32 = 256;
    const KEY: u32 = 0x1234_5607;

    /// Requests that are not served can never be; answers are none.
    #[test]
    fn requests_that_are_not_served() {
        let mut uut = RequestCheck::default();
        let served = [0x06, 0x07, 0x08, 0x0a, 0x0c, 0x13, 0x14];
        for opcode in 0..0x20u64 {
            let is_unserved = !served.contains(&opcode) && !(0x0d..=0x12).contains(&opcode);
            for (inside, repeated, bytes) in [(false, false, 0), (true, false, 0), (false, true, 8)] {
                uut.frame.next =
                    CheckedFrame { opcode: opcode.into(), bytes: bytes.into(), ..CheckedFrame::default() };
                uut.pair.next = ReceivePair { mtu: 8.into(), ..ReceivePair::default() };
                (uut.inside.next, uut.repeated.next) = (inside, repeated);
                settle(&mut uut);
                assert_eq!(uut.is_unserved.val(), is_unserved, "{opcode:#x}");
                assert!(uut.invalid.val() || !is_unserved, "{opcode:#x}");
            }
        }
    }

    /// Packets of all kinds, near every edge of their region and message, against the
    /// specification.
    #[test]
    fn packets_near_every_edge() {
        let mut rng = random("request_check");
        let mut uut = RequestCheck::default();
        let mut counts = [0; 3];
        for _ in 0..40_000 {
            let opcode = [0x06, 0x07, 0x08, 0x0a, 0x0c, 0x13, 0x14][rng.gen_range(0..7)];
            let (reads, atomic) = (opcode == 0x0c, opcode > 0x10);
            let begins = [0x06, 0x0a, 0x0c, 0x13, 0x14].contains(&opcode);
            let ends = [0x08, 0x0a, 0x0c, 0x13, 0x14].contains(&opcode);
            let repeated = rng.gen_bool(0.1);
            let inside = if rng.gen_bool(0.8) { !begins } else { begins };
            let near = |rng: &mut rand_chacha::ChaCha8Rng, values: &[u32]| {
                let value: u32 = values[rng.gen_range(0..values.len())];
                value.wrapping_add([0, 0, 0, 1, u32::MAX][rng.gen_range(0..5)])
            };
            let size = if (reads || atomic) && rng.gen_bool(0.9) {
                0
            } else {
                near(&mut rng, &[0, 8, MTU, MTU, MTU, 1_024]) & 0x1fff
            };
            let left = match rng.gen_range(0..3) {
                0 => size,
                1 => size.wrapping_add(near(&mut rng, &[1, MTU, 1_000])),
                _ => near(&mut rng, &[0, 8, MTU, 2 * MTU, 1 << 31]),
            };
            let (base, bytes) =
                (near(&mut rng, &[0x4000, 0xffff_f000, 0]), near(&mut rng, &[0x1000, 0x800, 600]));
            let left = if atomic { 8 } else { left };
            let address = match rng.gen_range(0..4) {
                0 => base,
                1 => base.wrapping_add(bytes).wrapping_sub(left),
                2 => base.wrapping_add(bytes).wrapping_sub(size),
                _ => near(&mut rng, &[base, base.wrapping_add(bytes)]),
            };
            let high = rng.gen_bool(0.05);
            let key = if rng.gen_bool(0.9) { KEY } else { KEY ^ 1 << rng.gen_range(0..32) };
            let (valid, right, domain) = (rng.gen_bool(0.95), rng.gen_bool(0.95), rng.gen_bool(0.95));
            let compare = rng.gen::<u64>();
            let needed_right = match opcode {
                0x0c => 2,
                0x13 | 0x14 => 4,
                _ => 1u64,
            };
            let row = [address, left, key].map(|value| if begins { rng.gen() } else { value });
            uut.frame.next = CheckedFrame {
                opcode: opcode.into(),
                bytes: u64::from(size).into(),
                extension: match begins {
                    true => {
                        bits::<224>(u64::from(address) | u64::from(high) << 32) << 160
                            | bits::<224>(key.into()) << 128
                            | bits::<224>(if atomic { rng.gen::<u32>() } else { left }.into()) << 96
                            | bits::<224>(compare)
                    }
                    false => bits::<224>(rng.gen()) << 100,
                },
                ..CheckedFrame::default()
            };
            uut.pair.next = ReceivePair { domain: 2.into(), mtu: 8.into(), ..ReceivePair::default() };
            uut.inside.next = inside;
            uut.repeated.next = repeated;
            uut.message.next = MessageRow {
                address: u64::from(row[0]).into(),
                left: u64::from(row[1]).into(),
                key: u64::from(row[2]).into(),
            };
            uut.region.next = Region {
                valid,
                domain: (if domain { 2 } else { 3 }).into(),
                rights: (if right { needed_right } else { 0x1f & !needed_right }).into(),
                address: u64::from(base).into(),
                bytes: u64::from(bytes).into(),
                key: u64::from(KEY).into(),
            };
            settle(&mut uut);
            assert_eq!((uut.is_write.val(), uut.is_read.val()), (!reads && !atomic, reads));
            assert_eq!(uut.is_atomic.val(), atomic);
            assert_eq!((uut.is_first.val(), uut.last.val()), (begins, ends));
            assert_eq!(uut.region_index.val().to_u64(), u64::from(key & 15));

            let follows = begins != inside || repeated;
            let packets = if reads { left.div_ceil(MTU).max(1) } else { 1 };
            let is_whole = match opcode {
                0x06 | 0x07 => size == MTU && left > MTU,
                0x08 => size == left && (1..=MTU).contains(&size),
                0x0c => size == 0 && packets <= 1 << 22,
                0x13 | 0x14 => size == 0 && address % 8 == 0,
                _ => size == left && size <= MTU,
            };
            let needed = u64::from(if begins { left } else { size });
            let end = u64::from(address) + needed;
            let fits = address >= base && end <= u64::from(base) + u64::from(bytes) && end <= 1 << 32;
            let allowed = valid && right && domain && key == KEY && fits && !(begins && high);
            let verdict = match (follows && is_whole, allowed || left == 0) {
                (false, _) => 0,
                (true, false) => 1,
                (true, true) => 2,
            };
            let got = match (uut.invalid.val(), uut.forbidden.val()) {
                (true, _) => 0,
                (false, true) => 1,
                (false, false) => 2,
            };
            assert_eq!(got, verdict, "{opcode:#x}: {size} of {left} bytes at {address:#x}");
            counts[got] += 1;
            if got == 2 {
                let after = uut.after.val();
                assert_eq!(uut.address.val().to_u64() as u32, address);
                assert_eq!(uut.packets.val().to_u64(), u64::from(packets));
                assert_eq!(uut.bytes.val().to_u64() as u32, left);
                if atomic {
                    let operands = uut.operands.val();
                    assert_eq!((operands.swap, operands.compare.to_u64()), (opcode == 0x13, compare));
                    let operand = uut.frame.val().extension.get_bits::<64>(64);
                    assert_eq!(operands.operand, operand);
                }
                assert_eq!(after.left.to_u64() as u32, left - size);
                assert_eq!(after.address.to_u64() as u32, address.wrapping_add(size));
                assert_eq!(after.key.to_u64() as u32, key);
            }
        }
        assert!(counts.iter().all(|count| *count > 1_000), "{counts:?}");
    }
}
