//! The network interface as Verilog against the golden model of RoCEv2 frames: what it sends byte
//! by byte, and how it judges random frames that were changed at random. `HERMES_SEED` repeats a
//! run.

use std::collections::{BTreeMap, VecDeque};

use hermes_hdl::emit::emit;
use hermes_rtl::net::{cause, region_word, right, state, word, InterfaceSizes, NetInterface};
use hermes_rtl::types::{code, counter};
use hermes_testbench::golden::roce::{opcode, seal, Extended, RoceError, RoceFrame};
use hermes_testbench::test_seed;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::{Input, Model, ModelOptions, Output};

const TOP: &str = "net_interface";
const OUR_MAC: [u8; 6] = [2, 0, 0x11, 0x22, 0x33, 0x44];
const OUR_IP: [u8; 4] = [10, 1, 2, 3];
const PEER_MAC: [u8; 6] = [2, 0, 0x55, 0x66, 0x77, 0x88];
const PEER_IP: [u8; 4] = [10, 1, 2, 200];
const TYPE_OF_SERVICE: u8 = 0x68;
const PAIR: u32 = 5;
const REMOTE: u32 = 0xabcdef;
const KEY: u32 = 0x8765_4321;
/// Key of region 9, which peers may write: all memory but the first line.
const OUR_KEY: u32 = 0x1234_5679;
const REGION: u32 = 64;
/// The domain of all.
const DOMAIN: u32 = 7;
/// The window here, its bytes, and where it begins at the peer.
const WINDOW: u32 = 0x10_0000;
const WINDOW_BYTES: u32 = 0x1000;
const BASE: u64 = 0x7fff_1234_0000;
/// Bytes of the payload of a packet, at most.
const LONGEST: u32 = 4096;
/// Sequence numbers at first.
const SEND: u32 = 0xff_fffe;
const EXPECT: u32 = 0xff_ff00;

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// What became of a frame that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// Its payload was written.
    Written,
    /// It was dropped, with this cause.
    Dropped(u64),
    /// It is for no queue pair that is up.
    Unknown,
    /// It is no packet that is served, or may not be.
    Refused,
    /// It came again.
    Repeated,
    /// It came too early.
    Newer,
    /// It is an answer that nobody waits for.
    Stray,
}

struct Interface {
    model: Model,
    clock: Input,
    outcomes: Vec<Outcome>,
    sent: Vec<Vec<u8>>,
    partial: Vec<u8>,
    memory: BTreeMap<u32, u8>,
    outstanding: VecDeque<u64>,
    /// Frames that found no room.
    no_room: u64,
    /// In how many of 100 cycles memory takes a write.
    memory_rate: u32,
    rng: ChaCha8Rng,
}

