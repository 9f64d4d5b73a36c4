//! Verilog text of expressions and statements.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use num_bigint::BigUint;

use super::comment;
use super::fields::{pieces, Field, Piece};
use super::flow::{Slot, Slots};
use super::lines::{changed, on_one_line};
use super::loops;
use super::names::Names;
use super::node::{ones, BinOp, CmpOp, Ex, Node, ReduceOp, VarId};
use super::plan::Plan;
use super::temporaries::Temporary;
use super::unit::{Assign, Role, Stmt, Unit};

/// Writes the expressions of one module and notes which bits they read.
pub struct Writer<'a> {
    pub unit: &'a Unit,
    pub slots: &'a Slots,
    pub plan: &'a Plan,
    pub names: Names,
    /// Identifier of each variable.
    pub name: Vec<String>,
    /// Child outputs that are connected to a part of another variable directly.
    pub alias: HashMap<VarId, (VarId, usize)>,
    /// Bits of each variable that something reads.
    pub used: Vec<BigUint>,
    pub temporaries: Vec<Temporary>,
    pub(super) by_node: HashMap<Node, usize>,
    /// Localparams in use: name in the unit, and identifier.
    pub localparams: HashMap<String, String>,
    /// Offsets of struct fields in use, by struct and offset, with the identifiers of their
    /// localparams.
    pub offsets: BTreeMap<(String, usize, String), String>,
    /// What the `always @*` block being written drives.
    pub(super) members: BTreeSet<Slot>,
    /// Names after which temporaries are called.
    pub(super) hint: String,
    /// Temporaries to assign before the statement being written, and at the start of the block.
    pub(super) before: Vec<String>,
    pub(super) defaults: Vec<String>,
    /// Temporaries that the block assigns, by their name.
    pub(super) of_block: HashMap<String, usize>,
    /// Comments that are written.
    said: HashSet<&'a str>,
    /// Whether the declarations are written: nothing more can get a name.
    pub is_declared: bool,
}

/// Verilog text of a constant.
pub fn constant(value: &BigUint, width: usize) -> String {
    if width <= 4 || value.bits() <= 4 {
        if width == 1 {
            format!("1'b{value}")
        } else {
            format!("{width}'d{value}")
        }
    } else {
        format!("{width}'h{value:x}")
    }
}

/// `[7:0]` and a space for a vector, nothing for a single bit.
pub fn range(width: usize) -> String {
    if width == 1 {
        String::new()
    } else {
        format!("[{}:0] ", width - 1)
    }
}

/// The operator as it is written: conditions, which have one bit, are joined by `&&` and `||`.
fn logical(op: BinOp, width: usize) -> BinOp {
    match op {
        BinOp::And if width == 1 => BinOp::LogicalAnd,
        BinOp::Or if width == 1 => BinOp::LogicalOr,
        other => other,
    }
}

impl<'a> Writer<'a> {
    pub fn new(unit: &'a Unit, slots: &'a Slots, plan: &'a Plan) -> Self {
        Self {
            unit,
            slots,
            plan,
            names: Names::default(),
            name: vec![String::new(); unit.vars.len()],
            alias: HashMap::new(),
            used: vec![BigUint::default(); unit.vars.len()],
            temporaries: Vec::new(),
            by_node: HashMap::new(),
            localparams: HashMap::new(),
            offsets: BTreeMap::new(),
            members: BTreeSet::new(),
            hint: String::new(),
            before: Vec::new(),
            defaults: Vec::new(),
            of_block: HashMap::new(),
            said: HashSet::new(),
            is_declared: false,
        }
    }

    /// Text for bits of a variable, to read or to assign.
    pub fn bits(&mut self, var: VarId, lsb: usize, width: usize) -> String {
        let mut parts = self.parts(var, lsb, width);
        if parts.len() == 1 {
            parts.remove(0)
        } else {
            format!("{{{}}}", parts.join(", "))
        }
    }

