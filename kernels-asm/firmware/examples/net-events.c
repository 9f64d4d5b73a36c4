/* The command queues served beside work of its own: net.c on one hart, which finds prime numbers
 * and is interrupted in user level by each command that waits for it. Needs `--uli-channels 1`. */
static void work(void);
#define UNTIL_A_MESSAGE() work()
#include "../net.c"

/* The largest prime number that was found, how many there are up to it, and how often a command
 * interrupted. */
volatile uint32_t largest = 1, primes, deliveries;

ULI_HANDLER_PLAIN(command_waits)
{
    deliveries = deliveries + 1;
    serve(NET_WINDOW_NEXT_NOW, 0);
}

/* Looks at some hundred numbers. The channel is armed meanwhile only: where net.c itself serves, a
 * handler between NEXT and POST would take the command away. */
static void work(void)
{
    uli_block();
    uli_arm(ULI_COMMAND, 0, command_waits, 0);
    /* What came before the arming is no event. */
    serve(NET_WINDOW_NEXT_NOW, 0);
    uli_unblock();
    for (uint32_t number = largest + 1, left = 200; left; number++, left--) {
        uint32_t divisor = 2;
        while (divisor * divisor <= number && number % divisor)
            divisor++;
        if (divisor * divisor > number) {
            largest = number;
            primes = primes + 1;
        }
    }
    uli_disarm(0);
}
