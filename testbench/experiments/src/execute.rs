//! The simulation of a job.

use anyhow::{ensure, Context};
use hermes_rtl::config::Config;
use hermes_testbench::apps::App;
use hermes_testbench::cosim::{
    self, ArraySetup, Arrivals, EgressLists, Host, KernelImage, MemoryOptions, Packet, Progress, RunOptions,
    RunResult, Simulation, StreamOptions, LINE,
};
use hermes_testbench::metrics::Clock;
use hermes_testbench::outcome::{check_host, check_ports};
use hermes_testbench::slot::{self, SlotPacket};
use verilator_sys::ModelLibrary;

use crate::job::{Job, JobFile};
use crate::parameters::{Through, WhenFull};
use crate::results::{Measured, ResultFile};
use crate::workload::Workload;

/// Bytes of the shared memory; pages are allocated when they are written.
const MEMORY_BYTES: u64 = 1 << 30;
/// Cycles without a commit after which a run is given up: warps of 1,518-byte packets that are
/// searched or ciphered byte by byte, among 32 of their kind, take a good part of it.
const COMMIT_LIMIT: u64 = 100_000_000;

/// Simulates a job on a model of its array, and compares every packet with the golden model. Gives
/// the cycles that were simulated beside the result.
///
/// # Errors
/// Kernel or tables are not those that the job was planned with, the run is stuck, or what came out
/// differs from the golden model.
pub fn execute(
    file: &JobFile,
    library: &ModelLibrary,
    progress: &mut dyn FnMut(Progress),
) -> anyhow::Result<(ResultFile, u64)> {
    let job = &file.job;
    if let Some(nodes) = &job.parameters.nodes {
        return crate::nodes::execute(file, nodes, library);
    }
    if let Some(chain) = &job.parameters.chain {
        return crate::chains::execute(file, chain, library, progress);
    }
    if let Some(machine) = job.parameters.machine {
        return crate::machine::execute(file, machine, library);
    }
    if let Some(media) = job.parameters.media {
        return crate::media::execute(file, media, library);
    }
    let workload = Workload::create(&job.parameters)?;
    same("kernel", &job.kernel, &workload.program.kernel_digest)?;
    let firmware = workload.program.firmware.as_ref().map_or("", |(_, digest)| digest);
    same("firmware", job.firmware.as_deref().unwrap_or_default(), firmware)?;
    same("tables", &job.tables, &workload.program.tables_digest)?;
    let packets = workload.packets();
    let (result, dropped) = simulate(job, &workload, &packets, library, progress)?;
    let faults = result.fault_count;
    ensure!(faults == 0, "{faults} threads ended with a fault");
    let mut dropped_ones = dropped.iter().copied().peekable();
    let came_in = (0..).zip(packets).filter(|(number, _)| dropped_ones.next_if_eq(number).is_none());
    let came_in: Vec<_> = came_in.map(|(_, packet)| packet).collect();
    let measured = Measured::of(job, &came_in, dropped.len() as u64, &result)?;
    let file = ResultFile { key: file.key.clone(), job: job.clone(), golden_checked: true, measured };
    Ok((file, result.simulated_cycles))
}

pub(crate) fn same(what: &str, planned: &str, made: &str) -> anyhow::Result<()> {
    ensure!(
        planned == made,
        "{what} {planned}: this machine makes {made} of the same source; \
         run the plan with the tools that made it, or plan it here"
    );
    Ok(())
}

