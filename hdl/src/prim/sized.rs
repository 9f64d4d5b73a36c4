//! What the memories whose depth is a parameter of `new` share.

/// Words of a memory called `name` in messages.
///
/// # Panics
/// If `depth_log2` is not 1 to 16: the address ports have 16 bits.
pub fn words(name: &str, depth_log2: usize) -> usize {
    assert!((1..=16).contains(&depth_log2), "{name}: depth 2^{depth_log2}, expected 2^1 to 2^16");
    1 << depth_log2
}

/// A declaration that names the address bits that do not count, so that no tool reports them:
/// those of the ports `addresses` from bit `index` to their last one, `last`. Both are Verilog.
pub fn unused(addresses: &[&str], last: &str, index: &str) -> String {
    let above: Vec<String> = addresses.iter().map(|a| format!("{a}[{last}:{index}]")).collect();
    format!(
        "generate\n    \
             if ({index} <= {last}) begin : above\n        \
                 wire unused = &{{1'b0, {}}};\n    \
             end\n\
         endgenerate\n",
        above.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::super::{RamSized, RamSizedAsync, RamSizedBytes};
    use crate::prelude::*;
    use crate::testing::{check_synthesized_with, check_with};
    use crate::testing::{random, settle};
    use rand::Rng;

    /// One memory of each kind on the same ports.
    #[derive(Clone, LogicBlock)]
    struct Memories {
        pub clock: Signal<In, Clock>,
        pub reset: Signal<In, Bit>,
        pub write_enable: Signal<In, Bit>,
        pub write_address: Signal<In, Bits<16>>,
        pub write_data: Signal<In, Bits<512>>,
        pub write_strobe: Signal<In, Bits<64>>,
        pub read_enable: Signal<In, Bit>,
        pub read_address: Signal<In, Bits<16>>,
        pub read_data: Signal<Out, Bits<512>>,
        pub read_bytes: Signal<Out, Bits<512>>,
        pub read_now: Signal<Out, Bits<512>>,
        plain: RamSized<512>,
        bytes: RamSizedBytes,
        now: RamSizedAsync<512>,
    }

    impl Memories {
        fn new(depth_log2: usize) -> Self {
            Self {
                clock: Signal::default(),
                reset: Signal::default(),
                write_enable: Signal::default(),
                write_address: Signal::default(),
                write_data: Signal::default(),
                write_strobe: Signal::default(),
                read_enable: Signal::default(),
                read_address: Signal::default(),
                read_data: Signal::default(),
                read_bytes: Signal::default(),
                read_now: Signal::default(),
                plain: RamSized::new(depth_log2),
                bytes: RamSizedBytes::new(depth_log2),
                now: RamSizedAsync::new(depth_log2),
            }
        }
    }

    impl Logic for Memories {
        #[hdl_gen]
        fn update(&mut self) {
            self.plain.write_enable.next = self.write_enable.val();
            self.plain.write_address.next = self.write_address.val();
            self.plain.write_data.next = self.write_data.val();
            self.plain.read_enable.next = self.read_enable.val();
            self.plain.read_address.next = self.read_address.val();
            self.read_data.next = self.plain.read_data.val();
            self.bytes.write_enable.next = self.write_enable.val();
            self.bytes.write_address.next = self.write_address.val();
            self.bytes.write_data.next = self.write_data.val();
            self.bytes.write_strobe.next = self.write_strobe.val();
            self.bytes.read_enable.next = self.read_enable.val();
            self.bytes.read_address.next = self.read_address.val();
            self.read_bytes.next = self.bytes.read_data.val();
            self.now.write_enable.next = self.write_enable.val();
            self.now.write_address.next = self.write_address.val();
            self.now.write_data.next = self.write_data.val();
            self.now.read_address.next = self.read_address.val();
            self.read_now.next = self.now.read_data.val();
        }
    }

    /// Against the Verilog, which holds anything until every byte was written and read once.
    #[test]
    fn equal_their_verilog() {
        for depth_log2 in [1, 3] {
            check_with(Memories::new(depth_log2), 2_000, adjust);
        }
    }

    /// The same with the text for synthesis; a line is not read while it is written.
    #[test]
    fn equal_their_verilog_for_synthesis() {
        for depth_log2 in [1, 3] {
            check_synthesized_with(Memories::new(depth_log2), 2_000, |unit, random, cycle| {
                adjust(unit, random, cycle);
                let address = |signal: &Signal<In, Bits<16>>| signal.next.to_u64() % (1 << depth_log2);
                if cycle >= 20 && address(&unit.write_address) == address(&unit.read_address) {
                    unit.write_address.next = bits(address(&unit.read_address) ^ 1);
                }
            });
        }
    }

    fn adjust(unit: &mut Memories, random: &mut dyn FnMut() -> u64, cycle: u64) {
        unit.reset.next = cycle < 2;
        unit.write_address.next = bits(random() % 16);
        unit.read_address.next = bits(random() % 16);
        unit.write_enable.next = random() % 4 != 0;
        if cycle < 20 {
            unit.write_enable.next = cycle < 16;
            unit.write_strobe.next = bits(u64::MAX);
            unit.write_address.next = bits(cycle);
            unit.read_address.next = bits(cycle.saturating_sub(2) / 2);
            unit.read_enable.next = cycle >= 16;
        }
        if cycle < 2 {
            unit.read_address.next = bits(0);
        }
    }

    #[test]
    fn hold_what_was_written() {
        let mut rng = random();
        let mut unit = Memories::new(2);
        let (mut words, mut merged) = ([0u64; 4], [[0u8; 8]; 4]);
        let (mut read, mut read_merged) = (None, None);
        for _ in 0..400 {
            let (write, address, other) =
                (rng.gen_bool(0.5), rng.gen_range(0..64usize), rng.gen_range(0..64));
            let (data, strobe): (u64, u64) = (rng.gen(), rng.gen());
            unit.write_enable.next = write;
            unit.write_address.next = bits(address as u64);
            unit.write_data.next = bits(data);
            unit.write_strobe.next = bits(strobe);
            unit.read_enable.next = rng.gen_bool(0.7);
            unit.read_address.next = bits(other as u64);
            settle(&mut unit);
            assert_eq!(unit.read_now.val().get_bits::<64>(0).to_u64(), words[other % 4]);
            if unit.read_enable.val() {
                let collides = write && address % 4 == other % 4;
                let (word, bytes) = (words[other % 4], u64::from_le_bytes(merged[other % 4]));
                read = Some(if collides { !word } else { word });
                read_merged = Some(if collides { !bytes } else { bytes });
            }
            if write {
                words[address % 4] = data;
                for (i, byte) in data.to_le_bytes().into_iter().enumerate() {
                    if strobe >> i & 1 == 1 {
                        merged[address % 4][i] = byte;
                    }
                }
            }
            unit.clock.next = true.into();
            settle(&mut unit);
            unit.clock.next = false.into();
            settle(&mut unit);
            if let (Some(word), Some(bytes)) = (read, read_merged) {
                assert_eq!(unit.read_data.val().get_bits::<64>(0).to_u64(), word);
                assert_eq!(unit.read_bytes.val().get_bits::<64>(0).to_u64(), bytes);
            }
        }
    }
}
