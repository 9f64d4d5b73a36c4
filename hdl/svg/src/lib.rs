//! Nothing. The crate rust-hdl-core 0.46 asks for svg 0.10 and uses none of it; that version has
//! code which a future Rust refuses. This crate takes its place.
