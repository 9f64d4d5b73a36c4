//! The rules of AXI4 that the memory checks on the design (AMBA AXI protocol, A3.2 handshake, A3.4
//! bursts).

use std::collections::HashMap;

use crate::iss::LINE;

/// AxSIZE of a whole line.
const LINE_SIZE: u8 = LINE.trailing_zeros() as u8;
/// AxBURST of an incrementing burst.
const INCR: u8 = 1;
/// A burst stays within a block of so many bytes.
const BURST_BLOCK: u32 = 4096;

/// Payload of an address channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) id: u8,
    pub(super) address: u32,
    /// Beats less one.
    pub(super) length: u8,
    pub(super) size: u8,
    pub(super) burst: u8,
    /// Lock, cache, prot, qos: the last three are not used by the memory, but stable while waiting.
    pub(super) attributes: [u8; 4],
}

impl Address {
    pub(super) fn lines(&self) -> u32 {
        u32::from(self.length) + 1
    }
}

/// Payload of the write data channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Beat {
    pub(super) data: [u32; LINE / 4],
    pub(super) strobe: u64,
    pub(super) last: bool,
}

/// A channel whose source must hold `valid` and payload until `ready`.
#[derive(Debug)]
pub(super) struct Channel<T> {
    waiting: Option<T>,
    violation: Option<String>,
}

impl<T> Default for Channel<T> {
    fn default() -> Self {
        Self { waiting: None, violation: None }
    }
}

impl<T: Clone + PartialEq + std::fmt::Debug> Channel<T> {
    /// A cycle without `valid`.
    #[inline]
    pub(super) fn idle(&mut self, valid: &str) {
        if let Some(payload) = self.waiting.take() {
            self.broken(format!("{valid} fell before its transfer of {payload:x?}"));
        }
    }

    /// A cycle with `valid`.
    #[inline]
    pub(super) fn valid(&mut self, channel: &str, payload: &T, ready: bool) {
        if let Some(before) = self.waiting.take() {
            if before != *payload {
                self.broken(format!(
                    "the payload of {channel} changed before its transfer from {before:x?} to {payload:x?}"
                ));
            }
        }
        if !ready {
            self.waiting = Some(payload.clone());
        }
    }

    #[cold]
    fn broken(&mut self, message: String) {
        self.violation.get_or_insert(message);
    }
}

/// Checks of one AXI4 master. Keeps the first rule that was broken.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) read_address: Channel<Address>,
    pub(super) write_address: Channel<Address>,
    pub(super) write_data: Channel<Beat>,
    violation: Option<String>,
}

impl Rules {
    /// Checks a request.
    pub(super) fn address(&mut self, channel: &str, a: &Address) {
        if a.burst != INCR {
            self.broken(format!("{channel}BURST is {}; only INCR (1) is used here", a.burst));
        }
        if a.size != LINE_SIZE {
            self.broken(format!("{channel}SIZE is {}; only whole lines ({LINE_SIZE}) are used here", a.size));
        }
        if a.attributes[0] != 0 {
            self.broken(format!("{channel}LOCK is 1; exclusive accesses are not used here"));
        }
        if a.address % LINE as u32 != 0 {
            self.broken(format!("{channel}ADDR {:#010x} is not at the start of a line", a.address));
        }
        let bytes = a.lines() * LINE as u32;
        if a.address % BURST_BLOCK + bytes > BURST_BLOCK {
            self.broken(format!("a burst of {bytes} bytes at {:#010x} crosses a 4 KiB boundary", a.address));
        }
    }

    #[cold]
    pub(super) fn broken(&mut self, message: String) {
        self.violation.get_or_insert(message);
    }

    #[inline]
    pub(super) fn violation(&self) -> Option<&str> {
        let channels = [
            &self.read_address.violation,
            &self.write_address.violation,
            &self.write_data.violation,
            &self.violation,
        ];
        channels.into_iter().find_map(|v| v.as_deref())
    }
}

/// Requests that were taken and not answered, of all channels: what the array promises beyond AXI4,
/// whose reads and writes may overtake each other. An L2 cache that breaks this loses data under
/// some latencies.
///
/// Outstanding requests of a channel and direction have an ID each. A line that is being written
/// back is neither read nor written again before the answer, one that is being read is not written.
#[derive(Debug, Default)]
pub(super) struct Outstanding {
    /// Requests by channel, direction (whether it writes) and ID.
    ids: HashMap<(usize, bool, u8), u32>,
    /// Reads and writes of each line.
    lines: HashMap<u32, [u32; 2]>,
    violation: Option<String>,
}

