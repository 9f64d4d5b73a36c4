//! Runs programs on the harts of the Verilated array.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::ModelLibrary;

use super::checker::{CommandChecker, Seen};
use super::ports::CommandPorts;
use crate::cosim::{CosimError, DebugError, Debugger, Device, Host, MemoryImage, MemoryOptions, Simulation};
use crate::harts::machine::Abilities;
use crate::iss::Fault;
use crate::kernel::Executable;

/// Bytes of the shared memory.
const MEMORY_BYTES: u64 = 1 << 24;
/// Cycles between two looks at the state of the hart.
const PAUSE: u64 = 200;
/// The bits of an instruction's opcode, and that of stores.
const OPCODE: u32 = 0x7f;
const STORE: u32 = 0x23;

/// Why a program did not end as it should.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The array or its simulation failed, or the array differs from the reference.
    #[error(transparent)]
    Cosim(#[from] CosimError),
    /// A hart does not do what the debugger asks for.
    #[error(transparent)]
    Debug(#[from] DebugError),
    /// A register of a stopped hart is not what the reference has.
    #[error("{register} of hart {hart}, which is stopped: expected {expected:#010x}, found {found:#010x}")]
    Register {
        /// The hart.
        hart: u32,
        /// Name of the register.
        register: String,
        /// What the reference has.
        expected: u32,
        /// What the array has.
        found: u32,
    },
    /// Harts still run.
    #[error("not stopped within {cycles} cycles: {}", harts_at(.running))]
    Limit {
        /// The limit.
        cycles: u64,
        /// Each hart that did not stop, and the PC that is next in the reference.
        running: Vec<(u32, u32)>,
    },
    /// Memory is not what the reference left.
    #[error("memory at {address:#010x}: expected {expected:#010x}, found {found:#010x}")]
    Memory {
        /// Address of the word.
        address: u32,
        /// What the reference left there.
        expected: u32,
        /// What the array left there.
        found: u32,
    },
}

/// Harts with their PCs, as text.
fn harts_at(harts: &[(u32, u32)]) -> String {
    let texts: Vec<_> = harts.iter().map(|(hart, pc)| format!("hart {hart} at {pc:#010x}")).collect();
    texts.join(", ")
}

/// How a program ended.
pub struct Ended {
    /// Cycles from the start of the harts to the look at which all were stopped.
    pub cycles: u64,
    /// Instructions that were executed as steps of a debugger.
    pub steps: u64,
    /// What was compared with the reference, with the instruction that stopped the hart.
    pub seen: Seen,
    /// What stopped hart 0, as the reference has it; `None` if it ended by a store.
    pub fault: Option<Fault>,
    /// The shared memory afterwards, with what was in the L2.
    pub memory: MemoryImage,
}

/// An array with a command processor and trace ports, and the memory behind it.
pub struct CommandBench {
    library: ModelLibrary,
    memory: MemoryOptions,
    abilities: Abilities,
    stops_on_break: bool,
    /// A store to this address ends the program of hart 0.
    ends_at: Option<u32>,
    /// Seed of a debugger that stops and steps harts.
    debugger: Option<u64>,
}

impl CommandBench {
    /// Runs programs on models of `library`, whose hart can do what `abilities` say. `ebreak` stops
    /// the hart.
    #[must_use]
    pub fn new(library: ModelLibrary, memory: MemoryOptions, abilities: Abilities) -> Self {
        Self { library, memory, abilities, stops_on_break: true, ends_at: None, debugger: None }
    }

    /// `ebreak` raises an exception: only a lock-up ends a program.
    #[must_use]
    pub fn going_on_at_break(mut self) -> Self {
        self.stops_on_break = false;
        self
    }

    /// A store of hart 0 to `address` ends its program, and the other harts with it, as does what
    /// stops hart 0.
    #[must_use]
    pub fn ending_at_store(mut self, address: u32) -> Self {
        self.ends_at = Some(address);
        self
    }

    /// A debugger stops harts at random while they run, lets them execute single instructions,
    /// compares their registers with the reference, and lets them go on. `seed` says when.
    #[must_use]
    pub fn debugged(mut self, seed: u64) -> Self {
        self.debugger = Some(seed);
        self
    }

    /// Runs `program` on hart 0 until `ebreak` or a lock-up stops it, at most `limit` cycles, in
    /// lock-step with the reference.
    ///
    /// # Errors
    /// [`CommandError`].
    pub fn run(&self, program: &Executable, limit: u64) -> Result<Ended, CommandError> {
        let model = self.library.instantiate().map_err(CosimError::from)?;
        let mut host = Host::new(Simulation::new(model, MEMORY_BYTES, self.memory.clone())?)?;
        self.run_on(&mut host, program, limit)
    }

    /// As [`CommandBench::run`], on an array on which other programs may have run.
    ///
    /// # Errors
    /// [`CommandError`].
    pub fn run_on(
        &self,
        host: &mut Host<Simulation>,
        program: &Executable,
        limit: u64,
    ) -> Result<Ended, CommandError> {
        self.run_harts_on(host, std::slice::from_ref(program), limit)
    }

    /// As [`CommandBench::run_on`], a program for each hart, hart 0 first, all at the same time;
    /// the programs share no memory.
    ///
    /// # Errors
    /// [`CommandError`].
    pub fn run_harts_on(
        &self,
        host: &mut Host<Simulation>,
        programs: &[Executable],
        limit: u64,
    ) -> Result<Ended, CommandError> {
        let all = (1u32 << programs.len()) - 1;
        let is_quiet = |value: u32| value & all == all;
        // Hold, nothing outstanding, L2 empty: then memory is the host's.
        host.write("CP_CONTROL", 0)?;
        host.wait_until("CP_QUIET", is_quiet)?;
        host.clean_caches()?;
        for segment in programs.iter().flat_map(|program| &program.segments) {
            host.device_mut().write_memory(segment.address, &segment.bytes)?;
        }
        let ports = CommandPorts::bind(host.device_mut().model_mut()).map_err(CosimError::from)?;
        let image = host.device_mut().image().clone();
        let entries: Vec<u32> = programs.iter().map(|program| program.entry).collect();
        let registers = host.registers().map(|register| register.offset).collect();
        let checker = CommandChecker::new(&entries, image, self.abilities, registers);
        let checker = if self.stops_on_break { checker.stopping_on_break() } else { checker };
        let checker = Rc::new(RefCell::new(checker));
        let observer = Rc::clone(&checker);
        let ended = Rc::new(Cell::new(false));
        let (ends, ends_at) = (Rc::clone(&ended), self.ends_at);
        host.device_mut().set_observer(Box::new(move |cycle, model, _, _| {
            let Some(retired) = ports.sample(model) else { return Ok(()) };
            let stores = retired.word & OPCODE == STORE && !retired.trap && retired.hart == 0;
            ends.set(ends.get() || (stores && Some(retired.address) == ends_at));
            observer.borrow_mut().retire(cycle, &retired)
        }));
        host.write("INVALIDATE", 3)?;
        let mut debugger = match self.debugger {
            Some(seed) => Some((Debugger::new(host)?, ChaCha8Rng::seed_from_u64(seed))),
            None => None,
        };
        if debugger.is_some() {
            host.write("CP_STEP", all << 16)?;
        }
        // A hart takes CP_ENTRY when it starts. Bit 8: `ebreak` stops it.
        let start = host.device_mut().cycle();
        for (hart, entry) in entries.iter().enumerate() {
            host.write("CP_ENTRY", *entry)?;
            host.write("CP_CONTROL", ((2 << hart) - 1) | u32::from(self.stops_on_break) << 8)?;
        }
        // Their registers are 0, as those of the reference.
        if let Some((debugger, _)) = &debugger {
            debugger.stop(host, all)?;
            for (hart, number) in
                (0..programs.len() as u32).flat_map(|hart| (1..32).map(move |number| (hart, number)))
            {
                debugger.set_register(host, hart, number, 0)?;
            }
            debugger.start(host, all, 0)?;
        }
        let mut steps = 0;
        let waited_for = if self.ends_at.is_some() { 1 } else { all };
        let still_run = |status: u32| !(status | status >> 16) & waited_for;
        while !ended.get() {
            let running = still_run(host.read("CP_STATUS")?);
            if running == 0 {
                break;
            }
            if host.device_mut().cycle() - start > limit {
                return Err(CommandError::Limit { cycles: limit, running: checker.borrow().pcs(running) });
            }
            let Some((debugger, random)) = &mut debugger else {
                host.device_mut().run(PAUSE)?;
                continue;
            };
            host.device_mut().run(random.gen_range(1..PAUSE))?;
            steps += disturb(host, debugger, random, &checker)?;
        }
        let cycles = host.device_mut().cycle() - start;
        host.write("CP_CONTROL", 0)?;
        host.wait_until("CP_QUIET", is_quiet)?;
        host.clean_caches()?;
        let memory = host.device_mut().image().clone();
        let checker = checker.borrow();
        if let Some(address) = checker.memory().first_difference(&memory, 0) {
            let address = address & !3;
            let word = |image: &MemoryImage| image.read_u32(address).map_err(CosimError::from);
            let (expected, found) = (word(checker.memory())?, word(&memory)?);
            return Err(CommandError::Memory { address, expected, found });
        }
        Ok(Ended { cycles, steps, seen: checker.seen(), fault: checker.ended(0), memory })
    }
}

/// Stops some of the harts, lets one execute a few instructions and compares its registers, and
/// lets all go on. Gives the number of those instructions.
fn disturb(
    host: &mut Host<Simulation>,
    debugger: &mut Debugger,
    random: &mut ChaCha8Rng,
    checker: &RefCell<CommandChecker>,
) -> Result<u64, CommandError> {
    let harts = random.gen_range(1..=debugger.all()) & checker.borrow().running();
    let harts = harts & !debugger.status(host)?.stopped;
    debugger.stop(host, harts)?;
    checker.borrow_mut().debugged(harts);
    // One that ended meanwhile stays where it is.
    let runs = |hart: u32| (harts & checker.borrow().running()) >> hart & 1 == 1;
    let hart = random.gen_range(0..debugger.harts());
    let (mut steps, most) = (0, random.gen_range(0..16));
    while steps < most && runs(hart) {
        debugger.step(host, hart)?;
        checker.borrow_mut().debugged(1 << hart);
        steps += 1;
    }
    // Behind a step no interrupt was taken of which the reference does not know.
    if steps > 0 && runs(hart) {
        let (registers, pc) = checker.borrow().registers(hart as usize).expect("the hart runs");
        let differs = |register: String, expected: u32, found: u32| {
            if expected == found {
                return Ok(());
            }
            Err(CommandError::Register { hart, register, expected, found })
        };
        differs("the PC".into(), pc, debugger.pc(host, hart)?)?;
        for _ in 0..3 {
            let number = random.gen_range(0..32);
            let found = debugger.register(host, hart, number)?;
            differs(format!("x{number}"), registers[number as usize], found)?;
        }
    }
    let harts = harts & checker.borrow().running();
    debugger.start(host, harts, 0)?;
    Ok(steps)
}
