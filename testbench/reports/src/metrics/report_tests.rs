//! Reports of runs in simulation and on a board, as text and as JSON.

use super::*;
use crate::cosim::{LoadCounters, PacketTimes};
use crate::verdict::Reason;

fn simulation(memory: Latency) -> Environment {
    arriving(ArrivalProcess::Max, memory, Clock::GIGAHERTZ)
}

fn arriving(arrivals: ArrivalProcess, memory: Latency, clock_mhz: Clock) -> Environment {
    let arrivals_seed = arrivals.is_random().then_some(7);
    let line_rate = arrivals.line_rate();
    Environment::Simulation { line_rate, arrivals, arrivals_seed, channels: 1, memory, clock_mhz }
}

fn facts() -> RunFacts {
    RunFacts {
        kernel: "dec-ttl".into(),
        inputs: vec!["3 prefixes".into()],
        capture: "in.pcap".into(),
        preset: "default".into(),
        cores: 2,
        lanes: 8,
        warps: 8,
        mcw: 4,
        timeout: 256,
        adaptive_timeout: false,
        eager: false,
        environment: simulation(Latency::Fixed(60)),
        slot_bytes: 2048,
        configuration: Config::preset("default").unwrap(),
    }
}

#[test]
fn figures_of_a_small_run() {
    let record = |packet, verdict, arrival, start, commit| {
        let in_slot = arrival;
        let times = PacketTimes { arrival, in_slot, start, finish: commit - 1, commit, ..Default::default() };
        PacketRecord { packet, verdict, times: Some(times) }
    };
    let drop = Verdict::drop(Reason::Ttl);
    let records = [
        record(0, Verdict(0), 100, 110, 150),
        record(1, Verdict(0), 120, 120, 160),
        record(2, drop, 130, 140, 300),
    ];
    let lost = LostCycles { memory: 40, fetch: 10, ..LostCycles::default() };
    let core = CoreWork {
        instructions: 50,
        lane_instructions: 300,
        active_cycles: 100,
        line_reads: 36,
        line_writes: 30,
        fetch_misses: 4,
        l2_read_hits: 10,
        l2_read_misses: 30,
        ..CoreWork::default()
    };
    let cores = vec![CoreWork { lost, ..core }, CoreWork::default()];
    let lengths = [64, 64, 1518].into_iter();
    let mut report = Report::new(facts(), &records, lengths, cores, 0, Counted::default(), true);
    let channel = ChannelStatistics {
        lines_read: 50,
        lines_written: 20,
        most_outstanding: 7,
        ..ChannelStatistics::default()
    };
    report.set_memory(&MemoryStatistics {
        cycles: 200,
        channels: vec![channel],
        ..MemoryStatistics::default()
    });
    report.frame_lines = Some(FrameLines::new(29, 3));
    assert_eq!((report.packets, report.cycles, report.frame_bytes), (3, 200, 1646));
    assert!((report.throughput_gbps - 1646.0 * 8.0 / 200.0).abs() < 1e-9);
    let delays = report.delays.unwrap();
    assert_eq!((delays.delay.p50, delays.delay.max), (50, 170));
    assert_eq!((delays.queuing.max, delays.service.max), (10, 160));
    assert!((report.cores[0].ipc - 0.25).abs() < 1e-9);
    assert_eq!(report.verdicts["drop: TTL ran out"], 1);
    let text = report.to_string();
    for part in [
        "input        3 prefixes",
        "throughput   15.000 million packets/s at 1 GHz; 16.67 lines of 64 bytes a packet read from memory, 6.67 written\n",
        "frames       65.84 Gbit/s at 1 GHz (frame bytes, without preamble and FCS), payload not moved: 1.00 of the 9.67 lines of a packet were read\n",
        "drop: TTL ran out",
        "IPC per core 0.250 0.000",
        "SIMD         75.0 % of the lanes active",
        "core 0           50.0       20.0        5.0        0.0        0.0        0.0\n",
        "all cores        75.0       10.0        2.5        0.0        0.0        0.0\n",
        "line rate max, 1 memory channel (latency 60 cycles), slots of 2048 bytes",
        "L2           40 lines read (36 for loads, 4 of instructions), 25.0 % hits; 30 written\n",
        "memory 0     50 lines read (25.0 % of the cycles), 20 written (10.0 %), at most 7 requests at a time\n",
        "every packet and verdict agrees",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["verdicts"]["forward: port 0"], 2);
    assert_eq!(json["run"]["memory"], "60");
    assert_eq!((&json["packets_per_second"], &json["frame_lines"]["read"]), (&1.5e7.into(), &3.into()));
    report.frame_lines = Some(FrameLines::new(29, 29));
    assert!(!report.to_string().contains("not moved"));
    assert_eq!(
        (&json["memory"][0]["lines_read"], &json["memory"][0]["read_use"]),
        (&50.into(), &0.25.into())
    );
    let dram = ChannelStatistics { row_hits: 9, row_misses: 3, bus_cycles: 36, refreshes: 1, ..channel };
    report.run.environment = simulation("dram".parse().unwrap());
    report.set_memory(&MemoryStatistics {
        cycles: 200,
        channels: vec![dram; 2],
        ..MemoryStatistics::default()
    });
    let text = report.to_string();
    assert!(text.contains("9 row hits, 3 misses, 1 refreshes, data bus used 18.0 %\n  memory 1 "), "{text}");
    assert_eq!((&json["simd_efficiency"], &json["cores"][0]["lost"]["fetch"]), (&0.75.into(), &10.into()));
    assert_eq!((&json["cores"][0]["no_warp"], &json["cores"][1]["no_warp"]), (&100.into(), &200.into()));
}

