//! A whole board, its serial pins at a pseudo-terminal: `hermes fpga run` brings it up as if it
//! were one.

#![cfg(unix)]

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use common::Folder;
use serde_json::Value;

/// A small array, so that its model is built quickly; one for all of these tests.
const ARRAY: &str = "--cores 1 --lanes 2 --warps 2 --trace-buffer 256 --baud 3000000";
/// The same in simulation.
const SIMULATED: &str = "--preset fpga --cores 1 --lanes 2 --warps 2";
/// What makes a byte on the line of a simulated board short: 42 cycles.
const SLOW: &str = "--clock 12.5";

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

/// Arguments for a run on this board. A simulated one is some hundred times as slow as one of
/// hardware, so requests have time.
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
    {
        let some = "--max-packets 16";
        let board = Board::start(&folder, &format!("{ARRAY} {SLOW}"));
        let output = folder.hermes(&run(&board, &format!("{ARRAY} {some}")));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{error}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("every packet and verdict agrees"), "{text}");
        assert_eq!((told(&error, "repeated"), told(&error, "frames came damaged")), (0, 0), "{error}");
        check(&folder, &format!("{SIMULATED} {some}"));
    }

    // The same over a line on which one bit in 17,000 is wrong: nothing is lost, and no push is
    // done twice.
    let board = Board::start(&folder, &format!("{ARRAY} {SLOW} --bit-errors 0.00006 --seed 5 --stay"));
    let output = folder.hermes(&run(&board, &format!("{ARRAY} --timeout 2")));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    assert!(told(&error, "repeated") > 2 && told(&error, "frames came damaged") > 0, "{error}");
    check(&folder, SIMULATED);

    // The board is one of another array.
    let before = folder.files();
    let other = ARRAY.replace("--warps 2", "--warps 4");
    folder.fail(&run(&board, &other), &["the bitstream is of another configuration", "hermes fpga build"]);
    assert_eq!(folder.files(), before);
}

#[test]
fn a_board_that_is_unplugged_and_a_line_of_noise_are_told() {
    let folder = folder(600);
    let mut board = Board::start(&folder, &format!("{ARRAY} {SLOW}"));
    let run_it = run(&board, ARRAY);
    let running =
        folder.command(&run_it).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("hermes runs");
    // Seconds are left to the run then: 600 packets are 180,000 bytes, with 42 cycles for each.
    std::thread::sleep(std::time::Duration::from_secs(2));
    board.child.kill().expect("the board is there");
    let output = running.wait_with_output().expect("hermes ends");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("the connection to the board is gone"), "{error}");
    assert_eq!(folder.files(), ["in.pcap"]);

    let board = Board::start(&folder, &format!("{ARRAY} {SLOW} --bit-errors 0.05"));
    folder.fail(&run(&board, &format!("{ARRAY} --timeout 0.5")), &["no answer to 8 requests", &board.device]);
    assert_eq!(folder.files(), ["in.pcap"]);
}

/// The events of a timeline of this kind and category.
fn events(folder: &Folder, name: &str, kind: &str, category: &str) -> Vec<Value> {
    let timeline: Value = serde_json::from_str(&folder.text(name)).expect("a timeline");
    let events = timeline["traceEvents"].as_array().expect("events").clone();
    events.into_iter().filter(|event| event["ph"] == kind && event["cat"] == category).collect()
}

/// First packet, packets, instructions and lane-instructions of every warp of a timeline, in the
/// order of the packets.
fn warps(folder: &Folder, name: &str) -> Vec<[u64; 4]> {
    let fields = ["first", "count", "instructions", "lane_instructions"];
    let of = |event: &Value| fields.map(|field| event["args"][field].as_u64().expect("a number"));
    let mut warps: Vec<_> = events(folder, name, "X", "warp").iter().map(of).collect();
    warps.sort_unstable();
    warps
}

