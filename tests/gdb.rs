//! `hermes run --gdb`: a client of GDB's remote serial protocol, and GDB itself if it is there.

mod common;

use std::io::Write as _;
use std::net::TcpListener;
use std::process::Command;

use common::gdb::{launch, word, Session, CSR, PC};
use common::Folder;
use hermes_testbench::firmware::Firmware;

/// A small array.
const ARRAY: &str = "--preset fpga --cores 1 --lanes 2 --warps 2 --command-threads 2 --uli-channels 2";

/// What the tests debug: `work` is called with 0 to 4, and 5 is returned.
const TEXT: &str = "volatile int total = 40;\n\
    __attribute__((noinline)) void work(int n) { total += n; }\n\
    int main(void) { int i; for (i = 0; i < 5; i++) work(i); puts(\"done\"); return i; }";

/// Builds `text`; the command that runs it with `--gdb 0`.
fn command(folder: &Folder, text: &str, options: &str) -> Command {
    folder.write("fw.c", format!("#include \"hermes_cp.h\"\n{text}"));
    folder.succeed("firmware build fw.c -o fw.elf");
    folder.command(&format!("run --firmware fw.elf --gdb 0 {ARRAY} {options} -q"))
}

/// Builds `text`, runs it and connects.
fn session(folder: &Folder, text: &str, options: &str) -> Session {
    Session::new(command(folder, text, options))
}

fn symbol(folder: &Folder, name: &str) -> u32 {
    let firmware = Firmware::read(&folder.path("fw.elf")).expect("firmware");
    firmware.executable.symbol(name).unwrap_or_else(|_| panic!("no symbol {name}")).address
}

#[test]
fn a_session_to_the_end() {
    let folder = Folder::new();
    let mut gdb = session(&folder, TEXT, "");
    let (work, total) = (symbol(&folder, "work"), symbol(&folder, "total"));
    // Before the first instruction.
    assert!(gdb.ask("?").starts_with("T05"));
    assert_eq!(gdb.register(PC), 0x1_0000);
    let all = gdb.ask("g");
    assert_eq!((all.len(), word(&all[256..264])), (33 * 8, 0x1_0000));
    let text = gdb.description();
    for name in ["\"zero\"", "\"pc\"", "\"mstatus\"", "\"ulipend\"", "riscv:rv32"] {
        assert!(text.contains(name), "{text}");
    }
    assert!(!text.contains("muncached"), "there is no data cache");
    // The harts.
    let threads = gdb.ask("qfThreadInfo");
    assert!(threads.starts_with('m') && threads.matches(',').count() == 1, "{threads}");
    assert_eq!(gdb.register(CSR + 0xf14), 0);
    assert_eq!(gdb.ask("Hg2"), "OK");
    assert_eq!(gdb.register(CSR + 0xf14), 1);
    assert_eq!(gdb.ask("P5=78563412"), "OK");
    assert_eq!(gdb.register(5), 0x1234_5678);
    assert_eq!(gdb.ask("Hg1"), "OK");
    assert_eq!(gdb.ask(&format!("P{:x}=efbeadde", CSR + 0x340)), "OK");
    assert_eq!(gdb.register(CSR + 0x340), 0xdead_beef);
    assert!(gdb.ask(&format!("p{:x}", CSR + 0x3a0)).starts_with('E'), "no such CSR");
    // A breakpoint, twice.
    assert_eq!(gdb.ask(&format!("Z0,{work:x},4")), "OK");
    for n in 0..2 {
        let stop = gdb.go("c");
        assert!(
            stop.starts_with("T05") && stop.contains("thread:01;") && stop.contains("swbreak:;"),
            "{stop}"
        );
        assert_eq!((gdb.register(PC), gdb.register(10)), (work, n));
        // Over it as GDB goes: without it, this hart alone.
        assert_eq!(gdb.ask(&format!("z0,{work:x},4")), "OK");
        let stop = gdb.go("s:1");
        assert!(stop.starts_with("T05") && stop.contains("thread:01;"), "{stop}");
        assert_eq!(gdb.register(PC), work + 4);
        assert_eq!(gdb.ask(&format!("Z0,{work:x},4")), "OK");
    }
    // Memory, also without any.
    assert_eq!(word(&gdb.ask(&format!("m{total:x},4"))), 40);
    assert_eq!(gdb.ask(&format!("M{total:x},4:64000000")), "OK");
    assert_eq!(word(&gdb.ask(&format!("m{total:x},4"))), 100);
    assert!(gdb.ask("mfff80000,4").starts_with('E'));
    assert!(gdb.ask("Mffffe300,4:00000000").starts_with('E'));
    assert_eq!(gdb.ask("mfffe3ffc,8").len(), 8, "what is there of it");
    let stop = gdb.go("c");
    assert!(stop.contains("swbreak"), "{stop}");
    assert_eq!(word(&gdb.ask(&format!("m{total:x},4"))), 101);
    assert_eq!(gdb.ask(&format!("z0,{work:x},4")), "OK");
    assert_eq!(gdb.go("c"), "W05");
    let (code, output, error) = gdb.end();
    assert_eq!((code, output.as_str()), (Some(5), "done\n"), "{error}");
}

