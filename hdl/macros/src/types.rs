//! What the macros read from the types of fields.

use syn::{Field, GenericArgument, PathArguments, Type};

/// `ty` without the invisible brackets around a type that a macro passed on.
fn plain(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => plain(&group.elem),
        Type::Paren(paren) => plain(&paren.elem),
        _ => ty,
    }
}

/// The type arguments of `ty`, if its last name is `name`.
pub fn arguments<'a>(ty: &'a Type, name: &str) -> Option<Vec<&'a Type>> {
    let Type::Path(path) = plain(ty) else { return None };
    let last = path.path.segments.last().filter(|s| s.ident == name)?;
    let PathArguments::AngleBracketed(list) = &last.arguments else { return None };
    Some(
        list.args
            .iter()
            .filter_map(|a| if let GenericArgument::Type(t) = a { Some(t) } else { None })
            .collect(),
    )
}

/// Whether the last name of `ty` is `name`.
pub fn is_named(ty: &Type, name: &str) -> bool {
    matches!(plain(ty), Type::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == name))
}

/// `T` of `Vec<T>`, `Part<T>` and `Part<Vec<T>>`; any other type itself.
pub fn element(ty: &Type) -> &Type {
    let inside = |name| match arguments(ty, name).as_deref() {
        Some([inner]) => Some(*inner),
        _ => None,
    };
    inside("Vec").or_else(|| inside("Part")).map_or(ty, element)
}

/// Whether the field is hardware: its name does not begin with an underscore.
pub fn is_hardware(field: &Field) -> bool {
    field.ident.as_ref().is_some_and(|name| !name.to_string().starts_with('_'))
}

/// The type of the values of the input called `name`, if there is such an input.
pub fn input<'a>(hardware: &[&'a Field], name: &str) -> Option<&'a Type> {
    let field = hardware.iter().find(|f| f.ident.as_ref().is_some_and(|i| i == name))?;
    match arguments(&field.ty, "Signal").as_deref() {
        Some([direction, value]) if is_named(direction, "In") => Some(value),
        _ => None,
    }
}
