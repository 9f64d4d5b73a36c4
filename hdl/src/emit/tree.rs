//! Makes the syntax tree of a kernel, step by step.
//!
//! `#[hdl_gen]` writes one step for each node, operands first: a call where the step needs a value
//! that the compiler knows, and one text for all steps between two such calls
//! ([`Tree::steps`]). That compiles fast: the code of a kernel is short, and holds nothing that it
//! would have to move or drop. The functions are never copied to where they are called, because a
//! kernel runs once.

use rust_hdl::prelude::ast::{
    Verilog, VerilogBlock, VerilogBlockOrConditional, VerilogCase, VerilogConditional, VerilogExpression,
    VerilogLink, VerilogLiteral, VerilogLoop, VerilogMatch, VerilogOp, VerilogOpUnary, VerilogStatement,
};

/// In front of the name of a condition that always holds, in the place of the signal that it would
/// be assigned to.
pub const ALWAYS: &str = "always!";

/// A syntax tree under construction.
#[derive(Debug)]
pub struct Tree {
    /// Expressions that no statement and no operator has taken yet.
    values: Vec<VerilogExpression>,
    /// The open blocks, the innermost last, and those that are complete and not taken yet.
    blocks: Vec<VerilogBlock>,
    /// The cases of the open `match`es.
    matches: Vec<Vec<VerilogCase>>,
}

impl Tree {
    /// The kernel that `steps` make.
    #[must_use]
    pub fn kernel(steps: impl FnOnce(&mut Self)) -> Verilog {
        let mut tree = Self { values: Vec::new(), blocks: vec![Vec::new()], matches: Vec::new() };
        steps(&mut tree);
        Verilog::Combinatorial(tree.close())
    }

    /// What a part of a kernel is `given` has the names of its parameters.
    ///
    /// # Panics
    /// If it has not: the tree of the part would name other signals.
    #[inline(never)]
    pub fn same_names(part: &str, given: &[&str], parameters: &[&str]) {
        assert_eq!(
            given, parameters,
            "`{part}`, part of a kernel, is given values by other names than its own"
        );
    }

    fn pop(&mut self) -> Box<VerilogExpression> {
        Box::new(self.values.pop().expect("operands come before what takes them"))
    }

    fn close(&mut self) -> VerilogBlock {
        self.blocks.pop().expect("a block is opened before it is taken")
    }

    fn state(&mut self, statement: VerilogStatement) {
        self.blocks.last_mut().expect("a block is open").push(statement);
    }

    /// Steps as a text: each the name of a function of this struct and its arguments with a space
    /// between them, and U+001E between two steps.
    ///
    /// # Panics
    /// If a step has another name, or an argument that it does not take.
    #[inline(never)]
    pub fn steps(&mut self, text: &str) {
        for step in text.split('\u{1e}') {
            let (name, argument) = step.split_once(' ').unwrap_or((step, ""));
            let width = || argument.parse::<usize>().expect("`#[hdl_gen]` writes widths in decimal");
            match name {
                "signal" => self.signal(argument),
                "literal" => self.literal(literal(argument)),
                "paren" => self.paren(),
                "cast" => self.cast(width()),
                "signed" => self.signed(),
                "unsigned" => self.unsigned(),
                "unary" => self.unary(unary_operator(argument)),
                "binary" => self.binary(binary_operator(argument)),
                "index" => self.index(),
                "slice" => self.slice(width()),
                "replace" => self.replace(),
                "assign" => self.assign(argument),
                "always" => self.always(argument),
                "comment" => self.comment(argument),
                "open" => self.open(),
                "when" => self.when(),
                "when_else" => self.when_else(),
                "when_else_if" => self.when_else_if(),
                "open_match" => self.open_match(),
                "arm" => self.arm(&argument.split(' ').collect::<Vec<_>>()),
                "turns" => {
                    let mut words = argument.split(' ');
                    let index = words.next().expect("a loop has a variable");
                    let mut bound = || literal(words.next().expect("a loop has two ends"));
                    let (from, to) = (bound(), bound());
                    self.repeat(index, from, to);
                }
                "close_match" => self.close_match(),
                other => unreachable!("`#[hdl_gen]` writes no step `{other}`"),
            }
        }
    }

