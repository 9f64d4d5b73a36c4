//! The boards that are known, and how an array is put on one.

use hermes_hdl::emit::{emit, Design, EmitError};
use hermes_hdl::prelude::Part;
use hermes_rtl::board::{BoardIdentity, LineMemory, SdramMemory, SdramTiming};
use hermes_rtl::config::{Config, ConfigError};
use sha2::{Digest, Sha256};

use crate::boards::Ulx3s;
use crate::flow::Device;
use crate::prim::{Ecp5Pll, Ecp5SdramPins};

/// A board that cannot be, or an array that it cannot carry.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// No such board.
    #[error("board: `{0}` is not known; expected one of {names}", names = Board::names().join(", "))]
    Unknown(String),
    /// No such clock.
    #[error("clock: {0} MHz is not possible; expected 10 to 120 MHz, made of {1} MHz by the PLL")]
    Clock(f64, u32),
    /// No such rate.
    #[error("baud: {0} is not possible; expected 9600 to {1}, a quarter of the clock or 3,000,000, within 0.5 % of what the clock makes")]
    Baud(u32, u32),
    /// No such memory.
    #[error(
        "memory: 2^{0} bytes are not possible; expected 2^14 to 2^20 in block RAM, or 2^25 or 2^26 in SDRAM"
    )]
    Memory(usize),
    /// The array has what the board has not.
    #[error(
        "{part}: not possible together with board {board}, which has nothing to connect to it; expected an array without"
    )]
    Part {
        /// The field of [`Config`].
        part: &'static str,
        /// The board.
        board: &'static str,
    },
    /// The configuration of the array is not possible.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// A board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Its name.
    pub name: &'static str,
    /// What it is, for people.
    pub title: &'static str,
    /// Its FPGA.
    pub device: Device,
    /// What the device has.
    pub capacity: Capacity,
    /// Its oscillator in kHz.
    pub oscillator: u32,
    /// Clock of the array in kHz, unless another is asked for.
    pub kilohertz: u32,
    /// Rate of the serial line, unless another is asked for.
    pub baud: u32,
    /// Preset of the array.
    pub preset: &'static str,
    /// Lanes of the array, if not those of the preset.
    pub lanes: Option<usize>,
    /// Command processor and thread spawner of the array, if it has them.
    pub command: Option<Command>,
    /// Packet memory, as a power of two of bytes, unless another is asked for.
    pub memory_log2: usize,
    /// The pins of clock and serial line.
    pub pins: Pins,
    /// Pin constraints.
    pub constraints: &'static str,
    /// Those of the SDRAM.
    pub sdram_constraints: &'static str,
}

/// The command processor and the thread spawner of a board's array. Its harts have no data cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// Harts.
    pub threads: usize,
    /// Channels of user-level interrupts of a hart.
    pub channels: usize,
    /// Slots of the thread spawner.
    pub spawn_slots: usize,
}

/// What a device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// LUTs of four inputs.
    pub luts: usize,
    /// Block RAMs of 18 kbit.
    pub block_rams: usize,
    /// Multipliers of 18 x 18 bits.
    pub multipliers: usize,
}

/// Names of the pins that a simulation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pins {
    /// The oscillator.
    pub clock: &'static str,
    /// The serial line to the board.
    pub to_board: &'static str,
    /// The serial line from the board.
    pub from_board: &'static str,
}

const ULX3S: Board = Board {
    name: "ulx3s",
    title: "Radiona ULX3S with an LFE5U-85F",
    device: Device { size: "--85k", package: "CABGA381", speed: 6 },
    capacity: Capacity { luts: 83_640, block_rams: 208, multipliers: 156 },
    oscillator: 25_000,
    kilohertz: 40_000,
    baud: 2_000_000,
    preset: "fpga",
    lanes: None,
    command: None,
    memory_log2: 17,
    pins: Pins { clock: "clk_25mhz", to_board: "ftdi_txd", from_board: "ftdi_rxd" },
    constraints: include_str!("../constraints/ulx3s.lpf"),
    sdram_constraints: include_str!("../constraints/ulx3s_sdram.lpf"),
};

