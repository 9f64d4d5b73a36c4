//! The registers of the harts.

use crate::types::OperandSource;
use hermes_hdl::prelude::*;

/// 32 registers for each of eight harts, read in stages D and R, written in stage W.
///
/// 1. `rs1_address` and `rs2_address` (hart in bits 7:5) in stage D, and in the next cycle, stage
///    R, `rs1_source` and `rs2_source`, give `operand_1` and `operand_2` in the cycle after that,
///    stage X.
/// 2. The sources say which instruction wrote the register last: none that is still in the
///    pipeline, the one right before (`Result`), two before (`Written`) or three before
///    (`JustWritten`). `Zero` gives 0.
/// 3. `write_data` is the result of the instruction in stage W, whether it is written or not.
#[clocked("Registers keep what they hold")]
#[derive(LogicBlock)]
#[new(compares: bool)]
pub struct HartRegisters {
    /// Stage D: address of `rs1`.
    pub rs1_address: Signal<In, Bits<8>>,
    /// Stage D: address of `rs2`.
    pub rs2_address: Signal<In, Bits<8>>,
    /// Stage R: source of the value of `rs1`.
    pub rs1_source: Signal<In, OperandSource>,
    /// Stage R: source of the value of `rs2`.
    pub rs2_source: Signal<In, OperandSource>,
    /// Stage W: `write_data` is written.
    pub write_enable: Signal<In, Bit>,
    /// Stage W: address of the destination register.
    pub write_address: Signal<In, Bits<8>>,
    /// Stage W: the result.
    pub write_data: Signal<In, Bits<32>>,
    /// Stage X: value of `rs1`.
    pub operand_1: Signal<Out, Bits<32>>,
    /// Stage X: value of `rs2`.
    pub operand_2: Signal<Out, Bits<32>>,
    /// The register at `compare_address` is read at this edge instead of that at `rs2_address`
    /// (only with compare-and-swap, as the next two).
    #[there(compares)]
    pub compare_read: Part<Signal<In, Bit>>,
    /// Hart (7:5) and number of the register to read.
    #[there(compares)]
    pub compare_address: Part<Signal<In, Bits<8>>>,
    /// Value of the register, in the cycle after it was read.
    #[there(compares)]
    pub compare_value: Part<Signal<Out, Bits<32>>>,
    registers_1: RamNoCollision<32, 8>,
    registers_2: RamNoCollision<32, 8>,
    operand_1_x: Register<Bits<32>>,
    operand_2_x: Register<Bits<32>>,
    result_1: Register<Bit>,
    result_2: Register<Bit>,
    /// `write_data` of the cycle before.
    written: Register<Bits<32>>,
}

impl HartRegisters {
    /// Registers of harts without or with compare-and-swap.
    pub fn new(compares: bool) -> Self {
        Self::wired(compares)
    }
}