impl Interface {
    fn new(rng: ChaCha8Rng) -> Self {
        let design = emit(&NetInterface::new(InterfaceSizes::default()), TOP).unwrap();
        let library = Model::build(&design.verilog(), &ModelOptions::new(TOP)).unwrap();
        let model = library.instantiate().unwrap();
        let clock = model.input("clk", 1).unwrap();
        let (outcomes, sent, partial, memory, outstanding) = Default::default();
        let (no_room, memory_rate) = (0, 80);
        let mut this =
            Self { model, clock, outcomes, sent, partial, memory, outstanding, no_room, memory_rate, rng };
        this.set("rst", 1, 1);
        this.cycle();
        this.cycle();
        this.set("rst", 1, 0);
        let mac = number(&OUR_MAC);
        let ip = number(&OUR_IP);
        let identity = [
            mac as u32,
            (mac >> 32) as u32 | (ip << 16) as u32,
            (ip >> 16) as u32 | u32::from(TYPE_OF_SERVICE) << 16,
        ];
        let port = this.model.input("control_identity", 88).unwrap();
        this.model.set_words(port, &identity);
        let peer = number(&PEER_MAC);
        let words = [
            (word::STATE, DOMAIN << 12 | 5 << 16),
            (word::REMOTE, REMOTE),
            (word::MAC_LOW, peer as u32),
            (word::MAC_HIGH, (peer >> 32) as u32),
            (word::IP, number(&PEER_IP) as u32),
            (word::KEY, KEY),
            (word::WINDOW_BASE, WINDOW),
            (word::WINDOW_BYTES, WINDOW_BYTES),
            (word::BASE_LOW, BASE as u32),
            (word::BASE_HIGH, (BASE >> 32) as u32),
            (word::SEND, SEND),
            (word::EXPECT, EXPECT),
        ];
        this.set("control_table_pair", 4, PAIR.into());
        for (word, value) in words {
            this.set("control_table_write", 1, 1);
            this.set("control_table_word", 4, word);
            this.set("control_table_value", 32, value.into());
            this.cycle();
        }
        this.set("control_table_write", 1, 0);
        this.set("control_regions_pair", 4, (OUR_KEY & 15).into());
        let region = [
            (region_word::RIGHTS, 1 | DOMAIN << 4 | right::REMOTE_WRITE),
            (region_word::ADDRESS, REGION),
            (region_word::BYTES, 0u32.wrapping_sub(REGION)),
            (region_word::KEY, OUR_KEY),
        ];
        for (word, value) in region {
            this.set("control_regions_write", 1, 1);
            this.set("control_regions_word", 4, word);
            this.set("control_regions_value", 32, value.into());
            this.cycle();
        }
        this.set("control_regions_write", 1, 0);
        this.set("control_post_domain", 4, DOMAIN.into());
        this.set("control_set_state", 1, 1);
        this.set("control_state_pair", 4, PAIR.into());
        this.set("control_new_state", 4, state::UP);
        this.set("control_window", 6, 32);
        this.set("control_timeout", 24, 4096);
        this.set("control_retries", 3, 7);
        this.cycle();
        this.set("control_set_state", 1, 0);
        this.set("control_enable", 1, 1);
        this
    }

    fn set(&mut self, name: &str, width: usize, value: u64) {
        let port = self.model.input(name, width).unwrap();
        self.model.set_u64(port, value);
    }

    fn get(&self, name: &str, width: usize) -> u64 {
        self.model.get_u64(self.model.output(name, width).unwrap())
    }