    /// A signal, a `let`, a constant.
    #[inline(never)]
    pub fn signal(&mut self, name: &str) {
        self.values.push(VerilogExpression::Signal(name.to_string()));
    }

    /// A number.
    pub fn literal(&mut self, value: impl Into<VerilogLiteral>) {
        self.values.push(VerilogExpression::Literal(value.into()));
    }

    /// Brackets around a value.
    #[inline(never)]
    pub fn paren(&mut self) {
        let value = self.pop();
        self.values.push(VerilogExpression::Paren(value));
    }

    /// A value with another width.
    #[inline(never)]
    pub fn cast(&mut self, width: usize) {
        let value = self.pop();
        self.values.push(VerilogExpression::Cast(value, width));
    }

    /// A value taken as a signed number.
    #[inline(never)]
    pub fn signed(&mut self) {
        let value = self.pop();
        self.values.push(VerilogExpression::Signed(value));
    }

    /// A value taken as a number without sign.
    #[inline(never)]
    pub fn unsigned(&mut self) {
        let value = self.pop();
        self.values.push(VerilogExpression::Unsigned(value));
    }

    /// An operator with one operand.
    #[inline(never)]
    pub fn unary(&mut self, operator: VerilogOpUnary) {
        let value = self.pop();
        self.values.push(VerilogExpression::Unary(operator, value));
    }

    /// An operator with two operands, the left one first.
    #[inline(never)]
    pub fn binary(&mut self, operator: VerilogOp) {
        let (right, left) = (self.pop(), self.pop());
        self.values.push(VerilogExpression::Binary(left, operator, right));
    }

    /// A bit of a value: the value, then its index.
    #[inline(never)]
    pub fn index(&mut self) {
        let (index, value) = (self.pop(), self.pop());
        self.values.push(VerilogExpression::Index(value, index));
    }

    /// Some bits of a value: the value, then the lowest bit.
    #[inline(never)]
    pub fn slice(&mut self, width: usize) {
        let (offset, value) = (self.pop(), self.pop());
        self.values.push(VerilogExpression::Slice(value, width, offset));
    }

    /// A value with one other bit: the value, then the index, then the bit.
    #[inline(never)]
    pub fn replace(&mut self) {
        let (bit, index, value) = (self.pop(), self.pop(), self.pop());
        self.values.push(VerilogExpression::IndexReplace(value, index, bit));
    }

    /// Assigns a value.
    #[inline(never)]
    pub fn assign(&mut self, target: &str) {
        let value = *self.pop();
        self.state(VerilogStatement::Assignment(VerilogExpression::Signal(target.to_string()), value));
    }

    /// A condition that holds at each edge without reset, under its name.
    #[inline(never)]
    pub fn always(&mut self, name: &str) {
        self.assign(&format!("{ALWAYS}{name}"));
    }

    /// Assigns a field of a struct: the value, then the struct.
    #[inline(never)]
    pub fn assign_field(&mut self, width: usize, offset: usize) {
        let (base, replacement) = (*self.pop(), *self.pop());
        let offset = VerilogExpression::Literal(offset.into());
        self.state(VerilogStatement::SliceAssignment { base, width, offset, replacement });
    }

    /// A comment on the statement that follows.
    #[inline(never)]
    pub fn comment(&mut self, text: &str) {
        self.state(VerilogStatement::Comment(text.to_string()));
    }

    /// Signals that `connect!` joins.
    #[inline(never)]
    pub fn link(&mut self, links: Vec<VerilogLink>) {
        self.state(VerilogStatement::Link(links));
    }

    /// Begins a block.
    #[inline(never)]
    pub fn open(&mut self) {
        self.blocks.push(Vec::new());
    }

    fn conditional(&mut self, otherwise: VerilogBlockOrConditional) {
        let (then, test) = (self.close(), *self.pop());
        self.state(VerilogStatement::If(VerilogConditional { test, then, otherwise }));
    }

    /// `if` without `else`: the condition, then a block.
    #[inline(never)]
    pub fn when(&mut self) {
        self.conditional(VerilogBlockOrConditional::None);
    }

