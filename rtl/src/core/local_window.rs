//! The local window: stacks whose words are interleaved by lane.

use crate::config::LOCAL_REGION_ADDRESS;
use crate::host::StackPlaces;
use crate::ports::LocalAccess;
use hermes_hdl::prelude::*;

/// STACK_BYTES_LOG2 of the smallest stack.
const SMALLEST_STACK_LOG2: u64 = 4;

/// STACK_BYTES_LOG2 of the largest stack.
const LARGEST_STACK_LOG2: u64 = 16;

/// Finds accesses of the stack in stage X, and in stage W gives them their place in memory.
///
/// With a local window every thread sees its stack at the same addresses: from
/// [`LOCAL_WINDOW_ADDRESS`](crate::config::LOCAL_WINDOW_ADDRESS) on, 2^STACK_BYTES_LOG2 bytes (16
/// to 65,536). Word `n` of the stacks of a warp is at `STACK_BASE + W * 4 * lanes * words + 4 *
/// lanes * n + 4 * lane`, with W = 32 * core + slot and `words` those of a stack: the lanes of a
/// warp that access the same word access one line or two, and no other thread can name them. So the
/// windows are not asked. The 64 KiB below the stacks, and what is above the stack up to the
/// scratchpad, are a guard: an access there is refused, whatever the windows say.
///
/// 1. `accessed.granted` and `accessed.guarded` belong to stage X: lanes whose `address` is on
///    their stack or in the guard, if the instruction is an access. With STACK_BYTES_LOG2 below 4
///    or above 16 there is no stack.
/// 2. `physical` belongs to stage W: of lanes that were granted (`held`) the place of their word,
///    of all others `result`. The low bits of STACK_BASE, up to the bytes of all stacks of a warp,
///    count as 0.
/// 3. The registers between stages X and W take their values at edges with `advance` high.
///
/// SIMTight lays out its stacks in the same way.
#[clocked]
#[derive(LogicBlock)]
pub struct LocalWindow<const LANES: usize> {
    /// Stages X and W advance at this edge.
    pub advance: Signal<In, Bit>,
    /// Core ID: index of the core in the array; constant.
    pub core: Signal<In, Bits<5>>,
    /// From the registers: where the stacks stand.
    pub places: StackPlaces,
    /// Stage X: warp slot.
    pub slot: Signal<In, Bits<5>>,
    /// Stage X: the instruction is a load or a store, and not EXIT.
    pub access: Signal<In, Bit>,
    /// Stage X: address of each lane.
    #[count(LANES)]
    pub address: Vec<Signal<In, Bits<32>>>,
    /// Stage X: lanes whose address is in the window.
    pub accessed: Flipped<LocalAccess<LANES>>,
    /// Stage W: lanes that access their stack.
    pub held: Signal<Out, Bits<LANES>>,
    /// Stage W: address of each lane as the kernel knows it.
    #[count(LANES)]
    pub result: Vec<Signal<In, Bits<32>>>,
    /// Stage W: address of each lane in memory.
    #[count(LANES)]
    pub physical: Vec<Signal<Out, Bits<32>>>,
    /// Bits of the offset that are 0 on a stack.
    beyond: Register<Bits<16>>,
    /// Stacks have one of the sizes that there are.
    possible: Register<Bit>,
    /// Place of the stacks of the warp in stage W.
    base_w: Register<Bits<32>>,
    granted_w: Register<Bits<LANES>>,
    #[init(Pack::new(LANES))]
    on_stack: Pack<Bit, 1, LANES>,
    #[init(Pack::new(LANES))]
    in_guard: Pack<Bit, 1, LANES>,
    #[init(Constant::new(u64::from(LOCAL_REGION_ADDRESS >> 17).into()))]
    block: Constant<Bits<15>>,
    #[init(Constant::new(u64::from(LANES.trailing_zeros()).into()))]
    lanes_log2: Constant<Bits<5>>,
    #[init((0..LANES as u64).map(|lane| Constant::new((4 * lane).into())).collect())]
    lane: Vec<Constant<Bits<32>>>,
}

