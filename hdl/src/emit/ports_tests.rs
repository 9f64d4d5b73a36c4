//! Groups of ports, in the simulator and in the Verilog.

use rand::RngCore as _;

use super::unit_info::{Drive as _, HandWritten};
use super::EmitError;
use crate::prelude::*;
use crate::testing::{self, check};

/// An order to count. It is offered until it is taken.
#[derive(Ports)]
pub struct Order {
    /// There is one.
    pub valid: Signal<In, Bit>,
    /// How far.
    pub step: Signal<In, Bits<4>>,
    /// It is taken at this edge.
    pub ready: Signal<Out, Bit>,
}

/// An order and what it is about.
#[derive(Ports)]
pub struct Message {
    /// What to do.
    pub order: Order,
    /// One bit for each of three matters.
    #[count(3)]
    pub about: Vec<Signal<In, Bit>>,
    /// Matters so far.
    pub seen: Signal<Out, Bits<3>>,
}

/// Takes orders in every other cycle.
#[derive(LogicBlock)]
pub struct Counter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub message: Message,
    pub total: Signal<Out, Bits<4>>,
    turn: Register<Bit>,
    sum: Register<Bits<4>>,
    seen_q: Register<Bits<3>>,
    #[init(Constant::new(3u64.into()))]
    factor: Constant<Bits<4>>,
}

impl Logic for Counter {
    #[hdl_gen]
    fn update(&mut self) {
        self.turn.d.next = !self.turn.q.val();
        self.message.order.ready.next = self.turn.q.val();
        if self.message.order.valid.val() && self.turn.q.val() {
            self.sum.d.next = self.sum.q.val() + self.message.order.step.val() + self.factor.val();
        }
        let mut seen = self.seen_q.q.val();
        for i in 0..3 {
            if self.message.about[i].val() {
                seen = seen.replace_bit(i, true);
            }
        }
        self.seen_q.d.next = seen;
        self.message.seen.next = self.seen_q.q.val();
        self.total.next = self.sum.q.val();
    }
}

/// Gives one order after the other.
#[derive(LogicBlock, Default)]
pub struct Giver {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub message: Flipped<Message>,
    step: Register<Bits<4>>,
}

impl Logic for Giver {
    #[hdl_gen]
    fn update(&mut self) {
        self.message.order.valid.next = !self.step.q.val().get_bit(0);
        self.message.order.step.next = self.step.q.val();
        for i in 0..3 {
            self.message.about[i].next = self.step.q.val().get_bit(i) && !self.message.seen.val().get_bit(i);
        }
        if self.message.order.ready.val() {
            self.step.d.next = self.step.q.val() + bits::<4>(3);
        }
    }
}

/// Groups for children, between children, and in vectors.
#[derive(LogicBlock)]
pub struct Groups {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// From outside.
    pub message: Message,
    /// To each of the others.
    #[count(2)]
    pub orders: Vec<Order>,
    /// To nobody.
    pub absent: Vec<Order>,
    #[count(4)]
    pub totals: Vec<Signal<Out, Bits<4>>>,
    first: Counter,
    second: Counter,
    giver: Giver,
    #[count(2)]
    more: Vec<Counter>,
}

impl Logic for Groups {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.message, self.first.message);
        connect!(self.giver.message, self.second.message);
        for i in 0..2 {
            connect!(self.orders[i], self.more[i].message.order);
            for k in 0..3 {
                self.more[i].message.about[k].next = self.giver.message.about[k].val();
            }
            self.totals[2 + i].next = self.more[i].total.val();
        }
        self.totals[0].next = self.first.total.val();
        self.totals[1].next = self.second.total.val();
    }
}

/// Passes vectors of groups on, in the order in which they come and back.
#[derive(LogicBlock)]
pub struct Vectors {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    #[count(2)]
    pub messages: Vec<Message>,
    #[count(2)]
    pub out: Vec<Flipped<Order>>,
    inner: Pair,
}

impl Logic for Vectors {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.messages, self.inner.messages);
        for i in 0..2 {
            self.out[i].valid.next = self.inner.totals[i].val().get_bit(0);
            self.out[i].step.next = self.inner.totals[1 - i].val();
            if self.out[i].ready.val() {
                self.out[i].step.next = self.inner.totals[i].val();
            }
        }
    }
}

