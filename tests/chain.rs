//! `hermes chain` in a folder: an operator's files, from none to a report.

mod common;

use std::process::Command;

use common::Folder;
use hermes_testbench::traffic;

/// A folder with a firewall, a router, and packets for both.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.succeed("gen-rules --kind fw --count 60 --deny 20 --seed 3 -o filters");
    folder.succeed("gen-routes --count 500 --ports 16 --seed 3 -o routes");
    folder.succeed("gen-trace --kind imix --packets 80 --rules filters --routes routes --seed 3 -o in.pcap");
    let manifest = |name: &str, fields: &str| {
        let text = format!("[function]\nname = \"{name}\"\nwatchdog = 400_000\n{fields}\n");
        folder.write(&format!("{name}.toml"), text);
    };
    manifest("firewall", "app = \"classifier-bv\"\ninputs = { rules = \"filters\" }\npacket = \"read\"");
    manifest("router", "app = \"route-lookup\"\ninputs = { routes = \"routes\" }\npacket = \"read\"");
    manifest("own", "source = \"own.S\"\nstate_bytes = 64\nargument = [\"state\"]");
    folder.write(
        "own.S",
        ".globl kernel\nkernel: lw a3, 0(a2)\nlw a4, 0(a3)\naddi a4, a4, 1\nsw a4, 0(a3)\nandi a0, a4, 1\nret\n",
    );
    folder.write("edge.toml", chain(&[("firewall", "router"), ("router", "end")]));
    folder
}

/// A file of `examples/chains`.
fn example(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/chains").join(name);
    std::fs::read_to_string(path).unwrap()
}

fn chain(functions: &[(&str, &str)]) -> String {
    let function = |(name, next): &(&str, &str)| {
        format!("[[function]]\nmanifest = \"{name}.toml\"\nnext = \"{next}\"\n")
    };
    functions.iter().map(function).collect()
}

#[test]
fn a_chain_is_shown() {
    let folder = folder();
    let text = folder.succeed("chain check edge.toml");
    for expected in [
        "2 functions on 2 cores of 8 lanes and 8 warp slots",
        "NF  name             cores   MCW   watchdog packet   grows  next",
        "0   firewall         0         8     400000 read         0  router",
        "1   router           1         8     400000 read         0  end",
        "table of the app",
    ] {
        assert!(text.contains(expected), "{text}\nexpected: {expected}");
    }
    assert_eq!(text, folder.succeed("chain check edge.toml"), "the same twice");
    let text = folder.succeed("chain check edge.toml --cores 5");
    assert!(text.contains("0   firewall         0-2") && text.contains("1   router           3-4"), "{text}");
    let dot = folder.succeed("chain check edge.toml --dot");
    assert!(dot.starts_with("digraph chain {\n") && dot.contains("  \"firewall\" -> \"router\";\n"), "{dot}");
}

#[test]
fn packets_go_through_a_chain() {
    let folder = folder();
    let text = folder.succeed("chain test edge.toml --pcap in.pcap -o out.pcap --json report.json");
    assert!(text.starts_with("80 packets in, "), "{text}");
    let report = folder.report("report.json");
    let functions = report["functions"].as_array().unwrap();
    let number = |function: usize, field: &str| functions[function][field].as_u64().unwrap();
    assert_eq!(number(0, "packets"), 80);
    assert_eq!(number(1, "packets"), number(0, "forwarded"));
    assert_eq!(report["forwarded"].as_u64(), Some(number(1, "forwarded")));
    assert_eq!(functions.len(), 2);
    for (function, report) in functions.iter().enumerate() {
        assert_eq!(number(function, "packets"), number(function, "forwarded") + number(function, "dropped"));
        assert!(number(function, "forwarded") > 0 && number(function, "dropped") > 0, "{text}");
        let verdicts = report["verdicts"].as_object().unwrap();
        let all: u64 = verdicts.values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(all, number(function, "packets"));
    }
    // What came through is what both apps let through, one after the other.
    let array = "--cores 1 --lanes 4 --warps 4 --mem-latency 20";
    folder.succeed(&format!("run --app classifier-bv --rules filters --pcap in.pcap -o first.pcap {array}"));
    folder.succeed(&format!("run --app route-lookup --routes routes --pcap first.pcap -o both.pcap {array}"));
    assert_eq!(folder.read("out.pcap"), folder.read("both.pcap"));

    // A function of one's own keeps its state from packet to packet, and is compared with nothing.
    folder.write("own-chain.toml", chain(&[("firewall", "own"), ("own", "end")]));
    let text = folder.succeed("chain test own-chain.toml --pcap in.pcap --json own.json");
    assert!(text.contains("own: not compared, since it has no golden model (`app`)"), "{text}");
    let report = folder.report("own.json");
    let verdicts = &report["functions"][1]["verdicts"];
    let [odd, even] = ["forward: port 1", "forward: port 0"].map(|name| verdicts[name].as_u64().unwrap());
    assert!(odd == even || odd == even + 1, "{verdicts}");
}

