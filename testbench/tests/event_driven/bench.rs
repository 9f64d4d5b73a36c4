//! Puts a test bench around the array, runs it in Icarus Verilog, and compares what comes out with
//! the golden model.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use hermes_artefacts::FileLayout;
use hermes_hdl::emit::{Design, Direction};
use hermes_rtl::config::{Config, MAX_WARPS};
use hermes_rtl::host::registers::{offset, registers_of, Access};
use hermes_testbench::apps::{App, AppEntry, Inputs};
use hermes_testbench::cosim::{ArraySetup, Host, KernelImage, Layout};
use hermes_testbench::golden::Golden;
use hermes_testbench::slot::{SlotPacket, FRAME_OFFSET};
use hermes_testbench::traffic::{Generator, Kind, Traffic};
use hermes_testbench::verdict::Verdict;

use crate::recorder::Recorder;

const AXI_MEMORY: &str = include_str!("verilog/axi_memory.v");
const REGISTER_MASTER: &str = include_str!("verilog/register_master.v");
const BUS_END: &str = include_str!("verilog/bus_end.vh");
const STREAMS: &str = include_str!("verilog/streams.v");

const LINE: usize = 64;
const SLOT_BYTES_LOG2: u32 = 7;
const CYCLES: u64 = 2_000_000;
/// Seconds; a simulation that takes longer is taken to be stuck in one moment of simulated time.
const LIMIT: &str = "600";

/// How the packets come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// The host writes them to the memory and reads them there.
    Memory,
    /// AXI4-Stream.
    Ports,
}

/// What a run gave, after every packet was found to be right.
pub struct Outcome {
    pub forwarded: usize,
    pub cycles: u64,
}

/// Bits as hexadecimal digits for `$readmemh`, from bytes with the lowest first.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().rev().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// An entry of `register_master`.
fn entry(operation: u64, offset: u32, value: u32) -> String {
    format!("{:013x}\n", operation << 44 | u64::from(offset) << 32 | u64::from(value))
}

fn poll(name: &str, value: u32) -> String {
    entry(3, offset(name), value)
}

fn write(name: &str, value: u32) -> String {
    entry(1, offset(name), value)
}

/// The beats of `stream_source`: {tlast, tuser, tkeep, tdata} in 609 bits.
fn beats(packets: &[SlotPacket]) -> Vec<String> {
    let mut beats = Vec::new();
    for packet in packets {
        let last = packet.frame.len().div_ceil(LINE) - 1;
        for (i, chunk) in packet.frame.chunks(LINE).enumerate() {
            let mut bytes = chunk.to_vec();
            bytes.resize(LINE, 0);
            let keep = u64::MAX >> (LINE - chunk.len());
            bytes.extend(keep.to_le_bytes());
            bytes.extend(packet.port.to_le_bytes());
            bytes.push(u8::from(i == last));
            beats.push(hex(&bytes));
        }
    }
    beats
}

/// Files and parameters of the test bench.
struct Stimulus {
    lines: usize,
    entries: usize,
    beats: usize,
    pause: u32,
    seed: u64,
}

/// The module around the array: clock, reset, the memory with a slave for each channel, register
/// master, streams. All ports are connected by name.
fn top(design: &Design, channels: usize, stimulus: &Stimulus) -> String {
    let Stimulus { lines, entries, beats, pause, seed } = stimulus;
    let mut text = String::from(
        "`timescale 1ns / 1ps\nmodule bench;\n  reg clk = 1'b0;\n  reg rst = 1'b1;\n  wire done;\n  integer cycles = 0;\n",
    );
    for port in design.ports.iter().filter(|p| !matches!(p.name.as_str(), "clk" | "rst")) {
        let _ = writeln!(text, "  wire [{}:0] {};", port.width - 1, port.name);
    }
    // The ports with a prefix, by their names behind it; the ends of the buses lack some.
    let connections = |prefix: &str| {
        let lacking = |name: &str| {
            ["lock", "cache", "prot", "qos"].iter().any(|end| name.ends_with(end))
                || prefix == "s_axil_" && name == "wstrb"
        };
        let inside = design.ports.iter().filter_map(|p| Some((p.name.strip_prefix(prefix)?, &p.name)));
        inside
            .filter(|(name, _)| prefix.is_empty() || !lacking(name))
            .map(|(name, port)| format!(", .{name}({port})"))
            .collect::<String>()
    };
    let _ = writeln!(text, "  hermes_top array ({});", &connections("")[2..]);
    for port in design.ports.iter().filter(|p| p.direction == Direction::Input) {
        if port.name.starts_with("s_axil_") && (port.name.ends_with("prot") || port.name.ends_with("wstrb")) {
            let _ = writeln!(
                text,
                "  assign {} = {{{}{{1'b{}}}}};",
                port.name,
                port.width,
                u8::from(port.width == 4)
            );
        }
    }
    let _ =
        writeln!(text, "  reg [511:0] lines [0:{lines} - 1];\n  initial $readmemh(\"memory.hex\", lines);");
    for channel in 0..channels {
        let _ = writeln!(
            text,
            "  axi_memory #(.LINES({lines}), .PAUSE({pause}), .SEED({seed} + {channel})) memory_{channel} (.clk(clk), .rst(rst){});",
            connections(&format!("m_axi_{channel}_")),
        );
    }
    let _ = writeln!(
        text,
        "  register_master #(.ENTRIES({entries}), .PAUSE({pause}), .SEED({seed} + 11), .LIST(\"registers.hex\")) registers \
           (.clk(clk), .rst(rst), .done(done){});",
        connections("s_axil_"),
    );
    if *beats > 0 {
        let _ = writeln!(
            text,
            "  stream_source #(.BEATS({beats}), .PAUSE({pause}), .SEED({seed} + 12), .LIST(\"beats.hex\")) source \
               (.clk(clk), .rst(rst), .start(registers.entry > 15){});\n  \
               stream_sink #(.PAUSE({pause}), .SEED({seed} + 13)) sink (.clk(clk), .rst(rst){});",
            connections("s_axis_rx_"),
            connections("m_axis_tx_"),
        );
    }
    let _ = write!(
        text,
        "  always #1 clk = !clk;\n  \
           always @(posedge clk) begin\n    \
             cycles <= cycles + 1;\n    \
             if (cycles == 4) rst <= 1'b0;\n    \
             if (done) begin $writememh(\"after.hex\", lines); $display(\"DONE %0d\", cycles); $finish; end\n    \
             if (cycles == {CYCLES}) begin $display(\"FAIL: no end after %0d cycles\", cycles); $finish; end\n  \
           end\nendmodule\n",
    );
    text
}

