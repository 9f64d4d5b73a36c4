//! A model of the chip, for simulations.

use super::timing::{MODE_SET, ROWS, SDRAM_TIMES, START_REFRESHES, WRITE_RECOVERY};
use crate::ports::SdramBus;
use std::collections::{HashMap, VecDeque};

/// Cycles from ACTIVATE of a bank to ACTIVATE of another one (tRRD).
const OTHER_BANK: u64 = 2;
/// A10: all banks, with PRECHARGE; auto precharge, with READ and WRITE.
const A10: u16 = 1 << 10;

/// What the pins of the chip show in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SdramPins {
    /// Chip select, active low.
    pub csn: bool,
    /// Row address strobe, active low.
    pub rasn: bool,
    /// Column address strobe, active low.
    pub casn: bool,
    /// Write enable, active low.
    pub wen: bool,
    /// Bank, 2 bits.
    pub ba: u8,
    /// Row, column or mode, 13 bits.
    pub a: u16,
    /// Byte mask, 2 bits, active high.
    pub dqm: u8,
    /// Data of the controller.
    pub d_out: u16,
    /// The controller drives the data pins.
    pub d_enable: bool,
}

impl SdramPins {
    /// A chip that is not selected, and data pins that nobody drives.
    pub const IDLE: Self =
        Self { csn: true, rasn: true, casn: true, wen: true, ba: 0, a: 0, dqm: 0, d_out: 0, d_enable: false };

    /// What the controller shows.
    #[must_use]
    pub fn of(bus: &SdramBus) -> Self {
        Self {
            csn: bus.csn.val(),
            rasn: bus.rasn.val(),
            casn: bus.casn.val(),
            wen: bus.wen.val(),
            ba: bus.ba.val().to_u64() as u8,
            a: bus.a.val().to_u64() as u16,
            dqm: bus.dqm.val().to_u64() as u8,
            d_out: bus.d_out.val().to_u64() as u16,
            d_enable: bus.d_enable.val(),
        }
    }
}

/// What the chip drives on the data pins; `None` while it does not drive them.
pub type SdramData = Option<u16>;

/// A command, as CS#, RAS#, CAS# and WE# say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    None,
    Mode,
    Refresh,
    Precharge,
    Activate,
    Write,
    Read,
    Stop,
}

impl Command {
    fn of(pins: SdramPins) -> Self {
        match (pins.csn, pins.rasn, pins.casn, pins.wen) {
            (true, ..) | (false, true, true, true) => Self::None,
            (false, false, false, false) => Self::Mode,
            (false, false, false, true) => Self::Refresh,
            (false, false, true, false) => Self::Precharge,
            (false, false, true, true) => Self::Activate,
            (false, true, false, false) => Self::Write,
            (false, true, false, true) => Self::Read,
            (false, true, true, false) => Self::Stop,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::None => "no command",
            Self::Mode => "MODE REGISTER SET",
            Self::Refresh => "REFRESH",
            Self::Precharge => "PRECHARGE",
            Self::Activate => "ACTIVATE",
            Self::Write => "WRITE",
            Self::Read => "READ",
            Self::Stop => "BURST STOP",
        }
    }
}

/// How far the start-up is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Power came, or the controller was reset, at this cycle.
    Off(u64),
    /// The banks are closed; so many refreshes came.
    Precharged(u64),
    /// The mode register is set, since this cycle.
    Ready(u64),
}

#[derive(Clone, Copy, Debug, Default)]
struct Bank {
    row: Option<u16>,
    activated: Option<u64>,
    precharged: Option<u64>,
    written: Option<u64>,
}

