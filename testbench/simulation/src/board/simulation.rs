//! A board under simulation: the Verilog of its top, bit by bit at the pins of its serial line.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use verilator_sys::{Error, Input, Model, Output};

/// The pins of a board that a host needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardPins<'a> {
    /// The oscillator.
    pub clock: &'a str,
    /// The serial line to the board.
    pub to_board: &'a str,
    /// The serial line from the board.
    pub from_board: &'a str,
}

/// Errors on the serial line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineNoise {
    /// Probability that a bit is wrong, start and stop bits included, in both directions: 0 to 1.
    pub bit_errors: f64,
    /// Where the errors begin.
    pub seed: u64,
}

/// Bits of a byte on the line: start bit, eight data bits, stop bit.
const BITS: u32 = 10;
/// A bit, in the steps in which time passes.
const BIT: u32 = 1 << 16;

/// Cycles from power-on until the board listens.
const START: u32 = 64;

/// The half of a serial line that sends.
struct Sender {
    bytes: VecDeque<u8>,
    /// Bits that are still to be sent, that on the line in bit 0.
    bits: u32,
    left: u32,
    phase: u32,
}

/// The half that receives.
struct Receiver {
    before: bool,
    left: u32,
    phase: u32,
    byte: u8,
}

/// A board whose pins are driven bit by bit.
pub struct BoardSimulation {
    model: Model,
    clock: Input,
    to_board: Input,
    from_board: Output,
    /// Part of a bit that a clock cycle takes, in 2^-16.
    step: u32,
    sender: Sender,
    receiver: Receiver,
    noise: Option<(f64, ChaCha8Rng)>,
    cycles: u64,
}

impl BoardSimulation {
    /// A board whose serial line passes `step / 2^16` of a bit in a cycle of its clock, some cycles
    /// after power-on, when its reset is over.
    ///
    /// # Errors
    /// The model does not have these pins, or stopped by itself.
    pub fn new(model: Model, pins: &BoardPins, step: u32, noise: Option<LineNoise>) -> Result<Self, Error> {
        let (clock, to_board) = (model.input(pins.clock, 1)?, model.input(pins.to_board, 1)?);
        let from_board = model.output(pins.from_board, 1)?;
        let mut board = Self {
            model,
            clock,
            to_board,
            from_board,
            step,
            sender: Sender { bytes: VecDeque::new(), bits: 0, left: 0, phase: 0 },
            receiver: Receiver { before: true, left: 0, phase: 0, byte: 0 },
            noise: noise.map(|noise| (noise.bit_errors, ChaCha8Rng::seed_from_u64(noise.seed))),
            cycles: 0,
        };
        board.model.set_u64(to_board, 1);
        for _ in 0..START {
            board.cycle()?;
        }
        Ok(board)
    }

    /// Puts bytes behind those that wait to be sent to the board.
    pub fn send(&mut self, bytes: &[u8]) {
        self.sender.bytes.extend(bytes);
    }

    /// Bytes that wait to be sent.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.sender.bytes.len()
    }

    /// Cycles since power-on.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// One cycle; gives a byte that the board has sent. A byte without a stop bit is lost, as a
    /// serial port loses it.
    ///
    /// # Errors
    /// The model stopped by itself.
    #[inline]
    pub fn cycle(&mut self) -> Result<Option<u8>, Error> {
        self.drive();
        self.model.fall(self.clock)?;
        self.model.rise(self.clock)?;
        self.cycles += 1;
        let level = self.model.get_bool(self.from_board);
        Ok(self.sample(level))
    }

    /// Whether this bit is wrong.
    fn is_wrong(&mut self) -> bool {
        self.noise.as_mut().is_some_and(|(bit_errors, rng)| rng.gen_bool(*bit_errors))
    }

    fn drive(&mut self) {
        if self.sender.left == 0 {
            let Some(byte) = self.sender.bytes.pop_front() else { return };
            let wrong = (0..BITS).fold(0, |bits, bit| bits | u32::from(self.is_wrong()) << bit);
            self.sender.bits = (1 << 9 | u32::from(byte) << 1) ^ wrong;
            (self.sender.left, self.sender.phase) = (BITS, 0);
            self.model.set_u64(self.to_board, u64::from(self.sender.bits & 1));
            return;
        }
        self.sender.phase += self.step;
        if self.sender.phase < BIT {
            return;
        }
        self.sender.phase -= BIT;
        self.sender.bits >>= 1;
        self.sender.left -= 1;
        let level = if self.sender.left == 0 { 1 } else { self.sender.bits & 1 };
        self.model.set_u64(self.to_board, u64::from(level));
    }

    fn sample(&mut self, level: bool) -> Option<u8> {
        let fell = self.receiver.before && !level;
        self.receiver.before = level;
        if self.receiver.left == 0 {
            if fell {
                (self.receiver.left, self.receiver.phase) = (BITS, BIT / 2);
            }
            return None;
        }
        self.receiver.phase += self.step;
        if self.receiver.phase < BIT {
            return None;
        }
        self.receiver.phase -= BIT;
        let bit = level ^ self.is_wrong();
        match self.receiver.left {
            BITS if bit => self.receiver.left = 1,
            1 if bit => {
                self.receiver.left = 0;
                return Some(self.receiver.byte);
            }
            _ => self.receiver.byte = self.receiver.byte >> 1 | u8::from(bit) << 7,
        }
        self.receiver.left -= 1;
        None
    }
}
