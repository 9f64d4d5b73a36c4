//! The report of a run as the text that `hermes run` prints.

use std::fmt;

use super::report::{ChannelWork, CoreWork, Counted, Environment, FrameLines, Loss, Report, Waits};
use super::{Clock, Delays, Distribution, Load, Stages, SteadyState};
use crate::cosim::{ChannelStatistics, Latency, LostCycles};
use crate::races::RaceReport;
use crate::traffic::ArrivalProcess;
use crate::words::number_of;

/// Verdicts that the text shows, the most frequent ones; JSON has all.
const SHOWN_VERDICTS: usize = 16;

impl Report {
    /// What was around the array.
    fn fmt_environment(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slot_bytes = self.run.slot_bytes;
        match &self.run.environment {
            Environment::Simulation { arrivals, arrivals_seed, channels, memory, .. } => writeln!(
                f,
                "  environment  {}, {} ({}), slots of {slot_bytes} bytes",
                match (arrivals, arrivals_seed) {
                    (_, Some(seed)) => format!("arrivals {arrivals} (seed {seed})"),
                    (ArrivalProcess::Step(_), None) => format!("arrivals {arrivals}"),
                    (_, None) => format!("line rate {}", arrivals.line_rate()),
                },
                number_of(*channels as u64, "memory channel"),
                match memory {
                    Latency::Dram(_) => memory.to_string(),
                    _ => format!("latency {memory} cycles"),
                },
            ),
            Environment::Board(board) => writeln!(
                f,
                "  environment  board at {} ({} baud), {}, {} bytes of packet memory, {} slots of {slot_bytes} bytes",
                board.device,
                board.baud,
                self.run.environment.clock(),
                board.memory_bytes,
                board.ring_slots,
            ),
        }
    }

    /// Packets and frame bits in a second, and the lines that moved for them.
    fn fmt_throughput(&self, f: &mut fmt::Formatter<'_>, when: &str, digits: usize) -> fmt::Result {
        let of_packet = |lines: u64| lines as f64 / self.packets.max(1) as f64;
        let sum = |lines: fn(&ChannelStatistics) -> u64| {
            of_packet(self.memory.iter().map(|channel| lines(&channel.counted)).sum())
        };
        write!(f, "  throughput   {:.3} million packets/s {when}", self.packets_per_second / 1e6)?;
        if !self.memory.is_empty() {
            let (read, written) = (sum(|c| c.lines_read), sum(|c| c.lines_written));
            write!(f, "; {read:.2} lines of 64 bytes a packet read from memory, {written:.2} written")?;
        }
        write!(
            f,
            "\n  frames       {:.digits$} Gbit/s {when} (frame bytes, without preamble and FCS)",
            self.throughput_gbps
        )?;
        match self.frame_lines {
            Some(FrameLines { all, read, payload_moved: false }) => writeln!(
                f,
                ", payload not moved: {:.2} of the {:.2} lines of a packet were read",
                of_packet(read),
                of_packet(all)
            ),
            _ => writeln!(f),
        }
    }

    /// What the run took, its throughput, and what packets waited for.
    fn fmt_times(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = self.run.environment.clock();
        match &self.run.environment {
            Environment::Simulation { .. } => {
                writeln!(f, "  cycles       {} from the first arrival to the last commit", self.cycles)?;
                self.fmt_throughput(f, &format!("at {clock}"), 2)?;
                self.fmt_steady_state(f)?;
            }
            Environment::Board(board) => {
                writeln!(
                    f,
                    "  busy cycles  {} with packets on the cores or waiting for their commit; {:.1} s with the way to the board and back",
                    self.cycles, board.seconds
                )?;
                self.fmt_throughput(f, &format!("at {clock} over the busy cycles"), 3)?;
            }
        }
        self.fmt_waits(f)?;
        self.delays.as_ref().map_or(Ok(()), |delays| self.fmt_delays(f, delays))
    }