/// A tap has what came to a function: of the first one all that came in, of the next one what was
/// forwarded.
#[test]
fn taps_show_what_came() {
    let folder = folder();
    folder.succeed("chain test edge.toml --pcap in.pcap --taps taps");
    assert_eq!(folder.read("taps/firewall.pcap"), folder.read("in.pcap"));
    let array = "--cores 1 --lanes 4 --warps 4 --mem-latency 20";
    folder.succeed(&format!("run --app classifier-bv --rules filters --pcap in.pcap -o first.pcap {array}"));
    assert_eq!(folder.read("taps/router.pcap"), folder.read("first.pcap"));
    std::fs::rename(folder.path("in.pcap"), folder.path("router.pcap")).unwrap();
    let error = "would overwrite --pcap router.pcap, which is read";
    folder.fail("chain test edge.toml --pcap router.pcap --taps .", &["--taps ./router.pcap: ", error]);
    folder.fail("chain test edge.toml --pcap router.pcap --taps routes", &["--taps routes: "]);
}

/// The chains of `examples/`, with what their script makes of a seed.
#[test]
fn chains_of_the_paper() {
    let folder = Folder::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/chains");
    for entry in std::fs::read_dir(example).unwrap() {
        let path = entry.unwrap().path();
        folder.write(path.file_name().unwrap().to_str().unwrap(), std::fs::read(&path).unwrap());
    }
    let mut script = Command::new("sh");
    script.args(["inputs", "5", "30", "fixed:508"]).current_dir(folder.path("."));
    let made = script.env("HERMES", env!("CARGO_BIN_EXE_hermes")).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let chains = [("edge", 2), ("edge-c", 2), ("sa", 2), ("sb", 3), ("sc", 3), ("sd", 4)];
    for (chain, functions) in chains {
        let array = if chain.starts_with("edge") { "" } else { "--preset paper --aes" };
        folder.succeed(&format!("chain check {chain}.toml {array}"));
        folder.succeed(&format!("chain test {chain}.toml --pcap in.pcap --json {chain}.json {array}"));
        let report = folder.report(&format!("{chain}.json"));
        let told = report["functions"].as_array().unwrap();
        assert_eq!(told.len(), functions, "{chain}");
        assert!(report["forwarded"].as_u64().unwrap() > 0, "{chain}: {report}");
        assert!(told.iter().all(|function| function["packets"].as_u64().unwrap() > 0), "{chain}: {report}");
    }
}

