//! Every kind of error, with the path of the signal.

use super::{emit, EmitError};
use crate::prelude::*;

/// A unit with one input and one output and the given kernel.
macro_rules! unit {
    ($name:ident { $($field:ident: $ty:ty),* } $($kernel:tt)*) => {
        #[derive(LogicBlock, Default)]
        struct $name {
            pub clock: Signal<In, Clock>,
            pub reset: Signal<In, Bit>,
            pub a: Signal<In, Bits<8>>,
            pub b: Signal<In, Bits<9>>,
            pub y: Signal<Out, Bits<8>>,
            $($field: $ty,)*
        }
        impl Logic for $name {
            $($kernel)*
        }
    };
}

fn error<U: Block>(unit: U) -> EmitError {
    emit(&unit, "top").unwrap_err()
}

#[test]
fn undriven_output_and_local() {
    unit!(Silent {} #[hdl_gen] fn update(&mut self) {});
    assert_eq!(error(Silent::default()), EmitError::Undriven { path: "top.y".into() });
    unit!(Reads { t: Signal<Local, Bits<8>> } #[hdl_gen] fn update(&mut self) { self.y.next = self.t.val(); });
    assert_eq!(error(Reads::default()), EmitError::Undriven { path: "top.t".into() });
}

#[test]
fn undriven_child_input() {
    unit!(Owner { queue: super::tests::Queue<8, 4> } #[hdl_gen] fn update(&mut self) {
        self.queue.push.next = false;
        self.queue.data_in.next = self.a.val();
        self.y.next = self.queue.data_out.val();
    });
    assert_eq!(error(Owner::default()), EmitError::Undriven { path: "top.queue.pop".into() });
}

#[test]
fn latches() {
    unit!(Keeps {} #[hdl_gen] fn update(&mut self) {
        if self.a.val().get_bit(0) {
            self.y.next = self.a.val();
        }
    });
    assert_eq!(error(Keeps::default()), EmitError::Latch { path: "top.y".into() });
    unit!(Partly { t: Signal<Local, Bits<8>> } #[hdl_gen] fn update(&mut self) {
        if self.a.val().get_bit(0) {
            self.t.next = self.a.val();
        }
        self.y.next = self.t.val();
    });
    assert_eq!(error(Partly::default()), EmitError::Latch { path: "top.t".into() });
}

#[test]
fn read_before_assignment() {
    unit!(Early { t: Signal<Local, Bits<8>> } #[hdl_gen] fn update(&mut self) {
        self.y.next = self.t.val();
        self.t.next = self.a.val();
    });
    assert_eq!(error(Early::default()), EmitError::ReadBeforeAssignment { path: "top.t".into() });
}

/// Passes its input on.
#[derive(LogicBlock, Default)]
struct Through {
    pub x: Signal<In, Bits<8>>,
    pub y: Signal<Out, Bits<8>>,
}

impl Logic for Through {
    #[hdl_gen]
    fn update(&mut self) {
        self.y.next = self.x.val() + 1;
    }
}

#[test]
fn loops_through_children() {
    unit!(Ring { one: Through, two: Through } #[hdl_gen] fn update(&mut self) {
        self.one.x.next = self.two.y.val();
        self.two.x.next = self.one.y.val();
        self.y.next = self.a.val();
    });
    let message = error(Ring::default()).to_string();
    assert!(message.starts_with("combinational loop: "), "{message}");
    for part in ["top.one.x", "top.one.y", "top.two.x", "top.two.y"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn assigned_by_owner_and_child() {
    use super::random::fake::{FakeUnit, Ty};
    use rust_hdl::prelude::ast::{VerilogExpression, VerilogStatement};
    // Rust's types prevent this in a unit; a syntax tree made by hand can hold it.
    let mut unit = FakeUnit::default();
    unit.add("a", AtomKind::InputParameter, Ty::bits(8));
    let signal = |name: &str| VerilogExpression::Signal(name.to_string());
    unit.code.push(VerilogStatement::Assignment(signal("a$next"), signal("a")));
    assert!(matches!(error(unit), EmitError::DoublyDriven { path, .. } if path == "top.a"));
}

#[test]
fn width_errors() {
    use super::random::fake::{FakeUnit, Ty};
    use rust_hdl::prelude::ast::{VerilogExpression, VerilogOp, VerilogStatement};
    let mut unit = FakeUnit::default();
    unit.add("a", AtomKind::InputParameter, Ty::bits(8));
    unit.add("b", AtomKind::InputParameter, Ty::bits(9));
    unit.add("y", AtomKind::OutputParameter, Ty::bits(8));
    let signal = |name: &str| Box::new(VerilogExpression::Signal(name.to_string()));
    let sum = VerilogExpression::Binary(signal("a"), VerilogOp::Add, signal("b"));
    unit.code.push(VerilogStatement::Assignment(*signal("y$next"), sum));
    let expected = EmitError::Width { path: "top.y".into(), what: "+".into(), left: 8, right: 9 };
    assert_eq!(error(unit), expected);
}

#[test]
fn indices_and_constants() {
    #[derive(LogicBlock, Default)]
    struct Index {
        pub a: Signal<In, Bits<8>>,
        pub x: Vec<Signal<In, Bits<8>>>,
        pub y: Signal<Out, Bits<8>>,
        pub z: Signal<Out, Bit>,
        _count: usize,
    }
    impl Logic for Index {
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = self.x[self._count + 2].val();
            self.z.next = self.a.val().get_bit(8);
        }
    }
    let unit = Index { x: vec![Signal::default(); 3], _count: 1, ..Index::default() };
    let message = error(unit).to_string();
    assert!(message.starts_with("top.x[3]: "), "{message}");
    let unit = Index { x: vec![Signal::default(); 4], _count: 1, ..Index::default() };
    assert_eq!(error(unit).to_string(), "top.z: get_bit: there is no bit 8 in 8 bits");
}

#[test]
fn literals_must_fit() {
    unit!(Large {} #[hdl_gen] fn update(&mut self) { self.y.next = 256.into(); });
    assert_eq!(error(Large::default()).to_string(), "top.y: assignment: 256 does not fit in 8 bits");
}
