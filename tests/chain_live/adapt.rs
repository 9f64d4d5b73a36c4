//! Cores that are given out anew while packets flow, when the cost of a function steps by 5.

use std::sync::OnceLock;

use crate::common::Folder;
use crate::{chain, ARRAY};

/// Cycles of a window.
const WINDOW: u64 = 1 << 16;
/// Packets before and behind the step, and Gbit/s of the line.
const PACKETS: [u64; 2] = [1_728, 2_400];
const ALL: u64 = PACKETS[0] + PACKETS[1];
const RATE: f64 = 9.6;
/// Bytes of the frames before and behind the step.
const BYTES: [u64; 2] = [60, 76];

/// A router of handlers that does so many rounds of work before.
fn router(rounds: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/chains/router.c");
    let text = std::fs::read_to_string(path).unwrap();
    let parse = "struct nf_job *job) {\n    job->destination";
    assert!(text.contains(parse));
    let work = format!(
        "struct nf_job *job) {{\n    for (uint32_t round = {rounds}; round; round--)\n        \
         __asm__ volatile(\"\" ::: \"memory\");\n    job->destination"
    );
    text.replacen(parse, &work, 1)
}

/// A folder with two functions of about the same cost, of which the second one takes five times as
/// long for the packets of `step.pcap` from the step on.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.succeed("gen-routes --count 300 --ports 16 --seed 3 -o routes");
    for (name, rounds) in [("steady", "100"), ("steps", "slot->length > 70 ? 500 : 100")] {
        folder.write(&format!("{name}.c"), router(rounds));
        let text = format!(
            "[function]\nname = \"{name}\"\napp = \"route-lookup\"\nsource = \"{name}.c\"\npacket = \"read\"\n\
             inputs = {{ routes = \"routes\" }}\nwatchdog = 50_000\n"
        );
        folder.write(&format!("{name}.toml"), text);
    }
    folder.write("two.toml", chain(&[("steady", "steps"), ("steps", "end")]));
    let mut all = Vec::new();
    for (name, bytes, packets) in
        [("before.pcap", BYTES[0], PACKETS[0]), ("behind.pcap", BYTES[1], PACKETS[1])]
    {
        folder.succeed(&format!(
            "gen-trace --kind fixed:{bytes} --packets {packets} --routes routes --seed 3 -o {name}"
        ));
        // Behind the first file's header of 24 bytes stand records alone.
        let file = folder.read(name);
        all.extend_from_slice(if all.is_empty() { &file } else { &file[24..] });
    }
    folder.write("step.pcap", all);
    folder
}

/// What is measured of the functions.
const SHORT: &str = "--mcw 1,2,4 --on-cores 2 --packets 32 --waves 4";

/// The same with `split.json`, the plan of its chain: measured once, as all tests here have the
/// same functions.
fn planned() -> Folder {
    static PLAN: OnceLock<String> = OnceLock::new();
    let folder = folder();
    let plan = PLAN.get_or_init(|| {
        let plan = format!("chain plan two.toml --pcap before.pcap {ARRAY} {SHORT} --json split.json");
        folder.succeed(&plan);
        folder.text("split.json")
    });
    folder.write("split.json", plan);
    folder
}

