//! `hermes iss`: packets in their warps, and programs alone, on the reference simulator.

mod common;

use common::{frames, rows, Folder};

/// A kernel that counts to 5, stores the sum of its steps and returns it.
const KERNEL: &str = "
.globl kernel
kernel:
    li a0, 0
    li a3, 5
    la a4, sum
1:  add a0, a0, a3
    addi a3, a3, -1
    bnez a3, 1b
    sh a0, 2(a4)
    ret
.data
sum: .word 0
";

#[test]
fn a_program_runs_to_its_end() {
    let folder = Folder::new();
    folder.write("sum.S", KERNEL);
    folder.succeed("kernel build sum.S -o sum.elf");
    let text = folder.succeed("iss sum.elf");
    assert!(text.contains("end           returned at 0xfffffffc\n"), "{text}");
    assert!(text.contains("value         0x0000000f (15)\n"), "{text}");
    assert!(text.contains("instructions  21\n"), "{text}");
    assert!(text.contains("  a3 0x00000000"), "{text}");

    let trace = folder.succeed("iss sum.elf --trace");
    assert!(trace.ends_with(&text), "{trace}");
    assert_eq!(trace.lines().count(), 21 + text.lines().count());
    assert!(trace.contains("00001010  00d50533  add a0,a0,a3"), "{trace}");
    assert!(trace.contains("a0 = 0x0000000f\n"), "{trace}");
    assert!(trace.contains("sh a0,2(a4)") && trace.contains("] = 0xf\n"), "{trace}");
}

#[test]
fn programs_that_do_not_end_well() {
    let folder = Folder::new();
    let build = |name: &str, body: &str| {
        folder.write("k.S", format!(".globl kernel\nkernel: {body}\n"));
        folder.succeed(&format!("kernel build k.S -o {name}.elf"));
    };
    build("loop", "j kernel");
    build("odd", "li a1, 0x2001; lw a0, 0(a1); ret");
    build("call", "li a0, 7; ecall");
    folder.fail("iss loop.elf --max-instructions 50", &["loop.elf", "not at its end after 50", "0x00001000"]);
    folder.fail("iss odd.elf", &["odd.elf", "fault at 0x00001008: cause 4", "value 0x00002001"]);
    folder.fail("iss none.elf", &["none.elf: No such file"]);
    folder.write("text.elf", "text");
    folder.fail("iss text.elf", &["text.elf: not an ELF file"]);
    let text = folder.succeed("iss call.elf");
    assert!(text.contains("end           ecall at 0x00001004\nvalue         0x00000007"), "{text}");
}

/// An array, without the times of its memory.
const ARRAY: &str = "--cores 1 --lanes 4 --warps 4";

/// A kernel with data of the user's, a stack that it needs, and verdicts by packet.
const LOOKS: &str = "
#include <hermes.h>
const uint32_t *ports;
uint32_t ports_bytes;
__attribute__((noinline)) static uint32_t folded(const uint8_t *bytes, uint32_t count)
{
    volatile uint8_t copy[32];
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        copy[i] = bytes[i];
    for (uint32_t i = 0; i < count; i++)
        sum = sum * 31 + copy[i];
    return sum;
}
uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    uint32_t sum = folded(slot->ipv4, 20) + *(uint32_t *)arguments;
    slot->ethernet[0] = (uint8_t)sum;
    slot->ethernet[5] = (uint8_t)packet;
    if (sum % 3 == 0)
        return VERDICT_DROP | (sum & 0xff);
    return VERDICT_FORWARD | ports[sum % (ports_bytes / 4)];
}
";

