//! All modules of a design.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use rust_hdl::prelude::{AtomKind, Block, Verilog};
use serde::Serialize;

use super::comment;
use super::elements;
use super::flow::{self, ChildEdges, Slots};
use super::kernel;
use super::module::{self, Definition, PortElement};
use super::names::{identifier, module_name, snake_case, Names};
use super::plan;
use super::port_list::{header, port_name, Direction, ListedPort, Port};
use super::promise::Promise;
use super::scope::{self, Scope};
use super::unit::{group_elements, rust_path, Unit};
use super::unit_info::{HandWritten, Primitive};
use super::wakes::{self, Remedy};
use super::EmitError;

/// One Verilog module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Its identifier.
    pub name: String,
    /// Its text: header comment, `module` to `endmodule`.
    pub text: String,
    /// Its ports, in the order of the text.
    pub ports: Vec<Port>,
    /// What its unit promises of them.
    pub promises: Vec<Promise>,
    /// The type of its unit, in snake case and without its arguments.
    pub unit: String,
    /// Numbers of its unit: fields that begin with `_`, const parameters, each with its value.
    pub numbers: Vec<(String, String)>,
}

/// An emitted design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// Name of the top module.
    pub top: String,
    /// The modules; a module comes after those that it instantiates, the top last.
    pub modules: Vec<Module>,
    /// Ports of the top module, in its order.
    pub ports: Vec<Port>,
}

impl Design {
    /// The whole design as one file. Inside, a name without a declaration is an error; what follows
    /// the file has Verilog's own rule again.
    #[must_use]
    pub fn verilog(&self) -> String {
        let modules: String = self.modules.iter().map(|module| module.text.clone() + "\n").collect();
        format!("{HEAD}{modules}{TAIL}")
    }

    /// The same as one file that begins with `head`. Before every module stands a `` `line ``
    /// directive that gives it the file name that it would have as a file of its own: some lint
    /// tools check that module and file agree. Others know no such directive.
    #[must_use]
    pub fn verilog_with_lines(&self, head: &str) -> String {
        let mut text = format!("{head}{HEAD}");
        for module in &self.modules {
            let line = text.lines().count() + 2;
            let _ = writeln!(text, "`line {line} \"{}.v\" 0", module.name);
            text.push_str(&module.text);
            text.push('\n');
        }
        text + TAIL
    }

    /// The design as one file a module, each with its name and text, in the order of the modules.
    /// Each begins with `head`. A file depends on its module alone: it is the same in all designs
    /// that have the module.
    #[must_use]
    pub fn module_files(&self, head: &str) -> Vec<(String, String)> {
        let text = |module: &Module| format!("{head}{HEAD}{}\n{TAIL}", module.text);
        self.modules.iter().map(|module| (format!("{}.v", module.name), text(module))).collect()
    }
}

/// At the head of a file: a name without a declaration is an error. Names of instances are those of
/// the fields, whatever the signals inside are called, so that no module has lines that depend on
/// the inside of another.
const HEAD: &str = "`default_nettype none\n\n\
    // An instance may have the name of a signal inside it.\n\
    // verilator lint_off VARHIDDEN\n\n";

/// At the end of a file, for those that a tool reads after it: what the head changed is as before.
const TAIL: &str = "// verilator lint_on VARHIDDEN\n`default_nettype wire\n";

/// Modules by what they are made of.
#[derive(Default)]
struct Library {
    definitions: Vec<Definition>,
    known: HashMap<String, usize>,
    /// Fingerprint of each definition.
    keys: Vec<String>,
    /// Modules whose outputs must not change, even for a moment, with inputs that do not decide
    /// them.
    precise: BTreeSet<String>,
}

/// Writes `unit` and everything in it as Verilog; the top module is called `top_name`.
///
/// The unit needs no preparation. Equal units become one module.
///
/// # Errors
/// [`EmitError`] with the path of the signal for anything in the design that has no Verilog
/// meaning.
pub fn emit<B: Block>(unit: &B, top_name: &str) -> Result<Design, EmitError> {
    emit_prefixed(unit, top_name, "")
}

