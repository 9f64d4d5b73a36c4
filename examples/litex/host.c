/* A host of the array, as a program without an operating system for the CPU of the SoC:
 * docs/integration.md in C. Every packet goes through the array once; what comes back is compared
 * with what packets.h says. */

#include <stdint.h>

#include <generated/csr.h>
#include <generated/mem.h>
#include <generated/soc.h>
#include <irq.h>
#include <system.h>

#include "packets.h"
#include "registers.h"

/* Addresses of the array: its address 0 is the first byte of the main memory. */
#define RING 0x100000u
#define VERDICTS 0x80000u
#define STACKS 0x90000u
#define ARGUMENT 0xc0000u
#define RING_SLOTS_LOG2 4
#define SLOT_BYTES_LOG2 11
#define FRAME_OFFSET 18 /* bytes of a slot before the Ethernet header (docs/kernels.md) */
#define STACK_BYTES_LOG2 8
#define WARPS_OF_A_CORE ((hermes(HERMES_CONFIG) & HERMES_CONFIG_WARPS_MASK) >> HERMES_CONFIG_WARPS_SHIFT)
#define PATIENCE 20000 /* reads of a register until the host gives up */

#define EVENT_COMMITTED (1u << 4) /* COMMITTED_PACKETS reached COMMIT_WATERMARK */

#define hermes(offset) (*(volatile uint32_t *)(HERMES_BASE + (offset)))

int main(void);
void isr(void);

static volatile unsigned interrupts; /* how often the array interrupted */

static volatile uint8_t *memory(uint32_t address)
{
    return (volatile uint8_t *)(MAIN_RAM_BASE + address);
}

static uint32_t word(uint32_t address)
{
    return *(volatile uint32_t *)memory(address);
}

static void set_word(uint32_t address, uint32_t value)
{
    *(volatile uint32_t *)memory(address) = value;
}

static void print(const char *text)
{
    for (; *text; text++) {
        while (uart_txfull_read())
            ;
        uart_rxtx_write(*text);
    }
}

static void print_number(uint32_t number)
{
    char digits[11], *digit = digits + 10;
    *digit = 0;
    do
        *--digit = '0' + number % 10;
    while (number /= 10);
    print(digit);
}

/* Prints why the run failed; gives 1. */
static int failed(const char *what, uint32_t number)
{
    print(what);
    print_number(number);
    print("\n");
    return 1;
}

static void copy(uint32_t address, const uint8_t *bytes, uint32_t length)
{
    for (uint32_t at = 0; at < length; at++)
        memory(address)[at] = bytes[at];
}

/* Waits until the register is `value`; gives 1 if it does not get there. */
static int wait_for(uint32_t offset, uint32_t mask, uint32_t value)
{
    for (int tries = 0; tries < PATIENCE; tries++)
        if ((hermes(offset) & mask) == value)
            return 0;
    return 1;
}

static void bring_up(void)
{
    for (uint32_t at = 0; at < sizeof segments / sizeof segments[0]; at++)
        copy(segments[at].address, segments[at].bytes, segments[at].length);
    hermes(HERMES_INVALIDATE) = 3;
    hermes(HERMES_RING_BASE) = RING;
    hermes(HERMES_RING_SLOTS_LOG2) = RING_SLOTS_LOG2;
    hermes(HERMES_SLOT_BYTES_LOG2) = SLOT_BYTES_LOG2;
    hermes(HERMES_VERDICT_BASE) = VERDICTS;
    hermes(HERMES_KERNEL_ENTRY) = KERNEL_ENTRY;
    hermes(HERMES_KERNEL_CLASS) = KERNEL_CLASS;
    hermes(HERMES_ARGUMENT) = ARGUMENT;
    hermes(HERMES_STACK_BASE) = STACKS;
    hermes(HERMES_STACK_BYTES_LOG2) = STACK_BYTES_LOG2;
    hermes(HERMES_MCW) = WARPS_OF_A_CORE;
    hermes(HERMES_TIMEOUT) = 64;
#ifdef HERMES_HOST_IRQ_ENABLE
    hermes(HERMES_HOST_IRQ_ENABLE) = EVENT_COMMITTED;
    hermes_ev_enable_write(1);
    irq_setmask(irq_getmask() | 1u << HERMES_INTERRUPT);
    irq_setie(1);
#endif
    hermes(HERMES_CONTROL) = 1;
}

