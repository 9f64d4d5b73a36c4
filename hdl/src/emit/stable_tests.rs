//! A change in one unit changes no line of the modules of others.

use super::emit;

/// A design whose units are alike but for the inside of the middle one.
macro_rules! design {
    ($name:ident, { $($fields:tt)* }, $($update:tt)*) => {
        mod $name {
            use crate::prelude::*;

            /// Adds two numbers, a cycle later.
            #[derive(LogicBlock, Default)]
            pub struct Adder {
                pub clock: Signal<In, Clock>,
                pub reset: Signal<In, Bit>,
                pub left: Signal<In, Bits<8>>,
                pub right: Signal<In, Bits<8>>,
                pub sum: Signal<Out, Bits<8>>,
                total: Register<Bits<8>>,
                $($fields)*
            }

            impl Logic for Adder {
                #[hdl_gen]
                $($update)*
            }

            /// Takes back a carry.
            #[derive(LogicBlock, Default)]
            pub struct Low {
                pub clock: Signal<In, Clock>,
                pub reset: Signal<In, Bit>,
                pub value: Signal<In, Bits<8>>,
                pub low: Signal<Out, Bits<4>>,
                held: Register<Bits<4>>,
            }

            impl Logic for Low {
                #[hdl_gen]
                fn update(&mut self) {
                    self.held.d.next = (self.value.val() + 1).get_bits::<4>(2);
                    self.low.next = self.held.q.val();
                }
            }

            /// All of it.
            #[derive(LogicBlock)]
            pub struct Top {
                pub clock: Signal<In, Clock>,
                pub reset: Signal<In, Bit>,
                pub a: Signal<In, Bits<8>>,
                pub b: Signal<In, Bits<8>>,
                pub y: Signal<Out, Bits<4>>,
                #[count(2)]
                adder: Vec<Adder>,
                small: Low,
            }

            impl Logic for Top {
                #[hdl_gen]
                fn update(&mut self) {
                    // Twice.
                    for i in 0..2 {
                        self.adder[i].left.next = self.a.val();
                        self.adder[i].right.next = self.b.val();
                    }
                    self.small.value.next = self.adder[0].sum.val() ^ self.adder[1].sum.val();
                    self.y.next = self.small.low.val();
                }
            }
        }
    };
}

design!(
    before,
    {},
    fn update(&mut self) {
        self.total.d.next = self.left.val() + self.right.val();
        self.sum.next = self.total.q.val();
    }
);

// With a memory, a register and a `let` that have the names of instances around them, a comment
// with such a name, and a branch.
design!(after, { adder: Register<Bits<8>>, small: RamAsync<Bits<8>, 2>, }, fn update(&mut self) {
    // The adder_0 of a small one.
    let adder_0 = self.left.val() + self.right.val();
    self.adder.d.next = adder_0;
    self.small.write_enable.next = true;
    self.small.write_address.next = bits::<2>(0);
    self.small.write_data.next = self.adder.q.val();
    self.small.read_address.next = (self.left.val() + 3).get_bits::<2>(1);
    if self.right.val().any() {
        self.total.d.next = self.adder.q.val() ^ self.small.read_data.val();
    }
    self.sum.next = self.total.q.val();
});

#[test]
fn a_change_in_one_unit_changes_no_line_of_another_module() {
    let before = emit(&before::Top::default(), "top").unwrap();
    let after = emit(&after::Top::default(), "top").unwrap();
    let text = |design: &super::Design, name: &str| {
        design.modules.iter().find(|module| module.name == name).map(|module| module.text.clone())
    };
    assert_eq!(before.modules.len(), 3);
    for module in &before.modules {
        let new = text(&after, &module.name);
        if module.name == "adder" {
            assert_ne!(new.as_ref(), Some(&module.text));
        } else {
            assert_eq!(new.as_ref(), Some(&module.text), "{}", module.name);
        }
    }
}
