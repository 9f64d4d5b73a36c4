//! `hermes cluster`

mod report;
mod service;
mod workload;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{anyhow, bail, ensure, Context};
use hermes_rtl::config::Config;
use hermes_testbench::cluster::{
    self, address, capture_path, ClusterError, ClusterOptions, LinkOptions, Node, NodeReport, NodeUp,
    OutsideOptions, OutsidePeer, Place, Program, QueueMode, QueueProgram, MOST_NODES, OUTSIDE_PAIR,
};
use hermes_testbench::cosim::{ArraySetup, Code, CosimError, KernelImage, Latency, MemoryOptions, Packet};
use hermes_testbench::firmware::Firmware;
use hermes_testbench::input;
use hermes_testbench::output::OutputFile;
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::traffic::{self, Frame};

use crate::array::{self, ArrayArgs};
use crate::files::Files;
use crate::origin::Origin;
use crate::print;
use crate::run::firmware::check as check_firmware;
use crate::run::outcome::places;
use crate::run::program::{self, StackArgs};
use report::{Facts, Report};
use service::{create_heaps, heap_path, write_heaps, ServiceArgs, ServiceFacts};
use workload::KnownWorkload;

/// Bytes of the shared memory of a node. Pages are allocated when they are written.
const MEMORY_BYTES: u64 = 1 << 28;
/// Most entries of the list of commands, and most packets of a node.
const MOST_COMMANDS: u32 = 1 << 20;
/// Rounds of a hart through its queues, with `--queues paper`, until it looks at what is complete.
const ROUNDS: u32 = 4;
/// Bytes of a packet if there is no capture.
const PACKET_BYTES: usize = 60;

#[derive(clap::Args)]
pub struct Args {
    /// Nodes: 2 to 8; with --net-socket 1 is enough. Node 0 is 02:00:00:00:00:01 and 10.0.0.1, node
    /// 1 is 02:00:00:00:00:02 and 10.0.0.2, and so on
    #[arg(long, value_name = "N", help_heading = "What to run")]
    nodes: usize,
    /// Kernel that every node runs. Its argument block has six words: the list of commands, the
    /// symmetric heap, the number of the node, the number of nodes, entries of the list, bytes of
    /// the heap. When the kernel has ended the host posts the commands that it wrote
    /// (docs/network.md)
    #[arg(long, value_name = "FILE.elf", help_heading = "What to run")]
    kernel: PathBuf,
    /// Capture whose packets every node runs through the kernel
    #[arg(long, value_name = "IN", conflicts_with = "packets", help_heading = "What to run")]
    pcap: Option<PathBuf>,
    /// Packets of each node, of 60 zeros, without --pcap: 1 to 1048576
    #[arg(long, value_name = "N", default_value_t = 64, help_heading = "What to run")]
    packets: u32,
    /// Entries of the list of commands, 1 to 1048576; if not given, one for each packet
    #[arg(long, value_name = "N", conflicts_with = "queues", help_heading = "What to run")]
    commands: Option<u32>,
    /// The kernel posts commands by the queues of its warps while it runs, which hardware serves
    /// (queues), or firmware alone (paper). Its argument block is then that of hermes_shmem.h
    /// (docs/shmem.md). Warps begin when they are full
    #[arg(
        long,
        value_name = "queues|paper",
        requires = "firmware",
        conflicts_with = "net_socket",
        help_heading = "What to run"
    )]
    queues: Option<ModeName>,
    /// Firmware of that mode: net.c or net-paper.c, built by `hermes firmware build`
    #[arg(long, value_name = "FILE.elf", requires = "queues", help_heading = "What to run")]
    firmware: Option<PathBuf>,
    /// Words of the kernel's own, behind those of its argument block, with --queues
    #[arg(
        long,
        value_name = "N,..",
        value_delimiter = ',',
        requires = "queues",
        help_heading = "What to run"
    )]
    own: Vec<u32>,
    /// Bytes of the symmetric heap of a node: 64 to 67108864
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 16, help_heading = "What to run")]
    heap: u32,
    #[command(flatten)]
    array: ArrayArgs,
    #[command(flatten)]
    stack: StackArgs,
    #[command(flatten)]
    links: LinkArgs,
    #[command(flatten)]
    service: ServiceArgs,
    #[command(flatten)]
    outside: OutsideArgs,
    /// Cycles that the memory of a node takes to answer
    #[arg(long, visible_alias = "memory-latency", value_name = "CYCLES", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=1_000_000), help_heading = "Array")]
    mem_latency: u32,
    /// Seed of faults and packet sequence numbers
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Limits")]
    seed: u64,
    /// Nodes that are simulated at a time; if not given, as many as the machine has cores. The
    /// result does not depend on it
    #[arg(long, value_name = "N", help_heading = "Limits")]
    threads: Option<usize>,
    /// Cycles that a warp may be on a core before its lanes end with a fault (cause 24); 0: any
    /// number
    #[arg(long, value_name = "CYCLES", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..1 << 31), help_heading = "Limits")]
    watchdog: u32,
    /// Folder for a capture of each port, port-0.pcapng and so on; it is made if it is not there
    #[arg(long, value_name = "DIR", help_heading = "Outputs")]
    net_pcap: Option<PathBuf>,
    /// Folder for the symmetric heap of each node at the end, heap-0.bin and so on; it must be
    /// there
    #[arg(long, value_name = "DIR", help_heading = "Outputs")]
    dump: Option<PathBuf>,
    /// Report as JSON
    #[arg(short = 'o', visible_alias = "output", long, value_name = "FILE", help_heading = "Outputs")]
    json: Option<PathBuf>,
    /// Print queue pairs and counters of every network interface at the end
    #[arg(long, help_heading = "Outputs")]
    status: bool,
}

