/* A thread alone goes through four regions: each is a window once, and no access is made for it.
 * Then it adds to a word of a fifth, and takes a stack pointer from a misaligned word. The value
 * counts what is wrong. */
#include "traps.h"

static volatile uint32_t total[16] __attribute__((aligned(64)));
static void thread(uint32_t number, volatile uint32_t *words)
{
    (void)number;
    for (uint32_t region = 0; region < 4; region++)
        for (uint32_t i = 0; i < 64; i++)
            (void)words[64 * 16 * region + i];
    __asm__ volatile("amoadd.w zero, %0, (%1)" : : "r"(5), "r"(total) : "memory");
    __asm__ volatile("sw sp, 0(%0)\nsrli t1, sp, 24\nslli t2, sp, 8\nsw t2, 0(%0)\nsb t1, 4(%0)\nlw sp, 1(%0)"
                     : : "r"(total + 4) : "t1", "t2", "memory");
}
int main(void)
{
    int wrong = 0;
    for (uint32_t i = 0; i < 4; i++)
        proxy_region(data[64 * i], sizeof data / 4, 0);
    proxy_region(total, sizeof total, 1);
    /* No line in it. */
    wrong += proxy_heap_is((char *)data + 4, 8) != 0;
    set_up(0);
    wrong += job(thread, 1, (uint32_t)data);
    wrong += proxy_windows != 6 || proxy_accesses != 1 || proxy_kills != 0;
    wrong += total[0] != 5;
    return wrong;
}
