//! The invariant CRC of RoCEv2.

use hermes_hdl::prelude::*;

/// The polynomial of Ethernet's CRC-32, least significant bit first.
pub const POLYNOMIAL: u32 = 0xedb8_8320;
/// Bytes before the IPv4 header: they do not count.
const ETHERNET: usize = 14;

/// What a CRC over a frame becomes when the frame ends with its own CRC.
pub const RESIDUE: u32 = 0xdebb_20e3;

/// Bytes of the last quarter of a beat, by words of 32 bits: headers and payload are 13 words and a
/// half, and any number of words.
mod last_bytes {
    pub const HALF_WORD: u64 = 2;
    pub const WORD_AND_HALF: u64 = 6;
    pub const TWO_WORDS_AND_HALF: u64 = 10;
    pub const THREE_WORDS_AND_HALF: u64 = 14;
}

/// The CRC register after a byte.
const fn step(state: u32, byte: u8) -> u32 {
    let mut state = state ^ byte as u32;
    let mut bit = 0;
    while bit < 8 {
        state = if state & 1 == 1 { state >> 1 ^ POLYNOMIAL } else { state >> 1 };
        bit += 1;
    }
    state
}

/// The CRC register before a zero byte.
const fn step_back(state: u32) -> u32 {
    let mut state = state;
    let mut bit = 0;
    while bit < 8 {
        // The polynomial has bit 31, so that bit tells whether it was added.
        state = if state >> 31 == 1 { (state ^ POLYNOMIAL) << 1 | 1 } else { state << 1 };
        bit += 1;
    }
    state
}

/// The register before a frame whose first [`ETHERNET`] bytes are taken as zeros: behind them it is
/// what eight bytes 0xff make of it.
const fn start() -> u32 {
    let (mut state, mut byte) = (u32::MAX, 0);
    while byte < 8 {
        state = step(state, 0xff);
        byte += 1;
    }
    byte = 0;
    while byte < ETHERNET {
        state = step_back(state);
        byte += 1;
    }
    state
}

/// Which bits of sixteen bytes make a bit of the register, which was zero before them.
fn masks() -> Vec<Constant<Bits<128>>> {
    let columns: Vec<u32> = (0..128)
        .map(|input| {
            (0..16).fold(0, |state, byte| step(state, if input / 8 == byte { 1 << (input % 8) } else { 0 }))
        })
        .collect();
    let half = |output: usize, from: usize| -> u64 {
        (0..64)
            .map(|input| u64::from(columns[from + input] >> output & 1) << input)
            .fold(0, |all, bit| all | bit)
    };
    let mask = |output| bits::<128>(half(output, 64)) << 64 | bits::<128>(half(output, 0));
    (0..32).map(|output| Constant::new(mask(output))).collect()
}

/// Computes the ICRC of a frame, sixteen bytes a cycle (InfiniBand Architecture Specification,
/// volume 1, annex A17.3.3).
///
/// 1. `take` takes a quarter of a beat, those of a frame in their order, and `value` is the
///    register behind it in the next cycle: a frame ends with its complement, least significant
///    byte first. Behind that, `value` is [`RESIDUE`].
/// 2. The first quarter of the first beat starts a frame. Its Ethernet header, the first 14 bytes,
///    does not count; eight bytes 0xff before it do.
/// 3. With the last quarter fewer bytes may count: 2, 6, 10 or 14, the first ones, which are all
///    that can be left, since headers and payload are 54 bytes and a multiple of 4.
/// 4. What routers may change counts as 0xff: type of service, time to live, both checksums, and a
///    byte of the base transport header, all of them in the first beat.
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct Icrc {
    /// Sixteen bytes are taken at this edge.
    pub take: Signal<In, Bit>,
    /// The beat that they are in, its first byte in bits 7:0.
    pub beat: Signal<In, Bits<512>>,
    /// The beat is the first one of a frame.
    pub first_beat: Signal<In, Bit>,
    /// Number of the quarter of the beat.
    pub quarter: Signal<In, Bits<2>>,
    /// Bytes of the quarter that count: 2, 6, 10, 14 or 16.
    pub bytes: Signal<In, Bits<5>>,
    /// The CRC register.
    pub value: Signal<Out, Bits<32>>,
    state: Register<Bits<32>>,
    #[init(masks())]
    mask: Vec<Constant<Bits<128>>>,
    #[init(Constant::new(u64::from(start()).into()))]
    before: Constant<Bits<32>>,
}

