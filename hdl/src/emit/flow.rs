//! Which assignments reach which reads: finds latches, reads before assignment and combinational
//! loops.

use std::collections::{BTreeSet, HashMap};

use num_bigint::BigUint;

use super::node::{ones, Node, VarId};
use super::unit::{Assign, Role, Stmt, Unit};
use super::EmitError;

/// An element of a variable: the unit of analysis.
pub type Slot = usize;

/// Numbers the elements of the variables of a unit.
#[derive(Clone, Debug)]
pub struct Slots {
    first: Vec<Slot>,
    of: Vec<VarId>,
    width: Vec<usize>,
}

impl Slots {
    pub fn new(unit: &Unit) -> Self {
        let (mut first, mut of, mut width) = (Vec::new(), Vec::new(), Vec::new());
        for (id, var) in unit.vars.iter().enumerate() {
            first.push(of.len());
            of.extend(std::iter::repeat_n(id, var.count));
            width.extend(std::iter::repeat_n(var.width, var.count));
        }
        Self { first, of, width }
    }

    pub fn len(&self) -> usize {
        self.of.len()
    }

    pub fn var(&self, slot: Slot) -> VarId {
        self.of[slot]
    }

    pub fn width(&self, slot: Slot) -> usize {
        self.width[slot]
    }

    /// Lowest bit of `slot` in its variable.
    pub fn lsb(&self, slot: Slot) -> usize {
        (slot - self.first[self.of[slot]]) * self.width[slot]
    }

    /// The slots of a variable.
    pub fn of_var(&self, var: VarId) -> std::ops::Range<Slot> {
        self.first[var]..self.first.get(var + 1).copied().unwrap_or(self.of.len())
    }

    /// The slots that hold some bits of a variable.
    pub fn covering(&self, var: VarId, lsb: usize, width: usize) -> std::ops::Range<Slot> {
        let (first, element) = (self.first[var], self.width[self.first[var]]);
        first + lsb / element..first + (lsb + width - 1) / element + 1
    }

    /// The slots that an expression reads.
    pub fn read_by(&self, node: &Node) -> BTreeSet<Slot> {
        let mut slots = BTreeSet::new();
        node.for_each_ref(&mut |var, lsb, width| slots.extend(self.covering(var, lsb, width)));
        slots
    }
}

/// A read of `slot` that decides `target`: `position` is where in the kernel it happens.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    pub target: Slot,
    pub slot: Slot,
    pub position: usize,
}

/// What a slot holds at some point of the kernel.
#[derive(Clone, Debug, Default)]
struct State {
    /// Bits assigned on every path.
    assigned: BigUint,
    /// Assignments whose value may still be there.
    reaching: BTreeSet<usize>,
}

/// The states of slots that changed since an outer block.
struct Layer<'a> {
    outer: Option<&'a Layer<'a>>,
    own: HashMap<Slot, State>,
}

impl Layer<'_> {
    fn get(&self, slot: Slot) -> Option<&State> {
        self.own.get(&slot).or_else(|| self.outer.and_then(|o| o.get(slot)))
    }
}

/// The result of the analysis of one unit.
#[derive(Debug, Default)]
pub struct Flow {
    pub reads: Vec<Read>,
    /// Position of the last assignment to each slot.
    pub last_write: Vec<Option<usize>>,
    /// For each slot, the slots whose value decides it, directly.
    pub depends: Vec<BTreeSet<Slot>>,
    /// For each output slot, the input slots that reach it without a register between.
    pub through: HashMap<Slot, BTreeSet<Slot>>,
}

/// Edges from the output slots of the children back to their input slots.
pub type ChildEdges = HashMap<Slot, Vec<Slot>>;

struct Analysis<'a> {
    unit: &'a Unit,
    slots: &'a Slots,
    flow: Flow,
    /// For each assignment its slot and the graph nodes it depends on.
    definitions: Vec<(Slot, BTreeSet<usize>)>,
    /// Conditions around the present statement: position and slots read, and graph nodes.
    conditions: Vec<(usize, BTreeSet<Slot>, BTreeSet<usize>)>,
}