/// The packets, and the array's set-up as a recorded list of register accesses.
struct Prepared {
    app: Box<dyn App>,
    packets: Vec<SlotPacket>,
    layout: Layout,
    recorder: Recorder,
}

fn prepare(config: &Config, app: &str, through: Through, count: usize, seed: u64) -> Prepared {
    let entry = AppEntry::find(app).unwrap();
    let app = entry.load(&Inputs::default()).unwrap();
    let ring_slots_log2 = count.next_power_of_two().ilog2() + 1;
    let setup = ArraySetup { ring_slots_log2, slot_bytes_log2: SLOT_BYTES_LOG2, ..ArraySetup::default() };
    let mut host = Host::new(Recorder::new(config, 8 << 20)).unwrap();
    host.load_kernel(&KernelImage::from(&entry.kernel(false).unwrap())).unwrap();
    let layout = host.configure(&setup).unwrap();
    let traffic = Traffic { kind: Kind::Fixed(64), seed, bad_share: 20.0, rate: 100.0 };
    let packets: Vec<SlotPacket> =
        Generator::new(traffic).take(count).map(|frame| SlotPacket::new(&frame, SLOT_BYTES_LOG2)).collect();
    if through == Through::Ports {
        host.write("PORTS", 1).unwrap();
    }
    host.start(false).unwrap();
    let mut recorder = host.into_device();
    if through == Through::Memory {
        for (i, packet) in packets.iter().enumerate() {
            let slot = layout.ring_base as usize + (i << SLOT_BYTES_LOG2);
            let descriptor =
                packet.descriptor(0).iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
            recorder.memory[slot..][..16].copy_from_slice(&descriptor);
            recorder.memory[slot + FRAME_OFFSET..][..packet.frame.len()].copy_from_slice(&packet.frame);
        }
    }
    // Nothing is allocated behind the stacks.
    let threads = config.cores * MAX_WARPS * config.lanes;
    recorder.memory.truncate(layout.stack_base as usize + (threads << setup.stack_bytes_log2));
    Prepared { app, packets, layout, recorder }
}

/// The list of `register_master`: set-up, pushes, the wait for the last packet, write-back of the
/// caches, and every register.
fn accesses(config: &Config, through: Through, prepared: &Prepared) -> Vec<String> {
    let count = prepared.packets.len() as u32;
    let mut list: Vec<String> =
        prepared.recorder.writes.iter().map(|(at, value)| entry(1, *at, *value)).collect();
    if through == Through::Memory {
        // Full warps, and a partial one at the end
        list.extend([write("TASK_PUSH", count / 3), write("TASK_PUSH", count - count / 3)]);
    }
    list.push(poll("COMMITTED_PACKETS", count));
    if through == Through::Ports {
        list.push(poll("PORTS_BUSY", 0));
    }
    list.extend([write("L2_MAINTENANCE", 2), poll("L2_MAINTENANCE", 0)]);
    let registers = registers_of(config);
    let readable = registers.iter().filter(|r| r.access != Access::WriteOnly);
    list.extend(readable.map(|r| entry(2, r.offset, 0)));
    list.push(entry(0, 0, 0));
    list
}

/// Runs a tool; returns what it says.
fn tool(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new("timeout").args([LIMIT, program]).args(arguments).current_dir(folder).output();
    let output = output.unwrap_or_else(|e| panic!("cannot run timeout: {e}"));
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => text.into_owned(),
        Some(124) => panic!("{program} does not end within {LIMIT} seconds: blocks wake each other?"),
        Some(127) => panic!("cannot run {program}; it must be installed for this test"),
        _ => panic!("{program} {arguments:?}:\n{text}"),
    }
}

