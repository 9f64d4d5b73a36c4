//! `#[register_block]` and `#[register_file]`: registers from one declaration.
//!
//! | file | what it makes |
//! | --- | --- |
//! | `entry` | reads the declaration of a register |
//! | `unit` | the unit that decodes a block |
//! | `block` | port group, entries of the table, values for software; puts the block together |
//! | `file` | the register file from its list of blocks |

pub mod block;
mod entry;
pub mod file;
mod unit;