/// Two counters.
#[derive(LogicBlock)]
pub struct Pair {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// To each counter.
    #[count(2)]
    pub messages: Vec<Message>,
    #[count(2)]
    pub totals: Vec<Signal<Out, Bits<4>>>,
    #[count(2)]
    counter: Vec<Counter>,
}

impl Logic for Pair {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..2 {
            connect!(self.messages[i], self.counter[i].message);
            self.totals[i].next = self.counter[i].total.val();
        }
    }
}

/// What is offered, for who only looks.
#[derive(Ports)]
#[part_of(Order)]
pub struct Offer {
    /// There is one.
    pub valid: Signal<In, Bit>,
    /// How far.
    pub step: Signal<In, Bits<4>>,
}

/// The sum of what is offered.
#[derive(LogicBlock, Default)]
pub struct Watcher {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub offer: Offer,
    pub total: Signal<Out, Bits<4>>,
    sum: Register<Bits<4>>,
}

impl Logic for Watcher {
    #[hdl_gen]
    fn update(&mut self) {
        if self.offer.valid.val() {
            self.sum.d.next = self.sum.q.val() + self.offer.step.val();
        }
        self.total.next = self.sum.q.val();
    }
}

/// Parts of groups: of one from outside, of a child's, and of one that is made of a part.
#[derive(LogicBlock)]
pub struct Parts {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub order: Order,
    /// The order of the giver, as it is seen.
    pub seen: Flipped<Offer>,
    #[count(2)]
    pub totals: Vec<Signal<Out, Bits<4>>>,
    #[count(2)]
    watcher: Vec<Watcher>,
    giver: Giver,
    counter: Counter,
}

impl Logic for Parts {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.order, self.watcher[0].offer);
        connect!(self.giver.message, self.counter.message);
        connect!(self.watcher[1].offer, self.giver.message.order);
        connect!(self.seen, self.giver.message.order);
        self.order.ready.next = self.counter.total.val().get_bit(0);
        for i in 0..2 {
            self.totals[i].next = self.watcher[i].total.val();
        }
    }
}

/// A place among others.
const SECOND: usize = 1;

/// Registers of a group between two units: what one gives the others get a cycle later, if at all.
#[derive(LogicBlock)]
pub struct Staged {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub moves: Signal<In, Bit>,
    pub seen: Seen,
    /// What is staged.
    pub staged: Flipped<Seen>,
    #[count(2)]
    pub totals: Vec<Signal<Out, Bits<4>>>,
    #[count(2)]
    watcher: Vec<Watcher>,
    stage: SeenRegisters,
    last: SeenRegisters,
}

/// What is seen of an offer.
#[derive(Ports)]
#[registers(SeenRegisters)]
#[part_of(Offer)]
pub struct Seen {
    /// There is one.
    pub valid: Signal<In, Bit>,
    /// How far.
    pub step: Signal<In, Bits<4>>,
}

impl Logic for Staged {
    #[hdl_gen]
    fn update(&mut self) {
        self.stage.enable.next = self.moves.val();
        connect!(self.seen, self.stage.d);
        self.stage.d.step.next = self.seen.step.val() + bits::<4>(1);
        connect!(self.staged, self.stage.q);
        self.last.enable.next = true;
        connect!(self.stage.q, self.last.d);
        connect!(self.stage.q, self.watcher[0].offer);
        connect!(self.last.q, self.watcher[SECOND].offer);
        for i in 0..2 {
            self.totals[i].next = self.watcher[i].total.val();
        }
    }
}

/// Passes an order on to two others; its text is written by hand.
#[derive(LogicBlock)]
pub struct Relay {
    pub order: Order,
    #[count(2)]
    pub out: Vec<Flipped<Order>>,
}

impl Logic for Relay {
    fn update(&mut self) {
        for (i, out) in self.out.iter_mut().enumerate() {
            out.valid.next = self.order.valid.val();
            out.step.next = self.order.step.val() + bits::<4>(i as u64);
        }
        self.order.ready.next = self.out.iter().all(|out| out.ready.val());
    }
    fn timing(&self) -> Vec<TimingInfo> {
        HandWritten::new("Relay", "Passes an order on to two others.", file!())
            .parameter("STEP", 4)
            .width(&["order_step"], "STEP")
            .width(&["out_step"], "2*STEP")
            .follows("out_valid", "order_valid")
            .follows("out_step", "order_step")
            .follows("order_ready", "out_ready")
            .into_timing()
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "assign out_valid = {2{order_valid}};\n\
             assign out_step = {order_step + {{STEP-1{1'b0}}, 1'b1}, order_step};\n\
             assign order_ready = &out_ready;\n"
                .to_string(),
        )
    }
}

