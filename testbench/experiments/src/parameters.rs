//! What a simulation is of.

use std::ops::RangeInclusive;
use std::str::FromStr as _;

use anyhow::{bail, ensure, Context};
use hermes_rtl::config::Config;
use hermes_testbench::apps::AppEntry;
use hermes_testbench::cosim::{AdaptiveTimeout, Latency};
use hermes_testbench::traffic::{ArrivalProcess, Kind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chains::ChainRun;
use crate::machine::Machine;
use crate::media::Media;
use crate::nodes::Nodes;

/// Most packets of a job: one that takes longer cannot be spread over machines.
const MOST_PACKETS: usize = 1 << 20;
/// Most entries of a table that is made from the seed.
const MOST_ENTRIES: usize = 1_000_000;
/// The most banks of an L2.
const MOST_BANKS: usize = 8;

/// Cycles that firmware can aim at: shorter ones end before it has looked, and in longer ones the
/// product with the warps that commit would not fit 32 bits.
const DELAY_TARGETS: RangeInclusive<u32> = 200..=1_000_000;

/// How packets come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Through {
    /// The host writes them to the ring and reads them there, without bandwidth: figures are those
    /// of the header path.
    Host,
    /// Through the packet ports of the array.
    Ports,
}

/// What becomes of a frame that finds no free slot at the packet ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenFull {
    /// It waits for one.
    Wait,
    /// It is dropped whole.
    Drop,
}

/// What a simulation is of: everything that its result depends on, but the code.
///
/// In a [sweep](crate::Sweep) each field has its name here; those of the array are
/// `array.NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// App, as `hermes apps` lists them.
    pub app: String,
    /// Configuration of the array.
    pub array: Config,
    /// Maximally allowed concurrent warps of a core.
    pub mcw: u32,
    /// Packets of the run.
    pub packets: usize,
    /// Kind of packets: `fixed:BYTES` (captured bytes, without FCS), `imix`,
    /// `bimodal:PERCENT` or `tcp-mix`.
    pub frames: String,
    /// When they arrive, as `--arrivals` of `hermes run` takes it.
    pub arrivals: String,
    /// Seed of tables.
    pub seed: u64,
    /// Seed of packets and arrivals.
    pub packet_seed: u64,
    /// Prefixes of the routing table.
    pub prefixes: usize,
    /// Filters of the classifiers.
    pub filters: usize,
    /// Rules whose patterns are searched.
    pub pattern_rules: usize,
    /// Cycles that the oldest waiting packet waits for a full warp; if that follows the traffic,
    /// those from which on a packet need not wait.
    pub timeout: u32,
    /// Quarters of the time in which a warp arrives that the packet waits (register
    /// TIMEOUT_FACTOR); 0: it waits `timeout` cycles.
    pub timeout_factor: u32,
    /// Quarters of a warp for each core: with fewer on the cores no packet waits, if the time-out
    /// follows the traffic (register TIMEOUT_EAGER).
    pub timeout_eager: u32,
    /// Whether a partial warp is formed at once when a warp slot is idle.
    pub eager: bool,
    /// Cycles that firmware aims at for the time of a warp on the cores, by the MCW
    /// (`delay-governor.c`); 0: no firmware runs.
    pub delay_target: u32,
    /// Packets that the host gathers before it tells the array of them.
    pub push_packets: u32,
    /// Timing of the memory: cycles of a fixed latency, or `dram:NAME=N,...`.
    pub memory: String,
    /// How packets come and go.
    pub through: Through,
    /// What becomes of a frame that finds no free slot.
    pub when_full: WhenFull,
    /// A workload of the Pangaea paper instead of packets: `app` is its name then, and of the rest
    /// only `array`, `seed` and `memory` mean something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<Media>,
    /// A measurement of the array itself instead of packets: of the rest only `array` and `memory`
    /// mean something then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// A workload of several nodes instead of packets: of the rest only `array`, `seed` (of the
    /// first packet sequence numbers) and `memory` mean something then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Nodes>,
    /// A chain of network functions instead of an app: `app` is the first function's then, `mcw`
    /// its warps, and tables are as large as the paper's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<ChainRun>,
}

