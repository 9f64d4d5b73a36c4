//! The table of hostile frames. Sequence numbers: the array has taken packets 0 to 2 of the peer
//! and expects number 3; its own packets 0 (put), 1 (get) and 2 (atomic operation) wait for
//! answers.

use hermes_rtl::net::cause;
use hermes_rtl::types::counter;
use hermes_testbench::cosim::Region;
use hermes_testbench::golden::roce::{opcode::*, seal, Extended, RoceFrame};

use super::victim::*;

/// The packet that is expected, and one behind it.
const DUE: u32 = 3;
/// A place in the open region.
const PLACE: u32 = OPEN.address + 0x800;
/// Bytes of a hostile WRITE.
const BYTES: [u8; 8] = [0xbd; 8];

/// A sequence of frames, and what comes of it.
#[derive(Clone, Debug, Default)]
pub struct Case {
    pub name: String,
    pub frames: Vec<Vec<u8>>,
    /// The MAC found the last one damaged.
    pub damaged: bool,
    /// Counters, and by how much they rise; without frames that are sent and written, and what a
    /// queue pair that goes down counts.
    pub counts: Vec<(u64, u32)>,
    /// What is sent.
    pub answers: Vec<Answer>,
    /// A NAK takes the queue pair down.
    pub closes: bool,
    /// What a peer may write and these frames do write, each with one packet.
    pub writes: Vec<(u32, Vec<u8>)>,
    /// The packet that is expected behind it.
    pub next: u32,
}

/// One frame that changes nothing, and counts once.
fn case(name: impl Into<String>, frame: Vec<u8>, counter: u64) -> Case {
    let (frames, counts) = (vec![frame], vec![(counter, 1)]);
    Case { name: name.into(), frames, counts, next: DUE, ..Case::default() }
}

/// A frame that is dropped with a cause.
fn dropped(name: impl Into<String>, frame: Vec<u8>, cause: u64) -> Case {
    case(name, frame, counter::CAUSE_1 + cause - cause::SHORT)
}

/// A request that is refused: its NAK takes the queue pair down.
fn refused(name: &str, frame: &RoceFrame, syndrome: u8) -> Case {
    let answers = vec![Answer::nak(DUE, syndrome)];
    Case { answers, closes: true, ..case(name, frame.bytes(), counter::REFUSED) }
}

/// A request that came before.
fn repeated(name: &str, frame: &RoceFrame, answers: Vec<Answer>) -> Case {
    Case { answers, ..case(name, frame.bytes(), counter::REPEATED) }
}

/// An answer that nobody waits for.
fn stray(name: &str, frame: &RoceFrame) -> Case {
    case(name, frame.bytes(), counter::STRAY)
}

/// A request with an RDMA extended transport header.
fn rdma(opcode: u8, number: u32, address: u64, region: Region, length: u32, payload: &[u8]) -> RoceFrame {
    frame(opcode, theirs(number), Extended::Rdma { address, key: region.key, length }, payload)
}

fn read(number: u32, address: u32, region: Region, length: u32) -> RoceFrame {
    rdma(READ_REQUEST, number, address.into(), region, length, &[])
}

fn atomic(opcode: u8, number: u32, address: u32, region: Region) -> RoceFrame {
    let (operand, compare) = (0xbd, 0);
    let extended = Extended::Atomic { address: address.into(), key: region.key, operand, compare };
    frame(opcode, theirs(number), extended, &[])
}

/// A WRITE of eight bytes that would be taken.
fn good() -> RoceFrame {
    write_only(DUE, PLACE, OPEN.key, &BYTES)
}

/// A frame with bytes of its headers changed, and its checks put right.
fn changed(frame: &RoceFrame, bytes: &[(usize, u8)]) -> Vec<u8> {
    let mut frame = frame.bytes();
    for (at, value) in bytes {
        frame[*at] = *value;
    }
    seal(&mut frame);
    frame
}

/// A frame whose IPv4 and UDP headers say this length of the IPv4 packet, and which has it.
fn with_length(frame: &RoceFrame, length: usize) -> Vec<u8> {
    let mut frame = frame.bytes();
    frame.resize(14 + length, 0);
    frame[16..18].copy_from_slice(&(length as u16).to_be_bytes());
    frame[38..40].copy_from_slice(&(length as u16 - 20).to_be_bytes());
    seal(&mut frame);
    frame
}