/// Two counters behind it.
#[derive(LogicBlock)]
pub struct Relayed {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub order: Order,
    #[count(2)]
    pub totals: Vec<Signal<Out, Bits<4>>>,
    relay: Relay,
    #[count(2)]
    counter: Vec<Counter>,
}

impl Logic for Relayed {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.order, self.relay.order);
        for i in 0..2 {
            connect!(self.relay.out[i], self.counter[i].message.order);
            for k in 0..3 {
                self.counter[i].message.about[k].next = false;
            }
            self.totals[i].next = self.counter[i].total.val();
        }
    }
}

/// Its order is offered while it is taken.
#[derive(LogicBlock, Default)]
pub struct Looped {
    pub y: Signal<Out, Bit>,
    relay: Relay,
}

impl Logic for Looped {
    #[hdl_gen]
    fn update(&mut self) {
        self.relay.order.valid.next = self.relay.order.ready.val();
        self.relay.order.step.next = bits::<4>(1);
        for i in 0..2 {
            self.relay.out[i].ready.next = self.relay.out[i].valid.val();
        }
        self.y.next = self.relay.out[0].step.val().any();
    }
}

#[test]
fn ports_of_groups_of_a_module_written_by_hand_are_named_as_all_others() {
    let text = super::emit(&Relayed::default(), "relayed").unwrap().verilog();
    let ports = "\
    input  wire              order_valid,
    input  wire [STEP-1:0]   order_step,
    output wire              order_ready,
    output wire [1:0]        out_valid,
    output wire [2*STEP-1:0] out_step,
    input  wire [1:0]        out_ready
";
    assert!(text.contains(ports) && !text.contains('$'), "{text}");
    check(Relayed::default());
    let error = super::emit(&Looped::default(), "looped").unwrap_err();
    assert!(matches!(error, EmitError::CombinationalLoop { .. }), "{error}");
}

/// A port with the name that one of its group has.
#[derive(LogicBlock, Default)]
pub struct Twice {
    pub order: Order,
    pub order_ready: Signal<Out, Bit>,
}

impl Logic for Twice {
    fn update(&mut self) {}
    fn timing(&self) -> Vec<TimingInfo> {
        HandWritten::new("Twice", "Two ports of one name.", file!()).into_timing()
    }
}

#[test]
fn two_ports_of_one_name_of_a_module_written_by_hand_are_refused() {
    let error = super::emit(&Twice::default(), "twice").unwrap_err().to_string();
    let both = "twice: `order.ready` and `order_ready` would both be called `order_ready`";
    assert!(error.contains(both), "{error}");
}

#[test]
fn registers_of_a_group_move_it_as_one() {
    check(Staged::default());
    let text = super::emit(&Staged::default(), "staged").unwrap().verilog();
    assert!(text.contains("// Registers of a group of ports, Seen: q is what d was"), "{text}");
    assert!(text.contains("module seen_registers ("), "{text}");
}

#[test]
fn parts_of_groups_are_connected_as_in_rust() {
    check(Parts::default());
}

#[test]
fn groups_are_connected_as_in_rust() {
    check(Groups::default());
}

#[test]
fn vectors_of_groups_are_connected_as_in_rust() {
    check(Vectors::default());
}

#[test]
fn a_groups_comments_stand_above_and_beside_its_ports() {
    let text = super::emit(&Groups::default(), "groups").unwrap().verilog();
    let ports = "\
    input  wire        clk,
    input  wire        rst,
    // What to do. An order to count:
    input  wire        message_order_valid,  // There is one
    input  wire [3:0]  message_order_step,   // How far
    output wire        message_order_ready,  // It is taken at this edge
    // From outside. An order and what it is about:
    input  wire [2:0]  message_about,        // One bit for each of three matters
    output wire [2:0]  message_seen,         // Matters so far
    // To each of the others. An order to count:
    input  wire [1:0]  orders_valid,         // There is one
    input  wire [7:0]  orders_step,          // How far
    output wire [1:0]  orders_ready,         // It is taken at this edge
    output wire [15:0] totals
";
    assert!(text.contains(ports), "{text}");
}

