//! Small designs with the ports of the array, to try memory, registers and sessions without the
//! array.

use std::fmt::Write as _;

use hermes_rtl::host::registers::{offset, ID};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::{Direction, Model, ModelOptions};

use super::*;
use crate::test_seed;

/// `text` as the body of a module with the ports of the array. Ports that `text` does not assign
/// are tied to 0; `@NAME@` becomes the offset of a register.
fn design(name: &str, text: &str) -> Simulation {
    design_with(name, text, MemoryOptions { latency: Latency::Fixed(10), ..MemoryOptions::default() })
}

fn design_with(name: &str, text: &str, memory: MemoryOptions) -> Simulation {
    let mut ports =
        [AxiLitePorts::ports("s_axil"), Axi4Ports::ports("m_axi_0"), TracePorts::ports("trace")].concat();
    if text.contains("m_axi_1") {
        ports.extend(Axi4Ports::ports("m_axi_1"));
    }
    let mut verilog = format!("module {name}(input wire clk, input wire rst");
    let mut ties = String::new();
    for port in &ports {
        let _ = write!(verilog, ",\n  {} wire [{}:0] {}", port.direction, port.width - 1, port.name);
        if port.direction == Direction::Output && !text.contains(&format!("assign {} ", port.name)) {
            let _ = writeln!(ties, "assign {} = 0;", port.name);
        }
    }
    let mut body = text.to_string();
    for register in hermes_rtl::host::registers::REGISTERS {
        body = body.replace(&format!("@{}@", register.name), &format!("12'd{}", register.offset));
    }
    let _ = write!(verilog, ");\n{ties}\n{body}\nendmodule\n");
    let options = ModelOptions { ports, ..ModelOptions::new(name) };
    let model = Model::build(&verilog, &options).unwrap().instantiate().unwrap();
    Simulation::new(model, 1 << 20, memory).unwrap()
}

/// An AXI4-Lite slave: `set`, `set_offset`, `set_value` for a cycle at a write, `get_offset`
/// answered by `get_value`.
const REGISTERS: &str = "
  reg answered, read; reg [31:0] read_value; reg [1:0] read_response;
  wire set = s_axil_awvalid & s_axil_wvalid & ~answered & ~hold;
  wire [11:0] set_offset = s_axil_awaddr; wire [31:0] set_value = s_axil_wdata;
  wire [11:0] get_offset = s_axil_araddr;
  assign s_axil_awready = set; assign s_axil_wready = set; assign s_axil_bvalid = answered;
  assign s_axil_arready = ~read; assign s_axil_rvalid = read; assign s_axil_rdata = read_value;
  assign s_axil_rresp = read_response;
  always @(posedge clk) begin
    if (set) answered <= 1; else if (s_axil_bready) answered <= 0;
    if (~read) begin read <= s_axil_arvalid; read_value <= get_value; read_response <= get_error ? 2'd2 : 2'd0; end
    else if (s_axil_rready) read <= 0;
    if (rst) begin answered <= 0; read <= 0; end
  end
";

