//! What rust-hdl's types compute, on integers of any size: the yardstick for random expressions and
//! kernels.

use std::collections::HashMap;

use num_bigint::{BigInt, BigUint};
use rust_hdl::prelude::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogExpression, VerilogOp, VerilogOpUnary, VerilogStatement,
};

use super::fake::Ty;
use crate::emit::scope::literal_value;

/// A value: an integer without a width, or bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    Integer(BigInt),
    Bits(BigUint, Ty),
    /// The result of `signed_bit_cast`, whose width its use decides.
    Stretch(BigInt),
}

/// Values of the signals by name.
pub type Values = HashMap<String, Number>;

fn modulus(width: usize) -> BigInt {
    BigInt::from(1) << width
}

/// `value` modulo `2^width`, as a number of that type.
pub fn wrap(value: &BigInt, ty: Ty) -> Number {
    let m = modulus(ty.width);
    let rest = ((value % &m) + &m) % &m;
    Number::Bits(rest.magnitude().clone(), ty)
}

/// The number that some bits stand for.
fn meaning(bits: &BigUint, ty: Ty) -> BigInt {
    let value = BigInt::from(bits.clone());
    if ty.signed && bits.bit(ty.width as u64 - 1) {
        value - modulus(ty.width)
    } else {
        value
    }
}

fn parts(n: Number) -> (BigUint, Ty) {
    match n {
        Number::Bits(v, ty) => (v, ty),
        other => panic!("the generator made {other:?} where bits are needed"),
    }
}

fn truth(t: bool) -> Number {
    Number::Bits(BigUint::from(u8::from(t)), Ty::bits(1))
}

/// A number as the given type.
pub fn convert(n: Number, ty: Ty) -> Number {
    match n {
        Number::Integer(v) | Number::Stretch(v) => wrap(&v, ty),
        Number::Bits(v, own) => {
            assert_eq!(own.width, ty.width, "the generator mixed widths");
            Number::Bits(v, ty)
        }
    }
}

fn index(n: Number) -> usize {
    let value = match n {
        Number::Integer(v) => v,
        Number::Bits(v, _) => v.into(),
        Number::Stretch(v) => v,
    };
    usize::try_from(value).expect("an index is a small number")
}

/// The value of an expression.
pub fn evaluate(e: &VerilogExpression, values: &Values) -> Number {
    match e {
        VerilogExpression::Signal(name) => values[name].clone(),
        VerilogExpression::Literal(l) if format!("{l:x}").starts_with("1'") => {
            wrap(&literal_value(l), Ty::bits(1))
        }
        VerilogExpression::Literal(l) => Number::Integer(literal_value(l)),
        VerilogExpression::Paren(inner) => evaluate(inner, values),
        VerilogExpression::Cast(inner, width) => match evaluate(inner, values) {
            Number::Bits(v, _) => wrap(&v.into(), Ty::bits(*width)),
            other => convert(other, Ty::bits(*width)),
        },
        VerilogExpression::Signed(inner) => {
            let (v, ty) = parts(evaluate(inner, values));
            if ty.signed {
                Number::Stretch(meaning(&v, ty))
            } else {
                Number::Bits(v, Ty { signed: true, ..ty })
            }
        }
        VerilogExpression::Unsigned(inner) => {
            let (v, ty) = parts(evaluate(inner, values));
            Number::Bits(v, Ty::bits(ty.width))
        }
        VerilogExpression::Unary(op, inner) => {
            let (v, ty) = parts(evaluate(inner, values));
            let ones: BigUint = (BigUint::from(1u8) << ty.width) - 1u8;
            match op {
                VerilogOpUnary::Not => Number::Bits(ones - v, ty),
                VerilogOpUnary::Neg => wrap(&-BigInt::from(v), ty),
                VerilogOpUnary::All => truth(v == ones),
                VerilogOpUnary::Any => truth(v.bits() > 0),
                VerilogOpUnary::Xor => truth((0..ty.width as u64).filter(|i| v.bit(*i)).count() % 2 == 1),
            }
        }
        VerilogExpression::Index(inner, i) => {
            let (v, ty) = parts(evaluate(inner, values));
            let i = index(evaluate(i, values));
            assert!(i < ty.width);
            truth(v.bit(i as u64))
        }
        VerilogExpression::Slice(inner, width, offset) => {
            let (v, ty) = parts(evaluate(inner, values));
            let v = v >> index(evaluate(offset, values));
            wrap(&v.into(), Ty { width: *width, ..ty })
        }
        VerilogExpression::IndexReplace(inner, i, bit) => {
            let (mut v, ty) = parts(evaluate(inner, values));
            let i = index(evaluate(i, values));
            assert!(i < ty.width);
            v.set_bit(i as u64, parts(evaluate(bit, values)).0.bits() > 0);
            Number::Bits(v, ty)
        }
        VerilogExpression::Binary(a, op, b) => binary(evaluate(a, values), op, evaluate(b, values)),
    }
}

