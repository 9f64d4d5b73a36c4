//! Where Verilog's rules differ from Rust's: each unit here means something else if its kernel is
//! copied word by word. The Rust values come from rust-hdl itself.

use crate::prelude::*;
use crate::testing::{check, check_with};

/// States for a `match`.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Mode {
    Idle,
    Load,
    Run,
}

/// A value with fields.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Pair {
    pub low: Bits<5>,
    pub flag: Bit,
    pub high: Bits<9>,
}

/// Width and precedence of expressions.
#[derive(LogicBlock, Default)]
pub struct Widths {
    pub a: Signal<In, Bits<8>>,
    pub b: Signal<In, Bits<8>>,
    pub c: Signal<In, Bits<8>>,
    pub w: Signal<In, Bits<32>>,
    pub v: Signal<In, Bits<32>>,
    pub long: Signal<In, Bits<70>>,
    pub amount: Signal<In, Bits<6>>,
    pub bit: Signal<In, Bit>,
    pub index: Signal<In, Bits<3>>,
    /// A carry must not survive in a wider context (5.4.1: context-determined operands are extended
    /// first).
    pub wrapped: Signal<Out, Bits<33>>,
    /// A carry that is wanted.
    pub carried: Signal<Out, Bits<33>>,
    /// `~a` extended first would have ones above bit 7.
    pub inverted: Signal<Out, Bits<16>>,
    /// A difference below zero, extended.
    pub borrowed: Signal<Out, Bits<16>>,
    /// A literal must not widen a comparison: `a + 1 == b` at 255.
    pub follows: Signal<Out, Bit>,
    /// `a & b == c` binds otherwise in Verilog.
    pub masked_equal: Signal<Out, Bit>,
    /// `a | b ^ c & a`, the same order in both, and one with shifts.
    pub mixed: Signal<Out, Bits<8>>,
    pub shift_sum: Signal<Out, Bits<8>>,
    /// A carry shifted back in: `(a + b) >> 1` has 9 bits in a wide context.
    pub average: Signal<Out, Bits<16>>,
    /// The left operand of a shift is context-determined.
    pub shifted_out: Signal<Out, Bits<16>>,
    /// Shifts by the width and more.
    pub far_left: Signal<Out, Bits<32>>,
    pub far_right: Signal<Out, Bits<32>>,
    /// Bits of an expression.
    pub slice_of_sum: Signal<Out, Bits<4>>,
    pub bit_of_sum: Signal<Out, Bit>,
    pub dynamic_bit: Signal<Out, Bit>,
    pub dynamic_part: Signal<Out, Bits<4>>,
    pub beyond_the_end: Signal<Out, Bits<8>>,
    pub replaced: Signal<Out, Bits<8>>,
    pub plus_bit: Signal<Out, Bits<8>>,
    pub reductions: Signal<Out, Bits<3>>,
    /// Operands of a comparison are extended to each other only (5.4.1), not to the context.
    pub less: Signal<Out, Bits<8>>,
    /// `a - b < c`: the difference wraps at 8 bits before it is compared.
    pub distance_less: Signal<Out, Bit>,
    pub long_sum: Signal<Out, Bits<70>>,
    pub long_part: Signal<Out, Bits<32>>,
    pub product: Signal<Out, Bits<32>>,
    pub logical: Signal<Out, Bit>,
}

