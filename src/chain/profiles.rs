//! Profiles of functions: from the cache, or measured now.

use std::fs;
use std::path::PathBuf;

use anyhow::{bail, ensure, Context};
use hermes_rtl::config::Config;
use hermes_testbench::chain::profile::{Bench, Profile};
use hermes_testbench::chain::{Chain, ChainPlan, SimulatedChain, Surroundings};
use hermes_testbench::cosim::Latency;
use hermes_testbench::output;
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::traffic::{Frame, Generator, Kind, Traffic};
use sha2::{Digest as _, Sha256};
use verilator_sys::ModelLibrary;

use super::each_on_its_line;
use crate::array;
use crate::print;
use crate::run::MEMORY_BYTES;

/// Seed of the packets that are made.
const SEED: u64 = 1;
/// Folder of the profiles in the cache.
const FOLDER: &str = "profiles";

/// What is measured of a function.
#[derive(clap::Args)]
pub struct ProfileArgs {
    /// Warps on one core that are measured, as far as the kernel's registers allow
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,2,4,8,16", value_parser = clap::value_parser!(u32).range(1..=32), help_heading = "Measurement")]
    mcw: Vec<u32>,
    /// Numbers of cores that are measured beside one, with as many warps as are of use
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "2,4", value_parser = clap::value_parser!(u32).range(1..=32), help_heading = "Measurement")]
    on_cores: Vec<u32>,
    /// Packets that are made; runs repeat them until they have enough
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(32..=65_536), help_heading = "Measurement")]
    packets: u32,
    /// Times that a run fills all warp slots: more are slower and closer
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=64), help_heading = "Measurement")]
    waves: u32,
    /// Measure also what the cache has
    #[arg(long, help_heading = "Measurement")]
    again: bool,
}

impl ProfileArgs {
    /// Packets that are made.
    pub fn packets(&self) -> usize {
        self.packets as usize
    }
}

/// `count` packets of `bytes` bytes without FCS for a chain, made from a seed.
pub fn frames(plan: &ChainPlan, bytes: usize, count: usize) -> anyhow::Result<Vec<Frame>> {
    let traffic = Traffic { kind: Kind::Fixed(bytes), seed: SEED, bad_share: 0.0, rate: 100.0 };
    Ok(Generator::aimed(traffic, plan.aim()?).take(count).collect())
}

/// The frames that reach each function of a chain, and how many of the packets do: as the golden
/// models have it, or the kernels on the reference simulator where a function has none.
pub fn reaching(chain: &Chain, config: &Config, frames: &[Frame]) -> anyhow::Result<Vec<Vec<Vec<u8>>>> {
    let mut reaching = vec![Vec::new(); chain.functions.len()];
    let packets = frames.iter().map(|frame| SlotPacket::new(frame, chain.slot_bytes_log2));
    match chain.model() {
        Ok(model) => {
            for (index, packet) in (0..).zip(packets) {
                let visits = model.follow(index, &packet).1;
                visits.into_iter().for_each(|visit| reaching[visit.function].push(visit.packet.frame));
            }
        }
        Err(_) => {
            let mut simulated = SimulatedChain::new(chain, config, MEMORY_BYTES)?;
            for (index, packet) in (0..).zip(packets) {
                let visits = simulated.follow(index, &packet)?;
                visits.into_iter().for_each(|visit| reaching[visit.function].push(visit.packet.frame));
            }
        }
    }
    Ok(reaching)
}

/// What profiles are measured on.
pub struct Measurer<'a> {
    config: &'a Config,
    args: &'a ProfileArgs,
    latency: Latency,
    verilog: String,
    /// Built when the first profile is measured.
    library: Option<ModelLibrary>,
    quiet: bool,
}

