/* Loads and stores that there are not go to the program, whether or not the window is open. The
 * value counts them. */
#include "traps.h"

static int seen;
static struct proxy_answer illegal(const struct proxy_request *request)
{
    (void)request;
    seen++;
    return PROXY_ANSWER(PROXY_SKIP, 0, 0);
}
static void thread(uint32_t number, volatile uint32_t *words)
{
    if (number == 0)
        __asm__ volatile(".insn i 0x03, 3, x10, 0(%0)\n.insn i 0x03, 6, x10, 0(%0)\n.insn i 0x03, 7, x10, 0(%0)" : : "r"(words) : "a0", "memory");
    else
        __asm__ volatile(".insn s 0x23, 3, x10, 0(%0)\n.insn s 0x23, 5, x10, 0(%0)\n.insn s 0x23, 7, x10, 0(%0)" : : "r"(words) : "memory");
}
int main(void)
{
    proxy_region(data, sizeof data, 1);
    proxy_illegal = illegal;
    set_up(0);
    if (job(thread, 2, (uint32_t)data) || REGISTER(FAULT_TRAPS) != 6)
        return 100;
    return seen;
}
