//! The timing of one channel of DRAM: banks with an open row each, refresh, one data bus for both
//! directions.
//!
//! A command a cycle. Of the requests that wait, the oldest whose row is open is served first;
//! while the data bus is taken, the rows of the others are opened. Reads go first; writes are
//! collected and done together when there are many or no reads wait, since the bus loses time when
//! its direction changes. The model has what decides on bandwidth and latency and leaves out what
//! changes them by a few percent (bank groups, tFAW, write recovery, power-down).

use std::fmt;
use std::str::FromStr;

/// Times of a DRAM channel in cycles, and its shape.
///
/// The defaults are those of a channel of DDR4-2666 (64 bits, CL19: about 14 ns each for
/// activation, access and precharge) seen from logic at 1 GHz, so that a cycle is a nanosecond: 64
/// bytes in 3 cycles are 21.3 GB/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DramTiming {
    /// Banks; a power of two, 1 to 64. 16 in DDR4.
    pub banks: u32,
    /// Bytes of a row, of this channel alone; a power of two, 64 to 65,536. 8 KiB for a rank of
    /// DDR4.
    pub row_bytes: u32,
    /// Cycles that a line takes on the data bus, at least 1.
    pub line: u32,
    /// Activate to column access (tRCD).
    pub activate: u32,
    /// Column access to data (CL).
    pub access: u32,
    /// Precharge to activate (tRP).
    pub precharge: u32,
    /// Least time from activate to precharge (tRAS).
    pub active: u32,
    /// Time lost on the data bus when its direction changes.
    pub turnaround: u32,
    /// From one refresh to the next (tREFI); 0: never.
    pub refresh_interval: u32,
    /// Duration of a refresh (tRFC), in which nothing else happens.
    pub refresh: u32,
    /// Way of a request and its answer through the controller and back.
    pub controller: u32,
    /// Requests of each direction that the controller holds; further ones wait on the bus.
    pub queue: u32,
}

impl Default for DramTiming {
    fn default() -> Self {
        Self {
            banks: 16,
            row_bytes: 8192,
            line: 3,
            activate: 14,
            access: 14,
            precharge: 14,
            active: 32,
            turnaround: 8,
            refresh_interval: 7800,
            refresh: 350,
            controller: 20,
            queue: 64,
        }
    }
}

impl DramTiming {
    /// The fields with their names, and the least and the most that each may be.
    fn fields(&mut self) -> [(&'static str, &mut u32, u32, u32); 12] {
        [
            ("banks", &mut self.banks, 1, 64),
            ("row", &mut self.row_bytes, 64, 65_536),
            ("line", &mut self.line, 1, 1000),
            ("activate", &mut self.activate, 0, 1000),
            ("access", &mut self.access, 0, 1000),
            ("precharge", &mut self.precharge, 0, 1000),
            ("active", &mut self.active, 0, 1000),
            ("turnaround", &mut self.turnaround, 0, 1000),
            ("refresh-interval", &mut self.refresh_interval, 0, 1_000_000),
            ("refresh", &mut self.refresh, 0, 10_000),
            ("controller", &mut self.controller, 0, 10_000),
            ("queue", &mut self.queue, 1, 1024),
        ]
    }
}

impl fmt::Display for DramTiming {
    /// The fields as [`FromStr`] takes them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut timing = *self;
        let fields = timing.fields().map(|(name, value, ..)| format!("{name}={value}"));
        f.write_str(&fields.join(","))
    }
}

impl FromStr for DramTiming {
    type Err = String;

    /// `NAME=NUMBER`, separated by commas; what is not named keeps its default.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut timing = Self::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let mut fields = timing.fields();
            let names = fields.each_ref().map(|field| field.0).join(", ");
            let unknown = format!("`{part}`: expected NAME=NUMBER, with one of {names}");
            let (name, value) = part.split_once('=').ok_or_else(|| unknown.clone())?;
            let (_, field, low, high) = fields.iter_mut().find(|field| field.0 == name).ok_or(unknown)?;
            let number = value.parse().ok().filter(|number| (*low..=*high).contains(number));
            **field = number.ok_or_else(|| format!("{name}: `{value}`; expected {low} to {high}"))?;
        }
        for (name, value) in [("banks", timing.banks), ("row", timing.row_bytes)] {
            if !value.is_power_of_two() {
                return Err(format!("{name}: {value} is not a power of two"));
            }
        }
        if timing.refresh_interval > 0 && timing.refresh_interval <= timing.refresh + timing.precharge {
            return Err(format!(
                "refresh-interval: {} leaves no time between refreshes of {}",
                timing.refresh_interval, timing.refresh
            ));
        }
        Ok(timing)
    }
}