/// The values that a signal of a waveform takes, with their times.
fn values(folder: &Folder, name: &str, signal: &str) -> Vec<(u64, String)> {
    let text = folder.text(name);
    let words = |line: &str| line.split(' ').map(String::from).collect::<Vec<_>>();
    let declared = text.lines().map(words).find(|words| words[0] == "$var" && words[4] == signal);
    let id = &declared.unwrap_or_else(|| panic!("no signal {signal}"))[3];
    let (mut time, mut values) = (0, Vec::new());
    for line in text.lines() {
        if let Some(now) = line.strip_prefix('#') {
            time = now.parse().expect("a time");
        }
        let vector = line.strip_suffix(&format!(" {id}")).and_then(|value| value.strip_prefix('b'));
        let scalar = line.strip_suffix(id.as_str()).filter(|value| value.len() == 1);
        values.extend(vector.or(scalar).map(|value| (time, value.to_string())));
    }
    values
}

/// The cycles in which a signal of `t.vcd` is high.
fn high(folder: &Folder, signal: &str) -> Vec<u64> {
    let values = values(folder, "t.vcd", signal);
    let is_high = |pair: &&[(u64, String)]| pair[0].1 == "1";
    values.windows(2).filter(is_high).flat_map(|pair| pair[0].0..pair[1].0).collect()
}

#[test]
fn a_trace_comes_back_over_the_pins() {
    let folder = folder(8);
    let board = Board::start(&folder, &format!("{ARRAY} {SLOW} --stay"));
    let output = folder.hermes(&run(&board, &format!("{ARRAY} --perfetto t.json --wave t.vcd")));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    assert!(error.contains("trace buffer: ") && !error.contains("overwritten"), "{error}");

    // Each warp executes what it does in simulation, and is committed once, in order.
    let simulated = Folder::for_short_runs();
    simulated.write("in.pcap", folder.read("in.pcap"));
    simulated.succeed(&format!("run {SIMULATED} --app dec-ttl --pcap in.pcap --perfetto run.json"));
    let of_board = warps(&folder, "t.json");
    assert_eq!(of_board, warps(&simulated, "run.json"));
    assert_eq!(
        of_board.iter().map(|warp| warp[0]).collect::<Vec<_>>(),
        (0..8).step_by(2).collect::<Vec<_>>()
    );
    let commits = events(&folder, "t.json", "i", "commit");
    let firsts: Vec<_> = commits.iter().map(|event| event["args"]["first"].as_u64()).collect();
    assert_eq!(firsts, (0..8).step_by(2).map(Some).collect::<Vec<_>>());
    let times: Vec<_> = commits.iter().map(|event| event["ts"].as_u64().expect("a time")).collect();
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
    // The waveform has the same commits.
    assert_eq!(high(&folder, "trace_commit_valid"), times);
    assert_eq!(high(&folder, "trace_issue_valid").len(), 4);
    assert!(high(&folder, "trigger").is_empty());

    // A trigger at an instruction, and few entries behind it
    let trigger = "--trace-trigger symbol=kernel --trace-after 2 --trace-group retirement --wave t.vcd";
    folder.succeed(&run(&board, &format!("{ARRAY} {trigger}")));
    let [time] = high(&folder, "trigger")[..] else { panic!("{:?}", values(&folder, "t.vcd", "trigger")) };
    let retired = values(&folder, "t.vcd", "retire_pc");
    let (_, pc) = retired.iter().rfind(|(when, _)| *when <= time).expect("an instruction");
    assert_eq!(u32::from_str_radix(pc, 2), Ok(0x1000), "{retired:?}");
    // Two entries behind it
    let happened: BTreeSet<_> =
        ["retire_valid", "late_valid"].iter().flat_map(|signal| high(&folder, signal)).collect();
    assert_eq!(happened.iter().filter(|now| **now > time).count(), 2, "{happened:?}");

    // A kernel that does not end
    folder.write("spin.S", ".globl kernel\nkernel:\n nop\nspin: j spin\n");
    folder.succeed("kernel build spin.S -o spin.elf");
    let before = folder.files();
    let device = &board.device;
    folder.fail(
        &format!(
            "fpga run --port {device} {ARRAY} --kernel spin.elf --pcap in.pcap --out spin.pcap --timeout 30 \
             --stall-limit 3 --wave spin.vcd"
        ),
        &[
            "trace buffer: 256 entries",
            "entries before them were overwritten",
            "retired last in the trace:",
            "spin",
            "--watchdog CYCLES",
        ],
    );
    let after: Vec<_> = folder.files().into_iter().filter(|name| !before.contains(name)).collect();
    assert_eq!(after, ["spin.vcd"]);
    assert!(values(&folder, "spin.vcd", "retire_valid").len() > 25);
}

