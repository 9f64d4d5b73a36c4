//! The parameters of the array and their named presets.

mod check;
mod documents;
mod option;
mod options;
mod serial;

pub use documents::options_page;
pub use option::{ArrayOption, Subsystem, Values};
pub use options::{CommandOptions, Config, ControlOptions, CoreOptions, SpawnOptions, OPTIONS};

/// Slots a core can address: the width of a slot index is 5 bits, as in the paper's LUT (Hermes,
/// section 3.3.2).
pub const MAX_WARPS: usize = 32;
/// Cores that the control logic can address with a 5-bit index.
pub const MAX_CORES: usize = 32;
/// Registers per lane per core, shared by its warps: 16 warps with 32 registers or 32 with 16.
pub const REGISTERS_PER_LANE: usize = 512;
/// Bytes of a memory line and of an AXI4 beat.
pub const LINE_BYTES: usize = 64;
/// Where a thread returns to: jumping here ends it (the value of `ra` at its start).
pub const EXIT_ADDRESS: u32 = 0xffff_fffc;

/// Cause of the fault with which the lanes of a warp end that has run for too long (WATCHDOG
/// register): the first of those that the RISC-V privileged specification leaves to platforms.
pub const WATCHDOG_CAUSE: u8 = 24;
/// With a local window, where every thread sees its stack: 2^STACK_BYTES_LOG2 bytes from here on,
/// at most up to the scratchpad.
pub const LOCAL_WINDOW_ADDRESS: u32 = 0xfffd_0000;
/// First byte of the region of stacks, up to the scratchpad: an access there that is not on the
/// stack is a fault, whatever the windows say.
pub const LOCAL_REGION_ADDRESS: u32 = 0xfffc_0000;
/// First byte of the scratchpad of the core; it is `SCRATCHPAD_BYTES` long.
pub const SCRATCHPAD_ADDRESS: u32 = 0xfffe_0000;

/// Most warps that a core with `slots` warp slots can run of a kernel with `registers` registers a
/// thread (16 or 32): its warps share the registers of the lanes.
#[must_use]
pub fn most_warps(slots: u32, registers: u32) -> u32 {
    slots.min(REGISTERS_PER_LANE as u32 / registers)
}

/// Registers, caches and options that most tests of a core have: 32 warp slots, 64 lines in each
/// cache, direct-mapped, and nothing on request.
impl Default for CoreOptions {
    fn default() -> Self {
        let fpga = Config::with("fpga", |option| option.in_preset("fpga"));
        Self { warps: MAX_WARPS, l1_lines: 64, ..Self::from(&fpga) }
    }
}

impl CoreOptions {
    /// The cores run warps of spawned threads.
    #[must_use]
    pub const fn spawns(&self) -> bool {
        self.spawn_slots > 0
    }

    /// Several kernels share the array: some lanes of a warp start, and some forward their packets.
    #[must_use]
    pub const fn functions(&self) -> bool {
        self.network_functions > 0
    }
}

/// What most tests of a command processor have: a hart with a retire trace, 16 lines in its
/// instruction cache, direct-mapped, and nothing on request.
impl Default for CommandOptions {
    fn default() -> Self {
        let fpga = Config::with("fpga", |option| option.in_preset("fpga"));
        Self { command_threads: 1, instruction_cache_lines: 16, trace: true, ..Self::from(&fpga) }
    }
}

impl CommandOptions {
    /// The harts have data caches.
    #[must_use]
    pub const fn caches(&self) -> bool {
        self.command_cache_lines > 0
    }

    /// The harts have compare-and-swap.
    #[must_use]
    pub const fn compares(&self) -> bool {
        self.atomics && self.compare_and_swap
    }

    /// The harts have channels of user-level interrupts.
    #[must_use]
    pub const fn interrupts(&self) -> bool {
        self.uli_channels > 0
    }

    /// Lines and ways of the instruction cache that the harts share.
    #[must_use]
    pub const fn instruction_cache(&self) -> (usize, usize) {
        let (mut lines, mut ways) =
            (self.command_instruction_cache_lines, self.command_instruction_cache_ways);
        if lines == 0 {
            lines = self.instruction_cache_lines;
        }
        if ways == 0 {
            ways = self.instruction_cache_ways;
        }
        (lines, ways)
    }
}

impl SpawnOptions {
    /// Stores of the command processor to the descriptor page start threads: its channels of
    /// user-level interrupts move that page.
    #[must_use]
    pub const fn captures(&self) -> bool {
        self.uli_channels > 0
    }
}

impl ControlOptions {
    /// A control path of `cores` cores with `lanes` lanes and `warps` warp slots each, of packets
    /// alone, with nothing on request.
    #[must_use]
    pub const fn of(cores: usize, lanes: usize, warps: usize) -> Self {
        Self {
            cores,
            lanes,
            warps,
            spawn_slots: 0,
            adaptive_timeout: false,
            least_occupied_issue: false,
            load_counters: false,
            network_functions: 0,
            function_branches: false,
            trace: false,
        }
    }

