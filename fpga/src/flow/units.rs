//! What each unit of a design takes of the device.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::synthesis::Cells;
use super::tools::{read, FlowError, Tool};

/// A netlist as Yosys writes it, as far as it is needed.
#[derive(Deserialize)]
struct Netlist {
    modules: BTreeMap<String, Module>,
}

#[derive(Deserialize)]
struct Module {
    #[serde(default)]
    cells: BTreeMap<String, Cell>,
}

#[derive(Deserialize)]
struct Cell {
    #[serde(rename = "type")]
    kind: String,
}

/// The cells of the units of a flattened netlist: each unit, by its path of instance names, with
/// those cells that are in it and in none of the others.
///
/// Yosys names a cell by the path of the unit that it came from, or by a signal in it. Logic that
/// it merged across units counts for the one whose name it kept, so that shares of small units are
/// rough; sums are exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Units(BTreeMap<String, Cells>);

impl Units {
    /// Reads `netlist.json` in `folder`: the units of `top`. Those deeper than `depth` count for
    /// the one that they are in.
    ///
    /// # Errors
    /// The file cannot be read, or is no netlist with this module.
    pub fn read(yosys: &Tool, folder: &Path, top: &str, depth: usize) -> Result<Self, FlowError> {
        let text = read(&folder.join("netlist.json"))?;
        let netlist: Netlist =
            serde_json::from_str(&text).map_err(|error| yosys.said(format!("its netlist: {error}")))?;
        let module =
            netlist.modules.get(top).ok_or_else(|| yosys.said(format!("no module {top} in its netlist")))?;
        let mut units = Self::default();
        for (name, cell) in &module.cells {
            let path: Vec<&str> = name.split('.').collect();
            let unit = path[..path.len() - 1].iter().take(depth).copied().collect::<Vec<_>>().join(".");
            let unit = if unit.is_empty() { top.to_string() } else { unit };
            units.0.entry(unit).or_default().add(&cell.kind, 1);
        }
        Ok(units)
    }

    /// The units that take anything, the largest first.
    #[must_use]
    pub fn largest_first(&self) -> Vec<(&str, &Cells)> {
        let mut all: Vec<_> = self.0.iter().map(|(name, cells)| (name.as_str(), cells)).collect();
        all.sort_by_key(|(name, cells)| {
            (std::cmp::Reverse((cells.luts(), cells.flip_flops(), cells.block_rams())), *name)
        });
        all.retain(|(_, cells)| {
            cells.luts() + cells.flip_flops() + cells.block_rams() + cells.multipliers() > 0
        });
        all
    }

    /// The cells of all units whose path has an instance called `instance`, or several one inside
    /// the other, with points between them.
    #[must_use]
    pub fn inside(&self, instance: &str) -> Cells {
        let of = self.0.iter().filter(|(name, _)| format!(".{name}.").contains(&format!(".{instance}.")));
        let mut sum = Cells::default();
        of.for_each(|(_, cells)| sum.add_all(cells));
        sum
    }

    /// The cells of all units.
    #[must_use]
    pub fn total(&self) -> Cells {
        let mut sum = Cells::default();
        self.0.values().for_each(|cells| sum.add_all(cells));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_count_for_their_unit() {
        let folder = tempfile::tempdir().unwrap();
        let netlist = r#"{"modules": {"top": {"cells": {
            "a.b.x_LUT4_Z": {"type": "LUT4"}, "a.b.c.y": {"type": "CCU2C"}, "a.b.c.d.y": {"type": "TRELLIS_FF"},
            "a.z": {"type": "DP16KD"}, "pll": {"type": "EHXPLLL"}, "w_LUT4_Z": {"type": "LUT4"}}}}}"#;
        std::fs::write(folder.path().join("netlist.json"), netlist).unwrap();
        // Any program will do: it is not run.
        let yosys = Tool::named("yosys");
        let units = Units::read(&yosys, folder.path(), "top", 3).unwrap();
        let told = |units: &Units| -> Vec<(String, usize, usize, usize)> {
            let all = units.largest_first().into_iter();
            all.map(|(name, c)| (name.to_string(), c.luts(), c.flip_flops(), c.block_rams())).collect()
        };
        let expected = [("a.b.c", 2, 1, 0), ("a.b", 1, 0, 0), ("top", 1, 0, 0), ("a", 0, 0, 1)];
        assert_eq!(told(&units), expected.map(|(name, l, f, b)| (name.to_string(), l, f, b)));
        assert_eq!(
            (units.inside("b").luts(), units.inside("c").flip_flops(), units.total().luts()),
            (3, 1, 4)
        );
        let units = Units::read(&yosys, folder.path(), "top", 1).unwrap();
        assert_eq!(told(&units)[0], ("a".to_string(), 3, 1, 1));
        assert!(Units::read(&yosys, folder.path(), "other", 1)
            .unwrap_err()
            .to_string()
            .contains("no module other"));
    }
}
