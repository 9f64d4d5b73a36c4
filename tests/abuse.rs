//! Runs that are interrupted, and runs that share folder and build cache.

mod common;

use std::process::{Child, Stdio};
use std::time::Duration;

use common::Folder;

/// Starts `hermes` in the folder without waiting for it.
fn start(folder: &Folder, arguments: &str) -> Child {
    folder.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("hermes starts")
}

#[test]
fn an_interrupted_run_leaves_no_half_written_output() {
    let folder = Folder::new();
    folder.write("old.pcap", "what was there before");
    for output in ["new.pcap", "old.pcap"] {
        // Far more packets than are written before the run is killed.
        let mut run =
            start(&folder, &format!("gen-trace --kind imix --packets 50000000 --seed 1 -o {output}"));
        // It is killed when it has begun to write: it has a file of some bytes open in the folder,
        // whatever its name.
        let descriptors = format!("/proc/{}/fd", run.id());
        let place = folder.path("").canonicalize().unwrap();
        let begun = || {
            std::fs::read_dir(&descriptors).unwrap().flatten().any(|descriptor| {
                let path = descriptor.path();
                std::fs::read_link(&path).is_ok_and(|target| target.starts_with(&place))
                    && path.metadata().is_ok_and(|file| file.is_file() && file.len() > 0)
            })
        };
        let mut patience = 3_000;
        while !begun() && patience > 0 {
            std::thread::sleep(Duration::from_millis(10));
            patience -= 1;
        }
        assert!(patience > 0 && run.try_wait().unwrap().is_none(), "the run did not begin, or it ended");
        run.kill().unwrap();
        run.wait().unwrap();
        assert_eq!(folder.files(), ["old.pcap"]);
        assert_eq!(folder.text("old.pcap"), "what was there before");
    }
}

#[test]
fn two_runs_at_once_do_not_disturb_each_other() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 300 --seed 3 --bad-share 20 -o in.pcap");
    let run = |n: usize| {
        let outputs = format!("--out {n}.pcap --verdicts {n}.csv");
        start(&folder, &format!("run --app dec-ttl --cores 1 --lanes 4 --warps 4 --pcap in.pcap {outputs}"))
    };
    let runs: Vec<Child> = (0..2).map(run).collect();
    for run in runs {
        let output = run.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(folder.files(), ["0.csv", "0.pcap", "1.csv", "1.pcap", "in.pcap"]);
    assert!(folder.read("0.pcap") == folder.read("1.pcap") && folder.read("0.csv") == folder.read("1.csv"));
    assert_eq!(folder.text("0.csv").lines().count(), 301);
}
