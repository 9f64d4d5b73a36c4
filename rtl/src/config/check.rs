//! Which configurations there are: the values of each option, what it needs and excludes, and the
//! rules that hold between several.

use super::{ArrayOption, Config, ConfigError, Values, MAX_CORES, OPTIONS};
use crate::types::MOST_QUEUES;

/// The option called `name`, and its value in `config`.
fn value_of(config: &Config, name: &str) -> usize {
    ArrayOption::find(name).map_or(0, |option| (option.get)(config))
}

/// A rule between several options.
struct Rule {
    /// The option that is told to be wrong.
    field: &'static str,
    holds: fn(&Config) -> bool,
    /// Values that the option may have, in words.
    expected: fn(&Config) -> String,
}

/// Requesters of the L2 beside the cores, in words.
fn other_requesters(config: &Config) -> Vec<&'static str> {
    let command = if config.command_threads > 0 { "a command processor" } else { "a thread spawner" };
    [
        (config.packet_ports, "packet ports"),
        (config.network, "a network interface"),
        (config.command_requester(), command),
    ]
    .into_iter()
    .filter_map(|(there, words)| there.then_some(words))
    .collect()
}

const RULES: [Rule; 4] = [
    Rule {
        field: "uli_channels",
        holds: |config| config.command_threads * config.uli_channels <= 16,
        expected: |config| {
            let threads = config.command_threads;
            format!("0, 1, 2, 4 or 8, and at most {} with {threads} harts", 16 / threads)
        },
    },
    Rule {
        field: "net_domains",
        holds: |config| {
            let queues = (config.cores * config.warps).next_power_of_two() * config.net_domains;
            !config.network || config.command_threads == 0 || queues <= MOST_QUEUES
        },
        expected: |config| {
            let warps = (config.cores * config.warps).next_power_of_two();
            let most = MOST_QUEUES / warps;
            format!("1, 2, 4 or 8, and at most {most} with a command processor and {warps} warp slots")
        },
    },
    Rule {
        field: "cores",
        holds: |config| config.cores + other_requesters(config).len() <= MAX_CORES,
        expected: |config| {
            let others = other_requesters(config);
            format!("1 to {} with {}", MAX_CORES - others.len(), others.join(" and "))
        },
    },
    Rule {
        field: "channels",
        holds: |config| config.channels <= config.l2_banks,
        expected: |config| {
            format!("1, 2 or 4, and at most {} with {} banks of the L2", config.l2_banks, config.l2_banks)
        },
    },
];

impl Config {
    /// Checks every option against its values, the parts for those that they need and exclude, and
    /// the rules between several.
    ///
    /// # Errors
    /// [`ConfigError::Range`] for the first option outside its
    /// values, or beyond what others leave; [`ConfigError::Without`] for a number that needs a part
    /// that is not there; [`ConfigError::With`] for one that no array has together with another
    /// part; [`ConfigError::Needs`] for a part without
    /// another one that it needs, such as a network interface without atomic operations: the L2
    /// performs those of peers, and kernels look with them at what came;
    /// [`ConfigError::Excludes`] for two parts that no array has together.
    pub fn validate(&self) -> Result<(), ConfigError> {
        // A report of an array that no preset made has a name of its own.
        let preset = Self::preset(&self.preset).ok();
        for option in OPTIONS {
            let (field, value) = (option.name, (option.get)(self));
            let values = option.values.words();
            if !option.values.contain(value) {
                return Err(ConfigError::Range { field, value, expected: values });
            }
            if let Some(part) = option.of.filter(|part| value_of(self, part) == 0) {
                // What a preset without the part has stays: nobody gave or took anything.
                let without = preset.as_ref().filter(|preset| value_of(preset, part) == 0);
                let usual = option.usual.unwrap_or_default();
                let otherwise = without.map_or(usual, |preset| (option.get)(preset));
                if ![usual, otherwise].contains(&value) {
                    return Err(match option.values {
                        Values::Switch => ConfigError::Needs { part: field, needs: part },
                        _ => ConfigError::Without { field, value, values, part, otherwise },
                    });
                }
            }
            if value == 0 {
                continue;
            }
            if let Some(needs) = option.needs.filter(|part| value_of(self, part) == 0) {
                return Err(match option.values {
                    Values::Switch => ConfigError::Needs { part: field, needs },
                    _ => ConfigError::Without { field, value, values, part: needs, otherwise: 0 },
                });
            }
            let there = option.excludes.iter().find(|other| value_of(self, other) != 0);
            if let Some(other) = there {
                return Err(match option.values {
                    Values::Switch => ConfigError::Excludes { part: field, other },
                    _ => ConfigError::With { field, value, values, other },
                });
            }
        }
        match RULES.iter().find(|rule| !(rule.holds)(self)) {
            Some(rule) => Err(ConfigError::Range {
                field: rule.field,
                value: value_of(self, rule.field),
                expected: (rule.expected)(self),
            }),
            None => Ok(()),
        }
    }
}