/// Cycles after which a request gets its row even if others still want the row that is open.
const PATIENCE: u64 = 500;

/// Direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
}

#[derive(Debug)]
struct Waiting {
    token: u64,
    id: u8,
    lines: u32,
    bank: usize,
    row: u32,
    since: u64,
    /// Its row was opened for it.
    opened: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bank {
    row: Option<u32>,
    /// From when on a column access, a precharge or an activation may come.
    column: u64,
    precharge: u64,
    activate: u64,
}

/// What a channel did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DramCounts {
    pub(super) row_hits: u64,
    pub(super) row_misses: u64,
    pub(super) refreshes: u64,
    pub(super) bus_cycles: u64,
}

/// One channel.
#[derive(Debug)]
pub(super) struct Dram {
    timing: DramTiming,
    /// Channels that share the address space: a row is spread over the addresses of all.
    channels: u32,
    banks: Vec<Bank>,
    reads: Vec<Waiting>,
    writes: Vec<Waiting>,
    direction: Direction,
    /// First cycle in which the data bus is free, and what it carried last.
    bus_free: u64,
    bus_direction: Direction,
    next_refresh: u64,
    counts: DramCounts,
}

impl Dram {
    pub(super) fn new(timing: DramTiming, channels: u32) -> Self {
        Self {
            timing,
            channels,
            banks: vec![Bank::default(); timing.banks as usize],
            reads: Vec::new(),
            writes: Vec::new(),
            direction: Direction::Read,
            bus_free: 0,
            bus_direction: Direction::Read,
            next_refresh: u64::from(timing.refresh_interval),
            counts: DramCounts::default(),
        }
    }

    pub(super) fn counts(&self) -> DramCounts {
        self.counts
    }

    /// Whether the controller can take another request.
    pub(super) fn has_room(&self, direction: Direction) -> bool {
        let queue = match direction {
            Direction::Read => &self.reads,
            Direction::Write => &self.writes,
        };
        queue.len() < self.timing.queue as usize
    }

    /// Takes a request for `lines` lines from `address` on, known as `token`, in cycle `now`.
    pub(super) fn push(
        &mut self,
        now: u64,
        direction: Direction,
        token: u64,
        id: u8,
        address: u32,
        lines: u32,
    ) {
        let row = (u64::from(address) / (u64::from(self.timing.row_bytes) * u64::from(self.channels))) as u32;
        // The bank follows from several bits of the row, so that strides of many rows do not meet
        // in one bank.
        let bits = self.timing.banks.ilog2();
        let bank = ((row ^ row >> bits ^ row >> (2 * bits)) & (self.timing.banks - 1)) as usize;
        let waiting = Waiting { token, id, lines, bank, row, since: now, opened: false };
        match direction {
            Direction::Read => self.reads.push(waiting),
            Direction::Write => self.writes.push(waiting),
        }
    }

    /// One cycle. Gives direction, token and the cycle from which the answer can be given, of a
    /// request that is served.
    pub(super) fn cycle(&mut self, now: u64) -> Option<(Direction, u64, u64)> {
        if self.timing.refresh_interval > 0 && now >= self.next_refresh {
            self.refresh(now);
        }
        if self.reads.is_empty() && self.writes.is_empty() {
            return None;
        }
        self.choose_direction();
        let served = self.column(now);
        if served.is_none() && !self.activate(now) {
            self.precharge(now);
        }
        served
    }

    fn refresh(&mut self, now: u64) {
        let idle = self.banks.iter().filter(|bank| bank.row.is_some()).map(|bank| bank.precharge.max(now));
        let start = idle.max().map_or(now, |idle| idle + u64::from(self.timing.precharge));
        let end = start.max(self.bus_free) + u64::from(self.timing.refresh);
        for bank in &mut self.banks {
            *bank = Bank { row: None, activate: end, ..*bank };
        }
        self.next_refresh += u64::from(self.timing.refresh_interval);
        self.counts.refreshes += 1;
    }

    /// Reads, until many writes wait or nothing else does; then writes, until few are left and
    /// reads wait.
    fn choose_direction(&mut self) {
        let (reads, writes, queue) = (self.reads.len(), self.writes.len(), self.timing.queue as usize);
        self.direction = match self.direction {
            Direction::Read if writes > 0 && (reads == 0 || 4 * writes >= 3 * queue) => Direction::Write,
            Direction::Write if reads > 0 && 4 * writes <= queue => Direction::Read,
            Direction::Write if writes == 0 => Direction::Read,
            same => same,
        };
    }

    fn queue(&self) -> &Vec<Waiting> {
        match self.direction {
            Direction::Read => &self.reads,
            Direction::Write => &self.writes,
        }
    }

