//! Warps that the watchdog ends at any instruction of a call: what they published is performed
//! once, what they did not is not, and the warps behind them find a queue that works.

use std::collections::{BTreeMap, BTreeSet};

use hermes_testbench::cluster::{QueueMode, QueueReport};
use hermes_testbench::kernel::RegisterClass;

use super::{kernel, lossy, program, run, LANES, WARPS};

/// The calls of `kernels/kills.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Put,
    PutBytes,
    PutLong,
    PutLongBlocking,
    Get,
    Value,
    Add,
    FetchAdd,
    Quiet,
    Prepared,
    Create,
    Bad,
    NoRoom,
    PutValue,
}

/// Words of the line of a warp, and where its source is among them.
const LINE: usize = 16;
const SOURCE: usize = 8;
/// Words that a warp puts that is not ended, so that rings go round.
const WORDS: u32 = 5;
/// Runs about the cycle of publication until a state that is a cycle or two long was met.
const ROUNDS: u32 = 16;
/// Cycles about that of publication within which warps are ended then.
const NEAR: u32 = 100;
/// What a warp that was ended left: nothing, or all of a command; word 0; word 0 and ISSUED.
const STATES: [u32; 3] = [0, 1, 2];
/// The verdict of a thread that the watchdog ended.
const ENDED: u32 = 0xc000_0018;

/// A word of the source of a warp.
fn source(node: usize, warp: usize, word: usize) -> u32 {
    ((node * 7 + warp * 1_009 + word * 131) as u32).wrapping_mul(0x0101_0301) | 1
}

/// The first eight words of the line of `warp` on `node` if the call was performed.
fn performed(call: Call, node: usize, warp: usize) -> [u32; SOURCE] {
    let bytes = match call {
        Call::Value => 0..4,
        Call::Put | Call::PutValue | Call::Prepared | Call::Create | Call::NoRoom => 0..8,
        Call::PutBytes => 1..14,
        Call::Add | Call::FetchAdd => return [1, 0, 0, 0, 0, 0, 0, 0],
        Call::PutLong | Call::PutLongBlocking | Call::Get | Call::Quiet | Call::Bad => 0..32,
    };
    let mut line = [0; 4 * SOURCE];
    for byte in bytes {
        line[byte] = source(1 - node, warp, byte / 4).to_le_bytes()[byte % 4];
    }
    let word = |word: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| line[4 * word + byte]));
    [0, 1, 2, 3, 4, 5, 6, 7].map(word)
}

/// What warps that were ended left: how often warps behind them found a command that was published
/// and not counted, or counted in part, and which calls were performed, by how many cycles before
/// its end a warp made its call.
#[derive(Default)]
struct Seen {
    found: BTreeMap<u32, usize>,
    performed: Vec<(u32, bool)>,
}

impl Seen {
    /// By how many cycles before its end a warp must make its call so that its command is
    /// published: the number that is wrong for the fewest warps, since other warps delay each.
    fn publication(&self) -> u32 {
        let wrong = |cycles: u32| self.performed.iter().filter(|seen| (seen.0 >= cycles) != seen.1).count();
        self.performed.iter().map(|seen| seen.0).min_by_key(|cycles| wrong(*cycles)).unwrap()
    }
}

/// Looks at both nodes of a run.
fn check(call: Call, within: (u32, u32), warps: usize, nodes: &[QueueReport], seen: &mut Seen) {
    let line = |node: usize, warp: usize| -> [u32; SOURCE] {
        let report: &QueueReport = &nodes[node];
        let word = |word: usize| report.word(report.area.heap + 4 * (LINE * warp + word) as u32);
        [0, 1, 2, 3, 4, 5, 6, 7].map(word)
    };
    for (node, report) in nodes.iter().enumerate() {
        assert_eq!(report.faults as usize, warps / 2 * LANES, "{call:?}, node {node}");
        let mut commands = 0;
        for warp in 0..warps {
            let place = format!("{call:?}, node {node}, warp {warp}");
            let ends = warp % 2 == 0;
            let verdict = if ends { 0 } else { ENDED };
            assert_eq!(report.verdicts[LANES * warp..][..LANES], [verdict; LANES], "{place}");
            let note = report.word(report.area.heap + 4 * (LINE * warps + warp) as u32);
            *seen.found.entry(note & 0xff).or_default() += 1;
            // The line of a call that gets is here, that of one that puts is there.
            let gets = matches!(call, Call::Get | Call::Value);
            let at = if gets { node } else { 1 - node };
            let line = line(at, warp);
            let whole = line == performed(call, at, warp);
            assert!(whole || line == [0; SOURCE], "{place}: {line:x?}");
            let returned = note >> 8 & 1 == 1;
            let is_bad = call == Call::Bad && !ends;
            assert!(whole || !(ends || returned) || is_bad, "{place}: is lost");
            assert!(!(whole && is_bad), "{place}");
            if !ends {
                let before_end = within.1 - (within.1 - within.0) * warp as u32 / warps as u32;
                seen.performed.push((before_end, whole));
            }
            commands += u32::from(whole) + if ends { WORDS } else { 0 };
        }
        let service = report.service;
        match call {
            // A command that fails, and a value that nobody took, leave nothing to be seen.
            Call::Bad => assert_eq!(service.taken - service.failed, commands, "{call:?}, node {node}"),
            Call::Value => assert!(service.taken >= commands && service.failed == 0, "node {node}"),
            _ => assert_eq!((service.taken, service.failed), (commands, 0), "{call:?}, node {node}"),
        }
    }
}

