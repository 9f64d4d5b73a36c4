//! `hermes apps`

use hermes_testbench::apps::APPS;

use crate::print;

/// Lists the apps with their inputs.
pub fn execute() -> anyhow::Result<()> {
    let line = |app: &hermes_testbench::apps::AppEntry| {
        let inputs: Vec<_> = app.inputs.iter().map(|input| input.option()).collect();
        format!("{:<16} {:<30} {}", app.name, inputs.join(" "), app.summary)
    };
    print::line(APPS.iter().map(line).collect::<Vec<_>>().join("\n"))
}
