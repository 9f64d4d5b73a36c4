//! The registers that the host writes and reads back.

use super::registers::{address_of, reset_of};
use crate::prelude::*;

/// The read/write registers of [`REGISTERS`](super::registers::REGISTERS), but for those of the windows.
///
/// 1. `value` answers `address` in the same cycle; it is zero if no register of this unit is there.
/// 2. With `write`, the register at `address` takes the bits of `write_data` that are set in `write_mask`, at this
///    edge; the outputs show the registers.
#[derive(Clone, Debug, LogicBlock)]
pub struct ConfigurationRegisters {
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

    /// Register CONTROL.
    pub control: Signal<Out, Bits<2>>,
    /// Register RING_BASE.
    pub ring_base: Signal<Out, Bits<32>>,
    /// Register RING_SLOTS_LOG2.
    pub ring_slots_log2: Signal<Out, Bits<5>>,
    /// Register SLOT_BYTES_LOG2.
    pub slot_bytes_log2: Signal<Out, Bits<5>>,
    /// Register VERDICT_BASE.
    pub verdict_base: Signal<Out, Bits<32>>,
    /// Register KERNEL_ENTRY.
    pub kernel_entry: Signal<Out, Bits<32>>,
    /// Register ARGUMENT.
    pub argument: Signal<Out, Bits<32>>,
    /// Register STACK_BASE.
    pub stack_base: Signal<Out, Bits<32>>,
    /// Register STACK_BYTES_LOG2.
    pub stack_bytes_log2: Signal<Out, Bits<5>>,
    /// Register MCW.
    pub mcw: Signal<Out, Bits<6>>,
    /// Register TIMEOUT.
    pub timeout: Signal<Out, Bits<32>>,
    /// Register KERNEL_CLASS.
    pub kernel_class: Signal<Out, Bit>,
    /// Register WATCHDOG.
    pub watchdog: Signal<Out, Bits<31>>,
    /// Register CORE_SELECT.
    pub core_select: Signal<Out, Bits<5>>,
    /// Register PORTS.
    pub ports: Signal<Out, Bit>,
    control_value: Register<Bits<2>>,
    ring_base_value: Register<Bits<32>>,
    ring_slots_log2_value: Register<Bits<5>>,
    slot_bytes_log2_value: Register<Bits<5>>,
    verdict_base_value: Register<Bits<32>>,
    kernel_entry_value: Register<Bits<32>>,
    argument_value: Register<Bits<32>>,
    stack_base_value: Register<Bits<32>>,
    stack_bytes_log2_value: Register<Bits<5>>,
    mcw_value: Register<Bits<6>>,
    timeout_value: Register<Bits<32>>,
    kernel_class_value: Register<Bits<1>>,
    watchdog_value: Register<Bits<31>>,
    core_select_value: Register<Bits<5>>,
    ports_value: Register<Bits<1>>,
    at_control: Constant<Bits<12>>,
    at_ring_base: Constant<Bits<12>>,
    at_ring_slots_log2: Constant<Bits<12>>,
    at_slot_bytes_log2: Constant<Bits<12>>,
    at_verdict_base: Constant<Bits<12>>,
    at_kernel_entry: Constant<Bits<12>>,
    at_argument: Constant<Bits<12>>,
    at_stack_base: Constant<Bits<12>>,
    at_stack_bytes_log2: Constant<Bits<12>>,
    at_mcw: Constant<Bits<12>>,
    at_timeout: Constant<Bits<12>>,
    at_kernel_class: Constant<Bits<12>>,
    at_watchdog: Constant<Bits<12>>,
    at_core_select: Constant<Bits<12>>,
    at_ports: Constant<Bits<12>>,
}