    fn line(&self, name: &str) -> Vec<u8> {
        let port: Output = self.model.output(name, 512).unwrap();
        self.model.get_words(port).iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// A cycle: memory and wire pause now and then.
    fn cycle(&mut self) {
        let ready = [80, self.memory_rate].map(|rate| u64::from(self.rng.gen_ratio(rate, 100)));
        self.set("tx_tready", 1, ready[0]);
        self.set("write_ready", 1, ready[1]);
        let done = if self.rng.gen_bool(0.5) { self.outstanding.pop_front() } else { None };
        self.set("write_written_valid", 1, done.is_some().into());
        self.set("write_written_tag", 6, done.unwrap_or(0));
        self.model.fall(self.clock).unwrap();
        if self.get("tx_tvalid", 1) & ready[0] == 1 {
            let count = self.get("tx_tkeep", 64).count_ones() as usize;
            let bytes = self.line("tx_tdata");
            self.partial.extend_from_slice(&bytes[..count]);
            if self.get("tx_tlast", 1) == 1 {
                self.sent.push(std::mem::take(&mut self.partial));
            }
        }
        if self.get("write_valid", 1) & ready[1] == 1 {
            let (line, strobe, bytes) =
                (self.get("write_line", 26) as u32, self.get("write_strobe", 64), self.line("write_data"));
            for i in (0..64u32).filter(|i| strobe >> i & 1 == 1) {
                self.memory.insert(line * 64 + i, bytes[i as usize]);
            }
            self.outstanding.push_back(self.get("write_tag", 6));
        }
        let events = self.get("events", counter::EVENTS);
        for number in (0..counter::EVENTS as u64).filter(|number| events >> number & 1 == 1) {
            match number {
                counter::FRAMES_IN => self.outcomes.push(Outcome::Written),
                counter::UNKNOWN => self.outcomes.push(Outcome::Unknown),
                counter::REFUSED => self.outcomes.push(Outcome::Refused),
                counter::REPEATED => self.outcomes.push(Outcome::Repeated),
                counter::NEWER => self.outcomes.push(Outcome::Newer),
                counter::STRAY => self.outcomes.push(Outcome::Stray),
                counter::NO_ROOM => self.no_room += 1,
                counter::CAUSE_1..counter::UNKNOWN => {
                    self.outcomes.push(Outcome::Dropped(number - counter::CAUSE_1 + cause::SHORT));
                }
                _ => {}
            }
        }
        self.model.rise(self.clock).unwrap();
    }

    /// A cycle with a beat at the input: its bytes, TKEEP, TLAST and TUSER; what is not said is
    /// anything.
    fn beat(&mut self, beat: Option<(&[u8], u64, bool, u32)>) {
        let (part, keep, last, user) = beat.unwrap_or((&[], self.rng.gen(), self.rng.gen(), self.rng.gen()));
        let mut bytes: [u8; 64] = std::array::from_fn(|_| self.rng.gen());
        bytes[..part.len()].copy_from_slice(part);
        let words: Vec<u32> =
            bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        let port = self.model.input("rx_tdata", 512).unwrap();
        self.model.set_words(port, &words);
        self.set("rx_tvalid", 1, beat.is_some().into());
        self.set("rx_tkeep", 64, keep);
        self.set("rx_tlast", 1, last.into());
        self.set("rx_tuser", 32, user.into());
        self.cycle();
    }

    /// A NAK took the queue pair down, or is about to.
    fn is_down(&mut self) -> bool {
        self.set("control_table_pair", 4, PAIR.into());
        self.set("control_table_word", 4, word::STATE);
        self.set("control_table_read", 1, 1);
        self.beat(None);
        while self.get("control_table_waits", 1) == 1 {
            self.beat(None);
        }
        self.set("control_table_read", 1, 0);
        self.beat(None);
        self.get("control_table_answer", 32) & 15 != state::UP
    }

    /// Takes the queue pair up again, which a NAK took down: with the sequence number that it
    /// expects.
    fn reopen(&mut self) {
        for new_state in [state::RESET, state::UP] {
            let mut waited = 0;
            self.set("control_new_state", 4, new_state);
            self.set("control_set_state", 1, 1);
            self.model.fall(self.clock).unwrap();
            while self.get("control_state_refused", 1) == 1 {
                waited += 1;
                assert!(waited < 2_000, "its NAK is sent, and nothing is left");
                self.set("control_set_state", 1, 0);
                self.beat(None);
                self.set("control_set_state", 1, 1);
                self.model.fall(self.clock).unwrap();
            }
            self.beat(None);
            self.set("control_set_state", 1, 0);
        }
    }

    /// Waits until it has told `count` outcomes, with a fast memory.
    fn drain(&mut self, count: usize) {
        self.memory_rate = 100;
        for _ in 0..40_000 {
            if self.outcomes.len() >= count {
                return;
            }
            self.beat(None);
        }
        panic!("{} outcomes of {count}", self.outcomes.len());
    }

    /// Gives it a frame, and waits for its outcome.
    fn receive(&mut self, frame: &[u8]) -> Outcome {
        let beats = frame.chunks(64).count();
        for (index, part) in frame.chunks(64).enumerate() {
            let last = index + 1 == beats;
            self.beat(Some((part, u64::MAX >> (64 - part.len()), last, 0)));
        }
        self.set("rx_tvalid", 1, 0);
        for _ in 0..2_000 {
            if !self.outcomes.is_empty() {
                break;
            }
            self.cycle();
        }
        assert_eq!(self.no_room, 0);
        assert_eq!(self.outcomes.len(), 1, "{:?} for a frame of {} bytes", self.outcomes, frame.len());
        self.outcomes.pop().unwrap()
    }
}

/// Changes a frame: a bit, a byte of a header, its end; with or without the checks put right.
fn change(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    let seals = rng.gen_bool(0.6);
    for _ in 0..rng.gen_range(0..3) {
        let at = if rng.gen_bool(0.7) { rng.gen_range(0..84) } else { rng.gen_range(0..bytes.len()) };
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= if rng.gen_bool(0.7) { 1 << rng.gen_range(0..8) } else { rng.gen() };
        }
    }
    match rng.gen_range(0..12) {
        0 => bytes.truncate(rng.gen_range(1..=bytes.len())),
        1 => bytes.extend((0..rng.gen_range(1..70)).map(|_| 0)),
        // Another length that both headers agree on
        2 if bytes.len() > 60 => {
            let length = (number(&bytes[16..18]) as u16).wrapping_add(rng.gen_range(0..16)).wrapping_sub(8);
            bytes[16..18].copy_from_slice(&length.to_be_bytes());
            bytes[38..40].copy_from_slice(&length.wrapping_sub(20).to_be_bytes());
        }
        _ => {}
    }
    if seals {
        seal(bytes);
    }
}

