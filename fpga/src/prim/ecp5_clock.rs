//! Clock and reset of an ECP5.

use hermes_hdl::emit::unit_info::HandWritten;
use hermes_hdl::prelude::*;

/// Dividers of the PLL of an ECP5 (EHXPLLL, Lattice FPGA-TN-02200): the output has
/// `input / reference * feedback`, and the oscillator `output` times that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ecp5Pll {
    /// CLKI_DIV: 1 to 128.
    pub reference: u32,
    /// CLKFB_DIV: 1 to 128.
    pub feedback: u32,
    /// CLKOP_DIV: 1 to 128.
    pub output: u32,
    /// What it makes, in kHz.
    pub kilohertz: u32,
}

impl Ecp5Pll {
    /// The dividers that make `kilohertz` of `input` kHz, or what is nearest below it. The
    /// oscillator runs at 400 to 800 MHz, the phase detector at 3.125 to 400 MHz.
    ///
    /// `None` if there are none within a sixth.
    #[must_use]
    pub fn find(input: u32, kilohertz: u32) -> Option<Self> {
        let phases = (1..=128).filter(|reference| (3_125..=400_000).contains(&(input / reference)));
        let made = phases.flat_map(|reference| {
            (1..=128).filter_map(move |feedback| {
                let made = input * feedback / reference;
                let output = (600_000 + made / 2) / made.max(1);
                let possible = (1..=128).contains(&output) && (400_000..=800_000).contains(&(made * output));
                let near = made <= kilohertz && u64::from(made) * 6 >= u64::from(kilohertz) * 5;
                (possible && near).then_some(Self { reference, feedback, output, kilohertz: made })
            })
        });
        made.max_by_key(|pll| (pll.kilohertz, std::cmp::Reverse(pll.reference)))
    }
}

/// The clock of the array from that of the board, and its reset.
///
/// 1. `clock_out` is what the PLL makes. In simulation, and wherever `SYNTHESIS` is not defined, it
///    is `clock_in` itself.
/// 2. `reset_out` is high until the PLL is locked, and while `button` is, which may come at any
///    time; it falls synchronously to `clock_out`, 16 cycles after that or later.
#[derive(Clone, LogicBlock)]
#[new(pll: Ecp5Pll)]
pub struct Ecp5Clock {
    /// The oscillator of the board.
    pub clock_in: Signal<In, Clock>,
    /// A button of the board, high while it is pressed.
    pub button: Signal<In, Bit>,
    /// Clock of the array.
    pub clock_out: Signal<Out, Clock>,
    /// Synchronous reset of the clock, active high.
    pub reset_out: Signal<Out, Bit>,
    #[init(pll)]
    _pll: Ecp5Pll,
}

impl Ecp5Clock {
    /// A clock with these dividers.
    #[must_use]
    pub fn new(pll: Ecp5Pll) -> Self {
        Self::wired(pll)
    }
}

impl Logic for Ecp5Clock {
    fn update(&mut self) {
        self.clock_out.next = self.clock_in.val();
        self.reset_out.next = self.button.val();
    }
    fn timing(&self) -> Vec<TimingInfo> {
        let Ecp5Pll { reference, feedback, output, kilohertz } = self._pll;
        HandWritten::new(
            format!("Ecp5Clock<{reference}, {feedback}, {output}>"),
            format!(
                "Clock of {kilohertz} kHz and its reset, by the PLL of an ECP5; in simulation the clock is that \
                 of the board."
            ),
            file!(),
        )
        .follows("clock_out", "clock_in")
        .into_timing()
    }
    fn hdl(&self) -> Verilog {
        let Ecp5Pll { reference, feedback, output, kilohertz } = self._pll;
        let megahertz = |kilohertz: u32| f64::from(kilohertz) / 1e3;
        Verilog::Custom(format!(
            "wire locked;\n\
             `ifdef SYNTHESIS\n\
             // Currents and filter of the loop: nextpnr writes zeros without them.\n\
             (* FREQUENCY_PIN_CLKI = \"{input}\", FREQUENCY_PIN_CLKOP = \"{made}\",\n   \
                ICP_CURRENT = \"12\", LPF_RESISTOR = \"8\", MFG_ENABLE_FILTEROPAMP = \"1\", MFG_GMCREF_SEL = \"2\" *)\n\
             EHXPLLL #(\n    \
                 .CLKI_DIV({reference}),\n    \
                 .CLKFB_DIV({feedback}),\n    \
                 .CLKOP_DIV({output}),\n    \
                 .CLKOP_CPHASE({phase}),\n    \
                 .CLKOP_FPHASE(0),\n    \
                 .CLKOP_ENABLE(\"ENABLED\"),\n    \
                 .FEEDBK_PATH(\"CLKOP\"),\n    \
                 .OUTDIVIDER_MUXA(\"DIVA\"),\n    \
                 .PLLRST_ENA(\"DISABLED\"),\n    \
                 .INTFB_WAKE(\"DISABLED\"),\n    \
                 .STDBY_ENABLE(\"DISABLED\"),\n    \
                 .DPHASE_SOURCE(\"DISABLED\")\n\
             ) pll (\n    \
                 .CLKI(clock_in),\n    \
                 .CLKFB(clock_out),\n    \
                 .CLKOP(clock_out),\n    \
                 .CLKINTFB(),\n    \
                 .LOCK(locked),\n    \
                 .RST(1'b0),\n    \
                 .STDBY(1'b0),\n    \
                 .PHASESEL0(1'b0),\n    \
                 .PHASESEL1(1'b0),\n    \
                 .PHASEDIR(1'b1),\n    \
                 .PHASESTEP(1'b1),\n    \
                 .PHASELOADREG(1'b1),\n    \
                 .PLLWAKESYNC(1'b0),\n    \
                 .ENCLKOP(1'b0)\n\
             );\n\
             `else\n\
             assign clock_out = clock_in;\n\
             assign locked = 1'b1;\n\
             `endif\n\
             reg [1:0] met;\n\
             reg [4:0] waited;\n\
             initial begin\n    \
                 met = 2'd0;\n    \
                 waited = 5'd0;\n\
             end\n\
             always @(posedge clock_out) begin\n    \
                 met <= {{met[0], locked & ~button}};\n    \
                 if (!met[1]) waited <= 5'd0;\n    \
                 else if (!waited[4]) waited <= waited + 5'd1;\n\
             end\n\
             assign reset_out = ~waited[4];\n",
            phase = output - 1,
            input = megahertz(kilohertz * reference / feedback),
            made = megahertz(kilohertz),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dividers_make_what_is_asked_for() {
        for (input, wanted) in
            [(25_000, 25_000), (25_000, 40_000), (25_000, 50_000), (25_000, 62_500), (25_000, 100_000)]
        {
            assert_eq!(Ecp5Pll::find(input, wanted).unwrap().kilohertz, wanted);
        }
        for wanted in 10_000..120_000u32 {
            let pll = Ecp5Pll::find(25_000, wanted).unwrap();
            assert!(pll.kilohertz <= wanted && pll.kilohertz * 6 >= wanted * 5, "{wanted}: {pll:?}");
            assert_eq!(pll.kilohertz, 25_000 * pll.feedback / pll.reference);
            assert!((400_000..=800_000).contains(&(pll.kilohertz * pll.output)), "{pll:?}");
        }
        assert_eq!(Ecp5Pll::find(25_000, 1_000), None);
    }
}