    /// Texts that together are bits of a variable, most significant first: one, or one for each
    /// field of a struct.
    pub fn parts(&mut self, var: VarId, lsb: usize, width: usize) -> Vec<String> {
        let (var, lsb) = self.source(var, lsb);
        let info = &self.unit.vars[var];
        let found = pieces(&info.fields, info.width, lsb, width);
        found.into_iter().map(|piece| self.piece(var, piece)).collect()
    }

    fn piece(&mut self, var: VarId, piece: Piece) -> String {
        let info = &self.unit.vars[var];
        let Some(field) = piece.field else {
            return select(&self.name[var], info.bits(), piece.lsb, piece.width);
        };
        let inside = piece.lsb % info.width;
        let mut terms = vec![self.offset(field)];
        if piece.lsb > inside {
            terms.insert(0, (piece.lsb - inside).to_string());
        }
        if inside > field.lsb {
            terms.push((inside - field.lsb).to_string());
        }
        let (name, position) = (&self.name[var], terms.join(" + "));
        if piece.width == 1 {
            format!("{name}[{position}]")
        } else {
            format!("{name}[{position} +: {}]", piece.width)
        }
    }

    /// The localparam with the offset of a field.
    fn offset(&mut self, field: &Field) -> String {
        let key = (field.of.clone(), field.lsb, field.name.clone());
        if let Some(known) = self.offsets.get(&key) {
            return known.clone();
        }
        if self.is_declared {
            return field.lsb.to_string();
        }
        let fresh = self.names.take_one(&[&field.name, &format!("{}_OFFSET", field.name)]);
        self.offsets.insert(key, fresh.clone());
        fresh
    }

    /// The net that holds a bit of a variable, and the bit's place in it.
    pub(super) fn source(&self, var: VarId, lsb: usize) -> (VarId, usize) {
        match self.alias.get(&var) {
            Some(&(other, offset)) => (other, offset + lsb),
            None => (var, lsb),
        }
    }

    pub(super) fn mark(&mut self, var: VarId, lsb: usize, width: usize) {
        let (var, lsb) = self.source(var, lsb);
        self.used[var] |= ones(width) << lsb;
    }

    /// An operand: in parentheses unless it is one word.
    fn operand(&mut self, n: &Node) -> String {
        let text = self.expression(n);
        let plain =
            matches!(n.ex, Ex::Const(..) | Ex::Ref(..) | Ex::Slice(..) | Ex::Concat(_) | Ex::Repeat(..))
                || matches!(n.ex, Ex::Bit(..) | Ex::Part(..));
        if plain || matches!(n.ex, Ex::Not(_)) {
            text
        } else {
            format!("({text})")
        }
    }

    /// The operand of a unary operator, which may not follow another one.
    fn primary(&mut self, n: &Node) -> String {
        match n.ex {
            Ex::Not(_) => format!("({})", self.expression(n)),
            _ => self.operand(n),
        }
    }

    /// The left operand of `op`: a chain of the same operator needs no parentheses.
    fn left(&mut self, op: BinOp, n: &Node) -> String {
        match &n.ex {
            Ex::Bin(inner, ..)
                if logical(*inner, n.width) == op
                    && !matches!(op, BinOp::Shl | BinOp::Shr | BinOp::Sub | BinOp::Mul) =>
            {
                self.expression(n)
            }
            _ => self.operand(n),
        }
    }

