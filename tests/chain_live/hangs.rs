//! Functions that hang, beside changes and captures.

use hermes_testbench::traffic;

use crate::common::Folder;
use crate::{chain, folder, of_function, ARRAY};

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
    for watchdog in (4_000..5_024).step_by(256) {
        folder.write("hangs.toml", hangs(watchdog, ""));
        let text = folder.succeed(&run);
        let report = folder.report("run.json");
        let hung: Vec<_> = report["hung"].as_array().into_iter().flatten().collect();
        assert!(hung.iter().all(|hung| hung["function"] == "hangs"), "watchdog {watchdog}: {text}");
        let of = |field: &str| of_function(&report, "ttl", field);
        assert_eq!((of("faulted"), of("packets") > 100), (0, true), "{text}");
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
    // A function that goes keeps one core until it is through.
    folder.write("events.toml", "[[event]]\npacket = 1\nreplace = \"hangs\"\nby = \"ttl.toml\"\n");
    folder.fail(
        &format!("{run} --events events.toml").replace("run.json", "none.json"),
        &["two.toml:5: hang_faults: 16: of `hangs` on 1 cores", "expected 1 to 8"],
    );
    folder.write("hangs.toml", hangs(0, "trusted = true\n").replace("watchdog = 0\n", ""));
    folder.fail(check, &["two.toml:5: on_hang: `hangs` has no watchdog"]);
    assert!(!folder.files().contains(&"none.json".to_string()));
}

/// A function of which some threads hang, those of packets 5 and 6 of 16: the others are what the
/// app says. `before` they do this.
fn some_hang(folder: &Folder, name: &str, app: &str, before: &str, fields: &str) {
    let begin = "    .globl  kernel\n    .type   kernel, @function\nkernel:\n";
    let path = format!("{}/kernels-asm/{app}.S", env!("CARGO_MANIFEST_DIR"));
    let honest = std::fs::read_to_string(path).unwrap();
    assert!(honest.contains(begin));
    // Behind the honest code: paths of lower addresses go first, so the others of the warp end.
    let choose = format!("{begin}    andi    a4, a0, 15\n    addi    a4, a4, -5\n    sltiu   a4, a4, 2\n    bnez    a4, hang\n");
    let hang = format!("hang:\n    {before}\n2:  j       2b\n");
    folder.write(&format!("{name}.S"), honest.replace(begin, &choose) + &hang);
    folder.write(
        &format!("{name}.toml"),
        format!(
            "[function]\nname = \"{name}\"\napp = \"{app}\"\nsource = \"{name}.S\"\nrv32e = true\n{fields}"
        ),
    );
}

/// Packets of 400 whose threads hang in [`some_hang`].
fn hanging(packet: usize) -> bool {
    matches!(packet % 16, 5 | 6)
}

/// The array says which threads the watchdog has ended: packets that the function itself drops, in
/// the same warps and for as long on the core, are none of them.
#[test]
fn the_records_tell_what_the_watchdog_has_ended() {
    let folder = folder(10, 3);
    folder.succeed("gen-trace --kind fixed:60 --packets 400 --bad-share 50 --seed 3 -o in.pcap");
    some_hang(&folder, "some", "check-ip-header", "nop", "packet = \"read\"\nwatchdog = 3_000\n");
    folder
        .write("one.toml", "[[function]]\nmanifest = \"some.toml\"\nnext = \"end\"\non_hang = \"report\"\n");
    let text =
        folder.succeed(&format!("chain run one.toml --pcap in.pcap --through ports --json run.json {ARRAY}"));
    let report = folder.report("run.json");
    let some = &report["functions"][0];
    let expected = (0..400).filter(|packet| hanging(*packet)).count() as u64;
    assert_eq!((some["faulted"].as_u64(), expected), (Some(50), 50), "{text}");
    let verdicts = some["verdicts"].as_object().unwrap();
    assert_eq!(verdicts["fault: watchdog"].as_u64(), Some(50), "{text}");
    let all: u64 = verdicts.values().filter_map(serde_json::Value::as_u64).sum();
    assert_eq!(all, 400, "{text}");
    let dropped = some["dropped"].as_u64().unwrap();
    assert!((100..300).contains(&dropped), "{text}");
}

/// A function that stores to its packet and then hangs, and whose `fault` leads on: what it stored
/// is not compared, and all else is.
#[test]
fn what_a_function_stored_before_it_hung_is_not_compared() {
    let folder = folder(400, 3);
    some_hang(&folder, "stores", "dec-ttl", "sw      a0, 60(a1)", "watchdog = 3_000\n");
    let graph = "\
[[function]]
manifest = \"stores.toml\"
next = { other = \"check\", fault = \"router\" }
on_hang = \"report\"

[[function]]
manifest = \"check.toml\"
next = \"router\"

[[function]]
manifest = \"router.toml\"
next = \"end\"
";
    folder.write("stores-chain.toml", graph);
    // The array of the tests of chains that branch
    let array = format!("{ARRAY} --function-branches --atomics");
    let run = format!(
        "chain run stores-chain.toml --pcap in.pcap --through ports --taps taps --json run.json -o out.pcap {array}"
    );
    let text = folder.succeed(&run);
    let report = folder.report("run.json");
    let of = |function: usize, field: &str| report["functions"][function][field].as_u64().unwrap();
    assert_eq!(
        (of(0, "packets"), of(0, "faulted"), of(2, "packets")),
        (400, 50, of(1, "forwarded") + 50),
        "{text}"
    );
    let unknown = report["functions"][2]["verdicts"]["not known"].as_u64().unwrap();
    // What the router drops it tells; of what it forwards nobody knows the verdict.
    assert!((1..50).contains(&unknown), "{text}");
    let frames = |name: &str| traffic::read(&folder.path(name), None).unwrap().frames;
    assert_eq!(frames("taps/router.pcap").len() as u64, of(2, "packets") - unknown, "{text}");
    // They left with what was stored: the number of the packet.
    let left = frames("out.pcap");
    let stored = left.iter().filter(|frame| {
        let word = u32::from_le_bytes(frame.data[42..46].try_into().unwrap());
        word < 400 && hanging(word as usize)
    });
    assert_eq!(stored.count() as u64, unknown, "{text}");
    assert_eq!(left.len() as u64, report["forwarded"].as_u64().unwrap());
    // A function that may not store has changed nothing.
    std::fs::remove_dir_all(folder.path("taps")).unwrap();
    some_hang(&folder, "stores", "check-ip-header", "nop", "packet = \"read\"\nwatchdog = 3_000\n");
    let text = folder.succeed(&run);
    let report = folder.report("run.json");
    assert_eq!(report["functions"][0]["faulted"], 50, "{text}");
    assert!(report["functions"][2]["verdicts"].get("not known").is_none(), "{text}");
    let came = frames("taps/router.pcap").len() as u64;
    assert_eq!(Some(came), report["functions"][2]["packets"].as_u64(), "{text}");
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
