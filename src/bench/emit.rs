//! `hermes bench emit`: the time from the description in Rust to Verilog text.

use std::time::Instant;

use super::figure::{Bound, Figure};
use crate::array::{self, ArrayArgs};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    array: ArrayArgs,
    /// Measure this often; the median counts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
}

pub fn measure(args: &Args) -> anyhow::Result<Vec<Figure>> {
    let config = args.array.config_or("paper")?;
    let mut seconds = Vec::new();
    let mut modules = 0;
    for _ in 0..args.runs {
        let start = Instant::now();
        let design = array::design(&config)?;
        let text = design.verilog();
        seconds.push(start.elapsed().as_secs_f64());
        modules = design.modules.len();
        log::info!("{} modules, {} bytes", modules, text.len());
    }
    seconds.sort_by(f64::total_cmp);
    Ok(vec![
        Figure::new("emit_seconds", seconds[seconds.len() / 2], "s").limit(Bound::AtMost(2.0)),
        Figure::new("emit_modules", modules as f64, "modules").limit(Bound::AtMost(99.0)),
    ])
}
