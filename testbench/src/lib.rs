//! Simulation environment.
