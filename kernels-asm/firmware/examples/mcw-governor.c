/* The most warps a core may run (MCW), set by the load: from LEAST up at once as packets pile up, a
 * warp for each THREADS that wait, and down by one a look when they are gone. A timer interrupt
 * every PERIOD cycles looks at BACKLOG, packets that wait for a warp. Ends when the host sends a
 * message; the value is the number of changes. */
#include "hermes_cp.h"

#define PERIOD 600u
#define LEAST 4u
#define MOST 8u
/* Packets that wait, a core, for each warp more. */
#define MANY 16u

static uint32_t least, most, cores;
static volatile uint32_t changes, looks;

static void look(void)
{
    uint32_t wanted = least + REGISTER(BACKLOG) / (MANY * cores), mcw = REGISTER(MCW);
    looks++;
    if (wanted > most)
        wanted = most;
    if (wanted < mcw)
        wanted = mcw - 1;
    if (wanted != mcw) {
        REGISTER(MCW) = wanted;
        changes++;
    }
    /* From now on: a look that came late does not bring the next one forward. */
    timer_at(time_now() + PERIOD);
}

int main(void)
{
    uint32_t words[4];
    /* The host has set the most. */
    most = REGISTER(MCW) < MOST ? REGISTER(MCW) : MOST;
    least = most < LEAST ? most : LEAST;
    cores = REGISTER(CONFIG) >> 8 & 0xff;
    timer_at(time_now() + PERIOD);
    interrupt_handle(INTERRUPT_TIMER, look);
    interrupts_on();
    while (!mailbox_receive(words))
        wait_for_interrupt();
    timer_off();
    printf("%u looks, %u changes, MCW %u at the end\n", looks, changes, REGISTER(MCW));
    return (int)changes;
}
