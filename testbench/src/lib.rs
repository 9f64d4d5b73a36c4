//! Everything around the array in simulation: the floors of the testbench under one name. The tests
//! of this crate stand above all of them.
//!
//! Each floor uses those before it in this table, never those behind it; `chain` and `reports` do
//! not use each other.
//!
//! | crate | what is in it |
//! | --- | --- |
//! | [`hermes_packets`] | packets, tables, golden models, files |
//! | [`hermes_programs`] | instructions, kernels, firmware, the apps |
//! | [`hermes_reference`] | reference simulators of the instruction sets |
//! | [`hermes_simulation`] | the array with its memory and its host, boards, clusters |
//! | [`hermes_checks`] | comparison with golden models and reference, random programs, races |
//! | [`hermes_reports`] | metrics, timelines, profiles |
//! | [`hermes_chain`] | chains of network functions |

pub use hermes_chain as chain;
pub use hermes_checks::{command, fuzz, litmus, lockstep, outcome, races};
pub use hermes_packets::{
    clock, egress, file_identity, frame, golden, input, output, slot, staging, tables, test_seed, traffic,
    verdict, words,
};
pub use hermes_programs::{apps, firmware, isa, kernel};
pub use hermes_reference::{harts, iss};
pub use hermes_reports::{metrics, profile, timeline};
pub use hermes_simulation::{board, cluster, cosim, model, reference};
