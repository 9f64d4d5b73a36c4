/* Threads with 16 registers, in a program for those with 32, whose slots may be too high for a
 * place, write nothing behind the area of requests. With CLASS they are refused. */
#define PROXY_CORES 1
#define PROXY_LANES 2
#include "traps.h"

#define WORDS (16 * PROXY_ROWS * PROXY_LANES)
static struct {
    volatile uint32_t words[WORDS];
} behind;

void thread(void);
/* They run for long enough to be on the core at once, and fault. */
__asm__(".text\n.globl thread\nthread:\nli t0, 200\n1: addi t0, t0, -1\nbnez t0, 1b\n.word 0\nret\n");

int main(void)
{
#ifdef CLASS
    REGISTER(KERNEL_CLASS) = CLASS;
    proxy_start();
#endif
    set_up(1);
    volatile uint32_t *end = (volatile uint32_t *)(&proxy_area + 1);
    uint32_t changed = 0;
    for (uint32_t i = 0; i < WORDS; i++)
        behind.words[i] = end[i];
    REGISTER(KERNEL_CLASS) = 1;
    REGISTER(SPAWN_MCW) = 32;
    page[0].shape = 64 | SPAWN_ACQUIRE | SPAWN_RV32E;
    page[0].completion = (uint32_t)&completion;
    page[0].token = 9;
    spawn(&page[0], thread);
    proxy_wait(&completion, 9);
    while (spawn_busy() & 1)
        ;
    acquire();
    for (uint32_t i = 0; i < WORDS; i++)
        if (&end[i] != &completion && (&end[i] < behind.words || &end[i] >= behind.words + WORDS))
            changed += behind.words[i] != end[i];
    printf("%u words behind the area changed\n", changed);
    return 0;
}