/// Frames that end too soon: at each end of a header, with lengths that still say so or do not.
fn truncated(cases: &mut Vec<Case>) {
    let read = read(DUE, PLACE, OPEN, 8);
    let add = atomic(FETCH_ADD, DUE, PLACE, OPEN);
    let (asked, result) = (acknowledge(ours(0), 0x1f), atomic_response(ours(0), 1));
    for (name, frame, end) in [
        ("WRITE", good(), 70),
        ("READ", read, 70),
        ("FETCH_ADD", add, 82),
        ("ACK", asked, 58),
        ("atomic ACK", result, 66),
    ] {
        let bytes = frame.bytes();
        for at in [1, 6, 12, 14, 34, 42, 54, end, bytes.len() - 1] {
            let cause = if at < 58 { cause::SHORT } else { cause::IP };
            cases.push(dropped(format!("{name} cut at byte {at}"), bytes[..at].to_vec(), cause));
        }
        for length in (44..end + 4 - 14).step_by(4) {
            let name = format!("{name} of an IPv4 packet of {length} bytes, without its whole header");
            cases.push(dropped(name, with_length(&frame, length), cause::OPCODE));
        }
        cases.push(dropped(format!("{name} of 40 bytes"), with_length(&frame, 40), cause::SHORT));
    }
    cases.push(Case { damaged: true, ..dropped("damaged on the wire", good().bytes(), cause::SHORT) });
}

/// Frames with a header that is wrong.
fn headers(cases: &mut Vec<Case>) {
    let bytes = good().bytes();
    for at in [38, 60, 70, 78, 81] {
        let mut wrong = bytes.clone();
        wrong[at] ^= 1;
        let (name, cause) = if at == 38 { ("UDP length", cause::UDP) } else { ("ICRC", cause::ICRC) };
        cases.push(dropped(format!("wrong {name} by byte {at}"), wrong, cause));
    }
    let mut wrong = bytes.clone();
    wrong[25] ^= 1;
    cases.push(dropped("wrong IPv4 checksum", wrong, cause::IP));
    for (name, changes, cause) in [
        ("another Ethernet type", vec![(13, 6)], cause::IP),
        ("a VLAN tag", vec![(12, 0x81), (13, 0)], cause::IP),
        ("IPv6", vec![(12, 0x86), (13, 0xdd)], cause::IP),
        ("IPv4 version 5", vec![(14, 0x55)], cause::IP),
        ("IPv4 options", vec![(14, 0x46)], cause::IP),
        ("more fragments", vec![(20, 0x60)], cause::IP),
        ("a fragment's offset", vec![(21, 1)], cause::IP),
        ("an IPv4 length that is longer than the frame", vec![(17, 72)], cause::IP),
        ("an IPv4 length that is no multiple of 4", vec![(17, 66)], cause::IP),
        ("an IPv4 length of 65,532", vec![(16, 0xff), (17, 0xfc)], cause::IP),
        ("an IPv4 length of 0", vec![(16, 0), (17, 0)], cause::IP),
        ("an IPv4 length that is shorter than UDP's", vec![(17, 64)], cause::UDP),
        ("TCP", vec![(23, 6)], cause::UDP),
        ("another UDP port", vec![(37, 0xb6)], cause::UDP),
        ("a UDP length of 0", vec![(38, 0), (39, 0)], cause::UDP),
        ("another MAC", vec![(5, 9)], cause::NOT_OURS),
        ("the broadcast MAC", (0..6).map(|at| (at, 0xff)).collect(), cause::NOT_OURS),
        ("another IPv4 address", vec![(33, 9)], cause::NOT_OURS),
        ("another version of the transport header", vec![(43, 0x41)], cause::VERSION),
        ("another partition", vec![(45, 0xfe)], cause::VERSION),
        ("partition 0", vec![(44, 0), (45, 0)], cause::VERSION),
        ("more padding than payload", vec![(42, WRITE_LAST), (43, 0x70)], cause::OPCODE),
    ] {
        let mut frame = good();
        if name == "more padding than payload" {
            (frame.extended, frame.payload) = (Extended::None, vec![]);
        }
        cases.push(dropped(name, changed(&frame, &changes), cause));
    }
    // A limited member of the partition
    let limited = changed(&good(), &[(44, 0x7f)]);
    cases.push(Case {
        frames: vec![limited],
        counts: vec![],
        answers: vec![Answer::ack(DUE).of_message(4)],
        writes: vec![(PLACE, BYTES.to_vec())],
        next: DUE + 1,
        ..case("a limited member", vec![], 0)
    });
    // Other services
    for opcode in [0x20, 0x2a, 0x4a, 0x64, 0x81, 0xff] {
        let frame = changed(&good(), &[(42, opcode)]);
        cases.push(dropped(format!("opcode {opcode:#04x}"), frame, cause::OPCODE));
    }
    // SEND, with immediate data, with invalidation, and what is reserved
    for opcode in (0..0x20).filter(|opcode| Extended::of(*opcode) == Some(Extended::None)) {
        if [WRITE_MIDDLE, WRITE_LAST, RESPONSE_MIDDLE].contains(&opcode) {
            continue;
        }
        for (name, number) in [("expected", DUE), ("old", 0), ("early", DUE + 1)] {
            let name = format!("opcode {opcode:#04x}, {name}");
            let frame = RoceFrame { sequence: theirs(number), ..good() };
            let bytes = changed(&frame, &[(42, opcode)]);
            cases.push(match number {
                DUE => Case { frames: vec![bytes], ..refused(&name, &frame, 0x61) },
                0 => case(name, bytes, counter::REFUSED),
                _ => Case {
                    counts: vec![(counter::NEWER, 1), (counter::NAKS_OUT, 1)],
                    answers: vec![Answer::nak(DUE, 0x60)],
                    ..case(name, bytes, counter::NEWER)
                },
            });
        }
    }
}

