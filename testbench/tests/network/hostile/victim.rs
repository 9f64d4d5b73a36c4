//! The array that hostile frames come to, and the peers that the test plays.

use hermes_rtl::net::{right, state};
use hermes_rtl::types::counter;
use hermes_testbench::cosim::{
    fetch_add, get, put_inline, Device as _, Host, Latency, MemoryOptions, NetAddress, PostOptions,
    QueuePair, Region, SentFrame, Simulation,
};
use hermes_testbench::golden::roce::{opcode, Extended, RoceError, RoceFrame};

use crate::nodes::{address, library, DOMAIN};

/// Bytes of the whole memory.
const MEMORY_BYTES: usize = 1 << 20;
/// The queue pair that is attacked, and the peer's end of it.
pub const PAIR: u32 = 3;
const REMOTE: u32 = 0xab_cdef;
/// The queue pair that nobody attacks, and its peer's end.
pub const OTHER: u32 = 9;
const OTHER_REMOTE: u32 = 0x12_3456;
/// A queue pair in RESET, and one in ERROR.
pub const IN_RESET: u32 = 7;
pub const IN_ERROR: u32 = 11;
/// First packet sequence numbers: the one that the array expects, and its own.
const EXPECT: u32 = 0xff_fffe;
const SEND: u32 = 0xff_ffff;
/// Bytes of packets.
pub const MTU: u32 = 256;
/// Where our window is at the peer.
const REMOTE_BASE: u64 = 0x7fff_0000_0000;

const fn region(number: u32, bytes: u32, rights: u32, domain: u32) -> Region {
    Region { address: number << 16, bytes, rights, key: 0x5eed_0100 << 4 | number, domain }
}

/// The region that the peer may use. Its end is no multiple of 8.
pub const OPEN: Region =
    region(1, 0x2004, right::REMOTE_WRITE | right::REMOTE_READ | right::REMOTE_ATOMIC, DOMAIN);
/// The region of our own commands, which no peer may use.
pub const LOCAL: Region = region(2, 0x1000, right::LOCAL_READ | right::LOCAL_WRITE, DOMAIN);
/// Regions with one right.
pub const READABLE: Region = region(3, 0x1000, right::REMOTE_READ, DOMAIN);
pub const WRITABLE: Region = region(4, 0x1000, right::REMOTE_WRITE, DOMAIN);
pub const COUNTABLE: Region = region(5, 0x1000, right::REMOTE_ATOMIC, DOMAIN);
/// The region of another domain, with all rights.
pub const FOREIGN: Region = region(6, 0x1000, right::ALL, DOMAIN + 1);
/// A region behind the end of the memory.
pub const HOLE: Region =
    Region { address: 0x4000_0000, ..region(8, 0x1000, right::REMOTE_READ | right::REMOTE_ATOMIC, DOMAIN) };
/// A region that was removed.
pub const GONE: Region = region(7, 0x1000, right::ALL, DOMAIN);

/// Commands under way on the queue pair that is attacked: a put, a get and an atomic operation.
pub const COMMANDS: u32 = 3;
/// What the get gives, and the atomic operation.
pub const GOT: [u8; 40] = [0xd7; 40];
pub const VALUE: u64 = 0x0123_4567_89ab_cdef;

/// The sequence number of the peer's packet `number`, the first one that it sends being 0.
pub fn theirs(number: u32) -> u32 {
    EXPECT.wrapping_add(number) & 0xff_ffff
}

/// The sequence number of our packet `number`, likewise.
pub fn ours(number: u32) -> u32 {
    SEND.wrapping_add(number) & 0xff_ffff
}

/// A frame of the peer's.
pub fn frame(opcode: u8, sequence: u32, extended: Extended, payload: &[u8]) -> RoceFrame {
    RoceFrame {
        to_mac: address(0).mac,
        from_mac: address(1).mac,
        type_of_service: 0,
        to_ip: address(0).ip,
        from_ip: address(1).ip,
        source_port: 0xc000,
        opcode,
        acknowledge: true,
        queue_pair: PAIR,
        sequence,
        extended,
        payload: payload.to_vec(),
    }
}

