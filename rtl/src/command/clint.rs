//! Software and timer interrupts of the harts.

use hermes_hdl::prelude::*;

/// Bits 15:6 of the addresses of `mtimecmp`.
const MTIMECMP: u64 = 0x4000 >> 6;

/// Bits 15:3 of the address of `mtime`.
const MTIME: u64 = 0xbff8 >> 3;

/// `msip`, `mtimecmp` and `mtime` at the places of a core-local interruptor (SiFive's CLINT).
///
/// 1. `value` and `known` answer `address` in the same cycle; `known` is low where there is no
///    register, and for a write of `mtime`, which is the cycle counter of the array.
/// 2. `write` writes at this edge; a write that is not known has no effect.
/// 3. `software` is `msip`. `doorbell` sets it from the next cycle on, and goes before a write.
/// 4. `timer` is high in a cycle if in the cycle before `mtime` was not below `mtimecmp`, as
///    unsigned numbers.
///
/// | address | |
/// | --- | --- |
/// | 0x0000 + 4 h | bit 0: `msip` of hart h |
/// | 0x4000 + 8 h | `mtimecmp` of hart h, low word; high word at + 4 |
/// | 0xbff8 | `mtime`, low word; high word at + 4; read-only |
#[clocked("`msip` and `mtimecmp` are 0")]
#[derive(LogicBlock)]
#[new(harts: usize)]
pub struct Clint {
    /// Cycles since reset of the array.
    pub cycle: Signal<In, Bits<64>>,
    /// Harts whose `msip` is set at this edge.
    pub doorbell: Signal<In, Bits<8>>,
    /// A register is written.
    pub write: Signal<In, Bit>,
    /// Offset of the register, a multiple of 4.
    pub address: Signal<In, Bits<16>>,
    /// The value to write.
    pub data: Signal<In, Bits<32>>,
    /// The value of the register.
    pub value: Signal<Out, Bits<32>>,
    /// The register is there, and if `writes` is high it can be written.
    pub known: Signal<Out, Bit>,
    /// The access is a write; does not write by itself.
    pub writes: Signal<In, Bit>,
    /// Harts that have a software interrupt pending.
    pub software: Signal<Out, Bits<8>>,
    /// Harts that have a timer interrupt pending.
    pub timer: Signal<Out, Bits<8>>,
    pending: Register<Bits<8>>,
    due: Register<Bits<8>>,
    #[count(harts)]
    compare: Vec<Register<Bits<64>>>,
    #[init((0..harts as u64).map(|hart| Constant::new(hart.into())).collect())]
    number: Vec<Constant<Bits<3>>>,
    #[init(harts)]
    _harts: usize,
}

impl Clint {
    /// The registers of `harts` harts.
    ///
    /// # Panics
    /// If `harts` is not 1 to 8.
    pub fn new(harts: usize) -> Self {
        assert!((1..=8).contains(&harts), "Clint: {harts} harts, expected 1 to 8");
        Self::wired(harts)
    }
}

