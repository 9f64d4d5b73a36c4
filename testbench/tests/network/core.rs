//! What a network interface changes in cores and L2, as kernels see it: the lowest lane that runs,
//! a release that keeps the data cache, a poll that leaves its line clean.

use hermes_testbench::cosim::{
    run, ArraySetup, Host, KernelImage, Latency, MemoryOptions, Packet, RunOptions, Simulation,
};
use hermes_testbench::kernel::{build_source, Kernel, RegisterClass};

use super::nodes::library;

/// What a run of a kernel with this body, in a2 the address of a line of zeros, left.
struct Outcome {
    verdicts: Vec<u32>,
    /// Lines that the core read, in a run of the warp whose instructions and argument are cached.
    line_reads: u32,
    /// Lines that were written to memory behind it.
    lines_written: u32,
}

/// Runs a warp of four threads.
fn play(body: &str) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.elf");
    let source = format!(".option arch, +a\n.text\n.globl kernel\nkernel:\n{body}\nret\n");
    build_source("kernel.S", &source, RegisterClass::Rv32e, &path).unwrap();
    let memory = MemoryOptions { latency: Latency::Fixed(20), ..MemoryOptions::default() };
    let model = library().instantiate().unwrap();
    let mut host = Host::new(Simulation::new(model, 4 << 20, memory).unwrap()).unwrap();
    host.load_kernel(&KernelImage::from(&Kernel::read(&path).unwrap())).unwrap();
    let setup = ArraySetup {
        ring_slots_log2: 6,
        slot_bytes_log2: 7,
        eager: true,
        argument: vec![0; 64],
        ..ArraySetup::default()
    };
    let layout = host.configure(&setup).unwrap();
    let packets = [0; 4].map(|port| Packet { frame: vec![0; 60], port, flags: 0, arrival: 0 });
    let result = run(&mut host, &setup, &layout, &packets, RunOptions::default(), &mut |_| {}).unwrap();
    assert_eq!(host.take_faults().unwrap().0.len(), 0, "{body}");
    let line_reads = host.counters(0).unwrap().core.line_reads;
    host.clean_caches().unwrap();
    let lines_written = host.read("MEMORY_LINES_WRITTEN").unwrap();
    let verdicts = result.packets.iter().map(|packet| packet.verdict).collect();
    Outcome { verdicts, line_reads, lines_written }
}

#[test]
fn the_lowest_lane_that_runs_leads() {
    let body = "csrr t0, 0xccb\ncsrr t1, 0xcc1\nslli a0, t0, 4\nli t2, 2\nbltu t1, t2, 1f\ncsrr t0, 0xccb\nj 2f\n1: beqz t1, 3f\ncsrr t0, 0xccb\n3: nop\n2: or a0, a0, t0";
    // All together; lanes 2 and 3; lane 1.
    assert_eq!(play(body).verdicts, [0, 1, 2, 2]);
}

/// Eight loads of one line with fences between them: each reads it again if its fence has R behind
/// it.
#[test]
fn a_release_keeps_the_data_cache() {
    let reads = |fence: &str| {
        let body = format!(".rept 8\nlw a0, 0(a2)\n{fence}\n.endr\nli a0, 0");
        play(&body).line_reads
    };
    let once = reads("");
    assert_eq!(reads("fence rw, w"), once);
    assert_eq!(reads("fence rw, rw"), once + 7);
}

/// A poll by `amoor.w` with operand 0 leaves nothing to write back; one by `amoadd.w`, or with
/// another operand, the line.
#[test]
fn a_poll_leaves_its_line_clean() {
    let written = |operation: &str| play(&format!(".rept 4\n{operation}\n.endr\nli a0, 0")).lines_written;
    let none = written("lw t0, 0(a2)");
    assert_eq!(written("amoor.w t0, zero, (a2)"), none);
    assert_eq!(written("amoadd.w t0, zero, (a2)"), none + 1);
    assert_eq!(written("li t1, 1\namoor.w t0, t1, (a2)"), none + 1);
}
