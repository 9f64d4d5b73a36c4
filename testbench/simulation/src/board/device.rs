//! An array on a board, as a [`Device`] of the host library.

use std::io::{Read, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

use hermes_rtl::board::TRACE_ADDRESS;
use hermes_rtl::host::registers::offset;

use super::link::{Link, LinkOptions, LinkStatistics, Operation, Request, Status, MOST_BYTES};
use super::trace::TraceBytes;
use crate::cosim::{register_name, BoardError, CosimError, Device};
use crate::iss::AddressError;

/// First bytes of the answer to IDENTIFY.
const MAGIC: [u8; 4] = hermes_rtl::board::MAGIC.to_le_bytes();
/// Version of the protocol.
const VERSION: u32 = hermes_rtl::board::PROTOCOL;
/// Bytes of the answer to IDENTIFY.
const IDENTITY_BYTES: usize = 32;
/// Least bytes on the line of a request with its answer: two frames with their headers only.
const LEAST_LINE_BYTES: u64 = 26;
/// Longest sleep between two looks at the cycle counter, so that it cannot come round unseen.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// What a board says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Hash of the configuration of the array.
    pub configuration: u64,
    /// Bytes of the packet memory, from address 0.
    pub memory_bytes: u32,
    /// Clock of the array in kHz.
    pub clock_khz: u32,
    /// Frames that came damaged to the board since it started, modulo 2^32.
    pub damaged_frames: u32,
    /// Cycles since RESET in which packets were on the cores or in the delay commit queue, modulo
    /// 2^32.
    pub busy_cycles: u32,
}

impl Identity {
    /// Reads the answer to IDENTIFY.
    fn from_answer(data: &[u8]) -> Result<Self, BoardError> {
        let word = |at: usize| {
            let mut bytes = [0; 4];
            bytes.copy_from_slice(&data[at..at + 4]);
            u32::from_le_bytes(bytes)
        };
        let found = word(0).to_le_bytes();
        if found != MAGIC {
            return Err(BoardError::Magic { found, expected: MAGIC });
        }
        if word(4) != VERSION {
            return Err(BoardError::Protocol { found: word(4), expected: VERSION });
        }
        let identity = Self {
            configuration: u64::from(word(8)) | u64::from(word(12)) << 32,
            memory_bytes: word(16),
            clock_khz: word(20),
            damaged_frames: word(24),
            busy_cycles: word(28),
        };
        for (what, value) in
            [("packet memory in bytes", identity.memory_bytes), ("clock in kHz", identity.clock_khz)]
        {
            if value == 0 {
                return Err(BoardError::Identity { what, value });
            }
        }
        Ok(identity)
    }
}

/// An array on a board.
#[derive(Debug)]
pub struct Board<P> {
    link: Link<P>,
    identity: Identity,
    /// When the identity was read.
    identified: Instant,
    /// Busy cycles since RESET, as of then.
    busy_cycles: u64,
}

impl<P: Read + Write> Board<P> {
    /// Finds out who is at the other end of `port`. The array is as it was: [`Device::reset`] comes
    /// before the host takes charge of it.
    ///
    /// # Errors
    /// There is no board, or one of another version, or one whose array is not that with the hash
    /// `configuration`.
    pub fn connect(port: P, options: LinkOptions, configuration: u64) -> Result<Self, BoardError> {
        let mut link = Link::new(port, options);
        let identity = identify(&mut link)?;
        if identity.configuration != configuration {
            let found = identity.configuration;
            return Err(BoardError::Configuration { found, expected: configuration });
        }
        let busy_cycles = identity.busy_cycles.into();
        Ok(Self { link, identity, identified: Instant::now(), busy_cycles })
    }

    /// What the board said of itself when it was asked last.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// What was counted on the way to the board.
    #[must_use]
    pub fn statistics(&self) -> LinkStatistics {
        self.link.statistics()
    }

    /// Cycles since RESET in which packets were on the cores or in the delay commit queue. They are
    /// counted beyond the 32 bits of the board.
    ///
    /// # Errors
    /// The board does not answer.
    pub fn busy_cycles(&mut self) -> Result<u64, CosimError> {
        self.identify()?;
        Ok(self.busy_cycles)
    }

    /// Frames that came damaged to the board since it started, modulo 2^32.
    ///
    /// # Errors
    /// The board does not answer.
    pub fn damaged_frames(&mut self) -> Result<u32, CosimError> {
        self.identify()?;
        Ok(self.identity.damaged_frames)
    }

    /// The device, without the board's host.
    pub fn into_port(self) -> P {
        self.link.into_port()
    }

    fn identify(&mut self) -> Result<(), BoardError> {
        let identity = identify(&mut self.link)?;
        self.busy_cycles += u64::from(identity.busy_cycles.wrapping_sub(self.identity.busy_cycles));
        self.identity = identity;
        self.identified = Instant::now();
        Ok(())
    }

    /// The time of `cycles` at the board's clock.
    fn time_of(&self, cycles: u64) -> Duration {
        Duration::from_secs_f64(cycles as f64 / (f64::from(self.identity.clock_khz) * 1e3))
    }

