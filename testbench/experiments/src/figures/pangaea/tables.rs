//! Tables 2, 3 and 5: LUTs by module, shares of a system with two cores, and how soon a thread
//! starts.

use hermes_rtl::config::Config;

use crate::figures::{labels, Results};
use crate::machine::{Machine, MachineMeasured, UnitArea};
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::Section;

/// LUTs by module.
pub const TABLE_2: Experiment = Experiment {
    name: "pangaea-table2",
    summary: "LUTs of an ECP5 by module (Pangaea, table 2)",
    cells: area_cells,
    section: of_modules,
};

/// Shares of them.
pub const TABLE_3: Experiment = Experiment {
    name: "pangaea-table3",
    summary: "shares of a system with two cores (Pangaea, table 3)",
    cells: share_cells,
    section: of_shares,
};

/// How soon a thread starts.
pub const TABLE_5: Experiment = Experiment {
    name: "pangaea-table5",
    summary: "cycles until a spawned thread, and a packet's, fetches (Pangaea, table 5)",
    cells: start_cells,
    section: of_starts,
};

/// Harts of the preset, of which all have this many, and a quick plan no others.
const HARTS: usize = 4;

/// Rows of table 2: name, the first letters of the instances, and what the paper's table has.
const MODULES: [(&str, &[&str], &str); 7] = [
    ("command processor", &["command"], "50,621 (CPU)"),
    ("two cores with their caches", &["core_"], "84,547 (two EUs and what is theirs)"),
    ("L2 and its way to memory", &["memory"], "-"),
    ("task FIFO, warp former, issue, commit queue", &["dispatch"], "-"),
    ("thread spawner and its way to memory", SPAWNER, "-"),
    ("registers of the host, fault records", &["registers", "faults"], "-"),
    ("all others", &[], "1,604"),
];
const SPAWNER: &[&str] = &["spawner", "write_merge", "trap_count"];

fn area_cell(harts: usize) -> anyhow::Result<Cell> {
    let base = Parameters::of_machine(Machine::Area)?;
    let array = Config { command_threads: harts, ..base.array.clone() };
    let labels = labels(&[("measured", "area"), ("harts", &harts.to_string())]);
    Ok(Cell { labels, parameters: Parameters { array, ..base } })
}

fn area_cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let harts = match scale {
        Scale::Quick => &[HARTS][..],
        Scale::Full => &[1, HARTS][..],
    };
    harts.iter().map(|harts| area_cell(*harts)).collect()
}

fn share_cells(_: Scale) -> anyhow::Result<Vec<Cell>> {
    Ok(vec![area_cell(HARTS)?])
}

fn start_cells(_: Scale) -> anyhow::Result<Vec<Cell>> {
    let base = Parameters::of_machine(Machine::Start)?;
    let array = Config { trace: true, ..base.array.clone() };
    Ok(vec![Cell { labels: labels(&[("measured", "starts")]), parameters: Parameters { array, ..base } }])
}

/// What was measured of an array with so many harts.
fn area<'a>(results: &'a Results, harts: &str) -> Option<&'a MachineMeasured> {
    results.with(&[("measured", "area"), ("harts", harts)])?.measured.machine.as_ref()
}

/// The sum of the units whose names begin so; without any beginnings of those in no other row.
fn sum(measured: &MachineMeasured, names: &[&str]) -> UnitArea {
    let begins = |unit: &UnitArea, names: &[&str]| names.iter().any(|name| unit.unit.starts_with(name));
    let is_ours = |unit: &&UnitArea| match names.is_empty() {
        true => !MODULES.iter().any(|(_, of_row, _)| begins(unit, of_row)),
        false => begins(unit, names),
    };
    measured.units.iter().filter(is_ours).fold(UnitArea::default(), |sum, unit| UnitArea {
        unit: sum.unit,
        luts: sum.luts + unit.luts,
        flip_flops: sum.flip_flops + unit.flip_flops,
        block_rams: sum.block_rams + unit.block_rams,
        multipliers: sum.multipliers + unit.multipliers,
    })
}

fn total(measured: &MachineMeasured) -> usize {
    measured.units.iter().map(|unit| unit.luts).sum()
}

/// How the areas were measured, for the page.
fn by_yosys(measured: Option<&MachineMeasured>) -> String {
    let yosys = measured.map_or("Yosys", |measured| measured.yosys.as_str());
    format!(
        "The emitted Verilog of the preset `pangaea`, mapped to an ECP5 by {yosys} (`synth_ecp5 -nowidelut`); LUTs of four inputs, \
         those behind carry chains and distributed memories included. The netlist is flattened: a cell counts for the unit \
         in its name, so that shares of small units are rough."
    )
}

