//! What a chain file says of where packets go behind a function.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_spanned::Spanned;

use super::text::one_of;

pub use crate::cosim::{Edges, BRANCH_PORTS};

/// The edge of this name in a chain file.
pub(super) fn edge_mut<'a>(edges: &'a mut Edges, key: &str) -> Result<&'a mut Option<usize>, String> {
    let port = key.parse().ok().filter(|port: &usize| *port < BRANCH_PORTS && key.len() == 1);
    match (port, key) {
        (Some(port), _) => Ok(edges.ports[port].get_or_insert(None)),
        (_, "other") => Ok(&mut edges.other),
        (_, "drop") => Ok(&mut edges.drop),
        (_, "fault") => Ok(&mut edges.fault),
        _ => {
            let ports: Vec<_> = (0..BRANCH_PORTS).map(|port| port.to_string()).collect();
            let names = ports.iter().map(String::as_str).chain(["other", "drop", "fault"]);
            let expected = one_of(&names.collect::<Vec<_>>());
            Err(format!("`{key}` is no verdict; expected {expected}"))
        }
    }
}

/// `next` of a chain file: a name, or a table of names by verdict.
#[derive(Clone, Debug)]
pub(super) enum Next {
    /// All packets that are forwarded go there.
    One(String),
    /// Verdicts, and where their packets go.
    ByVerdict(BTreeMap<String, Spanned<String>>),
}

impl<'de> Deserialize<'de> for Next {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NextVisitor)
    }
}

struct NextVisitor;

impl<'de> Visitor<'de> for NextVisitor {
    type Value = Next;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name, or a table of names by port, other, drop or fault")
    }

    fn visit_str<E>(self, name: &str) -> Result<Next, E> {
        Ok(Next::One(name.to_string()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Next, A::Error> {
        let mut edges = BTreeMap::new();
        while let Some((key, name)) = map.next_entry()? {
            edges.insert(key, name);
        }
        Ok(Next::ByVerdict(edges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_have_names() {
        let mut edges = Edges::to(Some(2));
        for (key, to) in [("0", Some(3)), ("7", None), ("fault", Some(4))] {
            *edge_mut(&mut edges, key).unwrap() = to;
        }
        assert_eq!((edges.ports[0], edges.ports[7], edges.ports[1]), (Some(Some(3)), Some(None), None));
        assert_eq!((edges.other, edges.drop, edges.fault), (Some(2), None, Some(4)));
        for key in ["8", "07", "+1", "ports", ""] {
            let told = edge_mut(&mut edges, key).unwrap_err();
            let expected = "expected 0, 1, 2, 3, 4, 5, 6, 7, other, drop or fault";
            assert_eq!(told, format!("`{key}` is no verdict; {expected}"));
        }
    }
}
