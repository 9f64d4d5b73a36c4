//! For which registers and extensions a kernel is built: the attributes of an ELF file (RISC-V ELF
//! psABI, "Attributes").

use std::fmt;

use hermes_rtl::config::Config;
use object::elf::{FileHeader32, SHT_RISCV_ATTRIBUTES};
use object::read::elf::{AttributeReader, FileHeader, SectionHeader};
use object::LittleEndian;

/// The vendor of the attributes that all tools know.
const VENDOR: &[u8] = b"riscv";
/// The attribute with the registers and extensions, as text. Odd tags have text, even ones a
/// number.
const TAG_ARCH: u64 = 5;

/// Section with the names, each with a zero behind it, of further extensions that the file needs:
/// those that the assembler does not know.
const EXTENSIONS: &str = ".hermes.extensions";

/// What every array executes, with what stands for a part or a combination of it, and hints, which
/// are no instructions of their own.
const EVERYWHERE: [&str; 10] =
    ["i", "e", "m", "zicsr", "zifencei", "zmmul", "zbb", "zicntr", "zihintpause", "zihintntl"];
/// What cores with atomic instructions execute.
const WITH_ATOMICS: [&str; 3] = ["a", "zaamo", "zalrsc"];
/// What cores with compare-and-swap execute: of Zacas, `amocas.w`.
const WITH_COMPARE_AND_SWAP: &str = "zacas";
/// What cores with AES instructions execute.
const WITH_AES: [&str; 2] = ["zknd", "zkne"];

/// Base and extensions, such as rv32im_zicsr_zbb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arch {
    /// Names of the base (`i`, `e`) and the extensions, without versions, in the order of the file.
    pub extensions: Vec<String>,
}

impl Arch {
    /// What the ELF file `data` tells, by its attributes and by the names in [`EXTENSIONS`]; `None`
    /// if it has no attributes.
    pub(super) fn read(header: &FileHeader32<LittleEndian>, data: &[u8]) -> Result<Option<Self>, String> {
        let Some(mut arch) = Self::of_attributes(header, data)? else { return Ok(None) };
        let broken = |error: object::Error| format!("broken section {EXTENSIONS}: {error}");
        let sections = header.sections(LittleEndian, data).map_err(broken)?;
        if let Some((_, section)) = sections.section_by_name(LittleEndian, EXTENSIONS.as_bytes()) {
            let names = section.data(LittleEndian, data).map_err(broken)?;
            for name in names.split(|byte| *byte == 0).map(String::from_utf8_lossy) {
                if !name.is_empty() && !arch.extensions.iter().any(|known| *known == name) {
                    arch.extensions.push(name.into_owned());
                }
            }
        }
        Ok(Some(arch))
    }

    fn of_attributes(header: &FileHeader32<LittleEndian>, data: &[u8]) -> Result<Option<Self>, String> {
        let broken = |error: object::Error| format!("broken RISC-V attributes: {error}");
        let endian = LittleEndian;
        for section in header.sections(endian, data).map_err(broken)?.iter() {
            if section.sh_type(endian) != SHT_RISCV_ATTRIBUTES {
                continue;
            }
            let attributes = section.attributes(endian, data).map_err(broken)?;
            for subsection in attributes.subsections().map_err(broken)? {
                let subsection = subsection.map_err(broken)?;
                if subsection.vendor() != VENDOR {
                    continue;
                }
                for part in subsection.subsubsections() {
                    if let Some(arch) = Self::find(part.map_err(broken)?.attributes()).map_err(broken)? {
                        return Ok(Some(arch));
                    }
                }
            }
        }
        Ok(None)
    }

    fn find(mut attributes: AttributeReader<'_>) -> object::Result<Option<Self>> {
        while let Some(tag) = attributes.read_tag()? {
            if tag == TAG_ARCH {
                return Ok(Some(Self::parse(&String::from_utf8_lossy(attributes.read_string()?))));
            }
            if tag % 2 == 0 {
                attributes.read_integer()?;
            } else {
                attributes.read_string()?;
            }
        }
        Ok(None)
    }

    /// What `text` stands for, such as `rv32i2p1_m2p0_zicsr2p0` or `rv32imac`.
    fn parse(text: &str) -> Self {
        let mut extensions = Vec::new();
        let text = text.to_ascii_lowercase();
        for part in text.strip_prefix("rv32").unwrap_or(&text).split('_') {
            let mut rest = part;
            while let Some(letter) = rest.chars().next() {
                if matches!(letter, 'z' | 's' | 'x') {
                    extensions.push(without_version(rest).to_string());
                    break;
                }
                extensions.push(letter.to_string());
                let behind = &rest[letter.len_utf8()..];
                rest = behind.trim_start_matches(|c: char| c.is_ascii_digit());
                // The minor number of a version: not the extension P.
                let minor = rest.strip_prefix('p').filter(|minor| {
                    rest.len() < behind.len() && minor.starts_with(|c: char| c.is_ascii_digit())
                });
                rest = minor.map_or(rest, |minor| minor.trim_start_matches(|c: char| c.is_ascii_digit()));
            }
        }
        Self { extensions }
    }

