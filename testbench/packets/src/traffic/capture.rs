//! Reads pcap and pcapng captures.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use pcap_parser::{
    create_reader, Block, InterfaceDescriptionBlock, Linktype, OptionCode, PcapBlockOwned, PcapError,
};

use super::source::Source;
use super::Frame;
use crate::input;

/// The bit of a pcap file's link type that tells that the length of the FCS is there.
const FCS_IS_TOLD: u32 = 1 << 26;
/// Options with the length of the FCS: of an interface, and of a packet, which comes first.
const IF_FCSLEN: OptionCode = OptionCode(13);
const EPB_FLAGS: OptionCode = OptionCode(2);
/// Bytes of an interface description without options.
const INTERFACE_BYTES: u32 = 20;
/// The resolution of timestamps, if `if_tsresol` does not tell: 10^-6 s.
const MICROSECONDS: u8 = 6;

/// Bytes that the reader holds at first; it grows when a block is larger.
const BUFFER_BYTES: usize = 1 << 16;

/// A capture in memory.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// Its frames, in the order of the file.
    pub frames: Vec<Frame>,
    /// Frames of which the capture does not hold every byte (snap length).
    pub cut: usize,
}

/// Why a capture cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file could not be opened or read.
    #[error("{}", input::name(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is no capture.
    #[error("{}: {found}; expected a pcap or pcapng capture", input::name(path))]
    NotACapture {
        /// The file.
        path: PathBuf,
        /// What it is instead, as far as that can be told.
        found: &'static str,
    },
    /// The file ends inside a record.
    #[error(
        "{}: truncated: the file ends inside packet {packet}, counted from 0, or its header",
        input::name(path)
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Number of the packet, from 0.
        packet: usize,
    },
    /// A record does not hold what it should.
    #[error("{}: broken record at packet {packet}, counted from 0: {problem}", input::name(path))]
    Broken {
        /// The file.
        path: PathBuf,
        /// Number of the packet, from 0.
        packet: usize,
        /// What is wrong.
        problem: String,
    },
    /// Packets of a link layer that the array does not speak.
    #[error(
        "{}: link type {link_type} at packet {packet}, counted from 0; expected Ethernet (link type 1)",
        input::name(path)
    )]
    LinkType {
        /// The file.
        path: PathBuf,
        /// Number of the packet, from 0.
        packet: usize,
        /// The number of the link type (see the tcpdump group's list).
        link_type: i32,
    },
}

/// Reads the capture `path`, or that on standard input, at most `max_packets` of it; decompressed
/// if it is a gzip file.
///
/// # Errors
/// [`CaptureError`], which names the file and the packet.
pub fn read(path: &Path, max_packets: Option<usize>) -> Result<Capture, CaptureError> {
    let file = input::open(path).map_err(|source| CaptureError::Read { path: path.to_path_buf(), source })?;
    read_from(file, path, max_packets)
}

/// As [`read`], from a stream; `path` names it in errors.
///
/// # Errors
/// As [`read`].
pub fn read_from(
    file: impl Read + Send,
    path: &Path,
    max_packets: Option<usize>,
) -> Result<Capture, CaptureError> {
    let (bytes, problem) = Source::new(file);
    let capture = parse(bytes, path, max_packets);
    // The parser does not tell why it got no more bytes.
    let problem = problem.lock().unwrap_or_else(PoisonError::into_inner).take();
    problem.map_or(capture, |source| Err(CaptureError::Read { path: path.to_path_buf(), source }))
}

/// The frames in these bytes.
fn parse(
    mut file: impl Read + Send,
    path: &Path,
    max_packets: Option<usize>,
) -> Result<Capture, CaptureError> {
    let path_buf = || path.to_path_buf();
    let io_error = |source| CaptureError::Read { path: path_buf(), source };
    // The parser wants the file's header in one read.
    let mut head = Vec::new();
    file.by_ref().take(BUFFER_BYTES as u64).read_to_end(&mut head).map_err(io_error)?;
    if let Some(found) = not_a_capture(&head) {
        return Err(CaptureError::NotACapture { path: path_buf(), found });
    }
    let mut reader =
        create_reader(BUFFER_BYTES, std::io::Cursor::new(head).chain(file)).map_err(|error| match error {
            PcapError::Incomplete(_) | PcapError::UnexpectedEof | PcapError::Eof => {
                CaptureError::Truncated { path: path_buf(), packet: 0 }
            }
            _ => CaptureError::NotACapture { path: path_buf(), found: "its first header is broken" },
        })?;

    let mut capture = Capture::default();
    let mut decoder = Decoder::default();
    let mut capacity = BUFFER_BYTES;
    while max_packets.is_none_or(|max| capture.frames.len() < max) {
        let packet = capture.frames.len();
        let broken = |problem| CaptureError::Broken { path: path_buf(), packet, problem };
        match reader.next() {
            Ok((0, _)) => return Err(broken("a block without length".into())),
            Ok((offset, block)) => {
                if let Some(frame) = decoder.decode(block).map_err(|problem| match problem {
                    Problem::LinkType(Linktype(link_type)) => {
                        CaptureError::LinkType { path: path_buf(), packet, link_type }
                    }
                    Problem::Broken(problem) => broken(problem),
                })? {
                    capture.cut += usize::from(frame.wire_length as usize > frame.data.len());
                    capture.frames.push(frame);
                }
                reader.consume(offset);
            }
            Err(PcapError::Eof) => break,
            Err(PcapError::UnexpectedEof) => {
                return Err(CaptureError::Truncated { path: path_buf(), packet })
            }
            Err(PcapError::Incomplete(_) | PcapError::BufferTooSmall) => {
                // Grow only when the buffer is full, so that a broken length costs no more memory
                // than the file.
                let held = reader.data().len();
                if held >= capacity {
                    capacity *= 2;
                    reader.grow(capacity);
                }
                if reader.refill().is_err() {
                    return Err(io_error(std::io::Error::other("read error")));
                }
                if reader.reader_exhausted() && reader.data().len() == held && held > 0 {
                    return Err(CaptureError::Truncated { path: path_buf(), packet });
                }
            }
            Err(_) => return Err(broken("its lengths or its type make no sense".into())),
        }
    }
    Ok(capture)
}

