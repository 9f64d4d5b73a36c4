//! Chains that change while packets flow: the command, the order of the steps, and many changes.

mod adapt;
mod bench;
mod branches;
mod command;
#[path = "../common/mod.rs"]
mod common;
mod hangs;
mod soak;
mod state;

use common::Folder;

/// The array of the other tests of chains.
pub const ARRAY: &str = "--cores 4 --lanes 4 --warps 4 --channels 2 --aes --network-functions 4 \
                     --packet-ports --mem-latency 20";

/// A folder with a firewall, a router, what comes later, and packets for all of them.
pub fn folder(packets: usize, seed: u64) -> Folder {
    let folder = Folder::new();
    for (file, deny, seed) in [("filters", 20, 3), ("filters-2", 30, 4)] {
        folder.succeed(&format!("gen-rules --kind fw --count 60 --deny {deny} --seed {seed} -o {file}"));
    }
    folder.succeed("gen-rules --kind fw --count 90 --deny 20 --seed 3 -o filters-3");
    for (file, seed) in [("routes", 3), ("routes-2", 5)] {
        folder.succeed(&format!("gen-routes --count 300 --ports 16 --seed {seed} -o {file}"));
    }
    folder.succeed(&format!(
        "gen-trace --kind fixed:60 --packets {packets} --rules filters --routes routes --seed {seed} -o in.pcap"
    ));
    let manifest = |name: &str, fields: &str| {
        let text = format!("[function]\nname = \"{name}\"\nwatchdog = 4_000\n{fields}\n");
        folder.write(&format!("{name}.toml"), text);
    };
    manifest("firewall", "app = \"classifier-bv\"\ninputs = { rules = \"filters\" }\npacket = \"read\"");
    manifest("router", "app = \"route-lookup\"\ninputs = { routes = \"routes\" }\npacket = \"read\"");
    manifest("router-2", "app = \"route-lookup\"\ninputs = { routes = \"routes-2\" }\npacket = \"read\"");
    manifest("ttl", "app = \"dec-ttl\"");
    manifest("check", "app = \"check-ip-header\"\npacket = \"read\"");
    manifest("hangs", "app = \"dec-ttl\"\nsource = \"hangs.S\"");
    folder.write("hangs.S", ".globl kernel\nkernel: j kernel\n");
    folder.write("edge.toml", chain(&[("firewall", "router"), ("router", "end")]));
    folder.write("second.toml", chain(&[("check", "end")]));
    folder
}

pub fn chain(functions: &[(&str, &str)]) -> String {
    let function = |(name, next): &(&str, &str)| {
        format!("[[function]]\nmanifest = \"{name}.toml\"\nnext = \"{next}\"\n")
    };
    functions.iter().map(function).collect()
}

/// A number that a report of `chain run` has of the function `name`.
pub fn of_function(report: &serde_json::Value, name: &str, field: &str) -> u64 {
    let functions = report["functions"].as_array().unwrap();
    let function = functions.iter().find(|function| function["name"] == name);
    function.and_then(|function| function[field].as_u64()).unwrap_or_else(|| panic!("{name}: {field}"))
}

/// The report of `chain run` has so many changes, each made behind the one before it.
pub fn all_changes_stood(report: &serde_json::Value, count: usize) {
    let changes = report["changes"].as_array().unwrap();
    assert_eq!(changes.len(), count, "{changes:?}");
    let mut last = 0;
    for change in changes {
        let [began, stood] = ["began", "stood"].map(|field| change[field].as_u64());
        let (Some(began), Some(stood)) = (began, stood) else { panic!("{change}") };
        assert!(last <= began && began < stood, "{changes:?}");
        last = stood;
    }
}

pub const EVENTS: &str = "\
[[event]]
packet = 40
insert = \"ttl.toml\"
before = \"router\"

[[event]]
packet = 90
table = \"firewall\"
inputs = { rules = \"filters-2\" }

[[event]]
packet = 120
cores = { firewall = 1, router = 2 }

[[event]]
packet = 160
replace = \"router\"
by = \"router-2.toml\"

[[event]]
packet = 210
remove = \"ttl\"

[[event]]
packet = 260
entry = \"second.toml\"
";
