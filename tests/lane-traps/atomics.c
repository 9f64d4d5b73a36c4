/* Atomic operations that there are not go to the program, whether or not the windows are open. The
 * value counts them. */
#include "traps.h"

static int seen;
static struct proxy_answer illegal(const struct proxy_request *request)
{
    seen += proxy_rs1(request) == (uint32_t)data;
    return PROXY_ANSWER(PROXY_SKIP, 0, 0);
}
#define TRY(funct5) ".insn r 0x2f, 2, 4 * " #funct5 ", x0, %0, x0\n"
static void thread(uint32_t number, volatile uint32_t *words)
{
    (void)number;
    /* All 32, of which 11 are those of the extension A; and an `lr.w` with a second register. */
    __asm__ volatile(TRY(0) TRY(1) TRY(2) TRY(3) TRY(4) TRY(5) TRY(6) TRY(7) TRY(8) TRY(9) TRY(10) TRY(11) TRY(12) TRY(13)
                     TRY(14) TRY(15) TRY(16) TRY(17) TRY(18) TRY(19) TRY(20) TRY(21) TRY(22) TRY(23) TRY(24) TRY(25)
                     TRY(26) TRY(27) TRY(28) TRY(29) TRY(30) TRY(31) ".insn r 0x2f, 2, 8, x0, %0, x10\n"
                     : : "r"(words) : "memory");
}
int main(void)
{
    proxy_region(data, sizeof data, 1);
    proxy_illegal = illegal;
    set_up(0);
    if (job(thread, 1, (uint32_t)data))
        return 100;
    return seen;
}