/// The boards.
pub const BOARDS: [Board; 3] = [
    ULX3S,
    Board {
        name: "ulx3s-cp",
        title: "Radiona ULX3S with an LFE5U-85F, and a command processor on it",
        lanes: Some(2),
        command: Some(Command { threads: 1, channels: 2, spawn_slots: 8 }),
        // Two seeds of two were routed at 32 and 34 MHz.
        kilohertz: 30_000,
        memory_log2: 25,
        ..ULX3S
    },
    Board {
        name: "ulx3s-45f",
        title: "Radiona ULX3S with an LFE5U-45F",
        device: Device { size: "--45k", ..ULX3S.device },
        capacity: Capacity { luts: 43_848, block_rams: 108, multipliers: 72 },
        lanes: Some(2),
        memory_log2: 15,
        ..ULX3S
    },
];

impl Board {
    /// The names of all boards.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        BOARDS.iter().map(|board| board.name).collect()
    }

    /// The board called `name`.
    ///
    /// # Errors
    /// [`BoardError::Unknown`].
    pub fn find(name: &str) -> Result<Self, BoardError> {
        let found = BOARDS.iter().find(|board| board.name == name);
        found.copied().ok_or_else(|| BoardError::Unknown(name.to_string()))
    }

    /// The array that the board carries unless another is asked for. Its L2 has a cycle for the
    /// look-up, without which it is not placed for the clock of the board.
    #[must_use]
    pub fn config(&self) -> Config {
        let preset = Config::preset(self.preset).expect("the preset of a board is one");
        let command = self.command.unwrap_or(Command { threads: 0, channels: 0, spawn_slots: 0 });
        Config {
            lanes: self.lanes.unwrap_or(preset.lanes),
            l2_look_up_cycle: true,
            line_words: 1,
            command_threads: command.threads,
            uli_channels: command.channels,
            spawn_slots: command.spawn_slots,
            ..preset
        }
    }

    /// Checks that the board has something to connect to every part of the array.
    ///
    /// # Errors
    /// [`BoardError::Part`] for the first part for which it has not.
    pub fn check(&self, config: &Config) -> Result<(), BoardError> {
        let parts = [
            (config.packet_ports, "packet_ports"),
            (config.network, "network"),
            (config.trace, "trace"),
            (config.channels > 1, "channels"),
        ];
        match parts.iter().find(|(there, _)| *there) {
            Some((_, part)) => Err(BoardError::Part { part, board: self.name }),
            None => Ok(()),
        }
    }

    /// Settings for an array on this board.
    ///
    /// # Errors
    /// The configuration is not possible, or has parts that a board does not connect; no clock near
    /// `megahertz`, no such rate or size.
    pub fn settings(
        &self,
        config: Config,
        megahertz: Option<f64>,
        baud: Option<u32>,
        memory_log2: Option<usize>,
    ) -> Result<Settings, BoardError> {
        let config = Config { fault_output: true, ..config };
        config.validate()?;
        self.check(&config)?;
        let wanted = megahertz.unwrap_or(f64::from(self.kilohertz) / 1e3);
        let pll =
            (10.0..=120.0).contains(&wanted).then(|| Ecp5Pll::find(self.oscillator, (wanted * 1e3) as u32));
        let pll = pll.flatten().ok_or(BoardError::Clock(wanted, self.oscillator / 1000))?;
        let baud = baud.unwrap_or(self.baud);
        let most = (pll.kilohertz * 250).min(3_000_000);
        let step = uart_step(pll.kilohertz, baud);
        let made = f64::from(pll.kilohertz) * 1e3 * step as f64 / 65_536.0;
        let near = (made / f64::from(baud) - 1.0).abs() < 0.005;
        if !(9_600..=most).contains(&baud) || !near {
            return Err(BoardError::Baud(baud, most));
        }
        let memory_log2 = memory_log2.unwrap_or(self.memory_log2);
        if !matches!(memory_log2, 14..=20 | 25 | 26) {
            return Err(BoardError::Memory(memory_log2));
        }
        Ok(Settings { board: *self, config, pll, baud, memory_log2 })
    }
}

/// Where packets, kernels and tables are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketMemory {
    /// In block RAM: so many bytes, as a power of two.
    BlockRam(usize),
    /// In the SDRAM of the board: so many bytes, as a power of two, and the times of the chip.
    Sdram(usize, SdramTiming),
}

impl PacketMemory {
    /// Whether it is in an SDRAM.
    #[must_use]
    pub fn is_sdram(self) -> bool {
        matches!(self, Self::Sdram(..))
    }

