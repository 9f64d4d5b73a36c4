//! The measurements of a profile.

use anyhow::{ensure, Context};
use hermes_rtl::config::{most_warps, Config};
use sha2::{Digest as _, Sha256};
use verilator_sys::ModelLibrary;

use super::{Profile, Sample, FORMAT};
use crate::cosim::{Arrivals, Latency, Packet, PacketTimes, RunOptions};
use crate::on_array::{Setting, Sharing};
use crate::placed::Chain;
use crate::schedule::{limit_for, Share};
use crate::slot::SlotPacket;

/// Cycles without a commit after which a run is given up.
const COMMIT_LIMIT: u64 = 100_000_000;
/// Cycles that packets wait for a full warp: longer than any fills.
const TIMEOUT: u32 = 1 << 16;
/// Fewest warps of a run.
const FEWEST_WARPS: usize = 16;

/// The middle of a run, by the finishes of packets: from the end of the first quarter to the
/// beginning of the last sixteenth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Packets that finished in it.
    pub packets: u64,
    /// Its cycles.
    pub cycles: u64,
}

impl Window {
    /// Packets a cycle.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.packets as f64 / self.cycles.max(1) as f64
    }
}

/// The middle of a run of packets with these times.
#[must_use]
pub fn rate_of(times: &[PacketTimes]) -> Window {
    let mut ends: Vec<_> = times.iter().map(|times| times.finish).collect();
    ends.sort_unstable();
    let of_rank = |rank: usize| ends.get(rank.max(1) - 1).copied().unwrap_or(0);
    let (from, to) = (of_rank(ends.len() / 4), of_rank(ends.len() - ends.len() / 16));
    let inside = ends.iter().filter(|end| from < **end && **end <= to).count();
    match inside {
        // All at once.
        0 => Window { packets: ends.len() as u64, cycles: of_rank(ends.len()) },
        _ => Window { packets: inside as u64, cycles: to - from },
    }
}

/// A function that is measured, alone on an array.
pub struct Bench<'a> {
    /// The model of the array; without it there is only the key.
    pub library: Option<&'a ModelLibrary>,
    /// SHA-256 of its Verilog.
    pub verilog: &'a str,
    /// The array.
    pub config: &'a Config,
    /// A chain of this function alone, whose frames all fit.
    pub chain: Chain,
    /// Frames as they reach the function. They come again and again until a run has enough.
    pub frames: Vec<Vec<u8>>,
    /// Timing of the memory.
    pub latency: Latency,
    /// Bytes of the memory.
    pub memory_bytes: u64,
    /// Times that all warp slots are filled in a run.
    pub waves: usize,
    /// Warps on one core that are measured.
    pub warps: Vec<u32>,
    /// Cores that are measured, beside one.
    pub cores: Vec<usize>,
}

