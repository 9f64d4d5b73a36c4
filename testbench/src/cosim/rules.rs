//! The rules of AXI4 that the memory checks on the design (AMBA AXI protocol, A3.2 handshake, A3.4 bursts).

use super::image::LINE;

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
    /// Lock, cache, prot, qos: not used by the memory, but stable while waiting.
    pub(super) attributes: [u8; 4],
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
        if a.address % LINE as u32 != 0 {
            self.broken(format!("{channel}ADDR {:#010x} is not at the start of a line", a.address));
        }
        let bytes = (u32::from(a.length) + 1) * LINE as u32;
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