impl Logic for Icrc {
    #[hdl_gen]
    fn update(&mut self) {
        let mut chunk = self.beat.val().get_bits::<128>(0);
        let mut changes = bits::<128>(0xff) << 120;
        let at_quarter = bits::<4>(1) << self.quarter.val();
        if at_quarter.get_bit(1) {
            chunk = self.beat.val().get_bits::<128>(128);
            changes = (bits::<128>(0xff) << 48) | (bits::<128>(0xffff) << 64);
        }
        if at_quarter.get_bit(2) {
            chunk = self.beat.val().get_bits::<128>(256);
            changes = (bits::<128>(0xffff) << 64) | (bits::<128>(0xff) << 112);
        }
        if at_quarter.get_bit(3) {
            chunk = self.beat.val().get_bits::<128>(384);
            changes = bits::<128>(0);
        }
        let mut data = chunk;
        if self.first_beat.val() {
            data = chunk | changes;
        }
        let mut old = self.state.q.val();
        let mut counted = data;
        if self.first_beat.val() && at_quarter.get_bit(0) {
            old = self.before.val();
            counted = (data >> 112) << 112;
        }
        // Bytes that count come last, behind zeros, which leave a register of zeros as it is; the
        // register is added to the first that counts.
        let injected = bit_cast::<128, 32>(old);
        let mut all = counted ^ injected;
        let mut rest = bits::<32>(0);
        if self.bytes.val() == bits::<5>(last_bytes::THREE_WORDS_AND_HALF) {
            all = (data ^ injected) << 16;
        }
        if self.bytes.val() == bits::<5>(last_bytes::TWO_WORDS_AND_HALF) {
            all = (data ^ injected) << 48;
        }
        if self.bytes.val() == bits::<5>(last_bytes::WORD_AND_HALF) {
            all = (data ^ injected) << 80;
        }
        if self.bytes.val() == bits::<5>(last_bytes::HALF_WORD) {
            all = (data ^ injected) << 112;
            rest = old >> 16;
        }
        let mut made = bits::<32>(0);
        for i in 0..32 {
            made = made.replace_bit(i, (all & self.mask[i].val()).xor());
        }
        if self.take.val() {
            self.state.d.next = made ^ rest;
        }
        self.value.next = self.state.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{line_to_bits, random};
    use crate::net::testing::icrc;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    #[test]
    fn the_constants_are_those_of_the_standard() {
        // CRC-32 of "123456789", and the start value of the RoCEv2 annex.
        assert_eq!(!b"123456789".iter().fold(u32::MAX, |state, byte| step(state, *byte)), 0xcbf4_3926);
        assert_eq!([0xff; 8].iter().fold(u32::MAX, |state, byte| step(state, *byte)), RESIDUE);
        for state in [1, 0x8000_0000, 0x1234_5678, u32::MAX] {
            assert_eq!(step_back(step(state, 0)), state);
        }
    }

    #[test]
    fn frames_of_every_length() {
        let mut rng = random("icrc");
        let mut uut = Icrc::default();
        reset!(uut);
        for case in 0..400 {
            let length = 54 + 4 * rng.gen_range(0..40);
            let mut frame: Vec<u8> = (0..length).map(|_| rng.gen()).collect();
            let expected = icrc(&frame);
            let with_crc = case % 2 == 1;
            if with_crc {
                frame.extend_from_slice(&expected.to_le_bytes());
            }
            for (index, chunk) in frame.chunks(16).enumerate() {
                // What does not count is anything.
                let (beat, quarter) = (index / 4, index % 4);
                let mut data: [u8; 64] = std::array::from_fn(|_| rng.gen());
                data[16 * quarter..][..chunk.len()].copy_from_slice(chunk);
                uut.take.next = true;
                uut.beat.next = line_to_bits(&data);
                uut.first_beat.next = beat == 0;
                uut.quarter.next = (quarter as u64).into();
                uut.bytes.next = (chunk.len() as u64).into();
                settle(&mut uut);
                tick!(uut);
                if rng.gen_bool(0.2) {
                    uut.take.next = false;
                    settle(&mut uut);
                    tick!(uut);
                }
            }
            let value = uut.value.val().to_u64() as u32;
            assert_eq!(value, if with_crc { RESIDUE } else { !expected }, "{length} bytes");
        }
    }
}