#[test]
fn what_a_trace_needs_is_told() {
    let folder = folder(2);
    let run = "fpga run --port none --app dec-ttl --pcap in.pcap";
    let before = folder.files();
    for (options, parts) in [
        ("--wave t.vcd", ["--wave: the array has no trace buffer", "hermes fpga build"]),
        ("--trace-buffer 100 --wave t.vcd", ["--trace-buffer: 100", "a power of two, 16 to 16384"]),
        (
            "--trace-buffer 64 --trace-trigger fault",
            ["--trace-trigger: expected --perfetto", "--wave with it"],
        ),
        ("--trace-buffer 64 --wave t.vcd --trace-trigger symbol=kernle", ["--trace-trigger", "kernle"]),
        (
            "--trace-buffer 64 --wave t.vcd --trace-trigger fault --trace-after 64",
            ["--trace-after 64", "less than the 64 entries"],
        ),
        ("--trace-buffer 64 --wave no/t.vcd", ["no/t.vcd", "No such file"]),
        ("--trace-group all", ["--trace-group: the array has no trace buffer", "--trace-buffer ENTRIES"]),
        ("--trace-buffer 64 --perfetto t.json --trace-group events", ["--perfetto", "--trace-group all"]),
        ("--trace-buffer 64 --perfetto t.json --trace-group retirement", ["--perfetto", "--trace-group all"]),
        ("--warps 4 --trace-buffer 64 --wave t.vcd --trace-trigger warp=4", ["warp=4", "expected 0 to 3"]),
        (
            "--trace-buffer 64 --wave t.vcd --trace-trigger pc=0x7ff00000",
            ["no instruction is at 0x7ff00000", "in the kernel"],
        ),
    ] {
        folder.fail(&format!("{run} {options}"), &parts);
        assert_eq!(folder.files(), before, "{options}");
    }
    for (options, part) in
        [("--trace-trigger pc=3", "a multiple of 4"), ("--trace-after 3", "--trace-trigger")]
    {
        let output = folder.hermes(&format!("{run} --trace-buffer 64 --wave t.vcd {options}"));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(part), "{error}");
        assert_eq!(folder.files(), before, "{options}");
    }
}

/// A small array with command processor and thread spawner, its memory in SDRAM.
const MACHINE: &str = "--board ulx3s-cp --warps 2 --l1-lines 16 --l2-lines 16 --baud 3000000";

/// Builds Figure 3 of the paper on Pangaea, and the linear filter with its data.
fn build_firmware(folder: &Folder) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels-asm");
    let sources = sources.display();
    folder.succeed(&format!("firmware build {sources}/firmware/examples/figure-3.c -o figure-3.elf"));
    folder.succeed(&format!("firmware build {sources}/media/linear.c -o linear.elf"));
    folder.succeed(
        "gen-media linear --width 16 --height 20 --seed 3 -o in.bin --blank blank.bin --expect want.bin",
    );
}

/// What the program of Figure 3 prints.
const FIGURE_3: &str = "4 jobs of 64 threads, 0 wrong; worked on meanwhile: yes\n";
const LINEAR: &str =
    "--firmware linear.elf --table input=in.bin --table output=blank.bin --expect-dump output=want.bin";

