//! Native tests of [`LineBuilder`] with frames that are longer than their slot by far.

use super::LineBuilder;
use crate::memory::testing::{bits_to_line, random};
use crate::testing::{reset, settle, tick};
use hermes_hdl::prelude::*;
use rand::Rng;

/// Sends a frame of `length` bytes: the words of its descriptor, whether it counts as cut, and its
/// bytes in the slot. `leap` leaves out beats in the middle: the unit counts them as taken.
fn descriptor(uut: &mut LineBuilder, length: usize, port: u32, leap: bool) -> ([u32; 4], bool, u64) {
    let beats = length.div_ceil(64);
    let (mut sent, mut end) = (0, None);
    for cycle in 0..beats + 20 {
        if leap && cycle == 6 && sent + 4 < beats {
            let left_out = beats - 4 - sent;
            let count = uut.beats.q.val().to_u64() + left_out as u64;
            uut.beats.q.next = bits(count.min(4_095));
            sent += left_out;
        }
        uut.rx.tvalid.next = sent < beats;
        uut.rx.tlast.next = sent + 1 == beats;
        uut.rx.tuser.next = bits(if sent == 0 { port.into() } else { 0 });
        let bytes = if sent + 1 == beats { length - 64 * sent } else { 64 };
        uut.rx.tkeep.next = bits(u64::MAX >> (64 - bytes));
        settle(uut);
        if uut.done.val() {
            end = Some((uut.done_cut.val(), uut.done_bytes.val().to_u64()));
        }
        assert!(!uut.dropped.val());
        if uut.line.valid.val() && uut.line.end.val() {
            let line = bits_to_line(uut.line.data.val());
            let word = |at: usize| u32::from_le_bytes(line[at..at + 4].try_into().unwrap());
            let (cut, bytes) = end.expect("line 0 was built");
            tick!(*uut);
            return ([0, 4, 8, 12].map(word), cut, bytes);
        }
        sent += usize::from(uut.rx.tvalid.val() && uut.rx.tready.val());
        tick!(*uut);
    }
    panic!("a frame of {length} bytes has no line 0");
}

/// The descriptor counts the bytes that are missing, and 65,535 stands for that many or more; beats
/// above 4,095 are not counted.
#[test]
fn the_cut_length_stays_at_its_largest() {
    let mut rng = random("line builder");
    for slot_bytes_log2 in [7, 8, 11, 16] {
        let mut uut = LineBuilder::default();
        reset!(uut);
        uut.slot_bytes_log2.next = bits(slot_bytes_log2);
        uut.slot_free.next = true;
        uut.next_slot_free.next = true;
        uut.line.ready.next = true;
        tick!(uut);
        let capacity = (1usize << slot_bytes_log2) - 18;
        let mut cuts = vec![0, 1, 63, 64, 65_534, 65_535, 65_536, 65_537, 65_600, 131_071, 131_072, 131_073];
        if slot_bytes_log2 == 7 {
            cuts.extend([196_607, 196_608, 262_143, 300_000]);
        }
        for cut in cuts {
            let port = rng.gen::<u32>() >> 1;
            // One frame comes beat by beat.
            let leap = (slot_bytes_log2, cut) != (7, 65_536);
            let (words, was_cut, bytes) = descriptor(&mut uut, capacity + cut, port, leap);
            let expected = [capacity as u32, port, cut.min(65_535) as u32];
            assert_eq!(words[..3], expected, "{cut} bytes above {capacity}");
            assert_eq!((was_cut, bytes), (cut > 0, capacity as u64), "{cut} bytes above {capacity}");
        }
    }
}
