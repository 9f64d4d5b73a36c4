//! The link and the device against a board in software; runs of packets against the simulated
//! array.

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::thread::spawn;
use std::time::{Duration, Instant};

use hermes_rtl::host::registers::offset;
use rand::{Rng as _, RngCore as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::fake::{start, start_with, Console, Faults, HANGS, HASH, MEMORY};
use super::*;
use crate::cosim::{CosimError, Device as _, Host};
use crate::test_seed;

/// A quick line, and answers that come soon or not at all.
fn options() -> LinkOptions {
    LinkOptions { margin: Duration::from_millis(30), ..LinkOptions::new(4_000_000) }
}

/// With `port` at the other end.
fn connect<P: Read + Write>(port: P) -> Result<Board<P>, BoardError> {
    Board::connect(port, options(), HASH)
}

/// Why `port` is no board.
fn refused<P: Read + Write + std::fmt::Debug>(port: P) -> String {
    connect(port).unwrap_err().to_string()
}

/// What a board that does as the document says does with random accesses, over lines on which much
/// goes wrong.
#[test]
fn every_write_is_done_once_whatever_the_line_does() {
    let seed = test_seed();
    let lines = [
        Faults::default(),
        Faults { bit_errors: 0.002, ..Faults::default() },
        Faults { lost: 0.15, ..Faults::default() },
        Faults { doubled: 0.3, ..Faults::default() },
        Faults { late: 0.15, ..Faults::default() },
        Faults { bit_errors: 0.0005, lost: 0.05, doubled: 0.1, late: 0.05, seed: 0 },
    ];
    for (number, faults) in lines.into_iter().enumerate() {
        let mut random = ChaCha8Rng::seed_from_u64(seed + number as u64);
        let (port, thread) = start(Faults { seed: random.gen(), ..faults });
        let options = LinkOptions { margin: Duration::from_millis(15), tries: 40, ..options() };
        let mut board = Board::connect(port, options, HASH).unwrap();
        board.reset().unwrap();
        let (mut memory, mut writes) = (vec![0; MEMORY], Vec::new());
        for _ in 0..300 {
            let address = random.gen_range(0..MEMORY);
            // Blocks of several requests are rare, since each byte can go wrong.
            let most = if random.gen_bool(0.05) { 3000 } else { 60 };
            let length = random.gen_range(0..=most.min(MEMORY - address));
            match random.gen_range(0..4) {
                0 => {
                    let value = random.next_u32();
                    let register = ["TASK_PUSH", "RING_BASE", "ARGUMENT"][random.gen_range(0..3)];
                    board.write_register(offset(register), value).unwrap();
                    writes.push((offset(register), value));
                    assert_eq!(board.read_register(offset(register)).unwrap(), value);
                }
                1 => {
                    random.fill(&mut memory[address..address + length]);
                    board.write_memory(address as u32, &memory[address..address + length]).unwrap();
                }
                2 => {
                    let mut got = vec![0; length];
                    board.read_memory(address as u32, &mut got).unwrap();
                    assert!(got == memory[address..address + length], "{faults:?}");
                }
                _ => board
                    .write_register(offset("TASK_PUSH"), 7)
                    .map(|()| writes.push((offset("TASK_PUSH"), 7)))
                    .unwrap(),
            }
        }
        let damaged = board.damaged_frames().unwrap();
        let statistics = board.statistics();
        println!("{faults:?}: {statistics}");
        drop(board);
        let done = thread.join().unwrap();
        assert_eq!(done.registers, writes, "{faults:?}");
        assert!(done.memory == memory && done.resets == 1, "{faults:?}");
        assert!(damaged <= done.damaged && (done.damaged > 0) == (faults.bit_errors > 0.0));
        assert_eq!(statistics.damaged_answers > 0, faults.bit_errors > 0.0);
        assert!(statistics.timeouts > 0 || faults.lost == 0.0 && faults.late == 0.0);
        assert!(statistics.stale_answers > 0 || faults.doubled == 0.0 && faults.late == 0.0);
        if number == 0 {
            assert_eq!((statistics.repeats, statistics.timeouts), (0, 0));
        }
    }
}

/// A read of CONSOLE takes a byte: whatever the line does, none is lost and none comes twice. On a
/// board that does a repeated read again both happen.
#[test]
fn every_byte_of_a_console_comes_once() {
    let seed = test_seed();
    let lines = [
        Faults { bit_errors: 0.002, ..Faults::default() },
        Faults { lost: 0.15, ..Faults::default() },
        Faults { doubled: 0.3, late: 0.1, ..Faults::default() },
        Faults { bit_errors: 0.0005, lost: 0.05, doubled: 0.1, late: 0.05, seed: 0 },
    ];
    let read = |number: usize, faults: Faults, reads_once: bool| {
        let mut random = ChaCha8Rng::seed_from_u64(seed + number as u64);
        // No byte is like its neighbours.
        let text: Vec<u8> = (0..400_u32).map(|n| (n * 7) as u8).collect();
        let console = Console { text: text.clone(), reads_once };
        let (port, thread) = start_with(Faults { seed: random.gen(), ..faults }, console);
        let options = LinkOptions { margin: Duration::from_millis(15), tries: 40, ..options() };
        let board = Board::connect(port, options, HASH).unwrap();
        let mut host = Host::new(board).unwrap();
        let mut got = Vec::new();
        while got.len() < text.len() {
            // What the command does beside: looks, and bytes for the console
            for _ in 0..random.gen_range(0..3) {
                host.read("HOST_IRQ_PENDING").unwrap();
            }
            host.write("CONSOLE_IN", 7).unwrap();
            let more = host.read("CONSOLE").unwrap();
            if more >> 31 == 1 {
                break;
            }
            got.push(more as u8);
        }
        drop(host);
        let left = thread.join().unwrap().console.len();
        (got == text && left == 0, faults)
    };
    for (number, faults) in lines.into_iter().enumerate() {
        let (equal, faults) = read(number, faults, true);
        assert!(equal, "{faults:?}");
    }
    assert!(!read(1, lines[1], false).0);
}

/// Boards that do reads of registers once take one 256 requests after another for its repeat.
#[test]
fn a_read_256_requests_after_a_read_is_done() {
    let console = Console { text: vec![1, 2, 3], reads_once: true };
    let (port, thread) = start_with(Faults::default(), console);
    let mut board = connect(port).unwrap();
    for byte in 1..=3 {
        assert_eq!(board.read_register(offset("CONSOLE")).unwrap(), byte);
        let mut bytes = [0; 4];
        for _ in 0..255 {
            board.read_memory(0, &mut bytes).unwrap();
        }
    }
    drop(board);
    assert!(thread.join().unwrap().console.is_empty());
}

/// The board takes a write for the repeat of another one if there are 255 requests between the two.
#[test]
fn a_write_256_requests_after_a_write_is_done() {
    let (port, thread) = start(Faults::default());
    let mut board = connect(port).unwrap();
    for value in 0..3 {
        board.write_register(offset("TASK_PUSH"), value).unwrap();
        for _ in 0..255 {
            board.read_register(offset("COMMITTED_PACKETS")).unwrap();
        }
    }
    drop(board);
    let values: Vec<u32> = thread.join().unwrap().registers.iter().map(|(_, value)| *value).collect();
    assert_eq!(values, [0, 1, 2]);
}

#[test]
fn a_board_tells_what_it_is_and_what_it_does_not_do() {
    let (port, _thread) = start(Faults::default());
    let mut board = connect(port).unwrap();
    let identity = board.identity();
    assert_eq!((identity.memory_bytes as usize, identity.clock_khz), (MEMORY, 25_000));
    let error = board.read_register(0xff4).unwrap_err();
    assert!(matches!(error, CosimError::RegisterResponse { .. }), "{error}");
    assert_eq!(error.to_string(), "the access to register at 0xff4 was answered with SLVERR");
    let error = board.write_register(HANGS, 1).unwrap_err().to_string();
    assert!(
        error.starts_with("a write of register at 0xff8: the registers of the array did not answer"),
        "{error}"
    );
    let error = board.read_register(0x1000_0000).unwrap_err().to_string();
    assert!(error.contains("SLVERR"), "{error}");
    let error = board.write_memory(MEMORY as u32 - 3, &[0; 4]).unwrap_err().to_string();
    assert_eq!(error, "write: 4 bytes at 0x00003ffd are outside the shared memory of 0x4000 bytes");
    board.read_memory(MEMORY as u32, &mut []).unwrap();
    let busy = board.busy_cycles().unwrap();
    let began = Instant::now();
    board.run(2_500_000).unwrap();
    assert!(began.elapsed() >= Duration::from_millis(100));
    assert!(board.busy_cycles().unwrap() > busy);
    board.run(1).unwrap();
    assert_eq!(Host::new(board).unwrap().info().lanes, 8);
}

#[test]
fn another_configuration_is_told_with_what_to_do() {
    let (port, _thread) = start(Faults::default());
    let error = Board::connect(port, options(), 7).unwrap_err().to_string();
    let parts = [
        "another configuration: the board has 0123456789abcdef; expected 0000000000000007",
        "hermes fpga build",
    ];
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
}

/// A device whose other end does with what comes as `answer` says.
fn device(answer: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> UnixStream {
    let (port, mut other) = UnixStream::pair().unwrap();
    port.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = other.read(&mut buffer) {
            if other.write_all(&answer(&buffer[..count])).is_err() {
                return;
            }
        }
    });
    port
}

