//! `hermes profile`: every warp-cycle has its line and its reason, every instruction is counted.

mod common;

use std::collections::BTreeMap;

use common::{rows, Folder};
use serde_json::Value;

/// The array of `tests/timeline.rs`: with its trace ports it is a model of its own.
const ARRAY: &str = "--cores 2 --lanes 2 --warps 4";

/// Sums a part of the packet, unless it is short: a loop, a division, a call, a comparison that
/// HTML has to escape.
const KERNEL: &str = r#"#include <hermes.h>

__attribute__((noinline)) uint32_t mix(uint32_t sum, uint32_t word)
{
    return (sum ^ word) * 2654435761u;
}

uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    const uint32_t *words = (const uint32_t *)slot;
    (void)arguments;
    uint32_t sum = packet;
    for (uint32_t i = 16; i < 24 && i < 16 + packet % 9; i++) /* "i" <b> */
        sum = mix(sum, words[i]);
    return sum / (packet + 1) & 0xff;
}
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("k.c", KERNEL);
    folder.succeed("kernel build k.c -o k.elf");
    folder.succeed("gen-trace --kind imix --packets 61 --seed 4 -o in.pcap");
    folder
}

fn json(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("no number {name}: {value}"))
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("no list {name}: {value}"))
}

fn sum(list: &[Value], name: &str) -> u64 {
    list.iter().map(|value| number(value, name)).sum()
}

/// Conservation: lines, functions and instructions each have all cycles that warps were on the
/// cores, and all instructions of the cores' counters; each has its reasons.
fn check_conservation(folder: &Folder, what: &str) -> Value {
    let subject = format!("{what} --pcap in.pcap {ARRAY}");
    folder.succeed(&format!("run {subject} --perfetto timeline.json --json out.json --verdicts run.csv"));
    folder.succeed(&format!("profile {subject} --json profile.json --verdicts out.csv"));
    assert_eq!(folder.text("run.csv"), folder.text("out.csv"), "a profile does not change the run");
    let (profile, report) = (json(folder, "profile.json"), json(folder, "out.json"));

    let timeline = json(folder, "timeline.json");
    let warps = list(&timeline, "traceEvents").iter().filter(|event| event["cat"] == "warp");
    let warps: Vec<u64> = warps.map(|warp| number(&warp["args"], "first")).collect();
    let rows = rows(&folder.text("out.csv"));
    let cycles: u64 =
        warps.iter().map(|first| &rows[*first as usize]).map(|row| row.finish - row.start).sum();
    let cores = list(&report, "cores");
    let expected = [cycles, sum(cores, "instructions"), sum(cores, "lane_instructions")];
    let fields = ["cycles", "instructions", "lane_instructions"];
    assert_eq!(fields.map(|field| number(&profile["total"], field)), expected, "{what}");
    assert_eq!(number(&profile, "warps"), warps.len() as u64, "{what}");
    // What made them, and what threads faulted of
    let whole = &report["run"]["configuration"];
    assert!(whole.is_object() && profile["configuration"] == *whole, "{}", profile["configuration"]);
    for part in ["fault_causes", "fault_records"] {
        assert_eq!(list(&profile, part), list(&report, part), "{what}: {part}");
    }
    let maker = &timeline["otherData"];
    for part in ["generator", "version", "commit"] {
        assert!(report["origin"].get(part).is_some_and(|value| maker[part] == *value), "{part}: {maker}");
    }
    assert!(maker["command"].as_str().expect("words").starts_with(&format!("hermes run {what} ")), "{maker}");

    for part in ["lines", "functions", "instructions"] {
        let parts = list(&profile, part);
        assert_eq!(fields.map(|field| sum(parts, field)), expected, "{part}");
        for one in parts.iter().chain([&profile["total"]]) {
            let reasons = one["reasons"].as_object().expect("reasons");
            let sum: u64 = reasons.values().map(|cycles| cycles.as_u64().expect("cycles")).sum();
            assert_eq!((reasons.len(), sum), (12, number(one, "cycles")), "{one}");
        }
    }
    for part in ["lines", "functions"] {
        let cycles: Vec<_> = list(&profile, part).iter().map(|one| number(one, "cycles")).collect();
        assert!(cycles.is_sorted_by(|a, b| a >= b), "{part}: {cycles:?}");
    }
    profile
}

