//! Packets that branch by their verdicts, and meet again, on random graphs of a seed.

use std::collections::{BTreeMap, BTreeSet};

use hermes_rtl::config::Config;
use hermes_testbench::chain::live::{Events, Live, Step};
use hermes_testbench::chain::{
    check_counts, check_ways, visits, Chain, ChainPlan, Edges, Ran, Setting, Sharing, Surroundings,
    BRANCH_PORTS,
};
use hermes_testbench::cosim::{Device as _, Event, Latency, Packet, RunOptions};
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::tables::{generate_filters, generate_routes, FilterKind};
use hermes_testbench::traffic::{Generator, Kind, Traffic};
use rand::seq::IteratorRandom as _;
use rand::Rng as _;
use rand_chacha::ChaCha8Rng;

use crate::array::{branching, branching_model, random, Array, Marks, FUNCTIONS};

/// Functions that drop a quarter, let some threads fault, and forward to sixteen ports.
pub(super) fn marks() -> [Marks; FUNCTIONS] {
    let plain = |number| Marks { number, ports: 15, ..Marks::default() };
    [
        Marks { drops: 3, spins: 7, ..plain(5) },
        Marks { faults: 7, spins: 31, ..plain(11) },
        Marks { drops: 3, faults: 12, ..plain(23) },
        Marks { drops: 1, spins: 15, ..plain(4) },
    ]
}

/// Edges to higher functions, of verdicts of all kinds.
pub(super) fn edges(random: &mut ChaCha8Rng, from: usize) -> Edges {
    let mut edge = |share: f64| {
        let to = (from + 1..FUNCTIONS).choose(random).filter(|_| random.gen_bool(share));
        (to, random.gen::<bool>())
    };
    Edges {
        ports: [(); BRANCH_PORTS].map(|()| edge(0.8)).map(|(to, is_own)| is_own.then_some(to)),
        other: edge(0.8).0,
        drop: edge(0.5).0,
        fault: edge(0.5).0,
    }
}

/// The functions that packets of a run visited, by the events, and warps in which lanes met that
/// came from different functions.
fn ways(array: &Array) -> (Vec<Vec<usize>>, usize) {
    let mut ways = vec![Vec::new(); array.next_packet() as usize];
    let mut met = 0;
    for (_, event) in &array.events {
        let (packets, lanes, function) = match *event {
            Event::Issue(_, packets) => (packets, (1_u64 << packets.count) - 1, 0),
            Event::Hop { packets, lanes, function, .. } => (packets, lanes.into(), usize::from(function)),
            _ => continue,
        };
        let here: Vec<usize> = (0..packets.count)
            .filter(|lane| lanes >> lane & 1 == 1)
            .map(|lane| (packets.first + lane) as usize)
            .collect();
        let before: Vec<_> = here.iter().map(|packet| ways[*packet].last().copied()).collect();
        met += usize::from(before.iter().any(|last| *last != before[0]));
        here.iter().for_each(|packet| ways[*packet].push(function));
    }
    (ways, met)
}

/// Packets visit what their verdicts lead to, once and in ascending order, on graphs that change
/// between pieces of a run, while cores change hands.
#[test]
fn lanes_branch_and_meet_again() {
    let mut random = random();
    let (mut met, mut visited) = (0, BTreeMap::new());
    for _ in 0..4 {
        let mut array = Array::new_branching(marks());
        (0..FUNCTIONS).for_each(|from| array.branch(from, edges(&mut random, from)));
        array.host.start(true).unwrap();
        array.push(600);
        while array.pending() > 20 {
            array.give([(); 3].map(|()| random.gen_range(0..FUNCTIONS + 1)));
            array.run(random.gen_range(1..400));
        }
        for cores in [[0, 1, 2], [1, 2, 3], [2, 3, 3]] {
            array.give(cores);
            array.run(3_000);
        }
        assert_eq!(array.pending(), 0);
        array.check();
        let (ways, meetings) = ways(&array);
        met += meetings;
        for (packet, way) in (0..).zip(ways) {
            assert_eq!(way, array.visits(packet), "packet {packet}");
            assert!(way.is_sorted_by(|before, after| before < after), "packet {packet}: {way:?}");
            *visited.entry(way).or_insert(0) += 1;
        }
    }
    assert!(met > 20 && visited.len() > 4, "{met} {visited:?}");
}

