//! `hermes run --app`: every app on the array, on generated tables, rules and traffic; every packet
//! is compared with the app's golden model. One model, that of `tests/run/main.rs`, serves all.

mod common;

use common::{check_order, rows, Folder};

const ARRAY: &str = "--cores 1 --lanes 4 --warps 4 --mem-latency 20";

/// A folder with tables, rules and patterns.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.succeed("gen-routes --count 3000 --ports 30 --seed 1 -o routes.txt");
    folder.succeed("gen-rules --kind acl --count 40 --deny 20 --seed 1 -o acl.rules");
    folder.succeed("gen-rules --kind fw --count 200 --deny 20 --seed 2 -o fw.rules");
    folder.succeed("gen-rules --kind snort --count 60 --seed 3 -o snort.rules");
    folder
}

/// Runs an app on traffic that is made for its inputs; gives the verdicts, after their names in the
/// report.
fn run(folder: &Folder, app: &str, inputs: &str, traffic: &str) -> Vec<(String, u64)> {
    folder.succeed(&format!("gen-trace {traffic} --seed 7 -o in.pcap"));
    let text = folder.succeed(&format!(
        "run --app {app} {inputs} --pcap in.pcap --json out.json --verdicts out.csv {ARRAY}"
    ));
    assert!(text.contains("every packet and verdict agrees"), "{text}");
    check_order(&rows(&folder.text("out.csv")));
    let report: serde_json::Value = serde_json::from_str(&folder.text("out.json")).expect("JSON");
    assert_eq!(report["faults"], 0);
    let verdicts = report["verdicts"].as_object().expect("verdicts");
    verdicts.iter().map(|(name, count)| (name.clone(), count.as_u64().expect("a count"))).collect()
}

/// How many verdicts begin with `name`, and of how many packets.
fn count(verdicts: &[(String, u64)], name: &str) -> (usize, u64) {
    let found = || verdicts.iter().filter(|(verdict, _)| verdict.starts_with(name));
    (found().count(), found().map(|(_, count)| count).sum())
}

#[test]
fn route_lookup() {
    let folder = folder();
    let traffic = "--kind imix --packets 300 --bad-share 10 --routes routes.txt";
    let verdicts = run(&folder, "route-lookup", "--routes routes.txt", traffic);
    assert!(count(&verdicts, "forward").0 > 20 && count(&verdicts, "drop: no route").1 > 5, "{verdicts:?}");
}

#[test]
fn classifiers_agree() {
    let folder = folder();
    for rules in ["acl.rules", "fw.rules"] {
        let traffic = format!("--kind tcp-mix --packets 150 --bad-share 10 --rules {rules}");
        let inputs = format!("--rules {rules}");
        let linear = run(&folder, "classifier", &inputs, &traffic);
        assert_eq!(linear, run(&folder, "classifier-bv", &inputs, &traffic));
        let by_rule = count(&linear, "drop: rule").0;
        assert!(count(&linear, "forward").0 > 5 && by_rule > 3, "{linear:?}");
        assert!(count(&linear, "drop: no rule").1 > 0, "{linear:?}");
    }
}

#[test]
fn router() {
    let folder = folder();
    // Half of the addresses have a route.
    let routes = folder.text("routes.txt") + "0.0.0.0/1 40\n";
    folder.write("routes.txt", routes);
    let inputs = "--rules fw.rules --routes routes.txt";
    let traffic = format!("--kind imix --packets 300 --bad-share 20 {inputs}");
    let verdicts = run(&folder, "router", inputs, &traffic);
    assert!(count(&verdicts, "forward").0 > 5 && count(&verdicts, "drop: rule").0 > 5, "{verdicts:?}");
    for reason in ["no rule", "no route", "TTL ran out", "checksum", "source address"] {
        assert!(count(&verdicts, &format!("drop: {reason}")).1 > 0, "{reason}: {verdicts:?}");
    }
}

#[test]
fn patterns() {
    let folder = folder();
    let inputs = "--rules snort.rules";
    for app in ["nids", "dpi"] {
        let traffic = "--kind imix --packets 120 --bad-share 5 --patterns snort.rules";
        let verdicts = run(&folder, app, inputs, traffic);
        assert!(count(&verdicts, "drop: rule").0 > 10, "{app}: {verdicts:?}");
        assert!(verdicts.iter().any(|(name, _)| name.contains(", sid 10000")), "{app}: {verdicts:?}");
        assert!(count(&verdicts, "forward: port 0").1 > 20, "{app}: {verdicts:?}");
    }
}

