//! Firmware of the command processor in `hermes run`.

use std::cell::RefCell;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{anyhow, bail, ensure, Context};
use hermes_rtl::config::Config;
use hermes_testbench::command::{CommandPorts, CycleProfile};
use hermes_testbench::cosim::{
    ArraySetup, Code, Debugger, Device, FaultRecord, FirmwareLink, Host, Latency, MemoryMap, MemoryOptions,
    Simulation,
};
use hermes_testbench::firmware::{Firmware, FirmwareEnd};
use hermes_testbench::input::{self, MOST_STREAM_BYTES};
use hermes_testbench::kernel::Arch;
use hermes_testbench::races::{Explain, Places, RaceReport};
use hermes_testbench::words::number_of;

use super::gdb::{self, SessionEnd};
use super::outcome::{both, fault_causes, tell_races};
use super::wave::Wave;
use super::{Program, ResultArgs, Subject, MEMORY_BYTES};
use crate::array::{self, ArrayArgs};
use crate::files::Files;
use crate::print;

/// Cycles between two looks at firmware that runs alone.
const PAUSE: u64 = 200;
/// CSRs of user-level interrupts: the channels that are armed, and the handler of channel 0.
const ULIARM: u32 = 0x803;
const ULI_HANDLER_0: u32 = 0x810;
/// What an array gets beside a command processor if the user says nothing else.
const CHANNELS: usize = 2;
const SPAWN_SLOTS: usize = 16;

/// Options of firmware.
#[derive(clap::Args)]
#[command(next_help_heading = "Firmware")]
pub struct FirmwareArgs {
    /// Cycles that firmware may run, beside packets after the last one, before the command ends
    /// with an error; 0: any number
    #[arg(long, value_name = "CYCLES", default_value_t = 20_000_000, requires = "firmware")]
    firmware_timeout: u64,
    /// Before the first instruction, wait on this port of localhost for GDB
    /// (`target remote localhost:PORT`), which then debugs the harts as threads; 0: any free port,
    /// which is printed. While it debugs, --firmware-timeout does not hold
    #[arg(long, value_name = "PORT", requires = "firmware", conflicts_with = "pcap")]
    gdb: Option<u16>,
    /// What the firmware reads from its console
    #[arg(long, value_name = "FILE", requires = "firmware")]
    firmware_input: Option<PathBuf>,
    /// Tell where the cycles of each hart went, without packets: from its first read of `mcycle` to
    /// its last, if it reads it. The model with trace ports is built apart
    #[arg(long, requires = "firmware", conflicts_with_all = ["pcap", "trace", "perfetto"])]
    firmware_profile: bool,
}

impl FirmwareArgs {
    /// Whether the array needs trace ports.
    pub fn needs_trace(&self) -> bool {
        self.firmware_profile
    }

    /// What is read.
    pub fn files(&self) -> Files {
        Files::default().input("--firmware-input", self.firmware_input.as_deref())
    }
}

/// How firmware ended.
pub struct Ended {
    /// `None`: it did not.
    end: Option<FirmwareEnd>,
    /// PC of each hart, if it did not end.
    at: Vec<(u32, u32)>,
    /// A channel that is armed with what is no handler.
    no_handler: Option<String>,
    cycles: u64,
    /// Whether its output could be printed.
    printed: anyhow::Result<()>,
}

impl Ended {
    /// How it ended, or what an array that goes on shows of it. Stops the harts where the program
    /// alone does not tell what it arms.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn look<D: Device>(
        host: &mut Host<D>,
        firmware: &Firmware,
        end: Option<FirmwareEnd>,
        cycles: u64,
        printed: anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        let mut at = Vec::new();
        if end.is_none() {
            host.take_back_faults()?;
            let no_page =
                host.info().spawner && host.read("SPAWN_CONTROL")? == 1 && host.read("SPAWN_BASE")? == 0;
            if no_page {
                log::warn!("the thread spawner is on, and has no descriptor page: `spawn` starts nothing until `spawn_page` has named one (SPAWN_BASE is 0)");
            }
            at = hart_pcs(host)?;
        }
        let no_handler = armed_without_handler(host, firmware)?;
        Ok(Self { end, at, no_handler, cycles, printed })
    }

    /// Whether it came to an end: else it may still write.
    pub fn is_over(&self) -> bool {
        self.end.is_some()
    }
}

