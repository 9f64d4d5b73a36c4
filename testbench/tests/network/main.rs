//! The network interface in the array: what a kernel of one node puts stands in the memory of another.

mod atomics;
mod gets;
mod nodes;
mod puts;
