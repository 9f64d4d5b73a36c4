//! Which configurations there are: the values of each option, what it needs and excludes, and the
//! rules that hold between several.

use super::{Config, ConfigError, Values, MAX_CORES, OPTIONS};
use crate::queues::MOST_QUEUES;

/// The option called `name`, and its value in `config`.
fn value_of(config: &Config, name: &str) -> usize {
    OPTIONS.iter().find(|option| option.name == name).map_or(0, |option| (option.get)(config))
}

/// A rule between several options.
struct Rule {
    /// The option that is told to be wrong.
    field: &'static str,
    holds: fn(&Config) -> bool,
    /// What it may be.
    expected: fn(&Config) -> &'static str,
}

/// Requesters of the L2 beside the cores.
fn other_requesters(config: &Config) -> usize {
    usize::from(config.command_requester()) + usize::from(config.packet_ports) + usize::from(config.network)
}

const RULES: [Rule; 4] = [
    Rule {
        field: "uli_channels",
        holds: |config| config.command_threads * config.uli_channels <= 16,
        expected: |_| "at most 16 of all harts",
    },
    Rule {
        field: "net_domains",
        holds: |config| {
            let queues = (config.cores * config.warps).next_power_of_two() * config.net_domains;
            !config.network || config.command_threads == 0 || queues <= MOST_QUEUES
        },
        expected: |_| "at most 256 / (cores x warps, rounded up to a power of two) with a command processor",
    },
    Rule {
        field: "cores",
        holds: |config| config.cores + other_requesters(config) <= MAX_CORES,
        expected: |config| match other_requesters(config) {
            0 | 1 => "1 to 31 with packet ports, network interface, command processor or thread spawner",
            2 => {
                "1 to 30 with two of packet ports, network interface, and command processor or thread spawner"
            }
            _ => "1 to 29 with packet ports, network interface, and command processor or thread spawner",
        },
    },
    Rule {
        field: "channels",
        holds: |config| config.channels <= config.l2_banks,
        expected: |_| "1, 2 or 4, and not more than l2_banks",
    },
];

impl Config {
    /// Checks every option against its values, the parts for those that they need and exclude, and
    /// the rules between several.
    ///
    /// # Errors
    /// [`ConfigError::UnknownPreset`]; [`ConfigError::Range`] for the first option outside its
    /// values, or beyond what others leave; [`ConfigError::Without`] for a number that means
    /// something with a part only that is not there; [`ConfigError::Needs`] for a part without
    /// another one that it needs, such as a network interface without atomic operations: the L2
    /// performs those of peers, and kernels look with them at what came;
    /// [`ConfigError::Excludes`] for two parts that no array has together.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let preset = Self::preset(&self.preset)?;
        for option in OPTIONS {
            let (field, value) = (option.name, (option.get)(self));
            let expected = || option.values.words();
            if !option.values.contain(value) {
                return Err(ConfigError::Range { field, value, expected: expected() });
            }
            if let Some(part) = option.of.filter(|part| value_of(self, part) == 0) {
                // That of the preset stays if nobody gave or took anything.
                let own = (option.get)(&preset);
                let is_usual = option.usual == Some(value) || (own == value && value_of(&preset, part) == 0);
                if !is_usual && option.values == Values::Switch {
                    return Err(ConfigError::Needs { part: field, needs: part });
                }
                if !is_usual {
                    let usual = option.usual.unwrap_or_default();
                    return Err(ConfigError::Without { field, value, part, usual });
                }
            }
            if value == 0 {
                continue;
            }
            if let Some(needs) = option.needs.filter(|part| value_of(self, part) == 0) {
                return Err(ConfigError::Needs { part: field, needs });
            }
            let there = option.excludes.iter().find(|other| value_of(self, other) != 0);
            if let Some(other) = there {
                return Err(ConfigError::Excludes { part: field, other });
            }
        }
        match RULES.iter().find(|rule| !(rule.holds)(self)) {
            Some(rule) => Err(ConfigError::Range {
                field: rule.field,
                value: value_of(self, rule.field),
                expected: (rule.expected)(self).to_string(),
            }),
            None => Ok(()),
        }
    }
}
