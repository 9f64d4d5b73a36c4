//! Verilog text of a module.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

use num_bigint::BigUint;

use super::bidirectional;
use super::flow::{Flow, Slot, Slots};
use super::lines::wrap;
use super::node::{ones, Ex, Node, VarId};
use super::plan::{Driver, Plan};
use super::port_list::{field_doc, group_doc, header, port_name, Direction, ListedPort, Port};
use super::promise::{self, Promise};
use super::scope::Scope;
use super::text::{constant, range, select, Writer};
use super::unit::{Role, Stmt, Unit};
use super::wakes::{read_by, Wakes};
use super::EmitError;

/// A port, and the element of it.
pub type PortElement = (usize, usize);

/// A module whose name and whose children's names are not chosen yet.
#[derive(Debug, Default)]
pub struct Definition {
    /// Name after the type.
    pub base_name: String,
    /// The same without the arguments of the type.
    pub unit: String,
    /// Name of the module if it has parameters, for which all of its sizes are one module.
    pub shared_name: Option<String>,
    /// Its parameters, and their values where it is instantiated.
    pub sizes: Vec<(String, usize)>,
    /// Path of the first unit that has it, for messages.
    pub path: String,
    /// Parameters that can tell apart modules of one type, by kind.
    pub parameters: Vec<Vec<(String, String)>>,
    /// Children that are modules: name of the field, and index.
    pub children: Vec<(String, usize)>,
    pub doc: String,
    /// Source file of the unit; empty if it does not say so.
    pub source: String,
    pub ports: Vec<Port>,
    /// Text after the header, with `\u{1}number\u{1}` for the names of other modules.
    pub header: String,
    pub body: String,
    /// For each output, the inputs that reach it combinationally.
    pub through: Vec<(PortElement, Vec<PortElement>)>,
    /// For each output, the inputs at whose change it may change for a moment: those above, and
    /// others that wake the same block.
    pub wakes: Vec<(PortElement, Vec<PortElement>)>,
    pub promises: Vec<Promise>,
}

/// Stands for the name of module `index` until names are chosen.
pub fn placeholder(index: usize) -> String {
    format!("\u{1}{index}\u{1}")
}

struct Builder<'a> {
    writer: Writer<'a>,
    plan: &'a Plan,
    unit: &'a Unit,
    /// Values of child inputs that go into the port connection.
    connections: HashMap<VarId, Node>,
    /// What `always @*` blocks read: as a part of another variable it would wake them with all of
    /// that.
    read_by_blocks: HashSet<VarId>,
}

