/* Holds the time that warps are on the cores near TARGET cycles by the most warps a core may run
 * (MCW). A longer time gives more packets a second up to where the memory has enough to do; beyond
 * that it is delay alone. By Little's law so many warps are on the cores as commit in that time:
 * what commits in TARGET cycles, a core, and one more, so that a higher rate is found, is the MCW
 * that is wanted. Twice a TARGET the MCW goes there, to a half or twice of itself at most: down if
 * the time is longer, up if it is not and packets wait. Ends when the host sends a message; the
 * value is the number of changes. */
#include "hermes_cp.h"

#ifndef TARGET
#define TARGET 2000u
#endif
#define FIRST 4u

static uint32_t most, cores, committed, on_cores;
static uint64_t looked_at;
static volatile uint32_t changes, looks;

static void look(void)
{
    uint64_t now = time_now();
    uint32_t elapsed = (uint32_t)(now - looked_at);
    uint32_t commits = REGISTER(COMMITTED_WARPS) - committed;
    uint32_t before = on_cores, mcw = REGISTER(MCW), wanted = mcw;

    looks++;
    looked_at = now;
    committed += commits;
    on_cores = REGISTER(ISSUED_WARPS) - committed;
    /* Without a commit nothing is known. */
    if (commits) {
        uint32_t fits = commits * TARGET / elapsed / cores + 1;
        int is_longer = (before + on_cores) / 2 * elapsed > commits * TARGET;
        if (is_longer && fits < mcw)
            wanted = fits < (mcw + 1) / 2 ? (mcw + 1) / 2 : fits;
        else if (!is_longer && fits > mcw && REGISTER(BACKLOG))
            wanted = fits > 2 * mcw ? 2 * mcw : fits;
        if (wanted > most)
            wanted = most;
        if (wanted != mcw) {
            REGISTER(MCW) = wanted;
            changes++;
        }
    }
    timer_at(now + TARGET / 2);
}

int main(void)
{
    uint32_t words[4];
    /* The host has set the most. Few at first: what is too few is made up for in the next look,
     * what is too many has to leave the cores. */
    most = REGISTER(MCW);
    REGISTER(MCW) = most < FIRST ? most : FIRST;
    cores = REGISTER(CONFIG) >> 8 & 0xff;
    committed = REGISTER(COMMITTED_WARPS);
    on_cores = REGISTER(ISSUED_WARPS) - committed;
    looked_at = time_now();
    timer_at(looked_at + TARGET / 2);
    interrupt_handle(INTERRUPT_TIMER, look);
    interrupts_on();
    while (!mailbox_receive(words))
        wait_for_interrupt();
    timer_off();
    printf("%u looks, %u changes, MCW %u at the end\n", looks, changes, REGISTER(MCW));
    return (int)changes;
}
