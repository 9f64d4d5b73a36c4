//! Programs: instructions, kernels and firmware from source to image, the apps.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `isa` | the instructions: encodings, decoding and encoding, text |
//! | `kernel` | builds packet kernels and loads them from ELF files |
//! | `firmware` | firmware of the command processor: builds, loads, explains it |
//! | `apps` | the apps: kernel, inputs, tables, golden model |

pub mod apps;
pub mod firmware;
pub mod isa;
pub mod kernel;

// What this floor takes from those below, under the same names.
use hermes_packets::{egress, file_identity, golden, input, output, slot, staging, tables, verdict};

#[cfg(test)]
use hermes_packets::test_seed;