impl Builder<'_> {
    fn var_live(&self, var: VarId) -> bool {
        self.writer.slots.of_var(var).any(|s| self.plan.live.contains(&s))
    }

    /// Chooses identifiers: ports first, which must keep theirs.
    fn name_variables(&mut self) {
        let order: [fn(Role) -> bool; 4] = [
            |r| matches!(r, Role::Input | Role::Output),
            |r| matches!(r, Role::Register(_) | Role::Local | Role::Element),
            |r| matches!(r, Role::ChildInput(_) | Role::ChildOutput(_) | Role::Packed),
            |r| matches!(r, Role::Next(_)),
        ];
        for wanted in order {
            for (var, info) in self.unit.vars.iter().enumerate() {
                if !wanted(info.role) {
                    continue;
                }
                let plain = info.path.replace(['.', '['], "_").replace(']', "");
                let name = match info.role {
                    Role::Input => port_name(&plain).to_string(),
                    Role::Register(_) => plain.strip_suffix("_q").unwrap_or(&plain).to_string(),
                    Role::Packed => plain.strip_suffix("_x").unwrap_or(&plain).to_string(),
                    Role::Next(index) => {
                        format!("{}_next", self.writer.name[self.unit.registers[index].present])
                    }
                    Role::ChildOutput(_) if !self.var_live(var) => format!("{plain}_unused"),
                    _ => plain,
                };
                self.writer.name[var] = match info.role {
                    // A signal of the unit may have the name that the net at a child's port would
                    // have.
                    Role::ChildInput(_) | Role::ChildOutput(_) => {
                        self.writer.names.take_one(&[&name, &format!("{name}_port")])
                    }
                    Role::Next(_) => self.writer.names.take_one(&[&name, &format!("{name}_value")]),
                    _ => self.writer.names.take(&name),
                };
            }
        }
    }

    /// Connects child outputs to outputs and locals, and simple values to child inputs, without a
    /// net between.
    fn connect_directly(&mut self, drivers: &mut Vec<Driver>) {
        let mut rest = Vec::new();
        for driver in drivers.drain(..) {
            let Driver::Assign(var, 0, value) = &driver else {
                rest.push(driver);
                continue;
            };
            let role = self.unit.vars[*var].role;
            if matches!(role, Role::Output | Role::Local) {
                let parts = self.take_aliases(*var, value);
                rest.extend(parts);
            } else if matches!(role, Role::ChildInput(_)) && is_simple(value) {
                self.connections.insert(*var, value.clone());
            } else {
                rest.push(driver);
            }
        }
        *drivers = rest;
    }

    /// Removes the parts of `value` that are a whole child output, which then drives that part of
    /// `var`.
    fn take_aliases(&mut self, var: VarId, value: &Node) -> Vec<Driver> {
        let parts = match &value.ex {
            Ex::Concat(parts) => parts.clone(),
            _ => vec![value.clone()],
        };
        let aliasable = |this: &Self, part: &Node| match part.ex {
            Ex::Ref(source, 0) => {
                let info = &this.unit.vars[source];
                let whole = info.bits() == part.width && matches!(info.role, Role::ChildOutput(_));
                let alone =
                    part.width == this.unit.vars[var].bits() || !this.read_by_blocks.contains(&source);
                (whole && alone && !this.writer.alias.contains_key(&source)).then_some(source)
            }
            _ => None,
        };
        let mut taken = false;
        let mut position = value.width;
        let mut remaining: Vec<(usize, Vec<Node>)> = Vec::new();
        let mut open = false;
        for part in parts {
            position -= part.width;
            if let Some(source) = aliasable(self, &part) {
                self.writer.alias.insert(source, (var, position));
                (taken, open) = (true, false);
            } else if open {
                if let Some((lsb, nodes)) = remaining.last_mut() {
                    *lsb = position;
                    nodes.push(part);
                }
            } else {
                remaining.push((position, vec![part]));
                open = true;
            }
        }
        if !taken {
            return vec![Driver::Assign(var, 0, value.clone())];
        }
        remaining
            .into_iter()
            .map(|(lsb, nodes)| Driver::Assign(var, lsb, super::node::concat(nodes)))
            .collect()
    }

    fn combinational(&mut self, drivers: &[Driver]) -> String {
        let mut text = String::new();
        let mut previous_block = true;
        for driver in drivers {
            match driver {
                Driver::Assign(var, lsb, value) => {
                    self.writer.set_hint(*var);
                    let expression = self.writer.expression(value);
                    let target = self.writer.bits(*var, *lsb, value.width);
                    let comment = self.comment_of(*var, *lsb, value.width);
                    let separator = if previous_block || !comment.is_empty() { "\n" } else { "" };
                    let line = wrap(&format!("    assign {target} = {expression};"));
                    let _ = writeln!(text, "{separator}{comment}{line}");
                    previous_block = false;
                }
                Driver::Block(members, statements) => {
                    text.push('\n');
                    self.writer.block(members, statements).iter().for_each(|l| {
                        let _ = writeln!(text, "{}", wrap(l));
                    });
                    previous_block = true;
                }
            }
        }
        text
    }

    /// The comment in front of the first statement that assigns some of these bits.
    fn comment_of(&mut self, var: VarId, lsb: usize, width: usize) -> String {
        let unit = self.unit;
        let mut positions = unit.statements.iter().filter_map(|statement| match statement {
            Stmt::Assign(a) if a.var == var && a.lsb < lsb + width && lsb < a.lsb + a.width => {
                Some(a.position)
            }
            _ => None,
        });
        let commented = positions.find(|position| unit.comments.contains_key(position));
        let lines = commented.map(|position| self.writer.comment(position, 1)).unwrap_or_default();
        lines.into_iter().map(|line| line + "\n").collect()
    }

    fn instances(&mut self, definitions: &[Definition]) -> String {
        let mut text = String::new();
        for child in &self.unit.children {
            let name = self.writer.names.take_one(&[&child.name, &format!("{}_unit", child.name)]);
            let _ = writeln!(text, "\n    {} {name} (", placeholder(child.module));
            for (i, (&var, port)) in child.ports.iter().zip(&definitions[child.module].ports).enumerate() {
                let bits = self.unit.vars[var].bits();
                let connected = match self.connections.get(&var).cloned() {
                    Some(value) => self.writer.expression(&value),
                    None => {
                        if matches!(self.unit.vars[var].role, Role::ChildInput(_)) {
                            self.writer.used[var] = ones(bits);
                        }
                        self.writer.bits(var, 0, bits)
                    }
                };
                let comma = if i + 1 < child.ports.len() { "," } else { "" };
                let _ = writeln!(text, "{}", wrap(&format!("        .{}({connected}){comma}", port.name)));
            }
            text.push_str("    );\n");
        }
        text
    }

    fn clocked(&mut self) -> String {
        let mut domains: Vec<(Node, Node, Vec<usize>)> = Vec::new();
        for (index, register) in self.unit.registers.iter().enumerate() {
            if !self.var_live(register.present) {
                continue;
            }
            let (Some(clock), Some(reset)) = (register.clock.clone(), register.reset.clone()) else {
                continue;
            };
            match domains.iter_mut().find(|(c, r, _)| *c == clock && *r == reset) {
                Some((_, _, members)) => members.push(index),
                None => domains.push((clock, reset, vec![index])),
            }
        }
        let mut text = String::new();
        for (clock, reset, members) in domains {
            let (clock, reset) = (self.writer.expression(&clock), self.writer.expression(&reset));
            let mut all = vec![format!("        if ({reset}) begin")];
            for &index in &members {
                let register = &self.unit.registers[index];
                let name = &self.writer.name[register.present];
                let value = constant(&register.reset_value, self.unit.vars[register.present].width);
                all.push(format!("            {name} <= {value};"));
            }
            all.push("        end else begin".to_string());
            let mine = |var: VarId| match self.unit.vars[var].role {
                Role::Next(index) => members.contains(&index),
                _ => false,
            };
            let statements = super::plan::keep_assigns(&self.plan.clocked, &|a| mine(a.var));
            all.extend(self.writer.clocked(&statements));
            for &index in members.iter().filter(|i| self.plan.next_nets.contains(i)) {
                let register = &self.unit.registers[index];
                let bits = self.unit.vars[register.next].width;
                let next = self.writer.expression(&Node::reference(register.next, 0, bits));
                all.push(format!("            {} <= {next};", self.writer.name[register.present]));
            }
            all.push("        end".to_string());
            text.push('\n');
            for line in self.writer.always(&format!("@(posedge {clock})"), &clock, &all) {
                let _ = writeln!(text, "{}", wrap(&line));
            }
        }
        text
    }

    fn declarations(&self) -> String {
        let mut text = String::new();
        let finish = |text: &mut String, line: &mut String| {
            if !line.is_empty() {
                let _ = writeln!(text, "{}", wrap(&format!("{};", std::mem::take(line))));
            }
        };
        let mut params: Vec<(&String, &String)> = self.writer.localparams.iter().collect();
        params.sort();
        for (name, identifier) in params {
            let (value, width) = match self.unit.localparams.get(name) {
                Some((value, width)) => (value.clone(), *width),
                None => match self.unit.targets.values().find_map(|t| named(t, name)) {
                    Some(found) => found,
                    None => continue,
                },
            };
            let _ =
                writeln!(text, "    localparam {}{identifier} = {};", range(width), constant(&value, width));
        }
        for ((_, offset, _), identifier) in &self.writer.offsets {
            let _ = writeln!(text, "    localparam {identifier} = {offset};");
        }
        // Elements that are variables of their own share a line.
        let mut line = String::new();
        let mut vector: Option<(&str, &str)> = None;
        for (var, info) in self.unit.vars.iter().enumerate() {
            let net = match info.role {
                Role::Input | Role::Output => continue,
                Role::ChildOutput(_) if self.writer.alias.contains_key(&var) => continue,
                Role::ChildOutput(_) => "wire",
                Role::ChildInput(_) if self.connections.contains_key(&var) => continue,
                Role::Next(index) if !self.plan.next_nets.contains(&index) => continue,
                _ if !self.var_live(var) => continue,
                Role::Register(_) => "reg ",
                _ if self.plan.procedural.contains(&var) => "reg ",
                _ => "wire",
            };
            let own =
                info.path.strip_suffix(']').and_then(|path| path.rsplit_once('[')).map(|(of, _)| (net, of));
            if own.is_some() && own == vector {
                let _ = write!(line, ", {}", self.writer.name[var]);
                continue;
            }
            finish(&mut text, &mut line);
            line = format!("    {net} {}{}", range(info.bits()), self.writer.name[var]);
            vector = own;
        }
        finish(&mut text, &mut line);
        for t in &self.writer.temporaries {
            let line = match &t.value {
                Some(value) => format!("    wire {}{} = {value};", range(t.width), t.name),
                None => format!("    reg  {}{};", range(t.width), t.name),
            };
            let _ = writeln!(text, "{}", wrap(&line));
        }
        if text.is_empty() {
            text
        } else {
            format!("\n{text}")
        }
    }

    /// The conditions that always hold, as text over what is declared. One that reads what this
    /// module does not have, such as a bit that nothing else reads in its sizes, is left out.
    fn always(&mut self) -> Vec<Promise> {
        self.writer.is_declared = true;
        let temporaries = self.writer.temporaries.len();
        let mut promises = Vec::new();
        for (name, condition) in &self.unit.always {
            let slots = self.writer.slots;
            let is_declared = |slot: &Slot| {
                let is_given =
                    |var: usize| matches!(self.unit.vars[var].role, Role::Input | Role::ChildOutput(_));
                is_given(slots.var(*slot)) || self.plan.live.contains(slot)
            };
            if !slots.read_by(condition).iter().all(is_declared) {
                continue;
            }
            let holds = self.writer.expression(condition);
            // A net for a part of the expression would have to be declared.
            if self.writer.temporaries.len() == temporaries {
                promises.push(Promise::Always { name: name.clone(), holds });
            }
            self.writer.temporaries.truncate(temporaries);
            self.writer.by_node.retain(|_, index| *index < temporaries);
        }
        promises
    }

    /// Refuses a unit in which two things would have one identifier.
    fn check_names(&self) -> Result<(), EmitError> {
        let Some(name) = self.writer.names.clash() else { return Ok(()) };
        let vars = self.unit.vars.iter().enumerate();
        let of_vars = vars.filter(|(var, _)| self.writer.name[*var] == name).map(|(_, info)| &info.path);
        let mut both = of_vars.map(|path| format!("`{path}`"));
        let other = || format!("what is made of `{}`", name.trim_end_matches('_'));
        Err(EmitError::NameTaken {
            path: self.unit.path.clone(),
            name: name.to_string(),
            first: both.next().unwrap_or_else(other),
            second: both.next().unwrap_or_else(other),
            remedy: "rename one of them, or give an intermediate value a `let`".to_string(),
        })
    }

    /// A net that reads every bit that nothing else reads, so that lint tools know it is meant.
    fn sink(&mut self) -> String {
        let mut parts = Vec::new();
        for (var, info) in self.unit.vars.iter().enumerate() {
            let declared = match info.role {
                Role::Output => false,
                Role::Input => true,
                Role::ChildOutput(_) => !self.writer.alias.contains_key(&var) && self.var_live(var),
                Role::ChildInput(_) => !self.connections.contains_key(&var),
                Role::Next(index) => self.plan.next_nets.contains(&index) && self.var_live(var),
                _ => self.var_live(var),
            };
            if declared {
                for (lsb, width) in unread(info.bits(), &self.writer.used[var]) {
                    parts.append(&mut self.writer.parts(var, lsb, width));
                }
            }
        }
        for t in &self.writer.temporaries {
            let ranges = unread(t.width, &t.used).into_iter();
            parts.extend(ranges.map(|(lsb, width)| select(&t.name, t.width, lsb, width)));
        }
        if parts.is_empty() {
            return String::new();
        }
        let name = self.writer.names.take_one(&["unused", "unused_bits"]);
        let line = wrap(&format!("    wire {name} = &{{1'b0, {}}};", parts.join(", ")));
        format!("\n    // Bits that this module does not use.\n{line}\n")
    }
}

