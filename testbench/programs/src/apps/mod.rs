//! The apps: a kernel, what it reads in shared memory, and the golden model that says what must
//! come out.
//!
//! An app is a file of this folder with a constant of type [`AppEntry`], a line in [`APPS`], its
//! kernel in `kernels-asm/` and its golden model in `golden/`. Nothing else knows the apps by name.

mod check_ip_header;
mod classifier;
mod dec_ttl;
mod fragment;
mod ipsec;
mod patterns;
mod route_lookup;
mod router;

use std::fmt;
use std::path::{Path, PathBuf};

use crate::egress::EgressLists;
use crate::golden::{Difference, Golden};
use crate::kernel::{build_source_with, BuildError, BuildOptions, Kernel, RegisterClass};
use crate::slot::SlotPacket;
use crate::staging::temporary_folder;
use crate::verdict::Verdict;

/// Every app, in the order of the documentation.
pub const APPS: &[AppEntry] = &[
    dec_ttl::ENTRY,
    check_ip_header::ENTRY,
    route_lookup::ENTRY,
    classifier::LINEAR,
    classifier::BIT_VECTOR,
    router::ENTRY,
    patterns::NIDS,
    patterns::DPI,
    fragment::ENTRY,
    ipsec::ENTRY,
];

/// What is known of an app before its inputs are read.
#[derive(Clone, Copy, Debug)]
pub struct AppEntry {
    /// Name on the command line.
    pub name: &'static str,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// What it must be given.
    pub inputs: &'static [Input],
    /// Its kernel.
    source: Source,
    /// A kernel that takes the place of it where the cores have the AES instructions.
    aes_source: Option<Source>,
    /// Reads the inputs and compiles the tables.
    load: fn(&Inputs) -> anyhow::Result<Box<dyn App>>,
}

/// The source of a kernel.
#[derive(Clone, Copy, Debug)]
struct Source {
    /// Path in `kernels-asm`; its extension tells the language.
    path: &'static str,
    text: &'static str,
    registers: RegisterClass,
}

/// The source of a kernel in `kernels-asm`, with the registers that it uses.
macro_rules! kernel_source {
    ($path:literal, $registers:ident) => {
        $crate::apps::Source {
            path: $path,
            text: include_str!(concat!("../../../../kernels-asm/", $path)),
            registers: $crate::kernel::RegisterClass::$registers,
        }
    };
}
use kernel_source;

/// The text of the built-in source called `name`, without its folder: a kernel of an app, what
/// kernels include, the library.
#[must_use]
pub fn built_in_source(name: &str) -> Option<&'static str> {
    let mut sources = APPS.iter().flat_map(|entry| [entry.source].into_iter().chain(entry.aes_source));
    let kernel = sources.find(|source| source.path.rsplit('/').next() == Some(name));
    kernel.map(|source| source.text).or_else(|| crate::kernel::built_in(name))
}

/// An app with its inputs.
pub trait App: fmt::Debug {
    /// Bytes of shared memory for tables.
    fn table_bytes(&self) -> usize {
        0
    }

    /// The tables, to lie at `address`, a multiple of 64.
    fn tables(&self, address: u32) -> Vec<u8> {
        let _ = address;
        Vec::new()
    }

    /// The kernel's argument block.
    fn argument(&self, placement: &Placement) -> Vec<u32> {
        let _ = placement;
        Vec::new()
    }

    /// Stack bytes that a thread needs, as a power of two.
    fn stack_bytes_log2(&self) -> u32 {
        8
    }

    /// Most bytes by which a frame grows in its slot.
    fn growth(&self) -> usize {
        0
    }

    /// Most frames that leave for a packet whose frame has at most `frame_bytes` bytes, if the
    /// kernel sends others than that in the slot; otherwise 0.
    fn egress_entries(&self, frame_bytes: usize) -> usize {
        let _ = frame_bytes;
        0
    }

    /// What must come out for `packet`, the packet number `index` of the run.
    fn golden(&self, index: u64, packet: &SlotPacket) -> Golden;

    /// What is wrong with what came out for a packet, if anything is.
    fn check(&self, index: u64, packet: &SlotPacket, got: Golden) -> Option<Difference> {
        Difference::find(index, self.golden(index, packet), got)
    }

    /// Checks the frames that leave in place of a packet with a right verdict, the packet number
    /// `index` of the run.
    ///
    /// # Errors
    /// What is wrong with them.
    fn check_egress(&self, index: u64, packet: &SlotPacket, frames: &[Vec<u8>]) -> anyhow::Result<()> {
        let _ = (index, packet);
        anyhow::ensure!(frames.is_empty(), "{} frames leave instead of the packet", frames.len());
        Ok(())
    }

    /// The verdict in words, with what the app knows of it.
    fn verdict_name(&self, verdict: Verdict) -> String {
        verdict.to_string()
    }

    /// What the user should know of the inputs: how much was read, and what was left out.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Where things are in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The app's tables.
    pub tables: u32,
    /// The egress lists, if the app has any.
    pub egress: EgressLists,
    /// Slots of the packet ring, a power of two.
    pub ring_slots: u32,
}

/// An input of an app: an option of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// 5-tuple filters.
    Filters,
    /// Snort rules with patterns.
    Patterns,
    /// A routing table.
    Routes,
    /// Largest IPv4 packet that may leave, in bytes.
    Mtu,
    /// Keys of an ESP tunnel.
    Keys,
}

