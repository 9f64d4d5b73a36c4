//! A network function that its neighbours do not trust, beside others: what it tries, and that no
//! byte of theirs is read or changed.

use crate::array::{random, Array, Foreign, Marks, FUNCTIONS, RING_SLOTS_LOG2, SLOT_BYTES_LOG2};
use hermes_testbench::cosim::{Device as _, Function, Guards};
use hermes_testbench::iss::Window;
use hermes_testbench::kernel::{build_source, Kernel, RegisterClass};
use rand::Rng as _;
use std::collections::BTreeSet;

/// The hostile function, between two others.
pub const HOSTILE: usize = 1;
/// Of its region: code, argument block, and what it may store to.
const REGION_BYTES: u32 = 8192;
const ARGUMENT: u32 = 1024;
const STATE: u32 = 4096;
/// Bytes of a slot.
const SLOT: u32 = 1 << SLOT_BYTES_LOG2;
/// What a thread that faults stores as its verdict, without the cause.
pub const FAULT: u32 = 0xc000_0000;
const ENDLESS: u32 = 24;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Try {
    Load,
    Store,
    Atomic,
    Reserve,
    Jump,
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    kind: Try,
    address: u32,
    /// Behind the packet in lane 0.
    of_packets: bool,
}

pub fn kernel(source: &str, name: &str) -> Kernel {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    build_source(&format!("{name}.S"), source, RegisterClass::Rv32i, &path).unwrap();
    Kernel::read(&path).unwrap()
}

/// Functions 0 and 2 mark packets, the hostile one is in between, each with a core.
pub struct Bench {
    pub array: Array,
    region: u32,
    context: Function,
    /// Packets of a warp.
    warp: u32,
}

impl Bench {
    /// `code` stands at the begin of the hostile region.
    pub fn new(code: &[u8], guards: Guards) -> Self {
        Self::on(Array::new(Self::functions()), code, guards)
    }

    /// What the functions do.
    pub fn functions() -> [Marks; FUNCTIONS] {
        let marks = |number, drops| Marks { number, drops, ..Marks::default() };
        [marks(5, 3), marks(0, 0), marks(23, 7), marks(0, 0)]
    }

    /// As [`Self::new`], on this array.
    pub fn on(mut array: Array, code: &[u8], guards: Guards) -> Self {
        let region = array.host.rmalloc("the hostile function", REGION_BYTES as usize).unwrap();
        array.host.device_mut().write_memory(region, code).unwrap();
        let stack_base = array.host.rmalloc_aligned("hostile stacks", 3 * 32 * 4 * 256, 4096).unwrap();
        let context = Function {
            entry: region,
            argument: region + ARGUMENT,
            registers: 32,
            stack_base,
            read: Window { base: region, size: REGION_BYTES },
            write: Window { base: region + STATE, size: REGION_BYTES - STATE },
            watchdog: 6_000,
            mcw: 4,
            guards,
        };
        array.host.load_function(HOSTILE as u32, &context).unwrap();
        array.link(0, Some(HOSTILE));
        array.link(HOSTILE, Some(2));
        array.give([0, HOSTILE, 2]);
        array.host.wait_for_cores().unwrap();
        array.host.start(false).unwrap();
        Self { array, region, context, warp: 4 }
    }

