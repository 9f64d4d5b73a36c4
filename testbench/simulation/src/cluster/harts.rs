//! What the harts of a node did while a kernel ran.

use hermes_rtl::types::counter;

use crate::cosim::{CosimError, DebugError, Debugger, Device as _, Host, Simulation};

/// CSR minstret: instructions that a hart retired, their low 32 bits.
const MINSTRET: u32 = 0xb02;
/// Cycles in which a hart that goes on waits again, if there is nothing to do.
const SETTLE: u64 = 200;

/// What the harts of a node did from the moment at which its queues were served until its kernel
/// had ended. Each hart is stopped once before and once behind that time, to read what it retired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HartCounts {
    /// Harts.
    pub harts: u32,
    /// Cycles of that time.
    pub cycles: u64,
    /// Cycles, summed over harts, in which they ran and waited neither in NEXT nor in `wfi`.
    pub awake_cycles: u64,
    /// Instructions that they retired.
    pub instructions: u64,
    /// Lines that they read from the L2, those of their instructions too.
    pub line_reads: u64,
}

/// Counters at one moment.
pub(super) struct HartMoment {
    cycle: u64,
    awake: u32,
    lines: u32,
    retired: Vec<u32>,
}

fn failed(error: DebugError) -> CosimError {
    CosimError::Firmware(format!("harts cannot be read: {error}"))
}

/// Instructions that each hart retired; all stop and go on.
fn retired(host: &mut Host<Simulation>) -> Result<Vec<u32>, DebugError> {
    let mut debugger = Debugger::new(host)?;
    let all = debugger.all();
    debugger.stop(host, all)?;
    let counts = (0..debugger.harts()).map(|hart| debugger.csr(host, hart, MINSTRET)).collect();
    debugger.resume(host, all)?;
    counts
}

/// Cycles awake and lines read.
fn counters(host: &mut Host<Simulation>) -> Result<(u32, u32), CosimError> {
    let awake = host.network_counter(counter::HART_CYCLES)?;
    let hits = host.network_counter(counter::COMMAND_READ_HITS)?;
    Ok((awake, hits.wrapping_add(host.network_counter(counter::COMMAND_READ_MISSES)?)))
}

impl HartMoment {
    /// Before the kernel begins.
    pub fn before(host: &mut Host<Simulation>) -> Result<Self, CosimError> {
        let retired = retired(host).map_err(failed)?;
        host.device_mut().run(SETTLE)?;
        let (awake, lines) = counters(host)?;
        Ok(Self { cycle: host.device_mut().cycle(), awake, lines, retired })
    }

    /// What was done since, when the kernel has ended.
    pub fn until_now(&self, host: &mut Host<Simulation>) -> Result<HartCounts, CosimError> {
        let cycle = host.device_mut().cycle();
        let (awake, lines) = counters(host)?;
        let retired = retired(host).map_err(failed)?;
        let since = |(now, before): (&u32, &u32)| u64::from(now.wrapping_sub(*before));
        Ok(HartCounts {
            harts: retired.len() as u32,
            cycles: cycle - self.cycle,
            awake_cycles: awake.wrapping_sub(self.awake).into(),
            instructions: retired.iter().zip(&self.retired).map(since).sum(),
            line_reads: lines.wrapping_sub(self.lines).into(),
        })
    }
}
