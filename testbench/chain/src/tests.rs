//! Chains in temporary folders: their kernels on the reference simulator beside their golden
//! models; what is wrong with them, and where their functions lie, in files of their own.

use std::path::PathBuf;

use hermes_rtl::config::Config;

use super::*;
use crate::apps::App;
use crate::cosim::{Host, LINE};
use crate::golden::{Difference, Golden};
use crate::kernel::{build_source, build_source_with, BuildOptions, RegisterClass};
use crate::reference::ReferenceDevice;
use crate::slot::SlotPacket;
use crate::tables::{generate_filters, generate_routes, generate_rules, FilterKind, PatternSet};
use crate::traffic::{Aim, Frame, Generator, Traffic};
use crate::verdict::{Reason, Verdict};

const KEYS: &str = "spi 0x1001\nsource 192.0.2.1\ndestination 198.51.100.2\n\
    aes-128-ctr 2b7e151628aed2a6abf7158809cf4f3c\nnonce 00a00b30\n\
    hmac-sha1-96 0102030405060708090a0b0c0d0e0f1011121314\n";
const MEMORY_BYTES: u64 = 1 << 28;

/// A folder with inputs of apps, and a manifest for each of the paper's functions.
struct Fixture {
    folder: tempfile::TempDir,
    aim: Aim,
}

