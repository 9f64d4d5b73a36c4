//! The Verilated array with its memory and its register host: one cycle loop.

use std::ops::Range;

use verilator_sys::{Input, Model, Output};

use super::axi_lite::{Access, AxiLiteHost, Completion};
use super::device::Device;
use super::error::CosimError;
use super::memory::{Axi4Memory, Disturbance, MemoryOptions, MemoryStatistics};
use super::ports::{Axi4Ports, AxiLitePorts, FormedTracePorts, HopTracePorts, SpawnTracePorts, TracePorts};
use super::stream::{Streams, NETWORK, PACKET_PORTS};
use crate::iss::MemoryImage;

/// Cycles that `rst` is high.
const RESET_CYCLES: u64 = 4;
const RESPONSES: [&str; 4] = ["OKAY", "EXOKAY", "SLVERR", "DECERR"];

/// Where a warp is: a slot of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WarpSlot {
    /// The core.
    pub core: u8,
    /// The slot of the core.
    pub slot: u8,
}

/// Packets with consecutive indices, as a warp takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRange {
    /// packetIdx of the first.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// What the event ports of the array told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A warp was issued to a slot.
    Issue(WarpSlot, PacketRange),
    /// A warp starts at a network function that is not its first.
    Hop {
        /// Where it runs.
        slot: WarpSlot,
        /// The packets with which it was formed.
        packets: PacketRange,
        /// Those of them that were forwarded: a bit a lane.
        lanes: u32,
        /// The network function.
        function: u8,
    },
    /// A core reported the warp of a slot as finished.
    Finish(WarpSlot),
    /// A warp was committed.
    Commit(WarpSlot, PacketRange),
    /// Something of the thread spawner.
    Spawn(SpawnEvent),
}

/// What the event ports of the thread spawner told. Jobs are named by their slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnEvent {
    /// A job was triggered.
    Trigger(u8),
    /// A warp of spawned threads was issued to a slot.
    Issue {
        /// Its job.
        job: u8,
        /// Where it runs.
        slot: WarpSlot,
        /// Number of its first thread in the job.
        first: u32,
        /// Its threads.
        count: u32,
    },
    /// A core reported the warp of spawned threads in a slot as finished.
    Finish(WarpSlot),
    /// A job is complete: its completion word is visible, and its slot is free.
    Complete(u8),
}

/// Looks at the design in every cycle, when its outputs have settled before the rising edge: cycles
/// since reset, the model, the events of this cycle, the shared memory. An error ends the
/// simulation.
pub type Observer = Box<dyn FnMut(u64, &Model, &[(u64, Event)], &MemoryImage) -> Result<(), String>>;

/// What the network interface is connected to: called once in every cycle, behind its rising edge,
/// with the cycles since reset. Frames that it takes from the sink left in cycles before; frames
/// that it gives to the source are offered from this cycle on. An error ends the simulation.
pub type Wire = Box<dyn FnMut(u64, &mut Streams) -> Result<(), String>>;

/// An array under simulation.
pub struct Simulation {
    model: Model,
    clock: Input,
    reset: Input,
    trace: TracePorts,
    spawn_trace: Option<SpawnTracePorts>,
    formed_trace: Option<FormedTracePorts>,
    hop_trace: Option<HopTracePorts>,
    irq: Option<Output>,
    registers: AxiLiteHost,
    memory: Axi4Memory,
    streams: Option<Streams>,
    network: Option<Streams>,
    image: MemoryImage,
    cycle: u64,
    events: Vec<(u64, Event)>,
    /// Warps that were formed, and the first cycles in which they stood at the former's output.
    formed: Vec<(u64, PacketRange)>,
    /// The first packet of the warp that stood there in the last cycle.
    last_formed: Option<u32>,
    access_limit: u64,
    observer: Option<Observer>,
    wire: Option<Wire>,
}

