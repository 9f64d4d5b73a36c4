//! `hermes cluster`.

mod common;

use common::{frames, Folder};

/// The array of the tests, so that its model is built once.
const SMALL: &str = "--preset default --cores 1 --lanes 4 --warps 4 --l2-lines 16 --l1-lines 16";
const KERNEL: &str = include_str!("../testbench/tests/cluster/kernels/all_to_all.S");

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("k.S", KERNEL);
    folder.succeed("kernel build k.S -o k.elf");
    folder
}

#[test]
fn a_kernel_puts_from_every_node_to_every_node() {
    let folder = folder();
    let run = "cluster --nodes 3 --kernel k.elf --packets 30 --heap 4096 --loss 2 --reorder 2 --corrupt 2 --corrupt-in icrc";
    let text = folder.succeed(&format!("{run} {SMALL} --net-pcap caps --json r.json --status --threads 1"));
    let report: serde_json::Value = serde_json::from_str(&folder.text("r.json")).expect("JSON");
    let nodes = report["nodes"].as_array().expect("nodes");
    assert_eq!(nodes.len(), 3);
    for (number, node) in nodes.iter().enumerate() {
        for (field, value) in
            [("packets", 30), ("commands", 30), ("completed", 30), ("failed", 0), ("faults", 0)]
        {
            assert_eq!(node[field], value, "{field} of node {number}");
        }
        let crc = node["heap_crc"].as_u64().expect("a number");
        assert!(text.contains(&format!("{crc:#x}")), "{text}");
    }
    let sent = report["ports"][1]["sent"].as_u64().expect("frames");
    let received = report["ports"][1]["received"].as_u64().expect("frames");
    assert_eq!(frames(folder.path("caps/port-1.pcapng")).len() as u64, sent + received);
    for part in [
        "k.elf on 3 nodes",
        "2 % lost, 2 % reordered, 2 % damaged (icrc)",
        "network interface of node 2",
        "10.0.0.3",
        "frames written",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    // Another number of threads: the same report, and the same bytes.
    folder.succeed(&format!("{run} {SMALL} --net-pcap more --json s.json --threads 3"));
    assert!(folder.text("r.json") == folder.text("s.json"));
    for port in 0..3 {
        let [a, b] = ["caps", "more"].map(|name| folder.read(&format!("{name}/port-{port}.pcapng")));
        assert!(a == b, "port {port}");
    }
}

/// The array is the preset `node` unless another is named.
#[test]
fn the_preset_is_node() {
    let folder = folder();
    let text = folder.succeed("cluster --nodes 2 --kernel k.elf --packets 20 --heap 4096 --duplicate 10");
    assert!(text.contains("array        node: 1 cores x 8 lanes, 8 warp slots, MCW 8"), "{text}");
}

/// Commands that fail: the report says so, and so does the exit code.
#[test]
fn commands_that_fail_fail_the_run() {
    let folder = folder();
    // A heap of 64 bytes: what packets 8 and on write, and all of node 1, is outside.
    let run = format!("cluster --nodes 2 --kernel k.elf --packets 10 --heap 64 {SMALL} --json r.json");
    folder.fail(&run, &["node 0: 2 of 10 commands failed, the latest with code 0x83"]);
    let report: serde_json::Value = serde_json::from_str(&folder.text("r.json")).expect("JSON");
    assert_eq!((&report["nodes"][0]["code"], &report["nodes"][1]["failed"]), (&0x83.into(), &10.into()));
}

#[test]
fn bad_input() {
    let folder = folder();
    folder.write("empty.pcap", "");
    let run = "cluster --kernel k.elf --json r.json --net-pcap caps";
    for (options, error) in [
        ("--nodes 0", "nodes: 0 is not possible; expected 2 to 8"),
        ("--nodes 1", "nodes: 1 is not possible; expected 2 to 8"),
        ("--nodes 9", "nodes: 9 is not possible; expected 2 to 8"),
        ("--nodes 2 --loss 101", "loss: 101 is not possible; expected 0 to 100 percent"),
        ("--nodes 2 --corrupt NaN", "corrupt: NaN is not possible; expected 0 to 100 percent"),
        ("--nodes 2 --latency 5", "latency: 5 is not possible; expected 10 to 100000 cycles"),
        ("--nodes 2 --rate 0", "rate: 0 is not possible; expected 1 to 1000 Gbit/s"),
        ("--nodes 2 --threads 0", "threads: 0 is not possible; expected 1 or more"),
        ("--nodes 2 --link 2:loss=1", "node of a link: 2 is not possible; expected 0 to 1"),
        ("--nodes 2 --link loss=1", "--link loss=1: expected NODE:NAME=VALUE,..."),
        ("--nodes 2 --link 0:speed=1", "--link 0:speed=1: speed: expected latency, rate, loss"),
        ("--nodes 2 --link 0:loss=200", "loss: 200 is not possible; expected 0 to 100 percent"),
        ("--nodes 2 --heap 1", "--heap 1: expected 64 to 67108864 bytes"),
        ("--nodes 2 --packets 0", "--packets 0: expected 1 to 1048576"),
        ("--nodes 2 --commands 0", "--commands 0: expected 1 to 1048576"),
        ("--nodes 2 --pcap none.pcap", "none.pcap: No such file"),
        ("--nodes 2 --pcap empty.pcap", "empty.pcap: the file is empty"),
        ("--nodes 2 --cores 33", "cores: 33 is not possible; expected 1 to 32"),
        (
            "--nodes 2 --preset mesh",
            "preset: `mesh` is not known; expected one of paper, default, fpga, pangaea, node",
        ),
    ] {
        folder.fail(&format!("{run} {options}"), &[error]);
    }
    folder.fail("cluster --nodes 2 --kernel none.elf --net-pcap caps", &["none.elf: No such file"]);
    folder.fail(
        &format!("cluster --nodes 2 --kernel k.elf --net-pcap none/caps --json r.json {SMALL}"),
        &["--net-pcap none/caps: No such file"],
    );
    let option = "cluster --nodes 2 --kernel k.elf --corrupt-in tail";
    assert_eq!(folder.hermes(option).status.code(), Some(2));
    // A capture of a port must not be an input.
    std::fs::create_dir(folder.path("caps")).expect("a folder");
    folder.succeed("gen-trace --kind imix --packets 3 -o caps/port-1.pcapng");
    folder.fail(
        "cluster --nodes 2 --kernel k.elf --net-pcap caps --pcap caps/port-1.pcapng",
        &["--net-pcap caps/port-1.pcapng: would overwrite --pcap caps/port-1.pcapng"],
    );
    assert_eq!(folder.files(), ["caps", "empty.pcap", "k.S", "k.elf"], "nothing was written");
}
