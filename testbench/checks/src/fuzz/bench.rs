//! Runs programs on a Verilated array and compares what it does with the reference.

use std::cell::RefCell;
use std::rc::Rc;

use hermes_rtl::config::Config;
use hermes_rtl::core::TRAP_CAUSES;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::ModelLibrary;

use super::assemble::assemble;
use super::coverage::Coverage;
use super::generate::Case;
use super::program::{Program, ADDRESS, HELP, PRIVATE, STACK_BYTES};
use super::reference::{warps_of, Reference};
use crate::cosim::{
    self, ArraySetup, CosimError, Event, FaultRecord, Host, KernelImage, Layout, MemoryImage, MemoryOptions,
    Packet, RetirePorts, RunOptions, RunResult, Simulation, LINE,
};
use crate::iss::{Instruction, Machine, Op, Protection, TraceCycle, TrapEntry, WarpStart, Window};
use crate::lockstep::{Checker, Mismatch};
use crate::slot::{SlotPacket, FRAME_OFFSET};

/// Where programs stand: the lowest address that is given out, so that all else comes behind, in
/// the order of allocation.
const CODE_BASE: u32 = LINE as u32;
/// Bytes of the page of a trap entry.
const PAGE: u32 = 0x1000;
/// Where programs stand whose handler is below them.
const HIGH_BASE: u32 = 2 * PAGE;
/// Bytes of the shared memory.
const MEMORY_BYTES: u64 = 64 << 20;
/// Bytes of a ring slot, as a power of two: descriptor, frame, private bytes, dump of the
/// registers.
const SLOT_BYTES_LOG2: u32 = 8;
/// Stack bytes of a thread, as a power of two.
const STACK_BYTES_LOG2: u32 = STACK_BYTES.ilog2();
/// Cycles without an event after which a run is given up.
const WATCHDOG: u64 = 200_000;

