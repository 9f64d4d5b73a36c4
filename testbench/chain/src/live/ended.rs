//! Which threads the watchdog has ended, by the records of faults that the array gave.

use std::collections::HashMap;

use anyhow::{ensure, Context as _};
use hermes_rtl::config::WATCHDOG_CAUSE;

use super::paths::{Paths, Seen, SETTLED};
use crate::cosim::{FaultRecord, FunctionCounts};

/// Threads of a warp that the watchdog has ended at a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Ended {
    /// How many.
    threads: u32,
    /// The lowest packet of each record.
    lowest: Vec<u32>,
}

/// Whether the watchdog has ended the thread of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IsEnded {
    /// It has.
    Yes,
    /// It has not.
    No,
    /// It has ended some of the warp, and the records do not tell which; or records were lost.
    Perhaps,
}

/// What the array tells of threads that the watchdog has ended.
#[derive(Debug)]
pub(super) struct Ends {
    /// By the cycle of the start, in which one warp starts at most.
    warps: HashMap<u64, Ended>,
    /// Packets of the warps that started in a cycle.
    lanes: HashMap<u64, u32>,
    /// Threads of each function that have a record of the watchdog.
    pub threads: Vec<u32>,
    /// Threads of each function that faulted and have no record: the FIFO was full.
    pub lost: Vec<u32>,
}

impl Ends {
    /// By all records of a run, and the counters of the functions.
    ///
    /// # Errors
    /// A record tells of a packet that was not at the function, or there are records of more
    /// threads than were counted.
    pub fn of(paths: &Paths, faults: &[FaultRecord], counts: &[FunctionCounts]) -> anyhow::Result<Self> {
        let mut warps: HashMap<u64, Ended> = HashMap::new();
        let mut threads = vec![0; counts.len()];
        let mut lost: Vec<u32> = counts.iter().map(|counts| counts.faulted).collect();
        for record in faults {
            let packet = paths.packets.get(record.packet as usize);
            let number = record.function.unwrap_or(0);
            let seen = packet.and_then(|seen| seen.iter().find(|seen| seen.number == number));
            let seen = seen.with_context(|| {
                format!("a fault record has packet {} at number {number}, where it was not", record.packet)
            })?;
            let (function, count) = (usize::from(seen.function), u32::from(record.threads));
            let left = lost[function].checked_sub(count);
            lost[function] = left.with_context(|| {
                let counted = counts[function].faulted;
                format!("fault records have more threads of function {function} than NF_FAULTED, {counted}")
            })?;
            if record.cause == WATCHDOG_CAUSE {
                threads[function] += count;
                let warp = warps.entry(seen.start).or_default();
                warp.threads += count;
                warp.lowest.push(record.packet);
            }
        }
        let mut lanes = HashMap::new();
        for seen in paths.packets.iter().flatten() {
            *lanes.entry(seen.start).or_insert(0) += 1;
        }
        for (start, warp) in &warps {
            let all = lanes.get(start).copied().unwrap_or(0);
            ensure!(
                warp.threads <= all,
                "fault records have {} threads of a warp of {all}, which started in cycle {start}",
                warp.threads
            );
        }
        Ok(Self { warps, lanes, threads, lost })
    }

    /// Of each warp by its start, of which the watchdog has ended some threads: how many it has
    /// ended of those that the records do not name.
    pub fn unnamed(&self) -> HashMap<u64, u32> {
        let is_part = |start: &u64, warp: &Ended| self.lanes.get(start) != Some(&warp.threads);
        let parts = self.warps.iter().filter(|(start, warp)| is_part(start, warp));
        parts.map(|(start, warp)| (*start, warp.threads - warp.lowest.len() as u32)).collect()
    }

    /// Whether a record names the packet as the lowest one that the watchdog has ended.
    pub fn names(&self, packet: u32, seen: Seen) -> bool {
        self.warps.get(&seen.start).is_some_and(|warp| warp.lowest.contains(&packet))
    }

