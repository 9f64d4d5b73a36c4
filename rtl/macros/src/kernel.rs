//! `#[hdl_gen]`.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit::{self, Visit};
use syn::{Error, ExprForLoop, ExprPath, ItemFn, Pat, RangeLimits, Result};

/// Constants that a kernel names, and what rust-hdl would translate wrongly.
#[derive(Default)]
struct Finder {
    constants: BTreeMap<String, ExprPath>,
    error: Option<Error>,
}

fn is_constant_name(name: &str) -> bool {
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
            self.constants.insert(names.join("$"), path.clone());
        }
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        self.note(path);
        visit::visit_expr_path(self, path);
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        if let Pat::Ident(ident) = pattern {
            let path = ident.ident.clone().into();
            self.note(&ExprPath { attrs: Vec::new(), qself: None, path });
        }
        visit::visit_pat(self, pattern);
    }

    fn visit_expr_for_loop(&mut self, node: &'ast ExprForLoop) {
        if let syn::Expr::Range(range) = node.expr.as_ref() {
            if matches!(range.limits, RangeLimits::Closed(_)) {
                let message = "`..=` does not translate to Verilog: write an exclusive range";
                self.error = Some(Error::new_spanned(range, message));
            }
        }
        visit::visit_expr_for_loop(self, node);
    }
}

pub fn expand(function: &ItemFn) -> Result<TokenStream> {
    let mut finder = Finder::default();
    finder.visit_block(&function.block);
    if let Some(error) = finder.error {
        return Err(error);
    }
    let (names, paths): (Vec<_>, Vec<_>) = finder.constants.into_iter().unzip();
    Ok(quote! {
        #[rust_hdl::prelude::hdl_gen]
        #function

        #[doc(hidden)]
        fn timing(&self) -> Vec<TimingInfo> {
            self.unit_description()
                .with_constants(vec![#((#names.to_string(), unit_info::integer(#paths))),*])
                .into_timing()
        }
    })
}