fn named(target: &super::unit::Target, wanted: &str) -> Option<(BigUint, usize)> {
    match target {
        super::unit::Target::Constant { value, width, name: Some(name), .. } if name == wanted => {
            Some((value.clone(), *width))
        }
        _ => None,
    }
}

/// The ranges of a net that nothing reads: lowest bit and width.
fn unread(bits: usize, used: &BigUint) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut bit = 0;
    while bit < bits {
        if used.bit(bit as u64) {
            bit += 1;
            continue;
        }
        let start = bit;
        while bit < bits && !used.bit(bit as u64) {
            bit += 1;
        }
        ranges.push((start, bit - start));
    }
    ranges
}

/// Short enough for a port connection.
fn is_simple(value: &Node) -> bool {
    let leaf = |n: &Node| matches!(n.ex, Ex::Const(..) | Ex::Ref(..));
    match &value.ex {
        Ex::Concat(parts) => parts.len() <= 4 && parts.iter().all(leaf),
        _ => leaf(value),
    }
}

/// Writes the module of a unit.
pub fn write(
    unit: &Unit,
    scope: &Scope,
    slots: &Slots,
    flow: &Flow,
    wakes: &Wakes,
    plan: &Plan,
    others: &[Definition],
) -> Result<Definition, EmitError> {
    let mut read_by_blocks = HashSet::new();
    for driver in &plan.drivers {
        if let Driver::Block(_, statements) = driver {
            read_by_blocks.extend(read_by(statements));
        }
    }
    let writer = Writer::new(unit, slots, plan);
    let mut builder = Builder { writer, plan, unit, connections: HashMap::new(), read_by_blocks };
    builder.name_variables();
    let mut drivers = plan.drivers.clone();
    builder.connect_directly(&mut drivers);
    let bidirectional = bidirectional::outputs(unit, others, &builder.writer.alias)?;
    let combinational = builder.combinational(&drivers);
    let instances = builder.instances(others);
    let clocked = builder.clocked();
    let sink = builder.sink();
    let declarations = builder.declarations();
    builder.check_names()?;
    let always = builder.always();
    let description = scope.description.as_ref();
    let mut ports = Vec::new();
    let mut port_of = HashMap::new();
    for (var, info) in unit.vars.iter().enumerate() {
        let direction = match info.role {
            Role::Input => Direction::Input,
            Role::Output if bidirectional.contains(&var) => Direction::Bidirectional,
            Role::Output => Direction::Output,
            _ => continue,
        };
        port_of.insert(var, ports.len());
        let port = Port { name: builder.writer.name[var].clone(), direction, width: info.bits() };
        ports.push(ListedPort {
            port,
            bits: None,
            procedural: plan.procedural.contains(&var),
            doc: field_doc(description, &info.path),
            group: description.and_then(|d| group_doc(d, &info.path)),
        });
    }
    let place = |slot: usize| {
        let var = slots.var(slot);
        port_of.get(&var).map(|p| (*p, slot - slots.of_var(var).start))
    };
    let places = |edges: &Wakes| {
        let place_all = |ins: &BTreeSet<Slot>| ins.iter().filter_map(|i| place(*i)).collect();
        let mut list: Vec<_> =
            edges.iter().filter_map(|(out, ins)| Some((place(*out)?, place_all(ins)))).collect();
        list.sort();
        list
    };
    let (through, wakes) = (places(&flow.through), places(wakes));
    let named = |path: &str| {
        let port = port_of.iter().find(|(var, _)| unit.vars[**var].path == path);
        port.map(|(_, index)| ports[*index].port.name.clone())
    };
    let mut promises = description.map(|d| promise::promises(d, named)).unwrap_or_default();
    promises.extend(always);
    Ok(Definition {
        doc: description.map(|d| d.doc.clone()).unwrap_or_default(),
        source: description.map(|d| d.source.clone()).unwrap_or_default(),
        header: header(&ports),
        ports: ports.into_iter().map(|p| p.port).collect(),
        body: format!("{declarations}{combinational}{instances}{clocked}{sink}"),
        through,
        wakes,
        promises,
        ..Definition::default()
    })
}
