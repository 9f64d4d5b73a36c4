//! Functions that hang, beside changes and captures.

use hermes_testbench::traffic;

use crate::{chain, folder, ARRAY};

/// The manifest of a function that never ends.
fn hangs(watchdog: u32, more: &str) -> String {
    format!(
        "[function]\nname = \"hangs\"\napp = \"dec-ttl\"\nsource = \"hangs.S\"\nwatchdog = {watchdog}\n{more}"
    )
}

/// `text`, in which the function behind `next = "router"` has `on_hang`.
fn with_hang(text: &str, action: &str, more: &str) -> String {
    let next = "next = \"router\"\n";
    text.replace(next, &format!("{next}on_hang = \"{action}\"\n{more}"))
}

/// A function that gets the number of one that hung has the faults of its own alone: they are read
/// before the number changes hands, whenever that is.
#[test]
fn a_function_answers_for_its_own_faults_alone() {
    let folder = folder(200, 3);
    folder
        .write("one.toml", "[[function]]\nmanifest = \"hangs.toml\"\nnext = \"end\"\non_hang = \"report\"\n");
    folder.write(
        "fresh.toml",
        "[[function]]\nmanifest = \"ttl.toml\"\nnext = \"end\"\non_hang = \"drop\"\nhang_faults = 1\n",
    );
    folder.write(
        "events.toml",
        "[[event]]\npacket = 3\nreplace = \"hangs\"\nby = \"check.toml\"\n\n[[event]]\npacket = 4\nentry = \"fresh.toml\"\n",
    );
    let run = format!(
        "chain run one.toml --pcap in.pcap --through ports --events events.toml --arrivals constant:2 --json run.json \
         {ARRAY}"
    );
    // The look at the faults comes each 1,024 cycles.
    for watchdog in (4_000..5_024).step_by(128) {
        folder.write("hangs.toml", hangs(watchdog, ""));
        let text = folder.succeed(&run);
        let report = folder.report("run.json");
        let hung: Vec<_> = report["hung"].as_array().into_iter().flatten().collect();
        assert!(hung.iter().all(|hung| hung["function"] == "hangs"), "watchdog {watchdog}: {text}");
        let functions = report["functions"].as_array().unwrap();
        let ttl = functions.iter().find(|function| function["name"] == "ttl").unwrap();
        assert_eq!((ttl["faulted"].as_u64(), ttl["packets"].as_u64() > Some(100)), (Some(0), true), "{text}");
    }
}

/// `on_hang` that is taken acts, with a long watchdog and warps that are almost empty too; one that
/// cannot act is an error with its bound.
#[test]
fn a_function_can_be_found_to_hang() {
    let folder = folder(400, 3);
    folder.write("hangs.toml", hangs(70_000, "mcw = 2\n"));
    let two = chain(&[("hangs", "router"), ("router", "end")]);
    let two = two.replace("next = \"router\"\n", "next = \"router\"\ncores = 1\n");
    let run = format!(
        "chain run two.toml --pcap in.pcap --max-packets 12 --arrivals constant:2 --through ports --json run.json {ARRAY}"
    );
    for more in ["hang_faults = 8\n", ""] {
        folder.write("two.toml", with_hang(&two, "drop", more));
        let text = folder.succeed(&run);
        let report = folder.report("run.json");
        let [cycle, faults] = ["cycle", "faults"].map(|field| report["hung"][0][field].as_u64().unwrap());
        // Of the two warps of one packet each that came first.
        assert!((70_000..140_000).contains(&cycle) && faults == 2, "{text}");
        assert!(report["functions"][0]["faulted"].as_u64() < Some(12), "{text}");
    }
    let check = "chain check two.toml --cores 4 --lanes 4 --warps 4 --network-functions 4";
    let events = "[[event]]\npacket = 1\ncores = { hangs = 1, router = 3 }\n";
    folder.write("events.toml", events);
    for (faults, cores) in [(9, 1), (64, 1), (17, 2)] {
        let bound = 8 * cores;
        let told = format!(
            "two.toml:5: hang_faults: {faults}: of `hangs` on {cores} cores, with 2 warps of 4 lanes each, a watchdog of \
             70000 cycles ends at most {bound} threads within 140000 cycles; expected 1 to {bound}"
        );
        let text = with_hang(&two, "report", &format!("hang_faults = {faults}\n"));
        folder.write("two.toml", text.replace("cores = 1", &format!("cores = {cores}")));
        folder.fail(&run.replace("run.json", "none.json"), &[&told]);
        folder.fail(check, &[&told]);
    }
    // As many as it can be on two cores, of which a change takes one.
    let text = with_hang(&two, "report", "hang_faults = 16\n").replace("cores = 1", "cores = 2");
    folder.write("two.toml", text);
    folder.succeed(check);
    folder.fail(
        &format!("{run} --events events.toml").replace("run.json", "none.json"),
        &["two.toml:5: hang_faults: 16: of `hangs` on 1 cores", "expected 1 to 8"],
    );
    folder.write("hangs.toml", hangs(0, "trusted = true\n").replace("watchdog = 0\n", ""));
    folder.fail(check, &["two.toml:5: on_hang: `hangs` has no watchdog"]);
    assert!(!folder.files().contains(&"none.json".to_string()));
}

/// Captures of a chain with a function that hangs: its warps ended by the watchdog, then by a stub.
#[test]
fn taps_go_the_way_of_the_stub_and_of_the_watchdog() {
    let folder = folder(300, 3);
    let three = chain(&[("firewall", "hangs"), ("hangs", "router"), ("router", "end")]);
    for action in ["pass", "drop", "report"] {
        folder.write("three.toml", with_hang(&three, action, "hang_faults = 20\n"));
        let text = folder.succeed(&format!(
            "chain run three.toml --pcap in.pcap --through ports --taps taps --json run.json -o out.pcap {ARRAY}"
        ));
        let report = folder.report("run.json");
        assert_eq!(report["hung"][0]["function"], "hangs", "{text}");
        for function in report["functions"].as_array().unwrap() {
            let name = function["name"].as_str().unwrap();
            let frames = traffic::read(&folder.path(&format!("taps/{name}.pcap")), None).unwrap().frames;
            assert_eq!(frames.len() as u64, function["packets"].as_u64().unwrap(), "{name}: {text}");
        }
        let passed = report["functions"][2]["packets"].as_u64().unwrap();
        assert_eq!(passed > 0, action == "pass", "{text}");
    }
}
