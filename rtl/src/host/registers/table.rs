//! The register table: the entries of all blocks, for documentation, headers and software.

use super::RegisterFile;
use crate::config::Config;
use hermes_hdl::prelude::PortGroup;

/// How the host may use a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Keeps what the host wrote.
    ReadWrite,
    /// Shows a value of the hardware; writes are ignored.
    ReadOnly,
    /// A write is an event for the hardware; reads give zero.
    WriteOnly,
    /// A write is an event for the hardware; reads show a value of the hardware.
    Command,
}

/// The part of an array that a register belongs to. Without it the register is not there: accesses
/// to it get SLVERR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Every array has it.
    Always,
    /// The adaptive time-out.
    AdaptiveTimeout,
    /// Ports by which packets come and leave.
    PacketPorts,
    /// Packet ports that can drop frames that find no slot.
    DropWhenFull,
    /// Jobs of the thread spawner.
    ThreadSpawner,
    /// Command processor with its harts.
    CommandProcessor,
    /// The network interface.
    Network,
    /// A QoS option, whichever.
    Qos,
    /// Counters of the load of cores and queues.
    LoadCounters,
    /// Network functions that share the cores.
    NetworkFunctions,
    /// Network functions whose packets branch by their verdicts.
    FunctionBranches,
}

impl Part {
    /// Whether an array with this configuration has the part.
    #[must_use]
    pub const fn is_in(self, config: &Config) -> bool {
        match self {
            Self::Always => true,
            Self::AdaptiveTimeout => config.adaptive_timeout,
            Self::PacketPorts => config.packet_ports,
            Self::DropWhenFull => config.drop_when_full,
            Self::ThreadSpawner => config.spawn_slots > 0,
            Self::CommandProcessor => config.command_threads > 0,
            Self::Network => config.network,
            Self::Qos => config.qos() != 0,
            Self::LoadCounters => config.load_counters,
            Self::NetworkFunctions => config.network_functions > 0,
            Self::FunctionBranches => config.function_branches,
        }
    }

    /// Whether an array has the part whose CONFIG, QOS and NF_CONFIG registers have these values;
    /// without a register its value is 0.
    #[must_use]
    pub const fn is_announced(self, config: u32, qos: u32, functions: u32) -> bool {
        match self {
            Self::Always => true,
            Self::PacketPorts => config >> 24 & 1 == 1,
            Self::ThreadSpawner => config >> 26 & 1 == 1,
            Self::CommandProcessor => config >> 25 & 1 == 1,
            Self::Network => config >> 28 & 1 == 1,
            Self::Qos => config >> 30 & 1 == 1,
            Self::NetworkFunctions => config >> 31 == 1,
            Self::FunctionBranches => functions >> 8 & 1 == 1,
            Self::LoadCounters => qos & 1 == 1,
            Self::DropWhenFull => qos >> 1 & 1 == 1,
            Self::AdaptiveTimeout => qos >> 3 & 1 == 1,
        }
    }

    /// Its name for users; empty for what every array has.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Always => "",
            Self::AdaptiveTimeout => "adaptive time-out",
            Self::PacketPorts => "packet ports",
            Self::DropWhenFull => "drop when full",
            Self::ThreadSpawner => "thread spawner",
            Self::CommandProcessor => "command processor",
            Self::Network => "network interface",
            Self::Qos => "a QoS option",
            Self::LoadCounters => "load counters",
            Self::NetworkFunctions => "network functions",
            Self::FunctionBranches => "function branches",
        }
    }
}

/// Bits of a register that have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterField {
    /// Name in lower case.
    pub name: &'static str,
    /// The lowest of the bits.
    pub lsb: usize,
    /// Number of bits.
    pub width: usize,
}

impl RegisterField {
    /// Its bits in the register.
    #[must_use]
    pub const fn mask(&self) -> u32 {
        (((1_u64 << self.width) - 1) << self.lsb) as u32
    }
}

