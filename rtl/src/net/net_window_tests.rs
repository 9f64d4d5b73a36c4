//! The window against a model of it.

use super::*;
use crate::memory::testing::random;
use crate::testing::{reset, settle, tick};
use crate::types::event;
use rand::Rng;

/// What the window must show of a hart.
#[derive(Clone, Default)]
struct Model {
    buffer: [u32; 16],
    no_room: bool,
    under_way: Vec<u32>,
    errors: u32,
    code: u32,
    contexts: [(u32, u32); 4],
}

impl Model {
    fn status(&self) -> u32 {
        u32::from(self.no_room) << 31 | (self.under_way.len() as u32) << 16 | self.errors << 8 | self.code
    }

    fn fails(&mut self, code: u32) {
        self.errors = (self.errors + 1) & 255;
        self.code = code;
    }

    fn ends(&mut self, context: usize, code: u32) {
        let (count, last) = &mut self.contexts[context];
        *count = (*count + 1) & 255;
        *last = code;
        if code != 1 {
            self.fails(code);
        }
    }

    fn context(&self) -> u32 {
        self.buffer[0] >> 12 & 3
    }
}

/// Harts write their buffers, post and look, and withdraw what waits; commands complete in any
/// cycle, those of others too. Nothing is posted twice, or half, or for another hart, and a hart
/// with room is never turned away.
#[test]
fn harts_post_and_see_what_became_of_it() {
    for entries in [1, 2, 4, 8] {
        harts_post(entries, if entries == 8 { 60_000 } else { 20_000 });
    }
}

