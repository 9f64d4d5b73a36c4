//! What the native tests of this folder share: frames, byte by byte.

use hermes_hdl::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::{FrameHead, NetIdentity};

/// The ICRC of a frame that ends before it.
pub fn icrc(frame: &[u8]) -> u32 {
    let changes = [15, 22, 24, 25, 40, 41, 46];
    let byte = |at: usize| if changes.contains(&at) { 0xff } else { frame[at] };
    let covered: Vec<u8> = [0xff; 8].into_iter().chain((14..frame.len()).map(byte)).collect();
    crc32fast::hash(&covered)
}

/// The frame that a head stands for.
pub fn frame(head: &FrameHead, identity: &NetIdentity, payload: &[u8]) -> Vec<u8> {
    let number = |value: u64, count: usize| value.to_be_bytes()[8 - count..].to_vec();
    let extension: Vec<u8> = (0..28)
        .map(|i| head.extension.get_bits::<8>(216 - 8 * i).to_u64() as u8)
        .take(4 * head.extension_words.index())
        .collect();
    let padding = payload.len().wrapping_neg() & 3;
    let transport = 12 + extension.len() + payload.len() + padding + 4;
    let mut ip = [
        vec![0x45],
        number(identity.type_of_service.to_u64(), 1),
        number(28 + transport as u64, 2),
        vec![0, 0, 0x40, 0, 64, 17, 0, 0],
        number(identity.ip.to_u64(), 4),
        number(head.ip.to_u64(), 4),
    ]
    .concat();
    let sum = ip.chunks(2).map(|half| u32::from(half[0]) << 8 | u32::from(half[1])).sum::<u32>();
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    let mut frame = [
        number(head.mac.to_u64(), 6),
        number(identity.mac.to_u64(), 6),
        vec![8, 0],
        ip,
        number(0xc000 + head.queue_pair.to_u64(), 2),
        number(4791, 2),
        number(8 + transport as u64, 2),
        vec![0, 0, head.opcode.to_u64() as u8, 0x40 | (padding as u8) << 4, 0xff, 0xff],
        number(head.remote.to_u64(), 4),
        number(u64::from(head.acknowledge) << 31 | head.sequence.to_u64(), 4),
        extension,
        payload.to_vec(),
        vec![0; padding],
    ]
    .concat();
    let check = icrc(&frame);
    frame.extend_from_slice(&check.to_le_bytes());
    frame
}

/// A number of `bits` random bits, from bit 223 down.
fn extension(rng: &mut ChaCha8Rng, words: u64) -> Bits<224> {
    (0..7).fold(bits::<224>(0), |value, word| {
        value << 32 | bits::<224>(if word < words { rng.gen::<u32>().into() } else { 0 })
    })
}

/// A head with random values, for a payload of `bytes` bytes.
pub fn random_head(rng: &mut ChaCha8Rng, bytes: usize) -> FrameHead {
    let words = [0, 1, 3, 4, 7][rng.gen_range(0..5)];
    let mut number = |bits: u32| rng.gen::<u64>() >> (64 - bits);
    FrameHead {
        queue_pair: number(5).into(),
        mac: number(48).into(),
        ip: number(32).into(),
        opcode: number(8).into(),
        acknowledge: number(1) == 1,
        remote: number(24).into(),
        sequence: number(24).into(),
        extension: extension(rng, words),
        extension_words: words.into(),
        bytes: (bytes as u64).into(),
    }
}