/// Gives an array a command processor for `firmware`, unless the user gave it one.
pub fn give_processor(array: &ArrayArgs, firmware: &Firmware, config: &mut Config) -> anyhow::Result<()> {
    match (array.given("command_threads"), config.command_threads) {
        // That of the preset is as the preset has it.
        (None, 1..) | (Some(0), _) => return Ok(()),
        (None, 0) => config.command_threads = (firmware.harts as usize).next_power_of_two(),
        // How many harts there are says nothing of the rest.
        (Some(_), _) => {}
    }
    let (channels, slots) = (array.given("uli_channels"), array.given("spawn_slots"));
    let usual = |own: usize, usual: usize| if own > 0 { own } else { usual };
    config.uli_channels = channels.unwrap_or(usual(config.uli_channels, CHANNELS));
    config.spawn_slots = slots.unwrap_or(usual(config.spawn_slots, SPAWN_SLOTS));
    config.validate().with_context(|| format!("{}: needs {} harts", firmware.path.display(), firmware.harts))
}

/// Makes sure that the array, and its memory of so many bytes, have what the firmware needs.
pub fn check(
    firmware: &Firmware,
    config: &Config,
    memory_bytes: u64,
    program: Option<&Program>,
) -> anyhow::Result<()> {
    let kernels = program.iter().flat_map(|program| {
        let name = format!("the kernel {}", program.name);
        program.kernel.segments.iter().map(move |part| (name.clone(), part.address, part.bytes.len()))
    });
    let kernels: Vec<_> = kernels.collect();
    if let Some(arch) = &firmware.executable.arch {
        // Only lanes have these.
        let harts = Config { aes: false, network: false, ..config.clone() };
        let lacking = arch.beyond(&harts);
        ensure!(
            !lacking.contains(&"zacas"),
            "{}: has compare-and-swap (Zacas), the harts have not; expected --compare-and-swap",
            firmware.path.display()
        );
        ensure!(
            lacking.is_empty(),
            "{}: is built for {arch}, the harts have {}; they lack {}{}",
            firmware.path.display(),
            Arch::of(&harts),
            lacking.join(", "),
            if lacking.contains(&"a") { "; expected --atomics" } else { "" }
        );
    }
    firmware.check(config.command_threads as u32, memory_bytes, &kernels).map_err(|error| anyhow!(error))
}

/// Gives the console what it is to read.
pub fn type_in(args: &Subject, host: &mut Host<Simulation>) -> anyhow::Result<()> {
    let bytes = read_input(args.firmware_args.firmware_input.as_deref())?;
    if let Some(link) = host.firmware_mut() {
        link.type_in(&bytes);
    }
    Ok(())
}

/// What the console is to read; nothing without a file.
pub fn read_input(path: Option<&Path>) -> anyhow::Result<Vec<u8>> {
    let read = |path| input::read(path, MOST_STREAM_BYTES).with_context(|| input::name(path));
    path.map_or(Ok(Vec::new()), read)
}

/// Prints what came from the console.
pub fn print_output<D: Device>(host: &mut Host<D>) -> anyhow::Result<()> {
    let output = host.firmware_mut().map(FirmwareLink::take_output).unwrap_or_default();
    if output.is_empty() {
        return Ok(());
    }
    print::bytes(&output)
}

/// Waits until the firmware ends; prints its console output. Output that cannot be printed does not
/// end it.
fn wait(args: &Subject, host: &mut Host<Simulation>, firmware: &Firmware) -> anyhow::Result<Ended> {
    let start = host.device_mut().cycle();
    let limit = match args.firmware_args.firmware_timeout {
        0 => u64::MAX,
        limit => limit,
    };
    let mut printed = Ok(());
    loop {
        let end = host.attend_firmware()?;
        let now = print_output(host);
        printed = printed.and(now);
        let cycles = host.device_mut().cycle() - start;
        if end.is_some() || cycles >= limit {
            return Ended::look(host, firmware, end, cycles, printed);
        }
        host.device_mut().run(PAUSE)?;
    }
}

/// Warns of descriptors that the thread spawner did not take.
pub fn tell_spawn_errors<D: Device>(host: &mut Host<D>) -> anyhow::Result<()> {
    if !host.info().spawner {
        return Ok(());
    }
    let errors = host.read("SPAWN_ERRORS")?;
    let (overruns, rejected) = (errors & 0xffff, errors >> 16);
    if rejected > 0 {
        log::warn!(
            "the thread spawner rejected {}; its completion word tells why, such as another register class than the packets' kernel (docs/spawner.md)",
            number_of(rejected.into(), "descriptor")
        );
    }
    if overruns > 0 {
        log::warn!(
            "the thread spawner did not take {}: to the descriptor of a busy slot, or of none, or of a part of a word (docs/spawner.md)",
            number_of(overruns.into(), "write")
        );
    }
    Ok(())
}

