//! What the host reads of faults: the records of the fault FIFO, and, if some were lost, the
//! counters of the functions.

use std::collections::VecDeque;

use crate::cosim::{Access, Completion, FaultRecord};
use hermes_rtl::host::registers::offset;

/// Registers of a fault record, which are read before it is popped.
const FAULT_REGISTERS: [&str; 4] = ["FAULT_INFO", "FAULT_PC", "FAULT_ADDRESS", "FAULT_PACKET"];

/// Threads of a number that ended with a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Threads {
    /// By NF_FAULTED, as it was read last.
    counted: u32,
    /// By records that were read, and by those that are known to be lost.
    known: u32,
}

/// A fault that was read, or threads whose record was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A record.
    Record(FaultRecord),
    /// Records of a number that the FIFO could not hold.
    Lost {
        /// The number.
        number: u32,
        /// Threads.
        threads: u32,
    },
}

/// Reads what the array knows of faults. A look takes every record that is in the FIFO when it
/// begins.
#[derive(Debug)]
pub(super) struct FaultReader {
    /// Looks that have ended.
    pub looks: u64,
    /// Network functions of the array.
    functions: u32,
    /// The FIFO could not hold all records so far.
    is_lossy: bool,
    /// A look is under way.
    pub is_looking: bool,
    /// Numbers whose NF_FAULTED is being read, in their order.
    selected: VecDeque<u32>,
    /// This look reads NF_FAULTED.
    counts: bool,
    /// Words of the record that is being read.
    words: Vec<u32>,
    /// Records that are left of this look.
    left: u32,
    threads: [Threads; 8],
}

impl FaultReader {
    /// Of an array with so many network functions.
    pub fn new(functions: u32) -> Self {
        Self {
            looks: 0,
            functions,
            is_lossy: false,
            is_looking: false,
            selected: VecDeque::new(),
            counts: false,
            words: Vec::new(),
            left: 0,
            threads: [Threads::default(); 8],
        }
    }

    /// The accesses with which a look begins. If records were lost NF_FAULTED is read first: the
    /// threads that it counts have their records in the FIFO then, or are lost.
    pub fn begin(&mut self) -> Vec<Access> {
        (self.is_looking, self.counts) = (true, self.is_lossy);
        let mut accesses = Vec::new();
        for number in (0..self.functions.min(8)).filter(|_| self.counts) {
            accesses.push(Access::Write { offset: offset("NF_SELECT"), value: number });
            accesses.push(Access::Read { offset: offset("NF_FAULTED") });
            self.selected.push_back(number);
        }
        accesses.push(Access::Read { offset: offset("FAULT_LEVEL") });
        accesses
    }

    /// Takes the answer to an access; gives the faults that are known by it, and the accesses that
    /// follow.
    pub fn answer(&mut self, answer: Completion) -> (Vec<Fault>, Vec<Access>) {
        let mut faults = Vec::new();
        let is_at = |name: &str| match answer.access {
            Access::Read { offset: register } | Access::Write { offset: register, .. } => {
                register == offset(name)
            }
        };
        if is_at("NF_SELECT") {
            return (faults, Vec::new());
        } else if is_at("NF_FAULTED") {
            if let Some(number) = self.selected.pop_front() {
                self.threads[number as usize].counted = answer.value;
            }
            return (faults, Vec::new());
        } else if is_at("FAULT_LEVEL") {
            self.left = answer.value & 0xffff;
            self.is_lossy |= answer.value >> 16 > 0;
        } else if is_at("FAULT_POP") {
            let record = FaultRecord::from_words(&std::mem::take(&mut self.words), self.functions);
            self.left = self.left.saturating_sub(1);
            let threads = &mut self.threads[record.function.map_or(0, usize::from) % 8];
            threads.known = threads.known.wrapping_add(record.threads.into());
            faults.push(Fault::Record(record));
        } else {
            self.words.push(answer.value);
            return (faults, Vec::new());
        }
        if self.left > 0 {
            let read = |name| Access::Read { offset: offset(name) };
            let pop = Access::Write { offset: offset("FAULT_POP"), value: 1 };
            return (faults, FAULT_REGISTERS.map(read).into_iter().chain([pop]).collect());
        }
        if self.is_lossy && !self.counts {
            return (faults, self.begin());
        }
        for (number, threads) in (0..).zip(&mut self.threads) {
            // Below 0: records came since NF_FAULTED was read.
            let lost = threads.counted.wrapping_sub(threads.known);
            if self.counts && lost as i32 > 0 {
                threads.known = threads.counted;
                faults.push(Fault::Lost { number, threads: lost });
            }
        }
        (self.is_looking, self.looks) = (false, self.looks + 1);
        (faults, Vec::new())
    }
}
