//! Time-outs of warp forming that follow the traffic.

use hermes_rtl::host::registers::spec;

/// How the time-out of warp forming follows the traffic: registers TIMEOUT_FACTOR, TIMEOUT_MIN,
/// TIMEOUT_MAX and TIMEOUT_EAGER, which arrays with `adaptive_timeout` have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdaptiveTimeout {
    /// Quarters of the time in which a warp arrives, at most 255.
    pub factor: u32,
    /// Cycles at least, below 2^24.
    pub min: u32,
    /// Cycles at most, below 2^24.
    pub max: u32,
    /// Quarters of a warp for each core, at most 255: with fewer on the cores partial warps do not
    /// wait.
    pub eager: u32,
}

impl Default for AdaptiveTimeout {
    /// As the registers are after reset.
    fn default() -> Self {
        let reset = |name| spec(name).reset;
        Self {
            factor: reset("TIMEOUT_FACTOR"),
            min: reset("TIMEOUT_MIN"),
            max: reset("TIMEOUT_MAX"),
            eager: reset("TIMEOUT_EAGER"),
        }
    }
}

impl AdaptiveTimeout {
    /// The registers and their values; the mode comes last.
    pub(super) const fn registers(&self) -> [(&'static str, u32); 5] {
        [
            ("TIMEOUT_FACTOR", self.factor),
            ("TIMEOUT_MIN", self.min),
            ("TIMEOUT_MAX", self.max),
            ("TIMEOUT_EAGER", self.eager),
            ("TIMEOUT_MODE", 1),
        ]
    }
}
