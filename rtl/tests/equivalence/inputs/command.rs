//! Inputs of the units of the command processor: likely instructions, likely CSRs, harts that wait
//! for what they asked.

use super::Random;
use hermes_hdl::prelude::Bits;
use hermes_rtl::command::*;
use hermes_rtl::config::CommandOptions;
use hermes_rtl::types::{AluControl, OperandSource};
use num_bigint::BigUint;

const SOURCES: [OperandSource; 5] = [
    OperandSource::Registers,
    OperandSource::Result,
    OperandSource::Written,
    OperandSource::JustWritten,
    OperandSource::Zero,
];

/// So many harts, without options.
pub fn plain_harts(harts: usize) -> CommandOptions {
    CommandOptions { command_threads: harts, instruction_cache_ways: 2, ..CommandOptions::default() }
}

/// So many harts, with all that a pipeline can have.
pub fn harts_with_all_parts(harts: usize) -> CommandOptions {
    CommandOptions {
        command_cache_lines: 16,
        atomics: true,
        compare_and_swap: true,
        network: true,
        ..plain_harts(harts)
    }
}

/// Hart 0 most of the time.
fn some_hart(random: u64) -> Bits<3> {
    if random % 4 == 0 {
        (random >> 8 & 7).into()
    } else {
        0.into()
    }
}

fn some_control(random: u64) -> AluControl {
    let bit = |i: u32| random >> i & 1 == 1;
    AluControl {
        add: bit(0),
        both: bit(1),
        either: bit(2),
        compare: bit(3),
        invert: bit(4),
        ..AluControl::default()
    }
}

/// An instruction of any kind, also of none that there is.
fn some_instruction(random: Random) -> CommandInstruction {
    let (flags, sparse) = (random(), random() & random());
    let bit = |i: u32| sparse >> i & 1 == 1;
    CommandInstruction {
        hart: some_hart(random()),
        pc: (random() & 0x3fff_ffff).into(),
        word: (random() & 0xffff_ffff).into(),
        debug: flags >> 9 & 7 == 0,
        rd: (flags & 3).into(),
        control: some_control(random()),
        takes_immediate: flags >> 8 & 1 == 1,
        immediate: (random() & 0xffff_ffff).into(),
        branch: bit(0),
        predicted: bit(1),
        jump: bit(2),
        jump_register: bit(3),
        load: bit(4),
        store: bit(5),
        atomic: bit(20),
        acquire: bit(21),
        count: bit(6),
        release: bit(7),
        refetch: bit(8),
        csr: bit(10),
        csr_write: bit(11),
        monitor: bit(12),
        leave: bit(13),
        page: bit(14),
        trap_return: bit(15),
        sleep: bit(16),
        multiply: bit(17),
        divide: bit(18),
        late: bit(19),
        fault: bit(9),
        cause: (random() & 31).into(),
    }
}

fn some_result(random: Random) -> CommandResult {
    let sparse = random() & random();
    let bit = |i: u32| sparse >> i & 1 == 1;
    CommandResult {
        hart: some_hart(random()),
        rd: (random() & 3).into(),
        value: (random() & 0xffff_ffff).into(),
        load: bit(0),
        device: bit(14),
        device_write: bit(15),
        divide: bit(16),
        atomic: bit(18),
        local_store: bit(17),
        answered: bit(1) | bit(8),
        failed: bit(2),
        store: bit(3),
        release: bit(4),
        refetch: bit(5),
        csr_write: bit(9),
        monitor: bit(10),
        leave: bit(11),
        trap_return: bit(12),
        sleep: bit(13),
        word: (random() & 0xffff_ffff).into(),
        debug: random() % 8 == 0,
        address: (random() & 0xffff_ffff).into(),
        pc: (random() & 0x3fff_ffff).into(),
        fault: bit(6),
        cause: (random() & 31).into(),
        ..CommandResult::default()
    }
}

