//! Decides how the statements of a kernel are shared out over `assign`s, `always @*` blocks and the
//! clocked block.

use std::collections::{BTreeMap, BTreeSet};

use super::flow::{components, Flow, Slot, Slots};
use super::node::{concat, slice, Node, VarId};
use super::unit::{Assign, Role, Stmt, Unit};
use super::EmitError;

/// A piece of combinational logic of a module.
#[derive(Clone, Debug)]
pub enum Driver {
    /// `assign`: variable, lowest bit, value.
    Assign(VarId, usize, Node),
    /// `always @*`: what it drives, and the statements.
    Block(BTreeSet<Slot>, Vec<Stmt>),
}

/// How a unit is written.
#[derive(Debug, Default)]
pub struct Plan {
    /// Combinational logic in the order of the kernel.
    pub drivers: Vec<Driver>,
    /// Variables driven from `always @*` blocks.
    pub procedural: BTreeSet<VarId>,
    /// Slots that are read or leave the unit.
    pub live: BTreeSet<Slot>,
    /// Registers whose next value is computed by a driver; the others are assigned in the clocked
    /// block.
    pub next_nets: BTreeSet<usize>,
    /// Statements of the clocked block.
    pub clocked: Vec<Stmt>,
}

struct UnionFind(Vec<usize>);

impl UnionFind {
    fn find(&mut self, mut x: usize) -> usize {
        while self.0[x] != x {
            self.0[x] = self.0[self.0[x]];
            x = self.0[x];
        }
        x
    }

    fn union(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        let (low, high) = (a.min(b), a.max(b));
        self.0[high] = low;
    }
}

/// The statements without the assignments that `keep` refuses, and without branches that then do
/// nothing.
pub fn keep_assigns(statements: &[Stmt], keep: &dyn Fn(&Assign) -> bool) -> Vec<Stmt> {
    let mut out = Vec::new();
    for statement in statements {
        match statement {
            Stmt::Assign(a) if keep(a) => out.push(statement.clone()),
            Stmt::Assign(_) => {}
            Stmt::If { position, condition, then, otherwise } => {
                let (then, otherwise) = (keep_assigns(then, keep), keep_assigns(otherwise, keep));
                if !then.is_empty() || !otherwise.is_empty() {
                    let (position, condition) = (*position, condition.clone());
                    out.push(Stmt::If { position, condition, then, otherwise });
                }
            }
            Stmt::Case { position, subject, arms, default } => {
                let arms: Vec<(Node, Vec<Stmt>)> =
                    arms.iter().map(|(label, b)| (label.clone(), keep_assigns(b, keep))).collect();
                let default = keep_assigns(default, keep);
                if !default.is_empty() || arms.iter().any(|(_, b)| !b.is_empty()) {
                    let (position, subject) = (*position, subject.clone());
                    out.push(Stmt::Case { position, subject, arms, default });
                }
            }
        }
    }
    out
}

fn for_each_assign<'a>(statements: &'a [Stmt], f: &mut impl FnMut(&'a Assign)) {
    for statement in statements {
        match statement {
            Stmt::Assign(a) => f(a),
            Stmt::If { then, otherwise, .. } => {
                for_each_assign(then, f);
                for_each_assign(otherwise, f);
            }
            Stmt::Case { arms, default, .. } => {
                arms.iter().for_each(|(_, block)| for_each_assign(block, f));
                for_each_assign(default, f);
            }
        }
    }
}

struct Planner<'a> {
    unit: &'a Unit,
    slots: &'a Slots,
    flow: &'a Flow,
    live: BTreeSet<Slot>,
    /// Slots that must share a block, because one reads another before its last assignment.
    bound: UnionFind,
    next_nets: BTreeSet<usize>,
    /// Values of the slots that one expression gives.
    values: BTreeMap<Slot, Node>,
}

