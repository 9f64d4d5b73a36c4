//! A board in software, for tests: registers and memory behind the protocol of `docs/fpga-link.md`,
//! on a thread of its own, with a line that damages and loses what goes over it.

use std::collections::{HashMap, VecDeque};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::thread::{spawn, JoinHandle};
use std::time::{Duration, Instant};

use hermes_rtl::host::registers::{offset, ID, REGISTERS};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::hdlc::{encode, Decoder, Event};

/// Hash of the board's configuration.
pub const HASH: u64 = 0x0123_4567_89ab_cdef;
/// Bytes of its memory.
pub const MEMORY: usize = 16 << 10;
/// Register that answers with status 3.
pub const HANGS: u32 = 0xff8;

/// What goes wrong on the line, in each direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Chance of a bit error in a byte.
    pub bit_errors: f64,
    /// Chance that a whole frame does not come.
    pub lost: f64,
    /// Chance that an answer comes twice.
    pub doubled: f64,
    /// Chance that an answer comes only with the next one.
    pub late: f64,
    /// For the random source.
    pub seed: u64,
}

/// What the firmware of the board has written to its console, and whether the board does reads of
/// registers once, as those with a command processor do.
#[derive(Debug, Default)]
pub struct Console {
    pub text: Vec<u8>,
    pub reads_once: bool,
}

/// What the board did.
#[derive(Debug, Default)]
pub struct Done {
    /// Every write of a register: offset and value.
    pub registers: Vec<(u32, u32)>,
    /// Writes of memory and resets.
    pub memory_writes: usize,
    pub resets: usize,
    /// Its memory at the end.
    pub memory: Vec<u8>,
    /// Frames that came damaged.
    pub damaged: u32,
    /// Bytes of the console that nobody has taken.
    pub console: VecDeque<u8>,
}

/// The host's end of the line to a new board, and the board, which ends when that end is closed.
pub fn start(faults: Faults) -> (UnixStream, JoinHandle<Done>) {
    start_with(faults, Console::default())
}

/// As [`start`], with a console.
pub fn start_with(faults: Faults, console: Console) -> (UnixStream, JoinHandle<Done>) {
    let (host, board) = UnixStream::pair().unwrap();
    host.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    let thread = spawn(move || {
        let random = ChaCha8Rng::seed_from_u64(faults.seed);
        let Console { text, reads_once } = console;
        let done = Done { memory: vec![0; MEMORY], console: text.into(), ..Done::default() };
        let values = HashMap::new();
        FakeBoard {
            line: board,
            faults,
            random,
            done,
            values,
            reads_once,
            last: None,
            late: Vec::new(),
            began: Instant::now(),
        }
        .serve()
    });
    (host, thread)
}

struct FakeBoard {
    line: UnixStream,
    faults: Faults,
    random: ChaCha8Rng,
    done: Done,
    /// Registers that were written.
    values: HashMap<u32, u32>,
    /// Reads of registers are done once, too.
    reads_once: bool,
    /// The last request that is done once: operation, sequence number, and what was answered.
    last: Option<(u8, u8, (u8, Vec<u8>))>,
    /// Answers that are held back.
    late: Vec<u8>,
    began: Instant,
}

impl FakeBoard {
    fn serve(mut self) -> Done {
        let mut decoder = Decoder::new(8 + 1024);
        let mut buffer = [0; 512];
        loop {
            let count = match self.line.read(&mut buffer) {
                Ok(0) => return self.done,
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return self.done,
            };
            let mut bytes = buffer[..count].to_vec();
            self.damage(&mut bytes);
            for byte in bytes {
                let answer = match decoder.push(byte) {
                    None => continue,
                    Some(Event::Frame(_)) if self.random.gen_bool(self.faults.lost) => continue,
                    Some(Event::Frame(request)) => self.answer(&request),
                    Some(Event::Damaged | Event::Aborted) => {
                        self.done.damaged += 1;
                        vec![255, 0, 4, 0]
                    }
                };
                if self.send(&answer).is_none() {
                    return self.done;
                }
            }
        }
    }

