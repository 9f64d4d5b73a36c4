//! Puts of eight bytes whose commands a kernel wrote, and the host posts.

use std::path::Path;
use std::process::Command;

use hermes_rtl::config::Config;
use hermes_rtl::net::{state, word};
use hermes_rtl::types::{code, counter};
use hermes_testbench::cosim::{
    put, put_inline, run, ArraySetup, Device as _, Host, MemoryOptions, Packet, RunOptions, SentFrame,
    Simulation,
};
use hermes_testbench::golden::roce::{opcode, Extended, RoceFrame};
use hermes_testbench::model;
use hermes_testbench::test_seed;
use hermes_testbench::traffic::{self, Frame};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::nodes::*;

pub const KERNEL: &str = include_str!("kernels/put.S");
/// Entries of a ring.
const ENTRIES: u32 = 64;
const PUT_INLINE: u32 = 1 | 1 << 10;

/// Runs a kernel on node 0 that writes `count` commands, posts them, and waits until they are done:
/// what node 0 sent, and what the window of node 1 must be.
fn puts_of_a_kernel(nodes: &mut Nodes, count: u32, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let window = nodes.windows[0];
    let host = &mut nodes.hosts[0];
    let ring = host.rmalloc("the ring", (ENTRIES * 64) as usize).unwrap();
    let argument = [ring, window].iter().flat_map(|word| word.to_le_bytes()).collect();
    let setup =
        ArraySetup { ring_slots_log2: 6, slot_bytes_log2: 8, argument, eager: true, ..ArraySetup::default() };
    let layout = host.configure(&setup).unwrap();
    let frames: Vec<Vec<u8>> = (0..count).map(|_| (0..60).map(|_| rng.gen()).collect()).collect();
    let packets: Vec<Packet> =
        frames.iter().map(|frame| Packet { frame: frame.clone(), port: 0, flags: 0, arrival: 0 }).collect();
    run(host, &setup, &layout, &packets, RunOptions::default(), &mut |_| {}).unwrap();

    // The host serves the ring: each entry whose phase says so, in order.
    host.clean_caches().unwrap();
    let mut commands = vec![];
    for entry in 0..count {
        let mut bytes = [0; 64];
        host.device_mut().read_memory(ring + 64 * entry, &mut bytes).unwrap();
        let mut command: [u32; 16] =
            std::array::from_fn(|i| u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap()));
        assert_eq!(command[0] >> 8 & 1, 1, "entry {entry} is published");
        command[0] &= !(1 << 8);
        commands.push(command);
    }
    for command in commands {
        post(nodes, &command);
    }
    let mut expected = vec![0xee; WINDOW_BYTES as usize];
    for (number, frame) in frames.iter().enumerate() {
        expected[8 * number..8 * number + 4].copy_from_slice(&frame[14..18]);
        expected[8 * number + 4..8 * number + 8].copy_from_slice(&(number as u32).to_le_bytes());
    }
    expected
}

/// Posts a command on node 0 when there is room.
pub fn post(nodes: &mut Nodes, command: &[u32; 16]) {
    for _ in 0..1_000 {
        if nodes.hosts[0].post(PAIR[0], command, SOURCE).unwrap() {
            return;
        }
        nodes.run(200);
    }
    panic!("no room");
}

/// Waits until node 0 has completed `count` commands.
pub fn wait(nodes: &mut Nodes, count: u32) {
    for _ in 0..400 {
        nodes.run(500);
        if nodes.hosts[0].read("NET_COMPLETED").unwrap() == count {
            return;
        }
    }
    panic!("node 0 completed {} of {count}", nodes.hosts[0].read("NET_COMPLETED").unwrap());
}

/// 1,000 puts of the host over a wire that loses a twentieth of all frames: each is written once,
/// in order.
#[test]
fn puts_arrive_once_over_a_bad_wire() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut nodes = Nodes::new(KERNEL, rng.gen());
    nodes.loss = 50;
    let mut expected = vec![0xee; WINDOW_BYTES as usize];
    let puts = 1_000;
    for _ in 0..puts {
        let bytes: Vec<u8> = (0..rng.gen_range(1..=16)).map(|_| rng.gen()).collect();
        let at = rng.gen_range(0..=WINDOW_BYTES as usize - bytes.len());
        expected[at..at + bytes.len()].copy_from_slice(&bytes);
        let command = put_inline(nodes.windows[0] + at as u32, &bytes);
        post(&mut nodes, &command);
    }
    wait(&mut nodes, puts);
    assert!(nodes.window(1) == expected, "what stands in the window of node 1");
    assert_eq!(nodes.hosts[0].read("NET_ERROR").unwrap(), 0);
    assert_eq!(nodes.hosts[1].network_counter(counter::FRAMES_IN).unwrap(), puts, "each once");
    let resent = nodes.hosts[0].network_counter(counter::RESENT).unwrap();
    assert!(nodes.lost > 50 && resent > 20, "{} frames were lost, {resent} packets sent again", nodes.lost);
}

