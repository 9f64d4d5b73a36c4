//! The kernels of the benches, and a run of one with every warp busy.

use anyhow::{ensure, Context};
use hermes_rtl::config::Config;
use hermes_testbench::cosim::{
    self, ArraySetup, Host, KernelImage, MemoryOptions, Packet, RunOptions, RunResult, Simulation,
};
use hermes_testbench::kernel::{build_source, Kernel, RegisterClass};
use hermes_testbench::staging::temporary_folder;
use hermes_testbench::verdict::Verdict;
use verilator_sys::ModelLibrary;

use super::figure::processor_seconds;
use crate::print;

/// Bytes of the shared memory; pages are allocated when they are written.
const MEMORY_BYTES: u64 = 1 << 28;
/// A warp of the longest loops ends after this many cycles at the latest, unless the core is stuck.
const COMMIT_LIMIT: u64 = 50_000_000;
/// Bytes of a packet: they do not matter.
const FRAME_BYTES: usize = 60;

/// A run and what it took.
pub struct Run {
    pub result: RunResult,
    /// Processor time of the thread that simulated, in seconds.
    pub seconds: f64,
}

/// A kernel of the benches: it runs a number of turns from its argument block and returns what it
/// computed.
pub struct Workload {
    name: &'static str,
    source: &'static str,
    /// What a thread returns, from packetIdx and the number of turns.
    result: fn(u32, u32) -> u32,
}

/// Integer instructions, of which some depend on those before.
pub const ALU_LOOP: Workload = Workload {
    name: "alu-loop.S",
    source: include_str!("../../kernels-asm/bench/alu-loop.S"),
    result: alu_loop,
};

/// Every turn splits the warp in two.
pub const TWO_WAY: Workload = Workload {
    name: "two-way.S",
    source: include_str!("../../kernels-asm/bench/two-way.S"),
    result: two_way,
};

fn alu_loop(index: u32, turns: u32) -> u32 {
    let (mut a, mut b, mut c) = (index, index.wrapping_add(0x123), 0x5a5a5u32);
    for _ in 0..turns {
        let sum = b.wrapping_add(c).wrapping_sub(c >> 5);
        a = ((a << 3) ^ a).wrapping_add(sum);
        c |= b & 0x7ff;
        b = b.wrapping_add(13);
        let less = u32::from(a < b);
        c ^= sum;
        b = b.wrapping_sub(((a as i32) >> 7) as u32);
        a = a.wrapping_add(less) ^ c;
    }
    a & 0x7fff_ffff
}

fn two_way(index: u32, turns: u32) -> u32 {
    let (mut a, mut b) = (index, index.wrapping_add(0x55));
    for _ in 0..turns {
        a = a.wrapping_add(b);
        if index & 1 == 0 {
            b = (b ^ (a << 2)).wrapping_add(7);
            a = a.wrapping_sub(a >> 3);
        } else {
            b = b.wrapping_add(a >> 1);
            a = ((a ^ 0x3c) | (b << 4)).wrapping_sub(b & 0xff);
        }
    }
    a & 0x7fff_ffff
}

impl Workload {
    /// Assembles the kernel.
    pub fn kernel(&self) -> anyhow::Result<Kernel> {
        let folder = temporary_folder("hermes-")?;
        let output = folder.path().join("kernel.elf");
        build_source(self.name, self.source, RegisterClass::Rv32e, &output)?;
        Ok(Kernel::read(&output)?)
    }

    /// Runs `warps` warps at once on every core, one packet a thread, all from the start. The
    /// result of every thread is checked.
    pub fn run(
        &self,
        library: &ModelLibrary,
        config: &Config,
        warps: u32,
        turns: u32,
        quiet: bool,
    ) -> anyhow::Result<Run> {
        let kernel = self.kernel()?;
        let start = processor_seconds();
        let host = Simulation::new(library.instantiate()?, MEMORY_BYTES, MemoryOptions::default())?;
        let mut host = Host::new(host)?;
        host.load_kernel(&KernelImage::from(&kernel))?;
        let threads = config.cores * config.lanes * warps as usize;
        let setup = ArraySetup {
            ring_slots_log2: threads.next_power_of_two().ilog2(),
            slot_bytes_log2: 7,
            mcw: warps,
            argument: turns.to_le_bytes().to_vec(),
            ..ArraySetup::default()
        };
        let layout = host.configure(&setup)?;
        let packets = vec![Packet { frame: vec![0; FRAME_BYTES], port: 0, flags: 0, arrival: 0 }; threads];
        let options = RunOptions { commit_limit: COMMIT_LIMIT, ..RunOptions::default() };
        let bar = print::progress(threads as u64, quiet);
        let result = cosim::run(&mut host, &setup, &layout, &packets, options, &mut |progress| {
            bar.set_position(progress.committed);
        });
        bar.finish_and_clear();
        let seconds = processor_seconds() - start;
        let result = result.with_context(|| self.name.to_string())?;
        ensure!(result.packets.len() == threads, "{} of {threads} threads ended", result.packets.len());
        for packet in &result.packets {
            let expected = Verdict((self.result)(packet.index as u32, turns));
            let found = Verdict(packet.verdict);
            ensure!(
                found == expected,
                "{}: thread {} returned {:#010x}, expected {:#010x}: the core computes something else",
                self.name,
                packet.index,
                found.0,
                expected.0
            );
        }
        Ok(Run { result, seconds })
    }
}
