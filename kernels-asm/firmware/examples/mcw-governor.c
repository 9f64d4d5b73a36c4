/* The most warps a core may run (MCW), set by the load: few warps while few packets wait, for short delays, more when they pile up.
 * A timer interrupt every PERIOD cycles looks at BACKLOG, packets that wait for a warp. Ends when the host sends a message; the value
 * is the number of changes. */
#include "hermes_cp.h"

#define PERIOD 2000u
/* Packets that wait, a core: above MANY one warp more, below FEW one less. */
#define MANY 16u
#define FEW 4u

static uint64_t next;
static uint32_t least, most;
static volatile uint32_t changes, looks;

static void look(void)
{
    uint32_t cores = REGISTER(CONFIG) >> 8 & 0xff;
    uint32_t waiting = REGISTER(BACKLOG), mcw = REGISTER(MCW);
    looks++;
    if (waiting > MANY * cores && mcw < most) {
        REGISTER(MCW) = mcw + 1;
        changes++;
    } else if (waiting < FEW * cores && mcw > least) {
        REGISTER(MCW) = mcw - 1;
        changes++;
    }
    next += PERIOD;
    timer_at(next);
}

int main(void)
{
    uint32_t words[4];
    /* The host has set the most. */
    most = REGISTER(MCW);
    least = most > 1 ? 2 : 1;
    next = time_now() + PERIOD;
    timer_at(next);
    interrupt_handle(INTERRUPT_TIMER, look);
    interrupts_on();
    while (!mailbox_receive(words))
        wait_for_interrupt();
    timer_off();
    printf("%u looks, %u changes, MCW %u at the end\n", looks, changes, REGISTER(MCW));
    return (int)changes;
}
