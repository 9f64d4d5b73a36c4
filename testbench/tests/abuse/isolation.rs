//! Kernels that store anywhere, jump anywhere, or are no kernels at all: bytes outside their
//! windows never change.

use hermes_testbench::cosim::{ArraySetup, Device as _, Host, KernelImage, Layout, MemoryImage, Simulation};
use hermes_testbench::iss::{Encoding, BOOT_ADDRESS, ENCODINGS, SCRATCHPAD_BASE};
use rand::seq::SliceRandom as _;
use rand::{Rng as _, RngCore as _};
use rand_chacha::ChaCha8Rng;

use super::array::*;

/// Cycles that a warp may run here.
const WATCHDOG: u32 = 3_000;

/// First byte and number of bytes.
pub type Area = (u32, u32);

/// Lets kernels store to `window` only; they may load from anywhere.
pub fn close_windows(host: &mut Host<Simulation>, window: Area) {
    host.write("WRITE_WINDOW_0_BASE", window.0).unwrap();
    host.write("WRITE_WINDOW_0_SIZE", window.1).unwrap();
}

pub fn ring(setup: &ArraySetup, layout: &Layout) -> Area {
    (layout.ring_base, 1 << (setup.ring_slots_log2 + setup.slot_bytes_log2))
}

/// The memory differs from `before` at most in the given areas.
pub fn only_changed_in(host: &mut Host<Simulation>, mut before: MemoryImage, areas: &[Area], case: &str) {
    let after = host.device_mut().image();
    for &(base, size) in areas {
        let mut bytes = vec![0; size as usize];
        after.read(base, &mut bytes).unwrap();
        before.write(base, &bytes).unwrap();
    }
    if let Some(address) = before.first_difference(after, 0) {
        panic!("{case}: the byte at {address:#010x} changed");
    }
}

/// Words, half words and bytes to random addresses of all 4 GiB and to the edges of the window:
/// those inside arrive, those outside are faults of their threads and change nothing.
#[test]
fn stores_anywhere_stay_in_the_window() {
    let mut random = random();
    let kernel = assemble(include_str!("kernels/stores.S"));
    let mut host = Host::new(simulation(memory(random.gen()), 1 << 32)).unwrap();
    let setup = ArraySetup { ring_slots_log2: 9, ..setup() };
    let layout = prepare(&mut host, &kernel, &setup);
    // In the middle of nowhere, and no power of two.
    let window: Area = (0x9234_5640, 0x1_2340);
    close_windows(&mut host, window);
    let (first, end) = (window.0, window.0 + window.1);
    let special = [
        first,
        end - 4,
        first.wrapping_sub(4),
        end,
        0,
        0x7fff_fffc,
        0xffff_fffc,
        0xffff_ffc0,
        BOOT_ADDRESS,
        layout.verdict_base,
        layout.ring_base,
        layout.stack_base,
        kernel.entry,
        0xffff_ff80,
    ];
    let mut targets = Vec::new();
    for packet in 0..400 {
        let address = match packet % 4 {
            0 => random.gen(),
            1 => first + random.gen_range(0..window.1),
            2 => special[random.gen_range(0..special.len())]
                .wrapping_add(random.gen_range(0..8))
                .wrapping_sub(4),
            _ => random.gen::<u32>() & !3,
        };
        let in_scratchpad = (SCRATCHPAD_BASE..SCRATCHPAD_BASE + 0x4000).contains(&address);
        targets.push((
            if in_scratchpad { 0 } else { address },
            random.gen::<u32>(),
            random.gen_range(0..3u32),
        ));
    }
    let frame = |&(address, value, size): &(u32, u32, u32)| {
        let mut frame = vec![0; 64];
        frame[2..6].copy_from_slice(&address.to_le_bytes());
        frame[6..10].copy_from_slice(&value.to_le_bytes());
        frame[10] = size as u8;
        frame
    };
    // Something stands where stores go, so that zeros are noticed too.
    for &(address, ..) in &targets {
        let line = address & !63;
        let quiet = [
            ring(&setup, &layout),
            (layout.verdict_base, 4 << setup.ring_slots_log2),
            (kernel.entry & !63, 128),
        ];
        if quiet.iter().all(|area| line.wrapping_sub(area.0) >= area.1) {
            let mut bytes = [0; 64];
            random.fill_bytes(&mut bytes);
            host.device_mut().write_memory(line, &bytes).unwrap();
        }
    }
    let before = host.device_mut().image().clone();
    let result = process(&mut host, &setup, &layout, &arriving(targets.iter().map(frame))).unwrap();
    let mut wanted = before.clone();
    let mut arrived = 0;
    for (packet, (target, got)) in (0..).zip(targets.iter().zip(&result.packets)) {
        let &(address, value, size) = target;
        let expected = if address % (1 << size) != 0 {
            FAULT | 6
        } else if address >= first && address <= end - (1 << size) {
            wanted.write(address, &value.to_le_bytes()[..1 << size]).unwrap();
            arrived += 1;
            packet
        } else {
            FAULT | 7
        };
        assert_eq!(got.verdict, expected, "packet {packet}: {target:x?}");
    }
    assert!((60..200).contains(&arrived), "{arrived}");
    // Threads that store to one address do so in any order: the window is compared where only one
    // did.
    let image = host.device_mut().image();
    for &(address, _, size) in targets.iter().filter(|t| t.0 >= first && t.0 < end && t.0 % (1 << t.2) == 0) {
        let near = targets.iter().filter(|other| other.0.abs_diff(address) < 8).count();
        if near == 1 {
            let [mut a, mut b] = [vec![0; 1 << size], vec![0; 1 << size]];
            wanted.read(address, &mut a).unwrap();
            image.read(address, &mut b).unwrap();
            assert_eq!(a, b, "{address:#010x}");
        }
    }
    let verdicts = (layout.verdict_base, 4 << setup.ring_slots_log2);
    only_changed_in(&mut host, before, &[window, ring(&setup, &layout), verdicts], "stores");
}

