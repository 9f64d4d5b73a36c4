/* A job that does nothing is noticed while threads of another ask all the time: six that call, or
 * with HOSTILE one that only says that it asks. The value is the time in thousands of cycles. */
#include "traps.h"

static volatile uint32_t second __attribute__((aligned(64)));
static uint32_t served;

static struct proxy_answer count(const struct proxy_request *request)
{
    (void)request;
    served++;
    return PROXY_ANSWER(PROXY_SKIP, 0, 0);
}
static void quick(uint32_t number) { (void)number; }
static void asks(uint32_t number)
{
    for (uint32_t i = 0; i < 60; i++) {
#ifdef HOSTILE
        for (uint32_t k = 0; k < 20; k++)
            __asm__ volatile("amoor.w zero, %0, (%1)" : : "r"(1u << 3), "r"(proxy_area.asked) : "memory");
#else
        proxy_ecall(100, number);
#endif
    }
}
static void start(int number, const void *entry, uint32_t threads, volatile uint32_t *word)
{
    page[number].shape = threads | SPAWN_ACQUIRE | spawn_class();
    page[number].completion = (uint32_t)word;
    page[number].token = 5;
    spawn(&page[number], entry);
}
int main(void)
{
    proxy_service = count;
    set_up(0);
    start(1, asks, 6, &second);
#ifndef HOSTILE
    while (served < 12)
        proxy_serve();
#endif
    uint32_t began = csr_read(cycle);
    start(0, quick, 1, &completion);
    proxy_wait(&completion, 5);
    uint32_t took = csr_read(cycle) - began;
    if (second == 5)
        return 100; /* nobody asked any more */
    while (second != 5) {
        proxy_serve();
        acquire();
    }
    return (int)(took / 1000);
}
