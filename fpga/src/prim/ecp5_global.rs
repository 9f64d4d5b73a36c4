//! The global network of an ECP5 for a signal that is no clock.

use hermes_hdl::emit::unit_info::HandWritten;
use hermes_hdl::prelude::*;

/// Carries a signal of thousands of sinks, such as a reset, on the global network of an ECP5 (DCCA,
/// Lattice FPGA-TN-02200): it takes no wires of those that all other signals share.
///
/// Combinational: `signal_out` is `signal_in`, in simulation and wherever `SYNTHESIS` is not
/// defined without the buffer. The way to the middle of the device and back takes some nanoseconds.
#[derive(Clone, Default, LogicBlock)]
pub struct Ecp5Global {
    /// The signal.
    pub signal_in: Signal<In, Bit>,
    /// The signal on the global network.
    pub signal_out: Signal<Out, Bit>,
}

impl Logic for Ecp5Global {
    fn update(&mut self) {
        self.signal_out.next = self.signal_in.val();
    }
    fn timing(&self) -> Vec<TimingInfo> {
        HandWritten::new("Ecp5Global", "A signal on the global network of an ECP5.", file!())
            .follows("signal_out", "signal_in")
            .into_timing()
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "`ifdef SYNTHESIS\n\
             DCCA buffer (\n    \
                 .CLKI(signal_in),\n    \
                 .CE(1'b1),\n    \
                 .CLKO(signal_out)\n\
             );\n\
             `else\n\
             assign signal_out = signal_in;\n\
             `endif\n"
                .to_string(),
        )
    }
}
