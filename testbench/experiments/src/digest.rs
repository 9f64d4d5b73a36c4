//! SHA-256 in hexadecimal.

use std::fmt::Write as _;

use hermes_testbench::kernel::Segment;
use sha2::{Digest as _, Sha256};

/// The digest of `bytes`: 64 hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What is loaded of a program, as bytes for a digest: its file names the folder in which it was
/// built, too.
pub fn loaded(entry: u32, segments: &[Segment]) -> Vec<u8> {
    let mut bytes = entry.to_le_bytes().to_vec();
    for segment in segments {
        bytes.extend(segment.address.to_le_bytes());
        bytes.extend(&segment.bytes);
    }
    bytes
}

#[cfg(test)]
mod tests {
    /// FIPS 180-4, the example of one block.
    #[test]
    fn of_the_standards_example() {
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(super::digest(b"abc"), known);
    }
}
