//! Packets and tables: what every other floor of the testbench may use.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `traffic` | captures in and out, generated traffic, arrival schedules |
//! | `frame`, `slot`, `verdict` | a frame, the packet slot in shared memory, the verdict word and its names |
//! | `egress` | packets that a kernel sends instead of the one in the slot |
//! | `tables` | routing tables, rules and patterns: their files, and what kernels read in shared memory |
//! | `golden` | golden models of the apps, and the report of a difference |
//! | `clock` | the clock that cycles are told at |
//! | `input` | files that are read, or standard input, up to a size |
//! | `file_identity` | whether two paths stand for one file |
//! | `output`, `staging` | files that appear complete or not at all |
//! | `words` | words of reports and errors |

pub mod clock;
pub mod egress;
pub mod file_identity;
pub mod frame;
pub mod golden;
pub mod input;
pub mod output;
pub mod slot;
pub mod staging;
pub mod tables;
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
