//! The project's `#[hdl_gen]` against rust-hdl's: the same syntax tree of the same kernel, and what
//! only ours knows.

use crate::prelude::*;
use crate::testing::check;

/// A value with fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct Pair {
    pub low: Bits<5>,
    pub flag: Bit,
}

/// What a state machine does.
#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum Mode {
    Idle,
    Run,
    Stop,
}

/// A port group.
#[derive(Clone, Debug, Default, LogicInterface)]
pub struct Bus {
    pub valid: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
}

interface!(Bus);

const LIMIT: u64 = 7;

/// Both macros on one kernel. The struct has every kind of signal that the kernels below name.
macro_rules! same_tree {
    ($($name:ident: { $($kernel:tt)* })*) => {
        $(
            #[test]
            fn $name() {
                same_tree!(@unit ours, crate::prelude::hdl_gen, crate::prelude::LogicBlock, $($kernel)*);
                same_tree!(@unit theirs, rust_hdl::prelude::hdl_gen, rust_hdl::prelude::LogicBlock, $($kernel)*);
                let trees = [ours::tree(), theirs::tree()].map(|tree| format!("{tree:#?}"));
                assert_eq!(trees[0], trees[1]);
            }
        )*
    };
    (@unit $module:ident, $hdl_gen:path, $block:path, $($kernel:tt)*) => {
        mod $module {
            #![allow(dead_code, unused_imports, clippy::collapsible_match)]
            use super::super::{Bus, Mode, Pair, LIMIT};
            use $hdl_gen as hdl_gen;
            use $block as LogicBlock;
            use crate::prelude::{unit_info, Register};
            use rust_hdl::prelude::{Clock, Signal, In, Out, Local, Bit, Bits, Logic, TimingInfo, ast};
            use rust_hdl::prelude::{bits, bit_cast, signed_cast, unsigned_cast, signed_bit_cast, Signed};
            use rust_hdl::prelude::{block, logic, probe, LogicLink, Synth};

            #[derive(LogicBlock, Default)]
            pub struct Unit<const N: usize> {
                pub clock: Signal<In, Clock>,
                pub a: Signal<In, Bits<8>>,
                pub b: Signal<In, Bits<8>>,
                pub go: Signal<In, Bit>,
                pub wide: Signal<In, Bits<32>>,
                pub y: Signal<Out, Bits<8>>,
                pub wide_out: Signal<Out, Bits<32>>,
                pub done: Signal<Out, Bit>,
                pub list: Vec<Signal<In, Bits<8>>>,
                pub out: Vec<Signal<Out, Bits<8>>>,
                pub bus: Bus,
                pub other: Bus,
                many: Signal<Local, Bits<N>>,
                pair: Signal<Local, Pair>,
                signed: Signal<Local, Signed<16>>,
                mode: Register<Mode>,
                count: Register<Bits<8>>,
                _turns: usize,
            }

            impl<const N: usize> Logic for Unit<N> {
                $($kernel)*
            }

            pub fn tree() -> ast::Verilog {
                Unit::<3>::default().hdl()
            }
        }
    };
}

