//! What the host library sees of an array, without the array: registers that keep what is written
//! to them, and memory.

use std::collections::BTreeMap;

use hermes_rtl::config::Config;
use hermes_rtl::host::registers::{functions, offset, sizes, version, Access, RegisterSpec, ID, REGISTERS};

use crate::cosim::{register_name, CosimError, Device, MemoryImage};
use crate::iss::{Protection, Window};

/// Registers and memory of an array, so that the host library places everything where it does for
/// the array itself. Nothing runs behind the registers: counters stay 0.
pub struct ReferenceDevice {
    image: MemoryImage,
    /// The VERSION, CONFIG, QOS and NF_CONFIG registers.
    version: u32,
    config: u32,
    qos: u32,
    functions: u32,
    /// What was written, by offset.
    values: BTreeMap<u32, u32>,
}

impl ReferenceDevice {
    /// The device of an array of this configuration with `bytes` of shared memory.
    #[must_use]
    pub fn new(config: &Config, bytes: u64) -> Self {
        let (image, values) = (MemoryImage::new(bytes), BTreeMap::new());
        let functions = functions::sizes(config);
        Self { image, version: version(config), config: sizes(config), qos: config.qos(), functions, values }
    }

    /// The shared memory.
    #[must_use]
    pub fn image(&self) -> &MemoryImage {
        &self.image
    }

    /// The shared memory, to be changed.
    pub fn image_mut(&mut self) -> &mut MemoryImage {
        &mut self.image
    }

    /// What loads and stores of kernels may touch, as the window registers say.
    #[must_use]
    pub fn protection(&self) -> Protection {
        let windows = |kind: &str| {
            [0, 1].map(|number| {
                let value = |field: &str| self.value(offset(&format!("{kind}_WINDOW_{number}_{field}")));
                Window { base: value("BASE"), size: value("SIZE") }
            })
        };
        Protection::Windows { read: windows("READ"), write: windows("WRITE") }
    }

    fn spec(&self, offset: u32) -> Result<&'static RegisterSpec, CosimError> {
        let is_here = |spec: &RegisterSpec| spec.part.is_announced(self.config, self.qos, self.functions);
        let here = |spec: &&RegisterSpec| spec.offset == offset && is_here(spec);
        REGISTERS.iter().find(here).ok_or_else(|| CosimError::RegisterResponse {
            register: register_name(offset),
            response: "SLVERR",
        })
    }

    /// The value of a register that keeps what is written, or that of one that says what the array
    /// is; else 0.
    fn value(&self, at: u32) -> u32 {
        let fixed = [
            ("ID", ID),
            ("VERSION", self.version),
            ("CONFIG", self.config),
            ("QOS", self.qos),
            ("NF_CONFIG", self.functions),
        ];
        if let Some((_, value)) = fixed.iter().find(|(name, _)| offset(name) == at) {
            return *value;
        }
        let reset = || self.spec(at).ok().filter(|spec| spec.access == Access::ReadWrite);
        self.values.get(&at).copied().unwrap_or_else(|| reset().map_or(0, |spec| spec.reset))
    }
}

impl Device for ReferenceDevice {
    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), CosimError> {
        let spec = self.spec(offset)?;
        if spec.access == Access::ReadWrite {
            let kept = (u64::MAX >> (64 - spec.bits)) as u32 & !spec.reserved;
            self.values.insert(offset, value & kept);
        }
        Ok(())
    }

    fn read_register(&mut self, offset: u32) -> Result<u32, CosimError> {
        self.spec(offset)?;
        Ok(self.value(offset))
    }

    fn write_memory(&mut self, address: u32, bytes: &[u8]) -> Result<(), CosimError> {
        Ok(self.image.write(address, bytes)?)
    }

    fn read_memory(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), CosimError> {
        Ok(self.image.read(address, bytes)?)
    }

    fn memory_size(&self) -> u64 {
        self.image.size()
    }

    fn reset(&mut self) -> Result<(), CosimError> {
        self.values.clear();
        Ok(())
    }

    fn run(&mut self, _: u64) -> Result<(), CosimError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::Host;

    #[test]
    fn registers_are_those_of_the_array() {
        let config = Config { local_window: true, ..Config::preset("default").unwrap() };
        let mut host = Host::new(ReferenceDevice::new(&config, 1 << 20)).unwrap();
        let info = host.info();
        assert_eq!((info.lanes as usize, info.cores as usize), (config.lanes, config.cores));
        assert!(info.local_window);
        // Open until they are closed.
        assert!(host.device_mut().protection().allows_store(0x1234));
        assert!(!host.device_mut().protection().allows_store(0xffff_ffc0));
        host.write("WRITE_WINDOW_0_SIZE", 64).unwrap();
        assert!(!host.device_mut().protection().allows_store(0x1234));
        host.device_mut().reset().unwrap();
        assert!(host.device_mut().protection().allows_store(0x1234));
        // What only tells, and what is not there.
        host.write("FAULTS", 7).unwrap();
        assert_eq!(host.read("FAULTS").unwrap(), 0);
        let error = host.read("SPAWN_CONTROL").map_err(|error| error.to_string());
        assert!(error.is_err() || config.spawn_slots > 0);
        assert!(host.device_mut().read_register(0xff4).unwrap_err().to_string().contains("SLVERR"));
        host.clean_caches().unwrap();
    }
}