/// The links between nodes and switch.
#[derive(clap::Args)]
#[command(next_help_heading = "Links")]
struct LinkArgs {
    /// Cycles that a bit is on a link: 10 to 100000
    #[arg(long, value_name = "CYCLES", default_value_t = LinkOptions::default().latency)]
    latency: u32,
    /// Rate of a link in Gbit/s: 1 to 1000
    #[arg(long, value_name = "GBPS", default_value_t = LinkOptions::default().rate)]
    rate: f64,
    /// Share of the frames that a node sends that are lost
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    loss: f64,
    /// Share of the frames that a node sends that come twice, the second time up to 1,000 cycles
    /// later
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    duplicate: f64,
    /// Share of the frames that a node sends that come up to 1,000 cycles later
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    reorder: f64,
    /// Share of the frames that a node sends of which one byte is changed
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    corrupt: f64,
    /// Where the byte is; if not given, at any of the three places
    #[arg(long, value_name = "header|payload|icrc")]
    corrupt_in: Option<PlaceName>,
    /// The link of one node, where it differs, such as `0:loss=5,latency=300`; may be given several
    /// times
    #[arg(long, value_name = "NODE:NAME=VALUE,...")]
    link: Vec<String>,
}

/// A port of the switch to another program.
#[derive(clap::Args)]
#[command(next_help_heading = "Outside")]
struct OutsideArgs {
    /// One more port of the switch is a UDP socket at LOCAL, with a frame a datagram, as QEMU's
    /// `-netdev dgram`: frames go to REMOTE, or to the first sender. What happens then depends on
    /// what comes when
    #[arg(long, value_name = "LOCAL[,REMOTE]", value_delimiter = ',', num_args = 1)]
    net_socket: Vec<SocketAddr>,
    /// A queue pair behind the socket, to which queue pair 8 of a node is connected; commands for
    /// the node number after the last one go there. MAC, IPv4 address, queue pair and first packet
    /// sequence number; if not 0 also key and address of its region, and node
    #[arg(
        long,
        value_name = "mac=..,ip=..,qp=..,psn=..[,key=..,address=..,node=..]",
        requires = "net_socket"
    )]
    peer: Option<OutsidePeer>,
    /// When all commands are complete, work on until nothing has come through the socket for so
    /// many seconds, or an empty datagram
    #[arg(long, value_name = "SECONDS", requires = "net_socket", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    linger: Option<u32>,
    /// Cycles without an answer until packets are sent again (NET_TIMEOUT), instead of 4096: for
    /// peers that answer in a time of their own
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u32).range(1..1 << 24))]
    net_timeout: Option<u32>,
    /// Time-outs in a row after which the oldest command of a queue pair fails (NET_RETRIES); 7
    /// unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=7))]
    net_retries: Option<u32>,
    /// Packets that a queue pair may have sent without an answer (NET_WINDOW); 32 unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32))]
    net_window: Option<u32>,
}

