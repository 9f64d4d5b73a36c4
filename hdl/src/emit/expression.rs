//! The meaning of the expressions in a kernel: Rust's types decide every width.

use num_bigint::{BigInt, BigUint, Sign};
use rust_hdl::prelude::ast::{VerilogExpression, VerilogOp, VerilogOpUnary};
use rust_hdl::prelude::clog2;

use super::kernel::Kernel;
use super::node::{self, BinOp, CmpOp, Ex, Node, ReduceOp};
use super::scope::{literal_value, modulo};
use super::unit::Target;
use super::EmitError;

type Result<T> = std::result::Result<T, EmitError>;

/// The value of an expression as far as its form tells its type.
#[derive(Clone, Debug)]
pub enum Value {
    /// An integer literal, loop variable or `_field`: it takes the width of what it meets.
    Integer(BigInt),
    /// `Bits` or `bool`, or `Signed` if the flag is set.
    Bits(Node, bool),
    /// `signed_bit_cast` of the node: sign-extended or truncated to the width of what it meets.
    SignedCast(Node),
}

impl Kernel<'_> {
    /// The value as exactly `width` bits.
    pub(super) fn coerce(&self, value: Value, width: usize, signed: bool, what: &str) -> Result<Node> {
        match value {
            Value::Integer(v) => {
                let limit = if signed { width.saturating_sub(1) } else { width };
                let fits = match v.sign() {
                    Sign::Minus => signed && (-&v - 1i32).bits() <= limit as u64,
                    _ => v.bits() <= limit as u64,
                };
                if !fits {
                    return Err(self.unsupported(format!("{what}: {v} does not fit in {width} bits")));
                }
                Ok(Node::constant(modulo(&v, width), width))
            }
            Value::Bits(n, _) if n.width == width => Ok(n),
            Value::Bits(n, _) => Err(EmitError::Width {
                path: self.context.clone(),
                what: what.to_string(),
                left: width,
                right: n.width,
            }),
            Value::SignedCast(n) => Ok(node::resize_signed(&n, width)),
        }
    }

    /// The value as bits of the width it has by itself.
    pub(super) fn bits(&self, value: Value, what: &str) -> Result<Node> {
        match value {
            Value::Bits(n, _) => Ok(n),
            Value::Integer(v) if v == BigInt::from(0) || v == BigInt::from(1) => {
                Ok(Node::constant(modulo(&v, 1), 1))
            }
            Value::Integer(v) => {
                Err(self.unsupported(format!("{what}: the width of {v} is not known; write bits::<N>({v})")))
            }
            Value::SignedCast(_) => Err(self.unsupported(format!(
                "{what}: the width of a signed_bit_cast is only known in an assignment or beside an operand; assign it to a Local first"
            ))),
        }
    }

    /// The value of a constant integer expression.
    pub(super) fn integer(&mut self, expression: &VerilogExpression) -> Option<BigInt> {
        match self.value(expression) {
            Ok(Value::Integer(v)) => Some(v),
            Ok(Value::Bits(n, _)) => n.as_const().map(|v| v.clone().into()),
            _ => None,
        }
    }

    fn signal(&mut self, name: &str) -> Result<Value> {
        if let Some(value) = self.environment.get(name) {
            return Ok(Value::Integer(value.clone()));
        }
        Ok(match self.lookup(name)? {
            Target::Bits { var, lsb, width, signed } => Value::Bits(Node::reference(var, lsb, width), signed),
            Target::Constant { value, width, signed, name } => {
                if let Some(name) = &name {
                    self.unit.localparams.insert(name.clone(), (value.clone(), width));
                }
                Value::Bits(Node::new(width, Ex::Const(value, name)), signed)
            }
            Target::RegisterClock(_) | Target::RegisterReset(_) => {
                return Err(
                    self.unsupported("the clock and reset of a register cannot be read: read the unit's own")
                )
            }
        })
    }

    /// The value of an expression.
    pub fn value(&mut self, expression: &VerilogExpression) -> Result<Value> {
        Ok(match expression {
            VerilogExpression::Signal(name) => self.signal(name)?,
            VerilogExpression::Literal(literal) => {
                let value = literal_value(literal);
                if format!("{literal:x}").starts_with("1'") {
                    Value::Bits(Node::constant(modulo(&value, 1), 1), false)
                } else {
                    Value::Integer(value)
                }
            }
            VerilogExpression::Paren(inner) => self.value(inner)?,
            VerilogExpression::Cast(inner, width) => match self.value(inner)? {
                Value::Integer(v) => {
                    let number = self.named_beside(inner, Value::Integer(v), *width);
                    Value::Bits(self.coerce(number, *width, false, "cast")?, false)
                }
                other => Value::Bits(node::resize(&self.bits(other, "cast")?, *width), false),
            },
            VerilogExpression::Signed(inner) => match self.value(inner)? {
                Value::Bits(n, false) => Value::Bits(n, true),
                Value::Bits(n, true) => Value::SignedCast(n),
                other => other,
            },
            VerilogExpression::Unsigned(inner) => {
                let value = self.value(inner)?;
                Value::Bits(self.bits(value, "unsigned_cast")?, false)
            }
            VerilogExpression::Binary(a, op, b) => {
                let (left, right) = (self.value(a)?, self.value(b)?);
                let (left, right) = self.named_operands((a, left), op, (b, right));
                self.binary(left, op, right)?
            }
            VerilogExpression::Unary(VerilogOpUnary::Not, a)
                if matches!(**a, VerilogExpression::Literal(_)) =>
            {
                let value = self.value(a)?;
                if let Value::Integer(v) = value {
                    return Err(self.unsupported(format!("!{v} has no width; write !bits::<N>({v})")));
                }
                self.unary(&VerilogOpUnary::Not, value)?
            }
            VerilogExpression::Unary(op, a) => {
                let a = self.value(a)?;
                self.unary(op, a)?
            }
            VerilogExpression::Index(a, index) => {
                let (base, _) = self.base(a, "get_bit")?;
                let index = self.value(index)?;
                let index = self.index(index, base.width, "get_bit")?;
                let bit = if base.width == 1 { base } else { node::bit(base, index) };
                Value::Bits(bit, false)
            }
            VerilogExpression::Slice(a, width, offset) => {
                let (base, signed) = self.base(a, "get_bits")?;
                let offset = self.value(offset)?;
                Value::Bits(self.part(base, offset, *width)?, signed)
            }
            VerilogExpression::IndexReplace(a, index, value) => {
                let (base, signed) = self.base(a, "replace_bit")?;
                let index = self.value(index)?;
                let index = self.index(index, base.width, "replace_bit")?;
                let value = self.value(value)?;
                let value = self.coerce(value, 1, false, "replace_bit")?;
                let replaced = if base.width == 1 { value } else { node::replace_bit(base, index, value) };
                Value::Bits(replaced, signed)
            }
        })
    }

    fn base(&mut self, expression: &VerilogExpression, what: &str) -> Result<(Node, bool)> {
        let value = self.value(expression)?;
        let signed = matches!(value, Value::Bits(_, true));
        Ok((self.bits(value, what)?, signed))
    }

    /// A bit position in a vector of `width` bits. A position outside the vector makes the Rust
    /// model panic, so that the bits dropped here are zero.
    fn index(&self, index: Value, width: usize, what: &str) -> Result<Node> {
        match index {
            Value::Integer(v) => match usize::try_from(&v) {
                Ok(i) if i < width => Ok(Node::constant(BigUint::from(i), clog2(width).max(1))),
                _ => Err(self.unsupported(format!("{what}: there is no bit {v} in {width} bits"))),
            },
            other => {
                let n = self.bits(other, what)?;
                Ok(node::position(&n, width))
            }
        }
    }

    fn part(&self, base: Node, offset: Value, width: usize) -> Result<Node> {
        match offset {
            Value::Integer(v) => match usize::try_from(&v) {
                Ok(i) if i <= base.width => Ok(node::part(base, Node::constant(BigUint::from(i), 64), width)),
                _ => Err(self.unsupported(format!("get_bits: offset {v} in {} bits", base.width))),
            },
            other => {
                let offset = self.bits(other, "get_bits")?;
                Ok(node::part(base, offset, width))
            }
        }
    }

    fn unary(&self, op: &VerilogOpUnary, a: Value) -> Result<Value> {
        let signed = matches!(a, Value::Bits(_, true) | Value::SignedCast(_));
        Ok(match op {
            VerilogOpUnary::Not => Value::Bits(node::not(self.bits(a, "!")?), signed),
            VerilogOpUnary::Neg => match a {
                Value::Integer(v) => Value::Integer(-v),
                other => {
                    let n = self.bits(other, "negation")?;
                    Value::Bits(node::binary(BinOp::Sub, Node::zero(n.width), n), signed)
                }
            },
            VerilogOpUnary::All => Value::Bits(node::reduce(ReduceOp::All, self.bits(a, "all")?), false),
            VerilogOpUnary::Any => Value::Bits(node::reduce(ReduceOp::Any, self.bits(a, "any")?), false),
            VerilogOpUnary::Xor => Value::Bits(node::reduce(ReduceOp::Xor, self.bits(a, "xor")?), false),
        })
    }

    /// Both operands at the same width.
    fn unify(&self, a: Value, b: Value, what: &str) -> Result<(Node, Node, bool)> {
        match (a, b) {
            (Value::Bits(a, s), b) => {
                let b = self.coerce(b, a.width, s, what)?;
                Ok((a, b, s))
            }
            (a, Value::Bits(b, s)) => {
                let a = self.coerce(a, b.width, s, what)?;
                Ok((a, b, s))
            }
            (a, _) => Err(self.bits(a, what).err().unwrap_or_else(|| {
                self.unsupported(format!("{what}: neither operand has a width; write bits::<N>(..)"))
            })),
        }
    }

    fn binary(&self, a: Value, op: &VerilogOp, b: Value) -> Result<Value> {
        if let (Value::Integer(x), Value::Integer(y)) = (&a, &b) {
            return self.integers(x, op, y);
        }
        let arithmetic = |op: BinOp, what: &str| -> Result<Value> {
            let (x, y, signed) = match (&a, &b) {
                // Bits<N> + bool
                (Value::Bits(x, false), Value::Bits(y, false))
                    if op == BinOp::Add && y.width == 1 && x.width > 1 =>
                {
                    (x.clone(), node::resize(y, x.width), false)
                }
                _ => self.unify(a.clone(), b.clone(), what)?,
            };
            Ok(Value::Bits(node::binary(op, x, y), signed))
        };
        let comparison = |op: CmpOp, what: &str| -> Result<Value> {
            let (x, y, signed) = self.unify(a.clone(), b.clone(), what)?;
            Ok(Value::Bits(node::compare(op, signed, x, y), false))
        };
        let logical = |op: BinOp, what: &str| -> Result<Value> {
            let x = self.coerce(a.clone(), 1, false, what)?;
            let y = self.coerce(b.clone(), 1, false, what)?;
            Ok(Value::Bits(node::binary(op, x, y), false))
        };
        match op {
            VerilogOp::Add => arithmetic(BinOp::Add, "+"),
            VerilogOp::Sub => arithmetic(BinOp::Sub, "-"),
            VerilogOp::BitAnd => arithmetic(BinOp::And, "&"),
            VerilogOp::BitOr => arithmetic(BinOp::Or, "|"),
            VerilogOp::BitXor => arithmetic(BinOp::Xor, "^"),
            VerilogOp::LogicalAnd => logical(BinOp::LogicalAnd, "&&"),
            VerilogOp::LogicalOr => logical(BinOp::LogicalOr, "||"),
            VerilogOp::Eq => comparison(CmpOp::Eq, "=="),
            VerilogOp::Ne => comparison(CmpOp::Ne, "!="),
            VerilogOp::Lt => comparison(CmpOp::Lt, "<"),
            VerilogOp::Le => comparison(CmpOp::Le, "<="),
            VerilogOp::Gt => comparison(CmpOp::Gt, ">"),
            VerilogOp::Ge => comparison(CmpOp::Ge, ">="),
            VerilogOp::Shl => self.shift(BinOp::Shl, a, b),
            VerilogOp::Shr => self.shift(BinOp::Shr, a, b),
            VerilogOp::Mul => {
                let (x, y, signed) = self.unify(a, b, "*")?;
                if x.width != 16 {
                    return Err(self.unsupported("only 16 by 16 bit multiplication exists in rust-hdl"));
                }
                let wide = |n: &Node| if signed { node::resize_signed(n, 32) } else { node::resize(n, 32) };
                Ok(Value::Bits(node::binary(BinOp::Mul, wide(&x), wide(&y)), signed))
            }
        }
    }

    fn shift(&self, op: BinOp, a: Value, b: Value) -> Result<Value> {
        let a = match a {
            // A literal on the left of a shift by Bits is 64 bits wide in rust-hdl.
            Value::Integer(_) => self.coerce(a, 64, false, "shift")?,
            other => self.bits(other, "shift")?,
        };
        let b = match b {
            Value::Integer(ref v) => {
                let width = usize::try_from(v.bits()).unwrap_or(64).max(1);
                self.coerce(b, width, false, "shift amount")?
            }
            other => self.bits(other, "shift amount")?,
        };
        Ok(Value::Bits(node::binary(op, a, b), false))
    }

    fn integers(&self, x: &BigInt, op: &VerilogOp, y: &BigInt) -> Result<Value> {
        let truth = |t: bool| Value::Bits(Node::constant(u8::from(t), 1), false);
        let amount = || usize::try_from(y).map_err(|_| self.unsupported("shift by a negative constant"));
        Ok(match op {
            VerilogOp::Add => Value::Integer(x + y),
            VerilogOp::Sub => Value::Integer(x - y),
            VerilogOp::Mul => Value::Integer(x * y),
            VerilogOp::BitAnd => Value::Integer(x & y),
            VerilogOp::BitOr => Value::Integer(x | y),
            VerilogOp::BitXor => Value::Integer(x ^ y),
            VerilogOp::Shl => Value::Integer(x << amount()?),
            VerilogOp::Shr => Value::Integer(x >> amount()?),
            VerilogOp::LogicalAnd => truth(x.bits() != 0 && y.bits() != 0),
            VerilogOp::LogicalOr => truth(x.bits() != 0 || y.bits() != 0),
            VerilogOp::Eq => truth(x == y),
            VerilogOp::Ne => truth(x != y),
            VerilogOp::Lt => truth(x < y),
            VerilogOp::Le => truth(x <= y),
            VerilogOp::Gt => truth(x > y),
            VerilogOp::Ge => truth(x >= y),
        })
    }
}