    /// Serves the oldest request whose row is open, if the data bus is free for it.
    fn column(&mut self, now: u64) -> Option<(Direction, u64, u64)> {
        let t = self.timing;
        let data = now + u64::from(t.access);
        let turn = if self.bus_direction == self.direction { 0 } else { u64::from(t.turnaround) };
        if data < self.bus_free + turn {
            return None;
        }
        let queue = self.queue();
        let mut seen = [false; 256];
        let index = queue.iter().enumerate().position(|(index, w)| {
            let bank = &self.banks[w.bank];
            let first_of_id = !std::mem::replace(&mut seen[usize::from(w.id)], true);
            let impatient = |o: &Waiting| o.bank == w.bank && o.row != w.row && now - o.since > PATIENCE;
            let ready = first_of_id && bank.row == Some(w.row) && bank.column <= now;
            ready && !queue[..index].iter().any(impatient)
        })?;
        let served = match self.direction {
            Direction::Read => self.reads.remove(index),
            Direction::Write => self.writes.remove(index),
        };
        let cycles = u64::from(t.line) * u64::from(served.lines);
        self.bus_free = data + cycles;
        self.bus_direction = self.direction;
        let bank = &mut self.banks[served.bank];
        bank.precharge = bank.precharge.max(self.bus_free);
        self.counts.bus_cycles += cycles;
        if served.opened {
            self.counts.row_misses += 1;
        } else {
            self.counts.row_hits += 1;
        }
        Some((self.direction, served.token, self.bus_free + u64::from(t.controller)))
    }

    /// Opens the row of the oldest request whose bank has none open.
    fn activate(&mut self, now: u64) -> bool {
        let t = self.timing;
        let found = self.queue().iter().position(|w| {
            let bank = &self.banks[w.bank];
            bank.row.is_none() && bank.activate <= now
        });
        let Some(index) = found else { return false };
        let waiting = match self.direction {
            Direction::Read => &mut self.reads[index],
            Direction::Write => &mut self.writes[index],
        };
        waiting.opened = true;
        let bank = &mut self.banks[waiting.bank];
        bank.row = Some(waiting.row);
        bank.column = now + u64::from(t.activate);
        bank.precharge = now + u64::from(t.active);
        true
    }

