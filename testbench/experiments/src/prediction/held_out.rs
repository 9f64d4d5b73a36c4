//! Runs that a calibration does not know, drawn by a seed.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::runs::gbps;
use crate::parameters::Parameters;
use crate::plan::Cell;

/// Kinds of runs, whose errors are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Even arrivals faster than the array.
    Burst,
    /// Below 80 % of its throughput.
    Sparse,
    /// From 80 to 95 %.
    Busy,
    /// Bursts and pauses, or rates that change.
    Mixed,
}

impl Class {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Burst, Self::Sparse, Self::Busy, Self::Mixed];

    /// Name in labels and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Burst => "burst",
            Self::Sparse => "sparse, below 80 %",
            Self::Busy => "sparse, 80 to 95 %",
            Self::Mixed => "bursts and pauses",
        }
    }

    /// That with a name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// The order in which classes are drawn.
const ORDER: [Class; 8] = [
    Class::Burst,
    Class::Sparse,
    Class::Mixed,
    Class::Busy,
    Class::Burst,
    Class::Sparse,
    Class::Mixed,
    Class::Sparse,
];
/// Values of the MCW: none that a calibration has, unless its kernel allows few.
const WARPS: [u32; 10] = [2, 3, 5, 6, 7, 10, 12, 14, 20, 28];
/// The fewest warps with which every app reaches nine tenths of its throughput.
const ENOUGH_WARPS: u32 = 12;
/// Bytes of frames, without FCS, where the time of a packet does not depend on it.
const SIZES: [usize; 3] = [60, 124, 252];
/// Label of the class.
pub(crate) const LABEL: &str = "held out";

/// `runs` runs of the app and array of `base`, whose kernel allows `most` warps and which does
/// `mpps` million packets a second at best, with other MCWs, rates, arrivals and packets than
/// the calibration has. Tables are those of the calibration: others are other work. The same seed
/// draws the same runs.
///
/// # Errors
/// The kind of packets is not known.
pub fn held_out(
    base: &Parameters,
    most: u32,
    mpps: f64,
    seed: u64,
    runs: usize,
    packets: usize,
) -> anyhow::Result<Vec<Cell>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut cells = Vec::new();
    for number in 0..runs {
        let class = ORDER[number % ORDER.len()];
        let parameters = draw(base, most, mpps, class, packets, &mut random)?;
        let pairs = [(LABEL, class.name()), ("app", &base.app), ("number", &number.to_string())];
        let labels = pairs.map(|(name, value)| (name.to_string(), value.to_string())).into();
        cells.push(Cell { labels, parameters });
    }
    Ok(cells)
}

fn draw(
    base: &Parameters,
    most: u32,
    mpps: f64,
    class: Class,
    packets: usize,
    random: &mut ChaCha8Rng,
) -> anyhow::Result<Parameters> {
    let least = match class {
        Class::Burst | Class::Mixed => 1,
        Class::Sparse | Class::Busy => ENOUGH_WARPS,
    };
    let allowed: Vec<_> = WARPS.into_iter().filter(|mcw| (least.min(most)..=most).contains(mcw)).collect();
    let mcw = *allowed.choose(random).unwrap_or(&most);
    let mut parameters = Parameters { mcw, packet_seed: random.gen_range(2..1_000), packets, ..base.clone() };
    // Apps that look at every byte have another time for every size.
    if base.work_is_of_headers() && base.frames.starts_with("fixed:") {
        let bytes = SIZES.choose(random).unwrap_or(&SIZES[0]);
        parameters.frames = format!("fixed:{bytes}");
    }
    let rate = |load: f64| gbps(&parameters, mpps * load);
    parameters.arrivals = match class {
        Class::Burst => format!("constant:{}", rate(random.gen_range(1.15..2.6))?),
        Class::Sparse => {
            let mean = rate(random.gen_range(0.08..0.79))?;
            let word = if random.gen_bool(0.5) { "constant" } else { "poisson" };
            format!("{word}:{mean}")
        }
        Class::Busy => format!("constant:{}", rate(random.gen_range(0.8..0.95))?),
        Class::Mixed => {
            let (mean, peak) = (rate(random.gen_range(0.4..0.8))?, rate(random.gen_range(1.5..2.5))?);
            let frames = packets as u64 / 16;
            let burst = random.gen_range(frames / 2..=2 * frames);
            format!("onoff:{mean},peak={peak},burst={burst}")
        }
    };
    if class == Class::Sparse {
        // A packet takes longest to simulate at low loads, at which delays differ least.
        parameters.packets = packets / 2;
    }
    Ok(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_runs() {
        let base = Parameters::of("dec-ttl").unwrap();
        let draw = |seed| held_out(&base, 32, 1_000.0, seed, 16, 4_096).unwrap();
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
        for cell in draw(5) {
            cell.parameters.validate().unwrap();
            assert!(!matches!(cell.parameters.mcw, 1 | 4 | 8 | 16 | 32));
            assert_ne!(cell.parameters.packet_seed, base.packet_seed);
            let class = Class::find(&cell.labels[LABEL]).unwrap();
            let enough = matches!(class, Class::Burst | Class::Mixed) || cell.parameters.mcw >= ENOUGH_WARPS;
            assert!(enough, "{cell:?}");
        }
        // A kernel that allows few warps.
        let few = held_out(&base, 3, 1_000.0, 1, 8, 4_096).unwrap();
        assert!(few.iter().all(|cell| (2..=3).contains(&cell.parameters.mcw)));
        let dpi = held_out(&Parameters::of("dpi").unwrap(), 16, 270.0, 1, 8, 4_096).unwrap();
        assert!(dpi.iter().all(|cell| cell.parameters.frames == "fixed:60"));
    }
}