/// Why a program failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The array broke a rule, or got stuck.
    #[error(transparent)]
    Array(#[from] CosimError),
    /// A retired instruction differs.
    #[error(transparent)]
    Retired(#[from] Box<Mismatch>),
    /// What the run left behind differs.
    #[error("{0}")]
    Result(String),
}

impl Failure {
    /// Whether two failures are of one kind, so that shrinking does not wander from one to the
    /// other.
    pub fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// What a program that passed did.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Warp-instructions retired, those of the topmost 256 bytes not counted.
    pub warp_instructions: u64,
    /// Lane-instructions retired, counted alike.
    pub lane_instructions: u64,
    /// Cycles.
    pub cycles: u64,
    /// Retired warp-instructions that were compared one by one; 0 without trace.
    pub compared: u64,
    /// Threads that went to the trap entry.
    pub trapped: u64,
    /// What ran.
    pub coverage: Coverage,
}

/// What threads that fault execute instead of their end, on an array with a thread spawner.
struct Handler {
    entry: TrapEntry,
    words: Vec<u32>,
}

impl Handler {
    /// A handler for code of so many words at `base`, in the page below it or behind it. It goes on
    /// behind the instruction that faulted, at once, or ends its threads; it changes a register and
    /// goes back to the instruction, once; now and then it faults itself. What it goes to may be
    /// odd: `jalr` drops bit 0.
    fn draw(random: &mut ChaCha8Rng, base: u32, words: usize) -> Self {
        let end = base + 4 * words as u32;
        let code = |op, rd, rs1, immediate| Instruction { op, rd, rs1, rs2: 0, immediate }.encode();
        let odd = i32::from(random.gen::<bool>());
        let skip = code(Op::Jalr, 0, 4, 4 + odd);
        let words = match random.gen_range(0..6) {
            0 => vec![skip],
            1 => vec![code(Op::Addi, 4, 4, 4), code(Op::Jalr, 0, 4, odd)],
            // A thread whose tp is 4 modulo 8 ends.
            2 => vec![code(Op::Andi, HELP, 4, 4), branch_over(HELP), code(Op::Ebreak, 0, 0, 0), skip],
            // A load of an odd address: of a fault with another place, none comes back.
            3 => vec![code(Op::Andi, HELP, 4, 4), branch_over(HELP), code(Op::Lw, HELP, 4, 1), skip],
            // An access that faulted is done again where the thread may access memory. What faults
            // there, too, is skipped.
            _ => vec![
                Instruction { op: Op::Beq, rd: 0, rs1: ADDRESS, rs2: PRIVATE, immediate: 12 }.encode(),
                code(Op::Addi, ADDRESS, PRIVATE, 0),
                code(Op::Jalr, 0, 4, odd),
                skip,
            ],
        };
        let causes = if random.gen() { TRAP_CAUSES as u32 } else { random.gen::<u32>() & 0xfff };
        let page = if base == CODE_BASE { end.next_multiple_of(PAGE) } else { base - PAGE };
        Self { entry: TrapEntry { page, causes }, words }
    }
}

/// A branch over the next instruction where a register is 0.
fn branch_over(register: u8) -> u32 {
    Instruction { op: Op::Beq, rd: 0, rs1: register, rs2: 0, immediate: 8 }.encode()
}

/// FAULT_ENTRY: threads of packets go there, too.
const TRAPS_OF_PACKETS: u32 = 2;

/// An array on which programs run.
pub struct Bench {
    library: ModelLibrary,
    config: Config,
    memory: MemoryOptions,
    watchdog: u32,
}

/// What is compared in every cycle.
struct Lockstep {
    checker: Checker,
    ports: RetirePorts,
    trace: TraceCycle,
    reference: Reference,
    mismatch: Option<Box<Mismatch>>,
}

impl Bench {
    /// A bench with a model of an array of this configuration. The seed of `memory` is replaced by
    /// that of the case.
    pub fn new(library: ModelLibrary, config: Config, memory: MemoryOptions) -> Self {
        Self { library, config, memory, watchdog: 0 }
    }

    /// Lets the array's watchdog end warps that run for more than 1 to `most` cycles, as the seed
    /// of the case says. What warps left behind is known only if every retired instruction is
    /// compared.
    pub fn set_watchdog(&mut self, most: u32) {
        self.watchdog = most;
    }

    /// Whether every retired instruction is compared, else only what a run leaves behind.
    pub fn has_trace(&self) -> bool {
        RetirePorts::present(self.library.ports())
    }

    /// Bytes of the frames that fill a slot.
    pub const fn frame_bytes() -> usize {
        (1 << SLOT_BYTES_LOG2) - FRAME_OFFSET
    }

    /// Where the program of a case stands: of an array with a thread spawner every second one
    /// leaves room for its handler below it.
    pub fn code_base(&self, seed: u64) -> u32 {
        let is_high = self.config.spawn_slots > 0 && ChaCha8Rng::seed_from_u64(seed ^ 0xba5e).gen();
        if is_high {
            HIGH_BASE
        } else {
            CODE_BASE
        }
    }

    /// Runs a case. `seed` decides on warps per core, time-outs, and the memory's latencies.
    ///
    /// # Errors
    /// The first difference between array and reference.
    pub fn run(&self, case: &Case, seed: u64) -> Result<Outcome, Failure> {
        let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed);
        let Case { program, table, frames } = case;
        let words = assemble(program);
        let base = self.code_base(seed);
        let has_traps = self.config.spawn_slots > 0;
        let handler = has_traps.then(|| Handler::draw(&mut random, base, words.len()));
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let mut segments = vec![(base, bytes(&words))];
        segments.extend(handler.iter().map(|handler| (handler.entry.page, bytes(&handler.words))));
        let kernel =
            KernelImage { segments, entry: base, registers: u32::from(program.features.isa().registers()) };
        if self.watchdog != 0 && !self.has_trace() {
            let needs = "the watchdog needs a model with trace ports";
            return Err(Failure::Result(needs.to_string()));
        }
        let memory = MemoryOptions { seed, ..self.memory.clone() };
        let mut host = Host::new(Simulation::new(
            self.library.instantiate().map_err(CosimError::from)?,
            MEMORY_BYTES,
            memory,
        )?)?;
        host.load_kernel(&kernel)?;
        let mut argument = table.clone();
        argument.resize(program.argument_bytes() as usize, 0);
        let setup = ArraySetup {
            ring_slots_log2: program.packets.next_power_of_two().trailing_zeros(),
            slot_bytes_log2: SLOT_BYTES_LOG2,
            mcw: random.gen_range(1..=host.most_warps()),
            timeout: random.gen_range(16..256),
            adaptive: None,
            eager: random.gen(),
            stack_bytes_log2: STACK_BYTES_LOG2,
            watchdog: if self.watchdog == 0 { 0 } else { random.gen_range(1..=self.watchdog) },
            argument,
            egress: None,
        };
        let layout = host.configure(&setup)?;
        let features = program.features;
        let protection =
            if features.windows { open_windows(&mut host, &setup, &layout)? } else { Protection::Off };
        let machine = Machine {
            protection,
            scratchpad: features.scratchpad,
            instret: features.instret,
            network: features.network,
            watchdog: setup.watchdog != 0,
            traps: handler.as_ref().map(|handler| handler.entry),
            ..layout.machine(features.isa(), self.config.lanes as u32, &kernel, &setup)
        };
        if let Some(Handler { entry, .. }) = &handler {
            host.write("FAULT_CAUSES", entry.causes)?;
            host.write("FAULT_ENTRY", entry.page | TRAPS_OF_PACKETS)?;
        }
        let before = host.device_mut().image().clone();
        let lockstep = self.attach(&mut host, &machine, &before)?;

        let packet = |frame: &Vec<u8>| Packet { frame: frame.clone(), port: 0, flags: 0, arrival: 0 };
        let packets: Vec<Packet> = frames.iter().map(packet).collect();
        let options = RunOptions { stall_limit: WATCHDOG, commit_limit: WATCHDOG, ..RunOptions::default() };
        let result = cosim::run(&mut host, &setup, &layout, &packets, options, &mut |_| {});
        if let Some(mismatch) = lockstep.as_ref().and_then(|l| l.borrow_mut().mismatch.take()) {
            return Err(mismatch.into());
        }
        let result = result?;
        let after = host.device_mut().image().clone();
        let cycle = host.device_mut().cycle();

        // What the run left behind
        let mut expected = before;
        let (reference, compared) = if let Some(lockstep) = lockstep {
            let Lockstep { checker, reference, .. } = &mut *lockstep.borrow_mut();
            checker.finish(cycle)?;
            expected = checker.memory().clone();
            (std::mem::take(reference), checker.statistics().warp_instructions)
        } else {
            write_packets(&mut expected, &after, &machine, frames)?;
            let warps = warps_of(&result.packets);
            let cores = self.config.cores;
            let reference =
                Reference::run(&machine, cores, &mut expected, &warps).map_err(Failure::Result)?;
            (reference, 0)
        };
        compare_memory(&expected, &after, &machine, program)?;
        // After reset all cores belong to network function 0.
        let function = (self.config.network_functions > 0).then_some(0);
        compare_counts(&reference, &result, function)?;
        if handler.is_some() {
            let found = host.read("FAULT_TRAPS")?;
            if found != reference.trapped {
                let expected = reference.trapped;
                return Err(Failure::Result(format!("FAULT_TRAPS: expected {expected}, got {found}")));
            }
        }
        Ok(Outcome {
            trapped: reference.trapped.into(),
            warp_instructions: reference.instructions.iter().sum(),
            lane_instructions: reference.lane_instructions.iter().sum(),
            cycles: result.simulated_cycles,
            compared,
            coverage: reference.coverage,
        })
    }

    /// Compares every cycle from now on, if the model has trace ports.
    fn attach(
        &self,
        host: &mut Host<Simulation>,
        machine: &Machine,
        memory: &MemoryImage,
    ) -> Result<Option<Rc<RefCell<Lockstep>>>, Failure> {
        if !self.has_trace() {
            return Ok(None);
        }
        let Config { cores, lanes, .. } = self.config;
        let ports =
            RetirePorts::bind(host.device_mut().model_mut(), cores, lanes).map_err(CosimError::from)?;
        let lockstep = Rc::new(RefCell::new(Lockstep {
            checker: Checker::new(machine.clone(), cores, memory.clone()),
            ports,
            trace: TraceCycle::default(),
            reference: Reference::new(cores),
            mismatch: None,
        }));
        let observer = Rc::clone(&lockstep);
        host.device_mut().set_observer(Box::new(move |cycle, model, events, image| {
            let Lockstep { checker, ports, trace, reference, mismatch } = &mut *observer.borrow_mut();
            trace.clear();
            ports.sample(model, trace);
            trace.starts.extend(events.iter().filter_map(|(_, event)| match event {
                Event::Issue(slot, packets) => Some(WarpStart {
                    core: slot.core,
                    slot: slot.slot,
                    first_packet: packets.first,
                    count: packets.count,
                }),
                _ => None,
            }));
            if *trace == TraceCycle::default() {
                return Ok(());
            }
            let result = checker.cycle(cycle, trace, image, |expected| reference.observe(expected));
            result.map_err(|found| {
                let text = found.what.clone();
                *mismatch = Some(found);
                text
            })
        }));
        Ok(Some(lockstep))
    }
}

