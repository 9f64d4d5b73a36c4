//! What a packet of a command is.

use super::{header_words, opcode, operation, WorkEntry};
use hermes_hdl::prelude::*;

/// Cuts a command into packets: says what its packet `number` is, in the same cycle (InfiniBand
/// Architecture Specification, volume 1, 9.4.2 to 9.4.5).
///
/// 1. All packets of a PUT but the last have as many bytes as the MTU. The first one has the RETH,
///    with the address and length of the whole. The peer is asked to acknowledge the last one, and
///    each eighth.
/// 2. A GET is cut into READs of 2^`read_log2` responses, counted from its first one; a READ takes
///    a number for each response. The one of packet `number` asks for that response and those
///    behind it: so a READ that is repeated is a part of an earlier one.
/// 3. An atomic operation is one packet.
#[derive(Clone, Default, LogicBlock)]
pub struct PacketCut {
    /// The command.
    pub entry: Signal<In, WorkEntry>,
    /// Number of the packet, from 0 on; it has such a packet.
    pub number: Signal<In, Bits<24>>,
    /// Logarithm of the bytes of the MTU: 8 to 12.
    pub mtu: Signal<In, Bits<4>>,
    /// Logarithm of the responses of a READ: 0 to 3.
    pub read_log2: Signal<In, Bits<2>>,
    /// Address at the peer where the window begins.
    pub base: Signal<In, Bits<64>>,
    /// Key of the peer's region.
    pub key: Signal<In, Bits<32>>,
    /// The packet of this number.
    pub packet: Signal<Out, CommandPacket>,
}

/// A packet of a command, as in [`FrameHead`](super::FrameHead).
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct CommandPacket {
    /// Opcode of the base transport header.
    pub opcode: Bits<8>,
    /// The peer is asked to acknowledge it.
    pub acknowledge: Bit,
    /// The header behind the base transport header.
    pub extension: Bits<224>,
    /// Length of `extension` in words of 32 bits.
    pub extension_words: Bits<3>,
    /// Bytes of its payload; of a GET: of the payload of its response.
    pub bytes: Bits<13>,
    /// Address of these bytes in memory, if they are there.
    pub address: Bits<32>,
    /// Numbers that it takes, 1 to 8.
    pub numbers: Bits<4>,
    /// The last of them is the last one of its command.
    pub last: Bit,
    /// The next number is that of another READ, or command.
    pub part_ends: Bit,
    /// The number is the first one of a READ, however often that is sent.
    pub part_begins: Bit,
}