/// A synchronous DRAM of 16 bits with four banks of 8,192 rows, that checks its controller.
///
/// [`cycle`](Self::cycle) is called once a cycle of the controller, in the middle of it. The first
/// thing that the controller does against the data sheets is kept in
/// [`violation`](Self::violation):
///
/// - start-up other than 200 us without a command, PRECHARGE of all banks, eight refreshes, mode;
/// - tRCD, tRP, tRAS, tRC, tRRD, tRFC, tMRD, tWR;
/// - rows that are refreshed too late, or open for too long;
/// - ACTIVATE of an open bank, READ or WRITE of a closed one, refresh or mode with an open one;
/// - data pins that both drive, WRITE without data, data without WRITE;
/// - A10 with READ or WRITE, columns that the chip does not have.
///
/// It has bursts of one word only, no auto precharge, and no masked reads: these are violations
/// too. A word that was never written has a value of its own, [`first`](Self::first).
#[derive(Clone, Debug)]
pub struct SdramChip {
    kilohertz: u64,
    columns: u32,
    /// Rows that are to be refreshed, and within how many cycles.
    rows: u64,
    window: u64,
    now: u64,
    phase: Phase,
    banks: [Bank; 4],
    activated: Option<u64>,
    refreshed: Option<u64>,
    mode_set: Option<u64>,
    cas_latency: u64,
    /// Cycles of the last refreshes, at most as many as there are rows, the oldest first.
    refreshes: VecDeque<u64>,
    refresh_count: u64,
    /// Words that are under way, and the cycle in which each begins to be driven.
    reads: VecDeque<(u64, u16)>,
    mask: u8,
    drives: bool,
    memory: HashMap<u32, Vec<u16>>,
    violation: Option<String>,
}

impl SdramChip {
    /// A chip of `2^bytes_log2` bytes at power-on, with a clock of `kilohertz`.
    ///
    /// # Panics
    /// If `bytes_log2` is not 25 (512 columns) or 26 (1,024 columns).
    #[must_use]
    pub fn new(kilohertz: u64, bytes_log2: usize) -> Self {
        assert!((25..=26).contains(&bytes_log2), "SdramChip: 2^{bytes_log2} bytes, expected 2^25 or 2^26");
        Self {
            kilohertz,
            columns: 1 << (bytes_log2 - 16),
            rows: ROWS,
            window: SDRAM_TIMES.refresh * kilohertz / 1_000_000_000,
            now: 0,
            phase: Phase::Off(0),
            banks: [Bank::default(); 4],
            activated: None,
            refreshed: None,
            mode_set: None,
            cas_latency: 0,
            refreshes: VecDeque::new(),
            refresh_count: 0,
            reads: VecDeque::new(),
            mask: 0,
            drives: false,
            memory: HashMap::new(),
            violation: None,
        }
    }

    /// Asks for `rows` refreshes in their share of 64 ms, in each such time: stricter than 8,192 in
    /// 64 ms, and seen in a short simulation.
    #[must_use]
    pub fn with_rows(mut self, rows: u64) -> Self {
        self.window = self.window * rows / self.rows;
        self.rows = rows;
        self
    }

    /// The controller is reset before the next cycle: the start-up is expected again, as after
    /// power-on. Rows that are open stay so, reads under way go on, and contents stay.
    pub fn controller_reset(&mut self) {
        self.phase = Phase::Off(self.now);
        self.refreshes.clear();
    }

