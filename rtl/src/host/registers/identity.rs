//! What the array is.

use crate::config::Config;
use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// What the array is: nothing of it is hardware.
#[register_block(IdentityRegisters)]
pub struct Identity {
    /// Identification: 0x4845524d (HERM).
    #[register("ID", 0x000, value = ID)]
    pub id: Fixed<32>,
    /// Major version in bits 31:16, minor in bits 15:0.
    #[register("VERSION", 0x004, value = version(config))]
    #[fields(major[31:16], minor[15:0])]
    pub version: Fixed<32>,
    /// Lanes in bits 7:0, cores in bits 15:8, warp slots per core in bits 23:16; bit 24: the array
    /// has packet ports; bit 25: a command processor; bit 26: a thread spawner; bit 27: user-level
    /// interrupts; bit 28: a network interface; bit 29: stacks in a local window; bit 30: a QOS
    /// register; bit 31: network functions.
    #[register("CONFIG", 0x008, value = sizes(config))]
    #[fields(lanes[7:0], cores[15:8], warps[23:16], packet_ports[24], command_processor[25], thread_spawner[26], user_interrupts[27], network[28], local_window[29], qos[30], network_functions[31])]
    pub config: Fixed<32>,
}

/// Value of the ID register: "HERM".
pub const ID: u32 = 0x4845_524d;
/// Value of the VERSION register: major in the upper half, minor in the lower.
pub const VERSION: u32 = 0x0001_0002;
/// The same of an array with network functions.
pub const VERSION_WITH_FUNCTIONS: u32 = 0x0001_0004;

/// Value of the VERSION register of an array with this configuration.
#[must_use]
pub const fn version(config: &Config) -> u32 {
    if config.network_functions > 0 {
        VERSION_WITH_FUNCTIONS
    } else {
        VERSION
    }
}

/// Value of the CONFIG register.
#[must_use]
pub fn sizes(config: &Config) -> u32 {
    let parts = usize::from(config.packet_ports)
        | usize::from(config.command_threads > 0) << 1
        | usize::from(config.spawn_slots > 0) << 2
        | usize::from(config.uli_channels > 0) << 3
        | usize::from(config.network) << 4
        | usize::from(config.local_window) << 5
        | usize::from(config.qos() != 0) << 6
        | usize::from(config.network_functions > 0) << 7;
    (config.lanes | config.cores << 8 | config.warps << 16 | parts << 24) as u32
}