#[test]
fn devices_that_are_no_boards_are_told_apart() {
    let framed = |contents: &[u8]| {
        let mut line = Vec::new();
        hdlc::encode(contents, &mut line);
        line
    };
    let error = refused(device(|_| Vec::new()));
    assert!(
        error.starts_with("no answer to 8 requests: not a byte came; expected a board: is it on"),
        "{error}"
    );
    let error = refused(device(<[u8]>::to_vec));
    assert!(error.contains("the device sends back what it gets"), "{error}");
    let error = refused(device(|_| b"login: ".to_vec()));
    assert!(error.contains("56 bytes came, but no whole frame"), "{error}");
    let seed = test_seed();
    let error = refused(device(move |_| {
        let mut noise = vec![0; 300];
        ChaCha8Rng::seed_from_u64(seed).fill(&mut noise[..]);
        noise
    }));
    assert!(error.contains("but no whole frame"), "{error}");
    let error = refused(device(move |_| framed(b"\x03other")));
    assert!(error.contains("the last one was 03 6f 74 68 65 72; expected a Hermes board"), "{error}");
    let error = refused(device(move |_| framed(&[255, 0, 4, 0])));
    assert!(error.contains("the board says of 8 that they were damaged"), "{error}");
    let other = [&[128, 0, 0, 0][..], b"HRMX", &[0; 28]].concat();
    let error = refused(device(move |_| framed(&other)));
    assert!(error.contains("expected [48, 52, 4d, 53], \"HRMS\""), "{error}");
    let other = [&[128, 0, 0, 0][..], b"HRMS", &[2], &[0; 27]].concat();
    let error = refused(device(move |_| framed(&other)));
    assert!(error.contains("version 2 of the protocol; expected 1"), "{error}");
    let gone = device(|_| Vec::new());
    gone.shutdown(std::net::Shutdown::Both).unwrap();
    assert!(refused(gone).starts_with("the connection to the board is gone"));
}

