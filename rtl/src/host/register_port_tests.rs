//! The two masters of the registers: each access once, answered to its master, soon.

use super::*;
use crate::config::Config;
use crate::host::RegisterFile;
use crate::testing::{random, reset, settle, tick};
use rand::Rng;

/// A master of the unit: what it wants, and since when.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Want {
    write: bool,
    address: u64,
    data: u64,
}

#[test]
fn the_masters_alternate() {
    let mut random = random();
    let mut unit = RegisterPort::default();
    reset!(unit);
    let push = u64::from(offset("TASK_PUSH"));
    let (mut host, mut command): (Option<Want>, Option<Want>) = (None, None);
    let (mut host_waits, mut command_waits) = (0, 0);
    let mut last = false;
    let (mut done, mut faults, mut delays, mut withdrawn) = ([0; 2], 0, 0, 0);
    for cycle in 0..20_000 {
        let busy = if cycle / 100 % 2 == 0 { 0.9 } else { 0.2 };
        let mut want = |old: Option<Want>| {
            old.or_else(|| {
                random.gen_bool(busy).then(|| Want {
                    write: random.gen(),
                    address: if random.gen_bool(0.2) { push } else { random.gen_range(0..1024u64) * 4 },
                    data: random.gen::<u32>().into(),
                })
            })
        };
        host = want(host);
        command = want(command);
        // A hart that is held withdraws its access.
        if random.gen_bool(0.02) && command.is_some() {
            command = None;
            command_waits = 0;
            withdrawn += 1;
        }
        let offered = command.unwrap_or(Want { write: random.gen(), address: 0x40, data: 0 });
        unit.access.valid.next = command.is_some();
        unit.access.write.next = offered.write;
        unit.access.address.next = offered.address.into();
        unit.access.data.next = offered.data.into();
        settle(&mut unit);
        // The slave makes no access while it is held.
        let held = unit.hold.val();
        let asks = host.filter(|_| !held);
        unit.host.read.next = asks.is_some_and(|want| !want.write);
        unit.host.write.next = asks.is_some_and(|want| want.write);
        unit.host.address.next = asks.map_or(0, |want| want.address).into();
        unit.host.data.next = asks.map_or(0, |want| want.data).into();
        unit.host.mask.next = 0x00ff_00ffu64.into();
        let (value, known, delay) = (random.gen::<u32>(), random.gen::<bool>(), random.gen_bool(0.3));
        unit.answer.value.next = u64::from(value).into();
        unit.answer.known.next = known;
        unit.answer.delay.next = delay;
        settle(&mut unit);

        let turn = unit.by_command.val();
        assert_eq!(turn, command.is_some() && !last, "cycle {cycle}");
        assert_eq!(unit.was_by_command.val(), last, "cycle {cycle}");
        assert_eq!(held, turn, "cycle {cycle}");
        let (mut reads, mut writes) = (unit.request.read.val(), unit.request.write.val());
        if turn {
            let want = command.unwrap();
            let refused = want.write && want.address == push;
            assert_eq!((reads, writes), (!want.write, want.write && !refused), "cycle {cycle}");
            assert_eq!(unit.request.mask.val().to_u64(), 0xffff_ffff);
            assert_eq!(unit.request.data.val().to_u64(), want.data);
            assert_eq!(unit.request.address.val().to_u64(), want.address);
            assert_eq!(unit.access.done.val(), refused || !want.write || !delay, "cycle {cycle}");
            assert_eq!(unit.access.known.val(), known && !refused);
            assert_eq!(unit.access.value.val().to_u64(), u64::from(value));
            (reads, writes) = (false, false);
            faults += usize::from(refused);
            delays += usize::from(!unit.access.done.val());
            if unit.access.done.val() {
                command = None;
                command_waits = 0;
                done[1] += 1;
            }
        } else {
            assert!(!unit.access.done.val(), "cycle {cycle}");
            command_waits += usize::from(command.is_some());
            assert!(command_waits < 100, "cycle {cycle}");
        }
        if let Some(want) = asks {
            assert_eq!((reads, writes), (!want.write, want.write), "cycle {cycle}");
            assert_eq!(unit.request.address.val().to_u64(), want.address);
            assert_eq!(unit.request.mask.val().to_u64(), 0x00ff_00ff);
            let answer = &unit.host_answer;
            assert_eq!((answer.known.val(), answer.delay.val()), (known, delay));
            assert_eq!(answer.value.val().to_u64(), u64::from(value));
            host_waits = 0;
            if !want.write || !delay {
                host = None;
                done[0] += 1;
            }
        } else {
            assert!(!reads && !writes, "cycle {cycle}");
            host_waits = if host.is_some() { host_waits + 1 } else { 0 };
            assert!(host_waits < 2, "cycle {cycle}: the host starves");
        }
        last = turn;
        tick!(unit);
    }
    assert!(done.iter().all(|&n| n > 3_000), "{done:?}");
    assert!(faults > 300 && delays > 500 && withdrawn > 50, "{faults} {delays} {withdrawn}");
}

