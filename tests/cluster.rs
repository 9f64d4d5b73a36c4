//! `hermes cluster`.

mod common;

use std::io::{BufRead as _, BufReader, ErrorKind};
use std::net::UdpSocket;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use hermes_testbench::golden::roce::{opcode, Extended, RoceFrame};

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
    assert_eq!(folder.report("r.json"), folder.report("s.json"));
    for port in 0..3 {
        let [a, b] = ["caps", "more"].map(|name| folder.read(&format!("{name}/port-{port}.pcapng")));
        assert!(a == b, "port {port}");
    }
}

/// The array is the preset `node` unless another is named.
#[test]
fn the_preset_is_node() {
    let folder = folder();
    let text = folder.succeed(
        "cluster --nodes 2 --kernel k.elf --packets 20 --heap 4096 --duplicate 10 --stack-bytes 512",
    );
    assert!(text.contains("array        node: 1 core x 8 lanes, 8 warp slots, MCW 8"), "{text}");
}

/// A peer behind the socket, which is no array.
struct Peer {
    socket: UdpSocket,
    expect: u32,
    /// What was put here, by address.
    written: Vec<(u64, Vec<u8>)>,
    /// Acknowledged packets of ours, by sequence number, with syndrome.
    answers: Vec<(u32, u8)>,
}

const PEER_MAC: [u8; 6] = [0x52, 0x54, 0, 0, 0, 9];
const PEER_PAIR: u32 = 17;

impl Peer {
    /// A frame from here to queue pair 8 of node 0.
    fn frame(opcode: u8, sequence: u32, extended: Extended, payload: &[u8]) -> Vec<u8> {
        let frame = RoceFrame {
            to_mac: [2, 0, 0, 0, 0, 1],
            from_mac: PEER_MAC,
            type_of_service: 0,
            to_ip: [10, 0, 0, 1],
            from_ip: [10, 0, 0, 9],
            source_port: 0xc123,
            opcode,
            acknowledge: opcode == opcode::WRITE_ONLY,
            queue_pair: 8,
            sequence: sequence & 0xff_ffff,
            extended,
            payload: payload.to_vec(),
        };
        frame.bytes()
    }

