/* The library of hermes_cp.h. */
#include "hermes_cp.h"

#define TIMER 0xfff00000u
#define SOFTWARE_INTERRUPT(hart) (*(volatile uint32_t *)(TIMER + 4 * (hart)))
#define COMPARE_LOW(hart) (*(volatile uint32_t *)(TIMER + 0x4000 + 8 * (hart)))
#define COMPARE_HIGH(hart) (*(volatile uint32_t *)(TIMER + 0x4004 + 8 * (hart)))

#define NO_BYTE (1u << 31)
#define MAILBOX_OUT_FULL (1u << 29)

__attribute__((noreturn)) void report(uint32_t code, uint32_t pc, uint32_t value, uint32_t hart);
void check_guard(void);

/* ---- Console */

void console_put(char byte)
{
    while ((REGISTER(CONSOLE) & 0x7f) == 0)
        ;
    REGISTER(CONSOLE) = (uint8_t)byte;
}

int console_get(void)
{
    uint32_t word = REGISTER(CONSOLE_IN);
    return word & NO_BYTE ? -1 : (int)(word & 0xff);
}

int putchar(int byte)
{
    console_put((char)byte);
    return (unsigned char)byte;
}

int puts(const char *text)
{
    while (*text)
        console_put(*text++);
    console_put('\n');
    return 0;
}

int getchar(void)
{
    int byte;
    do
        byte = console_get();
    while (byte < 0);
    return byte;
}

/* Digits of `value`, the last first; gives their number. */
static int digits(char *text, uint64_t value, uint32_t base, char ten)
{
    int count = 0;
    do {
        uint32_t digit = (uint32_t)(value % base);
        text[count++] = (char)(digit < 10 ? '0' + digit : ten + digit - 10);
        value /= base;
    } while (value);
    return count;
}

static int repeat(char byte, int count)
{
    for (int i = 0; i < count; i++)
        console_put(byte);
    return count > 0 ? count : 0;
}

static int is_one_of(char letter, const char *letters)
{
    while (*letters && *letters != letter)
        letters++;
    return *letters;
}

/* Writes a conversion that printf does not have, from its % on, and says so; moves to the letter
 * with which it ends. */
static int not_supported(const char *begin, const char **format)
{
    static const char words[] = " is not supported]";
    while (**format && !is_one_of(**format, "aAeEfFgGdiouxXcspn%"))
        (*format)++;
    int written = repeat('[', 1);
    for (; begin != *format; begin++)
        written += repeat(*begin, 1);
    if (**format)
        written += repeat(**format, 1);
    for (const char *word = words; *word; word++)
        written += repeat(*word, 1);
    return written;
}

int vprintf(const char *format, va_list arguments)
{
    int written = 0;
    for (; *format; format++) {
        if (*format != '%') {
            console_put(*format);
            written++;
            continue;
        }
        const char *begin = format;
        int left = 0, zeros = 0, width = 0;
        for (format++; *format == '-' || *format == '0'; format++) {
            left |= *format == '-';
            zeros |= *format == '0';
        }
        for (; *format >= '0' && *format <= '9'; format++)
            width = 10 * width + (*format - '0');
        int longs = 0;
        for (; *format == 'l'; format++)
            longs++;
        char buffer[20];
        const char *text = 0;
        int count = 0, negative = 0;
        switch (*format) {
        case 'd':
        case 'i': {
            int64_t value = longs > 1 ? va_arg(arguments, int64_t) : va_arg(arguments, int);
            negative = value < 0;
            count = digits(buffer, negative ? 0u - (uint64_t)value : (uint64_t)value, 10, 'a');
            break;
        }
        case 'u':
            count = digits(buffer, longs > 1 ? va_arg(arguments, uint64_t) : va_arg(arguments, uint32_t), 10, 'a');
            break;
        case 'p':
        case 'x':
            count = digits(buffer, longs > 1 ? va_arg(arguments, uint64_t) : va_arg(arguments, uint32_t), 16, 'a');
            break;
        case 'X':
            count = digits(buffer, longs > 1 ? va_arg(arguments, uint64_t) : va_arg(arguments, uint32_t), 16, 'A');
            break;
        case 'c':
            buffer[0] = (char)va_arg(arguments, int);
            count = 1;
            zeros = 0;
            break;
        case 's':
            text = va_arg(arguments, const char *);
            while (text[count])
                count++;
            zeros = 0;
            break;
        case 0:
            return written;
        case '%':
            buffer[0] = '%';
            count = 1;
            break;
        default:
            written += not_supported(begin, &format);
            if (!*format)
                return written;
            if (is_one_of(*format, "aAeEfFgG"))
                (void)va_arg(arguments, double);
            else if (longs > 1)
                (void)va_arg(arguments, uint64_t);
            else
                (void)va_arg(arguments, uint32_t);
            continue;
        }
        int padding = width - count - negative;
        if (!left && !zeros)
            written += repeat(' ', padding);
        written += repeat('-', negative);
        if (!left && zeros)
            written += repeat('0', padding);
        for (int i = 0; i < count; i++)
            console_put(text ? text[i] : buffer[count - 1 - i]);
        written += count;
        if (left)
            written += repeat(' ', padding);
    }
    return written;
}

int printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int written = vprintf(format, arguments);
    va_end(arguments);
    return written;
}

/* ---- Mailbox */

