/* Threads read back what the command processor stored for them, though their data cache had the
 * line. The value counts words that are wrong. */
#include "traps.h"

static void thread(void)
{
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t before, after;
        __asm__ volatile("lw %0, 0(%2)\nsh %3, 1(%2)\nlw %1, 0(%2)"
                         : "=&r"(before), "=&r"(after) : "r"(data[i]), "r"(0xbbccu) : "memory");
        out[i] = after + before - before;
    }
}
int main(void)
{
    for (uint32_t i = 0; i < 64; i++)
        data[i][0] = 0x11223344;
    proxy_region(data, sizeof data, 1);
    set_up(1);
    int wrong = job(thread, 1, 0);
    for (uint32_t i = 0; i < 64; i++)
        wrong += out[i] != 0x11bbcc44;
    return wrong;
}