    /// Takes frames, and answers puts, until `done`.
    fn serve(&mut self, done: impl Fn(&Self) -> bool) {
        let mut buffer = [0; 4096];
        while !done(self) {
            let (bytes, from) = match self.socket.recv_from(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                received => received.expect("a frame within the time-out"),
            };
            let frame = RoceFrame::parse(&buffer[..bytes]).expect("a frame of RoCEv2");
            assert_eq!((frame.to_mac, frame.to_ip, frame.queue_pair), (PEER_MAC, [10, 0, 0, 9], PEER_PAIR));
            match frame.extended {
                Extended::Acknowledge { syndrome, .. } => self.answers.push((frame.sequence, syndrome)),
                Extended::Rdma { address, key, length } => {
                    assert_eq!(
                        (frame.opcode, key, length as usize),
                        (opcode::WRITE_ONLY, 0x77, frame.payload.len())
                    );
                    if frame.sequence == self.expect {
                        self.expect = (self.expect + 1) & 0xff_ffff;
                        self.written.push((address, frame.payload));
                    }
                    let last = self.expect.wrapping_sub(1) & 0xff_ffff;
                    let message = self.written.len() as u32;
                    let answer = Extended::Acknowledge { syndrome: 0x1f, message };
                    let answer = Self::frame(opcode::ACKNOWLEDGE, last, answer, &[]);
                    self.socket.send_to(&answer, from).expect("a datagram");
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// A program behind the socket puts into the memory of a node and is acknowledged, and the node's
/// kernel puts into its memory.
#[test]
fn a_program_outside_puts_and_is_put_to() {
    let folder = folder();
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
    // A port that is free now.
    let free = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("an address");
    let remote = socket.local_addr().expect("an address");
    let peer = "mac=52:54:00:00:00:09,ip=10.0.0.9,qp=17,psn=0xfffffe,key=0x77,address=0x7f0000001000";
    let run = format!(
        "cluster --nodes 1 --kernel k.elf --packets 20 --heap 4096 --net-socket {free},{remote} --peer {peer} --linger 600 --net-timeout 1000000 --json r.json {SMALL}"
    );
    let mut child =
        folder.command(&run).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("hermes");
    let mut lines = BufReader::new(child.stderr.take().expect("its errors")).lines();
    let up = lines
        .by_ref()
        .map(|line| line.expect("a line"))
        .find(|line| line.starts_with("node 0: "))
        .expect("node 0");
    let number = |before: &str| -> u64 {
        let text = up.split(before).nth(1).expect(before).split([' ', ',']).next().expect("a number");
        text.strip_prefix("0x").map_or_else(|| text.parse(), |hex| u64::from_str_radix(hex, 16)).expect(text)
    };
    assert!(up.starts_with("node 0: 02:00:00:00:00:01, 10.0.0.1, heap 0x"), "{up}");
    assert!(up.contains("queue pair 8"), "{up}");
    let (heap, key) = (number("heap "), number("key ") as u32);
    let mut peer =
        Peer { socket, expect: number("first PSN ") as u32, written: Vec::new(), answers: Vec::new() };
    // Of the 20 packets of the kernel the odd ones go to the node after the last: to us.
    peer.serve(|peer| peer.written.len() == 10);
    for (number, (address, bytes)) in peer.written.iter().enumerate() {
        let packet = 2 * number as u64 + 1;
        assert_eq!(
            (*address, &bytes[..]),
            (0x7f00_0000_1000 + 8 * packet, &(packet << 32).to_le_bytes()[..])
        );
    }
    // And back: three puts, of which the sequence number goes round.
    for (number, sequence) in [0xff_fffe, 0xff_ffff, 0].into_iter().enumerate() {
        let put = Extended::Rdma { address: heap + 1000 + 5 * number as u64, key, length: 5 };
        let frame = Peer::frame(opcode::WRITE_ONLY, sequence, put, &[number as u8 + 1; 5]);
        peer.socket.send_to(&frame, free).expect("a datagram");
    }
    peer.serve(|peer| peer.answers.last() == Some(&(0, 0x1f)));
    assert!(peer.answers.iter().all(|(_, syndrome)| *syndrome == 0x1f));
    peer.socket.send_to(&[], free).expect("an empty datagram");
    assert!(child.wait().expect("its end").success());
    let report: serde_json::Value = serde_json::from_str(&folder.text("r.json")).expect("JSON");
    let mut memory = vec![0; 4096];
    for packet in (0..20_u64).step_by(2) {
        memory[8 * packet as usize..][..8].copy_from_slice(&(packet << 32).to_le_bytes());
    }
    for number in 0..3 {
        memory[1000 + 5 * number..][..5].fill(number as u8 + 1);
    }
    assert_eq!(report["nodes"][0]["heap_crc"], crc32fast::hash(&memory));
    assert_eq!(report["ports"][1]["sent"], 13, "what came from outside");
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
    let costs = "visible = 1\npoll = 2\nservice = 1\ndoorbell = 1\ncompletion = 1\n";
    folder.write("costs.toml", costs.replace('2', "-1"));
    folder.write("long.toml", costs.replace('2', "1000001"));
    folder.write("lacks.toml", costs.replace("poll = 2\n", ""));
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
        ("--nodes 0 --net-socket 127.0.0.1:0", "nodes: 0 is not possible; expected 1 to 8 with a socket"),
        (
            "--nodes 2 --net-socket 127.0.0.1:0,127.0.0.1:1,127.0.0.1:2",
            "--net-socket: 3 addresses; expected one or two",
        ),
        (
            "--nodes 2 --net-socket 127.0.0.1:0 --peer mac=52:54:00:00:00:09,ip=10.0.0.9,qp=1,psn=1,node=2",
            "node of the peer: 2 is not possible; expected 0 to 1",
        ),
        ("--nodes 2 --service fast", "--service fast: "),
        ("--nodes 2 --service dgpu:fast", "--service level `fast`: expected low, middle or high"),
        ("--nodes 2 --service costs.toml", "--service costs.toml: poll = -1: expected 0 to 1000000 ns"),
        ("--nodes 2 --service long.toml", "--service long.toml: poll = 1000001: expected 0 to 1000000 ns"),
        ("--nodes 2 --service lacks.toml", "missing field `poll`"),
        ("--nodes 2 --service lacks.toml", "--service lacks.toml: "),
        ("--nodes 2 --service apu:low,poll=-1", "--service `poll=-1`: expected 0 to 1000000 ns"),
        ("--nodes 2 --dump absent", "absent"),
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
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let address = taken.local_addr().expect("its address");
    folder.fail(
        &format!("cluster --nodes 2 --kernel k.elf --net-pcap caps --net-socket {address} {SMALL}"),
        &[&format!("socket {address}: Address already in use")],
    );
    for option in [
        "--corrupt-in tail",
        "--net-socket here",
        "--linger 1",
        "--net-socket 127.0.0.1:0 --peer qp=1",
        "--service apu --service-threads 0",
    ] {
        let run = format!("cluster --nodes 2 --kernel k.elf {option}");
        assert_eq!(folder.hermes(&run).status.code(), Some(2), "{option}");
    }
    // A capture of a port must not be an input.
    std::fs::create_dir(folder.path("caps")).expect("a folder");
    folder.succeed("gen-trace --kind imix --packets 3 -o caps/port-1.pcapng");
    folder.fail(
        "cluster --nodes 2 --kernel k.elf --net-pcap caps --pcap caps/port-1.pcapng",
        &["--net-pcap caps/port-1.pcapng: would overwrite --pcap caps/port-1.pcapng"],
    );
    let files = ["caps", "costs.toml", "empty.pcap", "k.S", "k.elf", "lacks.toml", "long.toml"];
    assert_eq!(folder.files(), files, "nothing was written");
}

/// A kernel that uses the queues of its warps, with the firmware that serves them; what it needs is
/// said.
#[test]
fn a_kernel_with_queues_plays_ping_pong() {
    let folder = Folder::new();
    folder.write("ping.c", include_str!("../kernels-asm/c/ping.c"));
    folder.succeed("kernel build ping.c -o ping.elf");
    let firmware = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels-asm/firmware/net.c");
    folder.succeed(&format!("firmware build {} -o net.elf", firmware.display()));
    let run = "cluster --nodes 2 --kernel ping.elf --packets 8 --own 20,8 --queues queues";
    folder.succeed(&format!("{run} --firmware net.elf --json r.json"));
    let report: serde_json::Value = serde_json::from_str(&folder.text("r.json")).expect("JSON");
    let nodes = report["nodes"].as_array().expect("nodes");
    assert_eq!(nodes.len(), 2);
    for node in nodes {
        for (field, value) in
            [("packets", 8), ("commands", 20), ("completed", 20), ("failed", 0), ("faults", 0)]
        {
            assert_eq!(node[field], value, "{field}: {node}");
        }
    }
    // Both got the last number.
    assert_eq!(nodes[0]["heap_crc"], nodes[1]["heap_crc"]);
    folder.fail(&format!("{run} --firmware absent.elf"), &["absent.elf"]);
}

/// Delays of zero change nothing; others come on top of what a get takes, but for the step in which
/// the kernel looks.
#[test]
fn threads_that_serve_a_node() {
    let folder = Folder::new();
    folder.write("get.c", include_str!("../kernels-asm/bench/get-latency.c"));
    folder.succeed("kernel build get.c -o get.elf");
    let firmware = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels-asm/firmware/net.c");
    folder.succeed(&format!("firmware build {} -o net.elf", firmware.display()));
    let zero = "visible = 0\npoll = 0\nservice = 0\ndoorbell = 0\ncompletion = 0\n";
    folder.write("zero.toml", zero);
    let run = |service: &str, name: &str| {
        std::fs::create_dir(folder.path(name)).expect("a folder");
        let run = "cluster --nodes 2 --kernel get.elf --packets 8 --own 8 --queues queues --firmware net.elf";
        let text = folder.succeed(&format!("{run} {service} --dump {name} --json {name}.json"));
        let heap = folder.read(&format!("{name}/heap-0.bin"));
        assert_eq!(folder.read(&format!("{name}/heap-1.bin")).len(), heap.len());
        let least = u32::from_le_bytes(heap[132..136].try_into().expect("a word"));
        (least, folder.report(&format!("{name}.json")), text)
    };
    let (ours, report, _) = run("", "ours");
    let (none, of_none, _) = run("--service zero.toml", "none");
    assert_eq!((none, &of_none["cycles"]), (ours, &report["cycles"]));
    let (low, of_low, text) = run("--service dgpu:low --service-threads 2", "low");
    let sum = 300 + 20 + 50 + 300 + 600 - 46;
    assert!((low - ours).abs_diff(sum) < 60, "{low} {ours}");
    for part in ["service      dgpu:low: visible 300, poll 20", "threads of node 0  9 messages, "] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert_eq!((&of_low["service"]["threads"], &of_low["service"]["completion"]), (&2.into(), &600.into()));
    let node = |number: usize| of_low["nodes"][number]["service"]["messages"].clone();
    assert_eq!((node(0), node(1)), (9.into(), 0.into()));
    // A slow memory is slower.
    let (_, slow, _) = run("--mem-latency 500", "slow");
    assert!(slow["cycles"].as_u64() > report["cycles"].as_u64());
}

/// A kernel whose work is known is checked before it starts, and what it did behind its end.
#[test]
fn jacobi_on_two_nodes() {
    let folder = Folder::new();
    let text = include_str!("../kernels-asm/c/jacobi.c");
    folder.write("jacobi.c", text);
    folder.write("wrong.c", text.replace("to[0] = word0;", "to[0] = word0 + 1;"));
    folder.write("other.c", text.replace("[] = \"jacobi\"", "[] = \"lattice\""));
    for kernel in ["jacobi", "wrong", "other"] {
        folder.succeed(&format!("kernel build {kernel}.c -o {kernel}.elf"));
    }
    let firmware = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels-asm/firmware/net.c");
    folder.succeed(&format!("firmware build {} -o net.elf", firmware.display()));
    let run = |kernel: &str, options: &str| {
        format!("cluster --nodes 2 --kernel {kernel}.elf --queues queues --firmware net.elf --json r.json {options}")
    };
    let good = "--packets 16 --own 8,2,5,6,4,0,9";
    for (options, error) in [
        ("--packets 16 --own 8,2,2,6,4,0,9", "jacobi.elf: --own: rows of a node 2: expected 3 to 16384"),
        ("--packets 16 --own 8,2", "jacobi.elf: --own: own words 2: expected 7: threads of a warp, warps,"),
        ("--packets 16 --own 4,2,5,6,4,0,9", "jacobi.elf: --own: threads of a warp 4: expected 8"),
        (
            "--packets 72 --own 8,9,9,6,4,0,9",
            "jacobi.elf: --own: warps 9: expected 1 to 8, those that can be on the cores at once",
        ),
        (
            "--packets 8 --own 8,2,5,6,4,0,9",
            "jacobi.elf: --packets 8: expected 16, one for each of 8 threads",
        ),
        (
            &format!("{good} --heap 2000"),
            "jacobi.elf: --heap: bytes of the heap 2000: expected at least 2368",
        ),
    ] {
        folder.fail(&run("jacobi", options), &[error]);
    }
    folder.fail("cluster --nodes 2 --kernel jacobi.elf --json r.json", &["jacobi.elf: expected --queues"]);
    let known = "other.elf: hermes_workload \"lattice\": expected jacobi, or a kernel without that variable";
    folder.fail(&run("other", good), &[known]);
    assert!(!folder.path("r.json").exists(), "nothing was started");
    let text = folder.succeed(&run("jacobi", &format!("{good} --service apu")));
    assert!(text.contains("  jacobi       4 iterations, last residual "), "{text}");
    assert!(text.contains("; every word and residual as expected"), "{text}");
    let workload = folder.report("r.json")["workload"].clone();
    assert_eq!((&workload["name"], workload["times"].as_array().unwrap().len()), (&"jacobi".into(), 4));
    folder.fail(&run("wrong", good), &["jacobi: node 0: row 0, column 0 is 0x"]);
}

/// Dropped packets and faults are told as `hermes run` tells them.
#[test]
fn drops_and_faults_of_nodes() {
    let folder = Folder::new();
    folder.write(
        "k.c",
        "#include <hermes.h>\nuint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)\n{\n\
         if (packet == 3) return VERDICT_DROP | DROP_NO_ROUTE;\nif (packet == 4) return 0xc0000005u;\n\
         if (packet == 5) __asm__ volatile(\"lw a0, 0(%0)\" : : \"r\"(2) : \"a0\");\nreturn 0;\n}\n",
    );
    folder.succeed("kernel build k.c -o k.elf");
    let output = folder
        .hermes(&format!("cluster --nodes 2 --kernel k.elf --packets 8 --heap 64 {SMALL} --json r.json"));
    let (text, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(text.contains("dropped by node 0  1 drop: no route"), "{text}");
    for part in [
        "node 0: fault: load address misaligned at PC 0x",
        "in kernel+",
        "(k.c:6), `lw ",
        "address 0x00000002 (the null address): 1 thread, the first with packet 5",
        "node 0: 1 of 8 packets ended with a fault",
    ] {
        assert!(error.contains(part), "{part} in\n{error}");
    }
    let nodes = folder.report("r.json")["nodes"].clone();
    assert_eq!((&nodes[1]["dropped"], &nodes[1]["faults"]), (&1.into(), &1.into()));
    assert_eq!(nodes[1]["verdicts"]["0xc0000005 returned, no fault"], 1);
    assert_eq!(nodes[1]["fault_causes"][0]["first_packet"], 5);
}

/// Firmware of the other mode would wait for ever.
#[test]
fn firmware_of_the_other_mode() {
    let folder = folder();
    for (mode, source) in [("queues", "net-paper.c"), ("paper", "net.c")] {
        let path = format!("{}/kernels-asm/firmware/{source}", env!("CARGO_MANIFEST_DIR"));
        folder.succeed(&format!("firmware build {path} -o net.elf"));
        let run = format!("cluster --nodes 2 --kernel k.elf --queues {mode} --firmware net.elf");
        let other = if mode == "queues" { "paper" } else { "queues" };
        let expected =
            format!("--firmware net.elf: serves the mode {other}; expected that of --queues {mode} (");
        folder.fail(&run, &[&expected]);
    }
}

#[test]
fn registers_of_the_network_interface() {
    let folder = folder();
    // Nothing arrives: a command takes as long as its retries.
    let cycles = |options: &str| {
        let run = "cluster --nodes 2 --kernel k.elf --packets 4 --heap 4096 --loss 100 --net-timeout 1000";
        let output = folder.hermes(&format!("{run} {SMALL} {options} --json r.json"));
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        folder.report("r.json")["cycles"].as_u64().expect("a number")
    };
    let (none, two) = (cycles("--net-retries 0"), cycles("--net-retries 2 --net-window 1"));
    assert!(none + 2_000 < two, "{none} and {two} cycles");
    let output = folder.hermes("cluster --nodes 2 --kernel k.elf --net-window 0");
    assert!(String::from_utf8_lossy(&output.stderr).contains("0 is not in 1..=32"), "{output:?}");
}