/// Good requests for queue pairs that do not take them.
fn queue_pairs(cases: &mut Vec<Case>) {
    for (name, queue_pair) in [
        ("a queue pair that is not there", 16 | PAIR),
        ("a queue pair with a high bit", 1 << 23 | PAIR),
        ("queue pair 0xffffff", 0xff_ffff),
        ("a queue pair in RESET", IN_RESET),
        ("a queue pair in ERROR", IN_ERROR),
    ] {
        let frame = RoceFrame { queue_pair, ..good() };
        cases.push(case(name, frame.bytes(), counter::UNKNOWN));
        let frame = RoceFrame { queue_pair, ..acknowledge(ours(0), 0x1f) };
        cases.push(case(format!("an ACK for {name}"), frame.bytes(), counter::UNKNOWN));
    }
    let frame = RoceFrame { from_ip: [10, 0, 0, 3], ..good() };
    cases.push(case("another sender", frame.bytes(), counter::UNKNOWN));
    let frame = RoceFrame { from_ip: [10, 0, 0, 3], ..acknowledge(ours(0), 0x1f) };
    cases.push(case("an ACK of another sender", frame.bytes(), counter::UNKNOWN));
    let mut closing =
        refused("a queue pair that is closing", &write_only(DUE, PLACE, OPEN.key ^ 16, &BYTES), 0x62);
    closing.frames.push(good().bytes());
    closing.frames.push(read(DUE, PLACE, OPEN, 8).bytes());
    closing.frames.push(acknowledge(ours(0), 0x1f).bytes());
    closing.counts.push((counter::UNKNOWN, 3));
    cases.push(closing);
}

