//! The frames that leave the packet ports against a golden model.

use anyhow::{bail, ensure};

use crate::apps::App;
use crate::cosim::{LeftLength, PacketRecord, PortsResult};
use crate::golden::{Difference, Golden};
use crate::slot::SlotPacket;
use crate::verdict::{Verdict, DROP};

/// Stands for the verdict of a packet that did not leave the packet ports: drop or fault, the ports
/// do not tell.
pub const NOT_SENT: Verdict = Verdict(DROP);

/// Finds the packet of every frame that left and checks that of the packets that took a slot
/// exactly those that the golden model forwards left, in the order of arrival, to the right port,
/// with the right bytes; that each of the others was dropped, since it found no slot; and that the
/// counters of the ports agree. Gives the packets that took a slot, with the numbers that the array
/// gave them: those that did not leave have the verdict [`NOT_SENT`] and no bytes.
///
/// # Errors
/// The first difference.
pub fn check_ports(
    app: &dyn App,
    packets: &[SlotPacket],
    result: &PortsResult,
) -> anyhow::Result<Vec<PacketRecord>> {
    let forwards = |_, index, packet: &SlotPacket| app.golden(index, packet).verdict.is_forward();
    check_sent(packets, result, forwards, |_, index, packet, got| app.check(index, packet, got))
}

/// As [`check_ports`], against what a golden model of the user's own told of each packet.
///
/// # Errors
/// The first difference.
pub fn check_ports_against(
    golden: &[Golden],
    packets: &[SlotPacket],
    result: &PortsResult,
) -> anyhow::Result<Vec<PacketRecord>> {
    ensure!(golden.len() == packets.len(), "told of {} of {} packets", golden.len(), packets.len());
    let forwards = |number: u64, _, _: &SlotPacket| golden[number as usize].verdict.is_forward();
    check_sent(packets, result, forwards, |number, _, _, got| {
        Difference::find(number, golden[number as usize].clone(), got)
    })
}

