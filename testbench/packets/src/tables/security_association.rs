//! The key file of an ESP tunnel, and what the kernel reads of it.
//!
//! In shared memory, words; those of AES are big-endian as FIPS 197 writes them, and so are those
//! of SHA-1:
//!
//! | offset | what |
//! | --- | --- |
//! | 0 | SPI, source and destination of the tunnel, nonce: as a load of the packet's field gives them (network byte order) |
//! | 16 | bytes of a frame that fit a ring slot |
//! | 20 | state of SHA-1 after the key with the inner padding of HMAC (RFC 2104), then after that with the outer padding: 5 words each |
//! | 60 | the 44 round keys of AES-128 |
//! | 236 | for each byte x: the word (2 S(x), S(x), S(x), 3 S(x)) of SubBytes and MixColumns |
//! | 1260 | the round keys again, with the first byte in bits 7:0 as the AES instructions of RISC-V have it |

use std::net::Ipv4Addr;
use std::path::Path;

use super::input::{self, InputError};
use crate::input::number;

/// Bytes of the table.
pub const SECURITY_ASSOCIATION_BYTES: usize = 236 + 4 * 256 + 4 * 44;
/// Block of SHA-1 in bytes.
const SHA1_BLOCK: usize = 64;
/// Initial state of SHA-1 (FIPS 180-4, section 5.3.1).
const SHA1_START: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// An ESP tunnel: AES-128 in counter mode (RFC 3686), HMAC-SHA1-96 (RFC 2404).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityAssociation {
    /// Security parameters index; at least 256 (RFC 4303, section 2.1).
    pub spi: u32,
    /// Address of the tunnel's beginning.
    pub source: Ipv4Addr,
    /// Address of the tunnel's end.
    pub destination: Ipv4Addr,
    /// Key of AES.
    pub cipher_key: [u8; 16],
    /// Nonce of the counter mode.
    pub nonce: [u8; 4],
    /// Key of HMAC.
    pub authentication_key: [u8; 20],
}

impl SecurityAssociation {
    /// Reads a key file: a line `NAME VALUE` for each of `spi` (decimal, or hexadecimal with 0x),
    /// `source`, `destination` (addresses), `aes-128-ctr`, `nonce`, `hmac-sha1-96` (16, 4 and 20
    /// bytes in hexadecimal). Empty lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// The file cannot be read, has a bad line, or lacks one of these.
    pub fn read(path: &Path) -> Result<Self, InputError> {
        Self::parse(&input::read_text(path)?).map_err(|(line, problem)| match line {
            Some(line) => InputError::line(path, line, problem),
            None => InputError::file(path, problem),
        })
    }

    fn parse(text: &str) -> Result<Self, (Option<usize>, String)> {
        let mut fields = Fields::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                fields.line(line).map_err(|problem| (Some(number), problem))?;
            }
        }
        fields.finish().map_err(|name| (None, format!("`{name}` is missing")))
    }

    /// The table, for slots that hold frames of `frame_bytes` bytes.
    pub fn to_bytes(&self, frame_bytes: usize) -> Vec<u8> {
        let network = |bytes: [u8; 4]| u32::from_le_bytes(bytes);
        let mut words = vec![
            network(self.spi.to_be_bytes()),
            network(self.source.octets()),
            network(self.destination.octets()),
            network(self.nonce),
            frame_bytes as u32,
        ];
        for padding in [0x36, 0x5c] {
            let mut block = [padding; SHA1_BLOCK];
            block.iter_mut().zip(self.authentication_key).for_each(|(byte, key)| *byte ^= key);
            let mut state = SHA1_START;
            sha1::block_api::compress(&mut state, &[block]);
            words.extend(state);
        }
        let s_box = s_box();
        let round_keys = round_keys(self.cipher_key, &s_box);
        words.extend(&round_keys);
        words.extend(s_box.map(|s| u32::from_be_bytes([double(s), s, s, double(s) ^ s])));
        words.extend(round_keys.iter().map(|key| key.swap_bytes()));
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

#[derive(Default)]
struct Fields {
    spi: Option<u32>,
    source: Option<Ipv4Addr>,
    destination: Option<Ipv4Addr>,
    cipher_key: Option<[u8; 16]>,
    nonce: Option<[u8; 4]>,
    authentication_key: Option<[u8; 20]>,
}

impl Fields {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let (name, value) = line.split_once(char::is_whitespace).ok_or("expected a name and a value")?;
        let value = value.trim();
        let repeated = match name {
            "spi" => self.spi.replace(spi(value)?).is_some(),
            "source" => self.source.replace(address(value)?).is_some(),
            "destination" => self.destination.replace(address(value)?).is_some(),
            "aes-128-ctr" => self.cipher_key.replace(hexadecimal(value)?).is_some(),
            "nonce" => self.nonce.replace(hexadecimal(value)?).is_some(),
            "hmac-sha1-96" => self.authentication_key.replace(hexadecimal(value)?).is_some(),
            _ => {
                let names = "spi, source, destination, aes-128-ctr, nonce or hmac-sha1-96";
                return Err(format!("`{name}`: expected {names}"));
            }
        };
        if repeated {
            return Err(format!("`{name}` stands here for the second time"));
        }
        Ok(())
    }

    /// The association, or the name of what it lacks.
    fn finish(self) -> Result<SecurityAssociation, &'static str> {
        Ok(SecurityAssociation {
            spi: self.spi.ok_or("spi")?,
            source: self.source.ok_or("source")?,
            destination: self.destination.ok_or("destination")?,
            cipher_key: self.cipher_key.ok_or("aes-128-ctr")?,
            nonce: self.nonce.ok_or("nonce")?,
            authentication_key: self.authentication_key.ok_or("hmac-sha1-96")?,
        })
    }
}

