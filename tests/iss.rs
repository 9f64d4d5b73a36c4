//! `hermes iss`: programs alone on the reference simulator.

mod common;

use common::Folder;

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
