//! The times of the chip, and what they are in cycles of a clock.

/// Times in picoseconds, the least that a chip needs unless said otherwise: of the slowest of the
/// chips in `docs/sdram.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SdramTimes {
    /// ACTIVATE to READ or WRITE of the bank (AS4C32M16SB-7).
    pub t_rcd: u64,
    /// PRECHARGE to ACTIVATE, refresh or mode register (AS4C32M16SB-7).
    pub t_rp: u64,
    /// ACTIVATE to PRECHARGE of the bank (W9825G6, grade 75).
    pub t_ras: u64,
    /// The most that is allowed of the same (W9825G6).
    pub t_ras_most: u64,
    /// ACTIVATE to ACTIVATE of the same bank (MT48LC16M16A2, grade 75).
    pub t_rc: u64,
    /// Refresh to refresh or ACTIVATE (MT48LC16M16A2, grade 75).
    pub t_rfc: u64,
    /// Power-on to the first command.
    pub power_on: u64,
    /// Within this time each row is to be refreshed.
    pub refresh: u64,
}

/// The times that the controller keeps and the model of the chip checks.
pub const SDRAM_TIMES: SdramTimes = SdramTimes {
    t_rcd: 21_000,
    t_rp: 21_000,
    t_ras: 45_000,
    t_ras_most: 100_000_000,
    t_rc: 66_000,
    t_rfc: 66_000,
    power_on: 200_000_000,
    refresh: 64_000_000_000,
};

/// Cycles from the last word that is written to PRECHARGE (tWR, tDPL).
pub const WRITE_RECOVERY: u64 = 2;
/// Cycles from the mode register to the next command (tMRD, tRSC).
pub const MODE_SET: u64 = 2;
/// Rows of a bank; a refresh is of one row in all banks.
pub const ROWS: u64 = 8_192;
/// Refreshes between power-on and the mode register.
pub const START_REFRESHES: u64 = 8;

/// What the controller keeps to, in cycles of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SdramTiming {
    /// READ to the first word: 2 up to 100 MHz, 3 above.
    pub cas_latency: u64,
    /// ACTIVATE to READ or WRITE.
    pub t_rcd: u64,
    /// PRECHARGE to ACTIVATE or refresh.
    pub t_rp: u64,
    /// Refresh to ACTIVATE or refresh.
    pub t_rfc: u64,
    /// Last READ or WRITE to PRECHARGE. It covers tWR, the CAS latency, and for a single word also
    /// what tRAS and tRC leave.
    pub close: u64,
    /// From one refresh to the next, on average.
    pub interval: u64,
    /// Intervals of the start-up: those of power-on, one for PRECHARGE, eight refreshes, one for
    /// the mode register.
    pub start: u64,
}

impl SdramTiming {
    /// The timing at a clock of `kilohertz`.
    ///
    /// # Panics
    /// If `kilohertz` is not 10,000 to 133,333.
    #[must_use]
    pub fn at(kilohertz: u64) -> Self {
        assert!(
            (10_000..=133_333).contains(&kilohertz),
            "SdramTiming: clock of {kilohertz} kHz, expected 10000 to 133333"
        );
        let cycles = |picoseconds: u64| (picoseconds * kilohertz).div_ceil(1_000_000_000);
        let times = SDRAM_TIMES;
        let cas_latency = if kilohertz <= 100_000 { 2 } else { 3 };
        let (t_rcd, t_rp) = (cycles(times.t_rcd), cycles(times.t_rp));
        let open = cycles(times.t_ras).saturating_sub(t_rcd);
        let again = cycles(times.t_rc).saturating_sub(t_rcd + t_rp);
        // A cycle less for each row, so that the last of them may wait for the line before it.
        let interval = times.refresh * kilohertz / 1_000_000_000 / ROWS - 1;
        Self {
            cas_latency,
            t_rcd,
            t_rp,
            t_rfc: cycles(times.t_rfc),
            close: WRITE_RECOVERY.max(cas_latency).max(open).max(again),
            interval,
            start: cycles(times.power_on).div_ceil(interval) + START_REFRESHES + 1,
        }
    }

    /// Cycles by which ACTIVATE waits for tRP when accesses follow each other.
    const fn late(&self) -> u64 {
        self.t_rp.saturating_sub(2)
    }

    /// Cycles from ARVALID to RVALID, of a memory at rest.
    #[must_use]
    pub const fn read(&self) -> u64 {
        34 + self.t_rcd + self.cas_latency
    }

    /// Cycles from one line to the next that are read back to back.
    #[must_use]
    pub const fn next_read(&self) -> u64 {
        self.read() + 1
    }

    /// Cycles from AWVALID and WVALID to BVALID, of a memory at rest.
    #[must_use]
    pub const fn write(&self) -> u64 {
        33 + self.t_rcd
    }

    /// Cycles from one line to the next that are written back to back.
    #[must_use]
    pub const fn next_write(&self) -> u64 {
        self.write() + self.close + self.late()
    }

    /// Cycles from `byte.valid` to `byte.answer` of a read, of a memory at rest.
    #[must_use]
    pub const fn read_byte(&self) -> u64 {
        2 + self.t_rcd + self.cas_latency
    }

    /// Cycles from one byte to the next.
    #[must_use]
    pub const fn next_byte(&self) -> u64 {
        2 + self.t_rcd + self.close + self.late()
    }

    /// Most cycles from the end of an interval to its refresh at the pins: a line that was taken in
    /// the same cycle goes before it.
    #[must_use]
    pub const fn refresh_wait(&self) -> u64 {
        self.next_write() + self.t_rp
    }

    /// Most cycles from a request to its answer while RREADY and BREADY are high: a line of each
    /// kind, two bytes and refreshes go before it.
    #[must_use]
    pub const fn answer_wait(&self) -> u64 {
        let lines = self.read() + self.next_read() + self.next_write() + 2 * self.next_byte();
        // Each refresh takes a few cycles, in which the next one comes nearer.
        let refresh = self.t_rp + self.t_rfc;
        lines + (lines / (self.interval - refresh) + 1) * refresh
    }

    /// Cycles of the start-up behind reset.
    #[must_use]
    pub const fn start_cycles(&self) -> u64 {
        self.start * self.interval
    }
}
