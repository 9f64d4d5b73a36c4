//! What wakes an `always @*` block in an event-driven simulator.
//!
//! A simulator runs such a block again at every change of a variable that the block reads, and
//! looks at the whole of the variable, not at the element that is read (IEEE 1364-2005, section
//! 9.7.5, leaves no choice for `@*`). A block may change what it drives several times before it has
//! the final value. So a block that is woken by a change that it made itself, through others, may
//! wake itself for ever.
//!
//! Here stands what keeps that out: no block of an emitted design is woken by what it drives, and
//! no variable is driven by two blocks. `assign`s are no blocks: what they drive changes only if
//! its value does, bit by bit, so that they settle whatever they read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::flow::{self, components, ChildEdges, Flow, Slot, Slots};
use super::node::{slice, Node, VarId};
use super::plan::{Driver, Plan};
use super::unit::{Role, Stmt, Unit};

/// What has to be done about a module before its blocks are right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The elements of these vectors become variables.
    Split(BTreeSet<VarId>),
    /// These elements no longer share a block only because they are assigned in the same `if` or
    /// `match`.
    Apart(BTreeSet<Slot>),
    /// The children with these indices must be woken by no input but those that decide them. If
    /// they already are, nothing helps: the element wakes what drives it, or, if there is none,
    /// only the outputs of this module are not as precise as asked for.
    Children(BTreeSet<usize>, Option<Slot>, Wakes),
}

/// For each output element, the inputs at whose change it may change, even if only for a moment.
pub type Wakes = HashMap<Slot, BTreeSet<Slot>>;

/// A graph of the elements of the variables and, behind them, the blocks; edges lead to what wakes
/// or decides a node.
struct Graph<'a> {
    unit: &'a Unit,
    slots: &'a Slots,
    edges: Vec<Vec<usize>>,
    /// For each block, the variables that it reads or drives.
    touched: Vec<BTreeSet<VarId>>,
    driven: Vec<&'a BTreeSet<Slot>>,
}

/// The variables that statements read.
pub fn read_by(statements: &[Stmt]) -> BTreeSet<VarId> {
    let mut read = BTreeSet::new();
    for_each_ref(statements, &mut |var, _, _| {
        read.insert(var);
    });
    read
}

/// Calls `f` with variable, lowest bit and width of everything that statements read.
fn for_each_ref(statements: &[Stmt], f: &mut impl FnMut(VarId, usize, usize)) {
    for statement in statements {
        match statement {
            Stmt::Assign(a) => a.value.for_each_ref(f),
            Stmt::If { condition, then, otherwise, .. } => {
                condition.for_each_ref(f);
                for_each_ref(then, f);
                for_each_ref(otherwise, f);
            }
            Stmt::Case { subject, arms, default, .. } => {
                subject.for_each_ref(f);
                arms.iter().for_each(|(_, block)| for_each_ref(block, f));
                for_each_ref(default, f);
            }
        }
    }
}

impl<'a> Graph<'a> {
    fn new(unit: &'a Unit, slots: &'a Slots, plan: &'a Plan, children: &ChildEdges) -> Self {
        let mut edges = vec![Vec::new(); slots.len()];
        for (slot, inputs) in children {
            edges[*slot].extend(inputs);
        }
        let mut graph = Self { unit, slots, edges, touched: Vec::new(), driven: Vec::new() };
        for driver in &plan.drivers {
            match driver {
                Driver::Assign(var, lsb, value) => graph.add_assign(*var, *lsb, value),
                Driver::Block(members, statements) => graph.add_block(members, statements),
            }
        }
        graph
    }

    fn add_assign(&mut self, var: VarId, lsb: usize, value: &Node) {
        for slot in self.slots.covering(var, lsb, value.width) {
            let own = slice(value, self.slots.lsb(slot) - lsb, self.slots.width(slot));
            self.edges[slot].extend(self.slots.read_by(&own));
        }
    }

