//! Co-simulation: the Verilated array with its memory, its host and its traffic, driven through its
//! ports only.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `ports` | bundles of ports, bound by the prefix of their names |
//! | `retire_ports` | the ports that tell what retires |
//! | `memory` | the AXI4 memory: channels, latency or DRAM timing, back-pressure, protocol checks, statistics |
//! | `axi_lite` | register accesses, a step each cycle |
//! | `simulation` | the cycle loop: a [`Device`] |
//! | `adaptive`, `allocator`, `host`, `regions`, `room`, `setup` | the host library, for every [`Device`] |
//! | `memory_map` | what lies where, for explanations and for the windows of kernels |
//! | `code` | the programs of a run, for what explains addresses |
//! | `bus_errors` | accesses that memory has refused |
//! | `edges`, `functions` | network functions: contexts, cores, chains, counters |
//! | `firmware_link`, `debugger` | the host while firmware runs: console and messages; stop, step, registers, breakpoints |
//! | `link` | the command processor: mailboxes, console, doorbell, interrupt |
//! | `spawn` | jobs of the thread spawner: descriptors, completion words |
//! | `stream` | the packet ports: source and sink of frames, runs through them |
//! | `counters` | what registers have counted at the end of a run |
//! | `tracker`, `progress`, `session`, `results` | runs of packets, with the time of every stage, and when they are given up |

mod adaptive;
mod allocator;
mod axi_lite;
mod board_error;
mod bus_errors;
mod code;
mod counters;
mod debugger;
mod device;
mod edges;
mod error;
mod fault_record;
mod firmware_link;
mod functions;
mod host;
mod link;
mod memory;
mod memory_map;
mod network;
mod ports;
mod progress;
mod regions;
mod results;
mod retire_ports;
mod room;
mod session;
mod setup;
mod simulation;
mod spawn;
mod stream;
#[cfg(test)]
mod tests;
mod tracker;
mod work;

pub use crate::egress::EgressLists;
pub use crate::firmware::MESSAGE_WORDS;
pub use crate::iss::{MemoryImage, LINE};
pub use adaptive::AdaptiveTimeout;
pub use allocator::Allocator;
pub use axi_lite::{Access, AxiLiteHost, Completion};
pub use board_error::{BoardError, LinkError};
pub use bus_errors::{BusErrors, RefusedAccess};
pub use code::Code;
pub use counters::{CoreCounters, LoadCounters, LostCycles, ReadOut};
pub use debugger::{DebugError, Debugger, HartsStatus};
pub use device::Device;
pub use edges::{Edges, BRANCH_PORTS};
pub use error::CosimError;
pub use fault_record::FaultRecord;
pub use firmware_link::FirmwareLink;
pub use functions::{
    argument_words, chain_words, context_words, core_words, edge_words, entry_words, warps_words, Function,
    FunctionCounts, Guards, RegisterWord,
};
pub(crate) use host::option;
pub use host::Host;
pub use link::host_interrupt;
pub use memory::{
    Axi4Memory, ChannelStatistics, Disturbance, DramTiming, ErrorResponse, Latency, MemoryOptions,
    MemoryStatistics, DECERR, OKAY, SLVERR,
};
pub use memory_map::{MemoryMap, NamedArea, Reach};
pub use network::{
    compare_swap, fetch_add, get, get_inline, put, put_inline, reflecting_wire, NetAddress, PostOptions,
    QueueAreas, QueuePair, Region,
};
pub use ports::{
    Axi4Ports, AxiLitePorts, HopTracePorts, PortError, SpawnTracePorts, StreamInPorts, StreamOutPorts,
    TracePorts,
};
pub use results::{LeftLength, PacketRecord, PacketResult, RunResult};
pub use retire_ports::RetirePorts;
pub use room::{most_ring_slots_log2, usual_ring_slots_log2, Area, STACKS};
pub(crate) use session::{check_lengths, packet_result, slot_address, slot_image};
pub use session::{frame_capacity, run, Arrivals, Packet, Progress, RunOptions};
pub use setup::{ArrayInfo, ArraySetup, KernelImage, Layout};
pub(crate) use simulation::register_name;
pub use simulation::{Event, Observer, PacketRange, Simulation, SpawnEvent, WarpSlot, Wire};
pub use spawn::{Completion as JobCompletion, Descriptor, Rejection};
pub use stream::{
    run_managed, run_through_ports, Attention, Entered, Manager, PortCounters, PortsResult, SentFrame,
    StreamOptions, StreamSink, StreamSource, Streams, PACKET_PORTS,
};
pub use tracker::PacketTimes;
pub use work::Work;