/// The router of docs/chains.md, of three handlers: byte by byte what the golden model of the app
/// says, by itself and behind the firewall, on the reference simulator and on an array.
#[test]
fn a_router_of_handlers() {
    let folder = folder();
    let router = example("router.c");
    assert!(router.lines().count() <= 25, "the paper's has 32 lines");
    let documented: String = router
        .lines()
        .map(|line| format!("    {line}"))
        .map(|line| line.trim_end().to_string() + "\n")
        .collect();
    let docs = include_str!("../docs/chains.md");
    assert!(docs.contains(&documented), "docs/chains.md shows examples/chains/router.c");
    let indented = |text: &str| -> String { text.lines().map(|line| format!("    {line}\n")).collect() };
    let without_comment = |text: String| text.split_once('\n').unwrap().1.to_string();
    assert!(docs.contains(&indented(&without_comment(example("router-c.toml")))));
    for name in ["router.c", "router-c.toml", "edge-c.toml"] {
        folder.write(name, example(name));
    }
    let verdicts =
        |report: &str, function: usize| folder.report(report)["functions"][function]["verdicts"].clone();
    let trace = "gen-trace --kind imix --packets 120 --bad-share 30 --routes routes --seed 3 -o bad.pcap";
    folder.succeed(trace);
    folder.succeed("nf test router.toml --pcap bad.pcap -o expected.pcap --json expected.json");
    folder.succeed("nf test router-c.toml --pcap bad.pcap -o out.pcap --json test.json");
    assert_eq!(folder.read("out.pcap"), folder.read("expected.pcap"));
    let of_handlers = verdicts("test.json", 0);
    assert_eq!(of_handlers, verdicts("expected.json", 0));
    let dropped = ["drop: not IPv4", "drop: version"].iter().all(|name| of_handlers[*name].is_u64());
    assert!(dropped, "`pre` drops: {of_handlers}");

    folder.succeed("chain test edge.toml --pcap in.pcap -o expected.pcap --json expected.json");
    for (command, report) in [("chain test", "test.json"), ("chain run", "run.json")] {
        let array = if command == "chain run" { format!("--through ports {ARRAY}") } else { String::new() };
        folder.succeed(&format!("{command} edge-c.toml --pcap in.pcap -o out.pcap --json {report} {array}"));
        assert_eq!(folder.read("out.pcap"), folder.read("expected.pcap"), "{command}");
        assert_eq!(verdicts(report, 1), verdicts("expected.json", 1), "{command}");
    }
    // One that looks up another address is found out.
    folder.write("router.c", router.replace("ipv4 + 16", "ipv4 + 12"));
    let differs = ["`router-c` differs from the golden model of its app", "<-- differs"];
    folder.fail("nf test router-c.toml --pcap in.pcap", &differs);
}

/// The counter of docs/chains.md: classes by the table, by itself and where what a firewall has
/// dropped comes to it, on the reference simulator and on an array.
#[test]
fn a_counter_of_lengths() {
    let folder = folder();
    let docs = include_str!("../docs/chains.md");
    let indented = |text: &str| -> String {
        text.lines().map(|line| format!("    {line}").trim_end().to_string() + "\n").collect()
    };
    let without_comment = |name: &str| example(name).split_once('\n').unwrap().1.to_string();
    assert!(docs.contains(&indented(&example("lengths.c"))), "docs/chains.md shows lengths.c");
    for name in ["lengths.toml", "branches.toml"] {
        assert!(docs.contains(&indented(&without_comment(name))), "docs/chains.md shows {name}");
    }
    for name in ["lengths.c", "lengths.toml", "branches.toml"] {
        folder.write(name, example(name));
    }
    let limits = [127_u16, 511, 1_023];
    folder.write("limits.bin", limits.map(u16::to_le_bytes).concat());
    let classes = |frames: &[traffic::Frame]| {
        let class = |frame: &traffic::Frame| {
            limits.iter().filter(|limit| frame.data.len() > (**limit).into()).count()
        };
        let mut counts = [0_u64; 4];
        frames.iter().for_each(|frame| counts[class(frame)] += 1);
        counts
    };
    let counted = |report: &str, function: usize| -> [u64; 4] {
        let verdicts = folder.report(report)["functions"][function]["verdicts"].clone();
        [64, 65, 66, 67].map(|reason| verdicts[format!("drop: reason {reason}")].as_u64().unwrap_or(0))
    };
    folder.succeed("gen-routes --count 500 --ports 2 --seed 3 -o routes");
    folder.succeed("gen-trace --kind imix --packets 120 --rules filters --routes routes --seed 3 -o in.pcap");
    let frames = traffic::read(&folder.path("in.pcap"), None).unwrap().frames;
    let expected = classes(&frames);
    assert!(expected.iter().filter(|count| **count > 0).count() > 2, "{expected:?}");
    folder.succeed("nf test lengths.toml --atomics --pcap in.pcap --json test.json");
    assert_eq!(counted("test.json", 0), expected);

    let chain = "branches.toml --pcap in.pcap --taps taps";
    folder.succeed(&format!("chain test {chain} --cores 4 --atomics --json test.json"));
    let denied = traffic::read(&folder.path("taps/lengths.pcap"), None).unwrap().frames;
    assert!(!denied.is_empty() && denied.len() < 100, "{}", denied.len());
    assert_eq!(counted("test.json", 2), classes(&denied));
    folder.succeed(&format!("chain run {chain} --json run.json {ARRAY} {BRANCHES}"));
    assert_eq!(folder.report("run.json")["functions"][2]["dropped"].as_u64(), Some(denied.len() as u64));
    let came = traffic::read(&folder.path("taps/lengths.pcap"), None).unwrap().frames;
    assert_eq!(classes(&came), classes(&denied));
}

