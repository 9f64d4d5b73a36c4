//! What a guarded network function may do, and does to make trouble: fences, lengths that no packet
//! has, and faults without end.

use crate::array::{Foreign, Marks, FUNCTIONS, SLOT_BYTES_LOG2};
use crate::hostile::{kernel, Bench, Kept, FAULT, HOSTILE};
use hermes_testbench::cosim::{Device as _, Function, Guards};
use hermes_testbench::iss::Window;

/// Fences of each thread, with stores to its packet between them.
const FENCES: &str = "
    .globl kernel
kernel:
    li      t0, 64
    lw      t1, 20(a1)
again:
    fence   rw, rw
    sw      t1, 20(a1)
    fence   w, r
    .word   0x0000100f          # fence.i
    addi    t0, t0, -1
    bnez    t0, again
    li      a0, 1
    ret
";

/// `fence` holds up the thread alone that uses it: the function ends, and what the others do with
/// their packets is what they do without it. `fence.i` is an illegal instruction, as for all.
#[test]
fn fences_of_a_guarded_function() {
    for (with_fetch, expected) in [(false, 1), (true, FAULT | 2)] {
        let source = match with_fetch {
            false => FENCES.replace(".word   0x0000100f", "nop #"),
            true => FENCES.to_string(),
        };
        let code = kernel(&source, "fences").segments[0].bytes.clone();
        let mut bench = Bench::new(&code, Guards::tight(true, true));
        bench.array.foreign = vec![Foreign { number: HOSTILE, verdict: Box::new(move |_| expected) }];
        bench.array.fill(400);
        let kept = Kept::of(&mut bench.array);
        bench.array.push_filled(400);
        bench.array.drain();
        bench.array.check();
        kept.check(&mut bench.array, 400, "fences", |_| false);
        let counts = bench.array.host.function_counts(HOSTILE as u32).unwrap();
        assert!(counts.lanes > 200, "{counts:?}");
    }
}

/// Leaves 0, or all ones, as the length of its packet.
const LENGTHS: &str = "
    .globl kernel
kernel:
    andi    t0, a0, 1
    addi    t0, t0, -1
    sw      t0, 0(a1)
    mv      a0, zero
    ret
";

/// Loads the word at the end of its packet, by the length that it finds.
const TRUSTING: &str = "
    .globl kernel
kernel:
    lw      t0, 0(a1)
    andi    t0, t0, -4
    add     t0, t0, a1
    lw      t0, 0(t0)
    li      a0, 2
    ret
";

/// A function that leaves lengths that no packet has makes the next one, which trusts them, no more
/// than fault: it still reaches the packets of its warp alone. The others do not notice.
#[test]
fn lengths_that_no_packet_has() {
    let code = kernel(LENGTHS, "lengths").segments[0].bytes.clone();
    let trusting = kernel(TRUSTING, "trusting").segments[0].bytes.clone();
    let mut bench = Bench::new(&code, Guards::tight(true, true));
    let array = &mut bench.array;
    let region = array.host.rmalloc("a function that trusts", 4096).unwrap();
    array.host.device_mut().write_memory(region, &trusting).unwrap();
    let window = Window { base: region, size: 4096 };
    let guards = Guards::tight(true, false);
    let context = Function { entry: region, read: window, guards, ..array.contexts[3] };
    array.host.load_function(3, &context).unwrap();
    array.link(2, Some(3));
    array.foreign = vec![
        Foreign { number: HOSTILE, verdict: Box::new(|_| 0) },
        // By all ones it loads the word before its slot: of the packet before, if the warp has it.
        Foreign { number: 3, verdict: Box::new(|packet| if packet % 4 == 0 { FAULT | 5 } else { 2 }) },
    ];
    array.give([0, HOSTILE, 2]);
    array.fill(400);
    let kept = Kept::of(array);
    array.host.push_tasks(400).unwrap();
    // Three cores are shared by four functions.
    for cores in [[0, HOSTILE, 2], [3, 3, 3]] {
        array.give(cores);
        array.run(40_000);
    }
    array.drain();
    array.check();
    // Of its packets it stores to the lengths.
    let ring_base = array.layout.ring_base;
    kept.check(array, 400, "lengths", |address| {
        let packet = address.wrapping_sub(ring_base);
        packet >> SLOT_BYTES_LOG2 < 400 && packet % (1 << SLOT_BYTES_LOG2) < 4
    });
    for packet in 0..400 {
        let mut length = [0; 4];
        let slot = array.layout.ring_base + (packet << SLOT_BYTES_LOG2);
        array.host.device_mut().read_memory(slot, &mut length).unwrap();
        let came = array.visits(packet).contains(&HOSTILE);
        let left = if packet % 2 == 0 { u32::MAX } else { 0 };
        assert_eq!(u32::from_le_bytes(length), if came { left } else { 60 }, "packet {packet}");
    }
}

