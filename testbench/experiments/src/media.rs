//! Jobs of the workloads of the Pangaea paper: firmware that works on the cores, or alone.

use std::fs;

use anyhow::{bail, ensure, Context};
use hermes_rtl::config::Config;
use hermes_testbench::cosim::{ArraySetup, Device as _, Host, MemoryOptions, Simulation};
use hermes_testbench::firmware::{build_firmware_with, Firmware, FirmwareEnd, FirmwareOptions};
use hermes_testbench::golden::media::{MediaData, MediaKernel, MediaSize};
use hermes_testbench::kernel::Symbol;
use hermes_testbench::staging::temporary_folder;
use serde::{Deserialize, Serialize};
use verilator_sys::ModelLibrary;

use crate::digest::{digest, loaded};
use crate::job::{Estimate, JobFile};
use crate::parameters::Parameters;
use crate::results::{Measured, ResultFile};

/// Bytes of the shared memory.
const MEMORY_BYTES: u64 = 1 << 30;
/// Cycles between two looks at the firmware.
const PAUSE: u64 = 2_000;
/// Cycles after which a program is given up.
const LIMIT: u64 = 4_000_000_000;

/// Who does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MediaProgram {
    /// Threads on the cores.
    Lanes,
    /// A hart alone, by the first program.
    Scalar1,
    /// A hart alone, by the second program.
    Scalar2,
}

impl MediaProgram {
    /// The programs of a hart alone.
    pub const SCALAR: [Self; 2] = [Self::Scalar1, Self::Scalar2];

    /// MEDIA_PROGRAM of hermes_media.h.
    const fn number(self) -> u32 {
        match self {
            Self::Lanes => 0,
            Self::Scalar1 => 1,
            Self::Scalar2 => 2,
        }
    }
}

/// A workload in place of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Media {
    /// The workload.
    pub kernel: MediaKernel,
    /// Who does the work.
    pub program: MediaProgram,
    /// How large the data set is.
    pub size: MediaSize,
}

impl Media {
    /// Passes of a run: one for those that use their data many times in a pass.
    #[must_use]
    pub const fn passes(self) -> u32 {
        match self.kernel {
            MediaKernel::Kmeans | MediaKernel::Svm => 1,
            _ => 2,
        }
    }

    /// Makes sure that an array can run it.
    ///
    /// # Errors
    /// What it lacks.
    pub(crate) fn validate(self, array: &Config) -> anyhow::Result<()> {
        ensure!(array.command_threads > 0, "array.command_threads 0: expected 1 or more, for firmware");
        ensure!(array.spawn_slots > 0, "array.spawn_slots 0: expected 8 or 16, for threads of firmware");
        ensure!(array.uli_channels > 0, "array.uli_channels 0: expected 1 or more, for the end of jobs");
        Ok(())
    }

    /// What a run takes: cycles by the pixels of the output, or points, measured.
    pub(crate) fn estimate(self, array: &Config) -> Estimate {
        let [width, height] = self.kernel.size(self.size);
        let units = u64::from(width) * u64::from(height);
        let of_unit = match self.kernel {
            MediaKernel::Linear => 60,
            MediaKernel::Sepia => 38,
            MediaKernel::Fgt => 20,
            MediaKernel::Bicubic => 150,
            MediaKernel::Kmeans => 900,
            MediaKernel::Svm => 700,
        };
        let scalar = units * of_unit * u64::from(self.passes());
        let cycles = match self.program {
            MediaProgram::Lanes => scalar / (array.cores * array.lanes) as u64,
            _ => scalar,
        };
        Estimate { cycles: cycles + 10_000, bytes: (500 << 20) + 16 * units }
    }
}

