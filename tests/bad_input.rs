//! Input that cannot be used gives a clear error and exit code 1, and no file.

mod common;

use common::Folder;

/// A pcap file of this link type with one frame of 60 bytes.
fn pcap(link_type: u32) -> Vec<u8> {
    let words = [0xa1b2_c3d4, 2 | 4 << 16, 0, 0, 65535, link_type, 1, 2, 60, 60];
    words.iter().flat_map(|word: &u32| word.to_le_bytes()).chain([0x40; 60]).collect()
}

#[test]
fn captures() {
    let folder = Folder::new();
    let run = "run --app dec-ttl --out out.pcap --json out.json --verdicts out.csv --pcap";
    folder.fail(&format!("{run} none.pcap"), &["none.pcap: No such file"]);
    let output = folder.hermes(&format!("{run} none.pcap"));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr).matches("os error").count(),
        1,
        "the system's error once"
    );
    folder.write("text.pcap", "no capture");
    folder.fail(&format!("{run} text.pcap"), &["text.pcap", "expected a pcap or pcapng capture"]);
    folder.write("empty.pcap", "");
    folder.fail(&format!("{run} empty.pcap"), &["empty.pcap: the file is empty"]);
    folder.write("raw.pcap", pcap(101));
    folder.fail(
        &format!("{run} raw.pcap"),
        &["raw.pcap: link type 101 at packet 0, counted from 0; expected Ethernet"],
    );
    folder.write("cut.pcap", &pcap(1)[..90]);
    folder.fail(&format!("{run} cut.pcap"), &["cut.pcap: truncated: the file ends inside packet 0"]);
    folder.fail(&format!("{run} ."), &["."]);
    assert_eq!(folder.files(), ["cut.pcap", "empty.pcap", "raw.pcap", "text.pcap"], "nothing was written");
}

#[test]
fn kernels() {
    let folder = Folder::new();
    folder.write("in.pcap", pcap(1));
    let mut elf = vec![0; 52];
    elf[..7].copy_from_slice(b"\x7fELF\x01\x01\x01");
    elf[18] = 3;
    folder.write("x86.elf", &elf);
    folder.fail(
        "run --kernel x86.elf --pcap in.pcap",
        &["x86.elf: an ELF file for machine 3; expected RISC-V"],
    );
    folder.fail("kernel info x86.elf", &["x86.elf", "expected RISC-V"]);
    folder.fail("kernel info in.pcap", &["in.pcap: not an ELF file"]);
    folder.fail("run --kernel none.elf --pcap in.pcap", &["none.elf: No such file"]);
    folder.fail("run --app nat --pcap in.pcap", &["nat", "expected one of dec-ttl, check-ip-header"]);
    folder.write("bad.S", "kernel: frobnicate a0\n");
    folder.fail("kernel build bad.S -o bad.elf", &["bad.S", "frobnicate"]);
    folder.fail("kernel build none.S -o bad.elf", &["none.S: No such file"]);
    folder.write("main.S", "main: ret\n");
    folder.fail("kernel build main.S -o bad.elf", &["main.S", "kernel"]);
    let output = folder.hermes_with("kernel build main.S -o bad.elf", |command| {
        command.env("PATH", "/nonexistent");
    });
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("install the package binutils-riscv64-unknown-elf"), "{error}");
    folder.write("main.c", "int main;\n");
    let output = folder.hermes_with("kernel build main.c -o bad.elf", |command| {
        command.env("PATH", "/nonexistent");
    });
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("install the package gcc-riscv64-unknown-elf"), "{error}");
    assert!(!folder.files().contains(&"bad.elf".to_string()));
}

