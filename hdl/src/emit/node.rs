//! Expressions with a width at every node, and the functions that build and simplify them.
//!
//! Every node means a vector of exactly `width` bits. The operands of an arithmetic or bitwise
//! operator have the width of its result and nothing widens or narrows implicitly, so that
//! Verilog's rules for the width of an expression (IEEE 1364-2005, section 5.4) cannot change its
//! meaning.

use num_bigint::BigUint;
use rust_hdl::prelude::clog2;

/// Index of a variable in its module.
pub type VarId = usize;

/// Two-operand operators whose operands and result have the same width, except for the shift
/// amounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    /// `&&` of single bits.
    LogicalAnd,
    /// `||` of single bits.
    LogicalOr,
}

/// Comparisons: operands of equal width, one bit of result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CmpOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Reductions to one bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    All,
    Any,
    Xor,
}

/// An expression of `width` bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    pub width: usize,
    pub ex: Ex,
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ex {
    /// A number, with the name of its localparam if it has one.
    Const(BigUint, Option<String>),
    /// Bits of a variable from a given bit on.
    Ref(VarId, usize),
    /// Bits of an expression from a given bit on.
    Slice(Box<Node>, usize),
    Not(Box<Node>),
    Bin(BinOp, Box<Node>, Box<Node>),
    /// Comparison; as two's complement numbers if the flag is set.
    Cmp(CmpOp, bool, Box<Node>, Box<Node>),
    Reduce(ReduceOp, Box<Node>),
    /// Most significant first.
    Concat(Vec<Node>),
    /// The same bits several times.
    Repeat(Box<Node>, usize),
    /// Bit at a computed position.
    Bit(Box<Node>, Box<Node>),
    /// `width` bits from a computed position on, which lie inside the first operand.
    Part(Box<Node>, Box<Node>),
    /// The first operand with the bit at a computed position replaced.
    ReplaceBit(Box<Node>, Box<Node>, Box<Node>),
}

/// `value` as a position, unless it is too large for one.
pub fn to_usize(value: &BigUint) -> Option<usize> {
    usize::try_from(value).ok()
}

/// All ones.
pub fn ones(width: usize) -> BigUint {
    (BigUint::from(1u8) << width) - BigUint::from(1u8)
}

impl Node {
    pub fn new(width: usize, ex: Ex) -> Self {
        Self { width, ex }
    }

    /// The constant `value` modulo `2^width`.
    pub fn constant(value: impl Into<BigUint>, width: usize) -> Self {
        Self::new(width, Ex::Const(value.into() & ones(width), None))
    }

    pub fn zero(width: usize) -> Self {
        Self::constant(0u32, width)
    }

    pub fn reference(var: VarId, lsb: usize, width: usize) -> Self {
        Self::new(width, Ex::Ref(var, lsb))
    }

    /// The value of a constant.
    pub fn as_const(&self) -> Option<&BigUint> {
        match &self.ex {
            Ex::Const(v, _) => Some(v),
            _ => None,
        }
    }

    fn is_zero(&self) -> bool {
        self.as_const().is_some_and(|v| v.bits() == 0)
    }

    fn is_ones(&self) -> bool {
        self.as_const().is_some_and(|v| *v == ones(self.width))
    }

    /// Operands, in order.
    pub fn operands(&self) -> Vec<&Node> {
        match &self.ex {
            Ex::Const(..) | Ex::Ref(..) => vec![],
            Ex::Slice(a, _) | Ex::Not(a) | Ex::Reduce(_, a) | Ex::Repeat(a, _) => vec![a],
            Ex::Bin(_, a, b) | Ex::Cmp(_, _, a, b) | Ex::Bit(a, b) | Ex::Part(a, b) => vec![a, b],
            Ex::Concat(parts) => parts.iter().collect(),
            Ex::ReplaceBit(a, b, c) => vec![a, b, c],
        }
    }

    /// Calls `f` with variable, lowest bit and width of everything read.
    pub fn for_each_ref(&self, f: &mut impl FnMut(VarId, usize, usize)) {
        if let Ex::Ref(var, lsb) = self.ex {
            f(var, lsb, self.width);
        }
        for operand in self.operands() {
            operand.for_each_ref(f);
        }
    }

