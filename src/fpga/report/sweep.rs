//! Parameters of the array that `hermes fpga report` varies.

use std::str::FromStr;

use hermes_rtl::config::{ArrayOption, Config, OPTIONS};

/// A parameter and its values, as given by `NAME=VALUE,VALUE`: the name of an option of the array.
#[derive(Clone, Debug)]
pub struct Sweep {
    option: &'static ArrayOption,
    values: Vec<usize>,
}

impl Sweep {
    /// The parameter and its value in `config`, as text.
    pub fn describe(&self, config: &Config) -> String {
        let name = self.option.command_flag().unwrap_or_default();
        format!("{name} {}", self.option.shown((self.option.get)(config)))
    }
}

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            let names: Vec<_> = OPTIONS.iter().filter_map(ArrayOption::command_flag).collect();
            format!("expected NAME=VALUE,VALUE, NAME one of {}", names.join(", "))
        };
        let (wanted, values) = text.split_once('=').ok_or_else(expected)?;
        let is_wanted = |option: &&ArrayOption| option.command_flag().as_deref() == Some(wanted);
        let option = OPTIONS.iter().find(is_wanted).ok_or_else(expected)?;
        let value = |value: &str| {
            let number = if option.is_switch() {
                value.parse::<bool>().map(usize::from).ok()
            } else {
                value.parse().ok()
            };
            let possible = number.filter(|number| option.values.contain(*number));
            possible.ok_or_else(|| format!("{wanted}: `{value}`; expected {}", option.values.words()))
        };
        Ok(Self { option, values: values.split(',').map(value).collect::<Result<_, _>>()? })
    }
}

/// `first` with every combination of the values; the last parameter varies fastest.
pub fn combinations(first: &Config, sweeps: &[Sweep]) -> Vec<Config> {
    sweeps.iter().fold(vec![first.clone()], |all, sweep| {
        let with = |config: &Config, value: &usize| {
            let mut config = config.clone();
            (sweep.option.set)(&mut config, *value);
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

    #[test]
    fn what_is_wrong_is_told() {
        for (wrong, message) in [
            ("lanes", "expected NAME=VALUE,VALUE"),
            ("colours=3", "NAME one of cores, lanes"),
            ("lanes=", "lanes: ``; expected 1, 2, 4, 8, 16 or 32"),
            ("lanes=2,x", "lanes: `x`; expected 1, 2, 4, 8, 16 or 32"),
            ("lanes=2,3", "lanes: `3`; expected 1, 2, 4, 8, 16 or 32"),
            ("aes=1", "aes: `1`; expected true or false"),
            ("trace=true", "NAME one of cores, lanes"),
        ] {
            let error = wrong.parse::<Sweep>().unwrap_err();
            assert!(error.contains(message), "{wrong}: {error}");
        }
    }
}
