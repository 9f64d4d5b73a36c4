//! Every app's kernel, run instruction by instruction, against its golden model.

use super::interpreter::Thread;
use hermes_packets::slot::{SlotPacket, MAX_BYTES_LOG2};
use hermes_packets::tables::{
    generate_filters, generate_routes, generate_rules, FilterKind, Pattern, PatternSet,
};
use hermes_packets::traffic::{correct_checksum, Aim, Frame, Generator, Traffic};
use hermes_packets::verdict::Verdict;
use hermes_programs::apps::{App, AppEntry, Input, Inputs, APPS};
use hermes_programs::kernel::{build_source, Kernel, RegisterClass, StackNeed};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Generated inputs for an app, in a folder that must live as long as they do, and what packets for
/// them are aimed at.
fn inputs(entry: &AppEntry, seed: u64) -> (tempfile::TempDir, Inputs, Aim) {
    let folder = tempfile::tempdir().unwrap();
    let (mut inputs, mut aim) = (Inputs::default(), Aim::default());
    let file = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        Some(path)
    };
    for input in entry.inputs {
        match input {
            Input::Filters => {
                let set = generate_filters(FilterKind::Firewall, 200, 20, seed);
                inputs.rules = file("filters", set.to_text());
                aim.filters = set.filters;
            }
            Input::Patterns => {
                let text = generate_rules(150, seed);
                let patterns = PatternSet::parse(&text, 4).unwrap().patterns;
                aim.patterns = patterns.into_iter().map(|pattern| mixed_case(&pattern)).collect();
                inputs.rules = file("rules", text);
            }
            Input::Mtu => inputs.mtu = Some(300),
            Input::Keys => inputs.keys = file("keys", KEYS.to_string()),
            Input::Routes => {
                let table = generate_routes(3000, 32, seed);
                inputs.routes = file("routes", table.to_text());
                aim.routes = table.routes;
            }
        }
    }
    (folder, inputs, aim)
}

/// A tunnel.
const KEYS: &str = "spi 0x1001\nsource 192.0.2.1\ndestination 198.51.100.2\n\
    aes-128-ctr 2b7e151628aed2a6abf7158809cf4f3c\nnonce 00a00b30\n\
    hmac-sha1-96 0102030405060708090a0b0c0d0e0f1011121314\n";

/// What a packet has of a pattern: where case does not count, another case.
fn mixed_case(pattern: &Pattern) -> Vec<u8> {
    let upper = |(place, byte): (usize, &u8)| if place % 3 == 0 { byte.to_ascii_uppercase() } else { *byte };
    if pattern.nocase {
        pattern.bytes.iter().enumerate().map(upper).collect()
    } else {
        pattern.bytes.clone()
    }
}

/// An app with its inputs and its kernel.
struct Fixture {
    entry: &'static AppEntry,
    app: Box<dyn App>,
    thread: Thread,
    aim: Aim,
    _folder: tempfile::TempDir,
}

/// Every kernel: its app, and whether it is the one for cores with AES instructions.
fn kernels() -> impl Iterator<Item = (&'static AppEntry, bool)> {
    let aes = APPS.iter().filter(|entry| entry.has_aes_kernel());
    APPS.iter().map(|entry| (entry, false)).chain(aes.map(|entry| (entry, true)))
}

impl Fixture {
    fn new(entry: &'static AppEntry, seed: u64) -> Self {
        Self::with_kernel(entry, false, seed)
    }

    fn with_kernel(entry: &'static AppEntry, aes: bool, seed: u64) -> Self {
        let (folder, inputs, aim) = inputs(entry, seed);
        let app = entry.load(&inputs).unwrap();
        let thread = Thread::new(&entry.kernel(aes).unwrap(), app.as_ref());
        Self { entry, app, thread, aim, _folder: folder }
    }

