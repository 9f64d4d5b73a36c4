//! The instructions: encodings, decoding and encoding, text.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `op`, `instruction` | the instructions, their encodings, decoding and encoding |
//! | `disassemble` | instructions as text |

mod disassemble;
mod instruction;
mod op;

pub use disassemble::{csr_name, disassemble, register_name, Disassembly};
pub use instruction::{Instruction, Isa};
pub use op::{Class, Encoding, Extension, Format, Op, ENCODINGS};
