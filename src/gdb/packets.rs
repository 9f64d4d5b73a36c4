//! What a client of GDB's remote serial protocol sends, before the stub gets it.
//!
//! The stub ends the session where a packet is none that it knows. So only packets that it can
//! handle go on to it; another one is answered with an error (`E`), one with a wrong checksum with
//! `-`, and one that nobody supports with an empty answer, as the protocol wants it.

use std::collections::VecDeque;
use std::io;
use std::net::TcpStream;

use gdbstub::conn::{Connection, ConnectionExt};

/// Most bytes of a packet, with what is around it: the buffer of the stub has 4,096.
const MOST_BYTES: usize = 4_000;
/// Most bytes that a packet reads or writes.
const MOST_MEMORY: u64 = 4_096;
/// Digits of the registers x0 to x31 and `pc`.
const REGISTER_DIGITS: usize = 33 * 8;
/// The answer to what cannot be: EINVAL.
const ERROR: &str = "E16";
/// What interrupts threads that run.
const INTERRUPT: u8 = 3;
/// Escapes the next byte of binary data.
const ESCAPE: u8 = b'}';

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The stub gets it.
    Stub,
    /// It is answered with an error.
    Error,
    /// It is answered with nothing.
    Unknown,
}

/// The part of a packet that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Outside,
    Body,
    Checksum(u8),
}

/// A connection to a client, of which the stub sees only packets that it can handle.
pub struct Packets {
    stream: TcpStream,
    /// Threads that there are.
    threads: usize,
    /// Bytes for the stub.
    ready: VecDeque<u8>,
    part: Part,
    packet: Vec<u8>,
    /// The packet is too long.
    too_long: bool,
    /// Packets are not acknowledged.
    quiet: bool,
    /// The threads run: until they stop a client may only interrupt them.
    running: bool,
    /// The answer that was sent last, or is being sent.
    answer: Vec<u8>,
}

impl Packets {
    /// A connection for a stub of so many threads, which are called 1 and so on.
    pub fn new(stream: TcpStream, threads: usize) -> Self {
        Self {
            stream,
            threads,
            ready: VecDeque::new(),
            part: Part::Outside,
            packet: Vec::new(),
            too_long: false,
            quiet: false,
            running: false,
            answer: Vec::new(),
        }
    }

    /// Takes a byte of the client.
    fn take(&mut self, byte: u8) -> io::Result<()> {
        match self.part {
            Part::Outside => match byte {
                b'$' => {
                    (self.part, self.too_long) = (Part::Body, false);
                    self.packet.clear();
                }
                INTERRUPT => self.ready.push_back(byte),
                b'-' => {
                    let answer = self.answer.clone();
                    return io::Write::write_all(&mut self.stream, &answer);
                }
                _ => {}
            },
            Part::Body => match byte {
                b'#' => self.part = Part::Checksum(0),
                // A new one begins where the last one was not ended.
                b'$' => {
                    self.too_long = false;
                    self.packet.clear();
                }
                _ if self.packet.len() == MOST_BYTES => self.too_long = true,
                _ => self.packet.push(byte),
            },
            Part::Checksum(0) => self.part = Part::Checksum(byte),
            Part::Checksum(high) => {
                self.part = Part::Outside;
                return self.complete([high, byte]);
            }
        }
        Ok(())
    }

    /// Answers the packet, or passes it on.
    fn complete(&mut self, checksum: [u8; 2]) -> io::Result<()> {
        let sum = self.packet.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        let told = std::str::from_utf8(&checksum).ok().and_then(|text| u8::from_str_radix(text, 16).ok());
        let body = std::mem::take(&mut self.packet);
        let acknowledge = if self.quiet { "" } else { "+" };
        // Of a packet that is too long not all was kept.
        if told != Some(sum) && !self.too_long {
            return io::Write::write_all(&mut self.stream, if self.quiet { b"" } else { b"-" });
        }
        let ends = matches!(body.first(), Some(b'k' | b'D')) || body.starts_with(b"vKill");
        let way = match self.too_long || self.running && !ends {
            true => Way::Error,
            false => way(&body, self.threads),
        };
        let text = match way {
            Way::Stub => {
                self.quiet |= body == b"QStartNoAckMode";
                self.running = matches!(body.first(), Some(b'c' | b's')) || body.starts_with(b"vCont;");
                let packet = [b"$", &body[..], b"#", &checksum[..]];
                self.ready.extend(packet.concat());
                return Ok(());
            }
            Way::Error => ERROR,
            Way::Unknown => "",
        };
        let sum = text.bytes().fold(0_u8, u8::wrapping_add);
        self.answer = format!("${text}#{sum:02x}").into_bytes();
        let bytes = [acknowledge.as_bytes(), &self.answer].concat();
        io::Write::write_all(&mut self.stream, &bytes)
    }

    /// Notes what the stub writes.
    fn note(&mut self, byte: u8) {
        if byte == b'$' {
            self.answer.clear();
        }
        self.answer.push(byte);
        // How the threads stopped.
        if let [b'$', b'T' | b'S' | b'W' | b'X'] = self.answer[..] {
            self.running = false;
        }
    }
}

