//! What the host library needs from an array, be it simulated or on a board.

use super::error::CosimError;

/// An array as its host sees it.
pub trait Device {
    /// Writes the register at `offset`; returns when the array has taken it.
    ///
    /// # Errors
    /// The access is not answered, or answered with an error.
    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), CosimError>;

    /// Reads the register at `offset`.
    ///
    /// # Errors
    /// The access is not answered, or answered with an error.
    fn read_register(&mut self, offset: u32) -> Result<u32, CosimError>;

    /// Writes bytes to the shared memory.
    ///
    /// # Errors
    /// They are not all inside.
    fn write_memory(&mut self, address: u32, bytes: &[u8]) -> Result<(), CosimError>;

    /// Reads bytes from the shared memory.
    ///
    /// # Errors
    /// They are not all inside.
    fn read_memory(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), CosimError>;

    /// Bytes of the shared memory, from address 0.
    fn memory_size(&self) -> u64;

    /// Resets the array: registers at their reset values, nothing in flight. The memory keeps its
    /// contents.
    ///
    /// # Errors
    /// The array cannot be reset.
    fn reset(&mut self) -> Result<(), CosimError>;

    /// Lets the array work for at least `cycles`.
    ///
    /// # Errors
    /// The array stops by itself.
    fn run(&mut self, cycles: u64) -> Result<(), CosimError>;
}