/// A verdict of the first handler is that of the packet, forward or drop: the others do not see it.
#[test]
fn a_verdict_of_the_first_handler_leaves_at_once() {
    let folder = folder();
    folder.write(
        "h.c",
        "#include <hermes_nf.h>\n\
         struct nf_arguments { uint32_t *state; };\n\
         struct nf_job { uint32_t length, more; };\n\
         static uint32_t pre(struct packet_slot *slot, struct nf_job *job)\n\
         {\n    if (slot->length < 100)\n        return VERDICT_FORWARD | 5;\n\
         \x20   if (slot->length > 1000)\n        return VERDICT_DROP | 77;\n\
         \x20   job->length = slot->length;\n    return NF_GO_ON;\n}\n\
         static void work(struct nf_job *job, struct nf_arguments *arguments)\n\
         {\n    job->length += job->more + ++*arguments->state;\n}\n\
         static uint32_t post(struct packet_slot *slot, struct nf_job *job)\n\
         {\n    return job->length - slot->length;\n}\n\
         HERMES_NF(pre, work, post)\n",
    );
    let manifest = "[function]\nname = \"h\"\nsource = \"h.c\"\nstate_bytes = 64\nargument = [\"state\"]\n\
                    packet = \"read\"\nwatchdog = 10_000\n";
    folder.write("h.toml", manifest);
    folder.succeed("gen-trace --kind imix --packets 60 --seed 4 -o h.pcap");
    folder.succeed("nf test h.toml --pcap h.pcap --json h.json");
    let report = folder.report("h.json");
    let verdicts = report["functions"][0]["verdicts"].as_object().unwrap();
    let count = |name: &str| verdicts.get(name).map_or(0, |count| count.as_u64().unwrap());
    let (short, long) = (count("forward: port 5"), count("drop: reason 77"));
    assert!(short > 5 && long > 0, "{report}");
    // The others are numbered from 1 on, by the state: only they came to the second handler.
    let others = (1..=60).filter(|port| *port != 5).map(|port| count(&format!("forward: port {port}")));
    let others: u64 = others.sum();
    assert_eq!(short + long + others, 60, "{report}");
}