/// Requests for memory that the peer may not use.
fn regions(cases: &mut Vec<Case>) {
    let other = |region: Region, bits: u32| Region { key: region.key ^ bits, ..region };
    for (name, region, offset) in [
        ("a wrong key", other(OPEN, 16), 0),
        ("a key with a wrong high bit", other(OPEN, 1 << 31), 0),
        ("the key of region 9, which is not there", other(OPEN, 8), 0),
        ("another region's key", Region { address: OPEN.address, ..WRITABLE }, 0),
        ("a region of our own commands", LOCAL, 0),
        ("another domain's region", FOREIGN, 0),
        ("a region that was removed", GONE, 0),
        ("before the region", OPEN, 0u32.wrapping_sub(8)),
        ("across the region's begin", OPEN, 0u32.wrapping_sub(4)),
        ("across the region's end", OPEN, 0x2000),
        ("behind the region's end", OPEN, 0x2008),
    ] {
        let at = region.address.wrapping_add(offset);
        let writes = write_only(DUE, at, region.key, &BYTES);
        cases.push(refused(&format!("WRITE: {name}"), &writes, 0x62));
        cases.push(refused(&format!("READ: {name}"), &read(DUE, at, region, 8), 0x62));
        // An atomic operation across the begin is at no multiple of 8.
        let syndrome = if at % 8 == 0 { 0x62 } else { 0x61 };
        cases.push(refused(&format!("FETCH_ADD: {name}"), &atomic(FETCH_ADD, DUE, at, region), syndrome));
        let swap = atomic(COMPARE_SWAP, DUE, at, region);
        cases.push(refused(&format!("COMPARE_SWAP: {name}"), &swap, syndrome));
    }
    for (name, region) in [("read", READABLE), ("atomic", COUNTABLE)] {
        let writes = write_only(DUE, region.address, region.key, &BYTES);
        cases.push(refused(&format!("WRITE to a region with the {name} right"), &writes, 0x62));
    }
    for (name, region) in [("write", WRITABLE), ("atomic", COUNTABLE)] {
        let reads = read(DUE, region.address, region, 8);
        cases.push(refused(&format!("READ of a region with the {name} right"), &reads, 0x62));
    }
    for (name, region) in [("write", WRITABLE), ("read", READABLE)] {
        let adds = atomic(FETCH_ADD, DUE, region.address, region);
        cases.push(refused(&format!("FETCH_ADD in a region with the {name} right"), &adds, 0x62));
    }
    for (name, address, length) in [
        ("an address of 33 bits", 1 << 32 | u64::from(PLACE), 8),
        ("an address of 64 bits", 1 << 63 | u64::from(PLACE), 8),
        ("a range that wraps at 2^32", (1 << 32) - 4, 8),
        ("a range that wraps at 2^64", u64::MAX - 3, 8),
    ] {
        let writes = rdma(WRITE_ONLY, DUE, address, OPEN, length, &BYTES);
        cases.push(refused(&format!("WRITE: {name}"), &writes, 0x62));
        let reads = rdma(READ_REQUEST, DUE, address, OPEN, length, &[]);
        cases.push(refused(&format!("READ: {name}"), &reads, 0x62));
    }
    // Memory that does not answer; a READ is refused when its response is due.
    for (name, frame, counts) in [
        ("FETCH_ADD", atomic(FETCH_ADD, DUE, HOLE.address, HOLE), vec![(counter::REFUSED, 1)]),
        ("COMPARE_SWAP", atomic(COMPARE_SWAP, DUE, HOLE.address, HOLE), vec![(counter::REFUSED, 1)]),
    ] {
        let name = format!("{name} of memory that is not there");
        cases.push(Case { counts, ..refused(&name, &frame, 0x63) });
    }
    let first = |length| rdma(WRITE_FIRST, DUE, PLACE.into(), OPEN, length, &[0xbd; MTU as usize]);
    cases.push(refused("a first packet whose message ends behind the region", &first(0x2000), 0x62));
    cases.push(refused("a first packet of 4 GiB", &first(u32::MAX), 0x62));
    cases.push(refused("READ of 2^30 bytes", &read(DUE, PLACE, OPEN, 1 << 30), 0x62));
}