impl Connection for Packets {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        self.note(byte);
        Connection::write(&mut self.stream, byte)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        bytes.iter().for_each(|byte| self.note(*byte));
        Connection::write_all(&mut self.stream, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Connection::flush(&mut self.stream)
    }
}

impl ConnectionExt for Packets {
    fn read(&mut self) -> io::Result<u8> {
        loop {
            if let Some(byte) = self.ready.pop_front() {
                return Ok(byte);
            }
            let byte = ConnectionExt::read(&mut self.stream)?;
            self.take(byte)?;
        }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        while self.ready.is_empty() && ConnectionExt::peek(&mut self.stream)?.is_some() {
            let byte = ConnectionExt::read(&mut self.stream)?;
            self.take(byte)?;
        }
        Ok(self.ready.front().copied())
    }
}

/// What becomes of a packet.
fn way(body: &[u8], threads: usize) -> Way {
    let is_good = match body {
        b"?" | b"g" | b"k" | b"qfThreadInfo" | b"qsThreadInfo" | b"QStartNoAckMode" | b"vCont?" | b"D"
        | b"qAttached" | b"qRcmd" | b"c" | b"s" => true,
        [b'D', b';', process @ ..] => is_process(process),
        [b'G', registers @ ..] => registers.len() == REGISTER_DIGITS && is_hex(registers),
        [b'H', b'g', thread @ ..] => is_thread(thread, threads, &["0"]),
        [b'H', b'c', thread @ ..] => is_thread(thread, threads, &["0", "-1"]),
        [b'm', place @ ..] => range(place).is_some(),
        [b'M', rest @ ..] => {
            writes(rest, |data| (is_hex(data) && data.len() % 2 == 0).then_some(data.len() / 2))
        }
        [b'X', rest @ ..] => writes(rest, unescaped),
        [b'T', thread @ ..] => is_thread(thread, threads, &[]),
        [b'p', register @ ..] => number(register, u64::from(u16::MAX)).is_some(),
        [b'P', rest @ ..] => split(rest, b'=').is_some_and(|(register, value)| {
            number(register, u64::from(u16::MAX)).is_some() && value.len() == 8 && is_hex(value)
        }),
        [b'z' | b'Z', b'0'..=b'4', b',', place @ ..] => {
            let place = place.split(|byte| *byte == b';').next().unwrap_or_default();
            split(place, b',').is_some_and(|(address, kind)| {
                number(address, u32::MAX.into()).is_some() && number(kind, u32::MAX.into()).is_some()
            })
        }
        [b'c' | b's', address @ ..] => number(address, u32::MAX.into()).is_some(),
        _ => match named(body) {
            Some((b"vCont", actions)) => {
                let mut actions = actions.split(|byte| *byte == b';').skip(1).peekable();
                actions.peek().is_some() && actions.all(|action| is_action(action, threads))
            }
            Some((b"vKill", rest)) => rest.strip_prefix(b";").is_some_and(is_process),
            Some((b"qAttached", rest)) => rest.strip_prefix(b":").is_some_and(is_process),
            Some((b"qRcmd", rest)) => {
                rest.strip_prefix(b",").is_some_and(|text| is_hex(text) && text.len() % 2 == 0)
            }
            Some((b"qThreadExtraInfo", rest)) => {
                rest.strip_prefix(b",").is_some_and(|thread| is_thread(thread, threads, &[]))
            }
            Some((b"qSupported", rest)) => rest
                .strip_prefix(b":")
                .is_some_and(|rest| rest.split(|byte| *byte == b';').all(|feature| !feature.is_empty())),
            Some((b"qXfer:features:read", rest)) => {
                let part = rest.strip_prefix(b":").and_then(|rest| split(rest, b':'));
                let numbers = part.and_then(|(_, part)| split(part, b','));
                numbers.is_some_and(|(offset, length)| {
                    number(offset, u64::MAX).is_some() && number(length, u32::MAX.into()).is_some()
                })
            }
            Some((b"qfThreadInfo" | b"qsThreadInfo", _)) => false,
            // What the stub takes for one of the packets above begins like it.
            _ => match body {
                [b'z' | b'Z' | b'H' | b'g' | b'k' | b'?' | b'D', ..] => false,
                _ => return Way::Unknown,
            },
        },
    };
    match is_good {
        true => Way::Stub,
        false => Way::Error,
    }
}

/// Packets with a name of several letters, and what is behind it.
fn named(body: &[u8]) -> Option<(&'static [u8], &[u8])> {
    const NAMES: [&[u8]; 9] = [
        b"vCont",
        b"vKill",
        b"qAttached",
        b"qRcmd",
        b"qThreadExtraInfo",
        b"qSupported",
        b"qXfer:features:read",
        b"qfThreadInfo",
        b"qsThreadInfo",
    ];
    NAMES.into_iter().find_map(|name| Some((name, body.strip_prefix(name)?)))
}

/// What is before and behind the first `mark`.
fn split(text: &[u8], mark: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|byte| *byte == mark)?;
    Some((&text[..at], &text[at + 1..]))
}

fn is_hex(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_hexdigit)
}