/// An order of a bus.
#[derive(Ports)]
#[separate]
pub struct BusOrder {
    /// An order is offered.
    pub valid: Signal<In, Bit>,
    /// Distance to go.
    pub step: Signal<In, Bits<4>>,
    /// The order is taken.
    pub ready: Signal<Out, Bit>,
}

/// Takes the orders whose step is odd.
#[derive(LogicBlock, Default)]
pub struct BusEnd {
    pub bus: BusOrder,
}

impl Logic for BusEnd {
    #[hdl_gen]
    fn update(&mut self) {
        self.bus.ready.next = self.bus.valid.val() && self.bus.step.val().get_bit(0);
    }
}

/// Buses side by side, each with ports of its own.
#[derive(LogicBlock)]
pub struct Buses {
    /// To the ends.
    #[count(2)]
    pub bus: Vec<BusOrder>,
    #[count(2)]
    end: Vec<BusEnd>,
}

impl Logic for Buses {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..2 {
            connect!(self.bus[i], self.end[i].bus);
        }
    }
}

#[test]
fn elements_of_a_separate_group_have_ports_of_their_own() {
    let text = super::emit(&Buses::default(), "buses").unwrap().verilog();
    let ports = "\
    // To the ends. An order of a bus:
    input  wire       bus_0_valid,  // An order is offered
    input  wire [3:0] bus_0_step,   // Distance to go
    output wire       bus_0_ready,  // The order is taken
    input  wire       bus_1_valid,  // An order is offered
    input  wire [3:0] bus_1_step,   // Distance to go
    output wire       bus_1_ready   // The order is taken
";
    assert!(text.contains(ports), "{text}");
    check(Buses::default());
}

#[test]
fn inputs_of_groups_are_random_and_outputs_are_not() {
    let mut groups = Groups::default();
    let mut giver = Giver::default();
    let mut number = 0u64;
    let mut random = || {
        number += 7;
        number
    };
    for _ in 0..8 {
        groups.randomize_inputs(&mut random);
        giver.randomize_inputs(&mut random);
    }
    assert!(groups.message.order.step.next.any());
    assert!(groups.orders.iter().any(|order| order.step.next.any()));
    assert!(giver.message.seen.next.any());
    assert!(!giver.message.order.step.next.any(), "an output");
}

#[test]
fn a_group_is_default_clone_and_debug() {
    let message = Message::default();
    assert_eq!(message.about.len(), 3);
    assert_eq!(Flipped::<Message>::default().clone().about.len(), 3);
    assert!(format!("{message:?}").starts_with("Message { order.valid: 1'b0, "));
}

#[test]
#[should_panic(expected = "different numbers of elements")]
fn vectors_of_different_lengths_are_refused() {
    let (mut two, mut none) = (vec![Order::default(), Order::default()], Vec::<Order>::new());
    connect!(two, none);
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum Kind {
    Question,
    Answer,
    Refusal,
}

/// A message as a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct Letter {
    pub kind: Kind,
    pub urgent: Bit,
    pub number: Bits<4>,
}

/// Passes a value on.
#[derive(LogicBlock, Default)]
pub struct Passer<T: Synth> {
    pub clock: Signal<In, Clock>,
    pub kind: Signal<In, Kind>,
    pub taken: Signal<In, T>,
    pub given: Signal<Out, T>,
}

impl<T: Synth> Logic for Passer<T> {
    #[hdl_gen]
    fn update(&mut self) {
        self.given.next = self.taken.val();
    }
}

#[test]
fn inputs_that_are_enums_and_structs_are_random_in_all_their_parts() {
    let mut unit = Passer::<Letter>::default();
    let mut random = testing::random();
    let (mut kinds, mut letters) = ([0; 3], [0; 3]);
    let (mut urgent, mut numbers) = (0, 0u32);
    for _ in 0..1000 {
        unit.randomize_inputs(&mut || random.next_u64());
        kinds[unit.kind.next as usize] += 1;
        letters[unit.taken.next.kind as usize] += 1;
        urgent += u32::from(unit.taken.next.urgent);
        numbers |= 1 << unit.taken.next.number.index();
    }
    assert!(kinds.iter().chain(&letters).all(|count| *count > 200), "{kinds:?} {letters:?}");
    assert!((400..600).contains(&urgent) && numbers == 0xffff, "{urgent} {numbers:#x}");
    check(unit);
}