    /// Sends an answer; `None` if nobody is there.
    fn send(&mut self, answer: &[u8]) -> Option<()> {
        let mut line = std::mem::take(&mut self.late);
        if !self.random.gen_bool(self.faults.lost) {
            let copies = if self.random.gen_bool(self.faults.doubled) { 2 } else { 1 };
            (0..copies).for_each(|_| encode(answer, &mut line));
        }
        self.damage(&mut line);
        if self.random.gen_bool(self.faults.late) {
            self.late = line;
            return Some(());
        }
        self.line.write_all(&line).ok()
    }

    /// Cycles since the start, at 25 MHz.
    fn cycle(&self) -> u32 {
        (self.began.elapsed().as_nanos() / 40) as u32
    }

    fn damage(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.random.gen_bool(self.faults.bit_errors) {
                *byte ^= 1 << self.random.gen_range(0..8);
            }
        }
    }

    fn answer(&mut self, request: &[u8]) -> Vec<u8> {
        let repeated = self.last.as_ref().filter(|last| request.starts_with(&[last.0, last.1]));
        let (status, data) = match (repeated, request) {
            (Some((.., answer)), _) => answer.clone(),
            (None, [_, _, c0, c1, a0, a1, a2, a3, data @ ..]) => {
                let count = u16::from_le_bytes([*c0, *c1]);
                let answer = self.perform(request[0], count, u32::from_le_bytes([*a0, *a1, *a2, *a3]), data);
                let once = matches!(request[0], 2 | 4 | 5) || request[0] == 1 && self.reads_once;
                // What was refused is no request to remember.
                if once && answer.0 <= 1 {
                    self.last = Some((request[0], request[1], answer.clone()));
                }
                answer
            }
            (None, _) => (2, Vec::new()),
        };
        let (operation, sequence) = (request.first().unwrap_or(&0), request.get(1).unwrap_or(&0));
        [&[operation + 128, *sequence, status, 0][..], &data].concat()
    }

    fn perform(&mut self, operation: u8, count: u16, address: u32, data: &[u8]) -> (u8, Vec<u8>) {
        let (at, length) = (address as usize, usize::from(count));
        let inside = (1..=1024).contains(&count) && at + length <= MEMORY;
        let is_register = |address| REGISTERS.iter().any(|register| register.offset == address);
        match operation {
            0 => {
                self.last = None;
                let mut answer = b"HRMS".to_vec();
                answer.extend(1_u32.to_le_bytes());
                answer.extend(HASH.to_le_bytes());
                for word in [MEMORY as u32, 25_000, self.done.damaged, self.cycle()] {
                    answer.extend(word.to_le_bytes());
                }
                (0, answer)
            }
            1 | 2 if address == HANGS => (3, Vec::new()),
            1 | 2 if !is_register(address) => (1, Vec::new()),
            1 => {
                let value = match address {
                    _ if address == offset("ID") => ID,
                    _ if address == offset("CONFIG") => 0x0008_0108,
                    _ if address == offset("CYCLE_LOW") => self.cycle(),
                    _ if address == offset("CONSOLE") => {
                        self.done.console.pop_front().map_or(1 << 31, u32::from)
                    }
                    _ => *self.values.get(&address).unwrap_or(&0),
                };
                (0, value.to_le_bytes().to_vec())
            }
            2 => match <[u8; 4]>::try_from(data) {
                Ok(bytes) => {
                    self.done.registers.push((address, u32::from_le_bytes(bytes)));
                    self.values.insert(address, u32::from_le_bytes(bytes));
                    (0, Vec::new())
                }
                Err(_) => (2, Vec::new()),
            },
            3 if inside => (0, self.done.memory[at..at + length].to_vec()),
            4 if inside && data.len() == length => {
                self.done.memory_writes += 1;
                self.done.memory[at..at + length].copy_from_slice(data);
                (0, Vec::new())
            }
            5 => {
                self.done.resets += 1;
                self.values.clear();
                (0, Vec::new())
            }
            _ => (2, Vec::new()),
        }
    }
}
