//! What can go wrong between the host and a board.

use std::io;

/// An error of a board, or of the way to it.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// A request was not answered.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// What answers is no board.
    #[error("the answer to IDENTIFY begins with {found:02x?}; expected {expected:02x?}, \"HRMS\": the device is no Hermes board")]
    Magic {
        /// What came.
        found: [u8; 4],
        /// What a board answers.
        expected: [u8; 4],
    },
    /// The board speaks another version of the protocol.
    #[error("the board speaks version {found} of the protocol; expected {expected}: build its bitstream with the hermes that runs it")]
    Protocol {
        /// The board's version.
        found: u32,
        /// The host's version.
        expected: u32,
    },
    /// The board has another array than the host expects.
    #[error(
        "the bitstream is of another configuration: the board has {found:016x}; expected {expected:016x} for these options. Give the \
         options of the array that the bitstream was built with, or build the bitstream of this one: hermes fpga build"
    )]
    Configuration {
        /// Hash of the board's configuration.
        found: u64,
        /// Hash of the configuration that the host expects.
        expected: u64,
    },
    /// The board tells something of itself that cannot be.
    #[error("the board says that its {what} is {value}; expected more")]
    Identity {
        /// What it is about, with its unit.
        what: &'static str,
        /// What the board says.
        value: u32,
    },
    /// The board did not do what it was asked for.
    #[error(
        "the board refused {request}: no such operation, address or length, though it said that it has them"
    )]
    Refused {
        /// The request.
        request: String,
    },
    /// The registers do not answer.
    #[error("{request}: the registers of the array did not answer within 65,536 cycles; the array hangs until it is reset")]
    Hangs {
        /// The request, with the name of its register.
        request: String,
    },
    /// A status that the request cannot have.
    #[error("{request}: the board answered with status {status}; expected one of docs/fpga-link.md for it")]
    Status {
        /// The request.
        request: String,
        /// The status.
        status: u8,
    },
    /// The entries of the trace buffer cannot be what happened.
    #[error("entry {number} of the trace buffer is of cycle {cycle}; expected one after {before}, that of the entry before")]
    Trace {
        /// The number of the entry since the recording began.
        number: u64,
        /// Its cycle.
        cycle: u64,
        /// That of the entry before.
        before: u64,
    },
    /// The cycle counter of the array stands still.
    #[error("register CYCLE_LOW stays at {value}: the clock of the array does not run")]
    Stopped {
        /// What the register shows.
        value: u32,
    },
}

/// Why a request was given up.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Nothing came.
    #[error(
        "no answer to {tries} requests: not a byte came{}",
        if *answered == 0 {
            "; expected a board: is it on, is its bitstream loaded, is this its device, and its baud rate?"
        } else {
            ", though the board answered before; is it still on and connected?"
        }
    )]
    Silent {
        /// How often the request was sent.
        tries: u32,
        /// Requests that were answered before.
        answered: u64,
    },
    /// Bytes came, but no whole frame.
    #[error(
        "no answer to {tries} requests: {bytes} bytes came, but no whole frame among them; expected a board: is this its baud rate, and its device?"
    )]
    Noise {
        /// How often the request was sent.
        tries: u32,
        /// Bytes that came meanwhile.
        bytes: u64,
    },
    /// The board received no request whole.
    #[error("no answer to {tries} requests: the board says of {damaged} that they were damaged: the line to it is noisy, or its baud rate is another one")]
    Deaf {
        /// How often the request was sent.
        tries: u32,
        /// How often the board said that it was damaged.
        damaged: u64,
    },
    /// What was sent comes back.
    #[error("no answer to {tries} requests: the device sends back what it gets; expected a board, not a loop-back or a terminal with echo")]
    Echo {
        /// How often the request was sent.
        tries: u32,
    },
    /// Whole frames came, but none was an answer.
    #[error("no answer to {tries} requests: the frames that came are no answers to them, the last one was {last}; expected a Hermes board")]
    Foreign {
        /// How often the request was sent.
        tries: u32,
        /// The first bytes of the last frame, in hexadecimal.
        last: String,
    },
    /// The device cannot be read or written any more.
    #[error("the connection to the board is gone: {0}")]
    Gone(io::Error),
}
