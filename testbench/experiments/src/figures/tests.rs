//! Every figure, with results that are made up, all of them or some.

use hermes_testbench::cluster::{HartCounts, JacobiTimes, LineLockMet, ServiceCounts};
use hermes_testbench::cosim::PacketTimes;
use hermes_testbench::metrics::{Delays, Load};

use super::*;
use crate::chains::{ChainMeasured, ChainRun, FunctionMeasured};
use crate::job::{Job, FORMAT};
use crate::machine::{Machine, MachineMeasured, UnitArea};
use crate::media::{MediaMeasured, Pass};
use crate::nodes::{Benchmark, MessageTimes, Nodes, NodesMeasured, RateTimes, SizeTimes};
use crate::results::{Measured, Rate};

/// A result of a run, whose figures depend on `number`.
fn result(parameters: &Parameters, number: u64) -> ResultFile {
    let digest = |text: &str| crate::digest::digest(text.as_bytes());
    let job = Job {
        format: FORMAT,
        verilog: digest("verilog"),
        kernel: digest("kernel"),
        firmware: (parameters.delay_target > 0).then(|| digest("firmware")),
        tables: digest("tables"),
        parameters: parameters.clone(),
    };
    let packets = parameters.packets as u64;
    let rate = Rate { packets, warps: packets / 32, bytes: 60 * packets, cycles: packets * (2 + number % 7) };
    let scheduled = parameters.arrival_process().unwrap().is_scheduled();
    let time = |at: u64| PacketTimes {
        arrival: at,
        in_slot: at,
        start: at + 10,
        finish: at + 90 + number % 13,
        commit: at + 110 + number % 17 + at % 5,
        ..PacketTimes::default()
    };
    let times: Vec<_> = (0..100).map(time).collect();
    let measured = Measured {
        whole: rate,
        steady: (number % 3 > 0).then_some(rate),
        busy_cycles: rate.cycles,
        offered: packets,
        delivered: packets,
        dropped: 0,
        deferred_cycles: 0,
        delays: scheduled.then(|| Delays::of(&times, true)),
        histogram: if scheduled { vec![(100, 40), (130, 60)] } else { Vec::new() },
        delay_over_time: if scheduled {
            (0..64).map(|at| (at as f64, (at % 9) as f64)).collect()
        } else {
            Vec::new()
        },
        lines_read: packets,
        lines_written: packets,
        frame_lines: 2 * packets,
        ring_lines_read: packets,
        instructions: 30 * packets,
        lane_instructions: 900 * packets,
        active_cycles: rate.cycles,
        lost_cycles: BTreeMap::new(),
        load: parameters.array.load_counters.then(Load::default),
        nodes: parameters.nodes.as_ref().map(|nodes| of_nodes(nodes, number as u32)),
        media: parameters.media.map(|_| media(number as u32)),
        machine: parameters.machine.map(|machine| of_machine(machine, number as usize)),
        chain: parameters.chain.as_ref().map(|chain| of_chain(chain, packets, number)),
    };
    ResultFile { key: job.key().unwrap(), job, golden_checked: true, measured }
}

/// What a workload of several nodes might have measured.
fn of_nodes(nodes: &Nodes, number: u32) -> NodesMeasured {
    let sizes = (0..8).map(|log2| SizeTimes {
        bytes: 1 << (2 * log2),
        mean: f64::from(700 + 30 * number + (8 << log2)),
        least: 700 + 30 * number,
        first: 2_000,
    });
    let rate =
        RateTimes { commands: 640, cycles: 20_000 + number, call_mean: 90.0, call_p99: None, call_most: 400 };
    let harts =
        HartCounts { harts: 4, cycles: 30_000, awake_cycles: 3_000, instructions: 2_000, line_reads: 80 };
    NodesMeasured {
        cycles: 30_000,
        sizes: sizes.collect(),
        rate: matches!(nodes.benchmark, Benchmark::Rate { .. }).then_some(rate),
        iterations: match nodes.benchmark {
            Benchmark::Jacobi(_) => {
                vec![JacobiTimes { compute: 900, wait: 100 + number, reduce: 700 + number }; 6]
            }
            _ => Vec::new(),
        },
        allreduce: matches!(nodes.benchmark, Benchmark::Ring(_)).then_some(20_000 + 100 * number),
        adds: matches!(nodes.benchmark, Benchmark::Adds(_)).then_some(9_000 + number),
        line_lock: matches!(nodes.benchmark, Benchmark::LineLock(_))
            .then(|| LineLockMet { hits: 0.5 + f64::from(number % 5) / 10.0, ..LineLockMet::default() }),
        messages: matches!(nodes.benchmark, Benchmark::Messages(_))
            .then_some(MessageTimes { mean: f64::from(700 + number), first: 900 }),
        service: nodes.column.contains("pu:").then_some(ServiceCounts {
            messages: 640,
            signals: 3,
            busy_cycles: 18_000,
            waiting_cycles: 90_000,
        }),
        hart_cycles: 12_000,
        harts: nodes.counted.then_some(harts),
    }
}

