//! The array of these tests, and how a test is put together from its roles.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use hermes_rtl::config::Config;
use hermes_testbench::cosim::{
    ArraySetup, Descriptor, Device as _, Host, KernelImage, Latency, MemoryOptions, Simulation,
};
use hermes_testbench::kernel::{build_source, Kernel, RegisterClass};
use hermes_testbench::model;
use verilator_sys::ModelLibrary;

/// Rounds of a test: the roles are shifted against each other by -FARTHEST to FARTHEST
/// instructions, from round to round by one or two more.
pub const ROUNDS: u32 = 64;
const FARTHEST: u32 = 48;
// The shift is 3 / 2 of the round less FARTHEST.
const _: () = assert!(4 * FARTHEST == 3 * ROUNDS);
/// Variables of the first round; those of a round have `BLOCK` bytes, all zero at first.
const BLOCKS: u32 = 0x10_0000;
const BLOCK: u32 = 1024;
/// In a block: where a role leaves r0 and r1, 8 bytes each.
const RESULTS: u32 = 512;
/// Variables that all rounds share, behind the blocks.
const SHARED: u32 = BLOCKS + ROUNDS * BLOCK;
/// What puts of many bytes are from and to: `HEAP_BLOCK` bytes a round, zero at first.
pub const HEAP: u32 = 0x14_0000;
pub const HEAP_BLOCK: u32 = 8192;
/// Bytes of the packets of a put.
const MTU: u32 = 256;
/// Most nops of a delay.
const MOST: u32 = 63;
/// Cycles that a test may take.
const LIMIT: u64 = 3_000_000;

/// Who plays a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// A hart: the first of these is hart 0, and so on.
    Hart,
    /// A lane of the core.
    Lane,
}

/// A role: who, what is done before the roles meet, and what then. Registers: a0 to a2 addresses of
/// the variables x, y and z, in a line each; a3 what all rounds share; s6 and s7, zero at first,
/// the results r0 and r1; t0 to t6 free.
pub type Role<'a> = (Who, &'a str, &'a str);

/// Results of the roles in one round.
pub type Results = Vec<[u32; 2]>;

/// How often the roles had which results.
pub type Counts = BTreeMap<Results, u32>;

/// The array: four harts with data caches, one core with one lane; with a network interface that is
/// its own peer, so that a `fence` of the lane drops its data cache only if it must.
pub fn config() -> Config {
    Config {
        cores: 1,
        lanes: 1,
        warps: 4,
        atomics: true,
        command_threads: 4,
        command_cache_lines: 16,
        uli_channels: 2,
        spawn_slots: 8,
        network: true,
        l1_lines: 16,
        l2_banks: 2,
        l2_bank_lines: 32,
        ..Config::preset("fpga").unwrap()
    }
}

/// The model of the array.
pub fn library() -> &'static ModelLibrary {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let design = hermes_rtl::top::emit_top(&config()).unwrap();
        model::checked(&design).unwrap()
    })
}

/// The text of a role: it meets the others in each round, waits for its delay, acts, and leaves its
/// results.
fn text(index: usize, (who, before, then): Role, roles: usize) -> String {
    let shift = "slli s5, s1, 1\nadd s5, s5, s1\nsrli s5, s5, 1";
    let delay = match index {
        0 => format!("{shift}\naddi s5, s5, -{FARTHEST}"),
        1 => format!("{shift}\nli t1, {FARTHEST}\nsub s5, t1, s5"),
        _ => format!("li s5, {}\nmul s5, s5, s1\nandi s5, s5, 31", 5 + 2 * index),
    };
    let end = if who == Who::Hart { "ebreak" } else { "ret" };
    format!(
        r#"
    .balign 64
role_{index}:
    li      s0, {BLOCKS}
    li      s1, 0
    li      a3, {SHARED}
round_{index}:
    mv      a0, s0
    addi    a1, s0, 64
    addi    a2, s0, 128
    li      s6, 0
    li      s7, 0
    fence   rw, rw
    {before}
    # The roles meet. Without an acquire: what is cached stays so.
    addi    t0, s0, 256
    li      t1, 1
    amoadd.w zero, t1, (t0)
    li      t2, {roles}
1:  amoor.w t1, zero, (t0)
    bne     t1, t2, 1b
    # At most {MOST} nops
    {delay}
    bgez    s5, 2f
    li      s5, 0
2:  li      t1, {MOST}
    sub     t1, t1, s5
    slli    t1, t1, 2
    la      t2, nops_{index}
    add     t2, t2, t1
    jr      t2
nops_{index}:
    .rept   {MOST}
    nop
    .endr
    {then}
    sw      s6, {first}(s0)
    sw      s7, {second}(s0)
    li      t0, {BLOCK}
    add     s0, s0, t0
    addi    s1, s1, 1
    li      t0, {ROUNDS}
    bne     s1, t0, round_{index}
    fence   rw, rw
    {end}
"#,
        first = RESULTS + 8 * index as u32,
        second = RESULTS + 8 * index as u32 + 4,
    )
}

/// What a run leaves.
pub struct Outcome {
    /// How often the roles had which results.
    pub counts: Counts,
    /// The words that all rounds share.
    pub shared: [u32; 16],
}