    /// Number of nodes.
    pub fn size(&self) -> usize {
        1 + self.operands().iter().map(|n| n.size()).sum::<usize>()
    }

    /// Replaces every reference for which `f` gives something else.
    pub fn map_refs(&self, f: &impl Fn(VarId, usize, usize) -> Option<Node>) -> Node {
        let w = self.width;
        match &self.ex {
            Ex::Const(..) => self.clone(),
            Ex::Ref(var, lsb) => f(*var, *lsb, w).unwrap_or_else(|| self.clone()),
            Ex::Slice(a, lsb) => slice(&a.map_refs(f), *lsb, w),
            Ex::Not(a) => not(a.map_refs(f)),
            Ex::Reduce(op, a) => reduce(*op, a.map_refs(f)),
            Ex::Repeat(a, n) => repeat(a.map_refs(f), *n),
            Ex::Bin(op, a, b) => binary(*op, a.map_refs(f), b.map_refs(f)),
            Ex::Cmp(op, signed, a, b) => compare(*op, *signed, a.map_refs(f), b.map_refs(f)),
            Ex::Bit(a, b) => bit(a.map_refs(f), b.map_refs(f)),
            Ex::Part(a, b) => part(a.map_refs(f), b.map_refs(f), w),
            Ex::Concat(parts) => concat(parts.iter().map(|p| p.map_refs(f)).collect()),
            Ex::ReplaceBit(a, b, c) => replace_bit(a.map_refs(f), b.map_refs(f), c.map_refs(f)),
        }
    }
}

/// Concatenation, most significant first; joins neighbours that are one constant or one range of a
/// variable.
pub fn concat(parts: Vec<Node>) -> Node {
    let mut flat: Vec<Node> = Vec::new();
    let mut add = |part: Node| {
        if part.width == 0 {
            return;
        }
        if let Some(last) = flat.last_mut() {
            let width = last.width + part.width;
            let joined = match (&last.ex, &part.ex) {
                (Ex::Const(a, _), Ex::Const(b, _)) => Some(Node::constant((a << part.width) | b, width)),
                (Ex::Ref(v, hi), Ex::Ref(u, lo)) if v == u && *hi == lo + part.width => {
                    Some(Node::reference(*v, *lo, width))
                }
                _ => None,
            };
            if let Some(joined) = joined {
                *last = joined;
                return;
            }
        }
        flat.push(part);
    };
    for part in parts {
        match part.ex {
            Ex::Concat(inner) => inner.into_iter().for_each(&mut add),
            _ => add(part),
        }
    }
    if flat.len() == 1 {
        return flat.remove(0);
    }
    Node::new(flat.iter().map(|p| p.width).sum(), Ex::Concat(flat))
}

/// `count` copies of `a`.
pub fn repeat(a: Node, count: usize) -> Node {
    if count == 1 {
        return a;
    }
    if a.as_const().is_some() || count == 0 {
        return concat(vec![a; count]);
    }
    Node::new(a.width * count, Ex::Repeat(Box::new(a), count))
}

/// Zero-extends or truncates.
pub fn resize(a: &Node, width: usize) -> Node {
    if width > a.width {
        concat(vec![Node::zero(width - a.width), a.clone()])
    } else {
        slice(a, 0, width)
    }
}

/// Sign-extends or truncates.
pub fn resize_signed(a: &Node, width: usize) -> Node {
    if width > a.width {
        concat(vec![repeat(slice(a, a.width - 1, 1), width - a.width), a.clone()])
    } else {
        slice(a, 0, width)
    }
}

