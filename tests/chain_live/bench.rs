//! Chains with changes on an array: steps in another order.

use std::path::PathBuf;

use hermes_rtl::config::Config;
use hermes_testbench::chain::live::{Events, Live, Step};
use hermes_testbench::chain::{Chain, ChainPlan, Ran, Setting, Sharing, Surroundings};
use hermes_testbench::cosim::{
    run_managed, ArraySetup, Arrivals, Attention, CosimError, Device as _, Host, Latency, MemoryOptions,
    Packet, RunOptions, Simulation, StreamOptions,
};
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::traffic;
use verilator_sys::Model;

use crate::branches::{ways, WAYS};
use crate::common::{models, Folder};
use crate::{folder, EVENTS};

/// A chain with changes on an array.
pub struct Bench {
    pub config: Config,
    pub folder: Folder,
    pub packets: usize,
}

impl Bench {
    /// Runs the changes of `events.toml`, after `change` has changed their steps.
    fn run(&self, change: impl FnOnce(&mut Live)) -> anyhow::Result<Ran> {
        self.run_after(None, |_, live| change(live))
    }

    /// The same after a run that was ended by a reset in cycle `reset` of it, if there is one;
    /// `change` may change the golden models, too.
    pub fn run_after(
        &self,
        reset: Option<u64>,
        change: impl FnOnce(&mut Chain, &mut Live),
    ) -> anyhow::Result<Ran> {
        std::env::set_var("HERMES_CACHE", models());
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
        let design = hermes_rtl::top::emit_top(&self.config)?;
        let library = Model::build(&design.verilog(), &hermes_testbench::model::options(&design))?;
        let memory = MemoryOptions { latency: setting.latency, ..MemoryOptions::default() };
        let mut array = Simulation::new(library.instantiate()?, memory_bytes, memory)?;
        if let Some(cycle) = reset {
            array = ended_by_a_reset(array, &setting, &arriving, cycle)?;
        }
        setting.simulate_on(array, &packets, &arriving, &mut |_| {})
    }
}

/// The array behind a reset in cycle `cycle` of a run, with packets in flight.
fn ended_by_a_reset(
    array: Simulation,
    setting: &Setting<'_>,
    arriving: &[Packet],
    cycle: u64,
) -> anyhow::Result<Simulation> {
    let mut host = Host::new(array)?;
    let setup = ArraySetup { timeout: setting.timeout, ..setting.chain.setup() };
    setting.chain.start(&mut host, &setup)?;
    let mut reset = |at: Attention<'_>| match at.now >= cycle {
        true => Err(CosimError::Observer { cycle: at.cycle, message: "a reset".to_string() }),
        false => Ok(()),
    };
    let (streams, options) = (StreamOptions::default(), setting.options);
    let ran = run_managed(&mut host, &setup, arriving, streams, options, &mut reset, &mut |_| {});
    anyhow::ensure!(ran.is_err(), "the run ended before cycle {cycle}");
    let mut array = host.into_device();
    array.reset()?;
    Ok(array)
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

/// The steps of a change in another order: the run notices each of them.
#[test]
fn steps_out_of_order_are_noticed() {
    let bench = Bench { config: array(), folder: folder(800, 3), packets: 800 };
    bench.folder.write("events.toml", EVENTS);
    let ran = bench.run(|_| {}).unwrap();
    assert!(ran.changed.unwrap().made.iter().all(|made| made.stood.is_some()));
    // Packets go to the new function before its region, or its context, is written.
    for written in [0, 1] {
        let error = bench.run(|live| {
            let steps = &live.changes[0].steps;
            let kind = |step: &Step| match written {
                0 => matches!(step, Step::Load(_)),
                _ => matches!(step, Step::Context { .. }),
            };
            // Behind the wait for what is in flight.
            let (late, steps): (Vec<_>, Vec<_>) = steps.iter().cloned().partition(kind);
            let steps = steps.into_iter().chain(late).collect();
            live.changes[0].steps = steps;
        });
        let error = format!("{:#}", error.err().expect("an error"));
        let told = ["packet ", "no instruction was retired"];
        assert!(told.iter().any(|told| error.contains(told)), "{error}");
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
fn steps_out_of_order_are_noticed_where_packets_branch() {
    let config = Config { cores: 8, network_functions: 8, function_branches: true, ..array() };
    let bench = Bench { config, folder: ways(), packets: 1_000 };
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
    // Edges lead to the new function before it has its edges, cores or context.
    for late in 0..3 {
        let error = bench.run(|live| {
            let old = number(live);
            let is_of_new = |step: &Step| match (late, step) {
                (0, Step::Context { .. }) | (2, Step::Load(_)) => true,
                (1, Step::Edges { number, .. }) => *number > old,
                _ => false,
            };
            let steps = live.changes[0].steps.iter().cloned();
            let (late, steps): (Vec<_>, Vec<_>) = steps.partition(is_of_new);
            assert!(!late.is_empty());
            live.changes[0].steps = steps.into_iter().chain(late).collect();
        });
        let error = format!("{:#}", error.err().expect("an error"));
        let told = ["packet ", "packets from ", "no instruction was retired"];
        assert!(told.iter().any(|told| error.contains(told)), "{late}: {error}");
    }
}