/// An RDMA WRITE of one packet, number `number` of the peer's.
pub fn write_only(number: u32, address: u32, key: u32, bytes: &[u8]) -> RoceFrame {
    let extended = Extended::Rdma { address: address.into(), key, length: bytes.len() as u32 };
    frame(opcode::WRITE_ONLY, theirs(number), extended, bytes)
}

/// An ACK or NAK for our packet with this sequence number.
pub fn acknowledge(sequence: u32, syndrome: u8) -> RoceFrame {
    let extended = Extended::Acknowledge { syndrome, message: 1 };
    RoceFrame { acknowledge: false, ..frame(opcode::ACKNOWLEDGE, sequence, extended, &[]) }
}

/// A response of a READ in one packet.
pub fn response(sequence: u32, bytes: &[u8]) -> RoceFrame {
    let extended = Extended::Acknowledge { syndrome: 0x1f, message: 2 };
    RoceFrame { acknowledge: false, ..frame(opcode::RESPONSE_ONLY, sequence, extended, bytes) }
}

/// The answer of an atomic operation.
pub fn atomic_response(sequence: u32, original: u64) -> RoceFrame {
    let extended = Extended::AtomicAcknowledge { syndrome: 0x1f, message: 3, original };
    RoceFrame { acknowledge: false, ..frame(opcode::ATOMIC_ACKNOWLEDGE, sequence, extended, &[]) }
}

/// Writes bytes to the memory as it must be.
pub fn put_bytes(memory: &mut [u8], address: u32, bytes: &[u8]) {
    memory[address as usize..address as usize + bytes.len()].copy_from_slice(bytes);
}

/// What the array sends on the queue pair that is attacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    opcode: u8,
    sequence: u32,
    /// The syndrome and the message sequence number, if it has them.
    extended: Option<(u8, u32)>,
}

impl Answer {
    /// An ACK of the peer's packet `number`, when it has sent three messages.
    pub fn ack(number: u32) -> Self {
        Self::nak(number, 0x1f)
    }

    /// A NAK of the peer's packet `number`, likewise.
    pub fn nak(number: u32, syndrome: u8) -> Self {
        let opcode = opcode::ACKNOWLEDGE;
        Self { opcode, sequence: theirs(number), extended: Some((syndrome, 3)) }
    }

    /// A response to the peer's packet `number`, likewise.
    pub fn response(number: u32, opcode: u8) -> Self {
        let extended = (opcode != opcode::RESPONSE_MIDDLE).then_some((0x1f, 3));
        Self { opcode, sequence: theirs(number), extended }
    }

    /// Our packet `number`.
    pub fn request(number: u32, opcode: u8) -> Self {
        Self { opcode, sequence: ours(number), extended: None }
    }

    /// It, with this message sequence number.
    pub fn of_message(self, message: u32) -> Self {
        Self { extended: self.extended.map(|(syndrome, _)| (syndrome, message)), ..self }
    }
}

/// The array under attack.
pub struct Victim {
    pub host: Host<Simulation>,
    /// What it sent.
    pub sent: Vec<SentFrame>,
    /// What the atomic operation of the history gave.
    kept: u64,
    /// Commands of the other queue pair, which is never taken down.
    others: u32,
}

impl Victim {
    pub fn new() -> Self {
        let memory = MemoryOptions { latency: Latency::Random(1, 60), seed: 11, ..MemoryOptions::default() };
        let model = library().instantiate().unwrap();
        let simulation = Simulation::new(model, MEMORY_BYTES as u64, memory).unwrap();
        let mut host = Host::new(simulation).unwrap();
        let bytes: Vec<u8> =
            (0..MEMORY_BYTES as u32).map(|at| (at.wrapping_mul(0x9e37_79b1) >> 11) as u8).collect();
        host.device_mut().write_memory(0, &bytes).unwrap();
        host.enable_network(address(0), 0).unwrap();
        // No packet is sent again but as an answer says.
        host.write("NET_TIMEOUT", 0xff_ffff).unwrap();
        for region in [OPEN, LOCAL, READABLE, WRITABLE, COUNTABLE, FOREIGN, HOLE, GONE] {
            host.set_region(region.key & 15, &region).unwrap();
        }
        host.remove_region(GONE.key & 15).unwrap();
        let mut victim = Self { host, sent: vec![], kept: 0, others: 0 };
        let other = QueuePair { remote: OTHER_REMOTE, peer: address(2), ..victim.pair() };
        victim.host.connect_queue_pair(OTHER, &other).unwrap();
        victim.host.connect_queue_pair(IN_ERROR, &victim.pair()).unwrap();
        victim.host.set_queue_pair_state(IN_ERROR, state::ERROR).unwrap();
        victim.host.connect_queue_pair(PAIR, &victim.pair()).unwrap();
        victim
    }