/// Numbers that are there, most of the time.
fn some_csr(random: Random) -> Bits<12> {
    let numbers = [
        0x300, 0x301, 0x304, 0x305, 0x340, 0x341, 0x342, 0x343, 0x344, 0xb00, 0xb02, 0xb80, 0xb82, 0xc01,
        0xc81, 0xf14, 0x320u64,
    ];
    // Now and then one that differs in a bit.
    let other = if random() % 8 == 0 { 1u64 << (random() % 12) } else { 0 };
    (numbers[random() as usize % numbers.len()] ^ other).into()
}

pub fn system_decoder(unit: &mut SystemDecoder, random: Random, _: u64) {
    let word = unit.instruction.next & 0xffff_ff80u64;
    unit.instruction.next = word | [0x73, 0x0f, 0x0b, 0x13][random() as usize % 4];
    // Words that are there, as they are or with one bit changed; CSRs that are there.
    let known =
        [0x73u64, 0x10_0073, 0x3020_0073, 0x1050_0073, 0x100f, 0xff0_000f, 0x100b, 0x12c5_850b, 0xb2c5_850b];
    let changed = if random() % 2 == 0 { 1 << (random() % 32) } else { 0 };
    if random() % 2 == 0 {
        unit.instruction.next = (known[random() as usize % known.len()] ^ changed).into();
    } else if random() % 2 == 0 {
        let numbers = [0x300u64, 0x305, 0x340, 0x344, 0xb00, 0xc82, 0xf14, 0x800, 0x805, 0x813];
        let number = numbers[random() as usize % numbers.len()];
        unit.instruction.next = ((number << 20 | (random() & 0xf_ff80) | 0x73) ^ changed).into();
    }
}

pub fn csr_map(unit: &mut CsrMap, random: Random, _: u64) {
    let groups = [0x300, 0x320, 0x340, 0xb00, 0xb80, 0xc00, 0xc80, 0xf00, 0x800u64];
    if random() % 8 != 0 {
        unit.number.next = (groups[random() as usize % groups.len()] + random() % 32).into();
    }
}

pub fn hart_csrs(unit: &mut HartCsrs, random: Random, _: u64) {
    unit.read_number.next = some_csr(random);
    unit.write_number.next = some_csr(random);
    // Interrupts are enabled often and for long: mstatus, mie and mtvec are written in every second
    // cycle.
    if random() % 2 == 0 {
        unit.write_number.next = [0x300, 0x304, 0x305u64][random() as usize % 3].into();
    }
    unit.hold.next = random() % 256 == 0;
    unit.trap_valid.next = random() % 16 == 0;
}

pub fn trap_unit(unit: &mut TrapUnit, random: Random, _: u64) {
    unit.hold.next = random() % 16 == 0;
    unit.wake.next = random() % 4 == 0;
}

pub fn clint(unit: &mut Clint, random: Random, _: u64) {
    let bases = [0, 0x4000, 0xbff8u64];
    unit.address.next = (bases[random() as usize % 3] + (random() & 0x1c)).into();
    unit.doorbell.next = if random() % 8 == 0 { (random() & 255).into() } else { 0.into() };
    // Numbers of all sizes, so that each bit of a comparison counts.
    unit.cycle.next = (random() >> (random() % 64)).into();
    unit.data.next = ((random() & 0xffff_ffff) >> (random() % 32)).into();
}

pub fn command_decode(unit: &mut CommandDecode, random: Random, _: u64) {
    let opcodes = [0x37, 0x17, 0x6f, 0x67, 0x63, 0x03, 0x23, 0x13, 0x33, 0x73, 0x0f, 0x0b];
    let word = unit.word.next & 0xffff_ff80u64;
    unit.word.next = word | opcodes[random() as usize % opcodes.len()];
    unit.error.next = random() % 16 == 0;
}

pub fn hart_registers(unit: &mut HartRegisters, random: Random, cycle: u64) {
    // Registers are written before they are read.
    if cycle < 256 {
        unit.reset.next = false;
        unit.write_enable.next = true;
        unit.write_address.next = cycle.into();
    }
    unit.rs1_source.next = SOURCES[random() as usize % 5];
    unit.rs2_source.next = SOURCES[random() as usize % 5];
}

