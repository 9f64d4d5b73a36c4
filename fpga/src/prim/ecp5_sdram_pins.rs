//! The pins of an SDRAM at an ECP5.

use hermes_hdl::emit::unit_info::HandWritten;
use hermes_hdl::prelude::*;
use hermes_rtl::ports::SdramBus;

/// Clock and data pins of an SDRAM of 16 bits, by cells of an ECP5 (ODDRX1F and BB, Lattice
/// FPGA-TN-02035 and FPGA-TN-02032).
///
/// 1. `sdram_clk` is the inverted `clock`: the chip takes commands in the middle of a cycle.
/// 2. `sdram_d` is driven with `bus.d_out` while `bus.d_enable` is high; `bus.d_in` is what is on
///    it.
/// 3. In simulation, and wherever `SYNTHESIS` is not defined, a chip is behind the pins: it keeps
///    what is written and answers READs of one word with its CAS latency. It checks no times and no
///    mode: [`SdramChip`](hermes_rtl::board::SdramChip) does that for the controller.
#[derive(Clone, LogicBlock)]
#[new(columns: usize, cas_latency: usize)]
pub struct Ecp5SdramPins {
    /// Clock of the controller.
    pub clock: Signal<In, Clock>,

    /// The controller; what the pins do not need is for the chip in simulation.
    pub bus: Flipped<SdramBus>,

    /// Clock of the chip.
    pub sdram_clk: Signal<Out, Bit>,
    /// Data of the chip, both ways.
    pub sdram_d: Signal<Out, Bits<16>>,
    #[init(columns)]
    _columns: usize,
    #[init(cas_latency)]
    _cas_latency: usize,
}

impl Ecp5SdramPins {
    /// Pins of a chip with `2^columns` columns, 9 or 10, and a CAS latency of 2 or 3 cycles.
    ///
    /// # Panics
    /// If it is another one.
    #[must_use]
    pub fn new(columns: usize, cas_latency: usize) -> Self {
        assert!((9..=10).contains(&columns) && (2..=3).contains(&cas_latency), "{columns}, {cas_latency}");
        Self::wired(columns, cas_latency)
    }
}

impl Logic for Ecp5SdramPins {
    /// Natively there is no chip: reads give 0.
    fn update(&mut self) {
        self.sdram_clk.next = false;
        self.sdram_d.next = self.bus.d_out.val();
        self.bus.d_in.next = bits::<16>(0);
    }
    fn timing(&self) -> Vec<TimingInfo> {
        let (columns, cas_latency) = (self._columns, self._cas_latency);
        HandWritten::new(
            format!("Ecp5SdramPins<{columns}, {cas_latency}>"),
            "Clock and data pins of an SDRAM of 16 bits; in simulation with the chip behind them.",
            file!(),
        )
        .follows("sdram_d", "bus_d_out")
        .follows("sdram_d", "bus_d_enable")
        .bidirectional("sdram_d")
        .into_timing()
    }
    fn hdl(&self) -> Verilog {
        let columns = self._columns;
        // The word of a READ is there in the middle of the cycle `CAS latency - 1` behind it.
        let stages: Vec<String> = (0..self._cas_latency).map(|stage| format!("word_{stage}")).collect();
        let moves: String =
            stages.windows(2).map(|pair| format!("    {} <= {};\n", pair[1], pair[0])).collect();
        Verilog::Custom(format!(
            "`ifdef SYNTHESIS\n\
             // Low in the first half of a cycle, high in the second.\n\
             ODDRX1F inverted (\n    \
                 .D0(1'b0),\n    \
                 .D1(1'b1),\n    \
                 .SCLK(clk),\n    \
                 .RST(1'b0),\n    \
                 .Q(sdram_clk)\n\
             );\n\
             BB pins [15:0] (\n    \
                 .I(bus_d_out),\n    \
                 .T(~bus_d_enable),\n    \
                 .O(bus_d_in),\n    \
                 .B(sdram_d)\n\
             );\n\
             wire unused = &{{1'b0, bus_csn, bus_rasn, bus_casn, bus_wen, bus_ba, bus_a, bus_dqm}};\n\
             `else\n\
             // The chip.\n\
             localparam PLACES = {places};\n\
             reg [15:0] words [0:PLACES - 1];\n\
             reg [12:0] rows [0:3];\n\
             reg [15:0] {all};\n\
             wire [{top}:0] place = {{rows[bus_ba], bus_ba, bus_a[{last}:0]}};\n\
             assign sdram_clk = ~clk;\n\
             assign bus_d_in = {given};\n\
             assign sdram_d = bus_d_enable ? bus_d_out : {given};\n\
             always @(negedge clk) begin\n\
             {moves}    \
                 if (!bus_csn && !bus_rasn && bus_casn && bus_wen) rows[bus_ba] <= bus_a;\n    \
                 if (!bus_csn && bus_rasn && !bus_casn && bus_wen) word_0 <= words[place];\n    \
                 if (!bus_csn && bus_rasn && !bus_casn && !bus_wen) begin\n        \
                     if (!bus_dqm[0]) words[place][7:0] <= bus_d_out[7:0];\n        \
                     if (!bus_dqm[1]) words[place][15:8] <= bus_d_out[15:8];\n    \
                 end\n\
             end\n\
             `endif\n",
            places = 1u64 << (15 + columns),
            all = stages.join(", "),
            top = 14 + columns,
            last = columns - 1,
            given = stages[stages.len() - 1],
        ))
    }
}