/// Runs frames on a kernel that may do anything but store outside the ring.
fn run_wild(kernel: &KernelImage, frames: Vec<Vec<u8>>, random: &mut ChaCha8Rng, case: &str) -> Vec<u32> {
    let mut host = Host::new(simulation(memory(random.gen()), MEMORY_BYTES)).unwrap();
    let setup = ArraySetup { ring_slots_log2: 7, watchdog: WATCHDOG, ..setup() };
    let layout = prepare(&mut host, kernel, &setup);
    close_windows(&mut host, ring(&setup, &layout));
    let before = host.device_mut().image().clone();
    let result = process(&mut host, &setup, &layout, &arriving(frames)).unwrap();
    let verdicts = (layout.verdict_base, 4 << setup.ring_slots_log2);
    only_changed_in(&mut host, before, &[ring(&setup, &layout), verdicts], case);
    let recorded: u32 = result.faults.iter().map(|fault| u32::from(fault.threads)).sum();
    assert!(recorded == result.fault_count || result.lost_faults > 0, "{case}");
    result.packets.iter().map(|packet| packet.verdict).collect()
}

/// Jumps into the packets (random bytes), the kernel, the boot sequence, EXIT, and anywhere else.
#[test]
fn jumps_anywhere_end() {
    let mut random = random();
    let kernel = assemble(include_str!("kernels/jumps.S"));
    let ring = {
        let mut host = Host::new(simulation(memory(0), MEMORY_BYTES)).unwrap();
        prepare(&mut host, &kernel, &ArraySetup { ring_slots_log2: 7, watchdog: WATCHDOG, ..setup() })
            .ring_base
    };
    let frames: Vec<Vec<u8>> = (0..120)
        .map(|packet| {
            let mut frame = vec![0; 230];
            random.fill_bytes(&mut frame);
            let target = match packet % 6 {
                0 => random.gen(),
                1 => ring + (random.gen_range(0..128 << SLOT_BYTES_LOG2) & !3),
                2 => BOOT_ADDRESS + 4 * random.gen_range(0..64),
                3 => kernel.entry + random.gen_range(0..12),
                4 => random.gen_range(0..MEMORY_BYTES as u32) & !3,
                _ => random.gen::<u32>() & !3,
            };
            frame[2..6].copy_from_slice(&target.to_le_bytes());
            frame
        })
        .collect();
    let verdicts = run_wild(&kernel, frames, &mut random, "jumps");
    for cause in [0, 1, 2, 24] {
        let found = verdicts.iter().filter(|verdict| **verdict == FAULT | cause).count();
        println!("cause {cause}: {found} of {}", verdicts.len());
        assert!(found > 0, "no thread ended with cause {cause}");
    }
}

/// Kernels of random words: any bits, or instructions with random operands.
#[test]
fn random_words_are_kernels_that_end() {
    wild_kernels(60);
}

#[test]
#[ignore = "1,000 kernels take some minutes"]
fn many_random_words_are_kernels_that_end() {
    wild_kernels(1_000);
}

fn wild_kernels(kernels: usize) {
    let mut random = random();
    let mut seen = std::collections::BTreeMap::<u32, u32>::new();
    for number in 0..kernels {
        let instructions = number % 5 != 0;
        let word = |random: &mut ChaCha8Rng| match instructions {
            true => random_instruction(random),
            false => random.gen(),
        };
        let words: Vec<u32> = (0..512).map(|_| word(&mut random)).collect();
        let kernel = KernelImage {
            segments: vec![(0x1000, words.iter().flat_map(|word| word.to_le_bytes()).collect())],
            entry: 0x1000,
            registers: if random.gen() { 16 } else { 32 },
        };
        let frames = (0..64).map(|_| {
            let mut frame = vec![0; random.gen_range(0..=230)];
            random.fill_bytes(&mut frame);
            frame
        });
        let frames = frames.collect();
        for verdict in run_wild(&kernel, frames, &mut random, &format!("kernel {number}")) {
            *seen.entry(if verdict >= FAULT { verdict } else { 0 }).or_default() += 1;
        }
    }
    println!("verdicts (0: no fault): {seen:x?}");
    assert!(seen.len() > 3, "{seen:x?}");
}

/// An instruction of any kind; more often than not on registers that hold addresses, and with small
/// immediates.
fn random_instruction(random: &mut ChaCha8Rng) -> u32 {
    let Encoding { mask, value, .. } = ENCODINGS.choose(random).unwrap();
    let mut word = random.gen::<u32>();
    if random.gen_bool(0.6) {
        let base = *[2, 10, 11, 12].choose(random).unwrap();
        word = word & !(31 << 15) | base << 15;
    }
    if random.gen_bool(0.6) {
        // Bits 31:25 are the upper bits of most immediates.
        word &= 0x03ff_ffff;
    }
    word & !mask | value
}