    /// Sends a request; gives status and data. `Refused` and a status that no request has are
    /// errors.
    fn request(&mut self, request: &Request) -> Result<(Status, Vec<u8>), BoardError> {
        // Busy cycles are counted before they come round.
        if self.identified.elapsed() > self.time_of(1 << 30) {
            self.identify()?;
        }
        let described = || match request.operation {
            Operation::ReadRegister => format!("a read of register {}", register_name(request.address)),
            Operation::WriteRegister => format!("a write of register {}", register_name(request.address)),
            Operation::ReadMemory => format!("a read of {} bytes at {:#x}", request.count, request.address),
            Operation::WriteMemory => format!("a write of {} bytes at {:#x}", request.count, request.address),
            Operation::Identify => "IDENTIFY".to_string(),
            Operation::Reset => "RESET".to_string(),
        };
        match self.link.request(request)? {
            (Status::Refused, _) => Err(BoardError::Refused { request: described() }),
            (Status::Hangs, _) => Err(BoardError::Hangs { request: described() }),
            (Status::Other(status), _) => Err(BoardError::Status { request: described(), status }),
            (Status::SlaveError, _)
                if !matches!(request.operation, Operation::ReadRegister | Operation::WriteRegister) =>
            {
                Err(BoardError::Status { request: described(), status: 1 })
            }
            answer => Ok(answer),
        }
    }

    /// Accesses a register.
    fn access(&mut self, request: &Request) -> Result<Vec<u8>, CosimError> {
        match self.request(request)? {
            (Status::SlaveError, _) => Err(CosimError::RegisterResponse {
                register: register_name(request.address),
                response: "SLVERR",
            }),
            (_, data) => Ok(data),
        }
    }

    /// Writes bytes from `address` on, in pieces.
    fn write_bytes(&mut self, address: u32, bytes: &[u8]) -> Result<(), CosimError> {
        for (data, address) in bytes.chunks(MOST_BYTES).zip((address..).step_by(MOST_BYTES)) {
            let operation = Operation::WriteMemory;
            self.request(&Request { operation, count: data.len() as u16, address, data, answer: 0 })?;
        }
        Ok(())
    }

    /// Reads bytes from `address` on, in pieces.
    fn read_bytes(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), CosimError> {
        for (part, address) in bytes.chunks_mut(MOST_BYTES).zip((address..).step_by(MOST_BYTES)) {
            let (operation, count) = (Operation::ReadMemory, part.len() as u16);
            let (_, data) =
                self.request(&Request { operation, count, address, data: &[], answer: part.len() })?;
            part.copy_from_slice(&data);
        }
        Ok(())
    }

    fn check(&self, what: &'static str, address: u32, length: usize) -> Result<(), CosimError> {
        let size = self.memory_size();
        if u64::from(address) + length as u64 <= size {
            return Ok(());
        }
        Err(AddressError { what, address, length, size }.into())
    }
}

/// Asks who is there.
fn identify<P: Read + Write>(link: &mut Link<P>) -> Result<Identity, BoardError> {
    let operation = Operation::Identify;
    let request = Request { operation, count: 0, address: 0, data: &[], answer: IDENTITY_BYTES };
    match link.request(&request)? {
        (Status::Done, data) => Identity::from_answer(&data),
        (Status::Refused, _) => Err(BoardError::Refused { request: "IDENTIFY".to_string() }),
        (other, _) => Err(BoardError::Status { request: "IDENTIFY".to_string(), status: other.number() }),
    }
}

impl<P: Read + Write> Device for Board<P> {
    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), CosimError> {
        let (operation, data) = (Operation::WriteRegister, &value.to_le_bytes()[..]);
        self.access(&Request { operation, count: 0, address: offset, data, answer: 0 })?;
        Ok(())
    }

    fn read_register(&mut self, offset: u32) -> Result<u32, CosimError> {
        let operation = Operation::ReadRegister;
        let data = self.access(&Request { operation, count: 0, address: offset, data: &[], answer: 4 })?;
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&data);
        Ok(u32::from_le_bytes(bytes))
    }

    fn write_memory(&mut self, address: u32, bytes: &[u8]) -> Result<(), CosimError> {
        self.check("write", address, bytes.len())?;
        self.write_bytes(address, bytes)
    }

    fn read_memory(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), CosimError> {
        self.check("read", address, bytes.len())?;
        self.read_bytes(address, bytes)
    }

    fn memory_size(&self) -> u64 {
        self.identity.memory_bytes.into()
    }

    fn reset(&mut self) -> Result<(), CosimError> {
        self.request(&Request { operation: Operation::Reset, count: 0, address: 0, data: &[], answer: 0 })?;
        self.identity.busy_cycles = 0;
        self.busy_cycles = 0;
        Ok(())
    }

    /// Sleeps for the time of `cycles` at the board's clock, and asks the board for its cycle
    /// counter: a board that is gone is noticed, and one that is slower than it says gets its
    /// cycles too.
    fn run(&mut self, cycles: u64) -> Result<(), CosimError> {
        // The bytes of a request with its answer alone take the board so many cycles.
        let bits = 10 * LEAST_LINE_BYTES;
        let least =
            bits * u64::from(self.identity.clock_khz) * 1000 / u64::from(self.link.options().baud.max(1));
        if cycles <= least {
            sleep(self.time_of(cycles));
            self.read_register(offset("CYCLE_LOW"))?;
            return Ok(());
        }
        let (mut before, mut left) = (self.read_register(offset("CYCLE_LOW"))?, cycles);
        while left > 0 {
            sleep(self.time_of(left).min(LONGEST_SLEEP));
            let now = self.read_register(offset("CYCLE_LOW"))?;
            if now == before {
                return Err(BoardError::Stopped { value: now }.into());
            }
            left = left.saturating_sub(now.wrapping_sub(before).into());
            before = now;
        }
        Ok(())
    }
}

/// The board has a trace buffer if its configuration says so; else these are refused.
impl<P: Read + Write> TraceBytes for Board<P> {
    fn read_trace(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), CosimError> {
        self.read_bytes(TRACE_ADDRESS + offset, bytes)
    }

    fn write_trace(&mut self, offset: u32, bytes: &[u8]) -> Result<(), CosimError> {
        self.write_bytes(TRACE_ADDRESS + offset, bytes)
    }
}