/// Where packets branch a start follows the finish by six cycles: five behind the event.
#[test]
fn a_hop_takes_six_cycles() {
    let mut array = Array::new_branching([Marks { number: 1, ..Marks::default() }; FUNCTIONS]);
    // A host that knows nothing of branches writes NF_NEXT alone.
    for from in 0..2 {
        array.edges[from] = Edges::to(Some(from + 1));
        array.host.write("NF_SELECT", from as u32).unwrap();
        array.host.write("NF_NEXT", 8 | (from as u32 + 1)).unwrap();
    }
    array.give([0, 1, 2]);
    array.host.wait_for_cores().unwrap();
    array.host.start(false).unwrap();
    let distances = array.hops_of_lone_packets();
    assert!(distances.iter().all(|&distance| distance == 5), "{distances:?}");
    array.check();
}

/// An edge of a function whose packets all go one way is bent by one write, whatever port they are
/// for: the packets of a warp stay together.
#[test]
fn a_plain_edge_is_bent_by_one_write() {
    let mut random = random();
    let plain = |number| Marks { number, ports: 15, spins: 3, ..Marks::default() };
    let mut array = Array::new_branching([plain(5), plain(11), plain(23), plain(4)]);
    array.branch(0, Edges::to(Some(1)));
    array.give([0, 1, 2]);
    array.host.wait_for_cores().unwrap();
    array.host.start(true).unwrap();
    array.push(1_200);
    let mut to = 1;
    while array.pending() > 20 {
        array.run(random.gen_range(1..60));
        to = 3 - to;
        array.branch(0, Edges::to(Some(to)));
    }
    array.drain();
    let (ways, _) = ways(&array);
    let mut seen = BTreeMap::new();
    for (_, event) in &array.events {
        let Event::Issue(_, packets) = event else { continue };
        let first = &ways[packets.first as usize];
        assert!([&[0, 1][..], &[0, 2]].contains(&&first[..]), "{first:?}");
        for packet in packets.first..packets.first + packets.count {
            assert_eq!(ways[packet as usize], *first, "packet {packet} of {packets:?}");
        }
        *seen.entry(first.clone()).or_insert(0) += 1;
    }
    assert!(seen.values().all(|warps| *warps > 40) && seen.len() == 2, "{seen:?}");
}

/// Packets that are reset on their way are forgotten, and so is what their lanes waited for.
#[test]
fn a_reset_forgets_what_lanes_wait_for() {
    let mut random = random();
    let mut array = Array::new_branching(marks());
    for _ in 0..3 {
        (0..FUNCTIONS).for_each(|from| array.branch(from, edges(&mut random, from)));
        array.give([0, 1, 2]);
        array.host.start(true).unwrap();
        array.push(300);
        array.run(random.gen_range(500..3_000));
        let mut device = array.host.into_device();
        device.reset().unwrap();
        array = Array::on(device, marks());
    }
    (0..FUNCTIONS).for_each(|from| array.branch(from, edges(&mut random, from)));
    array.host.start(true).unwrap();
    array.push(300);
    for cores in [[0, 1, 2], [1, 2, 3], [2, 3, 3]] {
        array.give(cores);
        array.run(12_000);
    }
    assert_eq!(array.pending(), 0);
    array.check();
}

/// Functions by their manifests, in a folder with what they look up.
pub(super) fn manifests() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("filters", &generate_filters(FilterKind::Firewall, 40, 50, 3).to_text());
    write("routes", &generate_routes(300, 12, 3).to_text());
    for (name, app, inputs, packet) in [
        ("a", "route-lookup", "inputs = { routes = \"routes\" }", "read"),
        ("b", "classifier-bv", "inputs = { rules = \"filters\" }", "read"),
        ("c", "dec-ttl", "", "write"),
        ("d", "route-lookup", "inputs = { routes = \"routes\" }", "read"),
    ] {
        let fields = format!("app = \"{app}\"\n{inputs}\npacket = \"{packet}\"\nwatchdog = 400_000\n");
        write(&format!("{name}.toml"), &format!("[function]\nname = \"{name}\"\n{fields}"));
    }
    folder
}

/// Packets for the functions.
pub(super) fn packets(plan: &ChainPlan, chain: &Chain, count: usize) -> Vec<SlotPacket> {
    let traffic = Traffic { kind: Kind::Fixed(100), seed: 5, bad_share: 10.0, rate: 100.0 };
    let frames = Generator::aimed(traffic, plan.aim().unwrap()).take(count);
    frames.map(|frame| SlotPacket::new(&frame, chain.slot_bytes_log2)).collect()
}

pub(super) const CHAIN_BYTES: u64 = 128 << 20;

/// Runs a chain through the packet ports; what leaves is compared with the golden model.
pub(super) fn through_ports(chain: &Chain, live: Option<&Live>, packets: &[SlotPacket]) -> Ran {
    let packet = |packet: &SlotPacket| Packet { frame: packet.frame.clone(), port: 0, flags: 0, arrival: 0 };
    let arriving: Vec<_> = packets.iter().map(packet).collect();
    let model = chain.model().unwrap();
    let setting = Setting {
        chain,
        model: Some(&model),
        ports: true,
        memory_bytes: CHAIN_BYTES,
        latency: Latency::Fixed(20),
        timeout: 64,
        options: RunOptions::default(),
        sharing: Sharing::Spatial,
        live,
    };
    setting.simulate(branching_model(), packets, &arriving, &mut |_| {}).unwrap()
}

