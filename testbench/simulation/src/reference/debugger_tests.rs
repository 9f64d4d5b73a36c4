use super::run_tests::debugger;
use super::{Debugger, Resume, Stop, Watch};
use crate::iss::{Cause, Fault};

const ALL: Resume = Resume { go: 15, step: 0, take: 0 };

/// Lets all lanes go on, `lane` by one instruction.
fn step(lane: usize) -> Resume {
    Resume { go: 15 & !(1 << lane), step: 1 << lane, take: 0 }
}

fn go(debugger: &mut Debugger, resume: Resume) -> Stop {
    debugger.resume(resume);
    debugger.advance(10_000).expect("it stops")
}

fn pcs(debugger: &Debugger) -> Vec<u32> {
    debugger.run().threads().iter().map(|thread| thread.hart.pc).collect()
}

#[test]
fn each_lane_tells_of_a_breakpoint_once() {
    let (mut debugger, kernel) = debugger("nop; nop; nop; ret");
    let at = kernel.entry + 4;
    // One of two stays.
    debugger.insert_breakpoint(at);
    debugger.insert_breakpoint(at);
    assert!(debugger.remove_breakpoint(at));
    for lane in 0..4 {
        assert_eq!(go(&mut debugger, ALL), Stop::Breakpoint(lane));
        assert_eq!(pcs(&debugger), [at; 4]);
    }
    assert_eq!(go(&mut debugger, ALL), Stop::End);
    assert!(debugger.remove_breakpoint(at) && !debugger.remove_breakpoint(at));
    assert_eq!(debugger.run_mut().result(6).unwrap().verdict, 6);
}

#[test]
fn the_lane_that_is_looked_at_tells_first() {
    let (mut debugger, kernel) = debugger("lw t0, 0(zero); ret");
    debugger.prefer(2);
    debugger.insert_breakpoint(kernel.entry);
    for lane in [2, 0, 1, 3] {
        assert_eq!(go(&mut debugger, ALL), Stop::Breakpoint(lane));
    }
    let fault = Fault { cause: Cause::LoadAccess, value: 0 };
    assert_eq!(go(&mut debugger, ALL), Stop::Fault(2, fault));
    assert!(debugger.remove_breakpoint(kernel.entry));
    assert_eq!(go(&mut debugger, Resume { take: 4, ..ALL }), Stop::Fault(0, fault));
}

#[test]
fn a_step_moves_the_warp_or_the_lane_alone() {
    let (mut debugger, kernel) = debugger("nop; nop; nop; ret");
    assert_eq!(go(&mut debugger, step(2)), Stop::Step(2));
    assert_eq!(pcs(&debugger), [kernel.entry + 4; 4], "lanes of a path go together");
    let alone = Resume { step: 2, ..Resume::default() };
    assert_eq!(go(&mut debugger, alone), Stop::Step(1));
    assert_eq!(pcs(&debugger), [4, 8, 4, 4].map(|bytes| kernel.entry + bytes));
    // The others catch up.
    assert_eq!(go(&mut debugger, step(0)), Stop::Step(0));
    assert_eq!(pcs(&debugger), [kernel.entry + 8; 4]);
    // One that is at its end waits for the others.
    assert_eq!(go(&mut debugger, Resume { go: 2, ..Resume::default() }), Stop::Waits(1));
    assert_eq!(go(&mut debugger, ALL), Stop::End);
    assert_eq!(debugger.run().instructions(1).0, 4);
}

