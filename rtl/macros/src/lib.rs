//! Macros for hardware units.