fn of_modules(results: &Results) -> anyhow::Result<Section> {
    let [one, four] = ["1", "4"].map(|harts| area(results, harts));
    let mut rows = Vec::new();
    for (name, units, paper) in MODULES {
        let number = |measured: Option<&MachineMeasured>, of: fn(&UnitArea) -> usize| {
            measured.map_or_else(|| "-".to_string(), |measured| of(&sum(measured, units)).to_string())
        };
        rows.push(vec![
            name.to_string(),
            number(one, |area| area.luts),
            number(four, |area| area.luts),
            number(four, |area| area.flip_flops),
            number(four, |area| area.block_rams),
            number(four, |area| area.multipliers),
            paper.to_string(),
        ]);
    }
    let told: Vec<_> = [("one hart", one), ("four harts", four)]
        .iter()
        .filter_map(|(name, measured)| {
            let measured = (*measured)?;
            let processor = sum(measured, MODULES[0].1).luts;
            Some(format!("{processor} of {} LUTs with {name}", total(measured)))
        })
        .collect();
    Ok(Section {
        title: "Pangaea, table 2: LUTs by module".to_string(),
        sentence: match told.is_empty() {
            true => "No array was synthesized.".to_string(),
            false => format!("The command processor takes {}.", told.join(", ")),
        },
        plots: Vec::new(),
        head: [
            "module",
            "LUTs, 1 hart",
            "LUTs, 4 harts",
            "flip-flops, 4 harts",
            "block RAMs",
            "multipliers",
            "paper, LUTs of six inputs",
        ]
        .map(str::to_string)
        .to_vec(),
        rows,
        measured: by_yosys(four.or(one)),
        assumed: String::new(),
        differs: "The paper's figures are of a Virtex-5, whose LUTs have six inputs, by Synplify Pro; its CPU is an IA32 of two \
                  issue slots with a 4-wide SIMD unit, its EUs have 64 registers and SIMD of eight on units of four."
            .to_string(),
    })
}

fn of_shares(results: &Results) -> anyhow::Result<Section> {
    let measured = area(results, "4");
    // Rows: name, units, the paper's system with two cores, and its GPU.
    let parts: [(&str, &[&str], &str, &str); 3] = [
        ("processing: the cores", &["core_"], "94 %", "17 %"),
        ("thread dispatch: task FIFO to commit queue", &["dispatch"], "5 %", "1 %"),
        ("interface: thread spawner, its way to memory", SPAWNER, "1 % (spawner 0.8 %)", "1 % (memory)"),
    ];
    let luts = |units: &[&str]| measured.map(|measured| sum(measured, units).luts);
    let system: usize = parts.iter().filter_map(|(_, units, ..)| luts(units)).sum();
    let share = |part: Option<usize>, whole: usize| {
        part.map_or_else(|| "-".to_string(), |part| format!("{:.1} %", percent(part, whole)))
    };
    let all = measured.map_or(0, total);
    let mut rows = Vec::new();
    for (name, units, paper, gpu) in parts {
        let part = luts(units);
        let count = part.map_or_else(|| "-".to_string(), |part| part.to_string());
        let [name, paper, gpu] = [name, paper, gpu].map(str::to_string);
        rows.push(vec![name, count, share(part, system), share(part, all), paper, gpu]);
    }
    let spawner = luts(&["spawner"]);
    let sentence = match spawner {
        Some(spawner) => format!(
            "The thread spawner alone takes {spawner} LUTs, {} of a system with two cores; the paper's takes 0.8 %.",
            share(Some(spawner), system)
        ),
        None => "No array was synthesized.".to_string(),
    };
    Ok(Section {
        title: "Pangaea, table 3: shares of a system with two cores".to_string(),
        sentence,
        plots: Vec::new(),
        head: [
            "part",
            "LUTs",
            "share of these",
            "share of the array",
            "paper, two EUs",
            "paper, GPU with two EUs",
        ]
        .map(str::to_string)
        .to_vec(),
        rows,
        measured: by_yosys(measured),
        assumed: "The shares of a two-core system are of the cores, what issues warps to them and what spawns threads; L2, command \
                  processor and registers of the host are left out, as in the paper's table."
            .to_string(),
        differs: "The paper has shares of the area of an ASIC, ours are of LUTs: block RAMs and multipliers do not count. The GPU's \
                  front-end (34 %) and back-end (47 %) have nothing here."
            .to_string(),
    })
}

