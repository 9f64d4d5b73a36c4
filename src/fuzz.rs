//! `hermes fuzz`

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{anyhow, bail, ensure};
use hermes_rtl::config::Config;
use hermes_testbench::cosim::{Latency, MemoryOptions};
use hermes_testbench::fuzz::{assemble, generate, shrink, Bench, Case, Coverage, Failure, Features};
use hermes_testbench::iss::disassemble;
use hermes_testbench::output::OutputFile;

mod firmware;

use crate::array::{self, ArrayArgs};
use crate::files::Files;
use crate::origin::Origin;
use crate::print;

/// Instructions of a thread, unless given.
const INSTRUCTIONS: u32 = 500;
/// Runs that shrinking a failure may take.
const SHRINK_RUNS: usize = 600;

#[derive(clap::Args)]
pub struct Args {
    /// Programs to run
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Programs")]
    seeds: u64,
    /// Seed of the first program; the others follow
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Programs")]
    first_seed: u64,
    #[command(flatten)]
    array: ArrayArgs,
    /// Cycles from a memory request to its response: a number, the least and the most of random
    /// ones, or DRAM timing as in `hermes run --memory`
    #[arg(long, value_name = "CYCLES|MIN-MAX|dram", default_value = "1-60", help_heading = "Surroundings")]
    latency: Latency,
    /// Chance in percent that the memory does not take a request in a cycle: 0 to 90
    #[arg(long, value_name = "PERCENT", default_value_t = 10, value_parser = clap::value_parser!(u8).range(0..=90), help_heading = "Surroundings")]
    stalls: u8,
    /// Instructions that a thread executes, about, at most: 20 to 20000, by default 500; with
    /// --firmware, instructions of all programs, at least, by default 100000
    #[arg(long, value_name = "N", help_heading = "Programs")]
    instructions: Option<u64>,
    /// Programs in machine mode on the command processor, as many as --instructions asks for,
    /// instead of packet kernels. An array without command processor gets one
    #[arg(long, conflicts_with_all = ["seeds", "packets", "rv32e", "no_faults", "watchdog", "coverage"], help_heading = "Programs")]
    firmware: bool,
    /// With --firmware: a debugger stops the harts at random, steps them, compares their registers
    /// and lets them go on
    #[arg(long, requires = "firmware", help_heading = "Programs")]
    debugger: bool,
    /// Packets of a program; by default twice as many as run at once, at most 512
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096), help_heading = "Programs")]
    packets: Option<u32>,
    /// Programs for 16 registers (RV32E) instead of 32
    #[arg(long, help_heading = "Programs")]
    rv32e: bool,
    /// Programs whose threads do not fault
    #[arg(long, help_heading = "Programs")]
    no_faults: bool,
    /// Lets the watchdog end the warps of each program that run for longer than a random number of
    /// cycles, at most this
    #[arg(long, value_name = "CYCLES", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..1 << 31), help_heading = "Programs")]
    watchdog: u32,
    /// Counts of instructions, hazards and faults as JSON
    #[arg(short = 'o', visible_alias = "output", long, value_name = "FILE", help_heading = "Outputs")]
    coverage: Option<PathBuf>,
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        Files::default().output("--coverage", self.coverage.as_deref())
    }
}

/// The JSON file, but for where it comes from: what was run on which array, and what the programs
/// had.
#[derive(serde::Serialize)]
struct Programs<'a> {
    seeds: u64,
    first_seed: u64,
    /// Instructions of a thread, about, at most.
    instructions_of_a_thread: u32,
    packets: u32,
    rv32e: bool,
    /// Whether threads may fault.
    with_faults: bool,
    watchdog: u32,
    latency: String,
    stalls: u8,
    configuration: &'a Config,
    #[serde(flatten)]
    coverage: serde_json::Value,
}

/// What a program may use.
fn features(args: &Args, config: &Config) -> Features {
    Features {
        atomics: config.atomics,
        compare_and_swap: config.compare_and_swap,
        network: config.network,
        local_window: config.local_window,
        embedded: args.rv32e,
        faults: !args.no_faults,
        ..Features::ALL
    }
}

