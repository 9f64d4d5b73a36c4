//! Writes single units of the control path as Verilog, in sizes small enough for proofs.
//!
//!     cargo run -p hermes-rtl --example emit-units -- FOLDER
//!
//! writes `FOLDER/NAME.v` for every unit; the top module of each file is called NAME. Used by
//! `formal/run`.

use std::fs;
use std::path::Path;

use hermes_hdl::emit::{emit, EmitError};
use hermes_hdl::prelude::*;
use hermes_rtl::config::{ControlOptions, CoreOptions};
use hermes_rtl::{
    blocks, board, command, control, core, functions, host, l2, net, queues, spawn, stream, trace,
};

#[path = "units/guards.rs"]
mod guards;

/// A control path with a thread spawner.
fn spawned(cores: usize, lanes: usize, warps: usize) -> ControlOptions {
    ControlOptions { spawn_slots: 8, ..ControlOptions::of(cores, lanes, warps) }
}

/// A control path with network functions.
fn with_functions(cores: usize, lanes: usize, warps: usize) -> ControlOptions {
    ControlOptions { network_functions: 2, ..ControlOptions::of(cores, lanes, warps) }
}

/// Every unit that is proved: its name and its Verilog.
fn units() -> Vec<(&'static str, Result<String, EmitError>)> {
    fn unit(name: &'static str, unit: &impl Block) -> (&'static str, Result<String, EmitError>) {
        (name, emit(unit, name).map(|design| design.verilog()))
    }
    vec![
        // Four words of four bits: two laps of the pointers are eight transfers.
        unit("sync_fifo", &blocks::SyncFifo::<Bits<4>, 2, 3>::default()),
        unit("warp_former", &control::WarpFormer::new(ControlOptions::of(1, 4, 8))),
        unit("adaptive_timeout", &control::AdaptiveTimeout::new(3, 4)),
        unit("chain_place", &functions::Chain::<2, 3>::new(2, 4)),
        unit("branch_place", &functions::Chain::<1, 2>::with_branches(3, 8)),
        unit("branch_step", &functions::BranchStep::<1>::new(8)),
        unit("core_slots", &control::CoreSlots::new(false)),
        unit("core_slots_spawned", &control::CoreSlots::new(true)),
        unit("warp_issue", &control::WarpIssue::new(ControlOptions::of(3, 4, 17))),
        unit("warp_issue_spawned", &control::WarpIssue::new(spawned(3, 4, 17))),
        unit(
            "warp_issue_least",
            &control::WarpIssue::new(ControlOptions {
                least_occupied_issue: true,
                ..ControlOptions::of(3, 4, 17)
            }),
        ),
        unit("warp_issue_chain", &control::WarpIssue::new(with_functions(3, 4, 17))),
        unit("round_robin", &blocks::RoundRobin::default()),
        unit("finish_arbiter", &control::FinishArbiter::new(3, false)),
        unit("fault_collector", &control::FaultCollector::new(3, false, false)),
        unit("lookup_table", &control::LookupTable::<2>::new(false)),
        unit("delay_commit_queue", &control::DelayCommitQueue::<2>::default()),
        // Two entries in each queue: three warps are a lap and a half.
        unit("dispatch", &control::Dispatch::<1, 2>::new(ControlOptions::of(2, 2, 2))),
        // Packets go on from function 0 to 1 and 2.
        unit(
            "dispatch_chain",
            &control::Dispatch::<2, 3>::new(ControlOptions {
                network_functions: 3,
                ..ControlOptions::of(2, 2, 2)
            }),
        ),
        // With a thread spawner a lookup table holds the slot of a job, four bits.
        unit("dispatch_spawned", &control::Dispatch::<4, 5>::new(spawned(2, 2, 2))),
        unit("scoreboard", &core::Scoreboard::default()),
        unit("outstanding_operations", &core::OutstandingOperations::default()),
        unit("hazards", &core::Hazards::default()),
        unit("warp_scheduler", &core::WarpScheduler::new(CoreOptions::default())),
        unit("boot_first", &core::BootFirst::default()),
        unit("front_end", &core::FrontEnd::<2>::new(CoreOptions::default())),
        // Four rows to clear.
        unit("owner_that_clears", &functions::CoreOwner::new(2, 2, 4)),
        unit("packet_check", &guards::PacketCheck::default()),
        unit("fetch_check", &guards::FetchCheck::default()),
        unit("warp_former_ring", &control::WarpFormer::new(with_functions(1, 4, 8))),
        unit("local_window", &core::LocalWindow::<2>::default()),
        unit("atomic_turns", &core::AtomicTurns::default()),
        // Two banks; short and long times of four to eight and eight to sixteen cycles.
        unit("warp_waits", &core::WarpWaits::new(2, 1, 2)),
        unit("store_buffer", &command::StoreBuffer::new(1)),
        unit("hart_scheduler", &command::HartScheduler::default()),
        unit("hart_state", &command::HartState::default()),
        unit("trap_unit", &command::TrapUnit::default()),
        // Two parts of one group of lines each.
        unit("command_cache", &command::CommandCache::new(2, 16)),
        unit("hart_turns", &command::HartTurns::default()),
        unit("command_debug", &command::CommandDebug::default()),
        unit("uli_channels", &command::UliChannels::new(2, true)),
        // Two harts with a channel each.
        // Two requesters of threads; the bank is the first of two.
        unit("l2_atomics", &l2::L2Atomics::new(2, 0, 2, 4, None, true, 1)),
        unit("l2_lock", &l2_lock(4)),
        unit("write_monitor", &l2::WriteMonitor::new(5, 2, 1)),
        // Of two owners.
        unit("work_table", &net::WorkTable::new(1, 8)),
        unit("work_table_of_2", &net::WorkTable::new(1, 2)),
        // Two harts, areas of two rings.
        unit("net_window", &net::NetWindow::new(2, 1, 8)),
        unit("net_window_of_2", &net::NetWindow::new(2, 1, 2)),
        unit("acknowledge", &net::Acknowledge::default()),
        unit("frame_turns", &net::FrameTurns::default()),
        unit("receiver", &net::Receiver::default()),
        unit("remote_atomics", &net::RemoteAtomics::default()),
        unit("responder", &net::Responder::default()),
        unit("retry_timers", &net::RetryTimers::default()),
        // Of one owner.
        unit("requester", &net::Requester::new(0, 8)),
        unit("held_reads", &command::HeldReads::default()),
        // Two banks, two areas of two rings each.
        unit("queue_watch", &queues::QueueWatch::new(2, 1, 1)),
        unit("command_queues", &queues::CommandQueues::new(2, 1, 1, 8)),
        unit("command_queues_of_2", &queues::CommandQueues::new(2, 1, 1, 2)),
        unit("stage_buffers", &queues::StageBuffers::new(2)),
        unit("spawn_order", &spawn::SpawnOrder::default()),
        unit("spawn_issue", &spawn::SpawnIssue::new(3, 4)),
        unit("spawn_jobs", &spawn::SpawnJobs::default()),
        unit("completion_writer", &spawn::CompletionWriter::default()),
        unit("axi_lite_slave", &host::AxiLiteSlave::new(false)),
        unit("register_port", &host::RegisterPort::default()),
        unit("task_push", &host::TaskPush::default()),
        unit("memory_channel", &l2::MemoryChannel::new(2, 3)),
        unit("ingress", &stream::Ingress::new(false, false)),
        unit("ingress_that_drops", &stream::Ingress::new(true, false)),
        unit("drop_when_full", &stream::DropWhenFull::default()),
        unit("egress", &stream::Egress::default()),
        unit("trace_ring", &trace::TraceRing::default()),
        unit("sdram_memory", &board::SdramMemory::new(SHORT_SDRAM, 25)),
        unit("board_link", &board::BoardLink::with(IDENTITY, TRACED)),
        unit("board_link_plain", &board::BoardLink::new(IDENTITY)),
        unit("board_link_reads", &board::BoardLink::with(IDENTITY, READING)),
    ]
}