/// With load counters the report has their figures, and without them nothing of it.
#[test]
fn load_counters_are_told_if_they_are_there() {
    let work = CoreWork { line_reads: 20, ..CoreWork::default() };
    let plain = || {
        let cores = vec![work; 2];
        let times = PacketTimes { commit: 200, ..PacketTimes::default() };
        let records = [PacketRecord { packet: 0, verdict: Verdict(0), times: Some(times) }];
        Report::new(facts(), &records, [64].into_iter(), cores, 0, Counted::default(), true)
    };
    let mut report = plain();
    report.set_load(None);
    assert!(!report.to_string().contains("busy slots"));
    assert_eq!(serde_json::to_value(&report).unwrap().get("load"), None);
    let counters = LoadCounters {
        line_hits: vec![60, 100],
        formed_full: 7,
        formed_timeout: 2,
        formed_eager: 1,
        slot_cycles: 1_000,
        commit_queue_full: 3,
        high_tasks: 1,
        high_commit_queue: 5,
        high_ring: 6,
    };
    report.set_load(Some(&counters));
    let text = report.to_string();
    let told = "  busy slots   2.50 of 8 slots of a core on average
  formed       7 warps full, 2 by time-out, 1 eager
  L1           200 lines asked for by loads, 80.0 % hits
  most at once 1 count in the task FIFO, 5 warps in the DCQ; DCQ full in 3 cycles
  L2 ";
    assert!(text.contains(told), "{text}");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!((&json["load"]["mean_busy_slots"], &json["load"]["l1_hit_rate"]), (&2.5.into(), &0.8.into()));
    assert!(json["load"]["high_ring"].is_null());
    report.run.configuration.packet_ports = true;
    report.set_load(Some(&counters));
    assert!(report.to_string().contains("5 warps in the DCQ, 6 slots of the ring;"), "{report}");
}

