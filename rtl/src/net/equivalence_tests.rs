//! Units of this folder against their emitted Verilog.

use super::{testing, FrameBuilder, HeaderBytes, Icrc};
use crate::emit::equivalence::check_with;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;

#[test]
fn icrc() {
    check_with(Icrc::default(), 4_000, |uut, random, _| {
        uut.bytes.next = bits([2, 6, 10, 14, 16, 16, 16, 16][random() as usize % 8]);
    });
}

#[test]
fn header_bytes() {
    check_with(HeaderBytes::default(), 500, |_, _, _| {});
}

#[test]
fn frame_builder() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    check_with(FrameBuilder::default(), 1_500, move |uut, random, _| {
        uut.head.next = testing::random_head(&mut rng, random() as usize % 300);
        uut.head_valid.next = random() % 4 != 0;
        uut.line_valid.next = random() % 4 != 0;
        uut.line_error.next = random() % 16 == 0;
        uut.tx_tready.next = random() % 4 != 0;
    });
}
