//! Captures: sections in both byte orders, interfaces with options, blocks of other kinds.

use std::path::PathBuf;

use hermes_testbench::traffic::{self, Frame};
use rand::Rng;

use super::{each, one, output};

/// Sections that `tshark` gets as one file: it takes a second to start.
const AT_ONCE: usize = 200;

/// Writes numbers in one byte order.
struct Writer {
    big: bool,
}

impl Writer {
    fn half(&self, value: u16) -> [u8; 2] {
        if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn word(&self, value: u32) -> [u8; 4] {
        if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    }

    fn block(&self, kind: u32, body: &[u8]) -> Vec<u8> {
        let mut padded = body.to_vec();
        padded.resize(body.len().next_multiple_of(4), 0);
        let length = self.word(12 + padded.len() as u32);
        [&self.word(kind)[..], &length, &padded, &length].concat()
    }

    fn option(&self, code: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = [self.half(code), self.half(value.len() as u16)].concat();
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }
}

/// A frame without its FCS.
fn without(mut frame: Frame, fcs: usize) -> Frame {
    frame.wire_length -= fcs as u32;
    frame.data.truncate(frame.wire_length as usize);
    frame
}

/// A section and its frames, with the bytes of their FCS. `last` is the time of the frame before,
/// which simple packet blocks take over.
fn section(random: &mut impl Rng, last: &mut u64) -> (Vec<u8>, Vec<(Frame, usize)>) {
    let writer = Writer { big: random.gen() };
    let word = |value| writer.word(value);
    let mut head = word(0x1a2b_3c4d).to_vec();
    head.extend([writer.half(1), writer.half(0)].concat());
    head.extend([0xff; 8]);
    if random.gen() {
        head.extend(writer.option(4, b"hermes"));
    }
    let mut file = writer.block(0x0a0d_0d0a, &head);
    let mut interfaces: Vec<(u64, i64, usize)> = Vec::new();
    for _ in 0..random.gen_range(1..4) {
        let (mut options, mut units, mut offset, mut fcs) = (Vec::new(), 1_000_000_u64, 0_i64, 0);
        for _ in 0..random.gen_range(0..5) {
            match random.gen_range(0..7) {
                0 => options.push(writer.option(2, b"eth0")),
                1 => options.push(writer.option(1, &vec![b'c'; random.gen_range(1..9)])),
                2 => options.push(writer.option(0x2fff, &[1, 2, 3, 4, 5])),
                3 if units == 1_000_000 => {
                    let resolution = match random.gen() {
                        false => one(random, &[0, 3, 7, 9, 10]),
                        true => 0x80 | one(random, &[0, 1, 10, 20, 33]),
                    };
                    let base = if resolution & 0x80 == 0 { 10_u64 } else { 2 };
                    units = base.pow(u32::from(resolution & 0x7f));
                    options.push(writer.option(9, &[resolution]));
                }
                4 if offset == 0 => {
                    offset = random.gen_range(1..=1000) * one(random, &[-1, 1]);
                    let bytes = if writer.big { offset.to_be_bytes() } else { offset.to_le_bytes() };
                    options.push(writer.option(14, &bytes));
                }
                5 if fcs == 0 => {
                    fcs = 4;
                    options.push(writer.option(13, &[4]));
                }
                _ => {}
            }
        }
        if random.gen() && !options.is_empty() {
            options.push(writer.option(0, &[]));
        }
        let mut body = [writer.half(1), writer.half(0)].concat();
        body.extend(word(0));
        body.extend(options.concat());
        file.extend(writer.block(1, &body));
        interfaces.push((units, offset, fcs));
    }
    let mut frames = Vec::new();
    for _ in 0..random.gen_range(1..5) {
        let data: Vec<u8> = (0..random.gen_range(14..90)).map(|_| random.gen()).collect();
        let captured = data.len() as u32;
        if random.gen_ratio(1, 4) {
            let statistics = [word(0), word(7), word(0)].concat();
            file.extend(match random.gen_range(0..3) {
                0 => writer.block(5, &statistics),
                1 => writer.block(0x0777, &statistics),
                // Names, of which there are none.
                _ => writer.block(4, &word(0)),
            });
        }
        if random.gen_ratio(1, 5) {
            file.extend(writer.block(3, &[&word(captured)[..], &data].concat()));
            let frame = Frame { data, wire_length: captured, timestamp: *last, port: 0 };
            frames.push((without(frame, interfaces[0].2), interfaces[0].2));
            continue;
        }
        let port = random.gen_range(0..interfaces.len());
        let (units, offset, mut fcs) = interfaces[port];
        let time = u64::from(random.gen_range(3001..1_700_000_000_u32)) * units.min(1 << 32)
            + random.gen_range(0..units);
        let nanoseconds = u128::from(time) * 1_000_000_000 / u128::from(units);
        *last = (nanoseconds as i128 + i128::from(offset) * 1_000_000_000) as u64;
        let wire_length = captured + one(random, &[0, 0, 1, 1000]);
        let (high, low) = (word((time >> 32) as u32), word(time as u32));
        let mut body = [word(port as u32), high, low, word(captured), word(wire_length)].concat();
        body.extend(&data);
        body.resize(body.len().next_multiple_of(4), 0);
        if random.gen() {
            // The direction, and the length of the FCS unless it is 0.
            let own = one(random, &[0, 0, 4]);
            fcs = if own == 0 { fcs } else { own };
            body.extend(writer.option(2, &word(1 | (own as u32) << 5)));
        }
        file.extend(writer.block(6, &body));
        let frame = Frame { data, wire_length, timestamp: *last, port: port as u32 };
        frames.push((without(frame, fcs), fcs));
    }
    (file, frames)
}

/// Compares what `tshark` tells of each packet: its time, unless it has none, and both lengths.
fn by_tshark(path: PathBuf, frames: &[(Frame, usize)]) -> bool {
    let fields = ["frame.time_epoch", "frame.cap_len", "frame.len"].map(|field| ["-e", field]).concat();
    let arguments = [&["-n", "-T", "fields"][..], &fields, &["-r"]].concat();
    let Some(text) = output("tshark", &arguments, &[path]) else { return false };
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), frames.len(), "packets by tshark");
    for (number, (line, (frame, fcs))) in lines.iter().zip(frames).enumerate() {
        let words: Vec<_> = line.split('\t').collect();
        let [time, captured, length] = words[..] else { panic!("{line}") };
        let [captured, length] = [captured, length].map(|word| word.parse::<usize>().unwrap());
        // It counts the FCS.
        assert_eq!(length, frame.wire_length as usize + fcs, "packet {number}");
        assert_eq!(captured.min(length - fcs), frame.data.len(), "packet {number}");
        let seconds = frame.timestamp / 1_000_000_000;
        let expected = format!("{seconds}.{:09}", frame.timestamp % 1_000_000_000);
        // A simple packet block has none.
        assert!(time == expected || time.is_empty(), "packet {number}: {time} by tshark, {expected}");
    }
    true
}

pub fn test(count: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.pcapng");
    let (mut file, mut frames, mut last, mut installed, mut compared) = (Vec::new(), Vec::new(), 0, true, 0);
    each(count, |number, random| {
        let (bytes, more) = section(random, &mut last);
        file.extend(bytes);
        frames.extend(more);
        if (number + 1) % AT_ONCE != 0 && number + 1 != count {
            return;
        }
        std::fs::write(&path, &file).unwrap();
        let capture = traffic::read(&path, None).unwrap_or_else(|error| panic!("section {number}: {error}"));
        assert_eq!(capture.frames.len(), frames.len(), "up to section {number}");
        for (at, (read, (made, _))) in capture.frames.iter().zip(&frames).enumerate() {
            assert_eq!(read, made, "packet {at} up to section {number}");
        }
        if installed {
            installed = by_tshark(path.clone(), &frames);
            compared += if installed { frames.len() } else { 0 };
        }
        file.clear();
        frames.clear();
        last = 0;
    });
    println!("{count} sections; {compared} packets compared with tshark");
}
