//! The filter of `docs/hdl.md`: natively against its formula, natively and in its Verilog alike,
//! and through the tools.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Command;

use hermes_hdl::emit::emit;
use hermes_hdl::prelude::*;
use hermes_hdl::testing::{check_events_with, random, settle};
use rand::Rng;

#[path = "../examples/fir/filter.rs"]
mod filter;

use filter::Fir;

/// One clock cycle.
fn tick(unit: &mut Fir<3>) {
    for level in [true, false] {
        settle(unit);
        unit.clock.next = level.into();
    }
    settle(unit);
}

fn signed<const N: usize>(value: i64) -> Bits<N> {
    (value as u64 & ((1 << N) - 1)).into()
}

#[test]
fn sums_are_those_of_the_formula() {
    let mut random = random();
    let mut unit = Fir::<3>::default();
    let factors: [i16; 8] = random.gen();
    unit.reset.next = true;
    for (tap, factor) in factors.into_iter().enumerate() {
        unit.load.next = true;
        unit.tap.next = (tap as u64).into();
        unit.coefficient.next = signed(factor.into());
        tick(&mut unit);
    }
    unit.load.next = false;
    // What is left in the memories after the first reset does not count after the second one.
    for _ in 0..2 {
        unit.reset.next = true;
        tick(&mut unit);
        unit.reset.next = false;
        let mut history = VecDeque::from([0i64; 8]);
        for i in 0..40 {
            let sample = if i < 20 { random.gen() } else { [i16::MIN, i16::MAX][i % 2] };
            history.push_front(sample.into());
            unit.samples.valid.next = true;
            unit.samples.value.next = signed(sample.into());
            settle(&mut unit);
            assert!(unit.samples.ready.val());
            tick(&mut unit);
            unit.samples.valid.next = random.gen();
            let cycles = (1..100).find(|_| {
                let offered = unit.filtered.valid.val();
                if !offered {
                    tick(&mut unit);
                }
                offered
            });
            assert_eq!(cycles, Some(9));
            // It stays until it is taken.
            for _ in 0..random.gen_range(0..3) {
                tick(&mut unit);
            }
            let sum: i64 =
                factors.iter().zip(&history).map(|(factor, sample)| i64::from(*factor) * sample).sum();
            assert_eq!(unit.filtered.value.val(), signed(sum), "sample {i}");
            unit.filtered.ready.next = true;
            tick(&mut unit);
            unit.filtered.ready.next = false;
        }
    }
}

#[test]
fn the_same_natively_in_verilator_and_in_icarus() {
    let mut offered = 0;
    let played = check_events_with(Fir::<3>::default(), 3_000, |unit, random, cycle| {
        // Every tap is loaded once before it is used.
        if cycle < 8 {
            unit.load.next = true;
            unit.tap.next = cycle.into();
        }
        unit.samples.valid.next = cycle >= 8 && random() % 4 != 0;
        unit.load.next = cycle < 8 || random() % 64 == 0;
        offered += u64::from(unit.filtered.valid.val() && unit.filtered.ready.next);
    });
    assert!(offered > 100, "{offered} sums");
    // Outputs are unknown before the first clock edge.
    assert!(played.unknown <= 42 && played.compared > 200_000, "{played:?}");
}

/// Runs a tool, which must have nothing to say.
fn silent(folder: &Path, program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output =
        output.unwrap_or_else(|e| panic!("cannot run {program}: {e}; it must be installed for this test"));
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    // Newer Verilators print statistics, in lines that begin with a dash.
    let messages: Vec<&str> = said.lines().filter(|l| !l.starts_with("- ") && !l.trim().is_empty()).collect();
    assert!(output.status.success() && messages.is_empty(), "{program} {arguments:?}:\n{said}");
}

#[test]
fn tools_have_nothing_to_say() {
    let folder = tempfile::tempdir().unwrap();
    // One file holds all modules, so that its name is not theirs.
    let text = format!(
        "// verilator lint_off DECLFILENAME\n{}",
        emit(&Fir::<3>::default(), "fir_8").unwrap().verilog()
    );
    std::fs::write(folder.path().join("fir_8.v"), text).unwrap();
    let verilator = std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".into());
    silent(folder.path(), &verilator, &["--lint-only", "-Wall", "--top-module", "fir_8", "fir_8.v"]);
    silent(folder.path(), "iverilog", &["-Wall", "-t", "null", "-g2005", "-s", "fir_8", "fir_8.v"]);
    silent(
        folder.path(),
        "yosys",
        &["-q", "-p", "read_verilog fir_8.v; synth_ecp5 -top fir_8; check -assert"],
    );
}

/// The design in `docs/hdl.md`: renew it with `HERMES_UPDATE=1`.
#[test]
fn the_page_shows_the_design() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/hdl.md");
    let page = std::fs::read_to_string(path).unwrap();
    let marker = "<!-- example, written by a test -->\n";
    let (before, _) = page.split_once(marker).expect("the page has a place for the example");
    let design = emit(&Fir::<3>::default(), "fir_8").unwrap();
    let new = format!(
        "{before}{marker}\n```rust\n{}```\n\n```verilog\n{}```\n",
        include_str!("../examples/fir/filter.rs"),
        design.modules.last().unwrap().text
    );
    if std::env::var_os("HERMES_UPDATE").is_some() {
        std::fs::write(path, new).unwrap();
    } else {
        assert!(page == new, "docs/hdl.md is not up to date; renew it with HERMES_UPDATE=1");
    }
}
