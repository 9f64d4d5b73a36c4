//! Yosys.

use std::path::Path;

use super::tools::{read, write, FlowError, Tool};

/// LUTs of an ECP5 behind the cells that Yosys counts: a carry cell takes two, a memory of 16 x 4
/// bits four.
const LUTS: [(&str, usize); 3] = [("LUT4", 1), ("CCU2C", 2), ("TRELLIS_DPR16X4", 4)];
/// Options of `synth_ecp5`, for cost and clock alike. Left alone it counts a function of seven
/// inputs, which takes eight LUTs and their multiplexers, as one, and so trades many LUTs for a
/// level of logic.
const OPTIONS: &str = "-nowidelut";

/// What is mapped once more behind that.
const MEMORIES: &str = include_str!("../../yosys/distributed_memory.v");

/// How many cells of which kind a design has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells(Vec<(String, usize)>);

impl Cells {
    /// The cells in what Yosys's `stat` prints: lines of a name in capitals and a number.
    #[must_use]
    pub fn from_statistics(text: &str) -> Self {
        let cell = |line: &str| {
            let (name, count) = line.trim().split_once(char::is_whitespace)?;
            let is_cell = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
            Some((name.to_string(), count.trim().parse().ok()?)).filter(|_| is_cell)
        };
        Self(text.lines().filter_map(cell).collect())
    }

    /// Adds cells of one kind.
    pub(super) fn add(&mut self, kind: &str, count: usize) {
        match self.0.iter_mut().find(|(name, _)| name == kind) {
            Some((_, sum)) => *sum += count,
            None => self.0.push((kind.to_string(), count)),
        }
    }

    /// Adds the cells of another part.
    pub(super) fn add_all(&mut self, other: &Self) {
        other.0.iter().for_each(|(kind, count)| self.add(kind, *count));
    }

    /// How many of one kind.
    #[must_use]
    pub fn count(&self, wanted: &str) -> usize {
        self.0.iter().filter(|(name, _)| name == wanted).map(|(_, count)| count).sum()
    }

    /// LUTs of four inputs, those behind carry chains and distributed memories included.
    #[must_use]
    pub fn luts(&self) -> usize {
        LUTS.iter().map(|(cell, luts)| self.count(cell) * luts).sum()
    }

    /// Flip-flops.
    #[must_use]
    pub fn flip_flops(&self) -> usize {
        self.count("TRELLIS_FF")
    }

    /// Block RAMs of 18 kbit.
    #[must_use]
    pub fn block_rams(&self) -> usize {
        self.count("DP16KD") + self.count("PDPW16KD")
    }

    /// Multipliers of 18 x 18 bits.
    #[must_use]
    pub fn multipliers(&self) -> usize {
        self.count("MULT18X18D")
    }
}

/// Maps `top` of a Verilog text to the cells of an ECP5. Leaves `netlist.json`, `design.v` and
/// `statistics.txt` in `folder`.
///
/// # Errors
/// Yosys does not start or fails, or a file cannot be written.
pub fn synthesize(yosys: &Tool, folder: &Path, verilog: &str, top: &str) -> Result<Cells, FlowError> {
    write(&folder.join("design.v"), verilog)?;
    write(&folder.join("distributed_memory.v"), MEMORIES)?;
    let script = format!(
        "read_verilog design.v; synth_ecp5 {OPTIONS} -top {top}; \
         techmap -map distributed_memory.v t:TRELLIS_DPR16X4; opt_clean; write_json netlist.json; \
         tee -q -o statistics.txt stat"
    );
    yosys.run(folder, &["-q", "-p", &script])?;
    let cells = Cells::from_statistics(&read(&folder.join("statistics.txt"))?);
    if cells.0.is_empty() {
        return Err(yosys.said("no cells in its statistics"));
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_read() {
        let text = "=== top ===\n\n   Number of cells:              39623\n     CCU2C                        10\n     \
                    DP16KD                        3\n     LUT4                       100\n     \
                    TRELLIS_DPR16X4                 5\n     TRELLIS_FF                  40\n";
        let cells = Cells::from_statistics(text);
        assert_eq!(
            (cells.luts(), cells.flip_flops(), cells.block_rams(), cells.multipliers()),
            (140, 40, 3, 0)
        );
    }

    /// A memory of 8 words: the address bit that is never used is a copy of one that is, and no
    /// constant.
    #[test]
    fn unused_address_bits_of_memories_are_copies() {
        let folder = tempfile::tempdir().unwrap();
        let verilog = "module top(input clk, we, input [2:0] wa, ra, input [3:0] d, output [3:0] q);\n\
                       reg [3:0] words [0:7];\n\
                       always @(posedge clk) if (we) words[wa] <= d;\n\
                       assign q = words[ra];\n\
                       endmodule\n";
        let cells = synthesize(&Tool::yosys().unwrap(), folder.path(), verilog, "top").unwrap();
        assert_eq!((cells.count("TRELLIS_DPR16X4"), cells.luts()), (1, 4));
        let netlist: serde_json::Value =
            serde_json::from_str(&read(&folder.path().join("netlist.json")).unwrap()).unwrap();
        let cells = netlist["modules"]["top"]["cells"].as_object().unwrap();
        let memory = cells.values().find(|cell| cell["type"] == "TRELLIS_DPR16X4").unwrap();
        for port in ["RAD", "WAD"] {
            let bits = memory["connections"][port].as_array().unwrap();
            assert!(bits.iter().all(serde_json::Value::is_u64), "{port}: {bits:?}");
            assert_eq!(bits[3], bits[0], "{port}");
            assert!(bits[0] != bits[1] && bits[1] != bits[2] && bits[0] != bits[2], "{port}: {bits:?}");
        }
    }
}
