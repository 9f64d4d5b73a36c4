//! `hermes bench`: the cheap benches at their smallest, and the form of what they write.

mod common;

use std::collections::BTreeMap;

use common::Folder;

/// Runs a bench; gives its figures by name, after checking the form of the JSON and that the table
/// names them all.
fn bench(arguments: &str) -> BTreeMap<String, f64> {
    bench_in(&Folder::new(), arguments)
}

/// The same in this folder.
fn bench_in(folder: &Folder, arguments: &str) -> BTreeMap<String, f64> {
    let text = folder.succeed(&format!("bench {arguments} --json figures.json"));
    assert_eq!(folder.files(), ["figures.json"]);
    let json: serde_json::Value = serde_json::from_str(&folder.text("figures.json")).expect("JSON");
    // What is needed to measure it again
    let configurations = json["configurations"].as_array().expect("an array");
    assert_eq!(configurations.is_empty(), arguments.starts_with("cost"), "{configurations:?}");
    for configuration in configurations {
        let fields = ["preset", "lanes", "local_window", "l2_ways", "trace"];
        assert!(fields.iter().all(|field| !configuration[field].is_null()), "{configuration}");
    }
    let has_seed = !["emit", "sim", "core", "cost", "fig7"].iter().any(|name| arguments.starts_with(name));
    assert!(json.get("seed").is_some_and(|seed| seed.is_number() == has_seed), "{arguments}: {json}");
    let mut figures = BTreeMap::new();
    for figure in json["figures"].as_array().expect("an array") {
        let keys: Vec<_> = figure.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(keys.iter().collect::<std::collections::BTreeSet<_>>().len(), 5, "{figure}");
        for key in ["name", "value", "unit", "limit", "goal"] {
            assert!(keys.contains(&key), "{figure} has no {key}");
        }
        for bound in ["limit", "goal"] {
            assert!(figure[bound].is_number() || figure[bound].is_null(), "{figure}");
        }
        assert!(figure["unit"].is_string(), "{figure}");
        let name = figure["name"].as_str().expect("a name");
        // These apps read headers.
        let not_moved = figure["unit"] == "Gbit/s of frames, payload not moved";
        assert_eq!(not_moved, arguments.starts_with("apps") && name.contains("_gbps_"), "{figure}");
        let value = figure["value"].as_f64().expect("a number");
        // Who waits without loads reads nothing; without lock a stream leaves nothing; no frame
        // need be sent again.
        let zero = ["_l2_reads_per_event", "_resent", "_no_room", "_time_outs"];
        let may_be_zero = zero.iter().any(|end| name.ends_with(end)) || name.contains("unlocked");
        assert!((value > 0.0 || may_be_zero && value == 0.0) && value.is_finite(), "{figure}");
        assert!(text.lines().any(|line| line.starts_with(&format!("{name} "))), "{name} in:\n{text}");
        assert!(figures.insert(name.to_string(), value).is_none(), "{name} twice");
    }
    figures
}

fn names(figures: &BTreeMap<String, f64>) -> Vec<&str> {
    figures.keys().map(String::as_str).collect()
}

#[test]
fn emit() {
    let figures = bench("emit --preset fpga --lanes 2 --runs 1");
    assert_eq!(names(&figures), ["emit_modules", "emit_seconds"]);
    assert!((20.0..200.0).contains(&figures["emit_modules"]), "{figures:?}");
}

