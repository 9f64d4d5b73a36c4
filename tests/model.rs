//! `hermes model`: a calibration, predictions, held-out runs and the search.

mod common;

use common::Folder;

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
    let load = predicted(&folder, "--arrivals constant:10", "load");
    assert!((0.01..0.9).contains(&load), "{load}");
    let sparse = predicted(&folder, "--arrivals constant:10", "mean");
    let burst = predicted(&folder, "--arrivals constant:1000", "mean");
    assert!(sparse > 0.0 && burst > 2.0 * sparse, "{sparse} {burst}");
    let p99 = predicted(&folder, "--arrivals poisson:20 --set packets=1000", "p99");
    assert!(p99 > predicted(&folder, "--arrivals poisson:20 --set packets=1000", "p50"));
    // Four runs on the hardware, and how far the predictions are from them.
    let said = folder.succeed("model check known --seed 3 --runs 4 --packets 1024");
    assert!(said.contains("Mean |error| of our model: burst: "), "{said}");
    assert!(said.contains("known/report/index.html: 1 plots of 11 of 11 results"), "{said}");
    let page = std::fs::read_to_string(folder.path("known/report/index.html")).unwrap();
    assert!(page.contains("bursts and pauses"));
    // The calibration is not touched.
    assert_eq!(std::fs::read(folder.path("known/calibration.json")).unwrap(), first);
    let found = folder.succeed("model search known --throughput 5 --delay-p99 20000 --cores 4");
    assert!(found.contains("arrays, ") && found.contains("lanes  load "), "{found}");
    folder.fail(
        "model search known --throughput 5 --delay-p99 1 --cores 2",
        &["no array meets the target; expected more cores"],
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
        ("model predict known --arrivals max", "arrivals `max`: expected times"),
        ("model predict known --arrivals constant:1 --set mcw=99", "mcw 99: expected 1 to"),
        ("model predict known --arrivals constant:1 --set memory=7", "memory 7: expected 100"),
        ("model predict known --arrivals constant:1 --set app=dpi", "app dpi: expected dec-ttl"),
        ("model predict known --arrivals constant:1 --set seed=4", "the tables of the calibration"),
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
    for (from, to, expected) in [
        ("\"format\": 1", "\"format\": 99", "format 99: expected 1"),
        ("\"burst\"", "\"bursts\"", "unknown field `bursts`"),
        ("\"computing_rate\": ", "\"computing_rate\": -", "expected both above 0"),
    ] {
        let text = good.replace(from, to);
        assert_ne!(text, good, "{from}");
        folder.write("known/calibration.json", &text);
        folder.fail("model predict known --arrivals constant:1", &["known/calibration.json", expected]);
    }
}
