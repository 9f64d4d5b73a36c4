//! Groups of ports: their directions, and the names of their ports in the Verilog.

use std::collections::BTreeSet;

use rust_hdl::prelude::{Block, In, Out, Signal, Synth};

use super::unit::split_element;
use super::unit_info::Description;

/// A port or a group of ports that can be seen from the other end; `#[derive(Ports)]` implements
/// it.
pub trait PortGroup {
    /// The same with inputs and outputs exchanged.
    type Flipped: PortGroup;
}

/// The group `G` as the unit at the other end has it: inputs and outputs exchanged.
pub type Flipped<G> = <G as PortGroup>::Flipped;

impl<T: Synth> PortGroup for Signal<In, T> {
    type Flipped = Signal<Out, T>;
}

impl<T: Synth> PortGroup for Signal<Out, T> {
    type Flipped = Signal<In, T>;
}

impl<G: PortGroup> PortGroup for Vec<G> {
    type Flipped = Vec<Flipped<G>>;
}

/// The groups around a signal while a probe goes through a unit.
///
/// A `Vec` of groups becomes one port for each signal, as a `Vec` of signals does: the elements of
/// `start: Vec<WarpStart>` are named `start$0$valid`, `start$1$valid`, ..., and their port
/// `start$valid`. The elements of a `Vec` of groups with `#[separate]` keep their ports:
/// `m_axi$0$awid`, `m_axi$1$awid`, ...
#[derive(Debug, Default)]
pub struct GroupNames {
    namespace: Vec<String>,
    vectors: BTreeSet<String>,
}

impl GroupNames {
    /// A namespace begins. Whether an element of a `Vec` is a group, or another bundle of signals,
    /// is read from its description.
    pub fn start(&mut self, name: &str, node: &dyn Block) {
        if let (base, Some(_)) = split_element(name) {
            let vector = self.qualified(base);
            let is_one_port = || Description::from_timing(&node.timing()).is_some_and(|d| !d.separate);
            if !self.vectors.contains(&vector) && is_one_port() {
                self.vectors.insert(vector);
            }
        }
        self.namespace.push(name.to_string());
    }

    /// The groups around the signals that follow, without the indices of vectors of groups.
    pub fn path(&self) -> String {
        self.port(&self.namespace.join("$"))
    }

    /// The namespace ends.
    pub fn end(&mut self) {
        self.namespace.pop();
    }

    /// The name of a signal with those of the groups around it.
    pub fn qualified(&self, name: &str) -> String {
        self.namespace.iter().map(|group| group.as_str()).chain([name]).collect::<Vec<_>>().join("$")
    }

    /// The name without the indices of vectors of groups.
    pub fn port(&self, name: &str) -> String {
        port_of(&self.vectors, name)
    }

    /// The vectors of groups in the unit.
    pub fn into_vectors(self) -> BTreeSet<String> {
        self.vectors
    }
}

/// The name of a signal without the indices of `vectors` of groups.
pub fn port_of(vectors: &BTreeSet<String>, name: &str) -> String {
    let (mut port, mut prefix) = (Vec::new(), String::new());
    for part in name.split('$') {
        let is_index = part.bytes().all(|b| b.is_ascii_digit()) && vectors.contains(&prefix);
        if !prefix.is_empty() {
            prefix.push('$');
        }
        prefix.push_str(part);
        if !is_index {
            port.push(part);
        }
    }
    port.join("$")
}
