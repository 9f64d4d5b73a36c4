//! `hermes bench interrupts`: how quickly the command processor reacts to a write, and what waiting
//! for it costs: polling and user-level interrupts side by side.
//!
//! The writes are completion words of jobs of one thread, which the host starts at random times, so
//! that the command processor has no part in them. The time begins when a bank of the L2 accepts
//! the write, and ends when the first instruction that runs because of it is in stage X.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use anyhow::{ensure, Context as _};
use hermes_rtl::config::Config;
use hermes_testbench::command::CommandPorts;
use hermes_testbench::cosim::{
    ArraySetup, Descriptor, Device as _, Event, Host, Latency, MemoryOptions, Simulation, SpawnEvent,
};
use hermes_testbench::firmware::{build_firmware, Firmware, FirmwareEnd};
use hermes_testbench::staging::temporary_folder;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::ModelLibrary;

use super::figure::{Bound, Figure};
use super::times::Times;
use super::Subject;
use crate::array;

const SOURCE: &str = include_str!("../../kernels-asm/firmware/bench/response.S");
/// Bytes of the shared memory.
const MEMORY_BYTES: u64 = 1 << 24;
/// What a spawned thread does: `ret`.
const THREAD: u32 = 0x0000_8067;
/// Cycles from the start of the firmware to the first write, in which it comes to where it waits.
const START: u64 = 20_000;
/// Cycles between the end of a job and the start of the next.
const GAPS: std::ops::Range<u64> = 100..1_000;
/// The first writes find instructions and the word not in the caches; they are not counted.
const WARM_UP: usize = 2;
/// Cycles that the firmware may take to end after its last write.
const END: u64 = 100_000;
/// Addresses of shared memory are below.
const OUTSIDE: u32 = 0xfff0_0000;

#[derive(clap::Args)]
pub struct Args {
    /// Writes for each way of waiting
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    events: u32,
    /// Seed of the times of the writes
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Cycles from a memory request to its response
    #[arg(long, value_name = "CYCLES", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    latency: u32,
}

/// A way of waiting; their order is that of `way` in the firmware.
struct Way {
    name: &'static str,
    /// Label of the first instruction that runs because of a write.
    reaction: &'static str,
    /// Between this label and the one with `_end` the program does useful work.
    useful: Option<&'static str>,
    /// What 99 of 100 responses may take.
    limit: Option<f64>,
}

const WAYS: [Way; 5] = [
    Way { name: "load_poll", reaction: "load_poll_reaction", useful: None, limit: None },
    Way { name: "csr_poll", reaction: "csr_poll_reaction", useful: None, limit: None },
    Way { name: "interrupt", reaction: "handler", useful: Some("interrupt_useful"), limit: Some(10.0) },
    Way { name: "interrupt_loads", reaction: "handler", useful: Some("interrupt_loads_useful"), limit: None },
    Way { name: "sleep", reaction: "handler", useful: None, limit: Some(15.0) },
];

pub fn measure(args: &Args, on: &mut Subject, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    let config = Config { command_threads: 1, uli_channels: 2, ..super::spawn::config()? };
    config.validate()?;
    on.add(&config);
    on.seed = Some(args.seed);
    let library = array::library(&config, false, quiet, |_| {})?;
    let folder = temporary_folder("hermes-")?;
    let (source, path) = (folder.path().join("response.S"), folder.path().join("response.elf"));
    std::fs::write(&source, SOURCE)?;
    build_firmware(&[source], &path)?;
    let mut figures = Vec::new();
    for (number, way) in WAYS.iter().enumerate() {
        let firmware = Firmware::read(&path)?;
        let measured = Measured::of(&library, firmware, number as u32, args).context(way.name)?;
        figures.extend(measured.figures(way)?);
    }
    Ok(figures)
}

/// What the trace showed.
#[derive(Default)]
struct Watch {
    /// Cycles in which a bank accepted a completion word.
    accepted: Vec<u64>,
    /// Instructions of the command processor: cycle, PC, whether it loaded from shared memory.
    retired: Vec<(u64, u32, bool)>,
}

/// A run of the firmware.
struct Measured {
    watch: Watch,
    symbols: HashMap<String, u32>,
    events: usize,
}