impl Simulation {
    /// Connects memory and host, and sources and sinks of packet ports and network interface if
    /// there are any, to the ports `clk`, `rst`, `s_axil_*`, `m_axi_0_*` (`m_axi_1_*`, ...) and
    /// `trace_*` of a model, and resets it.
    ///
    /// `memory_size` is in bytes, at most 4 GiB.
    ///
    /// # Errors
    /// The model does not have these ports, or stops by itself.
    pub fn new(model: Model, memory_size: u64, memory: MemoryOptions) -> Result<Self, CosimError> {
        let mut simulation = Self {
            clock: model.input("clk", 1)?,
            reset: model.input("rst", 1)?,
            trace: TracePorts::bind(&model, "trace")?,
            spawn_trace: SpawnTracePorts::bind_if_present(&model)?,
            formed_trace: FormedTracePorts::bind_if_present(&model)?,
            hop_trace: HopTracePorts::bind_if_present(&model)?,
            irq: model
                .ports()
                .iter()
                .any(|port| port.name == "irq")
                .then(|| model.output("irq", 1))
                .transpose()?,
            registers: AxiLiteHost::new(AxiLitePorts::bind(&model, "s_axil")?),
            memory: Axi4Memory::new(Axi4Ports::bind_channels(&model)?, memory),
            streams: Streams::bind(&model, PACKET_PORTS)?,
            network: Streams::bind(&model, NETWORK)?,
            image: MemoryImage::new(memory_size),
            model,
            cycle: 0,
            events: Vec::new(),
            formed: Vec::new(),
            last_formed: None,
            access_limit: 100_000,
            observer: None,
            wire: None,
        };
        Device::reset(&mut simulation)?;
        Ok(simulation)
    }

    /// Sets after how many cycles a register access counts as lost (100,000 unless set).
    pub fn set_access_limit(&mut self, cycles: u64) {
        self.access_limit = cycles;
    }

