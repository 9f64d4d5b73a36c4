//! The program of Figure 3 of the paper on Pangaea, end to end: a job is started by one store of
//! the command processor, and its end interrupts it in user level. It runs on hart 0 of one, and on
//! hart 3 of four while the others run too: the tag of the completion word, 31, would be that of a
//! store of hart 3, whose own stores do not interrupt it (U5).

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::OnceLock;

use hermes_rtl::config::{Config, EXIT_ADDRESS};
use hermes_testbench::cosim::{
    ArraySetup, Device as _, Event, Host, KernelImage, Latency, MemoryOptions, RetirePorts, Simulation,
    SpawnEvent,
};
use hermes_testbench::iss::TraceCycle;
use hermes_testbench::kernel::{build_source, Kernel, RegisterClass};
use hermes_testbench::model;
use rand::Rng as _;
use verilator_sys::ModelLibrary;

use super::array::{random, MEMORY_BYTES};

const THREADS: u32 = 100;
const ROUNDS: u32 = 5;

fn config(harts: usize) -> Config {
    let default = Config::preset("default").unwrap();
    Config {
        cores: 2,
        lanes: 4,
        warps: 8,
        atomics: true,
        command_threads: harts,
        uli_channels: 2,
        spawn_slots: 16,
        trace: true,
        l2_banks: 2,
        l2_bank_lines: 32,
        ..default
    }
}

fn library(harts: usize) -> &'static ModelLibrary {
    static LIBRARIES: [OnceLock<ModelLibrary>; 2] = [OnceLock::new(), OnceLock::new()];
    LIBRARIES[usize::from(harts > 1)].get_or_init(|| {
        let design = hermes_rtl::top::emit_top(&config(harts)).unwrap();
        model::brief(&design).unwrap()
    })
}

/// An instruction of the command processor that retired: cycle, PC.
type Retired = Rc<RefCell<Vec<(u64, u32)>>>;

struct Run {
    host: Host<Simulation>,
    kernel: Kernel,
    retired: Vec<(u64, u32)>,
    events: Vec<(u64, SpawnEvent)>,
    /// What retired on the cores: cycle, PC.
    on_cores: Vec<(u64, u32)>,
    harts: usize,
    /// The hart of the program.
    hart: u32,
}

impl Run {
    fn new(harts: usize, memory: MemoryOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figure-3.elf");
        let source = include_str!("kernels/figure-3.S");
        build_source("figure-3.S", source, RegisterClass::Rv32i, &path).unwrap();
        let kernel = Kernel::read(&path).unwrap();
        let simulation =
            Simulation::new(library(harts).instantiate().unwrap(), MEMORY_BYTES, memory).unwrap();
        let mut host = Host::new(simulation).unwrap();
        host.load_kernel(&KernelImage::from(&kernel)).unwrap();
        host.configure(&ArraySetup { ring_slots_log2: 5, slot_bytes_log2: 8, ..ArraySetup::default() })
            .unwrap();
        host.enable_spawner(4, 0).unwrap();
        Self {
            host,
            kernel,
            retired: vec![],
            events: vec![],
            on_cores: vec![],
            harts,
            hart: if harts > 1 { 3 } else { 0 },
        }
    }

    fn label(&self, name: &str) -> u32 {
        self.kernel.symbol(name).unwrap().address
    }

    fn word(&mut self, name: &str, index: u32) -> u32 {
        let address = self.label(name) + 4 * index;
        let mut word = [0; 4];
        self.host.device_mut().read_memory(address, &mut word).unwrap();
        u32::from_le_bytes(word)
    }

    /// Starts the harts and waits for the `ebreak` of the one with the program.
    fn run(&mut self) {
        let model = self.host.device_mut().model_mut();
        let valid = model.output("trace_cp_valid", 1).unwrap();
        let pc = model.output("trace_cp_pc_rdata", 32).unwrap();
        let number = model.output("trace_cp_hart", 3).unwrap();
        let of_program = u64::from(self.hart);
        let cores = RetirePorts::bind(model, 2, 4).unwrap();
        let (retired, on_cores) = (Retired::default(), Retired::default());
        let seen_on_cores = Rc::clone(&on_cores);
        let (seen, events) = (Rc::clone(&retired), Rc::<RefCell<Vec<_>>>::default());
        let noted = Rc::clone(&events);
        self.host.device_mut().set_observer(Box::new(move |cycle, model, happened, _| {
            if model.get_bool(valid) && model.get_u64(number) == of_program {
                seen.borrow_mut().push((cycle, model.get_u64(pc) as u32));
            }
            let mut trace = TraceCycle::default();
            cores.sample(model, &mut trace);
            seen_on_cores.borrow_mut().extend(trace.retired.iter().map(|got| (cycle, got.pc)));
            for (cycle, event) in happened {
                if let Event::Spawn(event) = event {
                    noted.borrow_mut().push((*cycle, *event));
                }
            }
            Ok(())
        }));
        // Each takes CP_ENTRY when it starts.
        let mut running = 0x100;
        for hart in (0..self.harts as u32).filter(|hart| *hart != self.hart).chain([self.hart]) {
            let entry = self.label(if hart == self.hart { "firmware" } else { "other_hart" });
            running |= 1 << hart;
            self.host.write("CP_ENTRY", entry).unwrap();
            self.host.write("CP_CONTROL", running).unwrap();
        }
        let bit = 1 << self.hart;
        for _ in 0..2_000 {
            if self.host.read("CP_STATUS").unwrap() & bit != 0 {
                break;
            }
            self.host.device_mut().run(100).unwrap();
        }
        let status = self.host.read("CP_STATUS").unwrap();
        assert_eq!(status & ((1 << self.harts) - 1), bit, "the hart does not end, or another does");
        // The hart of the program is not held: the descriptor page is still its.
        self.host.write("CP_CONTROL", 0x100 | bit).unwrap();
        let all = (1 << self.harts) - 1;
        self.host.wait_until("CP_QUIET", |value| value & all == all).unwrap();
        self.retired = retired.take();
        self.events = events.take();
        self.on_cores = on_cores.take();
        self.host.clean_caches().unwrap();
    }

