//! `firewall.c`: packets whose flows stand in tables of all nodes. What is expected comes from the
//! list of flows; the tables are made as the kernel's head says.

use std::collections::HashMap;

use hermes_testbench::cluster::QueueMode;
use hermes_testbench::cosim::Packet;
use hermes_testbench::kernel::RegisterClass;
use hermes_testbench::test_seed;
use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{source, Case, LANES, WARPS};

const PLACES_LOG2: u32 = 6;
const FLOWS: usize = 90;
const PACKETS: usize = 4 * WARPS * LANES;
/// Verdicts: `VERDICT_DROP` and a reason.
const NO_FLOW: u32 = 0x8000_000a;
const DROPPED: u32 = 0x8001_0000;
const NOT_IPV4: u32 = 0x8000_0001;

/// Source address, protocol and destination port.
type Flow = (u32, u8, u16);

/// The node and the two places of a flow.
fn places((address, protocol, port): Flow, nodes: usize) -> (usize, [usize; 2]) {
    let rest = u32::from(port) << 16 | u32::from(protocol) << 8;
    let mut hash = (address ^ rest.wrapping_mul(0x9e37_79b1)).wrapping_mul(0x85eb_ca6b);
    let node = ((u64::from(hash) * nodes as u64) >> 32) as usize;
    let mut next = || {
        hash = (hash ^ hash >> 15).wrapping_mul(0x2c1b_3c6d);
        (hash >> (32 - PLACES_LOG2)) as usize
    };
    (node, [next(), next()])
}

/// Tables of all nodes, and the flows that found a place in them, with what to do.
fn tables(random: &mut ChaCha8Rng, nodes: usize) -> (Vec<Vec<u64>>, HashMap<Flow, u8>) {
    let mut tables = vec![vec![0_u64; 1 << PLACES_LOG2]; nodes];
    let mut flows = HashMap::new();
    while flows.len() < FLOWS {
        let protocol = *[6, 17, 47].choose(random).unwrap();
        let port = if protocol == 47 { 0 } else { random.gen_range(0..3) };
        let flow: Flow = (0x0a00_0000 | random.gen_range(0..200), protocol, port);
        let (node, both) = places(flow, nodes);
        let free = both.into_iter().find(|place| tables[node][*place] == 0);
        if let (Some(place), false) = (free, flows.contains_key(&flow)) {
            let action = random.gen_range(1..=4);
            let rest = u64::from(port) << 16 | u64::from(protocol) << 8 | u64::from(action);
            tables[node][place] = rest << 32 | u64::from(flow.0);
            flows.insert(flow, action);
        }
    }
    (tables, flows)
}

/// A packet of a flow, with `options` words of options; a later fragment has no ports.
fn frame((address, protocol, port): Flow, options: usize, fragment: bool) -> Vec<u8> {
    let mut frame = vec![0; 14 + 20 + 4 * options + 26];
    frame[12] = 8;
    frame[14] = 0x45 + options as u8;
    frame[20] = u8::from(fragment);
    frame[23] = protocol;
    frame[26..30].copy_from_slice(&address.to_be_bytes());
    frame[36 + 4 * options..38 + 4 * options].copy_from_slice(&port.to_be_bytes());
    frame
}

fn filter(case: Case) {
    let mut random = ChaCha8Rng::seed_from_u64(test_seed());
    let (tables, flows) = tables(&mut random, case.nodes);
    let mut known: Vec<Flow> = flows.keys().copied().collect();
    known.sort_unstable();
    let (mut packets, mut expected) = (Vec::new(), Vec::new());
    for _ in 0..case.nodes {
        let (mut of_node, mut verdicts) = (Vec::new(), Vec::new());
        for _ in 0..PACKETS {
            let mut flow = *known.choose(&mut random).unwrap();
            match random.gen_range(0..8) {
                0 => flow.0 ^= 1 << random.gen_range(0..32),
                1 => flow.2 ^= 1 << random.gen_range(0..16),
                _ => {}
            }
            let fragment = random.gen_bool(0.1);
            let mut frame = frame(flow, random.gen_range(0..3), fragment);
            let port = if fragment || flow.1 == 47 { 0 } else { flow.2 };
            let mut verdict = match flows.get(&(flow.0, flow.1, port)) {
                None => NO_FLOW,
                Some(1) => DROPPED,
                Some(action) => u32::from(*action) - 2,
            };
            if random.gen_bool(0.1) {
                frame[12] = 0x86;
                verdict = NOT_IPV4;
            }
            of_node.push(Packet { frame, port: 0, flags: 0, arrival: 0 });
            verdicts.push(verdict);
        }
        packets.push(of_node);
        expected.push(verdicts);
    }
    let fill = |node: usize, _: &_| tables[node].iter().flat_map(|place| place.to_le_bytes()).collect();
    let heap_bytes = (8 << PLACES_LOG2) + 256 * WARPS as u32;
    let result = case.run(&source("c/firewall.c"), &packets, vec![PLACES_LOG2], heap_bytes, fill);
    for (node, expected) in result.nodes.iter().zip(&expected) {
        assert_eq!((node.faults, &node.verdicts), (0, expected), "{case:?}");
        // One or two look-ups of each packet that has a flow.
        let with_flow = expected.iter().filter(|verdict| **verdict != NOT_IPV4).count() as u32;
        assert!((with_flow + 1..2 * with_flow).contains(&node.service.taken), "{}", node.service.taken);
        assert_eq!(node.service.failed, 0);
    }
    let node = &result.nodes[0];
    let cycles = node.cycles.1 - node.cycles.0;
    println!("{case:?}: {PACKETS} packets, {} look-ups in {cycles} cycles", node.service.taken);
}

#[test]
fn flows_of_all_nodes() {
    filter(Case { mode: QueueMode::Queues, registers: RegisterClass::Rv32e, nodes: 2, loss: 0.0 });
    filter(Case { mode: QueueMode::Queues, registers: RegisterClass::Rv32i, nodes: 3, loss: 2.0 });
}

#[test]
fn flows_in_mode_paper() {
    filter(Case { mode: QueueMode::Paper, registers: RegisterClass::Rv32i, nodes: 2, loss: 2.0 });
    filter(Case { mode: QueueMode::Paper, registers: RegisterClass::Rv32e, nodes: 2, loss: 0.0 });
}