/// Our end of the queue pair, as the specification has it.
struct Target {
    sequence: u32,
    /// A message that has begun: where its next byte goes, what is to come, its key.
    message: Option<(u64, u32, u32)>,
}

impl Target {
    /// A frame for us, of which so many of 1,000 are requests that are not served, or no good ones.
    fn frame(&self, rng: &mut ChaCha8Rng, wild: u32) -> RoceFrame {
        let is_wild = rng.gen_ratio(wild, 1_000);
        let length = if rng.gen_bool(0.1) { rng.gen_range(1..1_100) } else { rng.gen_range(1..150) };
        let (mut code, mut payload, mut total) = (opcode::WRITE_ONLY, length, length);
        match self.message {
            Some((_, left, _)) if left > LONGEST => (code, payload) = (opcode::WRITE_MIDDLE, LONGEST),
            Some((_, left, _)) => (code, payload) = (opcode::WRITE_LAST, left),
            None if rng.gen_bool(0.02) => {
                total = LONGEST + rng.gen_range(1..2 * LONGEST);
                (code, payload) = (opcode::WRITE_FIRST, LONGEST);
            }
            // Answers, which have no effect
            None if rng.gen_bool(0.1) => code = opcode::ACKNOWLEDGE,
            None => {}
        }
        if is_wild {
            while let 0 = rng.gen_range(0..3u32) {
                code = rng.gen_range(0..0x20);
            }
        }
        let extended = loop {
            match Extended::of(code) {
                Some(extended) => break extended,
                None => code = rng.gen_range(0..0x20),
            }
        };
        let extended = match extended {
            Extended::Rdma { .. } => Extended::Rdma {
                address: if is_wild && rng.gen_bool(0.2) { rng.gen() } else { rng.gen_range(64..0x1_0000) },
                key: if is_wild && rng.gen_bool(0.2) { rng.gen() } else { OUR_KEY },
                length: if is_wild && rng.gen_bool(0.2) { rng.gen() } else { total },
            },
            Extended::Acknowledge { .. } => {
                Extended::Acknowledge { syndrome: rng.gen(), message: rng.gen::<u32>() >> 8 }
            }
            other => other,
        };
        RoceFrame {
            to_mac: OUR_MAC,
            from_mac: PEER_MAC,
            type_of_service: rng.gen(),
            to_ip: OUR_IP,
            from_ip: PEER_IP,
            source_port: rng.gen(),
            opcode: code,
            acknowledge: rng.gen(),
            queue_pair: PAIR,
            sequence: if rng.gen_bool(0.9) { self.sequence } else { rng.gen::<u32>() >> 8 },
            extended,
            payload: (0..payload).map(|_| rng.gen()).collect(),
        }
    }