/// Verdict and frame are those of the array, with the stacks in the local window and without, and
/// so is what is dumped.
#[test]
fn a_packet_is_what_it_is_on_the_array() {
    let folder = Folder::new();
    folder.write("looks.c", LOOKS);
    folder.succeed("kernel build looks.c -o looks.elf --rv32e");
    folder.succeed("gen-trace --kind imix --packets 23 -o in.pcap");
    folder.write("ports", [7u32, 8, 9, 1].map(u32::to_le_bytes).concat());
    let what = "--kernel looks.elf --pcap in.pcap --table ports=ports --argument 5";
    for local in ["--local-window", "--no-local-window"] {
        folder.succeed(&format!(
            "run {what} {ARRAY} {local} --mem-latency 20 -o out.pcap --verdicts out.csv --dump ports=table --dump ports_bytes=bytes"
        ));
        let rows = rows(&folder.text("out.csv"));
        let mut forwarded = frames(folder.path("out.pcap")).into_iter();
        assert!(
            rows.iter().any(|row| row.verdict >> 31 == 1) && rows.iter().any(|row| row.verdict >> 31 == 0)
        );
        for row in &rows {
            let packet = row.packet;
            let text = folder.succeed(&format!(
                "iss {what} {ARRAY} {local} --packet {packet} -o one.pcap --dump ports=table.iss --dump ports_bytes=bytes.iss"
            ));
            assert!(text.contains(&format!("verdict       {:#010x} (", row.verdict)), "{row:?}\n{text}");
            let lane = packet % 4;
            assert!(
                text.contains(&format!("packet        {packet} of in.pcap, lane {lane} of the warp")),
                "{text}"
            );
            if row.verdict >> 31 == 0 {
                assert_eq!(frames(folder.path("one.pcap")), [forwarded.next().unwrap()], "packet {packet}");
            }
        }
        assert_eq!(folder.read("table"), folder.read("table.iss"));
        assert_eq!(folder.read("bytes"), folder.read("bytes.iss"));
    }
}

/// Apps: tables, argument block, egress lists; the golden model agrees.
#[test]
fn apps_agree_with_their_golden_models() {
    let folder = Folder::new();
    folder.succeed("gen-routes --count 300 --ports 30 --seed 1 -o routes.txt");
    folder.succeed("gen-trace --kind imix --packets 30 --bad-share 20 --routes routes.txt -o in.pcap");
    for (app, inputs) in [("dec-ttl", ""), ("route-lookup", "--routes routes.txt"), ("fragment", "--mtu 100")]
    {
        for packet in [0, 7, 29] {
            let text =
                folder.succeed(&format!("iss --app {app} {inputs} --pcap in.pcap {ARRAY} --packet {packet}"));
            assert!(text.contains("golden model  agrees"), "{text}");
        }
    }
    // The whole warp of the preset has more lanes than the capture has packets left.
    let text = folder.succeed("iss --app dec-ttl --pcap in.pcap --packet 25 --lanes 16");
    assert!(text.contains("packet        25 of in.pcap, lane 9 of the warp of packets 16 to 29"), "{text}");
    // A kernel that does nothing is no app.
    folder.write("k.S", ".globl kernel\nkernel: li a0, 0; ret\n");
    folder.succeed("kernel build k.S -o k.elf");
    folder.fail(
        &format!("iss --app dec-ttl --kernel k.elf --pcap in.pcap {ARRAY} --packet 1 -o out.pcap"),
        &[
            "the packet differs from the golden model:",
            "packet 1 of the capture, counted from 0:",
            "<-- differs",
        ],
    );
    assert_eq!(frames(folder.path("out.pcap")).len(), 1, "it is written all the same");
}

/// The error is that of a run on the array.
#[test]
fn faults_are_explained_as_on_the_array() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind fixed:64 --packets 4 -o in.pcap");
    for (name, source) in [
        ("null", include_str!("planted/null.c")),
        ("code", include_str!("planted/code.c")),
        ("stack", include_str!("planted/stack.c")),
        ("behind", include_str!("planted/behind.c")),
    ] {
        folder.write(&format!("{name}.c"), source);
        folder.succeed(&format!("kernel build {name}.c -o {name}.elf --rv32e"));
        let what = format!("--kernel {name}.elf --pcap in.pcap {ARRAY}");
        let error = |command: &str| {
            let output = folder.hermes(command);
            assert_eq!(output.status.code(), Some(1), "{name}");
            String::from_utf8(output.stderr).unwrap()
        };
        let hardware = error(&format!("run {what} --mem-latency 20"));
        let fault = hardware.lines().find(|line| line.contains("fault: ")).expect("a fault");
        let reference = error(&format!("iss {what}"));
        assert!(reference.contains(fault), "{name}\n{fault}\n{reference}");
        assert!(reference.contains("4 of 4 packets ended with a fault"), "{reference}");
    }
    let output = folder.hermes(&format!("iss --kernel null.elf --pcap in.pcap {ARRAY} --step"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("registers     at the fault, PC 0x0000"), "{text}");
    assert!(text.contains("  faults: LoadAccess, value 0x00000000"), "{text}");
}