impl Logic for Clint {
    #[hdl_gen]
    fn update(&mut self) {
        let upper = self.address.val().get_bit(2);
        let mut shown = bits::<32>(0);
        let mut there = false;
        let mut pends = self.pending.q.val();
        let mut passed = bits::<8>(0);
        for h in 0..self._harts {
            let of_software = !self.address.val().get_bits::<11>(5).any()
                & !self.address.val().get_bits::<2>(0).any()
                & (self.address.val().get_bits::<3>(2) == self.number[h].val());
            if of_software {
                there = true;
                shown = shown.replace_bit(0, self.pending.q.val().get_bit(h));
                if self.write.val() {
                    pends = pends.replace_bit(h, self.data.val().get_bit(0));
                }
            }
            let of_timer = (self.address.val().get_bits::<10>(6) == bits::<10>(MTIMECMP))
                & (self.address.val().get_bits::<3>(3) == self.number[h].val());
            if of_timer {
                there = true;
                if upper {
                    shown = self.compare[h].q.val().get_bits::<32>(32);
                } else {
                    shown = self.compare[h].q.val().get_bits::<32>(0);
                }
            }
            if of_timer & self.write.val() {
                if upper {
                    self.compare[h].d.next = (bit_cast::<64, 32>(self.data.val()) << bits::<6>(32))
                        | bit_cast::<64, 32>(self.compare[h].q.val().get_bits::<32>(0));
                } else {
                    self.compare[h].d.next = (bit_cast::<64, 32>(self.compare[h].q.val().get_bits::<32>(32))
                        << bits::<6>(32))
                        | bit_cast::<64, 32>(self.data.val());
                }
            }
            passed = passed.replace_bit(h, self.cycle.val() >= self.compare[h].q.val());
        }
        if self.address.val().get_bits::<13>(3) == bits::<13>(MTIME) {
            there = !self.writes.val();
            if upper {
                shown = self.cycle.val().get_bits::<32>(32);
            } else {
                shown = self.cycle.val().get_bits::<32>(0);
            }
        }
        let mut all = bits::<8>(0);
        for h in 0..self._harts {
            all = all.replace_bit(h, true);
        }
        self.pending.d.next = (pends | self.doorbell.val()) & all;
        self.due.d.next = passed;
        self.value.next = shown;
        self.known.next = there;
        self.software.next = self.pending.q.val();
        self.timer.next = self.due.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    /// Accesses to all kinds of addresses, doorbells, and time that passes, jumps and wraps,
    /// against a model.
    #[test]
    fn follows_the_memory_map() {
        let mut random = random();
        const HARTS: usize = 3;
        let mut unit = Clint::new(HARTS);
        reset!(unit);
        let (mut pending, mut compare, mut due) = ([false; HARTS], [0u64; HARTS], None);
        let mut time = 0u64;
        let (mut known, mut rang) = (0, 0);
        for cycle in 0..40_000 {
            time = if random.gen_bool(0.01) { random.gen() } else { time.wrapping_add(1) };
            let hart = random.gen_range(0..5usize);
            let address = match random.gen_range(0..8) {
                0 | 1 => 4 * hart,
                2..=4 => 0x4000 + 8 * hart + 4 * random.gen_range(0..2usize),
                5 => 0xbff8 + 4 * random.gen_range(0..2usize),
                _ => random.gen_range(0..0x4000usize) * 4,
            };
            let writes = random.gen_bool(0.5);
            // Near the present time, so that it passes.
            let word = if random.gen() { time.wrapping_add(random.gen_range(0..50)) } else { time >> 32 };
            let data = word as u32;
            let doorbell: u64 = if random.gen_bool(0.05) { random.gen_range(0..256) } else { 0 };
            unit.cycle.next = time.into();
            unit.address.next = (address as u64).into();
            unit.writes.next = writes;
            unit.data.next = u64::from(data).into();
            unit.doorbell.next = doorbell.into();
            unit.write.next = false;
            settle(&mut unit);
            let half = |value: u64| if address & 4 == 0 { value as u32 } else { (value >> 32) as u32 };
            let software = (address < 4 * HARTS).then_some(address / 4);
            let timer = (0x4000..0x4000 + 8 * HARTS).contains(&address).then(|| (address - 0x4000) / 8);
            let expected = match (software, timer) {
                (Some(hart), _) => Some(pending[hart].into()),
                (_, Some(hart)) => Some(half(compare[hart])),
                _ if (0xbff8..0xc000).contains(&address) && !writes => Some(half(time)),
                _ => None,
            };
            assert_eq!(unit.known.val(), expected.is_some(), "cycle {cycle}: {address:#x}");
            if let Some(expected) = expected {
                known += 1;
                assert_eq!(unit.value.val().to_u32(), expected, "cycle {cycle}: {address:#x}");
            }
            let mask = |list: &[bool]| list.iter().enumerate().fold(0, |m, (i, &b)| m | u64::from(b) << i);
            assert_eq!(unit.software.val().to_u64(), mask(&pending), "cycle {cycle}");
            if let Some(due) = due {
                assert_eq!(unit.timer.val().to_u64(), due, "cycle {cycle}");
            }
            due = Some(mask(&compare.map(|compare| time >= compare)));
            if writes {
                unit.write.next = true;
                settle(&mut unit);
                if let Some(hart) = software {
                    pending[hart] = data & 1 == 1;
                }
                if let Some(hart) = timer {
                    let old = compare[hart];
                    compare[hart] = if address & 4 == 0 {
                        old >> 32 << 32 | u64::from(data)
                    } else {
                        old & 0xffff_ffff | u64::from(data) << 32
                    };
                }
            }
            for (hart, pending) in pending.iter_mut().enumerate() {
                rang += usize::from(doorbell >> hart & 1 == 1 && !*pending);
                *pending |= doorbell >> hart & 1 == 1;
            }
            tick!(unit);
        }
        assert!(known > 10_000 && rang > 500, "{known} {rang}");
    }
}