/// Firmware starts threads on the cores and is interrupted by their end; its console comes over a
/// line on which one bit in 17,000 is wrong.
/// Threads that fault, one job behind the other, for ever.
const FAULTS: &str = "#include \"hermes_cp.h\"
static struct spawn_descriptor page[16] __attribute__((aligned(1024)));
static void thread(uint32_t number) { (void)number; __asm__ volatile(\".word 0\"); }
int main(void)
{
    REGISTER(SPAWN_CONTROL) = 1;
    spawn_page(page);
    page[0].shape = 2;
    for (;;) {
        spawn(&page[0], thread);
        while (spawn_busy() & 1)
            ;
    }
}
";

#[test]
fn the_whole_machine_on_a_board() {
    let folder = Folder::new();
    build_firmware(&folder);
    let board = Board::start(&folder, &format!("{MACHINE} {SLOW} --bit-errors 0.00006 --seed 5 --stay"));
    let run = |options: &str| {
        let device = &board.device;
        let timeout = if options.contains("--firmware-timeout") { "" } else { "--firmware-timeout 0" };
        let output =
            folder.hermes(&format!("-v fpga run --port {device} {MACHINE} --timeout 2 {timeout} {options}"));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), text, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text, error) = run("--firmware figure-3.elf");
    assert_eq!((code, &text[..]), (Some(0), FIGURE_3), "{error}");
    let mut repeats = told(&error, "repeated");
    let (code, text, error) = run(LINEAR);
    assert!(code == Some(0) && text.contains("pass 2: "), "{text}{error}");
    repeats += told(&error, "repeated");

    // What is typed in comes back, and the lines of it are the exit code.
    folder.write("echo.c", "#include \"hermes_cp.h\"\nint main(void) { int c, lines = 0; while ((c = getchar()) != 4) { putchar(c ^ 32); lines += c == '\\n'; } return lines; }\n");
    folder.succeed("firmware build echo.c -o echo.elf");
    folder.write("typed.txt", b"none is lost and none comes twice\nor is it so?\n\x04".as_slice());
    let (code, text, error) = run("--firmware echo.elf --firmware-input typed.txt");
    let expected: Vec<u8> =
        folder.read("typed.txt").iter().filter(|byte| **byte != 4).map(|byte| byte ^ 32).collect();
    assert_eq!((code, text.as_bytes()), (Some(2), &expected[..]), "{error}");
    repeats += told(&error, "repeated");
    assert!(repeats > 0, "{error}");

    // What goes wrong is told with its place, and the board is as good as before.
    folder.write(
        "trap.c",
        "#include \"hermes_cp.h\"\nint main(void) { *(volatile int *)0xf0000001 = 1; return 0; }\n",
    );
    folder.succeed("firmware build trap.c -o trap.elf");
    let (code, _, error) = run("--firmware trap.elf");
    assert!(code == Some(1) && error.contains("trap.elf: hart 0: ") && error.contains("trap.c:2"), "{error}");
    // Firmware that is quicker than the line ends by its time-out, and its output is printed.
    folder.write(
        "flood.c",
        "#include \"hermes_cp.h\"\nint main(void) { for (;;) console_put('x'); return 0; }\n",
    );
    folder.write("faults.c", FAULTS);
    for name in ["flood", "faults"] {
        folder.succeed(&format!("firmware build {name}.c -o {name}.elf"));
        let (code, text, error) = run(&format!("--firmware {name}.elf --firmware-timeout 100000"));
        assert!(code == Some(1) && error.contains("(--firmware-timeout)"), "{name}: {error}");
        assert_eq!(text.starts_with("xx"), name == "flood", "{text}");
    }
    let (code, _, error) = run("--firmware figure-3.elf --command-threads 2");
    assert!(code == Some(1) && error.contains("the bitstream is of another configuration"), "{error}");
}

#[test]
fn what_firmware_on_a_board_needs_is_told() {
    let folder = folder(2);
    build_firmware(&folder);
    folder.write("wide.c", "#include \"hermes_cp.h\"\nFIRMWARE_HARTS(4);\nint main(void) { return 0; }\n");
    folder.succeed("firmware build wide.c -o wide.elf");
    let before = folder.files();
    let run = "fpga run --port none --board ulx3s-cp";
    for (options, parts) in [
        ("--firmware none.elf", ["none.elf", "No such file"]),
        (
            "--firmware wide.elf",
            ["wide.elf: firmware_harts is 4, and the array has 1", "--command-threads 4"],
        ),
        (
            "--firmware figure-3.elf --command-threads 0 --spawn-slots 0",
            ["has no command processor", "--command-threads 1"],
        ),
        (
            "--firmware figure-3.elf --network",
            ["--network: not possible together with --board ulx3s-cp", "expected an array without"],
        ),
        (
            "--firmware figure-3.elf --preset node",
            ["--network: not possible together with --board ulx3s-cp", "expected an array without"],
        ),
        (
            "--firmware figure-3.elf --packet-ports",
            ["--packet-ports: not possible together with --board ulx3s-cp", "expected an array without"],
        ),
        (
            "--firmware figure-3.elf --channels 2 --l2-banks 2",
            ["--channels: not possible together with --board ulx3s-cp", "expected an array without"],
        ),
        ("--firmware figure-3.elf --firmware-input none.txt", ["none.txt", "No such file"]),
        (
            "--firmware linear.elf --dump nothing=x.bin",
            ["--dump nothing=x.bin: linear.elf", "no symbol `nothing`"],
        ),
        ("--firmware figure-3.elf", ["none: ", "there is no such device"]),
    ] {
        folder.fail(&format!("{run} {options}"), &parts);
        assert_eq!(folder.files(), before, "{options}");
    }
    // Options of packets, and of firmware, are not for the other.
    for (options, parts) in [
        ("--firmware figure-3.elf --pcap in.pcap", ["--firmware <FILE.elf>", "--pcap <IN>"]),
        ("--firmware figure-3.elf --app dec-ttl", ["--firmware <FILE.elf>", "--app <NAME>"]),
        ("--firmware figure-3.elf --json x.json", ["--firmware <FILE.elf>", "--json <FILE>"]),
        ("--firmware figure-3.elf --stall-limit 3", ["--firmware <FILE.elf>", "--stall-limit <SECONDS>"]),
    ] {
        let output = folder.hermes(&format!("{run} {options}"));
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options}: {error}");
        assert!(parts.iter().all(|part| error.contains(part)), "{options}: {error}");
        assert_eq!(folder.files(), before, "{options}");
    }
    for options in ["--firmware-input in.pcap", "--firmware-timeout 9"] {
        let option = options.split(' ').next().expect("an option");
        let expected = [option, "expected --firmware with it"];
        folder.fail(&format!("{run} --app dec-ttl --pcap in.pcap {options}"), &expected);
    }
}

