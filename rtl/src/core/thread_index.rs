//! Values that follow from a thread's place: packetIdx, slot address, stack, verdict address.

use crate::blocks::PriorityEncoder;
use crate::config::{CoreOptions, LOCAL_WINDOW_ADDRESS};
use crate::host::ThreadPlaces;
use crate::ports::JobArguments;
use crate::types::riscv::csr;
use hermes_hdl::prelude::*;

/// Gives the CSRs their values, as one value that all lanes share and an offset that depends on the
/// lane.
///
/// Lane `l` reads `base + offset_base + offset`, modulo 2^32. Its `offset` is `(l * step) & mask`,
/// with all bits that are not in `mask` set, which subtracts the size of the ring, if `l & lanes`
/// is more than `last`. `step` is a power of two, so a lane needs neither an adder for it besides
/// that of stage X nor a shifter.
/// EXIT takes the verdict address in the same way.
///
/// | CSR | value |
/// | --- | --- |
/// | 0xc00, 0xc80 | cycle, cycleh |
/// | 0xc02, 0xc82 | instret, instreth: warp-instructions that the warp retired before this one, modulo 2^32; 0 |
/// | 0xcc0 | packetIdx |
/// | 0xcc1 | lane |
/// | 0xcc2 | warp slot |
/// | 0xcc3 | core |
/// | 0xcc4 | address of the packet's ring slot |
/// | 0xcc5 | address of the argument block |
/// | 0xcc6 | top of the thread's stack |
///
/// With a thread spawner, in a warp of spawned threads:
///
/// | CSR | value |
/// | --- | --- |
/// | 0xcc0 | number of the thread in its job |
/// | 0xcc4, 0xcc5 | words ARG0 and ARG1 of the job's descriptor |
/// | 0xcc7 | 0x8000_0000 + slot of the job; 0 in a packet warp |
///
/// With a network interface:
///
/// | CSR | value |
/// | --- | --- |
/// | 0xccb | the lowest lane that runs the instruction |
///
/// With a local window:
///
/// | CSR | value |
/// | --- | --- |
/// | 0xcc6 | the address behind the thread's stack in the local window |
///
/// Combinational. `known` is low for any other number.
#[derive(LogicBlock)]
#[new(lanes: usize, options: CoreOptions)]
pub struct ThreadIndex {
    /// Core ID: index of the core in the array; constant.
    pub core: Signal<In, Bits<5>>,
    /// CSR number: bits 31:20 of the instruction.
    pub number: Signal<In, Bits<12>>,
    /// The verdict address is wanted; `number` is ignored.
    pub exit: Signal<In, Bit>,
    /// packetIdx of lane 0.
    pub packet: Signal<In, Bits<32>>,
    /// Warp slot.
    pub slot: Signal<In, Bits<5>>,
    /// Cycles since reset.
    pub cycle: Signal<In, Bits<64>>,
    /// Warp-instructions that the warp retired before this one.
    pub instructions: Signal<In, Bits<32>>,
    /// From the registers: where what belongs to the thread stands.
    pub setup: ThreadPlaces,
    /// Value that all lanes share.
    pub base: Signal<Out, Bits<32>>,
    /// Offset of lane 0, which all lanes share too.
    pub offset_base: Signal<Out, Bits<32>>,
    /// Distance of two lanes; one bit is set.
    pub step: Signal<Out, Bits<32>>,
    /// Bits of the offset that count.
    pub mask: Signal<Out, Bits<32>>,
    /// Bits of the lane index that count.
    pub lanes: Signal<Out, Bits<5>>,
    /// The last lane that does not wrap around in the ring.
    pub last: Signal<Out, Bits<5>>,
    /// The CSR exists.
    pub known: Signal<Out, Bit>,
    /// From the warps of spawned threads (only with a thread spawner).
    #[there(options.spawns())]
    pub start: Part<JobArguments>,
    /// Lanes that run the instruction (only with a network interface).
    #[there(options.network)]
    pub running: Part<Signal<In, Bits<32>>>,
    #[there(options.network)]
    lowest: Part<PriorityEncoder>,
    #[init(Constant::new(u64::from(lanes.trailing_zeros()).into()))]
    lanes_log2: Constant<Bits<5>>,
    #[init(Part::when(options.local_window, || Constant::new(u64::from(LOCAL_WINDOW_ADDRESS).into())))]
    window: Part<Constant<Bits<32>>>,
}