    /// Text that means `n` and has its width by itself.
    pub fn expression(&mut self, n: &Node) -> String {
        match &n.ex {
            Ex::Const(value, name) => match name {
                Some(name) if !self.is_declared || self.localparams.contains_key(name) => {
                    self.localparam(name)
                }
                _ => constant(value, n.width),
            },
            Ex::Ref(var, lsb) => {
                self.mark(*var, *lsb, n.width);
                self.bits(*var, *lsb, n.width)
            }
            Ex::Slice(a, lsb) => {
                let index = self.temporary(a);
                let t = &mut self.temporaries[index];
                t.used |= ones(n.width) << lsb;
                select(&t.name, t.width, *lsb, n.width)
            }
            Ex::Not(a) => format!("{}{}", if a.width == 1 { "!" } else { "~" }, self.primary(a)),
            Ex::Bin(op, a, b) => {
                let op = logical(*op, n.width);
                let sign = match op {
                    BinOp::Add => "+",
                    BinOp::Sub => "-",
                    BinOp::Mul => "*",
                    BinOp::And => "&",
                    BinOp::Or => "|",
                    BinOp::Xor => "^",
                    BinOp::Shl => "<<",
                    BinOp::Shr => ">>",
                    BinOp::LogicalAnd => "&&",
                    BinOp::LogicalOr => "||",
                };
                let left = self.left(op, a);
                format!("{left} {sign} {}", self.operand(b))
            }
            Ex::Cmp(op, signed, a, b) => {
                let sign = match op {
                    CmpOp::Eq => "==",
                    CmpOp::Ne => "!=",
                    CmpOp::Lt => "<",
                    CmpOp::Le => "<=",
                    CmpOp::Gt => ">",
                    CmpOp::Ge => ">=",
                };
                if *signed && !matches!(op, CmpOp::Eq | CmpOp::Ne) {
                    let (a, b) = (self.expression(a), self.expression(b));
                    format!("$signed({a}) {sign} $signed({b})")
                } else {
                    let a = self.operand(a);
                    format!("{a} {sign} {}", self.operand(b))
                }
            }
            Ex::Reduce(op, a) => {
                let sign = match op {
                    ReduceOp::All => "&",
                    ReduceOp::Any => "|",
                    ReduceOp::Xor => "^",
                };
                format!("{sign}{}", self.primary(a))
            }
            Ex::Concat(parts) => {
                let mut texts = Vec::new();
                for part in parts {
                    if let Ex::Ref(var, lsb) = part.ex {
                        self.mark(var, lsb, part.width);
                        texts.append(&mut self.parts(var, lsb, part.width));
                    } else {
                        texts.push(self.expression(part));
                    }
                }
                format!("{{{}}}", texts.join(", "))
            }
            Ex::Repeat(a, count) => format!("{{{count}{{{}}}}}", self.expression(a)),
            Ex::Bit(a, index) => {
                let base = self.indexable(a);
                format!("{base}[{}]", self.expression(index))
            }
            Ex::Part(a, offset) => {
                let base = self.indexable(a);
                format!("{base}[{} +: {}]", self.expression(offset), n.width)
            }
            Ex::ReplaceBit(a, index, value) => {
                let one = constant(&BigUint::from(1u8), n.width);
                let index = self.operand(index);
                let base = self.operand(a);
                let value = self.expression(value);
                let pad = constant(&BigUint::default(), n.width - 1);
                format!("({base} & ~({one} << {index})) | ({{{pad}, {value}}} << {index})")
            }
        }
    }

    fn localparam(&mut self, name: &str) -> String {
        if let Some(known) = self.localparams.get(name) {
            return known.clone();
        }
        let fresh = self.names.take_one(&[name, &format!("{name}_VALUE")]);
        self.localparams.insert(name.to_string(), fresh.clone());
        fresh
    }

    /// Chooses the name after which temporaries are called from now on.
    pub fn set_hint(&mut self, var: VarId) {
        let var = match self.unit.vars[var].role {
            Role::Next(index) => self.unit.registers[index].present,
            _ => var,
        };
        self.hint = self.name[var].clone();
    }

    /// An `always @*` block.
    pub fn block(&mut self, members: &BTreeSet<Slot>, statements: &[Stmt]) -> Vec<String> {
        self.members.clone_from(members);
        self.of_block.clear();
        if let Some(&slot) = members.first() {
            self.set_hint(self.slots.var(slot));
        }
        let mut lines = Vec::new();
        self.statements(statements, 2, false, &mut lines);
        self.members.clear();
        let mut all: Vec<String> = self.defaults.drain(..).map(|l| format!("        {l}")).collect();
        all.extend(lines);
        let name = members.first().map(|slot| self.name[self.slots.var(*slot)].clone());
        self.always("@*", &name.unwrap_or_default(), &all)
    }