#[test]
fn fragments() {
    let folder = folder();
    let traffic = "--kind imix --packets 200 --bad-share 10";
    let verdicts = run(&folder, "fragment", "--mtu 400 --out out.pcap", traffic);
    assert!(count(&verdicts, "drop: fragmentation needed").1 > 10, "{verdicts:?}");
    let forwarded = count(&verdicts, "forward").1 as usize;
    let frames = common::frames(folder.path("out.pcap"));
    assert!(frames.len() > forwarded + 30, "{} frames of {forwarded} packets", frames.len());
    assert!(frames.iter().all(|frame| frame.len() <= 414), "no frame is larger than the MTU");
    // Frames as segmentation offload hands them over.
    let traffic = "--kind fixed:40000 --packets 12";
    let verdicts = run(&folder, "fragment", "--mtu 576 --out out.pcap", traffic);
    assert!(common::frames(folder.path("out.pcap")).len() as u64 >= 70 * count(&verdicts, "forward").1);
    folder.fail("run --app fragment --mtu 67 --pcap in.pcap", &["--mtu 67: expected 68 to 65535"]);
}

#[test]
fn ipsec() {
    let folder = folder();
    let keys = "spi 0x1001\nsource 192.0.2.1\ndestination 198.51.100.2\nnonce 00a00b30\n\
                aes-128-ctr 2b7e151628aed2a6abf7158809cf4f3c\n\
                hmac-sha1-96 0102030405060708090a0b0c0d0e0f1011121314\n";
    folder.write("keys", keys);
    let traffic = "--kind imix --packets 60 --bad-share 10";
    let verdicts = run(&folder, "ipsec", "--keys keys --out out.pcap", traffic);
    let forwarded = count(&verdicts, "forward").1 as usize;
    let frames = common::frames(folder.path("out.pcap"));
    assert!(forwarded > 40 && frames.len() == forwarded, "{verdicts:?}");
    assert!(
        frames.iter().all(|frame| frame[23] == 50 && frame[34..38] == [0, 0, 0x10, 1]),
        "ESP with the SPI"
    );
    folder.write("keys", keys.replace("nonce 00", "nonce "));
    folder.fail(
        "run --app ipsec --keys keys --pcap in.pcap",
        &["keys:4: `a00b30`: expected 4 bytes in hexadecimal"],
    );
}

/// A kernel of one's own takes the place of the app's: same tables, same golden model.
#[test]
fn own_kernels_for_an_app() {
    let folder = folder();
    folder.write("route.c", include_str!("../kernels-asm/c/route-lookup.c"));
    folder.succeed("kernel build route.c -o route.elf --rv32e");
    let traffic = "--kind imix --packets 100 --bad-share 10 --routes routes.txt";
    let own = run(&folder, "route-lookup", "--routes routes.txt --kernel route.elf", traffic);
    assert_eq!(own, run(&folder, "route-lookup", "--routes routes.txt", traffic));
    folder.write("wrong.S", "    .globl kernel\nkernel:\n    li a0, 0x12345\n    ret\n");
    folder.succeed("kernel build wrong.S -o wrong.elf");
    let command =
        format!("run --app route-lookup --routes routes.txt --kernel wrong.elf --pcap in.pcap {ARRAY}");
    folder.fail(
        &command,
        &["packets differ from the golden model of wrong.elf; the first:", "forward: port 74565"],
    );
}

/// The inputs that an app takes are those that it needs, and errors name the file and the line.
#[test]
fn inputs() {
    let folder = folder();
    folder.succeed("gen-trace --kind fixed:60 --packets 2 -o in.pcap");
    let run = "run --pcap in.pcap --app";
    folder.fail(&format!("{run} route-lookup"), &["--app route-lookup needs --routes FILE"]);
    folder.fail(&format!("{run} router --rules fw.rules"), &["--app router needs --routes FILE"]);
    folder.fail(&format!("{run} nids --rules a --routes b"), &["--app nids does not take --routes FILE"]);
    folder.fail(&format!("{run} nids --rules none"), &["none: No such file"]);
    folder.write("bad", "10.0.0.0/8 1\n10.0.0.0/99 1\n");
    folder.fail(&format!("{run} route-lookup --routes bad"), &["bad:2: `10.0.0.0/99`: prefix length 99"]);
    folder.fail(&format!("{run} classifier --rules bad"), &["bad:1: 2 fields; expected a filter such as"]);
    folder.fail(&format!("{run} dpi --rules bad"), &["bad:1: `10.0.0.0/8`: expected a rule"]);
    folder.succeed("gen-rules --kind ipc --count 300 -o many.rules");
    let most = "many.rules: 300 filters; bit vectors hold 256";
    folder.fail(&format!("{run} classifier-bv --rules many.rules"), &[most]);
    folder.fail(
        "gen-trace --kind imix --packets 1 --headers bad -o x.pcap",
        &["bad:1: `10.0.0.0/8 1`: expected"],
    );
    let list = folder.succeed("apps");
    assert!(list.contains("router") && list.contains("--rules FILE --routes FILE"), "{list}");
}