    /// Whether the watchdog has ended the thread of packet number `packet` at a function with a
    /// watchdog of so many cycles.
    pub fn of_packet(&self, packet: u32, seen: Seen, watchdog: u32) -> IsEnded {
        let warp = self.warps.get(&seen.start);
        let threads = warp.map_or(0, |warp| warp.threads);
        let lowest = warp.map_or(&[][..], |warp| &warp.lowest);
        if self.names(packet, seen) || (threads > 0 && self.lanes.get(&seen.start) == Some(&threads)) {
            return IsEnded::Yes;
        }
        if self.lost[usize::from(seen.function)] > 0 {
            // Nothing but that a visit was too short speaks against it.
            let is_long = seen.finish - seen.start + SETTLED >= u64::from(watchdog);
            return if watchdog > 0 && is_long { IsEnded::Perhaps } else { IsEnded::No };
        }
        let others = threads - lowest.len() as u32;
        match others > 0 && lowest.iter().any(|lowest| *lowest < packet) {
            true => IsEnded::Perhaps,
            false => IsEnded::No,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::{Event, PacketRange, WarpSlot};
    use crate::edges::Edges;

    /// Two warps of four packets at a function, 20 cycles each.
    fn paths() -> Paths {
        let mut paths = Paths::new(1, &[(0, 0)], &[Edges::default()], vec![Some(0)]);
        for (cycle, slot, first) in [(10, 0, 0), (11, 1, 4)] {
            let (slot, packets) = (WarpSlot { core: 0, slot }, PacketRange { first, count: 4 });
            paths.event(cycle, Event::Issue(slot, packets)).unwrap();
            paths.event(cycle + 20, Event::Finish(slot)).unwrap();
        }
        paths
    }

    fn record(cause: u8, threads: u8, packet: u32) -> FaultRecord {
        let function = Some(0);
        FaultRecord { cause, core: 0, slot: 0, threads, pc: 0, address: 0, packet, job: None, function }
    }

    fn counts(faulted: u32) -> [FunctionCounts; 1] {
        [FunctionCounts { faulted, ..FunctionCounts::default() }]
    }

    #[test]
    fn records_tell_which_threads_the_watchdog_has_ended() {
        use IsEnded::{No, Perhaps, Yes};
        let paths = paths();
        let of = |faults: &[FaultRecord], faulted: u32| {
            let ends = Ends::of(&paths, faults, &counts(faulted)).unwrap();
            let of = |packet: u32| ends.of_packet(packet, paths.packets[packet as usize][0], 16);
            [0, 1, 2, 3, 4, 5, 6, 7].map(of)
        };
        // Long visits alone say nothing.
        assert_eq!(of(&[], 0), [No; 8]);
        let watchdog = |threads, packet| record(WATCHDOG_CAUSE, threads, packet);
        assert_eq!(of(&[watchdog(4, 0)], 4), [Yes, Yes, Yes, Yes, No, No, No, No]);
        assert_eq!(of(&[watchdog(1, 6)], 1), [No, No, No, No, No, No, Yes, No]);
        assert_eq!(of(&[watchdog(2, 5)], 2), [No, No, No, No, No, Yes, Perhaps, Perhaps]);
        let two = [watchdog(1, 4), watchdog(3, 5), record(5, 2, 0)];
        assert_eq!(of(&two, 6), [No, No, No, No, Yes, Yes, Yes, Yes]);
        // A record was lost: any of the others.
        assert_eq!(
            of(&[watchdog(1, 1)], 2),
            [Perhaps, Yes, Perhaps, Perhaps, Perhaps, Perhaps, Perhaps, Perhaps]
        );
        let told = |faults: &[FaultRecord], faulted: u32| {
            Ends::of(&paths, faults, &counts(faulted)).unwrap_err().to_string()
        };
        assert!(told(&[watchdog(1, 8)], 1).contains("packet 8 at number 0, where it was not"));
        assert!(told(&[watchdog(2, 1)], 1).contains("more threads of function 0 than NF_FAULTED, 1"));
        assert!(told(&[watchdog(3, 1), watchdog(2, 0)], 5).contains("5 threads of a warp of 4"));
    }
}