/// Another clock changes what is told in seconds, and names itself.
#[test]
fn throughput_and_delays_at_a_stated_clock() {
    let times = PacketTimes {
        arrival: 100,
        in_slot: 104,
        start: 110,
        finish: 190,
        commit: 200,
        ..PacketTimes::default()
    };
    let records = [PacketRecord { packet: 0, verdict: Verdict(0), times: Some(times) }];
    let at = |clock: Clock| {
        let environment = arriving(ArrivalProcess::Max, Latency::Fixed(60), clock);
        let facts = RunFacts { environment, ..facts() };
        Report::new(facts, &records, [125].into_iter(), vec![], 0, Counted::default(), true)
    };
    let report = at(Clock::GIGAHERTZ);
    assert!((report.throughput_gbps - 10.0).abs() < 1e-9);
    let text = report.to_string();
    for part in [
        "throughput   10.000 million packets/s at 1 GHz\n  frames       10.00 Gbit/s at 1 GHz (frame bytes",
        "iqr  cycles (= ns at 1 GHz)\n    total           100.0      100",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let report = at("40".parse().unwrap());
    assert!((report.throughput_gbps - 0.4).abs() < 1e-9);
    assert_eq!((report.cycles, report.delays.unwrap().delay.p50), (100, 100));
    let text = report.to_string();
    for part in [
        "throughput   0.400 million packets/s at 40 MHz\n  frames       0.40 Gbit/s at 40 MHz (frame bytes",
        "iqr  ns at 40 MHz, where a cycle is 25.000 ns\n    total          2500.0   2500.0",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(serde_json::to_value(&report).unwrap()["run"]["clock_mhz"], 40.0);
}

#[test]
fn the_text_shows_the_most_frequent_verdicts() {
    let record = |packet: u64| PacketRecord { packet, verdict: Verdict(packet as u32 / 2 % 20), times: None };
    let records: Vec<_> = (0..47).map(record).collect();
    let lengths = records.iter().map(|_| 64);
    let cores = vec![CoreWork::default()];
    let text = Report::new(facts(), &records, lengths, cores, 0, Counted::default(), true).to_string();
    assert!(text.contains("forward: port 0 ") && !text.contains("forward: port 9 "), "{text}");
    assert!(text.contains("4 other verdicts                  8"), "{text}");
}

/// Keys of an object in JSON, in their order.
fn keys(text: &str, indent: usize) -> Vec<&str> {
    let start = format!("\n{}\"", " ".repeat(indent));
    text.split(&start).skip(1).filter_map(|rest| rest.split_once('"')).map(|(key, _)| key).collect()
}

#[test]
fn what_a_board_does_not_measure_is_not_told() {
    let records: Vec<_> =
        (0..3).map(|packet| PacketRecord { packet, verdict: Verdict(0), times: None }).collect();
    let board = BoardRun {
        device: "/dev/ttyUSB0".into(),
        baud: 2_000_000,
        clock_khz: 25_000,
        memory_bytes: 131_072,
        ring_slots: 16,
        seconds: 1.25,
    };
    let facts = RunFacts { environment: Environment::Board(board), ..facts() };
    let cores = vec![CoreWork { instructions: 50, lane_instructions: 300, ..CoreWork::default() }];
    let report =
        Report::without_times(facts, &records, 1000, [100; 3].into_iter(), cores, 0, Counted::default());
    assert!((report.throughput_gbps - 2400.0 / 1000.0 * 0.025).abs() < 1e-9);
    let text = report.to_string();
    for part in [
        "environment  board at /dev/ttyUSB0 (2000000 baud), 25 MHz, 131072 bytes of packet memory, 16 slots of 2048 bytes",
        "busy cycles  1000 with packets on the cores or waiting for their commit; 1.2 s with",
        "throughput   0.075 million packets/s at 25 MHz over the busy cycles\n  frames       0.060 Gbit/s at 25 MHz over the busy cycles (frame bytes",
        "IPC per core 0.050",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(["delay", "queuing", "service", "memory 0"].iter().all(|word| !text.contains(word)), "{text}");
    let json = serde_json::to_string_pretty(&report).unwrap();
    assert!(!json.contains("delay") && !json.contains("queuing") && !json.contains("\"line_rate"), "{json}");
    assert!(keys(&json, 4).starts_with(&["kernel", "inputs", "capture"]), "{json}");
}

/// Those who read the JSON know these keys in this order.
#[test]
fn keys_of_the_json() {
    let mut report = Report::new(facts(), &[], std::iter::empty(), vec![], 0, Counted::default(), true);
    report.waits = Some(Waits::default());
    let json = serde_json::to_string_pretty(&report).unwrap();
    let of_run = [
        "kernel",
        "inputs",
        "capture",
        "preset",
        "cores",
        "lanes",
        "warps",
        "mcw",
        "timeout",
        "adaptive_timeout",
        "eager",
        "line_rate",
        "arrivals",
        "arrivals_seed",
        "channels",
        "memory",
        "clock_mhz",
        "slot_bytes",
        "configuration",
    ];
    assert_eq!(keys(&json, 4)[..19], of_run);
    let of_report = [
        "run",
        "packets",
        "frame_bytes",
        "cycles",
        "packets_per_second",
        "throughput_gbps",
        "frame_lines",
        "steady_state",
        "deferred_cycles",
        "cache_cleanings",
        "loss",
        "delays_count_from_schedule",
        "delay",
        "queuing",
        "service",
        "delay_iqr_of_warps",
        "stages",
        "latency",
        "verdicts",
        "faults",
        "fault_causes",
        "fault_records",
        "bus_errors",
        "bus_errors_of_writes",
        "bus_error_responses",
        "counted",
        "simd_efficiency",
        "cores",
        "memory",
        "golden_checked",
    ];
    assert_eq!(keys(&json, 2), of_report);
}

#[test]
fn arrivals_are_told() {
    for (text, line, told) in [
        ("max", "line rate max,", "max"),
        ("constant:40", "line rate 40 Gbit/s,", "40 Gbit/s"),
        ("trace:2", "line rate trace:2,", "trace:2"),
        ("step:1@0,2@100", "arrivals step:1@0,2@100,", "step:1@0,2@100"),
        ("poisson:40", "arrivals poisson:40 (seed 7),", "poisson:40"),
    ] {
        let environment = arriving(text.parse().unwrap(), Latency::Fixed(60), Clock::GIGAHERTZ);
        let facts = RunFacts { environment, ..facts() };
        let report = Report::new(facts, &[], std::iter::empty(), vec![], 0, Counted::default(), true);
        assert!(report.to_string().contains(line), "{report}");
        let json = serde_json::to_value(&report).unwrap();
        let seed = if text == "poisson:40" { 7.into() } else { serde_json::Value::Null };
        assert_eq!((&json["run"]["line_rate"], &json["run"]["arrivals"]), (&told.into(), &text.into()));
        assert_eq!(json["run"]["arrivals_seed"], seed);
    }
}

#[test]
fn a_run_without_packets() {
    let report =
        Report::new(facts(), &[], std::iter::empty(), vec![CoreWork::default()], 0, Counted::default(), true);
    assert_eq!((report.packets, report.cycles), (0, 0));
    assert!(report.throughput_gbps == 0.0 && report.cores[0].ipc == 0.0);
}

/// A kernel can return the word of a fault itself.
#[test]
fn only_faults_of_the_hardware_are_faults() {
    let words = [0xc000_0005, 0xc000_0005, 0xc000_0005, 0xffff_ffff, 0xc000_0002, 7];
    let record = |(packet, word): (u64, u32)| PacketRecord { packet, verdict: Verdict(word), times: None };
    let records: Vec<_> = (0..).zip(words).map(record).collect();
    let fault = |cause, threads, job| FaultRecord {
        cause,
        core: 0,
        slot: 0,
        threads,
        pc: 0x1000,
        address: 0,
        packet: 0,
        job,
        function: None,
    };
    let verdicts = |faults: u64, on_record: &[FaultRecord]| {
        let cores = vec![CoreWork::default()];
        let mut report =
            Report::new(facts(), &records, [64; 6].into_iter(), cores, faults, Counted::default(), true);
        report.fault_records = on_record.to_vec();
        report.name_verdicts(&records, Verdict::to_string);
        assert_eq!(report.verdicts.values().sum::<usize>(), 6);
        report.verdicts
    };
    let expect =
        |pairs: &[(&str, usize)]| pairs.iter().map(|(name, count)| (name.to_string(), *count)).collect();
    let (access, minus_one) = ("0xc0000005 returned, no fault", "0xffffffff returned, no fault");
    let (illegal, port) = ("0xc0000002 returned, no fault", "forward: port 7");
    assert_eq!(verdicts(0, &[]), expect(&[(access, 3), (minus_one, 1), (illegal, 1), (port, 1)]));
    // A load access of a packet, and one of a spawned thread.
    let faults = [fault(5, 1, None), fault(5, 2, Some(1))];
    let mixed = [("fault: load access", 1), (access, 2), (minus_one, 1), (illegal, 1), (port, 1)];
    assert_eq!(verdicts(3, &faults), expect(&mixed));
    // All of them: records may be lost.
    assert_eq!(verdicts(5, &[])["fault: load access"], 3);
}

/// Packets of warps of 16, a warp each 100 cycles after a start in which eight finish at once.
fn stream(packets: u64) -> Vec<PacketRecord> {
    let record = |packet: u64| {
        let warp = packet / 16;
        let start = warp.saturating_sub(8) * 100 + 20;
        let times = PacketTimes {
            arrival: packet,
            in_slot: packet + 3,
            start: packet.max(start) + 16,
            finish: start + 1000 + packet,
            commit: start + 2000 + packet,
            ..PacketTimes::default()
        };
        PacketRecord { packet, verdict: Verdict(0), times: Some(times) }
    };
    (0..packets).map(record).collect()
}

#[test]
fn long_runs_have_a_steady_state() {
    let report = |packets: u64, arrivals: &str| {
        let environment = arriving(arrivals.parse().unwrap(), Latency::Fixed(60), Clock::GIGAHERTZ);
        let facts = RunFacts { environment, ..facts() };
        let lengths = (0..packets).map(|_| 125);
        let cores = vec![CoreWork::default()];
        let mut report = Report::new(facts, &stream(packets), lengths, cores, 0, Counted::default(), true);
        report.waits = Some(Waits { deferred_cycles: 17, cache_cleanings: 2 });
        report.loss = Some(Loss::new(400, 0, 1));
        report
    };
    // 2 cores x 8 lanes at MCW 4.
    let short = report(511, "max");
    assert!(short.steady_state.is_none());
    let text = short.to_string();
    let told = "steady state not told of fewer than 512 packets, 8 times those on the cores at MCW 4\n";
    assert!(text.contains(told) && !text.contains("p99.9"), "{text}");
    assert!(text.contains("counted from when a packet found a slot: with `max` none has a time"), "{text}");
    let long = report(16_000, "constant:40");
    let steady = long.steady_state.as_ref().unwrap();
    // 16 packets in 100 cycles, and one cycle later for each of them.
    assert!((steady.packets_per_cycle - 16.0 / 116.0).abs() < 1e-3, "{steady:?}");
    assert!((steady.bits_per_cycle - 1000.0 * steady.packets_per_cycle).abs() < 1e-9);
    assert_eq!((steady.delays.stages.dcq.min, steady.delays.stages.dcq.max), (1000, 1000));
    let text = long.to_string();
    for part in [
        "  steady state 137.845 million packets/s, 137.84 Gbit/s of frames at 1 GHz: 11000 packets finished in cycles 29120 to 108919, ",
        "from the first quarter to the last sixteenth; the array paused 2 times while the host cleaned the caches\n",
        "  deferred     17 cycles in which a packet that had arrived found no free slot\n",
        "  loss         1 of 400 frames (0.2500 %): 1 found no free slot; 399 were delivered\n",
        "iqr    p99.9   jitter  cycles (= ns at 1 GHz)\n    total         51173.6    51120 ",
        "    form+issue ",
        "    DCQ            1000.0     1000 ",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("counted from when"), "{text}");
    let json = serde_json::to_value(&long).unwrap();
    assert_eq!((&json["deferred_cycles"], &json["loss"]["loss"]), (&17.into(), &0.0025.into()));
    assert_eq!((&json["loss"]["delivered"], &json["loss"]["dropped_full"]), (&399.into(), &1.into()));
    let malformed = Loss::new(400, 3, 1);
    assert_eq!((malformed.dropped, malformed.delivered, malformed.loss), (4, 396, 0.01));
    assert_eq!(
        (&json["delays_count_from_schedule"], &json["stages"]["egress"]),
        (&true.into(), &serde_json::Value::Null)
    );
    assert!(json["delay"]["p999"].is_u64() && json["steady_state"]["service"]["p50"].is_u64());
}
