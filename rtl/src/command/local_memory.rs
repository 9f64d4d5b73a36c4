//! The local memory of the command processor.

use crate::memory::LoadValue;
use hermes_hdl::prelude::*;

/// 16 KB of memory in block RAM, one RAM for each byte of a word: loads addressed in stage X are
/// answered in stage W, and stores write in stage W.
///
/// 1. `read_enable` and `read_address` in stage X; in the next cycle, stage W, `value` is the byte,
///    half word or word that `offset`, `size` and `sign_extend` say, extended.
/// 2. `write_strobe`, `write_address` and `write_data` in stage W write at this edge. A load in
///    stage X in the same cycle, which is younger, sees what is written.
/// 3. The contents are undefined until written and are not reset.
#[clocked]
#[derive(LogicBlock)]
pub struct LocalMemory {
    /// Stage X: a word is read.
    pub read_enable: Signal<In, Bit>,
    /// Stage X: word address to read.
    pub read_address: Signal<In, Bits<12>>,
    /// Stage W: a value is wanted.
    pub wanted: Signal<In, Bit>,
    /// Stage W: byte offset in the word that was read, a multiple of the size.
    pub offset: Signal<In, Bits<2>>,
    /// Stage W: 0 byte, 1 half word, 2 word.
    pub size: Signal<In, Bits<2>>,
    /// Stage W: bytes and half words are extended by their sign.
    pub sign_extend: Signal<In, Bit>,
    /// Stage W: the extended value, 0 while it is not wanted.
    pub value: Signal<Out, Bits<32>>,
    /// Stage W: bytes to write.
    pub write_strobe: Signal<In, Bits<4>>,
    /// Stage W: word address.
    pub write_address: Signal<In, Bits<12>>,
    /// Stage W: the bytes, in their places.
    pub write_data: Signal<In, Bits<32>>,
    #[count(4)]
    bytes: Vec<RamNoCollision<8, 12>>,
    /// Bytes that were written in the cycle in which they were read.
    passed: Register<Bits<4>>,
    passed_data: Register<Bits<32>>,
    load_value: LoadValue,
    /// The bytes of the word in stage W.
    #[count(4)]
    byte: Vec<Signal<Local, Bits<8>>>,
}

impl Logic for LocalMemory {
    #[hdl_gen]
    fn update(&mut self) {
        // X
        let same = self.read_address.val() == self.write_address.val();
        if self.read_enable.val() {
            self.passed.d.next = bits::<4>(0);
            if same {
                self.passed.d.next = self.write_strobe.val();
            }
            self.passed_data.d.next = self.write_data.val();
        }
        for i in 0..4 {
            self.bytes[i].read_enable.next = self.read_enable.val();
            self.bytes[i].read_address.next = self.read_address.val();
            self.bytes[i].write_enable.next = self.write_strobe.val().get_bit(i);
            self.bytes[i].write_address.next = self.write_address.val();
            self.bytes[i].write_data.next = self.write_data.val().get_bits::<8>(8 * i);
            // W
            self.byte[i].next = self.bytes[i].read_data.val();
            if self.passed.q.val().get_bit(i) {
                self.byte[i].next = self.passed_data.q.val().get_bits::<8>(8 * i);
            }
        }
        let low =
            bit_cast::<32, 8>(self.byte[0].val()) | (bit_cast::<32, 8>(self.byte[1].val()) << bits::<6>(8));
        let high =
            bit_cast::<32, 8>(self.byte[2].val()) | (bit_cast::<32, 8>(self.byte[3].val()) << bits::<6>(8));
        self.load_value.enable.next = self.wanted.val();
        self.load_value.word.next = low | (high << bits::<6>(16));
        self.load_value.offset.next = self.offset.val();
        self.load_value.size.next = self.size.val();
        self.load_value.sign_extend.next = self.sign_extend.val();
        self.value.next = self.load_value.data.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::loaded_value;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    /// Loads of all sizes right behind stores to the same and to other words, against an array.
    #[test]
    fn loads_see_the_stores_before_them() {
        let mut random = random();
        let mut unit = LocalMemory::default();
        reset!(unit);
        let places: Vec<usize> = (0..6).map(|_| random.gen_range(0..4096)).chain([0, 4095]).collect();
        let mut words = vec![[None::<u8>; 4]; 4096];
        let (mut loads, mut behind) = (0, 0);
        let mut last: Option<(usize, usize)> = None;
        for cycle in 0..30_000 {
            let strobe: u64 = if random.gen() { random.gen_range(0..16) } else { 0 };
            let (write, data) = (places[random.gen_range(0..places.len())], random.gen::<u32>());
            unit.write_strobe.next = strobe.into();
            unit.write_address.next = (write as u64).into();
            unit.write_data.next = u64::from(data).into();
            // What was read in the cycle before.
            let size = random.gen_range(0..3usize);
            let offset = random.gen_range(0..4usize) >> size << size;
            let signed = random.gen::<bool>();
            unit.wanted.next = last.is_some();
            unit.offset.next = (offset as u64).into();
            unit.size.next = (size as u64).into();
            unit.sign_extend.next = signed;
            let read = random.gen_bool(0.7).then(|| places[random.gen_range(0..places.len())]);
            unit.read_enable.next = read.is_some();
            unit.read_address.next = (read.unwrap_or(write) as u64).into();
            settle(&mut unit);
            if let Some((word, written)) = last {
                let bytes = words[word];
                if bytes[offset..offset + (1 << size)].iter().all(Option::is_some) {
                    let value = u32::from_le_bytes(bytes.map(Option::unwrap_or_default));
                    let expected = loaded_value(value, offset as u32, size as u64, signed);
                    assert_eq!(unit.value.val().to_u32(), expected, "cycle {cycle}");
                    loads += 1;
                    behind += usize::from(written > 0);
                }
            }
            for i in (0..4).filter(|i| strobe >> i & 1 == 1) {
                words[write][i] = Some(data.to_le_bytes()[i]);
            }
            last = read.map(|word| (word, if word == write { strobe as usize } else { 0 }));
            tick!(unit);
        }
        assert!(loads > 10_000 && behind > 1_000, "{loads} {behind}");
    }
}