    /// `if` with `else`: the condition, then two blocks.
    #[inline(never)]
    pub fn when_else(&mut self) {
        let otherwise = self.close();
        self.conditional(VerilogBlockOrConditional::Block(otherwise));
    }

    /// `if` with `else if`: the condition, then two blocks, of which the second has the other `if`
    /// alone.
    #[inline(never)]
    pub fn when_else_if(&mut self) {
        let inner = self.close().pop().expect("the second block has a statement");
        self.conditional(VerilogBlockOrConditional::Conditional(Box::new(inner)));
    }

    /// Begins a `match`, of which the value is there.
    #[inline(never)]
    pub fn open_match(&mut self) {
        self.matches.push(Vec::new());
    }

    /// An arm of a `match`: its block.
    #[inline(never)]
    pub fn arm(&mut self, patterns: &[&str]) {
        let block = self.close();
        let cases = self.matches.last_mut().expect("a `match` is open");
        let case = |p: &&str| VerilogCase { condition: (*p).to_string(), block: block.clone() };
        cases.extend(patterns.iter().map(case));
    }

    /// Ends a `match`.
    #[inline(never)]
    pub fn close_match(&mut self) {
        let (cases, test) = (self.matches.pop().expect("a `match` is open"), *self.pop());
        self.state(VerilogStatement::Match(VerilogMatch { test, cases }));
    }

    /// A loop: its block.
    pub fn turns(&mut self, index: &str, from: impl Into<VerilogLiteral>, to: impl Into<VerilogLiteral>) {
        self.repeat(index, from.into(), to.into());
    }

    #[inline(never)]
    fn repeat(&mut self, index: &str, from: VerilogLiteral, to: VerilogLiteral) {
        let block = self.close();
        self.state(VerilogStatement::Loop(VerilogLoop { index: index.to_string(), from, to, block }));
    }
}

/// A literal of Rust: a `bool`, or a number in decimal with or without the suffix of its type.
fn literal(text: &str) -> VerilogLiteral {
    fn number<T: std::str::FromStr + Into<VerilogLiteral>>(digits: &str) -> VerilogLiteral {
        digits.parse::<T>().ok().expect("`#[hdl_gen]` writes numbers that the compiler accepted").into()
    }
    let (digits, suffix) =
        text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len()));
    match suffix {
        "true" | "false" => (suffix == "true").into(),
        "u8" => number::<u8>(digits),
        "u16" => number::<u16>(digits),
        "u32" => number::<u32>(digits),
        "u64" => number::<u64>(digits),
        "u128" => number::<u128>(digits),
        "usize" => number::<usize>(digits),
        _ => number::<i32>(digits),
    }
}

fn unary_operator(name: &str) -> VerilogOpUnary {
    match name {
        "Not" => VerilogOpUnary::Not,
        "Neg" => VerilogOpUnary::Neg,
        "All" => VerilogOpUnary::All,
        "Any" => VerilogOpUnary::Any,
        "Xor" => VerilogOpUnary::Xor,
        other => unreachable!("`#[hdl_gen]` writes no operator `{other}`"),
    }
}

fn binary_operator(name: &str) -> VerilogOp {
    match name {
        "Add" => VerilogOp::Add,
        "Sub" => VerilogOp::Sub,
        "Mul" => VerilogOp::Mul,
        "LogicalAnd" => VerilogOp::LogicalAnd,
        "LogicalOr" => VerilogOp::LogicalOr,
        "BitXor" => VerilogOp::BitXor,
        "BitAnd" => VerilogOp::BitAnd,
        "BitOr" => VerilogOp::BitOr,
        "Shl" => VerilogOp::Shl,
        "Shr" => VerilogOp::Shr,
        "Eq" => VerilogOp::Eq,
        "Lt" => VerilogOp::Lt,
        "Le" => VerilogOp::Le,
        "Ne" => VerilogOp::Ne,
        "Ge" => VerilogOp::Ge,
        "Gt" => VerilogOp::Gt,
        other => unreachable!("`#[hdl_gen]` writes no operator `{other}`"),
    }
}
