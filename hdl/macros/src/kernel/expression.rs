//! Expressions of a kernel: the steps of `unit_info::Tree` that make them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    AngleBracketedGenericArguments, BinOp, Error, Expr, ExprBinary, ExprCall, ExprField, ExprMethodCall,
    ExprUnary, GenericArgument, Member, PathArguments, Result, UnOp,
};

use super::decided::mutant;
use super::name;
use super::scope::Scope;

/// The steps for `expression`.
pub fn value(expression: &Expr, scope: &Scope) -> Result<TokenStream> {
    match expression {
        Expr::Path(path) => {
            let known = path.path.get_ident().and_then(|name| scope.find(&name.to_string()));
            Ok(name::signal(&known.cloned().unwrap_or_else(|| name::of_path(&path.path))))
        }
        Expr::Field(node) if is_value(&node.base, scope) => field(node, scope),
        Expr::Field(_) | Expr::Index(_) => signal(expression, scope),
        Expr::Group(node) => value(&node.expr, scope),
        Expr::Paren(node) => {
            let inner = value(&node.expr, scope)?;
            Ok(quote!(#inner __tree.paren();))
        }
        // Numbers that are known when the design is emitted: their type does not matter.
        Expr::Cast(node) if is_known(&node.expr, scope) => value(&node.expr, scope),
        Expr::Cast(_) => Err(Error::new_spanned(
            expression,
            "a cast is for numbers that are known when the design is emitted; for signals write `bit_cast::<TO, FROM>(..)`",
        )),
        Expr::Binary(node) => binary(node, scope),
        Expr::Unary(node) => unary(node, scope),
        Expr::Call(node) => call(node, scope),
        Expr::MethodCall(node) => method(node, scope),
        Expr::Lit(literal) => Ok(quote!(__tree.literal(#literal);)),
        Expr::If(node) => match mutant(node) {
            Some((fault, sound)) => {
                let (condition, fault, sound) = (&node.cond, value(fault, scope)?, value(sound, scope)?);
                Ok(quote!(if #condition { #fault } else { #sound }))
            }
            None => Err(Error::new_spanned(expression, "a choice stands where a value is assigned")),
        },
        _ => Err(Error::new_spanned(expression, "this expression does not translate to Verilog")),
    }
}

/// Whether an expression is made of numbers, loop variables, constants and integer fields alone.
fn is_known(expression: &Expr, scope: &Scope) -> bool {
    match expression {
        Expr::Lit(_) => true,
        Expr::Path(path) => path.path.get_ident().is_none_or(|n| scope.find(&n.to_string()).is_none()),
        Expr::Field(node) => matches!(&node.member, Member::Named(name) if name.to_string().starts_with('_')),
        Expr::Paren(node) => is_known(&node.expr, scope),
        Expr::Group(node) => is_known(&node.expr, scope),
        Expr::Cast(node) => is_known(&node.expr, scope),
        Expr::Binary(node) => is_known(&node.left, scope) && is_known(&node.right, scope),
        _ => false,
    }
}

fn signal(expression: &Expr, scope: &Scope) -> Result<TokenStream> {
    let name = name::of(expression)?;
    if scope.is_loop_variable(&name) {
        let message = format!("`{name}` is a loop variable here: give the loop or the field another name");
        return Err(Error::new_spanned(expression, message));
    }
    if name.ends_with("$next") {
        return Err(Error::new_spanned(expression, "a kernel reads `val()`, not `next`"));
    }
    Ok(name::signal(&name))
}

/// Width and offset of a field of a struct, of which `base` has a value.
pub fn field_position(
    base: &TokenStream,
    member: &Member,
    scope: &Scope,
) -> Result<(TokenStream, TokenStream)> {
    scope.needs_types.set(true);
    let Member::Named(name) = member else {
        return Err(Error::new_spanned(member, "a kernel knows no tuples: name the field"));
    };
    let (width, offset) = (format_ident!("get_my_width_{name}"), format_ident!("get_my_offset_{name}"));
    let base = quote!(unit_info::stand_in(|| #base));
    Ok((quote!(#base.#width()), quote!(#base.#offset())))
}

/// Whether an expression is a value and no path: `self.x.val()`, or a `let`.
fn is_value(expression: &Expr, scope: &Scope) -> bool {
    match expression {
        Expr::MethodCall(_) | Expr::Paren(_) | Expr::Call(_) => true,
        Expr::Group(group) => is_value(&group.expr, scope),
        Expr::Path(path) => path.path.get_ident().is_some_and(|n| scope.find(&n.to_string()).is_some()),
        Expr::Field(node) => is_value(&node.base, scope),
        _ => false,
    }
}

/// A field of a struct that is a value.
fn field(node: &ExprField, scope: &Scope) -> Result<TokenStream> {
    let target = value(&node.base, scope)?;
    let base = &node.base;
    let (width, offset) = field_position(&quote!(#base), &node.member, scope)?;
    Ok(quote! {
        #target
        __tree.literal(#offset);
        __tree.slice(#width);
    })
}

fn binary(node: &ExprBinary, scope: &Scope) -> Result<TokenStream> {
    let operator = match &node.op {
        BinOp::Add(_) => "Add",
        BinOp::Sub(_) => "Sub",
        BinOp::Mul(_) => "Mul",
        BinOp::And(_) => "LogicalAnd",
        BinOp::Or(_) => "LogicalOr",
        BinOp::BitXor(_) => "BitXor",
        BinOp::BitAnd(_) => "BitAnd",
        BinOp::BitOr(_) => "BitOr",
        BinOp::Shl(_) => "Shl",
        BinOp::Shr(_) => "Shr",
        BinOp::Eq(_) => "Eq",
        BinOp::Lt(_) => "Lt",
        BinOp::Le(_) => "Le",
        BinOp::Ne(_) => "Ne",
        BinOp::Ge(_) => "Ge",
        BinOp::Gt(_) => "Gt",
        other => return Err(Error::new_spanned(other, "this operator does not translate to Verilog")),
    };
    let operator = format_ident!("{operator}");
    let (left, right) = (value(&node.left, scope)?, value(&node.right, scope)?);
    Ok(quote!(#left #right __tree.binary(ast::VerilogOp::#operator);))
}

fn unary(node: &ExprUnary, scope: &Scope) -> Result<TokenStream> {
    let operator = match &node.op {
        UnOp::Not(_) => quote!(Not),
        UnOp::Neg(_) => quote!(Neg),
        other => return Err(Error::new_spanned(other, "this operator does not translate to Verilog")),
    };
    let operand = value(&node.expr, scope)?;
    Ok(quote!(#operand __tree.unary(ast::VerilogOpUnary::#operator);))
}

/// The width in `::<8, ..>` or `::<N, ..>`: the first argument.
fn width_in(list: &AngleBracketedGenericArguments) -> Option<TokenStream> {
    match list.args.first()? {
        GenericArgument::Const(width) => Some(quote!(#width)),
        GenericArgument::Type(width) => Some(quote!(#width)),
        _ => None,
    }
}

fn call(node: &ExprCall, scope: &Scope) -> Result<TokenStream> {
    let Expr::Path(function) = node.func.as_ref() else {
        return Err(Error::new_spanned(node, "this call does not translate to Verilog"));
    };
    let names: Vec<String> = function.path.segments.iter().map(|s| s.ident.to_string()).collect();
    let argument = match node.args.first() {
        Some(argument) if node.args.len() == 1 => value(argument, scope)?,
        _ => return Err(Error::new_spanned(node, "a call in a kernel has one argument")),
    };
    match names.last().map(String::as_str) {
        Some("bit_cast" | "bits" | "Bits") => {
            let width = match function.path.segments.last().map(|s| &s.arguments) {
                Some(PathArguments::AngleBracketed(list)) => width_in(list)
                    .ok_or_else(|| Error::new_spanned(list, "the first argument is the width"))?,
                // The compiler knows the width; nothing is computed.
                _ => {
                    scope.needs_types.set(true);
                    quote!(unit_info::width(|| #node))
                }
            };
            Ok(quote!(#argument __tree.cast(#width);))
        }
        Some("unsigned_cast") => Ok(quote!(#argument __tree.unsigned();)),
        Some("signed_cast" | "signed_bit_cast") => Ok(quote!(#argument __tree.signed();)),
        _ => Err(Error::new_spanned(
            &node.func,
            "the functions of a kernel are bits, bit_cast, signed_cast, signed_bit_cast and unsigned_cast",
        )),
    }
}

/// The arguments of a method, which has `N` of them.
fn arguments<const N: usize>(node: &ExprMethodCall, scope: &Scope) -> Result<[TokenStream; N]> {
    let values = node.args.iter().map(|a| value(a, scope)).collect::<Result<Vec<_>>>()?;
    let count = values.len();
    values
        .try_into()
        .map_err(|_| Error::new_spanned(node, format!("`{}` takes {N} arguments, not {count}", node.method)))
}

fn method(node: &ExprMethodCall, scope: &Scope) -> Result<TokenStream> {
    let target = value(&node.receiver, scope)?;
    let reduction = |operator: TokenStream| quote!(#target __tree.unary(ast::VerilogOpUnary::#operator););
    match node.method.to_string().as_str() {
        // Between the types of rust-hdl; the bits are the same.
        "val" | "into" | "index" | "to_u64" | "to_bits" => {
            let [] = arguments(node, scope)?;
            Ok(target)
        }
        "all" => Ok(reduction(quote!(All))),
        "any" => Ok(reduction(quote!(Any))),
        "xor" => Ok(reduction(quote!(Xor))),
        "to_signed_bits" => Ok(quote!(#target __tree.signed();)),
        "get_bit" => {
            let [index] = arguments(node, scope)?;
            Ok(quote!(#target #index __tree.index();))
        }
        "get_bits" => {
            let [offset] = arguments(node, scope)?;
            let Some(width) = node.turbofish.as_ref().filter(|t| t.args.len() == 1).and_then(width_in) else {
                return Err(Error::new_spanned(node, "say how many bits: `x.get_bits::<4>(offset)`"));
            };
            Ok(quote!(#target #offset __tree.slice(#width);))
        }
        "replace_bit" => {
            let [index, bit] = arguments(node, scope)?;
            Ok(quote!(#target #index #bit __tree.replace();))
        }
        _ => Err(Error::new_spanned(&node.method, "this method does not translate to Verilog")),
    }
}