    /// The first violation: cycle, command, parameter, what was seen and expected.
    #[must_use]
    pub fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    /// Whether the start-up is over.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        matches!(self.phase, Phase::Ready(_))
    }

    /// Refreshes so far.
    #[must_use]
    pub const fn refresh_count(&self) -> u64 {
        self.refresh_count
    }

    /// The word of `address`, in bytes, as long as nothing is written there.
    #[must_use]
    pub const fn first(address: u32) -> u16 {
        ((address >> 1).wrapping_mul(0x9e37_79b1) >> 16) as u16
    }

    /// The word of `address`, in bytes.
    #[must_use]
    pub fn word(&self, address: u32) -> u16 {
        let (row, column) = (address / (2 * self.columns), address / 2 % self.columns);
        self.memory.get(&row).map_or_else(|| Self::first(address), |words| words[column as usize])
    }

    /// Takes what the pins show, in the middle of a cycle, and returns what the chip drives from
    /// then on to the middle of the next: what the controller takes at the next rising edge.
    pub fn cycle(&mut self, pins: SdramPins) -> SdramData {
        let command = Command::of(pins);
        match self.phase {
            Phase::Ready(since) => {
                self.check_refreshes(since);
                self.obey(command, pins);
            }
            _ => self.start(command, pins),
        }
        if (command == Command::Write) != pins.d_enable {
            let fault = if pins.d_enable { "data driven without WRITE" } else { "WRITE without data" };
            self.fail(command, fault);
        }
        let drive = self.reads.front().filter(|(cycle, _)| *cycle <= self.now).map(|(_, word)| *word);
        if drive.is_some() {
            self.reads.pop_front();
            // The mask of two cycles before the word is on the pins
            if self.mask != 0 {
                self.fail(Command::Read, "DQM masks a word that is read");
            }
        }
        // The chip drives up to the middle of this cycle, and from there on.
        if pins.d_enable && (self.drives || drive.is_some()) {
            self.fail(command, "data driven by chip and controller");
        }
        self.drives = drive.is_some();
        self.mask = pins.dqm;
        self.now += 1;
        drive
    }

    fn fail(&mut self, command: Command, text: &str) {
        if self.violation.is_none() {
            self.violation = Some(format!("cycle {}: {}: {text}", self.now, command.name()));
        }
    }

    /// Checks that enough cycles passed since `since`.
    fn cycles(&mut self, command: Command, name: &str, since: Option<u64>, expected: u64) {
        let seen = since.map_or(u64::MAX, |since| self.now - since);
        if seen < expected {
            self.fail(command, &format!("{name} {seen} cycles, expected {expected}"));
        }
    }

    /// Checks that enough time passed since `since`.
    fn time(&mut self, command: Command, name: &str, since: Option<u64>, picoseconds: u64) {
        self.cycles(command, name, since, (picoseconds * self.kilohertz).div_ceil(1_000_000_000));
    }

    /// Checks that a row was not open for too long. In the start-up behind a reset of the
    /// controller it may have been: its contents are not relied on.
    fn open_for(&mut self, command: Command, activated: Option<u64>) {
        let most = SDRAM_TIMES.t_ras_most * self.kilohertz / 1_000_000_000;
        let seen = activated.map_or(0, |activated| self.now - activated);
        if self.is_ready() && seen > most {
            self.fail(command, &format!("tRAS {seen} cycles, expected at most {most}"));
        }
    }

    fn check_refreshes(&mut self, ready: u64) {
        let oldest = if self.refreshes.len() as u64 == self.rows { self.refreshes[0] } else { ready };
        let (seen, expected) = (self.now - oldest, self.window);
        if seen > expected {
            let text = format!("{} rows refreshed in {seen} cycles, expected {expected}", self.rows);
            self.fail(Command::Refresh, &text);
        }
    }

    /// A command before the mode register is set.
    fn start(&mut self, command: Command, pins: SdramPins) {
        match (self.phase, command) {
            (_, Command::None) => {}
            (Phase::Off(since), Command::Precharge) if pins.a & A10 != 0 => {
                self.time(command, "power-on", Some(since), SDRAM_TIMES.power_on);
                self.precharge(pins);
                self.phase = Phase::Precharged(0);
            }
            (Phase::Precharged(count), Command::Refresh) => {
                self.refresh();
                self.phase = Phase::Precharged(count + 1);
            }
            (Phase::Precharged(count), Command::Mode) => {
                if count < START_REFRESHES {
                    self.fail(command, &format!("{count} refreshes at start-up, expected {START_REFRESHES}"));
                }
                self.mode(pins);
            }
            _ => self.fail(command, "out of the order of the start-up"),
        }
    }

    fn obey(&mut self, command: Command, pins: SdramPins) {
        match command {
            Command::None => {}
            Command::Mode => self.mode(pins),
            Command::Refresh => self.refresh(),
            Command::Precharge => self.precharge(pins),
            Command::Activate => self.activate(pins),
            Command::Write | Command::Read => self.access(command, pins),
            Command::Stop => self.fail(command, "bursts of one word have nothing to stop"),
        }
    }

    /// What REFRESH and the mode register have in common: all banks are closed and at rest.
    fn at_rest(&mut self, command: Command) {
        for (i, bank) in self.banks.into_iter().enumerate() {
            if bank.row.is_some() {
                self.fail(command, &format!("bank {i} is open"));
            }
            self.time(command, "tRC", bank.activated, SDRAM_TIMES.t_rc);
            self.time(command, "tRP", bank.precharged, SDRAM_TIMES.t_rp);
        }
        self.time(command, "tRFC", self.refreshed, SDRAM_TIMES.t_rfc);
        self.cycles(command, "tMRD", self.mode_set, MODE_SET);
    }

    fn mode(&mut self, pins: SdramPins) {
        self.at_rest(Command::Mode);
        self.cas_latency = u64::from(pins.a >> 4 & 7);
        let least = if self.kilohertz <= 100_000 { 2 } else { 3 };
        if !(least..=3).contains(&self.cas_latency) {
            let text = format!("CAS latency {}, expected {least} to 3", self.cas_latency);
            self.fail(Command::Mode, &text);
        }
        if pins.a & !0x70 != 0 || pins.ba != 0 {
            self.fail(Command::Mode, &format!("mode {:#x}, expected bursts of one word", pins.a));
        }
        self.mode_set = Some(self.now);
        self.phase = Phase::Ready(self.now);
    }

    fn refresh(&mut self) {
        self.at_rest(Command::Refresh);
        self.refreshed = Some(self.now);
        self.refresh_count += 1;
        if self.is_ready() {
            if self.refreshes.len() as u64 == self.rows {
                self.refreshes.pop_front();
            }
            self.refreshes.push_back(self.now);
        }
    }

    fn precharge(&mut self, pins: SdramPins) {
        let command = Command::Precharge;
        self.cycles(command, "tMRD", self.mode_set, MODE_SET);
        for i in 0..4 {
            if pins.a & A10 == 0 && usize::from(pins.ba) != i {
                continue;
            }
            let bank = self.banks[i];
            if bank.row.is_some() {
                self.time(command, "tRAS", bank.activated, SDRAM_TIMES.t_ras);
                self.cycles(command, "tWR", bank.written, WRITE_RECOVERY);
                self.open_for(command, bank.activated);
            }
            self.banks[i].row = None;
            self.banks[i].precharged = Some(self.now);
        }
    }

    fn activate(&mut self, pins: SdramPins) {
        let command = Command::Activate;
        let bank = self.banks[usize::from(pins.ba)];
        if let Some(row) = bank.row {
            self.fail(command, &format!("bank {} is open, with row {row}", pins.ba));
        }
        self.time(command, "tRC", bank.activated, SDRAM_TIMES.t_rc);
        self.time(command, "tRP", bank.precharged, SDRAM_TIMES.t_rp);
        self.time(command, "tRFC", self.refreshed, SDRAM_TIMES.t_rfc);
        self.cycles(command, "tRRD", self.activated, OTHER_BANK);
        self.cycles(command, "tMRD", self.mode_set, MODE_SET);
        self.activated = Some(self.now);
        let bank = &mut self.banks[usize::from(pins.ba)];
        (bank.row, bank.activated, bank.written) = (Some(pins.a), Some(self.now), None);
    }

    fn access(&mut self, command: Command, pins: SdramPins) {
        let bank = self.banks[usize::from(pins.ba)];
        let Some(row) = bank.row else {
            return self.fail(command, &format!("bank {} is closed", pins.ba));
        };
        self.time(command, "tRCD", bank.activated, SDRAM_TIMES.t_rcd);
        if pins.a & A10 != 0 {
            self.fail(command, "A10 asks for auto precharge");
        }
        let column = u32::from(pins.a & !A10);
        if column >= self.columns {
            self.fail(command, &format!("column {column}, expected below {}", self.columns));
            return;
        }
        let row = u32::from(row) << 2 | u32::from(pins.ba);
        let address = 2 * (row * self.columns + column);
        if command == Command::Read {
            // The word is on the pins at the edge of the chip that is the latency later; it is
            // driven from the edge before.
            let word = self.word(address);
            self.reads.push_back((self.now + self.cas_latency - 1, word));
            return;
        }
        self.banks[usize::from(pins.ba)].written = Some(self.now);
        let first = 2 * row * self.columns;
        let columns = self.columns;
        let words = self
            .memory
            .entry(row)
            .or_insert_with(|| (0..columns).map(|i| Self::first(first + 2 * i)).collect());
        let word = &mut words[column as usize];
        let kept = [0, 0x00ff, 0xff00, 0xffff][usize::from(pins.dqm & 3)];
        *word = *word & kept | pins.d_out & !kept;
    }
}
