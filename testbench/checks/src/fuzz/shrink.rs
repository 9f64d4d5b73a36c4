//! Small programs from failing ones: delta debugging on blocks and instructions.

use super::generate::Case;
use super::program::{Block, Program, Statement, Trips, A0};

/// The smallest case found that still fails, starting from `case`, which does. `fails` is asked at
/// most `attempts` times.
///
/// Packets are left out first, then statements in ever smaller pieces; structures are replaced by
/// what is in them, loops run once, runs lose instructions; until nothing more can go.
pub fn shrink(case: &Case, attempts: usize, mut fails: impl FnMut(&Case) -> bool) -> Case {
    let mut search = Search { best: case.clone(), left: attempts, fails: &mut fails };
    search.packets();
    while search.left > 0 {
        let before = search.best.clone();
        let mut number = 0;
        // Blocks come and go while their statements do.
        while number < blocks(&search.best.program) {
            search.remove(number);
            search.simplify(number);
            number += 1;
        }
        if search.best == before {
            break;
        }
    }
    search.packets();
    search.functions();
    search.registers();
    search.best
}

struct Search<'a> {
    best: Case,
    left: usize,
    fails: &'a mut dyn FnMut(&Case) -> bool,
}

impl Search<'_> {
    /// Keeps `candidate` if it still fails.
    fn attempt(&mut self, candidate: Case) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let fails = (self.fails)(&candidate);
        if fails {
            self.best = candidate;
        }
        fails
    }

    /// Sends fewer packets.
    fn packets(&mut self) {
        let mut count = 1;
        while count < self.best.frames.len() {
            let mut candidate = self.best.clone();
            candidate.frames.truncate(count);
            if self.attempt(candidate) {
                return;
            }
            count *= 2;
        }
    }

    /// Leaves out functions that nobody calls. Only the last can go: the others keep their numbers.
    fn functions(&mut self) {
        while let Some(last) = self.best.program.functions.len().checked_sub(1) {
            let called = |block: &Block| {
                any(block, &|s| matches!(s, Statement::Call { function, .. } if *function == last))
            };
            let mut candidate = self.best.clone();
            candidate.program.functions.pop();
            let Program { main, functions, .. } = &self.best.program;
            let mut bodies = std::iter::once(main).chain(functions.iter().map(|function| &function.body));
            if bodies.any(called) || !self.attempt(candidate) {
                break;
            }
        }
    }

    /// Leaves out registers that no statement mentions.
    fn registers(&mut self) {
        for register in self.best.program.registers.clone() {
            let mentions = |block: &Block| any(block, &|statement| statement.mentions(register));
            let Program { main, functions, .. } = &self.best.program;
            if register == A0 || mentions(main) || functions.iter().any(|f| mentions(&f.body)) {
                continue;
            }
            let mut candidate = self.best.clone();
            candidate.program.registers.retain(|other| *other != register);
            self.attempt(candidate);
        }
    }

    fn edit(&mut self, number: usize, change: impl FnOnce(&mut Block)) -> bool {
        let mut candidate = self.best.clone();
        change(block_mut(&mut candidate.program, number));
        self.attempt(candidate)
    }

    /// Removes statements of a block: all, halves, quarters, single ones.
    fn remove(&mut self, number: usize) {
        let length = |search: &mut Self| block_mut(&mut search.best.program, number).len();
        let mut chunk = length(self);
        while chunk > 0 {
            let mut start = 0;
            while start < length(self) {
                let end = (start + chunk).min(length(self));
                if !self.edit(number, |block| drop(block.drain(start..end))) {
                    start += chunk;
                }
            }
            chunk /= 2;
        }
    }

    /// Replaces the statements of a block by simpler ones.
    fn simplify(&mut self, number: usize) {
        let mut position = 0;
        loop {
            let block = block_mut(&mut self.best.program, number);
            let Some(statement) = block.get(position) else { break };
            let variants = variants(statement);
            let found = variants
                .into_iter()
                .any(|variant| self.edit(number, |block| drop(block.splice(position..=position, variant))));
            // What replaced it may be simplified again.
            position += usize::from(!found);
        }
    }
}

/// Whether a statement of a block, or one inside it, is such.
fn any(block: &Block, is: &dyn Fn(&Statement) -> bool) -> bool {
    block.iter().any(|statement| is(statement) || statement.blocks().any(|inner| any(inner, is)))
}

/// What may stand for a statement, the simplest first. Every variant is smaller, so that shrinking
/// ends.
fn variants(statement: &Statement) -> Vec<Block> {
    match statement {
        Statement::If { then, otherwise, .. } => vec![then.clone(), otherwise.clone()],
        Statement::Loop { trips, body } => {
            let mut variants = vec![body.clone()];
            if *trips != Trips::Fixed(1) {
                variants.push(vec![Statement::Loop { trips: Trips::Fixed(1), body: body.clone() }]);
            }
            variants
        }
        Statement::Switch { cases, .. } => cases.clone(),
        Statement::Run(instructions) if instructions.len() > 1 => {
            let without = |position: usize| {
                let mut fewer = instructions.clone();
                fewer.remove(position);
                vec![Statement::Run(fewer)]
            };
            (0..instructions.len()).map(without).collect()
        }
        Statement::Access(access) if access.index.is_some() => {
            let mut direct = *access;
            direct.index = None;
            vec![vec![Statement::Access(direct)]]
        }
        _ => Vec::new(),
    }
}

/// Blocks of a program: those of the functions and of main, each followed by those in it.
fn blocks(program: &Program) -> usize {
    fn count(block: &Block) -> usize {
        1 + block.iter().flat_map(Statement::blocks).map(count).sum::<usize>()
    }
    count(&program.main) + program.functions.iter().map(|function| count(&function.body)).sum::<usize>()
}

/// The block with this number.
fn block_mut(program: &mut Program, number: usize) -> &mut Block {
    fn find<'a>(block: &'a mut Block, left: &mut usize) -> Option<&'a mut Block> {
        if *left == 0 {
            return Some(block);
        }
        *left -= 1;
        block.iter_mut().flat_map(Statement::blocks_mut).find_map(|inner| find(inner, left))
    }
    let mut left = number;
    let bodies = program.functions.iter_mut().map(|function| &mut function.body);
    let mut all = std::iter::once(&mut program.main).chain(bodies);
    all.find_map(|block| find(block, &mut left)).expect("a number below that of the blocks")
}
