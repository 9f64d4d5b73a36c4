//! Chains in temporary folders: what is wrong with them, where their functions lie, and their
//! kernels on the reference simulator beside their golden models.

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

/// Regions do not overlap, lie on lines, and hold code, data, tables and argument block; windows
/// are those of the region and of what of it may be stored to.
#[test]
fn regions_are_apart() {
    let fixture = Fixture::new();
    fixture.write("table", vec![7; 100]);
    fixture.write(
        "own.S",
        ".globl kernel\nkernel: lw a3, 0(a2)\nlw a4, 4(a2)\nlw a5, 8(a2)\nlw a0, 0(a3)\nlla t0, count\n\
         lw t1, 0(t0)\nadd t1, t1, a0\nsw t1, 0(t0)\nsw t1, 0(a4)\nli a0, 5\nret\n.data\ncount: .word 1\n",
    );
    fixture.write(
        "own.toml",
        "[function]\nname = \"own\"\nsource = \"own.S\"\nargument = [\"numbers\", \"state\", \"numbers.bytes\", 0x77]\n\
         state_bytes = 5000\ntrusted = true\nmcw = 2\n[[table]]\nname = \"numbers\"\nfile = \"table\"\n",
    );
    fixture.chain(
        "limit = 64",
        &[("own", "at = 0x8000\n"), ("firewall", ""), ("nids", ""), ("router", "cores = 2\n")],
    );
    let config = paper();
    let chain = fixture.place(&config).unwrap();
    assert_eq!(chain.limit, 64);
    let cores: Vec<_> =
        chain.functions.iter().map(|function| (function.first_core, function.cores)).collect();
    assert_eq!(cores, [(0, 2), (2, 2), (4, 2), (6, 2)]);
    let mut regions: Vec<_> = chain.functions.iter().map(|function| &function.region).collect();
    regions.sort_by_key(|region| region.first);
    assert!(regions.windows(2).all(|pair| pair[0].last() < u64::from(pair[1].first)));
    for function in &chain.functions {
        let region = &function.region;
        assert_eq!((region.first % 64, region.bytes % 64), (0, 0), "{}", function.name);
        let mut behind = u64::from(region.first);
        for part in &region.parts {
            assert!(u64::from(part.first) >= behind, "{}: {part:?}", function.name);
            behind = u64::from(part.first) + part.bytes;
            let read = function.read_window();
            let write = function.write_window();
            assert!(read.contains(part.first) && read.contains((behind - 1) as u32));
            let stores = [part.first, (behind - 1) as u32].map(|at| write.contains(at));
            assert_eq!(stores, [part.writable; 2], "{}: {part:?}", function.name);
        }
        assert!(behind <= region.last() + 1);
    }
    let own = &chain.functions[0];
    assert_eq!((own.region.first, own.kernel.entry, own.mcw, own.watchdog), (0x8000, 0x8000, 2, 0));
    let names: Vec<_> = own.region.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["code", "data", "state", "table numbers", "argument block"]);
    assert_eq!(chain.model().unwrap_err(), "own");
    let mut simulated = SimulatedChain::new(&chain, &config, MEMORY_BYTES).unwrap();
    let packet = &fixture.packets("fixed:64", 1, &chain)[0];
    for _ in 0..2 {
        let visits = simulated.follow(0, packet).unwrap();
        assert_eq!(visits[0].verdict(), Verdict::forward(5), "{:?}", visits[0].fault);
    }
    // Its image is what the host writes.
    let mut host = Host::new(ReferenceDevice::new(&config, MEMORY_BYTES)).unwrap();
    chain.load(&mut host).unwrap();
    let argument = own.region.argument();
    let word = |number: u32| host.device_mut().image().read_u32(argument + 4 * number).unwrap();
    let words: Vec<_> = [0, 1, 2, 3].map(word).into();
    assert_eq!(words, [own.region.table("numbers"), own.region.state(), 100, 0x77]);
    assert_eq!(own.region.state() % LINE as u32, 0);
    // A second chain in the same memory meets the first one.
    let error = chain.load(&mut host).unwrap_err().to_string();
    assert!(
        error.contains("the region of `own` at 0x00008000") && error.contains("overlaps the region of `own`")
    );
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

