//! Figure 5 of the ComP-Net paper.

use hermes_testbench::cluster::QueueMode;
use hermes_testbench::kernel::RegisterClass;

use super::{lossy, program, run, source, LANES, WARPS};

const ROUNDS: u32 = 20;

/// Each warp plays with one of the other node: both memories have the last number of each, and each
/// put was performed once.
fn play(mode: QueueMode, warps: usize, registers: RegisterClass, loss: f64) {
    let folder = tempfile::tempdir().unwrap();
    let mut program = program(folder.path(), mode, &source("c/ping.c"), registers, warps);
    program.own = vec![ROUNDS, LANES as u32];
    let result = run(&program, lossy(loss), |_, area| vec![0; area.heap_bytes as usize]);
    for (number, node) in result.nodes.iter().enumerate() {
        assert_eq!((node.faults, &node.verdicts), (0, &vec![0; warps * LANES]), "node {number}");
        let mut expected = vec![0; node.area.heap_bytes as usize];
        for warp in 0..warps {
            expected[64 * warp..64 * warp + 4].copy_from_slice(&ROUNDS.to_le_bytes());
        }
        assert!(node.heap() == expected, "the heap of node {number}");
        assert_eq!((node.service.taken, node.service.failed), (warps as u32 * ROUNDS, 0));
        let written = node.status.counters.iter().find(|(name, _)| name == "frames written").unwrap().1;
        assert_eq!(written, warps as u32 * ROUNDS, "each put once");
        // Every queue is at its end, and off.
        let heads: u32 = (0..node.area.slots).map(|slot| node.word(node.area.control(slot))).sum();
        assert_eq!(heads, warps as u32 * ROUNDS);
        assert!((0..node.area.slots).all(|slot| node.word(node.area.control(slot) + 4) == 0));
    }
    let lost = result.ports.iter().map(|port| port.faults.lost).sum::<u64>();
    assert_eq!(lost > 0, loss > 0.0);
    let cycles = result.nodes[0].cycles;
    println!("{mode:?}, {warps} warps: {} cycles a round", (cycles.1 - cycles.0) / u64::from(ROUNDS));
}

in_both_modes! {
    fn one_warp_and_all_warps(mode) {
        play(mode, 1, RegisterClass::Rv32e, 0.0);
        play(mode, WARPS, RegisterClass::Rv32i, 0.0);
    }

    fn the_same_with_loss(mode) {
        play(mode, WARPS, RegisterClass::Rv32e, 2.0);
    }
}
