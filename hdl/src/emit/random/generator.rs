//! Random expressions and kernels that are right by Rust's types.

use rand::seq::SliceRandom;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogCase, VerilogConditional, VerilogExpression as E,
    VerilogMatch, VerilogOp as Op, VerilogOpUnary as Unary, VerilogStatement as S,
};

use super::fake::Ty;

/// Widths of the inputs and of most values in between.
pub const WIDTHS: [usize; 10] = [1, 2, 5, 8, 16, 31, 32, 33, 64, 70];

/// Makes expressions over the signals it knows.
pub struct Generator<'a> {
    pub random: &'a mut ChaCha8Rng,
    /// Signals that may be read now.
    pub readable: Vec<(String, Ty)>,
}

fn boxed(e: E) -> Box<E> {
    Box::new(e)
}

fn literal(value: u64) -> E {
    E::Literal(value.into())
}

impl Generator<'_> {
    fn width(&mut self) -> usize {
        if self.random.gen_bool(0.1) {
            self.random.gen_range(1..90)
        } else {
            *WIDTHS.choose(self.random).unwrap()
        }
    }

    /// A random type.
    pub fn ty(&mut self) -> Ty {
        let width = self.width();
        Ty { width, signed: width > 1 && self.random.gen_bool(0.15) }
    }

    /// So many signals: each of its own type, or elements of one vector.
    pub fn signals(&mut self, name: &str, count: usize) -> Vec<(String, Ty)> {
        if self.random.gen() {
            return (0..count).map(|i| (format!("{name}{i}"), self.ty())).collect();
        }
        let ty = self.ty();
        (0..count).map(|i| (format!("{name}${i}"), ty)).collect()
    }

    /// A literal that fits in `width` bits.
    fn literal(&mut self, width: usize) -> E {
        let value = match self.random.gen_range(0..4) {
            0 => 0,
            1 => u64::MAX,
            2 => self.random.gen_range(0..4),
            _ => self.random.gen(),
        };
        literal(if width < 64 { value & ((1 << width) - 1) } else { value })
    }

    /// A signal of the type, or one that is cast to it.
    fn leaf(&mut self, ty: Ty) -> E {
        let same: Vec<String> =
            self.readable.iter().filter(|(_, t)| *t == ty).map(|(n, _)| n.clone()).collect();
        if let Some(name) = same.choose(self.random) {
            return E::Signal(name.clone());
        }
        if ty.signed {
            return E::Signed(boxed(self.leaf(Ty::bits(ty.width))));
        }
        let unsigned: Vec<String> =
            self.readable.iter().filter(|(_, t)| !t.signed).map(|(n, _)| n.clone()).collect();
        match unsigned.choose(self.random) {
            Some(name) if self.random.gen_bool(0.8) => E::Cast(boxed(E::Signal(name.clone())), ty.width),
            _ => E::Cast(boxed(self.literal(ty.width.min(60))), ty.width),
        }
    }

    /// A position in a vector of `width` bits.
    fn position(&mut self, width: usize, depth: usize) -> E {
        if width.is_power_of_two() && width > 1 && self.random.gen_bool(0.6) {
            let bits = width.trailing_zeros() as usize;
            let index = self.expression(Ty::bits(bits), depth);
            return if self.random.gen_bool(0.3) { E::Cast(boxed(index), bits + 3) } else { index };
        }
        literal(self.random.gen_range(0..width) as u64)
    }

    /// An expression of the type, at most about `depth` levels deep.
    pub fn expression(&mut self, ty: Ty, depth: usize) -> E {
        if depth == 0 {
            return self.leaf(ty);
        }
        let d = depth - 1;
        if self.random.gen_bool(0.1) {
            return E::Paren(boxed(self.expression(ty, d)));
        }
        if ty.signed {
            return self.signed(ty, d);
        }
        let w = ty.width;
        match self.random.gen_range(0..if w == 1 { 18 } else { 12 }) {
            0..=3 => {
                let op = [Op::Add, Op::Sub, Op::BitAnd, Op::BitOr, Op::BitXor]
                    .choose(self.random)
                    .unwrap()
                    .clone();
                self.operands(ty, op, d)
            }
            4 => E::Unary(Unary::Not, boxed(self.expression(ty, d))),
            5 => {
                let op = if self.random.gen() { Op::Shl } else { Op::Shr };
                let amount = if self.random.gen() {
                    literal(self.random.gen_range(0..w as u64 + 3))
                } else {
                    let bits = self.random.gen_range(1..8);
                    self.expression(Ty::bits(bits), d)
                };
                E::Binary(boxed(self.expression(ty, d)), op, boxed(amount))
            }
            6 | 7 => {
                let from = self.width();
                E::Cast(boxed(self.expression(Ty::bits(from), d)), w)
            }
            8 => {
                let from = self.width();
                let offset = if self.random.gen() {
                    literal(self.random.gen_range(0..=from as u64))
                } else {
                    self.position(from, d)
                };
                E::Slice(boxed(self.expression(Ty::bits(from), d)), w, boxed(offset))
            }
            9 => {
                let (base, index) = (self.expression(ty, d), self.position(w, d));
                E::IndexReplace(boxed(base), boxed(index), boxed(self.expression(Ty::bits(1), d)))
            }
            10 if w == 32 => {
                let (a, b) = (self.expression(Ty::bits(16), d), self.expression(Ty::bits(16), d));
                E::Binary(boxed(a), Op::Mul, boxed(b))
            }
            10 if w > 1 => {
                // Bits<N> + bool
                let (a, b) = (self.expression(ty, d), self.expression(Ty::bits(1), d));
                E::Binary(boxed(a), Op::Add, boxed(b))
            }
            11 => E::Unsigned(boxed(self.expression(Ty { width: w, signed: w > 1 }, d))).into_unsigned(w),
            12 | 13 => {
                let op =
                    [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge].choose(self.random).unwrap().clone();
                let ty = self.ty();
                if ty.signed {
                    let (a, b) = (self.expression(ty, d), self.expression(ty, d));
                    E::Binary(boxed(a), op, boxed(b))
                } else {
                    self.operands(ty, op, d)
                }
            }
            14 => {
                let op = if self.random.gen() { Op::LogicalAnd } else { Op::LogicalOr };
                E::Binary(boxed(self.expression(ty, d)), op, boxed(self.expression(ty, d)))
            }
            15 => {
                let from = self.width();
                let op = [Unary::All, Unary::Any, Unary::Xor].choose(self.random).unwrap().clone();
                E::Unary(op, boxed(self.expression(Ty::bits(from), d)))
            }
            _ => {
                let from = self.width();
                let (base, index) = (self.expression(Ty::bits(from), d), self.position(from, d));
                E::Index(boxed(base), boxed(index))
            }
        }
    }

    /// Two operands of one type, one of them perhaps a literal.
    fn operands(&mut self, ty: Ty, op: Op, depth: usize) -> E {
        let (a, b) = (self.expression(ty, depth), self.expression(ty, depth));
        match self.random.gen_range(0..8) {
            0 if ty.width > 1 => E::Binary(boxed(a), op, boxed(self.literal(ty.width))),
            1 if ty.width > 1 => E::Binary(boxed(self.literal(ty.width)), op, boxed(b)),
            _ => E::Binary(boxed(a), op, boxed(b)),
        }
    }

    fn signed(&mut self, ty: Ty, d: usize) -> E {
        match self.random.gen_range(0..7) {
            0 | 1 => {
                let op = if self.random.gen() { Op::Add } else { Op::Sub };
                E::Binary(boxed(self.expression(ty, d)), op, boxed(self.expression(ty, d)))
            }
            2 => E::Unary(Unary::Neg, boxed(self.expression(ty, d))),
            3 if ty.width == 32 => {
                let half = Ty { width: 16, signed: true };
                E::Binary(boxed(self.expression(half, d)), Op::Mul, boxed(self.expression(half, d)))
            }
            4 => {
                // signed_bit_cast, whose width comes from the other operand
                let from = Ty { width: self.width().max(2), signed: true };
                let stretched = E::Signed(boxed(self.expression(from, d)));
                E::Binary(boxed(self.expression(ty, d)), Op::Add, boxed(stretched))
            }
            _ => E::Signed(boxed(self.expression(Ty::bits(ty.width), d))),
        }
    }
}