/// Where each hart is.
fn hart_pcs<D: Device>(host: &mut Host<D>) -> anyhow::Result<Vec<(u32, u32)>> {
    let harts = host.read("CP_STATUS")? >> 24 & 15;
    (0..harts).map(|hart| Ok((hart, FirmwareLink::pc(host, hart)?))).collect()
}

/// Tells the firmware that the packets are done, by a message whose word 0 is 0 and word 1 their
/// number, and waits for its end.
pub fn finish(
    args: &Subject,
    host: &mut Host<Simulation>,
    firmware: &Firmware,
    packets: usize,
) -> anyhow::Result<Ended> {
    if let Some(link) = host.firmware_mut() {
        link.send([0, packets as u32, 0, 0]);
    }
    wait(args, host, firmware)
}

/// A channel that a hart has armed with what is no handler, where the program alone does not tell
/// what it arms. Stops the harts.
fn armed_without_handler<D: Device>(
    host: &mut Host<D>,
    firmware: &Firmware,
) -> anyhow::Result<Option<String>> {
    if !firmware.has_unknown_handlers {
        return Ok(None);
    }
    let debugger = Debugger::new(host)?;
    let running = host.read("CP_CONTROL")? & debugger.all() & !debugger.status(host)?.locked;
    for hart in (0..debugger.harts()).filter(|hart| running >> hart & 1 == 1) {
        // A hart that memory does not answer has no more to tell.
        let Ok(()) = debugger.stop(host, 1 << hart) else { continue };
        let armed = debugger.csr(host, hart, ULIARM).unwrap_or(0);
        for channel in (0..8).filter(|channel| armed >> channel & 1 == 1) {
            let handler = debugger.csr(host, hart, ULI_HANDLER_0 + channel)?;
            if let Some(problem) = firmware.no_handler(handler) {
                return Ok(Some(format!("hart {hart} has armed channel {channel} with {problem}")));
            }
        }
    }
    Ok(None)
}

/// Counts where the cycles of the harts go, from now on.
fn count_cycles(host: &mut Host<Simulation>, harts: usize) -> anyhow::Result<Rc<RefCell<Vec<CycleProfile>>>> {
    let ports = CommandPorts::bind(host.device_mut().model_mut())?;
    let profiles = Rc::new(RefCell::new(vec![CycleProfile::default(); harts]));
    let shared = Rc::clone(&profiles);
    host.device_mut().set_observer(Box::new(move |cycle, model, _, _| {
        if let Some(retired) = ports.sample(model) {
            if let Some(profile) = shared.borrow_mut().get_mut(retired.hart as usize) {
                profile.retire(cycle, &retired);
            }
        }
        Ok(())
    }));
    Ok(profiles)
}

/// Does what a debugger says until the firmware ends.
fn debug(
    args: &Subject,
    listener: TcpListener,
    host: &mut Host<Simulation>,
    firmware: &Firmware,
    config: &Config,
) -> anyhow::Result<Ended> {
    let start = host.device_mut().cycle();
    match gdb::debug(listener, host, firmware, config)? {
        SessionEnd::Firmware(end) => {
            let cycles = host.device_mut().cycle() - start;
            Ok(Ended { end: Some(end), at: vec![], no_handler: None, cycles, printed: Ok(()) })
        }
        SessionEnd::Detached => wait(args, host, firmware),
        SessionEnd::Killed => bail!("{}: the debugger ended it", firmware.path.display()),
    }
}

