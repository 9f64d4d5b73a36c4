//! READs against a model: their responses, in order, whatever the peers go back to.

use super::*;
use crate::memory::testing::random;
use crate::testing::{reset, settle, tick};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

const PAIRS: usize = 3;
const MTU: u32 = 8;
const BASE: u32 = 0x4000;
const BYTES: u32 = 0x4000;
const KEY: u32 = 0x1230_0005;

/// A READ as it is kept: how many of its responses are to be sent, and were.
#[derive(Clone, Debug)]
struct Kept {
    job: ReadJob,
    limit: u32,
    sent: u32,
}

struct Bench {
    uut: Responder,
    rng: ChaCha8Rng,
    ups: u64,
    region: Region,
    kept: [VecDeque<Kept>; PAIRS],
    /// The job that is offered.
    offered: Option<ReadJob>,
    /// Probability that the link takes a frame in a cycle.
    link: f64,
    responses: usize,
    refusals: Vec<AnswerMark>,
    closed: Vec<usize>,
}

fn number(value: Bits<24>) -> u32 {
    value.to_u64() as u32
}

impl Bench {
    fn new(name: &str) -> Self {
        let rng = random(name);
        let mut uut = Responder::default();
        reset!(uut);
        let region = Region {
            valid: true,
            domain: 3.into(),
            rights: 2.into(),
            address: u64::from(BASE).into(),
            bytes: u64::from(BYTES).into(),
            key: u64::from(KEY).into(),
        };
        Self {
            uut,
            rng,
            ups: 7,
            region,
            kept: Default::default(),
            offered: None,
            link: 0.2,
            responses: 0,
            refusals: vec![],
            closed: vec![],
        }
    }

    /// A READ of this queue pair.
    fn job(&mut self, pair: usize, sequence: u32, back: bool) -> ReadJob {
        if self.rng.gen_bool(0.2) {
            let [address, bytes] = [0; 2].map(|_| u64::from(self.rng.gen::<u32>()).into());
            return ReadJob {
                pair: (pair as u64).into(),
                sequence: u64::from(sequence).into(),
                packets: 1.into(),
                address,
                bytes,
                message: self.rng.gen_range(0..1u64 << 24).into(),
                back,
                serve: true,
                atomic: true,
                ..ReadJob::default()
            };
        }
        let bytes: u32 = if self.rng.gen_bool(0.1) { 0 } else { self.rng.gen_range(1..8 << MTU) };
        ReadJob {
            pair: (pair as u64).into(),
            sequence: u64::from(sequence).into(),
            packets: u64::from(bytes.div_ceil(1 << MTU).max(1)).into(),
            address: u64::from(BASE + self.rng.gen_range(0..=BYTES - bytes)).into(),
            bytes: u64::from(bytes).into(),
            key: u64::from(KEY).into(),
            message: self.rng.gen_range(0..1u64 << 24).into(),
            back,
            serve: !back || self.rng.gen_bool(0.8),
            atomic: false,
        }
    }