/// What counters say of a pass, as `struct media_counts` of hermes_media.h has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pass {
    /// Cycles of the array.
    pub cycles: u32,
    /// Instructions of the hart.
    pub hart_instructions: u32,
    /// Instructions of warps, of all cores.
    pub instructions: u32,
    /// Instructions of lanes.
    pub lane_instructions: u32,
    /// Cycles with a warp on a core, of all cores.
    pub active_cycles: u32,
    /// Cycles of cores that were lost for memory, fetch, divergence, the scoreboard, conflicts.
    pub lost: [u32; 5],
    /// Data lines that cores read from the L2.
    pub line_reads: u32,
    /// Data lines that they wrote.
    pub line_writes: u32,
    /// Lines that came from memory.
    pub l2_misses: u32,
    /// Threads.
    pub threads: u32,
}

/// Words of `struct media_counts`.
const PASS_WORDS: usize = 14;

impl Pass {
    fn of_words(words: &[u32]) -> Option<Self> {
        let &[cycles, hart_instructions, instructions, lane_instructions, active_cycles, a, b, c, d, e, line_reads, line_writes, l2_misses, threads] =
            words
        else {
            return None;
        };
        let lost = [a, b, c, d, e];
        Some(Self {
            cycles,
            hart_instructions,
            instructions,
            lane_instructions,
            active_cycles,
            lost,
            line_reads,
            line_writes,
            l2_misses,
            threads,
        })
    }
}

/// What a run of a workload measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediaMeasured {
    /// The passes: on cold caches, and as the first pass leaves them.
    pub passes: Vec<Pass>,
    /// Bytes of the thread's code; 0 of a program of a hart alone.
    pub code_bytes: u32,
    /// Loads and stores among the instructions of that code.
    pub code_accesses: u32,
    /// Of k-means, cycles from the start of the pass on: for each round and part when its threads
    /// were started, when the hart saw their end, and when it had added them up. Of the second
    /// scalar program the first part has all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<[u32; 3]>,
}

impl MediaMeasured {
    /// The pass that counts: the last one.
    #[must_use]
    pub fn pass(&self) -> Pass {
        self.passes.last().copied().unwrap_or_default()
    }
}

/// A program with its data.
pub(crate) struct MediaRun {
    firmware: Firmware,
    data: MediaData,
    /// SHA-256 of what goes to memory, and of the data.
    pub digests: [String; 2],
}

impl MediaRun {
    /// Builds the program and makes the data.
    ///
    /// # Errors
    /// It cannot be built.
    pub fn create(media: Media, seed: u64) -> anyhow::Result<Self> {
        let folder = temporary_folder("hermes-")?;
        let name = media.kernel.name();
        let source = folder.path().join(format!("{name}.c"));
        let elf = folder.path().join(format!("{name}.elf"));
        fs::write(&source, media.kernel.source())?;
        let options = FirmwareOptions {
            defines: vec![
                format!("MEDIA_PROGRAM={}", media.program.number()),
                format!("MEDIA_PHASES={}", media.passes()),
            ],
            ..FirmwareOptions::default()
        };
        build_firmware_with(&[source], &options, &elf)?;
        let size = media.kernel.size(media.size);
        let data = media.kernel.data(size, seed).map_err(anyhow::Error::msg)?;
        let of_data = digest(&[&data.input[..], &data.output].concat());
        let firmware = Firmware::read(&elf)?;
        let of_program = digest(&loaded(firmware.executable.entry, &firmware.executable.segments));
        Ok(Self { firmware, digests: [of_program, of_data], data })
    }

    fn symbol(&self, name: &str) -> anyhow::Result<&Symbol> {
        Ok(self.firmware.executable.symbol(name)?)
    }

    /// The bytes of the thread's code, and the loads and stores in it.
    fn code(&self) -> (u32, u32) {
        let Ok(thread) = self.symbol("thread") else { return (0, 0) };
        let words = (thread.address..thread.address + thread.size).step_by(4);
        let is_access = |word: &u32| matches!(word & 0x7f, 0x03 | 0x23);
        let accesses = words.filter_map(|at| self.firmware.executable.word(at)).filter(is_access).count();
        (thread.size, accesses as u32)
    }
}

