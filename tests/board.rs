//! A whole board, its serial pins at a pseudo-terminal: `hermes fpga run` brings it up as if it were one.

#![cfg(unix)]

mod common;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use common::Folder;

/// A small array, so that its model is built quickly.
const ARRAY: &str = "--cores 1 --lanes 2 --warps 4 --baud 3000000";

/// A board under simulation; it ends with its owner.
struct Board {
    child: Child,
    device: String,
}

impl Board {
    fn start(folder: &Folder, options: &str) -> Self {
        let mut command = folder.command(&format!("fpga simulate {options}"));
        let mut child = command.stdout(Stdio::piped()).spawn().expect("hermes runs");
        let mut device = String::new();
        let output = child.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut device).expect("the name of a terminal");
        assert!(device.starts_with("/dev/"), "{device:?}");
        Self { child, device: device.trim().to_string() }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        // One that has ended cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn folder(packets: usize) -> Folder {
    let folder = Folder::new();
    let traffic = "gen-trace --kind fixed:64 --bad-share 20 --seed 7";
    folder.succeed(&format!("{traffic} --packets {packets} -o in.pcap"));
    folder
}

/// Arguments for a run on this board. A simulated one is some hundred times as slow as one of hardware, so requests have time.
fn run(board: &Board, options: &str) -> String {
    let device = &board.device;
    let timeout = if options.contains("--timeout") { "" } else { "--timeout 30" };
    format!("-v fpga run --port {device} --app dec-ttl --pcap in.pcap --out out.pcap --verdicts out.csv --stall-limit 120 {timeout} {options}")
}

/// Verdicts and frames are those of the simulated array alone.
fn check(folder: &Folder, array: &str) {
    folder.succeed(&format!("run {array} --app dec-ttl --pcap in.pcap --out run.pcap --verdicts run.csv"));
    assert_eq!(folder.read("out.pcap"), folder.read("run.pcap"));
    let columns = |name| {
        let text = folder.text(name);
        text.lines().map(|line| line.splitn(3, ',').take(2).collect::<Vec<_>>().join(",")).collect::<Vec<_>>()
    };
    assert_eq!(columns("out.csv"), columns("run.csv"));
}

/// The number before `what` in what `-v` told of the line.
fn told(error: &str, what: &str) -> u64 {
    let before = error.split(what).next().unwrap_or_default();
    let number = before.trim_end().rsplit([' ', ',']).next().unwrap_or_default();
    number.parse().unwrap_or_else(|_| panic!("no number before {what:?} in {error}"))
}

#[test]
fn packets_pass_through_the_pins_of_a_board() {
    let folder = folder(40);
    let array = "--preset fpga --cores 1 --lanes 2 --warps 4";
    {
        let board = Board::start(&folder, ARRAY);
        let output = folder.hermes(&run(&board, ARRAY));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{error}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("every packet and verdict agrees"), "{text}");
        assert_eq!((told(&error, "repeated"), told(&error, "frames came damaged")), (0, 0), "{error}");
        check(&folder, array);
    }

    // The same over a line on which one bit in 17,000 is wrong: nothing is lost, and no push is done twice.
    let board = Board::start(&folder, &format!("{ARRAY} --bit-errors 0.00006 --seed 5 --stay"));
    let output = folder.hermes(&run(&board, &format!("{ARRAY} --timeout 2")));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    assert!(told(&error, "repeated") > 2 && told(&error, "frames came damaged") > 0, "{error}");
    check(&folder, array);

    // The board is one of another array.
    let before = folder.files();
    let other = ARRAY.replace("--warps 4", "--warps 2");
    folder.fail(&run(&board, &other), &["the bitstream is of another configuration", "hermes fpga build"]);
    assert_eq!(folder.files(), before);
}

#[test]
fn a_board_that_is_unplugged_and_a_line_of_noise_are_told() {
    let folder = folder(200);
    let mut board = Board::start(&folder, ARRAY);
    let run_it = run(&board, ARRAY);
    let running =
        folder.command(&run_it).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("hermes runs");
    // Seconds are left to the run then: 200 packets are 60,000 bytes, with 130 cycles for each.
    std::thread::sleep(std::time::Duration::from_secs(2));
    board.child.kill().expect("the board is there");
    let output = running.wait_with_output().expect("hermes ends");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("the connection to the board is gone"), "{error}");
    assert_eq!(folder.files(), ["in.pcap"]);

    let board = Board::start(&folder, &format!("{ARRAY} --bit-errors 0.05"));
    folder.fail(&run(&board, &format!("{ARRAY} --timeout 0.5")), &["no answer to 8 requests", &board.device]);
    assert_eq!(folder.files(), ["in.pcap"]);
}

/// What the issue of boards asks for: the whole array of a ULX3S, 1,000 packets. Some minutes.
#[test]
#[ignore = "minutes: run with --full"]
fn a_thousand_packets_through_a_ulx3s() {
    let folder = folder(1_000);
    let board = Board::start(&folder, "--bit-errors 0.000003 --baud 3000000");
    folder.succeed(&run(&board, "--baud 3000000"));
    check(&folder, "--preset fpga");
}

/// After synthesis: the LUTs, flip-flops, memories and multipliers of the device do what the Verilog says. Some minutes; the slow clock makes bytes on the
/// line short.
#[test]
#[ignore = "minutes: run with --full"]
fn a_hundred_packets_through_the_netlist_of_a_ulx3s() {
    let folder = folder(100);
    let array = "--lanes 2 --warps 2 --l1-lines 16 --l2-lines 16 --l2-ways 1 --instruction-cache-lines 16";
    let board =
        Board::start(&folder, &format!("{array} --baud 3000000 --clock 12.5 --memory 32768 --netlist"));
    let text = folder.succeed(&run(&board, &format!("{array} --baud 3000000")));
    assert!(text.contains("every packet and verdict agrees"), "{text}");
    check(&folder, &format!("--preset fpga {array}"));
}