fn spi(value: &str) -> Result<u32, String> {
    number(value)
        .filter(|spi| *spi >= 256)
        .ok_or_else(|| format!("`{value}`: expected a number from 256 to 4294967295"))
}

fn address(value: &str) -> Result<Ipv4Addr, String> {
    value.parse().map_err(|_| format!("`{value}`: expected an IPv4 address"))
}

fn hexadecimal<const N: usize>(value: &str) -> Result<[u8; N], String> {
    let digits = value.strip_prefix("0x").unwrap_or(value);
    let error = || format!("`{value}`: expected {N} bytes in hexadecimal");
    if digits.len() != 2 * N || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(error());
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).map_err(|_| error())?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| error())?;
    }
    Ok(bytes)
}

/// Twice a byte in the field of AES (FIPS 197, section 4.2.1).
const fn double(byte: u8) -> u8 {
    byte << 1 ^ if byte & 0x80 != 0 { 0x1b } else { 0 }
}

/// The S-box of AES (FIPS 197, section 5.1.1): the inverse in the field, then an affine map.
fn s_box() -> [u8; 256] {
    let mut s_box = [0x63; 256];
    // p runs through all elements but 0 as powers of 3, q through their inverses as powers of 1/3 =
    // 0xf6.
    let (mut p, mut q) = (1_u8, 1_u8);
    for _ in 0..255 {
        s_box[usize::from(p)] =
            q ^ q.rotate_left(1) ^ q.rotate_left(2) ^ q.rotate_left(3) ^ q.rotate_left(4) ^ 0x63;
        p ^= double(p);
        q = multiply(q, 0xf6);
    }
    s_box
}

/// The product in the field of AES.
fn multiply(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        product ^= if b & 1 == 1 { a } else { 0 };
        a = double(a);
        b >>= 1;
    }
    product
}

/// The key expansion of AES-128 (FIPS 197, section 5.2).
fn round_keys(key: [u8; 16], s_box: &[u8; 256]) -> Vec<u32> {
    let substitute = |word: u32| u32::from_be_bytes(word.to_be_bytes().map(|byte| s_box[usize::from(byte)]));
    let mut words: Vec<u32> =
        key.chunks(4).map(|word| u32::from_be_bytes([word[0], word[1], word[2], word[3]])).collect();
    let mut constant = 1;
    for place in 4..44 {
        let mut word = words[place - 1];
        if place % 4 == 0 {
            word = substitute(word.rotate_left(8)) ^ u32::from(constant) << 24;
            constant = double(constant);
        }
        words.push(words[place - 4] ^ word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# tunnel\nspi 0x1001\nsource 192.0.2.1\ndestination 198.51.100.2\n\
        aes-128-ctr 2b7e151628aed2a6abf7158809cf4f3c\nnonce 00000030\n\
        hmac-sha1-96 0x0102030405060708090a0b0c0d0e0f1011121314\n";

    #[test]
    fn files() {
        let association = SecurityAssociation::parse(TEXT).unwrap();
        assert_eq!((association.spi, association.nonce), (0x1001, [0, 0, 0, 0x30]));
        assert_eq!(association.authentication_key[19], 0x14);
        for (from, to, line, expected) in [
            ("spi 0x1001", "spi 255", Some(2), "`255`: expected a number from 256"),
            ("spi 0x1001", "spi +4097", Some(2), "`+4097`: expected a number from 256"),
            ("spi 0x1001", "spi 0x+1001", Some(2), "`0x+1001`: expected a number from 256"),
            ("192.0.2.1", "192.0.2", Some(3), "expected an IPv4 address"),
            ("nonce 00000030", "nonce 0000003", Some(6), "expected 4 bytes in hexadecimal"),
            ("nonce", "once", Some(6), "`once`: expected spi, source"),
            ("nonce 00000030", "nonce", Some(6), "expected a name and a value"),
            ("nonce 00000030", "spi 256", Some(6), "`spi` stands here for the second time"),
            ("nonce 00000030\n", "", None, "`nonce` is missing"),
        ] {
            let (number, problem) = SecurityAssociation::parse(&TEXT.replace(from, to)).unwrap_err();
            assert!(number == line && problem.contains(expected), "{problem}");
        }
    }

    /// The key expansion of FIPS 197, appendix A.1, and values of its figure 7.
    #[test]
    fn aes() {
        let s_box = s_box();
        assert_eq!((s_box[0], s_box[0x53], s_box[0xff]), (0x63, 0xed, 0x16));
        let key = SecurityAssociation::parse(TEXT).unwrap().cipher_key;
        let words = round_keys(key, &s_box);
        assert_eq!((words[4], words[43]), (0xa0fa_fe17, 0xb663_0ca6));
        let bytes = SecurityAssociation::parse(TEXT).unwrap().to_bytes(2030);
        assert_eq!(bytes.len(), SECURITY_ASSOCIATION_BYTES);
        assert_eq!(bytes[236..240], 0xc663_63a5_u32.to_le_bytes());
    }
}
