//! `hermes debug`: a client of GDB's remote serial protocol, and GDB itself if it is there.

mod common;

use std::io::Write as _;
use std::net::TcpListener;
use std::process::Command;

use common::gdb::{installed, launch, word, Session, CSR, PC};
use common::{frames, rows, Folder};
use hermes_testbench::kernel::Kernel;

const ARRAY: &str = "--cores 1 --lanes 4 --warps 4";

/// `note` is called with 4 to 7 by the warp of packet 5; the packet's number is added to its first
/// word.
const TEXT: &str = "#include <hermes.h>
volatile uint32_t last;
__attribute__((noinline)) uint32_t note(uint32_t n) { last = n; return n + 1; }
uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    uint32_t *first = (uint32_t *)slot->ipv4;
    *first += note(packet);
    return VERDICT_FORWARD | packet;
}
";

/// A folder with 9 packets and a kernel, built from `text`.
fn folder(text: &str) -> Folder {
    let folder = Folder::new();
    folder.write("k.c", text);
    folder.succeed("kernel build k.c -o k.elf -O 1");
    folder.succeed("gen-trace --kind fixed:64 --packets 9 -o in.pcap");
    folder
}

/// The command that debugs packet 5.
fn command(folder: &Folder, options: &str) -> Command {
    folder.command(&format!("debug --kernel k.elf --pcap in.pcap --packet 5 {ARRAY} -q {options}"))
}

fn symbol(folder: &Folder, name: &str) -> u32 {
    let kernel = Kernel::read(&folder.path("k.elf")).expect("a kernel");
    kernel.symbol(name).unwrap_or_else(|_| panic!("no symbol {name}")).address
}

fn is_stop(answer: &str, signal: &str, thread: u32) -> bool {
    answer.starts_with(&format!("T{signal}")) && answer.contains(&format!("thread:{thread:02x};"))
}

/// What a client sends that cannot be is answered with an error, and the session goes on.
#[test]
fn packets_that_cannot_be_are_answered() {
    let folder = folder(TEXT);
    let mut gdb = Session::new(command(&folder, ""));
    for packet in [
        "Hg-1",
        "m1000",
        "Z0,1000",
        "vCont;z",
        "vCont;c:63",
        "Hg63",
        "G00",
        "P5=00",
        "m100000000,4",
        "m0,ffffffff",
    ] {
        assert_eq!(gdb.ask(packet), "E16", "{packet}");
    }
    assert_eq!(gdb.ask("vMustReplyEmpty"), "");
    // A register that is not there.
    assert!(gdb.ask("p1041").starts_with('E'));
    // A wrong checksum, rubbish, and a packet that was not understood.
    gdb.stream.write_all(b"rubbish$g#00").unwrap();
    assert_eq!(gdb.next_byte(), b'-');
    assert_eq!(gdb.ask("Hg2"), "OK");
    gdb.stream.write_all(b"-").unwrap();
    assert_eq!(gdb.receive(), "OK");
    // Longer than any buffer.
    assert_eq!(gdb.ask(&"m".repeat(9_000)), "E16");
    assert_eq!(gdb.ask("vCont;c"), "W00");
}

/// 10,000 packets that are nearly good, from a seed: each is answered, and the session goes on.
#[test]
fn packets_at_random_are_answered() {
    use rand::{Rng as _, SeedableRng as _};
    const GOOD: [&str; 16] = [
        "?",
        "g",
        "Hg2",
        "Hc-1",
        "m1000,40",
        "M2000,2:ab01",
        "X2000,2:zz",
        "T1",
        "p20",
        "P5=00000001",
        "Z0,1000,4",
        "z2,2000,4",
        "qThreadExtraInfo,1",
        "qSupported:multiprocess+;swbreak+",
        "qXfer:features:read:target.xml:0,40",
        "qfThreadInfo",
    ];
    const BYTES: &[u8] = b"0123456789abcdefgxyzGHMPTXZ,;:=.-+?{}() ";
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(hermes_testbench::test_seed());
    let folder = folder(TEXT);
    let mut gdb = Session::new(command(&folder, ""));
    for _ in 0..10_000 {
        let mut packet = GOOD[random.gen_range(0..GOOD.len())].as_bytes().to_vec();
        for _ in 0..random.gen_range(0..4) {
            let at = random.gen_range(0..=packet.len());
            let byte = BYTES[random.gen_range(0..BYTES.len())];
            match random.gen_range(0..3) {
                0 => packet.insert(at, byte),
                1 => packet.truncate(at),
                _ if at < packet.len() => packet[at] = byte,
                _ => {}
            }
        }
        let packet = String::from_utf8(packet).expect("ASCII");
        // These let the warp go on.
        if packet.starts_with(['c', 's', 'k', 'D']) || packet.starts_with("vCont") {
            continue;
        }
        gdb.ask(&packet);
    }
    assert!(gdb.ask("?").starts_with("T05"));
}

