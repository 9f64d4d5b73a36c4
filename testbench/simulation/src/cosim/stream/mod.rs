//! The packet ports of the array in simulation: what feeds frames into it, what takes them out, and
//! runs that use both.

mod session;
mod sink;
mod source;

pub use session::{
    run_managed, run_through_ports, Attention, Manager, PortCounters, PortsResult, StreamOptions,
};
pub use sink::{SentFrame, StreamSink};
pub use source::{Entered, StreamSource};

use verilator_sys::Model;

use super::ports::{DropTracePorts, PortError, StreamInPorts, StreamOutPorts};

/// Prefixes of the packet ports: of those that take frames, of those that send them.
pub const PACKET_PORTS: [&str; 2] = ["s_axis_rx", "m_axis_tx"];
/// Prefixes of the ports of the network interface.
pub(super) const NETWORK: [&str; 2] = ["s_axis_net", "m_axis_net"];

/// What stands at the packet ports, or the network interface, of an array.
pub struct Streams {
    /// Feeds frames into the array.
    pub source: StreamSource,
    /// Takes frames out of the array.
    pub sink: StreamSink,
}

impl Streams {
    /// Source and sink of a model at the ports with these prefixes, if it has them.
    ///
    /// # Errors
    /// It has some of the ports, or they are different.
    pub(super) fn bind(model: &Model, [receive, transmit]: [&str; 2]) -> Result<Option<Self>, PortError> {
        if !model.ports().iter().any(|port| port.name.starts_with(receive)) {
            return Ok(None);
        }
        let drops = match receive == PACKET_PORTS[0] {
            true => DropTracePorts::bind_if_present(model)?,
            false => None,
        };
        Ok(Some(Self {
            source: StreamSource::new(StreamInPorts::bind(model, receive)?, drops),
            sink: StreamSink::new(StreamOutPorts::bind(model, transmit)?),
        }))
    }

    /// Empties both; nothing is offered and nothing taken.
    pub fn reset(&mut self, model: &mut Model) {
        self.source.reset(model);
        self.sink.reset(model);
    }

    /// Looks at the outputs of the design before the rising edge that ends `cycle`.
    pub fn sample(&mut self, model: &Model, cycle: u64) {
        self.source.sample(model, cycle);
        self.sink.sample(model, cycle);
    }

    /// Sets the inputs of the next cycle.
    pub fn drive(&mut self, model: &mut Model) {
        self.source.drive(model);
        self.sink.drive(model);
    }

    /// The first rule that the design broke.
    #[must_use]
    pub fn violation(&self) -> Option<&str> {
        self.sink.violation()
    }
}