/// As [`emit`]; the names of all modules, the top included, begin with `prefix`, so that several
/// designs stand in one without a clash. `prefix` must be one with which a Verilog identifier can
/// begin, or empty.
///
/// # Errors
/// As [`emit`].
pub fn emit_prefixed<B: Block>(unit: &B, top_name: &str, prefix: &str) -> Result<Design, EmitError> {
    let scope = scope::read(unit, top_name).ok_or(EmitError::NotAUnit { path: top_name.to_string() })?;
    let mut precise = BTreeSet::new();
    loop {
        let mut library = Library { precise: precise.clone(), ..Library::default() };
        let result = library.module(&scope, top_name);
        if library.precise.len() == precise.len() {
            return library.finish(result?, top_name, prefix);
        }
        // Something above needs modules to be written otherwise than they were.
        precise = library.precise;
    }
}

impl Library {
    /// The index of the module for `scope`, which is written if it is new.
    fn module(&mut self, scope: &Scope, path: &str) -> Result<usize, EmitError> {
        let mut children = Vec::new();
        for child in &scope.children {
            let child_path = format!("{path}.{}", super::unit::rust_path(&child.name));
            children.push(match child.primitive {
                Some(Primitive::Register { .. } | Primitive::Pack) => None,
                _ => Some(self.module(child, &child_path)?),
            });
        }
        let key = fingerprint(scope, &children);
        if let Some(&index) = self.known.get(&key) {
            return Ok(index);
        }
        let mut definition = match &scope.primitive {
            Some(Primitive::HandWritten(module)) => hand_written(scope, path, module)?,
            _ => {
                let mut indices = scope.children.iter().zip(&children);
                let mut unit = Unit::declare(scope, path, |child, _| {
                    let found = indices.find(|(c, _)| std::ptr::eq(*c, child));
                    found
                        .and_then(|(_, i)| *i)
                        .ok_or_else(|| EmitError::NotAUnit { path: format!("{path}.{}", child.name) })
                })?;
                kernel::translate(&mut unit, scope)?;
                self.write(unit, scope, self.precise.contains(&key))?
            }
        };
        definition.base_name = base_name(scope);
        definition.unit = scope.description.as_ref().map_or_else(
            || definition.base_name.clone(),
            |description| module_name(without_arguments(&description.type_name)),
        );
        definition.path = path.to_string();
        definition.parameters = parameters(scope);
        let children = scope.children.iter().zip(children);
        definition.children = children.filter_map(|(c, index)| Some((c.name.clone(), index?))).collect();
        let index = self.definitions.len();
        self.definitions.push(definition);
        self.keys.push(key.clone());
        self.known.insert(key, index);
        Ok(index)
    }

    /// Plans and writes the module of `unit`. It is planned again, with more variables or blocks,
    /// until no block wakes itself.
    fn write(&mut self, mut unit: Unit, scope: &Scope, precise: bool) -> Result<Definition, EmitError> {
        let mut apart = BTreeSet::new();
        loop {
            let slots = Slots::new(&unit);
            let through = self.child_edges(&unit, &slots, |d| &d.through);
            let flow = flow::analyse(&unit, &slots, &through)?;
            let plan = plan::plan(&unit, &slots, &flow, &apart)?;
            let children = self.child_edges(&unit, &slots, |d| &d.wakes);
            match wakes::analyse(&unit, &slots, &flow, &plan, &children, &apart, precise) {
                Ok(wakes) => {
                    return module::write(&unit, scope, &slots, &flow, &wakes, &plan, &self.definitions);
                }
                Err(Remedy::Split(vectors)) => {
                    vectors.iter().for_each(|var| elements::split(&mut unit, *var))
                }
                Err(Remedy::Apart(slots)) => apart.extend(slots),
                Err(Remedy::Children(children, culprit, wakes)) => {
                    let keys = children.iter().map(|child| &self.keys[unit.children[*child].module]);
                    let new: Vec<String> = keys.filter(|key| !self.precise.contains(*key)).cloned().collect();
                    if culprit.is_none() && new.is_empty() {
                        let others = &self.definitions;
                        return module::write(&unit, scope, &slots, &flow, &wakes, &plan, others);
                    }
                    self.precise.extend(new);
                    let signal = culprit.map(|slot| unit.var_path(slots.var(slot), slots.lsb(slot)));
                    return Err(EmitError::WokenByItself {
                        path: unit.path,
                        signal: signal.unwrap_or_default(),
                    });
                }
            }
        }
    }