impl Fixture {
    fn new() -> Self {
        let seed = crate::test_seed();
        let fixture = Self { folder: tempfile::tempdir().unwrap(), aim: Aim::default() };
        let filters = generate_filters(FilterKind::Firewall, 100, 20, seed);
        let routes = generate_routes(2000, 32, seed);
        let rules = generate_rules(60, seed);
        let patterns = PatternSet::parse(&rules, 4).unwrap().patterns;
        fixture.write("filters", filters.to_text());
        fixture.write("routes", routes.to_text());
        fixture.write("rules", &rules);
        fixture.write("keys", KEYS);
        fixture.manifest(
            "firewall",
            "app = \"classifier-bv\"\ninputs = { rules = \"filters\" }\npacket = \"read\"",
        );
        fixture.manifest(
            "router",
            "app = \"route-lookup\"\ninputs = { routes = \"routes\" }\npacket = \"read\"",
        );
        fixture.manifest("nids", "app = \"nids\"\ninputs = { rules = \"rules\" }\npacket = \"read\"");
        fixture.manifest("ipsec", "app = \"ipsec\"\ninputs = { keys = \"keys\" }\ngrow = 53");
        let aim = Aim {
            filters: filters.filters,
            routes: routes.routes,
            patterns: patterns.into_iter().map(|pattern| pattern.bytes).collect(),
            ..Aim::default()
        };
        Self { aim, ..fixture }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Writes the manifest `name.toml`.
    fn manifest(&self, name: &str, fields: &str) {
        self.write(
            &format!("{name}.toml"),
            format!("[function]\nname = \"{name}\"\nwatchdog = 400_000\n{fields}\n"),
        );
    }

    /// Writes `chain.toml`, in which the functions follow each other, each with `extra` fields.
    fn chain(&self, head: &str, functions: &[(&str, &str)]) {
        let mut text = format!("{head}\n");
        for (number, (name, extra)) in functions.iter().enumerate() {
            let next = functions.get(number + 1).map_or(END, |(next, _)| next);
            text += &format!("[[function]]\nmanifest = \"{name}.toml\"\nnext = \"{next}\"\n{extra}\n");
        }
        self.write("chain.toml", text);
    }

    fn plan(&self) -> Result<ChainPlan, ChainError> {
        ChainPlan::read(&self.path("chain.toml"))
    }

    fn place(&self, config: &Config) -> Result<Chain, ChainError> {
        self.plan()?.place(Surroundings { config, memory_bytes: MEMORY_BYTES, frame_bytes: None })
    }

    /// What is wrong with `chain.toml`, with the folder's name taken out.
    fn wrong(&self, config: &Config) -> String {
        let error = self.place(config).map(|_| ()).unwrap_err().to_string();
        error.replace(&format!("{}/", self.folder.path().display()), "")
    }

    fn packets(&self, kind: &str, count: usize, chain: &Chain) -> Vec<SlotPacket> {
        let kind = kind.parse().unwrap();
        let traffic = Traffic { kind, seed: crate::test_seed(), bad_share: 5.0, rate: 100.0 };
        let frames = Generator::aimed(traffic, self.aim.clone()).take(count);
        frames.map(|frame: Frame| SlotPacket::new(&frame, chain.slot_bytes_log2)).collect()
    }
}

fn default_array() -> Config {
    Config::preset("default").unwrap()
}

fn paper() -> Config {
    Config { aes: true, ..Config::preset("paper").unwrap() }
}

/// The chains of the paper by their functions.
const CHAINS: [(&str, &[&str]); 4] = [
    ("Sa", &["ipsec", "nids"]),
    ("Sb", &["firewall", "ipsec", "nids"]),
    ("Sc", &["ipsec", "nids", "router"]),
    ("Sd", &["firewall", "ipsec", "nids", "router"]),
];

/// Every kernel, in its region and with its windows, does to each packet what the golden model of
/// the chain says, from function to function.
#[test]
fn kernels_do_what_the_golden_model_says() {
    let fixture = Fixture::new();
    let mut chains: Vec<_> = CHAINS.iter().map(|(name, functions)| (*name, *functions, paper())).collect();
    chains.push(("firewall, router", &["firewall", "router"], default_array()));
    chains.push(("ipsec in C", &["nids", "router", "ipsec"], Config { cores: 3, ..default_array() }));
    let (mut forwarded, mut early) = (0, 0);
    for (name, functions, config) in chains {
        fixture.chain("", &functions.iter().map(|name| (*name, "")).collect::<Vec<_>>());
        let chain = fixture.place(&config).unwrap();
        let model = chain.model().unwrap();
        let mut simulated = SimulatedChain::new(&chain, &config, MEMORY_BYTES).unwrap();
        let mut ended = vec![0; functions.len()];
        for (index, packet) in (0..).zip(fixture.packets("imix", 60, &chain)) {
            let (golden, visits) = model.follow(index, &packet);
            let found = simulated.follow(index, &packet).unwrap();
            let seen: Vec<_> =
                found.iter().map(|visit| (visit.function, &visit.packet, visit.verdict())).collect();
            let expected: Vec<_> =
                visits.iter().map(|visit| (visit.function, &visit.packet, visit.verdict)).collect();
            assert_eq!(seen, expected, "{name}: packet {index}");
            let last = &found.last().unwrap().result;
            let got = Golden { verdict: Verdict(last.verdict), frame: last.bytes.clone() };
            assert!(Difference::find(index, golden, got).is_none(), "{name}: packet {index}");
            ended[visits.last().unwrap().function] += 1;
            forwarded += usize::from(visits.last().unwrap().verdict.is_forward());
        }
        assert!(ended[functions.len() - 1] > 0, "{name}: packets ended at {ended:?}");
        early += ended[..functions.len() - 1].iter().sum::<usize>();
    }
    assert!(forwarded > 60 && early > 60, "{forwarded} forwarded, {early} dropped on the way");
}

/// A packet that is dropped goes no further and has the verdict and the bytes of the function that
/// dropped it, wherever that stands; its number is the same everywhere.
#[test]
fn packets_are_dropped_at_each_place() {
    let fixture = Fixture::new();
    for place in 0..3 {
        let mut names = ["first", "second", "third"].map(|name| {
            fixture.manifest(name, "app = \"dec-ttl\"");
            name
        });
        names[place] = "router";
        fixture.chain("", &names.map(|name| (name, "")));
        let chain = fixture.place(&Config { cores: 3, ..default_array() }).unwrap();
        let model = chain.model().unwrap();
        let kind = "fixed:64".parse().unwrap();
        let frame = Generator::new(Traffic { kind, seed: 1, bad_share: 0.0, rate: 100.0 })
            .find(|frame| frame.data[14] == 0x45)
            .unwrap();
        let mut packet = SlotPacket::new(&frame, 11);
        for (ttl, ends) in [(1, 0), (2, 1), (3, 2), (64, 2)] {
            packet.frame[22] = ttl;
            crate::traffic::correct_checksum(&mut packet.frame);
            let (golden, visits) = model.follow(7, &packet);
            let routed = visits.iter().find(|visit| visit.function == place).map(|visit| visit.verdict);
            let dropped = routed.is_some_and(|verdict| !verdict.is_forward());
            if dropped {
                assert_eq!(visits.last().unwrap().function, place);
                continue;
            }
            // Of three functions two take one from the time to live.
            let decrements = visits.iter().filter(|visit| visit.function != place).count() as u8;
            assert!(visits.iter().enumerate().all(|(number, visit)| visit.function == number));
            if golden.verdict.is_forward() {
                assert_eq!(visits.len(), 3);
                assert_eq!(golden.frame[22], ttl - 2);
            } else {
                assert_eq!(golden.verdict, Verdict::drop(Reason::Ttl));
                assert_eq!(golden.frame[22], ttl - (decrements - 1), "the function that drops leaves it");
                assert!(visits.len() <= ends + 2, "ttl {ttl}, router at {place}: {}", visits.len());
            }
            assert_eq!(model.golden(7, &packet), golden);
        }
    }
}

/// The number of a packet is that of the run at each function: sequence numbers of ESP have gaps
/// where packets ended before.
#[test]
fn the_number_of_a_packet_stays() {
    let fixture = Fixture::new();
    fixture.chain("", &[("firewall", ""), ("ipsec", "")]);
    let chain = fixture.place(&default_array()).unwrap();
    let model = chain.model().unwrap();
    let mut numbers = Vec::new();
    for (index, packet) in (0..).zip(fixture.packets("imix", 80, &chain)) {
        let golden = model.golden(index, &packet);
        if golden.verdict.is_forward() {
            let sequence = u32::from_be_bytes(golden.frame[38..42].try_into().unwrap());
            assert_eq!(u64::from(sequence), index + 1);
            numbers.push(sequence);
        }
    }
    assert!(numbers.windows(2).any(|pair| pair[1] - pair[0] > 1), "{numbers:?}");
}

/// A function that loads or stores in the region of another faults, and nothing is changed.
#[test]
fn functions_do_not_reach_each_other() {
    let fixture = Fixture::new();
    let config = default_array();
    fixture.chain("", &[("firewall", "at = 0x10000\n"), ("router", "at = 0x200000\n")]);
    let victim = fixture.place(&config).unwrap().functions[0].region.clone();
    for (instruction, cause) in [("lw a0, 0(t0)", 5), ("sw a0, 0(t0)", 7)] {
        for address in [victim.first, victim.argument(), victim.last() as u32 - 3] {
            fixture
                .write("bad.S", format!(".globl kernel\nkernel: li t0, {address:#x}\n{instruction}\nret\n"));
            fixture.manifest("bad", "source = \"bad.S\"");
            fixture.chain("", &[("firewall", "at = 0x10000\n"), ("bad", "")]);
            let chain = fixture.place(&config).unwrap();
            let mut simulated = SimulatedChain::new(&chain, &config, MEMORY_BYTES).unwrap();
            let packets = fixture.packets("fixed:64", 20, &chain);
            let mut faults = 0;
            for (index, packet) in (0..).zip(&packets) {
                let visits = simulated.follow(index, packet).unwrap();
                for visit in visits.iter().filter(|visit| visit.function == 1) {
                    let fault = visit.fault.as_ref().unwrap();
                    assert_eq!((fault.cause, fault.address), (cause, address));
                    assert!(visit.verdict().is_fault());
                    faults += 1;
                }
            }
            assert!(faults > 0);
        }
    }
}

#[test]
fn fragments_leave_at_the_end_only() {
    let mut fixture = Fixture::new();
    fixture.manifest("split", "app = \"fragment\"\ninputs = { mtu = 300 }");
    let config = default_array();
    fixture.manifest("ttl", "app = \"dec-ttl\"");
    fixture.chain("ring_slots = 64", &[("ttl", ""), ("split", "")]);
    let chain = fixture.place(&config).unwrap();
    let model = chain.model().unwrap();
    let mut simulated = SimulatedChain::new(&chain, &config, MEMORY_BYTES).unwrap();
    let mut fragments = 0;
    // Aimed packets are not to be split.
    fixture.aim = Aim::default();
    for (index, packet) in (0..).zip(fixture.packets("imix", 60, &chain)) {
        let visits = simulated.follow(index, &packet).unwrap();
        let last = &visits.last().unwrap().result;
        model.check_egress(index, &packet, &last.egress).unwrap();
        fragments += last.egress.len();
        if !last.egress.is_empty() {
            assert!(model.check_egress(index, &packet, &last.egress[1..]).is_err());
        }
    }
    assert!(fragments > 10, "{fragments}");
    fixture.chain("", &[("split", ""), ("firewall", "")]);
    let error = fixture.wrong(&config);
    assert!(error.starts_with("split.toml:4: app: fragment sends other frames"), "{error}");
    assert!(error.ends_with("expected it at the end"), "{error}");
}

#[test]
fn the_graph() {
    let fixture = Fixture::new();
    fixture.chain("", &[("firewall", ""), ("router", "")]);
    let plan = fixture.plan().unwrap();
    let dot = plan.dot();
    for line in [
        "digraph chain {",
        "  in -> \"firewall\";",
        "  \"firewall\" -> \"router\";",
        "  \"router\" -> \"end\";",
    ] {
        assert!(dot.lines().any(|found| found == line), "{dot}");
    }
    let files = plan.files();
    for name in ["chain.toml", "firewall.toml", "filters", "router.toml", "routes"] {
        assert!(files.contains(&fixture.path(name)), "{name}: {files:?}");
    }
}

#[path = "branch_tests.rs"]
mod branches;
#[path = "place_tests.rs"]
mod places;
#[path = "wrong_tests.rs"]
mod wrong;