/// `width` bits of `a` from bit `lsb` on; they lie inside `a`.
pub fn slice(a: &Node, lsb: usize, width: usize) -> Node {
    if lsb == 0 && width == a.width {
        return a.clone();
    }
    let sub = |n: &Node| slice(n, lsb, width);
    match &a.ex {
        Ex::Const(v, _) => Node::constant(v >> lsb, width),
        Ex::Ref(var, base) => Node::reference(*var, base + lsb, width),
        Ex::Slice(inner, base) => slice(inner, base + lsb, width),
        Ex::Not(x) => not(sub(x)),
        Ex::Bin(op @ (BinOp::And | BinOp::Or | BinOp::Xor), x, y) => binary(*op, sub(x), sub(y)),
        Ex::Bin(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), x, y) if lsb == 0 => binary(*op, sub(x), sub(y)),
        Ex::Bin(BinOp::Shl, x, y) if lsb == 0 => binary(BinOp::Shl, sub(x), (**y).clone()),
        Ex::Bin(BinOp::Shr, x, y) if lsb == 0 && lies_inside(x, y, width) => inside_part(x, y, width),
        Ex::Concat(parts) => {
            let (mut position, mut picked) = (a.width, Vec::new());
            for part in parts {
                position -= part.width;
                let (low, high) = (lsb.max(position), (lsb + width).min(position + part.width));
                if low < high {
                    picked.push(slice(part, low - position, high - low));
                }
            }
            concat(picked)
        }
        Ex::Repeat(x, n) => slice(&concat_copies(x, *n), lsb, width),
        _ => Node::new(width, Ex::Slice(Box::new(a.clone()), lsb)),
    }
}

fn concat_copies(a: &Node, count: usize) -> Node {
    Node::new(a.width * count, Ex::Concat(vec![a.clone(); count]))
}

/// Complement of every bit.
pub fn not(a: Node) -> Node {
    let width = a.width;
    match a.ex {
        Ex::Const(v, _) => Node::constant(v ^ ones(width), width),
        Ex::Not(inner) => *inner,
        Ex::Cmp(CmpOp::Eq, s, x, y) => Node::new(1, Ex::Cmp(CmpOp::Ne, s, x, y)),
        Ex::Cmp(CmpOp::Ne, s, x, y) => Node::new(1, Ex::Cmp(CmpOp::Eq, s, x, y)),
        _ => Node::new(width, Ex::Not(Box::new(a))),
    }
}

/// A two-operand operation; the operands have equal widths, except for the amount of a shift.
pub fn binary(op: BinOp, a: Node, b: Node) -> Node {
    use BinOp::{Add, And, LogicalAnd, LogicalOr, Mul, Or, Shl, Shr, Sub, Xor};
    let width = a.width;
    if let (Some(x), Some(y)) = (a.as_const(), b.as_const()) {
        let value = match op {
            Add => x + y,
            Sub => x + (ones(width) ^ y) + BigUint::from(1u8),
            Mul => x * y,
            And | LogicalAnd => x & y,
            Or | LogicalOr => x | y,
            Xor => x ^ y,
            Shl => to_usize(y).filter(|n| *n < width).map_or(BigUint::default(), |n| x << n),
            Shr => to_usize(y).filter(|n| *n < width).map_or(BigUint::default(), |n| x >> n),
        };
        return Node::constant(value, width);
    }
    match op {
        And | LogicalAnd if a.is_zero() || b.is_zero() => return Node::zero(width),
        And | LogicalAnd if a.is_ones() => return b,
        And | LogicalAnd if b.is_ones() => return a,
        Or | LogicalOr if a.is_ones() || b.is_ones() => return Node::constant(ones(width), width),
        Or | LogicalOr | Xor | Add if a.is_zero() => return b,
        Or | LogicalOr | Xor | Add | Sub if b.is_zero() => return a,
        Xor if a.is_ones() => return not(b),
        Xor if b.is_ones() => return not(a),
        Mul if a.is_zero() || b.is_zero() => return Node::zero(width),
        Shl | Shr if a.is_zero() => return a,
        Shl | Shr => {
            if let Some(amount) = b.as_const() {
                let amount = to_usize(amount).unwrap_or(width).min(width);
                let rest = width - amount;
                return match op {
                    _ if rest == 0 => Node::zero(width),
                    Shl => concat(vec![slice(&a, 0, rest), Node::zero(amount)]),
                    _ => concat(vec![Node::zero(amount), slice(&a, amount, rest)]),
                };
            }
        }
        Or | Xor | Add => {
            if let Some(joined) = interleave(&a, &b) {
                return joined;
            }
        }
        _ => {}
    }
    Node::new(width, Ex::Bin(op, Box::new(a), Box::new(b)))
}

