//! The network interface among the roles: a hart posts puts, the array is its own peer.
//!
//! | what | kept away by | without it |
//! | --- | --- | --- |
//! | a put is seen, the one before it is not | one queue pair, in whose order messages are performed | two queue pairs |
//! | the flag is seen, the bytes are old | acquire of who reads | no `aq`, no fence |
//! | a put takes bytes that were stored behind it | wait until it is complete | no wait |
//! | a put does not take bytes that were stored before its flag | release of who stores | the stores of a core leave in order, so a fault takes its place (`faults.rs`) |

use hermes_rtl::host::registers::offset;
use hermes_testbench::cosim::Latency;

use super::array::{library, play, play_on, Role, Who, Who::Hart, Who::Lane, HEAP, HEAP_BLOCK, ROUNDS};

/// The region of the puts.
const REGION: u32 = 1;
/// Bytes of a put of several packets.
const MANY: u32 = 2048;

/// What a register is set to, an address or value in a register of the hart; t6 is where the
/// registers are.
fn set(name: &str, value: &str) -> String {
    format!("sw {value}, {}(t6)\n", offset(name))
}

fn post(operation: u32, remote: &str, local: &str, bytes: u32, pair: u32) -> String {
    format!(
        "lui t6, 0xffffe\nli t0, {operation}\n{}{}{}li t0, {bytes}\n{}li t0, {}\n{}",
        set("NET_STAGE_0", "t0"),
        set("NET_STAGE_1", remote),
        set("NET_STAGE_2", local),
        set("NET_STAGE_3", "t0"),
        REGION << 8 | pair,
        set("NET_POST", "t0")
    )
}

/// A hart posts a put of `bytes` bytes: its addresses are in registers. Changes t0 and t6.
fn put(remote: &str, local: &str, bytes: u32, pair: u32) -> String {
    post(1, remote, local, bytes, pair)
}

/// A hart posts a put of the word 1. Changes t0 and t6.
pub fn put_flag(remote: &str, pair: u32) -> String {
    format!("lui t6, 0xffffe\nli t0, 1\n{}{}", set("NET_STAGE_4", "t0"), post(0x401, remote, "zero", 4, pair))
}

/// A hart waits until all puts are complete. Changes t0, t1 and t6.
pub fn complete() -> String {
    let (posted, completed) = (offset("NET_POSTED"), offset("NET_COMPLETED"));
    format!("lui t6, 0xffffe\n9: lw t0, {posted}(t6)\nlw t1, {completed}(t6)\nbne t0, t1, 9b\n")
}

/// t4: the heap of this round; t5: its second half. Changes t3.
fn heap() -> String {
    let half = HEAP_BLOCK / 2;
    format!(
        "li t4, {HEAP}\nslli t3, s1, {}\nadd t4, t4, t3\nli t5, {half}\nadd t5, t4, t5\n",
        HEAP_BLOCK.ilog2()
    )
}

/// Rounds that end otherwise than the puts say, with a quick and a slow memory.
fn wrong(roles: &[Role], right: [u32; 2]) -> u32 {
    play(roles).iter().map(|outcome| outcome.count(|r| r[1] != right)).sum()
}

/// Who waits for y.
const WAITS: &str = "1: amoor.w s6, zero, (a1)\nbeqz s6, 1b\n";

/// A put of 64 bytes, and behind it one that is the flag: who waits for the flag and acquires sees
/// the bytes, of which it had an old copy.
#[test]
fn a_flag_that_is_put() {
    // x is the target, z the source, y the flag.
    let puts = put("a0", "a2", 64, 0) + &put_flag("a1", 0) + &complete();
    for (reader, acquire) in [(Lane, "amoor.w.aq s6, zero, (a1)"), (Lane, "fence r, r"), (Hart, "fence r, r")]
    {
        let reads = format!("{WAITS}{acquire}\nlw s7, 0(a0)");
        let weak = format!("{WAITS}lw s7, 0(a0)");
        let roles = |reads| -> [Role; 2] {
            [(Hart, "li t0, 1\nsw t0, 0(a2)\nfence rw, rw", &puts), (reader, "lw t0, 0(a0)", reads)]
        };
        assert_eq!(wrong(&roles(&reads), [1, 1]), 0, "{reader:?}, {acquire}");
        let seen: u32 = play(&roles(&weak)).iter().map(|outcome| outcome.count(|r| r[1] == [1, 0])).sum();
        println!("a flag that is put, {reader:?}: without {acquire} {seen} of {} rounds", 2 * ROUNDS);
        assert!(seen > 0, "{reader:?} needs no {acquire}");
    }
}