/// What is wrong with handlers is told by the name of the handler and its line.
#[test]
fn handlers_that_are_wrong() {
    let folder = folder();
    let router = example("router.c");
    folder.write("router-c.toml", example("router-c.toml"));
    for (from, to, expected) in [
        ("look_up, decide)", "look_up)", "router.c:23:25: error: macro \"HERMES_NF\" requires 3 arguments"),
        ("look_up, decide)", ", decide)", "HERMES_NF: the second handler (work) is missing"),
        (", decide)", ", judge)", "router.c:23:27: error: 'judge' undeclared here"),
        (
            "(parse, look_up, ",
            "(parse, parse, ",
            "HERMES_NF: parse: expected void parse(struct nf_job *, const struct nf_arguments *)",
        ),
        ("destination, port;", "destination, port, more[15];", "struct nf_job: expected at most 64 bytes"),
    ] {
        let bad = router.replace(from, to);
        assert_ne!(bad, router);
        folder.write("router.c", bad);
        let place = "router-c.toml:5: source: ";
        folder.fail("nf test router-c.toml --pcap in.pcap --json none.json", &[place, expected]);
    }
    assert!(!folder.files().contains(&"none.json".to_string()));
}

#[test]
fn a_difference_and_a_fault_fail() {
    let folder = folder();
    folder.write("bad.S", ".globl kernel\nkernel: li a0, 3\nret\n");
    folder.write(
        "bad.toml",
        "[function]\nname = \"bad\"\napp = \"route-lookup\"\nsource = \"bad.S\"\ninputs = { routes = \"routes\" }\ntrusted = true\n",
    );
    folder.write("bad-chain.toml", chain(&[("firewall", "bad"), ("bad", "end")]));
    let command = "chain test bad-chain.toml --pcap in.pcap -o out.pcap --json report.json";
    folder.fail(command, &["`bad` differs from the golden model of its app", "<-- differs"]);
    folder.write("bad.S", ".globl kernel\nkernel: sw zero, 0(zero)\nret\n");
    folder.write("bad.toml", "[function]\nname = \"bad\"\nsource = \"bad.S\"\ntrusted = true\n");
    let command = "chain test bad-chain.toml --pcap in.pcap";
    folder.fail(
        command,
        &[
            "`bad`: fault: store access at 0x",
            " kernel (bad.S:2), address 0x00000000",
            "packets ended with a fault",
        ],
    );
    folder.succeed(&format!("{command} --allow-faults"));
    for name in ["out.pcap", "report.json"] {
        assert!(!folder.files().contains(&name.to_string()), "{name} was written");
    }
}

/// Every problem has its line, and no file is written.
#[test]
fn what_is_wrong_is_told() {
    let folder = folder();
    folder.write("firewall.toml", "[function]\nname = \"firewall\"\napp = \"classifer\"\n");
    folder.write("router.toml", "[function]\nname = \"router\"\napp = \"route-lookup\"\nwatchdog = 0\n");
    folder.fail(
        "chain test edge.toml --pcap in.pcap -o out.pcap",
        &[
            "error: firewall.toml:3: app: `classifer` is not known; expected dec-ttl, ",
            "error: firewall.toml:2: watchdog: missing; expected the cycles",
            "error: router.toml:4: watchdog: 0: expected 1 to 2147483647 (named by edge.toml:5)",
        ],
    );
    assert!(!folder.files().contains(&"out.pcap".to_string()));
    folder.fail("chain check none.toml", &["none.toml: No such file"]);
}

/// Nothing that a chain names is written.
#[test]
fn what_a_chain_names_stays() {
    let folder = folder();
    for name in ["edge.toml", "router.toml", "routes", "filters", "in.pcap"] {
        let before = folder.read(name);
        folder.fail(
            &format!("chain test edge.toml --pcap in.pcap --json {name}"),
            &["would overwrite", name, "which is read; expected another file"],
        );
        assert_eq!(folder.read(name), before, "{name}");
    }
}

/// What an array of chains that branch has besides.
const BRANCHES: &str = "--function-branches --atomics";

/// The array of the runs, which that of `hermes bench chain` has too.
const ARRAY: &str = "--cores 4 --lanes 4 --warps 4 --channels 2 --aes --network-functions 4 \
                     --packet-ports --mem-latency 20";

