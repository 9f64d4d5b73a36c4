//! The packet ports of the array in simulation: what feeds frames into it, what takes them out, and runs that use both.

mod session;
mod sink;
mod source;

pub use session::{run_through_ports, PortCounters, PortsResult, StreamOptions};
pub use sink::{SentFrame, StreamSink};
pub use source::StreamSource;

use verilator_sys::Model;

use super::ports::{PortError, StreamInPorts, StreamOutPorts};

/// Prefix of the ports that take frames.
const RECEIVE: &str = "s_axis_rx";
/// Prefix of the ports that send frames.
const TRANSMIT: &str = "m_axis_tx";

/// What stands at the packet ports of an array.
pub struct Streams {
    /// Feeds frames into the array.
    pub source: StreamSource,
    /// Takes frames out of the array.
    pub sink: StreamSink,
}

impl Streams {
    /// Source and sink of a model, if it has packet ports.
    ///
    /// # Errors
    /// It has some of the ports, or they are different.
    pub fn bind(model: &Model) -> Result<Option<Self>, PortError> {
        if !model.ports().iter().any(|port| port.name.starts_with(RECEIVE)) {
            return Ok(None);
        }
        Ok(Some(Self {
            source: StreamSource::new(StreamInPorts::bind(model, RECEIVE)?),
            sink: StreamSink::new(StreamOutPorts::bind(model, TRANSMIT)?),
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
