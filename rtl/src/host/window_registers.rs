//! The registers of the windows of memory that kernels may touch.

use super::registers::{address_of, reset_of};
use crate::core::WINDOWS;
use crate::prelude::*;

/// The READ_WINDOW and WRITE_WINDOW registers of [`REGISTERS`](super::registers::REGISTERS).
///
/// 1. `value` answers `address` in the same cycle; it is zero if no register of this unit is there.
/// 2. With `write`, the register at `address` takes the bits of `write_data` that are set in `write_mask`, at this
///    edge; the outputs show the registers.
#[derive(Clone, Debug, LogicBlock)]
pub struct WindowRegisters {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high: every register takes its reset value.
    pub reset: Signal<In, Bit>,
    /// Byte offset of the access.
    pub address: Signal<In, Bits<12>>,
    /// The access is a write.
    pub write: Signal<In, Bit>,
    /// What to write.
    pub write_data: Signal<In, Bits<32>>,
    /// The bits to write.
    pub write_mask: Signal<In, Bits<32>>,
    /// The register at `address`.
    pub value: Signal<Out, Bits<32>>,
    /// Bits 31:6 of the READ_WINDOW_BASE registers.
    pub read_base: Vec<Signal<Out, Bits<26>>>,
    /// Bits 31:6 of the READ_WINDOW_SIZE registers.
    pub read_size: Vec<Signal<Out, Bits<26>>>,
    /// Bits 31:6 of the WRITE_WINDOW_BASE registers.
    pub write_base: Vec<Signal<Out, Bits<26>>>,
    /// Bits 31:6 of the WRITE_WINDOW_SIZE registers.
    pub write_size: Vec<Signal<Out, Bits<26>>>,
    read_base_value: Vec<Register<Bits<32>>>,
    read_size_value: Vec<Register<Bits<32>>>,
    write_base_value: Vec<Register<Bits<32>>>,
    write_size_value: Vec<Register<Bits<32>>>,
    at_read_base: Vec<Constant<Bits<12>>>,
    at_read_size: Vec<Constant<Bits<12>>>,
    at_write_base: Vec<Constant<Bits<12>>>,
    at_write_size: Vec<Constant<Bits<12>>>,
    _windows: usize,
}

impl Default for WindowRegisters {
    /// The registers, with the offsets and reset values of the table.
    fn default() -> Self {
        let name = |access: &str, field: &str, i: usize| format!("{access}_WINDOW_{i}_{field}");
        let values = |access: &str, field: &str| {
            (0..WINDOWS).map(|i| reset_of(&name(access, field, i))).collect::<Vec<_>>()
        };
        let addresses = |access: &str, field: &str| {
            (0..WINDOWS).map(|i| address_of(&name(access, field, i), 32)).collect::<Vec<_>>()
        };
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            address: Signal::default(),
            write: Signal::default(),
            write_data: Signal::default(),
            write_mask: Signal::default(),
            value: Signal::default(),
            read_base: vec![Signal::default(); WINDOWS],
            read_size: vec![Signal::default(); WINDOWS],
            write_base: vec![Signal::default(); WINDOWS],
            write_size: vec![Signal::default(); WINDOWS],
            read_base_value: values("READ", "BASE"),
            read_size_value: values("READ", "SIZE"),
            write_base_value: values("WRITE", "BASE"),
            write_size_value: values("WRITE", "SIZE"),
            at_read_base: addresses("READ", "BASE"),
            at_read_size: addresses("READ", "SIZE"),
            at_write_base: addresses("WRITE", "BASE"),
            at_write_size: addresses("WRITE", "SIZE"),
            _windows: WINDOWS,
        }
    }
}

impl Logic for WindowRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        let mut found = bits::<32>(0);
        for i in 0..self._windows {
            if self.address.val() == self.at_read_base[i].val() {
                found = self.read_base_value[i].q.val();
            }
            if self.address.val() == self.at_read_size[i].val() {
                found = self.read_size_value[i].q.val();
            }
            if self.address.val() == self.at_write_base[i].val() {
                found = self.write_base_value[i].q.val();
            }
            if self.address.val() == self.at_write_size[i].val() {
                found = self.write_size_value[i].q.val();
            }
        }
        self.value.next = found;
        let written = (found & !self.write_mask.val()) | (self.write_data.val() & self.write_mask.val());
        for i in 0..self._windows {
            if self.write.val() {
                if self.address.val() == self.at_read_base[i].val() {
                    self.read_base_value[i].d.next = written;
                }
                if self.address.val() == self.at_read_size[i].val() {
                    self.read_size_value[i].d.next = written;
                }
                if self.address.val() == self.at_write_base[i].val() {
                    self.write_base_value[i].d.next = written;
                }
                if self.address.val() == self.at_write_size[i].val() {
                    self.write_size_value[i].d.next = written;
                }
            }
            self.read_base[i].next = self.read_base_value[i].q.val().get_bits::<26>(6);
            self.read_size[i].next = self.read_size_value[i].q.val().get_bits::<26>(6);
            self.write_base[i].next = self.write_base_value[i].q.val().get_bits::<26>(6);
            self.write_size[i].next = self.write_size_value[i].q.val().get_bits::<26>(6);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::{random, settle, start, tick};
    use crate::host::registers::REGISTERS;
    use rand::Rng;

    #[test]
    fn keep_what_was_written() {
        let mut random = random();
        let mut unit = WindowRegisters::default();
        start!(unit);
        let mut model: Vec<u64> = REGISTERS.iter().map(|r| u64::from(r.reset)).collect();
        for cycle in 0..4_000 {
            let chosen = random.gen_range(0..REGISTERS.len());
            let register = &REGISTERS[chosen];
            let (data, mask) = (u64::from(random.gen::<u32>()), u64::from(random.gen::<u32>()));
            unit.address.next = u64::from(register.offset).into();
            unit.write.next = random.gen();
            unit.write_data.next = data.into();
            unit.write_mask.next = mask.into();
            settle!(unit);
            let ours = register.name.contains("_WINDOW_");
            let expected = if ours { model[chosen] } else { 0 };
            assert_eq!(unit.value.val().to_u64(), expected, "cycle {cycle}: {}", register.name);
            if ours && unit.write.val() {
                model[chosen] = model[chosen] & !mask | data & mask;
            }
            tick!(unit);
            let of = |name| model[REGISTERS.iter().position(|r| r.name == name).unwrap()];
            assert_eq!(unit.read_base[0].val().to_u64(), of("READ_WINDOW_0_BASE") >> 6);
            assert_eq!(unit.read_size[1].val().to_u64(), of("READ_WINDOW_1_SIZE") >> 6);
            assert_eq!(unit.write_base[1].val().to_u64(), of("WRITE_WINDOW_1_BASE") >> 6);
            assert_eq!(unit.write_size[0].val().to_u64(), of("WRITE_WINDOW_0_SIZE") >> 6);
        }
    }
}