/// Requests that cannot be.
fn invalid(cases: &mut Vec<Case>) {
    let (long, jumbo) = ([0xbd; MTU as usize + 4], [0xbd; 9_000]);
    let whole = &long[..MTU as usize];
    let place = u64::from(PLACE);
    let write = |opcode, length, payload: &[u8]| rdma(opcode, DUE, place, OPEN, length, payload);
    let later = |opcode, payload: &[u8]| frame(opcode, theirs(DUE), Extended::None, payload);
    for (name, frame) in [
        ("WRITE of 9 bytes with 8", write(WRITE_ONLY, 9, &BYTES)),
        ("WRITE of 7 bytes with 8", write(WRITE_ONLY, 7, &BYTES)),
        ("WRITE of 0 bytes with 8", write(WRITE_ONLY, 0, &BYTES)),
        ("WRITE of 8 bytes with none", write(WRITE_ONLY, 8, &[])),
        ("WRITE of more than the MTU in one packet", write(WRITE_ONLY, MTU + 4, &long)),
        ("WRITE of 9,000 bytes in one packet", write(WRITE_ONLY, 9_000, &jumbo)),
        ("WRITE of 8,191 bytes with 9,000", write(WRITE_ONLY, 8_191, &jumbo)),
        ("a first packet that is shorter than the MTU", write(WRITE_FIRST, 1_000, &BYTES)),
        ("a first packet that is longer than the MTU", write(WRITE_FIRST, 1_000, &long)),
        ("a first packet that is its whole message", write(WRITE_FIRST, MTU, whole)),
        ("a first packet of 0 bytes", write(WRITE_FIRST, 0, whole)),
        ("a middle packet without a first one", later(WRITE_MIDDLE, whole)),
        ("a last packet without a first one", later(WRITE_LAST, &BYTES)),
        ("a last packet of 0 bytes without a first one", later(WRITE_LAST, &[])),
        ("READ with a payload", write(READ_REQUEST, 8, &BYTES)),
        ("READ of more than 2^22 packets", write(READ_REQUEST, (MTU << 22) + 1, &[])),
        ("READ of 4 GiB", write(READ_REQUEST, u32::MAX, &[])),
        ("FETCH_ADD at an odd address", atomic(FETCH_ADD, DUE, PLACE + 1, OPEN)),
        ("FETCH_ADD at a multiple of 4", atomic(FETCH_ADD, DUE, PLACE + 4, OPEN)),
        ("COMPARE_SWAP at an odd address", atomic(COMPARE_SWAP, DUE, PLACE + 7, OPEN)),
        (
            "FETCH_ADD with a payload",
            RoceFrame { payload: BYTES.to_vec(), ..atomic(FETCH_ADD, DUE, PLACE, OPEN) },
        ),
    ] {
        cases.push(refused(name, &frame, 0x61));
    }
    // Behind a first packet that is right, and is written
    let next = |opcode, payload: &[u8]| frame(opcode, theirs(DUE + 1), Extended::None, payload);
    for (name, frame) in [
        ("a message that begins within another", write_only(DUE + 1, PLACE, OPEN.key, &BYTES)),
        ("a first packet within a message", { rdma(WRITE_FIRST, DUE + 1, place, OPEN, 1_000, whole) }),
        ("READ within a message", read(DUE + 1, PLACE, OPEN, 8)),
        ("FETCH_ADD within a message", atomic(FETCH_ADD, DUE + 1, PLACE, OPEN)),
        ("a middle packet of 0 bytes", next(WRITE_MIDDLE, &[])),
        ("a middle packet that is shorter than the MTU", next(WRITE_MIDDLE, &BYTES)),
        ("a middle packet that is longer than the MTU", next(WRITE_MIDDLE, &long)),
        ("a last packet of 0 bytes", next(WRITE_LAST, &[])),
        ("a last packet that is too short", next(WRITE_LAST, &BYTES)),
        ("a last packet that is too long", next(WRITE_LAST, &long)),
    ] {
        let first = write(WRITE_FIRST, MTU + 100, whole);
        let mut case = refused(name, &frame, 0x61);
        case.frames.insert(0, RoceFrame { acknowledge: false, ..first }.bytes());
        case.writes.push((PLACE, whole.to_vec()));
        case.answers = vec![Answer::nak(DUE + 1, 0x61)];
        cases.push(case);
    }
}

