//! The window against a model of it.

use super::*;
use crate::memory::testing::{random, reset, settle, tick};
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

/// Harts write their buffers, post and look, and withdraw what waits; commands complete in any cycle, those of others too. Nothing is
/// posted twice, or half, or for another hart, and a hart with room is never turned away.
#[test]
fn harts_post_and_see_what_became_of_it() {
    let mut rng = random("net_window");
    let mut uut = NetWindow::new(4, 3);
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
    for cycle in 0..60_000 {
        if access.is_none() && rng.gen_bool(0.8) {
            let hart = rng.gen_range(0..4);
            let (write, address) = match rng.gen_range(0..12) {
                0..=2 => (rng.gen_bool(0.7), window::BUFFER + 4 * rng.gen_range(0..16)),
                3..=6 => (true, window::POST),
                7 | 8 => (false, window::OWN_STATUS),
                9 | 10 => (false, window::OWN_CONTEXT + 4 * rng.gen_range(0..4)),
                _ => (rng.gen(), 4 * rng.gen_range(0..1024)),
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
        let offers = is_post && kind == 1 && !nowhere && of_hart.under_way.len() < 8;
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
                        of_hart.fails(0x80);
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
    assert!(
        posted > 3_000 && refused > 500 && withdrawn > 1_000 && failed > 1_000,
        "{posted} {refused} {withdrawn} {failed}"
    );
    assert!(met > 100 && unknown > 500 && passed > 1_000, "{met} {unknown} {passed}");
}