    /// The extensions that the cores of `config` do not have.
    #[must_use]
    pub fn beyond(&self, config: &Config) -> Vec<&str> {
        let known = |name: &str| {
            EVERYWHERE.contains(&name)
                || (config.atomics && WITH_ATOMICS.contains(&name))
                || (config.compare_and_swap && name == WITH_COMPARE_AND_SWAP)
                || (config.aes && WITH_AES.contains(&name))
                || (config.network && name == "zawrs")
        };
        self.extensions.iter().map(String::as_str).filter(|name| !known(name)).collect()
    }

    /// What the cores of `config` have.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let optional = |there: bool, name: &'static str| there.then_some(name);
        let names = ["i", "m"].map(Some).into_iter().chain([
            optional(config.atomics, "a"),
            Some("zicsr"),
            optional(config.compare_and_swap, WITH_COMPARE_AND_SWAP),
            Some("zbb"),
            optional(config.network, "zawrs"),
            optional(config.aes, "zknd"),
            optional(config.aes, "zkne"),
        ]);
        Self { extensions: names.flatten().map(str::to_string).collect() }
    }
}

/// `zba1p0` is `zba`; the digits of `zve32x` are part of its name.
fn without_version(name: &str) -> &str {
    let digits = |text: &str| text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let major = &name[..name.len() - digits(name)];
    let Some(major) =
        major.strip_suffix('p').filter(|major| major.len() + 1 < name.len() && digits(major) > 0)
    else {
        return name;
    };
    &major[..major.len() - digits(major)]
}

impl fmt::Display for Arch {
    /// As a tool's `-march` has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rv32")?;
        let (letters, words): (Vec<_>, Vec<_>) = self.extensions.iter().partition(|name| name.len() == 1);
        letters.iter().try_for_each(|letter| write!(f, "{letter}"))?;
        words.iter().try_for_each(|word| write!(f, "_{word}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{build_source, Kernel, RegisterClass};

    #[test]
    fn texts() {
        for (text, expected) in [
            ("rv32i2p1_m2p0_zicsr2p0_zmmul1p0_zbb1p0_zkne1p0", "rv32im_zicsr_zmmul_zbb_zkne"),
            ("rv32imac", "rv32imac"),
            ("rv32e1p9_m2p0_a2p1", "rv32ema"),
            ("rv32i2p1m2p0f2p2", "rv32imf"),
            ("RV32IMP", "rv32imp"),
            ("rv32i2_zve32x1p0_zvl64b1p0_xthing3p14", "rv32i_zve32x_zvl64b_xthing"),
            ("", "rv32"),
        ] {
            assert_eq!(Arch::parse(text).to_string(), expected, "{text}");
        }
    }

    #[test]
    fn what_an_array_lacks() {
        let mut config = Config::preset("default").unwrap();
        (config.atomics, config.aes, config.network) = (false, false, false);
        let arch = Arch::parse("rv32i2p1_m2p0_a2p1_f2p2_zicsr2p0_zba1p0_zbb1p0_zkne1p0");
        assert_eq!(arch.beyond(&config), ["a", "f", "zba", "zkne"]);
        (config.atomics, config.aes) = (true, true);
        assert_eq!(arch.beyond(&config), ["f", "zba"]);
        assert_eq!(Arch::of(&config).to_string(), "rv32ima_zicsr_zbb_zknd_zkne");
        assert!(Arch::of(&config).beyond(&config).is_empty());
    }

    /// What hand-written kernels switch on is told by the file, if it is on at the end of the
    /// source.
    #[test]
    fn options_in_the_source() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("k.elf");
        let arch = |option: &str| {
            let text = format!(".globl kernel\n{option}\nkernel: ret\n");
            build_source("k.S", &text, RegisterClass::Rv32i, &output).unwrap();
            Kernel::read(&output).unwrap().arch.unwrap().extensions
        };
        assert!(!arch("").contains(&"zkne".to_string()));
        assert!(arch(".option arch, +zkne").contains(&"zkne".to_string()));
        assert!(arch(".option arch, +a").contains(&"a".to_string()));
    }
}
