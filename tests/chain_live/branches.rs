//! Chains whose packets branch and that change while packets flow.

use hermes_testbench::traffic;

use crate::common::Folder;
use crate::{all_changes_stood, chain, folder, of_function};

/// The array of the other tests, with branches, and cores for what comes beside what goes.
const ARRAY: &str = "--cores 8 --lanes 4 --warps 4 --channels 2 --aes --network-functions 8 \
                     --function-branches --packet-ports --mem-latency 20";

/// A router whose packets go to a firewall, a check or away, by their port, and meet again; what is
/// dropped is looked at once more.
pub const WAYS: &str = "\
limit = 32

[[function]]
manifest = \"router.toml\"
next = { 0 = \"ttl\", 1 = \"check\", 2 = \"end\", other = \"firewall\", drop = \"check\" }

[[function]]
manifest = \"firewall.toml\"
next = { other = \"check\", drop = \"ttl\" }

[[function]]
manifest = \"check.toml\"
next = \"ttl\"

[[function]]
manifest = \"ttl.toml\"
next = \"end\"
";

/// Every kind of change; the last one is a whole new graph that branches.
const EVENTS: &str = "\
[[event]]
packet = 100
insert = \"ttl.toml\"
name = \"early\"
before = \"check\"

[[event]]
packet = 400
table = \"firewall\"
inputs = { rules = \"filters-2\" }

[[event]]
packet = 500
cores = { router = 2, firewall = 3, early = 1, check = 1, ttl = 1 }

[[event]]
packet = 600
replace = \"firewall\"
by = \"router-2.toml\"

[[event]]
packet = 900
remove = \"check\"

[[event]]
packet = 1_200
insert = \"check.toml\"
name = \"late\"
after = \"early\"

[[event]]
packet = 1_500
entry = \"second-ways.toml\"
";

pub fn ways() -> Folder {
    let folder = folder(2_000, 3);
    folder.write("ways.toml", WAYS);
    let second = chain(&[("first", "last"), ("last", "end")]);
    folder.write(
        "second-ways.toml",
        second.replace("next = \"last\"", "next = { 0 = \"last\", drop = \"last\" }"),
    );
    for (name, from) in [("first", "router"), ("last", "ttl")] {
        let text =
            folder.text(&format!("{from}.toml")).replace(&format!("\"{from}\""), &format!("\"{name}\""));
        folder.write(&format!("{name}.toml"), text);
    }
    folder
}

/// Each packet is as the golden models have it that it visited, by one graph or the next one; none
/// is lost, and all leave in their order.
#[test]
fn a_chain_that_branches_changes_while_packets_flow() {
    let folder = ways();
    folder.write("events.toml", EVENTS);
    let run = format!("chain run ways.toml --pcap in.pcap --through ports --events events.toml {ARRAY}");
    let text = folder.succeed(&format!("{run} --json run.json -o out.pcap"));
    let report = folder.report("run.json");
    all_changes_stood(&report, 7);
    let of = |name: &str, field: &str| of_function(&report, name, field);
    assert_eq!(of("router", "packets") + of("first", "packets"), 2_000, "{text}");
    for name in ["router", "firewall", "check", "ttl", "early", "router-2", "late", "first", "last"] {
        assert!(of(name, "packets") > 20, "{name}: {text}");
    }
    assert_eq!(report["compared"], true);
    let left = traffic::read(&folder.path("out.pcap"), None).unwrap().frames.len() as u64;
    assert_eq!(report["forwarded"].as_u64(), Some(left));
    assert_eq!(text, folder.succeed(&run), "the same cycles twice");
}

/// A function of a graph that hangs is bent to a stub; its packets go on by the edges of what the
/// stub says of them, and those that the watchdog has ended by that of faults, each to a function
/// that no other packets come to: by the counters of the array.
#[test]
fn a_function_that_hangs_is_bent_where_packets_branch() {
    let folder = ways();
    for (name, app) in [("passed", "dec-ttl"), ("dropped", "check-ip-header"), ("faulted", "dec-ttl")] {
        let text = format!("[function]\nname = \"{name}\"\napp = \"{app}\"\nwatchdog = 4_000\n");
        folder.write(&format!("{name}.toml"), text);
    }
    let graph = |action: &str| {
        let mut text = format!(
            "limit = 32\n\
             [[function]]\nmanifest = \"router.toml\"\nnext = {{ 0 = \"end\", other = \"hangs\" }}\n\
             [[function]]\nmanifest = \"hangs.toml\"\n\
             next = {{ 0 = \"passed\", drop = \"dropped\", fault = \"faulted\" }}\n\
             on_hang = \"{action}\"\nhang_faults = 20\n"
        );
        for name in ["passed", "dropped", "faulted"] {
            text += &format!("[[function]]\nmanifest = \"{name}.toml\"\nnext = \"end\"\n");
        }
        text
    };
    for action in ["pass", "drop", "report"] {
        folder.write("hangs-ways.toml", graph(action));
        let text = folder.succeed(&format!(
            "chain run hangs-ways.toml --pcap in.pcap --max-packets 600 --through ports --taps taps --json run.json {ARRAY}"
        ));
        let report = folder.report("run.json");
        let hung = &report["hung"][0];
        assert_eq!(
            (hung["function"].as_str(), hung["action"].as_str()),
            (Some("hangs"), Some(action)),
            "{text}"
        );
        let of = |name: &str, field: &str| of_function(&report, name, field);
        let [packets, faulted] = ["packets", "faulted"].map(|field| of("hangs", field));
        let bent = packets - faulted;
        match action {
            "report" => assert_eq!((bent, faulted > 100), (0, true), "{text}"),
            _ => assert!(bent > 100 && faulted > 5, "{text}"),
        }
        let [passed, dropped] = ["pass", "drop"].map(|bends| if action == bends { bent } else { 0 });
        let came = ["passed", "dropped", "faulted"].map(|name| of(name, "packets"));
        assert_eq!(came, [passed, dropped, faulted], "{text}");
        assert_eq!(of("hangs", "forwarded"), passed, "{text}");
        for name in ["passed", "dropped", "faulted"] {
            let frames = traffic::read(&folder.path(&format!("taps/{name}.pcap")), None).unwrap().frames;
            assert_eq!(frames.len() as u64, of(name, "packets"), "{name}: {text}");
        }
        std::fs::remove_dir_all(folder.path("taps")).unwrap();
    }
}

/// What cannot change, by file and line.
#[test]
fn what_is_wrong_with_changes_of_a_graph_is_told() {
    let folder = ways();
    let run = format!(
        "chain run ways.toml --pcap in.pcap --through ports --events events.toml -o out.pcap {ARRAY}"
    );
    for (events, expected) in [
        (
            "[[event]]\npacket = 9\nremove = \"router\"\n",
            "events.toml:3: remove: `router` has edges by verdict; expected a function whose packets all go one way",
        ),
        (
            "[[event]]\npacket = 9\ninsert = \"late.toml\"\nafter = \"firewall\"\n",
            "events.toml:4: after: `firewall` has edges by verdict; expected `before` one",
        ),
    ] {
        folder.write("events.toml", events);
        folder.fail(&run, &[expected]);
    }
    folder.write("events.toml", "[[event]]\npacket = 9\nreplace = \"check\"\nby = \"last.toml\"\n");
    folder.fail(
        &run.replace("--cores 8", "--cores 4"),
        &["events.toml:3: replace: packets branch, so `check` keeps a core until all"],
    );
    let without = run.replace(" --events events.toml", "");
    folder.fail(&format!("{without} --mode temporal"), &["--mode temporal: `router` has edges by verdict"]);
    // A plain chain whose new graph branches.
    folder.write("events.toml", "[[event]]\npacket = 9\nentry = \"second-ways.toml\"\n");
    let plain = run.replace("ways.toml", "edge.toml");
    folder.fail(
        &plain.replace("--function-branches", ""),
        &["edges by verdict, and the array has no branches"],
    );
    assert!(!folder.files().contains(&"out.pcap".to_string()));
    folder.succeed(&plain);
}