    /// The memory in block RAM.
    pub(crate) fn block_ram(self) -> Part<LineMemory> {
        Part::of(match self {
            Self::BlockRam(bytes_log2) => Some(LineMemory::new(bytes_log2)),
            Self::Sdram(..) => None,
        })
    }

    /// The controller of the SDRAM.
    pub(crate) fn controller(self) -> Part<SdramMemory> {
        Part::of(match self {
            Self::BlockRam(_) => None,
            Self::Sdram(bytes_log2, timing) => Some(SdramMemory::new(timing, bytes_log2)),
        })
    }

    /// The pins of the SDRAM.
    pub(crate) fn pins(self) -> Part<Ecp5SdramPins> {
        Part::of(match self {
            Self::BlockRam(_) => None,
            // 8,192 rows, 4 banks, 2 bytes
            Self::Sdram(bytes_log2, timing) => {
                Some(Ecp5SdramPins::new(bytes_log2 - 16, timing.cas_latency as usize))
            }
        })
    }
}

/// A board with its array, clock and serial line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The board.
    pub board: Board,
    /// The array.
    pub config: Config,
    /// What makes its clock.
    pub pll: Ecp5Pll,
    /// Bits a second on the serial line.
    pub baud: u32,
    /// Packet memory, as a power of two of bytes: 14 to 20 in block RAM, 25 or 26 in SDRAM.
    pub memory_log2: usize,
}

impl Settings {
    /// What the board says of itself.
    #[must_use]
    pub fn identity(&self) -> BoardIdentity {
        let kilohertz = self.pll.kilohertz;
        BoardIdentity { hash: configuration_hash(&self.config), memory_log2: self.memory_log2, kilohertz }
    }

    /// Where the packets are: block RAM up to 1 MiB, SDRAM above.
    #[must_use]
    pub fn packet_memory(&self) -> PacketMemory {
        match self.memory_log2 {
            0..=20 => PacketMemory::BlockRam(self.memory_log2),
            _ => PacketMemory::Sdram(self.memory_log2, SdramTiming::at(self.pll.kilohertz.into())),
        }
    }

    /// The constraints of the pins that the top has.
    #[must_use]
    pub fn constraints(&self) -> String {
        let sdram = if self.packet_memory().is_sdram() { self.board.sdram_constraints } else { "" };
        format!("{}{sdram}", self.board.constraints)
    }

    /// Part of a bit of the serial line that a cycle is, in 2^-16.
    #[must_use]
    pub fn uart_step(&self) -> u64 {
        uart_step(self.pll.kilohertz, self.baud)
    }

    /// The top of the board as Verilog.
    ///
    /// # Errors
    /// What the back end finds wrong with the design.
    pub fn emit(&self) -> Result<Design, EmitError> {
        match self.config.lanes {
            1 => self.emit_lanes::<1>(),
            2 => self.emit_lanes::<2>(),
            4 => self.emit_lanes::<4>(),
            8 => self.emit_lanes::<8>(),
            16 => self.emit_lanes::<16>(),
            _ => self.emit_lanes::<32>(),
        }
    }

    fn emit_lanes<const LANES: usize>(&self) -> Result<Design, EmitError> {
        emit(&Ulx3s::<LANES>::new(self), self.top())
    }

    /// Name of the top module.
    #[must_use]
    pub fn top(&self) -> &'static str {
        "ulx3s_top"
    }
}

/// The nearest part of a bit, in 2^-16, that a cycle of a clock in kHz is.
fn uart_step(kilohertz: u32, baud: u32) -> u64 {
    let clock = u64::from(kilohertz) * 1000;
    ((u64::from(baud) << 16) + clock / 2) / clock
}

/// What tells the bitstream of one array from that of another: the first 8 bytes of the SHA-256 of
/// the configuration as JSON, without the name of its preset.
///
/// # Panics
/// Never: a configuration is JSON.
#[must_use]
pub fn configuration_hash(config: &Config) -> u64 {
    let nameless = Config { preset: String::new(), ..config.clone() };
    let text = serde_json::to_vec(&nameless).expect("a configuration is JSON");
    let hash = Sha256::digest(text);
    u64::from_le_bytes(std::array::from_fn(|i| hash[i]))
}

#[cfg(test)]
#[path = "board_tests.rs"]
mod tests;