/// A chain file whose functions branch at random, through the packet ports, against the golden
/// model.
#[test]
fn a_chain_that_branches_through_the_ports() {
    let mut random = random();
    let folder = manifests();
    let names = ["a", "b", "c", "d"];
    let mut text = String::new();
    for (from, name) in names.iter().enumerate() {
        // To the next one in any case: every function is reached.
        let to = |random: &mut ChaCha8Rng| {
            (from + 1..=FUNCTIONS).choose(random).and_then(|to| names.get(to)).copied().unwrap_or("end")
        };
        let mut edges = vec![format!("other = \"{}\"", names.get(from + 1).unwrap_or(&"end"))];
        let keys = (0..BRANCH_PORTS).map(|port| port.to_string()).chain(["drop".to_string()]);
        for key in keys {
            if random.gen_bool(0.6) {
                edges.push(format!("{key} = \"{}\"", to(&mut random)));
            }
        }
        text += &format!("[[function]]\nmanifest = \"{name}.toml\"\nnext = {{ {} }}\n", edges.join(", "));
    }
    let path = folder.path().join("chain.toml");
    std::fs::write(&path, &text).unwrap();
    let plan = ChainPlan::read(&path).unwrap();
    let config = branching();
    let on = Surroundings { config: &config, memory_bytes: CHAIN_BYTES, frame_bytes: Some(600) };
    let chain = plan.place(on).unwrap();
    let packets = packets(&plan, &chain, 500);
    let ran = through_ports(&chain, None, &packets);
    let expected = visits(&chain.model().unwrap(), &packets);
    check_counts(&chain, &expected, &ran.counts).unwrap();
    check_ways(&chain, &expected, &ran.ways).unwrap();
    let ways: BTreeSet<Vec<usize>> =
        ran.ways.iter().map(|way| way.iter().map(|(stop, _)| stop.function).collect()).collect();
    assert!(ways.len() > 1, "{ways:?}\n{text}");
    // A packet that went another way is told of.
    let mut other = ran.ways.clone();
    let at = other.iter().position(|way| way.len() > 1).unwrap();
    other[at].pop();
    let error = check_ways(&chain, &expected, &other).unwrap_err().to_string();
    let told = error.starts_with(&format!("packet {at} visited a")) && error.ends_with("by the golden model");
    assert!(told, "{error}");
}

/// Functions come and go in a chain that branches, while packets flow: each packet goes by the
/// edges as they stand, and what is replaced keeps a core until nothing waits for it.
#[test]
fn a_chain_that_branches_changes_while_packets_flow() {
    let folder = manifests();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "chain.toml",
        "limit = 16\n[[function]]\nmanifest = \"a.toml\"\nnext = { 0 = \"c\", 1 = \"end\", other = \"b\", drop = \"c\" }\n\
         [[function]]\nmanifest = \"b.toml\"\nnext = { other = \"c\", drop = \"c\" }\n\
         [[function]]\nmanifest = \"c.toml\"\nnext = \"end\"\n",
    );
    let text = "[[event]]\npacket = 40\nreplace = \"b\"\nby = \"d.toml\"\n\
                [[event]]\npacket = 400\ninsert = \"c.toml\"\nname = \"again\"\nbefore = \"c\"\n\
                [[event]]\npacket = 800\ncores = { a = 2, d = 2, again = 1, c = 1 }\n\
                [[event]]\npacket = 900\nremove = \"c\"\n";
    write("events.toml", text);
    let config = branching();
    let on = Surroundings { config: &config, memory_bytes: CHAIN_BYTES, frame_bytes: Some(600) };
    let read = |text: &str| {
        write("events.toml", text);
        let mut plan = ChainPlan::read(&folder.path().join("chain.toml")).unwrap();
        let events = Events::read(&folder.path().join("events.toml"), &mut plan);
        events.map(|events| (plan, events)).map_err(|error| error.to_string())
    };
    let (plan, events) = read(text).unwrap();
    let chain = plan.place(on).unwrap();
    let live = Live::of(&chain, &events, &config).unwrap();
    let packets = packets(&plan, &chain, 1_200);
    let ran = through_ports(&chain, Some(&live), &packets);
    let changed = ran.changed.unwrap();
    assert!(changed.made.iter().all(|made| made.stood.is_some()), "{:?}", changed.made);
    let ways: BTreeSet<Vec<usize>> =
        ran.ways.iter().map(|way| way.iter().map(|(stop, _)| stop.function).collect()).collect();
    // 3 is what comes for 1, 4 what comes in front of 2.
    for way in [&[0, 1, 2][..], &[0, 2], &[0, 3, 2], &[0, 4, 2], &[0, 3, 4, 2], &[0, 4]] {
        assert!(ways.contains(way), "{way:?} {ways:?}");
    }
}

