/* What the programs share. */
#include "hermes_proxy.h"

static struct spawn_descriptor page[16] __attribute__((aligned(1024)));
static volatile uint32_t completion __attribute__((aligned(64)));
static volatile uint32_t data[256][16] __attribute__((aligned(64)));
static volatile uint32_t out[256] __attribute__((aligned(64)));
ULI_HANDLER_PLAIN(job_done) {}

/* Threads can ask; they reach all memory, or else store to `out`. */
static inline void set_up(int open)
{
    REGISTER(SPAWN_CONTROL) = 1;
    spawn_page(page);
    REGISTER(SPAWN_WATCHDOG) = 400000;
    REGISTER(READ_WINDOW_0_BASE) = open ? 0 : (uint32_t)&proxy_area & ~63u;
    REGISTER(READ_WINDOW_0_SIZE) = open ? 0x200000 : (sizeof proxy_area + 127) & ~63u;
    REGISTER(WRITE_WINDOW_0_BASE) = 0;
    REGISTER(WRITE_WINDOW_0_SIZE) = 0x200000;
    if (!open) {
        REGISTER(WRITE_WINDOW_0_BASE) = (uint32_t)&proxy_area & ~63u;
        REGISTER(WRITE_WINDOW_0_SIZE) = (sizeof proxy_area + 127) & ~63u;
    }
    REGISTER(READ_WINDOW_1_SIZE) = REGISTER(WRITE_WINDOW_1_SIZE) = 0;
    uli_arm(ULI_WRITTEN, 0, job_done, uli_word(&completion));
    spawn_class();
    proxy_start();
}

/* Starts threads and answers until they have ended; whether one of them ended with a fault. */
static inline int job(const void *entry, uint32_t threads, uint32_t argument)
{
    static uint32_t token;
    page[0].argument0 = argument;
    page[0].shape = threads | SPAWN_ACQUIRE | spawn_class();
    page[0].completion = (uint32_t)&completion;
    page[0].token = ++token;
    spawn(&page[0], entry);
    uint32_t word = proxy_wait(&completion, token);
    while (spawn_busy() & 1)
        ;
    acquire();
    return word != token;
}

/* Does nothing, for service 100. */
static inline struct proxy_answer nothing(const struct proxy_request *request)
{
    return PROXY_ANSWER(proxy_number(request) == 100 ? PROXY_SKIP : PROXY_KILL, 0, 0);
}
