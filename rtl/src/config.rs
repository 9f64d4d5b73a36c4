//! The parameters of the array and their named presets.

use crate::net::MOST_ENTRIES;
use crate::queues::MOST_QUEUES;
use serde::{Deserialize, Serialize};

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

/// Parameters of one array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// Name of the preset that this configuration started from.
    pub preset: String,
    /// Shader cores, 1 to [`MAX_CORES`].
    pub cores: usize,
    /// Lanes of a core, which is also the number of threads of a warp: 1, 2, 4, 8, 16 or 32.
    pub lanes: usize,
    /// Warp slots of a core, 1 to [`MAX_WARPS`].
    pub warps: usize,
    /// The cores have the AES instructions of RISC-V (Zkne and Zknd).
    pub aes: bool,
    /// The cores have the atomic instructions of RISC-V (A), and the L2 performs them.
    pub atomics: bool,
    /// Cores and harts have `amocas.w` of RISC-V (Zacas) besides; needs `atomics`.
    #[serde(default)]
    pub compare_and_swap: bool,
    /// Of the warps that can issue, a core takes the one that started first, instead of going
    /// round.
    pub oldest_first: bool,
    /// The cores have a local window: the words of stacks are interleaved by lane, and a stack
    /// belongs to its thread alone.
    #[serde(default)]
    pub local_window: bool,
    /// AXI4 channels to memory: 1, 2 or 4, and not more than banks of the L2.
    pub channels: usize,
    /// Banks of the L2: 1, 2, 4 or 8.
    pub l2_banks: usize,
    /// Lines of 64 bytes in a bank of the L2: a power of two, 16 to 4096.
    pub l2_bank_lines: usize,
    /// Ways of the L2: 1, 2 or 4.
    pub l2_ways: usize,
    /// Reservations of `lr.w` that a bank of the L2 keeps, each of another line: 1, 2, 4 or 8. More
    /// let more lanes through at a time whose lines are in one bank. Only with `atomics`.
    #[serde(default = "one")]
    pub l2_reservations: usize,
    /// A bank of the L2 looks a set up in one cycle and decides in the next: two cycles a request
    /// instead of one, for a higher clock.
    #[serde(default)]
    pub l2_look_up_cycle: bool,
    /// Lines of 64 bytes in the L1 data cache of a core: a power of two, 16 to 1024.
    pub l1_lines: usize,
    /// Words that a core reads from a line at once, and lanes whose stores to a line it merges in a
    /// cycle: 1, 2 or 4. Fewer take fewer LUTs, and more cycles where lanes of a warp use the same
    /// line.
    #[serde(default = "usual_line_words")]
    pub line_words: usize,
    /// The array has packet ports: frames come and go through AXI4-Stream.
    pub packet_ports: bool,
    /// Register PORTS has bit 1, with which the packet ports drop frames that find no slot; needs
    /// `packet_ports`.
    #[serde(default)]
    pub drop_when_full: bool,
    /// Hardware threads (harts) of the command processor: 0, for none, 1, 2, 4 or 8.
    #[serde(default)]
    pub command_threads: usize,
    /// Lines of 64 bytes in the data cache of each hart: a power of two, 16 to 512; 0: the command
    /// processor has no data cache.
    #[serde(default)]
    pub command_cache_lines: usize,
    /// Lines of 64 bytes in the instruction cache that the harts of the command processor share: a
    /// power of two, 16 to 1024; 0: as many as in a core's.
    #[serde(default)]
    pub command_instruction_cache_lines: usize,
    /// Ways of that cache: 1, 2 or 4; 0: as many as in a core's.
    #[serde(default)]
    pub command_instruction_cache_ways: usize,
    /// Lines of 64 bytes in the instruction cache of a core: a power of two, 16 to 1024.
    pub instruction_cache_lines: usize,
    /// Ways of the instruction cache: 1, 2 or 4.
    pub instruction_cache_ways: usize,
    /// Channels of user-level interrupts of each hart: 1, 2, 4 or 8; 0: the command processor has
    /// no such interrupts.
    #[serde(default)]
    pub uli_channels: usize,
    /// Slots of the thread spawner, each for one job: 8 or 16; 0: the array has no thread spawner.
    #[serde(default)]
    pub spawn_slots: usize,
    /// The array has a network interface: puts of other nodes and to them, as frames of RoCEv2.
    #[serde(default)]
    pub network: bool,
    /// Queue areas of the network interface, one for each protection domain that kernels use: 1, 2,
    /// 4 or 8; 1 without network interface.
    #[serde(default = "one")]
    pub net_domains: usize,
    /// Commands of each queue, of each hart and of the host that the network interface may have
    /// under way: 1, 2, 4 or 8. Without network interface as the preset has it.
    #[serde(default = "most_entries")]
    pub net_queue_entries: usize,
    /// The time-out of warp forming can follow the traffic.
    #[serde(default)]
    pub adaptive_timeout: bool,
    /// Of the cores that can take a packet warp, one with the fewest busy slots gets it, instead of
    /// the next one.
    #[serde(default)]
    pub least_occupied_issue: bool,
    /// The top has an output that tells that a thread ended with a fault or memory answered with an
    /// error.
    #[serde(default)]
    pub fault_output: bool,
    /// Entries of the trace buffer, which keeps what happened in the array until the host reads it:
    /// a power of two, 16 to 16384; 0: the array has none.
    #[serde(default)]
    pub trace_buffer: usize,
    /// The array has load counters: hits of the L1, why warps are formed, busy warp slots, and how
    /// full queues and ring became.
    #[serde(default)]
    pub load_counters: bool,
    /// Network functions (NFs) that share the array, each on cores of its own, and pass packets on
    /// to each other: 2, 4 or 8; 0: one kernel runs on all cores. Needs `local_window`; not with
    /// `spawn_slots`, `network`, `trace_buffer`, `adaptive_timeout` and `load_counters`.
    #[serde(default)]
    pub network_functions: usize,
    /// Packets branch by their verdicts from one network function to others. Needs
    /// `network_functions`.
    #[serde(default)]
    pub function_branches: bool,
    /// The top has the ports of the retire trace, for verification.
    pub trace: bool,
}