/// Simulates a job of a workload; every byte of its output is compared with the golden model.
///
/// # Errors
/// Program or data are not those that the job was planned with, or the program fails.
pub(crate) fn execute(
    file: &JobFile,
    media: Media,
    library: &ModelLibrary,
) -> anyhow::Result<(ResultFile, u64)> {
    let parameters = &file.job.parameters;
    let run = MediaRun::create(media, parameters.seed)?;
    super::execute::same("kernel", &file.job.kernel, &run.digests[0])?;
    super::execute::same("tables", &file.job.tables, &run.digests[1])?;
    let (measured, cycles) = simulate(&run, parameters, media, library)?;
    let measured = Measured { media: Some(measured), ..Measured::default() };
    Ok((ResultFile { key: file.key.clone(), job: file.job.clone(), golden_checked: true, measured }, cycles))
}

fn simulate(
    run: &MediaRun,
    parameters: &Parameters,
    media: Media,
    library: &ModelLibrary,
) -> anyhow::Result<(MediaMeasured, u64)> {
    let memory = MemoryOptions { latency: parameters.latency()?, ..MemoryOptions::default() };
    let mut host = Host::new(Simulation::new(library.instantiate()?, MEMORY_BYTES, memory)?)?;
    host.reserve_firmware(&run.firmware)?;
    let data = &run.data;
    let mut variables = Vec::new();
    let mut places = [0; 2];
    let tables = [("input", data.input.clone()), ("output", vec![0; data.output.len()])];
    for ((name, bytes), place) in tables.into_iter().zip(&mut places) {
        *place = host.rmalloc(name, bytes.len())?;
        host.device_mut().write_memory(*place, &bytes)?;
        variables.push((run.symbol(name)?.address, *place));
        variables.push((run.symbol(&format!("{name}_bytes"))?.address, bytes.len() as u32));
    }
    host.reserve_stacks(&ArraySetup::default())?;
    host.start_firmware_with(&run.firmware, &variables)?;
    let name = media.kernel.name();
    let end = loop {
        if let Some(end) = host.attend_firmware()? {
            break end;
        }
        ensure!(host.device_mut().cycle() < LIMIT, "{name}: not at its end after {LIMIT} cycles");
        ensure!(!hermes_interrupt::is_requested(), "{name} was interrupted");
        host.device_mut().run(PAUSE)?;
    };
    if end != FirmwareEnd::Value(0) {
        let output = host.firmware_mut().map(|link| link.take_output()).unwrap_or_default();
        bail!("{name}: {}; {}", end.explain(&run.firmware), String::from_utf8_lossy(&output).trim_end());
    }
    let faults = host.read("FAULTS")?;
    ensure!(faults == 0, "{name}: {faults} threads ended with a fault");
    host.clean_caches()?;
    let mut output = vec![0; data.output.len()];
    host.device_mut().read_memory(places[1], &mut output)?;
    if let Some(at) = (0..output.len()).find(|at| output[*at] != data.output[*at]) {
        bail!("{name}: byte {at} of the output is {}; expected {}", output[at], data.output[at]);
    }
    let mut words = |symbol: &str| -> anyhow::Result<Vec<u32>> {
        let symbol = run.symbol(symbol)?;
        let mut bytes = vec![0; symbol.size as usize];
        host.device_mut().read_memory(symbol.address, &mut bytes)?;
        Ok(bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect())
    };
    let passes = words("media_phases")?;
    let passes: Option<Vec<_>> = passes.chunks(PASS_WORDS).map(Pass::of_words).collect();
    let passes = passes.context("media_phases is no array of media_counts")?;
    // The first scalar program has none.
    let times = match run.symbol("media_times") {
        Ok(_) => words("media_times")?.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect(),
        Err(_) => Vec::new(),
    };
    let (code_bytes, code_accesses) = run.code();
    Ok((MediaMeasured { passes, code_bytes, code_accesses, times }, host.device_mut().cycle()))
}