/// The data before their signal: a put of several packets, then the flag by the same queue pair. By
/// another one it passes.
#[test]
fn messages_of_a_queue_pair_are_in_order() {
    let last = MANY - 4;
    let before = format!("{}li t0, 1\nli t3, {last}\nadd t3, t3, t4\nsw t0, 0(t3)\nfence rw, rw", heap());
    let puts = |pair| heap() + &put("t5", "t4", MANY, 0) + &put_flag("a1", pair) + &complete();
    let reads =
        format!("{}{WAITS}amoor.w.aq s6, zero, (a1)\nli t3, {last}\nadd t3, t3, t5\nlw s7, 0(t3)", heap());
    let (same, other) = (puts(0), puts(1));
    let roles = |puts| -> [Role; 2] { [(Hart, &before, puts), (Lane, "", &reads)] };
    assert_eq!(wrong(&roles(&same), [1, 1]), 0);
    let seen = wrong(&roles(&other), [1, 1]);
    println!("by two queue pairs: {seen} of {} rounds", 2 * ROUNDS);
    assert!(seen > 0, "queue pairs are in order");
}

/// The bytes of a put are read when its packets are sent: they may change when it is complete.
#[test]
fn a_source_changes_when_its_put_is_complete() {
    let last = MANY - 4;
    let before = format!("{}li t0, 1\nli t3, {last}\nadd t3, t3, t4\nsw t0, 0(t3)\nfence rw, rw", heap());
    let puts = |wait: &str| {
        format!(
            "{}li t3, {last}\nadd t2, t3, t4\nadd t3, t3, t5\n{}{wait}li t0, 2\nsw t0, 0(t2)\n{}fence rw, rw\nlw s7, 0(t3)",
            heap(),
            put("t5", "t4", MANY, 0),
            complete()
        )
    };
    let (waits, hurries) = (puts(&complete()), puts(""));
    let count = |body: &str, value: u32| -> u32 {
        play(&[(Hart, &before, body)]).iter().map(|outcome| outcome.count(|r| r[0] == [0, value])).sum()
    };
    assert_eq!(count(&waits, 1), 2 * ROUNDS);
    let seen = count(&hurries, 2);
    println!("without waiting: {seen} of {} rounds", 2 * ROUNDS);
    assert!(seen > 0, "a put has its bytes when it is posted");
}

/// A lane stores x and then the flag y, with this release between them. A hart that sees the flag
/// puts the line of x to z. r1 of the hart: what came.
pub fn stored_and_put(release: &str) -> [(Who, String, String); 2] {
    let stores = format!("li t0, 1\nsw t0, 0(a0)\n{release}\nsw t0, 0(a1)");
    let puts = format!("{WAITS}{}{}fence rw, rw\nlw s7, 0(a2)", put("a2", "a0", 64, 0), complete());
    [(Lane, String::new(), stores), (Hart, String::new(), puts)]
}

/// A lane changes a word of a packet that it has in its data cache, copies the packet to the heap,
/// and sets the flag y with this release between them. A hart that sees the flag puts the copy to
/// z. r1 of the hart: what came.
pub fn changed_copied_and_put(release: &str) -> [(Who, String, String); 2] {
    let copies = format!(
        "{}lw t0, 0(a0)\naddi t0, t0, 1\nsw t0, 0(a0)\nlw t0, 0(a0)\nlw t1, 4(a0)\nsw t1, 4(t4)\nsw t0, 0(t4)\nli t0, 1\n{release}\nsw t0, 0(a1)",
        heap()
    );
    let puts = format!("{}{WAITS}{}{}fence rw, rw\nlw s7, 0(a2)", heap(), put("a2", "t4", 64, 0), complete());
    [(Lane, "lw t0, 0(a0)".to_string(), copies), (Hart, String::new(), puts)]
}

/// As roles.
pub fn roles(roles: &[(Who, String, String); 2]) -> [Role<'_>; 2] {
    roles.each_ref().map(|(who, before, then)| (*who, before.as_str(), then.as_str()))
}

/// What a lane stored before its release is what a put of a hart that saw its flag takes.
#[test]
fn what_a_lane_released_is_put() {
    for prepared in [stored_and_put("fence rw, w"), changed_copied_and_put("fence rw, w")] {
        for latency in [Latency::Fixed(1), Latency::Fixed(60)] {
            let outcome = play_on(library(), &roles(&prepared), "", latency);
            assert_eq!(outcome.count(|r| r[1] == [1, 1]), ROUNDS, "{:?}", outcome.counts);
        }
    }
}