impl Default for ConfigurationRegisters {
    /// The registers, with the offsets and reset values of the table.
    fn default() -> Self {
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            address: Signal::default(),
            write: Signal::default(),
            write_data: Signal::default(),
            write_mask: Signal::default(),
            value: Signal::default(),
            control: Signal::default(),
            ring_base: Signal::default(),
            ring_slots_log2: Signal::default(),
            slot_bytes_log2: Signal::default(),
            verdict_base: Signal::default(),
            kernel_entry: Signal::default(),
            argument: Signal::default(),
            stack_base: Signal::default(),
            stack_bytes_log2: Signal::default(),
            mcw: Signal::default(),
            timeout: Signal::default(),
            kernel_class: Signal::default(),
            watchdog: Signal::default(),
            core_select: Signal::default(),
            ports: Signal::default(),
            control_value: reset_of("CONTROL"),
            ring_base_value: reset_of("RING_BASE"),
            ring_slots_log2_value: reset_of("RING_SLOTS_LOG2"),
            slot_bytes_log2_value: reset_of("SLOT_BYTES_LOG2"),
            verdict_base_value: reset_of("VERDICT_BASE"),
            kernel_entry_value: reset_of("KERNEL_ENTRY"),
            argument_value: reset_of("ARGUMENT"),
            stack_base_value: reset_of("STACK_BASE"),
            stack_bytes_log2_value: reset_of("STACK_BYTES_LOG2"),
            mcw_value: reset_of("MCW"),
            timeout_value: reset_of("TIMEOUT"),
            kernel_class_value: reset_of("KERNEL_CLASS"),
            watchdog_value: reset_of("WATCHDOG"),
            core_select_value: reset_of("CORE_SELECT"),
            ports_value: reset_of("PORTS"),
            at_control: address_of("CONTROL", 2),
            at_ring_base: address_of("RING_BASE", 32),
            at_ring_slots_log2: address_of("RING_SLOTS_LOG2", 5),
            at_slot_bytes_log2: address_of("SLOT_BYTES_LOG2", 5),
            at_verdict_base: address_of("VERDICT_BASE", 32),
            at_kernel_entry: address_of("KERNEL_ENTRY", 32),
            at_argument: address_of("ARGUMENT", 32),
            at_stack_base: address_of("STACK_BASE", 32),
            at_stack_bytes_log2: address_of("STACK_BYTES_LOG2", 5),
            at_mcw: address_of("MCW", 6),
            at_timeout: address_of("TIMEOUT", 32),
            at_kernel_class: address_of("KERNEL_CLASS", 1),
            at_watchdog: address_of("WATCHDOG", 31),
            at_core_select: address_of("CORE_SELECT", 5),
            at_ports: address_of("PORTS", 1),
        }
    }
}