    /// An `always` block. If it has loops, it is named after the variable `of`, since their indices
    /// are its own: as variables of the module they would wake other blocks.
    pub fn always(&mut self, event: &str, of: &str, lines: &[String]) -> Vec<String> {
        let indices = self.names.unused(&["i", "j", "k"]);
        let (lines, used) = loops::roll(lines, &indices);
        let mut block = vec![format!("    always {event} begin")];
        if used > 0 {
            let name = self.names.take_one(&[&format!("{of}_block"), &format!("{of}_loops")]);
            block[0] = format!("{} : {name}", block[0]);
            block.push(format!("        integer {};", indices[..used].join(", ")));
        }
        block.extend(lines);
        block.push("    end".to_string());
        block
    }

    /// The comments in front of the statement at `position`. What a module says once is not said
    /// again, as by the turns of a loop.
    pub fn comment(&mut self, position: usize, depth: usize) -> Vec<String> {
        let unit = self.unit;
        let texts = unit.comments.get(&position).into_iter().flatten();
        let fresh = texts.filter(|text| self.said.insert(text.as_str()));
        fresh.flat_map(|text| comment::of_statement(text, &"    ".repeat(depth))).collect()
    }

    /// The statements of a clocked block. It has the comments that combinational logic has, too.
    pub fn clocked(&mut self, statements: &[Stmt]) -> Vec<String> {
        self.said.clear();
        let mut lines = Vec::new();
        self.statements(statements, 3, true, &mut lines);
        lines
    }

    fn statements(&mut self, statements: &[Stmt], depth: usize, clocked: bool, out: &mut Vec<String>) {
        for statement in statements {
            let position = match statement {
                Stmt::Assign(Assign { position, .. })
                | Stmt::If { position, .. }
                | Stmt::Case { position, .. } => *position,
            };
            let mut lines = self.comment(position, depth);
            match statement {
                Stmt::Assign(a) => {
                    let line = self.assign(a, clocked);
                    lines.push(format!("{}{line}", "    ".repeat(depth)));
                }
                Stmt::If { condition, then, otherwise, .. } => {
                    self.conditional(condition, then, otherwise, depth, clocked, "", &mut lines);
                }
                Stmt::Case { subject, arms, default, .. } => {
                    self.case(subject, arms, default, depth, clocked, &mut lines);
                }
            }
            out.append(&mut lines);
        }
    }

    /// Takes the temporaries that the expression just written needs.
    fn flush(&mut self, depth: usize, out: &mut Vec<String>) {
        let indent = "    ".repeat(depth);
        out.extend(self.before.drain(..).map(|l| format!("{indent}{l}")));
    }

    fn assign(&mut self, a: &Assign, clocked: bool) -> String {
        self.set_hint(a.var);
        let (target, operator) = if clocked { (self.present(a.var), "<=") } else { (a.var, "=") };
        if let Ex::ReplaceBit(base, index, value) = &a.value.ex {
            let same = base.ex == Ex::Ref(target, a.lsb) && a.width == self.unit.vars[target].bits();
            if same && (!clocked || self.first_write(a)) {
                let index = self.expression(index);
                let value = self.expression(value);
                let mut lines = std::mem::take(&mut self.before);
                lines.push(format!("{}[{index}] {operator} {value};", self.name[target]));
                return lines.join(" ");
            }
        }
        // In a clocked block a bit that stays is what it was before the clock.
        let (lsb, value) = if clocked { (a.lsb, &a.value) } else { changed(a) };
        let width = value.width;
        let value = self.expression(value);
        let mut lines = std::mem::take(&mut self.before);
        lines.push(format!("{} {operator} {value};", self.bits(target, lsb, width)));
        lines.join(" ")
    }

    fn present(&self, var: VarId) -> VarId {
        match self.unit.vars[var].role {
            Role::Next(index) => self.unit.registers[index].present,
            _ => var,
        }
    }

