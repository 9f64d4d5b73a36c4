//! Simulation environment.

pub mod cosim;
