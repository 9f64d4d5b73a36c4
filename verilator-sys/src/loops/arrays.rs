//! Variables whose names differ in one number, as elements of an array.

use std::collections::{BTreeMap, HashMap};

/// Fewer variables stay as they are.
const LEAST: usize = 4;

/// An element of an array that takes the place of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub array: String,
    pub index: usize,
}

/// The arrays of a class or function.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    elements: HashMap<String, Element>,
    /// Type and length of each.
    arrays: BTreeMap<String, (String, usize)>,
}

impl Arrays {
    /// Makes arrays of `variables`, given as type and name: those of one type whose numbers go from 0 on without a gap.
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut families: BTreeMap<String, BTreeMap<usize, (&str, &str)>> = BTreeMap::new();
        for (kind, name) in variables {
            if let Some((array, index)) = family(name) {
                families.entry(array).or_default().insert(index, (kind, name));
            }
        }
        let mut arrays = Self::default();
        for (array, members) in families {
            let count = members.len();
            let kind = members.values().next().map_or("", |(kind, _)| kind);
            let complete = members.keys().copied().eq(0..count) && members.values().all(|(k, _)| *k == kind);
            if count < LEAST || !complete {
                continue;
            }
            for (index, (_, name)) in members {
                arrays.elements.insert(name.to_string(), Element { array: array.clone(), index });
            }
            arrays.arrays.insert(array, (kind.to_string(), count));
        }
        arrays
    }

    /// Leaves the variables alone of which one is `used` elsewhere.
    pub fn leave(&mut self, used: impl Fn(&str) -> bool) {
        let left: Vec<String> =
            self.elements.iter().filter(|(name, _)| used(name)).map(|(_, e)| e.array.clone()).collect();
        self.arrays.retain(|array, _| !left.contains(array));
        self.elements.retain(|_, element| !left.contains(&element.array));
    }

    pub fn is_empty(&self) -> bool {
        self.arrays.is_empty()
    }

    /// What takes the place of the variable `name`.
    pub fn element(&self, name: &str) -> Option<&Element> {
        self.elements.get(name)
    }

    /// The declaration of `array`.
    pub fn declaration(&self, array: &str) -> String {
        let (kind, length) = &self.arrays[array];
        format!("{kind} {array}[{length}];")
    }

    /// The declarations of all arrays.
    pub fn declarations(&self) -> impl Iterator<Item = String> + '_ {
        self.arrays.keys().map(|array| self.declaration(array))
    }
}

/// The name of the array that a variable may be in, and its number: the first of the numbers between underscores.
fn family(name: &str) -> Option<(String, usize)> {
    let mut begin = 0;
    for part in name.split('_') {
        let end = begin + part.len();
        if begin > 0 && !part.is_empty() && part.len() < 5 && part.bytes().all(|b| b.is_ascii_digit()) {
            return Some((format!("{}N{}", &name[..begin], &name[end..]), part.parse().ok()?));
        }
        begin = end + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_one_type_become_an_array() {
        let names: Vec<String> = (0..5).map(|i| format!("__PVT__lane_{i}__DOT__alu_2")).collect();
        let arrays = Arrays::of(names.iter().map(|name| ("IData", name.as_str())));
        let array = "__PVT__lane_N__DOT__alu_2";
        assert_eq!(arrays.element(&names[3]), Some(&Element { array: array.into(), index: 3 }));
        assert_eq!(arrays.declarations().collect::<Vec<_>>(), ["IData __PVT__lane_N__DOT__alu_2[5];"]);
    }

    #[test]
    fn others_stay() {
        let five = |kinds: [&'static str; 5], numbers: [usize; 5]| {
            let names: Vec<String> = numbers.iter().map(|i| format!("x_{i}")).collect();
            Arrays::of(kinds.into_iter().zip(names.iter().map(String::as_str))).is_empty()
        };
        assert!(!five(["CData"; 5], [0, 1, 2, 3, 4]));
        assert!(five(["CData", "CData", "IData", "CData", "CData"], [0, 1, 2, 3, 4]), "two types");
        assert!(five(["CData"; 5], [0, 1, 2, 3, 5]), "a gap");
        assert!(five(["CData"; 5], [1, 2, 3, 4, 5]), "not from 0");
        assert!(Arrays::of([("CData", "x_0"), ("CData", "x_1")]).is_empty(), "two only");
        assert!(Arrays::of((0..5).map(|_| ("CData", "h01_x"))).is_empty(), "no number");
    }

    #[test]
    fn variables_that_others_use_stay() {
        let names: Vec<String> = (0..8).map(|i| format!("{}_{}", ["x", "y"][i / 4], i % 4)).collect();
        let mut arrays = Arrays::of(names.iter().map(|name| ("CData", name.as_str())));
        arrays.leave(|name| name == "x_2");
        assert_eq!(arrays.declarations().collect::<Vec<_>>(), ["CData y_N[4];"]);
        assert_eq!(arrays.element("x_1"), None);
    }
}