/// `a | b` as a concatenation, if at every bit one of them is a constant zero: this is how
/// rust-hdl, which has no concatenation, puts vectors together.
fn interleave(a: &Node, b: &Node) -> Option<Node> {
    let segments = |n: &Node| -> Vec<Node> {
        match &n.ex {
            Ex::Concat(parts) => parts.clone(),
            _ => vec![n.clone()],
        }
    };
    let (a, b) = (segments(a), segments(b));
    if a.len() < 2 && b.len() < 2 {
        return None;
    }
    let (mut x, mut y) = (a.into_iter(), b.into_iter());
    let (mut left, mut right) = (x.next()?, y.next()?);
    let mut parts = Vec::new();
    loop {
        // The longer of the two segments must be the zero where they differ in length, or be cut at
        // the other's end.
        let width = left.width.min(right.width);
        let top = |n: &Node| slice(n, n.width - width, width);
        let whole = |n: &Node| n.width == width || n.as_const().is_some();
        if left.is_zero() && whole(&right) {
            parts.push(top(&right));
        } else if right.is_zero() && whole(&left) {
            parts.push(top(&left));
        } else if left.is_zero() || right.is_zero() {
            // Part of an expression that goes on under the other's next segment.
            let expression = if left.is_zero() { &right } else { &left };
            if !matches!(expression.ex, Ex::Ref(..)) {
                return None;
            }
            parts.push(top(expression));
        } else {
            return None;
        }
        let advance = |n: Node, rest: &mut std::vec::IntoIter<Node>| {
            if n.width == width {
                rest.next()
            } else {
                Some(slice(&n, 0, n.width - width))
            }
        };
        match (advance(left, &mut x), advance(right, &mut y)) {
            (Some(l), Some(r)) => (left, right) = (l, r),
            (None, None) => return Some(concat(parts)),
            _ => return None,
        }
    }
}

/// A comparison of operands of equal width.
pub fn compare(op: CmpOp, signed: bool, a: Node, b: Node) -> Node {
    use CmpOp::{Eq, Ge, Gt, Le, Lt, Ne};
    let truth = |t: bool| Node::constant(u8::from(t), 1);
    if a == b {
        return truth(matches!(op, Eq | Le | Ge));
    }
    if let (Some(x), Some(y)) = (a.as_const(), b.as_const()) {
        let bias = if signed { BigUint::from(1u8) << (a.width - 1) } else { BigUint::default() };
        let order = (x ^ &bias).cmp(&(y ^ &bias));
        return truth(match op {
            Eq => order.is_eq(),
            Ne => order.is_ne(),
            Lt => order.is_lt(),
            Le => order.is_le(),
            Gt => order.is_gt(),
            Ge => order.is_ge(),
        });
    }
    if a.width == 1 && matches!(op, Eq | Ne) {
        for (x, y) in [(&a, &b), (&b, &a)] {
            if x.as_const().is_some() {
                return if x.is_zero() == (op == Eq) { not(y.clone()) } else { y.clone() };
            }
        }
    }
    if !signed {
        // Comparisons that no value can change, which lint tools rightly report.
        match op {
            Lt if b.is_zero() || a.is_ones() => return truth(false),
            Gt if a.is_zero() || b.is_ones() => return truth(false),
            Ge if b.is_zero() || a.is_ones() => return truth(true),
            Le if a.is_zero() || b.is_ones() => return truth(true),
            Gt if b.is_zero() => return Node::new(1, Ex::Cmp(Ne, false, Box::new(a), Box::new(b))),
            Lt if a.is_zero() => return Node::new(1, Ex::Cmp(Ne, false, Box::new(b), Box::new(a))),
            Le if b.is_zero() => return compare(Eq, false, a, b),
            Ge if a.is_zero() => return compare(Eq, false, b, a),
            Lt if b.is_ones() => return compare(Ne, false, a, b),
            Gt if a.is_ones() => return compare(Ne, false, b, a),
            Ge if b.is_ones() => return compare(Eq, false, a, b),
            Le if a.is_ones() => return compare(Eq, false, b, a),
            _ => {}
        }
    }
    Node::new(1, Ex::Cmp(op, signed, Box::new(a), Box::new(b)))
}