    fn child_edges(
        &self,
        unit: &Unit,
        slots: &Slots,
        edges_of: impl Fn(&Definition) -> &Vec<(PortElement, Vec<PortElement>)>,
    ) -> ChildEdges {
        let mut edges = ChildEdges::new();
        for child in &unit.children {
            let slot = |(port, element): (usize, usize)| slots.of_var(child.ports[port]).start + element;
            for (output, inputs) in edges_of(&self.definitions[child.module]) {
                edges.insert(slot(*output), inputs.iter().map(|i| slot(*i)).collect());
            }
        }
        edges
    }

    /// What can tell a module from others of its type: what its unit says of itself, and what its
    /// children say if `deep`.
    fn telling(&self, index: usize, kinds: usize, deep: bool) -> Vec<(String, String)> {
        let definition = &self.definitions[index];
        let own = definition.parameters.iter().take(kinds).flatten().cloned();
        let mut all: Vec<(String, String)> = own.collect();
        if deep {
            for (child, module) in &definition.children {
                let of_child = self.telling(*module, kinds, true).into_iter();
                all.extend(of_child.map(|(name, value)| (format!("{child}_{name}"), value)));
                all.push((format!("with_{child}_"), self.definitions[*module].base_name.clone()));
            }
        }
        all
    }

    /// Names for the modules `members`, which have the type `base`: it, and after it the parameters
    /// in which they differ. It takes no more kinds of parameters than it needs.
    fn names_of_type(&self, base: &str, members: &[usize]) -> Vec<String> {
        let mut names = vec![base.to_string(); members.len()];
        for (kinds, deep) in [(1, false), (2, false), (3, false), (4, false), (4, true)] {
            let all: Vec<_> = members.iter().map(|member| self.telling(*member, kinds, deep)).collect();
            let of_members = |pair: &(String, String)| -> Vec<bool> {
                all.iter().map(|parameters| parameters.contains(pair)).collect()
            };
            for (name, parameters) in names.iter_mut().zip(&all) {
                *name = base.to_string();
                let mut parts = BTreeSet::new();
                let differing = parameters.iter().filter(|pair| of_members(pair).contains(&false));
                for pair @ (parameter, value) in differing {
                    // Of parts that come together the first one is enough.
                    if value.is_empty() && !parts.insert(of_members(pair)) {
                        continue;
                    }
                    let _ = write!(name, "_{}{value}", parameter.trim_start_matches('_'));
                }
            }
            if names.iter().collect::<BTreeSet<_>>().len() == names.len() {
                break;
            }
        }
        names
    }