    fn cycle(&mut self) {
        let Self { uut, rng, .. } = self;
        uut.ups.next = self.ups.into();
        uut.job_valid.next = self.offered.is_some();
        uut.job.next = self.offered.unwrap_or_default();
        uut.row_free.next = rng.gen_bool(0.7);
        uut.region_free.next = rng.gen_bool(0.7);
        uut.refuse_ready.next = rng.gen_bool(0.5);
        uut.head_taken.next = false;
        settle(uut);
        if uut.sends.val() {
            assert!(uut.row_free.val());
            let pair = uut.send_pair.val().to_u64();
            uut.send.next = SendPair {
                mtu: u64::from(MTU).into(),
                domain: 3.into(),
                remote: (0x100 + pair).into(),
                ip: (0x0a00_0000 + pair).into(),
                mac: (0x0200_0000_0000 + pair).into(),
                ..SendPair::default()
            };
        }
        uut.region.next =
            if uut.region_index.val() == KEY as u64 & 15 { self.region } else { Region::default() };
        assert!(!uut.looks.val() || uut.region_free.val());
        settle(uut);
        let takes = uut.head_valid.val() && rng.gen_bool(self.link);
        uut.head_taken.next = takes;
        settle(uut);
        let room = uut.room.val().to_u64();
        for (pair, kept) in self.kept.iter().enumerate() {
            assert!(kept.len() < 16 || room >> pair & 1 == 0, "there is no room");
            let up = self.ups >> pair & 1 == 1;
            assert!(!up || kept.len() == 16 || room >> pair & 1 == 1, "there is room");
            assert!(kept.is_empty() || uut.pairs.val().get_bit(pair));
        }
        if takes {
            let head = uut.head.val();
            let pair = head.queue_pair.index();
            let kept = self.kept[pair].front_mut().expect("it has a READ");
            let Kept { job, sent, .. } = kept;
            let bytes = if job.atomic { 0 } else { job.bytes.to_u64() as u32 };
            let packets = job.packets.to_u64() as u32;
            let size = (bytes - (*sent << MTU)).min(1 << MTU);
            let opcode = match (*sent == 0, *sent + 1 == packets) {
                (true, true) if job.atomic => 0x12,
                (true, true) => 0x10,
                (true, false) => 0x0d,
                (false, true) => 0x0f,
                (false, false) => 0x0e,
            };
            assert_eq!(head.opcode.to_u64(), opcode);
            assert_eq!((head.remote.index(), head.ip.index()), (0x100 + pair, 0x0a00_0000 + pair));
            assert_eq!(number(head.sequence), (number(job.sequence) + *sent) & 0xff_ffff);
            assert_eq!(head.bytes.to_u64(), u64::from(size));
            let aeth = 0x1f << 24 | job.message.to_u64();
            let extension = match opcode {
                0x0e => (0, 0),
                0x12 => (3, aeth),
                _ => (1, aeth),
            };
            if job.atomic {
                let value = head.extension.get_bits::<64>(128).to_u64();
                assert_eq!(value, job.bytes.to_u64() << 32 | job.address.to_u64());
            }
            let got = (head.extension_words.to_u64(), head.extension.get_bits::<32>(192).to_u64());
            assert_eq!(got, extension);
            assert_eq!(uut.source_valid.val(), size > 0);
            let source = uut.source.val();
            assert!(source.memory && source.response && source.pair.index() == pair);
            assert_eq!((source.bytes, source.sequence), (head.bytes, head.sequence));
            let address = source.data.get_bits::<32>(0).to_u64();
            assert!(job.atomic || address == job.address.to_u64() + u64::from(*sent << MTU));
            *sent += 1;
            if *sent == kept.limit {
                self.kept[pair].pop_front();
            }
            self.responses += 1;
        }
        if uut.job_ready.val() {
            let job = self.offered.take().expect("it is offered");
            let kept = &mut self.kept[job.pair.index()];
            if job.back {
                while let Some(last) = kept.back_mut() {
                    let behind = number(job.sequence).wrapping_sub(number(last.job.sequence)) & 0xff_ffff;
                    if behind == 0 || behind >= 1 << 23 || behind <= last.sent {
                        kept.pop_back();
                        if behind > 0 && behind < 1 << 23 {
                            break;
                        }
                    } else {
                        last.limit = last.limit.min(behind);
                        break;
                    }
                }
            }
            if job.serve && kept.len() < 16 && self.ups >> job.pair.index() & 1 == 1 {
                kept.push_back(Kept { job, limit: job.packets.to_u64() as u32, sent: 0 });
            }
        }
        if uut.refuse_valid.val() && uut.refuse_ready.val() {
            let refusal = uut.refuse.val();
            assert!(refusal.answers && !refusal.payload && !refusal.got);
            self.refusals.push(refusal);
            self.kept[refusal.pair.index()].clear();
        }
        if uut.closes.val() {
            self.closed.push(uut.closes_pair.val().index());
        }
        let noted = uut.fault_valid.val() && uut.fault_ready.val();
        tick!(self.uut);
        if noted {
            self.uut.fault_valid.next = false;
        }
    }

    fn empty(&mut self) {
        for _ in 0..60_000 {
            if self.kept.iter().all(VecDeque::is_empty) && self.offered.is_none() {
                return;
            }
            self.cycle();
        }
        panic!("READs are left: {:?}", self.kept);
    }
}

#[test]
fn responses_in_order_whatever_peers_go_back_to() {
    let mut bench = Bench::new("responder");
    let mut expected: [u32; PAIRS] = [0xff_ffe0, 5, 0x7f_fff0];
    let (mut backs, mut cut, mut full) = (0, 0, 0);
    for round in 0..24_000 {
        bench.link = if round % 6_000 < 3_000 { 0.6 } else { 0.05 };
        if bench.offered.is_none() && bench.rng.gen_bool(0.1) {
            let pair = bench.rng.gen_range(0..PAIRS);
            if bench.rng.gen_bool(0.15) {
                // Back to one of the last numbers
                let back = bench.rng.gen_range(1..40);
                let job = bench.job(pair, expected[pair].wrapping_sub(back) & 0xff_ffff, true);
                backs += 1;
                cut += usize::from(bench.kept[pair].iter().any(|kept| {
                    let behind = number(job.sequence).wrapping_sub(number(kept.job.sequence)) & 0xff_ffff;
                    behind > kept.sent && behind < kept.limit
                }));
                bench.offered = Some(job);
            } else if bench.kept[pair].len() < 16 {
                let job = bench.job(pair, expected[pair], false);
                expected[pair] = (expected[pair] + job.packets.to_u64() as u32) & 0xff_ffff;
                bench.offered = Some(job);
            } else {
                full += 1;
            }
        }
        bench.cycle();
    }
    bench.link = 1.0;
    bench.empty();
    for _ in 0..10 {
        bench.cycle();
    }
    assert_eq!(bench.uut.pairs.val().to_u64(), 0);
    assert!(bench.refusals.is_empty() && bench.closed.is_empty());
    let responses = bench.responses;
    assert!(responses > 800 && backs > 80 && cut > 10 && full > 5, "{responses} {backs} {cut} {full}");
}

