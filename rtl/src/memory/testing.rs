//! What the native tests of this folder share.

use hermes_hdl::prelude::*;
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;

/// A random source for the test called `name`, which is printed with the seed.
pub fn random(name: &str) -> ChaCha8Rng {
    println!("{name}");
    hermes_hdl::testing::random()
}

/// One line of memory.
pub type Line = [u8; 64];

/// The vector that carries `line`: byte 0 in the lowest bits.
pub fn line_to_bits(line: &Line) -> Bits<512> {
    num_bigint::BigUint::from_bytes_le(line).into()
}

/// The line that a vector carries.
pub fn bits_to_line(value: Bits<512>) -> Line {
    let bytes = num_bigint::BigUint::from(value).to_bytes_le();
    let mut line = [0; 64];
    line[..bytes.len()].copy_from_slice(&bytes);
    line
}

/// The byte strobes in a vector, strobe of byte 0 in bit 0.
pub fn strobe(value: Bits<64>) -> u64 {
    value.to_u64()
}

/// A memory of lines; a line that was not written holds bytes that depend on its address.
#[derive(Clone, Default, Debug)]
pub struct LineMemory {
    lines: HashMap<u32, Line>,
}

impl LineMemory {
    /// The line at line address `line`.
    pub fn read(&self, line: u32) -> Line {
        self.lines.get(&line).copied().unwrap_or_else(|| {
            std::array::from_fn(|i| (line.wrapping_mul(0x9e37_79b1) >> 7).wrapping_add(i as u32 * 37) as u8)
        })
    }

    /// Writes the bytes of `data` whose strobe is set.
    pub fn write(&mut self, line: u32, data: &Line, strobe: u64) {
        let mut value = self.read(line);
        for (i, byte) in data.iter().enumerate() {
            if strobe >> i & 1 == 1 {
                value[i] = *byte;
            }
        }
        self.lines.insert(line, value);
    }
}

/// The value that a load of `1 << size` bytes gives from the word at its address.
pub fn loaded_value(word: u32, offset: u32, size: u64, signed: bool) -> u32 {
    let raw = word >> (8 * offset);
    match (size, signed) {
        (0, false) => raw & 0xff,
        (0, true) => raw as u8 as i8 as u32,
        (1, false) => raw & 0xffff,
        (1, true) => raw as u16 as i16 as u32,
        _ => raw,
    }
}