/// Host and command processor at the register file, in the middle of pushes that are delayed: each
/// reads back what it wrote, SPAWN_DATA reaches the spawner once a write, and nothing of the
/// processor waits for a push.
#[test]
fn both_use_the_register_file() {
    let mut random = random();
    let mut unit = RegisterFile::new(&Config {
        command_threads: 1,
        spawn_slots: 16,
        ..Config::preset("default").unwrap()
    });
    reset!(unit);
    unit.axil.bready.next = true;
    unit.axil.rready.next = true;
    unit.axil.wstrb.next = 15.into();
    let of = |name| u64::from(offset(name));
    let (mine, push, data) = (of("SPAWN_SELECT"), of("TASK_PUSH"), of("SPAWN_DATA"));
    let (theirs, nowhere) = (of("TIMEOUT"), 0xffc);
    let mut access: Option<Want> = None;
    let (mut kept, mut waited, mut longest) = (0, 0, 0);
    let (mut written, mut sent, mut pushes, mut taken) = (0, 0, 0, 0u64);
    let (mut host_writes, mut host_kept, mut reads, mut answers) = (Vec::new(), 256, Vec::new(), 0);
    for cycle in 0..30_000 {
        if access.is_none() && random.gen_bool(0.5) {
            let address = [mine, mine, push, data, nowhere][random.gen_range(0..5)];
            access = Some(Want { write: random.gen(), address, data: random.gen::<u32>().into() });
            waited = 0;
        }
        unit.access.valid.next = access.is_some();
        if let Some(want) = access {
            unit.access.write.next = want.write;
            unit.access.address.next = want.address.into();
            unit.access.data.next = want.data.into();
        }
        // The host: pushes, and writes and reads of a register.
        if host_writes.is_empty() && random.gen_bool(0.3) {
            let value = u64::from(random.gen::<u32>());
            let address = if random.gen() { push } else { theirs };
            host_writes.push((address, value));
            unit.axil.awaddr.next = address.into();
            unit.axil.wdata.next = value.into();
            unit.axil.awvalid.next = true;
            unit.axil.wvalid.next = true;
        }
        if reads.is_empty() && host_writes.is_empty() && random.gen_bool(0.3) {
            reads.push(theirs);
            unit.axil.araddr.next = theirs.into();
            unit.axil.arvalid.next = true;
        }
        unit.tasks.ready.next = random.gen_bool(0.2);
        unit.tasks.level.next = (if random.gen_bool(0.2) { 1024 } else { 7 }).into();
        unit.spawn.spawner.waits.next = random.gen_bool(0.4);
        settle(&mut unit);

        if unit.tasks.valid.val() && unit.tasks.ready.val() {
            taken += 1;
        }
        let spawner = &unit.spawn.spawner;
        if spawner.write.val() && !spawner.waits.val() {
            let want = access.expect("only the processor writes SPAWN_DATA");
            assert_eq!((want.address, want.data), (data, spawner.value.val().to_u64()), "cycle {cycle}");
            written += 1;
        }
        if unit.access.done.val() {
            let want = access.take().expect("an access is performed that was asked for");
            let port = &unit.access;
            let refused = want.address == nowhere || (want.address == push && want.write);
            assert_eq!(port.known.val(), !refused, "cycle {cycle}: {want:?}");
            match (want.address == mine, want.write) {
                (true, true) => kept = want.data & 0x1fff,
                (true, false) => assert_eq!(port.value.val().to_u64(), kept, "cycle {cycle}"),
                (false, write) => sent += usize::from(write && want.address == data),
            }
            longest = longest.max(waited);
        }
        waited += 1;
        if unit.axil.bvalid.val() {
            let (address, value) = host_writes.remove(0);
            let okay = unit.axil.bresp.val().to_u64() == 0;
            assert!(okay || address == push, "cycle {cycle}");
            if address == theirs {
                host_kept = value;
            } else {
                pushes += u64::from(okay);
            }
        }
        if unit.axil.rvalid.val() {
            reads.remove(0);
            // A write may have been under way; it has its response by the time of the next read.
            let known = [Some(host_kept), host_writes.first().filter(|w| w.0 == theirs).map(|w| w.1)];
            assert!(known.contains(&Some(unit.axil.rdata.val().to_u64())), "cycle {cycle}");
            answers += 1;
        }
        let ready = [unit.axil.awready.val(), unit.axil.wready.val(), unit.axil.arready.val()];
        tick!(unit);
        let axil = &mut unit.axil;
        axil.awvalid.next = axil.awvalid.val() && !ready[0];
        axil.wvalid.next = axil.wvalid.val() && !ready[1];
        axil.arvalid.next = axil.arvalid.val() && !ready[2];
    }
    assert_eq!(written, sent, "SPAWN_DATA");
    assert!(pushes - taken <= 1, "a push that was answered with OKAY is offered once: {pushes} {taken}");
    assert!(written > 500 && pushes > 500 && answers > 1_000, "{written} {pushes} {answers}");
    // Two cycles a try of SPAWN_DATA, which finds a store in four of ten.
    assert!(longest < 40, "an access took {longest} cycles");
}
