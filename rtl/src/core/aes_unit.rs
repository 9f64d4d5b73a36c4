//! AES round steps of a lane.

use super::SubstitutionBox;
use hermes_hdl::prelude::*;

/// `aes32esi`, `aes32esmi`, `aes32dsi` and `aes32dsmi` (RISC-V scalar cryptography, Zkne and Zknd)
/// of one lane.
///
/// Combinational: the byte of `rs2` that `byte_select` names is substituted, in a middle round
/// multiplied by the column of MixColumns or InvMixColumns, rotated to its place and added to
/// `rs1`. `result` is 0 while `enable` is low.
#[derive(LogicBlock, Default)]
pub struct AesUnit {
    /// The instruction is an AES step; else `result` is 0.
    pub enable: Signal<In, Bit>,
    /// First source register.
    pub rs1: Signal<In, Bits<32>>,
    /// Second source register.
    pub rs2: Signal<In, Bits<32>>,
    /// Byte of `rs2` that is substituted.
    pub byte_select: Signal<In, Bits<2>>,
    /// Decryption, else encryption.
    pub decrypt: Signal<In, Bit>,
    /// Middle round: with MixColumns.
    pub middle: Signal<In, Bit>,
    /// The destination register's value.
    pub result: Signal<Out, Bits<32>>,

    substitution: SubstitutionBox,
}