    /// Lets `observer` look at every cycle from now on.
    pub fn set_observer(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// Nobody looks at the cycles from now on.
    pub fn remove_observer(&mut self) {
        self.observer = None;
    }

    /// Connects the network interface to `wire` from now on.
    ///
    /// # Errors
    /// [`CosimError::NoNetwork`].
    pub fn set_wire(&mut self, wire: Wire) -> Result<(), CosimError> {
        self.network_mut()?;
        self.wire = Some(wire);
        Ok(())
    }

    /// The model, for waveforms and ports of one's own.
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    /// What stands at the packet ports.
    ///
    /// # Errors
    /// [`CosimError::NoPacketPorts`].
    pub fn streams_mut(&mut self) -> Result<&mut Streams, CosimError> {
        self.streams.as_mut().ok_or(CosimError::NoPacketPorts)
    }

    /// What stands at the network interface.
    ///
    /// # Errors
    /// [`CosimError::NoNetwork`].
    pub fn network_mut(&mut self) -> Result<&mut Streams, CosimError> {
        self.network.as_mut().ok_or(CosimError::NoNetwork)
    }

    /// The contents of the memory.
    #[must_use]
    pub fn image(&self) -> &MemoryImage {
        &self.image
    }

    /// The contents of the memory, to be changed.
    pub fn image_mut(&mut self) -> &mut MemoryImage {
        &mut self.image
    }

    /// Lets the memory behave like this from now on.
    pub fn disturb_memory(&mut self, disturbance: Disturbance) {
        self.memory.disturb(disturbance);
    }

    /// Counts the lines that are read from these addresses, those of the packet ring, apart from
    /// now on.
    pub fn count_ring(&mut self, addresses: Range<u32>) {
        self.memory.count_ring(addresses);
    }

    /// Cycles since the end of the reset.
    #[must_use]
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// What the memory did since the reset.
    #[must_use]
    pub fn memory_statistics(&self) -> MemoryStatistics {
        self.memory.statistics()
    }

    /// Memory requests that were taken and not answered.
    #[must_use]
    pub fn outstanding(&self) -> u64 {
        self.memory.outstanding()
    }

    /// Events since the last call, with the cycle at whose end they happened.
    pub fn take_events(&mut self, into: &mut Vec<(u64, Event)>) {
        into.append(&mut self.events);
    }

    /// Whether warps are seen when they are formed: with a retire trace.
    #[must_use]
    pub fn sees_formed(&self) -> bool {
        self.formed_trace.is_some()
    }

    /// Warps that were formed since the last call, with the first cycle in which each waited for
    /// its issue.
    pub fn take_formed(&mut self, into: &mut Vec<(u64, PacketRange)>) {
        into.append(&mut self.formed);
    }

    /// The interrupt of the host, as the last cycle left it; always low without a command
    /// processor.
    #[must_use]
    pub fn irq(&self) -> bool {
        self.irq.is_some_and(|port| self.model.get_bool(port))
    }

    /// Starts a register access and returns; it goes on with every [`Simulation::step`].
    pub fn submit(&mut self, access: Access) {
        self.registers.submit(access);
    }

    /// Asks for a look at the register at `offset`, which is read with the next
    /// [`Simulation::step`]s while no access is under way. A write that is submitted later takes no
    /// longer for it.
    pub fn look(&mut self, offset: u32) {
        self.registers.look(offset);
    }

    /// What the last look has read, once.
    pub fn take_look(&mut self) -> Option<u32> {
        self.registers.take_look()
    }

    /// The oldest submitted access that ended.
    ///
    /// # Errors
    /// [`CosimError::RegisterResponse`] if the answer was not OKAY.
    pub fn take_completion(&mut self) -> Result<Option<Completion>, CosimError> {
        let Some(completion) = self.registers.take_completion() else { return Ok(None) };
        if completion.response == 0 {
            return Ok(Some(completion));
        }
        Err(CosimError::RegisterResponse {
            register: register_name(completion.access.offset()),
            response: RESPONSES[usize::from(completion.response & 3)],
        })
    }

    /// One cycle of everything.
    ///
    /// # Errors
    /// The design broke a rule of a bus, the model stopped by itself, or the process is to end
    /// ([`CosimError::Interrupted`]).
    #[inline]
    pub fn step(&mut self) -> Result<(), CosimError> {
        if hermes_interrupt::is_requested() {
            hermes_interrupt::acknowledge();
            return Err(CosimError::Interrupted { cycle: self.cycle });
        }
        self.model.fall(self.clock)?;
        self.registers.sample(&self.model);
        self.memory.sample(&self.model, self.cycle);
        for streams in self.streams.iter_mut().chain(&mut self.network) {
            streams.sample(&self.model, self.cycle);
        }
        let seen = self.events.len();
        self.sample_formed();
        self.sample_events();
        if let Some(observer) = &mut self.observer {
            observer(self.cycle, &self.model, &self.events[seen..], &self.image)
                .map_err(|message| CosimError::Observer { cycle: self.cycle, message })?;
        }
        self.model.rise(self.clock)?;
        self.cycle += 1;
        self.registers.drive(&mut self.model);
        self.memory.drive(&mut self.model, &mut self.image, self.cycle);
        if let (Some(wire), Some(network)) = (&mut self.wire, &mut self.network) {
            wire(self.cycle, network).map_err(|message| CosimError::Wire { cycle: self.cycle, message })?;
        }
        for streams in self.streams.iter_mut().chain(&mut self.network) {
            streams.drive(&mut self.model);
        }
        let streams = self.streams.iter().chain(&self.network).find_map(Streams::violation);
        match self.memory.violation().or(self.registers.violation()).or(streams) {
            None => Ok(()),
            Some(message) => {
                Err(CosimError::Protocol { cycle: self.cycle - 1, message: message.to_string() })
            }
        }
    }

    #[inline]
    fn sample_formed(&mut self) {
        let (Some(t), model) = (&self.formed_trace, &self.model) else { return };
        let first = model.get_bool(t.formed_valid).then(|| model.get_u64(t.formed_packet) as u32);
        if let Some(first) = first.filter(|_| first != self.last_formed) {
            let count = model.get_u64(t.formed_count) as u32;
            self.formed.push((self.cycle, PacketRange { first, count }));
        }
        self.last_formed = first;
    }

    #[inline]
    fn sample_events(&mut self) {
        // In this order, since a finish and a commit can make room for an issue of the same cycle.
        let (t, model) = (&self.trace, &self.model);
        let warp = |core, slot| WarpSlot { core: model.get_u64(core) as u8, slot: model.get_u64(slot) as u8 };
        let packets = |first, count| PacketRange {
            first: model.get_u64(first) as u32,
            count: model.get_u64(count) as u32,
        };
        let spawned = self.spawn_trace.as_ref();
        if let Some(s) = spawned {
            let slot = |port| model.get_u64(port) as u8;
            if model.get_bool(s.spawn_complete_valid) {
                let event = SpawnEvent::Complete(slot(s.spawn_complete_slot));
                self.events.push((self.cycle, Event::Spawn(event)));
            }
            if model.get_bool(s.spawn_trigger_valid) {
                let event = SpawnEvent::Trigger(slot(s.spawn_trigger_slot));
                self.events.push((self.cycle, Event::Spawn(event)));
            }
        }
        if model.get_bool(t.finish_valid) {
            let slot = warp(t.finish_core, t.finish_slot);
            let event = match spawned {
                Some(s) if model.get_bool(s.finish_spawned) => Event::Spawn(SpawnEvent::Finish(slot)),
                _ => Event::Finish(slot),
            };
            self.events.push((self.cycle, event));
        }
        if model.get_bool(t.commit_valid) {
            let event =
                Event::Commit(warp(t.commit_core, t.commit_slot), packets(t.commit_packet, t.commit_count));
            self.events.push((self.cycle, event));
        }
        if model.get_bool(t.issue_valid) {
            let slot = warp(t.issue_core, t.issue_slot);
            let range = packets(t.issue_packet, t.issue_count);
            let event = match spawned {
                Some(s) if model.get_bool(s.issue_spawned) => Event::Spawn(SpawnEvent::Issue {
                    job: model.get_u64(s.issue_job) as u8,
                    slot,
                    first: range.first,
                    count: range.count,
                }),
                _ => Event::Issue(slot, range),
            };
            self.events.push((self.cycle, event));
        }
        if let Some(h) = self.hop_trace.as_ref().filter(|h| model.get_bool(h.hop_valid)) {
            let event = Event::Hop {
                slot: warp(h.hop_core, h.hop_slot),
                packets: packets(h.hop_packet, h.hop_count),
                lanes: model.get_u64(h.hop_lanes) as u32,
                function: model.get_u64(h.hop_function) as u8,
            };
            self.events.push((self.cycle, event));
        }
    }

    fn access(&mut self, access: Access) -> Result<u32, CosimError> {
        self.submit(access);
        for _ in 0..self.access_limit {
            self.step()?;
            // Accesses end in their order: the last one is ours.
            while let Some(completion) = self.take_completion()? {
                if self.registers.is_idle() {
                    return Ok(completion.value);
                }
            }
        }
        let (register, cycles) = (register_name(access.offset()), self.access_limit);
        Err(CosimError::RegisterTimeout { register, cycles })
    }
}

impl Device for Simulation {
    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), CosimError> {
        self.access(Access::Write { offset, value }).map(|_| ())
    }