pub fn hart_state(unit: &mut HartState, random: Random, _: u64) {
    // Runs most of the time, and events are rare enough for it to be ready at times.
    let mut rare = |n: u64| random() % n == 0;
    unit.run.next = !rare(40);
    unit.quiet.next = !rare(3);
    unit.stop.next = rare(60);
    unit.resume.next = rare(20);
    unit.executed.next = rare(8);
    unit.miss.next = rare(8);
    unit.wait_stores.next = rare(8);
    unit.wait_place.next = rare(8);
    unit.load.next = rare(8);
    unit.take_valid.next = rare(10);
    unit.loading.next = rare(4);
}

pub fn command_debug(unit: &mut CommandDebug, random: Random, _: u64) {
    // Requests and holds are rare enough for harts to stop, and for words to be executed, at times.
    let mut some = |n: u64| if random() % n == 0 { random() & 255 } else { 0 };
    unit.registers.stop.next = some(8).into();
    unit.registers.step.next = some(8).into();
    unit.registers.resume.next = some(8).into();
    unit.run.next = (255 & !some(16)).into();
    unit.trap.next = some(8).into();
    unit.registers.execute.next = some(4) & 1 == 1;
    unit.registers.data_write.next = some(4) & 1 == 1;
    unit.data_write.next = some(4) & 1 == 1;
    unit.executed.next = some(2) & 1 == 1;
}

pub fn command_fetch(unit: &mut CommandFetch, random: Random, _: u64) {
    unit.issue_hart.next = some_hart(random());
    unit.issue_pc.next = (random() & 0x3f).into();
    if random() % 32 == 0 {
        unit.issue_pc.next = 0x3ffc_1234.into();
    }
    unit.drop_fetched.next = if random() % 4 == 0 { (random() & 255).into() } else { 0.into() };
    unit.drop_decoded.next = if random() % 8 == 0 { (random() & 255).into() } else { 0.into() };
    unit.flush.next = random() % 512 == 0;
    unit.fetch.response.valid.next = random() % 4 == 0;
}

pub fn command_execute(unit: &mut CommandExecute, random: Random, _: u64) {
    unit.decoded.next = some_instruction(random);
    unit.decode_rs1.next = (random() & 3).into();
    unit.decode_rs2.next = (random() & 3).into();
    unit.drop_read.next = if random() % 8 == 0 { (random() & 255).into() } else { 0.into() };
    unit.drop_executed.next = if random() % 8 == 0 { (random() & 255).into() } else { 0.into() };
    if random() % 4 == 0 {
        unit.answer_word.next = unit.decoded.next.word;
    }
    unit.write_enable.next = unit.result.val().rd.any() && unit.write_valid.val() && random() % 2 == 0;
}

pub fn command_write(unit: &mut CommandWrite, random: Random, _: u64) {
    unit.result.next = some_result(random);
}

pub fn command_data(unit: &mut CommandData, random: Random, cycle: u64) {
    // Memory takes and answers nothing for a while, until the loads of all harts are in the queue.
    let stands_still = cycle / 64 % 4 == 3;
    unit.read.ready.next = !stands_still && random() % 2 == 0;
    let hart = random() & 7;
    unit.start_hart.next = hart.into();
    unit.start_valid.next =
        random() % 2 == 0 && !unit.reset.next && !unit.loading.val().get_bit(hart as usize);
    unit.load_valid.next = unit.start_valid.next && random() % 2 == 0;
    unit.withdrawn.next = if random() % 8 == 0 { (random() & 255).into() } else { 0.into() };
    let waiting: Vec<u64> = (0..8).filter(|&h| unit.loading.val().get_bit(h as usize)).collect();
    unit.read.response.valid.next = !waiting.is_empty() && !stands_still && random() % 2 == 0;
    if !waiting.is_empty() {
        unit.read.response.tag.next = waiting[random() as usize % waiting.len()].into();
    }
    unit.hold.next = if random() % 32 == 0 { (random() & 255).into() } else { 0.into() };
}

pub fn command_atomics(unit: &mut CommandAtomics, random: Random, _: u64) {
    unit.start_valid.next = !unit.reset.next && !unit.busy.val() && random() % 2 == 0;
    unit.write.ready.next = random() % 2 == 0;
    unit.write.written.valid.next = random() % 4 == 0;
    unit.write.written.tag.next = (random() & 0x27).into();
    if random() % 4 == 0 {
        unit.start_word.next = (5 << 27 | (random() & 0x07ff_ffff)).into();
    }
    unit.leaves.next = if random() % 32 == 0 { (random() & 255).into() } else { 0.into() };
}

