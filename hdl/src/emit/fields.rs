//! Fields of structs: named parts of a vector.

use rust_hdl::prelude::{clog2, TypeDescriptor, TypeKind};

use super::names::snake_case;

/// A field of a struct, or of a struct in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name of the localparam with the offset: `FAULT_RECORD_CAUSE`.
    pub name: String,
    /// The struct in the same form: `FAULT_RECORD`.
    pub of: String,
    /// Lowest bit in the struct.
    pub lsb: usize,
    /// Bits.
    pub width: usize,
}

/// The fields of a struct from the lowest bits on; nothing for other types.
pub fn fields(ty: &TypeDescriptor) -> Vec<Field> {
    let mut found = Vec::new();
    if matches!(ty.kind, TypeKind::Composite(_)) {
        let plain_name = ty.name.rsplit("::").next().unwrap_or(&ty.name);
        let name = snake_case(plain_name).to_ascii_uppercase();
        collect(ty, &name, 0, &mut found);
        found.iter_mut().for_each(|field| field.of.clone_from(&name));
    }
    found
}

/// Adds the fields of `ty`, which begins at bit `lsb`; returns its bits.
fn collect(ty: &TypeDescriptor, name: &str, lsb: usize, found: &mut Vec<Field>) -> usize {
    let width = match &ty.kind {
        TypeKind::Bits(width) | TypeKind::Signed(width) => *width,
        TypeKind::Enum(labels) => clog2(labels.len()),
        TypeKind::Composite(members) => {
            let mut total = 0;
            for member in members {
                let member_name = format!("{name}_{}", member.fieldname.to_ascii_uppercase());
                total += collect(&member.kind, &member_name, lsb + total, found);
            }
            return total;
        }
    };
    found.push(Field { name: name.to_string(), of: String::new(), lsb, width });
    width
}

/// Bits of a vector whose elements are structs: a part of one field, or elements as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub field: Option<&'a Field>,
    /// Lowest bit in the vector.
    pub lsb: usize,
    /// Bits.
    pub width: usize,
}

/// Splits bits of a vector where fields begin, most significant first. `element` is the width of
/// one struct.
pub fn pieces(fields: &[Field], element: usize, lsb: usize, width: usize) -> Vec<Piece<'_>> {
    if fields.is_empty() || (lsb % element == 0 && width % element == 0) {
        return vec![Piece { field: None, lsb, width }];
    }
    let mut found = Vec::new();
    let end = lsb + width;
    let mut at = lsb;
    while at < end {
        let inside = at % element;
        let next_element = at - inside + element;
        let field = fields.iter().find(|f| f.lsb <= inside && inside < f.lsb + f.width);
        let next = match field {
            Some(_) if inside == 0 && next_element <= end => next_element,
            Some(f) => (at - inside + f.lsb + f.width).min(end),
            None => next_element.min(end),
        };
        let field = field.filter(|_| next - at < element);
        found.push(Piece { field, lsb: at, width: next - at });
        at = next;
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    #[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
    struct Inner {
        flag: Bit,
        count: Bits<3>,
    }

    #[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
    struct OuterRecord {
        low: Bits<5>,
        inner: Inner,
        high: Bits<9>,
    }

    fn piece(field: Option<&Field>, lsb: usize, width: usize) -> Piece<'_> {
        Piece { field, lsb, width }
    }

    #[test]
    fn fields_of_nested_structs_have_the_offsets_that_rust_hdl_gives_them() {
        let all = fields(&OuterRecord::descriptor());
        let list: Vec<(&str, usize, usize)> = all.iter().map(|f| (f.name.as_str(), f.lsb, f.width)).collect();
        assert_eq!(
            list,
            [
                ("OUTER_RECORD_LOW", 0, 5),
                ("OUTER_RECORD_INNER_FLAG", 5, 1),
                ("OUTER_RECORD_INNER_COUNT", 6, 3),
                ("OUTER_RECORD_HIGH", 9, 9)
            ]
        );
        let value = OuterRecord {
            low: 3.into(),
            inner: Inner { flag: true, count: 5.into() },
            high: bits::<9>(0x123),
        };
        let word: Bits<18> = value.into();
        assert_eq!(word, bits::<18>((0x123 << 9) | (5 << 6) | (1 << 5) | 3));
        assert_eq!(fields(&Bits::<8>::descriptor()), []);
    }

    #[test]
    fn ranges_split_where_fields_begin() {
        let all = fields(&OuterRecord::descriptor());
        let split = |lsb, width| pieces(&all, 18, lsb, width);
        assert_eq!(split(0, 18), [piece(None, 0, 18)]);
        assert_eq!(split(0, 5), [piece(Some(&all[0]), 0, 5)]);
        assert_eq!(split(9, 9), [piece(Some(&all[3]), 9, 9)]);
        // Part of a field; parts of two; of the second element of a vector.
        assert_eq!(split(10, 2), [piece(Some(&all[3]), 10, 2)]);
        assert_eq!(split(4, 2), [piece(Some(&all[1]), 5, 1), piece(Some(&all[0]), 4, 1)]);
        assert_eq!(split(24, 3), [piece(Some(&all[2]), 24, 3)]);
        // The last field of one element with all of the next.
        assert_eq!(split(9, 27), [piece(None, 18, 18), piece(Some(&all[3]), 9, 9)]);
        assert_eq!(pieces(&[], 18, 3, 7), [piece(None, 3, 7)]);
    }
}
