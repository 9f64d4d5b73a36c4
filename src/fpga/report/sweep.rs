//! Parameters of the array that `hermes fpga report` varies.

use std::str::FromStr;

use hermes_rtl::config::Config;

/// Where a parameter is in the configuration.
#[derive(Clone, Copy, Debug)]
enum Field {
    /// A number.
    Size(fn(&mut Config) -> &mut usize),
    /// A part that is there or not.
    Part(fn(&mut Config) -> &mut bool),
}

/// Parameters that can be swept, by the names of their options.
const FIELDS: [(&str, Field); 18] = [
    ("cores", Field::Size(|config| &mut config.cores)),
    ("lanes", Field::Size(|config| &mut config.lanes)),
    ("warps", Field::Size(|config| &mut config.warps)),
    ("l1-lines", Field::Size(|config| &mut config.l1_lines)),
    ("line-words", Field::Size(|config| &mut config.line_words)),
    ("l2-banks", Field::Size(|config| &mut config.l2_banks)),
    ("l2-lines", Field::Size(|config| &mut config.l2_bank_lines)),
    ("l2-ways", Field::Size(|config| &mut config.l2_ways)),
    ("l2-reservations", Field::Size(|config| &mut config.l2_reservations)),
    ("instruction-cache-lines", Field::Size(|config| &mut config.instruction_cache_lines)),
    ("instruction-cache-ways", Field::Size(|config| &mut config.instruction_cache_ways)),
    ("l2-look-up-cycle", Field::Part(|config| &mut config.l2_look_up_cycle)),
    ("local-window", Field::Part(|config| &mut config.local_window)),
    ("aes", Field::Part(|config| &mut config.aes)),
    ("atomics", Field::Part(|config| &mut config.atomics)),
    ("compare-and-swap", Field::Part(|config| &mut config.compare_and_swap)),
    ("oldest-first", Field::Part(|config| &mut config.oldest_first)),
    ("load-counters", Field::Part(|config| &mut config.load_counters)),
];

/// A parameter and its values, as given by `NAME=VALUE,VALUE`.
#[derive(Clone, Debug)]
pub struct Sweep {
    name: &'static str,
    field: Field,
    /// Numbers; 0 and 1 for a part.
    values: Vec<usize>,
}

impl Sweep {
    fn set(&self, config: &mut Config, value: usize) {
        match self.field {
            Field::Size(field) => *field(config) = value,
            Field::Part(field) => *field(config) = value != 0,
        }
    }

    /// The parameter and its value in `config`, as text.
    pub fn describe(&self, config: &Config) -> String {
        let mut config = config.clone();
        match self.field {
            Field::Size(field) => format!("{} {}", self.name, field(&mut config)),
            Field::Part(field) => format!("{} {}", self.name, field(&mut config)),
        }
    }
}

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = FIELDS.map(|(name, _)| name).join(", ");
        let expected = || format!("expected NAME=VALUE,VALUE, NAME one of {names}");
        let (wanted, values) = text.split_once('=').ok_or_else(expected)?;
        let (name, field) = FIELDS.into_iter().find(|(name, _)| *name == wanted).ok_or_else(expected)?;
        let value = |value: &str| match field {
            Field::Size(_) => value.parse().map_err(|_| format!("{name}: `{value}`; expected a number")),
            Field::Part(_) => value
                .parse::<bool>()
                .map(usize::from)
                .map_err(|_| format!("{name}: `{value}`; expected true or false")),
        };
        Ok(Self { name, field, values: values.split(',').map(value).collect::<Result<_, _>>()? })
    }
}

/// `first` with every combination of the values; the last parameter varies fastest.
pub fn combinations(first: &Config, sweeps: &[Sweep]) -> Vec<Config> {
    sweeps.iter().fold(vec![first.clone()], |all, sweep| {
        let with = |config: &Config, value: &usize| {
            let mut config = config.clone();
            sweep.set(&mut config, *value);
            config
        };
        all.iter().flat_map(|config| sweep.values.iter().map(|value| with(config, value))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(text: &str) -> Sweep {
        text.parse().unwrap()
    }

    #[test]
    fn every_combination_is_there_once() {
        let first = Config::preset("fpga").unwrap();
        let sweeps = [sweep("lanes=2,4"), sweep("warps=4,8"), sweep("l2-look-up-cycle=false,true")];
        let all = combinations(&first, &sweeps);
        let of = |c: &Config| (c.lanes, c.warps, c.l2_look_up_cycle);
        let expected = [
            (2, 4, false),
            (2, 4, true),
            (2, 8, false),
            (2, 8, true),
            (4, 4, false),
            (4, 4, true),
            (4, 8, false),
            (4, 8, true),
        ];
        assert_eq!(all.iter().map(of).collect::<Vec<_>>(), expected);
        let text: Vec<_> = sweeps.iter().map(|sweep| sweep.describe(&all[7])).collect();
        assert_eq!(text, ["lanes 4", "warps 8", "l2-look-up-cycle true"]);
        assert_eq!(combinations(&first, &[]), [first]);
    }

    /// Each name changes the configuration, and no two names the same field.
    #[test]
    fn every_parameter_is_a_field_of_its_own() {
        let mut first = Config::preset("fpga").unwrap();
        let mut seen = Vec::new();
        for (name, field) in FIELDS {
            let sweep = match field {
                Field::Size(_) => sweep(&format!("{name}=12345")),
                Field::Part(part) => sweep(&format!("{name}={}", !*part(&mut first))),
            };
            let changed = combinations(&first, &[sweep]).remove(0);
            assert!(changed != first && !seen.contains(&changed), "{name}");
            seen.push(changed);
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (wrong, message) in [
            ("lanes", "expected NAME=VALUE,VALUE"),
            ("colours=3", "NAME one of cores, lanes"),
            ("lanes=", "lanes: ``; expected a number"),
            ("lanes=2,x", "lanes: `x`; expected a number"),
            ("aes=1", "aes: `1`; expected true or false"),
        ] {
            let error = wrong.parse::<Sweep>().unwrap_err();
            assert!(error.contains(message), "{wrong}: {error}");
        }
    }
}
