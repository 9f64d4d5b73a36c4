//! Events of the array as user-level interrupts: a free slot of the thread spawner (scenario 2),
//! bits of CP_IRQ_PENDING (scenario 3), and what the CSRs of a channel show.

use hermes_testbench::cosim::{Device as _, Host, Simulation};
use hermes_testbench::firmware::FirmwareEnd;

use crate::{debug, host, host_of, program};

/// Cycles that firmware may run.
const LIMIT: u64 = 500_000;
/// What the programs have in common. `main` gives the line of the first check that fails.
const COMMON: &str = r#"
#define CHECK(condition) do { if (!(condition)) return __LINE__; } while (0)
#define STATUS(channel) csr_read(0x830 + channel)
"#;

fn start(host: &mut Host<Simulation>, text: &str) {
    let firmware = program(&format!("{COMMON}#line 1\n{text}"));
    host.reserve_firmware(&firmware).unwrap();
    host.start_firmware(&firmware).unwrap();
}

/// Attends to the firmware until it ends.
fn end(host: &mut Host<Simulation>) -> FirmwareEnd {
    let start = host.device_mut().cycle();
    loop {
        if let Some(end) = host.attend_firmware().unwrap() {
            return end;
        }
        assert!(host.device_mut().cycle() - start < LIMIT, "the firmware does not end");
        host.device_mut().run(100).unwrap();
    }
}

/// Runs until the hart sleeps in `wfi`.
fn until_asleep(host: &mut Host<Simulation>) {
    for _ in 0..1_000 {
        if host.read("CP_STATUS").unwrap() >> 8 & 1 == 1 {
            return;
        }
        host.device_mut().run(100).unwrap();
    }
    panic!("the hart does not sleep");
}

/// Arm, job, handler, ERETURN; `wfi` woken by it; a slot that is not in the mask and a disarmed
/// channel do nothing; one delivery for several slots.
#[test]
fn a_free_slot_interrupts() {
    let text = r#"
        __asm__(".pushsection .text.thread, \"ax\"\n.balign 64\n.globl thread\nthread:\n"
                "slli t0, a0, 2\nadd t0, t0, a1\nadd t1, a0, a2\nsw t1, 0(t0)\nret\n.popsection");
        extern const char thread[];
        static struct spawn_descriptor page[16] __attribute__((aligned(1024)));
        static volatile uint32_t completion[4][16] __attribute__((aligned(64)));
        static volatile uint32_t results[4][16] __attribute__((aligned(64)));
        static volatile uint32_t handled, cause, busy, word, done;
        ULI_HANDLER(slot_free)
        {
            cause = csr_read(ulicause);
            busy = spawn_busy();
            word = completion[3][0];
            handled++;
            done = 1;
        }
        static void job(uint32_t slot, uint32_t threads, uint32_t token)
        {
            page[slot].argument0 = (uint32_t)results[slot];
            page[slot].argument1 = token << 8;
            page[slot].shape = threads;
            page[slot].completion = (uint32_t)completion[slot];
            page[slot].token = token;
            spawn(&page[slot], thread);
        }
        int main(void)
        {
            REGISTER(SPAWN_CONTROL) = 1;
            CHECK(spawn_page(page));
            CHECK(uli_arm(ULI_SLOT_FREE, 1, slot_free, 1 << 3 | 1 << 0) == 0);
            /* The program works on meanwhile. */
            uint32_t turns = 0;
            job(3, 8, 5);
            while (!done)
                turns++;
            CHECK(handled == 1 && cause == 0x201 && turns > 5);
            CHECK(!(busy & 8) && word == 5);
            acquire();
            for (uint32_t i = 0; i < 8; i++)
                CHECK(results[3][i] == (5 << 8) + i);
            /* Asleep. */
            for (uint32_t round = 6; round < 10; round++) {
                done = 0;
                job(3, 16, round);
                uli_wait(&done);
                CHECK(handled == round - 4 && word == round && !(busy & 8));
            }
            /* Not in the mask. */
            job(2, 8, 1);
            while (spawn_busy())
                ;
            for (volatile uint32_t i = 0; i < 30; i++)
                ;
            CHECK(handled == 5 && completion[2][0] == 1);
            /* Both while nothing is delivered: one delivery, when both are free. */
            uli_block();
            job(0, 4, 2);
            job(3, 4, 11);
            while (spawn_busy())
                ;
            CHECK(handled == 5 && csr_read(ulipend) == 2);
            uli_unblock();
            CHECK(handled == 6 && csr_read(ulipend) == 0);
            /* Disarmed. */
            CHECK(uli_disarm(1) == (ULI_WAS_ARMED | 2 << 8));
            job(3, 4, 12);
            while (spawn_busy())
                ;
            for (volatile uint32_t i = 0; i < 30; i++)
                ;
            CHECK(handled == 6 && csr_read(ulipend) == 0 && completion[3][0] == 12);
            return 0;
        }"#;
    let mut host = host();
    start(&mut host, text);
    assert_eq!(end(&mut host), FirmwareEnd::Value(0), "the line of the check");
    assert_eq!(host.read("SPAWN_JOBS").unwrap(), 9);
}

