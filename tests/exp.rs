//! `hermes exp` and `hermes sweep`: plans, jobs, results and the page.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use common::Folder;
use hermes_experiments::{figures, FORMAT};

/// Four jobs on an array that other tests have built.
const SWEEP: &str = "title = \"Four runs\"\npreset = \"default\"\n[set]\napp = \"dec-ttl\"\npackets = 256\n\
                     [sweep]\nmcw = [1, 2]\narrivals = [\"constant:20\", \"constant:50\"]\n\
                     [plot]\nx = \"arrivals\"\ny = [\"gbps\", \"delay_p99\"]\n";

fn planned() -> Folder {
    let folder = Folder::new();
    folder.write("four.toml", SWEEP);
    let said = folder.succeed("sweep four.toml -o plan");
    assert!(said.starts_with("plan: 4 jobs on 1 models"), "{said}");
    folder
}

/// The files in a folder whose names end so, by name.
fn named(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = entries.filter(|path| path.to_str().unwrap().ends_with(end)).collect();
    found.sort();
    found
}

/// The results in a folder: file names and bytes.
fn results(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let is_result = |path: &PathBuf| path.file_name().unwrap().len() == "0123456789abcdef.json".len();
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_string();
    named(folder, ".json").iter().filter(|p| is_result(p)).map(|p| (name(p), fs::read(p).unwrap())).collect()
}

/// Runs what must fail with exit code 1; gives standard error.
fn fails(folder: &Folder, arguments: &str) -> String {
    let output = folder.hermes(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments}: {error}");
    error
}

/// A name ends before its summary, however long it is.
#[test]
fn experiments_are_listed() {
    let said = Folder::new().succeed("exp list");
    let names: Vec<_> = said.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, figures::every().map(|experiment| experiment.name).collect::<Vec<_>>());
}

/// Gets between two nodes, served by queues, by firmware, and by a thread that is not there.
#[test]
fn several_nodes() {
    let folder = Folder::new();
    let said = folder.succeed("exp plan compnet-fig8a --quick -o plan");
    assert!(said.starts_with("plan: 3 jobs on 1 models"), "{said}");
    folder.succeed("exp run plan -j 1");
    let mut least = Vec::new();
    for (_, bytes) in results(&folder.path("plan/results")) {
        let result: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let nodes = &result["measured"]["nodes"];
        let sizes = nodes["sizes"].as_array().unwrap();
        assert_eq!((sizes.len(), &sizes[7]["bytes"]), (8, &(1 << 14).into()));
        let column = result["job"]["parameters"]["nodes"]["column"].as_str().unwrap().to_string();
        assert_eq!(nodes["service"].is_object(), column == "dgpu:low", "{column}");
        least.push((column, sizes[0]["least"].as_u64().unwrap()));
    }
    let of = |name: &str| least.iter().find(|(column, _)| column == name).unwrap().1;
    let late = of("dgpu:low") - of("queues");
    assert!(late.abs_diff(300 + 20 + 50 + 300 + 600 - 46) < 100, "{least:?}");
    assert!(of("paper") > of("queues"), "{least:?}");
    let page = folder.text("plan/report/index.html");
    assert!(page.contains("A get of 4 bytes takes "), "the ratio");
}

/// A second call runs nothing; results that are missing are made again; a run that was ended goes
/// on; results of two folders are put together: the same bytes each time.
#[test]
fn a_plan_gives_the_same_page_however_it_is_run() {
    let folder = planned();
    let run = |folder: &Folder| {
        let output = folder.hermes("exp run plan -j 2");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
        text
    };
    assert!(run(&folder).contains("4 jobs to run, 0 have their results"));
    let (page, first) = (folder.read("plan/report/index.html"), results(&folder.path("plan/results")));
    assert_eq!(first.len(), 4);
    let text = String::from_utf8(page.clone()).unwrap();
    assert_eq!(text.matches("<svg").count(), 2, "{text}");
    assert!(text.contains("from 4 of 4 results") && text.contains("mcw 1"), "{text}");
    let snakefile = folder.text("plan/Snakefile");
    assert!(first.iter().all(|(name, _)| snakefile.contains(name.trim_end_matches(".json"))), "{snakefile}");

    assert!(run(&folder).contains("0 jobs to run, 4 have their results"));
    fs::remove_file(folder.path("plan/results").join(&first[1].0)).unwrap();
    assert!(run(&folder).contains("1 jobs to run, 3 have their results"));
    assert!(results(&folder.path("plan/results")) == first && folder.read("plan/report/index.html") == page);

    // Planned in another folder, it is the same; ended after its first result.
    let other = planned();
    for file in ["plan/plan.json", "plan/Snakefile"] {
        assert!(folder.read(file) == other.read(file), "{file}");
    }
    let jobs = |folder: &Folder| results(&folder.path("plan/jobs"));
    assert!(jobs(&folder) == jobs(&other) && jobs(&folder).len() == 4);
    let mut child = other.command("--quiet exp run plan -j 1").spawn().unwrap();
    while results(&other.path("plan/results")).is_empty() && child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(20));
    }
    let _ = Command::new("kill").arg(child.id().to_string()).status();
    child.wait().unwrap();
    // One more of the results, as another machine would have made it.
    fs::create_dir(other.path("more")).unwrap();
    let (name, _) = &first[3];
    let _ = fs::remove_file(other.path("plan/results").join(name));
    fs::copy(folder.path("plan/results").join(name), other.path("more").join(name)).unwrap();
    fs::remove_file(other.path("plan/jobs").join(name)).unwrap();
    let error = fails(&other, "exp run plan -j 1");
    assert!(error.contains("1 jobs failed"), "{error}");
    other.succeed("exp report plan --results more");
    let equal = other.read("plan/report/index.html") == page;
    assert!(equal, "{}", other.text("plan/report/index.html"));
}

