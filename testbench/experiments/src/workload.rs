//! What a job runs: app, kernel, tables and packets, all made from the seed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use hermes_rtl::config::most_warps;
use hermes_testbench::apps::{App, AppEntry, Input, Inputs};
use hermes_testbench::firmware::{build_firmware_with, Firmware, FirmwareOptions};
use hermes_testbench::kernel::Kernel;
use hermes_testbench::slot::{self, SlotPacket};
use hermes_testbench::staging::temporary_folder;
use hermes_testbench::tables::{
    generate_filters, generate_routes, generate_rules, FilterKind, FilterSet, PatternSet, RouteTable,
};
use hermes_testbench::traffic::{Aim, Frame, Generator, Kind, Traffic};

use crate::digest::{digest, loaded};
use crate::parameters::Parameters;

/// Firmware that holds a time on the cores by the MCW.
const GOVERNOR: &str = include_str!("../../../kernels-asm/firmware/examples/delay-governor.c");
/// Output ports of the routing table.
const PORTS: u16 = 16;
/// Percent of the filters that drop their packets.
const DENIED: u32 = 20;
/// Largest packet behind the fragmentation.
const MTU: u16 = 576;
/// Keys of the tunnel.
const KEYS: &str = "spi 0x1001\nsource 192.0.2.1\ndestination 198.51.100.2\nnonce 00a00b30\n\
                    aes-128-ctr 2b7e151628aed2a6abf7158809cf4f3c\n\
                    hmac-sha1-96 0102030405060708090a0b0c0d0e0f1011121314\n";

/// The inputs of an app in files.
#[derive(Debug, Default)]
pub struct Tables {
    inputs: Inputs,
    /// SHA-256 of them.
    digest: String,
}

impl Tables {
    /// Writes the inputs that `entry` takes to `folder`, made as `parameters` say.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn create(entry: &AppEntry, parameters: &Parameters, folder: &Path) -> anyhow::Result<Self> {
        let mut tables = Self::default();
        let seed = parameters.seed;
        for input in entry.inputs {
            let (name, text) = match input {
                Input::Filters => {
                    let filters = generate_filters(FilterKind::Acl, parameters.filters, DENIED, seed);
                    ("acl.rules", filters.to_text())
                }
                Input::Patterns => ("snort.rules", generate_rules(parameters.pattern_rules, seed)),
                Input::Routes => ("routes.txt", generate_routes(parameters.prefixes, PORTS, seed).to_text()),
                Input::Keys => ("keys", KEYS.to_string()),
                Input::Mtu => {
                    tables.inputs.mtu = Some(MTU);
                    continue;
                }
            };
            let path: PathBuf = folder.join(name);
            fs::write(&path, &text)?;
            tables.digest += &digest(text.as_bytes());
            match input {
                Input::Filters | Input::Patterns => tables.inputs.rules = Some(path),
                Input::Routes => tables.inputs.routes = Some(path),
                Input::Keys => tables.inputs.keys = Some(path),
                Input::Mtu => {}
            }
        }
        tables.digest = digest(tables.digest.as_bytes());
        Ok(tables)
    }

    /// What the packets for an app are aimed at: what its tables hold.
    fn aim(&self, entry: &AppEntry) -> anyhow::Result<Aim> {
        let mut aim = Aim::default();
        let wants = |input| entry.inputs.contains(&input);
        if let Some(routes) = &self.inputs.routes {
            aim.routes = RouteTable::read(routes)?.routes;
        }
        match &self.inputs.rules {
            Some(rules) if wants(Input::Filters) => aim.filters = FilterSet::read(rules)?.filters,
            Some(rules) => {
                let patterns = PatternSet::read(rules, 1)?.patterns;
                aim.patterns = patterns.into_iter().map(|pattern| pattern.bytes).collect();
            }
            None => {}
        }
        Ok(aim)
    }
}

