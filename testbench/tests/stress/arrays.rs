//! Random arrays.

use hermes_rtl::config::{ArrayOption, Config, Values, OPTIONS};
use rand::seq::SliceRandom as _;
use rand::Rng as _;
use rand_chacha::ChaCha8Rng;

/// Lanes of all cores, at most: larger arrays take minutes to build.
const LANES: usize = 8;

/// A value that the option can have, a small one.
fn value(option: &ArrayOption, random: &mut ChaCha8Rng) -> usize {
    let power =
        |random: &mut ChaCha8Rng, first: usize, last: usize| (first << random.gen_range(0..3)).min(last);
    match option.values {
        Values::Switch => random.gen_range(0..2),
        Values::Range(first, last) => random.gen_range(first..=last.min(first + 6)),
        Values::Choices(choices) => *choices[..choices.len().min(4)].choose(random).expect("has values"),
        Values::Powers(first, last) => power(random, first, last),
        Values::NoneOrPowers(first, last) => {
            if random.gen() {
                power(random, first, last)
            } else {
                0
            }
        }
    }
}

/// A small array with random options: from a preset, each option may change to any value with which
/// the array is still a valid one.
pub fn draw(random: &mut ChaCha8Rng) -> Config {
    let preset = *Config::PRESETS.choose(random).expect("has presets");
    let mut config = Config::preset(preset).unwrap();
    for option in OPTIONS {
        // What makes an array large is small, whatever the preset has.
        if matches!(option.values, Values::Powers(..)) || ["cores", "lanes", "warps"].contains(&option.name) {
            let before = config.clone();
            (option.set)(&mut config, value(option, random));
            if config.validate().is_err() {
                config = before;
            }
        }
    }
    while config.cores * config.lanes > LANES {
        let of_cores = config.cores >= config.lanes;
        let number = if of_cores { &mut config.cores } else { &mut config.lanes };
        *number /= 2;
    }
    let mut order: Vec<_> = OPTIONS.iter().collect();
    // What needs another part may come before it in the first turn.
    for _ in 0..2 {
        order.shuffle(random);
        for option in &order {
            let before = config.clone();
            if random.gen_bool(0.4) {
                (option.set)(&mut config, value(option, random));
            }
            if config.validate().is_err() || config.cores * config.lanes > LANES {
                config = before;
            }
        }
    }
    config.trace = true;
    config.validate().unwrap();
    config
}

/// Random arrays have every option with more than one value, and none is too large. All have the
/// trace, which programs are compared by.
#[test]
fn every_option_is_drawn() {
    use rand::SeedableRng as _;
    let arrays: Vec<_> = (0..200).map(|seed| draw(&mut ChaCha8Rng::seed_from_u64(seed))).collect();
    for option in OPTIONS.iter().filter(|option| option.name != "trace") {
        let values: std::collections::BTreeSet<_> =
            arrays.iter().map(|config| (option.get)(config)).collect();
        assert!(values.len() > 1, "{}: {values:?}", option.name);
    }
    assert!(arrays.iter().all(|config| config.cores * config.lanes <= LANES));
    let is_switch = |option: &&ArrayOption| option.values == Values::Switch && option.name != "trace";
    let plain = arrays.iter().filter(|config| {
        let preset = &config.preset;
        OPTIONS.iter().filter(is_switch).all(|option| (option.get)(config) == option.in_preset(preset))
    });
    let plain: Vec<_> = plain.map(|config| serde_json::to_string(config).unwrap()).collect();
    assert!(plain.len() < 20, "{} arrays of 200 have the switches of their preset: {plain:#?}", plain.len());
}
