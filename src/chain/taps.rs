//! Captures of what came to each function of a chain.

use std::path::Path;

use anyhow::{bail, Context};
use hermes_rtl::config::Config;
use hermes_testbench::chain::{Chain, Ran, SimulatedChain, SimulatedVisit};
use hermes_testbench::cosim::PacketResult;
use hermes_testbench::metrics::Clock;
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::traffic::{CaptureWriter, Frame};
use hermes_testbench::verdict::Verdict;

use crate::files::Files;
use crate::run::MEMORY_BYTES;

/// Captures of what came to each function; none if they are not wanted.
pub struct Taps(Vec<CaptureWriter>);

impl Taps {
    /// Makes sure that the files can be written, and are none of `files`.
    pub fn create(folder: Option<&Path>, chain: &Chain, files: &Files) -> anyhow::Result<Self> {
        let Some(folder) = folder else { return Ok(Self(Vec::new())) };
        let path = |name: &str| folder.join(format!("{name}.pcap"));
        let paths: Vec<_> = chain.all().map(|function| path(&function.name)).collect();
        let all = paths.iter().fold(files.clone(), |files, path| files.output("--taps", Some(path)));
        std::fs::create_dir_all(folder).with_context(|| format!("--taps {}", folder.display()))?;
        all.check()?;
        let writers = paths.iter().map(|path| CaptureWriter::create(path));
        Ok(Self(writers.collect::<Result<_, _>>()?))
    }

    /// Whether captures are wanted.
    pub fn are_wanted(&self) -> bool {
        !self.0.is_empty()
    }

    /// Writes the packet of a visit, which came in as `frame`, with a time in nanoseconds.
    pub fn write(&mut self, frame: &Frame, visit: &SimulatedVisit, timestamp: u64) -> anyhow::Result<()> {
        let Some(tap) = self.0.get_mut(visit.function) else { return Ok(()) };
        let (data, wire_length) = (visit.packet.frame.clone(), visit.packet.wire_length() as u32);
        Ok(tap.write(&Frame { data, wire_length, timestamp, ..frame.clone() })?)
    }

    /// Puts the files in their places.
    pub fn commit(self) -> anyhow::Result<()> {
        Ok(self.0.into_iter().try_for_each(CaptureWriter::commit)?)
    }

    /// Writes what came to each function in a run on the array, as the kernels have it on the
    /// reference simulator, which go the ways that the array has told: as far as the bytes of a
    /// packet are known. Times are those of the visits, in nanoseconds at `clock`.
    ///
    /// # Errors
    /// The reference simulator goes another way, or what it has at the end is not what the array
    /// has.
    pub fn write_run(
        &mut self,
        chain: &Chain,
        config: &Config,
        frames: &[Frame],
        packets: &[SlotPacket],
        ran: &Ran,
        clock: Clock,
    ) -> anyhow::Result<()> {
        let mut simulated = SimulatedChain::new(chain, config, MEMORY_BYTES)?;
        let mut unknown = 0;
        for (index, ((frame, packet), seen)) in frames.iter().zip(packets).zip(&ran.ways).enumerate() {
            anyhow::ensure!(!hermes_interrupt::is_requested(), "ended before packet {index}");
            let all: Vec<_> = seen.iter().map(|(stop, _)| *stop).collect();
            let way: Vec<_> = all.iter().copied().take_while(|stop| stop.is_known).collect();
            let visits = simulated.follow_way(index as u64, packet, &way)?;
            let record = &ran.result.packets[index];
            // Both count cycles, from the reset and from the start of the run.
            let first = seen.first().map_or(0, |(_, start)| *start);
            for (visit, (_, start)) in visits.iter().zip(seen) {
                let cycle = record.times.start + (start - first);
                let nanoseconds = cycle as f64 * 1000.0 / clock.megahertz();
                self.write(frame, visit, nanoseconds.round() as u64)?;
            }
            let told = || format!("packet {index} of the capture, counted from 0");
            let (Some(left), true) = (simulated.left(&visits), visits.len() == way.len()) else {
                bail!(
                    "--taps: {}: the reference simulator visits {} of {} functions",
                    told(),
                    visits.len(),
                    way.len()
                );
            };
            if way.len() < all.len() {
                unknown += 1;
                continue;
            }
            compare(&left, record.verdict, &record.bytes).with_context(|| {
                let last = visits.last().map_or("", |last| &chain.function(last.function).name);
                format!("--taps: {}, at `{last}`", told())
            })?;
        }
        if unknown > 0 {
            log::warn!(
                "--taps: {unknown} packets were changed by a function that hung; they are not in the captures of \
                 those behind it"
            );
        }
        Ok(())
    }
}

/// Compares what the reference simulator has at the end of a packet with what the array has; of
/// packets that did not leave the packet ports that is only that.
fn compare(simulated: &PacketResult, verdict: u32, bytes: &[u8]) -> anyhow::Result<()> {
    let (expected, got) = (Verdict(simulated.verdict), Verdict(verdict));
    let is_told = got != hermes_testbench::outcome::NOT_SENT;
    anyhow::ensure!(
        if is_told { expected == got } else { !expected.is_forward() },
        "the verdict on the array is {got}; expected {expected} by the reference simulator"
    );
    anyhow::ensure!(
        !is_told || simulated.bytes == bytes,
        "the frame on the array has other bytes than on the reference simulator"
    );
    Ok(())
}
