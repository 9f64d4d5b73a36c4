//! Every unit against its Verilog, with random inputs.

use crate::config::{Config, CoreOptions};
use crate::host::registers;
use crate::{command, control, core, host, l2, memory, spawn, top};

/// One test for each unit. A closure keeps the random inputs to what the unit's contract allows.
macro_rules! units {
    ($($test:ident: $unit:expr $(, $cycles:literal, $adjust:expr)?;)*) => { $(
        #[test]
        fn $test() {
            units!(@run $unit $(, $cycles, $adjust)?);
        }
    )* };
    (@run $unit:expr) => { hermes_hdl::testing::check($unit) };
    (@run $unit:expr, $cycles:literal, $adjust:expr) => { hermes_hdl::testing::check_with($unit, $cycles, $adjust) };
}

/// Inputs of an enum type are set by the tests: the harness knows bits only.
const OPERATIONS: [core::AluOperation; 22] = [
    core::AluOperation::Add,
    core::AluOperation::Sub,
    core::AluOperation::LessThan,
    core::AluOperation::LessThanUnsigned,
    core::AluOperation::Min,
    core::AluOperation::MinUnsigned,
    core::AluOperation::Max,
    core::AluOperation::MaxUnsigned,
    core::AluOperation::ShiftLeft,
    core::AluOperation::RotateLeft,
    core::AluOperation::ShiftRight,
    core::AluOperation::RotateRight,
    core::AluOperation::ShiftRightSigned,
    core::AluOperation::SignExtend,
    core::AluOperation::OrCombine,
    core::AluOperation::ReverseBytes,
    core::AluOperation::Xor,
    core::AluOperation::XorNot,
    core::AluOperation::Or,
    core::AluOperation::OrNot,
    core::AluOperation::And,
    core::AluOperation::AndNot,
];
/// Controls of every kind, most of them such as no operation has.
fn random_control(random: u64) -> core::AluControl {
    let bit = |i: u32| random >> i & 1 == 1;
    core::AluControl {
        invert: bit(0),
        add: bit(1),
        both: bit(2),
        either: bit(3),
        compare: bit(4),
        unsigned: bit(5),
        minimum: bit(6),
        maximum: bit(7),
        left: bit(8),
        shift: bit(9),
        whole: bit(10),
        extend: bit(11),
        reverse: bit(12),
        fill_word: bit(13),
        fill_part: bit(14),
        combine: bit(15),
    }
}
const B_SOURCES: [core::BSource; 2] = [core::BSource::Register, core::BSource::Immediate];
const OPERAND_SOURCES: [core::OperandSource; 5] = [
    core::OperandSource::Registers,
    core::OperandSource::Result,
    core::OperandSource::Written,
    core::OperandSource::JustWritten,
    core::OperandSource::Zero,
];
const LOST: [core::LostCycle; 6] = [
    core::LostCycle::None,
    core::LostCycle::NoWarp,
    core::LostCycle::Memory,
    core::LostCycle::Fetch,
    core::LostCycle::Divergence,
    core::LostCycle::Scoreboard,
];

