//! The soak: random graphs with branches and drops that change under traffic, resets, and a hostile
//! function that loads and stores outside its windows and hangs now and then.

use hermes_rtl::config::Config;
use hermes_testbench::apps::App;
use hermes_testbench::chain::{Chain, OnHang};
use hermes_testbench::golden::Golden;
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::test_seed;
use hermes_testbench::verdict::{Verdict, FAULT};
use rand::seq::IteratorRandom as _;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::bench::{array_with_branches, library, Bench, Reset};
use crate::common::Folder;

/// Functions, and cores, of the arrays.
const MOST: usize = 8;
/// Causes of faults of loads and of stores.
const LOAD: u32 = 5;
const STORE: u32 = 7;

/// What the hostile function does with a packet of this number, modulo 128, before it is `dec-ttl`:
/// it hangs, or loads from the first function, stores there, to packets of a warp before, and to
/// its own argument block.
const HOSTILE: &str = "\
    .globl  kernel
    .type   kernel, @function
kernel:
    andi    a3, a0, 127
    addi    a4, a3, -77
hang:
    beqz    a4, hang
    addi    a4, a3, -78
    bnez    a4, 1f
    lui     a4, 1
    lw      a4, 0(a4)
1:  addi    a4, a3, -79
    bnez    a4, 1f
    lui     a4, 1
    sw      a3, 0(a4)
1:  addi    a4, a3, -80
    bnez    a4, 1f
    sw      a3, -1024(a1)
1:  addi    a4, a3, -81
    bnez    a4, 1f
    sw      a3, 0(a2)
1:
";

/// The golden model of the hostile function, which is another app but for what it must not.
#[derive(Debug)]
struct Hostile(Box<dyn App>);

impl App for Hostile {
    fn golden(&self, index: u64, packet: &SlotPacket) -> Golden {
        let cause = match index & 127 {
            78 => LOAD,
            79..=81 => STORE,
            _ => return self.0.golden(index, packet),
        };
        Golden { verdict: Verdict(FAULT | cause), frame: packet.frame.clone() }
    }
}

/// A function of the chain as it is behind the changes so far.
#[derive(Clone, Debug)]
struct Function {
    name: String,
    /// It takes tables once more.
    has_tables: bool,
    /// It keeps the verdict of the one before, of packets that it forwards.
    keeps: bool,
    /// Where packets go, by the keys of the chain file.
    next: Vec<(String, String)>,
}

impl Function {
    fn is_hostile(&self) -> bool {
        self.name.starts_with("hostile")
    }

    fn is_plain(&self) -> bool {
        self.next.len() == 1
    }

    fn lead(&mut self, from: &str, to: &str) {
        self.next.iter_mut().filter(|(_, name)| name == from).for_each(|(_, name)| *name = to.to_string());
    }
}

/// Makes a chain and its changes.
struct Maker<'a> {
    folder: &'a Folder,
    random: &'a mut ChaCha8Rng,
    functions: Vec<Function>,
    /// Functions and graphs that were made.
    made: usize,
    /// What happens first when the hostile function hangs.
    action: &'static str,
}