#[test]
fn a_session_to_the_end() {
    let folder = folder(TEXT);
    let (kernel, note, last) = (symbol(&folder, "kernel"), symbol(&folder, "note"), symbol(&folder, "last"));
    let mut gdb = Session::new(command(&folder, "-o out.pcap"));
    // In front of the kernel, in the lane of the packet.
    let stop = gdb.ask("?");
    assert!(is_stop(&stop, "05", 2), "{stop}");
    assert_eq!(gdb.ask("Hg2"), "OK");
    assert_eq!((gdb.register(PC), gdb.register(10)), (kernel, 5));
    let all = gdb.ask("g");
    assert_eq!((all.len(), word(&all[256..264])), (33 * 8, kernel));
    let text = gdb.description();
    for name in ["\"zero\"", "\"pc\"", "\"packet\"", "\"lane\"", "riscv:rv32"] {
        assert!(text.contains(name), "{text}");
    }
    // The lanes.
    assert_eq!(gdb.ask("qfThreadInfo"), "m02,01,03,04");
    assert_eq!((gdb.register(CSR + 0xcc0), gdb.register(CSR + 0xcc1)), (5, 1));
    assert!(gdb.ask(&format!("p{:x}", CSR + 0x300)).starts_with('E'), "no such CSR");
    assert_eq!(gdb.ask("Hg4"), "OK");
    assert_eq!((gdb.register(CSR + 0xcc0), gdb.register(10)), (7, 7));
    let name = gdb.ask("qThreadExtraInfo,4");
    let name: Vec<u8> =
        (0..name.len()).step_by(2).map(|at| u8::from_str_radix(&name[at..at + 2], 16).unwrap()).collect();
    let name = String::from_utf8(name).unwrap();
    assert!(name.starts_with("packet 7, lane 3, 0x00001") && name.contains(" kernel (k.c:"), "{name}");
    // A breakpoint: each lane comes to it.
    assert_eq!(gdb.ask(&format!("Z0,{note:x},4")), "OK");
    for lane in [1, 0, 2, 3] {
        let stop = gdb.go("c");
        assert!(is_stop(&stop, "05", lane + 1) && stop.contains("swbreak:;"), "{stop}");
        assert_eq!((gdb.register(PC), gdb.register(10)), (note, 4 + lane));
    }
    assert_eq!(gdb.ask(&format!("z0,{note:x},4")), "OK");
    // A step, of the lane with its warp and alone.
    let stop = gdb.go("s:2;c");
    assert!(is_stop(&stop, "05", 2), "{stop}");
    assert_eq!(gdb.register(PC), note + 4);
    let stop = gdb.go("s:2");
    assert!(is_stop(&stop, "05", 2), "{stop}");
    assert_eq!((gdb.register(PC), gdb.ask("Hg1").as_str(), gdb.register(PC)), (note + 8, "OK", note + 4));
    // Registers and memory, also without any.
    assert_eq!(gdb.ask("P1f=78563412"), "OK");
    assert_eq!(gdb.register(31), 0x1234_5678);
    assert_eq!(gdb.ask(&format!("M{last:x},4:64000000")), "OK");
    assert_eq!(word(&gdb.ask(&format!("m{last:x},4"))), 100);
    assert!(gdb.ask("mc0000000,4").starts_with('E') && gdb.ask("Mffffff00,4:00000000").starts_with('E'));
    // A watchpoint, behind the store of each lane; the first lane goes on alone.
    assert_eq!(gdb.ask(&format!("Z2,{last:x},4")), "OK");
    let stop = gdb.go("c:1");
    assert!(is_stop(&stop, "05", 1) && stop.contains(&format!("watch:{last:x};")), "{stop}");
    assert_eq!(word(&gdb.ask(&format!("m{last:x},4"))), 4);
    assert_eq!(gdb.ask(&format!("z2,{last:x},4")), "OK");
    assert_eq!(gdb.go("c"), "W00");
    let (code, output, error) = gdb.end();
    assert_eq!((code, error.as_str()), (Some(0), ""));
    assert!(output.contains("verdict       0x00000005 (forward: port 5)"), "{output}");
    // Nothing was lost by the way: what the array does.
    folder.succeed(&format!(
        "run --kernel k.elf --pcap in.pcap {ARRAY} --mem-latency 20 -o run.pcap --verdicts run.csv"
    ));
    assert_eq!(rows(&folder.text("run.csv"))[5].verdict, 5);
    assert_eq!(frames(folder.path("out.pcap")), [frames(folder.path("run.pcap"))[5].clone()]);
}

