//! What stands beside a model in the cache: what it is of, and what it took to build it.

use std::fmt::Write as _;
use std::time::Duration;

use crate::options::ModelOptions;

/// A description of a model, as lines `NAME VALUE`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct About {
    /// [`ModelOptions::about`], or the name of the top module.
    pub(crate) text: String,
    /// Bytes of the Verilog.
    pub(crate) verilog_bytes: usize,
    /// Seconds that the build took.
    pub(crate) seconds: f64,
    /// Whether it writes waveforms.
    pub(crate) trace: bool,
}

impl About {
    /// Of a model that was built just now.
    pub(crate) fn new(options: &ModelOptions, verilog_bytes: usize, elapsed: Duration) -> Self {
        let text = if options.about.is_empty() { &options.top } else { &options.about };
        // One line.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Self { text, verilog_bytes, seconds: elapsed.as_secs_f64(), trace: options.trace }
    }

    pub(crate) fn to_text(&self) -> String {
        let Self { text, verilog_bytes, seconds, trace } = self;
        let mut all = String::new();
        let _ =
            write!(all, "of {text}\nverilog-bytes {verilog_bytes}\nseconds {seconds:.1}\ntrace {trace}\n");
        all
    }

    /// What is not there, or makes no sense, is as by default.
    pub(crate) fn parse(text: &str) -> Self {
        let mut about = Self::default();
        for (name, value) in text.lines().filter_map(|line| line.split_once(' ')) {
            match name {
                "of" => about.text = value.to_string(),
                "verilog-bytes" => about.verilog_bytes = value.parse().unwrap_or_default(),
                "seconds" => about.seconds = value.parse().unwrap_or_default(),
                "trace" => about.trace = value == "true",
                _ => {}
            }
        }
        about
    }
}

/// Seconds that a byte of Verilog takes on a machine of which nothing is known: two cores of 2023.
const USUAL_SECONDS_PER_BYTE: f64 = 25e-6;

/// How long a build of `verilog_bytes` takes: as the one of those in `known` that is nearest in
/// size, in proportion.
pub(crate) fn estimate(known: impl Iterator<Item = About>, verilog_bytes: usize, trace: bool) -> Duration {
    let usable = |about: &About| about.trace == trace && about.verilog_bytes > 0 && about.seconds > 0.0;
    let nearest = known.filter(usable).min_by_key(|about| about.verilog_bytes.abs_diff(verilog_bytes));
    let per_byte = |about: About| about.seconds / about.verilog_bytes as f64;
    let seconds = nearest.map_or(USUAL_SECONDS_PER_BYTE, per_byte) * verilog_bytes as f64;
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(verilog_bytes: usize, seconds: f64, trace: bool) -> About {
        About { text: "an array".into(), verilog_bytes, seconds, trace }
    }

    #[test]
    fn what_is_written_reads_back() {
        let written = about(1234, 20.5, true);
        assert_eq!(About::parse(&written.to_text()), written);
        assert_eq!(About::parse("seconds many\nof\nno"), About::default());
        let options = ModelOptions { about: "two\nlines ".into(), ..ModelOptions::new("top") };
        assert_eq!(About::new(&options, 1, Duration::ZERO).text, "two lines");
        assert_eq!(About::new(&ModelOptions::new("top"), 1, Duration::ZERO).text, "top");
    }

    #[test]
    fn the_nearest_in_size_tells_how_long_a_build_takes() {
        let known =
            || [about(100, 10.0, false), about(1000, 50.0, false), about(990, 99.0, true)].into_iter();
        let seconds = |bytes, trace| estimate(known(), bytes, trace).as_secs_f64();
        assert_eq!((seconds(200, false), seconds(2000, false), seconds(990, true)), (20.0, 100.0, 99.0));
        let useless = [about(0, 1.0, false), about(7, 0.0, false)];
        assert_eq!(estimate(useless.into_iter(), 1_000_000, false), Duration::from_secs(25));
    }
}