/// Lets kernels load their code, the packets, the stacks and the argument block, and store to all
/// of these but their code.
fn open_windows(
    host: &mut Host<Simulation>,
    setup: &ArraySetup,
    layout: &Layout,
) -> Result<Protection, CosimError> {
    let ring_end = layout.ring_base + (1 << (setup.ring_slots_log2 + setup.slot_bytes_log2));
    let argument_end = (layout.argument + setup.argument.len() as u32).next_multiple_of(LINE as u32);
    let stack_end = layout.stack_base + setup.stack_bytes(host.info()) as u32;
    let window = |base: u32, end: u32| Window { base, size: end - base };
    // The argument block may lie before the stacks, which are aligned.
    let rest = window(layout.stack_base.min(layout.argument), stack_end.max(argument_end));
    let read = [window(CODE_BASE, ring_end), rest];
    let write = [window(layout.ring_base, ring_end), rest];
    host.set_windows(read, write)?;
    Ok(Protection::Windows { read, write })
}

/// Writes the packets to their slots, as the host did; the array's memory has the times of arrival.
fn write_packets(
    memory: &mut MemoryImage,
    after: &MemoryImage,
    machine: &Machine,
    frames: &[Vec<u8>],
) -> Result<(), CosimError> {
    for (index, frame) in (0..).zip(frames) {
        let address = machine.slot_address(index);
        let packet = SlotPacket { frame: frame.clone(), cut: 0, port: 0 };
        let words = packet.descriptor(after.read_u32(address + 12)?);
        let descriptor: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write(address, &descriptor)?;
        memory.write(address + FRAME_OFFSET as u32, frame)?;
    }
    Ok(())
}