/// The cost of a function steps by 5: within three windows and a residence the cores are given out
/// anew; no packet is lost, each is as the golden models have it.
#[test]
fn a_cost_that_steps_moves_cores_under_traffic() {
    let folder = planned();
    let run = format!(
        "chain run two.toml --pcap step.pcap --through ports --mode gnet --plan split.json \
         --arrivals constant:{RATE} {ARRAY}"
    );
    let text = folder.succeed(&format!("{run} --adapt --json run.json"));
    let report = folder.report("run.json");
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    assert_eq!((report["compared"].as_bool(), number(&report["packets"])), (Some(true), ALL));
    let [steady, steps] = [0, 1].map(|function| &report["functions"][function]);
    assert_eq!((number(&steady["packets"]), &steps["packets"]), (ALL, &steady["forwarded"]), "{text}");
    assert_eq!((&steps["forwarded"], &report["forwarded"]), (&steady["forwarded"], &steady["forwarded"]));
    let decisions = report["decisions"].as_array().unwrap();
    let first = &decisions[0];
    let of = |field: &str| -> Vec<f64> {
        let functions = first["functions"].as_array().unwrap();
        functions.iter().map(|function| function[field].as_f64().unwrap()).collect()
    };
    assert_eq!((of("cores_before"), of("cores")), (vec![2.0, 2.0], vec![1.0, 3.0]), "{text}");
    // When the first packet behind the step arrives; a residence is below 20,000 cycles.
    let step = (PACKETS[0] * 8 * (BYTES[0] + 24)) as f64 / RATE;
    let [cycle, stood] = ["cycle", "stood"].map(|field| first[field].as_u64().unwrap());
    assert!(cycle as f64 > step && cycle % WINDOW < 2_000, "{text}");
    assert!((stood as f64) < step + (3 * WINDOW) as f64 + 20_000.0, "{text}");
    // What was counted: about five times the cost of before; some lanes are idle.
    let [steady, steps] = of("core_cycles_per_packet")[..] else { panic!("{text}") };
    let planned = folder.report("split.json");
    let before = planned["functions"][1]["core_cycles_per_packet"].as_f64().unwrap();
    assert!((4.0..6.5).contains(&(steps / before)) && steady < 0.5 * steps, "{before} {text}");
    assert!(of("waiting")[1] > 0.0, "{text}");
    assert!(text.contains("cores 1 3 (MCW ") && text.contains("instead of 2 2 (MCW "), "{text}");
    for other in &decisions[1..] {
        let functions = other["functions"].as_array().unwrap();
        let cores: Vec<_> = functions.iter().map(|function| function["cores"].as_u64().unwrap()).collect();
        assert_eq!(cores, [1, 3], "no way back: {text}");
    }
    // Faster than with the cores of before.
    folder.succeed(&format!("{run} --json fixed.json"));
    let cycles = |report: &serde_json::Value| report["cycles"].as_f64().unwrap();
    let (fixed, adapted) = (folder.report("fixed.json"), report);
    assert!(cycles(&adapted) < 0.9 * cycles(&fixed), "{} {}", cycles(&adapted), cycles(&fixed));
    assert!(fixed.get("decisions").is_none());
}