    /// Runs a packet; its verdict and the instructions that it took.
    fn compare(&mut self, index: u64, frame: &Frame) -> (Verdict, usize) {
        let packet = SlotPacket::new(frame, MAX_BYTES_LOG2);
        let (got, egress, steps) = self.thread.run(index, &packet);
        let verdict = got.verdict;
        if let Some(difference) = self.app.check(index, &packet, got) {
            panic!("{}: {difference}", self.entry.name);
        }
        if verdict.is_forward() {
            let checked = self.app.check_egress(index, &packet, &egress);
            checked.unwrap_or_else(|error| panic!("{}, packet {index}: {error:#}", self.entry.name));
        }
        (verdict, steps)
    }
}

fn traffic(kind: &str, seed: u64, bad_share: f64) -> Generator {
    Generator::new(Traffic { kind: kind.parse().unwrap(), seed, bad_share, rate: 100.0 })
}

/// Good and bad packets, headers of random bytes that are nearly right, frames cut anywhere.
#[test]
fn apps_agree_with_their_golden_models() {
    let seed = hermes_packets::test_seed();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for (entry, aes) in kernels() {
        let mut fixture = Fixture::with_kernel(entry, aes, seed);
        let mut verdicts = std::collections::HashSet::new();
        for kind in ["imix", "tcp-mix", "fixed:60"] {
            let traffic = Traffic { kind: kind.parse().unwrap(), seed, bad_share: 40.0, rate: 100.0 };
            let traffic = Generator::aimed(traffic, fixture.aim.clone());
            for (index, mut frame) in (0..).zip(traffic.take(100)) {
                verdicts.insert(fixture.compare(index, &frame).0);
                frame.data.truncate(200);
                fixture.compare(index, &frame);
                let original = frame.clone();
                let length = frame.data.len();
                for _ in 0..2 {
                    let position = random.gen_range(12..40_usize).min(length - 1);
                    frame.data[position] = random.gen();
                    fixture.compare(index, &frame);
                }
                frame = original;
                frame.data.truncate(random.gen_range(0..=length));
                if random.gen() {
                    frame.wire_length = frame.data.len() as u32;
                }
                fixture.compare(index, &frame);
            }
        }
        // Packets that are aimed at tables find them.
        assert!(verdicts.len() >= 4, "{}: {verdicts:?}", entry.name);
        if entry.inputs.iter().any(|input| input.option() == "--rules FILE") {
            let by_rule = verdicts.iter().filter(|verdict| verdict.0 >= Verdict::drop_by_rule(0).0);
            assert!(by_rule.count() >= 3, "{}: {verdicts:?}", entry.name);
        }
    }
}

/// Every checksum passes through the incremental update as RFC 1624 says, and every first byte of a
/// source address and every header length is judged rightly.
#[test]
fn every_value_of_the_fields_that_are_looked_at() {
    let good = traffic("fixed:90", 5, 0.0).find(|frame| frame.data[14] == 0x45).unwrap();
    for (entry, aes) in kernels() {
        let mut fixture = Fixture::with_kernel(entry, aes, 5);
        for checksum in (0..0x1_0000_u32).step_by(251).chain(0xfff0..0x1_0000).chain(0..16) {
            let mut frame = good.clone();
            frame.data[24..26].copy_from_slice(&(checksum as u16).to_be_bytes());
            fixture.compare(0, &frame);
            frame.data[24..26].copy_from_slice(&(checksum as u16).to_le_bytes());
            fixture.compare(0, &frame);
        }
        for position in [14, 22, 26] {
            for value in 0..=255 {
                let mut frame = good.clone();
                frame.data[position] = value;
                correct_checksum(&mut frame.data);
                fixture.compare(0, &frame);
            }
        }
    }
}