/// Runs the packets; the packets of the result, those that came in, are compared with the golden
/// model. Beside it the numbers of those that found no slot.
fn simulate(
    job: &Job,
    workload: &Workload,
    packets: &[SlotPacket],
    library: &ModelLibrary,
    progress: &mut dyn FnMut(Progress),
) -> anyhow::Result<(RunResult, Vec<u64>)> {
    let parameters = &job.parameters;
    let (app, slot_bytes_log2) = (workload.program.app.as_ref(), workload.slot_bytes_log2);
    let memory = MemoryOptions { latency: parameters.latency()?, ..MemoryOptions::default() };
    let mut host = Host::new(Simulation::new(library.instantiate()?, MEMORY_BYTES, memory)?)?;
    host.load_kernel(&KernelImage::from(&workload.program.kernel))?;
    let firmware = workload.program.firmware.as_ref().map(|(firmware, _)| firmware);
    firmware.map_or(Ok(()), |firmware| host.reserve_firmware(firmware))?;
    let default = ArraySetup::default();
    let mut setup = ArraySetup {
        ring_slots_log2: match parameters.through {
            Through::Host => ring_slots_log2(app, packets.len(), slot_bytes_log2),
            Through::Ports => ring_within_l2(&parameters.array, slot_bytes_log2),
        },
        slot_bytes_log2,
        mcw: parameters.mcw,
        timeout: parameters.timeout,
        adaptive: parameters.adaptive_timeout(),
        eager: parameters.eager,
        stack_bytes_log2: default.stack_bytes_log2.max(app.stack_bytes_log2()),
        ..default
    };
    host.load_app(app, &mut setup)?;
    let layout = host.configure(&setup)?;
    if let Some(firmware) = firmware {
        host.keep_kernels_out(firmware)?;
        host.start_firmware(firmware)?;
    }
    let process = parameters.arrival_process()?;
    let arrivals = if process.is_scheduled() { Arrivals::Scheduled } else { Arrivals::Taken };
    let push_packets = u64::from(parameters.push_packets);
    let options = RunOptions {
        commit_limit: COMMIT_LIMIT,
        arrivals,
        push_packets,
        // Firmware works while no packet comes.
        skip_idle: firmware.is_none(),
        ..RunOptions::default()
    };
    let arriving: Vec<_> = workload
        .frames
        .iter()
        .zip(process.arrivals(&workload.frames, Clock::GIGAHERTZ, parameters.packet_seed))
        .map(|(frame, arrival)| Packet { frame: frame.data.clone(), port: frame.port, flags: 0, arrival })
        .collect();
    match parameters.through {
        Through::Host => {
            let result = cosim::run(&mut host, &setup, &layout, &arriving, options, progress)?;
            check_host(app, packets, &result.packets)?;
            Ok((result, Vec::new()))
        }
        Through::Ports => {
            let drop_when_full = parameters.when_full == WhenFull::Drop;
            let streams = StreamOptions { drop_when_full, ..StreamOptions::default() };
            let ports = cosim::run_through_ports(&mut host, &setup, &arriving, streams, options, progress)?;
            let packets = check_ports(app, packets, &ports)
                .with_context(|| format!("what left differs from the golden model of {}", parameters.app))?;
            Ok((RunResult { packets, ..ports.run }, ports.dropped))
        }
    }
}

/// Slots of the ring as a power of two: four times the packets, so that the caches are not cleaned
/// before the end, or as many as memory has room for.
fn ring_slots_log2(app: &dyn App, packets: usize, slot_bytes_log2: u32) -> u32 {
    let entries = app.egress_entries(slot::capacity(slot_bytes_log2));
    let largest = EgressLists::bytes_log2_for(entries).max(slot_bytes_log2);
    (4 * packets).next_power_of_two().ilog2().min((MEMORY_BYTES / 4).ilog2() - largest).min(20)
}

/// Slots of a ring that takes half of the L2, as a power of two: a frame that leaves through the
/// ports is read from there. With a larger ring frames that wait are in memory, and 16 of them are
/// read at a time.
fn ring_within_l2(array: &Config, slot_bytes_log2: u32) -> u32 {
    let bytes = array.l2_banks * array.l2_bank_lines * LINE;
    (bytes / 2).max(2 << slot_bytes_log2).ilog2() - slot_bytes_log2
}
