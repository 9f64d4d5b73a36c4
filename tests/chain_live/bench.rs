//! Chains with changes on an array: steps in another order, and many changes.

use std::path::PathBuf;

use hermes_rtl::config::Config;
use hermes_testbench::chain::live::{Events, Live, Step};
use hermes_testbench::chain::{Chain, ChainPlan, Ran, Setting, Sharing, Surroundings};
use hermes_testbench::cosim::{Arrivals, Latency, Packet, RunOptions};
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::{test_seed, traffic};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::Model;

use crate::common::{models, Folder};
use crate::{folder, EVENTS};

/// A chain with changes on an array.
struct Bench {
    config: Config,
    folder: Folder,
    packets: usize,
}

impl Bench {
    /// Runs the changes of `events.toml`, after `change` has changed their steps.
    fn run(&self, change: impl FnOnce(&mut Live)) -> anyhow::Result<Ran> {
        std::env::set_var("HERMES_CACHE", models());
        let file = |name: &str| -> PathBuf { self.folder.path(name) };
        let mut plan = ChainPlan::read(&file("edge.toml"))?;
        let events = Events::read(&file("events.toml"), &mut plan)?;
        let memory_bytes = 1 << 30;
        let on = Surroundings { config: &self.config, memory_bytes, frame_bytes: Some(128) };
        let chain: Chain = plan.place(on)?;
        let mut live = Live::of(&chain, &events, &self.config)?;
        change(&mut live);
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
        setting.simulate(library.instantiate()?, &packets, &arriving, &mut |_| {})
    }
}

