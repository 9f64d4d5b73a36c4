/* Faults of kernels: logs each fault record on the console, and reopens the first write window for
 * all of memory after the first store that it refused. CP_CONTROL bit 10 makes FAULT_POP the
 * firmware's. Ends when the host sends a message; the value is the number of faults. */
#include "hermes_cp.h"

#define FIRMWARE_TAKES_FAULTS (1u << 10)
#define STORE_ACCESS 7u

static volatile uint32_t faults, events;

static void on_event(void)
{
    events |= REGISTER(CP_IRQ_PENDING);
    REGISTER(CP_IRQ_PENDING) = EVENT_FAULT;
    /* Bit 4 stands as long as the mailbox is full: the main program empties it, and ends. */
    if (events & EVENT_MAILBOX)
        events_enable(EVENT_FAULT);
    while (REGISTER(FAULT_LEVEL) & 0xffff) {
        uint32_t info = REGISTER(FAULT_INFO), cause = info & 0xff;
        printf("core %u slot %u: cause %u at %08x, value %08x, packet %u\n", info >> 8 & 31, info >> 16 & 31, cause,
               REGISTER(FAULT_PC), REGISTER(FAULT_ADDRESS), REGISTER(FAULT_PACKET));
        if (cause == STORE_ACCESS && REGISTER(WRITE_WINDOW_0_SIZE) != 0xffffffc0u) {
            REGISTER(WRITE_WINDOW_0_BASE) = 0;
            REGISTER(WRITE_WINDOW_0_SIZE) = 0xffffffc0u;
        }
        REGISTER(FAULT_POP) = 1;
        faults++;
    }
}

int main(void)
{
    uint32_t words[4];
    REGISTER(CP_CONTROL) |= FIRMWARE_TAKES_FAULTS;
    interrupt_handle(INTERRUPT_EXTERNAL, on_event);
    events_enable(EVENT_FAULT | EVENT_MAILBOX);
    /* What came before. */
    on_event();
    interrupts_on();
    while (!mailbox_receive(words))
        wait_for_interrupt();
    return (int)faults;
}
