//! Tables, rules and captures that are read otherwise than they look: the right answer, or an error
//! or a line that says what was left out and why.

mod common;

use common::{rows, Folder};

/// The array of these tests, which other tests have too.
const ARRAY: &str = "--cores 1 --lanes 4 --warps 4 --mem-latency 20";

/// A record of an MRT file.
fn record(kind: u16, subtype: u16, body: &[u8]) -> Vec<u8> {
    let header = [&[0x65, 0, 0, 0][..], &kind.to_be_bytes(), &subtype.to_be_bytes()].concat();
    [&header[..], &(body.len() as u32).to_be_bytes(), body].concat()
}

/// Path attributes with AS numbers of `as_bytes` bytes and the next hop 192.0.2.`host`.
fn attributes(as_bytes: u8, host: u8) -> Vec<u8> {
    let path =
        [&[0x40, 1, 1, 0, 0x40, 2, 2 + as_bytes, 2, 1][..], &[0, 0, 0xfd, 0xe8][4 - usize::from(as_bytes)..]];
    [&path.concat()[..], &[0x40, 3, 4, 192, 0, 2, host]].concat()
}

/// A record of version 2 for NET.0.0.0/8 with these routes, each by its path attributes.
fn rib(subtype: u16, net: u8, routes: &[Vec<u8>]) -> Vec<u8> {
    let mut body = vec![0, 0, 0, 0, 8, net, 0, routes.len() as u8];
    for route in routes {
        body.extend([0, 0, 0x65, 0, 0, 0, 0, route.len() as u8]);
        body.extend(route);
    }
    record(13, subtype, &body)
}

/// A record of version 1 for NET.0.0.0/8.
fn version_1(net: u8, host: u8) -> Vec<u8> {
    let attributes = attributes(2, host);
    let mut body = vec![0, 0, 0, 0, net, 0, 0, 0, 8, 1, 0x65, 0, 0, 0, 192, 0, 2, 9, 0xfd, 0xe8];
    body.extend([0, attributes.len() as u8]);
    body.extend(attributes);
    record(12, 1, &body)
}

/// The verdicts of packets to 9.0.0.1, 10.0.0.1 and 11.0.0.1 with the routes of `table`, and the
/// report.
fn routed(folder: &Folder, table: &[Vec<u8>]) -> (Vec<u32>, String) {
    folder.write(
        "headers",
        "16909060 150994945 1 2 17\n16909060 167772161 1 2 17\n16909060 184549377 1 2 17\n",
    );
    folder.succeed("gen-trace --kind fixed:64 --packets 3 --headers headers -o in.pcap");
    folder.write("routes", table.concat());
    let text = folder.succeed(&format!(
        "run --app route-lookup --routes routes --pcap in.pcap --verdicts out.csv {ARRAY}"
    ));
    (rows(&folder.text("out.csv")).iter().map(|row| row.verdict).collect(), text)
}