#[test]
fn spawn() {
    let figures = bench("spawn --jobs 20 --apps dec-ttl");
    let names_of_app = ["dec-ttl_jobs", "dec-ttl_trigger_to_fetch_p50", "dec-ttl_trigger_to_fetch_p99"];
    assert_eq!(names(&figures), [&names_of_app[..], &["idle_trigger_to_fetch"]].concat());
    assert_eq!(figures["dec-ttl_jobs"], 20.0);
    assert!(figures["idle_trigger_to_fetch"] <= figures["dec-ttl_trigger_to_fetch_p50"], "{figures:?}");
    // Cycles are exact: these are limits, not speeds of this machine.
    assert!(figures["idle_trigger_to_fetch"] <= 12.0, "{figures:?}");
    assert!(figures["dec-ttl_trigger_to_fetch_p99"] <= 24.0, "{figures:?}");
    let folder = Folder::new();
    folder.fail("bench spawn --apps dec-tll", &["--app dec-tll: not known; expected one of dec-ttl"]);
}

/// The array is that of the runs in `chain.rs`.
#[test]
fn chain() {
    let array = "--preset default --cores 4 --lanes 4 --warps 4 --latency 20";
    let figures = bench(&format!("chain {array} --packets 32 --bytes 60 --without-comparison"));
    for chain in ["sa", "sb", "sc", "sd"] {
        assert!(figures[&format!("{chain}_mpps_60B")] > 0.0, "{figures:?}");
    }
    assert!((4.0..=6.0).contains(&figures["hop_cycles"]), "{figures:?}");
    assert!(figures["lone_sd_more_per_hop"] <= 10.0, "{figures:?}");
}

#[test]
fn net() {
    let figures = bench("net --incast-cycles 0 --puts 4 --loss 5 --commands 0");
    let expected = ["get", "put"].map(|kind| {
        ["goodput", "loss_5_of_none", "loss_5_resent", "of_the_wire"].map(|what| format!("{kind}_64k_{what}"))
    });
    assert_eq!(names(&figures), expected.concat());
    for kind in ["get", "put"] {
        let figure = |name: &str| figures[&format!("{kind}_64k_{name}")];
        // More than the wire carries would be a wrong measurement.
        assert!((0.5..=1.0).contains(&figure("of_the_wire")), "{figures:?}");
        assert!(figure("loss_5_of_none") < 1.0 && figure("loss_5_resent") > 0.0, "{figures:?}");
    }
    let folder = Folder::new();
    folder.fail("bench net --loss 101", &["loss: 101 is not possible; expected 0 to 100 percent"]);
}

/// On the array of `net`, with a larger L2.
#[test]
#[ignore = "two minutes: builds an array of its own"]
fn fig7() {
    let figures = bench("fig7 --l2-lines 512 --service 4800 --waiting 1 --commands 20");
    assert_eq!(
        names(&figures),
        [
            "256_sets_1_waiting_service_4800_locked",
            "256_sets_1_waiting_service_4800_unlocked",
            "held_1_waiting_p50",
            "held_1_waiting_p99",
            "locked_worst_1_waiting",
            "unlocked_worst"
        ]
    );
    assert!(figures["locked_worst_1_waiting"] > 0.9 && figures["unlocked_worst"] < 0.2, "{figures:?}");
    assert!((3_800.0..4_900.0).contains(&figures["held_1_waiting_p50"]), "{figures:?}");
    let folder = Folder::new();
    folder.fail("bench fig7 --service 100", &["service: 100 is not possible; expected 600 to 100000"]);
}

#[test]
fn interrupts() {
    let figures = bench("interrupts --events 30 --seed 3");
    for way in ["load_poll", "csr_poll", "interrupt", "interrupt_loads", "sleep"] {
        let figure = |name: &str| figures[&format!("{way}_{name}")];
        assert!(figure("response_p50") <= figure("response_p99"), "{figures:?}");
        let reads = figure("l2_reads_per_event");
        assert_eq!(reads > 0.0, way == "load_poll", "{figures:?}");
    }
    // The limits of the design.
    assert!(
        figures["interrupt_response_p99"] <= 10.0 && figures["sleep_response_p99"] <= 15.0,
        "{figures:?}"
    );
    assert!(figures["interrupt_response_p99"] < figures["load_poll_response_p50"], "{figures:?}");
    // The handler has two instructions; what it interrupts works on.
    assert_eq!(figures["interrupt_overhead_per_event"], 2.0);
    assert!(figures["interrupt_useful_per_1000_cycles"] > 500.0, "{figures:?}");
    assert!(
        figures["csr_poll_overhead_per_event"] > 20.0 * figures["sleep_overhead_per_event"],
        "{figures:?}"
    );
}

