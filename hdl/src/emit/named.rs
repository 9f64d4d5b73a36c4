//! Constants of the Rust (`const NAME: u64`) that a kernel names, as localparams of the width with
//! which they are used.

use std::collections::HashMap;

use num_bigint::BigInt;
use rust_hdl::prelude::ast::{VerilogExpression, VerilogOp};

use super::expression::Value;
use super::kernel::Kernel;
use super::node::{Ex, Node};
use super::scope::modulo;
use super::unit::Target;
use super::unit_info::Description;

/// The constants that a kernel names: by their path in it, value and localparam.
#[derive(Debug, Default)]
pub struct Names(HashMap<String, (BigInt, String)>);

impl Names {
    /// Those of a unit. Const parameters are part of the name of its module and stay numbers.
    pub fn of(description: &Description) -> Self {
        let is_parameter = |path: &String| description.parameters.iter().any(|(name, _)| name == path);
        let constants = description.constants.iter().filter(|(path, _)| !is_parameter(path));
        Self(constants.map(|(path, value)| (path.clone(), (value.clone(), localparam(path)))).collect())
    }
}

/// `opcode$ACKNOWLEDGE` is `OPCODE_ACKNOWLEDGE`. Of a path the last module counts.
fn localparam(path: &str) -> String {
    let is_name = |part: &&str| !matches!(*part, "Self" | "self" | "super" | "crate");
    let parts: Vec<&str> = path.split('$').filter(is_name).collect();
    parts[parts.len().saturating_sub(2)..].join("_").to_ascii_uppercase()
}

impl Kernel<'_> {
    /// The constant of this name as a localparam of `width` bits; `None` if it is no constant, or
    /// does not fit. A constant has its name in Rust, and the width behind it where another value
    /// or width has that name; if this one is taken too, it stays a number.
    pub(super) fn named(&mut self, path: &str, width: usize) -> Option<Node> {
        let (value, name) = self.names.0.get(path)?.clone();
        let number = (modulo(&value, width), width);
        if BigInt::from(number.0.clone()) != value {
            return None;
        }
        let is_free = |name: &String| {
            let is_other = |target: &Target| match target {
                Target::Constant { value, width, name: Some(known), .. } => {
                    known == name && (value, width) != (&number.0, &number.1)
                }
                _ => false,
            };
            self.unit.localparams.get(name).is_none_or(|known| *known == number)
                && !self.unit.targets.values().any(is_other)
        };
        let name = [name.clone(), format!("{name}_{width}")].into_iter().find(is_free)?;
        self.unit.localparams.insert(name.clone(), number.clone());
        Some(Node::new(width, Ex::Const(number.0, Some(name))))
    }

    /// `value`, which is that of `expression`, where it takes `width` bits.
    pub(super) fn named_beside(
        &mut self,
        expression: &VerilogExpression,
        value: Value,
        width: usize,
    ) -> Value {
        match (expression, &value) {
            (VerilogExpression::Paren(inner), _) => self.named_beside(inner, value, width),
            (VerilogExpression::Signal(path), Value::Integer(_)) => {
                self.named(path, width).map_or(value, |node| Value::Bits(node, false))
            }
            _ => value,
        }
    }

    /// Two operands of `op`: a constant beside an unsigned value has its name, but as the amount of
    /// a shift.
    pub(super) fn named_operands(
        &mut self,
        (a, left): (&VerilogExpression, Value),
        op: &VerilogOp,
        (b, right): (&VerilogExpression, Value),
    ) -> (Value, Value) {
        if matches!(op, VerilogOp::Shl | VerilogOp::Shr) {
            return (left, right);
        }
        match (&left, &right) {
            (Value::Bits(node, false), Value::Integer(_)) => {
                let width = node.width;
                (left, self.named_beside(b, right, width))
            }
            (Value::Integer(_), Value::Bits(node, false)) => {
                let width = node.width;
                (self.named_beside(a, left, width), right)
            }
            _ => (left, right),
        }
    }
}