impl Logic for ConfigurationRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        let mut found = bits::<32>(0);
        if self.address.val() == self.at_control.val() {
            found = bit_cast::<32, 2>(self.control_value.q.val());
        }
        if self.address.val() == self.at_ring_base.val() {
            found = self.ring_base_value.q.val();
        }
        if self.address.val() == self.at_ring_slots_log2.val() {
            found = bit_cast::<32, 5>(self.ring_slots_log2_value.q.val());
        }
        if self.address.val() == self.at_slot_bytes_log2.val() {
            found = bit_cast::<32, 5>(self.slot_bytes_log2_value.q.val());
        }
        if self.address.val() == self.at_verdict_base.val() {
            found = self.verdict_base_value.q.val();
        }
        if self.address.val() == self.at_kernel_entry.val() {
            found = self.kernel_entry_value.q.val();
        }
        if self.address.val() == self.at_argument.val() {
            found = self.argument_value.q.val();
        }
        if self.address.val() == self.at_stack_base.val() {
            found = self.stack_base_value.q.val();
        }
        if self.address.val() == self.at_stack_bytes_log2.val() {
            found = bit_cast::<32, 5>(self.stack_bytes_log2_value.q.val());
        }
        if self.address.val() == self.at_mcw.val() {
            found = bit_cast::<32, 6>(self.mcw_value.q.val());
        }
        if self.address.val() == self.at_timeout.val() {
            found = self.timeout_value.q.val();
        }
        if self.address.val() == self.at_kernel_class.val() {
            found = bit_cast::<32, 1>(self.kernel_class_value.q.val());
        }
        if self.address.val() == self.at_watchdog.val() {
            found = bit_cast::<32, 31>(self.watchdog_value.q.val());
        }
        if self.address.val() == self.at_core_select.val() {
            found = bit_cast::<32, 5>(self.core_select_value.q.val());
        }
        if self.address.val() == self.at_ports.val() {
            found = bit_cast::<32, 1>(self.ports_value.q.val());
        }
        self.value.next = found;

        let written = (found & !self.write_mask.val()) | (self.write_data.val() & self.write_mask.val());
        if self.write.val() & (self.address.val() == self.at_control.val()) {
            self.control_value.d.next = bit_cast::<2, 32>(written);
        }
        if self.write.val() & (self.address.val() == self.at_ring_base.val()) {
            self.ring_base_value.d.next = written;
        }
        if self.write.val() & (self.address.val() == self.at_ring_slots_log2.val()) {
            self.ring_slots_log2_value.d.next = bit_cast::<5, 32>(written);
        }
        if self.write.val() & (self.address.val() == self.at_slot_bytes_log2.val()) {
            self.slot_bytes_log2_value.d.next = bit_cast::<5, 32>(written);
        }
        if self.write.val() & (self.address.val() == self.at_verdict_base.val()) {
            self.verdict_base_value.d.next = written;
        }
        if self.write.val() & (self.address.val() == self.at_kernel_entry.val()) {
            self.kernel_entry_value.d.next = written;
        }
        if self.write.val() & (self.address.val() == self.at_argument.val()) {
            self.argument_value.d.next = written;
        }
        if self.write.val() & (self.address.val() == self.at_stack_base.val()) {
            self.stack_base_value.d.next = written;
        }
        if self.write.val() & (self.address.val() == self.at_stack_bytes_log2.val()) {
            self.stack_bytes_log2_value.d.next = bit_cast::<5, 32>(written);
        }
        if self.write.val() & (self.address.val() == self.at_mcw.val()) {
            self.mcw_value.d.next = bit_cast::<6, 32>(written);
        }
        if self.write.val() & (self.address.val() == self.at_timeout.val()) {
            self.timeout_value.d.next = written;
        }
        if self.write.val() & (self.address.val() == self.at_kernel_class.val()) {
            self.kernel_class_value.d.next = bit_cast::<1, 32>(written);
        }
        if self.write.val() & (self.address.val() == self.at_watchdog.val()) {
            self.watchdog_value.d.next = bit_cast::<31, 32>(written);
        }
        if self.write.val() & (self.address.val() == self.at_core_select.val()) {
            self.core_select_value.d.next = bit_cast::<5, 32>(written);
        }
        if self.write.val() & (self.address.val() == self.at_ports.val()) {
            self.ports_value.d.next = bit_cast::<1, 32>(written);
        }

        self.control.next = self.control_value.q.val();
        self.ring_base.next = self.ring_base_value.q.val();
        self.ring_slots_log2.next = self.ring_slots_log2_value.q.val();
        self.slot_bytes_log2.next = self.slot_bytes_log2_value.q.val();
        self.verdict_base.next = self.verdict_base_value.q.val();
        self.kernel_entry.next = self.kernel_entry_value.q.val();
        self.argument.next = self.argument_value.q.val();
        self.stack_base.next = self.stack_base_value.q.val();
        self.stack_bytes_log2.next = self.stack_bytes_log2_value.q.val();
        self.mcw.next = self.mcw_value.q.val();
        self.timeout.next = self.timeout_value.q.val();
        self.kernel_class.next = self.kernel_class_value.q.val().get_bit(0);
        self.watchdog.next = self.watchdog_value.q.val();
        self.core_select.next = self.core_select_value.q.val();
        self.ports.next = self.ports_value.q.val().get_bit(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::{random, settle, start, tick};
    use crate::host::registers::{Access, REGISTERS};
    use rand::Rng;

    #[test]
    fn keep_what_was_written() {
        let mut random = random();
        let mut unit = ConfigurationRegisters::default();
        start!(unit);
        let mut model: Vec<u64> = REGISTERS.iter().map(|r| u64::from(r.reset)).collect();
        for cycle in 0..10_000 {
            let chosen = random.gen_range(0..REGISTERS.len());
            let register = &REGISTERS[chosen];
            let (data, mask) = (u64::from(random.gen::<u32>()), u64::from(random.gen::<u32>()));
            unit.address.next = u64::from(register.offset).into();
            unit.write.next = random.gen();
            unit.write_data.next = data.into();
            unit.write_mask.next = mask.into();
            settle!(unit);
            let ours = register.access == Access::ReadWrite && !register.name.contains("_WINDOW_");
            let expected = if ours { model[chosen] } else { 0 };
            assert_eq!(unit.value.val().to_u64(), expected, "cycle {cycle}: {}", register.name);
            if ours && unit.write.val() {
                model[chosen] = (model[chosen] & !mask | data & mask) & ((1 << register.bits) - 1);
            }
            tick!(unit);
            let of = |name| model[REGISTERS.iter().position(|r| r.name == name).unwrap()];
            assert_eq!(unit.mcw.val().to_u64(), of("MCW"));
            assert_eq!(unit.timeout.val().to_u64(), of("TIMEOUT"));
            assert_eq!(u64::from(unit.kernel_class.val()), of("KERNEL_CLASS"));
            assert_eq!(unit.watchdog.val().to_u64(), of("WATCHDOG"));
        }
    }
}