/// Copies lines, four at a time with an ID each, and counts the answers that are not OKAY.
/// Registers: 0 source, 4 target, 8 lines (a write starts), 12 lines done, 16 errors; reading 20 is
/// an error.
const COPIER: &str = "
  reg [31:0] source, target, lines, asked, done, errors;
  wire hold = 1'b0; wire get_error = get_offset == 12'd20;
  wire [31:0] get_value = get_offset == 12'd12 ? done : errors;
  reg [511:0] data [0:3]; reg [31:0] line [0:3]; reg [3:0] used, full, sent;
  reg aw_done, w_done;
  wire [1:0] next = asked[1:0];
  wire [1:0] out = (full[0] & ~sent[0]) ? 2'd0 : (full[1] & ~sent[1]) ? 2'd1 : (full[2] & ~sent[2]) ? 2'd2 : 2'd3;
  wire have = |(full & ~sent);
  reg writing; reg [1:0] slot;
  assign m_axi_0_arvalid = (asked < lines) & ~used[next]; assign m_axi_0_arid = {6'd0, next};
  assign m_axi_0_araddr = source + (asked << 6); assign m_axi_0_arsize = 3'd6; assign m_axi_0_arburst = 2'd1;
  assign m_axi_0_rready = 1'b1;
  assign m_axi_0_awvalid = writing & ~aw_done; assign m_axi_0_awid = {6'd0, slot};
  assign m_axi_0_awaddr = target + (line[slot] << 6); assign m_axi_0_awsize = 3'd6; assign m_axi_0_awburst = 2'd1;
  assign m_axi_0_wvalid = writing & ~w_done; assign m_axi_0_wdata = data[slot]; assign m_axi_0_wlast = 1'b1;
  assign m_axi_0_wstrb = 64'hffffffffffffffff; assign m_axi_0_bready = 1'b1;
  wire aw_now = aw_done | m_axi_0_awready; wire w_now = w_done | m_axi_0_wready;
  always @(posedge clk) begin
    if (m_axi_0_arvalid & m_axi_0_arready) begin used[next] <= 1; line[next] <= asked; asked <= asked + 1; end
    if (m_axi_0_rvalid) begin
      data[m_axi_0_rid[1:0]] <= m_axi_0_rdata; full[m_axi_0_rid[1:0]] <= 1;
      if (m_axi_0_rresp != 0) errors <= errors + 1;
    end
    if (~writing & have) begin writing <= 1; slot <= out; sent[out] <= 1; aw_done <= 0; w_done <= 0; end
    if (writing) begin aw_done <= aw_now; w_done <= w_now; if (aw_now & w_now) writing <= 0; end
    if (m_axi_0_bvalid) begin
      used[m_axi_0_bid[1:0]] <= 0; full[m_axi_0_bid[1:0]] <= 0; sent[m_axi_0_bid[1:0]] <= 0; done <= done + 1;
      if (m_axi_0_bresp != 0) errors <= errors + 1;
    end
    if (set) case (set_offset)
      12'd0: source <= set_value;
      12'd4: target <= set_value;
      12'd8: begin lines <= set_value; asked <= 0; done <= 0; errors <= 0; end
    endcase
    if (rst) begin lines <= 0; asked <= 0; used <= 0; full <= 0; sent <= 0; writing <= 0; done <= 0; errors <= 0; end
  end
";

fn copy(simulation: &mut Simulation, source: u32, target: u32, lines: u32) -> (u64, u32) {
    let start = simulation.cycle();
    simulation.write_register(0, source).unwrap();
    simulation.write_register(4, target).unwrap();
    simulation.write_register(8, lines).unwrap();
    while simulation.read_register(12).unwrap() != lines {
        assert!(simulation.cycle() - start < 200_000);
    }
    (simulation.cycle() - start, simulation.read_register(16).unwrap())
}

#[test]
fn lines_are_copied_under_every_latency_and_back_pressure() {
    let seed = test_seed();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut bytes = vec![0; 100 * LINE];
    random.fill(&mut bytes[..]);
    let cases = [
        (Latency::Fixed(1), 0),
        (Latency::Fixed(100), 0),
        (Latency::Fixed(7), 50),
        (Latency::Random(1, 40), 0),
        (Latency::Random(1, 40), 70),
        (Latency::Dram(DramTiming { queue: 2, ..DramTiming::default() }), 0),
    ];
    let mut times = Vec::new();
    for (latency, stall_percent) in cases {
        let options = MemoryOptions { latency, stall_percent, seed, failing: Vec::new() };
        let mut simulation = design_with("copier", &(COPIER.to_string() + REGISTERS), options);
        simulation.write_memory(0x1000, &bytes).unwrap();
        let (cycles, errors) = copy(&mut simulation, 0x1000, 0x8000, 100);
        let mut copied = vec![0; bytes.len()];
        simulation.read_memory(0x8000, &mut copied).unwrap();
        assert!(copied == bytes && errors == 0, "{latency:?}, {stall_percent} % stalls");
        let statistics = simulation.memory_statistics().total();
        let dram = matches!(latency, Latency::Dram(_));
        assert_eq!(statistics.row_hits + statistics.row_misses, if dram { 200 } else { 0 });
        assert_eq!((statistics.lines_read, statistics.lines_written, statistics.errors), (100, 100, 0));
        assert_eq!(statistics.stalled_cycles > 0, stall_percent > 0 || dram);
        assert!((2..=4).contains(&statistics.most_outstanding) && simulation.outstanding() == 0);
        times.push(cycles);
    }
    // 25 rounds of four lines, each a read and a write of 100 cycles.
    assert!(times[1] > 5000 && times[1] < 6500 && times[0] < 1000, "{times:?}");
}

#[test]
fn channels_share_the_bytes_and_count_apart() {
    // Reads through channel 0, writes through channel 1.
    let mut text = COPIER.to_string();
    for signals in ["aw", "w", "b"] {
        for name in Axi4Ports::SIGNALS.iter().map(|s| s.0).filter(|name| name.starts_with(signals)) {
            text = text.replace(&format!("m_axi_0_{name}"), &format!("m_axi_1_{name}"));
        }
    }
    let options =
        MemoryOptions { latency: Latency::Random(1, 40), seed: test_seed(), ..MemoryOptions::default() };
    let mut simulation = design_with("copier", &(text + REGISTERS), options);
    simulation.write_memory(0x1000, &[7; 1280]).unwrap();
    assert_eq!(copy(&mut simulation, 0x1000, 0x8000, 20).1, 0);
    assert_eq!(simulation.image().read_u32(0x84fc).unwrap(), 0x0707_0707);
    let statistics = simulation.memory_statistics();
    assert_eq!(statistics.cycles, simulation.cycle());
    let lines: Vec<_> = statistics.channels.iter().map(|c| (c.lines_read, c.lines_written)).collect();
    assert_eq!(lines, [(20, 0), (0, 20)]);
    // What is read through one channel must not be under way through the other.
    simulation.write_register(0, 0x8000).unwrap();
    simulation.write_register(4, 0x8040).unwrap();
    simulation.write_register(8, 20).unwrap();
    let error = simulation.run(2000).unwrap_err().to_string();
    assert!(error.contains("of this line is not answered"), "{error}");
}

#[test]
fn bad_addresses_and_registers_are_answered_with_errors() {
    let options = MemoryOptions { failing: vec![(0x2000, 0x203f)], ..MemoryOptions::default() };
    let mut simulation = design_with("copier", &(COPIER.to_string() + REGISTERS), options);
    simulation.write_memory(0x9000, &[1; 128]).unwrap();
    // Two lines from the end of the memory: one outside (a read error), written as zeros.
    assert_eq!(copy(&mut simulation, (1 << 20) - 64, 0x9000, 2).1, 1);
    assert_eq!(simulation.image().read_u32(0x9040).unwrap(), 0);
    // A failing line is neither read nor written.
    assert_eq!(copy(&mut simulation, 0x2000, 0x2000, 1).1, 2);
    assert_eq!(simulation.memory_statistics().total().errors, 3);
    let error = simulation.read_register(20).unwrap_err().to_string();
    assert_eq!(error, "the access to register RING_SLOTS_LOG2 was answered with SLVERR");
}

#[test]
fn broken_rules_stop_the_simulation() {
    let wrong = [
        ("assign m_axi_0_arburst = 2'd1", "assign m_axi_0_arburst = 2'd0", "ARBURST is 0"),
        (
            "assign m_axi_0_wlast = 1'b1",
            "assign m_axi_0_wlast = 1'b0",
            "WLAST is missing in a write of 1 beats to",
        ),
        ("source + (asked << 6)", "source + (asked << 6) + 4", "is not at the start of a line"),
        ("writing & ~aw_done;", "writing & ~aw_done & toggle;", "AWVALID fell before its transfer"),
        ("= target + (line[slot] << 6)", "= target + {19'd0, toggle, 12'd0}", "the payload of AW changed"),
    ];
    for (good, bad, expected) in wrong {
        let text =
            COPIER.replace(good, bad) + REGISTERS + "reg toggle; always @(posedge clk) toggle <= ~toggle;";
        let options = MemoryOptions { stall_percent: 80, seed: 1, ..MemoryOptions::default() };
        let mut simulation = design_with("copier", &text, options);
        simulation.write_register(8, 50).unwrap();
        let error = simulation.run(20_000).unwrap_err().to_string();
        assert!(error.contains(expected), "{bad}: {error}");
    }
}

#[test]
fn an_access_that_is_not_answered_ends() {
    let text = COPIER.replace("hold = 1'b0", "hold = 1'b1") + REGISTERS;
    let mut simulation = design("copier", &text);
    simulation.set_access_limit(50);
    let error = simulation.write_register(offset("TASK_PUSH"), 1).unwrap_err().to_string();
    assert_eq!(error, "the access to register TASK_PUSH did not end within 50 cycles");
}

/// What the array does, in miniature: 2 cores of one warp slot and 4 lanes. It issues one or two
/// warps, serves the second one first, and commits both in order. A kernel is built in: the first
/// byte of the frame rises by 1, the verdict is the length, or a fault (cause 2) when the second
/// byte is 0xff. A verdict for a first byte of 0xee never comes; that for 0xed comes after 20,000
/// cycles, in each of which an instruction retires. Maintenance takes 100 cycles; its register
/// counts them from bit 8 on.
const ARRAY: &str = include_str!("tests/mini_array.vh");

fn array(memory: MemoryOptions) -> Host<Simulation> {
    let text = ARRAY.replace("@IDVALUE@", &format!("32'd{ID}")) + REGISTERS;
    Host::new(design_with("mini_array", &text, memory)).unwrap()
}

const KERNEL: KernelImage = KernelImage { segments: Vec::new(), entry: 0x1000, registers: 32 };

/// Frames of various lengths; the bytes tell the packets apart.
fn frames(count: usize, arrival: impl Fn(usize) -> u64) -> Vec<Packet> {
    let frame = |i: usize| (0..14 + i % 90).map(|j| (i * 7 + j) as u8 & 0x7f).collect();
    (0..count).map(|i| Packet { frame: frame(i), port: i as u32, flags: 0, arrival: arrival(i) }).collect()
}

fn run_all(host: &mut Host<Simulation>, setup: &ArraySetup, packets: &[Packet]) -> RunResult {
    let layout = host.configure(setup).unwrap();
    run(host, setup, &layout, packets, RunOptions::default(), &mut |_| {}).unwrap()
}

fn check(packets: &[Packet], result: &RunResult) {
    assert_eq!(result.packets.len(), packets.len());
    for (index, (packet, record)) in packets.iter().zip(&result.packets).enumerate() {
        assert_eq!(record.index, index as u64);
        let mut expected = packet.frame.clone();
        let fault = expected[1] == 0xff;
        expected[0] += 1;
        assert_eq!(record.bytes, expected, "packet {index}");
        let verdict = if fault { 0xc000_0002 } else { expected.len() as u32 };
        assert_eq!(record.verdict, verdict, "packet {index}");
        let t = record.times;
        assert!(packet.arrival <= t.arrival && t.arrival < t.start, "packet {index}: {t:?}");
        assert!(t.start < t.finish && t.finish < t.commit, "packet {index}: {t:?}");
    }
    assert!(result.packets.windows(2).all(|w| w[0].times.commit <= w[1].times.commit));
}

const SMALL: ArraySetup = ArraySetup {
    ring_slots_log2: 4,
    slot_bytes_log2: 7,
    mcw: 1,
    timeout: 64,
    adaptive: None,
    eager: false,
    stack_bytes_log2: 8,
    watchdog: 0,
    argument: Vec::new(),
    egress: None,
};

#[test]
fn packets_go_through_a_small_ring_in_order() {
    let seed = test_seed();
    for (latency, stall_percent) in [(Latency::Fixed(20), 0), (Latency::Random(1, 30), 50)] {
        let mut host = array(MemoryOptions { latency, stall_percent, seed, failing: Vec::new() });
        assert_eq!(
            host.info(),
            ArrayInfo {
                lanes: 4,
                cores: 2,
                warps: 1,
                local_window: false,
                spawner: false,
                load_counters: false,
                functions: 0,
                function_branches: false,
            }
        );
        host.load_kernel(&KERNEL).unwrap();
        let packets = frames(300, |_| 0);
        let result = run_all(&mut host, &SMALL, &packets);
        check(&packets, &result);
        assert_eq!(result.cycles, result.packets[299].times.commit + 1);
        assert!(result.deferred_cycles > 100 && result.skipped_cycles == 0 && result.kilohertz() > 0.0);
        assert_eq!(result.memory.total().lines_written, 600);
        assert_eq!(result.counters.iter().map(|c| c.core.instructions).collect::<Vec<_>>(), [7, 8]);
        // Once for each quarter of the ring (4 slots), or two that were committed together.
        let maintenances = host.read("L2_MAINTENANCE").unwrap() >> 8;
        assert!((38..=75).contains(&maintenances), "{maintenances}");
        assert!(result.cycles > 100 * u64::from(maintenances) / 2);
        // The second warp of a pair finishes first.
        let (a, b) = (result.packets[0].times, result.packets[4].times);
        assert!(a.core == 0 && b.core == 1 && b.finish < a.finish && a.commit < b.commit, "{a:?} {b:?}");
    }
}

#[test]
fn slots_are_used_again_only_after_maintenance() {
    let mut host = array(MemoryOptions { latency: Latency::Fixed(5), ..MemoryOptions::default() });
    host.load_kernel(&KERNEL).unwrap();
    let layout = host.configure(&SMALL).unwrap();
    // The descriptor's second word is the packet's number: which packet stands in each slot.
    let (mut committed, mut last, mut reused) = (0, [0_u32; 16], 0);
    let mut commits = std::collections::VecDeque::new();
    let violations = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let notes = std::rc::Rc::clone(&violations);
    host.device_mut().set_observer(Box::new(move |cycle, _, events, image| {
        for (_, event) in events {
            if let Event::Commit(_, packets) = event {
                committed += packets.count;
                commits.push_back((committed, cycle));
            }
        }
        for (slot, last) in (0_u32..).zip(&mut last) {
            let number = image.read_u32(layout.ring_base + 128 * slot + 4).unwrap();
            if number != *last && number >= 16 {
                // The packet that stood here was committed at least a maintenance ago.
                let old = commits.iter().find(|(count, _)| *count > *last);
                if old.is_none_or(|(_, at)| cycle < at + 100) {
                    notes.borrow_mut().push(format!("cycle {cycle}: packet {number} in slot {slot}"));
                }
                reused += 1;
            }
            *last = number;
        }
        if committed == 200 && reused < 184 {
            notes.borrow_mut().push(format!("{reused} slots were used again"));
        }
        Ok(())
    }));
    let packets = frames(200, |_| 0);
    let result = run(&mut host, &SMALL, &layout, &packets, RunOptions::default(), &mut |_| {}).unwrap();
    check(&packets, &result);
    assert_eq!(*violations.borrow(), Vec::<String>::new());
}

#[test]
fn arrivals_are_kept_and_idle_time_is_left_out() {
    let mut host = array(MemoryOptions::default());
    host.load_kernel(&KERNEL).unwrap();
    let packets = frames(12, |i| if i < 6 { 10 * i as u64 } else { 50_000_000 + i as u64 });
    let result = run_all(&mut host, &SMALL, &packets);
    check(&packets, &result);
    for (packet, record) in packets.iter().zip(&result.packets) {
        assert_eq!(record.times.arrival, packet.arrival);
        assert!(record.times.commit - record.times.arrival < 4000);
    }
    assert_eq!(result.deferred_cycles, 0);
    assert!(result.skipped_cycles > 49_900_000 && result.simulated_cycles < 30_000);
}

#[test]
fn every_fault_is_recorded() {
    let mut host = array(MemoryOptions { latency: Latency::Fixed(5), ..MemoryOptions::default() });
    host.load_kernel(&KERNEL).unwrap();
    let mut packets = frames(100, |i| 20 * i as u64);
    let faulty = [3_usize, 4, 5, 50, 99];
    faulty.iter().for_each(|&i| packets[i].frame[1] = 0xff);
    let result = run_all(&mut host, &SMALL, &packets);
    check(&packets, &result);
    assert_eq!((result.fault_count, result.lost_faults), (5, 0));
    let mut found: Vec<u32> = result.faults.iter().map(|f| f.packet).collect();
    found.sort_unstable();
    assert_eq!(found, faulty.map(|i| i as u32));
    assert!(result.faults.iter().all(|f| (f.cause, f.core, f.slot, f.threads) == (2, 1, 0, 1)));
}

#[test]
fn an_observer_sees_every_event_and_can_end_the_run() {
    let seen = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let mut host = array(MemoryOptions::default());
    host.load_kernel(&KERNEL).unwrap();
    let notes = std::rc::Rc::clone(&seen);
    host.device_mut().set_observer(Box::new(move |cycle, _, events, image| {
        assert!(events.iter().all(|event| event.0 == cycle) && image.size() > 0);
        notes.borrow_mut().extend(events.iter().map(|(_, event)| *event));
        Ok(())
    }));
    run_all(&mut host, &SMALL, &frames(20, |_| 0));
    let count = |is: fn(&Event) -> bool| seen.borrow().iter().filter(|event| is(event)).count();
    assert_eq!(count(|event| matches!(event, Event::Issue(..))), 5);
    assert_eq!(count(|event| matches!(event, Event::Finish(..))), 5);
    assert_eq!(count(|event| matches!(event, Event::Commit(..))), 5);

    let mut host = array(MemoryOptions::default());
    host.load_kernel(&KERNEL).unwrap();
    let layout = host.configure(&SMALL).unwrap();
    host.device_mut().set_observer(Box::new(|_, _, events, _| match events {
        [] => Ok(()),
        _ => Err("an event".to_string()),
    }));
    let packets = frames(20, |_| 0);
    let error = run(&mut host, &SMALL, &layout, &packets, RunOptions::default(), &mut |_| {}).unwrap_err();
    assert!(
        matches!(error, super::CosimError::Observer { ref message, .. } if message == "an event"),
        "{error}"
    );
}

#[test]
fn a_stuck_array_is_described() {
    let mut host = array(MemoryOptions::default());
    host.load_kernel(&KERNEL).unwrap();
    let mut packets = frames(10, |_| 0);
    packets[6].frame[0] = 0xee;
    let layout = host.configure(&SMALL).unwrap();
    let options = RunOptions { stall_limit: 5000, ..RunOptions::default() };
    let error = run(&mut host, &SMALL, &layout, &packets, options, &mut |_| {}).unwrap_err().to_string();
    let quiet =
        error.split_once("no instruction was retired for ").and_then(|(_, rest)| rest.split_once(' '));
    let quiet: u64 = quiet.and_then(|(cycles, _)| cycles.parse().ok()).unwrap_or(0);
    assert!((5_001..6_500).contains(&quiet), "{error}");
    assert!(error.contains("cycles; packets: 10 arrived, 10 pushed, 8 issued, 0 committed"), "{error}");
    assert!(error.contains("the oldest is the warp of 4 packets from 0 at core 0 slot 0"), "{error}");
    assert!(error.contains("PENDING = 2"), "{error}");
}

/// A packet takes 20,000 cycles in which nothing is issued, finished or committed.
#[test]
fn a_warp_that_takes_long_is_waited_for_as_long_as_it_retires() {
    let mut host = array(MemoryOptions::default());
    host.load_kernel(&KERNEL).unwrap();
    let mut packets = frames(10, |_| 0);
    packets[6].frame[0] = 0xed;
    let layout = host.configure(&SMALL).unwrap();
    let options = RunOptions { stall_limit: 2000, ..RunOptions::default() };
    let result = run(&mut host, &SMALL, &layout, &packets, options, &mut |_| {}).unwrap();
    check(&packets, &result);
    assert!(result.cycles > 20_000);
    // Looking at the counters costs no cycle.
    let mut host = array(MemoryOptions::default());
    host.load_kernel(&KERNEL).unwrap();
    assert_eq!(run_all(&mut host, &SMALL, &packets).cycles, result.cycles);
    // What retires without end ends with the other limit.
    let mut host = array(MemoryOptions::default());
    host.load_kernel(&KERNEL).unwrap();
    let layout = host.configure(&SMALL).unwrap();
    let options = RunOptions { stall_limit: 2000, commit_limit: 10_000, ..RunOptions::default() };
    let error = run(&mut host, &SMALL, &layout, &packets, options, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("no packet was committed for 10001 cycles; packets: 10 arrived"), "{error}");
}

/// A packet waits for those that are pushed with it, and for no more once the last has come or the
/// ring is full.
#[test]
fn packets_are_gathered_for_a_push() {
    let run = |push_packets, count| {
        let mut host = array(MemoryOptions::default());
        host.load_kernel(&KERNEL).unwrap();
        let packets = frames(count, |i| 400 * i as u64);
        let layout = host.configure(&SMALL).unwrap();
        let options = RunOptions { push_packets, ..RunOptions::default() };
        let result = super::run(&mut host, &SMALL, &layout, &packets, options, &mut |_| {}).unwrap();
        check(&packets, &result);
        result.packets.iter().map(|packet| packet.times.start - packet.times.arrival).collect::<Vec<_>>()
    };
    let (at_once, gathered) = (run(1, 10), run(4, 10));
    // The first of four waits for the other three; of the last two, the first for one.
    for (first, others) in [(0, 3), (4, 3), (8, 1)] {
        assert!(gathered[first] >= 400 * others, "{gathered:?}");
    }
    assert!(gathered[3] < 400 && at_once.iter().all(|wait| *wait < 400), "{gathered:?} {at_once:?}");
    // More than the ring has slots.
    let ring = 1 << SMALL.ring_slots_log2;
    assert_eq!(run(10_000, 3 * ring).len(), 3 * ring);
}

/// Packets come four times as fast as they are processed: they wait, also while the ring is full.
#[test]
fn what_an_overload_makes_packets_wait_is_part_of_their_delay() {
    let run = |arrivals| {
        let mut host = array(MemoryOptions { latency: Latency::Fixed(20), ..MemoryOptions::default() });
        host.load_kernel(&KERNEL).unwrap();
        let packets = frames(200, |i| 10 * i as u64);
        let layout = host.configure(&SMALL).unwrap();
        let options = RunOptions { arrivals, ..RunOptions::default() };
        let result = super::run(&mut host, &SMALL, &layout, &packets, options, &mut |_| {}).unwrap();
        check(&packets, &result);
        (packets, result)
    };
    let (packets, scheduled) = run(Arrivals::Scheduled);
    assert!(scheduled.deferred_cycles > 5_000, "{}", scheduled.deferred_cycles);
    for (packet, record) in packets.iter().zip(&scheduled.packets) {
        assert_eq!(record.times.arrival, packet.arrival, "packet {}", record.index);
    }
    // A packet is processed in some 60 cycles and more: the last one waits for all that piled up.
    let delay = |result: &RunResult, index: usize| {
        let times = result.packets[index].times;
        times.commit - times.arrival
    };
    assert!(delay(&scheduled, 199) > 150 * 50 && delay(&scheduled, 199) > 3 * delay(&scheduled, 40));
    // A ring takes as many packets as it has slots: all others waited for one.
    let (_, taken) = run(Arrivals::Taken);
    let longest = (0..200).map(|index| delay(&taken, index)).max().unwrap();
    assert!(longest < delay(&scheduled, 199) / 3, "{longest}");
    // The run is the same.
    assert_eq!((scheduled.cycles, scheduled.deferred_cycles), (taken.cycles, taken.deferred_cycles));
    for (a, b) in scheduled.packets.iter().zip(&taken.packets) {
        assert_eq!(
            (a.times.start, a.times.finish, a.times.commit),
            (b.times.start, b.times.finish, b.times.commit)
        );
    }
}

#[test]
fn impossible_set_ups_are_refused() {
    let mut host = array(MemoryOptions::default());
    let kernel = KernelImage { segments: vec![(0x1000, vec![0; 100])], ..KERNEL };
    host.load_kernel(&kernel).unwrap();
    let error = host.load_kernel(&kernel).unwrap_err().to_string();
    assert!(error.contains("the kernel's segment at 0x00001000"), "{error}");
    let message =
        |host: &mut Host<Simulation>, setup: ArraySetup| host.configure(&setup).unwrap_err().to_string();
    let error = message(&mut host, ArraySetup { slot_bytes_log2: 6, ..SMALL });
    assert_eq!(error, "slot_bytes_log2: 6 is not possible; expected 7 to 16");
    let error = message(&mut host, ArraySetup { mcw: 2, ..SMALL });
    assert_eq!(error, "mcw: 2 is not possible; expected 1 to 1 with this kernel and array");
    let error = message(&mut host, ArraySetup { ring_slots_log2: 14, ..SMALL });
    assert_eq!(error, "no room for the packet ring of 2097152 bytes in the shared memory");
    let layout = host.configure(&SMALL).unwrap();
    let packets = [Packet { frame: vec![0; 111], port: 0, flags: 0, arrival: 0 }];
    let error = run(&mut host, &SMALL, &layout, &packets, RunOptions::default(), &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "packet 0: 111 bytes do not fit into a ring slot, which holds 110");
}