fn binary(a: Number, op: &VerilogOp, b: Number) -> Number {
    if matches!(op, VerilogOp::Shl | VerilogOp::Shr) {
        let a = if let Number::Integer(_) = a { convert(a, Ty::bits(64)) } else { a };
        let (v, ty) = parts(a);
        let amount = match b {
            Number::Integer(n) => n.magnitude().clone(),
            other => parts(other).0,
        };
        let amount = usize::try_from(amount).ok().filter(|n| *n < ty.width);
        return match (op, amount) {
            (_, None) => wrap(&0.into(), ty),
            (VerilogOp::Shl, Some(n)) => wrap(&(v << n).into(), ty),
            (_, Some(n)) => wrap(&(v >> n).into(), ty),
        };
    }
    let ty = match (&a, &b) {
        (Number::Bits(_, ty), _) | (_, Number::Bits(_, ty)) => *ty,
        _ => panic!("the generator made an operation without a width"),
    };
    let b = match b {
        // Bits<N> + bool
        Number::Bits(v, t) if t.width == 1 && ty.width > 1 => Number::Bits(v, ty),
        other => other,
    };
    let (x, _) = parts(convert(a, ty));
    let (y, _) = parts(convert(b, ty));
    let (m, n) = (meaning(&x, ty), meaning(&y, ty));
    match op {
        VerilogOp::Add => wrap(&(m + n), ty),
        VerilogOp::Sub => wrap(&(m - n), ty),
        VerilogOp::Mul => wrap(&(m * n), Ty { width: 32, ..ty }),
        VerilogOp::BitAnd => Number::Bits(x & y, ty),
        VerilogOp::BitOr => Number::Bits(x | y, ty),
        VerilogOp::BitXor => Number::Bits(x ^ y, ty),
        VerilogOp::LogicalAnd => truth(x.bits() > 0 && y.bits() > 0),
        VerilogOp::LogicalOr => truth(x.bits() > 0 || y.bits() > 0),
        VerilogOp::Eq => truth(m == n),
        VerilogOp::Ne => truth(m != n),
        VerilogOp::Lt => truth(m < n),
        VerilogOp::Le => truth(m <= n),
        VerilogOp::Gt => truth(m > n),
        VerilogOp::Ge => truth(m >= n),
        VerilogOp::Shl | VerilogOp::Shr => unreachable!("handled above"),
    }
}

/// Runs a kernel: assignments change `values`, where a signal's value is that of its type in
/// `types`. Assignments to `r$d$next` go to `r$d`.
pub fn execute(block: &VerilogBlock, values: &mut Values, types: &HashMap<String, Ty>) {
    for statement in block {
        match statement {
            VerilogStatement::Assignment(VerilogExpression::Signal(target), value) => {
                let name = target.strip_suffix("$next").unwrap_or(target);
                let value = convert(evaluate(value, values), types[name]);
                values.insert(name.to_string(), value);
            }
            VerilogStatement::If(c) => {
                if parts(evaluate(&c.test, values)).0.bits() > 0 {
                    execute(&c.then, values, types);
                } else {
                    match &c.otherwise {
                        VerilogBlockOrConditional::Block(b) => execute(b, values, types),
                        VerilogBlockOrConditional::Conditional(s) => {
                            execute(&vec![(**s).clone()], values, types)
                        }
                        VerilogBlockOrConditional::None => {}
                    }
                }
            }
            VerilogStatement::Match(m) => {
                let subject = parts(evaluate(&m.test, values)).0.to_string();
                let case = m.cases.iter().find(|c| c.condition == subject || c.condition == "default");
                if let Some(case) = case {
                    execute(&case.block, values, types);
                }
            }
            other => panic!("the generator does not make {other:?}"),
        }
    }
}
