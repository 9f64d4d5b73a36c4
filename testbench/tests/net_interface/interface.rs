//! The interface as a Verilated model, with what is around it: memory, wire, control.

use std::collections::{BTreeMap, VecDeque};

use hermes_hdl::emit::emit;
use hermes_rtl::net::{cause, region_word, right, state, word, InterfaceSizes, NetInterface};
use hermes_rtl::types::counter;
use rand::Rng as _;
use rand_chacha::ChaCha8Rng;
use verilator_sys::{Input, Model, ModelOptions, Output};

use crate::{
    number, BASE, DOMAIN, EXPECT, KEY, OUR_IP, OUR_KEY, OUR_MAC, PAIR, PEER_IP, PEER_MAC, REGION, REMOTE,
    SEND, TOP, TYPE_OF_SERVICE, WINDOW, WINDOW_BYTES,
};

/// What became of a frame that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
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

/// The interface with its memory and its wire.
pub struct Interface {
    pub model: Model,
    clock: Input,
    pub outcomes: Vec<Outcome>,
    pub sent: Vec<Vec<u8>>,
    partial: Vec<u8>,
    pub memory: BTreeMap<u32, u8>,
    outstanding: VecDeque<u64>,
    /// Frames that found no room.
    pub no_room: u64,
    /// In how many of 100 cycles memory takes a write.
    pub memory_rate: u32,
    rng: ChaCha8Rng,
}

impl Interface {
    pub fn new(rng: ChaCha8Rng) -> Self {
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

    pub fn set(&mut self, name: &str, width: usize, value: u64) {
        let port = self.model.input(name, width).unwrap();
        self.model.set_u64(port, value);
    }

    pub fn get(&self, name: &str, width: usize) -> u64 {
        self.model.get_u64(self.model.output(name, width).unwrap())
    }

    fn line(&self, name: &str) -> Vec<u8> {
        let port: Output = self.model.output(name, 512).unwrap();
        self.model.get_words(port).iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// A cycle: memory and wire pause now and then.
    pub fn cycle(&mut self) {
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
    pub fn beat(&mut self, beat: Option<(&[u8], u64, bool, u32)>) {
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
    pub fn is_down(&mut self) -> bool {
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
    pub fn reopen(&mut self) {
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
    pub fn drain(&mut self, count: usize) {
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
    pub fn receive(&mut self, frame: &[u8]) -> Outcome {
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