    /// What it tries: the edges of all that it may and may not reach.
    fn probes(&self) -> Vec<Probe> {
        let Self { array, region, context, warp } = self;
        let warp = (*warp * SLOT) as i32;
        let at = |kind, address| Probe { kind, address, of_packets: false };
        let of = |kind, offset: i32| Probe { kind, address: offset as u32, of_packets: true };
        let ring_end = array.layout.ring_base + (SLOT << RING_SLOTS_LOG2);
        let others = [
            // Code and tables of others, their stacks, verdicts
            array.contexts[0].entry,
            array.arguments[0][0],
            array.arguments[2][1],
            array.layout.stack_base,
            context.stack_base,
            array.layout.verdict_base,
            array.layout.verdict_base + (4 << RING_SLOTS_LOG2) - 4,
            // The ring around, slots without a packet, the ends of the address space
            array.layout.ring_base - 4,
            ring_end - SLOT,
            ring_end - 4,
            0,
            0x00ff_fffc,
            0x7fff_fffc,
            0xfffb_fffc,
            0xfffc_0000,
            0xffff_fefc,
            0xffff_fffc,
        ];
        let mut probes: Vec<Probe> =
            others.iter().flat_map(|&address| [at(Try::Load, address), at(Try::Store, address)]).collect();
        // The ends of the region, of its state, and of the packets of the warp
        for kind in [Try::Load, Try::Store] {
            for address in [
                region - 4,
                *region,
                region + STATE - 4,
                region + STATE,
                region + REGION_BYTES - 4,
                region + REGION_BYTES,
            ] {
                probes.push(at(kind, address));
            }
            for offset in [-4, -64, -warp, 0, warp - 4, warp, 2 * warp - 4] {
                probes.push(of(kind, offset));
            }
        }
        for address in
            [region - 4, region + STATE + 8, region + ARGUMENT, array.arguments[0][0], ring_end - SLOT]
        {
            probes.extend([at(Try::Atomic, address), at(Try::Reserve, address)]);
        }
        for offset in [-4, 8, warp - 8, warp] {
            probes.extend([of(Try::Atomic, offset), of(Try::Reserve, offset)]);
        }
        // Into the code of others, packets, verdicts, what is no code, and the boot sequence.
        for address in [
            array.contexts[0].entry,
            array.contexts[2].entry + 64,
            array.layout.verdict_base,
            region - 64,
            region + REGION_BYTES,
            region + STATE + 64,
            0,
            0xfffe_0000,
            0xffff_fe00,
            0xffff_ff00,
            0xffff_ff80,
        ] {
            probes.push(at(Try::Jump, address));
        }
        probes.extend([of(Try::Jump, 0), of(Try::Jump, warp)]);
        probes
    }

    /// Writes those of these kinds to the argument block, some again until their number is a power
    /// of two.
    fn arm(&mut self, kinds: &[Try]) -> Vec<Probe> {
        let mut probes = self.probes();
        probes.retain(|probe| kinds.contains(&probe.kind));
        let count = probes.len().next_power_of_two();
        probes = probes.iter().copied().cycle().take(count).collect();
        assert!(ARGUMENT as usize + 16 + 16 * count <= STATE as usize, "{count} probes");
        let mut words = vec![count as u32 - 1, 0, 0, 0];
        words.extend(
            probes.iter().flat_map(|probe| [probe.kind as u32, probe.address, probe.of_packets.into(), 0]),
        );
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.array.host.device_mut().write_memory(self.region + ARGUMENT, &bytes).unwrap();
        probes
    }
}

/// All of the memory as it was.
pub struct Kept(Vec<u8>);

impl Kept {
    /// As it is now, behind the caches.
    pub fn of(array: &mut Array) -> Self {
        Self(array.memory())
    }

    /// Each byte is the same, but for those that `may_change` and those that functions mark: the
    /// verdicts, and a word, of the first `count` packets. Gives the memory.
    pub fn check(
        &self,
        array: &mut Array,
        count: u32,
        told: &str,
        may_change: impl Fn(u32) -> bool,
    ) -> Vec<u8> {
        let after = array.memory();
        let layout = array.layout;
        let is_marked = |address: u32| {
            let [packet, verdict] =
                [layout.ring_base, layout.verdict_base].map(|base| address.wrapping_sub(base));
            verdict < 4 * count || (packet / SLOT < count && (20..24).contains(&(packet % SLOT)))
        };
        for (address, (before, after)) in (0..).zip(self.0.iter().zip(&after)) {
            let same = before == after || is_marked(address) || may_change(address);
            assert!(same, "{told}: the byte at {address:#x} was {before:#x} and is {after:#x}");
        }
        after
    }
}

