//! The window of a queue pair: random steps against a model, and what becomes of it on some ways.

use super::*;
use crate::memory::testing::random;
use crate::testing::{reset, settle, tick};
use rand::Rng;

/// A window as its contract has it.
#[derive(Clone, Default)]
struct Model {
    open: bool,
    mtu: u32,
    allowed: u64,
    filled: bool,
    quick: bool,
    asks: bool,
    rests: bool,
    timed: Option<(u64, u64)>,
    least: Option<u64>,
    trip: u64,
    mark: Option<u64>,
    oldest: u64,
    upcoming: u64,
    top: u64,
}

const NUMBERS: u64 = 1 << 24;

fn begin(uut: &mut SendWindow, pair: u64) {
    uut.pair.next = pair.into();
    for event in [&mut uut.opens, &mut uut.sent, &mut uut.moves, &mut uut.loses, &mut uut.expires] {
        event.next = false;
    }
    uut.rests.next = false;
    uut.wakes.next = false;
    uut.fresh.next = false;
    uut.asks.next = false;
}

/// Packets that are sent, acknowledged, lost and timed, of all queue pairs in turn.
#[test]
fn as_the_contract_says() {
    let mut rng = random("send_window");
    for most in [1u64, 3, 8, 32] {
        let mut uut = SendWindow::default();
        reset!(uut);
        let mut models = vec![Model::default(); 16];
        let mut time = rng.gen_range(0..NUMBERS);
        let mut counts = [0; 8];
        let mut sizes = std::collections::BTreeSet::new();
        for _ in 0..60_000 {
            let pair = rng.gen_range(0..16usize);
            let model = &mut models[pair];
            begin(&mut uut, pair as u64);
            uut.window.next = most.into();
            uut.time.next = time.into();
            let under_way = model.upcoming.wrapping_sub(model.oldest) % NUMBERS;
            let waiting = model.top.wrapping_sub(model.oldest) % NUMBERS;
            uut.under_way.next = under_way.into();
            let full = under_way + 1 >= model.allowed;
            let mut next = model.clone();
            match rng.gen_range(0..20) {
                _ if !model.open || rng.gen_ratio(1, 2_000) => {
                    let first = if rng.gen() { NUMBERS - 5 } else { rng.gen_range(0..NUMBERS) };
                    let mtu = rng.gen_range(8..=12u32);
                    uut.opens.next = true;
                    uut.mtu.next = u64::from(mtu).into();
                    next = Model { open: true, quick: true, mtu, asks: true, ..Model::default() };
                    next.allowed = (4_096 >> mtu).min(most);
                    (next.oldest, next.upcoming, next.top) = (first, first, first);
                }
                0..=9 if under_way < most && !model.rests && (under_way < model.allowed || !model.asks) => {
                    let fresh = model.upcoming == model.top;
                    let asks = rng.gen_bool(0.3) || full;
                    uut.sent.next = true;
                    uut.number.next = model.upcoming.into();
                    uut.fresh.next = fresh;
                    uut.asks.next = asks;
                    next.asks = asks;
                    next.filled |= full;
                    if asks && fresh && model.timed.is_none() {
                        next.timed = Some((model.upcoming, time));
                    }
                    next.upcoming = (model.upcoming + 1) % NUMBERS;
                    if fresh {
                        next.top = next.upcoming;
                    }
                    counts[0] += 1;
                }
                10..=16 if waiting > 0 => {
                    let count = rng.gen_range(1..=waiting.min(9));
                    uut.moves.next = true;
                    next.oldest = (model.oldest + count) % NUMBERS;
                    if count > under_way {
                        next.upcoming = next.oldest;
                    }
                    next.rests = false;
                    if let Some(mark) = model.mark {
                        if (next.oldest.wrapping_sub(mark) % NUMBERS) < NUMBERS / 2 {
                            next.mark = None;
                        }
                    }
                    let passed = |number: u64| (number.wrapping_sub(model.oldest) % NUMBERS) < count;
                    if let Some((_, since)) = model.timed.filter(|(number, _)| passed(*number)) {
                        let trip = time.wrapping_sub(since) % NUMBERS;
                        let least = model.least.map_or(trip, |least| least.min(trip));
                        next.size(trip, least, most);
                        (next.timed, next.filled) = (None, false);
                        (next.trip, next.least) = (trip, Some(least));
                        counts[1] += 1;
                    }
                    if rng.gen_bool(0.04) {
                        uut.loses.next = true;
                        uut.mtu.next = u64::from(model.mtu).into();
                        next.upcoming = next.oldest;
                        if next.mark.is_none() {
                            next.allowed = model.allowed;
                        }
                        next.halve(false);
                        counts[2] += 1;
                    }
                }
                17 if under_way > 0 && rng.gen_bool(0.1) => {
                    uut.expires.next = !model.rests;
                    uut.wakes.next = true;
                    next.upcoming = model.oldest;
                    if !model.rests {
                        next.halve(true);
                        counts[3] += 1;
                    }
                    next.timed = next.timed.filter(|_| model.rests);
                    next.rests = false;
                }
                18 if under_way > 0 && rng.gen_bool(0.2) => {
                    uut.rests.next = true;
                    next.upcoming = model.oldest;
                    (next.rests, next.timed) = (true, None);
                    counts[4] += 1;
                }
                _ => counts[5] += 1,
            }
            uut.oldest.next = next.oldest.into();
            uut.upcoming.next = next.upcoming.into();
            uut.top.next = next.top.into();
            settle(&mut uut);
            if model.open {
                assert_eq!(uut.fills.val(), full || under_way + 1 == model.allowed / 2);
                assert_eq!(uut.is_resting.val(), model.rests);
                assert_eq!(uut.patience.val().to_u64(), (2 * model.trip).min(NUMBERS - 1));
            }
            let count = next.upcoming.wrapping_sub(next.oldest) % NUMBERS;
            if next.open {
                let within = count < next.allowed || (!next.asks && count > 0);
                assert_eq!(uut.may_send.val(), count < most && within && !next.rests);
            }
            *model = next;
            sizes.insert(model.allowed);
            assert!((1..=most).contains(&model.allowed));
            tick!(uut);
            let steps = [3, 40, 700, 5_000][rng.gen_range(0..4)];
            time = (time + rng.gen_range(1..=steps)) % NUMBERS;
        }
        assert!(counts[..6].iter().all(|count| *count > 100), "{counts:?}");
        assert!(sizes.contains(&1) && sizes.last() >= Some(&most.min(12)), "{sizes:?} of {most}");
    }
}