/// The same for harts that may have so many commands of their own under way, in so many cycles.
fn harts_post(entries: usize, cycles: u32) {
    let mut rng = random(&format!("net_window_{entries}"));
    let mut uut = NetWindow::new(4, 3, entries);
    reset!(uut);
    let mut model: [Model; 4] = Default::default();
    for hart in 0..4u64 {
        for word in 0..16u64 {
            uut.access.valid.next = true;
            uut.access.write.next = true;
            uut.access.address.next = (window::BUFFER + 4 * word).into();
            uut.access.data.next = 0.into();
            uut.select.of_window.next = true;
            uut.select.hart.next = hart.into();
            tick!(uut);
        }
    }
    // Hart, of the window, write, address, data
    let mut access: Option<(usize, bool, bool, u64, u32)> = None;
    let (mut posted, mut refused, mut withdrawn, mut failed, mut met, mut unknown, mut passed) =
        (0, 0, 0, 0, 0, 0, 0);
    for cycle in 0..cycles {
        if access.is_none() && rng.gen_bool(0.8) {
            let hart = rng.gen_range(0..4);
            let (write, address) = match rng.gen_range(0..12) {
                0..=2 => (rng.gen_bool(0.7), window::BUFFER + 4 * rng.gen_range(0..16)),
                3..=6 => (true, window::POST),
                7 | 8 => (false, window::OWN_STATUS),
                9 | 10 => (false, window::OWN_CONTEXT + 4 * rng.gen_range(0..4)),
                // What waits for commands of the queues has a test of its own.
                _ => (rng.gen(), 4 * rng.gen_range(4..1024)),
            };
            let mut data = rng.gen();
            if address == window::POST && rng.gen_bool(0.8) {
                data = data & !0xf0f0 | 1 << 12;
            }
            access = Some((hart, rng.gen_bool(0.9), write, address, data));
        }
        let withdraws = access.is_some() && rng.gen_bool(0.05);
        if withdraws {
            access = None;
            withdrawn += 1;
        }
        let (hart, of_window, write, address, data) = access.unwrap_or((0, rng.gen(), rng.gen(), 0, 0));
        uut.access.valid.next = access.is_some();
        uut.access.write.next = write;
        uut.access.address.next = address.into();
        uut.access.data.next = u64::from(data).into();
        uut.select.of_window.next = of_window;
        uut.select.hart.next = (hart as u64).into();
        let enable = rng.gen_bool(0.95);
        uut.posts.enable.next = enable;
        let ready = rng.gen_bool(0.5);
        uut.posts.ready.next = ready;
        let (register_done, register_value) = (rng.gen_bool(0.5), rng.gen::<u32>());
        let register_known = rng.gen();
        uut.registers.done.next = register_done;
        uut.registers.value.next = u64::from(register_value).into();
        uut.registers.known.next = register_known;

        // A command completes: one of a hart, in any order, or one of somebody else.
        let full = cycle / 500 % 2 == 0;
        let ended = rng.gen_range(0..4usize);
        let ends = !model[ended].under_way.is_empty() && rng.gen_bool(if full { 0.02 } else { 0.4 });
        let code = if rng.gen_bool(0.7) { 1 } else { rng.gen_range(0x80..0x8b) };
        let mut context = rng.gen_range(0..4u32);
        let mut owner = [0u64, 16, 17, 1023, 24][rng.gen_range(0..5)];
        if ends {
            let place = rng.gen_range(0..model[ended].under_way.len());
            context = model[ended].under_way[place];
            owner = 1 + ended as u64;
        }
        uut.posts.completed.next = ends || rng.gen_bool(0.1);
        uut.posts.owner.next = owner.into();
        uut.posts.context.next = u64::from(context).into();
        uut.posts.code.next = u64::from(code as u32).into();
        settle(&mut uut);

        let here = access.is_some() && of_window;
        assert_eq!(uut.registers.valid.val(), access.is_some() && !of_window, "cycle {cycle}");
        let of_hart = &model[hart];
        let kind = data >> 12 & 15;
        let nowhere = data & 0xf0 != 0 || !enable;
        let is_post = here && write && address == window::POST;
        let offers = is_post && kind == 1 && !nowhere && of_hart.under_way.len() < entries;
        assert_eq!(uut.posts.valid.val(), offers, "cycle {cycle}");
        if offers {
            let post = uut.posts.command.val();
            let words = num_bigint::BigUint::from(post.words).to_u32_digits();
            let expected = num_bigint::BigUint::new(of_hart.buffer[..8].to_vec()).to_u32_digits();
            assert_eq!(words, expected);
            let rest =
                [post.pair.to_u32(), post.region.to_u32(), post.domain.to_u32(), post.context.to_u32()];
            assert_eq!(rest, [data & 15, data >> 8 & 15, data >> 24 & 15, of_hart.context()]);
            assert_eq!(post.owner.to_u64(), 1 + hart as u64);
        }
        let fails = is_post && (kind != 1 || nowhere);
        let at_context = here && (address & !0xc) == window::OWN_CONTEXT;
        let waits = ends && (fails || at_context);
        met += u32::from(waits);
        let done = if of_window { here && !waits && (!offers || ready) } else { register_done };
        assert_eq!(uut.access.done.val(), done, "cycle {cycle}");
        if access.is_some() && !of_window {
            passed += 1;
            assert_eq!(uut.access.value.val().to_u32(), register_value);
            assert_eq!(uut.access.known.val(), register_known);
            assert_eq!(uut.registers.address.val().to_u64(), address);
            assert_eq!(uut.registers.write.val(), write);
            assert_eq!(uut.registers.data.val().to_u32(), data);
        }
        if here && done {
            let place = (address / 4) as usize & 15;
            let found = match address {
                window::POST if write => Some(None),
                window::OWN_STATUS if !write => Some(Some(of_hart.status())),
                0x20..=0x2c if !write => {
                    let (count, code) = of_hart.contexts[place & 3];
                    Some(Some(count << 8 | code))
                }
                window::BUFFER..=0x7c if write => Some(None),
                window::BUFFER..=0x7c => Some(Some(of_hart.buffer[place])),
                _ => None,
            };
            unknown += u32::from(found.is_none());
            assert_eq!(uut.access.known.val(), found.is_some(), "{address:#x} {write}");
            if let Some(Some(value)) = found {
                assert_eq!(uut.access.value.val().to_u32(), value, "cycle {cycle}: {address:#x}");
            }
        }
        // The edge
        if ends {
            let place = model[ended].under_way.iter().position(|under_way| *under_way == context).unwrap();
            model[ended].under_way.remove(place);
            model[ended].ends(context as usize, code as u32);
        }
        if here && done {
            let of_hart = &mut model[hart];
            if write && (window::BUFFER..window::END).contains(&address) {
                of_hart.buffer[(address / 4) as usize & 15] = data;
            }
            if is_post {
                let context = of_hart.context();
                if offers {
                    of_hart.under_way.push(context);
                    posted += 1;
                } else if fails {
                    failed += 1;
                    if kind == 1 {
                        of_hart.ends(context as usize, 0x88);
                    } else {
                        of_hart.fails(if matches!(kind, 0 | 7) { 0x88 } else { 0x80 });
                    }
                } else {
                    refused += 1;
                }
                if kind == 1 && !nowhere {
                    of_hart.no_room = !offers;
                }
            }
        }
        if done {
            access = None;
        }
        tick!(uut);
    }
    let enough = |count: u32, of_60_000: u32| count > of_60_000 * cycles / 60_000;
    assert!(
        enough(posted, 3_000) && enough(refused, 500) && enough(withdrawn, 1_000) && enough(failed, 1_000),
        "{entries}: {posted} {refused} {withdrawn} {failed}"
    );
    assert!(
        enough(met, 100) && enough(unknown, 500) && enough(passed, 1_000),
        "{entries}: {met} {unknown} {passed}"
    );
}