pub fn cached_loads(unit: &mut CachedLoads, random: Random, cycle: u64) {
    // Few lines, few ranges, harts that exist. In turns few words and many, and what empties the
    // parts often and seldom, so that whole lines come in and are read.
    let calm = cycle / 1_000 % 2 == 1;
    let (words, lines) = if calm { (16, 1) } else { (4, 4) };
    // Of an address one bit of the line is another now and then, so that each bit counts.
    let address = |random: Random| {
        let other = if random() % 8 == 0 { 1 << (6 + random() % 26) } else { 0 };
        (((random() % lines) | ((random() % 3) << 7)) << 6 | ((random() % words) << 2)) ^ other
    };
    let looked = address(random);
    let mut result = some_result(random);
    result.hart = (random() & 1).into();
    let other = if random() % 4 == 0 { 1u64 << (20 + random() % 12) } else { 0 };
    result.word = ((0x7c0u64 << 20 | (random() & 0x7080)) ^ other).into();
    // An address in the uncached range that was shown, or one bit beside it; or one of a line.
    let range = unit.uncached.val().to_u64();
    if range != 0 && random() % 4 != 0 {
        let inside = random() & (range ^ (range + 1));
        let bit = [random() % 32, random() % 32, 2 + random() % 4][random() as usize % 3];
        let beside = if random() % 4 != 0 { 1 << bit } else { 0 };
        result.address = ((range ^ inside ^ beside) & 0xffff_ffff).into();
    } else {
        result.address = address(random).into();
    }
    unit.result.next = result;
    unit.look_address.next = looked.into();
    unit.look_hart.next = (random() & 1).into();
    unit.outcome.next = CommandOutcome {
        retire: random() % if calm { 64 } else { 2 } == 0,
        store: random() % if calm { 64 } else { 4 } == 0,
        load: random() % 4 == 0,
        // None, a single bit, or a range of any size.
        csr_value: match random() % 8 {
            0 => 0.into(),
            1 => (1u64 << (random() % 32)).into(),
            _ => (random() & 0xffff_ffff | ((1 << (random() % 32)) - 1)).into(),
        },
        ..CommandOutcome::default()
    };
    unit.run.next =
        (3 & !(u64::from(random() % if calm { 1_024 } else { 64 } == 0) << (random() & 1))).into();
    unit.invalidate.next = random() % if calm { 1_024 } else { 128 } == 0;
    unit.response.valid.next = random() % 4 == 0;
    unit.response.tag.next = (random() & 1).into();
}

pub fn local_memory(unit: &mut LocalMemory, random: Random, cycle: u64) {
    // Words are written before they are read; then few of them.
    unit.write_address.next = (random() & 0x803).into();
    unit.read_address.next = (random() & 0x803).into();
    if cycle < 4096 {
        unit.write_address.next = cycle.into();
        unit.write_strobe.next = 15.into();
        unit.reset.next = false;
    }
}

pub fn command_devices(unit: &mut CommandDevices, random: Random, _: u64) {
    unit.start_valid.next = !unit.busy.val() && random() % 2 == 0;
    let bases = [0xfff0_0000, 0xfff0_4000, 0xfff0_bff8, 0xffff_c000, 0xffff_e000u64];
    unit.start_address.next = (bases[random() as usize % 5] + (random() & 0x1c)).into();
    unit.start_hart.next = (random() & 1).into();
    unit.hold.next = if random() % 16 == 0 { (random() & 255).into() } else { 0.into() };
}