/// A job that fails leaves its error, the others go on, and the page names the figure that lacks
/// it.
#[test]
fn a_job_that_fails_is_named() {
    let folder = planned();
    let job = named(&folder.path("plan/jobs"), ".json").remove(0);
    let key = job.file_stem().unwrap().to_str().unwrap().to_string();
    let good = fs::read_to_string(&job).unwrap();
    fs::write(&job, good.replace("\"packets\": 256", "\"packets\": 255")).unwrap();
    let error = fails(&folder, "exp run plan");
    assert!(error.contains(&format!("job {key} failed")) && error.contains("1 jobs failed"), "{error}");
    assert_eq!(results(&folder.path("plan/results")).len(), 3);
    let told = folder.text(&format!("plan/results/{key}.error.json"));
    assert!(told.contains(&format!("key {key}: expected ")), "{told}");
    let page = folder.text("plan/report/index.html");
    assert!(page.contains(&format!("Missing: job {key} (arrivals ")), "{page}");

    fs::write(&job, good).unwrap();
    folder.succeed("--quiet exp run plan");
    assert!(!folder.path(&format!("plan/results/{key}.error.json")).exists());
    assert!(!folder.text("plan/report/index.html").contains("Missing"));
}

#[test]
fn what_is_wrong_is_named() {
    let folder = planned();
    let job = named(&folder.path("plan/jobs"), ".json").remove(0);
    let name = job.file_name().unwrap().to_str().unwrap().to_string();
    let (good, at) = (fs::read_to_string(&job).unwrap(), format!("plan/jobs/{name}"));
    let run = format!("exp job {at} -o plan/results/{name}");
    let wrong_format = format!("format 7: expected {FORMAT}");
    let format_field = |number: u32| format!("\"format\": {number}");
    let cases = [
        (good.replace(&format_field(FORMAT), &format_field(7)), wrong_format.as_str()),
        (good.replace("\"mcw\": ", "\"mcw\": 1"), "expected "),
        (good.replace("\"mcw\": ", "\"mwc\": "), "unknown field `mwc`"),
        (good[..good.len() / 2].to_string(), "expected a job: EOF"),
        (good.replace("\"key\": \"", "\"key\": \"x"), "expected 16 hexadecimal digits"),
    ];
    for (text, expected) in cases {
        assert_ne!(text, good, "{expected}");
        fs::write(&job, text).unwrap();
        let error = fails(&folder, &run);
        assert!(error.contains(&at) && error.contains(expected), "{error}; expected {expected}");
    }
    assert!(results(&folder.path("plan/results")).is_empty(), "nothing is half-written");
    fs::write(&job, good).unwrap();
    named(&folder.path("plan/results"), ".error.json").iter().for_each(|path| fs::remove_file(path).unwrap());

    let error = fails(&folder, "exp report plan");
    assert!(error.contains("no result of the plan's 4 jobs"), "{error}");
    assert!(!folder.path("plan/report").exists());
    folder.succeed(&run);
    let result = folder.path("plan/results").join(&name);
    let good = fs::read_to_string(&result).unwrap();
    let cases = [
        (good.replace(&format_field(FORMAT), &format_field(7)), wrong_format.as_str()),
        (good[..good.len() / 3].to_string(), "expected a result: EOF"),
        (good.replace("\"seed\": 1", "\"seed\": 2"), "expected "),
        (good.replace("\"golden_checked\": true", "\"golden_checked\": false"), "expected true"),
    ];
    for (text, expected) in cases {
        assert_ne!(text, good, "{expected}");
        fs::write(&result, text).unwrap();
        for command in ["exp report plan", "exp run plan"] {
            let error = fails(&folder, command);
            assert!(error.contains(&name) && error.contains(expected), "{error}; expected {expected}");
        }
    }
    fs::write(&result, &good).unwrap();
    fs::create_dir(folder.path("more")).unwrap();
    let other = good.replacen("\"lines_read\": ", "\"lines_read\": 1", 1);
    fs::write(folder.path("more").join(&name), other).unwrap();
    let error = fails(&folder, "exp report plan --results more");
    assert!(error.contains(&format!("more/{name}: differs from plan/results/{name}")), "{error}");

    for (arguments, expected) in [
        (
            "exp plan fig5 -o other",
            "experiment `fig5`: not known; expected all, pangaea, compnet, gnet or one of curve",
        ),
        ("exp report none", "none/plan.json"),
        ("exp run none", "none/plan.json"),
        ("sweep none.toml -o other", "none.toml"),
    ] {
        let error = fails(&folder, arguments);
        assert!(error.contains(expected), "{arguments}: {error}");
    }
    folder.write("wrong.toml", SWEEP.replace("mcw = [1, 2]", "mcw = [1, 99]"));
    let error = fails(&folder, "sweep wrong.toml -o other");
    assert!(error.contains("wrong.toml") && error.contains("mcw 99: expected 1 to"), "{error}");
    assert!(!folder.path("other").exists(), "nothing is half-written");
}