/// Runs firmware without packets.
pub fn run_alone(
    args: &Subject,
    results: &ResultArgs,
    firmware: &Firmware,
    config: &Config,
    latency: Latency,
    quiet: bool,
) -> anyhow::Result<()> {
    ensure!(args.what.app.is_none(), "--app: expected --pcap with it");
    ensure!(args.what.kernel.is_none(), "--kernel: expected --pcap with it");
    let files = [("--out", &results.out), ("--json", &results.json), ("--verdicts", &args.verdicts)];
    if let Some((option, _)) = files.into_iter().find(|(_, path)| path.is_some()) {
        bail!("{option}: expected --pcap with it");
    }
    check(firmware, config, MEMORY_BYTES, None)?;
    let mut data = args.data.load_firmware(firmware)?;
    let mut timeline = args.timeline.create(config, None, Some(firmware), None)?;
    let listener = args.firmware_args.gdb.map(gdb::listen).transpose()?;
    let wave = Wave::create(args.wave.as_deref(), args.timeline.limit())?;
    let mut model = array::model(config, wave.is_some(), quiet)?;
    wave.as_ref().map_or(Ok(()), |wave| wave.start(&mut model))?;
    let memory = MemoryOptions { latency, ..MemoryOptions::default() };
    let mut host = Host::new(Simulation::new(model, MEMORY_BYTES, memory)?)?;
    let races = timeline
        .as_mut()
        .filter(|_| args.timeline.looks_for_races())
        .map(|timeline| timeline.look_for_races(Places::default()));
    timeline.as_ref().map(|timeline| timeline.attach(host.device_mut())).transpose()?;
    host.reserve_firmware(firmware)?;
    data.allocate(&mut host)?;
    let stack_bytes_log2 = args.stack.bytes_log2_of_firmware();
    if host.info().spawner {
        host.reserve_stacks(&ArraySetup { stack_bytes_log2, ..ArraySetup::default() })?;
    }
    let profiles = match args.firmware_args.firmware_profile {
        true => Some(count_cycles(&mut host, config.command_threads)?),
        false => None,
    };
    let variables = data.variables();
    if listener.is_some() {
        host.start_firmware_stopped(firmware, &variables)?;
    } else {
        host.start_firmware_with(firmware, &variables)?;
    }
    type_in(args, &mut host)?;
    let ended = match listener {
        Some(listener) => debug(args, listener, &mut host, firmware, config),
        None => wait(args, &mut host, firmware),
    };
    tell_spawn_errors(&mut host)?;
    let faults = host.take_faults().and_then(|(faults, _)| Ok((faults, host.read("FAULTS")?)));
    // Firmware that did not end may still write.
    let is_over = ended.as_ref().is_ok_and(Ended::is_over);
    let read = if is_over { data.read(&mut host) } else { Ok(()) };
    let memory = host.named_areas(stack_bytes_log2);
    let cycle = host.device_mut().cycle();
    let wave_ended = host.device_mut().model_mut().trace_ended();
    drop(host);
    // Waveforms and traces are wanted most when a run fails.
    wave.map(|wave| wave.commit(wave_ended)).transpose()?;
    timeline.map(|timeline| timeline.commit(cycle)).transpose()?;
    let ended = ended?;
    if let Some(profiles) = profiles {
        let profiles = profiles.borrow();
        let lines = profiles
            .iter()
            .enumerate()
            .map(|(hart, profile)| format!("hart {hart}: cycles, and cycles an instruction\n{profile}"));
        print::bytes(lines.collect::<String>().as_bytes())?;
    }
    let (faults, threads) = faults?;
    let faulted = tell_thread_faults(firmware, &faults, threads, &memory);
    let code = Code::new(None, Some(firmware));
    let races =
        races.map(|races| RaceReport::of(races.borrow().findings(), &Explain { code, memory: &memory }));
    let raced = tell_races(races.as_ref());
    read?;
    let compared = if is_over { data.compare() } else { Ok(()) };
    if is_over {
        data.write()?;
    }
    if let Err(end) = tell(firmware, ended) {
        compared.unwrap_or_else(|error| print::error(format_args!("{error:#}")));
        return Err(end);
    }
    both(compared, both(faulted, raced))
}

/// Says of what threads of firmware that ran alone faulted: these records, of so many threads.
///
/// # Errors
/// One did.
pub fn tell_thread_faults(
    firmware: &Firmware,
    records: &[FaultRecord],
    threads: u32,
    memory: &MemoryMap,
) -> anyhow::Result<()> {
    let code = Code::new(None, Some(firmware));
    fault_causes(records, &[], threads.into(), &code, memory).iter().for_each(print::error);
    ensure!(
        threads == 0,
        "{}: {} of the thread spawner ended with a fault",
        firmware.path.display(),
        number_of(threads.into(), "thread")
    );
    Ok(())
}

/// Says how the firmware ended; an error if not by its `main`, which gives the exit code. Otherwise
/// an error if its output could not be printed.
pub fn tell(firmware: &Firmware, ended: Ended) -> anyhow::Result<()> {
    if let Some(problem) = ended.no_handler {
        let end = ended.end.map(|end| format!("; {}", end.explain(firmware)));
        bail!("{}: {problem}{}", firmware.path.display(), end.unwrap_or_default());
    }
    match ended.end {
        Some(FirmwareEnd::Value(value)) => {
            log::info!("firmware: main returned {value} after {} cycles", ended.cycles);
            match value {
                0 => ended.printed,
                value => Err(print::Exit(u8::try_from(value).unwrap_or(u8::MAX)).into()),
            }
        }
        Some(end) => bail!("{}: {}", firmware.path.display(), end.explain(firmware)),
        None => {
            let places: Vec<String> = ended
                .at
                .iter()
                .map(|(hart, pc)| format!("; hart {hart} at {}", firmware.place(*pc)))
                .collect();
            bail!(
                "{}: not at its end after {} cycles (--firmware-timeout){}",
                firmware.path.display(),
                ended.cycles,
                places.concat()
            )
        }
    }
}
