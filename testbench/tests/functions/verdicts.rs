//! Functions that keep the verdict of the function before, of packets that they forward.

use hermes_testbench::chain::live::{Events, Live};
use hermes_testbench::chain::{ChainPlan, Edges, Surroundings};
use hermes_testbench::cosim::{Device as _, Guards};
use hermes_testbench::verdict::Verdict;
use rand::Rng as _;

use crate::array::{branching, random, Array, FUNCTIONS};
use crate::branches::{edges, manifests, marks, packets, through_ports, CHAIN_BYTES};

/// On random graphs, while cores change hands between functions that keep verdicts and others: the
/// verdict in memory is the last one that was not kept, of drops and faults always their own.
#[test]
fn forwarded_packets_keep_the_verdict_before() {
    let mut random = random();
    for round in 0..6 {
        let mut array = Array::new_branching(marks());
        for function in 0..FUNCTIONS {
            array.branch(function, edges(&mut random, function));
            let keeps_verdict = function > 0 && (function == 1 + round % 3 || random.gen());
            array.contexts[function].guards = Guards { keeps_verdict, ..Guards::default() };
            array.host.load_function(function as u32, &array.contexts[function]).unwrap();
        }
        // Packets of some port come to the function in any case.
        array.branch(0, Edges { other: Some(1 + round % 3), ..array.edges[0] });
        array.host.start(true).unwrap();
        array.push(400);
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
    }
}

/// The flag of NF 0, which is kept elsewhere than those of the others: a function that nobody is
/// before leaves what stood in memory.
#[test]
fn a_first_function_that_keeps_verdicts_leaves_what_stood_there() {
    const OLD: u32 = 0x1234_5678;
    let mut array = Array::new(marks());
    array.contexts[0].guards = Guards { keeps_verdict: true, ..Guards::default() };
    array.host.load_function(0, &array.contexts[0]).unwrap();
    array.give([0, 0, 0]);
    array.host.wait_for_cores().unwrap();
    for packet in 0..200 {
        let place = array.layout.verdict_base + 4 * packet;
        array.host.device_mut().write_memory(place, &OLD.to_le_bytes()).unwrap();
    }
    array.host.start(true).unwrap();
    array.push(200);
    array.drain();
    array.host.clean_and_invalidate_caches().unwrap();
    let verdicts: Vec<_> = (0..200).map(|packet| array.verdict(packet)).collect();
    let counts = array.host.function_counts(0).unwrap();
    let kept = verdicts.iter().filter(|verdict| **verdict == OLD).count();
    let dropped = verdicts.iter().filter(|verdict| !Verdict(**verdict).is_forward()).count();
    assert_eq!((kept, dropped), (counts.forwarded as usize, counts.dropped as usize));
    assert!(kept > 100 && dropped > 20 && kept + dropped == 200, "{kept} {dropped}");
}

/// A router in front of functions that know nothing of ports: packets leave by its ports, and what
/// it drops stays dropped behind a function that forwards all. Then such functions come and go.
#[test]
fn packets_leave_by_the_port_of_the_function_before() {
    let folder = manifests();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    for name in ["e", "f"] {
        let fields = "app = \"dec-ttl\"\npacket = \"write\"\nwatchdog = 400_000\nkeep_verdict = true\n";
        write(&format!("{name}.toml"), &format!("[function]\nname = \"{name}\"\n{fields}"));
    }
    write(
        "chain.toml",
        "limit = 16\n[[function]]\nmanifest = \"a.toml\"\nnext = { other = \"e\", 1 = \"c\", drop = \"e\" }\n\
         [[function]]\nmanifest = \"c.toml\"\nnext = \"end\"\n\
         [[function]]\nmanifest = \"e.toml\"\nnext = \"end\"\n",
    );
    let config = branching();
    let on = Surroundings { config: &config, memory_bytes: CHAIN_BYTES, frame_bytes: Some(600) };
    let mut plan = ChainPlan::read(&folder.path().join("chain.toml")).unwrap();
    let chain = plan.place(on).unwrap();
    let frames = packets(&plan, &chain, 1_000);
    let model = chain.model().unwrap();
    let ran = through_ports(&chain, None, &frames);
    // Ports of a, but 1, of which c has made 0; none of what a dropped.
    let mut left = [0; 2];
    for (index, frame) in (0..).zip(&frames) {
        let (golden, visits) = model.follow(index, frame);
        let by_router = visits[0].verdict;
        let expected = if by_router == Verdict::forward(1) { Verdict::forward(0) } else { by_router };
        if visits.last().unwrap().verdict.is_forward() {
            assert_eq!(golden.verdict, expected, "packet {index}");
            left[usize::from(golden.verdict.is_forward())] += 1;
        }
    }
    assert!(left.iter().all(|packets| *packets > 30), "{left:?}");
    assert_eq!(ran.ways.len(), frames.len());

    write(
        "events.toml",
        "[[event]]\npacket = 200\ninsert = \"f.toml\"\nbefore = \"e\"\n\
         [[event]]\npacket = 500\nremove = \"e\"\n\
         [[event]]\npacket = 700\nreplace = \"f\"\nby = \"e.toml\"\nname = \"last\"\n",
    );
    let events = Events::read(&folder.path().join("events.toml"), &mut plan).unwrap();
    let chain = plan.place(on).unwrap();
    let live = Live::of(&chain, &events, &config).unwrap();
    let ran = through_ports(&chain, Some(&live), &frames);
    let changed = ran.changed.unwrap();
    assert!(changed.made.iter().all(|made| made.stood.is_some()), "{:?}", changed.made);
    assert!(ran.counts[2..5].iter().all(|counts| counts.lanes > 50), "{:?}", ran.counts);

    // Nobody would be before the first one.
    for (event, named) in [
        ("insert = \"f.toml\"\nbefore = \"a\"", "events.toml:2: insert: `f` keeps"),
        ("replace = \"a\"\nby = \"f.toml\"", "events.toml:2: replace: `f` keeps"),
    ] {
        write("events.toml", &format!("[[event]]\n{event}\npacket = 4\n"));
        let mut plan = ChainPlan::read(&folder.path().join("chain.toml")).unwrap();
        let error = Events::read(&folder.path().join("events.toml"), &mut plan).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}