int mailbox_receive(uint32_t words[4])
{
    if (!(REGISTER(CP_IRQ_PENDING) & EVENT_MAILBOX))
        return 0;
    words[0] = REGISTER(MAILBOX_IN_0);
    words[1] = REGISTER(MAILBOX_IN_1);
    words[2] = REGISTER(MAILBOX_IN_2);
    words[3] = REGISTER(MAILBOX_IN_3);
    REGISTER(CP_IRQ_PENDING) = EVENT_MAILBOX;
    return 1;
}

void mailbox_send(const uint32_t words[4])
{
    while (REGISTER(CP_STATUS) & MAILBOX_OUT_FULL)
        ;
    REGISTER(MAILBOX_OUT_1) = words[1];
    REGISTER(MAILBOX_OUT_2) = words[2];
    REGISTER(MAILBOX_OUT_3) = words[3];
    REGISTER(MAILBOX_OUT_0) = words[0];
}

/* ---- Time */

uint64_t time_now(void)
{
    uint32_t high, low;
    do {
        high = csr_read(timeh);
        low = csr_read(time);
    } while (csr_read(timeh) != high);
    return (uint64_t)high << 32 | low;
}

void timer_at(uint64_t cycle)
{
    uint32_t hart = hart_number();
    /* Never earlier in between. */
    COMPARE_LOW(hart) = 0xffffffffu;
    COMPARE_HIGH(hart) = (uint32_t)(cycle >> 32);
    COMPARE_LOW(hart) = (uint32_t)cycle;
}

void timer_off(void)
{
    COMPARE_HIGH(hart_number()) = 0xffffffffu;
}

/* ---- Interrupts */

static interrupt_handler interrupts[16];
static exception_handler exceptions;

void interrupt_handle(uint32_t interrupt, interrupt_handler handler)
{
    if (handler) {
        interrupts[interrupt & 15] = handler;
        csr_set(mie, 1u << interrupt);
    } else {
        csr_clear(mie, 1u << interrupt);
        interrupts[interrupt & 15] = 0;
    }
}

void exception_handle(exception_handler handler)
{
    exceptions = handler;
}

void events_enable(uint32_t events)
{
    (&REGISTER(CP_IRQ_ENABLE_0))[hart_number()] = events;
}

/* From trap_entry: gives the PC at which the program goes on. */
uint32_t trap_dispatch(uint32_t cause, uint32_t pc, uint32_t value, struct trap_frame *frame)
{
    if (cause >> 31) {
        interrupt_handler handler = interrupts[cause & 15];
        if (handler) {
            handler();
            return pc;
        }
    } else if (exceptions && exceptions(cause, value, frame) == 0) {
        return frame->pc;
    }
    /* Bit 31 is that of the report. */
    report(0x80000000u | (cause >> 31 << 30) | (cause & 0xff), pc, value, hart_number());
}

/* ---- User-level interrupts */

/* Numbers of channels and CSRs are parts of instructions. */
#define EACH_CHANNEL(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

void uli_save(struct uli_saved *saved, uint32_t channels)
{
    saved->context = csr_read(ulictl) >> 8 & 0xff;
    saved->channels = channels;
    for (uint32_t i = 0; i < channels && i < 8; i++) {
        uint32_t state = 0;
        switch (i) {
#define SAVE(n)                                                                                                            \
    case n:                                                                                                                \
        saved->channel[n].handler = csr_read(0x810 + n);                                                                   \
        saved->channel[n].parameter = csr_read(0x820 + n);                                                                 \
        state = uli_disarm(n);                                                                                             \
        break;
            EACH_CHANNEL(SAVE)
        }
        int armed = (state & (ULI_REFUSED | ULI_WAS_ARMED)) == ULI_WAS_ARMED;
        saved->channel[i].state = armed ? state : 0;
    }
}

void uli_restore(const struct uli_saved *saved)
{
    uint32_t pending = 0;
    csr_clear(ulictl, 0xff00);
    csr_set(ulictl, saved->context << 8);
    for (uint32_t i = 0; i < saved->channels && i < 8; i++) {
        uint32_t handler = saved->channel[i].handler, parameter = saved->channel[i].parameter;
        uint32_t state = saved->channel[i].state;
        switch (state ? i << 4 | (state >> 8 & 15) : ~0u) {
#define RESTORE_FROM(scenario, n)                                                                                          \
    case n << 4 | scenario:                                                                                                \
        uli_arm(scenario, n, handler, parameter);                                                                          \
        break;
#define RESTORE(n)                                                                                                         \
    RESTORE_FROM(ULI_WRITTEN, n) RESTORE_FROM(ULI_SLOT_FREE, n) RESTORE_FROM(ULI_EVENT, n) RESTORE_FROM(ULI_COMMAND, n)
            EACH_CHANNEL(RESTORE)
        }
        if (state & ULI_WAS_PENDING)
            pending |= 1u << i;
    }
    csr_set(ulipend, pending);
}

/* ---- Harts */

struct hart_job {
    void (*volatile function)(void *);
    void *volatile argument;
};
extern struct hart_job hart_jobs[8];

void hart_interrupt(uint32_t hart)
{
    SOFTWARE_INTERRUPT(hart) = 1;
}

void hart_interrupt_clear(void)
{
    SOFTWARE_INTERRUPT(hart_number()) = 0;
}

void hart_start(uint32_t hart, void (*function)(void *), void *argument)
{
    struct hart_job *job = &hart_jobs[hart];
    check_guard();
    while (job->function)
        ;
    job->argument = argument;
    release();
    job->function = function;
    /* A hart that begins clears its software interrupt once: then it is told again. */
    while (job->function) {
        hart_interrupt(hart);
        for (int i = 0; i < 64 && job->function; i++)
            ;
    }
}
