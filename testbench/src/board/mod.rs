//! Boards: their serial line under simulation.

mod simulation;

pub use simulation::{BoardPins, BoardSimulation, LineNoise};
