//! The `hermes` command: emits the array as Verilog, runs captures through it, builds kernels, makes traffic.

mod apps;
mod array;
mod bench;
mod emit;
mod fuzz;
mod gen_routes;
mod gen_rules;
mod gen_trace;
mod iss;
mod kernel;
mod print;
mod run;
mod timeline;

use std::process::ExitCode;

use clap::{ArgAction, Parser, Subcommand};

/// A packet-processing SIMT array: emit it as Verilog, run captures through it, measure it.
#[derive(Parser)]
#[command(name = "hermes", version, arg_required_else_help = true)]
struct Cli {
    /// Say more: once for what is done, twice for every command that is started
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,
    /// Say nothing but results and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write the array as Verilog, with a manifest of its configuration and ports
    Emit(emit::Args),
    /// Run a capture through the array, cycle by cycle, and print throughput and delays
    Run(Box<run::Args>),
    /// Build packet kernels and show what is in them
    #[command(subcommand)]
    Kernel(kernel::Command),
    /// Run a program alone on the reference simulator of the instruction set
    Iss(iss::Args),
    /// Run random programs on the array and compare it with the reference simulator
    Fuzz(fuzz::Args),
    /// List the apps with the inputs that they take
    Apps,
    /// Make a routing table with the prefix lengths of a BGP table
    GenRoutes(gen_routes::Args),
    /// Make filters with the statistics of ClassBench, or rules with those of Snort
    GenRules(gen_rules::Args),
    /// Make traffic: a capture of valid packets, with a share of bad headers on request
    GenTrace(gen_trace::Args),
    /// Measure the product: every figure beside its limit and goal
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let level = match (cli.quiet, cli.verbose) {
        (true, _) => log::LevelFilter::Error,
        (false, 0) => log::LevelFilter::Warn,
        (false, 1) => log::LevelFilter::Info,
        (false, _) => log::LevelFilter::Debug,
    };
    env_logger::Builder::new()
        .filter_level(level)
        .parse_env("HERMES_LOG")
        .format_timestamp(None)
        .format_target(false)
        .init();
    let result = match cli.command {
        Command::Emit(args) => emit::execute(&args),
        Command::Run(args) => run::execute(&args, cli.quiet),
        Command::Kernel(command) => kernel::execute(command),
        Command::Iss(args) => iss::execute(&args),
        Command::Fuzz(args) => fuzz::execute(&args, cli.quiet),
        Command::Apps => apps::execute(),
        Command::GenRoutes(args) => gen_routes::execute(&args),
        Command::GenRules(args) => gen_rules::execute(&args),
        Command::GenTrace(args) => gen_trace::execute(&args, cli.quiet),
        Command::Bench(args) => bench::execute(&args, cli.quiet),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if print::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
