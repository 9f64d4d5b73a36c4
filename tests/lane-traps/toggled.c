/* FAULT_ENTRY changes while threads fault, beside others whose loads come late: each thread comes
 * to its end, or has a fault record. The value is 100 and the jobs in which some have both or
 * neither. */
#include "skip.h"
#include "traps.h"

#define JOBS 24u
#define THREADS 128u

static void thread(uint32_t number)
{
    for (uint32_t i = 0; i < 8; i++) {
        if (number >> 1 & 1)
            for (uint32_t k = 0; k < 12; k++)
                __asm__ volatile("lw t0, 0(%0)\nlw t0, 64(%0)" : : "r"(data) : "t0", "memory");
        else
            __asm__ volatile("ecall" ::: "memory");
    }
    __asm__ volatile("amoadd.w zero, %0, (%1)" : : "r"(1), "r"(out) : "memory");
}
int main(void)
{
    set_up(1);
    REGISTER(FAULT_ENTRY) = 0;
    int wrong = 0;
    uint32_t ends = 0;
    for (uint32_t turn = 0; turn < JOBS; turn++) {
        uint32_t faults = REGISTER(FAULTS);
        page[0].shape = THREADS | SPAWN_ACQUIRE | spawn_class();
        page[0].completion = (uint32_t)&completion;
        page[0].token = turn + 1;
        spawn(&page[0], thread);
        while (spawn_busy() & 1) {
            REGISTER(FAULT_ENTRY) = (uint32_t)skip_page | 1;
            for (uint32_t i = turn & 15; i; i--)
                __asm__ volatile("nop");
            REGISTER(FAULT_ENTRY) = 0;
        }
        acquire();
        wrong += out[0] - ends + (REGISTER(FAULTS) - faults) != THREADS;
        ends = out[0];
    }
    printf("%u of %u threads ended, %u traps\n", ends, JOBS * THREADS, REGISTER(FAULT_TRAPS));
    return 100 + wrong;
}
