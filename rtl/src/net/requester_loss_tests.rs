//! The sender over wires that lose, repeat and reorder, and with a peer that never answers.

use super::*;

/// Every command once, in order, whatever the wire does.
fn commands_arrive_once(mut bench: Bench, wire: Wire, commands: usize, timeout: u64) -> Bench {
    bench.uut.timeout.next = timeout.into();
    let mut count = 0;
    while count < commands || bench.under_way() > 0 {
        let post = if count < commands { bench.random_post(5) } else { None };
        count += usize::from(post.is_some());
        bench.cycle(post, wire);
        assert!(bench.cycle < 3_000_000, "{} are under way", bench.under_way());
    }
    for pair in 0..PAIRS {
        assert!(bench.completed[pair].iter().all(|code| *code == code::DONE));
        assert!(bench.posted[pair].iter().eq(&bench.peers[pair].taken), "queue pair {pair}");
    }
    // The row is written behind the last command.
    for _ in 0..5 {
        bench.cycle(None, wire);
    }
    settle(&mut bench.uut);
    assert_eq!(bench.uut.listed.val().to_u64(), 0);
    assert!(bench.places.is_empty());
    assert!(!bench.uut.timers.runs.val().any(), "no timer runs");
    bench
}

#[test]
fn commands_arrive_once_without_loss() {
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 40, silent: None };
    let bench = commands_arrive_once(Bench::new("requester"), wire, 300, 20_000);
    assert_eq!((bench.resent, bench.timed_out), (0, 0));
    assert!(bench.reads > 80, "{}", bench.reads);
}

/// Messages of more packets than the window has room for go on without a time-out: the packet that
/// fills it asks for an ACK.
#[test]
fn small_windows_wait_for_no_time_out() {
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 40, silent: None };
    for window in [1, 2, 3, 5, 7, 8] {
        let bench = Bench::with_window("requester_windows", 8, window);
        let bench = commands_arrive_once(bench, wire, 80, 20_000);
        assert_eq!((bench.resent, bench.timed_out), (0, 0), "window of {window}");
    }
}

/// The same over wires that lose, repeat and reorder.
#[test]
fn small_windows_with_loss() {
    let wire = Wire { loss: 10, repeat: 5, reorder: 10, delay: 30, silent: None };
    for window in [1, 2, 3, 7] {
        let bench = Bench::with_window("requester_windows_loss", 8, window);
        let bench = commands_arrive_once(bench, wire, 60, 600);
        assert!(bench.resent > 10 && bench.timed_out > 3, "window of {window}: {}", bench.resent);
    }
}

/// Peers that are not ready at any packet, also with losses: what they dropped comes again behind
/// the time that they said, and is no time-out.
#[test]
fn peers_that_are_not_ready_at_any_packet() {
    for loss in [0, 3] {
        let wire = Wire { loss, repeat: loss, reorder: loss, delay: 30, silent: None };
        let mut bench = Bench::new("requester_rests");
        bench.not_ready = 3;
        let bench = commands_arrive_once(bench, wire, 120, 20_000);
        assert!(bench.rested > 4 && bench.resent >= bench.rested, "{} {}", bench.rested, bench.resent);
        assert!(loss > 0 || bench.timed_out == 0, "{} time-outs", bench.timed_out);
    }
}

#[test]
fn commands_arrive_once_with_loss() {
    let wire = Wire { loss: 15, repeat: 10, reorder: 20, delay: 30, silent: None };
    let bench = commands_arrive_once(Bench::new("requester_loss"), wire, 250, 1_000);
    assert!(bench.resent > 100 && bench.timed_out > 8, "{} {}", bench.resent, bench.timed_out);
}

/// Owners that may have fewer commands under way: a place is used again at once.
#[test]
fn commands_arrive_once_with_fewer_places() {
    let wire = Wire { loss: 5, repeat: 5, reorder: 5, delay: 30, silent: None };
    for entries in [1, 2, 4] {
        let bench = Bench::with_entries(&format!("requester_{entries}"), entries);
        let bench = commands_arrive_once(bench, wire, 150, 1_000);
        assert!(bench.resent > 10, "{entries}: {}", bench.resent);
    }
}

