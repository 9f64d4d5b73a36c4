//! `--races`: threads of different packets that touch the same memory without an order, and stores
//! into the packets of others. The array is that of the tests of traces.

mod common;

use common::Folder;

const ARRAY: &str = "--cores 2 --lanes 2 --warps 4";

/// A folder with `packets` packets of 64 bytes, and a kernel of this text in C.
fn folder(text: &str, packets: u32) -> Folder {
    let folder = Folder::for_short_runs();
    folder.write("k.c", text);
    folder.succeed("kernel build k.c -o k.elf --rv32e --atomics");
    folder.succeed(&format!("gen-trace --kind fixed:64 --packets {packets} -o in.pcap"));
    folder
}

/// The body of a kernel, behind some declarations.
fn kernel(declarations: &str, body: &str) -> String {
    format!(
        "#include <hermes.h>\n{declarations}\n\
         uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)\n{{\n{body}\nreturn 0;\n}}\n"
    )
}

/// What the issue tells of: 200 packets leave a small number.
#[test]
fn a_counter_without_atomic_operations() {
    // The load is in line 5, the store in line 6.
    let text = kernel("volatile uint32_t hits[64];", "uint32_t before = hits[1];\nhits[1] = before + 1;");
    let folder = folder(&text, 200);
    let lines = ["load at PC 0x", "(k.c:5)", "store at PC 0x", "(k.c:6)", "(byte 4 of hits)"];
    let run = format!("-q run --kernel k.elf --pcap in.pcap {ARRAY} --atomics --json report.json");
    folder.fail(&format!("{run} --races"), &lines);
    let report = folder.report("report.json");
    let races = report["races"].as_array().expect("a list");
    assert_eq!(races.len(), 2, "load and store, store and store");
    for race in races {
        let accesses = race["accesses"].as_array().expect("two");
        let of = |number: usize, field: &str| accesses[number][field].clone();
        assert!(of(0, "packet").is_u64() && of(0, "packet") != of(1, "packet"), "{race}");
        let kinds = [of(0, "kind"), of(1, "kind")].map(|kind| kind.as_str().unwrap().to_string());
        assert!(kinds.contains(&"store".to_string()), "{race}");
        assert!(race["times"].as_u64() > Some(20), "{race}");
    }
    // Nobody looks unless asked, here on the array of the tests of kernels.
    let other = "--cores 1 --lanes 4 --warps 4 --compare-and-swap";
    folder.succeed(&run.replace(&format!("{ARRAY} --atomics"), other));
    assert!(folder.report("report.json")["races"].is_null());
    // The lanes of one warp are enough.
    folder.fail(&format!("iss --kernel k.elf --pcap in.pcap {ARRAY} --atomics"), &lines);
}

#[test]
fn stores_into_the_packets_of_others() {
    let text = kernel("", "((uint32_t *)slot)[128 / 4 + 8] = 0xdeadbeef;");
    let folder = folder(&text, 20);
    let told = [
        "store into another packet: store at PC 0x",
        "(k.c:5)",
        "by packet 0, goes to ring slot 1, that of packet 1",
    ];
    folder.fail(
        &format!("run --kernel k.elf --pcap in.pcap {ARRAY} --atomics --races --json report.json"),
        &told,
    );
    let stores = folder.report("report.json")["foreign_stores"].clone();
    assert_eq!((stores[0]["times"].as_u64(), stores[0]["other_packet"].as_u64()), (Some(20), Some(1)));
    folder.fail(
        &format!("iss --kernel k.elf --pcap in.pcap {ARRAY} --atomics --packet 5"),
        &["by packet 4", "that of packet 5"],
    );
}