impl Maker<'_> {
    /// A function without edges, with its manifest, that is the first one or not.
    fn fresh(&mut self, is_first: bool) -> Function {
        self.made += 1;
        let name = format!("f{}", self.made);
        let kinds = ["dec-ttl", "check-ip-header", "classifier-bv", "route-lookup"];
        let kind = kinds[self.random.gen_range(0..kinds.len())];
        let inputs = match kind {
            "classifier-bv" => "inputs = { rules = \"rules-0\" }\n",
            "route-lookup" => "inputs = { routes = \"routes\" }\n",
            _ => "",
        };
        let keeps = !is_first && self.random.gen_bool(0.3);
        let keep = format!("keep_verdict = {keeps}\n");
        let text =
            format!("[function]\nname = \"{name}\"\napp = \"{kind}\"\nwatchdog = 20_000\n{keep}{inputs}");
        self.folder.write(&format!("{name}.toml"), text);
        Function { name, has_tables: kind == "classifier-bv", keeps, next: Vec::new() }
    }

    /// A graph of `count` functions, one of them hostile but for the first, in a chain file of this
    /// name that begins with `head`.
    fn graph(&mut self, count: usize, file: &str, head: &str) {
        let mut functions: Vec<_> = (0..count).map(|at| self.fresh(at == 0)).collect();
        let hostile = self.random.gen_range(1..count);
        functions[hostile].name = format!("hostile-{}", self.made);
        functions[hostile].has_tables = false;
        functions[hostile].keeps = self.random.gen_bool(0.3);
        let names: Vec<_> = functions.iter().map(|function| function.name.clone()).collect();
        let mut text = head.to_string();
        for (at, function) in functions.iter_mut().enumerate() {
            let name_of = |to: usize| names.get(to).map_or("end", |name| name).to_string();
            // To the next one in any case, so that each is reached.
            function.next = vec![("other".to_string(), name_of(at + 1))];
            if self.random.gen_bool(0.6) {
                for key in ["0", "1", "2", "3", "4", "5", "6", "7", "drop", "fault"] {
                    let to = (at + 1..=count).choose(self.random).filter(|_| self.random.gen_bool(0.4));
                    function.next.extend(to.map(|to| (key.to_string(), name_of(to))));
                }
            }
            let edges: Vec<_> = function.next.iter().map(|(key, to)| format!("{key} = \"{to}\"")).collect();
            let manifest = match (at == hostile, function.keeps) {
                (true, true) => "hostile-keeps",
                (true, false) => "hostile",
                (false, _) => &function.name,
            };
            text += &format!("[[function]]\nmanifest = \"{manifest}.toml\"\nname = \"{}\"\n", function.name);
            text += &format!("next = {{ {} }}\n", edges.join(", "));
            if at == hostile {
                let actions = ["report", "report", "drop", "pass"];
                let action = std::mem::replace(&mut self.action, actions[self.random.gen_range(0..4)]);
                let faults = if action == "report" { 1_000_000 } else { 8 };
                text += &format!("on_hang = \"{action}\"\nhang_faults = {faults}\n");
            }
        }
        self.folder.write(file, text);
        self.functions = functions;
    }

    /// A change, if the one that was drawn can be.
    fn change(&mut self) -> Option<String> {
        let count = self.functions.len();
        let at = self.random.gen_range(0..count);
        let old = self.functions[at].name.clone();
        match self.random.gen_range(0..12) {
            0..=1 if count < MOST => {
                let mut new = self.fresh(at == 0);
                let line = if self.functions[at].is_plain() && self.random.gen() {
                    new.next = std::mem::take(&mut self.functions[at].next);
                    self.functions[at].next = vec![("other".to_string(), new.name.clone())];
                    format!("insert = \"{}.toml\"\nafter = \"{old}\"\n", new.name)
                } else {
                    self.functions.iter_mut().for_each(|function| function.lead(&old, &new.name));
                    new.next = vec![("other".to_string(), old.clone())];
                    format!("insert = \"{}.toml\"\nbefore = \"{old}\"\n", new.name)
                };
                let place = at + usize::from(line.contains("after"));
                self.functions.insert(place, new);
                Some(line)
            }
            2..=3
                if count > 2
                    && self.functions[at].is_plain()
                    && !self.functions[at].is_hostile()
                    && (at > 0 || !self.functions[1].keeps) =>
            {
                let gone = self.functions.remove(at);
                let to = &gone.next[0].1;
                self.functions.iter_mut().for_each(|function| function.lead(&old, to));
                Some(format!("remove = \"{old}\"\n"))
            }
            4..=6 if count < MOST && !self.functions[at].is_hostile() => {
                let mut new = self.fresh(at == 0);
                new.next = self.functions[at].next.clone();
                self.functions.iter_mut().for_each(|function| function.lead(&old, &new.name));
                let line = format!("replace = \"{old}\"\nby = \"{}.toml\"\n", new.name);
                self.functions[at] = new;
                Some(line)
            }
            7..=8 if self.functions[at].has_tables => {
                self.functions[at].has_tables = false;
                let rules = self.random.gen_range(1..3);
                Some(format!("table = \"{old}\"\ninputs = {{ rules = \"rules-{rules}\" }}\n"))
            }
            9..=10 => {
                let mut counts = vec![1; count];
                (count..MOST).for_each(|_| counts[self.random.gen_range(0..count)] += 1);
                let each = self
                    .functions
                    .iter()
                    .zip(counts)
                    .map(|(function, count)| format!("{} = {count}", function.name));
                Some(format!("cores = {{ {} }}\n", each.collect::<Vec<_>>().join(", ")))
            }
            11 if count + 2 <= MOST => {
                let file = format!("graph-{}.toml", self.made);
                let new = self.random.gen_range(2..=MOST - count);
                self.graph(new, &file, "");
                Some(format!("entry = \"{file}\"\n"))
            }
            _ => None,
        }
    }

    /// Changes at most so many packets apart, in `events.toml`; how many.
    fn changes(&mut self, packets: usize, apart: usize) -> usize {
        let (mut text, mut packet, mut changes) = (String::new(), 0, 0);
        loop {
            packet += self.random.gen_range(64..=apart);
            if packet + 64 > packets {
                break;
            }
            let Some(change) = (0..100).find_map(|_| self.change()) else { break };
            changes += 1;
            text += &format!("[[event]]\npacket = {packet}\n{change}\n");
        }
        if changes == 0 {
            text = format!("[[event]]\npacket = 9\ncores = {{ {} = 1 }}\n", self.functions[0].name);
            changes = 1;
        }
        self.folder.write("events.toml", text);
        changes
    }
}