impl OutsideArgs {
    /// Sets the registers of a node that the user wants otherwise than they are after a reset.
    fn set_registers(&self, node: &mut Node) -> Result<(), CosimError> {
        let registers = [
            ("NET_TIMEOUT", self.net_timeout),
            ("NET_RETRIES", self.net_retries),
            ("NET_WINDOW", self.net_window),
        ];
        for (name, value) in registers {
            value.map_or(Ok(()), |value| node.host.write(name, value))?;
        }
        Ok(())
    }

    fn options(&self) -> anyhow::Result<Option<OutsideOptions>> {
        match *self.net_socket {
            [] => Ok(None),
            [local] => Ok(Some(OutsideOptions { local, remote: None, peer: self.peer })),
            [local, remote] => Ok(Some(OutsideOptions { local, remote: Some(remote), peer: self.peer })),
            _ => bail!("--net-socket: {} addresses; expected one or two", self.net_socket.len()),
        }
    }
}

/// Tells the user what a peer outside must know of a node.
fn tell_outside(up: NodeUp, heap_bytes: u32) {
    let NodeUp { node, heap, key, sequence } = up;
    let us = address(node);
    let mac = us.mac.map(|byte| format!("{byte:02x}")).join(":");
    let ip = us.ip.map(|byte| byte.to_string()).join(".");
    let pair = sequence
        .map_or(String::new(), |sequence| format!(", queue pair {OUTSIDE_PAIR}, first PSN {sequence}"));
    print::note(format_args!(
        "node {node}: {mac}, {ip}, heap {heap:#010x} of {heap_bytes} bytes, key {key:#010x}{pair}"
    ));
}

/// A [`Place`] by its name.
#[derive(Clone, Copy, Debug)]
struct PlaceName(Place);

impl FromStr for PlaceName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let place = Place::ALL.into_iter().find(|place| place.name() == text);
        place.map(Self).ok_or_else(|| "expected header, payload or icrc".to_string())
    }
}

/// A [`QueueMode`] by its name.
#[derive(Clone, Copy, Debug)]
struct ModeName(QueueMode);

impl FromStr for ModeName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "queues" => Ok(Self(QueueMode::Queues)),
            "paper" => Ok(Self(QueueMode::Paper)),
            _ => Err("expected queues or paper".to_string()),
        }
    }
}

impl LinkArgs {
    /// What all links have in common.
    fn common(&self) -> LinkOptions {
        LinkOptions {
            latency: self.latency,
            rate: self.rate,
            loss: self.loss,
            duplicate: self.duplicate,
            reorder: self.reorder,
            corrupt: self.corrupt,
            corrupt_in: self.corrupt_in.map(|name| name.0),
        }
    }

