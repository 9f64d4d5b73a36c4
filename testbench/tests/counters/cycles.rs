//! Where cycles go: kernels that lose them for one known reason.

use hermes_testbench::cosim::{ArraySetup, Latency, LostCycles, MemoryOptions};

use super::array::*;

fn explore(name: &str, text: &str, mcw: u32, packets: usize, latency: u32) {
    let kernel =
        assemble(&format!(".include \"packet.inc\"\n.text\n.globl kernel\n.type kernel, @function\n{text}"));
    let memory = MemoryOptions { latency: Latency::Fixed(latency), ..MemoryOptions::default() };
    let array = Array::new(&kernel, memory, |_| ArraySetup {
        ring_slots_log2: 8,
        slot_bytes_log2: 7,
        mcw,
        argument: vec![0; 1 << 16],
        ..ArraySetup::default()
    });
    let Outcome { result, observed, .. } = array.run(vec![vec![0; 60]; packets]);
    for (core, c) in result.counters.iter().enumerate() {
        let (occupied, stretches) = observed.occupied(core);
        let entries = observed.on(core).count();
        let LostCycles { memory, fetch, divergence, scoreboard, conflict } = c.lost;
        println!(
            "{name} core {core}: active {} (occupied {occupied} in {stretches}) stall {} active-stall {} retired {entries}; memory {memory} fetch {fetch} divergence {divergence} scoreboard {scoreboard} conflict {conflict} rest {}; {} {}",
            c.active_cycles,
            c.stall_cycles,
            c.active_cycles - c.stall_cycles,
            c.stall_cycles - memory - fetch - divergence - scoreboard - conflict,
            c.line_reads, c.line_writes
        );
    }
}

#[test]
fn explore_all() {
    for mcw in [1, 4] {
        println!("mcw {mcw}");
        explore("nothing", "kernel: ret", mcw, 32, 50);
        explore("loads", "kernel: slli t1, a0, 10\nadd t1, t1, a2\nli t2, 16\n1: lw t0, 0(t1)\nadd t1, t1, t0\naddi t1, t1, 64\naddi t2, t2, -1\nbnez t2, 1b\nret", mcw, 32, 200);
        explore(
            "hits",
            "kernel: li t2, 100\n1: lw t0, 0(a2)\nadd t1, t0, t0\naddi t2, t2, -1\nbnez t2, 1b\nret",
            mcw,
            32,
            50,
        );
        explore("fetch", "kernel:\n.rept 400\naddi t0, t0, 1\n.endr\nret", mcw, 32, 50);
        explore("branches", "kernel: li t2, 300\n1: addi t2, t2, -1\nbnez t2, 1b\nret", mcw, 32, 50);
        explore(
            "diverged",
            "kernel: li t2, 100\nadd t2, t2, a0\n1: addi t2, t2, -1\nbnez t2, 1b\nret",
            mcw,
            32,
            50,
        );
        explore("stores", "kernel: slli t1, a0, 10\nadd t1, t1, a2\nli t2, 10\n1:\n.rept 12\nsw t2, 0(t1)\naddi t1, t1, 64\n.endr\nli t0, 768\nsub t1, t1, t0\naddi t2, t2, -1\nbnez t2, 1b\nret", mcw, 32, 50);
        explore("scratchpad", "kernel: li t1, SCRATCHPAD\nslli t0, a0, 4\nandi t0, t0, 1023\nadd t1, t1, t0\nli t2, 100\n1:\n.rept 8\nsw t2, 0(t1)\n.endr\naddi t2, t2, -1\nbnez t2, 1b\nret", mcw, 32, 50);
        explore(
            "divisions",
            "kernel: li t2, 100\n1: div t0, t2, t2\nadd t1, t0, t0\naddi t2, t2, -1\nbnez t2, 1b\nret",
            mcw,
            32,
            50,
        );
        explore(
            "alu",
            "kernel: li t2, 50\n1:\n.rept 12\naddi t1, t1, 1\n.endr\naddi t2, t2, -1\nbnez t2, 1b\nret",
            mcw,
            32,
            50,
        );
        explore(
            "mul",
            "kernel: li t2, 50\n1:\n.rept 12\nmul t1, t1, t1\n.endr\naddi t2, t2, -1\nbnez t2, 1b\nret",
            mcw,
            32,
            50,
        );
    }
}