pub fn long_operations(unit: &mut LongOperations, random: Random, _: u64) {
    let hart = random() & 1;
    let free = !unit.reset.next && !unit.under_way.val().get_bit(hart as usize) && random() % 4 == 0;
    let kind = random() % 3;
    unit.start_hart.next = hart.into();
    unit.load_valid.next = free && kind == 0;
    unit.device_valid.next = free && kind == 1 && unit.device_free.val();
    unit.divide_valid.next = free && kind == 2 && unit.divide_free.val();
    let bases = [0xfff0_0000, 0xfff0_4000, 0xfff0_bff8, 0xffff_c000, 0xffff_e000u64];
    unit.start_address.next = (bases[random() as usize % 5] + (random() & 0x1c)).into();
    unit.read.response.tag.next = (random() & 1).into();
    unit.read.response.valid.next = random() % 8 == 0;
    unit.hold.next = if random() % 32 == 0 { (random() & 3).into() } else { 0.into() };
}

pub fn uli_channels(unit: &mut UliChannels, random: Random, cycle: u64) {
    unit.hold.next = cycle % 500 == 0;
    let known = [0, 1, 2, 3, 11][random() as usize % 5];
    unit.arm_scenario.next = if random() % 8 == 0 { (random() % 16).into() } else { known.into() };
    if let Some(staged) = unit.staged.get_mut() {
        staged.next = random() % 16 == 0;
    }
    unit.freed.next = (random() & random() & random() & 0xffff).into();
    unit.raised.next = (random() & random() & random() & random() & 0xffff_ffff).into();
    unit.write_number.next = (random() % 5).into();
    // Two contexts.
    if random() % 4 != 0 {
        unit.write_set.next = (random() & 0x10f).into();
    }
}

pub fn store_buffer(harts: u64) -> impl FnMut(&mut StoreBuffer, Random, u64) {
    let mut under_way: Vec<u64> = vec![];
    move |unit, random, cycle| {
        let filling = cycle / 100 % 2 == 0;
        if unit.reset.next {
            under_way.clear();
        }
        let hart = random() % harts;
        unit.push_hart.next = hart.into();
        let often = random() % 8 < if filling { 7 } else { 2 };
        unit.push_valid.next = !unit.reset.next && often && !unit.full.val().get_bit(hart as usize);
        unit.write.ready.next = random() % 2 == 0;
        let ends = !unit.reset.next && !under_way.is_empty() && random() % 8 < if filling { 2 } else { 7 };
        unit.write.written.valid.next = ends;
        if ends {
            let tag = under_way.swap_remove(random() as usize % under_way.len());
            unit.write.written.tag.next = tag.into();
        } else if random() % 4 == 0 {
            // An atomic operation is acknowledged.
            unit.write.written.valid.next = true;
            unit.write.written.tag.next = (0x20 | (random() % 32)).into();
        }
        if unit.write.valid.val() && unit.write.ready.next && !unit.reset.next {
            under_way.push(unit.write.tag.val().to_u64());
        }
    }
}

