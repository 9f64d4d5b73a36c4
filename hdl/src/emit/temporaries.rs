//! Nets for expressions that Verilog cannot use in place.

use num_bigint::BigUint;
use sha2::{Digest as _, Sha256};

use super::node::{ones, BinOp, Ex, Node};
use super::text::{constant, Writer};

/// A net for an expression that Verilog cannot use in place, such as one of which bits are
/// selected.
pub struct Temporary {
    pub name: String,
    pub width: usize,
    /// Text of its value; none if a block assigns it.
    pub value: Option<String>,
    pub used: BigUint,
}

impl Writer<'_> {
    /// A whole net that means `n`, of which bits can be selected.
    pub(super) fn indexable(&mut self, n: &Node) -> String {
        if let Ex::Ref(var, lsb) = n.ex {
            let (net, bit) = self.source(var, lsb);
            if bit == 0 && n.width == self.unit.vars[net].bits() {
                self.mark(var, lsb, n.width);
                return self.name[net].clone();
            }
        }
        let index = self.temporary(n);
        let t = &mut self.temporaries[index];
        t.used = ones(t.width);
        t.name.clone()
    }

    /// The temporary that holds `n`.
    pub(super) fn temporary(&mut self, n: &Node) -> usize {
        let local = !self.members.is_disjoint(&self.slots.read_by(n));
        if !local {
            if let Some(&index) = self.by_node.get(n) {
                return index;
            }
        }
        let value = self.expression(n);
        let what = match &n.ex {
            Ex::Bin(BinOp::Add, ..) => "sum",
            Ex::Bin(BinOp::Sub, ..) => "difference",
            Ex::Bin(BinOp::Mul, ..) => "product",
            Ex::Bin(BinOp::Shl | BinOp::Shr, ..) => "shifted",
            Ex::Ref(..) => "vector",
            _ => "value",
        };
        let plain = format!("{}_{what}", self.hint);
        let described = format!("{plain}_of_{}", shortened(self.described(n)));
        if let Some(&index) = self.of_block.get(&described).filter(|_| local) {
            // The block computes it again, perhaps from new values: each statement has its own
            // assignment before it.
            let name = &self.temporaries[index].name;
            self.before.push(format!("{name} = {value};"));
            return index;
        }
        let name = self.names.take_one(&[&plain, &described]);
        let index = self.temporaries.len();
        if local {
            self.of_block.insert(described, index);
            self.before.push(format!("{name} = {value};"));
            self.defaults.push(format!("{name} = {};", constant(&BigUint::default(), n.width)));
        } else {
            self.by_node.insert(n.clone(), index);
        }
        let value = (!local).then_some(value);
        self.temporaries.push(Temporary { name, width: n.width, value, used: BigUint::default() });
        index
    }

    /// What `n` is and what it is computed from, in letters, digits and underscores: the operation,
    /// then its operands. Different values have different descriptions.
    fn described(&self, n: &Node) -> String {
        let of = |operation: String, operands: &[&Node]| {
            operands.iter().fold(operation, |text, operand| text + "_" + &self.described(operand))
        };
        match &n.ex {
            Ex::Const(_, Some(name)) => name.clone(),
            Ex::Const(value, None) => format!("{}d{value}", n.width),
            Ex::Ref(var, lsb) => {
                let (var, lsb) = self.source(*var, *lsb);
                if n.width == self.unit.vars[var].bits() {
                    self.name[var].clone()
                } else {
                    format!("{}_bits{}to{lsb}", self.name[var], lsb + n.width - 1)
                }
            }
            Ex::Slice(a, lsb) => of(format!("bits{}to{lsb}", lsb + n.width - 1), &[a]),
            Ex::Not(a) => of("not".to_string(), &[a]),
            Ex::Reduce(op, a) => of(format!("{op:?}").to_ascii_lowercase(), &[a]),
            Ex::Repeat(a, count) => of(format!("times{count}"), &[a]),
            Ex::Bin(op, a, b) => of(format!("{op:?}").to_ascii_lowercase(), &[a, b]),
            Ex::Cmp(op, true, a, b) => of(format!("signed{op:?}").to_ascii_lowercase(), &[a, b]),
            Ex::Cmp(op, false, a, b) => of(format!("{op:?}").to_ascii_lowercase(), &[a, b]),
            Ex::Bit(a, at) => of("bit".to_string(), &[a, at]),
            Ex::Part(a, at) => of(format!("part{}", n.width), &[a, at]),
            Ex::Concat(parts) => of(format!("join{}", parts.len()), &parts.iter().collect::<Vec<_>>()),
            Ex::ReplaceBit(a, at, value) => of("replace".to_string(), &[a, at, value]),
        }
    }
}

/// A description, or its begin and a hash of all of it where it is too long for a name.
fn shortened(text: String) -> String {
    const LONGEST: usize = 80;
    if text.len() <= LONGEST {
        return text;
    }
    let digest = Sha256::digest(&text);
    let hash = digest.iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte));
    format!("{}_h{hash:016x}", &text[..LONGEST - 20])
}
