//! What a packet of a command is.

use super::WorkEntry;
use crate::prelude::*;

/// Cuts a PUT into packets: says what its packet `number` is, in the same cycle (RDMA WRITE: InfiniBand Architecture Specification, volume 1, 9.4.2).
///
/// All packets but the last have as many bytes as the MTU. The first one has the RETH, with the address and length of the whole. The peer is asked to
/// acknowledge the last one, and each eighth.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct PacketCut {
    /// The command.
    pub entry: Signal<In, WorkEntry>,
    /// Number of the packet, from 0 on; it has such a packet.
    pub number: Signal<In, Bits<24>>,
    /// Logarithm of the bytes of the MTU: 8 to 12.
    pub mtu: Signal<In, Bits<4>>,
    /// Where the window begins at the peer.
    pub base: Signal<In, Bits<64>>,
    /// Key of the peer's region.
    pub key: Signal<In, Bits<32>>,
    /// It.
    pub packet: Signal<Out, CommandPacket>,
}

/// A packet of a command, as in [`FrameHead`](super::FrameHead).
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct CommandPacket {
    /// Opcode.
    pub opcode: Bits<8>,
    /// The peer is asked to acknowledge it.
    pub acknowledge: Bit,
    /// The header behind the base transport header.
    pub extension: Bits<224>,
    /// Its words.
    pub extension_words: Bits<3>,
    /// Bytes of its payload.
    pub bytes: Bits<13>,
    /// Address of its payload in memory, if it is there.
    pub address: Bits<32>,
    /// It is the last one of its command.
    pub last: Bit,
}

impl Logic for PacketCut {
    #[hdl_gen]
    fn update(&mut self) {
        let what = self.entry.val();
        let offset = bit_cast::<32, 24>(self.number.val()) << self.mtu.val();
        let is_first = !self.number.val().any();
        let is_last = self.number.val() + bits::<24>(1) == bit_cast::<24, 23>(what.packets);
        let rest = what.bytes - offset;
        self.packet.next.opcode = bits::<8>(0x07);
        if is_last {
            self.packet.next.opcode = bits::<8>(0x08);
        }
        if is_first {
            self.packet.next.opcode = bits::<8>(0x06);
        }
        if is_first && is_last {
            self.packet.next.opcode = bits::<8>(0x0a);
        }
        self.packet.next.acknowledge = is_last || self.number.val().get_bits::<3>(0).all();
        self.packet.next.extension = bits::<224>(0);
        self.packet.next.extension_words = bits::<3>(0);
        let remote = self.base.val() + bit_cast::<64, 32>(what.offset);
        if is_first {
            self.packet.next.extension = (bit_cast::<224, 64>(remote) << 160)
                | (bit_cast::<224, 32>(self.key.val()) << 128)
                | (bit_cast::<224, 32>(what.bytes) << 96);
            self.packet.next.extension_words = bits::<3>(4);
        }
        self.packet.next.bytes = bits::<13>(1) << self.mtu.val();
        if is_last {
            self.packet.next.bytes = rest.get_bits::<13>(0);
        }
        self.packet.next.address = what.data.get_bits::<32>(0) + offset;
        self.packet.next.last = is_last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{random, settle};
    use rand::Rng;

    #[test]
    fn packets_of_any_command() {
        let mut rng = random("packet_cut");
        let mut uut = PacketCut::default();
        for _ in 0..2_000 {
            let (mtu, most) = (rng.gen_range(8..=12u32), 1u32 << rng.gen_range(0..=30));
            let bytes = rng.gen_range(1..=most);
            let packets = bytes.div_ceil(1 << mtu);
            let number = match rng.gen_range(0..3) {
                0 => 0,
                1 => packets - 1,
                _ => rng.gen_range(0..packets),
            };
            let (address, offset, base) = (rng.gen::<u32>() >> 1, rng.gen::<u32>() >> 1, rng.gen::<u64>());
            uut.entry.next = WorkEntry {
                offset: u64::from(offset).into(),
                bytes: u64::from(bytes).into(),
                memory: true,
                data: u64::from(address).into(),
                region: 0.into(),
                domain: 0.into(),
                packets: u64::from(packets).into(),
            };
            uut.number.next = u64::from(number).into();
            uut.mtu.next = u64::from(mtu).into();
            uut.base.next = base.into();
            uut.key.next = 0x1234_5678.into();
            settle(&mut uut);
            let packet = uut.packet.val();
            let (first, last) = (number == 0, number + 1 == packets);
            let opcode = [[7, 8], [6, 10]][usize::from(first)][usize::from(last)];
            assert_eq!(packet.opcode.to_u64(), opcode, "packet {number} of {packets}");
            let length = if last { bytes - (number << mtu) } else { 1 << mtu };
            assert_eq!((packet.bytes.to_u64(), packet.last), (length.into(), last));
            assert_eq!(packet.address.to_u64() as u32, address + (number << mtu));
            assert_eq!(packet.acknowledge, last || number % 8 == 7);
            let (words, reth) = match first {
                true => (4, [base.wrapping_add(offset.into()), 0x1234_5678 << 32 | u64::from(bytes)]),
                false => (0, [0, 0]),
            };
            assert_eq!(packet.extension_words.to_u64(), words);
            let got = [160, 96].map(|place| packet.extension.get_bits::<64>(place).to_u64());
            assert_eq!(got, reth);
        }
    }
}
