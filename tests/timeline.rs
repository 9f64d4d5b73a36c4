//! `hermes run --trace` and `--perfetto`: every warp is there, in its cycles, with all of its
//! instructions.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{rows, Folder};
use serde_json::Value;

/// One array for most of these tests: with its trace ports it is a model of its own.
const ARRAY: &str = "--cores 2 --lanes 2 --warps 4";
/// Those of the tests of firmware, and of the other waveform.
const FIRMWARE: &str = "--preset fpga --cores 1 --lanes 2 --warps 2";
const WAVE: &str = "--cores 1 --lanes 1 --warps 2";
const FILES: &str = "--trace trace.txt --perfetto timeline.json --json out.json --verdicts out.csv";

/// An event of the timeline.
struct Event(Value);

impl Event {
    fn number(&self, name: &str) -> u64 {
        self.0[name].as_u64().unwrap_or_else(|| panic!("no number {name}: {}", self.0))
    }

    fn argument(&self, name: &str) -> u64 {
        self.0["args"][name].as_u64().unwrap_or_else(|| panic!("no argument {name}: {}", self.0))
    }

    fn is(&self, kind: &str, category: &str) -> bool {
        self.0["ph"] == kind && self.0["cat"] == category
    }

    fn end(&self) -> u64 {
        self.number("ts") + self.number("dur")
    }

    fn thread(&self) -> (u64, u64) {
        (self.number("pid"), self.number("tid"))
    }
}

fn json(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn timeline(folder: &Folder) -> Vec<Event> {
    let mut timeline = json(folder, "timeline.json");
    let Value::Array(events) = timeline["traceEvents"].take() else { panic!("no events: {timeline}") };
    events.into_iter().map(Event).collect()
}

/// Addresses of the instructions in the readable trace, without boot sequence and EXIT.
fn instructions(trace: &str) -> Vec<u32> {
    let pc = |line: &str| {
        let word = line.get(33..41)?;
        word.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(word, 16).ok())?
    };
    trace.lines().filter_map(pc).filter(|pc| *pc < 0xffff_ff00).collect()
}

#[test]
fn every_warp_and_instruction_is_told() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 75 --seed 8 --bad-share 20 -o in.pcap");
    let run = format!("run --app dec-ttl --pcap in.pcap {ARRAY}");
    let text = folder.succeed(&format!("{run} {FILES}"));
    assert_eq!(text, folder.succeed(&run), "watching a run does not change it");
    let (report, rows) = (json(&folder, "out.json"), rows(&folder.text("out.csv")));
    let (events, trace) = (timeline(&folder), folder.text("trace.txt"));

    // Every packet's warp, in its cycles: those of the rows count from the start of the run.
    let warps: Vec<_> = events.iter().filter(|event| event.is("X", "warp")).collect();
    let commits: Vec<_> = events.iter().filter(|event| event.is("i", "commit")).collect();
    assert_eq!(warps.len(), commits.len());
    let base = warps[0].number("ts") - rows[0].start;
    let mut packet = 0;
    for (warp, commit) in warps.iter().zip(&commits) {
        assert_eq!((warp.argument("first"), commit.argument("first")), (packet, packet));
        for _ in 0..warp.argument("count") {
            let row = &rows[packet as usize];
            let times = [warp.number("ts"), warp.end(), commit.number("ts")].map(|time| time - base);
            assert_eq!(times, [row.start, row.finish, row.commit], "packet {packet}");
            packet += 1;
        }
    }
    assert_eq!(packet, 75);
    let blocks: Vec<_> = trace.lines().filter(|line| line.starts_with("warp of packets ")).collect();
    assert_eq!(blocks.len(), warps.len());
    for (block, warp) in blocks.iter().zip(&warps) {
        let (first, (process, thread)) = (warp.argument("first"), warp.thread());
        let last = first + warp.argument("count") - 1;
        let (core, slot) = (process - 1, thread % 100);
        assert_eq!(*block, format!("warp of packets {first} to {last}, core {core}, slot {slot}"));
    }

    // Slices nest: warps of a slot follow each other, parts of a warp fill it.
    let mut threads: BTreeMap<(u64, u64), Vec<&Event>> = BTreeMap::new();
    for event in events.iter().filter(|event| event.0["ph"] == "X") {
        threads.entry(event.thread()).or_default().push(event);
    }
    assert_eq!(threads.len(), 8, "each slot had warps");
    for slices in threads.values_mut() {
        slices.sort_by_key(|slice| (slice.number("ts"), !slice.is("X", "warp")));
        let (mut warp_end, mut filled) = (0, 0);
        for slice in slices {
            if slice.is("X", "warp") {
                assert!(filled == warp_end && slice.number("ts") >= warp_end, "{}", slice.0);
                (warp_end, filled) = (slice.end(), slice.number("ts"));
            } else {
                assert!(slice.number("ts") == filled && slice.end() <= warp_end, "{}", slice.0);
                filled = slice.end();
            }
        }
        assert_eq!(filled, warp_end);
    }

    // The counters of the cores.
    let cores = report["cores"].as_array().expect("a list");
    let mut all = 0;
    for (number, core) in (0..).zip(cores) {
        let mine = || warps.iter().filter(|warp| warp.thread().0 == number + 1);
        let sum = |name: &str| mine().map(|warp| warp.argument(name)).sum::<u64>();
        assert_eq!(core["instructions"], sum("instructions"), "core {number}");
        assert_eq!(core["lane_instructions"], sum("lane_instructions"), "core {number}");
        let efficiency = sum("lane_instructions") as f64 / (2 * sum("instructions")) as f64;
        assert!((core["simd_efficiency"].as_f64().expect("a number") - efficiency).abs() < 1e-9);
        all += sum("instructions");

        let lost = core["lost"].as_object().expect("reasons");
        assert_eq!(lost.len(), 5);
        let lost: u64 = lost.values().map(|cycles| cycles.as_u64().expect("cycles")).sum();
        let active = core["active_cycles"].as_u64().expect("cycles");
        assert!(lost > 0 && lost + sum("instructions") <= active, "{core}");
    }
    assert_eq!(instructions(&trace).len() as u64, all);
    for part in ["lw a0,28(a1)", " load ", "exit ", "verdict ", "finished: "] {
        assert!(trace.contains(part), "{part}");
    }
    for part in ["SIMD  ", "lost cycles ", "core 1 ", "all cores "] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// Figure 3 of the Pangaea paper: functions, handlers, jobs and spawned warps, without packets.