/// What a file is that cannot be a capture, by its first bytes.
fn not_a_capture(head: &[u8]) -> Option<&'static str> {
    const MAGIC: [[u8; 4]; 7] = [
        [0xa1, 0xb2, 0xc3, 0xd4],
        [0xd4, 0xc3, 0xb2, 0xa1],
        [0xa1, 0xb2, 0x3c, 0x4d],
        [0x4d, 0x3c, 0xb2, 0xa1],
        [0xa1, 0xb2, 0xcd, 0x34],
        [0x34, 0xcd, 0xb2, 0xa1],
        [0x0a, 0x0d, 0x0d, 0x0a],
    ];
    match head {
        [] => Some("the file is empty"),
        [0x1f, 0x8b, ..] => Some("the file is compressed twice (gzip)"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("the file is compressed (zstd)"),
        [a, b, c, d, ..] if MAGIC.contains(&[*a, *b, *c, *d]) => None,
        _ => Some("the file begins with no capture's magic number"),
    }
}

/// Why a block is not used.
enum Problem {
    LinkType(Linktype),
    Broken(String),
}

/// An interface of a pcapng section.
#[derive(Clone, Copy)]
struct Interface {
    link_type: Linktype,
    snap_length: u32,
    /// Timestamp units per second.
    resolution: u128,
    /// Seconds to add.
    offset: i64,
    /// Length of the frame check sequence at the end of each frame, as the file tells it.
    fcs: u32,
}

impl Interface {
    /// The interface that `block` describes, in a section of this byte order. The parser takes the
    /// numbers in options for little-endian, and passes over options that it cannot tell.
    fn read(block: &InterfaceDescriptionBlock, big_endian: bool) -> Result<Self, Problem> {
        let broken = |problem: String| Problem::Broken(format!("interface description: {problem}"));
        let is_end = |code| code == OptionCode::EndOfOpt;
        let (mut resolution, mut offset, mut fcs) = (None, None, None);
        let mut left = block.block_len1.saturating_sub(INTERFACE_BYTES) as usize;
        let options = block.options.iter().take_while(|option| !is_end(option.code));
        for option in options {
            left = left.saturating_sub(4 + option.value.len());
            let value = option.as_bytes().map_err(|_| broken("an option ends beyond the block".into()))?;
            let length = |name: &str, bytes: usize| {
                broken(format!("{name} has {} bytes; expected {bytes}", value.len()))
            };
            match option.code {
                OptionCode::IfTsresol => {
                    let [value] = value else { return Err(length("if_tsresol", 1)) };
                    resolution.get_or_insert(*value);
                }
                OptionCode::IfTsoffset => {
                    let value = <[u8; 8]>::try_from(value).map_err(|_| length("if_tsoffset", 8))?;
                    let in_order = if big_endian { i64::from_be_bytes } else { i64::from_le_bytes };
                    offset.get_or_insert(in_order(value));
                }
                IF_FCSLEN => {
                    let [value] = value else { return Err(length("if_fcslen", 1)) };
                    fcs.get_or_insert(*value);
                }
                _ => {}
            }
        }
        if left > 0 && !block.options.iter().any(|option| is_end(option.code)) {
            return Err(broken("an option ends beyond the block".into()));
        }
        let resolution = resolution.unwrap_or(MICROSECONDS);
        let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
        let units = base.checked_pow(u32::from(resolution & 0x7f));
        Ok(Self {
            link_type: block.linktype,
            snap_length: block.snaplen,
            resolution: units.ok_or_else(|| broken(format!("timestamp resolution {resolution:#04x}")))?,
            offset: offset.unwrap_or(0),
            fcs: fcs.unwrap_or(0).into(),
        })
    }
}

/// Bytes of a frame check sequence of Ethernet, whose length files tell in bytes or in bits.
fn fcs_bytes(length: u32) -> Result<u32, Problem> {
    match length {
        0 => Ok(0),
        4 | 32 => Ok(4),
        _ => {
            Err(Problem::Broken(format!("a frame check sequence of length {length}; expected 0 or 4 bytes")))
        }
    }
}

