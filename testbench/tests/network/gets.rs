//! Gets: bytes of the other node, in memory or as a result.

use hermes_rtl::net::right;
use hermes_rtl::types::{code, counter};
use hermes_testbench::cosim::{get, get_inline, put, Device as _, Region};
use hermes_testbench::test_seed;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::nodes::*;
use super::puts::{judge, post, wait, KERNEL};

/// Gets of any length, from any byte of a line to any other, over a wire that loses, and short ones
/// whose result is read.
#[test]
fn gets_of_any_length_at_every_offset() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut sent = Vec::new();
    for (mtu, loss) in [(1_024, 0), (256, 20), (4_096, 0)] {
        let mut nodes = Nodes::with_mtu(KERNEL, rng.gen(), mtu);
        nodes.loss = loss;
        let source: Vec<u8> = (0..WINDOW_BYTES).map(|_| rng.gen()).collect();
        nodes.hosts[1].device_mut().write_memory(nodes.windows[1], &source).unwrap();
        let mut expected = vec![0xee; WINDOW_BYTES as usize];
        let mut gets: Vec<(u32, u32, u32)> = (0..64)
            .map(|offset| (offset, (offset * 37 + rng.gen_range(0..2)) % 64, rng.gen_range(1..400)))
            .collect();
        gets.extend(
            [1, 63, 64, 65, mtu - 1, mtu, mtu + 1, 8 * mtu, 8 * mtu + 1, 65_536]
                .map(|bytes| (rng.gen_range(0..0x1000), rng.gen_range(0..0x1000), bytes.min(65_536))),
        );
        let (mut count, mut packets) = (0, 0);
        for (from, to, bytes) in gets {
            let line = 64 * rng.gen_range(0..64);
            let command = get(nodes.windows[0] + from, nodes.windows[0] + line + to, bytes);
            let (begin, from, length) = ((line + to) as usize, from as usize, bytes as usize);
            expected[begin..begin + length].copy_from_slice(&source[from..from + length]);
            packets += bytes.div_ceil(mtu);
            post(&mut nodes, &command);
            count += 1;
        }
        wait(&mut nodes, count);
        for bytes in 1..=8 {
            let from = rng.gen_range(0..0x1000);
            let command = get_inline(nodes.windows[0] + from, bytes);
            post(&mut nodes, &command);
            count += 1;
            wait(&mut nodes, count);
            let value = source[from as usize..(from + bytes) as usize].iter().rev();
            let value = value.fold(0, |value, byte| value << 8 | u64::from(*byte));
            assert_eq!(nodes.hosts[0].network_value().unwrap(), value, "{bytes} bytes");
        }
        assert_eq!(nodes.hosts[0].read("NET_ERROR").unwrap(), 0);
        assert!(nodes.window(0) == expected, "what stands in the window of node 0, MTU {mtu}");
        assert_eq!(nodes.hosts[0].network_counter(counter::FRAMES_IN).unwrap(), packets, "each once");
        assert_eq!(nodes.lost > 0, loss > 0, "{}", nodes.lost);
        assert!(nodes.sent.iter().all(|of_node| !of_node.is_empty()));
        nodes.sent.iter_mut().for_each(|of_node| sent.append(of_node));
    }
    judge(&sent);
}

/// Puts and gets of one queue pair in turn: a get sees the puts before it, whatever the wire loses.
#[test]
fn gets_see_the_puts_before_them() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut nodes = Nodes::with_mtu(KERNEL, rng.gen(), 256);
    nodes.loss = 20;
    let source: Vec<u8> = (0..0x4000).map(|_| rng.gen()).collect();
    nodes.hosts[0].device_mut().write_memory(nodes.windows[0], &source).unwrap();
    let mut expected = vec![0xee; 0x4000];
    let mut count = 0;
    for round in 0..40 {
        // There and back: each put goes to its own place, as a READ that is repeated may see later
        // puts.
        let bytes = rng.gen_range(1..350);
        let from = rng.gen_range(0..0x4000 - bytes);
        let (there, back) = (0x4000 + round * 350, 0xc000 + round * 350);
        for command in [
            put(nodes.windows[0] + there, nodes.windows[0] + from, bytes),
            get(nodes.windows[0] + there, nodes.windows[0] + back, bytes),
        ] {
            post(&mut nodes, &command);
            count += 1;
        }
        let at = (round * 350) as usize;
        expected[at..at + bytes as usize].copy_from_slice(&source[from as usize..(from + bytes) as usize]);
    }
    wait(&mut nodes, count);
    assert_eq!(nodes.hosts[0].read("NET_ERROR").unwrap(), 0);
    assert!(nodes.window(0)[0xc000..0x1_0000] == expected);
    assert!(nodes.lost > 3, "{}", nodes.lost);
}

/// A get of memory that may not be read: NAK 0x62, both queue pairs are down, nothing came; and
/// again after a new connection.
#[test]
fn a_get_that_is_refused() {
    let mut nodes = Nodes::new(KERNEL, 5);
    let hidden = Region {
        address: nodes.windows[1],
        bytes: WINDOW_BYTES,
        rights: right::REMOTE_WRITE,
        key: KEY,
        domain: DOMAIN,
    };
    nodes.hosts[1].set_region(1, &hidden).unwrap();
    let command = get(nodes.windows[0], nodes.windows[0], 3_000);
    post(&mut nodes, &command);
    wait(&mut nodes, 1);
    assert_eq!(nodes.hosts[0].read("NET_ERROR").unwrap(), 1 << 16 | code::REMOTE as u32);
    nodes.reset_refused();
    assert!(nodes.window(0).iter().all(|byte| *byte == 0xee));
    nodes.hosts[1].set_region(1, &Region { rights: right::REMOTE_READ, ..hidden }).unwrap();
    nodes.hosts[1].device_mut().write_memory(nodes.windows[1], &[7; 3_000]).unwrap();
    nodes.connect([77, 99]);
    post(&mut nodes, &command);
    wait(&mut nodes, 2);
    let window = nodes.window(0);
    assert!(window[..3_000].iter().all(|byte| *byte == 7) && window[3_000] == 0xee);
}
