/* One lane of two asks, two calls deep, before both do the same: they do it together. The value is
 * the time with a request, in percent of that without. */
#include "traps.h"

__attribute__((noinline)) static uint32_t inner(uint32_t number, uint32_t asks)
{
    register uint32_t service __asm__(PROXY_NUMBER_NAME) = 100;
    uint32_t skips = number | !asks, value = number;
    __asm__ volatile("bnez %0, 1f\necall\n1:" : : "r"(skips), "r"(service) : "memory");
    for (uint32_t i = 0; i < 2000; i++)
        __asm__ volatile("addi %0, %0, 3\nxori %0, %0, 5" : "+r"(value));
    return value;
}
__attribute__((noinline)) static uint32_t outer(uint32_t number, uint32_t asks)
{
    uint32_t value = inner(number, asks);
    __asm__ volatile("" : "+r"(value));
    return value + 1;
}
static void thread(uint32_t number, uint32_t asks)
{
    uint32_t began = csr_read(cycle);
    outer(number, asks);
    out[number] = csr_read(cycle) - began;
}
int main(void)
{
    proxy_service = nothing;
    set_up(1);
    if (job(thread, 2, 0))
        return 1;
    uint32_t without = out[1];
    if (job(thread, 2, 1) || REGISTER(FAULT_TRAPS) != 1)
        return 2;
    return (int)(100 * out[1] / without);
}
