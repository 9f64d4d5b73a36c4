/* The command queues served from sleep: net.c on one hart, which waits in wfi and is interrupted in
 * user level by each command that waits for it (scenario 11). Needs `--uli-channels 1`. */
static void sleep_until_a_message(void);
#define UNTIL_A_MESSAGE() sleep_until_a_message()
#include "../net.c"

/* How often a command interrupted. */
volatile uint32_t deliveries;

ULI_HANDLER_PLAIN(command_waits)
{
    deliveries = deliveries + 1;
    serve(NET_WINDOW_NEXT_NOW, 0);
}

/* Returns when the sleep is over, by a command, which is served then, or by a message. Interrupts
 * in user level are blocked but there: where net.c itself serves, a handler between NEXT and POST
 * would take the command away. */
static void sleep_until_a_message(void)
{
    static uint32_t is_armed;
    if (!is_armed) {
        is_armed = 1;
        uli_block();
        uli_arm(ULI_COMMAND, 0, command_waits, 0);
        /* What came before the arming is no event. */
        serve(NET_WINDOW_NEXT_NOW, 0);
    }
    /* An event that is blocked ends the sleep too, and is delivered behind it. */
    wait_for_interrupt();
    uli_unblock();
    uli_block();
}
