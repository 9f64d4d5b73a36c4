//! Plays the recorded inputs of a test to the Verilog in an event-driven, four-state simulator
//! (Icarus Verilog), where memories and registers are X until reset or written, and compares the
//! outputs with those of the Rust.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::mutation::Recording;
use crate::emit::{Design, Direction};

/// Seconds; a simulation that takes longer is taken to be stuck in one moment of simulated time.
const LIMIT: &str = "300";

/// Whether `HERMES_EVENT_DRIVEN` asks the equivalence tests to play their inputs to Icarus Verilog
/// too; its value is the number of evaluations.
pub(crate) fn wanted() -> Option<usize> {
    let text = std::env::var("HERMES_EVENT_DRIVEN").ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("HERMES_EVENT_DRIVEN: `{text}` is not a number of evaluations")),
    )
}

/// What an event-driven simulator made of a recording.
#[derive(Debug, PartialEq, Eq)]
pub struct Played {
    /// Output bits that were compared.
    pub compared: usize,
    /// Of these, bits that are X in the simulator. The Rust, which has two states, has a value for
    /// them.
    pub unknown: usize,
}

/// Plays a recording to `design`. Every output that is known in the simulator must be as recorded.
///
/// # Panics
/// If an output differs, the simulation does not end, or Icarus Verilog is missing.
pub(crate) fn play(design: &Design, recording: &Recording) -> Played {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    put("design.v", &format!("{}\n{}", design.verilog(), bench(design, recording)));
    put("inputs.hex", &inputs(recording));
    run(folder.path(), "iverilog", &["-g2005", "-s", "bench", "-o", "bench.vvp", "design.v"], &design.top);
    let said = run(folder.path(), "vvp", &["-n", "bench.vvp"], &design.top);
    let mut found = said.lines().filter_map(|line| line.strip_prefix("= "));
    let mut played = Played { compared: 0, unknown: 0 };
    for (index, step) in recording.steps.iter().enumerate() {
        let values = found.next().unwrap_or_else(|| panic!("{}: ends at evaluation {index}", design.top));
        let Some(expected) = &step.outputs else { continue };
        let columns = values.split(' ').zip(&recording.outputs).zip(expected);
        for ((bits, (name, width)), words) in columns {
            for (i, bit) in bits.bytes().rev().enumerate().take(*width) {
                let wanted = words.get(i / 32).is_some_and(|word| word >> (i % 32) & 1 == 1);
                played.compared += 1;
                played.unknown += usize::from(!matches!(bit, b'0' | b'1'));
                let differs = bit == if wanted { b'0' } else { b'1' };
                assert!(
                    !differs,
                    "{}: evaluation {index}: bit {i} of {name} is {} in Icarus Verilog",
                    design.top, bit as char
                );
            }
        }
    }
    played
}

/// All inputs of an evaluation as one word, the first input lowest.
fn inputs(recording: &Recording) -> String {
    let mut text = String::new();
    for step in &recording.steps {
        let mut bits: Vec<bool> = Vec::new();
        for ((_, width), words) in recording.inputs.iter().zip(&step.inputs) {
            bits.extend((0..*width).map(|i| words.get(i / 32).is_some_and(|word| word >> (i % 32) & 1 == 1)));
        }
        for digit in bits.chunks(4).rev() {
            let value = digit.iter().rev().fold(0, |value, bit| value << 1 | u8::from(*bit));
            let _ = write!(text, "{value:x}");
        }
        text.push('\n');
    }
    text
}

fn bench(design: &Design, recording: &Recording) -> String {
    let total: usize = recording.inputs.iter().map(|(_, width)| width).sum();
    let mut low = 0;
    let mut connections: Vec<String> = Vec::new();
    for (name, width) in &recording.inputs {
        connections.push(format!(".{name}(inputs[{}:{low}])", low + width - 1));
        low += width;
    }
    let mut nets = String::new();
    for port in design.ports.iter().filter(|p| p.direction == Direction::Output) {
        let _ = writeln!(nets, "  wire [{}:0] io_{};", port.width - 1, port.name);
        connections.push(format!(".{0}(io_{0})", port.name));
    }
    let formats = vec!["%b"; recording.outputs.len()].join(" ");
    let values: String = recording.outputs.iter().map(|(name, _)| format!(", io_{name}")).collect();
    format!(
        "module bench;\n  reg [{}:0] list [0:{}];\n  reg [{0}:0] inputs;\n  integer i;\n{nets}  {} unit ({});\n  \
           initial begin\n    $readmemh(\"inputs.hex\", list);\n    \
             for (i = 0; i <= {1}; i = i + 1) begin\n      inputs = list[i];\n      #1 $display(\"= {formats}\"{values});\n    end\n    \
             $finish;\n  end\nendmodule\n",
        total - 1,
        recording.steps.len() - 1,
        design.top,
        connections.join(", "),
    )
}

/// Runs a tool; returns what it says.
fn run(folder: &Path, program: &str, arguments: &[&str], what: &str) -> String {
    let output = Command::new("timeout").args([LIMIT, program]).args(arguments).current_dir(folder).output();
    let output = output.unwrap_or_else(|e| panic!("cannot run timeout: {e}"));
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => text.into_owned(),
        Some(124) => {
            panic!("{what}: {program} does not end; it stands at evaluation {}", text.lines().count())
        }
        Some(127) => panic!("cannot run {program}; it must be installed for this test"),
        _ => panic!("{what}: {program} {arguments:?}:\n{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::Module;
    use crate::testing::mutation::Step;

    /// A design of one module with an input `a` and an output `y` of two bits.
    fn design(body: &str) -> Design {
        let port = |name: &str, direction| crate::emit::Port { name: name.into(), direction, width: 2 };
        let ports = vec![port("a", Direction::Input), port("y", Direction::Output)];
        let text = format!("module tried (input wire [1:0] a, output wire [1:0] y);\n{body}\nendmodule\n");
        let module = Module { name: "tried".into(), text, ports: ports.clone(), ..Module::default() };
        Design { top: "tried".into(), modules: vec![module], ports }
    }

    fn recording() -> Recording {
        let step = |a: u32| Step { inputs: vec![vec![a]], outputs: Some(vec![vec![a]]) };
        Recording {
            inputs: vec![("a".into(), 2)],
            outputs: vec![("y".into(), 2)],
            steps: (0..4).map(step).collect(),
        }
    }

    #[test]
    fn what_differs_is_found() {
        let played = play(&design("assign y = a;"), &recording());
        assert_eq!(played, Played { compared: 8, unknown: 0 });
        let played = play(&design("assign y = a & 2'b1x;"), &recording());
        assert_eq!(played, Played { compared: 8, unknown: 2 });
        let wrong = std::panic::catch_unwind(|| play(&design("assign y = a & 2'd1;"), &recording()));
        let message = *wrong.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("evaluation 2: bit 1 of y is 0"), "{message}");
    }
}
