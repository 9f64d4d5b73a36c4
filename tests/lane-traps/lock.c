/* The threads of lock-main.c: who gets the lock asks while it is held. */
#include <stdint.h>
volatile uint32_t lock[16] __attribute__((aligned(64))), counter[16] __attribute__((aligned(64)));

__attribute__((noinline)) static void locked(void)
{
    register uint32_t a7 __asm__("a7") = 100;
    __asm__ volatile("li t4, 0\n1: li t3, 1\namoswap.w t3, t3, (%0)\nbnez t3, 2f\necall\nlw t3, 0(%1)\naddi t3, t3, 1\n"
                     "sw t3, 0(%1)\nfence\namoswap.w zero, zero, (%0)\nli t4, 1\n2: beqz t4, 1b\n"
                     : : "r"(lock), "r"(counter), "r"(a7) : "t3", "t4", "memory");
}
void thread(void)
{
    locked();
    __asm__ volatile("");
}