/// Queue areas, and reservations of a bank, of an array that says nothing of them.
const fn one() -> usize {
    1
}

/// Words at once of an array that says nothing of them.
const fn usual_line_words() -> usize {
    4
}

/// Commands of a queue under way in an array that says nothing of them.
const fn most_entries() -> usize {
    MOST_ENTRIES
}

/// Sizes of a core, and its parts that are there on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreOptions {
    /// Warp slots, 1 to 32.
    pub warps: usize,
    /// AES instructions.
    pub aes: bool,
    /// Atomic instructions.
    pub atomics: bool,
    /// Compare-and-swap.
    pub compare_and_swap: bool,
    /// The oldest warp issues first.
    pub oldest_first: bool,
    /// Stacks are in the local window.
    pub local_window: bool,
    /// Lines of the L1 data cache.
    pub l1_lines: usize,
    /// Words that are read from a line at once, and lanes whose stores are merged in a cycle.
    pub line_words: usize,
    /// Lines of the instruction cache.
    pub instruction_cache_lines: usize,
    /// Ways of the instruction cache.
    pub instruction_cache_ways: usize,
    /// Warps of spawned threads.
    pub spawns: bool,
    /// What the network interface needs: the CSR 0xccb, waits for writes (`wrs.nto`, `wrs.sto`),
    /// and a `fence` without R in its successor set leaves the data cache as it is.
    pub network: bool,
    /// Banks of the L2, whose writes end such waits.
    pub l2_banks: usize,
    /// Retire trace.
    pub trace: bool,
    /// What a trace buffer is told.
    pub trace_buffer: bool,
    /// What the load counters count of it.
    pub load_counters: bool,
    /// Starts of some lanes, and which lanes forward their packets.
    pub functions: bool,
    /// By which edge each lane forwards its packet.
    pub branches: bool,
}