/// Two harts take commands from the queues with NEXT, post and end them; a read without a command
/// is told to be repeated, and one of a hart that is to wake gets "nothing".
#[test]
fn harts_take_commands_of_the_queues() {
    const NOTHING: u64 = 0xc000_0000;
    let mut rng = random("net_window_next");
    let mut uut = NetWindow::new(2, 3, 8);
    reset!(uut);
    uut.posts.enable.next = true;
    uut.select.of_window.next = true;
    // Buffers that are being filled, commands that wait, and what each hart has: queue, word 0,
    // buffer
    let mut filling: Vec<(u64, u32, u64)> = vec![];
    let mut waiting: std::collections::VecDeque<(u64, u32, u64)> = Default::default();
    let mut taken: [Option<(u64, u32, u64)>; 2] = [None; 2];
    let mut returning: Vec<(u64, u64)> = vec![];
    let mut gone: Vec<(u64, u64)> = vec![];
    let mut errors = [0u64; 2];
    let (
        mut given,
        mut parked,
        mut stood,
        mut nothing,
        mut posted,
        mut ended,
        mut returned,
        mut dropped,
        mut late,
    ) = (0, 0, 0, 0, 0, 0, 0, 0, 0);
    let mut told: Option<(u64, u64, u64, u64)> = None;
    let mut access: Option<(usize, bool, u64, u64)> = None;
    for cycle in 0..30_000 {
        uut.stage.claim.next = false;
        uut.stage.fill.next = false;
        uut.stage.stage.next = false;
        uut.stage.drop.next = false;
        // A line is fetched, comes, and is staged.
        settle(&mut uut);
        if uut.stage.free.val() && rng.gen_bool(0.2) {
            uut.stage.claim.next = true;
            let operation = [1, 2, 4, 5, 0x41, 0x7f][rng.gen_range(0..6)];
            let word = operation | rng.gen_range(0..4) << 12 | rng.gen_range(0..64) << 16;
            filling.push((rng.gen_range(0..64), word, uut.stage.free_buffer.val().to_u64()));
        }
        if !filling.is_empty() && rng.gen_bool(0.3) {
            let (queue, word, buffer) = filling.remove(0);
            uut.stage.fill.next = true;
            uut.stage.fill_buffer.next = buffer.into();
            uut.stage.fill_data.next = u64::from(word).into();
            uut.access.valid.next = false;
            uut.stage.event_ready.next = false;
            uut.select.hold.next = 0.into();
            settle(&mut uut);
            tick!(uut);
            uut.stage.claim.next = false;
            uut.stage.fill.next = false;
            uut.stage.stage.next = true;
            uut.stage.staged.next.buffer = buffer.into();
            uut.stage.staged.next.queue = queue.into();
            uut.stage.staged.next.operation = u64::from(word & 255).into();
            uut.stage.staged.next.context = u64::from(word >> 12 & 3).into();
            uut.stage.staged.next.node = u64::from(word >> 16 & 63).into();
            waiting.push_back((queue, word, buffer));
            tick!(uut);
            uut.stage.stage.next = false;
            continue;
        }
        // A queue is switched off: its command is given to nobody, and nobody posts it.
        if rng.gen_bool(0.01) {
            if let Some(hart) = (0..2).find(|hart| {
                taken[*hart].is_some_and(|taken| !returning.iter().any(|back| back.1 == taken.2))
            }) {
                let (queue, _, buffer) = taken[hart].take().unwrap();
                gone.push((queue, buffer));
                uut.stage.drop.next = true;
                uut.stage.event_ready.next = false;
                uut.select.hold.next = 0.into();
                uut.stage.drop_buffer.next = buffer.into();
                uut.access.valid.next = false;
                access = None;
                dropped += 1;
                tick!(uut);
                uut.stage.drop.next = false;
                continue;
            }
        }
        let hold = if rng.gen_bool(0.01) { rng.gen_range(0..2usize) } else { 2 };
        uut.select.hold.next = (1u64 << hold & 3).into();
        if hold < 2 {
            if let Some((queue, _, buffer)) = taken[hold].take() {
                returning.push((queue, buffer));
            }
            access = access.filter(|access| access.0 != hold);
        }
        if access.is_none() && rng.gen_bool(0.7) {
            let hart = rng.gen_range(0..2usize);
            if hart != hold {
                access = Some(match rng.gen_range(0..5) {
                    0 | 1 => (hart, false, window::NEXT, 0),
                    2 => (hart, false, window::NEXT_NOW, 0),
                    3 => (hart, true, window::POST, 0x302),
                    _ => (hart, true, window::POST, 0x8100_7000),
                });
            }
        }
        let (hart, write, address, data) = access.unwrap_or((0, false, window::BUFFER, 0));
        let wakes = rng.gen_bool(0.1);
        uut.access.valid.next = access.is_some();
        uut.access.write.next = write;
        uut.access.address.next = address.into();
        uut.access.data.next = data.into();
        uut.select.hart.next = (hart as u64).into();
        uut.select.wake.next = wakes;
        let coming = rng.gen_bool(0.3);
        uut.stage.coming.next = coming;
        uut.posts.ready.next = rng.gen_bool(0.5);
        uut.stage.event_ready.next = rng.gen_bool(0.5);
        settle(&mut uut);
        // What is told to the queues
        if uut.stage.event_valid.val() && uut.stage.event_ready.val() {
            let told_now = uut.stage.event.val();
            let (kind, queue, buffer) =
                (told_now.kind.to_u64(), told_now.queue.to_u64(), told_now.buffer.to_u64());
            if kind == event::GIVE_BACK {
                // What was dropped may be given back too: its queue does not hold it any more.
                match returning.iter().position(|back| *back == (queue, buffer)) {
                    Some(place) => drop(returning.remove(place)),
                    None => assert!(
                        gone.contains(&(queue, buffer)),
                        "cycle {cycle}: {queue} {buffer} {returning:?} {taken:?}"
                    ),
                }
                returned += 1;
            } else {
                let expected = told.take().expect("one was posted");
                assert_eq!((kind, queue, buffer), (expected.0, expected.1, expected.2), "cycle {cycle}");
                assert!(kind == event::TAKE || told_now.code.to_u64() == expected.3);
            }
        }
        if access.is_some() {
            let is_next = address != window::POST;
            let done = uut.access.done.val();
            if is_next && taken[hart].is_some() {
                assert!(!done && !uut.select.parks.val());
                let (queue, _, buffer) = taken[hart].take().unwrap();
                returning.push((queue, buffer));
            } else if is_next && done {
                let value = uut.access.value.val().to_u64();
                if value == NOTHING {
                    assert!(address == window::NEXT_NOW || wakes);
                    nothing += 1;
                } else {
                    let next = waiting.pop_front().expect("one waits");
                    let (queue, word, _) = next;
                    let word = u64::from(word);
                    let special = if word & 0x40 != 0 { 5 << 29 } else { 0 };
                    let expected = special | (word & 15) << 25 | queue >> 3 << 8 | (word >> 16 & 63) << 2;
                    assert_eq!(value, expected, "cycle {cycle}");
                    taken[hart] = Some(next);
                    given += 1;
                }
            } else if is_next && uut.select.parks.val() {
                assert!(address == window::NEXT && !wakes && !coming);
                parked += 1;
                access = None;
            } else if is_next {
                // One comes within a few cycles, or one that the hart had is being given back.
                stood += usize::from(address == window::NEXT && !wakes && coming && returning.is_empty());
            } else if !is_next && done {
                match taken[hart].take() {
                    Some((queue, word, buffer)) => {
                        let ends = data >> 12 & 15 == 7;
                        assert!(told.is_none());
                        told = Some((if ends { event::END } else { event::TAKE }, queue, buffer, 0x81));
                        if ends {
                            assert!(!uut.posts.valid.val());
                            ended += 1;
                        } else {
                            let post = uut.posts.command.val();
                            assert!(uut.posts.valid.val() && uut.posts.ready.val());
                            assert_eq!(post.owner.to_u64(), 16 + queue);
                            assert_eq!(post.domain.to_u64(), queue >> 3);
                            assert_eq!(post.words.get_bits::<32>(0).to_u64(), u64::from(word));
                            assert_eq!(post.context.to_u64(), u64::from(word >> 12 & 3));
                            posted += 1;
                        }
                    }
                    None => {
                        assert!(!uut.posts.valid.val());
                        errors[hart] += 1;
                        late += 1;
                    }
                }
            }
            if done {
                access = None;
            }
        }
        tick!(uut);
    }
    let counts = [given, parked, nothing, posted, ended, returned, dropped, late, stood];
    assert!(counts.iter().all(|count| *count > 30), "{counts:?}");
    uut.select.hold.next = 0.into();
    for (hart, errors) in errors.into_iter().enumerate() {
        uut.access.valid.next = true;
        uut.access.write.next = false;
        uut.access.address.next = window::OWN_STATUS.into();
        uut.select.hart.next = (hart as u64).into();
        settle(&mut uut);
        assert_eq!(uut.access.value.val().to_u64(), (errors & 255) << 8 | 0x88);
    }
}
