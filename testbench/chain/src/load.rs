//! A chain in the shared memory of a host.

use super::placed::{Chain, Function};
use crate::cosim::{ArraySetup, CosimError, Device, Host, KernelImage, Layout};
use crate::iss::Window;

impl Function {
    /// Its kernel, without what goes to memory, which [`Chain::load`] writes.
    #[must_use]
    pub fn start(&self) -> KernelImage {
        KernelImage { segments: Vec::new(), ..KernelImage::from(&self.kernel) }
    }
}

impl Chain {
    /// What every function shares: ring, slots and stacks. The rest is that of the first function.
    #[must_use]
    pub fn setup(&self) -> ArraySetup {
        ArraySetup {
            ring_slots_log2: self.ring_slots_log2,
            slot_bytes_log2: self.slot_bytes_log2,
            stack_bytes_log2: self.stack_bytes_log2,
            mcw: self.functions.first().map_or(1, |first| first.mcw),
            watchdog: self.functions.first().map_or(0, |first| first.watchdog),
            egress: self.egress,
            ..ArraySetup::default()
        }
    }

    /// Takes the regions of all functions from the memory of `host` and writes what is in them, but
    /// for functions that come later. Do so before the rest is allocated.
    ///
    /// # Errors
    /// Something lies there already, or the memory is smaller than the one for which the chain was
    /// placed.
    pub fn load<D: Device>(&self, host: &mut Host<D>) -> Result<(), CosimError> {
        for function in self.all() {
            let (name, region) = (&function.name, &function.region);
            let parts = region
                .parts
                .iter()
                .map(|part| (format!("{} of `{name}`", part.name), part.first, part.bytes));
            host.take_region(&format!("the region of `{name}`"), region.first, region.bytes, parts)?;
        }
        for (address, bytes) in self.functions.iter().flat_map(Function::image) {
            host.device_mut().write_memory(address, bytes)?;
        }
        Ok(())
    }

    /// The window of the packets, which all functions share.
    #[must_use]
    pub fn packet_window(&self, layout: &Layout) -> Window {
        Window { base: layout.ring_base, size: self.setup().ring_bytes() as u32 }
    }
}