/// Headers with options of every kind, right and wrong, are split; also packets that are fragments
/// themselves.
#[test]
fn fragments_of_packets_with_options() {
    let seed = hermes_packets::test_seed();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let entry = AppEntry::find("fragment").unwrap();
    for mtu in [68, 69, 300, 1500] {
        let app = entry.load(&Inputs { mtu: Some(mtu), ..Inputs::default() }).unwrap();
        let thread = Thread::new(&entry.kernel(false).unwrap(), app.as_ref());
        let folder = tempfile::tempdir().unwrap();
        let mut fixture = Fixture { entry, app, thread, aim: Aim::default(), _folder: folder };
        let mut split = 0;
        for index in 0..150 {
            let bytes = random.gen_range(80..3000);
            let mut frame = traffic(&format!("fixed:{bytes}"), index, 0.0).next().unwrap();
            let words = random.gen_range(5..=15_u8);
            frame.data[14] = 0x40 | words;
            for position in 34..14 + 4 * usize::from(words) {
                frame.data[position] = [0, 1, 2, 3, 4, 7, 0x83, 0x94, random.gen()][random.gen_range(0..9)];
            }
            if random.gen_ratio(1, 4) {
                frame.data[20] |= 0x20;
                frame.data[21] = random.gen();
            }
            correct_checksum(&mut frame.data);
            split +=
                u32::from(fixture.compare(index, &frame).0.is_forward() && bytes > usize::from(mtu) + 14);
        }
        assert!(split > 20, "MTU {mtu}: {split} packets were split");
    }
}

/// The kernels in C give the same verdicts and packets.
#[test]
fn kernels_in_c() {
    let seed = hermes_packets::test_seed();
    for (name, text) in [
        ("dec-ttl", include_str!("../../../../kernels-asm/c/dec-ttl.c")),
        ("route-lookup", include_str!("../../../../kernels-asm/c/route-lookup.c")),
        ("classifier", include_str!("../../../../kernels-asm/c/classifier.c")),
    ] {
        let mut fixture = Fixture::new(AppEntry::find(name).unwrap(), seed);
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("kernel.elf");
        build_source(&format!("{name}.c"), text, RegisterClass::Rv32e, &output).unwrap();
        fixture.thread = Thread::new(&Kernel::read(&output).unwrap(), fixture.app.as_ref());
        for kind in ["imix", "tcp-mix"] {
            let traffic = Traffic { kind: kind.parse().unwrap(), seed, bad_share: 40.0, rate: 100.0 };
            for (index, mut frame) in (0..).zip(Generator::aimed(traffic, fixture.aim.clone()).take(150)) {
                fixture.compare(index, &frame);
                frame.data.truncate((index as usize).max(8));
                fixture.compare(index, &frame);
            }
        }
    }
}

/// The hot path is short: what a good packet costs.
#[test]
fn instructions_of_a_good_packet() {
    let frame = traffic("fixed:90", 5, 0.0).find(|f| f.data[14] == 0x45).unwrap();
    let count = |name| Fixture::new(AppEntry::find(name).unwrap(), 5).compare(0, &frame).1;
    assert_eq!(count("dec-ttl"), 24);
    assert_eq!(count("check-ip-header"), 58);
}

/// What the loops of the searches cost; docs/apps.md shows these figures.
#[test]
fn instructions_of_the_loops() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    let steps = |name: &str, text: String, bytes: usize| {
        std::fs::write(&path, text).unwrap();
        let entry = AppEntry::find(name).unwrap();
        let mut inputs = Inputs::default();
        match entry.inputs[0] {
            Input::Routes => inputs.routes = Some(path.clone()),
            _ => inputs.rules = Some(path.clone()),
        }
        let app = entry.load(&inputs).unwrap();
        let mut thread = Thread::new(&entry.kernel(false).unwrap(), app.as_ref());
        let mut frame = traffic(&format!("fixed:{bytes}"), 5, 0.0).find(|f| f.data[14] == 0x45).unwrap();
        frame.data[42..].fill(b'x');
        thread.run(0, &SlotPacket::new(&frame, 12)).2
    };
    let every = "0 : 65535 0 : 65535 0x00/0x00\n";
    let by_source = |count| format!("@9.9.9.9/32 0.0.0.0/0 {every}").repeat(count);
    let by_destination = |count| format!("@0.0.0.0/0 9.9.9.9/32 {every}").repeat(count);
    assert_eq!(steps("classifier", by_source(110), 90) - steps("classifier", by_source(10), 90), 100 * 6);
    assert_eq!(
        steps("classifier", by_destination(110), 90) - steps("classifier", by_destination(10), 90),
        100 * 11
    );
    assert_eq!(steps("classifier-bv", by_source(96), 90) - steps("classifier-bv", by_source(64), 90), 23);

    let rule = |options: &str| format!("alert tcp any any -> any any (content:\"pattern\"; {options})\n");
    // 512 bytes more, in whole words
    let more = |name: &str, options: &str| steps(name, rule(options), 954) - steps(name, rule(options), 442);
    assert_eq!((more("nids", ""), more("nids", "nocase;")), (512 * 27 / 4, 512 * 27 / 4));
    // Four times 33 instructions for 16 words, 60 for the unit around them.
    assert_eq!(more("dpi", ""), 2 * 4 * (16 * 33 + 60));

    assert_eq!(steps("route-lookup", "0.0.0.0/0 1\n".into(), 90), 23);
    assert_eq!(steps("route-lookup", "198.0.0.0/8 1\n".into(), 90), 23);
}