    /// What must become of a frame; what is written then, and where.
    fn take(&mut self, bytes: &[u8]) -> (Outcome, Option<(u32, Vec<u8>)>) {
        let dropped = |cause| (Outcome::Dropped(cause), None);
        let ours = bytes.get(..6) == Some(&OUR_MAC[..]) && bytes.get(30..34) == Some(&OUR_IP[..]);
        match RoceFrame::parse(bytes) {
            Err(RoceError::Short) => dropped(cause::SHORT),
            Err(RoceError::Ip) => dropped(cause::IP),
            Err(RoceError::Udp) => dropped(cause::UDP),
            _ if !ours => dropped(cause::NOT_OURS),
            Err(RoceError::Version) => dropped(cause::VERSION),
            Err(RoceError::Icrc) => dropped(cause::ICRC),
            Err(RoceError::Opcode) => dropped(cause::OPCODE),
            Ok(frame) if frame.queue_pair != PAIR || frame.from_ip != PEER_IP => (Outcome::Unknown, None),
            // ACKs and responses, which nobody waits for
            Ok(frame) if (0x0d..=0x12).contains(&frame.opcode) => (Outcome::Stray, None),
            Ok(frame) => self.request(frame),
        }
    }

    fn request(&mut self, frame: RoceFrame) -> (Outcome, Option<(u32, Vec<u8>)>) {
        use opcode::{COMPARE_SWAP, FETCH_ADD, READ_REQUEST};
        use opcode::{WRITE_FIRST, WRITE_LAST, WRITE_MIDDLE, WRITE_ONLY};
        let is_write = [WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY].contains(&frame.opcode);
        let is_served = is_write || [READ_REQUEST, COMPARE_SWAP, FETCH_ADD].contains(&frame.opcode);
        match frame.sequence.wrapping_sub(self.sequence) & 0xff_ffff {
            0 if is_write => {}
            // The region may be written alone.
            0 => return (Outcome::Refused, None),
            distance if distance >> 23 == 1 && !is_served => return (Outcome::Refused, None),
            distance if distance >> 23 == 1 => return (Outcome::Repeated, None),
            _ => return (Outcome::Newer, None),
        }
        let size = frame.payload.len() as u32;
        let (address, left, key, needed) = match (frame.extended, self.message) {
            (Extended::Rdma { address, key, length }, None) => (address, length, key, length),
            (Extended::None, Some((address, left, key))) => (address, left, key, size),
            _ => return (Outcome::Refused, None),
        };
        let is_whole = match frame.opcode {
            WRITE_FIRST | WRITE_MIDDLE => size == LONGEST && left > LONGEST,
            WRITE_LAST => size == left && (1..=LONGEST).contains(&size),
            _ => size == left && size <= LONGEST,
        };
        let inside = address >= u64::from(REGION) && address <= (1 << 32) - u64::from(needed);
        if !is_whole || !inside || key != OUR_KEY {
            return (Outcome::Refused, None);
        }
        let ends = [WRITE_LAST, WRITE_ONLY].contains(&frame.opcode);
        self.message = (!ends).then(|| (address + u64::from(size), left - size, key));
        self.sequence = (self.sequence + 1) & 0xff_ffff;
        (Outcome::Written, Some((address as u32, frame.payload)))
    }
}

