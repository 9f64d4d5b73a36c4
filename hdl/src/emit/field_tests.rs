//! Struct fields and computed part-selects: their text, their meaning, and what lint tools say to
//! them.

use std::process::Command;

use super::{emit, meaning_tests};
use crate::prelude::*;
use crate::testing::check;

/// A value with fields.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Entry {
    pub low: Bits<5>,
    pub flag: Bit,
    pub high: Bits<9>,
}

/// Structs in a register, in a memory, in a vector and as ports.
#[allow(non_snake_case)]
#[derive(LogicBlock)]
pub struct Fields {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub select: Signal<In, Bits<4>>,
    pub wide: Signal<In, Bits<36>>,
    pub low: Signal<In, Bits<5>>,
    pub flag: Signal<In, Bit>,
    pub entry: Signal<Out, Entry>,
    pub flags: Signal<Out, Bits<2>>,
    pub top_bits: Signal<Out, Bits<3>>,
    pub nibble: Signal<Out, Bits<4>>,
    pub one: Signal<Out, Bit>,
    pub beyond: Signal<Out, Bits<8>>,
    memory: RamAsync<Entry, 4>,
    kept: Register<Entry>,
    pair: Vec<Signal<Local, Entry>>,
    twin: Vec<Signal<Local, Entry>>,
    /// A name that a localparam would have.
    ENTRY_LOW: Register<Bits<5>>,
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            select: Signal::default(),
            wide: Signal::default(),
            low: Signal::default(),
            flag: Signal::default(),
            entry: Signal::default(),
            flags: Signal::default(),
            top_bits: Signal::default(),
            nibble: Signal::default(),
            one: Signal::default(),
            beyond: Signal::default(),
            memory: RamAsync::default(),
            kept: Register::default(),
            pair: vec![Signal::default(); 2],
            twin: vec![Signal::default(); 2],
            ENTRY_LOW: Register::default(),
        }
    }
}

impl Logic for Fields {
    #[hdl_gen]
    fn update(&mut self) {
        self.memory.read_address.next = self.select.val();
        self.memory.write_address.next = self.low.val().get_bits::<4>(0);
        self.memory.write_data.next = self.kept.q.val();
        self.memory.write_enable.next = self.flag.val();
        self.ENTRY_LOW.d.next = self.low.val();
        self.kept.d.next.low = self.low.val() + self.kept.q.val().low + self.ENTRY_LOW.q.val();
        if self.flag.val() {
            self.kept.d.next.flag = self.memory.read_data.val().flag;
            self.kept.d.next.high = self.kept.q.val().high + 3;
        }
        self.pair[0].next = self.kept.q.val();
        self.pair[1].next = self.memory.read_data.val();
        if self.flag.val() {
            self.pair[1].next.high = self.kept.q.val().high;
        }
        self.twin[0].next = self.kept.q.val();
        self.twin[1].next = self.memory.read_data.val();
        self.entry.next = self.pair[1].val();
        self.entry.next.high = self.wide.val().get_bits::<9>(3);
        self.flags.next = (bit_cast::<2, 1>(self.twin[1].val().flag.into()) << 1)
            | bit_cast::<2, 1>(self.pair[0].val().flag.into());
        self.top_bits.next = self.kept.q.val().high.get_bits::<3>(6);
        self.nibble.next = bit_cast::<4, 36>(self.wide.val() >> self.select.val());
        self.one.next = self.wide.val().get_bit(self.select.val().index());
        self.beyond.next = bit_cast::<8, 36>(self.wide.val() >> self.low.val());
    }
}

fn text() -> String {
    emit(&Fields::default(), "fields").unwrap().modules.pop().unwrap().text
}

#[test]
fn fields_have_named_offsets() {
    let text = text();
    for line in [
        "    localparam ENTRY_LOW_OFFSET = 0;",
        "    localparam ENTRY_FLAG = 5;",
        "    localparam ENTRY_HIGH = 6;",
        "            kept[ENTRY_LOW_OFFSET +: 5] <= low + kept[ENTRY_LOW_OFFSET +: 5] + ENTRY_LOW;",
        "                kept[ENTRY_HIGH +: 9] <= kept[ENTRY_HIGH +: 9] + 9'd3;",
        "    assign entry = {wide[11:3], pair_1[ENTRY_FLAG], pair_1[ENTRY_LOW_OFFSET +: 5]};",
        "    assign flags = {twin[15 + ENTRY_FLAG], pair_0[ENTRY_FLAG]};",
        "    assign top_bits = kept[ENTRY_HIGH + 6 +: 3];",
    ] {
        assert!(text.contains(&format!("{line}\n")), "{line} is not in:\n{text}");
    }
}

/// A part-select gives X where Rust gives zeros beyond the end, so it stands only where that cannot
/// be.
#[test]
fn computed_part_selects_stand_where_they_cannot_leave_the_vector() {
    let text = text();
    assert!(text.contains("assign nibble = wide[{2'd0, select} +: 4];"), "{text}");
    assert!(text.contains("wide >> low"), "{text}");
}

#[test]
fn fields_mean_the_same() {
    check(Fields::default());
}

/// The text of a unit says nothing to the tools of its readers.
fn lint(unit: &impl Block, top: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("unit.v"), emit(unit, top).unwrap().verilog_with_lines("")).unwrap();
    let yosys = format!("read_verilog unit.v; hierarchy -check -top {top}; proc; check -assert");
    for (program, arguments) in [
        ("verilator", vec!["--lint-only", "-Wall", "--top-module", top, "unit.v"]),
        ("iverilog", vec!["-Wall", "-t", "null", "-g2005", "-s", top, "unit.v"]),
        ("yosys", vec!["-q", "-p", &yosys]),
    ] {
        let output = Command::new(program).args(arguments).current_dir(folder.path()).output();
        let output = output.unwrap_or_else(|e| panic!("cannot run {program}: {e}; this test needs it"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.trim().is_empty(), "{top}, {program}:\n{said}");
    }
}

#[test]
fn odd_units_are_clean() {
    lint(&Fields::default(), "fields");
    lint(&meaning_tests::Widths::default(), "widths");
    lint(&meaning_tests::Statements::default(), "statements");
    lint(&meaning_tests::Buses::default(), "buses");
}