/// Puts of the bytes of memory, of any length, from any byte of a line to any other, over a wire
/// that loses.
#[test]
fn puts_of_any_length_at_every_offset() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut sent = Vec::new();
    for (mtu, loss) in [(1_024, 0), (256, 20), (4_096, 0)] {
        let mut nodes = Nodes::with_mtu(KERNEL, rng.gen(), mtu);
        nodes.loss = loss;
        let source: Vec<u8> = (0..WINDOW_BYTES).map(|_| rng.gen()).collect();
        nodes.hosts[0].device_mut().write_memory(nodes.windows[0], &source).unwrap();
        let mut expected = vec![0xee; WINDOW_BYTES as usize];
        // Each byte of a line is once the first of what is read, and once where it goes.
        let mut puts: Vec<(u32, u32, u32)> = (0..64)
            .map(|offset| (offset, (offset * 37 + rng.gen_range(0..2)) % 64, rng.gen_range(1..400)))
            .collect();
        puts.extend(
            [1, 63, 64, 65, mtu - 1, mtu, mtu + 1, 65_536]
                .map(|bytes| (rng.gen_range(0..0x1000), rng.gen_range(0..0x1000), bytes)),
        );
        let count = puts.len() as u32;
        let mut packets = 0;
        for (from, to, bytes) in puts {
            let line = 64 * rng.gen_range(0..64);
            let command = put(nodes.windows[0] + line + to, nodes.windows[0] + from, bytes);
            let (begin, from, length) = ((line + to) as usize, from as usize, bytes as usize);
            expected[begin..begin + length].copy_from_slice(&source[from..from + length]);
            packets += bytes.div_ceil(mtu);
            post(&mut nodes, &command);
        }
        wait(&mut nodes, count);
        assert_eq!(nodes.hosts[0].read("NET_ERROR").unwrap(), 0);
        assert!(nodes.window(1) == expected, "what stands in the window of node 1, MTU {mtu}");
        assert_eq!(nodes.hosts[1].network_counter(counter::FRAMES_IN).unwrap(), packets, "each once");
        assert_eq!(nodes.lost > 0, loss > 0, "{}", nodes.lost);
        assert!(!nodes.sent[0].is_empty());
        sent.append(&mut nodes.sent[0]);
    }
    judge(&sent);
}

/// A peer that never answers: its commands end, the queue pair is down, and works again after a
/// reset on both sides.
#[test]
fn a_silent_peer_and_a_new_connection() {
    let mut nodes = Nodes::new(KERNEL, 3);
    let (window, remote) = (nodes.windows[0], nodes.windows[1]);
    let host = &mut nodes.hosts[0];
    host.write("NET_TIMEOUT", 500).unwrap();
    host.write("NET_RETRIES", 2).unwrap();
    let command = put_inline(window, &0x1234_5678u32.to_le_bytes());
    nodes.loss = 1_000;
    for _ in 0..3 {
        assert!(nodes.hosts[0].post(PAIR[0], &command, SOURCE).unwrap());
    }
    wait(&mut nodes, 3);
    let host = &mut nodes.hosts[0];
    assert_eq!(host.read("NET_ERROR").unwrap(), 3 << 16 | code::DOWN as u32, "0x86, then 0x88 twice");
    assert_eq!(host.read("QP_DOWN").unwrap(), 1 << PAIR[0]);
    assert_eq!(host.network_counter(counter::TIMEOUTS).unwrap(), 3);
    host.write("QP_DOWN", 1 << PAIR[0]).unwrap();
    assert_eq!(host.read("QP_DOWN").unwrap(), 0);
    let settings = DOMAIN << 12 | 3 << 16 | 16 << 24;
    assert_eq!(host.queue_pair_word(PAIR[0], word::STATE).unwrap(), settings | state::ERROR as u32);
    // The other side is still up: it is taken down by its host.
    nodes.loss = 0;
    for (node, pair) in PAIR.iter().enumerate() {
        let host = &mut nodes.hosts[node];
        if node == 1 {
            let error = host.set_queue_pair_state(*pair, state::RESET).unwrap_err();
            assert_eq!(
                error.to_string(),
                "queue pair: 12 is not possible; expected one that may change to this state"
            );
            host.set_queue_pair_state(*pair, state::ERROR).unwrap();
        }
        host.set_queue_pair_state(*pair, state::RESET).unwrap();
    }
    nodes.connect([0x70_0000, 0x60_0000]);
    assert!(nodes.hosts[0].post(PAIR[0], &command, SOURCE).unwrap());
    wait(&mut nodes, 4);
    assert_eq!(nodes.hosts[0].read("NET_ERROR").unwrap() >> 16, 3, "no other failed");
    assert_eq!(nodes.window(1)[..4], 0x1234_5678u32.to_le_bytes());
    assert_eq!(nodes.windows[1], remote);
}