#[test]
fn an_interrupt_and_a_debugger_that_goes() {
    let folder = Folder::new();
    // Not in .bss, which is cleared first: the interrupt comes when it comes.
    let text = "volatile int stay = 1;\nint main(void) { while (stay) ; return 7; }";
    let mut gdb = session(&folder, text, "");
    let stay = symbol(&folder, "stay");
    gdb.send("vCont;c");
    gdb.stream.write_all(b"\x03").expect("written");
    let stop = gdb.receive();
    assert!(stop.starts_with("T02"), "{stop}");
    assert_eq!(gdb.ask(&format!("M{stay:x},4:00000000")), "OK");
    assert_eq!(gdb.ask("D"), "OK");
    let (code, _, error) = gdb.end();
    assert_eq!(code, Some(7), "{error}");

    // Without debugger the time limit holds.
    let mut gdb = session(&folder, text, "--firmware-timeout 20000");
    assert_eq!(gdb.ask("D"), "OK");
    let (code, _, error) = gdb.end();
    assert!(code == Some(1) && error.contains("fw.elf: not at its end after 2"), "{error}");
}

#[test]
fn a_debugger_that_ends_it() {
    let folder = Folder::new();
    let mut gdb = session(&folder, TEXT, "");
    gdb.send("k");
    let (code, _, error) = gdb.end();
    assert!(code == Some(1) && error.contains("fw.elf: the debugger ended it"), "{error}");
    // Or that is gone: the connection ends.
    let gdb = session(&folder, TEXT, "");
    gdb.stream.shutdown(std::net::Shutdown::Both).expect("shut down");
    let (code, _, error) = gdb.end();
    assert!(code == Some(1) && error.contains("--gdb: "), "{error}");
}

#[test]
fn what_goes_wrong_is_a_signal() {
    let folder = Folder::new();
    // A lock-up: the debugger sees where.
    let text = "int main(void) { csr_write(mtvec, 0xfff80000); __asm__ volatile(\"ecall\"); return 0; }";
    let mut gdb = session(&folder, text, "");
    let stop = gdb.go("c");
    assert!(stop.starts_with("T0b") && stop.contains("thread:01;"), "{stop}");
    assert_eq!((gdb.register(PC), gdb.register(CSR + 0x342)), (0xfff8_0000, 11));
    gdb.send("k");
    assert_eq!(gdb.end().0, Some(1));
    // `ebreak` in the program stops it.
    let text = "int main(void) { __asm__ volatile(\"ebreak\"); return 3; }";
    let mut gdb = session(&folder, text, "");
    let stop = gdb.go("c");
    assert!(stop.starts_with("T05") && !stop.contains("swbreak"), "{stop}");
    let next = gdb.register(PC) + 4;
    assert_eq!(gdb.ask(&format!("P{PC:x}={:08x}", next.swap_bytes())), "OK");
    assert_eq!(gdb.go("c"), "W03");
    assert_eq!(gdb.end().0, Some(3));
    // A trap without handler ends it.
    let mut gdb = session(&folder, "int main(void) { return *(volatile int *)0xfff80000; }", "");
    assert_eq!(gdb.go("c"), "X06");
    let (code, _, error) = gdb.end();
    assert!(code == Some(1) && error.contains("hart 0: load where there is no memory"), "{error}");
}

#[test]
fn what_cannot_be_debugged() {
    let folder = Folder::new();
    folder.write("fw.c", "int main(void) { return 0; }");
    folder.succeed("firmware build fw.c -o fw.elf");
    let taken = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = taken.local_addr().expect("an address").port();
    folder.fail(
        &format!("run --firmware fw.elf --gdb {port} {ARRAY}"),
        &[&format!("--gdb: port {port} of localhost cannot be used; expected a free one, or 0 for any")],
    );
    for (options, part) in [
        ("--gdb 0 --app dec-ttl --pcap in.pcap", "--firmware <FILE.elf>"),
        ("--gdb 0 --firmware fw.elf --pcap in.pcap", "cannot be used with '--pcap"),
        ("--gdb 70000 --firmware fw.elf", "70000"),
    ] {
        let output = folder.hermes(&format!("run {ARRAY} {options}"));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(part), "{options}\n{error}");
    }
}

/// GDB itself: breakpoint, backtrace, step, variables, CSRs, threads.
#[test]
#[ignore = "needs gdb-multiarch"]
fn gdb_debugs_it() {
    let folder = Folder::new();
    let (mut child, _error, port) = launch(command(&folder, TEXT, ""));
    let mut command = Command::new("gdb-multiarch");
    command.current_dir(folder.path("")).args(["-nx", "-batch", "fw.elf"]);
    for line in [
        "set confirm off",
        &format!("target remote localhost:{port}"),
        "break work if n == 3",
        "continue",
        "backtrace",
        "print total",
        "finish",
        "print total",
        "set var total = 1000",
        "stepi",
        "info threads",
        "print $mhartid",
        "print/x $misa",
        "delete",
        "continue",
    ] {
        command.args(["-ex", line]);
    }
    let output = command.output().expect("gdb-multiarch runs");
    let text = String::from_utf8_lossy(&output.stdout);
    for part in [
        "Breakpoint 1, work (n=",
        "main () at fw.c:",
        "$1 = 43",
        "$2 = 46",
        "(hart 0)",
        "(hart 1)",
        "$3 = 0",
        "$4 = 0x40801100",
        "exited with code 05",
    ] {
        assert!(
            text.contains(part),
            "expected {part:?} in:\n{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert_eq!(child.wait().expect("hermes ends").code(), Some(5));
}
