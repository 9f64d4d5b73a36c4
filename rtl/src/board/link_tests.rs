//! Every operation of the link, with requests that are repeated, wrong or damaged, registers that
//! refuse or hang.

use super::line_tests::framed;
use super::*;
use crate::memory::testing::random;
use crate::testing::{reset, settle, tick};
use hermes_hdl::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

const IDENTITY: BoardIdentity =
    BoardIdentity { hash: 0x0123_4567_89ab_cdef, memory_log2: 12, kilohertz: 40_000 };

const TRACED: LinkParts = LinkParts { trace_buffer: true, reads_once: false };
const READS_ONCE: LinkParts = LinkParts { trace_buffer: false, reads_once: true };
/// Each read of this register takes one off it.
const TAKING: u32 = 0x60;

/// A link with frames at its one end, registers and memory at the other.
struct Bench {
    receiver: FrameReceiver,
    link: BoardLink,
    memory: Vec<u8>,
    /// Bytes of the trace buffer that were written, by their addresses; the others are 0.
    trace: BTreeMap<u32, u8>,
    registers: Vec<u32>,
    /// Writes of registers: offset and value.
    written: Vec<(usize, u32)>,
    /// The registers do not answer.
    hangs: bool,
    /// The memory does not answer.
    memory_hangs: bool,
    /// Busy cycles, which go on.
    busy: u32,
    aborts: usize,
    resets: usize,
    rng: ChaCha8Rng,
}

impl Bench {
    fn new(name: &str) -> Self {
        Self::of(BoardLink::new(IDENTITY), name)
    }

    fn of(link: BoardLink, name: &str) -> Self {
        let mut bench = Self {
            receiver: FrameReceiver::default(),
            link,
            memory: vec![0; 1 << IDENTITY.memory_log2],
            trace: BTreeMap::new(),
            registers: vec![0; 1024],
            written: Vec::new(),
            hangs: false,
            memory_hangs: false,
            busy: 0x0001_fe00,
            aborts: 0,
            resets: 0,
            rng: random(name),
        };
        let (receiver, link) = (&mut bench.receiver, &mut bench.link);
        reset!(*receiver);
        reset!(*link);
        bench
    }

    /// A register from 0x800 on answers SLVERR.
    fn refuses(offset: usize) -> bool {
        offset >= 0x800
    }

