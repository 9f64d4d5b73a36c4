//! Which lanes of an instruction fault, and which must replay it.

use super::{AddressRegion, WINDOWS};
use crate::ports::{CheckedValues, LocalAccess, WindowDistance};
use crate::types::riscv::{cause, size};
use hermes_hdl::prelude::*;

/// Checks the addresses and targets of the lanes: addresses in stage X, as they are computed, and
/// in stage W which lanes fault or stay.
///
/// All lanes of a warp-instruction fault with the same cause and access the same memory: where some
/// are misaligned and others outside the windows, the latter stay at the instruction and replay it,
/// and so do those that access the shared memory where others access the scratchpad. `early_fault`
/// belongs to stage X, all other outputs to stage W; the addresses are those of the instruction
/// that was in stage X at the last edge with `advance` high.
#[clocked]
#[derive(LogicBlock)]
#[new(locals: bool)]
pub struct AccessCheck<const LANES: usize> {
    /// Stages X and W advance at this edge.
    pub advance: Signal<In, Bit>,

    // Stage X
    /// Lanes that execute the instruction.
    pub execute_active: Signal<In, Bits<LANES>>,
    /// The instruction is a load or a store, and not EXIT.
    pub execute_access: Signal<In, Bit>,
    /// Size of the access: 0 = byte, 1 = half word, 2 = word.
    pub execute_size: Signal<In, Bits<2>>,
    /// The instruction is `jalr`.
    pub execute_jump_register: Signal<In, Bit>,
    /// The instruction is a conditional branch or `jal`.
    pub execute_jump: Signal<In, Bit>,
    /// The instruction faults in all lanes.
    pub execute_fault: Signal<In, Bit>,
    /// Stage X, from the lanes.
    #[count(LANES)]
    pub lane: Vec<Flipped<CheckedValues>>,
    /// Immediate of the instruction in stage X.
    pub immediate: Signal<In, Bits<32>>,
    /// Stage X, from the access windows.
    #[count(WINDOWS)]
    pub window: Vec<WindowDistance>,

    /// Stage X, from the local window (only with a local window).
    #[there(locals)]
    pub local: Part<LocalAccess<LANES>>,

    // Stage W
    /// Lanes that execute the instruction.
    pub active: Signal<In, Bits<LANES>>,
    /// The instruction in stage W is a load.
    pub load: Signal<In, Bit>,
    /// The instruction in stage W is a store.
    pub store: Signal<In, Bit>,
    /// The instruction in stage W is the store of the verdict at EXIT, which is not checked.
    pub exit: Signal<In, Bit>,
    /// The instruction in stage W is a conditional branch.
    pub branch: Signal<In, Bit>,
    /// The instruction in stage W is `jal`.
    pub jump: Signal<In, Bit>,
    /// The instruction in stage W faults in all lanes.
    pub fault: Signal<In, Bit>,
    /// With `fault`: the cause.
    pub fault_cause: Signal<In, Bits<5>>,
    /// From the atomic stage: lanes whose access is refused, whatever the windows say.
    pub refused: Signal<In, Bits<LANES>>,

    /// Lanes in which the condition of the branch holds.
    pub conditions: Signal<Out, Bits<LANES>>,
    /// Lanes that fault.
    pub faulting: Signal<Out, Bits<LANES>>,
    /// Lanes that replay the instruction.
    pub staying: Signal<Out, Bits<LANES>>,
    /// Some lane faults.
    pub any_faulting: Signal<Out, Bit>,
    /// Stage X: the instruction may fault for another reason than the region that it accesses. That
    /// is a misaligned address or target, or `execute_fault`.
    pub early_fault: Signal<Out, Bit>,
    /// The lanes of a load or store split up: some may not access, or they go to both memories.
    /// This is known earlier than which lanes do.
    pub parts: Signal<Out, Bit>,
    /// Some lanes access the scratchpad and some the shared memory.
    pub mixed: Signal<Out, Bit>,
    /// The access goes to the scratchpad, not to the shared memory.
    pub scratchpad: Signal<Out, Bit>,
    /// Cause of the fault; undefined if no lane faults.
    pub cause: Signal<Out, Bits<5>>,
    #[init(Pack::new(LANES))]
    misaligned: Pack<Bit, 1, LANES>,
    #[init(Pack::new(LANES))]
    inside: Pack<Bit, 1, LANES>,
    #[init(Pack::new(LANES))]
    private: Pack<Bit, 1, LANES>,
    #[init(Pack::new(LANES))]
    taking: Pack<Bit, 1, LANES>,
    #[count(LANES)]
    region: Vec<AddressRegion>,
    misaligned_w: Register<Bits<LANES>>,
    /// The target of the branch or `jal` is not a multiple of 4.
    target_misaligned_w: Register<Bit>,
    inside_w: Register<Bits<LANES>>,
    private_w: Register<Bits<LANES>>,
}

