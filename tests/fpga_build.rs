//! `hermes fpga build` with programs that stand in for Yosys, nextpnr and ecppack: what it gives
//! them, and what it makes of what they say. Builds with the programs themselves take minutes
//! (docs/fpga.md).

#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use common::Folder;
use serde_json::Value;

/// Takes its netlist and statistics from the folder of the test.
const YOSYS: &str = "#!/bin/sh\ncp \"$STAND_IN/netlist.json\" \"$STAND_IN/statistics.txt\" .\n";
/// Keeps its arguments and netlist, and comes to an end at once.
const NEXTPNR: &str = "#!/bin/sh\n\
    echo \"$@\" > \"$STAND_IN/arguments\"\n\
    cp netlist.json \"$STAND_IN/placed.json\"\n\
    echo \"Info: Max frequency for clock 'clk': 50.00 MHz (PASS at 40.00 MHz)\" >&2\n\
    touch seed-1.config\n";
const ECPPACK: &str = "#!/bin/sh\ntouch board.bit\n";

/// A folder with these programs and a netlist of so many LUTs.
fn folder(luts: usize) -> Folder {
    let folder = Folder::new();
    for (name, text) in [("yosys", YOSYS), ("nextpnr", NEXTPNR), ("ecppack", ECPPACK)] {
        folder.write(name, text);
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder.write("netlist.json", r#"{"modules":{"ulx3s_top":{"cells":{"a":{"type":"LUT4"}}}}}"#);
    folder.write("statistics.txt", format!("     LUT4      {luts}\n"));
    folder
}

/// Builds with these options; whether it succeeds, and what it says.
fn build(folder: &Folder, options: &str) -> (bool, String) {
    let output = folder.hermes_with(
        &format!("fpga build --lanes 1 --warps 1 -o out --seeds 1 {options}"),
        |command| {
            command.env("YOSYS", folder.path("yosys")).env("NEXTPNR_ECP5", folder.path("nextpnr"));
            command.env("ECPPACK", folder.path("ecppack")).env("STAND_IN", folder.path("."));
        },
    );
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The cells of the netlist that was placed.
fn cells(folder: &Folder) -> usize {
    let netlist: Value = serde_json::from_str(&folder.text("placed.json")).unwrap();
    netlist["modules"]["ulx3s_top"]["cells"].as_object().unwrap().len()
}

#[test]
fn luts_are_kept_empty() {
    let folder = folder(20_000);
    let share = |folder: &Folder| (cells(folder) - 1) as f64 / 83_640.0;
    let (success, said) = build(&folder, "");
    assert!(success, "{said}");
    assert!((share(&folder) - 0.2).abs() < 0.01, "{}", share(&folder));
    assert!(folder.text("arguments").contains("--placer static --timing-allow-fail --lpf"));

    let (success, said) = build(&folder, "--room 0");
    assert!(success, "{said}");
    assert_eq!(cells(&folder), 1);

    let (success, said) = build(&folder, "--room 30 --timing-weight 15");
    assert!(success, "{said}");
    assert!((share(&folder) - 0.3).abs() < 0.01, "{}", share(&folder));
    let arguments = folder.text("arguments");
    let expected = "--placer heap --placer-heap-timingweight 15 --timing-allow-fail --router2-alt-weights";
    assert!(arguments.contains(expected), "{arguments}");
}

/// The report says what was reached, also where that is too slow.
#[test]
fn the_clock_is_on_record() {
    let folder = folder(20_000);
    for (clock, met) in [(40.0, true), (60.0, false)] {
        let (success, said) = build(&folder, &format!("--clock {clock} --json build.json"));
        assert_eq!(success, met, "{said}");
        let report: Value = serde_json::from_str(&folder.text("build.json")).unwrap();
        assert_eq!(report["luts"], 20_000);
        assert_eq!((report["routed_khz"].as_u64(), report["seed"].as_u64()), (Some(50_000), Some(1)));
        assert_eq!(report["clock_khz"].as_f64(), Some(clock * 1e3));
        assert!(report["routing_seconds"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn what_the_array_takes_cannot_be_kept_empty() {
    let folder = folder(60_000);
    let (success, said) = build(&folder, "--room 30");
    let expected = "--room 30: expected 28 at most, since the array takes 60000 of 83640 LUTs";
    assert!(!success && said.contains(expected), "{said}");
    assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), 0);

    // Without the option, what is left.
    let full = self::folder(80_000);
    let (success, said) = build(&full, "");
    assert!(success, "{said}");
    let share = (cells(&full) - 1) as f64 / 83_640.0;
    assert!((share - 0.04).abs() < 0.01, "{share}");
}