    /// No statement of the clocked block assigns the register before `a`.
    fn first_write(&self, a: &Assign) -> bool {
        fn earlier(statements: &[Stmt], a: &Assign) -> bool {
            statements.iter().any(|s| match s {
                Stmt::Assign(b) => b.var == a.var && b.position < a.position,
                Stmt::If { then, otherwise, .. } => earlier(then, a) || earlier(otherwise, a),
                Stmt::Case { arms, default, .. } => {
                    arms.iter().any(|(_, block)| earlier(block, a)) || earlier(default, a)
                }
            })
        }
        !earlier(&self.plan.clocked, a)
    }

    #[allow(clippy::too_many_arguments)]
    fn conditional(
        &mut self,
        condition: &Node,
        then: &[Stmt],
        otherwise: &[Stmt],
        depth: usize,
        clocked: bool,
        prefix: &str,
        out: &mut Vec<String>,
    ) {
        let indent = "    ".repeat(depth);
        let negated;
        let (condition, then, otherwise) = if then.is_empty() {
            negated = super::node::not(condition.clone());
            (&negated, otherwise, then)
        } else {
            (condition, then, otherwise)
        };
        let text = self.expression(condition);
        self.flush(depth, out);
        let head = format!("{indent}{prefix}if ({text})");
        let mut inside = Vec::new();
        self.statements(then, depth + 1, clocked, &mut inside);
        if prefix.is_empty() && otherwise.is_empty() {
            if let Some(line) = on_one_line(&head, then, &inside) {
                out.push(line);
                return;
            }
        }
        out.push(format!("{head} begin"));
        out.append(&mut inside);
        match otherwise {
            [] => out.push(format!("{indent}end")),
            [Stmt::If { condition, then, otherwise, .. }] => {
                let mark = out.len();
                let pending = self.before.len();
                self.conditional(condition, then, otherwise, depth, clocked, "end else ", out);
                if out.len() > mark && !out[mark].trim_start().starts_with("end else") {
                    // Its condition needs a temporary, which has no place in an `else if`.
                    out.truncate(mark);
                    self.before.truncate(pending);
                    out.push(format!("{indent}end else begin"));
                    self.conditional(condition, then, otherwise, depth + 1, clocked, "", out);
                    out.push(format!("{indent}end"));
                }
            }
            _ => {
                out.push(format!("{indent}end else begin"));
                self.statements(otherwise, depth + 1, clocked, out);
                out.push(format!("{indent}end"));
            }
        }
    }

    fn case(
        &mut self,
        subject: &Node,
        arms: &[(Node, Vec<Stmt>)],
        default: &[Stmt],
        depth: usize,
        clocked: bool,
        out: &mut Vec<String>,
    ) {
        let (indent, inner) = ("    ".repeat(depth), "    ".repeat(depth + 1));
        let text = self.expression(subject);
        self.flush(depth, out);
        out.push(format!("{indent}case ({text})"));
        let mut arm = |writer: &mut Self, label: String, block: &[Stmt]| {
            if block.is_empty() {
                out.push(format!("{inner}{label}: ;"));
                return;
            }
            let head = format!("{inner}{label}:");
            let mut inside = Vec::new();
            writer.statements(block, depth + 2, clocked, &mut inside);
            if let Some(line) = on_one_line(&head, block, &inside) {
                out.push(line);
                return;
            }
            out.push(format!("{head} begin"));
            out.append(&mut inside);
            out.push(format!("{inner}end"));
        };
        for (label, block) in arms {
            let label = self.expression(label);
            arm(self, label, block);
        }
        arm(self, "default".to_string(), default);
        out.push(format!("{indent}endcase"));
    }
}

/// Bits of a net with `total` bits.
pub fn select(name: &str, total: usize, lsb: usize, width: usize) -> String {
    if width == total {
        name.to_string()
    } else if width == 1 {
        format!("{name}[{lsb}]")
    } else {
        format!("{name}[{}:{lsb}]", lsb + width - 1)
    }
}
