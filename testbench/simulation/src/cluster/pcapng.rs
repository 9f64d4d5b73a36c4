//! Writes what passes a port as a pcapng file.

use std::borrow::Cow;
use std::io::{self, Write as _};
use std::path::Path;

use pcap_parser::pcapng::{
    EnhancedPacketBlock, InterfaceDescriptionBlock, OptionCode, PcapNGOption, SectionHeaderBlock,
};
use pcap_parser::{Linktype, ToVec};

use crate::output::OutputFile;

/// Snap length of the interface: the largest that tcpdump and Wireshark accept.
const SNAP_LENGTH: u32 = 262_144;
/// Option `epb_flags` of a packet; its bits 1:0 are the direction.
const FLAGS: OptionCode = OptionCode(2);
/// A length that is not given.
const UNKNOWN_LENGTH: i64 = -1;
/// Timestamps are nanoseconds.
const NANOSECONDS: u8 = 9;

/// Direction of a frame, from the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The node receives it.
    Inbound = 1,
    /// The node sends it.
    Outbound = 2,
}

/// A pcapng file (draft-ietf-opsawg-pcapng) with one interface, little-endian, timestamps in
/// nanoseconds, and the direction of every frame. It appears when [`PcapngWriter::commit`]
/// succeeds.
#[derive(Debug)]
pub struct PcapngWriter {
    file: OutputFile,
    frames: u64,
}

fn option(code: OptionCode, value: &[u8]) -> PcapNGOption<'static> {
    let mut padded = value.to_vec();
    padded.resize(value.len().next_multiple_of(4), 0);
    PcapNGOption { code, len: value.len() as u16, value: Cow::Owned(padded) }
}

impl PcapngWriter {
    /// Starts the file `path` of the interface called `name`.
    ///
    /// # Errors
    /// Any of the file system; the message names the path.
    pub fn create(path: &Path, name: &str) -> io::Result<Self> {
        let mut file = OutputFile::create(path)?;
        let mut section = SectionHeaderBlock {
            block_type: 0,
            block_len1: 0,
            bom: 0,
            major_version: 0,
            minor_version: 0,
            section_len: UNKNOWN_LENGTH,
            options: Vec::new(),
            block_len2: 0,
        };
        let mut interface = InterfaceDescriptionBlock {
            block_type: 0,
            block_len1: 0,
            linktype: Linktype::ETHERNET,
            reserved: 0,
            snaplen: SNAP_LENGTH,
            options: vec![option(OptionCode::IfName, name.as_bytes())],
            block_len2: 0,
            if_tsresol: NANOSECONDS,
            if_tsoffset: 0,
        };
        file.write_all(&section.to_vec().map_err(io::Error::other)?)?;
        file.write_all(&interface.to_vec().map_err(io::Error::other)?)?;
        Ok(Self { file, frames: 0 })
    }

    /// Adds a frame at `time` nanoseconds.
    ///
    /// # Errors
    /// Any of the file system.
    pub fn write(&mut self, time: u64, direction: Direction, frame: &[u8]) -> io::Result<()> {
        let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
        let mut padded = frame.to_vec();
        padded.resize(frame.len().next_multiple_of(4), 0);
        let mut block = EnhancedPacketBlock {
            block_type: 0,
            block_len1: 0,
            if_id: 0,
            ts_high: (time >> 32) as u32,
            ts_low: time as u32,
            caplen: length,
            origlen: length,
            data: &padded,
            options: vec![option(FLAGS, &(direction as u32).to_le_bytes())],
            block_len2: 0,
        };
        self.frames += 1;
        self.file.write_all(&block.to_vec().map_err(io::Error::other)?)
    }

    /// Frames that were added.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// As [`OutputFile::commit`].
    pub fn commit(self) -> io::Result<()> {
        self.file.commit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_parser::{create_reader, Block, PcapBlockOwned, PcapError};

    #[test]
    fn what_is_written_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("port-3.pcapng");
        let mut writer = PcapngWriter::create(&path, "port 3").unwrap();
        let frames: Vec<Vec<u8>> = (0..40_u8).map(|n| vec![n; 60 + usize::from(n)]).collect();
        let time = |n: usize| (n as u64) << 30 | n as u64;
        for (n, frame) in frames.iter().enumerate() {
            let direction = if n % 3 == 0 { Direction::Inbound } else { Direction::Outbound };
            writer.write(time(n), direction, frame).unwrap();
        }
        assert!(!path.exists());
        writer.commit().unwrap();
        let capture = crate::traffic::read(&path, None).unwrap();
        assert_eq!(capture.frames.len(), frames.len());
        for (n, (read, frame)) in capture.frames.iter().zip(&frames).enumerate() {
            assert_eq!((&read.data, read.timestamp, read.port), (frame, time(n), 0));
        }
        // Name and directions, which the project's reader does not tell
        let mut reader = create_reader(1 << 16, std::fs::File::open(&path).unwrap()).unwrap();
        let mut directions = Vec::new();
        loop {
            match reader.next() {
                Ok((used, block)) => {
                    match block {
                        PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                            assert_eq!(interface.if_name().unwrap().unwrap(), "port 3");
                        }
                        PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                            let flags = packet.options.iter().find(|option| option.code == FLAGS).unwrap();
                            directions.push(flags.value[0]);
                        }
                        _ => {}
                    }
                    reader.consume(used);
                }
                Err(PcapError::Eof) => break,
                Err(PcapError::Incomplete(_)) => reader.refill().unwrap(),
                Err(error) => panic!("{error}"),
            }
        }
        assert!(directions.iter().enumerate().all(|(n, d)| *d == if n % 3 == 0 { 1 } else { 2 }));
        assert_eq!(directions.len(), frames.len());
    }
}