/// What has to be remembered from block to block.
#[derive(Default)]
struct Decoder {
    /// Whether the numbers of the section are big-endian.
    big_endian: bool,
    /// Interfaces of the section; the only one of a pcap file.
    interfaces: Vec<Interface>,
    /// Timestamp of the packet before, for packets that have none.
    last: u64,
}

impl Decoder {
    /// The frame in `block`, if it holds one.
    fn decode(&mut self, block: PcapBlockOwned) -> Result<Option<Frame>, Problem> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                let resolution = if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
                // The upper half of the field tells the length of the FCS, in units of 16 bits.
                let network = header.network.0 as u32;
                let fcs = if network & FCS_IS_TOLD != 0 { (network >> 28) * 2 } else { 0 };
                let link_type = Linktype(header.network.0 & 0xffff);
                let snap_length = header.snaplen;
                let interface = Interface { link_type, snap_length, resolution, offset: 0, fcs };
                self.interfaces = vec![interface];
                Ok(None)
            }
            PcapBlockOwned::Legacy(packet) => {
                let units = self.interfaces.first().map_or(1_000_000, |i| i.resolution);
                let time = u128::from(packet.ts_sec) * units + u128::from(packet.ts_usec);
                self.frame(0, Some(time), packet.data, packet.origlen, None).map(Some)
            }
            PcapBlockOwned::NG(block) => self.decode_ng(&block),
        }
    }

    /// As [`Self::decode`], for a block of a pcapng file.
    fn decode_ng(&mut self, block: &Block) -> Result<Option<Frame>, Problem> {
        match block {
            Block::SectionHeader(header) => {
                self.big_endian = header.big_endian();
                self.interfaces.clear();
            }
            Block::InterfaceDescription(description) => {
                self.interfaces.push(Interface::read(description, self.big_endian)?);
            }
            Block::EnhancedPacket(packet) => {
                let time = u128::from(packet.ts_high) << 32 | u128::from(packet.ts_low);
                let data = packet.data.get(..packet.caplen as usize);
                let data = data.ok_or_else(|| Problem::Broken("captured length beyond the block".into()))?;
                let options = packet.options.iter().take_while(|option| option.code != OptionCode::EndOfOpt);
                let flags = options.filter(|option| option.code == EPB_FLAGS && option.len == 4);
                let flags = flags.map(|option| <[u8; 4]>::try_from(option.value()).ok()).next().flatten();
                let in_order = if self.big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
                let fcs = flags.map(|flags| in_order(flags) >> 5 & 15).filter(|fcs| *fcs > 0);
                return self.frame(packet.if_id, Some(time), data, packet.origlen, fcs).map(Some);
            }
            Block::SimplePacket(packet) => {
                let snap = self.interfaces.first().map_or(0, |i| i.snap_length);
                let snap = if snap == 0 { u32::MAX } else { snap };
                let data = packet.data.get(..packet.origlen.min(snap) as usize);
                let data = data.ok_or_else(|| Problem::Broken("captured length beyond the block".into()))?;
                return self.frame(0, None, data, packet.origlen, None).map(Some);
            }
            // The obsolete packet block, which no tool has written since 2004.
            Block::Unknown(unknown) if unknown.block_type == 2 => {
                return Err(Problem::Broken(
                    "an obsolete packet block (type 2); convert the file with `editcap`".into(),
                ));
            }
            _ => {}
        }
        Ok(None)
    }

    /// The frame with these bytes from interface `port`, at `time` in the interface's units, less
    /// its frame check sequence, whose length is `fcs` if the packet itself tells.
    fn frame(
        &mut self,
        port: u32,
        time: Option<u128>,
        data: &[u8],
        wire: u32,
        fcs: Option<u32>,
    ) -> Result<Frame, Problem> {
        let interface = self.interfaces.get(port as usize);
        let interface =
            interface.ok_or_else(|| Problem::Broken(format!("interface {port} is not described")))?;
        if interface.link_type != Linktype::ETHERNET {
            return Err(Problem::LinkType(interface.link_type));
        }
        if let Some(time) = time {
            let nanoseconds = time.saturating_mul(1_000_000_000) / interface.resolution;
            let nanoseconds = i128::try_from(nanoseconds).unwrap_or(i128::MAX);
            let nanoseconds = nanoseconds.saturating_add(i128::from(interface.offset) * 1_000_000_000);
            self.last = u64::try_from(nanoseconds).map_err(|_| {
                Problem::Broken("its time is before 1970 or behind 2554; expected one between".into())
            })?;
        }
        let wire_length = wire.max(u32::try_from(data.len()).unwrap_or(u32::MAX));
        let wire_length = wire_length.saturating_sub(fcs_bytes(fcs.unwrap_or(interface.fcs))?);
        let data = &data[..data.len().min(wire_length as usize)];
        Ok(Frame { data: data.to_vec(), wire_length, timestamp: self.last, port })
    }
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
