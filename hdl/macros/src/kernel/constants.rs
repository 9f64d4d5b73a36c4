//! Constants that a kernel names: their values travel to the Verilog back end.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};
use syn::{Block, ExprPath, Macro, Pat};

use super::statement::ends;

#[derive(Default)]
struct Finder(BTreeMap<String, ExprPath>);

/// Whether a name has the form of a constant: capitals, digits and underscores.
pub fn is_constant_name(name: &str) -> bool {
    name.chars().any(|c| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

impl Finder {
    /// Remembers `path` if it names a constant; a type's constants only as `Self::NAME`, because
    /// `Type::NAME` may be a state of an enum.
    fn note(&mut self, path: &ExprPath) {
        let names: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        let Some((last, modules)) = names.split_last() else { return };
        let module = |n: &String| n == "Self" || n.chars().all(|c| !c.is_ascii_uppercase());
        if is_constant_name(last) && modules.iter().all(module) {
            self.0.insert(names.join("$"), path.clone());
        }
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        self.note(path);
        visit::visit_expr_path(self, path);
    }

    /// The ends of a `connect!` are expressions, too.
    fn visit_macro(&mut self, node: &'ast Macro) {
        let mut found = Finder::default();
        for end in ends(node).iter().flatten() {
            found.visit_expr(end);
        }
        self.0.extend(found.0);
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        if let Pat::Ident(ident) = pattern {
            let path = ident.ident.clone().into();
            self.note(&ExprPath { attrs: Vec::new(), qself: None, path });
        }
        visit::visit_pat(self, pattern);
    }
}

/// The names of the constants in `block`, with `$` between the parts of a path, and the paths.
pub fn find(block: &Block) -> (Vec<String>, Vec<ExprPath>) {
    let mut finder = Finder::default();
    finder.visit_block(block);
    finder.0.into_iter().unzip()
}