impl<'a> Measurer<'a> {
    pub fn new(
        config: &'a Config,
        args: &'a ProfileArgs,
        latency: Latency,
        quiet: bool,
    ) -> anyhow::Result<Self> {
        for cores in &args.on_cores {
            let most = config.cores;
            ensure!(
                *cores as usize <= most,
                "--on-cores {cores}: expected at most {most}, those of the array"
            );
        }
        let verilog = Sha256::digest(array::design(config)?.verilog().as_bytes());
        let verilog = verilog.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { config, args, latency, verilog, library: None, quiet })
    }

    /// The profile of the one function of `plan` with these frames: that of `given` which is of it,
    /// that of the cache, or a new one.
    ///
    /// # Errors
    /// A profile that is given is of another build, or any of a run.
    pub fn profile(
        &mut self,
        plan: &ChainPlan,
        frames: Vec<Vec<u8>>,
        given: &[(PathBuf, Profile)],
    ) -> anyhow::Result<Profile> {
        let longest = frames.iter().map(Vec::len).max().unwrap_or(0);
        let on = Surroundings {
            config: self.config,
            memory_bytes: MEMORY_BYTES,
            frame_bytes: Some(u32::try_from(longest)?),
        };
        let chain = plan.place(on).map_err(each_on_its_line)?;
        let name = chain.functions[0].name.clone();
        // Its model is built only if it must run.
        let key = {
            let library = None;
            self.bench(&library, chain, frames.clone()).key()
        };
        let of_it: Vec<_> = given.iter().filter(|(_, profile)| profile.function == name).collect();
        if let Some((path, profile)) = of_it.iter().find(|(_, profile)| profile.key == key).or(of_it.first())
        {
            ensure!(
                profile.key == key,
                "{}: key {}: expected {key}, that of `{name}` with this array, kernel, tables, packets and measurement; \
                 `hermes nf bench` makes one",
                path.display(),
                profile.key
            );
            return Ok(profile.clone());
        }
        let path = verilator_sys::list(None)?.0.join(FOLDER).join(format!("{key}.json"));
        if !self.args.again && path.exists() {
            // One of another version, or a damaged one, is made again.
            let kept = Profile::read(&path).unwrap_or_default();
            if let Some(profile) = kept.into_iter().find(|profile| profile.key == key) {
                return Ok(profile);
            }
        }
        if self.library.is_none() {
            self.library = Some(array::library(self.config, false, self.quiet, |_| {})?);
        }
        let chain = plan.place(on).map_err(each_on_its_line)?;
        let bar = print::progress(0, self.quiet);
        let mut bench = self.bench(&self.library, chain, frames);
        let profile = bench.profile(&mut |done, all| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        });
        bar.finish_and_clear();
        let profile = profile.with_context(|| format!("profile of `{name}`"))?;
        // A cache that cannot be written costs time only.
        let kept = path.parent().map_or(Ok(()), fs::create_dir_all);
        let text = Profile::text(std::slice::from_ref(&profile))?;
        if let Err(error) =
            kept.map_err(anyhow::Error::from).and_then(|()| Ok(output::write(&path, text.as_bytes())?))
        {
            log::warn!("the profile is not kept: {error:#}");
        }
        Ok(profile)
    }

    fn bench<'b>(
        &'b self,
        library: &'b Option<ModelLibrary>,
        chain: Chain,
        frames: Vec<Vec<u8>>,
    ) -> Bench<'b> {
        Bench {
            library: library.as_ref(),
            verilog: &self.verilog,
            config: self.config,
            chain,
            frames,
            latency: self.latency,
            memory_bytes: MEMORY_BYTES,
            waves: self.args.waves as usize,
            warps: self.args.mcw.clone(),
            cores: self.args.on_cores.iter().map(|cores| *cores as usize).collect(),
        }
    }
}

/// The profiles in the files of the command line.
///
/// # Errors
/// One cannot be read, or is no profile.
pub fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<(PathBuf, Profile)>> {
    let mut all = Vec::new();
    for path in paths {
        for profile in Profile::read(path)? {
            all.push((path.clone(), profile));
        }
        if !all.iter().any(|(of, _)| of == path) {
            bail!("{}: profiles: none; expected those of `hermes nf bench --json`", path.display());
        }
    }
    Ok(all)
}
