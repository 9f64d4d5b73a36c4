//! Tests of chains whose packets branch: what their files say, and where packets go.

use super::*;
use crate::edges::Edges;
use crate::simulated::Stop;
use std::collections::BTreeSet;

fn four_cores() -> Config {
    Config { cores: 4, network_functions: 4, function_branches: true, ..default_array() }
}

fn function(name: &str, next: &str) -> String {
    format!("[[function]]\nmanifest = \"{name}.toml\"\nnext = {next}\n")
}

/// A router in front, in whatever order the file has them.
fn branching(fixture: &Fixture) {
    let text = function("router", "{ 0 = \"nids\", 1 = \"end\", other = \"firewall\", drop = \"nids\" }")
        + &function("nids", "\"end\"")
        + &function("firewall", "{ other = \"nids\", fault = \"end\" }");
    fixture.write("chain.toml", text);
}

#[test]
fn functions_have_the_order_of_their_edges() {
    let fixture = Fixture::new();
    branching(&fixture);
    let plan = fixture.plan().unwrap();
    let names: Vec<_> = plan.functions.iter().map(|planned| planned.name.as_str()).collect();
    assert_eq!(names, ["router", "firewall", "nids"]);
    let mut ports = [None; 8];
    (ports[0], ports[1]) = (Some(Some(2)), Some(None));
    let router = Edges { ports, other: Some(1), drop: Some(2), fault: None };
    let edges: Vec<_> = plan.functions.iter().map(|planned| planned.edges).collect();
    assert_eq!(edges, [router, Edges::to(Some(2)), Edges::default()]);
    assert_eq!(plan.branching().unwrap().name, "router");
    let dot = plan.dot();
    for line in [
        "  in -> \"router\";",
        "  \"router\" -> \"end\" [label=\"1\"];",
        "  \"router\" -> \"firewall\" [label=\"other\"];",
        "  \"router\" -> \"nids\" [label=\"0, drop\"];",
        "  \"firewall\" -> \"nids\";",
        "  \"nids\" -> \"end\";",
    ] {
        assert!(dot.lines().any(|other| other == line), "{dot}\n{line}");
    }
}

/// Kernels and golden models go the same ways, and there are several.
#[test]
fn kernels_go_where_the_golden_model_goes() {
    let fixture = Fixture::new();
    branching(&fixture);
    let chain = fixture.place(&four_cores()).unwrap();
    let model = chain.model().unwrap();
    let mut simulated = SimulatedChain::new(&chain, &four_cores(), MEMORY_BYTES).unwrap();
    let mut ways = BTreeSet::new();
    for (index, packet) in (0..).zip(fixture.packets("fixed:100", 200, &chain)) {
        let (golden, visits) = model.follow(index, &packet);
        let found = simulated.follow(index, &packet).unwrap();
        let seen: Vec<_> = found.iter().map(|visit| (visit.function, visit.verdict())).collect();
        let expected: Vec<_> = visits.iter().map(|visit| (visit.function, visit.verdict)).collect();
        assert_eq!(seen, expected, "packet {index}");
        assert_eq!(golden.verdict, seen.last().unwrap().1);
        let way: Vec<_> = seen.iter().map(|(function, _)| *function).collect();
        let stop = |function: &usize| Stop::at(*function);
        let stops: Vec<_> = way.iter().map(stop).collect();
        let again = simulated.follow_way(index, &packet, &stops).unwrap();
        assert_eq!(again.len(), way.len());
        // Where it went, and whether what dropped it led on.
        let dropped_on = visits.len() > 1 && !visits[0].verdict.is_forward();
        ways.insert((way, dropped_on));
    }
    let all: Vec<Vec<usize>> = ways.iter().map(|(way, _)| way.clone()).collect();
    assert!(all.contains(&vec![0, 1, 2]) && all.contains(&vec![0, 2]), "{ways:?}");
    assert!(ways.contains(&(vec![0, 2], true)), "{ways:?}");
}