/* The CPU calls this for every interrupt. */
void isr(void)
{
#ifdef HERMES_HOST_IRQ_ENABLE
    uint32_t events = hermes(HERMES_HOST_IRQ_PENDING);
    hermes(HERMES_HOST_IRQ_PENDING) = events;
    if (events & EVENT_COMMITTED)
        interrupts++;
#endif
}

static uint32_t slot(uint32_t number)
{
    return RING + (number % (1u << RING_SLOTS_LOG2) << SLOT_BYTES_LOG2);
}

/* The packet's slot holds this frame; gives 1 if not. */
static int compare(uint32_t number, const uint8_t *frame)
{
    if (word(slot(number)) != packets[number].length)
        return failed("wrong length of packet ", number);
    for (uint32_t at = 0; at < packets[number].length; at++)
        if (memory(slot(number) + FRAME_OFFSET)[at] != frame[at])
            return failed("wrong frame of packet ", number);
    return 0;
}

/* The packet has changed as it should; gives 1 if not. */
static int check(uint32_t number)
{
    if (word(VERDICTS + 4 * (number % (1u << RING_SLOTS_LOG2))) != packets[number].verdict)
        return failed("wrong verdict of packet ", number);
    return compare(number, packets[number].left);
}

/* Packets first to end - 1, at most a ring full, through the array. */
static int process(uint32_t first, uint32_t end)
{
    for (uint32_t number = first; number < end; number++) {
        set_word(slot(number), packets[number].length);
        for (uint32_t at = 4; at < FRAME_OFFSET + 2; at += 4)
            set_word(slot(number) + at, 0);
        copy(slot(number) + FRAME_OFFSET, packets[number].frame, packets[number].length);
        if (compare(number, packets[number].frame))
            return 1;
    }
    hermes(HERMES_INVALIDATE) = 3; /* the slots may be in the caches from the packets before */
#ifdef HERMES_HOST_IRQ_ENABLE
    unsigned before = interrupts;
    hermes(HERMES_COMMIT_WATERMARK) = end;
#endif
    if (hermes(HERMES_TASK_ROOM) == 0) /* a push without room is an error on the bus */
        return failed("no room to push packet ", first);
    hermes(HERMES_TASK_PUSH) = end - first;
    if (wait_for(HERMES_COMMITTED_PACKETS, ~0u, end))
        return failed("not all committed: packets so far ", hermes(HERMES_COMMITTED_PACKETS));
#ifdef HERMES_HOST_IRQ_ENABLE
    if (interrupts == before)
        return failed("no interrupt for packets from ", first);
#endif
    hermes(HERMES_L2_MAINTENANCE) = 2;
    if (wait_for(HERMES_L2_MAINTENANCE, 1, 0))
        return failed("the L2 stays busy after packet ", end);
    flush_cpu_dcache(); /* the slots may be in the cache of the CPU */
    for (uint32_t number = end; number-- > first;) /* the last slot first: most of it is in the cache */
        if (check(number))
            return 1;
    return 0;
}

static int run(void)
{
    if (hermes(HERMES_ID) != 0x4845524d)
        return failed("no array: ID is ", hermes(HERMES_ID));
    bring_up();
    uint32_t start = hermes(HERMES_CYCLE_LOW);
    for (uint32_t first = 0; first < PACKETS; first += 1u << RING_SLOTS_LOG2) {
        uint32_t end = first + (1u << RING_SLOTS_LOG2);
        if (process(first, end < PACKETS ? end : PACKETS))
            return 1;
    }
    uint32_t cycles = hermes(HERMES_CYCLE_LOW) - start;
    if (hermes(HERMES_FAULTS) || hermes(HERMES_BUS_ERRORS))
        return failed("faults and bus errors: ", hermes(HERMES_FAULTS) + hermes(HERMES_BUS_ERRORS));
    hermes(HERMES_CONTROL) = 0;
    print("packets: ");
    print_number(PACKETS);
    print(", interrupts: ");
    print_number(interrupts);
    print(", cycles with what the CPU does: ");
    print_number(cycles);
    print("\n");
    return 0;
}

int main(void)
{
    print(run() ? "FAIL\n" : "PASS\n");
    while (!uart_txempty_read())
        ;
    for (volatile int cycles = 0; cycles < 100; cycles++)
        ; /* the last character leaves the UART */
    sim_finish_finish_write(1);
    for (;;)
        ;
}