    /// Sends the bytes of a line; gives the answers behind them.
    fn line(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let (mut sent, mut answers, mut answer) = (0, Vec::new(), Vec::new());
        let (mut quiet, mut write, mut read, mut byte) = (0, (None, None), None, None);
        let mut trace_byte = None;
        let mut was_reset = false;
        let limit = if self.hangs || self.memory_hangs { 70_000 } else { 300 };
        while quiet < limit {
            let link = &mut self.link;
            self.receiver.valid.next = sent < bytes.len() && self.rng.gen();
            self.receiver.data.next = u64::from(bytes.get(sent).copied().unwrap_or(0)).into();
            self.receiver.enable.next = link.enable.val();
            settle(&mut self.receiver);
            link.byte_valid.next = self.receiver.byte_valid.val();
            link.byte.next = self.receiver.byte.val();
            link.index.next = self.receiver.index.val();
            link.end.next = self.receiver.end.val();
            link.damaged.next = self.receiver.damaged.val();
            link.length.next = self.receiver.length.val();
            sent += usize::from(self.receiver.valid.val());
            link.answer_ready.next = self.rng.gen();
            self.busy += 1;
            link.busy_cycles.next = u64::from(self.busy).into();
            link.memory.ready.next = self.rng.gen::<bool>() && !self.memory_hangs;
            link.memory.answer.next = byte.is_some();
            link.memory.read.next = u64::from(byte.take().unwrap_or_else(|| self.rng.gen::<u8>())).into();
            if let Some(port) = link.trace.get_mut() {
                port.ready.next = self.rng.gen();
                port.answer.next = trace_byte.is_some();
                port.read.next = u64::from(trace_byte.take().unwrap_or_else(|| self.rng.gen::<u8>())).into();
            }
            let axil = &mut link.m_axil;
            axil.awready.next = self.rng.gen::<bool>() && !self.hangs;
            axil.wready.next = self.rng.gen::<bool>() && !self.hangs;
            axil.arready.next = self.rng.gen::<bool>() && !self.hangs;
            let (refuses, ok) = (bits::<2>(2), bits::<2>(0));
            axil.bvalid.next = false;
            if let (Some(offset), Some(value)) = write {
                axil.bvalid.next = true;
                axil.bresp.next = if Self::refuses(offset) { refuses } else { ok };
                self.written.push((offset, value));
                self.registers[offset / 4] = value;
                write = (None, None);
            }
            axil.rvalid.next = false;
            if let Some(offset) = read.take() {
                let offset: usize = offset;
                axil.rvalid.next = true;
                axil.rresp.next = if Self::refuses(offset) { refuses } else { ok };
                axil.rdata.next = u64::from(self.registers[offset / 4]).into();
                if offset == TAKING as usize {
                    self.registers[offset / 4] = self.registers[offset / 4].wrapping_sub(1);
                }
            }
            settle(link);
            if link.answer_valid.val() && link.answer_ready.val() {
                answer.push(link.answer_data.val().to_u64() as u8);
                if link.answer_last.val() {
                    answers.push(std::mem::take(&mut answer));
                }
                quiet = 0;
            }
            if link.answer_abort.val() {
                self.aborts += 1;
                answer.clear();
            }
            if link.memory.valid.val() && link.memory.ready.val() {
                let address = link.memory.address.val().index();
                if link.memory.write.val() {
                    self.memory[address] = link.memory.data.val().to_u64() as u8;
                } else {
                    byte = Some(self.memory[address]);
                }
                quiet = 0;
            }
            for port in link.trace.get().into_iter().filter(|port| port.valid.val() && port.ready.val()) {
                let address = port.address.val().to_u64() as u32;
                if port.write.val() {
                    self.trace.insert(address, port.data.val().to_u64() as u8);
                } else {
                    trace_byte = Some(self.trace.get(&address).copied().unwrap_or(0));
                }
                quiet = 0;
            }
            let axil = &link.m_axil;
            if axil.awvalid.val() && axil.awready.val() {
                write.0 = Some(axil.awaddr.val().index());
            }
            if axil.wvalid.val() && axil.wready.val() {
                write.1 = Some(axil.wdata.val().to_u64() as u32);
            }
            if axil.arvalid.val() && axil.arready.val() {
                read = Some(axil.araddr.val().index());
            }
            self.resets += usize::from(link.array_reset.val() && !was_reset);
            was_reset = link.array_reset.val();
            quiet = if sent < bytes.len() { 0 } else { quiet + 1 };
            let receiver = &mut self.receiver;
            tick!(*receiver);
            let link = &mut self.link;
            tick!(*link);
        }
        assert!(answer.is_empty(), "an answer that does not end: {answer:?}");
        answers
    }

    /// Sends a request; gives status and data of its answer.
    fn ask(&mut self, operation: u8, sequence: u8, count: usize, address: u32, data: &[u8]) -> (u8, Vec<u8>) {
        let mut request = vec![operation, sequence, count as u8, (count >> 8) as u8];
        request.extend(address.to_le_bytes());
        request.extend(data);
        let answers = self.line(&framed(&request));
        assert_eq!(answers.len(), 1, "{answers:?}");
        let answer = &answers[0];
        assert_eq!((answer[0], answer[1], answer[3]), (operation | 0x80, sequence, 0));
        (answer[2], answer[4..].to_vec())
    }
}

