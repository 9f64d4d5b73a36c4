//! Presets, checks and messages.

use super::*;

/// `paper` has half as many commands of a queue under way as the other presets.
#[test]
fn queue_entries_of_presets() {
    for name in Config::PRESETS {
        let entries = Config::preset(name).unwrap().net_queue_entries;
        assert_eq!(entries, if name == "paper" { 4 } else { 8 }, "{name}");
    }
}

#[test]
fn presets_are_valid() {
    for name in Config::PRESETS {
        Config::preset(name).unwrap().validate().unwrap();
    }
}

/// What is declared hangs together: names are there once, other options that are named exist, each
/// preset has a value that is possible, and no value is declared twice.
#[test]
fn declarations_hang_together() {
    let is_option = |name: &str| ArrayOption::find(name).is_some();
    for (k, option) in OPTIONS.iter().enumerate() {
        let name = option.name;
        assert!(OPTIONS[..k].iter().all(|other| other.name != name), "{name}: declared twice");
        assert!(option.doc().len() > 5, "{name}: what is it?");
        let others = option.of.iter().chain(&option.needs).chain(option.excludes);
        others.for_each(|other| assert!(is_option(other), "{name}: {other}"));
        for (preset, value) in option.presets {
            assert!(Config::PRESETS.contains(preset), "{name}: {preset}");
            assert!(option.usual != Some(*value), "{name}: the usual value in {preset}");
        }
        for preset in Config::PRESETS {
            let declared = option.presets.iter().filter(|(name, _)| *name == preset).count();
            assert!(declared == 1 || (declared == 0 && option.usual.is_some()), "{name} in {preset}");
            assert!(option.values.contain(option.in_preset(preset)), "{name} in {preset}");
        }
        option.golden.iter().flatten().for_each(|value| assert!(option.values.contain(*value), "{name}"));
    }
}

/// Reading and writing a field by its option meet the same field, and no other.
#[test]
fn options_reach_their_fields() {
    for option in OPTIONS {
        let mut config = Config::preset("paper").unwrap();
        let before = serde_json::to_value(&config).unwrap();
        let other = usize::from((option.get)(&config) == 0);
        (option.set)(&mut config, other);
        assert_eq!((option.get)(&config), other, "{}", option.name);
        let after = serde_json::to_value(&config).unwrap();
        let (before, after) = (before.as_object().unwrap(), after.as_object().unwrap());
        let changed: Vec<_> = before.keys().filter(|key| before[*key] != after[*key]).collect();
        assert_eq!(changed, [option.name]);
    }
}

#[test]
fn values_in_words() {
    for (values, words, inside, outside) in [
        (Values::Range(1, 32), "1 to 32", &[1, 32][..], &[0, 33][..]),
        (Values::Choices(&[1, 2, 4]), "1, 2 or 4", &[1, 4], &[0, 3, 8]),
        (Values::Choices(&[7]), "7", &[7], &[0]),
        (Values::Powers(16, 64), "a power of two, 16 to 64", &[16, 32, 64], &[0, 8, 48, 128]),
        (Values::NoneOrPowers(16, 64), "0 or a power of two, 16 to 64", &[0, 16, 64], &[1, 48, 128]),
        (Values::Switch, "true or false", &[0, 1], &[2]),
    ] {
        assert_eq!(values.words(), words);
        assert!(inside.iter().all(|value| values.contain(*value)), "{words}");
        assert!(outside.iter().all(|value| !values.contain(*value)), "{words}");
    }
}

#[test]
fn configurations_are_read_as_they_were_written() {
    for name in Config::PRESETS {
        let config = Config::preset(name).unwrap();
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<Config>(&text).unwrap(), config);
    }
    let read = |name: &str, value: Option<serde_json::Value>| {
        let mut fields = serde_json::to_value(Config::preset("default").unwrap()).unwrap();
        let fields = fields.as_object_mut().unwrap();
        fields.remove(name);
        fields.extend(value.map(|value| (name.to_string(), value)));
        serde_json::from_value::<Config>(fields.clone().into()).map_err(|error| error.to_string())
    };
    assert_eq!(read("line_words", None).unwrap().line_words, 4);
    for (name, value, expected) in [
        ("cores", None, "missing field `cores`"),
        ("preset", None, "missing field `preset`"),
        ("preset", Some(3.into()), "preset: 3 is not possible; expected a name"),
        ("aes", Some(1.into()), "aes: 1 is not possible; expected true or false"),
        ("cores", Some(true.into()), "cores: true is not possible; expected 1 to 32"),
        ("cores", Some((-1).into()), "cores: -1 is not possible; expected 1 to 32"),
        ("cores", Some("x".into()), "cores: `x` is not possible; expected 1 to 32"),
        (
            "lanes",
            Some(vec![8].into()),
            "lanes: what stands there is not possible; expected 1, 2, 4, 8, 16 or 32",
        ),
        ("coers", Some(1.into()), "coers: is not known"),
    ] {
        let error = read(name, value).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    let twice = r#"{"preset": "paper", "cores": 1, "cores": 2}"#;
    let error = serde_json::from_str::<Config>(twice).unwrap_err().to_string();
    assert!(error.starts_with("cores: stands there twice"), "{error}");
}

