//! Kernels in several functions.

use crate::emit::{emit, EmitError};
use crate::prelude::*;
use crate::testing::{random, settle};
use rand::Rng;

const STEP: u64 = 3;

/// Adds where `enable` is high, in one function.
#[derive(LogicBlock, Default)]
struct Whole {
    clock: Signal<In, Clock>,
    reset: Signal<In, Bit>,
    enable: Signal<In, Bit>,
    a: Signal<In, Bits<8>>,
    y: Signal<Out, Bits<8>>,
    z: Signal<Out, Bits<8>>,
    sum: Register<Bits<8>>,
}

impl Logic for Whole {
    #[hdl_gen]
    fn update(&mut self) {
        let mut addend = bits::<8>(0);
        if self.enable.val() {
            addend = self.a.val();
        }
        // The sum of all
        let next = self.sum.q.val() + addend;
        self.sum.d.next = next;
        self.y.next = self.sum.q.val();
        let shifted = addend << 1;
        self.z.next = shifted + bits::<8>(STEP);
    }
}

/// The same in three functions.
#[derive(LogicBlock, Default)]
struct Divided {
    clock: Signal<In, Clock>,
    reset: Signal<In, Bit>,
    enable: Signal<In, Bit>,
    a: Signal<In, Bits<8>>,
    y: Signal<Out, Bits<8>>,
    z: Signal<Out, Bits<8>>,
    sum: Register<Bits<8>>,
}

impl Divided {
    #[hdl_gen]
    fn add(&mut self, addend: Bits<8>) {
        // The sum of all
        let next = self.sum.q.val() + addend;
        self.sum.d.next = next;
        self.y.next = self.sum.q.val();
    }

    #[hdl_gen]
    fn shift(&mut self, addend: Bits<8>) {
        let shifted = addend << 1;
        self.z.next = shifted + bits::<8>(STEP);
    }
}

impl Logic for Divided {
    #[hdl_gen]
    fn update(&mut self) {
        let mut addend = bits::<8>(0);
        if self.enable.val() {
            addend = self.a.val();
        }
        self.add(addend);
        self.shift(addend);
    }
}

#[test]
fn parts_of_a_kernel_are_the_circuit_that_the_whole_is() {
    let whole = emit(&Whole::default(), "unit").unwrap().verilog();
    let divided = emit(&Divided::default(), "unit").unwrap().verilog();
    let code = |text: &str| {
        text.lines()
            .filter(|l| !l.starts_with("// Adds") && !l.starts_with("// The same"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(code(&whole), code(&divided));
    assert!(divided.contains("// The sum of all"), "{divided}");
}

#[test]
fn parts_of_a_kernel_are_simulated() {
    let mut random = random();
    let (mut whole, mut divided) = (Whole::default(), Divided::default());
    for _ in 0..200 {
        let (enable, a) = (random.gen::<bool>(), Bits::<8>::from(random.gen_range(0..256u64)));
        (whole.enable.next, whole.a.next) = (enable, a);
        (divided.enable.next, divided.a.next) = (enable, a);
        settle(&mut whole);
        settle(&mut divided);
        assert_eq!((whole.y.val(), whole.z.val()), (divided.y.val(), divided.z.val()));
    }
}

/// Two parts with a `let` of one name.
#[derive(LogicBlock, Default)]
struct Twice {
    a: Signal<In, Bit>,
    y: Signal<Out, Bit>,
    z: Signal<Out, Bit>,
}

impl Twice {
    #[hdl_gen]
    fn first(&mut self) {
        let not = !self.a.val();
        self.y.next = not;
    }

    #[hdl_gen]
    fn second(&mut self) {
        let not = !self.a.val();
        self.z.next = not;
    }
}

impl Logic for Twice {
    #[hdl_gen]
    fn update(&mut self) {
        self.first();
        self.second();
    }
}

#[test]
fn two_parts_with_a_let_of_one_name_are_refused() {
    let error = emit(&Twice::default(), "unit").unwrap_err();
    assert!(matches!(error, EmitError::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("a `let` called `not`"), "{error}");
}

/// A part that is given a value by another name.
#[derive(LogicBlock, Default)]
struct Renamed {
    a: Signal<In, Bit>,
    y: Signal<Out, Bit>,
}

impl Renamed {
    #[hdl_gen]
    fn invert(&mut self, value: Bit) {
        self.y.next = !value;
    }
}

impl Logic for Renamed {
    #[hdl_gen]
    fn update(&mut self) {
        let one = self.a.val();
        self.invert(one);
    }
}

#[test]
#[should_panic(expected = "`invert`, part of a kernel, is given values by other names than its own")]
fn a_value_by_another_name_is_refused() {
    let _ = emit(&Renamed::default(), "unit");
}
