//! Packets that a kernel sends instead of the one in the slot.
//!
//! Every ring slot has an egress list, in which its kernel describes frames that share the slot's
//! bytes: nothing is copied, and the frames leave at the packet's commit, so that they keep their
//! place in the order. A list has words (little-endian):
//!
//! | offset | what |
//! | --- | --- |
//! | 0 | number of entries; 0: the frame in the slot leaves as it is |
//! | 4 to 47 | the kernel's to use |
//! | 48 + 72 x entry | address of the payload in shared memory |
//! | + 4 | bytes of the payload |
//! | + 8 | bytes of the IPv4 header, at most 60 |
//! | + 12 | the IPv4 header |
//!
//! A frame is the slot's Ethernet header, the entry's IPv4 header, then the payload.

/// A kernel left an egress list that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("egress list of ring slot {slot}: {what}")]
pub struct EgressError {
    /// The ring slot.
    pub slot: u32,
    /// What is wrong with it.
    pub what: String,
}

/// Bytes of a list before its first entry.
pub const LIST_HEADER_BYTES: usize = 48;
/// Bytes of an entry.
pub const ENTRY_BYTES: usize = 72;
/// Most bytes of an IPv4 header.
const HEADER_BYTES: usize = 60;
/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;

/// The egress lists of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EgressLists {
    /// Address of the list of ring slot 0.
    pub address: u32,
    /// Bytes from one list to the next, as a power of two.
    pub bytes_log2: u32,
}

impl EgressLists {
    /// Bytes of a list with `entries` entries, as a power of two.
    #[must_use]
    pub fn bytes_log2_for(entries: usize) -> u32 {
        (LIST_HEADER_BYTES + entries * ENTRY_BYTES).next_power_of_two().trailing_zeros()
    }

    /// The frames that leave for the packet in ring slot `slot`, whose frame is `frame`; none if
    /// that frame itself leaves. `read` reads bytes of the shared memory from an address on.
    ///
    /// # Errors
    /// Those of `read`, such as when the list or a payload is outside the memory; [`EgressError`]
    /// if an entry cannot be a frame.
    pub fn frames<E: From<EgressError>>(
        &self,
        mut read: impl FnMut(u32, &mut [u8]) -> Result<(), E>,
        slot: u32,
        frame: &[u8],
    ) -> Result<Vec<Vec<u8>>, E> {
        let list = self.address + (slot << self.bytes_log2);
        let mut count = [0; 4];
        read(list, &mut count)?;
        let count = u32::from_le_bytes(count);
        let room = ((1 << self.bytes_log2) - LIST_HEADER_BYTES) / ENTRY_BYTES;
        let broken = |what: String| E::from(EgressError { slot, what });
        if count as usize > room {
            return Err(broken(format!("{count} entries; the list has room for {room}")));
        }
        let ethernet = frame.get(..ETHERNET).unwrap_or(frame);
        let entry = |number: u32| {
            let mut entry = [0; ENTRY_BYTES];
            read(list + (LIST_HEADER_BYTES + number as usize * ENTRY_BYTES) as u32, &mut entry)?;
            let word =
                |at: usize| u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]);
            let (payload, bytes, header) = (word(0), word(4) as usize, word(8) as usize);
            if header > HEADER_BYTES || bytes > usize::from(u16::MAX) {
                let what = format!("entry {number}: header of {header} bytes, payload of {bytes} bytes");
                return Err(broken(what));
            }
            let mut sent = [ethernet, &entry[12..12 + header]].concat();
            sent.resize(ethernet.len() + header + bytes, 0);
            read(payload, &mut sent[ethernet.len() + header..])?;
            Ok(sent)
        };
        (0..count).map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What leaves for the packet in slot 3 with this memory.
    fn frames(lists: &EgressLists, image: &[u8], frame: &[u8]) -> Result<Vec<Vec<u8>>, EgressError> {
        let read = |address: u32, bytes: &mut [u8]| {
            bytes.copy_from_slice(&image[address as usize..][..bytes.len()]);
            Ok(())
        };
        lists.frames(read, 3, frame)
    }

    #[test]
    fn frames_are_put_together_from_header_and_payload() {
        let lists = EgressLists { address: 0x1000, bytes_log2: EgressLists::bytes_log2_for(2) };
        assert_eq!(lists.bytes_log2, 8);
        let mut image = vec![0; 0x4000];
        let write = |image: &mut [u8], address: usize, bytes: &[u8]| {
            image[address..][..bytes.len()].copy_from_slice(bytes);
        };
        let frame: Vec<u8> = (0..60).collect();
        assert_eq!(frames(&lists, &image, &frame).unwrap(), Vec::<Vec<u8>>::new());
        write(&mut image, 0x3000, b"abcdefgh");
        let list = 0x1300;
        let mut words = vec![0_u32; 12];
        words[0] = 2;
        words.extend([0x3000, 3, 4, 0x0403_0201]);
        words.resize(12 + 18, 0);
        words.extend([0x3003, 5, 0]);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        write(&mut image, list, &bytes);
        let sent = frames(&lists, &image, &frame).unwrap();
        assert_eq!(sent[0], [&frame[..14], &[1, 2, 3, 4], b"abc"].concat());
        assert_eq!(sent[1], [&frame[..14], b"defgh"].concat());
        write(&mut image, list, &[3]);
        let error = frames(&lists, &image, &frame).unwrap_err().to_string();
        assert!(error.contains("slot 3: 3 entries; the list has room for 2"), "{error}");
        write(&mut image, list, &[1]);
        write(&mut image, list + 48 + 8, &[61]);
        let error = frames(&lists, &image, &frame).unwrap_err().to_string();
        assert!(error.contains("entry 0: header of 61 bytes"), "{error}");
    }
}