/// What is wrong in the files, with file, line, field and what was expected.
#[test]
fn files_that_are_wrong() {
    let fixture = Fixture::new();
    let config = default_array();
    let manifest = "[function]\nname = \"f\"\nwatchdog = 1000\napp = \"dec-ttl\"\n";
    let chain = "limit = 8\n[[function]]\nmanifest = \"f.toml\"\nnext = \"end\"\n";
    fixture.write("f.toml", manifest);
    fixture.write("chain.toml", chain);
    fixture.place(&config).unwrap();
    for (from, to, expected) in [
        ("watchdog", "watch_dog", "f.toml:3: unknown field `watch_dog`, expected one of `name`, `app`"),
        ("\"dec-ttl\"", "\"dec\"", "f.toml:4: app: `dec` is not known; expected dec-ttl, "),
        (
            "watchdog = 1000\n",
            "",
            "f.toml:2: watchdog: missing; expected the cycles that a warp may be on a core, or trusted",
        ),
        ("1000", "0", "f.toml:3: watchdog: 0: expected 1 to 2147483647"),
        ("1000", "\"a\"", "f.toml:3: watchdog: invalid type: string \"a\", expected u32"),
        ("1000", "-5", "f.toml:3: watchdog: invalid value: integer `-5`, expected u32"),
        (
            "app = \"dec-ttl\"",
            "",
            "f.toml:2: function: has no kernel; expected app = \"NAME\", kernel = \"FILE.elf\"",
        ),
        ("\"f\"", "\"F f\"", "f.toml:2: name: `F f`: expected 1 to 32 of a-z"),
        ("\"f\"", "\"end\"", "f.toml:2: name: `end`: expected"),
        ("app", "mcw = 99\napp", "f.toml:4: mcw: 99: expected 1 to 8 (8 warp slots a core, 16 registers"),
        ("app", "packet = \"write\"\ngrow = 70000\napp", "f.toml:5: grow: 70000: expected 0 to 65535"),
        (
            "app",
            "packet = \"read\"\ngrow = 7\napp",
            "f.toml:5: grow: a function that makes frames longer; expected packet = \"write\"",
        ),
        (
            "app",
            "packet = \"eat\"\napp",
            "f.toml:4: packet: unknown variant `eat`, expected one of `none`, `read`, `write`",
        ),
        ("app", "argument = [1]\napp", "f.toml:4: argument: an app has its own"),
        (
            "app",
            "inputs = { rules = \"x\" }\napp",
            "f.toml:5: inputs: dec-ttl does not take `rules`; expected it left away",
        ),
        (
            "\"dec-ttl\"",
            "\"route-lookup\"",
            "f.toml:4: inputs: route-lookup needs `routes`; expected inputs = { routes = .. }",
        ),
        ("app", "rv32e = true\napp", "f.toml:2: rv32e: is of use to `source` only"),
        ("app = \"dec-ttl\"", "source = \"no.S\"", "f.toml:4: source: "),
        ("app = \"dec-ttl\"", "kernel = \"no.elf\"", "f.toml:4: kernel: "),
        (
            "app = \"dec-ttl\"",
            "kernel = \"a\"\nsource = \"b\"",
            "f.toml:4: kernel: beside `source`; expected one of them",
        ),
        (
            "app = \"dec-ttl\"",
            "kernel = \"a\"\nargument = [-1]",
            "f.toml:5: argument: invalid value: integer `-1`, expected a number below 2^32, the name of",
        ),
        (
            "app = \"dec-ttl\"",
            "kernel = \"a\"\nargument = [1.5]",
            "f.toml:5: argument: invalid type: floating point `1.5`, expected a number below 2^32",
        ),
        (
            "app = \"dec-ttl\"",
            "kernel = \"a\"\nargument = [\"t\"]",
            "f.toml:5: argument: `t` is no table; expected a number",
        ),
        (
            "app = \"dec-ttl\"",
            "kernel = \"a\"\n[[table]]\nname = \"state\"\nfile = \"keys\"",
            "f.toml:6: table.name: `state`: expected",
        ),
        (
            "app = \"dec-ttl\"",
            "kernel = \"a\"\n[[table]]\nname = \"t\"\nfile = \"none\"",
            "f.toml:7: table.file: ",
        ),
        ("[function]", "[func]", "f.toml:1: unknown field `func`"),
        ("= \"f\"", "\"f\"", "f.toml:2:"),
    ] {
        let text = manifest.replacen(from, to, 1);
        assert_ne!(text, manifest, "{from}");
        fixture.write("f.toml", text);
        let error = fixture.wrong(&config);
        assert!(error.starts_with(expected), "{error}\nexpected: {expected}");
    }
    // An error of the manifest itself also says who names it.
    fixture.write("f.toml", manifest.replace("1000", "0"));
    assert!(fixture.wrong(&config).ends_with("(named by chain.toml:3)"), "{}", fixture.wrong(&config));

    fixture.write("f.toml", manifest);
    for (from, to, expected) in [
        ("limit", "limits", "chain.toml:1: unknown field `limits`, expected one of `limit`"),
        ("limit = 8", "limit = 1025", "chain.toml:1: limit: 1025: expected 0 to 1024"),
        (
            "limit = 8",
            "ring_slots = 16",
            "chain.toml:1: ring_slots: 16: expected a power of two, 32 to 1048576",
        ),
        ("limit = 8", "ring_slots = 48", "chain.toml:1: ring_slots: 48: expected a power of two"),
        (
            "limit = 8",
            "slot_bytes = 64",
            "chain.toml:1: slot_bytes: 64: expected a power of two, 128 to 65536",
        ),
        ("limit = 8", "stack_bytes = 300", "chain.toml:1: stack_bytes: 300: expected a power of two"),
        ("limit = 8", "frame_bytes = 9", "chain.toml:1: frame_bytes: 9: expected 14 to 65518"),
        ("\"end\"", "\"g\"", "chain.toml:4: next: `g` is no function of this chain; expected f or end"),
        ("\"end\"", "\"f\"", "chain.toml:4: next: f -> f: packets would never leave"),
        ("f.toml", "g.toml", "chain.toml:3: manifest: g.toml: No such file"),
        ("next = \"end\"", "", "chain.toml:2: missing field `next`"),
        ("\"end\"", "\"end\"\ncores = 0", "chain.toml:5: cores: 0: expected 1 or more"),
        ("\"end\"", "\"end\"\ncores = 3", "chain.toml:5: cores: f 3: 3 of 2 cores; expected at most 2"),
        ("\"end\"", "\"end\"\nat = 0x1001", "chain.toml:5: at: 4097: expected a multiple of 64"),
        (
            "\"end\"",
            "\"end\"\nat = 0xffffffc0",
            "chain.toml:5: at: 0xffffffc0: expected a multiple of 64, 0x40 to",
        ),
        ("\"end\"", "\"end\"\nname = \"Q\"", "chain.toml:5: name: `Q`: expected"),
        ("[[function]]", "[[funktion]]", "chain.toml:2: unknown field `funktion`"),
        (
            "[[function]]\nmanifest = \"f.toml\"\nnext = \"end\"\n",
            "",
            "chain.toml: no function; expected [[function]]",
        ),
    ] {
        let text = chain.replacen(from, to, 1);
        assert_ne!(text, chain, "{from}");
        fixture.write("chain.toml", text);
        let error = fixture.wrong(&config);
        assert!(error.starts_with(expected), "{error}\nexpected: {expected}");
    }
}