/// Packets on the array, by the host and through its ports: what comes out is what the golden model
/// of the chain says, and what the reference simulator gives.
#[test]
fn a_chain_runs_on_the_array() {
    let folder = folder();
    folder.succeed("chain test edge.toml --pcap in.pcap -o expected.pcap --json test.json");
    let expected = folder.report("test.json");
    for through in ["host", "ports"] {
        let text = folder.succeed(&format!(
            "chain run edge.toml --pcap in.pcap --through {through} -o out.pcap --json run.json {ARRAY}"
        ));
        assert_eq!(folder.read("out.pcap"), folder.read("expected.pcap"), "{through}");
        let report = folder.report("run.json");
        for (function, cores) in [(0, 2), (1, 2)] {
            let [got, expected] = [&report, &expected].map(|report| &report["functions"][function]);
            for field in ["name", "packets", "forwarded", "dropped", "faulted", "verdicts"] {
                assert_eq!(got[field], expected[field], "{through}: {field}");
            }
            assert_eq!(got["cores"].as_u64(), Some(cores), "{through}");
            let lanes = got["lanes_per_visit"].as_f64().unwrap();
            assert!((1.0..=4.0).contains(&lanes), "{through}: {lanes}");
            let ipc = got["ipc"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&ipc) && ipc > 0.0, "{through}: {ipc}");
        }
        // From the report of the finish, a cycle behind it.
        assert_eq!(report["functions"][1]["wait"]["min"].as_u64(), Some(3), "{report}");
        assert_eq!(report["compared"], true);
        assert!(text.contains("wait for router"), "{text}");
    }
    let [text, again] =
        [(); 2].map(|()| folder.succeed(&format!("chain run edge.toml --pcap in.pcap {ARRAY}")));
    assert_eq!(text, again, "the same cycles twice");
}

/// A router whose packets go different ways by their ports, and a firewall that they meet at.
#[test]
fn packets_branch() {
    let folder = folder();
    folder.succeed("gen-routes --count 500 --ports 3 --seed 4 -o few");
    folder.succeed("gen-trace --kind imix --packets 80 --routes few --seed 3 -o ways.pcap");
    for name in ["few", "again"] {
        let function = format!(
            "[function]\nname = \"{name}\"\napp = \"route-lookup\"\ninputs = {{ routes = \"few\" }}\n"
        );
        folder.write(&format!("{name}.toml"), function + "packet = \"read\"\nwatchdog = 400_000\n");
    }
    let function =
        |name: &str, next: &str| format!("[[function]]\nmanifest = \"{name}.toml\"\nnext = {next}\n");
    let first = function("few", "{ 0 = \"again\", 1 = \"end\", other = \"firewall\", drop = \"again\" }");
    let rest = function("again", "\"firewall\"") + &function("firewall", "\"end\"");
    folder.write("ways.toml", first + &rest);
    let text = folder.succeed("chain check ways.toml --cores 3");
    assert!(text.contains("1: end; 0, drop: again; other: firewall\n"), "{text}");
    let dot = folder.succeed("chain check ways.toml --cores 3 --dot");
    assert!(dot.contains("  \"few\" -> \"again\" [label=\"0, drop\"];\n"), "{dot}");
    folder.succeed("chain test ways.toml --cores 3 --pcap ways.pcap -o expected.pcap --json test.json");
    let expected = folder.report("test.json");
    let array = format!("{ARRAY} {BRANCHES}");
    for through in ["host", "ports"] {
        folder.succeed(&format!(
            "chain run ways.toml --pcap ways.pcap --through {through} -o out.pcap --json run.json {array}"
        ));
        assert_eq!(folder.read("out.pcap"), folder.read("expected.pcap"), "{through}");
        let report = folder.report("run.json");
        for function in 0..3 {
            let [got, expected] = [&report, &expected].map(|report| &report["functions"][function]);
            for field in ["name", "packets", "forwarded", "dropped", "faulted", "verdicts"] {
                assert_eq!(got[field], expected[field], "{through}: {field}");
            }
        }
        // Two cycles more than without branches.
        assert_eq!(report["functions"][1]["wait"]["min"].as_u64(), Some(5), "{report}");
    }
    // Packets meet again: more come to the last function than to the one before.
    let packets = |function: usize| expected["functions"][function]["packets"].as_u64().unwrap();
    assert!(packets(1) > 0 && packets(2) > packets(1) && packets(2) < packets(0), "{expected}");

    let run = "chain run ways.toml --pcap ways.pcap --cores 3 --through ports";
    folder.fail(
        &format!("{run} --network-functions 4"),
        &["ways.toml:2: next: few: edges by verdict, and the array has no branches; expected --function-branches"],
    );
    folder.fail(&format!("{run} --mode temporal"), &["--mode temporal: `few` has edges by verdict"]);
    folder.fail("emit --function-branches -o out", &["--function-branches", "network"]);
}