/// What a packet costs that matches the first filter, and what each fragment costs; docs/apps.md
/// shows these figures.
#[test]
fn instructions_of_router_and_fragment() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        Some(path)
    };
    let steps = |name: &str, inputs: &Inputs, bytes: usize| {
        let entry = AppEntry::find(name).unwrap();
        let app = entry.load(inputs).unwrap();
        let mut thread = Thread::new(&entry.kernel(false).unwrap(), app.as_ref());
        // Without options, and with leave to be split
        let good = |f: &Frame| f.data[14] == 0x45 && f.data[20] & 0x40 == 0;
        let frame = traffic(&format!("fixed:{bytes}"), 5, 0.0).find(good).unwrap();
        thread.run(0, &SlotPacket::new(&frame, 12)).2
    };
    let router = |filters: usize| {
        let every = "0 : 65535 0 : 65535 0x00/0x00\n";
        let rules = format!("@9.9.9.9/32 0.0.0.0/0 {every}").repeat(filters);
        let rules = file("filters", rules + &format!("@0.0.0.0/0 0.0.0.0/0 {every}"));
        let routes = file("routes", "0.0.0.0/0 1\n".into());
        steps("router", &Inputs { rules, routes, ..Inputs::default() }, 90)
    };
    assert_eq!((router(0), router(100) - router(0)), (141, 100 * 6));

    // 56 bytes a fragment
    let fragments =
        |payload: usize| steps("fragment", &Inputs { mtu: Some(76), ..Inputs::default() }, 34 + payload);
    assert_eq!(
        (fragments(42), fragments(10 * 56), fragments(20 * 56) - fragments(10 * 56)),
        (31, 71 + 10 * 43, 10 * 43)
    );
}

#[test]
fn inputs_that_are_missing_or_superfluous() {
    let route_lookup = AppEntry::find("route-lookup").unwrap();
    let error = route_lookup.load(&Inputs::default()).unwrap_err().to_string();
    assert_eq!(error, "--app route-lookup needs --routes FILE");
    let (_folder, given, _) = inputs(route_lookup, 1);
    let error = AppEntry::find("dec-ttl").unwrap().load(&given).unwrap_err().to_string();
    assert_eq!(error, "--app dec-ttl does not take --routes FILE");
    let error = AppEntry::find("nat").unwrap_err().to_string();
    assert!(error.starts_with("--app nat: not known; expected one of dec-ttl, check-ip-header"), "{error}");
}

/// Apps for up to 32 warps a core keep to 16 registers.
#[test]
fn every_app_builds() {
    for (entry, aes) in kernels() {
        let kernel = entry.kernel(aes).unwrap();
        assert_eq!(kernel.registers, entry.registers(), "{}", entry.name);
        assert!(kernel.size() < 12_288, "{}: {} bytes", entry.name, kernel.size());
    }
}

/// The kernels of the apps need no more than the apps say.
#[test]
fn kernels_of_the_apps() {
    for app in APPS {
        for aes in [false, true] {
            let kernel = app.kernel(aes).unwrap();
            let need = StackNeed::of(&kernel);
            // One uses `sp` for something else, and has no stack.
            let without = app.name == "ipsec" && aes;
            let most = if app.name == "ipsec" { 512 } else { 256 };
            assert!(
                without || matches!(need, StackNeed::Bytes(bytes) if bytes <= most),
                "{} {aes}: {need}",
                app.name
            );
        }
    }
}
