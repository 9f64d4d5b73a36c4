//! What harts do while a kernel runs: awake cycles, instructions, lines from the L2.

use hermes_testbench::cluster::{self, HartCounts, QueueMode};
use hermes_testbench::firmware::{build_firmware, Firmware};
use hermes_testbench::kernel::RegisterClass;

use super::{kernel, library, lossy, one_hart, options, program, puts, small_node, source};

/// Warps that put.
const WARPS: usize = 2;

/// Some warps put, with the firmware of `mode`: what the harts of each node did.
fn counts(mode: QueueMode) -> Vec<HartCounts> {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), mode, &kernel("puts.c"), RegisterClass::Rv32e, WARPS);
    let mut counts = Vec::new();
    puts::fill_parts(program, |program, heaps| {
        let result = cluster::run(library(), &options(lossy(0.0)), |node| {
            program.run_counted(node, |node, _| heaps[node].clone())
        });
        let nodes = result.unwrap().nodes;
        for node in &nodes {
            let harts = node.harts.unwrap();
            let cycles = node.cycles.1 - node.cycles.0;
            assert!((cycles..cycles + 2_000).contains(&harts.cycles), "{harts:?} of {cycles} cycles");
        }
        counts = nodes.iter().map(|node| node.harts.unwrap()).collect();
        nodes
    });
    counts
}

/// Harts that poll are awake in each cycle; those that wait in NEXT only while they serve.
#[test]
fn harts_that_poll_and_harts_that_wait() {
    let (queues, paper) = (counts(QueueMode::Queues), counts(QueueMode::Paper));
    let harts = small_node::config().command_threads as u32;
    for (queues, paper) in queues.iter().zip(&paper) {
        println!("queues: {queues:?}\npaper: {paper:?}");
        assert_eq!((queues.harts, paper.harts), (harts, harts));
        // Registers are read one behind the other.
        let all = u64::from(harts) * paper.cycles;
        assert!(paper.awake_cycles.abs_diff(all) <= u64::from(harts) * 200, "{paper:?}");
        assert!(2 * queues.awake_cycles < u64::from(harts) * queues.cycles, "{queues:?}");
        for counts in [queues, paper] {
            assert!(counts.instructions > 0 && counts.instructions < counts.awake_cycles, "{counts:?}");
            assert!(counts.line_reads > 0, "{counts:?}");
        }
        assert!(paper.instructions > 10 * queues.instructions);
    }
}

/// One hart serves all queues of its node, and sleeps in `wfi`.
#[test]
fn a_hart_that_sleeps_serves() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), QueueMode::Queues, &kernel("puts.c"), RegisterClass::Rv32e, WARPS);
    build_firmware(&[source("firmware/examples/net-sleep.c")], &program.firmware).unwrap();
    let firmware = Firmware::read(&program.firmware).unwrap();
    let address = firmware.executable.symbol("deliveries").unwrap().address;
    let mut found = Vec::new();
    puts::fill_parts(program, |program, heaps| {
        let result = cluster::run(one_hart(), &options(lossy(1.0)), |node| {
            let report = program.run_counted(node, |node, _| heaps[node].clone())?;
            let deliveries = u32::from_le_bytes(node.read_clean(address, 4)?.try_into().unwrap());
            Ok((report, deliveries))
        });
        let (reports, deliveries): (Vec<_>, Vec<_>) = result.unwrap().nodes.into_iter().unzip();
        found = reports.iter().map(|report| report.harts.unwrap()).zip(deliveries).collect();
        reports
    });
    println!("{found:?}");
    for (harts, deliveries) in found {
        assert!(deliveries > 50, "{deliveries} interrupts");
        assert_eq!(harts.harts, 1);
        assert!(2 * harts.awake_cycles < harts.cycles, "it sleeps: {harts:?}");
    }
}