#[test]
fn instructions_are_told_with_function_and_line() {
    let folder = Folder::new();
    folder.write(
        "k.S",
        ".globl kernel\nkernel:\n li t0, 1\n beq a0, t0, odd\n sw a0, 32(a1)\n ret\nodd:\n lw a0, 0(a2)\n ret\n",
    );
    folder.succeed("kernel build k.S -o k.elf");
    folder.succeed("gen-trace --kind fixed:64 --packets 3 -o in.pcap");
    let what = format!("iss --kernel k.elf --pcap in.pcap --argument 9 {ARRAY}");
    let text = folder.succeed(&format!("{what} --packet 1 --step"));
    let lines: Vec<_> = text.lines().take(9).collect();
    assert_eq!(lines[0], "kernel (k.S:3)");
    assert!(lines[1].starts_with("  00001000  ") && lines[1].ends_with("t0 = 0x00000001"), "{text}");
    assert_eq!((lines[2], lines[4]), ("kernel (k.S:4)", "odd (k.S:8)"));
    assert!(lines[5].contains("lw a0,0(a2)") && lines[5].contains("a0 = 0x00000009  [0x"), "{text}");
    assert!(text.contains("instructions  4 of the lane, 6 of the warp"), "{text}");
    // All lanes, with the values of the packet's.
    let text = folder.succeed(&format!("{what} --packet 2 --trace"));
    for part in ["  012  00001000", "  0.2  00001008", "  .1.  00001010", "] = 0x2\n"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn packets_before_it_can_be_run_first() {
    let folder = Folder::new();
    folder.write(
        "count.c",
        "#include <hermes.h>\nstatic uint32_t seen[8];\nuint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)\n\
         {\n    return VERDICT_FORWARD | seen[hermes_lane()]++;\n}\n",
    );
    folder.succeed("kernel build count.c -o count.elf");
    folder.succeed("gen-trace --kind fixed:64 --packets 11 -o in.pcap");
    let what = format!("iss --kernel count.elf --pcap in.pcap {ARRAY} --packet 9");
    assert!(folder.succeed(&what).contains("(forward: port 0)"));
    assert!(folder.succeed(&format!("{what} --replay")).contains("(forward: port 2)"));
}

#[test]
fn what_cannot_be_run() {
    let folder = Folder::new();
    folder.write("loop.S", ".globl kernel\nkernel: j kernel\n");
    folder.succeed("kernel build loop.S -o loop.elf");
    folder.succeed("gen-trace --kind fixed:64 --packets 3 -o in.pcap");
    folder.succeed("gen-trace --kind fixed:64 --packets 0 -o none.pcap");
    let what = format!("iss --kernel loop.elf {ARRAY}");
    folder.fail(
        &format!("{what} --pcap in.pcap --packet 3"),
        &["--packet 3: in.pcap has 3 packets; expected 0 to 2"],
    );
    folder.fail(&format!("{what} --pcap none.pcap"), &["--packet 0: none.pcap has no packets"]);
    folder.fail(
        &format!("{what} --pcap in.pcap --max-instructions 50 -o out.pcap"),
        &["loop.elf: not at its end after 50 instructions of the warp, at 0x00001000 kernel (loop.S:2)"],
    );
    assert!(!folder.path("out.pcap").exists());
    folder.fail(&format!("iss --pcap in.pcap {ARRAY}"), &["expected --app or --kernel"]);
    for (arguments, part) in [
        ("iss", "<FILE.elf>"),
        ("iss loop.elf --packet 1", "--packet"),
        ("iss loop.elf --pcap in.pcap", "cannot be used with"),
        ("iss loop.elf --step", "--step"),
        ("debug --kernel loop.elf", "--pcap"),
    ] {
        let output = folder.hermes(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(part), "{arguments}\n{error}");
    }
}