/// The array of [`ARRAY`].
fn array() -> Config {
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

/// Changes of a chain of light functions, by a random source: the file of them, and the manifests
/// and inputs that it names.
fn random_changes(folder: &Folder, packets: usize, random: &mut ChaCha8Rng) -> usize {
    let light = |name: &str, random: &mut ChaCha8Rng| {
        let kind = ["dec-ttl", "check-ip-header", "classifier-bv"][random.gen_range(0..3)];
        let inputs = if kind == "classifier-bv" { "inputs = { rules = \"rules-0\" }\n" } else { "" };
        let text = format!("[function]\nname = \"{name}\"\napp = \"{kind}\"\nwatchdog = 20_000\n{inputs}");
        folder.write(&format!("{name}.toml"), text);
        kind == "classifier-bv"
    };
    // New tables are smaller than those before: a region has room for as much as there is.
    for (file, count, seed) in [("rules-0", 12, 1), ("rules-1", 6, 2), ("rules-2", 6, 3)] {
        folder.succeed(&format!("gen-rules --kind fw --count {count} --deny 3 --seed {seed} -o {file}"));
    }
    // Hangs with one packet in 256, and is dec-ttl else.
    let honest =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels-asm/dec-ttl.S")).unwrap();
    let hostile = honest.replace(
        "    .globl  kernel\n    .type   kernel, @function\nkernel:\n",
        concat!(
            "    .globl  kernel\n    .type   kernel, @function\nkernel:\n",
            "    andi    a3, a0, 255\n    addi    a3, a3, -77\nhang: beqz a3, hang\n",
        ),
    );
    folder.write("hostile.S", hostile);
    folder.write(
        "hostile.toml",
        "[function]\nname = \"hostile\"\napp = \"dec-ttl\"\nsource = \"hostile.S\"\nwatchdog = 2_000\nrv32e = true\n",
    );
    let graph = |names: &[String], hostile: &str| -> String {
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut text = String::new();
        for (at, name) in all.iter().enumerate() {
            let next = all.get(at + 1).copied().unwrap_or("end");
            let (manifest, hang) = match *name == hostile {
                true => {
                    ("hostile", format!("name = \"{name}\"\non_hang = \"report\"\nhang_faults = 1_000_000\n"))
                }
                false => (*name, String::new()),
            };
            text += &format!("[[function]]\nmanifest = \"{manifest}.toml\"\nnext = \"{next}\"\n{hang}");
        }
        text
    };
    let mut count = 0;
    let mut new_name = || {
        count += 1;
        format!("f{count}")
    };
    // Functions in their order; whether they take tables once more.
    let mut fresh = |random: &mut ChaCha8Rng| {
        let name = new_name();
        let has_tables = light(&name, random);
        (name, has_tables)
    };
    let mut functions: Vec<_> = (0..3).map(|_| fresh(random)).collect();
    functions.insert(1, ("hostile".to_string(), false));
    let names =
        |functions: &[(String, bool)]| functions.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    folder.write("edge.toml", format!("limit = 48\n{}", graph(&names(&functions), "hostile")));
    let (mut text, mut packet, mut graphs, mut changes) = (String::new(), 0, 0, 0);
    loop {
        packet += random.gen_range(64..=4_096);
        if packet + 64 > packets {
            break;
        }
        let is_hostile = |name: &str| name.starts_with("hostile");
        let at = random.gen_range(0..functions.len());
        let change = match random.gen_range(0..12) {
            0..=1 if functions.len() < 5 => {
                let new = fresh(random);
                let line = format!("insert = \"{}.toml\"\nbefore = \"{}\"\n", new.0, functions[at].0);
                functions.insert(at, new);
                line
            }
            2..=3 if functions.len() > 3 && !is_hostile(&functions[at].0) => {
                format!("remove = \"{}\"\n", functions.remove(at).0)
            }
            4..=6 if !is_hostile(&functions[at].0) => {
                let new = fresh(random);
                let line = format!("replace = \"{}\"\nby = \"{}.toml\"\n", functions[at].0, new.0);
                functions[at] = new;
                line
            }
            7..=8 if functions[at].1 => {
                functions[at].1 = false;
                let rules = random.gen_range(1..3);
                format!("table = \"{}\"\ninputs = {{ rules = \"rules-{rules}\" }}\n", functions[at].0)
            }
            9..=10 => {
                // One core more for one of them, of six.
                let mut counts = vec![1; functions.len()];
                (functions.len()..6).for_each(|_| counts[random.gen_range(0..functions.len())] += 1);
                let each = functions.iter().zip(counts).map(|((name, _), count)| format!("{name} = {count}"));
                format!("cores = {{ {} }}\n", each.collect::<Vec<_>>().join(", "))
            }
            11 => {
                graphs += 1;
                let hostile = format!("hostile-{graphs}");
                functions = (0..random.gen_range(1..3)).map(|_| fresh(random)).collect();
                functions.push((hostile.clone(), false));
                folder.write(&format!("graph-{graphs}.toml"), graph(&names(&functions), &hostile));
                format!("entry = \"graph-{graphs}.toml\"\n")
            }
            _ => continue,
        };
        changes += 1;
        text += &format!("[[event]]\npacket = {packet}\n{change}\n");
    }
    folder.write("events.toml", text);
    changes
}

/// Packets through a chain with changes each 64 to 4,096 packets, drops, and one hostile function:
/// each leaves once, in order, with the bytes of the golden models. `HERMES_PACKETS` says how many,
/// `HERMES_SEED` repeats a run.
#[test]
#[ignore = "minutes"]
fn soak() {
    let packets = std::env::var("HERMES_PACKETS").ok().and_then(|text| text.parse().ok()).unwrap_or(1 << 15);
    let config = Config { cores: 6, network_functions: 8, ..array() };
    soak_of(config, packets);
}

fn soak_of(config: Config, packets: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(test_seed());
    let folder = Folder::new();
    let changes = random_changes(&folder, packets, &mut random);
    folder.succeed(&format!(
        "gen-trace --kind fixed:60 --packets {packets} --bad-share 3 --rules rules-0 --seed 7 -o in.pcap"
    ));
    let bench = Bench { config, folder, packets };
    let ran = bench.run(|_| {}).unwrap();
    let changed = ran.changed.unwrap();
    let stood = changed.made.iter().filter(|made| made.stood.is_some()).count();
    let forwarded = ran.result.packets.iter().filter(|packet| packet.verdict >> 31 == 0).count();
    let faulted: u32 = ran.counts.iter().map(|counts| counts.faulted).sum();
    println!(
        "{packets} packets, {} cycles, {stood} of {changes} changes, {forwarded} forwarded, {faulted} faults",
        ran.result.cycles
    );
    assert_eq!(ran.result.packets.len(), packets);
    assert!(stood + 2 >= changes && forwarded > 0 && faulted > 0);
}
