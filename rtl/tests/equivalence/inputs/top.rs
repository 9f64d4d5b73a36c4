//! Configurations of the whole array.

use hermes_rtl::config::Config;

/// Two cores with two warps of two threads each.
pub fn two_cores() -> Config {
    Config { cores: 2, lanes: 2, warps: 2, ..Config::preset("fpga").unwrap() }
}
