//! An ordinary Linux, with Soft-RoCE, is the peer of an array: `scripts/roce/rig`.

use std::path::Path;
use std::process::Command;

/// Runs the rig, which must succeed; gives what it prints.
fn rig(arguments: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/roce/rig");
    let (what, options) = arguments.split_first().expect("what to do");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("roce-rig");
    let mut command = Command::new(script);
    command.arg(what).arg(folder).args(options).env("HERMES", env!("CARGO_BIN_EXE_hermes"));
    command.env("HERMES_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("models"));
    let output = command.output().expect("python3");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "rig {arguments:?}\n{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// First the rig itself, against a peer that is no array; then the array, over a good and over a
/// bad wire.
#[test]
#[ignore = "minutes: downloads QEMU and a Linux kernel, and boots it"]
fn linux_puts_into_an_array_and_is_put_to() {
    rig(&["setup"]);
    let text = rig(&["peer"]);
    assert!(text.contains("each with a right ICRC"), "{text}");
    for options in [&["array"][..], &["array", "--loss", "2"]] {
        let text = rig(options);
        assert!(text.contains("64 puts of the array's kernel, 20 writes of the guest"), "{text}");
        assert!(text.contains("memories are right"), "{text}");
    }
}