    /// Chooses the names of the modules.
    fn names(&self, top: usize, top_name: &str, prefix: &str) -> Result<Vec<String>, EmitError> {
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, definition) in self.definitions.iter().enumerate() {
            if index != top {
                let base = definition.shared_name.as_ref().unwrap_or(&definition.base_name);
                groups.entry(base).or_default().push(index);
            }
        }
        let mut names = Names::default();
        let mut result = vec![String::new(); self.definitions.len()];
        result[top] = names.take(top_name);
        for (base, members) in groups {
            // Modules of one name may be equal, such as memories with different parameters: see
            // `finish`.
            let mut of_type: BTreeMap<String, String> = BTreeMap::new();
            for (member, name) in members.iter().zip(self.names_of_type(base, &members)) {
                let identifier = of_type.entry(name).or_insert_with_key(|name| names.take(name));
                result[*member].clone_from(identifier);
            }
        }
        if let Some(clash) = names.clash() {
            let mut same = result.iter().enumerate().filter(|(_, name)| *name == clash).map(|(i, _)| i);
            let (first, second) = (same.next().unwrap_or_default(), same.next().unwrap_or_default());
            return Err(self.modules_clash(top_name, clash, first, second));
        }
        Ok(result.into_iter().map(|name| format!("{prefix}{name}")).collect())
    }

    fn modules_clash(&self, top: &str, name: &str, first: usize, second: usize) -> EmitError {
        let path = |index: usize| format!("`{}`", self.definitions[index].path);
        EmitError::NameTaken {
            path: top.to_string(),
            name: name.to_string(),
            first: path(first),
            second: path(second),
            remedy:
                "rename a type, or give the unit an integer field that begins with `_` and tells them apart"
                    .to_string(),
        }
    }

    fn finish(self, top: usize, top_name: &str, prefix: &str) -> Result<Design, EmitError> {
        let names = self.names(top, top_name, prefix)?;
        let mut modules: Vec<Module> = Vec::new();
        let mut index_of: HashMap<&str, (usize, usize)> = HashMap::new();
        for (number, (definition, name)) in self.definitions.iter().zip(&names).enumerate() {
            let mut text = String::new();
            for line in comment::lines(&comment::plain(&definition.doc), "") {
                let _ = writeln!(text, "{line}");
            }
            if !definition.source.is_empty() {
                let _ = writeln!(text, "// Source: {}", definition.source);
            }
            let parameters = parameter_list(&definition.sizes, number == top);
            let _ = write!(text, "module {name} {parameters}{}", definition.header);
            for (i, piece) in definition.body.split('\u{1}').enumerate() {
                // Every second piece is the number of a module.
                match piece.parse::<usize>() {
                    Ok(index) if i % 2 == 1 => {
                        let sizes = &self.definitions[index].sizes;
                        let _ = write!(text, "{}{}", names[index], parameter_values(sizes));
                    }
                    _ => text.push_str(piece),
                }
            }
            text.push_str("endmodule\n");
            if let Some(&(first, place)) = index_of.get(name.as_str()) {
                if modules[place].text == text {
                    continue;
                }
                return Err(self.modules_clash(top_name, name, first, number));
            }
            index_of.insert(name, (number, modules.len()));
            let (ports, promises) = (definition.ports.clone(), definition.promises.clone());
            let unit = definition.unit.clone();
            let numbers = definition.parameters.first().cloned().unwrap_or_default();
            modules.push(Module { name: name.clone(), text, ports, promises, unit, numbers });
        }
        Ok(Design { top: names[top].clone(), modules, ports: self.definitions[top].ports.clone() })
    }
}

/// A text that is equal for units with equal modules.
fn fingerprint(scope: &Scope, children: &[Option<usize>]) -> String {
    let mut key = format!("{:?}{:?}", scope.description, scope.primitive);
    for atom in &scope.atoms {
        let constant = if atom.kind == AtomKind::Constant { atom.value.to_string() } else { String::new() };
        let _ = write!(key, "{} {:?} {} {:?} {constant};", atom.name, atom.kind, atom.width, atom.ty);
    }
    for (child, module) in scope.children.iter().zip(children) {
        let _ = write!(key, "{} {:?} {:?}", child.name, module, child.primitive);
        if module.is_none() {
            for atom in &child.atoms {
                let _ = write!(key, "{} {} {:?};", atom.name, atom.width, atom.ty);
            }
        }
    }
    let _ = write!(key, "{:?}", scope.code);
    if scope.description.is_none() && scope.primitive.is_none() {
        // Without a type name, the field's name is the best there is.
        key.push_str(&scope.name);
    }
    key
}

/// A type without its arguments.
fn without_arguments(type_name: &str) -> &str {
    type_name.split_once('<').map_or(type_name, |(plain, _)| plain)
}

/// The name of a module after its type.
fn base_name(scope: &Scope) -> String {
    match (&scope.description, &scope.primitive) {
        (_, Some(Primitive::HandWritten(module))) => module_name(&module.type_name),
        (Some(description), _) => module_name(&description.type_name),
        _ => identifier(&snake_case(&scope.name)),
    }
}

