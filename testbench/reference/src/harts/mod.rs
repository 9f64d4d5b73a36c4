//! The reference of the harts of the command processor, and random programs for them.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `machine` | the reference simulator of a hart in machine mode |
//! | `generate` | random programs |

mod generate;
pub mod machine;

pub use generate::{random_program, DATA_BASES};