/// A function that stores where another one lies: its threads fault, the command fails, and what
/// the other one does is as before.
#[test]
fn a_hostile_function_faults() {
    let folder = folder();
    let text = folder.succeed("chain check edge.toml --cores 3");
    let region = text.lines().find(|line| line.starts_with("firewall: ")).unwrap();
    let first = region.split([' ', ',']).nth(1).unwrap();
    folder.write("bad.S", format!(".globl kernel\nkernel: li t0, {first}\nsw zero, 0(t0)\nret\n"));
    folder.write("bad.toml", "[function]\nname = \"bad\"\nsource = \"bad.S\"\nwatchdog = 1000\n");
    folder.write("bad-chain.toml", chain(&[("firewall", "bad"), ("bad", "end")]));
    let command = format!("chain run bad-chain.toml --pcap in.pcap --json run.json {ARRAY}");
    folder.fail(
        &command,
        &["`bad`: fault: store access at 0x", " kernel+0x4 (bad.S:3)", "threads ended with a fault"],
    );
    folder.succeed(&format!("{command} --allow-faults"));
    let report = folder.report("run.json");
    folder.succeed("chain test edge.toml --pcap in.pcap --json test.json");
    let expected = folder.report("test.json");
    let [firewall, bad] = [0, 1].map(|number| &report["functions"][number]);
    for field in ["packets", "forwarded", "dropped", "faulted"] {
        assert_eq!(firewall[field], expected["functions"][0][field], "{field}");
    }
    assert_eq!((bad["faulted"].as_u64(), &bad["dropped"]), (firewall["forwarded"].as_u64(), &bad["packets"]));
    assert_eq!(report["compared"], false);
}

#[test]
fn arrays_that_cannot_run_a_chain() {
    let folder = folder();
    folder.write("three.toml", chain(&[("firewall", "router"), ("router", "own"), ("own", "end")]));
    for (arguments, expected) in [
        (
            "three.toml --pcap in.pcap --cores 3 --network-functions 2",
            "the chain has 3 functions; expected at most 2",
        ),
        ("three.toml --pcap in.pcap", "the chain has 3 functions, and the array 2 cores"),
        ("three.toml --pcap in.pcap --cores 3 --through ports", "`own` has no golden model"),
        ("edge.toml --pcap in.pcap --preset fpga --cores 2", "local"),
    ] {
        folder.fail(&format!("chain run {arguments} --json run.json"), &[expected]);
        assert!(!folder.files().contains(&"run.json".to_string()), "{arguments}");
    }
}

/// What is measured of the functions, few and short runs.
const SHORT: &str = "--mcw 1,2 --on-cores 2 --packets 32 --waves 2";

