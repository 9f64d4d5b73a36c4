/* Built with --rv32e: instructions with a register above x15 go to the program, also loads and
 * stores to open memory; such a register is 0, and is not written. The value counts them. */
#include "traps.h"

static int seen;
static struct proxy_answer illegal(const struct proxy_request *request)
{
    seen += proxy_register(request, 20) == 0 && proxy_register(request, 10) < 2;
    return PROXY_ANSWER(PROXY_SKIP, 20 + 11 * (proxy_rd(request) == 21), 0x12345678);
}
static void thread(uint32_t number, volatile uint32_t *words)
{
    uint32_t before = number * 3 + 5, after;
    __asm__ volatile("mv x4, zero\nmv x15, %1\n"
                     "lw x20, 0(%2)\nlw x10, 0(x20)\nsw x20, 0(%2)\nsw x10, 0(x20)\n"
                     "amoadd.w x20, x10, (%2)\namoadd.w x10, x20, (%2)\namoadd.w x10, x10, (x20)\n"
                     "add x21, x10, x10\nadd x20, x10, x10\nmv %0, x15\n"
                     : "=r"(after) : "r"(before), "r"(words) : "x4", "x15", "memory");
    out[number] = after - before;
}
int main(void)
{
    proxy_illegal = illegal;
    set_up(1);
    int wrong = job(thread, 2, (uint32_t)data);
    wrong += out[0] || out[1] || data[0][0] || REGISTER(FAULT_TRAPS) != 18;
    return wrong ? 100 + wrong : seen;
}