/// Threads that fault, and warps that the watchdog ends, among others.
#[test]
fn nothing_is_lost_when_threads_fault() {
    let folder = folder();
    folder.write("faults.S", include_str!("kernels/faults.S"));
    folder
        .write("spin.S", ".globl kernel\nkernel: andi a2, a0, 3\n bnez a2, 1f\n2: j 2b\n1: li a0, 0\n ret\n");
    for name in ["faults", "spin"] {
        folder.succeed(&format!("kernel build {name}.S -o {name}.elf"));
    }
    let profile = check_conservation(&folder, "--kernel faults.elf --fail-on-fault=false");
    assert!(list(&profile, "fault_records").len() > 3, "{profile}");
    let profile = check_conservation(&folder, "--kernel spin.elf --watchdog 2000 --fail-on-fault=false");
    let first = &list(&profile, "lines")[0];
    assert!(first["file"] == "spin.S" && first["line"] == 4, "the loop: {first}");
    assert!(number(&first["reasons"], "branch") > number(first, "cycles") / 2, "{first}");
}

#[test]
fn every_cycle_and_instruction_is_charged_once() {
    let folder = folder();
    check_conservation(&folder, "--app check-ip-header");
    let profile = check_conservation(&folder, "--kernel k.elf");

    // Each function has its lines; boot sequence and end have none.
    let functions: BTreeMap<&str, &Value> = list(&profile, "functions")
        .iter()
        .map(|one| (one["function"].as_str().expect("a name"), one))
        .collect();
    for name in ["kernel", "mix", "(boot)", "(exit)"] {
        assert!(functions.contains_key(name), "{name}: {functions:?}");
    }
    assert_eq!(functions["(boot)"]["instructions"], 0);
    // A division is waited for where its result is used, a load likewise: in `mix`.
    let line_of =
        |text: &str| 1 + KERNEL.lines().position(|line| line.contains(text)).expect("a line") as u64;
    let lines = list(&profile, "lines");
    let line = |text: &str| {
        let found = lines.iter().find(|one| one["file"] == "k.c" && one["line"] == line_of(text));
        found.unwrap_or_else(|| panic!("no line {text}: {lines:?}"))
    };
    assert!(number(&line("for (uint32_t i")["reasons"], "division") > 0);
    assert_eq!(line("(sum ^ word)")["function"], "mix");
    assert!(number(line("for (uint32_t i"), "instructions") > 61 / 2);
    let most = lines.iter().max_by_key(|one| number(&one["reasons"], "load")).expect("a line");
    assert_eq!(most["line"], line_of("(sum ^ word)"), "{most}");
}