    /// The links that differ.
    fn single(&self) -> anyhow::Result<Vec<(usize, LinkOptions)>> {
        let mut links: Vec<(usize, LinkOptions)> = Vec::new();
        for text in &self.link {
            let wrong = |what: String| anyhow!("--link {text}: {what}");
            let form = || wrong("expected NODE:NAME=VALUE,..., such as 0:loss=5,latency=300".to_string());
            let (node, settings) = text.split_once(':').ok_or_else(form)?;
            let node: usize = node.parse().map_err(|_| form())?;
            let known = links.iter().rev().find(|(number, _)| *number == node);
            let mut link = known.map_or_else(|| self.common(), |(_, link)| link.clone());
            for setting in settings.split(',') {
                let (name, value) = setting.split_once('=').ok_or_else(form)?;
                link.set(name, value).map_err(wrong)?;
            }
            links.push((node, link));
        }
        Ok(links)
    }
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        let files = Files::default()
            .input("--kernel", Some(&self.kernel))
            .input("--pcap", self.pcap.as_deref())
            .input("--firmware", self.firmware.as_deref())
            .output("--json", self.json.as_deref())
            .folder("--net-pcap", self.net_pcap.as_deref());
        let ports = 0..self.nodes.min(MOST_NODES);
        let captures =
            self.net_pcap.iter().flat_map(|folder| ports.clone().map(|port| capture_path(folder, port)));
        let files = captures.fold(files, |files, path| files.output("--net-pcap", Some(&path)));
        let heaps = self.dump.iter().flat_map(|folder| ports.clone().map(|node| heap_path(folder, node)));
        heaps.fold(files.and(self.service.files()), |files, path| files.output("--dump", Some(&path)))
    }

    fn options(&self) -> anyhow::Result<ClusterOptions> {
        let cores = available_parallelism().map_or(1, usize::from);
        let options = ClusterOptions {
            nodes: self.nodes,
            memory_bytes: MEMORY_BYTES,
            memory: MemoryOptions { latency: Latency::Fixed(self.mem_latency), ..MemoryOptions::default() },
            link: self.links.common(),
            links: self.links.single()?,
            // Which needs the kernel's warps.
            service: None,
            seed: self.seed,
            threads: self.threads.unwrap_or(cores),
            captures: self.net_pcap.clone(),
            outside: self.outside.options()?,
        };
        options.check().map_err(|error| explain(error, &Code::default()))?;
        ensure!(
            (64..=1 << 26).contains(&self.heap),
            "--heap {}: expected 64 to {} bytes",
            self.heap,
            1 << 26
        );
        for (name, count) in [("--packets", Some(self.packets)), ("--commands", self.commands)] {
            let possible = count.is_none_or(|count| (1..=MOST_COMMANDS).contains(&count));
            ensure!(possible, "{name} {}: expected 1 to {MOST_COMMANDS}", count.unwrap_or(0));
        }
        Ok(options)
    }

    /// The packets of a node, and the bytes of a ring slot as a power of two.
    fn packets(&self) -> anyhow::Result<(Vec<Packet>, u32)> {
        let frames = match &self.pcap {
            Some(pcap) => traffic::read(pcap, None)?.frames,
            None => {
                let frame = Frame {
                    data: vec![0; PACKET_BYTES],
                    wire_length: PACKET_BYTES as u32,
                    timestamp: 0,
                    port: 0,
                };
                vec![frame; self.packets as usize]
            }
        };
        if let (true, Some(pcap)) = (frames.is_empty() || frames.len() > MOST_COMMANDS as usize, &self.pcap) {
            bail!("--pcap {}: {} packets; expected 1 to {MOST_COMMANDS}", pcap.display(), frames.len());
        }
        let slot_bytes_log2 = self.stack.slot_bytes_log2(&frames, 0)?;
        let packet = |frame: &Frame| {
            let packet = SlotPacket::new(frame, slot_bytes_log2);
            let [_, port, flags, _] = packet.descriptor(0);
            Packet { frame: packet.frame, port, flags, arrival: 0 }
        };
        Ok((frames.iter().map(packet).collect(), slot_bytes_log2))
    }
}

/// The folder of the captures. It goes again if nothing was written to it that was not there.
struct CaptureFolder<'a> {
    made: Option<&'a Path>,
}

impl<'a> CaptureFolder<'a> {
    fn make(path: Option<&'a Path>) -> anyhow::Result<Self> {
        let made = path.filter(|path| !path.is_dir());
        let make =
            |path: &Path| fs::create_dir(path).with_context(|| format!("--net-pcap {}", path.display()));
        made.map_or(Ok(()), make)?;
        Ok(Self { made })
    }
}

impl Drop for CaptureFolder<'_> {
    fn drop(&mut self) {
        // With captures in it, it stays.
        let _ = self.made.map(fs::remove_dir);
    }
}

/// Makes sure that the firmware in a file fits the array, and that it is of this mode, if it says
/// which one it is of.
fn check_mode(
    mode: QueueMode,
    path: &Path,
    config: &Config,
    subject: &program::Program,
) -> anyhow::Result<()> {
    let firmware = Firmware::read(path)?;
    check_firmware(&firmware, config, MEMORY_BYTES, Some(subject))?;
    let found = firmware.text("net_mode");
    ensure!(
        found.as_deref().is_none_or(|found| found == mode.name()),
        "--firmware {}: serves the mode {}; expected that of --queues {} ({})",
        path.display(),
        found.unwrap_or_default(),
        mode.name(),
        mode.firmware()
    );
    Ok(())
}