    fn add_block(&mut self, members: &'a BTreeSet<Slot>, statements: &[Stmt]) {
        let mut read = read_by(statements);
        let block = self.edges.len();
        // A block does not wait while it runs: what only it drives does not wake it.
        let sources = read.iter().flat_map(|var| self.slots.of_var(*var)).filter(|s| !members.contains(s));
        self.edges.push(sources.collect());
        members.iter().for_each(|&slot| self.edges[slot].push(block));
        read.extend(members.iter().map(|slot| self.slots.var(*slot)));
        self.touched.push(read);
        self.driven.push(members);
    }

    fn is_vector(&self, var: VarId) -> bool {
        self.unit.vars[var].count > 1
    }

    /// Vectors that several blocks drive.
    fn shared(&self) -> BTreeSet<VarId> {
        let mut blocks: BTreeMap<VarId, usize> = BTreeMap::new();
        for members in &self.driven {
            let vars: BTreeSet<VarId> = members.iter().map(|slot| self.slots.var(*slot)).collect();
            vars.into_iter().for_each(|var| *blocks.entry(var).or_default() += 1);
        }
        blocks.into_iter().filter(|(_, count)| *count > 1).map(|(var, _)| var).collect()
    }

    /// Nodes that wake each other.
    fn circles(&self) -> Vec<Vec<usize>> {
        components(&self.edges).into_iter().filter(|c| c.len() > 1).collect()
    }

    fn blocks_of<'b>(&'b self, nodes: &'b [usize]) -> impl Iterator<Item = usize> + 'b {
        nodes.iter().filter_map(|node| node.checked_sub(self.slots.len()))
    }

    /// Children with an edge between two of `nodes`.
    fn children_of(&self, nodes: &[usize]) -> BTreeSet<usize> {
        let child = |node: &usize| match self.unit.vars[self.slots.var(*node)].role {
            Role::ChildOutput(child) => Some(child),
            _ => None,
        };
        nodes.iter().filter(|n| **n < self.slots.len()).filter_map(child).collect()
    }
}

/// Looks at a planned module. `apart` are the elements that already are on their own; `precise`
/// asks that each output be woken by no input but those that decide it.
///
/// # Errors
/// What has to be done first.
pub fn analyse(
    unit: &Unit,
    slots: &Slots,
    flow: &Flow,
    plan: &Plan,
    children: &ChildEdges,
    apart: &BTreeSet<Slot>,
    precise: bool,
) -> Result<Wakes, Remedy> {
    let graph = Graph::new(unit, slots, plan, children);
    let shared = graph.shared();
    if !shared.is_empty() {
        return Err(Remedy::Split(shared));
    }
    let mut circles = graph.circles();
    let wakes = flow::through(unit, slots, &graph.edges);
    let woken = !circles.is_empty();
    if !woken {
        if !precise || wakes == flow.through {
            return Ok(wakes);
        }
        circles = vec![(0..graph.edges.len()).collect()];
    }
    let blocks: BTreeSet<usize> = circles.iter().flat_map(|nodes| graph.blocks_of(nodes)).collect();
    let inside: BTreeSet<usize> = circles.iter().flatten().copied().collect();
    let vectors: BTreeSet<VarId> = blocks
        .iter()
        .flat_map(|block| graph.touched[*block].iter().copied())
        .filter(|var| graph.is_vector(*var) && slots.of_var(*var).any(|slot| inside.contains(&slot)))
        .collect();
    if !vectors.is_empty() {
        return Err(Remedy::Split(vectors));
    }
    let several = blocks.iter().filter(|block| graph.driven[**block].len() > 1);
    let together: BTreeSet<Slot> = several
        .flat_map(|block| graph.driven[*block].iter().copied())
        .filter(|s| !apart.contains(s))
        .collect();
    if !together.is_empty() {
        return Err(Remedy::Apart(together));
    }
    let children = circles.iter().flat_map(|nodes| graph.children_of(nodes)).collect();
    // A local that serves twice says most.
    let driven = blocks.iter().flat_map(|block| graph.driven[*block].iter().copied());
    let mut signals: Vec<Slot> =
        inside.into_iter().filter(|node| *node < slots.len()).chain(driven).collect();
    signals.sort_by_key(|slot| !unit.vars[slots.var(*slot)].role.sequential());
    let culprit = signals.first().copied().filter(|_| woken);
    Err(Remedy::Children(children, culprit, wakes))
}
