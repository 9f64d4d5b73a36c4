//! What is made of the result of a run: the times of the packets, the comparison with the golden
//! model, the work of the cores, and what threads faulted of.

use std::borrow::Cow;

use anyhow::{bail, ensure};
use hermes_testbench::apps::App;
use hermes_testbench::cosim::{Code, CoreCounters, FaultRecord, MemoryMap, PacketResult, PacketTimes};
use hermes_testbench::golden::Golden;
use hermes_testbench::metrics::{CoreWork, Counted, FaultCause, PacketRecord, Report};
use hermes_testbench::races::RaceReport;
use hermes_testbench::slot::{self, wrong_lengths, SlotPacket};
use hermes_testbench::traffic::{Capture, Frame};
use hermes_testbench::verdict::Verdict;
use hermes_testbench::words::number_of;

use crate::print;

/// Causes of faults that are told, a line each; JSON has all.
const MOST_FAULT_LINES: usize = 32;

/// What threads faulted of, explained by the files of the programs and by what lay in memory.
pub fn fault_causes(
    faults: &[FaultRecord],
    records: &[PacketRecord],
    threads: u64,
    code: &Code<'_>,
    memory: &MemoryMap,
) -> Vec<FaultCause> {
    let mut causes = FaultCause::of(faults, records, threads);
    causes.iter_mut().for_each(|cause| cause.explain(code, memory));
    causes
}

/// The symbol of the panic handler of a program in Rust.
const RUST_PANIC: &str = "rust_begin_unwind";

/// Tells what threads faulted of, a line for each cause and instruction, and what memory has
/// refused; with `fail` that is an error.
pub fn tell_faults(report: &Report, fail: bool) -> anyhow::Result<()> {
    let refused = report.bus_errors.lines();
    let lines: Vec<_> = fault_lines(report).into_iter().chain(refused).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let panics = |cause: &FaultCause| cause.function.as_ref().is_some_and(|name| name.contains(RUST_PANIC));
    if report.fault_causes.iter().any(panics) {
        log::warn!("a panic in Rust: `--print` prints file, line and message, if the panic handler is that of examples/rust/hermes.rs");
    }
    if !fail {
        lines.iter().for_each(|line| log::warn!("{line}"));
        return Ok(());
    }
    lines.iter().for_each(print::error);
    let spawned = report.spawned_faults();
    let packets = report.faults - spawned;
    let all = number_of(report.packets as u64, "packet");
    let by_firmware = format!("{} of the thread spawner", number_of(spawned, "thread"));
    let faults = match (packets, spawned) {
        (_, 0) => format!("{packets} of {all} ended with a fault"),
        (0, _) => format!("{by_firmware} ended with a fault"),
        _ => format!("{packets} of {all} and {by_firmware} ended with a fault"),
    };
    let bus_errors = format!("memory refused {}", number_of(report.bus_errors.count, "line"));
    let what = match (report.faults, report.bus_errors.count) {
        (_, 0) => faults,
        (0, _) => bus_errors,
        _ => format!("{faults}, and {bus_errors}"),
    };
    bail!("{what}; with --fail-on-fault=false that is a result like others")
}

/// Where warps were that did not end, a line each.
pub fn places(at: &[FaultRecord], code: &Code<'_>) -> String {
    let memory = MemoryMap::default();
    let threads = at.iter().map(|record| u64::from(record.threads)).sum();
    let causes = fault_causes(at, &[], threads, code, &memory);
    causes.iter().map(|cause| cause.to_string().replacen("fault: watchdog", "\nwarps on cores:", 1)).collect()
}

/// Tells of data races and stores into other packets, a line each.
///
/// # Errors
/// There are some.
pub fn tell_races(races: Option<&RaceReport>) -> anyhow::Result<()> {
    let lines = races.map(RaceReport::lines).unwrap_or_default();
    if lines.is_empty() {
        return Ok(());
    }
    let (shown, more) = lines.split_at(lines.len().min(MOST_FAULT_LINES));
    shown.iter().for_each(print::error);
    if !more.is_empty() {
        print::error(format_args!("{} more races are in the JSON report", more.len()));
    }
    match races.is_some_and(|races| races.races.is_empty()) {
        true => bail!("threads store into the packets of others"),
        false => {
            bail!("threads touch the same memory without an order; docs/debugging.md says what makes one")
        }
    }
}

