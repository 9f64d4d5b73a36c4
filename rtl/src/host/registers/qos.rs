//! Which QoS options the array has.

use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// Which QoS options the array has: nothing of it is hardware. Each has a bit, and its registers
/// from 0xa04 on.
#[register_block(QosRegisters, part = Qos)]
pub struct Qos {
    /// QoS options that the array has. Bit 0: load counters; bit 1: packet ports that can drop
    /// frames that find no slot; bit 2: issue to the least occupied core; bit 3: a time-out of warp
    /// forming that follows the traffic.
    #[register("QOS", 0xa00, value = config.qos())]
    #[fields(load_counters[0], drop_when_full[1], least_occupied_issue[2], adaptive_timeout[3])]
    pub qos: Fixed<32>,
}