#[test]
fn configurations() {
    let folder = Folder::new();
    folder.write("in.pcap", pcap(1));
    let presets = "expected one of paper, default, fpga";
    folder.fail("emit --preset huge -o dir", &["--preset: `huge` is not known", presets]);
    folder.fail("emit --l2-lines 3 -o dir", &["--l2-lines: 3 is not possible; expected"]);
    folder.fail("emit --lanes 12 -o dir", &["--lanes: 12 is not possible; expected 1, 2, 4, 8, 16 or 32"]);
    let run = "run --app dec-ttl --pcap in.pcap";
    folder.fail(&format!("{run} --preset huge"), &["preset: `huge` is not known", presets]);
    folder.fail(&format!("{run} --cores 33"), &["--cores: 33 is not possible; expected 1 to 32"]);
    folder.fail(&format!("{run} --warps 0"), &["warps: 0 is not possible"]);
    folder.fail(&format!("{run} --mcw 9"), &["--mcw 9: expected 1 to 8"]);
    folder.fail(&format!("{run} --mcw 0"), &["--mcw 0: expected 1 to 8"]);
    folder.fail(
        &format!("{run} --memory dram --mem-latency 4"),
        &["--mem-latency 4: goes with --memory fixed"],
    );
    folder.fail(&format!("{run} --json none/out.json"), &["none/out.json"]);
    folder.fail("gen-trace --kind imix --packets 1 --bad-share 101 -o x.pcap", &["--bad-share 101"]);
    folder.fail("gen-trace --kind imix --packets 1 --line-rate 0 -o x.pcap", &["--line-rate 0"]);
    folder.fail("gen-trace --kind imix --packets 1 -o none/x.pcap", &["none/x.pcap"]);
    // What clap itself rejects has its usual exit code.
    for arguments in [
        "run --pcap in.pcap",
        "run --app dec-ttl --line-rate fast --pcap in.pcap",
        "run --app dec-ttl --arrivals max --line-rate 10 --pcap in.pcap",
        "run --app dec-ttl --memory dram:banks=3 --pcap in.pcap",
        "run --app dec-ttl --memory sram --pcap in.pcap",
        "gen-trace --kind x",
    ] {
        assert_eq!(folder.hermes(arguments).status.code(), Some(2), "{arguments}");
    }
    for (options, parts) in [
        ("--arrivals fast", ["'fast' for '--arrivals <SPEC>'", "expected `constant:R`"]),
        ("--arrivals poisson:0", ["'--arrivals <SPEC>'", "rate `0`: expected 0.001 to 100000 Gbit/s"]),
        ("--arrivals onoff:9,peak=3,burst=2", ["'--arrivals <SPEC>'", "peak `3`: expected at least"]),
        ("--arrivals step:1@5,2@5", ["'--arrivals <SPEC>'", "step `2@5`: expected a cycle above 5"]),
        ("--arrivals-seed x", ["'x' for '--arrivals-seed <SEED>'", "invalid digit"]),
        ("--timeout -1", ["'-1' for '--timeout <CYCLES|adaptive>'", "expected cycles, 0..=4294967295"]),
        ("--timeout 4294967296", ["'4294967296' for '--timeout", "0..=4294967295, or `adaptive`"]),
        ("--timeout adapted", ["'adapted' for '--timeout", "0..=4294967295, or `adaptive`"]),
    ] {
        let output = folder.hermes(&format!("{run} {options} --json out.json"));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && parts.iter().all(|part| error.contains(part)), "{error}");
    }
    assert_eq!(folder.files(), ["in.pcap"], "nothing was written");
}

#[test]
fn packet_ports() {
    let folder = Folder::new();
    folder.write("in.pcap", pcap(1));
    folder.fail(
        "run --app fragment --mtu 300 --pcap in.pcap --through ports",
        &["--through ports: fragment sends other frames than those in the slots"],
    );
    folder.fail(
        "run --app dec-ttl --pcap in.pcap --packet-ports --cores 32",
        &["cores: 32 is not possible; expected 1 to 31 with packet ports"],
    );
    folder.fail(
        "run --app dec-ttl --pcap in.pcap --when-full drop",
        &["--when-full drop: expected --through ports"],
    );
    folder.fail(
        "run --app dec-ttl --pcap in.pcap --through ports --when-full drop --expect in.pcap",
        &["--expect: not possible with --when-full drop"],
    );
    folder.fail("emit --drop-when-full -o out", &["--drop-when-full: not possible without --packet-ports"]);
    for slots in ["0", "1", "48", "2097152"] {
        folder.fail(
            &format!("run --app dec-ttl --pcap in.pcap --ring-slots {slots}"),
            &["--ring-slots", "is not possible; expected a power of two, 2 to "],
        );
    }
}
