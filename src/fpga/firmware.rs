//! `hermes fpga run --firmware`: firmware alone on a board, its console over the serial line.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context};
use hermes_testbench::board::{Board, Port};
use hermes_testbench::cosim::{ArraySetup, Host};
use hermes_testbench::firmware::Firmware;

use super::run::Args;
use crate::files::Files;
use crate::run::firmware::{
    check, print_output, read_input, tell, tell_spawn_errors, tell_thread_faults, Ended,
};
use crate::run::outcome::both;

/// Options of firmware on a board.
#[derive(clap::Args)]
#[command(next_help_heading = "Firmware")]
pub struct FirmwareArgs {
    /// Cycles of the array that firmware may run before the command ends with an error: 400,000,000
    /// by default, ten seconds at 40 MHz; 0: any number
    #[arg(long, value_name = "CYCLES", requires = "firmware")]
    firmware_timeout: Option<u64>,
    /// What the firmware reads from its console
    #[arg(long, value_name = "FILE", requires = "firmware")]
    firmware_input: Option<PathBuf>,
}

/// Cycles that firmware may run unless the user says otherwise.
const CYCLES: u64 = 400_000_000;

impl FirmwareArgs {
    /// Makes sure that none is given, of a run without firmware: where `--firmware` is excluded, as
    /// beside packets, the parser does not ask for it.
    pub fn refuse(&self) -> anyhow::Result<()> {
        let given = [
            ("--firmware-timeout", self.firmware_timeout.is_some()),
            ("--firmware-input", self.firmware_input.is_some()),
        ];
        let found = given.into_iter().find(|(_, given)| *given);
        found.map_or(Ok(()), |(option, _)| bail!("{option}: expected --firmware with it, and no --pcap"))
    }

    /// What is read.
    pub fn files(&self) -> Files {
        Files::default().input("--firmware-input", self.firmware_input.as_deref())
    }
}

/// Runs the firmware in the file at `path`.
pub fn execute(args: &Args, path: &Path) -> anyhow::Result<()> {
    let settings = args.board.settings()?;
    let firmware = Firmware::read(path)?;
    let check = |memory_bytes| check(&firmware, &settings.config, memory_bytes, None);
    // The board tells the size of its memory later.
    check(u64::MAX)?;
    let input = read_input(args.firmware_args.firmware_input.as_deref())?;
    let mut data = args.data.load_firmware(&firmware)?;
    let stack_bytes_log2 = args.stack.bytes_log2_of_firmware();

    let mut host = args.connect(&settings)?;
    check(host.memory_size())?;
    let on_port = || args.port.display().to_string();
    host.reserve_firmware(&firmware).with_context(on_port)?;
    data.allocate(&mut host).with_context(on_port)?;
    if host.info().spawner {
        let setup = ArraySetup { stack_bytes_log2, ..ArraySetup::default() };
        host.reserve_stacks(&setup).with_context(on_port)?;
    }
    host.start_firmware_with(&firmware, &data.variables()).with_context(on_port)?;
    if let Some(link) = host.firmware_mut() {
        link.type_in(&input);
    }
    let limit = args.firmware_args.firmware_timeout.unwrap_or(CYCLES);
    let ended = wait(limit, &mut host, &firmware).with_context(on_port)?;
    tell_spawn_errors(&mut host).with_context(on_port)?;
    let (faults, _) = host.take_faults().with_context(on_port)?;
    let threads = host.read("FAULTS").with_context(on_port)?;
    let is_over = ended.is_over();
    // Firmware that did not end may still write.
    if is_over {
        data.read(&mut host).with_context(on_port)?;
    }
    log::info!("{}: {}", args.port.display(), host.device_mut().statistics());

    let faulted = tell_thread_faults(&firmware, &faults, threads, &host.named_areas(stack_bytes_log2));
    let mut compared = Ok(());
    if is_over {
        compared = data.compare();
        data.write()?;
    }
    match tell(&firmware, ended) {
        Ok(()) => both(compared, faulted),
        Err(end) => both(Err(end), both(compared, faulted)),
    }
}

/// Waits until the firmware ends; prints its console output. Output that cannot be printed does not
/// end it.
fn wait(limit: u64, host: &mut Host<Board<Port>>, firmware: &Firmware) -> anyhow::Result<Ended> {
    let limit = if limit == 0 { u64::MAX } else { limit };
    let (mut before, mut cycles) = (host.read("CYCLE_LOW")?, 0);
    let mut printed = Ok(());
    loop {
        ensure!(!hermes_interrupt::is_requested(), "the firmware was under way, and goes on");
        // A look takes thousands of cycles on the line: nothing is gained by a pause.
        let end = host.attend_firmware()?;
        let now = print_output(host);
        printed = printed.and(now);
        let counter = host.read("CYCLE_LOW")?;
        cycles += u64::from(counter.wrapping_sub(before));
        before = counter;
        if end.is_some() || cycles >= limit {
            return Ended::look(host, firmware, end, cycles, printed);
        }
    }
}
