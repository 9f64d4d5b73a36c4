//! Warps that wait for a write into the L2 (Zawrs).

use crate::blocks::IndexHash;
use crate::ports::{Look, SleepRequest, SlotStart, WrittenLine};
use hermes_hdl::prelude::*;

/// For every warp slot the line that its warp looked at last, whether it was written since, and
/// whether the warp waits for that.
///
/// It stands for the reservation set of `wrs.nto` and `wrs.sto` (RISC-V Zawrs): `amoor.w` with the
/// operand 0, which reads a word in the L2 and writes nothing, puts the line of the word into the
/// set of its warp, and the write of any byte of the line by anybody makes the set invalid. The
/// line of the last look is kept, by its fold, so a write to one other line in 256 wakes the warp,
/// too: it looks again.
///
/// 1. A warp whose set is empty or was made invalid does not wait. Nor is a write lost that comes
///    between the look and the wait: the line is in the set before the bank answers, and a write
///    that the bank accepts after its answer is seen here later than that.
/// 2. `holds` is a register: at an edge with `advance` high it takes the state of the warp in
///    `slot`, whose instruction enters stage D at that edge: a `wrs` there has to wait. If it does,
///    `sleep.valid` follows in the next cycle, and the bit of its slot in `wake` rises when the
///    line is written, or when time is up: `wrs.nto` at the second edge of bit `long` of `cycle`
///    behind it, `wrs.sto` at the second of bit `brief`, and so does `wrs.nto` of a warp that has
///    looked at several lines, of which it knows the last alone. `wake` stays until the `wrs`
///    leaves stage D (`sleep.pass`), which empties the set.
/// 3. A warp that is overdue is woken, so that the watchdog can end it.
#[clocked]
#[derive(LogicBlock)]
#[new(banks: usize, brief: usize, long: usize)]
pub struct WarpWaits {
    /// Cycles since reset.
    pub cycle: Signal<In, Bits<32>>,
    /// From warp issue.
    pub start: SlotStart,
    /// From the path of atomic operations: a lane looked.
    pub look: Flipped<Look>,
    /// From the banks of the L2.
    #[count(banks)]
    pub written: Vec<Flipped<WrittenLine>>,
    /// The stages advance at this edge.
    pub advance: Signal<In, Bit>,
    /// Stage I: warp slot.
    pub slot: Signal<In, Bits<5>>,
    /// Stage D: a `wrs` of the warp waits.
    pub holds: Signal<Out, Bit>,
    /// Slot of the instruction that was in stage D a cycle ago.
    pub hold_slot: Signal<In, Bits<5>>,
    /// From stage D.
    pub sleep: SleepRequest,
    /// From the watchdog: slots of warps that have run for too long.
    pub overdue: Signal<In, Bits<32>>,
    /// To the scheduler: slots whose warp need not wait any more.
    pub wake: Signal<Out, Bits<32>>,
    /// Slots with a line in the set.
    armed: Register<Bits<32>>,
    /// Slots whose warp looked at several lines.
    several: Register<Bits<32>>,
    /// Slots whose line was written, or whose time is up.
    over: Register<Bits<32>>,
    asleep: Register<Bits<32>>,
    /// Slots asleep for a brief time.
    briefly: Register<Bits<32>>,
    /// Slots asleep at the last edge of their bit of `cycle`.
    old: Register<Bits<32>>,
    #[count(32)]
    line: Vec<Register<Bits<8>>>,
    #[init(IndexHash::new(8, 0))]
    hash: IndexHash,
    holds_q: Register<Bit>,
    // The cycle in which a bit of `cycle` rises: it is high, and those below it are low.
    #[init(Constant::new((1u64 << brief).into()))]
    brief_edge: Constant<Bits<32>>,
    #[init(Constant::new(((2u64 << brief) - 1).into()))]
    brief_mask: Constant<Bits<32>>,
    #[init(Constant::new((1u64 << long).into()))]
    long_edge: Constant<Bits<32>>,
    #[init(Constant::new(((2u64 << long) - 1).into()))]
    long_mask: Constant<Bits<32>>,
    #[init(banks)]
    _banks: usize,
}