impl Model {
    fn size(&mut self, trip: u64, least: u64, most: u64) {
        if trip > least + 3_072 {
            self.allowed -= (self.allowed / 4).max(1);
        } else if self.filled {
            self.allowed += match (2 * trip < 3 * least, self.quick) {
                (true, true) => self.allowed,
                (true, false) => (self.allowed / 4).max(1),
                (false, _) => 1,
            };
        }
        self.allowed = self.allowed.clamp(1, most);
    }

    fn halve(&mut self, always: bool) {
        if always || self.mark.is_none() {
            let floor = if always { 1 } else { self.allowed.min(8_192 >> self.mtu) };
            self.allowed = (self.allowed / 2).max(floor);
            (self.mark, self.quick) = (Some(self.top), false);
        }
        self.timed = None;
    }
}

/// A sender that always has packets, on a way of so many cycles at least that carries one packet in
/// `gap` cycles, where so many have room: packets that are lost, of all, and the largest window.
fn way(gap: u64, cycles: u64, room: usize, loss: f64) -> (f64, f64, u64) {
    let mut rng = random("send_window_way");
    let mut uut = SendWindow::default();
    reset!(uut);
    uut.window.next = 32.into();
    begin(&mut uut, 3);
    uut.opens.next = true;
    uut.mtu.next = 10.into();
    tick!(uut);
    uut.opens.next = false;
    let (mut oldest, mut upcoming, mut top) = (0u64, 0u64, 0u64);
    // When the way is free; acknowledgements: when, and to which packet, or that it was lost
    let (mut free, mut on_the_way) = (0u64, std::collections::VecDeque::<(u64, u64, bool)>::new());
    let (mut expected, mut told) = (0u64, false);
    let (mut sent, mut lost, mut most) = (0u64, 0u64, 0);
    let end = 400_000u64;
    let mut expires = 0;
    for time in 0..end {
        begin(&mut uut, 3);
        uut.time.next = time.into();
        uut.under_way.next = (upcoming - oldest).into();
        let mut next = (oldest, upcoming, top);
        let due = on_the_way.front().copied().filter(|(due, ..)| *due <= time);
        uut.oldest.next = oldest.into();
        uut.upcoming.next = upcoming.into();
        uut.top.next = top.into();
        settle(&mut uut);
        let may_send = uut.may_send.val() && time % 5 == 0;
        if let Some((_, number, good)) = due {
            on_the_way.pop_front();
            // The peer's ACK of each packet, or its NAK
            let answer = match (number == expected, good) {
                (true, true) => {
                    expected += 1;
                    told = false;
                    Some((expected, false))
                }
                (true, false) => None,
                _ if number > expected && good && !told => {
                    told = true;
                    Some((expected, true))
                }
                _ if number < expected => Some((expected, false)),
                _ => None,
            };
            if let Some((behind, is_nak)) = answer.filter(|(behind, is_nak)| *behind > oldest || *is_nak) {
                uut.moves.next = behind > oldest;
                uut.loses.next = is_nak;
                next = (behind, if is_nak { behind } else { upcoming.max(behind) }, top);
                expires = time + 6_000;
            }
        } else if upcoming > oldest && time > expires {
            uut.expires.next = true;
            uut.wakes.next = true;
            next.1 = oldest;
            expires = time + 6_000;
        } else if may_send {
            let is_lost = free.saturating_sub(time) > gap * room as u64 || rng.gen_bool(loss);
            sent += 1;
            lost += u64::from(is_lost);
            if !is_lost {
                free = free.max(time) + gap;
            }
            on_the_way.push_back((free.max(time) + cycles, upcoming, !is_lost));
            uut.sent.next = true;
            uut.number.next = upcoming.into();
            uut.fresh.next = upcoming == top;
            uut.asks.next = true;
            if upcoming == oldest {
                expires = time + 6_000;
            }
            next.1 = upcoming + 1;
            next.2 = top.max(next.1);
        }
        (oldest, upcoming, top) = next;
        uut.oldest.next = oldest.into();
        uut.upcoming.next = upcoming.into();
        uut.top.next = top.into();
        settle(&mut uut);
        most = most.max(upcoming - oldest);
        tick!(uut);
    }
    (lost as f64 / sent as f64, expected as f64 * gap as f64 / end as f64, most)
}

/// The whole wire is used: of one's own, of a slow one, of one that loses packets at random, and of
/// one whose queue has room for few, where hardly any is lost.
#[test]
fn fills_the_way() {
    let (lost, used, most) = way(90, 600, 64, 0.0);
    assert!(lost == 0.0 && used > 0.98 && most <= 32, "its own: {lost} {used} {most}");
    // A slow one: the queue is kept short, 3,072 cycles.
    let (lost, used, most) = way(600, 600, 64, 0.0);
    assert!(lost == 0.0 && used > 0.98 && most < 12, "slow: {lost} {used} {most}");
    // One with less room than that: it is lost packets that halve the window.
    let (lost, used, _) = way(90, 600, 16, 0.0);
    assert!(lost < 0.08 && used > 0.8, "a short queue: {lost} {used}");
    let (lost, used, _) = way(90, 600, 64, 0.01);
    assert!(lost < 0.02 && used > 0.8, "losses: {lost} {used}");
}