mod trees {
    same_tree! {
        assignments: {
            #[hdl_gen]
            fn update(&mut self) {
            self.y.next = self.a.val();
            self.count.d.next = self.count.q.val() + 1;
            self.done.next = true;
            }
        }
        fields: {
            #[hdl_gen]
            fn update(&mut self) {
            self.pair.next.low = self.a.val().get_bits::<5>(1);
            self.pair.next.flag = self.pair.val().flag;
            self.y.next = bit_cast::<8, 5>(self.pair.val().low);
            }
        }
        operators: {
            #[hdl_gen]
            fn update(&mut self) {
            self.y.next = self.a.val() + self.b.val() - 3;
            self.y.next = (self.a.val() & self.b.val()) | self.a.val() ^ self.b.val();
            self.y.next = self.a.val() << 2 >> bits::<2>(1);
            self.y.next = !self.a.val();
            self.done.next = self.a.val() == self.b.val() && self.a.val() != 3 || self.a.val() < self.b.val();
            self.done.next = self.a.val() <= 3 || self.a.val() > self.b.val() || self.a.val() >= 0xf;
            self.wide_out.next = self.wide.val().get_bits::<16>(0) * self.wide.val().get_bits::<16>(4);
            }
        }
        signed_numbers: {
            #[hdl_gen]
            fn update(&mut self) {
            self.signed.next = signed_bit_cast::<16, 8>(signed_cast(self.a.val()));
            self.y.next = unsigned_cast(-signed_cast(self.a.val()));
            self.done.next = signed_cast(self.a.val()) < signed_cast(self.b.val());
            }
        }
        methods: {
            #[hdl_gen]
            fn update(&mut self) {
            self.done.next = self.a.val().all() || self.a.val().any() || self.a.val().xor();
            self.done.next = self.a.val().get_bit(3) & self.a.val().get_bit(self.b.val().index());
            self.y.next = self.a.val().replace_bit(2, self.go.val());
            self.y.next = self.wide.val().get_bits::<8>(self.a.val().index());
            self.y.next = 5.into();
            }
        }
        widths: {
            #[hdl_gen]
            fn update(&mut self) {
            self.many.next = bit_cast::<N, 8>(self.a.val() & self.b.val());
            self.many.next = bits::<N>(LIMIT);
            self.many.next = bit_cast::<N, 8>(self.wide.val().get_bits::<8>(1 + 2));
            }
        }
        conditions: {
            #[hdl_gen]
            fn update(&mut self) {
            if self.go.val() {
                self.y.next = self.a.val();
            } else if self.a.val() == LIMIT {
                self.y.next = self.b.val();
            } else {
                self.y.next = 0.into();
            }
            if !self.go.val() {
                self.done.next = false;
            }
            }
        }
        matches: {
            #[hdl_gen]
            fn update(&mut self) {
            match self.mode.q.val() {
                Mode::Idle => {
                    if self.go.val() {
                        self.mode.d.next = Mode::Run;
                    }
                }
                Mode::Run => self.mode.d.next = Mode::Stop,
                _ => {}
            }
            match self.a.val().index() {
                0 => self.y.next = self.b.val(),
                0x1f => self.y.next = 1.into(),
                _ => {
                    self.y.next = 2.into();
                    self.done.next = true;
                }
            }
            }
        }
        loops: {
            #[hdl_gen]
            fn update(&mut self) {
            for i in 0..self._turns {
                self.out[i].next = self.list[(2 * i + 1) % self._turns].val();
            }
            for i in 1..N {
                for j in 0..2 {
                    self.out[i * 2 + j].next = self.list[N - i].val();
                    self.pair.next.flag = self.list[i].val().get_bit(j);
                }
            }
            }
        }
        interfaces: {
            #[hdl_gen]
            fn update(&mut self) {
            Bus::link(&mut self.bus, &mut self.other);
            }
        }
    }
}

/// Every kind of `let`.
#[derive(LogicBlock, Default)]
#[allow(clippy::struct_field_names)]
pub struct Lets {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub a: Signal<In, Bits<8>>,
    pub b: Signal<In, Bits<8>>,
    pub go: Signal<In, Bit>,
    pub sum: Signal<Out, Bits<9>>,
    pub parity: Signal<Out, Bit>,
    pub flags: Signal<Out, Bits<4>>,
    pub chosen: Signal<Out, Bits<8>>,
    pub low: Signal<Out, Bits<5>>,
    pub running: Signal<Out, Bit>,
    pub class: Signal<Out, Bits<2>>,
    mode: Register<Mode>,
    kept: Register<Pair>,
}