#[test]
fn firmware_and_its_jobs_are_told() {
    let folder = Folder::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels-asm/firmware/examples/figure-3.c");
    folder.succeed(&format!("firmware build {} -o figure-3.elf", source.display()));
    let run = format!("run --firmware figure-3.elf {FIRMWARE}");
    let text = folder.succeed(&format!("{run} --trace trace.txt --perfetto timeline.json"));
    assert_eq!(text, folder.succeed(&run), "watching a run does not change it");
    let (events, trace) = (timeline(&folder), folder.text("trace.txt"));

    // Four jobs of 64 threads, each run by warps of two.
    let jobs: Vec<_> = events.iter().filter(|event| event.is("X", "job")).collect();
    let warps: Vec<_> = events.iter().filter(|event| event.is("X", "warp")).collect();
    assert_eq!((jobs.len(), warps.len()), (4, 4 * 32));
    for job in &jobs {
        let within = |warp: &&&Event| job.number("ts") <= warp.number("ts") && warp.end() <= job.end();
        let threads: u64 = warps.iter().filter(within).map(|warp| warp.argument("count")).sum();
        assert_eq!((job.argument("warps"), job.argument("threads"), threads), (32, 64, 64));
        assert_eq!(job.0["args"]["completed"], true);
    }
    assert!(warps
        .iter()
        .all(|warp| warp.0["args"]["finished"] == true && warp.argument("instructions") == 5));
    assert!(warps.iter().any(|warp| warp.0["name"] == "job 0: threads 62-63"));

    // A handler after each job; what hart 0 did fills its time without overlaps, and in handlers is
    // that of handlers.
    let hart = |event: &&Event| event.0["tid"] == 100_000 && event.0["ph"] != "M";
    let (mut handler, mut handlers, mut instructions) = (None, 0, 0);
    let mut filled = 0;
    for event in events.iter().filter(hart) {
        match event.0["ph"].as_str().expect("a kind") {
            "B" => {
                assert_eq!(event.0["name"], "user-level interrupt");
                assert!(jobs[handlers].end() < event.number("ts"), "{}", event.0);
                handler = Some(event.number("ts"));
            }
            "E" => {
                assert_eq!(event.number("ts"), filled, "{}", event.0);
                assert!(handler.take().is_some());
                handlers += 1;
            }
            "X" => {
                assert!(event.number("ts") >= filled.max(handler.unwrap_or(0)), "{}", event.0);
                filled = event.end();
                if event.is("X", "function") {
                    instructions += event.argument("instructions");
                    let name = event.0["name"].as_str().expect("a name");
                    assert_eq!(name.starts_with("job_done"), handler.is_some(), "{name}");
                }
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!((handlers, handler), (4, None));
    let is_hart = |line: &&str| line.len() > 41 && line[10..32].trim().is_empty() && line.trim().len() > 20;
    let lines: Vec<_> = trace.lines().skip(2).filter(is_hart).collect();
    assert_eq!(lines.len() as u64, instructions);
    for part in [
        "hart 0 in main",
        "signal t",
        "emonitor ",
        "ereturn",
        "warp of job 0, threads 62 to 63",
        "csrrw zero,0x305,t0",
    ] {
        assert!(trace.contains(part), "{part}");
    }

    // Only some cycles.
    let (first, last) = (jobs[1].number("ts"), jobs[1].end() - 1);
    folder.succeed(&format!("{run} --perfetto timeline.json --trace-cycles {first}-{last}"));
    let events = timeline(&folder);
    assert_eq!(events.iter().filter(|event| event.is("X", "job")).count(), 1);
    let harts: Vec<_> = events.iter().filter(|event| event.is("X", "function")).collect();
    assert!(
        !harts.is_empty() && harts.iter().all(|slice| slice.number("ts") >= first && slice.end() <= last + 1)
    );
}

#[test]
fn faults_are_marked() {
    let folder = Folder::new();
    folder.write("faults.S", include_str!("kernels/faults.S"));
    folder.succeed("kernel build faults.S -o faults.elf");
    folder.succeed("gen-trace --kind fixed:60 --packets 40 --seed 6 -o in.pcap");
    let run = "run --kernel faults.elf --pcap in.pcap --fail-on-fault=false";
    folder.succeed(&format!("{run} {FILES} {ARRAY}"));
    let lanes = |event: &Event| {
        let set = event.0["args"]["lanes"].as_str().and_then(|text| text.strip_prefix("0x")).expect("a set");
        u64::from(u32::from_str_radix(set, 16).expect("hexadecimal").count_ones())
    };
    let marked: u64 = timeline(&folder).iter().filter(|event| event.is("i", "fault")).map(lanes).sum();
    let faults = json(&folder, "out.json")["faults"].as_u64();
    assert!(marked > 0 && faults == Some(marked), "{faults:?} faults, {marked} marked");
    assert!(folder.text("trace.txt").contains("fault: load address misaligned"));
}

#[test]
fn cycles_can_be_chosen_and_files_that_cannot_be_written_are_named() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind fixed:60 --packets 60 --seed 7 -o in.pcap");
    let run = format!("run --app dec-ttl --pcap in.pcap {ARRAY}");
    folder.succeed(&format!("{run} {FILES}"));
    let starts = |events: &[Event]| -> Vec<u64> {
        events.iter().filter(|event| event.is("X", "warp")).map(|event| event.number("ts")).collect()
    };
    let all = starts(&timeline(&folder));
    let (first, last) = (all[all.len() / 3], all[all.len() / 2]);
    folder.succeed(&format!("{run} {FILES} --trace-cycles {first}-{last}"));
    let chosen: Vec<u64> = all.into_iter().filter(|start| (first..=last).contains(start)).collect();
    assert_eq!(starts(&timeline(&folder)), chosen);
    let blocks = folder.text("trace.txt").matches("warp of packets").count();
    assert_eq!(blocks, chosen.len());

    // Warps with some packets, without the trace of the others.
    folder.succeed(&format!("{run} {FILES} --trace-packets 7-9"));
    let events = timeline(&folder);
    let firsts: Vec<_> =
        events.iter().filter(|event| event.is("X", "warp")).map(|event| event.argument("first")).collect();
    assert_eq!(firsts, [6, 8]);
    assert_eq!(folder.text("trace.txt").matches("warp of packets").count(), 2);
    assert!(events.iter().any(|event| event.0["ph"] == "C"));

    let before = folder.files();
    folder.fail(&format!("{run} --trace none/trace.txt"), &["none/trace.txt: No such file"]);
    folder.fail(&format!("{run} --perfetto ."), &[".: is a directory"]);
    folder.fail(&format!("{run} --trace-cycles 1-2"), &["--trace-cycles: expected --trace or --perfetto"]);
    folder.fail(&format!("{run} --trace-packets 1-2"), &["--trace-packets: expected --trace or --perfetto"]);
    if std::path::Path::new("/dev/full").exists() {
        folder.fail(&format!("{run} --perfetto /dev/full"), &["/dev/full: No space left"]);
    }
    assert_eq!(folder.files(), before);
}

/// Functions and lines in both files, and counters over time.
#[test]
fn names_and_counters_are_told() {
    let folder = Folder::new();
    folder.write("k.c", NAMED);
    folder.succeed("kernel build k.c -o k.elf");
    folder.succeed("gen-trace --kind fixed:60 --packets 200 --seed 7 -o in.pcap");
    folder.succeed(&format!("run --kernel k.elf --pcap in.pcap {FILES} {ARRAY}"));
    let (events, trace) = (timeline(&folder), folder.text("trace.txt"));
    for function in ["(boot)", "kernel", "double_it", "(exit)"] {
        assert!(trace.lines().any(|line| line.trim_start() == format!("in {function}")), "{function}");
    }
    assert!(trace.lines().any(|line| line.contains(" slli a0,a0,0x1 ") && line.contains(" k.c:")), "{trace}");
    let names: Vec<&str> = events
        .iter()
        .filter(|event| event.is("X", "instructions"))
        .map(|event| event.0["name"].as_str().expect("a name"))
        .collect();
    assert!(names.contains(&"(boot)"), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("kernel (k.c:")), "{names:?}");

    // Means of stretches of 128 cycles that differ from those before: sums of all are those of the
    // run.
    let counter = |process: u64, name: &str| -> Vec<(u64, f64)> {
        let mine = |event: &&Event| {
            event.is("C", "counter") && event.0["name"] == name && event.number("pid") == process
        };
        let value = |event: &Event| event.0["args"]["value"].as_f64().expect("a value");
        events.iter().filter(mine).map(|event| (event.number("ts"), value(event))).collect()
    };
    let report = json(&folder, "out.json");
    let end = events.iter().filter(|event| event.is("i", "commit")).map(|event| event.number("ts")).max();
    let end = end.expect("commits") + 128;
    for (core, process) in [(0, 1), (1, 2)] {
        let ipc = counter(process, "IPC");
        assert!(ipc.iter().all(|(_, value)| (0.0..=1.0).contains(value)), "{ipc:?}");
        let until = |index: usize| ipc.get(index + 1).map_or(end, |next| next.0);
        let sum: f64 =
            (0..).zip(&ipc).map(|(index, (time, value))| value * (until(index) - time) as f64).sum();
        // Boot sequence and EXIT are in the graph, and not in the counter.
        let counted = report["cores"][core]["instructions"].as_f64().expect("a number");
        assert!(sum > counted && sum < 4.0 * counted, "{sum} and {counted}");
        assert!(counter(process, "warps").iter().any(|(_, warps)| *warps > 2.0));
    }
    let queue = counter(1_002, "task queue");
    assert!(queue.iter().any(|(_, tasks)| *tasks > 20.0) && queue.iter().all(|(_, tasks)| *tasks <= 200.0));
    assert!(queue.last().expect("values").1 < 20.0, "all were taken: {queue:?}");
    let lines = counter(1_002, "memory lines in flight");
    assert!(lines.iter().any(|(_, lines)| *lines > 0.5), "{lines:?}");
}

const NAMED: &str = "#include <hermes.h>

__attribute__((noinline)) uint32_t double_it(uint32_t number)
{
    return number * 2;
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    (void)slot, (void)arguments;
    return double_it(packet & 7) + 1;
}
";

/// Files of limited size say where they end, and are what they would be until there.
#[test]
fn sizes_are_limited() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind fixed:60 --packets 60 --seed 7 -o in.pcap");
    let run = format!("run --app dec-ttl --pcap in.pcap {ARRAY}");
    let text = folder.succeed(&format!("{run} {FILES}"));
    let (all, events) = (folder.text("trace.txt"), timeline(&folder).len());
    assert_eq!(text, folder.succeed(&format!("{run} {FILES} --trace-limit 8K")));
    let (trace, cut) = (folder.text("trace.txt"), timeline(&folder));
    let (told, rest) = trace.split_once("\nThe trace ends here: ").expect("a last line");
    assert!(all.starts_with(told) && rest.contains("8192 bytes"), "{trace}");
    assert!((6_000..=8_192).contains(&trace.len()) && folder.text("timeline.json").len() <= 8_192);
    let last = cut.last().expect("a mark");
    assert!(last.is("i", "limit") && cut.len() < events, "{}", last.0);
    let output = folder.hermes(&format!("{run} {FILES} --trace-limit 100"));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && error.contains("--trace-limit") && error.contains("at least 4096"),
        "{error}"
    );
}