/// The first error of two results; if both are errors, the second one is told at once.
pub fn both(first: anyhow::Result<()>, second: anyhow::Result<()>) -> anyhow::Result<()> {
    if let (Err(_), Err(error)) = (&first, &second) {
        print::error(format_args!("{error:#}"));
    }
    first.and(second)
}

/// What [`tell_faults`] tells.
fn fault_lines(report: &Report) -> Vec<String> {
    let (shown, more) = report.fault_causes.split_at(report.fault_causes.len().min(MOST_FAULT_LINES));
    let threads = |causes: &[FaultCause]| causes.iter().map(|cause| cause.threads).sum::<u64>();
    let mut lines: Vec<_> = shown.iter().map(ToString::to_string).collect();
    if !more.is_empty() {
        let others = if more.len() == 1 { "cause or PC" } else { "causes or PCs" };
        lines.push(format!("fault: {} more {others}: {}", more.len(), number_of(threads(more), "thread")));
    }
    lines
}

/// The verdict of every packet, and its times if they were seen. Checks that every packet was
/// committed once, in the order of arrival.
pub fn records(
    results: &[PacketResult],
    times: Option<&[PacketTimes]>,
    packets: usize,
) -> anyhow::Result<Vec<PacketRecord>> {
    ensure!(results.len() == packets, "{} of {packets} packets were committed", results.len());
    let record = |(expected, packet): (usize, &PacketResult)| {
        ensure!(
            packet.index == expected as u64,
            "packet {} was committed when packet {expected} was due",
            packet.index
        );
        let times = times.and_then(|times| times.get(expected)).copied();
        Ok(PacketRecord { packet: packet.index, verdict: Verdict(packet.verdict), times })
    };
    let records = results.iter().enumerate().map(record).collect::<anyhow::Result<_>>()?;
    let times = times.unwrap_or_default();
    ensure!(times.windows(2).all(|pair| pair[0].commit <= pair[1].commit), "commits went back in time");
    Ok(records)
}

/// Compares every packet and verdict with the app's golden model.
pub fn compare(
    app: &dyn App,
    name: &str,
    packets: &[SlotPacket],
    results: &[PacketResult],
) -> anyhow::Result<()> {
    let differences = packets.iter().zip(results).filter_map(|(packet, got)| {
        let golden = Golden { verdict: Verdict(got.verdict), frame: got.bytes.clone() };
        if let Some(difference) = app.check(got.index, packet, golden) {
            return Some(difference.to_string());
        }
        let error = app.check_egress(got.index, packet, &got.egress).err()?;
        Some(format!("packet {} of the capture, counted from 0: {error:#}", got.index))
    });
    let mut differences = differences.peekable();
    match differences.next() {
        None => Ok(()),
        Some(first) => {
            let count = 1 + differences.count();
            bail!(
                "{count} of {} packets differ from the golden model of {name}; the first:\n{first}",
                packets.len()
            )
        }
    }
}

/// Checks the length that the kernel left in the descriptor of every packet that leaves.
///
/// # Errors
/// The first that is beyond the slot, of `1 << slot_bytes_log2` bytes, or 0 if it was not before.
pub fn check_left_lengths(
    packets: &[SlotPacket],
    results: &[PacketResult],
    slot_bytes_log2: u32,
) -> anyhow::Result<()> {
    let most = slot::capacity(slot_bytes_log2);
    let is_wrong = |(packet, result): &(&SlotPacket, &PacketResult)| {
        let length = result.left.length as usize;
        let empty = length == 0 && result.egress.is_empty() && !packet.frame.is_empty();
        Verdict(result.verdict).is_forward() && (length > most || empty)
    };
    let wrong = packets.iter().zip(results).filter(is_wrong);
    wrong_lengths(wrong.map(|(_, result)| (result.index, result.left.length)), slot_bytes_log2)
}

