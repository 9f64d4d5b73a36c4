//! Stage R: the registers are read.

use crate::ports::{
    Arithmetic, ArithmeticRegisters, ControlRegisters, Controls, SlotEvent, WarpContext, WarpContextRegisters,
};
use hermes_hdl::prelude::*;

/// Holds the instruction of stage R, while the lanes read their registers, and the controls of
/// stage X.
///
/// The context of the instruction in stage D (`decode`) becomes that of stage R (`context`), and
/// its controls, which are those of stage R (`read`, registers of
/// [`DecodeStage`](super::DecodeStage)), become those of stage X (`execute`), at each edge with
/// `advance` high. An instruction that stage W flushes at this edge leaves stage R as a bubble.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct ReadStage<const LANES: usize> {
    /// Stages D and R advance at this edge.
    pub advance: Signal<In, Bit>,
    /// From stage W: the younger instructions of the warp are flushed.
    pub flush: SlotEvent,
    /// The warp of the instruction in stage D.
    pub decode: WarpContext<LANES>,
    /// The instruction in stage R.
    pub read: Controls,
    /// Stage R: added to the immediate for all lanes.
    pub read_base: Signal<In, Bits<32>>,
    /// Stage R: what the lanes compute in stage X.
    pub read_arithmetic: Arithmetic,
    /// The warp of the instruction in stage R.
    pub context: Flipped<WarpContext<LANES>>,
    /// The instruction in stage X.
    pub execute: Flipped<Controls>,
    /// For the instruction in stage X.
    pub execute_arithmetic: Flipped<Arithmetic>,
    context_r: WarpContextRegisters<LANES>,
    controls_x: ControlRegisters,
    arithmetic_x: ArithmeticRegisters,
}

impl<const LANES: usize> Logic for ReadStage<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        self.context_r.enable.next = self.advance.val();
        connect!(self.decode, self.context_r.d);
        connect!(self.context, self.context_r.q);
        self.arithmetic_x.enable.next = self.advance.val();
        connect!(self.read_arithmetic, self.arithmetic_x.d);
        connect!(self.execute_arithmetic, self.arithmetic_x.q);
        self.controls_x.enable.next = self.advance.val();
        connect!(self.read, self.controls_x.d);
        self.controls_x.d.valid.next = self.read.valid.val()
            & !(self.flush.valid.val() & (self.flush.slot.val() == self.context_r.q.slot.val()));
        self.controls_x.d.immediate.next = self.read.immediate.val() + self.read_base.val();
        connect!(self.execute, self.controls_x.q);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    /// Instructions with a number each, in every field that has room for it: they keep to their
    /// order, stand while the stages do, and those of a flushed warp are gone.
    #[test]
    fn instructions_pass_in_order_unless_they_are_flushed() {
        let mut random = hermes_hdl::testing::random();
        let mut uut = ReadStage::<4>::default();
        reset!(uut);
        let number = |i: u64| (i % 32, i % 64, i % 16, i);
        let (mut read, mut execute) = (None, None);
        let (mut in_decode, mut slot) = (1u64, 0);
        let (mut passed, mut flushed) = (0, 0);
        for _ in 0..2_000 {
            let advance = random.gen_bool(0.7);
            let flush = (advance && random.gen_bool(0.2)).then(|| (slot + random.gen_range(0..2u64)) % 32);
            uut.advance.next = advance;
            uut.flush.valid.next = flush.is_some();
            uut.flush.slot.next = bits(flush.unwrap_or(0));
            let (decode_slot, depth, active, packet) = number(in_decode);
            uut.decode.slot.next = bits(decode_slot);
            uut.decode.depth.next = bits(depth);
            uut.decode.active.next = bits(active);
            uut.decode.alive.next = bits(15 - active);
            uut.decode.waiting.next = bits(packet << 2);
            uut.decode.packet.next = bits(packet);
            uut.read.valid.next = read.is_some();
            uut.read.pc.next = bits(read.unwrap_or(0));
            uut.read.immediate.next = bits(read.unwrap_or(0) + 1);
            uut.read_base.next = bits(3 * read.unwrap_or(0));
            uut.read.rd.next = bits(read.unwrap_or(0) % 32);
            uut.read.load.next = read.unwrap_or(0) % 2 == 1;
            settle(&mut uut);
            if read.is_some() {
                assert_eq!(u64::from(uut.context.slot.val()), slot);
            }
            assert_eq!(uut.execute.valid.val(), execute.is_some());
            if let Some(i) = execute {
                assert_eq!(
                    (u64::from(uut.execute.pc.val()), u64::from(uut.execute.immediate.val())),
                    (i, 4 * i + 1)
                );
                assert_eq!((u64::from(uut.execute.rd.val()), uut.execute.load.val()), (i % 32, i % 2 == 1));
                passed += u32::from(advance);
            }
            tick!(uut);
            if advance {
                flushed += u32::from(read.is_some() && flush == Some(slot));
                execute = read.filter(|_| flush != Some(slot));
                (read, slot) = (random.gen_bool(0.8).then_some(in_decode), decode_slot);
                settle(&mut uut);
                assert_eq!(
                    (u64::from(uut.context.depth.val()), u64::from(uut.context.active.val())),
                    (depth, active)
                );
                assert_eq!(
                    (u64::from(uut.context.alive.val()), u64::from(uut.context.packet.val())),
                    (15 - active, packet)
                );
                assert_eq!(u64::from(uut.context.waiting.val()), packet << 2);
                in_decode += 1;
            }
        }
        assert!(passed > 500 && flushed > 50, "{passed} {flushed}");
    }
}