impl Planner<'_> {
    fn role(&self, slot: Slot) -> Role {
        self.unit.vars[self.slots.var(slot)].role
    }

    fn path(&self, slot: Slot) -> String {
        self.unit.var_path(self.slots.var(slot), self.slots.lsb(slot))
    }

    /// Everything that an output or a child sees.
    fn find_live(&mut self) -> Result<(), EmitError> {
        let leaves = |s: &Slot| matches!(self.role(*s), Role::Output | Role::ChildInput(_));
        let mut stack: Vec<Slot> = (0..self.slots.len()).filter(leaves).collect();
        while !stack.is_empty() {
            self.grow_live(&mut stack)?;
            // A vector is driven as a whole: elements that nobody reads are driven too if they have
            // a driver.
            for var in 0..self.unit.vars.len() {
                if self.slots.of_var(var).any(|s| self.live.contains(&s)) {
                    let missing = |s: &Slot| self.flow.last_write[*s].is_some() && !self.live.contains(s);
                    stack.extend(self.slots.of_var(var).filter(missing));
                }
            }
        }
        Ok(())
    }

    fn grow_live(&mut self, stack: &mut Vec<Slot>) -> Result<(), EmitError> {
        while let Some(slot) = stack.pop() {
            if !self.live.insert(slot) {
                continue;
            }
            if self.role(slot).driven_here() && self.flow.last_write[slot].is_none() {
                return Err(EmitError::Undriven { path: self.path(slot) });
            }
            stack.extend(&self.flow.depends[slot]);
            if let Role::Register(index) = self.role(slot) {
                let register = &self.unit.registers[index];
                stack.extend(self.slots.of_var(register.next));
                for (what, node) in [("clock", &register.clock), ("reset", &register.reset)] {
                    let Some(node) = node else {
                        return Err(EmitError::Undriven { path: format!("{}.{what}", self.path(slot)) });
                    };
                    stack.extend(self.slots.read_by(node));
                }
            }
        }
        Ok(())
    }

    fn bind(&mut self) {
        for read in &self.flow.reads {
            let last = self.flow.last_write[read.slot];
            if self.role(read.slot).sequential() && last.is_some_and(|l| l >= read.position) {
                self.bound.union(read.target, read.slot);
            }
        }
    }

    /// Registers go to the clocked block unless someone reads their next value or they need a value
    /// from the middle of a block.
    fn choose_next_nets(&mut self) {
        let mut groups: BTreeMap<usize, usize> = BTreeMap::new();
        for slot in 0..self.slots.len() {
            *groups.entry(self.bound.find(slot)).or_default() += 1;
        }
        let read: BTreeSet<Slot> = self.flow.reads.iter().map(|r| r.slot).collect();
        for (index, register) in self.unit.registers.iter().enumerate() {
            let slot = self.slots.of_var(register.next).start;
            if read.contains(&slot) || groups[&self.bound.find(slot)] > 1 {
                self.next_nets.insert(index);
            }
        }
    }

    fn combinational(&self, slot: Slot) -> bool {
        match self.role(slot) {
            Role::Next(index) => self.next_nets.contains(&index),
            role => role.driven_here(),
        }
    }

    /// The value of a slot that is assigned outside of `if`s only, as one expression over final
    /// values.
    fn straight_line(&mut self) {
        const LIMIT: usize = 64;
        let mut top: BTreeMap<Slot, Vec<&Assign>> = BTreeMap::new();
        let mut inner: BTreeSet<Slot> = BTreeSet::new();
        for statement in &self.unit.statements {
            match statement {
                Stmt::Assign(a) => {
                    for slot in self.slots.covering(a.var, a.lsb, a.width) {
                        top.entry(slot).or_default().push(a);
                    }
                }
                _ => for_each_assign(std::slice::from_ref(statement), &mut |a| {
                    inner.extend(self.slots.covering(a.var, a.lsb, a.width));
                }),
            }
        }
        let mut members: BTreeMap<usize, usize> = BTreeMap::new();
        for slot in 0..self.slots.len() {
            *members.entry(self.bound.find(slot)).or_default() += 1;
        }
        'slots: for (slot, assigns) in top {
            if inner.contains(&slot) || members[&self.bound.find(slot)] > 1 || !self.combinational(slot) {
                continue;
            }
            let (var, base, width) = (self.slots.var(slot), self.slots.lsb(slot), self.slots.width(slot));
            let mut value = Node::zero(width);
            for a in assigns {
                let mut uses = 0;
                a.value.for_each_ref(&mut |v, lsb, w| {
                    uses += usize::from(self.slots.covering(v, lsb, w).contains(&slot));
                });
                if uses > 0 && value.size() * uses > LIMIT {
                    continue 'slots;
                }
                let new = if uses == 0 {
                    a.value.clone()
                } else {
                    let covers = |v: VarId, lsb: usize, w: usize| {
                        (v == var && lsb >= base && lsb + w <= base + width)
                            .then(|| slice(&value, lsb - base, w))
                    };
                    a.value.map_refs(&covers)
                };
                let low = a.lsb - base;
                value = concat(vec![
                    slice(&value, low + a.width, width - low - a.width),
                    new,
                    slice(&value, 0, low),
                ]);
            }
            if self.slots.read_by(&value).contains(&slot) {
                continue;
            }
            self.values.insert(slot, value);
        }
    }

    /// Groups the slots that share an `always @*` block. `split` holds slots that must not be
    /// joined with others only because they stand in the same `if`.
    fn groups(&mut self, split: &BTreeSet<Slot>) -> BTreeMap<usize, BTreeSet<Slot>> {
        let mut sets = UnionFind(self.bound.0.clone());
        let in_block =
            |p: &Self, s: Slot| p.live.contains(&s) && p.combinational(s) && !p.values.contains_key(&s);
        for statement in &self.unit.statements {
            if matches!(statement, Stmt::Assign(_)) {
                continue;
            }
            let mut first = None;
            for_each_assign(std::slice::from_ref(statement), &mut |a| {
                for slot in self.slots.covering(a.var, a.lsb, a.width) {
                    if in_block(self, slot) && !split.contains(&slot) {
                        sets.union(*first.get_or_insert(slot), slot);
                    }
                }
            });
        }
        let slots: Vec<Slot> = (0..self.slots.len()).filter(|s| in_block(self, *s)).collect();
        self.join_readers_of_own_vectors(&slots, &mut sets);
        let mut groups: BTreeMap<usize, BTreeSet<Slot>> = BTreeMap::new();
        for slot in slots {
            groups.entry(sets.find(slot)).or_default().insert(slot);
        }
        groups
    }

    /// Joins a block that drives elements of a vector and reads others of it with the blocks that
    /// drive these. Verilator orders blocks by whole vectors: it takes the block to read what it
    /// drives itself, and may run it too early, without a warning.
    fn join_readers_of_own_vectors(&self, slots: &[Slot], sets: &mut UnionFind) {
        let of_block: BTreeSet<Slot> = slots.iter().copied().collect();
        loop {
            let driven: BTreeSet<(usize, VarId)> =
                slots.iter().map(|&slot| (sets.find(slot), self.slots.var(slot))).collect();
            let mut joined = false;
            for &slot in slots {
                for &source in self.flow.depends[slot].iter().filter(|source| of_block.contains(source)) {
                    let block = sets.find(slot);
                    if block != sets.find(source) && driven.contains(&(block, self.slots.var(source))) {
                        sets.union(slot, source);
                        joined = true;
                    }
                }
            }
            if !joined {
                break;
            }
        }
    }

    /// A vector of which some elements need a block is driven from blocks as a whole.
    fn settle_vectors(&mut self) {
        for var in 0..self.unit.vars.len() {
            let range = self.slots.of_var(var);
            let in_block =
                |s: Slot| self.live.contains(&s) && self.combinational(s) && !self.values.contains_key(&s);
            if range.clone().any(in_block) {
                let start = range.start;
                for slot in range {
                    if self.values.remove(&slot).is_some() {
                        self.bound.union(start, slot);
                    }
                }
            }
        }
    }

    /// Groups with edges among each other that a simulator would take for a loop.
    fn entangled(&self, groups: &BTreeMap<usize, BTreeSet<Slot>>) -> BTreeSet<Slot> {
        let mut node_of: Vec<usize> = (0..self.slots.len()).collect();
        for members in groups.values() {
            let Some(&first) = members.first() else { continue };
            members.iter().for_each(|&s| node_of[s] = first);
        }
        let mut graph = vec![Vec::new(); self.slots.len()];
        for &slot in &self.live {
            if matches!(self.role(slot), Role::Register(_)) {
                continue;
            }
            for &source in &self.flow.depends[slot] {
                if node_of[source] != node_of[slot] {
                    graph[node_of[slot]].push(node_of[source]);
                }
            }
        }
        let mut slots = BTreeSet::new();
        for component in components(&graph).into_iter().filter(|c| c.len() > 1) {
            for members in groups.values() {
                if members.first().is_some_and(|f| component.contains(f)) {
                    slots.extend(members);
                }
            }
        }
        slots
    }

    fn drivers(&mut self, apart: &BTreeSet<Slot>) -> Vec<Driver> {
        let mut split = apart.clone();
        let mut groups = self.groups(&split);
        loop {
            let entangled = self.entangled(&groups);
            let before = split.len();
            split.extend(entangled);
            if split.len() == before {
                break;
            }
            groups = self.groups(&split);
        }
        let mut drivers: Vec<(usize, Driver)> = Vec::new();
        for members in groups.into_values() {
            let keep = |a: &Assign| self.slots.covering(a.var, a.lsb, a.width).all(|s| members.contains(&s));
            let statements = keep_assigns(&self.unit.statements, &keep);
            let mut position = usize::MAX;
            for_each_assign(&statements, &mut |a| position = position.min(a.position));
            drivers.push((position, Driver::Block(members, statements)));
        }
        for var in 0..self.unit.vars.len() {
            let range = self.slots.of_var(var);
            let value = |s: Slot| if self.live.contains(&s) { self.values.get(&s) } else { None };
            if !range.clone().any(|s| value(s).is_some()) {
                continue;
            }
            let position = range.clone().filter_map(|s| self.flow.last_write[s]).min().unwrap_or(0);
            let parts = range
                .rev()
                .map(|s| value(s).cloned().unwrap_or_else(|| Node::zero(self.slots.width(s))))
                .collect();
            drivers.push((position, Driver::Assign(var, 0, concat(parts))));
        }
        drivers.sort_by_key(|(position, _)| *position);
        drivers.into_iter().map(|(_, d)| d).collect()
    }
}

