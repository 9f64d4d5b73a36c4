//! The `hermes` command: emits the array as Verilog, runs captures through it, builds kernels,
//! makes traffic.

mod apps;
mod array;
mod bench;
mod cache;
mod chain;
mod cluster;
mod compare;
mod compile;
mod debug;
mod emit;
mod examples;
mod exp;
mod files;
mod firmware;
mod fpga;
mod fuzz;
mod gdb;
mod gen_media;
mod gen_routes;
mod gen_rules;
mod gen_trace;
mod interrupt;
mod iss;
mod kernel;
mod model;
mod nf;
mod origin;
mod print;
mod profile;
mod reference;
mod run;
mod shell;
mod timeline;

use std::io;
use std::process::ExitCode;

use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};
use hermes_testbench::cosim::CosimError;

use files::Files;

/// A packet-processing SIMT array: emit it as Verilog, run captures through it, measure it.
#[derive(Parser)]
#[command(name = "hermes", version = origin::VERSION, arg_required_else_help = true)]
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
    /// Run a capture like `run`, and tell where the cycles of the warps go: by source line,
    /// function and reason
    Profile(Box<profile::Args>),
    /// Run a kernel on several arrays with network interfaces and a switch between them
    Cluster(Box<cluster::Args>),
    /// Build packet kernels and show what is in them
    #[command(subcommand)]
    Kernel(kernel::Command),
    /// Check chains of network functions and run captures through them
    #[command(subcommand)]
    Chain(chain::Command),
    /// Measure network functions by themselves
    #[command(subcommand)]
    Nf(nf::Command),
    /// Build firmware for the command processor and show what is in it
    #[command(subcommand)]
    Firmware(firmware::Command),
    /// Make bitstreams of the array for FPGA boards, run packets through a board, or simulate one
    #[command(subcommand)]
    Fpga(fpga::Command),
    /// Run a packet, or a program alone, on the reference simulator of the instruction set
    Iss(Box<iss::Args>),
    /// Debug a kernel with GDB, on a packet of a capture, on the reference simulator
    Debug(Box<debug::Args>),
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
    /// Make data for a workload of the Pangaea paper, and what must come out
    GenMedia(gen_media::Args),
    /// Show the models of arrays that were built, or remove them
    #[command(subcommand)]
    Cache(cache::Command),
    /// Compare two reports: every figure that differs, and every option
    Compare(compare::Args),
    /// Measure the product: every figure beside its limit and goal
    Bench(bench::Args),
    /// Reproduce figures of the papers: plans of simulations, the simulations, a page with plots
    #[command(subcommand)]
    Exp(exp::Command),
    /// Make a plan of your own: all combinations of values of parameters
    Sweep(exp::SweepArgs),
    /// Predict delays: calibrate a model of an array, check it, search arrays with it
    #[command(subcommand)]
    Model(model::Command),
    /// Print a script that completes command lines of a shell
    Completions(shell::CompletionArgs),
    /// Write manual pages
    Man(shell::ManArgs),
}

impl Command {
    /// What the command reads and writes.
    fn files(&self) -> Files {
        match self {
            Self::Run(args) => args.files(),
            Self::Profile(args) => args.files(),
            Self::Cluster(args) => args.files(),
            Self::Kernel(command) => command.files(),
            Self::Chain(command) => command.files(),
            Self::Nf(command) => command.files(),
            Self::Firmware(command) => command.files(),
            Self::Fpga(command) => command.files(),
            Self::Iss(args) => args.files(),
            Self::Debug(args) => args.files(),
            Self::Fuzz(args) => args.files(),
            Self::GenRoutes(args) => args.files(),
            Self::GenRules(args) => args.files(),
            Self::GenTrace(args) => args.files(),
            Self::GenMedia(args) => args.files(),
            Self::Compare(args) => args.files(),
            Self::Bench(args) => args.files(),
            Self::Exp(command) => command.files(),
            Self::Sweep(args) => args.files(),
            Self::Model(command) => command.files(),
            Self::Emit(args) => args.files(),
            Self::Man(args) => args.files(),
            Self::Apps | Self::Cache(_) | Self::Completions(_) => Files::default(),
        }
    }

    /// Does it; `files` are those of [`Self::files`].
    fn execute(self, files: &Files, quiet: bool) -> anyhow::Result<()> {
        files.check()?;
        match self {
            Self::Emit(args) => emit::execute(&args),
            Self::Run(args) => run::execute(&args, quiet),
            Self::Profile(args) => profile::execute(*args, quiet),
            Self::Cluster(args) => cluster::execute(&args, quiet),
            Self::Kernel(command) => kernel::execute(command),
            Self::Chain(command) => chain::execute(&command, quiet),
            Self::Nf(command) => nf::execute(&command, quiet),
            Self::Firmware(command) => firmware::execute(command),
            Self::Fpga(command) => fpga::execute(command, quiet),
            Self::Iss(args) => iss::execute(&args),
            Self::Debug(args) => debug::execute(&args),
            Self::Fuzz(args) => fuzz::execute(&args, quiet),
            Self::Apps => apps::execute(),
            Self::GenRoutes(args) => gen_routes::execute(&args),
            Self::GenRules(args) => gen_rules::execute(&args),
            Self::GenTrace(args) => gen_trace::execute(&args, quiet),
            Self::GenMedia(args) => gen_media::execute(&args),
            Self::Cache(command) => cache::execute(&command),
            Self::Compare(args) => compare::execute(&args),
            Self::Bench(args) => bench::execute(&args, quiet),
            Self::Exp(command) => exp::execute(&command, quiet),
            Self::Sweep(args) => exp::sweep(&args),
            Self::Model(command) => model::execute(&command, quiet),
            Self::Completions(args) => shell::completions(&args, command()),
            Self::Man(args) => shell::man(&args, command()),
        }
    }
}

/// The command line that there is, with examples.
fn command() -> clap::Command {
    examples::add_to(Cli::command())
}

/// Prints the help, the version or what is wrong with the arguments; gives clap's exit code.
fn explain(error: &clap::Error) -> ExitCode {
    match error.print() {
        Err(failure) if !error.use_stderr() && failure.kind() != io::ErrorKind::BrokenPipe => {
            print::error(format_args!("standard output: {failure}"));
            ExitCode::FAILURE
        }
        // What cannot be told on standard error is told by the exit code.
        _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1)),
    }
}

fn main() -> ExitCode {
    let cli = match command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
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
    if let Err(error) = interrupt::listen() {
        log::warn!("signals end the command at once: {error}");
    }
    let temporary = interrupt::temporary_folder();
    let files = cli.command.files();
    let result = cli.command.execute(&files, cli.quiet);
    drop(temporary);
    if let (Err(error), Some(signal)) = (&result, hermes_interrupt::signal()) {
        // Programs that were ended only say that they were.
        let ended =
            error.chain().any(|cause| matches!(cause.downcast_ref(), Some(CosimError::Interrupted { .. })));
        let more = if ended { format!(": {error:#}") } else { String::new() };
        print::error(format_args!("{}{more}", interrupt::message(signal)));
        return ExitCode::from(interrupt::code(signal));
    }
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if print::is_unread(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<print::Exit>() => {
            ExitCode::from(error.downcast_ref::<print::Exit>().map_or(1, |exit| exit.0))
        }
        Err(error) => {
            print::error(files.with_option(format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}
