//! Loads and stores of the command processor that go to devices.

use super::Clint;
use crate::ports::{RegisterAccess, WindowSelect};
use hermes_hdl::prelude::*;

/// Accesses of the harts to devices, one at a time for all harts: to the [`Clint`] and, by
/// `access`, to the registers of the array; with `windows` 1 also to the window of the network
/// interface.
///
/// 1. `start_valid` in stage W starts an access; it must not come while `busy` is high. `busy` is
///    high from the next cycle on until the answer is taken.
/// 2. The access is performed once: an access to the CLINT in the cycle after its start, one to the
///    registers at the edge with `access.done`. From that cycle on `answer_valid` is high, with its
///    value, until the edge with `answer_ready`. `answer_error`: there is no such register.
/// 3. An access to the window that cannot be answered yet (`window.parks`) ends without an answer:
///    `withdrawn` and `parks` have the bit of its hart, which repeats it.
/// 4. When its hart is held the access is withdrawn, in the same cycle, and if it was performed its
///    answer is dropped: `withdrawn` has the bit of the hart.
#[clocked]
#[derive(LogicBlock)]
#[new(harts: usize, windows: bool)]
pub struct CommandDevices {
    /// Stage W: an access starts.
    pub start_valid: Signal<In, Bit>,
    /// Stage W: hart of the access.
    pub start_hart: Signal<In, Bits<3>>,
    /// Stage W: the access is a store.
    pub start_write: Signal<In, Bit>,
    /// Stage W: address of the access, a multiple of 4: bit 19 set is a register of the array, or
    /// with bit 13 clear in the window.
    pub start_address: Signal<In, Bits<32>>,
    /// The word to store.
    pub start_data: Signal<In, Bits<32>>,
    /// Harts that are held.
    pub hold: Signal<In, Bits<8>>,
    /// An access is under way.
    pub busy: Signal<Out, Bit>,
    /// An access is performed.
    pub answer_valid: Signal<Out, Bit>,
    /// Hart of the access that is performed.
    pub answer_hart: Signal<Out, Bits<3>>,
    /// The value that was read.
    pub answer_value: Signal<Out, Bits<32>>,
    /// There is no such register.
    pub answer_error: Signal<Out, Bit>,
    /// The answer is taken at this edge.
    pub answer_ready: Signal<In, Bit>,
    /// Harts whose access ends without an answer.
    pub withdrawn: Signal<Out, Bits<8>>,
    /// Harts whose access to the window is to be repeated (only with a window).
    #[there(windows)]
    pub parks: Part<Signal<Out, Bits<8>>>,
    /// Harts that are to wake: their accesses to the window are answered (only with a window).
    #[there(windows)]
    pub wake: Part<Signal<In, Bits<8>>>,
    /// There is something for accesses that are to be repeated (only with a window).
    #[there(windows)]
    pub here: Part<Signal<Out, Bit>>,
    /// There will be soon (only with a window).
    #[there(windows)]
    pub soon: Part<Signal<Out, Bit>>,
    /// To the registers of the array.
    pub access: Flipped<RegisterAccess>,
    /// Whether `access` is to the window, and whose it is (only with a window).
    #[there(windows)]
    pub window: Part<Flipped<WindowSelect>>,
    /// Cycles since reset of the array.
    pub cycle: Signal<In, Bits<64>>,
    /// Harts whose software interrupt is set at this edge.
    pub doorbell: Signal<In, Bits<8>>,
    /// Harts that have a software interrupt pending.
    pub software: Signal<Out, Bits<8>>,
    /// Harts that have a timer interrupt pending.
    pub timer: Signal<Out, Bits<8>>,
    #[init(Clint::new(harts))]
    clint: Clint,
    busy_q: Register<Bit>,
    hart: Register<Bits<3>>,
    write: Register<Bit>,
    of_array: Register<Bit>,
    address: Register<Bits<16>>,
    data: Register<Bits<32>>,
    /// The access is performed, and its answer not taken.
    kept: Register<Bit>,
    kept_value: Register<Bits<32>>,
    kept_error: Register<Bit>,
    #[there(windows)]
    in_window: Part<Register<Bit>>,
}