/// What becomes of a guarded probe of a packet, whose warp has so many: its address, and the cause
/// of its fault.
fn outcome(probe: Probe, packet: u32, warp: u32, ring_base: u32, context: &Function) -> (u32, Option<u32>) {
    let packets = Window { base: ring_base + packet / warp * warp * SLOT, size: warp * SLOT };
    let address = probe.address.wrapping_add(if probe.of_packets { packets.base } else { 0 });
    let guards = context.guards;
    let loads = context.read.contains(address) || (guards.may_load && packets.contains(address));
    let stores = context.write.contains(address) || (guards.may_store && packets.contains(address));
    let refused = |cause, allowed: bool| (!allowed).then_some(cause);
    let cause = match probe.kind {
        Try::Load => refused(5, loads),
        Try::Store => refused(7, stores),
        Try::Atomic => refused(7, loads && stores),
        Try::Reserve => refused(2, guards.may_reserve).or(refused(5, loads)),
        // What is no code is zeros here, and from the begin of the boot sequence on a thread comes
        // to its probe again.
        Try::Jump if address == 0xffff_ff00 => Some(ENDLESS),
        Try::Jump if address > 0xffff_ff00 || context.read.contains(address) => Some(2),
        Try::Jump => Some(1),
    };
    (address, cause)
}

/// Each probe faults, or goes on, as the windows of the function say; no byte of others changes,
/// and what the others do with their packets is what they do without it.
#[test]
fn probes_at_the_edges_of_every_window() {
    let open = Guards { may_reserve: true, ..Guards::tight(true, true) };
    let tight = [(false, false), (true, false), (false, true), (true, true)];
    for guards in tight.map(|(loads, stores)| Guards::tight(loads, stores)).into_iter().chain([open]) {
        probe_every_window(guards, 4);
    }
}

/// The packets of a warp are those with which it was formed, not as many as it could have: the slot
/// behind them is a foreign one. They are so at the second function, too.
#[test]
fn probes_of_warps_that_are_not_full() {
    for warp in [1, 3] {
        probe_every_window(Guards::tight(true, true), warp);
    }
}

/// All probes by warps of so many packets.
fn probe_every_window(guards: Guards, warp: u32) {
    let source = include_str!("kernels/probes.S");
    let code = kernel(source, "probes").segments[0].bytes.clone();
    let mut bench = Bench::new(&code, guards);
    bench.warp = warp;
    let mut kinds = vec![Try::Load, Try::Store, Try::Atomic, Try::Reserve];
    // Lanes that jump into the boot sequence are ended by the watchdog, with others of their warp.
    if warp == 4 {
        kinds.push(Try::Jump);
    }
    let probes = bench.arm(&kinds);
    let (context, ring_base) = (bench.context, bench.array.layout.ring_base);
    let expected = {
        let probes = probes.clone();
        move |packet: u32| {
            let number = packet as usize % probes.len();
            outcome(probes[number], packet, warp, ring_base, &context)
                .1
                .map_or(number as u32, |cause| FAULT | cause)
        }
    };
    let foreign = Foreign { number: HOSTILE, verdict: Box::new(expected) };
    bench.array.foreign = vec![foreign];
    // The packets are in the ring before they are pushed: all that changes then is the array's.
    let count = (4 * probes.len() as u32).min(1 << (RING_SLOTS_LOG2 - 1)) / warp * warp;
    bench.array.fill(count);
    let kept = Kept::of(&mut bench.array);
    if warp == 4 {
        bench.array.host.push_tasks(count).unwrap();
    } else {
        // Each is formed by its time-out, before the packets of the next one come.
        for pushed in (warp..=count).step_by(warp as usize) {
            bench.array.host.push_tasks(warp).unwrap();
            while bench.array.host.committed().unwrap() < pushed {
                bench.array.run(50);
            }
        }
    }
    bench.array.drain();
    bench.array.check();

    // Words that may be others: what the probes store to.
    let mut stored = BTreeSet::new();
    for packet in 0..count {
        let probe = probes[packet as usize % probes.len()];
        let (address, cause) = outcome(probe, packet, warp, ring_base, &context);
        if cause.is_none() && matches!(probe.kind, Try::Store | Try::Atomic) {
            stored.insert(address & !3);
        }
    }
    kept.check(&mut bench.array, count, &format!("{guards:?}"), |at| stored.contains(&(at & !3)));
    let counts = bench.array.host.function_counts(HOSTILE as u32).unwrap();
    assert!(counts.faulted > 100 && counts.forwarded > 10, "{counts:?}");
}

