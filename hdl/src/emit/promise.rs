//! What modules promise of their ports.

use super::unit_info::Description;

/// What the declaration of a unit, or of a group of its ports, promises of ports of its module.
/// `hermes_artefacts::checks` makes assertions of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Each bit of `valid` stays until its bit of `ready` is high, and so does its part of the
    /// payload.
    Held {
        /// A port.
        valid: String,
        /// One of the other direction, as wide.
        ready: String,
        /// Ports of as many elements, side by side.
        payload: Vec<String>,
    },
    /// At most one bit of an output is set.
    OneHot {
        /// The port.
        port: String,
    },
    /// Two ports are never both high at an edge: an input that its owner must not set while the
    /// unit says so.
    Never {
        /// A port of one bit.
        first: String,
        /// Another one.
        second: String,
    },
    /// What `always!(name, condition)` in the kernel says: a condition of the unit's own signals
    /// that holds at each edge without reset.
    Always {
        /// The name.
        name: String,
        /// The condition, in Verilog, over names of the module.
        holds: String,
    },
}

/// What `description` promises, where `port` gives the name of the port of a field.
pub fn promises(description: &Description, port: impl Fn(&str) -> Option<String>) -> Vec<Promise> {
    let held = description.held.iter().filter_map(|names| {
        let [valid, ready, payload @ ..] = names.as_slice() else { return None };
        let payload = payload.iter().filter_map(|path| port(path)).collect();
        Some(Promise::Held { valid: port(valid)?, ready: port(ready)?, payload })
    });
    let one_hot = description.one_hot.iter().filter_map(|path| Some(Promise::OneHot { port: port(path)? }));
    let never = description.never.iter().filter_map(|names| {
        let [first, second] = names.as_slice() else { return None };
        Some(Promise::Never { first: port(first)?, second: port(second)? })
    });
    held.chain(one_hot).chain(never).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::emit;
    use crate::prelude::*;

    /// A word that is offered.
    #[derive(Ports)]
    #[held]
    pub struct Offer {
        /// A word is here.
        pub valid: Signal<Out, Bit>,
        /// It is taken.
        pub ready: Signal<In, Bit>,
        /// It.
        pub word: Signal<Out, Bits<4>>,
        /// Words that were taken.
        pub taken: Signal<In, Bits<8>>,
    }

    /// Two channels, of which the tag of the second may change.
    #[derive(Ports)]
    #[held(first_valid, first_ready, first_tag)]
    #[held(second_valid, second_ready, second_word)]
    pub struct Channels {
        pub first_valid: Signal<Out, Bit>,
        pub first_ready: Signal<In, Bit>,
        pub first_tag: Signal<Out, Bits<2>>,
        pub second_valid: Signal<Out, Bit>,
        pub second_ready: Signal<In, Bit>,
        pub second_tag: Signal<Out, Bits<2>>,
        pub second_word: Signal<Out, Bits<4>>,
    }

    const LAST: u64 = 15;

    /// Offers its count, to one after the other.
    #[derive(LogicBlock)]
    #[held(lone_valid, lone_ready, lone_word)]
    #[never(lone_valid, lone_ready)]
    pub struct Giver {
        pub clock: Signal<In, Clock>,
        pub reset: Signal<In, Bit>,
        #[count(2)]
        pub offers: Vec<Offer>,
        pub taker: Flipped<Offer>,
        pub channels: Channels,
        pub lone_valid: Signal<Out, Bit>,
        pub lone_ready: Signal<In, Bit>,
        pub lone_word: Signal<Out, Bits<4>>,
        #[one_hot]
        pub turn: Signal<Out, Bits<2>>,
        count: Register<Bits<4>>,
    }

    impl Logic for Giver {
        #[hdl_gen]
        fn update(&mut self) {
            always!(lone_word_is_kept, !self.lone_ready.val() || self.count.q.val() != bits::<4>(LAST));
            for i in 0..2 {
                always!(none_is_taken_alone, self.offers[i].ready.val() || !self.lone_ready.val());
                self.offers[i].valid.next = true;
                self.offers[i].word.next = self.count.q.val();
            }
            self.taker.ready.next = true;
            self.taker.taken.next = 0.into();
            self.channels.first_valid.next = self.taker.valid.val();
            self.channels.first_tag.next = 0.into();
            self.channels.second_valid.next = false;
            self.channels.second_tag.next = 0.into();
            self.channels.second_word.next = self.taker.word.val();
            self.lone_valid.next = true;
            self.lone_word.next = self.count.q.val();
            self.turn.next = 1.into();
            if self.lone_ready.val() {
                self.count.d.next = self.count.q.val() + 1;
            }
        }
    }

    /// Counts; has conditions on what its Verilog does not hold.
    #[clocked]
    #[derive(LogicBlock, Default)]
    pub struct Counter {
        pub number: Signal<Out, Bits<4>>,
        count: Register<Bits<4>>,
        idle: Register<Bits<4>>,
        _reads: usize,
    }

    impl Logic for Counter {
        #[hdl_gen]
        fn update(&mut self) {
            if self._reads == 0 {
                always!(idle_is_zero, !self.idle.q.val().any());
            } else {
                let sum = self.count.q.val() + bits::<4>(1);
                always!(sum_is_small, !sum.get_bit(3));
            }
            always!(below_two, self._reads > 5 || self.count.q.val() != bits::<4>(2));
            self.count.d.next = self.count.q.val() + bits::<4>(1);
            self.number.next = self.count.q.val();
        }
    }

    #[test]
    fn a_condition_reads_only_what_the_module_has() {
        for reads in 0..2 {
            let unit = Counter { _reads: reads, ..Counter::default() };
            let promises = emit(&unit, "counter").unwrap().modules.remove(0).promises;
            let below = Promise::Always { name: "below_two".to_string(), holds: "count != 4'd2".to_string() };
            assert_eq!(promises, [below]);
        }
    }

    #[test]
    #[should_panic(expected = "below_two does not hold")]
    fn a_condition_that_does_not_hold_ends_a_native_test() {
        let mut unit = Counter { _reads: 2, ..Counter::default() };
        for _ in 0..3 {
            for level in [false, true] {
                unit.clock.next = Clock { clk: level };
                crate::testing::settle(&mut unit);
            }
        }
    }

    #[test]
    fn what_groups_and_units_promise_is_that_of_the_module() {
        let design = emit(&Giver::default(), "giver").unwrap();
        let held = |valid: &str, ready: &str, payload: &[&str]| Promise::Held {
            valid: valid.to_string(),
            ready: ready.to_string(),
            payload: payload.iter().map(|name| (*name).to_string()).collect(),
        };
        let always =
            |name: &str, holds: &str| Promise::Always { name: name.to_string(), holds: holds.to_string() };
        let expected = [
            held("lone_valid", "lone_ready", &["lone_word"]),
            held("offers_valid", "offers_ready", &["offers_word"]),
            held("taker_valid", "taker_ready", &["taker_word"]),
            held("channels_first_valid", "channels_first_ready", &["channels_first_tag"]),
            held("channels_second_valid", "channels_second_ready", &["channels_second_word"]),
            Promise::OneHot { port: "turn".to_string() },
            Promise::Never { first: "lone_valid".to_string(), second: "lone_ready".to_string() },
            always("lone_word_is_kept", "!lone_ready || (count != 4'd15)"),
            always(
                "none_is_taken_alone",
                "(offers_ready[0] || !lone_ready) && (offers_ready[1] || !lone_ready)",
            ),
        ];
        assert_eq!(design.modules.last().unwrap().promises, expected);
        assert!(!design.verilog().contains("LAST"), "the module has nothing of a condition");
    }
}
