//! `hermes chain run` with changes, captures for each function and functions that hang; `hermes nf
//! test`.

use hermes_testbench::traffic;

use crate::{all_changes_stood, chain, folder, of_function, ARRAY, EVENTS};

/// Every kind of change while packets enter and leave: each packet is as the golden models of the
/// functions say that it visited, none is lost, and the report says when each change stood.
#[test]
fn a_chain_changes_while_packets_flow() {
    let folder = folder(800, 3);
    folder.write("events.toml", EVENTS);
    let run = format!("chain run edge.toml --pcap in.pcap --through ports --events events.toml {ARRAY}");
    let text = folder.succeed(&format!("{run} --json run.json -o out.pcap"));
    let report = folder.report("run.json");
    all_changes_stood(&report, 6);
    let of = |name: &str, field: &str| of_function(&report, name, field);
    assert_eq!(of("firewall", "packets") + of("check", "packets"), 800, "{text}");
    assert_eq!(of("firewall", "forwarded"), {
        // From there they went to the next one: by the chain as it was.
        let skipped_ttl = of("router", "packets") + of("router-2", "packets") - of("ttl", "forwarded");
        of("ttl", "packets") + skipped_ttl
    });
    for name in ["firewall", "ttl", "router", "router-2", "check"] {
        assert!(of(name, "packets") > 20, "{name}: {text}");
    }
    assert_eq!(report["compared"], true);
    assert!(text.contains("insert ttl before router: at packet 40, begun in cycle "), "{text}");
    // Packets keep their order and their bytes, and the same run gives the same cycles.
    let left = traffic::read(&folder.path("out.pcap"), None).unwrap().frames.len() as u64;
    assert_eq!(report["forwarded"].as_u64(), Some(left));
    assert_eq!(text, folder.succeed(&run));
}

