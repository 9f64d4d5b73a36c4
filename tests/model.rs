//! `hermes model`: a calibration, predictions, held-out runs and the search.

mod common;

use common::Folder;
use hermes_experiments::FORMAT;

/// A calibration of an array that other tests have built.
fn calibrated() -> Folder {
    let folder = Folder::new();
    let said = folder.succeed("model calibrate --app dec-ttl --preset default --quick -o known");
    assert!(said.starts_with("known/calibration.json: dec-ttl at "), "{said}");
    folder
}

/// A figure that was predicted.
fn predicted(folder: &Folder, arguments: &str, name: &str) -> f64 {
    folder.succeed(&format!("model predict known --json said.json {arguments}"));
    let text = std::fs::read(folder.path("said.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
    json[name].as_f64().unwrap_or_else(|| panic!("no {name} in {json}"))
}

#[test]
fn delays_are_predicted_and_checked() {
    let folder = calibrated();
    // The same runs, the same bytes; and nothing runs again.
    let first = std::fs::read(folder.path("known/calibration.json")).unwrap();
    folder.succeed("model calibrate --app dec-ttl --preset default --quick -o known");
    assert_eq!(std::fs::read(folder.path("known/calibration.json")).unwrap(), first);
    // With the MCW of the open runs, and about what one warp takes alone.
    let load = predicted(&folder, "--arrivals constant:60", "load");
    assert!((0.2..0.6).contains(&load), "{load}");
    let mean = predicted(&folder, "--arrivals constant:60", "mean");
    assert!((150.0..800.0).contains(&mean), "{mean}");
    let sparse = predicted(&folder, "--arrivals constant:10", "mean");
    let burst = predicted(&folder, "--arrivals constant:1000", "mean");
    assert!(sparse > 0.0 && burst > 2.0 * sparse, "{sparse} {burst}");
    let p99 = predicted(&folder, "--arrivals poisson:20 --set packets=1000", "p99");
    assert!(p99 > predicted(&folder, "--arrivals poisson:20 --set packets=1000", "p50"));
    // Four runs on the hardware, and how far the predictions are from them.
    let said = folder.succeed("model check known --seed 3 --runs 4 --packets 1024");
    assert!(said.contains("|error|, burst: our model mean "), "{said}");
    assert!(said.contains("known/report/index.html: 1 plots of 11 of 11 results"), "{said}");
    let page = std::fs::read_to_string(folder.path("known/report/index.html")).unwrap();
    assert!(page.contains("bursts and pauses"));
    // The calibration is not touched.
    assert_eq!(std::fs::read(folder.path("known/calibration.json")).unwrap(), first);
    let found = folder.succeed("model search known --throughput 60 --delay-p99 20000 --cores 4");
    assert!(found.contains("arrays with their MCWs, ") && found.contains("lanes  load "), "{found}");
    // By LUTs, and the cheapest on the hardware: an array that other tests have built.
    folder.write("costs.json", "{\"figures\": [{\"name\": \"luts_8_lanes\", \"value\": 12000}]}");
    let run = "--costs costs.json --cores 2 --run 1 -o found";
    let found = folder.succeed(&format!("model search known --throughput 200 --delay-p99 9000 {run}"));
    assert!(found.contains("24000 LUTs") && found.contains("2 cores, 8 lanes, MCW "), "{found}");
    assert!(found.contains(": target met: p99 "), "{found}");
    assert!(found.contains("found/report/index.html: 3 plots of 1 of 1 results"), "{found}");
    folder.fail(
        "model search known --throughput 5 --delay-p99 1 --cores 2",
        &["no array meets the target, of ", "expected more cores"],
    );
}

#[test]
fn what_is_wrong_is_named() {
    let folder = calibrated();
    let good = std::fs::read_to_string(folder.path("known/calibration.json")).unwrap();
    for (arguments, expected) in [
        ("model calibrate --app none -o x", "app `none`"),
        ("model calibrate --app dec-ttl --preset huge -o x", "--preset"),
        (
            "model calibrate --app dec-ttl --set cores=1 -o x",
            "--set: `cores=1`: not known; expected one of app",
        ),
        ("model calibrate --app dec-ttl --set array.cores=0 -o x", "array"),
        ("model predict none --arrivals constant:1", "none/calibration.json"),
        ("model predict known --arrivals soon", "arrivals `soon`: expected"),
        ("model calibrate --app dec-ttl --set mcw=2 -o x", "--set mcw: expected another parameter"),
        ("model calibrate --app dec-ttl --set eager=true -o x", "eager true: expected false"),
        ("model predict known --arrivals max", "arrivals `max`: expected times"),
        ("model predict known --arrivals trace", "arrivals `trace`: expected times"),
        ("model predict known --arrivals constant:1 --set push_packets=9", "push_packets 9: expected 1"),
        (
            "model search known --throughput 20 --delay-p99 5000 --run 1 -o known",
            "-o known: is a calibration",
        ),
        ("model predict known --arrivals constant:1 --set mcw=99", "mcw 99: expected 1 to"),
        ("model predict known --arrivals constant:1 --set memory=7", "memory \"7\": expected \"100\""),
        ("model predict known --arrivals constant:1 --set app=dpi", "app \"dpi\": expected \"dec-ttl\""),
        (
            "model predict known --arrivals constant:1 --set seed=4",
            "seed 4: expected 1, that of the calibration",
        ),
        ("model predict known --arrivals constant:1 --set eager=true", "eager true: expected false"),
        ("model search known --throughput 0 --delay-p99 5", "--throughput 0: expected a number above 0"),
        (
            "model search known --throughput 1 --delay-p99 5 --arrivals max",
            "arrivals `max`: expected constant or poisson",
        ),
        ("model search known --throughput 1 --delay-p99 5 --costs none", "--costs none: No such file"),
    ] {
        folder.fail(arguments, &[expected]);
    }
    assert!(!folder.path("x").exists());
    // A file that is cut, of another version, or without a burst.
    let [format, wrong_format] = [FORMAT, 99].map(|number| format!("\"format\": {number}"));
    let of_format = format!("format 99: expected {FORMAT}");
    for (from, to, expected) in [
        (&format[..], &wrong_format[..], &of_format[..]),
        ("\"burst\"", "\"bursts\"", "unknown field `bursts`"),
        ("\"execution\": ", "\"execution\": -", "expected a number of at least 0"),
        (
            "\"mcw\": 8,\n      \"forming",
            "\"mcw\": 200000000,\n      \"forming",
            "mcw 200000000: expected 1 to",
        ),
        ("\"computing_rate\": ", "\"computing_rate\": -", "expected both above 0"),
    ] {
        let text = good.replace(from, to);
        assert_ne!(text, good, "{from}");
        folder.write("known/calibration.json", &text);
        folder.fail("model predict known --arrivals constant:1", &["known/calibration.json", expected]);
    }
}

/// Every array of a small space on the hardware: the search finds the fewest cores that meet the
/// target. It builds a model for each number of cores.
#[test]
#[ignore = "minutes"]
fn the_search_finds_what_every_run_finds() {
    let folder = Folder::new();
    folder.succeed("model calibrate --app dec-ttl --preset default -o known");
    for (mpps, p99) in [(100, 1_500), (200, 1_500), (300, 3_000)] {
        let gbps = f64::from(mpps) * 0.672;
        let sweep = format!(
            "title = \"All\"\npreset = \"default\"\n[set]\napp = \"dec-ttl\"\narrivals = \"poisson:{gbps}\"\n[sweep]\n\
             array.cores = [1, 2, 3, 4]\nmcw = [1, 2, 4, 8]\n[plot]\nx = \"mcw\"\ny = [\"delay_p99\"]\n"
        );
        folder.write("all.toml", &sweep);
        folder.succeed("sweep all.toml -o all");
        folder.succeed("exp run all");
        let mut fewest = None;
        for entry in std::fs::read_dir(folder.path("all/results")).unwrap() {
            let text = std::fs::read(entry.unwrap().path()).unwrap();
            let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
            let parameters = &json["job"]["parameters"];
            let is_of = parameters["arrivals"] == format!("poisson:{gbps}");
            let Some(measured) = json["measured"]["delays"]["delay"]["p99"].as_u64().filter(|_| is_of) else {
                continue;
            };
            if measured <= p99 {
                let cores = parameters["array"]["cores"].as_u64().unwrap();
                fewest = Some(fewest.map_or(cores, |fewest: u64| fewest.min(cores)));
            }
        }
        let search = format!("model search known --throughput {mpps} --delay-p99 {p99} --cores 4");
        let found = folder.succeed(&search);
        let cheapest = found.lines().nth(1).unwrap().split_whitespace().next().unwrap();
        assert_eq!(cheapest.parse(), Ok(fewest.unwrap()), "{mpps} Mpps, {p99} cycles\n{found}");
    }
}