#[test]
fn frames_are_judged_as_the_golden_model_does() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut interface = Interface::new(ChaCha8Rng::seed_from_u64(rng.gen()));
    let mut target = Target { sequence: EXPECT, message: None };
    let (mut seen, mut memory) = (BTreeMap::<Outcome, u32>::new(), BTreeMap::new());
    for round in 0..6_000 {
        let mut bytes = target.frame(&mut rng, 200).bytes();
        change(&mut bytes, &mut rng);
        let before = target.sequence;
        let (outcome, written) = target.take(&bytes);
        let got = interface.receive(&bytes);
        assert_eq!(got, outcome, "round {round}: {bytes:02x?}");
        *seen.entry(got).or_default() += 1;
        // A request that is refused when its turn has come takes the queue pair down.
        if outcome == Outcome::Refused && interface.is_down() {
            assert_eq!(number(&bytes[51..54]) as u32, before, "round {round}");
            interface.reopen();
            target.message = None;
        }
        if let Some((address, payload)) = written {
            for (at, byte) in (address..).zip(payload) {
                memory.insert(at, byte);
            }
        }
    }
    let first = memory.iter().find(|(at, byte)| interface.memory.get(at) != Some(byte));
    assert_eq!((first, memory.len()), (None, interface.memory.len()), "what was written");
    let causes = (cause::SHORT..=cause::OPCODE).map(Outcome::Dropped);
    for outcome in causes.chain([
        Outcome::Written,
        Outcome::Refused,
        Outcome::Unknown,
        Outcome::Repeated,
        Outcome::Newer,
        Outcome::Stray,
    ]) {
        assert!(seen.get(&outcome).is_some_and(|count| *count > 10), "{outcome:?} in {seen:?}");
    }
}

/// Frames without a pause between them, damaged ones, some that are too long for the buffer, with a
/// memory that stops now and then, and `enable` low for some of them: what has room is judged as
/// the golden model does, in the order in which it came, and nothing else is written.
#[test]
fn a_stream_of_frames_with_overflows() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut interface = Interface::new(ChaCha8Rng::seed_from_u64(rng.gen()));
    let mut target = Target { sequence: EXPECT, message: None };
    let (mut expects, mut memory) = (Vec::new(), BTreeMap::new());
    let (mut no_room, mut disabled, mut too_long, mut longest) = (0, 0, 0, 0);
    for round in 0..4_000 {
        // Memory is fast, slow, and stops.
        interface.memory_rate = [100, 100, 100, 5, 0][round / 20 % 5];
        let busy = round / 400 % 2 == 0;
        let mut frame = target.frame(&mut rng, 10);
        if target.message.is_none() && rng.gen_bool(0.05) {
            let length = [4_095, 4_096, 4_096, 4_096, 4_097, 8_123, 8_128, 9_000][rng.gen_range(0..8)];
            frame.payload = (0..length).map(|_| rng.gen()).collect();
            frame.opcode = opcode::WRITE_ONLY;
            let address = rng.gen_range(64..0x1_0000);
            frame.extended = Extended::Rdma { address, key: OUR_KEY, length };
        }
        // To the end of the address space, and behind it
        if let (true, Extended::Rdma { address, length, .. }) = (rng.gen_bool(0.05), &mut frame.extended) {
            *address = (1 << 32) - u64::from(*length) + if rng.gen_bool(0.1) { 1 } else { 0 };
        }
        let mut bytes = frame.bytes();
        if rng.gen_bool(0.3) {
            change(&mut bytes, &mut rng);
        }
        // The buffer has 512 beats, of which one stays free.
        if rng.gen_bool(0.01) {
            bytes.resize(64 * rng.gen_range(509..514), 0);
            interface.drain(expects.len());
        }
        // What makes it damaged: the mark, or TKEEP of a beat
        let beats = bytes.chunks(64).count();
        let marked = rng.gen_bool(0.03);
        let hole = rng.gen_bool(0.03).then(|| rng.gen_range(0..beats));
        let before = interface.no_room;
        // Only what `enable` is in the first beat counts.
        let enabled = rng.gen_bool(0.95);
        for (index, part) in bytes.chunks(64).enumerate() {
            while rng.gen_bool(if busy { 0.02 } else { 0.7 }) {
                interface.beat(None);
            }
            let enable = if index == 0 { enabled } else { rng.gen_bool(0.5) };
            interface.set("control_enable", 1, enable.into());
            let last = index + 1 == beats;
            let mut keep = u64::MAX >> (64 - part.len());
            if hole == Some(index) {
                keep &= !(1 << rng.gen_range(0..part.len() - usize::from(last && part.len() > 1)));
            }
            let user: u32 = rng.gen();
            let user = if last { user << 1 >> 1 | u32::from(marked) << 31 } else { user };
            interface.beat(Some((part, keep, last, user)));
        }
        if !enabled {
            disabled += 1;
            assert_eq!(interface.no_room, before);
            continue;
        }
        if interface.no_room > before {
            no_room += 1;
            too_long += usize::from(beats > 511);
            continue;
        }
        longest = longest.max(beats);
        if marked || hole.is_some() {
            expects.push(Outcome::Dropped(cause::SHORT));
            continue;
        }
        let (outcome, written) = target.take(&bytes);
        expects.push(outcome);
        if outcome == Outcome::Refused {
            interface.drain(expects.len());
            if interface.is_down() {
                interface.reopen();
                target.message = None;
            }
        }
        if let Some((address, payload)) = written {
            for (at, byte) in (u64::from(address)..).zip(payload) {
                memory.insert(at as u32, byte);
            }
        }
    }
    interface.drain(expects.len());
    let is_written = |outcome: &Outcome| *outcome == Outcome::Written;
    let written = [&interface.outcomes, &expects].map(|all| all.iter().filter(|one| is_written(one)).count());
    let drops = [&interface.outcomes, &expects]
        .map(|all| all.iter().filter(|one| !is_written(one)).copied().collect::<Vec<_>>());
    let first = drops[0].iter().zip(&drops[1]).position(|(got, expected)| got != expected);
    assert_eq!((first, drops[0].len()), (None, drops[1].len()), "frames that are dropped");
    assert_eq!(written[0], written[1], "frames that are written");
    let first = memory.iter().find(|(at, byte)| interface.memory.get(at) != Some(byte));
    assert_eq!((first, memory.len()), (None, interface.memory.len()), "what was written");
    assert_eq!(longest, 511, "the longest frame that has room");
    let counts = [no_room, disabled, too_long, written[0]];
    assert!(counts.iter().zip([100, 100, 2, 500]).all(|(count, least)| *count > least), "{counts:?}");
}

