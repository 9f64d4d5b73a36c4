//! Pins that others drive, too: `inout` ports.

use std::collections::{BTreeSet, HashMap};

use super::module::Definition;
use super::node::VarId;
use super::port_list::Direction;
use super::unit::{Role, Unit};
use super::EmitError;

/// The outputs of `unit` that are `inout` ports of children. `alias` says which variable a child's
/// output is connected to, and from which bit on.
///
/// # Errors
/// Such a port of a child is not connected to a whole output: between two nets no assignment leads
/// both ways.
pub fn outputs(
    unit: &Unit,
    definitions: &[Definition],
    alias: &HashMap<VarId, (VarId, usize)>,
) -> Result<BTreeSet<VarId>, EmitError> {
    let mut found = BTreeSet::new();
    for child in &unit.children {
        let ports = child.ports.iter().zip(&definitions[child.module].ports);
        for (&var, _) in ports.filter(|(_, port)| port.direction == Direction::Bidirectional) {
            let whole = |output: VarId| {
                unit.vars[output].role == Role::Output && unit.vars[output].bits() == unit.vars[var].bits()
            };
            match alias.get(&var) {
                Some(&(output, 0)) if whole(output) => found.insert(output),
                _ => {
                    return Err(EmitError::unsupported(
                        unit.var_path(var, 0),
                        "is an inout and must drive a whole output of this unit, and nothing else",
                    ))
                }
            };
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::Direction;
    use crate::emit::emit;
    use crate::emit::unit_info::HandWritten;
    use crate::prelude::*;

    /// Pins.
    #[derive(Clone, Default, LogicBlock)]
    struct Pads {
        pub drive: Signal<In, Bits<4>>,
        pub seen: Signal<Out, Bits<4>>,
        pub pins: Signal<Out, Bits<4>>,
    }

    impl Logic for Pads {
        fn update(&mut self) {
            self.pins.next = self.drive.val();
            self.seen.next = self.drive.val();
        }
        fn timing(&self) -> Vec<TimingInfo> {
            HandWritten::new("Pads", "Pins.", file!())
                .follows("pins", "drive")
                .follows("seen", "drive")
                .bidirectional("pins")
                .into_timing()
        }
        fn hdl(&self) -> Verilog {
            Verilog::Custom("assign pins = drive;\nassign seen = pins;\n".to_string())
        }
    }

    /// Hands its child's pins on.
    #[derive(Clone, LogicBlock)]
    #[new(narrow: usize)]
    struct Board {
        pub drive: Signal<In, Bits<4>>,
        pub seen: Signal<Out, Bits<4>>,
        pub d: Signal<Out, Bits<4>>,
        pads: Pads,
        #[init(narrow)]
        _narrow: usize,
    }

    impl Logic for Board {
        #[hdl_gen]
        fn update(&mut self) {
            self.pads.drive.next = self.drive.val();
            self.seen.next = self.pads.seen.val();
            self.d.next = self.pads.pins.val();
            for _i in 0..self._narrow {
                self.d.next = self.pads.pins.val() & bits::<4>(7);
            }
        }
    }

    #[test]
    fn pins_are_inout_up_to_the_top() {
        let design = emit(&Board::wired(0), "board").unwrap();
        for module in &design.modules {
            assert!(module.text.contains("    inout  wire [3:0] "), "{}", module.text);
        }
        let text = &design.modules.last().unwrap().text;
        assert!(text.contains(".pins(d)") && !text.contains("assign d"), "{text}");
        let port = |name: &str| design.ports.iter().find(|port| port.name == name).unwrap().direction;
        assert_eq!((port("d"), port("seen")), (Direction::Bidirectional, Direction::Output));
    }

    #[test]
    fn pins_that_pass_logic_are_refused() {
        let error = emit(&Board::wired(1), "board").unwrap_err().to_string();
        assert!(error.contains("pads.pins") && error.contains("is an inout"), "{error}");
    }
}
