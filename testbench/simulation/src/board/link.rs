//! Requests to a board and its answers (`docs/fpga-link.md`), over anything that bytes can be
//! written to and read from.
//!
//! A request is repeated, with its sequence number, when its answer is damaged or does not come, or
//! tells that the request was damaged. The board does no write twice, and one whose array has a
//! command processor no read of a register: reading its console takes a byte.

use std::fmt;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use super::hdlc::{self, Decoder, Event};
use crate::cosim::LinkError;

/// Most bytes of memory that a request reads or writes.
pub const MOST_BYTES: usize = hermes_rtl::board::MOST_COUNT as usize;
/// Bytes of an answer before its data.
const ANSWER_HEADER: usize = 4;
/// Bytes of a request before its data.
const REQUEST_HEADER: usize = 8;
/// What the operation of a request becomes in its answer.
const ANSWERED: u8 = 128;
/// Operation of the answer to a frame that was damaged.
const DAMAGED: u8 = 255;
/// Bits of a byte on the line: start, data, stop.
const LINE_BITS: u32 = 10;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Operation {
    /// Who the board is.
    Identify,
    /// Reads a register.
    ReadRegister,
    /// Writes a register.
    WriteRegister,
    /// Reads bytes of the packet memory.
    ReadMemory,
    /// Writes bytes to the packet memory.
    WriteMemory,
    /// Resets the array.
    Reset,
}

impl Operation {
    /// Whether it changes something: the board does not do it again when it is repeated.
    fn is_write(self) -> bool {
        matches!(self, Self::WriteRegister | Self::WriteMemory | Self::Reset)
    }
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What it asks for.
    pub operation: Operation,
    /// Bytes of memory to read or write, 1 to [`MOST_BYTES`]; 0 otherwise.
    pub count: u16,
    /// A byte of the packet memory, or the offset of a register.
    pub address: u32,
    /// What is written.
    pub data: &'a [u8],
    /// Bytes of data that its answer has with status 0.
    pub answer: usize,
}

/// What the board says of a request that it received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// 0: done.
    Done,
    /// 1: the register answered SLVERR.
    SlaveError,
    /// 2: refused, nothing was done.
    Refused,
    /// 3: the registers do not answer, the array hangs.
    Hangs,
    /// A status that the protocol does not have.
    Other(u8),
}

impl Status {
    /// Its number in an answer.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::SlaveError => 1,
            Self::Refused => 2,
            Self::Hangs => 3,
            Self::Other(number) => number,
        }
    }
}

/// Status of a frame that was damaged.
const STATUS_DAMAGED: u8 = 4;

/// How a link is operated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkOptions {
    /// Bits per second of the line.
    pub baud: u32,
    /// How much longer than its bytes take on the line an answer may take: the board at work,
    /// adapters, drivers; a simulated board is slow.
    pub margin: Duration,
    /// How often a request is sent before it is given up.
    pub tries: u32,
}

impl LinkOptions {
    /// A margin of 250 ms and eight tries.
    #[must_use]
    pub fn new(baud: u32) -> Self {
        Self { baud, margin: Duration::from_millis(250), tries: 8 }
    }
}

/// What a link counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStatistics {
    /// Requests that were answered.
    pub requests: u64,
    /// Requests that were sent again.
    pub repeats: u64,
    /// Frames that came damaged or aborted.
    pub damaged_answers: u64,
    /// Answers that told of a damaged request.
    pub damaged_requests: u64,
    /// Whole frames that were no answer to the request: those that came too late, and what is not
    /// of this protocol.
    pub stale_answers: u64,
    /// Times that no answer came in time.
    pub timeouts: u64,
    /// Bytes that were sent.
    pub bytes_sent: u64,
    /// Bytes that were received.
    pub bytes_received: u64,
}

impl fmt::Display for LinkStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { requests, repeats, damaged_answers, damaged_requests, stale_answers, timeouts, .. } = self;
        write!(
            f,
            "{requests} requests answered, {repeats} repeated, {damaged_answers} damaged answers, {damaged_requests} damaged \
             requests, {stale_answers} stale answers, {timeouts} time-outs, {} bytes sent, {} received",
            self.bytes_sent, self.bytes_received
        )
    }
}

/// What came while a request waited for its answer, in all its tries.
#[derive(Debug, Default)]
struct Heard {
    bytes: u64,
    /// The board said that it received damaged frames.
    damaged_requests: u64,
    echoes: u64,
    /// Whole frames that are nothing else.
    foreign: u64,
    last: Vec<u8>,
}