impl Logic for AesUnit {
    #[hdl_gen]
    fn update(&mut self) {
        let byte = self.rs2.val().get_bits::<8>((bit_cast::<5, 2>(self.byte_select.val()) << 3).index());
        self.substitution.enable.next = self.enable.val();
        self.substitution.inverse_box.next = self.decrypt.val();
        self.substitution.x.next = byte;
        let once = self.substitution.y.val();

        self.result.next = bits::<32>(0);
        let mut twice = bits::<8>(0);
        let mut four = bits::<8>(0);
        let mut eight = bits::<8>(0);
        let mut lowest = once;
        let mut second = bits::<8>(0);
        let mut third = bits::<8>(0);
        let mut highest = bits::<8>(0);
        let mut column = bits::<32>(0);
        let mut turned = bits::<32>(0);
        let mut placed = bits::<32>(0);
        if self.enable.val() {
            // Multiples of the byte in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1
            twice = once << 1;
            if once.get_bit(7) {
                twice = (once << 1) ^ 0x1b;
            }
            four = twice << 1;
            if twice.get_bit(7) {
                four = (twice << 1) ^ 0x1b;
            }
            eight = four << 1;
            if four.get_bit(7) {
                eight = (four << 1) ^ 0x1b;
            }
            if self.middle.val() {
                if self.decrypt.val() {
                    lowest = eight ^ four ^ twice;
                    second = eight ^ once;
                    third = eight ^ four ^ once;
                    highest = eight ^ twice ^ once;
                } else {
                    lowest = twice;
                    second = once;
                    third = once;
                    highest = twice ^ once;
                }
            }
            column = bit_cast::<32, 8>(lowest)
                | (bit_cast::<32, 8>(second) << 8)
                | (bit_cast::<32, 8>(third) << 16)
                | (bit_cast::<32, 8>(highest) << 24);
            turned = column;
            if self.byte_select.val().get_bit(0) {
                turned = (column << 8) | (column >> 24);
            }
            placed = turned;
            if self.byte_select.val().get_bit(1) {
                placed = (turned << 16) | (turned >> 16);
            }
            self.result.next = self.rs1.val() ^ placed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::substitution_box::tests::{multiply, substitute};
    use hermes_hdl::prelude::simulate;
    use rand::Rng;

    fn step(uut: &mut AesUnit, rs1: u32, rs2: u32, byte: usize, decrypt: bool, middle: bool) -> u32 {
        uut.enable.next = true;
        uut.rs1.next = bits(rs1.into());
        uut.rs2.next = bits(rs2.into());
        uut.byte_select.next = bits(byte as u64);
        uut.decrypt.next = decrypt;
        uut.middle.next = middle;
        assert!(simulate(uut, 20));
        uut.result.val().to_u32()
    }

    #[test]
    fn every_byte_place_and_kind() {
        let mut random = hermes_hdl::testing::random();
        let mut uut = AesUnit::default();
        let mut inverse = [0u8; 256];
        (0..=255u8).for_each(|x| inverse[usize::from(substitute(x))] = x);
        for x in 0..=255u8 {
            let (rs1, noise): (u32, u32) = (random.gen(), random.gen());
            let byte = usize::from(x) % 4;
            let rs2 = noise & !(0xff << (8 * byte)) | u32::from(x) << (8 * byte);
            for (decrypt, middle) in [(false, false), (false, true), (true, false), (true, true)] {
                let y = if decrypt { inverse[usize::from(x)] } else { substitute(x) };
                let factors = match (decrypt, middle) {
                    (_, false) => [1, 0, 0, 0],
                    (false, true) => [2, 1, 1, 3],
                    (true, true) => [14, 9, 13, 11],
                };
                let column = u32::from_le_bytes(factors.map(|f| multiply(y, f)));
                let expected = rs1 ^ column.rotate_left(8 * byte as u32);
                let result = step(&mut uut, rs1, rs2, byte, decrypt, middle);
                assert_eq!(result, expected, "{x:#04x} decrypt {decrypt} middle {middle}");
            }
        }
        uut.enable.next = false;
        assert!(simulate(&mut uut, 20));
        assert_eq!(uut.result.val().to_u32(), 0);
    }

    /// A column from the four columns whose bytes the shifted rows bring to it.
    fn column(uut: &mut AesUnit, key: u32, state: &[u32; 4], at: usize, decrypt: bool, middle: bool) -> u32 {
        (0..4).fold(key, |sum, byte| {
            let from = if decrypt { (at + 4 - byte) % 4 } else { (at + byte) % 4 };
            step(uut, sum, state[from], byte, decrypt, middle)
        })
    }

    fn words(bytes: &[u8; 16]) -> [u32; 4] {
        std::array::from_fn(|i| u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap()))
    }

    /// FIPS 197, appendix C.1, with the instructions used as the cryptography extension intends.
    #[test]
    fn aes_128_example() {
        let mut uut = AesUnit::default();
        let plain: [u8; 16] = std::array::from_fn(|i| 0x11 * i as u8);
        let cipher = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128.to_be_bytes();
        let mut keys: Vec<u32> = words(&std::array::from_fn(|i| i as u8)).into();
        let mut constant = 1;
        for i in 4..44 {
            let mut word = keys[i - 1];
            if i % 4 == 0 {
                let rotated = word.rotate_right(8);
                word = (0..4)
                    .fold(u32::from(constant), |sum, byte| step(&mut uut, sum, rotated, byte, false, false));
                constant = multiply(constant, 2);
            }
            keys.push(keys[i - 4] ^ word);
        }

        let mut state: [u32; 4] = std::array::from_fn(|i| words(&plain)[i] ^ keys[i]);
        for round in 1..=10 {
            state =
                std::array::from_fn(|i| column(&mut uut, keys[4 * round + i], &state, i, false, round != 10));
        }
        assert_eq!(state, words(&cipher));

        // The equivalent inverse cipher: the keys of the middle rounds go through InvMixColumns.
        let mut state: [u32; 4] = std::array::from_fn(|i| state[i] ^ keys[40 + i]);
        for round in (0..10).rev() {
            state = std::array::from_fn(|i| {
                let mut key = keys[4 * round + i];
                if round != 0 {
                    let boxed = (0..4).fold(0, |sum, byte| step(&mut uut, sum, key, byte, false, false));
                    key = (0..4).fold(0, |sum, byte| step(&mut uut, sum, boxed, byte, true, true));
                }
                column(&mut uut, key, &state, i, true, round != 0)
            });
        }
        assert_eq!(state, words(&plain));
    }
}
