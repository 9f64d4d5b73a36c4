//! Atomic instructions in stages R to W.

use super::{AccessWindow, AddressRegion, WINDOWS};
use crate::config::CoreOptions;
use crate::host::ReadWindows;
use crate::ports::{AtomicInFlight, AtomicRequest, PacketBounds};
use crate::types::riscv::funct5;
use hermes_hdl::prelude::*;

/// Tracks atomic instructions from stage D to stage W, and finds which of their lanes may not
/// access memory.
///
/// 1. The controls of stage D are taken over at every edge at which `advance` is high. They mean
///    nothing in a stage that holds no instruction.
/// 2. An atomic instruction is checked as a store (`lr.w`: as a load) by
///    [`AccessCheck`](super::AccessCheck); `refused` adds the lanes outside the read windows and
///    those in the scratchpad, which has no atomic operations.
/// 3. With network functions window 0 is that of [`AccessWindow`] with `packets`.
#[clocked]
#[derive(LogicBlock)]
#[new(options: CoreOptions)]
pub struct AtomicStage<const LANES: usize> {
    /// Stages D to W advance at this edge.
    pub advance: Signal<In, Bit>,
    /// Stage D: the instruction is atomic.
    pub decode_atomic: Signal<In, Bit>,
    /// Stage D: the instruction.
    pub decode_word: Signal<In, Bits<32>>,
    /// Stage X: address of each lane.
    #[count(LANES)]
    pub address: Vec<Signal<In, Bits<32>>>,
    /// From the registers: where kernels may load.
    pub windows: ReadWindows,
    /// To the hazard check: stages that hold an atomic instruction.
    pub in_flight: Flipped<AtomicInFlight>,
    /// Stage R: atomic, and not `lr.w`.
    pub read_stores: Signal<Out, Bit>,
    /// To stage M: the instruction in stage W.
    pub request: Flipped<AtomicRequest>,
    /// Stage W: atomic, and not `lr.w`.
    pub stores: Signal<Out, Bit>,
    /// Stage W: lanes whose access is refused. Only atomic instructions have any.
    pub refused: Signal<Out, Bits<LANES>>,
    /// Stage D: the packets of the warp (only with network functions).
    #[there(options.functions())]
    pub packets: Part<Flipped<PacketBounds>>,
    /// Atomic (bit 6), `funct5` (5:1) and `aq` (0).
    code_r: Register<Bits<7>>,
    code_x: Register<Bits<7>>,
    code_w: Register<Bits<7>>,
    refused_w: Register<Bits<LANES>>,
    #[init(vec![AccessWindow::new(options.functions()), AccessWindow::new(false)])]
    window: Vec<AccessWindow>,
    #[init(Pack::new(LANES))]
    outside: Pack<Bit, 1, LANES>,
    #[count(LANES)]
    region: Vec<AddressRegion>,
}

impl<const LANES: usize> Default for AtomicStage<LANES> {
    /// The stage of a core whose windows are those of the registers.
    fn default() -> Self {
        Self::new(CoreOptions::default())
    }
}

impl<const LANES: usize> AtomicStage<LANES> {
    /// The stage of a core with these options.
    pub fn new(options: CoreOptions) -> Self {
        Self::wired(options)
    }
}

