//! What a run runs: an app with its inputs, or a kernel.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::{bail, ensure};
use hermes_rtl::config::{most_warps, Config};
use hermes_testbench::apps::{App, AppEntry, Inputs};
use hermes_testbench::cosim::{
    most_ring_slots_log2, usual_ring_slots_log2, AdaptiveTimeout, ArraySetup, EgressLists, Packet,
};
use hermes_testbench::input;
use hermes_testbench::kernel::{Arch, Kernel, StackNeed};
use hermes_testbench::metrics::{Environment, RunFacts};
use hermes_testbench::slot::{self, SlotPacket};
use hermes_testbench::traffic::Frame;

use super::MEMORY_BYTES;
use crate::files::Files;

/// A time in seconds, at most a day.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 86_400.0);
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "expected seconds, above 0 and up to 86400".to_string())
}

/// Inputs of the apps.
#[derive(clap::Args)]
#[command(next_help_heading = "Inputs of the app")]
pub struct InputArgs {
    /// Filters in the format of ClassBench, or Snort rules: what the app takes
    #[arg(long, value_name = "FILE", requires = "app")]
    rules: Option<PathBuf>,
    /// Routing table: lines `PREFIX NEXT-HOP`, or an MRT dump of a BGP router
    #[arg(long, value_name = "FILE", requires = "app")]
    routes: Option<PathBuf>,
    /// Largest IPv4 packet that may leave, in bytes: 68 to 65535
    #[arg(long, value_name = "BYTES", requires = "app")]
    mtu: Option<u16>,
    /// Keys of an ESP tunnel
    #[arg(long, value_name = "FILE", requires = "app")]
    keys: Option<PathBuf>,
}

impl InputArgs {
    /// What is read.
    pub fn files(&self) -> Files {
        Files::default()
            .input("--rules", self.rules.as_deref())
            .input("--routes", self.routes.as_deref())
            .input("--keys", self.keys.as_deref())
    }

    fn inputs(&self) -> Inputs {
        Inputs {
            rules: self.rules.clone(),
            routes: self.routes.clone(),
            mtu: self.mtu,
            keys: self.keys.clone(),
        }
    }
}

/// What ends a run, and how much of it is run.
#[derive(clap::Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Cycles that a warp may be on a core before its lanes end with a fault (cause 24), so that a
    /// kernel that does not end still gives every packet a verdict; 0: any number
    #[arg(long, value_name = "CYCLES", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..1 << 31))]
    pub watchdog: u32,
    /// Fail, after everything was written, if threads ended with a fault: by default with --kernel,
    /// and not with the kernel of an app. What they faulted of is told either way
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    fail_on_fault: Option<bool>,
    /// Let the kernel load from and store to all of memory. Else an access outside of what belongs
    /// to the run is a fault: its code and data, packets, tables, stacks, argument block; and so is
    /// a store to its code. Beside firmware all is open but the firmware
    #[arg(long)]
    pub open_windows: bool,
    /// Process only the first packets of the capture
    #[arg(long, value_name = "N")]
    pub max_packets: Option<usize>,
}

impl LimitArgs {
    /// Whether faults of threads fail the run, which has a kernel of the user's own or not.
    pub fn fails_on_fault(&self, own_kernel: bool) -> bool {
        self.fail_on_fault.unwrap_or(own_kernel)
    }
}

/// The stacks of the threads, and the slots of the packets.
#[derive(clap::Args)]
#[command(next_help_heading = "Limits")]
pub struct StackArgs {
    /// Stack bytes of a thread, a power of two, 16 to 65536; by default 256, or what the app needs.
    /// `hermes kernel info` tells what a kernel needs. Smaller stacks leave more of a board's
    /// memory to packets
    #[arg(long, value_name = "N", value_parser = stack_bytes_log2)]
    stack_bytes: Option<u32>,
    /// Bytes of a ring slot, a power of two, 128 to 65536; by default the fewest that hold every
    /// frame of the capture behind 18 bytes, and what the app adds. A kernel that makes frames
    /// longer needs more
    #[arg(long, value_name = "N", value_parser = slot_bytes_log2)]
    slot_bytes: Option<u32>,
}

/// Bytes of a ring slot; gives the power of two.
fn slot_bytes_log2(text: &str) -> Result<u32, String> {
    let range = 1 << slot::MIN_BYTES_LOG2..=1 << slot::MAX_BYTES_LOG2;
    let bytes = text.parse::<u32>().ok().filter(|bytes| bytes.is_power_of_two() && range.contains(bytes));
    bytes.map(u32::ilog2).ok_or_else(|| "expected a power of two, 128 to 65536".to_string())
}

/// The largest stack, as a power of two.
const MAX_STACK_BYTES_LOG2: u32 = 16;

