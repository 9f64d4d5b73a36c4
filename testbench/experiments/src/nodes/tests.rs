//! Jobs that cannot be run are refused before anything starts.

use super::*;
use crate::job::{Job, FORMAT};
use crate::model_file::ModelFile;

const JACOBI: Jacobi = Jacobi { warps: 8, rows: 16, columns: 16, iterations: 6, limit: 0, seed: 1 };
const RING: Ring = Ring { rings: 8, words: 2_048, piece: 1_024, rounds: 2, seed: 1 };
const RATE: Benchmark = Benchmark::Rate { warps: 8, commands: 40, gets: false, waits: false, interval: 0 };

fn nodes(benchmark: Benchmark) -> Nodes {
    Nodes { benchmark, nodes: 2, column: "queues".to_string(), threads: 1, counted: false }
}

/// As the runner reads them: the field, its value and what was expected.
fn refused(nodes: Nodes) -> String {
    let parameters = Parameters::of_nodes(nodes, 1, 4).unwrap();
    parameters.validate().map_err(|error| format!("{error:#}")).unwrap_err()
}

#[test]
fn values_are_checked() {
    let good = nodes(Benchmark::Jacobi(JACOBI));
    Parameters::of_nodes(good.clone(), 1, 4).unwrap().validate().unwrap();
    let jacobi = |jacobi: Jacobi| nodes(Benchmark::Jacobi(jacobi));
    let of = |column: &str| Nodes { column: column.to_string(), ..good.clone() };
    for (nodes, expected) in [
        (
            jacobi(Jacobi { rows: 2, warps: 1, ..JACOBI }),
            "nodes.benchmark: rows of a node 2: expected 3 to 16384",
        ),
        (jacobi(Jacobi { warps: 9, ..JACOBI }), "nodes.warps 9: expected 1 to 8, those on its cores"),
        (
            jacobi(Jacobi { rows: 16_384, columns: 16_384, ..JACOBI }),
            "nodes.benchmark: bytes of the heap 134217728: expected at least ",
        ),
        (
            nodes(Benchmark::Ring(Ring { words: 1, ..RING })),
            "nodes.benchmark: words of a ring 1: expected 2 or more, a word for each node",
        ),
        (nodes(Benchmark::Ring(Ring { rings: 9, ..RING })), "nodes.warps 9: expected 1 to 8"),
        (nodes(Benchmark::Adds(RING)), "nodes.nodes 2: expected 1 to 1"),
        (Nodes { nodes: 1, ..nodes(RATE) }, "nodes.nodes 1: expected 2 to 8"),
        (Nodes { nodes: 9, ..good.clone() }, "nodes.nodes 9: expected 1 to 8"),
        (
            Nodes { threads: 0, ..of("dgpu:low") },
            "nodes: service threads: 0 is not possible; expected 1 to 64",
        ),
        (of("dgpu:low,poll=1000001"), "`poll=1000001`: expected 0 to 1000000 ns"),
        (of("dgpu:low,poll=-1"), "`poll=-1`: expected 0 to 1000000 ns"),
        (of("cpu"), "column `cpu`: expected queues, wfi, paper, dgpu or apu"),
        (of("wfi"), "nodes.column wfi: expected an array with one hart and channels"),
    ] {
        let error = refused(nodes.clone());
        assert!(error.contains(expected), "{nodes:?}: {error}");
    }
}

/// The file is named too, and no model is built for it.
#[test]
fn a_job_file_with_such_a_value() {
    let good = nodes(Benchmark::Jacobi(JACOBI));
    let parameters = Parameters::of_nodes(Nodes { threads: 0, column: "apu".to_string(), ..good }, 1, 4);
    let parameters = parameters.unwrap();
    let digest = digest(b"");
    let verilog = digest.clone();
    let (kernel, tables) = (digest.clone(), digest);
    let job = Job { format: FORMAT, verilog, kernel, firmware: None, tables, parameters };
    let model = ModelFile { verilog: job.verilog.clone(), array: job.parameters.array.clone() }.key();
    let file = JobFile { key: job.key().unwrap(), model, estimate: Estimate::default(), job };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job.json");
    file.write(&path).unwrap();
    let error = format!("{:#}", JobFile::read(&path).unwrap_err());
    assert!(
        error.contains("job.json: nodes: service threads: 0 is not possible; expected 1 to 64"),
        "{error}"
    );
}

/// What a job says of itself goes through JSON; fields of other columns are left out.
#[test]
fn jobs_in_json() {
    let plain = serde_json::to_string(&nodes(RATE)).unwrap();
    assert!(!plain.contains("interval") && !plain.contains("counted"), "{plain}");
    let paced = Benchmark::Rate { warps: 8, commands: 40, gets: true, waits: true, interval: 900 };
    let paced = Nodes { counted: true, ..nodes(paced) };
    assert_eq!(serde_json::from_str::<Nodes>(&serde_json::to_string(&paced).unwrap()).unwrap(), paced);
    assert_eq!(paced.own(8), [40, 8, 8, 7, 900, 112]);
    assert_eq!(nodes(RATE).own(8), [40, 8, 8, 0, 0, 0]);
}
