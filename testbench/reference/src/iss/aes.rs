//! The AES instructions of RV32 (Zkne, Zknd), from FIPS 197 and the scalar cryptography
//! specification 1.0.1.

/// Product in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (FIPS 197, section 4.2).
const fn product(a: u8, b: u8) -> u8 {
    let (mut a, mut sum, mut bit) = (a, 0, 0);
    while bit < 8 {
        if b >> bit & 1 == 1 {
            sum ^= a;
        }
        a = a << 1 ^ if a & 0x80 != 0 { 0x1b } else { 0 };
        bit += 1;
    }
    sum
}

/// The S-box (section 5.1.1): the inverse in GF(2^8), then an affine transformation.
const SUBSTITUTE: [u8; 256] = {
    let mut table = [0; 256];
    let mut value = 0;
    while value < 256 {
        // The inverse is the power 254; 0 stays 0.
        let (mut inverse, mut power) = (1, 0);
        while power < 254 {
            inverse = product(inverse, value as u8);
            power += 1;
        }
        let i: u8 = inverse;
        table[value] = i ^ i.rotate_left(1) ^ i.rotate_left(2) ^ i.rotate_left(3) ^ i.rotate_left(4) ^ 0x63;
        value += 1;
    }
    table
};

/// The inverse S-box (section 5.3.2).
const RESTORE: [u8; 256] = {
    let mut table = [0; 256];
    let mut value = 0;
    while value < 256 {
        table[SUBSTITUTE[value] as usize] = value as u8;
        value += 1;
    }
    table
};

/// The byte of `rs2` that an instruction works on, substituted, in its place, on top of `rs1`. The
/// column of the word is (`first`, ..) times the byte, lowest byte first.
const fn round(rs1: u32, rs2: u32, byte: u32, table: &[u8; 256], column: [u8; 4]) -> u32 {
    let substituted = table[(rs2 >> (8 * byte) & 0xff) as usize];
    let word = u32::from_le_bytes([
        product(substituted, column[0]),
        product(substituted, column[1]),
        product(substituted, column[2]),
        product(substituted, column[3]),
    ]);
    rs1 ^ word.rotate_left(8 * byte)
}

/// `aes32esi`: last round of encryption.
pub const fn encrypt_last(rs1: u32, rs2: u32, byte: u32) -> u32 {
    round(rs1, rs2, byte, &SUBSTITUTE, [1, 0, 0, 0])
}

/// `aes32esmi`: middle round of encryption, with MixColumns (section 5.1.3).
pub const fn encrypt_middle(rs1: u32, rs2: u32, byte: u32) -> u32 {
    round(rs1, rs2, byte, &SUBSTITUTE, [2, 1, 1, 3])
}

/// `aes32dsi`: last round of decryption.
pub const fn decrypt_last(rs1: u32, rs2: u32, byte: u32) -> u32 {
    round(rs1, rs2, byte, &RESTORE, [1, 0, 0, 0])
}

/// `aes32dsmi`: middle round of decryption, with the inverse MixColumns (section 5.3.3).
pub const fn decrypt_middle(rs1: u32, rs2: u32, byte: u32) -> u32 {
    round(rs1, rs2, byte, &RESTORE, [0xe, 0x9, 0xd, 0xb])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substitution_of_the_standard() {
        // FIPS 197, section 5.1.1 (example) and figure 7.
        assert_eq!(SUBSTITUTE[0x53], 0xed);
        assert_eq!(SUBSTITUTE[0x00], 0x63);
        assert_eq!(SUBSTITUTE[0xff], 0x16);
        assert_eq!(RESTORE[0xed], 0x53);
        assert_eq!(RESTORE[0x00], 0x52);
    }

    fn words(bytes: [u8; 16]) -> [u32; 4] {
        std::array::from_fn(|i| u32::from_le_bytes(bytes[4 * i..][..4].try_into().unwrap()))
    }

    /// The key schedule of AES-128 (section 5.2), with the last-round instruction as the S-box.
    fn schedule(key: [u8; 16]) -> [[u32; 4]; 11] {
        let mut keys = [words(key); 11];
        let mut constant = 1;
        for round in 1..11 {
            let rotated = keys[round - 1][3].rotate_right(8);
            let substituted = (0..4).fold(0, |word, byte| encrypt_last(word, rotated, byte));
            keys[round][0] = keys[round - 1][0] ^ substituted ^ u32::from(constant);
            for word in 1..4 {
                keys[round][word] = keys[round - 1][word] ^ keys[round][word - 1];
            }
            constant = product(constant, 2);
        }
        keys
    }

    /// FIPS 197, appendix C.1: the example of AES-128, there and back.
    #[test]
    fn example_of_the_standard() {
        let keys = schedule(std::array::from_fn(|i| i as u8));
        let plain = words(std::array::from_fn(|i| (i * 0x11) as u8));
        let cipher = words([
            0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a,
        ]);
        let mut state: [u32; 4] = std::array::from_fn(|i| plain[i] ^ keys[0][i]);
        for (number, key) in keys.iter().enumerate().skip(1) {
            let step = if number == 10 { encrypt_last } else { encrypt_middle };
            // ShiftRows: byte b of a column comes from the column b further on.
            state =
                std::array::from_fn(|i| (0..4).fold(key[i], |w, b| step(w, state[(i + b) % 4], b as u32)));
        }
        assert_eq!(state, cipher);

        // The equivalent inverse cipher (section 5.3.5) needs the inverse MixColumns of the round
        // keys.
        let unmix = |word: u32| {
            let substituted = (0..4).fold(0, |w, byte| encrypt_last(w, word, byte));
            (0..4).fold(0, |w, byte| decrypt_middle(w, substituted, byte))
        };
        let mut state: [u32; 4] = std::array::from_fn(|i| cipher[i] ^ keys[10][i]);
        for number in (0..10).rev() {
            let key = if number == 0 { keys[0] } else { keys[number].map(unmix) };
            let step = if number == 0 { decrypt_last } else { decrypt_middle };
            state = std::array::from_fn(|i| {
                (0..4).fold(key[i], |w, b| step(w, state[(i + 4 - b) % 4], b as u32))
            });
        }
        assert_eq!(state, plain);
    }
}