/// A line on which nothing comes any more when it is cut.
#[derive(Debug)]
struct Cut {
    line: UnixStream,
    is_cut: Rc<Cell<bool>>,
}

impl Read for Cut {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match (self.line.read(bytes), self.is_cut.get()) {
            (Ok(_), true) => Err(io::ErrorKind::TimedOut.into()),
            (got, _) => got,
        }
    }
}

impl Write for Cut {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.line.flush()
    }
}

#[test]
fn a_board_that_goes_away_is_told_from_one_that_was_never_there() {
    let (line, _thread) = start(Faults::default());
    let is_cut = Rc::new(Cell::new(false));
    let mut board = connect(Cut { line, is_cut: Rc::clone(&is_cut) }).unwrap();
    board.read_register(offset("ID")).unwrap();
    is_cut.set(true);
    let error = board.read_register(offset("ID")).unwrap_err().to_string();
    assert!(
        error.ends_with("not a byte came, though the board answered before; is it still on and connected?"),
        "{error}"
    );
    assert_eq!((board.statistics().timeouts, board.statistics().repeats), (8, 7));
    // The line works again.
    is_cut.set(false);
    board.read_register(offset("ID")).unwrap();
    let line = board.into_port().line;
    line.shutdown(std::net::Shutdown::Both).unwrap();
    assert!(refused(line).starts_with("the connection to the board is gone"));
}

#[test]
fn a_device_that_takes_nothing_is_given_up() {
    #[derive(Debug)]
    struct Full;
    impl Read for Full {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            std::thread::sleep(Duration::from_millis(5));
            Err(io::ErrorKind::WouldBlock.into())
        }
    }
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            std::thread::sleep(Duration::from_millis(5));
            Err(io::ErrorKind::WouldBlock.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    assert!(refused(Full).contains("not a byte came"));
}

/// A refused write between the two is none to the board.
#[test]
fn a_write_behind_a_refused_one_is_done() {
    let (port, thread) = start(Faults::default());
    let mut link = Link::new(port, options());
    let mut request = |operation, address, data: &[u8], answer| {
        link.request(&Request { operation, count: 1, address, data, answer }).unwrap().0
    };
    assert_eq!(request(Operation::WriteMemory, 0, &[1], 0), Status::Done);
    assert_eq!(request(Operation::WriteMemory, MEMORY as u32, &[2], 0), Status::Refused);
    for _ in 0..254 {
        assert_eq!(request(Operation::ReadMemory, 0, &[], 1), Status::Done);
    }
    assert_eq!(request(Operation::WriteMemory, 0, &[3], 0), Status::Done);
    drop(link);
    assert_eq!(thread.join().unwrap().memory[0], 3);
}