/// Without guards the same kernel reaches most of it: the probes are real.
#[test]
fn without_guards_the_probes_go_through() {
    let source = include_str!("kernels/probes.S");
    let code = kernel(source, "probes").segments[0].bytes.clone();
    let mut bench = Bench::new(&code, Guards::default());
    let probes = bench.arm(&[Try::Load]);
    bench.array.push_warps(4 * probes.len() as u32);
    bench.array.drain();
    // Those that fault are in the stacks' guard and behind the memory.
    let counts = bench.array.host.function_counts(HOSTILE as u32).unwrap();
    assert!(counts.forwarded > 3 * counts.faulted, "{counts:?}");
}

/// A kernel of random words ends, and no byte of others is another: in the memory, in packets that
/// it may not store to, in the counters of the function before it.
#[test]
fn random_words_as_a_kernel() {
    let mut random = random();
    for round in 0..6 {
        let mut code = vec![0; ARGUMENT as usize];
        random.fill(&mut code[..]);
        // Some of them as they would be in a kernel that stores, jumps and never ends.
        for word in code.chunks_exact_mut(4) {
            let opcode = [0x23, 0x03, 0x6f, 0x67, 0x63, 0x13, 0x33, 0x2f, 0x37][random.gen_range(0..9)];
            word[0] = if random.gen_bool(0.8) { word[0] & 0x80 | opcode } else { word[0] };
            if matches!(opcode, 0x23 | 0x03 | 0x2f) {
                word[1] = word[1] & 0x8f | 0x20;
            }
        }
        let stores = round % 2 == 1;
        let mut bench = Bench::new(&code, Guards::tight(true, stores));
        bench.array.link(HOSTILE, None);
        let count = 240;
        bench.array.fill(count);
        let kept = Kept::of(&mut bench.array);
        bench.array.host.push_tasks(count).unwrap();
        // Words that others change live as well.
        for _ in 0..20 {
            bench.array.run(300);
            bench.context.watchdog = random.gen_range(500..6_000);
            bench.context.entry = bench.region + 4 * random.gen_range(0..ARGUMENT / 4);
            bench.array.host.load_function(HOSTILE as u32, &bench.context).unwrap();
        }
        bench.array.drain();
        let layout = bench.array.layout;
        let context = bench.context;
        let own = |address: u32| {
            let slot = address.wrapping_sub(layout.ring_base) / SLOT;
            context.write.contains(address)
                || (context.stack_base..context.stack_base + 3 * 32 * 4 * 256).contains(&address)
                || (slot < count && stores)
        };
        let after = kept.check(&mut bench.array, count, &format!("round {round}"), own);
        let [first, hostile] = [0, HOSTILE as u32].map(|n| bench.array.host.function_counts(n).unwrap());
        assert_eq!(first.lanes, count);
        assert_eq!(first.forwarded, hostile.lanes);
        assert_eq!(hostile.forwarded + hostile.dropped, hostile.lanes);
        if !stores {
            let marked = (0..count).map(|packet| (layout.ring_base + packet * SLOT + 20) as usize);
            for at in marked {
                let word = |bytes: &[u8]| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
                assert_eq!(word(&after), word(&kept.0).wrapping_mul(31).wrapping_add(5), "{at:#x}");
            }
        }
    }
}

