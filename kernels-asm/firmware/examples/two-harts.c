/* A queue between two harts in local memory: hart 1 makes numbers, hart 0 adds them up. The value
 * of main: 0 if the sum is right. */
#include "hermes_cp.h"

FIRMWARE_HARTS(2);

#define PLACES 16u
#define NUMBERS 500u

LOCAL static volatile uint32_t queue[PLACES];
LOCAL static volatile uint32_t written, taken;

static void make(void *argument)
{
    uint32_t factor = (uint32_t)argument;
    for (uint32_t i = 0; i < NUMBERS; i++) {
        while (written - taken == PLACES)
            ;
        queue[written % PLACES] = i * factor;
        written = written + 1;
    }
}

int main(void)
{
    uint32_t sum = 0;
    hart_start(1, make, (void *)3);
    for (uint32_t i = 0; i < NUMBERS; i++) {
        while (written == taken)
            ;
        sum += queue[taken % PLACES];
        taken = taken + 1;
    }
    printf("sum %u\n", sum);
    return sum != 3 * (NUMBERS - 1) * NUMBERS / 2;
}
