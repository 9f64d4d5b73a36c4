//! The trace ports of a model: outputs for verification only, there when the array was emitted with
//! trace.
//!
//! Every port packs the elements of all cores, core 0 in the lowest bits. Elements with something
//! for every lane have room for 32 lanes, lane 0 lowest.

use verilator_sys::{Model, Output, Port};

use super::ports::PortError;
use super::simulation::WarpSlot;
use crate::iss::{LateWrite, Retired, TraceCycle};

/// The port that tells whether there are trace ports.
const PRESENT: &str = "trace_retire_valid";
/// Lanes that there is room for.
const MOST_LANES: usize = 32;

/// A port with elements side by side.
#[derive(Clone, Copy, Debug)]
struct Packed {
    port: Output,
    width: usize,
}

impl Packed {
    /// `width` (1 to 32) bits from bit `low` on.
    fn field(self, model: &Model, low: usize, width: usize) -> u32 {
        let shifted = if self.width <= 64 {
            model.get_u64(self.port) >> low
        } else {
            let words = model.get_words(self.port);
            let word = |index: usize| u64::from(words.get(index).copied().unwrap_or(0));
            (word(low / 32 + 1) << 32 | word(low / 32)) >> (low % 32)
        };
        shifted as u32 & (u32::MAX >> (32 - width))
    }
}

/// The trace ports of a model.
#[derive(Clone, Debug)]
pub struct RetirePorts {
    cores: usize,
    lanes: usize,
    fetch_valid: Packed,
    fetch_slot: Packed,
    fetch_pc: Packed,
    retire_valid: Packed,
    retire_slot: Packed,
    retire_pc: Packed,
    retire_instruction: Packed,
    retire_active: Packed,
    retire_faulting: Packed,
    retire_cause: Packed,
    retire_rd: Packed,
    retire_late: Packed,
    retire_value: Packed,
    retire_store_data: Packed,
    late_valid: Packed,
    late_slot: Packed,
    late_rd: Packed,
    late_lanes: Packed,
    late_value: Packed,
}

impl RetirePorts {
    /// Whether a design with these ports was emitted with trace.
    pub fn present(ports: &[Port]) -> bool {
        ports.iter().any(|port| port.name == PRESENT)
    }

    /// Finds the trace ports of a model of so many cores and lanes.
    ///
    /// # Errors
    /// Names every port that is missing, is no output or has another width.
    pub fn bind(model: &Model, cores: usize, lanes: usize) -> Result<Self, PortError> {
        let mut problems = Vec::new();
        let mut find = |name: &str, width: usize| match model.output(&format!("trace_{name}"), width) {
            Ok(port) => Some(Packed { port, width }),
            Err(error) => {
                problems.push(error.to_string());
                None
            }
        };
        let (valid, slot, word) = (cores, 5 * cores, 32 * cores);
        let (set, values) = (MOST_LANES * cores, 32 * MOST_LANES * cores);
        let ports = [
            find("fetch_valid", valid),
            find("fetch_slot", slot),
            find("fetch_pc", word),
            find("retire_valid", valid),
            find("retire_slot", slot),
            find("retire_pc", word),
            find("retire_instruction", word),
            find("retire_active", set),
            find("retire_faulting", set),
            find("retire_cause", slot),
            find("retire_rd", slot),
            find("retire_late", valid),
            find("retire_value", values),
            find("retire_store_data", values),
            find("late_valid", valid),
            find("late_slot", slot),
            find("late_rd", slot),
            find("late_lanes", set),
            find("late_value", values),
        ];
        let error = PortError { prefix: "trace_fetch, trace_retire, trace_late".to_string(), problems };
        let ports: Option<Vec<Packed>> = ports.into_iter().collect();
        let mut ports = ports.ok_or(error)?.into_iter();
        let mut next = || ports.next().expect("as many ports as fields");
        Ok(Self {
            cores,
            lanes,
            fetch_valid: next(),
            fetch_slot: next(),
            fetch_pc: next(),
            retire_valid: next(),
            retire_slot: next(),
            retire_pc: next(),
            retire_instruction: next(),
            retire_active: next(),
            retire_faulting: next(),
            retire_cause: next(),
            retire_rd: next(),
            retire_late: next(),
            retire_value: next(),
            retire_store_data: next(),
            late_valid: next(),
            late_slot: next(),
            late_rd: next(),
            late_lanes: next(),
            late_value: next(),
        })
    }

    /// The warp slots that look an instruction up in the instruction cache of their core in this
    /// cycle, and its PC.
    pub fn fetches(&self, model: &Model) -> Vec<(WarpSlot, u32)> {
        let valid = model.get_u64(self.fetch_valid.port);
        let of_core = |core: usize| {
            let slot = self.fetch_slot.field(model, 5 * core, 5) as u8;
            (WarpSlot { core: core as u8, slot }, self.fetch_pc.field(model, 32 * core, 32))
        };
        (0..self.cores).filter(|core| valid >> core & 1 != 0).map(of_core).collect()
    }