/// Doorbells of the program itself and of the host, the mailbox; a bit that is set already
/// interrupts again; `wfi` woken; others do nothing.
#[test]
fn a_bit_of_cp_irq_pending_interrupts() {
    let text = r#"
        static volatile uint32_t handled, cause, pending, word, done;
        ULI_HANDLER(event)
        {
            cause = csr_read(ulicause);
            pending = REGISTER(CP_IRQ_PENDING);
            word = REGISTER(MAILBOX_IN_0);
            handled++;
            done = 1;
        }
        int main(void)
        {
            CHECK(uli_arm(ULI_EVENT, 0, event, EVENT_DOORBELL(0) | EVENT_DOORBELL(15) | EVENT_MAILBOX) == 0);
            uint32_t turns = 0;
            REGISTER(CP_DOORBELL) = EVENT_DOORBELL(0);
            while (!done)
                turns++;
            CHECK(handled == 1 && cause == 0x300 && pending == EVENT_DOORBELL(0) && turns < 10);
            /* Not cleared: again. */
            REGISTER(CP_DOORBELL) = EVENT_DOORBELL(0);
            while (handled < 2)
                ;
            CHECK(pending == EVENT_DOORBELL(0));
            /* A write that sets nothing, clears, or sets what is not in the mask. */
            REGISTER(CP_IRQ_PENDING) = ~0u;
            REGISTER(CP_DOORBELL) = EVENT_DOORBELL(1);
            REGISTER(CP_DOORBELL) = 0;
            for (volatile uint32_t i = 0; i < 30; i++)
                ;
            CHECK(handled == 2 && REGISTER(CP_IRQ_PENDING) == EVENT_DOORBELL(1));
            REGISTER(CP_IRQ_PENDING) = ~0u;
            /* Asleep, until the host rings and writes. */
            done = 0;
            uli_wait(&done);
            CHECK(handled == 3 && pending == EVENT_DOORBELL(15));
            REGISTER(CP_IRQ_PENDING) = EVENT_DOORBELL(15);
            done = 0;
            uli_wait(&done);
            CHECK(handled == 4 && pending == EVENT_MAILBOX && word == 77);
            uint32_t words[4];
            CHECK(mailbox_receive(words) && words[3] == 80);
            CHECK(uli_disarm(0) == (ULI_WAS_ARMED | 3 << 8));
            REGISTER(CP_DOORBELL) = EVENT_DOORBELL(0);
            for (volatile uint32_t i = 0; i < 30; i++)
                ;
            CHECK(handled == 4);
            return 0;
        }"#;
    let mut host = host();
    start(&mut host, text);
    until_asleep(&mut host);
    // Not in the mask: it sleeps on.
    host.write("CP_DOORBELL", 1 << 18).unwrap();
    host.device_mut().run(500).unwrap();
    until_asleep(&mut host);
    host.write("CP_IRQ_PENDING", 1 << 18).unwrap();
    host.write("CP_DOORBELL", 1 << 31).unwrap();
    host.device_mut().run(1_000).unwrap();
    until_asleep(&mut host);
    host.firmware_mut().unwrap().send([77, 78, 79, 80]);
    assert_eq!(end(&mut host), FirmwareEnd::Value(0), "the line of the check");
}

