/* A thread says that one asks from a place that there is not: nothing behind the area changes. The
 * value is 3, or more if it does. */
#define PROXY_CORES 1
#define PROXY_LANES 2
#include "traps.h"

extern char __bss_end[];

static void thread(void)
{
    proxy_area.asked[4] = 1; /* where the bits of place 20 would be */
    proxy_area.asked[0] = 1u << 20;
    __asm__ volatile("ecall" ::: "memory");
}
int main(void)
{
    /* The ticket and the answer of that place would be behind all data of this program. */
    uint32_t ticket = (uint32_t)proxy_area.words + 4 * 20 * PROXY_ROWS * PROXY_LANES;
    volatile uint32_t *answer = (volatile uint32_t *)ticket + PROXY_ANSWER_ROW * PROXY_LANES;
    if (ticket < (uint32_t)__bss_end)
        return 101;
    answer[0] = answer[PROXY_LANES] = answer[2 * PROXY_LANES] = 0;
    *(volatile uint32_t *)ticket = 7;
    set_up(0);
    release();
    if (!job(thread, 1, 0) || proxy_kills != 1)
        return 100;
    return answer[0] || answer[PROXY_LANES] || answer[2 * PROXY_LANES] ? 102 : 3;
}