trait IntoUnsigned {
    /// An expression of one bit has no signed form: the operand itself.
    fn into_unsigned(self, width: usize) -> E;
}

impl IntoUnsigned for E {
    fn into_unsigned(self, width: usize) -> E {
        match self {
            E::Unsigned(inner) if width == 1 => *inner,
            other => other,
        }
    }
}

/// A kernel's signals: outputs and locals, and the registers.
pub struct Targets {
    pub signals: Vec<(String, Ty)>,
    pub registers: Vec<(String, Ty)>,
}

impl Generator<'_> {
    /// A random kernel that assigns every target on every path: first a default for each signal in
    /// some order, between them and after them `if`s, `match`es and assignments to what has its
    /// default already.
    pub fn kernel(&mut self, targets: &Targets) -> VerilogBlock {
        let mut block = VerilogBlock::new();
        let next = |name: &str| E::Signal(format!("{name}$next"));
        for (name, _) in &targets.registers {
            block
                .push(S::Assignment(E::Signal(format!("{name}$clock$next")), E::Signal("clock".to_string())));
            block.push(S::Assignment(E::Signal(format!("{name}$d$next")), E::Signal(format!("{name}$q"))));
        }
        let mut assignable: Vec<(String, Ty)> =
            targets.registers.iter().map(|(n, t)| (format!("{n}$d"), *t)).collect();
        let mut order = targets.signals.clone();
        order.shuffle(self.random);
        for (name, ty) in order {
            let value = self.expression(ty, 3);
            block.push(S::Assignment(next(&name), value));
            self.readable.push((name.clone(), ty));
            assignable.push((name, ty));
            while self.random.gen_bool(0.4) {
                let statement = self.statement(&assignable, 2);
                block.push(statement);
            }
        }
        for _ in 0..self.random.gen_range(1..5) {
            let statement = self.statement(&assignable, 3);
            block.push(statement);
        }
        block
    }

    fn statements(&mut self, assignable: &[(String, Ty)], depth: usize) -> VerilogBlock {
        (0..self.random.gen_range(1..4)).map(|_| self.statement(assignable, depth)).collect()
    }

    fn statement(&mut self, assignable: &[(String, Ty)], depth: usize) -> S {
        match self.random.gen_range(0..if depth == 0 { 3 } else { 6 }) {
            3 | 4 => {
                let test = self.expression(Ty::bits(1), 2);
                let then = self.statements(assignable, depth - 1);
                let otherwise = match self.random.gen_range(0..3) {
                    0 => VerilogBlockOrConditional::None,
                    1 => VerilogBlockOrConditional::Block(self.statements(assignable, depth - 1)),
                    _ => {
                        let test = self.expression(Ty::bits(1), 2);
                        let then = self.statements(assignable, depth - 1);
                        let otherwise = VerilogBlockOrConditional::None;
                        let inner = VerilogConditional { test, then, otherwise };
                        VerilogBlockOrConditional::Conditional(Box::new(S::If(inner)))
                    }
                };
                S::If(VerilogConditional { test, then, otherwise })
            }
            5 => {
                let width = self.random.gen_range(1..5);
                let test = self.expression(Ty::bits(width), 2);
                let mut labels: Vec<u32> = (0..1 << width).collect();
                labels.shuffle(self.random);
                labels.truncate(self.random.gen_range(1..=labels.len()));
                let mut cases: Vec<VerilogCase> = labels
                    .into_iter()
                    .map(|l| VerilogCase {
                        condition: l.to_string(),
                        block: self.statements(assignable, depth - 1),
                    })
                    .collect();
                let block =
                    if self.random.gen() { self.statements(assignable, depth - 1) } else { Vec::new() };
                cases.push(VerilogCase { condition: "default".to_string(), block });
                S::Match(VerilogMatch { test, cases })
            }
            _ => {
                let (name, ty) = assignable.choose(self.random).unwrap().clone();
                S::Assignment(E::Signal(format!("{name}$next")), self.expression(ty, 3))
            }
        }
    }
}