impl CommandDevices {
    /// The devices of `harts` harts, with a window of a network interface (`windows`) or without.
    ///
    /// # Panics
    /// As [`Clint::new`].
    pub fn new(harts: usize, windows: bool) -> Self {
        Self::wired(harts, windows)
    }
}

impl Logic for CommandDevices {
    #[hdl_gen]
    fn update(&mut self) {
        let held = self.busy_q.q.val() & self.hold.val().get_bit(self.hart.q.val().index());
        let active = self.busy_q.q.val() & !self.kept.q.val() & !held;
        always!(one_access_is_under_way, !self.start_valid.val() | !self.busy_q.q.val());
        always!(a_kept_answer_is_of_an_access, !self.kept.q.val() | self.busy_q.q.val());
        self.access.valid.next = active & self.of_array.q.val();
        self.access.write.next = self.write.q.val();
        self.access.address.next = self.address.q.val().get_bits::<12>(0);
        self.access.data.next = self.data.q.val();
        self.clint.address.next = self.address.q.val();
        self.clint.data.next = self.data.q.val();
        self.clint.writes.next = self.write.q.val();
        self.clint.write.next = active & !self.of_array.q.val() & self.write.q.val();
        connect!(self.cycle, self.clint.cycle);
        connect!(self.doorbell, self.clint.doorbell);
        connect!(self.software, self.clint.software);
        connect!(self.timer, self.clint.timer);

        let performed = active & (!self.of_array.q.val() | self.access.done.val());
        let mut value = self.clint.value.val();
        let mut error = !self.clint.known.val();
        if self.of_array.q.val() {
            value = self.access.value.val();
            error = !self.access.known.val();
        }
        if self.kept.q.val() {
            value = self.kept_value.q.val();
            error = self.kept_error.q.val();
        }
        let answers = performed | (self.kept.q.val() & !held);
        self.answer_valid.next = answers;
        self.answer_hart.next = self.hart.q.val();
        self.answer_value.next = value;
        self.answer_error.next = error;
        self.withdrawn.next = bits::<8>(0);
        if held {
            self.withdrawn.next = bits::<8>(1) << self.hart.q.val();
        }
        self.busy.next = self.busy_q.q.val();

        if performed {
            self.kept.d.next = true;
            self.kept_value.d.next = value;
            self.kept_error.d.next = error;
        }
        if held | (answers & self.answer_ready.val()) {
            self.busy_q.d.next = false;
            self.kept.d.next = false;
        }
        if self.start_valid.val() {
            self.busy_q.d.next = true;
            self.hart.d.next = self.start_hart.val();
            self.write.d.next = self.start_write.val();
            self.of_array.d.next = self.start_address.val().get_bit(19);
            self.address.d.next = self.start_address.val().get_bits::<16>(0);
            self.data.d.next = self.start_data.val();
        }
        if self.parks.is_there() {
            self.window.of_window.next = self.in_window.q.val();
            self.window.hart.next = self.hart.q.val();
            self.window.hold.next = self.hold.val();
            self.window.wake.next = self.wake.val().get_bit(self.hart.q.val().index());
            self.here.next = self.window.here.val();
            self.soon.next = self.window.soon.val();
            let repeats = active & self.of_array.q.val() & self.window.parks.val();
            self.parks.next = bits::<8>(0);
            if repeats {
                self.parks.next = bits::<8>(1) << self.hart.q.val();
                self.withdrawn.next = bits::<8>(1) << self.hart.q.val();
                self.busy_q.d.next = false;
            }
            if self.start_valid.val() {
                self.in_window.d.next =
                    self.start_address.val().get_bit(19) & !self.start_address.val().get_bit(13);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    /// Accesses to both devices, held at any time, with registers that take their time: each is
    /// performed once or withdrawn.
    #[test]
    fn accesses_are_performed_once() {
        let mut random = random();
        let mut unit = CommandDevices::new(8, true);
        reset!(unit);
        // Hart, write, address, data; whether it was performed.
        let mut access: Option<(u64, bool, u64, u32)> = None;
        let mut answer: Option<(u32, bool)> = None;
        let mut compare = [None::<u32>; 8];
        let (mut answered, mut withdrawn, mut late, mut errors) = (0, 0, 0, 0);
        for cycle in 0..40_000u64 {
            let hold: u64 = if random.gen_bool(0.05) { random.gen_range(0..256) } else { 0 };
            let ready = random.gen_bool(0.7);
            let done = random.gen_bool(0.4);
            let (value, known) = (random.gen::<u32>(), random.gen_bool(0.9));
            unit.hold.next = hold.into();
            unit.answer_ready.next = ready;
            unit.access.done.next = done;
            unit.access.value.next = u64::from(value).into();
            unit.access.known.next = known;
            settle(&mut unit);
            assert_eq!(unit.busy.val(), access.is_some(), "cycle {cycle}");
            let start = access.is_none() && random.gen_bool(0.5);
            if let Some((hart, write, address, data)) = access {
                let held = hold >> hart & 1 == 1;
                let of_array = address >= 0xffff_c000;
                assert_eq!(unit.access.valid.val(), of_array && answer.is_none() && !held, "cycle {cycle}");
                if unit.access.valid.val() {
                    assert_eq!(unit.window.of_window.val(), address < 0xffff_e000);
                    assert_eq!(unit.window.hart.val().to_u64(), hart);
                    assert_eq!(unit.access.write.val(), write);
                    assert_eq!(unit.access.address.val().to_u64(), address & 0xfff);
                    assert_eq!(unit.access.data.val().to_u32(), data);
                }
                if !held && answer.is_none() {
                    if of_array {
                        answer = done.then_some((value, !known));
                    } else {
                        // mtimecmp, low words, and a place where nothing is.
                        let timer = (address & 0xffff) as usize;
                        let place = (timer >= 0x4000).then(|| (timer - 0x4000) / 8);
                        let shown = place.map_or(0, |place| compare[place].unwrap_or(0));
                        answer = Some((shown, place.is_none()));
                        if let (Some(place), true) = (place, write) {
                            compare[place] = Some(data);
                        }
                    }
                } else if answer.is_some() {
                    late += 1;
                }
                assert_eq!(unit.withdrawn.val().to_u64(), u64::from(held) << hart, "cycle {cycle}");
                assert_eq!(unit.answer_valid.val(), answer.is_some() && !held, "cycle {cycle}");
                if let (Some((value, error)), false) = (answer, held) {
                    assert_eq!(unit.answer_hart.val().to_u64(), hart);
                    assert_eq!(unit.answer_error.val(), error, "cycle {cycle}");
                    if !error {
                        assert_eq!(unit.answer_value.val().to_u32(), value, "cycle {cycle}");
                    }
                    errors += usize::from(error);
                }
                if held || answer.is_some() && ready {
                    withdrawn += usize::from(held);
                    answered += usize::from(!held);
                    (access, answer) = (None, None);
                }
            } else {
                assert!(!unit.answer_valid.val() && !unit.access.valid.val() && !unit.withdrawn.val().any());
            }
            unit.start_valid.next = start;
            if start {
                let address = match random.gen_range(0..5) {
                    0 => 0xfff0_4000 + 8 * random.gen_range(0..8u64),
                    1 => 0xfff0_2000,
                    2 => 0xffff_c000 + 4 * random.gen_range(0..1024u64),
                    _ => 0xffff_e000 + 4 * random.gen_range(0..1024u64),
                };
                let new = (random.gen_range(0..8u64), random.gen::<bool>(), address, random.gen::<u32>());
                unit.start_hart.next = new.0.into();
                unit.start_write.next = new.1;
                unit.start_address.next = new.2.into();
                unit.start_data.next = u64::from(new.3).into();
                access = Some(new);
            }
            tick!(unit);
        }
        assert!(
            answered > 5_000 && withdrawn > 200 && late > 500 && errors > 500,
            "{answered} {withdrawn} {late} {errors}"
        );
    }
}
