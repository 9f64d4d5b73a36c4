//! Regions of the shared memory that hold several things, such as all that a network function has.

use super::device::Device;
use super::error::CosimError;
use super::host::Host;

impl<D: Device> Host<D> {
    /// Takes `bytes` from `first` on, with what lies in them: names, first addresses and bytes.
    /// Regions have fixed addresses, so take them before the rest is allocated, which then lies
    /// behind the last one while there is room.
    ///
    /// # Errors
    /// [`CosimError::Overlap`] naming `what` and what lies there, [`CosimError::OutOfMemory`] if it
    /// is not all in the memory.
    pub fn take_region(
        &mut self,
        what: &str,
        first: u32,
        bytes: u64,
        parts: impl IntoIterator<Item = (String, u32, u64)>,
    ) -> Result<(), CosimError> {
        self.allocator.reserve(what, first.into(), bytes)?;
        self.kernel_end = self.kernel_end.max(u64::from(first) + bytes);
        let parts = parts.into_iter().map(|(name, first, bytes)| (u64::from(first), (name, bytes)));
        self.areas.extend(parts);
        Ok(())
    }
}
