//! Programs on the reference simulator: the kernels of the apps, the libraries, firmware.

mod apps;
mod firmware;
mod interpreter;
mod library;