#[test]
fn watches_tell_of_every_lane_behind_the_access() {
    let (mut debugger, kernel) = debugger(
        "la t0, word; lw t1, 0(t0); li t2, 5; bne a0, t2, 1f; sb a0, 1(t0)\n1: ret\n.data\nword: .word 1",
    );
    let word = kernel.symbol("word").unwrap().address;
    debugger.insert_watch(word, 4, Watch::Write);
    let stop = Stop::Watch { lane: 1, address: word + 1, watch: Watch::Write };
    assert_eq!(go(&mut debugger, ALL), stop);
    let mut bytes = [0; 4];
    assert_eq!((debugger.run_mut().read_memory(0, word, &mut bytes), bytes), (4, [1, 5, 0, 0]));
    assert_eq!(go(&mut debugger, ALL), Stop::End);
    assert!(debugger.remove_watch(word, 4, Watch::Write) && !debugger.remove_watch(word, 4, Watch::Write));

    let (mut debugger, _) = self::debugger("la t0, word; lw t1, 0(t0); ret\n.data\nword: .word 1");
    let word = debugger_word(&mut debugger);
    debugger.insert_watch(word, 1, Watch::Read);
    for lane in 0..4 {
        assert_eq!(go(&mut debugger, ALL), Stop::Watch { lane, address: word, watch: Watch::Read });
        // While a lane goes on alone, nothing is told of another.
        let alone = Resume { step: 1 << lane, ..Resume::default() };
        assert_eq!(go(&mut debugger, alone), Stop::Step(lane));
    }
    assert_eq!(go(&mut debugger, ALL), Stop::End);
}

/// The address in t0 behind `la`.
fn debugger_word(debugger: &mut Debugger) -> u32 {
    go(debugger, step(0));
    go(debugger, step(0));
    debugger.run().hart(0).x[5]
}

#[test]
fn a_fault_can_be_taken_or_mended() {
    let (mut debugger, kernel) = debugger("li t0, 2; nop; lw a0, 0(t0); ret\n.data\nword: .word 9");
    let at = kernel.entry + 8;
    let fault = Fault { cause: Cause::LoadMisaligned, value: 2 };
    debugger.prefer(0);
    assert_eq!(go(&mut debugger, ALL), Stop::Fault(0, fault));
    assert_eq!(pcs(&debugger), [at; 4]);
    // Taken: the verdict; the next lane comes to it.
    assert_eq!(go(&mut debugger, Resume { take: 1, ..ALL }), Stop::Fault(1, fault));
    // Tried again, as it is and with another address.
    assert_eq!(go(&mut debugger, Resume { go: 2, ..Resume::default() }), Stop::Fault(1, fault));
    debugger.set_register(1, 5, kernel.symbol("word").unwrap().address);
    assert_eq!(go(&mut debugger, ALL), Stop::Fault(2, fault));
    // Left out.
    debugger.set_register(2, 32, at + 4);
    debugger.set_register(2, 0, 1);
    assert_eq!(go(&mut debugger, ALL), Stop::Fault(3, fault));
    assert_eq!(go(&mut debugger, Resume { step: 8, take: 8, go: 0 }), Stop::Step(3));
    assert_eq!(go(&mut debugger, ALL), Stop::End);
    let mut run = debugger.into_run();
    assert_eq!([0, 1, 2, 3].map(|lane| run.instructions(lane).0), [3, 4, 3, 3], "tried twice, counted once");
    let verdicts = [4, 5, 6, 7].map(|packet| run.result(packet).unwrap().verdict);
    assert_eq!(verdicts, [0xc000_0004, 9, 6, 0xc000_0004]);
    assert_eq!(run.faults().iter().map(|fault| fault.packet).collect::<Vec<_>>(), [4, 7]);
    assert_eq!((run.hart(3).pc, run.hart(2).x[0]), (at, 0));
}

#[test]
fn a_breakpoint_of_the_program_ends_the_lane() {
    let (mut debugger, kernel) = debugger("ebreak; ret");
    for lane in 0..4 {
        let fault = Fault { cause: Cause::Breakpoint, value: kernel.entry };
        assert_eq!(go(&mut debugger, ALL), Stop::Fault(lane, fault));
    }
    assert_eq!(go(&mut debugger, ALL), Stop::End);
    assert_eq!(debugger.run_mut().result(4).unwrap().verdict, 0xc000_0003);
}

#[test]
fn one_lane_can_be_looked_at_alone() {
    let (mut debugger, kernel) = debugger("la t0, word; lw t1, 0(t0); ret\n.data\nword: .word 1");
    debugger.stop_only(1 << 2);
    debugger.insert_breakpoint(kernel.entry + 8);
    debugger.insert_watch(kernel.symbol("word").unwrap().address, 4, Watch::Access);
    assert_eq!(go(&mut debugger, ALL), Stop::Breakpoint(2));
    assert!(matches!(go(&mut debugger, ALL), Stop::Watch { lane: 2, .. }));
    assert_eq!(go(&mut debugger, ALL), Stop::End);
}