/// To renew the page after a change of an option:
/// `HERMES_UPDATE=1 cargo test -p hermes-rtl --lib config`.
#[test]
fn the_page_in_docs_follows_the_options() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/options.md");
    if std::env::var_os("HERMES_UPDATE").is_some() {
        std::fs::write(path, options_page()).unwrap();
    }
    let page = std::fs::read_to_string(path).unwrap_or_default();
    assert!(page == options_page(), "docs/options.md is not up to date; renew it with HERMES_UPDATE=1");
}

#[test]
fn errors_name_the_field_and_what_was_expected() {
    let error = Config::preset("papre").unwrap_err().to_string();
    assert_eq!(error, "preset: `papre` is not known; expected one of paper, default, fpga, pangaea, node");
    let config = Config { lanes: 12, ..Config::preset("default").unwrap() };
    let error = config.validate().unwrap_err().to_string();
    assert_eq!(error, "lanes: 12 is not possible; expected 1, 2, 4, 8, 16 or 32");
    let config = Config { command_threads: 3, ..Config::preset("default").unwrap() };
    let error = config.validate().unwrap_err().to_string();
    assert_eq!(error, "command_threads: 3 is not possible; expected 0, 1, 2, 4 or 8");
    let plain = Config::preset("default").unwrap();
    let wrong = |config: Config| config.validate().unwrap_err().to_string();
    for command_cache_lines in [48, 1024] {
        let error = wrong(Config { command_threads: 1, command_cache_lines, ..plain.clone() });
        let expected = "is not possible; expected 0 or a power of two, 16 to 512";
        assert_eq!(error, format!("command_cache_lines: {command_cache_lines} {expected}"));
    }
    let error = wrong(Config { command_cache_lines: 64, ..plain.clone() });
    assert_eq!(error, "command_cache_lines: 64 is not possible without `command_threads`; expected 0 or a power of two, 16 to 512, and 0 without `command_threads`");
    for (command_threads, uli_channels, expected) in [
        (1, 3, "; expected 0, 1, 2, 4 or 8"),
        (4, 8, "; expected 0, 1, 2, 4 or 8, and at most 4 with 4 harts"),
        (8, 4, "; expected 0, 1, 2, 4 or 8, and at most 2 with 8 harts"),
        (0, 2, " without `command_threads`; expected 0, 1, 2, 4 or 8, and 0 without `command_threads`"),
        (1, 16, "; expected 0, 1, 2, 4 or 8"),
    ] {
        let error = wrong(Config { command_threads, uli_channels, ..plain.clone() });
        assert_eq!(error, format!("uli_channels: {uli_channels} is not possible{expected}"));
    }
    let config = Config { spawn_slots: 12, ..Config::preset("default").unwrap() };
    let error = config.validate().unwrap_err().to_string();
    assert_eq!(error, "spawn_slots: 12 is not possible; expected 0, 8 or 16");
    let config = Config { cores: 31, packet_ports: true, ..Config::preset("default").unwrap() };
    let error = Config { command_threads: 1, ..config.clone() }.validate().unwrap_err().to_string();
    assert_eq!(
        error,
        "cores: 31 is not possible; expected 1 to 30 with packet ports and a command processor"
    );
    config.validate().unwrap();
    let error = Config { cores: 32, packet_ports: false, atomics: true, network: true, ..config }
        .validate()
        .unwrap_err();
    let expected = "1 to 31 with a network interface";
    assert_eq!(error.to_string(), format!("cores: 32 is not possible; expected {expected}"));
    let config = Config { network: true, ..Config::preset("default").unwrap() };
    let error = config.validate().unwrap_err().to_string();
    assert_eq!(error, "network: not possible without `atomics`");
    let config = Config { drop_when_full: true, ..Config::preset("default").unwrap() };
    let error = config.validate().unwrap_err().to_string();
    assert_eq!(error, "drop_when_full: not possible without `packet_ports`");
    for (network, net_domains, expected) in [
        (true, 3, "; expected 1, 2, 4 or 8"),
        (true, 16, "; expected 1, 2, 4 or 8"),
        (false, 2, " without `network`; expected 1, 2, 4 or 8, and 1 without `network`"),
        (false, 0, "; expected 1, 2, 4 or 8"),
    ] {
        let error = wrong(Config { network, atomics: true, net_domains, ..plain.clone() });
        assert_eq!(error, format!("net_domains: {net_domains} is not possible{expected}"));
    }
    for (preset, network, net_queue_entries, expected) in [
        ("default", true, 0, Some("; expected 1, 2, 4 or 8")),
        ("default", true, 3, Some("; expected 1, 2, 4 or 8")),
        ("default", true, 16, Some("; expected 1, 2, 4 or 8")),
        ("default", true, 1, None),
        ("default", false, 4, Some(" without `network`; expected 1, 2, 4 or 8, and 8 without `network`")),
        ("paper", false, 2, Some(" without `network`; expected 1, 2, 4 or 8, and 4 without `network`")),
        ("paper", true, 2, None),
        ("paper", false, 4, None),
        ("paper", false, 8, None),
    ] {
        let plain = Config::preset(preset).unwrap();
        let config = Config { network, atomics: true, net_queue_entries, ..plain };
        let error = config.validate().err().map(|error| error.to_string());
        let told = |expected| format!("net_queue_entries: {net_queue_entries} is not possible{expected}");
        assert_eq!(error, expected.map(told), "{preset}");
    }
    for trace_buffer in [8, 48, 32768] {
        let error = wrong(Config { trace_buffer, ..plain.clone() });
        let expected = "is not possible; expected 0 or a power of two, 16 to 16384";
        assert_eq!(error, format!("trace_buffer: {trace_buffer} {expected}"));
    }
    let error = wrong(Config { trace_buffer: 64, spawn_slots: 8, ..plain.clone() });
    assert_eq!(error, "trace_buffer: 64 is not possible with `spawn_slots`; expected 0 or a power of two, 16 to 16384, and 0 with `spawn_slots`");
    let error = wrong(Config { l2_reservations: 2, ..plain.clone() });
    assert_eq!(error, "l2_reservations: 2 is not possible without `atomics`; expected 1, 2, 4 or 8, and 1 without `atomics`");
    // An array that no preset made has a name of its own.
    Config { preset: "mine".to_string(), ..plain }.validate().unwrap();
    let config = Config { network_functions: 3, ..Config::preset("default").unwrap() };
    let error = config.validate().unwrap_err().to_string();
    assert_eq!(error, "network_functions: 3 is not possible; expected 0, 2, 4 or 8");
    let config = Config { network_functions: 2, ..Config::preset("default").unwrap() };
    config.validate().unwrap();
    let error = Config { local_window: false, ..config.clone() }.validate().unwrap_err().to_string();
    assert_eq!(error, "network_functions: 2 is not possible without `local_window`; expected 0, 2, 4 or 8, and 0 without `local_window`");
    for (other, config) in [
        ("spawn_slots", Config { spawn_slots: 8, ..config.clone() }),
        ("network", Config { network: true, atomics: true, ..config.clone() }),
        ("trace_buffer", Config { trace_buffer: 64, ..config.clone() }),
        ("adaptive_timeout", Config { adaptive_timeout: true, ..config.clone() }),
        ("load_counters", Config { load_counters: true, ..config }),
    ] {
        let error = config.validate().unwrap_err().to_string();
        assert_eq!(error, format!("network_functions: 2 is not possible with `{other}`; expected 0, 2, 4 or 8, and 0 with `{other}`"));
    }
    let config = Config { function_branches: true, ..Config::preset("default").unwrap() };
    let error = config.validate().unwrap_err().to_string();
    assert_eq!(error, "function_branches: not possible without `network_functions`");
    let config = Config { channels: 2, ..Config::preset("fpga").unwrap() };
    let error = config.validate().unwrap_err().to_string();
    assert_eq!(
        error,
        "channels: 2 is not possible; expected 1, 2 or 4, and at most 1 with 1 banks of the L2"
    );
}