impl Logic for PacketCut {
    #[hdl_gen]
    fn update(&mut self) {
        let command = self.entry.val();
        let offset = bit_cast::<32, 24>(self.number.val()) << self.mtu.val();
        let packets_left = bit_cast::<24, 23>(command.packets) - self.number.val();
        let is_first = !self.number.val().any();
        let is_last = packets_left == bits::<24>(1);
        let is_get = command.operation == bits::<2>(operation::GET);
        let is_atomic = command.operation.get_bit(1);
        let bytes_left = command.bytes - offset;

        // Responses up to the end of its READ
        let group = bits::<4>(1) << bit_cast::<4, 2>(self.read_log2.val());
        let place_in_read = self.number.val().get_bits::<4>(0) & (group - bits::<4>(1));
        let mut asked = group - place_in_read;
        if packets_left < bit_cast::<24, 4>(asked) {
            asked = packets_left.get_bits::<4>(0);
        }
        let ends_part = is_last || (place_in_read + bits::<4>(1) == group);
        let whole = bit_cast::<32, 4>(asked) << self.mtu.val();
        let mut length = command.bytes;
        if is_get {
            length = whole;
            if bit_cast::<24, 4>(asked) == packets_left {
                length = bytes_left;
            }
        }

        self.packet.next.opcode = bits::<8>(opcode::RC_RDMA_WRITE_MIDDLE);
        if is_last {
            self.packet.next.opcode = bits::<8>(opcode::RC_RDMA_WRITE_LAST);
        }
        if is_first {
            self.packet.next.opcode = bits::<8>(opcode::RC_RDMA_WRITE_FIRST);
        }
        if is_first && is_last {
            self.packet.next.opcode = bits::<8>(opcode::RC_RDMA_WRITE_ONLY);
        }
        if is_get {
            self.packet.next.opcode = bits::<8>(opcode::RC_RDMA_READ_REQUEST);
        }
        if command.operation == bits::<2>(operation::ADD) {
            self.packet.next.opcode = bits::<8>(opcode::RC_FETCH_ADD);
        }
        if command.operation == bits::<2>(operation::SWAP) {
            self.packet.next.opcode = bits::<8>(opcode::RC_COMPARE_SWAP);
        }
        self.packet.next.acknowledge =
            !command.operation.any() && (is_last || self.number.val().get_bits::<3>(0).all());
        self.packet.next.extension = bits::<224>(0);
        self.packet.next.extension_words = bits::<3>(header_words::NONE);
        let mut begin = command.offset;
        if is_get {
            begin = command.offset + offset;
        }
        let remote = self.base.val() + bit_cast::<64, 32>(begin);
        let address = (bit_cast::<224, 64>(remote) << 160) | (bit_cast::<224, 32>(self.key.val()) << 128);
        if is_first || is_get {
            self.packet.next.extension = address | (bit_cast::<224, 32>(length) << 96);
            self.packet.next.extension_words = bits::<3>(header_words::RETH);
        }
        if is_atomic {
            self.packet.next.extension = address
                | (bit_cast::<224, 64>(command.data.get_bits::<64>(0)) << 64)
                | bit_cast::<224, 64>(command.data.get_bits::<64>(64));
            self.packet.next.extension_words = bits::<3>(header_words::ATOMIC);
        }
        self.packet.next.bytes = bits::<13>(1) << self.mtu.val();
        if is_last {
            self.packet.next.bytes = bytes_left.get_bits::<13>(0);
        }
        if is_atomic {
            self.packet.next.bytes = bits::<13>(0);
        }
        self.packet.next.address = command.data.get_bits::<32>(0) + offset;
        self.packet.next.numbers = bits::<4>(1);
        self.packet.next.last = is_last;
        if is_get {
            self.packet.next.numbers = asked;
            self.packet.next.last = bit_cast::<24, 4>(asked) == packets_left;
        }
        self.packet.next.part_ends = ends_part || is_atomic;
        self.packet.next.part_begins = !place_in_read.any() || is_atomic;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::settle;
    use rand::Rng;
    use rand_chacha::ChaCha8Rng;

    const KEY: u64 = 0x1234_5678;

    /// A command of memory, and which of its packets is cut.
    struct Drawn {
        mtu: u32,
        bytes: u32,
        packets: u32,
        number: u32,
        address: u32,
        offset: u32,
        base: u64,
    }

    /// Any command, and its first, its last, or any other packet.
    fn draw(uut: &mut PacketCut, rng: &mut ChaCha8Rng, operation: u64) -> Drawn {
        let (mtu, most) = (rng.gen_range(8..=12u32), 1u32 << rng.gen_range(0..=30));
        let bytes = rng.gen_range(1..=most);
        let packets = bytes.div_ceil(1 << mtu);
        let number = [0, packets - 1, rng.gen_range(0..packets)][rng.gen_range(0..3)];
        let (address, offset, base) = (rng.gen::<u32>() >> 1, rng.gen::<u32>() >> 1, rng.gen::<u64>());
        uut.entry.next = WorkEntry {
            operation: operation.into(),
            offset: u64::from(offset).into(),
            bytes: u64::from(bytes).into(),
            memory: true,
            data: u64::from(address).into(),
            packets: u64::from(packets).into(),
            ..WorkEntry::default()
        };
        uut.number.next = u64::from(number).into();
        uut.mtu.next = u64::from(mtu).into();
        uut.base.next = base.into();
        uut.key.next = KEY.into();
        Drawn { mtu, bytes, packets, number, address, offset, base }
    }

    #[test]
    fn packets_of_any_put() {
        let mut rng = random("packet_cut");
        let mut uut = PacketCut::default();
        for _ in 0..2_000 {
            let drawn = draw(&mut uut, &mut rng, operation::PUT);
            let Drawn { mtu, bytes, packets, number, address, offset, base } = drawn;
            settle(&mut uut);
            let packet = uut.packet.val();
            let (first, last) = (number == 0, number + 1 == packets);
            let opcode = [[7, 8], [6, 10]][usize::from(first)][usize::from(last)];
            assert_eq!(packet.opcode.to_u64(), opcode, "packet {number} of {packets}");
            let length = if last { bytes - (number << mtu) } else { 1 << mtu };
            assert_eq!(packet.bytes.to_u64(), u64::from(length));
            assert_eq!(packet.address.to_u64() as u32, address + (number << mtu));
            assert_eq!(packet.acknowledge, last || number % 8 == 7);
            assert_eq!((packet.numbers.to_u64(), packet.last), (1, last));
            let (words, reth) = match first {
                true => (4, [base.wrapping_add(offset.into()), KEY << 32 | u64::from(bytes)]),
                false => (0, [0, 0]),
            };
            assert_eq!(packet.extension_words.to_u64(), words);
            let got = [160, 96].map(|place| packet.extension.get_bits::<64>(place).to_u64());
            assert_eq!(got, reth);
        }
    }

    /// READs of any GET, from any packet on: they ask for what is left of their part.
    #[test]
    fn reads_of_any_get() {
        let mut rng = random("packet_cut_get");
        let mut uut = PacketCut::default();
        for _ in 0..4_000 {
            let drawn = draw(&mut uut, &mut rng, operation::GET);
            let Drawn { mtu, bytes, packets, number, address, offset, base } = drawn;
            let read_log2 = rng.gen_range(0..4u32);
            uut.read_log2.next = u64::from(read_log2).into();
            settle(&mut uut);
            let packet = uut.packet.val();
            let end = (((number >> read_log2) + 1) << read_log2).min(packets);
            assert_eq!((packet.opcode.to_u64(), packet.extension_words.to_u64()), (0x0c, 4));
            assert_eq!(packet.numbers.to_u64(), u64::from(end - number));
            assert_eq!((packet.last, packet.part_ends), (end == packets, number + 1 == end));
            assert_eq!(packet.part_begins, number % (1 << read_log2) == 0);
            let length = bytes.min(end << mtu) - (number << mtu);
            let from = base.wrapping_add(u64::from(offset + (number << mtu)));
            let got = [160, 96].map(|place| packet.extension.get_bits::<64>(place).to_u64());
            assert_eq!(got, [from, KEY << 32 | u64::from(length)]);
            let response = if number + 1 == packets { bytes - (number << mtu) } else { 1 << mtu };
            assert_eq!(packet.bytes.to_u64(), u64::from(response));
            assert_eq!(packet.address.to_u64() as u32, address + (number << mtu));
            assert!(!packet.acknowledge);
        }
    }

    #[test]
    fn atomic_operations() {
        let mut uut = PacketCut::default();
        for (operation, opcode) in [(operation::ADD, 0x14), (operation::SWAP, 0x13)] {
            uut.entry.next = WorkEntry {
                operation: operation.into(),
                offset: 0x18.into(),
                bytes: 8.into(),
                data: bits::<128>(0x1122_3344_5566_7788) << 64 | bits::<128>(0x99aa_bbcc_ddee_ff00),
                packets: 1.into(),
                ..WorkEntry::default()
            };
            uut.mtu.next = 8.into();
            uut.base.next = 0x7_0000_0000.into();
            uut.key.next = 5.into();
            settle(&mut uut);
            let packet = uut.packet.val();
            assert_eq!((packet.opcode.to_u64(), packet.extension_words.to_u64()), (opcode, 7));
            assert!(packet.last && packet.part_ends && packet.numbers.to_u64() == 1);
            assert_eq!(packet.bytes.to_u64(), 0);
            let got = [160, 96, 64, 0].map(|place| packet.extension.get_bits::<64>(place).to_u64());
            assert_eq!(got[0], 0x7_0000_0018);
            assert_eq!(got[1] >> 32, 5);
            assert_eq!(got[2..], [0x99aa_bbcc_ddee_ff00, 0x1122_3344_5566_7788]);
        }
    }
}
