//! The steps of a kernel in few words for the compiler.
//!
//! Most steps are known when the macro runs: `__tree.signal("a")`, `__tree.binary(..)`. A call for
//! each would be the largest part of what the compiler checks in a unit. What stands side
//! by side becomes one call with a text, `__tree.steps("signal a\u{1e}..")`, which
//! `unit_info::Tree` reads when the design is emitted.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{parse2, Expr, ExprArray, ExprReference, Lit, Path, Token};

/// What stands between two steps: no comment of a kernel has it.
const SEPARATOR: char = '\u{1e}';

/// `steps` with one call for all steps that stand side by side and are known.
pub fn compact(steps: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = steps.into_iter().collect();
    let (mut result, mut known) = (TokenStream::new(), Vec::new());
    let mut rest = tokens.as_slice();
    while let Some(first) = rest.first() {
        if let Some(text) = rest.get(..LENGTH).and_then(step) {
            known.push(text);
            rest = &rest[LENGTH..];
            continue;
        }
        flush(&mut known, &mut result);
        result.extend([match first {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), compact(group.stream()));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            other => other.clone(),
        }]);
        rest = &rest[1..];
    }
    flush(&mut known, &mut result);
    result
}

fn flush(known: &mut Vec<String>, result: &mut TokenStream) {
    if !known.is_empty() {
        let text = known.join(&SEPARATOR.to_string());
        result.extend(quote!(__tree.steps(#text);));
        known.clear();
    }
}

/// The tokens of a step: `__tree`, `.`, a name, its arguments, `;`.
const LENGTH: usize = 5;

/// The text of a step that is known.
fn step(tokens: &[TokenTree]) -> Option<String> {
    let [TokenTree::Ident(tree), TokenTree::Punct(dot), TokenTree::Ident(name), TokenTree::Group(given), TokenTree::Punct(end)] =
        tokens
    else {
        return None;
    };
    let is_step = tree == "__tree" && dot.as_char() == '.' && end.as_char() == ';';
    if !is_step || given.delimiter() != Delimiter::Parenthesis {
        return None;
    }
    let name = name.to_string();
    let given = given.stream();
    if given.is_empty() {
        return Some(name);
    }
    let argument = match name.as_str() {
        "signal" | "assign" | "comment" | "literal" | "cast" | "slice" => word(&parse2(given).ok()?)?,
        "unary" | "binary" => parse2::<Path>(given).ok()?.segments.last()?.ident.to_string(),
        "turns" => {
            let parts = Punctuated::<Lit, Token![,]>::parse_terminated.parse2(given).ok()?;
            parts.iter().map(word).collect::<Option<Vec<_>>>()?.join(" ")
        }
        "arm" => parse2::<ExprReference>(given).ok().and_then(|list| patterns(&list.expr))?,
        _ => return None,
    };
    Some(format!("{name} {argument}"))
}

/// A text, or a number in decimal with the suffix that it has.
fn word(literal: &Lit) -> Option<String> {
    match literal {
        Lit::Str(text) => Some(text.value()),
        Lit::Int(number) => Some(format!("{}{}", number.base10_digits(), number.suffix())),
        Lit::Bool(bit) => Some(bit.value.to_string()),
        _ => None,
    }
}

/// The patterns of an arm, with spaces between them.
fn patterns(list: &Expr) -> Option<String> {
    let Expr::Array(ExprArray { elems, .. }) = list else { return None };
    let texts = elems.iter().map(|element| match element {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) if !text.value().contains(' ') => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    Some(texts.collect::<Option<Vec<_>>>()?.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compacted(steps: TokenStream) -> String {
        compact(steps).to_string().replace("\\u{1e}", "|")
    }

    #[test]
    fn what_stands_side_by_side_is_one_text() {
        let steps = quote! {
            __tree.comment("Some words.");
            __tree.signal("a$q");
            __tree.literal(0x1F_u8);
            __tree.literal(true);
            __tree.slice(4);
            __tree.binary(ast::VerilogOp::Add);
            __tree.arm(&["State::Idle", "3"]);
            __tree.turns("i", 0, 4);
            __tree.paren();
        };
        let text = "comment Some words.|signal a$q|literal 31u8|literal true|slice 4|binary Add|\
                    arm State::Idle 3|turns i 0 4|paren";
        assert_eq!(compacted(steps), quote!(__tree.steps(#text);).to_string());
    }

    #[test]
    fn what_is_not_known_stays_where_it_is() {
        let steps = quote! {
            __tree.signal("a");
            __tree.cast(N);
            __tree.literal(1);
            if self.part.is_there() {
                __tree.assign("b");
                __tree.slice(width());
            }
            __tree.turns("i", 0, N);
        };
        let expected = quote! {
            __tree.steps("signal a");
            __tree.cast(N);
            __tree.steps("literal 1");
            if self.part.is_there() {
                __tree.steps("assign b");
                __tree.slice(width());
            }
            __tree.turns("i", 0, N);
        };
        assert_eq!(compacted(steps), expected.to_string());
    }
}
