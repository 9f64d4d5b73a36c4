//! Compiled programs, and comparison with the GNU tools.

use std::convert::Infallible;
use std::path::Path;
use std::process::Command;

use rand::{Rng, SeedableRng};

use super::*;
use crate::kernel::Executable;

const ALL: Isa = Isa::EVERYTHING;

fn tool(name: &str, arguments: &[&str], folder: &Path) -> String {
    let output =
        Command::new(format!("riscv64-unknown-elf-{name}")).args(arguments).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// objdump reads every instruction, with random operands, as we do.
#[test]
fn disassembly_agrees_with_objdump() {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(crate::test_seed());
    let folder = tempfile::tempdir().unwrap();
    let mut words = Vec::new();
    // Binutils that are not new know neither.
    let known = |row: &&Encoding| !matches!(row.extension, Extension::Zawrs | Extension::Zacas);
    for row in ENCODINGS.iter().filter(known) {
        for _ in 0..20 {
            let mut word = row.value | random.gen::<u32>() & !row.mask;
            // objdump has names for many CSRs; fences show only their sets.
            if matches!(row.format, Format::Csr | Format::CsrImmediate) {
                let number: u32 = [0xc00, 0xc02, 0xc80, 0xc82, 0xcc0, 0xcc6][random.gen_range(0..6)];
                word = word & 0xf_ffff | number << 20;
            }
            if row.op == Op::Fence {
                word = word & 0x0ff0_707f | 0x0110_0000;
            }
            words.push(word);
        }
    }
    let text: String = words.iter().map(|word| format!(".word {word:#x}\n")).collect();
    // Data directives would be shown as data; an instruction in front makes it code.
    std::fs::write(folder.path().join("a.s"), text.replace(".word", ".insn 4,")).unwrap();
    let march = "-march=rv32imazbb_zknd_zkne_zicsr".replace("imazbb", "ima_zbb");
    tool("as", &[&march, "-mabi=ilp32", "-o", "a.o", "a.s"], folder.path());
    let listing = tool("objdump", &["-d", "-M", "no-aliases", "--no-show-raw-insn", "a.o"], folder.path());
    let lines: Vec<_> = listing.lines().filter_map(|line| line.split_once(":\t")).map(|x| x.1).collect();
    assert_eq!(lines.len(), words.len(), "{listing}");
    for (position, (line, word)) in lines.iter().zip(&words).enumerate() {
        let expected = line.split(" <").next().unwrap().split(" #").next().unwrap().trim().replace('\t', " ");
        let expected = expected.strip_prefix("0x").map_or(expected.clone(), str::to_string);
        assert_eq!(disassemble(4 * position as u32, *word, &ALL), expected, "{word:#010x}");
    }
}

/// A C program that sorts, divides, counts bits and recurses; its result is computed here as well.
const PROGRAM: &str = r"
typedef unsigned int u32;
static u32 data[64];
static u32 state = 0x12345678;
static u32 next(void) { state ^= state << 13; state ^= state >> 17; state ^= state << 5; return state; }
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
u32 main(void) {
    u32 sum = 0;
    for (int i = 0; i < 64; i++) data[i] = next();
    for (int i = 1; i < 64; i++)
        for (int j = i; j > 0 && data[j - 1] > data[j]; j--) {
            u32 t = data[j]; data[j] = data[j - 1]; data[j - 1] = t;
        }
    for (int i = 0; i < 64; i++) {
        sum = (sum << 7 | sum >> 25) ^ data[i];
        sum += data[i] / (i + 1) + data[i] % (i + 3) + (u32)((int)data[i] / (i - 70));
        sum += __builtin_popcount(data[i]) + __builtin_clz(data[i] | 1) + (signed char)data[i];
        sum ^= (u32)((unsigned long long)data[i] * sum >> 32);
        sum += data[i] > sum ? data[i] : sum & ~data[i];
    }
    return sum + fib(12);
}
";

fn expected() -> u32 {
    let mut state = 0x1234_5678_u32;
    let mut data: Vec<u32> = Vec::new();
    for _ in 0..64 {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        data.push(state);
    }
    data.sort_unstable();
    let mut sum = 0_u32;
    for (i, &value) in (0..).zip(&data) {
        sum = sum.rotate_left(7) ^ value;
        let quotient = (value as i32 / (i as i32 - 70)) as u32;
        sum = sum.wrapping_add(value / (i + 1) + value % (i + 3)).wrapping_add(quotient);
        let rest = (value.count_ones() + (value | 1).leading_zeros()).wrapping_add(value as i8 as u32);
        sum = sum.wrapping_add(rest);
        sum ^= ((u64::from(value) * u64::from(sum)) >> 32) as u32;
        sum = sum.wrapping_add(if value > sum { value } else { sum & !value });
    }
    sum.wrapping_add(144)
}

fn compile(folder: &Path, options: &[&str]) -> Executable {
    std::fs::write(folder.join("main.c"), PROGRAM).unwrap();
    let mut arguments = vec!["-O2", "-ffreestanding", "-nostdlib", "-Wl,-e,main", "-Wl,-Ttext=0x10000"];
    arguments.extend(["-mstrict-align", "-o", "main.elf", "main.c"]);
    arguments.extend(options);
    tool("gcc", &arguments, folder);
    Executable::read(&folder.join("main.elf")).unwrap()
}

#[test]
fn compiled_programs_give_their_results() {
    let folder = tempfile::tempdir().unwrap();
    for (options, isa) in [
        (&["-march=rv32im_zbb", "-mabi=ilp32"][..], Isa::RV32IM_ZBB),
        (&["-march=rv32im", "-mabi=ilp32", "-lgcc"], Isa { zbb: false, ..Isa::RV32IM_ZBB }),
        (&["-march=rv32i", "-mabi=ilp32", "-lgcc"], Isa::RV32I),
        (&["-march=rv32e", "-mabi=ilp32e", "-lgcc"], Isa::RV32I),
    ] {
        let executable = compile(folder.path(), options);
        let mut alone = Alone::new(&executable, isa).unwrap();
        let mut bit_manipulation = 0;
        let end = alone.run(1_000_000, |step| {
            bit_manipulation += u32::from(step.instruction.op.encoding().extension == Extension::Zbb);
            Ok::<_, Infallible>(())
        });
        assert_eq!(end, Ok(End::Exit), "{options:?} at {:#x}", alone.hart.pc);
        assert_eq!(alone.hart.x[10], expected(), "{options:?}");
        assert_eq!(bit_manipulation > 0, isa.zbb, "{options:?}");
        assert_eq!(alone.isa.embedded, options.contains(&"-march=rv32e"));
    }
    // The same program needs more than RV32I.
    let executable = compile(folder.path(), &["-march=rv32im_zbb", "-mabi=ilp32"]);
    let mut alone = Alone::new(&executable, Isa::RV32I).unwrap();
    let end = alone.run(1_000_000, |_| Ok::<_, Infallible>(())).unwrap();
    assert!(matches!(end, End::Fault(Fault { cause: Cause::Illegal, .. })), "{end:?}");
    let mut alone = Alone::new(&executable, Isa::RV32IM_ZBB).unwrap();
    assert_eq!(alone.run(100, |_| Ok::<_, Infallible>(())), Ok(End::Limit));
    assert_eq!(alone.count, 100);
}
