//! `hermes debug`

use anyhow::bail;
use gdbstub::stub::DisconnectReason;
use hermes_testbench::reference::Debugger;

mod lanes;

use crate::files::Files;
use crate::gdb;
use crate::reference::{run_to_the_end, PacketArgs, Prepared};
use lanes::Lanes;

/// The option, for errors.
const OPTION: &str = "--port";
/// Instructions that a warp may take without a debugger: before the packet's warp, and when the
/// debugger has gone.
const MOST_INSTRUCTIONS: u64 = 100_000_000;

#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("capture").arg("pcap").required(true))]
pub struct Args {
    #[command(flatten)]
    packet: PacketArgs,
    /// Port of localhost on which to wait for GDB (`target remote localhost:PORT`); 0: any free
    /// port, which is printed
    #[arg(long, value_name = "PORT", default_value_t = 0, help_heading = "Debugger")]
    port: u16,
    /// Breakpoints and watchpoints stop the packet's lane alone; its neighbours pass them. Faults
    /// stop any lane
    #[arg(long, help_heading = "Debugger")]
    one_lane: bool,
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        self.packet.files()
    }
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let Prepared { run, rest } = args.packet.prepare(MOST_INSTRUCTIONS)?;
    let listener = gdb::listen(OPTION, args.port)?;
    let stream = gdb::accept(OPTION, listener, args.packet.kernel())?;
    let lane = rest.packet.lane;
    let mut debugger = Debugger::new(run);
    debugger.prefer(lane);
    if args.one_lane {
        debugger.stop_only(1 << lane);
    }
    let mut lanes = Lanes::new(debugger, lane, &rest.program.kernel);
    let count = lanes.count();
    let reason = gdb::serve(OPTION, stream, &mut lanes, count)?;
    let mut run = lanes.into_run();
    match reason {
        DisconnectReason::Kill => bail!("{}: the debugger ended it", rest.program.name),
        // The debugger has gone, and the warp goes on.
        _ => run_to_the_end(&mut run, MOST_INSTRUCTIONS, &rest.program, |_, _| Ok(()))?,
    }
    rest.finish(run)
}