/// What is wrong among the functions: names, order, numbers, sizes.
#[test]
fn chains_that_are_wrong() {
    let fixture = Fixture::new();
    let config = default_array();
    let wrong = |text: &str, config: &Config, expected: &[&str]| {
        fixture.write("chain.toml", text);
        let error = fixture.wrong(config);
        for expected in expected {
            assert!(error.contains(expected), "{error}\nexpected: {expected}");
        }
    };
    let function =
        |name: &str, next: &str| format!("[[function]]\nmanifest = \"{name}.toml\"\nnext = \"{next}\"\n");
    let chain =
        |names: &[(&str, &str)]| names.iter().map(|(name, next)| function(name, next)).collect::<String>();
    wrong(
        &chain(&[("firewall", "router"), ("router", "nids"), ("nids", "router")]),
        &config,
        &["chain.toml:9: next: router -> nids -> router: packets would never leave"],
    );
    wrong(
        &chain(&[("firewall", "end"), ("router", "end")]),
        &config,
        &["chain.toml:5: function: `router` gets no packets, which go firewall -> end; expected that one"],
    );
    wrong(
        &chain(&[("firewall", "end"), ("firewall", "end")]),
        &config,
        &["chain.toml:5: name: two functions are called `firewall`, by firewall.toml:2 and firewall.toml:2"],
    );
    wrong(
        &chain(&[("firewall", "router"), ("router", "nids"), ("nids", "end")]),
        &config,
        &["chain.toml:8: function: nids: the chain has 3 functions, and the array 2 cores; expected a core for each"],
    );
    // The same manifest twice, with another name
    let twice = format!("{}name = \"again\"\n", function("firewall", "end"));
    fixture.write("chain.toml", function("firewall", "again") + &twice);
    fixture.place(&config).unwrap();
    // More than the hardware has
    let names: Vec<_> = (0..9).map(|number| format!("n{number}")).collect();
    let mut many = String::new();
    for (number, name) in names.iter().enumerate() {
        let next = names.get(number + 1).map_or(END, |next| next);
        many += &format!("{}name = \"{name}\"\n", function("firewall", next));
    }
    wrong(
        &many,
        &Config { cores: 16, ..default_array() },
        &["n8: the chain has 9 functions; expected at most 8"],
    );
    // Frames that grow beyond the slot
    let growing = format!(
        "slot_bytes = 2048\nframe_bytes = 2000\n{}",
        chain(&[("firewall", "ipsec"), ("ipsec", "end")])
    );
    wrong(
        &growing,
        &config,
        &["chain.toml:7: function: ipsec: a frame of 2000 bytes can have 2053 behind it, and a slot of 2048 bytes holds 2030; expected larger slots"],
    );
    fixture.write("chain.toml", growing.replace("slot_bytes = 2048\n", ""));
    assert_eq!(fixture.place(&config).unwrap().slot_bytes_log2, 12);
    // The compiled kernel of ipsec needs more than 256 bytes of stack.
    let text = format!("stack_bytes = 256\n{}", function("ipsec", "end"));
    wrong(
        &text,
        &config,
        &["chain.toml:1: stack_bytes: 256: ipsec needs 512 bytes of stack; expected 512 or more"],
    );
    fixture.manifest("ipsec", "app = \"ipsec\"\ninputs = { keys = \"keys\" }\nstack_bytes = 64");
    wrong(
        &function("ipsec", "end"),
        &config,
        &["ipsec.toml:6: stack_bytes: 64: the kernel needs 3", "expected as many or more"],
    );
    fixture.manifest("ipsec", "app = \"ipsec\"\ninputs = { keys = \"keys\" }\ngrow = 52");
    wrong(
        &function("ipsec", "end"),
        &config,
        &["ipsec.toml:6: grow: 52: the app makes frames up to 53 bytes longer"],
    );
    fixture.manifest("ipsec", "app = \"ipsec\"\ninputs = { keys = \"keys\" }\npacket = \"read\"");
    wrong(
        &function("ipsec", "end"),
        &config,
        &["ipsec.toml:4: app: it makes frames longer; expected packet = \"write\""],
    );
    // Instructions that the array lacks
    fixture.write("k.S", ".globl kernel\nkernel: ret\n");
    for (option, lacks) in [("aes", "zknd, zkne"), ("atomics", "a")] {
        fixture.manifest("own", &format!("source = \"k.S\"\n{option} = true"));
        wrong(
            &function("own", "end"),
            &config,
            &["own.toml:4: source: the kernel of own is built for rv32i", &format!("it lacks {lacks}")],
        );
    }
    fixture.place(&Config { aes: true, atomics: true, ..default_array() }).unwrap();
    let no_window = Config { local_window: false, ..default_array() };
    wrong(
        &function("firewall", "end"),
        &no_window,
        &["the array has no local window", "expected --local-window"],
    );
}

