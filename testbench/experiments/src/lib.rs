//! Experiments on the simulated array.
//!
//! A [`Job`] is one simulation: a process reads its file and writes one file of results. A [`Plan`]
//! has the jobs of one or more experiments in a folder; any engine may run them, on any number of
//! machines. The page is made from the results alone, so it has the same bytes wherever and in
//! whatever order they were computed.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `parameters`, `job` | what a simulation is of; its file and its key |
//! | `workload`, `execute` | tables and packets from a seed; the simulation, compared with its golden model |
//! | `nodes` | jobs on several nodes, of the workloads of the ComP-Net paper |
//! | `media` | jobs of the workloads of the Pangaea paper |
//! | `machine`, `spawn_bench` | jobs that measure the array itself: LUTs, the start of threads |
//! | `chains` | jobs of the chains of the G-NET paper |
//! | `results` | what a job measured, and its file |
//! | `plan`, `folder`, `snakefile`, `model_file` | a folder with jobs, and what runs them |
//! | `pool` | a plain pool of processes, for users without an engine |
//! | `sweep` | a plan of the user's own, from a TOML file |
//! | `figures` | the figures and tables of the papers |
//! | `prediction` | delays that are to be expected, from a few runs of an array |
//! | `report` | the page |

mod chains;
mod digest;
mod execute;
pub mod figures;
mod folder;
mod job;
mod machine;
mod media;
mod model_file;
mod nodes;
mod parameters;
mod plan;
mod pool;
pub mod prediction;
mod report;
mod results;
mod snakefile;
mod spawn_bench;
mod sweep;
mod workload;

pub use chains::{ChainMeasured, ChainRun, FunctionMeasured, TurnsOf};
pub use execute::execute;
pub use folder::{ErrorFile, Folder, Found, LogFile};
pub use job::{Estimate, Job, JobFile, Key, FORMAT};
pub use machine::{Machine, MachineMeasured, UnitArea};
pub use media::{Media, MediaMeasured, MediaProgram, Pass};
pub use model_file::{ModelFile, ModelKey};
pub use nodes::{Benchmark, Nodes, NodesMeasured, RateTimes, SizeTimes};
pub use parameters::{Parameters, Through, WhenFull};
pub use plan::{Cell, Experiment, Figure, Plan, Planned, Scale};
pub use pool::{Pool, Step};
pub use report::{write_report, Section, Summary};
pub use results::{Measured, Rate, ResultFile};
pub use spawn_bench::{SpawnBench, SpawnLoad, SPAWN_SEED};
pub use sweep::Sweep;
pub use workload::{Program, Tables, Workload};
