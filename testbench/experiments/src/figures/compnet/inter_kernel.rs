//! Inter-Kernel, the paper's column of kernels that end for each message: composed of measured
//! parts. No run has it as a whole.

use super::measured;
use crate::nodes::{Benchmark, Messages, Nodes};
use crate::parameters::Parameters;
use crate::results::ResultFile;

/// Cycles of a kernel's end and the next one's start: the stated ones (the paper's section 1), half
/// of them and twice.
pub const ENDS: [f64; 3] = [10_000.0, 5_000.0, 20_000.0];

/// Rounds of puts of the hosts.
const ROUNDS: u32 = 4;

/// What stands under figures with this column.
pub const COMPOSED: &str = "Inter-Kernel is composed, no run has it as a whole: compute phases alone (a run without messages), puts that all hosts post \
                            at once without a kernel, and 10,000 cycles for a kernel's end and start, halved and doubled beside.";

/// Its name in tables.
pub fn name_of(end: f64) -> String {
    format!("Inter-Kernel, composed, {end} cycles a kernel")
}

/// Puts of the hosts of so many nodes to so many peers.
pub fn messages(bytes: u32, nodes: usize, peers: u32) -> anyhow::Result<Parameters> {
    let benchmark = Benchmark::Messages(Messages { bytes, peers, rounds: ROUNDS });
    let column = "queues".to_string();
    Parameters::of_nodes(Nodes { benchmark, nodes, column, threads: 1, counted: false }, 1, 4)
}

/// Mean cycles of a round of such puts.
pub fn mean(result: Option<&ResultFile>) -> Option<f64> {
    Some(result.and_then(measured)?.messages?.mean)
}

/// Rounds in which one word of each node comes to all.
pub fn rounds_of_word(nodes: usize) -> f64 {
    f64::from(nodes.next_power_of_two().ilog2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_by_hand() {
        assert_eq!([2, 3, 4, 8].map(rounds_of_word), [1.0, 2.0, 2.0, 3.0]);
        assert_eq!(name_of(ENDS[0]), "Inter-Kernel, composed, 10000 cycles a kernel");
    }
}
