//! Verilated models from Rust.
