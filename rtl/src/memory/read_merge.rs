//! One read port for data and instructions.

use hermes_hdl::prelude::*;

/// Merges a core's fetches of instruction lines and reads of data lines.
///
/// The fetch goes first, unless a data read is offered already. Tag bit 6 is 1 for a fetch; a data
/// read has its own tag in bits 5:0. The offer is combinational; the readies depend on
/// `read_ready`.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct ReadMerge {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// From the instruction cache: a line is requested.
    pub fetch_valid: Signal<In, Bit>,
    /// To the instruction cache: the fetch is accepted at this edge.
    pub fetch_ready: Signal<Out, Bit>,
    /// Its line address.
    pub fetch_line: Signal<In, Bits<26>>,
    /// From the data cache: a line is requested.
    pub data_valid: Signal<In, Bit>,
    /// To the data cache: the read is accepted at this edge.
    pub data_ready: Signal<Out, Bit>,
    /// Its line address.
    pub data_line: Signal<In, Bits<26>>,
    /// Its tag.
    pub data_tag: Signal<In, Bits<6>>,
    /// To memory: one of them is offered.
    pub read_valid: Signal<Out, Bit>,
    /// From memory: it is accepted at this edge.
    pub read_ready: Signal<In, Bit>,
    /// Line address.
    pub read_line: Signal<Out, Bits<26>>,
    /// Tag.
    pub read_tag: Signal<Out, Bits<7>>,
    data_waits: Register<Bit>,
}

impl Logic for ReadMerge {
    #[hdl_gen]
    fn update(&mut self) {
        let fetches = self.fetch_valid.val() && !self.data_waits.q.val();
        self.data_waits.d.next = self.data_valid.val() && !fetches && !self.read_ready.val();
        self.read_valid.next = self.fetch_valid.val() || self.data_valid.val();
        self.read_line.next = self.data_line.val();
        self.read_tag.next = bit_cast::<7, 6>(self.data_tag.val());
        if fetches {
            self.read_line.next = self.fetch_line.val();
            self.read_tag.next = bits::<7>(0x40);
        }
        self.fetch_ready.next = self.read_ready.val() && fetches;
        self.data_ready.next = self.read_ready.val() && !fetches;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{random, reset, settle, tick};
    use hermes_hdl::testing::check_with;
    use rand::Rng;

    #[test]
    fn offers_stand_until_they_are_accepted() {
        let mut rng = random("read_merge");
        let mut uut = ReadMerge::default();
        reset!(uut);
        let (mut fetch, mut data) = (None, None);
        let mut standing = None;
        let mut accepted = [0, 0];
        for _ in 0..3000 {
            fetch = fetch.or_else(|| rng.gen_bool(0.3).then(|| rng.gen_range(0..1u64 << 26)));
            data = data.or_else(|| {
                rng.gen_bool(0.6).then(|| (rng.gen_range(0..1u64 << 26), rng.gen_range(0..64u64)))
            });
            uut.fetch_valid.next = fetch.is_some();
            uut.fetch_line.next = bits(fetch.unwrap_or(0));
            uut.data_valid.next = data.is_some();
            uut.data_line.next = bits(data.map_or(0, |d| d.0));
            uut.data_tag.next = bits(data.map_or(0, |d| d.1));
            uut.read_ready.next = rng.gen();
            settle(&mut uut);
            let offer =
                uut.read_valid.val().then(|| (uut.read_line.val().to_u64(), uut.read_tag.val().to_u64()));
            if standing.is_some() {
                assert_eq!(offer, standing);
            }
            standing = offer.filter(|_| !uut.read_ready.val());
            assert_eq!(offer.is_some(), fetch.is_some() || data.is_some());
            let taken = offer.filter(|_| uut.read_ready.val());
            assert!(!(uut.fetch_ready.val() && uut.data_ready.val()));
            if fetch.is_some() && uut.fetch_ready.val() {
                assert_eq!(taken, fetch.take().map(|line| (line, 0x40)));
                accepted[0] += 1;
            } else if data.is_some() && uut.data_ready.val() {
                assert_eq!(taken, data.take());
                accepted[1] += 1;
            } else {
                assert!(taken.is_none());
            }
            tick!(uut);
        }
        assert!(accepted.iter().all(|&n| n > 300), "{accepted:?}");
    }

    #[test]
    fn equals_its_verilog() {
        check_with(ReadMerge::default(), 2_000, |_, _, _| {});
    }
}
