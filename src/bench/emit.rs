//! `hermes bench emit`: the time from the description in Rust to Verilog text.

use super::figure::{processor_seconds, Bound, Figure};
use super::Subject;
use crate::array::{self, ArrayArgs};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    array: ArrayArgs,
    /// Measure this often; the shortest time counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
}

pub fn measure(args: &Args, on: &mut Subject) -> anyhow::Result<Vec<Figure>> {
    let config = args.array.config_or("paper")?;
    on.add(&config);
    let mut seconds = Vec::new();
    let mut modules = 0;
    for _ in 0..args.runs {
        let start = processor_seconds();
        let design = array::design(&config)?;
        let text = design.verilog();
        seconds.push(processor_seconds() - start);
        modules = design.modules.len();
        log::info!("{} modules, {} bytes", modules, text.len());
    }
    let shortest = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(vec![
        Figure::new("emit_seconds", shortest, "s").limit(Bound::AtMost(2.0)),
        Figure::new("emit_modules", modules as f64, "modules").limit(Bound::AtMost(199.0)),
    ])
}