#[test]
fn the_board_says_what_it_is() {
    let mut bench = Bench::new("board_link, identity");
    let mut expected = b"HRMS\x01\0\0\0".to_vec();
    expected.extend(IDENTITY.hash.to_le_bytes());
    for word in [4096u32, 40_000, 0] {
        expected.extend(word.to_le_bytes());
    }
    for _ in 0..20 {
        let before = bench.busy;
        let (status, data) = bench.ask(0, 9, 0, 0, &[]);
        assert_eq!((status, &data[..28]), (0, &expected[..]));
        // The bytes go out one after the other, and the counter goes on.
        let busy = u32::from_le_bytes(data[28..].try_into().unwrap());
        assert!((before..bench.busy).contains(&busy), "{busy:#x} of {before:#x} to {:#x}", bench.busy);
    }
}

#[test]
fn memory_and_registers_are_written_and_read() {
    let mut bench = Bench::new("board_link");
    let mut expected = vec![0; 4096];
    for case in 0..60u32 {
        let sequence = case as u8;
        let count = *[1, 2, 3, 4, 64, 100, 1024].get(case as usize % 9).unwrap_or(&7);
        let address = bench.rng.gen_range(0..=4096 - count as u32);
        let data: Vec<u8> = (0..count).map(|_| bench.rng.gen()).collect();
        expected[address as usize..][..count].copy_from_slice(&data);
        assert_eq!(bench.ask(4, sequence, count, address, &data), (0, vec![]));
        assert!(bench.memory == expected, "bytes from {address}");
        assert_eq!(bench.ask(3, sequence, count, address, &[]), (0, data));

        let (offset, value) = (4 * bench.rng.gen_range(0..0x200), bench.rng.gen::<u32>());
        assert_eq!(bench.ask(2, sequence, 0, offset, &value.to_le_bytes()), (0, vec![]));
        assert_eq!(bench.ask(1, sequence, 0, offset, &[]), (0, value.to_le_bytes().to_vec()));
        assert_eq!(bench.written.pop(), Some((offset as usize, value)));
        assert!(bench.written.is_empty());
    }
    assert_eq!(bench.ask(2, 1, 0, 0x800, &[0; 4]).0, 1);
    assert_eq!(bench.ask(1, 1, 0, 0x800, &[]), (1, vec![]));
}

#[test]
fn the_trace_buffer_lies_behind_the_memory() {
    let mut bench = Bench::of(BoardLink::with(IDENTITY, TRACED), "board_link, trace buffer");
    let mut expected = BTreeMap::new();
    for case in 0..40u32 {
        // Its bytes answer whatever becomes of the memory.
        bench.memory_hangs = case == 0;
        let count = *[1, 2, 4, 100, 1024].get(case as usize % 6).unwrap_or(&7);
        let address = TRACE_ADDRESS + bench.rng.gen_range(0..=(1 << 25) - count as u32);
        let data: Vec<u8> = (0..count).map(|_| bench.rng.gen()).collect();
        expected.extend((address..).zip(data.iter().copied()));
        assert_eq!(bench.ask(4, case as u8, count, address, &data), (0, vec![]));
        assert!(bench.trace == expected, "bytes from {address:#x}");
        assert_eq!(bench.ask(3, case as u8, count, address, &[]), (0, data));
    }
    assert_eq!(bench.ask(4, 99, 2, 8, &[1, 2]), (0, vec![]));
    assert_eq!(bench.memory[8..10], [1, 2]);
    assert!(bench.trace == expected);
    // What is behind it, and all of it where there is none
    let mut without = Bench::new("board_link, no trace buffer");
    for (count, address) in [(1, 0x8200_0000), (2, 0x81ff_ffff), (1, 0xffff_ffff), (1, 0x7fff_ffff)] {
        assert_eq!(bench.ask(3, 1, count, address, &[]), (2, vec![]), "{address:#x}");
        assert_eq!(without.ask(3, 1, count, address, &[]), (2, vec![]), "{address:#x}");
    }
    assert_eq!(without.ask(3, 1, 1, TRACE_ADDRESS, &[]), (2, vec![]));
    assert_eq!(without.ask(4, 1, 1, TRACE_ADDRESS, &[1]), (2, vec![]));
}

