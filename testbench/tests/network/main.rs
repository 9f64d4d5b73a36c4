//! The network interface in the array: what a kernel of one node puts stands in the memory of another; and what cores and L2 do for it.

mod atomics;
mod gets;
mod core;
mod nodes;
mod puts;