#[test]
fn core() {
    let figures = bench("core --lanes 2 --turns 40");
    assert_eq!(
        names(&figures),
        ["divergence_overhead", "ipc_1_warp", "ipc_4_warps", "ipc_8_warps", "simd_efficiency_converged"]
    );
    for warps in ["ipc_1_warp", "ipc_4_warps", "ipc_8_warps"] {
        assert!(figures[warps] <= 1.0, "{figures:?}");
    }
    assert!(figures["ipc_1_warp"] < figures["ipc_8_warps"], "{figures:?}");
    // Nothing diverges there; here both paths run once a turn, and no instruction is left out.
    assert_eq!(figures["simd_efficiency_converged"], 1.0);
    assert!((1.0..1.2).contains(&figures["divergence_overhead"]), "{figures:?}");
}

#[test]
fn sim() {
    // Its model is built anew.
    let figures = bench_in(&Folder::for_short_runs(), "sim --preset fpga --lanes 1 --warps 2 --turns 10");
    assert_eq!(
        names(&figures),
        ["khz_1x1", "lane_cycles_per_second", "lane_instructions_per_second", "model_build_seconds"]
    );
}

#[test]
fn a_missing_tool_is_named() {
    let folder = Folder::new();
    let output = folder.hermes_with("bench cost --lanes 1 --json figures.json", |command| {
        command.env("PATH", "").env_remove("YOSYS").env_remove("NEXTPNR_ECP5");
    });
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("yosys is not installed; install the package yosys"), "{error}");
    assert_eq!(output.status.code(), Some(1));
    assert!(folder.files().is_empty(), "{:?}", folder.files());
    folder.fail("bench cost --lanes 3", &["lanes: 3 is not possible; expected 1, 2, 4, 8, 16 or 32"]);
    folder.fail(
        "bench cost --command-threads 3",
        &["command-threads: 3 is not possible; expected 1, 2, 4 or 8"],
    );
    for count in [0, 3] {
        folder.fail(
            &format!("bench cost --lanes 1 --network-functions {count}"),
            &[&format!("network-functions: {count} is not possible; expected 2, 4 or 8")],
        );
    }
    folder.fail("bench core --lanes 1", &["--lanes 1: expected 2"]);
}

#[test]
fn memory() {
    let array = "--preset default --cores 1 --lanes 8 --warps 8";
    let figures = bench(&format!("memory {array} --packets 2048 --at-channels 1 --latency 20 --sweep 2,400"));
    assert_eq!(
        names(&figures),
        [
            "dec_ttl_l1_limit",
            "dec_ttl_limit_ratio_1ch",
            "dec_ttl_memory_limit_1ch",
            "dec_ttl_rate_1ch",
            "dec_ttl_relative_latency_2",
            "dec_ttl_relative_latency_400",
            "lines_per_packet",
            "stream_limit_ratio_1ch"
        ]
    );
    // One core is far below one channel; nothing is faster than its limit. It was 0.122 when loaded
    // values went to the registers before all instructions, which so could not ask for more.
    let rate = figures["dec_ttl_rate_1ch"];
    assert!(
        rate <= figures["dec_ttl_l1_limit"] && rate <= figures["dec_ttl_memory_limit_1ch"],
        "{figures:?}"
    );
    assert!(rate > 0.15, "{figures:?}");
    assert!(figures["stream_limit_ratio_1ch"] < 1.0, "{figures:?}");
    assert!((2.0..3.0).contains(&figures["lines_per_packet"]), "{figures:?}");
    assert_eq!(figures["dec_ttl_relative_latency_2"], 1.0);
    assert!(figures["dec_ttl_relative_latency_400"] < 0.9, "{figures:?}");
}