/// Every problem has its line, and nothing is written.
#[test]
fn what_is_wrong_with_changes_is_told() {
    let folder = folder(80, 3);
    let run = format!("chain run edge.toml --pcap in.pcap --events events.toml -o out.pcap {ARRAY}");
    let cases: &[(&str, &str)] = &[
        ("", "events.toml: no change; expected [[event]]"),
        (
            "[[event]]\npacket = 1\nremove = \"nids\"\n",
            "events.toml:3: remove: `nids` is no function of the chain then; expected firewall or router",
        ),
        (
            "[[event]]\npacket = 80\nremove = \"router\"\n",
            "events.toml:2: packet: 80: the capture has 80 packets; expected 0 to 79",
        ),
        (
            "[[event]]\npacket = 9\nremove = \"router\"\n[[event]]\npacket = 9\nremove = \"firewall\"\n",
            "events.toml:6: remove: `firewall` is the last one; expected that one stays",
        ),
        (
            "[[event]]\npacket = 9\ncores = { router = 1 }\n[[event]]\npacket = 9\nremove = \"router\"\n",
            "events.toml:6: remove: `router` is changed twice at packet 9",
        ),
        (
            "[[event]]\npacket = 9\nremove = \"router\"\n[[event]]\npacket = 8\nremove = \"firewall\"\n",
            "events.toml:5: packet: packet 8 is before packet 9",
        ),
        (
            "[[event]]\npacket = 9\ntable = \"firewall\"\ninputs = { rules = \"filters-3\" }\n",
            "events.toml:3: table: the new tables of `firewall` have",
        ),
        (
            "[[event]]\npacket = 9\ntable = \"firewall\"\ninputs = { routes = \"routes\" }\n",
            "events.toml:3: table: ",
        ),
        ("[[event]]\npacket = 9\ntable = \"firewall\"\n", "events.toml:3: table: of what? expected `inputs`"),
        (
            "[[event]]\npacket = 9\ncores = { router = 0 }\n",
            "events.toml:3: cores: router = 0: expected 1 or more",
        ),
        (
            "[[event]]\npacket = 9\ncores = { router = 4 }\n",
            "events.toml:3: cores: firewall 2, router 4: 6 of 4 cores; expected at most 4",
        ),
        (
            "[[event]]\npacket = 9\ninsert = \"ttl.toml\"\n",
            "events.toml:3: insert: where? expected `before` or `after`",
        ),
        (
            "[[event]]\npacket = 9\ninsert = \"none.toml\"\nafter = \"router\"\n",
            "events.toml:3: insert: none.toml: No such file",
        ),
        (
            "[[event]]\npacket = 9\ninsert = \"router.toml\"\nafter = \"router\"\n",
            "events.toml:3: insert: a function is called `router` already; expected a `name` of its own",
        ),
        (
            "[[event]]\npacket = 9\ninsert = \"ttl.toml\"\nafter = \"router\"\ncores = 4\n",
            "ttl asks for 4 of 4 cores, and every other function needs one; expected at most 2",
        ),
        (
            "[[event]]\nremove = \"router\"\n",
            "events.toml:2: remove: from when on? expected `packet` or `cycle`",
        ),
        (
            "[[event]]\npacket = 9\n",
            "events.toml:2: event: no change; expected insert, remove, replace, table, entry or cores",
        ),
        (
            "[[event]]\npacket = 9\nremove = \"router\"\nby = \"ttl.toml\"\n",
            "events.toml:4: by: goes with no `remove`",
        ),
        ("[[event]]\npacket = 9\nswap = \"router\"\n", "events.toml:3: unknown field `swap`"),
        ("[[event]]\npacket = 9\ncores = {}\n", "events.toml:3: cores: {}: no function; expected { NAME = CORES"),
        (
            "[[event]]\npacket = 9\ncores = { router = -1 }\n",
            "events.toml:3: cores: invalid value: integer `-1`, expected a number of cores of `router`, 1 or more",
        ),
        (
            "[[event]]\npacket = 9\ncores = { router = \"x\" }\n",
            "events.toml:3: cores: invalid type: string \"x\", expected a number of cores of `router`, 1 or more",
        ),
        (
            "[[event]]\npacket = 9\ncores = [1]\n",
            "events.toml:3: cores: invalid type: sequence, expected a number of cores, 1 or more, or { NAME = CORES, .. }",
        ),
        (
            "[[event]]\npacket = 9\ncores = -1\n",
            "events.toml:3: cores: invalid value: integer `-1`, expected a number of cores",
        ),
        (
            "[[event]]\npacket = 78\nremove = \"router\"\n[[event]]\npacket = 79\ninsert = \"ttl.toml\"\nafter = \"firewall\"\n",
            "before the change above, remove router at packet 78, begun in cycle ",
        ),
        (
            "[[event]]\ncycle = 99_000_000\nremove = \"router\"\n",
            "events.toml:3: remove router, at cycle 99000000: the run ended in cycle",
        ),
    ];
    for (events, expected) in cases {
        folder.write("events.toml", events);
        folder.fail(&format!("{run} --through ports"), &[expected]);
    }
    // More functions than cores.
    folder.write("events.toml", "[[event]]\npacket = 9\ninsert = \"ttl.toml\"\nafter = \"router\"\n");
    folder.fail(
        &format!("{run} --through ports").replace("--cores 4", "--cores 2"),
        &["events.toml:3: insert: 3 functions, 2 cores; expected a core for each"],
    );
    folder.write("events.toml", EVENTS.split("\n\n").next().unwrap());
    folder.fail(&run, &["--events: expected --through ports"]);
    folder.fail(&format!("{run} --through ports --mode temporal"), &["--events with --mode temporal"]);
    folder.write("own.toml", "[function]\nname = \"own\"\nsource = \"hangs.S\"\nwatchdog = 100\n");
    folder.write("events.toml", "[[event]]\npacket = 9\ninsert = \"own.toml\"\nafter = \"router\"\n");
    folder.fail(&format!("{run} --through ports"), &["events.toml:3: insert: `own` has no golden model"]);
    folder.write(
        "full.toml",
        chain(&[("firewall", "ttl"), ("ttl", "check"), ("check", "router"), ("router", "end")]),
    );
    folder.write("events.toml", "[[event]]\npacket = 9\nreplace = \"ttl\"\nby = \"router-2.toml\"\n");
    folder.fail(
        &format!("{run} --through ports").replace("edge.toml", "full.toml"),
        &["events.toml:3: replace: no numbers of network functions are free"],
    );
    assert!(!folder.files().contains(&"out.pcap".to_string()));
}