impl WarpWaits {
    /// For an L2 of `banks` banks: `wrs.sto` lasts `2^(brief + 1)` to `2^(brief + 2)` cycles,
    /// `wrs.nto` as many with `long`.
    ///
    /// # Panics
    /// If one of these is above 31.
    pub fn new(banks: usize, brief: usize, long: usize) -> Self {
        assert!(brief < 32 && long < 32, "WarpWaits: bits {brief} and {long}, expected at most 31");
        Self::wired(banks, brief, long)
    }
}

impl Logic for WarpWaits {
    #[hdl_gen]
    fn update(&mut self) {
        self.hash.line.next = self.look.line.val();
        let fold = self.hash.index.val().get_bits::<8>(0);
        let mut started = bits::<32>(0);
        if self.start.valid.val() {
            started = bits::<32>(1) << self.start.slot.val();
        }
        let mut looks = bits::<32>(0);
        if self.look.valid.val() {
            looks = bits::<32>(1) << self.look.slot.val();
        }
        let held = bits::<32>(1) << self.hold_slot.val();
        let mut sleeps = bits::<32>(0);
        let mut sleeps_briefly = bits::<32>(0);
        if self.sleep.valid.val() {
            sleeps = held;
            sleeps_briefly = held & self.several.q.val();
            if self.sleep.brief.val() {
                sleeps_briefly = held;
            }
        }
        let mut passes = bits::<32>(0);
        if self.sleep.pass.val() {
            passes = held;
        }
        let gone = started | passes;

        let mut written_now = bits::<32>(0);
        let mut elsewhere = bits::<32>(0);
        for i in 0..32 {
            for b in 0..self._banks {
                if self.written[b].valid.val() & (self.written[b].fold.val() == self.line[i].q.val()) {
                    written_now = written_now.replace_bit(i, true);
                }
            }
            if looks.get_bit(i) {
                elsewhere = elsewhere.replace_bit(i, self.line[i].q.val() != fold);
                self.line[i].d.next = fold;
            }
        }

        // Time
        let mut ticks = bits::<32>(0);
        if (self.cycle.val() & self.brief_mask.val()) == self.brief_edge.val() {
            ticks = self.briefly.q.val();
        }
        if (self.cycle.val() & self.long_mask.val()) == self.long_edge.val() {
            ticks = ticks | !self.briefly.q.val();
        }
        let timed = ticks & self.asleep.q.val();

        self.armed.d.next = (self.armed.q.val() & !gone) | looks;
        self.several.d.next = (self.several.q.val() | (self.armed.q.val() & elsewhere)) & !gone;
        self.over.d.next =
            (self.over.q.val() | (self.armed.q.val() & written_now) | (timed & self.old.q.val())) & !gone;
        self.asleep.d.next = (self.asleep.q.val() | sleeps) & !gone;
        self.briefly.d.next = ((self.briefly.q.val() & !sleeps) | sleeps_briefly) & !gone;
        self.old.d.next = (self.old.q.val() | timed) & !(gone | sleeps);

        let free = self.over.q.val() | !self.armed.q.val() | self.overdue.val();
        self.wake.next = free;
        if self.advance.val() {
            self.holds_q.d.next = !free.get_bit(self.slot.val().index());
        }
        self.holds.next = self.holds_q.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    /// The line address that the fold is made of alone.
    fn line(fold: u64) -> Bits<26> {
        bits(fold)
    }

    /// What a slot of the model does.
    #[derive(Clone, Copy, Default)]
    struct Slot {
        /// Fold of the line in the set.
        armed: Option<u64>,
        several: bool,
        written: bool,
        /// Cycle in which it fell asleep, and whether for a brief time.
        asleep: Option<(u64, bool)>,
    }

    /// Random looks, writes and waits: a write to the line wakes, nothing is lost, nobody sleeps
    /// for longer than the time, and a set that is empty holds nobody.
    #[test]
    fn a_warp_sleeps_until_its_line_is_written_or_time_is_up() {
        let mut random = random();
        let mut unit = WarpWaits::new(2, 3, 6);
        reset!(unit);
        let mut slots = [Slot::default(); 32];
        let (mut by_write, mut by_time, mut brief_times, mut held_back) = (0, 0, 0, 0);
        for cycle in 0..60_000u64 {
            unit.cycle.next = bits(cycle & 0xffff_ffff);
            unit.overdue.next = bits(0);
            unit.advance.next = random.gen_bool(0.8);
            let slot = random.gen_range(0..32usize);
            unit.slot.next = bits(slot as u64);
            let looker = random.gen_bool(0.1).then(|| random.gen_range(0..32usize));
            let looker = looker.filter(|&i| slots[i].asleep.is_none());
            let fold = random.gen_range(0..64u64);
            unit.look.valid.next = looker.is_some();
            unit.look.slot.next = bits(looker.unwrap_or(0) as u64);
            unit.look.line.next = line(fold);
            let writes: [Option<u64>; 2] =
                std::array::from_fn(|_| random.gen_bool(0.05).then(|| random.gen_range(0..64)));
            for (port, write) in unit.written.iter_mut().zip(writes) {
                port.valid.next = write.is_some();
                port.fold.next = bits(write.unwrap_or(0));
            }
            // A warp that is held falls asleep, one that is not and is armed goes on, as stage D
            // reports in the cycle after.
            let subject = random.gen_range(0..32usize);
            let state = slots[subject];
            let free = state.written || state.armed.is_none();
            unit.hold_slot.next = bits(subject as u64);
            let sleeps = state.asleep.is_none() && !free && looker != Some(subject) && random.gen_bool(0.5);
            let brief = random.gen_bool(0.3);
            unit.sleep.valid.next = sleeps;
            unit.sleep.brief.next = brief;
            settle(&mut unit);
            let wake = unit.wake.val().to_u64();
            let passes =
                !sleeps && looker != Some(subject) && wake >> subject & 1 == 1 && random.gen_bool(0.7);
            unit.sleep.pass.next = passes;
            settle(&mut unit);

            for (i, slot) in slots.iter_mut().enumerate() {
                let awake = wake >> i & 1 == 1;
                assert!(awake || slot.armed.is_some(), "cycle {cycle}: slot {i} is held with an empty set");
                assert!(awake || !slot.written, "cycle {cycle}: slot {i} sleeps through a write");
                if let Some((since, brief)) = slot.asleep {
                    let most = if brief { 32 } else { 256 };
                    assert!(awake || cycle - since <= most + 1, "cycle {cycle}: slot {i} sleeps too long");
                    if awake && !slot.written {
                        assert!(cycle - since >= most / 4, "cycle {cycle}: slot {i} wakes early");
                        by_time += 1;
                        brief_times += u32::from(brief);
                        slot.written = true;
                    }
                } else {
                    assert!(
                        !awake || slot.written || slot.armed.is_none(),
                        "cycle {cycle}: slot {i} was never asleep"
                    );
                }
                held_back += u32::from(!awake);
            }
            // The state of the slot that enters stage D
            let enters = unit.advance.val().then(|| wake >> slot & 1 == 0);
            tick!(unit);
            if let Some(held) = enters {
                assert_eq!(unit.holds.val(), held, "cycle {cycle}");
            }
            for (i, slot) in slots.iter_mut().enumerate() {
                if slot.armed.is_some_and(|own| writes.contains(&Some(own))) && !slot.written {
                    slot.written = true;
                    by_write += u32::from(slot.asleep.is_some());
                }
                if looker == Some(i) {
                    slot.several |= slot.armed.is_some_and(|own| own != fold);
                    slot.armed = Some(fold);
                }
                if i == subject && sleeps {
                    slot.asleep = Some((cycle + 1, brief || state.several));
                }
                if i == subject && passes {
                    *slot = Slot::default();
                }
            }
        }
        println!(
            "{by_write} by a write, {by_time} by time ({brief_times} brief), {held_back} slot-cycles held"
        );
        assert!(by_write > 500 && by_time > 100 && brief_times > 50 && held_back > 10_000);
    }

    /// A warp that is overdue and one that starts anew are not held.
    #[test]
    fn overdue_and_new_warps_are_not_held() {
        let mut unit = WarpWaits::new(1, 3, 6);
        reset!(unit);
        for slot in [3u64, 9] {
            unit.look.valid.next = true;
            unit.look.slot.next = bits(slot);
            unit.look.line.next = line(7);
            tick!(unit);
        }
        unit.look.valid.next = false;
        settle(&mut unit);
        assert_eq!(!unit.wake.val().to_u64() & 0xffff_ffff, 1 << 3 | 1 << 9);
        unit.overdue.next = bits(1 << 9);
        unit.start.valid.next = true;
        unit.start.slot.next = bits(3);
        tick!(unit);
        unit.start.valid.next = false;
        settle(&mut unit);
        assert_eq!(unit.wake.val().to_u64(), 0xffff_ffff);
    }
}