/// Runs `call` on warps that are ended at some cycle of `within` before they end: those that they
/// need from their start to the call, and for it.
fn end_warps(
    mode: QueueMode,
    call: Call,
    within: (u32, u32),
    warps: usize,
    registers: RegisterClass,
) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let mut program = program(folder.path(), mode, &kernel("kills.c"), registers, warps);
    // Warps that are not ended need less.
    let watchdog = if mode == QueueMode::Paper { 24_000 } else { 14_000 };
    let waits = [watchdog - within.1, watchdog - within.0];
    program.own = vec![LANES as u32, call as u32, waits[0], waits[1], warps as u32, WORDS];
    program.setup.watchdog = watchdog;
    assert!(4 * ((LINE + 1) * warps + 1) <= program.heap_bytes as usize && warps / 2 > 2 * WARPS);
    let heap = |node: usize| {
        let word = move |at: usize| {
            let (warp, word) = (at / LINE, at % LINE);
            if word < SOURCE {
                0
            } else {
                source(node, warp, word - SOURCE)
            }
        };
        (0..LINE * warps).flat_map(move |at| word(at).to_le_bytes()).collect()
    };
    let result = run(&program, lossy(0.0), |node, _| heap(node));
    let mut seen = Seen::default();
    check(call, within, warps, &result.nodes, &mut seen);
    let whole = seen.performed.iter().filter(|seen| seen.1).count();
    println!(
        "{mode:?}, {call:?} {within:?}: found {:?}, performed {whole} of {}",
        seen.found,
        seen.performed.len()
    );
    seen
}

/// Runs each call with its cycles; all warps together must have left the states `states` of their
/// queues. The last state is a cycle or two long, at a cycle that depends on the compiler, so puts
/// are ended about the cycle in which their command is published until it was met.
fn end_calls(mode: QueueMode, calls: &[(Call, (u32, u32))], states: &[u32], registers: RegisterClass) {
    let warps = if mode == QueueMode::Paper { 64 } else { 96 };
    let mut found = BTreeSet::<u32>::new();
    let mut publication = None;
    for (call, within) in calls {
        if mode == QueueMode::Paper && matches!(call, Call::Value | Call::FetchAdd) {
            continue;
        }
        let seen = end_warps(mode, *call, *within, warps, registers);
        let lost = seen.performed.iter().any(|seen| !seen.1);
        let whole = seen.performed.iter().any(|seen| seen.1);
        assert!(
            lost && whole == (*call != Call::Bad),
            "{mode:?}, {call:?}: all were ended behind its command, or before"
        );
        if *call == Call::Put {
            publication = Some(seen.publication());
        }
        found.extend(seen.found.into_keys());
    }
    let all_met = |found: &BTreeSet<u32>| states.iter().all(|state| found.contains(state));
    for round in 0..ROUNDS {
        if all_met(&found) {
            break;
        }
        let middle = publication.expect("the last state is asked for where there are puts") + round;
        let seen = end_warps(mode, Call::Put, (middle - NEAR, middle + NEAR), warps, registers);
        found.extend(seen.found.into_keys());
    }
    assert!(all_met(&found), "{mode:?}: {found:?}");
    assert!(found.iter().all(|state| STATES.contains(state)), "{mode:?}: {found:?}");
}

in_both_modes! {
    #[paper_ignored = "minutes: ends warps in mode paper; those of mode queues are ended always"]
    fn calls_that_return_at_once(mode) {
        let calls = [
            (Call::Put, (300, 1_300)),
            (Call::PutValue, (300, 1_300)),
            (Call::PutBytes, (300, 1_500)),
            (Call::PutLong, (300, 1_300)),
            (Call::Add, (300, 1_300)),
            (Call::Prepared, (300, 2_500)),
            (Call::NoRoom, (300, 1_500)),
        ];
        end_calls(mode, &calls, &STATES, RegisterClass::Rv32e);
    }

    #[paper_ignored = "minutes: ends warps in mode paper; those of mode queues are ended always"]
    fn calls_that_wait(mode) {
        let calls = [
            (Call::PutLongBlocking, (300, 2_000)),
            (Call::Get, (300, 2_000)),
            (Call::Value, (300, 2_000)),
            (Call::FetchAdd, (300, 2_000)),
            (Call::Quiet, (300, 2_500)),
            (Call::Create, (300, 2_000)),
            (Call::Bad, (300, 2_000)),
        ];
        end_calls(mode, &calls, &STATES[..2], RegisterClass::Rv32i);
    }
}
