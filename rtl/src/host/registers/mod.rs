//! The registers of the host, a file a block.
//!
//! A block declares each of its registers once ([`register_block`]): name, offset, access, bits,
//! reset value, description and the part of the array that it belongs to. From that come the unit
//! that decodes it, its port group, the register table ([`REGISTERS`]) and what is made of that:
//! docs/registers.md, C header, SystemRDL, manifest, the testbench's reader.
//!
//! A new block is a file here, its `mod` line and its line in the list of [`RegisterFile`]; the
//! array then connects its ports. A new counter is an entry of a block. See docs/writing-units.md.

pub mod branches;
pub mod command;
mod command_interrupts;
pub mod configuration;
mod console;
pub mod core_counters;
pub mod debug;
pub mod faults;
pub mod functions;
mod host_interrupts;
pub mod host_link;
pub mod identity;
pub mod load_counters;
mod mailbox;
pub mod memory;
pub mod network;
mod network_ports;
pub mod packet_ports;
mod packet_watch;
pub mod progress;
pub mod qos;
pub mod spawn;
mod table;
pub mod tasks;
pub mod time;
pub mod timeout;
pub mod windows;

use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_file;

pub use command_interrupts::CommandInterrupts;
pub use console::Console;
pub use host_interrupts::HostInterrupts;
pub use identity::{sizes, version, ID, VERSION};
pub use mailbox::Mailbox;
pub use packet_watch::PacketWatch;
use table::fit;
pub use table::{
    markdown, offset, registers_of, spec, Access, Part, RegisterBlock, RegisterField, RegisterSpec,
    ADDRESS_BITS, REGISTERS,
};

/// The host's registers behind AXI4-Lite.
///
/// 1. AXI4-Lite as in [`AxiLiteSlave`](super::AxiLiteSlave); an offset that is in no register's
///    place gets SLVERR and reads as zero, and so does the register of a part that the array does
///    not have. Write strobes hold for every register.
/// 2. Writes to read-only registers have no effect; registers that are written only read as zero.
/// 3. Events are high for one cycle, the one in which the write's response first stands.
/// 4. An output that shows a register has its new value from that same cycle on.
/// 5. With a command processor the registers have a second master, as in
///    [`RegisterPort`](super::RegisterPort).
#[register_file(core_select = configuration.core_select, second_master = CommandProcessor)]
pub struct RegisterFile {
    /// Nothing: the registers are constants.
    pub identity: identity::Identity,
    /// To the control path, the cores and the packet ports.
    pub configuration: configuration::Configuration,
    /// To the cores.
    pub windows: windows::Windows,
    /// To the task FIFO.
    pub tasks: tasks::TaskOffer,
    /// From the control path.
    pub progress: progress::Progress,
    /// From the fault collector.
    pub faults: faults::FaultRecords,
    /// From and to the caches.
    pub memory: memory::MemoryControl,
    /// To the cores.
    pub time: time::Time,
    /// From each core.
    pub counters: PerCore<core_counters::CoreCounters>,
    /// From each core.
    pub lost: PerCore<core_counters::LostCycleCounters>,
    /// From the L2, of each core.
    pub l2: PerCore<core_counters::L2Counters>,
    /// To and from the control path.
    pub timeout: Optional<timeout::TimeoutControl>,
    /// To and from the packet ports.
    pub packet_ports: Optional<packet_ports::PortControl>,
    /// To and from the packet ports.
    pub port_drops: Optional<packet_ports::PortDrops>,
    /// From the packet ports.
    pub port_counters: Optional<packet_ports::PortCounters>,
    /// To and from the thread spawner.
    pub spawn: Optional<spawn::SpawnControl>,
    /// To and from the command processor.
    pub command: Optional<command::CommandControl>,
    /// Debugging of its harts.
    pub debug: Optional<debug::DebugControl>,
    /// Between host and command processor, and events of the array for both.
    pub host_link: Optional<host_link::HostLink>,
    /// To and from the network interface, and the L2 about it.
    pub network: Optional<network::NetworkControl>,
    /// Nothing: the register is a constant.
    pub qos: Optional<qos::Qos>,
    /// From the load counters.
    pub load_counters: Optional<load_counters::LoadCounts>,
    /// To and from the network functions.
    pub functions: Optional<functions::FunctionControl>,
    /// To and from the network functions.
    pub branches: Optional<branches::BranchControl>,
}

impl RegisterFile {
    /// The register file of an array with this configuration.
    ///
    /// # Panics
    /// If the configuration is not valid.
    pub fn new(config: &crate::config::Config) -> Self {
        if let Err(error) = config.validate() {
            panic!("RegisterFile: {error}");
        }
        Self::wired(config)
    }
}

#[cfg(test)]
mod block_tests;
#[cfg(test)]
mod new_block_tests;
#[cfg(test)]
mod register_file_tests;