/// Atomic operations, locks by release and acquire, memory of hardware threads, stacks and slots
/// that are used again.
#[test]
fn what_is_ordered_is_not_told() {
    let ordered = [
        kernel(
            "#include <stdatomic.h>\natomic_uint hits; uint32_t first;",
            "if (atomic_fetch_add(&hits, 1) == 0) first = packet;",
        ),
        // Whoever comes later reads what the first one wrote before the flag.
        kernel(
            "#include <stdatomic.h>\natomic_uint turn, ready; uint32_t value;",
            "if (atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) == 0) {\n\
             value = 7;\natomic_store_explicit(&ready, 1, memory_order_release);\n} else if \
             (atomic_load_explicit(&ready, memory_order_acquire))\nslot->port = value;",
        ),
        // A counter of its own for each hardware thread.
        kernel(
            "uint32_t hits[2 * 32 * 2];",
            "hits[(hermes_core() << 5 | hermes_warp_slot()) << 1 | hermes_lane()]++;",
        ),
        kernel("", "volatile uint32_t words[16]; for (uint32_t i = 0; i < 16; i++) words[i] = packet + i;\nslot->port = words[packet & 15];"),
    ];
    for text in ordered {
        let folder = folder(&text, 300);
        let run = format!("-q run --kernel k.elf --pcap in.pcap {ARRAY} --atomics --races");
        let text = folder.succeed(&run);
        assert!(text.contains("  races        none\n"), "{text}");
        folder.succeed(&format!("iss --kernel k.elf --pcap in.pcap {ARRAY} --atomics --packet 100 --replay"));
    }
    // The same without its order.
    let unordered = [
        kernel(
            "#include <stdatomic.h>\natomic_uint turn, ready; uint32_t value;",
            "if (atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) == 0) {\n\
             value = 7;\natomic_store_explicit(&ready, 1, memory_order_relaxed);\n} else if \
             (atomic_load_explicit(&ready, memory_order_relaxed))\nslot->port = value;",
        ),
        kernel("uint32_t hits[32];", "hits[hermes_lane()]++;"),
        kernel("uint32_t last;", "if (packet == 3) last = packet;\nif (packet == 250) slot->port = last;"),
    ];
    for text in unordered {
        let folder = folder(&text, 300);
        folder.fail(&format!("-q run --kernel k.elf --pcap in.pcap {ARRAY} --atomics --races"), &["race: "]);
    }
}

/// No app shares memory without an order.
#[test]
fn apps_have_no_races() {
    let folder = Folder::new();
    folder.succeed("gen-routes --count 300 --ports 30 --seed 1 -o routes.txt");
    folder.succeed("gen-rules --kind acl --count 40 --deny 20 --seed 1 -o acl.rules");
    folder.succeed("gen-rules --kind snort --count 60 --seed 3 -o snort.rules");
    folder.succeed("gen-trace --kind imix --packets 30 --seed 7 -o in.pcap");
    let keys = "spi 0x1001\nsource 192.0.2.1\ndestination 198.51.100.2\nnonce 00a00b30\n\
                aes-128-ctr 2b7e151628aed2a6abf7158809cf4f3c\n\
                hmac-sha1-96 0102030405060708090a0b0c0d0e0f1011121314\n";
    folder.write("keys", keys);
    for app in [
        "dec-ttl",
        "check-ip-header",
        "route-lookup --routes routes.txt",
        "classifier --rules acl.rules",
        "classifier-bv --rules acl.rules",
        "router --rules acl.rules --routes routes.txt",
        "nids --rules snort.rules",
        "dpi --rules snort.rules",
        "fragment --mtu 576",
        "ipsec --keys keys --max-packets 12",
    ] {
        let text = folder.succeed(&format!("-q run --app {app} --pcap in.pcap {ARRAY} --races"));
        assert!(text.contains("  races        none\n"), "{app}: {text}");
        let error =
            folder.hermes(&format!("iss --app {app} --pcap in.pcap --lanes 8 --packet 9 --replay")).stderr;
        assert!(error.is_empty(), "{app}: {}", String::from_utf8_lossy(&error));
    }
}