#[test]
fn dumps_of_routing_tables() {
    let folder = Folder::new();
    let no_route = 1 << 31;
    let is_drop = |verdict: u32| verdict & no_route != 0;
    // One rule for both versions: the first route.
    let first = [version_1(9, 250), version_1(10, 1), version_1(10, 2)];
    let second = [rib(2, 9, &[attributes(4, 250)]), rib(2, 10, &[attributes(4, 1), attributes(4, 2)])];
    for table in [&first[..], &second[..]] {
        let (verdicts, text) = routed(&folder, table);
        assert!(verdicts[..2] == [0, 1] && is_drop(verdicts[2]), "{verdicts:x?}");
        assert!(text.contains("2 prefixes, 2 next hops; left out: 1 further route of a prefix"), "{text}");
    }
    let multicast =
        [rib(2, 10, &[attributes(4, 1)]), rib(3, 10, &[attributes(4, 77)]), rib(3, 11, &[attributes(4, 1)])];
    let (verdicts, text) = routed(&folder, &multicast);
    assert!(verdicts[1] == 0 && is_drop(verdicts[2]), "{verdicts:x?}");
    assert!(text.contains("1 prefixes, 1 next hops; left out: 2 multicast prefixes"), "{text}");
    let bare = attributes(4, 1)[..13].to_vec();
    let (verdicts, text) =
        routed(&folder, &[rib(2, 10, std::slice::from_ref(&bare)), rib(2, 11, &[attributes(4, 1)])]);
    assert!(is_drop(verdicts[1]) && verdicts[2] == 0, "{verdicts:x?}");
    assert!(text.contains("left out: 1 route without a next hop"), "{text}");
    let address = [0x80, 14, 17, 16, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let ipv6 = rib(2, 10, &[[&bare[..], &address].concat()]);
    let (verdicts, _) = routed(&folder, &[ipv6, rib(2, 11, &[attributes(4, 2)])]);
    assert_eq!(verdicts[1..], [0, 1]);
    // Updates are no table, and a broken one gives nothing.
    for (table, expected) in [
        (record(16, 4, &[0; 20]), "routes: MRT record 1 is an update (BGP4MP): this is a file of updates"),
        (
            rib(3, 10, &[]),
            "no IPv4 route; expected lines such as `10.0.0.0/8 3`; left out: 1 multicast prefix",
        ),
        (rib(2, 10, &[attributes(4, 1)])[..30].to_vec(), "routes: MRT record 1 has 36 bytes by its header"),
    ] {
        folder.write("bad", table);
        let run = format!("run --app route-lookup --routes bad --pcap in.pcap --out new.pcap {ARRAY}");
        folder.fail(&run, &[&expected.replace("routes: ", "bad: ")]);
        assert!(!folder.files().contains(&"new.pcap".to_string()));
    }
}

#[test]
fn rules_of_every_form() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind fixed:100 --packets 20 --seed 1 -o in.pcap");
    let run = format!("run --app nids --pcap in.pcap {ARRAY} --rules");
    let line = "alert tcp any any -> any any (content:\"Host|3 a20|x\"; pcre:\"/a\"b;/\"; sid:1;)\n";
    let service = "alert http (msg:\"x\"; content:\"abcd\"; sid:2;)\n";
    let lines = "block udp any [80, 443]\n -> any any\n(\n  content:\"abcd\", nocase;\n)\n";
    folder.write("x.rules", format!("\u{feff}{line}{service}{lines}"));
    let text = folder.succeed(&format!("{run} x.rules"));
    assert!(text.contains("2 patterns of 1 bytes or more"), "{text}");
    assert!(text.contains("1 rule left out, of the service http: sid 2"), "{text}");
    for (rules, expected) in [
        ("alert tcp any any -> any any (content:\"abc|\"; sid:1;)", "bad.rules:1: content \"abc|\": expected a second |"),
        ("\n\nalert tcp any any -> any any (content:\"a|+1|\";)", "bad.rules:3: content \"a|+1|\": `+1`: expected pairs"),
        (service, "bad.rules: no rule with a content of 1 bytes or more; 1 rule left out, of the service http: sid 2"),
        ("\u{feff}allow tcp any any -> any any (content:\"a\";)", "bad.rules:1: `allow`: expected a rule"),
    ] {
        folder.write("bad.rules", rules);
        folder.fail(&format!("{run} bad.rules"), &[expected]);
    }
    folder.write("bad.rules", b"\xff\xfea\0l\0");
    folder.fail(&format!("{run} bad.rules"), &["bad.rules:1: is text in UTF-16; expected UTF-8"]);
}

/// Every text that the command reads may begin with a byte order mark.
#[test]
fn byte_order_marks() {
    let folder = Folder::new();
    let mark = |name: &str, text: &str| folder.write(name, format!("\u{feff}{text}"));
    mark("headers", "16909060 167772161 1 2 17\n");
    folder.succeed("gen-trace --kind fixed:100 --packets 20 --headers headers -o in.pcap");
    mark("routes", "10.0.0.0/8 7\n");
    mark("filters", "@0.0.0.0/0 10.0.0.0/8 0 : 65535 0 : 65535 0x00/0x00\n");
    mark("x.rules", "alert tcp any any -> any any (content:\"abcd\";)\n");
    mark(
        "keys",
        "spi 0x1234\nsource 192.0.2.1\ndestination 198.51.100.2\naes-128-ctr 000102030405060708090a0b0c0d0e0f\n\
         nonce 01020304\nhmac-sha1-96 000102030405060708090a0b0c0d0e0f10111213\n",
    );
    for app in [
        "route-lookup --routes routes",
        "classifier --rules filters",
        "dpi --rules x.rules",
        "ipsec --keys keys",
    ] {
        folder.succeed(&format!("run --app {app} --pcap in.pcap {ARRAY} --verdicts out.csv --json out.json"));
    }
    mark("k.c", "#include <hermes.h>\nuint32_t kernel(void) { return 7; }\n");
    folder.succeed("kernel build k.c -o k.elf");
    mark("want.csv", &(0..20).map(|packet| format!("{packet},7\n")).collect::<String>());
    folder.succeed(&format!(
        "run --kernel k.elf --pcap in.pcap {ARRAY} --expect-verdicts want.csv --json a.json"
    ));
    mark("b.json", &folder.text("a.json"));
    folder.succeed("compare a.json b.json");
    mark("k.S", ".globl kernel\nkernel: ret\n");
    folder.fail(
        "kernel build k.S -o none.elf",
        &["k.S: begins with a byte order mark; expected UTF-8 without one"],
    );
    mark("f.s", ".globl main\nmain: ret\n");
    folder.fail("firmware build f.s -o none.elf", &["f.s: begins with a byte order mark"]);
}

