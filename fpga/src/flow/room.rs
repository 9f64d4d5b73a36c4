//! LUTs that stay empty, so that the wires of the others have room.

use std::path::Path;

use serde_json::{json, Map, Value};

use super::placement::Device;
use super::tools::{read, write, FlowError};

/// Rows in which all LUTs may be used: one of so many. Carry chains need whole rows, distributed
/// memories the first three of the four slices of a tile.
const WHOLE: usize = 4;

/// Where the logic tiles of an ECP5 are, as nextpnr counts: each has slices A to D, and a slice two
/// LUTs.
struct Tiles {
    columns: std::ops::RangeInclusive<usize>,
    rows: std::ops::RangeInclusive<usize>,
    /// Rows between them that have block RAMs and multipliers.
    others: (usize, usize),
}

impl Tiles {
    /// Those of a device.
    fn of(device: &Device) -> Self {
        match device.size {
            "--25k" => Self { columns: 2..=70, rows: 2..=48, others: (13, 12) },
            "--45k" => Self { columns: 2..=88, rows: 2..=69, others: (10, 12) },
            _ => Self { columns: 2..=124, rows: 2..=93, others: (10, 12) },
        }
    }

    /// The rows of logic tiles.
    fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        let (first, period) = self.others;
        self.rows.clone().filter(move |row| *row < first || (row - first) % period != 0)
    }
}

/// The names of LUTs of a device, so that `share` of all LUTs are among them: in three of four rows
/// slice D of tiles that lie evenly, then slice C, and so on.
fn places(device: &Device, share: f64) -> Vec<String> {
    let tiles = Tiles::of(device);
    let rows: Vec<usize> = tiles.rows().collect();
    // Slices of a tile that are in such a row
    let wanted = (share * 4.0 * WHOLE as f64 / (WHOLE - 1) as f64).min(4.0);
    let mut names = Vec::new();
    let mut owed = 0.0;
    for row in rows.iter().enumerate().filter(|(number, _)| number % WHOLE != 0).map(|(_, row)| row) {
        for column in tiles.columns.clone() {
            owed += wanted;
            let slices = (owed as usize).min(4);
            owed -= slices as f64;
            for slice in ["D", "C", "B", "A"].iter().take(slices) {
                names.extend((0..2).map(|lut| format!("X{column}/Y{row}/SLICE{slice}.K{lut}")));
            }
        }
    }
    names
}

/// Keeps `share` (0 to 0.75) of the LUTs of the device empty: the netlist in `folder` gets a cell
/// without wires at the place of each. nextpnr fills tiles up to three quarters, and has no option
/// for less; where many nets cross, the wires of a tile do not suffice for as many LUTs.
///
/// # Errors
/// The netlist cannot be read or written, or has no module `top`.
pub fn keep_room(folder: &Path, top: &str, device: &Device, share: f64) -> Result<(), FlowError> {
    let path = folder.join("netlist.json");
    let not_read = |what: &str| FlowError::Netlist { path: path.clone(), what: what.to_string() };
    let mut netlist: Value =
        serde_json::from_str(&read(&path)?).map_err(|error| not_read(&error.to_string()))?;
    let cells = netlist["modules"][top]["cells"]
        .as_object_mut()
        .ok_or_else(|| not_read(&format!("no module {top}")))?;
    for (number, place) in places(device, share).into_iter().enumerate() {
        cells.insert(format!("room_{number}"), empty_lut(&place));
    }
    write(&path, &netlist.to_string())
}

/// A LUT that has no wires, at a place.
fn empty_lut(place: &str) -> Value {
    json!({
        "hide_name": 0,
        "type": "TRELLIS_COMB",
        "parameters": { "MODE": "LOGIC", "INITVAL": "0000000000000000" },
        "attributes": { "BEL": place },
        "port_directions": Map::new(),
        "connections": Map::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const DEVICE: Device = Device { size: "--85k", package: "CABGA381", speed: 6 };

    #[test]
    fn all_tiles_are_counted() {
        for (size, luts) in [("--25k", 24_288), ("--45k", 43_848), ("--85k", 83_640)] {
            let tiles = Tiles::of(&Device { size, ..DEVICE });
            assert_eq!(tiles.rows().count() * tiles.columns.clone().count() * 8, luts, "{size}");
        }
    }

    #[test]
    fn so_many_luts_are_kept_empty_and_whole_rows_stay() {
        for share in [0.0, 0.1, 0.1875, 0.3, 0.5, 0.7] {
            let names = places(&DEVICE, share);
            let different: BTreeSet<&String> = names.iter().collect();
            assert_eq!(different.len(), names.len(), "{share}");
            let found = names.len() as f64 / 83_640.0;
            assert!((found - share).abs() < 0.01, "{share}: {found}");
            let row = |name: &str| name.split('/').nth(1).unwrap()[1..].parse::<usize>().unwrap();
            let rows: BTreeSet<usize> = names.iter().map(|name| row(name)).collect();
            assert!(rows.len() <= 64, "{share}: {} rows of 85", rows.len());
            assert!(share > 0.19 || names.iter().all(|name| name.contains("SLICED")), "{share}");
        }
    }

    #[test]
    fn the_netlist_gets_cells() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("netlist.json");
        std::fs::write(&path, r#"{"modules":{"top":{"cells":{"a":{"type":"LUT4"}}}}}"#).unwrap();
        keep_room(folder.path(), "top", &DEVICE, 0.1).unwrap();
        let netlist: Value = serde_json::from_str(&read(&path).unwrap()).unwrap();
        let cells = netlist["modules"]["top"]["cells"].as_object().unwrap();
        assert_eq!(cells["a"]["type"], "LUT4");
        assert_eq!(cells.len(), 1 + places(&DEVICE, 0.1).len());
        assert_eq!(cells["room_0"]["attributes"]["BEL"], places(&DEVICE, 0.1)[0].as_str());
        let error = keep_room(folder.path(), "other", &DEVICE, 0.1).unwrap_err().to_string();
        assert!(error.contains("no module other"), "{error}");
    }
}
