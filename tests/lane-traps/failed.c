/* Every second thread loads from where there is no memory, and traps before it knows: its next
 * instruction, in the page, ends it. The value is 100 and the threads that came to another end. */
#include "skip.h"
#include "traps.h"

#define THREADS 64u
#define NO_MEMORY 0x40000000u

static void thread(uint32_t number)
{
    uintptr_t address = number & 1 ? NO_MEMORY + 64 * number : (uintptr_t)data[number];
    __asm__ volatile("lw t0, 0(%0)\necall" : : "r"(address) : "t0", "memory");
    out[number] = 1;
}
int main(void)
{
    set_up(1);
    REGISTER(READ_WINDOW_0_SIZE) = 2 * NO_MEMORY;
    REGISTER(FAULT_ENTRY) = (uint32_t)skip_page | 1;
    uint32_t faults = REGISTER(FAULTS), traps = REGISTER(FAULT_TRAPS);
    job(thread, THREADS, 0);
    faults = REGISTER(FAULTS) - faults;
    traps = REGISTER(FAULT_TRAPS) - traps;
    int wrong = 0;
    for (uint32_t i = 0; i < THREADS; i++)
        wrong += out[i] != (i & 1 ? 0 : 1);
    printf("%u threads faulted, %u trapped\n", faults, traps);
    return 100 + wrong + (faults != THREADS / 2) + (traps != THREADS);
}
