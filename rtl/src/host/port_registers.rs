//! The registers that show what the packet ports did.

use super::registers::address_of;
use crate::prelude::*;

/// The read-only registers of the packet ports, by offset.
///
/// Combinational: `value` answers `address`, and is zero if none of these registers is there.
#[derive(Clone, Debug, LogicBlock)]
pub struct PortRegisters {
    /// Byte offset of the access.
    pub address: Signal<In, Bits<12>>,
    /// The register at `address`.
    pub value: Signal<Out, Bits<32>>,
    /// Register PORTS_BUSY.
    pub busy: Signal<In, Bit>,
    /// Register PORTS_FRAMES_IN.
    pub frames_in: Signal<In, Bits<32>>,
    /// Register PORTS_BYTES_IN.
    pub bytes_in: Signal<In, Bits<32>>,
    /// Register PORTS_DROPPED_IN.
    pub dropped_in: Signal<In, Bits<32>>,
    /// Register PORTS_CUT_IN.
    pub cut_in: Signal<In, Bits<32>>,
    /// Register PORTS_FRAMES_OUT.
    pub frames_out: Signal<In, Bits<32>>,
    /// Register PORTS_BYTES_OUT.
    pub bytes_out: Signal<In, Bits<32>>,
    /// Register PORTS_NOT_SENT.
    pub not_sent: Signal<In, Bits<32>>,
    /// Register PORTS_LENGTH_ERRORS.
    pub length_errors: Signal<In, Bits<32>>,
    /// Register PORTS_READ_ERRORS.
    pub read_errors: Signal<In, Bits<32>>,
    at_busy: Constant<Bits<12>>,
    at_frames_in: Constant<Bits<12>>,
    at_bytes_in: Constant<Bits<12>>,
    at_dropped_in: Constant<Bits<12>>,
    at_cut_in: Constant<Bits<12>>,
    at_frames_out: Constant<Bits<12>>,
    at_bytes_out: Constant<Bits<12>>,
    at_not_sent: Constant<Bits<12>>,
    at_length_errors: Constant<Bits<12>>,
    at_read_errors: Constant<Bits<12>>,
}

impl Default for PortRegisters {
    /// The registers, with the offsets of the table.
    fn default() -> Self {
        Self {
            address: Signal::default(),
            value: Signal::default(),
            busy: Signal::default(),
            frames_in: Signal::default(),
            bytes_in: Signal::default(),
            dropped_in: Signal::default(),
            cut_in: Signal::default(),
            frames_out: Signal::default(),
            bytes_out: Signal::default(),
            not_sent: Signal::default(),
            length_errors: Signal::default(),
            read_errors: Signal::default(),
            at_busy: address_of("PORTS_BUSY", 1),
            at_frames_in: address_of("PORTS_FRAMES_IN", 32),
            at_bytes_in: address_of("PORTS_BYTES_IN", 32),
            at_dropped_in: address_of("PORTS_DROPPED_IN", 32),
            at_cut_in: address_of("PORTS_CUT_IN", 32),
            at_frames_out: address_of("PORTS_FRAMES_OUT", 32),
            at_bytes_out: address_of("PORTS_BYTES_OUT", 32),
            at_not_sent: address_of("PORTS_NOT_SENT", 32),
            at_length_errors: address_of("PORTS_LENGTH_ERRORS", 32),
            at_read_errors: address_of("PORTS_READ_ERRORS", 32),
        }
    }
}

impl Logic for PortRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        let mut found = bits::<32>(0);
        if (self.address.val() == self.at_busy.val()) & self.busy.val() {
            found = bits::<32>(1);
        }
        if self.address.val() == self.at_frames_in.val() {
            found = self.frames_in.val();
        }
        if self.address.val() == self.at_bytes_in.val() {
            found = self.bytes_in.val();
        }
        if self.address.val() == self.at_dropped_in.val() {
            found = self.dropped_in.val();
        }
        if self.address.val() == self.at_cut_in.val() {
            found = self.cut_in.val();
        }
        if self.address.val() == self.at_frames_out.val() {
            found = self.frames_out.val();
        }
        if self.address.val() == self.at_bytes_out.val() {
            found = self.bytes_out.val();
        }
        if self.address.val() == self.at_not_sent.val() {
            found = self.not_sent.val();
        }
        if self.address.val() == self.at_length_errors.val() {
            found = self.length_errors.val();
        }
        if self.address.val() == self.at_read_errors.val() {
            found = self.read_errors.val();
        }
        self.value.next = found;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::{random, settle};
    use crate::host::registers::{offset, REGISTERS};
    use rand::Rng;

    #[test]
    fn every_register_is_at_its_offset() {
        let mut random = random();
        let mut unit = PortRegisters::default();
        unit.connect_all();
        let value: u32 = random.gen();
        unit.bytes_out.next = u64::from(value).into();
        unit.not_sent.next = u64::from(!value).into();
        unit.busy.next = true;
        for register in REGISTERS {
            unit.address.next = u64::from(register.offset).into();
            settle!(unit);
            let expected = match register.name {
                "PORTS_BUSY" => 1,
                "PORTS_BYTES_OUT" => value,
                "PORTS_NOT_SENT" => !value,
                _ => 0,
            };
            assert_eq!(unit.value.val().to_u64() as u32, expected, "{}", register.name);
        }
        unit.busy.next = false;
        unit.address.next = u64::from(offset("PORTS_BUSY")).into();
        settle!(unit);
        assert_eq!(unit.value.val().to_u64(), 0);
    }
}