impl Default for CoreOptions {
    /// 32 warp slots, 64 lines in each cache, direct-mapped, and nothing on request.
    fn default() -> Self {
        Self {
            warps: 32,
            aes: false,
            atomics: false,
            compare_and_swap: false,
            oldest_first: false,
            local_window: false,
            l1_lines: 64,
            line_words: 4,
            instruction_cache_lines: 64,
            instruction_cache_ways: 1,
            spawns: false,
            network: false,
            l2_banks: 1,
            trace: false,
            trace_buffer: false,
            load_counters: false,
            functions: false,
            branches: false,
        }
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
        /// Its value.
        value: usize,
        /// What it may be.
        expected: &'static str,
    },
    /// A part without another one that it needs.
    #[error("{part}: not possible without `{needs}`")]
    Needs {
        /// The field of [`Config`] that asks for the part.
        part: &'static str,
        /// That of the part that it needs.
        needs: &'static str,
    },
    /// Two parts that no array has together.
    #[error("{part}: not possible together with `{other}`")]
    Excludes {
        /// The field of [`Config`] that asks for the part.
        part: &'static str,
        /// That of the part that it excludes.
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
        let (cores, lanes, warps, l2_banks, l2_bank_lines, l1_lines, instruction_cache_lines) = match name {
            "paper" => (8, 32, 32, 8, 1024, 512, 256),
            "default" => (2, 8, 8, 2, 256, 64, 64),
            "fpga" => (1, 8, 8, 1, 64, 32, 64),
            "pangaea" => (2, 8, 5, 2, 2048, 64, 32),
            "node" => (1, 8, 8, 2, 512, 64, 64),
            _ => return Err(ConfigError::UnknownPreset(name.to_string())),
        };
        let plain = Self {
            preset: name.to_string(),
            cores,
            lanes,
            warps,
            aes: false,
            atomics: false,
            compare_and_swap: false,
            oldest_first: false,
            local_window: false,
            channels: 1,
            l2_banks,
            l2_bank_lines,
            l2_ways: 4,
            l2_reservations: 1,
            l2_look_up_cycle: false,
            l1_lines,
            line_words: usual_line_words(),
            packet_ports: false,
            drop_when_full: false,
            command_threads: 0,
            command_cache_lines: 0,
            command_instruction_cache_lines: 0,
            command_instruction_cache_ways: 0,
            uli_channels: 0,
            instruction_cache_lines,
            instruction_cache_ways: 1,
            spawn_slots: 0,
            network: false,
            net_domains: 1,
            net_queue_entries: Self::usual_entries(name),
            adaptive_timeout: false,
            least_occupied_issue: false,
            fault_output: false,
            trace_buffer: 0,
            load_counters: false,
            network_functions: 0,
            function_branches: false,
            trace: false,
        };
        Ok(match name {
            "paper" | "default" => Self { local_window: true, ..plain },
            "pangaea" => Self {
                atomics: true,
                command_threads: 4,
                command_cache_lines: 64,
                command_instruction_cache_lines: 128,
                command_instruction_cache_ways: 2,
                uli_channels: 2,
                instruction_cache_ways: 4,
                local_window: true,
                spawn_slots: 16,
                ..plain
            },
            "node" => {
                Self { atomics: true, command_threads: 4, command_cache_lines: 64, network: true, ..plain }
            }
            _ => plain,
        })
    }

    /// Commands of a queue under way in the preset called `name`: half as many in `paper`, whose
    /// 256 queues would need twice the block RAM else.
    fn usual_entries(name: &str) -> usize {
        if name == "paper" {
            4
        } else {
            MOST_ENTRIES
        }
    }

