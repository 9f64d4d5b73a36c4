//! Tests of the back end as a whole.
use std::path::Path;

use super::unit_info::{self, HandWritten};
use super::{emit, example, Port};
use crate::prelude::*;
use crate::testing::check;

/// A first-in first-out queue of `2^A` words of `W` bits.
///
/// 1. `push` is ignored while `full`.
#[derive(LogicBlock, Default)]
pub struct Queue<const W: usize, const A: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Stores `data_in`.
    pub push: Signal<In, Bit>,
    pub pop: Signal<In, Bit>,
    pub data_in: Signal<In, Bits<W>>,
    pub data_out: Signal<Out, Bits<W>>,
    pub empty: Signal<Out, Bit>,
    pub full: Signal<Out, Bit>,
    pub level: Signal<Out, Bits<A>>,
    head: Register<Bits<A>>,
    tail: Register<Bits<A>>,
    memory: RamAsync<Bits<W>, A>,
    do_push: Signal<Local, Bit>,
}

impl<const W: usize, const A: usize> Logic for Queue<W, A> {
    #[hdl_gen]
    fn update(&mut self) {
        self.empty.next = self.head.q.val() == self.tail.q.val();
        self.full.next = self.tail.q.val() + 1 == self.head.q.val();
        self.do_push.next = self.push.val() & !self.full.val();
        self.memory.write_enable.next = self.do_push.val();
        self.memory.write_address.next = self.tail.q.val();
        self.memory.write_data.next = self.data_in.val();
        self.memory.read_address.next = self.head.q.val();
        self.data_out.next = self.memory.read_data.val();
        self.level.next = self.tail.q.val() - self.head.q.val();
        if self.do_push.val() {
            self.tail.d.next = self.tail.q.val() + 1;
        }
        if self.pop.val() && !self.empty.val() {
            self.head.d.next = self.head.q.val() + 1;
        }
    }
}

/// Several queues.
#[derive(LogicBlock)]
pub struct Queues {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub push: Vec<Signal<In, Bit>>,
    pub data: Vec<Signal<In, Bits<8>>>,
    pub out: Vec<Signal<Out, Bits<8>>>,
    pub total: Signal<Out, Bits<6>>,
    pub any: Signal<Out, Bit>,
    queue: Vec<Queue<8, 4>>,
    _count: usize,
}

impl Queues {
    fn new(count: usize) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            push: (0..count).map(|_| Default::default()).collect(),
            data: (0..count).map(|_| Default::default()).collect(),
            out: (0..count).map(|_| Default::default()).collect(),
            total: Default::default(),
            any: Default::default(),
            queue: (0..count).map(|_| Default::default()).collect(),
            _count: count,
        }
    }
}

impl Logic for Queues {
    #[hdl_gen]
    fn update(&mut self) {
        self.total.next = 0.into();
        self.any.next = false;
        for i in 0..self._count {
            self.queue[i].push.next = self.push[i].val();
            self.queue[i].data_in.next = self.data[self._count - 1 - i].val();
            self.queue[i].pop.next = self.queue[i].full.val();
            self.out[i].next = self.queue[i].data_out.val();
            if self.queue[i].full.val() {
                self.total.next = self.total.val() + 1;
            }
            self.any.next = self.any.val() | !self.queue[i].empty.val();
        }
    }
}

#[test]
fn equal_units_are_one_module_and_vectors_are_packed() {
    let design = emit(&Queues::new(3), "queues_top").unwrap();
    let names: Vec<&str> = design.modules.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["ram_async", "queue_8_4", "queues_top"]);
    let port = |name: &str| design.ports.iter().find(|p| p.name == name).unwrap();
    assert_eq!(port("data"), &Port { name: "data".into(), direction: super::Direction::Input, width: 24 });
    let text = &design.modules[2].text;
    assert!(
        text.starts_with("// Several queues.\n// Source: hdl/src/emit/tests.rs\nmodule queues_top (\n"),
        "{text}"
    );
    assert!(text.contains(".data_in(data[23:16]),"), "{text}");
    assert!(text.contains(".data_out(out[7:0]),"), "{text}");
    assert!(text.contains("assign any = !queue_0_empty || !queue_1_empty || !queue_2_empty;"), "{text}");
}

/// Units of one type with different parameters.
#[derive(LogicBlock)]
struct Both {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub y: Signal<Out, Bit>,
    small: Queues,
    large: Queues,
}

impl Logic for Both {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..2 {
            self.small.push[i].next = false;
            self.small.data[i].next = 1.into();
        }
        for i in 0..3 {
            self.large.push[i].next = true;
            self.large.data[i].next = 2.into();
        }
        self.y.next = self.small.any.val() ^ self.large.any.val();
    }
}

