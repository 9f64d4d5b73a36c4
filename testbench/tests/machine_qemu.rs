//! The reference of a hart in machine mode beside QEMU's machine `virt`: registers and CSRs after
//! every instruction of random programs. Needs `qemu-system-riscv32` (Debian: qemu-system-misc).
//! `HERMES_SEED` repeats a run.
//!
//!     cargo test -p hermes-testbench --test machine_qemu -- --ignored --nocapture

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use hermes_testbench::harts::machine::{
    machine_program, Abilities, MachineHart, MachineProgram, MachineSystem, Style, SystemEnd,
};
use hermes_testbench::iss::Cause;
use hermes_testbench::test_seed;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const QEMU: &str = "qemu-system-riscv32";
/// The extensions of the command processor, and no mode but that of the machine.
const PROCESSOR: &str = "rv32,c=false,a=false,f=false,d=false,s=false,u=false,h=false,mmu=false,pmp=false,\
     zba=false,zbb=true,zbc=false,zbs=false,Zicsr=true,Zifencei=true,pmu-num=0";
/// Instructions that all programs have together.
const INSTRUCTIONS: usize = 100_000;
/// CSRs that both have alike: as QEMU prints them.
const CSRS: [&str; 5] = ["mtvec", "mepc", "mcause", "mtval", "mscratch"];

/// State before an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Before {
    pc: u32,
    x: [u32; 32],
    /// MIE and MPIE. QEMU writes MPP at `mret`, the array has one mode.
    mstatus: u32,
    csrs: [u32; 5],
}

impl Before {
    fn of(hart: &MachineHart) -> Self {
        let c = &hart.csrs;
        Self {
            pc: hart.hart.pc,
            x: hart.hart.x,
            mstatus: u32::from(c.enabled_before) << 7 | u32::from(c.enabled) << 3,
            csrs: [c.vector, c.pc, c.cause, c.value, c.scratch],
        }
    }
}

/// Runs a program on QEMU, which tells its state before each instruction.
fn on_qemu(program: &MachineProgram) -> Vec<Before> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(QEMU);
    command.args(["-machine", "virt", "-bios", "none", "-nographic", "-monitor", "none", "-serial", "none"]);
    command.args(["-cpu", PROCESSOR, "-singlestep", "-d", "cpu,nochain", "-D", "/dev/stdout"]);
    for (index, segment) in program.executable.segments.iter().enumerate() {
        let path = folder.path().join(format!("{index}.bin"));
        std::fs::write(&path, &segment.bytes).unwrap();
        let place = |path: &Path| format!("loader,file={},addr={:#x}", path.display(), segment.address);
        command.arg("-device").arg(place(&path));
    }
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap_or_else(|e| panic!("{QEMU}: {e}"));
    let mut trace: Vec<Before> = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let fields: Vec<&str> = line.split_whitespace().collect();
        let number = |text: &str| u32::from_str_radix(text, 16).unwrap_or_else(|_| panic!("{line}"));
        match fields.as_slice() {
            ["pc", value] => trace.push(Before { pc: number(value), ..Before::default() }),
            [name, value] => {
                let Some(state) = trace.last_mut() else { continue };
                if *name == "mstatus" {
                    state.mstatus = number(value) & 0x88;
                }
                if let Some(index) = CSRS.iter().position(|csr| csr == name) {
                    state.csrs[index] = number(value);
                }
            }
            [first, ..] if first.starts_with('x') && fields.len() == 8 => {
                let state = trace.last_mut().expect("registers come after the PC");
                for pair in fields.chunks(2) {
                    let register: usize = pair[0][1..].split('/').next().unwrap().parse().unwrap();
                    state.x[register] = number(pair[1]);
                }
            }
            _ => {}
        }
    }
    assert!(child.wait().unwrap().success());
    // What the machine does before the program is its own.
    let start = trace.iter().position(|state| state.pc == program.executable.entry);
    trace.split_off(start.expect("the program starts"))
}

#[test]
#[ignore = "needs qemu-system-riscv32"]
fn the_reference_equals_qemu() {
    let seed = test_seed();
    let abilities = Abilities { channels: 0, devices: false, atomics: false, ..Abilities::ALL };
    let (mut compared, mut traps, mut programs) = (0, 0, 0);
    while compared < INSTRUCTIONS {
        let mut random = ChaCha8Rng::seed_from_u64(seed << 16 | programs);
        let program = machine_program(&mut random, 150, Style::VIRT);
        let theirs = on_qemu(&program);
        let mut system = MachineSystem::new(&program.executable, 1, abilities).unwrap();
        // Registers before the program are QEMU's.
        system.harts[0].hart.x = theirs[0].x;
        for (index, theirs) in theirs.iter().enumerate() {
            let ours = Before::of(&system.harts[0]);
            assert_eq!(&ours, theirs, "program {programs}, before instruction {index}");
            let mut trap = None;
            assert_eq!(system.run(1, |_, retired| trap = retired.trap), SystemEnd::Limit);
            traps += u32::from(trap.is_some());
            // At `ebreak` mtval is the PC, as the privileged specification allows, or 0 as QEMU has
            // it.
            if trap.is_some_and(|fault| fault.cause == Cause::Breakpoint) {
                system.harts[0].csrs.value = 0;
            }
        }
        let last = theirs.last().unwrap();
        assert_eq!(last.pc, program.last, "program {programs}: QEMU did not end there");
        compared += theirs.len();
        programs += 1;
    }
    println!("{compared} instructions of {programs} programs, {traps} exceptions");
}