/// A number in hexadecimal, at most `most`.
fn number(text: &[u8], most: u64) -> Option<u64> {
    let text = std::str::from_utf8(text).ok().filter(|text| is_hex(text.as_bytes()))?;
    u64::from_str_radix(text, 16).ok().filter(|number| *number <= most)
}

/// An address and a length that can be.
fn range(text: &[u8]) -> Option<(u64, u64)> {
    let (address, length) = split(text, b',')?;
    Some((number(address, u32::MAX.into())?, number(length, MOST_MEMORY)?))
}

/// Whether memory is written with as many bytes as are told; `count` counts those that are there.
fn writes(text: &[u8], count: impl Fn(&[u8]) -> Option<usize>) -> bool {
    let parts = split(text, b':').and_then(|(place, data)| Some((range(place)?, count(data)?)));
    parts.is_some_and(|((_, length), count)| length == count as u64)
}

/// Bytes of binary data, with escapes.
fn unescaped(data: &[u8]) -> Option<usize> {
    let mut bytes = data.iter();
    let mut count = 0;
    while let Some(byte) = bytes.next() {
        if *byte == ESCAPE {
            bytes.next()?;
        }
        count += 1;
    }
    Some(count)
}

/// Whether it is the process that there is.
fn is_process(text: &[u8]) -> bool {
    number(text, u64::MAX) == Some(1)
}

/// Whether it is a thread that there is, or one of `others`, such as `-1` for all.
fn is_thread(text: &[u8], threads: usize, others: &[&str]) -> bool {
    let thread = match text {
        [b'p', rest @ ..] => match split(rest, b'.') {
            Some((process, thread)) if is_process(process) => thread,
            _ => return false,
        },
        thread => thread,
    };
    let known = number(thread, threads as u64).is_some_and(|thread| thread > 0);
    known || others.iter().any(|other| other.as_bytes() == thread)
}

/// Whether a thread can go on so.
fn is_action(text: &[u8], threads: usize) -> bool {
    let (kind, thread) = split(text, b':').map_or((text, None), |(kind, thread)| (kind, Some(thread)));
    let known = match kind {
        b"c" | b"s" => true,
        [b'C' | b'S', signal @ ..] => number(signal, u64::from(u8::MAX)).is_some(),
        _ => false,
    };
    known && thread.is_none_or(|thread| is_thread(thread, threads, &["-1"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_go_their_ways() {
        let registers = format!("G{}", "0".repeat(REGISTER_DIGITS));
        let good = [
            "?",
            "g",
            "k",
            "D",
            "D;1",
            "Hg0",
            "Hc-1",
            "Hgp1.4",
            "m1000,4",
            "m00001000,1000",
            "M1000,2:ab01",
            "X1000,0:",
            "X1000,1:}\u{3}",
            "T1",
            "Tp1.2",
            "p20",
            "P5=00000000",
            "Z0,1000,4",
            "z2,fffffff0,40",
            "Z0,1000,4;X1,00",
            "c",
            "s",
            "c1000",
            "vCont?",
            "vCont;c",
            "vCont;s:1;c:p1.-1",
            "vCont;C05:2",
            "qRcmd,6c",
            "qThreadExtraInfo,p1.1",
            "qSupported:multiprocess+;swbreak+",
            "qXfer:features:read:target.xml:0,fff",
            "QStartNoAckMode",
            "qfThreadInfo",
            "qAttached:1",
            &registers,
        ];
        for packet in good {
            assert_eq!(way(packet.as_bytes(), 4), Way::Stub, "{packet}");
        }
        let wrong = [
            "Hg-1",
            "m1000",
            "Z0,1000",
            "vCont;z",
            "vCont",
            "vCont;",
            "vCont;c:5",
            "vCont;c:0",
            "vCont;r1,2:1",
            "vCont;t",
            "Hg5",
            "Hx1",
            "H",
            "T0",
            "T5",
            "T",
            "m100000000,4",
            "m1000,ffffffff",
            "mx,4",
            "M1000,2:ab",
            "M1000,1:a",
            "X1000,1:}",
            "G00",
            "p",
            "pz",
            "P5",
            "P5=00",
            "P5=000000000",
            "Z5,1000,4",
            "Z",
            "z0,x,4",
            "Z0,1000,z",
            "D;2",
            "Dx",
            "k1",
            "g1",
            "?1",
            "cx",
            "vKill",
            "qRcmd,6",
            "qThreadExtraInfo",
            "qSupported",
            "qSupported:;",
            "qXfer:features:read:target.xml",
            "qXfer:features:read:target.xml:0",
            "qfThreadInfo1",
            "vCont;c:p2.1",
            "vCont;c:p1",
            "vCont;Cxyz",
        ];
        for packet in wrong {
            assert_eq!(way(packet.as_bytes(), 4), Way::Error, "{packet}");
        }
        for packet in ["", "vMustReplyEmpty", "qTStatus", "!", "R", "qXfer:auxv:read::0,10", "y", "\u{0}"] {
            assert_eq!(way(packet.as_bytes(), 4), Way::Unknown, "{packet}");
        }
    }
}