impl ThreadIndex {
    /// The unit of a core with `lanes` lanes (a power of two) and these options.
    pub fn new(lanes: usize, options: CoreOptions) -> Self {
        Self::wired(lanes, options)
    }
}

impl Logic for ThreadIndex {
    #[hdl_gen]
    fn update(&mut self) {
        let ring_bytes_log2 = self.setup.ring_slots_log2.val() + self.setup.slot_bytes_log2.val();
        let verdict_bytes_log2 = self.setup.ring_slots_log2.val() + bits::<5>(2);
        // Index of the warp in the array, then of its first thread, then the one after it: stacks
        // grow down.
        let thread = (((bit_cast::<32, 5>(self.core.val()) << bits::<5>(5))
            | bit_cast::<32, 5>(self.slot.val()))
            << self.lanes_log2.val())
            + bits::<32>(1);
        // Places of the ring behind that of lane 0
        let places = (bits::<32>(1) << self.setup.ring_slots_log2.val()) - bits::<32>(1);
        let left = places & !self.packet.val();
        let mut until_wrap = left.get_bits::<5>(0);
        if left.get_bits::<27>(5).any() {
            until_wrap = bits::<5>(31);
        }
        self.lanes.next = places.get_bits::<5>(0);
        self.last.next = bits::<5>(31);
        self.base.next = bits::<32>(0);
        self.offset_base.next = bits::<32>(0);
        let mut shift = bits::<5>(0);
        self.mask.next = bits::<32>(0);
        self.known.next = true;
        if self.exit.val() {
            self.base.next = self.setup.verdict_base.val();
            shift = bits::<5>(2);
            self.mask.next = (bits::<32>(1) << verdict_bytes_log2) - bits::<32>(1);
            self.offset_base.next = (self.packet.val() << bits::<5>(2)) & self.mask.val();
            self.last.next = until_wrap;
        } else if self.number.val() == bits::<12>(csr::PACKET) {
            self.offset_base.next = self.packet.val();
            self.mask.next = bits::<32>(0xffff_ffff_u64);
        } else if self.number.val() == bits::<12>(csr::LANE) {
            self.mask.next = bits::<32>(0xffff_ffff_u64);
        } else if self.number.val() == bits::<12>(csr::WARP_SLOT) {
            self.base.next = bit_cast::<32, 5>(self.slot.val());
        } else if self.number.val() == bits::<12>(csr::CORE) {
            self.base.next = bit_cast::<32, 5>(self.core.val());
        } else if self.number.val() == bits::<12>(csr::RING_SLOT) {
            self.base.next = self.setup.ring_base.val();
            shift = self.setup.slot_bytes_log2.val();
            self.mask.next = (bits::<32>(1) << ring_bytes_log2) - bits::<32>(1);
            self.offset_base.next = (self.packet.val() << self.setup.slot_bytes_log2.val()) & self.mask.val();
            self.last.next = until_wrap;
        } else if self.number.val() == bits::<12>(csr::ARGUMENT) {
            self.base.next = self.setup.argument.val();
        } else if self.number.val() == bits::<12>(csr::STACK) {
            self.base.next = self.setup.stack_base.val();
            self.offset_base.next = thread << self.setup.stack_bytes_log2.val();
            shift = self.setup.stack_bytes_log2.val();
            self.mask.next = bits::<32>(0xffff_ffff_u64);
        } else if self.number.val() == bits::<12>(csr::CYCLE) {
            self.base.next = self.cycle.val().get_bits::<32>(0);
        } else if self.number.val() == bits::<12>(csr::CYCLEH) {
            self.base.next = self.cycle.val().get_bits::<32>(32);
        } else if self.number.val() == bits::<12>(csr::INSTRET) {
            self.base.next = self.instructions.val();
        } else if self.number.val() == bits::<12>(csr::INSTRETH) {
            self.base.next = bits::<32>(0);
        } else {
            self.known.next = false;
        }
        self.step.next = bits::<32>(1) << shift;

        if self.start.is_there() {
            if self.start.spawned.val() & !self.exit.val() & (self.number.val() == bits::<12>(csr::RING_SLOT))
            {
                self.base.next = self.start.argument_0.val();
                self.offset_base.next = bits::<32>(0);
                self.mask.next = bits::<32>(0);
                self.last.next = bits::<5>(31);
            }
            if self.start.spawned.val() & !self.exit.val() & (self.number.val() == bits::<12>(csr::ARGUMENT))
            {
                self.base.next = self.start.argument_1.val();
            }
            if self.number.val() == bits::<12>(csr::JOB) {
                self.known.next = true;
                if self.start.spawned.val() & !self.exit.val() {
                    self.base.next = bits::<32>(0x8000_0000_u64) | bit_cast::<32, 4>(self.start.job.val());
                }
            }
        }
        if self.window.is_there() {
            if !self.exit.val() & (self.number.val() == bits::<12>(csr::STACK)) {
                self.base.next = self.window.val();
                self.offset_base.next = bits::<32>(1) << self.setup.stack_bytes_log2.val();
                self.mask.next = bits::<32>(0);
            }
        }
        if self.running.is_there() {
            self.lowest.request.next = self.running.val();
            if self.number.val() == bits::<12>(csr::LOWEST_LANE) {
                self.known.next = true;
                if !self.exit.val() {
                    self.base.next = bit_cast::<32, 5>(self.lowest.index.val());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_hdl::prelude::simulate;

    fn unit() -> ThreadIndex {
        let mut unit = ThreadIndex::new(8, CoreOptions::default());
        unit.core.next = 3.into();
        unit.packet.next = 1027.into();
        unit.slot.next = 5.into();
        unit.setup.ring_base.next = 0x10_0000.into();
        unit.setup.ring_slots_log2.next = 10.into();
        unit.setup.slot_bytes_log2.next = 11.into();
        unit.setup.verdict_base.next = 0x8_0000.into();
        unit.setup.argument.next = 0x9_0000.into();
        unit.setup.stack_base.next = 0x40_0000.into();
        unit.setup.stack_bytes_log2.next = 8.into();
        unit.cycle.next = 0x1_0000_0002.into();
        unit
    }

    fn value(unit: &ThreadIndex, lane: u32) -> u32 {
        let mask = unit.mask.val().to_u32();
        let wraps = lane & unit.lanes.val().to_u32() > unit.last.val().to_u32();
        let offset = lane.wrapping_mul(unit.step.val().to_u32()) & mask | if wraps { !mask } else { 0 };
        unit.base.val().to_u32().wrapping_add(unit.offset_base.val().to_u32()).wrapping_add(offset)
    }

    #[test]
    fn every_csr_has_its_value_in_every_lane() {
        let mut unit = unit();
        for lane in 0..8 {
            for (number, expected) in [
                (0xc00, 2),
                (0xc80, 1),
                (0xcc0, 1027 + lane),
                (0xcc1, lane),
                (0xcc2, 5),
                (0xcc3, 3),
                (0xcc4, 0x10_0000 + (3 + lane) * 2048),
                (0xcc5, 0x9_0000),
                (0xcc6, 0x40_0000 + (((3 * 32 + 5) * 8) + lane + 1) * 256),
            ] {
                unit.number.next = number.into();
                assert!(simulate(&mut unit, 10));
                assert!(unit.known.val());
                assert_eq!(value(&unit, lane), expected, "CSR {number:#x} of lane {lane}");
            }
        }
    }

    #[test]
    fn the_ring_wraps_within_a_warp() {
        let mut unit = unit();
        unit.packet.next = 1022.into();
        unit.number.next = 0xcc4.into();
        assert!(simulate(&mut unit, 10));
        assert_eq!(value(&unit, 1), 0x10_0000 + 1023 * 2048);
        assert_eq!(value(&unit, 2), 0x10_0000);
        unit.exit.next = true;
        assert!(simulate(&mut unit, 10));
        assert_eq!(value(&unit, 1), 0x8_0000 + 1023 * 4);
        assert_eq!(value(&unit, 2), 0x8_0000);
    }

    #[test]
    fn a_ring_may_have_less_places_than_a_warp_lanes() {
        let mut unit = unit();
        for slots_log2 in 0..7 {
            unit.setup.ring_slots_log2.next = slots_log2.into();
            for (packet, lane) in (0..70).flat_map(|packet| (0..32).map(move |lane| (packet, lane))) {
                unit.packet.next = packet.into();
                unit.number.next = 0xcc4.into();
                unit.exit.next = false;
                assert!(simulate(&mut unit, 10));
                let place = (packet as u32 + lane) & ((1 << slots_log2) - 1);
                assert_eq!(
                    value(&unit, lane),
                    0x10_0000 + place * 2048,
                    "{packet} + {lane} of 2^{slots_log2}"
                );
                unit.exit.next = true;
                assert!(simulate(&mut unit, 10));
                assert_eq!(value(&unit, lane), 0x8_0000 + place * 4, "{packet} + {lane} of 2^{slots_log2}");
            }
        }
    }

    #[test]
    fn the_lowest_running_lane_is_a_csr_with_a_network_interface() {
        let mut unit = ThreadIndex::new(8, CoreOptions { network: true, ..CoreOptions::default() });
        unit.number.next = 0xccb.into();
        for running in 1..256_u64 {
            unit.running.next = running.into();
            for lane in 0..8 {
                assert!(simulate(&mut unit, 10));
                assert!(unit.known.val());
                assert_eq!(value(&unit, lane), running.trailing_zeros(), "{running:#b}");
            }
        }
        let mut unit = ThreadIndex::new(8, CoreOptions { spawn_slots: 8, ..CoreOptions::default() });
        unit.number.next = 0xccb.into();
        assert!(simulate(&mut unit, 10));
        assert!(!unit.known.val());
    }

    #[test]
    fn a_spawned_thread_has_the_arguments_of_its_job() {
        let mut unit = ThreadIndex::new(8, CoreOptions { spawn_slots: 8, ..CoreOptions::default() });
        unit.packet.next = 100.into();
        unit.setup.ring_slots_log2.next = 1.into();
        unit.setup.ring_base.next = 0x10_0000.into();
        unit.setup.argument.next = 0x9_0000.into();
        unit.start.job.next = 9.into();
        unit.start.argument_0.next = 0xaaaa_0000_u64.into();
        unit.start.argument_1.next = 0xbbbb_0000_u64.into();
        for (spawned, lane) in (0..16).map(|i| (i < 8, i % 8)) {
            unit.start.spawned.next = spawned;
            let of_packet = 0x10_0000 + (100 + lane) % 2;
            for (number, of_thread, of_packet) in [
                (0xcc0, 100 + lane, 100 + lane),
                (0xcc4, 0xaaaa_0000, of_packet),
                (0xcc5, 0xbbbb_0000, 0x9_0000),
                (0xcc7, 0x8000_0009, 0),
            ] {
                unit.number.next = number.into();
                assert!(simulate(&mut unit, 10));
                assert!(unit.known.val());
                let expected = if spawned { of_thread } else { of_packet };
                assert_eq!(
                    value(&unit, lane),
                    expected,
                    "CSR {number:#x} of lane {lane}, spawned: {spawned}"
                );
            }
        }
    }

    #[test]
    fn all_stacks_begin_at_the_same_address_with_a_local_window() {
        let mut with = ThreadIndex::new(8, CoreOptions { local_window: true, ..CoreOptions::default() });
        with.setup.stack_bytes_log2.next = 9.into();
        with.setup.stack_base.next = 0x40_0000.into();
        with.slot.next = 5.into();
        with.number.next = 0xcc6.into();
        for lane in 0..8 {
            assert!(simulate(&mut with, 10));
            assert_eq!(value(&with, lane), 0xfffd_0200);
        }
    }

    #[test]
    fn other_numbers_are_unknown() {
        let mut unit = unit();
        for number in [0, 0x300, 0xc01, 0xcc7, 0xfff] {
            unit.number.next = number.into();
            assert!(simulate(&mut unit, 10));
            assert!(!unit.known.val(), "{number:#x}");
        }
    }
}