#[test]
fn a_fault_is_a_signal_in_its_lane() {
    let text = "#include <hermes.h>
uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    if (packet == 6)
        return *(volatile uint32_t *)0;
    if (packet == 7)
        __asm__ volatile(\".word 0\");
    return VERDICT_DROP | 1;
}
";
    let folder = folder(text);
    let mut gdb = Session::new(command(&folder, ""));
    let mut signals = vec![];
    for _ in 0..2 {
        let stop = gdb.go(if signals.is_empty() { "c" } else { "C0b:3;c" });
        // Of the lane that is at its fault first; its verdict if the signal is passed on.
        let thread = if stop.starts_with("T0b") { 3 } else { 4 };
        assert!(is_stop(&stop, if thread == 3 { "0b" } else { "04" }, thread), "{stop}");
        signals.push(thread);
        if thread == 4 {
            assert_eq!(gdb.ask("m0,4"), "00000000");
            let next = gdb.register(PC) + 4;
            assert_eq!(gdb.ask(&format!("P{PC:x}={:08x}", next.swap_bytes())), "OK", "left out");
        }
    }
    let last = if signals[1] == 3 { "C0b:3;c" } else { "c" };
    assert_eq!(gdb.go(last), "W01");
    let (code, output, error) = gdb.end();
    assert!(code == Some(1) && output.contains("(drop: "), "{output}");
    assert!(error.contains("fault: load access at PC 0x0000") && error.contains("in kernel+"), "{error}");
    assert!(error.contains("(the null address): 1 thread, the first with packet 6"), "{error}");
    assert!(error.contains("1 of 4 packets ended with a fault"), "{error}");
}

#[test]
fn an_interrupt_and_a_debugger_that_goes() {
    let folder = folder(
        "#include <hermes.h>\nvolatile uint32_t stay = 1;\n\
         uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments) { while (stay) ; return 7; }",
    );
    let stay = symbol(&folder, "stay");
    let mut gdb = Session::new(command(&folder, ""));
    gdb.send("vCont;c");
    gdb.stream.write_all(b"\x03").expect("written");
    let stop = gdb.receive();
    assert!(is_stop(&stop, "02", 2), "{stop}");
    assert_eq!(gdb.ask(&format!("M{stay:x},4:00000000")), "OK");
    assert_eq!(gdb.ask("D"), "OK");
    let (code, output, error) = gdb.end();
    assert!(code == Some(0) && output.contains("(forward: port 7)"), "{output}{error}");
    // Or that ends it, or that is gone.
    let mut gdb = Session::new(command(&folder, ""));
    gdb.send("k");
    let (code, output, error) = gdb.end();
    assert!(
        code == Some(1) && error.contains("k.elf: the debugger ended it") && output.is_empty(),
        "{error}"
    );
    let gdb = Session::new(command(&folder, ""));
    gdb.stream.shutdown(std::net::Shutdown::Both).expect("shut down");
    let (code, _, error) = gdb.end();
    assert!(code == Some(1) && error.contains("--port: "), "{error}");
}

#[test]
fn one_lane_alone_and_its_place() {
    let folder = folder(TEXT);
    let note = symbol(&folder, "note");
    let mut gdb = Session::new(command(&folder, "--one-lane"));
    assert_eq!(gdb.ask(&format!("Z0,{note:x},4")), "OK");
    let stop = gdb.go("c");
    assert!(is_stop(&stop, "05", 2) && stop.contains("swbreak"), "{stop}");
    // `monitor lanes`: lines of text, then OK.
    let hex: String = "lanes".bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut answers = vec![gdb.ask(&format!("qRcmd,{hex}"))];
    while answers.last().is_some_and(|answer| answer.starts_with('O') && answer != "OK") {
        answers.push(gdb.receive());
    }
    assert!(answers.len() > 1 && answers.last().is_some_and(|answer| answer == "OK"), "{answers:?}");
    assert_eq!(gdb.go("c"), "W00");
    assert_eq!(gdb.end().0, Some(0));

    let taken = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = taken.local_addr().expect("an address").port();
    folder.fail(
        &format!("debug --kernel k.elf --pcap in.pcap --port {port} {ARRAY}"),
        &[&format!("--port: port {port} of localhost cannot be used; expected a free one, or 0 for any")],
    );
}

/// GDB itself, if it is there: breakpoints of a lane, conditions, backtrace, variables,
/// watchpoints, threads.
#[test]
fn gdb_debugs_it() {
    let Some(name) = installed() else {
        println!("no gdb-multiarch and no riscv64-unknown-elf-gdb: left out");
        return;
    };
    let folder = folder(TEXT);
    let (mut child, _error, port) = launch(command(&folder, ""));
    let mut gdb = Command::new(name);
    gdb.current_dir(folder.path("")).args(["-nx", "-batch", "k.elf"]);
    for line in [
        "set confirm off",
        &format!("target remote localhost:{port}"),
        "break note if n == 6",
        "continue",
        "backtrace",
        "info threads",
        "print $packet",
        "stepi",
        "watch last",
        "continue",
        "print last",
        "monitor lanes",
        "delete",
        "continue",
    ] {
        gdb.args(["-ex", line]);
    }
    let output = gdb.output().expect("GDB runs");
    let text = String::from_utf8_lossy(&output.stdout);
    for part in
        ["note (n=", "kernel (packet=6", "(packet 4, lane 0", "$1 = 6", "Old value", "exited normally"]
    {
        assert!(
            text.contains(part),
            "expected {part:?} in:\n{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    assert_eq!(child.wait().expect("hermes ends").code(), Some(0));
}