/// Requests with another sequence number.
fn sequence(cases: &mut Vec<Case>) {
    let again = vec![Answer::ack(DUE - 1)];
    let place = u64::from(PLACE);
    let old = 0u32.wrapping_sub(1);
    let writes = |number, region: Region, address| write_only(number, address, region.key, &BYTES);
    let whole = [0xbd; MTU as usize];
    for (name, frame) in [
        ("an old WRITE with other bytes", writes(0, OPEN, OPEN.address + 0x100)),
        ("an old WRITE to another address", writes(0, OPEN, PLACE)),
        ("an old WRITE in the place of a READ", writes(1, OPEN, PLACE)),
        ("an old WRITE with a wrong key", writes(0, GONE, GONE.address)),
        ("an old WRITE outside the region", writes(0, OPEN, OPEN.address - 8)),
        ("a WRITE before the first packet", writes(old, OPEN, PLACE)),
        ("a WRITE 2^23 packets before", writes((1 << 23) + DUE, OPEN, PLACE)),
        ("an old first packet", rdma(WRITE_FIRST, 0, place, OPEN, 1_000, &whole)),
        ("an old middle packet", frame(WRITE_MIDDLE, theirs(0), Extended::None, &whole)),
        ("an old last packet of 0 bytes", frame(WRITE_LAST, theirs(0), Extended::None, &[])),
    ] {
        cases.push(repeated(name, &frame, again.clone()));
    }
    let answered = |number, opcode| vec![Answer::response(number, opcode)];
    let reads = read(1, OPEN.address + 0x500, OPEN, 64);
    cases.push(repeated("an old READ of another address", &reads, answered(1, RESPONSE_ONLY)));
    let reads = read(0, PLACE, OPEN, 64);
    cases.push(repeated("an old READ in the place of a WRITE", &reads, answered(0, RESPONSE_ONLY)));
    for (name, frame) in [
        ("an old READ behind the region's end", read(1, OPEN.address + 0x2000, OPEN, 64)),
        ("an old READ of a region that may be written", read(1, WRITABLE.address, WRITABLE, 64)),
        ("an old READ of another domain's region", read(1, FOREIGN.address, FOREIGN, 64)),
        ("an old READ with the key of a region that was removed", read(1, GONE.address, GONE, 64)),
        ("an old READ of 4 GiB", read(1, PLACE, OPEN, u32::MAX)),
        ("an old READ with a payload", rdma(READ_REQUEST, 1, place, OPEN, 8, &BYTES)),
        ("an old READ before the first packet, of another region", read(old, LOCAL.address, LOCAL, 8)),
        ("an old atomic operation in the place of a WRITE", atomic(FETCH_ADD, 0, PLACE, OPEN)),
        ("an atomic operation before the first packet", atomic(FETCH_ADD, old, PLACE, OPEN)),
        ("an old atomic operation with a wrong key", atomic(FETCH_ADD, 2, GONE.address, GONE)),
        ("an old atomic operation at an odd address", atomic(FETCH_ADD, 2, PLACE + 1, OPEN)),
        ("the number of an old atomic operation 32 packets before", {
            atomic(FETCH_ADD, 2u32.wrapping_sub(32), PLACE, OPEN)
        }),
    ] {
        cases.push(repeated(name, &frame, vec![]));
    }
    for (name, frame) in [
        ("an old atomic operation with another operand", atomic(FETCH_ADD, 2, OPEN.address + 0x200, OPEN)),
        ("an old atomic operation at another address", atomic(FETCH_ADD, 2, PLACE, OPEN)),
        ("an old COMPARE_SWAP in the place of a FETCH_ADD", atomic(COMPARE_SWAP, 2, PLACE, OPEN)),
    ] {
        cases.push(repeated(name, &frame, answered(2, ATOMIC_ACKNOWLEDGE)));
    }
    for (name, frame) in [
        ("a WRITE of the future", writes(DUE + 1, OPEN, PLACE)),
        ("a WRITE 2^23 - 1 packets ahead", writes(DUE + (1 << 23) - 1, OPEN, PLACE)),
        ("a WRITE of the future with a wrong key", writes(DUE + 1, GONE, GONE.address)),
        ("a READ of the future", read(DUE + 1, PLACE, OPEN, 8)),
        ("an atomic operation of the future", atomic(FETCH_ADD, DUE + 7, PLACE, OPEN)),
        ("a last packet of the future", frame(WRITE_LAST, theirs(DUE + 2), Extended::None, &BYTES)),
    ] {
        let counts = vec![(counter::NEWER, 1), (counter::NAKS_OUT, 1)];
        let answers = vec![Answer::nak(DUE, 0x60)];
        cases.push(Case { counts, answers, ..case(name, frame.bytes(), counter::NEWER) });
    }
    // One NAK for all
    let frames = (1..6).map(|ahead| writes(DUE + ahead, OPEN, PLACE).bytes()).collect();
    let counts = vec![(counter::NEWER, 5), (counter::NAKS_OUT, 1)];
    let (name, answers) = ("five packets of the future".into(), vec![Answer::nak(DUE, 0x60)]);
    cases.push(Case { name, frames, counts, answers, next: DUE, ..Case::default() });
}

