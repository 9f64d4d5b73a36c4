//! Writes pcap captures.

use std::io::{self, Write};
use std::path::Path;

use pcap_parser::{LegacyPcapBlock, Linktype, PcapHeader, ToVec};

use super::Frame;
use crate::output::OutputFile;

/// Snap length in the file's header: the largest that tcpdump and Wireshark accept.
const SNAP_LENGTH: u32 = 262_144;
/// Magic number of a pcap file with nanosecond timestamps.
const NANOSECOND_MAGIC: u32 = 0xa1b2_3c4d;

/// A pcap file (Ethernet, nanosecond timestamps, little-endian) that appears when
/// [`CaptureWriter::commit`] succeeds.
#[derive(Debug)]
pub struct CaptureWriter {
    file: OutputFile,
}

impl CaptureWriter {
    /// Starts the capture `path`.
    ///
    /// # Errors
    /// Any of the file system; the message names the path.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut file = OutputFile::create(path)?;
        write_header(&mut file)?;
        Ok(Self { file })
    }

    /// Adds a frame.
    ///
    /// # Errors
    /// Any of the file system.
    pub fn write(&mut self, frame: &Frame) -> io::Result<()> {
        write_frame(&mut self.file, frame)
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// As [`OutputFile::commit`].
    pub fn commit(self) -> io::Result<()> {
        self.file.commit()
    }
}

/// Writes what stands before the frames of a pcap file.
fn write_header(output: &mut impl Write) -> io::Result<()> {
    let header = PcapHeader {
        magic_number: NANOSECOND_MAGIC,
        version_major: 2,
        version_minor: 4,
        thiszone: 0,
        sigfigs: 0,
        snaplen: SNAP_LENGTH,
        network: Linktype::ETHERNET,
    };
    output.write_all(&header.to_vec_raw().map_err(io::Error::other)?)
}

/// Writes a frame of a pcap file.
fn write_frame(output: &mut impl Write, frame: &Frame) -> io::Result<()> {
    let seconds = frame.timestamp / 1_000_000_000;
    let block = LegacyPcapBlock {
        ts_sec: u32::try_from(seconds).unwrap_or(u32::MAX),
        ts_usec: (frame.timestamp % 1_000_000_000) as u32,
        caplen: u32::try_from(frame.data.len()).map_err(io::Error::other)?,
        origlen: frame.wire_length,
        data: &frame.data,
    };
    output.write_all(&block.to_vec_raw().map_err(io::Error::other)?)
}

/// Writes `frames` as a pcap file (Ethernet, nanosecond timestamps, little-endian) to `output`,
/// such as a pipe.
///
/// # Errors
/// Those of `output`.
pub fn write_to(output: &mut impl Write, frames: &[Frame]) -> io::Result<()> {
    write_header(output)?;
    frames.iter().try_for_each(|frame| write_frame(output, frame))
}

/// Writes `frames` as the capture `path`.
///
/// # Errors
/// As [`CaptureWriter`]; nothing is written then.
pub fn write(path: &Path, frames: &[Frame]) -> io::Result<()> {
    let mut writer = CaptureWriter::create(path)?;
    for frame in frames {
        writer.write(frame)?;
    }
    writer.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.pcap");
        let frames: Vec<Frame> = (0..100_u32)
            .map(|n| Frame {
                data: vec![n as u8; 60 + n as usize],
                wire_length: 60 + n + n % 3,
                timestamp: 1_600_000_000_000_000_000 + u64::from(n) * 123_456_789,
                port: 0,
            })
            .collect();
        write(&path, &frames).unwrap();
        let capture = super::super::read(&path, None).unwrap();
        assert_eq!(capture.frames, frames);
        assert_eq!(capture.cut, 66);
    }
}
