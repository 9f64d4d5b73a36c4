//! The functions and chains of the G-NET paper (section 7.1), on tables, rules and packets that are
//! made from a seed.

use std::fs;
use std::path::{Path, PathBuf};

use hermes_rtl::config::Config;

use super::manifest::END;
use super::placed::{Chain, Surroundings};
use super::plan::ChainPlan;
use crate::apps::Inputs;
use crate::staging::temporary_folder;
use crate::tables::{generate_filters, generate_routes, generate_rules, FilterKind};
use crate::traffic::{Aim, Frame, Generator, Kind, Traffic};

/// Filters of the firewall, and rules of the intrusion detection, as many as the paper has.
pub const FILTERS: usize = 188;
/// Rules of the intrusion detection.
pub const RULES: usize = 147;
/// Prefixes of the router.
pub const PREFIXES: usize = 10_000;
/// Output ports of its table.
const PORTS: u16 = 16;
/// A rule whose pattern is shorter would drop much of what `ipsec` has encrypted.
const SHORTEST_PATTERN: usize = 6;

/// A function of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaperFunction {
    /// Its name.
    pub name: &'static str,
    /// The app.
    pub app: &'static str,
    inputs: &'static str,
    /// Warps on a core from which on more of them only add latency.
    pub knee: u32,
}

/// The functions.
pub const FUNCTIONS: [PaperFunction; 4] = [
    PaperFunction { name: "firewall", app: "classifier-bv", inputs: "rules = \"filters\"", knee: 8 },
    PaperFunction { name: "ipsec", app: "ipsec", inputs: "keys = \"keys\"", knee: 2 },
    PaperFunction { name: "nids", app: "nids", inputs: "rules = \"rules\"", knee: 8 },
    PaperFunction { name: "router", app: "route-lookup", inputs: "routes = \"routes\"", knee: 4 },
];

/// The chains.
pub const CHAINS: [(&str, &[&str]); 4] = [
    ("sa", &["ipsec", "nids"]),
    ("sb", &["firewall", "ipsec", "nids"]),
    ("sc", &["ipsec", "nids", "router"]),
    ("sd", &["firewall", "ipsec", "nids", "router"]),
];

const KEYS: &str = "spi 0x1001\nsource 192.0.2.1\ndestination 198.51.100.2\n\
    aes-128-ctr 2b7e151628aed2a6abf7158809cf4f3c\nnonce 00a00b30\n\
    hmac-sha1-96 0102030405060708090a0b0c0d0e0f1011121314\n";

/// The function called `name`, if the paper has it.
#[must_use]
pub fn function(name: &str) -> Option<PaperFunction> {
    FUNCTIONS.into_iter().find(|function| function.name == name)
}

/// Manifests and inputs of the functions in a folder.
#[derive(Debug)]
pub struct PaperChains {
    folder: tempfile::TempDir,
    aim: Aim,
    seed: u64,
    /// What the functions look up, as text.
    pub inputs: String,
}

impl PaperChains {
    /// Makes the inputs from `seed`.
    ///
    /// # Errors
    /// Any of the file system.
    pub fn create(seed: u64) -> anyhow::Result<Self> {
        let folder = temporary_folder("hermes-")?;
        let filters = generate_filters(FilterKind::Firewall, FILTERS, 0, seed);
        let routes = generate_routes(PREFIXES, PORTS, seed);
        let has_long_pattern = |rule: &&str| {
            let pattern = rule.split("content:\"").nth(1).and_then(|rest| rest.split('"').next());
            pattern.is_some_and(|text| text.len() >= SHORTEST_PATTERN && !text.contains('|'))
        };
        let rules = generate_rules(4 * RULES, seed);
        let rules: Vec<_> = rules.lines().filter(has_long_pattern).take(RULES).collect();
        // The end of the tunnel is where all packets behind `ipsec` go.
        let table = format!("{}\n198.51.100.0/24 3\n", routes.to_text());
        let mut inputs = String::new();
        for (name, text) in [
            ("filters", filters.to_text()),
            ("routes", table),
            ("rules", rules.join("\n") + "\n"),
            ("keys", KEYS.to_string()),
        ] {
            fs::write(folder.path().join(name), &text)?;
            inputs += &text;
        }
        for PaperFunction { name, app, inputs, .. } in FUNCTIONS {
            let text = format!(
                "[function]\nname = \"{name}\"\napp = \"{app}\"\ninputs = {{ {inputs} }}\ntrusted = true\n"
            );
            fs::write(folder.path().join(format!("{name}.toml")), text)?;
        }
        let aim = Aim { filters: filters.filters, routes: routes.routes, ..Aim::default() };
        Ok(Self { folder, aim, seed, inputs })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A chain of these functions for frames of up to `bytes` bytes, each with its warps of the
    /// knee and as many cores as the others.
    ///
    /// # Errors
    /// A function is not known, or they do not fit the array.
    pub fn chain(
        &self,
        functions: &[&str],
        config: &Config,
        memory_bytes: u64,
        bytes: usize,
    ) -> anyhow::Result<Chain> {
        let mut text = String::new();
        for (number, name) in functions.iter().enumerate() {
            let next = functions.get(number + 1).copied().unwrap_or(END);
            text += &format!("[[function]]\nmanifest = \"{name}.toml\"\nnext = \"{next}\"\n");
        }
        let path = self.path().join("chain.toml");
        fs::write(&path, text)?;
        let on = Surroundings { config, memory_bytes, frame_bytes: Some(u32::try_from(bytes)?) };
        let mut chain = ChainPlan::read(&path)?.place(on)?;
        for one in &mut chain.functions {
            let knee = function(&one.name).map_or(one.mcw, |function| function.knee);
            one.mcw = one.mcw.min(knee);
        }
        Ok(chain)
    }

    /// `count` frames of `bytes` bytes for a chain of `functions`: most match a filter or a route;
    /// all of them a route if a router sees them as they come, and no firewall.
    #[must_use]
    pub fn frames(&self, functions: &[&str], bytes: usize, count: usize) -> Vec<Frame> {
        let mut before = functions.iter().take_while(|name| **name != "router");
        let routed =
            functions.contains(&"router") && !before.any(|name| ["ipsec", "firewall"].contains(name));
        let aim = match routed {
            true => Aim { routes: self.aim.routes.clone(), ..Aim::default() },
            false => self.aim.clone(),
        };
        let traffic = Traffic { kind: Kind::Fixed(bytes), seed: self.seed, bad_share: 0.0, rate: 100.0 };
        Generator::aimed(traffic, aim).take(count).collect()
    }

    /// The inputs of an app.
    #[must_use]
    pub fn inputs(&self, app: &str) -> Inputs {
        let file = |name: &str| -> Option<PathBuf> { Some(self.path().join(name)) };
        match app {
            "classifier-bv" => Inputs { rules: file("filters"), ..Inputs::default() },
            "nids" => Inputs { rules: file("rules"), ..Inputs::default() },
            "route-lookup" => Inputs { routes: file("routes"), ..Inputs::default() },
            _ => Inputs { keys: file("keys"), ..Inputs::default() },
        }
    }
}