/// A reduction to one bit.
pub fn reduce(op: ReduceOp, a: Node) -> Node {
    if a.width == 1 {
        return a;
    }
    if let Some(v) = a.as_const() {
        let truth = match op {
            ReduceOp::All => *v == ones(a.width),
            ReduceOp::Any => v.bits() != 0,
            ReduceOp::Xor => v.iter_u64_digits().map(u64::count_ones).sum::<u32>() % 2 == 1,
        };
        return Node::constant(u8::from(truth), 1);
    }
    Node::new(1, Ex::Reduce(op, Box::new(a)))
}

/// Bit `index` of `a`.
pub fn bit(a: Node, index: Node) -> Node {
    match index.as_const().map(to_usize) {
        Some(Some(i)) if i < a.width => slice(&a, i, 1),
        Some(_) => Node::zero(1),
        None if a.as_const().is_some() => slice(&binary(BinOp::Shr, a, index), 0, 1),
        None => Node::new(1, Ex::Bit(Box::new(a), Box::new(index))),
    }
}

/// The largest value that `a` can take, as far as its form shows.
pub fn maximum(a: &Node) -> BigUint {
    match &a.ex {
        Ex::Const(v, _) => v.clone(),
        Ex::Concat(parts) => {
            parts.iter().fold(BigUint::default(), |sum, part| (sum << part.width) + maximum(part))
        }
        Ex::Bin(BinOp::And, x, y) => maximum(x).min(maximum(y)),
        Ex::Bin(BinOp::Add, x, y) => (maximum(x) + maximum(y)).min(ones(a.width)),
        Ex::Bin(BinOp::Mul, x, y) => (maximum(x) * maximum(y)).min(ones(a.width)),
        Ex::Bin(BinOp::Or | BinOp::Xor, x, y) => ones(maximum(x).max(maximum(y)).bits() as usize),
        Ex::Bin(BinOp::Shr, x, _) => maximum(x),
        Ex::Slice(x, lsb) => (maximum(x) >> lsb).min(ones(a.width)),
        _ => ones(a.width),
    }
}

/// The form of `offset` shows that `width` bits from there on are bits of `a`.
fn lies_inside(a: &Node, offset: &Node, width: usize) -> bool {
    maximum(offset) + BigUint::from(width) <= BigUint::from(a.width)
}

/// A position in a vector of `width` bits, as wide as such a position is: lint tools report other
/// widths.
pub fn position(index: &Node, width: usize) -> Node {
    resize(index, clog2(width).max(1))
}

/// An indexed part-select of bits that lie inside `a`.
fn inside_part(a: &Node, offset: &Node, width: usize) -> Node {
    let offset = position(offset, a.width);
    Node::new(width, Ex::Part(Box::new(a.clone()), Box::new(offset)))
}

/// `width` bits of `a` from bit `offset` on; bits beyond `a` are zero.
pub fn part(a: Node, offset: Node, width: usize) -> Node {
    if let Some(lsb) = offset.as_const().map(|v| to_usize(v).unwrap_or(a.width).min(a.width)) {
        let inside = width.min(a.width - lsb);
        return concat(vec![Node::zero(width - inside), slice(&a, lsb, inside)]);
    }
    if a.as_const().is_none() && lies_inside(&a, &offset, width) {
        return inside_part(&a, &offset, width);
    }
    resize(&binary(BinOp::Shr, a, offset), width)
}

/// `a` with bit `index` replaced by `value`.
pub fn replace_bit(a: Node, index: Node, value: Node) -> Node {
    match index.as_const().map(to_usize) {
        Some(Some(i)) if i < a.width => {
            concat(vec![slice(&a, i + 1, a.width - i - 1), value, slice(&a, 0, i)])
        }
        Some(_) => a,
        None => Node::new(a.width, Ex::ReplaceBit(Box::new(a), Box::new(index), Box::new(value))),
    }
}
