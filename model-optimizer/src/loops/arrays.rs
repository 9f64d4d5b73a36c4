//! Variables whose names differ in one number, as elements of an array.

use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    /// Arrays of memories whose words of one address lie side by side: the address comes before the
    /// index.
    by_address: BTreeSet<String>,
    /// Bytes of all variables that are numbers, in arrays or not.
    sizes: HashMap<String, usize>,
}

impl Arrays {
    /// Makes arrays of `variables`, given as type and name: those of one type, whose numbers may
    /// have gaps: Verilator may do without a variable of a lane whose statements are simpler.
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut families: BTreeMap<String, BTreeMap<usize, (&str, &str)>> = BTreeMap::new();
        let mut arrays = Self::default();
        for (kind, name) in variables {
            if let Some(size) = size(kind) {
                arrays.sizes.insert(name.to_string(), size);
            }
            if let Some((array, index)) = family(name) {
                families.entry(array).or_default().insert(index, (kind, name));
            }
        }
        for (array, members) in families {
            let count = members.len();
            let kind = members.values().next().map_or("", |(kind, _)| kind);
            let length = members.keys().last().map_or(0, |last| last + 1);
            let same = members.values().all(|(k, _)| *k == kind);
            if count < LEAST || 2 * count < length || !same {
                continue;
            }
            for (index, (_, name)) in members {
                arrays.elements.insert(name.to_string(), Element { array: array.clone(), index });
            }
            arrays.arrays.insert(array, (kind.to_string(), length));
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

    /// Whether the variable `name` has 32 bits.
    pub fn is_word(&self, name: &str) -> bool {
        self.sizes.get(name) == Some(&4)
    }

    /// Whether the variable `name` has 32 bits or fewer.
    pub fn is_narrow(&self, name: &str) -> bool {
        self.sizes.get(name).is_some_and(|size| *size <= 4)
    }

    /// Puts the words of one address side by side in the arrays of memories, except those of which
    /// `whole` says that an element is used without an address. The lanes mostly access theirs at
    /// the same address: then that is a row, not a word in each of many distant lines of the
    /// processor's cache.
    pub fn order_by_address(&mut self, whole: impl Fn(&str) -> bool) {
        let kept: BTreeSet<&String> =
            self.elements.iter().filter(|(name, _)| whole(name)).map(|(_, element)| &element.array).collect();
        let memories =
            self.arrays.iter().filter(|(array, (kind, _))| memory(kind).is_some() && !kept.contains(array));
        self.by_address = memories.map(|(array, _)| array.clone()).collect();
    }

    /// Whether the address comes before the index in `array`.
    pub fn is_by_address(&self, array: &str) -> bool {
        self.by_address.contains(array)
    }

    /// Bytes of an element of `array`, or of a word of it if it is a memory or has many words; 0 if
    /// there is no such array.
    pub fn bytes(&self, array: &str) -> usize {
        self.arrays.get(array).map_or(0, |(kind, _)| {
            let word = memory(kind).map_or(kind.as_str(), |(word, _)| word);
            size(word).unwrap_or(4)
        })
    }

    /// The declaration of `array`.
    pub fn declaration(&self, array: &str) -> String {
        let (kind, length) = &self.arrays[array];
        match memory(kind).filter(|_| self.is_by_address(array)) {
            Some((word, depth)) => format!("{word} {array}[{depth}][{length}];"),
            None => format!("{kind} {array}[{length}];"),
        }
    }

    /// Names and declarations of all arrays.
    pub fn declarations(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.arrays.keys().map(|array| (array.clone(), self.declaration(array)))
    }
}

/// Bytes of a number of this type.
fn size(kind: &str) -> Option<usize> {
    match kind {
        "CData" => Some(1),
        "SData" => Some(2),
        "IData" => Some(4),
        "QData" => Some(8),
        _ => None,
    }
}

/// Type of the words, and their number, of a memory whose words are numbers.
fn memory(kind: &str) -> Option<(&str, &str)> {
    let parts: Vec<&str> = kind.split_whitespace().collect();
    match parts[..] {
        ["VlUnpacked", "<", word @ ("CData" | "SData" | "IData" | "QData"), ",", depth, ">"] => {
            Some((word, depth))
        }
        _ => None,
    }
}

/// The name of the array that a variable may be in, and its number: the first of the numbers
/// between underscores.
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

    fn declarations(arrays: &Arrays) -> Vec<String> {
        arrays.declarations().map(|(_, declaration)| declaration).collect()
    }

    #[test]
    fn variables_of_one_type_become_an_array() {
        let names: Vec<String> = (0..5).map(|i| format!("__PVT__lane_{i}__DOT__alu_2")).collect();
        let arrays = Arrays::of(names.iter().map(|name| ("IData", name.as_str())));
        let array = "__PVT__lane_N__DOT__alu_2";
        assert_eq!(arrays.element(&names[3]), Some(&Element { array: array.into(), index: 3 }));
        assert_eq!(declarations(&arrays), ["IData __PVT__lane_N__DOT__alu_2[5];"]);
    }

    #[test]
    fn others_stay() {
        let five = |kinds: [&'static str; 5], numbers: [usize; 5]| {
            let names: Vec<String> = numbers.iter().map(|i| format!("x_{i}")).collect();
            Arrays::of(kinds.into_iter().zip(names.iter().map(String::as_str))).is_empty()
        };
        assert!(!five(["CData"; 5], [0, 1, 2, 3, 4]));
        assert!(five(["CData", "CData", "IData", "CData", "CData"], [0, 1, 2, 3, 4]), "two types");
        assert!(!five(["CData"; 5], [2, 3, 4, 6, 8]), "gaps");
        assert!(five(["CData"; 5], [2, 3, 4, 7, 10]), "mostly gaps");
        assert!(Arrays::of([("CData", "x_0"), ("CData", "x_1")]).is_empty(), "two only");
        assert!(Arrays::of((0..5).map(|_| ("CData", "h01_x"))).is_empty(), "no number");
    }

    #[test]
    fn memories_are_ordered_by_address_where_each_use_has_one() {
        let names: Vec<String> = (0..8).map(|i| format!("{}_{}", ["x", "y"][i / 4], i % 4)).collect();
        let mut arrays = Arrays::of(names.iter().map(|name| ("VlUnpacked < IData , 16 >", name.as_str())));
        arrays.order_by_address(|name| name == "y_3");
        assert!(arrays.is_by_address("x_N") && !arrays.is_by_address("y_N"));
        assert_eq!(declarations(&arrays), ["IData x_N[16][4];", "VlUnpacked < IData , 16 > y_N[4];"]);
        let rows = "VlUnpacked < VlWide < 4 > , 16 >";
        let mut arrays = Arrays::of(names.iter().map(|name| (rows, name.as_str())));
        arrays.order_by_address(|_| false);
        assert!(!arrays.is_by_address("x_N"), "words that are no numbers");
    }

    #[test]
    fn variables_that_others_use_stay() {
        let names: Vec<String> = (0..8).map(|i| format!("{}_{}", ["x", "y"][i / 4], i % 4)).collect();
        let mut arrays = Arrays::of(names.iter().map(|name| ("CData", name.as_str())));
        arrays.leave(|name| name == "x_2");
        assert_eq!(declarations(&arrays), ["CData y_N[4];"]);
        assert_eq!(arrays.element("x_1"), None);
    }
}