impl Logic for Lets {
    #[hdl_gen]
    fn update(&mut self) {
        // One `let` from another, and the width from the expression.
        let wide_a = bit_cast::<9, 8>(self.a.val());
        let total = wide_a + bit_cast::<9, 8>(self.b.val());
        self.sum.next = total;
        // Assigned again, in a loop and under a condition.
        let mut odd = false;
        for i in 0..8 {
            // An element for each turn.
            let differs = self.a.val().get_bit(i) ^ self.b.val().get_bit(i);
            odd ^= differs;
        }
        if self.go.val() {
            odd = !odd;
        }
        self.parity.next = odd;
        let mut products: Bits<4> = 0.into();
        for i in 0..2 {
            for j in 0..2 {
                let both = self.a.val().get_bit(i) & self.b.val().get_bit(j);
                products = products.replace_bit(2 * i + j, both);
            }
        }
        self.flags.next = products;
        // A choice between values.
        let larger = if self.a.val() < self.b.val() {
            self.b.val()
        } else if self.go.val() {
            self.a.val() + 1
        } else {
            self.a.val()
        };
        self.chosen.next = match larger.get_bits::<2>(0).index() {
            0 | 2 => larger,
            1 => self.a.val(),
            _ => bits::<8>(0x55),
        };
        // A struct and a state.
        let mut pair = self.kept.q.val();
        pair.low = total.get_bits::<5>(2);
        if pair.flag {
            pair.low = bits::<5>(LIMIT);
        }
        self.low.next = pair.low;
        self.kept.d.next = pair;
        self.kept.d.next.flag = odd;
        let state = self.mode.q.val();
        self.running.next = state == Mode::Run;
        self.mode.d.next = match state {
            Mode::Idle => Mode::Run,
            Mode::Run => Mode::Stop,
            Mode::Stop => Mode::Idle,
        };
        match self.a.val().get_bits::<2>(0).index() {
            0 | 3 => self.class.next = bits::<2>(1),
            1 => self.class.next = bits::<2>(2),
            _ => self.class.next = bits::<2>(0),
        }
    }
}

#[test]
fn a_let_means_in_verilog_what_it_means_in_rust() {
    check(Lets::default());
    let text = super::emit(&Lets::default(), "lets").unwrap().verilog();
    for declaration in ["[8:0] wide_a;", "[8:0] total;", "[7:0] differs;", "[5:0] pair;", "[1:0] state;"] {
        assert!(text.contains(declaration), "{declaration}: {text}");
    }
}

/// A counter with a child, neither of which says a word about clock, reset and keeping.
#[derive(LogicBlock)]
#[new(start: u64)]
pub struct Clockless {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub go: Signal<In, Bit>,
    pub count: Signal<Out, Bits<8>>,
    pub inner: Signal<Out, Bits<9>>,
    #[init(Register::new(start.into()))]
    value: Register<Bits<8>>,
    #[init((0..3).map(|_| Lets::default()).collect())]
    child: Vec<Lets>,
    #[init(Constant::new(5.into()))]
    step: Constant<Bits<8>>,
    #[init(3)]
    _children: usize,
}

impl Logic for Clockless {
    #[hdl_gen]
    fn update(&mut self) {
        if self.go.val() {
            self.value.d.next = self.value.q.val() + 1;
        }
        self.count.next = self.value.q.val();
        let mut last = bits::<9>(0);
        for i in 0..self._children {
            self.child[i].a.next = self.value.q.val();
            self.child[i].b.next = self.step.val();
            self.child[i].go.next = self.go.val();
            last = last ^ self.child[i].sum.val() ^ bit_cast::<9, 5>(self.child[i].low.val());
        }
        self.inner.next = last;
    }
}

#[test]
fn clock_reset_and_keeping_need_no_line() {
    let unit = Clockless::wired(200);
    assert_eq!(unit.value.q.val(), 200);
    check(unit);
}

