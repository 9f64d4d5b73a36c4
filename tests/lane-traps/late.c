/* The watchdog ends a warp whose first lane is being answered, and the next one asks from the same
 * place: each thread is served at most once, and those of the second warp are. The value is a bit
 * for each that was. */
#include "traps.h"

static uint32_t served[4];
static struct proxy_answer slow(const struct proxy_request *request)
{
    uint32_t number = proxy_register(request, 10) & 3, began = csr_read(cycle);
    served[number]++;
    if (number == 0)
        while (csr_read(cycle) - began < 60000)
            ;
    return PROXY_ANSWER(PROXY_SKIP, 0, 0);
}
static void thread(uint32_t number) { proxy_ecall(100, number); }
int main(void)
{
    proxy_service = slow;
    set_up(1);
    REGISTER(SPAWN_WATCHDOG) = 40000;
    REGISTER(SPAWN_MCW) = 1;
    job(thread, 4, 0);
    while (proxy_serve())
        ;
    int all = 0;
    for (uint32_t i = 0; i < 4; i++) {
        if (served[i] > 1)
            return 100;
        all |= (int)served[i] << i;
    }
    return all;
}
