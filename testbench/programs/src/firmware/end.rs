//! How firmware ends.

use super::image::Firmware;

/// Words of a message of a mailbox.
pub const MESSAGE_WORDS: usize = 4;
/// Word 0 of MAILBOX_OUT: the firmware ended otherwise than by its `main`.
const FAILED: u32 = 1 << 31;
/// Bit of a cause: an interrupt.
const INTERRUPT: u32 = 1 << 30;
/// The code of a stack overflow.
const STACK_OVERFLOW: u32 = 0x8000_00ff;
/// The instruction that ends a handler of a user-level interrupt.
const ERETURN: u32 = 0x0000_100b;

/// How firmware ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirmwareEnd {
    /// `main` returned, or `firmware_end` was called.
    Value(u32),
    /// An exception or interrupt without a handler.
    Trap {
        /// `mcause`; of an interrupt bit 30 is set.
        cause: u32,
        /// `mepc`.
        pc: u32,
        /// `mtval`.
        value: u32,
        /// The hart.
        hart: u32,
    },
    /// The guard word below a stack was changed, or a trap found no room.
    StackOverflow {
        /// Where that was noticed.
        pc: u32,
        /// The stack pointer then.
        stack: u32,
        /// The hart.
        hart: u32,
    },
    /// The trap handler could not execute its first instruction.
    LockedUp {
        /// The hart.
        hart: u32,
        /// Its PC.
        pc: u32,
    },
    /// `ebreak` stopped a hart.
    Stopped {
        /// The hart.
        hart: u32,
        /// Its PC.
        pc: u32,
    },
}

impl FirmwareEnd {
    /// What the four words of MAILBOX_OUT say.
    #[must_use]
    pub fn of_words([code, pc, value, hart]: [u32; MESSAGE_WORDS]) -> Self {
        match code {
            STACK_OVERFLOW => Self::StackOverflow { pc, stack: value, hart },
            _ if code & FAILED == 0 => Self::Value(code),
            _ => Self::Trap { cause: code & !FAILED, pc, value, hart },
        }
    }

    /// What happened, with functions and lines of `firmware`.
    #[must_use]
    pub fn explain(&self, firmware: &Firmware) -> String {
        match *self {
            Self::Value(value) => format!("main returned {value}"),
            Self::Trap { cause, pc, value, hart } => format!(
                "hart {hart}: {} at {}; cause {}, value {value:#010x}{}",
                cause_name(cause),
                firmware.place(pc),
                cause & 0xff,
                illegal(cause, value).unwrap_or_default()
            ),
            Self::StackOverflow { pc, stack, hart } => format!(
                "hart {hart}: stack overflow, noticed at {}; stack pointer {stack:#010x}: a hart has 2048 bytes, 1024 if there are more than four",
                firmware.place(pc)
            ),
            Self::LockedUp { hart, pc } => format!(
                "hart {hart} is locked up at {}: an exception came before the trap handler had executed an instruction",
                firmware.place(pc)
            ),
            Self::Stopped { hart, pc } => format!("hart {hart} stopped at {}: ebreak", firmware.place(pc)),
        }
    }
}

/// What the illegal instruction `word` asked for: ERETURN where nothing is blocked, or EMONITOR of
/// a channel or scenario that the array does not have.
fn illegal(cause: u32, word: u32) -> Option<String> {
    if cause == 2 && word == ERETURN {
        return Some(
            ": ERETURN outside of a user-level interrupt; handlers of `interrupt_handle` and `exception_handle` are plain functions, none of ULI_HANDLER"
                .into(),
        );
    }
    // custom-0 with function 0; the scenario and the channel are bits 31:28 and 27:25.
    let is_emonitor = cause == 2 && word & 0x707f == 0x000b;
    let (scenario, channel) = (word >> 28, word >> 25 & 7);
    is_emonitor.then(|| {
        format!(
            ": EMONITOR of channel {channel}, scenario {scenario}, which the array does not have; --uli-channels says how many channels a hart has, and 2, 3 and 11 need a thread spawner, events and a network interface"
        )
    })
}

/// The name of a cause of `mcause`.
fn cause_name(cause: u32) -> &'static str {
    match cause {
        0 => "jump to an address that is no multiple of 4",
        1 => "no instruction can be fetched",
        2 => "illegal instruction",
        3 => "ebreak",
        4 => "load from an address that is not aligned",
        5 => "load where there is no memory or register",
        6 => "store to an address that is not aligned",
        7 => "store where there is no memory or register",
        11 => "ecall",
        _ if cause & INTERRUPT != 0 => "interrupt without a handler",
        _ => "trap",
    }
}
