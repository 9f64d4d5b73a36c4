//! Units in which a block could wake itself in an event-driven simulator, and what the back end
//! does about them.

use super::{emit, EmitError};
use crate::prelude::*;
use crate::testing::check_events;

/// Two groups of elements of one vector: the second is made from what the first group's block
/// computes.
#[derive(LogicBlock)]
pub struct Groups {
    pub go: Signal<In, Bit>,
    pub a: Signal<In, Bit>,
    pub b: Signal<In, Bit>,
    pub y: Signal<Out, Bits<3>>,
    low: Signal<Local, Bit>,
    differs: Signal<Local, Bit>,
    m: Vec<Signal<Local, Bit>>,
}

impl Default for Groups {
    fn default() -> Self {
        Self {
            go: Signal::default(),
            a: Signal::default(),
            b: Signal::default(),
            y: Signal::default(),
            low: Signal::default(),
            differs: Signal::default(),
            m: vec![Signal::default(); 3],
        }
    }
}

impl Logic for Groups {
    #[hdl_gen]
    fn update(&mut self) {
        self.low.next = false;
        self.differs.next = false;
        self.m[0].next = false;
        self.m[1].next = false;
        if self.go.val() {
            self.m[0].next = self.a.val();
            self.m[1].next = self.b.val();
            self.low.next = self.m[0].val();
            self.differs.next = self.m[0].val() ^ self.m[1].val();
        }
        self.m[2].next = self.low.val();
        if self.differs.val() {
            self.m[2].next = !self.low.val();
        }
        self.y.next = bits::<3>(0)
            .replace_bit(0, self.m[0].val())
            .replace_bit(1, self.m[1].val())
            .replace_bit(2, self.m[2].val());
    }
}

/// Two elements of one vector, each from a block of its own; no block reads the vector.
#[derive(LogicBlock)]
pub struct Halves {
    pub choose: Signal<In, Bits<2>>,
    pub a: Signal<In, Bit>,
    pub b: Signal<In, Bit>,
    pub y: Signal<Out, Bits<2>>,
    m: Vec<Signal<Local, Bit>>,
}

impl Default for Halves {
    fn default() -> Self {
        Self {
            choose: Signal::default(),
            a: Signal::default(),
            b: Signal::default(),
            y: Signal::default(),
            m: vec![Signal::default(); 2],
        }
    }
}

impl Logic for Halves {
    #[hdl_gen]
    fn update(&mut self) {
        self.m[0].next = false;
        if self.choose.val().get_bit(0) {
            self.m[0].next = self.a.val();
        }
        self.m[1].next = false;
        if self.choose.val().get_bit(1) {
            self.m[1].next = self.b.val();
        }
        self.y.next = bits::<2>(0).replace_bit(0, self.m[0].val()).replace_bit(1, self.m[1].val());
    }
}

/// Two independent functions in one block: output `i` follows input `i`.
#[derive(LogicBlock)]
pub struct Pair {
    pub invert: Signal<In, Bit>,
    pub x: Vec<Signal<In, Bits<8>>>,
    pub y: Vec<Signal<Out, Bits<8>>>,
}

impl Default for Pair {
    fn default() -> Self {
        Self { invert: Signal::default(), x: vec![Signal::default(); 2], y: vec![Signal::default(); 2] }
    }
}

impl Logic for Pair {
    #[hdl_gen]
    fn update(&mut self) {
        self.y[0].next = self.x[0].val() + 1;
        self.y[1].next = self.x[1].val() + 2;
        if self.invert.val() {
            self.y[0].next = !self.x[0].val();
            self.y[1].next = !self.x[1].val();
        }
    }
}

/// A value that passes a child twice.
#[derive(LogicBlock, Default)]
pub struct Twice {
    pub invert: Signal<In, Bit>,
    pub carry: Signal<In, Bit>,
    pub a: Signal<In, Bits<8>>,
    pub y: Signal<Out, Bits<8>>,
    pair: Pair,
}

impl Logic for Twice {
    #[hdl_gen]
    fn update(&mut self) {
        self.pair.invert.next = self.invert.val();
        self.pair.x[0].next = self.a.val();
        self.pair.x[1].next = self.pair.y[0].val();
        if self.carry.val() {
            self.pair.x[0].next = self.a.val() + 7;
            self.pair.x[1].next = self.pair.y[0].val() + 9;
        }
        self.y.next = self.pair.y[1].val();
    }
}