/// A function that never ends is bent to a stub when the watchdog has ended enough of its threads;
/// before and behind, the packets of the others are as the golden models have them.
#[test]
fn a_function_that_hangs_is_put_out_of_the_way() {
    let folder = folder(400, 3);
    let three = chain(&[("firewall", "hangs"), ("hangs", "router"), ("router", "end")]);
    let run = format!("chain run hangs-chain.toml --pcap in.pcap --through ports --json run.json {ARRAY}");
    let numbers = |report: &serde_json::Value, field: &str| -> Vec<u64> {
        let functions = report["functions"].as_array().unwrap();
        functions.iter().map(|function| function[field].as_u64().unwrap()).collect()
    };
    let mut cycles = Vec::new();
    for action in ["pass", "drop", "report"] {
        let hang = format!("next = \"router\"\non_hang = \"{action}\"\nhang_faults = 20\n");
        folder.write("hangs-chain.toml", three.replace("next = \"router\"\n", &hang));
        let text = folder.succeed(&run);
        let report = folder.report("run.json");
        let [packets, faulted] = ["packets", "faulted"].map(|field| numbers(&report, field));
        assert_eq!(packets[0], 400, "{text}");
        assert_eq!((faulted[0], faulted[2]), (0, 0), "{text}");
        let hung = &report["hung"][0];
        assert_eq!((hung["function"].as_str(), hung["action"].as_str()), (Some("hangs"), Some(action)));
        // Five warps, some of whose packets the firewall has dropped.
        assert!((5..60).contains(&hung["faults"].as_u64().unwrap()), "{text}");
        match action {
            "pass" => assert!(faulted[1] < 120 && packets[2] == packets[1] - faulted[1], "{text}"),
            "drop" => assert!(faulted[1] < 120 && packets[2] == 0, "{text}"),
            _ => assert!(faulted[1] == packets[1] && packets[2] == 0, "{text}"),
        }
        assert!(text.contains("hangs hangs: ") && text.contains("threads ended by the watchdog"), "{text}");
        cycles.push(report["cycles"].as_u64().unwrap());
        // Beside a function that is not bent the array still commits as many warps as it has slots
        // each watchdog and longest stay: 4 slots on its one core.
        let stay = report["functions"][1]["stay"]["max"].as_u64().unwrap();
        let turns = (packets[1].div_ceil(4) + 1).div_ceil(4) + 2;
        assert!(cycles[cycles.len() - 1] < 20_000 + turns * (stay + 4_000), "{text}");
    }
    assert!(cycles[2] > 2 * cycles[0], "{cycles:?}");
    // The fault of another function, and one without `on_hang`, are errors as ever.
    folder.write("hangs-chain.toml", &three);
    folder.fail(&run.replace("run.json", "none.json"), &["was to leave"]);
    folder.write(
        "hangs-chain.toml",
        three.replace("next = \"router\"\n", "next = \"router\"\nhang_faults = 0\n"),
    );
    folder.fail(
        &run.replace("run.json", "none.json"),
        &[
            "hangs-chain.toml:7: hang_faults: 0: expected 1 or more",
            "hangs-chain.toml:7: hang_faults: without `on_hang`",
        ],
    );
    folder.write(
        "hangs-chain.toml",
        three.replace("next = \"router\"\n", "next = \"router\"\non_hang = \"stop\"\n"),
    );
    folder.fail(&run.replace("run.json", "none.json"), &["hangs-chain.toml:7: on_hang: ", "stop"]);
    folder.write(
        "hangs-chain.toml",
        three.replace("next = \"router\"\n", "next = \"router\"\non_hang = \"drop\"\n"),
    );
    let host = run.replace("--through ports", "").replace("run.json", "none.json");
    folder.fail(&host, &["`hangs` has `on_hang`; expected --through ports"]);
    assert!(!folder.files().contains(&"none.json".to_string()));
}

