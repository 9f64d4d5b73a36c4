//! `hermes compare`, and what every report tells of where it comes from.

mod common;

use common::Folder;
use serde_json::Value;

const RUN: &str = "-q run --app dec-ttl --pcap in.pcap --cores 1 --lanes 1 --warps 2";

/// A folder with a capture, a report `a.json` of it, and `b.json` of the same run.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 20 -o in.pcap");
    folder.succeed(&format!("{RUN} --json a.json"));
    folder.succeed(&format!("{RUN} --json b.json"));
    folder
}

fn json(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.text(name)).expect("JSON")
}

#[test]
fn a_report_tells_how_to_make_it_again() {
    let folder = folder();
    let report = json(&folder, "a.json");
    let origin = &report["origin"];
    assert_eq!(
        (&origin["generator"], &origin["version"]),
        (&"hermes".into(), &env!("CARGO_PKG_VERSION").into())
    );
    let version = folder.succeed("--version");
    let commit = origin["commit"].as_str().map_or(String::new(), |commit| format!(" ({commit})"));
    assert_eq!(version.trim(), format!("hermes {}{commit}", env!("CARGO_PKG_VERSION")));
    let input = &origin["inputs"][0];
    assert_eq!((&input["option"], &input["path"]), (&"--pcap".into(), &"in.pcap".into()));
    assert_eq!(input["sha256"].as_str().map(str::len), Some(64));
    let configuration = &report["run"]["configuration"];
    for field in ["l1_lines", "l2_bank_lines", "instruction_cache_ways", "network", "trace"] {
        assert!(!configuration[field].is_null(), "{configuration}");
    }
    assert_eq!((&configuration["lanes"], &configuration["warps"]), (&1.into(), &2.into()));
    assert_eq!(report["fault_records"], serde_json::json!([]));
    // The command line that stands there gives the same figures.
    let words: Vec<_> = origin["command"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(words[0], "hermes");
    folder.succeed(&words[1..].join(" ").replace("a.json", "again.json"));
    folder.succeed("compare --fail a.json again.json");
}

#[test]
fn every_difference_is_told() {
    let folder = folder();
    let text = folder.succeed("compare --fail a.json b.json");
    assert!(text.contains("figures and the configuration are equal"), "{text}");
    assert!(text.contains("origin.command"), "another file: {text}");
    folder.succeed(&format!("{RUN} --mem-latency 30 --json c.json"));
    let text = folder.succeed("compare a.json c.json");
    let lines: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let place = |wanted: &str| {
        lines.iter().position(|line| line == wanted).unwrap_or_else(|| panic!("{wanted} in\n{text}"))
    };
    assert!(
        place("configuration") < place("run.memory 60 -> 30")
            && place("run.memory 60 -> 30") < place("figures")
    );
    let (a, c) = (json(&folder, "a.json"), json(&folder, "c.json"));
    let [first, second] = [&a, &c].map(|report| report["cycles"].as_i64().unwrap());
    let relative = 100.0 * (second - first) as f64 / first as f64;
    let words = format!("cycles {first} {second} {:+} {relative:+.2} %", second - first);
    assert!(lines.contains(&words), "{words} in\n{text}");
    assert!(!lines.iter().any(|line| line.starts_with("packets ")), "equal figures are not told");
    let code = |arguments: &str| folder.hermes(arguments).status.code();
    assert_eq!(code("compare --fail a.json c.json"), Some(1));
    // A field of the configuration is told once.
    let mut other = a.clone();
    other["run"]["warps"] = 3.into();
    other["run"]["configuration"]["warps"] = 3.into();
    folder.write("d.json", other.to_string());
    let text = folder.succeed("compare a.json d.json");
    assert_eq!(text.matches("warps").count(), 1, "{text}");
    // Within a tolerance a figure is equal; options are not.
    let mut other = a.clone();
    other["cycles"] = (first + first / 100).into();
    folder.write("e.json", other.to_string());
    assert_eq!(code("compare --fail a.json e.json"), Some(1));
    assert_eq!(code("compare --fail --tolerance 2 a.json e.json"), Some(0));
    assert_eq!(code("compare --fail --tolerance 100 a.json d.json"), Some(1));
    folder.fail("compare --tolerance 101 a.json e.json", &["--tolerance 101: expected 0 to 100 percent"]);
}

#[test]
fn figures_of_benches_are_found_by_their_names() {
    let folder = Folder::new();
    let figure =
        |name: &str, value: f64| format!(r#"{{"name":"{name}","value":{value},"unit":"s","limit":null}}"#);
    let report = |figures: &[String]| format!(r#"{{"figures":[{}]}}"#, figures.join(","));
    folder.write("a.json", report(&[figure("one", 1.0), figure("two", 2.0)]));
    folder.write("b.json", report(&[figure("two", 2.0), figure("one", 1.5), figure("new", 1.0)]));
    let text = folder.succeed("compare a.json b.json");
    for part in ["figures[one].value", "+0.5", "+50.00 %", "figures[new].value"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(!text.contains("[two]"), "{text}");
}

/// Figures of two benches have nothing to do with each other.
#[test]
fn benches_are_compared_with_themselves() {
    let folder = Folder::new();
    let report = |bench: &str, value: u32| {
        format!(
            r#"{{"origin":{{"command":["hermes","-q","bench","--json","x.json","{bench}"]}},"figures":[{{"name":"a","value":{value}}}]}}"#
        )
    };
    folder.write("core.json", report("core", 1));
    folder.write("again.json", report("core", 2));
    folder.write("apps.json", report("apps", 1));
    folder.succeed("compare core.json again.json");
    folder.fail(
        "compare core.json apps.json",
        &["apps.json: the JSON of hermes bench apps; expected that of hermes bench core, as core.json"],
    );
}

/// The same sources give the same file in another folder, and so the same report.
#[test]
fn what_is_built_elsewhere_is_the_same() {
    let (first, second) = (Folder::new(), Folder::new());
    let kernel = "#include <hermes.h>\n#include <string.h>\n#include \"mine.h\"\nuint32_t sum(uint32_t);\n\
                  uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)\n\
                  { uint32_t copy[4]; memcpy(copy, slot, 16); return sum(copy[packet & 3]) & 7; }\n";
    for folder in [&first, &second] {
        std::fs::create_dir(folder.path("include")).unwrap();
        folder.write("include/mine.h", "#define MINE 1\n");
        folder.write("k.c", kernel);
        folder.write("sum.S", ".globl sum\nsum: addi a0, a0, 5\nret\n");
        folder.write("fw.c", "#include \"hermes_cp.h\"\nint main(void) { puts(__FILE__); return 0; }\n");
        folder.succeed("kernel build k.c sum.S -I include -o k.elf");
        folder.succeed("firmware build fw.c -o fw.elf");
        folder.succeed("gen-trace --kind imix --packets 20 -o in.pcap");
        folder
            .succeed("-q run --kernel k.elf --pcap in.pcap --cores 1 --lanes 1 --warps 2 --json report.json");
    }
    assert!(first.read("k.elf") == second.read("k.elf") && first.read("fw.elf") == second.read("fw.elf"));
    first.write("other.json", second.read("report.json"));
    first.succeed("compare --fail report.json other.json");
    // In the folder GDB finds the sources by these names.
    let bytes = first.read("k.elf");
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has("k.c\0") && has("sum.S\0") && !has(&first.path("").display().to_string()));
}

/// Lines, functions and instructions of profiles are found by what they are, whatever they cost.
#[test]
fn profiles() {
    let folder = Folder::new();
    let profile = |kernel: &str, lines: &str| {
        format!(
            r#"{{"kernel":"{kernel}","capture":"in.pcap","preset":"default","cores":2,"lanes":8,"warp_slots":8,"warps":3,
            "total":{{"cycles":50}},"lines":[{lines}],"functions":[{{"function":"kernel","cycles":40}}],
            "instructions":[{{"address":4096,"place":"kernel+0","instruction":"ret","cycles":7,"reasons":{{"load":2}}}}]}}"#
        )
    };
    let line = |number: u32, cycles: u32| {
        format!(r#"{{"file":"k.c","line":{number},"function":"kernel","cycles":{cycles}}}"#)
    };
    folder.write("a.json", profile("k.elf", &format!("{},{}", line(7, 30), line(9, 20))));
    folder.write("b.json", profile("new.elf", &format!("{},{}", line(9, 35), line(7, 30))));
    let text = folder.succeed("compare a.json b.json");
    for part in
        ["k.elf -> new.elf", "lines[k.c:9].cycles", "+75.00 %", "figures differ, with the same configuration"]
    {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert!(!text.contains("k.c:7") && !text.contains("functions["), "{text}");
    folder.write("run.json", r#"{"run":{},"packets":1}"#);
    folder.fail("compare a.json run.json", &["a.json", "hermes profile"]);
}

#[test]
fn what_is_no_report_is_an_error() {
    let folder = Folder::new();
    folder.write("run.json", r#"{"run":{},"packets":1}"#);
    folder.write("bench.json", r#"{"figures":[]}"#);
    folder.write("other.json", "{}");
    folder.write("text", "no JSON");
    let expected = "expected the JSON of `hermes run`";
    folder.fail("compare run.json text", &["text: no JSON", expected]);
    folder.fail("compare other.json run.json", &["other.json: no report", expected]);
    folder.fail("compare none run.json", &["none: No such file"]);
    folder.fail(
        "compare run.json bench.json",
        &["bench.json: the JSON of hermes bench; expected that of hermes run, as run.json"],
    );
}
