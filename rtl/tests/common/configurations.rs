//! The arrays whose Verilog is on record.

use hermes_rtl::config::{Config, ConfigError, OPTIONS};

/// The preset with the values that options have in one of the two configurations with many of them,
/// but for those that it cannot have there.
fn with_options(plain: &Config, which: usize) -> Config {
    let mut config = plain.clone();
    for option in OPTIONS {
        if let Some(value) = option.golden[which] {
            (option.set)(&mut config, value);
        }
    }
    // As many areas as there are queues for.
    if matches!(config.validate(), Err(ConfigError::Range { field: "net_domains", .. })) {
        config.net_domains = plain.net_domains;
    }
    config.validate().unwrap();
    config
}

/// The presets as they are, with everything that there is but a trace buffer, and with that: no
/// array has a thread spawner beside it. Network functions, which exclude much, are on their own.
pub fn configurations() -> Vec<(String, Config)> {
    let mut list = Vec::new();
    for preset in Config::PRESETS {
        let plain = Config::preset(preset).unwrap();
        if preset == "default" {
            let functions = Config { network_functions: 4, packet_ports: true, trace: true, ..plain.clone() };
            let branches = Config { function_branches: true, ..functions.clone() };
            list.push((format!("{preset}-network-functions"), functions));
            list.push((format!("{preset}-function-branches"), branches));
        }
        let (all, rest) = (with_options(&plain, 0), with_options(&plain, 1));
        list.push((preset.to_string(), plain));
        list.push((format!("{preset}-all-options"), all));
        list.push((format!("{preset}-other-options"), rest));
    }
    list
}
