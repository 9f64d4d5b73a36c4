//! Puts of eight bytes whose commands a kernel wrote, and the host posts.

use std::path::Path;
use std::process::Command;

use hermes_rtl::config::Config;
use hermes_rtl::net::{counter, word};
use hermes_testbench::cosim::{
    run, ArraySetup, Device as _, Host, MemoryOptions, Packet, RunOptions, Simulation,
};
use hermes_testbench::golden::roce::{opcode, Extended, RoceFrame};
use hermes_testbench::model;
use hermes_testbench::test_seed;
use hermes_testbench::traffic::{self, Frame};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::Model;

use super::nodes::*;

const KERNEL: &str = include_str!("kernels/put.S");
/// Entries of a ring.
const ENTRIES: u32 = 64;
const PUT_INLINE: u32 = 1 | 1 << 10;

/// Runs a kernel on node 0 that writes `count` commands, posts them, and waits until they are done: what node 0 sent, and what the window of node
/// 1 must be.
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
    for entry in 0..count {
        let mut bytes = [0; 64];
        host.device_mut().read_memory(ring + 64 * entry, &mut bytes).unwrap();
        let mut command: [u32; 16] =
            std::array::from_fn(|i| u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap()));
        assert_eq!(command[0] >> 8 & 1, 1, "entry {entry} is published");
        command[0] &= !(1 << 8);
        while !host.post(PAIR[0], &command).unwrap() {}
    }
    let mut expected = vec![0xee; WINDOW_BYTES as usize];
    for (number, frame) in frames.iter().enumerate() {
        expected[8 * number..8 * number + 4].copy_from_slice(&frame[14..18]);
        expected[8 * number + 4..8 * number + 8].copy_from_slice(&(number as u32).to_le_bytes());
    }
    expected
}

/// Waits until node 1 has written the payload of `count` frames.
fn wait(nodes: &mut Nodes, count: u32) {
    for _ in 0..100 {
        nodes.run(500);
        if nodes.hosts[1].network_counter(counter::FRAMES_IN).unwrap() == count {
            return;
        }
    }
    panic!("node 1 wrote {} of {count}", nodes.hosts[1].network_counter(counter::FRAMES_IN).unwrap());
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
    assert_eq!(host.read("NET_ERROR").unwrap(), 0);
}

/// scapy and tshark, which do not know our sources, take every field and the ICRC of the frames for right.
#[test]
fn scapy_and_tshark_read_the_frames() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut nodes = Nodes::new(KERNEL, rng.gen());
    puts_of_a_kernel(&mut nodes, ENTRIES, &mut rng);
    wait(&mut nodes, ENTRIES);
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("puts.pcap");
    let frames: Vec<Frame> = nodes.sent[0]
        .iter()
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
    for index in [16 << 8, 1 << 28, 16, PAIR[0] << 8 | 0x84, 12, 15] {
        host.write("NET_INDEX", index).unwrap();
        assert_eq!((host.read("NET_DATA").unwrap(), host.read("NET_INDEX").unwrap()), (0, index));
        host.write("NET_DATA", 7).unwrap();
        assert_eq!(host.read("NET_STATUS").unwrap() & 1 << 9, 1 << 9);
        host.write("NET_STATUS", 1 << 9).unwrap();
    }
    for state in [16, 2 << 8 | PAIR[0], 4 << 8] {
        host.write("QP_COMMAND", state).unwrap();
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
        assert!(host.post(pair, &command).unwrap());
        errors += 1;
        assert_eq!(host.read("NET_ERROR").unwrap(), errors << 16 | code);
    }
    assert_eq!(
        host.network_counter(counter::FAILED).unwrap(),
        errors - 1,
        "without the one for no queue pair"
    );
    host.write("NET_CONTROL", 0).unwrap();
    assert!(host.post(PAIR[0], &[0; 16]).unwrap());
    assert_eq!(host.read("NET_ERROR").unwrap(), (errors + 1) << 16 | 0x88);
    assert_eq!(host.network_counter(counter::FRAMES_OUT).unwrap(), 0);
}

#[test]
fn an_array_without_a_network_interface_says_so() {
    let config = Config { lanes: 1, cores: 1, ..Config::preset("fpga").unwrap() };
    let design = hermes_rtl::top::emit_top(&config).unwrap();
    let library = Model::build(&design.verilog(), &model::options(&design)).unwrap();
    let simulation = Simulation::new(library.instantiate().unwrap(), 1 << 20, MemoryOptions::default());
    let error = Host::new(simulation.unwrap()).unwrap().enable_network(address(0), 0).unwrap_err();
    assert_eq!(error.to_string(), "the array has no network interface (s_axis_net, m_axis_net)");
}