/// Adds, and may invert: its output takes two values in turn.
#[derive(LogicBlock, Default)]
pub struct Adder {
    pub invert: Signal<In, Bit>,
    pub x: Signal<In, Bits<8>>,
    pub q: Signal<Out, Bits<8>>,
}

impl Logic for Adder {
    #[hdl_gen]
    fn update(&mut self) {
        self.q.next = self.x.val() + 1;
        if self.invert.val() {
            self.q.next = !self.x.val();
        }
    }
}

/// Outputs of children that are parts of one port; a block that drives the second child reads the
/// first.
#[derive(LogicBlock)]
pub struct Parts {
    pub invert: Signal<In, Bit>,
    pub choose: Signal<In, Bit>,
    pub a: Signal<In, Bits<8>>,
    pub y: Vec<Signal<Out, Bits<8>>>,
    first: Adder,
    second: Adder,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            invert: Signal::default(),
            choose: Signal::default(),
            a: Signal::default(),
            y: vec![Signal::default(); 2],
            first: Adder::default(),
            second: Adder::default(),
        }
    }
}

impl Logic for Parts {
    #[hdl_gen]
    fn update(&mut self) {
        self.first.invert.next = self.invert.val();
        self.second.invert.next = self.invert.val();
        self.first.x.next = self.a.val();
        self.second.x.next = 0.into();
        if self.choose.val() {
            self.second.x.next = self.first.q.val();
        }
        self.y[0].next = self.first.q.val();
        self.y[1].next = self.second.q.val();
    }
}

/// A local that serves twice, for a value before a child and for one behind it.
#[derive(LogicBlock, Default)]
pub struct Reuse {
    pub invert: Signal<In, Bit>,
    pub a: Signal<In, Bits<8>>,
    pub y: Signal<Out, Bits<8>>,
    shared: Signal<Local, Bits<8>>,
    pair: Pair,
}

impl Logic for Reuse {
    #[hdl_gen]
    fn update(&mut self) {
        self.pair.invert.next = self.invert.val();
        self.shared.next = self.a.val() + 3;
        self.pair.x[0].next = self.shared.val() ^ 1;
        self.pair.x[1].next = 0.into();
        self.shared.next = self.pair.y[0].val();
        self.y.next = self.shared.val();
    }
}

#[test]
fn elements_that_two_blocks_drive_are_variables() {
    let text = emit(&Halves::default(), "halves").unwrap().verilog();
    assert_eq!(text.matches("always @*").count(), 2, "{text}");
    assert!(text.contains("m_0, m_1;") && !text.contains("m["), "{text}");
    check_events(Halves::default());
}

#[test]
fn elements_of_a_vector_whose_blocks_wake_each_other_are_variables() {
    let text = emit(&Groups::default(), "groups").unwrap().verilog();
    assert!(text.contains("m_0, m_1, m_2;") && !text.contains("m["), "{text}");
    check_events(Groups::default());
}

#[test]
fn a_child_keeps_its_outputs_apart_where_a_value_passes_it_twice() {
    let blocks = |text: &str| text.matches("always @*").count();
    let alone = emit(&Pair::default(), "pair").unwrap().verilog();
    assert_eq!(blocks(&alone), 1, "{alone}");
    let twice = emit(&Twice::default(), "twice").unwrap();
    assert_eq!(blocks(&twice.modules[0].text), 2, "{}", twice.verilog());
    check_events(Twice::default());
}

#[test]
fn a_child_output_that_a_block_reads_is_no_part_of_a_vector() {
    let text = emit(&Parts::default(), "parts").unwrap().verilog();
    assert!(text.contains(".q(first_q)") && !text.contains("= y["), "{text}");
    check_events(Parts::default());
}

#[test]
fn what_cannot_be_kept_apart_is_an_error() {
    let error = emit(&Reuse::default(), "reuse").unwrap_err();
    assert_eq!(error, EmitError::WokenByItself { path: "reuse".into(), signal: "reuse.shared".into() });
    assert!(error.to_string().contains("use two signals"), "{error}");
}
