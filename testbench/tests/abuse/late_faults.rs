//! Faults of every kind while loads of their warp are under way, of which some fail as well.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use hermes_testbench::cosim::{ArraySetup, Device as _, Host, Latency, MemoryOptions};
use hermes_testbench::iss::SCRATCHPAD_BASE;
use hermes_testbench::slot::FRAME_OFFSET;
use rand::seq::SliceRandom as _;
use rand::Rng as _;
use rand_chacha::ChaCha8Rng;

use super::array::*;

/// The lines that cannot be read: first and last byte.
const BROKEN: (u32, u32) = (0x50_0000, 0x5f_ffff);
/// Words to load, and how many.
const WORDS: (u32, u32) = (0x60_0000, 1 << 14);
/// The windows end here.
const END: u32 = 0xc0_0000;
/// Instructions of a kernel that are put to the test; each has a word of the packet as its operand.
const STEPS: usize = 8;
/// Bytes of the slot in front of the operands.
const OPERANDS: u32 = 20;
/// The words of the packet that only its own thread writes: bytes of the slot in front of them, and
/// how many.
const OWN: (u32, usize) = (OPERANDS + 4 * STEPS as u32, 4);
/// What stores write, atomic operations add, and divisions divide by.
const FACTOR: u32 = 7;
/// The registers that loads may write besides `a0`.
const REGISTERS: [&str; 12] = ["t0", "t1", "t2", "t3", "t4", "t5", "t6", "a3", "a4", "a5", "a6", "a7"];