#[test]
fn parameters_tell_modules_of_one_type_apart() {
    let both = Both {
        clock: Signal::default(),
        reset: Signal::default(),
        y: Signal::default(),
        small: Queues::new(2),
        large: Queues::new(3),
    };
    let design = emit(&both, "both").unwrap();
    let names: Vec<&str> = design.modules.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["ram_async", "queue_8_4", "queues_count2", "queues_count3", "both"]);
}

#[test]
fn the_same_design_gives_the_same_bytes() {
    let text = || emit(&Queues::new(5), "queues_top").unwrap().verilog();
    assert_eq!(text(), text());
}

#[test]
fn queues_mean_the_same() {
    check(Queues::new(3));
}

/// The example of `docs/verilog.md`: renew it with `HERMES_UPDATE=1`.
#[test]
fn the_page_shows_what_is_emitted() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/verilog.md");
    let page = std::fs::read_to_string(path).unwrap();
    let design = emit(&example::Debounce::<3>::default(), "debounce_3").unwrap();
    let rust = include_str!("example.rs").split("\n\n").skip(2).collect::<Vec<_>>().join("\n\n");
    let marker = "<!-- example, written by a test -->\n";
    let (before, _) = page.split_once(marker).expect("the page has a place for the example");
    let new = format!(
        "{before}{marker}\n```rust\n{}\n```\n\n```verilog\n{}```\n",
        rust.trim_end(),
        design.modules.last().unwrap().text
    );
    if std::env::var_os("HERMES_UPDATE").is_some() {
        std::fs::write(path, new).unwrap();
    } else {
        assert!(page == new, "docs/verilog.md is not up to date; renew it with HERMES_UPDATE=1");
    }
}

/// A name without a declaration is an error in the file, and what follows the file has Verilog's
/// own rule.
#[test]
fn a_file_has_no_implicit_nets() {
    let design = emit(&Queues::new(2), "queues_top").unwrap();
    for text in [design.verilog(), design.verilog_with_lines("")] {
        assert!(text.starts_with("`default_nettype none\n"), "{text}");
        assert!(text.ends_with("\n`default_nettype wire\n"), "{text}");
    }
    let text = design.verilog_with_lines("// Head\n");
    for (i, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with("`line")) {
        let number = line.split(' ').nth(1).unwrap();
        assert_eq!(number, (i + 2).to_string(), "{line}: the number is that of the line that follows");
    }
}

/// Each module tells its source file, with a path that is the same on every machine, and has a
/// file of its own that depends on it alone.
#[test]
fn modules_tell_their_source_and_have_files() {
    let design = emit(&Queues::new(2), "queues_top").unwrap();
    let files = design.module_files("// Head\n");
    assert_eq!(files.len(), design.modules.len());
    for ((name, text), module) in files.iter().zip(&design.modules) {
        assert_eq!(*name, format!("{}.v", module.name));
        assert_eq!(text.matches("endmodule").count(), 1, "{text}");
        assert!(text.starts_with("// Head\n`default_nettype none\n"), "{text}");
        let source = module.text.lines().find_map(|line| line.strip_prefix("// Source: ")).unwrap();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(source);
        assert!(path.is_file(), "{source}");
    }
    for (file, path) in [
        ("rtl/src/top.rs", "rtl/src/top.rs"),
        ("/home/me/registry/hermes-hdl-0.2.0/src/prim/ram_sync.rs", "hermes-hdl-0.2.0/src/prim/ram_sync.rs"),
        ("C:\\work\\mine\\src\\unit.rs", "mine/src/unit.rs"),
        ("/tmp/unit.rs", "tmp/unit.rs"),
        ("/unit.rs", "unit.rs"),
        ("hdl/tests/../examples/fir/filter.rs", "hdl/examples/fir/filter.rs"),
        ("/home/me/src/mine/target/debug/build/mine-1a2b/out/unit.rs", "out/unit.rs"),
    ] {
        assert_eq!(unit_info::source_path(file), path);
    }
}

/// A register and an output that differ in `_q`, a net of a child and a signal of the same name, a
/// signal called `unused`.
#[derive(LogicBlock, Default)]
struct Alike {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub raw: Signal<In, Bits<8>>,
    pub valid: Signal<Out, Bit>,
    pub stable_level: Signal<Out, Bit>,
    valid_q: Register<Bit>,
    unused: Register<Bit>,
    stable: example::Debounce<3>,
}

impl Logic for Alike {
    #[hdl_gen]
    fn update(&mut self) {
        self.valid_q.d.next = self.raw.val().get_bit(0);
        self.unused.d.next = self.raw.val().get_bit(1) && self.stable.level.val();
        self.valid.next = self.valid_q.q.val() && self.unused.q.val();
        self.stable.raw.next = self.raw.val().get_bit(2);
        self.stable_level.next = !self.stable.level.val();
    }
}

