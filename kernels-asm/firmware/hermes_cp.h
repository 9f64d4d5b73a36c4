/* Firmware for the command processor: registers of the array, console, mailbox, timer and
 * interrupts, harts, jobs for the cores, user-level interrupts. docs/firmware.md is the guide.
 *
 * A program is a function main, which hart 0 calls. Its value (31 bits) ends the firmware. */
#ifndef HERMES_CP_H
#define HERMES_CP_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "hermes_registers.h" /* HERMES_<NAME>: offsets of the registers, as in docs/registers.md */

/* The register of the array with this name, as in `REGISTER(CYCLE_LOW)`. Accesses are performed in
 * the order of the program, when the hart's stores to memory have been performed. A register that
 * the array does not have is an access fault. */
#define REGISTER(name) (*(volatile uint32_t *)(0xffffe000u + HERMES_##name))

/* Puts a variable into local memory: 16 KB, one cycle, shared by the harts, not visible to cores
 * and host. At most 8 KB in all. */
#define LOCAL __attribute__((section(".local")))

/* Before the declaration of a variable that `hermes run --table` sets: it lies where the start-up
 * code does not clear it, as in `TABLE const uint8_t *pixels; TABLE uint32_t pixels_bytes;`. */
#define TABLE __attribute__((section(".data.table")))

/* CSRs, as in `csr_read(mhartid)`; names of user-level interrupts are below. */
#define CSR_TEXT_(x) #x
#define CSR_TEXT(x) CSR_TEXT_(x)
#define csr_read(csr)                                                                                                      \
    ({                                                                                                                     \
        uint32_t value_;                                                                                                   \
        __asm__ volatile("csrr %0, " CSR_TEXT(csr) : "=r"(value_) : : "memory");                                           \
        value_;                                                                                                            \
    })
#define csr_write(csr, value) __asm__ volatile("csrw " CSR_TEXT(csr) ", %0" : : "rK"((uint32_t)(value)) : "memory")
#define csr_set(csr, bits) __asm__ volatile("csrs " CSR_TEXT(csr) ", %0" : : "rK"((uint32_t)(bits)) : "memory")
#define csr_clear(csr, bits) __asm__ volatile("csrc " CSR_TEXT(csr) ", %0" : : "rK"((uint32_t)(bits)) : "memory")
#define csr_swap(csr, value)                                                                                               \
    ({                                                                                                                     \
        uint32_t value_;                                                                                                   \
        __asm__ volatile("csrrw %0, " CSR_TEXT(csr) ", %1" : "=r"(value_) : "rK"((uint32_t)(value)) : "memory");           \
        value_;                                                                                                            \
    })

/* Order of memory. release: what was stored before is performed before what is stored afterwards.
 * acquire: what is loaded afterwards is not older than what was loaded before. */
static inline void release(void) { __asm__ volatile("fence rw, w" : : : "memory"); }
static inline void acquire(void) { __asm__ volatile("fence r, rw" : : : "memory"); }
static inline void wait_for_interrupt(void) { __asm__ volatile("wfi" : : : "memory"); }

/* Says once, in one source, how many harts the program needs; without it, one. `hermes run` refuses
 * arrays with fewer. */
#define FIRMWARE_HARTS(count) const uint32_t firmware_harts __attribute__((used, section(".hermes.harts"))) = count

/* The end. Any hart may call it. */
__attribute__((noreturn)) void firmware_end(uint32_t value);

/* ---- Console: bytes to and from the host. put waits while 64 bytes wait for the host. */
void console_put(char byte);
int console_get(void);          /* the next byte from the host; -1: there is none */
int putchar(int byte);
int puts(const char *text);     /* with a line feed */
int getchar(void);              /* waits for a byte */
/* %d %i %u %x %X %c %s %p %%, with -, 0 and a width; l is ignored. Gives the bytes written. */
int printf(const char *format, ...);
int vprintf(const char *format, va_list arguments);

/* ---- Mailbox: four words each way. */
int mailbox_receive(uint32_t words[4]);         /* 0: it was empty */
void mailbox_send(const uint32_t words[4]);     /* waits until the host has taken what is there */

/* ---- Time, in cycles. */
uint64_t time_now(void);
void timer_at(uint64_t cycle);  /* the timer interrupt of this hart is pending from then on */
void timer_off(void);

/* ---- Interrupts of machine mode. Handlers run on the interrupted stack, with interrupts off. */
#define INTERRUPT_SOFTWARE 3u
#define INTERRUPT_TIMER 7u
#define INTERRUPT_EXTERNAL 11u

/* Bits of CP_IRQ_PENDING and CP_IRQ_ENABLE_h. */
#define EVENT_FAULT (1u << 0)
#define EVENT_SLOT_FREE (1u << 2)
#define EVENT_SPAWN_ERROR (1u << 3)
#define EVENT_MAILBOX (1u << 4)
#define EVENT_WATERMARK (1u << 5)
#define EVENT_CONSOLE (1u << 7)
#define EVENT_DOORBELL(n) (1u << (16 + (n)))