// Precedence as it stands is what is tested.
#[allow(clippy::precedence)]
impl Logic for Widths {
    #[hdl_gen]
    fn update(&mut self) {
        self.wrapped.next = bit_cast::<33, 32>(self.w.val() + self.v.val());
        self.carried.next = bit_cast::<33, 32>(self.w.val()) + bit_cast::<33, 32>(self.v.val());
        self.inverted.next = bit_cast::<16, 8>(!self.a.val());
        self.borrowed.next = bit_cast::<16, 8>(self.a.val() - self.b.val());
        self.follows.next = self.a.val() + 1 == self.b.val();
        self.masked_equal.next = self.a.val() & self.b.val() == self.c.val();
        self.mixed.next = self.a.val() | self.b.val() ^ self.c.val() & self.a.val();
        self.shift_sum.next = self.a.val() + self.b.val() << bits::<2>(1);
        self.average.next = bit_cast::<16, 8>((self.a.val() + self.b.val()) >> 1);
        self.shifted_out.next = bit_cast::<16, 8>(self.a.val() << self.index.val());
        self.far_left.next = self.w.val() << self.amount.val();
        self.far_right.next = self.w.val() >> self.amount.val();
        self.slice_of_sum.next = (self.a.val() + self.b.val()).get_bits::<4>(3);
        self.bit_of_sum.next = (self.a.val() - self.b.val()).get_bit(7);
        self.dynamic_bit.next = (self.a.val() ^ self.b.val()).get_bit(self.index.val().index());
        self.dynamic_part.next = self.w.val().get_bits::<4>(self.index.val().index());
        self.beyond_the_end.next = self.a.val().get_bits::<8>(self.index.val().index());
        self.replaced.next = self.a.val().replace_bit(self.index.val().index(), self.bit.val());
        self.plus_bit.next = self.a.val() + self.bit.val();
        self.reductions.next = (bit_cast::<3, 1>((self.a.val() & self.b.val()).any().into()) << 2)
            | (bit_cast::<3, 1>((self.a.val() | self.b.val()).all().into()) << 1)
            | bit_cast::<3, 1>((self.a.val() + self.b.val()).xor().into());
        self.less.next = bit_cast::<8, 1>((self.a.val() < self.b.val()).into()) + self.c.val();
        self.distance_less.next = self.a.val() - self.b.val() < self.c.val();
        self.long_sum.next = (self.long.val() << self.amount.val()) + bit_cast::<70, 32>(self.w.val());
        self.long_part.next = bit_cast::<32, 70>(self.long.val() >> self.amount.val());
        self.product.next = self.w.val().get_bits::<16>(3) * self.v.val().get_bits::<16>(5);
        self.logical.next = !(self.bit.val() && self.a.val() == 0) || self.b.val() != 0xff && !self.bit.val();
    }
}

/// Signed numbers: Verilog makes an expression unsigned as soon as one operand is (5.5.1).
#[derive(LogicBlock, Default)]
pub struct Signs {
    pub a: Signal<In, Bits<16>>,
    pub b: Signal<In, Bits<16>>,
    pub less: Signal<Out, Bit>,
    pub unsigned_less: Signal<Out, Bit>,
    pub negated: Signal<Out, Bits<16>>,
    pub wide: Signal<Out, Bits<40>>,
    pub product: Signal<Out, Bits<32>>,
    wide_signed: Signal<Local, Signed<40>>,
}

impl Logic for Signs {
    #[hdl_gen]
    fn update(&mut self) {
        self.less.next = signed_cast(self.a.val()) < signed_cast(self.b.val());
        self.unsigned_less.next = self.a.val() < self.b.val();
        self.negated.next = unsigned_cast(-signed_cast(self.a.val()));
        // rust-hdl cannot widen the most negative number.
        self.wide_signed.next = signed_bit_cast::<40, 16>(signed_cast(self.a.val() | 1));
        self.wide.next = unsigned_cast(self.wide_signed.val());
        self.product.next = unsigned_cast(signed_cast(self.a.val()) * signed_cast(self.b.val()));
    }
}

/// Statements: order, enums, structs, running values, words with a meaning in Verilog.
#[derive(LogicBlock)]
pub struct Statements {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub input: Vec<Signal<In, Bits<8>>>,
    pub select: Signal<In, Bits<2>>,
    pub go: Signal<In, Bit>,
    pub always: Signal<Out, Bits<8>>,
    pub begin: Signal<Out, Bit>,
    pub grant: Vec<Signal<Out, Bit>>,
    pub constant: Signal<Out, Bits<8>>,
    pub field: Signal<Out, Bits<9>>,
    pub packed: Signal<Out, Bits<32>>,
    pub mode_is_run: Signal<Out, Bit>,
    pub next_count: Signal<Out, Bits<8>>,
    pub vector: Vec<Signal<Out, Bits<8>>>,
    taken: Signal<Local, Bit>,
    pair: Signal<Local, Pair>,
    mode: Register<Mode>,
    bit: Register<Bits<8>>,
    history: Vec<Register<Bits<8>>>,
    step: Constant<Bits<8>>,
    pack: Pack<Bits<8>, 8, 32>,
    _count: usize,
}