impl Logic for HartRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        self.registers_1.read_enable.next = true;
        self.registers_1.read_address.next = self.rs1_address.val();
        self.registers_1.write_enable.next = self.write_enable.val();
        self.registers_1.write_address.next = self.write_address.val();
        self.registers_1.write_data.next = self.write_data.val();
        self.registers_2.read_enable.next = true;
        self.registers_2.read_address.next = self.rs2_address.val();
        self.registers_2.write_enable.next = self.write_enable.val();
        self.registers_2.write_address.next = self.write_address.val();
        self.registers_2.write_data.next = self.write_data.val();
        self.written.d.next = self.write_data.val();
        if self.compare_read.is_there() {
            if self.compare_read.val() {
                self.registers_2.read_address.next = self.compare_address.val();
            }
            self.compare_value.next = self.registers_2.read_data.val();
        }

        // R: all but the result of the instruction right before, which is in stage W only in the
        // next cycle.
        match self.rs1_source.val() {
            OperandSource::Written => self.operand_1_x.d.next = self.write_data.val(),
            OperandSource::JustWritten => self.operand_1_x.d.next = self.written.q.val(),
            OperandSource::Zero => self.operand_1_x.d.next = bits::<32>(0),
            _ => self.operand_1_x.d.next = self.registers_1.read_data.val(),
        }
        match self.rs2_source.val() {
            OperandSource::Written => self.operand_2_x.d.next = self.write_data.val(),
            OperandSource::JustWritten => self.operand_2_x.d.next = self.written.q.val(),
            OperandSource::Zero => self.operand_2_x.d.next = bits::<32>(0),
            _ => self.operand_2_x.d.next = self.registers_2.read_data.val(),
        }
        self.result_1.d.next = self.rs1_source.val() == OperandSource::Result;
        self.result_2.d.next = self.rs2_source.val() == OperandSource::Result;

        // X
        self.operand_1.next = self.operand_1_x.q.val();
        if self.result_1.q.val() {
            self.operand_1.next = self.write_data.val();
        }
        self.operand_2.next = self.operand_2_x.q.val();
        if self.result_2.q.val() {
            self.operand_2.next = self.write_data.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    /// An instruction in the pipeline: where it writes, and what.
    #[derive(Clone, Copy, Default)]
    struct Writer {
        address: u64,
        data: u64,
        writes: bool,
    }

    /// Where a reader in stage D finds the register: the writers before it are in stages R, X and
    /// W.
    fn source(before: &[Writer; 3], address: u64) -> OperandSource {
        let kinds = [OperandSource::Result, OperandSource::Written, OperandSource::JustWritten];
        if address % 32 == 0 {
            return OperandSource::Zero;
        }
        let found = before.iter().position(|w| w.writes && w.address == address);
        found.map_or(OperandSource::Registers, |i| kinds[i])
    }

    #[test]
    fn operands_are_what_was_written_last() {
        let mut rng = random("hart_registers");
        let mut uut = HartRegisters::new(true);
        reset!(uut);
        // Few registers of three harts: there is always one in the pipeline.
        let some = |rng: &mut rand_chacha::ChaCha8Rng| {
            32 * [0, 3, 7][rng.gen_range(0..3usize)] + [0, 1, 9, 31][rng.gen_range(0..4usize)]
        };
        let mut values = [0u64; 256];
        let mut known = [false; 256];
        // Writers in stages R, X and W; the readers with their sources and values in stages R and
        // X.
        let mut writers = [Writer::default(); 3];
        let mut in_read = [(OperandSource::Zero, None); 2];
        let mut in_execute: [Option<u64>; 2] = [None; 2];
        let mut seen = std::collections::HashMap::new();
        for cycle in 0..30_000u64 {
            let addresses = [some(&mut rng), some(&mut rng)];
            uut.rs1_address.next = addresses[0].into();
            uut.rs2_address.next = addresses[1].into();
            uut.rs1_source.next = in_read[0].0;
            uut.rs2_source.next = in_read[1].0;
            uut.write_enable.next = writers[2].writes;
            uut.write_address.next = writers[2].address.into();
            uut.write_data.next = writers[2].data.into();
            settle(&mut uut);
            for (value, operand) in in_execute.iter().zip([uut.operand_1.val(), uut.operand_2.val()]) {
                if let Some(value) = value {
                    assert_eq!(operand.to_u64(), *value, "cycle {cycle}");
                }
            }
            tick!(uut);
            if writers[2].writes {
                values[writers[2].address as usize] = writers[2].data;
                known[writers[2].address as usize] = true;
            }
            in_execute = in_read.map(|(_, value)| value);
            in_read = addresses.map(|address| {
                let kind = source(&writers, address);
                *seen.entry(format!("{kind:?}")).or_insert(0) += 1;
                let writer = writers.iter().find(|w| w.writes && w.address == address);
                let value = match (kind, writer) {
                    (OperandSource::Zero, _) => Some(0),
                    (_, Some(writer)) => Some(writer.data),
                    _ => known[address as usize].then_some(values[address as usize]),
                };
                (kind, value)
            });
            let address = some(&mut rng);
            let new = Writer {
                address,
                data: rng.gen::<u32>().into(),
                writes: address % 32 != 0 && rng.gen_bool(0.7),
            };
            writers = [new, writers[0], writers[1]];
        }
        assert!(seen.len() == 5 && seen.values().all(|&n| n > 1_000), "{seen:?}");
    }
}
