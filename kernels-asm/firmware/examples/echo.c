/* Console and mailbox: says what is typed in capitals, and answers each message with its words in
 * the other order plus 1. The byte 4 (end of transmission), or a message whose word 0 is 0, ends
 * the program with the number of lines. */
#include "hermes_cp.h"

static volatile uint32_t events;

static void on_event(void)
{
    uint32_t pending = REGISTER(CP_IRQ_PENDING);
    events |= pending & (EVENT_MAILBOX | EVENT_CONSOLE);
    /* Bit 4 stands as long as the mailbox is full: the main program empties it, and enables it
     * again. */
    REGISTER(CP_IRQ_PENDING) = EVENT_CONSOLE;
    if (pending & EVENT_MAILBOX)
        events_enable(EVENT_CONSOLE);
}

int main(void)
{
    uint32_t lines = 0, words[4];
    puts("echo: type a line");
    interrupt_handle(INTERRUPT_EXTERNAL, on_event);
    events_enable(EVENT_MAILBOX | EVENT_CONSOLE);
    interrupts_on();
    for (;;) {
        uint32_t before = interrupts_off();
        while (!events)
            wait_for_interrupt(), interrupts_restore(before), before = interrupts_off();
        events = 0;
        interrupts_restore(before);
        for (int byte; (byte = console_get()) >= 0;) {
            if (byte == 4)
                return (int)lines;
            lines += byte == '\n';
            putchar(byte >= 'a' && byte <= 'z' ? byte - 'a' + 'A' : byte);
        }
        while (mailbox_receive(words)) {
            if (words[0] == 0)
                return (int)lines;
            uint32_t answer[4] = {words[3] + 1, words[2] + 1, words[1] + 1, words[0] + 1};
            mailbox_send(answer);
        }
        events_enable(EVENT_MAILBOX | EVENT_CONSOLE);
    }
}
