//! Runs the `hermes` command in a folder of its own.

#![allow(dead_code, reason = "every test file uses a part of it")]

pub mod gdb;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where the models of all tests are.
pub fn models() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("models")
}

/// A temporary folder in which commands run; it goes when the test ends.
pub struct Folder {
    folder: tempfile::TempDir,
    /// Whether the compiler optimizes models.
    optimized: bool,
}

impl Folder {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder"), optimized: true }
    }

    /// For short runs on an array that no other test has: models are built without optimization,
    /// which would take longer than these runs.
    pub fn for_short_runs() -> Self {
        Self { optimized: false, ..Self::new() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).expect("a file in the temporary folder");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("UTF-8")
    }

    /// A report in JSON, without where it comes from: the command line names other files in other
    /// runs.
    pub fn report(&self, name: &str) -> serde_json::Value {
        let mut report: serde_json::Value = serde_json::from_str(&self.text(name)).expect("JSON");
        report.as_object_mut().and_then(|report| report.remove("origin")).expect("tells where it comes from");
        report
    }

    /// Names of the files in the folder, those that begin with a dot included.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("the folder");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Runs `hermes` with these arguments, separated by spaces, in the folder.
    pub fn hermes(&self, arguments: &str) -> Output {
        self.hermes_with(arguments, |_| {})
    }

    /// `hermes` with these arguments, separated by spaces, to be run in the folder.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hermes"));
        command.args(arguments.split_whitespace());
        self.surround(&mut command);
        command
    }

    /// Lets a command that runs `hermes` do so in the folder, with the models of all tests:
    /// building one takes longest.
    pub fn surround(&self, command: &mut Command) {
        command.current_dir(self.folder.path()).env("HERMES_CACHE", models());
        command.env("HERMES_UNOPTIMIZED", if self.optimized { "" } else { "1" });
    }

    /// As [`Self::hermes`], after `change` had its way with the command.
    pub fn hermes_with(&self, arguments: &str, change: impl FnOnce(&mut Command)) -> Output {
        let mut command = self.command(arguments);
        change(&mut command);
        command.output().expect("hermes runs")
    }

    /// Runs `hermes`, which must succeed; gives its standard output.
    pub fn succeed(&self, arguments: &str) -> String {
        let output = self.hermes(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "hermes {arguments}\n{error}");
        let told = error.lines().any(|line| line.starts_with("error:"));
        assert!(!told, "hermes {arguments} succeeds, and tells errors:\n{error}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Runs `hermes`, which must fail with exit code 1 and an error that contains every one of
    /// `parts`.
    pub fn fail(&self, arguments: &str, parts: &[&str]) {
        let output = self.hermes(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "hermes {arguments}\n{error}");
        assert!(!error.contains("panicked"), "{error}");
        for part in parts {
            assert!(error.contains(part), "hermes {arguments}\nexpected {part:?} in:\n{error}");
        }
    }
}

/// One row of a verdict CSV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub packet: u64,
    pub verdict: u32,
    pub arrival: u64,
    pub start: u64,
    pub finish: u64,
    pub commit: u64,
    /// When it was in its slot.
    pub in_slot: u64,
    /// When its warp was formed.
    pub formed: Option<u64>,
    /// When it left the packet ports.
    pub sent: Option<u64>,
}

/// Parses a verdict CSV; its header and the form of every field are checked.
pub fn rows(csv: &str) -> Vec<Row> {
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("packetIdx,verdict,arrival,start,finish,commit,inSlot,formed,sent"));
    let row = |line: &str| {
        let fields: Vec<_> = line.split(',').collect();
        assert_eq!(fields.len(), 9, "{line}");
        let verdict = fields[1].strip_prefix("0x").unwrap_or_else(|| panic!("{line}"));
        assert_eq!(verdict.len(), 8, "{line}");
        let number = |field: usize| fields[field].parse().unwrap_or_else(|_| panic!("{line}"));
        let verdict = u32::from_str_radix(verdict, 16).expect("hexadecimal");
        let (packet, arrival, start, finish, commit) =
            (number(0), number(2), number(3), number(4), number(5));
        let seen = |field: usize| Some(fields[field]).filter(|text| !text.is_empty()).map(|_| number(field));
        let (in_slot, formed, sent) = (number(6), seen(7), seen(8));
        Row { packet, verdict, arrival, start, finish, commit, in_slot, formed, sent }
    };
    lines.map(row).collect()
}

/// Packets were committed in the order of arrival, each once, and its times make sense.
pub fn check_order(rows: &[Row]) {
    for (number, row) in rows.iter().enumerate() {
        assert_eq!(row.packet, number as u64, "commit order is arrival order");
        assert!(row.arrival <= row.in_slot && row.in_slot < row.start, "{row:?}");
        assert!(row.formed.is_none_or(|formed| row.in_slot < formed && formed < row.start), "{row:?}");
        assert!(row.sent.is_none_or(|sent| sent > row.commit), "{row:?}");
        assert!(row.arrival < row.start && row.start < row.finish && row.finish < row.commit, "{row:?}");
    }
    for pair in rows.windows(2) {
        assert!(pair[0].commit <= pair[1].commit && pair[0].arrival <= pair[1].arrival, "{pair:?}");
    }
}

/// The frames of a pcap file that `hermes` wrote.
pub fn frames(path: impl AsRef<OsStr>) -> Vec<Vec<u8>> {
    let capture = hermes_testbench::traffic::read(Path::new(path.as_ref()), None).expect("a capture");
    capture.frames.into_iter().map(|frame| frame.data).collect()
}