/// Puts of 16 to 4,096 bytes of one peer to any address, each a frame, as fast as 100 Gbit/s bring
/// them, for longer than the buffer has room: none is lost, and all are written as soon as the last
/// one came.
#[test]
fn frames_at_the_rate_of_the_wire() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut interface = Interface::new(ChaCha8Rng::seed_from_u64(rng.gen()));
    interface.memory_rate = 100;
    let mut target = Target { sequence: EXPECT, message: None };
    // From the beginning of a line on, and from any byte on, where a put takes a line more.
    let puts = [(16, 2_000), (64, 1_000), (128, 600), (500, 300), (1_024, 200), (4_096, 60)];
    for ((length, count), step) in puts.into_iter().flat_map(|put| [(put, 64), (put, 1)]) {
        // Cycles since the first frame began, and when the wire has brought what was given so far
        let (mut cycle, mut wire) = (0u64, 0.0);
        let before = interface.outcomes.len();
        for _ in 0..count {
            let address = rng.gen_range(64 / step..0x1_0000 / step) * step;
            let frame = RoceFrame {
                opcode: opcode::WRITE_ONLY,
                sequence: target.sequence,
                acknowledge: true,
                extended: Extended::Rdma { address, key: OUR_KEY, length },
                payload: (0..length).map(|_| rng.gen()).collect(),
                ..target.frame(&mut rng, 0)
            };
            target.sequence = (target.sequence + 1) & 0xff_ffff;
            let bytes = frame.bytes();
            let beats = bytes.chunks(64).count();
            for (index, part) in bytes.chunks(64).enumerate() {
                wire += part.len() as f64 / 12.5;
                while (cycle as f64) < wire {
                    interface.beat(None);
                    cycle += 1;
                }
                let last = index + 1 == beats;
                interface.beat(Some((part, u64::MAX >> (64 - part.len()), last, 0)));
                cycle += 1;
            }
            wire += 24.0 / 12.5;
        }
        // What is left is the way of the last frames.
        for _ in 0..150 + length / 8 {
            interface.beat(None);
        }
        assert_eq!(interface.no_room, 0, "{length} bytes, at multiples of {step}");
        let written = &interface.outcomes[before..];
        assert_eq!(written.len(), count, "{length} bytes");
        assert!(written.iter().all(|outcome| *outcome == Outcome::Written), "{length} bytes");
    }
}