/// A memory that answers what was asked, in any order, with lines of words that are likely to be
/// instructions.
pub fn pipeline(options: CommandOptions) -> impl FnMut(&mut CommandPipeline, Random, u64) {
    let all = (1u64 << options.command_threads) - 1;
    let words = move |random: Random| {
        // Arithmetic, products, divisions, loads and stores near x0, branches, a jump, fences,
        // CSRs; rarely anything, also what stops the hart.
        let forms = [0x13, 0x33, 0x03, 0x23, 0x63, 0x0f];
        let masks = [0x0033_f3ff, 0x0033_b3ff, 0x0033_33ff, 0x0233_2fff, 0x0233_1fff, 0x0ff0_1fffu64];
        (0..16).fold(BigUint::default(), |line, _| {
            let kind = random() as usize % 64;
            let word = match kind {
                0 => random() & 0xffff_ffff,
                1 => 0x0005_a067,
                2 => 0xfe1f_f06f,
                3 | 4 => 0x0200_0033 | (random() & 0x0033_7380),
                5 => 0x3020_0073,
                6 => 0x1050_0073,
                7 | 8 => {
                    let csrs = [0x300, 0x304, 0x305, 0x340, 0x341, 0x342, 0x344, 0xb00, 0xb02, 0xc01u64];
                    csrs[random() as usize % csrs.len()] << 20 | (random() & 0x0003_7380) | 0x1073
                }
                11 if options.caches() => 0x7c00_1073 | (random() & 0x0003_8000),
                12 | 13 if options.atomics => {
                    let operations = [0, 1, 2, 3, 4, 8, 12, 16, 20, 24, 28u64];
                    let operation = operations[random() as usize % operations.len()];
                    operation << 27 | (random() & 0x0603_0380) | 0x202f
                }
                14..=17 => 0x2023 | (random() & 0x0030_0e00),
                9 => 0xfff0_4037 | (random() & 0x180),
                10 => 0xfffe_0037 | (random() & 0x180),
                _ => (random() & masks[kind % 6] & !0x7f) | forms[kind % 6],
            };
            (line << 32u32) | BigUint::from(word)
        })
    };
    let (mut reads, mut writes): (Vec<u64>, Vec<u64>) = (vec![], vec![]);
    let (mut retired, mut stored) = (0, 0);
    let mut held_until = [0; 8];
    move |unit, random, cycle| {
        if unit.reset.next {
            reads.clear();
            writes.clear();
        } else {
            // What stood before the last edge was accepted there.
            if unit.read.valid.val() && unit.read.ready.next {
                reads.push(unit.read.tag.val().to_u64());
            }
            if unit.line_write.valid.val() && unit.line_write.ready.next {
                writes.push(unit.line_write.tag.val().to_u64());
                stored += 1;
            }
            retired += u64::from(unit.trace.valid.val());
        }
        // A hart that is stopped is held sooner or later, and starts again.
        let mut run = 0;
        for (hart, held_until) in held_until.iter_mut().enumerate() {
            let stopped = unit.registers.stopped.val().get_bit(hart);
            if random() % if stopped { 50 } else { 400 } == 0 {
                *held_until = cycle + random() % 3 + 1;
            }
            run |= u64::from(cycle >= *held_until) << hart;
        }
        unit.registers.run.next = (run & all).into();
        unit.registers.entry.next = 0x4000.into();
        // The host stops harts now and then, lets them go on soon, and has them execute words.
        let mut some = |n: u64| if random() % n == 0 { random() & 255 } else { 0 };
        unit.debugging.stop.next = some(300).into();
        unit.debugging.step.next = some(100).into();
        unit.debugging.resume.next = some(100).into();
        unit.debugging.execute.next = some(16) != 0;
        unit.debugging.value.next = if random() % 4 == 0 {
            (0x7b20_1073 | random() & 0x3000).into()
        } else {
            (random() & 0x7fff_ffff | 0x13).into()
        };
        unit.invalidate.next = random() % 600 == 0;
        unit.invalidate_data.next = random() % 600 == 0;
        unit.take_hart.next = 0.into();
        unit.take_pc.next = (0x4000 + random() % 64).into();
        unit.take_valid.next = false;
        unit.read.response.valid.next = !reads.is_empty() && random() % 4 == 0;
        if unit.read.response.valid.next {
            unit.read.response.tag.next = reads.swap_remove(random() as usize % reads.len()).into();
        }
        unit.read.response.data.next = words(random).into();
        unit.read.response.error.next = random() % 64 == 0;
        unit.line_write.written.valid.next = !writes.is_empty() && random() % 4 == 0;
        if unit.line_write.written.valid.next {
            unit.line_write.written.tag.next = writes.swap_remove(random() as usize % writes.len()).into();
        }
        if cycle == 3_999 {
            let least = if options.atomics { 25 } else { 50 };
            assert!(retired > least && stored > 2, "{retired} instructions, {stored} stores");
        }
    }
}

pub fn cache(harts: u64) -> impl FnMut(&mut CommandCache, Random, u64) {
    move |unit, random, cycle| {
        // Few lines, which share places, and few words; also of harts whose line is filled.
        let mut address =
            || ((random() % 4) | ((random() % 2) << 4) | ((random() % 3) << 7)) << 6 | ((random() % 4) << 2);
        unit.look_address.next = address().into();
        unit.fill_line.next = (address() >> 6).into();
        unit.look_hart.next = (random() % harts).into();
        unit.fill_hart.next = (random() % harts).into();
        unit.store.next = random() % 8 < if cycle / 500 % 2 == 0 { 1 } else { 6 };
        unit.remove.next = random() % 16 == 0;
        unit.drop.next = if random() % 64 == 0 { (random() & 255).into() } else { 0.into() };
    }
}
