//! Atomic operations on 64 bits of the other node.

use hermes_rtl::net::{right, state};
use hermes_rtl::types::{code, counter};
use hermes_testbench::cosim::{compare_swap, fetch_add, get, put_inline, Device as _, QueuePair, Region};
use hermes_testbench::test_seed;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::nodes::*;
use super::puts::{judge, post, wait, KERNEL};

/// The 64 bits at `offset` of a window.
fn word_at(window: &[u8], offset: u32) -> u64 {
    let at = offset as usize;
    u64::from_le_bytes(window[at..at + 8].try_into().unwrap())
}

/// Additions and comparisons, each with what it must give and leave, also across the halves of the
/// word.
#[test]
fn results_and_what_they_leave() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut nodes = Nodes::new(KERNEL, rng.gen());
    let at = 0x1238;
    let mut value = 0xffff_fffeu64;
    nodes.hosts[1].device_mut().write_memory(nodes.windows[1] + at, &value.to_le_bytes()).unwrap();
    let remote = nodes.windows[0] + at;
    for count in 1..=40 {
        let operand = if rng.gen() { rng.gen_range(0..5) } else { rng.gen() };
        let (command, left) = match rng.gen_range(0..3) {
            0 => (fetch_add(remote, operand), value.wrapping_add(operand)),
            1 => (compare_swap(remote, value, operand), operand),
            // One half is right, the other is not.
            _ => (compare_swap(remote, value ^ 1 << rng.gen_range(0..64), operand), value),
        };
        post(&mut nodes, &command);
        wait(&mut nodes, count);
        assert_eq!(nodes.hosts[0].network_value().unwrap(), value, "{command:x?}");
        value = left;
    }
    assert_eq!(nodes.hosts[0].read("NET_ERROR").unwrap(), 0);
    let window = nodes.window(1);
    assert_eq!(word_at(&window, at), value);
    assert!(window[at as usize + 8..].iter().all(|byte| *byte == 0xee));
    assert!(nodes.sent.iter().all(|of_node| !of_node.is_empty()));
    judge(nodes.sent.iter().flatten());
}

/// Additions over a wire that loses a twentieth of all frames, with puts between them: each counts
/// once.
#[test]
fn additions_count_once_over_a_bad_wire() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut nodes = Nodes::new(KERNEL, rng.gen());
    nodes.loss = 50;
    let counters: Vec<u32> = (0..4).map(|counter| 0x1_0000 + 72 * counter).collect();
    for at in &counters {
        nodes.hosts[1].device_mut().write_memory(nodes.windows[1] + at, &[0; 8]).unwrap();
    }
    let mut sums = [0u64; 4];
    let (mut adds, count) = (0, 600);
    for number in 0..count {
        let which = rng.gen_range(0..counters.len());
        let command = if rng.gen_bool(0.3) {
            put_inline(nodes.windows[0] + 16 * number, &[number as u8; 16])
        } else {
            let operand = rng.gen::<u64>() >> 8;
            sums[which] = sums[which].wrapping_add(operand);
            adds += 1;
            fetch_add(nodes.windows[0] + counters[which], operand)
        };
        post(&mut nodes, &command);
    }
    wait(&mut nodes, count);
    assert_eq!(nodes.hosts[0].read("NET_ERROR").unwrap(), 0);
    let window = nodes.window(1);
    let got: Vec<u64> = counters.iter().map(|at| word_at(&window, *at)).collect();
    assert_eq!(got, sums, "{adds} additions");
    let resent = nodes.hosts[0].network_counter(counter::RESENT).unwrap();
    let repeated = nodes.hosts[1].network_counter(counter::REPEATED).unwrap();
    assert!(nodes.lost > 30 && resent > 20 && repeated > 5, "{} {resent} {repeated}", nodes.lost);
}

/// What may not be: no multiple of 8 here, no right there.
#[test]
fn operations_that_are_refused() {
    let mut nodes = Nodes::new(KERNEL, 6);
    let remote = nodes.windows[0];
    post(&mut nodes, &fetch_add(remote + 4, 1));
    wait(&mut nodes, 1);
    assert_eq!(nodes.hosts[0].read("NET_ERROR").unwrap(), 1 << 16 | 0x85);
    let region = Region {
        address: nodes.windows[1],
        bytes: WINDOW_BYTES,
        rights: right::REMOTE_WRITE | right::REMOTE_READ,
        key: KEY,
        domain: DOMAIN,
    };
    nodes.hosts[1].set_region(1, &region).unwrap();
    post(&mut nodes, &fetch_add(remote, 1));
    wait(&mut nodes, 2);
    assert_eq!(nodes.hosts[0].read("NET_ERROR").unwrap(), 2 << 16 | code::REMOTE as u32);
    assert!(nodes.window(1).iter().all(|byte| *byte == 0xee));
}

/// Memory that does not answer: NAK 0x63 of an addition and of a get; both queue pairs are in
/// ERROR.
#[test]
fn memory_that_cannot_be_read() {
    // Behind the memory of a node
    let base = 0x4000_0000;
    for is_get in [false, true] {
        let mut nodes = Nodes::new(KERNEL, 7);
        let region = Region {
            address: base,
            bytes: WINDOW_BYTES,
            rights: right::REMOTE_READ | right::REMOTE_ATOMIC,
            key: 0x77_7703,
            domain: DOMAIN,
        };
        nodes.hosts[1].set_region(3, &region).unwrap();
        for (node, pair) in PAIR.into_iter().enumerate() {
            nodes.hosts[node].set_queue_pair_state(pair, state::ERROR).unwrap();
            nodes.hosts[node].set_queue_pair_state(pair, state::RESET).unwrap();
            let settings =
                QueuePair { key: region.key, remote_base: base.into(), ..nodes.pair(node, [50, 51]) };
            nodes.hosts[node].connect_queue_pair(pair, &settings).unwrap();
            nodes.hosts[node].write("QP_DOWN", 1 << pair).unwrap();
        }
        let window = nodes.windows[0];
        let command = if is_get { get(window, window, 2_000) } else { fetch_add(window, 1) };
        post(&mut nodes, &command);
        wait(&mut nodes, 1);
        assert_eq!(nodes.hosts[0].read("NET_ERROR").unwrap(), 1 << 16 | code::REMOTE as u32, "get: {is_get}");
        nodes.reset_refused();
        assert!(nodes.window(0).iter().all(|byte| *byte == 0xee));
    }
}