/// Bytes of a stack; gives the power of two.
fn stack_bytes_log2(text: &str) -> Result<u32, String> {
    let bytes =
        text.parse::<u32>().ok().filter(|bytes| bytes.is_power_of_two() && (16..=65_536).contains(bytes));
    bytes.map(u32::ilog2).ok_or_else(|| "expected a power of two, 16 to 65536".to_string())
}

impl StackArgs {
    /// Bytes of a ring slot for `frames`, which may grow by `growth` bytes, as a power of two.
    ///
    /// # Errors
    /// Those that the user wants are too few.
    pub fn slot_bytes_log2(&self, frames: &[Frame], growth: usize) -> anyhow::Result<u32> {
        let needed = slot::bytes_log2_for(frames, growth);
        let log2 = self.slot_bytes.unwrap_or(needed);
        ensure!(
            log2 >= needed,
            "--slot-bytes {}: the frames of the capture need slots of {} bytes",
            1 << log2,
            1 << needed
        );
        Ok(log2)
    }

    /// Stack bytes of a thread that firmware starts, as a power of two.
    pub fn bytes_log2_of_firmware(&self) -> u32 {
        self.stack_bytes.unwrap_or(ArraySetup::default().stack_bytes_log2)
    }

    /// Stack bytes of a thread, as a power of two.
    ///
    /// # Errors
    /// They are too few for the app or the kernel.
    pub fn bytes_log2(&self, program: &Program) -> anyhow::Result<u32> {
        let needed = program.app.as_ref().map_or(0, |app| app.stack_bytes_log2());
        let log2 = self.stack_bytes.unwrap_or(ArraySetup::default().stack_bytes_log2.max(needed));
        ensure!(log2 >= needed, "--stack-bytes {}: {} needs {}", 1 << log2, program.name, 1 << needed);
        let need = StackNeed::of(&program.kernel);
        if let Some(enough) = need.stack_bytes() {
            let advice = match enough <= 1 << MAX_STACK_BYTES_LOG2 {
                true => format!("--stack-bytes {enough} is enough"),
                false => format!("the most is --stack-bytes {}", 1 << MAX_STACK_BYTES_LOG2),
            };
            let name = &program.name;
            ensure!(
                enough <= 1 << log2,
                "{name} needs {need} of stack, and a thread gets {}; {advice}",
                1 << log2
            );
        }
        Ok(log2)
    }
}

/// How long a packet waits for a full warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// So many cycles.
    Cycles(u32),
    /// As the traffic wants it.
    Adaptive,
}

impl Default for Timeout {
    fn default() -> Self {
        Self::Cycles(ArraySetup::default().timeout)
    }
}

impl Display for Timeout {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycles(cycles) => cycles.fmt(f),
            Self::Adaptive => f.write_str("adaptive"),
        }
    }
}

impl FromStr for Timeout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "adaptive" => Ok(Self::Adaptive),
            _ => text
                .parse()
                .map(Self::Cycles)
                .map_err(|_| format!("expected cycles, 0..={}, or `adaptive`", u32::MAX)),
        }
    }
}

impl Timeout {
    /// What the registers are to hold.
    pub fn setup(self) -> (u32, Option<AdaptiveTimeout>) {
        match self {
            Self::Cycles(cycles) => (cycles, None),
            Self::Adaptive => (ArraySetup::default().timeout, Some(AdaptiveTimeout::default())),
        }
    }
}

/// How packets become warps.
#[derive(clap::Args)]
#[command(next_help_heading = "Array")]
pub struct FormingArgs {
    /// Cycles that the oldest waiting packet waits for a full warp, until a partial warp is formed;
    /// `adaptive`: as the traffic wants it, which gives the array what --adaptive-timeout does
    #[arg(long, value_name = "CYCLES|adaptive", allow_negative_numbers = true, default_value_t = Timeout::default())]
    pub timeout: Timeout,
    /// Form a partial warp at once while a warp slot is idle
    #[arg(long)]
    pub eager: bool,
    /// Tell when each packet's warp was formed, too, in `--verdicts` and in the report: gives the
    /// array the ports of the retire trace, which makes the simulation slower
    #[arg(long)]
    pub forming_times: bool,
}

/// What is to be run.
pub struct Program {
    pub kernel: Kernel,
    /// Name for the report.
    pub name: String,
    pub app: Option<Box<dyn App>>,
}

impl Program {
    /// The app called `app` with its inputs and its kernel, or that in the file `own`; or a kernel
    /// alone. The cores are those of `config`.
    ///
    /// # Errors
    /// An input cannot be used, or the kernel is built for what the cores do not have.
    pub fn load(
        app: Option<&str>,
        own: Option<&Path>,
        inputs: &InputArgs,
        config: &Config,
    ) -> anyhow::Result<Self> {
        let entry = app.map(AppEntry::find).transpose()?;
        let app = entry.map(|entry| entry.load(&inputs.inputs())).transpose()?;
        let (kernel, name) = match (entry, own) {
            (None, Some(path)) => return Self::of_kernel(path, config),
            (Some(_), Some(path)) => (Kernel::read(path)?, input::name(path)),
            (Some(entry), None) => (entry.kernel(config.aes)?, entry.name.to_string()),
            (None, None) => bail!("--pcap: expected --app or --kernel with it"),
        };
        Self { kernel, name, app }.on(config)
    }