impl Bench<'_> {
    /// The numbers of warps that are measured: those that were asked for, as far as the registers
    /// of the kernel and the manifest's `mcw` allow.
    #[must_use]
    pub fn warps(&self) -> Vec<u32> {
        let function = &self.chain.functions[0];
        let registers = function.kernel.registers.registers() as u32;
        let most = most_warps(self.config.warps as u32, registers).min(function.mcw);
        let mut warps: Vec<_> = self.warps.iter().copied().filter(|warps| *warps <= most).collect();
        if warps.is_empty() {
            warps.push(most);
        }
        warps.sort_unstable();
        warps.dedup();
        warps
    }

    /// SHA-256 of all that the profile depends on.
    #[must_use]
    pub fn key(&self) -> String {
        let mut hash = Sha256::new();
        let function = &self.chain.functions[0];
        let Self { latency, waves, cores, .. } = self;
        let (ring, slot, stack) =
            (self.chain.ring_slots_log2, self.chain.slot_bytes_log2, self.chain.stack_bytes_log2);
        hash.update(format!(
            "{FORMAT} {} {latency} {waves} {:?} {cores:?} {ring} {slot} {stack} {} {} {}\n",
            self.verilog,
            self.warps(),
            self.memory_bytes,
            function.watchdog,
            function.kernel.entry,
        ));
        for (address, bytes) in function.image() {
            hash.update(address.to_le_bytes());
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        for frame in &self.frames {
            hash.update((frame.len() as u64).to_le_bytes());
            hash.update(frame);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Measures the profile; `progress` is told how many of how many runs are done.
    ///
    /// # Errors
    /// There are no packets, one differs from the golden model, or any of a run.
    pub fn profile(&mut self, progress: &mut dyn FnMut(usize, usize)) -> anyhow::Result<Profile> {
        let name = self.chain.functions[0].name.clone();
        ensure!(!self.frames.is_empty(), "`{name}`: no packet reaches it; expected one or more");
        let key = self.key();
        let warps = self.warps();
        let cores = self.cores.clone();
        let runs = warps.len() + cores.iter().filter(|cores| **cores > 1).count();
        let mut samples = Vec::new();
        for warps in warps {
            progress(samples.len(), runs);
            samples.push(self.sample(Share { cores: 1, warps })?);
        }
        let knee = super::knee(&samples).unwrap_or(1);
        for cores in cores.into_iter().filter(|cores| *cores > 1) {
            progress(samples.len(), runs);
            samples.push(self.sample(Share { cores, warps: knee })?);
        }
        progress(runs, runs);
        Profile::of(&name, &key, self.config.lanes as u32, &self.frames, samples)
    }

    /// A run with so many cores and warps.
    ///
    /// # Errors
    /// A packet differs from the golden model, or any of a run.
    pub fn sample(&mut self, share: Share) -> anyhow::Result<Sample> {
        let library = self.library.context("no model of the array")?;
        self.chain.share(&[share]);
        self.chain.limit = limit_for(&[share]);
        let lanes = self.config.lanes;
        let slots = share.cores * share.warps as usize;
        let count = (self.waves * slots).max(FEWEST_WARPS) * lanes;
        let frames = self.frames.iter().cycle().take(count);
        let packets: Vec<_> =
            frames.map(|frame| SlotPacket { frame: frame.clone(), cut: 0, port: 0 }).collect();
        let arriving: Vec<_> = packets
            .iter()
            .map(|packet| Packet { frame: packet.frame.clone(), port: 0, flags: 0, arrival: 0 })
            .collect();
        let model = self.chain.model().ok();
        let setting = Setting {
            chain: &self.chain,
            model: model.as_ref(),
            ports: model.is_some() && self.config.packet_ports,
            memory_bytes: self.memory_bytes,
            latency: self.latency,
            timeout: TIMEOUT,
            options: RunOptions {
                commit_limit: COMMIT_LIMIT,
                arrivals: Arrivals::Taken,
                ..RunOptions::default()
            },
            sharing: Sharing::Spatial,
            live: None,
        };
        let ran = setting.simulate(library.instantiate()?, &packets, &arriving, &mut |_| {})?;
        let name = &self.chain.functions[0].name;
        ensure!(
            ran.result.fault_count == 0,
            "`{name}`: {} threads ended with a fault",
            ran.result.fault_count
        );
        let times: Vec<_> = ran.result.packets.iter().map(|packet| packet.times).collect();
        let rate = rate_of(&times).rate();
        let stays = &ran.times[0].stays;
        let stay = stays.iter().sum::<u64>() as f64 / stays.len().max(1) as f64;
        let cycles = (slots * lanes) as f64 / rate;
        Ok(Sample { cores: share.cores, warps: share.warps, cycles, rate, stay: stay.min(cycles) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_by_hand() {
        let finish = |finish| PacketTimes { finish, ..PacketTimes::default() };
        let times: Vec<_> = (1..=32).map(|number| finish(10 * number)).collect();
        // Behind the 8th, up to the 30th.
        assert_eq!(rate_of(&times), Window { packets: 22, cycles: 220 });
        assert_eq!(rate_of(&[finish(7); 4]), Window { packets: 4, cycles: 7 });
        assert_eq!(rate_of(&[]).rate(), 0.0);
    }
}