impl<const LANES: usize> Logic for LocalWindow<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        // X
        let log2 = self.places.stack_bytes_log2.val();
        self.beyond.d.next = !((bits::<16>(1) << log2) - bits::<16>(1));
        if log2 == bits::<5>(LARGEST_STACK_LOG2) {
            self.beyond.d.next = bits::<16>(0);
        }
        self.possible.d.next =
            (log2 >= bits::<5>(SMALLEST_STACK_LOG2)) & (log2 <= bits::<5>(LARGEST_STACK_LOG2));
        for i in 0..LANES {
            let region = self.access.val() & (self.address[i].val().get_bits::<15>(17) == self.block.val());
            let fits = self.possible.q.val()
                & self.address[i].val().get_bit(16)
                & !(self.address[i].val().get_bits::<16>(0) & self.beyond.q.val()).any();
            self.on_stack.x[i].next = region & fits;
            self.in_guard.x[i].next = region & !fits;
        }
        self.accessed.granted.next = self.on_stack.y.val();
        self.accessed.guarded.next = self.in_guard.y.val();
        let warp_bytes_log2 = log2 + self.lanes_log2.val();
        let warp = (bit_cast::<32, 5>(self.core.val()) << bits::<5>(5)) | bit_cast::<32, 5>(self.slot.val());
        // The bytes of all stacks of a warp, less one
        let below = (bits::<32>(1) << warp_bytes_log2) - bits::<32>(1);
        if self.advance.val() {
            self.granted_w.d.next = self.on_stack.y.val();
            self.base_w.d.next = (self.places.stack_base.val() & !below) + (warp << warp_bytes_log2);
        }

        // W
        self.held.next = self.granted_w.q.val();
        for i in 0..LANES {
            let word = bit_cast::<32, 14>(self.result[i].val().get_bits::<14>(2))
                << (self.lanes_log2.val() + bits::<5>(2));
            self.physical[i].next = self.result[i].val();
            if self.granted_w.q.val().get_bit(i) {
                self.physical[i].next = self.base_w.q.val()
                    | word
                    | self.lane[i].val()
                    | bit_cast::<32, 2>(self.result[i].val().get_bits::<2>(0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LOCAL_WINDOW_ADDRESS;
    use crate::testing::tick;
    use rand::Rng;
    use std::collections::BTreeMap;

    /// Steps an access of all lanes through the stages; gives the lanes granted and their places.
    fn pass<const LANES: usize>(
        unit: &mut LocalWindow<LANES>,
        slot: u64,
        address: [u32; LANES],
    ) -> (u64, [u32; LANES]) {
        unit.advance.next = true;
        unit.access.next = true;
        unit.slot.next = slot.into();
        for (port, value) in unit.address.iter_mut().zip(address) {
            port.next = u64::from(value).into();
        }
        // The copies of the registers, then the instruction
        tick!(*unit);
        let granted = unit.accessed.granted.val().into();
        tick!(*unit);
        for (port, value) in unit.result.iter_mut().zip(address) {
            port.next = u64::from(value).into();
        }
        crate::testing::settle(unit);
        (granted, std::array::from_fn(|i| unit.physical[i].val().to_u32()))
    }

    #[test]
    fn every_word_of_every_stack_has_a_place_of_its_own() {
        for log2 in [4, 5, 8] {
            let mut unit = LocalWindow::<4>::default();
            unit.places.stack_base.next = 0x40_0000.into();
            unit.places.stack_bytes_log2.next = log2.into();
            let mut owners = BTreeMap::new();
            for (core, slot) in [(0, 0), (0, 1), (0, 31), (1, 0), (31, 31)] {
                unit.core.next = bits(core);
                for offset in 0..1 << log2 {
                    let (granted, places) = pass(&mut unit, slot, [LOCAL_WINDOW_ADDRESS + offset; 4]);
                    assert_eq!(granted, 15);
                    let warp = (32 * core + slot) as u32;
                    for (lane, place) in places.into_iter().enumerate() {
                        let expected = 0x40_0000
                            + ((warp * 4) << log2)
                            + (offset / 4 * 4 + lane as u32) * 4
                            + offset % 4;
                        assert_eq!(place, expected);
                        assert_eq!(owners.insert(place, (warp, lane)), None, "{place:#x}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_not_on_the_stack_stays_where_it_is() {
        let mut random = hermes_hdl::testing::random();
        let mut unit = LocalWindow::<8>::default();
        for _ in 0..4_000 {
            let log2: u32 = random.gen_range(0..32);
            unit.places.stack_bytes_log2.next = u64::from(log2).into();
            unit.places.stack_base.next = u64::from(random.gen::<u32>()).into();
            let top = LOCAL_WINDOW_ADDRESS.wrapping_add(1 << log2.min(17));
            let near = [LOCAL_WINDOW_ADDRESS, top, 0xfffe_0000, LOCAL_REGION_ADDRESS];
            let address: [u32; 8] = std::array::from_fn(|i| match random.gen_range(0..4) {
                0 => random.gen(),
                _ => near[i % 4].wrapping_add(random.gen_range(-70..70) as u32),
            });
            let (granted, places) = pass(&mut unit, 3, address);
            let on_stack = |address: u32| {
                (4..=16).contains(&log2) && address.wrapping_sub(LOCAL_WINDOW_ADDRESS) >> log2 == 0
            };
            for lane in 0..8 {
                assert_eq!(granted >> lane & 1 == 1, on_stack(address[lane]), "{:#x}", address[lane]);
                let guarded = (0xfffc_0000..0xfffe_0000).contains(&address[lane]) && !on_stack(address[lane]);
                assert_eq!(unit.accessed.guarded.val().get_bit(lane), guarded, "{:#x}", address[lane]);
                assert!(on_stack(address[lane]) || places[lane] == address[lane]);
            }
            // No access, no stack.
            unit.access.next = false;
            tick!(unit);
            assert!(!unit.accessed.granted.val().any() && !unit.accessed.guarded.val().any());
            assert!((0..8).all(|lane| unit.physical[lane].val().to_u32() == address[lane]));
        }
    }

    #[test]
    fn an_instruction_that_waits_keeps_its_place() {
        let mut unit = LocalWindow::<4>::default();
        unit.places.stack_bytes_log2.next = 8.into();
        let address = [LOCAL_WINDOW_ADDRESS + 8; 4];
        let (_, places) = pass(&mut unit, 5, address);
        unit.advance.next = false;
        unit.slot.next = 9.into();
        unit.access.next = false;
        tick!(unit);
        assert_eq!(places, std::array::from_fn(|i| unit.physical[i].val().to_u32()));
    }
}
