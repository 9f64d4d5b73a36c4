//! `hermes fpga simulate`

use std::os::fd::OwnedFd;
use std::time::Duration;

use anyhow::{ensure, Context};
use hermes_fpga::board::Pins;
use hermes_fpga::flow::{self, Tool};
use hermes_hdl::emit::Design;
use hermes_testbench::board::{BoardPins, BoardSimulation, LineNoise};
use hermes_testbench::staging::temporary_folder;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pty::{grantpt, openpt, ptsname, unlockpt, OpenptFlags};
use rustix::termios::{tcgetattr, tcsetattr, OptionalActions};
use verilator_sys::ModelOptions;

use super::target::TargetArgs;
use crate::{array, print};

/// Cycles between two looks at the terminal.
const LOOK: u64 = 512;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// Probability that a bit on the serial line is wrong, in both directions: 0 to 0.1
    #[arg(long, value_name = "P", default_value_t = 0.0, value_parser = probability)]
    bit_errors: f64,
    /// Where the errors begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Go on when the terminal was closed, and wait for the next who opens it
    #[arg(long)]
    stay: bool,
    /// Simulate what Yosys makes of the Verilog for the board's device: its LUTs, flip-flops,
    /// memories and multipliers
    #[arg(long)]
    netlist: bool,
}

fn probability(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "expected a number, 0 to 0.1".to_string())?;
    (0.0..=0.1).contains(&value).then_some(value).ok_or_else(|| "expected 0 to 0.1".to_string())
}

/// The host's end of the serial line.
struct Terminal {
    master: OwnedFd,
    /// What the board sent and the terminal has not taken.
    unsent: Vec<u8>,
}

impl Terminal {
    /// A new pseudo-terminal that passes bytes as they are; its name.
    fn open() -> anyhow::Result<(Self, String)> {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).context("cannot open a pseudo-terminal")?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?.into_string()?;
        let mut attributes = tcgetattr(&master)?;
        attributes.make_raw();
        tcsetattr(&master, OptionalActions::Now, &attributes)?;
        let flags = rustix::fs::fcntl_getfl(&master)?;
        rustix::fs::fcntl_setfl(&master, flags | OFlags::NONBLOCK)?;
        Ok((Self { master, unsent: Vec::new() }, name))
    }

    /// What the host has written; nothing if nobody has the terminal open.
    fn read(&self, buffer: &mut [u8]) -> anyhow::Result<Option<usize>> {
        match rustix::io::read(&self.master, buffer) {
            Ok(count) => Ok(Some(count)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Some(0)),
            Err(Errno::IO) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives the host what it takes.
    fn write(&mut self) -> anyhow::Result<()> {
        while !self.unsent.is_empty() {
            match rustix::io::write(&self.master, &self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(Errno::AGAIN | Errno::INTR) => break,
                // Nobody is there any more.
                Err(Errno::IO) => self.unsent.clear(),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// The design after synthesis.
fn netlist(design: &Design, quiet: bool) -> anyhow::Result<String> {
    let yosys = Tool::yosys()?;
    let folder = temporary_folder("hermes-")?;
    let spinner = print::spinner(quiet);
    spinner.set_message("synthesis");
    flow::synthesize(&yosys, folder.path(), &design.verilog(), &design.top)?;
    let text = flow::simulation_netlist(&yosys, folder.path(), &design.top)?;
    spinner.finish_and_clear();
    Ok(text)
}

pub fn execute(args: &Args, quiet: bool) -> anyhow::Result<()> {
    let settings = args.target.settings()?;
    ensure!(
        !args.netlist || !settings.packet_memory().is_sdram(),
        "--netlist: the SDRAM has no model behind the pins of a netlist; expected a --memory of 1048576 bytes at most"
    );
    let design = settings.emit()?;
    let library = if args.netlist {
        array::build_text(&netlist(&design, quiet)?, &ModelOptions::new(&design.top), quiet)?
    } else {
        array::build(&design, &hermes_testbench::model::options(&design), quiet)?
    };
    let Pins { clock, to_board, from_board } = settings.board.pins;
    let pins = BoardPins { clock, to_board, from_board };
    let noise = LineNoise { bit_errors: args.bit_errors, seed: args.seed };
    let noise = (args.bit_errors > 0.0).then_some(noise);
    let mut board = BoardSimulation::new(library.instantiate()?, &pins, settings.uart_step() as u32, noise)?;
    let (mut terminal, name) = Terminal::open()?;
    print::line(&name)?;
    let mut opened = false;
    let mut buffer = [0; 4096];
    loop {
        ensure!(!hermes_interrupt::is_requested(), "the simulation ended");
        // Nobody is there before the terminal is opened for the first time, either: then reading
        // says that there is nothing.
        match terminal.read(&mut buffer)? {
            Some(0) if !opened => std::thread::sleep(Duration::from_millis(5)),
            Some(count) => {
                opened = true;
                board.send(&buffer[..count]);
                for _ in 0..LOOK {
                    terminal.unsent.extend(board.cycle()?);
                }
                terminal.write()?;
            }
            None if opened && !args.stay => {
                log::info!("{} cycles simulated", board.cycles());
                return Ok(());
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}
