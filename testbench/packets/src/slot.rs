//! The packet slot in shared memory: a descriptor of 16 bytes, 2 bytes of padding, the Ethernet
//! frame. The padding puts the IPv4 header at a multiple of 4.

use hermes_rtl::config::LINE_BYTES;

use crate::frame::Frame;
use crate::words::number_of;

/// Offset of the Ethernet frame in its slot, in bytes.
pub const FRAME_OFFSET: usize = 18;
/// Offset of the descriptor's flags, of which bits 15:0 are the bytes cut from the frame's end.
pub const FLAGS_OFFSET: usize = 8;
/// Smallest slot, as a power of two: 128 bytes.
pub const MIN_BYTES_LOG2: u32 = 7;
/// Largest slot, as a power of two: 64 KiB, enough for what a sender's segmentation offload hands
/// over. Larger frames are cut.
pub const MAX_BYTES_LOG2: u32 = 16;

/// Bytes of a frame that fit in a slot of `1 << bytes_log2` bytes.
pub const fn capacity(bytes_log2: u32) -> usize {
    (1 << bytes_log2) - FRAME_OFFSET
}

/// The slot size, as a power of two, that holds every frame whole, if the largest slot does; at
/// least [`MIN_BYTES_LOG2`]. Frames may grow by `growth` bytes.
pub fn bytes_log2_for(frames: &[Frame], growth: usize) -> u32 {
    let longest = frames.iter().map(|frame| frame.data.len()).max().unwrap_or(0) + growth;
    (MIN_BYTES_LOG2..MAX_BYTES_LOG2).find(|log2| capacity(*log2) >= longest).unwrap_or(MAX_BYTES_LOG2)
}

/// A packet as it stands in its slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotPacket {
    /// The bytes of the frame that the slot holds.
    pub frame: Vec<u8>,
    /// Bytes missing at the frame's end: cut by the capture's snap length or by the slot's size. At
    /// most 65535.
    pub cut: u16,
    /// Input port.
    pub port: u32,
}

impl SlotPacket {
    /// `frame` as it goes into a slot of `1 << bytes_log2` bytes.
    pub fn new(frame: &Frame, bytes_log2: u32) -> Self {
        let kept = frame.data.len().min(capacity(bytes_log2));
        let missing = (frame.wire_length as usize).max(frame.data.len()) - kept;
        let cut = u16::try_from(missing).unwrap_or(u16::MAX);
        Self { frame: frame.data[..kept].to_vec(), cut, port: frame.port }
    }

    /// Lines of 64 bytes that descriptor and frame take.
    pub fn lines(&self) -> u64 {
        (FRAME_OFFSET + self.frame.len()).div_ceil(LINE_BYTES) as u64
    }

    /// Length of the frame on the wire in bytes, without FCS: the link layer's packet length.
    pub fn wire_length(&self) -> usize {
        self.frame.len() + usize::from(self.cut)
    }

    /// The descriptor's words: length, input port, flags (bits 15:0 the cut bytes), arrival in
    /// cycles.
    pub fn descriptor(&self, arrival: u32) -> [u32; 4] {
        let length = u32::try_from(self.frame.len()).unwrap_or(u32::MAX);
        [length, self.port, u32::from(self.cut), arrival]
    }
}

/// The error that tells of `wrong` lengths that a kernel left, by the numbers of their packets; no
/// error if there are none.
///
/// # Errors
/// There is one.
pub fn wrong_lengths(
    wrong: impl IntoIterator<Item = (u64, u32)>,
    slot_bytes_log2: u32,
) -> anyhow::Result<()> {
    let mut wrong = wrong.into_iter();
    let Some((packet, length)) = wrong.next() else { return Ok(()) };
    let more = match wrong.count() {
        0 => String::new(),
        more => format!("; so it is with {} in all", number_of(1 + more as u64, "packet")),
    };
    let (slot, most) = (1_u32 << slot_bytes_log2, capacity(slot_bytes_log2));
    anyhow::bail!(
        "packet {packet} of the capture, counted from 0: the kernel set its length to {length}; \
         expected 1 to {most}, what a slot of {slot} bytes holds{more} (--slot-bytes gives more room)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(bytes: usize, wire_length: u32) -> Frame {
        Frame { data: vec![0; bytes], wire_length, timestamp: 0, port: 3 }
    }

    #[test]
    fn slot_size_is_the_smallest_that_holds_the_longest_frame() {
        for (bytes, log2) in
            [(0, 7), (110, 7), (111, 8), (1518, 11), (2030, 11), (2031, 12), (65_518, 16), (65_519, 16)]
        {
            assert_eq!(bytes_log2_for(&[frame(60, 60), frame(bytes, 60)], 0), log2, "{bytes} bytes");
        }
        assert_eq!((bytes_log2_for(&[], 0), bytes_log2_for(&[frame(100, 100)], 11)), (7, 8));
    }

    #[test]
    fn cut_bytes_are_counted() {
        let whole = SlotPacket::new(&frame(110, 110), 7);
        assert_eq!((whole.frame.len(), whole.cut), (110, 0));
        let cut = SlotPacket::new(&frame(111, 111), 7);
        assert_eq!((cut.frame.len(), cut.cut, cut.wire_length()), (110, 1, 111));
        let snap = SlotPacket::new(&frame(96, 1514), 7);
        assert_eq!(snap.descriptor(77), [96, 3, 1418, 77]);
        // Captures exist whose length on the wire is below the captured one: the bytes win.
        assert_eq!(SlotPacket::new(&frame(60, 20), 7).cut, 0);
        assert_eq!(SlotPacket::new(&frame(60, u32::MAX), 7).cut, u16::MAX);
    }
}
