//! One read port for data and instructions.

use crate::ports::LineRead;
use hermes_hdl::prelude::*;

/// Merges a core's fetches of instruction lines and reads of data lines.
///
/// The fetch goes first, unless a data read is offered already. Tags pass: bit 6 is 1 in that of a
/// fetch and 0 in that of a data read, and an answer goes where it says. The offer is
/// combinational, and so are the answers; the readies depend on `memory.ready`.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct ReadMerge {
    /// From the instruction cache.
    pub fetch: Flipped<LineRead>,
    /// From the data cache.
    pub data: Flipped<LineRead>,
    /// To memory.
    pub memory: LineRead,
    data_waits: Register<Bit>,
}

impl Logic for ReadMerge {
    #[hdl_gen]
    fn update(&mut self) {
        let fetches = self.fetch.valid.val() && !self.data_waits.q.val();
        self.data_waits.d.next = self.data.valid.val() && !fetches && !self.memory.ready.val();
        self.memory.valid.next = self.fetch.valid.val() || self.data.valid.val();
        self.memory.line.next = self.data.line.val();
        self.memory.tag.next = self.data.tag.val();
        if fetches {
            self.memory.line.next = self.fetch.line.val();
            self.memory.tag.next = self.fetch.tag.val();
        }
        self.fetch.ready.next = self.memory.ready.val() && fetches;
        self.data.ready.next = self.memory.ready.val() && !fetches;
        let fetched = self.memory.response.tag.val().get_bit(6);
        self.fetch.response.valid.next = self.memory.response.valid.val() && fetched;
        self.fetch.response.tag.next = self.memory.response.tag.val();
        self.fetch.response.data.next = self.memory.response.data.val();
        self.fetch.response.error.next = self.memory.response.error.val();
        self.data.response.valid.next = self.memory.response.valid.val() && !fetched;
        self.data.response.tag.next = self.memory.response.tag.val();
        self.data.response.data.next = self.memory.response.data.val();
        self.data.response.error.next = self.memory.response.error.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
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
            uut.fetch.valid.next = fetch.is_some();
            uut.fetch.line.next = bits(fetch.unwrap_or(0));
            uut.fetch.tag.next = bits(0x40);
            uut.data.valid.next = data.is_some();
            uut.data.line.next = bits(data.map_or(0, |d| d.0));
            uut.data.tag.next = bits(data.map_or(0, |d| d.1));
            uut.memory.ready.next = rng.gen();
            let (answer, tag) = (rng.gen(), rng.gen_range(0..128u64));
            uut.memory.response.valid.next = answer;
            uut.memory.response.tag.next = bits(tag);
            settle(&mut uut);
            let answered = [uut.fetch.response.valid.val(), uut.data.response.valid.val()];
            assert_eq!(answered, [answer && tag >= 64, answer && tag < 64]);
            assert_eq!(uut.data.response.tag.val(), bits(tag));
            let offer = uut
                .memory
                .valid
                .val()
                .then(|| (uut.memory.line.val().to_u64(), uut.memory.tag.val().to_u64()));
            if standing.is_some() {
                assert_eq!(offer, standing);
            }
            standing = offer.filter(|_| !uut.memory.ready.val());
            assert_eq!(offer.is_some(), fetch.is_some() || data.is_some());
            let taken = offer.filter(|_| uut.memory.ready.val());
            assert!(!(uut.fetch.ready.val() && uut.data.ready.val()));
            if fetch.is_some() && uut.fetch.ready.val() {
                assert_eq!(taken, fetch.take().map(|line| (line, 0x40)));
                accepted[0] += 1;
            } else if data.is_some() && uut.data.ready.val() {
                assert_eq!(taken, data.take());
                accepted[1] += 1;
            } else {
                assert!(taken.is_none());
            }
            tick!(uut);
        }
        assert!(accepted.iter().all(|&n| n > 300), "{accepted:?}");
    }
}