/// Joins ports of every kind.
#[derive(LogicBlock)]
pub struct Joined {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub a: Signal<In, Bits<8>>,
    pub b: Signal<In, Bits<8>>,
    #[init(vec![Signal::default(); 2])]
    pub go: Vec<Signal<In, Bit>>,
    pub sum: Signal<Out, Bits<9>>,
    #[init(vec![Signal::default(); 2])]
    pub low: Vec<Signal<Out, Bits<5>>>,
    first: Lets,
    second: Lets,
}

impl Logic for Joined {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.a, self.first.a);
        connect!(self.b, self.first.b);
        connect!(self.sum, self.first.sum);
        // Between children, in either order.
        connect!(self.first.chosen, self.second.a);
        connect!(self.second.b, self.first.chosen);
        connect!(self.go[0], self.first.go);
        connect!(self.go[1], self.second.go);
        connect!(self.low[0], self.first.low);
        connect!(self.low[1], self.second.low);
    }
}

#[test]
fn ports_are_joined_by_one_line() {
    check(Joined::default());
}

/// A `let` with the name of a field.
#[derive(LogicBlock, Default)]
pub struct Twice {
    pub a: Signal<In, Bit>,
    pub y: Signal<Out, Bit>,
}

impl Logic for Twice {
    #[hdl_gen]
    fn update(&mut self) {
        let a = !self.a.val();
        self.y.next = a;
    }
}

/// A `let` in a loop with the name of a vector.
#[derive(LogicBlock)]
pub struct TwiceInALoop {
    #[count(2)]
    pub a: Vec<Signal<In, Bit>>,
    #[count(2)]
    pub grant: Vec<Signal<Out, Bit>>,
}

impl Logic for TwiceInALoop {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..2 {
            let grant = !self.a[i].val();
            self.grant[i].next = grant;
        }
    }
}

#[test]
fn a_let_is_not_called_like_a_field() {
    for error in [
        super::emit(&Twice::default(), "twice").unwrap_err(),
        super::emit(&TwiceInALoop::default(), "twice_in_a_loop").unwrap_err(),
    ] {
        assert!(error.to_string().contains("is a field and a `let`"), "{error}");
    }
}

/// A reset that is assigned under a condition.
#[derive(LogicBlock, Default)]
pub struct SometimesReset {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub soft: Signal<In, Bit>,
    pub y: Signal<Out, Bits<8>>,
    count: Register<Bits<8>>,
}

impl Logic for SometimesReset {
    #[hdl_gen]
    fn update(&mut self) {
        if self.soft.val() {
            self.count.reset.next = true;
        }
        self.count.d.next = self.count.q.val() + 1;
        self.y.next = self.count.q.val();
    }
}

/// The same as one value.
#[derive(LogicBlock, Default)]
pub struct SoftReset {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub soft: Signal<In, Bit>,
    pub y: Signal<Out, Bits<8>>,
    count: Register<Bits<8>>,
}

impl Logic for SoftReset {
    #[hdl_gen]
    fn update(&mut self) {
        self.count.reset.next = self.reset.val() || self.soft.val();
        self.count.d.next = self.count.q.val() + 1;
        self.y.next = self.count.q.val();
    }
}

#[test]
fn a_reset_of_a_register_is_one_value() {
    let error = super::emit(&SometimesReset::default(), "sometimes_reset").unwrap_err().to_string();
    assert!(error.contains("assigned in a branch"), "{error}");
    check(SoftReset::default());
}

/// A unit that makes the reset: it has none itself.
#[derive(LogicBlock, Default)]
pub struct ResetSource {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<Out, Bit>,
    count: Register<Bits<4>>,
}

impl Logic for ResetSource {
    #[hdl_gen]
    fn update(&mut self) {
        self.count.d.next = self.count.q.val() + 1;
        self.reset.next = !self.count.q.val().all();
    }
}

#[test]
fn an_output_called_reset_resets_nothing() {
    let error = super::emit(&ResetSource::default(), "reset_source").unwrap_err().to_string();
    assert!(error.contains("nothing drives it"), "{error}");
}