const LIMIT: u64 = 0x80;

impl Default for Statements {
    fn default() -> Self {
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            input: vec![Signal::default(); 4],
            select: Signal::default(),
            go: Signal::default(),
            always: Signal::default(),
            begin: Signal::default(),
            grant: vec![Signal::default(); 4],
            constant: Signal::default(),
            field: Signal::default(),
            packed: Signal::default(),
            mode_is_run: Signal::default(),
            next_count: Signal::default(),
            vector: vec![Signal::default(); 4],
            taken: Signal::default(),
            pair: Signal::default(),
            mode: Register::default(),
            bit: Register::new(7.into()),
            history: (0..4).map(|i: u64| Register::new(i.into())).collect(),
            step: Constant::new(3.into()),
            pack: Pack::new(4),
            _count: 4,
        }
    }
}

impl Logic for Statements {
    #[hdl_gen]
    fn update(&mut self) {
        self.always.next = 0.into();
        for i in 0..self._count {
            self.always.next = self.always.val() ^ self.input[i].val();
        }
        // A running value that others read on the way.
        self.taken.next = false;
        for i in 0..self._count {
            self.grant[i].next = self.input[i].val().get_bit(0) & !self.taken.val();
            self.taken.next = self.taken.val() | self.input[i].val().get_bit(0);
        }
        self.begin.next = self.taken.val();
        self.constant.next = 0x5a.into();
        self.pair.next.low = self.input[0].val().get_bits::<5>(0);
        self.pair.next.flag = self.go.val();
        self.pair.next.high = bits::<9>(LIMIT);
        if self.go.val() {
            self.pair.next.high = bit_cast::<9, 5>(self.pair.val().low);
        }
        self.field.next = self.pair.val().high;
        match self.mode.q.val() {
            Mode::Idle => {
                if self.go.val() {
                    self.mode.d.next = Mode::Load;
                }
            }
            Mode::Load => {
                self.mode.d.next = Mode::Run;
                self.bit.d.next = self.bit.q.val() + self.step.val();
            }
            Mode::Run => {
                if self.bit.q.val() >= LIMIT {
                    self.mode.d.next = Mode::Idle;
                }
                self.bit.d.next = self.bit.q.val().replace_bit(self.select.val().index(), self.go.val());
            }
        }
        self.mode_is_run.next = self.mode.q.val() == Mode::Run;
        self.next_count.next = self.bit.d.val();
        for i in 0..4 {
            self.pack.x[i].next = self.history[i].q.val();
            self.vector[i].next = 1.into();
            if self.select.val().index() == i {
                self.vector[i].next = self.history[3 - i].q.val();
            }
        }
        match self.select.val().index() {
            0 => self.history[0].d.next = self.input[0].val(),
            1 => {
                self.history[1].d.next = self.input[(self._count - 2) / 2].val();
                self.history[2].d.next = self.history[1].q.val();
            }
            _ => self.history[3].d.next = self.always.val(),
        }
        self.packed.next = self.pack.y.val();
    }
}

/// Adds one.
#[derive(LogicBlock, Default)]
pub struct Increment {
    pub x: Signal<In, Bits<8>>,
    pub y: Signal<Out, Bits<8>>,
}

impl Logic for Increment {
    #[hdl_gen]
    fn update(&mut self) {
        self.y.next = self.x.val() + 1;
    }
}

/// One `if` drives a child and takes its answer: one block for both would be a loop for a
/// simulator.
#[derive(LogicBlock, Default)]
pub struct Around {
    pub go: Signal<In, Bit>,
    pub a: Signal<In, Bits<8>>,
    pub y: Signal<Out, Bits<8>>,
    increment: Increment,
}

impl Logic for Around {
    #[hdl_gen]
    fn update(&mut self) {
        if self.go.val() {
            self.increment.x.next = self.a.val();
            self.y.next = self.increment.y.val();
        } else {
            self.increment.x.next = 0.into();
            self.y.next = self.a.val();
        }
    }
}