    /// The queue pair that is attacked.
    fn pair(&self) -> QueuePair {
        QueuePair {
            peer: address(1),
            remote: REMOTE,
            key: 0x77,
            window: OPEN.address,
            window_bytes: 0x2000,
            remote_base: REMOTE_BASE,
            send: SEND,
            expect: EXPECT,
            mtu: MTU,
            domain: DOMAIN,
            ..QueuePair::default()
        }
    }

    /// Connects the queue pair anew, which may be in ERROR.
    pub fn connect(&mut self) {
        if self.host.queue_pair_word(PAIR, 0).unwrap() & 15 == state::UP as u32 {
            self.host.set_queue_pair_state(PAIR, state::ERROR).unwrap();
        }
        self.host.set_queue_pair_state(PAIR, state::RESET).unwrap();
        self.host.connect_queue_pair(PAIR, &self.pair()).unwrap();
    }

    /// Three requests that the array takes: packet 0 a WRITE, 1 a READ, 2 an atomic operation.
    pub fn history(&mut self) {
        let seen = self.sent.len();
        let place = |offset: u32| (OPEN.address + offset).into();
        let read = Extended::Rdma { address: place(0x400), key: OPEN.key, length: 64 };
        let add = Extended::Atomic { address: place(0x200), key: OPEN.key, operand: 1, compare: 0 };
        for frame in [
            write_only(0, OPEN.address + 0x100, OPEN.key, &[0x11; 8]),
            frame(opcode::READ_REQUEST, theirs(1), read, &[]),
            frame(opcode::FETCH_ADD, theirs(2), add, &[]),
        ] {
            let before = self.sent.len();
            self.submit(&frame.bytes(), false);
            self.run_until_sent(before, 1, 600);
        }
        self.kept = match RoceFrame::parse(&self.sent.last().unwrap().bytes).unwrap().extended {
            Extended::AtomicAcknowledge { original, .. } => original,
            other => panic!("{other:?}"),
        };
        let taken = [
            Answer::ack(0).of_message(1),
            Answer::response(1, opcode::RESPONSE_ONLY).of_message(2),
            Answer::response(2, opcode::ATOMIC_ACKNOWLEDGE),
        ];
        assert_eq!(self.answers(seen), taken, "the history");
    }

    /// Posts the commands of the queue pair that is attacked, and one of the other; they are sent.
    pub fn post_commands(&mut self) {
        let seen = self.sent.len();
        let window = OPEN.address;
        let options = PostOptions { region: LOCAL.key & 15, domain: DOMAIN };
        for (pair, command) in [
            (PAIR, put_inline(window, &[1; 8])),
            (PAIR, get(window + 64, self.landing(), GOT.len() as u32)),
            (PAIR, fetch_add(window + 8, 7)),
            (OTHER, put_inline(window, &[2; 8])),
        ] {
            assert!(self.host.post(pair, &command, options).unwrap());
        }
        self.run_until_sent(seen, 4, 600);
        let sent = [
            Answer::request(0, opcode::WRITE_ONLY),
            Answer::request(1, opcode::READ_REQUEST),
            Answer::request(2, opcode::FETCH_ADD),
        ];
        assert_eq!(self.answers(seen), sent, "the commands");
    }

    /// Where the get of the commands puts what it gets.
    pub fn landing(&self) -> u32 {
        LOCAL.address + 5
    }

    /// The peer answers the commands under way.
    pub fn answer_commands(&mut self) {
        for frame in [acknowledge(ours(0), 0x1f), response(ours(1), &GOT), atomic_response(ours(2), VALUE)] {
            self.submit(&frame.bytes(), false);
        }
    }