    /// The throughput of the middle of the run, or why there is none.
    fn fmt_steady_state(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = self.run.environment.clock();
        let Some(steady) = &self.steady_state else {
            let wave = self.run.wave();
            return match SteadyState::fewest(wave) {
                fewest if (self.packets as u64) < fewest => writeln!(
                    f,
                    "  steady state not told of fewer than {fewest} packets, 8 times those on the cores at MCW {}",
                    self.run.mcw
                ),
                _ => writeln!(f, "  steady state none: packets finished at once"),
            };
        };
        let gigahertz = clock.gigahertz();
        write!(
            f,
            "  steady state {:.3} million packets/s, {:.2} Gbit/s of frames at {clock}: {} packets finished in cycles {} to {}, from the first quarter to the last sixteenth",
            steady.packets_per_cycle * gigahertz * 1e3,
            steady.bits_per_cycle * gigahertz,
            steady.packets,
            steady.from + 1,
            steady.to,
        )?;
        match self.waits {
            Some(Waits { cache_cleanings: times @ 1.., .. }) => writeln!(
                f,
                "; the array paused {} while the host cleaned the caches",
                if times == 1 { "once".to_string() } else { format!("{times} times") }
            ),
            _ => writeln!(f),
        }
    }

    /// Cycles without a free slot, and frames that were lost.
    fn fmt_waits(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Waits { deferred_cycles, .. }) = self.waits {
            writeln!(
                f,
                "  deferred     {deferred_cycles} cycles in which a packet that had arrived found no free slot"
            )?;
        }
        match self.loss {
            Some(Loss { offered, delivered, dropped, dropped_full, loss }) => {
                write!(f, "  loss         {dropped} of {offered} frames ({:.4} %)", 100.0 * loss)?;
                match dropped_full {
                    0 => writeln!(f),
                    full => writeln!(f, ": {full} found no free slot; {delivered} were delivered"),
                }
            }
            None => Ok(()),
        }
    }

    /// What delays are made of, and how they are spread.
    fn fmt_delays(&self, f: &mut fmt::Formatter<'_>, delays: &Delays) -> fmt::Result {
        let clock = self.run.environment.clock();
        let (unit, time, digits) = match clock {
            Clock::GIGAHERTZ => ("cycles (= ns at 1 GHz)".to_string(), 1.0, 0),
            _ => (
                format!("ns at {clock}, where a cycle is {:.3} ns", clock.nanoseconds()),
                clock.nanoseconds(),
                1,
            ),
        };
        write!(f, "  delay        {:>10} {:>8} {:>8} {:>8} {:>8}", "mean", "p50", "p95", "p99", "iqr")?;
        let many = delays.delay.p999.is_some();
        if many {
            write!(f, " {:>8} {:>8}", "p99.9", "jitter")?;
        }
        writeln!(f, "  {unit}")?;
        let Stages { ring, forming_and_issue, forming, issue, execution, dcq, egress } = &delays.stages;
        let whole = Some(forming_and_issue).filter(|_| forming.is_none());
        let rows = [
            ("total", Some(&delays.delay)),
            ("queuing", Some(&delays.queuing)),
            ("service", Some(&delays.service)),
            ("latency", delays.latency.as_ref()),
            ("ring", Some(ring)),
            ("form+issue", whole),
            ("forming", forming.as_ref()),
            ("issue", issue.as_ref()),
            ("execution", Some(execution)),
            ("DCQ", Some(dcq)),
            ("egress", egress.as_ref()),
        ];
        for (name, d) in rows.into_iter().filter_map(|(name, d)| Some((name, d?))) {
            let Distribution { mean, p50, p95, p99, iqr, .. } = d;
            write!(f, "    {name:<10} {:>10.1}", mean * time)?;
            let last = [d.p999, d.jitter].map(|cycles| cycles.filter(|_| many));
            let columns = [p50, p95, p99, iqr].map(|cycles| Some(*cycles)).into_iter().chain(last);
            for cycles in columns.flatten() {
                write!(f, " {:>8.digits$}", cycles as f64 * time)?;
            }
            writeln!(f)?;
        }
        writeln!(f, "    iqr of the warps' mean delays {:.1}", delays.delay_iqr_of_warps * time)?;
        match delays.delays_count_from_schedule {
            true => Ok(()),
            false => writeln!(
                f,
                "    counted from when a packet found a slot: with `max` none has a time at which it should come"
            ),
        }
    }

    /// What all cores read from the L2.
    fn fmt_caches(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |figure: fn(&CoreWork) -> u64| self.cores.iter().map(figure).sum::<u64>();
        let (loads, fetches) = (sum(|c| c.line_reads), sum(|c| c.fetch_misses));
        let (hits, misses) = (sum(|c| c.l2_read_hits), sum(|c| c.l2_read_misses));
        let percent = |part: u64, all: u64| 100.0 * part as f64 / all.max(1) as f64;
        writeln!(
            f,
            "  L2           {} lines read ({loads} for loads, {fetches} of instructions), {:.1} % hits; {} written",
            hits + misses,
            percent(hits, hits + misses),
            sum(|c| c.line_writes)
        )
    }

    /// What the load counters tell.
    fn fmt_load(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(load) = &self.load else { return Ok(()) };
        let Load { formed_full, formed_timeout, formed_eager, .. } = load;
        let slots = number_of(self.run.warps as u64, "slot");
        writeln!(f, "  busy slots   {:.2} of {slots} of a core on average", load.mean_busy_slots)?;
        writeln!(
            f,
            "  formed       {formed_full} warps full, {formed_timeout} by time-out, {formed_eager} eager"
        )?;
        writeln!(
            f,
            "  L1           {} lines asked for by loads, {:.1} % hits",
            load.l1_lines,
            100.0 * load.l1_hit_rate
        )?;
        let ring = load
            .high_ring
            .map_or(String::new(), |slots| format!(", {} of the ring", number_of(u64::from(slots), "slot")));
        writeln!(
            f,
            "  most at once {} in the task FIFO, {} in the DCQ{ring}; DCQ full in {}",
            number_of(u64::from(load.high_tasks), "count"),
            number_of(u64::from(load.high_commit_queue), "warp"),
            number_of(load.commit_queue_full_cycles, "cycle")
        )
    }

    /// A line for each channel of the memory.
    fn fmt_memory(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, channel) in self.memory.iter().enumerate() {
            let ChannelWork { counted: c, read_use, write_use, bus_use } = channel;
            write!(
                f,
                "  memory {number:<5} {} lines read ({:.1} % of the cycles), {} written ({:.1} %), at most {} requests at a time",
                c.lines_read,
                100.0 * read_use,
                c.lines_written,
                100.0 * write_use,
                c.most_outstanding
            )?;
            if let Environment::Simulation { memory: Latency::Dram(_), .. } = self.run.environment {
                write!(
                    f,
                    "; {} row hits, {} misses, {} refreshes, data bus used {:.1} %",
                    c.row_hits,
                    c.row_misses,
                    c.refreshes,
                    100.0 * bus_use
                )?;
            }
            writeln!(f)?;
        }
        Ok(())
    }

    /// A table of the cycles that each core lost, and their mean, in percent of the run's cycles.
    fn fmt_lost_cycles(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = LostCycles::default().named().map(|(name, _)| name);
        write!(f, "  lost cycles  {:>10}", "no warp")?;
        names.iter().try_for_each(|name| write!(f, " {name:>10}"))?;
        writeln!(f, "  % of the cycles")?;
        let lost = |core: &CoreWork| {
            let reasons = core.lost.named().map(|(_, cycles)| u64::from(cycles));
            [core.no_warp].into_iter().chain(reasons)
        };
        let mut row = |name: &str, cores: &[CoreWork]| {
            let all = (self.cycles * cores.len() as u64).max(1) as f64;
            write!(f, "    {name:<10}")?;
            for column in 0..=names.len() {
                let cycles: u64 = cores.iter().filter_map(|core| lost(core).nth(column)).sum();
                write!(f, " {:>10.1}", 100.0 * cycles as f64 / all)?;
            }
            writeln!(f)
        };
        for (number, core) in self.cores.iter().enumerate() {
            row(&format!("core {number}"), std::slice::from_ref(core))?;
        }
        if self.cores.len() > 1 {
            row("all cores", &self.cores)?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    /// The table that `hermes run` prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = &self.run;
        writeln!(f, "{} on {}", run.kernel, run.capture)?;
        writeln!(
            f,
            "  array        {}: {} x {}, {}, MCW {}{}",
            run.preset,
            number_of(run.cores as u64, "core"),
            number_of(run.lanes as u64, "lane"),
            number_of(run.warps as u64, "warp slot"),
            run.mcw,
            if run.adaptive_timeout { ", adaptive time-out" } else { "" }
        )?;
        self.fmt_environment(f)?;
        for note in &run.inputs {
            writeln!(f, "  input        {note}")?;
        }
        let mean_bytes = if self.packets == 0 { 0.0 } else { self.frame_bytes as f64 / self.packets as f64 };
        writeln!(f, "  packets      {} of {mean_bytes:.1} bytes on average (without FCS)", self.packets)?;
        self.fmt_times(f)?;
        writeln!(f, "  verdicts")?;
        let mut verdicts: Vec<_> = self.verdicts.iter().collect();
        verdicts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (name, count) in verdicts.iter().take(SHOWN_VERDICTS) {
            writeln!(f, "    {name:<24} {count:>10}")?;
        }
        if let Some(rest) = verdicts.get(SHOWN_VERDICTS..).filter(|rest| !rest.is_empty()) {
            let packets: usize = rest.iter().map(|(_, count)| **count).sum();
            writeln!(f, "    {:<24} {packets:>10}", format!("{} other verdicts", rest.len()))?;
        }
        let spawned = match self.spawned_faults() {
            0 => String::new(),
            spawned => format!(", {spawned} of them of the thread spawner"),
        };
        writeln!(f, "  faults       {}{spawned}", self.faults)?;
        if self.bus_errors.count > 0 {
            writeln!(f, "  bus errors   {}", self.bus_errors.count)?;
        }
        if let Some(RaceReport { races, foreign_stores }) = &self.races {
            let stores = match foreign_stores.len() {
                0 => String::new(),
                _ => "; stores into other packets".to_string(),
            };
            let pairs = match races.len() {
                0 => "none".to_string(),
                1 => "1 pair of instructions".to_string(),
                count => format!("{count} pairs of instructions"),
            };
            writeln!(f, "  races        {pairs}{stores}")?;
        }
        let Counted { not_ipv4, cut_by_capture, larger_than_slot } = self.counted;
        writeln!(
            f,
            "  counted      {not_ipv4} not IPv4, {cut_by_capture} cut by the capture, {larger_than_slot} larger than a slot"
        )?;
        let ipc: Vec<_> = self.cores.iter().map(|core| format!("{:.3}", core.ipc)).collect();
        writeln!(f, "  IPC per core {}", ipc.join(" "))?;
        writeln!(f, "  SIMD         {:.1} % of the lanes active", 100.0 * self.simd_efficiency)?;
        self.fmt_lost_cycles(f)?;
        self.fmt_load(f)?;
        self.fmt_caches(f)?;
        self.fmt_memory(f)?;
        write!(
            f,
            "  golden model {}",
            match (self.golden_checked, self.golden_differs) {
                (true, _) => "every packet and verdict agrees",
                (false, true) => "differs",
                (false, false) => "none for this kernel",
            }
        )
    }
}