    /// Lines and ways of the instruction cache of the command processor.
    #[must_use]
    pub const fn command_instruction_cache(&self) -> (usize, usize) {
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

    /// The optional parts of its cores.
    pub fn core_options(&self) -> CoreOptions {
        CoreOptions {
            warps: self.warps,
            aes: self.aes,
            atomics: self.atomics,
            compare_and_swap: self.compare_and_swap,
            oldest_first: self.oldest_first,
            local_window: self.local_window,
            l1_lines: self.l1_lines,
            line_words: self.line_words,
            instruction_cache_lines: self.instruction_cache_lines,
            instruction_cache_ways: self.instruction_cache_ways,
            spawns: self.spawn_slots > 0,
            network: self.network,
            l2_banks: self.l2_banks,
            trace: self.trace,
            trace_buffer: self.trace_buffer > 0,
            load_counters: self.load_counters,
            functions: self.network_functions > 0,
            branches: self.function_branches,
        }
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

    /// Checks every field against its range, and the parts for those that they need.
    ///
    /// # Errors
    /// [`ConfigError::Range`] for the first field outside its range, [`ConfigError::Needs`] for a
    /// part without another one that it needs, such as a network interface without atomic
    /// operations: the L2 performs those of peers, and kernels look with them at what came;
    /// [`ConfigError::Excludes`] for two parts that no array has together.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let range = |field, value, ok: bool, expected| {
            if ok {
                Ok(())
            } else {
                Err(ConfigError::Range { field, value, expected })
            }
        };
        range("cores", self.cores, (1..=MAX_CORES).contains(&self.cores), "1 to 32")?;
        let harts = matches!(self.command_threads, 0 | 1 | 2 | 4 | 8);
        range("command_threads", self.command_threads, harts, "0, 1, 2, 4 or 8")?;
        let channels = "0, 1, 2, 4 or 8, at most 16 of all harts, and 0 without command processor";
        let possible = matches!(self.uli_channels, 0 | 1 | 2 | 4 | 8)
            && self.command_threads * self.uli_channels <= 16
            && (self.uli_channels == 0 || self.command_threads > 0);
        range("uli_channels", self.uli_channels, possible, channels)?;
        range("spawn_slots", self.spawn_slots, matches!(self.spawn_slots, 0 | 8 | 16), "0, 8 or 16")?;
        let lines = "0 or a power of two, 16 to 512, and 0 without command processor";
        let power = |value: usize, low, high| value.is_power_of_two() && (low..=high).contains(&value);
        let possible = self.command_cache_lines == 0
            || (power(self.command_cache_lines, 16, 512) && self.command_threads > 0);
        range("command_cache_lines", self.command_cache_lines, possible, lines)?;
        if self.network && !self.atomics {
            return Err(ConfigError::Needs { part: "network", needs: "atomics" });
        }
        if self.compare_and_swap && !self.atomics {
            return Err(ConfigError::Needs { part: "compare_and_swap", needs: "atomics" });
        }
        if self.drop_when_full && !self.packet_ports {
            return Err(ConfigError::Needs { part: "drop_when_full", needs: "packet_ports" });
        }
        let possible = power(self.net_domains, 1, 8) && (self.network || self.net_domains == 1);
        range("net_domains", self.net_domains, possible, "1, 2, 4 or 8, and 1 without network interface")?;
        let entries = self.net_queue_entries;
        let usual = [MOST_ENTRIES, Self::usual_entries(&self.preset)].contains(&entries);
        let possible = power(entries, 1, MOST_ENTRIES) && (self.network || usual);
        let expected = "1, 2, 4 or 8, and that of the preset without network interface";
        range("net_queue_entries", entries, possible, expected)?;
        let entries = self.trace_buffer;
        let possible = entries == 0 || (power(entries, 16, 16384) && self.spawn_slots == 0);
        let expected = "0 or a power of two, 16 to 16384, and 0 with a thread spawner";
        range("trace_buffer", entries, possible, expected)?;
        let functions = matches!(self.network_functions, 0 | 2 | 4 | 8);
        range("network_functions", self.network_functions, functions, "0, 2, 4 or 8")?;
        if self.network_functions > 0 {
            let part = "network_functions";
            if !self.local_window {
                return Err(ConfigError::Needs { part, needs: "local_window" });
            }
            let others = [
                ("spawn_slots", self.spawn_slots > 0),
                ("network", self.network),
                ("trace_buffer", self.trace_buffer > 0),
                ("adaptive_timeout", self.adaptive_timeout),
                ("load_counters", self.load_counters),
            ];
            if let Some((other, _)) = others.into_iter().find(|(_, is_there)| *is_there) {
                return Err(ConfigError::Excludes { part, other });
            }
        }
        if self.function_branches && self.network_functions == 0 {
            return Err(ConfigError::Needs { part: "function_branches", needs: "network_functions" });
        }
        let queues = (self.cores * self.warps).next_power_of_two() * self.net_domains;
        let possible = !self.network || self.command_threads == 0 || queues <= MOST_QUEUES;
        let most = "at most 256 / (cores x warps, rounded up to a power of two) with a command processor";
        range("net_domains", self.net_domains, possible, most)?;
        let others = usize::from(self.command_requester())
            + usize::from(self.packet_ports)
            + usize::from(self.network);
        let most = [
            "1 to 32",
            "1 to 31 with packet ports, network interface, command processor or thread spawner",
            "1 to 30 with two of packet ports, network interface, and command processor or thread spawner",
            "1 to 29 with packet ports, network interface, and command processor or thread spawner",
        ][others];
        range("cores", self.cores, self.cores + others <= MAX_CORES, most)?;
        range("lanes", self.lanes, matches!(self.lanes, 1 | 2 | 4 | 8 | 16 | 32), "1, 2, 4, 8, 16 or 32")?;
        range("warps", self.warps, (1..=MAX_WARPS).contains(&self.warps), "1 to 32")?;
        range("l2_banks", self.l2_banks, power(self.l2_banks, 1, 8), "1, 2, 4 or 8")?;
        let channels = power(self.channels, 1, 4) && self.channels <= self.l2_banks;
        range("channels", self.channels, channels, "1, 2 or 4, and not more than l2_banks")?;
        let lines = "a power of two, 16 to 4096";
        range("l2_bank_lines", self.l2_bank_lines, power(self.l2_bank_lines, 16, 4096), lines)?;
        range("l2_ways", self.l2_ways, power(self.l2_ways, 1, 4), "1, 2 or 4")?;
        let reservations = power(self.l2_reservations, 1, 8);
        range("l2_reservations", self.l2_reservations, reservations, "1, 2, 4 or 8")?;
        if self.l2_reservations > 1 && !self.atomics {
            return Err(ConfigError::Needs { part: "l2_reservations", needs: "atomics" });
        }
        let lines = "a power of two, 16 to 1024";
        range("l1_lines", self.l1_lines, power(self.l1_lines, 16, 1024), lines)?;
        range("line_words", self.line_words, power(self.line_words, 1, 4), "1, 2 or 4")?;
        let instruction_lines = self.instruction_cache_lines;
        range("instruction_cache_lines", instruction_lines, power(instruction_lines, 16, 1024), lines)?;
        let ways = self.instruction_cache_ways;
        range("instruction_cache_ways", ways, power(ways, 1, 4), "1, 2 or 4")?;
        let own = self.command_instruction_cache_lines;
        let possible = own == 0 || (power(own, 16, 1024) && self.command_threads > 0);
        let lines = "0 or a power of two, 16 to 1024, and 0 without command processor";
        range("command_instruction_cache_lines", own, possible, lines)?;
        let own = self.command_instruction_cache_ways;
        let possible = own == 0 || (power(own, 1, 4) && self.command_threads > 0);
        range(
            "command_instruction_cache_ways",
            own,
            possible,
            "0, 1, 2 or 4, and 0 without command processor",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `paper` has half as many commands of a queue under way as the other presets.
    #[test]
    fn queue_entries_of_presets() {
        for name in Config::PRESETS {
            let entries = Config::preset(name).unwrap().net_queue_entries;
            assert_eq!(entries, if name == "paper" { 4 } else { 8 }, "{name}");
        }
    }

    #[test]
    fn presets_are_valid() {
        for name in Config::PRESETS {
            Config::preset(name).unwrap().validate().unwrap();
        }
    }

    #[test]
    fn errors_name_the_field_and_what_was_expected() {
        let error = Config::preset("papre").unwrap_err().to_string();
        assert_eq!(
            error,
            "preset: `papre` is not known; expected one of paper, default, fpga, pangaea, node"
        );
        let config = Config { lanes: 12, ..Config::preset("default").unwrap() };
        let error = config.validate().unwrap_err().to_string();
        assert_eq!(error, "lanes: 12 is not possible; expected 1, 2, 4, 8, 16 or 32");
        let config = Config { command_threads: 3, ..Config::preset("default").unwrap() };
        let error = config.validate().unwrap_err().to_string();
        assert_eq!(error, "command_threads: 3 is not possible; expected 0, 1, 2, 4 or 8");
        for (command_threads, command_cache_lines) in [(1, 48), (1, 1024), (0, 64)] {
            let plain = Config::preset("default").unwrap();
            let config = Config { command_threads, command_cache_lines, ..plain };
            let error = config.validate().unwrap_err().to_string();
            let expected =
                "is not possible; expected 0 or a power of two, 16 to 512, and 0 without command processor";
            assert_eq!(error, format!("command_cache_lines: {command_cache_lines} {expected}"));
        }
        for (command_threads, uli_channels) in [(1, 3), (4, 8), (8, 4), (0, 2), (1, 16)] {
            let config = Config { command_threads, uli_channels, ..Config::preset("default").unwrap() };
            let error = config.validate().unwrap_err().to_string();
            let expected = "0, 1, 2, 4 or 8, at most 16 of all harts, and 0 without command processor";
            assert_eq!(error, format!("uli_channels: {uli_channels} is not possible; expected {expected}"));
        }
        let config = Config { spawn_slots: 12, ..Config::preset("default").unwrap() };
        let error = config.validate().unwrap_err().to_string();
        assert_eq!(error, "spawn_slots: 12 is not possible; expected 0, 8 or 16");
        let config = Config { cores: 31, packet_ports: true, ..Config::preset("default").unwrap() };
        let error = Config { command_threads: 1, ..config.clone() }.validate().unwrap_err().to_string();
        assert_eq!(
            error,
            "cores: 31 is not possible; expected 1 to 30 with two of packet ports, network interface, and command processor or thread spawner"
        );
        config.validate().unwrap();
        let error = Config { cores: 32, packet_ports: false, atomics: true, network: true, ..config }
            .validate()
            .unwrap_err();
        let expected = "1 to 31 with packet ports, network interface, command processor or thread spawner";
        assert_eq!(error.to_string(), format!("cores: 32 is not possible; expected {expected}"));
        let config = Config { network: true, ..Config::preset("default").unwrap() };
        let error = config.validate().unwrap_err().to_string();
        assert_eq!(error, "network: not possible without `atomics`");
        let config = Config { drop_when_full: true, ..Config::preset("default").unwrap() };
        let error = config.validate().unwrap_err().to_string();
        assert_eq!(error, "drop_when_full: not possible without `packet_ports`");
        for (network, net_domains) in [(true, 3), (true, 16), (false, 2), (false, 0)] {
            let plain = Config::preset("default").unwrap();
            let config = Config { network, atomics: true, net_domains, ..plain };
            let error = config.validate().unwrap_err().to_string();
            let expected = "is not possible; expected 1, 2, 4 or 8, and 1 without network interface";
            assert_eq!(error, format!("net_domains: {net_domains} {expected}"));
        }
        let expected =
            "is not possible; expected 1, 2, 4 or 8, and that of the preset without network interface";
        for (preset, network, net_queue_entries, possible) in [
            ("default", true, 0, false),
            ("default", true, 3, false),
            ("default", true, 16, false),
            ("default", true, 1, true),
            ("default", false, 4, false),
            ("paper", false, 2, false),
            ("paper", true, 2, true),
            ("paper", false, 8, true),
        ] {
            let plain = Config::preset(preset).unwrap();
            let config = Config { network, atomics: true, net_queue_entries, ..plain };
            let error = config.validate().err().map(|error| error.to_string());
            let told = format!("net_queue_entries: {net_queue_entries} {expected}");
            assert_eq!(error, (!possible).then_some(told));
        }
        for (trace_buffer, spawn_slots) in [(8, 0), (48, 0), (32768, 0), (64, 8)] {
            let config = Config { trace_buffer, spawn_slots, ..Config::preset("fpga").unwrap() };
            let error = config.validate().unwrap_err().to_string();
            let expected = "0 or a power of two, 16 to 16384, and 0 with a thread spawner";
            assert_eq!(error, format!("trace_buffer: {trace_buffer} is not possible; expected {expected}"));
        }
        let config = Config { network_functions: 3, ..Config::preset("default").unwrap() };
        let error = config.validate().unwrap_err().to_string();
        assert_eq!(error, "network_functions: 3 is not possible; expected 0, 2, 4 or 8");
        let config = Config { network_functions: 2, ..Config::preset("default").unwrap() };
        config.validate().unwrap();
        let error = Config { local_window: false, ..config.clone() }.validate().unwrap_err().to_string();
        assert_eq!(error, "network_functions: not possible without `local_window`");
        for (other, config) in [
            ("spawn_slots", Config { spawn_slots: 8, ..config.clone() }),
            ("network", Config { network: true, atomics: true, ..config.clone() }),
            ("trace_buffer", Config { trace_buffer: 64, ..config.clone() }),
            ("adaptive_timeout", Config { adaptive_timeout: true, ..config.clone() }),
            ("load_counters", Config { load_counters: true, ..config }),
        ] {
            let error = config.validate().unwrap_err().to_string();
            assert_eq!(error, format!("network_functions: not possible together with `{other}`"));
        }
        let config = Config { function_branches: true, ..Config::preset("default").unwrap() };
        let error = config.validate().unwrap_err().to_string();
        assert_eq!(error, "function_branches: not possible without `network_functions`");
        let config = Config { channels: 2, ..Config::preset("fpga").unwrap() };
        let error = config.validate().unwrap_err().to_string();
        assert_eq!(error, "channels: 2 is not possible; expected 1, 2 or 4, and not more than l2_banks");
    }
}