#[test]
fn names_that_would_collide_are_told_apart_by_what_they_are() {
    let design = emit(&Alike::default(), "alike").unwrap();
    let text = &design.modules[1].text;
    for part in [
        "reg  valid_q;",
        "assign valid = valid_q && unused;",
        "assign stable_level = !stable_level_port;",
        "wire unused_bits = ",
        "debounce_3 stable (",
    ] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
}

/// Two fields that Verilog cannot tell apart.
#[derive(LogicBlock, Default)]
struct Clash {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub raw: Signal<In, Bit>,
    pub clk: Signal<Out, Bit>,
}

impl Logic for Clash {
    #[hdl_gen]
    fn update(&mut self) {
        self.clk.next = self.raw.val();
    }
}

#[test]
fn names_that_cannot_be_told_apart_are_refused() {
    let error = emit(&Clash::default(), "top").unwrap_err().to_string();
    assert!(error.contains("top: `clock` and `clk` would both be called `clk`"), "{error}");
    assert!(error.contains("rename one of them"), "{error}");
}

/// Memories of different sizes and types.
#[derive(LogicBlock, Default)]
struct Sizes {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub address: Signal<In, Bits<3>>,
    pub data: Signal<In, Bits<8>>,
    pub y: Signal<Out, Bit>,
    plain: RamAsync<Bit, 2>,
    wide: RamAsync<Bits<8>, 3>,
}

impl Logic for Sizes {
    #[hdl_gen]
    fn update(&mut self) {
        self.plain.write_enable.next = true;
        self.plain.write_address.next = self.address.val().get_bits::<2>(0);
        self.plain.write_data.next = self.data.val().any();
        self.plain.read_address.next = self.address.val().get_bits::<2>(1);
        self.wide.write_enable.next = true;
        self.wide.write_address.next = self.address.val();
        self.wide.write_data.next = self.data.val();
        self.wide.read_address.next = self.address.val();
        self.y.next = self.plain.read_data.val() && self.wide.read_data.val().any();
    }
}

#[test]
fn memories_of_all_sizes_are_one_module_with_parameters() {
    let design = emit(&Sizes::default(), "sizes").unwrap();
    let names: Vec<&str> = design.modules.iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["ram_async", "sizes"]);
    let memory = &design.modules[0].text;
    let head = "module ram_async #(\n    parameter WIDTH = 1,\n    parameter ADDRESS_BITS = 1\n) (\n";
    assert!(memory.contains(head), "{memory}");
    assert!(memory.contains("input  wire [ADDRESS_BITS-1:0] write_address,"), "{memory}");
    let text = &design.modules[1].text;
    assert!(text.contains("ram_async #(.WIDTH(1), .ADDRESS_BITS(2)) plain ("), "{text}");
    assert!(text.contains("ram_async #(.WIDTH(8), .ADDRESS_BITS(3)) wide ("), "{text}");
    check(Sizes::default());
}

#[test]
fn a_memory_alone_has_its_size() {
    let design = emit(&RamAsync::<Bits<8>, 3>::default(), "alone").unwrap();
    let text = design.verilog();
    assert!(
        text.contains("module alone #(\n    parameter WIDTH = 8,\n    parameter ADDRESS_BITS = 3\n) ("),
        "{text}"
    );
}

/// A module whose text has a number where it should have the parameter.
#[derive(Clone, Default, LogicBlock)]
struct Constant<const N: usize> {
    pub value: Signal<Out, Bits<N>>,
}

impl<const N: usize> Logic for Constant<N> {
    fn update(&mut self) {
        self.value.next = bits(1);
    }
    fn timing(&self) -> Vec<TimingInfo> {
        HandWritten::new(format!("Constant<{N}>"), "One.", file!())
            .parameter("WIDTH", N)
            .width(&["value"], "WIDTH")
            .into_timing()
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!("assign value = {N}'d1;\n"))
    }
}

/// Two of them.
#[derive(LogicBlock, Default)]
struct Constants {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub y: Signal<Out, Bit>,
    short: Constant<2>,
    long: Constant<3>,
}

impl Logic for Constants {
    #[hdl_gen]
    fn update(&mut self) {
        self.y.next = self.short.value.val().any() && self.long.value.val().any();
    }
}

#[test]
fn a_text_that_does_not_say_its_parameters_is_refused() {
    let error = emit(&Constants::default(), "constants").unwrap_err().to_string();
    assert!(error.contains("`constants.short`") && error.contains("`constants.long`"), "{error}");
    assert!(error.contains("would both be called `constant`"), "{error}");
}
