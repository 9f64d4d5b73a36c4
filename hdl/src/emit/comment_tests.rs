//! Comments of kernels in the Verilog.

use super::emit;
use crate::prelude::*;

/// Comments in front of statements of every kind.
#[derive(LogicBlock)]
#[new(option: usize)]
struct Commented {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub a: Signal<In, Bits<4>>,
    pub y: Signal<Out, Bits<4>>,
    pub z: Signal<Out, Bits<4>>,
    #[init(option)]
    _option: usize,
    held: Register<Bits<4>>,
}

impl Logic for Commented {
    #[hdl_gen]
    fn update(&mut self) {
        // Of the `let`,
        // see [`Commented`].
        let next = self.a.val() + 1; // beside it

        // Of the output
        self.y.next = next ^ self.held.q.val();
        self.z.next = 0.into();
        // Of the branch: this comment is so long that at the indentation where it stands in the
        // text of the module it has to be folded, since it would have more than 100 columns there,
        // or nearly.
        if self.a.val().any() {
            // Of the loop
            for i in 0..2 {
                // Of the inner branch
                if self.a.val().get_bit(i) {
                    self.z.next = next;
                }
            }
            // Of the register
            self.held.d.next = next;
        }
        // Of the option
        if self._option == 1 {
            self.held.d.next = 3.into();
        }
        // Of nothing
    }
}

fn text(option: usize) -> String {
    emit(&Commented::wired(option), "commented").unwrap().modules.pop().unwrap().text
}

#[test]
fn comments_stand_in_front_of_what_they_are_about() {
    let text = text(1);
    for part in [
        "\n    // Of the `let`,\n    // see `Commented`.\n    assign next = a + 4'd1;\n",
        "\n    // Of the output\n    assign y = next ^ held;\n",
        "        if (|a) begin\n            // Of the loop\n            // Of the inner branch\n            if (a[0]) z = next;\n",
        "                // Of the register\n                held <= next;\n",
        "            // Of the option\n            held <= 4'd3;\n",
    ] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    assert_eq!(text.matches("Of the inner branch").count(), 1, "{text}");
    for absent in ["Of nothing", "beside it"] {
        assert!(!text.contains(absent), "{text}");
    }
    assert!(text.lines().all(|line| line.len() <= 100), "{text}");
}

#[test]
fn a_comment_of_what_is_left_out_is_left_out() {
    assert!(!text(0).contains("Of the option"));
}