/// The times of 133 MHz, with intervals that a line and a refresh just fit into, and a start-up of
/// two intervals before the first command.
const SHORT_SDRAM: board::SdramTiming =
    board::SdramTiming { cas_latency: 3, t_rcd: 3, t_rp: 3, t_rfc: 9, close: 3, interval: 52, start: 11 };

/// What links of the proofs have: a trace buffer, or reads of registers that are done once.
const TRACED: board::LinkParts = board::LinkParts { trace_buffer: true, reads_once: false };
const READING: board::LinkParts = board::LinkParts { trace_buffer: false, reads_once: true };

/// What the link of the proofs says of itself.
const IDENTITY: board::BoardIdentity =
    board::BoardIdentity { hash: 0x0123_4567_89ab_cdef, memory_log2: 12, kilohertz: 40_000 };

/// The locks of two sets: of three cores, a command processor and a network interface.
fn l2_lock(ways: usize) -> l2::L2Lock {
    l2::L2Lock::new(
        ways,
        1,
        l2::NetworkSizes { requester: 4, cores: 3, rings_log2: 0, areas_log2: 0, queues: false },
    )
}

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    // An option is no folder: `--help` once was one.
    let folder = arguments.next().filter(|folder| !folder.to_string_lossy().starts_with('-'));
    let (Some(folder), None) = (folder, arguments.next()) else {
        eprintln!("usage: emit-units FOLDER");
        std::process::exit(2);
    };
    if let Err(error) = write(Path::new(&folder)) {
        eprintln!("emit-units: {error}");
        std::process::exit(1);
    }
}

/// Writes every unit into `folder`, which is made if it is missing.
fn write(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let of = |error: &dyn std::fmt::Display| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(|e| of(&e))?;
    for (name, verilog) in units() {
        let text = verilog.map_err(|e| format!("{name}: {e}"))?;
        fs::write(folder.join(format!("{name}.v")), text).map_err(|e| of(&e))?;
    }
    Ok(())
}