/// A valid/ready bus, seen from its sink.
#[derive(LogicInterface, Clone, Debug, Default)]
pub struct Sink {
    pub valid: Signal<In, Bit>,
    pub data: Signal<In, Bits<8>>,
    pub ready: Signal<Out, Bit>,
}

interface!(Sink);

/// Takes every other word.
#[derive(LogicBlock, Default)]
pub struct Consumer {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub bus: Sink,
    pub last: Signal<Out, Bits<8>>,
    turn: Register<Bit>,
    word: Register<Bits<8>>,
}

impl Logic for Consumer {
    #[hdl_gen]
    fn update(&mut self) {
        self.bus.ready.next = self.turn.q.val();
        self.turn.d.next = !self.turn.q.val();
        if self.bus.valid.val() && self.turn.q.val() {
            self.word.d.next = self.bus.data.val();
        }
        self.last.next = self.word.q.val();
    }
}

/// Hands a bus on, and drives another one.
#[derive(LogicBlock, Default)]
pub struct Buses {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub outside: Sink,
    pub go: Signal<In, Bit>,
    pub value: Signal<In, Bits<8>>,
    pub first: Signal<Out, Bits<8>>,
    pub second: Signal<Out, Bits<8>>,
    one: Consumer,
    two: Consumer,
}

impl Logic for Buses {
    #[hdl_gen]
    fn update(&mut self) {
        Sink::link(&mut self.outside, &mut self.one.bus);
        self.two.bus.valid.next = self.go.val() & self.two.bus.ready.val();
        self.two.bus.data.next = self.value.val();
        self.first.next = self.one.last.val();
        self.second.next = self.two.last.val();
    }
}

#[test]
fn a_block_is_split_where_it_would_be_a_loop() {
    let text = super::emit(&Around::default(), "around").unwrap().verilog();
    assert_eq!(text.matches("always @*").count(), 2, "{text}");
    check(Around::default());
}

/// A vector whose elements are made from each other, each in an `if` of its own.
#[derive(LogicBlock)]
pub struct Steps {
    pub a: Signal<In, Bits<8>>,
    pub b: Signal<In, Bits<8>>,
    pub y: Signal<Out, Bits<8>>,
    pub z: Signal<Out, Bits<8>>,
    step: Vec<Signal<Local, Bits<8>>>,
    between: Signal<Local, Bits<8>>,
}

impl Default for Steps {
    fn default() -> Self {
        Self {
            a: Signal::default(),
            b: Signal::default(),
            y: Signal::default(),
            z: Signal::default(),
            step: vec![Signal::default(); 4],
            between: Signal::default(),
        }
    }
}

impl Logic for Steps {
    #[hdl_gen]
    fn update(&mut self) {
        self.step[0].next = self.a.val();
        if self.b.val().get_bit(0) {
            self.step[0].next = self.a.val() + 3;
        }
        for i in 1..4 {
            self.step[i].next = bits::<8>(0);
            if self.b.val().get_bit(i) {
                self.step[i].next = self.step[i - 1].val() + self.a.val();
            }
        }
        self.between.next = self.step[3].val();
        if self.a.val().get_bit(0) {
            self.between.next = self.step[1].val() ^ self.step[2].val();
        }
        self.y.next = self.between.val();
        self.z.next = self.step[2].val();
    }
}

/// Verilator orders blocks by whole vectors, and is silent where it takes what a block reads for
/// what the block drives.
#[test]
fn blocks_that_read_their_own_vector_are_one() {
    let text = super::emit(&Steps::default(), "steps").unwrap().verilog();
    assert_eq!(text.matches("always @*").count(), 2, "{text}");
    check(Steps::default());
}

#[test]
fn interfaces() {
    check_with(Buses::default(), 10_000, |unit, random, _| {
        unit.outside.valid.next = random() & 1 == 1;
        unit.outside.data.next = (random() & 0xff).into();
    });
}

#[test]
fn widths_and_precedence() {
    check(Widths::default());
}

#[test]
fn signed_numbers() {
    check(Signs::default());
}

#[test]
fn statements() {
    check(Statements::default());
}
