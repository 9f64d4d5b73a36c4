//! `hermes run --gdb`: a client of GDB's remote serial protocol, and GDB itself if it is there.

mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use common::Folder;
use hermes_testbench::firmware::Firmware;

/// A small array.
const ARRAY: &str = "--preset fpga --cores 1 --lanes 2 --warps 2 --command-threads 2 --uli-channels 2";

/// What the tests debug: `work` is called with 0 to 4, and 5 is returned.
const TEXT: &str = "volatile int total = 40;\n\
    __attribute__((noinline)) void work(int n) { total += n; }\n\
    int main(void) { int i; for (i = 0; i < 5; i++) work(i); puts(\"done\"); return i; }";

/// `hermes` that waits for a debugger, and the connection to it.
struct Session {
    child: Child,
    /// Standard error behind the line with the port.
    error: BufReader<std::process::ChildStderr>,
    stream: TcpStream,
}

/// Builds `text` and runs it with `--gdb 0`; the port that it chose.
fn launch(folder: &Folder, text: &str, options: &str) -> (Child, BufReader<std::process::ChildStderr>, u16) {
    folder.write("fw.c", format!("#include \"hermes_cp.h\"\n{text}"));
    folder.succeed("firmware build fw.c -o fw.elf");
    let mut command = folder.command(&format!("run --firmware fw.elf --gdb 0 {ARRAY} {options} -q"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hermes runs");
    let mut error = BufReader::new(child.stderr.take().expect("standard error"));
    let mut line = String::new();
    error.read_line(&mut line).expect("a line");
    let port = line.trim_end().trim_end_matches('\'').rsplit(':').next().and_then(|port| port.parse().ok());
    assert!(line.starts_with("waiting for a debugger: "), "{line}");
    (child, error, port.unwrap_or_else(|| panic!("{line}")))
}

impl Session {
    fn new(folder: &Folder, text: &str, options: &str) -> Self {
        let (child, error, port) = launch(folder, text, options);
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("hermes listens");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a time limit");
        let mut session = Self { child, error, stream };
        let answer = session.ask("qSupported:multiprocess-;swbreak+;vContSupported+");
        assert!(answer.contains("qXfer:features:read+") && answer.contains("swbreak+"), "{answer}");
        session
    }

    fn byte(&mut self) -> u8 {
        let mut byte = [0];
        self.stream.read_exact(&mut byte).expect("a byte");
        byte[0]
    }

    fn send(&mut self, packet: &str) {
        let sum = packet.bytes().fold(0u8, u8::wrapping_add);
        write!(self.stream, "${packet}#{sum:02x}").expect("written");
        assert_eq!(self.byte(), b'+');
    }

    /// The next packet, with runs (`*`) and escapes (`}`) resolved.
    fn receive(&mut self) -> String {
        assert_eq!(self.byte(), b'$');
        let mut text: Vec<u8> = vec![];
        loop {
            match self.byte() {
                b'#' => break,
                b'*' => {
                    let (count, last) = (self.byte() - 29, *text.last().expect("a byte to repeat"));
                    text.extend(std::iter::repeat_n(last, count.into()));
                }
                b'}' => text.push(self.byte() ^ 0x20),
                byte => text.push(byte),
            }
        }
        let _sum = [self.byte(), self.byte()];
        self.stream.write_all(b"+").expect("written");
        String::from_utf8(text).expect("text")
    }

    fn ask(&mut self, packet: &str) -> String {
        self.send(packet);
        self.receive()
    }

    /// A register by GDB's number.
    fn register(&mut self, number: u32) -> u32 {
        word(&self.ask(&format!("p{number:x}")))
    }

    /// Lets harts go on; the answer when they stop.
    fn go(&mut self, actions: &str) -> String {
        self.ask(&format!("vCont;{actions}"))
    }

    /// Exit code and output of `hermes`, which has lost its debugger.
    fn end(mut self) -> (Option<i32>, String, String) {
        let mut error = String::new();
        self.error.read_to_string(&mut error).expect("text");
        let Output { status, stdout, .. } = self.child.wait_with_output().expect("hermes ends");
        (status.code(), String::from_utf8(stdout).expect("text"), error)
    }
}

/// A word as the protocol writes it: bytes in the order of memory.
fn word(text: &str) -> u32 {
    u32::from_str_radix(text, 16).unwrap_or_else(|_| panic!("{text}")).swap_bytes()
}

fn symbol(folder: &Folder, name: &str) -> u32 {
    let firmware = Firmware::read(&folder.path("fw.elf")).expect("firmware");
    let found = firmware.executable.symbols.iter().find(|(symbol, _)| symbol == name);
    found.unwrap_or_else(|| panic!("no symbol {name}")).1
}

const PC: u32 = 32;
const CSR: u32 = 65;

#[test]
fn a_session_to_the_end() {
    let folder = Folder::new();
    let mut gdb = Session::new(&folder, TEXT, "");
    let (work, total) = (symbol(&folder, "work"), symbol(&folder, "total"));
    // Before the first instruction.
    assert!(gdb.ask("?").starts_with("T05"));
    assert_eq!(gdb.register(PC), 0x1_0000);
    let all = gdb.ask("g");
    assert_eq!((all.len(), word(&all[256..264])), (33 * 8, 0x1_0000));
    let mut text = String::new();
    loop {
        let part = gdb.ask(&format!("qXfer:features:read:target.xml:{:x},400", text.len()));
        text += &part[1..];
        if part.starts_with('l') {
            break;
        }
    }
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
    let mut gdb = Session::new(&folder, text, "");
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
    let mut gdb = Session::new(&folder, text, "--firmware-timeout 20000");
    assert_eq!(gdb.ask("D"), "OK");
    let (code, _, error) = gdb.end();
    assert!(code == Some(1) && error.contains("fw.elf: not at its end after 2"), "{error}");
}

#[test]
fn a_debugger_that_ends_it() {
    let folder = Folder::new();
    let mut gdb = Session::new(&folder, TEXT, "");
    gdb.send("k");
    let (code, _, error) = gdb.end();
    assert!(code == Some(1) && error.contains("fw.elf: the debugger ended it"), "{error}");
    // Or that is gone: the connection ends.
    let gdb = Session::new(&folder, TEXT, "");
    gdb.stream.shutdown(std::net::Shutdown::Both).expect("shut down");
    let (code, _, error) = gdb.end();
    assert!(code == Some(1) && error.contains("--gdb: "), "{error}");
}

#[test]
fn what_goes_wrong_is_a_signal() {
    let folder = Folder::new();
    // A lock-up: the debugger sees where.
    let text = "int main(void) { csr_write(mtvec, 0xfff80000); __asm__ volatile(\"ecall\"); return 0; }";
    let mut gdb = Session::new(&folder, text, "");
    let stop = gdb.go("c");
    assert!(stop.starts_with("T0b") && stop.contains("thread:01;"), "{stop}");
    assert_eq!((gdb.register(PC), gdb.register(CSR + 0x342)), (0xfff8_0000, 11));
    gdb.send("k");
    assert_eq!(gdb.end().0, Some(1));
    // `ebreak` in the program stops it.
    let text = "int main(void) { __asm__ volatile(\"ebreak\"); return 3; }";
    let mut gdb = Session::new(&folder, text, "");
    let stop = gdb.go("c");
    assert!(stop.starts_with("T05") && !stop.contains("swbreak"), "{stop}");
    let next = gdb.register(PC) + 4;
    assert_eq!(gdb.ask(&format!("P{PC:x}={:08x}", next.swap_bytes())), "OK");
    assert_eq!(gdb.go("c"), "W03");
    assert_eq!(gdb.end().0, Some(3));
    // A trap without handler ends it.
    let mut gdb = Session::new(&folder, "int main(void) { return *(volatile int *)0xfff80000; }", "");
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
    let (mut child, _error, port) = launch(&folder, TEXT, "");
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