    /// Closes the row that stands in the way of the oldest request, unless others want it.
    fn precharge(&mut self, now: u64) {
        let queue = self.queue();
        let blocked = queue.iter().enumerate().find(|(index, w)| {
            let bank = &self.banks[w.bank];
            // One that has waited long only lets older ones go first.
            let others = if now - w.since > PATIENCE { &queue[..*index] } else { &queue[..] };
            let wanted = |row| others.iter().any(|other| other.bank == w.bank && other.row == row);
            bank.precharge <= now && bank.row.is_some_and(|row| row != w.row && !wanted(row))
        });
        if let Some(bank) = blocked.map(|(_, w)| w.bank) {
            let bank = &mut self.banks[bank];
            bank.row = None;
            bank.activate = now + u64::from(self.timing.precharge);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: DramTiming = DramTiming {
        banks: 4,
        row_bytes: 1024,
        line: 3,
        activate: 10,
        access: 11,
        precharge: 12,
        active: 40,
        turnaround: 5,
        refresh_interval: 0,
        refresh: 100,
        controller: 0,
        queue: 64,
    };

    /// Runs requests (cycle, direction, address), each under its number as token and ID, and gives
    /// the cycle of each answer.
    fn run(timing: DramTiming, requests: &[(u64, Direction, u32)]) -> (Vec<u64>, DramCounts) {
        let mut dram = Dram::new(timing, 1);
        let mut answers = vec![0; requests.len()];
        for now in 0..100_000 {
            for (token, (_, direction, address)) in requests.iter().enumerate().filter(|(_, r)| r.0 == now) {
                dram.push(now, *direction, token as u64, token as u8, *address, 1);
            }
            if let Some((_, token, due)) = dram.cycle(now) {
                answers[token as usize] = due;
            }
        }
        (answers, dram.counts())
    }

    #[test]
    fn a_row_is_opened_once_and_closed_for_another() {
        use Direction::Read;
        // Rows 0 and 5 are in one bank with 4 banks: 0, and 5 ^ 1 = 4 -> 0.
        let (answers, counts) = run(QUIET, &[(0, Read, 0), (0, Read, 64), (0, Read, 5 * 1024)]);
        assert_eq!(answers[0], 10 + 11 + 3);
        assert_eq!(answers[1], answers[0] + 3);
        // The row stays open for 40 cycles, then 12 to close it and 10 to open the other one.
        assert_eq!(answers[2], 40 + 12 + 10 + 11 + 3);
        assert_eq!((counts.row_hits, counts.row_misses, counts.bus_cycles), (1, 2, 9));
    }

    #[test]
    fn rows_of_several_banks_are_opened_meanwhile() {
        use Direction::Read;
        let requests: Vec<_> = (0..4).map(|row| (0, Read, row * 1024)).collect();
        let (answers, counts) = run(QUIET, &requests);
        assert_eq!(answers, [24, 27, 30, 33]);
        assert_eq!(counts.row_misses, 4);
    }

    #[test]
    fn a_stream_takes_the_whole_bus() {
        let requests: Vec<_> = (0..200_u32).map(|i| (u64::from(i), Direction::Read, 64 * i)).collect();
        let (answers, counts) = run(QUIET, &requests);
        let last = *answers.iter().max().unwrap();
        assert!((600..=630).contains(&last), "{last} cycles for 200 lines of 3 cycles");
        assert!(counts.row_hits > 180 && counts.row_hits + counts.row_misses == 200);
    }

    #[test]
    fn scattered_lines_are_slower_than_a_stream() {
        // 200 rows of one bank: each has to be opened.
        let requests: Vec<_> = (0..64_u32).map(|i| (0, Direction::Read, i * 1024 * 64)).collect();
        let timing = DramTiming { banks: 1, ..QUIET };
        let (answers, counts) = run(timing, &requests);
        assert_eq!(counts.row_misses, 64);
        let last = *answers.iter().max().unwrap();
        assert!((63 * 52..64 * 54).contains(&last), "{last}");
    }

    #[test]
    fn writes_wait_for_reads_and_the_bus_turns() {
        use Direction::{Read, Write};
        let requests = [(0, Read, 0), (0, Write, 64), (0, Read, 128), (0, Read, 192)];
        let (answers, _) = run(QUIET, &requests);
        assert_eq!(answers, [24, 30 + 5 + 3, 27, 30]);
    }

    #[test]
    fn refresh_closes_the_rows_and_takes_its_time() {
        let timing = DramTiming { refresh_interval: 1000, ..QUIET };
        let (answers, counts) = run(timing, &[(980, Direction::Read, 0), (1020, Direction::Read, 64)]);
        assert_eq!(answers[0], 980 + 24);
        // The bank may be closed 40 cycles after it was opened: precharge, refresh, open again.
        assert_eq!(answers[1], 980 + 40 + 12 + 100 + 10 + 11 + 3);
        assert_eq!(counts.refreshes, 99);
    }

    #[test]
    fn one_id_keeps_its_order_and_a_row_hit_does_not_starve_others() {
        let mut dram = Dram::new(QUIET, 1);
        dram.push(0, Direction::Read, 0, 7, 0, 1);
        dram.push(0, Direction::Read, 1, 7, 5 * 1024, 1);
        dram.push(0, Direction::Read, 2, 7, 64, 1);
        let served: Vec<u64> = (0..1000).filter_map(|now| dram.cycle(now)).map(|s| s.1).collect();
        assert_eq!(served, [0, 1, 2]);

        // More hits on row 0 than the bus carries, and one request for another row of its bank.
        let mut dram = Dram::new(QUIET, 1);
        let mut answer = None;
        for now in 0..5000_u64 {
            if now == 100 {
                dram.push(now, Direction::Read, 1_000_000, 255, 5 * 1024, 1);
            } else if now % 3 != 0 {
                dram.push(now, Direction::Read, now, (now % 250) as u8, (now % 16 * 64) as u32, 1);
            }
            answer = answer.or(dram.cycle(now).filter(|s| s.1 == 1_000_000));
        }
        assert!(answer.is_some_and(|s| (100 + PATIENCE..900).contains(&s.2)), "{answer:?}");
    }

    #[test]
    fn timings_are_read_and_printed() {
        let timing: DramTiming = "banks=8,line=2,refresh-interval=3900".parse().unwrap();
        let expected = DramTiming { banks: 8, line: 2, refresh_interval: 3900, ..DramTiming::default() };
        assert_eq!(timing, expected);
        assert_eq!(timing.to_string().parse(), Ok(timing));
        let error = |text: &str| text.parse::<DramTiming>().unwrap_err();
        assert!(error("bank=8").starts_with("`bank=8`: expected NAME=NUMBER, with one of banks, row, "));
        assert_eq!(error("banks=65"), "banks: `65`; expected 1 to 64");
        assert_eq!(error("banks=3"), "banks: 3 is not a power of two");
        assert!(error("refresh-interval=100").contains("leaves no time"));
    }
}
