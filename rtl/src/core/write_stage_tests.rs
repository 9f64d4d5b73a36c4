//! Tests of stage W by itself.

use super::WriteStage;
use crate::memory::testing::{reset, settle, tick};
use crate::prelude::*;
use rand::Rng;

/// Faults of failed loads, while more loads of the warp fail: one record each, which has all lanes that fault when the instruction fires, and
/// the line that failed last; none while values of the warp are to come.
#[test]
fn a_record_has_all_lanes_that_fault() {
    let mut random = crate::testing::random();
    let mut uut = WriteStage::<4>::default();
    reset!(uut);
    uut.read_active.next = bits(15);
    uut.read_alive.next = bits(15);
    uut.read_packet.next = bits(100);
    tick!(uut);
    uut.execute_valid.next = true;
    uut.execute_control.next = true;
    uut.execute_fault.next = true;
    uut.execute_cause.next = bits(5);
    let (mut lanes, mut line, mut to_come) = (1u64, 0u64, 0);
    let (mut records, mut faults, mut joined) = (Vec::new(), 0, 0);
    for _ in 0..3_000 {
        uut.load_error_lanes.next = bits(lanes);
        uut.load_error_line.next = bits(line);
        uut.warp_late.next = to_come > 0;
        uut.late_write.next = random.gen_bool(0.3);
        uut.fault_ready.next = random.gen_bool(0.5);
        uut.path_ready.next = random.gen_bool(0.5);
        settle(&mut uut);
        if uut.fault_valid.val() && uut.fault_ready.next {
            let packet = uut.fault_packet.val().to_u32();
            records.push((uut.fault_threads.val().to_u32(), packet, uut.fault_value.val().to_u32()));
        }
        let fires = uut.fire.val();
        if fires {
            let expected = (lanes.count_ones(), 100 + lanes.trailing_zeros(), (line as u32) << 6);
            assert_eq!(records, [expected]);
            assert_eq!(u64::from(uut.fault_lanes.val()), lanes);
            assert_eq!(to_come, 0, "a fault before a value of its warp");
            records.clear();
            faults += 1;
        }
        tick!(uut);
        if fires {
            (lanes, line, to_come) =
                (random.gen_range(1..16), random.gen_range(0..1 << 26), random.gen_range(0..5));
        } else if to_come > 0 && random.gen_bool(0.5) {
            // A value is here, or a line failed.
            to_come -= 1;
            let more = lanes | 1 << random.gen_range(0..4);
            joined += u32::from(more != lanes);
            (lanes, line) = (more, random.gen_range(0..1 << 26));
        }
    }
    assert!(faults > 200 && joined > 100, "{faults} {joined}");
}
