//! `hermes fpga run` against devices that are no boards, and against the simulated array behind a
//! pseudo-terminal that speaks the protocol of `docs/fpga-link.md`.

#![cfg(unix)]

mod common;

use std::io::{ErrorKind, Read as _, Write as _};
use std::thread::{sleep, spawn};
use std::time::Duration;

use common::{frames, Folder};
use hermes_rtl::config::Config;
use hermes_testbench::board::hdlc::{encode, Decoder, Event};
use hermes_testbench::cosim::{CosimError, Device as _, MemoryOptions, Simulation};
use hermes_testbench::model;
use serialport::{SerialPort as _, TTYPort};
use sha2::{Digest as _, Sha256};
use verilator_sys::Model;

/// The options of [`config`].
const ARRAY: &str = "--preset default --cores 1 --lanes 4 --warps 4";
/// Bytes of the packet memory.
const MEMORY: u64 = 128 << 10;

/// The array behind the pseudo-terminal.
fn config() -> Config {
    Config { cores: 1, lanes: 4, warps: 4, ..Config::preset("default").unwrap() }
}

/// Hash of a configuration, as docs/fpga-link.md and the bitstream have it.
fn hash(config: Config) -> [u8; 8] {
    let json =
        serde_json::to_string(&Config { preset: String::new(), fault_output: true, ..config }).unwrap();
    Sha256::digest(json)[..8].try_into().unwrap()
}

/// A pseudo-terminal: our end, and the one that stays open, with its name.
fn terminal() -> (TTYPort, TTYPort, String) {
    let (ours, theirs) = TTYPort::pair().unwrap();
    let name = theirs.name().unwrap();
    (ours, theirs, name)
}

/// The simulated array as a board with a hash of its own.
struct SimulatedBoard {
    simulation: Simulation,
    hash: [u8; 8],
    /// Operation, sequence number and status of the last write.
    last: Option<(u8, u8, u8)>,
}

impl SimulatedBoard {
    /// Behind a pseudo-terminal, on a thread of its own; gives the name of the device and its other
    /// end, which keeps it alive.
    fn start(hash: [u8; 8]) -> (String, TTYPort) {
        let (mut line, theirs, name) = terminal();
        spawn(move || {
            let design = hermes_rtl::top::emit_top(&config()).unwrap();
            let model =
                Model::build(&design.verilog(), &model::options(&design)).unwrap().instantiate().unwrap();
            let simulation = Simulation::new(model, MEMORY, MemoryOptions::default()).unwrap();
            let mut board = Self { simulation, hash, last: None };
            let (mut decoder, mut buffer) = (Decoder::new(8 + 1024), [0; 4096]);
            loop {
                let count = match line.read(&mut buffer) {
                    Ok(count) => count,
                    Err(error) if error.kind() == ErrorKind::TimedOut => continue,
                    Err(_) => return,
                };
                for byte in &buffer[..count] {
                    let answer = match decoder.push(*byte) {
                        None => continue,
                        Some(Event::Frame(request)) => board.answer(&request),
                        Some(_) => vec![255, 0, 4, 0],
                    };
                    let mut bytes = Vec::new();
                    encode(&answer, &mut bytes);
                    line.write_all(&bytes).unwrap();
                }
            }
        });
        (name, theirs)
    }

    fn answer(&mut self, request: &[u8]) -> Vec<u8> {
        let (operation, sequence) = (request[0], request[1]);
        let repeated = self.last.filter(|last| (last.0, last.1) == (operation, sequence));
        let done = match repeated {
            Some((.., status)) => Err(status),
            None => self.perform(request),
        };
        let status = *done.as_ref().err().unwrap_or(&0);
        if matches!(operation, 2 | 4 | 5) {
            self.last = Some((operation, sequence, status));
        }
        [vec![operation + 128, sequence, status, 0], done.unwrap_or_default()].concat()
    }

