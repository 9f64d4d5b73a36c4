//! The network interface in the array: what a kernel of one node puts stands in the memory of
//! another; and what cores and L2 do for it.

mod atomics;
mod core;
mod gets;
mod hostile;
mod nodes;
mod puts;