#[test]
fn a_kernel_puts_into_the_memory_of_another_node() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut nodes = Nodes::new(KERNEL, rng.gen());
    let expected = puts_of_a_kernel(&mut nodes, ENTRIES, &mut rng);
    wait(&mut nodes, ENTRIES);
    assert!(nodes.window(1) == expected, "what stands in the window of node 1");
    assert!(nodes.window(0).iter().all(|byte| *byte == 0xee), "nothing came to node 0");

    // Every frame, as the golden model reads it
    let puts = nodes.sent[0].iter().map(|sent| RoceFrame::parse(&sent.bytes).unwrap());
    let puts: Vec<RoceFrame> = puts.filter(|frame| frame.opcode == opcode::WRITE_ONLY).collect();
    assert_eq!(puts.len(), ENTRIES as usize);
    for (number, frame) in puts.into_iter().enumerate() {
        let at = 8 * number as u32;
        let good = RoceFrame {
            to_mac: address(1).mac,
            from_mac: address(0).mac,
            type_of_service: TYPE_OF_SERVICE,
            to_ip: address(1).ip,
            from_ip: address(0).ip,
            source_port: 0xc000 + PAIR[0] as u16,
            opcode: opcode::WRITE_ONLY,
            acknowledge: true,
            queue_pair: PAIR[1],
            sequence: (FIRST[0] + number as u32) & 0xff_ffff,
            extended: Extended::Rdma { address: (nodes.windows[1] + at).into(), key: KEY, length: 8 },
            payload: expected[at as usize..at as usize + 8].to_vec(),
        };
        assert_eq!(frame, good);
    }
    let host = &mut nodes.hosts[0];
    assert_eq!(host.read("NET_POSTED").unwrap(), ENTRIES);
    assert_eq!(host.read("NET_COMPLETED").unwrap(), ENTRIES);
    assert_eq!(host.read("NET_ERROR").unwrap(), 0);
    // Node 1 answered what it wrote.
    let answers: Vec<RoceFrame> =
        nodes.sent[1].iter().map(|sent| RoceFrame::parse(&sent.bytes).unwrap()).collect();
    let last = answers.last().unwrap();
    assert_eq!((last.opcode, last.queue_pair), (opcode::ACKNOWLEDGE, PAIR[0]));
    assert_eq!(last.sequence, (FIRST[0] + ENTRIES - 1) & 0xff_ffff);
    assert_eq!(last.extended, Extended::Acknowledge { syndrome: 0x1f, message: ENTRIES });
}

/// scapy and tshark, which do not know our sources, take every field and the ICRC of the frames for
/// right. To start them takes longer than to judge.
pub fn judge<'a>(sent: impl IntoIterator<Item = &'a SentFrame>) {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("puts.pcap");
    let frames: Vec<Frame> = sent
        .into_iter()
        .map(|sent| Frame {
            data: sent.bytes.clone(),
            wire_length: sent.bytes.len() as u32,
            timestamp: sent.cycle,
            port: 0,
        })
        .collect();
    traffic::write(&capture, &frames).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/roce/judge");
    let output = Command::new(&script).arg(&capture).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(&format!("{} frames", frames.len())), "{text}");
}