#[test]
fn edges_that_are_wrong() {
    let fixture = Fixture::new();
    let wrong = |text: &str, config: &Config, expected: &str| {
        fixture.write("chain.toml", text);
        let error = fixture.wrong(config);
        assert!(error.contains(expected), "{error}\nexpected: {expected}");
    };
    let end = function("nids", "\"end\"");
    let verdicts = "expected 0, 1, 2, 3, 4, 5, 6, 7, other, drop or fault";
    for (next, expected) in [
        ("{ 8 = \"nids\" }", format!("chain.toml:3: next.8: `8` is no verdict; {verdicts}")),
        ("{ drops = \"nids\" }", format!("chain.toml:3: next.drops: `drops` is no verdict; {verdicts}")),
        (
            "{ 0 = \"ids\" }",
            "chain.toml:3: next.0: `ids` is no function of this chain; expected router, nids or end".into(),
        ),
        (
            "{ fault = \"router\", other = \"nids\" }",
            "chain.toml:3: next.fault: router -> router: packets would never leave".into(),
        ),
        ("{ 0 = \"end\", drop = \"end\" }", {
            "chain.toml:5: function: `nids` gets no packets; expected an edge of router to it".into()
        }),
        ("{}", "chain.toml:5: function: `nids` gets no packets".into()),
        ("7", "chain.toml:3: next: invalid type: integer `7`, expected a name, or a table of names".into()),
        ("{ 0 = 1 }", "chain.toml:3: next: invalid type: integer `1`".into()),
    ] {
        wrong(&(function("router", next) + &end), &four_cores(), &expected);
    }
    // A cycle that one of several ways leads into.
    let cycle = function("router", "{ 0 = \"firewall\", other = \"nids\" }")
        + &function("firewall", "{ drop = \"nids\" }")
        + &function("nids", "{ 3 = \"firewall\" }");
    wrong(&cycle, &four_cores(), "firewall -> nids -> firewall: packets would never leave");
    // An array that cannot.
    let text = function("router", "{ 0 = \"nids\" }") + &end;
    let without = Config { function_branches: false, ..four_cores() };
    wrong(&text, &without, "chain.toml:2: next: router: edges by verdict, and the array has no branches");
    fixture.write("chain.toml", function("router", "{ other = \"nids\" }") + &end);
    fixture.place(&without).unwrap();
    // Frames that the function behind would not see.
    fixture.manifest("cutter", "app = \"fragment\"\ninputs = { mtu = 600 }");
    let text = function("router", "{ 0 = \"cutter\", other = \"end\" }") + &function("cutter", "\"end\"");
    wrong(&text, &four_cores(), "expected it at the end of a chain without edges by verdict");
}

/// A packet leaves with the verdict of the last function that has not kept that of the one before:
/// of the kernels as of the golden models.
#[test]
fn a_function_can_keep_the_verdict_of_the_one_before() {
    let fixture = Fixture::new();
    fixture.manifest("ttl", "app = \"dec-ttl\"\nkeep_verdict = true");
    let text = function("router", "{ other = \"ttl\", drop = \"ttl\" }") + &function("ttl", "\"end\"");
    fixture.write("chain.toml", text);
    let chain = fixture.place(&four_cores()).unwrap();
    let model = chain.model().unwrap();
    let mut simulated = SimulatedChain::new(&chain, &four_cores(), MEMORY_BYTES).unwrap();
    let mut kept = BTreeSet::new();
    for (index, packet) in (0..).zip(fixture.packets("fixed:100", 300, &chain)) {
        let (golden, visits) = model.follow(index, &packet);
        let found = simulated.follow(index, &packet).unwrap();
        let left = simulated.left(&found).unwrap();
        assert_eq!((Verdict(left.verdict), &left.bytes), (golden.verdict, &golden.frame), "packet {index}");
        let [router, ttl] = &visits[..] else { panic!("{visits:?}") };
        let of_router = ttl.verdict.is_forward();
        assert_eq!(golden.verdict, if of_router { router.verdict } else { ttl.verdict }, "packet {index}");
        kept.extend(of_router.then_some(golden.verdict));
    }
    assert!(kept.len() > 3 && kept.iter().any(|verdict| !verdict.is_forward()), "{kept:?}");
    // By itself it has a verdict of its own.
    let alone = fixture.plan().unwrap().alone(1);
    assert!(!alone.functions[0].manifest.keep_verdict);
    fixture.write("chain.toml", function("ttl", "\"router\"") + &function("router", "\"end\""));
    let error = fixture.wrong(&four_cores());
    let expected = "chain.toml:2: function: `ttl` keeps the verdict of the function before, but is the first";
    assert!(error.starts_with(expected), "{error}");
}

/// The longest way counts for the slots, not all functions.
#[test]
fn slots_are_as_long_as_the_longest_way_needs() {
    let fixture = Fixture::new();
    let head = "frame_bytes = 990\nslot_bytes = 1024\n";
    let functions = [1, 2].map(|number| {
        fixture.manifest(&format!("grows{number}"), "app = \"dec-ttl\"\ngrow = 10");
        format!("grows{number}")
    });
    let [first, second] = &functions;
    let text = |to: &str| {
        let next = format!("{{ 0 = \"{first}\", other = \"{second}\" }}");
        format!("{head}{}", function("router", &next) + &function(first, to) + &function(second, "\"end\""))
    };
    fixture.write("chain.toml", text("\"end\""));
    fixture.place(&four_cores()).unwrap();
    fixture.write("chain.toml", text(&format!("\"{second}\"")));
    let error = fixture.wrong(&four_cores());
    assert!(error.contains("a frame of 990 bytes can have 1010 behind it"), "{error}");
}
