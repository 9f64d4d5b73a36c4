//! What takes longer than the pipeline: loads, accesses to devices, divisions.

use super::{CommandData, CommandDevices};
use crate::core::DivideUnit;
use crate::ports::{LineRead, RegisterAccess, WindowSelect};
use hermes_hdl::prelude::*;

/// The long operations of the harts: loads from the L2, accesses to devices ([`CommandDevices`]),
/// divisions ([`DivideUnit`]) and, by `atomic_*`, those of
/// [`CommandAtomics`](super::CommandAtomics). A hart has one under way, and one register for its
/// answer.
///
/// 1. One of `load_valid`, `device_valid`, `atomic_valid` and `divide_valid` in stage W starts an
///    operation of `start_hart`. A load may start at any time, a device access or atomic operation
///    while `device_free` is high, a division while `divide_free` is.
/// 2. `under_way`, `answered`, `used`, `hold` and the answer in stage X are those of
///    [`CommandData`].
/// 3. An access to a device that was not performed when its hart is held is withdrawn; a division
///    or atomic operation runs to its end, and its answer is dropped.
#[clocked]
#[derive(LogicBlock)]
#[new(harts: usize, windows: bool)]
pub struct LongOperations {
    /// Stage W: a load from the L2 starts.
    pub load_valid: Signal<In, Bit>,
    /// Stage W: an access to a device starts.
    pub device_valid: Signal<In, Bit>,
    /// Stage W: the access is a store.
    pub device_write: Signal<In, Bit>,
    /// Stage W: an atomic operation starts.
    pub atomic_valid: Signal<In, Bit>,
    /// Stage W: a division starts.
    pub divide_valid: Signal<In, Bit>,
    /// Stage W: hart of the operation that starts.
    pub start_hart: Signal<In, Bits<3>>,
    /// Stage W: word of the instruction.
    pub start_word: Signal<In, Bits<32>>,
    /// Address of a load or an access; the dividend.
    pub start_address: Signal<In, Bits<32>>,
    /// Word of a store; the divisor.
    pub start_data: Signal<In, Bits<32>>,
    /// Stage W holds an instruction of `start_hart`.
    pub used: Signal<In, Bit>,
    /// Harts that are held.
    pub hold: Signal<In, Bits<8>>,
    /// An atomic operation is under way.
    pub atomic_busy: Signal<In, Bit>,
    /// The atomic operation is performed, and its answer is offered.
    pub atomic_answer: Signal<In, Bit>,
    /// Hart of the atomic operation.
    pub atomic_hart: Signal<In, Bits<3>>,
    /// The value for its register.
    pub atomic_value: Signal<In, Bits<32>>,
    /// The line could not be read.
    pub atomic_error: Signal<In, Bit>,
    /// The answer of the atomic operation is taken at this edge.
    pub atomic_ready: Signal<Out, Bit>,
    /// No access to a device and no atomic operation is under way.
    pub device_free: Signal<Out, Bit>,
    /// No division is under way.
    pub divide_free: Signal<Out, Bit>,
    /// Harts that have an operation under way.
    pub under_way: Signal<Out, Bits<8>>,
    /// Harts whose answer waits.
    pub answered: Signal<Out, Bits<8>>,
    /// Stage X: the hart whose answer is looked up.
    pub lookup_hart: Signal<In, Bits<3>>,
    /// The value for its register.
    pub answer: Signal<Out, Bits<32>>,
    /// The line could not be read, or there is no such register.
    pub answer_error: Signal<Out, Bit>,
    /// Word of the instruction that asked.
    pub answer_word: Signal<Out, Bits<32>>,
    /// To memory: lines of loads; the tag is the hart.
    pub read: LineRead,
    /// To the registers of the array.
    pub access: Flipped<RegisterAccess>,
    /// Whether `access` is to the window of the network interface, and whose it is (only with a
    /// window).
    #[there(windows)]
    pub window: Part<Flipped<WindowSelect>>,
    /// Harts whose access to the window is to be repeated when `here` is high (only with a window).
    #[there(windows)]
    pub parks: Part<Signal<Out, Bits<8>>>,
    /// Harts that are to wake (only with a window).
    #[there(windows)]
    pub wake: Part<Signal<In, Bits<8>>>,
    /// See `parks` (only with a window).
    #[there(windows)]
    pub here: Part<Signal<Out, Bit>>,
    /// `here` will be high soon (only with a window).
    #[there(windows)]
    pub soon: Part<Signal<Out, Bit>>,
    /// Cycles since reset of the array.
    pub cycle: Signal<In, Bits<64>>,
    /// Harts whose software interrupt is set at this edge.
    pub doorbell: Signal<In, Bits<8>>,
    /// Harts that have a software interrupt pending.
    pub software: Signal<Out, Bits<8>>,
    /// Harts that have a timer interrupt pending.
    pub timer: Signal<Out, Bits<8>>,
    data: CommandData,
    #[init(CommandDevices::new(harts, windows))]
    devices: CommandDevices,
    divider: DivideUnit<1>,
}

impl LongOperations {
    /// The long operations of `harts` harts, with a window of a network interface (`windows`) or
    /// without.
    ///
    /// # Panics
    /// As [`CommandDevices::new`].
    pub fn new(harts: usize, windows: bool) -> Self {
        Self::wired(harts, windows)
    }
}