impl<const LANES: usize> AccessCheck<LANES> {
    /// The checks of a core without or with a local window (`locals`).
    pub fn new(locals: bool) -> Self {
        Self::wired(locals)
    }
}

impl<const LANES: usize> Logic for AccessCheck<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        // X: address bits that must be zero, and the region of the address
        let mut zeros = bits::<2>(0);
        if self.execute_access.val() {
            if self.execute_size.val() == bits::<2>(size::HALF) {
                zeros = bits::<2>(1);
            }
            if self.execute_size.val() == bits::<2>(size::WORD) {
                zeros = bits::<2>(3);
            }
        }
        if self.execute_jump_register.val() {
            zeros = bits::<2>(2);
        }
        let low_immediate = self.immediate.val().get_bits::<7>(0) & 0x3f;
        for i in 0..LANES {
            self.taking.x[i].next = self.lane[i].taken.val();
            self.region[i].enable.next = self.execute_access.val();
            self.region[i].block.next = self.lane[i].address.val().get_bits::<18>(14);
            self.region[i].operand.next = self.lane[i].operand.val().get_bits::<26>(6);
            // The address has this carry and these low bits too, but it is known later.
            let low_sum = (self.lane[i].operand.val().get_bits::<7>(0) & 0x3f) + low_immediate;
            self.misaligned.x[i].next = (low_sum.get_bits::<2>(0) & zeros).any();
            self.region[i].low_carry.next = low_sum.get_bit(6);
            self.region[i].carry.next = self.lane[i].carry.val();
            for w in 0..WINDOWS {
                self.region[i].from_base[w].next = self.window[w].from_base.val();
                self.region[i].from_end[w].next = self.window[w].from_end.val();
            }
            self.private.x[i].next = self.region[i].scratchpad.val();
            self.inside.x[i].next = self.region[i].window.val();
            if self.local.is_there() {
                if self.local.granted.val().get_bit(i) {
                    self.inside.x[i].next = true;
                }
                if self.local.guarded.val().get_bit(i) {
                    self.inside.x[i].next = false;
                }
            }
        }
        let target_misaligned = self.execute_jump.val() & self.immediate.val().get_bits::<2>(0).any();
        self.early_fault.next = (self.execute_active.val() & self.misaligned.y.val()).any()
            | target_misaligned
            | self.execute_fault.val();
        if self.advance.val() {
            self.misaligned_w.d.next = self.misaligned.y.val();
            self.target_misaligned_w.d.next = target_misaligned;
            self.inside_w.d.next = self.inside.y.val();
            self.private_w.d.next = self.private.y.val();
        }

        // W: which lanes fault, and which stay
        let access = (self.load.val() | self.store.val()) & !self.exit.val();

        self.conditions.next = self.taking.y.val();
        let mut crooked = self.active.val() & self.misaligned_w.q.val();
        if self.target_misaligned_w.q.val() {
            if self.branch.val() {
                crooked = self.active.val() & self.taking.y.val();
            }
            if self.jump.val() {
                crooked = self.active.val();
            }
        }
        self.faulting.next = crooked;
        self.staying.next = bits::<LANES>(0);
        let allowed = self.active.val()
            & !self.misaligned_w.q.val()
            & (self.private_w.q.val() | self.inside_w.q.val())
            & !self.refused.val();
        let scratching = allowed & self.private_w.q.val();
        self.parts.next = access
            & ((self.active.val() & !allowed).any()
                | ((self.active.val() & self.private_w.q.val()).any()
                    & (self.active.val() & self.inside_w.q.val() & !self.private_w.q.val()).any()));
        self.any_faulting.next =
            self.fault.val() | crooked.any() | (access & (self.active.val() & !allowed).any());
        self.mixed.next = access & scratching.any() & (allowed & !self.private_w.q.val()).any();
        self.scratchpad.next = scratching.any();
        if access {
            if crooked.any() {
                self.staying.next = self.active.val() & !self.misaligned_w.q.val() & !allowed;
            } else {
                self.faulting.next = self.active.val() & !allowed;
            }
            if scratching.any() {
                self.staying.next = self.staying.val() | (allowed & !self.private_w.q.val());
            }
        }
        if self.fault.val() {
            self.faulting.next = self.active.val();
        }

        // RISC-V privileged specification, exception codes of mcause
        self.cause.next = bits::<5>(cause::INSTRUCTION_ADDRESS_MISALIGNED);
        if self.load.val() {
            self.cause.next = bits::<5>(cause::LOAD_ACCESS_FAULT);
            if crooked.any() {
                self.cause.next = bits::<5>(cause::LOAD_ADDRESS_MISALIGNED);
            }
        }
        if self.store.val() {
            self.cause.next = bits::<5>(cause::STORE_ACCESS_FAULT);
            if crooked.any() {
                self.cause.next = bits::<5>(cause::STORE_ADDRESS_MISALIGNED);
            }
        }
        if self.fault.val() {
            self.cause.next = self.fault_cause.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SCRATCHPAD_ADDRESS;
    use crate::core::access_window::distance;
    use crate::testing::tick;
    use rand::Rng;

    /// Takes an instruction from stage X to stage W.
    fn pass<const LANES: usize>(unit: &mut AccessCheck<LANES>) {
        unit.advance.next = true;
        tick!(*unit);
    }

    /// What a lane does alone, in the order of the sets that go first.
    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Lane {
        Misaligned,
        Outside,
        Private,
        Shared,
    }

    #[test]
    fn loads_and_stores_are_told_apart() {
        let mut random = hermes_hdl::testing::random();
        let mut unit = AccessCheck::<8>::new(true);
        for _ in 0..2_000 {
            let immediate = random.gen_range(-0x800..0x800) as u32;
            for (i, (base, end)) in [(0x100, 0x200), (0x400, 0x401)].into_iter().enumerate() {
                unit.window[i].from_base.next = distance(immediate, base);
                unit.window[i].from_end.next = distance(immediate, end);
            }
            let size = random.gen_range(0..3u64);
            let active: u64 = random.gen_range(1..256);
            let store: bool = random.gen();
            unit.immediate.next = bits(immediate.into());
            let address: [u32; 8] = std::array::from_fn(|_| {
                let base =
                    [0x4000, 0x7fff, 0x1_0000, 0x1_003f, 0x1_0040, 0x3fff, SCRATCHPAD_ADDRESS, 0xfffe_4000];
                let base: u32 = base[random.gen_range(0..base.len())];
                if random.gen_bool(0.2) {
                    base
                } else {
                    base & !3
                }
            });
            let kind = |lane: usize| {
                let (a, line) = (address[lane], address[lane] >> 6);
                if a & ((1 << size) - 1) != 0 {
                    Lane::Misaligned
                } else if (SCRATCHPAD_ADDRESS..SCRATCHPAD_ADDRESS + 0x4000).contains(&a) {
                    Lane::Private
                } else if (0x100..0x200).contains(&line) || line == 0x400 {
                    Lane::Shared
                } else {
                    Lane::Outside
                }
            };
            // Those on their stack, in no window: its lanes share memory with the others; and those
            // in the guard.
            let granted: u64 = random.gen_range(0..256) & random.gen_range(0..256);
            let guarded: u64 = random.gen_range(0..256) & random.gen_range(0..256) & !granted;
            let kind = |lane: usize| match kind(lane) {
                Lane::Outside if granted >> lane & 1 == 1 => Lane::Shared,
                Lane::Shared if guarded >> lane & 1 == 1 => Lane::Outside,
                other => other,
            };
            let lanes = |wanted: Lane| {
                (0..8)
                    .filter(|&i| active >> i & 1 == 1 && kind(i) == wanted)
                    .fold(0u64, |set, i| set | 1 << i)
            };
            let (misaligned, outside) = (lanes(Lane::Misaligned), lanes(Lane::Outside));
            let (private, shared) = (lanes(Lane::Private), lanes(Lane::Shared));
            let faulting = if misaligned == 0 { outside } else { misaligned };
            let mut staying = if misaligned == 0 { 0 } else { outside };
            if private != 0 {
                staying |= shared;
            }

            unit.local.granted.next = bits(granted);
            unit.local.guarded.next = bits(guarded);
            unit.active.next = active.into();
            unit.execute_active.next = active.into();
            unit.load.next = !store;
            unit.store.next = store;
            unit.execute_access.next = true;
            unit.execute_size.next = bits(size);
            for (i, &value) in address.iter().enumerate() {
                let operand = value.wrapping_sub(immediate);
                unit.lane[i].address.next = u64::from(value).into();
                unit.lane[i].operand.next = u64::from(operand).into();
                unit.lane[i].carry.next = operand.checked_add(immediate).is_none();
            }
            pass(&mut unit);
            assert_eq!(
                u64::from(unit.faulting.val()),
                faulting,
                "{address:x?} active {active:x} size {size}"
            );
            assert_eq!(u64::from(unit.staying.val()), staying, "{address:x?} active {active:x} size {size}");
            let mixed = private != 0 && shared != 0;
            assert_eq!((unit.any_faulting.val(), unit.mixed.val()), (faulting != 0, mixed));
            assert_eq!((unit.early_fault.val(), unit.parts.val()), (misaligned != 0, faulting != 0 || mixed));
            assert_eq!(unit.scratchpad.val(), private != 0);
            let cause = if misaligned == 0 { 5 } else { 4 } + if store { 2 } else { 0 };
            assert_eq!(unit.cause.val().to_u64(), cause);

            // Lanes that are refused fault where they would have made their access.
            unit.refused.next = bits(0xff);
            pass(&mut unit);
            let refused = if misaligned == 0 { active } else { misaligned };
            assert_eq!(u64::from(unit.faulting.val()), refused);
            assert_eq!(u64::from(unit.staying.val()), active & !refused);
            assert!(unit.parts.val());
            assert!(!unit.scratchpad.val());
            unit.refused.next = bits(0);

            // At EXIT nothing is checked.
            unit.execute_access.next = false;
            unit.exit.next = true;
            pass(&mut unit);
            assert!(!unit.faulting.val().any() && !unit.staying.val().any());
            assert!(!unit.any_faulting.val() && !unit.mixed.val() && !unit.scratchpad.val());
            assert!(!unit.early_fault.val() && !unit.parts.val());
            unit.exit.next = false;
        }
    }

    #[test]
    fn jumps_fault_where_their_target_is_misaligned() {
        let mut unit = AccessCheck::<4>::new(false);
        for (lane, address) in [0u64, 1, 2, 3].into_iter().enumerate() {
            unit.lane[lane].address.next = (0x1000 + address).into();
            unit.lane[lane].operand.next = (0xf00 + address).into();
        }
        unit.lane[1].taken.next = true;
        unit.lane[3].taken.next = true;
        unit.active.next = bits(0b0111);
        unit.execute_active.next = bits(0b0111);
        // jalr, branch, jal, target misaligned; faulting lanes
        for (jump_register, branch, jump, target, faulting) in [
            (true, false, false, false, 0b0100),
            (false, true, false, false, 0),
            (false, true, false, true, 0b0010),
            (false, false, true, true, 0b0111),
            (false, false, true, false, 0),
        ] {
            unit.execute_jump_register.next = jump_register;
            unit.branch.next = branch;
            unit.jump.next = jump;
            unit.execute_jump.next = branch || jump;
            unit.immediate.next = bits(0x100 + 2 * u64::from(target));
            pass(&mut unit);
            assert_eq!(u64::from(unit.faulting.val()), faulting);
            assert_eq!(unit.any_faulting.val(), faulting != 0);
            assert_eq!(unit.early_fault.val(), faulting != 0 || (branch && target));
            assert!(!unit.parts.val());
            assert_eq!(unit.cause.val().to_u64(), 0);
            assert_eq!(u64::from(unit.conditions.val()), 0b1010);
        }
    }
}