/// The board as it is built, `ulx3s-cp`, with its SDRAM: some minutes.
#[test]
#[ignore = "minutes: cargo test --test board -- --ignored"]
fn figure_3_and_linear_on_the_machine_of_the_board() {
    let folder = Folder::new();
    build_firmware(&folder);
    let machine = "--board ulx3s-cp --baud 3000000";
    let board = Board::start(&folder, &format!("{machine} --stay"));
    let run = format!("fpga run --port {} {machine} --timeout 30 --firmware-timeout 0", board.device);
    assert_eq!(folder.succeed(&format!("{run} --firmware figure-3.elf")), FIGURE_3);
    folder.succeed(&format!("{run} {LINEAR}"));
}

/// Figure 3 after synthesis, with the memory in block RAM, and with it command processor, thread
/// spawner and user-level interrupts. Some ten minutes.
#[test]
#[ignore = "minutes: cargo test --test board -- --ignored"]
fn figure_3_on_the_netlist_of_the_machine() {
    let folder = Folder::new();
    build_firmware(&folder);
    let machine = "--board ulx3s-cp --warps 2 --l1-lines 16 --l2-lines 16 --l2-ways 1 --instruction-cache-lines 16 --baud 3000000";
    let board = Board::start(&folder, &format!("{machine} --clock 12.5 --memory 131072 --netlist"));
    let run = format!("fpga run --port {} {machine} --timeout 60 --firmware-timeout 0", board.device);
    assert_eq!(folder.succeed(&format!("{run} --firmware figure-3.elf")), FIGURE_3);
}

/// What the issue of boards asks for: the whole array of a ULX3S, 1,000 packets. Some minutes.
#[test]
#[ignore = "minutes: cargo test --test board -- --ignored"]
fn a_thousand_packets_through_a_ulx3s() {
    let folder = folder(1_000);
    let board = Board::start(&folder, "--bit-errors 0.000003 --baud 3000000");
    folder.succeed(&run(&board, "--baud 3000000"));
    check(&folder, "--preset fpga");
}

/// After synthesis: the LUTs, flip-flops, memories and multipliers of the device do what the
/// Verilog says. Some minutes; the slow clock makes bytes on the line short.
#[test]
#[ignore = "minutes: cargo test --test board -- --ignored"]
fn a_hundred_packets_through_the_netlist_of_a_ulx3s() {
    let folder = folder(100);
    let array = "--lanes 2 --warps 2 --l1-lines 16 --l2-lines 16 --l2-ways 1 --instruction-cache-lines 16";
    let board =
        Board::start(&folder, &format!("{array} --baud 3000000 --clock 12.5 --memory 32768 --netlist"));
    let text = folder.succeed(&run(&board, &format!("{array} --baud 3000000")));
    assert!(text.contains("every packet and verdict agrees"), "{text}");
    check(&folder, &format!("--preset fpga {array}"));
}