impl Logic for LongOperations {
    #[hdl_gen]
    fn update(&mut self) {
        // Loads, and the answers of all
        self.data.start_valid.next = self.load_valid.val()
            | self.device_valid.val()
            | self.atomic_valid.val()
            | self.divide_valid.val();
        connect!(self.load_valid, self.data.load_valid);
        connect!(self.start_hart, self.data.start_hart);
        connect!(self.start_address, self.data.load_address);
        connect!(self.start_word, self.data.start_word);
        connect!(self.used, self.data.used);
        connect!(self.start_hart, self.data.used_hart);
        connect!(self.hold, self.data.hold);
        connect!(self.under_way, self.data.loading);
        connect!(self.answered, self.data.answered);
        connect!(self.lookup_hart, self.data.lookup_hart);
        connect!(self.answer, self.data.answer);
        connect!(self.answer_error, self.data.answer_error);
        connect!(self.answer_word, self.data.answer_word);
        connect!(self.read, self.data.read);

        // Devices
        connect!(self.device_valid, self.devices.start_valid);
        connect!(self.start_hart, self.devices.start_hart);
        connect!(self.device_write, self.devices.start_write);
        connect!(self.start_address, self.devices.start_address);
        connect!(self.start_data, self.devices.start_data);
        connect!(self.hold, self.devices.hold);
        connect!(self.access, self.devices.access);
        if self.window.is_there() {
            connect!(self.window, self.devices.window);
            self.parks.next = self.devices.parks.val();
            self.devices.wake.next = self.wake.val();
            self.here.next = self.devices.here.val();
            self.soon.next = self.devices.soon.val();
        }
        connect!(self.cycle, self.devices.cycle);
        connect!(self.doorbell, self.devices.doorbell);
        connect!(self.software, self.devices.software);
        connect!(self.timer, self.devices.timer);
        self.device_free.next = !self.devices.busy.val() & !self.atomic_busy.val();

        // Divisions: funct3 bit 0 unsigned, bit 1 remainder
        self.divider.start.valid.next = self.divide_valid.val();
        self.divider.start.slot.next = bit_cast::<5, 3>(self.start_hart.val());
        self.divider.start.rd.next = bits::<5>(0);
        self.divider.start.lanes.next = bits::<1>(1);
        self.divider.start_count.next = false;
        self.divider.start_ones.next = false;
        self.divider.start_trailing.next = false;
        self.divider.start_signed.next = !self.start_word.val().get_bit(12);
        self.divider.start_remainder.next = self.start_word.val().get_bit(13);
        for i in 0..1 {
            self.divider.start_dividend[i].next = self.start_address.val();
            self.divider.start_divisor[i].next = self.start_data.val();
        }
        self.divide_free.next = self.divider.start_ready.val();

        // One answer at a time; those of loads go first, and cannot wait. Of device accesses and
        // atomic operations one is under way.
        self.data.withdrawn.next = self.devices.withdrawn.val();
        self.data.late_valid.next =
            self.devices.answer_valid.val() | self.atomic_answer.val() | self.divider.result.valid.val();
        self.data.late_error.next = self.devices.answer_valid.val() & self.devices.answer_error.val();
        self.data.late_hart.next = self.divider.result.slot.val().get_bits::<3>(0);
        self.data.late_value.next = bits::<32>(0);
        for i in 0..1 {
            self.data.late_value.next = self.divider.result_data[i].val();
        }
        if self.devices.answer_valid.val() {
            self.data.late_hart.next = self.devices.answer_hart.val();
            self.data.late_value.next = self.devices.answer_value.val();
        } else if self.atomic_answer.val() {
            self.data.late_error.next = self.atomic_error.val();
            self.data.late_hart.next = self.atomic_hart.val();
            self.data.late_value.next = self.atomic_value.val();
        }
        self.devices.answer_ready.next = self.data.late_ready.val();
        self.atomic_ready.next = self.data.late_ready.val() & !self.devices.answer_valid.val();
        self.divider.result_ready.next =
            self.data.late_ready.val() & !self.devices.answer_valid.val() & !self.atomic_answer.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bit, is_raised_by, needs};

    type U = LongOperations;

    /// Each operation of several cycles starts one, and each that ends answers.
    #[test]
    fn each_operation_starts_and_answers() {
        let mut unit = LongOperations::new(8, true);
        let starts =
            [bit!(U, load_valid), bit!(U, device_valid), bit!(U, atomic_valid), bit!(U, divide_valid)];
        is_raised_by(&mut unit, "start_valid", 1, |unit| unit.data.start_valid.next.into(), &starts);
        let late = || [bit!(U, devices.answer_valid), bit!(U, atomic_answer), bit!(U, divider.result.valid)];
        is_raised_by(&mut unit, "late_valid", 1, |unit| unit.data.late_valid.next.into(), &late());
        // One at a time: who goes first keeps the others.
        let [device, atomic, _] = late();
        let ready = || [bit!(U, data.late_ready)];
        needs(&mut unit, "ready of devices", |unit| unit.devices.answer_ready.next, &ready(), &[]);
        let first = [device];
        needs(&mut unit, "ready of atomics", |unit| unit.atomic_ready.next, &ready(), &first);
        let [device] = first;
        let both = [device, atomic];
        needs(&mut unit, "ready of divisions", |unit| unit.divider.result_ready.next, &ready(), &both);
        let busy = [bit!(U, devices.busy), bit!(U, atomic_busy)];
        needs(&mut unit, "device_free", |unit| unit.device_free.next, &[], &busy);
    }
}