#[test]
fn a_write_that_is_repeated_is_done_once() {
    let mut bench = Bench::new("board_link, repeats");
    for (offset, status) in [(0x40, 0), (0x900, 1)] {
        for _ in 0..3 {
            assert_eq!(bench.ask(2, 7, 0, offset, &[1, 2, 3, 4]).0, status);
        }
        assert_eq!(std::mem::take(&mut bench.written).len(), 1);
        // Another number, or reads and refused requests between
        assert_eq!(bench.ask(2, 8, 0, offset, &[1, 2, 3, 4]).0, status);
        bench.ask(1, 9, 0, offset, &[]);
        assert_eq!(bench.ask(4, 8, 0, offset, &[]).0, 2);
        assert_eq!(bench.ask(2, 8, 0, offset, &[1, 2, 3, 4]).0, status);
        assert_eq!(std::mem::take(&mut bench.written).len(), 1);
    }
    assert_eq!(bench.ask(4, 8, 2, 16, &[5, 6]).0, 0);
    bench.memory[16] = 9;
    assert_eq!(bench.ask(4, 8, 2, 16, &[5, 6]).0, 0);
    assert_eq!(bench.memory[16..18], [9, 6]);
    let before = bench.resets;
    bench.ask(5, 3, 0, 0, &[]);
    bench.ask(5, 3, 0, 0, &[]);
    assert_eq!(bench.resets, before + 1);
    // A request that only looks like an IDENTIFY forgets nothing.
    assert_eq!(bench.ask(0, 2, 0, 0, &[1]).0, 2);
    bench.ask(5, 3, 0, 0, &[]);
    assert_eq!(bench.resets, before + 1);
    // A new session may begin with the number of the last write of the one before.
    bench.ask(0, 1, 0, 0, &[]);
    bench.ask(5, 3, 0, 0, &[]);
    assert_eq!(bench.resets, before + 2);
}

/// A byte of a console is taken once, whatever becomes of the answers and of the frames between.
#[test]
fn a_read_of_a_register_that_is_repeated_is_done_once() {
    let value = |value: u32| (0, value.to_le_bytes().to_vec());
    let mut bench = Bench::of(BoardLink::with(IDENTITY, READS_ONCE), "board_link, reads");
    bench.registers[TAKING as usize / 4] = 1_000;
    let mut left = 1_000;
    for number in 0..60u8 {
        for time in 0..bench.rng.gen_range(1..4) {
            assert_eq!(bench.ask(1, number, 0, TAKING, &[]), value(left), "read {number}, time {time}");
            // A damaged frame with other contents, and one that is refused
            if bench.rng.gen() {
                let mut line = framed(&[2, number, 0, 0, 0x40, 0, 0, 0, 9, 9, 9, 9]);
                line[3] ^= 1;
                assert_eq!(bench.line(&line), [[0xff, 0, 4, 0]]);
            }
            if bench.rng.gen() {
                assert_eq!(bench.ask(2, number, 0, 2, &[7; 4]), (2, vec![]));
            }
        }
        left -= 1;
        // Another operation with the same number is no repeat, nor is the read behind it.
        if number % 5 == 0 {
            assert_eq!(bench.ask(2, number, 0, 0x40, &[1, 2, 3, 4]).0, 0);
            assert_eq!(bench.ask(2, number, 0, 0x40, &[1, 2, 3, 4]).0, 0);
            assert_eq!(std::mem::take(&mut bench.written).len(), 1);
            assert_eq!(bench.ask(1, number, 0, TAKING, &[]), value(left));
            left -= 1;
        }
    }
    // One that refuses is told so again, and an IDENTIFY forgets.
    assert_eq!(bench.ask(1, 60, 0, 0x900, &[]), (1, vec![]));
    assert_eq!(bench.ask(1, 60, 0, 0x900, &[]), (1, vec![]));
    assert_eq!(bench.ask(1, 61, 0, TAKING, &[]), value(left));
    bench.ask(0, 61, 0, 0, &[]);
    assert_eq!(bench.ask(1, 61, 0, TAKING, &[]), value(left - 1));

    // Without the part each read takes one.
    let mut bench = Bench::new("board_link, reads without the part");
    bench.registers[TAKING as usize / 4] = 10;
    assert_eq!(bench.ask(1, 1, 0, TAKING, &[]), value(10));
    assert_eq!(bench.ask(1, 1, 0, TAKING, &[]), value(9));
}

