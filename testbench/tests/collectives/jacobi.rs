//! `jacobi.c`: every word and the residual of every iteration, bit by bit those of plain Rust.

use std::fs;
use std::path::Path;

use hermes_testbench::cluster::{self, ClusterOptions, Jacobi, OutsideOptions, QueueMode};
use hermes_testbench::kernel::RegisterClass;

use super::small_node::{library, lossy, options, program};
use super::{idle_packets, source, Case, LANES, WARPS};

const JACOBI: Jacobi = Jacobi { warps: WARPS as u32, rows: 8, columns: 8, iterations: 3, limit: 0, seed: 1 };

/// Runs the kernel `source`; the first word that is wrong, if one is, or the iterations.
fn run(case: Case, jacobi: Jacobi, source: &Path, options: &ClusterOptions) -> Result<usize, String> {
    let folder = tempfile::tempdir().unwrap();
    let packets = idle_packets(case.nodes, jacobi.warps as usize * LANES);
    let mut program = program(folder.path(), case.mode, source, case.registers, packets);
    jacobi.check(WARPS, jacobi.heap_bytes()).unwrap();
    program.own = jacobi.own(LANES);
    program.heap_bytes = jacobi.heap_bytes() as u32;
    program.setup.watchdog = 400_000;
    let result = cluster::run(library(), options, |node| program.run(node, |_, _| Vec::new())).unwrap();
    let golden = jacobi.golden(case.nodes);
    for (number, node) in result.nodes.iter().enumerate() {
        if node.faults > 0 || node.verdicts.iter().any(|verdict| *verdict != 0) {
            return Err(format!("node {number}: {} faults, {:x?}", node.faults, node.verdicts));
        }
        let times = jacobi.compare(&golden, number, node.heap())?;
        let phases: u32 = times.iter().map(|times| times.all()).sum();
        assert!(u64::from(phases) < node.cycles.1 - node.cycles.0, "{times:?}");
    }
    let lost = result.ports.iter().map(|port| port.faults.lost).sum::<u64>();
    assert_eq!(lost > 0, case.loss > 0.0);
    Ok(golden.residuals.len())
}

fn relax(case: Case, jacobi: Jacobi) -> usize {
    let options = options(case.nodes, lossy(case.loss));
    run(case, jacobi, &source("c/jacobi.c"), &options)
        .unwrap_or_else(|error| panic!("{case:?}, {jacobi:?}: {error}"))
}

const QUEUES: Case = Case { mode: QueueMode::Queues, registers: RegisterClass::Rv32i, nodes: 2, loss: 0.0 };

#[test]
fn fields_and_residuals() {
    relax(QUEUES, JACOBI);
    // A warp with both edges, and neighbours behind them.
    relax(
        Case { nodes: 3, registers: RegisterClass::Rv32e, ..QUEUES },
        Jacobi { warps: 1, rows: 5, columns: 7, iterations: 2, ..JACOBI },
    );
    // A row each, and rows that are put out of the command.
    relax(Case { nodes: 8, ..QUEUES }, Jacobi { warps: 3, rows: 3, columns: 3, iterations: 2, ..JACOBI });
}

/// One node has no neighbours. Only a cluster with a socket may be so small.
#[test]
fn one_node() {
    let case = Case { nodes: 1, ..QUEUES };
    let outside = OutsideOptions { local: "127.0.0.1:0".parse().unwrap(), remote: None, peer: None };
    let options = ClusterOptions { outside: Some(outside), ..options(1, lossy(0.0)) };
    run(case, Jacobi { columns: 1, ..JACOBI }, &source("c/jacobi.c"), &options).unwrap();
}

#[test]
fn firmware_alone() {
    relax(Case { mode: QueueMode::Paper, nodes: 3, ..QUEUES }, Jacobi { rows: 5, iterations: 2, ..JACOBI });
}

/// Rows that are put are lost, as signals and sums are.
#[test]
fn frames_are_lost() {
    relax(Case { nodes: 3, loss: 2.0, ..QUEUES }, Jacobi { columns: 19, iterations: 8, ..JACOBI });
}

#[test]
fn it_ends_by_the_residual() {
    let long = Jacobi { iterations: 9, ..JACOBI };
    let residuals = long.golden(2).residuals;
    // The first iteration with a residual below that of the fourth
    let limit = residuals[3] + 1;
    let expected = residuals.iter().position(|residual| *residual < limit).unwrap() + 1;
    assert!(expected < 9);
    assert_eq!(relax(QUEUES, Jacobi { limit, ..long }), expected);
}

/// Faults in the kernel that the comparison must find.
#[test]
fn wrong_kernels_are_found() {
    let text = fs::read_to_string(source("c/jacobi.c")).unwrap();
    let jacobi = Jacobi { rows: 5, iterations: 3, ..JACOBI };
    let sweep =
        "        *changes += sweep(row_of(node, iteration - 1, 1), row_of(node, iteration, 1), 1, node);\n";
    let send = "        if (node->my_pe > 0)\n            code = pass(ctx, node, iteration, 1, 0);\n";
    let mutants = [
        ("the row is put before it is computed", [sweep, send].concat(), [send, sweep].concat()),
        (
            "threads go on before all have come",
            "hermes_wait_until32(&control->done, HERMES_GE, iteration + 1);".to_string(),
            String::new(),
        ),
        (
            "nodes are not waited for",
            "uint32_t code = hermes_sum32_word(ctx, &control->reduction, &sum);".to_string(),
            "uint32_t code = 0; (void)ctx;".to_string(),
        ),
        (
            "the residual of a warp is left out",
            "        add(&control->changes, changes);".to_string(),
            "        if (warp) add(&control->changes, changes);".to_string(),
        ),
    ];
    for (what, from, to) in mutants {
        assert_eq!(text.matches(&from).count(), 1, "{what}: the kernel has another text");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jacobi.c");
        fs::write(&path, text.replace(&from, &to)).unwrap();
        let found = run(QUEUES, jacobi, &path, &options(2, lossy(0.0)));
        assert!(found.is_err(), "{what}: not found");
    }
}