/// One 32-bit register.
#[derive(Clone, Copy, Debug)]
pub struct RegisterSpec {
    /// Name in upper case, as in the C header.
    pub name: &'static str,
    /// Byte offset from the base of the register file.
    pub offset: u32,
    /// Accesses that the host may make.
    pub access: Access,
    /// Implemented bits, counted from bit 0; the bits above read as zero.
    pub bits: usize,
    /// Value that the host reads after reset, and before anything else happens. Of a register whose
    /// value follows from the configuration [`registers_of`] gives it; here it is 0.
    pub reset: u32,
    /// Function that gives the value after reset from the configuration, for a register of the
    /// hardware.
    pub reset_of: Option<fn(&Config) -> u32>,
    /// Reason why the register has no value after reset, if it has none; `reset` is 0 then.
    pub unset: Option<&'static str>,
    /// Bits among the implemented ones that are not kept, and read as zero.
    pub reserved: u32,
    /// Parts of the register that have names, if it has such; bits that are written can have
    /// another name when they are read.
    pub fields: &'static [RegisterField],
    /// The value of a register that shows what is known when the array is made.
    pub fixed: Option<fn(&Config) -> u32>,
    /// The part of the array that it belongs to.
    pub part: Part,
    /// Description of the register, with units.
    pub description: &'static str,
}

impl RegisterSpec {
    /// Whether a read after reset gives `reset`: not of what is written only, or has no value.
    #[must_use]
    pub fn has_reset(&self) -> bool {
        self.access != Access::WriteOnly && self.unset.is_none()
    }
}

/// The port group of a block of registers; `#[register_block]` implements it.
pub trait RegisterBlock: PortGroup {
    /// The unit that decodes the block: with the ports `request`, `answer` and `hardware`.
    type Unit;
    /// The part of the array that the block belongs to.
    const PART: Part;
    /// The registers, in the order of their offsets.
    const REGISTERS: &'static [RegisterSpec];
    /// The unit in an array with this configuration.
    fn unit(config: &Config) -> Self::Unit;
}

/// Offsets of all blocks, each once.
pub(super) const fn count(blocks: &[&[RegisterSpec]]) -> usize {
    let (mut sum, mut block) = (0, 0);
    while block < blocks.len() {
        let mut entry = 0;
        while entry < blocks[block].len() {
            sum += !is_in(blocks, block, blocks[block][entry].offset) as usize;
            entry += 1;
        }
        block += 1;
    }
    sum
}

/// Whether one of the first `end` blocks has a register at the offset.
const fn is_in(blocks: &[&[RegisterSpec]], end: usize, offset: u32) -> bool {
    let mut block = 0;
    while block < end {
        let mut entry = 0;
        while entry < blocks[block].len() {
            if blocks[block][entry].offset == offset {
                return true;
            }
            entry += 1;
        }
        block += 1;
    }
    false
}

/// A register with the bits that a later block has beside those of `first`: it is there with the
/// part of `first`, and else as the later block describes it.
const fn with_more_bits(first: RegisterSpec, later: RegisterSpec) -> RegisterSpec {
    RegisterSpec { part: first.part, ..later }
}

/// The entries of all blocks in the order of their offsets, one for each offset.
pub(super) const fn merged<const N: usize>(blocks: &[&[RegisterSpec]]) -> [RegisterSpec; N] {
    let mut all = [blocks[0][0]; N];
    let (mut filled, mut block) = (0, 0);
    while block < blocks.len() {
        let mut entry = 0;
        while entry < blocks[block].len() {
            let new = blocks[block][entry];
            entry += 1;
            let mut at = filled;
            while at > 0 && all[at - 1].offset > new.offset {
                at -= 1;
            }
            if at > 0 && all[at - 1].offset == new.offset {
                all[at - 1] = with_more_bits(all[at - 1], new);
                continue;
            }
            let mut moved = filled;
            while moved > at {
                all[moved] = all[moved - 1];
                moved -= 1;
            }
            all[at] = new;
            filled += 1;
        }
        block += 1;
    }
    all
}

/// Every register that an array can have, in the order of the offsets, with all the bits that it
/// can have.
pub const REGISTERS: &[RegisterSpec] = &merged::<{ count(RegisterFile::BLOCKS) }>(RegisterFile::BLOCKS);

/// The registers of an array with this configuration, in the order of the offsets.
#[must_use]
pub fn registers_of(config: &Config) -> Vec<RegisterSpec> {
    let known = |r: &RegisterSpec| {
        let reset = r.fixed.or(r.reset_of).map_or(r.reset, |value| value(config));
        RegisterSpec { reset, ..*r }
    };
    let here = RegisterFile::BLOCKS.iter().copied().flatten().filter(|r| r.part.is_in(config));
    let mut registers = std::collections::BTreeMap::new();
    for register in here.map(known) {
        let at: Option<RegisterSpec> = registers.get(&register.offset).copied();
        registers.insert(register.offset, at.map_or(register, |first| with_more_bits(first, register)));
    }
    registers.into_values().collect()
}

