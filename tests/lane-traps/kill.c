/* A thread that is ended is told with its instruction and address. */
#include "traps.h"

static void thread(uint32_t number)
{
    (void)number;
    *(volatile uint32_t *)0x00700000 = 1;
}
int main(void)
{
    set_up(0);
    job(thread, 1, 0);
    proxy_tell_kills();
    printf("%u was in the thread\n", proxy_killed[0].pc - (uint32_t)thread < 32u);
    return 0;
}