impl Parameters {
    /// `app` on the array of the paper with two channels of memory that answer after 100 cycles:
    /// 16,384 packets of 64 bytes with FCS that are all there from the start, MCW 16.
    ///
    /// # Errors
    /// There is no preset `paper`, which is an error of this program.
    pub fn of(app: &str) -> anyhow::Result<Self> {
        Ok(Self {
            app: app.to_string(),
            array: Config { channels: 2, ..Config::preset("paper")? },
            mcw: 16,
            packets: 16_384,
            frames: "fixed:60".to_string(),
            arrivals: "max".to_string(),
            seed: 1,
            packet_seed: 1,
            prefixes: 10_000,
            filters: 100,
            pattern_rules: 100,
            timeout: 256,
            timeout_factor: 0,
            timeout_eager: AdaptiveTimeout::default().eager,
            eager: false,
            delay_target: 0,
            push_packets: 1,
            memory: "100".to_string(),
            through: Through::Host,
            when_full: WhenFull::Wait,
            nodes: None,
            media: None,
            machine: None,
            chain: None,
        })
    }

    /// A workload of the Pangaea paper on the preset `pangaea`, with memory that answers after 60
    /// cycles.
    ///
    /// # Errors
    /// There is no preset `pangaea`, which is an error of this program.
    pub fn of_media(media: Media) -> anyhow::Result<Self> {
        let array = Config::preset("pangaea")?;
        Ok(Self {
            mcw: array.warps as u32,
            array,
            memory: "60".to_string(),
            media: Some(media),
            ..Self::of(media.kernel.name())?
        })
    }

    /// A measurement of the preset `pangaea`, with memory that answers after 60 cycles.
    ///
    /// # Errors
    /// There is no preset `pangaea`, which is an error of this program.
    pub fn of_machine(machine: Machine) -> anyhow::Result<Self> {
        let array = Config::preset("pangaea")?;
        let mcw = array.warps as u32;
        Ok(Self { mcw, array, memory: "60".to_string(), machine: Some(machine), ..Self::of("dec-ttl")? })
    }

    /// A chain of the G-NET paper on the preset `paper` with `cores` cores, AES, packet ports and
    /// room for four functions; packets wait for full warps.
    ///
    /// # Errors
    /// A function is not known, or there is no preset `paper`.
    pub fn of_chain(chain: ChainRun, cores: usize) -> anyhow::Result<Self> {
        let first = chain.functions.first().and_then(|name| hermes_testbench::chain::paper::function(name));
        let usual = Self::of(first.context("chain.functions: expected one or more")?.app)?;
        let l2_banks = usual.array.l2_banks.max(usual.array.channels);
        let array =
            Config { cores, l2_banks, network_functions: 4, packet_ports: true, aes: true, ..usual.array };
        Ok(Self {
            array,
            mcw: chain.warps.first().copied().unwrap_or(1),
            timeout: 1 << 16,
            through: Through::Ports,
            chain: Some(chain),
            ..usual
        })
    }

    /// A workload of several nodes, each the preset `node` with so many cores and harts, whose
    /// memory answers after 60 cycles. Its L2 has two banks a core, a power of two in all, and 8 at
    /// most.
    ///
    /// # Errors
    /// There is no preset `node`, which is an error of this program.
    pub fn of_nodes(nodes: Nodes, cores: usize, harts: usize) -> anyhow::Result<Self> {
        let node = Config::preset("node")?;
        let l2_banks = (node.l2_banks * cores / node.cores).next_power_of_two().min(MOST_BANKS);
        let array = Config { cores, l2_banks, command_threads: harts, ..node };
        let mcw = array.warps as u32;
        Ok(Self { mcw, array, memory: "60".to_string(), nodes: Some(nodes), ..Self::of("dec-ttl")? })
    }

    /// These with another value in the field called `name`, of the array if it is `array.NAME`.
    ///
    /// # Errors
    /// There is no such field, or the value is of another kind. The values are not checked.
    pub fn with(&self, name: &str, value: Value) -> anyhow::Result<Self> {
        ensure!(name != "array.preset", "expected `preset` beside [set] and [sweep]");
        ensure!(!name.contains('/'), "not known; expected one of {}", self.names()?);
        let mut fields = serde_json::to_value(self)?;
        let path = format!("/{}", name.replace('.', "/"));
        let Some(place) = fields.pointer_mut(&path).filter(|place| !place.is_object()) else {
            bail!("not known; expected one of {}", self.names()?);
        };
        *place = value;
        serde_json::from_value(fields).context("expected another kind of value")
    }

