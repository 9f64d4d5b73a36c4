//! Every unit natively against its Verilog, with the same random inputs: one table, one test a
//! line, named after the folder and the unit.
//!
//! What a unit needs beyond random bits, such as answers that fit its requests, is in `inputs`, a
//! file for each folder of `rtl/src`. `HERMES_SEED`, `HERMES_EVENT_DRIVEN` and `HERMES_MUTATIONS`
//! work here (`docs/verification.md`).

mod every_unit;
mod options;

mod inputs {
    //! Random inputs within the contracts of the units: a function of each unit that needs some.
    //!
    //! All ports have random values when it is called in a cycle; it changes those that must fit
    //! what the unit holds.

    /// Gives 64 random bits.
    pub type Random<'a> = &'a mut (dyn FnMut() -> u64 + 'a);

    pub mod blocks;
    pub mod board;
    pub mod command;
    pub mod control;
    pub mod core;
    pub mod functions;
    pub mod host;
    pub mod l2;
    pub mod memory;
    pub mod net;
    pub mod queues;
    pub mod spawn;
    pub mod stream;
    pub mod top;
    pub mod trace;
}

/// Makes the tests of the table and, for [`every_unit`], a list of the table's lines.
///
/// `name: unit;` plays 10,000 cycles of random inputs. `name: unit, cycles;` plays so many; a third
/// value changes the inputs of every cycle; a fourth is the function of `hermes_hdl::testing` that
/// compares, if it is not `check_with`.
macro_rules! units {
    ($($folder:ident { $($test:ident: $unit:expr $(, $cycles:literal $(, $inputs:expr $(, $check:ident)?)?)?;)* })*) => {
        $(mod $folder {
            #[allow(unused_imports)]
            use crate::inputs::$folder as inputs;
            #[allow(unused_imports)]
            use hermes_hdl::prelude::Bits;
            #[allow(unused_imports)]
            use crate::options::{by_word, functions, network, small_cache, spawned};
            #[allow(unused_imports)]
            use hermes_rtl::config::{CommandOptions, Config, ControlOptions, CoreOptions, SpawnOptions};
            use hermes_rtl::$folder::*;

            $(#[test]
            fn $test() {
                compare!($unit $(, $cycles $(, $inputs $(, $check)?)?)?);
            })*
        })*

        /// Folder, name and unit of each line of the table.
        const TABLE: &[(&str, &str, &str)] =
            &[$($((stringify!($folder), stringify!($test), stringify!($unit)),)*)*];
    };
}

/// Compares a unit with its Verilog, as a line of the table says.
macro_rules! compare {
    ($unit:expr) => {
        hermes_hdl::testing::check($unit)
    };
    ($unit:expr, $cycles:literal) => {
        hermes_hdl::testing::check_with($unit, $cycles, |_, _, _| {})
    };
    ($unit:expr, $cycles:literal, $inputs:expr) => {
        hermes_hdl::testing::check_with($unit, $cycles, $inputs)
    };
    ($unit:expr, $cycles:literal, $inputs:expr, $check:ident) => {
        hermes_hdl::testing::$check($unit, $cycles, $inputs)
    };
}

units! {
    blocks {
        binary_encoder: BinaryEncoder::default();
        fifo_of_records: SyncFifo::<hermes_rtl::control::FaultRecord, 2, 3>::default(), 10_000, inputs::fifo_of_records;
        index_hash: IndexHash::new(5, 2), 500;
        population_count: PopulationCount::<8>::default();
        priority_encoder: PriorityEncoder::default(), 10_000, inputs::priority_encoder;
        queue_pointers: QueuePointers::<5>::default(), 10_000, inputs::queue_pointers;
        queue_pointers_unconstrained: QueuePointers::<3>::default();
        queue_ram: QueueRam::<8, 3>::default();
        round_robin: RoundRobin::default();
        short_fifo: ShortFifo::<Bits<8>, 2>::default(), 1_000;
        task_fifo: TaskFifo::<3, 4>::default(), 10_000, inputs::task_fifo;
        word_select: WordSelect::default();
    }

    board {
        board_link: BoardLink::new(inputs::IDENTITY), 20_000, inputs::board_link();
        board_link_with_all_parts: BoardLink::with(inputs::IDENTITY, inputs::LINK_PARTS), 20_000, inputs::board_link();
        fcs: Fcs::default();
        frame_receiver: FrameReceiver::default(), 10_000, inputs::frame_receiver;
        frame_transmitter: FrameTransmitter::default(), 10_000, inputs::frame_transmitter;
        line_memory: LineMemory::new(10), 10_000, inputs::line_memory;
        run_timer: RunTimer::new(3), 4_000, inputs::run_timer;
        run_timer_with_spawner: RunTimer::with_spawner(3), 4_000, inputs::run_timer;
        sdram_memory: SdramMemory::new(SdramTiming::at(10_000), 25), 20_000, inputs::sdram_memory();
        sdram_memory_of_64_mib: SdramMemory::new(inputs::SDRAM_TIMING, 26), 10_000, inputs::sdram_memory_alone;
        uart_receiver: UartReceiver::new(1 << 13), 10_000, inputs::uart_receiver;
        uart_transmitter: UartTransmitter::new(12_345);
    }

    command {
        cache: CommandCache::new(1, 32), 10_000, inputs::cache(1);
        cache_of_four_harts: CommandCache::new(4, 32), 10_000, inputs::cache(4);
        cached_loads: CachedLoads::new(2, 16), 60_000, inputs::cached_loads;
        clint: Clint::new(3), 20_000, inputs::clint;
        command_atomics: CommandAtomics::new(true), 20_000, inputs::command_atomics;
        command_data: CommandData::default(), 30_000, inputs::command_data;
        command_debug: CommandDebug::default(), 20_000, inputs::command_debug;
        command_decode: CommandDecode::new(true, true), 10_000, inputs::command_decode;
        command_devices: CommandDevices::new(2, true), 20_000, inputs::command_devices;
        command_execute: CommandExecute::new(true, true), 10_000, inputs::command_execute;
        command_fetch: CommandFetch::new(4, 2), 10_000, inputs::command_fetch;
        command_write: CommandWrite::default(), 20_000, inputs::command_write;
        csr_map: CsrMap::default(), 20_000, inputs::csr_map;
        hart: CommandHart::new(true);
        hart_csrs: HartCsrs::default(), 40_000, inputs::hart_csrs;
        hart_registers: HartRegisters::new(true), 10_000, inputs::hart_registers;
        hart_scheduler: HartScheduler::default();
        hart_state: HartState::default(), 20_000, inputs::hart_state;
        hart_turns: HartTurns::default();
        held_reads: HeldReads::default(), 1_000;
        local_memory: LocalMemory::default(), 20_000, inputs::local_memory;
        long_operations: LongOperations::new(2, true), 20_000, inputs::long_operations;
        pipeline:
            CommandPipeline::new(inputs::plain_harts(1)), 4_000, inputs::pipeline(inputs::plain_harts(1));
        pipeline_of_four_harts:
            CommandPipeline::new(inputs::plain_harts(4)), 4_000, inputs::pipeline(inputs::plain_harts(4));
        pipeline_of_four_harts_with_all_parts:
            CommandPipeline::new(inputs::harts_with_all_parts(4)), 4_000, inputs::pipeline(inputs::harts_with_all_parts(4));
        pipeline_with_all_parts:
            CommandPipeline::new(inputs::harts_with_all_parts(1)), 4_000, inputs::pipeline(inputs::harts_with_all_parts(1));
        processor: CommandProcessor::new(CommandOptions { uli_channels: 4, ..inputs::harts_with_all_parts(2) }), 4_000;
        store_buffer_of_eight_harts: StoreBuffer::new(8), 8_000, inputs::store_buffer(8);
        store_buffer_of_four_harts: StoreBuffer::new(4), 8_000, inputs::store_buffer(4);
        store_buffer_of_two_harts: StoreBuffer::new(2), 8_000, inputs::store_buffer(2);
        system_decoder: SystemDecoder::new(false), 10_000, inputs::system_decoder;
        system_decoder_with_command_queues: SystemDecoder::new(true), 10_000, inputs::system_decoder;
        trap_unit: TrapUnit::default(), 20_000, inputs::trap_unit;
        uli_channels: UliChannels::new(4, false), 20_000, inputs::uli_channels;
        uli_channels_with_command_queues: UliChannels::new(2, true), 20_000, inputs::uli_channels;
    }

    control {
        adaptive_timeout: AdaptiveTimeout::new(3, 4), 20_000, inputs::adaptive_timeout();
        core_slots: CoreSlots::new(true);
        core_slots_counted: CoreSlots::counted(true);
        delay_commit_queue: DelayCommitQueue::<2>::default(), 10_000, inputs::delay_commit_queue();
        delay_commit_queue_unconstrained: DelayCommitQueue::<4>::default();
        dispatch: Dispatch::<6, 7>::new(ControlOptions::of(2, 4, 32)), 10_000, inputs::dispatch();
        dispatch_adaptive: Dispatch::<6, 7>::new(ControlOptions { adaptive_timeout: true, ..ControlOptions::of(2, 4, 32) }), 10_000, inputs::dispatch();
        dispatch_unconstrained: Dispatch::<3, 4>::new(ControlOptions::of(2, 8, 4));
        dispatch_watched: Dispatch::<6, 7>::new(ControlOptions { trace: true, load_counters: true, ..ControlOptions::of(2, 4, 32) }), 10_000, inputs::dispatch();
        dispatch_with_branches:
            Dispatch::<6, 7>::new(ControlOptions { network_functions: 4, function_branches: true, ..ControlOptions::of(2, 4, 32) }), 10_000, inputs::dispatch_with_functions();
        dispatch_with_functions:
            Dispatch::<6, 7>::new(ControlOptions { network_functions: 4, ..ControlOptions::of(2, 4, 32) }), 10_000, inputs::dispatch_with_functions();
        dispatch_with_spawns: Dispatch::<6, 7>::new(spawned(2, 4, 32)), 10_000, inputs::dispatch();
        fault_collector: FaultCollector::new(3, true, false);
        fault_collector_with_functions: FaultCollector::new(3, false, true);
        finish_arbiter: FinishArbiter::new(4, true);
        least_occupied: LeastOccupied::new(5);
        load_counters: LoadCounters::<3, 4>::new(3, true, true), 10_000, inputs::load_counters();
        load_counters_unconstrained: LoadCounters::<4, 5>::new(2, false, false);
        lookup_table: LookupTable::<6>::new(true);
        warp_former: WarpFormer::new(ControlOptions::of(1, 4, 8)), 10_000, inputs::warp_former;
        warp_former_counted: WarpFormer::new(ControlOptions { load_counters: true, ..ControlOptions::of(1, 4, 8) }), 10_000, inputs::warp_former;
        warp_former_unconstrained: WarpFormer::new(ControlOptions::of(1, 8, 8));
        warp_former_with_functions: WarpFormer::new(ControlOptions { network_functions: 2, ..ControlOptions::of(1, 4, 8) }), 10_000, inputs::warp_former;
        warp_issue: WarpIssue::new(ControlOptions::of(3, 4, 20)), 10_000, inputs::warp_issue();
        warp_issue_least_occupied: WarpIssue::new(ControlOptions { least_occupied_issue: true, ..spawned(3, 4, 20) }), 10_000, inputs::warp_issue();
        warp_issue_unconstrained: WarpIssue::new(spawned(3, 4, 8));
        warp_issue_with_functions:
            WarpIssue::new(ControlOptions { network_functions: 2, least_occupied_issue: true, ..ControlOptions::of(3, 4, 20) }), 10_000, inputs::warp_issue_with_functions();
        warp_issue_with_spawns: WarpIssue::new(spawned(3, 4, 20)), 10_000, inputs::warp_issue();
    }

    core {
        access_check: AccessCheck::<4>::new(true);
        access_window: AccessWindow::default();
        access_window_with_packets: AccessWindow::new(true);
        address_region: AddressRegion::default(), 10_000, inputs::address_region;
        aes_unit: AesUnit::default();
        alu_decoder: AluDecoder::default(), 10_000, inputs::alu_decoder;
        atomic_stage: AtomicStage::<2>::default(), 3_000, inputs::atomic_stage;
        atomic_stage_with_functions: AtomicStage::<2>::new(functions()), 3_000, inputs::atomic_stage;
        atomic_turns: AtomicTurns::default(), 20_000, inputs::atomic_turns;
        atomic_turns_with_few_starts: AtomicTurns::default(), 2_000, inputs::atomic_turns_with_few_starts;
        bit_count: BitCount::default();
        boot_first: BootFirst::default();
        boot_rom: BootRom::default();
        core_counters: EventCounters::default();
        data_memory: DataMemory::<4>::new(small_cache()), 1_000, inputs::data_memory;
        data_memory_by_word: DataMemory::<4>::new(CoreOptions { line_words: 1, ..small_cache() }), 1_000, inputs::data_memory;
        data_memory_with_atomics: DataMemory::<4>::new(CoreOptions { l1_lines: 4, line_words: 2, ..network() }), 1_000, inputs::data_memory;
        data_memory_with_functions: DataMemory::<4>::new(CoreOptions { l1_lines: 4, atomics: true, compare_and_swap: true, ..functions() }), 1_000, inputs::data_memory;
        decode_stage: DecodeStage::new(8, CoreOptions { spawn_slots: 8, local_window: true, ..network() });
        decode_stage_with_functions: DecodeStage::new(8, CoreOptions { compare_and_swap: true, ..functions() });
        decoder: Decoder::default();
        divide_unit: DivideUnit::<4>::default(), 10_000, inputs::divide_unit;
        divider: Divider::default(), 10_000, inputs::divider;
        fault_buffer: FaultBuffer::new(true);
        fault_encoder: FaultEncoder::<8>::default();
        front_end: FrontEnd::<4>::new(CoreOptions { spawn_slots: 8, ..network() });
        front_end_with_functions: FrontEnd::<4>::new(CoreOptions { oldest_first: true, ..functions() });
        hazards: Hazards::default(), 10_000, inputs::hazards();
        instruction_count: InstructionCount::default();
        issue_turns: IssueTurns::new(false);
        issue_turns_with_first: IssueTurns::new(true);
        lane: Lane::new(CoreOptions { aes: true, spawn_slots: 8, ..network() }), 10_000, inputs::lane;
        lane_alu: LaneAlu::default(), 10_000, inputs::lane_alu;
        lane_traps: LaneTraps::<4>::default(), 10_000, inputs::lane_traps;
        late_results: LateResults::<4>::default(), 2_000;
        load_errors: LoadErrors::<4>::default(), 3_000;
        local_window: LocalWindow::<4>::default(), 10_000, inputs::local_window;
        lost_cycles: LostCycles::default(), 10_000, inputs::lost_cycles;
        memory_stage: MemoryStage::<4>::new(true);
        multiplier: Multiplier::default();
        oldest_first: OldestFirst::default();
        outstanding_operations: OutstandingOperations::default(), 8_000, inputs::outstanding_operations();
        path_selector: PathSelector::<4>::default();
        program_counters: ProgramCounters::default();
        read_stage: ReadStage::<4>::default();
        register_address: RegisterAddress::default();
        reservation_ends: ReservationEnds::default(), 20_000, inputs::reservation_ends;
        retire_trace: RetireTrace::<4>::default();
        scoreboard: Scoreboard::default(), 8_000, inputs::scoreboard();
        // The large ones for a shorter time: hermes fuzz compares them with another reference for
        // longer.
        shader_core: ShaderCore::<4>::default(), 1_500;
        shader_core_with_branches:
            ShaderCore::<4>::new(CoreOptions { local_window: true, network_functions: 2, function_branches: true, ..CoreOptions::default() }),
            1_500, inputs::shader_core_with_functions;
        shader_core_with_functions:
            ShaderCore::<4>::new(CoreOptions { local_window: true, atomics: true, network_functions: 2, ..CoreOptions::default() }),
            1_500, inputs::shader_core_with_functions;
        shader_core_with_load_counters:
            ShaderCore::<4>::new(CoreOptions { load_counters: true, ..CoreOptions::default() }), 1_500;
        shader_core_with_local_window:
            ShaderCore::<4>::new(CoreOptions { local_window: true, ..CoreOptions::default() }), 1_500;
        shader_core_with_spawns_and_network:
            ShaderCore::<2>::new(CoreOptions { atomics: true, compare_and_swap: true, spawn_slots: 8, network: true, ..CoreOptions::default() }),
            1_500;
        spawned_warps: SpawnedWarps::default();
        substitution_box: SubstitutionBox::default();
        thread_index: ThreadIndex::new(8, CoreOptions { spawn_slots: 8, local_window: true, ..network() });
        warp_scheduler: WarpScheduler::new(CoreOptions::default());
        warp_scheduler_of_five_slots: WarpScheduler::new(CoreOptions { warps: 5, ..CoreOptions::default() });
        warp_scheduler_of_spawned_threads: WarpScheduler::new(CoreOptions { spawn_slots: 8, ..CoreOptions::default() });
        warp_scheduler_oldest_first: WarpScheduler::new(CoreOptions { oldest_first: true, ..CoreOptions::default() });
        warp_scheduler_with_sleep: WarpScheduler::new(CoreOptions { spawn_slots: 8, ..network() });
        warp_waits: WarpWaits::new(2, 3, 6);
        watchdog: Watchdog::new(CoreOptions { spawn_slots: 8, ..network() }), 10_000, inputs::watchdog;
        write_stage: WriteStage::<4>::new(CoreOptions { local_window: true, ..CoreOptions::default() });
        write_stage_with_functions: WriteStage::<4>::new(functions());
        write_stage_with_traps: WriteStage::<4>::new(CoreOptions { local_window: true, spawn_slots: 8, ..CoreOptions::default() });
    }

    functions {
        branch_step: BranchStep::<3>::new(12), 10_000, inputs::branch_step;
        chain: Chain::<3, 4>::new(4, 12), 20_000, inputs::chain;
        chain_with_branches: Chain::<3, 4>::with_branches(4, 12), 20_000, inputs::chain_with_branches;
        context_table: ContextTable::default();
        core_clear: CoreClear::new(9);
        core_context: CoreContext::default(), 10_000, inputs::core_context;
        core_owner: CoreOwner::new(3, 4, 5), 20_000, inputs::core_owner;
        fetch_window: FetchWindow::default(), 10_000, inputs::fetch_window;
        function_counter: FunctionCounter::default();
        function_counters: FunctionCounters::default();
        packet_window: PacketWindow::default();
        survivors: Survivors::<4>::default();
        verdict_codes: VerdictCodes::<4>::default();
    }

    host {
        axi_lite_slave: AxiLiteSlave::new(false);
        axi_lite_slave_with_hold: AxiLiteSlave::new(true);
        branch_registers:
            registers::branches::BranchRegisters::new(&inputs::with_branches()), 6_000,
            inputs::branch_registers;
        command_interrupts: registers::CommandInterrupts::new(3), 10_000, inputs::command_interrupts;
        command_registers: registers::command::CommandRegisters::default(), 4_000, inputs::command_registers;
        configuration_registers:
            registers::configuration::ConfigurationRegisters::default(),
            10_000, inputs::configuration_registers;
        configuration_registers_unconstrained: registers::configuration::ConfigurationRegisters::default();
        console: registers::Console::default(), 20_000, inputs::console;
        counter_registers:
            registers::core_counters::CoreCounterRegisters::new(3), 10_000, inputs::counter_registers;
        counter_registers_unconstrained: registers::core_counters::CoreCounterRegisters::new(3);
        debug_registers: registers::debug::DebugRegisters::default(), 4_000, inputs::debug_registers;
        fault_registers: registers::faults::FaultRegisters::default(), 4_000, inputs::fault_registers;
        function_registers:
            registers::functions::FunctionRegisters::new(&inputs::with_functions()), 6_000,
            inputs::function_registers;
        host_interrupts: registers::HostInterrupts::default(), 10_000, inputs::host_interrupts;
        host_link_registers:
            registers::host_link::HostLinkRegisters::new(2), 10_000, inputs::host_link_registers;
        identity_registers:
            registers::identity::IdentityRegisters::new(0x4845_524d, 0x0001_0002, 0x0804_0201), 4_000, inputs::identity_registers;
        l2_counter_registers:
            registers::core_counters::L2CounterRegisters::new(3), 4_000, inputs::l2_counter_registers;
        load_counter_registers:
            registers::load_counters::LoadCounterRegisters::default(), 4_000, inputs::load_counter_registers;
        lost_cycle_registers:
            registers::core_counters::LostCycleRegisters::new(3), 4_000, inputs::lost_cycle_registers;
        mailbox: registers::Mailbox::default(), 10_000, inputs::mailbox;
        memory_registers: registers::memory::MemoryRegisters::default(), 4_000, inputs::memory_registers;
        net_registers:
            registers::network::NetRegisters::new(&inputs::two_masters()), 10_000, inputs::net_registers;
        packet_watch: registers::PacketWatch::default(), 10_000, inputs::packet_watch;
        port_control_registers:
            registers::packet_ports::PortControlRegisters::default(), 4_000, inputs::port_control_registers;
        port_counter_registers:
            registers::packet_ports::PortCounterRegisters::default(), 4_000, inputs::port_counter_registers;
        port_drop_registers:
            registers::packet_ports::PortDropRegisters::default(), 4_000, inputs::port_drop_registers;
        progress_registers:
            registers::progress::ProgressRegisters::default(), 4_000, inputs::progress_registers;
        qos_registers: registers::qos::QosRegisters::new(1), 1_000, inputs::qos_registers;
        register_file: RegisterFile::new(&inputs::three_cores()), 5_000, inputs::register_file;
        register_file_unconstrained: RegisterFile::new(&Config::preset("fpga").unwrap());
        register_file_with_dropping_ports:
            RegisterFile::new(&Config { packet_ports: true, drop_when_full: true, ..inputs::three_cores() }),
            5_000, inputs::register_file;
        register_file_with_load_counters:
            RegisterFile::new(&Config { load_counters: true, ..inputs::three_cores() }),
            5_000, inputs::register_file;
        register_file_with_packet_ports:
            RegisterFile::new(&Config { packet_ports: true, ..inputs::three_cores() }),
            5_000, inputs::register_file;
        register_file_with_two_masters:
            RegisterFile::new(&inputs::two_masters()), 5_000, inputs::register_file;
        register_port: RegisterPort::default(), 10_000, inputs::register_port;
        spawn_registers:
            registers::spawn::SpawnRegisters::new(&inputs::two_masters()), 10_000, inputs::spawn_registers;
        task_push: TaskPush::default(), 6_000, inputs::task_push;
        task_registers: registers::tasks::TaskRegisters::default(), 4_000, inputs::task_registers;
        time_registers: registers::time::TimeRegisters::default(), 4_000, inputs::time_registers;
        timeout_registers: registers::timeout::TimeoutRegisters::default(), 4_000, inputs::timeout_registers;
        window_registers: registers::windows::WindowRegisters::default();
    }

    l2 {
        answers: L2Answers::default(), 2_000, inputs::answers;
        atomic_alu: AtomicAlu::default(), 2_000;
        atomics: L2Atomics::new(3, 1, 2, 20, None, false, 1), 1_500, inputs::atomics;
        atomics_with_compare_and_swap: L2Atomics::new(3, 1, 2, 20, None, true, 4), 1_500, inputs::atomics;
        atomics_with_network: L2Atomics::new(3, 1, 2, 20, Some(2), true, 1), 1_500, inputs::atomics;
        bank: L2Bank::new(8, 2, 2, 0, None, false), 5_000, inputs::bank;
        bank_with_locks: L2Bank::new(8, 2, 2, 0, Some(inputs::LOCK_SIZES), false), 5_000, inputs::bank;
        bank_with_look_up_cycle: L2Bank::new(8, 2, 2, 0, None, true), 5_000, inputs::bank;
        channel: MemoryChannel::new(2, 3), 2_000, inputs::channel;
        fetches: L2Fetches::new(2), 3_000, inputs::fetches;
        lock_of_four_ways: L2Lock::new(4, 1, inputs::LOCK_SIZES), 4_000, inputs::lock(4);
        lock_of_two_ways: L2Lock::new(2, 1, inputs::LOCK_SIZES), 4_000, inputs::lock(2);
        memory_system: MemorySystem::new(inputs::sizes(false)), 600, inputs::memory_system;
        memory_system_of_a_network_interface:
            MemorySystem::new(inputs::network_sizes()), 600, inputs::memory_system_of_a_network_interface;
        memory_system_with_look_up_cycle: MemorySystem::new(inputs::sizes(true)), 600, inputs::memory_system;
        number_pool: NumberPool::new(3), 3_000;
        request_crossbar: RequestCrossbar::new(3, 2);
        reservation: Reservation::new(3, 1, 2, 20), 10_000, inputs::reservation;
        response_crossbar: ResponseCrossbar::new(3, 2, true, None), 1_500, inputs::response_crossbar;
        response_crossbar_with_network:
            ResponseCrossbar::new(3, 2, true, Some(1)), 1_500, inputs::response_crossbar;
        ring_window: RingWindow::new(8, 2), 1_000;
        stores: L2Stores::new(3), 1_000, inputs::stores;
        way: L2Way::new(1, false), 5_000, inputs::way;
        way_with_look_up_cycle: L2Way::new(1, true), 5_000, inputs::way;
        write_monitor: WriteMonitor::new(5, 2, 2), 10_000, inputs::write_monitor;
    }

    memory {
        atomic_path: AtomicPath::<4>::default(), 1_000, inputs::atomic_path;
        atomic_path_with_compare_and_swap: AtomicPath::<4>::new(network()), 1_000, inputs::atomic_path;
        cache_tags: CacheTags::new(3), 5_000, inputs::cache_tags;
        coalescer: Coalescer::<4>::default(), 10_000, inputs::coalescer;
        coalescer_of_one_lane: Coalescer::<1>::default(), 2_000;
        coalescer_unconstrained: Coalescer::<4>::default();
        data_cache: DataCache::new(2), 6_000, inputs::data_cache;
        instruction_cache: InstructionCache::new(8, 4), 5_000, inputs::instruction_cache;
        instruction_cache_of_one_way: InstructionCache::new(4, 1), 5_000, inputs::instruction_cache;
        instruction_cache_unconstrained: InstructionCache::new(4, 2);
        load_path: LoadPath::<4>::new(CoreOptions::default()), 10_000, inputs::load_path;
        load_path_by_word: LoadPath::<4>::new(by_word()), 10_000, inputs::load_path;
        load_path_unconstrained: LoadPath::<4>::new(CoreOptions::default());
        load_store_unit: LoadStoreUnit::<4>::new(CoreOptions::default()), 10_000, inputs::load_store_unit;
        load_store_unit_unconstrained: LoadStoreUnit::<4>::new(CoreOptions::default());
        load_value: LoadValue::default();
        read_merge: ReadMerge::default(), 2_000;
        reorder_buffer: ReorderBuffer::default(), 3_000, inputs::reorder_buffer;
        scratchpad: Scratchpad::<4>::default(), 10_000, inputs::scratchpad;
        // Its banks have single-byte writes in the text for synthesis.
        scratchpad_for_synthesis:
            Scratchpad::<4>::default(), 10_000, inputs::scratchpad, check_synthesized_with;
        scratchpad_of_one_lane: Scratchpad::<1>::default(), 10_000, inputs::scratchpad;
        scratchpad_that_is_cleared: Scratchpad::<4>::new(true), 10_000, inputs::scratchpad;
        store_align: StoreAlign::default();
        store_merge: StoreMerge::new(4);
        store_path: StorePath::<4>::new(CoreOptions::default()), 10_000, inputs::store_path;
        store_path_by_word: StorePath::<4>::new(by_word()), 10_000, inputs::store_path;
        store_path_unconstrained: StorePath::<4>::new(CoreOptions::default());
    }

    net {
        acknowledge: Acknowledge::default(), 4_000, inputs::acknowledge;
        answer_step: AnswerStep::default(), 2_000, inputs::answer_step;
        byte_rotate: ByteRotate::default(), 1_000, inputs::byte_rotate;
        command_check: CommandCheck::default(), 2_000, inputs::command_check;
        frame_buffer: FrameBuffer::default(), 2_000, inputs::frame_buffer;
        frame_builder: FrameBuilder::default(), 1_500, inputs::frame_builder;
        frame_check: FrameCheck::default(), 3_000, inputs::frame_check;
        frame_queue: FrameQueue::default(), 1_000, inputs::frame_queue;
        frame_turns: FrameTurns::default(), 1_000, inputs::frame_turns;
        header_bytes: HeaderBytes::default(), 500;
        icrc: Icrc::default(), 4_000, inputs::icrc;
        net_counters: NetCounters::default(), 1_000;
        net_interface:
            NetInterface::new(InterfaceSizes { harts: 2, banks: 2, rings_log2: 3, areas_log2: 0, entries: 8 }),
            300, inputs::net_interface;
        net_window: NetWindow::new(2, 3, 8), 6_000, inputs::net_window;
        net_window_of_1_entry: NetWindow::new(2, 3, 1), 6_000, inputs::net_window;
        packet_cut: PacketCut::default(), 2_000, inputs::packet_cut;
        pair_counts: PairCounts::default(), 1_000;
        payload_reader: PayloadReader::default(), 4_000, inputs::payload_reader();
        payload_writer: PayloadWriter::default(), 3_000, inputs::payload_writer;
        queue_pairs: QueuePairs::default(), 4_000, inputs::queue_pairs;
        receiver: Receiver::default(), 4_000, inputs::receiver;
        region_check: RegionCheck::default(), 2_000, inputs::region_check;
        region_table: RegionTable::default(), 3_000, inputs::region_table;
        remote_atomics: RemoteAtomics::default(), 4_000, inputs::remote_atomics;
        request_check: RequestCheck::default(), 3_000, inputs::request_check;
        request_choice: RequestChoice::default(), 2_000, inputs::request_choice;
        requester: Requester::new(1, 8), 6_000, inputs::requester;
        requester_of_2_entries: Requester::new(1, 2), 6_000, inputs::requester;
        responder: Responder::default(), 4_000, inputs::responder();
        retry_timers: RetryTimers::default(), 4_000, inputs::retry_timers;
        row_step: RowStep::default(), 4_000, inputs::row_step;
        send_window: SendWindow::default(), 6_000, inputs::send_window;
        work_posts: WorkPosts::new(8), 2_000;
        work_posts_of_1_entry: WorkPosts::new(1), 2_000;
        work_table: WorkTable::new(1, 8), 3_000, inputs::work_table(2, 8);
        work_table_of_1_entry: WorkTable::new(1, 1), 3_000, inputs::work_table(2, 1);
        work_table_of_1_place: WorkTable::new(0, 1), 1_000, inputs::work_table(1, 1);
        work_table_of_2_entries: WorkTable::new(1, 2), 3_000, inputs::work_table(2, 2);
        work_table_of_4_entries: WorkTable::new(1, 4), 3_000, inputs::work_table(2, 4);
    }

    queues {
        command_queues: CommandQueues::new(2, 1, 1, 8), 3_000, inputs::command_queues;
        command_queues_of_2_entries: CommandQueues::new(2, 1, 1, 2), 3_000, inputs::command_queues;
        look_list: LookList::default(), 2_000, inputs::look_list;
        queue_step: QueueStep::new(8), 6_000, inputs::queue_step;
        queue_step_of_1_entry: QueueStep::new(1), 6_000, inputs::queue_step;
        queue_step_of_2_entries: QueueStep::new(2), 6_000, inputs::queue_step;
        queue_step_of_4_entries: QueueStep::new(4), 6_000, inputs::queue_step;
        queue_watch: QueueWatch::new(1, 3, 0), 1_500, inputs::queue_watch;
        queue_watch_of_two_banks: QueueWatch::new(2, 5, 3), 1_500, inputs::queue_watch;
        stage_buffers: StageBuffers::new(2), 3_000, inputs::stage_buffers;
    }

    spawn {
        completion_writer: CompletionWriter::default(), 10_000, inputs::completion_writer;
        spawn_capture: SpawnCapture::new(16), 20_000, inputs::spawn_capture;
        spawn_issue: SpawnIssue::new(3, 8), 10_000, inputs::spawn_issue;
        spawn_jobs: SpawnJobs::default();
        spawn_order: SpawnOrder::default();
        spawn_page: SpawnPage::default();
        thread_spawner: ThreadSpawner::new(SpawnOptions { cores: 2, lanes: 4, spawn_slots: 8, uli_channels: 1 }), 20_000, inputs::thread_spawner;
        trap_count: TrapCount::new(3);
        write_merge: WriteMerge::default(), 10_000, inputs::write_merge;
    }

    stream {
        drop_when_full: DropWhenFull::default(), 6_000, inputs::drop_when_full;
        egress: Egress::default(), 2_000, inputs::egress;
        frame_sender: FrameSender::default(), 2_000, inputs::frame_sender();
        ingress: Ingress::new(false, false), 2_000, inputs::ingress;
        ingress_that_drops: Ingress::new(true, false), 6_000, inputs::ingress_that_drops;
        ingress_with_load_counters: Ingress::new(false, true), 2_000, inputs::ingress;
        keep_count: KeepCount::default(), 4_000, inputs::keep_count;
        keep_mask: KeepMask::default(), 500;
        line_builder: LineBuilder::default(), 2_000, inputs::line_builder;
        packet_ports: PacketPorts::new(false, false), 800, inputs::packet_ports;
        packet_ports_that_drop: PacketPorts::new(true, false), 800, inputs::packet_ports_that_drop;
        packet_ports_with_load_counters: PacketPorts::new(false, true), 800, inputs::packet_ports;
        ring_position: RingPosition::default();
        slot_reader: SlotReader::default(), 2_000, inputs::slot_reader;
        task_merge: TaskMerge::default();
        verdict_reader: VerdictReader::default(), 2_000, inputs::verdict_reader;
        write_window: WriteWindow::<6>::default(), 6_000, inputs::write_window;
        write_window_of_5_bits: WriteWindow::<5>::default(), 6_000, inputs::write_window;
    }

    top {
        hermes_top: HermesTop::<2>::new(&inputs::two_cores()), 600;
        hermes_top_with_branches: HermesTop::<2>::new(&inputs::with_branches()), 300;
        hermes_top_with_functions: HermesTop::<2>::new(&inputs::with_functions()), 300;
        hermes_top_with_load_counters: HermesTop::<2>::new(&inputs::with_load_counters()), 600;
    }
    trace {
        trace_buffer: TraceBuffer::<4>::new(2, 4), 20_000, inputs::trace_buffer;
        trace_ring: TraceRing::default(), 10_000, inputs::trace_ring;
        trace_trigger: TraceTrigger::new(2), 20_000, inputs::trace_trigger;
    }
}