/// A region that goes away, and a line that cannot be read: a NAK, and the READs of that queue pair
/// alone are gone.
#[test]
fn refusals() {
    for by_memory in [false, true] {
        let mut bench = Bench::new("responder_refusal");
        bench.link = 0.0;
        for pair in 0..2 {
            for number in 0..3 {
                bench.offered = Some(ReadJob {
                    packets: 2.into(),
                    bytes: 300.into(),
                    address: u64::from(BASE).into(),
                    atomic: false,
                    key: u64::from(KEY).into(),
                    ..bench.job(pair, 10 * number, false)
                });
                while bench.offered.is_some() {
                    bench.cycle();
                }
            }
        }
        if by_memory {
            bench.uut.fault.next = PayloadFault {
                pair: 1.into(),
                sequence: 11.into(),
                response: true,
                ..PayloadFault::default()
            };
            bench.uut.fault_message.next = 0x77.into();
            bench.uut.fault_valid.next = true;
        } else {
            bench.region.valid = false;
        }
        for _ in 0..100 {
            bench.cycle();
        }
        let syndromes: Vec<(usize, u64, u64)> = bench
            .refusals
            .iter()
            .map(|refusal| (refusal.pair.index(), refusal.sequence.to_u64(), refusal.nak.to_u64()))
            .collect();
        if by_memory {
            assert_eq!(syndromes, [(1, 11, nak::REMOTE_OPERATIONAL_ERROR)]);
            let messages: Vec<u64> = bench.refusals.iter().map(|refusal| refusal.message.to_u64()).collect();
            assert_eq!(messages, [0x77], "the message of the response that failed");
            assert_eq!((bench.closed.clone(), bench.uut.pairs.val().to_u64()), (vec![1], 1));
            bench.link = 1.0;
            bench.empty();
            assert_eq!(bench.responses, 6);
        } else {
            let mut sorted = syndromes;
            sorted.sort_unstable();
            assert_eq!(sorted, [(0, 0, nak::REMOTE_ACCESS_ERROR), (1, 0, nak::REMOTE_ACCESS_ERROR)]);
            assert_eq!((bench.closed.len(), bench.uut.pairs.val().to_u64()), (2, 0));
            assert_eq!(bench.responses, 0);
        }
    }
}

/// A queue pair that goes down loses its READs, and the next ones begin from nothing.
#[test]
fn down_and_up() {
    let mut bench = Bench::new("responder_down");
    bench.link = 0.0;
    for number in 0..16 {
        bench.offered = Some(bench.job(1, 10 * number, false));
        while bench.offered.is_some() {
            bench.cycle();
        }
    }
    bench.ups = 5;
    bench.kept[1].clear();
    bench.cycle();
    bench.kept[1].clear();
    for _ in 0..20 {
        bench.cycle();
    }
    assert_eq!(bench.uut.pairs.val().to_u64(), 0);
    bench.ups = 7;
    bench.offered = Some(bench.job(1, 77, true));
    bench.link = 1.0;
    bench.cycle();
    bench.empty();
}

/// A queue pair goes down while its READ is being taken, and one of another queue pair follows:
/// that one is taken, once.
#[test]
fn a_read_that_is_withdrawn() {
    for late in 0..24 {
        let mut bench = Bench::new("responder_withdrawn");
        bench.link = 0.0;
        for number in 0..12 {
            bench.offered = Some(ReadJob { serve: true, ..bench.job(1, 100 + 10 * number, false) });
            while bench.offered.is_some() {
                bench.cycle();
            }
        }
        // Back before all of them
        bench.offered = Some(bench.job(1, 90, true));
        for _ in 0..late {
            bench.cycle();
        }
        bench.ups = 5;
        bench.kept[1].clear();
        bench.offered = None;
        bench.cycle();
        bench.kept[1].clear();
        bench.offered = Some(bench.job(2, 7, false));
        bench.link = 1.0;
        for _ in 0..60 {
            bench.cycle();
        }
        assert!(bench.offered.is_none());
        assert!(bench.kept.iter().all(VecDeque::is_empty), "late {late}: it is answered");
    }
}
