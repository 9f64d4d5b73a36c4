/* Two lanes, one lock: the value is what they counted. */
#include "traps.h"
extern volatile uint32_t counter[16];
void thread(void);

int main(void)
{
    proxy_service = nothing;
    set_up(1);
    if (job(thread, 2, 0))
        return 100;
    return (int)counter[0];
}
