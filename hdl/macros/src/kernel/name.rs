//! Names of signals as rust-hdl's syntax tree has them: `self.lane[2 * i + 1].x.next` is
//! `lane[2*i+1]$x$next`.

use proc_macro2::TokenStream;
use quote::{quote, ToTokens};
use syn::{Error, Expr, Member, Path, Result, UnOp};

/// `a::B` is `a$B`.
pub fn of_path(path: &Path) -> String {
    path.segments.iter().map(|s| s.ident.to_string()).collect::<Vec<_>>().join("$")
}

/// The name of a field, of an element of a `Vec` or of a constant.
pub fn of(expression: &Expr) -> Result<String> {
    match expression {
        Expr::Path(path) => Ok(of_path(&path.path)),
        Expr::Group(group) => of(&group.expr),
        Expr::Field(field) => {
            let Member::Named(member) = &field.member else {
                return Err(Error::new_spanned(field, "a kernel knows no tuples: name the field"));
            };
            let base = of(&field.base)?;
            Ok(if base == "self" { member.to_string() } else { format!("{base}${member}") })
        }
        // `*self.part` is the part that is there.
        Expr::Unary(node) if matches!(node.op, UnOp::Deref(_)) => of(&node.expr),
        Expr::Index(index) => Ok(format!("{}[{}]", of(&index.expr)?, of_index(&index.index))),
        _ => Err(Error::new_spanned(expression, "a kernel names signals as `self.child[i].signal`")),
    }
}

/// The step for the signal of this name.
pub fn signal(name: &str) -> TokenStream {
    quote!(__tree.signal(#name);)
}

/// An index stays text: the back end evaluates it when it unrolls the loops.
fn of_index(index: &Expr) -> String {
    let text: String = index.to_token_stream().to_string().split_whitespace().collect();
    text.replace("self.", "").replace('.', "$").replace("::", "$")
}