    fn perform(&mut self, request: &[u8]) -> Result<Vec<u8>, u8> {
        let count = u16::from_le_bytes([request[2], request[3]]);
        let address = u32::from_le_bytes(request[4..8].try_into().unwrap());
        let status = |error| match error {
            CosimError::RegisterResponse { .. } => 1,
            CosimError::Address { .. } => 2,
            error => panic!("{error}"),
        };
        let simulation = &mut self.simulation;
        match request[0] {
            0 => {
                self.last = None;
                let words = [MEMORY as u32, 25_000, 0, simulation.cycle() as u32];
                let words = words.iter().flat_map(|word| word.to_le_bytes());
                Ok([b"HRMS".to_vec(), vec![1, 0, 0, 0], self.hash.to_vec(), words.collect()].concat())
            }
            1 => simulation.read_register(address).map(|value| value.to_le_bytes().to_vec()).map_err(status),
            2 => {
                let value = u32::from_le_bytes(request[8..].try_into().unwrap());
                simulation.write_register(address, value).map(|()| Vec::new()).map_err(status)
            }
            3 => {
                let mut bytes = vec![0; count.into()];
                simulation.read_memory(address, &mut bytes).map(|()| bytes).map_err(status)
            }
            4 => simulation.write_memory(address, &request[8..]).map(|()| Vec::new()).map_err(status),
            5 => simulation.reset().map(|()| Vec::new()).map_err(status),
            _ => Err(2),
        }
    }
}

/// A folder with a capture.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 100 --seed 3 --bad-share 30 -o in.pcap");
    folder
}

/// Arguments for a run on `port` that wants all files.
fn arguments(port: &str, more: &str) -> String {
    format!(
        "fpga run --port {port} --app dec-ttl --pcap in.pcap --out out.pcap --json out.json --verdicts out.csv {more}"
    )
}

/// The run fails with a message that has all `parts`, and leaves no file.
fn refuse(folder: &Folder, port: &str, more: &str, parts: &[&str]) {
    let before = folder.files();
    folder.fail(&arguments(port, more), parts);
    assert_eq!(folder.files(), before, "{more}");
}

#[test]
fn what_is_no_serial_device_is_told_so() {
    let folder = folder();
    let missing = "/dev/hermes-no-such-device";
    refuse(&folder, missing, "", &[missing, "there is no such device", "is the board connected?"]);
    refuse(&folder, "in.pcap", "", &["in.pcap: no serial device; expected that of a board"]);
    refuse(&folder, "/dev/null", "", &["/dev/null: no serial device"]);
    let output = folder.hermes(&arguments(missing, "--stack-bytes 100"));
    assert_eq!(output.status.code(), Some(2));
    refuse(&folder, missing, "--mcw 99", &["--mcw 99: expected 1 to 8"]);
}

#[test]
fn a_line_without_a_board_is_given_up() {
    let folder = folder();
    // What waits on it stays open for the test.
    let (_ours, _theirs, name) = terminal();
    let parts = [&name[..], "2000000 baud: no answer to 8 requests: not a byte came", "its baud rate?"];
    refuse(&folder, &name, "--timeout 0.05", &parts);
    let (mut ours, _theirs, name) = terminal();
    let chatty = spawn(move || {
        while ours.write_all(b"Welcome to some other device\r\n").is_ok() {
            sleep(Duration::from_millis(5));
        }
    });
    let parts = ["115200 baud: no answer to 8 requests:", "bytes came, but no whole frame among them"];
    refuse(&folder, &name, "--timeout 0.05 --baud 115200", &parts);
    drop((chatty, _theirs));
}

#[test]
fn a_board_with_another_array_is_refused() {
    let folder = folder();
    let (name, _theirs) = SimulatedBoard::start(hash(Config { lanes: 2, ..config() }));
    let parts = ["the bitstream is of another configuration", "hermes fpga build", &name];
    refuse(&folder, &name, &format!("{ARRAY} --timeout 20"), &parts);
}

