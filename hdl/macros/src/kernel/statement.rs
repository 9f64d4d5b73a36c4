//! Statements of a kernel: the steps of `unit_info::Tree` that make them.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{
    BinOp, Block, Error, Expr, ExprAssign, ExprBinary, ExprCall, ExprForLoop, ExprIf, ExprMatch, Macro,
    Member, Pat, Path, Result, Stmt, Token,
};

use super::always;
use super::comments;
use super::constants::is_constant_name;
use super::decided::is_decided;
use super::expression::{field_position, value};
use super::locals::{self, Let, Range};
use super::name;
use super::part;
use super::scope::Scope;

/// The steps for the statements of `block`, with the comments in front of them.
pub fn block(block: &Block, scope: &mut Scope) -> Result<TokenStream> {
    let mut steps = TokenStream::new();
    for (next, comment) in block.stmts.iter().zip(comments::of(block)) {
        if !comment.is_empty() {
            let comment = quote!(__tree.comment(#comment););
            // What is left out has no comment either.
            steps.extend(match next {
                Stmt::Expr(Expr::If(node), _) if is_decided(&node.cond) => {
                    let taken = taken(node);
                    quote!(if #taken { #comment })
                }
                _ => comment,
            });
        }
        steps.extend(statement(next, scope)?);
    }
    Ok(steps)
}

fn statement(statement: &Stmt, scope: &mut Scope) -> Result<TokenStream> {
    match statement {
        Stmt::Local(local) => {
            let Let { name, ty, value: expression } = locals::parts(local)?;
            // The value is translated first: the name is not known in it.
            let assignment = assign(expression, scope, &to_signal(&scope.signal(name)))?;
            scope.declare(name)?;
            // Its type is known to the statements that follow.
            let typed = scope.typed.then(|| quote!(let mut #name #ty = unit_info::stand_in(|| #expression);));
            Ok(quote!(#typed #assignment))
        }
        Stmt::Expr(expression, _) => expression_statement(expression, scope),
        Stmt::Macro(node) => macro_statement(&node.mac, scope),
        Stmt::Item(item) => Err(Error::new_spanned(item, "a kernel has no items")),
    }
}

fn expression_statement(expression: &Expr, scope: &mut Scope) -> Result<TokenStream> {
    match expression {
        Expr::Assign(node) => assignment(node, scope),
        Expr::Binary(node) if assigning(&node.op).is_some() => compound_assignment(node, scope),
        Expr::If(node) => conditional(node, scope),
        Expr::Match(node) => case(node, scope),
        Expr::ForLoop(node) => for_loop(node, scope),
        Expr::Call(node) => call(node),
        Expr::MethodCall(node) if part::is_call(node) => part::steps_of_call(node, scope),
        Expr::Macro(node) => macro_statement(&node.mac, scope),
        Expr::Group(group) => expression_statement(&group.expr, scope),
        _ => Err(Error::new_spanned(
            expression,
            "a statement of a kernel is an assignment, `let`, `if`, `match`, `for`, `connect!` or a call of a part, `self.part(..)`",
        )),
    }
}

/// The value of a block that is nothing but its value.
fn only_value<'a>(block: &'a Block, whole: &Expr) -> Result<&'a Expr> {
    match block.stmts.as_slice() {
        [Stmt::Expr(value, None)] => Ok(value),
        _ => Err(Error::new_spanned(whole, "a choice between values has one value in each branch")),
    }
}

/// The steps that assign `expression`; `drive` are those that assign a value whose steps it is
/// given. A choice between values becomes an `if` or `match` of assignments.
fn assign(
    expression: &Expr,
    scope: &Scope,
    drive: &dyn Fn(TokenStream) -> TokenStream,
) -> Result<TokenStream> {
    match expression {
        Expr::Group(group) => assign(&group.expr, scope, drive),
        Expr::Block(node) => assign(only_value(&node.block, expression)?, scope, drive),
        Expr::If(node) => {
            let Some((_, otherwise)) = &node.else_branch else {
                return Err(Error::new_spanned(node, "a choice between values needs an `else`"));
            };
            let then = assign(only_value(&node.then_branch, expression)?, scope, drive)?;
            let otherwise = assign(otherwise, scope, drive)?;
            let condition = &node.cond;
            if is_decided(condition) {
                return Ok(quote!(if #condition { #then } else { #otherwise }));
            }
            let test = value(condition, scope)?;
            Ok(quote! {
                #test
                __tree.open();
                #then
                __tree.open();
                #otherwise
                __tree.when_else();
            })
        }
        Expr::Match(node) => {
            let arm = |body: &Expr| assign(body, scope, drive);
            match_of(node, node.arms.iter().map(|a| arm(&a.body)).collect::<Result<_>>()?, scope)
        }
        _ => Ok(drive(value(expression, scope)?)),
    }
}

/// What assigns a value to the whole of a signal.
fn to_signal(name: &str) -> impl Fn(TokenStream) -> TokenStream {
    let name = name.to_string();
    move |value| quote!(#value __tree.assign(#name);)
}

/// `a.b` of `a.b.next`.
fn without_next(expression: &Expr) -> Option<&Expr> {
    match expression {
        Expr::Field(field) if matches!(&field.member, Member::Named(name) if name == "next") => {
            Some(&field.base)
        }
        _ => None,
    }
}

fn assignment(node: &ExprAssign, scope: &Scope) -> Result<TokenStream> {
    refuse_implicit(node, scope)?;
    let left = node.left.as_ref();
    if without_next(left).is_some() {
        return assign(&node.right, scope, &to_signal(&name::of(left)?));
    }
    if let Some(name) = local_name(left, scope) {
        return assign(&node.right, scope, &to_signal(name));
    }
    // A field of a struct.
    match left {
        Expr::Field(field)
            if without_next(&field.base).is_some() || local_name(&field.base, scope).is_some() =>
        {
            let at = &field.base;
            let base = value(without_next(at).unwrap_or(at), scope)?;
            let (width, offset) = field_position(&quote!(#at), &field.member, scope)?;
            assign(&node.right, scope, &|value| quote!(#value #base __tree.assign_field(#width, #offset);))
        }
        _ => Err(Error::new_spanned(left, "a kernel assigns `signal.next`, a field of it, or a `let mut`")),
    }
}

/// The operator in `+=` and the like.
fn assigning(operator: &BinOp) -> Option<BinOp> {
    Some(match operator {
        BinOp::AddAssign(_) => BinOp::Add(Default::default()),
        BinOp::SubAssign(_) => BinOp::Sub(Default::default()),
        BinOp::BitAndAssign(_) => BinOp::BitAnd(Default::default()),
        BinOp::BitOrAssign(_) => BinOp::BitOr(Default::default()),
        BinOp::BitXorAssign(_) => BinOp::BitXor(Default::default()),
        _ => return None,
    })
}

/// `x += y` of a `let mut`.
fn compound_assignment(node: &ExprBinary, scope: &Scope) -> Result<TokenStream> {
    let (Some(operator), Some(name)) = (assigning(&node.op), local_name(&node.left, scope)) else {
        return Err(Error::new_spanned(node, "only a `let mut` is assigned by an operator"));
    };
    let result = Expr::Binary(ExprBinary { op: operator, ..node.clone() });
    assign(&result, scope, &to_signal(name))
}

fn local_name<'a>(expression: &Expr, scope: &'a Scope) -> Option<&'a String> {
    match expression {
        Expr::Path(path) => scope.find(&path.path.get_ident()?.to_string()),
        _ => None,
    }
}

fn without_brackets(expression: &Expr) -> &Expr {
    match expression {
        Expr::Paren(node) => without_brackets(&node.expr),
        Expr::Group(node) => without_brackets(&node.expr),
        _ => expression,
    }
}

/// Refuses what happens by itself: clock and reset of children and registers, and that a register
/// keeps its value.
fn refuse_implicit(node: &ExprAssign, scope: &Scope) -> Result<()> {
    let (Ok(left), Expr::MethodCall(call)) = (name::of(&node.left), without_brackets(&node.right)) else {
        return Ok(());
    };
    let Ok(right) = name::of(&call.receiver) else { return Ok(()) };
    for own in ["clock", "reset"] {
        if right == own && left.ends_with(&format!("${own}$next")) {
            let message = format!("the {own} reaches every child and register by itself: leave the line out");
            return Err(Error::new_spanned(node, message));
        }
    }
    // In a branch the same line takes back an assignment before it.
    let register = left.strip_suffix("$d$next");
    if register.is_some() && register == right.strip_suffix("$q") && !scope.in_branch() {
        return Err(Error::new_spanned(node, "a register keeps its value by itself: leave the line out"));
    }
    Ok(())
}

fn conditional(node: &ExprIf, scope: &mut Scope) -> Result<TokenStream> {
    if matches!(node.cond.as_ref(), Expr::Let(_)) {
        return Err(Error::new_spanned(&node.cond, "a kernel has no `if let`: write `match`"));
    }
    if is_decided(&node.cond) {
        return decided(node, scope);
    }
    let test = value(&node.cond, scope)?;
    let then = scope.branch(|scope| block(&node.then_branch, scope))?;
    let otherwise = match node.else_branch.as_ref().map(|(_, otherwise)| otherwise.as_ref()) {
        None => quote!(__tree.when();),
        Some(Expr::If(inner)) => {
            let steps = scope.branch(|scope| conditional(inner, scope))?;
            if is_decided(&inner.cond) {
                quote!(__tree.open(); #steps __tree.when_else();)
            } else {
                quote!(__tree.open(); #steps __tree.when_else_if();)
            }
        }
        Some(Expr::Block(inner)) => {
            let inner = scope.branch(|scope| block(&inner.block, scope))?;
            quote!(__tree.open(); #inner __tree.when_else();)
        }
        Some(other) => return Err(Error::new_spanned(other, "`else` is followed by a block or an `if`")),
    };
    Ok(quote! {
        #test
        __tree.open();
        #then
        #otherwise
    })
}

/// Whether any branch of a decided `if` is translated.
fn taken(node: &ExprIf) -> TokenStream {
    let condition = &node.cond;
    match node.else_branch.as_ref().map(|(_, otherwise)| otherwise.as_ref()) {
        None => quote!(#condition),
        Some(Expr::If(inner)) if is_decided(&inner.cond) => {
            let inner = taken(inner);
            quote!(#condition || #inner)
        }
        Some(_) => quote!(true),
    }
}

/// An `if` that is decided when the design is emitted: its branches are no branches of the circuit.
fn decided(node: &ExprIf, scope: &mut Scope) -> Result<TokenStream> {
    let condition = &node.cond;
    let then = scope.nested(|scope| block(&node.then_branch, scope))?;
    let otherwise = match node.else_branch.as_ref().map(|(_, otherwise)| otherwise.as_ref()) {
        None => TokenStream::new(),
        Some(Expr::If(inner)) => scope.nested(|scope| conditional(inner, scope))?,
        Some(Expr::Block(inner)) => scope.nested(|scope| block(&inner.block, scope))?,
        Some(other) => return Err(Error::new_spanned(other, "`else` is followed by a block or an `if`")),
    };
    Ok(quote!(if #condition { #then } else { #otherwise }))
}

/// A `match` with the statements of each arm.
fn match_of(node: &ExprMatch, arms: Vec<TokenStream>, scope: &Scope) -> Result<TokenStream> {
    let test = value(&node.expr, scope)?;
    let mut cases = Vec::new();
    for (arm, block) in node.arms.iter().zip(arms) {
        if let Pat::Guard(pattern) = &arm.pat {
            return Err(Error::new_spanned(&pattern.guard, "an arm of a kernel has no condition"));
        }
        let patterns = patterns(&arm.pat)?;
        cases.push(quote! {
            __tree.open();
            #block
            __tree.arm(&[#(#patterns),*]);
        });
    }
    Ok(quote! {
        #test
        __tree.open_match();
        #(#cases)*
        __tree.close_match();
    })
}

fn case(node: &ExprMatch, scope: &mut Scope) -> Result<TokenStream> {
    let mut arm = |body: &Expr| match body {
        Expr::Block(inner) => scope.branch(|scope| block(&inner.block, scope)),
        single => scope.branch(|scope| expression_statement(single, scope)),
    };
    let arms = node.arms.iter().map(|a| arm(&a.body)).collect::<Result<_>>()?;
    match_of(node, arms, scope)
}

/// The patterns of an arm, more than one with `|` between them.
fn patterns(pattern: &Pat) -> Result<Vec<String>> {
    match pattern {
        Pat::Or(or) => Ok(or.cases.iter().map(patterns).collect::<Result<Vec<_>>>()?.concat()),
        Pat::Paren(inner) => patterns(&inner.pat),
        Pat::Ident(ident) if ident.subpat.is_none() && is_constant_name(&ident.ident.to_string()) => {
            Ok(vec![ident.ident.to_string()])
        }
        Pat::Ident(_) => Err(Error::new_spanned(pattern, "a pattern of a kernel binds no name: write `_`")),
        Pat::Lit(literal) => Ok(vec![quote!(#literal).to_string()]),
        Pat::Path(path) => Ok(vec![name::of_path(&path.path)]),
        Pat::Wild(_) => Ok(vec!["default".to_string()]),
        _ => {
            Err(Error::new_spanned(pattern, "a pattern of a kernel is a literal, a constant, a state or `_`"))
        }
    }
}

fn for_loop(node: &ExprForLoop, scope: &mut Scope) -> Result<TokenStream> {
    let Range { index, from, to } = locals::range(node)?;
    let body = scope.turns(index, |scope| block(&node.body, scope))?;
    let text = index.to_string();
    let mut connections = Connections(false);
    connections.visit_block(&node.body);
    let index_is_needed = scope.typed || connections.0;
    let index = index_is_needed.then(|| quote!(let #index = unit_info::first(#from..#to);));
    // `connect!` looks at the ports: in a loop without turns they may be elements of a vector that
    // has none.
    let condition = connections.0.then(|| quote!(if #from < #to));
    Ok(quote! {
        __tree.open();
        #condition {
            #index
            #body
        }
        __tree.turns(#text, #from, #to);
    })
}

/// Whether there is a `connect!`.
struct Connections(bool);

impl<'ast> Visit<'ast> for Connections {
    fn visit_macro(&mut self, node: &'ast Macro) {
        self.0 |= node.path.is_ident("connect");
    }
}

/// `Type::link(&mut self.a, &mut self.b)` of rust-hdl's interfaces.
fn call(node: &ExprCall) -> Result<TokenStream> {
    let error =
        || Error::new_spanned(node, "a call is no statement of a kernel; ports are connected by `connect!`");
    let Expr::Path(function) = node.func.as_ref() else { return Err(error()) };
    let mut path: Path = function.path.clone();
    let Some(last) = path.segments.last_mut().filter(|s| s.ident == "link" || s.ident == "join") else {
        return Err(error());
    };
    last.ident = quote::format_ident!("{}_hdl", last.ident);
    let mut names = node.args.iter().map(|argument| match argument {
        Expr::Reference(reference) => name::of(&reference.expr),
        other => name::of(other),
    });
    let (Some(left), Some(right), None) = (names.next(), names.next(), names.next()) else {
        return Err(error());
    };
    let (left, right) = (left?, right?);
    Ok(quote!(__tree.link(#path("", #left, #right));))
}

/// What stands between the commas of a `connect!`.
pub fn ends(node: &Macro) -> Result<Vec<Expr>> {
    let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
    Ok(parser.parse2(node.tokens.clone())?.into_iter().collect())
}

fn macro_statement(node: &Macro, scope: &Scope) -> Result<TokenStream> {
    match name::of_path(&node.path).as_str() {
        "always" => always::steps(node, scope),
        "connect" => {
            let ends = ends(node)?;
            let [this, that] = ends.as_slice() else {
                return Err(Error::new_spanned(node, "`connect!` takes the two ends of a connection"));
            };
            let (left, right) = (name::of(this)?, name::of(that)?);
            let last = |name: &str| name.rsplit('$').next().map(String::from);
            if ["clock", "reset"].iter().any(|n| left == *n && last(&right).as_deref() == Some(*n)) {
                let message = format!("the {left} reaches every child by itself: leave the line out");
                return Err(Error::new_spanned(node, message));
            }
            Ok(quote!(__tree.link(unit_info::connections(&#this, &#that, #left, #right));))
        }
        "clock" => Err(Error::new_spanned(
            node,
            "clock and reset reach every child by themselves: leave `clock!` out",
        )),
        "dff_setup" => Err(Error::new_spanned(
            node,
            "registers have their clock and reset and keep their value by themselves: leave `dff_setup!` out",
        )),
        _ => Err(Error::new_spanned(node, "the macros of a kernel are `connect!` and `always!`")),
    }
}
