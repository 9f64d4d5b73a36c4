//! A unit or group as a probe of rust-hdl sees it, and as `{:?}` shows it.

use std::fmt;

use rust_hdl::prelude::{Atom, Block, Probe};

/// Shows `fields` to `probe`; `names` are their names, with spaces between them.
#[inline(never)]
pub fn accept(fields: &[&dyn Block], names: &str, probe: &mut dyn Probe) {
    for (field, name) in fields.iter().zip(names.split(' ')) {
        field.accept(name, probe);
    }
}

/// Writes the signals of a unit or group with their values, those of its groups too: what `Debug`
/// of both does. Registers and children are left out.
///
/// # Errors
/// What the formatter reports.
#[inline(never)]
pub fn show(type_name: &str, unit: &dyn Block, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut signals = Signals::default();
    unit.accept("", &mut signals);
    let mut shown = f.debug_struct(type_name);
    for (name, value) in &signals.found {
        shown.field(name, &format_args!("{value}"));
    }
    shown.finish_non_exhaustive()
}

/// Collects the signals of the outermost block.
#[derive(Default)]
struct Signals {
    /// Units around the signal.
    units: usize,
    /// Groups around the signal, the outermost first.
    groups: Vec<String>,
    found: Vec<(String, String)>,
}

impl Probe for Signals {
    fn visit_start_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.units += 1;
    }
    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.units -= 1;
    }
    fn visit_start_namespace(&mut self, name: &str, _node: &dyn Block) {
        self.groups.push(name.to_string());
    }
    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.groups.pop();
    }
    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        if self.units <= 1 {
            let path = self.groups.iter().map(String::as_str).filter(|group| !group.is_empty()).chain([name]);
            self.found.push((path.collect::<Vec<_>>().join("."), signal.verilog().to_string()));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;

    /// A word and whether there is one.
    #[derive(Ports)]
    pub struct Word {
        /// There is one.
        pub valid: Signal<In, Bit>,
        /// The word.
        pub data: Signal<In, Bits<8>>,
    }

    /// Counts words.
    #[derive(Clone, Default, LogicBlock)]
    pub struct Counter {
        /// Rising-edge clock.
        pub clock: Signal<In, Clock>,
        /// Synchronous reset, active high.
        pub reset: Signal<In, Bit>,
        /// The words.
        pub word: Word,
        /// How many.
        pub count: Signal<Out, Bits<4>>,
        counted: Register<Bits<4>>,
    }

    impl Logic for Counter {
        #[hdl_gen]
        fn update(&mut self) {
            self.count.next = self.counted.q.val();
            if self.word.valid.val() {
                self.counted.d.next = self.counted.q.val() + 1;
            }
        }
    }

    #[test]
    fn debug_shows_signals_with_their_values() {
        let mut unit = Counter::default();
        unit.word.valid.next = true;
        unit.word.data.next = 0x5A.into();
        unit.update_all();
        unit.update_all();
        assert_eq!(
            format!("{unit:?}"),
            "Counter { clock: 1'b0, reset: 1'b0, word.valid: 1'b1, word.data: 8'h5a, count: 4'h0, .. }"
        );
        assert_eq!(format!("{:?}", unit.word), "Word { valid: 1'b1, data: 8'h5a, .. }");
    }
}