/// `amocas.w` to packets of the own warp does what it should while other warps, with other windows,
/// are on the core: the window is that of its warp while what it compares with is read. To those of
/// the next warp it faults, and nothing is swapped there.
#[test]
fn swaps_beside_windows_of_other_warps() {
    let code = kernel(include_str!("kernels/swaps.S"), "swaps").segments[0].bytes.clone();
    let mut bench = Bench::new(&code, Guards::tight(true, true));
    let verdict = |packet: u32| if packet % 8 == 5 { FAULT | 7 } else { 6 };
    bench.array.foreign = vec![Foreign { number: HOSTILE, verdict: Box::new(verdict) }];
    bench.array.fill(800);
    let kept = Kept::of(&mut bench.array);
    bench.array.push_filled(800);
    bench.array.drain();
    bench.array.check();
    kept.check(&mut bench.array, 800, "swaps", |_| false);
    let counts = bench.array.host.function_counts(HOSTILE as u32).unwrap();
    assert!(counts.faulted > 40 && counts.forwarded > 400, "{counts:?}");
}

/// Each lane faults at an instruction of its own.
const FLOOD: &str = "
    .globl kernel
kernel:
    csrr    t0, 0xcc1
    slli    t0, t0, 2
    la      t1, words
    add     t0, t0, t1
    jr      t0
words:
    .word   0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff
";

/// Faults without end fill the FIFO of the records: those of others are lost then, and counted as
/// lost. NF_FAULTED has all faults of each function, every record that is there is true, and what
/// the others do is what they do without it.
#[test]
fn a_flood_of_faults() {
    let code = kernel(FLOOD, "flood").segments[0].bytes.clone();
    let mut bench = Bench::new(&code, Guards::tight(false, false));
    bench.array.foreign = vec![Foreign { number: HOSTILE, verdict: Box::new(|_| FAULT | 2) }];
    // The first function has some of its own.
    let array = &mut bench.array;
    let words: Vec<u8> = [5_u32, 0, 0, 7].iter().flat_map(|word| word.to_le_bytes()).collect();
    array.functions[0] = Marks { number: 5, faults: 7, ..Marks::default() };
    for address in array.arguments[0] {
        array.host.device_mut().write_memory(address, &words).unwrap();
    }
    array.fill(1_200);
    let kept = Kept::of(array);
    array.push_filled(1_200);
    array.drain();
    array.check();
    kept.check(array, 1_200, "a flood", |_| false);
    let counts: Vec<_> = (0..FUNCTIONS as u32).map(|n| array.host.function_counts(n).unwrap()).collect();
    assert!(counts[0].faulted > 50 && counts[HOSTILE].faulted > 900, "{counts:?}");
    assert_eq!(array.host.read("FAULTS").unwrap(), counts[0].faulted + counts[HOSTILE].faulted);
    let (records, lost) = array.host.take_faults().unwrap();
    assert!(lost > 0, "{} records", records.len());
    let mut told = [0; FUNCTIONS];
    for record in &records {
        let function = usize::from(record.function.unwrap());
        told[function] += u32::from(record.threads);
        assert_eq!(record.cause, 2);
        assert!(array.visits(record.packet).contains(&function), "{record:?}");
    }
    for (function, told) in told.into_iter().enumerate() {
        assert!(told <= counts[function].faulted, "function {function}: {told}");
    }
}
