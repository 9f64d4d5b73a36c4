//! `hermes fuzz --firmware`: random programs in machine mode on the command processor, in lock-step
//! with the reference simulator.

use std::time::Instant;

use anyhow::bail;
use hermes_rtl::config::Config;
use hermes_testbench::command::{CommandBench, Seen};
use hermes_testbench::cosim::{Host, MemoryOptions, Simulation};
use hermes_testbench::harts::machine::{machine_program, Abilities, Style};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use super::Args;
use crate::array;
use crate::print;

/// Blocks of a program.
const BLOCKS: usize = 150;
/// Lines of the data cache, unless given: few, so that lines are displaced.
const CACHE_LINES: usize = 16;
/// Cycles that a program may take.
const LIMIT: u64 = 20_000_000;
/// Programs that run one after the other on an array before it is reset.
const PROGRAMS: u64 = 16;
/// Bytes of the shared memory.
const MEMORY_BYTES: u64 = 1 << 24;
/// Instructions of all programs, unless given.
const INSTRUCTIONS: u64 = 100_000;

/// Channels of a hart, unless given.
const CHANNELS: usize = 2;

/// The array: that of the options, with a command processor that has all it can have unless an
/// option says less, and its trace.
fn config(args: &Args) -> anyhow::Result<Config> {
    let mut config = args.array.config()?;
    config.command_threads = config.command_threads.max(1);
    config.atomics = true;
    if config.command_cache_lines == 0 {
        config.command_cache_lines = args.array.given("command_cache_lines").unwrap_or(CACHE_LINES);
    }
    if config.uli_channels == 0 {
        config.uli_channels = args.array.given("uli_channels").unwrap_or(CHANNELS);
    }
    config.trace = true;
    config.validate()?;
    Ok(config)
}

/// Runs programs until so many instructions were compared.
pub fn execute(args: &Args, quiet: bool) -> anyhow::Result<()> {
    let config = config(args)?;
    let wanted = args.instructions.unwrap_or(INSTRUCTIONS);
    let abilities = Abilities::of(&config);
    let style = Style::of(&config);
    let library = array::library(&config, false, quiet, |_| {})?;
    let began = Instant::now();
    let bar = print::progress(wanted, quiet);
    let (mut total, mut cycles, mut steps, mut runs) = (Seen::default(), 0, 0, 0);
    let mut host = None;
    while total.instructions < wanted {
        let seed = args.first_seed + runs;
        let memory = MemoryOptions {
            latency: args.latency,
            stall_percent: args.stalls,
            seed,
            ..MemoryOptions::default()
        };
        let bench = CommandBench::new(library.clone(), memory.clone(), abilities).going_on_at_break();
        let bench = if args.debugger { bench.debugged(seed) } else { bench };
        if runs % PROGRAMS == 0 {
            host = Some(Host::new(Simulation::new(library.instantiate()?, MEMORY_BYTES, memory)?)?);
        }
        let Some(host) = &mut host else { continue };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let programs: Vec<_> = (0..config.command_threads as u32)
            .map(|hart| {
                let style = if config.command_threads > 1 { style.of_hart(hart) } else { style };
                machine_program(&mut random, BLOCKS, style).executable
            })
            .collect();
        let ended = match bench.run_harts_on(host, &programs, LIMIT) {
            Ok(ended) => ended,
            Err(error) => bail!("seed {seed}: {error}\nrepeat it with: {}", command(args, &config, seed)?),
        };
        total += ended.seen;
        cycles += ended.cycles;
        steps += ended.steps;
        runs += 1;
        bar.set_position(total.instructions);
    }
    bar.finish_and_clear();
    print::line(format!(
        "programs             {}, one for each of {} harts, seeds {} to {}\n\
         instructions         {} compared one by one in {cycles} cycles, and the memory after each program\n\
         exceptions           {}\n\
         interrupts           {} of machine mode, {} of them external; {} in user level, {} of them by doorbells\n\
         steps of a debugger  {steps}\n\
         differences          0\n\
         time                 {:.1} s",
        runs * config.command_threads as u64,
        config.command_threads,
        args.first_seed,
        args.first_seed + runs.saturating_sub(1),
        total.instructions,
        total.exceptions,
        total.interrupts,
        total.external,
        total.user_interrupts,
        total.events,
        began.elapsed().as_secs_f64(),
    ))
}

/// The command that runs the programs of this seed alone.
fn command(args: &Args, config: &Config, seed: u64) -> anyhow::Result<String> {
    Ok(format!(
        "hermes fuzz --firmware{} --instructions 1 --first-seed {seed} {} --latency {} --stalls {}",
        if args.debugger { " --debugger" } else { "" },
        array::arguments(config)?,
        args.latency,
        args.stalls
    ))
}

#[cfg(test)]
mod tests {
    use super::super::tests::parsed;
    use super::*;

    #[test]
    fn a_failure_is_repeated_with_the_same_array_and_surroundings() {
        for options in [
            "hermes fuzz --firmware",
            "hermes fuzz --firmware --debugger --preset pangaea --command-instruction-cache-ways 2 --stalls 40",
            "hermes fuzz --firmware --preset node --command-cache-lines 0 --latency 3-9 --uli-channels 4",
        ] {
            let args = parsed(options);
            let text = command(&args, &config(&args).unwrap(), 5).unwrap();
            let again = parsed(&text);
            assert_eq!(config(&again).unwrap(), config(&args).unwrap(), "{text}");
            let surroundings = |args: &Args| (args.latency.to_string(), args.stalls, args.debugger);
            assert_eq!(surroundings(&again), surroundings(&args), "{text}");
            assert_eq!((again.first_seed, again.instructions, again.firmware), (5, Some(1), true), "{text}");
        }
    }
}