/// Plans the module of `unit`. The slots in `apart` share a block only where they must.
pub fn plan(unit: &Unit, slots: &Slots, flow: &Flow, apart: &BTreeSet<Slot>) -> Result<Plan, EmitError> {
    let mut planner = Planner {
        unit,
        slots,
        flow,
        live: BTreeSet::new(),
        bound: UnionFind((0..slots.len()).collect()),
        next_nets: BTreeSet::new(),
        values: BTreeMap::new(),
    };
    planner.find_live()?;
    planner.bind();
    planner.choose_next_nets();
    planner.straight_line();
    planner.settle_vectors();
    let drivers = planner.drivers(apart);
    let mut procedural = BTreeSet::new();
    for driver in &drivers {
        if let Driver::Block(members, _) = driver {
            procedural.extend(members.iter().map(|s| slots.var(*s)));
        }
    }
    let live = &planner.live;
    let is_clocked = |a: &Assign| {
        let slot = slots.covering(a.var, a.lsb, a.width).start;
        let Role::Next(index) = unit.vars[a.var].role else { return false };
        let holds = a.value == Node::reference(unit.registers[index].present, a.lsb, a.width);
        live.contains(&slot) && !planner.next_nets.contains(&index) && !(holds && first_write(unit, a))
    };
    let clocked = keep_assigns(&unit.statements, &is_clocked);
    Ok(Plan {
        drivers,
        procedural,
        clocked,
        live: planner.live.clone(),
        next_nets: planner.next_nets.clone(),
    })
}

/// Nothing is assigned to the variable before `a`: a register that is told to hold its value at the
/// start needs no statement for it.
fn first_write(unit: &Unit, a: &Assign) -> bool {
    let mut first = true;
    for_each_assign(&unit.statements, &mut |b| first &= b.var != a.var || b.position >= a.position);
    first
}