impl<const LANES: usize> Logic for AtomicStage<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        if self.advance.val() {
            self.code_r.d.next = bit_cast::<7, 6>(self.decode_word.val().get_bits::<6>(26))
                .replace_bit(6, self.decode_atomic.val());
            self.code_x.d.next = self.code_r.q.val();
            self.code_w.d.next = self.code_x.q.val();
            self.refused_w.d.next = self.outside.y.val();
        }
        self.in_flight.read.next = self.code_r.q.val().get_bit(6);
        self.read_stores.next =
            self.code_r.q.val().get_bit(6) & (self.code_r.q.val().get_bits::<5>(1) != bits::<5>(funct5::LR));
        self.in_flight.execute.next = self.code_x.q.val().get_bit(6);
        self.request.valid.next = self.code_w.q.val().get_bit(6);
        self.in_flight.write.next = self.code_w.q.val().get_bit(6);
        self.request.operation.next = self.code_w.q.val().get_bits::<5>(1);
        self.request.acquire.next = self.code_w.q.val().get_bit(0);
        self.stores.next =
            self.code_w.q.val().get_bit(6) & (self.code_w.q.val().get_bits::<5>(1) != bits::<5>(funct5::LR));

        self.window[0].read_base.next = self.windows.read_0_base.val();
        self.window[0].read_size.next = self.windows.read_0_size.val();
        self.window[1].read_base.next = self.windows.read_1_base.val();
        self.window[1].read_size.next = self.windows.read_1_size.val();
        for i in 0..WINDOWS {
            self.window[i].advance.next = true;
            self.window[i].store.next = false;
            self.window[i].immediate.next = bits::<32>(0);
            self.window[i].write_base.next = bits::<26>(0);
            self.window[i].write_size.next = bits::<26>(0);
        }
        if self.packets.is_there() {
            connect!(self.packets, self.window[0].packets);
            self.window[0].advance.next = self.advance.val();
        }
        for i in 0..LANES {
            self.region[i].enable.next = self.code_x.q.val().get_bit(6);
            self.region[i].block.next = self.address[i].val().get_bits::<18>(14);
            // These instructions have no immediate: the operand is the address.
            self.region[i].operand.next = self.address[i].val().get_bits::<26>(6);
            self.region[i].low_carry.next = false;
            self.region[i].carry.next = false;
            for w in 0..WINDOWS {
                self.region[i].from_base[w].next = self.window[w].distance.from_base.val();
                self.region[i].from_end[w].next = self.window[w].distance.from_end.val();
            }
            self.outside.x[i].next = self.region[i].scratchpad.val() | !self.region[i].window.val();
        }
        self.refused.next = bits::<LANES>(0);
        if self.code_w.q.val().get_bit(6) {
            self.refused.next = self.refused_w.q.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SCRATCHPAD_ADDRESS;
    use crate::testing::tick;

    #[test]
    fn controls_and_lanes_that_are_refused() {
        let mut unit = AtomicStage::<4>::default();
        unit.windows.read_1_base.next = bits(0x100);
        unit.windows.read_1_size.next = bits(2);
        for (address, value) in
            unit.address.iter_mut().zip([0x4000, 0x407c, 0x4080, u64::from(SCRATCHPAD_ADDRESS) + 4])
        {
            address.next = bits(value);
        }
        // Word; atomic; operation, stores, acquire.
        for (word, atomic, operation, stores, acquire) in [
            (0x0c06_272fu64, true, 1u32, true, true), // amoswap.w.aq
            (0x1006_272f, true, 2, false, false),     // lr.w
            (0x0000_0013, false, 0, false, false),
            (0xe206_272f, true, 0x1c, true, false), // amomaxu.w.rl
        ] {
            unit.advance.next = true;
            unit.decode_word.next = bits(word);
            unit.decode_atomic.next = atomic;
            tick!(unit);
            assert_eq!((unit.in_flight.read.val(), unit.read_stores.val()), (atomic, stores));
            unit.decode_atomic.next = !atomic;
            tick!(unit);
            assert_eq!(unit.in_flight.execute.val(), atomic);
            tick!(unit);
            // It stays while the stages stand.
            unit.advance.next = false;
            tick!(unit);
            assert_eq!(
                (unit.request.valid.val(), unit.stores.val(), unit.request.acquire.val()),
                (atomic, stores, acquire)
            );
            assert_eq!(unit.request.operation.val().to_u32(), operation);
            assert_eq!(unit.refused.val().to_u64(), if atomic { 0b1100 } else { 0 });
        }
    }
}