/// Address bits of the register file.
pub const ADDRESS_BITS: usize = 12;

/// The register called `name`.
///
/// # Panics
/// If the table has no such register: names in the code are written by us, not by users.
pub fn spec(name: &str) -> &'static RegisterSpec {
    REGISTERS.iter().find(|r| r.name == name).unwrap_or_else(|| panic!("no register is called {name}"))
}

/// Byte offset of the register called `name`.
///
/// # Panics
/// As [`spec`].
pub fn offset(name: &str) -> u32 {
    spec(name).offset
}

/// The value of a fixed register.
///
/// # Panics
/// If it has more bits than the register.
pub(super) fn fit(name: &str, value: u32, bits: usize) -> u64 {
    assert!(u64::from(value) < 1 << bits, "{name} has {bits} bits, and its value is {value:#x}");
    value.into()
}

/// The register map as a page for users: `docs/registers.md`.
pub fn markdown() -> String {
    let mut page = String::from(
        "# Register map\n\n\
         Generated from the blocks in `rtl/src/host/registers`; `HERMES_UPDATE=1 cargo test -p hermes-rtl registers` renews it.\n\n\
         The registers stand behind the AXI4-Lite port `s_axil_*`: 12-bit byte address, 32-bit data. Offsets that are\n\
         not in the table answer SLVERR and read as zero. So do the registers of a part that the array does not have (column\n\
         \"only with\"); the C header, the SystemRDL file and the manifest of the array leave them out. A write to TASK_PUSH\n\
         that finds no room answers SLVERR too. No access waits for more than a few cycles. An access of a byte\n\
         or half word, at its own address, is one to the word that it is in. Write strobes are honoured: bytes\n\
         whose strobe is low keep their value, and count as zero for registers that are written only. Writes to read-only\n\
         registers have no effect. Bits above those given read as zero.\n\n\
         RW: read and write. RO: read only. WO: a write is an event, reads give zero. CMD: a write is an event, reads show\n\
         a state.\n\n\
         Reset is what the host reads after reset, before anything else happens. \"array\": it follows from the configuration, and the\n\
         C header, the SystemRDL file and the manifest of the array have it. \"none\": it has no such value, for the reason in the\n\
         description.\n\n\
         | offset | name | access | bits | reset | only with | description |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for r in REGISTERS {
        let access = match r.access {
            Access::ReadWrite => "RW",
            Access::ReadOnly => "RO",
            Access::WriteOnly => "WO",
            Access::Command => "CMD",
        };
        let reset = match r {
            _ if r.access == Access::WriteOnly => String::new(),
            _ if r.unset.is_some() => "none".to_string(),
            _ if r.fixed.or(r.reset_of).is_some() => "array".to_string(),
            _ => format!("{:#x}", r.reset),
        };
        let description = match r.unset {
            Some(why) => format!("{}. No value after reset: {why}", r.description),
            None => r.description.to_string(),
        };
        let bits = match r.bits {
            1 => "0".to_string(),
            bits => format!("{}:0", bits - 1),
        };
        let row = [&format!("{:#05x}", r.offset), r.name, access, &bits, &reset, r.part.name(), &description];
        page += &format!("| {} |\n", row.join(" | "));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::super::{functions, sizes};
    use super::*;
    use std::collections::BTreeSet;

    /// Unique, since they rise.
    #[test]
    fn offsets_rise_and_are_words() {
        for list in RegisterFile::BLOCKS.iter().chain([&REGISTERS]) {
            for pair in list.windows(2) {
                assert!(pair[0].offset < pair[1].offset, "{} and {}", pair[0].name, pair[1].name);
            }
        }
        for r in REGISTERS {
            assert!(r.offset % 4 == 0 && r.offset < 1 << ADDRESS_BITS, "{}", r.name);
            assert!((1..=32).contains(&r.bits), "{}", r.name);
            assert!(u64::from(r.reset) < 1 << r.bits, "{}", r.name);
            assert!(r.has_reset() || r.reset == 0, "{}", r.name);
        }
    }

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<&str> = REGISTERS.iter().map(|r| r.name).collect();
        assert_eq!(names.len(), REGISTERS.len());
    }

    #[test]
    #[should_panic(expected = "has 8 bits")]
    fn a_fixed_value_fits_its_register() {
        fit("ID", 0x100, 8);
    }

    #[test]
    fn an_array_has_the_registers_of_its_parts() {
        let plain = Config::preset("default").unwrap();
        let with_ports = Config { packet_ports: true, ..plain.clone() };
        let with_command = Config { command_threads: 1, ..plain.clone() };
        let with_spawner = Config { spawn_slots: 8, ..plain.clone() };
        let with_network = Config { network: true, ..plain.clone() };
        let with_drop = Config { drop_when_full: true, ..with_ports.clone() };
        let with_loads = Config { load_counters: true, ..plain.clone() };
        let with_timeout = Config { adaptive_timeout: true, ..plain.clone() };
        let with_functions = Config { network_functions: 2, ..plain.clone() };
        let with_branches = Config { function_branches: true, ..with_functions.clone() };
        let with_all = Config {
            adaptive_timeout: true,
            command_threads: 1,
            spawn_slots: 16,
            network: true,
            load_counters: true,
            network_functions: 8,
            function_branches: true,
            ..with_drop.clone()
        };
        assert_eq!(registers_of(&with_all).len(), REGISTERS.len());
        for config in [
            &plain,
            &with_ports,
            &with_command,
            &with_spawner,
            &with_network,
            &with_drop,
            &with_loads,
            &with_timeout,
            &with_functions,
            &with_branches,
            &with_all,
        ] {
            let parts = [sizes(config), config.qos(), functions::sizes(config)];
            let is_announced = |r: &&RegisterSpec| r.part.is_announced(parts[0], parts[1], parts[2]);
            let announced = REGISTERS.iter().filter(is_announced);
            assert_eq!(announced.count(), registers_of(config).len());
        }
        let registers = registers_of(&plain);
        assert!(registers.iter().all(|r| r.part == Part::Always));
        let more = |config| registers_of(config).len() - registers.len();
        assert_eq!(more(&with_timeout), 7, "QOS and those of the adaptive time-out");
        assert_eq!(more(&with_ports), 11, "those of the packet ports");
        assert_eq!(more(&with_drop), 13, "QOS, and the frames that they dropped");
        assert_eq!(more(&with_spawner), 14, "those of the thread spawner");
        assert_eq!(more(&with_command), 34, "those of the command processor");
        assert_eq!(more(&with_network), 42, "those of the network interface");
        assert_eq!(more(&with_loads), 11, "QOS and those of the load counters");
        assert_eq!(more(&with_functions), 26, "those of the network functions");
        assert_eq!(more(&with_branches), 28, "those of the network functions, and of their branches");
    }

    /// PORTS has its second bit with the option only, and is one register with it.
    #[test]
    fn a_register_has_the_bits_of_the_parts() {
        let of = |drop_when_full| {
            let plain = Config::preset("default").unwrap();
            let registers = registers_of(&Config { packet_ports: true, drop_when_full, ..plain });
            let [ports] = registers.iter().filter(|r| r.name == "PORTS").collect::<Vec<_>>()[..] else {
                panic!("PORTS is not one register")
            };
            *ports
        };
        let (without, with) = (of(false), of(true));
        assert_eq!((without.bits, without.fields), (1, &[][..]));
        let names: Vec<_> = with.fields.iter().map(|field| (field.name, field.mask())).collect();
        assert_eq!((with.bits, with.reserved, with.part), (2, 0, Part::PacketPorts));
        assert_eq!(names, [("enable", 1), ("drop", 2)]);
        assert_eq!(spec("PORTS").bits, 2);
    }

    /// To renew the page after a change of a block:
    /// `HERMES_UPDATE=1 cargo test -p hermes-rtl registers`.
    #[test]
    fn the_page_in_docs_follows_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/registers.md");
        if std::env::var_os("HERMES_UPDATE").is_some() {
            std::fs::write(path, markdown()).unwrap();
        }
        let page = std::fs::read_to_string(path).unwrap_or_default();
        assert!(page == markdown(), "docs/registers.md is not up to date; renew it with HERMES_UPDATE=1");
    }
}
