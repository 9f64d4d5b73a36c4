//! The Snakefile of a plan.

use minijinja::syntax::SyntaxConfig;
use minijinja::{context, Environment};

use crate::plan::Plan;

/// Megabytes that are asked for besides the estimate, for what the page table and the caches of the
/// system take.
const SPARE_MEGABYTES: u64 = 200;
/// Cycles of the array of the paper that are simulated in a minute.
const CYCLES_A_MINUTE: u64 = 2_400_000;
/// Minutes that are asked for at least: a job whose model is missing builds it.
const MINUTES: u64 = 15;

/// The Snakefile of `plan`: three rules, one job each for every model, every job and the page.
///
/// # Errors
/// The template does not fit; that is an error of this program.
pub fn text(plan: &Plan) -> anyhow::Result<String> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().keep_trailing_newline(true).build()?);
    environment.add_template("Snakefile", include_str!("Snakefile.jinja"))?;
    let jobs: Vec<_> = plan
        .jobs
        .iter()
        .map(|job| {
            context! {
                key => job.key.to_string(),
                model => job.model.to_string(),
                megabytes => (job.estimate.bytes >> 20) + SPARE_MEGABYTES,
                // Ten times what a quiet machine needs: another one may be slower, or full.
                minutes => MINUTES + 10 * job.estimate.cycles.div_ceil(CYCLES_A_MINUTE),
            }
        })
        .collect();
    let text = environment.get_template("Snakefile")?.render(context! { jobs })?;
    Ok(text)
}
