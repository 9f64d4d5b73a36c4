//! What delays an array will have, from a few runs of it: the equations of the Hermes paper and our
//! model of the array as a queue ([`hermes_qos::machine`]), fitted to the same runs.

mod calibration;
mod errors;
mod held_out;
mod model;
mod runs;
mod search;

pub use calibration::{Calibration, Open, Saturated};
pub use errors::Errors;
pub use held_out::{held_out, Class};
pub use model::{check_known, Model, Prediction};
pub use runs::{most_warps, open_cells, saturated_cells, throughput};
pub use search::{candidates, luts_of_core, pareto_front, Candidate, Space, Target};

pub(crate) use held_out::LABEL;
pub(crate) use runs::{cell, role, Role, SATURATED};
