//! What stands for the `let`s and loop variables of a kernel.

use std::cell::Cell;
use std::collections::HashMap;

use syn::{Error, Ident, Result};

use super::part::Parameter;

/// The `let`s of a kernel: a `let` in a loop is an element of a vector, one for each turn of the
/// loop.
#[derive(Default)]
pub struct Scope {
    /// Loop variables, the outermost first.
    loops: Vec<Ident>,
    /// What a `let` that can be seen here is called in the syntax tree.
    visible: HashMap<String, String>,
    /// Every name that the kernel has given, to refuse it a second time.
    given: Vec<String>,
    /// Branches of `if` and `match` around this place.
    branches: usize,
    /// Whether the code declares `let`s and loop variables, for expressions whose type the compiler
    /// finds.
    pub typed: bool,
    /// Whether there is such an expression.
    pub needs_types: Cell<bool>,
}

impl Scope {
    /// The scope of a function that is given these values.
    pub fn with(parameters: &[Parameter]) -> Self {
        let names: Vec<String> = parameters.iter().map(|parameter| parameter.name.to_string()).collect();
        let visible = names.iter().map(|name| (name.clone(), name.clone())).collect();
        Self { visible, given: names, ..Self::default() }
    }

    /// Whether this place is in a loop.
    pub fn in_loop(&self) -> bool {
        !self.loops.is_empty()
    }

    /// The name in the syntax tree of the `let` called `name`, if there is one.
    pub fn find(&self, name: &str) -> Option<&String> {
        self.visible.get(name)
    }

    /// Whether this place is in a branch of an `if` or `match`.
    pub fn in_branch(&self) -> bool {
        self.branches > 0
    }

    /// What a `let` of this name, declared here, is called in the syntax tree.
    pub fn signal(&self, name: &Ident) -> String {
        let indices: String = self.loops.iter().map(|i| format!("[{i}]")).collect();
        format!("{name}{indices}")
    }

    /// Declares a `let`: the statements that follow know it.
    pub fn declare(&mut self, name: &Ident) -> Result<()> {
        if self.in_branch() {
            return Err(Error::new_spanned(
                name,
                "a `let` in a branch would be a latch: declare it before the `if` or `match` with a default",
            ));
        }
        let text = name.to_string();
        if self.given.contains(&text) || self.is_loop_variable(&text) {
            let message = format!("`{text}` stands for a signal already: a kernel gives a name once");
            return Err(Error::new_spanned(name, message));
        }
        if text.starts_with('_') {
            let message = "names that begin with `_` are no signals";
            return Err(Error::new_spanned(name, message));
        }
        self.given.push(text.clone());
        self.visible.insert(text, self.signal(name));
        Ok(())
    }

    /// Runs `inside` in a block of its own: what it declares is not seen afterwards.
    pub fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        let outside = self.visible.clone();
        let result = inside(self);
        self.visible = outside;
        result
    }

    /// Runs `inside` in a branch of an `if` or `match`.
    pub fn branch<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.branches += 1;
        let result = self.nested(inside);
        self.branches -= 1;
        result
    }

    /// Whether a loop around this place has the variable `name`.
    pub fn is_loop_variable(&self, name: &str) -> bool {
        self.loops.iter().any(|variable| variable == name)
    }

    /// Runs `inside` in the body of the loop with this variable.
    pub fn turns<T>(&mut self, variable: &Ident, inside: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let name = variable.to_string();
        if self.is_loop_variable(&name) || self.visible.contains_key(&name) {
            let message = format!("`{name}` stands for something else around this loop: take another name");
            return Err(Error::new_spanned(variable, message));
        }
        self.loops.push(variable.clone());
        let result = self.nested(inside);
        self.loops.pop();
        result
    }
}