/// A profile of each function, by themselves and in the chain; cores by these; and a run with them.
#[test]
fn cores_are_given_out_by_profiles() {
    let folder = folder();
    let array = format!("{ARRAY} {SHORT} --bytes 60");
    let text = folder.succeed(&format!("nf bench router.toml --chain edge.toml {array} --json router.json"));
    assert!(text.contains("router: ") && text.contains("core cycles/packet"), "{text}");
    let report = folder.report("router.json");
    let samples = report["profiles"][0]["samples"].as_array().unwrap();
    let places: Vec<_> =
        samples.iter().map(|sample| (sample["cores"].as_u64(), sample["warps"].as_u64())).collect();
    assert_eq!(places[..2], [(Some(1), Some(1)), (Some(1), Some(2))]);
    assert_eq!((places.len(), places[2].0), (3, Some(2)));
    assert!(samples.iter().all(|sample| sample["cycles"].as_f64() >= sample["stay"].as_f64()), "{report}");

    let plan = format!("chain plan edge.toml {array} --profile router.json");
    let text = folder.succeed(&format!("{plan} --json split.json"));
    let split = folder.report("split.json");
    let cores = |split: &serde_json::Value| -> Vec<u64> {
        let functions = split["functions"].as_array().unwrap();
        functions.iter().map(|function| function["cores"].as_u64().unwrap()).collect()
    };
    // The firewall compares with 60 filters.
    assert_eq!((cores(&split).iter().sum(), cores(&split)[0] >= 2), (4, true), "{split}");
    folder.succeed(&format!("{plan} --model linear"));
    let told = folder.succeed(&format!("{plan} --rate 0.001"));
    assert_eq!(text, told, "the same from the cache, and a rate that is reached changes nothing");
    folder.fail(&format!("{plan} --rate 100000 --json none.json"), &["infeasible: --rate 100000: ", "cores"]);
    folder.write("slow.toml", folder.text("firewall.toml") + "max_latency = 1\n");
    folder.write("slow-chain.toml", chain(&[("slow", "router"), ("router", "end")]));
    folder.fail(
        &format!("chain plan slow-chain.toml {array} --json none.json"),
        &["infeasible: `firewall`: at most 1 cycles are asked; the least that was found are "],
    );
    let error = "router.json: key ";
    let slower = plan.replace("--mem-latency 20", "--mem-latency 21");
    folder.fail(&format!("{slower} --json none.json"), &[error, "hermes nf bench"]);
    folder.fail(
        &format!("{plan} --json none.json --bytes 64").replacen("--bytes 60", "", 1),
        &[error, "hermes nf bench"],
    );
    folder.fail(&format!("{plan} --json none.json --profile edge.toml"), &["edge.toml: expected profiles"]);

    let run = format!("chain run edge.toml --pcap in.pcap --through ports --json run.json {ARRAY}");
    folder.succeed(&format!("{run} --mode gnet --plan split.json"));
    assert_eq!(cores(&folder.report("run.json")), cores(&split));
    folder.succeed(&format!("{run} --mode fair"));
    assert_eq!(cores(&folder.report("run.json")), [2, 2]);
    let once = folder.report("run.json");
    for launch in [0, 1000] {
        folder.succeed(&format!("{run} --mode temporal --batch 4 --launch {launch}"));
        let turns = folder.report("run.json");
        assert_eq!((turns["compared"].as_bool(), &turns["forwarded"]), (Some(true), &once["forwarded"]));
        assert_eq!(cores(&turns), [4, 4]);
    }
    for (arguments, expected) in [
        ("--mode gnet", "--mode gnet: expected --plan FILE"),
        ("--mode fair --plan split.json", "--plan: expected with --mode gnet"),
        ("--mode gnet --plan router.json", "router.json: expected a split of `hermes chain plan --json`"),
    ] {
        folder.fail(&format!("{run} {arguments}").replace("run.json", "none.json"), &[expected]);
    }
    let host = run.replace("--through ports", "").replace("run.json", "none.json");
    folder.fail(&format!("{host} --mode temporal"), &["--mode temporal: expected --through ports"]);
    folder.fail("nf bench edge.toml --json none.json", &["edge.toml:"]);
    folder.fail("nf bench own.toml --chain edge.toml --json none.json", &["none is called `own`"]);
    assert!(!folder.files().contains(&"none.json".to_string()));
}