/// Instructions of a thread.
fn instructions(args: &Args) -> anyhow::Result<u32> {
    let wanted = args.instructions.unwrap_or(INSTRUCTIONS.into());
    let possible = u32::try_from(wanted).ok().filter(|wanted| (20..=20_000).contains(wanted));
    possible.ok_or_else(|| anyhow!("--instructions {wanted}: expected 20 to 20000"))
}

/// The array: with everything that programs may use, and the trace that the checker needs.
fn config(args: &Args) -> anyhow::Result<Config> {
    Ok(Config { aes: true, trace: true, ..args.array.config()? })
}

/// Packets of a program.
fn packets(args: &Args, config: &Config) -> u32 {
    let at_once = (config.cores * config.lanes * config.warps) as u32;
    args.packets.unwrap_or((2 * at_once).clamp(1, 512))
}

/// The program of a seed.
fn case(args: &Args, config: &Config, packets: u32, seed: u64) -> anyhow::Result<Case> {
    let lanes_log2 = config.lanes.trailing_zeros();
    let bytes = Bench::frame_bytes();
    // Where lanes can go to a trap entry, they do so often in every second program.
    let traps = config.spawn_slots > 0 && !args.no_faults && seed % 2 == 1;
    let features = Features { traps, ..features(args, config) };
    Ok(generate(seed, features, lanes_log2, packets, bytes, instructions(args)?))
}

