//! Waveforms are read back with the parser of the crate that writes them.

use std::collections::BTreeMap;

use vcd::{Command, Parser, ScopeItem};

use super::*;
use crate::cosim::{PacketRange, WarpSlot};
use crate::iss::{LateWrite, Retired, TraceCycle};

/// What every signal shows at every time stamp; a signal that is undefined is `None`.
fn read(text: &[u8]) -> BTreeMap<u64, BTreeMap<String, Option<u64>>> {
    let mut parser = Parser::new(text);
    let header = parser.parse_header().unwrap();
    let mut names = BTreeMap::new();
    let mut scopes: Vec<(String, &[ScopeItem])> = vec![(String::new(), &header.items)];
    while let Some((path, items)) = scopes.pop() {
        for item in items {
            match item {
                ScopeItem::Var(var) => {
                    names.insert(var.code, (format!("{path}{}", var.reference), var.size));
                }
                ScopeItem::Scope(scope) => {
                    scopes.push((format!("{path}{}.", scope.identifier), &scope.items));
                }
                _ => {}
            }
        }
    }
    let (mut times, mut shown, mut time) = (BTreeMap::new(), BTreeMap::new(), None);
    for command in parser {
        match command.unwrap() {
            Command::Timestamp(next) => {
                assert!(time.is_none_or(|time| time < next), "{next} behind {time:?}");
                time = Some(next);
            }
            Command::ChangeScalar(id, value) => {
                let bit = match value {
                    Value::V0 => Some(0),
                    Value::V1 => Some(1),
                    _ => None,
                };
                assert_eq!(names[&id].1, 1);
                shown.insert(names[&id].0.clone(), bit);
            }
            Command::ChangeVector(id, values) => {
                assert_eq!(names[&id].1 as usize, values.len());
                let bits = values.iter().try_fold(0, |bits, value| match value {
                    Value::V0 => Some(bits << 1),
                    Value::V1 => Some(bits << 1 | 1),
                    _ => None,
                });
                shown.insert(names[&id].0.clone(), bits);
            }
            _ => continue,
        }
        times.insert(time.unwrap(), shown.clone());
    }
    times
}

#[test]
fn signals_show_what_happened_in_its_cycle() {
    let warp = |core, slot| WarpSlot { core, slot };
    let packets = |first, count| PacketRange { first, count };
    let retired = Retired { core: 1, slot: 9, pc: 0x1234, active: 5, ..Retired::default() };
    let late = LateWrite { core: 0, slot: 3, rd: 17, lanes: 6, values: Vec::new() };
    let entry = |cycle, events: &[Event], trace| TraceEntry {
        cycle,
        events: events.to_vec(),
        trace,
        triggers: false,
    };
    let mut entries = vec![
        entry(100, &[Event::Issue(warp(1, 9), packets(7, 4))], TraceCycle::default()),
        entry(101, &[], TraceCycle { retired: vec![retired], ..TraceCycle::default() }),
        entry(
            110,
            &[Event::Finish(warp(1, 9))],
            TraceCycle { late_writes: vec![late], ..TraceCycle::default() },
        ),
        entry(
            111,
            &[Event::Commit(warp(1, 9), packets(0xffff_fffe, 4)), Event::Issue(warp(0, 2), packets(11, 1))],
            TraceCycle::default(),
        ),
    ];
    entries[2].triggers = true;
    let mut text = Vec::new();
    write_wave(&mut text, 2, 4, &entries).unwrap();
    let times = read(&text);
    assert_eq!(times.keys().copied().collect::<Vec<_>>(), [100, 101, 102, 110, 111, 112]);
    let at = |time: u64, name: &str| times[&time][&format!("hermes_top.{name}")];
    // What says that something happened
    let marks = [
        ("trace_issue_valid", [1, 0, 0, 0, 1, 0]),
        ("trace_finish_valid", [0, 0, 0, 1, 0, 0]),
        ("trace_commit_valid", [0, 0, 0, 0, 1, 0]),
        ("trigger", [0, 0, 0, 1, 0, 0]),
        ("core_0.retire_valid", [0; 6]),
        ("core_1.retire_valid", [0, 1, 0, 0, 0, 0]),
        ("core_0.late_valid", [0, 0, 0, 1, 0, 0]),
        ("core_1.late_valid", [0; 6]),
    ];
    for (name, values) in marks {
        let shown: Vec<_> = times.keys().map(|time| at(*time, name)).collect();
        assert_eq!(shown, values.map(Some), "{name}");
    }
    // What tells more of it
    let values = [
        (100, "trace_issue_packet", Some(7)),
        (100, "trace_issue_count", Some(4)),
        (100, "trace_issue_core", Some(1)),
        (100, "trace_issue_slot", Some(9)),
        (100, "core_1.retire_pc", None),
        (101, "core_1.retire_pc", Some(0x1234)),
        (101, "core_1.retire_slot", Some(9)),
        (101, "core_1.retire_active", Some(5)),
        (101, "core_1.retire_faulting", Some(0)),
        (110, "core_1.retire_pc", Some(0x1234)),
        (110, "trace_finish_slot", Some(9)),
        (110, "core_0.late_rd", Some(17)),
        (110, "core_0.late_lanes", Some(6)),
        (111, "trace_commit_packet", Some(0xffff_fffe)),
        (111, "trace_commit_core", Some(1)),
        (111, "trace_issue_packet", Some(11)),
        (111, "trace_issue_slot", Some(2)),
        (112, "core_0.retire_pc", None),
    ];
    for (time, name, value) in values {
        assert_eq!(at(time, name), value, "{name} in cycle {time}");
    }
}

#[test]
fn a_wave_without_entries_is_one() {
    let mut text = Vec::new();
    write_wave(&mut text, 1, 8, &[]).unwrap();
    let times = read(&text);
    assert_eq!(times.len(), 1);
    assert_eq!(times[&0]["hermes_top.core_0.retire_valid"], Some(0));
    assert_eq!(times[&0]["hermes_top.core_0.retire_active"], None);
}