/// The page of a plan that was run.
fn page() -> (Folder, String) {
    let folder = planned();
    folder.succeed("--quiet exp run plan");
    let page = folder.text("plan/report/index.html");
    (folder, page)
}

/// Nothing is missing on the page, and it asks for nothing elsewhere.
#[test]
fn the_page_is_whole_and_alone() {
    let (_folder, page) = page();
    for (number, svg) in page.split("<svg").skip(1).enumerate() {
        let svg = svg.split("</svg>").next().unwrap();
        assert!(
            svg.contains("<polyline") && svg.contains("<title>") && svg.contains("<desc>"),
            "plot {number}"
        );
    }
    for table in page.split("<table").skip(1) {
        assert!(table.split("</table>").next().unwrap().contains("<td>"), "{table}");
    }
    let elsewhere = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for word in ["http:", "https:", "src=", "@import", "<script", "<link"] {
        assert!(!elsewhere.contains(word), "{word}");
    }
}

/// As a screen and a phone show it: nothing but tables, which scroll, is wider than the window.
#[test]
#[ignore = "needs Chromium and HTML Tidy"]
fn the_page_fits_screens() {
    let (folder, page) = page();
    let tidy = Command::new("tidy").args(["-e", "-q"]).arg(folder.path("plan/report/index.html")).output();
    let tidy = tidy.expect("tidy runs");
    assert!(tidy.status.success(), "{}", String::from_utf8_lossy(&tidy.stderr));
    // A window is never as narrow as a phone; a frame can be.
    let script = "<script>const page = document.documentElement; \
                  parent.postMessage(page.scrollWidth - page.clientWidth, '*')</script>";
    folder.write("measured.html", page.replace("</body>", &format!("{script}</body>")));
    for width in [1280, 390] {
        let listener = "<script>onmessage = event => document.title = 'beyond ' + event.data</script>";
        let frame = format!("<iframe src=\"measured.html\" style=\"width: {width}px; border: 0\"></iframe>");
        folder.write("frame.html", format!("<!DOCTYPE html><title></title>{listener}{frame}"));
        let mut command = Command::new("chromium");
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ]);
        let output = command.arg(folder.path("frame.html")).output().expect("chromium runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("<title>beyond 0</title>"), "{width}: {text}");
    }
}

/// Snakemake runs the Snakefile: one job that fails, one result that is removed, nothing twice.
#[test]
#[ignore = "needs Snakemake (pip install snakemake)"]
fn snakemake_runs_a_plan() {
    let folder = planned();
    let snakemake = || {
        let mut command = Command::new("snakemake");
        command.args("--cores 2 --keep-going --rerun-incomplete --rerun-triggers mtime".split(' '));
        command.current_dir(folder.path("plan")).env("HERMES", env!("CARGO_BIN_EXE_hermes"));
        let output = command.env("HERMES_CACHE", common::models()).output().expect("snakemake runs");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let job = named(&folder.path("plan/jobs"), ".json").remove(0);
    let good = fs::read_to_string(&job).unwrap();
    fs::write(&job, good.replace("\"packets\": 256", "\"packets\": 255")).unwrap();
    let (done, text) = snakemake();
    assert!(!done && results(&folder.path("plan/results")).len() == 3, "{text}");
    fs::write(&job, good).unwrap();
    let (done, text) = snakemake();
    assert!(done && results(&folder.path("plan/results")).len() == 4, "{text}");
    let page = folder.read("plan/report/index.html");
    let (done, text) = snakemake();
    assert!(done && text.contains("Nothing to be done"), "{text}");
    let one = results(&folder.path("plan/results")).remove(2);
    fs::remove_file(folder.path("plan/results").join(&one.0)).unwrap();
    let (done, text) = snakemake();
    assert!(done && folder.read("plan/report/index.html") == page, "{text}");
    assert_eq!(results(&folder.path("plan/results"))[2], one);
    // A plan that is made again has the same jobs; its page is made, and no job runs.
    folder.succeed("sweep four.toml -o plan");
    let (done, text) = snakemake();
    assert!(done && !text.contains("rule job:") && folder.read("plan/report/index.html") == page, "{text}");
    // The same page as without an engine.
    folder.succeed("--quiet exp run plan");
    assert!(folder.read("plan/report/index.html") == page);
}