impl Measured {
    /// Runs the firmware with way number `way`.
    fn of(library: &ModelLibrary, mut firmware: Firmware, way: u32, args: &Args) -> anyhow::Result<Self> {
        let memory = MemoryOptions { latency: Latency::Fixed(args.latency), ..MemoryOptions::default() };
        let mut host = Host::new(Simulation::new(library.instantiate()?, MEMORY_BYTES, memory)?)?;
        let symbols = firmware.executable.symbols.iter();
        let symbols: HashMap<_, _> = symbols.map(|symbol| (symbol.name.clone(), symbol.address)).collect();
        let symbol = |name: &str| symbols.get(name).copied().with_context(|| format!("no label {name}"));
        for (name, value) in [("way", way), ("events", args.events)] {
            let address = symbol(name)?;
            let segments = &mut firmware.executable.segments;
            let word = segments.iter_mut().find_map(|segment| {
                let offset = address.checked_sub(segment.address)? as usize;
                segment.bytes.get_mut(offset..offset + 4)
            });
            word.with_context(|| format!("{name} has no bytes"))?.copy_from_slice(&value.to_le_bytes());
        }
        host.reserve_firmware(&firmware)?;
        let entry = host.rmalloc("the thread's code", 64)?;
        host.device_mut().write_memory(entry, &THREAD.to_le_bytes())?;
        host.configure(&ArraySetup { ring_slots_log2: 5, slot_bytes_log2: 8, ..ArraySetup::default() })?;
        host.write("INVALIDATE", 3)?;
        let watch = Rc::new(RefCell::new(Watch::default()));
        let ports = CommandPorts::bind(host.device_mut().model_mut())?;
        let seen = Rc::clone(&watch);
        host.device_mut().set_observer(Box::new(move |cycle, model, events, _| {
            let mut seen = seen.borrow_mut();
            let completes = |event: &Event| matches!(event, Event::Spawn(SpawnEvent::Complete(_)));
            if events.iter().any(|(_, event)| completes(event)) {
                // A completion word that the L2 has is acknowledged two cycles after its
                // acceptance, and the job is complete.
                seen.accepted.push(cycle - 2);
            }
            if let Some(retired) = ports.sample(model) {
                let loads = retired.word & 0x7f == 0x03 && retired.address < OUTSIDE;
                seen.retired.push((cycle, retired.pc, loads));
            }
            Ok(())
        }));
        let job = Descriptor {
            entry,
            threads: 1,
            small_registers: host.read("KERNEL_CLASS")? == 1,
            completion: symbol("completion")?,
            token: 1,
            ..Descriptor::default()
        };
        host.start_firmware(&firmware)?;
        host.enable_spawner(2, 0)?;
        host.device_mut().run(START)?;
        let mut random = ChaCha8Rng::seed_from_u64(args.seed);
        host.spawn(0, &job)?;
        for _ in 1..args.events {
            host.wait_for_jobs(1)?;
            host.device_mut().run(random.gen_range(GAPS))?;
            host.spawn_again(0, job.entry)?;
        }
        host.wait_for_jobs(1)?;
        let last = host.device_mut().cycle();
        let end = loop {
            if let Some(end) = host.attend_firmware()? {
                break end;
            }
            ensure!(host.device_mut().cycle() - last < END, "the firmware has not seen every write");
            host.device_mut().run(200)?;
        };
        ensure!(end == FirmwareEnd::Value(0), "the firmware: {}", end.explain(&firmware));
        let watch = watch.take();
        Ok(Self { watch, symbols, events: args.events as usize })
    }

    fn figures(&self, way: &Way) -> anyhow::Result<Vec<Figure>> {
        let label = |name: &str| self.symbols.get(name).copied().with_context(|| format!("no label {name}"));
        let reaction = label(way.reaction)?;
        let Watch { accepted, retired } = &self.watch;
        // W follows X.
        let reactions: Vec<u64> =
            retired.iter().filter(|(_, pc, _)| *pc == reaction).map(|(cycle, ..)| cycle - 1).collect();
        ensure!(
            accepted.len() == self.events && reactions.len() == self.events,
            "not a reaction for each write"
        );
        let follows = |i: usize| {
            reactions[i] > accepted[i] && accepted.get(i + 1).is_none_or(|next| reactions[i] < *next)
        };
        ensure!((0..self.events).all(follows), "a reaction before its write, or behind the next one");
        let responses: Vec<u64> = (WARM_UP..self.events).map(|i| reactions[i] - accepted[i]).collect();
        let times = Times::of(&responses);
        // From a write to the last one: so many reactions with what comes after them.
        let window = accepted[WARM_UP]..accepted[self.events - 1];
        let count = (self.events - 1 - WARM_UP) as f64;
        let cycles = (window.end - window.start) as f64;
        let useful = match way.useful {
            Some(name) => label(name)?..label(&format!("{name}_end"))?,
            None => 0..0,
        };
        let inside = || retired.iter().filter(|(cycle, ..)| window.contains(cycle));
        let all = inside().count() as f64;
        let works = inside().filter(|(_, pc, _)| useful.contains(pc)).count() as f64;
        let waits_loads = inside().filter(|(_, pc, loads)| *loads && !useful.contains(pc)).count() as f64;
        let name = way.name;
        let p99 = Figure::new(format!("{name}_response_p99"), times.p99, "cycles");
        let mut figures = vec![
            Figure::new(format!("{name}_response_p50"), times.p50, "cycles"),
            way.limit.map_or(p99.clone(), |limit| p99.limit(Bound::AtMost(limit))),
            Figure::new(format!("{name}_overhead_per_event"), (all - works) / count, "instructions"),
            Figure::new(
                format!("{name}_overhead_per_1000_cycles"),
                (all - works) / cycles * 1e3,
                "instructions",
            ),
            Figure::new(format!("{name}_l2_reads_per_event"), waits_loads / count, "lines"),
        ];
        if way.useful.is_some() {
            let useful =
                Figure::new(format!("{name}_useful_per_1000_cycles"), works / cycles * 1e3, "instructions");
            figures.push(useful);
        }
        Ok(figures)
    }
}