    /// Cycles in which the instruction at `label` retired.
    fn retired_at(&self, label: &str) -> Vec<u64> {
        let pc = self.label(label);
        self.retired.iter().filter(|(_, at)| *at == pc).map(|(cycle, _)| *cycle).collect()
    }
}

fn check(harts: usize, memory: MemoryOptions) -> Run {
    let mut run = Run::new(harts, memory);
    run.run();
    assert_eq!(run.word("state", 4), 0, "the program failed at {:#x}", run.word("state", 4));
    assert_eq!(run.word("state", 0), ROUNDS, "a handler for each job");
    assert_eq!(run.word("state", 1), 0x100, "channel 0, scenario 1");
    assert_eq!(run.word("completion", 0), 1, "the token of the last round");
    assert!(run.word("state", 3) > 2, "the main program works on meanwhile");
    for thread in 0..THREADS {
        assert_eq!(run.word("results", thread), (1 << 10) + thread, "thread {thread}");
    }
    // The last one is without interrupt.
    assert_eq!(run.host.read("SPAWN_JOBS").unwrap(), ROUNDS + 1);
    assert_eq!(run.host.read("SPAWN_ERRORS").unwrap(), 0);
    let page = run.label("page");
    assert_eq!(run.host.read("SPAWN_BASE").unwrap(), page);
    assert_eq!(run.retired_at("handler").len(), ROUNDS as usize);
    run
}

#[test]
fn a_job_is_started_by_a_store_and_its_end_interrupts() {
    let mut random = random();
    for harts in [1, 4] {
        let latency = Latency::Random(1, 60);
        check(harts, MemoryOptions { latency, seed: random.gen(), ..MemoryOptions::default() });
    }
}

/// The same with a quick memory, and the limits of the design: SIGNAL to the entry's first fetch at
/// most 13 cycles on an idle array, the write's acceptance at the bank to the handler in stage X at
/// most 10, the last EXIT to the handler at most 30.
#[test]
fn signal_and_interrupt_are_quick() {
    for harts in [1, 4] {
        are_quick(harts);
    }
}

fn are_quick(harts: usize) {
    println!("{harts} harts run:");
    let run = check(harts, MemoryOptions { latency: Latency::Fixed(2), ..MemoryOptions::default() });
    // Stage W of the entry's first instruction is five cycles behind the lookup in the instruction
    // cache. A job of one warp, since the warps of a large one hold each other up.
    let (signal, entry) = (run.retired_at("signal_few")[0], run.label("threads"));
    let found = run.on_cores.iter().find(|(cycle, pc)| *cycle > signal && *pc == entry);
    let fetch = found.expect("a thread runs").0 - 5;
    println!("SIGNAL in W {signal}, the entry's first fetch {fetch}: {}", fetch - signal);
    assert!(fetch - signal <= 13, "SIGNAL to the entry's first fetch: {} cycles", fetch - signal);
    // EMONITOR and what comes after it, ERETURN and where the program goes on.
    for (label, later) in [("arm", 5), ("leave", 4)] {
        let pc = run.label(label);
        let pairs = run.retired.windows(2).filter(|pair| pair[0].1 == pc);
        let waits: Vec<u64> = pairs.map(|pair| pair[1].0 - pair[0].0 - 1).collect();
        println!("{label}: the next instruction later by {waits:?}");
        // Others may have the slot.
        assert!(
            harts > 1 || waits.last() == Some(&later),
            "{label}: the next instruction later by {waits:?}"
        );
    }
    // A completion write that the L2 has is acknowledged two cycles after its acceptance; W follows
    // X.
    let completes: Vec<u64> =
        run.events.iter().filter(|(_, e)| matches!(e, SpawnEvent::Complete(_))).map(|(c, _)| *c).collect();
    let handlers = run.retired_at("handler");
    // The first finds the handler not in the instruction cache.
    for (complete, handler) in completes.iter().zip(&handlers).skip(1) {
        let (accepted, in_x) = (complete - 2, handler - 1);
        let mut exits = run.on_cores.iter().filter(|(cycle, pc)| cycle < handler && *pc == EXIT_ADDRESS);
        let exit = exits.next_back().expect("a thread ended").0;
        println!(
            "last EXIT {exit}, completion accepted {accepted}, handler in X {in_x}: {}, {}",
            in_x - exit,
            in_x - accepted
        );
        assert!(in_x - accepted <= 10, "acceptance to the handler in X: {} cycles", in_x - accepted);
        assert!(in_x - exit <= 30, "the last EXIT to the handler in X: {} cycles", in_x - exit);
    }
}