/// Addresses that are taken, and a memory that is full.
#[test]
fn places_that_are_taken() {
    let fixture = Fixture::new();
    let config = Config { cores: 3, ..default_array() };
    let elf = |name: &str, address: u32| {
        let options = BuildOptions { address: Some(address), ..BuildOptions::new(RegisterClass::Rv32e) };
        let text = ".globl kernel\nkernel: li a0, 0\nret\n.data\n.zero 300\n";
        build_source_with("k.S", text, &options, &fixture.path(&format!("{name}.elf"))).unwrap();
        fixture.manifest(name, &format!("kernel = \"{name}.elf\""));
    };
    elf("a", 0x4000);
    elf("b", 0x4040);
    fixture.chain("", &[("a", ""), ("b", "")]);
    let error = fixture.wrong(&config);
    assert_eq!(
        error,
        "b.toml:4: kernel: the region of `b` at 0x00004040 to 0x000041ff overlaps the region of `a` at 0x00004000 \
         to 0x000041bf; expected an address that is free"
    );
    // A finished kernel keeps its address, and the others make room for it.
    elf("b", 0x40);
    fixture.chain("", &[("firewall", ""), ("a", ""), ("b", "")]);
    let chain = fixture.place(&config).unwrap();
    let [firewall, a, b] = &chain.functions[..] else { panic!() };
    assert_eq!((a.region.first, b.region.first), (0x4000, 0x40));
    assert!(firewall.region.first > 0x4000 || firewall.region.last() < 0x4000);
    fixture.chain("", &[("a", "at = 0x8000\n")]);
    let error = fixture.wrong(&config);
    assert!(error.starts_with("chain.toml:5: at: 0x8000: the kernel of a is linked to 0x4000"), "{error}");
    fixture.chain("", &[("a", ""), ("firewall", "at = 0x4000\n")]);
    let error = fixture.wrong(&config);
    assert!(error.starts_with("chain.toml:9: at: the region of `firewall` at 0x00004000"), "{error}");
    // A finished kernel whose data shares a line with its code
    build_source("k.S", ".globl kernel\nkernel: ret\n", RegisterClass::Rv32e, &fixture.path("c.elf"))
        .unwrap();
    fixture.manifest("c", "kernel = \"c.elf\"\nstate_bytes = 200_000_000");
    fixture.manifest("d", "source = \"k.S\"\nstate_bytes = 200_000_000");
    fixture.write("k.S", ".globl kernel\nkernel: ret\n");
    fixture.chain("", &[("c", ""), ("d", "")]);
    let error = fixture.wrong(&config);
    assert!(
        error.starts_with("d.toml:4: source: no room for the region of `d`")
            && error.contains("of them side by side"),
        "{error}"
    );
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
