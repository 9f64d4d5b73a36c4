//! Whether functions can be found to hang.

use hermes_rtl::config::Config;

use super::steps::Live;
use crate::hang::window;
use crate::placed::{Chain, Function};
use crate::text::{ChainError, Problem};

/// Threads that the watchdog must end before a function hangs, unless the operator says how many.
const USUAL_FAULTS: u64 = 64;

impl Function {
    /// Threads with which the function hangs, if the watchdog ends so many within the window: on
    /// warps of `lanes`, of which `limit` are in flight at most (0: any number), where a core may
    /// have as few as `warps`.
    #[must_use]
    pub fn hang_faults(&self, lanes: u32, limit: u32, warps: u32) -> u64 {
        let said = self.on_hang.as_ref().and_then(|hang| hang.faults);
        said.map_or_else(|| USUAL_FAULTS.min(self.most_hang_faults(1, warps, lanes, limit)), u64::from)
    }

    /// Threads that the watchdog surely ends within the window if all warps of the function hang,
    /// on so many cores with so many of them: those of one turn fewer than the window has
    /// watchdogs, since the next warp starts a little later.
    fn most_hang_faults(&self, cores: usize, warps: u32, lanes: u32, limit: u32) -> u64 {
        let slots = cores as u64 * u64::from(warps);
        let slots = if limit == 0 { slots } else { slots.min(limit.into()) };
        let turns = window(self.watchdog) / u64::from(self.watchdog.max(1)) - 1;
        slots * u64::from(lanes) * turns
    }
}

impl Chain {
    /// Makes sure that each function with `on_hang` can be found to hang on an array of `config`,
    /// with the fewest cores that it has, also by the changes of `live`.
    ///
    /// # Errors
    /// Those that cannot: they have no watchdog, or it does not end so many threads.
    pub fn check_hangs(&self, config: &Config, live: Option<&Live>) -> Result<(), ChainError> {
        let mut problems = Vec::new();
        for (number, function) in self.all().enumerate() {
            let Some(hang) = &function.on_hang else { continue };
            let mut problem = |field: &str, problem: String| {
                let (path, line) = (hang.path.clone(), Some(hang.line));
                problems.push(Problem { path, line, field: Some(field.to_string()), problem });
            };
            if function.watchdog == 0 {
                let told = "has no watchdog, by which it is known that it hangs; expected `watchdog`";
                problem("on_hang", format!("`{}` {told} in its manifest", function.name));
                continue;
            }
            let changed = live.and_then(|live| live.fewest_cores(number));
            let first = Some(function.cores).filter(|cores| *cores > 0);
            let cores = changed.into_iter().chain(first).min().unwrap_or(1);
            // The scheduler may leave it one core with one warp.
            let adapts = live.is_some_and(|live| live.adapt.is_some());
            let (cores, mcw) = if adapts { (1, 1) } else { (cores, function.mcw) };
            let most = function.most_hang_faults(cores, mcw, config.lanes as u32, self.limit);
            if let Some(faults) = hang.faults.filter(|faults| u64::from(*faults) > most) {
                let (name, lanes) = (&function.name, config.lanes);
                let told = format!(
                    "{faults}: of `{name}` on {cores} cores, with {mcw} warps of {lanes} lanes each, a watchdog of {} \
                     cycles ends at most {most} threads within {} cycles; expected 1 to {most}",
                    function.watchdog,
                    window(function.watchdog)
                );
                problem("hang_faults", told);
            }
        }
        ChainError::check(problems)
    }
}