/// CSRs 0x810 to 0x83f: handler, parameter, and the rest of each channel; read-only, and illegal
/// for channels that are not there.
#[test]
fn csrs_of_a_channel() {
    let text = r#"
        static volatile uint32_t traps, handled;
        ULI_HANDLER(first) { handled |= 1; }
        ULI_HANDLER(second) { handled |= 2; }
        static int skip(uint32_t cause, uint32_t value, struct trap_frame *frame)
        {
            traps++;
            frame->pc += 4;
            return cause != 2;
        }
        int main(void)
        {
            exception_handle(skip);
            static volatile uint32_t range[16] __attribute__((aligned(64)));
            CHECK(STATUS(0) == 0 && STATUS(1) == 0);
            uli_block();
            uli_arm(ULI_WRITTEN, 0, first, uli_range(range, 64));
            csr_set(ulictl, 0x2a00);
            uli_arm(ULI_EVENT, 1, second, 0xa5c30010u);
            CHECK(csr_read(0x810) == (uint32_t)first && csr_read(0x811) == (uint32_t)second);
            CHECK(csr_read(0x820) == ((uint32_t)range | 0x1f) && csr_read(0x821) == 0xa5c30010u);
            CHECK(STATUS(0) == 0x40000100 && STATUS(1) == 0x402a0300);
            REGISTER(CP_DOORBELL) = EVENT_DOORBELL(0);
            for (volatile uint32_t i = 0; i < 30; i++)
                ;
            CHECK(STATUS(1) == 0x602a0300 && csr_read(uliarm) == 3 && csr_read(ulipend) == 2);
            /* Channel 0 is another context's. */
            CHECK(uli_disarm(0) == 0xc0000100 && STATUS(0) == 0x40000100);
            uli_unblock();
            CHECK(handled == 2 && STATUS(1) == 0x402a0300 && traps == 0);
            csr_write(0x810, 0);
            csr_set(0x821, 1);
            csr_clear(0x830, 1);
            CHECK(traps == 3);
            (void)csr_read(0x812);
            (void)csr_read(0x823);
            (void)csr_read(0x83f);
            CHECK(traps == 6);
            CHECK(csr_read(0x810) == (uint32_t)first && csr_read(0x821) == 0xa5c30010u);
            uli_disarm(1);
            /* Neither armed nor pending, scenario 0. */
            CHECK((STATUS(1) & 0x60000f00) == 0);
            return 0;
        }"#;
    let mut host = host();
    start(&mut host, text);
    assert_eq!(end(&mut host), FirmwareEnd::Value(0), "the line of the check");
}

/// `uli_save` and `uli_restore`: two contexts take turns on both channels. What is pending comes
/// back with its channel, each event goes to the handler of who has the channel, and a channel of a
/// third context is left alone.
#[test]
fn contexts_take_turns() {
    let text = r#"
        static volatile uint32_t firsts, seconds, others, range[16] __attribute__((aligned(64)));
        static struct uli_saved own, other;
        ULI_HANDLER(first) { firsts++; }
        ULI_HANDLER(second) { seconds++; }
        ULI_HANDLER(of_other) { others++; }
        static void ring(uint32_t event)
        {
            REGISTER(CP_DOORBELL) = event;
            for (volatile uint32_t i = 0; i < 10; i++)
                ;
        }
        int main(void)
        {
            CHECK(uli_arm(ULI_EVENT, 0, first, EVENT_DOORBELL(0)) == 0);
            CHECK(uli_arm(ULI_WRITTEN, 1, second, uli_range(range, 64)) == 0);
            uli_block();
            ring(EVENT_DOORBELL(0));
            CHECK(csr_read(ulipend) == 1);
            uli_save(&own, 2);
            CHECK(csr_read(uliarm) == 0 && csr_read(ulipend) == 0);
            CHECK(own.context == 0 && own.channel[0].state == 0x60000300 && own.channel[1].state == 0x40000100);
            csr_set(ulictl, 0x700);
            CHECK(uli_arm(ULI_EVENT, 0, of_other, EVENT_DOORBELL(2)) == 0);
            uli_unblock();
            ring(EVENT_DOORBELL(0));
            ring(EVENT_DOORBELL(2));
            CHECK(firsts == 0 && seconds == 0 && others == 1);
            uli_block();
            ring(EVENT_DOORBELL(2));
            uli_save(&other, 2);
            CHECK(other.context == 7 && other.channel[0].state == 0x60070300 && other.channel[1].state == 0);
            uli_restore(&own);
            CHECK((csr_read(ulictl) & 0xff01) == 1 && csr_read(uliarm) == 3 && csr_read(ulipend) == 1);
            CHECK(STATUS(0) == 0x60000300 && STATUS(1) == 0x40000100);
            CHECK(csr_read(0x810) == (uint32_t)first && csr_read(0x811) == (uint32_t)second);
            CHECK(csr_read(0x820) == EVENT_DOORBELL(0) && csr_read(0x821) == ((uint32_t)range | 0x1f));
            uli_unblock();
            CHECK(firsts == 1 && others == 1);
            ring(EVENT_DOORBELL(0));
            CHECK(firsts == 2 && seconds == 0);
            /* The other context has channel 1 not armed: it stays as it is. */
            uli_block();
            uli_save(&own, 1);
            uli_restore(&other);
            CHECK(STATUS(0) == 0x60070300 && STATUS(1) == 0x40000100);
            uli_unblock();
            CHECK(others == 2 && firsts == 2);
            uli_block();
            uli_save(&other, 2);
            CHECK(other.channel[0].state == 0x40070300 && other.channel[1].state == 0);
            CHECK(STATUS(1) == 0x40000100);
            return 0;
        }"#;
    let mut host = host();
    start(&mut host, text);
    assert_eq!(end(&mut host), FirmwareEnd::Value(0), "the line of the check");
}