    /// The kernel in a file alone.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn of_kernel(path: &Path, config: &Config) -> anyhow::Result<Self> {
        Self { kernel: Kernel::read(path)?, name: input::name(path), app: None }.on(config)
    }

    /// It, if the cores have what the kernel is built for.
    fn on(self, config: &Config) -> anyhow::Result<Self> {
        let Self { kernel, name, .. } = &self;
        if let Some(arch) = &kernel.arch {
            let lacking = arch.beyond(config);
            ensure!(
                lacking.is_empty(),
                "kernel {name} is built for {arch}, the array has {}; it lacks {}",
                Arch::of(config),
                lacking.join(", ")
            );
        }
        Ok(self)
    }

    /// What a run of it on the packets of `pcap` is told to be made with.
    pub fn facts(
        &self,
        pcap: &Path,
        config: &Config,
        setup: &ArraySetup,
        environment: Environment,
    ) -> RunFacts {
        RunFacts {
            kernel: self.name.clone(),
            inputs: self.notes(),
            capture: input::name(pcap),
            preset: config.preset.clone(),
            cores: config.cores,
            lanes: config.lanes,
            warps: config.warps,
            mcw: setup.mcw,
            timeout: setup.timeout,
            adaptive_timeout: setup.adaptive.is_some(),
            eager: setup.eager,
            environment,
            slot_bytes: 1 << setup.slot_bytes_log2,
            configuration: config.clone(),
        }
    }

    /// The MCW of the run: `wanted`, or the most that the array and the kernel's registers allow.
    pub fn mcw(&self, wanted: Option<u32>, config: &Config) -> anyhow::Result<u32> {
        let registers = self.kernel.registers.registers();
        let most = most_warps(config.warps as u32, registers as u32);
        let mcw = wanted.unwrap_or(most);
        ensure!(
            (1..=most).contains(&mcw),
            "--mcw {mcw}: expected 1 to {most} ({} warp slots a core, {registers} registers a thread)",
            config.warps
        );
        Ok(mcw)
    }

    /// Bytes by which the app makes a frame longer at most.
    pub fn growth(&self) -> usize {
        self.app.as_ref().map_or(0, |app| app.growth())
    }

    /// What is told of the app's inputs.
    pub fn notes(&self) -> Vec<String> {
        self.app.as_ref().map(|app| app.notes()).unwrap_or_default()
    }
}

/// The packets as the host writes them to the ring, arriving at these cycles.
pub fn in_the_ring(packets: &[SlotPacket], arrivals: impl IntoIterator<Item = u64>) -> Vec<Packet> {
    let packet = |(packet, arrival): (&SlotPacket, u64)| {
        let [_, port, flags, _] = packet.descriptor(0);
        Packet { frame: packet.frame.clone(), port, flags, arrival }
    };
    packets.iter().zip(arrivals).map(packet).collect()
}

/// Slots of the ring as a power of two: `asked` ones, or as many as usual, or eight times the
/// threads of a large array, so that the quarter that the host reads leaves enough for them; or
/// fewer so that ring and egress lists fit.
///
/// # Errors
/// It cannot have the slots that are asked for.
pub fn ring_slots_log2(
    asked: Option<u32>,
    app: Option<&dyn App>,
    config: &Config,
    slot_bytes_log2: u32,
) -> anyhow::Result<u32> {
    let entries = app.map_or(0, |app| app.egress_entries(slot::capacity(slot_bytes_log2)));
    let largest = EgressLists::bytes_log2_for(entries).max(slot_bytes_log2);
    let most = most_ring_slots_log2(largest, MEMORY_BYTES);
    if let Some(asked) = asked {
        ensure!(
            asked.is_power_of_two() && (1..=most).contains(&asked.ilog2()),
            "--ring-slots: {asked} is not possible; expected a power of two, 2 to {}",
            1_u32 << most
        );
        return Ok(asked.ilog2());
    }
    Ok(usual_ring_slots_log2(config, largest, MEMORY_BYTES))
}

/// The frames as they enter the packet ports.
pub fn on_the_wire(frames: &[Frame], arrivals: Vec<u64>) -> Vec<Packet> {
    let packet = |(frame, arrival): (&Frame, u64)| Packet {
        frame: frame.data.clone(),
        port: frame.port,
        flags: 0,
        arrival,
    };
    frames.iter().zip(arrivals).map(packet).collect()
}