    /// Adds what the ports tell in this cycle to `trace`.
    pub fn sample(&self, model: &Model, trace: &mut TraceCycle) {
        let field = |packed: Packed, low: usize, width: usize| packed.field(model, low, width);
        let (retired, late) = (model.get_u64(self.retire_valid.port), model.get_u64(self.late_valid.port));
        if retired | late == 0 {
            return;
        }
        let values = |port: Packed, core: usize| {
            let first = core * MOST_LANES;
            (first..first + self.lanes).map(|element| field(port, 32 * element, 32)).collect()
        };
        let set = |port: Packed, core: usize| field(port, core * MOST_LANES, self.lanes);
        let small = |port: Packed, core: usize| field(port, 5 * core, 5) as u8;
        for core in (0..self.cores).filter(|core| retired >> core & 1 != 0) {
            trace.retired.push(Retired {
                core: core as u8,
                slot: small(self.retire_slot, core),
                pc: field(self.retire_pc, 32 * core, 32),
                instruction: field(self.retire_instruction, 32 * core, 32),
                active: set(self.retire_active, core),
                faulting: set(self.retire_faulting, core),
                cause: small(self.retire_cause, core),
                rd: small(self.retire_rd, core),
                late: field(self.retire_late, core, 1) != 0,
                values: values(self.retire_value, core),
                store_data: values(self.retire_store_data, core),
            });
        }
        for core in (0..self.cores).filter(|core| late >> core & 1 != 0) {
            trace.late_writes.push(LateWrite {
                core: core as u8,
                slot: small(self.late_slot, core),
                rd: small(self.late_rd, core),
                lanes: set(self.late_lanes, core),
                values: values(self.late_value, core),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use verilator_sys::ModelOptions;

    /// Two cores of two lanes tell constants that depend on core and lane.
    const DESIGN: &str = "module trace(input wire clk, output wire [1:0] trace_fetch_valid,
            output wire [9:0] trace_fetch_slot, output wire [63:0] trace_fetch_pc,
            output wire [1:0] trace_retire_valid, output wire [9:0] trace_retire_slot,
            output wire [63:0] trace_retire_pc, output wire [63:0] trace_retire_instruction,
            output wire [63:0] trace_retire_active, output wire [63:0] trace_retire_faulting,
            output wire [9:0] trace_retire_cause, output wire [9:0] trace_retire_rd, output wire [1:0] trace_retire_late,
            output wire [2047:0] trace_retire_value, output wire [2047:0] trace_retire_store_data,
            output wire [1:0] trace_late_valid, output wire [9:0] trace_late_slot, output wire [9:0] trace_late_rd,
            output wire [63:0] trace_late_lanes, output wire [2047:0] trace_late_value);
        assign trace_fetch_valid = clk ? 2'b00 : 2'b10; assign trace_fetch_slot = {5'd3, 5'd2};
        assign trace_fetch_pc = {32'h4000, 32'h3000};
        assign trace_retire_valid = clk ? 2'b10 : 2'b11; assign trace_retire_slot = {5'd31, 5'd2};
        assign trace_retire_pc = {32'h2000, 32'h1000}; assign trace_retire_instruction = {32'd7, 32'd6};
        assign trace_retire_active = {32'd3, 32'd1}; assign trace_retire_faulting = {32'd1, 32'd0};
        assign trace_retire_cause = {5'd4, 5'd0}; assign trace_retire_rd = {5'd17, 5'd3};
        assign trace_retire_late = 2'b01;
        assign trace_retire_value = {960'd0, 32'd13, 32'd12, 960'd0, 32'd11, 32'hffff_fff0};
        assign trace_retire_store_data = {960'd0, 32'd23, 32'd22, 960'd0, 32'd21, 32'd20};
        assign trace_late_valid = clk ? 2'b00 : 2'b10; assign trace_late_slot = {5'd9, 5'd0};
        assign trace_late_rd = {5'd8, 5'd0}; assign trace_late_lanes = {32'd2, 32'd0};
        assign trace_late_value = {960'd0, 32'd33, 32'd32, 960'd0, 32'd31, 32'd30};
        endmodule";

    #[test]
    fn elements_are_taken_apart() {
        let library = Model::build(DESIGN, &ModelOptions::new("trace")).unwrap();
        let mut model = library.instantiate().unwrap();
        let clock = model.input("clk", 1).unwrap();
        assert!(RetirePorts::present(model.ports()));
        let ports = RetirePorts::bind(&model, 2, 2).unwrap();
        let mut trace = TraceCycle::default();
        model.fall(clock).unwrap();
        ports.sample(&model, &mut trace);
        let [a, b] = &trace.retired[..] else { panic!("{trace:?}") };
        assert_eq!((a.core, a.slot, a.pc, a.instruction, a.active, a.rd), (0, 2, 0x1000, 6, 1, 3));
        assert_eq!((a.faulting, a.late, &a.values), (0, true, &vec![0xffff_fff0, 11]));
        assert_eq!((b.core, b.slot, b.pc, b.instruction, b.active, b.rd), (1, 31, 0x2000, 7, 3, 17));
        assert_eq!((b.faulting, b.cause, b.late, &b.values), (1, 4, false, &vec![12, 13]));
        assert_eq!(b.store_data, [22, 23]);
        let late = LateWrite { core: 1, slot: 9, rd: 8, lanes: 2, values: vec![32, 33] };
        assert_eq!(trace.late_writes, [late]);
        assert_eq!(ports.fetches(&model), [(WarpSlot { core: 1, slot: 3 }, 0x4000)]);
        trace.clear();
        model.rise(clock).unwrap();
        ports.sample(&model, &mut trace);
        assert_eq!((trace.retired.len(), trace.late_writes.len()), (1, 0));
        assert!(ports.fetches(&model).is_empty());

        let error = RetirePorts::bind(&model, 3, 2).unwrap_err();
        assert_eq!(error.problems.len(), 19, "{error}");
    }
}