#[test]
fn apps() {
    let array = "--preset default --cores 1 --lanes 4 --warps 4 --channels 1";
    let figures = bench(&format!("apps {array} --apps dec-ttl,classifier --packets 64 --mcw 2,4,32"));
    assert_eq!(
        names(&figures),
        [
            "classifier_gbps_64B_mcw2",
            "classifier_gbps_64B_mcw4",
            "classifier_gbps_imix_mcw2",
            "classifier_gbps_imix_mcw4",
            "classifier_instructions_per_packet_mcw2",
            "classifier_instructions_per_packet_mcw4",
            "classifier_lane_cycles_per_packet_mcw2",
            "classifier_lane_cycles_per_packet_mcw4",
            "classifier_lines_64B_mcw2",
            "classifier_lines_64B_mcw4",
            "classifier_lines_imix_mcw2",
            "classifier_lines_imix_mcw4",
            "classifier_mpps_64B_mcw2",
            "classifier_mpps_64B_mcw4",
            "classifier_mpps_imix_mcw2",
            "classifier_mpps_imix_mcw4",
            "classifier_simd_efficiency_mcw2",
            "classifier_simd_efficiency_mcw4",
            "classifier_steady_gbps_64B_mcw2",
            "classifier_steady_gbps_imix_mcw2",
            "classifier_steady_mpps_64B_mcw2",
            "classifier_steady_mpps_imix_mcw2",
            "dec-ttl_gbps_64B_mcw2",
            "dec-ttl_gbps_64B_mcw4",
            "dec-ttl_gbps_imix_mcw2",
            "dec-ttl_gbps_imix_mcw4",
            "dec-ttl_instructions_per_packet_mcw2",
            "dec-ttl_instructions_per_packet_mcw4",
            "dec-ttl_lane_cycles_per_packet_mcw2",
            "dec-ttl_lane_cycles_per_packet_mcw4",
            "dec-ttl_lines_64B_mcw2",
            "dec-ttl_lines_64B_mcw4",
            "dec-ttl_lines_imix_mcw2",
            "dec-ttl_lines_imix_mcw4",
            "dec-ttl_mpps_64B_mcw2",
            "dec-ttl_mpps_64B_mcw4",
            "dec-ttl_mpps_imix_mcw2",
            "dec-ttl_mpps_imix_mcw4",
            "dec-ttl_simd_efficiency_mcw2",
            "dec-ttl_simd_efficiency_mcw4",
            "dec-ttl_steady_gbps_64B_mcw2",
            "dec-ttl_steady_gbps_imix_mcw2",
            "dec-ttl_steady_mpps_64B_mcw2",
            "dec-ttl_steady_mpps_imix_mcw2",
        ]
    );
    // 64 packets are 8 times those on the core at MCW 2.
    assert!(figures["dec-ttl_steady_gbps_64B_mcw2"] > 0.5 * figures["dec-ttl_gbps_64B_mcw2"], "{figures:?}");
    // The boot sequence and EXIT do not count.
    assert_eq!(figures["dec-ttl_instructions_per_packet_mcw4"], 24.0, "{figures:?}");
    assert_eq!(figures["dec-ttl_simd_efficiency_mcw4"], 1.0, "{figures:?}");
    for app in ["dec-ttl", "classifier"] {
        let figure = |name: &str| figures[&format!("{app}_{name}")];
        assert!(
            figure("instructions_per_packet_mcw4") < figure("lane_cycles_per_packet_mcw4"),
            "{figures:?}"
        );
        assert!(figure("gbps_64B_mcw4") < figure("gbps_imix_mcw4"), "{figures:?}");
    }
    let folder = Folder::new();
    folder.fail("bench apps --apps dec-tll", &["--app dec-tll: not known; expected one of dec-ttl"]);
}
