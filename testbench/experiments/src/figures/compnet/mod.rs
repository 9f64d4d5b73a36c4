//! Figures of the ComP-Net paper (section 5).

pub mod assumptions;
mod energy;
pub mod fig10;
pub mod fig10b;
pub mod fig7;
pub mod fig8a;
pub mod fig8b;
pub mod fig8c;
pub mod fig9;
mod inter_kernel;
pub mod service;

use hermes_testbench::cluster::ServiceCosts;

use crate::nodes::NodesMeasured;
use crate::results::ResultFile;

/// Who serves the commands: name, and what it is.
const COLUMNS: [(&str, &str); 8] = [
    ("queues", "queues in hardware"),
    ("paper", "firmware alone, as in the paper"),
    ("apu:low", "APU, low delays"),
    ("apu:middle", "APU"),
    ("apu:high", "APU, high delays"),
    ("dgpu:low", "dGPU, low delays"),
    ("dgpu:middle", "dGPU"),
    ("dgpu:high", "dGPU, high delays"),
];
const QUICK_COLUMNS: [(&str, &str); 3] = [COLUMNS[0], COLUMNS[1], COLUMNS[5]];
/// Queues in hardware whose hart sleeps otherwise.
const SLEEPS: (&str, &str) = ("wfi", "queues in hardware, the hart in wfi");

/// What stands under figures with baselines.
const BASELINES: &str = "Baselines are delays of threads of a host at the node's port, with one list, no locks and no cache misses: ratios to them \
                         are lower bounds (docs/baselines.md has every delay; all are assumed, as the paper gives none for PCIe). Their columns \
                         follow from these delays: they check the model, and results are the columns of the array.";

/// What a column is called; its own name if it has no other.
fn name_of(column: &str) -> String {
    let names = COLUMNS.iter().chain([&SLEEPS]);
    names.clone().find(|(one, _)| *one == column).map_or(column, |(_, name)| name).to_string()
}

fn measured(result: &ResultFile) -> Option<&NodesMeasured> {
    result.measured.nodes.as_ref()
}

/// Cycles that the delays of a column add to a message alone, but for its look at the queues.
fn stated(column: &str) -> Option<u32> {
    let delays = ServiceCosts::find(column).ok().filter(|_| ServiceCosts::is_stated(column))?.delays;
    Some(delays.visible + delays.poll + delays.service + delays.doorbell + delays.completion)
}