#[test]
fn commands_of_one_queue_pair() {
    let wire = Wire { loss: 5, repeat: 0, reorder: 0, delay: 250, silent: None };
    let mut bench = Bench::new("requester_one");
    bench.uut.timeout.next = 4096.into();
    let mut count = 0;
    while count < 150 || bench.under_way() > 0 {
        let post = if count < 150 { bench.random_post(1) } else { None };
        count += usize::from(post.is_some());
        bench.cycle(post, wire);
        assert!(bench.cycle < 1_000_000, "{} are under way", bench.under_way());
    }
    assert!(bench.posted[0].iter().eq(&bench.peers[0].taken));
}

/// A peer that never answers: its commands end, the oldest with 0x86, the others with 0x88; the
/// other queue pairs go on.
#[test]
fn a_silent_peer_holds_nobody_up() {
    let mut bench = Bench::new("requester_silent");
    bench.uut.timeout.next = 100.into();
    bench.uut.retries.next = 3.into();
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 20, silent: Some(2) };
    for offset in 0..3 {
        bench.post(2, put(offset, 1, 1), wire);
        bench.posted[2].push_back((offset, vec![1]));
    }
    let before = bench.cycle;
    let mut others = 0;
    while bench.completed[2].len() < 3 {
        let post = bench.random_post(2);
        others += u64::from(post.is_some());
        bench.cycle(post, wire);
        assert!(bench.cycle < 100_000);
    }
    // 100 + 200 + 400 + 800 cycles
    let took = bench.cycle - before;
    assert!((1_450..1_700).contains(&took), "{took} cycles");
    assert_eq!(bench.completed[2], [code::RETRIES, code::DOWN, code::DOWN]);
    assert!(others > 30, "{others}");
    // What is posted now fails at once.
    bench.posted[2].push_back((0, vec![1]));
    bench.post(2, put(0, 1, 1), wire);
    while bench.under_way() > 0 {
        bench.cycle(None, wire);
    }
    assert_eq!(bench.completed[2][3], code::DOWN);
    // Up again, with a fresh sequence number
    bench.errors = 0;
    bench.up |= 4;
    bench.first[2] = 0x1234;
    bench.peers[2] = Peer { expected: 0x1234, ..Peer::default() };
    bench.uut.opens.next = true;
    bench.uut.opens_pair.next = 2.into();
    bench.cycle(None, wire);
    bench.uut.opens.next = false;
    bench.posted[2].push_back((5, vec![9; 16]));
    let wire = Wire { silent: None, ..wire };
    bench.cycle(Some((2, put(5, 16, 9))), wire);
    while bench.under_way() > 0 {
        bench.cycle(None, wire);
    }
    assert_eq!(bench.completed[2][4], code::DONE);
    assert_eq!(bench.peers[2].taken, [(5, vec![9; 16])]);
}

/// A window of sixteen packets, which a silent peer never answers: each time-out halves it, down to
/// one packet, and as many are sent again.
#[test]
fn a_time_out_halves_the_window() {
    let mut bench = Bench::new("requester_halves");
    bench.uut.timeout.next = 200.into();
    bench.uut.retries.next = 5.into();
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 20, silent: Some(1) };
    bench.post(1, put_from(0, 20 << MTU, 0), wire);
    let (mut again, mut before) = (vec![], 0);
    while bench.completed[1].is_empty() {
        let time_outs = bench.timed_out;
        bench.cycle(None, wire);
        if bench.timed_out > time_outs {
            again.push(bench.resent - before);
            before = bench.resent;
        }
        assert!(bench.cycle < 100_000);
    }
    assert_eq!(bench.completed[1], [code::RETRIES]);
    // Nothing was sent again before the first time-out; the last one ends the command.
    assert_eq!(again[..6], [0, 8, 4, 2, 1, 1]);
}
