//! Parts that may be absent: the same results natively and in Verilog with and without them, and no
//! trace of what is absent.

use crate::emit::emit;
use crate::prelude::*;
use crate::testing::check;

/// What is added, and the sum.
#[derive(Ports)]
pub struct Sum {
    /// What is added.
    pub addend: Signal<In, Bits<8>>,
    /// The sum.
    pub total: Signal<Out, Bits<8>>,
    /// Its parity, on request.
    #[there(false)]
    pub parity: Part<Signal<Out, Bit>>,
}

/// Remembers a value.
#[derive(LogicBlock, Default)]
pub struct Memory {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset.
    pub reset: Signal<In, Bit>,
    /// The next value.
    pub next_value: Signal<In, Bits<8>>,
    /// The value.
    pub value: Signal<Out, Bits<8>>,
    kept: Register<Bits<8>>,
}

impl Logic for Memory {
    #[hdl_gen]
    fn update(&mut self) {
        self.kept.d.next = self.next_value.val();
        self.value.next = self.kept.q.val();
    }
}

/// Adds, with or without a memory, ports and lanes.
#[derive(LogicBlock)]
#[new(extra: bool, lanes: usize)]
pub struct Adder {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset.
    pub reset: Signal<In, Bit>,
    /// One number.
    pub a: Signal<In, Bits<8>>,
    /// The sum.
    pub y: Signal<Out, Bits<8>>,
    /// Another number.
    #[there(extra)]
    pub b: Part<Signal<In, Bits<8>>>,
    /// A sum beside it.
    #[there(extra)]
    pub sum: Part<Sum>,
    /// Numbers of lanes.
    #[there(extra)]
    #[count(lanes)]
    pub lane: Part<Vec<Signal<In, Bits<8>>>>,
    /// Their doubles.
    #[there(extra)]
    #[count(lanes)]
    pub double: Part<Vec<Signal<Out, Bits<8>>>>,
    #[there(extra)]
    memory: Part<Memory>,
    #[there(!extra)]
    only: Part<Register<Bits<8>>>,
    #[init(lanes)]
    _lanes: usize,
}

impl Logic for Adder {
    #[hdl_gen]
    fn update(&mut self) {
        let one = if self.b.is_there() { self.a.val() + self.b.val() } else { self.a.val() };
        let mut result = one;
        // What there is beside it
        if self.memory.is_there() {
            let remembered = self.memory.value.val();
            self.memory.next_value.next = one;
            self.sum.total.next = self.sum.addend.val() + remembered;
            if self.a.val().get_bit(0) {
                result = remembered;
            } else if self.only.is_there() {
                result = self.only.q.val();
            }
            for i in 0..self._lanes {
                let twice = self.lane[i].val() + self.lane[i].val();
                self.double[i].next = twice;
            }
        } else if self._lanes > 2 && !self.b.is_there() {
            self.only.d.next = self.a.val();
            result = self.only.q.val();
        } else {
            let inverse = !self.a.val();
            self.only.d.next = inverse;
        }
        // What is left out says nothing
        if self.only.is_there() && self._lanes == 9 {
            result = bits::<8>(0);
        }
        self.y.next = result;
    }
}

#[test]
fn with_and_without_a_part_the_verilog_is_the_rust() {
    for (extra, lanes) in [(true, 3), (true, 1), (false, 3), (false, 2)] {
        check(Adder::wired(extra, lanes));
    }
}

#[test]
fn an_absent_part_leaves_no_trace() {
    let text = |extra, lanes| emit(&Adder::wired(extra, lanes), "adder").unwrap().verilog();
    let with = text(true, 3);
    for expected in ["wire [7:0] remembered", "sum_addend", "sum_total", "memory (", "[23:0] lane,"] {
        assert!(with.contains(expected), "{expected}: {with}");
    }
    for absent in ["memory_0", "sum_0", "parity", "only", "inverse", "says nothing"] {
        assert!(!with.contains(absent), "{absent}: {with}");
    }
    let without = text(false, 2);
    for absent in ["memory", "sum_", "lane", "remembered", "twice", " b,"] {
        let code = without.lines().filter(|line| !line.trim_start().starts_with("//"));
        assert!(code.clone().all(|line| !line.contains(absent)), "{absent}: {without}");
    }
    assert_ne!(without, text(false, 3), "a number decides too");
}

#[test]
#[should_panic(expected = "a part that is absent is used")]
fn an_absent_part_cannot_be_used() {
    let unit = Adder::wired(false, 1);
    let _ = unit.memory.value.val();
}

/// Adders of two kinds.
#[derive(LogicBlock)]
#[new(lanes: usize)]
pub struct Adders {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset.
    pub reset: Signal<In, Bit>,
    /// One number.
    pub a: Signal<In, Bits<8>>,
    /// The sums.
    #[count(2)]
    pub y: Vec<Signal<Out, Bits<8>>>,
    #[init(Adder::wired(false, lanes))]
    plain: Adder,
    #[init(Adder::wired(true, 1))]
    other: Adder,
}

impl Logic for Adders {
    #[hdl_gen]
    fn update(&mut self) {
        self.plain.a.next = self.a.val();
        self.other.a.next = self.a.val();
        self.other.b.next = self.a.val();
        self.other.sum.addend.next = self.a.val();
        self.other.lane[0].next = self.a.val();
        self.y[0].next = self.plain.y.val();
        self.y[1].next = self.other.y.val();
    }
}

#[test]
fn modules_are_named_by_the_parts_that_they_have() {
    let text = emit(&Adders::wired(1), "adders").unwrap().verilog();
    let modules: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("module ")).collect();
    assert_eq!(modules, ["adder_with_only (", "memory (", "adder_with_b (", "adders ("]);
}