impl Outstanding {
    pub(super) fn take(&mut self, channel: usize, writes: bool, a: &Address) {
        let name = if writes { "AW" } else { "AR" };
        let same = self.ids.entry((channel, writes, a.id)).or_default();
        *same += 1;
        if *same > 1 {
            let message = format!("{name}ID {:#04x} of channel {channel} is in use by another request", a.id);
            self.violation.get_or_insert(message);
        }
        for line in lines(a) {
            let [reads, writings] = self.lines.entry(line).or_default();
            if *writings > 0 || (writes && *reads > 0) {
                let other = if *writings > 0 { "write" } else { "read" };
                let message = format!("{name}ADDR {line:#010x}: a {other} of this line is not answered");
                self.violation.get_or_insert(message);
            }
            *(if writes { writings } else { reads }) += 1;
        }
    }

    pub(super) fn answer(&mut self, channel: usize, writes: bool, a: &Address) {
        let one_less = |count: &mut u32| {
            *count -= 1;
            *count == 0
        };
        if self.ids.get_mut(&(channel, writes, a.id)).is_some_and(one_less) {
            self.ids.remove(&(channel, writes, a.id));
        }
        for line in lines(a) {
            if let Some(counts) = self.lines.get_mut(&line) {
                counts[usize::from(writes)] -= 1;
                if *counts == [0, 0] {
                    self.lines.remove(&line);
                }
            }
        }
    }

    #[inline]
    pub(super) fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }
}

/// Addresses of the lines of a burst.
fn lines(a: &Address) -> impl Iterator<Item = u32> {
    let first = a.address & !(LINE as u32 - 1);
    (0..a.lines()).map(move |line| first.wrapping_add(line * LINE as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Address = Address { id: 1, address: 0xfc0, length: 0, size: 6, burst: 1, attributes: [0; 4] };

    fn message(address: Address) -> Option<String> {
        let mut rules = Rules::default();
        rules.address("AR", &address);
        rules.violation().map(str::to_string)
    }

    #[test]
    fn requests_are_checked() {
        assert_eq!(message(GOOD), None);
        assert!(message(Address { burst: 0, ..GOOD }).unwrap().starts_with("ARBURST is 0"));
        assert!(message(Address { size: 2, ..GOOD }).unwrap().starts_with("ARSIZE is 2"));
        assert!(message(Address { address: 0x20, ..GOOD })
            .unwrap()
            .contains("0x00000020 is not at the start"));
        assert!(message(Address { length: 1, ..GOOD }).unwrap().contains("crosses a 4 KiB boundary"));
        assert!(message(Address { attributes: [1, 0, 0, 0], ..GOOD }).unwrap().starts_with("ARLOCK is 1"));
    }

    #[test]
    fn outstanding_requests_do_not_meet() {
        let other = Address { id: 2, ..GOOD };
        let violation = |requests: &[(usize, bool, &Address)]| {
            let mut outstanding = Outstanding::default();
            requests.iter().for_each(|(channel, writes, a)| outstanding.take(*channel, *writes, a));
            outstanding.violation().map(str::to_string)
        };
        let apart = Address { address: 0x1000, ..GOOD };
        assert_eq!(
            violation(&[(0, false, &GOOD), (0, false, &other), (1, false, &GOOD), (0, true, &apart)]),
            None
        );
        let found = violation(&[(0, false, &GOOD), (0, false, &apart)]).unwrap();
        assert_eq!(found, "ARID 0x01 of channel 0 is in use by another request");
        let found = violation(&[(0, true, &GOOD), (1, false, &GOOD)]).unwrap();
        assert_eq!(found, "ARADDR 0x00000fc0: a write of this line is not answered");
        let found = violation(&[(0, false, &GOOD), (0, true, &other)]).unwrap();
        assert_eq!(found, "AWADDR 0x00000fc0: a read of this line is not answered");

        let mut outstanding = Outstanding::default();
        for writes in [true, false, true] {
            outstanding.take(0, writes, &GOOD);
            outstanding.answer(0, writes, &GOOD);
        }
        assert!(
            outstanding.violation().is_none() && outstanding.lines.is_empty() && outstanding.ids.is_empty()
        );
    }

    #[test]
    fn a_waiting_transfer_must_be_held() {
        let mut rules = Rules::default();
        rules.read_address.valid("AR", &GOOD, false);
        rules.read_address.valid("AR", &GOOD, true);
        rules.read_address.idle("ARVALID");
        assert_eq!(rules.violation(), None);
        rules.read_address.valid("AR", &GOOD, false);
        rules.read_address.valid("AR", &Address { id: 2, ..GOOD }, true);
        assert!(rules.violation().unwrap().starts_with("the payload of AR changed"));

        let mut rules = Rules::default();
        rules.write_address.valid("AW", &GOOD, false);
        rules.write_address.idle("AWVALID");
        assert!(rules.violation().unwrap().starts_with("AWVALID fell before its transfer"));
    }
}