#[test]
fn text_and_page_annotate_the_source() {
    let folder = folder();
    let profile = format!("profile --kernel k.elf --pcap in.pcap {ARRAY}");
    let text = folder.succeed(&format!("{profile} -o page.html --json profile.json"));
    for part in [
        "profile of k.elf on in.pcap",
        "source lines by warp-cycles",
        "functions and labels by warp-cycles",
        "source of k.c",
        "return (sum ^ word) * 2654435761u;",
        "in mix",
        "(boot)",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(text.lines().any(|line| line.contains(" xor a0,a0,a1 ") && line.ends_with("k.c:5")), "{text}");
    let page = folder.text("page.html");
    assert!(page.contains("i &lt; 24 &amp;&amp; i &lt; 16"), "{page}");
    assert!(page.contains("&quot;i&quot; &lt;b&gt;") && !page.contains("<b>"), "{page}");
    assert!(!page.contains("<script") && !page.contains("http") && page.trim_end().ends_with("</html>"));
    for target in page.split("href=\"#").skip(1) {
        let target = target.split('"').next().expect("an end");
        assert!(page.contains(&format!("id=\"{target}\"")), "{target}");
    }

    // The same run gives the same.
    let files = ["page.html", "profile.json"].map(|name| folder.read(name));
    assert_eq!(text, folder.succeed(&format!("{profile} -o page.html --json profile.json")));
    assert!(files == ["page.html", "profile.json"].map(|name| folder.read(name)));

    // Only the first lines; all of them.
    let rows = |text: &str, head: &str| {
        let table = text.lines().skip_while(|line| !line.starts_with(head)).skip(2);
        table.take_while(|line| !line.is_empty()).count()
    };
    let lines = json(&folder, "profile.json")["lines"].as_array().expect("lines").len();
    let two = folder.succeed(&format!("{profile} --top 2"));
    assert_eq!(rows(&two, "source lines by warp-cycles, 2 of"), 2);
    let all = folder.succeed(&format!("{profile} --top 0"));
    assert_eq!(rows(&all, "source lines by warp-cycles"), lines);
}

#[test]
fn sources_are_found_where_they_are() {
    let folder = folder();
    let profile = format!("profile --kernel k.elf --pcap in.pcap {ARRAY}");
    std::fs::create_dir(folder.path("moved")).unwrap();
    std::fs::rename(folder.path("k.c"), folder.path("moved/k.c")).unwrap();
    let text = folder.succeed(&profile);
    assert!(text.contains("k.c:5") && !text.contains("source of k.c"), "{text}");
    let text = folder.succeed(&format!("{profile} --source moved"));
    assert!(text.contains("source of k.c"), "{text}");

    // Apps bring theirs, with what they include.
    let text = folder.succeed(&format!("profile --app check-ip-header --pcap in.pcap {ARRAY} --top 0"));
    for part in ["source of check-ip-header.S", "check-ip-header.S:"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// What ran is told, and then that the run failed: threads that fault, verdicts that are not those
/// expected, a kernel that does not end.
#[test]
fn runs_that_fail_have_a_profile() {
    let folder = folder();
    let fails = |arguments: &str, expected: &str, cycles: u64| {
        let _ = std::fs::remove_file(folder.path("p.json"));
        let output = folder.hermes(&format!("profile --pcap in.pcap {ARRAY} --json p.json {arguments}"));
        let (text, error) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.code() == Some(1) && error.contains(expected), "{arguments}: {error}");
        assert!(
            text.contains("warp-cycles") && number(&json(&folder, "p.json")["total"], "cycles") > cycles,
            "{text}"
        );
    };
    fails("--app dec-ttl --kernel k.elf", " packets differ from the golden model of k.elf", 1000);
    folder.write("v.csv", "packetIdx,verdict\n0,77\n");
    fails(
        "--kernel k.elf --expect-verdicts v.csv",
        "1 of 1 packets differ from --expect-verdicts v.csv",
        1000,
    );
    folder.write("f.S", ".globl kernel\nkernel: sw zero, 0(zero)\nret\n");
    folder.succeed("kernel build f.S -o f.elf");
    fails("--kernel f.elf", "61 of 61 packets ended with a fault", 100);
    folder.write("e.S", ".globl kernel\nkernel: j kernel\n");
    folder.succeed("kernel build e.S -o e.elf");
    fails("--kernel e.elf --watchdog 500", "61 of 61 packets ended with a fault", 1000);
    fails("--kernel e.elf --commit-limit 3000", "--watchdog CYCLES ends the warps", 10_000);
}

#[test]
fn errors_leave_nothing() {
    let folder = folder();
    folder.write("f.c", "int main(void) { return 0; }\n");
    folder.succeed("firmware build f.c -o f.elf");
    let before = folder.files();
    let profile = format!("profile --kernel k.elf --pcap in.pcap {ARRAY}");
    folder.fail(&format!("{profile} --source none"), &["--source none: No such file"]);
    folder.fail(&format!("{profile} --source k.c"), &["--source k.c: expected a folder"]);
    folder.fail(&format!("{profile} -o none/page.html"), &["none/page.html: No such file"]);
    folder.fail(&format!("{profile} -o page.html --json ."), &[".: is a directory"]);
    folder.fail("profile --firmware f.elf -o page.html", &["--pcap: expected packets", "--firmware-profile"]);
    assert_eq!(folder.files(), before);
}
