//! What a core knows of its network function.

use crate::ports::FunctionContext;
use hermes_hdl::prelude::*;

/// The context of the network function that a core has.
///
/// 1. While `first` is high it is that of `registers`, a cycle later.
/// 2. Else a word that is taken stands in `context` from the next cycle on; the other words stay.
/// 3. Words are numbered as the registers from NF_ENTRY to NF_MCW; there are no others.
#[clocked("all words are zero")]
#[derive(Clone, Default, LogicBlock)]
pub struct CoreContext {
    /// From the registers: the context of NF 0.
    pub registers: Flipped<FunctionContext>,
    /// From the owner of the cores: the core has NF 0.
    pub first: Signal<In, Bit>,
    /// From the owner of the cores: the core takes `data` as its word `word`.
    pub take: Signal<In, Bit>,
    /// The number of the word.
    pub word: Signal<In, Bits<4>>,
    /// The word.
    pub data: Signal<In, Bits<32>>,
    /// To the core and to warp issue.
    pub context: FunctionContext,
    entry: Register<Bits<32>>,
    argument: Register<Bits<32>>,
    class: Register<Bit>,
    stack_base: Register<Bits<32>>,
    read_base: Register<Bits<26>>,
    read_size: Register<Bits<26>>,
    write_base: Register<Bits<26>>,
    write_size: Register<Bits<26>>,
    watchdog: Register<Bits<31>>,
    mcw: Register<Bits<6>>,
    guarded: Register<Bit>,
    may_load: Register<Bit>,
    may_store: Register<Bit>,
    may_reserve: Register<Bit>,
    keeps_verdict: Register<Bit>,
}