    fn read_register(&mut self, offset: u32) -> Result<u32, CosimError> {
        self.access(Access::Read { offset })
    }

    fn write_memory(&mut self, address: u32, bytes: &[u8]) -> Result<(), CosimError> {
        Ok(self.image.write(address, bytes)?)
    }

    fn read_memory(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), CosimError> {
        Ok(self.image.read(address, bytes)?)
    }

    fn memory_size(&self) -> u64 {
        self.image.size()
    }

    fn reset(&mut self) -> Result<(), CosimError> {
        self.registers.reset(&mut self.model);
        self.memory.reset(&mut self.model);
        for streams in self.streams.iter_mut().chain(&mut self.network) {
            streams.reset(&mut self.model);
        }
        self.model.set_u64(self.reset, 1);
        for _ in 0..RESET_CYCLES {
            self.model.tick(self.clock)?;
        }
        self.model.set_u64(self.reset, 0);
        self.events.clear();
        self.formed.clear();
        (self.last_formed, self.cycle) = (None, 0);
        Ok(())
    }

    fn run(&mut self, cycles: u64) -> Result<(), CosimError> {
        (0..cycles).try_for_each(|_| self.step())
    }
}

/// Name of the register at `offset`, or the offset.
pub(crate) fn register_name(offset: u32) -> String {
    let found = hermes_rtl::host::registers::REGISTERS.iter().find(|r| r.offset == offset);
    found.map_or_else(|| format!("at {offset:#05x}"), |r| r.name.to_string())
}
