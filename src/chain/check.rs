//! `hermes chain check`

use hermes_rtl::config::Config;
use hermes_testbench::chain::{Chain, Function, Packet, Surroundings, END};
use hermes_testbench::words::number_of;

use super::{each_on_its_line, ChainArg};
use crate::array::ArrayArgs;
use crate::files::Files;
use crate::print;
use crate::run::MEMORY_BYTES;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    chain: ChainArg,
    /// Print the graph in the language of Graphviz instead
    #[arg(long)]
    dot: bool,
    #[command(flatten)]
    array: ArrayArgs,
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        self.chain.files()
    }
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let config = args.array.config()?;
    let (plan, _) = args.chain.read(args.files())?;
    let on = Surroundings { config: &config, memory_bytes: MEMORY_BYTES, frame_bytes: None };
    let chain = plan.place(on).map_err(each_on_its_line)?;
    chain.check_hangs(&config, None).map_err(each_on_its_line)?;
    print::line(if args.dot { plan.dot() } else { shown(&chain, &config) })
}

/// Where packets go behind a function, with the verdicts if there are several ways.
fn next_names(chain: &Chain, function: &Function) -> String {
    let edge = |(next, verdicts): (Option<usize>, Vec<String>)| {
        let name = next.map_or(END, |next| &chain.functions[next].name);
        match &verdicts[..] {
            [] => name.to_string(),
            verdicts => format!("{}: {name}", verdicts.join(", ")),
        }
    };
    let edges: Vec<_> = function.edges.labels().into_iter().map(edge).collect();
    edges.join("; ")
}

/// A placed chain as text: a row for each function, then the parts of their regions.
fn shown(chain: &Chain, config: &Config) -> String {
    let cores = |function: &Function| match function.cores {
        1 => function.first_core.to_string(),
        cores => format!("{}-{}", function.first_core, function.first_core + cores - 1),
    };
    let mut lines = vec![
        format!(
            "{} on {} of {} lanes and {}",
            number_of(chain.functions.len() as u64, "function"),
            number_of(config.cores as u64, "core"),
            config.lanes,
            number_of(config.warps as u64, "warp slot")
        ),
        format!(
            "ring of {} slots of {} bytes, stacks of {} bytes, {}",
            1_u32 << chain.ring_slots_log2,
            1_u32 << chain.slot_bytes_log2,
            1_u32 << chain.stack_bytes_log2,
            match chain.limit {
                0 => "no limit of warps in flight".to_string(),
                limit => format!("at most {} in flight", number_of(limit.into(), "warp")),
            }
        ),
        String::new(),
        format!(
            "{:<3} {:<16} {:<6} {:>4} {:>10} {:<7} {:>6}  {}",
            "NF", "name", "cores", "MCW", "watchdog", "packet", "grows", "next"
        ),
    ];
    for (number, function) in chain.functions.iter().enumerate() {
        let watchdog = if function.watchdog == 0 { "-".to_string() } else { function.watchdog.to_string() };
        let keeps = if function.guards.keeps_verdict { ", keeps the verdict before" } else { "" };
        let next = next_names(chain, function) + keeps;
        let packet = match function.packet {
            Packet::None => "none",
            Packet::Read => "read",
            Packet::Write => "write",
        };
        let row = format!(
            "{number:<3} {:<16} {:<6} {:>4} {watchdog:>10} {packet:<7} {:>6}  {next:<16}",
            function.name,
            cores(function),
            function.mcw,
            function.growth
        );
        lines.push(row.trim_end().to_string());
    }
    for function in &chain.functions {
        let region = &function.region;
        lines.push(String::new());
        let (first, last) = (region.first, region.last());
        lines.push(format!("{}: {first:#010x} to {last:#010x}, {} bytes", function.name, region.bytes));
        for part in &region.parts {
            let stores = if part.writable { ", may be stored to" } else { "" };
            lines.push(format!("  {:#010x} {:>10} bytes  {}{stores}", part.first, part.bytes, part.name));
        }
    }
    lines.join("\n")
}
