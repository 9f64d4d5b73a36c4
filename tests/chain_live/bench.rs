//! Chains with changes on an array: steps in another order.

use std::path::PathBuf;

use anyhow::Context as _;
use hermes_rtl::config::Config;
use hermes_testbench::chain::live::{Events, Live, LiveHost, Made, Step};
use hermes_testbench::chain::{Chain, ChainPlan, Ran, Setting, Sharing, Surroundings};
use hermes_testbench::cosim::{
    run_managed, ArraySetup, Arrivals, Attention, CosimError, Device as _, Event, Host, Latency,
    MemoryOptions, Packet, RunOptions, Simulation, StreamOptions,
};
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::traffic;
use verilator_sys::{Model, ModelLibrary};

use crate::branches::{ways, WAYS};
use crate::common::{models, Folder};
use crate::{folder, EVENTS};

/// A chain with changes on an array.
pub struct Bench {
    pub config: Config,
    /// The model of the array.
    pub library: ModelLibrary,
    pub folder: Folder,
    pub packets: usize,
}

impl Bench {
    fn new(config: Config, folder: Folder, packets: usize) -> Self {
        Self { library: library(&config), config, folder, packets }
    }

    /// Runs the changes of `events.toml`, after `change` has changed their steps.
    fn run(&self, change: impl FnOnce(&mut Live)) -> anyhow::Result<Ran> {
        self.run_after(None, |_, live| change(live))
    }

    /// The same after a run that `reset` has ended, if there is one; `change` may change the golden
    /// models, too.
    pub fn run_after(
        &self,
        reset: Option<&mut Reset>,
        change: impl FnOnce(&mut Chain, &mut Live),
    ) -> anyhow::Result<Ran> {
        let file = |name: &str| -> PathBuf { self.folder.path(name) };
        let mut plan = ChainPlan::read(&file("edge.toml"))?;
        let events = Events::read(&file("events.toml"), &mut plan)?;
        let memory_bytes = 1 << 30;
        let on = Surroundings { config: &self.config, memory_bytes, frame_bytes: Some(128) };
        let mut chain: Chain = plan.place(on)?;
        let mut live = Live::of(&chain, &events, &self.config)?;
        change(&mut chain, &mut live);
        let frames = traffic::read(&file("in.pcap"), Some(self.packets))?.frames;
        let packets: Vec<_> =
            frames.iter().map(|frame| SlotPacket::new(frame, chain.slot_bytes_log2)).collect();
        let arriving = frames.iter().map(|frame| Packet {
            frame: frame.data.clone(),
            port: frame.port,
            flags: 0,
            arrival: 0,
        });
        let arriving: Vec<_> = arriving.collect();
        let model = chain.model().map_err(|name| anyhow::anyhow!("{name}"))?;
        let setting = Setting {
            chain: &chain,
            model: Some(&model),
            ports: true,
            memory_bytes,
            latency: Latency::Fixed(20),
            timeout: 100,
            options: RunOptions { arrivals: Arrivals::Taken, stall_limit: 50_000, ..RunOptions::default() },
            sharing: Sharing::Spatial,
            live: Some(&live),
        };
        let memory = MemoryOptions { latency: setting.latency, ..MemoryOptions::default() };
        let mut array = Simulation::new(self.library.instantiate()?, memory_bytes, memory)?;
        if let Some(reset) = reset {
            array = reset.end(array, &setting, &live, &arriving)?;
        }
        let (ran, mut host) = setting.simulate_on(array, &packets, &arriving, &mut |_| {})?;
        regions_are_kept(&mut host, &chain, &live, &ran)?;
        Ok(ran)
    }
}

