//! Which CSRs the command processor has.

use crate::types::riscv::csr;
use hermes_hdl::prelude::*;

/// Bits 11:5 of the numbers of counters and of what they count.
mod group {
    use super::csr;
    pub const MHPMEVENT: u64 = csr::MHPMEVENT3 >> 5;
    pub const MHPMCOUNTER: u64 = csr::MCYCLE >> 5;
    pub const MHPMCOUNTERH: u64 = csr::MCYCLEH >> 5;
}

/// The first counter that is neither `mcycle` nor `minstret`.
const FIRST_HPM: u64 = 3;

/// Bits 11:6 of the numbers of the CSRs of user-level interrupts.
pub(super) const USER_LEVEL: u64 = csr::ULIEPC >> 6;

/// Says of the number of a CSR whether the command processor has it, and whether it is read-only.
///
/// Combinational. There are those of machine mode (privileged specification 1.12) that
/// docs/command-processor.md lists, `cycle`, `time` and `instret` with their high halves, and with
/// channels those of user-level interrupts, 0x800 to 0x805 and 0x810 to 0x83f, the latter as far as
/// there are channels; with a data cache `muncached`, 0x7c0; for the host's instructions CP_DATA,
/// 0x7b2.
#[derive(LogicBlock, Default)]
pub struct CsrMap {
    /// Number of the CSR.
    pub number: Signal<In, Bits<12>>,
    /// Channels of a hart; 0: the CSRs of user-level interrupts are not there; constant.
    pub channels: Signal<In, Bits<4>>,
    /// There is a data cache, and so `muncached`; constant.
    pub cached: Signal<In, Bit>,
    /// The instruction is one of CP_EXECUTE.
    pub debug: Signal<In, Bit>,
    /// There is such a CSR.
    pub there: Signal<Out, Bit>,
    /// The CSR cannot be written.
    pub read_only: Signal<Out, Bit>,
    /// The CSR is one of user-level interrupts.
    pub user_level: Signal<Out, Bit>,
}

impl Logic for CsrMap {
    #[hdl_gen]
    fn update(&mut self) {
        let group = self.number.val().get_bits::<7>(5);
        let place = self.number.val().get_bits::<5>(0);
        let of_setup = (self.number.val() == bits::<12>(csr::MSTATUS))
            | (self.number.val() == bits::<12>(csr::MISA))
            | (self.number.val() == bits::<12>(csr::MIE))
            | (self.number.val() == bits::<12>(csr::MTVEC))
            | (self.number.val() == bits::<12>(csr::MSTATUSH))
            | (self.number.val() == bits::<12>(csr::MCOUNTINHIBIT));
        let of_traps = (self.number.val() == bits::<12>(csr::MSCRATCH))
            | (self.number.val() == bits::<12>(csr::MEPC))
            | (self.number.val() == bits::<12>(csr::MCAUSE))
            | (self.number.val() == bits::<12>(csr::MTVAL))
            | (self.number.val() == bits::<12>(csr::MIP));
        let of_counts = (self.number.val() == bits::<12>(csr::MCYCLE))
            | (self.number.val() == bits::<12>(csr::MINSTRET))
            | (self.number.val() == bits::<12>(csr::MCYCLEH))
            | (self.number.val() == bits::<12>(csr::MINSTRETH));
        let of_user = (self.number.val() == bits::<12>(csr::CYCLE))
            | (self.number.val() == bits::<12>(csr::TIME))
            | (self.number.val() == bits::<12>(csr::INSTRET))
            | (self.number.val() == bits::<12>(csr::CYCLEH))
            | (self.number.val() == bits::<12>(csr::TIMEH))
            | (self.number.val() == bits::<12>(csr::INSTRETH));
        let of_identity = (self.number.val() == bits::<12>(csr::MVENDORID))
            | (self.number.val() == bits::<12>(csr::MARCHID))
            | (self.number.val() == bits::<12>(csr::MIMPID))
            | (self.number.val() == bits::<12>(csr::MHARTID))
            | (self.number.val() == bits::<12>(csr::MCONFIGPTR));
        // mhpmevent3 to 31, mhpmcounter3 to 31 and mhpmcounter3h to 31h
        let of_events = group == bits::<7>(group::MHPMEVENT);
        let of_counters =
            (group == bits::<7>(group::MHPMCOUNTER)) | (group == bits::<7>(group::MHPMCOUNTERH));
        let of_hpm = (of_events | of_counters) & (place >= bits::<5>(FIRST_HPM));
        let mut found = of_setup | of_traps | of_counts | of_user | of_identity | of_hpm;
        if self.number.val() == bits::<12>(csr::MUNCACHED) {
            found = self.cached.val();
        }
        if self.number.val() == bits::<12>(csr::CP_DATA) {
            found = self.debug.val();
        }
        let user = self.number.val().get_bits::<6>(6) == bits::<6>(USER_LEVEL);
        if user {
            found = (self.number.val() <= bits::<12>(csr::SPAWNBUSY)) & self.channels.val().any();
            if self.number.val().get_bits::<2>(4).any() {
                found = self.number.val().get_bits::<4>(0) < self.channels.val();
            }
        }
        self.there.next = found;
        self.read_only.next = self.number.val().get_bits::<2>(10).all()
            | (self.number.val() == bits::<12>(csr::ULIARM))
            | (self.number.val() == bits::<12>(csr::SPAWNBUSY))
            | (user & self.number.val().get_bits::<2>(4).any());
        self.user_level.next = user;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::settle;

    /// All numbers, against lists of ranges.
    #[test]
    fn all_numbers() {
        let machine = [
            0x300..=0x301u64,
            0x304..=0x305,
            0x310..=0x310,
            0x320..=0x320,
            0x323..=0x33f,
            0x340..=0x344,
            0xb00..=0xb00,
            0xb02..=0xb1f,
            0xb80..=0xb80,
            0xb82..=0xb9f,
            0xc00..=0xc02,
            0xc80..=0xc82,
            0xf11..=0xf15,
        ];
        let mut unit = CsrMap::default();
        for (channels, cached, debug) in [(0u64, false, false), (2, false, true), (2, true, false)] {
            unit.channels.next = channels.into();
            unit.cached.next = cached;
            unit.debug.next = debug;
            for number in 0..0x1000u64 {
                unit.number.next = number.into();
                settle(&mut unit);
                let of_channel = (0x810..0x840).contains(&number);
                let user = if of_channel {
                    number & 15 < channels
                } else {
                    (0x800..0x806).contains(&number) && channels > 0
                };
                let option = cached && number == 0x7c0 || debug && number == 0x7b2;
                let there = user || option || machine.iter().any(|range| range.contains(&number));
                assert_eq!(unit.there.val(), there, "{number:#x}");
                if there {
                    let read_only = number >= 0xc00 || [0x803, 0x805].contains(&number) || of_channel;
                    assert_eq!(unit.read_only.val(), read_only, "{number:#x}");
                    assert_eq!(unit.user_level.val(), user, "{number:#x}");
                }
            }
        }
    }
}