/// Options of a pcapng file are in the byte order of its section.
#[test]
fn times_of_a_big_endian_capture() {
    let folder = Folder::new();
    let words = |values: &[u32]| values.iter().flat_map(|value| value.to_be_bytes()).collect::<Vec<u8>>();
    let mut file = words(&[0x0a0d_0d0a, 28, 0x1a2b_3c4d, 0x0001_0000, u32::MAX, u32::MAX, 28]);
    file.extend(words(&[1, 20, 0x0001_0000, 0, 20]));
    // An offset of 1 s.
    file.extend(words(&[1, 36, 0x0001_0000, 0, 14 << 16 | 8, 0, 1, 0, 36]));
    for (interface, time) in [(0, 1_000_000), (1, 10), (0, 1_000_020)] {
        file.extend(words(&[6, 92, interface, 0, time, 60, 60]));
        file.extend([0x45; 60]);
        file.extend(words(&[92]));
    }
    folder.write("in.pcapng", file);
    folder.write("k.S", ".globl kernel\nkernel: li a0, 0\nret\n");
    folder.succeed("kernel build k.S -o k.elf");
    folder.succeed(&format!(
        "run --kernel k.elf --pcap in.pcapng --line-rate trace {ARRAY} --verdicts out.csv --out out.pcap"
    ));
    let arrivals: Vec<_> = folder
        .text("out.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(2).map(str::to_string))
        .collect();
    assert_eq!(arrivals, ["0", "10000", "20000"].map(|text| Some(text.to_string())));
    let capture = hermes_testbench::traffic::read(&folder.path("out.pcap"), None).expect("a capture");
    let times: Vec<_> = capture.frames.iter().map(|frame| frame.timestamp).collect();
    assert_eq!(times, [1_000_000_000, 1_000_010_000, 1_000_020_000]);
}

/// Standard input is read once, and numbers have no signs.
#[test]
fn streams_and_signs() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind fixed:64 --packets 3 -o in.pcap");
    let run = format!("run --pcap in.pcap {ARRAY} --app");
    folder.write("routes", "0.0.0.0/0 3\n");
    let output = folder.hermes_with(&format!("{run} route-lookup --routes -"), |command| {
        command.stdin(std::fs::File::open(folder.path("routes")).expect("a file"));
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for (app, text, expected) in [
        ("route-lookup --routes", "10.0.0.0/+8 1\n", "bad:1: `10.0.0.0/+8`: expected a prefix"),
        (
            "classifier --rules",
            "@0.0.0.0/0 0.0.0.0/0 +0 : 9 0 : 9 0x00/0x00\n",
            "bad:1: `+0`: expected a port, 0 to 65535",
        ),
        (
            "classifier --rules",
            "@0.0.0.0/0 0.0.0.0/0 0 : 9 0 : 9 0x+6/0xff\n",
            "bad:1: `0x+6/0xff`: expected VALUE/MASK in hexadecimal",
        ),
        ("ipsec --keys", "spi +300\n", "bad:1: `+300`: expected a number from 256"),
    ] {
        folder.write("bad", text);
        folder.fail(&format!("{run} {app} bad"), &[expected]);
    }
    folder.write("bad", "1 2 +3 4 17\n");
    folder.fail(
        "gen-trace --kind fixed:64 --packets 3 --headers bad -o new.pcap",
        &["bad:1: `1 2 +3 4 17`: expected"],
    );
}