/// What a run of a chain might have measured.
fn of_chain(chain: &ChainRun, packets: u64, number: u64) -> ChainMeasured {
    let function =
        FunctionMeasured { packets, warps: packets / 32, most_waiting: 3, core_cycles: 9_000, stay: 700.0 };
    let slots: u64 =
        chain.cores.iter().zip(&chain.warps).map(|(c, warps)| *c as u64 * u64::from(*warps)).sum();
    ChainMeasured {
        packets: packets / 2,
        cycles: packets * (9 + number % 5) / slots.min(8) + 100,
        bytes: 60 * packets,
        all: packets,
        functions: vec![function; chain.functions.len()],
    }
}

/// What a workload of the Pangaea paper might have measured.
fn media(number: u32) -> MediaMeasured {
    let cycles = 1_000 + 70 * (number % 5);
    let pass = Pass { cycles, instructions: 1_500, active_cycles: 1_900, threads: 640, ..Pass::default() };
    let times = (0..8).map(|part| [10 * part, 30 + 10 * part, 45 + 10 * part]).collect();
    MediaMeasured { passes: vec![pass; 2], code_bytes: 400, code_accesses: 20, times }
}

/// What might be measured of an array.
fn of_machine(machine: Machine, number: usize) -> MachineMeasured {
    let unit = |name: &str, luts| UnitArea {
        unit: name.to_string(),
        luts: luts + number,
        flip_flops: luts / 2,
        block_rams: 3,
        multipliers: 4,
    };
    let starts = |first: u64| (0..20).map(|at| first + at % 3).collect();
    match machine {
        Machine::Area => MachineMeasured {
            units: vec![
                unit("core_0", 20_000),
                unit("core_1", 20_000),
                unit("command", 7_000),
                unit("memory", 5_000),
                unit("dispatch", 900),
                unit("spawner", 700),
                unit("hermes_top", 10),
            ],
            yosys: "Yosys 0.23".to_string(),
            ..MachineMeasured::default()
        },
        Machine::Start => {
            MachineMeasured { spawned: starts(10), pushed: starts(30), ..MachineMeasured::default() }
        }
    }
}

/// What is no number, or a sentence with a hole.
const HOLES: [&str; 7] = ["inf", "NaN", "()", ": .", " .", ", .", "  "];

/// A plan that has a run which its array cannot do would end with an error.
#[test]
fn runs_on_nodes_are_possible() {
    for experiment in COMPNET {
        for scale in [Scale::Quick, Scale::Full] {
            for cell in (experiment.cells)(scale).unwrap() {
                let possible = cell.parameters.validate();
                assert!(possible.is_ok(), "{} {:?}: {possible:?}", experiment.name, cell.labels);
            }
        }
    }
}

#[test]
fn figures_with_and_without_some_results() {
    for scale in [Scale::Quick, Scale::Full] {
        for experiment in every() {
            let cells = (experiment.cells)(scale).unwrap();
            let planned: Vec<_> = cells
                .iter()
                .enumerate()
                .map(|(number, cell)| {
                    let result = result(&cell.parameters, number as u64);
                    (PlannedCell { labels: cell.labels.clone(), key: result.key.clone() }, result)
                })
                .collect();
            // All results; then without each of a good number of them; without all of an app.
            let step = planned.len().div_ceil(12).max(1);
            let apps: Vec<_> = planned.iter().map(|(cell, _)| label(&cell.labels, "app")).collect();
            let workloads: Vec<_> = planned.iter().map(|(cell, _)| label(&cell.labels, "kernel")).collect();
            let mut lacking: Vec<Box<dyn Fn(usize) -> bool + '_>> = vec![Box::new(|_| false)];
            lacking.extend(
                (0..planned.len())
                    .step_by(step)
                    .map(|lost| -> Box<dyn Fn(usize) -> bool> { Box::new(move |number| number == lost) }),
            );
            for app in APPS {
                let apps = &apps;
                lacking.push(Box::new(move |number| apps[number] == app.name));
            }
            let workloads = &workloads;
            lacking.push(Box::new(move |number| workloads[number] == "linear"));
            for (case, lacks) in lacking.iter().enumerate() {
                let results = Results {
                    scale,
                    axes: None,
                    title: experiment.name,
                    cells: planned
                        .iter()
                        .enumerate()
                        .map(|(number, (cell, result))| (cell, (!lacks(number)).then_some(result)))
                        .collect(),
                };
                let section = section(experiment.name, &results).unwrap();
                let name = format!("{} {scale:?}, case {case}", experiment.name);
                for text in [&section.sentence, &section.measured, &section.assumed, &section.differs] {
                    let hole = HOLES.iter().find(|hole| text.contains(**hole));
                    assert!(hole.is_none(), "{name}: {hole:?} in: {text}");
                }
                for row in &section.rows {
                    assert_eq!(row.len(), section.head.len(), "{name}: {row:?}");
                    assert!(
                        !row.iter().any(|cell| ["inf", "NaN", ""].contains(&cell.as_str())),
                        "{name}: {row:?}"
                    );
                }
                for plot in &section.plots {
                    plot.svg().unwrap_or_else(|error| panic!("{name}: {error}"));
                }
                let has_none =
                    ["hermes-area", "hermes-baseline", "pangaea-table2", "pangaea-table3", "pangaea-table5"]
                        .contains(&experiment.name);
                assert!(case > 0 || has_none || !section.plots.is_empty(), "{name}");
            }
        }
    }
}
