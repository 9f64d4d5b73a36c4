//! The libraries that kernels in C link, on the reference simulator.

use hermes_programs::kernel::{build_with, BuildOptions, Compiler, Executable, RegisterClass};
use hermes_reference::iss::{Alone, End, Isa};

/// What `kernel` of this text in C returns, for each register class.
fn returns(text: &str, expected: u32) {
    let folder = tempfile::tempdir().unwrap();
    let (source, output) = (folder.path().join("k.c"), folder.path().join("k.elf"));
    std::fs::write(&source, text).unwrap();
    for (registers, level) in [(RegisterClass::Rv32i, "2"), (RegisterClass::Rv32e, "s")] {
        let optimization = level.to_string();
        let options = BuildOptions { optimization, compiler: Compiler::Gcc, ..BuildOptions::new(registers) };
        build_with(std::slice::from_ref(&source), &options, &output).unwrap();
        let embedded = registers == RegisterClass::Rv32e;
        let isa = Isa { embedded, ..Isa::RV32IM_ZBB };
        let mut alone = Alone::new(&Executable::read(&output).unwrap(), isa).unwrap();
        let end = alone.run(100_000_000, |_| Ok::<_, std::convert::Infallible>(())).unwrap();
        assert!(matches!(end, End::Exit), "{registers:?} -O{level}: {end:?}");
        assert_eq!(alone.hart.x[10], expected, "{registers:?} -O{level}");
    }
}

/// All alignments and small sizes, with overlap for `memmove`, beside loops over bytes that the
/// compiler leaves as they are.
#[test]
fn functions_of_string_h() {
    returns(
        r#"
#include <stdint.h>
#include <string.h>
static uint8_t a[64], b[64], c[64];
static uint32_t seed = 1;
static uint8_t next(void) { seed = seed * 1664525 + 1013904223; return seed >> 24; }
static void fill(void) { for (volatile int i = 0; i < 64; i++) b[i] = c[i] = next(), a[i] = next(); }
static int same(void) { for (volatile int i = 0; i < 64; i++) if (b[i] != c[i]) return 0; return 1; }
static int sign(int n) { return (n > 0) - (n < 0); }
/* The compiler must not know what is called. */
void *(*volatile copy)(void *restrict, const void *restrict, size_t) = memcpy;
void *(*volatile move)(void *, const void *, size_t) = memmove;
void *(*volatile set)(void *, int, size_t) = memset;
int (*volatile compare)(const void *, const void *, size_t) = memcmp;
size_t (*volatile length)(const char *) = strlen;

uint32_t kernel(void)
{
    for (int to = 0; to < 5; to++)
        for (int from = 0; from < 9; from++)
            for (int n = 0; n < 21; n++) {
                fill();
                if (copy(b + to, a + from, n) != b + to) return 1;
                for (volatile int i = 0; i < n; i++) c[to + i] = a[from + i];
                if (!same()) return 2;
                fill();
                if (move(b + to, b + from, n) != b + to) return 3;
                for (volatile int i = 0; i < n; i++) a[i] = c[from + i];
                for (volatile int i = 0; i < n; i++) c[to + i] = a[i];
                if (!same()) return 4;
                fill();
                if (move(b + from, b + to, n) != b + from) return 5;
                for (volatile int i = 0; i < n; i++) a[i] = c[to + i];
                for (volatile int i = 0; i < n; i++) c[from + i] = a[i];
                if (!same()) return 6;
                fill();
                if (set(b + to, 0x100 | from, n) != b + to) return 7;
                for (volatile int i = 0; i < n; i++) c[to + i] = from;
                if (!same()) return 8;
                fill();
                copy(a + from, b + to, n);
                if (compare(a + from, b + to, n) != 0) return 9;
                for (volatile int i = 0; i < n; i++) {
                    a[from + i] += 0x81;
                    int expected = sign(a[from + i] - b[to + i]);
                    if (sign(compare(a + from, b + to, n)) != expected) return 10;
                    a[from + i] -= 0x81;
                }
                for (volatile int i = 0; i < n; i++) a[from + i] |= 0x80;
                a[from + n] = 0;
                if (length((char *)a + from) != (size_t)n) return 11;
            }
    return 99;
}
"#,
        99,
    );
}

/// Divisions of 64 bits and numbers with a point come from the compiler's library, copies of
/// structures from ours.
#[test]
fn what_the_compiler_calls_by_itself() {
    returns(
        r#"
#include <stdint.h>
struct big { uint32_t words[30]; };
volatile uint64_t a = 0x123456789abcdefull, b = 0x12345;
volatile float f = 2.5f;
volatile double d = 1e6;
struct big one, two;

uint32_t kernel(void)
{
    one.words[29] = 5;
    two = one;
    struct big local = {{0}};
    local.words[3] = two.words[29];
    two = local;
    if (a / b != 0x123456789abcdefull / 0x12345 || a % b != 0x123456789abcdefull % 0x12345) return 1;
    if ((int32_t)(f * f) != 6 || (uint32_t)(d / 3) != 333333 || !(f < d)) return 2;
    return two.words[3] + two.words[29];
}
"#,
        5,
    );
}