/// Runs `count` packets of `app`, which takes no inputs. `pause` is the chance in percent of a
/// pause in a cycle, on each channel.
///
/// # Panics
/// If a packet or a verdict is wrong, an X leaves the array, or the run does not end.
pub fn run(config: &Config, app: &str, through: Through, count: usize, pause: u32, seed: u64) -> Outcome {
    let design = hermes_rtl::top::emit_top(config).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    for (name, text) in
        hermes_artefacts::all(&design, config, &registers_of(config), 50.0, FileLayout::OneFile, None)
    {
        put(&name, &text);
    }
    let prepared = prepare(config, app, through, count, seed);
    let list = accesses(config, through, &prepared);
    let beats = if through == Through::Ports { beats(&prepared.packets) } else { Vec::new() };
    let lines: Vec<String> = prepared.recorder.memory.chunks(LINE).map(hex).collect();
    put("bus_end.vh", BUS_END);
    put("memory.hex", &lines.join("\n"));
    put("registers.hex", &list.concat());
    put("beats.hex", &beats.join("\n"));
    let stimulus =
        Stimulus { lines: lines.len(), entries: list.len(), beats: beats.len(), pause, seed: seed % 1000 };
    put(
        "bench.v",
        &format!("{}\n{AXI_MEMORY}\n{REGISTER_MASTER}\n{STREAMS}", top(&design, config.channels, &stimulus)),
    );
    tool(
        folder.path(),
        "iverilog",
        &["-g2005", "-s", "bench", "-o", "bench.vvp", "bench.v", "-f", "hermes_top.f"],
    );
    let said = tool(folder.path(), "vvp", &["-n", "bench.vvp"]);
    let failure = said.lines().find(|line| line.starts_with("FAIL"));
    assert!(failure.is_none(), "{config:?}, {app}, pauses {pause} %: {}", failure.unwrap_or_default());
    let cycles = said.lines().find_map(|line| line.strip_prefix("DONE ")).expect("the bench ends");
    let cycles = cycles.trim().parse().unwrap();
    let after = std::fs::read_to_string(folder.path().join("after.hex")).unwrap();
    let forwarded = match through {
        Through::Memory => check_memory(&prepared, &memory(&after)),
        Through::Ports => check_frames(&prepared, &said),
    };
    Outcome { forwarded, cycles }
}

/// Lines written by `$writememh`.
fn memory(text: &str) -> Vec<u8> {
    let words = text.lines().filter(|line| !line.starts_with("//"));
    words.flat_map(bytes_of).collect()
}

/// Hexadecimal digits as bytes, the lowest first.
fn bytes_of(digits: &str) -> Vec<u8> {
    let byte = |i: usize| &digits[i..i + 2];
    let all = (0..digits.len()).step_by(2).rev().map(byte);
    all.map(|d| u8::from_str_radix(d, 16).unwrap_or_else(|_| panic!("X in {digits}"))).collect()
}

/// Compares verdicts and slots with the golden model; gives the number of packets forwarded.
fn check_memory(prepared: &Prepared, memory: &[u8]) -> usize {
    let Prepared { app, packets, layout, .. } = prepared;
    let mut forwarded = 0;
    for (i, packet) in packets.iter().enumerate() {
        let word = &memory[layout.verdict_base as usize + 4 * i..][..4];
        let verdict = Verdict(u32::from_le_bytes(word.try_into().unwrap()));
        let slot = layout.ring_base as usize + (i << SLOT_BYTES_LOG2) + FRAME_OFFSET;
        let frame = memory[slot..][..packet.frame.len()].to_vec();
        if let Some(difference) = app.check(i as u64, packet, Golden { verdict, frame }) {
            panic!("{difference}");
        }
        forwarded += usize::from(verdict.is_forward());
    }
    forwarded
}

/// Compares the frames that left with those that the golden model forwards; gives their number.
fn check_frames(prepared: &Prepared, said: &str) -> usize {
    let mut frames: Vec<(u32, Vec<u8>)> = Vec::new();
    let mut open = Vec::new();
    for beat in said.lines().filter_map(|line| line.strip_prefix("BEAT ")) {
        let fields: Vec<&str> = beat.split(' ').collect();
        let keep = u64::from_str_radix(fields[2], 16).unwrap().count_ones() as usize;
        open.extend(&bytes_of(fields[3])[..keep]);
        if fields[0] == "1" {
            frames.push((u32::from_str_radix(fields[1], 16).unwrap(), std::mem::take(&mut open)));
        }
    }
    let golden = prepared.packets.iter().enumerate().map(|(i, p)| prepared.app.golden(i as u64, p));
    let expected: Vec<(u32, Vec<u8>)> =
        golden.filter(|g| g.verdict.is_forward()).map(|g| (g.verdict.0, g.frame)).collect();
    assert_eq!(frames.len(), expected.len(), "frames that left");
    for (i, (frame, expected)) in frames.iter().zip(&expected).enumerate() {
        assert_eq!(frame, expected, "frame {i} that left");
    }
    frames.len()
}
