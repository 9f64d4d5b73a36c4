//! `hermes bench fig7`: what of the commands that wait for the network interface the L2 still has
//! when they are read, beside warps that stream, with the line lock and without (ComP-Net, figure
//! 7).
//!
//! What a run does: [`LineLock`].

use anyhow::ensure;
use hermes_rtl::config::Config;
use hermes_testbench::cluster::{LineLock, LineLockMet};
use hermes_testbench::cosim::{KernelImage, Latency};
use hermes_testbench::kernel::{build_source, Kernel, RegisterClass};
use hermes_testbench::staging::temporary_folder;

use super::figure::{Bound, Figure};
use super::times::Times;
use super::Subject;
use crate::array;

const SOURCE: &str = include_str!("../../kernels-asm/bench/rings.S");
/// Fewest lines of a bank, and fewest cycles of a service.
const LINES: usize = 64;
const SERVICE: u32 = 600;

#[derive(clap::Args)]
pub struct Args {
    /// Lines of a bank of the L2, of which the node has two: a power of two; with 64, which are the
    /// fewest, services below 1,200 cycles are left out. A quarter of all lines are sets
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "128,256,512")]
    l2_lines: Vec<usize>,
    /// Cycles from a command to its service
    #[arg(long, value_name = "CYCLES,...", value_delimiter = ',', default_value = "600,1200,2400,4800")]
    service: Vec<u32>,
    /// Commands of a ring that wait for their service; not more than one for each 600 cycles of it,
    /// since a warp needs so many for one
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,4")]
    waiting: Vec<u32>,
    /// Warps that write commands, of 8; the others stream
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=7))]
    warps: u32,
    /// Lane 0 of a warp writes its commands, a word at a time; else the lanes write them together
    #[arg(long)]
    leader: bool,
    /// Commands of each warp
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(10..=10_000))]
    commands: u32,
    /// Cycles from a memory request to its response
    #[arg(long, value_name = "CYCLES", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    latency: u32,
}

pub fn measure(args: &Args, on: &mut Subject, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    for waiting in &args.waiting {
        ensure!((1..=32).contains(waiting), "waiting: {waiting} is not possible; expected 1 to 32");
    }
    for service in &args.service {
        ensure!(
            (SERVICE..=100_000).contains(service),
            "service: {service} is not possible; expected {SERVICE} to 100000"
        );
    }
    for lines in &args.l2_lines {
        ensure!(*lines >= LINES, "l2-lines: {lines} is not possible; expected {LINES} or more");
        let needed = LineLock::least_service(*lines, 1);
        let least = args.service.iter().any(|service| *service >= needed);
        ensure!(
            least,
            "service: with {lines} lines of a bank a command takes up to {needed} cycles; expected as many or more"
        );
    }
    let folder = temporary_folder("hermes-")?;
    let path = folder.path().join("rings.elf");
    build_source("rings.S", SOURCE, RegisterClass::Rv32e, &path)?;
    let kernel = KernelImage::from(&Kernel::read(&path)?);
    let mut figures = Vec::new();
    let mut least_without = 1.0_f64;
    // What the commands met at worst with the lock, for each number that wait
    let mut worst: Vec<Option<LineLockMet>> = args.waiting.iter().map(|_| None).collect();
    for lines in &args.l2_lines {
        let config = Config { l2_bank_lines: *lines, ..Config::preset("node")? };
        config.validate()?;
        on.add(&config);
        let sets = config.l2_banks * lines / config.l2_ways;
        let library = array::library(&config, false, quiet, |_| {})?;
        for (waiting, worst) in args.waiting.iter().zip(&mut worst) {
            let least = LineLock::least_service(*lines, *waiting);
            for service in args.service.iter().filter(|service| **service >= least) {
                let Args { warps, commands, leader, .. } = *args;
                let run = |lock: bool| {
                    let (waiting, service) = (*waiting, *service);
                    let bench = LineLock { warps, commands, leader, waiting, service, lock };
                    bench.run(&library, &kernel, Latency::Fixed(args.latency))
                };
                let (without, with) = (run(false)?, run(true)?);
                log::info!(
                    "{sets} sets, {waiting} waiting, {service} cycles: refused {}, expired {}",
                    with.refused,
                    with.expired
                );
                ensure!(without.refused + without.expired == 0, "a lock that is off refused or expired");
                let name = format!("{sets}_sets_{waiting}_waiting_service_{service}");
                figures.push(Figure::new(format!("{name}_unlocked"), without.hits, ""));
                figures.push(Figure::new(format!("{name}_locked"), with.hits, ""));
                least_without = least_without.min(without.hits);
                if worst.as_ref().is_none_or(|worst| with.hits < worst.hits) {
                    *worst = Some(with);
                }
            }
        }
    }
    figures.push(Figure::new("unlocked_worst", least_without, "").limit(Bound::AtMost(0.5)));
    for (waiting, met) in args.waiting.iter().zip(worst) {
        let Some(LineLockMet { hits, times, .. }) = met else { continue };
        let times = Times::of(&times);
        let figure = Figure::new(format!("locked_worst_{waiting}_waiting"), hits, "");
        figures.push(match waiting {
            1 => figure.limit(Bound::AtLeast(0.95)).goal(Bound::AtLeast(0.99)),
            _ => figure,
        });
        figures.push(Figure::new(format!("held_{waiting}_waiting_p50"), times.p50, "cycles"));
        figures.push(Figure::new(format!("held_{waiting}_waiting_p99"), times.p99, "cycles"));
    }
    Ok(figures)
}