/// Each byte of the regions of all functions is what the host has written there, or a zero: none of
/// these functions may store to its region, and one of another must not.
fn regions_are_kept(
    host: &mut Host<Simulation>,
    chain: &Chain,
    live: &Live,
    ran: &Ran,
) -> anyhow::Result<()> {
    let made = &ran.changed.as_ref().context("a run that changes")?.made;
    host.clean_and_invalidate_caches()?;
    for (number, function) in chain.all().enumerate() {
        let (name, region) = (&function.name, &function.region);
        anyhow::ensure!(region.parts.iter().all(|part| !part.writable), "`{name}` stores to its region");
        let mut written: Vec<(u32, &[u8])> = function.image().collect();
        // What comes with a change that was not completed is there or not.
        let mut is_sure = number < chain.functions.len();
        let mut open: Vec<(u32, &[u8])> = Vec::new();
        for (change, made) in live.changes.iter().zip(made) {
            for step in &change.steps {
                match step {
                    Step::Load(loaded) if *loaded == number => is_sure = made.stood.is_some(),
                    Step::Tables(tables) if live.tables[*tables].function == number => {
                        let data = live.tables[*tables].data.iter();
                        let data = data.map(|(address, bytes)| (*address, &bytes[..]));
                        if made.stood.is_some() {
                            written.extend(data)
                        } else {
                            open.extend(data)
                        }
                    }
                    _ => {}
                }
            }
        }
        let mut found = vec![0; region.bytes as usize];
        host.device_mut().read_memory(region.first, &mut found)?;
        let mut expected = vec![0; found.len()];
        let place = |address: u32, bytes: &[u8]| {
            let at = (address - region.first) as usize;
            at..at + bytes.len()
        };
        written.iter().for_each(|(address, bytes)| expected[place(*address, bytes)].copy_from_slice(bytes));
        for (address, bytes) in open {
            let place = place(address, bytes);
            anyhow::ensure!(
                found[place.clone()] == *bytes || found[place.clone()].iter().all(|byte| *byte == 0)
            );
            expected[place.clone()].copy_from_slice(&found[place]);
        }
        let zeros = !is_sure && found.iter().all(|byte| *byte == 0);
        let differs = (0..found.len()).find(|at| found[*at] != expected[*at]).filter(|_| !zeros);
        if let Some(at) = differs {
            let address = region.first as usize + at;
            anyhow::bail!("byte {address:#x} of `{name}` is {:#x}; it was {:#x}", found[at], expected[at]);
        }
    }
    Ok(())
}

/// A reset in a run whose chain changes, and where it fell.
#[derive(Debug)]
pub struct Reset {
    /// So many cycles behind the begin of this change.
    pub change: usize,
    pub cycles: u64,
    /// Packets were in flight.
    pub in_flight: bool,
    /// The change was under way.
    pub in_change: bool,
}

impl Reset {
    /// What its error says.
    const TOLD: &str = "a reset";

    pub fn new(change: usize, cycles: u64) -> Self {
        Self { change, cycles, in_flight: false, in_change: false }
    }

    /// Runs as `setting` says, with the changes of `live`, until the reset comes; the array behind
    /// it.
    fn end(
        &mut self,
        array: Simulation,
        setting: &Setting<'_>,
        live: &Live,
        arriving: &[Packet],
    ) -> anyhow::Result<Simulation> {
        let mut host = Host::new(array)?;
        let setup = ArraySetup { timeout: setting.timeout, ..setting.chain.setup() };
        let contexts = setting.chain.start(&mut host, &setup)?.contexts;
        let owners = setting.chain.owners(host.info().cores as usize);
        let mut manager = LiveHost::new(setting.chain, live, host.info(), contexts, owners);
        let mut committed = 0;
        let mut attend = |at: Attention<'_>| {
            let (cycle, now) = (at.cycle, at.now);
            let commits = at.events.iter().filter_map(|(_, event)| match event {
                Event::Commit(_, packets) => Some(u64::from(packets.count)),
                _ => None,
            });
            committed += commits.sum::<u64>();
            manager.attend(at)?;
            let Made { began, stood, .. } = manager.made[self.change];
            if began.is_none_or(|began| now < began + self.cycles) {
                return Ok(());
            }
            self.in_flight = manager.paths.started() > committed;
            self.in_change = stood.is_none();
            Err(CosimError::Observer { cycle, message: Self::TOLD.to_string() })
        };
        let (streams, options) = (StreamOptions::default(), setting.options);
        let ran = run_managed(&mut host, &setup, arriving, streams, options, &mut attend, &mut |_| {});
        match ran {
            // It came too late: the array is reset all the same.
            Ok(_) => {}
            Err(CosimError::Observer { message, .. }) if message == Self::TOLD => {}
            Err(error) => return Err(error.into()),
        }
        let mut array = host.into_device();
        array.reset()?;
        Ok(array)
    }
}

/// The model of an array; to emit a large one takes a second.
pub fn library(config: &Config) -> ModelLibrary {
    std::env::set_var("HERMES_CACHE", models());
    let design = hermes_rtl::top::emit_top(config).unwrap();
    Model::build(&design.verilog(), &hermes_testbench::model::options(&design)).unwrap()
}

/// The array of [`ARRAY`].
pub fn array() -> Config {
    Config {
        cores: 4,
        lanes: 4,
        warps: 4,
        channels: 2,
        aes: true,
        network_functions: 4,
        packet_ports: true,
        ..Config::preset("default").unwrap()
    }
}