/// A pcap file with these frames.
fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let head = [0xa1b2_c3d4_u32, 2 | 4 << 16, 0, 0, 65535, 1].map(u32::to_le_bytes).concat();
    let record = |frame: &Vec<u8>| {
        let length = frame.len() as u32;
        [[0, 0, length, length].map(u32::to_le_bytes).concat(), frame.clone()].concat()
    };
    frames.iter().fold(head, |file, frame| [file, record(frame)].concat())
}

/// `frame` with these tags of 802.1Q behind its addresses.
fn tagged(frame: &[u8], tags: &[[u8; 4]]) -> Vec<u8> {
    [&frame[..12], &tags.concat(), &frame[12..]].concat()
}

/// Frames with one tag or two are dropped as not IPv4, by every app; a kernel of the user's own
/// finds the tags in the slot.
#[test]
fn tags_of_vlans() {
    let folder = folder();
    folder.succeed("gen-trace --kind fixed:100 --packets 3 --routes routes.txt --seed 1 -o plain.pcap");
    let plain = common::frames(folder.path("plain.pcap"));
    let tags = [[0x81, 0, 0x20, 7], [0x81, 0, 0, 9]];
    let service = [[0x88, 0xa8, 0, 5], tags[0]];
    let frames = [
        plain[0].clone(),
        tagged(&plain[1], &tags[..1]),
        tagged(&plain[2], &tags),
        tagged(&plain[2], &service),
    ];
    folder.write("in.pcap", pcap(&frames));
    folder.write(
        "keys",
        "spi 0x1001\nsource 192.0.2.1\ndestination 198.51.100.2\nnonce 00a00b30\n\
         aes-128-ctr 2b7e151628aed2a6abf7158809cf4f3c\n\
         hmac-sha1-96 0102030405060708090a0b0c0d0e0f1011121314\n",
    );
    for app in [
        "dec-ttl",
        "check-ip-header",
        "route-lookup --routes routes.txt",
        "classifier --rules fw.rules",
        "classifier-bv --rules acl.rules",
        "nids --rules snort.rules",
        "dpi --rules snort.rules",
        "fragment --mtu 576",
        "router --rules fw.rules --routes routes.txt",
        "ipsec --keys keys",
    ] {
        let text = folder.succeed(&format!("run --app {app} --pcap in.pcap --verdicts out.csv {ARRAY}"));
        assert!(text.contains("every packet and verdict agrees"), "{text}");
        assert!(text.contains("counted      3 not IPv4"), "{text}");
        let verdicts: Vec<_> = rows(&folder.text("out.csv")).iter().map(|row| row.verdict).collect();
        assert_ne!(verdicts[0], 0x8000_0001, "{app}");
        assert_eq!(verdicts[1..], [0x8000_0001; 3], "{app}");
    }
    // Type and tag, as they are in the slot
    let kernel = "#include <hermes.h>\n\
        uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments) {\n\
        const uint8_t *type = slot->ethernet + 12;\n\
        return type[0] != 0x81 ? 0 : type[2] << 8 | type[3]; }\n";
    folder.write("tags.c", kernel);
    folder.succeed("kernel build tags.c -o tags.elf --rv32e");
    folder.succeed(&format!("run --kernel tags.elf --pcap in.pcap --verdicts out.csv {ARRAY}"));
    let found: Vec<_> = rows(&folder.text("out.csv")).iter().map(|row| row.verdict).collect();
    assert_eq!(found, [0, 0x2007, 0x2007, 0]);
}

/// The kernels that the kernel writer's guide shows do what it says.
#[test]
fn kernels_of_the_guide() {
    let folder = Folder::new();
    let guide = include_str!("../docs/kernels.md");
    let block = |from: &str, to: &str| -> String {
        let start = guide.find(from).expect("the block begins");
        let end = start + guide[start..].find(to).expect("the block ends");
        guide[start..end]
            .lines()
            .map(|line| line.strip_prefix("    ").unwrap_or(line).to_string() + "\n")
            .collect()
    };
    folder.write("nodns.c", block("    #include <hermes.h>\n", "Build it, see"));
    folder.write(
        "nodns.S",
        block("        .include \"packet.inc\"\n        .include \"check.inc\"", "    hermes kernel"),
    );
    folder.write("headers", "167772161 3221225985 1000 53 17\n167772161 3221225985 1000 80 6\n");
    folder.succeed("gen-trace --kind fixed:64 --packets 200 --headers headers -o in.pcap");
    for source in ["nodns.c", "nodns.S"] {
        folder.succeed(&format!("kernel build {source} -o nodns.elf --rv32e"));
        let text = folder.succeed(&format!("run --kernel nodns.elf --pcap in.pcap {ARRAY}"));
        for verdict in ["drop: reason 100", "forward: port 0"] {
            assert!(text.contains(&format!("{verdict:<24} {:>10}", 100)), "{source}: {text}");
        }
    }
}