/// How one try ended.
enum Try {
    Answered(Status, Vec<u8>),
    /// The request or its answer was damaged.
    Damaged,
    TimedOut,
}

/// A line to a board.
///
/// Reads and writes of the device `P` return after some milliseconds if nothing comes or goes, with
/// [`io::ErrorKind::TimedOut`] or [`io::ErrorKind::WouldBlock`]; a read of 0 bytes is the end of
/// the connection. What is written goes out without a flush, which for terminals means to wait
/// until all is sent.
#[derive(Debug)]
pub struct Link<P> {
    port: P,
    options: LinkOptions,
    decoder: Decoder,
    /// Sequence number of the next request.
    sequence: u8,
    /// Operation and sequence number of the last write: the board takes another one with both for a
    /// repeat.
    last_write: Option<(Operation, u8)>,
    /// The sequence number of the last read of a register, of which the same holds on some boards.
    last_read: Option<u8>,
    /// The board did not do a request, or said nothing of it: the one that it knows as the last may
    /// be an older one than those above.
    unsure: bool,
    statistics: LinkStatistics,
    buffer: Vec<u8>,
}

impl<P: Read + Write> Link<P> {
    /// A link over `port`. The first request of a session is an IDENTIFY, which makes the board
    /// forget what the one before wrote last.
    pub fn new(port: P, options: LinkOptions) -> Self {
        Self {
            port,
            options,
            decoder: Decoder::new(ANSWER_HEADER + MOST_BYTES),
            sequence: 0,
            last_write: None,
            last_read: None,
            unsure: false,
            statistics: LinkStatistics::default(),
            buffer: vec![0; 4096],
        }
    }

    /// What was counted so far.
    #[must_use]
    pub fn statistics(&self) -> LinkStatistics {
        self.statistics
    }

    /// How the link is operated.
    #[must_use]
    pub fn options(&self) -> LinkOptions {
        self.options
    }

    /// The device, without its link.
    pub fn into_port(self) -> P {
        self.port
    }

    /// Sends a request until it is answered; gives status and data. With status 0 the data has the
    /// length that the request expects.
    ///
    /// # Errors
    /// It was sent [`LinkOptions::tries`] times and not answered, or the device cannot be read or
    /// written.
    pub fn request(&mut self, request: &Request) -> Result<(Status, Vec<u8>), LinkError> {
        let is_read = request.operation == Operation::ReadRegister;
        let once = is_read || request.operation.is_write();
        if once && self.unsure
            || request.operation.is_write() && self.last_write == Some((request.operation, self.sequence))
            || is_read && self.last_read == Some(self.sequence)
        {
            // 256 requests ago there was such a request and none since, or may have been: the board
            // would take this one for its repeat. It forgets with an IDENTIFY.
            let identify =
                Request { operation: Operation::Identify, count: 0, address: 0, data: &[], answer: 32 };
            self.request(&identify)?;
        }
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        match request.operation {
            Operation::Identify => (self.last_write, self.last_read, self.unsure) = (None, None, false),
            Operation::ReadRegister => self.last_read = Some(sequence),
            operation if operation.is_write() => self.last_write = Some((operation, sequence)),
            _ => {}
        }

        let mut contents = Vec::with_capacity(REQUEST_HEADER + request.data.len());
        contents.extend([request.operation as u8, sequence]);
        contents.extend(request.count.to_le_bytes());
        contents.extend(request.address.to_le_bytes());
        contents.extend(request.data);
        let mut line = Vec::with_capacity(hdlc::most_line_bytes(contents.len()));
        hdlc::encode(&contents, &mut line);
        let patience = self.line_time(line.len() + hdlc::most_line_bytes(ANSWER_HEADER + request.answer))
            + self.options.margin;

        let mut heard = Heard::default();
        for number in 0..self.options.tries.max(1) {
            self.statistics.repeats += u64::from(number > 0);
            if number > 1 {
                // Noise comes in bursts: one that lasts some milliseconds is waited for.
                std::thread::sleep(Duration::from_millis(1 << number.min(6)));
            }
            match self.attempt(request, &contents, &line, patience, &mut heard)? {
                Try::Answered(status, data) => {
                    self.statistics.requests += 1;
                    self.unsure |= !matches!(status, Status::Done | Status::SlaveError);
                    return Ok((status, data));
                }
                Try::Damaged => {}
                Try::TimedOut => self.statistics.timeouts += 1,
            }
        }
        self.unsure = true;
        Err(self.given_up(&heard))
    }