/* Registers that a trap saved. */
struct trap_frame {
    uint32_t ra, t0, t1, t2, a[8], t3, t4, t5, t6, pc;
};
typedef void (*interrupt_handler)(void);
/* Gives 0 if it handled the exception: the program goes on at frame->pc, which is that of the
 * instruction. */
typedef int (*exception_handler)(uint32_t cause, uint32_t value, struct trap_frame *frame);

/* Calls `handler` at this interrupt, on any hart, and enables it on this one; 0: disables it. */
void interrupt_handle(uint32_t interrupt, interrupt_handler handler);
/* Calls `handler` at an exception. Without one, or if it gives another value than 0, the firmware
 * ends with a report. */
void exception_handle(exception_handler handler);
/* The external interrupt of this hart is pending while one of these events is. */
void events_enable(uint32_t events);
static inline void interrupts_on(void) { csr_set(mstatus, 8); }
/* Gives what interrupts_restore takes. */
static inline uint32_t interrupts_off(void)
{
    uint32_t before;
    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(before) : : "memory");
    return before & 8;
}
static inline void interrupts_restore(uint32_t before) { csr_set(mstatus, before); }

/* ---- Harts. */
static inline uint32_t hart_number(void) { return csr_read(mhartid); }
static inline uint32_t hart_count(void) { return REGISTER(CP_STATUS) >> 24 & 15; }
/* Hart `hart`, not 0 and not this one, calls function(argument) on its own stack, and sleeps again.
 * It sees what was stored before. Waits until the hart has begun; one that still runs another
 * function begins afterwards. */
void hart_start(uint32_t hart, void (*function)(void *), void *argument);
/* The software interrupt of a hart. */
void hart_interrupt(uint32_t hart);
void hart_interrupt_clear(void); /* of this hart */

/* ---- Jobs for the cores (docs/spawner.md). */
struct spawn_descriptor {
    uint32_t entry;      /* address of the kernel; spawn writes it last */
    uint32_t argument0;  /* a1 of every thread; a0 is its number */
    uint32_t argument1;  /* a2 */
    uint32_t shape;      /* threads in bits 23:0, SPAWN_... */
    uint32_t zero;
    uint32_t cores;      /* mask, 0: all */
    uint32_t completion; /* address of a word; 0: none */
    uint32_t token;      /* what the word becomes: 30 bits */
    uint32_t own[8];     /* not read by the hardware */
};
#define SPAWN_RV32E (1u << 25)
#define SPAWN_ACQUIRE (1u << 26)
/* Registers of a thread, 32 or 16: `hermes firmware build --rv32e` sets 16, and uses no others.
 * spawn_class sets KERNEL_CLASS, while no slot is busy, and gives what belongs into a shape. */
#ifndef SPAWN_REGISTERS
#define SPAWN_REGISTERS 32
#endif
/* Completion words. */
#define SPAWN_FAULTED(word) ((word) >> 30 == 2)
#define SPAWN_REJECTED(word) ((word) >> 30 == 3)

static inline uint32_t spawn_class(void)
{
    REGISTER(KERNEL_CLASS) = SPAWN_REGISTERS == 16;
    return SPAWN_REGISTERS == 16 ? SPAWN_RV32E : 0;
}
/* Where the descriptors are: 8 or 16 of 64 bytes, aligned to that. 0: refused, since a job is under
 * way or `page` is not aligned. */
static inline int spawn_page(struct spawn_descriptor *page)
{
    uint32_t refused;
    __asm__ volatile(".insn r 0x0b, 3, 0, %0, %1, x0" : "=r"(refused) : "r"(page) : "memory");
    return !refused;
}
/* SIGNAL: a store of a word that is performed when the hart's earlier stores are. */
static inline void signal_store(uint32_t *word, uint32_t value)
{
    __asm__ volatile(".insn s 0x0b, 2, %1, 0(%0)" : : "r"(word), "r"(value) : "memory");
}
/* Starts the job of a descriptor whose other words are there. */
static inline void spawn(struct spawn_descriptor *descriptor, const void *entry)
{
    signal_store(&descriptor->entry, (uint32_t)entry);
}
/* Slots whose job is under way. */
static inline uint32_t spawn_busy(void) { return csr_read(0x805); }

/* ---- User-level interrupts (docs/user-level-interrupts.md). */
#define uliepc 0x800
#define ulictl 0x801
#define ulipend 0x802
#define uliarm 0x803
#define ulicause 0x804

/* Scenarios. All are events: what came before the arming does not interrupt. */
#define ULI_WRITTEN 1   /* a byte of a range is written; parameter: uli_word, uli_range */
#define ULI_SLOT_FREE 2 /* a slot of the thread spawner becomes free, its completion is visible; parameter: mask of slots */
#define ULI_EVENT 3     /* a bit of CP_IRQ_PENDING is set, also again; parameter: mask of EVENT_ */
#define ULI_COMMAND 11  /* with a network interface: a command of a warp waits for a hart (NET_WINDOW_NEXT_NOW); parameter: 0 */
/* What EMONITOR gives. */
#define ULI_REFUSED (1u << 31)
#define ULI_WAS_ARMED (1u << 30)
#define ULI_WAS_PENDING (1u << 29)

