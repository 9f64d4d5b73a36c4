//! Everything around the array in simulation.
//!
//! | folder | what is in it |
//! | --- | --- |
//! | `cosim` | the Verilated array with its memory and its host |
//! | `board` | the array on a board, over a serial line |
//! | `cluster` | several arrays and the switch between them |
//! | `traffic` | captures in and out, generated traffic, arrival schedules |
//! | `apps` | the apps: kernel, inputs, golden model |
//! | `chain` | chains of network functions: manifests, places in memory, golden model |
//! | `tables` | routing tables, rules and patterns: their files, and what kernels read in shared memory |
//! | `command` | programs on the command processor |
//! | `firmware` | firmware of the command processor: builds, loads, runs, explains it |
//! | `kernel` | builds packet kernels and loads them from ELF files |
//! | `iss` | the reference simulator of the instruction set |
//! | `litmus` | tests of the memory model |
//! | `reference` | packets on the reference simulator, with the layout of a run, and what a debugger needs |
//! | `lockstep` | compares what the cores retire with the reference simulator |
//! | `timeline` | what warps did in which cycle, as text and for the Perfetto viewer |
//! | `profile` | where the cycles of the warps go, by source line, function and instruction |
//! | `races` | data races of threads, and stores into the slots of other packets |
//! | `fuzz` | constrained-random programs, with shrinking and coverage |
//! | `golden` | golden models of the apps, and the report of a difference |
//! | `metrics` | throughput, delays, verdict counts; the run's report |
//! | `verdict` | the verdict word and its names |
//! | `slot` | the packet slot in shared memory |
//! | `input` | files that are read, or standard input, up to a size |
//! | `file_identity` | whether two paths stand for one file |
//! | `output`, `staging` | files that appear complete or not at all |
//! | `words` | words of reports and errors |

pub mod apps;
pub mod board;
pub mod chain;
pub mod clock;
pub mod cluster;
pub mod command;
pub mod cosim;
pub mod egress;
pub mod file_identity;
pub mod firmware;
pub mod frame;
pub mod fuzz;
pub mod golden;
pub mod harts;
pub mod input;
pub mod isa;
pub mod iss;
pub mod kernel;
pub mod litmus;
pub mod lockstep;
pub mod metrics;
pub mod model;
pub mod outcome;
pub mod output;
pub mod profile;
pub mod races;
pub mod reference;
pub mod slot;
pub mod staging;
pub mod tables;
pub mod timeline;
pub mod traffic;
pub mod verdict;
pub mod words;

/// The seed of a random test, of this crate or of another: that of `HERMES_SEED`, or 1; printed for
/// the reader of a failure.
#[must_use]
pub fn test_seed() -> u64 {
    let seed = std::env::var("HERMES_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    println!("HERMES_SEED={seed}");
    seed
}