/// What may tell a module from its like, by kind: integer fields that begin with `_`, parts that
/// are there (without a value), constants, lengths of vectors of signals.
fn parameters(scope: &Scope) -> Vec<Vec<(String, String)>> {
    let Some(description) = scope.description.as_ref().filter(|_| scope.primitive.is_none()) else {
        return Vec::new();
    };
    let fields = description.parameters.iter().filter(|(name, _)| name.starts_with('_'));
    let constants = scope.atoms.iter().filter(|atom| atom.kind == AtomKind::Constant);
    let vectors = group_elements(scope);
    vec![
        fields.map(|(name, value)| (name.clone(), value.to_string())).collect(),
        description.parts.iter().map(|name| (format!("with_{name}"), String::new())).collect(),
        constants.map(|atom| (atom.name.replace('$', "_"), atom.value.to_string())).collect(),
        vectors.iter().map(|(name, elements)| (name.replace('$', "_"), elements.len().to_string())).collect(),
    ]
}

/// A module whose text is written by hand, such as a memory.
///
/// # Errors
/// [`EmitError::NameTaken`] if two of its ports would have one name.
fn hand_written(scope: &Scope, path: &str, module: &HandWritten) -> Result<Definition, EmitError> {
    let groups = group_elements(scope);
    let mut names = Names::default();
    let mut ports: Vec<ListedPort> = Vec::new();
    for (field, elements) in &groups {
        let name = names.take(port_name(field));
        let direction = match elements[0].kind {
            AtomKind::InputParameter => Direction::Input,
            _ if module.bidirectional.contains(&name) => Direction::Bidirectional,
            _ => Direction::Output,
        };
        let bits = module.widths.iter().find(|(port, _)| *port == name).map(|(_, bits)| bits.clone());
        let port = Port { name, direction, width: elements[0].width * elements.len() };
        ports.push(ListedPort { port, bits, procedural: false, doc: String::new(), group: None });
    }
    if let Some(clash) = names.clash() {
        let both = groups.iter().zip(&ports).filter(|(_, listed)| listed.port.name == clash);
        let mut both = both.map(|((field, _), _)| format!("`{}`", rust_path(field)));
        return Err(EmitError::NameTaken {
            path: path.to_string(),
            name: clash.to_string(),
            first: both.next().unwrap_or_default(),
            second: both.next().unwrap_or_default(),
            remedy: "rename one of them".to_string(),
        });
    }
    let places = |name: &String| -> Vec<PortElement> {
        let port = ports.iter().position(|p| p.port.name == *name);
        port.into_iter().flat_map(|p| (0..groups[p].1.len()).map(move |element| (p, element))).collect()
    };
    let through = module.combinational.iter().flat_map(|(output, input)| {
        places(output).into_iter().map(|element| (element, places(input))).collect::<Vec<_>>()
    });
    let through: Vec<_> = through.collect();
    let body = match &scope.code {
        Verilog::Custom(text) => {
            text.lines().map(|l| format!("    {l}").trim_end().to_string() + "\n").collect()
        }
        _ => String::new(),
    };
    Ok(Definition {
        doc: module.doc.clone(),
        source: module.source.clone(),
        shared_name: (!module.parameters.is_empty())
            .then(|| module_name(without_arguments(&module.type_name))),
        sizes: module.parameters.clone(),
        header: header(&ports),
        ports: ports.into_iter().map(|p| p.port).collect(),
        body: format!("\n{body}"),
        wakes: through.clone(),
        through,
        ..Definition::default()
    })
}

/// The parameters of a module, with a bracket and a space behind; those of the top module, which
/// nobody instantiates, have their values.
fn parameter_list(sizes: &[(String, usize)], top: bool) -> String {
    let default = |value: usize| if top { value } else { 1 };
    let lines: Vec<String> =
        sizes.iter().map(|(name, value)| format!("    parameter {name} = {}", default(*value))).collect();
    if lines.is_empty() {
        String::new()
    } else {
        format!("#(\n{}\n) ", lines.join(",\n"))
    }
}

/// The values of its parameters where a module is instantiated, with a space in front.
fn parameter_values(sizes: &[(String, usize)]) -> String {
    let values: Vec<String> = sizes.iter().map(|(name, value)| format!(".{name}({value})")).collect();
    if values.is_empty() {
        String::new()
    } else {
        format!(" #({})", values.join(", "))
    }
}

impl Serialize for Module {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}