impl Outcome {
    /// Rounds whose results are as `forbidden` says.
    pub fn count(&self, forbidden: impl Fn(&Results) -> bool) -> u32 {
        self.counts.iter().filter(|(results, _)| forbidden(results)).map(|(_, count)| count).sum()
    }
}

/// Plays the roles in all rounds on `library`. `common` is assembled behind them.
pub fn play_on(library: &ModelLibrary, roles: &[Role], common: &str, latency: Latency) -> Outcome {
    let outcome = try_to_play_on(library, roles, common, latency, LIMIT);
    outcome.unwrap_or_else(|| panic!("the roles do not end: {roles:?}"))
}

/// As [`play_on`]; `None` if the roles do not end within `limit` cycles.
pub fn try_to_play_on(
    library: &ModelLibrary,
    roles: &[Role],
    common: &str,
    latency: Latency,
    limit: u64,
) -> Option<Outcome> {
    let mut source = ".option arch, +a\n.text\n.globl kernel\nkernel:\n    ret\n".to_string();
    for (index, role) in roles.iter().enumerate() {
        source += &text(index, *role, roles.len());
    }
    source += common;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("litmus.elf");
    build_source("litmus.S", &source, RegisterClass::Rv32i, &path).unwrap();
    let kernel = Kernel::read(&path).unwrap();
    let label = |index: usize| kernel.symbol(&format!("role_{index}")).unwrap().address;
    let memory = MemoryOptions { latency, ..MemoryOptions::default() };
    let model = library.instantiate().unwrap();
    let mut host = Host::new(Simulation::new(model, 4 << 20, memory).unwrap()).unwrap();
    host.load_kernel(&KernelImage::from(&kernel)).unwrap();
    host.configure(&ArraySetup { ring_slots_log2: 5, slot_bytes_log2: 8, ..ArraySetup::default() }).unwrap();
    host.enable_spawner(4, 0).unwrap();
    host.connect_to_itself(2, BLOCKS, HEAP + ROUNDS * HEAP_BLOCK - BLOCKS, MTU).unwrap();
    let (mut harts, mut jobs) = (0, 0);
    for (index, (who, ..)) in roles.iter().enumerate() {
        match who {
            Who::Lane => {
                let descriptor = Descriptor { entry: label(index), threads: 1, ..Descriptor::default() };
                host.spawn(jobs, &descriptor).unwrap();
                jobs += 1;
            }
            Who::Hart => {
                harts += 1;
                host.write("CP_ENTRY", label(index)).unwrap();
                host.write("CP_CONTROL", 0x100 | ((1 << harts) - 1)).unwrap();
            }
        }
    }
    let all = (1 << harts) - 1;
    while host.read("CP_STATUS").unwrap() & 0xff != all || host.busy_jobs().unwrap() != 0 {
        if host.device_mut().cycle() >= limit {
            return None;
        }
        host.device_mut().run(500).unwrap();
    }
    assert_eq!(host.read("FAULTS").unwrap(), 0, "a lane faulted: {roles:?}");
    assert_eq!(host.read("CP_STATUS").unwrap() >> 16 & 0xff, 0, "a hart is locked up: {roles:?}");
    assert_eq!(host.read("NET_ERROR").unwrap(), 0, "a command failed: {roles:?}");
    host.clean_caches().unwrap();
    let mut word = |address: u32| {
        let mut bytes = [0; 4];
        host.device_mut().read_memory(address, &mut bytes).unwrap();
        u32::from_le_bytes(bytes)
    };
    let mut counts = Counts::new();
    for round in 0..ROUNDS {
        let results = BLOCKS + round * BLOCK + RESULTS;
        let of = |role: u32| [results + 8 * role, results + 8 * role + 4];
        let round = (0..roles.len() as u32).map(|role| of(role).map(&mut word)).collect();
        *counts.entry(round).or_default() += 1;
    }
    let shared = std::array::from_fn(|index| word(SHARED + 4 * index as u32));
    Some(Outcome { counts, shared })
}

/// Plays the roles on the array as it is, with a quick and a slow memory.
pub fn play(roles: &[Role]) -> [Outcome; 2] {
    [Latency::Fixed(1), Latency::Fixed(60)].map(|latency| play_on(library(), roles, "", latency))
}

/// What `strong` forbids never happens, although the roles meet in different orders: it has more
/// than one result. It does happen in `weak`.
pub fn needs(name: &str, strong: &[Role], weak: &[Role], forbidden: impl Fn(&Results) -> bool) {
    forbids(name, strong, &forbidden);
    happens(name, weak, forbidden);
}

/// The first half of [`needs`].
pub fn forbids(name: &str, strong: &[Role], forbidden: impl Fn(&Results) -> bool) {
    for outcome in play(strong) {
        assert_eq!(outcome.count(&forbidden), 0, "{name}: {:?}", outcome.counts);
        assert!(outcome.counts.len() > 1, "{name}: the offsets make no difference: {:?}", outcome.counts);
    }
}

/// The second half of [`needs`].
pub fn happens(name: &str, weak: &[Role], forbidden: impl Fn(&Results) -> bool) {
    let seen: u32 = play(weak).iter().map(|outcome| outcome.count(&forbidden)).sum();
    println!("{name}: without its fence {seen} of {} rounds", 2 * ROUNDS);
    assert!(seen > 0, "{name}: the test shows nothing without its fence");
}