/// Number in the capture of the packet with this packetIdx, if those with the numbers `dropped`,
/// which rise, did not come in.
pub fn in_capture(packet: u64, dropped: &[u64]) -> u64 {
    dropped.iter().fold(packet, |number, dropped| number + u64::from(*dropped <= number))
}

/// All of `list` but those with the numbers `dropped`, which rise.
pub fn came_in<'a, T: Clone>(list: &'a [T], dropped: &[u64]) -> Cow<'a, [T]> {
    if dropped.is_empty() {
        return Cow::Borrowed(list);
    }
    let mut dropped = dropped.iter().copied().peekable();
    let came_in = (0..).zip(list).filter(|(number, _)| dropped.next_if_eq(number).is_none());
    came_in.map(|(_, item)| item.clone()).collect()
}

/// What each core did, by its counters.
pub fn core_work(counters: &[CoreCounters]) -> Vec<CoreWork> {
    let work = |c: &CoreCounters| CoreWork {
        instructions: c.core.instructions.into(),
        lane_instructions: c.core.lane_instructions.into(),
        active_cycles: c.core.active_cycles.into(),
        stall_cycles: c.core.stall_cycles.into(),
        divergent: c.core.divergent.into(),
        line_reads: c.core.line_reads.into(),
        line_writes: c.core.line_writes.into(),
        fetch_misses: c.core.fetch_misses.into(),
        l2_read_hits: c.l2.read_hits.into(),
        l2_read_misses: c.l2.read_misses.into(),
        lost: c.lost,
        ..CoreWork::default()
    };
    counters.iter().map(work).collect()
}

