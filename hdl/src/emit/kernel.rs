//! From rust-hdl's syntax tree of a kernel to statements over variables, with loops unrolled.

use num_bigint::BigInt;
use rust_hdl::prelude::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogConditional, VerilogExpression, VerilogLink,
    VerilogLinkDetails, VerilogLoop, VerilogMatch, VerilogStatement,
};
use rust_hdl::prelude::Verilog;

use super::named::Names;
use super::node::{self, Node};
use super::path::{self, Environment};
use super::scope::Scope;
use super::tree::ALWAYS;
use super::unit::{rust_path, Assign, Role, Stmt, Target, Unit};
use super::EmitError;

type Result<T> = std::result::Result<T, EmitError>;

/// Translates one kernel.
pub struct Kernel<'a> {
    pub unit: &'a mut Unit,
    pub environment: Environment,
    /// The constants in capitals that the kernel names.
    pub names: Names,
    /// What is being translated, for messages.
    pub context: String,
    position: usize,
    /// The comments in front of the statement: its own is the last, the others are of loops and
    /// decided branches around it.
    comments: Vec<String>,
    /// Branches of `if` and `match` around the statement.
    branches: usize,
}

/// Fills in the statements of `unit` from the kernel of `scope`.
pub fn translate(unit: &mut Unit, scope: &Scope) -> Result<()> {
    let mut environment = Environment::new();
    let mut names = Names::default();
    if let Some(description) = &scope.description {
        environment.extend(description.parameters.iter().cloned());
        environment.extend(description.constants.iter().cloned());
        names = Names::of(description);
    }
    let context = unit.path.clone();
    if let Some(name) = scope.description.as_ref().and_then(|description| description.locals.twice()) {
        let message =
            format!("two functions of its kernel have a `let` called `{name}`: a kernel gives a name once");
        return Err(EmitError::unsupported(&context, &message));
    }
    let mut kernel =
        Kernel { unit, environment, names, context, position: 0, comments: Vec::new(), branches: 0 };
    let mut statements = kernel.hold_registers();
    statements.extend(match &scope.code {
        Verilog::Combinatorial(block) => kernel.block(block)?,
        Verilog::Empty => Vec::new(),
        _ => {
            return Err(EmitError::unsupported(
                &kernel.context,
                "hand-written Verilog is only for the primitives: write the kernel with #[hdl_gen]",
            ))
        }
    });
    kernel.unit.statements = statements;
    kernel.connect_port("clock");
    kernel.connect_port("reset");
    Ok(())
}