#[test]
fn scapy_and_tshark_read_the_frames() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut nodes = Nodes::new(KERNEL, rng.gen());
    puts_of_a_kernel(&mut nodes, ENTRIES, &mut rng);
    wait(&mut nodes, ENTRIES);
    assert!(nodes.sent.iter().all(|of_node| !of_node.is_empty()));
    judge(nodes.sent.iter().flatten());
}

#[test]
fn the_host_is_told_what_cannot_be() {
    let mut nodes = Nodes::new(KERNEL, 1);
    let window = nodes.windows[0];
    let host = &mut nodes.hosts[0];
    // A queue pair that is up is not changed, and shows what it is.
    host.write("NET_INDEX", PAIR[0] << 8 | word::IP as u32).unwrap();
    let ip = u32::from_be_bytes(address(1).ip);
    assert_eq!(host.read("NET_DATA").unwrap(), ip);
    host.write("NET_DATA", 7).unwrap();
    assert_eq!(host.read("NET_STATUS").unwrap() & 1 << 9, 1 << 9);
    assert_eq!(host.queue_pair_word(PAIR[0], word::IP).unwrap(), ip);
    assert_eq!(host.queue_pair_word(PAIR[0], word::SEND).unwrap(), FIRST[0]);
    host.write("NET_STATUS", 1 << 9).unwrap();
    assert_eq!(host.read("NET_STATUS").unwrap() & 1 << 9, 0);
    // Words and rows that are not there read 0, and refuse.
    for index in [16 << 8, 2 << 28, 16, PAIR[0] << 8 | 0x84, 1 << 28 | 4, 1 << 28 | 16 << 8] {
        host.write("NET_INDEX", index).unwrap();
        assert_eq!((host.read("NET_DATA").unwrap(), host.read("NET_INDEX").unwrap()), (0, index));
        host.write("NET_DATA", 7).unwrap();
        assert_eq!(host.read("NET_STATUS").unwrap() & 1 << 9, 1 << 9);
        host.write("NET_STATUS", 1 << 9).unwrap();
    }
    for command in [16, 2 << 8 | PAIR[0], PAIR[0], 3 << 8, 4 << 8] {
        host.write("QP_COMMAND", command).unwrap();
        assert_eq!(host.read("QP_COMMAND").unwrap(), 1 << 30);
    }
    let error = host.connect_queue_pair(16, &Default::default()).unwrap_err();
    assert_eq!(error.to_string(), "queue pair: 16 is not possible; expected 0 to 15");
    let error = host.connect_queue_pair(PAIR[0], &Default::default()).unwrap_err();
    assert_eq!(error.to_string(), format!("queue pair: {} is not possible; expected one in RESET", PAIR[0]));
    // Commands that cannot be
    let mut errors = 0;
    for (pair, remote, bytes, code) in [
        (PAIR[0], window + WINDOW_BYTES - 7, 8, 0x83),
        (PAIR[0], window - 1, 8, 0x83),
        (PAIR[0], window, 17, 0x84),
        (5, window, 8, 0x88),
        (PAIR[0] + 16, window, 8, 0x88),
    ] {
        let mut command = [0; 16];
        [command[0], command[1], command[3]] = [PUT_INLINE, remote, bytes];
        assert!(host.post(pair, &command, SOURCE).unwrap());
        errors += 1;
        assert_eq!(host.read("NET_ERROR").unwrap(), errors << 16 | code);
    }
    assert_eq!(
        host.network_counter(counter::FAILED).unwrap(),
        errors - 1,
        "without the one for no queue pair"
    );
    host.write("NET_CONTROL", 0).unwrap();
    assert!(host.post(PAIR[0], &[0; 16], SOURCE).unwrap());
    assert_eq!(host.read("NET_ERROR").unwrap(), (errors + 1) << 16 | 0x88);
    assert_eq!(host.network_counter(counter::FRAMES_OUT).unwrap(), 0);
}

#[test]
fn an_array_without_a_network_interface_says_so() {
    // The array of the tests `host_link`, which is built once for both.
    let config =
        Config { cores: 1, lanes: 1, warps: 8, command_threads: 1, ..Config::preset("fpga").unwrap() };
    let library = model::brief(&hermes_rtl::top::emit_top(&config).unwrap()).unwrap();
    let simulation = Simulation::new(library.instantiate().unwrap(), 1 << 20, MemoryOptions::default());
    let error = Host::new(simulation.unwrap()).unwrap().enable_network(address(0), 0).unwrap_err();
    assert_eq!(error.to_string(), "the array has no network interface (s_axis_net, m_axis_net)");
}