/// Cores that no function has are given out, too.
#[test]
fn cores_without_a_function_are_given_out() {
    let folder = planned();
    let mut split: serde_json::Value = serde_json::from_str(&folder.text("split.json")).unwrap();
    for function in 0..2 {
        split["functions"][function]["cores"] = 1.into();
    }
    folder.write("split.json", split.to_string());
    let text = folder.succeed(&format!(
        "chain run two.toml --pcap step.pcap --through ports --mode gnet --plan split.json --adapt \
         --arrivals constant:{RATE} {ARRAY} --json run.json"
    ));
    let report = folder.report("run.json");
    assert_eq!((report["compared"].as_bool(), report["packets"].as_u64()), (Some(true), Some(ALL)));
    let first = report["decisions"][0]["functions"].as_array().unwrap();
    let of = |field: &str| first.iter().map(|one| one[field].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!((of("cores_before"), of("cores")), (vec![1, 1], vec![1, 3]), "{text}");
    assert!(report["decisions"][0]["stood"].is_u64(), "{text}");
}

/// A function that hangs for the packets behind the step is bent to a stub while cores are given
/// out anew; a plan takes no feedback of a run in which one hangs.
#[test]
#[ignore = "half a minute: a plan and two runs of functions that hang"]
fn a_function_hangs_while_cores_are_given_out() {
    let folder = folder();
    folder.write("steps.c", router("slot->length > 70 ? ~0u : 100"));
    folder.write("steps.toml", folder.text("steps.toml").replace("50_000", "20_000"));
    let two = folder.text("two.toml").replace("next = \"end\"\n", "next = \"end\"\non_hang = \"pass\"\n");
    folder.write("two.toml", two);
    let plan = format!("chain plan two.toml --pcap before.pcap {ARRAY} {SHORT}");
    folder.succeed(&format!("{plan} --json split.json"));
    let run = format!(
        "chain run two.toml --pcap step.pcap --through ports --mode gnet --plan split.json \
         --arrivals constant:{RATE} {ARRAY}"
    );
    let text = folder.succeed(&format!("{run} --adapt --json run.json"));
    let report = folder.report("run.json");
    assert_eq!((report["compared"].as_bool(), report["packets"].as_u64()), (Some(true), Some(ALL)));
    let hung = &report["hung"][0];
    assert_eq!((hung["function"].as_str(), hung["action"].as_str()), (Some("steps"), Some("pass")), "{text}");
    let steps = &report["functions"][1];
    let [packets, faulted] = ["packets", "faulted"].map(|field| steps[field].as_u64().unwrap());
    assert!((8..400).contains(&faulted) && packets > 5 * ALL / 6, "{text}");
    for decision in report["decisions"].as_array().unwrap() {
        let functions = decision["functions"].as_array().unwrap();
        let cores: u64 = functions.iter().map(|function| function["cores"].as_u64().unwrap()).sum();
        assert_eq!(cores, 4, "{text}");
    }
    assert!(text.contains("decision in cycle "), "{text}");

    folder.succeed(&format!("{run} --max-packets 2128 --json hung.json"));
    assert_eq!(folder.report("hung.json")["hung"][0]["function"], "steps");
    folder.fail(
        &format!("{plan} --feedback hung.json --json none.json"),
        &["--feedback hung.json: a function hung in the run; expected one in which none does"],
    );
    assert!(!folder.files().contains(&"none.json".to_string()));
}

#[test]
fn what_giving_out_anew_needs() {
    let folder = planned();
    let run =
        format!("chain run two.toml --pcap before.pcap --max-packets 40 --json none.json {ARRAY} --adapt");
    let plan = "--mode gnet --plan split.json";
    folder.write("events.toml", "[[event]]\npacket = 9\ncores = { steps = 1 }\n");
    for (arguments, expected) in [
        ("--through ports", "--adapt: expected with --mode gnet and --plan"),
        ("--through ports --mode fair", "--adapt: expected with --mode gnet and --plan"),
        (plan, "--adapt: expected --through ports"),
        (
            "--mode gnet --plan split.json --through ports --events events.toml",
            "--adapt with --events: expected one of them",
        ),
    ] {
        folder.fail(&format!("{run} {arguments}"), &[expected]);
    }
    let split = folder.text("split.json");
    let mut value: serde_json::Value = serde_json::from_str(&split).unwrap();
    let run = format!("{run} --through ports {plan}");
    value["functions"][1]["demand"]["visits"] = 2.into();
    folder.write("split.json", value.to_string());
    folder.fail(&run, &["split.json: steps: demand: visits 2: expected more than 0, and 1 at most"]);
    value["functions"][1].as_object_mut().unwrap().remove("demand");
    folder.write("split.json", value.to_string());
    folder
        .fail(&run, &["split.json: steps: no demand; expected a file of this version of `hermes chain plan"]);
    assert!(!folder.files().contains(&"none.json".to_string()));
    folder.write("split.json", split);
    // Shorter than a window: nothing is decided.
    let text = folder.succeed(&run);
    assert!(!text.contains("decision"), "{text}");
}

/// What a run has shown of the functions makes the next plan's prediction better.
#[test]
#[ignore = "a minute: two profiles, four runs"]
fn a_run_is_fed_back_to_the_plan() {
    let folder = folder();
    let mut plan = format!("chain plan two.toml --pcap before.pcap {ARRAY} {SHORT}");
    // Profiles of functions that are faster than these: what is predicted is too high.
    for name in ["steady", "steps"] {
        folder.succeed(&format!(
            "nf bench {name}.toml --chain two.toml --pcap before.pcap {ARRAY} {SHORT} --json {name}.json"
        ));
        let mut report = folder.report(&format!("{name}.json"));
        for sample in report["profiles"][0]["samples"].as_array_mut().unwrap() {
            for (field, by) in [("cycles", 0.7), ("stay", 0.7), ("rate", 1.0 / 0.7)] {
                sample[field] = (sample[field].as_f64().unwrap() * by).into();
            }
        }
        folder.write(&format!("{name}.json"), report.to_string());
        plan += &format!(" --profile {name}.json");
    }
    folder.succeed(&format!("{plan} --json split.json"));
    let run = format!(
        "chain run two.toml --pcap before.pcap --max-packets 1700 --through ports --mode gnet --plan split.json {ARRAY}"
    );
    folder.succeed(&format!("{run} --json run.json"));
    let text = folder.succeed(&format!("{plan} --feedback run.json --json again.json"));
    assert!(text.contains("core cycles/packet       C"), "{text}");
    let mpps = |name: &str| folder.report(name)["mpps"].as_f64().unwrap();
    let [before, ran, again] = ["split.json", "run.json", "again.json"].map(mpps);
    assert!(before > 1.05 * ran, "{before} {ran}");
    let off = |predicted: f64| (predicted / ran - 1.0).abs();
    assert!(off(again) < 0.5 * off(before), "{before} {ran} {again}");

    // Memory of another timing, another kernel, other tables.
    let other = run.replace("--max-packets 1700", "--max-packets 200 --json other.json");
    let fails = |expected: &[&str]| {
        folder.fail(&format!("{plan} --feedback other.json --json none.json"), expected);
    };
    folder.succeed(&other.replace("--mem-latency 20", "--mem-latency 200"));
    fails(&["--feedback other.json: memory: 200; expected 20, that of the plan (--memory, --mem-latency)"]);
    let digests = |name: &str| {
        let report = folder.report(name);
        ["kernel", "tables"].map(|field| report["functions"][0][field].as_str().unwrap().to_string())
    };
    let [kernel, tables] = digests("run.json");
    folder.write("steady.c", router("101"));
    folder.succeed(&other);
    let told = format!(
        "--feedback other.json: steady: kernel: {}; expected {kernel}, SHA",
        digests("other.json")[0]
    );
    // The plan is that of the kernel before.
    folder.write("steady.c", router("100"));
    fails(&[&told]);
    let routes = folder.read("routes");
    folder.succeed("gen-routes --count 300 --ports 16 --seed 4 -o routes");
    folder.succeed(&other);
    let told = format!(
        "--feedback other.json: steady: tables: {}; expected {tables}, SHA",
        digests("other.json")[1]
    );
    folder.write("routes", routes);
    fails(&[&told]);

    // Other packets, and functions that take turns.
    let whole = "--max-packets 200 --through ports --json other.json";
    folder.succeed(&format!("chain run two.toml --pcap behind.pcap {whole} {ARRAY}"));
    folder.fail(
        &format!("{plan} --feedback other.json --json none.json"),
        &["--feedback other.json: bytes: 76.0 of a packet in the mean; expected 54.0 to 66.0, as of the packets of"],
    );
    folder.succeed(&format!("chain run two.toml --pcap before.pcap {whole} --mode temporal {ARRAY}"));
    folder.fail(
        &format!("{plan} --feedback other.json --json none.json"),
        &["--feedback other.json: mode: temporal, in which functions are on the cores in turns; expected gnet"],
    );
    let mut value = folder.report("run.json");
    let lanes = value["config"]["lanes"].take();
    value["config"]["lanes"] = 8.into();
    folder.write("bad.json", value.to_string());
    folder.fail(
        &format!("{plan} --feedback bad.json --json none.json"),
        &["--feedback bad.json: config: lanes: 8; expected 4, as of the array of the plan"],
    );
    value["config"]["lanes"] = lanes;
    for (change, expected) in [
        ("name", "run.json: functions: other, steps; expected steady, steps, those of the chain"),
        ("cores", "run.json: other: expected 1 to 32 cores"),
    ] {
        match change {
            "name" => value["functions"][0]["name"] = "other".into(),
            _ => {
                value["functions"][0]["name"] = "steady".into();
                value["functions"][0]["cores"] = 0.into();
            }
        }
        folder.write("bad.json", value.to_string());
        let expected = expected.replace("run.json", "bad.json").replace(": other: ", ": steady: ");
        folder.fail(&format!("{plan} --feedback bad.json --json none.json"), &[&expected]);
    }
    value["functions"][0]["cores"] = 2.into();
    value["decisions"] = serde_json::json!([{}]);
    folder.write("bad.json", value.to_string());
    let error = "bad.json: cores or functions changed in the run; expected one without --events and --adapt";
    folder.fail(&format!("{plan} --feedback bad.json --json none.json"), &[error]);
    folder.fail(
        &format!("{plan} --feedback routes --json none.json"),
        &["expected a report of this version of `hermes chain run"],
    );
    assert!(!folder.files().contains(&"none.json".to_string()));
}