/* Arms channel `channel` (a number that the compiler knows) with `handler`, one of ULI_HANDLER.
 * Look once afterwards for what came before. */
#define uli_arm(scenario, channel, handler, parameter)                                                                     \
    ({                                                                                                                     \
        uint32_t before_;                                                                                                  \
        __asm__ volatile(".insn r 0x0b, 0, %1, %0, %2, %3"                                                                 \
                         : "=r"(before_)                                                                                   \
                         : "i"((scenario) << 3 | (channel)), "r"(handler), "r"(parameter)                                  \
                         : "memory");                                                                                      \
        before_;                                                                                                           \
    })
#define uli_disarm(channel) uli_arm(0, channel, 0, 0)
/* The word at `address`, or `bytes` bytes, a power of two from 8 on, at a multiple of that. */
static inline uint32_t uli_word(const volatile void *address) { return (uint32_t)address & ~3u; }
static inline uint32_t uli_range(const volatile void *address, uint32_t bytes)
{
    return (uint32_t)address | (bytes / 2 - 1) | 3;
}
static inline void uli_block(void) { csr_set(ulictl, 1); }
static inline void uli_unblock(void) { csr_clear(ulictl, 1); }
/* Sleeps until a handler has made *flag other than 0. */
static inline void uli_wait(const volatile uint32_t *flag)
{
    for (;;) {
        uli_block();
        if (*flag)
            break;
        wait_for_interrupt();
        uli_unblock();
    }
    uli_unblock();
}

/* The channels of a context while another one has them, as uli_save leaves them: eight at most. A
 * state of 0 is a channel that the context had not armed; else it is what EMONITOR gave. */
struct uli_saved
{
    uint32_t context, channels;
    struct
    {
        uint32_t handler, parameter, state;
    } channel[8];
};
/* Takes those of the first `channels` channels of this hart that the present context (bits 15:8 of
 * ulictl) has armed: they are kept, with whether an event is pending, and disarmed. To be called
 * under uli_block; with more channels than the array has it is an illegal instruction. */
void uli_save(struct uli_saved *saved, uint32_t channels);
/* Makes the context of `saved` the present one, arms its channels again, and makes pending what
 * was. To be called under uli_block. Look once afterwards for what came while the channels were not
 * armed, as behind any uli_arm. */
void uli_restore(const struct uli_saved *saved);

/* A handler: the C function that follows, between the saving and the restoring of the registers
 * that C functions change, and ERETURN. It begins with an acquire: what was stored before the write
 * that interrupts is seen. */
#define ULI_HANDLER(name) ULI_HANDLER_(name, "fence r, rw\n")
/* As ULI_HANDLER, without the acquire: for what is in local memory or loaded uncached. */
#define ULI_HANDLER_PLAIN(name) ULI_HANDLER_(name, "")
#define ULI_HANDLER_(name, order)                                                                                          \
    void name(void);                                                                                                       \
    static __attribute__((used)) void name##_body(void);                                                                   \
    __asm__(".pushsection .text." #name ", \"ax\"\n"                                                                       \
            ".balign 64\n.globl " #name "\n.type " #name ", @function\n" #name ":\n"                                        \
            "addi sp, sp, -64\n"                                                                                           \
            "sw ra, 0(sp)\nsw t0, 4(sp)\nsw t1, 8(sp)\nsw t2, 12(sp)\n"                                                    \
            "sw a0, 16(sp)\nsw a1, 20(sp)\nsw a2, 24(sp)\nsw a3, 28(sp)\n"                                                 \
            "sw a4, 32(sp)\nsw a5, 36(sp)\nsw a6, 40(sp)\nsw a7, 44(sp)\n"                                                 \
            "sw t3, 48(sp)\nsw t4, 52(sp)\nsw t5, 56(sp)\nsw t6, 60(sp)\n" order                                           \
            "call " #name "_body\n"                                                                                        \
            "lw ra, 0(sp)\nlw t0, 4(sp)\nlw t1, 8(sp)\nlw t2, 12(sp)\n"                                                    \
            "lw a0, 16(sp)\nlw a1, 20(sp)\nlw a2, 24(sp)\nlw a3, 28(sp)\n"                                                 \
            "lw a4, 32(sp)\nlw a5, 36(sp)\nlw a6, 40(sp)\nlw a7, 44(sp)\n"                                                 \
            "lw t3, 48(sp)\nlw t4, 52(sp)\nlw t5, 56(sp)\nlw t6, 60(sp)\n"                                                 \
            "addi sp, sp, 64\n.word 0x100b\n"                                                                              \
            ".size " #name ", . - " #name "\n.popsection");                                                                \
    static void name##_body(void)

#endif