/// The array of the tests of chains that branch.
pub fn array_with_branches() -> Config {
    Config { cores: 8, network_functions: 8, function_branches: true, ..array() }
}

/// The steps of a change in another order: the run notices each of them.
#[test]
fn steps_out_of_order_are_noticed() {
    let bench = Bench::new(array(), folder(800, 3), 800);
    bench.folder.write("events.toml", EVENTS);
    let ran = bench.run(|_| {}).unwrap();
    assert!(ran.changed.unwrap().made.iter().all(|made| made.stood.is_some()));
    // Packets go to the new function before its region, or its context, is written, or before it
    // has a core.
    for late in 0..3 {
        let error = bench.run(|live| {
            let steps = &live.changes[0].steps;
            let kind = |step: &Step| match late {
                0 => matches!(step, Step::Load(_)),
                1 => matches!(step, Step::Context { .. }),
                _ => matches!(step, Step::Cores(_)),
            };
            // Behind the wait for what is in flight.
            let (late, steps): (Vec<_>, Vec<_>) = steps.iter().cloned().partition(kind);
            let steps = steps.into_iter().chain(late).collect();
            live.changes[0].steps = steps;
        });
        let error = format!("{:#}", error.err().expect("an error"));
        let told = ["packet ", "no instruction was retired"];
        assert!(told[late / 2..].iter().any(|told| error.contains(told)), "{late}: {error}");
    }
    // A table is named, and packets go by it, before it is written.
    let error = bench.run(|live| live.changes[1].steps.rotate_left(1)).err();
    let error = format!("{:#}", error.expect("an error"));
    assert!(error.contains("which visited firewall"), "{error}");
    // All cores of the old function go over before packets go another way.
    let error = bench.run(|live| {
        let steps = &mut live.changes[0].steps;
        let last = steps.iter().rposition(|step| matches!(step, Step::Cores(_))).unwrap();
        let first = steps.iter().position(|step| matches!(step, Step::Cores(_))).unwrap();
        steps[first] = steps[last].clone();
    });
    let error = error.err().expect("an error").to_string();
    assert!(error.contains("no instruction was retired"), "{error}");
}

/// Where packets branch, the order of the steps matters as well: lanes wait for what goes while
/// their warp is elsewhere, so that an empty FIFO does not say that it may lose its cores.
#[test]
#[ignore = "half a minute: a run for each of six steps"]
fn steps_out_of_order_are_noticed_where_packets_branch() {
    let bench = Bench::new(array_with_branches(), ways(), 1_000);
    bench.folder.write("edge.toml", WAYS);
    bench.folder.write("events.toml", "[[event]]\npacket = 400\nreplace = \"check\"\nby = \"last.toml\"\n");
    let ran = bench.run(|_| {}).unwrap();
    assert!(ran.changed.unwrap().made[0].stood.is_some());
    let number = |live: &Live| live.first[2].1;
    let error = bench.run(|live| {
        let old = number(live);
        let drain = live.changes[0].steps.iter_mut().find(|step| **step == Step::Drain).unwrap();
        *drain = Step::Emptied(old);
    });
    let error = error.err().expect("an error").to_string();
    assert!(error.contains("no instruction was retired"), "{error}");
    // What goes loses its core before the packets in flight have left.
    let error = bench.run(|live| {
        let steps = &mut live.changes[0].steps;
        let last = steps.iter().rposition(|step| matches!(step, Step::Cores(_))).unwrap();
        let first = steps.iter().position(|step| matches!(step, Step::Cores(_))).unwrap();
        assert!(first < last);
        steps[first] = steps[last].clone();
    });
    let error = error.err().expect("an error").to_string();
    assert!(error.contains("no instruction was retired"), "{error}");
    // Edges lead to the new function before it has its context, edges, region or cores.
    for late in 0..4 {
        let error = bench.run(|live| {
            let old = number(live);
            let is_of_new = |step: &Step| match (late, step) {
                (0, Step::Context { .. }) | (2, Step::Load(_)) => true,
                (1, Step::Edges { number, .. }) => *number > old,
                (3, Step::Cores(_)) => true,
                _ => false,
            };
            let steps = live.changes[0].steps.iter().cloned();
            let (late, steps): (Vec<_>, Vec<_>) = steps.partition(is_of_new);
            assert!(!late.is_empty());
            live.changes[0].steps = steps.into_iter().chain(late).collect();
        });
        let error = format!("{:#}", error.err().expect("an error"));
        let told = ["packet ", "packets from ", "no instruction was retired"];
        let told = &told[if late == 3 { 2 } else { 0 }..];
        assert!(told.iter().any(|told| error.contains(told)), "{late}: {error}");
    }
}