/// An instruction that is put to the test; register `s0` to `s7`, by its number, has its operand.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Loads from the operand.
    Load(&'static str),
    /// Loads the word of the scratchpad where the thread put its packetIdx.
    Scratchpad(&'static str),
    /// Adds to the word at the operand.
    Atomic(&'static str),
    /// Stores to the operand.
    Store,
    /// The quotient of the operand.
    Divide(&'static str),
    /// A fault of this cause unless the operand is 0.
    Trap(u32),
    /// Jumps to the operand unless it is 0.
    Jump,
    /// `fence`.
    Fence,
}

impl Step {
    fn random(random: &mut ChaCha8Rng) -> Self {
        let register = *REGISTERS.choose(random).unwrap();
        match random.gen_range(0..100) {
            0..=9 => Self::Load("a0"),
            10..=49 => Self::Load(register),
            50..=56 => Self::Scratchpad(register),
            57..=68 => Self::Atomic(if random.gen_bool(0.2) { "a0" } else { register }),
            69..=74 => Self::Store,
            75..=80 => Self::Divide(register),
            81..=89 => Self::Trap(*[2, 3, 11].choose(random).unwrap()),
            90..=95 => Self::Jump,
            _ => Self::Fence,
        }
    }

    fn text(self, number: usize) -> String {
        match self {
            Self::Load(rd) => format!("lw {rd}, 0(s{number})"),
            Self::Scratchpad(rd) => format!("lw {rd}, 0(s8)"),
            Self::Atomic(rd) => format!("amoadd.w {rd}, s9, (s{number})"),
            Self::Store => format!("sw s9, 0(s{number})"),
            Self::Divide(rd) => format!("divu {rd}, s{number}, s9"),
            Self::Trap(cause) => {
                let trap = [(2, ".4byte 0"), (3, "ebreak"), (11, "ecall")];
                let text = trap.iter().find(|(of, _)| *of == cause).unwrap().1;
                format!("beqz s{number}, 1f\n {text}\n1:")
            }
            Self::Jump => format!("beqz s{number}, 1f\n jr s{number}\n1:"),
            Self::Fence => "fence".to_string(),
        }
    }

    /// An operand; `bad` is the share of those that make a fault. `own` is the address of the
    /// thread's own words.
    fn operand(self, own: u32, bad: f64, random: &mut ChaCha8Rng) -> u32 {
        let own = own + 4 * random.gen_range(0..OWN.1 as u32);
        let broken = BROKEN.0 + 4 * random.gen_range(0..(BROKEN.1 - BROKEN.0) / 4);
        let good = match self {
            Self::Load(_) if random.gen_bool(0.8) => WORDS.0 + 4 * random.gen_range(0..WORDS.1),
            Self::Trap(_) | Self::Jump => 0,
            _ => own,
        };
        if !random.gen_bool(bad) {
            return good;
        }
        let outside = END + 4 * random.gen_range(0..0x1000);
        let crooked = random.gen_range(1..4);
        match self {
            Self::Load(_) | Self::Atomic(_) => match random.gen_range(0..10) {
                0 => broken + crooked,
                1 => good + crooked,
                2 => outside,
                3 => outside + crooked,
                _ => broken,
            },
            Self::Store => *[good + crooked, outside, outside + crooked].choose(random).unwrap(),
            Self::Trap(_) => 1,
            Self::Jump => broken + *[0, 2].choose(random).unwrap(),
            _ => good,
        }
    }
}

/// A kernel: its instructions that are put to the test, each with the number of additions that
/// follow it, and whether the verdict mixes all registers; else the threads end at once, whatever
/// is under way.
struct Program {
    steps: Vec<(Step, u32)>,
    mixes: bool,
}

impl Program {
    fn random(random: &mut ChaCha8Rng) -> Self {
        let distance = |random: &mut ChaCha8Rng| match random.gen_range(0..10) {
            0..=4 => 0,
            5..=7 => random.gen_range(1..8),
            _ => random.gen_range(8..60),
        };
        let steps = (0..STEPS).map(|_| (Step::random(random), distance(random))).collect();
        Self { steps, mixes: random.gen_bool(0.7) }
    }

    fn text(&self) -> String {
        let mut text = format!(
            " .option arch, +a\n .text\n .globl kernel\n .type kernel, @function\nkernel:\n li s9, {FACTOR}\n \
             csrr t0, 0xcc2\n slli t0, t0, 7\n csrr t1, 0xcc1\n slli t1, t1, 2\n add t0, t0, t1\n \
             li s8, {SCRATCHPAD_BASE}\n add s8, s8, t0\n sw a0, 0(s8)\n"
        );
        for register in REGISTERS {
            writeln!(text, " li {register}, 0").unwrap();
        }
        for step in 0..STEPS {
            writeln!(text, " lw s{step}, {}(a1)", OPERANDS as usize + 4 * step).unwrap();
        }
        // All operands are there before the first step.
        writeln!(text, " mv s10, s{}", STEPS - 1).unwrap();
        for (number, (step, distance)) in self.steps.iter().enumerate() {
            writeln!(text, " {}\n .rept {distance}\n addi s10, s10, 1\n .endr", step.text(number)).unwrap();
        }
        if self.mixes {
            for register in REGISTERS {
                writeln!(text, " xor a0, a0, {register}").unwrap();
            }
        }
        text + " ret\n"
    }

    /// What may become of a thread: one of the verdicts, and its own words with it.
    ///
    /// A load that fails is a fault when its line would have come. Until then the thread may meet
    /// another one; but accesses that wait for loads of the warp are never made.
    fn run(&self, packet: u32, operands: &[u32], own: (u32, [u32; OWN.1])) -> (Vec<u32>, [u32; OWN.1]) {
        let mut registers: BTreeMap<&str, u32> = REGISTERS.map(|register| (register, 0)).into();
        registers.insert("a0", packet);
        let (address, mut words) = own;
        let (mut load_failed, mut atomic_failed) = (false, false);
        let mut verdicts = Vec::new();
        let inside = |operand: u32| (address..address + 16).contains(&operand);
        for ((step, _), &operand) in self.steps.iter().zip(operands) {
            let waits = match step {
                Step::Store | Step::Atomic(_) | Step::Fence => load_failed || atomic_failed,
                Step::Load(_) | Step::Scratchpad(_) => atomic_failed,
                _ => false,
            };
            if waits {
                break;
            }
            let cause = match step {
                Step::Load(_) if operand % 4 != 0 => Some(4),
                Step::Load(_) if operand >= END => Some(5),
                Step::Store | Step::Atomic(_) if operand % 4 != 0 => Some(6),
                Step::Store | Step::Atomic(_) if operand >= END => Some(7),
                Step::Trap(cause) if operand != 0 => Some(*cause),
                Step::Jump if operand % 4 != 0 => Some(0),
                Step::Jump if operand != 0 => Some(1),
                _ => None,
            };
            if let Some(cause) = cause {
                verdicts.push(FAULT | cause);
                break;
            }
            let broken = (BROKEN.0..=BROKEN.1).contains(&operand);
            let place = inside(operand).then(|| ((operand - address) / 4) as usize);
            let (rd, value) = match step {
                Step::Load(_) if broken => {
                    load_failed = true;
                    continue;
                }
                Step::Atomic(_) if broken => {
                    atomic_failed = true;
                    continue;
                }
                Step::Load(rd) => (rd, place.map_or_else(|| word(operand), |place| words[place])),
                Step::Scratchpad(rd) => (rd, packet),
                Step::Divide(rd) => (rd, operand / FACTOR),
                Step::Atomic(rd) => {
                    let place = place.unwrap();
                    words[place] += FACTOR;
                    (rd, words[place] - FACTOR)
                }
                Step::Store => {
                    words[place.unwrap()] = FACTOR;
                    continue;
                }
                Step::Trap(_) | Step::Jump | Step::Fence => continue,
            };
            registers.insert(rd, value);
        }
        if load_failed || atomic_failed {
            verdicts.push(FAULT | 5);
        } else if verdicts.is_empty() {
            let mix = registers.values().fold(0, |mix, value| mix ^ value);
            verdicts.push(if self.mixes { mix } else { registers["a0"] });
        }
        (verdicts, words)
    }
}

/// What stands at an address of [`WORDS`].
fn word(address: u32) -> u32 {
    address.wrapping_mul(0x9e37_79b1) >> 2
}

/// What becomes of a packet.
struct Thread {
    operands: Vec<u32>,
    verdicts: Vec<u32>,
    frame: Vec<u8>,
}

/// Runs packets through a random kernel: every thread ends as it must, every fault is in one record
/// and counted once. Tells how many threads ended with which cause.
fn trial(case: &str, packets: u32, random: &mut ChaCha8Rng) -> BTreeMap<u32, u32> {
    let program = Program::random(random);
    let kernel = assemble(&program.text());
    let latencies = [Latency::Random(1, 60), Latency::Random(1, 200), Latency::Fixed(30)];
    let latency = *latencies.choose(random).unwrap();
    let memory = MemoryOptions { latency, failing: vec![BROKEN], ..memory(random.gen()) };
    let mut host = Host::new(simulation(memory, MEMORY_BYTES)).unwrap();
    let watchdog = if random.gen_bool(0.2) { random.gen_range(200..900) } else { 0 };
    let setup = ArraySetup { watchdog, ..setup() };
    let layout = prepare(&mut host, &kernel, &setup);
    let areas = [layout.ring_base, layout.verdict_base, layout.stack_base, layout.argument, kernel.entry];
    assert!(areas.iter().all(|area| *area < BROKEN.0 - 0x1_0000), "{layout:x?}");
    for window in ["READ_WINDOW_0_SIZE", "WRITE_WINDOW_0_SIZE"] {
        host.write(window, END).unwrap();
    }
    let data: Vec<u8> = (0..WORDS.1).flat_map(|n| word(WORDS.0 + 4 * n).to_le_bytes()).collect();
    host.device_mut().write_memory(WORDS.0, &data).unwrap();

    // At most steps no lane of a warp meets a fault or one does, at some most of them.
    let shares: Vec<f64> = (0..STEPS).map(|_| *[0.0, 0.05, 0.15, 0.6].choose(random).unwrap()).collect();
    let (mut frames, mut threads) = (Vec::new(), Vec::new());
    for packet in 0..packets {
        let slot = layout.ring_base + ((packet % (1 << setup.ring_slots_log2)) << SLOT_BYTES_LOG2);
        let own = (slot + OWN.0, [0; 4].map(|_: u32| random.gen_range(0..1 << 20)));
        let steps = program.steps.iter().zip(&shares);
        let operands: Vec<u32> =
            steps.map(|((step, _), share)| step.operand(own.0, *share, random)).collect();
        let (verdicts, words) = program.run(packet, &operands, own);
        let frame = |own: [u32; OWN.1]| {
            let words: Vec<u8> = operands.iter().chain(&own).flat_map(|word| word.to_le_bytes()).collect();
            [vec![0; OPERANDS as usize - FRAME_OFFSET], words, vec![0; 14]].concat()
        };
        frames.push(frame(own.1));
        threads.push(Thread { verdicts, frame: frame(words), operands: operands.clone() });
    }

    let result = process(&mut host, &setup, &layout, &arriving(frames)).unwrap();
    let mut ends = BTreeMap::new();
    for (thread, got) in threads.iter().zip(&result.packets) {
        let place = || format!("{case}, packet {}: {:#x}", got.index, got.verdict);
        let timed_out = watchdog > 0 && got.verdict == FAULT | 24;
        assert!(
            timed_out || thread.verdicts.contains(&got.verdict),
            "{}, expected one of {:x?}\n{}{:x?}",
            place(),
            thread.verdicts,
            program.text(),
            thread.operands
        );
        assert!(timed_out || got.bytes == thread.frame, "{}: the words of the thread", place());
        if got.verdict >= FAULT {
            *ends.entry(got.verdict - FAULT).or_default() += 1;
        }
    }
    let faulted: u32 = ends.values().sum();
    assert_eq!(result.fault_count, faulted, "{case}: threads that were counted, and that have the verdict");
    let recorded: u32 = result.faults.iter().map(|fault| u32::from(fault.threads)).sum();
    assert!(recorded == faulted || result.lost_faults > 0, "{case}: {recorded} of {faulted} in records");
    let mut first = BTreeSet::new();
    for fault in &result.faults {
        let packet = fault.packet as usize;
        assert_eq!(result.packets[packet].verdict, FAULT | u32::from(fault.cause), "{case}: {fault:x?}");
        assert!(first.insert(packet), "{case}: packet {packet} is in two records");
        // The address that a lane of the warp asked for, or its line.
        let warp = packet.saturating_sub(3)..(packet + 4).min(threads.len());
        let mut operands = threads[warp].iter().flat_map(|thread| &thread.operands);
        let right = match fault.cause {
            5 if fault.address < END => {
                fault.address % 64 == 0 && operands.any(|operand| operand & !63 == fault.address)
            }
            4..=7 => threads[packet].operands.contains(&fault.address),
            _ => true,
        };
        assert!(right, "{case}: {fault:x?}");
    }
    assert_eq!(u64::from(result.bus_errors), result.memory.total().errors, "{case}");
    ends
}

fn trials(count: u32) {
    let mut random = random();
    let mut ends = BTreeMap::<u32, u32>::new();
    for number in 0..count {
        for (cause, threads) in trial(&format!("kernel {number}"), 48, &mut random) {
            *ends.entry(cause).or_default() += threads;
        }
    }
    println!("threads by cause: {ends:?}");
    let causes = [0, 1, 2, 3, 4, 5, 6, 7, 11, 24];
    assert!(ends.keys().eq(&causes), "a kind of fault is missing: {ends:?}");
}

#[test]
fn every_fault_is_recorded_once_whatever_is_under_way() {
    trials(100);
}

#[test]
#[ignore = "1,500 kernels take some minutes"]
fn many_faults_are_recorded_once_whatever_is_under_way() {
    trials(1_500);
}

/// Loads and atomic operations, of which one may fail; a later packet in the slot shows what the
/// registers hold then.
const KEEPS: &str = "
.option arch, +a
.text
.globl kernel
.type kernel, @function
kernel:
    li t4, 32
    bgeu a0, t4, 1f
    lui t3, 0x5a000
    or t3, t3, a0
    li t0, 0x111
    li t1, 0x222
    li t2, 0x333
    lw a3, 20(a1)
    lw a4, 24(a1)
    lw a5, 28(a1)
    lw t0, 0(a3)
    amoadd.w t1, zero, (a4)
    lr.w t2, (a5)
    ret
1:  sw t0, 20(a1)
    sw t1, 24(a1)
    sw t2, 28(a1)
    sw t3, 32(a1)
    ret
";

/// A load, an atomic addition and an `lr.w` whose line cannot be read leave their register as it
/// was, and nothing after them is done.
#[test]
fn what_cannot_be_read_is_not_written_to_registers() {
    let mut random = random();
    let kernel = assemble(KEEPS);
    let (mut kept, mut loaded) = (0, 0);
    for _ in 0..8 {
        let memory = MemoryOptions { failing: vec![BROKEN], ..memory(random.gen()) };
        let mut host = Host::new(simulation(memory, MEMORY_BYTES)).unwrap();
        let setup = setup();
        let layout = prepare(&mut host, &kernel, &setup);
        let data: Vec<u8> = (0..WORDS.1).flat_map(|n| word(WORDS.0 + 4 * n).to_le_bytes()).collect();
        host.device_mut().write_memory(WORDS.0, &data).unwrap();
        let addresses: Vec<[u32; 3]> = (0..32)
            .map(|_| {
                let failing = random.gen_range(0..4);
                [0, 1, 2].map(|step| {
                    let (first, words) = if step == failing { (BROKEN.0, 1 << 10) } else { WORDS };
                    first + 4 * random.gen_range(0..words)
                })
            })
            .collect();
        let frame = |addresses: &[u32; 3]| {
            let words: Vec<u8> = addresses.iter().flat_map(|address| address.to_le_bytes()).collect();
            [vec![0; OPERANDS as usize - FRAME_OFFSET], words, vec![0; 32]].concat()
        };
        let frames = addresses.iter().chain(&addresses).map(frame);
        let result = process(&mut host, &setup, &layout, &arriving(frames)).unwrap();
        for got in &result.packets[32..] {
            let word_at = |index: usize| {
                let at = OPERANDS as usize - FRAME_OFFSET + 4 * index;
                u32::from_le_bytes(got.bytes[at..at + 4].try_into().unwrap())
            };
            let Some(packet) = word_at(3).checked_sub(0x5a00_0000).filter(|packet| *packet < 32) else {
                continue;
            };
            let mut failed = false;
            for (step, address) in addresses[packet as usize].iter().enumerate() {
                failed |= (BROKEN.0..=BROKEN.1).contains(address);
                let expected = if failed { 0x111 * (step as u32 + 1) } else { word(*address) };
                assert_eq!(word_at(step), expected, "packet {packet}, step {step}: {address:#x}");
                *if failed { &mut kept } else { &mut loaded } += 1;
            }
            assert_eq!(result.packets[packet as usize].verdict, if failed { FAULT | 5 } else { packet });
        }
    }
    assert!(kept > 100 && loaded > 100, "{kept} kept, {loaded} loaded");
}