/// A folder with what functions look up, and the hostile one.
fn inputs(packets: usize, seed: u64) -> Folder {
    let folder = Folder::new();
    // New tables are smaller than those before: a region has room for as much as there is.
    for (file, count, seed) in [("rules-0", 12, 1), ("rules-1", 6, 2), ("rules-2", 6, 3)] {
        folder.succeed(&format!("gen-rules --kind fw --count {count} --deny 3 --seed {seed} -o {file}"));
    }
    folder.succeed("gen-routes --count 300 --ports 10 --seed 3 -o routes");
    let honest =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels-asm/dec-ttl.S")).unwrap();
    let begin = "    .globl  kernel\n    .type   kernel, @function\nkernel:\n";
    assert!(honest.contains(begin));
    folder.write("hostile.S", honest.replace(begin, HOSTILE));
    for (name, keeps) in [("hostile", false), ("hostile-keeps", true)] {
        let fields = format!("watchdog = 2_000\nrv32e = true\nkeep_verdict = {keeps}\n");
        let text = "[function]\nname = \"hostile\"\napp = \"dec-ttl\"\nsource = \"hostile.S\"\n";
        folder.write(&format!("{name}.toml"), format!("{text}{fields}"));
    }
    folder.succeed(&format!(
        "gen-trace --kind fixed:60 --packets {packets} --bad-share 3 --rules rules-0 --routes routes \
         --seed {seed} -o in.pcap"
    ));
    folder
}

/// What is counted over all runs.
#[derive(Debug, Default)]
struct Totals {
    packets: usize,
    cycles: u64,
    changes: usize,
    stood: usize,
    forwarded: usize,
    faulted: u64,
    /// Functions that were bent to the stub that drops, and to the one that passes.
    bent: [usize; 2],
    /// Resets with packets in flight, and those of them that fell into a change.
    resets: usize,
    resets_in_changes: usize,
    /// Packets that left with the verdict of a function before the last one.
    kept: usize,
    /// Packets by the number of functions that they visited.
    visits: [usize; MOST + 1],
}

impl Totals {
    /// All has happened that this is about.
    fn is_whole(&self) -> bool {
        self.bent.iter().all(|bent| *bent > 0) && self.resets_in_changes > 0 && self.kept > 0
    }
}

