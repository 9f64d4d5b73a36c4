/* Windows close at random while threads run, until RETRIES lanes have trapped: memory is as if they
 * had been open. The value counts words that are wrong. */
#include "traps.h"

#ifndef RETRIES
#define RETRIES 1000u
#endif
#define THREADS 16u
#define WORDS 16u /* of a thread */

static uint32_t step(uint32_t word, uint32_t number) { return (word ^ word >> 7) + number; }

static void thread(uint32_t number, volatile uint32_t *words)
{
    words += number * WORDS;
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = step(words[i], number);
}
int main(void)
{
    uint32_t seed = 88172645u, jobs = 0;
    for (uint32_t i = 0; i < THREADS * WORDS; i++)
        data[i / 16][i % 16] = i;
    proxy_region(data, sizeof data, 1);
    set_up(0);
    do {
        page[0].argument0 = (uint32_t)data;
        page[0].shape = THREADS | SPAWN_ACQUIRE | spawn_class();
        page[0].completion = (uint32_t)&completion;
        page[0].token = ++jobs;
        spawn(&page[0], thread);
        while (spawn_busy() & 1) {
            if (proxy_asks)
                while (proxy_serve())
                    ;
            seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
            if (seed % 8 == 0)
                REGISTER(READ_WINDOW_1_SIZE) = 0;
            if (seed % 8 == 1)
                REGISTER(WRITE_WINDOW_1_SIZE) = 0;
        }
    } while (REGISTER(FAULT_TRAPS) < RETRIES);
    acquire();
    int wrong = 0;
    for (uint32_t i = 0; i < THREADS * WORDS; i++) {
        uint32_t word = i;
        for (uint32_t k = 0; k < jobs; k++)
            word = step(word, i / WORDS);
        wrong += data[i / 16][i % 16] != word;
    }
    printf("%u jobs, %u lanes trapped, windows moved %u, accesses made %u\n", jobs, REGISTER(FAULT_TRAPS), proxy_windows, proxy_accesses);
    return wrong + (REGISTER(FAULTS) != 0);
}