impl Analysis<'_> {
    /// Graph node of the final value of a slot; assignments come after them.
    fn definition_node(&self, index: usize) -> usize {
        self.slots.len() + index
    }

    /// Checks the reads of `node` and returns the graph nodes it depends on.
    fn read(&self, node: &Node, layer: &Layer) -> Result<BTreeSet<usize>, EmitError> {
        let mut nodes = BTreeSet::new();
        let mut error = None;
        node.for_each_ref(&mut |var, lsb, width| {
            for slot in self.slots.covering(var, lsb, width) {
                if !self.unit.vars[var].role.sequential() {
                    nodes.insert(slot);
                    continue;
                }
                let base = self.slots.lsb(slot);
                let low = lsb.max(base) - base;
                let high = (lsb + width).min(base + self.slots.width(slot)) - base;
                let needed = ones(high - low) << low;
                match layer.get(slot) {
                    Some(state) if &state.assigned & &needed == needed => {
                        nodes.extend(state.reaching.iter().map(|d| self.definition_node(*d)));
                    }
                    Some(_) => error = Some(EmitError::Latch { path: self.unit.var_path(var, base) }),
                    None if self.flow.last_write[slot].is_some() => {
                        error = Some(EmitError::ReadBeforeAssignment { path: self.unit.var_path(var, base) });
                    }
                    None => error = Some(EmitError::Undriven { path: self.unit.var_path(var, base) }),
                }
            }
        });
        error.map_or(Ok(nodes), Err)
    }

    fn assign(&mut self, a: &Assign, layer: &mut Layer) -> Result<(), EmitError> {
        let mut nodes = self.read(&a.value, layer)?;
        let values = self.slots.read_by(&a.value);
        for target in self.slots.covering(a.var, a.lsb, a.width) {
            for &slot in &values {
                self.flow.reads.push(Read { target, slot, position: a.position });
            }
            for (position, slots, _) in &self.conditions {
                for &slot in slots {
                    self.flow.reads.push(Read { target, slot, position: *position });
                }
            }
            for (_, _, condition) in &self.conditions {
                nodes.extend(condition);
            }
            let index = self.definitions.len();
            self.definitions.push((target, nodes.clone()));
            let base = self.slots.lsb(target);
            let low = a.lsb.max(base) - base;
            let high = (a.lsb + a.width).min(base + self.slots.width(target)) - base;
            let mut state = layer.get(target).cloned().unwrap_or_default();
            if high - low == self.slots.width(target) {
                state.reaching.clear();
            }
            state.assigned |= ones(high - low) << low;
            state.reaching.insert(index);
            layer.own.insert(target, state);
        }
        Ok(())
    }

    fn branches(
        &mut self,
        position: usize,
        condition: &Node,
        blocks: &[&[Stmt]],
        layer: &mut Layer,
    ) -> Result<(), EmitError> {
        let nodes = self.read(condition, layer)?;
        self.conditions.push((position, self.slots.read_by(condition), nodes));
        let mut results = Vec::new();
        for block in blocks {
            let mut inner = Layer { outer: Some(layer), own: HashMap::new() };
            self.block(block, &mut inner)?;
            results.push(inner.own);
        }
        self.conditions.pop();
        let changed: BTreeSet<Slot> = results.iter().flat_map(|r| r.keys().copied()).collect();
        for slot in changed {
            let before = layer.get(slot).cloned().unwrap_or_default();
            let mut states = results.iter().map(|r| r.get(&slot).unwrap_or(&before));
            let mut merged = states.next().cloned().unwrap_or_default();
            for state in states {
                merged.assigned &= &state.assigned;
                merged.reaching.extend(&state.reaching);
            }
            layer.own.insert(slot, merged);
        }
        Ok(())
    }

    fn block(&mut self, statements: &[Stmt], layer: &mut Layer) -> Result<(), EmitError> {
        for statement in statements {
            match statement {
                Stmt::Assign(a) => self.assign(a, layer)?,
                Stmt::If { position, condition, then, otherwise } => {
                    self.branches(*position, condition, &[then, otherwise], layer)?;
                }
                Stmt::Case { position, subject, arms, default } => {
                    let mut blocks: Vec<&[Stmt]> = arms.iter().map(|(_, b)| b.as_slice()).collect();
                    blocks.push(default);
                    self.branches(*position, subject, &blocks, layer)?;
                }
            }
        }
        Ok(())
    }
}

fn note_writes(statements: &[Stmt], slots: &Slots, last: &mut [Option<usize>]) {
    for statement in statements {
        match statement {
            Stmt::Assign(a) => {
                for slot in slots.covering(a.var, a.lsb, a.width) {
                    last[slot] = Some(a.position);
                }
            }
            Stmt::If { then, otherwise, .. } => {
                note_writes(then, slots, last);
                note_writes(otherwise, slots, last);
            }
            Stmt::Case { arms, default, .. } => {
                arms.iter().for_each(|(_, block)| note_writes(block, slots, last));
                note_writes(default, slots, last);
            }
        }
    }
}

