//! Tests of stage W by itself.

use super::access_window::distance;
use super::{WriteStage, WINDOWS};
use crate::config::CoreOptions;
use crate::testing::{reset, settle, tick};
use hermes_hdl::prelude::*;
use rand::Rng;

/// Faults of failed loads, while more loads of the warp fail: one record each, which has all lanes
/// that fault when the instruction fires, and the line that failed last; none while values of the
/// warp are to come.
#[test]
fn a_record_has_all_lanes_that_fault() {
    let mut random = hermes_hdl::testing::random();
    let mut uut = WriteStage::<4>::new(CoreOptions::default());
    reset!(uut);
    uut.read.active.next = bits(15);
    uut.read.alive.next = bits(15);
    uut.read.packet.next = bits(100);
    tick!(uut);
    uut.execute.valid.next = true;
    uut.execute.control.next = true;
    uut.execute.fault.next = true;
    uut.execute.cause.next = bits(5);
    let (mut lanes, mut line, mut to_come) = (1u64, 0u64, 0);
    let (mut records, mut faults, mut joined) = (Vec::new(), 0, 0);
    for _ in 0..3_000 {
        uut.load_error.lanes.next = bits(lanes);
        uut.load_error.line.next = bits(line);
        uut.warp_late.next = to_come > 0;
        uut.late_write.next = random.gen_bool(0.3);
        uut.fault.ready.next = random.gen_bool(0.5);
        uut.path_ready.next = random.gen_bool(0.5);
        settle(&mut uut);
        if uut.fault.valid.val() && uut.fault.ready.next {
            let packet = uut.fault.packet.val().to_u32();
            records.push((uut.fault.threads.val().to_u32(), packet, uut.fault.value.val().to_u32()));
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

/// Lines 0x100 to 0x1ff may be read.
fn open_a_window(uut: &mut WriteStage<4>) {
    for window in 0..WINDOWS {
        uut.window[window].from_base.next = distance(0, 0x100);
        uut.window[window].from_end.next = distance(0, 0x200);
    }
}

/// A stage whose warps have four lanes and an open window, before units that take what it has.
fn ready(options: CoreOptions) -> WriteStage<4> {
    let mut uut = WriteStage::<4>::new(options);
    reset!(uut);
    open_a_window(&mut uut);
    uut.read.active.next = bits(15);
    uut.read.alive.next = bits(15);
    uut.request.ready.next = true;
    (uut.path_ready.next, uut.fault.ready.next) = (true, true);
    uut
}

/// Takes a load of these addresses from stage R to stage W.
fn load(uut: &mut WriteStage<4>, slot: u64, addresses: [u64; 4]) {
    uut.read.slot.next = bits(slot);
    uut.execute.valid.next = false;
    tick!(*uut);
    uut.execute.valid.next = true;
    uut.execute.load.next = true;
    uut.execute.funct3.next = bits(2);
    uut.execute.pc.next = bits(0x1000 + slot);
    for (lane, address) in addresses.into_iter().enumerate() {
        uut.lane[lane].address.next = bits(address);
        uut.lane[lane].operand.next = bits(address);
        uut.lane[lane].result.next = bits(address);
    }
    tick!(*uut);
    uut.execute.valid.next = false;
    settle(uut);
}

/// A load that some lane may not make is sent back without effect, and judged before it goes when
/// it comes again; those of other warps, and later ones of its own, are not held up.
#[test]
fn an_access_that_faults_is_sent_back_first() {
    let mut uut = ready(CoreOptions::default());
    let (good, bad) = ([0x4000, 0x4004, 0x7ffc, 0x5000], [0x4000, 0x8000, 0x4004, 0x3ffc]);
    let (allowed, refused) = (0b0101, 0b1010);
    for _ in 0..3 {
        // The memories of the warps' accesses that were sent back hold anything before the first
        // instruction of a warp.
        for slot in [3, 4] {
            load(&mut uut, slot, good);
            tick!(uut);
        }
        load(&mut uut, 3, bad);
        assert!(uut.advance.val() && !uut.fire.val() && !uut.retired.valid.val());
        assert!(!uut.request.valid.val() && !uut.memory_start.val() && !uut.fault.valid.val());
        assert!(!uut.path_start.valid.val() && !uut.progress.resume.val() && !uut.write_lanes.val().any());
        assert!(uut.flush.valid.val() && uut.flush.again.val() && uut.context_write.val());
        assert_eq!((uut.context.slot.val().to_u64(), uut.context.pc.val().to_u64()), (3, 0x1003));
        assert_eq!(u64::from(uut.context.active.val()), 15);
        tick!(uut);

        load(&mut uut, 4, good);
        assert!(uut.fire.val() && uut.memory_start.val() && !uut.flush.again.val());
        tick!(uut);

        load(&mut uut, 3, bad);
        assert!(!uut.advance.val() && !uut.request.valid.val() && !uut.fault.valid.val());
        tick!(uut);
        assert!(uut.fire.val() && uut.flush.valid.val() && uut.path_start.valid.val());
        assert!(!uut.flush.again.val() && !uut.context_write.val());
        assert!(uut.memory_start.val() && uut.fault.valid.val());
        assert_eq!(u64::from(uut.request.mask.val()), allowed);
        assert_eq!(u64::from(uut.fault_lanes.val()), refused);
        assert_eq!((uut.fault.value.val().to_u64(), uut.fault.cause.val().to_u64()), (0x8000, 5));
        tick!(uut);

        load(&mut uut, 3, good);
        assert!(uut.fire.val() && uut.memory_start.val() && !uut.flush.valid.val());
        tick!(uut);
    }
    // What would be sent back waits for a path that is written to the contexts, and any access for
    // stage M.
    load(&mut uut, 3, bad);
    uut.path_valid.next = true;
    settle(&mut uut);
    assert!(!uut.advance.val() && !uut.flush.again.val() && uut.context_write.val());
    uut.path_valid.next = false;
    settle(&mut uut);
    assert!(uut.advance.val() && uut.flush.again.val());
    tick!(uut);
    uut.request.ready.next = false;
    load(&mut uut, 4, good);
    assert!(!uut.advance.val() && uut.request.valid.val() && !uut.memory_start.val());
    tick!(uut);
    uut.request.ready.next = true;
    settle(&mut uut);
    assert!(uut.fire.val() && uut.request.valid.val() && uut.memory_start.val());
}

/// At EXIT the lanes that keep the verdict do not store; other stores do not ask who keeps it.
/// Without a lane that stores, the instruction leaves without a request.
#[test]
fn lanes_that_keep_the_verdict_do_not_store_it() {
    let mut uut = ready(CoreOptions { network_functions: 2, ..CoreOptions::default() });
    tick!(uut);
    for (exit, keeps) in [(true, 0b0000), (true, 0b0101), (true, 0b1111), (false, 0b0110)] {
        uut.execute.valid.next = true;
        uut.execute.exit.next = exit;
        uut.execute.control.next = exit;
        uut.execute.store.next = true;
        uut.execute.funct3.next = bits(2);
        for lane in 0..4 {
            uut.lane[lane].address.next = bits(0x4000);
            uut.lane[lane].operand.next = bits(0x4000);
            uut.lane[lane].result.next = bits(0x4000);
        }
        tick!(uut);
        uut.execute.valid.next = false;
        uut.keeps_verdict.next = bits(keeps);
        settle(&mut uut);
        let stores = if exit { 15 & !keeps } else { 15 };
        assert!(uut.fire.val() && uut.advance.val(), "{exit} {keeps:04b}");
        assert_eq!(uut.request.valid.val(), stores != 0, "{exit} {keeps:04b}");
        assert_eq!(uut.memory_start.val(), stores != 0, "{exit} {keeps:04b}");
        if stores != 0 {
            assert_eq!(u64::from(uut.request.mask.val()), stores, "{exit} {keeps:04b}");
        }
        assert_eq!(uut.exits.val(), exit);
        assert_eq!(uut.progress.ended.val(), exit, "{exit} {keeps:04b}");
        tick!(uut);
    }
}