/// `part` of `whole` in percent.
fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// Median and most of times.
fn of_times(times: &[u64]) -> Option<(u64, u64)> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    Some((*sorted.get(sorted.len() / 2)?, *sorted.last()?))
}

fn of_starts(results: &Results) -> anyhow::Result<Section> {
    let measured = results.all(&[("measured", "starts")]).find_map(|result| result.measured.machine.as_ref());
    let rows_of = [
        ("thread spawner: write of ENTRY to first fetch", "26: bus 11, dispatch 15"),
        ("packets: write of TASK_PUSH to first fetch", "about 1,515: 3D pipeline 1,500, dispatch 15"),
    ];
    let times = [
        measured.and_then(|measured| of_times(&measured.spawned)),
        measured.and_then(|measured| of_times(&measured.pushed)),
    ];
    let mut rows = Vec::new();
    for ((name, paper), times) in rows_of.into_iter().zip(times) {
        let [median, most] = match times {
            Some((median, most)) => [median, most].map(|cycles| cycles.to_string()),
            None => ["-", "-"].map(str::to_string),
        };
        rows.push(vec![name.to_string(), median, most, paper.to_string()]);
    }
    Ok(Section {
        title: "Pangaea, table 5: how soon a thread starts".to_string(),
        sentence: match times {
            [Some((spawned, _)), Some((pushed, _))] => format!(
                "A spawned thread fetches {spawned} cycles after the write that starts it, a packet's {pushed} cycles \
                 after the host's."
            ),
            _ => "Nothing was started.".to_string(),
        },
        plots: Vec::new(),
        head: ["path", "cycles, median", "most", "paper"].map(str::to_string).to_vec(),
        rows,
        measured: "The preset `pangaea` with nothing else to do: jobs of one warp, and as many packets as a warp has lanes, each when the \
                   last is done; from the write as it reaches the thread spawner, and as it begins at the AXI4-Lite port, to the \
                   first look-up of the warp in the instruction cache. The first on each core are left out, as the paper's \
                   figures hold for caches that hit. A store of the command processor reaches the spawner a cycle \
                   after its stage W."
            .to_string(),
        assumed: "Memory that answers after 60 cycles.".to_string(),
        differs: "The paper's second path is that of a GPU, through its graphics pipeline; ours is that of the packets.".to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables 2 and 3 have one job in common, each is possible, and is read back as it was written.
    #[test]
    fn jobs_of_the_tables() {
        for scale in [Scale::Quick, Scale::Full] {
            let of = |experiment: &Experiment| (experiment.cells)(scale).unwrap();
            let [modules, shares, starts] = [&TABLE_2, &TABLE_3, &TABLE_5].map(of);
            assert!(modules.iter().any(|cell| cell.parameters == shares[0].parameters));
            assert!(modules.iter().all(|cell| !cell.parameters.array.trace));
            assert!(starts[0].parameters.array.trace);
            let harts: Vec<_> = modules.iter().map(|cell| cell.parameters.array.command_threads).collect();
            assert_eq!(harts, if scale == Scale::Quick { vec![4] } else { vec![1, 4] });
            for cell in modules.iter().chain(&shares).chain(&starts) {
                cell.parameters.validate().unwrap();
                assert_eq!((cell.parameters.array.cores, cell.parameters.array.lanes), (2, 8));
                let text = serde_json::to_string(&cell.parameters).unwrap();
                let read: Parameters = serde_json::from_str(&text).unwrap();
                assert_eq!(read, cell.parameters);
            }
        }
    }

    /// Every unit counts in one row.
    #[test]
    fn rows_have_all_units() {
        let names = ["core_0", "core_1", "command", "spawner", "write_merge", "faults", "hermes_top"];
        let units = names.iter().zip(1..).map(|(name, number)| UnitArea {
            unit: (*name).to_string(),
            luts: 1 << number,
            ..UnitArea::default()
        });
        let measured = MachineMeasured { units: units.collect(), ..MachineMeasured::default() };
        let luts = MODULES.map(|(_, units, _)| sum(&measured, units).luts);
        assert_eq!(luts, [8, 6, 0, 0, 48, 64, 128]);
        assert_eq!(luts.iter().sum::<usize>(), total(&measured));
    }

    #[test]
    fn median_and_most() {
        assert_eq!(of_times(&[5, 1, 9]), Some((5, 9)));
        assert_eq!(of_times(&[]), None);
    }
}