/// The error, with what helps against it.
fn explain(error: ClusterError, code: &Code<'_>) -> anyhow::Error {
    match error {
        ClusterError::Node { error: CosimError::NoCommit { ref at, .. }, .. } => {
            let at = places(at, code);
            anyhow!("{error}{at}\n--watchdog CYCLES ends the warps of a kernel that does not end")
        }
        // Fields with the name of an option.
        ClusterError::Option { field, .. } if !field.contains(' ') => anyhow!("--{error}"),
        error => error.into(),
    }
}

pub fn execute(args: &Args, quiet: bool) -> anyhow::Result<()> {
    let mut options = args.options()?;
    let mut config = args.array.config_or("node")?;
    config.network = true;
    config.atomics = true;
    config.validate()?;
    if args.queues.is_some() {
        ensure!(
            config.command_threads > 0,
            "--queues: the array has no command processor; the preset node has one"
        );
    }
    // The same checks as those of a run.
    let subject = program::Program::of_kernel(&args.kernel, &config)?;
    let mcw = subject.mcw(None, &config)?;
    let stack_bytes_log2 = args.stack.bytes_log2(&subject)?;
    let kernel = &subject.kernel;
    let (packets, slot_bytes_log2) = args.packets()?;
    let commands = args.commands.unwrap_or(packets.len() as u32);
    let setup = ArraySetup {
        slot_bytes_log2,
        mcw,
        stack_bytes_log2,
        watchdog: args.watchdog,
        eager: true,
        ..ArraySetup::default()
    };
    let on_cores = config.cores * mcw as usize;
    let warps = packets.len().div_ceil(config.lanes).min(on_cores);
    let known = KnownWorkload::find(kernel, args, packets.len(), config.lanes, on_cores)?;
    let service = args.service.facts(warps as u32)?;
    options.service = service.as_ref().map(ServiceFacts::options);
    options.check().map_err(|error| explain(error, &Code::default()))?;
    let packets = vec![packets; args.nodes];
    let with_queues = args.queues.zip(args.firmware.clone()).map(|(ModeName(mode), firmware)| QueueProgram {
        kernel: KernelImage::from(kernel),
        mode,
        firmware,
        packets: packets.clone(),
        setup: ArraySetup { eager: false, ..setup.clone() },
        own: args.own.clone(),
        heap_bytes: args.heap,
        rounds: ROUNDS,
    });
    let program = Program {
        kernel: KernelImage::from(kernel),
        packets,
        setup,
        heap_bytes: args.heap,
        commands,
        timeout: None,
        linger: args.outside.linger.map(|seconds| Duration::from_secs(seconds.into())),
    };
    if let Some((ModeName(mode), path)) = args.queues.zip(args.firmware.as_deref()) {
        check_mode(mode, path, &config, &subject)?;
    }
    let library = array::library(&config, false, quiet, |_| {})?;
    let json = args.json.as_deref().map(OutputFile::create).transpose()?;
    let heaps = args.dump.as_deref().map(|folder| create_heaps(folder, args.nodes)).transpose()?;
    let folder = CaptureFolder::make(args.net_pcap.as_deref())?;
    let tells = options.outside.is_some() && !quiet;
    let up = |up| {
        if tells {
            tell_outside(up, args.heap)
        }
    };
    let result = cluster::run(&library, &options, |node| {
        args.outside.set_registers(node)?;
        match &with_queues {
            Some(program) => program.run(node, |_, _| Vec::new()).map(NodeReport::from),
            None => program.run(node, up),
        }
    });
    let result = result.map_err(|error| explain(error, &Code::new(Some(kernel), None)))?;
    drop(folder);
    let facts = Facts {
        kernel: input::name(&args.kernel),
        preset: config.preset.clone(),
        cores: config.cores,
        lanes: config.lanes,
        warps: config.warps,
        mcw,
        link: options.link.clone(),
        links: options.links.clone(),
        seed: args.seed,
        service,
        configuration: config.clone(),
    };
    heaps.map_or(Ok(()), |heaps| write_heaps(heaps, &result.nodes))?;
    let workload = known.map(|known| known.report(&result.nodes));
    let report = Report::new(facts, workload, result, &subject.kernel, slot_bytes_log2);
    if let Some(mut json) = json {
        json.write_json(&Origin::of(&args.files()).with(&report))?;
        json.commit()?;
    }
    let printed = print::line(report.text(args.status));
    report.check()?;
    printed
}
