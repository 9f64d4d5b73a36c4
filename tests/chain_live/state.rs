//! What functions keep in their state on the array.

use std::path::Path;

use hermes_rtl::config::Config;
use hermes_testbench::chain::{ChainPlan, Setting, Sharing, Surroundings};
use hermes_testbench::cosim::{Device as _, Latency, MemoryOptions, Packet, RunOptions, Simulation};
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::traffic;

use crate::bench::{array, library};
use crate::folder;

/// Bytes up to which a packet is of each class but the last one, as `limits.bin` has them.
const LIMITS: [u16; 3] = [127, 511, 1_023];

/// The counter of docs/chains.md counts what a firewall has dropped, class by class, in words of
/// its state: threads of several warps and cores at the same time.
#[test]
fn counters_stand_in_the_memory_of_the_array() {
    let folder = folder(10, 3);
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/chains");
    for name in ["lengths.c", "lengths.toml"] {
        folder.write(name, std::fs::read(examples.join(name)).unwrap());
    }
    folder.write("limits.bin", LIMITS.map(u16::to_le_bytes).concat());
    folder.succeed("gen-rules --kind fw --count 60 --deny 60 --seed 3 -o filters");
    folder.succeed("gen-trace --kind imix --packets 200 --rules filters --seed 3 -o in.pcap");
    folder.write(
        "edge.toml",
        "[[function]]\nmanifest = \"firewall.toml\"\nnext = { other = \"end\", drop = \"lengths\" }\ncores = 1\n\
         [[function]]\nmanifest = \"lengths.toml\"\nnext = \"end\"\ncores = 3\n",
    );
    folder.succeed("chain test edge.toml --pcap in.pcap --taps taps --cores 4 --atomics");
    let came = traffic::read(&folder.path("taps/lengths.pcap"), None).unwrap().frames;
    let mut expected = [0_u32; 4];
    for frame in &came {
        expected[LIMITS.iter().filter(|limit| frame.data.len() > (**limit).into()).count()] += 1;
    }
    assert!(expected.iter().filter(|count| **count > 1).count() > 2, "{expected:?}");

    let config = Config { atomics: true, function_branches: true, ..array() };
    let model = library(&config).instantiate().unwrap();
    let frames = traffic::read(&folder.path("in.pcap"), None).unwrap().frames;
    let plan = ChainPlan::read(&folder.path("edge.toml")).unwrap();
    let memory_bytes = 1 << 30;
    let chain = plan.place(Surroundings { config: &config, memory_bytes, frame_bytes: Some(1518) }).unwrap();
    let packets: Vec<_> = frames.iter().map(|frame| SlotPacket::new(frame, chain.slot_bytes_log2)).collect();
    let arriving =
        |packet: &SlotPacket| Packet { frame: packet.frame.clone(), port: 0, flags: 0, arrival: 0 };
    let arriving: Vec<_> = packets.iter().map(arriving).collect();
    let setting = Setting {
        chain: &chain,
        model: None,
        ports: false,
        memory_bytes,
        latency: Latency::Fixed(20),
        timeout: 64,
        options: RunOptions::default(),
        sharing: Sharing::Spatial,
        live: None,
    };
    let memory = MemoryOptions { latency: setting.latency, ..MemoryOptions::default() };
    let simulation = Simulation::new(model, memory_bytes, memory).unwrap();
    let (ran, mut host) = setting.simulate_on(simulation, &packets, &arriving, &mut |_| {}).unwrap();
    assert_eq!(ran.counts[1].lanes as usize, came.len());
    host.clean_and_invalidate_caches().unwrap();
    let mut state = [0; 1024];
    host.device_mut().read_memory(chain.function(1).region.state(), &mut state).unwrap();
    let word = |at: usize| u32::from_le_bytes(state[4 * at..4 * at + 4].try_into().unwrap());
    assert_eq!([0, 1, 2, 3].map(word), expected);
    assert!(state[16..].iter().all(|byte| *byte == 0), "what no class has");
}