/// Runs of `packets` packets each on this array, until there were `all` of them.
fn soak_of(config: &Config, all: usize, packets: usize, apart: usize) {
    let seed = test_seed();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let library = library(config);
    let mut totals = Totals::default();
    // Some more where chance has left out what must be there.
    while totals.packets < all || (totals.packets < 3 * all && !totals.is_whole()) {
        let run = totals.packets / packets;
        let folder = inputs(packets, random.gen_range(0..1_000_000));
        let action = ["drop", "pass", "report"][run % 3];
        let (functions, made) = (Vec::new(), 0);
        let mut maker = Maker { folder: &folder, random: &mut random, functions, made, action };
        let count = maker.random.gen_range(2..=MOST);
        maker.graph(count, "edge.toml", "limit = 48\n");
        let changes = maker.changes(packets, apart);
        // The first ones begin for sure.
        let change = random.gen_range(0..changes.min(2));
        let mut reset = (run % 3 != 1).then(|| Reset::new(change, random.gen_range(0..3_000)));
        let text = format!("{}\n{}", folder.text("edge.toml"), folder.text("events.toml"));
        let bench = Bench { config: config.clone(), library: library.clone(), folder, packets };
        let mut keeps = Vec::new();
        let ran = bench.run_after(reset.as_mut(), |chain: &mut Chain, _| {
            keeps.extend(chain.all().map(|function| function.guards.keeps_verdict));
            for function in chain.functions.iter_mut().chain(&mut chain.added) {
                if function.name.starts_with("hostile") {
                    let app = function.app.take();
                    function.app = app.map(|app| Box::new(Hostile(app)) as Box<dyn App>);
                }
            }
        });
        let ran = ran.unwrap_or_else(|error| panic!("seed {seed}, run {run}: {error:#}\n{text}"));
        assert_eq!(ran.result.packets.len(), packets, "seed {seed}, run {run}");
        let changed = ran.changed.unwrap();
        let stood = changed.made.iter().filter(|made| made.stood.is_some()).count();
        totals.packets += packets;
        totals.cycles += ran.result.cycles;
        totals.changes += changes;
        totals.stood += stood;
        totals.forwarded += ran.result.packets.iter().filter(|packet| packet.verdict >> 31 == 0).count();
        totals.faulted += ran.counts.iter().map(|counts| u64::from(counts.faulted)).sum::<u64>();
        for hung in &changed.hung {
            totals.bent[0] += usize::from(hung.action == OnHang::Drop);
            totals.bent[1] += usize::from(hung.action == OnHang::Pass);
        }
        if let Some(Reset { in_flight: true, in_change, .. }) = reset {
            totals.resets += 1;
            totals.resets_in_changes += usize::from(in_change);
        }
        ran.ways.iter().for_each(|way| totals.visits[way.len()] += 1);
        // What left behind a function that keeps verdicts has none of it.
        let of_last = ran.ways.iter().map(|way| way.last().is_some_and(|(stop, _)| keeps[stop.function]));
        let kept = ran
            .result
            .packets
            .iter()
            .zip(of_last)
            .filter(|(packet, kept)| *kept && packet.verdict >> 31 == 0);
        totals.kept += kept.count();
    }
    println!("seed {seed}: {totals:?}");
    assert!(totals.forwarded > all / 10 && totals.faulted > 0, "{totals:?}");
    assert!(totals.is_whole() && totals.resets >= totals.resets_in_changes, "{totals:?}");
    // The last ones of a run may be late.
    let lengths = totals.visits.iter().filter(|packets| **packets > 0).count();
    assert!(3 * totals.stood >= totals.changes && lengths > 2, "{totals:?}");
}

/// Each packet leaves once, in order, with the bytes of the golden models of the functions that it
/// visited, on random graphs that change while it is on its way. `HERMES_SEED` repeats a run.
#[test]
fn a_small_soak() {
    soak_of(&array_with_branches(), 3_000, 1_000, 250);
}

/// The same with small caches and 2^20 packets, or `HERMES_PACKETS`.
#[test]
#[ignore = "20 minutes"]
fn soak() {
    let packets = std::env::var("HERMES_PACKETS").ok().and_then(|text| text.parse().ok()).unwrap_or(1 << 20);
    let config =
        Config { l2_bank_lines: 64, l1_lines: 16, instruction_cache_lines: 16, ..array_with_branches() };
    soak_of(&config, packets, 1 << 14, 4_096);
}