/// Analyses `unit`.
pub fn analyse(unit: &Unit, slots: &Slots, children: &ChildEdges) -> Result<Flow, EmitError> {
    let mut last_write = vec![None; slots.len()];
    note_writes(&unit.statements, slots, &mut last_write);
    let mut analysis = Analysis {
        unit,
        slots,
        flow: Flow { last_write, ..Flow::default() },
        definitions: Vec::new(),
        conditions: Vec::new(),
    };
    let mut layer = Layer { outer: None, own: HashMap::new() };
    analysis.block(&unit.statements, &mut layer)?;
    let mut graph: Vec<Vec<usize>> = vec![Vec::new(); slots.len() + analysis.definitions.len()];
    for (slot, edges) in graph.iter_mut().enumerate().take(slots.len()) {
        match layer.get(slot) {
            Some(state) => {
                let var = slots.var(slot);
                if state.assigned != ones(slots.width(slot)) {
                    return Err(EmitError::Latch { path: unit.var_path(var, slots.lsb(slot)) });
                }
                edges.extend(state.reaching.iter().map(|d| analysis.definition_node(*d)));
            }
            None => edges.extend(children.get(&slot).into_iter().flatten()),
        }
    }
    let mut depends = vec![BTreeSet::new(); slots.len()];
    for (index, (slot, nodes)) in analysis.definitions.iter().enumerate() {
        graph[slots.len() + index].extend(nodes);
        let _ = slot;
    }
    for read in &analysis.flow.reads {
        depends[read.target].insert(read.slot);
    }
    for (slot, inputs) in children {
        depends[*slot].extend(inputs);
    }
    for component in components(&graph) {
        if component.len() > 1 || graph[component[0]].contains(&component[0]) {
            return Err(loop_error(&analysis, &graph, &component));
        }
    }
    let mut flow = analysis.flow;
    flow.depends = depends;
    flow.through = through(unit, slots, &graph);
    Ok(flow)
}

/// The slots along a cycle inside `component`.
fn loop_error(analysis: &Analysis, graph: &[Vec<usize>], component: &[usize]) -> EmitError {
    let inside: BTreeSet<usize> = component.iter().copied().collect();
    let mut order = Vec::new();
    let mut node = component[0];
    while !order.contains(&node) {
        order.push(node);
        match graph[node].iter().find(|n| inside.contains(n)) {
            Some(&next) => node = next,
            None => break,
        }
    }
    let start = order.iter().position(|n| *n == node).unwrap_or(0);
    let slot_of = |n: usize| match n.checked_sub(analysis.slots.len()) {
        Some(definition) => analysis.definitions[definition].0,
        None => n,
    };
    let mut path: Vec<String> = Vec::new();
    // The graph leads from a value to what decides it; people read it the other way round.
    for &n in order[start..].iter().rev() {
        let slot = slot_of(n);
        let name = analysis.unit.var_path(analysis.slots.var(slot), analysis.slots.lsb(slot));
        if path.last() != Some(&name) {
            path.push(name);
        }
    }
    if path.len() > 1 && path.first() == path.last() {
        path.pop();
    }
    path.extend(path.first().cloned());
    EmitError::CombinationalLoop { path }
}

/// For each output slot, the input slots that `graph` leads to from it. Its first nodes are the
/// slots; edges lead to what decides a node.
pub fn through(unit: &Unit, slots: &Slots, graph: &[Vec<usize>]) -> HashMap<Slot, BTreeSet<Slot>> {
    let mut result = HashMap::new();
    let role = |slot: Slot| unit.vars[slots.var(slot)].role;
    for slot in (0..slots.len()).filter(|s| role(*s) == Role::Output) {
        let mut seen = vec![false; graph.len()];
        let mut stack = vec![slot];
        let mut inputs = BTreeSet::new();
        while let Some(node) = stack.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            if node < slots.len() && role(node) == Role::Input {
                inputs.insert(node);
            }
            stack.extend(&graph[node]);
        }
        result.insert(slot, inputs);
    }
    result
}

/// Strongly connected components of a graph of adjacency lists, each in ascending order.
pub fn components(graph: &[Vec<usize>]) -> Vec<Vec<usize>> {
    // Tarjan's algorithm with an explicit stack: kernels with long chains would overflow the call
    // stack.
    const NONE: usize = usize::MAX;
    let (mut index, mut low) = (vec![NONE; graph.len()], vec![0; graph.len()]);
    let mut on_stack = vec![false; graph.len()];
    let (mut stack, mut result, mut counter) = (Vec::new(), Vec::new(), 0);
    for root in 0..graph.len() {
        if index[root] != NONE {
            continue;
        }
        let mut work = vec![(root, 0)];
        while let Some((node, edge)) = work.pop() {
            if edge == 0 {
                index[node] = counter;
                low[node] = counter;
                counter += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(&next) = graph[node].get(edge) {
                work.push((node, edge + 1));
                if index[next] == NONE {
                    work.push((next, 0));
                } else if on_stack[next] {
                    low[node] = low[node].min(index[next]);
                }
                continue;
            }
            if low[node] == index[node] {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    on_stack[member] = false;
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                component.sort_unstable();
                result.push(component);
            }
            if let Some(&(parent, _)) = work.last() {
                low[parent] = low[parent].min(low[node]);
            }
        }
    }
    result
}