    /// All fields with their values, those of the array last and as `array.NAME`.
    ///
    /// # Errors
    /// They cannot be written as JSON, which is an error of this program.
    pub fn fields(&self) -> anyhow::Result<Vec<(String, Value)>> {
        let (mut outer, mut inner) = (Vec::new(), Vec::new());
        for (name, value) in serde_json::to_value(self)?.as_object().into_iter().flatten() {
            match value.as_object() {
                Some(array) => {
                    inner.extend(
                        array.iter().map(|(field, value)| (format!("{name}.{field}"), value.clone())),
                    );
                }
                None => outer.push((name.clone(), value.clone())),
            }
        }
        outer.extend(inner);
        Ok(outer)
    }

    /// The names of all fields.
    fn names(&self) -> anyhow::Result<String> {
        Ok(self.fields()?.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(", "))
    }

    /// Makes sure that the fields of `other` are these, but for those called `free`.
    ///
    /// # Errors
    /// The first that differs, with its values; `whose` says whose are expected.
    pub fn same_but_for(&self, other: &Self, free: &[&str], whose: &str) -> anyhow::Result<()> {
        for ((name, expected), (_, found)) in self.fields()?.iter().zip(&other.fields()?) {
            let is_same = found == expected || free.contains(&name.as_str());
            ensure!(is_same, "{name} {found}: expected {expected}, {whose}");
        }
        Ok(())
    }

    /// These with what `text`, `NAME=VALUE`, says.
    ///
    /// # Errors
    /// As [`Self::with`], or the text has another form.
    pub fn with_text(&self, text: &str) -> anyhow::Result<Self> {
        let (name, value) = text.split_once('=').with_context(|| format!("`{text}`: expected NAME=VALUE"))?;
        // What is no number and no truth value is text.
        let word = || Value::String(value.to_string());
        let value = match serde_json::from_str(value) {
            Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
            _ => word(),
        };
        // `memory` is text, and may be a number of cycles.
        let made = self.with(name, value);
        made.or_else(|error| self.with(name, word()).map_err(|_| error)).with_context(|| format!("`{text}`"))
    }

    /// Checks all values that can be checked without making the tables.
    ///
    /// # Errors
    /// The first that cannot be used: its field, and what was expected.
    pub fn validate(&self) -> anyhow::Result<()> {
        let Self { packets, mcw, timeout, .. } = *self;
        if let Some(nodes) = &self.nodes {
            self.array.validate().context("array")?;
            self.latency()?;
            return nodes.validate(&self.array);
        }
        if let Some(machine) = self.machine {
            self.array.validate().context("array")?;
            self.latency()?;
            return machine.validate(&self.array);
        }
        if let Some(media) = self.media {
            let name = media.kernel.name();
            ensure!(self.app == name, "app `{}`: expected {name}, the workload", self.app);
            self.array.validate().context("array")?;
            self.latency()?;
            return media.validate(&self.array);
        }
        if let Some(chain) = &self.chain {
            chain.validate(&self.array)?;
        }
        AppEntry::find(&self.app).with_context(|| format!("app `{}`", self.app))?;
        self.array.validate().context("array")?;
        let slots = self.array.warps;
        ensure!(
            (1..=slots as u32).contains(&mcw),
            "mcw {mcw}: expected 1 to {slots}, the warp slots of a core"
        );
        ensure!((1..=MOST_PACKETS).contains(&packets), "packets {packets}: expected 1 to {MOST_PACKETS}");
        ensure!(timeout >= 1, "timeout {timeout}: expected at least 1 cycle");
        for (name, value) in [("timeout_factor", self.timeout_factor), ("timeout_eager", self.timeout_eager)]
        {
            ensure!(value <= 255, "{name} {value}: expected 0 to 255 quarters");
        }
        ensure!(
            self.timeout_factor == 0 || self.array.adaptive_timeout,
            "timeout_factor {}: expected 0, or an array with array.adaptive_timeout = true",
            self.timeout_factor
        );
        for (name, entries) in
            [("prefixes", self.prefixes), ("filters", self.filters), ("pattern_rules", self.pattern_rules)]
        {
            ensure!((1..=MOST_ENTRIES).contains(&entries), "{name} {entries}: expected 1 to {MOST_ENTRIES}");
        }
        let target = self.delay_target;
        ensure!(
            target == 0 || DELAY_TARGETS.contains(&target),
            "delay_target {target}: expected {} to {}, or 0",
            DELAY_TARGETS.start(),
            DELAY_TARGETS.end()
        );
        ensure!(
            target == 0 || self.array.command_threads > 0,
            "delay_target {target}: expected 0, or an array with a command processor (array.command_threads)"
        );
        self.kind()?;
        self.arrival_process()?;
        self.latency()?;
        let push = self.push_packets;
        ensure!(push >= 1, "push_packets {push}: expected at least 1");
        ensure!(
            push == 1 || self.through == Through::Host,
            "push_packets {push}: expected 1 through the ports, which tell the array of each packet"
        );
        let ports = self.array.packet_ports;
        ensure!(
            self.through == Through::Host || ports,
            "through `ports`: expected an array with packet ports (array.packet_ports = true)"
        );
        ensure!(
            self.when_full == WhenFull::Wait || self.through == Through::Ports,
            "when_full `drop`: expected through `ports`; the host pushes no packet without a slot"
        );
        ensure!(
            self.when_full == WhenFull::Wait || self.array.drop_when_full,
            "when_full `drop`: expected an array whose ports drop (array.drop_when_full = true)"
        );
        Ok(())
    }

