//! The host's side: the register table and the AXI4-Lite register file.

pub mod registers;