/// The firmware that aims at a time on the cores of `target` cycles, with the SHA-256 of what is
/// loaded; none for 0.
fn governor(target: u32, folder: &Path) -> anyhow::Result<Option<(Firmware, String)>> {
    if target == 0 {
        return Ok(None);
    }
    let (source, elf) = (folder.join("delay-governor.c"), folder.join("delay-governor.elf"));
    fs::write(&source, GOVERNOR)?;
    let options = FirmwareOptions { defines: vec![format!("TARGET={target}")], ..FirmwareOptions::default() };
    build_firmware_with(&[source], &options, &elf)?;
    let firmware = Firmware::read(&elf)?;
    let of_firmware = digest(&loaded(firmware.executable.entry, &firmware.executable.segments));
    Ok(Some((firmware, of_firmware)))
}

/// Kernel and tables of a job.
#[derive(Debug)]
pub struct Program {
    /// The app with its tables.
    pub app: Box<dyn App>,
    /// Its kernel.
    pub kernel: Kernel,
    /// SHA-256 of the kernel's ELF file.
    pub kernel_digest: String,
    /// Firmware of the command processor, with the SHA-256 of what is loaded.
    pub firmware: Option<(Firmware, String)>,
    /// SHA-256 of the tables.
    pub tables_digest: String,
    /// What packets are aimed at.
    aim: Aim,
}

impl Program {
    /// Makes it as `parameters` say.
    ///
    /// # Errors
    /// The parameters cannot be used, or the kernel cannot be built.
    pub fn create(parameters: &Parameters) -> anyhow::Result<Self> {
        parameters.validate()?;
        let entry = AppEntry::find(&parameters.app)?;
        let folder = temporary_folder("hermes-")?;
        let tables = Tables::create(entry, parameters, folder.path())?;
        let elf = folder.path().join(format!("{}.elf", entry.name));
        entry.build(parameters.array.aes, &elf)?;
        Ok(Self {
            app: entry.load(&tables.inputs)?,
            kernel: Kernel::read(&elf)?,
            kernel_digest: digest(&fs::read(&elf)?),
            firmware: governor(parameters.delay_target, folder.path())?,
            aim: tables.aim(entry)?,
            tables_digest: tables.digest,
        })
    }

    /// So many packets of a kind, aimed at what the tables hold.
    #[must_use]
    pub fn frames(&self, kind: Kind, seed: u64, packets: usize) -> Vec<Frame> {
        let traffic = Traffic { kind, seed, bad_share: 0.0, rate: 100.0 };
        Generator::aimed(traffic, self.aim.clone()).take(packets).collect()
    }

    /// The most warps of a core that an array with `slots` warp slots has room for.
    #[must_use]
    pub fn most_warps(&self, slots: usize) -> u32 {
        most_warps(slots as u32, self.kernel.registers.registers() as u32)
    }
}

/// What a job runs.
#[derive(Debug)]
pub struct Workload {
    /// Kernel and tables.
    pub program: Program,
    /// The packets, as they come.
    pub frames: Vec<Frame>,
    /// Bytes of a ring slot, as a power of two.
    pub slot_bytes_log2: u32,
}

impl Workload {
    /// Makes it as `parameters` say.
    ///
    /// # Errors
    /// As [`Program::create`], or more warps are to run than the registers of the kernel allow.
    pub fn create(parameters: &Parameters) -> anyhow::Result<Self> {
        let program = Program::create(parameters)?;
        let (mcw, most) = (parameters.mcw, program.most_warps(parameters.array.warps));
        let app = &parameters.app;
        ensure!(mcw <= most, "mcw {mcw}: expected 1 to {most}, as the registers of {app} allow");
        let frames = program.frames(parameters.kind()?, parameters.packet_seed, parameters.packets);
        Ok(Self { slot_bytes_log2: slot::bytes_log2_for(&frames, program.app.growth()), program, frames })
    }

    /// The packets as they lie in their slots.
    #[must_use]
    pub fn packets(&self) -> Vec<SlotPacket> {
        self.frames.iter().map(|frame| SlotPacket::new(frame, self.slot_bytes_log2)).collect()
    }
}