    /// Warps of spawned threads are issued too.
    #[must_use]
    pub const fn spawns(&self) -> bool {
        self.spawn_slots > 0
    }

    /// Several kernels share the array.
    #[must_use]
    pub const fn functions(&self) -> bool {
        self.network_functions > 0
    }
}

/// A parameter that no array can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// No preset has this name.
    #[error("preset: `{0}` is not known; expected one of {names}", names = Config::PRESETS.join(", "))]
    UnknownPreset(String),
    /// A number outside its range.
    #[error("{field}: {value} is not possible; expected {expected}")]
    Range {
        /// The field of [`Config`].
        field: &'static str,
        /// Value of the field.
        value: usize,
        /// Values that the field may have, in words.
        expected: String,
    },
    /// A number that needs a part that is not there.
    #[error("{field}: {value} is not possible without `{part}`; expected {values}, and {otherwise} without `{part}`")]
    Without {
        /// The field of [`Config`].
        field: &'static str,
        /// Value of the field.
        value: usize,
        /// Values that the field may have, in words.
        values: String,
        /// The field that asks for the part.
        part: &'static str,
        /// Value of the field without the part.
        otherwise: usize,
    },
    /// A number that asks for a part that no array has together with another one.
    #[error("{field}: {value} is not possible with `{other}`; expected {values}, and 0 with `{other}`")]
    With {
        /// The field of [`Config`].
        field: &'static str,
        /// Value of the field.
        value: usize,
        /// Values that the field may have, in words.
        values: String,
        /// The field that asks for the other part.
        other: &'static str,
    },
    /// A part without another one that it needs.
    #[error("{part}: not possible without `{needs}`")]
    Needs {
        /// The field of [`Config`] that asks for the part.
        part: &'static str,
        /// The field of [`Config`] that asks for the part that is needed.
        needs: &'static str,
    },
    /// Two parts that no array has together.
    #[error("{part}: not possible together with `{other}`")]
    Excludes {
        /// The field of [`Config`] that asks for the part.
        part: &'static str,
        /// The field of [`Config`] that asks for the part that is excluded.
        other: &'static str,
    },
}

impl Config {
    /// Names of the presets.
    pub const PRESETS: [&'static str; 5] = ["paper", "default", "fpga", "pangaea", "node"];

    /// The preset called `name`: `paper` is the configuration of the Hermes paper (8 cores, 32
    /// lanes), `default` a small array for quick runs, `fpga` one that fits an ECP5-85F, `pangaea`
    /// the two execution units of the Pangaea paper (Table 1: five threads of 8 lanes each) with a
    /// command processor of four harts, user-level interrupts and the thread spawner, `node` a node
    /// of a cluster (ComP-Net, section 5.1, scaled down): a core with a network interface and a
    /// command processor of four harts.
    ///
    /// # Errors
    /// [`ConfigError::UnknownPreset`].
    pub fn preset(name: &str) -> Result<Self, ConfigError> {
        if !Self::PRESETS.contains(&name) {
            return Err(ConfigError::UnknownPreset(name.to_string()));
        }
        Ok(Self::with(name, |option| option.in_preset(name)))
    }

    /// What reaches its cores.
    #[must_use]
    pub fn core_options(&self) -> CoreOptions {
        self.into()
    }

    /// Value of the QOS register: a bit for each QoS option that the array has. Without any of
    /// them, 0, there is no such register.
    #[must_use]
    pub const fn qos(&self) -> u32 {
        self.load_counters as u32
            | (self.drop_when_full as u32) << 1
            | (self.least_occupied_issue as u32) << 2
            | (self.adaptive_timeout as u32) << 3
    }

    /// The array has a requester of the L2 behind the cores: that of the command processor and the
    /// thread spawner.
    #[must_use]
    pub const fn command_requester(&self) -> bool {
        self.command_threads > 0 || self.spawn_slots > 0
    }

    /// Number of the network interface among the requesters of the L2, if there is one: behind the
    /// cores and that of the command processor and the thread spawner.
    #[must_use]
    pub const fn network_requester(&self) -> usize {
        self.cores + self.command_requester() as usize
    }

    /// Command rings of a queue area, as a power of two: one for each warp slot of each core.
    #[must_use]
    pub const fn net_rings_log2(&self) -> usize {
        (self.cores * self.warps).next_power_of_two().ilog2() as usize
    }

    /// Queue areas, as a power of two.
    #[must_use]
    pub const fn net_areas_log2(&self) -> usize {
        self.net_domains.ilog2() as usize
    }
}

#[cfg(test)]
mod tests;
