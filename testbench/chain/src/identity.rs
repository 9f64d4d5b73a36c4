//! What tells the kernel and the tables of a function from others.

use sha2::{Digest as _, Sha256};

use super::placed::Function;
use super::region::TABLE;

impl Function {
    /// SHA-256 of its kernel, linked to where it lies, in hexadecimal digits.
    #[must_use]
    pub fn kernel_digest(&self) -> String {
        digest(self.kernel.segments.iter().map(|segment| (segment.address, &segment.bytes[..])))
    }

    /// SHA-256 of its tables, alike.
    #[must_use]
    pub fn table_digest(&self) -> String {
        let is_table = |address: u32| {
            let mut tables = self.region.parts.iter().filter(|part| part.name.starts_with(TABLE));
            tables.any(|part| (u64::from(part.first)..part.end()).contains(&u64::from(address)))
        };
        digest(self.image().filter(|(address, _)| is_table(*address)))
    }
}

/// SHA-256 of bytes with their addresses and numbers.
fn digest<'a>(pieces: impl Iterator<Item = (u32, &'a [u8])>) -> String {
    let mut hash = Sha256::new();
    for (address, bytes) in pieces {
        hash.update(address.to_le_bytes());
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