units! {
    core_slots: control::CoreSlots::new(1);
    delay_commit_queue: control::DelayCommitQueue::<4>::default();
    dispatch: control::Dispatch::<3, 4>::new(2, 8, 4, 0);
    fault_collector: control::FaultCollector::new(3, 1);
    finish_arbiter: control::FinishArbiter::new(4, 1);
    lookup_table: control::LookupTable::<6>::new(1);
    round_robin: control::RoundRobin::default();
    task_fifo: control::TaskFifo::<3, 4>::default(), 10_000, |unit, random, _| {
        unit.push_data.next = (random() & 0xffff_ffff).into();
    };
    warp_former: control::WarpFormer::new(8);
    warp_issue: control::WarpIssue::new(3, 8, 1);
    access_check: core::AccessCheck::<4>::new(1);
    access_window: core::AccessWindow::default();
    core_counters: core::EventCounters::default();
    instruction_count: core::InstructionCount::default();
    lost_cycles: core::LostCycles::default(), 10_000, |unit, random, _| {
        unit.reason.next = LOST[random() as usize % LOST.len()];
    };
    program_counters: core::ProgramCounters::default();
    retire_trace: core::RetireTrace::<4>::default();
    decode_stage: core::DecodeStage::new(8, 1, 1, 1);
    front_end: core::FrontEnd::<4>::new(false, 1, 1);
    lane: core::Lane::new(true), 10_000, |unit, random, _| {
        unit.arithmetic.operation.next = random_control(random());
        unit.arithmetic.b_source.next = B_SOURCES[random() as usize % B_SOURCES.len()];
        unit.operands.rs1_source.next = OPERAND_SOURCES[random() as usize % OPERAND_SOURCES.len()];
        unit.operands.rs2_source.next = OPERAND_SOURCES[random() as usize % OPERAND_SOURCES.len()];
    };
    path_selector: core::PathSelector::<4>::default();
    atomic_turns: core::AtomicTurns::default(), 20_000, |unit, random, cycle| {
        // Four warps for some time, so that each decides; now and then the path stays free until
        // all debts are forgotten.
        let mut some_slot = || ((cycle / 100 * 7 + random() % 4 * 11) % 32).into();
        unit.slot.next = some_slot();
        unit.start_slot.next = some_slot();
        let quiet = cycle / 400 % 8 == 7;
        unit.wants.next = random() % 8 == 0;
        unit.start_valid.next = !quiet && random() % 4 == 0;
        unit.busy.next = !quiet && random() % 2 == 0;
    };
    oldest_first: core::OldestFirst::default();
    issue_turns: core::IssueTurns::new(false);
    issue_turns_with_first: core::IssueTurns::new(true);
    boot_first: core::BootFirst::default();
    warp_scheduler: core::WarpScheduler::new(false, 0, 0);
    warp_scheduler_oldest_first: core::WarpScheduler::new(true, 0, 0);
    warp_scheduler_of_spawned_threads: core::WarpScheduler::new(false, 1, 0);
    warp_scheduler_with_sleep: core::WarpScheduler::new(false, 1, 1);
    warp_waits: core::WarpWaits::new(2, 3, 6);
    // The large ones for a shorter time: hermes fuzz compares them with another reference for
    // longer.
    shader_core: core::ShaderCore::<4>::default(), 1_500, |_, _, _| {};
    memory_stage: core::MemoryStage::<4>::new(true);
    read_stage: core::ReadStage::<4>::default();
    write_stage: core::WriteStage::<4>::new(1);
    coalescer: memory::Coalescer::<4>::default();
    instruction_cache: memory::InstructionCache::new(4, 2);
    load_path: memory::LoadPath::<4>::default();
    load_store_unit: memory::LoadStoreUnit::<4>::default();
    queue_pointers: memory::QueuePointers::<3>::default();
    queue_ram: memory::QueueRam::<8, 3>::default();
    store_path: memory::StorePath::<4>::default();
    axi_lite_slave: host::AxiLiteSlave::new(0);
    configuration_registers: registers::configuration::ConfigurationRegisters::default();
    counter_registers: registers::core_counters::CoreCounterRegisters::new(3);
    window_registers: registers::windows::WindowRegisters::default();
    register_file: host::RegisterFile::new(&Config::preset("fpga").unwrap());
    aes_unit: core::AesUnit::default();
    bit_count: core::BitCount::default();
    boot_rom: core::BootRom::default();
    decoder: core::Decoder::default();
    divide_unit: core::DivideUnit::<4>::default(), 10_000, |unit, random, _| {
        unit.start.valid.next = random() % 4 == 0;
    };
    divider: core::Divider::default(), 10_000, |unit, random, cycle| {
        // A division as its control runs it, and now and then a broken one.
        unit.load.next = cycle % 40 == 3 || random() % 256 == 0;
        unit.step.next = random() % 64 != 0;
    };
    multiplier: core::Multiplier::default();
    fault_buffer: core::FaultBuffer::new(1);
    fault_encoder: core::FaultEncoder::<8>::default();
    lane_alu: core::LaneAlu::default(), 10_000, |unit, random, _| {
        unit.control.next = random_control(random());
    };
    alu_decoder: core::AluDecoder::default(), 10_000, |unit, random, _| {
        unit.operation.next = OPERATIONS[random() as usize % OPERATIONS.len()];
    };
    substitution_box: core::SubstitutionBox::default();
    population_count: core::PopulationCount::<8>::default();
    register_address: core::RegisterAddress::default();
    thread_index: core::ThreadIndex::new(8, 1, 1, 1);
    watchdog: core::Watchdog::new(1, 1), 10_000, |unit, random, cycle| {
        unit.cycle.next = ((cycle + 0xffff_e000) & 0xffff_ffff).into();
        unit.limit.next = ([0, 40, 400, 3000][cycle as usize / 2_500 % 4]).into();
        unit.start.valid.next = random() % 16 == 0;
    };
    load_value: memory::LoadValue::default();
    word_select: memory::WordSelect::default();
    store_align: memory::StoreAlign::default();
    store_merge: memory::StoreMerge::new(4);
    spawn_page: spawn::SpawnPage::default();
    spawn_order: spawn::SpawnOrder::default();
    spawn_issue: spawn::SpawnIssue::new(3, 8), 10_000, |unit, random, cycle| {
        // Mostly good descriptors of few warps.
        if random() % 8 != 0 {
            unit.entry.next = (random() & 0xffff_fffc).into();
            unit.shape.next = ((random() % 40) | ((cycle / 100 % 2) << 25) | ((random() & 1) << 26)).into();
            unit.reserved.next = 0.into();
            unit.token.next = (random() & 0x3fff_ffff).into();
            unit.cores.next = (random() % 8).into();
            unit.kernel_class.next = cycle / 100 % 2 == 1;
        }
    };
    spawn_jobs: spawn::SpawnJobs::default();
    completion_writer: spawn::CompletionWriter::default(), 10_000, |unit, random, _| {
        unit.write.written.tag.next = (30 + random() % 2).into();
        if random() % 4 != 0 {
            unit.completion.next = (random() & 0xffff_fffc).into();
        }
    };
    thread_spawner: spawn::ThreadSpawner::new(2, 4, 8, 1), 20_000, |unit, random, _| {
        unit.write.written.tag.next = 31.into();
        unit.control.slot.next = (random() % 9).into();
        unit.control.word.next = (random() % 8).into();
        unit.control.value.next = match unit.control.word.next.index() {
            3 => random() % 12,
            4 => 0,
            5 => random() % 4,
            _ => random() & 0x3fff_fffc,
        }
        .into();
    };
    spawn_capture: spawn::SpawnCapture::new(16), 20_000, |unit, random, cycle| {
        // A page anywhere, or almost one; lines in it, and lines that differ in one bit. Words, and
        // what is left of them without a byte.
        unit.page.address.next = match random() % 4 {
            0 => (1u64 << (random() % 32)).into(),
            1 => (0xfff0_0000 & !(1u64 << (20 + random() % 14))).into(),
            _ => (1024 * (random() & 0x3f_ffff)).into(),
        };
        unit.page.valid.next = cycle % 10 == 0;
        let other = if random() % 2 == 0 { 1u64 << (random() % 26) } else { 0 };
        unit.store.line.next = (unit.base.val().to_u64() ^ other ^ (random() & 15)).into();
        let word = 15u64 << (4 * (random() % 16));
        unit.store.strobe.next = match random() % 4 {
            0 => (word & !(1u64 << (random() % 64))).into(),
            1 => (1u64 << (random() % 64)).into(),
            2 => (word & random()).into(),
            _ => word.into(),
        };
        unit.hold.next = random() % 64 == 0;
        unit.busy.next = if random() % 2 == 0 { 0.into() } else { (random() % 0x1_0000).into() };
    };
    write_merge: spawn::WriteMerge::default(), 10_000, |unit, random, _| {
        // The tag of completion words, or one that differs in one bit.
        unit.memory.written.tag.next = (31 ^ [0, 1, 2, 4, 8, 16, 32][random() as usize % 7]).into();
    };
    write_monitor: l2::WriteMonitor::new(5, 2, 2), 10_000, |unit, random, _| {
        unit.observed.strobe.next = (random() & random()).into();
        // The same line, or one that differs in one bit.
        let line = unit.observed.line.next;
        for watched in &mut unit.watched {
            let bit = if random() % 2 == 0 { 1 << (random() % 26) } else { 0u64 };
            watched.line.next = line ^ bit;
        }
    };
    uli_channels: command::UliChannels::new(4), 20_000, |unit, random, cycle| {
        unit.hold.next = cycle % 500 == 0;
        unit.arm_scenario.next = if random() % 8 == 0 { (random() % 16).into() } else { (random() % 4).into() };
        unit.freed.next = (random() & random() & random() & 0xffff).into();
        unit.raised.next = (random() & random() & random() & random() & 0xffff_ffff).into();
        unit.write_number.next = (random() % 5).into();
        // Two contexts.
        if random() % 4 != 0 {
            unit.write_set.next = (random() & 0x10f).into();
        }
    };
    spawned_warps: core::SpawnedWarps::default();
    shader_core_with_local_window: core::ShaderCore::<4>::new(CoreOptions { local_window: true, ..CoreOptions::default() }), 1_500, |_, _, _| {};
    shader_core_with_spawns_and_network: core::ShaderCore::<2>::new(CoreOptions { atomics: true, spawns: true, network: true, ..CoreOptions::default() }), 1_500, |_, _, _| {};
    hermes_top: top::HermesTop::<2>::new(&Config { cores: 2, lanes: 2, warps: 2, ..Config::preset("fpga").unwrap() }), 600, |_, _, _| {};
}
