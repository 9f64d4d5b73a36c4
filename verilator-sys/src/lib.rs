//! Verilated models from Rust: Verilog text goes in, a loaded model whose ports are read and
//! written directly comes out.
//!
//! [`Model::build`] runs Verilator and the C++ compiler, or finds the result in a cache keyed by
//! content, and loads it as a shared library; [`ModelLibrary::instantiate`] makes as many
//! independent instances as wanted.
//!
//! ```no_run
//! use verilator_sys::{Direction, Model, ModelOptions, Port};
//!
//! # fn main() -> Result<(), verilator_sys::Error> {
//! let verilog = "module counter(input wire clk, output reg [7:0] q);
//!     always @(posedge clk) q <= q + 1; endmodule";
//! let options = ModelOptions {
//!     ports: vec![Port::new("clk", Direction::Input, 1), Port::new("q", Direction::Output, 8)],
//!     ..ModelOptions::new("counter")
//! };
//! let mut model = Model::build(verilog, &options)?.instantiate()?;
//! let (clk, q) = (model.input("clk", 1)?, model.output("q", 8)?);
//! for _ in 0..3 {
//!     model.tick(clk)?;
//! }
//! assert_eq!(model.get_u64(q), 3);
//! # Ok(())
//! # }
//! ```
//!
//! A model is compiled for the processor of the machine: another machine that shares the cache
//! builds its own, unless its compiler would use the same instructions.
//!
//! Timing of one cycle: set the inputs, [`Model::fall`] (clock low: combinational outputs settle),
//! read the outputs, [`Model::rise`] (the edge at which registers take their inputs).
//! [`Model::tick`] is both.
//!
//! A [`Rewriter`] may change the C++ of shared modules so that the model is faster; where it
//! cannot, the model is compiled as Verilator wrote it, and a warning says so once.
//!
//! Needed at run time: Verilator 5, GNU make, a C++ compiler and, for waveforms, zlib's headers.

mod about;
mod cache;
mod compile;
mod error;
mod header;
mod kept;
mod library;
mod model;
mod options;
mod precompiled;
mod rewriter;
mod run;
mod store;
mod tools;
mod version;
mod wrapper;

pub use error::Error;
pub use header::HeaderPort;
pub use kept::{kept, program_file};
pub use library::{BuildReport, ModelLibrary};
pub use model::{Input, Model, Output};
pub use options::{newest_program, BuildStep, Direction, ModelOptions, Port, SharedModule};
pub use rewriter::Rewriter;
pub use store::{clean, list, Cleaned, Stored};
pub use version::Version;
pub use wrapper::CLASS;