/// A change of the first function needs no more cores than one of the last: those behind it get
/// other numbers first, one at a time, under traffic.
#[test]
fn a_change_near_the_front_needs_one_core_more() {
    let folder = manifests();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "chain.toml",
        "limit = 8\n\
         [[function]]\nmanifest = \"a.toml\"\nnext = { 0 = \"c\", 1 = \"d\", other = \"b\", drop = \"c\" }\n\
         [[function]]\nmanifest = \"b.toml\"\nnext = { other = \"c\", drop = \"d\" }\n\
         [[function]]\nmanifest = \"c.toml\"\nnext = \"d\"\n\
         [[function]]\nmanifest = \"d.toml\"\nnext = \"last\"\n\
         [[function]]\nmanifest = \"c.toml\"\nname = \"last\"\nnext = \"end\"\n",
    );
    write("events.toml", "[[event]]\npacket = 100\nreplace = \"a\"\nby = \"d.toml\"\nname = \"first\"\n");
    let config = branching();
    let mut plan = ChainPlan::read(&folder.path().join("chain.toml")).unwrap();
    let events = Events::read(&folder.path().join("events.toml"), &mut plan).unwrap();
    let on = Surroundings { config: &config, memory_bytes: CHAIN_BYTES, frame_bytes: Some(600) };
    let chain = plan.place(on).unwrap();
    let live = Live::of(&chain, &events, &config).unwrap();
    // Four functions move, and each keeps a core; the rest is that of the functions.
    let frees = live.changes[0].steps.iter().filter(|step| matches!(step, Step::Free(_))).count();
    assert_eq!((config.cores, chain.functions.len(), frees), (6, 5, 5));
    let packets = packets(&plan, &chain, 1_000);
    let ran = through_ports(&chain, Some(&live), &packets);
    let changed = ran.changed.unwrap();
    assert!(changed.made[0].stood.is_some(), "{:?}", changed.made);
    let lanes: Vec<_> = ran.counts.iter().map(|counts| counts.lanes).collect();
    assert_eq!(lanes[0] + lanes[5], 1_000, "{lanes:?}");
    assert!(lanes.iter().all(|lanes| *lanes > 50), "{lanes:?}");
    // With as many cores as functions none can move, and not all find another number at once.
    let few = Config { cores: 5, ..branching() };
    let chain = plan.place(Surroundings { config: &few, ..on }).unwrap();
    let error = Live::of(&chain, &events, &few).unwrap_err().to_string();
    assert!(error.contains("no numbers of network functions are free for it"), "{error}");
}

/// What cannot change in a chain that branches.
#[test]
fn changes_of_a_chain_that_branches_that_are_wrong() {
    let folder = manifests();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "chain.toml",
        "[[function]]\nmanifest = \"a.toml\"\nnext = { 0 = \"c\", 1 = \"end\", other = \"b\", drop = \"c\" }\n\
         [[function]]\nmanifest = \"b.toml\"\nnext = { other = \"c\", drop = \"c\" }\n\
         [[function]]\nmanifest = \"c.toml\"\nnext = \"end\"\n",
    );
    let config = branching();
    let on = Surroundings { config: &config, memory_bytes: CHAIN_BYTES, frame_bytes: Some(600) };
    let read = |text: &str| {
        write("events.toml", text);
        let mut plan = ChainPlan::read(&folder.path().join("chain.toml")).unwrap();
        let events = Events::read(&folder.path().join("events.toml"), &mut plan);
        events.map(|events| (plan, events)).map_err(|error| error.to_string())
    };
    for (text, expected) in [
        (
            "remove = \"a\"",
            "remove: `a` has edges by verdict; expected a function whose packets all go one way",
        ),
        ("insert = \"d.toml\"\nafter = \"b\"", "after: `b` has edges by verdict; expected `before` one"),
    ] {
        let error = read(&format!("[[event]]\npacket = 4\n{text}\n")).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    // Without a core that what is replaced could keep.
    let (plan, events) = read("[[event]]\npacket = 4\nreplace = \"b\"\nby = \"d.toml\"\n").unwrap();
    let few = Config { cores: 3, ..branching() };
    let chain = plan.place(Surroundings { config: &few, ..on }).unwrap();
    let error = Live::of(&chain, &events, &few).unwrap_err().to_string();
    assert!(error.contains("packets branch, so `b` keeps a core until all"), "{error}");
}
