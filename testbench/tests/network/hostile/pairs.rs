//! A queue pair that fails while another one is served.

use hermes_rtl::net::state;
use hermes_testbench::golden::roce::{opcode, Extended, RoceFrame};

use crate::hostile::victim::*;
use crate::nodes::address;

/// READ requests of this region, from the peer of the queue pair that nobody attacks: 16 responses
/// each. The first has this sequence number.
fn reads_of_the_other(victim: &mut Victim, first: u32, count: u32) {
    for number in 0..count {
        let extended =
            Extended::Rdma { address: READABLE.address.into(), key: READABLE.key, length: READABLE.bytes };
        let packets = READABLE.bytes / MTU;
        let sequence = theirs(first + number * packets);
        let request = RoceFrame {
            from_mac: address(2).mac,
            from_ip: address(2).ip,
            queue_pair: OTHER,
            ..frame(opcode::READ_REQUEST, sequence, extended, &[])
        };
        victim.submit(&request.bytes(), false);
    }
}

/// A READ of memory that is not there, while responses of another queue pair are sent: the NAK has
/// the message sequence number of its own queue pair.
#[test]
fn a_nak_has_the_message_of_its_queue_pair() {
    let mut victim = Victim::new();
    victim.connect();
    victim.history();
    let seen = victim.sent.len();
    reads_of_the_other(&mut victim, 0, 2);
    let hole = Extended::Rdma { address: HOLE.address.into(), key: HOLE.key, length: 8 };
    victim.submit(&frame(opcode::READ_REQUEST, theirs(3), hole, &[]).bytes(), false);
    victim.run(3_000);
    // The response that could not be read left with a wrong ICRC.
    let answers = victim.answers_that_are_whole(seen);
    assert_eq!(answers, [Answer::nak(3, 0x63).of_message(4)]);
}

/// A queue pair in ERROR that has nothing left goes to RESET while frames of another one are
/// answered all the time.
#[test]
fn reset_does_not_wait_for_other_queue_pairs() {
    let mut victim = Victim::new();
    victim.connect();
    victim.history();
    reads_of_the_other(&mut victim, 0, 8);
    victim.run(200);
    for new_state in [state::ERROR, state::RESET] {
        let seen = victim.sent.len();
        victim.host.set_queue_pair_state(PAIR, new_state).unwrap();
        victim.run(60);
        assert!(victim.sent.len() > seen, "the other one is being answered");
    }
}