impl Kernel<'_> {
    /// A register keeps its value unless the kernel assigns it.
    fn hold_registers(&mut self) -> Vec<Stmt> {
        let pairs: Vec<_> = self.unit.registers.iter().map(|r| (r.present, r.next)).collect();
        let hold = |(present, next): (usize, usize)| {
            let width = self.unit.vars[next].width;
            let position = self.next_position();
            let value = Node::reference(present, 0, width);
            Stmt::Assign(Assign { position, var: next, lsb: 0, width, value })
        };
        pairs.into_iter().map(hold).collect()
    }

    /// Registers and children without an assignment to their `clock` or `reset` (`name`) get the
    /// unit's own.
    fn connect_port(&mut self, name: &str) {
        let Some(Target::Bits { var: own, .. }) = self.unit.targets.get(name).cloned() else { return };
        if self.unit.vars[own].role != Role::Input {
            return;
        }
        let signal = Node::reference(own, 0, 1);
        for register in &mut self.unit.registers {
            let port = if name == "clock" { &mut register.clock } else { &mut register.reset };
            port.get_or_insert_with(|| signal.clone());
        }
        for child in self.unit.children.clone() {
            let Some(&Target::Bits { var, .. }) = self.unit.targets.get(&format!("{}${name}", child.name))
            else {
                continue;
            };
            let is_input = matches!(self.unit.vars[var].role, Role::ChildInput(_));
            if is_input && !writes(&self.unit.statements, var) {
                let position = self.next_position();
                self.unit.statements.push(Stmt::Assign(Assign {
                    position,
                    var,
                    lsb: 0,
                    width: 1,
                    value: signal.clone(),
                }));
            }
        }
    }

    fn next_position(&mut self) -> usize {
        self.position += 1;
        self.position
    }

    /// The comments in front of the statement belong to what stands at `position`.
    fn comment_at(&mut self, position: usize) {
        if !self.comments.is_empty() {
            self.unit.comments.insert(position, std::mem::take(&mut self.comments));
        }
    }

    pub(super) fn unsupported(&self, what: impl Into<String>) -> EmitError {
        EmitError::unsupported(&self.context, what)
    }

    fn block(&mut self, block: &VerilogBlock) -> Result<Vec<Stmt>> {
        let mut statements = Vec::new();
        for statement in block {
            self.statement(statement, &mut statements)?;
            if !matches!(statement, VerilogStatement::Comment(_)) {
                self.comments.clear();
            }
        }
        Ok(statements)
    }

    fn statement(&mut self, statement: &VerilogStatement, out: &mut Vec<Stmt>) -> Result<()> {
        match statement {
            VerilogStatement::Assignment(VerilogExpression::Signal(name), value)
                if name.starts_with(ALWAYS) =>
            {
                self.always(&name[ALWAYS.len()..], value)
            }
            VerilogStatement::Assignment(target, value) => self.assignment(target, None, value, out),
            VerilogStatement::SliceAssignment { base, width, offset, replacement } => {
                let offset = self.constant(offset)?;
                self.assignment(base, Some((offset, *width)), replacement, out)
            }
            VerilogStatement::If(conditional) => self.conditional(conditional, out),
            VerilogStatement::Match(m) => self.case(m, out),
            VerilogStatement::Loop(l) => self.unroll(l, out),
            VerilogStatement::Comment(text) => {
                self.comments.push(text.clone());
                Ok(())
            }
            VerilogStatement::Link(links) => {
                for link in links {
                    self.link(link, out)?;
                }
                Ok(())
            }
            VerilogStatement::Macro(block) => {
                out.extend(self.block(block)?);
                Ok(())
            }
        }
    }

    fn constant(&mut self, expression: &VerilogExpression) -> Result<usize> {
        match self.integer(expression) {
            Some(value) => usize::try_from(value).map_err(|_| self.unsupported("an offset is negative")),
            None => Err(self.unsupported("an offset is not a constant")),
        }
    }

    fn unroll(&mut self, l: &VerilogLoop, out: &mut Vec<Stmt>) -> Result<()> {
        let outer = self.environment.get(&l.index).cloned();
        for i in l.from.as_usize()..l.to.as_usize() {
            self.environment.insert(l.index.clone(), BigInt::from(i));
            out.extend(self.block(&l.block)?);
        }
        self.environment.remove(&l.index);
        if let Some(value) = outer {
            self.environment.insert(l.index.clone(), value);
        }
        Ok(())
    }

    fn link(&mut self, link: &VerilogLink, out: &mut Vec<Stmt>) -> Result<()> {
        let full =
            |name: &str, details: &VerilogLinkDetails| format!("{name}{}", details.my_name.replace('.', "$"));
        let (target, source) = match link {
            VerilogLink::Forward(d) => (full(&d.other_name, d), full(&d.owner_name, d)),
            VerilogLink::Backward(d) => (full(&d.owner_name, d), full(&d.other_name, d)),
            VerilogLink::Bidirectional(_) => return Err(self.unsupported("InOut signals do not translate")),
        };
        let (target, source) = (VerilogExpression::Signal(target), VerilogExpression::Signal(source));
        self.assignment(&target, None, &source, out)
    }

    /// Where the name in a kernel leads.
    pub(super) fn lookup(&mut self, name: &str) -> Result<Target> {
        let resolved = path::resolve(name, &self.environment).map_err(|what| self.unsupported(what))?;
        match self.unit.targets.get(&resolved) {
            Some(target) => Ok(target.clone()),
            None => Err(EmitError::unsupported(
                self.unit.full_path(&rust_path(&resolved)),
                "is not a signal, state or integer whose value is known when the design is emitted (hold other values in a Constant field)",
            )),
        }
    }

    fn assignment(
        &mut self,
        target: &VerilogExpression,
        range: Option<(usize, usize)>,
        value: &VerilogExpression,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let mut target = target;
        while let VerilogExpression::Paren(inner) = target {
            target = inner;
        }
        let VerilogExpression::Signal(name) = target else {
            return Err(self.unsupported("the target of an assignment is not a signal"));
        };
        let name = name.strip_suffix("$next").unwrap_or(name);
        let saved = std::mem::replace(&mut self.context, self.unit.full_path(&rust_path(name)));
        let position = self.next_position();
        match self.lookup(name)? {
            Target::Bits { var, lsb, width, signed } => {
                let path = self.unit.var_path(var, lsb);
                match self.unit.vars[var].role {
                    Role::Input => {
                        return Err(EmitError::DoublyDriven {
                            path,
                            why: "it is an input of the unit".into(),
                        })
                    }
                    Role::ChildOutput(_) | Role::Register(_) => {
                        return Err(EmitError::DoublyDriven {
                            path,
                            why: "it is an output of a child".into(),
                        })
                    }
                    _ => {}
                }
                self.context.clone_from(&path);
                let (lsb, width, signed) = match range {
                    Some((offset, w)) => (lsb + offset, w, false),
                    None => (lsb, width, signed),
                };
                let of = self.value(value)?;
                let value = self.named_beside(value, of, width);
                // Struct fields may be signed; their bits are what counts.
                let value = self.coerce(value, width, signed, "assignment")?;
                self.comment_at(position);
                out.push(Stmt::Assign(Assign { position, var, lsb, width, value }));
            }
            Target::RegisterClock(_) | Target::RegisterReset(_) if self.branches > 0 => {
                return Err(self.unsupported(
                    "is the clock or reset of a register and assigned in a branch: write one value, such as `self.reset.val() || ..`",
                ))
            }
            Target::RegisterClock(index) => {
                let value = self.value(value)?;
                let value = self.coerce(value, 1, false, "clock")?;
                self.unit.registers[index].clock = Some(value);
            }
            Target::RegisterReset(index) => {
                let value = self.value(value)?;
                let value = self.coerce(value, 1, false, "reset")?;
                self.unit.registers[index].reset = Some(value);
            }
            Target::Constant { .. } => return Err(self.unsupported("a constant cannot be assigned")),
        }
        self.context = saved;
        Ok(())
    }

    fn condition(&mut self, expression: &VerilogExpression) -> Result<Node> {
        let value = self.value(expression)?;
        self.coerce(value, 1, false, "condition")
    }

    /// Notes a condition that always holds; in a loop it holds in all turns.
    fn always(&mut self, name: &str, condition: &VerilogExpression) -> Result<()> {
        let has_ports = ["clock", "reset"].iter().all(|port| self.unit.targets.contains_key(*port));
        if !has_ports {
            return Err(self.unsupported("`always!` is looked at by `clock` and `reset`"));
        }
        let condition = self.condition(condition)?;
        match self.unit.always.iter_mut().find(|(known, _)| known == name) {
            Some((_, all)) => *all = node::binary(node::BinOp::LogicalAnd, all.clone(), condition),
            None => self.unit.always.push((name.to_string(), condition)),
        }
        Ok(())
    }

    fn conditional(&mut self, c: &VerilogConditional, out: &mut Vec<Stmt>) -> Result<()> {
        let position = self.next_position();
        let condition = self.condition(&c.test)?;
        // Of an `if` that is decided here, the comment belongs to what is left.
        if condition.as_const().is_none() {
            self.comment_at(position);
        }
        self.branches += 1;
        let then = self.block(&c.then)?;
        let mut otherwise = Vec::new();
        match &c.otherwise {
            VerilogBlockOrConditional::Block(block) => otherwise = self.block(block)?,
            VerilogBlockOrConditional::Conditional(statement) => self.statement(statement, &mut otherwise)?,
            VerilogBlockOrConditional::None => {}
        }
        self.branches -= 1;
        push_if(position, condition, then, otherwise, out);
        Ok(())
    }

    fn case(&mut self, m: &VerilogMatch, out: &mut Vec<Stmt>) -> Result<()> {
        let position = self.next_position();
        let subject = self.value(&m.test)?;
        let subject = self.bits(subject, "match")?;
        self.comment_at(position);
        let mut arms = Vec::new();
        let mut default = None;
        for case in &m.cases {
            self.branches += 1;
            let block = self.block(&case.block)?;
            self.branches -= 1;
            if default.is_some() {
                continue;
            }
            if case.condition == "default" {
                default = Some(block);
                continue;
            }
            let label = self.pattern(&case.condition, subject.width)?;
            arms.push((label, block));
        }
        // A Rust match is exhaustive, so without a wildcard the last arm takes what is left.
        let default = match default {
            Some(block) => block,
            None => arms.pop().map(|(_, block)| block).unwrap_or_default(),
        };
        if let Some(value) = subject.as_const() {
            let chosen = arms.into_iter().find(|(label, _)| label.as_const() == Some(value));
            out.extend(chosen.map_or(default, |(_, block)| block));
        } else if arms.is_empty() {
            out.extend(default);
        } else if subject.width == 1 && arms.len() == 1 {
            let (label, then) = arms.remove(0);
            let condition = node::compare(node::CmpOp::Eq, false, subject, label);
            push_if(position, condition, then, default, out);
        } else {
            out.push(Stmt::Case { position, subject, arms, default });
        }
        Ok(())
    }

    fn pattern(&mut self, text: &str, width: usize) -> Result<Node> {
        let text = text.replace(' ', "");
        let value = match text.as_str() {
            "true" => Some(BigInt::from(1)),
            "false" => Some(BigInt::from(0)),
            _ => path::number(&text).or_else(|| self.environment.get(&text).cloned()),
        };
        if let Some(value) = value {
            if let Some(named) = self.named(&text, width) {
                return Ok(named);
            }
            return self.coerce(super::expression::Value::Integer(value), width, false, "match pattern");
        }
        match self.lookup(&text)? {
            Target::Constant { value, width: own, name, .. } if own == width => {
                Ok(Node::new(width, node::Ex::Const(value, name)))
            }
            _ => Err(self.unsupported(format!("match pattern `{text}` is not a constant of {width} bits"))),
        }
    }
}

fn push_if(position: usize, condition: Node, then: Vec<Stmt>, otherwise: Vec<Stmt>, out: &mut Vec<Stmt>) {
    match condition.as_const() {
        Some(v) if v.bits() == 0 => out.extend(otherwise),
        Some(_) => out.extend(then),
        None => out.push(Stmt::If { position, condition, then, otherwise }),
    }
}

fn writes(statements: &[Stmt], var: usize) -> bool {
    statements.iter().any(|s| match s {
        Stmt::Assign(a) => a.var == var,
        Stmt::If { then, otherwise, .. } => writes(then, var) || writes(otherwise, var),
        Stmt::Case { arms, default, .. } => {
            arms.iter().any(|(_, block)| writes(block, var)) || writes(default, var)
        }
    })
}
