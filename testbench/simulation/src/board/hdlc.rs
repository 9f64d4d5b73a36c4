//! Frames of RFC 1662 on an asynchronous line, with an FCS of 32 bits, without address, control and
//! protocol field.
//!
//! A frame is a flag, the contents, the FCS and a flag. The FCS is the CRC-32 of Ethernet over the
//! contents, least significant byte first (RFC 1662, C.3). In contents and FCS, flag and escape are
//! sent as an escape and the byte XOR 0x20.

/// What begins and ends a frame.
pub const FLAG: u8 = 0x7e;
/// What stands before a byte that is sent XOR [`FLIP`]; before a flag it aborts the frame.
pub const ESCAPE: u8 = 0x7d;
/// What an escaped byte differs in.
pub const FLIP: u8 = 0x20;
/// Bytes of the FCS.
pub const FCS_BYTES: usize = 4;

/// Appends the frame with `contents` to the bytes of a line.
pub fn encode(contents: &[u8], line: &mut Vec<u8>) {
    line.push(FLAG);
    for &byte in contents.iter().chain(&crc32fast::hash(contents).to_le_bytes()) {
        if byte == FLAG || byte == ESCAPE {
            line.extend([ESCAPE, byte ^ FLIP]);
        } else {
            line.push(byte);
        }
    }
    line.push(FLAG);
}

/// Most bytes on the line of a frame with so many bytes of contents: if each of them is escaped.
#[must_use]
pub const fn most_line_bytes(contents: usize) -> usize {
    2 + 2 * (contents + FCS_BYTES)
}

/// What stood between two flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A frame with a right FCS: its contents.
    Frame(Vec<u8>),
    /// A frame whose FCS is wrong, or that is longer than any.
    Damaged,
    /// A frame that its sender aborted.
    Aborted,
}

/// Finds the frames in the bytes of a line.
///
/// What comes before the first flag is skipped, and less than four bytes between two flags are no
/// frame. One flag may end a frame and begin the next.
#[derive(Clone, Debug)]
pub struct Decoder {
    /// Most bytes of contents.
    most: usize,
    /// A flag has come.
    inside: bool,
    /// The last byte was an escape.
    escaped: bool,
    /// More bytes came than a frame can have.
    too_long: bool,
    /// Contents and FCS so far.
    bytes: Vec<u8>,
}

impl Decoder {
    /// A decoder of frames with at most `most` bytes of contents.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, inside: false, escaped: false, too_long: false, bytes: Vec::new() }
    }

    /// Takes the next byte of the line; tells what it ends.
    pub fn push(&mut self, byte: u8) -> Option<Event> {
        match byte {
            FLAG => self.flag(),
            _ if !self.inside => None,
            ESCAPE => {
                self.escaped = true;
                None
            }
            _ => {
                let flip = if std::mem::take(&mut self.escaped) { FLIP } else { 0 };
                if self.bytes.len() < self.most + FCS_BYTES {
                    self.bytes.push(byte ^ flip);
                } else {
                    self.too_long = true;
                }
                None
            }
        }
    }

    /// A flag: the end of what came since the last one.
    fn flag(&mut self) -> Option<Event> {
        self.inside = true;
        let (aborted, too_long) = (std::mem::take(&mut self.escaped), std::mem::take(&mut self.too_long));
        let mut bytes = std::mem::take(&mut self.bytes);
        if aborted {
            return Some(Event::Aborted);
        }
        let contents = bytes.len().checked_sub(FCS_BYTES)?;
        let right = crc32fast::hash(&bytes[..contents]).to_le_bytes() == bytes[contents..];
        if too_long || !right {
            return Some(Event::Damaged);
        }
        bytes.truncate(contents);
        Some(Event::Frame(bytes))
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::test_seed;

    fn decode(most: usize, line: &[u8]) -> Vec<Event> {
        let mut decoder = Decoder::new(most);
        line.iter().filter_map(|byte| decoder.push(*byte)).collect()
    }

    fn frame(contents: &[u8]) -> Vec<u8> {
        let mut line = Vec::new();
        encode(contents, &mut line);
        line
    }

    /// The check value of the CRC-32 of Ethernet is 0xcbf43926.
    #[test]
    fn the_fcs_is_that_of_ethernet_least_significant_byte_first() {
        let line = frame(b"123456789");
        assert_eq!(line, [&[FLAG][..], b"123456789", &[0x26, 0x39, 0xf4, 0xcb], &[FLAG]].concat());
        // RFC 1662, C.3: over contents and FCS the remainder is a constant, 0xdebb20e3 before its
        // complement.
        assert_eq!(crc32fast::hash(&line[1..line.len() - 1]), !0xdebb_20e3);
    }

    #[test]
    fn flags_and_escapes_are_escaped() {
        let line = frame(&[0x7e, 0x01, 0x7d, 0x5e]);
        assert_eq!(line[..7], [0x7e, 0x7d, 0x5e, 0x01, 0x7d, 0x5d, 0x5e]);
        assert_eq!(line.iter().filter(|byte| **byte == FLAG).count(), 2);
        assert_eq!(decode(8, &line), [Event::Frame(vec![0x7e, 0x01, 0x7d, 0x5e])]);
    }

    #[test]
    fn frames_share_flags_and_noise_before_the_first_is_skipped() {
        let (one, two) = (frame(b"one"), frame(b"two"));
        let line = [b"noise", &one[..], &two[1..], &[FLAG, FLAG, 1, 2, 3, FLAG], &one[..]].concat();
        let frame = |text: &[u8]| Event::Frame(text.to_vec());
        assert_eq!(decode(8, &line), [frame(b"one"), frame(b"two"), frame(b"one")]);
    }

    #[test]
    fn damaged_long_and_aborted_frames_are_told_apart() {
        let good = frame(b"12345678");
        let mut wrong = good.clone();
        wrong[3] ^= 4;
        assert_eq!(decode(8, &wrong), [Event::Damaged]);
        assert_eq!(decode(7, &good), [Event::Damaged]);
        assert_eq!(decode(8, &[&good[..5], &[ESCAPE, FLAG]].concat()), [Event::Aborted]);
        // What comes behind is not harmed.
        let line = [&wrong[..], &good[1..], &good[..5], &[ESCAPE], &good[..]].concat();
        let right = Event::Frame(b"12345678".to_vec());
        assert_eq!(decode(8, &line), [Event::Damaged, right.clone(), Event::Aborted, right]);
    }

    #[test]
    fn what_is_sent_comes_out_whole_and_no_single_bit_error_goes_unseen() {
        let mut random = ChaCha8Rng::seed_from_u64(test_seed());
        for _ in 0..200 {
            let mut contents = vec![0; random.gen_range(0..40)];
            random.fill(&mut contents[..]);
            // Bytes that are escaped are as frequent as others.
            contents.iter_mut().filter(|_| random.gen_bool(0.3)).for_each(|byte| *byte = 0x7d | *byte & 3);
            let line = frame(&contents);
            assert!(line.len() <= most_line_bytes(contents.len()));
            assert_eq!(decode(40, &line), [Event::Frame(contents.clone())]);
            for bit in 0..8 * line.len() {
                let mut damaged = line.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                let frames =
                    decode(40, &damaged).into_iter().filter(|event| matches!(event, Event::Frame(_)));
                assert_eq!(frames.count(), 0, "bit {bit} of {line:02x?}");
            }
        }
    }
}
