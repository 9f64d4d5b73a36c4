//! The assertions that are emitted beside the Verilog fire at a fault, and at nothing else. That
//! they hold in a whole array is a test of the test bench (`array_stress`).

mod mutants;
mod units;

use hermes_artefacts::checks;
use hermes_hdl::emit::emit;
use hermes_hdl::prelude::*;
use hermes_rtl::blocks::{QueuePointers, RoundRobin, SyncFifo};
use verilator_sys::{Model, ModelOptions};

/// Plays `inputs`, a cycle each, to a unit whose text has `find` in the place of `replace`; the
/// error with which an assertion ends it.
fn play(
    unit: &impl Block,
    top: &str,
    fault: Option<(&str, &str)>,
    inputs: &[&[(&str, u64)]],
) -> Option<String> {
    let design = emit(unit, top).unwrap();
    let mut verilog = design.verilog();
    if let Some((find, replace)) = fault {
        assert_eq!(verilog.matches(find).count(), 1, "{find} in:\n{verilog}");
        verilog = verilog.replace(find, replace);
    }
    let options = ModelOptions { verilator_flags: vec!["--assert".to_string()], ..ModelOptions::new(top) };
    let mut model = Model::build(&(verilog + &checks(&design)), &options).unwrap().instantiate().unwrap();
    let clock = model.input("clk", 1).unwrap();
    let width = |name: &str| design.ports.iter().find(|port| port.name == name).unwrap().width;
    for cycle in inputs {
        for (name, value) in *cycle {
            let input = model.input(name, width(name)).unwrap();
            model.set_u64(input, *value);
        }
        if let Err(error) = model.tick(clock) {
            return Some(error.to_string());
        }
    }
    None
}

/// Reset, two words in, none out for some cycles, another one in, then all out.
const WORDS: [&[(&str, u64)]; 10] = [
    &[("rst", 1), ("push_valid", 0), ("push_data", 0), ("pop_ready", 0)],
    &[("rst", 0)],
    &[("push_valid", 1), ("push_data", 5)],
    &[("push_data", 9)],
    &[("push_valid", 0)],
    &[],
    &[("push_valid", 1), ("push_data", 3)],
    &[("push_valid", 0)],
    &[("pop_ready", 1)],
    &[],
];

#[test]
fn a_fifo_that_shows_a_word_and_takes_it_back_is_noticed() {
    let fifo = || SyncFifo::<Bits<4>, 2, 3>::default();
    assert_eq!(play(&fifo(), "sync_fifo", None, &WORDS), None);
    let fault = ("assign pop_valid = shown;", "assign pop_valid = shown && !push_valid;");
    let error = play(&fifo(), "sync_fifo", Some(fault), &WORDS).expect("the assertion fires");
    assert!(error.contains("stop"), "{error}");
}

#[test]
fn two_grants_at_once_are_noticed() {
    let inputs: [&[(&str, u64)]; 3] =
        [&[("rst", 1), ("request", 0), ("advance", 0)], &[("rst", 0)], &[("request", 6)]];
    assert_eq!(play(&RoundRobin::default(), "round_robin", None, &inputs), None);
    let fault = ("assign grant = choice;", "assign grant = request;");
    play(&RoundRobin::default(), "round_robin", Some(fault), &inputs).expect("the assertion fires");
}

/// The owner of a queue is at fault: inputs of the unit break what it says.
#[test]
fn a_push_while_full_and_a_pop_while_empty_are_noticed() {
    let queue = || QueuePointers::<1>::default();
    let inputs: [&[(&str, u64)]; 7] = [
        &[("rst", 1), ("push", 0), ("pop", 0)],
        &[("rst", 0), ("push", 1)],
        &[("pop", 1)],
        &[("pop", 0)],
        &[("push", 0)],
        &[("pop", 1)],
        &[],
    ];
    assert_eq!(play(&queue(), "queue_pointers", None, &inputs), None);
    for cycle in [4, 7] {
        // One push, or pop, more
        let mut more = inputs.to_vec();
        more.insert(cycle, &[]);
        let error = play(&queue(), "queue_pointers", None, &more).expect("the assertion fires");
        assert!(error.contains("stop"), "{error}");
    }
}

/// A number that is offered.
#[derive(Ports)]
#[held]
pub struct Offer {
    /// It is here, until it is taken.
    pub valid: Signal<Out, Bit>,
    /// It is taken at this edge.
    pub ready: Signal<In, Bit>,
    /// The number.
    pub number: Signal<Out, Bits<8>>,
}

/// Offers numbers to two, to each the ones behind another.
#[derive(LogicBlock)]
pub struct Givers {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// To each of the two.
    #[count(2)]
    pub offers: Vec<Offer>,
    #[count(2)]
    numbers: Vec<Register<Bits<8>>>,
}

impl Logic for Givers {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..2 {
            self.offers[i].valid.next = self.numbers[i].q.val().get_bit(0);
            self.offers[i].number.next = self.numbers[i].q.val();
            if self.offers[i].ready.val() || !self.numbers[i].q.val().get_bit(0) {
                self.numbers[i].d.next = self.numbers[i].q.val() + 1;
            }
        }
    }
}

/// Givers as a unit inside another.
#[derive(LogicBlock)]
pub struct Around {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Whose number is taken.
    #[count(2)]
    pub takes: Vec<Signal<In, Bit>>,
    /// The sum of the two numbers.
    pub number: Signal<Out, Bits<8>>,
    givers: Givers,
}

impl Logic for Around {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..2 {
            self.givers.offers[i].ready.next = self.takes[i].val();
        }
        self.number.next = self.givers.offers[0].number.val() + self.givers.offers[1].number.val();
    }
}

/// A group with the mark, in a vector, of a unit inside: each element is looked at by itself.
#[test]
fn what_a_marked_group_takes_back_is_noticed() {
    let inputs: [&[(&str, u64)]; 10] = [
        &[("rst", 1), ("takes", 0)],
        &[("rst", 0)],
        &[],
        &[],
        &[("takes", 1)],
        &[],
        &[],
        &[("takes", 2)],
        &[("takes", 3)],
        &[],
    ];
    assert_eq!(play(&Around::default(), "around", None, &inputs), None);
    let valid = ("{numbers_1[0], numbers_0[0]}", "{numbers_1[0] && !offers_ready[0], numbers_0[0]}");
    let number = ("{numbers_1, numbers_0}", "{numbers_1 + numbers_0, numbers_0}");
    for fault in [valid, number] {
        let error = play(&Around::default(), "around", Some(fault), &inputs);
        assert!(error.is_some_and(|error| error.contains("stop")), "{fault:?}");
    }
}