/// The same verdicts and frames as `hermes run` gives.
#[test]
fn a_board_does_what_the_simulation_does() {
    let folder = folder();
    let (name, _theirs) = SimulatedBoard::start(hash(config()));
    // The first answer waits for the model to be built.
    let options = format!("{ARRAY} --timeout 60 --stall-limit 60");
    let expected = folder.succeed(&format!(
        "run --app dec-ttl --pcap in.pcap {ARRAY} --out run.pcap --json run.json --verdicts run.csv"
    ));
    let text = folder.succeed(&arguments(&name, &options));
    for part in ["every packet and verdict agrees", "busy cycles", " slots of 2048 bytes", &name, "25 MHz"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("delay") && !text.contains("memory 0"), "{text}");
    let verdicts =
        |text: &str| text.split("verdicts\n").nth(1).unwrap().split("  IPC").next().unwrap().to_string();
    assert_eq!(verdicts(&text), verdicts(&expected));
    assert_eq!(folder.read("out.pcap"), folder.read("run.pcap"));
    assert!(frames(folder.path("out.pcap")).len() > 50);
    let (of_board, of_run) = (folder.text("out.csv"), folder.text("run.csv"));
    let first = |line: &str| line.splitn(3, ',').take(2).map(str::to_string).collect::<Vec<_>>();
    assert!(of_board.lines().map(first).eq(of_run.lines().map(first)));
    assert!(of_board.lines().skip(1).all(|line| line.ends_with(",,,,")), "{of_board}");
    let json: serde_json::Value = serde_json::from_slice(&folder.read("out.json")).unwrap();
    assert_eq!((&json["packets"], &json["run"]["clock_khz"]), (&100.into(), &25_000.into()));
    assert!(
        json["delay"].is_null() && json["run"]["line_rate"].is_null() && json["cycles"].as_u64() > Some(0)
    );

    // A memory that is too small for what is asked names what takes how much; the board is as good
    // as before.
    let parts =
        ["no room for a ring of 4 slots of 2048 bytes: of its 131072 bytes", "stacks 524288", "verdicts 64"];
    let before = folder.files();
    folder.fail(
        &format!("fpga run --port {name} --app dec-ttl --pcap in.pcap {options} --stack-bytes 4096"),
        &parts,
    );
    assert_eq!(folder.files(), before);

    // Data of the user's own come to the board and back.
    folder.write("tables.c", include_str!("kernels/tables.c"));
    folder.succeed("kernel build tables.c -o tables.elf --rv32e");
    folder.write("table.bin", [5, 0, 0, 0, 9, 0, 0, 0]);
    folder.write("more.bin", [7]);
    let data = "--table squares=table.bin --table more=more.bin --argument 2,100 --dump squares=squares.bin --dump seen=seen.bin";
    let outputs = "--verdicts tables.csv --max-packets 10";
    let run = format!("run --kernel tables.elf --pcap in.pcap {ARRAY} {data} {outputs}");
    folder.succeed(&run);
    let (seen, verdicts) = (folder.read("seen.bin"), folder.text("tables.csv"));
    folder.write("expected.csv", verdicts);
    folder.succeed(&format!("fpga {run} --port {name} --timeout 60 --expect-verdicts expected.csv"));
    assert_eq!((folder.read("seen.bin"), seen.len()), (seen, 256));
    assert_eq!(folder.read("squares.bin"), [0xcd, 0xab, 0, 0, 9, 0, 0, 0]);

    // A kernel that does not end, without a watchdog and with one.
    folder.write("endless.S", ".text\n.globl kernel\nkernel: j kernel\n");
    folder.succeed("kernel build endless.S -o endless.elf");
    let run = format!(
        "fpga run --port {name} --kernel endless.elf --pcap in.pcap {ARRAY} --timeout 60 --max-packets 6"
    );
    let parts = ["no packet was committed for", "TASK_ROOM = ", "--watchdog CYCLES ends the warps"];
    folder.fail(&format!("{run} --stall-limit 0.3"), &parts);
    folder.fail(
        &format!("{run} --watchdog 2000"),
        &["fault: watchdog at PC", "6 of 6 packets ended with a fault"],
    );
    folder.succeed(&format!("{run} --watchdog 2000 --fail-on-fault=false"));
}
