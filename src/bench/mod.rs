//! `hermes bench`: measures the product. Every figure stands beside its limit and its goal.

mod apps;
mod chain;
mod core;
mod cost;
mod emit;
mod fig7;
mod figure;
mod interrupts;
mod memory;
mod net;
mod packet_run;
mod sim;
mod spawn;
mod times;
mod workload;

use std::path::PathBuf;

use hermes_rtl::config::Config;
use hermes_testbench::output::OutputFile;

use crate::files::Files;
use crate::origin::Origin;
use crate::print;
use figure::{table, Figure};

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// Write the figures as JSON: `figures`, an array of {name, value, unit, limit, goal}, and the
    /// configurations and the seed that they are of
    #[arg(
        short = 'o',
        visible_alias = "output",
        long,
        global = true,
        value_name = "FILE",
        help_heading = "Outputs"
    )]
    json: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Time to write the array as Verilog, and its modules
    Emit(emit::Args),
    /// Speed of the simulated array with all warps busy, and time to build its model
    Sim(sim::Args),
    /// LUTs, registers, block RAMs and multipliers of a core on an ECP5, and its clock
    Cost(cost::Args),
    /// Instructions per cycle of a core on integer code, and what divergence costs
    Core(core::Args),
    /// Throughput of dec-ttl beside the limit that the memory sets, bandwidth of a stream, and what
    /// latency costs
    Memory(memory::Args),
    /// Throughput of every app with 64-byte and IMIX packets, and what a packet costs
    Apps(apps::Args),
    /// Chains of network functions: the hop from one to the next, a lone packet, rates of the
    /// chains of the G-NET paper, and what the option costs an app that is alone
    Chain(chain::Args),
    /// How quickly a job of the thread spawner starts, alone and beside packets
    Spawn(spawn::Args),
    /// How quickly the command processor reacts to a write: polling and user-level interrupts side
    /// by side
    Interrupts(interrupts::Args),
    /// What two nodes put into each other's memory a second, beside what the wire carries, without
    /// loss and with it
    Net(net::Args),
    /// What of the commands that wait for the network interface the L2 still has, beside warps that
    /// stream: with the line lock and without
    Fig7(fig7::Args),
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        Files::default().output("--json", self.json.as_deref())
    }
}

/// What the figures were measured on.
#[derive(Default, serde::Serialize)]
struct Subject {
    /// The whole configuration of every array or command processor; none of a core alone.
    configurations: Vec<Config>,
    /// Seed of packets, tables, times or losses; none if nothing is random.
    seed: Option<u64>,
}

impl Subject {
    /// Notes an array that is measured, once.
    fn add(&mut self, config: &Config) {
        if !self.configurations.contains(config) {
            self.configurations.push(config.clone());
        }
    }
}

/// The JSON file, but for where it comes from.
#[derive(serde::Serialize)]
struct Figures<'a> {
    #[serde(flatten)]
    subject: &'a Subject,
    figures: &'a [Figure],
}

pub fn execute(args: &Args, quiet: bool) -> anyhow::Result<()> {
    let mut json = args.json.as_deref().map(OutputFile::create).transpose()?;
    let mut subject = Subject::default();
    let on = &mut subject;
    let figures: Vec<Figure> = match &args.command {
        Command::Emit(args) => emit::measure(args, on)?,
        Command::Sim(args) => sim::measure(args, on, quiet)?,
        Command::Cost(args) => cost::measure(args, on, quiet)?,
        Command::Core(args) => core::measure(args, on, quiet)?,
        Command::Memory(args) => memory::measure(args, on, quiet)?,
        Command::Apps(args) => apps::measure(args, on, quiet)?,
        Command::Chain(args) => chain::measure(args, on, quiet)?,
        Command::Spawn(args) => spawn::measure(args, on, quiet)?,
        Command::Interrupts(args) => interrupts::measure(args, on, quiet)?,
        Command::Net(args) => net::measure(args, on, quiet)?,
        Command::Fig7(args) => fig7::measure(args, on, quiet)?,
    };
    if let Some(json) = &mut json {
        json.write_json(&Origin::of(&args.files()).with(&Figures { subject: &subject, figures: &figures }))?;
    }
    json.map(OutputFile::commit).transpose()?;
    print::line(table(&figures))
}
