//! Kernels for several nodes whose work is known here: what they are told, the room that they need,
//! and what must stand in the heaps when they have ended.
//!
//! Such a kernel says its name in the variable `hermes_workload` (docs/cluster-workloads.md).

mod jacobi;
mod ring;
#[cfg(test)]
mod tests;

pub use jacobi::{Jacobi, JacobiGolden, JacobiTimes};
pub use ring::Ring;

/// The variable of a kernel that says which one it is.
pub const WORKLOAD: &str = "hermes_workload";

/// A value that a workload cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {value}: expected {expected}")]
pub struct WorkloadError {
    /// What it is, with its unit.
    pub field: &'static str,
    /// The value.
    pub value: u64,
    /// What is possible.
    pub expected: String,
}

impl WorkloadError {
    /// An error unless `holds`.
    fn unless(holds: bool, field: &'static str, value: impl Into<u64>, expected: &str) -> Result<(), Self> {
        let error = || Self { field, value: value.into(), expected: expected.to_string() };
        holds.then_some(()).ok_or_else(error)
    }
}

/// A word of a heap.
fn word(heap: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([heap[at], heap[at + 1], heap[at + 2], heap[at + 3]])
}