    /// How the time-out follows the traffic, if it does.
    #[must_use]
    pub fn adaptive_timeout(&self) -> Option<AdaptiveTimeout> {
        let (factor, eager) = (self.timeout_factor, self.timeout_eager);
        (factor > 0).then(|| AdaptiveTimeout { factor, eager, ..AdaptiveTimeout::default() })
    }

    /// The kind of packets.
    ///
    /// # Errors
    /// It is not known.
    pub fn kind(&self) -> anyhow::Result<Kind> {
        Kind::from_str(&self.frames).map_err(|error| anyhow::anyhow!("frames {error}"))
    }

    /// When they arrive.
    ///
    /// # Errors
    /// It is not known.
    pub fn arrival_process(&self) -> anyhow::Result<ArrivalProcess> {
        ArrivalProcess::from_str(&self.arrivals).map_err(|error| anyhow::anyhow!("arrivals {error}"))
    }

    /// The timing of the memory.
    ///
    /// # Errors
    /// It is not known.
    pub fn latency(&self) -> anyhow::Result<Latency> {
        Latency::from_str(&self.memory).map_err(|error| anyhow::anyhow!("memory `{}`: {error}", self.memory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_by_its_text() {
        let base = Parameters::of("dec-ttl").unwrap();
        let with = |text: &str| base.with_text(text).map_err(|error| format!("{error:#}"));
        assert_eq!(with("array.cores=4").unwrap().array.cores, 4);
        assert_eq!(with("memory=60").unwrap().memory, "60");
        assert!(with("eager=true").unwrap().eager);
        assert_eq!(with("arrivals=constant:10").unwrap().arrivals, "constant:10");
        for (text, expected) in [
            ("cores", "`cores`: expected NAME=VALUE"),
            ("cores=4", "not known; expected one of app"),
            ("mcw=many", "expected another kind of value"),
        ] {
            let error = with(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn wrong_values_are_named() {
        type Change = fn(&mut Parameters);
        let cases: [(&str, Change); 16] = [
            ("app `none`", |p| p.app = "none".to_string()),
            ("array: ", |p| p.array.lanes = 3),
            ("mcw 33: expected 1 to 32", |p| p.mcw = 33),
            ("packets 0: expected 1 to", |p| p.packets = 0),
            ("push_packets 0: expected at least 1", |p| p.push_packets = 0),
            ("delay_target 100: expected 200 to 1000000, or 0", |p| p.delay_target = 100),
            ("delay_target 200: expected 0, or an array with a command", |p| p.delay_target = 200),
            ("timeout_factor 8: expected 0, or an array with", |p| p.timeout_factor = 8),
            ("timeout_eager 256: expected 0 to 255", |p| p.timeout_eager = 256),
            ("filters 0: expected 1 to", |p| p.filters = 0),
            ("frames `fixed:1`: expected", |p| p.frames = "fixed:1".to_string()),
            ("arrivals `soon`: expected", |p| p.arrivals = "soon".to_string()),
            ("memory `fast`", |p| p.memory = "fast".to_string()),
            ("through `ports`: expected an array with packet ports", |p| p.through = Through::Ports),
            ("when_full `drop`: expected through `ports`", |p| p.when_full = WhenFull::Drop),
            ("when_full `drop`: expected an array whose ports drop", |p| {
                p.array.packet_ports = true;
                (p.through, p.when_full) = (Through::Ports, WhenFull::Drop);
            }),
        ];
        let good = Parameters::of("dec-ttl").unwrap();
        good.validate().unwrap();
        for (expected, change) in cases {
            let mut parameters = good.clone();
            change(&mut parameters);
            let error = format!("{:#}", parameters.validate().unwrap_err());
            assert!(error.contains(expected), "{error}; expected {expected}");
        }
    }
}