pub fn execute(args: &Args, quiet: bool) -> anyhow::Result<()> {
    if args.firmware {
        return firmware::execute(args, quiet);
    }
    let config = config(args)?;
    let packets = packets(args, &config);
    instructions(args)?;
    ensure!(args.first_seed.checked_add(args.seeds).is_some(), "--first-seed {}: too large", args.first_seed);
    let mut output = args.coverage.as_deref().map(OutputFile::create).transpose()?;
    let memory =
        MemoryOptions { latency: args.latency, stall_percent: args.stalls, ..MemoryOptions::default() };
    let mut bench = Bench::new(array::library(&config, false, quiet, |_| {})?, config.clone(), memory);
    bench.set_watchdog(args.watchdog);
    let features = features(args, &config);

    let began = Instant::now();
    let bar = print::progress(args.seeds, quiet);
    let mut coverage = Coverage::default();
    let (mut retired, mut lanes, mut compared, mut cycles) = (0, 0, 0, 0);
    for seed in args.first_seed..args.first_seed + args.seeds {
        let case = case(args, &config, packets, seed)?;
        match bench.run(&case, seed) {
            Ok(outcome) => {
                retired += outcome.warp_instructions;
                lanes += outcome.lane_instructions;
                compared += outcome.compared;
                cycles += outcome.cycles;
                coverage.merge(&outcome.coverage);
            }
            Err(failure) => {
                bar.finish_and_clear();
                // Not the program's fault, and nothing that can be shrunk.
                ensure!(!hermes_interrupt::is_requested(), "seed {seed} was under way");
                return report(args, &config, &bench, &case, seed, &failure);
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(output) = &mut output {
        let programs = Programs {
            seeds: args.seeds,
            first_seed: args.first_seed,
            instructions_of_a_thread: instructions(args)?,
            packets,
            rv32e: args.rv32e,
            with_faults: !args.no_faults,
            watchdog: args.watchdog,
            latency: args.latency.to_string(),
            stalls: args.stalls,
            configuration: &config,
            coverage: coverage.to_json(&features),
        };
        output.write_json(&Origin::of(&args.files()).with(&programs))?;
    }
    output.map(OutputFile::commit).transpose()?;
    let how = match compared {
        0 => "memory, verdicts, fault records and counters after each program".to_string(),
        _ => format!("{compared} warp-instructions lane by lane (boot sequence and EXIT included), and the memory after each program"),
    };
    print::line(format!(
        "programs             {}, seeds {} to {}\n\
         warp-instructions    {retired} retired ({lanes} lane-instructions, SIMD efficiency {:.3}) in {cycles} cycles\n\
         compared             {how}\n\
         differences          0\n\
         time                 {:.1} s\n\
         {}",
        args.seeds,
        args.first_seed,
        args.first_seed + args.seeds.saturating_sub(1),
        lanes as f64 / (retired.max(1) * config.lanes as u64) as f64,
        began.elapsed().as_secs_f64(),
        coverage.table(&features)
    ))
}

/// Shrinks a failing program and prints it.
fn report(
    args: &Args,
    config: &Config,
    bench: &Bench,
    case: &Case,
    seed: u64,
    failure: &Failure,
) -> anyhow::Result<()> {
    log::warn!("seed {seed} fails, shrinking it: {failure}");
    let mut smallest = None;
    let small = shrink(case, SHRINK_RUNS, |candidate| match bench.run(candidate, seed) {
        Err(found) if found.is_like(failure) => {
            smallest = Some(found.to_string());
            true
        }
        _ => false,
    });
    let words = assemble(&small.program);
    let isa = small.program.features.isa();
    let listing = (bench.code_base(seed)..).step_by(4).zip(&words);
    let listing: String = listing
        .map(|(pc, word)| format!("{pc:8x}:  {word:08x}  {}\n", disassemble(pc, *word, &isa)))
        .collect();
    print::line(format!(
        "smallest program found ({} packets, {} statements):\n{listing}\n{}\n",
        small.frames.len(),
        small.program.size(),
        smallest.unwrap_or_else(|| failure.to_string())
    ))?;
    bail!("seed {seed}: {failure}\nrepeat it with: {}", command(args, config, case, seed)?)
}

/// The command that runs this seed alone.
fn command(args: &Args, config: &Config, case: &Case, seed: u64) -> anyhow::Result<String> {
    Ok(format!(
        "hermes fuzz --seeds 1 --first-seed {seed} {} --latency {} --stalls {} --instructions {} --packets {} \
         --watchdog {}{}{}",
        array::arguments(config)?,
        args.latency,
        args.stalls,
        args.instructions.unwrap_or(INSTRUCTIONS.into()),
        case.program.packets,
        args.watchdog,
        if args.rv32e { " --rv32e" } else { "" },
        if args.no_faults { " --no-faults" } else { "" },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        fuzz: Args,
    }

    /// The options of a command `hermes fuzz`.
    pub fn parsed(command: &str) -> Args {
        Line::try_parse_from(command.split_whitespace().skip(1)).unwrap_or_else(|e| panic!("{e}")).fuzz
    }

    #[test]
    fn a_failure_is_repeated_with_the_same_array_and_surroundings() {
        for options in [
            "hermes fuzz --preset node --local-window --net-domains 2 --net-queue-entries 4 --fault-output --warps 4",
            "hermes fuzz --preset pangaea --command-threads 0 --rv32e --no-faults --stalls 30 --latency 7",
            "hermes fuzz --oldest-first --packet-ports --instruction-cache-ways 2 --watchdog 3000 --packets 9",
        ] {
            let args = parsed(options);
            let config = config(&args).unwrap();
            let packets = packets(&args, &config);
            let case = case(&args, &config, packets, 77).unwrap();
            let text = command(&args, &config, &case, 77).unwrap();
            let again = parsed(&text);
            assert_eq!(super::config(&again).unwrap(), config, "{text}");
            let case_again = super::case(&again, &config, super::packets(&again, &config), 77).unwrap();
            assert_eq!(assemble(&case_again.program), assemble(&case.program), "{text}");
            assert_eq!((again.seeds, again.first_seed), (1, 77), "{text}");
            let surroundings = |args: &Args| (args.latency.to_string(), args.stalls, args.watchdog);
            assert_eq!(surroundings(&again), surroundings(&args), "{text}");
        }
    }
}
