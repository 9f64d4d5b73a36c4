//! How a model of the array is built.

use hermes_hdl::emit::{Design, Direction, Module};
use verilator_sys::{Error, Model, ModelLibrary, ModelOptions, SharedModule};

/// Modules with several instances in an array that are worth to be compiled only once, by the
/// beginning of their name.
const SHARED: [&str; 2] = ["shader_core", "l2_bank"];

/// Options for a model of the array `design`, in which the cores share their code, and the banks of
/// the L2, and are made faster.
#[must_use]
pub fn options(design: &Design) -> ModelOptions {
    let has_instances = |module: &&Module| SHARED.iter().any(|name| module.name.starts_with(name));
    let shared = design.modules.iter().filter(has_instances).map(shared).collect();
    ModelOptions { shared, rewriter: Some(&model_optimizer::Optimizer), ..ModelOptions::new(&design.top) }
}

/// A model of the array `design` with the assertions of [`hermes_artefacts::checks`], as tests run
/// it: one that fails ends the run with an error.
///
/// # Errors
/// As [`Model::build`].
pub fn checked(design: &Design) -> Result<ModelLibrary, Error> {
    with_assertions(design, options(design))
}

/// The same for runs of some ten thousand cycles: the compiler does not optimize it, which would
/// take longer than these runs.
///
/// # Errors
/// As [`Model::build`].
pub fn brief(design: &Design) -> Result<ModelLibrary, Error> {
    with_assertions(design, ModelOptions { optimize: false, ..options(design) })
}

fn with_assertions(design: &Design, mut options: ModelOptions) -> Result<ModelLibrary, Error> {
    options.verilator_flags.push("--assert".to_string());
    Model::build(&(design.verilog() + &hermes_artefacts::checks(design)), &options)
}

fn shared(module: &Module) -> SharedModule {
    // Clock and reset are the same signals in all instances.
    let differs = |name: &str| !matches!(name, "clk" | "rst");
    let inputs = module.ports.iter().filter(|p| p.direction == Direction::Input && differs(&p.name));
    SharedModule { name: module.name.clone(), inputs: inputs.map(|p| p.name.clone()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_rtl::config::Config;

    #[test]
    fn cores_and_banks_are_shared_with_inputs_of_their_own() {
        let design = hermes_rtl::top::emit_top(&Config::preset("default").unwrap()).unwrap();
        let shared = options(&design).shared;
        let names: Vec<&str> = shared.iter().map(|module| module.name.as_str()).collect();
        assert!(
            names.len() == 2 && names.iter().zip(["l2_bank", "shader_core"]).all(|(n, s)| n.starts_with(s)),
            "{names:?}"
        );
        for module in &shared {
            assert!(module.inputs.len() > 10 && !module.inputs.contains(&"clk".to_string()), "{module:?}");
        }
        assert!(shared[1].inputs.contains(&"core".to_string()), "{:?}", shared[1]);
    }
}