/// What a function leaves in registers of both classes, scratchpad, stack and caches is not there
/// for the next one, whenever the core changes hands.
#[test]
fn nothing_remains_when_a_core_changes_hands() {
    let mut random = random();
    let mut array = Array::new([Marks::default(); FUNCTIONS]);
    let folder = tempfile::tempdir().unwrap();
    let source = include_str!("kernels/remains.S");
    let mut functions = Vec::new();
    for (class, registers) in [(RegisterClass::Rv32i, 32), (RegisterClass::Rv32e, 16)] {
        let path = folder.path().join("remains.elf");
        let small = format!(".set SMALL, 1\n{source}");
        build_source("remains.S", if registers == 16 { &small } else { source }, class, &path).unwrap();
        let kernel = Kernel::read(&path).unwrap();
        let bytes = &kernel.segments[0].bytes;
        let region = array.host.rmalloc("a kernel", bytes.len()).unwrap();
        array.host.device_mut().write_memory(region, bytes).unwrap();
        let place = |name: &str| region + kernel.symbol(name).unwrap().address - kernel.segments[0].address;
        for name in ["leave", "look"] {
            let stack_base = array.host.rmalloc_aligned("stacks", 3 * 32 * 4 * 256, 4096).unwrap();
            functions.push(Function {
                entry: place(name),
                argument: 0,
                registers,
                stack_base,
                read: Window { base: region, size: bytes.len().next_multiple_of(64) as u32 },
                write: Window::default(),
                watchdog: 0,
                mcw: 4,
                guards: Guards::tight(true, false),
            });
        }
    }
    let kept = Kept::of(&mut array);
    array.host.start(true).unwrap();
    // NF 1 leaves, NF 2 looks, of any class each.
    let mut looked = Vec::new();
    for round in 0..20 {
        let leaves = functions[2 * (round % 2)];
        let looks = functions[2 * (round / 2 % 2) + 1];
        array.give([9; 3]);
        array.host.wait_for_cores().unwrap();
        array.host.load_function(1, &leaves).unwrap();
        array.host.load_function(2, &looks).unwrap();
        array.give([1; 3]);
        array.host.set_chain(0, 1).unwrap();
        array.host.wait_for_cores().unwrap();
        array.push_warps(48);
        // All have started.
        array.run(200);
        array.host.set_chain(0, 2).unwrap();
        if round % 3 == 0 {
            array.drain();
        } else {
            array.run(random.gen_range(1..9_000));
        }
        array.give([2; 3]);
        looked.extend(array.next_packet()..array.next_packet() + 48);
        array.push_warps(48);
        array.drain();
    }
    // Stacks alone are stored to, and the packets are the host's.
    let (ring_base, count) = (array.layout.ring_base, array.next_packet());
    let stacks: Vec<_> = functions.iter().map(|function| function.stack_base).collect();
    kept.check(&mut array, count, "left", |address| {
        let is_stack = |base: &u32| (*base..*base + 3 * 32 * 4 * 256).contains(&address);
        stacks.iter().any(is_stack) || address.wrapping_sub(ring_base) < count * SLOT
    });
    for packet in 0..array.next_packet() {
        let expected = if looked.contains(&packet) { 0 } else { 1 };
        assert_eq!(array.verdict(packet), expected, "packet {packet}");
    }
    // A function finds what it left itself.
    array.host.load_function(3, &functions[0]).unwrap();
    array.host.set_chain(0, 3).unwrap();
    array.give([3, 9, 9]);
    array.push_warps(16);
    array.drain();
    let looks = Function { entry: functions[1].entry, ..functions[0] };
    array.host.load_function(3, &looks).unwrap();
    let first = array.next_packet();
    array.push_warps(16);
    array.drain();
    array.host.clean_and_invalidate_caches().unwrap();
    for packet in first..first + 16 {
        assert_eq!(array.verdict(packet), 0x8000_0007, "packet {packet}");
    }
}