#[test]
fn what_cannot_be_is_refused() {
    let mut bench = Bench::new("board_link, refusals");
    let refused = (2, vec![]);
    let data = [0x55; 1025];
    for (operation, count, address, length) in [
        (6, 0, 0, 0),
        (0x7f, 0, 0, 0),
        (0, 0, 0, 1),
        (1, 0, 0x1000, 0),
        (1, 0, 2, 0),
        (1, 0, 0, 4),
        (2, 0, 0, 0),
        (2, 0, 0, 3),
        (2, 0, 0, 5),
        (2, 0, 0xffff_fffc, 4),
        (3, 0, 0, 0),
        (3, 1025, 0, 0),
        (3, 1, 4096, 0),
        (3, 2, 4095, 0),
        (3, 2, 0xffff_ffff, 0),
        (4, 0, 0, 0),
        (4, 3, 0, 2),
        (4, 3, 0, 4),
        (4, 1024, 3073, 1024),
        (5, 0, 0, 1),
    ] {
        let got = bench.ask(operation, 3, count, address, &data[..length]);
        assert_eq!(
            got, refused,
            "operation {operation}, count {count}, address {address:#x}, {length} bytes"
        );
    }
    assert!(bench.memory.iter().all(|byte| *byte == 0) && bench.written.is_empty());
}

#[test]
fn a_damaged_request_is_told_and_nothing_is_done() {
    let mut bench = Bench::new("board_link, damages");
    let request = [4, 1, 4, 0, 0, 0, 0, 0, 1, 2, 3, 4];
    for bit in 0..8 * request.len() {
        let mut line = framed(&request);
        line[1 + bit / 8] ^= 1 << (bit % 8);
        if line[1 + bit / 8] == 0x7e || line[1 + bit / 8] == 0x7d {
            continue;
        }
        assert_eq!(bench.line(&line), [[0xff, 0, 4, 0]], "bit {bit}");
    }
    assert!(bench.memory.iter().all(|byte| *byte == 0));
    let (_, identity) = bench.ask(0, 0, 0, 0, &[]);
    assert!(identity[24] > 80, "{} damaged frames", identity[24]);
    assert_eq!(bench.line(&framed(&request)), [[0x84, 1, 0, 0]]);
    assert_eq!(bench.memory[..4], [1, 2, 3, 4]);
}

#[test]
fn registers_that_hang_are_given_up() {
    let mut bench = Bench::new("board_link, hang");
    bench.hangs = true;
    assert_eq!(bench.ask(1, 1, 0, 0, &[]), (3, vec![]));
    assert_eq!(bench.ask(2, 2, 0, 0, &[0; 4]), (3, vec![]));
    bench.hangs = false;
    assert_eq!(bench.ask(5, 3, 0, 0, &[]), (0, vec![]));
    assert_eq!(bench.ask(1, 4, 0, 0, &[]), (0, vec![0; 4]));
}

#[test]
fn a_memory_that_hangs_is_given_up() {
    let mut bench = Bench::new("board_link, memory");
    bench.memory_hangs = true;
    assert_eq!(bench.ask(4, 1, 2, 0, &[1, 2]), (3, vec![]));
    let request = [3, 2, 4, 0, 0, 0, 0, 0];
    assert_eq!(bench.line(&framed(&request)), Vec::<Vec<u8>>::new());
    assert_eq!(bench.aborts, 1);
    bench.memory_hangs = false;
    assert_eq!(bench.ask(5, 3, 0, 0, &[]), (0, vec![]));
    assert_eq!(bench.ask(3, 4, 4, 0, &[]), (0, vec![0; 4]));
}