impl Logic for CoreContext {
    #[hdl_gen]
    fn update(&mut self) {
        let lines = self.data.val().get_bits::<26>(6);
        if self.first.val() {
            self.entry.d.next = self.registers.entry.val();
            self.argument.d.next = self.registers.argument.val();
            self.class.d.next = self.registers.class.val();
            self.stack_base.d.next = self.registers.stack_base.val();
            self.read_base.d.next = self.registers.read_base.val();
            self.read_size.d.next = self.registers.read_size.val();
            self.write_base.d.next = self.registers.write_base.val();
            self.write_size.d.next = self.registers.write_size.val();
            self.watchdog.d.next = self.registers.watchdog.val();
            self.mcw.d.next = self.registers.mcw.val();
            self.guarded.d.next = self.registers.guards.guarded.val();
            self.may_load.d.next = self.registers.guards.may_load.val();
            self.may_store.d.next = self.registers.guards.may_store.val();
            self.may_reserve.d.next = self.registers.guards.may_reserve.val();
            self.keeps_verdict.d.next = self.registers.guards.keeps_verdict.val();
        } else {
            if self.take.val() & (self.word.val() == bits::<4>(0)) {
                self.entry.d.next = self.data.val();
            }
            if self.take.val() & (self.word.val() == bits::<4>(1)) {
                self.argument.d.next = self.data.val();
            }
            if self.take.val() & (self.word.val() == bits::<4>(2)) {
                self.class.d.next = self.data.val().get_bit(0);
                self.guarded.d.next = self.data.val().get_bit(1);
                self.may_load.d.next = self.data.val().get_bit(2);
                self.may_store.d.next = self.data.val().get_bit(3);
                self.may_reserve.d.next = self.data.val().get_bit(4);
                self.keeps_verdict.d.next = self.data.val().get_bit(5);
            }
            if self.take.val() & (self.word.val() == bits::<4>(3)) {
                self.stack_base.d.next = self.data.val();
            }
            if self.take.val() & (self.word.val() == bits::<4>(4)) {
                self.read_base.d.next = lines;
            }
            if self.take.val() & (self.word.val() == bits::<4>(5)) {
                self.read_size.d.next = lines;
            }
            if self.take.val() & (self.word.val() == bits::<4>(6)) {
                self.write_base.d.next = lines;
            }
            if self.take.val() & (self.word.val() == bits::<4>(7)) {
                self.write_size.d.next = lines;
            }
            if self.take.val() & (self.word.val() == bits::<4>(8)) {
                self.watchdog.d.next = self.data.val().get_bits::<31>(0);
            }
            if self.take.val() & (self.word.val() == bits::<4>(9)) {
                self.mcw.d.next = self.data.val().get_bits::<6>(0);
            }
        }
        self.context.entry.next = self.entry.q.val();
        self.context.argument.next = self.argument.q.val();
        self.context.class.next = self.class.q.val();
        self.context.stack_base.next = self.stack_base.q.val();
        self.context.read_base.next = self.read_base.q.val();
        self.context.read_size.next = self.read_size.q.val();
        self.context.write_base.next = self.write_base.q.val();
        self.context.write_size.next = self.write_size.q.val();
        self.context.watchdog.next = self.watchdog.q.val();
        self.context.mcw.next = self.mcw.q.val();
        self.context.guards.guarded.next = self.guarded.q.val();
        self.context.guards.may_load.next = self.may_load.q.val();
        self.context.guards.may_store.next = self.may_store.q.val();
        self.context.guards.may_reserve.next = self.may_reserve.q.val();
        self.context.guards.keeps_verdict.next = self.keeps_verdict.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    /// The words as the bus has them.
    fn shown(unit: &CoreContext) -> [u64; 10] {
        let c = &unit.context;
        [
            c.entry.val().to_u64(),
            c.argument.val().to_u64(),
            u64::from(c.class.val())
                | u64::from(c.guards.guarded.val()) << 1
                | u64::from(c.guards.may_load.val()) << 2
                | u64::from(c.guards.may_store.val()) << 3
                | u64::from(c.guards.may_reserve.val()) << 4
                | u64::from(c.guards.keeps_verdict.val()) << 5,
            c.stack_base.val().to_u64(),
            c.read_base.val().to_u64() << 6,
            c.read_size.val().to_u64() << 6,
            c.write_base.val().to_u64() << 6,
            c.write_size.val().to_u64() << 6,
            c.watchdog.val().to_u64(),
            c.mcw.val().to_u64(),
        ]
    }

    #[test]
    fn follows_the_registers_or_the_bus() {
        let lines = 0xffff_ffc0;
        let masks =
            [0xffff_ffff, 0xffff_ffff, 63, 0xffff_ffff, lines, lines, lines, lines, 0x7fff_ffff, 63u64];
        let mut random = random();
        let mut unit = CoreContext::default();
        reset!(unit);
        let mut model = [0u64; 10];
        for cycle in 0..20_000 {
            let words: [u64; 10] = std::array::from_fn(|i| u64::from(random.gen::<u32>()) & masks[i]);
            let first = cycle / 50 % 2 == 0;
            let (take, word) = (random.gen(), random.gen_range(0..16));
            let data = u64::from(random.gen::<u32>());
            let r = &mut unit.registers;
            r.entry.next = words[0].into();
            r.argument.next = words[1].into();
            r.class.next = words[2] & 1 == 1;
            r.guards.guarded.next = words[2] & 2 == 2;
            r.guards.may_load.next = words[2] & 4 == 4;
            r.guards.may_store.next = words[2] & 8 == 8;
            r.guards.may_reserve.next = words[2] & 16 == 16;
            r.guards.keeps_verdict.next = words[2] & 32 == 32;
            r.stack_base.next = words[3].into();
            r.read_base.next = (words[4] >> 6).into();
            r.read_size.next = (words[5] >> 6).into();
            r.write_base.next = (words[6] >> 6).into();
            r.write_size.next = (words[7] >> 6).into();
            r.watchdog.next = words[8].into();
            r.mcw.next = words[9].into();
            unit.first.next = first;
            unit.take.next = take;
            unit.word.next = (word as u64).into();
            unit.data.next = data.into();
            settle(&mut unit);
            assert_eq!(shown(&unit), model, "cycle {cycle}");
            tick!(unit);
            if first {
                model = words;
            } else if take && word < 10 {
                model[word] = data & masks[word];
            }
        }
    }
}