/// Compares all of the memory.
fn compare_memory(
    expected: &MemoryImage,
    got: &MemoryImage,
    machine: &Machine,
    program: &Program,
) -> Result<(), Failure> {
    const CHUNK: usize = 1 << 16;
    let (mut a, mut b) = (vec![0; CHUNK], vec![0; CHUNK]);
    for address in (0..MEMORY_BYTES as u32).step_by(CHUNK) {
        expected.read(address, &mut a).map_err(CosimError::from)?;
        got.read(address, &mut b).map_err(CosimError::from)?;
        if a == b {
            continue;
        }
        if let Some(offset) = (0..CHUNK).find(|i| a[*i] != b[*i]) {
            let address = (address + offset as u32) & !3;
            let word = |image: &MemoryImage| image.read_u32(address).map_err(CosimError::from);
            let (wanted, found) = (word(expected)?, word(got)?);
            let place = place(address, machine, program);
            return Err(Failure::Result(format!(
                "memory at {address:#010x} ({place}): expected {wanted:#010x}, got {found:#010x}"
            )));
        }
    }
    Ok(())
}

/// What is at an address.
fn place(address: u32, machine: &Machine, program: &Program) -> String {
    let ring = address.wrapping_sub(machine.ring_base);
    let verdict = address.wrapping_sub(machine.verdict_base);
    let argument = address.wrapping_sub(machine.argument);
    if ring >> SLOT_BYTES_LOG2 < program.packets {
        let offset = ring % (1 << SLOT_BYTES_LOG2);
        format!("slot of packet {}, byte {offset}", ring >> SLOT_BYTES_LOG2)
    } else if verdict < 4 * program.packets {
        format!("verdict of packet {}", verdict / 4)
    } else if argument < program.argument_bytes() {
        format!("argument block, byte {argument}")
    } else if address >= machine.stack_base {
        "stacks".to_string()
    } else {
        "no area of the program".to_string()
    }
}

/// Compares counters and fault records.
fn compare_counts(reference: &Reference, result: &RunResult, function: Option<u8>) -> Result<(), Failure> {
    let differ = |what: &str, expected: &dyn std::fmt::Debug, got: &dyn std::fmt::Debug| {
        Err(Failure::Result(format!("{what}: expected {expected:?}, got {got:?}")))
    };
    for (core, counters) in result.counters.iter().enumerate() {
        let wanted = [reference.instructions[core], reference.lane_instructions[core]];
        let found = [counters.core.instructions, counters.core.lane_instructions].map(u64::from);
        if wanted != found {
            return differ(&format!("warp- and lane-instructions of core {core}"), &wanted, &found);
        }
    }
    let key = |fault: &FaultRecord| (fault.packet, fault.pc, fault.cause);
    let (mut wanted, mut found) = (reference.faults.clone(), result.faults.clone());
    wanted.iter_mut().for_each(|fault| fault.function = function);
    wanted.sort_by_key(key);
    found.sort_by_key(key);
    let threads: u32 = wanted.iter().map(|fault| u32::from(fault.threads)).sum();
    if threads != result.fault_count {
        return differ("threads that faulted", &threads, &result.fault_count);
    }
    // Records that the FIFO could not hold are only counted.
    if found.len() as u32 + result.lost_faults != wanted.len() as u32 {
        return differ("fault records and those lost", &wanted.len(), &(found.len(), result.lost_faults));
    }
    match found.iter().find(|fault| !wanted.contains(fault)) {
        None => Ok(()),
        Some(fault) => {
            let near = wanted.iter().find(|other| other.packet == fault.packet);
            differ("a fault record", &near, fault)
        }
    }
}