impl Input {
    /// Every input.
    pub const ALL: [Self; 5] = [Self::Filters, Self::Patterns, Self::Routes, Self::Mtu, Self::Keys];

    /// The option with its value, as a user writes it.
    pub const fn option(self) -> &'static str {
        match self {
            Self::Filters | Self::Patterns => "--rules FILE",
            Self::Routes => "--routes FILE",
            Self::Mtu => "--mtu BYTES",
            Self::Keys => "--keys FILE",
        }
    }
}

/// The inputs that were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// [`Input::Filters`] or [`Input::Patterns`].
    pub rules: Option<PathBuf>,
    /// [`Input::Routes`].
    pub routes: Option<PathBuf>,
    /// [`Input::Mtu`].
    pub mtu: Option<u16>,
    /// [`Input::Keys`].
    pub keys: Option<PathBuf>,
}

impl Inputs {
    fn has(&self, input: Input) -> bool {
        match input {
            Input::Filters | Input::Patterns => self.rules.is_some(),
            Input::Routes => self.routes.is_some(),
            Input::Mtu => self.mtu.is_some(),
            Input::Keys => self.keys.is_some(),
        }
    }

    /// The rules; [`AppEntry::load`] has made sure that they were given.
    fn rules(&self) -> &Path {
        self.rules.as_deref().unwrap_or(Path::new(""))
    }

    /// The routing table, alike.
    fn routes(&self) -> &Path {
        self.routes.as_deref().unwrap_or(Path::new(""))
    }

    /// The MTU, alike.
    fn mtu(&self) -> u16 {
        self.mtu.unwrap_or(u16::MAX)
    }

    /// The key file, alike.
    fn keys(&self) -> &Path {
        self.keys.as_deref().unwrap_or(Path::new(""))
    }
}

/// An app cannot be found, or not with these inputs.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// No app has this name.
    #[error("--app {0}: not known; expected one of {names}", names = names())]
    Unknown(String),
    /// An input is missing.
    #[error("--app {name} needs {option}")]
    Missing {
        /// The app.
        name: &'static str,
        /// The option.
        option: &'static str,
    },
    /// An input is of no use to the app.
    #[error("--app {name} does not take {option}")]
    Superfluous {
        /// The app.
        name: &'static str,
        /// The option.
        option: &'static str,
    },
}

fn names() -> String {
    APPS.iter().map(|app| app.name).collect::<Vec<_>>().join(", ")
}

impl AppEntry {
    /// The app called `name`.
    ///
    /// # Errors
    /// [`AppError::Unknown`].
    pub fn find(name: &str) -> Result<&'static Self, AppError> {
        APPS.iter().find(|app| app.name == name).ok_or_else(|| AppError::Unknown(name.to_string()))
    }

    /// Registers that its kernel uses.
    #[must_use]
    pub const fn registers(&self) -> RegisterClass {
        self.source.registers
    }

    /// Whether another kernel takes the place of its own where the cores have the AES instructions.
    #[must_use]
    pub const fn has_aes_kernel(&self) -> bool {
        self.aes_source.is_some()
    }

    /// Reads the inputs and compiles the tables.
    ///
    /// # Errors
    /// An input is missing, is of no use to this app, or cannot be used.
    pub fn load(&self, inputs: &Inputs) -> anyhow::Result<Box<dyn App>> {
        let name = self.name;
        for input in Input::ALL {
            let option = input.option();
            // Filters and patterns are given with the same option.
            let taken = self.inputs.iter().any(|taken| taken.option() == option);
            match (taken, inputs.has(input)) {
                (true, false) => return Err(AppError::Missing { name, option }.into()),
                (false, true) => return Err(AppError::Superfluous { name, option }.into()),
                _ => {}
            }
        }
        (self.load)(inputs)
    }

    /// Builds the kernel to the ELF file `output`; that with AES instructions if there is one and
    /// the cores have them (`aes`).
    ///
    /// # Errors
    /// [`BuildError`], for example when the assembler is not installed.
    pub fn build(&self, aes: bool, output: &Path) -> Result<(), BuildError> {
        self.build_at(aes, None, output)
    }

    /// As [`AppEntry::build`], with the first byte at `address`, if there is one.
    fn build_at(&self, aes: bool, address: Option<u32>, output: &Path) -> Result<(), BuildError> {
        let source = self.aes_source.filter(|_| aes).unwrap_or(self.source);
        let name = source.path.rsplit('/').next().unwrap_or(self.name);
        let options = BuildOptions { address, ..BuildOptions::new(source.registers) };
        build_source_with(name, source.text, &options, output)
    }

    /// Builds the kernel and loads it.
    ///
    /// # Errors
    /// As [`AppEntry::build`].
    pub fn kernel(&self, aes: bool) -> anyhow::Result<Kernel> {
        self.kernel_at(aes, None)
    }

    /// As [`AppEntry::kernel`], with the first byte at `address`, a multiple of 64, if there is
    /// one.
    ///
    /// # Errors
    /// As [`AppEntry::build`].
    pub fn kernel_at(&self, aes: bool, address: Option<u32>) -> anyhow::Result<Kernel> {
        let folder = temporary_folder("hermes-")?;
        let output = folder.path().join(format!("{}.elf", self.name));
        self.build_at(aes, address, &output)?;
        Ok(Kernel::read(&output)?)
    }
}
