//! Constants of the Rust stand in the text under their names, with the width of their use.

use super::emit;
use crate::prelude::*;
use crate::testing::check;

mod opcode {
    pub const NONE: u64 = 0;
    pub const SEND: u64 = 4;
    pub const ACKNOWLEDGE: u64 = 17;
}

mod other {
    pub mod opcode {
        pub const SEND: u64 = 5;
    }
}

const LIMIT: u64 = 9;

/// Constants in comparisons, labels, values and branches, and some whose name is taken.
#[allow(non_snake_case)]
#[derive(LogicBlock)]
#[new(first: u64)]
pub struct Named {
    pub opcode: Signal<In, Bits<8>>,
    pub narrow: Signal<In, Bits<5>>,
    pub kind: Signal<Out, Bits<3>>,
    pub reply: Signal<Out, Bits<8>>,
    pub sum: Signal<Out, Bits<16>>,
    pub is_send: Signal<Out, Bit>,
    pub is_narrow: Signal<Out, Bit>,
    pub is_other: Signal<Out, Bit>,
    pub is_low: Signal<Out, Bit>,
    #[init(Constant::new(first.into()))]
    limit: Constant<Bits<8>>,
}

impl Logic for Named {
    #[hdl_gen]
    fn update(&mut self) {
        match self.opcode.val().to_u64() {
            opcode::NONE => self.kind.next = 1.into(),
            opcode::SEND | opcode::ACKNOWLEDGE => self.kind.next = 2.into(),
            _ => self.kind.next = 3.into(),
        }
        self.reply.next = opcode::ACKNOWLEDGE.into();
        if self.opcode.val() == opcode::ACKNOWLEDGE {
            self.reply.next = bits::<8>(opcode::NONE);
        }
        self.sum.next = bit_cast::<16, 8>(self.opcode.val()) + bits::<16>(LIMIT * 2);
        self.is_send.next = self.opcode.val() == bits::<8>(opcode::SEND);
        self.is_narrow.next = self.narrow.val() == bits::<5>(opcode::SEND);
        self.is_other.next = self.opcode.val() == bits::<8>(other::opcode::SEND);
        self.is_low.next = (self.opcode.val() < bits::<8>(LIMIT)) && (self.opcode.val() != self.limit.val());
    }
}

#[test]
fn constants_have_their_names() {
    let text = emit(&Named::wired(7), "named").unwrap().modules.pop().unwrap().text;
    for line in [
        "    localparam [7:0] OPCODE_NONE = 8'd0;",
        "    localparam [7:0] OPCODE_SEND = 8'd4;",
        "    localparam [4:0] OPCODE_SEND_5 = 5'd4;",
        // Of another module of the same name
        "    localparam [7:0] OPCODE_SEND_8 = 8'd5;",
        "    localparam [7:0] OPCODE_ACKNOWLEDGE = 8'h11;",
        "    localparam [7:0] LIMIT = 8'd7;",
        "    localparam [7:0] LIMIT_8 = 8'd9;",
        "            OPCODE_NONE: kind = 3'd1;",
        "            OPCODE_SEND: kind = 3'd2;",
        "            OPCODE_ACKNOWLEDGE: kind = 3'd2;",
        "        reply = OPCODE_ACKNOWLEDGE;",
        "        if (opcode == OPCODE_ACKNOWLEDGE) reply = OPCODE_NONE;",
        "    assign is_send = opcode == OPCODE_SEND;",
        "    assign is_narrow = narrow == OPCODE_SEND_5;",
        "    assign is_other = opcode == OPCODE_SEND_8;",
        "    assign is_low = (opcode < LIMIT_8) && (opcode != LIMIT);",
        "    assign sum = {8'd0, opcode} + 16'h12;",
    ] {
        assert!(text.contains(&format!("{line}\n")), "{line} is not in:\n{text}");
    }
}

#[test]
fn named_constants_mean_the_same() {
    check(Named::wired(7));
    check(Named::wired(9));
}
