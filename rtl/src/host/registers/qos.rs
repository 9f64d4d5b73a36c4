//! Which QoS options the array has.

use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// Which QoS options the array has: nothing of it is hardware. Each has a bit, and its registers
/// from 0xa04 on.
#[register_block(QosRegisters, part = Qos)]
pub struct Qos {
    /// QoS options that the array has. Bit 0: load counters.
    #[register("QOS", 0xa00, value = config.qos())]
    #[fields(load_counters[0])]
    pub qos: Fixed<32>,
}