/// Packets that are not what most are.
pub fn counted(capture: &Capture, slot_bytes_log2: u32) -> Counted {
    let capacity = slot::capacity(slot_bytes_log2);
    let count = |what: fn(&Frame) -> bool| capture.frames.iter().filter(|frame| what(frame)).count();
    Counted {
        not_ipv4: count(|frame| frame.data.get(12..14) != Some(&[0x08, 0x00])),
        cut_by_capture: capture.cut,
        larger_than_slot: capture.frames.iter().filter(|frame| frame.data.len() > capacity).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_rtl::host::registers::core_counters::{CoreCounterValues, L2CounterValues};
    use hermes_rtl::host::registers::RegisterSpec;
    use hermes_testbench::apps::{AppEntry, Inputs};
    use hermes_testbench::cosim::{LeftLength, LostCycles};
    use hermes_testbench::traffic::{Generator, Traffic};

    fn app(name: &str) -> Box<dyn App> {
        AppEntry::find(name).unwrap().load(&Inputs::default()).unwrap()
    }

    /// Packets and what an array without a fault gives for them.
    fn run(app: &dyn App, count: usize) -> (Vec<SlotPacket>, Vec<PacketResult>) {
        let traffic = Traffic { kind: "imix".parse().unwrap(), seed: 1, bad_share: 30.0, rate: 100.0 };
        let packets: Vec<_> =
            Generator::new(traffic).take(count).map(|frame| SlotPacket::new(&frame, 11)).collect();
        let result = |(index, packet): (usize, &SlotPacket)| {
            let golden = app.golden(index as u64, packet);
            PacketResult {
                index: index as u64,
                verdict: golden.verdict.0,
                left: LeftLength::whole(golden.frame.len()),
                bytes: golden.frame,
                egress: Vec::new(),
            }
        };
        let results = packets.iter().enumerate().map(result).collect();
        (packets, results)
    }

    #[test]
    fn every_counter_stands_in_the_report_under_its_own_name() {
        let mut number = 0;
        let mut next = |_: &RegisterSpec| {
            number += 1;
            Ok::<_, ()>(number)
        };
        let counters = CoreCounters {
            core: CoreCounterValues::read(&mut next).unwrap(),
            l2: L2CounterValues::read(&mut next).unwrap(),
            lost: LostCycles::read(&mut next).unwrap(),
        };
        let told = serde_json::to_value(core_work(&[counters])[0]).unwrap();
        let counted = serde_json::to_value(counters).unwrap();
        let of_report: Vec<_> =
            counted.as_object().unwrap().iter().filter(|(name, _)| told.get(name).is_some()).collect();
        for (name, value) in &of_report {
            assert_eq!(&told[name], *value, "{name}");
        }
        assert_eq!(of_report.len(), 11, "all but CORE_L2_WRITES; the lost cycles are one");
    }

    #[test]
    fn packets_that_came_in_keep_their_numbers() {
        let list: Vec<u64> = (0..8).collect();
        for dropped in [vec![], vec![0], vec![0, 1, 5], vec![2, 6, 7]] {
            let left = came_in(&list, &dropped);
            assert_eq!(left.len(), 8 - dropped.len());
            assert!((0..).zip(left.iter()).all(|(packet, number)| in_capture(packet, &dropped) == *number));
        }
    }

    #[test]
    fn one_wrong_byte_or_verdict_fails_the_run() {
        for name in ["dec-ttl", "check-ip-header"] {
            let app = app(name);
            let (packets, good) = run(app.as_ref(), 40);
            compare(app.as_ref(), name, &packets, &good).unwrap();
            let mut wrong = good.clone();
            wrong[7].bytes[33] ^= 1;
            wrong[9].verdict ^= 4;
            let error = compare(app.as_ref(), name, &packets, &wrong).unwrap_err().to_string();
            assert!(error.starts_with("2 of 40 packets differ from the golden model of"), "{error}");
            assert!(
                error.contains("packet 7 of the capture, counted from 0:") && error.contains("<-- differs"),
                "{error}"
            );
        }
    }

    #[test]
    fn lengths_beyond_the_slot_fail_the_run() {
        let (packets, good) = run(app("dec-ttl").as_ref(), 40);
        check_left_lengths(&packets, &good, 11).unwrap();
        let forwarded: Vec<_> =
            good.iter().filter(|packet| Verdict(packet.verdict).is_forward()).map(|p| p.index).collect();
        let dropped = good.iter().find(|packet| !Verdict(packet.verdict).is_forward()).unwrap().index;
        let mut wrong = good.clone();
        wrong[dropped as usize].left.length = 9999;
        wrong[forwarded[0] as usize].left.length = 2030;
        check_left_lengths(&packets, &wrong, 11).unwrap();
        for length in [0, 2031, u32::MAX] {
            wrong[forwarded[3] as usize].left.length = length;
            let error = check_left_lengths(&packets, &wrong, 11).unwrap_err().to_string();
            let told = format!("packet {} of the capture, counted from 0: the kernel set its length to {length}; expected 1 to 2030", forwarded[3]);
            assert!(error.starts_with(&told) && !error.contains("in all"), "{error}");
        }
        wrong[forwarded[5] as usize].left.length = 0;
        let error = check_left_lengths(&packets, &wrong, 11).unwrap_err().to_string();
        assert!(error.contains("2 packets in all"), "{error}");
    }

    #[test]
    fn lost_and_swapped_packets_fail_the_run() {
        let (_, good) = run(app("dec-ttl").as_ref(), 10);
        let commits = |late: usize| {
            let commit = |index| if index == late { 5000 } else { 100 + index as u64 };
            let times = |index| PacketTimes { commit: commit(index), ..PacketTimes::default() };
            (0..10).map(times).collect::<Vec<_>>()
        };
        assert_eq!(records(&good, None, 10).unwrap().len(), 10);
        assert_eq!(records(&good, Some(&commits(9)), 10).unwrap()[3].times, Some(commits(9)[3]));
        let error = records(&good, None, 11).unwrap_err().to_string();
        assert!(error.contains("10 of 11 packets were committed"), "{error}");
        let mut swapped = good.clone();
        swapped.swap(3, 4);
        let error = records(&swapped, None, 10).unwrap_err().to_string();
        assert!(error.contains("packet 4 was committed when packet 3 was due"), "{error}");
        let error = records(&good, Some(&commits(3)), 10).unwrap_err().to_string();
        assert!(error.contains("commits went back in time"), "{error}");
    }
}