/// A run that fails is the one to look at.
#[test]
fn the_timeline_of_a_stuck_run_is_kept() {
    let folder = Folder::new();
    folder.write("stuck.S", ".globl kernel\nkernel: j kernel\n");
    folder.succeed("kernel build stuck.S -o stuck.elf");
    folder.succeed("gen-trace --kind fixed:60 --packets 2 --seed 3 -o in.pcap");
    let run = "run --kernel stuck.elf --pcap in.pcap --commit-limit 500000";
    folder.fail(
        &format!("{run} --perfetto timeline.json --json out.json {ARRAY}"),
        &["no packet was committed for 500001 cycles", "0 committed"],
    );
    let events = timeline(&folder);
    let warps: Vec<_> = events.iter().filter(|event| event.is("X", "warp")).collect();
    assert!(warps.len() == 1 && warps[0].0["args"]["finished"] == false && warps[0].number("dur") > 500_000);
    assert!(!folder.files().contains(&"out.json".to_string()));
}

/// What the report says of instructions and of the L2 against what is not counted by the array: the
/// trace of every warp, and the memory.
#[test]
fn the_report_agrees_with_trace_and_memory() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 300 --seed 4 -o in.pcap");
    // A memory that answers at once and an L2 that has some lines and not others.
    let run = format!("run --app check-ip-header --pcap in.pcap {FILES} {ARRAY} --mem-latency 5");
    let text = folder.succeed(&run);
    let report = json(&folder, "out.json");
    let sum = |list: &str, name: &str| -> u64 {
        let values = report[list].as_array().expect("a list").iter();
        values.map(|value| value[name].as_u64().unwrap_or_else(|| panic!("no number {name}: {value}"))).sum()
    };
    let mut traced = (0, 0);
    for line in folder.text("trace.txt").lines().filter(|line| line.contains(" finished: ")) {
        let numbers: Vec<u64> = line.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
        let [_, instructions, lanes] = numbers[..] else { panic!("{line}") };
        traced = (traced.0 + instructions, traced.1 + lanes);
    }
    assert_eq!((sum("cores", "instructions"), sum("cores", "lane_instructions")), traced);
    let (hits, misses) = (sum("cores", "l2_read_hits"), sum("cores", "l2_read_misses"));
    let (loads, fetches) = (sum("cores", "line_reads"), sum("cores", "fetch_misses"));
    assert_eq!(misses, sum("memory", "lines_read"), "what the L2 did not have came from memory");
    assert_eq!(
        hits + misses,
        loads + fetches,
        "what L1 and instruction caches did not have came from the L2"
    );
    assert!(hits > 0 && hits != misses && loads != fetches, "a swap would not be seen");
    let told = format!(
        "  L2           {} lines read ({loads} for loads, {fetches} of instructions), {:.1} % hits; {} written\n",
        hits + misses,
        100.0 * hits as f64 / (hits + misses) as f64,
        sum("cores", "line_writes")
    );
    assert!(text.contains(&told), "{told} in {text}");
    // A line of verdicts for each warp: all that the kernel of this app writes.
    let warps = folder.text("trace.txt").lines().filter(|line| line.contains(" finished: ")).count();
    assert_eq!(sum("cores", "line_writes"), warps as u64);
}

/// The waveform ends at the limit of the traces, and the command says so.
#[test]
fn a_waveform_ends_at_its_limit() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind fixed:60 --packets 400 --seed 7 -o in.pcap");
    let run = format!("run --app dec-ttl --pcap in.pcap {WAVE} --wave wave.fst");
    let told = |options: &str| {
        let output = folder.hermes(&format!("{run} {options}"));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{error}");
        (error, std::fs::metadata(folder.path("wave.fst")).expect("a waveform").len())
    };
    let (silent, whole) = told("");
    assert!(!silent.contains("--wave"), "{silent}");
    // The size is looked at every 8,192 cycles.
    let (error, cut) = told("--trace-limit 4K");
    assert!(error.contains("--wave: the file ends after 8191 cycles, with 4096 bytes or more"), "{error}");
    assert!((4_096..whole).contains(&cut), "{cut} of {whole} bytes");
}