#[test]
fn frames_that_are_sent_are_those_of_the_golden_model() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut interface = Interface::new(ChaCha8Rng::seed_from_u64(rng.gen()));
    for number in 0..500u32 {
        let payload: Vec<u8> = (0..rng.gen_range(1..=16)).map(|_| rng.gen()).collect();
        let offset = rng.gen_range(0..=WINDOW_BYTES - payload.len() as u32);
        let mut stage: [u32; 16] = std::array::from_fn(|_| rng.gen());
        stage[0] = 1 | 1 << 10;
        stage[1] = WINDOW + offset;
        stage[3] = payload.len() as u32;
        for (i, byte) in payload.iter().enumerate() {
            let shift = 8 * (i % 4);
            stage[4 + i / 4] = stage[4 + i / 4] & !(0xff << shift) | u32::from(*byte) << shift;
        }
        let port = interface.model.input("control_stage", 512).unwrap();
        interface.model.set_words(port, &stage);
        interface.set("control_post_pair", 4, PAIR.into());
        interface.set("control_post", 1, 1);
        interface.cycle();
        interface.set("control_post", 1, 0);
        let mut cycles = 0;
        while interface.sent.is_empty() {
            cycles += 1;
            assert!(cycles < 200, "put {number} is not sent");
            interface.cycle();
        }
        let expected = RoceFrame {
            to_mac: PEER_MAC,
            from_mac: OUR_MAC,
            type_of_service: TYPE_OF_SERVICE,
            to_ip: PEER_IP,
            from_ip: OUR_IP,
            source_port: 0xc000 + PAIR as u16,
            opcode: opcode::WRITE_ONLY,
            acknowledge: true,
            queue_pair: REMOTE,
            sequence: (SEND + number) & 0xff_ffff,
            extended: Extended::Rdma {
                address: BASE + u64::from(offset),
                key: KEY,
                length: payload.len() as u32,
            },
            payload,
        };
        assert_eq!(interface.sent.pop().unwrap(), expected.bytes(), "put {number}");
        // The peer acknowledges it.
        let answer = RoceFrame {
            to_mac: OUR_MAC,
            from_mac: PEER_MAC,
            to_ip: OUR_IP,
            from_ip: PEER_IP,
            opcode: opcode::ACKNOWLEDGE,
            acknowledge: false,
            queue_pair: PAIR,
            extended: Extended::Acknowledge { syndrome: 0x1f, message: number + 1 },
            payload: vec![],
            ..expected
        };
        interface.beat(Some((&answer.bytes(), u64::MAX >> (64 - answer.bytes().len()), true, 0)));
        interface.set("rx_tvalid", 1, 0);
        let mut cycles = 0;
        while interface.get("control_completed", 1) == 0 {
            cycles += 1;
            assert!(cycles < 200, "put {number} is not complete");
            interface.cycle();
        }
        assert_eq!(interface.get("control_code", 8), code::DONE);
        interface.cycle();
    }
}