/// Answers that nobody waits for.
fn answers(cases: &mut Vec<Case>) {
    let past = 0u32.wrapping_sub(1);
    for (name, number) in
        [("the future", 3), ("the far future", 3 + (1 << 22)), ("the past", past), ("the far past", 1 << 23)]
    {
        for (kind, syndrome) in
            [("ACK", 0x1f), ("RNR NAK", 0x20), ("an answer with a reserved syndrome", 0x5f)]
        {
            let mut case = stray(&format!("{kind} of {name}"), &acknowledge(ours(number), syndrome));
            if kind == "RNR NAK" {
                case.counts.push((counter::NOT_READY, 1));
            }
            cases.push(case);
        }
        for syndrome in 0x60..0x64 {
            let mut case =
                stray(&format!("NAK {syndrome:#x} of {name}"), &acknowledge(ours(number), syndrome));
            case.counts.push((counter::NAKS_IN, 1));
            cases.push(case);
        }
        cases.push(stray(&format!("response of {name}"), &response(ours(number), &GOT)));
        let atomic = atomic_response(ours(number), 0xbd);
        cases.push(stray(&format!("atomic response of {name}"), &atomic));
    }
    let of = |opcode, number, bytes: &[u8]| {
        let extended = match opcode {
            RESPONSE_MIDDLE => Extended::None,
            _ => Extended::Acknowledge { syndrome: 0x1f, message: 2 },
        };
        RoceFrame { acknowledge: false, ..frame(opcode, ours(number), extended, bytes) }
    };
    let told = |syndrome| RoceFrame {
        extended: Extended::Acknowledge { syndrome, message: 2 },
        ..response(ours(1), &GOT)
    };
    for (name, frame) in [
        ("response of the put", response(ours(0), &GOT)),
        ("first response of the put", of(RESPONSE_FIRST, 0, &[0xbd; MTU as usize])),
        ("middle response of the put", of(RESPONSE_MIDDLE, 0, &[0xbd; MTU as usize])),
        ("last response of the put", of(RESPONSE_LAST, 0, &GOT)),
        ("atomic response of the put", atomic_response(ours(0), 0xbd)),
        ("response of the get that is too short", response(ours(1), &GOT[1..])),
        ("response of the get that is too long", response(ours(1), &[0xbd; GOT.len() + 1])),
        ("first response of the get, which has one", of(RESPONSE_FIRST, 1, &GOT)),
        ("middle response of the get", of(RESPONSE_MIDDLE, 1, &GOT)),
        ("last response of the get", of(RESPONSE_LAST, 1, &GOT)),
        ("response of the get that is a NAK", told(0x62)),
        ("response of the get that is an RNR NAK", told(0x21)),
        ("response of the get with a reserved syndrome", told(0x9f)),
        ("an answer of the put with a reserved syndrome", acknowledge(ours(0), 0x40)),
        ("an answer of the put with the reserved bit", acknowledge(ours(0), 0x9f)),
        ("a NAK of the put with the reserved bit", acknowledge(ours(0), 0xe0)),
        ("response of the get without bytes", response(ours(1), &[])),
        ("response of the get that is longer than the MTU", response(ours(1), &[0xbd; 4_000])),
        ("response of the get of eight KiB more", response(ours(1), &[0xbd; 8_100])),
        ("atomic response of the get", atomic_response(ours(1), 0xbd)),
    ] {
        cases.push(stray(name, &frame));
    }
    // It waits, and does not send again before the time that the peer said, or an ACK.
    let not_ready = acknowledge(ours(0), 0x22);
    cases.push(case("RNR NAK of the put", not_ready.bytes(), counter::NOT_READY));
    // The answers before are lost, as it seems: once the array goes back to the get.
    let back = vec![Answer::request(1, READ_REQUEST), Answer::request(2, FETCH_ADD)];
    for (name, frame, counts) in [
        ("response of the atomic operation", response(ours(2), &GOT[..8]), vec![(counter::STRAY, 1)]),
        (
            "the atomic response before that of the get",
            atomic_response(ours(2), 0xbd),
            vec![(counter::STRAY, 1)],
        ),
        ("ACK of the get", acknowledge(ours(1), 0x1f), vec![]),
        ("ACK of the atomic operation", acknowledge(ours(2), 0x1f), vec![]),
        ("NAK 0x60 of the get", acknowledge(ours(1), 0x60), vec![(counter::NAKS_IN, 1)]),
    ] {
        let counts = [counts, vec![(counter::RESENT, 2)]].concat();
        let answers = back.clone();
        cases.push(Case { counts, answers, ..stray(name, &frame) });
    }
}

/// All cases.
pub fn all() -> Vec<Case> {
    let mut cases = vec![];
    truncated(&mut cases);
    headers(&mut cases);
    queue_pairs(&mut cases);
    regions(&mut cases);
    invalid(&mut cases);
    sequence(&mut cases);
    answers(&mut cases);
    cases
}