/// Eight channels: what is pending on several is delivered from the lowest channel on, each to its
/// handler with its parameter, and one that is disarmed leaves the others alone.
#[test]
fn eight_channels() {
    let text = r#"
        static volatile uint32_t count, causes[32];
        #define ARM(channel) \
            CHECK(uli_arm(ULI_EVENT, channel, channel & 1 ? odd : even, EVENT_DOORBELL(15 - channel)) == 0)
        ULI_HANDLER(even) { causes[count++] = csr_read(ulicause); }
        ULI_HANDLER(odd) { causes[count++] = csr_read(ulicause) | 1u << 31; }
        static int came(uint32_t first, uint32_t bits)
        {
            for (uint32_t channel = 0; channel < 8; channel++)
                if (bits >> channel & 1 && causes[first++] != (0x300u | channel | channel << 31))
                    return 0;
            return first == count;
        }
        static void wait(void)
        {
            for (volatile uint32_t i = 0; i < 40; i++)
                ;
        }
        int main(void)
        {
            ARM(0); ARM(1); ARM(2); ARM(3); ARM(4); ARM(5); ARM(6); ARM(7);
            CHECK(csr_read(uliarm) == 0xff && csr_read(0x820) == EVENT_DOORBELL(15) && csr_read(0x827) == EVENT_DOORBELL(8));
            for (uint32_t channel = 0; channel < 8; channel++) {
                REGISTER(CP_DOORBELL) = EVENT_DOORBELL(15 - channel);
                wait();
                CHECK(came(channel, 1u << channel));
            }
            /* All at once, rung from the last on. */
            uli_block();
            for (uint32_t channel = 8; channel--;)
                REGISTER(CP_DOORBELL) = EVENT_DOORBELL(15 - channel);
            CHECK(csr_read(ulipend) == 0xff && count == 8);
            uli_unblock();
            wait();
            CHECK(came(8, 0xff) && csr_read(ulipend) == 0);
            CHECK(uli_disarm(3) == (ULI_WAS_ARMED | 3 << 8) && uli_disarm(7) == (ULI_WAS_ARMED | 3 << 8));
            REGISTER(CP_DOORBELL) = EVENT_DOORBELL(8) | EVENT_DOORBELL(10) | EVENT_DOORBELL(12) | EVENT_DOORBELL(14);
            wait();
            CHECK(came(16, 0x22) && csr_read(uliarm) == 0x77);
            return 0;
        }"#;
    let mut host = host_of(debug::array());
    start(&mut host, text);
    assert_eq!(end(&mut host), FirmwareEnd::Value(0), "the line of the check");
}
