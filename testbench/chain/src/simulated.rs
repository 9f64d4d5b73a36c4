//! A chain on the reference simulator: its kernels, instruction by instruction, each in its region
//! and with the windows that it has on the array.

use hermes_rtl::config::Config;

use super::placed::{verdict_behind, Chain};
use crate::cosim::{
    ArraySetup, CosimError, Device as _, FaultRecord, Host, LeftLength, Packet, PacketResult,
};
use crate::iss::Window;
use crate::reference::{Reference, ReferenceDevice};
use crate::slot::SlotPacket;
use crate::verdict::Verdict;

/// Instructions of a thread after which it is said not to end.
const MOST_INSTRUCTIONS: u64 = 20_000_000;

/// Why a packet cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum SimulatedError {
    /// The memory or a register.
    #[error(transparent)]
    Cosim(#[from] CosimError),
    /// A thread runs for longer than any good one does.
    #[error("packet {packet}: `{function}` did not end within {MOST_INSTRUCTIONS} instructions")]
    Endless {
        /// The packet's number in the run.
        packet: u64,
        /// The function.
        function: String,
    },
}

/// A function that a packet is to visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Its number.
    pub function: usize,
    /// The verdict of what ran in place of the kernel, which leaves the packet as it came: a stub,
    /// or the watchdog, which has ended the thread.
    pub instead: Option<Verdict>,
    /// The bytes of the packet are known as it comes there: no function before may have changed it
    /// and was then ended by the watchdog.
    pub is_known: bool,
}

impl Stop {
    /// A function whose kernel runs.
    #[must_use]
    pub fn at(function: usize) -> Self {
        Self { function, instead: None, is_known: true }
    }
}

/// A visit of a packet to a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedVisit {
    /// The number of the function.
    pub function: usize,
    /// The packet as it came there.
    pub packet: SlotPacket,
    /// What the function made of it.
    pub result: PacketResult,
    /// Instructions of its thread.
    pub instructions: u64,
    /// Why its thread ended, if that was a fault.
    pub fault: Option<FaultRecord>,
}

impl SimulatedVisit {
    /// The verdict of the function.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        Verdict(self.result.verdict)
    }
}

/// The kernels of a chain, each on a reference simulator of its own. What a function keeps from
/// packet to packet it keeps here too; a packet is followed to its end before the next one comes.
pub struct SimulatedChain<'a> {
    chain: &'a Chain,
    functions: Vec<Reference>,
}

impl<'a> SimulatedChain<'a> {
    /// The chain on cores of `config`, with `memory_bytes` of shared memory.
    ///
    /// # Errors
    /// The memory is too small.
    pub fn new(chain: &'a Chain, config: &Config, memory_bytes: u64) -> Result<Self, CosimError> {
        let functions = chain.all().map(|function| {
            let mut host = Host::new(ReferenceDevice::new(config, memory_bytes))?;
            chain.load(&mut host)?;
            // One that comes later in a run.
            for (address, bytes) in function.image() {
                host.device_mut().write_memory(address, bytes)?;
            }
            // A warp at a time.
            let setup = ArraySetup { mcw: 1, ..chain.setup() };
            let mut layout = host.configure(&setup)?;
            layout.argument = function.region.argument();
            let packets = chain.packet_window(&layout);
            let [read, write] = [function.guards.may_load, function.guards.may_store].map(|is_open| {
                if is_open {
                    packets
                } else {
                    Window::default()
                }
            });
            host.set_windows([read, function.read_window()], [write, function.write_window()])?;
            Ok(Reference::new(host, config, &function.start(), &setup, &layout))
        });
        Ok(Self { chain, functions: functions.collect::<Result<_, CosimError>>()? })
    }

    /// What leaves behind the last of these visits, if there is one: what that made of the packet,
    /// with the verdict of the last one that has not kept that of the function before.
    #[must_use]
    pub fn left(&self, visits: &[SimulatedVisit]) -> Option<PacketResult> {
        let last = visits.last()?;
        let seen = visits.iter().map(|visit| (self.chain.function(visit.function), visit.verdict()));
        let Verdict(verdict) = verdict_behind(seen).unwrap_or_else(|| last.verdict());
        Some(PacketResult { verdict, ..last.result.clone() })
    }

    /// Follows `packet`, the packet number `index` of the run, from function to function.
    ///
    /// # Errors
    /// A frame does not fit its slot any more, a thread does not end, or an egress list cannot be
    /// read.
    pub fn follow(&mut self, index: u64, packet: &SlotPacket) -> Result<Vec<SimulatedVisit>, SimulatedError> {
        let chain = self.chain;
        self.follow_by(index, packet, &mut |visits| match visits.last() {
            None => Some(Stop::at(0)),
            Some(last) => chain.functions[last.function].edges.of(last.verdict()).map(Stop::at),
        })
    }

    /// As [`Self::follow`], through the functions of `way`, as far as it is forwarded, in a chain
    /// that branches through all of them; but only while the bytes of the packet are known.
    ///
    /// # Errors
    /// As of [`Self::follow`].
    pub fn follow_way(
        &mut self,
        index: u64,
        packet: &SlotPacket,
        way: &[Stop],
    ) -> Result<Vec<SimulatedVisit>, SimulatedError> {
        let branches = self.chain.all().any(|function| !function.edges.is_plain());
        self.follow_by(index, packet, &mut |visits| {
            let goes_on = branches || visits.last().is_none_or(|last| last.verdict().is_forward());
            way.get(visits.len()).copied().filter(|stop| goes_on && stop.is_known)
        })
    }

    /// As [`Self::follow`], by what follows the visits that were.
    fn follow_by(
        &mut self,
        index: u64,
        packet: &SlotPacket,
        next: &mut dyn FnMut(&[SimulatedVisit]) -> Option<Stop>,
    ) -> Result<Vec<SimulatedVisit>, SimulatedError> {
        let mut visits: Vec<SimulatedVisit> = Vec::new();
        let mut packet = packet.clone();
        while let Some(Stop { function: number, instead, .. }) = next(&visits) {
            let (result, instructions, fault) = match instead {
                Some(Verdict(verdict)) => {
                    let bytes = packet.frame.clone();
                    let left = LeftLength { length: bytes.len() as u32, cut: packet.cut };
                    (PacketResult { index, verdict, bytes, left, egress: Vec::new() }, 0, None)
                }
                None => self.run(index, &packet, number)?,
            };
            let changed = SlotPacket { frame: result.bytes.clone(), cut: result.left.cut, ..packet.clone() };
            visits.push(SimulatedVisit {
                function: number,
                packet: std::mem::replace(&mut packet, changed),
                instructions,
                result,
                fault,
            });
        }
        Ok(visits)
    }

    /// Runs the kernel of function `number` with a packet: what it made of it, its instructions,
    /// and the fault that ended it, if one did.
    fn run(
        &mut self,
        index: u64,
        packet: &SlotPacket,
        number: usize,
    ) -> Result<(PacketResult, u64, Option<FaultRecord>), SimulatedError> {
        let reference = &mut self.functions[number];
        let [_, port, flags, _] = packet.descriptor(0);
        let faults = reference.faults().len();
        let slot = Packet { frame: packet.frame.clone(), port, flags, arrival: 0 };
        reference.form_warp(index, &[slot])?;
        while reference.step().is_some() {
            if reference.instructions(0).0 > MOST_INSTRUCTIONS {
                let function = self.chain.function(number).name.clone();
                return Err(SimulatedError::Endless { packet: index, function });
            }
        }
        let result = reference.result(index)?;
        Ok((result, reference.instructions(0).0, reference.faults().get(faults).cloned()))
    }
}