    /// What `bytes` take on the line.
    fn line_time(&self, bytes: usize) -> Duration {
        let bits = bytes as f64 * f64::from(LINE_BITS);
        Duration::from_secs_f64(bits / f64::from(self.options.baud.max(1)))
    }

    /// Sends a request once and waits for its answer.
    fn attempt(
        &mut self,
        request: &Request,
        contents: &[u8],
        line: &[u8],
        patience: Duration,
        heard: &mut Heard,
    ) -> Result<Try, LinkError> {
        let deadline = Instant::now() + patience;
        if !self.send(line, deadline)? {
            return Ok(Try::TimedOut);
        }
        loop {
            let mut buffer = std::mem::take(&mut self.buffer);
            let received = self.receive(&mut buffer);
            let ended = received.map(|count| self.take(&buffer[..count], request, contents, heard));
            self.buffer = buffer;
            if let Some(ended) = ended? {
                return Ok(ended);
            }
            if Instant::now() >= deadline {
                return Ok(Try::TimedOut);
            }
        }
    }

    /// Writes all of `line`; `false` if the device does not take it in time.
    fn send(&mut self, mut line: &[u8], deadline: Instant) -> Result<bool, LinkError> {
        while !line.is_empty() {
            match self.port.write(line) {
                Ok(0) => return Err(LinkError::Gone(io::ErrorKind::WriteZero.into())),
                Ok(count) => {
                    self.statistics.bytes_sent += count as u64;
                    line = &line[count..];
                }
                Err(error) if is_late(&error) => {}
                Err(error) => return Err(LinkError::Gone(error)),
            }
            if !line.is_empty() && Instant::now() >= deadline {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads what is there; nothing, if nothing comes in the time that a read of the device takes.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize, LinkError> {
        match self.port.read(buffer) {
            Ok(0) => Err(LinkError::Gone(io::ErrorKind::UnexpectedEof.into())),
            Ok(count) => {
                self.statistics.bytes_received += count as u64;
                Ok(count)
            }
            Err(error) if is_late(&error) => Ok(0),
            Err(error) => Err(LinkError::Gone(error)),
        }
    }

    /// Takes bytes that came, all of them: only then something damaged makes the request be sent
    /// again, and what comes behind an answer is not taken for the next one's.
    fn take(&mut self, bytes: &[u8], request: &Request, contents: &[u8], heard: &mut Heard) -> Option<Try> {
        heard.bytes += bytes.len() as u64;
        let (mut damaged, mut answered) = (false, None);
        for &byte in bytes {
            match self.decoder.push(byte) {
                None => {}
                Some(Event::Damaged | Event::Aborted) => {
                    self.statistics.damaged_answers += 1;
                    damaged = true;
                }
                Some(Event::Frame(frame)) => match frame[..] {
                    [DAMAGED, 0, STATUS_DAMAGED, 0] => {
                        self.statistics.damaged_requests += 1;
                        heard.damaged_requests += 1;
                        damaged = true;
                    }
                    [operation, sequence, status, 0, ref data @ ..]
                        if answered.is_none()
                            && operation == request.operation as u8 + ANSWERED
                            && sequence == contents[1]
                            && data.len() == if status == 0 { request.answer } else { 0 } =>
                    {
                        let status = match status {
                            0 => Status::Done,
                            1 => Status::SlaveError,
                            2 => Status::Refused,
                            3 => Status::Hangs,
                            other => Status::Other(other),
                        };
                        answered = Some(Try::Answered(status, data.to_vec()));
                    }
                    _ => {
                        self.statistics.stale_answers += 1;
                        if frame == contents {
                            heard.echoes += 1;
                        } else {
                            heard.foreign += 1;
                            heard.last = frame;
                        }
                    }
                },
            }
        }
        answered.or(damaged.then_some(Try::Damaged))
    }

    /// The error of a request that was not answered.
    fn given_up(&self, heard: &Heard) -> LinkError {
        let tries = self.options.tries.max(1);
        if heard.bytes == 0 {
            LinkError::Silent { tries, answered: self.statistics.requests }
        } else if heard.echoes > 0 {
            LinkError::Echo { tries }
        } else if heard.damaged_requests > 0 {
            LinkError::Deaf { tries, damaged: heard.damaged_requests }
        } else if heard.foreign > 0 {
            let last: Vec<_> = heard.last.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            LinkError::Foreign { tries, last: last.join(" ") }
        } else {
            LinkError::Noise { tries, bytes: heard.bytes }
        }
    }
}

/// Whether nothing came or went, but may later.
fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