    /// The peer of the other queue pair answers its command.
    pub fn answer_other(&mut self) {
        let answer = RoceFrame {
            from_mac: address(2).mac,
            from_ip: address(2).ip,
            queue_pair: OTHER,
            ..acknowledge(ours(self.others), 0x1f)
        };
        self.others += 1;
        self.submit(&answer.bytes(), false);
    }

    /// Gives the array a frame, which the MAC found damaged or not.
    pub fn submit(&mut self, frame: &[u8], damaged: bool) {
        let source = &mut self.host.device_mut().network_mut().unwrap().source;
        if damaged {
            source.submit_damaged(0, frame.to_vec());
        } else {
            source.submit(0, frame.to_vec());
        }
    }

    /// Lets the array work.
    pub fn run(&mut self, cycles: u64) {
        let device = self.host.device_mut();
        device.run(cycles).unwrap();
        device.network_mut().unwrap().sink.take_frames(&mut self.sent);
    }

    /// Lets the array work until it has sent `count` frames from frame `seen` on, for `most` cycles
    /// at most, and a little longer.
    pub fn run_until_sent(&mut self, seen: usize, count: usize, most: u64) {
        let end = self.host.device_mut().cycle() + most;
        while self.sent.len() < seen + count && self.host.device_mut().cycle() < end {
            self.run(25);
        }
        self.run(100);
    }

    /// Lets the array work until it has completed `count` commands in all, for `most` cycles at
    /// most.
    pub fn run_until_completed(&mut self, count: u32, most: u64) {
        let end = self.host.device_mut().cycle() + most;
        while self.host.read("NET_COMPLETED").unwrap() != count && self.host.device_mut().cycle() < end {
            self.run(25);
        }
    }

    /// What it sent on the queue pair that is attacked from frame `seen` on; nothing goes elsewhere
    /// but to the peers.
    pub fn answers(&self, seen: usize) -> Vec<Answer> {
        self.answers_in(self.sent[seen..].iter().map(|sent| RoceFrame::parse(&sent.bytes).unwrap()))
    }

    /// The same, without frames that it ended with a wrong ICRC.
    pub fn answers_that_are_whole(&self, seen: usize) -> Vec<Answer> {
        self.answers_in(self.sent[seen..].iter().filter_map(|sent| match RoceFrame::parse(&sent.bytes) {
            Err(RoceError::Icrc) => None,
            other => Some(other.unwrap()),
        }))
    }

    fn answers_in(&self, frames: impl Iterator<Item = RoceFrame>) -> Vec<Answer> {
        let answer = |frame: RoceFrame| {
            let extended = match frame.extended {
                Extended::Acknowledge { syndrome, message } => Some((syndrome, message)),
                Extended::AtomicAcknowledge { syndrome, message, original } => {
                    assert_eq!(original, self.kept, "the result is the one that it had");
                    Some((syndrome, message))
                }
                _ => None,
            };
            let to = [frame.to_mac.as_slice(), &frame.to_ip].concat();
            if frame.queue_pair == OTHER_REMOTE {
                assert_eq!(to, whole(address(2)));
                return None;
            }
            assert_eq!((frame.queue_pair, to), (REMOTE, whole(address(1))));
            Some(Answer { opcode: frame.opcode, sequence: frame.sequence, extended })
        };
        frames.filter_map(answer).collect()
    }

    /// The counters of the network interface.
    pub fn counters(&mut self) -> Vec<u32> {
        (0..counter::COUNT as u64).map(|number| self.host.network_counter(number).unwrap()).collect()
    }

    /// The whole memory, with what the caches have.
    pub fn memory(&mut self) -> Vec<u8> {
        self.host.clean_caches().unwrap();
        let mut bytes = vec![0; MEMORY_BYTES];
        self.host.device_mut().read_memory(0, &mut bytes).unwrap();
        bytes
    }

    /// The whole memory must be this.
    pub fn compare(&mut self, expected: &[u8], what: &str) {
        let memory = self.memory();
        let first = memory.iter().zip(expected).position(|(got, expected)| got != expected);
        assert_eq!(first.map(|at| format!("{at:#x}")), None, "{what}");
    }
}

fn whole(address: NetAddress) -> Vec<u8> {
    [address.mac.as_slice(), &address.ip].concat()
}