/// What [`check_ports`] does, by which packets the golden model `forwards`, and what it finds when
/// it `checks` one that left. Both get the packet's number in the capture and its packetIdx.
fn check_sent(
    packets: &[SlotPacket],
    result: &PortsResult,
    forwards: impl Fn(u64, u64, &SlotPacket) -> bool,
    checks: impl Fn(u64, u64, &SlotPacket, Golden) -> Option<Difference>,
) -> anyhow::Result<Vec<PacketRecord>> {
    let mut dropped = result.dropped.iter().copied().peekable();
    let mut came_in = Vec::with_capacity(packets.len() - result.dropped.len().min(packets.len()));
    for (number, packet) in (0..).zip(packets) {
        if dropped.next_if_eq(&number).is_none() {
            came_in.push((number, packet));
        }
    }
    let left_over = dropped.count();
    ensure!(left_over == 0, "{left_over} packets were dropped that are not in the capture");
    let (total, left) = (came_in.len(), result.sent.len());
    ensure!(result.times.len() == total, "{} of {total} packets were committed", result.times.len());
    let mut sent = result.sent.iter();
    let mut records = Vec::with_capacity(total);
    for (&(number, packet), times) in came_in.iter().zip(&result.times) {
        let index = records.len() as u64;
        let name = format!("packet {number} of the capture, counted from 0");
        let (mut verdict, mut bytes, mut times) = (NOT_SENT, Vec::new(), *times);
        if forwards(number, index, packet) {
            let Some(frame) = sent.next() else {
                bail!("{name} was to leave; only {left} frames left");
            };
            ensure!(!frame.damaged, "{name} left damaged: a line of it could not be read");
            verdict = Verdict::forward(frame.port);
            bytes.clone_from(&frame.bytes);
            times.sent = Some(frame.first_cycle);
            let got = Golden { verdict, frame: bytes.clone() };
            if let Some(found) = checks(number, index, packet, got) {
                let difference = Difference { packet: number, ..found };
                bail!("frame {} of {left} that left:\n{difference}", left - sent.len());
            }
        }
        // The ports know of no cut bytes: they send what the slot has.
        let left = LeftLength { cut: packet.cut, ..LeftLength::whole(bytes.len()) };
        let egress = Vec::new();
        records.push(PacketRecord { index, verdict: verdict.0, times, bytes, left, egress });
    }
    ensure!(sent.len() == 0, "{left} frames left; expected {}", left - sent.len());

    let bytes_in: usize = came_in.iter().map(|(_, packet)| packet.frame.len()).sum();
    let bytes_out: usize = result.sent.iter().map(|frame| frame.bytes.len()).sum();
    let cut = came_in.iter().filter(|(_, packet)| packet.cut > 0).count();
    let c = &result.counters;
    for (register, found, expected) in [
        ("PORTS_FRAMES_IN", c.frames_in, total),
        ("PORTS_BYTES_IN", c.bytes_in, bytes_in),
        ("PORTS_DROPPED_IN", c.dropped_in, 0),
        ("PORTS_CUT_IN", c.cut_in, cut),
        ("PORTS_DROPPED_FULL", result.dropped_full, result.dropped.len()),
        ("PORTS_FRAMES_OUT", c.frames_out, left),
        ("PORTS_BYTES_OUT", c.bytes_out, bytes_out),
        ("PORTS_NOT_SENT", c.not_sent, total - left),
        ("PORTS_LENGTH_ERRORS", c.length_errors, 0),
        ("PORTS_READ_ERRORS", c.read_errors, 0),
    ] {
        ensure!(found == expected as u32, "{register} is {found}; expected {}", expected as u32);
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::{AppEntry, Inputs};
    use crate::cosim::{PacketTimes, PortCounters, RunResult, SentFrame};
    use crate::traffic::{Generator, Traffic};

    /// Packets with bad ones among them, and what an array without faults makes of them.
    fn good(app: &dyn App) -> (Vec<SlotPacket>, PortsResult) {
        let traffic = Traffic { kind: "imix".parse().unwrap(), seed: 1, bad_share: 30.0, rate: 100.0 };
        let packets: Vec<_> =
            Generator::new(traffic).take(40).map(|frame| SlotPacket::new(&frame, 11)).collect();
        let golden = packets.iter().enumerate().map(|(i, packet)| app.golden(i as u64, packet));
        let sent: Vec<_> = golden
            .filter(|golden| golden.verdict.is_forward())
            .map(|g| SentFrame {
                port: g.verdict.0,
                damaged: false,
                bytes: g.frame,
                first_cycle: 7,
                cycle: 8,
            })
            .collect();
        let bytes = |lengths: Vec<usize>| lengths.iter().sum::<usize>() as u32;
        let counters = PortCounters {
            frames_in: 40,
            bytes_in: bytes(packets.iter().map(|p| p.frame.len()).collect()),
            frames_out: sent.len() as u32,
            bytes_out: bytes(sent.iter().map(|frame| frame.bytes.len()).collect()),
            not_sent: 40 - sent.len() as u32,
            ..PortCounters::default()
        };
        let run = RunResult::default();
        (
            packets,
            PortsResult {
                run,
                times: vec![PacketTimes::default(); 40],
                sent,
                counters,
                dropped: Vec::new(),
                dropped_full: 0,
                wrong_lengths: Vec::new(),
            },
        )
    }

    #[test]
    fn every_deviation_is_found() {
        let app = AppEntry::find("dec-ttl").unwrap().load(&Inputs::default()).unwrap();
        let (packets, result) = good(app.as_ref());
        let records = check_ports(app.as_ref(), &packets, &result).unwrap();
        let forwarded = records.iter().filter(|record| Verdict(record.verdict).is_forward()).count();
        assert_eq!((records.len(), forwarded), (40, result.sent.len()));
        let golden: Vec<_> = (0..).zip(&packets).map(|(index, packet)| app.golden(index, packet)).collect();
        let same = check_ports_against(&golden, &packets, &result).unwrap();
        assert_eq!(format!("{same:?}"), format!("{records:?}"));
        let mut other = golden.clone();
        let first = other.iter_mut().find(|golden| golden.verdict.is_forward()).unwrap();
        first.frame[40] ^= 1;
        let error = check_ports_against(&other, &packets, &result).unwrap_err().to_string();
        assert!(error.starts_with("frame 1 of ") && error.contains("differs"), "{error}");
        let error = |change: &dyn Fn(&mut PortsResult)| {
            let mut wrong = result.clone();
            change(&mut wrong);
            check_ports(app.as_ref(), &packets, &wrong).unwrap_err().to_string()
        };
        assert!(error(&|r| r.sent[3].bytes[40] ^= 1).starts_with("frame 4 of "));
        assert!(error(&|r| r.sent[5].port = 1).contains("differs"));
        assert!(error(&|r| r.sent[5].damaged = true).contains("left damaged"));
        assert!(error(&|r| r.sent.swap(0, 1)).starts_with("frame 1 of "));
        assert!(error(&|r| drop(r.sent.pop())).contains("was to leave; only"));
        assert!(error(&|r| r.sent.push(r.sent[0].clone())).contains("frames left; expected"));
        assert!(error(&|r| r.counters.not_sent += 1).starts_with("PORTS_NOT_SENT is "));
        assert!(error(&|r| r.times.truncate(39)).starts_with("39 of 40 packets were committed"));
        assert!(error(&|r| r.dropped_full = 1).starts_with("PORTS_DROPPED_FULL is 1; expected 0"));
    }

    /// Packets that found no slot are not expected, and all others are: one that came in and is
    /// missing fails the run.
    #[test]
    fn only_packets_that_came_in_are_compared() {
        let app = AppEntry::find("dec-ttl").unwrap().load(&Inputs::default()).unwrap();
        let (packets, whole) = good(app.as_ref());
        let forwarded: Vec<_> = (0..)
            .zip(&packets)
            .filter(|(index, packet)| app.golden(*index, packet).verdict.is_forward())
            .map(|(index, _)| index)
            .collect();
        // The third packet that would leave, and the last one of all.
        let (lost, last) = (forwarded[2], 39);
        let mut result = whole.clone();
        let sent = result.sent.remove(2);
        if forwarded.last() == Some(&last) {
            result.sent.pop();
        }
        result.times.truncate(38);
        (result.dropped, result.dropped_full) = (vec![lost, last], 2);
        let c = &mut result.counters;
        let gone = [lost, last].map(|number| packets[number as usize].frame.len() as u32);
        (c.frames_in, c.bytes_in) = (38, c.bytes_in - gone[0] - gone[1]);
        c.frames_out = result.sent.len() as u32;
        c.bytes_out = result.sent.iter().map(|frame| frame.bytes.len() as u32).sum();
        c.not_sent = 38 - c.frames_out;
        let records = check_ports(app.as_ref(), &packets, &result).unwrap();
        assert!(records.len() == 38 && records.iter().map(|record| record.index).eq(0..38));
        let golden: Vec<_> = (0..).zip(&packets).map(|(index, packet)| app.golden(index, packet)).collect();
        check_ports_against(&golden, &packets, &result).unwrap();

        let error = |change: &dyn Fn(&mut PortsResult)| {
            let mut wrong = result.clone();
            change(&mut wrong);
            check_ports(app.as_ref(), &packets, &wrong).unwrap_err().to_string()
        };
        // A packet that came in is missing; one that was dropped left all the same.
        let missing = error(&|r| drop(r.sent.remove(4)));
        assert!(missing.starts_with("frame 5 of ") || missing.contains("was to leave"), "{missing}");
        assert!(error(&|r| drop(r.sent.pop())).contains("was to leave; only"));
        assert!(error(&|r| r.sent.insert(2, sent.clone())).starts_with("frame 3 of "));
        // The differences name the packet of the capture.
        let name = format!("packet {} of the capture", forwarded[5]);
        let differs = error(&|r| r.sent[4].bytes[40] ^= 1);
        assert!(differs.contains(&name), "{differs}, expected {name}");
        // What the testbench saw and what the array counted.
        assert!(error(&|r| r.dropped_full = 1).starts_with("PORTS_DROPPED_FULL is 1; expected 2"));
        assert!(error(&|r| r.dropped.truncate(1)).starts_with("38 of 39 packets were committed"));
        assert!(error(&|r| r.dropped.push(40)).starts_with("1 packets were dropped that are not"));
    }
}
