//! The apps that come with the project: a kernel and its golden model.

use std::path::Path;

use super::build::{build_source, BuildError};
use super::elf::{Kernel, RegisterClass};
use crate::golden::{self, Golden};

/// An app: a kernel that the array runs and the golden model that says what must come out.
#[derive(Clone, Copy, Debug)]
pub struct App {
    /// Name on the command line.
    pub name: &'static str,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// Its source in GNU as syntax.
    source: &'static str,
    /// What it must do to a packet.
    pub golden: fn(&crate::slot::SlotPacket) -> Golden,
}

/// Every app.
pub const APPS: &[App] = &[
    App {
        name: "dec-ttl",
        summary: "decrement the IPv4 TTL, update the checksum (RFC 1624)",
        source: include_str!("../../../kernels-asm/dec-ttl.S"),
        golden: golden::dec_ttl,
    },
    App {
        name: "check-ip-header",
        summary: "the header checks of a router (RFC 1812, section 5.2.2)",
        source: include_str!("../../../kernels-asm/check-ip-header.S"),
        golden: golden::check_ip_header,
    },
];

impl App {
    /// The app called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        APPS.iter().find(|app| app.name == name)
    }

    /// Assembles and links the kernel to the ELF file `output`.
    ///
    /// # Errors
    /// [`BuildError`], for example when the assembler is not installed.
    pub fn build(&self, output: &Path) -> Result<(), BuildError> {
        build_source(&format!("{}.S", self.name), self.source, RegisterClass::Rv32e, output)
    }

    /// Builds the kernel and loads it.
    ///
    /// # Errors
    /// As [`App::build`].
    pub fn kernel(&self) -> anyhow::Result<Kernel> {
        let folder = tempfile::tempdir()?;
        let output = folder.path().join(format!("{}.elf", self.name));
        self.build(&output)?;
        Ok(Kernel::read(&output)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_app_builds() {
        for app in APPS {
            let kernel = app.kernel().unwrap();
            assert_eq!(kernel.entry, 0x1000, "{}", app.name);
            assert_eq!(kernel.registers, RegisterClass::Rv32e, "{}", app.name);
            assert!(kernel.size() < 1024, "{}: {} bytes", app.name, kernel.size());
        }
    }
}
