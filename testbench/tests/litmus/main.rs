//! Litmus tests of the memory model with the harts of the command processor and lanes of a core and
//! the network interface (rules C3 to C6, U15): each is run at many offsets of time between its
//! roles, what it forbids never happens, and it does happen when the fence, or what stands for it,
//! is left out. Where the order of the hardware hides the missing fence, a fault in the emitted
//! Verilog takes the place of the weak variant (`faults.rs`).

mod array;
mod atomics;
mod faults;
mod network;
mod order;
mod signals;