/// A capture for each function with the cycles of the visits; each is an input of the debugger, and
/// a change in between is seen in them.
#[test]
fn taps_have_the_cycles_of_the_visits() {
    let folder = folder(80, 3);
    let events = EVENTS.split("\n\n").next().unwrap();
    folder.write("events.toml", events);
    let read = |name: &str| traffic::read(&folder.path(name), None).unwrap().frames;
    let bytes = |name: &str| read(name).into_iter().map(|frame| frame.data).collect::<Vec<_>>();
    folder.succeed("chain test edge.toml --pcap in.pcap --taps expected");
    for (arguments, is_changed) in
        [("", false), ("--through ports", false), ("--through ports --events events.toml", true)]
    {
        folder.succeed(&format!(
            "chain run edge.toml --pcap in.pcap --taps taps --json run.json {arguments} {ARRAY}"
        ));
        let report = folder.report("run.json");
        for function in report["functions"].as_array().unwrap() {
            let name = function["name"].as_str().unwrap();
            let frames = read(&format!("taps/{name}.pcap"));
            assert_eq!(frames.len() as u64, function["packets"].as_u64().unwrap(), "{name} {arguments}");
            let last = report["cycles"].as_u64().unwrap();
            assert!(frames.iter().all(|frame| (1..last).contains(&frame.timestamp)), "{name} {arguments}");
        }
        assert_eq!(bytes("taps/firewall.pcap"), bytes("in.pcap"));
        if !is_changed {
            assert_eq!(bytes("taps/router.pcap"), bytes("expected/router.pcap"), "{arguments}");
        }
        let first = |name: &str| read(name)[0].timestamp;
        assert!(first("taps/firewall.pcap") < first("taps/router.pcap"), "{arguments}");
    }
    folder.succeed("iss --app route-lookup --routes routes --pcap taps/router.pcap");
    folder.write("commands", "run\nquit\n");
    std::fs::remove_dir_all(folder.path("taps")).unwrap();
    folder.write("events.toml", EVENTS.split("\n\n").nth(1).unwrap().replace("packet = 90", "packet = 9"));
    folder.fail(
        &format!(
            "chain run edge.toml --pcap in.pcap --taps taps --through ports --events events.toml {ARRAY}"
        ),
        &["--taps with new tables in --events: expected one of them"],
    );
    assert!(!folder.files().contains(&"taps".to_string()));
}

/// One function on the reference simulator: verdicts, instructions, and accesses outside.
#[test]
fn a_function_by_itself() {
    let folder = folder(80, 3);
    let text = folder.succeed("nf test firewall.toml --pcap in.pcap --json nf.json -o out.pcap");
    let report = folder.report("nf.json");
    let function = &report["functions"][0];
    assert_eq!((report["packets"].as_u64(), function["packets"].as_u64()), (Some(80), Some(80)), "{text}");
    let all: u64 =
        function["verdicts"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(all, 80);
    let [mean, most] = ["instructions", "most_instructions"].map(|field| function[field].as_u64().unwrap());
    assert!(mean / 80 <= most && most > 10, "{text}");
    folder.write("bad.S", ".globl kernel\nkernel:\nli t0, 0x3f000000\nsw zero, 0(t0)\nret\n");
    folder.write("bad.toml", "[function]\nname = \"bad\"\nsource = \"bad.S\"\nwatchdog = 100\n");
    let run = "nf test bad.toml --pcap in.pcap --json told.json -o told.pcap";
    folder.fail(
        run,
        &[
            "`bad`: fault: store access at 0x",
            " kernel+0x4 (bad.S:4), address 0x3f000000",
            "80 of 80 packets",
        ],
    );
    folder.succeed(&format!("{run} --allow-faults"));
    // It loads only, as its manifest says.
    folder.write("reads.S", ".globl kernel\nkernel:\nsw zero, 20(a1)\nli a0, 0\nret\n");
    folder.write(
        "reads.toml",
        "[function]\nname = \"reads\"\nsource = \"reads.S\"\npacket = \"read\"\nwatchdog = 100\n",
    );
    folder
        .fail(&run.replace("bad.toml", "reads.toml"), &["`reads`: fault: store access at 0x", "(reads.S:3)"]);
    // Another thing than its app: nothing is written.
    let run = run.replace("told", "none");
    folder.write(
        "other.toml",
        folder.text("ttl.toml").replace("\"ttl\"", "\"other\"") + "source = \"other.S\"\n",
    );
    folder.write("other.S", ".globl kernel\nkernel:\nli a0, 3\nret\n");
    folder.fail(
        &run.replace("bad.toml", "other.toml"),
        &["`other` differs from the golden model of its app", "<-- differs"],
    );
    folder.fail(&run.replace("bad.toml", "edge.toml"), &["edge.toml:"]);
    for name in ["none.json", "none.pcap"] {
        assert!(!folder.files().contains(&name.to_string()), "{name}");
    }
}
